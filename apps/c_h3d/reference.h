/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The serial reference of C_H3D: both ranks of a pair, cycle after cycle, plain loops,
 * written apart from the kernel; and what it comes to, in closed form, for any zone.
 */
#ifndef WIC_APPS_C_H3D_REFERENCE_H
#define WIC_APPS_C_H3D_REFERENCE_H

#include <stdint.h>

#include "apps/c_h3d/kernel.h"

/* A rank's box as it is before the first cycle: @u of h3d_box_zones(side) values. */
void h3d_reference_begin(uint32_t side, uint32_t rank, double *u);

/*
 * The rank @rank over @cycles cycles with the rank @rank ^ 1.
 * @u_out, @w_out: its box, as the kernel must leave it.
 * Return: 0; -ENOMEM.
 */
struct h3d_reference {
	uint32_t side;
	uint32_t rank;
	uint32_t cycles;
	uint64_t epoch;
};
int h3d_reference(const struct h3d_reference *r, double *u_out, double *w_out) WIC_MUST_CHECK;

/* The same two values of one zone; x, y, z from 0 to side + 1, ghosts included. */
struct h3d_zone {
	uint32_t var, x, y, z;
};
double h3d_expected_u(const struct h3d_reference *r, const struct h3d_zone *zone);
double h3d_expected_w(const struct h3d_reference *r, const struct h3d_zone *zone);

#endif /* WIC_APPS_C_H3D_REFERENCE_H */
