// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The contract on channels host -> device, through the public API only.  The mechanism comes
 * from WIC_MECHANISM, so that the same program runs over each; the mode from CONFORM_MODE.
 */
#include "tests/conform/conform.h"

static void request_published_before(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 16, 10000, 1);
	struct take_args a = take_args(ch, 16, 1);

	for (uint32_t t = 0; t < 16; t++)
		stage_and_publish(ch, t, 1, 10000);
	launch(w, take_kernel, &a, 4, 128);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.taken, 16);
	TEST_EQ(a.wrong, 0);
	TEST_EQ(stats_of(w).fills, if_pull(16));
	wic_channel_destroy(ch);
	close_quietly(w);
}

/*
 * Until @count warps wait, for data or for pages: one that a busy machine starts later would
 * find the channel closed, which is another error, or its data there.  None may be woken meanwhile.
 */
static void wait_for_waiters(struct wic *w, uint64_t count)
{
	uint64_t end = now_ns() + TIMEOUT;

	while (stats_of(w).parks + stats_of(w).pool_waits < count) {
		TEST_TRUE(now_ns() < end);
		sleep_ms(1);
	}
	TEST_EQ(wic_sync(w, 0), -ETIMEDOUT);
}

static void request_parks_until_published(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 40, 4096, 1);
	struct take_args a = take_args(ch, 40, 1);
	struct wic_stats before = stats_of(w), s;

	launch(w, take_kernel, &a, 10, 128);
	wait_for_waiters(w, 32); /* 8 blocks of 4 warps are resident on an SM */
	TEST_EQ(__atomic_load_n(&a.taken, __ATOMIC_RELAXED), 0);
	for (uint32_t t = 40; t-- > 0;)
		stage_and_publish(ch, t, 1, 4096);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.taken, 40);
	TEST_EQ(a.wrong, 0);
	s = stats_of(w);
	TEST_TRUE(s.parks - before.parks >= 32);
	TEST_TRUE(s.faults - before.faults >= if_pull(2));
	TEST_TRUE(s.faults - before.faults <= if_pull(s.parks - before.parks));
	wic_channel_destroy(ch);
	close_quietly(w);
}

static void exchange_many_epochs(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 61, 5000, 1);
	struct take_args a = take_args(ch, 61, 40);
	struct producer p = { ch, 1, 41, 5000, 42, 61 };

	exchange(w, &a, &p, 8, 160);
	TEST_EQ(a.taken, 61 * 40);
	wic_channel_destroy(ch);
	close_quietly(w);
}

static void exchange_several_readers(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 20, 9000, 24);
	struct take_args a = take_args(ch, 20, 20);
	struct producer p = { ch, 1, 21, 9000, 7, 20 };

	a.all_warps = 1;
	exchange(w, &a, &p, 6, 128);
	TEST_EQ(a.taken, 20 * 20 * 24);
	/* One run of pages a (tag, epoch), whoever asks for it. */
	TEST_EQ(stats_of(w).fills, if_pull(400));
	wic_channel_destroy(ch);
	close_quietly(w);
}

static void exchange_small_pool(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel *ch;
	struct take_args a;
	struct producer p;
	struct wic *w;

	/*
	 * 32 warps want 3 pages each; 8 can be held.  An epoch a launch: a producer that
	 * waits for the fill of one tag while the pages are held by warps that wait for
	 * another is a deadlock of the program.
	 */
	cfg.pool_pages = 16;
	w = open_with(cfg);
	ch = channel(w, 50, 3 * 4096, 1);
	for (uint64_t e = 1; e <= 20; e++) {
		a = take_args(ch, 50, 1);
		a.epoch_first = e;
		a.epoch_end = e + 1;
		p = (struct producer){ ch, e, e + 1, 3 * 4096, 99 + e, 50 };
		exchange(w, &a, &p, 8, 128);
		TEST_EQ(a.taken, 50);
	}
	TEST_TRUE(is_push() ? !stats_of(w).pool_waits : stats_of(w).pool_waits > 0);
	wic_channel_destroy(ch);
	close_quietly(w);
}

static void exchange_at_epoch(uint64_t first)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 8, 4096, 1);
	struct take_args a = take_args(ch, 8, 1);
	struct producer p = { ch, first, first + 3, 4096, 5, 8 };

	a.epoch_first = first;
	a.epoch_end = first + 3;
	exchange(w, &a, &p, 2, 128);
	TEST_EQ(a.taken, 24);
	wic_channel_destroy(ch);
	close_quietly(w);
}

static void exchange_epochs_at_wraps(void)
{
	exchange_at_epoch((1ull << 32) - 2);
	exchange_at_epoch(WIC_EPOCH_LAST - 2);
}

static void request_timeout(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 4, 4096, 1);
	struct take_args a = take_args(ch, 4, 1);
	uint64_t begin = now_ns(), took;

	a.timeout_ns = WIC_MS(50);
	launch(w, take_kernel, &a, 1, 128);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	took = now_ns() - begin;
	TEST_EQ(a.rc, -ETIMEDOUT);
	TEST_TRUE(took >= WIC_MS(50));
	TEST_EQ(stats_of(w).timeouts, 4);
	/* The context stays usable, and the pages came back. */
	a = take_args(ch, 4, 1);
	for (uint32_t t = 0; t < 4; t++)
		stage_and_publish(ch, t, 1, 4096);
	launch(w, take_kernel, &a, 1, 128);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.taken, 4);
	wic_channel_destroy(ch);
	close_quietly(w);
}

static void request_timeout_in_small_pool(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel *ch;
	struct take_args a;
	struct wic *w;

	cfg.pool_pages = 4;
	w = open_with(cfg);
	ch = channel(w, 32, 4096, 1);
	a = take_args(ch, 32, 1);
	a.timeout_ns = WIC_MS(20);
	launch(w, take_kernel, &a, 8, 128);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -ETIMEDOUT);
	TEST_EQ(a.taken, 0);
	wic_channel_destroy(ch);
	close_quietly(w);
}

static void channel_close_cancels(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel *ch;
	struct take_args a;
	struct wic *w;

	cfg.pool_pages = 8; /* some wait for data, the others for pages */
	w = open_with(cfg);
	ch = channel(w, 32, 4096, 1);
	a = take_args(ch, 32, 1);
	a.timeout_ns = WIC_FOREVER;
	launch(w, take_kernel, &a, 8, 128);
	wait_for_waiters(w, 32);
	TEST_EQ(wic_channel_close(ch), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -ECANCELED);
	TEST_EQ(a.taken, 0);
	wic_channel_destroy(ch);
	close_quietly(w);
}

static void close_with_waiters(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 8, 4096, 1);
	struct take_args a = take_args(ch, 8, 1);

	a.timeout_ns = WIC_FOREVER;
	launch(w, take_kernel, &a, 2, 128);
	wait_for_waiters(w, 8);
	close_quietly(w);
	TEST_EQ(a.rc, -ECANCELED);
}

static void stage_waits_for_its_buffer(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 1, 4096, 1);
	struct take_args a = take_args(ch, 1, 1);
	uint64_t begin, next;
	void *buffer;

	next = fill_buffers(ch, 0, 4096);
	TEST_EQ(wic_try_stage(ch, 0, next, &buffer), -EAGAIN);
	begin = now_ns();
	TEST_EQ(wic_stage(ch, 0, next, WIC_MS(30), &buffer), -ETIMEDOUT);
	TEST_TRUE(now_ns() - begin >= WIC_MS(30));
	TEST_STR_HAS(wic_last_error(), "at epoch 1");
	launch(w, take_kernel, &a, 1, 32);
	TEST_EQ(wic_stage(ch, 0, next, TIMEOUT, &buffer), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.wrong, 0);
	wic_channel_destroy(ch);
	close_quietly(w);
}

/* One tag, two SMs, epochs in turn: e is released while e + 1 is filled. */
static void two_kernel(const void *arg)
{
	struct take_args *a = (struct take_args *)(uintptr_t)arg;

	for (uint64_t e = 1 + wic_block_id(); e < a->epoch_end; e += 2) {
		take_one(a, 0, e);
		for (uint64_t i = e * 7919 % 64; i > 0; i--)
			WIC_TURN();
	}
}

static void release_while_the_next_is_filled(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel *ch;
	struct take_args a;
	struct producer p;
	pthread_t thread;
	struct wic *w;

	cfg.sms = 2;
	cfg.sm_blocks = 1;
	cfg.pool_pages = 64;
	w = open_with(cfg);
	ch = channel(w, 1, 4096, 1);
	a = take_args(ch, 1, 4000);
	p = (struct producer){ ch, 1, 4001, 4096, 3, 1 };
	TEST_EQ(pthread_create(&thread, NULL, produce_at_once, &p), 0);
	launch(w, two_kernel, &a, 2, 32);
	sync_while_it_grows(w, &a.taken);
	pthread_join(thread, NULL);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.wrong, 0);
	TEST_EQ(a.taken, 4000);
	/* Every run came back: all of the pool can be had at once. */
	wic_channel_destroy(ch);
	ch = channel(w, 1, 32 * 4096, 1);
	stage_and_publish(ch, 0, 1, 32 * 4096);
	a = take_args(ch, 1, 1);
	launch(w, take_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.taken, 1);
	close_quietly(w);
}

struct gather_args {
	struct wic_handle h;
	uint32_t gathered, go;
	uint32_t canceled, others;
};

/* Warp 0 asks and sits in the gather list while warp 1 keeps its turn. */
static void gather_kernel(const void *arg)
{
	struct gather_args *a = (struct gather_args *)(uintptr_t)arg;
	void *data;
	int rc;

	if (wic_warp_id() < 4) {
		rc = wic_request(&a->h, NULL, wic_warp_id(), 1, WIC_FOREVER, &data);
		wic_atomic_add_u32(rc == -ECANCELED ? &a->canceled : &a->others, 1);
		return;
	}
	__atomic_store_n(&a->gathered, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&a->go, __ATOMIC_ACQUIRE))
		;
}

static void close_while_requests_are_gathered(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct gather_args a = { .go = 0 };
	struct wic_channel *ch;
	struct wic *w;

	cfg.pool_pages = 4;
	w = open_with(cfg);
	ch = channel(w, 4, 4096, 1);
	a.h = wic_channel_handle(ch);
	launch(w, gather_kernel, &a, 1, 5 * 32);
	while (!__atomic_load_n(&a.gathered, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	TEST_EQ(wic_channel_close(ch), 0);
	__atomic_store_n(&a.go, 1, __ATOMIC_RELEASE);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.canceled, 4);
	TEST_EQ(a.others, 0);
	wic_channel_destroy(ch);
	close_quietly(w);
}

struct retry_args {
	struct wic_handle h;
	uint32_t stop, retries, served;
};

static void retry_until_stopped(struct retry_args *a)
{
	while (!__atomic_load_n(&a->stop, __ATOMIC_ACQUIRE)) {
		void *data;

		if (wic_request(&a->h, NULL, wic_warp_id(), 1, WIC_MS(20), &data) == -ETIMEDOUT)
			a->retries++; /* one SM: its warps share a thread */
	}
}

/* Warps of block 0 ask again and again for what never comes; the others for what is there. */
static void retry_kernel(const void *arg)
{
	struct retry_args *a = (struct retry_args *)(uintptr_t)arg;
	void *data;

	if (wic_block_id() == 0) {
		retry_until_stopped(a);
		return;
	}
	if (wic_request(&a->h, NULL, 4 + wic_warp_id(), 1, WIC_S(2), &data))
		return;
	if (!wic_release(&a->h, 4 + wic_warp_id(), 1) && ++a->served == 4)
		__atomic_store_n(&a->stop, 1, __ATOMIC_RELEASE);
}

/* Whoever gives up and asks again stands behind those who wait for pages. */
static void retries_do_not_keep_the_pages(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct retry_args a = { .stop = 0 };
	struct wic_channel *ch;
	struct wic *w;

	cfg.sms = 1;
	cfg.pool_pages = 4; /* two usable: block 0 takes both */
	w = open_with(cfg);
	ch = channel(w, 8, 4096, 1);
	a.h = wic_channel_handle(ch);
	for (uint32_t t = 4; t < 8; t++)
		stage_and_publish(ch, t, 1, 4096);
	launch(w, retry_kernel, &a, 2, 4 * 32);
	(void)!wic_sync(w, WIC_S(3));
	__atomic_store_n(&a.stop, 1, __ATOMIC_RELEASE);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.served, 4);
	TEST_TRUE(a.retries > 0);
	wic_channel_destroy(ch);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(request_published_before),
		TEST(request_parks_until_published),
		TEST(exchange_many_epochs),
		TEST(exchange_several_readers),
		TEST(exchange_small_pool),
		TEST(exchange_epochs_at_wraps),
		TEST(request_timeout),
		TEST(request_timeout_in_small_pool),
		TEST(channel_close_cancels),
		TEST(close_with_waiters),
		TEST(stage_waits_for_its_buffer),
		TEST(release_while_the_next_is_filled),
		TEST(close_while_requests_are_gathered),
		TEST(retries_do_not_keep_the_pages),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
