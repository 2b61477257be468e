/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Two ways to do what a plan says: as instructions of a warp, and by the CPU itself.  Both check
 * what they read against the plan's wants.
 */
#ifndef WIC_KMOD_TESTBED_GUEST_FUZZ_RUN_H
#define WIC_KMOD_TESTBED_GUEST_FUZZ_RUN_H

#include "fuzz_plan.h"
#include "softgpu_program.h"

#define FUZZ_OP_INSNS 300 /* more than any op takes */

/* The first access that saw something else than it had to. */
struct fuzz_miss {
	bool is_there;
	struct fuzz_op op;
	uint32_t lane;
	uint64_t got, want;
};

/* Begins a warp's program. */
void fuzz_warp_begin(struct softgpu_program *program);

/*
 * fuzz_warp_op - append an access
 * @program: has room for FUZZ_OP_INSNS more
 * @memory: where the plan's memory lies in the address space
 */
void fuzz_warp_op(struct softgpu_program *program, const struct fuzz_op *op, uintptr_t memory);

/*
 * fuzz_cpu_op - do an access with the CPU, lane after lane
 * @miss: noted in there, unless there is one already
 */
void fuzz_cpu_op(const struct fuzz_op *op, uint8_t *memory, struct fuzz_miss *miss);

#endif
