/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The paper's Algorithm 1: block barrier, thread 0 spins with an atomic add of 0
 * on the flag, block barrier.  No back-off: each look is a full read-modify-write.
 */
#ifndef WIC_METHODS_NAIVE_DEVICE_H
#define WIC_METHODS_NAIVE_DEVICE_H

#include <wic/kernel.h>

#ifdef __CUDACC__

WIC_DEVICE uint64_t m_add_zero(uint64_t *flag)
{
	uint64_t seen = 0;

	if (wic_lane_id() == 0)
		seen = atomicAdd_system((unsigned long long *)flag, 0ull);
	seen = __shfl_sync(__activemask(), seen, 0);
	__threadfence_system();
	return seen;
}

WIC_DEVICE void m_add_distance(uint64_t *flag, uint64_t epoch)
{
	__threadfence_system();
	__syncwarp(__activemask());
	if (wic_lane_id() == 0)
		atomicAdd_system((unsigned long long *)flag, epoch - *(volatile uint64_t *)flag);
}

#else

WIC_DEVICE uint64_t m_add_zero(uint64_t *flag)
{
	/* Not a constant: a compiler may turn an add of 0 into a load. */
	uint64_t zero = 0;

	__asm__ volatile("" : "+r"(zero));
	/* Pairs with the add in methods/naive/host.c. */
	return __atomic_fetch_add(flag, zero, __ATOMIC_SEQ_CST);
}

/* As the host half does: what is added leaves the flag at the epoch. */
WIC_DEVICE void m_add_distance(uint64_t *flag, uint64_t epoch)
{
	/* A tag has one publisher, so the flag cannot move between load and add. */
	uint64_t before = __atomic_load_n(flag, __ATOMIC_RELAXED);

	/* Pairs with the add of 0, here and on the host. */
	__atomic_fetch_add(flag, epoch - before, __ATOMIC_SEQ_CST);
}

#endif /* __CUDACC__ */

#define M_LOOK(flag) m_add_zero(flag)
#define M_LOOKED(flag) ((void)0)
#define M_BACK_OFF(looks) ((void)(looks))
#define M_SHOW(flag, epoch) m_add_distance(flag, epoch)
#include "methods/poll.h"

#endif /* WIC_METHODS_NAIVE_DEVICE_H */
