/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The kernels of the GPU suite: by nvcc for a GPU, by the C compiler for fakecuda. */
#ifdef __CUDACC__
#include <wic/kernel.h>
#else
#include "tests/gpu/side.h"
#endif

#include "tests/gpu/kernels.h"

/* Volatile: never by way of the cache for what does not change. */
WIC_DEVICE uint32_t wrong_words(const struct wic_handle *h, const void *data, uint32_t tag,
				uint64_t epoch)
{
	const volatile uint32_t *words = (const volatile uint32_t *)data;
	WIC_LANE_VAR(uint32_t, wrong);

	WIC_LANES(l) {
		WIC_AT(wrong, l) = 0;
		for (uint32_t i = (uint32_t)l; i < h->bytes_per_tag / 4;
		     i += (uint32_t)wic_lanes_live())
			WIC_AT(wrong, l) += words[i] != gpu_word(tag, epoch, i);
	}
	return wic_reduce_add_u32(wrong);
}

WIC_DEVICE void fill(const struct wic_handle *h, void *buffer, uint32_t tag, uint64_t epoch)
{
	uint32_t *words = (uint32_t *)buffer;

	WIC_LANES(l)
		for (uint32_t i = (uint32_t)l; i < h->bytes_per_tag / 4;
		     i += (uint32_t)wic_lanes_live())
			words[i] = gpu_word(tag, epoch, i);
}

WIC_DEVICE uint32_t grid_warp(void)
{
	return wic_block_id() * wic_block_warps() + wic_warp_id();
}

/* ---- scripts ----------------------------------------------------------------------------- */

/* A set waits by a copy: each warp has its own pointers. */
WIC_DEVICE int step_request_all(const struct wic_handle *h, struct wic_lot *lot,
				const struct gpu_step *s, uint32_t *wrong)
{
	struct wic_ref refs[GPU_REFS];
	int rc;

	for (uint32_t i = 0; i < GPU_REFS; i++)
		refs[i] = s->refs[i];
	rc = wic_request_all(h, lot, refs, s->count, s->timeout_ns);
	for (uint32_t i = 0; i < s->count && !rc; i++)
		*wrong += wrong_words(h, refs[i].data, refs[i].tag, refs[i].epoch);
	return rc;
}

/* What lacks something, none of which may be taken for anything. */
WIC_DEVICE int step_bad(const struct wic_handle *h, struct wic_lot *lot, const struct gpu_step *s)
{
	void *data = 0;

	switch (s->what) {
	case GPU_REQUEST_NO_DATA:
		return wic_request(h, lot, s->tag, s->epoch, s->timeout_ns, 0);
	case GPU_REQUEST_BLOCK_NO_DATA:
		return wic_request_block(h, lot, s->tag, s->epoch, s->timeout_ns, 0);
	case GPU_STAGE_NO_BUFFER:
		return wic_warp_stage(h, lot, s->tag, s->epoch, s->timeout_ns, 0);
	case GPU_WAIT_NO_LANE:
		return wic_wait_mask(h, lot, s->tag, s->epoch, s->timeout_ns, 0);
	case GPU_REQUEST_NO_LANE:
		return wic_request_mask(h, lot, s->tag, s->epoch, s->timeout_ns, &data, 0);
	case GPU_RELEASE_NO_LANE:
		return wic_release_mask(h, s->tag, s->epoch, 0);
	case GPU_WORD_NO_LANE:
		return wic_wait_word_mask(lot, s->word, s->epoch, s->timeout_ns, 0);
	case GPU_WAIT_NO_REFS:
		return wic_wait_all(h, lot, 0, s->count, s->timeout_ns);
	case GPU_REQUEST_NO_REFS:
		return wic_request_all(h, lot, 0, s->count, s->timeout_ns);
	default:
		return 1;
	}
}

/* Waits at a lot in which the first warp alone has a place. */
WIC_DEVICE int step_small_lot(const struct wic_handle *h, const struct gpu_step *s)
{
	WIC_SHARED(struct wic_lot, lot);

	wic_bar();
	WIC_LANES(l)
		if (!l && !wic_warp_id())
			wic_tree_lot_init(lot, 1);
	wic_bar();
	if (s->what == GPU_WORD_SMALL_LOT)
		return wic_wait_word(lot, s->word, s->epoch, s->timeout_ns);
	return wic_wait(h, lot, s->tag, s->epoch, s->timeout_ns);
}

WIC_DEVICE int step_block(const struct wic_handle *h, struct wic_lot *lot, const struct gpu_step *s,
			  uint32_t *wrong)
{
	void *data = 0;
	int rc;

	switch (s->what) {
	case GPU_BARRIER:
		wic_bar();
		return 0;
	case GPU_WAIT_BLOCK:
		return wic_wait_block(h, lot, s->tag, s->epoch, s->timeout_ns);
	case GPU_REQUEST_BLOCK:
		rc = wic_request_block(h, lot, s->tag, s->epoch, s->timeout_ns, &data);
		if (!rc)
			*wrong = wrong_words(h, data, s->tag, s->epoch);
		return rc;
	case GPU_RELEASE_BLOCK:
		return wic_release_block(h, s->tag, s->epoch);
	case GPU_PUBLISH_BLOCK:
		return wic_publish_block(h, s->tag, s->epoch);
	case GPU_WORD_BLOCK:
		return wic_wait_word_block(lot, s->word, s->epoch, s->timeout_ns);
	case GPU_WAIT_SMALL_LOT:
	case GPU_WORD_SMALL_LOT:
		return step_small_lot(h, s);
	default:
		return step_bad(h, lot, s);
	}
}

WIC_DEVICE int step_do(const struct wic_handle *h, struct wic_lot *lot, const struct gpu_step *s,
		       uint32_t *wrong)
{
	void *data = 0;
	int rc;

	switch (s->what) {
	case GPU_WAIT:
		return wic_wait(h, lot, s->tag, s->epoch, s->timeout_ns);
	case GPU_REQUEST:
		rc = wic_request(h, lot, s->tag, s->epoch, s->timeout_ns, &data);
		break;
	case GPU_TRY:
		rc = wic_try(h, s->tag, s->epoch, &data);
		break;
	case GPU_RELEASE:
		return wic_release(h, s->tag, s->epoch);
	case GPU_STAGE:
		rc = wic_warp_stage(h, lot, s->tag, s->epoch, s->timeout_ns, &data);
		if (!rc)
			fill(h, data, s->tag, s->epoch);
		return rc;
	case GPU_PUBLISH:
		return wic_warp_publish(h, s->tag, s->epoch);
	case GPU_WORD:
		return wic_wait_word(lot, s->word, s->epoch, s->timeout_ns);
	case GPU_WAIT_ALL:
		return wic_wait_all(h, lot, s->refs, s->count, s->timeout_ns);
	case GPU_REQUEST_ALL:
		return step_request_all(h, lot, s, wrong);
	case GPU_STORE:
		WIC_LANES(l)
			if (!l)
				wic_t_post_sys(s->word, s->epoch);
		return 0;
	default:
		return step_block(h, lot, s, wrong);
	}
	if (!rc)
		*wrong = wrong_words(h, data, s->tag, s->epoch);
	return rc;
}

WIC_DEVICE void result_set(struct gpu_result *r, int rc, uint32_t wrong, uint64_t began_ns)
{
	uint64_t now = wic_t_now();

	WIC_LANES(l)
		if (!l) {
			r->rc = rc;
			r->wrong = wrong;
			r->began_ns = began_ns;
			r->ended_ns = now;
		}
}

WIC_DEVICE void arrived_set(const struct gpu_args *a, uint64_t step)
{
	WIC_LANES(l)
		if (!l && a->arrived)
			wic_t_post_sys(&a->arrived[grid_warp()], step);
}

WIC_KERNEL(gpu_script, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, shared);
	struct wic_lot *lot = a->has_lot ? shared : 0;

	if (lot)
		wic_lot_init(lot);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct gpu_step *s = &a->steps[i];
		const struct wic_handle *h = s->handle == GPU_NULL ? 0 : &a->h[s->handle];
		uint32_t wrong = 0;
		uint64_t began = wic_t_now();
		int rc;

		if ((s->block != GPU_ALL && s->block != wic_block_id()) ||
		    (s->warp != GPU_ALL && s->warp != wic_warp_id()))
			continue;
		arrived_set(a, i + 1);
		rc = step_do(h, lot, s, &wrong);
		result_set(&a->results[(uint64_t)grid_warp() * a->count + i], rc, wrong, began);
	}
	arrived_set(a, a->count + 1);
	if (lot)
		wic_lot_fini(lot);
}

/* ---- loops ------------------------------------------------------------------------------- */

WIC_KERNEL(gpu_take, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, shared);
	struct wic_lot *lot = a->has_lot ? shared : 0;
	uint32_t warps = wic_grid_blocks() * wic_block_warps(), wrong = 0;
	uint64_t began = wic_t_now(), epoch = a->epoch_first;
	int rc = 0;

	if (lot)
		wic_lot_init(lot);
	for (uint64_t i = 0; i < a->epochs && !rc; i++, epoch += a->epoch_step)
		for (uint32_t tag = a->is_each ? 0 : grid_warp(); tag < a->count && !rc;
		     tag += a->is_each ? 1 : warps) {
			uint64_t named = a->is_next ? WIC_EPOCH_NEXT : epoch;
			void *data = 0;

			rc = wic_request(&a->h[0], lot, tag, named, a->timeout_ns, &data);
			if (rc)
				break;
			wrong += wrong_words(&a->h[0], data, tag, epoch);
			rc = wic_release(&a->h[0], tag, named);
		}
	result_set(&a->results[grid_warp()], rc, wrong, began);
}

WIC_KERNEL(gpu_make, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, shared);
	struct wic_lot *lot = a->has_lot ? shared : 0;
	uint32_t warps = wic_grid_blocks() * wic_block_warps();
	uint64_t began = wic_t_now(), epoch = a->epoch_first;
	int rc = 0;

	if (lot)
		wic_lot_init(lot);
	for (uint64_t i = 0; i < a->epochs && !rc; i++, epoch += a->epoch_step)
		for (uint32_t tag = grid_warp(); tag < a->count && !rc; tag += warps) {
			void *buffer = 0;

			rc = wic_warp_stage(&a->h[0], lot, tag, epoch, a->timeout_ns, &buffer);
			if (rc)
				break;
			fill(&a->h[0], buffer, tag, epoch);
			rc = wic_warp_publish(&a->h[0], tag, epoch);
		}
	result_set(&a->results[grid_warp()], rc, 0, began);
}

WIC_KERNEL(gpu_ping, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, shared);
	struct wic_lot *lot = a->has_lot ? shared : 0;
	uint64_t began = wic_t_now(), epoch = a->epoch_first;
	uint32_t tag = grid_warp();
	int rc = 0;

	if (lot)
		wic_lot_init(lot);
	for (uint64_t i = 0; i < a->epochs && !rc; i++, epoch += a->epoch_step) {
		rc = wic_wait(&a->h[0], lot, tag, epoch, a->timeout_ns);
		if (!rc)
			rc = wic_warp_publish(&a->h[1], tag, epoch);
	}
	result_set(&a->results[tag], rc, 0, began);
}

/* ---- order ------------------------------------------------------------------------------- */

/* A load that may be served from the SM's own cache, where an old value may lie. */
WIC_DEVICE uint32_t load_cached(const uint32_t *p)
{
#ifdef __CUDACC__
	uint32_t v;

	asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p));
	return v;
#else
	return *p;
#endif
}

WIC_DEVICE uint32_t wrong_cached(const struct wic_handle *h, const void *data, uint64_t epoch)
{
	const uint32_t *words = (const uint32_t *)data;
	WIC_LANE_VAR(uint32_t, wrong);

	WIC_LANES(l) {
		WIC_AT(wrong, l) = 0;
		for (uint32_t i = (uint32_t)l; i < h->bytes_per_tag / 4;
		     i += (uint32_t)wic_lanes_live())
			WIC_AT(wrong, l) += load_cached(&words[i]) != gpu_word(0, epoch, i);
	}
	return wic_reduce_add_u32(wrong);
}

/*
 * What the page held two epochs ago comes into the cache while it is filled anew: a race, which
 * is the point on a GPU and no use where there is one memory.
 */
WIC_DEVICE void warm(const struct wic_handle *h, const void *page)
{
#ifdef __CUDACC__
	if (page)
		(void)wrong_cached(h, page, 0);
#else
	(void)h, (void)page;
#endif
}

WIC_KERNEL(gpu_litmus, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, shared);
	struct wic_lot *lot = a->has_lot ? shared : 0;
	uint64_t began = wic_t_now();
	uint32_t wrong = 0;
	void *page[2] = { 0, 0 };
	int rc = 0;

	if (lot)
		wic_lot_init(lot);
	if (grid_warp())
		rc = wic_wait(&a->h[0], lot, 1, 1, WIC_S(25));
	for (uint64_t e = 1; e <= a->epochs && !rc && !grid_warp(); e++) {
		warm(&a->h[0], page[e % 2]);
		rc = wic_request(&a->h[0], lot, 0, e, a->timeout_ns, &page[e % 2]);
		if (rc)
			break;
		wrong += wrong_cached(&a->h[0], page[e % 2], e);
		rc = wic_release(&a->h[0], 0, e);
	}
	result_set(&a->results[grid_warp()], rc, wrong, began);
}

/* ---- lanes ------------------------------------------------------------------------------- */

#ifdef __CUDACC__

/* By a lane for itself: how many words are wrong. */
WIC_DEVICE uint32_t wrong_here(const struct wic_handle *h, const void *data, uint32_t tag,
			       uint64_t epoch)
{
	const volatile uint32_t *words = (const volatile uint32_t *)data;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < h->bytes_per_tag / 4; i++)
		wrong += words[i] != gpu_word(tag, epoch, i);
	return wrong;
}

WIC_DEVICE void lane_result(const struct gpu_args *a, int rc, uint32_t wrong)
{
	uint32_t thread = wic_block_id() * wic_block_threads() + wic_thread_id_();

	a->results[thread].rc = rc;
	a->results[thread].wrong = wrong;
}

/* Lanes of @m take an epoch. */
WIC_DEVICE int take_mask(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag,
			 uint64_t epoch, uint32_t m, uint32_t *wrong)
{
	void *data = 0;
	int rc = wic_wait_mask(h, lot, tag, epoch, WIC_S(20), m);

	if (!rc)
		rc = wic_request_mask(h, lot, tag, epoch, WIC_S(20), &data, m);
	if (rc)
		return rc;
	*wrong += wrong_here(h, data, tag, epoch);
	__syncwarp(m);
	return wic_release_mask(h, tag, epoch, m);
}

WIC_KERNEL(gpu_halves, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, shared);
	struct wic_lot *lot = a->has_lot ? shared : 0;
	uint32_t half = (uint32_t)wic_lane_id() / 16, wrong = 0;
	int rc = 0;

	if (lot)
		wic_lot_init(lot);
	for (uint64_t e = a->epoch_first; e < a->epoch_first + a->epochs; e++)
		for (uint32_t i = 0; i < 2; i++) {
			/* The second half first in each other epoch. */
			if (half == ((i + e) & 1) && !rc)
				rc = take_mask(&a->h[0], lot, 2 * grid_warp() + half, e,
					       0xffffu << 16 * half, &wrong);
			__syncwarp();
		}
	lane_result(a, rc, wrong);
}

WIC_KERNEL(gpu_early, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, shared);
	struct wic_lot *lot = a->has_lot ? shared : 0;
	uint32_t wrong = 0, m = 0;
	int rc = 0;

	if (lot)
		wic_lot_init(lot);
	for (uint32_t lane = 0; lane < 32; lane++)
		m |= (uint32_t) !!(lane % 3) << lane;
	if (wic_lane_id() % 3 == 0 || wic_warp_id() == 1) {
		lane_result(a, 0, 0);
		return;
	}
	for (uint64_t e = a->epoch_first; e < a->epoch_first + a->epochs && !rc; e++) {
		void *data = 0;

		__syncwarp(m);
		/* The forms of a whole warp go by the lanes that are there. */
		rc = wic_request(&a->h[0], lot, grid_warp(), e, WIC_S(20), &data);
		if (!rc)
			wrong += wrong_here(&a->h[0], data, grid_warp(), e);
		__syncwarp(m);
		if (!rc)
			rc = wic_release(&a->h[0], grid_warp(), e);
	}
	lane_result(a, rc, wrong);
}

WIC_KERNEL(gpu_block_take, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, shared);
	struct wic_lot *lot = a->has_lot ? shared : 0;
	uint32_t tag = wic_block_id(), wrong = 0;
	int rc = 0;

	if (lot)
		wic_lot_init(lot);
	for (uint64_t e = a->epoch_first; e < a->epoch_first + a->epochs && !rc; e++) {
		void *data = 0;

		rc = wic_wait_block(&a->h[0], lot, tag, e, WIC_S(20));
		if (!rc)
			rc = wic_request_block(&a->h[0], lot, tag, e, WIC_S(20), &data);
		if (rc)
			break;
		wrong += wrong_here(&a->h[0], data, tag, e);
		rc = wic_release_block(&a->h[0], tag, e);
	}
	lane_result(a, rc, wrong);
}

/* Each thread of the block fills its part of what one warp staged. */
WIC_KERNEL(gpu_block_make, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, shared);
	__shared__ void *buffer;
	struct wic_lot *lot = a->has_lot ? shared : 0;
	uint32_t tag = wic_block_id();
	int rc = 0;

	if (lot)
		wic_lot_init(lot);
	for (uint64_t e = a->epoch_first; e < a->epoch_first + a->epochs && !rc; e++) {
		void *mine = 0;

		if (!wic_warp_id()) {
			rc = wic_warp_stage(&a->h[0], lot, tag, e, WIC_S(20), &mine);
			if (!wic_lane_id())
				buffer = mine;
		}
		if (__syncthreads_or(rc))
			break;
		for (uint32_t i = wic_thread_id_(); i < a->h[0].bytes_per_tag / 4;
		     i += wic_block_threads())
			((uint32_t *)buffer)[i] = gpu_word(tag, e, i);
		rc = wic_publish_block(&a->h[0], tag, e);
	}
	lane_result(a, rc, 0);
}

WIC_KERNEL(gpu_reuse, struct gpu_args, a)
{
	WIC_SHARED(struct wic_lot, lot);
	volatile uint32_t *words = (volatile uint32_t *)lot;
	uint32_t tag = grid_warp(), wrong = 0,
		 count = (uint32_t)WIC_LOT_BYTES(wic_block_warps()) / 4;
	int rc = 0;

	for (uint64_t e = a->epoch_first; e < a->epoch_first + a->epochs && !rc; e++) {
		wic_lot_init(lot);
		rc = take_mask(&a->h[0], lot, tag, e, UINT32_MAX, &wrong);
		wic_lot_fini(lot);
		for (uint32_t i = wic_thread_id_(); i < count; i += wic_block_threads())
			words[i] = i * 77;
		__syncthreads();
		for (uint32_t i = 0; i < count; i++)
			wrong += words[i] != i * 77;
		/* All have read it before it is a lot again. */
		rc |= __syncthreads_or(rc);
	}
	lane_result(a, rc, wrong);
}

#endif /* __CUDACC__ */
