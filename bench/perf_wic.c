/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * WIC's side of `wic perf cycle`, through the public API alone.  One SM, one block of
 * two warps: warp 0 is timed, warp 1 takes turns until it is done, so that the SM is
 * never idle and a waiter parks at once instead of looking first.
 */
#include "bench/perf.h"

#include <stdlib.h>
#include <string.h>

#include <wic/kernel.h>

#include "bench/host.h"
#include "lib/log.h"

#define TIMEOUT_NS WIC_S(10)
/* A line a flag and counter would be kinder to the baseline; the directory has 16 bytes. */
#define WORDS 2

struct perf_args {
	struct wic_handle h;
	uint64_t epoch;
	uint64_t *flags;    /* the hand-written loop's, WORDS a tag */
	uint64_t *counters; /* a tag */
	bool is_hit;
	/* Results. */
	uint64_t ns, bare_ns;
	uint32_t wrong;
	int status;
};

struct bench_perf_wic {
	struct wic *w;          /* owned */
	struct wic_channel *ch; /* owned */
	uint32_t tags;
	uint64_t epoch;
	uint64_t *flags, *counters; /* owned */
	struct perf_args args;
};

struct perf_shared {
	uint32_t done;
};

/* Ask for all tags; each is published and on no page, so each parks once. */
WIC_DEVICE int perf_request_all(struct perf_args *a, bool release)
{
	void *data;
	int rc = 0;

	for (uint32_t t = 0; t < a->h.tags && !rc; t++) {
		rc = wic_request(&a->h, NULL, t, a->epoch, TIMEOUT_NS, &data);
		if (rc)
			break;
		if (*(volatile uint32_t *)data != t)
			a->wrong++;
		if (release)
			rc = wic_release(&a->h, t, a->epoch);
	}
	return rc;
}

/* What a careful programmer writes where the data is there: look, use, count. */
WIC_DEVICE void perf_bare_hit(struct perf_args *a)
{
	uint32_t missed = 0;

	for (uint32_t t = 0; t < a->h.tags; t++) {
		uint64_t seen = __atomic_load_n(&a->flags[(size_t)t * WORDS], __ATOMIC_ACQUIRE);

		if (seen != a->epoch)
			missed++;
		__atomic_store_n(&a->counters[t], a->epoch, __ATOMIC_RELEASE);
	}
	a->wrong += missed;
}

WIC_DEVICE int perf_hit(struct perf_args *a)
{
	uint64_t start_ns, middle_ns, warm = 0;
	void *data;
	int rc;

	rc = perf_request_all(a, false);
	/* Both sides' words were last written on another core: fetch them first. */
	for (uint32_t t = 0; t < a->h.tags; t++)
		warm += __atomic_load_n(&a->h.dir[t].epoch, __ATOMIC_RELAXED) +
			__atomic_load_n(&a->flags[(size_t)t * WORDS], __ATOMIC_RELAXED) +
			__atomic_load_n(&a->counters[t], __ATOMIC_RELAXED);
	__asm__ volatile("" : : "r"(warm));
	start_ns = wic_now_ns();
	perf_bare_hit(a);
	middle_ns = wic_now_ns();
	for (uint32_t t = 0; t < a->h.tags && !rc; t++) {
		rc = wic_request(&a->h, NULL, t, a->epoch, TIMEOUT_NS, &data);
		if (!rc)
			rc = wic_release(&a->h, t, a->epoch);
	}
	a->ns = wic_now_ns() - middle_ns;
	a->bare_ns = middle_ns - start_ns;
	return rc;
}

WIC_KERNEL(bench_perf_kernel, struct perf_args, a)
{
	WIC_SHARED(struct perf_shared, shared);
	/* The arguments are borrowed from bench_perf_wic_run(), which waits for us. */
	struct perf_args *out = (struct perf_args *)(uintptr_t)a;
	uint64_t start_ns;

	if (wic_warp_id()) {
		while (!__atomic_load_n(&shared->done, __ATOMIC_RELAXED))
			WIC_TURN();
		return;
	}
	if (a->is_hit) {
		out->status = perf_hit(out);
	} else {
		start_ns = wic_now_ns();
		out->status = perf_request_all(out, true);
		out->ns = wic_now_ns() - start_ns;
	}
	__atomic_store_n(&shared->done, 1, __ATOMIC_RELAXED);
}

static int channel_open(struct bench_perf_wic *x)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;

	d.tags = x->tags;
	d.bytes_per_tag = WIC_PAGE_BYTES;
	x->flags = calloc((size_t)x->tags * WORDS, sizeof(*x->flags));
	x->counters = calloc(x->tags, sizeof(*x->counters));
	if (!x->flags || !x->counters)
		return wic_fail(-ENOMEM, "perf: no memory for %u tags", x->tags);
	return wic_channel_create(x->w, &d, &x->ch);
}

int bench_perf_wic_open(enum wic_mechanism mechanism, const struct bench_perf_params *p,
			struct bench_perf_wic **x_out)
{
	struct bench_perf_wic *x = calloc(1, sizeof(*x));
	struct wic_config cfg = WIC_CONFIG_INIT;
	int rc;

	if (!x)
		return wic_fail(-ENOMEM, "perf: no memory");
	cfg.backend = p->backend;
	cfg.mechanism = mechanism;
	cfg.sms = 1;
	cfg.pool_pages = BENCH_PERF_PAGES;
	cfg.close_batch = BENCH_PERF_CLOSE_BATCH;
	cfg.record_events = p->record_events;
	x->tags = p->tags;
	rc = wic_open(&cfg, &x->w);
	if (!rc)
		rc = channel_open(x);
	if (rc) {
		bench_perf_wic_close(x);
		return rc;
	}
	*x_out = x;
	return 0;
}

void bench_perf_wic_close(struct bench_perf_wic *x)
{
	wic_close(x->w);
	free(x->flags);
	free(x->counters);
	free(x);
}

static int fill(struct bench_perf_wic *x)
{
	int rc = 0;

	x->epoch++;
	for (uint32_t t = 0; t < x->tags && !rc; t++) {
		void *buffer;

		rc = wic_stage(x->ch, t, x->epoch, TIMEOUT_NS, &buffer);
		if (rc)
			break;
		for (uint32_t i = 0; i < WIC_PAGE_BYTES / sizeof(uint32_t); i++)
			((uint32_t *)buffer)[i] = t;
		rc = wic_publish(x->ch, t, x->epoch);
		__atomic_store_n(&x->flags[(size_t)t * WORDS], x->epoch, __ATOMIC_RELEASE);
	}
	return rc;
}

static int run(struct bench_perf_wic *x, bool is_hit)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct perf_args *a = &x->args;
	int rc = fill(x);

	if (rc)
		return rc;
	memset(a, 0, sizeof(*a));
	a->h = wic_channel_handle(x->ch);
	a->epoch = x->epoch;
	a->flags = x->flags;
	a->counters = x->counters;
	a->is_hit = is_hit;
	l.kernel = bench_perf_kernel;
	l.args = a;
	l.block_threads = 2 * WIC_WARP_LANES;
	l.shared_bytes = sizeof(struct perf_shared);
	rc = wic_launch(x->w, &l);
	if (!rc)
		rc = wic_sync(x->w, WIC_S(60));
	if (rc)
		return rc;
	if (a->status)
		return wic_fail(a->status, "perf: a request in the kernel: %s",
				wic_strerror(a->status));
	return a->wrong ? wic_fail(-EIO, "perf: %u pages hold other data", a->wrong) : 0;
}

int bench_perf_wic_cycle(struct bench_perf_wic *x, double *ns_out, double *faults_out)
{
	struct wic_stats before = { .size_bytes = sizeof(before) }, after = before;
	int rc;

	rc = wic_stats_get(x->w, &before);
	if (!rc)
		rc = run(x, false);
	if (!rc)
		rc = wic_stats_get(x->w, &after);
	if (rc)
		return rc;
	*ns_out = (double)x->args.ns / x->tags;
	*faults_out = (double)(after.faults - before.faults) / x->tags;
	return 0;
}

int bench_perf_wic_hit(struct bench_perf_wic *x, double *ns_out, double *bare_ns_out)
{
	int rc = run(x, true);

	if (rc)
		return rc;
	*ns_out = (double)x->args.ns / x->tags;
	*bare_ns_out = (double)x->args.bare_ns / x->tags;
	return 0;
}
