/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Directed cases of the engine: channels, requests, epochs, broken invariants, cost. */
#include "core/engine_fixture.h"

#include "core/engine_types.h"

#define NONE WIC_PAGE_NONE

static bool asserts_expected;
static int asserts_fired;

void wic_assert_failed(const char *condition, const char *file, int line)
{
	asserts_fired++;
	if (asserts_expected)
		return;
	fprintf(stderr, "%s:%d: assertion: %s\n", file, line, condition);
	abort();
}

/* --- init, channels ---------------------------------------------------------- */

static void init_bad_params(void)
{
	const struct wic_engine_params good = { 1, 1, 1, 1, 0 };
	const struct wic_engine_params bad[] = {
		{ 0, 1, 1, 1, 0 },
		{ 65536, 1, 1, 1, 0 },
		{ 1, 0, 1, 1, 0 },
		{ 1, (1u << 24) + 1, 1, 1, 0 },
		{ 1, 1, 0, 1, 0 },
		{ 1, 1, (1u << 20) + 1, 1u << 22, 0 },
		{ 1, 1, 2, 1, 0 },
		{ 1, 1, 1, (1u << 22) + 1, 0 },
		{ 1, 1, 1, 1, WIC_ENGINE_PAGES_MAX + 1 },
	};
	struct wic_engine *e = NULL;
	size_t bytes = wic_engine_bytes(&good);
	size_t i;
	char *mem = aligned_alloc(16, bytes + 16);

	TEST_TRUE(bytes > 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		TEST_EQ(wic_engine_bytes(&bad[i]), 0);
	TEST_EQ(wic_engine_bytes(NULL), 0);
	TEST_EQ(wic_engine_init(NULL, bytes, &good, &e), -EINVAL);
	TEST_EQ(wic_engine_init(mem, bytes - 1, &good, &e), -EINVAL);
	TEST_EQ(wic_engine_init(mem + 8, bytes, &good, &e), -EINVAL);
	TEST_EQ(wic_engine_init(mem, bytes, &bad[0], &e), -EINVAL);
	TEST_EQ(wic_engine_init(mem, bytes, &good, NULL), -EINVAL);
	TEST_TRUE(e == NULL);
	TEST_EQ(wic_engine_init(mem, bytes, &good, &e), 0);
	TEST_TRUE(wic_engine_is_consistent(e));
	free(mem);
}

static void open_until_full(void)
{
	struct fixture f;
	uint32_t channel = 77;
	uint32_t third;

	fixture_open_small(&f); /* 8 of 16 tags */
	TEST_EQ(wic_engine_open(f.e, 9, false, &channel), -ENOMEM);
	TEST_EQ(wic_engine_open(f.e, 0, false, &channel), -EINVAL);
	TEST_EQ(channel, 77);
	TEST_EQ(wic_engine_open(f.e, 4, false, &channel), 0);
	TEST_EQ(wic_engine_open(f.e, 4, false, &third), 0);
	TEST_EQ(wic_engine_open(f.e, 1, false, &third), -ENOMEM);
	TEST_EQ(wic_engine_publish(f.e, channel, 3, 1, 9), 0);
	TEST_EQ(wic_engine_free(f.e, channel), 0);
	TEST_EQ(wic_engine_free(f.e, channel), -EINVAL);
	TEST_EQ(wic_engine_open(f.e, 5, false, &channel), -ENOMEM); /* the gap has 4 */
	TEST_EQ(wic_engine_open(f.e, 4, false, &channel), 0);
	TEST_EQ(wic_engine_epoch(f.e, channel, 3), 0); /* not the old channel's 9 */
	TEST_TRUE(wic_engine_is_consistent(f.e));
	fixture_close(&f);
}

static void open_channels_max(void)
{
	struct fixture f;
	uint32_t channel;
	int i;

	fixture_open_small(&f);
	for (i = 0; i < 3; i++)
		TEST_EQ(wic_engine_open(f.e, 1, false, &channel), 0);
	TEST_EQ(wic_engine_open(f.e, 1, false, &channel), -ENOMEM);
	fixture_close(&f);
}

static void close_ends_pending(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(ask(&f, 1, 0, 5, NONE), 0);
	TEST_EQ(ask(&f, 2, 1, 5, 4), 0);
	TEST_EQ(wic_engine_close(f.e, f.channel), 0);
	expect_replay(&f, 1, -ECANCELED, false, true);
	expect_replay(&f, 2, -ECANCELED, false, true);
	TEST_EQ(wic_engine_close(f.e, f.channel), -EINVAL);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 0, 1, 5), -EINVAL);
	/* Later ones are taken and end with -EINVAL, satisfied or not. */
	TEST_EQ(ask(&f, 3, 0, 0, NONE), 0);
	expect_replay(&f, 3, -EINVAL, false, true);
	TEST_EQ(wic_engine_free(f.e, f.channel), -EBUSY); /* page 4 is not released */
	TEST_EQ(wic_engine_release(f.e, 4), 0);
	TEST_EQ(wic_engine_free(f.e, f.channel), 0);
	TEST_EQ(ask(&f, 4, 0, 0, NONE), -EINVAL);
	expect_none(&f);
	fixture_close(&f);
}

static void close_while_filling(void)
{
	struct fixture f;

	fixture_open_small(&f);
	publish(&f, 0, 1);
	TEST_EQ(ask(&f, 1, 0, 1, 0), 0);
	expect_fill(&f, 0, 1, 0);
	TEST_EQ(wic_engine_close(f.e, f.channel), 0);
	expect_none(&f);
	TEST_EQ(wic_engine_free(f.e, f.channel), -EBUSY);
	TEST_EQ(wic_engine_filled(f.e, 0, 0), 0);
	expect_replay(&f, 1, 0, false, true); /* complete: not a failure */
	TEST_EQ(wic_engine_release(f.e, 0), 0);
	TEST_EQ(wic_engine_free(f.e, f.channel), 0);
	fixture_close(&f);
}

static void free_while_pending(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(ask(&f, 1, 0, 5, NONE), 0);
	TEST_EQ(wic_engine_free(f.e, f.channel), -EBUSY);
	publish(&f, 0, 5);
	TEST_EQ(wic_engine_free(f.e, f.channel), -EBUSY); /* its REPLAY is not pulled */
	expect_replay(&f, 1, 0, false, true);
	TEST_EQ(wic_engine_free(f.e, f.channel), 0);
	TEST_EQ(wic_engine_free(f.e, 99), -EINVAL);
	TEST_EQ(wic_engine_close(f.e, 99), -EINVAL);
	fixture_close(&f);
}

/* --- request and publish, no data -------------------------------------------- */

static void request_then_publish(void)
{
	struct fixture f;
	struct wic_action a;

	fixture_open_small(&f);
	TEST_EQ(ask(&f, 42, 3, 5, NONE), 0);
	expect_none(&f);
	publish(&f, 3, 4);
	publish(&f, 2, 9);
	expect_none(&f);
	publish(&f, 3, 6);
	a = expect_replay(&f, 42, 0, false, true);
	TEST_EQ(a.tag, 3);
	TEST_EQ(a.channel, f.channel);
	TEST_EQ(a.epoch, 5);
	TEST_EQ(a.epoch_seen, 6);
	TEST_EQ(a.run.first, NONE);
	TEST_EQ(a.run.count, 0);
	expect_none(&f);
	fixture_close(&f);
}

static void publish_then_request(void)
{
	struct fixture f;

	fixture_open_small(&f);
	publish(&f, 3, 5);
	TEST_EQ(ask(&f, 1, 3, 5, NONE), 0);
	TEST_EQ(ask(&f, 2, 3, 1, NONE), 0);
	TEST_EQ(ask(&f, 3, 3, 6, NONE), 0);
	expect_replay(&f, 1, 0, false, true);
	expect_replay(&f, 2, 0, false, true);
	expect_none(&f);
	fixture_close(&f);
}

static void publish_lower_is_ignored(void)
{
	struct fixture f;

	fixture_open_small(&f);
	publish(&f, 0, 7);
	publish(&f, 0, 3);
	TEST_EQ(wic_engine_epoch(f.e, f.channel, 0), 7);
	publish(&f, 0, 7);
	TEST_EQ(wic_engine_epoch(f.e, f.channel, 0), 7);
	TEST_EQ(wic_engine_epoch(f.e, f.channel, 8), 0);
	fixture_close(&f);
}

static void publish_range(void)
{
	struct fixture f;
	uint32_t tag;

	fixture_open_small(&f);
	for (tag = 0; tag < 8; tag++)
		TEST_EQ(ask(&f, tag, tag, 1, NONE), 0);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 2, 5, 1), 0);
	for (tag = 2; tag < 7; tag++)
		expect_replay(&f, tag, 0, false, true);
	expect_none(&f);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 0, 8, 1), 0);
	expect_replay(&f, 0, 0, false, true);
	expect_replay(&f, 1, 0, false, true);
	expect_replay(&f, 7, 0, false, true);
	expect_none(&f);
	fixture_close(&f);
}

static void publish_bad_range(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 0, 0, 1), -EINVAL);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 0, 9, 1), -EINVAL);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 8, 1, 1), -EINVAL);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 7, UINT32_MAX, 1), -EINVAL);
	TEST_EQ(wic_engine_publish(f.e, f.channel + 1, 0, 1, 1), -EINVAL);
	TEST_EQ(wic_engine_epoch(f.e, f.channel, 0), 0);
	fixture_close(&f);
}

/* Lower epochs first, and among equals first in, first out. */
static void publish_wakes_in_order(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(ask(&f, 1, 0, 3, NONE), 0);
	TEST_EQ(ask(&f, 2, 0, 2, NONE), 0);
	TEST_EQ(ask(&f, 3, 0, 3, NONE), 0);
	TEST_EQ(ask(&f, 4, 0, 4, NONE), 0);
	TEST_EQ(ask(&f, 5, 0, 2, NONE), 0);
	publish(&f, 0, 3);
	expect_replay(&f, 2, 0, false, true);
	expect_replay(&f, 5, 0, false, true);
	expect_replay(&f, 1, 0, false, true);
	expect_replay(&f, 3, 0, false, true);
	expect_none(&f);
	fixture_close(&f);
}

static void epochs_at_wraps(void)
{
	static const uint64_t starts[] = { 0xfffffffeull - 1, UINT64_MAX - 3 };
	struct fixture f;
	uint64_t cookie = 0;
	int i;
	int k;

	for (i = 0; i < 2; i++) {
		fixture_open_small(&f);
		publish(&f, 0, starts[i]);
		for (k = 1; k <= 3; k++) {
			uint64_t epoch = starts[i] + (uint64_t)k;

			TEST_EQ(ask(&f, ++cookie, 0, epoch, 2), 0);
			TEST_EQ(ask(&f, ++cookie, 0, epoch, NONE), 0);
			expect_none(&f);
			publish(&f, 0, epoch);
			TEST_TRUE(wic_engine_epoch(f.e, f.channel, 0) == epoch);
			expect_fill(&f, 0, epoch, 2);
			expect_replay(&f, cookie, 0, false, true);
			TEST_EQ(wic_engine_filled(f.e, 2, 0), 0);
			expect_replay(&f, cookie - 1, 0, false, true);
			TEST_EQ(wic_engine_release(f.e, 2), 0);
			publish(&f, 0, 1); /* stale */
			TEST_TRUE(wic_engine_epoch(f.e, f.channel, 0) == epoch);
		}
		fixture_close(&f);
	}
}

static void request_bad_fields(void)
{
	static const struct wic_want good = { 1, 0, 0, 1 };
	static const struct wic_want bad[] = {
		{ 1, 8, 0, 1 },  { 0, 0, 0, 1 },  { 1, 0, 0, 0 },          { 1, 0, 0, 33 },
		{ 1, 0, 31, 2 }, { 1, 0, 32, 1 }, { 1, 0, 1, UINT32_MAX },
	};
	struct fixture f;
	struct wic_request r = { 1, WIC_DEADLINE_NEVER, 0, 1, &good };
	struct wic_request bad_r[6];
	uint32_t signals;
	size_t i;

	fixture_open_small(&f);
	TEST_EQ(wic_engine_open(f.e, 1, false, &signals), 0);
	r.channel = f.channel;
	TEST_EQ(wic_engine_request(f.e, NULL, 1, 0), -EINVAL);
	TEST_EQ(wic_engine_request(f.e, &r, 0, 0), -EINVAL);
	TEST_EQ(wic_engine_request(f.e, &r, 17, 0), -EINVAL);
	for (i = 0; i < 6; i++)
		bad_r[i] = r;
	bad_r[0].want_count = 0;
	bad_r[1].want_count = 17;
	bad_r[2].wants = NULL;
	bad_r[3].cookie = WIC_COOKIE_NONE;
	bad_r[4].channel = 3;
	bad_r[5].channel = signals;
	for (i = 0; i < 6; i++)
		TEST_EQ(wic_engine_request(f.e, &bad_r[i], 1, 0), -EINVAL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bad_r[0] = r;
		bad_r[0].wants = &bad[i];
		TEST_EQ(wic_engine_request(f.e, bad_r, 1, 0), -EINVAL);
	}
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), -EINVAL); /* cookie in use */
	TEST_TRUE(wic_engine_is_consistent(f.e));
	expect_none(&f);
	fixture_close(&f);
}

static void request_full_is_eagain(void)
{
	struct fixture f;
	struct wic_want w = { 9, 0, NONE, 0 };
	struct wic_request batch[2] = { { 100, WIC_DEADLINE_NEVER, 0, 1, &w },
					{ 101, WIC_DEADLINE_NEVER, 0, 1, &w } };
	uint64_t cookie;

	fixture_open_small(&f);
	batch[0].channel = batch[1].channel = f.channel;
	for (cookie = 0; cookie < 7; cookie++)
		TEST_EQ(ask(&f, cookie, 0, 9, NONE), 0);
	TEST_EQ(wic_engine_request(f.e, batch, 2, 0), -EAGAIN);
	TEST_TRUE(wic_engine_is_consistent(f.e));
	TEST_EQ(ask(&f, 7, 0, 9, NONE), 0);
	TEST_EQ(ask(&f, 8, 0, 9, NONE), -EAGAIN);
	publish(&f, 0, 9);
	TEST_EQ(ask(&f, 8, 0, 9, NONE), -EAGAIN); /* still there until pulled */
	expect_replay(&f, 0, 0, false, true);
	TEST_EQ(ask(&f, 8, 0, 9, NONE), 0);
	fixture_close(&f);
}

static void request_wants_full_is_eagain(void)
{
	struct fixture f;
	struct wic_want w[9];
	struct wic_request r = { 1, WIC_DEADLINE_NEVER, 0, 9, w };
	int i;

	fixture_open_small(&f);
	r.channel = f.channel;
	for (i = 0; i < 9; i++)
		w[i] = (struct wic_want){ 1, 0, NONE, 0 };
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	r.cookie = 2;
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), -EAGAIN);
	r.want_count = 7;
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	TEST_TRUE(wic_engine_is_consistent(f.e));
	fixture_close(&f);
}

/* The last request of a batch is bad: the earlier ones leave no trace. */
static void request_batch_all_or_nothing(void)
{
	struct fixture f;
	struct wic_want w[4] = { { 1, 0, 0, 2 }, { 1, 0, 0, 2 }, { 1, 1, 4, 2 }, { 2, 1, 5, 2 } };
	struct wic_request batch[2] = { { 1, 50, 0, 3, w }, { 2, 60, 0, 1, &w[3] } };
	struct wic_engine_counters c;

	fixture_open_small(&f);
	batch[0].channel = batch[1].channel = f.channel;
	publish(&f, 0, 1);
	TEST_EQ(wic_engine_request(f.e, batch, 2, 0), -EINVAL); /* page 5 is in run 4 */
	TEST_TRUE(wic_engine_is_consistent(f.e));
	expect_none(&f);
	wic_engine_counters(f.e, &c);
	TEST_EQ(c.requests, 0);
	TEST_EQ(c.pending, 0);
	TEST_EQ(wic_engine_free(f.e, f.channel), 0);
	TEST_EQ(wic_engine_open(f.e, 8, true, &f.channel), 0);
	w[3].page_first = 6;
	TEST_EQ(wic_engine_request(f.e, batch, 2, 0), 0);
	TEST_TRUE(wic_engine_is_consistent(f.e));
	batch[0].cookie = batch[1].cookie = 3; /* twice in a batch */
	TEST_EQ(wic_engine_request(f.e, batch, 2, 0), -EINVAL);
	TEST_TRUE(wic_engine_is_consistent(f.e));
	fixture_close(&f);
}

/* A batch shares its notice, not its fate. */
static void request_batch_own_fates(void)
{
	struct fixture f;
	struct wic_want w[2] = { { 1, 0, NONE, 0 }, { 1, 1, NONE, 0 } };
	struct wic_request batch[2] = { { 1, WIC_DEADLINE_NEVER, 0, 1, &w[0] },
					{ 2, WIC_DEADLINE_NEVER, 0, 1, &w[1] } };

	fixture_open_small(&f);
	batch[0].channel = batch[1].channel = f.channel;
	TEST_EQ(wic_engine_request(f.e, batch, 2, 0), 0);
	publish(&f, 1, 1);
	expect_replay(&f, 2, 0, false, true);
	expect_none(&f);
	publish(&f, 0, 1);
	expect_replay(&f, 1, 0, false, true);
	fixture_close(&f);
}

static void request_all_of(void)
{
	struct fixture f;
	struct wic_want w[3] = { { 1, 0, NONE, 0 }, { 2, 1, 4, 2 }, { 3, 2, 8, 2 } };
	struct wic_request r = { 1, WIC_DEADLINE_NEVER, 0, 3, w };
	struct wic_action a;

	fixture_open_small(&f);
	r.channel = f.channel;
	publish(&f, 1, 2);
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	expect_fill(&f, 1, 2, 4);
	TEST_EQ(wic_engine_filled(f.e, 4, 0), 0);
	expect_none(&f);
	TEST_EQ(wic_engine_release(f.e, 4), -EBUSY); /* the request still pends on it */
	publish(&f, 0, 1);
	expect_none(&f);
	publish(&f, 2, 3);
	expect_fill(&f, 2, 3, 8);
	expect_none(&f);
	TEST_EQ(wic_engine_filled(f.e, 8, 0), 0);
	a = expect_replay(&f, 1, 0, false, true);
	TEST_EQ(a.tag, 0);
	TEST_EQ(a.run.first, NONE); /* the first want has no pages */
	TEST_EQ(wic_engine_release(f.e, 4), 0);
	TEST_EQ(wic_engine_release(f.e, 8), 0);
	fixture_close(&f);
}

static void request_same_tag_twice(void)
{
	struct fixture f;
	struct wic_want w[3] = { { 2, 0, 4, 2 }, { 2, 0, 4, 2 }, { 1, 0, NONE, 0 } };
	struct wic_request r = { 1, WIC_DEADLINE_NEVER, 0, 3, w };

	fixture_open_small(&f);
	r.channel = f.channel;
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	publish(&f, 0, 1);
	publish(&f, 0, 2);
	expect_fill(&f, 0, 2, 4);
	expect_none(&f);
	TEST_EQ(wic_engine_filled(f.e, 4, 0), 0);
	expect_replay(&f, 1, 0, false, true);
	expect_none(&f);
	fixture_close(&f);
}

/* --- broken invariants ------------------------------------------------------- */

static void dead_answers_eio(void)
{
	struct fixture f;
	struct wic_action a;
	struct wic_run run = { 0, 1 };
	struct wic_want w = { 1, 0, NONE, 0 };
	struct wic_request r = { 2, WIC_DEADLINE_NEVER, 0, 1, &w };
	uint32_t channel;

	fixture_open_small(&f);
	publish(&f, 0, 1);
	TEST_EQ(ask(&f, 1, 0, 1, NONE), 0);
	f.e->magic = 0;
	asserts_expected = true;
	asserts_fired = 0;
	TEST_EQ(wic_engine_tick(f.e, 0), -EIO);
	TEST_EQ(asserts_fired, 1);
	TEST_TRUE(wic_engine_is_dead(f.e));
	f.e->magic = WIC_ENGINE_MAGIC; /* too late */
	TEST_EQ(wic_engine_open(f.e, 1, false, &channel), -EIO);
	TEST_EQ(wic_engine_close(f.e, f.channel), -EIO);
	TEST_EQ(wic_engine_free(f.e, f.channel), -EIO);
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), -EIO);
	TEST_EQ(wic_engine_fault(f.e, 0, 1), -EIO);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 0, 1, 2), -EIO);
	TEST_EQ(wic_engine_release(f.e, 0), -EIO);
	TEST_EQ(wic_engine_retire(f.e, run), -EIO);
	TEST_EQ(wic_engine_filled(f.e, 0, 0), -EIO);
	TEST_EQ(wic_engine_invalidated(f.e, run), -EIO);
	TEST_EQ(wic_engine_cancel(f.e, 1), -EIO);
	TEST_EQ(wic_engine_owner_died(f.e, f.channel, 0, 1), -EIO);
	TEST_EQ(wic_engine_tick(f.e, 0), -EIO);
	TEST_TRUE(!wic_engine_next(f.e, &a));
	TEST_EQ(asserts_fired, 1); /* said once */
	TEST_TRUE(!wic_engine_is_consistent(f.e));
	asserts_expected = false;
	fixture_close(&f);
}

static void dead_engines_are_apart(void)
{
	struct fixture f;
	struct fixture g;

	fixture_open_small(&f);
	fixture_open_small(&g);
	f.e->dead = true;
	publish(&g, 0, 1);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 0, 1, 1), -EIO);
	fixture_close(&f);
	fixture_close(&g);
}

/* --- cost -------------------------------------------------------------------- */

static uint64_t steps(const struct fixture *f)
{
	struct wic_engine_counters c;

	wic_engine_counters(f->e, &c);
	return c.checks + f->e->by_epoch.steps + f->e->by_deadline.steps;
}

/* Steps of the worst of 64 times {request, publish, pull, release} beside @pending others. */
static uint64_t worst_steps(uint32_t pending, uint32_t pages, bool is_one_tag)
{
	struct wic_engine_params p = { 1, 65537, 65536 + 16, 65536 + 16, pages };
	struct wic_want w = { 0, 0, NONE, 0 };
	struct wic_request r = { 0, 0, 0, 1, &w };
	struct fixture f;
	struct wic_action a;
	uint64_t rng = 3;
	uint64_t worst = 0;
	uint32_t i;

	fixture_open(&f, &p);
	TEST_EQ(wic_engine_open(f.e, 65537, true, &f.channel), 0);
	for (i = 0; i < pending; i++) {
		w = (struct wic_want){ 1000 + i, is_one_tag ? 65536 : i, NONE, 0 };
		r = (struct wic_request){ i, test_random(&rng) >> 1, f.channel, 1, &w };
		TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	}
	for (i = 0; i < 64; i++) {
		uint64_t before = steps(&f);

		w = (struct wic_want){ i + 1, 65536, (i * 7) % pages, 1 };
		r = (struct wic_request){ 1u << 20, test_random(&rng) >> 1, f.channel, 1, &w };
		TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
		TEST_EQ(wic_engine_publish(f.e, f.channel, 65536, 1, i + 1), 0);
		while (wic_engine_next(f.e, &a))
			if (a.kind == WIC_ACTION_FILL)
				TEST_EQ(wic_engine_filled(f.e, a.run.first, 0), 0);
		TEST_EQ(wic_engine_release(f.e, w.page_first), 0);
		if (steps(&f) - before > worst)
			worst = steps(&f) - before;
	}
	fixture_close(&f);
	return worst;
}

/* 4,096 times as many pending: only the heap's logarithm shows, 12 levels of few steps. */
static void cost_flat_in_pending(void)
{
	uint64_t few = worst_steps(16, 1024, false);
	uint64_t many = worst_steps(65536, 1024, false);
	uint64_t few_one = worst_steps(16, 1024, true);
	uint64_t many_one = worst_steps(65536, 1024, true);

	printf("     steps: %d -> %d; on one tag %d -> %d\n", (int)few, (int)many, (int)few_one,
	       (int)many_one);
	TEST_TRUE(many <= few + 3 * 12);
	TEST_TRUE(many_one <= few_one + 3 * 12);
}

static void cost_flat_in_pages(void)
{
	TEST_EQ(worst_steps(256, 1024, false), worst_steps(256, 1u << 20, false));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(init_bad_params),
		TEST(open_until_full),
		TEST(open_channels_max),
		TEST(close_ends_pending),
		TEST(close_while_filling),
		TEST(free_while_pending),
		TEST(request_then_publish),
		TEST(publish_then_request),
		TEST(publish_lower_is_ignored),
		TEST(publish_range),
		TEST(publish_bad_range),
		TEST(publish_wakes_in_order),
		TEST(epochs_at_wraps),
		TEST(request_bad_fields),
		TEST(request_full_is_eagain),
		TEST(request_wants_full_is_eagain),
		TEST(request_batch_all_or_nothing),
		TEST(request_batch_own_fates),
		TEST(request_all_of),
		TEST(request_same_tag_twice),
		TEST(dead_answers_eio),
		TEST(dead_engines_are_apart),
		TEST(cost_flat_in_pending),
		TEST(cost_flat_in_pages),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
