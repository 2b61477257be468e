/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Counters of a context, and the events of its recorder. */
#ifndef WIC_STATS_H
#define WIC_STATS_H

#include <stddef.h>
#include <stdint.h>

#include <wic/abi.h>
#include <wic/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wic;

/**
 * struct wic_stats - Counters since wic_open(); all of them only grow.
 * @size_bytes: set it to sizeof(struct wic_stats); lets the struct grow.
 * @requests: requests and waits made by warps.
 * @hits: of these, found with the data there at the first look (those that needed no
 *	call are counted when their data is released).
 * @parks: times a warp was parked, also to stage or to claim: for data (for pages: pool_waits).
 * @faults: real page faults taken by warps to park.
 * @batches: interrupts sent to the Monitor (each for up to 16 warps).
 * @looks: looks at a flag by the warps of polling methods (wic_look()).
 * @turns: turns that the warp schedulers gave.
 * @fills: runs of pages that the Monitor filled.
 * @fill_bytes: payload bytes copied by these.
 * @replays: requests that the Activator ended, each of which lets one warp go on.
 * @invalidates: close operations on ranges of pages.
 * @pages_closed: pages closed by these, of those that a fault had opened.
 * @checks: times the engine compared a wanted epoch with the published one.
 * @timeouts: parks that ended with -ETIMEDOUT.
 * @pool_waits: requests that waited for free pages.
 * @publishes: times a published epoch was taken up; several of one tag, published
 *	before the Monitor looked, are one.
 * @monitor_cpu_ns: CPU time of the Monitor thread in ns.
 * @monitor_sleeps: times the Monitor went to sleep.
 * @events_lost: events that the recorder's rings overwrote, or that did not fit into
 *	the array of wic_events_read().
 * @events: events that the recorder took, those lost later among them.
 *
 * A warp that waits in push mode is a park; each look at what is waited for, by the one warp that
 * looks for 32 of its SM, is one of looks.  No Monitor, page or pool is between: faults, batches,
 * fills, replays, checks, pool_waits and publishes count pull mode, and push channels to the host,
 * whose threads wait by the Monitor.
 */
struct wic_stats {
	uint64_t size_bytes;
	uint64_t requests;
	uint64_t hits;
	uint64_t parks;
	uint64_t faults;
	uint64_t batches;
	uint64_t looks;
	uint64_t turns;
	uint64_t fills;
	uint64_t fill_bytes;
	uint64_t replays;
	uint64_t invalidates;
	uint64_t pages_closed;
	uint64_t checks;
	uint64_t timeouts;
	uint64_t pool_waits;
	uint64_t publishes;
	uint64_t monitor_cpu_ns;
	uint64_t monitor_sleeps;
	uint64_t events_lost;
	uint64_t events;
};

#define WIC_STATS_INIT                                                                             \
	{                                                                                          \
		sizeof(struct wic_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
			0                                                                          \
	}

/**
 * wic_stats_get() - Read the counters.
 * @w: an open context.
 * @stats_out: start from WIC_STATS_INIT, which sets size_bytes; as many counters
 *	as both sides know are written.
 *
 * Each counter is exact once the kernels that count into it have been synced;
 * while they run it may lag.
 *
 * Context: any thread outside a kernel; waits for the Monitor, some us (longer while it copies a
 * payload).
 * Return: 0; -EINVAL: NULL, not an open context, or size_bytes is smaller than the size word
 * itself.
 */
int wic_stats_get(struct wic *w, struct wic_stats *stats_out) WIC_MUST_CHECK;

/* What a warp does from this moment on. */
enum wic_event_kind {
	WIC_EVENT_COMPUTE = 1, /* runs its kernel's own code */
	WIC_EVENT_LOOK,        /* polls: a turn of the scheduler for each look */
	WIC_EVENT_PARK,        /* stopped, takes no turns (push: none but to look for others too) */
	WIC_EVENT_WAKE,        /* made runnable, its turn has not come yet */
	WIC_EVENT_DONE,        /* left the kernel */
};

/**
 * wic_events_read() - Copy the recorder's events, oldest first.
 * @w: an open context, opened with record_events > 0, with no kernel running.
 * @events_out: room for @events_max events, written in order of time.
 * @events_max: capacity of @events_out; if there are more, the newest are written.
 * @count_out: number of events written.
 *
 * The rings are emptied by this.
 *
 * Context: any thread outside a kernel; does not block.
 * Return: 0; -EINVAL: NULL, not an open context; -EBUSY: a kernel is running; -ENOTSUP: the
 * recorder is off.
 */
int wic_events_read(struct wic *w, struct wic_event *events_out, size_t events_max,
		    size_t *count_out) WIC_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif /* WIC_STATS_H */
