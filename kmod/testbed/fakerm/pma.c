/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The allocator of video memory; fakerm.h says what a frame can be.
 *
 * Out of memory, and allowed to evict, it asks the driver as RM does: for a number of pages
 * anywhere, or, for contiguous ones, to clear a range in which nothing is pinned.  The driver's
 * callbacks allocate and free here meanwhile, so no lock but callbacks_lock is held.
 *
 * Source of what RM does: open-gpu-kernel-modules 535, phys_mem_allocator.c.
 */
#include "fakerm.h"

#include <linux/bitmap.h>
#include <linux/mm.h>

static unsigned long frame_of(u64 address)
{
	return address >> FAKERM_FRAME_SHIFT;
}

static u64 address_of(unsigned long frame)
{
	return (u64)frame << FAKERM_FRAME_SHIFT;
}

static void stats_update(struct fakerm_pma *pma)
{
	const unsigned long chunk = frame_of(FAKERM_CHUNK_BYTES);
	unsigned long free_chunks = 0;
	unsigned long at;

	bitmap_or(pma->scratch, pma->used, pma->evicting, pma->frames);
	for (at = 0; at < pma->frames; at += chunk) {
		if (find_next_bit(pma->scratch, at + chunk, at) >= at + chunk)
			free_chunks++;
	}
	pma->stats.numFreePages64k = pma->frames - bitmap_weight(pma->scratch, pma->frames);
	pma->stats.numFreePages2m = free_chunks;
}

int fakerm_pma_init(struct fakerm_pma *pma, u64 bytes)
{
	const unsigned long reserved = frame_of(FAKERM_RESERVED_BYTES);

	pma->frames = frame_of(bytes);
	pma->used = bitmap_zalloc(pma->frames, GFP_KERNEL);
	pma->pinned = bitmap_zalloc(pma->frames, GFP_KERNEL);
	pma->evicting = bitmap_zalloc(pma->frames, GFP_KERNEL);
	pma->scratch = bitmap_zalloc(pma->frames, GFP_KERNEL);
	if (!pma->used || !pma->pinned || !pma->evicting || !pma->scratch) {
		fakerm_pma_fini(pma);
		return -ENOMEM;
	}
	spin_lock_init(&pma->lock);
	mutex_init(&pma->callbacks_lock);
	bitmap_set(pma->used, 0, reserved);
	bitmap_set(pma->pinned, 0, reserved);
	pma->stats.numPages2m = bytes / FAKERM_CHUNK_BYTES;
	stats_update(pma);
	return 0;
}

void fakerm_pma_fini(struct fakerm_pma *pma)
{
	bitmap_free(pma->used);
	bitmap_free(pma->pinned);
	bitmap_free(pma->evicting);
	bitmap_free(pma->scratch);
	pma->used = pma->pinned = pma->evicting = pma->scratch = NULL;
}

/* Under the lock, as what follows.  The first piece of @frames without a bit in @map. */
static bool find(const struct fakerm_pma_want *want, unsigned long *map, unsigned long frames,
		 unsigned long *at_out)
{
	unsigned long at;

	at = bitmap_find_next_zero_area(map, want->end, want->begin, frames,
					want->align_frames - 1);
	if (at >= want->end)
		return false;
	*at_out = at;
	return true;
}

/* Free frames become used ones. */
static bool take(struct fakerm_pma *pma, const struct fakerm_pma_want *want, unsigned long frames,
		 u64 *address_out)
{
	unsigned long at;

	bitmap_or(pma->scratch, pma->used, pma->evicting, pma->frames);
	if (!find(want, pma->scratch, frames, &at))
		return false;
	bitmap_set(pma->used, at, frames);
	/* What is half allocated must not be chosen for eviction; see settle(). */
	bitmap_set(pma->pinned, at, frames);
	*address_out = address_of(at);
	return true;
}

/* An allocation is complete: its frames are pinned, or not. */
static void settle(struct fakerm_pma *pma, const struct fakerm_pma_want *want, u64 address,
		   unsigned long frames)
{
	if (want->is_pinned)
		bitmap_set(pma->pinned, frame_of(address), frames);
	else
		bitmap_clear(pma->pinned, frame_of(address), frames);
}

static bool is_all(const unsigned long *map, unsigned long begin, unsigned long count)
{
	return find_next_zero_bit(map, begin + count, begin) >= begin + count;
}

static bool is_none(const unsigned long *map, unsigned long begin, unsigned long count)
{
	return find_next_bit(map, begin + count, begin) >= begin + count;
}

/* Chooses a range without pinned frames and has the driver clear it. */
static bool evict_range(struct fakerm_pma *pma, const struct fakerm_pma_want *want,
			unsigned long frames, u64 *address_out)
{
	NV_STATUS status = NV_ERR_NO_MEMORY;
	unsigned long at = 0;
	bool found;

	mutex_lock(&pma->callbacks_lock);
	spin_lock(&pma->lock);
	bitmap_or(pma->scratch, pma->pinned, pma->evicting, pma->frames);
	found = pma->evict_range && find(want, pma->scratch, frames, &at);
	if (found)
		bitmap_set(pma->evicting, at, frames);
	spin_unlock(&pma->lock);
	if (found)
		status = pma->evict_range(pma->callback_data, address_of(at),
					  address_of(at + frames) - 1,
					  UVM_PMA_GPU_MEMORY_TYPE_UNPROTECTED);
	spin_lock(&pma->lock);
	if (found)
		bitmap_clear(pma->evicting, at, frames);
	found = found && status == NV_OK;
	if (found && !is_none(pma->used, at, frames)) {
		fakerm_error("the driver evicted %#llx, but not all of its %lu frames are free",
			     address_of(at), frames);
		found = false;
	}
	if (found) {
		bitmap_set(pma->used, at, frames);
		/* As take() does: the next to evict must not choose it. */
		bitmap_set(pma->pinned, at, frames);
	}
	spin_unlock(&pma->lock);
	mutex_unlock(&pma->callbacks_lock);
	if (found)
		*address_out = address_of(at);
	return found;
}

/* Has the driver give up @count pages that it chooses; they stay in use, for us. */
static bool evict_pages(struct fakerm_pma *pma, const struct fakerm_pma_want *want, u64 *addresses,
			unsigned long count)
{
	NV_STATUS status = NV_ERR_NO_MEMORY;
	unsigned long got;
	unsigned long i;

	mutex_lock(&pma->callbacks_lock);
	if (pma->evict_pages)
		status = pma->evict_pages(pma->callback_data, address_of(want->page_frames),
					  addresses, count, address_of(want->begin),
					  address_of(want->end) - 1,
					  UVM_PMA_GPU_MEMORY_TYPE_UNPROTECTED);
	got = status == NV_OK ? count : 0;
	spin_lock(&pma->lock);
	for (i = 0; i < got; i++) {
		if (!is_all(pma->used, frame_of(addresses[i]), want->page_frames))
			fakerm_error("the driver evicted %#llx, and freed it as well",
				     addresses[i]);
		bitmap_set(pma->used, frame_of(addresses[i]), want->page_frames);
		bitmap_set(pma->pinned, frame_of(addresses[i]), want->page_frames);
	}
	spin_unlock(&pma->lock);
	/* Only now: the next to evict a range must find them pinned. */
	mutex_unlock(&pma->callbacks_lock);
	return status == NV_OK;
}

static int alloc_contiguous(struct fakerm_pma *pma, const struct fakerm_pma_want *want,
			    u64 *address_out)
{
	const unsigned long frames = want->count * want->page_frames;
	bool found;

	spin_lock(&pma->lock);
	found = take(pma, want, frames, address_out);
	spin_unlock(&pma->lock);
	if (!found && want->may_evict)
		found = evict_range(pma, want, frames, address_out);
	if (!found)
		return -ENOMEM;
	spin_lock(&pma->lock);
	settle(pma, want, *address_out, frames);
	stats_update(pma);
	spin_unlock(&pma->lock);
	return 0;
}

static int alloc_pages_apart(struct fakerm_pma *pma, const struct fakerm_pma_want *want,
			     u64 *addresses, unsigned long *count_out)
{
	unsigned long got = 0;
	unsigned long i;
	bool is_enough;

	spin_lock(&pma->lock);
	while (got < want->count && take(pma, want, want->page_frames, &addresses[got]))
		got++;
	spin_unlock(&pma->lock);
	if (got < want->count && want->may_evict &&
	    evict_pages(pma, want, addresses + got, want->count - got))
		got = want->count;
	is_enough = got == want->count || (got != 0 && want->is_partial);
	spin_lock(&pma->lock);
	for (i = 0; i < got; i++) {
		settle(pma, want, addresses[i], want->page_frames);
		if (is_enough)
			continue;
		bitmap_clear(pma->used, frame_of(addresses[i]), want->page_frames);
		bitmap_clear(pma->pinned, frame_of(addresses[i]), want->page_frames);
	}
	stats_update(pma);
	spin_unlock(&pma->lock);
	if (!is_enough)
		return -ENOMEM;
	*count_out = got;
	return 0;
}

int fakerm_pma_alloc(struct fakerm_pma *pma, const struct fakerm_pma_want *want, u64 *addresses,
		     unsigned long *count_out)
{
	int rc;

	if (!want->is_contiguous)
		return alloc_pages_apart(pma, want, addresses, count_out);
	rc = alloc_contiguous(pma, want, addresses);
	if (rc == 0)
		*count_out = want->count;
	return rc;
}

/* Is it a piece of what the allocator hands out? */
static bool is_piece(const struct fakerm_pma *pma, u64 address, unsigned long frames)
{
	return IS_ALIGNED(address, FAKERM_FRAME_BYTES) && address >= FAKERM_RESERVED_BYTES &&
	       frames != 0 && frames <= pma->frames && frame_of(address) <= pma->frames - frames;
}

bool fakerm_pma_free(struct fakerm_pma *pma, u64 address, unsigned long frames)
{
	bool is_used = false;

	spin_lock(&pma->lock);
	if (is_piece(pma, address, frames))
		is_used = is_all(pma->used, frame_of(address), frames);
	if (is_used) {
		bitmap_clear(pma->used, frame_of(address), frames);
		bitmap_clear(pma->pinned, frame_of(address), frames);
		stats_update(pma);
	}
	spin_unlock(&pma->lock);
	if (!is_used)
		fakerm_error("%lu frames from %#llx on are freed, but not all are in use", frames,
			     address);
	return is_used;
}

int fakerm_pma_pin(struct fakerm_pma *pma, u64 address, unsigned long frames, bool pin)
{
	unsigned long frame = frame_of(address);
	int rc = -EINVAL;

	spin_lock(&pma->lock);
	if (!is_piece(pma, address, frames) || !is_all(pma->used, frame, frames))
		goto out;
	if (pin ? !is_none(pma->pinned, frame, frames) : !is_all(pma->pinned, frame, frames))
		goto out;
	rc = -EBUSY;
	if (!is_none(pma->evicting, frame, frames))
		goto out;
	rc = 0;
	if (pin)
		bitmap_set(pma->pinned, frame, frames);
	else
		bitmap_clear(pma->pinned, frame, frames);
out:
	spin_unlock(&pma->lock);
	return rc;
}

unsigned long fakerm_pma_in_use(struct fakerm_pma *pma)
{
	unsigned long used;

	spin_lock(&pma->lock);
	used = bitmap_weight(pma->used, pma->frames) - frame_of(FAKERM_RESERVED_BYTES);
	spin_unlock(&pma->lock);
	return used;
}
