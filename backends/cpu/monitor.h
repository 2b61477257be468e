/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The Monitor: the thread that owns the engine.  It turns rings and bitmaps into the
 * engine's inputs and carries its actions out: copies payloads (FILL), opens pages and
 * sends wakes (REPLAY), closes pages (INVALIDATE), keeps the clock (TIMER).  It decides
 * nothing about availability: core/ does.
 *
 * It spins for twice what a park costs (measured at open) after its last work,
 * then sleeps; whoever has work for it knocks (gate.h).
 */
#ifndef WIC_BACKENDS_CPU_MONITOR_H
#define WIC_BACKENDS_CPU_MONITOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <wic/abi.h>

#include "backends/cpu/gate.h"
#include "core/engine.h"

#define CPU_CHANNELS_MAX 64
#define CPU_TAGS_MAX (1u << 20)
/* How long a wic_cancel(), which wakes nobody, may go unseen while somebody waits. */
#define CPU_CANCEL_TICK_NS 20000000u
/* Wants of sets in the engine at a time; a set that finds no room waits tag by tag. */
#define CPU_SET_WANTS_MAX 65536u

struct wic_be;
struct wic_be_channel;
struct cpu_monitor;

/* Something to do in the Monitor's thread, between inputs. */
struct wic_cpu_monitor_call {
	struct wic_cpu_monitor_call *next;
	int (*call)(struct cpu_monitor *mon, void *arg);
	void *arg;
	int rc;
	bool done;
	bool is_posted; /* nobody waits for it to be done */
};

struct cpu_monitor {
	struct wic_be *be;
	struct wic_engine *engine; /* in engine_mem; the Monitor's thread only */
	void *engine_mem;          /* owned */
	struct cpu_gate gate;
	/* A bit a channel with changed tags; atomics.  In a line that publishers take. */
	uint64_t changed_channels __attribute__((aligned(64)));
	uint64_t marked_pats; /* the same, with availability pages that were stored to */
	struct wic_be_channel
		*pats[CPU_CHANNELS_MAX]; /* that have some; atomics, the Monitor writes */
	uint32_t pat_handlers;           /* warps that look at pats; atomic */
	/* The Monitor's: by the channel's bit, and by the engine's number. */
	struct wic_be_channel *channels[CPU_CHANNELS_MAX] __attribute__((aligned(64)));
	struct wic_be_channel *by_engine[2 * CPU_CHANNELS_MAX];
	uint32_t tags_open; /* of all channels, CPU_TAGS_MAX at the most */
	uint32_t set_wants; /* wants of sets in the engine */
	struct wic_want wants[WIC_ENGINE_BATCH_MAX * WIC_SET_MAX]; /* of the batch at hand */
	bool is_broken;      /* an input was refused that must not be; it dies at the next turn */
	uint64_t warn_at_ns; /* when old waits are looked for next */
	uint64_t timer_ns;   /* next tick, WIC_DEADLINE_NEVER: none */
	uint64_t spin_ns;    /* how long to look before it sleeps; atomic */
	/* Read by all at each turn, so away from what the Monitor writes. */
	uint32_t stop __attribute__((aligned(64))); /* atomic */
	uint32_t dead; /* atomic: an invariant broke; all waits end with -EIO */
	pthread_t thread;
	/* Calls from other threads, run between inputs; guarded by call_lock. */
	pthread_mutex_t call_lock __attribute__((aligned(64)));
	pthread_cond_t call_done;
	struct wic_cpu_monitor_call *calls;
	uint32_t call_count; /* atomic: calls waiting */
	/* Counters: written by the Monitor (relaxed), read by anyone. */
	uint64_t fill_bytes, pages_closed, sleeps;
};

int wic_cpu_monitor_start(struct cpu_monitor *mon, struct wic_be *be);
void wic_cpu_monitor_stop(struct cpu_monitor *mon);
/* For wic_cpu_monitor_post(): struct cpu_host_wait *, whose thread is woken with its status. */
int wic_cpu_monitor_host_request(struct cpu_monitor *mon, void *wait);
/* Run @call in the Monitor's thread and return what it returned. */
int wic_cpu_monitor_call(struct cpu_monitor *mon, int (*call)(struct cpu_monitor *mon, void *arg),
			 void *arg);

struct wic_cpu_monitor_death {
	struct wic_be_channel *ch;
	uint32_t tag_first, tag_count;
};

/* The same without waiting; @c lives until @call has been made. */
void wic_cpu_monitor_post(struct cpu_monitor *mon, struct wic_cpu_monitor_call *c,
			  int (*call)(struct cpu_monitor *mon, void *arg), void *arg);

/* For wic_cpu_monitor_call(): struct wic_cpu_monitor_death *. */
int wic_cpu_monitor_owner_died(struct cpu_monitor *mon, void *death);
/* For wic_cpu_monitor_call(): struct wic_be_channel *. */
int wic_cpu_monitor_open_channel(struct cpu_monitor *mon, void *ch);
int wic_cpu_monitor_close_channel(struct cpu_monitor *mon, void *ch);
int wic_cpu_monitor_free_channel(struct cpu_monitor *mon, void *ch);

#endif /* WIC_BACKENDS_CPU_MONITOR_H */
