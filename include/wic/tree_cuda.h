/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Primitives of tree.h for nvcc, from sm_75.  A parked warp waits on an mbarrier (sm_90), which
 * returns by itself after some 4 us; before, on a word of shared memory with sleeps.
 *
 * Mask and watcher of the lot are two words, each side writing one and looking at the other, so
 * what orders them is a fence.sc of the block.
 */
#ifndef WIC_TREE_CUDA_H
#define WIC_TREE_CUDA_H

#include <wic/abi.h>

#define WIC_TREE_FN static __device__ __forceinline__
#define WIC_TREE_SLOW static __device__ __noinline__
#define WIC_TREE_HOST static inline __host__

/*
 * Sleeps of a watcher at most; of a parked warp before sm_90.  Cancel and ends are words across the
 * bus, looked for seldom.
 */
#define WIC_T_NAP_NS_MAX 64000u
#define WIC_T_PATIENCE 128u
#define WIC_T_CONTROL_TURNS 256u
#define WIC_T_PARK_TRIES 64u
#define WIC_T_PARK_NS 1000000
#define WIC_T_PARK_NAP_NS 200u
#define WIC_T_PARK_NAPS 1024u

/* ---- device memory, host memory -------------------------------------------------------- */

/* Global memory always, and said: an atomic anywhere else is a loop, which costs registers. */
WIC_TREE_FN uint64_t wic_t_global_(const void *p)
{
	return __cvta_generic_to_global(p);
}

WIC_TREE_FN uint64_t wic_t_load(const uint64_t *p)
{
	uint64_t v;

	asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
		     : "=l"(v)
		     : "l"(wic_t_global_(p))
		     : "memory");
	return v;
}

WIC_TREE_FN uint64_t wic_t_load_sys(const uint64_t *p)
{
	uint64_t v;

	asm volatile("ld.relaxed.sys.global.u64 %0, [%1];"
		     : "=l"(v)
		     : "l"(wic_t_global_(p))
		     : "memory");
	return v;
}

WIC_TREE_FN uint64_t wic_t_acquire(const uint64_t *p)
{
	uint64_t v;

	asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
		     : "=l"(v)
		     : "l"(wic_t_global_(p))
		     : "memory");
	return v;
}

WIC_TREE_FN uint64_t wic_t_acquire_sys(const uint64_t *p)
{
	uint64_t v;

	asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
		     : "=l"(v)
		     : "l"(wic_t_global_(p))
		     : "memory");
	return v;
}

/* Followed by wic_t_fence_truth() where what it says is passed on. */
WIC_TREE_FN uint64_t wic_t_load_truth(const uint64_t *p)
{
	return wic_t_load_sys(p);
}

/* The same, once, by who does not own the line. */
WIC_TREE_FN uint64_t wic_t_load_truth_once(const uint64_t *p)
{
	return wic_t_load_sys(p);
}

WIC_TREE_FN void wic_t_fence_truth(void)
{
	asm volatile("fence.acq_rel.sys;" ::: "memory");
}

WIC_TREE_FN void wic_t_store(uint64_t *p, uint64_t v)
{
	asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

/* max, release: epochs never go back, whoever raises. */
WIC_TREE_FN void wic_t_raise(uint64_t *p, uint64_t v)
{
	asm volatile("red.release.gpu.global.max.u64 [%0], %1;" ::"l"(wic_t_global_(p)), "l"(v)
		     : "memory");
}

/* The same after wic_t_fence_truth(), whose release it is. */
WIC_TREE_FN void wic_t_raise_fenced(uint64_t *p, uint64_t v)
{
	asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" ::"l"(wic_t_global_(p)), "l"(v)
		     : "memory");
}

/* One more; what there were before. */
WIC_TREE_FN uint64_t wic_t_count_(uint64_t *p)
{
	uint64_t old;

	asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], 1;"
		     : "=l"(old)
		     : "l"(wic_t_global_(p))
		     : "memory");
	return old;
}

WIC_TREE_FN void wic_t_bump_(uint64_t *p)
{
	asm volatile("red.relaxed.gpu.global.add.u64 [%0], 1;" ::"l"(wic_t_global_(p)) : "memory");
}

/* Naps begin anew, short, for who joins. */
#define WIC_T_JOINED(lot) wic_t_lot_store64(WIC_T_AT(lot, since), wic_t_now())

/* Blocks are counted for messages: a wait that times out says how many came as far. */
#define WIC_T_FIRST(lot, at_word)                                                             \
	do {                                                                                  \
		uint64_t first_ = (at_word);                                                  \
                                                                                              \
		if (!(first_ & WIC_TREE_PLAIN))                                               \
			wic_t_bump_(&wic_tree_line_(first_)->control->word[WIC_TREE_WAITED]); \
	} while (0)

/*
 * What the owner of a line leaves behind are maxima, good in any order; the owner of a queue
 * leaves counts, which the next one has to see.
 */
#ifdef WIC_TREE_NEXT
#define WIC_T_TAKE_ "acquire"
#define WIC_T_GIVE_ "release"
#else
#define WIC_T_TAKE_ "relaxed"
#define WIC_T_GIVE_ "relaxed"
#endif

/* 0 -> owner; 1: it is the caller's now. */
WIC_TREE_FN uint32_t wic_t_take(uint64_t *p, uint64_t owner)
{
	uint64_t old;

	asm volatile("atom." WIC_T_TAKE_ ".gpu.global.cas.b64 %0, [%1], 0, %2;"
		     : "=l"(old)
		     : "l"(wic_t_global_(p)), "l"(owner)
		     : "memory");
	return old == 0;
}

WIC_TREE_FN void wic_t_give(uint64_t *p)
{
	asm volatile("st." WIC_T_GIVE_ ".gpu.global.u64 [%0], 0;" ::"l"(wic_t_global_(p))
		     : "memory");
}

/* @old -> @v; 1: done. */
WIC_TREE_FN uint32_t wic_t_swap(uint64_t *p, uint64_t old, uint64_t v)
{
	uint64_t seen;

	asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
		     : "=l"(seen)
		     : "l"(wic_t_global_(p)), "l"(old), "l"(v)
		     : "memory");
	return seen == old;
}

WIC_TREE_FN void wic_t_post_sys(uint64_t *p, uint64_t v)
{
	asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(wic_t_global_(p)), "l"(v)
		     : "memory");
}

/* ---- the lot --------------------------------------------------------------------------- */

/* An address in shared memory: half a pointer. */
#define WIC_T_LOT uint32_t
#define WIC_T_LOT_OF(lot) ((uint32_t)__cvta_generic_to_shared(lot))
#define WIC_T_AT(lot, field) ((uint32_t)(uintptr_t)(&((struct wic_lot *)(uintptr_t)(lot))->field))
#define WIC_T_FORGET(v) asm volatile("" : "+r"(v))

WIC_TREE_FN uint32_t wic_t_lot_load(uint32_t at)
{
	uint32_t v;

	asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
	return v;
}

WIC_TREE_FN uint32_t wic_t_lot_acquire(uint32_t at)
{
	uint32_t v;

	asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
	return v;
}

WIC_TREE_FN uint64_t wic_t_lot_load64(uint32_t at)
{
	uint64_t v;

	asm volatile("ld.relaxed.cta.shared.u64 %0, [%1];" : "=l"(v) : "r"(at) : "memory");
	return v;
}

WIC_TREE_FN void wic_t_lot_store64(uint32_t at, uint64_t v)
{
	asm volatile("st.relaxed.cta.shared.u64 [%0], %1;" ::"r"(at), "l"(v) : "memory");
}

WIC_TREE_FN uint32_t wic_t_lot_or(uint32_t at, uint32_t v)
{
	uint32_t old;

	asm volatile("fence.sc.cta;\n\tatom.acq_rel.cta.shared.or.b32 %0, [%1], %2;"
		     : "=r"(old)
		     : "r"(at), "r"(v)
		     : "memory");
	return old;
}

WIC_TREE_FN uint32_t wic_t_lot_and(uint32_t at, uint32_t v)
{
	uint32_t old;

	asm volatile("atom.acq_rel.cta.shared.and.b32 %0, [%1], %2;"
		     : "=r"(old)
		     : "r"(at), "r"(v)
		     : "memory");
	return old;
}

WIC_TREE_FN uint32_t wic_t_lot_xor(uint32_t at, uint32_t v)
{
	uint32_t old;

	asm volatile("atom.relaxed.cta.shared.xor.b32 %0, [%1], %2;"
		     : "=r"(old)
		     : "r"(at), "r"(v)
		     : "memory");
	return old;
}

WIC_TREE_FN uint32_t wic_t_lot_xchg(uint32_t at, uint32_t v)
{
	uint32_t old;

	asm volatile("atom.acq_rel.cta.shared.exch.b32 %0, [%1], %2;"
		     : "=r"(old)
		     : "r"(at), "r"(v)
		     : "memory");
	return old;
}

/* @old -> @v; 1: done. */
WIC_TREE_FN uint32_t wic_t_lot_cas(uint32_t at, uint32_t old, uint32_t v)
{
	uint32_t seen;

	asm volatile("fence.sc.cta;\n\tatom.acq_rel.cta.shared.cas.b32 %0, [%1], %2, %3;"
		     : "=r"(seen)
		     : "r"(at), "r"(old), "r"(v)
		     : "memory");
	return seen == old;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

WIC_TREE_FN void wic_t_barrier_init(uint32_t at)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
}

WIC_TREE_FN void wic_t_barrier_fini(uint32_t at)
{
	asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at) : "memory");
}

WIC_TREE_FN void wic_t_arrive(uint32_t at)
{
	asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}

/*
 * Sleeps until an arrive has ended the parity, or for a while: 1: it has.  With a time the
 * hardware sleeps; without one it tries again and again, which the warps that compute feel.  What
 * is done between two tries is felt too, so it is next to nothing.
 */
WIC_TREE_FN uint32_t wic_t_park(uint32_t at, uint32_t parity, uint64_t until)
{
	uint32_t done;

	(void)until;
#pragma unroll 1
	for (uint32_t left = WIC_T_PARK_TRIES; left; left--) {
		asm volatile("{\n\t.reg .pred p;\n\t"
			     "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2, "
			     "%3;\n\t"
			     "selp.u32 %0, 1, 0, p;\n\t}"
			     : "=r"(done)
			     : "r"(at), "r"(parity), "n"(WIC_T_PARK_NS)
			     : "memory");
		if (done)
			return 1;
	}
	return 0;
}

#else /* arrivals are counted; the parity is the lowest bit */

WIC_TREE_FN void wic_t_barrier_init(uint32_t at)
{
	wic_t_lot_store64(at, 0);
}

WIC_TREE_FN void wic_t_barrier_fini(uint32_t at)
{
	(void)at;
}

WIC_TREE_FN void wic_t_arrive(uint32_t at)
{
	asm volatile("red.release.cta.shared.add.u32 [%0], 1;" ::"r"(at) : "memory");
}

WIC_TREE_FN uint32_t wic_t_park(uint32_t at, uint32_t parity, uint64_t until)
{
	uint32_t v;

	(void)until;
#pragma unroll 1
	for (uint32_t left = WIC_T_PARK_NAPS; left; left--) {
		asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
		if ((v & 1) != parity)
			return 1;
		__nanosleep(WIC_T_PARK_NAP_NS);
	}
	return 0;
}

#endif

/* ---- the warp and its lanes ------------------------------------------------------------ */

WIC_TREE_FN uint64_t wic_t_now(void)
{
	uint64_t v;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v));
	return v;
}

WIC_TREE_FN void wic_t_nap(uint32_t ns)
{
	__nanosleep(ns);
}

/* Numbers are read again rather than kept in registers, so what reads them is volatile. */
WIC_TREE_FN uint32_t wic_t_warp(void)
{
	uint32_t x, y, z;

	asm volatile("mov.u32 %0, %%tid.z;" : "=r"(z));
	asm volatile("mov.u32 %0, %%tid.y;" : "=r"(y));
	asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
	return ((z * blockDim.y + y) * blockDim.x + x) / 32;
}

WIC_TREE_FN uint32_t wic_t_block(void)
{
	uint32_t x, y, z;

	asm volatile("mov.u32 %0, %%ctaid.z;" : "=r"(z));
	asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(y));
	asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(x));
	return (z * gridDim.y + y) * gridDim.x + x;
}

WIC_TREE_FN uint32_t wic_t_rank_(uint32_t m)
{
	uint32_t below;

	asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
	return (uint32_t)__popc(m & below);
}

/* Number of the lowest bit; @v is not 0. */
WIC_TREE_FN uint32_t wic_t_ffs(uint32_t v)
{
	return (uint32_t)__ffs((int)v) - 1;
}

#define WIC_T_ONE(m) if (!wic_t_rank_(m))
#define WIC_T_EACH(m, i, n) for (uint32_t i = wic_t_rank_(m); i < (n); i += (uint32_t)__popc(m))

WIC_TREE_FN void wic_t_sync(uint32_t m)
{
	__syncwarp(m);
}

/* The leader's value, in all lanes. */
WIC_TREE_FN uint32_t wic_t_get(uint32_t m, uint32_t v)
{
	uint32_t leader = m;

	WIC_T_FORGET(leader);
	return __shfl_sync(m, v, (int)wic_t_ffs(leader));
}

/* Is it true in all lanes? */
WIC_TREE_FN uint32_t wic_t_all(uint32_t m, uint32_t v)
{
	return (uint32_t)__all_sync(m, (int)v);
}

/* Of all lanes' values. */
WIC_TREE_FN uint32_t wic_t_or(uint32_t m, uint32_t v)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
	return __reduce_or_sync(m, v);
#else
	uint32_t all = 0;

	for (uint32_t left = m; left; left &= left - 1)
		all |= __shfl_sync(m, v, (int)wic_t_ffs(left));
	return all;
#endif
}

#endif /* WIC_TREE_CUDA_H */
