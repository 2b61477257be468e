// SPDX-License-Identifier: MIT OR GPL-2.0
/* Each counter and the recorder's events, of runs whose numbers are known. */
#include "tests/conform/conform.h"

static void zero_at_open(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_stats s;
	struct wic *w;

	cfg.record_events = 64;
	w = open_with(cfg);
	s = stats_of(w);
	/* What the Monitor does by itself goes on; nothing else has happened. */
	s.monitor_cpu_ns = 0;
	s.monitor_sleeps = 0;
	for (size_t i = 1; i < sizeof(s) / sizeof(uint64_t); i++)
		TEST_EQ(((uint64_t *)&s)[i], 0);
	close_quietly(w);
}

static void counters_of_parks(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel *ch;
	struct take_args a;
	struct wic_stats s;
	struct wic *w;

	cfg.sms = 1;
	cfg.close_batch = 1;
	w = open_with(cfg);
	ch = channel(w, 8, 8192, 1);
	a = take_args(ch, 8, 1);
	launch(w, take_kernel, &a, 2, 128);
	wait_for_parks(w, 8);
	for (uint32_t t = 0; t < 8; t++)
		stage_and_publish(ch, t, 1, 8192);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.taken, 8);
	s = stats_of(w);
	TEST_EQ(s.requests, 8);
	TEST_EQ(s.hits, 0);
	TEST_EQ(s.parks, 8);
	TEST_TRUE(s.faults >= if_pull(1) && s.faults <= s.batches);
	TEST_TRUE(s.batches >= if_pull(1) && s.batches <= if_pull(8));
	TEST_EQ(s.fills, if_pull(8));
	TEST_EQ(s.fill_bytes, if_pull(8 * 8192));
	TEST_EQ(s.replays, if_pull(8));
	TEST_TRUE(s.publishes >= if_pull(1) && s.publishes <= if_pull(8));
	TEST_TRUE(s.checks >= if_pull(8));
	TEST_EQ(s.timeouts, 0);
	TEST_EQ(s.pool_waits, 0);
	/* The one that watches for all of an SM. */
	TEST_TRUE(is_push() ? s.looks > 0 : !s.looks);
	TEST_EQ(s.events, 0);
	/* A fault opens one page, which is closed after the release. */
	for (uint64_t end_ns = now_ns() + TIMEOUT; s.pages_closed < s.faults; s = stats_of(w))
		TEST_TRUE(now_ns() < end_ns);
	TEST_EQ(s.pages_closed, s.faults);
	TEST_TRUE(s.invalidates >= if_pull(1) && s.invalidates <= if_pull(16));
	TEST_TRUE(s.monitor_cpu_ns > 0);
	wic_channel_destroy(ch);
	close_quietly(w);
}

struct turn_args {
	struct wic_handle h;
	int rc;
};

static void turn_kernel(const void *arg)
{
	struct turn_args *a = (struct turn_args *)(uintptr_t)arg;

	for (int i = 0; i < 5; i++)
		WIC_TURN();
	for (int i = 0; i < 3; i++)
		wic_look();
	if (wic_wait(&a->h, NULL, 0, 1, TIMEOUT))
		__atomic_store_n(&a->rc, -1, __ATOMIC_RELAXED);
}

static void counters_of_hits(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 1, 0, 1);
	struct turn_args a = { .h = wic_channel_handle(ch) };
	struct wic_stats s;

	TEST_EQ(wic_publish(ch, 0, 1), 0);
	launch(w, turn_kernel, &a, 2, 64);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	s = stats_of(w);
	TEST_EQ(s.requests, 4);
	TEST_EQ(s.hits, 4);
	TEST_EQ(s.parks, 0);
	TEST_EQ(s.turns, 4 * 5);
	TEST_EQ(s.looks, 4 * 3);
	TEST_EQ(s.fills, 0);
	TEST_EQ(s.fill_bytes, 0);
	wic_channel_destroy(ch);
	close_quietly(w);
}

struct both_args {
	struct wic_handle pull, push;
	int rc;
};

static void both_kernel(const void *arg)
{
	struct both_args *a = (struct both_args *)(uintptr_t)arg;
	void *data;

	for (int i = 0; i < 5 && !a->rc; i++)
		a->rc = wic_request(&a->pull, NULL, 0, 1, TIMEOUT, &data);
	for (int i = 0; i < 5 && !a->rc; i++)
		a->rc = wic_request(&a->push, NULL, 0, 1, TIMEOUT, &data);
	for (int i = 0; i < 5 && !a->rc; i++)
		a->rc = wic_release(&a->pull, 0, 1);
	for (int i = 0; i < 5 && !a->rc; i++)
		a->rc = wic_release(&a->push, 0, 1);
}

/* Both modes in one kernel: neither's hits are lost. */
static void counters_of_hits_in_both_modes(void)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_channel *pull, *push;
	struct wic *w = open_default();
	struct both_args a = { .rc = 0 };
	struct wic_stats s;

	d.tags = 1;
	d.bytes_per_tag = 64;
	d.readers = 5;
	d.mode = WIC_MODE_PULL;
	TEST_EQ(wic_channel_create(w, &d, &pull), 0);
	d.mode = WIC_MODE_PUSH;
	TEST_EQ(wic_channel_create(w, &d, &push), 0);
	a.pull = wic_channel_handle(pull);
	a.push = wic_channel_handle(push);
	stage_and_publish(pull, 0, 1, 64);
	stage_and_publish(push, 0, 1, 64);
	launch(w, both_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	s = stats_of(w);
	TEST_EQ(s.requests, 10);
	/* Pull mode fetches the first. */
	TEST_EQ(s.hits, 9);
	close_quietly(w);
}

/* What was taken is what is read and what is lost, whoever lost it. */
static void events_taken_and_lost(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_event events[64];
	struct wic_channel *ch;
	struct turn_args a;
	struct wic *w;
	size_t n;

	cfg.sms = 1;
	cfg.record_events = 16;
	w = open_with(cfg);
	ch = channel(w, 1, 0, 1);
	a = (struct turn_args){ .h = wic_channel_handle(ch) };
	TEST_EQ(wic_publish(ch, 0, 1), 0);
	/* Each warp begins and is done: 24 events for 16 places. */
	launch(w, turn_kernel, &a, 3, 128);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(stats_of(w).events, 24);
	TEST_EQ(stats_of(w).events_lost, 8);
	TEST_EQ(wic_events_read(w, events, 10, &n), 0);
	TEST_EQ(n, 10);
	TEST_EQ(stats_of(w).events, 24);
	TEST_EQ(stats_of(w).events_lost, 14);
	TEST_EQ(events[9].kind, WIC_EVENT_DONE);
	TEST_EQ(wic_events_read(w, events, 64, &n), 0);
	TEST_EQ(n, 0);
	launch(w, turn_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(wic_events_read(w, events, 64, &n), 0);
	TEST_EQ(n, 2);
	TEST_EQ(stats_of(w).events, 26);
	TEST_EQ(stats_of(w).events_lost, 14);
	wic_channel_destroy(ch);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(zero_at_open),          TEST(counters_of_parks),
		TEST(counters_of_hits),      TEST(counters_of_hits_in_both_modes),
		TEST(events_taken_and_lost), { 0 },
	};

	return test_main(argc, argv, tests);
}
