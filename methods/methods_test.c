/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The host halves, one suite for every method. */
#include <stdbool.h>
#include <string.h>

#include "lib/log.h"
#include "methods/method.h"
#include "tests/test.h"

#define TAGS 5
#define BYTES 5000

struct fixture {
	struct wic *w;
	const struct method_ops *ops;
	struct method *m;
	struct m_args args;
};

static void quiet(void *arg, int level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static struct wic *context_open(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w;

	cfg.sms = 1;
	cfg.pool_pages = 64;
	cfg.log = quiet;
	TEST_EQ(wic_open(&cfg, &w), 0);
	return w;
}

static void fixture_open(struct fixture *f, const struct method_ops *ops)
{
	struct method_params p = { TAGS, 1, BYTES, WIC_MS(20), { 0 }, WIC_MODE_DEFAULT, NULL };

	f->w = context_open();
	f->ops = ops;
	TEST_EQ(ops->open(f->w, &p, &f->m), 0);
	ops->args(f->m, &f->args);
}

static void fixture_close(struct fixture *f)
{
	f->ops->close(f->m);
	wic_close(f->w);
}

static bool is_of_gpus(const struct method_ops *ops)
{
	return method_check_where(ops, NULL) != 0;
}

static void method_find_by_name(void)
{
	size_t i;

	TEST_TRUE(methods[0] == &method_none);
	for (i = 0; methods[i]; i++) {
		TEST_TRUE(method_find(methods[i]->name) == methods[i]);
		TEST_TRUE(methods[i]->summary[0] && methods[i]->copies[0]);
	}
	TEST_TRUE(!method_find("nosuch"));
	TEST_TRUE(!method_find(""));
	TEST_TRUE(!method_find(NULL));
}

static void method_open_bad(void)
{
	static const struct method_params bad[] = {
		{ 0, 1, BYTES, 1, { 0 }, 0, NULL },
		{ TAGS, 1, 0, 1, { 0 }, 0, NULL },
		{ UINT32_MAX, 1, UINT64_MAX / 2, 1, { 0 }, 0, NULL },
		{ 1, 1, UINT64_MAX, 1, { 0 }, 0, NULL },
	};
	struct wic *w = context_open();
	size_t i, j;

	for (i = 0; methods[i]; i++) {
		for (j = 0; j < sizeof(bad) / sizeof(bad[0]); j++) {
			struct method *m = NULL;

			/* A wic channel without payload is legal: of signals only. */
			if (methods[i] == &method_wic && !bad[j].bytes_per_tag)
				continue;
			TEST_TRUE(methods[i]->open(w, &bad[j], &m) < 0);
			TEST_TRUE(!m && wic_last_error()[0]);
		}
		methods[i]->close(NULL);
	}
	wic_close(w);
}

/* What a back-end cannot have is refused, and the text says why. */
static void method_open_elsewhere(void)
{
	struct method_params p = { TAGS, 1, BYTES, 1, { 0 }, WIC_MODE_DEFAULT, NULL };
	struct wic *w = context_open();
	uint32_t refused = 0;
	size_t i;

	for (i = 0; methods[i]; i++) {
		struct method *m = NULL;

		TEST_TRUE(methods[i]->where != 0);
		if (!is_of_gpus(methods[i]))
			continue;
		TEST_EQ(methods[i]->open(w, &p, &m), -ENOTSUP);
		TEST_STR_HAS(wic_last_error(), "only on a GPU");
		TEST_TRUE(!m);
		refused++;
	}
	TEST_EQ(refused, 2);
	wic_close(w);
}

static void method_stage_and_publish(void)
{
	static const uint64_t epoch[] = { 1, 2, 9, UINT32_MAX, 1ull << 32, WIC_EPOCH_LAST };
	size_t i, j;

	for (i = 0; methods[i]; i++) {
		struct fixture f;
		void *buffer;

		if (is_of_gpus(methods[i]))
			continue;
		fixture_open(&f, methods[i]);
		for (j = 0; j < (methods[i] == &method_wic ? 1 : 6); j++) {
			TEST_EQ(f.ops->stage(f.m, 3, epoch[j], &buffer), 0);
			memset(buffer, (int)j + 1, BYTES);
			TEST_EQ(f.ops->publish(f.m, 3, epoch[j]), 0);
			if (!f.args.flags)
				continue;
			TEST_TRUE(f.args.flags[3 * M_FLAG_WORDS] == epoch[j]);
			TEST_EQ(f.args.flags[2 * M_FLAG_WORDS], 0);
			TEST_EQ(f.args.data[3 * f.args.stride], j + 1);
			TEST_EQ(f.args.data[3 * f.args.stride + BYTES - 1], j + 1);
			TEST_EQ(f.args.data[3 * f.args.stride + BYTES], 0);
			TEST_EQ(f.args.data[3 * f.args.stride - 1], 0);
			TEST_EQ((uintptr_t)f.args.data % WIC_PAGE_BYTES, 0);
			TEST_EQ(f.args.stride, 8192);
			TEST_EQ(buffer == f.args.data + 3 * f.args.stride,
				methods[i] == &method_none);
		}
		fixture_close(&f);
	}
}

static void method_stage_bad(void)
{
	size_t i;

	for (i = 0; methods[i]; i++) {
		struct fixture f;
		void *buffer = &f;

		if (is_of_gpus(methods[i]))
			continue;
		fixture_open(&f, methods[i]);
		TEST_EQ(f.ops->stage(f.m, TAGS, 1, &buffer), -EINVAL);
		TEST_EQ(f.ops->stage(f.m, WIC_NO_TAG, 1, &buffer), -EINVAL);
		TEST_EQ(f.ops->stage(f.m, 0, WIC_EPOCH_NONE, &buffer), -EINVAL);
		TEST_EQ(f.ops->stage(f.m, 0, UINT64_MAX, &buffer), -EINVAL);
		TEST_TRUE(buffer == &f);
		TEST_EQ(f.ops->publish(f.m, 0, 1), -EINVAL);
		TEST_EQ(f.ops->publish(f.m, TAGS, 1), -EINVAL);
		TEST_EQ(f.ops->stage(f.m, 0, 4, &buffer), 0);
		TEST_EQ(f.ops->publish(f.m, 0, 5), -EINVAL);
		TEST_EQ(f.ops->publish(f.m, 0, 4), 0);
		TEST_EQ(f.ops->publish(f.m, 0, 4), -EINVAL);
		TEST_EQ(f.ops->stage(f.m, 0, 4, &buffer), -EINVAL);
		TEST_EQ(f.ops->stage(f.m, 0, 3, &buffer), -EINVAL);
		fixture_close(&f);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(method_find_by_name),      TEST(method_open_bad),  TEST(method_open_elsewhere),
		TEST(method_stage_and_publish), TEST(method_stage_bad), { 0 },
	};

	wic_log_set(quiet, NULL);
	return test_main(argc, argv, tests);
}
