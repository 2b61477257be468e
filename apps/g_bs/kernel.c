/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The kernel of G_BS, compiled once a method.  The network is K. E. Batcher's, "Sorting
 * networks and their applications", 1968: in step (k, j) keys i and i + j are exchanged
 * so that runs of k keys go up and down in turn.
 */
#include <wic/kernel.h>

#include "methods/device.h"

#include "apps/g_bs/kernel.h"

/* A warp's view of its block. */
struct gbs_warp {
	const struct gbs_args *a;
	uint32_t *keys; /* the half that is sorted now */
	uint32_t first; /* pairs [first, end) of each step are this warp's */
	uint32_t end;
	int was_cross;      /* the last step was with keys of others */
	uint32_t work_done; /* since the last turn */
	struct m_state in;
	struct m_state out;
};

/* What a lane wrote is there for the other lanes of its warp. */
#ifdef __CUDACC__
WIC_DEVICE void gbs_warp_sync(void)
{
	__syncwarp();
}
#else
WIC_DEVICE void gbs_warp_sync(void)
{
	/* The lanes are one thread. */
}
#endif

WIC_DEVICE uint32_t gbs_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

WIC_DEVICE uint32_t gbs_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* After a row of lanes: a scheduling point where enough work was done. */
WIC_DEVICE void gbs_turn(struct gbs_warp *w)
{
	w->work_done += WIC_WARP_LANES;
	if (w->work_done >= w->a->turn_work) {
		w->work_done = 0;
		WIC_TURN();
	}
}

/* The keys of 32 pairs lie in two runs: a lane a pair, no lane crosses another. */
WIC_DEVICE void gbs_pairs_far(uint32_t *x, uint32_t j, int is_up)
{
	WIC_LANE_VAR(uint32_t, lo);
	WIC_LANE_VAR(uint32_t, hi);

	WIC_LANES(l) {
		WIC_AT(lo, l) = gbs_min(x[l], x[j + l]);
		WIC_AT(hi, l) = gbs_max(x[l], x[j + l]);
	}
	if (is_up) {
		WIC_LANES(l) {
			x[l] = WIC_AT(lo, l);
			x[j + l] = WIC_AT(hi, l);
		}
	} else {
		WIC_LANES(l) {
			x[l] = WIC_AT(hi, l);
			x[j + l] = WIC_AT(lo, l);
		}
	}
}

/* A step of the network: runs of @k keys go up and down in turn, or down and up. */
struct gbs_order {
	uint32_t k;
	uint32_t j;
	int is_flipped;
};

WIC_DEVICE int gbs_is_up(const struct gbs_order *o, uint32_t i)
{
	return ((i & o->k) == 0) != o->is_flipped;
}

/* Pairs [p, p + 32) with j < 32: the 64 keys of a group. */
WIC_DEVICE void gbs_pairs_near(uint32_t *keys, uint32_t p, const struct gbs_order *o)
{
	uint32_t j = o->j;

	WIC_LANES(l) {
		uint32_t pair = p + (uint32_t)l, i = 2 * pair - (pair & (j - 1));
		uint32_t lo = gbs_min(keys[i], keys[i + j]), hi = gbs_max(keys[i], keys[i + j]);

		keys[i] = gbs_is_up(o, i) ? lo : hi;
		keys[i + j] = gbs_is_up(o, i) ? hi : lo;
	}
}

/*
 * This warp's pairs of a step.  Where 2 * j is at most the warp's part of the keys, its
 * pairs are within that part; else with those of others, who have to be as far.
 */
WIC_DEVICE void gbs_step(struct gbs_warp *w, const struct gbs_order *o)
{
	uint32_t p, j = o->j;
	int is_cross = j > w->end - w->first;

	if (is_cross || w->was_cross)
		wic_bar();
	w->was_cross = is_cross;
	for (p = w->first; p < w->end; p += WIC_WARP_LANES) {
		if (j < WIC_WARP_LANES) {
			gbs_pairs_near(w->keys, p, o);
		} else {
			uint32_t i = 2 * p - (p & (j - 1));

			gbs_pairs_far(w->keys + i, j, gbs_is_up(o, i));
		}
		gbs_turn(w);
	}
	gbs_warp_sync();
}

/* Bitonic runs of @k keys become sorted ones. */
WIC_DEVICE void gbs_merge(struct gbs_warp *w, uint32_t k, int is_flipped)
{
	struct gbs_order o = { k, 0, is_flipped };

	for (o.j = k / 2; o.j; o.j /= 2)
		gbs_step(w, &o);
}

/* C1: this device's half of an array, up on device 0 and down on device 1. */
WIC_DEVICE void gbs_sort(struct gbs_warp *w, uint32_t array)
{
	const uint32_t *from = w->a->keys + (uint64_t)array * w->a->half;
	uint32_t salt = gbs_salt(w->a->epoch, array), i, k;

	/* A warp's own part: what was here two arrays ago ended in steps within the parts. */
	for (i = 2 * w->first; i < 2 * w->end; i += WIC_WARP_LANES)
		WIC_LANES(l)
			w->keys[i + l] = from[i + l] | salt;
	gbs_warp_sync();
	for (k = 2; k <= w->a->half; k *= 2)
		gbs_merge(w, k, w->a->device != 0);
	wic_bar();
}

/* The warps send the chunks of the sorted half.  0 or -errno. */
WIC_DEVICE int gbs_scatter(struct gbs_warp *w, uint32_t array)
{
	uint32_t keys = w->a->half / GBS_CHUNKS, chunk, i;

	for (chunk = wic_warp_id(); chunk < GBS_CHUNKS; chunk += wic_block_warps()) {
		const uint32_t *from = w->keys + chunk * keys;
		uint32_t tag = array * GBS_CHUNKS + chunk;
		void *buffer;
		int rc = m_stage(&w->out, tag, w->a->epoch, &buffer);

		if (rc)
			return rc;
		for (i = 0; i < keys; i += WIC_WARP_LANES) {
			uint32_t *to = (uint32_t *)buffer + i;

			WIC_LANES(l)
				to[l] = from[i + l];
			gbs_turn(w);
		}
		rc = m_publish(&w->out, tag, w->a->epoch);
		if (rc)
			return rc;
	}
	return 0;
}

/* The step whose partner is on the other device: the smaller keys stay on device 0. */
WIC_DEVICE void gbs_compare(struct gbs_warp *w, uint32_t chunk, const uint32_t *other)
{
	uint32_t keys = w->a->half / GBS_CHUNKS, i;

	for (i = 0; i < keys; i += WIC_WARP_LANES) {
		uint32_t *mine = w->keys + chunk * keys + i;

		if (w->a->device == 0) {
			WIC_LANES(l)
				mine[l] = gbs_min(mine[l], other[i + l]);
		} else {
			WIC_LANES(l)
				mine[l] = gbs_max(mine[l], other[i + l]);
		}
		gbs_turn(w);
	}
}

/* C2: the other device's half, chunk by chunk, then the merge.  0 or -errno. */
WIC_DEVICE int gbs_gather(struct gbs_warp *w, uint32_t array)
{
	uint32_t *sorted = w->a->sorted + (uint64_t)array * w->a->half, first, i;

	for (first = 0; first < GBS_CHUNKS; first += wic_block_warps()) {
		uint32_t chunk = first + wic_warp_id();
		/* There is a power of 2 of both, so all warps have one or some have none. */
		uint32_t tag = chunk < GBS_CHUNKS ? array * GBS_CHUNKS + chunk : WIC_NO_TAG;
		void *other = NULL;
		int rc = m_wait(&w->in, tag, w->a->epoch, &other);

		if (rc)
			return rc;
		if (tag == WIC_NO_TAG)
			continue;
		gbs_compare(w, chunk, (const uint32_t *)other);
		m_done(&w->in, tag, w->a->epoch);
	}
	/* Begins with a step across the warps' parts, and so with a barrier. */
	gbs_merge(w, w->a->half, 0);
	for (i = 2 * w->first; i < 2 * w->end; i += WIC_WARP_LANES)
		WIC_LANES(l)
			sorted[i + l] = w->keys[i + l];
	return 0;
}

/* Arrays of this block; each is gathered after the next one was sorted and sent. */
WIC_DEVICE int gbs_arrays(struct gbs_warp *w)
{
	uint32_t *halves = w->a->work + 2 * (uint64_t)w->a->half * wic_block_id();
	uint32_t array, before = WIC_NO_TAG, k = 0;
	int rc;

	for (array = wic_block_id(); array < w->a->arrays; array += wic_grid_blocks(), k++) {
		w->keys = halves + (uint64_t)(k % 2) * w->a->half;
		gbs_sort(w, array);
		rc = gbs_scatter(w, array);
		if (rc)
			return rc;
		if (before != WIC_NO_TAG) {
			w->keys = halves + (uint64_t)((k + 1) % 2) * w->a->half;
			rc = gbs_gather(w, before);
			if (rc)
				return rc;
		}
		before = array;
	}
	if (before == WIC_NO_TAG)
		return 0;
	w->keys = halves + (uint64_t)((k + 1) % 2) * w->a->half;
	return gbs_gather(w, before);
}

M_KERNEL(gbs_kernel, struct gbs_args, a)
{
	uint32_t pairs = a->half / 2 / wic_block_warps();
	struct gbs_warp w = {
		a, NULL, pairs * wic_warp_id(), pairs * (wic_warp_id() + 1), 0, 0, { 0 }, { 0 },
	};
	int rc;

	m_init(&w.in, &a->in);
	m_init(&w.out, &a->out);
	rc = gbs_arrays(&w);
	if (rc)
		a->status[wic_block_id() * wic_block_warps() + wic_warp_id()] = rc;
}
