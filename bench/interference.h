/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The kernel of `wic perf interference`, compiled once a method.
 *
 *	block 0 ... 19, 51 warps each:
 *	  warps 0..n-1	wait, each for its tag   -- or go straight to the barrier
 *	  warp 50	waits for `go`, computes, is timed
 *	  the rest	leave at once
 *	  all meet at a barrier at the end
 *
 * So the computing warps are the same 20, one a block, whoever waits and however.  A
 * polling method waits as in its m_wait(), but for its first barrier, which would let
 * nobody look before the computing warp has come: the block's warp 0 looks, the others
 * stand at the barrier.
 */
#ifndef WIC_BENCH_INTERFERENCE_H
#define WIC_BENCH_INTERFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "methods/method.h"

#define INTERFERENCE_BLOCKS 20u
#define INTERFERENCE_WAITERS_MAX 50u /* of a block */
#define INTERFERENCE_BLOCK_WARPS (INTERFERENCE_WAITERS_MAX + 1)

/* What the computing warps do.  A piece takes a few us, then comes a turn. */
enum interference_work {
	INTERFERENCE_FMA,    /* registers alone */
	INTERFERENCE_STREAM, /* each warp its own part of a buffer larger than the caches */
	INTERFERENCE_L1,     /* each warp its own 1 KiB again and again: 20 KiB together */
	INTERFERENCE_GATHER, /* each lane anywhere in the buffer */
	INTERFERENCE_WORKS,
};

#define INTERFERENCE_BUFFER_BYTES (64u << 20)

struct interference_shape {
	uint32_t waiting_blocks;
	uint32_t waiters; /* of each of these */
	uint32_t tags;    /* distinct ones of each of these, at most waiters */
	uint32_t readers; /* of each tag: ceil(waiters / tags) */
};

struct interference_args {
	struct m_args m;
	struct interference_shape shape;
	uint64_t epoch;
	const float *buffer; /* borrowed, INTERFERENCE_BUFFER_BYTES */
	uint32_t work;       /* enum interference_work */
	uint32_t pieces;
	bool is_waiting; /* false: the waiters stand at the barrier */
	/* The host's: the computing warps may begin.  Looked at once a turn until then. */
	uint32_t go __attribute__((aligned(64)));
	/* Written by warps; each alone in its line against the host's looks. */
	uint32_t arrived __attribute__((aligned(64)));  /* waiters about to wait */
	uint32_t finished __attribute__((aligned(64))); /* computing warps */
	int status __attribute__((aligned(64)));
	uint32_t wrong;
	uint64_t start_ns[INTERFERENCE_BLOCKS];
	uint64_t end_ns[INTERFERENCE_BLOCKS];
	float sum[INTERFERENCE_BLOCKS];
};

void bench_interference_kernel_naive(const void *args);
void bench_interference_kernel_leader(const void *args);
void bench_interference_kernel_wic(const void *args);

#endif /* WIC_BENCH_INTERFERENCE_H */
