/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Field, else WIC_* variable, else default; what is out of range is refused by name. */
#include "lib/config.h"
#include "lib/desc.h"
#include "tests/unit/fake.h"

/* One number of the configuration, as include/wic/wic.h documents it. */
static const struct number {
	const char *field;
	const char *variable;
	size_t offset;
	uint32_t min, max, value_default;
	uint32_t step; /* a legal distance between values */
} numbers[] = {
#define N(f, v, ...)                                               \
	{                                                          \
#f, v, offsetof(struct wic_config, f), __VA_ARGS__ \
	}
	N(sms, "WIC_SMS", 1, 4096, 0, 1),
	N(sm_warps, "WIC_SM_WARPS", 1, 1024, 64, 1),
	N(sm_blocks, "WIC_SM_BLOCKS", 1, 64, 8, 1),
	N(stack_bytes, "WIC_STACK_BYTES", 16384, 8388608, 65536, 4096),
	N(pool_pages, "WIC_POOL_PAGES", 2, 2097152, 16384, 2),
	N(close_batch, "WIC_CLOSE_BATCH", 1, 8192, 0, 1),
	N(record_events, "WIC_RECORD_EVENTS", 1, 67108864, 0, 1),
#undef N
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static uint32_t *field(struct wic_config *cfg, const struct number *n)
{
	return (uint32_t *)((char *)cfg + n->offset);
}

static void clear_env(void)
{
	static const char *const others[] = { "WIC_BACKEND", "WIC_MECHANISM", "WIC_UNPINNED",
					      "WIC_LOG" };

	for (size_t i = 0; i < NUMBERS; i++)
		unsetenv(numbers[i].variable);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		unsetenv(others[i]);
}

static struct wic_config resolved(const struct wic_config *cfg)
{
	struct wic_config out;
	const char *from;
	int rc = wic_config_resolve(cfg, &out, &from);

	if (rc)
		fprintf(stderr, "text: %s\n", wic_last_error());
	TEST_EQ(rc, 0);
	return out;
}

static int resolve(const struct wic_config *cfg)
{
	struct wic_config out, before;
	const char *from = "untouched";
	int rc;

	memset(&out, 0x5a, sizeof(out));
	before = out;
	rc = wic_config_resolve(cfg, &out, &from);
	if (rc) {
		TEST_EQ(memcmp(&out, &before, sizeof(out)), 0);
		TEST_EQ(strcmp(from, "untouched"), 0);
	}
	return rc;
}

static void defaults(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT, out;

	fake_init();
	clear_env();
	for (int i = 0; i < 2; i++) {
		out = resolved(i ? &cfg : NULL);
		for (size_t j = 0; j < NUMBERS; j++)
			TEST_EQ(*field(&out, &numbers[j]), numbers[j].value_default);
		TEST_EQ(out.size_bytes, sizeof(out));
		TEST_EQ(strcmp(out.backend, "auto"), 0);
		TEST_EQ(out.mechanism, WIC_MECHANISM_AUTO);
		TEST_EQ(out.unpinned, 0);
		TEST_TRUE(!out.log);
	}
	fake_fini();
}

static void field_range(void)
{
	char text[128];

	fake_init();
	clear_env();
	for (size_t i = 0; i < NUMBERS; i++) {
		const struct number *n = &numbers[i];
		struct wic_config cfg = WIC_CONFIG_INIT, out;

		/* Their own relations are tested below. */
		if (strcmp(n->field, "pool_pages") == 0)
			cfg.close_batch = 1;
		if (strcmp(n->field, "sm_warps") == 0)
			cfg.sm_blocks = 1;
		for (int last = 0; last < 2; last++) {
			*field(&cfg, n) = last ? n->max : n->min;
			out = resolved(&cfg);
			TEST_EQ(*field(&out, n), last ? n->max : n->min);
		}
		*field(&cfg, n) = n->max + 1;
		snprintf(text, sizeof(text), "%s is %u", n->field, n->max + 1);
		EXPECT_REFUSED(resolve(&cfg), -EINVAL, text);
		*field(&cfg, n) = UINT32_MAX;
		EXPECT_REFUSED(resolve(&cfg), -EINVAL, "4294967295");
		*field(&cfg, n) = n->min - 1;
		if (n->min > 1)
			EXPECT_REFUSED(resolve(&cfg), -EINVAL, n->field);
	}
	fake_fini();
}

static void variable_range(void)
{
	static const char *const malformed[] = {
		"-1",         "+1",
		" 1",         "1 ",
		"1k",         "x",
		"0x",         "0xg",
		"1.0",        "99999999999999999999",
		"4294967296", "1e3",
		"\"1\"",      "18446744073709551617",
	};
	char text[128];

	fake_init();
	clear_env();
	for (size_t i = 0; i < NUMBERS; i++) {
		const struct number *n = &numbers[i];
		struct wic_config out;

		snprintf(text, sizeof(text), "%u", n->min + n->step);
		setenv(n->variable, text, 1);
		out = resolved(NULL);
		TEST_EQ(*field(&out, n), n->min + n->step);
		snprintf(text, sizeof(text), "0x%x", n->min + n->step);
		setenv(n->variable, text, 1);
		out = resolved(NULL);
		TEST_EQ(*field(&out, n), n->min + n->step);
		for (size_t j = 0; j < sizeof(malformed) / sizeof(malformed[0]); j++) {
			setenv(n->variable, malformed[j], 1);
			snprintf(text, sizeof(text), "%s is \"%s\"", n->variable, malformed[j]);
			EXPECT_REFUSED(resolve(NULL), -EINVAL, text);
		}
		/* 0 and nothing ask for the default, as the field does. */
		for (int j = 0; j < 2; j++) {
			setenv(n->variable, j ? "0" : "", 1);
			out = resolved(NULL);
			TEST_EQ(*field(&out, n), n->value_default);
		}
		unsetenv(n->variable);
	}
	fake_fini();
}

static void field_wins_over_variable(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT, out;
	const char *from;

	fake_init();
	clear_env();
	setenv("WIC_SM_WARPS", "16", 1);
	setenv("WIC_BACKEND", "cpu", 1);
	setenv("WIC_MECHANISM", "uffd", 1);
	setenv("WIC_UNPINNED", "1", 1);
	TEST_EQ(wic_config_resolve(&cfg, &out, &from), 0);
	TEST_EQ(out.sm_warps, 16);
	TEST_EQ(strcmp(out.backend, "cpu"), 0);
	TEST_EQ(strcmp(from, "WIC_BACKEND"), 0);
	TEST_EQ(out.mechanism, WIC_MECHANISM_UFFD);
	TEST_EQ(out.unpinned, 1);
	cfg.sm_warps = 32;
	cfg.backend = "sim";
	cfg.mechanism = WIC_MECHANISM_MPROTECT;
	TEST_EQ(wic_config_resolve(&cfg, &out, &from), 0);
	TEST_EQ(out.sm_warps, 32);
	TEST_EQ(strcmp(out.backend, "sim"), 0);
	TEST_EQ(strcmp(from, "wic_config"), 0);
	TEST_EQ(out.mechanism, WIC_MECHANISM_MPROTECT);
	clear_env();
	fake_fini();
}

static void words(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	fake_init();
	clear_env();
	setenv("WIC_MECHANISM", "magic", 1);
	EXPECT_REFUSED(resolve(NULL), -EINVAL, "WIC_MECHANISM is \"magic\"");
	clear_env();
	setenv("WIC_LOG", "verbose", 1);
	EXPECT_REFUSED(resolve(NULL), -EINVAL, "WIC_LOG is \"verbose\"");
	clear_env();
	setenv("WIC_UNPINNED", "2", 1);
	EXPECT_REFUSED(resolve(NULL), -EINVAL, "WIC_UNPINNED is \"2\"");
	clear_env();
	cfg.mechanism = WIC_MECHANISM_MPROTECT + 1;
	EXPECT_REFUSED(resolve(&cfg), -EINVAL, "mechanism is 3");
	cfg.mechanism = 0;
	cfg.devices = 17;
	EXPECT_REFUSED(resolve(&cfg), -EINVAL, "devices is 17");
	cfg.devices = 8;
	cfg.pool_pages = 1 << 21;
	EXPECT_REFUSED(resolve(&cfg), -EINVAL, "8 devices and the host with 2097152 pool_pages");
	cfg.pool_pages = 0;
	cfg.devices = 0;
	cfg.unpinned = 77;
	TEST_EQ(resolved(&cfg).unpinned, 1);
	TEST_EQ(strcmp(wic_mechanism_name(WIC_MECHANISM_MPROTECT), "mprotect"), 0);
	TEST_TRUE(!wic_mechanism_name((enum wic_mechanism)3));
	fake_fini();
}

static void relations(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	fake_init();
	clear_env();
	cfg.sm_warps = 4;
	TEST_EQ(resolved(&cfg).sm_blocks, 4);
	cfg.sm_blocks = 5;
	EXPECT_REFUSED(resolve(&cfg), -EINVAL, "sm_blocks is 5");
	cfg = (struct wic_config)WIC_CONFIG_INIT;
	cfg.pool_pages = 7;
	EXPECT_REFUSED(resolve(&cfg), -EINVAL, "pool_pages is 7");
	cfg.pool_pages = 8;
	cfg.close_batch = 5;
	EXPECT_REFUSED(resolve(&cfg), -EINVAL, "close_batch is 5");
	cfg.close_batch = 4;
	TEST_EQ(resolved(&cfg).close_batch, 4);
	cfg.sms = 4096;
	cfg.sm_warps = 256;
	EXPECT_REFUSED(resolve(&cfg), -EINVAL,
		       "sms (WIC_SMS), 4096, * devices (WIC_DEVICES), 1, * sm_warps "
		       "(WIC_SM_WARPS), 256, are more than 1047552 warps");
	cfg.sms = 1023;
	cfg.sm_warps = 1024;
	TEST_EQ(resolved(&cfg).sms, 1023);
	cfg.devices = 2;
	EXPECT_REFUSED(resolve(&cfg), -EINVAL, "1023, * devices (WIC_DEVICES), 2");
	cfg.sms = 0;
	cfg.devices = 16;
	TEST_EQ(resolved(&cfg).sms, 0);
	cfg.devices = 0;
	cfg.stack_bytes = 16385;
	TEST_EQ(resolved(&cfg).stack_bytes, 20480);
	fake_fini();
}

static void unknown_variables(void)
{
	fake_init();
	clear_env();
	setenv("WIC_POOLPAGES", "1", 1);
	wic_config_warn_unknown();
	fake_log_expect(WIC_LOG_WARN, "unknown variable WIC_POOLPAGES, is WIC_POOL_PAGES meant?");
	wic_config_warn_unknown();
	fake_log_expect_none();
	setenv("WIC_SOMETHING_ELSE_ENTIRELY", "1", 1);
	setenv("WIC_INSTALL", "0", 1);
	setenv("WIC_LIBCUDA", "", 1);
	setenv("WIC_SMS", "1", 1);
	setenv("WICKED", "1", 1);
	wic_config_warn_unknown();
	fake_log_expect(WIC_LOG_WARN, "unknown variable WIC_SOMETHING_ELSE_ENTIRELY");
	setenv("WIC_A_NAME_THAT_IS_LONGER_THAN_ANY_THAT_COULD_EVER_BE_MEANT_BY_ANYBODY_AT_ALL", "",
	       1);
	wic_config_warn_unknown();
	fake_log_expect(WIC_LOG_WARN, "unknown variable WIC_A_NAME");
	clear_env();
	fake_fini();
}

/* A struct of the next version, with two more words. */
struct grown {
	struct wic_config cfg;
	uint64_t more[2];
};

static void desc_sizes(void)
{
	struct grown g = { .cfg = WIC_CONFIG_INIT };
	static unsigned char page[8192];

	fake_init();
	clear_env();
	g.cfg.sm_warps = 9;
	g.cfg.size_bytes = sizeof(g);
	TEST_EQ(resolved(&g.cfg).sm_warps, 9);
	TEST_EQ(resolved(&g.cfg).size_bytes, sizeof(struct wic_config));
	g.more[1] = 1;
	EXPECT_REFUSED(resolve(&g.cfg), -EINVAL, "knows only");
	g.cfg.size_bytes = 0;
	EXPECT_REFUSED(resolve(&g.cfg), -EINVAL, "size_bytes is 0");
	g.cfg.size_bytes = sizeof(g.cfg) - 1;
	EXPECT_REFUSED(resolve(&g.cfg), -EINVAL, "size_bytes is");
	g.cfg.size_bytes = UINT64_MAX;
	EXPECT_REFUSED(resolve(&g.cfg), -EINVAL, "18446744073709551615");
	memcpy(page, &(uint64_t){ 4096 }, 8);
	TEST_EQ(resolve((const struct wic_config *)(const void *)page), 0);
	memcpy(page, &(uint64_t){ 4097 }, 8);
	EXPECT_REFUSED(resolve((const struct wic_config *)(const void *)page), -EINVAL, "4097");
	fake_fini();
}

/* An old program: the fields that it does not know become 0. */
static void desc_smaller(void)
{
	struct {
		uint64_t size_bytes, a, b;
	} old = { 16, 1, 2 }, own = { 7, 7, 7 };

	fake_init();
	TEST_EQ(wic_desc_copy("old", &old, 16, sizeof(own), &own), 0);
	TEST_EQ(own.size_bytes, sizeof(own));
	TEST_EQ(own.a, 1);
	TEST_EQ(own.b, 0);
	EXPECT_REFUSED(wic_desc_copy("old", &old, 24, sizeof(own), &own), -EINVAL, "old");
	TEST_EQ(own.a, 1);
	fake_fini();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(defaults),
		TEST(field_range),
		TEST(variable_range),
		TEST(field_wins_over_variable),
		TEST(words),
		TEST(relations),
		TEST(unknown_variables),
		TEST(desc_sizes),
		TEST(desc_smaller),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
