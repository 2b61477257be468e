/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A small world for the exhaustive tests: the engine and the pool as they are, a back-end in
 * miniature around them, and a *ghost*, which knows what the contract asks for.
 *
 *	script --> steps: ask, publish, cancel, ...    (given by the script, each once, any time)
 *	                  post, pull, filled, serve ...  (the back-end's own, whenever possible)
 *
 * A step is one input of the engine or the pool, or one action pulled; a FILL or an INVALIDATE
 * is completed by a step of its own, so any other step may come between.  All there is lies in
 * one struct world, with no pointers out of it, so that a copy put back at the same address
 * is the same world again.
 *
 * The ghost decides after each input what must have become of each request, from the words of
 * engine.h and of the contract alone; it knows no queue, heap, tree, list or slot.  CONTRACT()
 * names the point of the contract that a check belongs to:
 *
 *	1 no lost wake-up	3 no torn or recycled data	5 ends once, in time, documented
 *	2 no early wake-up	4 epochs only grow		7 in order, nobody passed over
 */
#ifndef WIC_CORE_EXHAUSTIVE_MODEL_H
#define WIC_CORE_EXHAUSTIVE_MODEL_H

#include "core/engine_types.h"
#include "core/pool_types.h"

#include "tests/test.h"

#define X_ASKS 3u
#define X_WANTS 2u
#define X_PUBLISHES 3u
#define X_TICKS 2u
#define X_TAGS 2u
#define X_PAGES 8u
#define X_MEM_BYTES 4096u
#define X_DEPTH_MAX 64u

/* --- the script -------------------------------------------------------------- */

struct x_want {
	uint32_t tag;
	uint32_t epoch; /* 1 and up, counted from the script's base */
	uint32_t pages; /* 0: no data wanted */
};

struct x_ask {
	uint32_t wants;
	struct x_want want[X_WANTS];
	uint64_t deadline_ns; /* 0: never */
};

struct x_publish {
	uint32_t tag;
	uint32_t tags;
	uint32_t epoch;
};

struct x_script {
	uint64_t base;        /* published on all tags before the first step */
	uint32_t pages;       /* of the pool, partners included; 0: no data at all */
	uint32_t close_batch; /* of the pool */
	uint32_t slots;       /* requests that the PFQ holds */
	bool is_split; /* between pages and notice other steps may come; notices in batches */
	uint32_t asks;
	struct x_ask ask[X_ASKS];
	uint32_t publishes;
	struct x_publish publish[X_PUBLISHES];
	uint32_t ticks;
	uint64_t tick_ns[X_TICKS]; /* growing */
	uint32_t cancels;          /* a bit for each ask that may be cancelled */
	uint32_t deaths;           /* tags [0, deaths) lose their owner */
	uint32_t fails;            /* fills that may fail */
	uint32_t faults;           /* faults, of any ask with pages */
	bool closes;               /* the channel may be closed */
	uint32_t ends;             /* a bit for each enum x_end that must be seen somewhere */
};

/* How requests ended, for the script's "must be seen". */
enum x_end { X_OK, X_TIMEDOUT, X_CANCELED, X_OWNERDEAD, X_INVALID, X_IO, X_ENDS };
#define X_BIT(end) (1u << (end))

static const int x_end_status[X_ENDS] = { 0, -ETIMEDOUT, -ECANCELED, -EOWNERDEAD, -EINVAL, -EIO };

/* --- the world --------------------------------------------------------------- */

enum x_ask_state {
	X_NEW,
	X_QUEUED, /* in the pool's FIFO */
	X_HAS,    /* has its pages; not posted */
	X_POSTED, /* the engine has it */
	X_ENDED,  /* final REPLAY pulled; its pages are not released */
	X_DONE,
};

enum x_verdict { X_OPEN, X_GOOD, X_BAD };

struct x_ghost_ask {
	uint32_t state;        /* enum x_ask_state */
	uint32_t verdict;      /* enum x_verdict: what the engine must have decided by now */
	int32_t doom;          /* the status it ends with unless all comes after all; 0 */
	int32_t status;        /* ENDED */
	uint32_t is_lost;      /* a bit for each want that cannot come any more */
	uint32_t run[X_WANTS]; /* of wants with pages: first page of its run */
	uint32_t is_standing;  /* a warp of it stands at a page */
	uint32_t group;        /* decided by which input */
};

enum x_run_state { X_RUN_NONE, X_RUN_WANTED, X_RUN_FILLING, X_RUN_COPYING, X_RUN_FILLED };

struct x_ghost_run {
	uint64_t epoch;
	uint32_t tag;
	uint32_t count;
	uint32_t refs; /* asks that have not released it */
	uint32_t state;
};

struct x_ghost_page {
	uint64_t epoch; /* whose data lies here; 0: none */
	uint32_t tag;
	uint32_t state;           /* enum wic_page_state */
	uint32_t is_open;         /* a warp could touch it and would not stop */
	uint32_t closing;         /* first of a run that is being closed: its length */
	uint32_t is_closing_seen; /* its INVALIDATE was pulled */
	uint32_t pad;
};

/* A queue of asks, oldest first. */
struct x_list {
	uint32_t count;
	uint32_t ask[X_ASKS];
};

struct world {
	struct wic_engine *e;
	struct wic_pool *pool;
	struct wic_pool_waiter waiter[X_ASKS];
	uint64_t epoch[X_TAGS];
	uint64_t filled[X_TAGS];
	uint64_t now;
	uint64_t armed;
	struct x_ghost_ask ask[X_ASKS];
	struct x_ghost_run run[X_PAGES];
	struct x_ghost_page page[X_PAGES];
	struct x_list fifo;     /* QUEUED */
	struct x_list unposted; /* HAS */
	struct x_list posted;   /* POSTED */
	struct x_list line;     /* POSTED, decided: their REPLAYs come in this order */
	uint32_t used;          /* steps of the script: a bit each */
	uint32_t died;          /* tags */
	uint32_t ticks;
	uint32_t fails;
	uint32_t faults;
	uint32_t is_closed;
	_Alignas(16) unsigned char mem[X_MEM_BYTES]; /* engine, then pool */
};

static struct world x_world; /* at one address, whatever is copied in */
static const struct x_script *x_script;
static size_t x_world_bytes; /* used of struct world */
static uint32_t x_ends_seen; /* X_BIT() of how requests ended in any interleaving */

/* --- steps and failures ------------------------------------------------------ */

enum x_step_kind {
	X_STEP_ASK,
	X_STEP_PUBLISH,
	X_STEP_TICK,
	X_STEP_CANCEL,
	X_STEP_DIE,
	X_STEP_CLOSE,
	X_STEP_FAULT,
	X_STEP_RELEASE,
	X_STEP_FILL_FAILED,
	/* From here on the back-end's duty: while one of them is possible, nothing is settled. */
	X_STEP_POST,
	X_STEP_PULL,
	X_STEP_FILLED,
	X_STEP_INVALIDATED,
	X_STEP_SERVE,
	X_STEP_RETIRE,
	X_STEP_KINDS,
};

static const struct {
	const char *name;
	uint32_t count;
} x_step_kinds[X_STEP_KINDS] = {
	[X_STEP_ASK] = { "ask", X_ASKS },
	[X_STEP_PUBLISH] = { "publish", X_PUBLISHES },
	[X_STEP_TICK] = { "tick", 1 },
	[X_STEP_CANCEL] = { "cancel", X_ASKS },
	[X_STEP_DIE] = { "die", 1 },
	[X_STEP_CLOSE] = { "close", 1 },
	[X_STEP_FAULT] = { "fault", X_ASKS },
	[X_STEP_RELEASE] = { "release", X_ASKS },
	[X_STEP_FILL_FAILED] = { "fill-failed", X_PAGES },
	[X_STEP_POST] = { "post", X_ASKS },
	[X_STEP_PULL] = { "pull", 1 },
	[X_STEP_FILLED] = { "filled", X_PAGES },
	[X_STEP_INVALIDATED] = { "invalidated", X_PAGES },
	[X_STEP_SERVE] = { "serve", 1 },
	[X_STEP_RETIRE] = { "retire", 1 },
};

struct x_step {
	enum x_step_kind kind;
	uint32_t i;
};

static struct x_step x_trace[X_DEPTH_MAX]; /* from the beginning to where we are */
static uint32_t x_trace_length;

static inline void x_trace_print(void)
{
	uint32_t i;

	fprintf(stderr, "steps:");
	for (i = 0; i < x_trace_length; i++)
		fprintf(stderr, " %s %u", x_step_kinds[x_trace[i].kind].name, x_trace[i].i);
	fprintf(stderr, "\n");
}

#define X_CHECK(what, x)                                                   \
	do {                                                               \
		if (!(x)) {                                                \
			x_trace_print();                                   \
			test_fail(__FILE__, __LINE__, what ": " #x, 0, 1); \
		}                                                          \
	} while (0)
#define CONTRACT(point, x) X_CHECK("contract " #point, x)

static inline void x_list_add(struct x_list *l, uint32_t i)
{
	l->ask[l->count++] = i;
}

/* True when it was there. */
static inline bool x_list_remove(struct x_list *l, uint32_t i)
{
	uint32_t k = 0;

	while (k < l->count && l->ask[k] != i)
		k++;
	if (k == l->count)
		return false;
	for (l->count--; k < l->count; k++)
		l->ask[k] = l->ask[k + 1];
	l->ask[l->count] = 0;
	return true;
}

/* --- ghost: what must have become of the requests ---------------------------- */

static inline uint64_t x_epoch(const struct x_want *want)
{
	return x_script->base + want->epoch;
}

static inline uint64_t x_deadline(uint32_t i)
{
	return x_script->ask[i].deadline_ns ? x_script->ask[i].deadline_ns : WIC_DEADLINE_NEVER;
}

static inline bool x_is_got(const struct world *w, uint32_t i, uint32_t k)
{
	const struct x_want *want = &x_script->ask[i].want[k];

	if (w->ask[i].is_lost >> k & 1)
		return false;
	if (want->pages)
		return w->run[w->ask[i].run[k]].state == X_RUN_FILLED;
	return w->epoch[want->tag] >= x_epoch(want);
}

static inline bool x_is_filling(const struct world *w, uint32_t i, uint32_t k)
{
	const struct x_ghost_run *run = &w->run[w->ask[i].run[k]];

	return x_script->ask[i].want[k].pages && !(w->ask[i].is_lost >> k & 1) &&
	       (run->state == X_RUN_FILLING || run->state == X_RUN_COPYING);
}

/* Its REPLAY has not been decided. */
static inline bool x_is_open(const struct world *w, uint32_t i)
{
	return w->ask[i].state == X_POSTED && w->ask[i].verdict == X_OPEN;
}

/* Nor has anything happened that will end it: it can still start fills. */
static inline bool x_is_live(const struct world *w, uint32_t i)
{
	return x_is_open(w, i) && !w->ask[i].doom;
}

/* Something ends it: what it has or is being filled may still make it good. */
static inline void x_doom(struct world *w, uint32_t i, int status)
{
	uint32_t k;

	if (!x_is_live(w, i))
		return;
	w->ask[i].doom = status;
	for (k = 0; k < x_script->ask[i].wants; k++)
		if (!x_is_got(w, i, k) && !x_is_filling(w, i, k))
			w->ask[i].is_lost |= 1u << k;
}

/* After each input: who is decided now.  All of one input are one group. */
static inline void x_judge(struct world *w)
{
	uint32_t group = w->line.count ? w->ask[w->line.ask[w->line.count - 1]].group + 1 : 0;
	uint32_t n;

	for (n = 0; n < w->posted.count; n++) {
		uint32_t i = w->posted.ask[n];
		uint32_t got = 0;
		uint32_t filling = 0;
		uint32_t k;

		if (!x_is_open(w, i))
			continue;
		for (k = 0; k < x_script->ask[i].wants; k++) {
			got += x_is_got(w, i, k);
			filling += x_is_filling(w, i, k);
		}
		if (got == x_script->ask[i].wants)
			w->ask[i].verdict = X_GOOD;
		else if (w->ask[i].doom && !filling)
			w->ask[i].verdict = X_BAD;
		else
			continue;
		w->ask[i].group = group;
		x_list_add(&w->line, i);
	}
}

/* What a request that is posted now is told at once, or 0: the first want that is hopeless. */
static inline int x_refusal(const struct world *w, uint32_t i)
{
	bool is_missing = false;
	uint32_t k;

	for (k = 0; k < x_script->ask[i].wants; k++) {
		const struct x_want *want = &x_script->ask[i].want[k];
		uint64_t published = w->epoch[want->tag];

		if (w->is_closed)
			return -EINVAL;
		if (x_is_got(w, i, k))
			continue;
		is_missing = true;
		if (x_is_filling(w, i, k))
			continue;
		if (published > x_epoch(want) ||
		    (published == x_epoch(want) && w->filled[want->tag] == published))
			return -EINVAL;
		if (published < x_epoch(want) && (w->died >> want->tag & 1))
			return -EOWNERDEAD;
	}
	return is_missing && x_deadline(i) <= w->now ? -ETIMEDOUT : 0;
}

/* Fills begin for whoever lives and has a run of just this epoch. */
static inline void x_ghost_start(struct world *w, uint32_t i, uint32_t tag)
{
	uint32_t k;

	for (k = 0; x_is_live(w, i) && k < x_script->ask[i].wants; k++) {
		const struct x_want *want = &x_script->ask[i].want[k];
		struct x_ghost_run *run = &w->run[w->ask[i].run[k]];

		if (want->tag == tag && want->pages && run->state == X_RUN_WANTED &&
		    run->epoch == w->epoch[tag])
			run->state = X_RUN_FILLING;
	}
}

static inline void x_ghost_post(struct world *w, uint32_t i)
{
	int status = x_refusal(w, i);
	uint32_t tag;

	w->ask[i].state = X_POSTED;
	x_list_remove(&w->unposted, i);
	x_list_add(&w->posted, i);
	if (status) {
		w->ask[i].doom = status; /* and nothing starts: not even a fill is waited for */
		w->ask[i].is_lost = (1u << x_script->ask[i].wants) - 1;
		return;
	}
	for (tag = 0; tag < X_TAGS; tag++)
		x_ghost_start(w, i, tag);
}

static inline void x_ghost_publish(struct world *w, uint32_t tag, uint64_t epoch)
{
	uint32_t i;
	uint32_t k;

	if (epoch <= w->epoch[tag])
		return;
	w->epoch[tag] = epoch;
	for (i = 0; i < x_script->asks; i++)
		for (k = 0; k < x_script->ask[i].wants; k++) {
			const struct x_want *want = &x_script->ask[i].want[k];

			if (want->tag == tag && want->pages && x_epoch(want) < epoch &&
			    x_is_live(w, i) && !x_is_got(w, i, k) && !x_is_filling(w, i, k))
				x_doom(w, i, -EINVAL);
		}
	for (i = 0; i < x_script->asks; i++)
		x_ghost_start(w, i, tag);
}

static inline void x_ghost_die(struct world *w, uint32_t tag)
{
	uint32_t i;
	uint32_t k;

	w->died |= 1u << tag;
	for (i = 0; i < x_script->asks; i++)
		for (k = 0; k < x_script->ask[i].wants; k++)
			if (x_is_live(w, i) && x_script->ask[i].want[k].tag == tag &&
			    !x_is_got(w, i, k) && !x_is_filling(w, i, k))
				x_doom(w, i, -EOWNERDEAD);
}

static inline void x_ghost_filled(struct world *w, uint32_t page, int status)
{
	struct x_ghost_run *run = &w->run[page];
	uint32_t i;
	uint32_t k;

	for (i = 0; status && i < x_script->asks; i++)
		for (k = 0; x_is_open(w, i) && k < x_script->ask[i].wants; k++)
			if (w->ask[i].run[k] == page && x_is_filling(w, i, k)) {
				x_doom(w, i, status);
				w->ask[i].is_lost |= 1u << k;
			}
	run->state = status ? X_RUN_WANTED : X_RUN_FILLED;
	if (status)
		return;
	if (w->filled[run->tag] < run->epoch)
		w->filled[run->tag] = run->epoch;
	for (i = page; i < page + run->count; i++) {
		w->page[i].tag = run->tag;
		w->page[i].epoch = run->epoch;
	}
}

/* --- ghost: pages ------------------------------------------------------------ */

static inline void x_pages_set(struct world *w, struct wic_run run, enum wic_page_state state)
{
	uint32_t i;

	for (i = run.first; i < run.first + run.count; i++)
		w->page[i].state = state;
}

static inline bool x_pages_are(const struct world *w, struct wic_run run, enum wic_page_state state)
{
	uint32_t i;

	for (i = run.first; i < run.first + run.count; i++)
		if (i >= x_script->pages || w->page[i].state != state)
			return false;
	return run.count > 0;
}

static inline bool x_pages_have(const struct world *w, struct wic_run run, uint32_t tag,
				uint64_t epoch)
{
	uint32_t i;

	for (i = run.first; i < run.first + run.count; i++)
		if (w->page[i].tag != tag || w->page[i].epoch != epoch)
			return false;
	return true;
}

static inline bool x_page_is_free(const struct world *w, uint32_t page)
{
	uint32_t half = x_script->pages / 2;
	uint32_t partner = page < half ? page + half : page - half;

	return w->page[page].state == WIC_PAGE_CLOSED && w->page[partner].state != WIC_PAGE_HELD;
}

/* There are @pages free pages in a row on one side. */
static inline bool x_pages_fit(const struct world *w, uint32_t pages)
{
	uint32_t row = 0;
	uint32_t i;

	for (i = 0; i < x_script->pages; i++) {
		if (i == x_script->pages / 2)
			row = 0;
		row = x_page_is_free(w, i) ? row + 1 : 0;
		if (row == pages)
			return true;
	}
	return false;
}

/* The run of (tag, epoch): there is at most one. */
static inline uint32_t x_run_find(const struct world *w, const struct x_want *want)
{
	uint32_t i;

	for (i = 0; i < x_script->pages; i++)
		if (w->run[i].refs && w->run[i].tag == want->tag &&
		    w->run[i].epoch == x_epoch(want))
			return i;
	return WIC_PAGE_NONE;
}

/* Pages that the ask needs beside the runs that are there already. */
static inline uint32_t x_pages_needed(const struct world *w, uint32_t i)
{
	uint32_t pages = 0;
	uint32_t k;

	for (k = 0; k < x_script->ask[i].wants; k++)
		if (x_run_find(w, &x_script->ask[i].want[k]) == WIC_PAGE_NONE)
			pages += x_script->ask[i].want[k].pages;
	return pages;
}

#endif /* WIC_CORE_EXHAUSTIVE_MODEL_H */
