/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Textbook steps over whole planes, one after the other, with coefficient tables,
 * look-up tables and another median than the kernel's.  A plane is kept with a
 * border of one pixel, so a 3x3 window never leaves it.
 */
#include "apps/c_srs/reference.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

struct plane {
	uint32_t side;
	uint32_t pitch; /* side + 2 */
	uint8_t *px;    /* pitch * pitch */
};

struct work {
	struct plane band[SRS_BANDS];
	struct plane luma;
	struct plane spare;
	int16_t *sum[2]; /* side * side each: convolutions */
};

static uint8_t *pixel(const struct plane *p, int64_t x, int64_t y)
{
	return p->px + (y + 1) * p->pitch + x + 1;
}

static void border(struct plane *p)
{
	uint32_t i;

	for (i = 0; i < p->side; i++) {
		*pixel(p, -1, i) = *pixel(p, 0, i);
		*pixel(p, p->side, i) = *pixel(p, (int64_t)p->side - 1, i);
	}
	memcpy(pixel(p, -1, -1), pixel(p, -1, 0), p->pitch);
	memcpy(pixel(p, -1, p->side), pixel(p, -1, (int64_t)p->side - 1), p->pitch);
}

static void stretch(const uint8_t *from, struct plane *to, uint8_t *lo_out, uint8_t *hi_out)
{
	uint32_t count = to->side * to->side, lo = 255, hi = 0, i;
	uint8_t table[256] = { 0 };

	for (i = 0; i < count; i++) {
		lo = from[i] < lo ? from[i] : lo;
		hi = from[i] > hi ? from[i] : hi;
	}
	for (i = lo; i <= hi && hi > lo; i++)
		table[i] = (uint8_t)((i - lo) * (65280 / (hi - lo)) / 256);
	for (i = 0; i < count; i++)
		*pixel(to, i % to->side, i / to->side) = table[from[i]];
	border(to);
	*lo_out = (uint8_t)lo;
	*hi_out = (uint8_t)hi;
}

static void make_luma(struct work *w)
{
	uint32_t x, y, side = w->luma.side;

	for (y = 0; y < side; y++) {
		const uint8_t *r = pixel(&w->band[0], 0, y), *g = pixel(&w->band[1], 0, y);
		const uint8_t *b = pixel(&w->band[2], 0, y);
		uint8_t *out = pixel(&w->luma, 0, y);

		for (x = 0; x < side; x++)
			out[x] = (uint8_t)((77u * r[x] + 150u * g[x] + 29u * b[x]) / 256u);
	}
	border(&w->luma);
}

static uint64_t energy_of(const struct plane *p)
{
	uint64_t energy = 0;
	uint32_t x, y;

	for (y = 0; y < p->side; y++) {
		const uint8_t *row = pixel(p, 0, y);
		uint32_t sum = 0;

		for (x = 0; x < p->side; x++)
			sum += (uint32_t)((row[x + 1] - row[x]) * (row[x + 1] - row[x]));
		energy += sum;
	}
	return energy;
}

#define ORDER(a, b)                                         \
	do {                                                \
		uint8_t small_ = p[a] < p[b] ? p[a] : p[b]; \
		p[b] = p[a] < p[b] ? p[b] : p[a];           \
		p[a] = small_;                              \
	} while (0)

/* The 19 exchanges of J. L. Smith, "Implementing median filters", 1996. */
static inline uint8_t median_of_9(const uint8_t *up, const uint8_t *at, const uint8_t *down)
{
	uint8_t p[9] = { up[-1], up[0], up[1], at[-1], at[0], at[1], down[-1], down[0], down[1] };

	ORDER(1, 2);
	ORDER(4, 5);
	ORDER(7, 8);
	ORDER(0, 1);
	ORDER(3, 4);
	ORDER(6, 7);
	ORDER(1, 2);
	ORDER(4, 5);
	ORDER(7, 8);
	ORDER(0, 3);
	ORDER(5, 8);
	ORDER(4, 7);
	ORDER(3, 6);
	ORDER(1, 4);
	ORDER(2, 5);
	ORDER(4, 7);
	ORDER(4, 2);
	ORDER(6, 4);
	ORDER(4, 2);
	return p[4];
}

static void smooth(struct plane *p, struct plane *spare)
{
	uint8_t *swap = p->px;
	uint32_t x, y;

	for (y = 0; y < p->side; y++) {
		const uint8_t *up = pixel(p, 0, (int64_t)y - 1), *at = pixel(p, 0, y);
		const uint8_t *down = pixel(p, 0, (int64_t)y + 1);
		uint8_t *restrict out = pixel(spare, 0, y);

		for (x = 0; x < p->side; x++)
			out[x] = median_of_9(up + x, at + x, down + x);
	}
	border(spare);
	p->px = spare->px;
	spare->px = swap;
}

static void convolve(const struct plane *p, const int k[9], int16_t *out)
{
	uint32_t tap, x, y;

	memset(out, 0, (size_t)p->side * p->side * sizeof(*out));
	for (y = 0; y < p->side; y++) {
		int16_t *restrict sum = out + (size_t)y * p->side;

		for (tap = 0; tap < 9; tap++) {
			const uint8_t *row =
				pixel(p, (int64_t)(tap % 3) - 1, (int64_t)(y + tap / 3) - 1);

			for (x = 0; k[tap] && x < p->side; x++)
				sum[x] = (int16_t)(sum[x] + k[tap] * row[x]);
		}
	}
}

/* The filtered tile: three sharpened bands and the edges, planes of @out. */
static void filter(struct work *w, uint8_t *out)
{
	static const int sharpen[9] = { 0, -1, 0, -1, 5, -1, 0, -1, 0 };
	static const int across[9] = { -1, 0, 1, -2, 0, 2, -1, 0, 1 };
	static const int along[9] = { -1, -2, -1, 0, 0, 0, 1, 2, 1 };
	size_t count = (size_t)w->luma.side * w->luma.side, i;
	uint32_t band;

	for (band = 0; band < SRS_BANDS; band++) {
		convolve(&w->band[band], sharpen, w->sum[0]);
		for (i = 0; i < count; i++) {
			int v = w->sum[0][i] > 255 ? 255 : w->sum[0][i];

			out[band * count + i] = (uint8_t)(v < 0 ? 0 : v);
		}
	}
	convolve(&w->luma, across, w->sum[0]);
	convolve(&w->luma, along, w->sum[1]);
	for (i = 0; i < count; i++)
		out[SRS_BANDS * count + i] = (uint8_t)((abs(w->sum[0][i]) + abs(w->sum[1][i])) / 8);
}

static void summarise(const uint8_t *out, uint32_t side, struct srs_result *result,
		      uint32_t *row_hash)
{
	size_t count = (size_t)side * side;
	uint32_t x, y, lane;

	for (y = 0; y < side; y++) {
		uint32_t hash[WIC_WARP_LANES];

		row_hash[y] = 0;
		for (lane = 0; lane < WIC_WARP_LANES; lane++)
			hash[lane] = 1;
		for (x = 0; x < side; x++) {
			const uint8_t *p = out + (size_t)y * side + x;
			uint32_t r = p[0], g = p[count], b = p[2 * count], edge = p[3 * count];

			result->luma[(77 * r + 150 * g + 29 * b) / 256]++;
			result->edge[edge]++;
			hash[x % WIC_WARP_LANES] *= 31;
			hash[x % WIC_WARP_LANES] += r + 256 * g + 65536 * b + (edge << 24);
		}
		for (lane = 0; lane < WIC_WARP_LANES; lane++)
			row_hash[y] += hash[lane] * (2 * lane + 1);
	}
}

static uint32_t passes_for(uint64_t energy, uint64_t count)
{
	if (energy / count < SRS_ENERGY_1)
		return 0;
	if (energy / count < SRS_ENERGY_2)
		return 1;
	return energy / count < SRS_ENERGY_3 ? 2 : 3;
}

/* One block of memory for everything: planes, sums, and the filtered tile. */
static uint8_t *work_init(struct work *w, uint32_t side, uint8_t **filtered_out)
{
	size_t plane = (size_t)(side + 2) * (side + 2), count = (size_t)side * side;
	uint8_t *memory = malloc(2 * count * sizeof(int16_t) + 5 * plane + 4 * count), *px;
	uint32_t i;

	if (!memory)
		return NULL;
	w->sum[0] = (int16_t *)memory;
	w->sum[1] = w->sum[0] + count;
	px = (uint8_t *)(w->sum[1] + count);
	for (i = 0; i < SRS_BANDS; i++)
		w->band[i] = (struct plane){ side, side + 2, px + i * plane };
	w->luma = (struct plane){ side, side + 2, px + 3 * plane };
	w->spare = (struct plane){ side, side + 2, px + 4 * plane };
	*filtered_out = px + 5 * plane;
	return memory;
}

int srs_reference(const uint8_t *tile, uint32_t side, struct srs_result *result_out,
		  uint32_t *row_hash_out, uint8_t *filtered_out)
{
	size_t count = (size_t)side * side;
	uint8_t *memory, *filtered;
	struct work w;
	uint32_t band, pass;

	memory = work_init(&w, side, &filtered);
	if (!memory)
		return wic_fail(-ENOMEM, "c_srs: no memory for the reference of a tile");
	memset(result_out, 0, sizeof(*result_out));
	for (band = 0; band < SRS_BANDS; band++)
		stretch(tile + band * count, &w.band[band], &result_out->lo[band],
			&result_out->hi[band]);
	make_luma(&w);
	result_out->energy = energy_of(&w.luma);
	result_out->passes = passes_for(result_out->energy, count);
	for (pass = 0; pass < result_out->passes; pass++)
		for (band = 0; band < SRS_BANDS; band++)
			smooth(&w.band[band], &w.spare);
	make_luma(&w);
	filter(&w, filtered);
	summarise(filtered, side, result_out, row_hash_out);
	if (filtered_out)
		memcpy(filtered_out, filtered, 4 * count);
	free(memory);
	return 0;
}
