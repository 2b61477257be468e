/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/rig.h"

#include <string.h>

#include "bench/steps.h"
#include "lib/config.h"
#include "lib/log.h"
#include "lib/memory.h"
#include "lib/registry.h"

/* A wait that takes this long has failed: the longest run is some seconds. */
#define WAIT_TIMEOUT_NS WIC_S(20)
#define SYNC_TIMEOUT_NS WIC_S(60)
/* Of a GPU's SM: kernels of 256 threads a block with up to 64 registers are all resident. */
#define GPU_SM_BLOCKS 4u
#define GPU_SM_WARPS 32u

/* What the context will be, as far as the application's grid depends on it. */
static int resolve(struct bench_rig *rig, struct wic_config *cfg)
{
	const struct bench_options *o = rig->p.options;
	struct wic_config asked = WIC_CONFIG_INIT;
	const char *from;
	int rc;

	app_kernels_add(rig->p.app);
	asked.backend = o->backend;
	asked.sms = o->sms;
	asked.record_events = rig->p.record_events;
	rc = wic_config_resolve(&asked, cfg, &from);
	if (rc) {
		bench_error("%s", wic_last_error());
		return rc;
	}
	cfg->devices = rig->p.app->devices;
	/* The cpu back-end's default; a GPU has what it has. */
	if (!cfg->sms)
		cfg->sms = (bench_cores() - 1) / cfg->devices;
	if (!cfg->sms)
		cfg->sms = 1;
	rig->sms = cfg->sms;
	return 0;
}

static bool may_be_gpu(const struct wic_config *cfg)
{
	for (const struct wic_be_ops *const *b = wic_backends(); *b; b++)
		if (((*b)->caps & WIC_BE_CAP_GPU) &&
		    (!strcmp(cfg->backend, "auto") || !strcmp(cfg->backend, (*b)->name)))
			return true;
	return false;
}

/*
 * Where it may be a GPU the context comes first, since the grid depends on what that has.  A
 * context that turns out to be none is closed again: its pool depends on the application.
 */
static int gpu_open(struct bench_rig *rig, struct wic_config *cfg)
{
	struct wic_geometry g;
	int rc;

	if (!may_be_gpu(cfg))
		return 0;
	rc = wic_open(cfg, &rig->w);
	if (rc) {
		bench_error("cannot open a context: %s", wic_last_error());
		return rc;
	}
	rig->is_gpu = wic_is_gpu(rig->w);
	if (rig->is_gpu)
		bench_machine_add(wic_describe(rig->w));
	if (!rig->is_gpu) {
		wic_close(rig->w);
		rig->w = NULL;
		return 0;
	}
	wic_geometry_get(rig->w, &g);
	rig->sms = g.sms;
	if (rig->p.options->sms && rig->p.options->sms < g.sms)
		rig->sms = rig->p.options->sms;
	/* Kernels of logical devices share the SMs, and wait for each other. */
	cfg->sm_blocks = GPU_SM_BLOCKS / cfg->devices;
	cfg->sm_warps = GPU_SM_WARPS / cfg->devices;
	return 0;
}

static int app_open(struct bench_rig *rig, const struct wic_config *cfg)
{
	const struct bench_options *o = rig->p.options;
	struct app_params ap = {
		.size = (enum app_size)rig->p.size,
		.seed = o->seed,
		.sms = rig->sms,
		.sm_blocks = cfg->sm_blocks,
		.sm_warps = cfg->sm_warps,
		.threads = o->threads,
		.tags = rig->p.tags,
		.input = o->input,
		.turn_percent = rig->p.turn_percent,
		.side_percent = rig->p.side_percent,
		.is_gpu = rig->is_gpu,
	};
	int rc = rig->p.app->open(&ap, &rig->app);

	if (rc) {
		bench_error("%s does not open: %s", rig->p.app->name, wic_last_error());
		return rc;
	}
	rig->shape = rig->p.app->shape(rig->app);
	rig->productions = bench_steps_productions(rig);
	return 0;
}

static int context_open(struct bench_rig *rig, struct wic_config *cfg)
{
	int rc;

	if (rig->w)
		return 0;
	if (cfg->pool_pages < rig->shape->pool_pages_min)
		cfg->pool_pages = rig->shape->pool_pages_min;
	rc = wic_open(cfg, &rig->w);
	if (rc)
		bench_error("cannot open a context: %s", wic_last_error());
	return rc;
}

static void data_close(struct bench_rig *rig)
{
	for (uint32_t i = 0; i < APP_CHANNELS_MAX; i++)
		wic_mem_free(rig->w, rig->data[i]);
}

/*
 * No method copies on a GPU, and only one runs at a time: one buffer serves all.  A method that
 * read before its data is there would find that of another epoch, which the check finds.
 */
static int data_open(struct bench_rig *rig)
{
	for (uint32_t i = 0; i < app_shape_channels(rig->shape) && rig->is_gpu; i++) {
		struct app_channel c = app_shape_channel(rig->shape, i);
		bool is_of_devices = c.ends.is_from_device && !c.ends.is_to_host;
		void *p;
		int rc = wic_mem_alloc(rig->w, is_of_devices ? WIC_MEM_DEVICE : WIC_MEM_HOST,
				       WIC_GPU(c.ends.to), c.tags * method_stride(c.bytes_per_tag),
				       &p);

		if (rc) {
			data_close(rig);
			return rc;
		}
		rig->data[i] = p;
	}
	return 0;
}

static int memory_open(struct bench_rig *rig)
{
	int rc = rig->p.app->load(rig->app, rig->w);

	if (!rc)
		rc = data_open(rig);
	if (rc)
		bench_error("%s has no memory: %s", rig->p.app->name, wic_last_error());
	return rc;
}

static void method_close(struct bench_method *m)
{
	while (m->channel_count)
		m->ops->close(m->channels[--m->channel_count]);
	m->is_open = false;
}

static int method_open(struct bench_rig *rig, struct bench_method *m, const struct method_ops *ops)
{
	int rc = 0;

	memset(m, 0, sizeof(*m));
	m->ops = ops;
	m->kernel = app_kernel_of(rig->p.app, ops->name);
	for (uint32_t i = 0; i < app_shape_channels(rig->shape) && !rc; i++) {
		struct app_channel c = app_shape_channel(rig->shape, i);
		struct method_params mp = {
			.tags = c.tags,
			.readers = c.readers,
			.bytes_per_tag = c.bytes_per_tag,
			.timeout_ns = WAIT_TIMEOUT_NS,
			.ends = c.ends,
			.mode = rig->p.options->mode,
			.data = rig->data[i],
		};

		rc = ops->open(rig->w, &mp, &m->channels[i]);
		m->channel_count += !rc;
	}
	m->is_open = !rc;
	if (rc) {
		snprintf(m->why, sizeof(m->why), "%.250s", wic_last_error());
		bench_error("method %s does not open: %s", ops->name, m->why);
		method_close(m);
	}
	return rc;
}

/* Why a method cannot have this launch at all, into @text; false: it can. */
static bool is_left_out(const struct bench_rig *rig, const struct method_ops *ops, char *text,
			size_t bytes)
{
	uint64_t warps = (uint64_t)rig->shape->grid_blocks *
			 ((rig->shape->block_threads + WIC_WARP_LANES - 1) / WIC_WARP_LANES);

	if (method_check_where(ops, rig->w)) {
		snprintf(text, bytes, "%s", wic_last_error());
		return true;
	}
	if (!app_kernel_of(rig->p.app, ops->name)) {
		snprintf(text, bytes, "%s: the kernel of %s is not written for it", ops->name,
			 rig->p.app->name);
		return true;
	}
	if (!ops->warps_max || warps <= ops->warps_max)
		return false;
	snprintf(text, bytes, "%s: the launch has %llu warps, it takes at most %u", ops->name,
		 (unsigned long long)warps, ops->warps_max);
	return true;
}

/* A method that does not open is a row that says so, not the end. */
static void methods_open(struct bench_rig *rig)
{
	for (uint32_t i = 0; i < rig->p.method_count; i++) {
		const struct method_ops *ops = rig->p.methods[i];
		size_t length = strlen(rig->left_out);
		char text[160];

		/* Nobody asked for it. */
		if (!rig->p.options->is_methods_named && method_check_where(ops, rig->w))
			continue;
		if (is_left_out(rig, ops, text, sizeof(text)))
			snprintf(rig->left_out + length, sizeof(rig->left_out) - length, "%s%s",
				 length ? "; " : "", text);
		else if (method_open(rig, &rig->methods[rig->method_count++], ops) == -ENOMEM)
			bench_error("method %s has no memory", ops->name);
	}
}

int bench_rig_open(struct bench_rig *rig, const struct bench_rig_params *p)
{
	struct wic_config cfg;
	int rc;

	memset(rig, 0, sizeof(*rig));
	rig->p = *p;
	rc = resolve(rig, &cfg);
	if (!rc)
		rc = gpu_open(rig, &cfg);
	if (rc)
		return rc;
	rc = app_open(rig, &cfg);
	if (rc)
		goto err_close_context;
	rc = context_open(rig, &cfg);
	if (rc)
		goto err_close_app;
	rc = memory_open(rig);
	if (rc)
		goto err_close_app;
	rc = method_open(rig, &rig->bare, &method_none);
	if (rc)
		goto err_close_data;
	methods_open(rig);
	/* A GPU leaves the cores to the host, whose work on 132 SMs' data takes them all. */
	if (!rig->is_gpu)
		bench_pin_last(&rig->pin);
	return 0;

err_close_data:
	data_close(rig);
err_close_app:
	p->app->close(rig->app);
err_close_context:
	wic_close(rig->w);
	return rc;
}

void bench_rig_close(struct bench_rig *rig)
{
	bench_unpin(&rig->pin);
	for (uint32_t i = 0; i < rig->method_count; i++)
		method_close(&rig->methods[i]);
	method_close(&rig->bare);
	data_close(rig);
	rig->p.app->close(rig->app);
	wic_close(rig->w);
}

static void stats_since(struct bench_rig *rig, const struct wic_stats *before,
			struct wic_stats *delta_out)
{
	struct wic_stats now = { .size_bytes = sizeof(now) };
	const uint64_t *a, *b;
	uint64_t *d;

	if (wic_stats_get(rig->w, &now))
		now = *before;
	a = (const uint64_t *)&now;
	b = (const uint64_t *)before;
	d = (uint64_t *)delta_out;
	/* All members are counters of 64 bits; the first is the struct's size. */
	for (size_t i = 1; i < sizeof(now) / sizeof(*d); i++)
		d[i] = a[i] - b[i];
	delta_out->size_bytes = sizeof(now);
}

static void check(struct bench_rig *rig, struct bench_run *run)
{
	char why[200] = "";
	int rc;

	if (run->status)
		return;
	rc = rig->p.app->check(rig->app, why, sizeof(why));
	if (!rc)
		return;
	run->status = rc;
	snprintf(run->why, sizeof(run->why), "wrong result: %.200s", why);
}

/* A method's launches go through the channel whose data the device waits for. */
static struct method *channel_of(const struct bench_rig *rig, const struct bench_method *m,
				 uint32_t device)
{
	for (uint32_t i = 0; i < m->channel_count; i++) {
		struct m_ends ends = app_shape_channel(rig->shape, i).ends;

		if (!ends.is_to_host && ends.to == device)
			return m->channels[i];
	}
	return m->channels[0];
}

static void sync_kernels(struct bench_rig *rig, const struct bench_method *m, struct bench_run *run)
{
	int rc = 0;

	for (uint32_t i = 0; i < rig->p.app->devices && !rc; i++)
		rc = method_sync(m->ops, channel_of(rig, m, i), rig->w, SYNC_TIMEOUT_NS);
	run->time_ns = wic_now_ns() - run->start_ns;
	if (!rc)
		return;
	bench_run_failed(run, rc, "the kernel does not return");
	rig->is_dead = true;
}

static void launch(struct bench_rig *rig, const struct bench_method *m, uint32_t device,
		   const void *args, struct bench_run *run)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	int rc;

	l.kernel = m->kernel;
	l.args = args;
	l.grid_blocks = rig->shape->grid_blocks;
	l.block_threads = rig->shape->block_threads;
	l.shared_bytes = rig->shape->shared_bytes;
	l.device = WIC_GPU(device);
	rc = method_launch(m->ops, channel_of(rig, m, device), rig->w, &l);
	if (rc)
		bench_run_failed(run, rc, "launch");
}

/* On all devices at once. */
static void launch_all(struct bench_rig *rig, const struct bench_method *m, const void *args,
		       struct bench_run *run)
{
	const struct app_ops *app = rig->p.app;

	run->start_ns = wic_now_ns();
	for (uint32_t i = 0; i < app->devices && !run->status; i++)
		launch(rig, m, i, i ? app->args_of(rig->app, i) : args, run);
}

static bool can_run(struct bench_rig *rig, const struct bench_method *m, struct bench_run *run)
{
	memset(run, 0, sizeof(*run));
	if (rig->is_dead) {
		run->status = -EIO;
		snprintf(run->why, sizeof(run->why), "an earlier kernel did not return");
	} else if (!m->is_open) {
		run->status = -ENOTSUP;
		snprintf(run->why, sizeof(run->why), "%s", m->why);
	}
	return !run->status;
}

static const void *app_args(struct bench_rig *rig, const struct bench_method *m, bool in_place)
{
	struct m_args margs[APP_CHANNELS_MAX];

	for (uint32_t i = 0; i < m->channel_count; i++) {
		m->ops->args(m->channels[i], &margs[i]);
		if (in_place)
			margs[i].staging = NULL;
	}
	return rig->p.app->args(rig->app, margs, rig->epoch);
}

/* One launch at the rig's epoch; what the host does while it runs is @steps. */
static void run_kernel(struct bench_rig *rig, struct bench_method *m,
		       const struct bench_steps *steps, struct bench_run *run)
{
	struct wic_stats before = { .size_bytes = sizeof(before) };
	const void *args = app_args(rig, m, false);

	if (!args)
		bench_run_failed(run, -EIO, "arguments");
	if (wic_stats_get(rig->w, &before))
		bench_run_failed(run, -EINVAL, "statistics");
	launch_all(rig, m, args, run);
	/* After a launch that failed others may run; they end with their waits. */
	if (steps && !run->status)
		bench_steps_run(rig, m, steps, run);
	sync_kernels(rig, m, run);
	stats_since(rig, &before, &run->stats);
}

/*
 * Where kernels produce for each other: each device alone, one after the other, writes
 * what the other one reads in the run that gives T_bare.  The longest is T_prod.
 */
static void fill_by_kernels(struct bench_rig *rig, uint64_t *prod_ns_out, struct bench_run *run)
{
	struct bench_method *m = &rig->bare;
	const void *args = app_args(rig, m, true);

	if (!args)
		bench_run_failed(run, -EIO, "arguments");
	for (uint32_t i = 0; i < rig->p.app->devices && !run->status; i++) {
		run->start_ns = wic_now_ns();
		launch(rig, m, i, i ? rig->p.app->args_of(rig->app, i) : args, run);
		sync_kernels(rig, m, run);
		if (run->time_ns > *prod_ns_out)
			*prod_ns_out = run->time_ns;
	}
}

void bench_rig_bare(struct bench_rig *rig, uint64_t pace_ns, uint64_t *prod_ns_out,
		    struct bench_run *run_out)
{
	const struct bench_steps before = { BENCH_STEPS_PRODUCE, pace_ns };
	const struct bench_steps after = { BENCH_STEPS_TAKE, 0 };
	uint64_t start_ns;

	*prod_ns_out = 0;
	if (!can_run(rig, &rig->bare, run_out))
		return;
	rig->epoch++;
	start_ns = wic_now_ns();
	bench_steps_run(rig, &rig->bare, &before, run_out);
	*prod_ns_out = wic_now_ns() - start_ns;
	if (rig->p.app->is_self_paced)
		fill_by_kernels(rig, prod_ns_out, run_out);
	if (!run_out->status)
		run_kernel(rig, &rig->bare, NULL, run_out);
	if (!run_out->status)
		bench_steps_run(rig, &rig->bare, &after, run_out);
	check(rig, run_out);
}

void bench_rig_run(struct bench_rig *rig, struct bench_method *method, uint64_t pace_ns,
		   struct bench_run *run_out)
{
	const struct bench_steps before = { BENCH_STEPS_PRODUCE, 0 };
	struct bench_steps beside = { BENCH_STEPS_ALL, pace_ns };

	if (!can_run(rig, method, run_out))
		return;
	rig->epoch++;
	if (pace_ns == BENCH_READY) {
		bench_steps_run(rig, method, &before, run_out);
		beside = (struct bench_steps){ BENCH_STEPS_TAKE, 0 };
	}
	if (!run_out->status)
		run_kernel(rig, method, &beside, run_out);
	check(rig, run_out);
}
