/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The JSON writer: text, escapes, numbers, misuse and failing disks. */
#include "lib/json.h"

#include <errno.h>
#include <locale.h>
#include <math.h>

#include "tests/test.h"

static char *text;
static size_t text_bytes;

static void begin(struct wic_json *j, enum wic_json_style style)
{
	FILE *file = open_memstream(&text, &text_bytes);

	TEST_TRUE(file);
	wic_json_init(j, file, style);
}

static void expect(struct wic_json *j, const char *wanted)
{
	TEST_EQ(wic_json_close(j), 0);
	if (strcmp(text, wanted))
		fprintf(stderr, "text:   %s\nwanted: %s\n", text, wanted);
	TEST_EQ(strcmp(text, wanted), 0);
	free(text);
	text = NULL;
}

static void expect_error(struct wic_json *j, int rc)
{
	TEST_EQ(wic_json_close(j), rc);
	free(text);
	text = NULL;
}

static void write_all_kinds(struct wic_json *j)
{
	wic_json_object_begin(j, NULL);
	wic_json_string(j, "s", "x");
	wic_json_int(j, "i", INT64_MIN);
	wic_json_uint(j, "u", UINT64_MAX);
	wic_json_bool(j, "b", true);
	wic_json_null(j, "n");
	wic_json_array_begin(j, "a");
	wic_json_double(j, NULL, 0.1);
	wic_json_bool(j, NULL, false);
	wic_json_array_begin(j, NULL);
	wic_json_array_end(j);
	wic_json_object_begin(j, NULL);
	wic_json_object_end(j);
	wic_json_array_end(j);
	wic_json_string(j, "none", NULL);
	wic_json_object_end(j);
}

static void compact(void)
{
	struct wic_json j;

	begin(&j, WIC_JSON_COMPACT);
	write_all_kinds(&j);
	expect(&j, "{\"s\":\"x\",\"i\":-9223372036854775808,\"u\":18446744073709551615,"
		   "\"b\":true,\"n\":null,\"a\":[0.1,false,[],{}],\"none\":null}\n");
}

static void pretty(void)
{
	struct wic_json j;

	begin(&j, WIC_JSON_PRETTY);
	write_all_kinds(&j);
	expect(&j, "{\n  \"s\": \"x\",\n  \"i\": -9223372036854775808,\n"
		   "  \"u\": 18446744073709551615,\n  \"b\": true,\n  \"n\": null,\n"
		   "  \"a\": [\n    0.1,\n    false,\n    [],\n    {}\n  ],\n"
		   "  \"none\": null\n}\n");
}

static void lines(void)
{
	struct wic_json j;

	begin(&j, WIC_JSON_COMPACT);
	wic_json_int(&j, NULL, 1);
	TEST_EQ(wic_json_finish(&j), 0);
	wic_json_int(&j, NULL, 2);
	expect(&j, "1\n2\n");
}

static void strings(void)
{
	static const char *const cases[][2] = {
		{ "", "\"\"" },
		{ "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
		{ "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"" },
		{ "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"" },
		{ "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"" },
		{ "\xe2\x82\xac \xf0\x9f\x98\x80", "\"\xe2\x82\xac \xf0\x9f\x98\x80\"" },
		{ "\xff", "\"\xef\xbf\xbd\"" },
		{ "a\xc3", "\"a\xef\xbf\xbd\"" },
		{ "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};
	char wanted[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wic_json j;

		begin(&j, WIC_JSON_COMPACT);
		wic_json_object_begin(&j, NULL);
		wic_json_string(&j, cases[i][0], cases[i][0]);
		wic_json_object_end(&j);
		snprintf(wanted, sizeof(wanted), "{%s:%s}\n", cases[i][1], cases[i][1]);
		expect(&j, wanted);
	}
}

/* The naive decoder: how many of the bytes form one scalar value, 0: none. */
static size_t decode(const unsigned char *s, size_t count)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t value;

	if (length < 2 || s[0] >= 0xf8 || length > count)
		return length == 1;
	value = s[0] & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3f);
	}
	if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	return length;
}

/* All strings of four bytes around every border of the encoding. */
static void utf8_exhaustive(void)
{
	static const unsigned char bytes[] = { 0x41, 0x7e, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
					       0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
					       0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff };
	const uint32_t count = sizeof(bytes);
	struct wic_json j;

	begin(&j, WIC_JSON_COMPACT);
	for (uint32_t n = 0; n < count * count * count * count; n++) {
		unsigned char s[5] = { bytes[n % count], bytes[n / count % count],
				       bytes[n / count / count % count],
				       bytes[n / count / count / count] };
		char wanted[20] = "";
		size_t used = 0;

		for (size_t i = 0; i < 4;) {
			size_t length = decode(s + i, 4 - i);

			memcpy(wanted + used, length ? (const char *)s + i : "\xef\xbf\xbd",
			       length ? length : 3);
			used += length ? length : 3;
			i += length ? length : 1;
		}
		rewind(j.file);
		wic_json_string(&j, NULL, (const char *)s);
		TEST_EQ(wic_json_finish(&j), 0);
		TEST_EQ(text_bytes, used + 3);
		TEST_EQ(memcmp(text + 1, wanted, used), 0);
	}
	wic_json_null(&j, NULL);
	expect_error(&j, 0);
}

static double read_back(double value)
{
	struct wic_json j;
	double back;
	char *end;

	begin(&j, WIC_JSON_COMPACT);
	wic_json_double(&j, NULL, value);
	TEST_EQ(wic_json_close(&j), 0);
	back = strtod(text, &end);
	TEST_EQ(*end, '\n');
	TEST_EQ(strspn(text, "0123456789+-.e"), text_bytes - 1);
	free(text);
	text = NULL;
	return back;
}

static void doubles_round_trip(void)
{
	static const double values[] = { 0.0,
					 -0.0,
					 1.0,
					 -1.5,
					 0.1,
					 1e300,
					 5e-324,
					 1.0 / 3,
					 2.2250738585072014e-308,
					 1.7976931348623157e308,
					 123456789012345678.0,
					 9007199254740993.0 };
	uint64_t seed = 7;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		double back = read_back(values[i]);

		TEST_EQ(memcmp(&back, &values[i], sizeof(back)), 0);
	}
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = test_random(&seed);
		double value, back;

		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		back = read_back(value);
		TEST_EQ(memcmp(&back, &value, sizeof(back)), 0);
	}
}

static void doubles_are_short(void)
{
	struct wic_json j;

	begin(&j, WIC_JSON_COMPACT);
	wic_json_array_begin(&j, NULL);
	wic_json_double(&j, NULL, 1.13);
	wic_json_double(&j, NULL, 100);
	wic_json_double(&j, NULL, NAN);
	wic_json_double(&j, NULL, INFINITY);
	wic_json_double(&j, NULL, -INFINITY);
	wic_json_double(&j, NULL, 1e-7);
	wic_json_array_end(&j);
	expect(&j, "[1.13,100,null,null,null,1e-07]\n");
}

static void doubles_in_a_locale_with_commas(void)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
	struct wic_json j;
	size_t i = 0;

	while (i < 4 && !setlocale(LC_NUMERIC, names[i]))
		i++;
	if (i == 4) {
		test_skip("no locale with a decimal comma is installed");
		return;
	}
	begin(&j, WIC_JSON_COMPACT);
	wic_json_double(&j, NULL, 1.5);
	expect(&j, "1.5\n");
	setlocale(LC_NUMERIC, "C");
}

static void key_where_none_belongs(struct wic_json *j)
{
	wic_json_int(j, "k", 1);
}

static void key_in_array(struct wic_json *j)
{
	wic_json_array_begin(j, NULL);
	wic_json_int(j, "k", 1);
	wic_json_array_end(j);
}

static void member_without_key(struct wic_json *j)
{
	wic_json_object_begin(j, NULL);
	wic_json_int(j, NULL, 1);
	wic_json_object_end(j);
}

static void ends_cross(struct wic_json *j)
{
	wic_json_object_begin(j, NULL);
	wic_json_array_end(j);
}

static void not_ended(struct wic_json *j)
{
	wic_json_array_begin(j, NULL);
}

static void ended_twice(struct wic_json *j)
{
	wic_json_array_begin(j, NULL);
	wic_json_array_end(j);
	wic_json_array_end(j);
}

static void two_values(struct wic_json *j)
{
	wic_json_int(j, NULL, 1);
	wic_json_int(j, NULL, 2);
}

static void nothing(struct wic_json *j)
{
	(void)j;
}

static void too_deep(struct wic_json *j)
{
	for (int i = 0; i < WIC_JSON_DEPTH_MAX + 1; i++)
		wic_json_array_begin(j, NULL);
	for (int i = 0; i < WIC_JSON_DEPTH_MAX + 1; i++)
		wic_json_array_end(j);
}

static void misuse(void)
{
	static void (*const cases[])(struct wic_json * j) = {
		key_where_none_belongs,
		key_in_array,
		member_without_key,
		ends_cross,
		not_ended,
		ended_twice,
		two_values,
		nothing,
		too_deep,
	};
	struct wic_json j;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&j, WIC_JSON_COMPACT);
		cases[i](&j);
		expect_error(&j, -EINVAL);
	}
}

static void as_deep_as_allowed(void)
{
	struct wic_json j;

	begin(&j, WIC_JSON_PRETTY);
	for (int i = 0; i < WIC_JSON_DEPTH_MAX; i++)
		wic_json_array_begin(&j, NULL);
	for (int i = 0; i < WIC_JSON_DEPTH_MAX; i++)
		wic_json_array_end(&j);
	expect_error(&j, 0);
}

/* A write that fails at once, and one that fails only when the buffer is flushed. */
static void disk_full(void)
{
	struct wic_json j;

	for (int pass = 0; pass < 2; pass++) {
		const int members = pass ? 100000 : 1;
		FILE *file = fopen("/dev/full", "w");

		if (!file) {
			test_skip("no /dev/full");
			return;
		}
		wic_json_init(&j, file, WIC_JSON_PRETTY);
		wic_json_array_begin(&j, NULL);
		for (int i = 0; i < members; i++)
			wic_json_int(&j, NULL, i);
		wic_json_array_end(&j);
		TEST_EQ(wic_json_close(&j), -ENOSPC);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(compact),
		TEST(pretty),
		TEST(lines),
		TEST(strings),
		TEST(utf8_exhaustive),
		TEST(doubles_round_trip),
		TEST(doubles_are_short),
		TEST(doubles_in_a_locale_with_commas),
		TEST(misuse),
		TEST(as_deep_as_allowed),
		TEST(disk_full),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
