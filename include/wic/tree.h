/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The interrupt tree: the device half of push mode.
 *
 * Poll levels, not edges; one reader a line.  The truth is a word in host memory that only
 * grows.  At most one warp of a device looks at a given line of 16 such words again and again
 * (others read a word of it once, before an error); it raises copies in device memory; the others
 * look at the copies, and of a block all but one park.  There is no ring and no log: a wake-up may
 * be late, never lost.
 *
 *	host memory    truth[16] ----------------- control: cancel, ends
 *	                  |  read by the line's owner only         |
 *	device memory  line.word[16] = copies                      control.word[2]
 *	                  |  read by the watcher of each block     |
 *	shared memory  lot: mask of waiters, who watches; a slot a warp {barrier, word, want, ..}
 *	                  |  arrive
 *	               the parked warp: looks at the word itself, then goes on
 *
 * A warp that waits
 *	looks		at its word.  There: one acquire, done.
 *	registers	word and want in its slot, once a wait, then its bit in the mask.
 *	watches		if nobody does: it takes the role and looks at its own bit again.
 *	parks		otherwise, on its own barrier, and looks at its deadline now and then.
 *
 * The watcher, each turn: looks at the word of each waiter; takes lines that are wanted and that
 * nobody owns; reads those it owns and raises what grew; wakes whom something has come for.
 * When it leaves, it frees its lines and hands the role over.
 *
 * Tokens.  A set bit of the mask is a token.
 *  1. Who clears another warp's bit owes it one arrive, for bits that it cleared itself.  Who
 *     clears its own owes nothing.
 *  2. A waiter that leaves and finds its own bit cleared owes one park.
 *  3. After every completed park the id of the watcher is compared first.  Own: it is the
 *     watcher.  Otherwise it looks at its word, then at its deadline, then registers again.
 *  4. Who wins the role and finds its own bit clear parks once, with the role.
 *  5. Handing over takes the successor's bit, writes its id, arrives.  The last one: no id, then
 *     looks at the mask again; bits: tries to get the role back.
 *  6. The watcher looks at its own deadline and leaves as if satisfied.
 *  7. The mask is read with acquire.
 *
 * Why nothing is lost: a waiter is registered or watches; its block's watcher looks at its word
 * each turn, and at its line if nobody else owns that; an owner reads its lines each turn and
 * frees them before it leaves, and who looks next owns them.
 *
 * What ends a wait without data is a level too.  Control is a line of the context: word
 * WIC_TREE_CANCEL is odd while all waits are cancelled; WIC_TREE_ENDS counts ends (owner died,
 * channel closed), each of which is a word in host memory for all 16 tags of a line, that is read
 * when the count has grown.  What was published before an end still satisfies.
 *
 * To set it up: host memory that the device can read (pinned, by its device address), zeroed: a
 * line of 16 truth words for 16 tags, an end word, and a line for control.  Device memory: a
 * struct wic_tree_line for each, 256 bytes aligned, as wic_tree_line_set() and
 * wic_tree_control_set() describe them.  A lot a block in shared memory: wic_tree_lot_init() by
 * one thread, then a barrier.  With threads of a CPU all memory is one:
 *
 *	static uint64_t truth[16], end, control_truth[16];
 *	static struct wic_tree_line line, control;
 *	static struct wic_lot lot;
 *
 *	wic_tree_control_set(&control, &control, control_truth);
 *	wic_tree_line_set(&line, &line, truth, &end, &control);
 *	wic_tree_lot_init(&lot, 2);
 *	// thread w of block 0, once, then as often as it likes:
 *	wic_tree_thread_set(0, w);
 *	rc = wic_tree_wait(&lot, &line, 16, tag, epoch, WIC_MS(50), 1);
 *	// the host, after the data:
 *	wic_tree_say(&truth[tag], epoch);
 *
 * @m is the mask of live lanes: 1 for a thread or a fiber, on CUDA __activemask() of a converged
 * warp (all 32, or those of the last warp of an odd block).  A timeout of 0 looks once and gives
 * -ETIMEDOUT.
 *
 * One source for nvcc and C compilers.  What differs is in primitives that carry order and scope:
 * tree_cuda.h; tree_gcc.h with tree_threads.h, or with whatever WIC_TREE_PRIMITIVES names.
 * All lanes of @m, the live ones of a converged warp, call each function together, with the same
 * arguments, and get the same result.  docs/memory-order.md has a row a word; tests/model checks
 * the rules, tests/tree this code.
 *
 * A build that only needs wic_tree_wait_word() defines WIC_TREE_PLAIN_ONLY: no lines, fewer
 * registers.  wic_tree_next() and its queues are there where WIC_TREE_NEXT is defined: they cost
 * every wait some more.
 */
#ifndef WIC_TREE_H
#define WIC_TREE_H

#include <wic/abi.h>

#define WIC_WARPS_MAX 32u /* of a block that shares a lot */

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include <wic/tree_cuda.h>
#elif defined(WIC_TREE_PRIMITIVES)
#include WIC_TREE_PRIMITIVES
#else
#include <wic/tree_threads.h>
#endif

/*
 * Where warps are fibers or host and device are one, the primitives may say more:
 * WIC_T_TURN(): a watcher goes on without a nap: other fibers of its thread run there.
 * WIC_T_BEGAN(): when the wait of this warp began, as far as the lengths of naps go.
 * WIC_T_JOINED(lot): this warp is about to park behind a watcher, who may be in a long nap.
 * WIC_T_FIRST(lot, word): the first watcher of a lot; word: that it waits for, with its low bits.
 * WIC_T_CONTROL_TURNS: cancel and ends are looked for each so many turns.
 * WIC_T_PATIENCE: a nap is one part in so many of what was waited: as much it may come too late.
 * WIC_T_READS_ALL: each watcher reads the lines that its waiters want; nobody owns any.
 */
#ifndef WIC_T_TURN
#define WIC_T_TURN() ((void)0)
#endif
#ifndef WIC_T_BEGAN
#define WIC_T_BEGAN() wic_t_now()
#endif
#ifndef WIC_T_CONTROL_TURNS
#define WIC_T_CONTROL_TURNS 1u
#endif
#ifndef WIC_T_PATIENCE
#define WIC_T_PATIENCE 20u
#endif
#ifndef WIC_T_FIRST
#define WIC_T_FIRST(lot, word) ((void)0)
#endif
#ifndef WIC_T_JOINED
#define WIC_T_JOINED(lot) ((void)0)
#endif
#ifndef WIC_T_READS_ALL
#define WIC_T_READS_ALL 0
#endif

/*
 * Registers are the price of a wait, in each lane, so nvcc gets them in other words:
 * WIC_T_LOT is how functions hand a lot on, half a pointer in shared memory, and WIC_T_AT() the
 * address of a field of it for the wic_t_lot_ primitives; after WIC_T_FORGET() what was computed
 * from a variable is computed again rather than kept.
 */
#ifndef WIC_T_LOT
#define WIC_T_LOT struct wic_lot *
#define WIC_T_LOT_OF(lot) (lot)
#define WIC_T_AT(lot, field) (&(lot)->field)
#define WIC_T_FORGET(v) ((void)(v))
#endif

/* errno.h is not everywhere where this is compiled; the numbers are those of Linux. */
#define WIC_TREE_EAGAIN (-11)
#define WIC_TREE_EINVAL (-22)
#define WIC_TREE_ETIMEDOUT (-110)
#define WIC_TREE_ECANCELED (-125)
#define WIC_TREE_EOWNERDEAD (-130)
#define WIC_TREE_PENDING 1 /* none of them yet */
#define WIC_TREE_WATCHES 2 /* and the role is this warp's */
#define WIC_TREE_LAST_ 3   /* of an epoch's readers */
#define WIC_TREE_PARKS_ 4  /* and its bit is set */
#define WIC_TREE_PARKS_OWED_ 5
#define WIC_TREE_LEFT_ 6 /* its own bit was set and is not any more */
#define WIC_TREE_MET_ 2u /* beside 1: the watcher's own wait, by the truth itself */
#define WIC_TREE_LONG_NS_ 1000000u
#define WIC_TREE_OTHERS_ 1u /* no line: somebody else owns the one that is wanted */

#define WIC_TREE_LINE_TAGS 16u

/* Words of the control line. */
#define WIC_TREE_CANCEL 0u
#define WIC_TREE_ENDS 1u
#define WIC_TREE_CONTROL_WORDS 2u
#define WIC_TREE_WAITED 2u /* no copy: blocks that reached a wait, where they are counted */

/* Values of an end. */
#define WIC_TREE_CLOSED 1u
#define WIC_TREE_DIED 2u
#define WIC_TREE_CANCELLED 3u /* no end of a tag, but of a wait */

/* Low bits of a word's address in a slot. */
#define WIC_TREE_PLAIN 1u /* a word of the user's: no line, no control */
#define WIC_TREE_SYS 2u   /* written from outside the device: wic_tree_wait_peer() */
#define WIC_TREE_PLACE 4u /* its line has no truth: whoever publishes raises the word itself */
#define WIC_TREE_BITS 7u

/*
 * 16 tags in device memory, 256 bytes aligned, so that a word's address says its line.  The
 * control line is one of these too.  All but word, owner and the copies of the end are constant.
 */
struct __attribute__((aligned(256))) wic_tree_line {
	uint64_t word[WIC_TREE_LINE_TAGS]; /* epochs; raised with release, read relaxed */
	uint64_t owner;                    /* 0, or 1 + the block that reads truth */
	const uint64_t *truth;             /* 16 words of host memory; NULL: raised in place */
	const uint64_t *end_truth;         /* host memory: 0 or how the line's tags ended */
	struct wic_tree_line *control;     /* NULL in the control line itself */
	struct wic_tree_line *reader;      /* whose owner reads for it: itself, its queue, NULL */
	struct wic_tree_line *slots;       /* of a queue: its device slots, else NULL */
	uint64_t size;                     /* of a queue: slots, a power of two from 16 */
	uint64_t *drained;                 /* of a queue: host memory, how many slots were read */
	uint64_t end;                      /* copy of *end_truth as of end_seen */
	uint64_t end_seen;                 /* control's WIC_TREE_ENDS then */
	uint64_t pad[6];
};

/*
 * A warp's place in the lot.  word, want and until: the warp's, written when its wait begins and
 * kept here, not in registers of all its lanes; line: the watcher's.
 */
struct wic_lot_warp {
	uint64_t barrier; /* sm_90: an mbarrier; else arrivals, the lowest bit is the parity */
	uint64_t word;    /* address | WIC_TREE_PLAIN | WIC_TREE_SYS */
	uint64_t want;
	uint64_t until; /* its deadline */
	uint64_t line;  /* owned for this place by the watcher, WIC_TREE_OTHERS_, or 0 */
};

/*
 * Where the warps of a block meet, in its shared memory: WIC_LOT_BYTES(warps) bytes, 8 aligned.
 * Atomics only.
 */
struct wic_lot {
	uint32_t mask;    /* bit w: warp w is registered */
	uint32_t watcher; /* 1 + warp, 0: nobody */
	uint32_t parity;  /* bit w: parity that warp w's next park ends */
	uint32_t warps;
	uint64_t control; /* control line owned by the watcher, or 0 */
	uint64_t turns;   /* of watchers, so that looking can be counted */
	uint64_t since;   /* the watcher's: when it began */
	struct wic_lot_warp warp[WIC_WARPS_MAX];
};

/* Numbers, which are asserted below: NVRTC has no offsetof(). */
#define WIC_LOT_BYTES(warps) (40u + 40u * (warps))

WIC_STATIC_ASSERT(sizeof(struct wic_tree_line) == 256, "an address says its line");
WIC_STATIC_ASSERT(sizeof(struct wic_lot_warp) == 40, "a slot");
WIC_STATIC_ASSERT_AT(struct wic_lot, warp, 40, "the lot's head");

/**
 * wic_tree_lot_init() - Make a lot, before any warp of the block waits.
 * @lot: WIC_LOT_BYTES(@warps) bytes.
 * @warps: of the block, 1 to WIC_WARPS_MAX.
 *
 * Context: one thread of the block; a barrier of the block follows.
 */
WIC_TREE_FN void wic_tree_lot_init(struct wic_lot *lot, uint32_t warps)
{
	lot->mask = 0;
	lot->watcher = 0;
	lot->parity = 0;
	lot->warps = warps;
	lot->control = 0;
	lot->turns = 0;
	lot->since = 0;
	for (uint32_t i = 0; i < warps; i++) {
		wic_t_barrier_init(WIC_T_AT(WIC_T_LOT_OF(lot), warp[i].barrier));
		lot->warp[i].word = 0;
		lot->warp[i].want = 0;
		lot->warp[i].until = 0;
		lot->warp[i].line = 0;
	}
}

/**
 * wic_tree_lot_fini() - End a lot, in which no warp waits.
 * @lot: its memory may be used for something else after a barrier of the block.
 *
 * Context: one thread of the block, after a barrier of it.
 */
WIC_TREE_FN void wic_tree_lot_fini(struct wic_lot *lot)
{
	for (uint32_t i = 0; i < lot->warps; i++)
		wic_t_barrier_fini(WIC_T_AT(WIC_T_LOT_OF(lot), warp[i].barrier));
}

#ifndef __CUDACC_RTC__ /* which has no host */

/* ---- the host's side -------------------------------------------------------------------- */

/**
 * wic_tree_line_set() - Describe a line of 16 tags that nothing was published on.
 * @line: the description; copied to @device if that is somewhere else.
 * @device: where the line will lie, in memory of the device.
 * @truth: its 16 words in host memory, all 0; NULL: warps of this device or a peer raise the words.
 * @end_truth: its end, a word of host memory, 0.
 * @control: the context's control line, on the device.
 *
 * Context: host thread, before any warp waits.
 */
WIC_TREE_HOST void wic_tree_line_set(struct wic_tree_line *line, struct wic_tree_line *device,
				     const uint64_t *truth, const uint64_t *end_truth,
				     struct wic_tree_line *control)
{
	struct wic_tree_line none = { { 0 }, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 } };

	*line = none;
	line->truth = truth;
	line->end_truth = end_truth;
	line->control = control;
	line->reader = truth ? device : NULL;
}

/**
 * wic_tree_control_set() - Describe the control line of a context on a device.
 * @line: the description; copied to @device if that is somewhere else.
 * @device: where the line will lie, in memory of the device.
 * @truth: 16 words of host memory, all 0.
 *
 * Context: host thread, before any warp waits.
 */
WIC_TREE_HOST void wic_tree_control_set(struct wic_tree_line *line, struct wic_tree_line *device,
					const uint64_t *truth)
{
	wic_tree_line_set(line, device, truth, NULL, NULL);
}

/**
 * wic_tree_say() - Publish an epoch from the host.
 * @truth: the tag's word.
 * @epoch: greater than the last.
 *
 * One store; what the thread wrote before is visible to who waits for it.
 *
 * Context: host thread; one at a time a tag.
 */
WIC_TREE_HOST void wic_tree_say(uint64_t *truth, uint64_t epoch)
{
	__atomic_store_n(truth, epoch, __ATOMIC_RELEASE);
}

/**
 * wic_tree_say_end() - End the 16 tags of a line: waits for what is not published fail.
 * @end_truth: the line's end.
 * @control_truth: the context's control words.
 * @how: WIC_TREE_CLOSED (-ECANCELED) or WIC_TREE_DIED (-EOWNERDEAD).
 *
 * After the last publish.  An end is for good; of two, either is seen.
 *
 * Context: host thread.
 */
WIC_TREE_HOST void wic_tree_say_end(uint64_t *end_truth, uint64_t *control_truth, uint32_t how)
{
	uint64_t old = __atomic_load_n(end_truth, __ATOMIC_RELAXED);

	while (old < how && !__atomic_compare_exchange_n(end_truth, &old, how, 1, __ATOMIC_ACQ_REL,
							 __ATOMIC_RELAXED))
		;
	/* After the end: who sees the count finds it. */
	__atomic_fetch_add(&control_truth[WIC_TREE_ENDS], 1, __ATOMIC_RELEASE);
}

/**
 * wic_tree_say_cancel() - Cancel all waits of a context, or let them wait again.
 * @control_truth: the context's control words.
 * @is_on: 1 or 0.
 *
 * Context: host thread, signal handler.
 */
WIC_TREE_HOST void wic_tree_say_cancel(uint64_t *control_truth, uint32_t is_on)
{
	uint64_t old = __atomic_load_n(&control_truth[WIC_TREE_CANCEL], __ATOMIC_RELAXED);

	while (old % 2 != is_on &&
	       !__atomic_compare_exchange_n(&control_truth[WIC_TREE_CANCEL], &old, old + 1, 1,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

#endif /* __CUDACC_RTC__ */

/* ---- what a waiter sees ---------------------------------------------------------------- */

WIC_TREE_FN uint64_t *wic_tree_word_(uint64_t word)
{
	return (uint64_t *)(uintptr_t)(word & ~(uint64_t)WIC_TREE_BITS);
}

WIC_TREE_FN struct wic_tree_line *wic_tree_line_(uint64_t word)
{
	return (struct wic_tree_line *)(uintptr_t)(word & ~(uint64_t)255);
}

WIC_TREE_FN uint32_t wic_tree_is_there_(uint64_t word, uint64_t want)
{
	const uint64_t *p = wic_tree_word_(word);

	return (word & (WIC_TREE_PLAIN | WIC_TREE_SYS) ? wic_t_load_sys(p) : wic_t_load(p)) >= want;
}

/* The acquire that satisfies, by who has seen the value already. */
WIC_TREE_FN uint32_t wic_tree_acquire_(uint64_t word, uint64_t want)
{
	const uint64_t *p = wic_tree_word_(word);

	return (word & (WIC_TREE_PLAIN | WIC_TREE_SYS) ? wic_t_acquire_sys(p) : wic_t_acquire(p)) >=
	       want;
}

/* The watcher's own number.  While it watches, nobody else writes this. */
WIC_TREE_FN uint32_t wic_tree_me_(WIC_T_LOT lot)
{
	return wic_t_lot_load(WIC_T_AT(lot, watcher)) - 1;
}

/* Wakes whom something has come for; its own bit goes when it is satisfied itself. */
WIC_TREE_FN void wic_tree_wake_(WIC_T_LOT lot, uint32_t m, uint32_t ready)
{
	uint32_t taken = 0;

	WIC_T_ONE(m) {
		taken = wic_t_lot_and(WIC_T_AT(lot, mask), ~ready) & ready; /* rule 1 */
		taken &= ~(1u << wic_tree_me_(lot));
	}
	taken = wic_t_get(m, taken);
	/* Who is woken finds its bit cleared, whichever lane arrives. */
	wic_t_sync(m);
	WIC_T_EACH(m, i, wic_t_lot_load(WIC_T_AT(lot, warps))) {
		if (taken >> i & 1)
			wic_t_arrive(WIC_T_AT(lot, warp[i].barrier));
	}
}

#ifndef WIC_TREE_PLAIN_ONLY

/* Raises a copy to what host memory says, where that grew; 1: it did. */
WIC_TREE_FN uint32_t wic_tree_raise_(uint64_t *copy, uint64_t truth)
{
	if (truth <= wic_t_load(copy))
		return 0;
	/* What was written before the truth is visible to who acquires the copy. */
	wic_t_fence_truth();
	wic_t_raise_fenced(copy, truth);
	return 1;
}

/* What a word is now, if it grew; else 0. */
WIC_TREE_FN uint64_t wic_tree_copy_word_(struct wic_tree_line *line, uint32_t i)
{
	uint64_t truth = wic_t_load_truth(&line->truth[i]);

	return wic_tree_raise_(&line->word[i], truth) ? truth : 0;
}

#ifdef WIC_TREE_NEXT
/*
 * ---- queues: whichever tag is ready ----
 *
 * The producer puts tags into truth slots, in the order in which they became ready; a consumer
 * takes a ticket and waits for the device slot of that number as for any word.  Who owns the
 * queue moves tags from truth slots to device slots: a device slot is no copy of a truth slot,
 * since a ticket that was given up is passed over.
 *
 * A slot's value is lap << WIC_TREE_LAP | what, with lap = number / size + 1: it only grows, so
 * nothing is reset, and what an earlier lap left is never taken for a tag.  A tag is put where the
 * last lap's is TAKEN or CLOSED, and a ticket is taken there only, so none is overwritten.
 */
#define WIC_TREE_LAP 24
#define WIC_TREE_WHAT (((uint64_t)1 << WIC_TREE_LAP) - 1) /* 1 + tag, or: */
#define WIC_TREE_SLOT_TAKEN (WIC_TREE_WHAT - 1)
#define WIC_TREE_SLOT_CLOSED WIC_TREE_WHAT

/* Words of a queue's line: all but the tickets are its owner's. */
#define WIC_TREE_TICKET 0u  /* next to be taken */
#define WIC_TREE_HEAD 1u    /* next ticket that gets a tag */
#define WIC_TREE_DRAINED 2u /* truth slots that were read */

WIC_TREE_FN uint64_t wic_tree_lap_(const struct wic_tree_line *queue, uint64_t number)
{
	return (number / queue->size + 1) << WIC_TREE_LAP;
}

WIC_TREE_FN uint64_t *wic_tree_slot_(const struct wic_tree_line *queue, uint64_t number)
{
	uint64_t i = number % queue->size;

	return &queue->slots[i / WIC_TREE_LINE_TAGS].word[i % WIC_TREE_LINE_TAGS];
}

/*
 * May the slot be used by the lap that is given?  The lap before has left it: not before its
 * ticket is TAKEN or CLOSED, even if nothing is in it yet.
 */
WIC_TREE_FN uint32_t wic_tree_slot_is_free_(uint64_t value, uint64_t lap)
{
	return value < lap && value + ((uint64_t)1 << WIC_TREE_LAP) >= lap &&
	       (!value || (value & WIC_TREE_WHAT) >= WIC_TREE_SLOT_TAKEN);
}

/* The truth slot of @number if it was put, else 0. */
WIC_TREE_FN uint64_t wic_tree_truth_slot_(const struct wic_tree_line *queue, uint64_t number)
{
	uint64_t lap = wic_tree_lap_(queue, number);
	uint64_t value = wic_t_load_truth(&queue->truth[number % queue->size]);

	return value > lap ? value : 0;
}

/* Moves what was put to the tickets in their order.  The queue's owner, one lane. */
WIC_TREE_FN uint32_t wic_tree_drain_(struct wic_tree_line *queue)
{
	uint64_t drained = wic_t_load(&queue->word[WIC_TREE_DRAINED]);
	uint64_t head = wic_t_load(&queue->word[WIC_TREE_HEAD]), from = drained, put;

	while ((put = wic_tree_truth_slot_(queue, drained))) {
		uint64_t *slot = wic_tree_slot_(queue, head);
		uint64_t lap = wic_tree_lap_(queue, head), value = wic_t_load(slot);

		if (value >= lap) { /* given up, by this ticket or by one of a later lap */
			head++;
			continue;
		}
		if (!wic_tree_slot_is_free_(value, lap))
			break; /* full: its last tag is not taken yet */
		wic_t_fence_truth();
		if (!wic_t_swap(slot, value, lap | (put & WIC_TREE_WHAT)))
			continue;
		head++;
		drained++;
	}
	wic_t_store(&queue->word[WIC_TREE_HEAD], head);
	if (drained == from)
		return 0;
	wic_t_store(&queue->word[WIC_TREE_DRAINED], drained);
	wic_t_post_sys(queue->drained, drained);
	return 1;
}

/* Is something put that nobody has moved yet?  It may be the waiter's. */
WIC_TREE_FN uint32_t wic_tree_is_put_(const struct wic_tree_line *queue)
{
	return queue && queue->slots &&
	       wic_tree_truth_slot_(queue, wic_t_load(&queue->word[WIC_TREE_DRAINED]));
}

/* Reads word @i of an owned line: its value if it grew; or all that is new of an owned queue. */
WIC_TREE_FN uint64_t wic_tree_read_(struct wic_tree_line *line, uint32_t i)
{
	if (line->slots)
		return i ? 0 : wic_tree_drain_(line);
	return wic_tree_copy_word_(line, i);
}
#else
WIC_TREE_FN uint32_t wic_tree_is_put_(const struct wic_tree_line *queue)
{
	(void)queue;
	return 0;
}

WIC_TREE_FN uint64_t wic_tree_read_(struct wic_tree_line *line, uint32_t i)
{
	return wic_tree_copy_word_(line, i);
}
#endif /* WIC_TREE_NEXT */

/*
 * What ends waits at @line without data: 0, WIC_TREE_CLOSED, WIC_TREE_DIED, WIC_TREE_CANCELLED.
 * @is_waiter: it goes by what it sees; a watcher only wakes for it.
 */
WIC_TREE_FN uint32_t wic_tree_end_(struct wic_tree_line *line, uint32_t is_waiter)
{
	struct wic_tree_line *control = line->control;
	uint64_t ends = wic_t_load(&control->word[WIC_TREE_ENDS]), end;

	if (ends != wic_t_load(&line->end_seen)) {
		/* Pairs with the owner's raise: the ends that were counted are visible. */
		ends = wic_t_acquire(&control->word[WIC_TREE_ENDS]);
		end = wic_t_load_truth_once(line->end_truth);
		/* It may be newer than the count; what was published before it is visible. */
		wic_t_fence_truth();
		wic_t_raise(&line->end, end);
		wic_t_raise(&line->end_seen, ends);
	}
	/* Relaxed each turn, as acquire would empty the L1 cache each turn. */
	if (wic_t_load(&line->end))
		return (uint32_t)wic_t_acquire(&line->end);
	if (!(wic_t_load(&control->word[WIC_TREE_CANCEL]) & 1))
		return 0;
	/* The copy may be older than a wait that began after it was cleared: the truth decides. */
	if (is_waiter) {
		uint64_t truth = wic_t_load_truth_once(&control->truth[WIC_TREE_CANCEL]);

		wic_tree_raise_(&control->word[WIC_TREE_CANCEL], truth);
		if (!(truth & 1))
			return 0;
	}
	return WIC_TREE_CANCELLED;
}

/*
 * Before an error the truth is read once, whoever owns the line: for what was published while
 * nobody waited, or right before the end.
 */
WIC_TREE_FN void wic_tree_last_(uint64_t word)
{
	const uint64_t *truth = wic_tree_line_(word)->truth;

	if (truth)
		wic_tree_raise_(
			wic_tree_word_(word),
			wic_t_load_truth_once(&truth[(uint32_t)word / 8 % WIC_TREE_LINE_TAGS]));
}

WIC_TREE_FN int wic_tree_error_(uint32_t end)
{
	return end == WIC_TREE_DIED ? WIC_TREE_EOWNERDEAD : WIC_TREE_ECANCELED;
}

/* 0, an error that ends the wait, or WIC_TREE_PENDING.  Without a lot: volatile, as its poller. */
WIC_TREE_FN int wic_tree_state_(const volatile uint64_t *word, const volatile uint64_t *want,
				uint32_t is_waiter)
{
	uint32_t end;

	if (wic_tree_is_there_(*word, *want))
		return 0;
	if (*word & WIC_TREE_PLAIN)
		return WIC_TREE_PENDING;
	end = wic_tree_end_(wic_tree_line_(*word), is_waiter);
	if (!end)
		return WIC_TREE_PENDING;
	wic_tree_last_(*word);
	if (wic_tree_acquire_(*word, *want))
		return 0;
	if (end != WIC_TREE_CANCELLED && wic_tree_is_put_(wic_tree_line_(*word)->reader))
		return WIC_TREE_PENDING;
	return wic_tree_error_(end);
}

/*
 * The same of place @i.  Word and want are loaded again rather than kept; where its warp has begun
 * another wait meanwhile, it is woken for nothing at the worst.
 */
WIC_TREE_FN int wic_tree_state_of_(WIC_T_LOT lot, uint32_t i, uint32_t is_waiter)
{
	uint64_t word;
	uint32_t end;

	if (wic_tree_is_there_(wic_t_lot_load64(WIC_T_AT(lot, warp[i].word)),
			       wic_t_lot_load64(WIC_T_AT(lot, warp[i].want))))
		return 0;
	word = wic_t_lot_load64(WIC_T_AT(lot, warp[i].word));
	if (word & WIC_TREE_PLAIN)
		return WIC_TREE_PENDING;
	end = wic_tree_end_(wic_tree_line_(word), is_waiter);
	if (!end)
		return WIC_TREE_PENDING;
	word = wic_t_lot_load64(WIC_T_AT(lot, warp[i].word));
	/* Of another wait by now: its line may not have ended. */
	if (word & WIC_TREE_PLAIN ||
	    (end != WIC_TREE_CANCELLED && !wic_t_load(&wic_tree_line_(word)->end)))
		return WIC_TREE_PENDING;
	wic_tree_last_(word);
	if (wic_tree_acquire_(wic_t_lot_load64(WIC_T_AT(lot, warp[i].word)),
			      wic_t_lot_load64(WIC_T_AT(lot, warp[i].want))))
		return 0;
	if (end != WIC_TREE_CANCELLED && wic_tree_is_put_(wic_tree_line_(word)->reader))
		return WIC_TREE_PENDING;
	return wic_tree_error_(end);
}

/* Whose owner reads for the line of a word that has a truth. */
WIC_TREE_FN struct wic_tree_line *wic_tree_reader_(uint64_t word)
{
#ifdef WIC_TREE_NEXT
	return wic_tree_line_(word)->reader;
#else
	/* Without queues: itself.  A look less at memory, each turn. */
	return wic_tree_line_(word);
#endif
}

/* ---- lines: owned, read, freed --------------------------------------------------------- */

/* 1: this warp reads it from now on.  @is_new: it is likely free, and is taken without a look. */
WIC_TREE_FN uint32_t wic_tree_own_(struct wic_tree_line *line, uint32_t is_new)
{
	if (WIC_T_READS_ALL)
		return 1;
	return (is_new || !wic_t_load(&line->owner)) &&
	       wic_t_take(&line->owner, 1 + (uint64_t)wic_t_block());
}

WIC_TREE_FN void wic_tree_free_(uint64_t line)
{
	if (line > WIC_TREE_OTHERS_ && !WIC_T_READS_ALL)
		wic_t_give(&((struct wic_tree_line *)(uintptr_t)line)->owner);
}

/* What the owner of a line would do, once, by who does not stay. */
WIC_TREE_FN void wic_tree_read_line_once_(struct wic_tree_line *line, uint32_t words)
{
	if (!line || !wic_tree_own_(line, 0))
		return;
	for (uint32_t i = 0; i < words; i++)
		wic_tree_read_(line, i);
	wic_tree_free_((uint64_t)(uintptr_t)line);
}

/* Past the deadline: what came while nobody waited, and so nobody read it.  One lane. */
WIC_TREE_FN void wic_tree_read_once_(uint64_t word)
{
	if (word & WIC_TREE_PLAIN)
		return;
	wic_tree_read_line_once_(wic_tree_line_(word)->control, WIC_TREE_CONTROL_WORDS);
	if (wic_tree_line_(word)->truth)
		wic_tree_last_(word);
	else
		wic_tree_read_line_once_(wic_tree_line_(word)->reader, 1);
}

/* The line of place @i, which is @wanted: who waits there waits on.  Owned if nobody else does. */
WIC_TREE_FN void wic_tree_place_line_(WIC_T_LOT lot, uint32_t i, uint32_t wanted)
{
	uint64_t word = wanted ? wic_t_lot_load64(WIC_T_AT(lot, warp[i].word)) : 0;
	uint64_t owned = wic_t_lot_load64(WIC_T_AT(lot, warp[i].line));
	struct wic_tree_line *line = NULL;

	if (word && !(word & (WIC_TREE_PLAIN | WIC_TREE_PLACE)))
		line = wic_tree_reader_(word);
	if (owned == (uint64_t)(uintptr_t)line)
		return;
	wic_tree_free_(owned);
	if (line && wic_tree_own_(line, owned != WIC_TREE_OTHERS_))
		owned = (uint64_t)(uintptr_t)line;
	else
		owned = line ? WIC_TREE_OTHERS_ : 0;
	wic_t_lot_store64(WIC_T_AT(lot, warp[i].line), owned);
}

/* Who of @mask waits for @word to be @now at the most: so nobody looks at the copy for them. */
WIC_TREE_FN uint32_t wic_tree_met_(WIC_T_LOT lot, uint32_t mask, const uint64_t *word, uint64_t now)
{
	uint32_t met = 0;

	for (; mask; mask &= mask - 1) {
		uint32_t i = wic_t_ffs(mask);

		if (wic_tree_word_(wic_t_lot_load64(WIC_T_AT(lot, warp[i].word))) == word &&
		    wic_t_lot_load64(WIC_T_AT(lot, warp[i].want)) <= now)
			met |= 1u << i;
	}
	return met;
}

/* Reads the lines that are owned, two a load, and wakes; returns whether any word grew. */
WIC_TREE_FN uint32_t wic_tree_read_lines_(WIC_T_LOT lot, uint32_t m, uint32_t mask)
{
	uint32_t grown = 0, owned = 0, ready = 0;

	WIC_T_EACH(m, i, wic_t_lot_load(WIC_T_AT(lot, warps)))
		owned |=
			(uint32_t)(wic_t_lot_load64(WIC_T_AT(lot, warp[i].line)) > WIC_TREE_OTHERS_)
			<< i;
	owned = wic_t_or(m, owned);
	/* All lanes read what one wrote. */
	wic_t_sync(m);
	while (owned) {
		uint32_t rest = owned & (owned - 1);

		WIC_T_EACH(m, j, 2 * WIC_TREE_LINE_TAGS) {
			uint32_t of = j < WIC_TREE_LINE_TAGS ? owned : rest;
			uint32_t i = j % WIC_TREE_LINE_TAGS;
			struct wic_tree_line *line;
			uint64_t now;

			if (!of)
				continue;
			line = wic_tree_line_(
				wic_t_lot_load64(WIC_T_AT(lot, warp[wic_t_ffs(of)].line)));
			now = wic_tree_read_(line, i);
			if (!now)
				continue;
			grown = 1;
			ready |= wic_tree_met_(lot, mask, &line->word[i], now);
		}
		owned = rest & (rest - 1);
	}
	grown = wic_t_or(m, grown);
	if (!grown)
		return 0;
	ready = wic_t_or(m, ready);
	wic_tree_wake_(lot, m, ready);
	/* Who saw it has passed the fence, and all lanes have met since. */
	return 1 | (ready >> wic_t_warp() & 1 ? WIC_TREE_MET_ : 0);
}

/*
 * The control line of one of the waiters, another one each turn, so that several contexts in
 * one block all have their turn.  Returns whether it grew.  One lane.
 */
WIC_TREE_FN uint32_t wic_tree_control_(WIC_T_LOT lot, uint32_t mask)
{
	uint32_t turn = (uint32_t)wic_t_lot_load64(WIC_T_AT(lot, turns));
	uint32_t first = turn % wic_t_lot_load(WIC_T_AT(lot, warps));
	uint32_t above = mask & ~((1u << first) - 1), grown = 0, i;
	uint64_t owned = wic_t_lot_load64(WIC_T_AT(lot, control));
	struct wic_tree_line *control = NULL;

	/* Words of the user's have none. */
	while (mask && !control) {
		uint64_t word;

		i = wic_t_ffs(above ? above : mask);
		above &= ~(1u << i);
		mask &= ~(1u << i);
		word = wic_t_lot_load64(WIC_T_AT(lot, warp[i].word));
		if (!(word & WIC_TREE_PLAIN))
			control = wic_tree_line_(word)->control;
	}
	if (owned != (uint64_t)(uintptr_t)control) {
		wic_tree_free_(owned);
		owned = 0;
		if (control && wic_tree_own_(control, 0))
			owned = (uint64_t)(uintptr_t)control;
		wic_t_lot_store64(WIC_T_AT(lot, control), owned);
	}
	for (i = 0; i < WIC_TREE_CONTROL_WORDS; i++) {
		owned = wic_t_lot_load64(WIC_T_AT(lot, control));
		if (owned)
			grown |= !!wic_tree_copy_word_(wic_tree_line_(owned), i);
	}
	return grown;
}

WIC_TREE_FN void wic_tree_free_lines_(WIC_T_LOT lot, uint32_t m)
{
	wic_t_sync(m);
	WIC_T_EACH(m, i, wic_t_lot_load(WIC_T_AT(lot, warps))) {
		wic_tree_free_(wic_t_lot_load64(WIC_T_AT(lot, warp[i].line)));
		wic_t_lot_store64(WIC_T_AT(lot, warp[i].line), 0);
	}
	WIC_T_ONE(m) {
		wic_tree_free_(wic_t_lot_load64(WIC_T_AT(lot, control)));
		wic_t_lot_store64(WIC_T_AT(lot, control), 0);
	}
	wic_t_sync(m);
}

/*
 * The lines of a warp without a lot: takes those of @word, reads those it owns.  Bits of @owned,
 * of the leader before and of all lanes after: 1 the word's line, 2 control.
 */
WIC_TREE_FN uint32_t wic_tree_poll_lines_(const volatile uint64_t *word, uint32_t m, uint32_t owned)
{
	if (*word & WIC_TREE_PLAIN)
		return 0;
	WIC_T_ONE(m) {
		if (!(owned & 1) && wic_tree_line_(*word)->reader &&
		    wic_tree_own_(wic_tree_line_(*word)->reader, 0))
			owned |= 1;
		if (!(owned & 2) && wic_tree_own_(wic_tree_line_(*word)->control, 0))
			owned |= 2;
		for (uint32_t i = 0; owned & 2 && i < WIC_TREE_CONTROL_WORDS; i++)
			wic_tree_copy_word_(wic_tree_line_(*word)->control, i);
	}
	owned = wic_t_get(m, owned);
	if (owned & 1)
		WIC_T_EACH(m, i, WIC_TREE_LINE_TAGS)
			wic_tree_read_(wic_tree_line_(*word)->reader, i);
	return owned;
}

WIC_TREE_FN void wic_tree_poll_free_(const volatile uint64_t *word, uint32_t m, uint32_t owned)
{
	wic_t_sync(m);
	WIC_T_ONE(m) {
		if (owned & 1)
			wic_tree_free_((uint64_t)(uintptr_t)wic_tree_line_(*word)->reader);
		if (owned & 2)
			wic_tree_free_((uint64_t)(uintptr_t)wic_tree_line_(*word)->control);
	}
}

#else /* WIC_TREE_PLAIN_ONLY */

WIC_TREE_FN int wic_tree_state_(const volatile uint64_t *word, const volatile uint64_t *want,
				uint32_t is_waiter)
{
	(void)is_waiter;
	return wic_tree_is_there_(*word, *want) ? 0 : WIC_TREE_PENDING;
}

WIC_TREE_FN int wic_tree_state_of_(WIC_T_LOT lot, uint32_t i, uint32_t is_waiter)
{
	(void)is_waiter;
	return wic_tree_is_there_(wic_t_lot_load64(WIC_T_AT(lot, warp[i].word)),
				  wic_t_lot_load64(WIC_T_AT(lot, warp[i].want)))
		       ? 0
		       : WIC_TREE_PENDING;
}

WIC_TREE_FN void wic_tree_read_once_(uint64_t word)
{
	(void)word;
}

WIC_TREE_FN void wic_tree_place_line_(WIC_T_LOT lot, uint32_t i, uint32_t wanted)
{
	(void)lot, (void)i, (void)wanted;
}

WIC_TREE_FN uint32_t wic_tree_read_lines_(WIC_T_LOT lot, uint32_t m, uint32_t mask)
{
	(void)lot, (void)m, (void)mask;
	return 0;
}

WIC_TREE_FN uint32_t wic_tree_control_(WIC_T_LOT lot, uint32_t mask)
{
	(void)lot, (void)mask;
	return 0;
}

WIC_TREE_FN void wic_tree_free_lines_(WIC_T_LOT lot, uint32_t m)
{
	(void)lot, (void)m;
}

WIC_TREE_FN uint32_t wic_tree_poll_lines_(const volatile uint64_t *word, uint32_t m, uint32_t owned)
{
	(void)word, (void)m, (void)owned;
	return 0;
}

WIC_TREE_FN void wic_tree_poll_free_(const volatile uint64_t *word, uint32_t m, uint32_t owned)
{
	(void)word, (void)m, (void)owned;
}

#endif

/* ---- the watcher ----------------------------------------------------------------------- */

/* Has something come for place @i: its word or, where that is looked for in this turn, an end? */
WIC_TREE_FN uint32_t wic_tree_has_come_(WIC_T_LOT lot, uint32_t i, uint32_t controls)
{
	if (controls)
		return wic_tree_state_of_(lot, i, 0) != WIC_TREE_PENDING;
	return wic_tree_is_there_(wic_t_lot_load64(WIC_T_AT(lot, warp[i].word)),
				  wic_t_lot_load64(WIC_T_AT(lot, warp[i].want)));
}

/* Rarely, or a little less so where nothing else has happened for long. */
WIC_TREE_FN uint32_t wic_tree_controls_are_due_(WIC_T_LOT lot, uint32_t m)
{
	uint32_t due = 1;

	/* One clock for all lanes. */
	if (WIC_T_CONTROL_TURNS == 1)
		return 1;
	WIC_T_ONE(m) {
		uint32_t turn = (uint32_t)wic_t_lot_load64(WIC_T_AT(lot, turns)) + 1;

		due = turn % WIC_T_CONTROL_TURNS == 0;
		if (!due && turn % 16 == 0)
			due = wic_t_lot_load64(WIC_T_AT(lot, since)) + WIC_TREE_LONG_NS_ <
			      wic_t_now();
	}
	return wic_t_get(m, due);
}

/* One turn; returns whether anything moved, and WIC_TREE_MET_. */
WIC_TREE_FN uint32_t wic_tree_turn_(WIC_T_LOT lot, uint32_t m)
{
	uint32_t mask = wic_t_get(m, wic_t_lot_acquire(WIC_T_AT(lot, mask)));
	uint32_t ready = 0, moved = 0, controls;

	/* The leader's acquire is all lanes' then; its value alone orders nothing. */
	wic_t_sync(m);
	controls = wic_tree_controls_are_due_(lot, m);
	WIC_T_EACH(m, i, wic_t_lot_load(WIC_T_AT(lot, warps))) {
		uint32_t wanted = mask >> i & 1;

		if (wanted && wic_tree_has_come_(lot, i, controls)) {
			ready |= 1u << i;
			wanted = 0;
		}
		wic_tree_place_line_(lot, i, wanted);
	}
	ready = wic_t_or(m, ready);
	if (ready)
		wic_tree_wake_(lot, m, ready);
	if (controls) {
		WIC_T_ONE(m)
			moved = wic_tree_control_(lot, mask);
		moved = wic_t_get(m, moved);
	}
	return (moved | ready ? 1 : 0) | wic_tree_read_lines_(lot, m, mask);
}

/* The role goes to a registered warp, or to nobody: rule 5.  One lane. */
WIC_TREE_FN void wic_tree_hand_over_(WIC_T_LOT lot)
{
	uint32_t me = wic_tree_me_(lot);

	for (;;) {
		uint32_t mask = wic_t_lot_acquire(WIC_T_AT(lot, mask)), next;

		if (!mask) {
			wic_t_lot_xchg(WIC_T_AT(lot, watcher), 0);
			if (!wic_t_lot_or(WIC_T_AT(lot, mask), 0) ||
			    !wic_t_lot_cas(WIC_T_AT(lot, watcher), 0, me + 1))
				return;
			continue;
		}
		next = wic_t_ffs(mask);
		if (!(wic_t_lot_and(WIC_T_AT(lot, mask), ~(1u << next)) >> next & 1))
			continue; /* gone meanwhile */
		wic_t_lot_xchg(WIC_T_AT(lot, watcher), next + 1);
		wic_t_arrive(WIC_T_AT(lot, warp[next].barrier));
		return;
	}
}

/* What to sleep: a part of what was waited. */
WIC_TREE_FN uint32_t wic_tree_pause_(uint64_t waited_ns)
{
	return waited_ns < WIC_T_PATIENCE * WIC_T_NAP_NS_MAX ? (uint32_t)waited_ns / WIC_T_PATIENCE
							     : WIC_T_NAP_NS_MAX;
}

/* The same, from @since on, but not past the deadline. */
WIC_TREE_FN uint32_t wic_tree_pause_until_(uint64_t since, uint64_t until)
{
	uint64_t now = wic_t_now();
	/* Who joins writes @since too. */
	uint32_t nap = wic_tree_pause_(now > since ? now - since : 0);

	if (now >= until)
		return 0;
	return nap < until - now ? nap : (uint32_t)(until - now);
}

/* The end of a turn: a nap, or 1: this warp's own bit is gone or its deadline passed.  One lane. */
WIC_TREE_FN uint32_t wic_tree_nap_(WIC_T_LOT lot, uint32_t moved)
{
	uint64_t now = wic_t_now(), until;
	uint32_t me = wic_tree_me_(lot);

	wic_t_lot_store64(WIC_T_AT(lot, turns), wic_t_lot_load64(WIC_T_AT(lot, turns)) + 1);
	if (!(wic_t_lot_load(WIC_T_AT(lot, mask)) >> me & 1))
		return 1;
	until = wic_t_lot_load64(WIC_T_AT(lot, warp[me].until));
	if (now >= until) {
		wic_t_lot_and(WIC_T_AT(lot, mask), ~(1u << me)); /* rule 6 */
		return 1;
	}
	if (moved) {
		wic_t_lot_store64(WIC_T_AT(lot, since), WIC_T_BEGAN());
		WIC_T_TURN();
		return 0;
	}
	wic_t_nap(wic_tree_pause_until_(wic_t_lot_load64(WIC_T_AT(lot, since)), until));
	return 0;
}

/* Until this warp's own bit is gone or its deadline passed; then without the role.  1: it is met.
 */
WIC_TREE_FN uint32_t wic_tree_watch_(WIC_T_LOT lot, uint32_t m)
{
	uint32_t left = 0, moved = 0;

	WIC_T_ONE(m) {
		wic_t_lot_store64(WIC_T_AT(lot, since), WIC_T_BEGAN());
		if (!wic_t_lot_load64(WIC_T_AT(lot, turns)))
			WIC_T_FIRST(lot,
				    wic_t_lot_load64(WIC_T_AT(lot, warp[wic_tree_me_(lot)].word)));
	}
	while (!wic_t_get(m, left)) {
		WIC_T_FORGET(lot);
		moved = wic_tree_turn_(lot, m);
		WIC_T_ONE(m)
			left = wic_tree_nap_(lot, moved);
	}
	wic_tree_free_lines_(lot, m);
	WIC_T_ONE(m)
		wic_tree_hand_over_(lot);
	wic_t_sync(m);
	return !!(moved & WIC_TREE_MET_);
}

/* ---- waiting --------------------------------------------------------------------------- */

WIC_TREE_FN uint64_t wic_tree_until_(uint64_t timeout_ns)
{
	uint64_t now = wic_t_now();

	return timeout_ns > WIC_FOREVER - now ? WIC_FOREVER : now + timeout_ns;
}

/* Past its deadline a parked warp takes its bit back.  One lane; 0: rule 2, it parks on. */
WIC_TREE_FN uint32_t wic_tree_leave_(WIC_T_LOT lot, uint32_t me)
{
	if (wic_t_now() < wic_t_lot_load64(WIC_T_AT(lot, warp[me].until)))
		return WIC_TREE_PENDING;
	return wic_t_lot_and(WIC_T_AT(lot, mask), ~(1u << me)) >> me & 1 ? WIC_TREE_LEFT_ : 0;
}

/*
 * Parks until the arrive that is owed or, where the own bit is still set, the deadline.  All lanes
 * park: where one does and the others wait for it, an SM lets none of them rest, at up to 5 times
 * the time of what computes (an H200, 28 of 32 warps parked).  Returns whether the warp has the
 * role then.
 */
WIC_TREE_FN uint32_t wic_tree_park_(WIC_T_LOT lot, uint32_t m, uint32_t owed)
{
	uint32_t parity = wic_t_lot_load(WIC_T_AT(lot, parity)) >> wic_t_warp() & 1;

	for (;;) {
		uint32_t me = wic_t_warp(), left = WIC_TREE_PENDING;
		uint64_t until = WIC_FOREVER;

		WIC_T_FORGET(lot);
		if (!owed)
			until = wic_t_lot_load64(WIC_T_AT(lot, warp[me].until));
		if (wic_t_all(m, wic_t_park(WIC_T_AT(lot, warp[me].barrier), parity, until)))
			break;
		if (owed)
			continue;
		WIC_T_ONE(m)
			left = wic_tree_leave_(lot, me);
		left = wic_t_get(m, left);
		if (left == WIC_TREE_LEFT_)
			return 0;
		owed = !left;
	}
	WIC_T_ONE(m) {
		uint32_t bit = 1u << wic_t_warp();

		wic_t_lot_xor(WIC_T_AT(lot, parity), bit);
		owed = wic_t_lot_load(WIC_T_AT(lot, watcher)) == wic_t_warp() + 1;
		if (owed)
			wic_t_lot_or(WIC_T_AT(lot, mask), bit); /* rule 3 */
	}
	owed = wic_t_get(m, owed);
	/* All lanes read the parity that one wrote. */
	wic_t_sync(m);
	return owed;
}

/* Registers: WIC_TREE_WATCHES, or how the warp parks.  One lane. */
WIC_TREE_FN int wic_tree_enter_(WIC_T_LOT lot, uint32_t me)
{
	uint32_t bit = 1u << me;

	wic_t_lot_or(WIC_T_AT(lot, mask), bit);
	if (!wic_t_lot_cas(WIC_T_AT(lot, watcher), 0, me + 1)) {
		WIC_T_JOINED(lot);
		return WIC_TREE_PARKS_;
	}
	if (wic_t_lot_load(WIC_T_AT(lot, mask)) & bit)
		return WIC_TREE_WATCHES;
	return WIC_TREE_PARKS_OWED_; /* rule 4 */
}

/* Looks, then enters: 0, an error, or what wic_tree_enter_() says.  One lane. */
WIC_TREE_FN int wic_tree_step_(WIC_T_LOT lot, uint32_t me, uint32_t is_first)
{
	uint32_t late;
	int rc;

	/* One look where, as after most parks, it is there: that which satisfies. */
	if (!is_first && wic_tree_acquire_(wic_t_lot_load64(WIC_T_AT(lot, warp[me].word)),
					   wic_t_lot_load64(WIC_T_AT(lot, warp[me].want))))
		return 0;
	late = wic_t_now() >= wic_t_lot_load64(WIC_T_AT(lot, warp[me].until));
	/* An end that was there before is found by the watcher, and then here. */
	if (is_first && !late)
		return wic_tree_enter_(lot, me);
	rc = wic_tree_state_of_(lot, me, 1);
	if (rc == WIC_TREE_PENDING && late) {
		wic_tree_read_once_(wic_t_lot_load64(WIC_T_AT(lot, warp[me].word)));
		rc = wic_tree_state_of_(lot, me, 1);
	}
	if (!rc)
		(void)wic_tree_acquire_(wic_t_lot_load64(WIC_T_AT(lot, warp[me].word)),
					wic_t_lot_load64(WIC_T_AT(lot, warp[me].want)));
	if (rc != WIC_TREE_PENDING)
		return rc;
	return late ? WIC_TREE_ETIMEDOUT : wic_tree_enter_(lot, me);
}

#ifdef WIC_TREE_NEXT
#define WIC_TREE_HAS_NO_READER_(line) (!(line)->reader)
#else
#define WIC_TREE_HAS_NO_READER_(line) (!(line)->truth)
#endif

/* The word with what the watcher wants to know of its line. */
WIC_TREE_FN uint64_t wic_tree_placed_(uint64_t word)
{
#ifndef WIC_TREE_PLAIN_ONLY
	/* By a field that lies beside what the watcher needs next. */
	if (!(word & WIC_TREE_PLAIN) && WIC_TREE_HAS_NO_READER_(wic_tree_line_(word)))
		return word | WIC_TREE_PLACE;
#endif
	return word;
}

/* Not there at the first look.  The arguments are right. */
WIC_TREE_SLOW int wic_tree_wait_slow_(struct wic_lot *at, uint64_t word, uint64_t want,
				      uint64_t timeout_ns, uint32_t m)
{
	WIC_T_LOT lot = WIC_T_LOT_OF(at);

	/* Its bit is clear, so nobody's turn begins with what is written here. */
	WIC_T_ONE(m) {
		uint32_t me = wic_t_warp();

		wic_t_lot_store64(WIC_T_AT(lot, warp[me].word), wic_tree_placed_(word));
		wic_t_lot_store64(WIC_T_AT(lot, warp[me].want), want);
		wic_t_lot_store64(WIC_T_AT(lot, warp[me].until), wic_tree_until_(timeout_ns));
	}
	for (uint32_t is_first = 1;; is_first = 0) {
		int rc = WIC_TREE_PENDING;

		WIC_T_FORGET(lot);
		WIC_T_ONE(m)
			rc = wic_tree_step_(lot, wic_t_warp(), is_first);
		rc = (int)wic_t_get(m, (uint32_t)rc);
		if (rc <= 0) {
			wic_t_sync(m);
			return rc;
		}
		if ((rc == WIC_TREE_WATCHES ||
		     wic_tree_park_(lot, m, rc == WIC_TREE_PARKS_OWED_)) &&
		    wic_tree_watch_(lot, m))
			return 0;
	}
}

/* The same without a lot: this warp looks by itself, and at its line if nobody else does. */
WIC_TREE_SLOW int wic_tree_poll_slow_(uint64_t word, uint64_t want, uint64_t timeout_ns, uint32_t m)
{
	/* Volatile: in memory, as in a lot, for the caller has better use for the registers. */
	volatile uint64_t at = word, at_least = want;
	volatile uint64_t since = wic_t_now(), until = wic_tree_until_(timeout_ns);
	uint32_t owned = 0;
	int rc;

	for (;;) {
		rc = WIC_TREE_PENDING;
		WIC_T_ONE(m) {
			uint32_t late = wic_t_now() >= until;

			rc = wic_tree_state_(&at, &at_least, 1);
			if (rc == WIC_TREE_PENDING && late) {
				wic_tree_read_once_(at);
				rc = wic_tree_state_(&at, &at_least, 1);
			}
			if (!rc)
				(void)wic_tree_acquire_(at, at_least);
			else if (rc == WIC_TREE_PENDING && late)
				rc = WIC_TREE_ETIMEDOUT;
		}
		rc = (int)wic_t_get(m, (uint32_t)rc);
		if (rc != WIC_TREE_PENDING)
			break;
		owned = wic_tree_poll_lines_(&at, m, owned);
		WIC_T_ONE(m)
			wic_t_nap(wic_tree_pause_until_(since, until));
	}
	wic_tree_poll_free_(&at, m, owned);
	wic_t_sync(m);
	return rc;
}

/*
 * The first look is in the two functions below: each lane's, and they vote, for lanes that load one
 * by one may see different values.  A lane that has seen the value acquires for itself.
 */
WIC_TREE_FN int wic_tree_wait_(struct wic_lot *lot, uint64_t word, uint64_t want,
			       uint64_t timeout_ns, uint32_t m)
{
	if (!lot)
		return wic_tree_poll_slow_(word, want, timeout_ns, m);
	if (wic_t_warp() >= lot->warps)
		return WIC_TREE_EINVAL;
	return wic_tree_wait_slow_(lot, word, want, timeout_ns, m);
}

/**
 * wic_tree_wait_word() - Wait until a word of the user's is at least a value.
 * @lot: the block's lot; NULL: this warp looks by itself.
 * @word: 8 bytes, aligned, in global memory of this device that may be read while the kernel
 *	runs, or until no warp of the lot waits; anybody may write it.  It should only grow: what
 *	is acquired is what it holds then.
 * @at_least: unsigned.
 * @timeout_ns: from now; 0: look once; WIC_FOREVER.
 * @m: live lanes.
 *
 * What the writer wrote before it stored the value with release order is visible after 0.  There
 * is no cancel: nothing but value and deadline ends this wait.
 *
 * Context: warp, converged, outside lane loops.
 * Return: 0; -ETIMEDOUT; -EINVAL: NULL, misaligned, no lane; where it is not there at once also a
 * lot for fewer warps.
 */
WIC_TREE_FN int wic_tree_wait_word(struct wic_lot *lot, const uint64_t *word, uint64_t at_least,
				   uint64_t timeout_ns, uint32_t m)
{
	uint64_t at = (uint64_t)(uintptr_t)word;

	if (!m || !at || at & WIC_TREE_BITS)
		return WIC_TREE_EINVAL;
	at |= WIC_TREE_PLAIN;
	if (wic_t_all(m, wic_tree_is_there_(at, at_least))) {
		(void)wic_tree_acquire_(at, at_least);
		return 0;
	}
	return wic_tree_wait_(lot, at, at_least, timeout_ns, m);
}

#ifndef WIC_TREE_PLAIN_ONLY

/**
 * wic_tree_tag_word() - The word of a tag.
 * @lines: of a channel.
 * @tag: of the channel.
 *
 * Context: any.
 * Return: its address.
 */
WIC_TREE_FN uint64_t *wic_tree_tag_word(struct wic_tree_line *lines, uint32_t tag)
{
	/* lines[tag / 16].word[tag % 16] in fewer instructions, as half of a line is words. */
	return (uint64_t *)(void *)lines + (tag + (tag & ~(WIC_TREE_LINE_TAGS - 1)));
}

/**
 * wic_tree_wait() - Wait until an epoch of a tag, or a later one, is published.
 * @lot: the block's lot; NULL: this warp looks by itself.
 * @lines: of the channel on this device.
 * @tags: of the channel.
 * @tag: in [0, @tags).
 * @epoch: 1 to WIC_EPOCH_LAST.
 * @timeout_ns: from now; 0: look once; WIC_FOREVER.
 * @m: live lanes.
 *
 * Context: warp, converged, outside lane loops.
 * Return: 0; -ETIMEDOUT; -ECANCELED; -EOWNERDEAD; -EINVAL: NULL, tag or epoch out of range, no
 * lane; where it is not there at once also a lot for fewer warps.
 */
WIC_TREE_FN int wic_tree_wait(struct wic_lot *lot, struct wic_tree_line *lines, uint32_t tags,
			      uint32_t tag, uint64_t epoch, uint64_t timeout_ns, uint32_t m)
{
	uint64_t *word;

	if (!lines || tag >= tags || !m)
		return WIC_TREE_EINVAL;
	word = wic_tree_tag_word(lines, tag);
	/* No word reaches the epoch after the last, so that a hit need not tell.  & is shorter. */
	if (wic_t_all(m, (uint32_t)(wic_t_load(word) >= epoch) & (epoch != 0))) {
		(void)wic_t_acquire(word);
		return 0;
	}
	if (epoch - 1 >= WIC_EPOCH_LAST)
		return WIC_TREE_EINVAL;
	return wic_tree_wait_(lot, (uint64_t)(uintptr_t)word, epoch, timeout_ns, m);
}

/**
 * wic_tree_wait_peer() - wic_tree_wait() for tags that another device raises.
 * @lot: see wic_tree_wait().
 * @lines: of the channel on this device, whose truth is NULL: the peer stores to their words, by
 *	wic_tree_publish_sys(), or a copy engine does.
 * @tags: see wic_tree_wait().
 * @tag: see wic_tree_wait().
 * @epoch: see wic_tree_wait().
 * @timeout_ns: see wic_tree_wait().
 * @m: live lanes.
 *
 * Context: warp, converged, outside lane loops.
 * Return: as wic_tree_wait().
 */
WIC_TREE_FN int wic_tree_wait_peer(struct wic_lot *lot, struct wic_tree_line *lines, uint32_t tags,
				   uint32_t tag, uint64_t epoch, uint64_t timeout_ns, uint32_t m)
{
	uint64_t word;

	if (!lines || tag >= tags || epoch - 1 >= WIC_EPOCH_LAST || !m)
		return WIC_TREE_EINVAL;
	word = (uint64_t)(uintptr_t)wic_tree_tag_word(lines, tag) | WIC_TREE_SYS;
	if (wic_t_all(m, wic_tree_is_there_(word, epoch))) {
		(void)wic_tree_acquire_(word, epoch);
		return 0;
	}
	return wic_tree_wait_(lot, word, epoch, timeout_ns, m);
}

/* ---- publishing on the device, release and credits -------------------------------------- */

/**
 * wic_tree_publish() - Say that the data of (tag, epoch) is there, to waiters on this device.
 * @lines: of the channel on this device, whose truth is NULL.
 * @tag: of the channel.
 * @epoch: greater than the last.
 * @m: live lanes, all of whose stores come before.
 *
 * Context: warp, converged.
 */
WIC_TREE_FN void wic_tree_publish(struct wic_tree_line *lines, uint32_t tag, uint64_t epoch,
				  uint32_t m)
{
	wic_t_sync(m);
	WIC_T_ONE(m)
		wic_t_raise(wic_tree_tag_word(lines, tag), epoch);
}

/**
 * wic_tree_publish_sys() - The same to a word outside the device: of a peer, or that a host reads.
 * @word: this warp's channel is its only writer.
 * @epoch: greater than the last.
 * @m: live lanes, all of whose stores come before.
 *
 * One posted store.
 *
 * Context: warp, converged.
 */
WIC_TREE_FN void wic_tree_publish_sys(uint64_t *word, uint64_t epoch, uint32_t m)
{
	wic_t_sync(m);
	WIC_T_ONE(m)
		wic_t_post_sys(word, epoch);
}

/**
 * wic_tree_release() - Say that this warp has read the data of an epoch.
 * @count: of the buffer that it lay in, in device memory, 0 at first: epoch << 16 | releases of
 *	that epoch.  Two epochs one after the other in a buffer may not differ by a multiple of
 * 2^48.
 * @readers: releases of an epoch that give the buffer back, 1 to 65,535.
 * @credit: the buffer's word in memory of the producer, who fills it again once it holds @epoch.
 * @epoch: that was on the page.
 * @m: live lanes, all of whose reads come before.
 *
 * Context: warp, converged.
 * Return: 1 in the warp that completed the readers, else 0; -EINVAL: all have released it; the same
 * in all lanes.
 */
WIC_TREE_FN int wic_tree_release(uint64_t *count, uint32_t readers, uint64_t *credit,
				 uint64_t epoch, uint32_t m)
{
	int rc = WIC_TREE_PENDING;

	wic_t_sync(m);
	WIC_T_ONE(m) {
		while (rc == WIC_TREE_PENDING) {
			uint64_t old = wic_t_load(count);
			uint64_t now = (old ^ epoch << 16) >> 16 ? epoch << 16 : old;
			uint32_t before = (uint32_t)now & 0xffff;

			if (before >= readers)
				rc = WIC_TREE_EINVAL;
			/* After each reader's reads, and before the last one's. */
			else if (wic_t_swap(count, old, now + 1))
				rc = before + 1 == readers ? WIC_TREE_LAST_ : 0;
		}
		if (rc == WIC_TREE_LAST_)
			wic_t_post_sys(credit, epoch);
	}
	rc = (int)wic_t_get(m, (uint32_t)rc);
	return rc == WIC_TREE_LAST_ ? 1 : rc;
}

/**
 * wic_tree_is_released() - Have all readers released an epoch?
 * @count: as wic_tree_release() keeps it.
 * @readers: see wic_tree_release().
 * @epoch: that the buffer holds, or held before.
 *
 * Context: any.
 * Return: 1 or 0.
 */
WIC_TREE_FN uint32_t wic_tree_is_released(const uint64_t *count, uint32_t readers, uint64_t epoch)
{
	uint64_t now = wic_t_load(count);

	return !((now ^ epoch << 16) >> 16) && ((uint32_t)now & 0xffff) >= readers;
}

#ifdef WIC_TREE_NEXT
/* ---- next ------------------------------------------------------------------------------- */

/* A ticket whose slot is free or has its tag already; else, until the deadline, a nap. */
WIC_TREE_FN int wic_tree_ticket_(struct wic_tree_line *queue, uint64_t until, uint64_t *number_out)
{
	uint64_t *ticket = &queue->word[WIC_TREE_TICKET];

	for (;;) {
		uint64_t number = wic_t_load(ticket);
		uint64_t lap = wic_tree_lap_(queue, number);
		uint64_t value = wic_t_load(wic_tree_slot_(queue, number));

		if (value > lap || wic_tree_slot_is_free_(value, lap)) {
			if (wic_t_swap(ticket, number, number + 1)) {
				*number_out = number;
				return 0;
			}
		} else if (number == wic_t_load(ticket)) {
			if (wic_t_now() >= until)
				return WIC_TREE_ETIMEDOUT;
			wic_t_nap(WIC_T_NAP_NS_MAX);
		}
	}
}

/* Takes the tag of a ticket, or gives the ticket up: then @rc.  One lane. */
WIC_TREE_FN int wic_tree_claim_(struct wic_tree_line *queue, uint64_t number, int rc,
				uint32_t *tag_out)
{
	uint64_t *slot = wic_tree_slot_(queue, number);
	uint64_t lap = wic_tree_lap_(queue, number), value = wic_t_acquire(slot);

	/* Fails only when the tag has come meanwhile: then it is this warp's after all. */
	while (value < lap) {
		if (wic_t_swap(slot, value, lap | WIC_TREE_SLOT_CLOSED))
			return rc;
		value = wic_t_acquire(slot);
	}
	wic_t_raise(slot, lap | WIC_TREE_SLOT_TAKEN);
	*tag_out = (uint32_t)(value & WIC_TREE_WHAT) - 1;
	return 0;
}

/**
 * wic_tree_next() - Take whichever tag is ready, in the order in which they became ready.
 * @lot: the block's lot; NULL: this warp looks by itself.
 * @queue: of the channel on this device.
 * @timeout_ns: from now; 0: look once; WIC_FOREVER.
 * @m: live lanes.
 * @tag_out: the tag, which no other warp gets for this put; set on success.
 *
 * One wake-up a tag.  Who gives up passes its turn on.
 *
 * Context: warp, converged, outside lane loops.
 * Return: 0; -ETIMEDOUT; -ECANCELED; -EOWNERDEAD: nothing is left and nothing will come; -EINVAL:
 * NULL, no lane, a lot for fewer warps.
 */
WIC_TREE_FN int wic_tree_next(struct wic_lot *lot, struct wic_tree_line *queue, uint64_t timeout_ns,
			      uint32_t m, uint32_t *tag_out)
{
	uint64_t number = 0, until = 0, now;
	uint32_t tag = 0;
	int rc = 0;

	if (!queue || !m || !tag_out || (lot && wic_t_warp() >= lot->warps))
		return WIC_TREE_EINVAL;
	WIC_T_ONE(m) {
		until = wic_tree_until_(timeout_ns);
		rc = wic_tree_ticket_(queue, until, &number);
		now = wic_t_now();
		timeout_ns = until > now ? until - now : 0;
	}
	rc = (int)wic_t_get(m, (uint32_t)rc);
	if (rc)
		return rc;
	now = wic_t_get(m, (uint32_t)(number >> 32));
	number = now << 32 | wic_t_get(m, (uint32_t)number);
	rc = wic_tree_wait_(lot, (uint64_t)(uintptr_t)wic_tree_slot_(queue, number),
			    wic_tree_lap_(queue, number), timeout_ns, m);
	WIC_T_ONE(m)
		rc = wic_tree_claim_(queue, number, rc, &tag);
	rc = (int)wic_t_get(m, (uint32_t)rc);
	tag = wic_t_get(m, tag);
	/* The leader may have acquired alone. */
	wic_t_sync(m);
	if (!rc)
		*tag_out = tag;
	return rc;
}

#ifndef __CUDACC_RTC__
/**
 * wic_tree_put() - Say that a tag is ready, on the host.
 * @truth: the queue's @size slots.
 * @drained: how many of them the device has read so far.
 * @size: of the queue.
 * @number: how many were put before; the producer counts.
 * @tag: less than 2^24 - 3.
 *
 * After the data's stores; one store itself.
 *
 * Context: thread; one at a time.
 * Return: 0; -EAGAIN: as many as the queue has slots are not read yet.
 */
WIC_TREE_HOST int wic_tree_put(uint64_t *truth, const uint64_t *drained, uint64_t size,
			       uint64_t number, uint32_t tag)
{
	if (number - __atomic_load_n(drained, __ATOMIC_ACQUIRE) >= size)
		return WIC_TREE_EAGAIN;
	__atomic_store_n(&truth[number % size], (number / size + 1) << WIC_TREE_LAP | (tag + 1),
			 __ATOMIC_RELEASE);
	return 0;
}
#endif /* __CUDACC_RTC__ */

#endif /* WIC_TREE_NEXT */
#endif /* WIC_TREE_PLAIN_ONLY */

#endif /* WIC_TREE_H */
