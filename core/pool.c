/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The PCM pool; pool_types.h says what is kept and why every call is O(log n). */
#include "core/pool_types.h"

/* --- words ------------------------------------------------------------------- */

static uint32_t word_count(uint64_t w)
{
	w -= (w >> 1) & 0x5555555555555555ull;
	w = (w & 0x3333333333333333ull) + ((w >> 2) & 0x3333333333333333ull);
	w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (uint32_t)((w * 0x0101010101010101ull) >> 56);
}

/* Length of the longest run of ones: runs of 1, 2, 4 ... exist, then add them up. */
static uint32_t word_longest(uint64_t w)
{
	uint64_t runs[7]; /* [i]: where 2^i ones in a row begin */
	uint64_t begin;
	uint32_t top = 0;
	uint32_t length;

	if (w == 0)
		return 0;
	runs[0] = w;
	while (top < 6) {
		uint64_t twice = runs[top] & (runs[top] >> (1u << top));

		if (twice == 0)
			break;
		runs[++top] = twice;
	}
	if (top == 6)
		return WORD_PAGES;
	begin = runs[top];
	length = 1u << top;
	while (top > 0) {
		uint64_t longer;

		top--;
		longer = begin & (runs[top] >> length);
		if (longer) {
			begin = longer;
			length += 1u << top;
		}
	}
	return length;
}

/* Where @pages ones in a row begin, the lowest; there must be one. */
static uint32_t word_find(uint64_t w, uint32_t pages)
{
	uint32_t have = 1;

	while (have < pages) {
		uint32_t more = pages - have < have ? pages - have : have;

		w &= w >> more;
		have += more;
	}
	return w ? WIC_CORE_CTZ64(w) : 0;
}

static struct pool_sum word_sum(uint64_t w)
{
	struct pool_sum sum;

	sum.pages = word_count(w);
	sum.longest = word_longest(w);
	sum.left = ~w ? WIC_CORE_CTZ64(~w) : WORD_PAGES;
	sum.right = ~w ? WIC_CORE_CLZ64(~w) : WORD_PAGES;
	return sum;
}

static void bits_assign(uint64_t *words, uint32_t start, uint32_t end, bool one)
{
	uint32_t i;

	for (i = start / WORD_PAGES; i * WORD_PAGES < end; i++) {
		uint64_t mask = word_mask(i, start, end);

		words[i] = one ? words[i] | mask : words[i] & ~mask;
	}
}

static bool bits_are(const uint64_t *words, uint32_t start, uint32_t end, bool one)
{
	uint32_t i;

	for (i = start / WORD_PAGES; i * WORD_PAGES < end; i++)
		if ((one ? ~words[i] : words[i]) & word_mask(i, start, end))
			return false;
	return true;
}

/* End of the run of ones that begins at @start. */
static uint32_t bits_run_end(const uint64_t *words, uint32_t start, uint32_t limit)
{
	uint32_t i;

	for (i = start / WORD_PAGES; i * WORD_PAGES < limit; i++) {
		uint64_t zeros = ~words[i] & word_mask(i, start, limit);

		if (zeros)
			return i * WORD_PAGES + WIC_CORE_CTZ64(zeros);
	}
	return limit;
}

/* --- nodes ------------------------------------------------------------------- */

static struct pool_sum sum_join(const struct pool_sum *l, const struct pool_sum *r,
				uint32_t child_pages)
{
	struct pool_sum sum;

	sum.pages = l->pages + r->pages;
	sum.longest = l->right + r->left;
	if (sum.longest < l->longest)
		sum.longest = l->longest;
	if (sum.longest < r->longest)
		sum.longest = r->longest;
	sum.left = l->left == child_pages ? child_pages + r->left : l->left;
	sum.right = r->right == child_pages ? child_pages + l->right : r->right;
	return sum;
}

/* The rows of each side that have to be looked at again, a bit each. */
struct rows {
	uint32_t of[2];
};

static struct rows rows_of(const struct pool_assign *a)
{
	struct rows rows;
	uint32_t side;

	for (side = 0; side < 2; side++) {
		rows.of[side] = (uint32_t)a->ones[side] | a->zeros[side];
		if (rows.of[side] & (BIT_CLOSED | BIT_CLEAR))
			rows.of[side] |= BIT_FREE;
	}
	return rows;
}

/* The rows of a leaf again from its words. */
static void leaf_sum_up(struct wic_pool *pool, uint32_t i, const struct rows *all)
{
	struct pool_node *node = &pool->nodes[pool->words + i];
	const struct pool_assign none = { { 0, 0 }, { 0, 0 } };
	uint32_t side;

	node->owed = none;
	for (side = 0; side < 2; side++) {
		uint32_t rows = all->of[side];

		for (; rows; rows &= rows - 1) {
			uint32_t row = WIC_CORE_CTZ64((uint64_t)rows);

			node->sum[side][row] =
				word_sum(row_word(pool, side, (enum pool_row)row, i));
		}
	}
}

/*
 * A node again from its children, in the rows of @all.  Of rows outside @moved only the
 * count of pages is new in the children.  Returns the rows whose runs changed here.
 */
static struct rows node_sum_up(struct wic_pool *pool, uint32_t n, uint32_t child_pages,
			       const struct rows *all, const struct rows *moved)
{
	struct pool_node *node = &pool->nodes[n];
	const struct pool_node *l = &pool->nodes[2 * n];
	const struct pool_node *r = &pool->nodes[2 * n + 1];
	struct rows changed = { { 0, 0 } };
	uint32_t side;

	for (side = 0; side < 2; side++) {
		uint32_t rows = all->of[side];

		for (; rows; rows &= rows - 1) {
			uint32_t row = WIC_CORE_CTZ64((uint64_t)rows);
			struct pool_sum *sum = &node->sum[side][row];
			const struct pool_sum *ls = &l->sum[side][row];
			const struct pool_sum *rs = &r->sum[side][row];
			struct pool_sum old = *sum;

			if (!(moved->of[side] & (1u << row))) {
				sum->pages = ls->pages + rs->pages;
				continue;
			}
			*sum = sum_join(ls, rs, child_pages);
			if (old.longest != sum->longest || old.left != sum->left ||
			    old.right != sum->right)
				changed.of[side] |= 1u << row;
		}
	}
	return changed;
}

/* @a over all @pages pages of the node. */
static void node_assign(struct pool_node *node, uint32_t pages, const struct pool_assign *a)
{
	const struct pool_sum all = { pages, pages, pages, pages };
	const struct pool_sum nothing = { 0, 0, 0, 0 };
	uint32_t side;
	uint32_t row;

	for (side = 0; side < 2; side++) {
		uint8_t ones = a->ones[side];
		uint8_t zeros = a->zeros[side];
		struct pool_sum *sum = node->sum[side];

		for (row = 0; row < ROW_FREE; row++) {
			if (ones & (1u << row))
				sum[row] = all;
			if (zeros & (1u << row))
				sum[row] = nothing;
		}
		if (zeros & (BIT_CLOSED | BIT_CLEAR))
			sum[ROW_FREE] = nothing;
		else if (ones & BIT_CLOSED)
			sum[ROW_FREE] = sum[ROW_CLEAR];
		else if (ones & BIT_CLEAR)
			sum[ROW_FREE] = sum[ROW_CLOSED];
		node->owed.ones[side] = (uint8_t)((node->owed.ones[side] & ~zeros) | ones);
		node->owed.zeros[side] = (uint8_t)((node->owed.zeros[side] & ~ones) | zeros);
	}
}

/* Pay the children what is owed, so that they may be looked at. */
static void node_push(struct wic_pool *pool, uint32_t n, uint32_t child_pages)
{
	struct pool_assign *owed = &pool->nodes[n].owed;
	const struct pool_assign none = { { 0, 0 }, { 0, 0 } };

	if (!(owed->ones[0] | owed->ones[1] | owed->zeros[0] | owed->zeros[1]))
		return;
	node_assign(&pool->nodes[2 * n], child_pages, owed);
	node_assign(&pool->nodes[2 * n + 1], child_pages, owed);
	*owed = none;
}

/* Push along the ways from the root to two leaves; each node once. */
static void tree_open(struct wic_pool *pool, uint32_t leaf_l, uint32_t leaf_r)
{
	uint32_t child_pages = pool->words * WORD_PAGES / 2;
	uint32_t shift = 63 - WIC_CORE_CLZ64((uint64_t)pool->words);

	for (; shift > 0; shift--, child_pages /= 2) {
		uint32_t l = leaf_l >> shift;
		uint32_t r = leaf_r >> shift;

		node_push(pool, l, child_pages);
		pool->visits++;
		if (l != r) {
			node_push(pool, r, child_pages);
			pool->visits++;
		}
	}
}

/*
 * @a over the pages [start, end) of a side; the words have it already.  The two
 * leaves at the ends are summed up again from their words; between the two ways up
 * from them hang the nodes that lie wholly inside.
 */
static void tree_assign(struct wic_pool *pool, uint32_t start, uint32_t end,
			const struct pool_assign *a)
{
	const struct rows all = rows_of(a);
	struct rows moved = all;
	uint32_t l = pool->words + start / WORD_PAGES;
	uint32_t r = pool->words + (end - 1) / WORD_PAGES;
	uint32_t pages = WORD_PAGES;

	tree_open(pool, l, r);
	leaf_sum_up(pool, l - pool->words, &all);
	pool->visits++;
	if (l != r) {
		leaf_sum_up(pool, r - pool->words, &all);
		pool->visits++;
	}
	for (; l / 2 != r / 2; l /= 2, r /= 2, pages *= 2) {
		if (l % 2 == 0 && l + 1 != r) {
			node_assign(&pool->nodes[l + 1], pages, a);
			pool->visits++;
		}
		if (r % 2 == 1 && l + 1 != r) {
			node_assign(&pool->nodes[r - 1], pages, a);
			pool->visits++;
		}
		node_sum_up(pool, l / 2, pages, &all, &all);
		node_sum_up(pool, r / 2, pages, &all, &all);
	}
	/* One way up from here: where a row's runs stay what they were, they stay so above. */
	for (; l > 1; l /= 2, pages *= 2)
		moved = node_sum_up(pool, l / 2, pages, &all, &moved);
}

/* First page of the leftmost run of @pages ones; the root says that there is one. */
static uint32_t tree_find(struct wic_pool *pool, uint32_t side, enum pool_row row, uint32_t pages)
{
	uint32_t child_pages = pool->words * WORD_PAGES / 2;
	uint32_t base = 0;
	uint32_t n = 1;

	for (; n < pool->words; child_pages /= 2) {
		const struct pool_sum *l = &pool->nodes[2 * n].sum[side][row];
		const struct pool_sum *r = &pool->nodes[2 * n + 1].sum[side][row];

		node_push(pool, n, child_pages);
		pool->visits++;
		if (l->longest >= pages) {
			n = 2 * n;
			continue;
		}
		if (l->right + r->left >= pages)
			return base + child_pages - l->right;
		base += child_pages;
		n = 2 * n + 1;
	}
	pool->visits++;
	return base + word_find(row_word(pool, side, row, n - pool->words), pages);
}

/* --- init -------------------------------------------------------------------- */

static bool params_are_valid(const struct wic_pool_params *p)
{
	return p && p->pages >= 2 && p->pages <= WIC_POOL_PAGES_MAX && p->pages % 2 == 0 &&
	       p->close_batch >= 1 && p->close_batch <= p->pages / 2;
}

static uint32_t params_words(const struct wic_pool_params *p)
{
	uint32_t words = 1;

	while (words * WORD_PAGES < p->pages / 2)
		words *= 2;
	return words;
}

static size_t round_16(size_t bytes)
{
	return (bytes + 15) & ~(size_t)15;
}

size_t wic_pool_bytes(const struct wic_pool_params *p)
{
	size_t words;

	if (!params_are_valid(p))
		return 0;
	words = params_words(p);
	return round_16(sizeof(struct wic_pool)) + round_16(2 * words * sizeof(struct pool_node)) +
	       6 * words * sizeof(uint64_t);
}

static void pool_fill(struct wic_pool *pool)
{
	const uint32_t every = BIT_CLOSED | BIT_CLEAR | BIT_DIRTY | BIT_FREE;
	const struct rows all = { { every, every } };
	const uint8_t rows = BIT_CLOSED | BIT_CLEAR | BIT_DIRTY;
	const struct pool_assign clear = { { 0, 0 }, { rows, rows } };
	const struct pool_assign none = { { 0, 0 }, { 0, 0 } };
	uint32_t pages = WORD_PAGES;
	uint32_t level;
	uint32_t i;

	for (i = 0; i < pool->words; i++) {
		uint64_t inside = i * WORD_PAGES < pool->half ? word_mask(i, 0, pool->half) : 0;

		pool->closed[0][i] = pool->closed[1][i] = inside;
		pool->held[0][i] = pool->held[1][i] = ~inside; /* padding is never free */
		pool->dirty[0][i] = pool->dirty[1][i] = 0;
	}
	for (i = 0; i < 2 * pool->words; i++) {
		pool->nodes[i].owed = none;
		/* node_sum_up() compares with what was there. */
		node_assign(&pool->nodes[i], 0, &clear);
		pool->nodes[i].owed = none;
	}
	for (i = 0; i < pool->words; i++)
		leaf_sum_up(pool, i, &all);
	for (level = pool->words / 2; level >= 1; level /= 2, pages *= 2)
		for (i = level; i < 2 * level; i++)
			node_sum_up(pool, i, pages, &all, &all);
}

int wic_pool_init(void *mem, size_t mem_bytes, const struct wic_pool_params *p,
		  struct wic_pool **pool_out)
{
	size_t bytes = wic_pool_bytes(p);
	struct wic_pool *pool = mem;
	uint64_t *words;
	uint32_t i;

	if (!bytes || !mem || !pool_out || (uintptr_t)mem % 16 || mem_bytes < bytes)
		return -EINVAL;
	pool->words = params_words(p);
	pool->half = p->pages / 2;
	pool->close_batch = p->close_batch;
	pool->visits = 0;
	pool->held_pages = 0;
	pool->waiting = 0;
	pool->side = 0;
	pool->refused = false;
	pool->dead = false;
	pool->queue.prev = pool->queue.next = &pool->queue;
	pool->queue.pages = 0;
	pool->nodes = (void *)((char *)mem + round_16(sizeof(*pool)));
	words = (void *)((char *)pool->nodes +
			 round_16(2 * (size_t)pool->words * sizeof(struct pool_node)));
	for (i = 0; i < 2; i++) {
		pool->closed[i] = words + (size_t)i * pool->words;
		pool->held[i] = words + (size_t)(2 + i) * pool->words;
		pool->dirty[i] = words + (size_t)(4 + i) * pool->words;
	}
	pool_fill(pool);
	*pool_out = pool;
	return 0;
}

/* --- take, give, close ------------------------------------------------------- */

/* A run within one side, or false.  [start, end) counts from the side's begin. */
static bool run_place(const struct wic_pool *pool, struct wic_run run, uint32_t *side,
		      uint32_t *start)
{
	uint32_t first = run.first;

	if (first >= 2 * pool->half || run.count == 0)
		return false;
	*side = first >= pool->half;
	*start = first - (*side ? pool->half : 0);
	return run.count <= pool->half - *start;
}

static const struct pool_sum *root_sum(const struct wic_pool *pool, uint32_t side,
				       enum pool_row row)
{
	return &pool->nodes[1].sum[side][row];
}

/*
 * Leftmost fit on one side for as long as it lasts: what is given back there lies
 * side by side, and the other side stays whole meanwhile.
 */
static bool run_take(struct wic_pool *pool, uint32_t pages, struct wic_run *run_out)
{
	struct pool_assign a = { { 0, 0 }, { 0, 0 } };
	uint32_t side = pool->side;
	uint32_t start;

	if (root_sum(pool, side, ROW_FREE)->longest < pages)
		side = !side;
	if (root_sum(pool, side, ROW_FREE)->longest < pages)
		return false;
	start = tree_find(pool, side, ROW_FREE, pages);
	POOL_ASSERT(pool, start + pages <= pool->half);
	POOL_ASSERT(pool, bits_are(pool->closed[side], start, start + pages, true));
	POOL_ASSERT(pool, bits_are(pool->held[!side], start, start + pages, false));
	if (pool->dead)
		return false;
	bits_assign(pool->closed[side], start, start + pages, false);
	bits_assign(pool->held[side], start, start + pages, true);
	a.zeros[side] = BIT_CLOSED;
	a.zeros[!side] = BIT_CLEAR;
	tree_assign(pool, start, start + pages, &a);
	pool->side = side;
	pool->held_pages += pages;
	pool->refused = false;
	run_out->first = start + (side ? pool->half : 0);
	run_out->count = pages;
	return true;
}

/* What take and wait refuse for good. */
static int pages_check(const struct wic_pool *pool, uint32_t pages)
{
	if (WIC_CORE_UNLIKELY(pool->dead))
		return -EIO;
	if (pages == 0)
		return -EINVAL;
	if (pages > pool->half)
		return -E2BIG;
	return 0;
}

int wic_pool_take(struct wic_pool *pool, uint32_t pages, struct wic_run *run_out)
{
	int rc = pages_check(pool, pages);

	if (rc)
		return rc;
	if (pool->waiting)
		return -EAGAIN;
	if (!run_take(pool, pages, run_out)) {
		pool->refused = true;
		return pool->dead ? -EIO : -EAGAIN;
	}
	return 0;
}

int wic_pool_give(struct wic_pool *pool, struct wic_run run)
{
	struct pool_assign a = { { 0, 0 }, { 0, 0 } };
	uint32_t side;
	uint32_t start;
	uint32_t end;

	if (WIC_CORE_UNLIKELY(pool->dead))
		return -EIO;
	if (!run_place(pool, run, &side, &start))
		return -EINVAL;
	end = start + run.count;
	if (!bits_are(pool->held[side], start, end, true))
		return -EINVAL;
	POOL_ASSERT(pool, pool->held_pages >= run.count);
	POOL_ASSERT(pool, bits_are(pool->dirty[side], start, end, false));
	if (pool->dead)
		return -EIO;
	bits_assign(pool->held[side], start, end, false);
	bits_assign(pool->dirty[side], start, end, true);
	a.ones[side] = BIT_DIRTY;
	a.ones[!side] = BIT_CLEAR;
	tree_assign(pool, start, end, &a);
	pool->held_pages -= run.count;
	return 0;
}

bool wic_pool_close_next(struct wic_pool *pool, struct wic_run *run_out)
{
	struct pool_assign a = { { 0, 0 }, { 0, 0 } };
	uint32_t longest[2] = { root_sum(pool, 0, ROW_DIRTY)->longest,
				root_sum(pool, 1, ROW_DIRTY)->longest };
	uint32_t side = longest[1] > longest[0];
	uint32_t pages = pool->close_batch;
	uint32_t start;
	uint32_t end;

	if (pool->dead)
		return false;
	if (longest[side] < pages && (pool->waiting || pool->refused))
		pages = 1;
	if (longest[side] < pages) {
		pool->refused = false;
		return false;
	}
	start = tree_find(pool, side, ROW_DIRTY, pages);
	end = bits_run_end(pool->dirty[side], start, pool->half);
	POOL_ASSERT(pool, end >= start + pages);
	if (pool->dead)
		return false;
	bits_assign(pool->dirty[side], start, end, false);
	a.zeros[side] = BIT_DIRTY;
	tree_assign(pool, start, end, &a);
	run_out->first = start + (side ? pool->half : 0);
	run_out->count = end - start;
	return true;
}

int wic_pool_closed(struct wic_pool *pool, struct wic_run run)
{
	struct pool_assign a = { { 0, 0 }, { 0, 0 } };
	uint32_t side;
	uint32_t start;
	uint32_t end;

	if (WIC_CORE_UNLIKELY(pool->dead))
		return -EIO;
	if (!run_place(pool, run, &side, &start))
		return -EINVAL;
	end = start + run.count;
	if (!bits_are(pool->closed[side], start, end, false) ||
	    !bits_are(pool->held[side], start, end, false) ||
	    !bits_are(pool->dirty[side], start, end, false))
		return -EINVAL;
	bits_assign(pool->closed[side], start, end, true);
	a.ones[side] = BIT_CLOSED;
	tree_assign(pool, start, end, &a);
	return 0;
}

/* --- the FIFO ---------------------------------------------------------------- */

static void waiter_unlink(struct wic_pool *pool, struct wic_pool_waiter *waiter)
{
	POOL_ASSERT(pool, pool->waiting > 0);
	waiter->prev->next = waiter->next;
	waiter->next->prev = waiter->prev;
	waiter->prev = waiter->next = NULL;
	pool->waiting--;
}

int wic_pool_wait(struct wic_pool *pool, struct wic_pool_waiter *waiter, uint32_t pages)
{
	int rc = pages_check(pool, pages);

	if (rc)
		return rc;
	waiter->pages = pages;
	waiter->run.first = WIC_PAGE_NONE;
	waiter->run.count = 0;
	waiter->prev = pool->queue.prev;
	waiter->next = &pool->queue;
	waiter->prev->next = waiter;
	pool->queue.prev = waiter;
	pool->waiting++;
	return 0;
}

int wic_pool_leave(struct wic_pool *pool, struct wic_pool_waiter *waiter)
{
	if (WIC_CORE_UNLIKELY(pool->dead))
		return -EIO;
	if (!waiter->next)
		return -EINVAL;
	waiter_unlink(pool, waiter);
	return 0;
}

struct wic_pool_waiter *wic_pool_serve(struct wic_pool *pool)
{
	struct wic_pool_waiter *waiter = pool->queue.next;
	struct wic_run run;

	if (pool->dead || waiter == &pool->queue)
		return NULL;
	if (!run_take(pool, waiter->pages, &run))
		return NULL;
	waiter_unlink(pool, waiter);
	waiter->run = run;
	return waiter;
}

/* --- looking ----------------------------------------------------------------- */

uint32_t wic_pool_usable(const struct wic_pool *pool)
{
	return pool->half;
}

uint32_t wic_pool_held(const struct wic_pool *pool)
{
	return pool->held_pages;
}

uint32_t wic_pool_waiting(const struct wic_pool *pool)
{
	return pool->waiting;
}

uint64_t wic_pool_visits(const struct wic_pool *pool)
{
	return pool->visits;
}

enum wic_page_state wic_pool_page_state(const struct wic_pool *pool, uint32_t page)
{
	uint32_t side = page >= pool->half;
	uint32_t i;
	uint64_t bit;

	WIC_ASSERT(page < 2 * pool->half);
	if (page >= 2 * pool->half)
		return WIC_PAGE_CLOSING;
	page -= side ? pool->half : 0;
	i = page / WORD_PAGES;
	bit = 1ull << page % WORD_PAGES;
	if (pool->closed[side][i] & bit)
		return WIC_PAGE_CLOSED;
	if (pool->held[side][i] & bit)
		return WIC_PAGE_HELD;
	return pool->dirty[side][i] & bit ? WIC_PAGE_DIRTY : WIC_PAGE_CLOSING;
}
