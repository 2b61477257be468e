// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Message passing by each way that an epoch takes, docs/memory-order.md: payload, then the word; a
 * reader that has seen the word reads the payload by loads that its SM's cache may serve, and had
 * the old payload there.  Two pages are used again and again, so each way back, the credit, is
 * tried as often: a page filled too early is a payload that is wrong.
 *
 * 10^6 rounds on a GPU, 10^5 with WIC_PARK=sleep, whose parks are not these orders' affair; over
 * fakecuda, where TSan looks, fewer.
 */
#include "tests/gpu/gpu.h"

#define BYTES 256 /* two lines of the cache */

static uint64_t rounds(void)
{
	if (gpu_is_fake())
		return 1000;
	return getenv("WIC_PARK") ? 100000 : 1000000;
}

/* From the host; the shape of the grid says who looks at the line of truth. */
static void from_host(uint32_t blocks, uint32_t threads, uint32_t has_lot)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 2, BYTES);
	struct gpu_run run = gpu_run(&g, gpu_litmus, blocks, threads);

	run.args.h[0] = wic_channel_handle(ch);
	run.args.epochs = rounds();
	run.args.has_lot = has_lot;
	gpu_start(&g, &run);
	for (uint64_t e = 1; e <= rounds(); e++)
		gpu_publish(ch, 0, e, BYTES);
	gpu_publish(ch, 1, 1, BYTES);
	gpu_end(&g, &run);
	gpu_close(&g);
}

/* truth -> the watcher, which owns the line and reads what it has seen itself */
static void truth_to_its_owner(void)
{
	from_host(1, 32, 1);
}

/* truth -> the owner -> a warp of its block that parks */
static void truth_to_a_parked_warp(void)
{
	from_host(1, 64, 1);
}

/* truth -> the owner, of another block -> the word -> the watcher of this one */
static void truth_to_another_block(void)
{
	from_host(2, 32, 1);
}

static void truth_without_a_lot(void)
{
	from_host(1, 32, 0);
}

/* word: a warp of this GPU publishes to another one's */
static void word_between_warps(void)
{
	struct gpu g = gpu_open(2);
	struct wic_channel *ch = gpu_channel(&g, WIC_GPU(0), WIC_GPU(1), 1, BYTES);
	struct gpu_run take = gpu_run(&g, gpu_litmus, 1, 32), make = gpu_run(&g, gpu_make, 1, 32);

	take.args.h[0] = make.args.h[0] = wic_channel_handle(ch);
	take.args.epochs = make.args.epochs = rounds();
	make.args.count = 1;
	take.l.device = WIC_GPU(1);
	gpu_start(&g, &take);
	gpu_start(&g, &make);
	gpu_end(&g, &make);
	gpu_end(&g, &take);
	gpu_close(&g);
}

/* the word in host memory, posted */
static void word_to_the_host(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 1, BYTES);
	struct gpu_run run = gpu_run(&g, gpu_make, 1, 32);

	run.args.h[0] = wic_channel_handle(ch);
	run.args.epochs = rounds();
	run.args.count = 1;
	gpu_start(&g, &run);
	for (uint64_t e = 1; e <= rounds(); e++)
		gpu_take_here(ch, 0, e, BYTES);
	gpu_end(&g, &run);
	gpu_close(&g);
}

static const struct test tests[] = {
	TEST(truth_to_its_owner),
	TEST(truth_to_a_parked_warp),
	TEST(truth_to_another_block),
	TEST(truth_without_a_lot),
	TEST(word_between_warps),
	TEST(word_to_the_host),
	{ 0 },
};

GPU_PART(litmus);
