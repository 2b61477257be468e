// SPDX-License-Identifier: MIT OR GPL-2.0
/* Waits for a word of the caller's: no channel, the same contract 1, 2, 5 and 6. */
#include <errno.h>

#include "tests/conform/conform.h"

#define WARPS 64

struct word_args {
	uint64_t *words; /* one a warp */
	uint64_t *data;  /* written before the word */
	uint64_t at_least;
	uint64_t timeout_ns;
	int rc[WARPS];
	uint64_t seen[WARPS];
	char text[200];
};

static uint64_t words[WARPS] __attribute__((aligned(64)));
static uint64_t data[WARPS];

static void wait_kernel(const void *arg)
{
	struct word_args *a = (struct word_args *)(uintptr_t)arg;
	uint32_t me = wic_block_id() * wic_block_warps() + wic_warp_id();

	a->rc[me] = wic_wait_word(NULL, &a->words[me], a->at_least, a->timeout_ns);
	a->seen[me] = a->rc[me] ? 0 : a->data[me];
	if (a->rc[me] && !me)
		snprintf(a->text, sizeof(a->text), "%s", wic_last_error());
}

static struct word_args word_args(uint64_t at_least, uint64_t timeout_ns)
{
	struct word_args a = {
		.words = words, .data = data, .at_least = at_least, .timeout_ns = timeout_ns
	};

	memset(words, 0, sizeof(words));
	memset(data, 0, sizeof(data));
	return a;
}

static void raise_word(uint32_t i, uint64_t value)
{
	data[i] = value + i;
	__atomic_store_n(&words[i], value, __ATOMIC_RELEASE);
}

/* In an order of their own, each with what was written before. */
static void woken_by_the_word(void)
{
	struct wic *w = open_default();
	struct word_args a = word_args(5, WIC_FOREVER);

	launch(w, wait_kernel, &a, WARPS / 4, 4 * 32);
	sleep_ms(20);
	for (uint32_t i = 0; i < WARPS; i++)
		__atomic_store_n(&words[i], 4, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < WARPS; i++)
		raise_word(i * 13 % WARPS, 5 + i % 3);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	for (uint32_t i = 0; i < WARPS; i++) {
		TEST_EQ(a.rc[i], 0);
		TEST_EQ(a.seen[i], words[i] + i);
	}
	close_quietly(w);
}

static void there_at_once(void)
{
	struct wic *w = open_default();
	struct word_args a = word_args(UINT64_MAX, 0);

	launch(w, wait_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc[0], -EAGAIN);
	raise_word(0, UINT64_MAX);
	launch(w, wait_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc[0], 0);
	close_quietly(w);
}

static void ends_at_its_deadline(void)
{
	struct wic *w = open_default();
	struct word_args a = word_args(7, WIC_MS(60));
	uint64_t before = now_ns();

	raise_word(0, 6);
	launch(w, wait_kernel, &a, 2, 4 * 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_TRUE(now_ns() - before >= WIC_MS(60));
	for (uint32_t i = 0; i < 8; i++)
		TEST_EQ(a.rc[i], -ETIMEDOUT);
	TEST_TRUE(strstr(a.text, "block 0 warp 0"));
	TEST_TRUE(strstr(a.text, "at least 7, saw 6"));
	close_quietly(w);
}

static void cancelled_and_closed(void)
{
	struct wic *w = open_default();
	struct word_args a = word_args(1, WIC_FOREVER);

	launch(w, wait_kernel, &a, 2, 4 * 32);
	sleep_ms(20);
	wic_cancel(w);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	for (uint32_t i = 0; i < 8; i++)
		TEST_EQ(a.rc[i], -ECANCELED);
	wic_cancel_clear(w);
	launch(w, wait_kernel, &a, 2, 4 * 32);
	sleep_ms(20);
	close_quietly(w);
	for (uint32_t i = 0; i < 8; i++)
		TEST_EQ(a.rc[i], -ECANCELED);
}

/* A long wait naps longer and longer, though it looks for a cancel each 20 ms. */
static void long_wait_looks_seldom(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_event events[64];
	struct word_args a = word_args(1, WIC_S(1));
	struct wic_stats before = { .size_bytes = sizeof(before) }, after = before;
	struct wic *w;
	size_t count = 0;

	cfg.record_events = 1024;
	w = open_with(cfg);
	TEST_EQ(wic_stats_get(w, &before), 0);
	launch(w, wait_kernel, &a, 1, 4 * 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(wic_stats_get(w, &after), 0);
	TEST_EQ(a.rc[0], -ETIMEDOUT);
	/* Some 60 naps of a twentieth until they take 1 ms, and then 1,000; cut anew each time:
	 * 4,000. */
	TEST_TRUE(after.looks - before.looks < 2000);
	TEST_EQ(wic_events_read(w, events, 64, &count), 0);
	for (size_t i = 0; i < count; i++)
		TEST_TRUE(events[i].kind != WIC_EVENT_PARK && events[i].kind != WIC_EVENT_WAKE);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(woken_by_the_word),      TEST(there_at_once),
		TEST(ends_at_its_deadline),   TEST(cancelled_and_closed),
		TEST(long_wait_looks_seldom), { 0 },
	};

	return test_main(argc, argv, tests);
}
