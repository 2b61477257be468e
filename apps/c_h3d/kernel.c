/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The kernel of C_H3D, compiled once a method. */
#include <wic/kernel.h>

#include "methods/device.h"

#include "apps/c_h3d/kernel.h"

/* A warp's view of its block's box. */
struct h3d_warp {
	const struct h3d_args *a;
	double *u;
	double *w;
	uint32_t pitch;
	uint32_t work_done; /* since the last turn */
	struct m_state in[H3D_CLASSES];
	struct m_state out[H3D_CLASSES];
};

/* A row of zones along one axis. */
struct h3d_row {
	uint64_t at; /* first zone, from the start of the box */
	uint32_t step;
	uint32_t count;
};

WIC_DEVICE uint32_t h3d_lanes(uint32_t count, uint32_t i)
{
	return count - i < WIC_WARP_LANES ? count - i : WIC_WARP_LANES;
}

/* After @zones zones: a scheduling point where enough work was done. */
WIC_DEVICE void h3d_step(struct h3d_warp *w, uint32_t zones, uint32_t cost)
{
	w->work_done += zones * cost;
	if (w->work_done >= w->a->turn_work) {
		w->work_done = 0;
		WIC_TURN();
	}
}

WIC_DEVICE uint64_t h3d_at(const struct h3d_warp *w, uint32_t var, uint32_t x, uint32_t y,
			   uint32_t z)
{
	return (((uint64_t)var * w->pitch + z) * w->pitch + y) * w->pitch + x;
}

/* Row @i of a region: along x, or along y where it is one zone thick in x. */
WIC_DEVICE struct h3d_row h3d_region_row(const struct h3d_warp *w, const struct h3d_region *r,
					 uint32_t i)
{
	struct h3d_row row;
	uint32_t z, y = 0;

	if (r->count[0] > 1) {
		y = i % r->count[1];
		i /= r->count[1];
		row.step = 1;
		row.count = r->count[0];
	} else {
		row.step = w->pitch;
		row.count = r->count[1];
	}
	z = i % r->count[2];
	row.at = h3d_at(w, i / r->count[2], r->at[0], r->at[1] + y, r->at[2] + z);
	return row;
}

/* Of all variables. */
WIC_DEVICE uint32_t h3d_region_rows(const struct h3d_region *r)
{
	return H3D_VARS * r->count[2] * (r->count[0] > 1 ? r->count[1] : 1);
}

WIC_DEVICE void h3d_pack(struct h3d_warp *w, uint32_t message, double *buffer)
{
	struct h3d_region r = h3d_region(w->a->side, message, 0);
	uint32_t rows = h3d_region_rows(&r), i, x;

	for (i = 0; i < rows; i++) {
		struct h3d_row row = h3d_region_row(w, &r, i);
		const double *from = w->u + row.at;

		for (x = 0; x < row.count; x += WIC_WARP_LANES) {
			uint32_t n = h3d_lanes(row.count, x);

			WIC_LANES(l) {
				if (l < n)
					buffer[x + l] = from[(uint64_t)(x + l) * row.step];
			}
			h3d_step(w, n, H3D_COST_MOVE);
		}
		buffer += row.count;
	}
}

WIC_DEVICE void h3d_unpack(struct h3d_warp *w, uint32_t message, const double *data)
{
	struct h3d_region r = h3d_region(w->a->side, message, 1);
	uint32_t rows = h3d_region_rows(&r), i, x;

	for (i = 0; i < rows; i++) {
		struct h3d_row row = h3d_region_row(w, &r, i);
		double *to = w->u + row.at;

		for (x = 0; x < row.count; x += WIC_WARP_LANES) {
			uint32_t n = h3d_lanes(row.count, x);

			WIC_LANES(l) {
				if (l < n)
					to[(uint64_t)(x + l) * row.step] = data[x + l];
			}
			h3d_step(w, n, H3D_COST_MOVE);
		}
		data += row.count;
	}
}

/* Zones [x, x + count) of a row, all moved away from 0 by @by, or towards it. */
WIC_DEVICE void h3d_add(struct h3d_warp *w, double *row, uint32_t count, double by)
{
	uint32_t x;

	for (x = 0; x < count; x += WIC_WARP_LANES) {
		uint32_t n = h3d_lanes(count, x);

		WIC_LANES(l) {
			if (l < n)
				row[x + l] += by;
		}
		h3d_step(w, n, H3D_COST_MOVE);
	}
}

/* Ghosts, positive since the exchange before, become negative again: -(value + by). */
WIC_DEVICE void h3d_unset(struct h3d_warp *w, double *row, uint32_t count, double by)
{
	uint32_t x;

	for (x = 0; x < count; x += WIC_WARP_LANES) {
		uint32_t n = h3d_lanes(count, x);

		WIC_LANES(l) {
			double v = l < n ? row[x + l] : 0;

			if (l < n)
				row[x + l] = v > 0 ? -v - by : v - by;
		}
		h3d_step(w, n, H3D_COST_MOVE);
	}
}

/* One row along x, ghosts included, from one cycle's values to the next's. */
WIC_DEVICE void h3d_advance_row(struct h3d_warp *w, uint32_t var, uint32_t y, uint32_t z, double by)
{
	uint32_t side = w->a->side;
	double *row = w->u + h3d_at(w, var, 0, y, z);

	if (y == 0 || z == 0 || y > side || z > side) {
		h3d_unset(w, row, w->pitch, by);
		return;
	}
	h3d_unset(w, row, 1, by);
	h3d_unset(w, row + side + 1, 1, by);
	if (y == 1 || z == 1 || y == side || z == side) {
		h3d_add(w, row + 1, side, by);
		return;
	}
	h3d_add(w, row + 1, 1, by);
	h3d_add(w, row + 2, side - 2, -by);
	h3d_add(w, row + side, 1, by);
}

/* The block's warps share the rows. */
WIC_DEVICE void h3d_advance(struct h3d_warp *w, double by)
{
	uint32_t rows = H3D_VARS * w->pitch * w->pitch, i;

	for (i = wic_warp_id(); i < rows; i += wic_block_warps())
		h3d_advance_row(w, i / w->pitch / w->pitch, i % w->pitch, i / w->pitch % w->pitch,
				by);
}

/* Sum over the 27 zones around each of [x, x + count) of a row, added to w. */
WIC_DEVICE void h3d_stencil(struct h3d_warp *w, uint64_t at, uint32_t count)
{
	WIC_LANE_VAR(double, sum);
	uint32_t x, n;
	int dy, dz;

	for (x = 0; x < count; x += WIC_WARP_LANES) {
		n = h3d_lanes(count, x);
		WIC_LANES(l)
			WIC_AT(sum, l) = 0;
		for (dz = -1; dz <= 1; dz++) {
			for (dy = -1; dy <= 1; dy++) {
				const double *p = w->u + at + x +
						  (dz * (int64_t)w->pitch + dy) * (int64_t)w->pitch;

				WIC_LANES(l) {
					if (l < n)
						WIC_AT(sum, l) += p[l - 1] + p[l] + p[l + 1];
				}
			}
		}
		WIC_LANES(l) {
			if (l < n)
				w->w[at + x + l] += WIC_AT(sum, l);
		}
		h3d_step(w, n, H3D_COST_STENCIL);
	}
}

/* First row of warp @warp of @warps: warp i has i + 1 parts of 1 + 2 + ... + warps. */
WIC_DEVICE uint32_t h3d_first_row(uint32_t rows, uint32_t warp, uint32_t warps)
{
	return (uint32_t)((uint64_t)rows * warp * (warp + 1) / ((uint64_t)warps * (warps + 1)));
}

/*
 * C1: zones that no ghost touches, so it needs nothing of the other rank.  The warps have
 * unequal shares on purpose: they come to their waits one after the other.
 */
WIC_DEVICE void h3d_stencil_interior(struct h3d_warp *w)
{
	uint32_t inner = w->a->side > 2 ? w->a->side - 2 : 0;
	uint32_t rows = H3D_VARS * inner * inner, warps = wic_block_warps(), i;
	uint32_t end = h3d_first_row(rows, wic_warp_id() + 1, warps);

	for (i = h3d_first_row(rows, wic_warp_id(), warps); i < end; i++)
		h3d_stencil(w,
			    h3d_at(w, i / inner / inner, 2, 2 + i % inner, 2 + i / inner % inner),
			    inner);
}

/* The boundary's zones, once the ghosts are there. */
WIC_DEVICE void h3d_stencil_boundary(struct h3d_warp *w)
{
	uint32_t side = w->a->side, rows = H3D_VARS * side * side, i;

	for (i = wic_warp_id(); i < rows; i += wic_block_warps()) {
		uint32_t y = 1 + i % side, z = 1 + i / side % side;
		uint64_t at = h3d_at(w, i / side / side, 1, y, z);

		if (y == 1 || z == 1 || y == side || z == side) {
			h3d_stencil(w, at, side);
			continue;
		}
		h3d_stencil(w, at, 1);
		h3d_stencil(w, at + side - 1, 1);
	}
}

/* Each warp packs and sends its messages.  0 or -errno. */
WIC_DEVICE int h3d_send(struct h3d_warp *w, uint32_t cycle)
{
	uint32_t i;

	for (i = wic_warp_id(); i < H3D_MESSAGES; i += wic_block_warps()) {
		struct m_state *s = &w->out[h3d_class(i)];
		uint32_t tag = h3d_tag(i, cycle, wic_block_id(), wic_grid_blocks());
		void *buffer;
		int rc = m_stage(s, tag, w->a->epoch, &buffer);

		if (rc)
			return rc;
		h3d_pack(w, i, (double *)buffer);
		rc = m_publish(s, tag, w->a->epoch);
		if (rc)
			return rc;
	}
	return 0;
}

/* All warps wait equally often on each channel, those without a message for nothing. */
WIC_DEVICE int h3d_receive(struct h3d_warp *w, uint32_t cycle)
{
	uint32_t cls, first;

	for (cls = 0; cls < H3D_CLASSES; cls++) {
		uint32_t count = h3d_class_messages(cls);

		for (first = 0; first < count; first += wic_block_warps()) {
			uint32_t i = first + wic_warp_id(), message = h3d_class_first(cls) + i;
			uint32_t tag = WIC_NO_TAG;
			void *data = NULL;
			int rc;

			if (i < count)
				tag = h3d_tag(message, cycle, wic_block_id(), wic_grid_blocks());
			rc = m_wait(&w->in[cls], tag, w->a->epoch, &data);
			if (rc)
				return rc;
			if (i >= count)
				continue;
			h3d_unpack(w, message, (const double *)data);
			m_done(&w->in[cls], tag, w->a->epoch);
		}
	}
	return 0;
}

WIC_DEVICE int h3d_cycle(struct h3d_warp *w, uint32_t cycle)
{
	double before = cycle ? h3d_shift(w->a->epoch, cycle - 1) : 0;
	int rc;

	h3d_advance(w, h3d_shift(w->a->epoch, cycle) - before);
	wic_bar();
	rc = h3d_send(w, cycle);
	if (rc)
		return rc;
	h3d_stencil_interior(w);
	rc = h3d_receive(w, cycle);
	if (rc)
		return rc;
	wic_bar();
	h3d_stencil_boundary(w);
	wic_bar();
	return 0;
}

M_KERNEL(h3d_kernel, struct h3d_args, a)
{
	uint64_t box = h3d_box_zones(a->side) * wic_block_id();
	struct h3d_warp w = { a, a->u + box, a->w + box, a->side + 2, 0, { { 0 } }, { { 0 } } };
	uint32_t i;
	int rc = 0;

	for (i = 0; i < H3D_CLASSES; i++) {
		m_init(&w.in[i], &a->in[i]);
		m_init(&w.out[i], &a->out[i]);
	}
	for (i = 0; i < a->cycles && rc == 0; i++)
		rc = h3d_cycle(&w, i);
	if (rc)
		a->status[wic_block_id() * wic_block_warps() + wic_warp_id()] = rc;
}
