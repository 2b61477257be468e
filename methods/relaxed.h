/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * How a careful programmer looks at an epoch word in the consumer's memory: a relaxed
 * load, one acquire once the epoch is there, a back-off between looks.
 *
 * Back-off.  CUDA: nanosleep, growing to 256 ns.  cpu: none.  A warp that skips a
 * look has still been given its turn, which costs more (a switch of fibers, about
 * 10 ns) than the look itself (a load that hits L1 until the word changes); so
 * skipping would add latency and save nothing.
 */
#ifndef WIC_METHODS_RELAXED_H
#define WIC_METHODS_RELAXED_H

#include <wic/kernel.h>

#ifdef __CUDACC__

WIC_DEVICE uint64_t m_load_relaxed(const uint64_t *flag)
{
	uint64_t seen;

	asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(flag));
	return seen;
}

WIC_DEVICE void m_acquire(const uint64_t *flag)
{
	(void)flag;
	asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* After the stores of all lanes. */
WIC_DEVICE void m_store_release(uint64_t *flag, uint64_t epoch)
{
	__syncwarp(__activemask());
	if (wic_lane_id() == 0)
		asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(epoch)
			     : "memory");
}

WIC_DEVICE void m_back_off(uint32_t looks)
{
	__nanosleep(looks < 4 ? 32 << looks : 256);
}

#else

WIC_DEVICE uint64_t m_load_relaxed(const uint64_t *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

WIC_DEVICE void m_acquire(const uint64_t *flag)
{
	/*
	 * Pairs with the store in m_memory_method_publish().  The flag never goes back, so
	 * this load sees the epoch too; a fence would do, but TSan knows none.
	 */
	(void)__atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

WIC_DEVICE void m_store_release(uint64_t *flag, uint64_t epoch)
{
	/* Pairs with m_acquire() and with the load in m_memory_method_take(). */
	__atomic_store_n(flag, epoch, __ATOMIC_RELEASE);
}

WIC_DEVICE void m_back_off(uint32_t looks)
{
	(void)looks;
}

#endif /* __CUDACC__ */

#define M_LOOK(flag) m_load_relaxed(flag)
#define M_LOOKED(flag) m_acquire(flag)
#define M_BACK_OFF(looks) m_back_off(looks)
#define M_SHOW(flag, epoch) m_store_release(flag, epoch)

#endif /* WIC_METHODS_RELAXED_H */
