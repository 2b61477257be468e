/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The pool beside a naive model, an array of page states: every reachable state of
 * small pools, and seeded random calls, good and bad, on pools of all sizes.
 */
#include "core/pool_fixture.h"

#define PAGES_MAX 4096u
#define WAITERS_MAX 8u

/* One thread: TSan has nothing to find here, it only has to get through. */
#ifdef __SANITIZE_THREAD__
#define SEEDS_PART 10
#else
#define SEEDS_PART 1
#endif

void wic_assert_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s: assertion: %s\n", file, line, test_current, condition);
	abort();
}

/* --- the model --------------------------------------------------------------- */

struct model {
	uint32_t pages;
	uint32_t close_batch;
	uint8_t state[PAGES_MAX];
	uint32_t waiters[WAITERS_MAX]; /* index of the caller's waiters, in order */
	uint32_t wanted[WAITERS_MAX];
	uint32_t waiting;
	bool refused;
};

static bool model_all(const struct model *m, struct wic_run run, enum wic_page_state state)
{
	uint32_t half = m->pages / 2;
	uint32_t i;

	if (run.count == 0 || run.first >= m->pages || run.count > half)
		return false;
	if (run.first < half && run.first + run.count > half)
		return false;
	if (run.first + run.count > m->pages)
		return false;
	for (i = 0; i < run.count; i++)
		if (m->state[run.first + i] != state)
			return false;
	return true;
}

static void model_set(struct model *m, struct wic_run run, enum wic_page_state state)
{
	memset(m->state + run.first, state, run.count);
}

static bool model_is_free(const struct model *m, uint32_t page)
{
	uint32_t half = m->pages / 2;
	uint32_t partner = page < half ? page + half : page - half;

	return m->state[page] == WIC_PAGE_CLOSED && m->state[partner] != WIC_PAGE_HELD;
}

static bool model_run_is_free(const struct model *m, struct wic_run run)
{
	uint32_t i;

	if (!model_all(m, run, WIC_PAGE_CLOSED))
		return false;
	for (i = 0; i < run.count; i++)
		if (!model_is_free(m, run.first + i))
			return false;
	return true;
}

static bool model_fits(const struct model *m, uint32_t pages)
{
	uint32_t half = m->pages / 2;
	uint32_t row = 0;
	uint32_t i;

	for (i = 0; i < m->pages; i++) {
		row = i == half ? 0 : row;
		row = model_is_free(m, i) ? row + 1 : 0;
		if (row >= pages)
			return true;
	}
	return false;
}

/* No run of that length begins further left on the same side. */
static bool model_is_leftmost(const struct model *m, struct wic_run run)
{
	uint32_t half = m->pages / 2;
	struct wic_run left = { run.first < half ? 0 : half, run.count };

	for (; left.first < run.first; left.first++)
		if (model_run_is_free(m, left))
			return false;
	return true;
}

/* Longest run of DIRTY pages. */
static uint32_t model_dirty(const struct model *m)
{
	uint32_t half = m->pages / 2;
	uint32_t longest = 0;
	uint32_t row = 0;
	uint32_t i;

	for (i = 0; i < m->pages; i++) {
		row = i == half ? 0 : row;
		row = m->state[i] == WIC_PAGE_DIRTY ? row + 1 : 0;
		longest = row > longest ? row : longest;
	}
	return longest;
}

static void model_compare(const struct model *m, const struct wic_pool *pool)
{
	uint32_t held = 0;
	uint32_t i;

	for (i = 0; i < m->pages; i++) {
		TEST_EQ(wic_pool_page_state(pool, i), m->state[i]);
		held += m->state[i] == WIC_PAGE_HELD;
	}
	TEST_EQ(wic_pool_held(pool), held);
	TEST_EQ(wic_pool_waiting(pool), m->waiting);
	TEST_EQ(wic_pool_usable(pool), m->pages / 2);
	TEST_TRUE(wic_pool_is_consistent(pool));
}

/* --- each call, beside the model --------------------------------------------- */

static void both_take(struct model *m, struct wic_pool *pool, uint32_t pages)
{
	struct wic_run run = { 123, 456 };
	int rc = wic_pool_take(pool, pages, &run);

	if (pages == 0) {
		TEST_EQ(rc, -EINVAL);
	} else if (pages > m->pages / 2) {
		TEST_EQ(rc, -E2BIG);
	} else if (m->waiting) {
		TEST_EQ(rc, -EAGAIN);
	} else if (!model_fits(m, pages)) {
		TEST_EQ(rc, -EAGAIN);
		m->refused = true;
	} else {
		TEST_EQ(rc, 0);
		TEST_EQ(run.count, pages);
		TEST_TRUE(model_run_is_free(m, run));
		TEST_TRUE(model_is_leftmost(m, run));
		model_set(m, run, WIC_PAGE_HELD);
		m->refused = false;
		return;
	}
	TEST_EQ(run.first, 123); /* outputs only on success */
	TEST_EQ(run.count, 456);
}

static void both_give(struct model *m, struct wic_pool *pool, struct wic_run run)
{
	bool is_ok = model_all(m, run, WIC_PAGE_HELD);

	TEST_EQ(wic_pool_give(pool, run), is_ok ? 0 : -EINVAL);
	if (is_ok)
		model_set(m, run, WIC_PAGE_DIRTY);
}

static void both_close_next(struct model *m, struct wic_pool *pool)
{
	struct wic_run run = { 0, 0 };
	uint32_t longest = model_dirty(m);
	bool is_any = m->waiting || m->refused;
	bool is_some = wic_pool_close_next(pool, &run);
	uint32_t half = m->pages / 2;
	uint32_t end;

	TEST_EQ(is_some, longest >= m->close_batch || (is_any && longest > 0));
	if (!is_some) {
		m->refused = false;
		return;
	}
	TEST_TRUE(model_all(m, run, WIC_PAGE_DIRTY));
	if (longest >= m->close_batch)
		TEST_TRUE(run.count >= m->close_batch);
	/* As long as it can be: neighbours are closed together. */
	end = run.first + run.count;
	if (run.first % half)
		TEST_TRUE(m->state[run.first - 1] != WIC_PAGE_DIRTY);
	if (end % half)
		TEST_TRUE(m->state[end] != WIC_PAGE_DIRTY);
	model_set(m, run, WIC_PAGE_CLOSING);
}

static void both_closed(struct model *m, struct wic_pool *pool, struct wic_run run)
{
	bool is_ok = model_all(m, run, WIC_PAGE_CLOSING);

	TEST_EQ(wic_pool_closed(pool, run), is_ok ? 0 : -EINVAL);
	if (is_ok)
		model_set(m, run, WIC_PAGE_CLOSED);
}

static bool model_is_waiting(const struct model *m, uint32_t waiter)
{
	uint32_t i;

	for (i = 0; i < m->waiting; i++)
		if (m->waiters[i] == waiter)
			return true;
	return false;
}

static void model_unwait(struct model *m, uint32_t waiter)
{
	uint32_t k = 0;
	uint32_t i;

	for (i = 0; i < m->waiting; i++) {
		if (m->waiters[i] == waiter)
			continue;
		m->waiters[k] = m->waiters[i];
		m->wanted[k++] = m->wanted[i];
	}
	m->waiting = k;
}

static void both_wait(struct model *m, struct wic_pool *pool, struct wic_pool_waiter *waiters,
		      uint32_t waiter, uint32_t pages)
{
	int rc;

	if (model_is_waiting(m, waiter))
		return;
	rc = wic_pool_wait(pool, &waiters[waiter], pages);
	if (pages == 0 || pages > m->pages / 2) {
		TEST_EQ(rc, pages ? -E2BIG : -EINVAL);
		return;
	}
	TEST_EQ(rc, 0);
	m->waiters[m->waiting] = waiter;
	m->wanted[m->waiting++] = pages;
}

static void both_leave(struct model *m, struct wic_pool *pool, struct wic_pool_waiter *waiters,
		       uint32_t waiter)
{
	bool is_in = model_is_waiting(m, waiter);

	TEST_EQ(wic_pool_leave(pool, &waiters[waiter]), is_in ? 0 : -EINVAL);
	model_unwait(m, waiter);
}

static void both_serve(struct model *m, struct wic_pool *pool, struct wic_pool_waiter *waiters)
{
	struct wic_pool_waiter *served = wic_pool_serve(pool);

	if (!m->waiting || !model_fits(m, m->wanted[0])) {
		TEST_TRUE(served == NULL);
		return;
	}
	TEST_TRUE(served == &waiters[m->waiters[0]]);
	TEST_EQ(served->run.count, m->wanted[0]);
	TEST_TRUE(model_run_is_free(m, served->run));
	model_set(m, served->run, WIC_PAGE_HELD);
	model_unwait(m, m->waiters[0]);
	m->refused = false;
}

/* --- every reachable state of small pools ------------------------------------ */

#define STATES_MAX 70000u

struct snapshot {
	uint32_t key;
	bool refused;
	unsigned char bytes[640];
};

static struct snapshot *seen;
static uint32_t seen_count;
static uint32_t *seen_index; /* [4^pages * 4]: by page states, side, refused; 0: new */

/* Where take looks first is not public: two fresh answers tell it apart. */
static uint32_t state_key(const struct model *m, uint32_t side)
{
	uint32_t key = 0;
	uint32_t i;

	for (i = 0; i < m->pages; i++)
		key = key * 4 + m->state[i];
	return key * 4 + side * 2 + m->refused;
}

static uint32_t pool_side(const struct model *m, struct wic_pool *pool, void *mem, size_t bytes)
{
	unsigned char copy[sizeof(seen->bytes)];
	struct wic_run run = { 0, 0 };
	int rc;

	memcpy(copy, mem, bytes);
	rc = wic_pool_take(pool, 1, &run);
	memcpy(mem, copy, bytes);
	return rc == 0 && run.first >= m->pages / 2;
}

static void state_visit(const struct model *m, struct wic_pool *pool, void *mem, size_t bytes)
{
	uint32_t key = state_key(m, pool_side(m, pool, mem, bytes));

	model_compare(m, pool);
	if (seen_index[key])
		return;
	TEST_TRUE(seen_count < STATES_MAX);
	seen[seen_count].key = key;
	memcpy(seen[seen_count].bytes, mem, bytes);
	seen_index[key] = ++seen_count;
}

/* Op @op of all ops on a pool this small; false: there are no more. */
static bool small_op(struct model *m, struct wic_pool *pool, uint32_t op)
{
	uint32_t half = m->pages / 2;
	uint32_t runs = m->pages * half;
	struct wic_run run;

	if (op <= half + 1) {
		both_take(m, pool, op);
		return true;
	}
	op -= half + 2;
	if (op == 0) {
		both_close_next(m, pool);
		return true;
	}
	op--;
	run.first = op % runs / half;
	run.count = op % runs % half + 1;
	if (op < runs)
		both_give(m, pool, run);
	else if (op < 2 * runs)
		both_closed(m, pool, run);
	else
		return false;
	return true;
}

static void small_scope(uint32_t pages, uint32_t close_batch)
{
	struct wic_pool_params p = { pages, close_batch };
	size_t bytes = wic_pool_bytes(&p);
	struct model m = { .pages = pages, .close_batch = close_batch };
	void *mem;
	struct wic_pool *pool = pool_make(pages, close_batch, &mem);
	uint32_t at;
	uint32_t i;
	uint32_t op;

	TEST_TRUE(bytes <= sizeof(seen->bytes));
	seen = malloc(STATES_MAX * sizeof(*seen));
	seen_index = calloc((size_t)4 << 2 * pages, sizeof(*seen_index));
	seen_count = 0;
	state_visit(&m, pool, mem, bytes);
	for (at = 0; at < seen_count; at++) {
		for (op = 0;; op++) {
			uint32_t key = seen[at].key;

			m.refused = key & 1;
			for (key /= 4, i = pages; i-- > 0; key /= 4)
				m.state[i] = key % 4;
			memcpy(mem, seen[at].bytes, bytes);
			if (!small_op(&m, pool, op))
				break;
			state_visit(&m, pool, mem, bytes);
		}
	}
	printf("     %u pages, batch %u: %u states\n", pages, close_batch, seen_count);
	free(seen);
	free(seen_index);
	free(mem);
}

static void small_scope_2(void)
{
	small_scope(2, 1);
}

static void small_scope_4(void)
{
	small_scope(4, 1);
	small_scope(4, 2);
}

static void small_scope_6(void)
{
	small_scope(6, 1);
	small_scope(6, 2);
	small_scope(6, 3);
}

/* --- random against the model ------------------------------------------------ */

static struct wic_run random_run(const struct model *m, uint64_t *rng, enum wic_page_state state)
{
	struct wic_run run;
	uint32_t tries;

	/* Mostly a run that is all in @state, from a random page on; else anything. */
	for (tries = 0; tries < 8; tries++) {
		struct wic_run next;

		run.first = (uint32_t)(test_random(rng) >> 32) % m->pages;
		run.count = 1;
		if (m->state[run.first] != state)
			continue;
		next = run;
		while (next.count <= m->pages / 2 && model_all(m, next, state)) {
			run = next;
			next.count++;
		}
		if (test_random(rng) >> 63)
			run.count = 1 + (uint32_t)(test_random(rng) >> 33) % run.count;
		if (test_random(rng) >> 60 == 0)
			run.count++; /* one too many */
		return run;
	}
	run.count = (uint32_t)(test_random(rng) >> 32) % (m->pages / 2 + 2);
	return run;
}

static void random_step(struct model *m, struct wic_pool *pool, struct wic_pool_waiter *waiters,
			uint64_t *rng)
{
	uint32_t half = m->pages / 2;
	uint32_t any = (uint32_t)(test_random(rng) >> 32);
	uint32_t pages = any / 64 % (half + 2) >> any % 12; /* any length, short ones often */
	uint32_t waiter = any / 7 % WAITERS_MAX;

	switch (test_random(rng) >> 60) {
	case 0:
	case 1:
	case 2:
	case 3:
		both_take(m, pool, pages);
		break;
	case 4:
	case 5:
	case 6:
		both_give(m, pool, random_run(m, rng, WIC_PAGE_HELD));
		break;
	case 7:
	case 8:
	case 9:
		both_close_next(m, pool);
		break;
	case 10:
	case 11:
	case 12:
		both_closed(m, pool, random_run(m, rng, WIC_PAGE_CLOSING));
		break;
	case 13:
		both_wait(m, pool, waiters, waiter, pages);
		break;
	case 14:
		both_leave(m, pool, waiters, waiter);
		break;
	default:
		both_serve(m, pool, waiters);
		break;
	}
}

static void random_one(uint64_t seed, uint32_t half_max, uint32_t steps)
{
	static struct model m; /* fields are reset below */
	struct wic_pool_waiter waiters[WAITERS_MAX] = { 0 };
	uint64_t rng = seed * 0x9e3779b97f4a7c15ull + 1;
	void *mem;
	struct wic_pool *pool;
	uint32_t i;

	m = (struct model){ .pages = 2 * (1 + (uint32_t)(test_random(&rng) >> 33) % half_max) };
	m.close_batch = 1 + (uint32_t)(test_random(&rng) >> 33) % (m.pages / 2);
	if (test_random(&rng) >> 63)
		m.close_batch = 1 + (m.close_batch - 1) % 4;
	pool = pool_make(m.pages, m.close_batch, &mem);
	for (i = 0; i < steps; i++) {
		random_step(&m, pool, waiters, &rng);
		model_compare(&m, pool);
	}
	free(mem);
}

/* A failure names its seed; WIC_SEED repeats only that one. */
static void random_many(uint64_t seeds, uint32_t half_max, uint32_t steps)
{
	static char again[96];
	const char *only = getenv("WIC_SEED");
	const char *name = test_current;
	uint64_t seed;

	for (seed = 1; seed <= seeds / SEEDS_PART; seed++) {
		if (only && seed != strtoull(only, NULL, 0))
			continue;
		snprintf(again, sizeof(again), "%s (WIC_SEED=%llu)", name,
			 (unsigned long long)seed);
		test_current = again;
		random_one(seed, half_max, steps);
	}
	test_current = name;
}

static void random_small(void)
{
	random_many(1000, 12, 120);
}

static void random_words(void)
{
	random_many(300, 300, 150);
}

static void random_deep(void)
{
	random_many(20, PAGES_MAX / 2, 150);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(small_scope_2),
		TEST(small_scope_4),
		TEST(small_scope_6),
		TEST(random_small),
		TEST(random_words),
		TEST(random_deep),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
