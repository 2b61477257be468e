/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The device halves, and methods that launch by themselves: one suite for every method. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "lib/log.h"
#include "methods/flag.h"
#include "methods/method.h"
#include "methods/rounds_kernel.h"
#include "methods/thread_futex/threads.h"
#include "tests/test.h"

#define BLOCKS 3
#define BLOCK_WARPS 5
#define WARPS (BLOCKS * BLOCK_WARPS)
#define ROUNDS 4
#define TAGS (WARPS * ROUNDS)
#define BYTES 64

#define KERNEL(id)                             \
	void rounds_kernel_##id(const void *); \
	void leave_kernel_##id(const void *)
KERNEL(none);
KERNEL(naive);
KERNEL(leader);
KERNEL(warp);
KERNEL(split);
KERNEL(thread_futex);
KERNEL(wic);

static const struct kernels {
	const struct method_ops *ops;
	void (*rounds)(const void *);
	void (*leave)(const void *);
} all[] = {
	{ &method_none, rounds_kernel_none, leave_kernel_none },
	{ &method_naive, rounds_kernel_naive, leave_kernel_naive },
	{ &method_leader, rounds_kernel_leader, leave_kernel_leader },
	{ &method_warp, rounds_kernel_warp, leave_kernel_warp },
	{ &method_split, rounds_kernel_split, leave_kernel_split },
	{ &method_thread_futex, rounds_kernel_thread_futex, leave_kernel_thread_futex },
	{ &method_wic, rounds_kernel_wic, leave_kernel_wic },
};
#define METHODS (sizeof(all) / sizeof(all[0]))

struct fixture {
	const struct kernels *k;
	struct wic *w;
	struct method *m;
	struct rounds_args args;
	struct wic_launch_desc launch;
	uint32_t sums[M_THREADS_MAX + 1], c1_calls[M_THREADS_MAX + 1];
	uint32_t bar_errors[M_THREADS_MAX + 1];
	int32_t status[M_THREADS_MAX + 1];
};

static void quiet(void *arg, int level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static void fixture_open(struct fixture *f, const struct kernels *k, uint64_t timeout_ns)
{
	struct method_params p = { TAGS, 1, BYTES, timeout_ns, { 0 }, WIC_MODE_DEFAULT, NULL };
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_launch_desc launch = WIC_LAUNCH_DESC_INIT;

	memset(f, 0, sizeof(*f));
	cfg.sms = 1;
	cfg.pool_pages = 4 * TAGS;
	cfg.log = quiet;
	f->k = k;
	TEST_EQ(wic_open(&cfg, &f->w), 0);
	TEST_EQ(k->ops->open(f->w, &p, &f->m), 0);
	f->launch = launch;
	f->launch.kernel = k->rounds;
	f->launch.args = &f->args;
	f->launch.grid_blocks = BLOCKS;
	f->launch.block_threads = BLOCK_WARPS * WIC_WARP_LANES;
	f->launch.shared_bytes = M_SHARED_BYTES_MAX(BLOCK_WARPS) + 4 * BLOCK_WARPS;
}

static void fixture_close(struct fixture *f)
{
	f->k->ops->close(f->m);
	wic_close(f->w);
}

static void fixture_args(struct fixture *f, uint64_t epoch)
{
	memset(f->sums, 0, sizeof(f->sums));
	memset(f->c1_calls, 0, sizeof(f->c1_calls));
	memset(f->bar_errors, 0, sizeof(f->bar_errors));
	memset(f->status, 0, sizeof(f->status));
	f->k->ops->args(f->m, &f->args.m);
	f->args.epoch = epoch;
	f->args.rounds = ROUNDS;
	f->args.sums = f->sums;
	f->args.c1_calls = f->c1_calls;
	f->args.bar_errors = f->bar_errors;
	f->args.status = f->status;
}

static void publish(struct fixture *f, uint32_t tag)
{
	void *buffer;

	TEST_EQ(f->k->ops->stage(f->m, tag, f->args.epoch, &buffer), 0);
	*(uint32_t *)buffer = (uint32_t)f->args.epoch * 1000 + tag;
	TEST_EQ(f->k->ops->publish(f->m, tag, f->args.epoch), 0);
}

/* A tag that nobody asks for: with wic its staging would never be free again. */
static bool is_wanted(uint32_t tag)
{
	return rounds_has_tag(tag % WARPS, tag / WARPS);
}

static void publish_range(struct fixture *f, uint32_t first, uint32_t end)
{
	struct timespec pause = { 0, 20000 };

	for (; first < end; first++) {
		if (!is_wanted(first))
			continue;
		publish(f, first);
		nanosleep(&pause, NULL);
	}
}

static int launch(struct fixture *f)
{
	return method_launch(f->k->ops, f->m, f->w, &f->launch);
}

static int sync_for(struct fixture *f, uint64_t timeout_ns)
{
	return method_sync(f->k->ops, f->m, f->w, timeout_ns);
}

static void expect_sums(const struct fixture *f)
{
	uint32_t block, i, r;

	for (block = 0; block < BLOCKS; block++) {
		TEST_EQ(f->c1_calls[block], BLOCK_WARPS * (ROUNDS + 1));
		TEST_EQ(f->bar_errors[block], 0);
	}
	for (i = 0; i < WARPS; i++) {
		uint32_t want = 0;

		for (r = 0; r < ROUNDS; r++)
			if (rounds_has_tag(i, r))
				want += (uint32_t)f->args.epoch * 1000 + r * WARPS + i;
		TEST_EQ(f->status[i], 0);
		TEST_EQ(f->sums[i], want);
	}
}

static void launch_rounds(void)
{
	size_t i, j;

	for (i = 0; i < METHODS; i++) {
		struct fixture f;

		fixture_open(&f, &all[i], WIC_S(20));
		for (j = 1; j <= 6; j++) {
			uint32_t ready = j % 2 || all[i].ops == &method_none ? TAGS : 3;

			fixture_args(&f, j);
			publish_range(&f, 0, ready);
			TEST_EQ(launch(&f), 0);
			publish_range(&f, ready, TAGS);
			TEST_EQ(sync_for(&f, WIC_S(20)), 0);
			expect_sums(&f);
		}
		fixture_close(&f);
	}
}

/* The first tag of the last round is missing: its warp says so, and the launch ends. */
static void launch_times_out(void)
{
	size_t i;

	for (i = 1; i < METHODS; i++) {
		const uint32_t missing = (ROUNDS - 1) * WARPS + 1;
		struct fixture f;
		uint32_t tag;

		fixture_open(&f, &all[i], WIC_MS(30));
		fixture_args(&f, 1);
		TEST_TRUE(is_wanted(missing));
		for (tag = 0; tag < TAGS; tag++)
			if (tag != missing && is_wanted(tag))
				publish(&f, tag);
		TEST_EQ(launch(&f), 0);
		TEST_EQ(sync_for(&f, WIC_S(20)), 0);
		TEST_EQ(f.status[1], -ETIMEDOUT);
		TEST_EQ(f.status[WARPS - 1], 0);
		fixture_close(&f);
	}
}

static void launch_busy_and_sync_times_out(void)
{
	size_t i;

	for (i = 1; i < METHODS; i++) {
		struct fixture f;

		fixture_open(&f, &all[i], WIC_S(20));
		fixture_args(&f, 1);
		TEST_EQ(sync_for(&f, 0), 0);
		TEST_EQ(launch(&f), 0);
		TEST_EQ(launch(&f), -EBUSY);
		TEST_EQ(sync_for(&f, WIC_MS(5)), -ETIMEDOUT);
		publish_range(&f, 0, TAGS);
		TEST_EQ(sync_for(&f, WIC_S(20)), 0);
		expect_sums(&f);
		fixture_close(&f);
	}
}

/* Warps that return early, and a last warp of 7 lanes. */
static void launch_leavers(void)
{
	size_t i, j;

	for (i = 0; i < METHODS; i++) {
		struct fixture f;
		uint32_t k;

		/* A cut kernel has no barrier trouble: it is launched once and ends. */
		if (all[i].ops == &method_split)
			continue;
		fixture_open(&f, &all[i], WIC_S(20));
		f.launch.kernel = all[i].leave;
		f.launch.block_threads -= 25;
		for (j = 0; j < 20; j++) {
			fixture_args(&f, 1);
			TEST_EQ(launch(&f), 0);
			TEST_EQ(sync_for(&f, WIC_S(20)), 0);
			for (k = 0; k < BLOCKS; k++)
				TEST_EQ(f.bar_errors[k], 0);
			for (k = 0; k < WARPS; k++)
				TEST_EQ(f.sums[k],
					(BLOCK_WARPS - k % BLOCK_WARPS) * 100 +
						(k % BLOCK_WARPS == BLOCK_WARPS - 1 ? 7 : 32));
		}
		fixture_close(&f);
	}
}

static void launch_bad(void)
{
	static const struct method_ops *const own[] = { &method_split, &method_thread_futex };
	size_t i, j;

	for (i = 0; i < 2; i++) {
		bool is_split = own[i] == &method_split;
		struct fixture f;

		for (j = 0; all[j].ops != own[i]; j++)
			;
		fixture_open(&f, &all[j], WIC_S(20));
		fixture_args(&f, 1);
		f.launch.grid_blocks = 0;
		TEST_EQ(launch(&f), -EINVAL);
		f.launch.grid_blocks = UINT32_MAX;
		TEST_EQ(launch(&f), is_split ? -EINVAL : -ENOTSUP);
		f.launch.grid_blocks = BLOCKS;
		f.launch.kernel = NULL;
		/* split: what its driver's wic_launch() says comes with the sync, once. */
		TEST_EQ(launch(&f), is_split ? 0 : -EINVAL);
		TEST_EQ(sync_for(&f, WIC_S(20)), is_split ? -EINVAL : 0);
		TEST_EQ(sync_for(&f, WIC_S(20)), 0);
		f.launch.kernel = all[j].rounds;
		publish_range(&f, 0, TAGS);
		TEST_EQ(launch(&f), 0);
		TEST_EQ(sync_for(&f, WIC_S(20)), 0);
		expect_sums(&f);
		fixture_close(&f);
	}
}

static void thread_futex_warps_max(void)
{
	struct fixture f;
	size_t j;

	for (j = 0; all[j].ops != &method_thread_futex; j++)
		;
	fixture_open(&f, &all[j], WIC_S(20));
	fixture_args(&f, 1);
	f.launch.kernel = all[j].leave;
	f.launch.block_threads = WIC_WARP_LANES;
	f.launch.grid_blocks = M_THREADS_MAX + 1;
	TEST_EQ(launch(&f), -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "1025 warps, at most 1024");
	TEST_EQ(method_thread_futex.warps_max, M_THREADS_MAX);
	f.launch.grid_blocks = M_THREADS_MAX;
	TEST_EQ(launch(&f), 0);
	TEST_EQ(sync_for(&f, WIC_S(60)), 0);
	TEST_EQ(f.sums[M_THREADS_MAX - 1], 132);
	fixture_close(&f);
}

static void *publish_later(void *arg)
{
	struct timespec pause = { 0, 2000000 };
	void *buffer;
	struct method *m = arg;

	nanosleep(&pause, NULL);
	/* The low half of the epoch does not change: a futex on it would not see this. */
	TEST_EQ(m_memory_method_stage(m, 1, 5 + (1ull << 32), &buffer), 0);
	TEST_EQ(m_flag_method_publish(m, 1, 5 + (1ull << 32)), 0);
	return NULL;
}

static void flag_wait_sleeps(void)
{
	struct method_params p = { 2, 1, BYTES, 0, { 0 }, WIC_MODE_DEFAULT, NULL };
	struct method *m;
	pthread_t id;
	void *buffer;

	TEST_EQ(m_memory_method_open(NULL, &p, 0, &m), 0);
	TEST_EQ(m_memory_method_stage(m, 1, 5, &buffer), 0);
	TEST_EQ(m_flag_method_publish(m, 1, 6), -EINVAL);
	TEST_EQ(m_flag_method_publish(m, 1, 5), 0);
	TEST_EQ(m_flag_wait(m->mem.flags, 1, 5, 0), 0);
	TEST_EQ(m_flag_wait(m->mem.flags, 1, 6, wic_now_ns() + WIC_MS(3)), -ETIMEDOUT);
	TEST_EQ(m_flag_wait(m->mem.flags, 0, 1, 0), -ETIMEDOUT);
	TEST_EQ(pthread_create(&id, NULL, publish_later, m), 0);
	TEST_EQ(m_flag_wait(m->mem.flags, 1, 6, wic_now_ns() + WIC_S(20)), 0);
	pthread_join(id, NULL);
	m_memory_method_close(m);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(launch_rounds),
		TEST(launch_times_out),
		TEST(launch_busy_and_sync_times_out),
		TEST(launch_leavers),
		TEST(launch_bad),
		TEST(thread_futex_warps_max),
		TEST(flag_wait_sleeps),
		{ 0 },
	};

	wic_log_set(quiet, NULL);
	return test_main(argc, argv, tests);
}
