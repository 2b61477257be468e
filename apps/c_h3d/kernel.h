/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * C_H3D: what kernel and host share.  A block is a rank with a box of side^3 zones and
 * three variables; the CPU is the rank on the other side of all 26 neighbourhoods.
 *
 *	plane of a box, pitch = side + 2:	g g g g g	g  ghost, the other rank's zones
 *						g b b b g	b  boundary, sent
 *						g b i b g	i  interior
 *						g b b b g
 *						g g g g g
 *
 * A message goes in one of 26 directions: the zones of the boundary that lie there, all
 * variables, into the ghosts on the opposite side of the other rank's box.  Numbers of
 * messages: 6 faces, 12 edges, 8 corners, in this order; each class has a channel of
 * its own each way, since a tag's size is its channel's.
 *
 * All values are whole numbers in doubles, below 2^53, so sums are exact in any order.
 */
#ifndef WIC_APPS_C_H3D_KERNEL_H
#define WIC_APPS_C_H3D_KERNEL_H

#include <stdint.h>

#include "methods/method.h"

#define H3D_VARS 3u
#define H3D_CLASSES 3u /* faces, edges, corners */
#define H3D_FACES 6u
#define H3D_EDGES 12u
#define H3D_CORNERS 8u
#define H3D_MESSAGES (H3D_FACES + H3D_EDGES + H3D_CORNERS)
#define H3D_CYCLES 25u /* benchmarks.md */
/* Keeps gid + shift, 27 of them, CYCLES_MAX times, below 2^53. */
#define H3D_CYCLES_MAX 4096u
#define H3D_SIDE_MAX 512u
/*
 * Zones of the stencil between two turns, about 1 us (T_bare of the small size is some 5 ns a
 * zone on an EPYC, messages included).  One that is only copied or set counts as an eighth.
 */
#define H3D_TURN_WORK 256u
#define H3D_COST_STENCIL 8u
#define H3D_COST_MOVE 1u

struct h3d_args {
	struct m_args in[H3D_CLASSES];  /* from the host */
	struct m_args out[H3D_CLASSES]; /* to the host */
	uint64_t epoch;
	uint32_t side;
	uint32_t cycles;
	uint32_t turn_work; /* a warp's between two turns of the scheduler */
	double *u;          /* boxes, one a block: what is exchanged */
	double *w;          /* likewise: the sum of the stencil of u over the cycles */
	int32_t *status;    /* a word a warp: 0 or the -errno that ended it */
};

/* Zones [at, at + count) of a box, along x, y, z. */
struct h3d_region {
	uint32_t at[3];
	uint32_t count[3];
};

WIC_DEVICE uint64_t h3d_var_zones(uint32_t side)
{
	return (uint64_t)(side + 2) * (side + 2) * (side + 2);
}

WIC_DEVICE uint64_t h3d_box_zones(uint32_t side)
{
	return H3D_VARS * h3d_var_zones(side);
}

WIC_DEVICE uint32_t h3d_class(uint32_t message)
{
	return (message >= H3D_FACES) + (message >= H3D_FACES + H3D_EDGES);
}

WIC_DEVICE uint32_t h3d_class_first(uint32_t cls)
{
	return cls == 0 ? 0 : cls == 1 ? H3D_FACES : H3D_FACES + H3D_EDGES;
}

WIC_DEVICE uint32_t h3d_class_messages(uint32_t cls)
{
	return cls == 0 ? H3D_FACES : cls == 1 ? H3D_EDGES : H3D_CORNERS;
}

/* Zones of a message, a variable. */
WIC_DEVICE uint32_t h3d_class_zones(uint32_t side, uint32_t cls)
{
	return cls == 0 ? side * side : cls == 1 ? side : 1;
}

WIC_DEVICE uint64_t h3d_class_bytes(uint32_t side, uint32_t cls)
{
	return (uint64_t)H3D_VARS * h3d_class_zones(side, cls) * sizeof(double);
}

/* Tag of a message in its class's channel: each is used once a run. */
WIC_DEVICE uint32_t h3d_tag(uint32_t message, uint32_t cycle, uint32_t block, uint32_t blocks)
{
	uint32_t cls = h3d_class(message);

	return (cycle * blocks + block) * h3d_class_messages(cls) + message - h3d_class_first(cls);
}

/* -1, 0 or 1: where a message goes along an axis. */
WIC_DEVICE int h3d_direction(uint32_t message, uint32_t axis)
{
	uint32_t edge = message - H3D_FACES, flat = edge / 4;

	if (message < H3D_FACES)
		return message / 2 == axis ? (message % 2 ? 1 : -1) : 0;
	if (message >= H3D_FACES + H3D_EDGES)
		return (message - H3D_FACES - H3D_EDGES) >> axis & 1 ? 1 : -1;
	/* Along one axis an edge goes nowhere; the bits of the other two in their order. */
	if (axis == flat)
		return 0;
	return edge >> (axis - (axis > flat)) & 1 ? 1 : -1;
}

/* What is sent in a message, or, is_ghost, where it arrives. */
WIC_DEVICE struct h3d_region h3d_region(uint32_t side, uint32_t message, int is_ghost)
{
	struct h3d_region r;
	uint32_t axis;

	for (axis = 0; axis < 3; axis++) {
		int d = h3d_direction(message, axis);

		r.at[axis] = 1;
		r.count[axis] = d ? 1 : side;
		if (is_ghost && d)
			r.at[axis] = d > 0 ? 0 : side + 1;
		else if (d)
			r.at[axis] = d > 0 ? side : 1;
	}
	return r;
}

/* What is added to all values of a cycle, so that no other cycle's or epoch's can pass. */
WIC_DEVICE double h3d_shift(uint64_t epoch, uint32_t cycle)
{
	return (double)((epoch % 1024 + 1) * H3D_CYCLES_MAX + cycle);
}

/* Number of the zone (x, y, z), counted from 0, of a rank's box: over all ranks. */
WIC_DEVICE double h3d_gid(uint32_t side, uint32_t rank, uint32_t x, uint32_t y, uint32_t z)
{
	return (double)((((uint64_t)rank * side + z) * side + y) * side + x);
}

/* Ranks of block b: its own, then the host's. */
WIC_DEVICE uint32_t h3d_rank(uint32_t block, uint32_t is_host)
{
	return 2 * block + is_host;
}

#endif /* WIC_APPS_C_H3D_KERNEL_H */
