// SPDX-License-Identifier: MIT OR GPL-2.0
/* Data and signals from the host to warps, from warps to the host, and between warps. */
#include "tests/gpu/gpu.h"

#define BLOCKS 4
#define THREADS 128
#define WARPS (BLOCKS * THREADS / 32)

/* ---- from the host ----------------------------------------------------------------------- */

struct sizes {
	uint32_t tags;
	uint64_t bytes;
	uint64_t epochs;
	uint32_t has_lot;
	uint32_t is_each; /* every warp reads every tag */
};

static void from_host(const struct sizes *s)
{
	struct gpu g = gpu_open(1);
	struct wic_channel_desc d = gpu_desc(WIC_HOST, WIC_GPU(0), s->tags, s->bytes);
	struct gpu_run run = gpu_run(&g, gpu_take, BLOCKS, THREADS);
	struct wic_channel *ch;

	d.readers = s->is_each ? WARPS : 1;
	ch = gpu_channel_of(&g, &d);
	run.args.h[0] = wic_channel_handle(ch);
	run.args.count = s->tags;
	run.args.epochs = s->epochs;
	run.args.has_lot = s->has_lot;
	run.args.is_each = s->is_each;
	gpu_start(&g, &run);
	for (uint64_t e = 1; e <= s->epochs; e++)
		for (uint32_t tag = 0; tag < s->tags; tag++)
			gpu_publish(ch, tag, e, s->bytes);
	gpu_end(&g, &run);
	wic_channel_destroy(ch);
	gpu_close(&g);
}

static void exchange_sizes(void)
{
	static const uint64_t bytes[] = { 8, 100, 4096 };

	for (uint32_t i = 0; i < 3; i++) {
		const struct sizes one = { WARPS, bytes[i], 50, 1, 0 };
		const struct sizes many = { 3, bytes[i], 50, 1, 1 };

		from_host(&one);
		from_host(&many);
	}
}

static void exchange_tags(void)
{
	static const uint32_t tags[] = { 1, 2, 15, 16, 17, 33, 100 };

	for (uint32_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
		const struct sizes s = { tags[i], 8, 20, 1, 0 };

		from_host(&s);
	}
}

static void exchange_without_a_lot(void)
{
	const struct sizes one = { WARPS, 100, 50, 0, 0 }, many = { 3, 100, 50, 0, 1 };

	from_host(&one);
	from_host(&many);
}

/* More blocks than are resident: each needs its own tag, and later blocks begin when it has it. */
static void exchange_more_blocks_than_resident(void)
{
	const uint32_t blocks = gpu_is_fake() ? 24 : 16384;
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), blocks, 8);
	struct gpu_run run;

	gpu_set_resident_blocks(4);
	run = gpu_run(&g, gpu_take, blocks, 32);
	run.args.h[0] = wic_channel_handle(ch);
	run.args.count = blocks;
	gpu_start(&g, &run);
	for (uint32_t tag = 0; tag < blocks; tag++)
		gpu_publish(ch, tag, 1, 8);
	gpu_end(&g, &run);
	wic_channel_destroy(ch);
	gpu_close(&g);
}

/* What is published before the launch is there, also without anybody who owns its line. */
static void exchange_published_before_launch(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), WARPS, 100);

	for (uint64_t e = 1; e < 6; e++) {
		struct gpu_run run = gpu_run(&g, gpu_take, BLOCKS, THREADS);

		for (uint32_t tag = 0; tag < WARPS; tag++)
			gpu_publish(ch, tag, e, 100);
		run.args.h[0] = wic_channel_handle(ch);
		run.args.count = WARPS;
		run.args.epoch_first = e;
		run.args.has_lot = e % 2;
		run.args.timeout_ns = e == 5 ? 1000 : TIMEOUT;
		gpu_start(&g, &run);
		gpu_end(&g, &run);
	}
	wic_channel_destroy(ch);
	gpu_close(&g);
}

/* Warps of one block wait for tags that come in the opposite order, one by one. */
static void exchange_warps_of_a_block_wait_for_different_tags(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 40, 8);
	struct gpu_run run = gpu_run(&g, gpu_take, 1, 1024);

	run.args.h[0] = wic_channel_handle(ch);
	run.args.count = 32;
	run.args.epochs = 20;
	gpu_start(&g, &run);
	for (uint64_t e = 1; e <= 20; e++)
		for (uint32_t tag = 32; tag--;)
			gpu_publish(ch, tag, e, 8);
	gpu_end(&g, &run);
	wic_channel_destroy(ch);
	gpu_close(&g);
}

/* ---- signals ----------------------------------------------------------------------------- */

static void ping_pong(uint32_t has_lot, uint32_t tags, uint64_t rounds)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), tags, 0);
	struct wic_channel *from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, tags, 0);
	struct gpu_run run = gpu_run(&g, gpu_ping, 1, 32 * tags);

	run.args.h[0] = wic_channel_handle(to);
	run.args.h[1] = wic_channel_handle(from);
	run.args.epochs = rounds;
	run.args.has_lot = has_lot;
	gpu_start(&g, &run);
	for (uint64_t e = 1; e <= rounds; e++) {
		for (uint32_t tag = 0; tag < tags; tag++)
			gpu_publish(to, tag, e, 0);
		for (uint32_t tag = 0; tag < tags; tag++)
			TEST_EQ(wic_host_wait(from, tag, e, TIMEOUT), 0);
	}
	gpu_end(&g, &run);
	gpu_close(&g);
}

static void signals_ping_pong(void)
{
	ping_pong(1, 1, gpu_is_fake() ? 3000 : 20000);
}

static void signals_ping_pong_without_a_lot(void)
{
	ping_pong(0, 1, gpu_is_fake() ? 3000 : 20000);
}

static void signals_ping_pong_of_many(void)
{
	ping_pong(1, 20, gpu_is_fake() ? 300 : 3000);
}

/* ---- to the host ------------------------------------------------------------------------- */

struct taker {
	struct wic_channel *ch;
	uint32_t tag_first, tag_step, tags;
	uint64_t epochs, bytes;
};

static void *take_tags(void *arg)
{
	const struct taker *t = arg;

	for (uint64_t e = 1; e <= t->epochs; e++)
		for (uint32_t tag = t->tag_first; tag < t->tags; tag += t->tag_step)
			gpu_take_here(t->ch, tag, e, t->bytes);
	return NULL;
}

static void to_host(uint32_t threads, uint32_t tags, uint64_t bytes, uint64_t epochs)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_GPU(0), WIC_HOST, tags, bytes);
	struct gpu_run run = gpu_run(&g, gpu_make, BLOCKS, THREADS);
	struct taker takers[8];
	pthread_t ids[8];

	run.args.h[0] = wic_channel_handle(ch);
	run.args.count = tags;
	run.args.epochs = epochs;
	for (uint32_t i = 0; i < threads; i++) {
		takers[i] = (struct taker){ ch, i, threads, tags, epochs, bytes };
		TEST_EQ(pthread_create(&ids[i], NULL, take_tags, &takers[i]), 0);
	}
	/* They sleep by then, or not: both are right. */
	gpu_start(&g, &run);
	for (uint32_t i = 0; i < threads; i++)
		TEST_EQ(pthread_join(ids[i], NULL), 0);
	gpu_end(&g, &run);
	wic_channel_destroy(ch);
	gpu_close(&g);
}

static void host_request_from_kernels(void)
{
	to_host(1, 1, 8, 100);
	to_host(1, 20, 100, 30);
	to_host(4, 40, 4096, 10);
	to_host(8, 16, 8, 50);
}

#define SLEEPERS 1100

static struct wic_channel *sleepers_channel;

static void *sleeper(void *arg)
{
	uint32_t tag = (uint32_t)(uintptr_t)arg;

	TEST_EQ(wic_host_wait(sleepers_channel, tag, 1, WIC_S(60)), 0);
	return NULL;
}

/* More threads than the lots of the back-end have places. */
static void host_wait_more_threads_than_places(void)
{
	const uint32_t threads = IS_EMULATED ? 64 : UNDER_TSAN ? 300 : SLEEPERS;
	struct gpu g = gpu_open(1);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 32);
	pthread_t *ids = calloc(threads, sizeof(*ids));
	pthread_attr_t attr;

	TEST_TRUE(ids);
	sleepers_channel = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 32, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (uint32_t i = 0; i < threads; i++)
		TEST_EQ(pthread_create(&ids[i], &attr, sleeper, (void *)(uintptr_t)(i % 32)), 0);
	run.args.h[0] = wic_channel_handle(sleepers_channel);
	for (uint32_t tag = 0; tag < 32; tag++)
		gpu_step(&run, GPU_PUBLISH, tag, 1);
	gpu_start(&g, &run);
	for (uint32_t i = 0; i < threads; i++)
		TEST_EQ(pthread_join(ids[i], NULL), 0);
	free(ids);
	gpu_end_script(&g, &run, 0);
	gpu_close(&g);
}

/* ---- between devices --------------------------------------------------------------------- */

/* Two logical devices of one GPU: a kernel on each, at the same time. */
static void devices_exchange(void)
{
	static const uint64_t bytes[] = { 8, 100, 4096 };

	for (uint32_t i = 0; i < 3; i++) {
		struct gpu g = gpu_open(2);
		struct wic_channel *ch = gpu_channel(&g, WIC_GPU(0), WIC_GPU(1), 40, bytes[i]);
		struct gpu_run take = gpu_run(&g, gpu_take, BLOCKS, THREADS);
		struct gpu_run make = gpu_run(&g, gpu_make, BLOCKS, THREADS);

		take.args.h[0] = make.args.h[0] = wic_channel_handle(ch);
		take.args.count = make.args.count = 40;
		take.args.epochs = make.args.epochs = 20;
		take.l.device = WIC_GPU(1);
		gpu_start(&g, &take);
		gpu_start(&g, &make);
		gpu_end(&g, &make);
		gpu_end(&g, &take);
		wic_channel_destroy(ch);
		gpu_close(&g);
	}
}

static void devices_are_busy_one_by_one(void)
{
	struct gpu g = gpu_open(2);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 1, 0);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 32), other = gpu_run(&g, gpu_script, 1, 32);

	run.args.h[0] = wic_channel_handle(ch);
	gpu_step(&run, GPU_WAIT, 0, 1);
	gpu_start(&g, &run);
	TEST_EQ(wic_launch(g.w, &run.l), -EBUSY);
	other.l.device = WIC_GPU(1);
	gpu_start(&g, &other);
	gpu_sync(&g, &other);
	TEST_EQ(wic_sync_device(g.w, WIC_GPU(0), 0), -ETIMEDOUT);
	TEST_EQ(wic_sync(g.w, WIC_MS(5)), -ETIMEDOUT);
	gpu_publish(ch, 0, 1, 0);
	gpu_end_script(&g, &run, 0);
	gpu_free(&g, &other);
	gpu_close(&g);
}

static const struct test tests[] = {
	TEST(exchange_sizes),
	TEST(exchange_tags),
	TEST(exchange_without_a_lot),
	TEST(exchange_more_blocks_than_resident),
	TEST(exchange_published_before_launch),
	TEST(exchange_warps_of_a_block_wait_for_different_tags),
	TEST(signals_ping_pong),
	TEST(signals_ping_pong_without_a_lot),
	TEST(signals_ping_pong_of_many),
	TEST(host_request_from_kernels),
	TEST(host_wait_more_threads_than_places),
	TEST(devices_exchange),
	TEST(devices_are_busy_one_by_one),
	{ 0 },
};

GPU_PART(exchange);
