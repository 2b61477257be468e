/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Directed cases of the pool, and the bound on node visits; pool_random_test.c has the model. */
#include "core/pool_fixture.h"

#include "core/pool_types.h"

static bool asserts_expected;

void wic_assert_failed(const char *condition, const char *file, int line)
{
	if (asserts_expected)
		return;
	fprintf(stderr, "%s:%d: assertion: %s\n", file, line, condition);
	abort();
}

/* --- directed ---------------------------------------------------------------- */

static void init_bad_params(void)
{
	static const struct wic_pool_params bad[] = {
		{ 0, 1 }, { 1, 1 }, { 3, 1 }, { 2, 0 }, { 2, 2 }, { WIC_POOL_PAGES_MAX + 2, 1 },
	};
	const struct wic_pool_params good = { 2, 1 };
	size_t bytes = wic_pool_bytes(&good);
	char *mem = aligned_alloc(16, (bytes + 31) & ~(size_t)15);
	struct wic_pool *pool = NULL;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		TEST_EQ(wic_pool_bytes(&bad[i]), 0);
		TEST_EQ(wic_pool_init(mem, 1u << 20, &bad[i], &pool), -EINVAL);
	}
	TEST_EQ(wic_pool_bytes(NULL), 0);
	TEST_EQ(wic_pool_init(NULL, bytes, &good, &pool), -EINVAL);
	TEST_EQ(wic_pool_init(mem, bytes - 1, &good, &pool), -EINVAL);
	TEST_EQ(wic_pool_init(mem + 8, bytes, &good, &pool), -EINVAL);
	TEST_EQ(wic_pool_init(mem, bytes, &good, NULL), -EINVAL);
	TEST_TRUE(pool == NULL);
	TEST_EQ(wic_pool_init(mem, bytes, &good, &pool), 0);
	free(mem);
}

static void take_partner_is_refused(void)
{
	struct wic_run run;
	struct wic_run back;
	void *mem;
	struct wic_pool *pool = pool_make(2, 1, &mem);

	TEST_EQ(wic_pool_take(pool, 1, &run), 0);
	TEST_EQ(wic_pool_page_state(pool, !run.first), WIC_PAGE_CLOSED);
	TEST_EQ(wic_pool_take(pool, 1, &back), -EAGAIN); /* the partner is CLOSED, but not free */
	TEST_EQ(wic_pool_give(pool, run), 0);
	TEST_EQ(wic_pool_take(pool, 1, &back), 0); /* now it is */
	TEST_EQ(back.first, !run.first);
	TEST_TRUE(wic_pool_close_next(pool, &run)); /* and the first is closed beside it */
	TEST_EQ(run.first, !back.first);
	TEST_EQ(wic_pool_closed(pool, run), 0);
	TEST_EQ(wic_pool_take(pool, 1, &run), -EAGAIN);
	free(mem);
}

static void take_all_usable(void)
{
	struct wic_run run;
	void *mem;
	struct wic_pool *pool = pool_make(500, 1, &mem);

	TEST_EQ(wic_pool_take(pool, 251, &run), -E2BIG);
	TEST_EQ(wic_pool_take(pool, 0, &run), -EINVAL);
	TEST_EQ(wic_pool_take(pool, 250, &run), 0);
	TEST_EQ(wic_pool_held(pool), 250);
	TEST_EQ(wic_pool_take(pool, 1, &run), -EAGAIN);
	free(mem);
}

static void give_changes_nothing_on_error(void)
{
	struct wic_run run;
	void *mem;
	struct wic_pool *pool = pool_make(16, 1, &mem);

	TEST_EQ(wic_pool_take(pool, 4, &run), 0);
	TEST_EQ(run.first, 0);
	TEST_EQ(wic_pool_give(pool, (struct wic_run){ 2, 3 }), -EINVAL);
	TEST_EQ(wic_pool_give(pool, (struct wic_run){ 0, 0 }), -EINVAL);
	TEST_EQ(wic_pool_give(pool, (struct wic_run){ 16, 1 }), -EINVAL);
	TEST_EQ(wic_pool_give(pool, (struct wic_run){ 7, 2 }), -EINVAL);
	TEST_EQ(wic_pool_give(pool, (struct wic_run){ 1, UINT32_MAX }), -EINVAL);
	TEST_EQ(wic_pool_held(pool), 4);
	TEST_EQ(wic_pool_closed(pool, run), -EINVAL);
	TEST_EQ(wic_pool_give(pool, (struct wic_run){ 1, 2 }), 0); /* a part of it */
	TEST_EQ(wic_pool_page_state(pool, 0), WIC_PAGE_HELD);
	TEST_EQ(wic_pool_page_state(pool, 1), WIC_PAGE_DIRTY);
	TEST_EQ(wic_pool_page_state(pool, 3), WIC_PAGE_HELD);
	TEST_EQ(wic_pool_closed(pool, (struct wic_run){ 1, 2 }), -EINVAL); /* not CLOSING */
	TEST_TRUE(wic_pool_is_consistent(pool));
	free(mem);
}

static void run_never_crosses_sides(void)
{
	struct wic_run run[8];
	void *mem;
	struct wic_pool *pool = pool_make(16, 1, &mem);
	int i;

	for (i = 0; i < 8; i++)
		TEST_EQ(wic_pool_take(pool, 1, &run[i]), 0);
	for (i = 0; i < 8; i++)
		TEST_EQ(run[i].first, i);
	TEST_EQ(wic_pool_give(pool, (struct wic_run){ 6, 2 }), 0);
	/* Pages 6', 7' are free; 6, 7 are DIRTY.  No run of 3 over the edge. */
	TEST_EQ(wic_pool_take(pool, 3, &run[0]), -EAGAIN);
	TEST_EQ(wic_pool_take(pool, 2, &run[0]), 0);
	TEST_EQ(run[0].first, 14);
	free(mem);
}

static void close_next_by_batch(void)
{
	struct wic_pool_waiter waiter;
	struct wic_run run;
	void *mem;
	struct wic_pool *pool = pool_make(256, 64, &mem);
	uint32_t i;

	for (i = 0; i < 100; i++)
		TEST_EQ(wic_pool_take(pool, 1, &run), 0);
	for (i = 0; i < 100; i++) { /* in a scrambled order */
		struct wic_run one = { i * 37 % 100, 1 };

		if (i < 63)
			TEST_TRUE(!wic_pool_close_next(pool, &run));
		TEST_EQ(wic_pool_give(pool, one), 0);
	}
	TEST_TRUE(wic_pool_close_next(pool, &run));
	TEST_EQ(run.first, 0);
	TEST_EQ(run.count, 100); /* neighbours went together */
	TEST_TRUE(!wic_pool_close_next(pool, &run));
	TEST_EQ(wic_pool_take(pool, 3, &run), 0);
	TEST_EQ(wic_pool_give(pool, run), 0);
	TEST_TRUE(!wic_pool_close_next(pool, &run));
	TEST_EQ(wic_pool_wait(pool, &waiter, 128), 0);
	TEST_TRUE(wic_pool_close_next(pool, &run)); /* somebody waits: any run */
	TEST_EQ(run.count, 3);
	free(mem);
}

static void close_next_after_refused_take(void)
{
	struct wic_run run;
	void *mem;
	struct wic_pool *pool = pool_make(4, 2, &mem);

	TEST_EQ(wic_pool_take(pool, 1, &run), 0);
	TEST_EQ(wic_pool_give(pool, run), 0); /* 0: DIRTY */
	TEST_TRUE(!wic_pool_close_next(pool, &run));
	TEST_EQ(wic_pool_take(pool, 2, &run), 0); /* the other side */
	TEST_EQ(run.first, 2);
	TEST_EQ(wic_pool_give(pool, (struct wic_run){ 2, 1 }), 0); /* 2: DIRTY, 3: HELD */
	TEST_EQ(wic_pool_take(pool, 1, &run), -EAGAIN);
	TEST_TRUE(wic_pool_close_next(pool, &run));
	TEST_TRUE(wic_pool_close_next(pool, &run));
	TEST_TRUE(!wic_pool_close_next(pool, &run)); /* dry */
	free(mem);
}

static void wait_in_order(void)
{
	struct wic_pool_waiter w[3];
	struct wic_run run;
	struct wic_run none;
	void *mem;
	struct wic_pool *pool = pool_make(8, 1, &mem);

	TEST_EQ(wic_pool_take(pool, 3, &run), 0);
	TEST_EQ(wic_pool_wait(pool, &w[0], 2), 0);
	TEST_EQ(wic_pool_wait(pool, &w[1], 1), 0);
	TEST_EQ(wic_pool_wait(pool, &w[2], 5), -E2BIG);
	TEST_EQ(wic_pool_wait(pool, &w[2], 0), -EINVAL);
	TEST_EQ(wic_pool_wait(pool, &w[2], 1), 0);
	TEST_EQ(wic_pool_take(pool, 1, &none), -EAGAIN); /* fits, but others wait */
	TEST_TRUE(wic_pool_serve(pool) == NULL); /* the second would fit; the first is first */
	TEST_EQ(wic_pool_leave(pool, &w[1]), 0);
	TEST_EQ(wic_pool_leave(pool, &w[1]), -EINVAL);
	TEST_EQ(wic_pool_waiting(pool), 2);
	TEST_EQ(wic_pool_give(pool, run), 0);
	TEST_TRUE(wic_pool_serve(pool) == &w[0]);
	TEST_EQ(w[0].run.count, 2);
	TEST_EQ(wic_pool_leave(pool, &w[0]), -EINVAL); /* served meanwhile */
	TEST_TRUE(wic_pool_serve(pool) == &w[2]);
	TEST_TRUE(wic_pool_serve(pool) == NULL);
	TEST_EQ(wic_pool_held(pool), 3);
	TEST_TRUE(wic_pool_is_consistent(pool));
	free(mem);
}

/*
 * The edge of what is free lies under a node that owes its children: side 1 is closed up
 * to page 150 when all of side 0, and so all partners, come back at once.
 */
static void take_looks_under_owed_nodes(void)
{
	struct wic_run all;
	struct wic_run run;
	void *mem;
	struct wic_pool *pool = pool_make(1024, 1, &mem);

	TEST_EQ(wic_pool_take(pool, 512, &all), 0);
	TEST_EQ(wic_pool_give(pool, all), 0);
	TEST_EQ(wic_pool_take(pool, 150, &run), 0);
	TEST_EQ(run.first, 512);
	TEST_EQ(wic_pool_give(pool, run), 0);
	TEST_TRUE(wic_pool_close_next(pool, &run)); /* the longest first */
	TEST_EQ(run.count, 512);
	TEST_EQ(wic_pool_closed(pool, run), 0);
	TEST_EQ(wic_pool_take(pool, 512, &all), 0);
	TEST_EQ(all.first, 0);
	TEST_TRUE(wic_pool_close_next(pool, &run));
	TEST_EQ(run.count, 150);
	TEST_EQ(wic_pool_give(pool, all), 0);
	TEST_EQ(wic_pool_take(pool, 1, &run), 0);
	TEST_EQ(run.first, 512 + 150);
	TEST_TRUE(wic_pool_is_consistent(pool));
	free(mem);
}

/* close_batch 1, one page at a time: the paper's P, P', P ... with no page left behind. */
static void alternation(void)
{
	struct wic_run run;
	struct wic_run close;
	void *mem;
	struct wic_pool *pool = pool_make(2, 1, &mem);
	uint32_t i;

	for (i = 0; i < 100; i++) {
		TEST_EQ(wic_pool_take(pool, 1, &run), 0);
		TEST_EQ(run.first, i % 2);
		if (i) {
			TEST_TRUE(wic_pool_close_next(pool, &close));
			TEST_EQ(close.first, !run.first);
			TEST_EQ(wic_pool_closed(pool, close), 0);
		}
		TEST_EQ(wic_pool_give(pool, run), 0);
	}
	free(mem);
}

static void dead_answers_eio(void)
{
	struct wic_pool_waiter waiter = { 0 };
	struct wic_run run;
	void *mem;
	struct wic_pool *pool = pool_make(8, 1, &mem);

	TEST_EQ(wic_pool_take(pool, 2, &run), 0);
	pool->held_pages = 1; /* a stray write */
	TEST_TRUE(!wic_pool_is_consistent(pool));
	asserts_expected = true;
	TEST_EQ(wic_pool_give(pool, run), -EIO);
	asserts_expected = false;
	TEST_EQ(wic_pool_take(pool, 1, &run), -EIO);
	TEST_EQ(wic_pool_give(pool, run), -EIO);
	TEST_EQ(wic_pool_closed(pool, run), -EIO);
	TEST_EQ(wic_pool_wait(pool, &waiter, 1), -EIO);
	TEST_EQ(wic_pool_leave(pool, &waiter), -EIO);
	TEST_TRUE(!wic_pool_close_next(pool, &run));
	TEST_TRUE(wic_pool_serve(pool) == NULL);
	free(mem);
}

/* --- cost -------------------------------------------------------------------- */

static uint64_t visits_of(struct wic_pool *pool, uint64_t *last)
{
	uint64_t spent = wic_pool_visits(pool) - *last;

	*last += spent;
	return spent;
}

/* Every call on runs of every shape: at most 4 log2(pages) nodes. */
static void visits_one(uint32_t log2_pages)
{
	uint32_t half = 1u << (log2_pages - 1);
	void *mem;
	struct wic_pool *pool = pool_make(2 * half, 1, &mem);
	uint64_t bound = 4 * log2_pages;
	uint64_t rng = log2_pages;
	uint64_t last = 0;
	uint64_t worst = 0;
	uint32_t i;

	for (i = 0; i < 300; i++) {
		uint32_t start = (uint32_t)(test_random(&rng) >> 32) % half;
		uint32_t count = 1 + (uint32_t)(test_random(&rng) >> 32) % (half - start);
		struct wic_run run;
		struct wic_run part;
		uint64_t spent[4];
		uint32_t k;

		if (i == 0 && half > 2) { /* both ends inside words, all levels between */
			start = 1;
			count = half - 2;
		}
		TEST_EQ(wic_pool_take(pool, i % 2 ? count : half, &run), 0);
		spent[0] = visits_of(pool, &last);
		part = i % 2 ? run : (struct wic_run){ run.first + start, count };
		TEST_EQ(wic_pool_give(pool, part), 0);
		spent[1] = visits_of(pool, &last);
		TEST_TRUE(wic_pool_close_next(pool, &part));
		spent[2] = visits_of(pool, &last);
		TEST_EQ(wic_pool_closed(pool, part), 0);
		spent[3] = visits_of(pool, &last);
		for (k = 0; k < 4; k++) {
			TEST_TRUE(spent[k] >= 1);
			TEST_TRUE(spent[k] <= bound);
			worst = spent[k] > worst ? spent[k] : worst;
		}
		for (k = 0; k < 2 && i % 2 == 0; k++) { /* what is still held, if any */
			part.first = run.first + (k ? start + count : 0);
			part.count = k ? half - start - count : start;
			if (part.count)
				TEST_EQ(wic_pool_give(pool, part), 0);
		}
		while (wic_pool_close_next(pool, &part))
			TEST_EQ(wic_pool_closed(pool, part), 0);
		last = wic_pool_visits(pool);
	}
	TEST_EQ(wic_pool_held(pool), 0);
	printf("     2^%u pages: worst %d of %d\n", log2_pages, (int)worst, (int)bound);
	free(mem);
}

static void visits_bound(void)
{
	uint32_t log2_pages;

	for (log2_pages = 1; log2_pages <= 20; log2_pages++)
		visits_one(log2_pages);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(init_bad_params),
		TEST(take_partner_is_refused),
		TEST(take_all_usable),
		TEST(give_changes_nothing_on_error),
		TEST(run_never_crosses_sides),
		TEST(close_next_by_batch),
		TEST(close_next_after_refused_take),
		TEST(wait_in_order),
		TEST(take_looks_under_owed_nodes),
		TEST(alternation),
		TEST(dead_answers_eio),
		TEST(visits_bound),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
