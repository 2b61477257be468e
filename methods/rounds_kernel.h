/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * For launch_test.c: small kernels compiled once a method.  A warp of the grid wants in
 * round r the tag r * warps + its own number, or in each third round none.
 */
#ifndef WIC_METHODS_ROUNDS_KERNEL_H
#define WIC_METHODS_ROUNDS_KERNEL_H

#include "methods/method.h"

struct rounds_args {
	struct m_args m;
	uint64_t epoch;
	uint32_t rounds;
	uint32_t *sums;       /* a warp: of the first words of its tags' data */
	uint32_t *c1_calls;   /* a block, counted by wic_block_add_u32() */
	uint32_t *bar_errors; /* a block: neighbours not seen after a barrier */
	int32_t *status;      /* a warp */
};

WIC_DEVICE int rounds_has_tag(uint32_t number, uint32_t round)
{
	return (number + round) % 3 != 0;
}

#endif /* WIC_METHODS_ROUNDS_KERNEL_H */
