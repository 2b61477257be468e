// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * wic_tree_wait_word() in the builds that have less of the header: this file is compiled with
 * WIC_TREE_PLAIN_ONLY, and without it and without WIC_TREE_NEXT.
 */
#define WIC_TREE_PRIMITIVES "tests/tree/tree_sched.h"
#include <wic/tree.h>

#include "tests/test.h"

#define WARPS 8u
#define ROUNDS 40u

struct waiter {
	uint32_t warp;
	uint32_t deadlines;
};

static struct wic_lot lot;
static uint64_t words[WARPS / 2];
static uint32_t waiters_left;

static void sched_fail(const char *what, uint64_t a, uint64_t b)
{
	test_fail("tests/tree/tree_sched.h", 0, what, (long long)a, (long long)b);
	abort();
}

/* Two warps a word; an odd one gives up now and then, and the last has no lot. */
static void waiter_run(void *arg)
{
	struct waiter *w = arg;
	struct wic_lot *l = w->warp == WARPS - 1 ? NULL : &lot;
	const uint64_t *word = &words[w->warp / 2];

	for (uint64_t want = 1; want <= ROUNDS;) {
		uint64_t timeout_ns = w->warp & 1 ? sched_random() >> 52 : WIC_FOREVER;
		uint64_t until = sched.now_ns + timeout_ns;
		int rc = wic_tree_wait_word(l, word, want, timeout_ns, 1);

		if (rc == WIC_TREE_ETIMEDOUT) {
			TEST_TRUE(timeout_ns != WIC_FOREVER && sched.now_ns >= until);
			w->deadlines++;
			continue;
		}
		TEST_EQ(rc, 0);
		TEST_TRUE(*word >= want);
		want++;
	}
	waiters_left--;
}

static void writer_run(void *arg)
{
	uint64_t *word = arg;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		wic_t_nap((uint32_t)(sched_random() >> 51));
		++*word;
	}
}

static void wait_word_alone(void)
{
	uint32_t deadlines = 0;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct waiter waiters[WARPS] = { { 0, 0 } };

		sched_reset(seed);
		memset(words, 0, sizeof(words));
		wic_tree_lot_init(&lot, WARPS);
		waiters_left = WARPS;
		for (uint32_t i = 0; i < WARPS; i++) {
			waiters[i].warp = i;
			sched_add(i == WARPS - 1, i, waiter_run, &waiters[i]);
		}
		for (uint32_t i = 0; i < WARPS / 2; i++)
			sched_add(100 + i, 0, writer_run, &words[i]);
		sched_run();
		TEST_EQ(waiters_left, 0);
		TEST_EQ(lot.mask | lot.watcher, 0);
		for (uint32_t i = 0; i < WARPS; i++)
			deadlines += waiters[i].deadlines;
	}
	TEST_TRUE(deadlines > 100);
	TEST_TRUE(sched.counts.parks > 100 && sched.counts.hand_overs > 100);
}

static void wait_word_bad_input(void)
{
	TEST_EQ(wic_tree_wait_word(&lot, NULL, 1, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait_word(&lot, words, 1, 0, 0), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait_word(NULL, words, UINT64_MAX, 0, 1), WIC_TREE_ETIMEDOUT);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(wait_word_alone),
					     TEST(wait_word_bad_input),
					     { 0 } };

	return test_main(argc, argv, tests);
}
