/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What budget.sh compiles and reads the registers of; nothing here is run.
 *
 *	no macro                the slow paths alone, with lines and without a lot; a hit
 *	WIC_TREE_PLAIN_ONLY     the slow path of wic_tree_wait_word() alone, and its waiter's part
 *	BUDGET_BASE             kernels that hold 12, 36, 100 values over a barrier
 *	BUDGET_WAIT             the same over a wait, with or without lines;
 *	BLOCKS_<values>_<threads>  what the kernel without a wait has of blocks an SM, for its
 *	                        launch bounds
 */
#include <wic/tree.h>

#if defined(BUDGET_BASE) || defined(BUDGET_WAIT)

struct run {
	struct wic_tree_line *lines;
	const float *in;
	float *out;
	uint64_t epoch;
	uint64_t timeout_ns;
	uint32_t tags;
	int n;
};

/* C1 and C2: loops that have use for all values of a thread. */
template <int VALUES>
static __device__ __forceinline__ void compute(float (&s)[VALUES], const float *in, int n, int step)
{
	for (int j = 0; j < n; j++) {
		float x = in[j];

#pragma unroll
		for (int k = 0; k < VALUES; k++)
			s[k] = fmaf(s[k], s[(k + step) % VALUES], x);
	}
}

template <int WARPS> static __device__ __forceinline__ int between(const struct run &r)
{
#ifdef BUDGET_WAIT
	__shared__ uint64_t space[WIC_LOT_BYTES(WARPS) / 8];
	struct wic_lot *lot = (struct wic_lot *)space;

	if (!threadIdx.x)
		wic_tree_lot_init(lot, WARPS);
	__syncthreads();
#ifdef WIC_TREE_PLAIN_ONLY
	return wic_tree_wait_word(lot, r.lines->word + blockIdx.x, r.epoch, r.timeout_ns, ~0u);
#else
	return wic_tree_wait(lot, r.lines, r.tags, blockIdx.x, r.epoch, r.timeout_ns, ~0u);
#endif
#else
	__syncthreads();
	return r.tags == 0;
#endif
}

template <int VALUES, int WARPS> static __device__ __forceinline__ void hold(const struct run &r)
{
	uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
	float s[VALUES];

#pragma unroll
	for (int k = 0; k < VALUES; k++)
		s[k] = r.in[at + (uint32_t)k];
	compute(s, r.in, r.n, 1);
	if (!between<WARPS>(r))
		compute(s, r.in + at, r.n, 3);
#pragma unroll
	for (int k = 0; k < VALUES; k++)
		r.out[at + (uint32_t)k * 1024] = s[k];
}

#define HOLD(values)                                                                   \
	extern "C" __global__ void hold_##values(const __grid_constant__ struct run r) \
	{                                                                              \
		hold<values, 8>(r);                                                    \
	}

HOLD(12)
HOLD(36)
HOLD(100)

#ifdef BUDGET_WAIT

#define BOUND(values, threads)                                                             \
	extern "C" __global__ void __launch_bounds__(threads, BLOCKS_##values##_##threads) \
		bound_##values##_##threads(const __grid_constant__ struct run r)           \
	{                                                                                  \
		hold<values, threads / 32>(r);                                             \
	}

BOUND(12, 256)
BOUND(12, 1024)
BOUND(36, 256)
BOUND(100, 256)

#endif

#else /* the slow paths: arguments come from memory, as constants would be folded into them */

struct args {
	uint64_t word;
	uint64_t want;
	uint64_t timeout_ns;
	uint32_t m;
	uint32_t at;
	int rc;
};

extern __shared__ unsigned char space[];

extern "C" __global__ void slow(struct args *a)
{
	a->rc = wic_tree_wait_slow_((struct wic_lot *)(space + a->at), a->word, a->want,
				    a->timeout_ns, a->m);
}

extern "C" __global__ void poll(struct args *a)
{
	a->rc = wic_tree_poll_slow_(a->word, a->want, a->timeout_ns, a->m);
}

#ifdef WIC_TREE_PLAIN_ONLY

/* Registers and parks; where it would watch, it ends. */
extern "C" __global__ void waiter(struct args *a)
{
	WIC_T_LOT lot = WIC_T_LOT_OF((struct wic_lot *)(space + a->at));
	uint32_t m = a->m;
	int rc = WIC_TREE_PARKS_;

	for (uint32_t is_first = 1; rc > 0 && rc != WIC_TREE_WATCHES; is_first = 0) {
		WIC_T_FORGET(lot);
		WIC_T_ONE(m)
			rc = wic_tree_step_(lot, wic_t_warp(), is_first);
		rc = (int)wic_t_get(m, (uint32_t)rc);
		if (rc > 0 && rc != WIC_TREE_WATCHES &&
		    wic_tree_park_(lot, m, rc == WIC_TREE_PARKS_OWED_))
			rc = WIC_TREE_WATCHES;
	}
	a->rc = rc;
}

extern "C" __global__ void hit(const uint64_t *word, uint64_t at_least, int *out)
{
	if (!wic_tree_wait_word((struct wic_lot *)space, word, at_least, WIC_FOREVER, ~0u))
		*out = 1;
}

#else

extern "C" __global__ void hit(struct wic_tree_line *lines, uint32_t tags, uint32_t tag,
			       uint64_t epoch, int *out)
{
	if (!wic_tree_wait((struct wic_lot *)space, lines, tags, tag, epoch, WIC_FOREVER, ~0u))
		*out = 1;
}

#endif
#endif
