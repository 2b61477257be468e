/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * `wic perf interference`: the time of a fixed computation while other warps of the SM
 * wait / the same kernel with those warps at a plain barrier instead.
 *
 *	<work>/w<waiting warps>/t<distinct tags a block>/<mean|slowest>/<method>
 *
 * mean: of the times of the blocks' computing warps; slowest: from the first start to
 * the last end.  The clock starts once all waiters wait: for wic, when all are counted
 * as parked; for a polling method, when all have come and each block has looked.  What
 * is waited for is published after the last computing warp has finished.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host.h"
#include "bench/interference.h"
#include "bench/perf.h"
#include "lib/log.h"

#define METHODS 3
#define TIMEOUT_NS WIC_S(60)
/* For the Monitor to fall asleep and the last waiter to reach its barrier. */
#define SETTLE_NS WIC_MS(3)
#define TAG_BYTES 64
#define SM_WARPS 1024

static const char *const work_names[INTERFERENCE_WORKS] = { "fma", "stream", "l1", "gather" };

/* 32 and 1,000 waiting warps; one and 32 distinct tags a block. */
static const struct interference_shape shapes[] = {
	{ 1, 32, 1, 32 },
	{ 1, 32, 32, 1 },
	{ INTERFERENCE_BLOCKS, INTERFERENCE_WAITERS_MAX, 1, INTERFERENCE_WAITERS_MAX },
	{ INTERFERENCE_BLOCKS, INTERFERENCE_WAITERS_MAX, 32, 2 },
};
#define SHAPES (sizeof(shapes) / sizeof(*shapes))

WIC_STATIC_ASSERT(INTERFERENCE_BLOCKS *INTERFERENCE_BLOCK_WARPS <= SM_WARPS, "all resident");
WIC_STATIC_ASSERT(INTERFERENCE_BLOCKS *INTERFERENCE_WAITERS_MAX == 1000, "as the issue asks");

struct candidate {
	const struct method_ops *ops;
	void (*kernel)(const void *args);
	struct method *m; /* owned while a shape is measured */
	uint64_t epoch;
	struct bench_perf_samples mean, slowest;
};

struct subject {
	struct wic *w; /* owned */
	float *buffer; /* owned */
	const struct interference_shape *shape;
	enum interference_work work;
	uint32_t pieces;
	bool has_sum; /* sum is that of the first run of this work */
	float sum[INTERFERENCE_BLOCKS];
	struct candidate candidates[METHODS];
	struct interference_args args;
};

struct times {
	double mean_ns, slowest_ns;
};

static int stage_all(struct subject *s, struct candidate *c)
{
	uint32_t tags = s->shape->waiting_blocks * s->shape->tags;
	void *buffer;
	int rc = 0;

	c->epoch++;
	for (uint32_t t = 0; t < tags && !rc; t++) {
		rc = c->ops->stage(c->m, t, c->epoch, &buffer);
		if (!rc)
			*(uint64_t *)buffer = c->epoch;
	}
	return rc;
}

static int publish_all(struct subject *s, struct candidate *c)
{
	uint32_t tags = s->shape->waiting_blocks * s->shape->tags;
	int rc = 0;

	for (uint32_t t = 0; t < tags && !rc; t++)
		rc = c->ops->publish(c->m, t, c->epoch);
	return rc;
}

static int launch(struct subject *s, struct candidate *c, bool is_waiting)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct interference_args *a = &s->args;

	memset(a, 0, sizeof(*a));
	c->ops->args(c->m, &a->m);
	a->shape = *s->shape;
	a->epoch = c->epoch;
	a->buffer = s->buffer;
	a->work = s->work;
	a->pieces = s->pieces;
	a->is_waiting = is_waiting;
	l.kernel = c->kernel;
	l.args = a;
	l.grid_blocks = INTERFERENCE_BLOCKS;
	l.block_threads = INTERFERENCE_BLOCK_WARPS * WIC_WARP_LANES;
	l.shared_bytes = M_SHARED_BYTES_MAX(INTERFERENCE_BLOCK_WARPS);
	return wic_launch(s->w, &l);
}

/* Do all waiters wait?  @before: counters from before the launch. */
static bool all_wait(struct subject *s, const struct candidate *c, const struct wic_stats *before,
		     const struct wic_stats *now)
{
	uint32_t waiters = s->shape->waiting_blocks * s->shape->waiters;

	if (__atomic_load_n(&s->args.arrived, __ATOMIC_RELAXED) < waiters)
		return false;
	if (!s->args.is_waiting)
		return true;
	if (c->ops == &method_wic)
		return now->parks - before->parks >= waiters;
	return now->looks - before->looks >= s->shape->waiting_blocks;
}

static int wait_until_parked(struct subject *s, const struct candidate *c,
			     const struct wic_stats *before)
{
	uint64_t until_ns = wic_now_ns() + TIMEOUT_NS / 2;
	struct wic_stats now = WIC_STATS_INIT;
	int rc;

	do {
		bench_sleep_until(wic_now_ns() + WIC_US(200));
		rc = wic_stats_get(s->w, &now);
		if (!rc && wic_now_ns() > until_ns)
			rc = wic_fail(-ETIMEDOUT, "interference: not all warps came to wait");
	} while (!rc && !all_wait(s, c, before, &now));
	bench_sleep_until(wic_now_ns() + SETTLE_NS);
	return rc;
}

static int wait_until_finished(struct subject *s)
{
	uint64_t until_ns = wic_now_ns() + TIMEOUT_NS / 2;

	while (__atomic_load_n(&s->args.finished, __ATOMIC_ACQUIRE) < INTERFERENCE_BLOCKS) {
		if (wic_now_ns() > until_ns)
			return wic_fail(-ETIMEDOUT, "interference: the computation does not end");
		bench_sleep_until(wic_now_ns() + WIC_US(200));
	}
	return 0;
}

static int check_results(struct subject *s)
{
	struct interference_args *a = &s->args;

	if (a->status)
		return wic_fail(a->status, "interference: a wait: %s", wic_strerror(a->status));
	if (a->wrong)
		return wic_fail(-EIO, "interference: %u waits saw other data", a->wrong);
	if (!s->has_sum)
		memcpy(s->sum, a->sum, sizeof(s->sum));
	s->has_sum = true;
	if (memcmp(s->sum, a->sum, sizeof(s->sum)))
		return wic_fail(-EIO, "interference: two runs computed different sums");
	return 0;
}

static struct times digest(const struct interference_args *a)
{
	uint64_t first = UINT64_MAX, last = 0, sum = 0;

	for (uint32_t b = 0; b < INTERFERENCE_BLOCKS; b++) {
		first = a->start_ns[b] < first ? a->start_ns[b] : first;
		last = a->end_ns[b] > last ? a->end_ns[b] : last;
		sum += a->end_ns[b] - a->start_ns[b];
	}
	return (struct times){ (double)sum / INTERFERENCE_BLOCKS, (double)(last - first) };
}

static int run(struct subject *s, struct candidate *c, bool is_waiting, struct times *times_out)
{
	struct wic_stats before = WIC_STATS_INIT;
	int rc = is_waiting ? stage_all(s, c) : 0, end_rc = 0;

	if (!rc)
		rc = wic_stats_get(s->w, &before);
	if (!rc)
		rc = launch(s, c, is_waiting);
	if (rc)
		return rc;
	rc = wait_until_parked(s, c, &before);
	__atomic_store_n(&s->args.go, 1, __ATOMIC_RELEASE);
	if (!rc)
		rc = wait_until_finished(s);
	if (is_waiting)
		end_rc = publish_all(s, c);
	rc = rc ? rc : end_rc;
	/* Also after an error: the kernel has our arguments, and its waits are bounded. */
	end_rc = wic_sync(s->w, 2 * TIMEOUT_NS);
	rc = rc ? rc : end_rc;
	if (!rc)
		rc = check_results(s);
	*times_out = digest(&s->args);
	return rc;
}

/* A pair; who is first turns with the repeats. */
static int run_pair(struct subject *s, struct candidate *c, int repeat)
{
	struct times t[2]; /* at the barrier, waiting */
	int at = repeat < 0 ? 0 : repeat;
	bool first = at % 2;
	int rc = run(s, c, first, &t[first]);

	if (!rc)
		rc = run(s, c, !first, &t[!first]);
	if (rc) {
		bench_error("interference, %s: %s", c->ops->name, wic_last_error());
		return rc;
	}
	c->mean.value[at] = t[1].mean_ns;
	c->mean.baseline[at] = t[0].mean_ns;
	c->slowest.value[at] = t[1].slowest_ns;
	c->slowest.baseline[at] = t[0].slowest_ns;
	return 0;
}

static void add_row(const struct bench_perf_params *p, struct bench_perf_table *t,
		    const struct subject *s, const struct candidate *c, bool is_slowest)
{
	struct bench_perf_row *row =
		bench_perf_row_add(t, "interference", "us", "%s/w%u/t%u/%s/%s", work_names[s->work],
				   s->shape->waiting_blocks * s->shape->waiters, s->shape->tags,
				   is_slowest ? "slowest" : "mean", c->ops->name);

	bench_perf_row_finish(row, is_slowest ? &c->slowest : &c->mean, p->repeats, 1e-3);
}

static int measure_work(const struct bench_perf_params *p, struct subject *s,
			struct bench_perf_table *t)
{
	int rc = 0;

	s->has_sum = false;
	/* The first round warms all and is not counted. */
	for (int i = -1; i < (int)p->repeats && !rc; i++) {
		bench_progress("interference, %s, %u warps wait: repeat %d of %u",
			       work_names[s->work], s->shape->waiting_blocks * s->shape->waiters,
			       i + 1, p->repeats);
		for (int m = 0; m < METHODS && !rc; m++)
			rc = run_pair(s, &s->candidates[m], i);
	}
	bench_progress("%s", "");
	for (int slowest = 0; slowest < 2 && !rc; slowest++)
		for (int m = 0; m < METHODS; m++)
			add_row(p, t, s, &s->candidates[m], slowest);
	return rc;
}

static void close_methods(struct subject *s)
{
	for (int m = 0; m < METHODS; m++) {
		s->candidates[m].ops->close(s->candidates[m].m);
		s->candidates[m].m = NULL;
	}
}

static int measure_shape(const struct bench_perf_params *p, struct subject *s,
			 struct bench_perf_table *t)
{
	struct method_params mp = {
		.tags = s->shape->waiting_blocks * s->shape->tags,
		.readers = s->shape->readers,
		.bytes_per_tag = TAG_BYTES,
		.timeout_ns = TIMEOUT_NS,
	};
	int rc = 0;

	for (int m = 0; m < METHODS && !rc; m++) {
		struct candidate *c = &s->candidates[m];

		c->epoch = 0;
		rc = c->ops->open(s->w, &mp, &c->m);
		if (rc)
			bench_error("interference, %s: %s", c->ops->name, wic_last_error());
	}
	for (int work = 0; work < INTERFERENCE_WORKS && !rc; work++) {
		s->work = work;
		rc = measure_work(p, s, t);
	}
	close_methods(s);
	return rc;
}

static int subject_init(struct subject *s, const struct bench_perf_params *p)
{
	static const struct candidate all[METHODS] = {
		{ .ops = &method_naive, .kernel = bench_interference_kernel_naive },
		{ .ops = &method_leader, .kernel = bench_interference_kernel_leader },
		{ .ops = &method_wic, .kernel = bench_interference_kernel_wic },
	};
	struct wic_config cfg = WIC_CONFIG_INIT;

	memset(s, 0, sizeof(*s));
	memcpy(s->candidates, all, sizeof(all));
	s->pieces = p->work;
	s->buffer = aligned_alloc(WIC_PAGE_BYTES, INTERFERENCE_BUFFER_BYTES);
	if (!s->buffer)
		return wic_fail(-ENOMEM, "interference: no memory");
	for (size_t i = 0; i < INTERFERENCE_BUFFER_BYTES / sizeof(float); i++)
		s->buffer[i] = (float)(i % 251) * 0.001f;
	cfg.backend = p->backend;
	cfg.sms = 1;
	cfg.sm_warps = SM_WARPS;
	cfg.sm_blocks = INTERFERENCE_BLOCKS;
	return wic_open(&cfg, &s->w);
}

int bench_perf_interference(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	static struct subject s;
	struct bench_pin pin;
	int rc = subject_init(&s, p);

	if (rc)
		bench_error("cannot open a context: %s", wic_last_error());
	bench_pin_last(&pin);
	for (size_t i = 0; i < SHAPES && !rc; i++) {
		s.shape = &shapes[i];
		rc = measure_shape(p, &s, t);
	}
	bench_unpin(&pin);
	wic_close(s.w);
	free(s.buffer);
	return rc;
}
