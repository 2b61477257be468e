/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Directed cases of the engine: pages, fills, faults, and what ends a request early. */
#include "core/engine_fixture.h"

#define NONE WIC_PAGE_NONE

void wic_assert_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: assertion: %s\n", file, line, condition);
	abort();
}

/* --- pages ------------------------------------------------------------------- */

static void fill_cycle(void)
{
	struct fixture f;
	struct wic_action a;

	fixture_open_small(&f);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	expect_none(&f);
	publish(&f, 0, 1);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), -EINVAL); /* FILL is not pulled */
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_release(f.e, 6), -EBUSY);
	TEST_EQ(wic_engine_filled(f.e, 7, 0), -EINVAL);
	TEST_EQ(wic_engine_filled(f.e, 6, 5), -EINVAL);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), -EINVAL);
	TEST_EQ(wic_engine_release(f.e, 6), -EBUSY); /* REPLAY is not pulled */
	a = expect_replay(&f, 1, 0, false, true);
	TEST_EQ(a.run.first, 6);
	TEST_EQ(a.run.count, 2);
	TEST_EQ(wic_engine_release(f.e, 7), -EINVAL);
	TEST_EQ(wic_engine_release(f.e, 6), 0);
	TEST_EQ(wic_engine_release(f.e, 6), -EINVAL);
	TEST_EQ(wic_engine_release(f.e, 32), -EINVAL);
	expect_none(&f);
	fixture_close(&f);
}

static void join_waiting(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	TEST_EQ(ask(&f, 2, 0, 1, 6), 0);
	publish(&f, 0, 1);
	expect_fill(&f, 0, 1, 6);
	expect_none(&f);
	TEST_EQ(ask(&f, 3, 0, 1, 6), 0); /* joins the same fill */
	expect_none(&f);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 1, 0, false, true);
	expect_replay(&f, 2, 0, false, true);
	expect_replay(&f, 3, 0, false, true);
	TEST_EQ(ask(&f, 4, 0, 1, 6), 0); /* finds it done */
	expect_replay(&f, 4, 0, false, true);
	expect_none(&f);
	TEST_EQ(wic_engine_release(f.e, 6), 0);
	fixture_close(&f);
}

static void join_mismatch_is_einval(void)
{
	struct fixture f;
	struct wic_want w = { 1, 0, 6, 3 };
	struct wic_request r = { 9, WIC_DEADLINE_NEVER, 0, 1, &w };

	fixture_open_small(&f);
	r.channel = f.channel;
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	TEST_EQ(ask(&f, 2, 1, 1, 6), -EINVAL);               /* another tag */
	TEST_EQ(ask(&f, 2, 0, 2, 6), -EINVAL);               /* another epoch */
	TEST_EQ(ask(&f, 2, 0, 1, 7), -EINVAL);               /* inside the run */
	TEST_EQ(ask(&f, 2, 0, 1, 5), -EINVAL);               /* overlaps it */
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), -EINVAL); /* another length */
	TEST_TRUE(wic_engine_is_consistent(f.e));
	TEST_EQ(ask(&f, 2, 0, 1, 4), 0);
	TEST_EQ(ask(&f, 3, 0, 1, 8), 0);
	fixture_close(&f);
}

static void join_timeout_while_none(void)
{
	struct fixture f;
	struct wic_action a;

	fixture_open_small(&f);
	TEST_EQ(ask_by(&f, 1, 0, 1, 6, 100), 0);
	TEST_EQ(ask(&f, 2, 0, 1, 6), 0);
	expect_timer(&f, 100);
	TEST_EQ(wic_engine_tick(f.e, 100), 0);
	a = expect_replay(&f, 1, -ETIMEDOUT, false, true);
	TEST_EQ(a.tag, 0);
	TEST_EQ(a.epoch, 1);
	TEST_EQ(a.epoch_seen, 0);
	expect_timer(&f, WIC_DEADLINE_NEVER);
	TEST_EQ(wic_engine_release(f.e, 6), -EBUSY); /* 2 pends on it */
	publish(&f, 0, 1);
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 2, 0, false, true);
	expect_none(&f);
	fixture_close(&f);
}

static void join_timeout_while_filling(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(ask_by(&f, 1, 0, 1, 6, 100), 0);
	TEST_EQ(ask_by(&f, 2, 0, 1, 6, 200), 0);
	expect_timer(&f, 100);
	publish(&f, 0, 1);
	TEST_EQ(wic_engine_tick(f.e, 150), 0); /* FILL is queued: too late to time out */
	expect_fill(&f, 0, 1, 6);
	expect_timer(&f, 200);
	TEST_EQ(wic_engine_tick(f.e, 250), 0);
	expect_timer(&f, WIC_DEADLINE_NEVER);
	expect_none(&f);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 1, 0, false, true);
	expect_replay(&f, 2, 0, false, true);
	expect_none(&f);
	fixture_close(&f);
}

static void timeout_all_of_while_filling(void)
{
	struct fixture f;
	struct wic_want w[2] = { { 1, 0, 4, 2 }, { 1, 1, 8, 2 } };
	struct wic_request r = { 1, 100, 0, 2, w };
	struct wic_action a;

	fixture_open_small(&f);
	r.channel = f.channel;
	publish(&f, 0, 1);
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	expect_fill(&f, 0, 1, 4);
	expect_timer(&f, 100);
	TEST_EQ(wic_engine_tick(f.e, 100), 0);
	expect_timer(&f, WIC_DEADLINE_NEVER);
	publish(&f, 1, 1); /* its other want is dropped: no fill starts */
	expect_none(&f);
	TEST_EQ(wic_engine_cancel(f.e, 1), 0); /* the first reason stays */
	expect_none(&f);
	TEST_EQ(wic_engine_filled(f.e, 4, 0), 0);
	a = expect_replay(&f, 1, -ETIMEDOUT, false, true);
	TEST_EQ(a.tag, 1); /* the first missing one */
	TEST_EQ(wic_engine_release(f.e, 4), 0);
	TEST_EQ(wic_engine_release(f.e, 8), 0);
	expect_none(&f);
	fixture_close(&f);
}

static void timeout_all_of_when_both_fill(void)
{
	struct fixture f;
	struct wic_want w[2] = { { 1, 0, 4, 2 }, { 1, 1, 8, 2 } };
	struct wic_request r = { 1, 100, 0, 2, w };

	fixture_open_small(&f);
	r.channel = f.channel;
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	expect_timer(&f, 100);
	TEST_EQ(wic_engine_publish(f.e, f.channel, 0, 2, 1), 0);
	expect_fill(&f, 0, 1, 4);
	expect_fill(&f, 1, 1, 8);
	TEST_EQ(wic_engine_tick(f.e, 100), 0);
	expect_timer(&f, WIC_DEADLINE_NEVER);
	TEST_EQ(wic_engine_filled(f.e, 8, 0), 0);
	expect_none(&f);
	TEST_EQ(wic_engine_filled(f.e, 4, 0), 0);
	expect_replay(&f, 1, 0, false, true); /* nothing is missing after all */
	expect_none(&f);
	fixture_close(&f);
}

static void filled_with_error(void)
{
	struct fixture f;

	fixture_open_small(&f);
	publish(&f, 0, 1);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	TEST_EQ(ask(&f, 2, 0, 1, 6), 0);
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, -EIO), 0);
	expect_replay(&f, 1, -EIO, false, true);
	expect_replay(&f, 2, -EIO, false, true);
	/* A late fault learns the same; a new request fills again. */
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	expect_replay(&f, 1, -EIO, true, false);
	TEST_EQ(ask(&f, 3, 0, 1, 6), 0);
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 3, 0, false, true);
	TEST_EQ(wic_engine_release(f.e, 6), 0);
	expect_none(&f);
	fixture_close(&f);
}

/* One fill of two fails: the request ends when the other is done, with the error. */
static void filled_with_error_all_of(void)
{
	struct fixture f;
	struct wic_want w[2] = { { 1, 0, 4, 2 }, { 1, 1, 8, 2 } };
	struct wic_request r = { 1, WIC_DEADLINE_NEVER, 0, 2, w };

	fixture_open_small(&f);
	r.channel = f.channel;
	TEST_EQ(wic_engine_publish(f.e, f.channel, 0, 2, 1), 0);
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	expect_fill(&f, 0, 1, 4);
	expect_fill(&f, 1, 1, 8);
	TEST_EQ(wic_engine_filled(f.e, 4, -EIO), 0);
	expect_none(&f);
	TEST_EQ(wic_engine_filled(f.e, 8, 0), 0);
	TEST_EQ(expect_replay(&f, 1, -EIO, false, true).tag, 0);
	TEST_EQ(wic_engine_release(f.e, 4), 0);
	TEST_EQ(wic_engine_release(f.e, 8), 0);
	fixture_close(&f);
}

static void epoch_gone(void)
{
	struct fixture f;
	struct wic_action a;

	fixture_open_small(&f);
	publish(&f, 0, 5);
	TEST_EQ(ask(&f, 1, 0, 4, 6), 0);
	a = expect_replay(&f, 1, -EINVAL, false, true);
	TEST_EQ(a.epoch, 4);
	TEST_EQ(a.epoch_seen, 5);
	TEST_EQ(wic_engine_release(f.e, 6), 0);
	/* Gone while it waits. */
	TEST_EQ(ask(&f, 2, 0, 6, 6), 0);
	publish(&f, 0, 7);
	expect_replay(&f, 2, -EINVAL, false, true);
	TEST_EQ(wic_engine_release(f.e, 6), 0);
	/* Published on while it is filled or filled already: it is there. */
	TEST_EQ(ask(&f, 3, 0, 7, 6), 0);
	publish(&f, 0, 8);
	TEST_EQ(ask(&f, 4, 0, 7, 6), 0);
	expect_fill(&f, 0, 7, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 3, 0, false, true);
	expect_replay(&f, 4, 0, false, true);
	TEST_EQ(ask(&f, 5, 0, 7, 6), 0);
	expect_replay(&f, 5, 0, false, true);
	expect_none(&f);
	fixture_close(&f);
}

/* The producer has its buffer again: nobody may copy from it for this epoch. */
static void epoch_gone_after_release(void)
{
	struct fixture f;

	fixture_open_small(&f);
	publish(&f, 0, 5);
	TEST_EQ(ask(&f, 1, 0, 5, 6), 0);
	expect_fill(&f, 0, 5, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 1, 0, false, true);
	TEST_EQ(wic_engine_release(f.e, 6), 0);
	TEST_EQ(ask(&f, 2, 0, 5, 6), 0);
	expect_replay(&f, 2, -EINVAL, false, true);
	TEST_EQ(wic_engine_release(f.e, 6), 0);
	publish(&f, 0, 6);
	TEST_EQ(ask(&f, 3, 0, 6, 6), 0);
	expect_fill(&f, 0, 6, 6);
	expect_none(&f);
	fixture_close(&f);
}

static void retire_cycle(void)
{
	struct fixture f;
	struct wic_run run = { 4, 6 };
	struct wic_run part = { 4, 2 };
	struct wic_action a;

	fixture_open_small(&f);
	TEST_EQ(wic_engine_retire(f.e, (struct wic_run){ 30, 3 }), -EINVAL);
	TEST_EQ(wic_engine_retire(f.e, (struct wic_run){ 32, 1 }), -EINVAL);
	TEST_EQ(wic_engine_retire(f.e, (struct wic_run){ 3, 0 }), -EINVAL);
	TEST_EQ(ask(&f, 1, 0, 1, 8), 0);
	TEST_EQ(wic_engine_retire(f.e, run), -EINVAL); /* not released */
	TEST_EQ(wic_engine_cancel(f.e, 1), 0);
	expect_replay(&f, 1, -ECANCELED, false, true);
	TEST_EQ(wic_engine_release(f.e, 8), 0);
	TEST_EQ(wic_engine_retire(f.e, run), 0);
	TEST_EQ(wic_engine_retire(f.e, part), -EINVAL);
	TEST_EQ(wic_engine_invalidated(f.e, run), -EINVAL); /* not pulled */
	a = expect(&f, WIC_ACTION_INVALIDATE);
	TEST_EQ(a.run.first, 4);
	TEST_EQ(a.run.count, 6);
	TEST_EQ(ask(&f, 1, 0, 1, 9), -EINVAL);
	TEST_EQ(ask(&f, 1, 0, 1, 4), -EINVAL);
	TEST_EQ(wic_engine_release(f.e, 4), -EINVAL);
	TEST_EQ(wic_engine_invalidated(f.e, part), -EINVAL);
	TEST_EQ(wic_engine_invalidated(f.e, run), 0);
	TEST_EQ(wic_engine_invalidated(f.e, run), -EINVAL);
	TEST_EQ(ask(&f, 1, 0, 1, 8), 0);
	expect_none(&f);
	fixture_close(&f);
}

/* --- faults ------------------------------------------------------------------ */

static void fault_before_replay(void)
{
	struct fixture f;
	struct wic_engine_counters c;

	fixture_open_small(&f);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	expect_none(&f);
	publish(&f, 0, 1);
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	TEST_EQ(expect_replay(&f, 1, 0, true, true).run.first, 6);
	expect_none(&f);
	wic_engine_counters(f.e, &c);
	TEST_EQ(c.faults, 2);
	TEST_EQ(c.faults_dropped, 1);
	fixture_close(&f);
}

static void fault_after_replay(void)
{
	struct wic_engine_counters c;
	struct fixture f;
	struct wic_action a;

	fixture_open_small(&f);
	publish(&f, 0, 1);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 1, 0, false, true);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0); /* the same one, not pulled yet */
	a = expect_replay(&f, 1, 0, true, false);
	TEST_EQ(a.run.first, 6);
	TEST_EQ(a.run.count, 2);
	TEST_EQ(a.epoch, 1);
	expect_none(&f);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	expect_replay(&f, 1, 0, true, false);
	TEST_EQ(wic_engine_release(f.e, 6), 0);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	expect_replay(&f, WIC_COOKIE_NONE, -EINVAL, true, false);
	expect_none(&f);
	/* One request ended; what followed opened its page. */
	wic_engine_counters(f.e, &c);
	TEST_EQ(c.replays, 1);
	fixture_close(&f);
}

/* Satisfied, REPLAY decided but not pulled: the fault still rides on it. */
static void fault_between_end_and_pull(void)
{
	struct fixture f;

	fixture_open_small(&f);
	publish(&f, 0, 1);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	expect_replay(&f, 1, 0, true, true);
	expect_none(&f);
	fixture_close(&f);
}

static void fault_publish_between(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	publish(&f, 0, 1); /* between request and fault */
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 1, 0, true, true);
	fixture_close(&f);
}

static void fault_after_timeout(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(ask_by(&f, 1, 0, 1, 6, 10), 0);
	TEST_EQ(ask(&f, 2, 0, 1, 6), 0);
	expect_timer(&f, 10);
	TEST_EQ(wic_engine_tick(f.e, 10), 0);
	expect_replay(&f, 1, -ETIMEDOUT, false, true);
	expect_timer(&f, WIC_DEADLINE_NEVER);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	expect_replay(&f, 1, -ETIMEDOUT, true, false);
	TEST_EQ(wic_engine_fault(f.e, 6, 2), 0); /* pending: only noted */
	expect_none(&f);
	fixture_close(&f);
}

static void fault_inside_run(void)
{
	struct fixture f;
	struct wic_want w[2] = { { 1, 0, 4, 2 }, { 1, 1, 8, 4 } };
	struct wic_request r = { 1, WIC_DEADLINE_NEVER, 0, 2, w };
	struct wic_action a;

	fixture_open_small(&f);
	r.channel = f.channel;
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	TEST_EQ(wic_engine_fault(f.e, 10, 1), 0); /* the second want's third page */
	TEST_EQ(wic_engine_cancel(f.e, 1), 0);
	a = expect_replay(&f, 1, -ECANCELED, true, true);
	TEST_EQ(a.run.first, 10);
	TEST_EQ(a.run.count, 2);
	TEST_EQ(wic_engine_fault(f.e, 11, 1), 0);
	a = expect_replay(&f, 1, -ECANCELED, true, false);
	TEST_EQ(a.run.first, 11);
	TEST_EQ(a.run.count, 1);
	TEST_EQ(a.tag, 1);
	fixture_close(&f);
}

static void fault_late_of_two_cookies(void)
{
	struct fixture f;

	fixture_open_small(&f);
	publish(&f, 0, 1);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	TEST_EQ(ask(&f, 2, 0, 1, 6), 0);
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 1, 0, false, true);
	expect_replay(&f, 2, 0, false, true);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	TEST_EQ(wic_engine_fault(f.e, 6, 2), -EAGAIN);
	expect_replay(&f, 1, 0, true, false);
	TEST_EQ(wic_engine_fault(f.e, 6, 2), 0);
	expect_replay(&f, 2, 0, true, false);
	expect_none(&f);
	fixture_close(&f);
}

static void fault_at_stranger(void)
{
	struct fixture f;
	struct wic_action a;

	fixture_open_small(&f);
	TEST_EQ(wic_engine_fault(f.e, 32, 1), -EINVAL);
	TEST_EQ(wic_engine_fault(f.e, 31, 1), 0);
	TEST_EQ(wic_engine_fault(f.e, 31, 2), 0); /* dropped: one REPLAY opens the page */
	a = expect_replay(&f, WIC_COOKIE_NONE, -EINVAL, true, false);
	TEST_EQ(a.run.first, 31);
	TEST_EQ(a.run.count, 1);
	TEST_EQ(wic_engine_retire(f.e, (struct wic_run){ 0, 4 }), 0);
	expect(&f, WIC_ACTION_INVALIDATE);
	TEST_EQ(wic_engine_fault(f.e, 2, 1), 0);
	expect_replay(&f, WIC_COOKIE_NONE, -EINVAL, true, false);
	expect_none(&f);
	fixture_close(&f);
}

/* The page was released while the late REPLAY waited to be pulled: it still comes. */
static void fault_late_then_release(void)
{
	struct fixture f;
	struct wic_action a;

	fixture_open_small(&f);
	publish(&f, 0, 1);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	expect_fill(&f, 0, 1, 6);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 1, 0, false, true);
	TEST_EQ(wic_engine_fault(f.e, 6, 1), 0);
	TEST_EQ(wic_engine_release(f.e, 6), 0);
	TEST_EQ(wic_engine_free(f.e, f.channel), 0);
	a = expect_replay(&f, 1, 0, true, false);
	TEST_EQ(a.run.first, 6);
	TEST_EQ(a.run.count, 1);
	expect_none(&f);
	fixture_close(&f);
}

/* --- cancel, owner died, time ------------------------------------------------ */

static void cancel_pending(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(wic_engine_cancel(f.e, 1), -EINVAL);
	TEST_EQ(ask(&f, 1, 0, 1, NONE), 0);
	TEST_EQ(wic_engine_cancel(f.e, 1), 0);
	TEST_EQ(wic_engine_cancel(f.e, 1), -EINVAL); /* ended, not pulled */
	expect_replay(&f, 1, -ECANCELED, false, true);
	TEST_EQ(wic_engine_cancel(f.e, 1), -EINVAL);
	publish(&f, 0, 1);
	expect_none(&f);
	fixture_close(&f);
}

static void cancel_while_filling(void)
{
	struct fixture f;

	fixture_open_small(&f);
	publish(&f, 0, 1);
	TEST_EQ(ask(&f, 1, 0, 1, 6), 0);
	TEST_EQ(wic_engine_cancel(f.e, 1), 0);
	expect_fill(&f, 0, 1, 6);
	expect_none(&f);
	TEST_EQ(wic_engine_filled(f.e, 6, 0), 0);
	expect_replay(&f, 1, 0, false, true);
	fixture_close(&f);
}

static void owner_died_now_and_later(void)
{
	struct fixture f;

	fixture_open_small(&f);
	publish(&f, 1, 3);
	TEST_EQ(ask(&f, 1, 0, 1, NONE), 0);
	TEST_EQ(ask(&f, 2, 1, 4, 6), 0);
	TEST_EQ(ask(&f, 3, 2, 1, NONE), 0);
	TEST_EQ(wic_engine_owner_died(f.e, f.channel, 0, 9), -EINVAL);
	TEST_EQ(wic_engine_owner_died(f.e, f.channel, 0, 2), 0);
	expect_replay(&f, 1, -EOWNERDEAD, false, true);
	expect_replay(&f, 2, -EOWNERDEAD, false, true);
	expect_none(&f); /* 3 has another producer */
	TEST_EQ(ask(&f, 4, 1, 4, NONE), 0);
	expect_replay(&f, 4, -EOWNERDEAD, false, true);
	TEST_EQ(ask(&f, 5, 1, 3, NONE), 0); /* published before */
	expect_replay(&f, 5, 0, false, true);
	TEST_EQ(ask(&f, 6, 1, 3, 10), 0);
	expect_fill(&f, 1, 3, 10);
	fixture_close(&f);
}

/* A request of two dead tags ends once. */
static void owner_died_all_of(void)
{
	struct fixture f;
	struct wic_want w[3] = { { 1, 0, NONE, 0 }, { 1, 1, NONE, 0 }, { 2, 1, NONE, 0 } };
	struct wic_request r = { 1, 70, 0, 3, w };

	fixture_open_small(&f);
	r.channel = f.channel;
	TEST_EQ(wic_engine_request(f.e, &r, 1, 0), 0);
	expect_timer(&f, 70);
	TEST_EQ(wic_engine_owner_died(f.e, f.channel, 0, 8), 0);
	expect_replay(&f, 1, -EOWNERDEAD, false, true);
	expect_timer(&f, WIC_DEADLINE_NEVER);
	expect_none(&f);
	fixture_close(&f);
}

static void timer_only_on_change(void)
{
	struct fixture f;

	fixture_open_small(&f);
	TEST_EQ(ask_by(&f, 1, 0, 1, NONE, 100), 0);
	expect_timer(&f, 100);
	TEST_EQ(ask_by(&f, 2, 0, 1, NONE, 200), 0);
	TEST_EQ(ask_by(&f, 3, 0, 1, NONE, 100), 0);
	expect_none(&f);
	TEST_EQ(ask_by(&f, 4, 1, 1, NONE, 50), 0);
	TEST_EQ(ask_by(&f, 5, 1, 1, NONE, 40), 0);
	expect_timer(&f, 40); /* one, with the latest value */
	expect_none(&f);
	TEST_EQ(wic_engine_cancel(f.e, 5), 0);
	TEST_EQ(ask_by(&f, 6, 1, 1, NONE, 40), 0);
	expect_replay(&f, 5, -ECANCELED, false, true);
	expect_none(&f); /* changed and changed back */
	TEST_EQ(wic_engine_tick(f.e, 39), 0);
	expect_none(&f);
	TEST_EQ(wic_engine_tick(f.e, 100), 0);
	expect_replay(&f, 6, -ETIMEDOUT, false, true);
	expect_replay(&f, 4, -ETIMEDOUT, false, true);
	expect_replay(&f, 1, -ETIMEDOUT, false, true);
	expect_replay(&f, 3, -ETIMEDOUT, false, true);
	expect_timer(&f, 200);
	publish(&f, 0, 1);
	expect_replay(&f, 2, 0, false, true);
	expect_timer(&f, WIC_DEADLINE_NEVER);
	expect_none(&f);
	fixture_close(&f);
}

static void deadline_in_the_past(void)
{
	struct fixture f;
	struct wic_want w = { 1, 0, NONE, 0 };
	struct wic_request r = { 1, 100, 0, 1, &w };

	fixture_open_small(&f);
	r.channel = f.channel;
	TEST_EQ(wic_engine_request(f.e, &r, 1, 100), 0);
	expect_replay(&f, 1, -ETIMEDOUT, false, true);
	publish(&f, 0, 1);
	TEST_EQ(wic_engine_request(f.e, &r, 1, 100), 0);
	expect_replay(&f, 1, 0, false, true); /* there already: no wait, no timeout */
	expect_none(&f);
	fixture_close(&f);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(fill_cycle),
		TEST(join_waiting),
		TEST(join_mismatch_is_einval),
		TEST(join_timeout_while_none),
		TEST(join_timeout_while_filling),
		TEST(timeout_all_of_while_filling),
		TEST(timeout_all_of_when_both_fill),
		TEST(filled_with_error),
		TEST(filled_with_error_all_of),
		TEST(epoch_gone),
		TEST(epoch_gone_after_release),
		TEST(retire_cycle),
		TEST(fault_before_replay),
		TEST(fault_after_replay),
		TEST(fault_between_end_and_pull),
		TEST(fault_publish_between),
		TEST(fault_after_timeout),
		TEST(fault_inside_run),
		TEST(fault_late_of_two_cookies),
		TEST(fault_at_stranger),
		TEST(fault_late_then_release),
		TEST(cancel_pending),
		TEST(cancel_while_filling),
		TEST(owner_died_now_and_later),
		TEST(owner_died_all_of),
		TEST(timer_only_on_change),
		TEST(deadline_in_the_past),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
