/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * One instruction of one warp; private to the SMs and their programs.
 *
 *   warp.c: what an instruction does to its warp, to memory, to the fault buffer
 *   sm.c:   which warp has its turn, and who waits where
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_WARP_H
#define WIC_KMOD_TESTBED_SOFTGPU_WARP_H

#include "sm.h"

/* What of an instruction's fields has a meaning. */
enum sgpu_op_kind {
	SGPU_KIND_PLAIN,
	SGPU_KIND_MEMORY, /* width 1, 2, 4, 8 */
	SGPU_KIND_ATOMIC, /* width 4, 8 */
	SGPU_KIND_PREFETCH,
	SGPU_KIND_JUMP, /* imm: an instruction */
	SGPU_KIND_UNKNOWN,
};

enum sgpu_op_kind sgpu_op_kind(uint32_t op);

/*
 * sgpu_warp_turn - one turn of a ready warp
 *
 * The warp is on no list.  Its new state is in it: ready with the next instruction, or (COMPUTE)
 * the same once more; stalled, its packets written; at the barrier; ended.
 */
void sgpu_warp_turn(struct sgpu_gpu *gpu, struct sgpu_warp *warp, uint64_t now_ns);

/* A warp at the barrier is ready with the instruction behind it. */
void sgpu_warp_pass_barrier(struct sgpu_gpu *gpu, struct sgpu_warp *warp);

/* The faults that it waits for are its uTLB's no longer.  Return: how many. */
uint32_t sgpu_warp_forget_faults(struct sgpu_gpu *gpu, struct sgpu_warp *warp);

/* Return: is the fault of page @va (any byte of it) outstanding? */
bool sgpu_warp_waits_for(const struct sgpu_warp *warp, uint64_t va);

#endif
