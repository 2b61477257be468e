/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The kernel of C_SRS, compiled once a method.  All arithmetic is on integers, so
 * that every back-end and the reference agree to the bit.
 */
#include <wic/kernel.h>

#include "methods/device.h"

#include "apps/c_srs/kernel.h"

/* A warp's view of the tile it works on. */
struct srs_warp {
	const struct srs_args *a;
	struct srs_shared *shared;
	uint8_t *work; /* the block's planes */
	const uint8_t *raw;
	uint32_t row_first; /* [row_first, row_end) are this warp's */
	uint32_t row_end;
	uint32_t work_done; /* since the last turn */
	struct m_state state;
};

/* What a warp keeps across a wait. */
struct srs_kept {
	const uint8_t *raw; /* the tile to work on next */
	uint32_t index;     /* its result */
	uint32_t held;      /* its tag, or WIC_NO_TAG: it is the first */
	uint32_t next;      /* tag after it */
};

WIC_DEVICE uint8_t srs_min(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

WIC_DEVICE uint8_t srs_max(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

/* After a step of 32 pixels of @cost: a scheduling point where enough work was done. */
WIC_DEVICE void srs_step(struct srs_warp *w, uint32_t cost)
{
	w->work_done += WIC_WARP_LANES * cost;
	if (w->work_done >= w->a->turn_work) {
		w->work_done = 0;
		WIC_TURN();
	}
}

/* Row @row, clamped to the tile, of work plane @plane. */
WIC_DEVICE uint8_t *srs_row(const struct srs_warp *w, uint32_t plane, int64_t row)
{
	uint32_t side = w->a->side;

	if (row < 0)
		row = 0;
	if (row >= side)
		row = (int64_t)side - 1;
	return w->work + srs_plane_bytes(side) * plane + (uint64_t)row * srs_row_bytes(side) +
	       SRS_PAD;
}

/* The border of a finished row: the edge's own value. */
WIC_DEVICE void srs_pad(uint8_t *row, uint32_t side)
{
	srs_warp_sync();
	row[-1] = row[0];
	row[side] = row[side - 1];
	srs_warp_sync();
}

/* Smallest and largest value of each band, a lane, into shared memory. */
WIC_DEVICE void srs_range(struct srs_warp *w)
{
	WIC_LANE_VAR(uint8_t, lo);
	WIC_LANE_VAR(uint8_t, hi);
	uint32_t side = w->a->side, band, row, x;

	for (band = 0; band < SRS_BANDS; band++) {
		WIC_LANES(l) {
			WIC_AT(lo, l) = 255;
			WIC_AT(hi, l) = 0;
		}
		for (row = w->row_first; row < w->row_end; row++) {
			const uint8_t *p = w->raw + ((uint64_t)band * side + row) * side;

			for (x = 0; x < side; x += WIC_WARP_LANES) {
				WIC_LANES(l) {
					WIC_AT(lo, l) = srs_min(WIC_AT(lo, l), p[x + l]);
					WIC_AT(hi, l) = srs_max(WIC_AT(hi, l), p[x + l]);
				}
				srs_step(w, SRS_COST_LIGHT);
			}
		}
		WIC_LANES(l) {
			w->shared->lo[wic_warp_id()][band][l] = WIC_AT(lo, l);
			w->shared->hi[wic_warp_id()][band][l] = WIC_AT(hi, l);
		}
	}
}

/* Of the whole tile, from what all warps found. */
WIC_DEVICE void srs_range_of_block(const struct srs_warp *w, uint32_t band, uint8_t *lo,
				   uint8_t *hi)
{
	uint32_t i, l;

	*lo = 255;
	*hi = 0;
	for (i = 0; i < wic_block_warps(); i++) {
		for (l = 0; l < WIC_WARP_LANES; l++) {
			*lo = srs_min(*lo, w->shared->lo[i][band][l]);
			*hi = srs_max(*hi, w->shared->hi[i][band][l]);
		}
	}
}

/* Rows of @band, stretched so that [lo, hi] becomes [0, 255]. */
WIC_DEVICE void srs_stretch(struct srs_warp *w, uint32_t band, uint8_t lo, uint8_t hi)
{
	WIC_LANE_VAR(uint8_t, v);
	/* 16 bits hold (p - lo) * scale: at most (hi - lo) * (255 * 256 / (hi - lo)). */
	uint16_t scale = (uint16_t)(hi > lo ? 255u * 256u / (uint32_t)(hi - lo) : 0);
	uint32_t side = w->a->side, row, x;

	for (row = w->row_first; row < w->row_end; row++) {
		const uint8_t *p = w->raw + ((uint64_t)band * side + row) * side;
		uint8_t *out = srs_row(w, band, row);

		for (x = 0; x < side; x += WIC_WARP_LANES) {
			WIC_LANES(l) {
				uint16_t d = (uint16_t)(p[x + l] - lo);

				WIC_AT(v, l) = (uint8_t)((uint16_t)(d * scale) >> 8);
			}
			WIC_LANES(l)
				out[x + l] = WIC_AT(v, l);
			srs_step(w, SRS_COST_LIGHT);
		}
		srs_pad(out, side);
	}
}

/* Weights of 256 in all, so 16 bits hold the sum. */
WIC_DEVICE uint8_t srs_luma(uint8_t r, uint8_t g, uint8_t b)
{
	return (uint8_t)((uint16_t)(77 * r + 150 * g + 29 * b) >> 8);
}

/* Luma of the bands that start at plane @from, for this warp's rows. */
WIC_DEVICE void srs_luma_rows(struct srs_warp *w, uint32_t from)
{
	WIC_LANE_VAR(uint8_t, v);
	uint32_t side = w->a->side, row, x;

	for (row = w->row_first; row < w->row_end; row++) {
		const uint8_t *r = srs_row(w, from, row);
		const uint8_t *g = srs_row(w, from + 1, row);
		const uint8_t *b = srs_row(w, from + 2, row);
		uint8_t *out = srs_row(w, SRS_PLANE_LUMA, row);

		for (x = 0; x < side; x += WIC_WARP_LANES) {
			WIC_LANES(l)
				WIC_AT(v, l) = srs_luma(r[x + l], g[x + l], b[x + l]);
			WIC_LANES(l)
				out[x + l] = WIC_AT(v, l);
			srs_step(w, SRS_COST_LIGHT);
		}
		srs_pad(out, side);
	}
}

/* Squared differences of luma to the pixel on the right, of this warp's rows. */
WIC_DEVICE uint64_t srs_energy(struct srs_warp *w)
{
	WIC_LANE_VAR(uint32_t, sum);
	uint32_t side = w->a->side, row, x;
	uint64_t total = 0;

	for (row = w->row_first; row < w->row_end; row++) {
		const uint8_t *p = srs_row(w, SRS_PLANE_LUMA, row);

		/* A row fits 32 bits: 4,096 * 255^2 < 2^32. */
		WIC_LANES(l)
			WIC_AT(sum, l) = 0;
		for (x = 0; x < side; x += WIC_WARP_LANES) {
			WIC_LANES(l) {
				int d = p[x + l + 1] - p[x + l];

				WIC_AT(sum, l) += (uint32_t)(d * d);
			}
			srs_step(w, SRS_COST_LIGHT);
		}
		total += wic_reduce_add_u32(sum);
	}
	return total;
}

/*
 * Median of nine: the median of {largest of the columns' smallest, median of the
 * columns' medians, smallest of the columns' largest}.
 */
WIC_DEVICE uint8_t srs_mid(uint8_t a, uint8_t b, uint8_t c)
{
	return srs_max(srs_min(a, b), srs_min(srs_max(a, b), c));
}

WIC_DEVICE uint8_t srs_median(const uint8_t *up, const uint8_t *at, const uint8_t *down)
{
	uint8_t lo = srs_min(srs_min(up[-1], at[-1]), down[-1]);
	uint8_t mid = srs_mid(up[-1], at[-1], down[-1]);
	uint8_t hi = srs_max(srs_max(up[-1], at[-1]), down[-1]);
	uint8_t mid_0 = srs_mid(up[0], at[0], down[0]);
	uint8_t mid_1 = srs_mid(up[1], at[1], down[1]);

	lo = srs_max(lo, srs_max(srs_min(srs_min(up[0], at[0]), down[0]),
				 srs_min(srs_min(up[1], at[1]), down[1])));
	hi = srs_min(hi, srs_min(srs_max(srs_max(up[0], at[0]), down[0]),
				 srs_max(srs_max(up[1], at[1]), down[1])));
	return srs_mid(lo, srs_mid(mid, mid_0, mid_1), hi);
}

/* One median pass over plane @from into plane @to, for this warp's rows. */
WIC_DEVICE void srs_median_rows(struct srs_warp *w, uint32_t from, uint32_t to)
{
	WIC_LANE_VAR(uint8_t, v);
	uint32_t side = w->a->side, row, x;

	for (row = w->row_first; row < w->row_end; row++) {
		const uint8_t *up = srs_row(w, from, (int64_t)row - 1);
		const uint8_t *at = srs_row(w, from, row);
		const uint8_t *down = srs_row(w, from, (int64_t)row + 1);
		uint8_t *out = srs_row(w, to, row);

		for (x = 0; x < side; x += WIC_WARP_LANES) {
			WIC_LANES(l)
				WIC_AT(v, l) = srs_median(up + x + l, at + x + l, down + x + l);
			WIC_LANES(l)
				out[x + l] = WIC_AT(v, l);
			srs_step(w, SRS_COST_LIGHT);
		}
		srs_pad(out, side);
	}
}

/* 5-point sharpening. */
WIC_DEVICE uint8_t srs_sharpen(const uint8_t *up, const uint8_t *at, const uint8_t *down)
{
	int16_t v = (int16_t)(5 * at[0] - at[-1] - at[1] - up[0] - down[0]);

	v = (int16_t)(v < 0 ? 0 : v);
	return (uint8_t)(v > 255 ? 255 : v);
}

/* Sobel: (|gx| + |gy|) / 8, at most 255. */
WIC_DEVICE uint8_t srs_sobel(const uint8_t *up, const uint8_t *at, const uint8_t *down)
{
	int16_t gx = (int16_t)(up[1] + 2 * at[1] + down[1] - up[-1] - 2 * at[-1] - down[-1]);
	int16_t gy = (int16_t)(down[-1] + 2 * down[0] + down[1] - up[-1] - 2 * up[0] - up[1]);

	gx = (int16_t)(gx < 0 ? -gx : gx);
	gy = (int16_t)(gy < 0 ? -gy : gy);
	return (uint8_t)((uint16_t)(gx + gy) >> 3);
}

/*
 * What a row is filtered from: the row of r, g, b and luma, and how far the rows above and below
 * lie, which is the same in all planes: a GPU has few registers for pointers.
 */
struct srs_rows {
	const uint8_t *at[SRS_BANDS + 1];
	int32_t up;
	int32_t down;
};

WIC_DEVICE void srs_rows_get(const struct srs_warp *w, uint32_t from, uint32_t row,
			     struct srs_rows *rows)
{
	uint32_t i;

	for (i = 0; i <= SRS_BANDS; i++)
		rows->at[i] = srs_row(w, i < SRS_BANDS ? from + i : SRS_PLANE_LUMA, row);
	rows->up = (int32_t)(srs_row(w, from, (int64_t)row - 1) - rows->at[0]);
	rows->down = (int32_t)(srs_row(w, from, (int64_t)row + 1) - rows->at[0]);
}

#define SRS_NEAR(filter, rows, i, x) \
	filter((rows).at[i] + (x) + (rows).up, (rows).at[i] + (x), (rows).at[i] + (x) + (rows).down)

/*
 * Filter a row, count it into the block's histograms, return its hash: a
 * polynomial of the filtered pixels a lane, the lanes weighted by odd numbers, so
 * any one wrong pixel shows.
 */
WIC_DEVICE uint32_t srs_filter_row(struct srs_warp *w, const struct srs_rows *rows)
{
	WIC_LANE_VAR(uint32_t, hash);
	WIC_LANE_VAR(uint8_t, r);
	WIC_LANE_VAR(uint8_t, g);
	WIC_LANE_VAR(uint8_t, b);
	WIC_LANE_VAR(uint8_t, edge);
	WIC_LANE_VAR(uint8_t, luma);
	uint32_t x;

	WIC_LANES(l)
		WIC_AT(hash, l) = 1;
	for (x = 0; x < w->a->side; x += WIC_WARP_LANES) {
		WIC_LANES(l)
			WIC_AT(r, l) = SRS_NEAR(srs_sharpen, *rows, 0, x + l);
		WIC_LANES(l)
			WIC_AT(g, l) = SRS_NEAR(srs_sharpen, *rows, 1, x + l);
		WIC_LANES(l)
			WIC_AT(b, l) = SRS_NEAR(srs_sharpen, *rows, 2, x + l);
		WIC_LANES(l)
			WIC_AT(edge, l) = SRS_NEAR(srs_sobel, *rows, SRS_BANDS, x + l);
		WIC_LANES(l)
			WIC_AT(luma, l) = srs_luma(WIC_AT(r, l), WIC_AT(g, l), WIC_AT(b, l));
		WIC_LANES(l) {
			uint32_t word = WIC_AT(r, l) | (uint32_t)WIC_AT(g, l) << 8 |
					(uint32_t)WIC_AT(b, l) << 16 |
					(uint32_t)WIC_AT(edge, l) << 24;

			WIC_AT(hash, l) = WIC_AT(hash, l) * 31 + word;
		}
		WIC_LANES(l) {
			wic_block_add_u32(&w->shared->luma[l % SRS_COPIES][WIC_AT(luma, l)], 1);
			wic_block_add_u32(&w->shared->edge[l % SRS_COPIES][WIC_AT(edge, l)], 1);
		}
		srs_step(w, SRS_COST_FILTER);
	}
	WIC_LANES(l)
		WIC_AT(hash, l) *= (uint32_t)(2 * l + 1);
	return wic_reduce_add_u32(hash);
}

/* Two barriers come before the first count.  Only cpu gives shared memory zeroed. */
WIC_DEVICE void srs_histograms_zero(const struct srs_warp *w)
{
	uint32_t step = wic_block_warps() * WIC_WARP_LANES, copy, i;

	for (copy = 0; copy < SRS_COPIES; copy++) {
		for (i = wic_warp_id() * WIC_WARP_LANES; i < SRS_BINS; i += step) {
			WIC_LANES(l) {
				w->shared->luma[copy][i + l] = 0;
				w->shared->edge[copy][i + l] = 0;
			}
		}
	}
}

/* The block's histograms into the result, and zeroed for the next tile. */
WIC_DEVICE void srs_histograms_flush(const struct srs_warp *w, struct srs_result *result)
{
	uint32_t step = wic_block_warps() * WIC_WARP_LANES, i;

	for (i = wic_warp_id() * WIC_WARP_LANES; i < SRS_BINS; i += step) {
		WIC_LANES(l) {
			uint32_t luma = 0, edge = 0, copy;

			for (copy = 0; copy < SRS_COPIES; copy++) {
				luma += w->shared->luma[copy][i + l];
				edge += w->shared->edge[copy][i + l];
				w->shared->luma[copy][i + l] = 0;
				w->shared->edge[copy][i + l] = 0;
			}
			result->luma[i + l] = luma;
			result->edge[i + l] = edge;
		}
	}
}

WIC_DEVICE uint32_t srs_passes(uint64_t energy, uint32_t side)
{
	uint64_t mean = energy / ((uint64_t)side * side);

	return (mean >= SRS_ENERGY_1) + (mean >= SRS_ENERGY_2) + (mean >= SRS_ENERGY_3);
}

/*
 * Stretch the tile and see how much smoothing it needs.  All warps of the block
 * come to the same values; the first writes them down.
 */
WIC_DEVICE uint32_t srs_normalise(struct srs_warp *w, struct srs_result *result)
{
	uint64_t energy;
	uint32_t band, i;
	uint8_t lo, hi;

	srs_range(w);
	wic_bar();
	for (band = 0; band < SRS_BANDS; band++) {
		srs_range_of_block(w, band, &lo, &hi);
		if (wic_warp_id() == 0) {
			result->lo[band] = lo;
			result->hi[band] = hi;
		}
		srs_stretch(w, band, lo, hi);
	}
	srs_luma_rows(w, 0);
	energy = srs_energy(w);
	WIC_LANES(l) {
		if (l == 0)
			w->shared->energy[wic_warp_id()] = energy;
	}
	wic_bar();
	energy = 0;
	for (i = 0; i < wic_block_warps(); i++)
		energy += w->shared->energy[i];
	if (wic_warp_id() == 0) {
		result->energy = energy;
		result->passes = srs_passes(energy, w->a->side);
	}
	return srs_passes(energy, w->a->side);
}

/* The work of one tile, all warps of the block together; C1 of the next wait. */
WIC_DEVICE void srs_tile(struct srs_warp *w, const uint8_t *raw, uint32_t index)
{
	struct srs_result *result = &w->a->results[index];
	uint32_t *row_hash = w->a->row_hashes + (uint64_t)index * w->a->side;
	uint32_t passes, pass, band, row, from = 0;
	struct srs_rows rows;

	w->raw = raw;
	passes = srs_normalise(w, result);
	for (pass = 0; pass < passes; pass++) {
		for (band = 0; band < SRS_BANDS; band++)
			srs_median_rows(w, from + band, SRS_BANDS - from + band);
		from = SRS_BANDS - from;
		srs_luma_rows(w, from);
		wic_bar();
	}
	for (row = w->row_first; row < w->row_end; row++) {
		srs_rows_get(w, from, row, &rows);
		row_hash[row] = srs_filter_row(w, &rows);
	}
	wic_bar();
	srs_histograms_flush(w, result);
	WIC_LANES(l) {
		if (l == 0)
			wic_block_add_u32(&result->done, 1);
	}
}

/* The work on the tile of the round before, then the wish for the next. */
WIC_DEVICE int srs_c1(struct srs_warp *w, struct srs_kept *kept, struct m_want *want_out)
{
	srs_tile(w, kept->raw, kept->index);
	if (kept->held != WIC_NO_TAG)
		m_done(&w->state, kept->held, w->a->epoch);
	if (kept->next >= w->a->tags)
		return 0;
	want_out->tag = kept->next;
	want_out->epoch = w->a->epoch;
	return 1;
}

/* The tile is there; what is done with it is C1 of the next round. */
WIC_DEVICE void srs_c2(struct srs_warp *w, struct srs_kept *kept, const void *data)
{
	(void)w;
	kept->raw = (const uint8_t *)data;
	kept->index = kept->next;
	kept->held = kept->next;
	kept->next += wic_grid_blocks();
}

M_KERNEL(srs_kernel, struct srs_args, a)
{
	WIC_SHARED(unsigned char, shared);
	uint32_t warp = wic_warp_id(), warps = wic_block_warps(), block = wic_block_id();
	struct srs_kept kept = {
		a->first + (uint64_t)(block % a->first_count) * SRS_BANDS * a->side * a->side,
		a->tags + block,
		WIC_NO_TAG,
		block,
	};
	struct srs_warp w = {
		a,
		(struct srs_shared *)(shared + M_SHARED_BYTES(warps)),
		a->work + a->work_stride * block,
		NULL,
		a->side * warp / warps,
		a->side * (warp + 1) / warps,
		0,
		{ 0 },
	};
	int rc;

	m_init(&w.state, &a->m);
	srs_histograms_zero(&w);
	M_ROUNDS(rc, &w.state, &w, &kept, srs_c1, srs_c2);
	if (rc)
		a->status[block * warps + warp] = rc;
}
