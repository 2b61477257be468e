/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * G_BS: what kernel and host share.  Arrays of 2 * half keys are sorted by two devices,
 * device 0 has the lower half of each and device 1 the upper one; block b of both takes
 * the arrays b, b + B, b + 2B ...
 *
 *	device 0	half, sorted up   ---chunks---> <---chunks---	half, sorted down
 *	device 1								|
 *	then each	key i = smaller (larger) of key i here and key i there, and merges
 *
 * That is bitonic sort with the one step whose partner is on the other device cut out.
 * Block b sends its half of one array, then sorts its half of its next array, and
 * only then wants the other device's half of the first: the data is mostly there.
 */
#ifndef WIC_APPS_G_BS_KERNEL_H
#define WIC_APPS_G_BS_KERNEL_H

#include <stdint.h>

#include "methods/method.h"

#define GBS_DEVICES 2u
#define GBS_CHUNKS 8u /* a half, each a tag */
#define GBS_WARPS_MAX 8u
/*
 * Comparisons between two turns: 1 to 3 us (T_bare of the small size is some 2 to 3 ns a
 * comparison on an EPYC; those between neighbouring keys are the slower ones).
 */
#define GBS_TURN_WORK 1024u

/* benchmarks.md: keys x <- (1309 x + 13849) & 65535 from 2048 on. */
#define GBS_SEED 2048u
#define GBS_KEY_MASK 65535u

struct gbs_args {
	struct m_args in;  /* from the other device */
	struct m_args out; /* to it */
	uint64_t epoch;
	uint32_t device;
	uint32_t arrays;
	uint32_t half;        /* keys, a power of 2 */
	uint32_t turn_work;   /* a warp's between two turns of the scheduler */
	const uint32_t *keys; /* this device's halves, one array after the other */
	uint32_t *sorted;     /* likewise */
	uint32_t *work;       /* two halves a block */
	int32_t *status;      /* a word a warp: 0 or the -errno that ended it */
};

WIC_DEVICE uint32_t gbs_next(uint32_t x)
{
	return (1309u * x + 13849u) & GBS_KEY_MASK;
}

/*
 * Above the 16 bits of each key: it leaves the order of an array as it is, and keys of
 * another epoch or array do not pass for this one's.  0 for array 0 at epoch 1.
 */
WIC_DEVICE uint32_t gbs_salt(uint64_t epoch, uint32_t array)
{
	return (uint32_t)((epoch - 1 + 257u * (uint64_t)array) & 0x7fff) << 16;
}

#endif /* WIC_APPS_G_BS_KERNEL_H */
