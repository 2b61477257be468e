/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/g_bs/g_bs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/parallel.h"
#include "apps/g_bs/kernel.h"
#include "apps/g_bs/reference.h"
#include "lib/log.h"
#include "lib/minmax.h"

#define ROUNDS_MIN 4u         /* of every block, where the size is left to us */
#define ARRAYS_MAX (1u << 16) /* 2^20 tags in all */
#define POOL_PAGES_MAX (1u << 21)

void gbs_kernel_none(const void *args);
void gbs_kernel_naive(const void *args);
void gbs_kernel_leader(const void *args);
void gbs_kernel_warp(const void *args);
void gbs_kernel_thread_futex(const void *args);
void gbs_kernel_wic(const void *args);

struct app {
	struct app_shape shape;
	struct gbs_args args[GBS_DEVICES]; /* pointers but the methods' are owned */
	uint32_t *want;                    /* owned: the arrays, sorted, without salt */
	uint32_t warps;                    /* a block */
	char text[160];
};

/* Keys of an array; all arrays together are 2^24 at the default size on 8 blocks. */
static const uint32_t keys_of[] = {
	[APP_TINY] = 1u << 12,
	[APP_SMALL] = 1u << 15,
	[APP_DEFAULT] = 1u << 19,
	[APP_LARGE] = 1u << 21,
};

static uint32_t power_of_2(uint32_t at_most)
{
	uint32_t p = 1;

	while (2 * p <= at_most)
		p *= 2;
	return p;
}

static void shape_grid(struct app *app, const struct app_params *p)
{
	uint32_t warps = max_u32(p->sm_warps / p->sm_blocks, 1), blocks = p->sms * p->sm_blocks;

	warps = min_u32(warps, GBS_WARPS_MAX);
	if (p->threads) {
		/* Of both devices together. */
		uint32_t wanted = max_u32(p->threads / WIC_WARP_LANES / GBS_DEVICES, 1);

		warps = min_u32(warps, wanted);
		blocks = max_u32(wanted / power_of_2(warps), 1);
	}
	app->warps = power_of_2(warps);
	app->shape.grid_blocks = blocks;
	app->shape.block_threads = app->warps * WIC_WARP_LANES;
	app->shape.shared_bytes = M_SHARED_BYTES_MAX(app->warps);
}

static int shape_channels(struct app *app, const struct app_params *p)
{
	struct app_shape *s = &app->shape;
	uint32_t half = keys_of[p->size] / 2, an_array = GBS_DEVICES * GBS_CHUNKS, d;
	uint32_t arrays = (uint32_t)(((uint64_t)p->tags + an_array - 1) / an_array);

	if (!p->tags)
		arrays = ROUNDS_MIN * s->grid_blocks;
	/* Each block has as many as the others. */
	arrays = (arrays + s->grid_blocks - 1) / s->grid_blocks * s->grid_blocks;
	if (arrays > ARRAYS_MAX)
		return wic_fail(-EINVAL, "g_bs: %u arrays, at most %u", arrays, ARRAYS_MAX);
	s->channel_count = GBS_DEVICES;
	for (d = 0; d < GBS_DEVICES; d++) {
		s->channels[d] = (struct app_channel){
			.ends = { .is_from_device = true, .from = d, .to = 1 - d },
			.tags = arrays * GBS_CHUNKS,
			.readers = 1,
			.bytes_per_tag = half / GBS_CHUNKS * sizeof(uint32_t),
		};
		app->args[d].device = d;
		app->args[d].arrays = arrays;
		app->args[d].half = half;
	}
	s->tags = arrays * an_array;
	s->readers = 1;
	s->bytes_per_tag = s->channels[0].bytes_per_tag;
	return 0;
}

/*
 * Each warp holds one chunk.  Half as much again, since what was given back stays out
 * until it is closed, and twice that for the partner pages.
 */
static uint32_t pool_pages(const struct app *app)
{
	uint64_t chunk = (app->shape.bytes_per_tag + WIC_PAGE_BYTES - 1) / WIC_PAGE_BYTES;
	uint64_t pages = 3 * chunk * app->warps * app->shape.grid_blocks + 64;

	return (uint32_t)(pages < POOL_PAGES_MAX ? pages : POOL_PAGES_MAX) / 2 * 2;
}

static void app_close(struct app *app)
{
	uint32_t d;

	if (!app)
		return;
	for (d = 0; d < GBS_DEVICES; d++) {
		/* Written here, by its owner; const is for the kernel. */
		free((void *)(uintptr_t)app->args[d].keys);
		free(app->args[d].sorted);
		free(app->args[d].work);
		free(app->args[d].status);
	}
	free(app->want);
	free(app);
}

static int memory_open(struct app *app)
{
	uint64_t half = app->args[0].half * sizeof(uint32_t), arrays = app->args[0].arrays;
	uint64_t blocks = app->shape.grid_blocks;
	uint32_t d;

	for (d = 0; d < GBS_DEVICES; d++) {
		struct gbs_args *a = &app->args[d];

		a->keys = malloc(half * arrays);
		a->sorted = malloc(half * arrays);
		a->work = calloc(2 * blocks, half);
		a->status = calloc(blocks * app->warps, sizeof(*a->status));
		if (!a->keys || !a->sorted || !a->work || !a->status)
			return wic_fail(-ENOMEM, "g_bs: no memory for %llu arrays",
					(unsigned long long)arrays);
		memset(a->work, 0, 2 * blocks * half);
	}
	app->want = malloc(2 * half * arrays);
	return app->want ? 0 : wic_fail(-ENOMEM, "g_bs: no memory for the sorted arrays");
}

static int sort_array(void *arg, uint32_t array)
{
	struct app *app = arg;
	uint32_t keys = 2 * app->args[0].half;

	return gbs_reference_sort(app->want + (uint64_t)array * keys, keys);
}

/* The keys of all arrays, one after the other; the two devices have the halves of each. */
static int keys_open(struct app *app)
{
	uint32_t half = app->args[0].half, state = GBS_SEED, array, d;

	for (array = 0; array < app->args[0].arrays; array++) {
		uint32_t *all = app->want + 2 * (uint64_t)array * half;

		gbs_reference_keys(&state, all, 2 * half);
		for (d = 0; d < GBS_DEVICES; d++)
			memcpy((uint32_t *)(uintptr_t)app->args[d].keys + (uint64_t)array * half,
			       all + d * half, half * sizeof(*all));
	}
	return parallel_for(app->args[0].arrays, sort_array, app);
}

static int app_open(const struct app_params *p, struct app **app_out)
{
	uint32_t turn = p->turn_percent ? p->turn_percent : 100;
	struct app *app;
	int rc;

	if ((unsigned int)p->size > APP_LARGE || !p->sms || !p->sm_blocks || !p->sm_warps)
		return wic_fail(-EINVAL, "g_bs: size %d, %u SMs of %u blocks and %u warps",
				(int)p->size, p->sms, p->sm_blocks, p->sm_warps);
	app = calloc(1, sizeof(*app));
	if (!app)
		return wic_fail(-ENOMEM, "g_bs: no memory");
	shape_grid(app, p);
	rc = shape_channels(app, p);
	if (!rc)
		rc = memory_open(app);
	if (!rc)
		rc = keys_open(app);
	if (rc) {
		app_close(app);
		return rc;
	}
	app->args[0].turn_work = (uint32_t)((uint64_t)GBS_TURN_WORK * turn / 100);
	app->args[1].turn_work = app->args[0].turn_work;
	app->shape.pool_pages_min = pool_pages(app);
	snprintf(app->text, sizeof(app->text), "%u arrays of %u keys, half of each a device",
		 app->args[0].arrays, keys_of[p->size]);
	*app_out = app;
	return 0;
}

static const struct app_shape *app_get_shape(const struct app *app)
{
	return &app->shape;
}

static const char *app_describe(const struct app *app)
{
	return app->text;
}

static const struct app_kernel kernels[] = {
	{ "none", gbs_kernel_none },
	{ "naive", gbs_kernel_naive },
	{ "leader", gbs_kernel_leader },
	{ "warp", gbs_kernel_warp },
	{ "wic", gbs_kernel_wic },
	{ "thread-futex", gbs_kernel_thread_futex },
	{ NULL, NULL },
};

static const void *app_args(struct app *app, const struct m_args *m, uint64_t epoch)
{
	uint32_t d;

	for (d = 0; d < GBS_DEVICES; d++) {
		struct gbs_args *a = &app->args[d];

		a->out = m[d];
		a->in = m[1 - d];
		a->epoch = epoch;
		memset(a->sorted, 0xff, (size_t)a->arrays * a->half * sizeof(*a->sorted));
		memset(a->status, 0,
		       (size_t)app->shape.grid_blocks * app->warps * sizeof(*a->status));
	}
	return &app->args[0];
}

static const void *app_args_of(struct app *app, uint32_t device)
{
	return &app->args[device];
}

static int check_status(const struct app *app, char *why_out, size_t why_bytes)
{
	uint32_t i, d, count = app->shape.grid_blocks * app->warps;

	for (i = 0; i < GBS_DEVICES * count; i++) {
		int rc;

		d = i / count;
		rc = app->args[d].status[i % count];
		if (!rc)
			continue;
		snprintf(why_out, why_bytes,
			 "device %u block %u warp %u: a wait at epoch %llu ended: %s", d,
			 i % count / app->warps, i % app->warps,
			 (unsigned long long)app->args[d].epoch, wic_strerror(rc));
		return rc;
	}
	return 0;
}

/* Key @i of all; the first that is not what it should be says where. */
static int check_array(const struct app *app, uint32_t array, char *why_out, size_t why_bytes)
{
	uint32_t half = app->args[0].half, salt = gbs_salt(app->args[0].epoch, array), i;
	const uint32_t *want = app->want + 2 * (uint64_t)array * half;

	for (i = 0; i < 2 * half; i++) {
		uint32_t got = app->args[i / half].sorted[(uint64_t)array * half + i % half];

		if (got == (want[i] | salt))
			continue;
		snprintf(why_out, why_bytes, "array %u: key %u of device %u: expected %u, got %u",
			 array, i % half, i / half, want[i] | salt, got);
		return -EIO;
	}
	return 0;
}

static int app_check(struct app *app, char *why_out, size_t why_bytes)
{
	int rc = check_status(app, why_out, why_bytes);
	uint32_t i;

	for (i = 0; i < app->args[0].arrays && !rc; i++)
		rc = check_array(app, i, why_out, why_bytes);
	return rc;
}

const struct app_ops app_g_bs = {
	.name = "G_BS",
	.pattern = "scatter-gather x multiple",
	.summary = "bitonic sort on two devices, which exchange their halves of each array",
	.devices = GBS_DEVICES,
	.is_self_paced = true,
	.open = app_open,
	.shape = app_get_shape,
	.describe = app_describe,
	.kernels = kernels,
	.args = app_args,
	.args_of = app_args_of,
	.check = app_check,
	.close = app_close,
};
