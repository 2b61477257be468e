/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What device halves do with words that somebody waits for, where nvcc and a C compiler
 * differ: order and scope of loads and stores, the clock, a nap, who of a warp does it.
 *
 * CUDA: the writer may be the host, so the scope is .sys.  One lane of a warp looks and the
 * others get what it saw: lanes that read the same word one by one can see different values and
 * part ways.  m_lane_0() is true in that lane, m_warp_sync() orders what the lanes did before
 * it before what they do after it, m_warp_get() is lane 0's value in all lanes.
 */
#ifndef WIC_METHODS_WORDS_H
#define WIC_METHODS_WORDS_H

#include <wic/kernel.h>

#ifdef __CUDACC__

WIC_DEVICE uint64_t m_now_ns(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/* The hardware schedules; nothing is recorded. */
WIC_DEVICE void m_look_turn(void)
{
}

WIC_DEVICE void m_note(int kind, uint32_t tag, uint64_t epoch)
{
	(void)kind;
	(void)tag;
	(void)epoch;
}
#define M_EVENT(kind) 0

WIC_DEVICE void m_nap(uint32_t ns)
{
	__nanosleep(ns);
}

WIC_DEVICE int m_lane_0(void)
{
	return wic_lane_id() == 0;
}

WIC_DEVICE void m_warp_sync(void)
{
	__syncwarp(wic_lanes_mask_());
}

WIC_DEVICE int m_warp_get(int value)
{
	return __shfl_sync(wic_lanes_mask_(), value, 0);
}

WIC_DEVICE uint64_t m_load_relaxed(const uint64_t *word)
{
	uint64_t seen;

	asm volatile("ld.relaxed.sys.global.u64 %0, [%1];"
		     : "=l"(seen)
		     : "l"(__cvta_generic_to_global(word))
		     : "memory");
	return seen;
}

WIC_DEVICE uint64_t m_load_acquire(const uint64_t *word)
{
	uint64_t seen;

	asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
		     : "=l"(seen)
		     : "l"(__cvta_generic_to_global(word))
		     : "memory");
	return seen;
}

/* After the relaxed load that saw what it waited for. */
WIC_DEVICE void m_acquire(const uint64_t *word)
{
	(void)word;
	asm volatile("fence.acq_rel.sys;" ::: "memory");
}

WIC_DEVICE void m_store_release(uint64_t *word, uint64_t epoch)
{
	asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(word)),
		     "l"(epoch)
		     : "memory");
}

/* A full read-modify-write; what it returns is what was there. */
WIC_DEVICE uint64_t m_add(uint64_t *word, uint64_t by)
{
	return atomicAdd_system((unsigned long long *)word, (unsigned long long)by);
}

#else

#include <time.h>

WIC_DEVICE uint64_t m_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

WIC_DEVICE void m_look_turn(void)
{
	wic_look();
}

WIC_DEVICE void m_note(enum wic_event_kind kind, uint32_t tag, uint64_t epoch)
{
	wic_note(kind, tag, epoch);
}
#define M_EVENT(kind) WIC_EVENT_##kind

WIC_DEVICE void m_nap(uint32_t ns)
{
	/* A look takes a turn, which costs more than it. */
	(void)ns;
}

/* The lanes are one thread. */
WIC_DEVICE int m_lane_0(void)
{
	return 1;
}

WIC_DEVICE void m_warp_sync(void)
{
}

WIC_DEVICE int m_warp_get(int value)
{
	return value;
}

WIC_DEVICE uint64_t m_load_relaxed(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

WIC_DEVICE uint64_t m_load_acquire(const uint64_t *word)
{
	/* Pairs with the store in m_memory_method_publish(). */
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

WIC_DEVICE void m_acquire(const uint64_t *word)
{
	/*
	 * Pairs with the store in m_memory_method_publish().  The word never goes back, so
	 * this load sees the epoch too; a fence would do, but TSan knows none.
	 */
	(void)__atomic_load_n(word, __ATOMIC_ACQUIRE);
}

WIC_DEVICE void m_store_release(uint64_t *word, uint64_t epoch)
{
	/* Pairs with m_acquire() and with the load in m_memory_method_take(). */
	__atomic_store_n(word, epoch, __ATOMIC_RELEASE);
}

WIC_DEVICE uint64_t m_add(uint64_t *word, uint64_t by)
{
	/* Not a constant: a compiler may turn an add of 0 into a load. */
	__asm__ volatile("" : "+r"(by));
	/* Pairs with the adds in methods/naive/host.c. */
	return __atomic_fetch_add(word, by, __ATOMIC_SEQ_CST);
}

#endif /* __CUDACC__ */

/* After the stores of all lanes of the warp. */
WIC_DEVICE void m_warp_store_release(uint64_t *word, uint64_t epoch)
{
	m_warp_sync();
	if (m_lane_0())
		m_store_release(word, epoch);
}

#endif /* WIC_METHODS_WORDS_H */
