/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Every interleaving of a script: depth first over the choice of the next step, the whole
 * world copied back before each choice.  A world that was seen before is not entered again:
 * from equal bytes follow equal futures.  What two ways to the same state would leave
 * different, and what nothing decides by, is made equal in the world itself: counters go back
 * to 0, ages become ranks, and free slots are overwritten, so that who reads one is found out.
 *
 * Seen worlds are kept as a 64-bit hash (at 10^7 worlds the odds that any two share one are
 * below 10^-5).  Each keeps the number of interleavings from it to an end; the graph has no
 * cycles, as each step uses up something.
 */
#ifndef WIC_CORE_EXHAUSTIVE_SEARCH_FIXTURE_H
#define WIC_CORE_EXHAUSTIVE_SEARCH_FIXTURE_H

#include "core/exhaustive_world_fixture.h"

#define X_POISON 0xa5

/* --- equal states are equal bytes -------------------------------------------- */

#define X_POISON_FIELD(field) memset(&(field), X_POISON, sizeof(field))

/* The ages of live nodes become 0, 1, 2 ... in the same order; other nodes are overwritten. */
static inline uint64_t x_plain_heap(struct wic_heap *heap, const bool *is_live, uint32_t nodes)
{
	uint64_t rank[X_ASKS * X_WANTS] = { 0 };
	uint64_t live = 0;
	uint32_t i;
	uint32_t k;

	heap->steps = 0;
	for (i = 0; i < nodes; i++) {
		live += is_live[i];
		for (k = 0; k < nodes; k++)
			rank[i] += is_live[k] && heap->nodes[k].order < heap->nodes[i].order;
	}
	for (i = 0; i < nodes; i++) {
		if (is_live[i])
			heap->nodes[i].order = rank[i];
		else
			X_POISON_FIELD(heap->nodes[i]);
	}
	return live;
}

static inline void x_plain_requests(struct wic_engine *e)
{
	bool is_live[X_ASKS] = { false };
	uint64_t live;
	uint32_t i;

	for (i = 0; i < e->params.requests_max; i++) {
		struct wic_core_request *r = &e->requests[i];
		const struct wic_core_request old = *r;

		is_live[i] = old.timed;
		if (old.state == WIC_REQUEST_PENDING)
			continue;
		if (old.state == WIC_REQUEST_FREE) {
			X_POISON_FIELD(*r);
			r->next = old.next;
			r->state = old.state;
			r->timed = old.timed;
		} else {
			X_POISON_FIELD(r->prev);
			X_POISON_FIELD(r->next);
		}
	}
	live = x_plain_heap(&e->by_deadline, is_live, e->params.requests_max);
	if (e->order < live)
		e->order = live;
}

static inline void x_plain_wants(struct wic_engine *e)
{
	bool is_live[X_ASKS * X_WANTS];
	uint64_t live;
	uint32_t next;
	uint32_t i;

	for (i = 0; i < e->params.wants_max; i++) {
		is_live[i] = e->wants[i].state == WIC_WANT_WAITING;
		e->wants[i].claimed = false;
		if (e->wants[i].state != WIC_WANT_FILLING)
			X_POISON_FIELD(e->wants[i].fill_next);
	}
	for (i = e->wants_free; i != WIC_NONE; i = next) {
		next = e->wants[i].next;
		is_live[i] = false;
		X_POISON_FIELD(e->wants[i]);
		e->wants[i].next = next;
	}
	live = x_plain_heap(&e->by_epoch, is_live, e->params.wants_max);
	e->order = live;
}

static inline void x_plain_pages(struct wic_engine *e)
{
	uint32_t i;

	for (i = 0; i < e->params.pages; i++) {
		struct wic_core_page *page = &e->pages[i];
		bool is_data = page->owner == i && page->state != WIC_RUN_RETIRED &&
			       page->state != WIC_RUN_INVALIDATING;

		if (!wic_queue_has(e, wic_queue_id_late(e, i))) {
			X_POISON_FIELD(page->late_cookie);
			X_POISON_FIELD(page->late_status);
		}
		if (!is_data) {
			X_POISON_FIELD(page->epoch);
			X_POISON_FIELD(page->tag);
			X_POISON_FIELD(page->status);
		}
		if (page->owner != i)
			X_POISON_FIELD(page->count);
	}
}

static inline void x_plain(struct world *w)
{
	uint32_t pending = w->e->counters.pending;

	memset(&w->e->counters, 0, sizeof(w->e->counters));
	w->e->counters.pending = pending;
	x_plain_wants(w->e);
	x_plain_requests(w->e);
	x_plain_pages(w->e);
	if (w->pool)
		w->pool->visits = 0;
}

/* Four lanes, so that the multiplications overlap; the constant is splitmix64's increment. */
static inline uint64_t x_hash(const struct world *w)
{
	const unsigned char *at = (const unsigned char *)w;
	uint64_t lane[4] = { 1, 2, 3, 4 };
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof(word) <= x_world_bytes; i += sizeof(word)) {
		uint64_t *h = &lane[i / sizeof(word) % 4];

		memcpy(&word, at + i, sizeof(word));
		*h = (*h ^ word) * 0x9e3779b97f4a7c15ull;
		*h ^= *h >> 29;
	}
	for (i = 1; i < 4; i++)
		lane[0] = (lane[0] ^ (lane[i] + (lane[0] >> 31))) * 0x9e3779b97f4a7c15ull;
	return (lane[0] ^ lane[0] >> 32) | 1; /* 0 is an empty cell */
}

/* --- worlds seen ------------------------------------------------------------- */

struct x_cell {
	uint64_t hash;
	double ways; /* interleavings from here to an end; -1: on the way that we are on */
};

struct x_seen {
	struct x_cell *cells;
	size_t mask;
	size_t count;
};

static inline struct x_cell *x_seen_find(const struct x_seen *seen, uint64_t hash)
{
	size_t i = (size_t)(hash >> 1) & seen->mask;

	while (seen->cells[i].hash && seen->cells[i].hash != hash)
		i = (i + 1) & seen->mask;
	return &seen->cells[i];
}

static inline void x_seen_grow(struct x_seen *seen)
{
	const struct x_seen old = *seen;
	size_t i;

	if (old.cells && old.count < old.mask / 2)
		return;
	seen->mask = old.cells ? old.mask * 4 + 3 : 0xffff;
	seen->cells = calloc(seen->mask + 1, sizeof(*seen->cells));
	TEST_TRUE(seen->cells != NULL);
	for (i = 0; old.cells && i <= old.mask; i++)
		if (old.cells[i].hash)
			*x_seen_find(seen, old.cells[i].hash) = old.cells[i];
	free(old.cells);
}

/* --- the search -------------------------------------------------------------- */

struct x_result {
	double interleavings;
	uint64_t states;
	uint64_t transitions;
	uint32_t depth;
};

struct x_frame {
	uint64_t hash;
	double ways;
	struct x_step next;
	bool is_busy; /* the back-end can do something */
	struct world world;
};

struct x_search {
	struct x_seen seen;
	struct x_frame *frames; /* [X_DEPTH_MAX] */
	uint32_t depth;         /* frames in use */
	struct x_result result;
};

/* The world as it is now, if it is a new one, goes on the stack.  Else: ways from it. */
static inline double x_enter(struct x_search *s)
{
	struct x_frame *f = &s->frames[s->depth];
	struct x_cell *cell;
	uint64_t hash;

	x_plain(&x_world);
	hash = x_hash(&x_world);
	cell = x_seen_find(&s->seen, hash);
	if (cell->hash) {
		TEST_TRUE(cell->ways >= 0); /* no cycle */
		return cell->ways;
	}
	x_check(&x_world);
	cell->hash = hash;
	cell->ways = -1;
	s->seen.count++;
	x_seen_grow(&s->seen);
	TEST_TRUE(s->depth + 1 < X_DEPTH_MAX);
	f->hash = hash;
	f->ways = 0;
	f->next = (struct x_step){ (enum x_step_kind)0, 0 };
	f->is_busy = false;
	memcpy(&f->world, &x_world, x_world_bytes);
	s->depth++;
	s->result.states++;
	if (s->result.depth < s->depth)
		s->result.depth = s->depth;
	return 0;
}

/* All steps from the state on top were tried. */
static inline void x_leave(struct x_search *s)
{
	struct x_frame *f = &s->frames[--s->depth];
	double ways = f->ways > 0 ? f->ways : 1;

	x_trace_length = s->depth;
	if (!f->is_busy)
		x_check_settled(&f->world);
	x_seen_find(&s->seen, f->hash)->ways = ways;
	if (s->depth)
		s->frames[s->depth - 1].ways += ways;
	else
		s->result.interleavings = ways;
}

/* The next step from the state on top. */
static inline void x_try(struct x_search *s)
{
	struct x_frame *f = &s->frames[s->depth - 1];
	struct x_step step = f->next;

	if (++f->next.i >= x_step_kinds[step.kind].count)
		f->next = (struct x_step){ (enum x_step_kind)(step.kind + 1), 0 };
	x_trace[s->depth - 1] = step;
	x_trace_length = s->depth;
	if (!x_do(&x_world, step))
		return;
	s->result.transitions++;
	f->is_busy |= step.kind >= X_STEP_POST;
	f->ways += x_enter(s);
}

static inline struct x_result x_search(const struct x_script *script)
{
	struct x_search s = { 0 };
	const struct x_frame *top = NULL;
	uint64_t transitions = 0;
	uint32_t depth = 1;

	s.frames = calloc(X_DEPTH_MAX, sizeof(*s.frames));
	TEST_TRUE(s.frames != NULL);
	x_seen_grow(&s.seen);
	x_world_open(&x_world, script);
	x_enter(&s);
	while (s.depth) {
		top = &s.frames[s.depth - 1];
		if (s.depth < depth || s.result.transitions != transitions)
			memcpy(&x_world, &top->world, x_world_bytes);
		depth = s.depth;
		transitions = s.result.transitions;
		if (top->next.kind == X_STEP_KINDS)
			x_leave(&s);
		else
			x_try(&s);
	}
	free(s.frames);
	free(s.seen.cells);
	return s.result;
}

/* Says how much was covered; @ends of the script were all seen, and no other. */
static inline struct x_result x_run(const struct x_script *script)
{
	struct x_result r = x_search(script);

	printf("     epochs from 0x%llx: %llu states, %llu steps, up to %u in a row: "
	       "%.3g interleavings\n",
	       (unsigned long long)script->base + 1, (unsigned long long)r.states,
	       (unsigned long long)r.transitions, r.depth - 1, r.interleavings);
	TEST_EQ(x_ends_seen, script->ends);
	return r;
}

/* The script once, its epochs from 1. */
static inline void x_run_here(struct x_script script)
{
	script.base = 0;
	x_run(&script);
}

/* The script where an epoch's low or high half wraps: what is possible is the same there. */
static inline void x_run_at_wraps(struct x_script script)
{
	/* The first epochs are 1 and 2; 2^32 - 2 and the next; the next and 2^32; the last ones. */
	uint64_t bases[] = { 0, 0xfffffffdull, 0xfffffffeull, 0 };
	struct x_result first = { 0 };
	uint32_t last = 0;
	uint32_t i;

	for (i = 0; i < script.publishes; i++)
		last = script.publish[i].epoch > last ? script.publish[i].epoch : last;
	bases[3] = UINT64_MAX - last;
	for (i = 0; i < 4; i++) {
		struct x_result r;

		script.base = bases[i];
		r = x_run(&script);
		if (i == 0)
			first = r;
		TEST_EQ(r.states, first.states);
		TEST_EQ(r.transitions, first.transitions);
		TEST_TRUE(r.interleavings == first.interleavings);
	}
}

#endif /* WIC_CORE_EXHAUSTIVE_SEARCH_FIXTURE_H */
