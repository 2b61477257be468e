/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Host threads that consume: they wait as warps do, by the same engine, but sleep on a
 * futex where a warp would stand at a page.  Their data lies in a window of the host's own
 * that has no pages to fault on.
 *
 *	thread: pages (device's lock) -> call to the Monitor -> sleep -> status
 *	Monitor: REPLAY -> status -> wake
 *
 * At most CPU_HOST_WAITS_MAX threads wait at a time, more take turns.
 */
#ifndef WIC_BACKENDS_CPU_HOST_H
#define WIC_BACKENDS_CPU_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/cpu/monitor.h"
#include "backends/cpu/sm.h"

struct wic_be;
struct wic_be_channel;

#define CPU_HOST_WAITS_MAX 1024

/* On the waiting thread's stack, in a slot of struct cpu_hosts from its request to its end. */
struct cpu_host_wait {
	struct cpu_request req;
	struct wic_cpu_monitor_call call;
	uint32_t slot;
};

struct cpu_hosts {
	pthread_mutex_t lock;
	pthread_cond_t slot_freed;
	/* Borrowed from their threads; written under lock, read by the Monitor while in use. */
	struct cpu_host_wait *waits[CPU_HOST_WAITS_MAX];
	bool in_engine[CPU_HOST_WAITS_MAX]; /* the Monitor's own */
	/* What came, a futex word a slot: CPU_WAKE_STATUS, CPU_WAKE_GRANTED. */
	uint32_t words[CPU_HOST_WAITS_MAX];
};

void wic_cpu_hosts_init(struct cpu_hosts *hosts);
void wic_cpu_hosts_fini(struct cpu_hosts *hosts);
/* The Monitor's: the context is dead, every wait ends with -EIO. */
void wic_cpu_hosts_end_all(struct wic_be *be);
/* The Monitor's: something came for this thread. */
void wic_cpu_host_wake(struct cpu_hosts *hosts, struct cpu_host_wait *wait, uint32_t what);
/* Memory for the host's pages, made once. */
int wic_cpu_host_window(struct wic_be *be);

/* @data_out: NULL: wait for the epoch alone. */
int wic_cpu_host_request(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			 uint64_t timeout_ns, const void **data_out);
int wic_cpu_host_release(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch);

#endif /* WIC_BACKENDS_CPU_HOST_H */
