/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/scale.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench/rig.h"

/* More tags than this say nothing new and make producing them the bottleneck. */
#define TAGS_MAX 8192
/* With the fewest tags a size may take this much longer than wanted before it is made smaller. */
#define TOO_LONG 1.1
/* Items of a shorter side than this are those of the next smaller size. */
#define SIDE_PERCENT_MIN 50

static const char *const size_names[] = { "tiny", "small", "default", "large" };

const char *bench_size_name(int size)
{
	return size_names[size];
}

int bench_size_parse(const char *name)
{
	for (int i = 0; i < (int)(sizeof(size_names) / sizeof(*size_names)); i++)
		if (!strcmp(name, size_names[i]))
			return i;
	return -EINVAL;
}

struct trial {
	uint64_t bare_ns;
	uint64_t bytes_per_tag;
	uint32_t tags;
	bool is_gpu;
};

/* The shortest of three runs: the first pays for first touches, others for neighbours. */
static int try_size(const struct bench_options *o, const struct app_ops *app,
		    const struct bench_scale *scale, struct trial *trial_out)
{
	struct bench_rig_params p = {
		.options = o,
		.app = app,
		.size = scale->size,
		.side_percent = scale->side_percent,
		.tags = o->tags ? o->tags : BENCH_TAGS_MIN,
		.turn_percent = o->turns_percent[0],
	};
	struct bench_rig rig;
	struct bench_run run;
	uint64_t prod_ns;
	int rc;

	rc = bench_rig_open(&rig, &p);
	if (rc)
		return rc;
	trial_out->bare_ns = UINT64_MAX;
	for (int i = 0; i < 3 && !rc; i++) {
		bench_rig_bare(&rig, 0, &prod_ns, &run);
		rc = run.status;
		/* A run takes as long as the slower side; of a GPU that is often the host. */
		if (rig.is_gpu && !app->is_self_paced && prod_ns > run.time_ns)
			run.time_ns = prod_ns;
		if (run.time_ns < trial_out->bare_ns)
			trial_out->bare_ns = run.time_ns;
	}
	if (rc) {
		bench_error("%s without any method does not run: %s", app->name, run.why);
	} else {
		trial_out->bytes_per_tag = rig.shape->bytes_per_tag;
		trial_out->tags = rig.shape->tags;
		trial_out->is_gpu = rig.is_gpu;
	}
	bench_rig_close(&rig);
	return rc;
}

/*
 * Staging and device memory of each method, the same for the application, and all of
 * it once more for the recorded runs.  On a GPU the methods share one buffer.
 */
static double tags_in_memory(const struct bench_options *o, const struct trial *t)
{
	double copies = t->is_gpu ? 4.0 : 4.0 * (o->method_count + 2);

	return (double)bench_memory_budget_bytes() / (copies * (double)(t->bytes_per_tag + 1));
}

static uint32_t tags_that_fit(const struct bench_options *o, const struct trial *t)
{
	return (uint32_t)fmin(TAGS_MAX, tags_in_memory(o, t));
}

/* Applications share the budget, and the first point of each is never cut. */
static double bare_ns_wanted(const struct bench_options *o)
{
	double part = fmax(1, o->budget_s / BENCH_BUDGET_S) / o->app_count;

	return BENCH_BARE_NS * fmin(1, part);
}

/*
 * Of a side, so that T_bare is what is wanted and the tags fit memory; over 100: it is as
 * it is.  Work grows with a power of the side, a tag with its square.  0: this application
 * has sizes only.
 */
static uint32_t percent_wanted(const struct bench_options *o, const struct app_ops *app,
			       const struct trial *t)
{
	double time = bare_ns_wanted(o) / (double)t->bare_ns;
	double memory = tags_in_memory(o, t) / t->tags;

	if (time >= 1 / TOO_LONG && memory >= 1)
		return 101;
	if (!app->side_power)
		return 0;
	return (uint32_t)(100 * fmin(1, fmin(pow(time, 1.0 / app->side_power), sqrt(memory))));
}

/* From the default size down: a shorter side first, then the next smaller size. */
static int find_size(const struct bench_options *o, const struct app_ops *app,
		     struct bench_scale *scale, struct trial *t)
{
	bool is_auto = o->size == BENCH_SIZE_AUTO;
	uint32_t percent;
	int rc;

	scale->size = is_auto ? APP_DEFAULT : o->size;
	scale->side_percent = 100;
	for (;; scale->size--) {
		bench_progress("%s: choosing a size (%s)", app->name, bench_size_name(scale->size));
		rc = try_size(o, app, scale, t);
		if (rc || !is_auto)
			return rc;
		percent = percent_wanted(o, app, t);
		if (percent > 100)
			return 0;
		if (percent >= SIDE_PERCENT_MIN || scale->size == APP_TINY)
			break;
	}
	if (scale->size == APP_TINY)
		return 0;
	scale->side_percent = percent;
	return try_size(o, app, scale, t);
}

/* As many tags as make T_bare what is wanted, where that is more than the fewest. */
static const char *choose_tags(const struct bench_options *o, const struct trial *t,
			       struct bench_scale *scale)
{
	double want = (double)t->tags * bare_ns_wanted(o) / (double)t->bare_ns;
	uint32_t fit = tags_that_fit(o, t);
	const char *bound = "";

	scale->tags = t->tags;
	if (o->tags)
		return bound;
	if (want > fit) {
		want = fit;
		bound = fit == TAGS_MAX ? ", as many as useful" : ", bound by memory";
	}
	if (want > t->tags * 1.1)
		scale->tags = (uint32_t)want;
	return bound;
}

int bench_scale_choose(const struct bench_options *o, const struct app_ops *app,
		       struct bench_scale *scale_out)
{
	char side[48] = "";
	const char *bound;
	struct trial t;
	int rc;

	memset(scale_out, 0, sizeof(*scale_out));
	if (o->tags && o->size != BENCH_SIZE_AUTO) {
		scale_out->size = o->size;
		scale_out->tags = o->tags;
		snprintf(scale_out->text, sizeof(scale_out->text),
			 "size %s, at least %u tags, as asked", bench_size_name(o->size), o->tags);
		return 0;
	}
	rc = find_size(o, app, scale_out, &t);
	bench_progress("%s", "");
	if (rc)
		return rc;
	bound = choose_tags(o, &t, scale_out);
	/* Of a GPU it may be the producer's time that was taken. */
	if (!t.is_gpu)
		scale_out->bare_ms = (double)t.bare_ns / 1e6 * scale_out->tags / t.tags;
	if (scale_out->side_percent != 100)
		snprintf(side, sizeof(side), " with sides of %u %%", scale_out->side_percent);
	snprintf(scale_out->text, sizeof(scale_out->text),
		 "size %s%s, %u tags of %llu bytes (%s was %.0f ms with %u%s)",
		 bench_size_name(scale_out->size), side, scale_out->tags,
		 (unsigned long long)t.bytes_per_tag,
		 t.is_gpu ? "the longer of T_bare and T_prod" : "T_bare", (double)t.bare_ns / 1e6,
		 t.tags, bound);
	return 0;
}
