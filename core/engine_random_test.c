/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The engine beside its naive model: seeded random inputs, good and bad, pulled and
 * carried out at random times; and every sequence of 4 inputs (5 with WIC_DEEP set in the
 * environment) on one run, from several states.  Whatever happened, in the end everybody was
 * replayed exactly once.
 */
#include "core/engine_fixture.h"
#include "core/engine_model.h"

static const struct wic_engine_params params = {
	.channels_max = M_CHANNELS,
	.tags_max = M_TAGS,
	.requests_max = M_REQUESTS,
	.wants_max = M_WANTS,
	.pages = M_PAGES,
};

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

struct both {
	struct fixture f;
	struct model m;
	uint64_t base; /* epochs run from here */
	uint64_t now;
	uint64_t cookie; /* next fresh one */
	uint64_t begun;  /* requests taken */
	uint64_t ended;  /* final REPLAYs seen */
};

static void both_check(struct both *b, int rc, int rc_model)
{
	uint32_t channel;
	uint32_t tag;

	TEST_EQ(rc, rc_model);
	TEST_TRUE(wic_engine_is_consistent(b->f.e));
	for (channel = 0; channel < M_CHANNELS; channel++)
		for (tag = 0; b->m.is_open[channel] && tag < b->m.tags[channel]; tag++)
			TEST_TRUE(wic_engine_epoch(b->f.e, channel, tag) ==
				  b->m.epoch[channel][tag]);
}

/* False: both have no action. */
static bool both_next(struct both *b)
{
	struct wic_action a = { 0 };
	struct wic_action want = { 0 };
	bool is_some = wic_engine_next(b->f.e, &a);

	TEST_EQ(is_some, m_next(&b->m, &want));
	TEST_TRUE(wic_engine_is_consistent(b->f.e));
	if (!is_some)
		return false;
	TEST_EQ(a.kind, want.kind);
	TEST_EQ(a.status, want.status);
	TEST_EQ(a.faulted, want.faulted);
	TEST_EQ(a.final, want.final);
	TEST_EQ(a.channel, want.channel);
	TEST_EQ(a.tag, want.tag);
	TEST_EQ(a.epoch, want.epoch);
	TEST_EQ(a.epoch_seen, want.epoch_seen);
	TEST_EQ(a.cookie, want.cookie);
	TEST_EQ(a.at_ns, want.at_ns);
	TEST_EQ(a.run.first, want.run.first);
	TEST_EQ(a.run.count, want.run.count);
	b->ended += a.kind == WIC_ACTION_REPLAY && a.final;
	return true;
}

static void both_open(struct both *b, uint32_t tags, bool has_data)
{
	uint32_t used = 0;
	uint32_t channel;
	uint32_t i;

	for (i = 0; i < M_CHANNELS; i++)
		used += b->m.is_open[i] ? b->m.tags[i] : 0;
	if (wic_engine_open(b->f.e, tags, has_data, &channel) == 0) {
		TEST_TRUE(tags > 0 && used + tags <= M_TAGS);
		TEST_TRUE(!b->m.is_open[channel]);
		m_open(&b->m, tags, has_data, channel);
	}
	both_check(b, 0, 0);
}

static int both_request(struct both *b, const struct wic_request *q, uint32_t count)
{
	int rc = wic_engine_request(b->f.e, q, count, b->now);

	both_check(b, rc, m_request(&b->m, q, count, b->now));
	if (rc == 0)
		b->begun += count;
	return rc;
}

/* --- random ------------------------------------------------------------------ */

static uint32_t below(uint64_t *rng, uint32_t n)
{
	return (uint32_t)((test_random(rng) >> 32) % n);
}

/* A cookie in use, else any. */
static uint64_t some_cookie(struct both *b, uint64_t *rng)
{
	uint32_t i = below(rng, M_REQUESTS);

	if (below(rng, 8) && b->m.r[i].cookie)
		return b->m.r[i].cookie;
	return below(rng, 4);
}

/* The first page of some run in @state, else any page, sometimes outside. */
static uint32_t some_page(struct both *b, uint64_t *rng, enum m_page_state state)
{
	uint32_t tries;

	for (tries = 0; tries < 12; tries++) {
		uint32_t p = below(rng, M_PAGES);

		if (b->m.page[p].owner == p && b->m.page[p].state == state)
			return p;
	}
	return below(rng, M_PAGES + 1);
}

static struct wic_want some_want(struct both *b, uint64_t *rng, uint32_t channel)
{
	struct wic_want w = { .page_first = WIC_PAGE_NONE };
	uint32_t tags = channel < M_CHANNELS && b->m.is_open[channel] ? b->m.tags[channel] : 1;
	uint32_t p = below(rng, M_PAGES);

	w.tag = below(rng, 16) ? below(rng, tags) : below(rng, M_TAGS + 1);
	w.epoch = b->base + below(rng, 4);
	if (w.tag < M_TAGS && channel < M_CHANNELS && below(rng, 2))
		w.epoch = b->m.epoch[channel][w.tag] + below(rng, 3);
	if (below(rng, 3) == 0)
		return w;
	w.page_first = below(rng, 32) ? p : M_PAGES;
	w.page_count = below(rng, 32) ? 1 + below(rng, 3) : below(rng, M_PAGES + 2);
	if (b->m.page[p].owner == p && below(rng, 4)) { /* join it */
		w.tag = b->m.page[p].tag;
		w.epoch = b->m.page[p].epoch;
		w.page_count = b->m.page[p].count;
	}
	return w;
}

static void random_request(struct both *b, uint64_t *rng)
{
	struct wic_want wants[3][3];
	struct wic_request q[3];
	uint32_t count = 1 + below(rng, 6) / 4 + below(rng, 6) / 5;
	uint32_t i;
	uint32_t k;

	for (i = 0; i < count; i++) {
		uint32_t channel = below(rng, 16) ? below(rng, 2) : below(rng, M_CHANNELS + 1);

		q[i].cookie = below(rng, 16) ? b->cookie++ : some_cookie(b, rng);
		q[i].deadline_ns = below(rng, 2) ? WIC_DEADLINE_NEVER : b->now + below(rng, 40);
		q[i].channel = channel;
		q[i].want_count = 1 + below(rng, 6) / 4 + below(rng, 6) / 5;
		q[i].wants = wants[i];
		for (k = 0; k < 3; k++)
			wants[i][k] = some_want(b, rng, channel);
	}
	both_request(b, q, count);
}

static void random_tags(struct both *b, uint64_t *rng, bool is_publish)
{
	uint32_t channel = below(rng, 16) ? below(rng, 2) : below(rng, M_CHANNELS + 1);
	uint32_t first = below(rng, M_TAGS);
	uint32_t count = 1 + below(rng, 3);
	uint64_t epoch = b->base + below(rng, 5);

	if (below(rng, 2) && channel < M_CHANNELS)
		epoch = b->m.epoch[channel][first] + 1;
	if (is_publish)
		both_check(b, wic_engine_publish(b->f.e, channel, first, count, epoch),
			   m_publish(&b->m, channel, first, count, epoch));
	else
		both_check(b, wic_engine_owner_died(b->f.e, channel, first, count),
			   m_owner_died(&b->m, channel, first, count));
}

static void random_page(struct both *b, uint64_t *rng)
{
	struct wic_run run;
	uint64_t cookie;
	int status = below(rng, 4) ? 0 : below(rng, 2) ? -EIO : 7;

	switch (below(rng, 6)) {
	case 0:
	case 1:
		run.first = some_page(b, rng, M_FILL_SEEN);
		both_check(b, wic_engine_filled(b->f.e, run.first, status),
			   m_filled(&b->m, run.first, status));
		break;
	case 2:
		run.first = some_page(b, rng, below(rng, 3) ? M_FILLED : M_WANTED);
		both_check(b, wic_engine_release(b->f.e, run.first), m_release(&b->m, run.first));
		break;
	case 3:
		run.first = below(rng, M_PAGES + 1);
		run.count = below(rng, 4);
		both_check(b, wic_engine_retire(b->f.e, run), m_retire(&b->m, run));
		break;
	case 4:
		run.first = some_page(b, rng, M_RETIRE_SEEN);
		run.count = run.first < M_PAGES && below(rng, 8) ? b->m.page[run.first].count : 1;
		both_check(b, wic_engine_invalidated(b->f.e, run), m_invalidated(&b->m, run));
		break;
	default:
		run.first = below(rng, 2) ? below(rng, M_PAGES + 1) : some_page(b, rng, M_FILLED);
		cookie = some_cookie(b, rng);
		both_check(b, wic_engine_fault(b->f.e, run.first, cookie),
			   run.first < M_PAGES ? m_fault(&b->m, run.first, cookie) : -EINVAL);
		break;
	}
}

static void random_rare(struct both *b, uint64_t *rng)
{
	uint32_t channel = below(rng, M_CHANNELS + 1);
	uint64_t cookie = some_cookie(b, rng);

	switch (below(rng, 8)) {
	case 0:
		if (below(rng, 3) == 0)
			both_check(b, wic_engine_close(b->f.e, channel), m_close(&b->m, channel));
		break;
	case 1:
		both_check(b, wic_engine_free(b->f.e, channel), m_free(&b->m, channel));
		break;
	case 2:
	case 3:
		both_open(b, below(rng, 4), below(rng, 8) != 0);
		break;
	case 4:
		if (below(rng, 3) == 0)
			random_tags(b, rng, false);
		break;
	default:
		both_check(b, wic_engine_cancel(b->f.e, cookie), m_cancel(&b->m, cookie));
		break;
	}
}

static void random_step(struct both *b, uint64_t *rng, uint32_t pulls)
{
	switch (below(rng, 8 + pulls)) {
	case 0:
	case 1:
		random_request(b, rng);
		break;
	case 2:
		random_tags(b, rng, true);
		break;
	case 3:
		b->now += below(rng, 12);
		both_check(b, wic_engine_tick(b->f.e, b->now), m_tick(&b->m, b->now));
		break;
	case 4:
	case 5:
	case 6:
		random_page(b, rng);
		break;
	case 7:
		random_rare(b, rng);
		break;
	default:
		both_next(b);
		break;
	}
}

/* Nothing is left behind: everybody ends, every page and channel comes back. */
static void both_drain(struct both *b)
{
	struct wic_engine_counters c;
	uint32_t round;
	uint32_t i;

	for (i = 0; i < M_CHANNELS; i++)
		both_check(b, wic_engine_close(b->f.e, i), m_close(&b->m, i));
	for (round = 0; round < 2; round++) {
		while (both_next(b))
			;
		for (i = 0; i < M_PAGES; i++) {
			struct wic_run run = { i, b->m.page[i].count };

			both_check(b, wic_engine_filled(b->f.e, i, 0), m_filled(&b->m, i, 0));
			both_check(b, wic_engine_invalidated(b->f.e, run),
				   m_invalidated(&b->m, run));
		}
	}
	TEST_EQ(b->begun, b->ended);
	for (i = 0; i < M_PAGES; i++)
		both_check(b, wic_engine_release(b->f.e, i), m_release(&b->m, i));
	for (i = 0; i < M_CHANNELS; i++) {
		both_check(b, wic_engine_free(b->f.e, i), m_free(&b->m, i));
		TEST_TRUE(!b->m.is_open[i]);
	}
	for (i = 0; i < M_PAGES; i++)
		TEST_EQ(b->m.page[i].owner, WIC_PAGE_NONE);
	wic_engine_counters(b->f.e, &c);
	TEST_EQ(c.pending, 0);
	TEST_EQ(c.requests, b->begun);
	TEST_TRUE(c.pending_max <= M_REQUESTS);
}

static void random_one(uint64_t seed, uint32_t steps, uint64_t base)
{
	static struct both b;
	uint64_t rng = seed * 0x9e3779b97f4a7c15ull + 1;
	uint32_t pulls;
	uint32_t i;

	memset(&b, 0, sizeof(b));
	fixture_open(&b.f, &params);
	m_init(&b.m);
	b.base = base;
	b.cookie = 100;
	b.now = 1000;
	pulls = 1 + below(&rng, 8);
	both_open(&b, 2, true);
	both_open(&b, 2, true);
	for (i = 0; base && i < 2; i++)
		both_check(&b, wic_engine_publish(b.f.e, i, 0, 2, base),
			   m_publish(&b.m, i, 0, 2, base));
	for (i = 0; i < steps; i++)
		random_step(&b, &rng, pulls);
	both_drain(&b);
	fixture_close(&b.f);
}

/* A failure names its seed; WIC_SEED repeats only that one. */
static void random_many(uint64_t seeds, uint32_t steps, uint64_t base)
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
		random_one(seed, steps, base);
	}
	test_current = name;
}

static void random_short(void)
{
	random_many(10000, 40, 0);
}

static void random_long(void)
{
	random_many(800, 1000, 0);
}

static void random_at_2_32(void)
{
	random_many(1000, 200, 0xfffffffeull - 2);
}

static void random_at_2_64(void)
{
	random_many(1000, 200, UINT64_MAX - 4);
}

/* --- every sequence ---------------------------------------------------------- */

#define DEPTH_MAX 5
#define OPS 20

static void small_request(struct both *b, uint64_t cookie, uint32_t wants)
{
	const struct wic_want w[2] = { { 1, 0, wants & 1 ? 0 : WIC_PAGE_NONE, 2 },
				       { 1, 1, WIC_PAGE_NONE, 0 } };
	struct wic_request q = { cookie, cookie == 1 ? 5 : WIC_DEADLINE_NEVER, 0, 1 + wants / 2,
				 w };

	both_request(b, &q, 1);
}

static void small_op(struct both *b, uint32_t op)
{
	static const struct wic_run run = { 0, 2 };
	static const uint32_t wants[] = { 1, 0, 3, 1 }; /* bit 0: with pages; bit 1: two wants */

	switch (op) {
	case 0:
	case 1:
	case 2:
	case 3:
		small_request(b, op / 2 + 1, wants[op]);
		break;
	case 4:
	case 5:
		both_check(b, wic_engine_publish(b->f.e, 0, 0, 1, op - 3),
			   m_publish(&b->m, 0, 0, 1, op - 3));
		break;
	case 6:
		both_check(b, wic_engine_publish(b->f.e, 0, 0, 2, 1), m_publish(&b->m, 0, 0, 2, 1));
		break;
	case 7:
	case 8:
		both_next(b);
		while (op == 8 && both_next(b))
			;
		break;
	case 9:
	case 10:
		both_check(b, wic_engine_filled(b->f.e, 0, op == 9 ? 0 : -EIO),
			   m_filled(&b->m, 0, op == 9 ? 0 : -EIO));
		break;
	case 11:
	case 12:
		both_check(b, wic_engine_fault(b->f.e, 0, op - 10), m_fault(&b->m, 0, op - 10));
		break;
	case 13:
		both_check(b, wic_engine_tick(b->f.e, 5), m_tick(&b->m, 5));
		break;
	case 14:
	case 15:
		both_check(b, wic_engine_cancel(b->f.e, op - 13), m_cancel(&b->m, op - 13));
		break;
	case 16:
		both_check(b, wic_engine_close(b->f.e, 0), m_close(&b->m, 0));
		break;
	case 17:
		both_check(b, wic_engine_owner_died(b->f.e, 0, 0, 1), m_owner_died(&b->m, 0, 0, 1));
		break;
	case 18:
		both_check(b, wic_engine_release(b->f.e, 0), m_release(&b->m, 0));
		break;
	default:
		both_check(b, wic_engine_retire(b->f.e, run), m_retire(&b->m, run));
		both_next(b);
		both_check(b, wic_engine_invalidated(b->f.e, run), m_invalidated(&b->m, run));
		break;
	}
}

/* Begin at each state on the way to the fill cycle, so that depth is spent where it counts. */
static void every_sequence(const uint32_t *before, uint32_t count)
{
	static struct both saved[DEPTH_MAX + 1];
	static char again[64];
	const char *name = test_current;
	size_t bytes = wic_engine_bytes(&params);
	unsigned char *mem[DEPTH_MAX + 1];
	uint32_t at[DEPTH_MAX + 1] = { 0 };
	const uint32_t end = getenv("WIC_DEEP") ? DEPTH_MAX : DEPTH_MAX - 1;
	struct both *b = &saved[DEPTH_MAX];
	uint32_t depth = 0;
	uint32_t i;

	memset(b, 0, sizeof(*b));
	fixture_open(&b->f, &params);
	m_init(&b->m);
	both_open(b, 2, true);
	for (i = 0; i < count; i++)
		small_op(b, before[i]);
	for (i = 0; i <= DEPTH_MAX; i++)
		mem[i] = malloc(bytes);
	for (;;) {
		if (at[depth] == 0) { /* first time here: keep the state */
			saved[depth] = *b;
			memcpy(mem[depth], b->f.mem, bytes);
		}
		if (at[depth] == OPS) {
			at[depth] = 0;
			if (depth-- == 0)
				break;
			continue;
		}
		*b = saved[depth];
		memcpy(b->f.mem, mem[depth], bytes);
		snprintf(again, sizeof(again), "%s: ops %u %u %u %u %u", name, at[0], at[1], at[2],
			 at[3], at[4]);
		test_current = again;
		small_op(b, at[depth]++);
		if (depth + 1 < end) {
			depth++;
			at[depth] = 0;
		}
	}
	test_current = name;
	for (i = 0; i <= DEPTH_MAX; i++)
		free(mem[i]);
	fixture_close(&b->f);
}

static void every_sequence_from_empty(void)
{
	every_sequence(NULL, 0);
}

static void every_sequence_from_filling(void)
{
	static const uint32_t before[] = { 0, 3, 4, 8 };

	every_sequence(before, 4);
}

static void every_sequence_from_filled(void)
{
	static const uint32_t before[] = { 0, 4, 8, 9, 8 };

	every_sequence(before, 5);
}

static void every_sequence_of_two_wants(void)
{
	static const uint32_t before[] = { 2, 0, 4 };

	every_sequence(before, 3);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(random_short),
		TEST(random_long),
		TEST(random_at_2_32),
		TEST(random_at_2_64),
		TEST(every_sequence_from_empty),
		TEST(every_sequence_from_filling),
		TEST(every_sequence_from_filled),
		TEST(every_sequence_of_two_wants),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
