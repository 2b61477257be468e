/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * wic/kernel.h of kernels that fakecuda runs: a warp is a thread with one lane.  The waits are
 * those of wic/device.cuh itself, over the primitives for threads; what CUDA has by itself is
 * given here.
 */
#ifndef WIC_TESTS_GPU_SIDE_H
#define WIC_TESTS_GPU_SIDE_H

#include <stddef.h>
#include <stdint.h>

#include "tests/fakecuda/fakecuda.h"

struct side_dim {
	uint32_t x, y, z;
};

static __thread struct side_dim threadIdx, blockDim, gridDim;
static __thread uint32_t side_block;

#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __activemask() 1u
#define __syncthreads() fakecuda_barrier()
#define __syncthreads_or(value) fakecuda_barrier_or(value)

/* As tree_cuda.h counts, whose place tree_threads.h takes. */
#define WIC_TREE_CUDA_H
#define WIC_T_FIRST(lot, at_word)                                                              \
	do {                                                                                   \
		uint64_t first_ = (at_word);                                                   \
                                                                                               \
		if (!(first_ & WIC_TREE_PLAIN))                                                \
			wic_t_count_(&wic_tree_line_(first_)->control->word[WIC_TREE_WAITED]); \
	} while (0)

#include <wic/tree_threads.h>

WIC_TREE_FN uint64_t wic_t_count_(uint64_t *p)
{
	return __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
}

#define __CUDACC__
#include <wic/device.cuh>
#undef __CUDACC__

#define WIC_KERNEL(name, args_type, args)                                                 \
	static void name##_body(const args_type *args);                                   \
	void name##_run(void *args##_any, uint32_t block, uint32_t warp, uint32_t warps); \
	void name##_run(void *args##_any, uint32_t block, uint32_t warp, uint32_t warps)  \
	{                                                                                 \
		side_begin(block, warp, warps);                                           \
		name##_body((const args_type *)args##_any);                               \
	}                                                                                 \
	static void name##_body(const args_type *args)
#define WIC_SHARED(type, name) type *name = (type *)fakecuda_shared()
#define WIC_LANE_VAR(type, name) type name
#define WIC_AT(name, lane) (name)
#define WIC_LANES(lane) for (int64_t lane = 0; lane < 1; lane++)

static inline void side_begin(uint32_t block, uint32_t warp, uint32_t warps)
{
	wic_tree_thread_set(block, warp);
	side_block = block;
	threadIdx = (struct side_dim){ 32 * warp, 0, 0 };
	blockDim = (struct side_dim){ 32 * warps, 1, 1 };
	gridDim = (struct side_dim){ fakecuda_blocks(), 1, 1 };
}

static inline uint32_t wic_block_id(void)
{
	return side_block;
}

static inline uint32_t wic_warp_id(void)
{
	return threadIdx.x / 32;
}

static inline uint32_t wic_block_warps(void)
{
	return blockDim.x / 32;
}

static inline uint32_t wic_grid_blocks(void)
{
	return gridDim.x;
}

static inline int64_t wic_lanes_live(void)
{
	return 1;
}

static inline void wic_bar(void)
{
	fakecuda_barrier();
}

static inline uint32_t wic_reduce_add_u32(uint32_t x)
{
	return x;
}

#endif /* WIC_TESTS_GPU_SIDE_H */
