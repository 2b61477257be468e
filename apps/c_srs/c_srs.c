/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/c_srs/c_srs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/c_srs/kernel.h"
#include "apps/c_srs/reference.h"
#include "apps/c_srs/tiles.h"
#include "apps/common/parallel.h"
#include "apps/common/team.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/minmax.h"

#define TAGS_MIN 64u
#define ROUNDS_MIN 4u /* of every block, where the size is left to us */
#define TAGS_MAX (1u << 20)
#define SIDE_STEP 64u
#define POOL_PAGES_MAX (1u << 21)
#define WORK_BYTES_MAX ((uint64_t)1 << 30) /* for blocks beyond those resident */
#define VARIANTS 2                         /* see produce() */
/* A core copies some 10 GB/s, a GPU takes several times that over PCIe. */
#define TEAM_MAX 8u

APP_KERNEL_DECLARE(srs_kernel_none);
APP_KERNEL_DECLARE(srs_kernel_naive);
APP_KERNEL_DECLARE(srs_kernel_leader);
APP_KERNEL_DECLARE(srs_kernel_leader_acq);
APP_KERNEL_DECLARE(srs_kernel_warp);
APP_KERNEL_DECLARE(srs_kernel_libcupp);
APP_KERNEL_DECLARE(srs_kernel_split);
APP_KERNEL_DECLARE(srs_kernel_thread_futex);
APP_KERNEL_DECLARE(srs_kernel_wic);

/* What all distinct tiles of a variant must come to; made at the first check. */
struct expected {
	struct srs_result *results; /* owned; NULL: not made yet */
	uint32_t *row_hashes;       /* owned */
};

struct app {
	struct app_shape shape;
	struct tiles tiles; /* owned */
	struct expected expected[VARIANTS];
	struct wic *w;     /* borrowed from load() on */
	struct team *team; /* owned: copies tiles for a GPU; NULL: the producer does it alone */
	bool is_gpu;
	struct srs_args args; /* its pointers but .m are owned device memory */
	/* What check() has fetched of it; owned. */
	struct srs_result *results;
	uint32_t *row_hashes;
	int32_t *status;
	uint32_t warps; /* a block */
	char text[160];
};

static const uint32_t side_of[] = {
	[APP_TINY] = 64,
	[APP_SMALL] = 256,
	[APP_DEFAULT] = 1024,
	[APP_LARGE] = 2048,
};

/*
 * The grid fills the SMs once: every block is resident and takes a tile a round.
 * Fewer threads than that: fewer blocks, then fewer warps.  More: as many blocks as
 * they make, while their work planes stay within WORK_BYTES_MAX.
 */
static void shape_grid(struct app *app, const struct app_params *p)
{
	uint32_t resident = max_u32(p->sms * p->sm_blocks, 1), wanted = p->threads / WIC_WARP_LANES;
	uint64_t fit = WORK_BYTES_MAX / (srs_plane_bytes(app->tiles.side) * SRS_PLANES);

	app->warps = min_u32(max_u32(p->sm_warps / max_u32(p->sm_blocks, 1), 1), SRS_WARPS_MAX);
	app->shape.grid_blocks = resident;
	if (p->threads) {
		app->warps = min_u32(app->warps, max_u32(wanted, 1));
		app->shape.grid_blocks = max_u32(wanted / app->warps, 1);
		app->shape.grid_blocks =
			min_u32(app->shape.grid_blocks, max_u32(resident, (uint32_t)fit));
	}
	app->shape.block_threads = app->warps * WIC_WARP_LANES;
	app->shape.readers = app->warps;
	app->shape.shared_bytes =
		M_SHARED_BYTES_MAX(app->warps) + (uint32_t)sizeof(struct srs_shared);
}

/*
 * A block holds two tiles while its first warps wait for the next and its last are
 * at work on this one.  Half as much again, since what was given back stays out
 * until it is closed, and twice that for the partner pages.  A smaller pool would
 * be slower, not wrong: requests wait in order.
 */
static uint32_t pool_pages(const struct app *app, const struct app_params *p)
{
	uint64_t tile = (app->shape.bytes_per_tag + WIC_PAGE_BYTES - 1) / WIC_PAGE_BYTES;
	uint64_t blocks = min_u32(app->shape.grid_blocks, max_u32(p->sms * p->sm_blocks, 1));
	uint64_t pages = 2 * tile * (3 * blocks + 2);

	return (uint32_t)(pages < POOL_PAGES_MAX ? pages : POOL_PAGES_MAX);
}

static int shape_tags(struct app *app, const struct app_params *p)
{
	uint32_t tags = p->tags;

	if (!tags && !p->threads)
		tags = max_u32(ROUNDS_MIN * app->shape.grid_blocks, app->tiles.count);
	tags = max_u32(tags, max_u32(TAGS_MIN, app->shape.grid_blocks));
	if (tags > TAGS_MAX)
		return wic_fail(-EINVAL, "c_srs: %u tags, at most %u", tags, TAGS_MAX);
	app->shape.tags = tags;
	return 0;
}

/* In whole blocks of 64 pixels: pages are full, and bands of rows stay even. */
static uint32_t tile_side(const struct app_params *p)
{
	uint32_t percent = p->side_percent ? p->side_percent : 100;
	uint32_t side = side_of[p->size] * percent / 100;

	return max_u32(side / SIDE_STEP * SIDE_STEP, SIDE_STEP);
}

static int tiles_open(struct app *app, const struct app_params *p)
{
	uint32_t side = tile_side(p);
	int rc;

	if (p->input) {
		rc = tiles_load(&app->tiles, side, p->input);
		snprintf(app->text, sizeof(app->text), "%u tile%s of %u x %u from %.80s%s",
			 app->tiles.count, app->tiles.count == 1 ? "" : "s", side, side, p->input,
			 app->tiles.count < TAGS_MIN ? ", used again and again" : "");
	} else {
		rc = tiles_generate(&app->tiles, side, TAGS_MIN, p->seed);
		snprintf(app->text, sizeof(app->text), "%u synthetic tiles of %u x %u, seed %llu",
			 app->tiles.count, side, side, (unsigned long long)p->seed);
	}
	return rc;
}

static void app_close(struct app *app)
{
	uint32_t i;

	if (!app)
		return;
	for (i = 0; i < VARIANTS; i++) {
		free(app->expected[i].results);
		free(app->expected[i].row_hashes);
	}
	team_destroy(app->team);
	free(app->results);
	free(app->row_hashes);
	free(app->status);
	wic_mem_free(app->w, app->args.work);
	wic_mem_free(app->w, app->args.results);
	wic_mem_free(app->w, app->args.row_hashes);
	wic_mem_free(app->w, app->args.status);
	/* Filled here, by its owner; const is for the kernel. */
	wic_mem_free(app->w, (void *)(uintptr_t)app->args.first);
	tiles_fini(&app->tiles);
	free(app);
}

/* What the kernel writes and check() reads. */
struct outputs {
	void *device;
	void *host;
	size_t bytes;
};
#define OUTPUTS 3u

static void outputs(const struct app *app, struct outputs *o)
{
	const struct srs_args *a = &app->args;
	size_t results = (size_t)a->tags + app->shape.grid_blocks;

	o[0] = (struct outputs){ a->results, app->results, results * sizeof(*a->results) };
	o[1] = (struct outputs){ a->row_hashes, app->row_hashes,
				 results * a->side * sizeof(*a->row_hashes) };
	o[2] = (struct outputs){ a->status, app->status,
				 (size_t)app->shape.grid_blocks * app->warps * sizeof(*a->status) };
}

static void *device_memory(struct app *app, uint64_t bytes)
{
	void *p = NULL;

	return wic_mem_alloc(app->w, WIC_MEM_DEVICE, WIC_GPU(0), bytes, &p) ? NULL : p;
}

static int host_open(struct app *app)
{
	struct outputs o[OUTPUTS];

	outputs(app, o);
	app->results = malloc(o[0].bytes);
	app->row_hashes = malloc(o[1].bytes);
	app->status = malloc(o[2].bytes);
	if (!app->results || !app->row_hashes || !app->status)
		return wic_fail(-ENOMEM, "c_srs: no memory for the results of %u tags",
				app->args.tags);
	return 0;
}

/* Everything that the kernel touches, and not in the timed loop. */
static int app_load(struct app *app, struct wic *w)
{
	uint64_t blocks = app->shape.grid_blocks, tiles = app->tiles.tile_bytes * app->tiles.count;
	struct srs_args *a = &app->args;
	struct outputs o[OUTPUTS];

	app->w = w;
	a->tags = app->shape.tags;
	a->side = app->tiles.side;
	a->first_count = app->tiles.count;
	a->work_stride = srs_plane_bytes(a->side) * SRS_PLANES;
	outputs(app, o);
	a->first = device_memory(app, tiles);
	a->work = device_memory(app, a->work_stride * blocks);
	a->results = device_memory(app, o[0].bytes);
	a->row_hashes = device_memory(app, o[1].bytes);
	a->status = device_memory(app, o[2].bytes);
	if (!a->first || !a->work || !a->results || !a->row_hashes || !a->status)
		return wic_fail(-ENOMEM, "c_srs: no memory for %llu blocks",
				(unsigned long long)blocks);
	if (wic_mem_copy(w, (void *)(uintptr_t)a->first, app->tiles.data, tiles))
		return -EIO;
	if (app->is_gpu)
		app->team = team_create(min_u32(parallel_cores(), TEAM_MAX));
	return host_open(app);
}

static int app_open(const struct app_params *p, struct app **app_out)
{
	uint32_t percent = p->turn_percent ? p->turn_percent : 100;
	struct app *app;
	int rc;

	if ((unsigned int)p->size > APP_LARGE || !p->sms || !p->sm_blocks || !p->sm_warps)
		return wic_fail(-EINVAL, "c_srs: size %d, %u SMs of %u blocks and %u warps",
				(int)p->size, p->sms, p->sm_blocks, p->sm_warps);
	if (p->side_percent > 100)
		return wic_fail(-EINVAL, "c_srs: tiles of %u %% of their side, at most 100",
				p->side_percent);
	app = calloc(1, sizeof(*app));
	if (!app)
		return wic_fail(-ENOMEM, "c_srs: no memory");
	rc = tiles_open(app, p);
	if (rc)
		goto err_close;
	app->shape.bytes_per_tag = app->tiles.tile_bytes;
	shape_grid(app, p);
	rc = shape_tags(app, p);
	if (rc)
		goto err_close;
	app->shape.pool_pages_min = pool_pages(app, p);
	app->args.turn_work = (uint32_t)((uint64_t)SRS_TURN_WORK * percent / 100);
	app->is_gpu = p->is_gpu;
	*app_out = app;
	return 0;

err_close:
	app_close(app);
	return rc;
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
	APP_KERNEL("none", srs_kernel_none),
	APP_KERNEL("leader-acq", srs_kernel_leader_acq),
	APP_KERNEL("libcupp", srs_kernel_libcupp),
	APP_KERNEL("naive", srs_kernel_naive),
	APP_KERNEL("leader", srs_kernel_leader),
	APP_KERNEL("warp", srs_kernel_warp),
	APP_KERNEL("split", srs_kernel_split),
	APP_KERNEL("thread-futex", srs_kernel_thread_futex),
	APP_KERNEL("wic", srs_kernel_wic),
	APP_KERNEL_END,
};

static const void *app_args(struct app *app, const struct m_args *m, uint64_t epoch)
{
	struct srs_args *a = &app->args;
	struct outputs o[OUTPUTS];
	uint32_t i;

	a->m = *m;
	a->epoch = epoch;
	outputs(app, o);
	for (i = 0; i < OUTPUTS; i++)
		if (wic_mem_zero(app->w, o[i].device, o[i].bytes))
			return NULL;
	return a;
}

static uint32_t variant_of(uint64_t epoch)
{
	return epoch % VARIANTS ? 0 : 1;
}

/*
 * Even epochs carry the tile with the lowest bit of every byte turned, so that a
 * byte left over from the epoch before, anywhere in a tile, changes the result.
 */
static void copy_variant(const uint8_t *restrict from, uint8_t *restrict to, uint64_t bytes,
			 uint32_t variant)
{
	uint64_t i;

	for (i = 0; i < bytes; i++)
		to[i] = from[i] ^ (uint8_t)variant;
}

struct copy_job {
	const uint8_t *from;
	uint8_t *to;
	uint64_t bytes;
	uint32_t variant;
	uint32_t parts;
};

static void copy_part(void *arg, uint32_t part)
{
	const struct copy_job *job = arg;
	/* Whole lines, so that no two threads write to one. */
	uint64_t step = (job->bytes / job->parts + 63) / 64 * 64, at = step * part;

	if (at < job->bytes)
		copy_variant(job->from + at, job->to + at,
			     job->bytes - at < step ? job->bytes - at : step, job->variant);
}

static void app_produce(struct app *app, uint32_t tag, uint64_t epoch, void *buffer)
{
	struct copy_job job = {
		app->tiles.data + tag % app->tiles.count * app->tiles.tile_bytes,
		buffer,
		app->tiles.tile_bytes,
		variant_of(epoch),
		app->team ? team_threads(app->team) : 1,
	};

	if (app->team)
		team_run(app->team, copy_part, &job);
	else
		copy_part(&job, 0);
}

struct expect_job {
	const struct tiles *tiles;
	struct expected *expected;
	uint32_t variant;
};

static int expect_tile(void *arg, uint32_t i)
{
	const struct expect_job *job = arg;
	const struct tiles *t = job->tiles;
	uint8_t *copy = malloc(t->tile_bytes);
	int rc;

	if (!copy)
		return wic_fail(-ENOMEM, "c_srs: no memory for a tile");
	copy_variant(t->data + i * t->tile_bytes, copy, t->tile_bytes, job->variant);
	rc = srs_reference(copy, t->side, &job->expected->results[i],
			   job->expected->row_hashes + (uint64_t)i * t->side, NULL);
	free(copy);
	return rc;
}

static int expect(struct app *app, uint32_t variant)
{
	struct expected e, *kept = &app->expected[variant];
	struct expect_job job = { &app->tiles, &e, variant };
	int rc = -ENOMEM;

	if (kept->results)
		return 0;
	e.results = calloc(app->tiles.count, sizeof(*e.results));
	e.row_hashes = calloc(app->tiles.count, app->tiles.side * sizeof(*e.row_hashes));
	if (e.results && e.row_hashes)
		rc = parallel_for(app->tiles.count, expect_tile, &job);
	if (rc) {
		free(e.results);
		free(e.row_hashes);
		return wic_fail(rc, "c_srs: the reference could not be made");
	}
	*kept = e;
	return 0;
}

struct value {
	const char *name;
	uint32_t index;
	uint64_t got;
	uint64_t want;
};

static bool differs(struct value *v, const char *name, uint32_t index, uint64_t got, uint64_t want)
{
	*v = (struct value){ name, index, got, want };
	return got != want;
}

/* The first value of a result that is not what it should be: true, and which. */
static bool find_difference(const struct srs_result *got, const struct srs_result *want,
			    struct value *v)
{
	uint32_t i;

	for (i = 0; i < SRS_BANDS; i++)
		if (differs(v, "smallest of band", i, got->lo[i], want->lo[i]) ||
		    differs(v, "largest of band", i, got->hi[i], want->hi[i]))
			return true;
	if (differs(v, "energy", 0, got->energy, want->energy) ||
	    differs(v, "passes", 0, got->passes, want->passes))
		return true;
	for (i = 0; i < SRS_BINS; i++)
		if (differs(v, "luma histogram", i, got->luma[i], want->luma[i]) ||
		    differs(v, "edge histogram", i, got->edge[i], want->edge[i]))
			return true;
	return false;
}

/* Which row's hash, or which value of result @index is wrong for tile @tile; false: none. */
static bool find_wrong(const struct app *app, uint32_t index, const struct expected *e,
		       uint32_t tile, struct value *v)
{
	const uint32_t *hash = app->row_hashes + (uint64_t)index * app->args.side;
	const uint32_t *want = e->row_hashes + (uint64_t)tile * app->args.side;
	uint32_t row;

	if (differs(v, "warps that finished", 0, app->results[index].done, app->warps))
		return true;
	for (row = 0; row < app->args.side; row++)
		if (differs(v, "hash of row", row, hash[row], want[row]))
			return true;
	return find_difference(&app->results[index], &e->results[tile], v);
}

/* Result @index against what tile @tile of a variant must come to. */
static int check_tile(const struct app *app, uint32_t index, const struct expected *e,
		      char *why_out, size_t why_bytes)
{
	bool is_tag = index < app->args.tags;
	uint32_t number = is_tag ? index : index - app->args.tags;
	uint32_t tile = number % app->tiles.count;
	struct value v;

	if (!find_wrong(app, index, e, tile, &v))
		return 0;
	snprintf(why_out, why_bytes, "%s %u (tile %u): %s [%u]: expected %llu, got %llu",
		 is_tag ? "tag" : "first tile of block", number, tile, v.name, v.index,
		 (unsigned long long)v.want, (unsigned long long)v.got);
	return -EIO;
}

static int fetch(struct app *app, char *why_out, size_t why_bytes)
{
	struct outputs o[OUTPUTS];
	uint32_t i;
	int rc = 0;

	outputs(app, o);
	for (i = 0; i < OUTPUTS && !rc; i++)
		rc = wic_mem_copy(app->w, o[i].host, o[i].device, o[i].bytes);
	if (rc)
		snprintf(why_out, why_bytes, "the results do not come: %s", wic_last_error());
	return rc;
}

static int check_status(const struct app *app, char *why_out, size_t why_bytes)
{
	uint32_t i, count = app->shape.grid_blocks * app->warps;

	for (i = 0; i < count; i++) {
		int rc = app->status[i];

		if (!rc)
			continue;
		snprintf(why_out, why_bytes, "block %u warp %u: a wait at epoch %llu ended: %s",
			 i / app->warps, i % app->warps, (unsigned long long)app->args.epoch,
			 wic_strerror(rc));
		return rc;
	}
	return 0;
}

static int app_check(struct app *app, char *why_out, size_t why_bytes)
{
	uint32_t variant = variant_of(app->args.epoch), i;
	int rc = fetch(app, why_out, why_bytes);

	if (!rc)
		rc = check_status(app, why_out, why_bytes);
	if (rc)
		return rc;
	/* The first tiles are always those of variant 0. */
	rc = expect(app, 0);
	if (!rc)
		rc = expect(app, variant);
	if (rc) {
		snprintf(why_out, why_bytes, "%s", wic_last_error());
		return rc;
	}
	for (i = 0; i < app->args.tags + app->shape.grid_blocks && !rc; i++)
		rc = check_tile(app, i, &app->expected[i < app->args.tags ? variant : 0], why_out,
				why_bytes);
	return rc;
}

const struct app_ops app_c_srs = {
	.name = "C_SRS",
	.pattern = "streaming x unidirectional",
	.devices = 1,
	.side_power = 2,
	.summary = "satellite image tiles: normalise, filter, histogram",
	.open = app_open,
	.load = app_load,
	.shape = app_get_shape,
	.describe = app_describe,
	.kernels = kernels,
	.args = app_args,
	.produce = app_produce,
	.check = app_check,
	.close = app_close,
};
