/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Where each warp of a kernel that was cut at its waits stands between two launches.
 *
 *	host, a thread of its own		SMs
 *	 launch ------------------------------>	each warp: c1, writes what it wants
 *	 sync  <------------------------------	the launch ends
 *	 sleep until all that they want is there
 *	 launch ------------------------------>	each warp: c2 of that, c1 of its next round
 *	 ...					until all are over
 *
 * c2 and the c1 that follows it are one launch: nothing waits between them.
 */
#ifndef WIC_METHODS_SPLIT_CUT_H
#define WIC_METHODS_SPLIT_CUT_H

#include <stdint.h>

#include "methods/method.h"

/* Written by its warp during a launch, by the host between two. */
struct m_cut {
	uint64_t kept[M_KEPT_BYTES_MAX / 8];
	struct m_want want; /* while it waits */
	int32_t rc;         /* the host's: what the wait came to */
	uint8_t is_waiting; /* 0 before the first launch */
	uint8_t is_over;
};

struct m_cuts {
	struct m_cut *cut; /* one a warp of the grid; owned by the method */
};

#endif /* WIC_METHODS_SPLIT_CUT_H */
