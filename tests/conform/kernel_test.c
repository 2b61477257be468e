// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Kernels, launches and device calls, bad ones too, through the public API only.  The
 * mechanism comes from WIC_MECHANISM, so that the same program runs over each.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/conform/conform.h"

static void stage_and_publish_bad(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 2, 64, 1);
	void *buffer;

	TEST_EQ(wic_publish(ch, 0, 1), -EINVAL); /* not staged */
	TEST_EQ(wic_stage(ch, 0, 5, 0, &buffer), 0);
	TEST_EQ(wic_publish(ch, 0, 4), -EINVAL);
	TEST_EQ(wic_publish_range(ch, 0, 2, 5), -EINVAL); /* tag 1 is not staged */
	TEST_EQ(wic_publish(ch, 0, 5), 0);                /* nothing was published by the range */
	TEST_EQ(wic_publish(ch, 0, 5), -EINVAL);          /* twice */
	TEST_EQ(wic_stage(ch, 0, 5, 0, &buffer), -EINVAL);
	TEST_EQ(wic_stage(ch, 0, 3, 0, &buffer), -EINVAL);
	wic_channel_destroy(ch);
	close_quietly(w);
}

struct wait_args {
	struct wic_handle h;
	uint64_t epoch;
	uint32_t done;
	int rc;
	char text[200];
};

static void wait_kernel(const void *arg)
{
	struct wait_args *a = (struct wait_args *)(uintptr_t)arg;
	uint32_t tag = (wic_block_id() * wic_block_warps() + wic_warp_id()) % a->h.tags;
	int rc = wic_wait(&a->h, NULL, tag, a->epoch, TIMEOUT);

	if (rc)
		a->rc = rc;
	wic_atomic_add_u32(&a->done, 1);
}

static void wait_for_signals(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 32, 0, 1);
	struct wait_args a = { .h = wic_channel_handle(ch), .epoch = 3 };

	launch(w, wait_kernel, &a, 16, 128);
	TEST_EQ(wic_publish_range(ch, 0, 32, 2), 0);
	TEST_EQ(wic_sync(w, WIC_MS(20)), -ETIMEDOUT);
	TEST_EQ(__atomic_load_n(&a.done, __ATOMIC_RELAXED), 0);
	TEST_EQ(wic_publish_range(ch, 0, 31, 9), 0);
	TEST_EQ(wic_publish(ch, 31, 3), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.done, 64);
	TEST_EQ(a.rc, 0);
	wic_channel_destroy(ch);
	close_quietly(w);
}

struct bad_args {
	struct wic_handle h, signals, closed, none;
	int rc[24];
	uint32_t n;
	uint32_t not_held; /* a tag */
	int tried;         /* what a try of data that nobody has requested is */
	char text[160];
};

static void bad_kernel(const void *arg)
{
	struct bad_args *a = (struct bad_args *)(uintptr_t)arg;
	void *data = NULL;
	int *rc = a->rc;

	rc[0] = wic_request(NULL, NULL, 0, 1, TIMEOUT, &data);
	rc[1] = wic_request(&a->h, NULL, 4, 1, TIMEOUT, &data);
	snprintf(a->text, sizeof(a->text), "%s", wic_last_error());
	rc[2] = wic_request(&a->h, NULL, 0, 0, TIMEOUT, &data);
	rc[3] = wic_wait(&a->h, NULL, 0, WIC_EPOCH_NEXT, TIMEOUT);
	rc[4] = wic_request(&a->h, NULL, 0, 1, TIMEOUT, NULL);
	rc[5] = wic_request(&a->signals, NULL, 0, 1, TIMEOUT, &data);
	rc[6] = wic_request(&a->closed, NULL, 0, 1, TIMEOUT, &data);
	rc[7] = wic_request(&a->none, NULL, 0, 1, TIMEOUT, &data);
	rc[8] = wic_wait(NULL, NULL, 0, 1, TIMEOUT);
	rc[9] = wic_wait(&a->h, NULL, 4, 1, TIMEOUT);
	rc[10] = wic_wait(&a->h, NULL, 0, 0, TIMEOUT);
	rc[11] = wic_release(NULL, 0, 1);
	rc[12] = wic_release(&a->h, 4, 1);
	rc[13] = wic_release(&a->h, a->not_held, 1);
	rc[14] = wic_release(&a->h, 0, 0);
	a->n = 15;
	/* What follows is legal up to the second release. */
	TEST_EQ(wic_try(&a->h, 0, 1, &data), a->tried);
	TEST_EQ(wic_wait(&a->h, NULL, 0, 1, 0), 0);
	TEST_EQ(wic_wait(&a->h, NULL, 0, 9, 0), -EAGAIN);
	TEST_EQ(wic_request(&a->h, NULL, 0, 1, TIMEOUT, &data), 0);
	TEST_EQ(wic_try(&a->h, 0, 1, &data), 0);
	TEST_EQ(wic_release(&a->h, 0, 1), 0);
	rc[a->n++] = wic_release(&a->h, 0, 1);
	/* Gone: it was filled and released, a later one may be in its buffer by now. */
	rc[a->n++] = wic_request(&a->h, NULL, 0, 1, TIMEOUT, &data);
}

static void device_calls_bad(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 4, 64, 1), *signals = channel(w, 4, 0, 1);
	struct wic_channel *closed = channel(w, 4, 64, 1);
	struct bad_args a = { .h = wic_channel_handle(ch), .signals = wic_channel_handle(signals) };
	void *data;

	a.none = wic_channel_handle(NULL);
	/* Nobody holds what nobody has requested; in push mode, what nobody has published. */
	a.not_held = is_push();
	a.tried = is_push() ? 0 : -EAGAIN;
	a.closed = wic_channel_handle(closed);
	TEST_EQ(wic_channel_close(closed), 0);
	stage_and_publish(ch, 0, 1, 64);
	launch(w, bad_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	for (uint32_t i = 0; i < a.n; i++)
		if (a.rc[i] != -EINVAL)
			test_fail(__FILE__, __LINE__, "a bad call is -EINVAL", i, a.rc[i]);
	TEST_STR_HAS(a.text, "tag 4 of 4");
	/* Outside a kernel. */
	TEST_EQ(wic_request(&a.h, NULL, 0, 1, TIMEOUT, &data), -EINVAL);
	TEST_EQ(wic_wait(&a.h, NULL, 0, 1, TIMEOUT), -EINVAL);
	TEST_EQ(wic_release(&a.h, 0, 1), -EINVAL);
	wic_turn();
	wic_look();
	wic_bar();
	close_quietly(w);
}

struct gone_args {
	struct wic_handle h;
	int rc;
};

static void gone_kernel(const void *arg)
{
	struct gone_args *a = (struct gone_args *)(uintptr_t)arg;
	void *data;

	a->rc = wic_request(&a->h, NULL, 0, 3, TIMEOUT, &data);
}

static void request_epoch_that_is_gone(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 1, 64, 1);
	struct gone_args a = { .h = wic_channel_handle(ch) };

	stage_and_publish(ch, 0, 4, 64);
	launch(w, gone_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -EINVAL);
	wic_channel_destroy(ch);
	close_quietly(w);
}

struct block_args {
	uint32_t sum, blocks, lanes, wrong, kept;
};

WIC_KERNEL(block_kernel, struct block_args, a_const)
{
	struct block_args *a = (struct block_args *)(uintptr_t)a_const;
	WIC_SHARED(uint32_t, sums);
	WIC_LANE_VAR(uint32_t, x);

	if (sums[0])
		wic_atomic_add_u32(&a->wrong, 1);
	wic_bar();
	WIC_LANES(l)
		WIC_AT(x, l) = (uint32_t)(wic_warp_id() * 32 + l);
	wic_block_add_u32(sums, wic_reduce_add_u32(x));
	for (int i = 0; i < 5; i++) {
		WIC_TURN();
		wic_bar();
	}
	if (wic_warp_id() == 1)
		return; /* the others do not wait for it */
	wic_bar();
	if (wic_warp_id() == 0) {
		wic_atomic_add_u32(&a->sum, sums[0]);
		wic_atomic_add_u32(&a->blocks, 1);
	}
	wic_atomic_add_u32(&a->lanes, (uint32_t)wic_lanes_live());
}

static void blocks_barriers_shared_memory(void)
{
	struct wic *w = open_default();
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct block_args a = { 0 };

	l.kernel = block_kernel;
	l.args = &a;
	l.grid_blocks = 1000;
	l.block_threads = 8 * 8 * 4 + 1; /* 9 warps, one lane in the last */
	l.shared_bytes = 64;
	TEST_EQ(wic_launch(w, &l), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.wrong, 0);
	TEST_EQ(a.blocks, 1000);
	TEST_EQ(a.sum, 1000 * (256 * 257 / 2));
	TEST_EQ(a.lanes, 1000 * (257 - 32));
	l.block_threads = 65 * 32;
	TEST_EQ(wic_launch(w, &l), -E2BIG);
	close_quietly(w);
}

/* What fits, by the configuration, and what wic_launch() refuses. */
static void check_says_what_is_resident(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic_fit fit = WIC_FIT_INIT;
	uint64_t word = 0;
	struct wic *w;

	cfg.backend = "cpu";
	cfg.sms = 3;
	cfg.sm_warps = 8;
	cfg.sm_blocks = 4;
	TEST_EQ(wic_open(&cfg, &w), 0);
	l.kernel = block_kernel;
	l.grid_blocks = 100;
	TEST_EQ(wic_check(w, &l, &fit), 0);
	TEST_EQ(fit.sm_blocks, 4);
	TEST_EQ(fit.resident_blocks, 12);
	TEST_EQ(fit.grid_blocks, 100);
	TEST_TRUE(!fit.registers && !fit.spill_bytes);
	l.block_threads = 3 * 32 + 1;
	TEST_EQ(wic_check(w, &l, &fit), 0);
	TEST_EQ(fit.sm_blocks, 2);
	TEST_EQ(fit.resident_blocks, 6);
	l.block_threads = 8 * 32 + 1;
	TEST_EQ(wic_check(w, &l, &fit), -E2BIG);
	TEST_EQ(fit.resident_blocks, 6);
	TEST_EQ(wic_launch(w, &l), -E2BIG);
	TEST_EQ(wic_check_word(w, &word), 0);
	TEST_EQ(wic_check_word(w, (const uint64_t *)((uintptr_t)&word + 4)), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "misaligned");
	wic_close(w);
}

static void spin_kernel(const void *arg)
{
	while (!__atomic_load_n((const uint32_t *)arg, __ATOMIC_ACQUIRE))
		wic_look();
}

struct inside_args {
	struct wic *w;
	struct wic_channel *ch;
	int rc;
};

static void inside_kernel(const void *arg)
{
	struct inside_args *a = (struct inside_args *)(uintptr_t)arg;

	a->rc = wic_sync(a->w, WIC_FOREVER);
	wic_channel_destroy(a->ch);
	wic_close(a->w);
}

/* What would wait for the kernel that calls it is refused. */
static void waits_inside_a_kernel(void)
{
	struct wic *w = open_default();
	struct inside_args a = { .w = w, .ch = channel(w, 1, 64, 1) };

	launch(w, inside_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -EINVAL);
	TEST_EQ(log_lines, 2);
	log_lines = 0;
	wic_channel_destroy(a.ch);
	close_quietly(w);
}

static void launch_twice_is_busy(void)
{
	struct wic *w = open_default();
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	uint32_t go = 0;

	l.kernel = spin_kernel;
	l.args = &go;
	l.block_threads = 64;
	TEST_EQ(wic_launch(w, &l), 0);
	TEST_EQ(wic_launch(w, &l), -EBUSY);
	for (int i = 0; i < 1000 && !stats_of(w).looks; i++)
		sleep_ms(1);
	TEST_TRUE(stats_of(w).looks > 0);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(wic_launch(w, &l), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	close_quietly(w);
}

static void events_tell_the_story(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	static struct wic_event events[4096];
	uint32_t seen[8] = { 0 };
	struct wic_channel *ch;
	struct take_args a;
	struct wic *w;
	size_t n = 0;

	cfg.record_events = 4096;
	w = open_with(cfg);
	TEST_EQ(wic_events_read(w, events, 4096, &n), 0);
	TEST_EQ(n, 0); /* what a back-end measured at open is not the user's */
	ch = channel(w, 8, 4096, 1);
	a = take_args(ch, 8, 1);
	launch(w, take_kernel, &a, 2, 128);
	TEST_EQ(wic_events_read(w, events, 4096, &n), -EBUSY);
	/* In push mode what is published before it is asked for parks nobody. */
	wait_for_parks(w, 8);
	for (uint32_t t = 0; t < 8; t++)
		stage_and_publish(ch, t, 1, 4096);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(wic_events_read(w, events, 4096, &n), 0);
	for (size_t i = 0; i < n; i++) {
		TEST_TRUE(events[i].kind < 8 && events[i].warp < 8);
		TEST_TRUE(!i || events[i - 1].time_ns <= events[i].time_ns);
		seen[events[i].kind]++;
	}
	TEST_EQ(seen[WIC_EVENT_COMPUTE], 16);
	TEST_EQ(seen[WIC_EVENT_PARK], 8);
	TEST_EQ(seen[WIC_EVENT_WAKE], 8);
	TEST_EQ(seen[WIC_EVENT_DONE], 8);
	TEST_EQ(stats_of(w).events, n);
	TEST_EQ(stats_of(w).events_lost, 0);
	close_quietly(w);
}

/* A mistake of the program: four warps for one reader.  It harms none but them. */
static void requesters_more_than_readers(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel *ch;
	struct take_args a;
	struct producer p;
	struct wic *w;

	cfg.sms = 2;
	cfg.sm_blocks = 2;
	w = open_with(cfg);
	ch = channel(w, 8, 4096, 1);
	for (uint64_t e = 1; e <= 30; e++) {
		pthread_t thread;

		a = take_args(ch, 8, 1);
		a.all_warps = 1;
		a.epoch_first = e;
		a.epoch_end = e + 1;
		a.timeout_ns = WIC_MS(500);
		p = (struct producer){ ch, e, e + 1, 4096, e, 8 };
		TEST_EQ(pthread_create(&thread, NULL, produce, &p), 0);
		launch(w, take_kernel, &a, 4, 32);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		pthread_join(thread, NULL);
		TEST_TRUE(a.rc == 0 || a.rc == -EINVAL || a.rc == -ETIMEDOUT);
		TEST_TRUE(a.taken >= 8);
	}
	wic_close(w); /* the second release of an epoch by another SM may be in the log */
}

struct count_args {
	struct wic_handle h;
	int rc;
};

static void count_kernel(const void *arg)
{
	struct count_args *a = (struct count_args *)(uintptr_t)arg;
	void *data;

	for (int i = 0; i < 5 && !a->rc; i++)
		a->rc = wic_request(&a->h, NULL, 0, 1, TIMEOUT, &data);
	for (int i = 0; i < 5 && !a->rc; i++)
		a->rc = wic_release(&a->h, 0, 1);
}

static void stats_count_hits(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 1, 64, 5);
	struct count_args a = { .h = wic_channel_handle(ch) };
	struct wic_stats before, after;

	stage_and_publish(ch, 0, 1, 64);
	before = stats_of(w);
	launch(w, count_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	after = stats_of(w);
	TEST_EQ(after.requests - before.requests, 5);
	TEST_EQ(after.hits - before.hits, 5 - if_pull(1));
	TEST_EQ(after.fills - before.fills, if_pull(1));
	wic_channel_destroy(ch);
	close_quietly(w);
}

static void wait_kernel_timeout(const void *arg)
{
	struct wait_args *a = (struct wait_args *)(uintptr_t)arg;
	int rc = wic_wait(&a->h, NULL, 3, a->epoch, WIC_MS(20));

	__atomic_store_n(&a->rc, rc, __ATOMIC_RELAXED);
	snprintf(a->text, sizeof(a->text), "%s", wic_last_error());
}

static void wait_timeout_says_what(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 4, 0, 1);
	struct wait_args a = { .h = wic_channel_handle(ch), .epoch = 8 };

	TEST_EQ(wic_publish(ch, 3, 7), 0);
	launch(w, wait_kernel_timeout, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -ETIMEDOUT);
	TEST_STR_HAS(a.text, "block 0 warp 0");
	TEST_STR_HAS(a.text, "epoch 8 of tag 3");
	TEST_STR_HAS(a.text, "saw 7");
	wic_channel_destroy(ch);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(stage_and_publish_bad),
		TEST(wait_for_signals),
		TEST(device_calls_bad),
		TEST(request_epoch_that_is_gone),
		TEST(blocks_barriers_shared_memory),
		TEST(waits_inside_a_kernel),
		TEST(launch_twice_is_busy),
		TEST(check_says_what_is_resident),
		TEST(events_tell_the_story),
		TEST(requesters_more_than_readers),
		TEST(stats_count_hits),
		TEST(wait_timeout_says_what),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
