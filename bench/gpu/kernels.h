/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Kernels of `wic perf` on a GPU, and what they are given.  The C functions name them for
 * wic_launch() and do nothing.
 */
#ifndef WIC_BENCH_GPU_KERNELS_H
#define WIC_BENCH_GPU_KERNELS_H

#include <stdint.h>

#include <wic/abi.h>

#define GPU_BLOCK_WARPS 32u
#define GPU_BLOCK_THREADS (GPU_BLOCK_WARPS * 32u)
#define GPU_FLAG_WORDS 16u /* a line of 128 bytes a flag */
#define GPU_IDLE_TAG 15u   /* of the first line: who only keeps a role waits for it */
#define GPU_TIMEOUT_NS WIC_S(20)

/* Who answers, and what stands between the host's store and its look. */
enum gpu_echo {
	GPU_ECHO_SPIN,    /* one warp looks at a pinned word all the time: the baseline */
	GPU_ECHO_WORD,    /* the same at a word of device memory, which the driver writes */
	GPU_ECHO_WATCHER, /* the warp watches and owns the line */
	GPU_ECHO_PARKED,  /* it parks; another warp of its block watches and owns the line */
	GPU_ECHO_OTHER,   /* it watches; the line is another block's */
	GPU_ECHOES,
};

struct gpu_echo_args {
	struct wic_handle h;
	uint64_t *flag;  /* pinned, or of the device */
	uint64_t *echo;  /* pinned */
	uint64_t *ready; /* pinned: 1 when all have their roles */
	int64_t *status; /* pinned */
	uint64_t base;   /* epochs of this run follow it */
	uint32_t count;
	uint32_t kind; /* enum gpu_echo */
};

/* How the warps wait that do not compute. */
enum gpu_wait {
	GPU_WAIT_BARRIER, /* at the block's last barrier: the baseline */
	GPU_WAIT_WIC,
	GPU_WAIT_LEADER,     /* one warp a block looks at its own pinned line, relaxed */
	GPU_WAIT_LEADER_ACQ, /* with acquire */
	GPU_WAIT_WARP,       /* each warp looks at its own pinned line, relaxed */
	GPU_WAIT_ONE_WORD,   /* one warp a block, all at one pinned word */
	/* As the leader, who ends the others' waits: what their rest itself costs. */
	GPU_WAIT_PARK,     /* as the tree's warps park */
	GPU_WAIT_TRY_WAIT, /* mbarrier.try_wait without a time */
	GPU_WAIT_SLEEP_1,  /* a look at the mbarrier each 1 us */
	GPU_WAIT_SLEEP_4,
	GPU_WAIT_SLEEP_16,
	GPU_WAITS,
};

enum gpu_work { GPU_FMA, GPU_STREAM, GPU_L1_16K, GPU_L1_64K, GPU_GATHER, GPU_TENSOR, GPU_WORKS };

struct gpu_work_args {
	struct wic_handle h;
	const float *buffer;   /* of the device */
	uint64_t buffer_words; /* a power of two */
	uint64_t *flags;       /* pinned, a line a warp of the grid */
	uint64_t *times_ns;    /* of the device, two a block: start and end of what it computed */
	uint32_t *finished;    /* of the device: blocks */
	uint64_t *all;         /* pinned: 1 when all blocks have computed */
	int64_t *status;       /* pinned, of the grid */
	float *out;            /* of the device, a thread: so that nothing is left out */
	uint64_t epoch;
	uint32_t pieces;
	uint32_t waiters; /* of a block */
	uint32_t tags;    /* distinct ones of a block */
	uint32_t wait;    /* enum gpu_wait */
	uint32_t work;    /* enum gpu_work */
};

/* Each warp waits for its own tag, round after round, and does nothing else. */
struct gpu_rounds_args {
	struct wic_handle h;
	uint64_t *started; /* of the device: warps that have come */
	uint64_t *all;     /* pinned: 1 when all have */
	int64_t *status;   /* pinned */
	uint64_t base;
	uint32_t rounds;
};

void wic_gpu_echo(const void *args);
void wic_gpu_work(const void *args);
void wic_gpu_rounds(const void *args);

#endif /* WIC_BENCH_GPU_KERNELS_H */
