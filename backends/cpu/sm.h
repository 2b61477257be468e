/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * An emulated SM: a thread that runs warps, which are fibers, round robin.
 *
 *	            turn                          wake (Monitor)
 *	RUNNABLE <--------> RUNNING --request--> GATHER --batch--> PARKED --> RUNNABLE
 *	     ^                 |                   |                ^
 *	     `--- BARRIER <----+--> DONE           `--> QUEUED -----' no free pages: the
 *	     `--- ASLEEP <-----'  push mode                           pool's FIFO
 *
 * A block is sm->block_warps fibers with a barrier and shared memory; more blocks than
 * are resident wait for a place.  A warp stays on its SM.
 *
 * Requests are gathered: a requester joins the list and yields; when the round ends or
 * nothing else is runnable, the list (at most 16) is one batch and one notice to the
 * Monitor.  Its first warp that got pages of its own takes the real fault; the others
 * are parked without one.
 *
 * Everything here belongs to the SM's thread except the rings (ring.h), the gate, and
 * what struct cpu_request says the Monitor writes.
 */
#ifndef WIC_BACKENDS_CPU_SM_H
#define WIC_BACKENDS_CPU_SM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <wic/kernel.h>

#include "backends/cpu/gate.h"
#include "backends/cpu/ring.h"
#include "core/pool.h"
#include "lib/fiber/fiber.h"
#include "lib/record.h"

struct wic_be;
struct wic_be_channel;
struct cpu_hold;
struct cpu_sm;
struct wic_lot;

#define CPU_STATUS_PENDING 1        /* no status yet; all others are 0 or negative */
#define CPU_RELEASE_USER (1u << 31) /* in a release's page: the end of a request, not of data */

enum cpu_warp_state {
	CPU_WARP_IDLE, /* no block here */
	CPU_WARP_RUNNABLE,
	CPU_WARP_RUNNING,
	CPU_WARP_BARRIER,
	CPU_WARP_GATHER,
	CPU_WARP_QUEUED,
	CPU_WARP_PARKED,
	CPU_WARP_ASLEEP, /* push mode: until a time, or an arrive at its barrier */
	CPU_WARP_DONE,
};

/*
 * What a warp or a host thread waits for.  Written by its SM or thread before the notice, then read
 * by the Monitor, which also gives run, has_run and owns_hold to one that waited for pages (under
 * the device lock, before the wake).
 */
struct cpu_request {
	struct wic_be_channel *ch;
	uint64_t epoch;
	uint64_t deadline_ns;
	uint64_t since_ns;
	uint64_t
		cancels; /* the cancel word as it was when it began, or would be without a cancel */
	uint32_t tag;
	uint32_t pages;     /* 0: wait without data */
	uint32_t ref_count; /* of a set: its waiting, or (pages) its pages; 0: the one tag above */
	const struct wic_ref *refs; /* borrowed from the waiting warp */
	uint32_t *pins; /* the same; with pages: first pages of the holds that it got for refs */
	struct wic_run run;             /* pages of its hold */
	bool has_run;                   /* run is set */
	bool owns_hold;                 /* made the hold: may take the fault */
	bool for_credit;                /* waits for a fill of its tag, to stage the next epoch */
	struct wic_pool_waiter waiter;  /* while QUEUED; guarded by the device's lock */
	struct cpu_request *queue_prev; /* the device's queue; its lock */
	struct cpu_request *queue_next;
	struct cpu_warp *warp;      /* whose it is; constant */
	struct cpu_host_wait *host; /* or a host thread's; the other is NULL */
	/* Written by the Monitor before the wake that carries it (release by the ring). */
	int status __attribute__((aligned(CPU_LINE_BYTES)));
	uint64_t epoch_seen;
	uint64_t missing_epoch; /* of a set */
	uint32_t missing_tag;
	bool in_engine;     /* the Monitor's own: no final REPLAY yet */
	bool is_warned;     /* the Monitor's own: it was reported as old */
	uint32_t set_wants; /* the Monitor's own: wants of a set that count against its bound */
};

/* Wakes to an SM: warp index | what came. */
#define CPU_WAKE_STATUS (1u << 16)  /* the request's status */
#define CPU_WAKE_OPENED (1u << 17)  /* the page it stands at is open */
#define CPU_WAKE_GRANTED (1u << 18) /* its pages: it may go on to its batch */

/*
 * Notices to the Monitor: kind, warp, and what is left of the batch with this one, or the
 * page.  STOPPED is a REQUEST whose warp stands at its page already.
 */
enum cpu_notice { CPU_NOTICE_REQUEST = 1, CPU_NOTICE_STOPPED, CPU_NOTICE_FAULT };

static inline uint64_t cpu_notice_make(enum cpu_notice kind, uint32_t warp, uint32_t value)
{
	return (uint64_t)kind << 56 | (uint64_t)warp << 32 | value;
}

struct cpu_block {
	uint32_t warps_live;
	uint32_t bar_arrived;
	bool has_waited;       /* a warp of it has parked */
	unsigned char *shared; /* owned by the SM for the launch */
};

struct cpu_warp {
	struct wic_fiber fiber;
	struct wic_warp_view view;
	struct cpu_sm *sm;
	struct cpu_block *block;
	struct cpu_request req;
	enum cpu_warp_state state;
	uint32_t index;  /* in its SM */
	uint32_t got;    /* CPU_WAKE_* of this request */
	bool touching;   /* a fault in the window is expected */
	bool faulted;    /* it stands at a closed page */
	bool touch_next; /* resumed to take the batch's fault */
	bool in_tree;    /* waits in push mode, req says for what; guarded by the SM's tree_lock */
	bool is_woken;   /* of such a wait: its WIC_EVENT_WAKE is recorded */
	uint64_t sleep_until_ns; /* while ASLEEP */
	uint64_t *park_at;       /* barrier of its lot, or NULL */
};

/* Counters: written by the SM's thread (relaxed stores), read by anyone. */
struct cpu_sm_counters {
	uint64_t requests; /* without those that hit inline */
	uint64_t hits;     /* without those */
	/*
	 * Inline hits are not counted where they happen: data that was given out is released
	 * once by each reader, so they are what was released, less what the slow path gave.
	 */
	uint64_t released;       /* words published in the ring of releases */
	uint64_t released_other; /* of these: ends of requests, and of channels of many readers */
	uint64_t released_many;  /* releases on channels of many readers */
	uint64_t given_slow;     /* data given out by the slow path, in pull mode */
	uint64_t timeouts;       /* requests that timed out before they had pages */
	uint64_t parks;
	uint64_t faults;
	uint64_t batches;
	uint64_t looks;
	uint64_t turns;
};

struct cpu_sm {
	struct wic_sm_view view; /* first: wic_sm_self_ points here */
	struct wic_be *be;
	struct cpu_device *dev;
	struct wic_fiber scheduler;
	struct cpu_warp *warps;      /* owned, warp_count */
	struct cpu_block *blocks;    /* owned, as many as warps */
	struct cpu_warp **run_queue; /* owned ring, warp_count slots */
	uint32_t run_head, run_count;
	uint32_t round_left; /* resumes until this round ends */
	uint32_t warp_count;
	uint32_t block_warps; /* of this launch */
	uint32_t blocks_live;
	struct cpu_warp *gather[WIC_BATCH_WARPS];
	uint32_t gather_count;
	uint32_t queued;      /* warps in the pool's FIFO */
	struct wic_lot *lots; /* owned; one for 32 warps: wic/tree.h */
	pthread_mutex_t tree_lock;
	uint32_t asleep;          /* warps that are */
	uint32_t asleep_skipped;  /* rounds since the clock was looked at for them */
	uint64_t asleep_until_ns; /* the earliest of them */
	struct cpu_ring notices;  /* to the Monitor */
	struct cpu_ring wakes;    /* from the Monitor */
	struct cpu_gate gate;
	/* Atomic: no warp here can come to a release before the Monitor wakes one. */
	uint32_t is_stuck;
	struct cpu_sm_counters count;
	struct wic_stacks stacks; /* one a warp */
	struct wic_ring *events;  /* owned; NULL: the recorder is off */
	pthread_t thread;
	uint32_t index;
	/* Ring of releases, kernel.h: words below published are the Monitor's to read. */
	uint32_t release_published __attribute__((aligned(CPU_LINE_BYTES)));
	uint32_t release_tail __attribute__((aligned(CPU_LINE_BYTES))); /* the Monitor's */
};

#define cpu_count_add(counter, n) __atomic_store_n(&(counter), (counter) + (n), __ATOMIC_RELAXED)

int wic_cpu_sm_init(struct cpu_sm *sm, struct cpu_device *dev, struct wic_be *be, uint32_t index);
void wic_cpu_sm_fini(struct cpu_sm *sm);
/* Thread body of an SM: struct cpu_sm *. */
void *wic_cpu_sm_main(void *sm);
/* The SM of this thread; NULL elsewhere. */
static inline struct cpu_sm *cpu_sm_self(void)
{
	return (struct cpu_sm *)wic_sm_self_;
}
static inline struct cpu_warp *cpu_warp_self(struct cpu_sm *sm)
{
	return (struct cpu_warp *)((char *)sm->view.warp - offsetof(struct cpu_warp, view));
}

/* Warp context: let others run until a time, or until wic_cpu_sm_wake_at() its park_at. */
void wic_cpu_sm_sleep(struct cpu_warp *w, uint64_t until_ns);
void wic_cpu_sm_wake_at(struct cpu_sm *sm, const uint64_t *barrier);
/* Warp context: end the nap of a warp of this SM, if it has one. */
void wic_cpu_sm_wake(struct cpu_warp *w);
/* Warp context, some warp is asleep: does it want to run?  Looks at the clock now and then. */
bool wic_cpu_sm_is_sleep_over(struct cpu_sm *sm);
/* Warp context: back to the scheduler in this state; returns when resumed. */
void wic_cpu_warp_yield(struct cpu_warp *w, enum cpu_warp_state state);
/* Scheduler: append to the run queue. */
void wic_cpu_sm_make_runnable(struct cpu_sm *sm, struct cpu_warp *w);
/* Scheduler: run @w until it yields. */
void wic_cpu_sm_resume(struct cpu_sm *sm, struct cpu_warp *w);
/* Scheduler: take what the Monitor sent.  True: something came. */
bool wic_cpu_sm_take_wakes(struct cpu_sm *sm);
void wic_cpu_sm_event(struct cpu_sm *sm, const struct cpu_warp *w, enum wic_event_kind kind,
		      uint32_t tag, uint64_t epoch);

void wic_cpu_sm_publish(struct cpu_sm *sm);

/* Show the Monitor the releases made so far.  The SM's thread, at each turn. */
static inline void cpu_sm_publish_releases(struct cpu_sm *sm)
{
	if (sm->release_published != sm->view.release_head)
		wic_cpu_sm_publish(sm);
}

/* batch.c: turn the gather list into one notice.  Scheduler context. */
void wic_cpu_sm_send_batch(struct cpu_sm *sm);
/* batch.c: give up queued warps whose deadline has passed. */
void wic_cpu_sm_expire_queued(struct cpu_sm *sm);

#endif /* WIC_BACKENDS_CPU_SM_H */
