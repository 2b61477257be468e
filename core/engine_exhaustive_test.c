/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Every interleaving of small scripts, against the contract: three requests, three publishes,
 * a pool of four pages.  engine_exhaustive_full_test.c has the same with all that can happen
 * in one script; here each has a part, so that it takes seconds.
 */
#include "core/exhaustive_search_fixture.h"

void wic_assert_failed(const char *condition, const char *file, int line)
{
	x_trace_print();
	fprintf(stderr, "%s:%d: %s: assertion: %s\n", file, line, test_current, condition);
	abort();
}

/* No data: one tag or all of a set, at several epochs, stale publishes in between. */
static void signals(void)
{
	x_run_at_wraps((struct x_script){
		.slots = 2,
		.asks = 3,
		.ask = { { 1, { { 0, 1, 0 } }, 5 },
			 { 1, { { 0, 2, 0 } }, 0 },
			 { 2, { { 0, 1, 0 }, { 1, 1, 0 } }, 9 } },
		.publishes = 3,
		.publish = { { 0, 1, 2 }, { 0, 1, 1 }, { 0, 2, 1 } },
		.ticks = 2,
		.tick_ns = { 5, 9 },
		.cancels = 2,
		.deaths = 1,
		.ends = X_BIT(X_OK) | X_BIT(X_TIMEDOUT) | X_BIT(X_CANCELED) | X_BIT(X_OWNERDEAD),
	});
}

/* Three requests for one (tag, epoch): one run and one fill, which may fail. */
static void one_run(void)
{
	x_run_here((struct x_script){
		.pages = 4,
		.close_batch = 1,
		.slots = 3,
		.asks = 3,
		.ask = { { 1, { { 0, 1, 2 } }, 5 },
			 { 1, { { 0, 1, 2 } }, 0 },
			 { 1, { { 0, 1, 2 } }, 0 } },
		.publishes = 2,
		.publish = { { 0, 1, 1 }, { 0, 1, 2 } },
		.ticks = 1,
		.tick_ns = { 5 },
		.cancels = 2,
		.fails = 1,
		.ends = X_BIT(X_OK) | X_BIT(X_TIMEDOUT) | X_BIT(X_CANCELED) | X_BIT(X_INVALID) |
			X_BIT(X_IO),
	});
}

/* Warps stand at the pages, before and after their request is over. */
static void faults(void)
{
	x_run_here((struct x_script){
		.pages = 4,
		.close_batch = 1,
		.slots = 2,
		.asks = 2,
		.ask = { { 1, { { 0, 1, 2 } }, 5 }, { 1, { { 0, 1, 2 } }, 0 } },
		.publishes = 2,
		.publish = { { 0, 1, 1 }, { 0, 1, 2 } },
		.ticks = 1,
		.tick_ns = { 5 },
		.cancels = 2,
		.deaths = 1,
		.fails = 1,
		.faults = 3,
		.ends = X_BIT(X_OK) | X_BIT(X_TIMEDOUT) | X_BIT(X_CANCELED) | X_BIT(X_OWNERDEAD) |
			X_BIT(X_INVALID) | X_BIT(X_IO),
	});
}

/* More is wanted than the pool has: the FIFO, the partners, closing in between. */
static void pool_fifo(void)
{
	x_run_here((struct x_script){
		.pages = 4,
		.close_batch = 2,
		.slots = 3,
		.asks = 3,
		.ask = { { 1, { { 0, 1, 1 } }, 5 },
			 { 1, { { 1, 1, 2 } }, 0 },
			 { 1, { { 0, 2, 1 } }, 0 } },
		.publishes = 3,
		.publish = { { 0, 1, 1 }, { 1, 1, 1 }, { 0, 1, 2 } },
		.ticks = 1,
		.tick_ns = { 5 },
		.cancels = 2,
		.ends = X_BIT(X_OK) | X_BIT(X_TIMEDOUT) | X_BIT(X_CANCELED) | X_BIT(X_INVALID),
	});
}

/* Of two pages one can be held: each epoch takes the other, which must be closed. */
static void one_page(void)
{
	x_run_here((struct x_script){
		.pages = 2,
		.close_batch = 1,
		.slots = 3,
		.asks = 3,
		.ask = { { 1, { { 0, 1, 1 } }, 0 },
			 { 1, { { 0, 2, 1 } }, 5 },
			 { 1, { { 0, 3, 1 } }, 0 } },
		.publishes = 3,
		.publish = { { 0, 1, 1 }, { 0, 1, 2 }, { 0, 1, 3 } },
		.ticks = 1,
		.tick_ns = { 5 },
		.cancels = 2,
		.deaths = 1,
		.fails = 1,
		.ends = X_BIT(X_OK) | X_BIT(X_TIMEDOUT) | X_BIT(X_CANCELED) | X_BIT(X_OWNERDEAD) |
			X_BIT(X_INVALID) | X_BIT(X_IO),
	});
}

/* A set of two tags with data beside requests that share one of its runs. */
static void sets(void)
{
	x_run_here((struct x_script){
		.pages = 4,
		.close_batch = 1,
		.slots = 3,
		.asks = 3,
		.ask = { { 2, { { 0, 1, 1 }, { 1, 1, 1 } }, 5 },
			 { 1, { { 1, 1, 1 } }, 0 },
			 { 2, { { 0, 1, 1 }, { 1, 2, 0 } }, 0 } },
		.publishes = 2,
		.publish = { { 0, 2, 1 }, { 1, 1, 2 } },
		.ticks = 1,
		.tick_ns = { 5 },
		.cancels = 4,
		.deaths = 1,
		.ends = X_BIT(X_OK) | X_BIT(X_TIMEDOUT) | X_BIT(X_CANCELED) | X_BIT(X_OWNERDEAD) |
			X_BIT(X_INVALID),
	});
}

/* Notices of up to two requests, for which the PFQ has two slots; the channel closes. */
static void batches(void)
{
	x_run_here((struct x_script){
		.pages = 4,
		.close_batch = 1,
		.slots = 2,
		.is_split = true,
		.asks = 3,
		.ask = { { 1, { { 0, 1, 1 } }, 5 },
			 { 2, { { 0, 1, 1 }, { 1, 1, 0 } }, 0 },
			 { 1, { { 1, 1, 0 } }, 5 } },
		.publishes = 1,
		.publish = { { 0, 2, 1 } },
		.ticks = 1,
		.tick_ns = { 5 },
		.closes = true,
		.ends = X_BIT(X_OK) | X_BIT(X_TIMEDOUT) | X_BIT(X_CANCELED) | X_BIT(X_INVALID),
	});
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(signals),  TEST(one_run), TEST(faults),  TEST(pool_fifo),
		TEST(one_page), TEST(sets),    TEST(batches), { 0 },
	};

	return test_main(argc, argv, tests);
}
