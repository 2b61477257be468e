/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/c_h3d/c_h3d.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/c_h3d/kernel.h"
#include "apps/c_h3d/reference.h"
#include "apps/common/parallel.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/minmax.h"

#define WARPS_MAX 8u /* a block: all 26 messages wait in four rounds */
#define SIDE_MIN 4u
#define POOL_PAGES_MAX (1u << 21)
/* Of the boxes u and w and the host's u: what a machine has anyway, and one with a GPU. */
#define BOX_BYTES_MAX ((uint64_t)1 << 30)
#define BOX_BYTES_MAX_GPU ((uint64_t)10 << 30)
/* More boxes would be smaller ones in the same time, with more messages for their work. */
#define BLOCKS_SM_MAX 2u
#define CHANNELS_IN 0u /* of the classes, then those out */
#define CHANNELS_OUT H3D_CLASSES

APP_KERNEL_DECLARE(h3d_kernel_none);
APP_KERNEL_DECLARE(h3d_kernel_naive);
APP_KERNEL_DECLARE(h3d_kernel_leader);
APP_KERNEL_DECLARE(h3d_kernel_leader_acq);
APP_KERNEL_DECLARE(h3d_kernel_warp);
APP_KERNEL_DECLARE(h3d_kernel_libcupp);
APP_KERNEL_DECLARE(h3d_kernel_thread_futex);
APP_KERNEL_DECLARE(h3d_kernel_wic);

/* The first value that the host took and that was not what was sent. */
struct taken {
	uint32_t messages;
	bool is_wrong;
	uint32_t item;
	double got;
	double want;
};

struct app {
	struct app_shape shape;
	struct wic *w;        /* borrowed from load() on */
	struct h3d_args args; /* its pointers but those of the methods are owned device memory */
	double *host;         /* owned: boxes of the host's ranks, one a block */
	int32_t *status;      /* owned: what check() has fetched of it */
	struct taken taken;   /* the host thread's */
	uint32_t warps;       /* a block */
	char text[160];
};

static const uint32_t side_of[] = {
	[APP_TINY] = 8,
	[APP_SMALL] = 32,
	[APP_DEFAULT] = 100,
	[APP_LARGE] = 160,
};

/* As many boxes as blocks are resident and 1 GiB holds; fewer threads: fewer of them. */
static void shape_grid(struct app *app, const struct app_params *p)
{
	uint64_t fit = (p->is_gpu ? BOX_BYTES_MAX_GPU : BOX_BYTES_MAX) /
		       (3 * h3d_box_zones(app->args.side) * sizeof(double));
	uint32_t blocks = p->sms * min_u32(p->sm_blocks, BLOCKS_SM_MAX);

	app->warps = min_u32(max_u32(p->sm_warps / p->sm_blocks, 1), WARPS_MAX);
	if (p->threads) {
		app->warps = min_u32(app->warps, max_u32(p->threads / WIC_WARP_LANES, 1));
		blocks = max_u32(p->threads / WIC_WARP_LANES / app->warps, 1);
	}
	app->shape.grid_blocks = min_u32(blocks, max_u32((uint32_t)fit, 1));
	app->shape.block_threads = app->warps * WIC_WARP_LANES;
	app->shape.shared_bytes = M_SHARED_BYTES_MAX(app->warps);
}

static int shape_channels(struct app *app, const struct app_params *p)
{
	struct app_shape *s = &app->shape;
	uint32_t cls, a_cycle = 2 * H3D_MESSAGES * s->grid_blocks;
	uint32_t wanted = (uint32_t)(((uint64_t)p->tags + a_cycle - 1) / a_cycle);
	uint64_t bytes = 0;

	app->args.cycles = max_u32(H3D_CYCLES, wanted);
	if (app->args.cycles > H3D_CYCLES_MAX)
		return wic_fail(-EINVAL, "c_h3d: %u tags are %u cycles, at most %u", p->tags,
				app->args.cycles, H3D_CYCLES_MAX);
	s->channel_count = 2 * H3D_CLASSES;
	for (cls = 0; cls < H3D_CLASSES; cls++) {
		struct app_channel c = {
			.tags = app->args.cycles * s->grid_blocks * h3d_class_messages(cls),
			.readers = 1,
			.bytes_per_tag = h3d_class_bytes(app->args.side, cls),
		};

		s->channels[CHANNELS_IN + cls] = c;
		c.ends.is_from_device = true;
		c.ends.is_to_host = true;
		s->channels[CHANNELS_OUT + cls] = c;
		bytes += c.bytes_per_tag * h3d_class_messages(cls);
	}
	s->tags = app->args.cycles * a_cycle;
	s->steps = s->tags;
	s->readers = 1;
	s->bytes_per_tag = bytes / H3D_MESSAGES;
	return 0;
}

/*
 * Each warp holds one message at a time, at most six of a block a face; half as much
 * again, since what was given back stays out until it is closed, and twice that for
 * the partner pages.  The host's side has a pool of the same size and holds one.
 */
static uint32_t pool_pages(const struct app *app)
{
	uint64_t face = (h3d_class_bytes(app->args.side, 0) + WIC_PAGE_BYTES - 1) / WIC_PAGE_BYTES;
	uint64_t held = face * min_u32(app->warps, H3D_FACES) + app->warps;
	uint64_t pages = 3 * held * app->shape.grid_blocks + 64;

	return (uint32_t)(pages < POOL_PAGES_MAX ? pages : POOL_PAGES_MAX) / 2 * 2;
}

static void app_close(struct app *app)
{
	if (!app)
		return;
	wic_mem_free(app->w, app->args.u);
	wic_mem_free(app->w, app->args.w);
	wic_mem_free(app->w, app->args.status);
	free(app->status);
	free(app->host);
	free(app);
}

static uint64_t box_bytes(const struct app *app)
{
	return h3d_box_zones(app->args.side) * sizeof(double);
}

static uint64_t status_bytes(const struct app *app)
{
	return (uint64_t)app->shape.grid_blocks * app->warps * sizeof(int32_t);
}

static void *device_memory(struct app *app, uint64_t bytes)
{
	void *p = NULL;

	return wic_mem_alloc(app->w, WIC_MEM_DEVICE, WIC_GPU(0), bytes, &p) ? NULL : p;
}

static int host_begin(void *arg, uint32_t block)
{
	struct app *app = arg;
	uint64_t at = block * h3d_box_zones(app->args.side);

	h3d_reference_begin(app->args.side, h3d_rank(block, 1), app->host + at);
	return 0;
}

static int app_load(struct app *app, struct wic *w)
{
	uint64_t bytes = box_bytes(app) * app->shape.grid_blocks;

	app->w = w;
	app->args.u = device_memory(app, bytes);
	app->args.w = device_memory(app, bytes);
	app->args.status = device_memory(app, status_bytes(app));
	app->host = malloc(bytes);
	app->status = malloc(status_bytes(app));
	if (!app->args.u || !app->args.w || !app->args.status || !app->host || !app->status)
		return wic_fail(-ENOMEM, "c_h3d: no memory for %u boxes", app->shape.grid_blocks);
	return parallel_for(app->shape.grid_blocks, host_begin, app);
}

static int app_open(const struct app_params *p, struct app **app_out)
{
	uint32_t percent = p->side_percent ? p->side_percent : 100;
	uint32_t turn = p->turn_percent ? p->turn_percent : 100;
	struct app *app;
	int rc;

	if ((unsigned int)p->size > APP_LARGE || !p->sms || !p->sm_blocks || !p->sm_warps)
		return wic_fail(-EINVAL, "c_h3d: size %d, %u SMs of %u blocks and %u warps",
				(int)p->size, p->sms, p->sm_blocks, p->sm_warps);
	if (percent > 100)
		return wic_fail(-EINVAL, "c_h3d: boxes of %u %% of their side, at most 100",
				percent);
	app = calloc(1, sizeof(*app));
	if (!app)
		return wic_fail(-ENOMEM, "c_h3d: no memory");
	app->args.side = max_u32(side_of[p->size] * percent / 100, SIDE_MIN);
	app->args.turn_work = (uint32_t)((uint64_t)H3D_TURN_WORK * H3D_COST_STENCIL * turn / 100);
	shape_grid(app, p);
	rc = shape_channels(app, p);
	if (rc) {
		app_close(app);
		return rc;
	}
	app->shape.pool_pages_min = pool_pages(app);
	snprintf(app->text, sizeof(app->text),
		 "%u boxes of %u^3 zones, %u variables, %u cycles of 26 messages each way",
		 app->shape.grid_blocks, app->args.side, H3D_VARS, app->args.cycles);
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
	APP_KERNEL("none", h3d_kernel_none),
	APP_KERNEL("leader-acq", h3d_kernel_leader_acq),
	APP_KERNEL("libcupp", h3d_kernel_libcupp),
	APP_KERNEL("naive", h3d_kernel_naive),
	APP_KERNEL("leader", h3d_kernel_leader),
	APP_KERNEL("warp", h3d_kernel_warp),
	APP_KERNEL("wic", h3d_kernel_wic),
	APP_KERNEL("thread-futex", h3d_kernel_thread_futex),
	APP_KERNEL_END,
};

static int box_begin(void *arg, uint32_t block)
{
	struct app *app = arg;
	uint64_t at = block * h3d_box_zones(app->args.side);
	double *box = malloc(box_bytes(app));
	int rc;

	if (!box)
		return wic_fail(-ENOMEM, "c_h3d: no memory for a box");
	h3d_reference_begin(app->args.side, h3d_rank(block, 0), box);
	rc = wic_mem_copy(app->w, app->args.u + at, box, box_bytes(app));
	if (!rc)
		rc = wic_mem_zero(app->w, app->args.w + at, box_bytes(app));
	free(box);
	return rc;
}

static const void *app_args(struct app *app, const struct m_args *m, uint64_t epoch)
{
	struct h3d_args *a = &app->args;

	memcpy(a->in, m + CHANNELS_IN, sizeof(a->in));
	memcpy(a->out, m + CHANNELS_OUT, sizeof(a->out));
	a->epoch = epoch;
	memset(&app->taken, 0, sizeof(app->taken));
	if (wic_mem_zero(app->w, a->status, status_bytes(app)) ||
	    parallel_for(app->shape.grid_blocks, box_begin, app))
		return NULL;
	return a;
}

/* An item is a message of a block in a cycle. */
struct item {
	uint32_t message;
	uint32_t block;
	uint32_t cycle;
};

static struct item item_of(const struct app *app, uint32_t item)
{
	uint32_t pair = item / H3D_MESSAGES;

	return (struct item){ item % H3D_MESSAGES, pair % app->shape.grid_blocks,
			      pair / app->shape.grid_blocks };
}

/* Of each block and cycle in turn: take all 26 of the device, then send all 26. */
static void app_step(const struct app *app, uint32_t i, struct app_step *step_out)
{
	uint32_t pair = i / (2 * H3D_MESSAGES), k = i % (2 * H3D_MESSAGES);
	struct item m;

	step_out->is_take = k < H3D_MESSAGES;
	step_out->item = pair * H3D_MESSAGES + k % H3D_MESSAGES;
	m = item_of(app, step_out->item);
	step_out->channel = h3d_class(m.message) + (step_out->is_take ? CHANNELS_OUT : CHANNELS_IN);
	step_out->tag = h3d_tag(m.message, m.cycle, m.block, app->shape.grid_blocks);
}

/* First value of each row of a region along x; in the order of a message's values. */
struct cursor {
	const struct h3d_region *r;
	uint64_t pitch;
	uint32_t var, z, y;
};

/* Index in a box of the next row; false: there is none. */
static bool cursor_next(struct cursor *c, uint64_t *at_out)
{
	const struct h3d_region *r = c->r;

	if (c->var == H3D_VARS)
		return false;
	*at_out = ((c->var * c->pitch + r->at[2] + c->z) * c->pitch + r->at[1] + c->y) * c->pitch +
		  r->at[0];
	if (++c->y < r->count[1])
		return true;
	c->y = 0;
	if (++c->z < r->count[2])
		return true;
	c->z = 0;
	c->var++;
	return true;
}

/* The host packs its boundary; its boxes are kept without the cycle's shift. */
static void app_produce(struct app *app, uint32_t item, uint64_t epoch, void *buffer)
{
	struct item m = item_of(app, item);
	struct h3d_region r = h3d_region(app->args.side, m.message, 0);
	const double *box = app->host + m.block * h3d_box_zones(app->args.side);
	struct cursor c = { &r, app->args.side + 2, 0, 0, 0 };
	double shift = h3d_shift(epoch, m.cycle), *to = buffer;
	uint64_t at;
	uint32_t x;

	while (cursor_next(&c, &at))
		for (x = 0; x < r.count[0]; x++)
			*to++ = box[at + x] + shift;
}

static void taken_wrong(struct app *app, uint32_t item, const double values[2])
{
	if (app->taken.is_wrong)
		return;
	app->taken.is_wrong = true;
	app->taken.item = item;
	app->taken.got = values[0];
	app->taken.want = values[1];
}

/*
 * The host unpacks into its ghosts.  Its boxes have no shift, so a ghost holds
 * -(gid + var) before the exchange and after it, and says what must come.
 */
static void app_consume(struct app *app, uint32_t item, uint64_t epoch, const void *data)
{
	struct item m = item_of(app, item);
	struct h3d_region r = h3d_region(app->args.side, m.message, 1);
	double *box = app->host + m.block * h3d_box_zones(app->args.side);
	struct cursor c = { &r, app->args.side + 2, 0, 0, 0 };
	double shift = h3d_shift(epoch, m.cycle);
	const double *from = data;
	uint64_t at;
	uint32_t x;

	while (cursor_next(&c, &at)) {
		for (x = 0; x < r.count[0]; x++, from++) {
			double want = shift - box[at + x];

			if (*from != want)
				taken_wrong(app, item, (const double[2]){ *from, want });
			box[at + x] = shift - *from;
		}
	}
	app->taken.messages++;
}

static int check_status(const struct app *app, char *why_out, size_t why_bytes)
{
	uint32_t i, count = app->shape.grid_blocks * app->warps;

	if (wic_mem_copy(app->w, app->status, app->args.status, status_bytes(app))) {
		snprintf(why_out, why_bytes, "the status does not come: %s", wic_last_error());
		return -EIO;
	}
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

static int check_taken(struct app *app, char *why_out, size_t why_bytes)
{
	const struct taken *t = &app->taken;
	struct item m = item_of(app, t->item);

	if (t->is_wrong) {
		snprintf(
			why_out, why_bytes,
			"the host took message %u of block %u in cycle %u: expected %.0f, got %.0f",
			m.message, m.block, m.cycle, t->want, t->got);
		/* Its ghosts hold what came: the next run must not suffer from it. */
		(void)parallel_for(app->shape.grid_blocks, host_begin, app);
		return -EIO;
	}
	if (t->messages == app->shape.steps / 2)
		return 0;
	snprintf(why_out, why_bytes, "the host took %u messages of %u", t->messages,
		 app->shape.steps / 2);
	return -EIO;
}

struct check_job {
	const struct app *app;
	char *why; /* a line a block, "" nothing */
};

#define WHY_BYTES 160u

static bool is_same(double got, double want, const struct h3d_zone *z, const char *what, char *why)
{
	if (got == want)
		return true;
	snprintf(why, WHY_BYTES, "%s of variable %u at (%u, %u, %u): expected %.0f, got %.0f", what,
		 z->var, z->x, z->y, z->z, want, got);
	return false;
}

static bool is_row_right(const struct h3d_reference *r, const struct h3d_zone *first,
			 const double *rows[2], char *why)
{
	struct h3d_zone z = *first;

	for (z.x = 0; z.x < r->side + 2; z.x++)
		if (!is_same(rows[0][z.x], h3d_expected_u(r, &z), &z, "u", why) ||
		    !is_same(rows[1][z.x], h3d_expected_w(r, &z), &z, "w", why))
			return false;
	return true;
}

/* @boxes: u, then w, of a block. */
static bool is_box_right(const struct check_job *job, uint32_t block, const double *boxes)
{
	const struct h3d_args *a = &job->app->args;
	struct h3d_reference r = { a->side, h3d_rank(block, 0), a->cycles, a->epoch };
	uint64_t row, pitch = a->side + 2, zones = h3d_box_zones(a->side);
	struct h3d_zone z = { 0, 0, 0, 0 };

	for (row = 0; row < H3D_VARS * pitch * pitch; row++) {
		const double *rows[2] = { boxes + row * pitch, boxes + zones + row * pitch };

		z.y = (uint32_t)(row % pitch);
		z.z = (uint32_t)(row / pitch % pitch);
		z.var = (uint32_t)(row / pitch / pitch);
		if (!is_row_right(&r, &z, rows, job->why + (size_t)block * WHY_BYTES))
			return false;
	}
	return true;
}

static int check_box(void *arg, uint32_t block)
{
	const struct check_job *job = arg;
	const struct app *app = job->app;
	uint64_t zones = h3d_box_zones(app->args.side), at = block * zones;
	double *boxes = malloc(2 * box_bytes(app));
	int rc;

	if (!boxes)
		return wic_fail(-ENOMEM, "c_h3d: no memory for a box");
	rc = wic_mem_copy(app->w, boxes, app->args.u + at, box_bytes(app));
	if (!rc)
		rc = wic_mem_copy(app->w, boxes + zones, app->args.w + at, box_bytes(app));
	if (!rc)
		rc = is_box_right(job, block, boxes) ? 0 : -EIO;
	free(boxes);
	return rc;
}

static int check_boxes(const struct app *app, char *why_out, size_t why_bytes)
{
	struct check_job job = { app, calloc(app->shape.grid_blocks, WHY_BYTES) };
	uint32_t i;
	int rc = -ENOMEM;

	if (!job.why)
		return wic_fail(rc, "c_h3d: no memory");
	rc = parallel_for(app->shape.grid_blocks, check_box, &job);
	for (i = 0; i < app->shape.grid_blocks && rc; i++) {
		const char *why = job.why + (size_t)i * WHY_BYTES;

		if (!*why)
			continue;
		snprintf(why_out, why_bytes, "block %u: %s", i, why);
		break;
	}
	free(job.why);
	return rc;
}

static int app_check(struct app *app, char *why_out, size_t why_bytes)
{
	int rc = check_status(app, why_out, why_bytes);

	if (!rc)
		rc = check_taken(app, why_out, why_bytes);
	if (!rc)
		rc = check_boxes(app, why_out, why_bytes);
	return rc;
}

const struct app_ops app_c_h3d = {
	.name = "C_H3D",
	.pattern = "adjacent x multiple",
	.summary = "3-D halo exchange: pack and send 26, stencil, wait for 26 and unpack",
	.devices = 1,
	.side_power = 3,
	.open = app_open,
	.load = app_load,
	.shape = app_get_shape,
	.describe = app_describe,
	.kernels = kernels,
	.args = app_args,
	.step = app_step,
	.produce = app_produce,
	.consume = app_consume,
	.check = app_check,
	.close = app_close,
};
