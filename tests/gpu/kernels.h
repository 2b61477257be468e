/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What host and kernels of the GPU suite share: arguments, results, payloads, and the list of the
 * kernels.  The arrays that the arguments name are pinned memory.
 */
#ifndef WIC_TESTS_GPU_KERNELS_H
#define WIC_TESTS_GPU_KERNELS_H

#include <wic/abi.h>

#ifdef __CUDACC__
#define GPU_BOTH static __host__ __device__ inline
#else
#define GPU_BOTH static inline
#endif

#define GPU_HANDLES 2
#define GPU_REFS 4
#define GPU_ALL UINT32_MAX  /* of blocks, of warps */
#define GPU_NULL UINT32_MAX /* as a handle: NULL */

/* What a step of a script does. */
enum gpu_what {
	GPU_WAIT,
	GPU_REQUEST, /* and counts the words of the payload that are wrong */
	GPU_TRY,
	GPU_RELEASE,
	GPU_STAGE, /* and fills the page */
	GPU_PUBLISH,
	GPU_WORD, /* waits for a word */
	GPU_WAIT_ALL,
	GPU_REQUEST_ALL,
	GPU_STORE, /* epoch to the word */
	GPU_BARRIER,
	GPU_WAIT_BLOCK,
	GPU_REQUEST_BLOCK,
	GPU_RELEASE_BLOCK,
	GPU_PUBLISH_BLOCK,
	GPU_WORD_BLOCK,
	GPU_REQUEST_NO_DATA,
	GPU_REQUEST_BLOCK_NO_DATA,
	GPU_STAGE_NO_BUFFER,
	GPU_WAIT_NO_LANE,
	GPU_REQUEST_NO_LANE,
	GPU_RELEASE_NO_LANE,
	GPU_WORD_NO_LANE,
	GPU_WAIT_SMALL_LOT, /* of one warp; without a lot of its own */
	GPU_WORD_SMALL_LOT,
	GPU_WAIT_NO_REFS,
	GPU_REQUEST_NO_REFS,
};

struct gpu_step {
	uint32_t what;
	uint32_t handle;
	uint32_t block; /* who does it, or GPU_ALL */
	uint32_t warp;
	uint32_t tag;
	uint32_t count; /* of refs */
	uint64_t epoch;
	uint64_t timeout_ns;
	uint64_t *word;
	struct wic_ref refs[GPU_REFS];
};

struct gpu_result {
	int rc;
	uint32_t wrong; /* words of the payload */
	uint64_t began_ns;
	uint64_t ended_ns;
};

struct gpu_args {
	struct wic_handle h[GPU_HANDLES];
	const struct gpu_step *steps;
	struct gpu_result *results; /* warp of the grid * steps + step; of a loop: one a warp */
	uint64_t *arrived;          /* a word a warp of the grid, or NULL: its last step so far */
	uint64_t epoch_first;
	uint64_t epochs;
	uint64_t epoch_step;
	uint64_t timeout_ns;
	uint32_t count; /* of steps, or tags */
	uint32_t has_lot;
	uint32_t is_next; /* requests and releases WIC_EPOCH_NEXT */
	uint32_t is_each; /* each warp takes all tags; else a tag is one warp's */
};

/* gpu_script(): each warp does the steps that are its own. */
/* gpu_take(), gpu_make(): a loop over epochs, and over tags. */
/* gpu_ping(): for each epoch waits for a signal of h[0], then gives one of h[1]. */
/* gpu_litmus(): the first warp takes tag 0 with its lines in L1 from before; others wait for tag 1.
 */
#define GPU_KERNELS(X) \
	X(gpu_script)  \
	X(gpu_litmus)  \
	X(gpu_take)    \
	X(gpu_make)    \
	X(gpu_ping)

/*
 * What only a GPU can run; a result a thread of the grid.
 *
 * gpu_halves(): the halves of a warp wait one after the other, tag 2 * warp + half.
 * gpu_early(): lanes 0, 3, 6, .. and warp 1 of each block have returned; the others take tag warp.
 * gpu_block_take(), gpu_block_make(): a block together, its tag is its number.
 * gpu_reuse(): as gpu_take(), and between epochs the lot's memory is used for something else.
 */
#define GPU_KERNELS_OF_LANES(X) \
	X(gpu_halves)           \
	X(gpu_early)            \
	X(gpu_block_take)       \
	X(gpu_block_make)       \
	X(gpu_reuse)

/* Word @i of the payload of (tag, epoch): different for each. */
GPU_BOTH uint32_t gpu_word(uint32_t tag, uint64_t epoch, uint32_t i)
{
	uint64_t v = (epoch + 1) * 0x9e3779b97f4a7c15ull ^ ((uint64_t)tag << 32 | i);

	return (uint32_t)(v >> 32 ^ v);
}

#endif /* WIC_TESTS_GPU_KERNELS_H */
