// SPDX-License-Identifier: MIT OR GPL-2.0
/* Contract 3 and 7: pages that are held, and those who wait for them and for tags, in order. */
#include <errno.h>
#include <stdlib.h>

#include "tests/conform/conform.h"

#define BYTES 64

/* --- 3: what is held stays ------------------------------------------------------ */

struct held_args {
	struct wic_handle kept, busy;
	uint64_t epochs;
	uint32_t holds, wrong, seen;
	int rc;
};

static uint32_t words_wrong(const void *data, uint32_t tag, uint64_t epoch, uint64_t bytes)
{
	const uint64_t *words = data;
	uint32_t wrong = 0;

	for (uint64_t i = 0; i < bytes / 8; i++)
		wrong += words[i] != word_of(tag, epoch, i);
	return wrong;
}

/* Warp 0 holds, warp 1 has every other page of the pool change hands many times. */
static void held_kernel(const void *arg)
{
	struct held_args *a = (struct held_args *)(uintptr_t)arg;
	void *kept = NULL, *data;
	int rc = 0;

	if (wic_warp_id() == 0) {
		rc = wic_request(&a->kept, NULL, 0, 1, TIMEOUT, &kept);
		a->holds = !rc;
	}
	wic_bar();
	for (uint64_t e = 1; wic_warp_id() == 1 && e <= a->epochs && !rc; e++) {
		rc = wic_request(&a->busy, NULL, 0, e, TIMEOUT, &data);
		if (!rc)
			rc = wic_release(&a->busy, 0, e);
	}
	wic_bar();
	if (wic_warp_id() == 0 && a->holds) {
		a->wrong = words_wrong(kept, 0, 1, a->kept.bytes_per_tag);
		a->seen = 1;
		rc = wic_release(&a->kept, 0, 1);
	}
	if (rc)
		a->rc = rc;
}

static void held_page_stays(void)
{
	struct wic *w = open_one_sm(8, 1);
	struct wic_channel *kept = channel(w, 1, 8192, 1), *busy = channel(w, 1, BYTES, 1);
	struct held_args a = { .kept = wic_channel_handle(kept),
			       .busy = wic_channel_handle(busy),
			       .epochs = 500 };

	stage_and_publish(kept, 0, 1, 8192);
	launch(w, held_kernel, &a, 1, 2 * 32);
	for (uint64_t e = 1; e <= 500; e++)
		stage_and_publish(busy, 0, e, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.seen, 1);
	TEST_EQ(a.wrong, 0);
	close_quietly(w);
}

#define RELEASERS 4
#define ROUNDS 500

struct over_args {
	struct wic_handle h;
	uint32_t arrived; /* atomic */
	uint32_t released, refused, other;
};

/* All at once; half of them too many. */
static void over_kernel(const void *arg)
{
	struct over_args *a = (struct over_args *)(uintptr_t)arg;
	void *data;

	for (uint64_t e = 1; e <= ROUNDS; e++) {
		int rc = wic_block_id() < 2 ? wic_request(&a->h, NULL, 0, e, TIMEOUT, &data)
					    : wic_wait(&a->h, NULL, 0, e, TIMEOUT);

		__atomic_fetch_add(&a->arrived, 1, __ATOMIC_ACQ_REL);
		while (load(&a->arrived) < RELEASERS * e)
			wic_turn();
		if (!rc)
			rc = wic_release(&a->h, 0, e);
		wic_atomic_add_u32(!rc ? &a->released : rc == -EINVAL ? &a->refused : &a->other, 1);
	}
}

/* A release too many is refused, also beside the last that is right, and counts for no other. */
static void releases_too_many_are_refused(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct over_args a = { .arrived = 0 };
	struct wic_channel *ch;
	struct wic *w;

	cfg.sms = 2;
	cfg.sm_blocks = 2;
	w = open_with(cfg);
	ch = channel(w, 1, BYTES, 2);
	a.h = wic_channel_handle(ch);
	launch(w, over_kernel, &a, RELEASERS, 32);
	for (uint64_t e = 1; e <= ROUNDS; e++)
		stage_and_publish(ch, 0, e, BYTES);
	sync_while_it_grows(w, &a.released);
	TEST_EQ(a.other, 0);
	TEST_EQ(a.released, 2 * ROUNDS);
	TEST_EQ(a.refused, 2 * ROUNDS);
	close_quietly(w);
}

/* --- 7: in order, and nobody is passed over -------------------------------------- */

#define WAITERS 24

struct order_args {
	struct wic_handle h;
	uint32_t asked, given;
	uint32_t ask[WAITERS], give[WAITERS]; /* a warp */
	int rc;
};

/* All for one tag, in the order in which their turns come. */
static void order_of_tag_kernel(const void *arg)
{
	struct order_args *a = (struct order_args *)(uintptr_t)arg;
	uint32_t me = wic_warp_id();
	int rc;

	for (uint32_t i = (me * 7) % WAITERS; i > 0; i--)
		wic_turn();
	a->ask[me] = __atomic_fetch_add(&a->asked, 1, __ATOMIC_RELEASE);
	rc = wic_wait(&a->h, NULL, 0, 1, TIMEOUT);
	a->give[me] = a->given++; /* one SM: its warps share a thread */
	if (rc)
		a->rc = rc;
}

static void waiters_of_a_tag_go_on_in_order(void)
{
	struct wic *w = open_one_sm(0, 0);
	struct wic_channel *ch = channel(w, 1, 0, 1);
	struct order_args a = { .h = wic_channel_handle(ch) };

	launch(w, order_of_tag_kernel, &a, 1, WAITERS * 32);
	wait_until(&a.asked, WAITERS);
	sleep_ms(20);
	TEST_EQ(wic_publish(ch, 0, 1), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	/* In push mode they wait for a level, which is there for all at once. */
	for (uint32_t i = 0; i < WAITERS && !is_push(); i++)
		TEST_EQ(a.give[i], a.ask[i]);
	TEST_EQ(a.given, WAITERS);
	close_quietly(w);
}

/* Each for its own tag, and one page for all. */
static void order_of_pages_kernel(const void *arg)
{
	struct order_args *a = (struct order_args *)(uintptr_t)arg;
	uint32_t me = wic_warp_id();
	void *data;
	int rc;

	for (uint32_t i = (me * 7) % WAITERS; i > 0; i--)
		wic_turn();
	a->ask[me] = a->asked++;
	rc = wic_request(&a->h, NULL, me, 1, TIMEOUT, &data);
	a->give[me] = a->given++;
	for (int i = 0; i < 3; i++)
		wic_turn();
	if (!rc)
		rc = wic_release(&a->h, me, 1);
	if (rc)
		a->rc = rc;
}

static void serve_in_order(void)
{
	struct wic *w = open_one_sm(2, 1);
	struct wic_channel *ch = channel(w, WAITERS, BYTES, 1);
	struct order_args a = { .h = wic_channel_handle(ch) };

	for (uint32_t t = 0; t < WAITERS; t++)
		stage_and_publish(ch, t, 1, BYTES);
	launch(w, order_of_pages_kernel, &a, 1, WAITERS * 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	for (uint32_t i = 0; i < WAITERS; i++)
		TEST_EQ(a.give[i], a.ask[i]);
	TEST_TRUE(is_push() ? !stats_of(w).pool_waits : stats_of(w).pool_waits > 0);
	close_quietly(w);
}

/* Nor does anybody take it for a deadlock that the page's holder has just been woken. */
static void requests_for_pages_are_served_in_order(void)
{
	for (int i = 0; i < (is_push() ? 1 : 20); i++)
		serve_in_order();
}

struct big_args {
	struct wic_handle small, big;
	uint32_t stop, big_done, small_done;
	int rc;
};

/* Warp 0 wants half the pool, with a page in its hand; the others take single pages for ever. */
static void big_kernel(const void *arg)
{
	struct big_args *a = (struct big_args *)(uintptr_t)arg;
	uint32_t me = wic_warp_id();
	void *data;
	int rc = 0;

	for (uint64_t e = 1; me && !load(&a->stop) && !rc; e++) {
		rc = wic_request(&a->small, NULL, me, e, TIMEOUT, &data);
		wic_turn();
		if (!rc)
			rc = wic_release(&a->small, me, e);
		a->small_done++;
	}
	if (!me) {
		rc = wic_request(&a->small, NULL, 0, 1, TIMEOUT, &data);
		for (uint64_t e = 1; e <= 20 && !rc; e++) {
			rc = wic_request(&a->big, NULL, 0, e, TIMEOUT, &data);
			if (!rc)
				rc = wic_release(&a->big, 0, e);
			a->big_done += !rc;
		}
		if (wic_release(&a->small, 0, 1))
			rc = -1;
		__atomic_store_n(&a->stop, 1, __ATOMIC_RELEASE);
	}
	if (rc)
		a->rc = rc;
}

struct feeder {
	struct wic_channel *small, *big;
	uint32_t stop; /* atomic; later than the kernel's, or its last requests would hang */
};

static void *feed(void *arg)
{
	struct feeder *f = arg;
	uint64_t small[9] = { 0 }, big = 0;
	void *buffer;

	while (!load(&f->stop)) {
		for (uint32_t t = 0; t < 9; t++)
			if (!wic_try_stage(f->small, t, small[t] + 1, &buffer))
				TEST_EQ(wic_publish(f->small, t, ++small[t]), 0);
		if (!wic_try_stage(f->big, 0, big + 1, &buffer))
			TEST_EQ(wic_publish(f->big, 0, ++big), 0);
	}
	return NULL;
}

static void big_request_is_not_passed_over(void)
{
	struct wic *w = open_one_sm(16, 1);
	struct wic_channel *small = channel(w, 9, BYTES, 1), *big = channel(w, 1, 4 * 4096, 1);
	struct big_args a = { .small = wic_channel_handle(small), .big = wic_channel_handle(big) };
	struct feeder f = { small, big, 0 };
	pthread_t thread;

	launch(w, big_kernel, &a, 1, 9 * 32);
	TEST_EQ(pthread_create(&thread, NULL, feed, &f), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	__atomic_store_n(&f.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.big_done, 20);
	TEST_TRUE(a.small_done > 0);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(held_page_stays),
		TEST(releases_too_many_are_refused),
		TEST(waiters_of_a_tag_go_on_in_order),
		TEST(requests_for_pages_are_served_in_order),
		TEST(big_request_is_not_passed_over),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
