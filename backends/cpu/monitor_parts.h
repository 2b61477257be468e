/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The parts of the Monitor, for each other.  All run in its thread, between inputs.
 *
 *	monitor.c          takes inputs: notices, publishes, calls, time
 *	activator.c        carries actions out
 *	pages.c            pools: who gets pages, what is released, what is closed
 *	monitor_channel.c  channels begin and end
 *	waiters.c          those who wait: listed, warned of, cancelled
 */
#ifndef WIC_BACKENDS_CPU_MONITOR_PARTS_H
#define WIC_BACKENDS_CPU_MONITOR_PARTS_H

#include "backends/cpu/be.h"

/*
 * Releases are taken so many together, or when somebody waits for pages, or before the
 * Monitor sleeps: each taking moves the device's lock, and the pool behind it, from the
 * SM's core and back, 0.1 to 0.3 us a line.
 */
#define RELEASES_A_TURN 64

uint64_t wic_cpu_mon_cookie_of(const struct cpu_request *req);
void wic_cpu_mon_wake(struct cpu_request *req, uint32_t what);
/* What was published so far. */
bool wic_cpu_mon_drain_publishes(struct cpu_monitor *mon);
void wic_cpu_mon_check_input(struct cpu_monitor *mon, int rc);
void wic_cpu_mon_die(struct cpu_monitor *mon);
void wic_cpu_mon_act(struct cpu_monitor *mon);
void wic_cpu_mon_flush_queue(struct cpu_monitor *mon, struct cpu_device *dev,
			     const struct wic_be_channel *ch);
/* When all warps of the device wait for pages that only they could give back: -EDEADLK. */
void wic_cpu_mon_break_deadlock(struct cpu_monitor *mon, struct cpu_device *dev);
/* waiters.c: end all waits that a cancel has met; log the old ones. */
bool wic_cpu_mon_is_cancelled(const struct cpu_monitor *mon, const struct cpu_request *req);
void wic_cpu_mon_cancel_all(struct cpu_monitor *mon);
void wic_cpu_mon_warn_old(struct cpu_monitor *mon, uint64_t now_ns);
void wic_cpu_mon_serve_queue(struct cpu_monitor *mon, struct cpu_device *dev);
void wic_cpu_mon_retire_pages(struct cpu_monitor *mon, struct cpu_device *dev);
void wic_cpu_mon_drop_if_over(struct cpu_monitor *mon, struct cpu_hold *hold);
bool wic_cpu_mon_drain_releases(struct cpu_monitor *mon, struct cpu_sm *sm, uint32_t at_least);
bool wic_cpu_mon_drain_host_releases(struct cpu_monitor *mon, struct cpu_device *dev);
bool wic_cpu_mon_has_queue(const struct cpu_device *dev);
bool wic_cpu_mon_take_releases_of(struct cpu_monitor *mon, struct cpu_device *dev,
				  uint32_t at_least);
bool wic_cpu_mon_take_releases(struct cpu_monitor *mon, uint32_t at_least);

#endif /* WIC_BACKENDS_CPU_MONITOR_PARTS_H */
