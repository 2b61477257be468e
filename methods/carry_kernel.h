/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A kernel for methods/carry_test.c: warps make tags of one channel and take tags of another. */
#ifndef WIC_METHODS_CARRY_KERNEL_H
#define WIC_METHODS_CARRY_KERNEL_H

#include <stdint.h>

#include "methods/method.h"

struct carry_args {
	struct m_args out, in;
	uint64_t epoch;
	uint32_t tags_out; /* 0: it makes none */
	uint32_t tags_in;  /* likewise; a multiple of the grid's warps */
	uint32_t words;    /* of a tag, 8 bytes each */
	int32_t *status;   /* a word a warp */
	uint32_t *wrong;   /* atomic: words that were not what they should be */
};

WIC_DEVICE uint64_t carry_word(uint32_t tag, uint64_t epoch, uint32_t i)
{
	return (epoch << 32 ^ (uint64_t)tag << 20) + i;
}

#endif /* WIC_METHODS_CARRY_KERNEL_H */
