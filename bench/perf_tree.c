// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * `wic perf tree`: the interrupt tree of wic/tree.h over threads of the CPU, without contexts and
 * channels: what its steps cost where a park is a futex.  The baselines are threads that wait for
 * one word at a futex (rows of the case's name) and by looking all the time (".../spin").
 *
 *	watcher		publish -> the warp that watches has gone on
 *	parked		the same for one that parks; another of its block watches
 *	other-line	it watches, but the line is another block's: that one raises its word
 *	hand-over	publishes go to the watcher, who hands over to one that parks, whose
 *			publish is the next
 *	32-waiters	one publish, until all 32 warps of a block have gone on
 *	wait-word	a word without a line: wic_tree_wait_word()
 *
 * A watcher's turns end with a nap of a twentieth of what it has waited, so gaps between
 * publishes matter: back to back, and 200 us.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <wic/tree.h>

#include "bench/host.h"
#include "bench/perf.h"
#include "bench/perf_pair.h"
#include "lib/log.h"

#define WARPS_MAX 32
#define TIMEOUT_NS WIC_S(20)
#define QUANTILES 3
/* Which tag the threads that only keep a role wait for: its line's last. */
#define IDLE_TAG (WIC_TREE_LINE_TAGS - 1)

static const double quantiles[QUANTILES] = { 0.5, 0.9, 0.99 };
static const char *const quantile_names[QUANTILES] = { "p50", "p90", "p99" };

struct tree_case {
	const char *name;
	uint32_t waiters;   /* of block 0, who answer */
	bool alternate;     /* publishes go to two tags in turn; else all wait for tag 0 */
	bool is_word;       /* wic_tree_wait_word() */
	bool block_watches; /* one more warp of block 0 watches, for a tag that nobody publishes */
	bool line_is_taken; /* a warp of block 1 watches, for the line of tag 0 */
	uint32_t gap_us;
};

static const struct tree_case cases[] = {
	{ "watcher/0us", 1, false, false, false, false, 0 },
	{ "watcher/200us", 1, false, false, false, false, 200 },
	{ "parked/0us", 1, false, false, true, false, 0 },
	{ "parked/200us", 1, false, false, true, false, 200 },
	{ "other-line/0us", 1, false, false, false, true, 0 },
	{ "other-line/200us", 1, false, false, false, true, 200 },
	{ "hand-over/0us", 2, true, false, false, false, 0 },
	{ "hand-over/200us", 2, true, false, false, false, 200 },
	{ "32-waiters/0us", 32, false, false, false, false, 0 },
	{ "32-waiters/200us", 32, false, false, false, false, 200 },
	{ "wait-word/0us", 1, false, true, false, false, 0 },
	{ "wait-word/200us", 1, false, true, false, false, 200 },
};
#define CASES (sizeof(cases) / sizeof(*cases))

struct tree {
	/* "Host memory", a line each. */
	uint64_t truth[WIC_TREE_LINE_TAGS] __attribute__((aligned(128)));
	uint64_t control_truth[WIC_TREE_LINE_TAGS] __attribute__((aligned(128)));
	uint64_t end __attribute__((aligned(128)));
	struct wic_tree_line line __attribute__((aligned(256)));
	struct wic_tree_line control __attribute__((aligned(256)));
	struct wic_lot lots[2] __attribute__((aligned(128)));
	uint64_t arrived __attribute__((aligned(128)));
	const struct tree_case *c;
	uint32_t count; /* publishes */
	int status;     /* of a wait that failed */
};

struct tree_warp {
	struct tree *t;
	uint32_t block, warp;
	bool is_idle; /* answers nothing */
	pthread_t thread;
};

static int wait_once(const struct tree_warp *w, uint32_t tag, uint64_t epoch)
{
	struct tree *t = w->t;

	if (t->c->is_word)
		return wic_tree_wait_word(&t->lots[w->block], &t->truth[tag], epoch, TIMEOUT_NS, 1);
	return wic_tree_wait(&t->lots[w->block], &t->line, WIC_TREE_LINE_TAGS, tag, epoch,
			     TIMEOUT_NS, 1);
}

static void *warp_main(void *arg)
{
	const struct tree_warp *w = arg;
	struct tree *t = w->t;
	uint32_t tag = w->is_idle ? IDLE_TAG : t->c->alternate ? w->warp : 0;
	uint32_t step = t->c->alternate ? 2 : 1;
	struct bench_pin pin;
	int rc = 0;

	bench_pin_core(&pin, 0);
	wic_tree_thread_set(w->block, w->warp);
	if (w->is_idle) {
		(void)wait_once(w, tag, 1);
		return NULL;
	}
	for (uint64_t e = 1 + tag % step; e <= t->count && !rc; e += step) {
		rc = wait_once(w, tag, e);
		if (rc)
			__atomic_store_n(&t->status, rc, __ATOMIC_RELAXED);
		else
			/* Pairs with the acquire in bench_ping_run(). */
			__atomic_fetch_add(&t->arrived, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static int publish(void *arg, uint64_t epoch)
{
	struct tree *t = arg;
	uint32_t tag = t->c->alternate ? (uint32_t)(epoch - 1) % 2 : 0;

	wic_tree_say(&t->truth[tag], epoch);
	return 0;
}

static void tree_init(struct tree *t, const struct tree_case *c, uint32_t count)
{
	memset(t, 0, sizeof(*t));
	t->c = c;
	t->count = count;
	wic_tree_control_set(&t->control, &t->control, t->control_truth);
	wic_tree_line_set(&t->line, &t->line, t->truth, &t->end, &t->control);
	for (uint32_t i = 0; i < 2; i++)
		wic_tree_lot_init(&t->lots[i], WARPS_MAX);
}

/* Until the role is taken, so that it is clear who has it. */
static void wait_for_watcher(const struct tree *t, uint32_t block)
{
	while (!__atomic_load_n(&t->lots[block].watcher, __ATOMIC_ACQUIRE))
		bench_sleep_until(wic_now_ns() + 50000);
}

static int start(struct tree_warp *w, struct tree *t, uint32_t block, uint32_t warp, bool is_idle)
{
	int rc;

	*w = (struct tree_warp){ .t = t, .block = block, .warp = warp, .is_idle = is_idle };
	rc = -pthread_create(&w->thread, NULL, warp_main, w);
	if (!rc && is_idle)
		wait_for_watcher(t, block);
	return rc;
}

static int tree_run(struct tree *t, const struct tree_case *c, double *ns_out, uint32_t count)
{
	struct tree_warp warps[WARPS_MAX + 1];
	/* Where two publish in turn, one answers each. */
	struct bench_ping ping = {
		.arg = t,
		.publish = publish,
		.arrived = &t->arrived,
		.waiters = c->alternate ? 1 : c->waiters,
		.gap_ns = WIC_US(c->gap_us),
	};
	uint32_t started = 0;
	int rc = 0;

	tree_init(t, c, count);
	if (c->block_watches || c->line_is_taken) {
		rc = start(&warps[started], t, c->line_is_taken, c->waiters, true);
		started += !rc;
	}
	for (uint32_t i = 0; i < c->waiters && !rc; i++) {
		rc = start(&warps[started], t, 0, i, false);
		started += !rc;
	}
	if (!rc)
		rc = bench_ping_run(&ping, ns_out, count);
	/* Whoever still waits goes on. */
	for (uint32_t i = 0; i < WIC_TREE_LINE_TAGS; i++)
		wic_tree_say(&t->truth[i], WIC_EPOCH_LAST);
	while (started)
		pthread_join(warps[--started].thread, NULL);
	return rc ? rc : t->status;
}

struct tree_series {
	struct bench_perf_samples futex[QUANTILES], spin[QUANTILES];
	double *tree_ns, *pair_ns; /* owned, samples each */
};

static void keep(double *ns, uint32_t samples, struct bench_perf_samples *s, bool is_value,
		 uint32_t repeat)
{
	bench_sort(ns, samples);
	for (int q = 0; q < QUANTILES; q++)
		(is_value ? s[q].value : s[q].baseline)[repeat] =
			bench_quantile_sorted(ns, samples, quantiles[q]);
}

static int run_repeat(struct tree *t, const struct tree_case *c, struct tree_series *x,
		      uint32_t samples, uint32_t repeat)
{
	struct bench_pair futex = { .kind = BENCH_PAIR_FUTEX,
				    .waiters = c->alternate ? 1 : c->waiters,
				    .count = samples };
	struct bench_pair spin = { .kind = BENCH_PAIR_SPIN, .waiters = 1, .count = samples };
	int rc = tree_run(t, c, x->tree_ns, samples);

	if (rc)
		return rc;
	keep(x->tree_ns, samples, x->futex, true, repeat);
	keep(x->tree_ns, samples, x->spin, true, repeat);
	rc = bench_ping_pair(&futex, WIC_US(c->gap_us), x->pair_ns);
	keep(x->pair_ns, samples, x->futex, false, repeat);
	if (!rc && futex.waiters == 1)
		rc = bench_ping_pair(&spin, WIC_US(c->gap_us), x->pair_ns);
	keep(x->pair_ns, samples, x->spin, false, repeat);
	return rc;
}

static void add_rows(struct bench_perf_table *t, const struct tree_case *c,
		     const struct tree_series *x, uint32_t repeats)
{
	for (int q = 0; q < QUANTILES; q++) {
		struct bench_perf_row *row =
			bench_perf_row_add(t, "tree", "us", "%s/%s", c->name, quantile_names[q]);

		bench_perf_row_finish(row, &x->futex[q], repeats, 1e-3);
		if (c->waiters > 2)
			continue;
		row = bench_perf_row_add(t, "tree", "us", "%s/%s/spin", c->name, quantile_names[q]);
		bench_perf_row_finish(row, &x->spin[q], repeats, 1e-3);
	}
}

static int measure(const struct bench_perf_params *p, struct tree *tree, struct tree_series *x,
		   struct bench_perf_table *t)
{
	int rc = 0;

	for (size_t i = 0; i < CASES && !rc; i++) {
		for (uint32_t r = 0; r < p->repeats && !rc; r++) {
			bench_progress("tree: %s, repeat %u of %u", cases[i].name, r + 1,
				       p->repeats);
			rc = run_repeat(tree, &cases[i], x, p->samples, r);
		}
		bench_progress("%s", "");
		if (rc)
			bench_error("tree, case %s: %s", cases[i].name, wic_strerror(rc));
		else
			add_rows(t, &cases[i], x, p->repeats);
	}
	return rc;
}

int bench_perf_tree(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	struct tree *tree = aligned_alloc(256, sizeof(*tree));
	struct tree_series *x = calloc(1, sizeof(*x));
	struct bench_pin pin;
	int rc = -ENOMEM;

	if (x) {
		x->tree_ns = calloc(p->samples, sizeof(double));
		x->pair_ns = calloc(p->samples, sizeof(double));
	}
	bench_pin_publisher(&pin);
	if (tree && x && x->tree_ns && x->pair_ns)
		rc = measure(p, tree, x, t);
	else
		bench_error("tree: no memory for %u samples", p->samples);
	bench_unpin(&pin);
	if (x) {
		free(x->tree_ns);
		free(x->pair_ns);
	}
	free(x);
	free(tree);
	return rc;
}
