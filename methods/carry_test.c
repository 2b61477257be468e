/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Kernels that produce and hosts that consume, one suite for every method. */
#include <string.h>

#include "lib/log.h"
#include "methods/carry_kernel.h"
#include "methods/method.h"
#include "tests/test.h"

#define TAGS 24
#define WORDS 2600 /* more than is copied between two turns, and no whole row of lanes */
#define BLOCKS 2
#define BLOCK_WARPS 4
#define ROUNDS 5

void carry_kernel_naive(const void *args);
void carry_kernel_leader(const void *args);
void carry_kernel_warp(const void *args);
void carry_kernel_thread_futex(const void *args);
void carry_kernel_wic(const void *args);
void carry_kernel_none(const void *args);

static const struct {
	const struct method_ops *ops;
	void (*kernel)(const void *args);
} all[] = {
	{ &method_naive, carry_kernel_naive },
	{ &method_leader, carry_kernel_leader },
	{ &method_warp, carry_kernel_warp },
	{ &method_thread_futex, carry_kernel_thread_futex },
	{ &method_wic, carry_kernel_wic },
	/* Last: where somebody has to wait for a kernel it cannot be used. */
	{ &method_none, carry_kernel_none },
};

#define METHODS (sizeof(all) / sizeof(all[0]))

static int32_t status[2][BLOCKS * BLOCK_WARPS];
static uint32_t wrong;

static void quiet(void *arg, int level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static struct wic *context_open(uint32_t devices)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w;

	cfg.sms = 1;
	cfg.devices = devices;
	cfg.pool_pages = 256;
	cfg.log = quiet;
	TEST_EQ(wic_open(&cfg, &w), 0);
	return w;
}

static struct method *channel_open(const struct method_ops *ops, struct wic *w, struct m_ends ends,
				   uint64_t timeout_ns)
{
	struct method_params p = { TAGS,       1,    WORDS * sizeof(uint64_t),
				   timeout_ns, ends, WIC_MODE_DEFAULT,
				   NULL };
	struct method *m = NULL;

	TEST_EQ(ops->open(w, &p, &m), 0);
	return m;
}

static void launch(const struct method_ops *ops, struct method *m, struct wic *w,
		   const struct wic_launch_desc *what)
{
	struct wic_launch_desc l = *what;

	l.grid_blocks = BLOCKS;
	l.block_threads = BLOCK_WARPS * WIC_WARP_LANES;
	l.shared_bytes = M_SHARED_BYTES_MAX(BLOCK_WARPS);
	TEST_EQ(method_launch(ops, m, w, &l), 0);
}

static void expect_fine(void)
{
	for (uint32_t d = 0; d < 2; d++)
		for (uint32_t i = 0; i < BLOCKS * BLOCK_WARPS; i++)
			TEST_EQ(status[d][i], 0);
	TEST_EQ(wrong, 0);
}

static void take_all(const struct method_ops *ops, struct method *m, uint64_t epoch)
{
	/* Not in the order in which they are made. */
	for (uint32_t i = 0; i < TAGS; i++) {
		uint32_t tag = i * 7 % TAGS;
		const void *data = NULL;

		TEST_EQ(ops->take(m, tag, epoch, &data), 0);
		for (uint32_t k = 0; k < WORDS; k++)
			TEST_EQ(((const uint64_t *)data)[k], carry_word(tag, epoch, k));
		TEST_EQ(ops->done(m, tag, epoch), 0);
	}
}

static void to_the_host(void)
{
	const struct m_ends ends = { .is_from_device = true, .is_to_host = true };

	for (size_t i = 0; i < METHODS; i++) {
		const struct method_ops *ops = all[i].ops;
		struct wic *w = context_open(1);
		struct method *m = channel_open(ops, w, ends, WIC_S(20));
		struct carry_args a = { .tags_out = TAGS, .words = WORDS, .status = status[0] };
		struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;

		l.kernel = all[i].kernel;
		l.args = &a;
		ops->args(m, &a.out);
		TEST_TRUE(ops != &method_none || !a.out.staging);
		for (a.epoch = 1; a.epoch <= ROUNDS; a.epoch++) {
			launch(ops, m, w, &l);
			if (ops == &method_none)
				TEST_EQ(method_sync(ops, m, w, WIC_S(20)), 0);
			take_all(ops, m, a.epoch);
			TEST_EQ(method_sync(ops, m, w, WIC_S(20)), 0);
		}
		expect_fine();
		ops->close(m);
		wic_close(w);
	}
}

/* Both devices make for each other, and both wait. */
static void between_devices(void)
{
	for (size_t i = 0; i < METHODS - 1; i++) {
		const struct method_ops *ops = all[i].ops;
		struct wic *w = context_open(2);
		struct carry_args a[2];
		struct method *m[2];

		for (uint32_t d = 0; d < 2; d++)
			m[d] = channel_open(
				ops, w,
				(struct m_ends){ .is_from_device = true, .from = d, .to = 1 - d },
				WIC_S(20));
		for (uint64_t epoch = 1; epoch <= ROUNDS; epoch++) {
			for (uint32_t d = 0; d < 2; d++) {
				struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;

				a[d] = (struct carry_args){ .epoch = epoch,
							    .tags_out = TAGS,
							    .tags_in = TAGS,
							    .words = WORDS,
							    .status = status[d],
							    .wrong = &wrong };
				ops->args(m[d], &a[d].out);
				ops->args(m[1 - d], &a[d].in);
				l.kernel = all[i].kernel;
				l.args = &a[d];
				l.device = WIC_GPU(d);
				launch(ops, m[1 - d], w, &l);
			}
			for (uint32_t d = 0; d < 2; d++)
				TEST_EQ(method_sync(ops, m[d], w, WIC_S(20)), 0);
		}
		expect_fine();
		ops->close(m[0]);
		ops->close(m[1]);
		wic_close(w);
	}
}

/* Nobody waits: a spare buffer, so that no device writes what the other one reads. */
static void none_between_devices(void)
{
	struct wic *w = context_open(2);
	struct m_ends ends = { .is_from_device = true, .to = 1 };
	struct method *m = channel_open(&method_none, w, ends, WIC_S(20));
	struct m_args args;

	method_none.args(m, &args);
	TEST_TRUE(args.staging && args.data && args.staging != args.data);
	method_none.close(m);
	wic_close(w);
}

static void take_bad(void)
{
	const struct m_ends ends = { .is_from_device = true, .is_to_host = true };

	for (size_t i = 0; i < METHODS; i++) {
		struct wic *w = context_open(1);
		struct method *m = channel_open(all[i].ops, w, ends, WIC_MS(20));
		const void *data = NULL;

		TEST_EQ(all[i].ops->take(m, TAGS, 1, &data), -EINVAL);
		if (all[i].ops != &method_none)
			TEST_EQ(all[i].ops->take(m, 0, 1, &data), -ETIMEDOUT);
		TEST_TRUE(all[i].ops == &method_none || !data);
		all[i].ops->close(m);
		wic_close(w);
	}
}

static void split_is_from_the_host_only(void)
{
	static const struct m_ends bad[] = {
		{ .is_from_device = true, .to = 1 },
		{ .is_to_host = true },
		{ .to = 1 },
	};
	struct method_params p = { TAGS, 1, 64, 1, { 0 }, WIC_MODE_DEFAULT, NULL };
	struct wic *w = context_open(1);
	struct method *m = NULL;

	for (size_t i = 0; i < 3; i++) {
		p.ends = bad[i];
		TEST_EQ(method_split.open(w, &p, &m), -ENOTSUP);
		TEST_STR_HAS(wic_last_error(), "only from the host to device 0");
	}
	wic_close(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(to_the_host),
		TEST(between_devices),
		TEST(none_between_devices),
		TEST(take_bad),
		TEST(split_is_from_the_host_only),
		{ 0 },
	};

	wic_log_set(quiet, NULL);
	return test_main(argc, argv, tests);
}
