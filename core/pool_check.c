/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Checker of the pool: recomputes every sum a page at a time. */
#include "core/pool_types.h"

/* A page at a time, on purpose unlike word_sum() and sum_join(). */
static struct pool_sum sum_slow(const struct wic_pool *pool, uint32_t side, enum pool_row row,
				struct wic_run run)
{
	struct pool_sum sum = { 0, 0, 0, 0 };
	uint32_t i;

	for (i = 0; i < run.count; i++) {
		uint32_t page = run.first + i;
		uint64_t word = row_word(pool, side, row, page / WORD_PAGES);

		if (!(word >> page % WORD_PAGES & 1)) {
			sum.right = 0;
			continue;
		}
		sum.pages++;
		sum.right++;
		if (sum.right == i + 1)
			sum.left = i + 1;
		if (sum.right > sum.longest)
			sum.longest = sum.right;
	}
	return sum;
}

/* Rows of @side that some node above @n still owes to @n. */
static uint8_t node_stale(const struct wic_pool *pool, uint32_t n, uint32_t side)
{
	uint32_t stale = 0;

	for (n /= 2; n >= 1; n /= 2)
		stale |= pool->nodes[n].owed.ones[side] | pool->nodes[n].owed.zeros[side];
	if (stale & (BIT_CLOSED | BIT_CLEAR))
		stale |= 1u << ROW_FREE;
	return (uint8_t)stale;
}

static bool node_is_consistent(const struct wic_pool *pool, uint32_t n, struct wic_run run)
{
	const struct pool_node *node = &pool->nodes[n];
	uint32_t side;
	uint32_t row;

	for (side = 0; side < 2; side++) {
		uint8_t stale = node_stale(pool, n, side);

		if (node->owed.ones[side] & node->owed.zeros[side])
			return false;
		for (row = 0; row < ROW_COUNT; row++) {
			struct pool_sum is = node->sum[side][row];
			struct pool_sum sum;

			if (stale >> row & 1)
				continue;
			sum = sum_slow(pool, side, (enum pool_row)row, run);
			if (sum.pages != is.pages || sum.longest != is.longest ||
			    sum.left != is.left || sum.right != is.right)
				return false;
			if (node->owed.ones[side] >> row & 1 && sum.pages != run.count)
				return false;
			if (node->owed.zeros[side] >> row & 1 && sum.pages != 0)
				return false;
		}
	}
	return true;
}

static bool words_are_consistent(const struct wic_pool *pool)
{
	uint32_t held = 0;
	uint32_t i;

	for (i = 0; i < pool->words; i++) {
		uint64_t inside = i * WORD_PAGES < pool->half ? word_mask(i, 0, pool->half) : 0;
		uint32_t side;

		for (side = 0; side < 2; side++) {
			uint64_t c = pool->closed[side][i];
			uint64_t h = pool->held[side][i];
			uint64_t d = pool->dirty[side][i];

			if ((c & h) | (c & d) | (h & d) | (c & ~inside) | (d & ~inside))
				return false;
			if ((h & ~inside) != ~inside)
				return false;
			for (h &= inside; h; h &= h - 1)
				held++;
		}
		if (pool->held[0][i] & pool->held[1][i] & inside)
			return false;
	}
	return held == pool->held_pages && held <= pool->half;
}

bool wic_pool_is_consistent(const struct wic_pool *pool)
{
	const struct wic_pool_waiter *waiter;
	uint32_t waiting = 0;
	uint32_t pages;
	uint32_t level;
	uint32_t n;

	if (pool->dead || !words_are_consistent(pool))
		return false;
	pages = pool->words * WORD_PAGES;
	for (level = 1; level <= pool->words; level *= 2, pages /= 2)
		for (n = level; n < 2 * level; n++) {
			struct wic_run run = { (n - level) * pages, pages };

			if (!node_is_consistent(pool, n, run))
				return false;
		}
	for (waiter = pool->queue.next; waiter != &pool->queue; waiter = waiter->next) {
		if (waiter->next->prev != waiter || ++waiting > pool->waiting)
			return false;
		if (waiter->pages == 0 || waiter->pages > pool->half)
			return false;
	}
	return waiting == pool->waiting;
}
