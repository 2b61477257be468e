// SPDX-License-Identifier: MIT OR GPL-2.0
/* Waits for more than one tag, and for the next epoch. */
#include <errno.h>
#include <stdlib.h>

#include "tests/conform/conform.h"

#define BYTES 64
#define TAGS 40

struct set_args {
	struct wic_handle h;
	uint64_t timeout_ns;
	uint32_t count;
	int rc;
	uint32_t wrong;
	uint32_t done;
};

static void refs_fill(struct wic_ref *refs, uint32_t count, uint64_t epoch)
{
	for (uint32_t i = 0; i < count; i++)
		refs[i] = (struct wic_ref){ .tag = i, .epoch = epoch };
}

static void wait_all_kernel(const void *arg)
{
	struct set_args *a = (struct set_args *)(uintptr_t)arg;
	struct wic_ref refs[TAGS];

	for (uint64_t e = 1; e <= 5 && !a->rc; e++) {
		refs_fill(refs, a->count, e);
		a->rc = wic_wait_all(&a->h, NULL, refs, a->count, a->timeout_ns);
		wic_atomic_add_u32(&a->done, !a->rc);
	}
}

static void wait_all(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, TAGS, 0, 1);
	struct set_args a = { .h = wic_channel_handle(ch), .timeout_ns = TIMEOUT, .count = TAGS };

	launch(w, wait_all_kernel, &a, 3, 64);
	for (uint64_t e = 1; e <= 5; e++) {
		TEST_EQ(wic_publish_range(ch, 0, TAGS - 1, e), 0);
		sleep_ms(5);
		/* The last is missing: nobody may have gone on. */
		TEST_EQ(__atomic_load_n(&a.done, __ATOMIC_RELAXED), 6 * (e - 1));
		TEST_EQ(wic_publish(ch, TAGS - 1, e), 0);
		for (int i = 0; i < 2000 && __atomic_load_n(&a.done, __ATOMIC_RELAXED) < 6 * e; i++)
			sleep_ms(1);
	}
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.done, 30);
	close_quietly(w);
}

static void wait_all_ends(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, TAGS, 0, 1);
	struct set_args a = { .h = wic_channel_handle(ch),
			      .timeout_ns = WIC_MS(30),
			      .count = TAGS };

	TEST_EQ(wic_publish_range(ch, 0, TAGS - 1, 1), 0);
	launch(w, wait_all_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -ETIMEDOUT);
	a.rc = 0;
	a.timeout_ns = WIC_FOREVER;
	launch(w, wait_all_kernel, &a, 4, 256);
	sleep_ms(20);
	TEST_EQ(wic_channel_close(ch), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -ECANCELED);
	close_quietly(w);
}

static void request_all_kernel(const void *arg)
{
	struct set_args *a = (struct set_args *)(uintptr_t)arg;
	struct wic_ref refs[TAGS];

	for (uint64_t e = 1; e <= 10 && !a->rc; e++) {
		refs_fill(refs, a->count, e);
		a->rc = wic_request_all(&a->h, NULL, refs, a->count, a->timeout_ns);
		for (uint32_t i = 0; i < a->count && !a->rc; i++) {
			a->wrong += *(uint64_t *)refs[i].data != word_of(refs[i].tag, e, 0);
			a->rc = wic_release(&a->h, refs[i].tag, e);
		}
		a->done += !a->rc;
	}
}

static void request_all(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, TAGS, BYTES, 1);
	struct set_args a = { .h = wic_channel_handle(ch), .timeout_ns = TIMEOUT, .count = TAGS };
	struct producer p = { ch, 1, 11, BYTES, 7, TAGS };
	pthread_t thread;

	launch(w, request_all_kernel, &a, 1, 32);
	TEST_EQ(pthread_create(&thread, NULL, produce, &p), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	pthread_join(thread, NULL);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.wrong, 0);
	TEST_EQ(a.done, 10);
	close_quietly(w);
}

/* Some of the set is there: after the error nothing of it is held. */
static void request_all_ends_without_pages(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct set_args a = { .timeout_ns = WIC_MS(20), .count = 4 };
	struct take_args take;
	struct wic_channel *ch;
	struct wic *w;

	cfg.pool_pages = 8; /* 4 usable: all that the set needs */
	cfg.close_batch = 1;
	w = open_with(cfg);
	ch = channel(w, 5, BYTES, 1);
	a.h = wic_channel_handle(ch);
	for (uint32_t t = 0; t < 3; t++)
		stage_and_publish(ch, t, 1, BYTES);
	launch(w, request_all_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -ETIMEDOUT);
	stage_and_publish(ch, 3, 1, BYTES);
	take = take_args(ch, 4, 1);
	launch(w, take_kernel, &take, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(take.taken, 4);
	a.count = 5;
	a.rc = 0;
	launch(w, request_all_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, is_push() ? -ETIMEDOUT : -E2BIG);
	close_quietly(w);
}

struct poll_args {
	struct wic_handle h;
	uint32_t is_held; /* atomic */
	uint32_t is_polled;
	int hold_rc, poll_rc, again_rc;
};

/* Warp 0 holds tag 0; warp 1 polls for it and for one that is not there. */
static void poll_kernel(const void *arg)
{
	struct poll_args *a = (struct poll_args *)(uintptr_t)arg;
	struct wic_ref refs[2] = { { .tag = 0, .epoch = 1 }, { .tag = 1, .epoch = 1 } };
	void *data;

	if (wic_warp_id() == 0) {
		a->hold_rc = wic_request(&a->h, NULL, 0, 1, TIMEOUT, &data);
		__atomic_store_n(&a->is_held, 1, __ATOMIC_RELEASE);
		while (!__atomic_load_n(&a->is_polled, __ATOMIC_ACQUIRE))
			WIC_TURN();
		if (!a->hold_rc)
			a->hold_rc = wic_release(&a->h, 0, 1);
		return;
	}
	while (!__atomic_load_n(&a->is_held, __ATOMIC_ACQUIRE))
		WIC_TURN();
	for (int i = 0; i < 5 && (!i || a->poll_rc == -EAGAIN); i++)
		a->poll_rc = wic_request_all(&a->h, NULL, refs, 2, 0);
	for (int i = 0; i < 3 && a->poll_rc == -EAGAIN; i++)
		if (wic_request_all(&a->h, NULL, refs, 2, WIC_MS(5)) != -ETIMEDOUT)
			a->poll_rc = 1;
	/* Both readers' releases are still owed. */
	a->again_rc = wic_request(&a->h, NULL, 0, 1, 0, &data);
	if (!a->again_rc)
		a->again_rc = wic_release(&a->h, 0, 1);
	__atomic_store_n(&a->is_polled, 1, __ATOMIC_RELEASE);
}

static void request_all_that_fails_takes_nothing(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 2, BYTES, 2);
	struct poll_args a = { .h = wic_channel_handle(ch) };

	stage_and_publish(ch, 0, 1, BYTES);
	launch(w, poll_kernel, &a, 1, 64);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.hold_rc, 0);
	TEST_EQ(a.poll_rc, -EAGAIN);
	TEST_EQ(a.again_rc, 0);
	close_quietly(w);
}

/* Tag 0 was released before; tag 1 is there, and stays. */
static void gone_kernel(const void *arg)
{
	struct poll_args *a = (struct poll_args *)(uintptr_t)arg;
	struct wic_ref refs[2] = { { .tag = 0, .epoch = 1 }, { .tag = 1, .epoch = 1 } };
	void *data;

	a->hold_rc = wic_request(&a->h, NULL, 0, 1, TIMEOUT, &data);
	if (!a->hold_rc)
		a->hold_rc = wic_release(&a->h, 0, 1);
	a->poll_rc = wic_request_all(&a->h, NULL, refs, 2, TIMEOUT);
	a->again_rc = wic_request(&a->h, NULL, 1, 1, TIMEOUT, &data);
	if (!a->again_rc)
		a->again_rc = wic_release(&a->h, 1, 1);
}

static void request_all_of_what_is_gone(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 2, BYTES, 1);
	struct poll_args a = { .h = wic_channel_handle(ch) };

	stage_and_publish(ch, 0, 1, BYTES);
	stage_and_publish(ch, 1, 1, BYTES);
	launch(w, gone_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.hold_rc, 0);
	TEST_EQ(a.poll_rc, -EINVAL);
	TEST_EQ(a.again_rc, 0);
	close_quietly(w);
}

#define PAIR_WARPS 6
#define PAIR_ROUNDS 40

struct pair_args {
	struct wic_handle h;
	uint32_t failed, wrong;
};

/* Each warp two tags of its own, of two pages each: a retry finds what the try before left. */
static void pair_kernel(const void *arg)
{
	struct pair_args *a = (struct pair_args *)(uintptr_t)arg;
	uint32_t me = wic_block_id() * wic_block_warps() + wic_warp_id();

	for (uint64_t e = 1; e <= PAIR_ROUNDS; e++) {
		struct wic_ref refs[2] = { { .tag = 2 * me, .epoch = e },
					   { .tag = 2 * me + 1, .epoch = e } };
		int rc = -ETIMEDOUT;

		for (int i = 0; i < 2000 && rc == -ETIMEDOUT; i++)
			rc = wic_request_all(&a->h, NULL, refs, 2,
					     i < 20 ? WIC_US(50) << i % 8 : WIC_S(1));
		if (rc) {
			wic_atomic_add_u32(&a->failed, 1);
			return;
		}
		for (int i = 0; i < 2; i++) {
			if (*(uint64_t *)refs[i].data != word_of(refs[i].tag, e, 0) ||
			    wic_release(&a->h, refs[i].tag, e))
				wic_atomic_add_u32(&a->wrong, 1);
			WIC_TURN();
		}
	}
}

/* Pages for one set at a time: none waits for another that waits for it, none loses data. */
static void sets_share_a_small_pool(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct producer p = { .epoch_first = 1 };
	struct pair_args a = { .failed = 0 };
	struct wic *w;
	pthread_t thread;

	cfg.pool_pages = 8; /* 4 usable: what one set needs */
	cfg.close_batch = 1;
	w = open_with(cfg);
	p = (struct producer){
		channel(w, 2 * PAIR_WARPS, 8192, 1), 1, PAIR_ROUNDS + 1, 8192, 5, 2 * PAIR_WARPS
	};
	a.h = wic_channel_handle(p.ch);
	launch(w, pair_kernel, &a, PAIR_WARPS / 2, 64);
	TEST_EQ(pthread_create(&thread, NULL, produce, &p), 0);
	TEST_EQ(wic_sync(w, 3 * TIMEOUT), 0);
	pthread_join(thread, NULL);
	TEST_EQ(a.failed, 0);
	TEST_EQ(a.wrong, 0);
	close_quietly(w);
}

#define SIZES_ROUNDS 50

struct sizes_args {
	struct wic_handle large, small;
	uint32_t failed;
};

/* One batch: a wait without data, a request for the same tag, one of another size. */
static void sizes_kernel(const void *arg)
{
	struct sizes_args *a = (struct sizes_args *)(uintptr_t)arg;
	uint32_t me = wic_warp_id();

	for (uint64_t e = 1; e <= SIZES_ROUNDS; e++) {
		const struct wic_handle *h = me < 2 ? &a->large : &a->small;
		uint32_t tag = me < 2 ? 0 : me - 2;
		void *data;
		int rc;

		wic_bar();
		rc = me ? wic_request(h, NULL, tag, e, TIMEOUT, &data)
			: wic_wait(h, NULL, tag, e, TIMEOUT);
		if (rc ||
		    (me && (*(uint64_t *)data != word_of(tag, e, 0) || wic_release(h, tag, e))))
			wic_atomic_add_u32(&a->failed, 1);
	}
}

static void one_batch_of_several_sizes(void)
{
	struct wic *w = open_default();
	struct wic_channel *large = channel(w, 1, 5 * 4096, 1), *small = channel(w, 4, BYTES, 1);
	struct sizes_args a = { wic_channel_handle(large), wic_channel_handle(small), 0 };

	launch(w, sizes_kernel, &a, 1, 6 * 32);
	for (uint64_t e = 1; e <= SIZES_ROUNDS; e++) {
		if (e % 2)
			sleep_ms(1);
		stage_and_publish(large, 0, e, 5 * 4096);
		for (uint32_t t = 0; t < 4; t++)
			stage_and_publish(small, t, e, BYTES);
	}
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.failed, 0);
	close_quietly(w);
}

/* One batch: a set, and requests for its tags, which find its holds. */
static void mixed_kernel(const void *arg)
{
	struct pair_args *a = (struct pair_args *)(uintptr_t)arg;
	uint32_t me = wic_warp_id();

	for (uint64_t e = 1; e <= SIZES_ROUNDS; e++) {
		struct wic_ref refs[2] = { { .tag = 0, .epoch = e }, { .tag = 1, .epoch = e } };
		int rc;

		wic_bar();
		if (me == 0)
			rc = wic_request_all(&a->h, NULL, refs, 2, TIMEOUT);
		else
			rc = wic_request(&a->h, NULL, me - 1, e, TIMEOUT, &refs[me - 1].data);
		if (rc)
			wic_atomic_add_u32(&a->failed, 1);
		for (uint32_t t = 0; t < 2 && !rc; t++) {
			if (me && t != me - 1)
				continue;
			if (*(uint64_t *)refs[t].data != word_of(t, e, 0) ||
			    wic_release(&a->h, t, e))
				wic_atomic_add_u32(&a->wrong, 1);
		}
	}
}

static void set_and_requests_in_one_batch(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 2, BYTES, 2);
	struct pair_args a = { .h = wic_channel_handle(ch) };

	launch(w, mixed_kernel, &a, 1, 3 * 32);
	for (uint64_t e = 1; e <= SIZES_ROUNDS; e++)
		for (uint32_t t = 0; t < 2; t++)
			stage_and_publish(ch, t, e, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.failed, 0);
	TEST_EQ(a.wrong, 0);
	close_quietly(w);
}

struct next_args {
	struct wic_handle h;
	uint64_t epochs;
	uint64_t timeout_ns;
	uint32_t taken[TAGS]; /* how often, all epochs */
	uint32_t wrong;
	int last; /* what ended the loop */
	int bad;
};

static void next_kernel(const void *arg)
{
	struct next_args *a = (struct next_args *)(uintptr_t)arg;

	for (uint64_t e = 1; e <= a->epochs; e++) {
		uint32_t tag;
		void *data;
		int rc;

		while (!(rc = wic_next(&a->h, NULL, 0, TAGS, e, a->timeout_ns, &tag, &data))) {
			wic_atomic_add_u32(&a->taken[tag], 1);
			if (!data)
				continue;
			if (*(uint64_t *)data != word_of(tag, e, 0))
				wic_atomic_add_u32(&a->wrong, 1);
			if (wic_release(&a->h, tag, e))
				wic_atomic_add_u32(&a->wrong, 1);
		}
		__atomic_store_n(&a->last, rc, __ATOMIC_RELAXED);
		if (rc != -ENOENT)
			return;
	}
}

/* Twelve warps share the tags of each epoch: each is taken once. */
static void next_takes_each_once(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, TAGS, BYTES, 1);
	struct next_args a = { .h = wic_channel_handle(ch), .epochs = 12, .timeout_ns = TIMEOUT };
	struct producer p = { ch, 1, 13, BYTES, 3, TAGS };
	pthread_t thread;

	launch(w, next_kernel, &a, 3, 128);
	TEST_EQ(pthread_create(&thread, NULL, produce, &p), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	pthread_join(thread, NULL);
	TEST_EQ(a.last, -ENOENT);
	TEST_EQ(a.wrong, 0);
	for (uint32_t t = 0; t < TAGS; t++)
		TEST_EQ(a.taken[t], 12);
	close_quietly(w);
}

static void next_of_signals(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, TAGS, 0, 1);
	struct next_args a = { .h = wic_channel_handle(ch), .epochs = 1, .timeout_ns = TIMEOUT };

	launch(w, next_kernel, &a, 2, 128);
	for (uint32_t t = 0; t < TAGS; t++) {
		TEST_EQ(wic_publish(ch, TAGS - 1 - t, 1), 0);
		if (t % 8 == 0)
			sleep_ms(1);
	}
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.last, -ENOENT);
	for (uint32_t t = 0; t < TAGS; t++)
		TEST_EQ(a.taken[t], 1);
	close_quietly(w);
}

static void next_ends(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, TAGS, BYTES, 1);
	struct next_args a = { .h = wic_channel_handle(ch), .epochs = 1, .timeout_ns = WIC_MS(20) };

	launch(w, next_kernel, &a, 1, 64);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.last, -ETIMEDOUT);
	a.timeout_ns = 0;
	launch(w, next_kernel, &a, 1, 64);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.last, -EAGAIN);
	a.timeout_ns = WIC_FOREVER;
	launch(w, next_kernel, &a, 1, 64);
	sleep_ms(20);
	TEST_EQ(wic_channel_close(ch), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.last, -ECANCELED);
	close_quietly(w);
}

struct gone_args {
	struct wic_handle h;
	uint32_t got; /* a bit a tag */
	int last, other;
};

static void claim_gone_kernel(const void *arg)
{
	struct gone_args *a = (struct gone_args *)(uintptr_t)arg;
	uint32_t tag;
	void *data;

	/* Tag 1 was taken without a claim: it is no reason to get stuck. */
	a->other = wic_request(&a->h, NULL, 1, 1, TIMEOUT, &data);
	a->other |= wic_release(&a->h, 1, 1);
	while (!(a->last = wic_next(&a->h, NULL, 0, 4, 1, TIMEOUT, &tag, &data))) {
		a->got |= 1u << tag;
		a->other |= wic_release(&a->h, tag, 1);
	}
}

static void claims_pass_what_is_gone(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 4, BYTES, 1);
	struct gone_args a = { .h = wic_channel_handle(ch) };

	for (uint32_t t = 0; t < 4; t++)
		stage_and_publish(ch, t, 1, BYTES);
	launch(w, claim_gone_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.other, 0);
	TEST_EQ(a.last, -ENOENT);
	TEST_EQ(a.got, 13);
	close_quietly(w);
}

struct give_args {
	struct wic_handle h;
	uint32_t tag; /* that the second claim got */
	int first, second, other;
};

/* The one page is taken, so what is claimed does not come: the claim is given back. */
static void claim_without_pages_kernel(const void *arg)
{
	struct give_args *a = (struct give_args *)(uintptr_t)arg;
	uint32_t tag = 0;
	void *data;

	a->other = wic_request(&a->h, NULL, 0, 1, TIMEOUT, &data);
	a->first = wic_next(&a->h, NULL, 1, 1, 1, WIC_MS(30), &tag, &data);
	a->other |= wic_release(&a->h, 0, 1);
	a->second = wic_next(&a->h, NULL, 1, 1, 1, TIMEOUT, &a->tag, &data);
	if (!a->second)
		a->other |= wic_release(&a->h, 1, 1);
}

static void claim_is_given_back(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct give_args a = { .tag = 9 };
	struct wic_channel *ch;
	struct wic *w;

	if (is_push()) {
		test_skip("push mode has no pool: what is claimed has its data");
		return;
	}
	cfg.pool_pages = 2;
	cfg.close_batch = 1;
	w = open_with(cfg);
	ch = channel(w, 2, BYTES, 1);
	a.h = wic_channel_handle(ch);
	stage_and_publish(ch, 0, 1, BYTES);
	stage_and_publish(ch, 1, 1, BYTES);
	launch(w, claim_without_pages_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.other, 0);
	/* The only warp holds the only page: as a rule that is seen before the deadline. */
	TEST_TRUE(a.first == -EDEADLK || a.first == -ETIMEDOUT);
	TEST_EQ(a.second, 0);
	TEST_EQ(a.tag, 1);
	close_quietly(w);
}

struct epoch_args {
	struct wic_handle h;
	uint32_t rounds;
	uint64_t wrong;
	uint64_t first;
	int rc;
};

static void next_epoch_kernel(const void *arg)
{
	struct epoch_args *a = (struct epoch_args *)(uintptr_t)arg;

	for (uint32_t i = 0; i < a->rounds && !a->rc; i++) {
		void *data;

		a->rc = wic_request(&a->h, NULL, 0, WIC_EPOCH_NEXT, TIMEOUT, &data);
		if (a->rc)
			return;
		a->wrong += *(uint64_t *)data != word_of(0, a->first + i, 0);
		a->rc = wic_release(&a->h, 0, WIC_EPOCH_NEXT);
	}
}

/* The same kernel again and again, as a replayed graph: it need not know the epoch. */
static void epoch_next(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 1, BYTES, 1), *many = channel(w, 1, BYTES, 2);
	struct epoch_args a = { .h = wic_channel_handle(ch), .rounds = 10, .first = 1 };

	for (int launches = 0; launches < 3; launches++) {
		launch(w, next_epoch_kernel, &a, 1, 32);
		for (uint64_t e = 0; e < 10; e++)
			stage_and_publish(ch, 0, a.first + e, BYTES);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		TEST_EQ(a.rc, 0);
		TEST_EQ(a.wrong, 0);
		a.first += 10;
	}
	a.h = wic_channel_handle(many);
	launch(w, next_epoch_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -EINVAL);
	close_quietly(w);
}

struct bad_args {
	struct wic_handle h, signals, other;
	int rc[20];
	uint32_t n;
};

static void bad_kernel(const void *arg)
{
	struct bad_args *a = (struct bad_args *)(uintptr_t)arg;
	struct wic_ref refs[WIC_SET_MAX + 1], twice[2] = { { .epoch = 1 }, { .epoch = 1 } };
	struct wic_ref far[1] = { { .tag = TAGS, .epoch = 1 } }, none[1] = { { .epoch = 0 } };
	uint32_t tag;
	void *data;
	int *rc = a->rc;

	refs_fill(refs, WIC_SET_MAX + 1, 1);
	rc[a->n++] = wic_wait_all(NULL, NULL, refs, 1, TIMEOUT);
	rc[a->n++] = wic_wait_all(&a->h, NULL, NULL, 1, TIMEOUT);
	rc[a->n++] = wic_wait_all(&a->h, NULL, refs, 0, TIMEOUT);
	rc[a->n++] = wic_wait_all(&a->h, NULL, far, 1, TIMEOUT);
	rc[a->n++] = wic_wait_all(&a->h, NULL, none, 1, TIMEOUT);
	rc[a->n++] = wic_wait_all(&a->other, NULL, refs, 1, TIMEOUT);
	rc[a->n++] = wic_request_all(&a->h, NULL, twice, 2, TIMEOUT);
	rc[a->n++] = wic_request_all(&a->signals, NULL, refs, 1, TIMEOUT);
	rc[a->n++] = wic_next(&a->h, NULL, 0, 0, 1, TIMEOUT, &tag, &data);
	rc[a->n++] = wic_next(&a->h, NULL, 1, TAGS, 1, TIMEOUT, &tag, &data);
	rc[a->n++] = wic_next(&a->h, NULL, TAGS, 1, 1, TIMEOUT, &tag, &data);
	rc[a->n++] = wic_next(&a->h, NULL, 0, 1, 0, TIMEOUT, &tag, &data);
	rc[a->n++] = wic_next(&a->h, NULL, 0, 1, 1, TIMEOUT, NULL, &data);
	rc[a->n++] = wic_next(&a->h, NULL, 0, 1, 1, TIMEOUT, &tag, NULL);
	rc[a->n++] = wic_next(NULL, NULL, 0, 1, 1, TIMEOUT, &tag, &data);
	TEST_EQ(wic_wait_all(&a->h, NULL, refs, WIC_SET_MAX + 1, TIMEOUT), -E2BIG);
	TEST_EQ(wic_request_all(&a->h, NULL, refs, WIC_SET_MAX + 1, TIMEOUT), -E2BIG);
}

static void sets_bad(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, TAGS, BYTES, 1), *signals = channel(w, TAGS, 0, 1);
	struct bad_args a = { .h = wic_channel_handle(ch), .signals = wic_channel_handle(signals) };
	struct wic_ref ref = { .epoch = 1 };
	uint32_t tag;
	void *data;

	launch(w, bad_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	for (uint32_t i = 0; i < a.n; i++)
		if (a.rc[i] != -EINVAL)
			test_fail(__FILE__, __LINE__, "a bad call is -EINVAL", i, a.rc[i]);
	TEST_EQ(wic_wait_all(&a.h, NULL, &ref, 1, 0), -EINVAL);
	TEST_EQ(wic_request_all(&a.h, NULL, &ref, 1, 0), -EINVAL);
	TEST_EQ(wic_next(&a.h, NULL, 0, 1, 1, 0, &tag, &data), -EINVAL);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(wait_all),
		TEST(wait_all_ends),
		TEST(request_all),
		TEST(request_all_ends_without_pages),
		TEST(request_all_that_fails_takes_nothing),
		TEST(request_all_of_what_is_gone),
		TEST(sets_share_a_small_pool),
		TEST(one_batch_of_several_sizes),
		TEST(set_and_requests_in_one_batch),
		TEST(next_takes_each_once),
		TEST(next_of_signals),
		TEST(next_ends),
		TEST(claim_is_given_back),
		TEST(claims_pass_what_is_gone),
		TEST(epoch_next),
		TEST(sets_bad),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
