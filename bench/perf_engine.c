/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * `wic perf engine`: the core alone, no threads, no pages behind the numbers.  How does
 * the cost of an input grow with the pool and with what is pending?
 *
 *	request		one request of one want with a page, and the TIMER it may give
 *	publish		its publish, up to the pulled REPLAY: FILL, filled, REPLAY, release
 *	.../scattered	the same with pages far from each other, which the pool gives to
 *			nobody: what the caches cost
 *	same-tag	both together, where all pending requests wait for later epochs of
 *			the tag that is asked for
 *	take+give	of 1 to 4 pages, in a pool half of whose usable pages are held at
 *			random, so that free runs are short
 *
 * The pending requests have tags, pages and deadlines of their own; timed requests lie
 * anywhere among the deadlines.  A repeat measures each size once; the ratio is that of
 * a size to the smallest of the same repeat.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host.h"
#include "bench/perf.h"
#include "core/engine.h"
#include "core/pool.h"
#include "lib/log.h"

#define ROUNDS 512u
#define ROUND 16u /* inputs timed together: the clock costs as much as one of them */
#define PAGES_OF_PENDING (1u << 18)
#define SIZES_MAX 16
#define HORIZON_NS WIC_S(1000)

enum cost {
	COST_REQUEST,
	COST_PUBLISH,
	COST_REQUEST_SCATTERED,
	COST_PUBLISH_SCATTERED,
	COST_SAME_TAG,
	COST_POOL,
	COSTS,
};

static const char *const cost_names[COSTS] = {
	"request", "publish", "request/scattered", "publish/scattered", "same-tag", "take+give",
};

/* What is timed together on an engine of its own. */
enum pass { PASS_NEAR, PASS_SCATTERED, PASS_SAME_TAG };

/* One size: pages of the pool, pending requests, and what it costs, a value a repeat. */
struct size {
	uint32_t pages;
	uint32_t pending;
	double ns[COSTS][BENCH_REPEATS_MAX];
};

struct subject {
	void *mem;            /* owned */
	struct wic_engine *e; /* in mem */
	const struct size *size;
	enum pass pass;
	uint32_t channel;
	uint32_t page;   /* the next to ask for; behind those of the pending */
	uint64_t epoch;  /* of the tags that are timed */
	uint64_t random; /* state of xorshift64 (Marsaglia 2003) */
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int ask(struct subject *s, uint64_t cookie, const struct wic_want *want)
{
	struct wic_request r = { cookie, next_random(&s->random) % HORIZON_NS, s->channel, 1,
				 want };

	return wic_engine_request(s->e, &r, 1, 0);
}

/* Whatever is queued but REPLAY must be a TIMER here. */
static int pull_timers(struct subject *s)
{
	struct wic_action a;

	while (wic_engine_next(s->e, &a))
		if (a.kind != WIC_ACTION_TIMER)
			return -EIO;
	return 0;
}

/* Take actions to the end of one request, and free its pages.  -EIO: another end. */
static int finish(struct subject *s, uint64_t cookie)
{
	struct wic_action a;
	bool is_done = false;
	int rc = 0;

	while (!rc && wic_engine_next(s->e, &a)) {
		if (a.kind == WIC_ACTION_FILL) {
			rc = wic_engine_filled(s->e, a.run.first, 0);
		} else if (a.kind == WIC_ACTION_REPLAY) {
			if (is_done || a.status || a.cookie != cookie)
				return -EIO;
			is_done = true;
			if (a.run.first != WIC_PAGE_NONE)
				rc = wic_engine_release(s->e, a.run.first);
		}
	}
	return rc || is_done ? rc : -EIO;
}

static void subject_fini(struct subject *s)
{
	free(s->mem);
}

/* PASS_SAME_TAG: all pending requests wait for tag 0, without pages. */
static int subject_init(struct subject *s, const struct size *size, enum pass pass)
{
	struct wic_engine_params p = {
		.channels_max = 1,
		.tags_max = size->pending + ROUND,
		.requests_max = size->pending + ROUND,
		.wants_max = size->pending + ROUND,
		.pages = size->pages,
	};
	size_t bytes = wic_engine_bytes(&p);
	int rc;

	memset(s, 0, sizeof(*s));
	s->size = size;
	s->pass = pass;
	s->random = 88172645463325252ull;
	s->mem = bytes ? aligned_alloc(16, (bytes + 15) & ~(size_t)15) : NULL;
	if (!s->mem)
		return -ENOMEM;
	/* Touched here, so that no input pays for it. */
	memset(s->mem, 0xa5, bytes);
	rc = wic_engine_init(s->mem, bytes, &p, &s->e);
	if (!rc)
		rc = wic_engine_open(s->e, p.tags_max, true, &s->channel);
	for (uint32_t i = 0; i < size->pending && !rc; i++) {
		struct wic_want want = { 1, i, i, 1 };

		if (pass == PASS_SAME_TAG)
			want = (struct wic_want){ WIC_EPOCH_LAST - i, 0, WIC_PAGE_NONE, 0 };
		rc = ask(s, i, &want);
		if (!rc)
			rc = pull_timers(s);
	}
	return rc;
}

/*
 * In the order of their numbers, as the pool gives them; or all pages in turn, each far
 * from the one before (Fibonacci hashing, Knuth, TAOCP 3, 6.4): the pool is a power of
 * two and the step is odd, so none comes twice in a lap.
 */
static uint32_t next_page(struct subject *s)
{
	do
		s->page += s->pass == PASS_SCATTERED ? 2654435769u : 1u;
	while ((s->page & (s->size->pages - 1)) < s->size->pending);
	return s->page & (s->size->pages - 1);
}

static int round_own_tags(struct subject *s, uint64_t *ns)
{
	uint64_t start_ns = wic_now_ns(), middle_ns;
	int rc = 0;

	for (uint32_t i = 0; i < ROUND && !rc; i++) {
		uint32_t tag = s->size->pending + i;
		struct wic_want want = { s->epoch, tag, next_page(s), 1 };

		rc = ask(s, tag, &want);
		if (!rc)
			rc = pull_timers(s);
	}
	middle_ns = wic_now_ns();
	for (uint32_t i = 0; i < ROUND && !rc; i++) {
		uint32_t tag = s->size->pending + i;

		rc = wic_engine_publish(s->e, s->channel, tag, 1, s->epoch);
		if (!rc)
			rc = finish(s, tag);
	}
	ns[0] += middle_ns - start_ns;
	ns[1] += wic_now_ns() - middle_ns;
	return rc;
}

static int round_same_tag(struct subject *s, uint64_t *ns)
{
	uint64_t start_ns = wic_now_ns();
	int rc = 0;

	for (uint32_t i = 0; i < ROUND && !rc; i++, s->epoch++) {
		struct wic_want want = { s->epoch, 0, WIC_PAGE_NONE, 0 };

		rc = ask(s, s->size->pending, &want);
		if (!rc)
			rc = pull_timers(s);
		if (!rc)
			rc = wic_engine_publish(s->e, s->channel, 0, 1, s->epoch);
		if (!rc)
			rc = finish(s, s->size->pending);
	}
	ns[0] += wic_now_ns() - start_ns;
	return rc;
}

static int measure_engine(struct size *size, uint32_t repeat, enum pass pass)
{
	static const enum cost first[] = { COST_REQUEST, COST_REQUEST_SCATTERED, COST_SAME_TAG };
	uint64_t ns[2] = { 0, 0 };
	struct subject s;
	int rc = subject_init(&s, size, pass);

	/* The first rounds warm the caches and are not counted. */
	for (uint32_t i = 0; i < ROUNDS + ROUNDS / 8 && !rc; i++) {
		if (i == ROUNDS / 8)
			memset(ns, 0, sizeof(ns));
		s.epoch++;
		rc = pass == PASS_SAME_TAG ? round_same_tag(&s, ns) : round_own_tags(&s, ns);
	}
	subject_fini(&s);
	size->ns[first[pass]][repeat] = (double)ns[0] / (ROUNDS * ROUND);
	if (pass != PASS_SAME_TAG)
		size->ns[first[pass] + 1][repeat] = (double)ns[1] / (ROUNDS * ROUND);
	return rc;
}

static int close_all(struct wic_pool *pool)
{
	struct wic_run run;
	int rc = 0;

	while (!rc && wic_pool_close_next(pool, &run))
		rc = wic_pool_closed(pool, run);
	return rc;
}

/* Take every page, then give about half of them back, chosen at random. */
static int pool_fragment(struct wic_pool *pool, uint64_t *random)
{
	uint32_t usable = wic_pool_usable(pool);
	struct wic_run run = { 0, 0 };
	int rc = wic_pool_take(pool, usable, &run);

	for (uint32_t i = 0; i < usable && !rc; i++) {
		struct wic_run one = { run.first + i, 1 };

		if (next_random(random) >> 32 & 1)
			rc = wic_pool_give(pool, one);
	}
	return rc ? rc : close_all(pool);
}

static int pool_round(struct wic_pool *pool, uint64_t *ns)
{
	struct wic_run runs[ROUND];
	uint64_t start_ns = wic_now_ns();
	int rc = 0;

	for (uint32_t i = 0; i < ROUND && !rc; i++)
		rc = wic_pool_take(pool, 1 + i % 4, &runs[i]);
	for (uint32_t i = 0; i < ROUND && !rc; i++)
		rc = wic_pool_give(pool, runs[i]);
	*ns += wic_now_ns() - start_ns;
	return rc ? rc : close_all(pool);
}

static int measure_pool(struct size *size, uint32_t repeat)
{
	struct wic_pool_params p = { size->pages, 1 };
	size_t bytes = wic_pool_bytes(&p);
	void *mem = bytes ? aligned_alloc(16, (bytes + 15) & ~(size_t)15) : NULL;
	uint64_t random = 88172645463325252ull, ns = 0;
	struct wic_pool *pool;
	int rc;

	if (!mem)
		return -ENOMEM;
	memset(mem, 0xa5, bytes);
	rc = wic_pool_init(mem, bytes, &p, &pool);
	if (!rc)
		rc = pool_fragment(pool, &random);
	for (uint32_t i = 0; i < ROUNDS + ROUNDS / 8 && !rc; i++) {
		if (i == ROUNDS / 8)
			ns = 0;
		rc = pool_round(pool, &ns);
	}
	free(mem);
	size->ns[COST_POOL][repeat] = (double)ns / (ROUNDS * ROUND);
	return rc;
}

/* The pool knows no pending requests, and same-tag asks for no pages. */
static const bool costs_of_pages[COSTS] = {
	[COST_REQUEST] = true,           [COST_PUBLISH] = true, [COST_REQUEST_SCATTERED] = true,
	[COST_PUBLISH_SCATTERED] = true, [COST_POOL] = true,
};
static const bool costs_of_pending[COSTS] = {
	[COST_REQUEST] = true,
	[COST_PUBLISH] = true,
	[COST_SAME_TAG] = true,
};

static int measure_size(struct size *size, uint32_t repeat, bool over_pages)
{
	int rc = measure_engine(size, repeat, PASS_NEAR);

	if (rc)
		return rc;
	if (!over_pages)
		return measure_engine(size, repeat, PASS_SAME_TAG);
	rc = measure_engine(size, repeat, PASS_SCATTERED);
	return rc ? rc : measure_pool(size, repeat);
}

static void add_rows(struct bench_perf_table *t, const struct bench_perf_params *p,
		     const struct size *sizes, uint32_t count, bool over_pages)
{
	static struct bench_perf_samples s;

	for (int c = 0; c < COSTS; c++) {
		if (!(over_pages ? costs_of_pages : costs_of_pending)[c])
			continue;
		memcpy(s.baseline, sizes[0].ns[c], sizeof(s.baseline));
		for (uint32_t i = 0; i < count; i++) {
			memcpy(s.value, sizes[i].ns[c], sizeof(s.value));
			bench_perf_row_finish(
				bench_perf_row_add(t, "engine", "ns", "%s/%s-%u", cost_names[c],
						   over_pages ? "pages" : "pending",
						   over_pages ? sizes[i].pages : sizes[i].pending),
				&s, p->repeats, 1);
		}
	}
}

static int sweep(const struct bench_perf_params *p, struct bench_perf_table *t, bool over_pages)
{
	static struct size sizes[SIZES_MAX];
	uint32_t first = over_pages ? BENCH_PERF_PAGES_FIRST : BENCH_PERF_PENDING_FIRST;
	uint32_t last = over_pages ? p->pages_max : p->pending_max;
	uint32_t count = 0;
	int rc = 0;

	for (uint32_t n = first; n <= last && count < SIZES_MAX; n *= 4, count++) {
		sizes[count].pages = over_pages ? n : PAGES_OF_PENDING;
		sizes[count].pending = over_pages ? BENCH_PERF_PENDING_FIRST : n;
	}
	for (uint32_t r = 0; r < p->repeats && !rc; r++) {
		bench_progress("engine over %s: repeat %u of %u", over_pages ? "pages" : "pending",
			       r + 1, p->repeats);
		for (uint32_t i = 0; i < count && !rc; i++)
			rc = measure_size(&sizes[i], r, over_pages);
	}
	bench_progress("%s", "");
	if (rc)
		bench_error("the core did not do what was asked: %s", strerror(-rc));
	else
		add_rows(t, p, sizes, count, over_pages);
	return rc;
}

int bench_perf_engine(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	struct bench_pin pin;
	int rc;

	bench_pin_core(&pin, 0);
	rc = sweep(p, t, true);
	if (!rc)
		rc = sweep(p, t, false);
	bench_unpin(&pin);
	return rc;
}
