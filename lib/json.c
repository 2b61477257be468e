/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fail(struct wic_json *j, int rc)
{
	if (!j->error)
		j->error = rc;
}

static void put(struct wic_json *j, const char *bytes, size_t count)
{
	if (j->error || !count)
		return;
	errno = 0;
	if (fwrite(bytes, 1, count, j->file) != count)
		fail(j, errno ? -errno : -EIO);
}

static void put_text(struct wic_json *j, const char *text)
{
	put(j, text, strlen(text));
}

static void put_newline(struct wic_json *j)
{
	if (j->style == WIC_JSON_COMPACT)
		return;
	put_text(j, "\n");
	for (uint32_t i = 0; i < j->depth; i++)
		put_text(j, "  ");
}

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/*
 * Bytes of the well-formed UTF-8 sequence at @s, 0 if it is none.  Table 3-7 of the
 * Unicode Standard: no overlong forms, no surrogates, nothing over U+10FFFF.  The
 * terminating NUL is no continuation byte, so nothing behind it is read.
 */
static size_t utf8_length(const unsigned char *s)
{
	unsigned char second_first = 0x80, second_last = 0xbf;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		return is_continuation(s[1]) ? 2 : 0;
	if (s[0] < 0xe0 || s[0] > 0xf4)
		return 0;
	if (s[0] == 0xe0)
		second_first = 0xa0;
	if (s[0] == 0xed)
		second_last = 0x9f;
	if (s[0] == 0xf0)
		second_first = 0x90;
	if (s[0] == 0xf4)
		second_last = 0x8f;
	if (s[1] < second_first || s[1] > second_last || !is_continuation(s[2]))
		return 0;
	if (s[0] < 0xf0)
		return 3;
	return is_continuation(s[3]) ? 4 : 0;
}

/* The two-character escape of a byte, NULL: it has none. */
static const char *escape_short(unsigned char c)
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\b':
		return "\\b";
	case '\f':
		return "\\f";
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	default:
		return NULL;
	}
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_quoted(struct wic_json *j, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char escaped[8];

	put_text(j, "\"");
	while (*s) {
		size_t count = 0;

		while (is_plain(s[count]))
			count++;
		put(j, (const char *)s, count);
		s += count;
		if (!*s)
			break;
		if (escape_short(*s)) {
			put_text(j, escape_short(*s));
			s++;
		} else if (*s < 0x20 || *s == 0x7f) {
			snprintf(escaped, sizeof(escaped), "\\u%04x", *s);
			put_text(j, escaped);
			s++;
		} else {
			count = utf8_length(s);
			if (count)
				put(j, (const char *)s, count);
			else
				put_text(j, "\xef\xbf\xbd");
			s += count ? count : 1;
		}
	}
	put_text(j, "\"");
}

/* Whatever stands before a value: comma, line, key.  False: it must not stand here. */
static bool begin_value(struct wic_json *j, const char *key)
{
	uint64_t level = j->depth ? (uint64_t)1 << (j->depth - 1) : 0;
	bool is_member = j->depth && !(j->is_array & level);

	if (j->error)
		return false;
	if (is_member != (key != NULL) || (!j->depth && j->is_done)) {
		fail(j, -EINVAL);
		return false;
	}
	if (j->depth) {
		if (j->has_members & level)
			put_text(j, ",");
		j->has_members |= level;
		put_newline(j);
	}
	if (key) {
		put_quoted(j, key);
		put_text(j, j->style == WIC_JSON_COMPACT ? ":" : ": ");
	}
	return true;
}

static void end_value(struct wic_json *j)
{
	if (!j->depth)
		j->is_done = true;
}

static void put_value(struct wic_json *j, const char *key, const char *text)
{
	if (!begin_value(j, key))
		return;
	put_text(j, text);
	end_value(j);
}

static void level_begin(struct wic_json *j, const char *key, bool is_array)
{
	uint64_t level;

	if (!begin_value(j, key))
		return;
	if (j->depth == WIC_JSON_DEPTH_MAX) {
		fail(j, -EINVAL);
		return;
	}
	level = (uint64_t)1 << j->depth;
	j->depth++;
	j->has_members &= ~level;
	j->is_array = is_array ? j->is_array | level : j->is_array & ~level;
	put_text(j, is_array ? "[" : "{");
}

static void level_end(struct wic_json *j, bool is_array)
{
	uint64_t level = j->depth ? (uint64_t)1 << (j->depth - 1) : 0;

	if (!j->depth || !!(j->is_array & level) != is_array) {
		fail(j, -EINVAL);
		return;
	}
	j->depth--;
	if (j->has_members & level)
		put_newline(j);
	put_text(j, is_array ? "]" : "}");
	end_value(j);
}

void wic_json_init(struct wic_json *j, FILE *file, enum wic_json_style style)
{
	*j = (struct wic_json){ .file = file, .style = style };
}

void wic_json_object_begin(struct wic_json *j, const char *key)
{
	level_begin(j, key, false);
}

void wic_json_object_end(struct wic_json *j)
{
	level_end(j, false);
}

void wic_json_array_begin(struct wic_json *j, const char *key)
{
	level_begin(j, key, true);
}

void wic_json_array_end(struct wic_json *j)
{
	level_end(j, true);
}

void wic_json_string(struct wic_json *j, const char *key, const char *value)
{
	if (!value) {
		wic_json_null(j, key);
		return;
	}
	if (!begin_value(j, key))
		return;
	put_quoted(j, value);
	end_value(j);
}

void wic_json_int(struct wic_json *j, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_value(j, key, text);
}

void wic_json_uint(struct wic_json *j, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_value(j, key, text);
}

/*
 * A locale may write the decimal point as another character or as several bytes;
 * everything else that %g writes for a finite number is listed here.
 */
static void point_to_dot(char *text)
{
	size_t digits = strspn(text, "0123456789+-eE");
	size_t rest;

	if (!text[digits])
		return;
	rest = digits + strcspn(text + digits, "0123456789+-eE");
	text[digits] = '.';
	memmove(text + digits + 1, text + rest, strlen(text + rest) + 1);
}

void wic_json_double(struct wic_json *j, const char *key, double value)
{
	char text[40];

	if (!isfinite(value)) {
		wic_json_null(j, key);
		return;
	}
	/* 17 digits name every double, 15 are the most that all doubles keep. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	point_to_dot(text);
	put_value(j, key, text);
}

void wic_json_bool(struct wic_json *j, const char *key, bool value)
{
	put_value(j, key, value ? "true" : "false");
}

void wic_json_null(struct wic_json *j, const char *key)
{
	put_value(j, key, "null");
}

int wic_json_finish(struct wic_json *j)
{
	int rc;

	if (j->depth || !j->is_done)
		fail(j, -EINVAL);
	put(j, "\n", 1);
	errno = 0;
	if (fflush(j->file))
		fail(j, errno ? -errno : -EIO);
	if (ferror(j->file))
		fail(j, -EIO);
	rc = j->error;
	wic_json_init(j, j->file, j->style);
	return rc;
}

int wic_json_close(struct wic_json *j)
{
	int rc = wic_json_finish(j);

	errno = 0;
	if (fclose(j->file) && !rc)
		rc = errno ? -errno : -EIO;
	j->file = NULL;
	return rc;
}
