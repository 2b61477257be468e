/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Inside of the PCM pool; included by core/ alone.  What is kept, and why every call is O(log n):
 *
 * Page states are bits in words of 64 pages, always up to date.  Over the words of
 * a side stands the segment tree; both sides have the same shape and an update of
 * a run always concerns the same pages of both, so one array of nodes carries both
 * trees and one walk updates both.
 *
 * A page is free when it is CLOSED and its partner is not HELD.  Giving a run back
 * frees those partners that are CLOSED, closing a run frees those pages whose
 * partners are not HELD: neither is uniform over the run.  But each of the two
 * conditions alone is.  So a node keeps a sum of each of these rows of bits:
 *
 *	CLOSED   the page is CLOSED
 *	CLEAR    its partner is not HELD
 *	FREE     both
 *	DIRTY    the page is DIRTY
 *
 * and every call is the assignment of a constant to some rows over a run.  For the
 * nodes that lie wholly in the run FREE follows from what is known already:
 *
 *	CLOSED := 1	FREE = CLEAR		CLEAR := 1	FREE = CLOSED
 *	CLOSED := 0	FREE = nothing		CLEAR := 0	FREE = nothing
 *
 * Their children learn of it when somebody next walks past (node.ones, node.zeros).
 */
#ifndef WIC_CORE_POOL_TYPES_H
#define WIC_CORE_POOL_TYPES_H

#include "core/pool.h"

#define WORD_PAGES 64u

enum pool_row { ROW_CLOSED, ROW_CLEAR, ROW_DIRTY, ROW_FREE, ROW_COUNT };

#define BIT_CLOSED (1u << ROW_CLOSED)
#define BIT_CLEAR (1u << ROW_CLEAR)
#define BIT_DIRTY (1u << ROW_DIRTY)
#define BIT_FREE (1u << ROW_FREE)

/* One bits of a row among the pages of a node. */
struct pool_sum {
	uint32_t pages;
	uint32_t longest; /* longest run of ones */
	uint32_t left;    /* run of ones at the left edge */
	uint32_t right;   /* run of ones at the right edge */
};

/* Rows, a side, that become all ones or all zeros over a run. */
struct pool_assign {
	uint8_t ones[2];
	uint8_t zeros[2];
};

struct pool_node {
	struct pool_sum sum[2][ROW_COUNT];
	struct pool_assign owed; /* to both children */
};

struct wic_pool {
	struct pool_node *nodes; /* [2 * words]; 1 is the root, words + i is word i */
	uint64_t *closed[2];     /* [words] each */
	uint64_t *held[2];
	uint64_t *dirty[2];
	struct wic_pool_waiter queue; /* head of the FIFO's ring */
	uint64_t visits;
	uint32_t words; /* a power of two */
	uint32_t half;  /* pages a side */
	uint32_t close_batch;
	uint32_t held_pages;
	uint32_t waiting;
	uint32_t side; /* where the next run is looked for first */
	bool refused;  /* a take found nothing since close_next() last ran dry */
	bool dead;     /* an assertion failed */
};

#define POOL_ASSERT(pool, condition)                                       \
	do {                                                               \
		if (WIC_CORE_UNLIKELY(!(condition))) {                     \
			(pool)->dead = true;                               \
			wic_assert_failed(#condition, __FILE__, __LINE__); \
		}                                                          \
	} while (0)

/* The bits of word @i that lie in [start, end). */
static inline uint64_t word_mask(uint32_t i, uint32_t start, uint32_t end)
{
	uint32_t base = i * WORD_PAGES;
	uint64_t mask = ~0ull;

	if (start > base)
		mask &= ~0ull << (start - base);
	if (end < base + WORD_PAGES)
		mask &= ~(~0ull << (end - base));
	return mask;
}

static inline uint64_t row_word(const struct wic_pool *pool, uint32_t side, enum pool_row row,
				uint32_t i)
{
	uint64_t clear = ~pool->held[!side][i]; /* padding is held */

	switch (row) {
	case ROW_CLOSED:
		return pool->closed[side][i];
	case ROW_CLEAR:
		return clear;
	case ROW_DIRTY:
		return pool->dirty[side][i];
	case ROW_FREE:
	case ROW_COUNT:
		break;
	}
	return pool->closed[side][i] & clear;
}

#endif /* WIC_CORE_POOL_TYPES_H */
