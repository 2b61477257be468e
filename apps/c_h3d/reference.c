/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/c_h3d/reference.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

static uint64_t at(uint32_t side, const struct h3d_zone *zone)
{
	uint64_t pitch = side + 2;

	return ((zone->var * pitch + zone->z) * pitch + zone->y) * pitch + zone->x;
}

static bool is_ghost_index(uint32_t side, uint32_t i)
{
	return i == 0 || i == side + 1;
}

static bool is_ghost(uint32_t side, const struct h3d_zone *z)
{
	return is_ghost_index(side, z->x) || is_ghost_index(side, z->y) ||
	       is_ghost_index(side, z->z);
}

static bool is_edge_index(uint32_t side, uint32_t i)
{
	return i == 1 || i == side;
}

static bool is_interior(uint32_t side, const struct h3d_zone *z)
{
	return !is_ghost(side, z) && !is_edge_index(side, z->x) && !is_edge_index(side, z->y) &&
	       !is_edge_index(side, z->z);
}

/* A ghost's index in the other rank's box, which lies around this one. */
static uint32_t wrapped(uint32_t side, uint32_t i)
{
	if (i == 0)
		return side;
	return i == side + 1 ? 1 : i;
}

/* gid + var of what a zone shows: of this rank, in a ghost of the other one. */
static double number(uint32_t side, uint32_t rank, const struct h3d_zone *z)
{
	uint32_t owner = is_ghost(side, z) ? rank ^ 1 : rank;
	uint64_t n = side;
	uint64_t gid = ((owner * n + wrapped(side, z->z) - 1) * n + wrapped(side, z->y) - 1) * n +
		       wrapped(side, z->x) - 1;

	return (double)(gid + z->var);
}

/* The row along x that zone @first (its x is 1) is in: all of it but the two ends. */
static void begin_row(uint32_t side, uint32_t rank, const struct h3d_zone *first, double *row)
{
	bool is_negative = is_ghost(side, first);
	double v = number(side, rank, first), sign_inside = -1;
	struct h3d_zone end = *first;
	uint32_t x;

	if (!is_negative && (is_edge_index(side, first->y) || is_edge_index(side, first->z)))
		sign_inside = 1;
	for (x = 0; x < side; x++)
		row[x + 1] = sign_inside * (v + x);
	if (!is_negative) {
		row[1] = v;
		row[side] = v + side - 1;
	}
	end.x = 0;
	row[0] = -number(side, rank, &end);
	end.x = side + 1;
	row[side + 1] = -number(side, rank, &end);
}

void h3d_reference_begin(uint32_t side, uint32_t rank, double *u)
{
	struct h3d_zone z = { 0, 1, 0, 0 };

	for (z.var = 0; z.var < H3D_VARS; z.var++)
		for (z.z = 0; z.z <= side + 1; z.z++)
			for (z.y = 0; z.y <= side + 1; z.y++)
				begin_row(side, rank, &z, u + at(side, &z) - 1);
}

/* Calls @visit for each zone of a box. */
static void each_zone(uint32_t side, void (*visit)(void *arg, const struct h3d_zone *z), void *arg)
{
	struct h3d_zone z;

	for (z.var = 0; z.var < H3D_VARS; z.var++)
		for (z.z = 0; z.z <= side + 1; z.z++)
			for (z.y = 0; z.y <= side + 1; z.y++)
				for (z.x = 0; z.x <= side + 1; z.x++)
					visit(arg, &z);
}

struct work {
	const struct h3d_reference *r;
	double *u[2]; /* this rank's box, then the other's */
	double *w;
	double shift;
	uint32_t rank; /* of the box that is filled */
	double *fill;
};

/* Interior -(gid + var), boundary +(gid + var), ghosts -(gid + var), each with the shift. */
static void visit_set(void *arg, const struct h3d_zone *z)
{
	const struct work *k = arg;
	uint32_t side = k->r->side;
	double v = number(side, k->rank, z) + k->shift;

	k->fill[at(side, z)] = is_interior(side, z) || is_ghost(side, z) ? -v : v;
}

/* What the exchange puts into a ghost: the other rank's zone. */
static void visit_exchange(void *arg, const struct h3d_zone *z)
{
	const struct work *k = arg;
	uint32_t side = k->r->side;
	struct h3d_zone from = { z->var, wrapped(side, z->x), wrapped(side, z->y),
				 wrapped(side, z->z) };

	if (is_ghost(side, z))
		k->u[0][at(side, z)] = k->u[1][at(side, &from)];
}

static void visit_stencil(void *arg, const struct h3d_zone *z)
{
	const struct work *k = arg;
	uint32_t side = k->r->side, i;
	double sum = 0;

	if (is_ghost(side, z))
		return;
	for (i = 0; i < 27; i++) {
		struct h3d_zone near = { z->var, z->x + i % 3 - 1, z->y + i / 3 % 3 - 1,
					 z->z + i / 9 - 1 };

		sum += k->u[0][at(side, &near)];
	}
	k->w[at(side, z)] += sum;
}

static void set_box(struct work *k, uint32_t rank, double *u)
{
	k->rank = rank;
	k->fill = u;
	each_zone(k->r->side, visit_set, k);
}

int h3d_reference(const struct h3d_reference *r, double *u_out, double *w_out)
{
	uint64_t bytes = h3d_box_zones(r->side) * sizeof(double);
	struct work k = { .r = r, .u = { u_out, malloc(bytes) }, .w = w_out };
	uint32_t cycle;

	if (!k.u[1])
		return wic_fail(-ENOMEM, "c_h3d: no memory for the reference of a box");
	memset(w_out, 0, bytes);
	for (cycle = 0; cycle < r->cycles; cycle++) {
		k.shift = h3d_shift(r->epoch, cycle);
		set_box(&k, r->rank, k.u[0]);
		set_box(&k, r->rank ^ 1, k.u[1]);
		each_zone(r->side, visit_exchange, &k);
		each_zone(r->side, visit_stencil, &k);
	}
	free(k.u[1]);
	return 0;
}

/* After an exchange only the interior is negative. */
static double sign(uint32_t side, const struct h3d_zone *z)
{
	return is_interior(side, z) ? -1 : 1;
}

double h3d_expected_u(const struct h3d_reference *r, const struct h3d_zone *zone)
{
	return sign(r->side, zone) *
	       (number(r->side, r->rank, zone) + h3d_shift(r->epoch, r->cycles - 1));
}

double h3d_expected_w(const struct h3d_reference *r, const struct h3d_zone *zone)
{
	uint32_t deep[3] = { zone->x, zone->y, zone->z }, i, side = r->side;
	double shifts = 0, sum = 0;
	bool is_deep = true;

	if (is_ghost(side, zone))
		return 0;
	/* The shifts of the cycles are first, first + 1, ... */
	shifts = r->cycles * (h3d_shift(r->epoch, 0) + h3d_shift(r->epoch, r->cycles - 1)) / 2;
	for (i = 0; i < 3; i++)
		is_deep = is_deep && deep[i] > 2 && deep[i] + 2 <= side;
	/* gid is linear, so that the mean of 27 zones of one sign is the middle one. */
	if (is_deep)
		return -27 * (r->cycles * number(side, r->rank, zone) + shifts);
	for (i = 0; i < 27; i++) {
		struct h3d_zone near = { zone->var, zone->x + i % 3 - 1, zone->y + i / 3 % 3 - 1,
					 zone->z + i / 9 - 1 };

		sum += sign(side, &near) * (r->cycles * number(side, r->rank, &near) + shifts);
	}
	return sum;
}
