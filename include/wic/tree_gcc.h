/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Primitives of tree.h for C and C++ compilers: a warp is a thread or a fiber, its lanes are
 * loops.  Device and host memory are one, so scopes mean nothing here and only order is left.
 * There is no stand-alone fence, which TSan cannot see: what CUDA loads relaxed before a fence is
 * loaded with acquire.  What needs an order over two words of the lot (mask and watcher: store to
 * one, look at the other, on both sides) is sequentially consistent.
 *
 * WIC_T_STEP() stands before each access to memory that others change: a simulator or a test
 * that includes this header may define it, to run another warp there.
 *
 * Who waits, and how, comes from the file that includes this one: wic_t_warp(), wic_t_block(),
 * wic_t_now(), wic_t_nap(), wic_t_arrive(), wic_t_park() (tree_threads.h).
 */
#ifndef WIC_TREE_GCC_H
#define WIC_TREE_GCC_H

#include <stdint.h>

#ifndef WIC_T_STEP
#define WIC_T_STEP() ((void)0)
#endif

#define WIC_TREE_FN static inline __attribute__((unused))
#define WIC_TREE_SLOW static __attribute__((noinline, unused))
#define WIC_TREE_HOST static inline __attribute__((unused))

/* ---- device memory, host memory -------------------------------------------------------- */

WIC_TREE_FN uint64_t wic_t_load(const uint64_t *p)
{
	WIC_T_STEP();
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

WIC_TREE_FN uint64_t wic_t_load_sys(const uint64_t *p)
{
	WIC_T_STEP();
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

WIC_TREE_FN uint64_t wic_t_acquire(const uint64_t *p)
{
	WIC_T_STEP();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

WIC_TREE_FN uint64_t wic_t_acquire_sys(const uint64_t *p)
{
	WIC_T_STEP();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* Followed by wic_t_fence_truth() where what it says is passed on. */
WIC_TREE_FN uint64_t wic_t_load_truth(const uint64_t *p)
{
	WIC_T_STEP();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* The same, once, by who does not own the line. */
WIC_TREE_FN uint64_t wic_t_load_truth_once(const uint64_t *p)
{
	WIC_T_STEP();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

WIC_TREE_FN void wic_t_fence_truth(void)
{
}

WIC_TREE_FN void wic_t_store(uint64_t *p, uint64_t v)
{
	WIC_T_STEP();
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* max, release: epochs never go back, whoever raises. */
WIC_TREE_FN void wic_t_raise(uint64_t *p, uint64_t v)
{
	WIC_T_STEP();
	uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (old < v &&
	       !__atomic_compare_exchange_n(p, &old, v, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

/* 0 -> owner; 1: it is the caller's now. */
WIC_TREE_FN uint32_t wic_t_take(uint64_t *p, uint64_t owner)
{
	WIC_T_STEP();
	uint64_t none = 0;

	return __atomic_compare_exchange_n(p, &none, owner, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

WIC_TREE_FN void wic_t_give(uint64_t *p)
{
	WIC_T_STEP();
	__atomic_store_n(p, 0, __ATOMIC_RELEASE);
}

/* @old -> @v; 1: done. */
WIC_TREE_FN uint32_t wic_t_swap(uint64_t *p, uint64_t old, uint64_t v)
{
	WIC_T_STEP();
	return __atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

WIC_TREE_FN void wic_t_post_sys(uint64_t *p, uint64_t v)
{
	WIC_T_STEP();
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/* ---- the lot --------------------------------------------------------------------------- */

WIC_TREE_FN uint32_t wic_t_lot_load(const uint32_t *p)
{
	WIC_T_STEP();
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

WIC_TREE_FN uint32_t wic_t_lot_acquire(const uint32_t *p)
{
	WIC_T_STEP();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

WIC_TREE_FN uint64_t wic_t_lot_load64(const uint64_t *p)
{
	WIC_T_STEP();
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

WIC_TREE_FN void wic_t_lot_store64(uint64_t *p, uint64_t v)
{
	WIC_T_STEP();
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

WIC_TREE_FN uint32_t wic_t_lot_or(uint32_t *p, uint32_t v)
{
	WIC_T_STEP();
	return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);
}

WIC_TREE_FN uint32_t wic_t_lot_and(uint32_t *p, uint32_t v)
{
	WIC_T_STEP();
	return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);
}

WIC_TREE_FN uint32_t wic_t_lot_xor(uint32_t *p, uint32_t v)
{
	WIC_T_STEP();
	return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);
}

WIC_TREE_FN uint32_t wic_t_lot_xchg(uint32_t *p, uint32_t v)
{
	WIC_T_STEP();
	return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}

/* @old -> @v; 1: done. */
WIC_TREE_FN uint32_t wic_t_lot_cas(uint32_t *p, uint32_t old, uint32_t v)
{
	WIC_T_STEP();
	return __atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

WIC_TREE_FN void wic_t_barrier_init(uint64_t *barrier)
{
	*barrier = 0;
}

WIC_TREE_FN void wic_t_barrier_fini(uint64_t *barrier)
{
	(void)barrier;
}

/* ---- lanes: one leader, who is all of them --------------------------------------------- */

#define WIC_T_ONE(m) if ((void)(m), 1)
#define WIC_T_EACH(m, i, n) for (uint32_t i = ((void)(m), 0); i < (n); i++)

WIC_TREE_FN void wic_t_sync(uint32_t m)
{
	(void)m;
}

/* The leader's value, in all lanes. */
WIC_TREE_FN uint32_t wic_t_get(uint32_t m, uint32_t v)
{
	(void)m;
	return v;
}

/* Is it true in all lanes? */
WIC_TREE_FN uint32_t wic_t_all(uint32_t m, uint32_t v)
{
	(void)m;
	return v;
}

/* Of all lanes' values. */
WIC_TREE_FN uint32_t wic_t_or(uint32_t m, uint32_t v)
{
	(void)m;
	return v;
}

/* Number of the lowest bit; @v is not 0. */
WIC_TREE_FN uint32_t wic_t_ffs(uint32_t v)
{
	return (uint32_t)__builtin_ctz(v);
}

#endif /* WIC_TREE_GCC_H */
