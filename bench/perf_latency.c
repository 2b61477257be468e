/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * `wic perf latency`: the host publishes, the warps resume and store, the host sees it.
 *
 *	wait-1, wait-32		1 or 32 warps of a block in wic_wait() for a signal
 *	request-1, request-32	the same in wic_request() for a page of data, released again
 *
 * back to back, and with 20 and 200 us between an answer and the next publish.  With 32
 * warps a sample ends with the store of the last one.  Baselines of the same run, pinned
 * the same way: as many threads at a futex; for one warp also a thread that spins.  A
 * value is the median over the repeats of each repeat's quantile (max: of all repeats).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wic/kernel.h>
#include <wic/wic.h>

#include "bench/host.h"
#include "bench/perf.h"
#include "bench/perf_idle.h"
#include "bench/perf_pair.h"
#include "lib/log.h"

#define TIMEOUT_NS WIC_S(20)
#define QUANTILES 5

static const double quantiles[QUANTILES] = { 0.5, 0.9, 0.99, 0.999, 1 };
static const char *const quantile_names[QUANTILES] = { "p50", "p90", "p99", "p99.9", "max" };

struct latency_case {
	bool has_data;
	uint32_t waiters;
	uint32_t gap_us;
};

static const struct latency_case cases[] = {
	{ false, 1, 0 },   { false, 1, 20 },   { false, 1, 200 }, { false, 32, 0 },
	{ false, 32, 20 }, { false, 32, 200 }, { true, 1, 0 },    { true, 1, 20 },
	{ true, 1, 200 },  { true, 32, 0 },    { true, 32, 20 },  { true, 32, 200 },
};
#define CASES (sizeof(cases) / sizeof(*cases))

/* Written by the warps, read by the host: alone in its line. */
struct latency_args {
	uint64_t arrived __attribute__((aligned(64)));
	struct wic_handle h __attribute__((aligned(64)));
	uint64_t epoch_base; /* epochs of this run follow it */
	uint32_t count;
	bool has_data;
	/* Results. */
	int status;
	uint32_t wrong;
};

struct subject {
	struct wic *w; /* owned */
	const struct latency_case *c;
	struct wic_channel *ch; /* owned by w */
	uint64_t epoch_base;
	uint64_t parks; /* of all repeats */
	struct latency_args args;
};

/* What is measured for one case: quantiles of each repeat, and a buffer for one. */
struct latency_series {
	struct bench_perf_samples futex[QUANTILES], spin[QUANTILES];
	double *wic_ns, *futex_ns, *spin_ns; /* owned, samples each */
};

WIC_DEVICE int latency_wait(struct latency_args *a, uint64_t epoch)
{
	void *data;
	int rc;

	if (!a->has_data)
		return wic_wait(&a->h, NULL, 0, epoch, TIMEOUT_NS);
	rc = wic_request(&a->h, NULL, 0, epoch, TIMEOUT_NS, &data);
	if (rc)
		return rc;
	if (*(volatile uint64_t *)data != epoch)
		wic_atomic_add_u32(&a->wrong, 1);
	return wic_release(&a->h, 0, epoch);
}

WIC_KERNEL(bench_latency_kernel, struct latency_args, a)
{
	/* The arguments are borrowed from wic_run(), which waits for us. */
	struct latency_args *out = (struct latency_args *)(uintptr_t)a;
	int rc = 0;

	for (uint32_t e = 1; e <= a->count && !rc; e++) {
		rc = latency_wait(out, a->epoch_base + e);
		if (rc)
			__atomic_store_n(&out->status, rc, __ATOMIC_RELAXED);
		else
			/* Pairs with the acquire in bench_ping_run(). */
			__atomic_fetch_add(&out->arrived, 1, __ATOMIC_RELEASE);
	}
}

static int wic_prepare(void *arg, uint64_t epoch)
{
	struct subject *s = arg;
	void *buffer;
	int rc = wic_stage(s->ch, 0, s->epoch_base + epoch, TIMEOUT_NS, &buffer);

	if (!rc)
		*(uint64_t *)buffer = s->epoch_base + epoch;
	return rc;
}

static int wic_publish_epoch(void *arg, uint64_t epoch)
{
	struct subject *s = arg;

	return wic_publish(s->ch, 0, s->epoch_base + epoch);
}

static int launch(struct subject *s, uint32_t count)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct latency_args *a = &s->args;

	memset(a, 0, sizeof(*a));
	a->h = wic_channel_handle(s->ch);
	a->epoch_base = s->epoch_base;
	a->count = count;
	a->has_data = s->c->has_data;
	l.kernel = bench_latency_kernel;
	l.args = a;
	l.block_threads = s->c->waiters * WIC_WARP_LANES;
	return wic_launch(s->w, &l);
}

/* One repeat: count publishes, ns each. */
static int wic_run(struct subject *s, double *ns_out, uint32_t count)
{
	struct bench_ping ping = {
		.arg = s,
		.prepare = s->c->has_data ? wic_prepare : NULL,
		.publish = wic_publish_epoch,
		.arrived = &s->args.arrived,
		.waiters = s->c->waiters,
		.gap_ns = WIC_US(s->c->gap_us),
	};
	int rc = launch(s, count), sync_rc;

	if (rc)
		return rc;
	rc = bench_ping_run(&ping, ns_out, count);
	/* After a failed publish the warps time out by themselves. */
	sync_rc = wic_sync(s->w, 2 * TIMEOUT_NS);
	s->epoch_base += count;
	if (s->args.status)
		return wic_fail(s->args.status, "latency: a wait in the kernel: %s",
				wic_strerror(s->args.status));
	if (s->args.wrong)
		return wic_fail(-EIO, "latency: %u waits saw other data", s->args.wrong);
	return rc ? rc : sync_rc;
}

static int pair_run(const struct latency_case *c, enum bench_pair_kind kind, double *ns_out,
		    uint32_t count)
{
	struct bench_pair pair = { .kind = kind, .waiters = c->waiters, .core = 0, .count = count };

	return bench_ping_pair(&pair, WIC_US(c->gap_us), ns_out);
}

static int run_repeat(struct subject *s, struct latency_series *x, uint32_t samples)
{
	int rc = wic_run(s, x->wic_ns, samples);

	if (rc) {
		bench_error("latency through wic failed: %s", wic_last_error());
		return rc;
	}
	rc = pair_run(s->c, BENCH_PAIR_FUTEX, x->futex_ns, samples);
	if (!rc && s->c->waiters == 1)
		rc = pair_run(s->c, BENCH_PAIR_SPIN, x->spin_ns, samples);
	if (rc)
		bench_error("threads at a futex failed: %s", strerror(-rc));
	return rc;
}

static void keep_quantiles(struct latency_series *x, uint32_t repeat, uint32_t samples)
{
	bench_sort(x->wic_ns, samples);
	bench_sort(x->futex_ns, samples);
	bench_sort(x->spin_ns, samples);
	for (int q = 0; q < QUANTILES; q++) {
		double value = bench_quantile_sorted(x->wic_ns, samples, quantiles[q]);

		x->futex[q].value[repeat] = value;
		x->spin[q].value[repeat] = value;
		x->futex[q].baseline[repeat] =
			bench_quantile_sorted(x->futex_ns, samples, quantiles[q]);
		x->spin[q].baseline[repeat] =
			bench_quantile_sorted(x->spin_ns, samples, quantiles[q]);
	}
}

static void add_row(struct bench_perf_table *t, const struct latency_case *c,
		    const struct bench_perf_samples *s, int q, const char *against,
		    uint32_t repeats)
{
	struct bench_perf_row *row = bench_perf_row_add(
		t, "latency", "us", "%s-%u/%uus/%s%s", c->has_data ? "request" : "wait", c->waiters,
		c->gap_us, quantile_names[q], against);

	bench_perf_row_finish(row, s, repeats, 1e-3);
	if (quantiles[q] < 1)
		return;
	/* The largest of all; a maximum has no interval. */
	row->value = bench_quantile(s->value, repeats, 1) * 1e-3;
	row->baseline = bench_quantile(s->baseline, repeats, 1) * 1e-3;
	row->ratio = (struct bench_interval){ NAN, NAN, NAN };
}

static void add_rows(struct bench_perf_table *t, const struct bench_perf_params *p,
		     const struct subject *s, const struct latency_series *x)
{
	const struct latency_case *c = s->c;
	double waits = (double)c->waiters * p->samples * (p->repeats + 1);

	for (int q = 0; q < QUANTILES; q++)
		add_row(t, c, &x->futex[q], q, "", p->repeats);
	bench_perf_row_note(&t->rows[t->count - QUANTILES],
			    "%.0f %% of the waits parked; baseline: %u thread%s at a futex",
			    100 * (double)s->parks / waits, c->waiters, c->waiters == 1 ? "" : "s");
	if (c->waiters != 1)
		return;
	add_row(t, c, &x->spin[0], 0, "/spin", p->repeats);
	bench_perf_row_note(&t->rows[t->count - 1], "baseline: a thread that spins");
}

static int channel_open(struct subject *s)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;

	d.tags = 1;
	d.readers = s->c->waiters;
	d.bytes_per_tag = s->c->has_data ? WIC_PAGE_BYTES : 0;
	s->epoch_base = 0;
	return wic_channel_create(s->w, &d, &s->ch);
}

static int measure_case(const struct bench_perf_params *p, struct subject *s,
			struct latency_series *x, struct bench_perf_table *t)
{
	struct wic_stats before = WIC_STATS_INIT, after = WIC_STATS_INIT;
	int rc = channel_open(s);

	if (!rc)
		rc = wic_stats_get(s->w, &before);
	if (rc) {
		bench_error("latency: no channel: %s", wic_last_error());
		return rc;
	}
	/* The first round warms all and is not counted. */
	for (int i = -1; i < (int)p->repeats && !rc; i++) {
		bench_progress("latency, %u waiters, %u us between: repeat %d of %u", s->c->waiters,
			       s->c->gap_us, i + 1, p->repeats);
		rc = run_repeat(s, x, p->samples);
		if (!rc && i >= 0)
			keep_quantiles(x, (uint32_t)i, p->samples);
	}
	bench_progress("%s", "");
	if (!rc)
		rc = wic_stats_get(s->w, &after);
	s->parks = after.parks - before.parks;
	if (!rc)
		add_rows(t, p, s, x);
	wic_channel_destroy(s->ch);
	return rc;
}

static int series_init(struct latency_series *x, uint32_t samples)
{
	x->wic_ns = calloc(samples, sizeof(double));
	x->futex_ns = calloc(samples, sizeof(double));
	x->spin_ns = calloc(samples, sizeof(double));
	return x->wic_ns && x->futex_ns && x->spin_ns ? 0 : -ENOMEM;
}

static void series_fini(struct latency_series *x)
{
	free(x->wic_ns);
	free(x->futex_ns);
	free(x->spin_ns);
}

int bench_perf_latency(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	static struct latency_series x;
	static struct subject s;
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct bench_pin pin;
	int rc;

	cfg.backend = p->backend;
	cfg.sms = 1;
	rc = wic_open(&cfg, &s.w);
	if (rc) {
		bench_error("cannot open a context: %s", wic_last_error());
		return rc;
	}
	rc = series_init(&x, p->samples);
	bench_pin_publisher(&pin);
	for (size_t i = 0; i < CASES && !rc; i++) {
		s.c = &cases[i];
		rc = measure_case(p, &s, &x, t);
	}
	bench_unpin(&pin);
	if (!rc)
		rc = bench_perf_idle(p, s.w, t);
	series_fini(&x);
	wic_close(s.w);
	return rc;
}
