/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/strip.h"

#include "tests/test.h"

static struct wic_event event(uint64_t time_ns, uint32_t warp, enum wic_event_kind kind)
{
	struct wic_event e = { .time_ns = time_ns, .warp = warp, .kind = (uint8_t)kind };

	return e;
}

/* A quarter each: computing, looking, parked, done. */
static void strip_quarters(void)
{
	static struct bench_strip s;
	const struct wic_event events[] = {
		event(1000, 5, WIC_EVENT_COMPUTE),
		event(2000, 5, WIC_EVENT_LOOK),
		event(3000, 5, WIC_EVENT_PARK),
		event(4000, 5, WIC_EVENT_DONE),
	};

	bench_strip_make(&s, events, 4, 1000, 5000);
	TEST_EQ(s.warp_count, 1);
	TEST_EQ(s.warps[0], 5);
	TEST_EQ(s.cells[0][0], BENCH_STRIP_COMPUTE);
	TEST_EQ(s.cells[0][127], BENCH_STRIP_COMPUTE);
	TEST_EQ(s.cells[0][128], BENCH_STRIP_LOOK);
	TEST_EQ(s.cells[0][256], BENCH_STRIP_PARK);
	TEST_EQ(s.cells[0][511], BENCH_STRIP_NONE);
	for (int k = 0; k < BENCH_STRIP_STATES; k++)
		TEST_EQ(s.state_pct[k] + 0.5, 25);
}

/* Spread over the ids that there are; a woken warp is ready to compute. */
static void strip_chooses_warps(void)
{
	static struct bench_strip s;
	struct wic_event events[64];

	for (uint32_t i = 0; i < 64; i++)
		events[i] = event(100 + i, 63 - i, WIC_EVENT_WAKE);
	bench_strip_make(&s, events, 64, 100, 10100);
	TEST_EQ(s.warp_count, BENCH_STRIP_WARPS);
	for (uint32_t i = 0; i < BENCH_STRIP_WARPS; i++)
		TEST_EQ(s.warps[i], 4 * i);
	TEST_EQ(s.cells[0][256], BENCH_STRIP_COMPUTE);
}

/* A warp of a later block is no candidate. */
static void strip_leaves_later_blocks(void)
{
	static struct bench_strip s;
	struct wic_event events[18];

	for (uint32_t i = 0; i < 16; i++)
		events[i] = event(100, i, WIC_EVENT_COMPUTE);
	events[16] = event(200, 3, WIC_EVENT_DONE);
	events[17] = event(300, 99, WIC_EVENT_COMPUTE);
	bench_strip_make(&s, events, 18, 100, 1000);
	TEST_EQ(s.warp_count, 16);
	TEST_EQ(s.warps[15], 15);
}

static void strip_empty(void)
{
	static struct bench_strip s;

	bench_strip_make(&s, NULL, 0, 100, 100);
	TEST_EQ(s.warp_count, 0);
}

/* Events after the end and before the start of the run change nothing. */
static void strip_out_of_range(void)
{
	static struct bench_strip s;
	const struct wic_event events[] = {
		event(10, 0, WIC_EVENT_LOOK),
		event(100, 0, WIC_EVENT_COMPUTE),
		event(900, 0, WIC_EVENT_PARK),
	};

	bench_strip_make(&s, events, 3, 50, 500);
	TEST_EQ(s.cells[0][0], BENCH_STRIP_NONE);
	TEST_EQ(s.cells[0][511], BENCH_STRIP_COMPUTE);
}

static void merge_takes_most(void)
{
	const uint8_t cells[] = { 1, 2, 2, 3, 3, 3 };

	TEST_EQ(bench_strip_merge(cells, 0, 3), BENCH_STRIP_LOOK);
	TEST_EQ(bench_strip_merge(cells, 0, 6), BENCH_STRIP_PARK);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(strip_quarters), TEST(strip_chooses_warps), TEST(strip_leaves_later_blocks),
		TEST(strip_empty),    TEST(strip_out_of_range),  TEST(merge_takes_most),
		{ NULL, NULL },
	};

	return test_main(argc, argv, tests);
}
