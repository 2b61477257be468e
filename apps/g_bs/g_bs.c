/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/g_bs/g_bs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/parallel.h"
#include "apps/g_bs/kernel.h"
#include "apps/g_bs/reference.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/minmax.h"

#define ROUNDS_MIN 4u         /* of every block, where the size is left to us */
#define ARRAYS_MAX (1u << 16) /* 2^20 tags in all */
#define POOL_PAGES_MAX (1u << 21)

APP_KERNEL_DECLARE(gbs_kernel_none);
APP_KERNEL_DECLARE(gbs_kernel_naive);
APP_KERNEL_DECLARE(gbs_kernel_leader);
APP_KERNEL_DECLARE(gbs_kernel_leader_acq);
APP_KERNEL_DECLARE(gbs_kernel_warp);
APP_KERNEL_DECLARE(gbs_kernel_libcupp);
APP_KERNEL_DECLARE(gbs_kernel_thread_futex);
APP_KERNEL_DECLARE(gbs_kernel_wic);

struct app {
	struct app_shape shape;
	struct wic *w;                     /* borrowed from load() on */
	struct gbs_args args[GBS_DEVICES]; /* pointers but the methods' are owned device memory */
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
		wic_mem_free(app->w, (void *)(uintptr_t)app->args[d].keys);
		wic_mem_free(app->w, app->args[d].sorted);
		wic_mem_free(app->w, app->args[d].work);
		wic_mem_free(app->w, app->args[d].status);
	}
	free(app->want);
	free(app);
}

static uint64_t half_bytes(const struct app *app)
{
	return app->args[0].half * sizeof(uint32_t);
}

static uint64_t status_bytes(const struct app *app)
{
	return (uint64_t)app->shape.grid_blocks * app->warps * sizeof(int32_t);
}

static void *device_memory(struct app *app, uint32_t device, uint64_t bytes)
{
	void *p = NULL;

	return wic_mem_alloc(app->w, WIC_MEM_DEVICE, WIC_GPU(device), bytes, &p) ? NULL : p;
}

static int memory_open(struct app *app)
{
	uint64_t half = half_bytes(app), arrays = app->args[0].arrays;
	uint32_t d;

	for (d = 0; d < GBS_DEVICES; d++) {
		struct gbs_args *a = &app->args[d];

		a->keys = device_memory(app, d, half * arrays);
		a->sorted = device_memory(app, d, half * arrays);
		a->work = device_memory(app, d, 2 * app->shape.grid_blocks * half);
		a->status = device_memory(app, d, status_bytes(app));
		if (!a->keys || !a->sorted || !a->work || !a->status)
			return wic_fail(-ENOMEM, "g_bs: no memory for %llu arrays",
					(unsigned long long)arrays);
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
	int rc = 0;

	for (array = 0; array < app->args[0].arrays && !rc; array++) {
		uint32_t *all = app->want + 2 * (uint64_t)array * half;

		gbs_reference_keys(&state, all, 2 * half);
		for (d = 0; d < GBS_DEVICES && !rc; d++)
			rc = wic_mem_copy(app->w,
					  (uint32_t *)(uintptr_t)app->args[d].keys +
						  (uint64_t)array * half,
					  all + d * half, half_bytes(app));
	}
	return rc ? rc : parallel_for(app->args[0].arrays, sort_array, app);
}

static int app_load(struct app *app, struct wic *w)
{
	int rc;

	app->w = w;
	rc = memory_open(app);
	return rc ? rc : keys_open(app);
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
	APP_KERNEL("none", gbs_kernel_none),
	APP_KERNEL("leader-acq", gbs_kernel_leader_acq),
	APP_KERNEL("libcupp", gbs_kernel_libcupp),
	APP_KERNEL("naive", gbs_kernel_naive),
	APP_KERNEL("leader", gbs_kernel_leader),
	APP_KERNEL("warp", gbs_kernel_warp),
	APP_KERNEL("wic", gbs_kernel_wic),
	APP_KERNEL("thread-futex", gbs_kernel_thread_futex),
	APP_KERNEL_END,
};

static const void *app_args(struct app *app, const struct m_args *m, uint64_t epoch)
{
	uint32_t d;

	for (d = 0; d < GBS_DEVICES; d++) {
		struct gbs_args *a = &app->args[d];

		a->out = m[d];
		a->in = m[1 - d];
		a->epoch = epoch;
		/* An array's keys are not all 0, so what is left of this shows. */
		if (wic_mem_zero(app->w, a->sorted, half_bytes(app) * a->arrays) ||
		    wic_mem_zero(app->w, a->status, status_bytes(app)))
			return NULL;
	}
	return &app->args[0];
}

static const void *app_args_of(struct app *app, uint32_t device)
{
	return &app->args[device];
}

static int check_status_of(const struct app *app, uint32_t d, char *why_out, size_t why_bytes)
{
	uint32_t i, count = app->shape.grid_blocks * app->warps;
	int32_t *status = malloc(status_bytes(app));
	int rc = -ENOMEM;

	if (status)
		rc = wic_mem_copy(app->w, status, app->args[d].status, status_bytes(app));
	if (rc)
		snprintf(why_out, why_bytes, "the status of device %u does not come", d);
	for (i = 0; i < count && !rc; i++) {
		rc = status[i];
		if (rc)
			snprintf(why_out, why_bytes,
				 "device %u block %u warp %u: a wait at epoch %llu ended: %s", d,
				 i / app->warps, i % app->warps,
				 (unsigned long long)app->args[d].epoch, wic_strerror(rc));
	}
	free(status);
	return rc;
}

static int check_status(const struct app *app, char *why_out, size_t why_bytes)
{
	uint32_t d;
	int rc = 0;

	for (d = 0; d < GBS_DEVICES && !rc; d++)
		rc = check_status_of(app, d, why_out, why_bytes);
	return rc;
}

struct check_job {
	const struct app *app;
	char *why_out;
	size_t why_bytes;
};

/* The first of a device's keys that is not what it should be says where. */
static int check_half(const struct check_job *job, uint32_t array, uint32_t d, const uint32_t *got)
{
	const struct app *app = job->app;
	uint32_t half = app->args[0].half, salt = gbs_salt(app->args[0].epoch, array), i;
	const uint32_t *want = app->want + (2 * (uint64_t)array + d) * half;

	for (i = 0; i < half; i++) {
		if (got[i] == (want[i] | salt))
			continue;
		snprintf(job->why_out, job->why_bytes,
			 "array %u: key %u of device %u: expected %u, got %u", array, i, d,
			 want[i] | salt, got[i]);
		return -EIO;
	}
	return 0;
}

/* @half: room for that. */
static int check_array(const struct check_job *job, uint32_t array, uint32_t *half)
{
	const struct app *app = job->app;
	uint32_t d;
	int rc = 0;

	for (d = 0; d < GBS_DEVICES && !rc; d++) {
		rc = wic_mem_copy(app->w, half,
				  app->args[d].sorted + (uint64_t)array * app->args[d].half,
				  half_bytes(app));
		if (rc)
			snprintf(job->why_out, job->why_bytes, "array %u does not come: %s", array,
				 wic_last_error());
		else
			rc = check_half(job, array, d, half);
	}
	return rc;
}

static int app_check(struct app *app, char *why_out, size_t why_bytes)
{
	const struct check_job job = { app, why_out, why_bytes };
	int rc = check_status(app, why_out, why_bytes);
	uint32_t *half, i;

	if (rc)
		return rc;
	half = malloc(half_bytes(app));
	if (!half)
		return wic_fail(-ENOMEM, "g_bs: no memory for half an array");
	for (i = 0; i < app->args[0].arrays && !rc; i++)
		rc = check_array(&job, i, half);
	free(half);
	return rc;
}

const struct app_ops app_g_bs = {
	.name = "G_BS",
	.pattern = "scatter-gather x multiple",
	.summary = "bitonic sort on two devices, which exchange their halves of each array",
	.devices = GBS_DEVICES,
	.is_self_paced = true,
	.open = app_open,
	.load = app_load,
	.shape = app_get_shape,
	.describe = app_describe,
	.kernels = kernels,
	.args = app_args,
	.args_of = app_args_of,
	.check = app_check,
	.close = app_close,
};
