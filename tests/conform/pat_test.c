// SPDX-License-Identifier: MIT OR GPL-2.0
/* Producer availability tags: a warp's plain store is the notice. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/conform/conform.h"

/* The runtime of clang's TSan makes an atomic store under a lock of its own. */
static bool stores_cannot_fault(void)
{
#if defined(__clang__) && defined(__has_feature)
#if __has_feature(thread_sanitizer)
	test_skip("the store faults inside clang's TSan, which holds a lock then");
	return true;
#endif
#endif
	return false;
}

static struct wic_channel *pat_channel(struct wic *w, uint32_t tags, uint64_t bytes)
{
	struct wic_channel_desc d = channel_desc();
	struct wic_channel *ch = NULL;

	d.producer = WIC_GPU(0);
	d.consumer = WIC_HOST;
	d.tags = tags;
	d.bytes_per_tag = bytes;
	d.flags = WIC_CHANNEL_PAT;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	return ch;
}

struct pat_args {
	struct wic_handle h;
	uint64_t epochs;
	uint32_t bad;
	uint64_t *words[2];
};

static void store_to(uint64_t *word, uint64_t epoch)
{
	__atomic_store_n(word, epoch, __ATOMIC_RELEASE);
}

/* Warp w owns every n-th tag; no call but the one that finds the word. */
static void store_kernel(const void *arg)
{
	struct pat_args *a = (struct pat_args *)(uintptr_t)arg;
	uint32_t warps = wic_grid_blocks() * wic_block_warps();
	uint32_t me = wic_block_id() * wic_block_warps() + wic_warp_id();

	for (uint64_t e = 1; e <= a->epochs; e++)
		for (uint32_t tag = me; tag < a->h.tags; tag += warps) {
			uint64_t *word = wic_pat(&a->h, tag);

			if (!word)
				wic_atomic_add_u32(&a->bad, 1);
			else
				store_to(word, e);
			if (tag % 7 == 0)
				WIC_TURN();
		}
}

/* Tags on three pages, many stores each: the last of every tag arrives. */
static void do_every_store_arrives(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct pat_args a = { .epochs = 200 };
	struct wic_channel *ch;
	struct wic *w;

	cfg.sms = 2;
	w = open_with(cfg);
	ch = pat_channel(w, 1100, 0);
	a.h = wic_channel_handle(ch);
	launch(w, store_kernel, &a, 4, 2 * 32);
	for (uint32_t tag = 0; tag < 1100; tag++)
		TEST_EQ(wic_host_wait(ch, tag, 200, TIMEOUT), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.bad, 0);
	close_quietly(w);
}

/* One store at a time, each waited for: the notice never gets lost in a re-closing. */
static void ping_kernel(const void *arg)
{
	struct pat_args *a = (struct pat_args *)(uintptr_t)arg;
	uint64_t *word = wic_pat(&a->h, 3);

	for (uint64_t e = 1; word && e <= a->epochs; e++) {
		store_to(word, e);
		while (__atomic_load_n(&a->words[0], __ATOMIC_ACQUIRE) != (uint64_t *)(uintptr_t)e)
			WIC_TURN();
	}
	a->bad = !word;
}

static void do_one_store_at_a_time(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = pat_channel(w, 8, 0);
	struct pat_args a = { .h = wic_channel_handle(ch), .epochs = 500 };

	launch(w, ping_kernel, &a, 1, 32);
	for (uint64_t e = 1; e <= 500; e++) {
		TEST_EQ(wic_host_wait(ch, 3, e, TIMEOUT), 0);
		__atomic_store_n(&a.words[0], (uint64_t *)(uintptr_t)e, __ATOMIC_RELEASE);
	}
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.bad, 0);
	close_quietly(w);
}

static void payload_kernel(const void *arg)
{
	struct pat_args *a = (struct pat_args *)(uintptr_t)arg;

	for (uint64_t e = 1; e <= a->epochs; e++) {
		void *buffer;
		uint64_t *word = wic_pat(&a->h, 0);

		if (wic_warp_stage(&a->h, NULL, 0, e, TIMEOUT, &buffer) || !word) {
			a->bad++;
			return;
		}
		*(uint64_t *)buffer = word_of(0, e, 0);
		store_to(word, e);
	}
}

static void do_with_payload(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = pat_channel(w, 1, 64);
	struct pat_args a = { .h = wic_channel_handle(ch), .epochs = 100 };

	launch(w, payload_kernel, &a, 1, 32);
	for (uint64_t e = 1; e <= 100; e++) {
		const void *data;

		TEST_EQ(wic_host_request(ch, 0, e, TIMEOUT, &data), 0);
		TEST_TRUE(*(const uint64_t *)data == word_of(0, e, 0));
		TEST_EQ(wic_host_release(ch, 0, e), 0);
	}
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.bad, 0);
	close_quietly(w);
}

/* The Monitor reports what it refuses: one line. */
static void wait_for_a_line(void)
{
	for (int i = 0; i < 20000 && !__atomic_load_n(&log_lines, __ATOMIC_RELAXED); i++)
		sleep_ms(1);
	TEST_EQ(__atomic_exchange_n(&log_lines, 0, __ATOMIC_RELAXED), 1);
}

/* Not staged: reported, not published, and the channel goes on. */
static void not_staged_kernel(const void *arg)
{
	struct pat_args *a = (struct pat_args *)(uintptr_t)arg;
	uint64_t *word = wic_pat(&a->h, 0);

	if (word)
		store_to(word, 5);
	a->bad = wic_pat(&a->h, 1) != NULL; /* tag out of range */
}

static void do_not_staged(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = pat_channel(w, 1, 64);
	struct wic_channel *plain = channel(w, 1, 0, 1);
	struct pat_args a = { .h = wic_channel_handle(ch) }, good = { .epochs = 1 };

	launch(w, not_staged_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.bad, 0);
	wait_for_a_line();
	TEST_EQ(wic_host_wait(ch, 0, 1, 0), -EAGAIN);
	/* Another device's channel, one without words, and a host thread have none. */
	a.h = wic_channel_handle(plain);
	launch(w, store_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_TRUE(!wic_pat(&a.h, 0));
	ch = pat_channel(w, 1, 64);
	good.h = wic_channel_handle(ch);
	launch(w, payload_kernel, &good, 1, 32);
	TEST_EQ(wic_host_wait(ch, 0, 1, TIMEOUT), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(good.bad, 0);
	close_quietly(w);
}

/* A value that was refused is gone: its epoch, staged later, is not there before its store. */
static void refused_kernel(const void *arg)
{
	struct pat_args *a = (struct pat_args *)(uintptr_t)arg;
	uint64_t *word = wic_pat(&a->h, 0), *other = wic_pat(&a->h, 1);
	void *buffer;

	if (!word || !other) {
		a->bad++;
		return;
	}
	store_to(word, 7); /* not staged */
	while (!__atomic_load_n(&a->words[0], __ATOMIC_ACQUIRE))
		WIC_TURN();
	a->bad += !!wic_warp_stage(&a->h, NULL, 0, 7, TIMEOUT, &buffer);
	a->bad += !!wic_warp_stage(&a->h, NULL, 1, 1, TIMEOUT, &buffer);
	store_to(other, 1); /* the page is looked at */
	while (__atomic_load_n(&a->words[0], __ATOMIC_ACQUIRE) != (uint64_t *)2)
		WIC_TURN();
	store_to(word, 7);
}

static void do_refused_then_staged(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = pat_channel(w, 2, 64);
	struct pat_args a = { .h = wic_channel_handle(ch) };

	launch(w, refused_kernel, &a, 1, 32);
	wait_for_a_line();
	TEST_EQ(wic_host_wait(ch, 0, 7, 0), -EAGAIN);
	__atomic_store_n(&a.words[0], (uint64_t *)1, __ATOMIC_RELEASE);
	TEST_EQ(wic_host_wait(ch, 1, 1, TIMEOUT), 0);
	TEST_EQ(wic_host_wait(ch, 0, 7, WIC_MS(50)), -ETIMEDOUT);
	__atomic_store_n(&a.words[0], (uint64_t *)2, __ATOMIC_RELEASE);
	TEST_EQ(wic_host_wait(ch, 0, 7, TIMEOUT), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.bad, 0);
	close_quietly(w);
}

/* Stores into two pages in turn, until told: each may fault, also while the channel closes. */
static void store_on_kernel(const void *arg)
{
	struct pat_args *a = (struct pat_args *)(uintptr_t)arg;
	uint64_t e = 1;

	while (!__atomic_load_n(&a->epochs, __ATOMIC_ACQUIRE)) {
		store_to(a->words[0], e);
		store_to(a->words[1], e++);
		if (e % 8 == 0)
			WIC_TURN();
	}
}

static void words_kernel(const void *arg)
{
	struct pat_args *a = (struct pat_args *)(uintptr_t)arg;

	a->words[0] = wic_pat(&a->h, 0);
	a->words[1] = wic_pat(&a->h, 600);
}

static void do_closed_under_stores(void)
{
	struct wic *w = open_default();

	for (int i = 0; i < 60; i++) {
		struct wic_channel *ch = pat_channel(w, 1000, 0);
		struct pat_args a = { .h = wic_channel_handle(ch) };

		launch(w, words_kernel, &a, 1, 32);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		TEST_TRUE(a.words[0] && a.words[1]);
		launch(w, store_on_kernel, &a, 1, 32);
		TEST_EQ(wic_host_wait(ch, 600, 3, TIMEOUT), 0);
		TEST_EQ(wic_channel_close(ch), 0);
		__atomic_store_n(&a.epochs, 1, __ATOMIC_RELEASE);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		wic_channel_destroy(ch);
	}
	close_quietly(w);
}

static void refused_then_staged(void)
{
	if (!stores_cannot_fault())
		do_refused_then_staged();
}

static void closed_under_stores(void)
{
	if (!stores_cannot_fault())
		do_closed_under_stores();
}

static void every_store_arrives(void)
{
	if (!stores_cannot_fault())
		do_every_store_arrives();
}

static void one_store_at_a_time(void)
{
	if (!stores_cannot_fault())
		do_one_store_at_a_time();
}

static void with_payload(void)
{
	if (!stores_cannot_fault())
		do_with_payload();
}

static void not_staged(void)
{
	if (!stores_cannot_fault())
		do_not_staged();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(every_store_arrives),
		TEST(one_store_at_a_time),
		TEST(with_payload),
		TEST(not_staged),
		TEST(refused_then_staged),
		TEST(closed_under_stores),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
