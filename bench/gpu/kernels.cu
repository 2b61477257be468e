/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Compiled by nvcc alone: what is measured here are a GPU's ways to wait. */
#include <mma.h>

#include <wic/device.cuh>

#include "bench/gpu/kernels.h"

/* Two blocks an SM, but Turing has room for one. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SM_BLOCKS 1
#else
#define SM_BLOCKS 2
#endif

/* With a clobber, unlike wic_t_now(): what is timed stays between. */
static __device__ __forceinline__ uint64_t now_ns(void)
{
	uint64_t v;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v)::"memory");
	return v;
}

/* Until the flag is there: 0, or -ETIMEDOUT.  @nap_ns: 0: none. */
static __device__ int look(const uint64_t *flag, uint64_t want, bool acquires, uint32_t nap_ns)
{
	uint64_t until = now_ns() + GPU_TIMEOUT_NS;

	while ((acquires ? wic_t_acquire_sys(flag) : wic_t_load_sys(flag)) < want) {
		if (nap_ns)
			__nanosleep(nap_ns);
		if (now_ns() > until)
			return WIC_TREE_ETIMEDOUT;
	}
	(void)wic_t_acquire_sys(flag);
	return 0;
}

/* ---- latency ----------------------------------------------------------------------------- */

/* The role that this case is about is somebody else's from here on. */
static __device__ void wait_for_role(const gpu_echo_args &a, struct wic_lot *lot)
{
	const struct wic_tree_line *line = (const struct wic_tree_line *)(const void *)a.h.dir;
	uint64_t until = now_ns() + GPU_TIMEOUT_NS;

	while (now_ns() < until) {
		if (a.kind == GPU_ECHO_PARKED && wic_t_lot_load(WIC_T_AT(WIC_T_LOT_OF(lot), watcher)) &&
		    wic_t_load_sys(&line->owner))
			return;
		if (a.kind == GPU_ECHO_OTHER && wic_t_load_sys(&line->owner))
			return;
		if (a.kind != GPU_ECHO_PARKED && a.kind != GPU_ECHO_OTHER)
			return;
	}
}

/* Warp 0 of block 0 answers; another one, where there is one, only keeps a role. */
extern "C" __global__ void wic_gpu_echo(const gpu_echo_args a)
{
	__shared__ struct wic_lot lot;
	bool is_idle = blockIdx.x || threadIdx.x >= 32;
	int rc = 0;

	wic_lot_init(&lot);
	if (is_idle) {
		rc = wic_wait(&a.h, &lot, GPU_IDLE_TAG, a.base + a.count, GPU_TIMEOUT_NS);
		if (rc && threadIdx.x % 32 == 0)
			*a.status = rc;
		return;
	}
	wait_for_role(a, &lot);
	if (threadIdx.x == 0)
		wic_t_post_sys(a.ready, 1);
	for (uint64_t e = a.base + 1; e <= a.base + a.count && !rc; e++) {
		if (a.kind == GPU_ECHO_SPIN || a.kind == GPU_ECHO_WORD) {
			if (threadIdx.x == 0)
				rc = look(a.flag, e, false, 0);
			rc = __shfl_sync(0xffffffff, rc, 0);
		} else {
			rc = wic_wait(&a.h, &lot, 0, e, GPU_TIMEOUT_NS);
		}
		if (threadIdx.x == 0)
			wic_t_post_sys(a.echo, e);
	}
	if (rc && threadIdx.x == 0)
		*a.status = rc;
}

/* ---- what computes ----------------------------------------------------------------------- */

static __device__ float fma_piece(float x)
{
	float y = x + 1.0f;

#pragma unroll 1
	for (int i = 0; i < 2048; i++) {
		x = fmaf(x, 0.999f, 0.5f);
		y = fmaf(y, 0.998f, 0.25f);
	}
	return x + y;
}

/* A part of the buffer of its own, larger than the caches together. */
static __device__ float stream_piece(const gpu_work_args &a, uint32_t piece, uint32_t computing)
{
	uint64_t threads = (uint64_t)gridDim.x * computing * 32;
	uint64_t me = (uint64_t)blockIdx.x * computing * 32 + (threadIdx.x - a.waiters * 32);
	const float4 *p = (const float4 *)a.buffer;
	float sum = 0;

	for (uint32_t i = 0; i < 8; i++) {
		uint64_t at = ((uint64_t)piece * 8 + i) * threads + me;
		float4 v = p[at & (a.buffer_words / 4 - 1)];

		sum += v.x + v.y + v.z + v.w;
	}
	return sum;
}

/* The same @bytes of the block again and again, by loads that L1 keeps. */
static __device__ float l1_piece(const gpu_work_args &a, uint32_t bytes, uint32_t computing)
{
	uint32_t words = bytes / 4, step = computing * 32;
	const float *p = a.buffer + (uint64_t)blockIdx.x * words;
	float sum = 0, v;

	for (uint32_t i = threadIdx.x - a.waiters * 32; i < words; i += step) {
		asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(p + i) : "memory");
		sum += v;
	}
	return sum;
}

static __device__ float gather_piece(const gpu_work_args &a, uint32_t *seed)
{
	float sum = 0;

	for (int i = 0; i < 8; i++) {
		*seed = *seed * 1664525u + 1013904223u;
		sum += a.buffer[(*seed >> 3) & (a.buffer_words - 1)];
	}
	return sum;
}

static __device__ float tensor_piece(void)
{
	using namespace nvcuda;
	wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
	wmma::fragment<wmma::accumulator, 16, 16, 16, half> z;

	wmma::fill_fragment(x, __float2half(0.5f));
	wmma::fill_fragment(y, __float2half(0.25f));
	wmma::fill_fragment(z, __float2half(0.0f));
#pragma unroll 1
	for (int i = 0; i < 256; i++)
		wmma::mma_sync(z, x, y, z);
	return __half2float(z.x[0]);
}

static __device__ float compute(const gpu_work_args &a)
{
	uint32_t computing = GPU_BLOCK_WARPS - a.waiters;
	uint32_t seed = blockIdx.x * 1024 + threadIdx.x;
	float sum = 0;

#pragma unroll 1
	for (uint32_t piece = 0; piece < a.pieces; piece++) {
		switch (a.work) {
		case GPU_FMA:
			sum = fma_piece(sum);
			break;
		case GPU_STREAM:
			sum += stream_piece(a, piece, computing);
			break;
		case GPU_L1_16K:
			sum += l1_piece(a, 16384, computing);
			break;
		case GPU_L1_64K:
			sum += l1_piece(a, 65536, computing);
			break;
		case GPU_GATHER:
			sum += gather_piece(a, &seed);
			break;
		default:
			sum += tensor_piece();
			break;
		}
	}
	return sum;
}

/* ---- ways to rest ------------------------------------------------------------------------ */

/* Has the barrier's first phase ended? */
static __device__ __forceinline__ uint32_t has_ended(uint32_t at)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	uint32_t done;

	asm volatile("{\n\t.reg .pred p;\n\t"
		     "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], 0;\n\t"
		     "selp.u32 %0, 1, 0, p;\n\t}"
		     : "=r"(done)
		     : "r"(at)
		     : "memory");
	return done;
#else
	return wic_t_lot_load(at) & 1;
#endif
}

static __device__ __forceinline__ uint32_t tries(uint32_t at)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	uint32_t done;

	asm volatile("{\n\t.reg .pred p;\n\t"
		     "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], 0;\n\t"
		     "selp.u32 %0, 1, 0, p;\n\t}"
		     : "=r"(done)
		     : "r"(at)
		     : "memory");
	return done;
#else
	return has_ended(at);
#endif
}

/* Warp 0 looks, as a leader; the others of @waiters rest until it has seen. */
static __device__ int rest_as(const gpu_work_args &a, struct wic_lot *lot, const uint64_t *flag)
{
	uint32_t warp = threadIdx.x / 32;
	uint32_t at = WIC_T_AT(WIC_T_LOT_OF(lot), warp[warp].barrier);
	uint32_t nap = a.wait == GPU_WAIT_SLEEP_1 ? 1000 : a.wait == GPU_WAIT_SLEEP_4 ? 4000 : 16000;
	uint64_t until = now_ns() + GPU_TIMEOUT_NS;
	int rc = 0;

	if (warp == 0) {
		if (threadIdx.x == 0)
			rc = look(flag, a.epoch, false, 640);
		__syncwarp();
		if (threadIdx.x && threadIdx.x < a.waiters)
			wic_t_arrive(WIC_T_AT(WIC_T_LOT_OF(lot), warp[threadIdx.x].barrier));
		return rc;
	}
	if (a.wait == GPU_WAIT_PARK) {
		while (!__all_sync(0xffffffff, wic_t_park(at, 0, until)))
			;
		return 0;
	}
	if (a.wait == GPU_WAIT_TRY_WAIT) {
		while (!tries(at))
			;
		return 0;
	}
	while (!has_ended(at))
		__nanosleep(nap);
	return 0;
}

/* ---- interference ------------------------------------------------------------------------ */

static __device__ int wait_as(const gpu_work_args &a, struct wic_lot *lot)
{
	uint32_t warp = threadIdx.x / 32;
	const uint64_t *flag = a.flags + ((uint64_t)blockIdx.x * GPU_BLOCK_WARPS + warp) * GPU_FLAG_WORDS;
	int rc = 0;

	switch (a.wait) {
	case GPU_WAIT_WIC:
		return wic_wait(&a.h, lot, blockIdx.x * a.tags + warp % a.tags, a.epoch, GPU_TIMEOUT_NS);
	case GPU_WAIT_LEADER:
	case GPU_WAIT_LEADER_ACQ:
		if (threadIdx.x == 0)
			rc = look(flag, a.epoch, a.wait == GPU_WAIT_LEADER_ACQ, 640);
		return rc;
	case GPU_WAIT_WARP:
		if (threadIdx.x % 32 == 0)
			rc = look(flag, a.epoch, false, 640);
		return rc;
	case GPU_WAIT_ONE_WORD:
		if (threadIdx.x == 0)
			rc = look(a.flags, a.epoch, false, 640);
		return rc;
	case GPU_WAIT_BARRIER:
		return 0;
	default:
		return rest_as(a, lot, a.flags + (uint64_t)blockIdx.x * GPU_BLOCK_WARPS * GPU_FLAG_WORDS);
	}
}

/* The last thread of a block's computing warps, then the last block. */
static __device__ void finish(const gpu_work_args &a, uint32_t *left)
{
	__syncwarp();
	if (threadIdx.x % 32)
		return;
	__threadfence_block();
	if (atomicSub_block(left, 1) != 1)
		return;
	a.times_ns[2 * blockIdx.x + 1] = now_ns();
	__threadfence();
	if (atomicAdd(a.finished, 1) == gridDim.x - 1)
		wic_t_post_sys(a.all, 1);
}

extern "C" __global__ void __launch_bounds__(GPU_BLOCK_THREADS, SM_BLOCKS)
	wic_gpu_work(const gpu_work_args a)
{
	__shared__ struct wic_lot lot;
	__shared__ uint32_t left;
	uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x == 0)
		left = GPU_BLOCK_WARPS - a.waiters;
	wic_lot_init(&lot);
	if (threadIdx.x / 32 < a.waiters) {
		int rc = wait_as(a, &lot);

		if (rc)
			*a.status = rc;
	} else {
		if (threadIdx.x == a.waiters * 32)
			a.times_ns[2 * blockIdx.x] = now_ns();
		a.out[thread] = compute(a);
		finish(a, &left);
	}
	__syncthreads();
}

/* ---- rate -------------------------------------------------------------------------------- */

extern "C" __global__ void __launch_bounds__(GPU_BLOCK_THREADS, SM_BLOCKS)
	wic_gpu_rounds(const gpu_rounds_args a)
{
	__shared__ struct wic_lot lot;
	uint32_t tag = blockIdx.x * GPU_BLOCK_WARPS + threadIdx.x / 32;
	int rc = 0;

	wic_lot_init(&lot);
	if (threadIdx.x == 0 &&
	    atomicAdd((unsigned long long *)a.started, 1ull) == gridDim.x - 1)
		wic_t_post_sys(a.all, 1);
	for (uint64_t e = a.base + 1; e <= a.base + a.rounds && !rc; e++)
		rc = wic_wait(&a.h, &lot, tag, e, GPU_TIMEOUT_NS);
	if (rc)
		*a.status = rc;
}
