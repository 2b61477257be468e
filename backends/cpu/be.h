/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A context of the cpu back-end: logical devices, their SMs, one Monitor. */
#ifndef WIC_BACKENDS_CPU_BE_H
#define WIC_BACKENDS_CPU_BE_H

#include <pthread.h>
#include <sched.h>

#include "backends/cpu/channel.h"
#include "backends/cpu/device.h"
#include "backends/cpu/host.h"
#include "backends/cpu/monitor.h"
#include "backends/cpu/push.h"
#include "backends/cpu/sm.h"
#include "lib/backend.h"
#include "lib/machine.h"

/*
 * A handle names its devices by (serial of the context, device), so that a kernel of one
 * context finds a stranger in the handle of another's channel.  The last serial is left out:
 * its last device would be the host.
 */
#define CPU_DEVICE_BITS 8
#define CPU_SERIALS ((1u << (32 - CPU_DEVICE_BITS)) - 1)

struct wic_be {
	struct cpu_hosts hosts;
	struct wic_config cfg; /* resolved; its pointers are not kept */
	/* Owned: the logical devices, and after them the host, whose waiters are threads. */
	struct cpu_device *devs;
	uint32_t dev_count; /* without the host */
	uint32_t serial;    /* of the contexts of the process, below CPU_SERIALS */
	struct cpu_monitor mon;
	struct cpu_push_control push_control; /* its word WIC_TREE_CANCEL cancels pull mode too */
	struct cpu_sm *sms;                   /* owned */
	uint32_t sm_count;                    /* of all devices; those of a device lie together */
	uint32_t sms_started;
	bool crowded;                     /* more threads than cores: spinning gives way */
	uint64_t park_measured_ns;        /* what a park costs here, measured at open */
	uint64_t park_ns;                 /* how long a waiter looks first: that, within bounds */
	struct wic_stats counted_at_open; /* what the measurement at open counted */
	char describe[320];

	/* Launches, also struct cpu_launch of each device; guarded by launch_lock. */
	pthread_mutex_t launch_lock;
	pthread_cond_t launch_go;   /* SMs wait here between launches */
	pthread_cond_t launch_done; /* wic_sync() waits here */
	uint64_t launch_seq;        /* of the last launch, on whatever device */
	bool stop;
};

/* Where the data of a channel's consumer lies. */
static inline struct cpu_device *cpu_be_device(struct wic_be *be, struct wic_device_id id)
{
	return &be->devs[id.v == WIC_DEVICE_HOST_VALUE ? be->dev_count : id.v];
}

/* What struct wic_handle and struct wic_sm_view say of a device. */
static inline uint32_t cpu_be_device_word(const struct wic_be *be, struct wic_device_id id)
{
	return id.v == WIC_DEVICE_HOST_VALUE ? WIC_DEVICE_HOST_VALUE
					     : be->serial << CPU_DEVICE_BITS | id.v;
}

static inline bool cpu_be_is_dead(const struct wic_be *be)
{
	return __atomic_load_n(&be->mon.dead, __ATOMIC_ACQUIRE);
}

static inline bool cpu_be_is_cancelled(const struct wic_be *be)
{
	return __atomic_load_n(&be->push_control.truth[0], __ATOMIC_ACQUIRE) & 1;
}

/* For a wait that begins now: any later cancel makes the word greater, a clear alone does not. */
static inline uint64_t cpu_be_cancels(const struct wic_be *be)
{
	return __atomic_load_n(&be->push_control.truth[0], __ATOMIC_ACQUIRE) & ~(uint64_t)1;
}

/* The @n-th core this process may use, counted from 0; -1: there is none. */
int wic_cpu_be_core(uint32_t n);
uint32_t wic_cpu_be_core_count(void);
/* Pin the calling thread; a failure is logged, not fatal. */
void wic_cpu_be_pin(uint32_t core_index);

/* Between two looks of a spinning thread. */
static inline void cpu_be_relax(const struct wic_be *be)
{
	if (be->crowded)
		sched_yield();
	else
		wic_machine_pause();
}

/* waiters.c */
/* An SM's: the warp whose request it is has waited for too long. */
void wic_cpu_waiters_warn(struct cpu_request *req);
int wic_cpu_waiters(struct wic_be *be, struct wic_waiter *waiters_out, size_t max,
		    size_t *count_out);

uint32_t wic_cpu_be_probe(struct wic_probe *probes_out, uint32_t max);

#endif /* WIC_BACKENDS_CPU_BE_H */
