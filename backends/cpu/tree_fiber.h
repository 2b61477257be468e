/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Warps of wic/tree.h as fibers.  A lot serves 32 warps of an SM, whatever their blocks: they
 * share its thread, so one of them may as well watch for all.
 */
#ifndef WIC_BACKENDS_CPU_TREE_FIBER_H
#define WIC_BACKENDS_CPU_TREE_FIBER_H

#include <wic/tree_gcc.h>

#include "backends/cpu/be.h"
#include "backends/cpu/push.h"
#include "lib/log.h"

/* A sleep of a twentieth of what was waited gets so long: an SM that waits then costs 1 to 2 %. */
#define WIC_T_NAP_NS_MAX 1000000u

WIC_TREE_FN uint32_t wic_t_warp(void)
{
	return cpu_warp_self(cpu_sm_self())->index % WIC_WARPS_MAX;
}

/* Who owns lines of a device. */
WIC_TREE_FN uint32_t wic_t_block(void)
{
	return cpu_sm_self()->index;
}

WIC_TREE_FN uint64_t wic_t_now(void)
{
	return wic_now_ns();
}

WIC_TREE_FN void wic_t_nap(uint32_t ns)
{
	struct cpu_sm *sm = cpu_sm_self();

	cpu_count_add(sm->count.looks, 1);
	wic_cpu_sm_sleep(cpu_warp_self(sm), wic_now_ns() + ns);
}

#define WIC_T_TURN() wic_turn()
/* A wait that is cut into moments gets on with its naps. */
#define WIC_T_BEGAN() (cpu_warp_self(cpu_sm_self())->req.since_ns)
#define WIC_T_JOINED(lot) wic_cpu_push_joined(lot)
/* Memory is one, and an owner's SM may be computing for as long as its kernel likes. */
#define WIC_T_READS_ALL 1

WIC_TREE_FN void wic_t_arrive(uint64_t *barrier)
{
	__atomic_fetch_add(barrier, 1, __ATOMIC_RELEASE);
	wic_cpu_sm_wake_at(cpu_sm_self(), barrier);
}

/* Other warps run until an arrive has ended the parity, or the deadline: 1: it has. */
WIC_TREE_FN uint32_t wic_t_park(uint64_t *barrier, uint32_t parity, uint64_t until)
{
	struct cpu_warp *w = cpu_warp_self(cpu_sm_self());

	if ((__atomic_load_n(barrier, __ATOMIC_ACQUIRE) & 1) != parity)
		return 1;
	w->park_at = barrier;
	wic_cpu_sm_sleep(w, until);
	w->park_at = NULL;
	return (__atomic_load_n(barrier, __ATOMIC_ACQUIRE) & 1) != parity;
}

#endif /* WIC_BACKENDS_CPU_TREE_FIBER_H */
