/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * wic/device.cuh as a user includes it, first and alone, twice over, then beside the host's header.
 * Each function is called, since what nobody calls is checked less.  It is compiled only.
 */
#include <wic/device.cuh>
#include <wic/device.cuh>

#include <wic/wic.h>

extern "C" __global__ void use_words(const uint64_t *word, int *rc_out)
{
	__shared__ struct wic_lot lot;
	int rc;

	wic_lot_init(&lot);
	rc = wic_wait_word(&lot, word, 1, WIC_MS(50));
	rc |= wic_wait_word_mask(&lot, word, 1, 0, __activemask());
	rc |= wic_wait_word_block(&lot, word, 1, WIC_FOREVER);
	wic_lot_fini(&lot);
	rc_out[threadIdx.x] = rc;
}

#ifndef WIC_TREE_PLAIN_ONLY

extern "C" __global__ void use_channel(struct wic_handle h, int *rc_out)
{
	extern __shared__ uint64_t shared[];
	struct wic_lot *lot = (struct wic_lot *)shared;
	uint32_t m = __activemask();
	void *data;
	int rc;

	wic_lot_init(lot);
	rc = wic_wait(&h, lot, 0, 1, WIC_MS(50));
	rc |= wic_wait_mask(&h, lot, 0, 1, WIC_MS(50), m);
	rc |= wic_wait_block(&h, lot, 0, 1, WIC_MS(50));
	if (!wic_request(&h, lot, 0, 1, WIC_MS(50), &data))
		rc |= wic_release(&h, 0, 1);
	if (!wic_request_mask(&h, lot, 0, 2, WIC_MS(50), &data, m))
		rc |= wic_release_mask(&h, 0, 2, m);
	if (!wic_request_block(&h, lot, 0, 3, WIC_MS(50), &data))
		rc |= wic_release_block(&h, 0, 3);
	if (!wic_try(&h, 0, WIC_EPOCH_NEXT, &data))
		rc |= wic_release(&h, 0, WIC_EPOCH_NEXT);
	rc_out[threadIdx.x] = rc;
}

extern "C" __global__ void use_sets(struct wic_handle h, int *rc_out)
{
	__shared__ struct wic_lot lot;
	struct wic_ref refs[2] = { { 1, NULL, 0, 0 }, { 1, NULL, 1, 0 } };
	int rc;

	wic_lot_init(&lot);
	rc = wic_wait_all(&h, &lot, refs, 2, WIC_MS(50));
	rc |= wic_request_all(&h, &lot, refs, 2, WIC_MS(50));
	rc_out[threadIdx.x] = rc;
}

extern "C" __global__ void use_produce(struct wic_handle h, int *rc_out)
{
	__shared__ struct wic_lot lot;
	void *buffer;
	int rc;

	wic_lot_init(&lot);
	rc = wic_warp_stage(&h, &lot, 0, 1, WIC_MS(50), &buffer);
	rc |= wic_warp_publish(&h, 0, 1);
	rc |= wic_publish_block(&h, 1, 1);
	rc_out[threadIdx.x] = rc;
}

#endif /* WIC_TREE_PLAIN_ONLY */
