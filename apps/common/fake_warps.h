/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * For tests: a runtime for kernels in one thread, in place of a back-end.
 *
 * Warps are fibers; at every turn, look and barrier a seeded generator says who
 * runs next, so a kernel that forgets a barrier is found by some seed, and that
 * seed finds it again.  Blocks run one after the other.  Where a warp waits (at
 * each look, and at each request that is not met) a hook may publish.
 */
#ifndef WIC_APPS_COMMON_FAKE_WARPS_H
#define WIC_APPS_COMMON_FAKE_WARPS_H

#include <stdint.h>

#include <wic/kernel.h>

#define FAKE_WARPS_MAX 16

struct fake_launch {
	void (*kernel)(const void *args);
	const void *args;
	uint32_t grid_blocks;
	uint32_t block_threads;
	uint32_t shared_bytes;
	uint64_t seed;
	void (*on_look)(void *arg); /* NULL: nothing is ever published */
	void *on_look_arg;
};

struct fake_counts {
	uint64_t turns;
	uint64_t looks;
	uint64_t bars;
};

/* Runs to the end of the last warp. */
struct fake_counts fake_run(const struct fake_launch *launch);

#endif /* WIC_APPS_COMMON_FAKE_WARPS_H */
