/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * C_SRS: what kernel and host share.  One block works on one tile at a time, its
 * warps on bands of rows.  A tile is planar: side * side bytes of red, then green,
 * then blue.
 *
 *	raw --range--> lo, hi --stretch--> work planes r g b l --(median)*--> --filter-->
 *	    bar            bar                        bar a pass               bar   results
 *
 * Work planes have a border of one pixel left and right (the edge's own value),
 * so that no lane loop asks where it is; above and below the row index is clamped.
 */
#ifndef WIC_APPS_C_SRS_KERNEL_H
#define WIC_APPS_C_SRS_KERNEL_H

#include <stdint.h>

#include "methods/method.h"

#define SRS_BANDS 3
#define SRS_BINS 256
#define SRS_COPIES 4    /* of each histogram in shared memory: fewer collisions */
#define SRS_WARPS_MAX 8 /* a block */
#define SRS_SIDE_MAX 4096
#define SRS_PASSES_MAX 3 /* of the median filter */
#define SRS_PAD 32       /* bytes before a row of a work plane, and after it */
#define SRS_PLANE_LUMA 6
#define SRS_PLANES 7 /* two sets of r g b to go to and fro, and luma */
/*
 * A turn's work in light pixels: 0.8 to 2 us.  A pixel costs 0.10 to 0.24 ns in the
 * light steps and 2.4 ns in the last one, which filters four planes and counts into
 * two histograms (EPYC, 1024^2, perf record of the method none; README.md).
 */
#define SRS_TURN_WORK 8192
#define SRS_COST_LIGHT 1
#define SRS_COST_FILTER 16

/* The mean squared gradient of luma from which a tile gets 1, 2, 3 median passes. */
#define SRS_ENERGY_1 160u
#define SRS_ENERGY_2 420u
#define SRS_ENERGY_3 900u

/* What a tile comes to, all exact.  row_hash follows it: one a row. */
struct srs_result {
	uint32_t done;             /* warps that finished the tile */
	uint32_t passes;           /* of the median filter that it needed */
	uint64_t energy;           /* sum of squared luma gradients */
	uint8_t lo[SRS_BANDS + 1]; /* of the raw bands; [3] is 0 */
	uint8_t hi[SRS_BANDS + 1];
	uint32_t luma[SRS_BINS]; /* histogram of filtered luma */
	uint32_t edge[SRS_BINS]; /* histogram of the gradient's size */
};

struct srs_args {
	struct m_args m;
	uint64_t epoch;
	uint32_t tags;
	uint32_t side;      /* a multiple of 32 */
	uint32_t turn_work; /* a warp's between two turns of the scheduler */
	uint32_t first_count;
	const uint8_t *first;       /* block b starts with tile b % first_count of these */
	uint8_t *work;              /* SRS_PLANES work planes a block */
	uint64_t work_stride;       /* of a block, in bytes */
	struct srs_result *results; /* of tag t at [t], of block b's first at [tags + b] */
	uint32_t *row_hashes;       /* side words a result */
	int32_t *status;            /* a word a warp: 0 or the -errno that ended it */
};

/* The block's shared memory, behind the method's. */
struct srs_shared {
	uint32_t luma[SRS_COPIES][SRS_BINS];
	uint32_t edge[SRS_COPIES][SRS_BINS];
	uint64_t energy[SRS_WARPS_MAX];
	uint8_t lo[SRS_WARPS_MAX][SRS_BANDS][WIC_WARP_LANES];
	uint8_t hi[SRS_WARPS_MAX][SRS_BANDS][WIC_WARP_LANES];
};

/* What a lane wrote is there for the other lanes of its warp. */
#ifdef __CUDACC__
WIC_DEVICE void srs_warp_sync(void)
{
	__syncwarp();
}
#else
WIC_DEVICE void srs_warp_sync(void)
{
	/* The lanes are one thread. */
}
#endif

WIC_DEVICE uint32_t srs_row_bytes(uint32_t side)
{
	return side + 2 * SRS_PAD;
}

WIC_DEVICE uint64_t srs_plane_bytes(uint32_t side)
{
	return (uint64_t)srs_row_bytes(side) * side;
}

#endif /* WIC_APPS_C_SRS_KERNEL_H */
