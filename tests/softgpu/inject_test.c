/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Injected faults: what may be set, how often they happen, and that a seed repeats them. */
#include "kmod/testbed/softgpu/inject.h"
#include "tests/softgpu/world.h"

#define THROWS 100000

static bool is_dice(uint32_t kind)
{
	return kind != SGPU_INJECT_INTERRUPT_LATE && kind != SGPU_INJECT_COPY_SLOW &&
	       kind != SGPU_INJECT_FAULT_LIMIT && kind != SGPU_INJECT_REPLAY_LOST_AT &&
	       kind != SGPU_INJECT_INVALIDATE_LOST_AT;
}

static void random_is_xorshift(void)
{
	uint64_t a = 0x123456789abcdef, b = a, one = 1;

	/* By hand: 1 becomes 0x2000001, times the constant of Vigna's table. */
	TEST_EQ(sgpu_random(&one), 0x2000001 * 2685821657736338717ull);
	for (int i = 0; i < 1000; i++)
		TEST_EQ(sgpu_random(&a), test_random(&b));
	TEST_TRUE(a);
}

static void init_all_off(void)
{
	struct sgpu_inject inject;

	memset(&inject, 0x5a, sizeof(inject));
	sgpu_inject_init(&inject, 0);
	TEST_TRUE(inject.random);
	for (uint32_t kind = 0; kind < SGPU_INJECT_COUNT; kind++) {
		uint64_t state = inject.random;

		TEST_EQ(inject.values[kind], 0);
		for (int i = 0; i < 1000; i++)
			TEST_TRUE(!sgpu_inject_now(&inject, (enum sgpu_inject_kind)kind));
		TEST_EQ(inject.done[kind], 0);
		/* What is off throws no dice. */
		TEST_EQ(inject.random, state);
	}
}

static void set_ranges(void)
{
	struct sgpu_inject inject, before;

	sgpu_inject_init(&inject, 1);
	for (uint32_t kind = 0; kind < SGPU_INJECT_COUNT; kind++) {
		uint32_t last = is_dice(kind) ? 1000 : 1000000;

		if (kind == SGPU_INJECT_FAULT_LIMIT)
			last = UINT32_MAX;
		TEST_EQ(sgpu_inject_set(&inject, kind, last), 0);
		TEST_EQ(inject.values[kind], last);
		before = inject;
		if (last != UINT32_MAX) {
			TEST_EQ(sgpu_inject_set(&inject, kind, last + 1), -EINVAL);
			TEST_EQ(sgpu_inject_set(&inject, kind, UINT32_MAX), -EINVAL);
		}
		TEST_TRUE(!memcmp(&inject, &before, sizeof(inject)));
		TEST_EQ(sgpu_inject_set(&inject, kind, 0), 0);
		TEST_EQ(inject.values[kind], 0);
	}
}

static void set_no_such_kind(void)
{
	struct sgpu_inject inject, before;

	sgpu_inject_init(&inject, 1);
	before = inject;
	TEST_EQ(sgpu_inject_set(&inject, SGPU_INJECT_COUNT, 0), -EINVAL);
	TEST_EQ(sgpu_inject_set(&inject, SGPU_INJECT_COUNT, 1), -EINVAL);
	TEST_EQ(sgpu_inject_set(&inject, UINT32_MAX, 1), -EINVAL);
	TEST_TRUE(!sgpu_inject_now(&inject, SGPU_INJECT_COUNT));
	TEST_TRUE(!sgpu_inject_now(&inject, (enum sgpu_inject_kind)UINT32_MAX));
	TEST_TRUE(!memcmp(&inject, &before, sizeof(inject)));
}

static uint64_t throws(struct sgpu_inject *inject, uint32_t kind, uint32_t value)
{
	uint64_t happened = 0, done = inject->done[kind];

	TEST_EQ(sgpu_inject_set(inject, kind, value), 0);
	for (int i = 0; i < THROWS; i++)
		happened += sgpu_inject_now(inject, (enum sgpu_inject_kind)kind);
	TEST_EQ(inject->done[kind] - done, happened);
	return happened;
}

static void now_as_often_as_set(void)
{
	static const uint32_t values[] = { 1, 10, 250, 500, 999 };
	struct sgpu_inject inject;

	sgpu_inject_init(&inject, 77);
	for (uint32_t kind = 0; kind < SGPU_INJECT_COUNT; kind++) {
		if (!is_dice(kind))
			continue;
		TEST_EQ(throws(&inject, kind, 1000), THROWS);
		TEST_EQ(throws(&inject, kind, 0), 0);
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			int64_t want = (int64_t)values[i] * THROWS / 1000;
			int64_t off = (int64_t)throws(&inject, kind, values[i]) - want;

			/* Five standard deviations at most, and more than one apart. */
			TEST_TRUE(off * off <= 25 * want + 25);
		}
	}
}

/* Times and counts are not thrown for: their users look at the value. */
static void now_of_amounts(void)
{
	struct sgpu_inject inject;

	sgpu_inject_init(&inject, 1);
	TEST_EQ(throws(&inject, SGPU_INJECT_INTERRUPT_LATE, 1000000), 0);
	TEST_EQ(throws(&inject, SGPU_INJECT_COPY_SLOW, 1000), 0);
	TEST_EQ(throws(&inject, SGPU_INJECT_FAULT_LIMIT, 1000), 0);
}

/* Which of the next occasions happens. */
static void now_once(void)
{
	static const uint32_t turns[] = { 1, 2, 3, 1000, 1000000 };
	struct sgpu_inject inject;

	sgpu_inject_init(&inject, 1);
	for (uint32_t kind = SGPU_INJECT_REPLAY_LOST_AT; kind <= SGPU_INJECT_INVALIDATE_LOST_AT;
	     kind++) {
		for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
			uint64_t state = inject.random;
			uint64_t done = inject.done[kind];

			TEST_EQ(sgpu_inject_set(&inject, kind, turns[i]), 0);
			for (uint32_t turn = 1; turn <= turns[i] + 2; turn++)
				TEST_EQ(sgpu_inject_now(&inject, (enum sgpu_inject_kind)kind),
					turn == turns[i]);
			TEST_EQ(inject.done[kind] - done, 1);
			TEST_EQ(inject.values[kind], 0);
			/* No dice. */
			TEST_EQ(inject.random, state);
		}
	}
}

/* Set anew it begins anew; 0 takes it back. */
static void now_once_anew(void)
{
	struct sgpu_inject inject;

	sgpu_inject_init(&inject, 1);
	TEST_EQ(sgpu_inject_set(&inject, SGPU_INJECT_REPLAY_LOST_AT, 2), 0);
	TEST_TRUE(!sgpu_inject_now(&inject, SGPU_INJECT_REPLAY_LOST_AT));
	TEST_EQ(sgpu_inject_set(&inject, SGPU_INJECT_REPLAY_LOST_AT, 2), 0);
	TEST_TRUE(!sgpu_inject_now(&inject, SGPU_INJECT_REPLAY_LOST_AT));
	TEST_EQ(sgpu_inject_set(&inject, SGPU_INJECT_REPLAY_LOST_AT, 0), 0);
	TEST_TRUE(!sgpu_inject_now(&inject, SGPU_INJECT_REPLAY_LOST_AT));
	TEST_EQ(inject.done[SGPU_INJECT_REPLAY_LOST_AT], 0);
}

static uint64_t pattern(uint64_t seed)
{
	struct sgpu_inject inject;
	uint64_t bits = 0;

	sgpu_inject_init(&inject, seed);
	TEST_EQ(sgpu_inject_set(&inject, SGPU_INJECT_REPLAY_LOST, 500), 0);
	for (int i = 0; i < 64; i++)
		bits = bits << 1 | sgpu_inject_now(&inject, SGPU_INJECT_REPLAY_LOST);
	return bits;
}

static void now_repeats_by_seed(void)
{
	for (uint64_t seed = 1; seed < 100; seed++) {
		TEST_EQ(pattern(seed), pattern(seed));
		TEST_TRUE(pattern(seed) != pattern(seed + 1));
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(random_is_xorshift),
		TEST(init_all_off),
		TEST(set_ranges),
		TEST(set_no_such_kind),
		TEST(now_as_often_as_set),
		TEST(now_of_amounts),
		TEST(now_once),
		TEST(now_once_anew),
		TEST(now_repeats_by_seed),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
