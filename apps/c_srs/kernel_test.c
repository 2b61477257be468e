/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The kernel against the reference on random schedules; no back-end needed. */
#include <stdlib.h>
#include <string.h>

#include "apps/c_srs/c_srs.h"
#include "apps/c_srs/kernel.h"
#include "apps/common/fake_warps.h"
#include "lib/log.h"
#include "methods/split/cut.h"
#include "tests/test.h"

/* TSan sees each byte and each switch: 50 times slower, and one thread has no races. */
#ifdef __SANITIZE_THREAD__
#define SEEDS 1
#else
#define SEEDS 6
#endif

struct run {
	const struct method_ops *ops;
	struct method *method;
	struct app *app;
	uint32_t next; /* tag to publish */
	uint32_t tags;
	uint64_t epoch;
};

static void publish_next(void *arg)
{
	struct run *r = arg;
	void *buffer;

	if (r->next == r->tags)
		return;
	TEST_EQ(r->ops->stage(r->method, r->next, r->epoch, &buffer), 0);
	app_c_srs.produce(r->app, r->next, r->epoch, buffer);
	TEST_EQ(r->ops->publish(r->method, r->next, r->epoch), 0);
	r->next++;
}

static void run_open(struct run *r, const struct method_ops *ops, uint32_t sm_warps)
{
	struct app_params p = {
		.size = APP_TINY,
		.seed = 7,
		.sms = 2,
		.sm_blocks = 4,
		.sm_warps = sm_warps,
	};
	struct method_params mp = { .timeout_ns = WIC_MS(200) };

	memset(r, 0, sizeof(*r));
	r->ops = ops;
	TEST_EQ(app_c_srs.open(&p, &r->app), 0);
	TEST_EQ(app_c_srs.load(r->app, NULL), 0);
	r->tags = mp.tags = app_c_srs.shape(r->app)->tags;
	mp.readers = app_c_srs.shape(r->app)->readers;
	mp.bytes_per_tag = app_c_srs.shape(r->app)->bytes_per_tag;
	TEST_EQ(ops->open(NULL, &mp, &r->method), 0);
}

static void run_close(struct run *r)
{
	r->ops->close(r->method);
	app_c_srs.close(r->app);
}

/* One run; tags from @ready on are published while the kernel looks. */
static struct fake_counts run_once(struct run *r, uint64_t epoch, uint32_t ready, uint64_t seed)
{
	const struct app_shape *shape = app_c_srs.shape(r->app);
	struct m_args m;
	struct fake_launch launch = {
		.kernel = app_kernel_of(&app_c_srs, r->ops->name),
		.grid_blocks = shape->grid_blocks,
		.block_threads = shape->block_threads,
		.shared_bytes = shape->shared_bytes,
		.seed = seed,
		.on_look = publish_next,
		.on_look_arg = r,
	};

	r->epoch = epoch;
	r->next = 0;
	r->ops->args(r->method, &m);
	launch.args = app_c_srs.args(r->app, &m, epoch);
	while (r->next < ready)
		publish_next(r);
	return fake_run(&launch);
}

static void expect_ok(struct run *r)
{
	char why[256] = "";

	if (app_c_srs.check(r->app, why, sizeof(why)))
		fprintf(stderr, "%s\n", why);
	TEST_STR_HAS(why, "");
	TEST_EQ(app_c_srs.check(r->app, why, sizeof(why)), 0);
}

static void kernel_all_ready(void)
{
	static const struct method_ops *const all[] = { &method_none, &method_naive, &method_leader,
							&method_warp };
	uint32_t i, seed;

	for (i = 0; i < 4; i++) {
		for (seed = 1; seed <= SEEDS; seed++) {
			struct run r;

			run_open(&r, all[i], seed % 3 ? 32 : 12);
			TEST_EQ(run_once(&r, 1, r.tags, seed).looks, 0);
			expect_ok(&r);
			run_once(&r, 2, r.tags, seed + 100);
			expect_ok(&r);
			run_close(&r);
		}
	}
}

static void kernel_published_while_it_looks(void)
{
	static const struct method_ops *const all[] = { &method_naive, &method_leader,
							&method_warp };
	static const uint64_t epoch[] = {
		1, 2, (1ull << 32) - 1, 1ull << 32, WIC_EPOCH_LAST - 1, WIC_EPOCH_LAST
	};
	uint32_t i, j;

	for (i = 0; i < 3; i++) {
		struct run r;

		run_open(&r, all[i], 32);
		for (j = 0; j < SEEDS; j++) {
			TEST_TRUE(run_once(&r, epoch[j], j, j + 1).looks > 0);
			expect_ok(&r);
		}
		run_close(&r);
	}
}

/* Cut at its waits: each launch ends at one, with shared memory that is lost. */
static void kernel_cut(void)
{
	const struct app_shape *shape;
	struct fake_launch launch = { .kernel = app_kernel_of(&app_c_srs, "split") };
	struct m_cuts cuts;
	uint32_t warps, i, round, rounds;
	struct m_args m;
	struct run r;

	/* The data is there; what the method's host half would wait for is looked at here. */
	run_open(&r, &method_none, 12);
	r.epoch = 1;
	while (r.next < r.tags)
		publish_next(&r);
	shape = app_c_srs.shape(r.app);
	warps = shape->grid_blocks * shape->readers;
	rounds = (shape->tags + shape->grid_blocks - 1) / shape->grid_blocks;
	cuts.cut = calloc(warps, sizeof(*cuts.cut));
	TEST_TRUE(cuts.cut);
	r.ops->args(r.method, &m);
	m.cuts = &cuts;
	launch.args = app_c_srs.args(r.app, &m, 1);
	launch.grid_blocks = shape->grid_blocks;
	launch.block_threads = shape->block_threads;
	launch.shared_bytes = shape->shared_bytes;
	for (round = 0; round <= rounds; round++) {
		launch.seed = round + 1;
		fake_run(&launch);
		for (i = 0; i < warps && round < rounds; i++) {
			uint32_t tag = round * shape->grid_blocks + i / shape->readers;

			TEST_EQ(cuts.cut[i].is_over, tag >= shape->tags);
			if (tag < shape->tags)
				TEST_EQ(cuts.cut[i].want.tag, tag);
		}
	}
	for (i = 0; i < warps; i++)
		TEST_TRUE(cuts.cut[i].is_over);
	/* One more changes nothing. */
	fake_run(&launch);
	expect_ok(&r);
	free(cuts.cut);
	run_close(&r);
}

static void kernel_wait_times_out(void)
{
	char why[256] = "";
	struct run r;

	run_open(&r, &method_leader, 32);
	r.tags = 5; /* nobody publishes the others */
	run_once(&r, 1, 0, 3);
	TEST_EQ(app_c_srs.check(r.app, why, sizeof(why)), -ETIMEDOUT);
	TEST_STR_HAS(why, "block ");
	TEST_STR_HAS(why, "epoch 1");
	r.tags = app_c_srs.shape(r.app)->tags;
	run_once(&r, 2, 0, 3);
	expect_ok(&r);
	run_close(&r);
}

/* A result, a byte of a tile, and a whole tile of the epoch before: all must show. */
static void check_finds_what_is_wrong(void)
{
	struct srs_args *a;
	char why[256] = "";
	struct m_args m;
	struct run r;

	run_open(&r, &method_none, 32);
	run_once(&r, 1, r.tags, 1);
	expect_ok(&r);
	r.ops->args(r.method, &m);

	/* The argument struct is the app's own; a test may write to it. */
	a = (struct srs_args *)(uintptr_t)app_c_srs.args(r.app, &m, 1);
	TEST_EQ(app_c_srs.check(r.app, why, sizeof(why)), -EIO);
	TEST_STR_HAS(why, "tag 0 (tile 0): warps that finished [0]: expected 8, got 0");

	run_once(&r, 3, r.tags, 1);
	a->results[9].luma[40] += 1;
	TEST_EQ(app_c_srs.check(r.app, why, sizeof(why)), -EIO);
	TEST_STR_HAS(why, "tag 9 (tile 9): luma histogram [40]: expected");
	a->results[9].luma[40] -= 1;
	a->row_hashes[9 * 64 + 33] ^= 1u << 31;
	TEST_EQ(app_c_srs.check(r.app, why, sizeof(why)), -EIO);
	TEST_STR_HAS(why, "tag 9 (tile 9): hash of row [33]: expected");
	run_close(&r);
}

static void check_finds_stale_data(void)
{
	const struct app_shape *shape;
	char why[256] = "";
	struct m_args m;
	uint32_t page;
	struct run r;

	for (page = SEEDS > 1 ? 0 : 2; page < 4; page++) {
		struct fake_launch launch = { .seed = 1 };
		uint8_t kept[WIC_PAGE_BYTES];

		run_open(&r, &method_none, 8);
		shape = app_c_srs.shape(r.app);
		run_once(&r, 1, r.tags, 1);
		r.ops->args(r.method, &m);
		memcpy(kept, m.data + m.stride * 17 + page * WIC_PAGE_BYTES, sizeof(kept));
		run_once(&r, 2, r.tags, 1);
		expect_ok(&r);
		/* The page comes back from the epoch before; the end of a tile is no page's. */
		memcpy(m.data + m.stride * 17 + page * WIC_PAGE_BYTES, kept,
		       page < 3 ? sizeof(kept) : 0);
		launch.kernel = app_kernel_of(&app_c_srs, "none");
		launch.args = app_c_srs.args(r.app, &m, 2);
		launch.grid_blocks = shape->grid_blocks;
		launch.block_threads = shape->block_threads;
		launch.shared_bytes = shape->shared_bytes;
		fake_run(&launch);
		if (page < 3) {
			TEST_EQ(app_c_srs.check(r.app, why, sizeof(why)), -EIO);
			TEST_STR_HAS(why, "tag 17 (tile 17)");
		} else {
			expect_ok(&r);
		}
		run_close(&r);
	}
}

static void kernel_turn_length(void)
{
	uint64_t turns[3];
	uint32_t i;

	for (i = 0; i < 3; i++) {
		struct app_params p = {
			.size = APP_TINY,
			.seed = 7,
			.sms = 1,
			.sm_blocks = 4,
			.sm_warps = 8,
			.turn_percent = 25u << (2 * i),
		};
		struct method_params mp = { 0, 1, 3 * 64 * 64, 0, { 0 }, WIC_MODE_DEFAULT, NULL };
		struct run r = { .ops = &method_none };

		TEST_EQ(app_c_srs.open(&p, &r.app), 0);
		TEST_EQ(app_c_srs.load(r.app, NULL), 0);
		r.tags = mp.tags = app_c_srs.shape(r.app)->tags;
		TEST_EQ(method_none.open(NULL, &mp, &r.method), 0);
		turns[i] = run_once(&r, 1, r.tags, 1).turns;
		expect_ok(&r);
		run_close(&r);
	}
	TEST_TRUE(turns[0] > 3 * turns[1] && turns[0] < 5 * turns[1]);
	TEST_TRUE(turns[1] > 3 * turns[2] && turns[1] < 5 * turns[2]);
}

/* A side that is no power of two and divides unevenly among the warps. */
static void kernel_side_percent(void)
{
	struct app_params p = {
		.size = APP_SMALL,
		.side_percent = 76,
		.seed = 7,
		.sms = 1,
		.sm_blocks = 4,
		.sm_warps = 28,
	};
	struct method_params mp = { 0, 7, 3 * 192 * 192, 0, { 0 }, WIC_MODE_DEFAULT, NULL };
	struct run r = { .ops = &method_none };

	TEST_EQ(app_c_srs.open(&p, &r.app), 0);
	TEST_EQ(app_c_srs.load(r.app, NULL), 0);
	TEST_EQ(app_c_srs.shape(r.app)->bytes_per_tag, mp.bytes_per_tag);
	r.tags = mp.tags = app_c_srs.shape(r.app)->tags;
	TEST_EQ(method_none.open(NULL, &mp, &r.method), 0);
	run_once(&r, 1, r.tags, 1);
	expect_ok(&r);
	run_close(&r);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(kernel_all_ready),
		TEST(kernel_published_while_it_looks),
		TEST(kernel_cut),
		TEST(kernel_wait_times_out),
		TEST(check_finds_what_is_wrong),
		TEST(check_finds_stale_data),
		TEST(kernel_turn_length),
		TEST(kernel_side_percent),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
