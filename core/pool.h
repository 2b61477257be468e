/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The PCM pool: which pages are free, found as contiguous runs in O(log n).
 *
 * The pool has an even number of pages; pages p and p + half, of side 0
 * [0, half) and side 1 [half, 2 * half), are partners.  Only half
 * of the pages can be held at a time (the "usable" pages).
 *
 *	CLOSED --take--> HELD --give--> DIRTY --close_next--> CLOSING --closed--> CLOSED
 *
 * A page may be taken when it is CLOSED and its partner is not HELD.  So what is
 * being closed is never what a reader reads, and a reader's next data arrives on
 * the partner meanwhile.  A run never crosses from one side to the other.
 *
 * Each side has a segment tree over words of 64 pages; a node keeps {free pages, longest
 * free run, free run at the left edge, at the right edge}.  pool_types.h says how.
 *
 * Requests that find no run wait in the pool's own FIFO (intrusive nodes, owned by
 * the caller); while somebody waits, take() refuses, so that nobody is passed over.
 *
 * After a broken invariant (wic_assert_failed() returned) each call is -EIO, false or NULL.
 *
 * Locking: none; the caller's one lock a pool.  Memory: the caller's, sized by
 * wic_pool_bytes(); nothing is allocated later.
 */
#ifndef WIC_CORE_POOL_H
#define WIC_CORE_POOL_H

#include "core/dep.h"

#define WIC_PAGE_NONE 0xffffffffu
#define WIC_POOL_PAGES_MAX (1u << 21)

/* Pages [first, first + count). */
struct wic_run {
	uint32_t first;
	uint32_t count;
};

enum wic_page_state {
	WIC_PAGE_CLOSED,
	WIC_PAGE_HELD,
	WIC_PAGE_DIRTY,
	WIC_PAGE_CLOSING, /* DIRTY, its INVALIDATE is under way */
};

struct wic_pool_params {
	uint32_t pages;       /* partners included; even, 2 to WIC_POOL_PAGES_MAX */
	uint32_t close_batch; /* DIRTY pages in a row that are worth closing, 1 to pages / 2 */
};

/* A request in the FIFO; owned by the caller, linked while waiting. */
struct wic_pool_waiter {
	struct wic_pool_waiter *prev;
	struct wic_pool_waiter *next;
	uint32_t pages;     /* wanted; set by wic_pool_wait() */
	struct wic_run run; /* set by wic_pool_serve() */
};

struct wic_pool;

/* Bytes that wic_pool_init() needs; 0 when @p is out of range. */
size_t wic_pool_bytes(const struct wic_pool_params *p);
/* 0; -EINVAL: @p out of range, @mem NULL, misaligned (16) or too small. All pages are CLOSED. */
int wic_pool_init(void *mem, size_t mem_bytes, const struct wic_pool_params *p,
		  struct wic_pool **pool_out);

/* 0; -EAGAIN: no such run now, or others wait; -E2BIG: more than usable; -EINVAL: 0 pages. */
int wic_pool_take(struct wic_pool *pool, uint32_t pages, struct wic_run *run_out);
/* Any sub-run of what was taken.  0; -EINVAL: not all of it HELD (nothing changes). */
int wic_pool_give(struct wic_pool *pool, struct wic_run run);
/*
 * Next run to close: >= close_batch DIRTY pages in a row; any while somebody waits, or once
 * more after a take() that found none, so that who only tries gets his run at last.
 */
bool wic_pool_close_next(struct wic_pool *pool, struct wic_run *run_out);
/* The run, or a sub-run of it, was closed.  0; -EINVAL: not all CLOSING (nothing changes). */
int wic_pool_closed(struct wic_pool *pool, struct wic_run run);

/* Queue at the end; @waiter is not queued yet.  0; -E2BIG, -EINVAL as take. */
int wic_pool_wait(struct wic_pool *pool, struct wic_pool_waiter *waiter, uint32_t pages);
/* Leave the queue; @waiter was queued once.  0; -EINVAL: not in it (served meanwhile). */
int wic_pool_leave(struct wic_pool *pool, struct wic_pool_waiter *waiter);
/* The first in the queue if its run can be taken now: taken, unlinked, returned; else NULL. */
struct wic_pool_waiter *wic_pool_serve(struct wic_pool *pool);

uint32_t wic_pool_usable(const struct wic_pool *pool);
uint32_t wic_pool_held(const struct wic_pool *pool);
uint32_t wic_pool_waiting(const struct wic_pool *pool);
enum wic_page_state wic_pool_page_state(const struct wic_pool *pool, uint32_t page);
/* Nodes of the trees visited since init; for the cost test (<= 4 log2(pages) a call). */
uint64_t wic_pool_visits(const struct wic_pool *pool);
/* O(n): every invariant above.  For tests and debug. */
bool wic_pool_is_consistent(const struct wic_pool *pool);

#endif /* WIC_CORE_POOL_H */
