/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The reference against values worked out by hand, and the keys' known sums. */
#include "apps/g_bs/kernel.h"
#include "apps/g_bs/reference.h"
#include "tests/test.h"

static uint32_t keys[4096], sorted[4096];

/* 1309 * 2048 + 13849 = 2694681 = 41 * 65536 + 7705; benchmarks.md has the sums. */
static void reference_keys(void)
{
	uint32_t state = GBS_SEED, again = GBS_SEED, min = UINT32_MAX, max = 0, i;
	uint64_t sum = 0;

	gbs_reference_keys(&state, keys, 4096);
	TEST_EQ(keys[0], 7705);
	TEST_EQ(keys[1], (1309 * 7705 + 13849) % 65536);
	for (i = 0; i < 4096; i++) {
		again = gbs_next(again);
		TEST_EQ(keys[i], again);
		sum += keys[i];
		min = keys[i] < min ? keys[i] : min;
		max = keys[i] > max ? keys[i] : max;
	}
	TEST_EQ(sum, 135063552);
	TEST_EQ(min, 78);
	TEST_EQ(max, 65518);
}

static void reference_sort_by_hand(void)
{
	uint32_t five[5] = { 3, 9, 3, UINT32_MAX, 0 }, two[2] = { 2, 1 }, i;
	static const uint32_t want[5] = { 0, 3, 3, 9, UINT32_MAX };

	TEST_EQ(gbs_reference_sort(five, 5), 0);
	for (i = 0; i < 5; i++)
		TEST_EQ(five[i], want[i]);
	TEST_EQ(gbs_reference_sort(two, 2), 0);
	TEST_EQ(two[0], 1);
	TEST_EQ(gbs_reference_sort(two, 1), 0);
	TEST_EQ(gbs_reference_sort(two, 0), 0);
	TEST_EQ(two[0], 1);
}

/* Every length: in order, and each key as often as before. */
static void reference_sort_is_a_permutation(void)
{
	static uint32_t count_of[65536];
	uint32_t count, i, state = 5;

	for (count = 0; count < 300; count++) {
		gbs_reference_keys(&state, keys, count);
		memcpy(sorted, keys, sizeof(keys));
		TEST_EQ(gbs_reference_sort(sorted, count), 0);
		for (i = 0; i < count; i++) {
			count_of[keys[i]]++;
			TEST_TRUE(!i || sorted[i - 1] <= sorted[i]);
		}
		for (i = 0; i < count; i++)
			TEST_TRUE(count_of[sorted[i]]-- > 0);
	}
}

/* Array 0 of epoch 1 has the keys as they are; others differ from their neighbours. */
static void salt_tells_apart(void)
{
	TEST_EQ(gbs_salt(1, 0), 0);
	TEST_TRUE(gbs_salt(2, 0) != gbs_salt(1, 0));
	TEST_TRUE(gbs_salt(1, 1) != gbs_salt(1, 0));
	TEST_TRUE(gbs_salt(1, 1) != gbs_salt(2, 1));
	TEST_EQ(gbs_salt(WIC_EPOCH_LAST, 7) & 0xffff, 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(reference_keys),
		TEST(reference_sort_by_hand),
		TEST(reference_sort_is_a_permutation),
		TEST(salt_tells_apart),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
