/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Primitives of tree.h over fibers, for tests: one thread, a clock that counts, and a scheduler
 * that is random but for its seed.
 *
 *	#define WIC_TREE_PRIMITIVES "tests/tree/tree_sched.h"
 *	#include <wic/tree.h>
 *
 * A warp, and whoever else takes part, is a fiber.  Each access to shared memory may switch to
 * another one: a step.  A step takes 1 ns; when all sleep, the clock jumps.  Now and then a fiber
 * is frozen for long where it stands; sched_fair_ns() is the clock less all such time, so that
 * bounds hold whatever was frozen: it stands still as long as anybody is.
 *
 * What is checked at each access, by wrappers of the primitives of tree_gcc.h:
 *	one arrive a park, one park an arrive, and the parity is the park's
 *	a line has one owner, who frees it itself and owns none when it gives the role away
 *	only the owner of a line reads its words in host memory, as long as its tags have not ended
 *	no word of a line ever goes back
 *	what was read of host memory is not raised in device memory without a fence in between
 *
 * The test defines sched_fail() and, in sched.check, what else must hold now and then.
 */
#ifndef WIC_TESTS_TREE_TREE_SCHED_H
#define WIC_TESTS_TREE_TREE_SCHED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fiber/fiber.h"

#define SCHED_FIBERS 64u
#define SCHED_LINES 64u
#define SCHED_LINE_BYTES 256u
#define SCHED_LINE_WORDS (SCHED_LINE_BYTES / sizeof(uint64_t))
#define SCHED_LAP 24 /* WIC_TREE_LAP */
#define SCHED_WHAT ((1u << SCHED_LAP) - 1)
#define SCHED_MAIN SCHED_FIBERS /* not a fiber: what runs before and after them */
#define SCHED_NEVER UINT64_MAX
#define SCHED_START_NS 1000000u
#define SCHED_SPURIOUS_NS 4096u /* a park returns by itself after at most this */
#define WIC_T_NAP_NS_MAX 10000u

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCHED_STACK_BYTES ((size_t)128 << 10)
#else
#define SCHED_STACK_BYTES ((size_t)32 << 10)
#endif

struct sched_fiber {
	struct wic_fiber fiber;
	void (*run)(void *arg);
	void *arg;
	const uint64_t *barrier; /* it is parked there, or NULL */
	uint64_t wake_ns;        /* valid while it sleeps */
	uint32_t block;
	uint32_t warp;
	uint32_t lines;    /* that it owns */
	uint64_t unfenced; /* read of host memory last, with no fence since; 0: none */
};

struct sched_counts {
	uint64_t simulated_ns; /* before the last reset */
	uint64_t jumped_ns;    /* of them, by jumps of the clock */
	uint64_t switches;
	uint64_t parks;
	uint64_t hand_overs; /* to a warp */
	uint64_t role_ends;  /* no successor */
	uint64_t takes;
	uint64_t frozen;
};

struct sched {
	uint64_t now_ns;
	uint32_t gap; /* steps until the next switch */
	uint32_t current;
	uint64_t runnable; /* masks of fibers */
	uint64_t sleeping;
	uint64_t parked;
	uint64_t live;
	uint64_t next_wake_ns; /* not after the first that wakes */
	uint64_t random;
	uint64_t frozen_ns;   /* until thaw_ns */
	uint64_t thaw_ns;     /* of the last that is frozen */
	uint32_t gap_mask;    /* a gap is 1 + a random number under this mask */
	uint32_t freeze_mask; /* one switch of so many freezes; 0: none */
	uint32_t freeze_bits; /* for less than 2^this ns */
	uint32_t fibers;
	void (*check)(void); /* every 4096 switches; may be NULL */
	struct sched_counts counts;
	struct wic_stacks stacks; /* owned, until the program ends */
	struct wic_fiber main;
	struct sched_fiber fiber[SCHED_FIBERS + 1];
	/* Lines that are watched: an array of them, and the words that they copy. */
	const unsigned char *lines; /* borrowed from the test */
	uint32_t lines_count;
	const uint64_t *truth;        /* line i of the array copies words 16 i and on; borrowed */
	uint32_t holder[SCHED_LINES]; /* 1 + fiber */
	uint64_t highest[SCHED_LINES][SCHED_LINE_WORDS];
};

static struct sched sched;

/* Ends the program; says what, two values, and how to replay it. */
static void sched_fail(const char *what, uint64_t a, uint64_t b) __attribute__((noreturn));

#define SCHED_CHECK(x, what, a, b)                                        \
	do {                                                              \
		if (__builtin_expect(!(x), 0))                            \
			sched_fail((what), (uint64_t)(a), (uint64_t)(b)); \
	} while (0)

static inline uint64_t sched_random(void)
{
	sched.random ^= sched.random >> 12;
	sched.random ^= sched.random << 25;
	sched.random ^= sched.random >> 27;
	return sched.random * 2685821657736338717ull;
}

/* For how long somebody was frozen until now. */
static inline uint64_t sched_frozen_ns(void)
{
	uint64_t left = sched.thaw_ns > sched.now_ns ? sched.thaw_ns - sched.now_ns : 0;

	return sched.frozen_ns - left;
}

static inline int64_t sched_fair_ns(void)
{
	return (int64_t)(sched.now_ns - sched_frozen_ns());
}

/* ---- switching ------------------------------------------------------------------- */

static inline void sched_wake_due(void)
{
	uint64_t next = SCHED_NEVER;

	for (uint64_t m = sched.sleeping; m; m &= m - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(m);

		if (sched.fiber[i].wake_ns <= sched.now_ns) {
			sched.sleeping &= ~((uint64_t)1 << i);
			sched.runnable |= (uint64_t)1 << i;
		} else if (sched.fiber[i].wake_ns < next) {
			next = sched.fiber[i].wake_ns;
		}
	}
	sched.next_wake_ns = next;
}

static inline uint32_t sched_choose(uint64_t random)
{
	uint32_t by = (uint32_t)(random >> 58);
	uint64_t turned;

	if (sched.now_ns >= sched.next_wake_ns)
		sched_wake_due();
	while (!sched.runnable) {
		sched_wake_due();
		if (sched.runnable)
			break;
		SCHED_CHECK(sched.next_wake_ns != SCHED_NEVER, "all wait for ever", sched.live,
			    sched.parked);
		sched.counts.jumped_ns += sched.next_wake_ns - sched.now_ns;
		sched.now_ns = sched.next_wake_ns;
	}
	turned = sched.runnable >> by | sched.runnable << (-by & 63);
	return ((uint32_t)__builtin_ctzll(turned) + by) & 63;
}

static inline void sched_go(uint64_t random)
{
	struct sched_fiber *from = &sched.fiber[sched.current];
	uint32_t next = sched_choose(random);

	sched.gap = 1 + ((uint32_t)random & sched.gap_mask);
	if (!(++sched.counts.switches & 4095) && sched.check)
		sched.check();
	if (next == sched.current)
		return;
	sched.current = next;
	wic_fiber_switch(&from->fiber, &sched.fiber[next].fiber);
}

/* Until the clock says so or another fiber makes it runnable. */
static inline void sched_sleep(uint64_t wake_ns)
{
	uint64_t bit = (uint64_t)1 << sched.current;

	sched.fiber[sched.current].wake_ns = wake_ns;
	sched.runnable &= ~bit;
	sched.sleeping |= bit;
	if (wake_ns < sched.next_wake_ns)
		sched.next_wake_ns = wake_ns;
	sched_go(sched_random());
}

static __attribute__((noinline)) void sched_switch(void)
{
	uint64_t random, frozen;

	sched.gap = 1u << 30;
	if (sched.current == SCHED_MAIN)
		return;
	random = sched_random();
	if (!sched.freeze_mask || (random >> 32 & sched.freeze_mask)) {
		sched_go(random);
		return;
	}
	frozen = sched_random();
	frozen = (frozen & (((uint64_t)1 << sched.freeze_bits) - 1)) >> (frozen >> 60);
	frozen += sched.now_ns;
	if (frozen > sched.thaw_ns) {
		sched.frozen_ns +=
			frozen - (sched.thaw_ns > sched.now_ns ? sched.thaw_ns : sched.now_ns);
		sched.thaw_ns = frozen;
	}
	sched.counts.frozen++;
	sched_sleep(frozen);
}

static inline void sched_step(void)
{
	sched.now_ns++;
	if (__builtin_expect(!--sched.gap, 0))
		sched_switch();
}

#define WIC_T_STEP() sched_step()

/* ---- fibers ---------------------------------------------------------------------- */

static inline void sched_entry(void *arg)
{
	struct sched_fiber *f = arg;
	uint64_t bit = (uint64_t)1 << sched.current;

	f->run(f->arg);
	SCHED_CHECK(!f->lines, "a fiber ends and owns lines", f->block, f->lines);
	sched.runnable &= ~bit;
	sched.live &= ~bit;
	if (!sched.live) {
		sched.current = SCHED_MAIN;
		wic_fiber_exit(&f->fiber, &sched.main);
	}
	sched.current = sched_choose(sched_random());
	wic_fiber_exit(&f->fiber, &sched.fiber[sched.current].fiber);
}

/* Forgets fibers and lines, and the clock begins anew; counts go on. */
static inline void sched_reset(uint64_t seed)
{
	sched.random = seed * 0x9e3779b97f4a7c15ull + 1;
	for (uint32_t i = 0; i < 4; i++)
		sched_random();
	if (!sched.stacks.base && wic_stacks_create(&sched.stacks, SCHED_FIBERS, SCHED_STACK_BYTES))
		abort();
	for (uint32_t i = 0; i < sched.fibers; i++)
		wic_fiber_fini(&sched.fiber[i].fiber);
	sched.fibers = 0;
	sched.counts.simulated_ns += sched.now_ns;
	sched.now_ns = SCHED_START_NS;
	sched.frozen_ns = sched.thaw_ns = 0;
	sched.current = SCHED_MAIN;
	sched.runnable = sched.sleeping = sched.parked = sched.live = 0;
	sched.next_wake_ns = SCHED_NEVER;
	sched.gap = 1;
	sched.gap_mask = 3;
	sched.freeze_mask = 0;
	sched.freeze_bits = 16;
	sched.lines = NULL;
	sched.lines_count = 0;
	sched.truth = NULL;
	memset(sched.holder, 0, sizeof(sched.holder));
	memset(sched.highest, 0, sizeof(sched.highest));
	sched.fiber[SCHED_MAIN].block = 1000;
	sched.fiber[SCHED_MAIN].warp = 0;
	sched.fiber[SCHED_MAIN].lines = 0;
	sched.fiber[SCHED_MAIN].unfenced = 0;
}

static inline uint32_t sched_add(uint32_t block, uint32_t warp, void (*run)(void *arg), void *arg)
{
	uint32_t i = sched.fibers++;
	struct sched_fiber *f = &sched.fiber[i];

	SCHED_CHECK(i < SCHED_FIBERS, "too many fibers", i, 0);
	f->run = run;
	f->arg = arg;
	f->block = block;
	f->warp = warp;
	f->barrier = NULL;
	f->lines = 0;
	f->unfenced = 0;
	wic_fiber_init(&f->fiber, wic_stacks_low(&sched.stacks, i), sched.stacks.stack_bytes,
		       sched_entry, f);
	sched.live |= (uint64_t)1 << i;
	sched.runnable |= (uint64_t)1 << i;
	return i;
}

/* All fibers, until each has ended. */
static inline void sched_run(void)
{
	if (!sched.live)
		return;
	wic_fiber_init_thread(&sched.main);
	sched.current = sched_choose(sched_random());
	wic_fiber_switch(&sched.main, &sched.fiber[sched.current].fiber);
}

/* ---- the primitives -------------------------------------------------------------- */

#define wic_t_take sched_gcc_take
#define wic_t_give sched_gcc_give
#define wic_t_raise sched_gcc_raise
#define wic_t_raise_fenced sched_gcc_raise_fenced
#define wic_t_store sched_gcc_store
#define wic_t_swap sched_gcc_swap
#define wic_t_load_truth sched_gcc_load_truth
#define wic_t_load_truth_once sched_gcc_load_truth_once
#define wic_t_fence_truth sched_gcc_fence_truth
#define wic_t_lot_xchg sched_gcc_lot_xchg
#include <wic/tree_gcc.h>
#undef wic_t_take
#undef wic_t_give
#undef wic_t_raise
#undef wic_t_raise_fenced
#undef wic_t_store
#undef wic_t_swap
#undef wic_t_load_truth
#undef wic_t_load_truth_once
#undef wic_t_fence_truth
#undef wic_t_lot_xchg

/* The line that an address lies in, or SCHED_LINES. */
static inline uint32_t sched_line(const uint64_t *p)
{
	uint64_t i = (uint64_t)((const unsigned char *)p - sched.lines) / SCHED_LINE_BYTES;

	return sched.lines && i < sched.lines_count ? (uint32_t)i : SCHED_LINES;
}

/* After a store, before anybody else runs. */
static inline void sched_stored(const uint64_t *p)
{
	uint32_t line = sched_line(p);
	uint64_t *highest;

	if (line == SCHED_LINES)
		return;
	highest = &sched.highest[line][((uintptr_t)p % SCHED_LINE_BYTES) / sizeof(*p)];
	SCHED_CHECK(*p >= *highest, "a word of a line goes back", *p, *highest);
	*highest = *p;
}

WIC_TREE_FN uint32_t wic_t_take(uint64_t *p, uint64_t owner)
{
	uint32_t taken = sched_gcc_take(p, owner), line = sched_line(p);

	if (!taken || line == SCHED_LINES)
		return taken;
	SCHED_CHECK(!sched.holder[line], "a line has two owners", line, sched.holder[line]);
	sched.holder[line] = 1 + sched.current;
	sched.fiber[sched.current].lines++;
	sched.counts.takes++;
	return taken;
}

WIC_TREE_FN void wic_t_give(uint64_t *p)
{
	uint32_t line = sched_line(p);

	sched_gcc_give(p);
	if (line == SCHED_LINES)
		return;
	SCHED_CHECK(sched.holder[line] == 1 + sched.current, "a line is freed by another", line,
		    sched.holder[line]);
	sched.holder[line] = 0;
	sched.fiber[sched.current].lines--;
}

WIC_TREE_FN void wic_t_raise(uint64_t *p, uint64_t v)
{
	SCHED_CHECK(!v || v != sched.fiber[sched.current].unfenced,
		    "what the host said is passed on without a fence", v, sched_line(p));
	sched_gcc_raise(p, v);
	sched_stored(p);
}

WIC_TREE_FN void wic_t_raise_fenced(uint64_t *p, uint64_t v)
{
	wic_t_raise(p, v);
}

WIC_TREE_FN void wic_t_store(uint64_t *p, uint64_t v)
{
	WIC_T_STEP();
	sched_gcc_store(p, v);
	sched_stored(p);
}

WIC_TREE_FN uint32_t wic_t_swap(uint64_t *p, uint64_t old, uint64_t v)
{
	uint64_t read = sched.fiber[sched.current].unfenced;
	uint32_t done;

	/* A tag in a slot: the lap is the ticket's, so what was read has another. */
	if (read >> SCHED_LAP && v >> SCHED_LAP && (v & SCHED_WHAT) < SCHED_WHAT - 1)
		SCHED_CHECK((read ^ v) & SCHED_WHAT, "a put is passed on without a fence", v,
			    sched_line(p));
	done = sched_gcc_swap(p, old, v);
	if (done)
		sched_stored(p);
	return done;
}

WIC_TREE_FN uint64_t wic_t_load_truth(const uint64_t *p)
{
	uint64_t v = sched_gcc_load_truth(p), i = (uint64_t)(p - sched.truth) / 16;

	if (sched.truth && i < sched.lines_count)
		SCHED_CHECK(sched.holder[i] == 1 + sched.current,
			    "a line is read by who does not own it", i, sched.holder[i]);
	sched.fiber[sched.current].unfenced = v;
	return v;
}

/* By who need not own the line. */
WIC_TREE_FN uint64_t wic_t_load_truth_once(const uint64_t *p)
{
	return sched.fiber[sched.current].unfenced = sched_gcc_load_truth_once(p);
}

WIC_TREE_FN void wic_t_fence_truth(void)
{
	sched_gcc_fence_truth();
	sched.fiber[sched.current].unfenced = 0;
}

/* Of the watcher only: the role is given away. */
WIC_TREE_FN uint32_t wic_t_lot_xchg(uint32_t *p, uint32_t v)
{
	uint32_t old = sched_gcc_lot_xchg(p, v);

	SCHED_CHECK(!sched.fiber[sched.current].lines, "who leaves the role owns lines",
		    sched.fiber[sched.current].lines, v);
	SCHED_CHECK(old == 1 + sched.fiber[sched.current].warp, "who leaves the role has it not",
		    old, sched.fiber[sched.current].warp);
	if (v)
		sched.counts.hand_overs++;
	else
		sched.counts.role_ends++;
	return old;
}

WIC_TREE_FN uint32_t wic_t_warp(void)
{
	return sched.fiber[sched.current].warp;
}

WIC_TREE_FN uint32_t wic_t_block(void)
{
	return sched.fiber[sched.current].block;
}

WIC_TREE_FN uint64_t wic_t_now(void)
{
	return sched.now_ns;
}

WIC_TREE_FN void wic_t_nap(uint32_t ns)
{
	if (sched.current == SCHED_MAIN)
		sched.now_ns += ns;
	else if (ns)
		sched_sleep(sched.now_ns + ns);
	else
		sched_go(sched_random());
}

/* A barrier: arrivals in its low half, parks that ended in its high half. */
WIC_TREE_FN void wic_t_arrive(uint64_t *barrier)
{
	uint32_t arrivals, parks;

	WIC_T_STEP();
	arrivals = (uint32_t)*barrier;
	parks = (uint32_t)(*barrier >> 32);
	SCHED_CHECK(arrivals == parks, "two arrives for one park", arrivals, parks);
	*barrier = (uint64_t)parks << 32 | (uint32_t)(arrivals + 1);
	for (uint64_t m = sched.parked; m; m &= m - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(m);
		uint64_t bit = (uint64_t)1 << i;

		if (sched.fiber[i].barrier != barrier || !(sched.sleeping & bit))
			continue;
		sched.sleeping &= ~bit;
		sched.runnable |= bit;
	}
}

/* If somebody has arrived: the park has ended. */
static inline uint32_t sched_unpark(uint64_t *barrier)
{
	if ((uint32_t)*barrier == *barrier >> 32)
		return 0;
	*barrier += (uint64_t)1 << 32;
	sched.counts.parks++;
	return 1;
}

WIC_TREE_FN uint32_t wic_t_park(uint64_t *barrier, uint32_t parity, uint64_t until)
{
	struct sched_fiber *self = &sched.fiber[sched.current];
	uint64_t bit = (uint64_t)1 << sched.current, random, wake = until;

	WIC_T_STEP();
	SCHED_CHECK((*barrier >> 32 & 1) == parity, "a park for a wrong parity", parity, *barrier);
	if (sched_unpark(barrier))
		return 1;
	SCHED_CHECK(sched.current != SCHED_MAIN, "no fiber, and it parks", parity, until);
	random = sched_random();
	if (!(random >> 61)) {
		random = sched.now_ns + 1 + random % SCHED_SPURIOUS_NS;
		wake = random < wake ? random : wake;
	}
	self->barrier = barrier;
	sched.parked |= bit;
	sched_sleep(wake);
	sched.parked &= ~bit;
	self->barrier = NULL;
	return sched_unpark(barrier);
}

#endif /* WIC_TESTS_TREE_TREE_SCHED_H */
