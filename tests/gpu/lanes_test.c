// SPDX-License-Identifier: MIT OR GPL-2.0
/* What has lanes: masks, lanes that are gone, blocks of any shape, forms of a block. */
#include "backends/cuda/be.h"
#include "lib/object.h"
#include "tests/gpu/gpu.h"

#define EPOCHS 50

/* A launch of blocks in three dimensions, which wic_launch() has not; else as that. */
static void start_shape(struct gpu *g, struct gpu_run *run, const unsigned int *shape)
{
	struct wic_be *be = g->w->be;
	struct cuda_device *dev = &be->devices[0];
	struct wic_cu_function *f = NULL;
	void *parameters[1] = { &run->args };

	for (uint32_t i = 0; i < be->function_count; i++)
		if (be->functions[i].kernel == run->l.kernel)
			f = be->functions[i].function;
	TEST_TRUE(f);
	TEST_EQ(wic_cuda_enter(be), 0);
	pthread_mutex_lock(&be->lock);
	TEST_EQ(be->d->launch_kernel(f, run->l.grid_blocks, 1, 1, shape[0], shape[1], shape[2],
				     run->l.shared_bytes, dev->stream, parameters, NULL),
		0);
	TEST_EQ(be->d->event_record(dev->done, dev->stream), 0);
	dev->is_busy = true;
	pthread_mutex_unlock(&be->lock);
	wic_cuda_leave(be);
}

/* All threads have a result of 0 and the right data. */
static void end_threads(struct gpu *g, struct gpu_run *run)
{
	gpu_sync(g, run);
	for (uint32_t i = 0; i < run->l.grid_blocks * run->l.block_threads; i++) {
		TEST_EQ(run->results[i].rc, 0);
		TEST_EQ(run->results[i].wrong, 0);
	}
	gpu_free(g, run);
}

/* A kernel takes EPOCHS epochs of @tags tags. */
static void take_with(void (*kernel)(const void *args), uint32_t threads, uint32_t tags,
		      uint32_t has_lot)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), tags, 100);
	struct gpu_run run = gpu_run(&g, kernel, 3, threads);

	run.args.h[0] = wic_channel_handle(ch);
	run.args.epochs = EPOCHS;
	run.args.has_lot = has_lot;
	gpu_start(&g, &run);
	for (uint64_t e = 1; e <= EPOCHS; e++)
		for (uint32_t tag = 0; tag < tags; tag++) {
			/* Nobody takes what the warp 1 of a block would. */
			if (kernel == gpu_early && tag % (threads / 32) == 1)
				continue;
			gpu_publish(ch, tag, e, 100);
		}
	end_threads(&g, &run);
	gpu_close(&g);
}

static void mask_of_half_warps(void)
{
	take_with(gpu_halves, 128, 2 * 4 * 3, 1);
	take_with(gpu_halves, 128, 2 * 4 * 3, 0);
}

static void lanes_that_returned_early(void)
{
	take_with(gpu_early, 128, 4 * 3, 1);
	take_with(gpu_early, 128, 4 * 3, 0);
}

static void block_takes_together(void)
{
	take_with(gpu_block_take, 33, 3, 1);
	take_with(gpu_block_take, 256, 3, 1);
	take_with(gpu_block_take, 1024, 3, 0);
}

static void lot_memory_is_used_again(void)
{
	take_with(gpu_reuse, 256, 8 * 3, 1);
	take_with(gpu_reuse, 1024, 32 * 3, 1);
}

static void block_makes_together(void)
{
	static const uint32_t threads[] = { 33, 256, 1024 };

	for (uint32_t i = 0; i < 3; i++) {
		struct gpu g = gpu_open(1);
		struct wic_channel *ch = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 3, 4096);
		struct gpu_run run = gpu_run(&g, gpu_block_make, 3, threads[i]);

		run.args.h[0] = wic_channel_handle(ch);
		run.args.epochs = EPOCHS;
		gpu_start(&g, &run);
		for (uint64_t e = 1; e <= EPOCHS; e++)
			for (uint32_t tag = 0; tag < 3; tag++)
				gpu_take_here(ch, tag, e, 4096);
		end_threads(&g, &run);
		gpu_close(&g);
	}
}

static void blocks_of_three_dimensions(void)
{
	static const unsigned int shapes[][3] = {
		{ 8, 8, 4 }, { 3, 11, 1 }, { 1, 1, 33 }, { 16, 16, 4 }, { 7, 5, 3 }
	};

	for (uint32_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const unsigned int *shape = shapes[i];
		struct gpu g = gpu_open(1);
		struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 100, 100);
		struct gpu_run run = gpu_run(&g, gpu_take, 3, shape[0] * shape[1] * shape[2]);

		run.args.h[0] = wic_channel_handle(ch);
		run.args.count = 100;
		run.args.epochs = 10;
		for (uint32_t warp = 0; warp < run.warps; warp++)
			run.results[warp].rc = 1;
		start_shape(&g, &run, shape);
		for (uint64_t e = 1; e <= 10; e++)
			for (uint32_t tag = 0; tag < 100; tag++)
				gpu_publish(ch, tag, e, 100);
		gpu_end(&g, &run);
		gpu_close(&g);
	}
}

static const struct test tests[] = {
	TEST(mask_of_half_warps),
	TEST(lanes_that_returned_early),
	TEST(block_takes_together),
	TEST(lot_memory_is_used_again),
	TEST(block_makes_together),
	TEST(blocks_of_three_dimensions),
	{ 0 },
};

GPU_PART(lanes);
