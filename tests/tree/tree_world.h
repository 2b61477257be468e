/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the random test's fibers share: contexts with their control lines, lines of host and of
 * device tags, words of the user's, a queue; and the oracles, which know what was published when.
 *
 * A wait is due from the moment, on the fair clock, when its epoch is published, its tag has
 * ended, its context is cancelled or its deadline has passed.  It must return soon after that,
 * whatever was frozen, and never before.
 */
#ifndef WIC_TESTS_TREE_TREE_WORLD_H
#define WIC_TESTS_TREE_TREE_WORLD_H

#include <stdio.h>

#define WIC_TREE_PRIMITIVES "tests/tree/tree_sched.h"
#define WIC_TREE_NEXT
#include <wic/tree.h>

#define WORLD_CONTEXTS 2u
#define WORLD_LINES 12u /* controls, host tags, device tags, the queue, its slots */
#define WORLD_SLOTS_MAX 32u
#define WORLD_PLAIN 4u
#define WORLD_KEYS (WORLD_LINES * WIC_TREE_LINE_TAGS + WORLD_PLAIN)
#define WORLD_WARPS 40u
#define WORLD_BLOCKS 16u
#define WORLD_PUTS (1u << 14) /* a round */
/* Some turns and naps of a watcher, 10 us each; README.md has what was measured. */
#define WORLD_LATE_NS_MAX 300000
#define WORLD_NOT_DUE INT64_MAX

enum world_kind { WORLD_TAG, WORLD_WORD, WORLD_QUEUE };

/* A wait, while it lasts. */
struct world_wait {
	enum world_kind kind;
	uint32_t key; /* of its word; of a queue: of the queue's first */
	uint32_t context;
	uint64_t want;
	uint64_t start_ns;
	uint64_t until_ns;
	uint64_t frozen_ns; /* at its start */
	int64_t start_fair_ns;
	int64_t due_fair_ns; /* its epoch is published */
	int64_t end_fair_ns; /* its tag has ended */
	uint64_t cancels;    /* of its context, that were over at its start */
	uint32_t is_late;    /* its epoch was published before it began */
};

struct world_counts {
	uint64_t waits;
	uint64_t hits; /* at once: no other fiber ran, or hardly */
	uint64_t timeouts;
	uint64_t cancels;
	uint64_t ends;
	uint64_t nexts;
	uint64_t releases;
	uint64_t rounds;
	int64_t late_ns_max;
	int64_t end_late_ns_max;
};

struct world {
	struct wic_tree_line lines[WORLD_LINES] __attribute__((aligned(256)));
	uint64_t truth[WORLD_LINES][WIC_TREE_LINE_TAGS];
	uint64_t end_truth[WORLD_LINES];
	uint64_t plain[WORLD_PLAIN];
	uint64_t payload[WORLD_KEYS]; /* stored before the epoch is */
	uint64_t queue_truth[WORLD_SLOTS_MAX];
	uint64_t drained;
	struct wic_lot lot[WORLD_BLOCKS];
	/* What is where. */
	uint32_t contexts;
	uint32_t host_first, host_count;
	uint32_t device_first, device_count;
	uint32_t queue;     /* its line, 0: none */
	uint32_t tags_used; /* of each line */
	/* What happened. */
	uint64_t waiting[WORLD_KEYS]; /* masks of waiters */
	uint64_t active;
	struct world_wait wait[WORLD_WARPS];
	uint64_t cancel_sets[WORLD_CONTEXTS];
	int64_t cancelled_fair_ns[WORLD_CONTEXTS]; /* valid while the word is odd */
	uint64_t puts;
	uint64_t delivered;
	int64_t put_fair_ns[WORLD_PUTS];
	uint8_t got[WORLD_PUTS];
	/* The whole run. */
	struct world_counts counts;
	uint64_t seed;
	uint64_t round;
};

static struct world world;

static inline uint64_t *world_word(uint32_t key)
{
	uint32_t tags = WORLD_LINES * WIC_TREE_LINE_TAGS;

	return key < tags ? &world.lines[key / WIC_TREE_LINE_TAGS].word[key % WIC_TREE_LINE_TAGS]
			  : &world.plain[key - tags];
}

/* Where its publisher stores: the host's word, or in place. */
static inline uint64_t *world_published(uint32_t key)
{
	uint32_t line = key / WIC_TREE_LINE_TAGS;

	if (line < WORLD_LINES && world.lines[line].truth)
		return &world.truth[line][key % WIC_TREE_LINE_TAGS];
	return world_word(key);
}

/* ---- making it ------------------------------------------------------------------- */

static inline struct wic_tree_line *world_line(uint32_t i, uint32_t context)
{
	struct wic_tree_line *line = &world.lines[i];

	line->control = i < world.contexts ? NULL : &world.lines[context];
	line->end_truth = &world.end_truth[i];
	line->truth = world.truth[i];
	line->reader = line;
	return line;
}

static inline uint32_t world_make_queue(uint32_t at, uint64_t size)
{
	struct wic_tree_line *queue = world_line(at, 0);

	world.queue = at;
	queue->truth = world.queue_truth;
	queue->size = size;
	queue->drained = &world.drained;
	queue->slots = queue + 1;
	for (uint32_t i = 0; i < size / WIC_TREE_LINE_TAGS; i++) {
		struct wic_tree_line *slots = world_line(at + 1 + i, 0);

		slots->truth = NULL;
		slots->end_truth = &world.end_truth[at];
		slots->reader = queue;
	}
	return at + 1 + (uint32_t)size / WIC_TREE_LINE_TAGS;
}

/* Everything empty, epochs published so far: @epoch.  @queue_size: 0, 16 or 32. */
static inline void world_make(uint32_t contexts, uint32_t host, uint32_t device,
			      uint64_t queue_size, uint64_t epoch)
{
	size_t keep = offsetof(struct world, counts);
	uint32_t at = 0;

	memset(&world, 0, keep);
	world.contexts = contexts;
	world.host_first = contexts;
	world.host_count = host;
	world.device_first = contexts + host;
	world.device_count = device;
	for (; at < contexts + host + device; at++)
		world_line(at, at % contexts);
	for (uint32_t i = 0; i < device; i++) {
		world.lines[world.device_first + i].truth = NULL;
		world.lines[world.device_first + i].reader = NULL;
	}
	if (queue_size)
		at = world_make_queue(at, queue_size);
	for (uint32_t i = contexts; i < contexts + host + device; i++)
		for (uint32_t j = 0; j < WIC_TREE_LINE_TAGS; j++) {
			*world_published(i * WIC_TREE_LINE_TAGS + j) = epoch;
			world.payload[i * WIC_TREE_LINE_TAGS + j] = epoch;
		}
	sched.lines = (const unsigned char *)world.lines;
	sched.lines_count = at;
	sched.truth = &world.truth[0][0];
}

/* ---- what happens ---------------------------------------------------------------- */

/* Right after the store: nobody else has run. */
static inline void world_say_published(uint32_t key, uint64_t epoch)
{
	int64_t fair = sched_fair_ns();

	for (uint64_t m = world.waiting[key]; m; m &= m - 1) {
		struct world_wait *w = &world.wait[__builtin_ctzll(m)];

		if (w->want <= epoch && fair < w->due_fair_ns)
			w->due_fair_ns = fair;
	}
}

static inline void world_say_ended(uint32_t line)
{
	int64_t fair = sched_fair_ns();

	for (uint64_t m = world.active; m; m &= m - 1) {
		struct world_wait *w = &world.wait[__builtin_ctzll(m)];

		if (w->kind == WORLD_TAG && w->key / WIC_TREE_LINE_TAGS == line &&
		    fair < w->end_fair_ns)
			w->end_fair_ns = fair;
	}
}

static inline int world_is_cancelled(uint32_t context)
{
	return world.truth[context][WIC_TREE_CANCEL] & 1;
}

/* Nanoseconds since there is data, or the deadline has passed; negative: neither. */
static inline int64_t world_late_ns(const struct world_wait *w)
{
	int64_t late = -1, timeout;

	if (w->due_fair_ns != WORLD_NOT_DUE)
		late = sched_fair_ns() - w->due_fair_ns;
	if (sched.now_ns >= w->until_ns) {
		/* Too little where it was frozen before that, never too much. */
		timeout = (int64_t)(sched.now_ns - w->until_ns) -
			  (int64_t)(sched_frozen_ns() - w->frozen_ns);
		late = timeout > late ? timeout : late;
	}
	return late;
}

/* Since the tag has ended or the wait is cancelled. */
static inline int64_t world_end_late_ns(const struct world_wait *w)
{
	int64_t fair = sched_fair_ns(), late = -1, since;

	if (w->end_fair_ns != WORLD_NOT_DUE)
		late = fair - w->end_fair_ns;
	if (w->kind != WORLD_WORD && world_is_cancelled(w->context)) {
		since = world.cancelled_fair_ns[w->context];
		since = fair - (since > w->start_fair_ns ? since : w->start_fair_ns);
		late = since > late ? since : late;
	}
	return late;
}

static inline void world_check_late(uint32_t id, const char *what)
{
	int64_t late = world_late_ns(&world.wait[id]), end = world_end_late_ns(&world.wait[id]);

	SCHED_CHECK(late <= WORLD_LATE_NS_MAX, what, id, late);
	SCHED_CHECK(end <= WORLD_LATE_NS_MAX, what, id, end);
	if (late > world.counts.late_ns_max)
		world.counts.late_ns_max = late;
	if (end > world.counts.end_late_ns_max)
		world.counts.end_late_ns_max = end;
}

/* Tags that are put and that nobody has, though somebody waits. */
static inline void world_check_queue(void)
{
	int64_t fair = sched_fair_ns(), since = WORLD_NOT_DUE, put;

	if (!world.queue || world.puts <= world.delivered)
		return;
	for (uint64_t m = world.active; m; m &= m - 1) {
		struct world_wait *w = &world.wait[__builtin_ctzll(m)];

		if (w->kind == WORLD_QUEUE && w->start_fair_ns < since)
			since = w->start_fair_ns;
	}
	put = world.put_fair_ns[world.delivered];
	if (since == WORLD_NOT_DUE)
		return;
	since = since > put ? since : put;
	SCHED_CHECK(fair - since <= WORLD_LATE_NS_MAX, "a tag that was put is lost",
		    world.delivered, world.puts);
}

static inline void world_check(void)
{
	for (uint64_t m = world.active; m; m &= m - 1)
		world_check_late((uint32_t)__builtin_ctzll(m), "a wait is lost");
	world_check_queue();
}

/* ---- a wait ---------------------------------------------------------------------- */

static inline void world_wait_begin(uint32_t id, enum world_kind kind, uint32_t key, uint64_t want,
				    uint64_t timeout_ns)
{
	struct world_wait *w = &world.wait[id];
	uint32_t line = key / WIC_TREE_LINE_TAGS;

	w->kind = kind;
	w->key = key;
	w->context = kind == WORLD_TAG ? line % world.contexts : 0;
	w->want = want;
	w->start_ns = sched.now_ns;
	w->until_ns =
		timeout_ns > WIC_FOREVER - sched.now_ns ? WIC_FOREVER : sched.now_ns + timeout_ns;
	w->frozen_ns = sched_frozen_ns();
	w->start_fair_ns = sched_fair_ns();
	w->due_fair_ns = WORLD_NOT_DUE;
	w->cancels = world.cancel_sets[w->context] - (uint64_t)world_is_cancelled(w->context);
	w->end_fair_ns = WORLD_NOT_DUE;
	w->is_late = kind != WORLD_QUEUE && *world_published(key) >= want;
	if (w->is_late)
		w->due_fair_ns = w->start_fair_ns;
	if (kind == WORLD_TAG && world.end_truth[line])
		w->end_fair_ns = w->start_fair_ns;
	world.active |= (uint64_t)1 << id;
	if (kind != WORLD_QUEUE)
		world.waiting[key] |= (uint64_t)1 << id;
}

static inline void world_check_error(const struct world_wait *w, uint32_t id, int rc)
{
	uint64_t end = w->kind == WORLD_WORD ? 0 : world.end_truth[w->key / WIC_TREE_LINE_TAGS];
	int was_cancelled =
		world_is_cancelled(w->context) || world.cancel_sets[w->context] != w->cancels;
	uint64_t others = (uint64_t)__builtin_popcountll(world.active) - 1;
	int missing = w->kind == WORLD_QUEUE ? world.puts - world.delivered <= others
					     : *world_published(w->key) < w->want;

	switch (rc) {
	case WIC_TREE_ETIMEDOUT:
		SCHED_CHECK(sched.now_ns >= w->until_ns, "a timeout before its time", id,
			    w->until_ns);
		SCHED_CHECK(!w->is_late, "a timeout, though it was published before", id, w->want);
		world.counts.timeouts++;
		break;
	case WIC_TREE_ECANCELED:
		if (w->kind != WORLD_WORD && was_cancelled) {
			world.counts.cancels++;
			break;
		}
		SCHED_CHECK(end == WIC_TREE_CLOSED && missing, "cancelled by nobody", id, end);
		world.counts.ends++;
		break;
	case WIC_TREE_EOWNERDEAD:
		SCHED_CHECK(end == WIC_TREE_DIED && missing, "no owner has died", id, end);
		world.counts.ends++;
		break;
	default:
		SCHED_CHECK(0, "a status that cannot be", id, rc);
	}
}

/* Right after it returned. */
static inline void world_wait_end(uint32_t id, int rc)
{
	struct world_wait *w = &world.wait[id];

	if (!rc && w->kind != WORLD_QUEUE) {
		SCHED_CHECK(*world_published(w->key) >= w->want, "a wait ends early", id, w->want);
		SCHED_CHECK(world.payload[w->key] >= w->want, "epoch before payload", id, w->want);
	} else if (rc) {
		world_check_error(w, id, rc);
	}
	world_check_late(id, "a wait ends late");
	if (!rc && sched.now_ns - w->start_ns < 4)
		world.counts.hits++;
	world.counts.waits++;
	world.active &= ~((uint64_t)1 << id);
	if (w->kind != WORLD_QUEUE)
		world.waiting[w->key] &= ~((uint64_t)1 << id);
}

static inline void world_got(uint32_t seq)
{
	SCHED_CHECK(seq < world.puts, "a tag that nobody put", seq, world.puts);
	SCHED_CHECK(!world.got[seq], "a tag twice", seq, world.puts);
	world.got[seq] = 1;
	world.delivered++;
	world.counts.nexts++;
}

/* ---- the end of a round ---------------------------------------------------------- */

static inline void world_check_lot(uint32_t block, uint32_t warps)
{
	struct wic_lot *lot = &world.lot[block];

	SCHED_CHECK(!lot->mask, "a bit is left", block, lot->mask);
	SCHED_CHECK(!lot->watcher, "a watcher is left", block, lot->watcher);
	SCHED_CHECK(!lot->control, "a control line is left", block, lot->control);
	for (uint32_t i = 0; i < warps; i++) {
		uint64_t b = lot->warp[i].barrier;

		SCHED_CHECK((uint32_t)b == b >> 32, "an arrive is left", i, b);
		SCHED_CHECK((b & 1) == (lot->parity >> i & 1), "a parity is wrong", i, b);
		SCHED_CHECK(!lot->warp[i].line, "a line is left", i, lot->warp[i].line);
	}
}

static inline void world_check_lines(void)
{
	for (uint32_t i = 0; i < sched.lines_count; i++) {
		struct wic_tree_line *line = &world.lines[i];

		SCHED_CHECK(!line->owner, "an owner is left", i, line->owner);
		if (!line->truth || line->slots)
			continue;
		for (uint32_t j = 0; j < WIC_TREE_LINE_TAGS; j++)
			SCHED_CHECK(line->word[j] <= line->truth[j], "a copy is ahead", i, j);
	}
}

#endif /* WIC_TESTS_TREE_TREE_WORLD_H */
