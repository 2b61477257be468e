// SPDX-License-Identifier: MIT OR GPL-2.0
/* wic_tree_next() and wic_tree_put(), directed: tickets, laps, full queues, ends. */
#include "tests/tree/tree_world.h"

#include "tests/test.h"

#define SEEDS 20u
#define SIZE 16u
#define SOON_NS 100000u
#define ALONE WIC_WARPS_MAX /* a warp's number, of one without a lot */
/* Sleeps until it holds. */
#define UNTIL(x)                        \
	do {                            \
		while (!(x))            \
			wic_t_nap(100); \
	} while (0)
#define EACH_SEED() for (uint64_t seed = 1; begin(seed); seed++)

/* A warp that takes @takes tags, or until a call fails. */
struct consumer {
	uint32_t takes;
	uint64_t timeout_ns;
	uint32_t turn; /* it waits until so many tickets are taken */
	struct wic_lot *lot;
	uint32_t tags[64];
	uint32_t got;
	int rc; /* of its last call */
	uint32_t is_done;
};

static struct consumer consumers[WIC_WARPS_MAX];
static uint32_t consumers_count;

static void sched_fail(const char *what, uint64_t a, uint64_t b)
{
	fprintf(stderr, "fiber %u at %llu ns\n", sched.current, (unsigned long long)sched.now_ns);
	test_fail("tests/tree/tree_sched.h", 0, what, (long long)a, (long long)b);
	abort();
}

static int begin(uint64_t seed)
{
	if (seed > 1) {
		world_check_lot(0, WIC_WARPS_MAX);
		world_check_lines();
	}
	if (seed > SEEDS)
		return 0;
	sched_reset(seed);
	world_make(1, 1, 0, SIZE, 0);
	wic_tree_lot_init(&world.lot[0], WIC_WARPS_MAX);
	memset(consumers, 0, sizeof(consumers));
	consumers_count = 0;
	return 1;
}

static struct wic_tree_line *queue_line(void)
{
	return &world.lines[world.queue];
}

static uint64_t tickets(void)
{
	return queue_line()->word[WIC_TREE_TICKET];
}

static int put(uint32_t tag)
{
	int rc;

	sched_step();
	rc = wic_tree_put(world.queue_truth, &world.drained, SIZE, world.puts, tag);
	world.puts += !rc;
	return rc;
}

static int take(struct wic_lot *lot, uint64_t timeout_ns, uint32_t *tag_out)
{
	return wic_tree_next(lot, queue_line(), timeout_ns, 1, tag_out);
}

static void consume(void *arg)
{
	struct consumer *c = arg;
	uint32_t tag = 0;

	UNTIL(tickets() >= c->turn);
	while (c->got < c->takes) {
		c->rc = take(c->lot, c->timeout_ns, &tag);
		if (c->rc)
			break;
		c->tags[c->got++] = tag;
	}
	c->is_done = 1;
}

static struct consumer *add_consumer(uint32_t warp, uint32_t turn, uint32_t takes,
				     uint64_t timeout_ns)
{
	struct consumer *c = &consumers[consumers_count++];

	c->lot = warp == ALONE ? NULL : &world.lot[0];
	c->takes = takes;
	c->turn = turn;
	c->timeout_ns = timeout_ns;
	sched_add(warp == ALONE ? 10 + consumers_count : 0, warp % ALONE, consume, c);
	return c;
}

static void end_queue(uint64_t how)
{
	sched_step();
	world.end_truth[world.queue] = how;
	sched_step();
	world.truth[0][WIC_TREE_ENDS]++;
}

/* ---- tickets, laps, ends ---------------------------------------------------------- */

static void next_in_order(void)
{
	EACH_SEED()
	{
		uint32_t tag = 99;

		for (uint32_t i = 0; i < 5; i++)
			TEST_EQ(put(100 + i), 0);
		for (uint32_t i = 0; i < 5; i++) {
			TEST_EQ(take(i & 1 ? NULL : &world.lot[0], 0, &tag), 0);
			TEST_EQ(tag, 100 + i);
		}
		TEST_EQ(world.drained, 5);
		TEST_EQ(take(NULL, 0, &tag), WIC_TREE_ETIMEDOUT);
		TEST_EQ(take(&world.lot[0], 0, &tag), WIC_TREE_ETIMEDOUT);
		TEST_EQ(tag, 104);
		TEST_EQ(put(7), 0);
		TEST_EQ(take(NULL, 0, &tag), 0);
		TEST_EQ(tag, 7);
	}
}

static void put_four(void *arg)
{
	(void)arg;
	UNTIL(tickets() == 4);
	wic_t_nap(SOON_NS);
	for (uint32_t i = 0; i < 4; i++) {
		TEST_TRUE(!consumers[i].is_done);
		TEST_EQ(put(i), 0);
		UNTIL(consumers[i].is_done);
	}
}

/* One wake-up a tag, and in the order of the tickets. */
static void next_by_ticket(void)
{
	EACH_SEED()
	{
		for (uint32_t i = 0; i < 4; i++)
			add_consumer(i == 2 ? ALONE : i, i, 1, WIC_FOREVER);
		sched_add(100, 0, put_four, NULL);
		sched_run();
		for (uint32_t i = 0; i < 4; i++)
			TEST_EQ(consumers[i].tags[0], i);
		TEST_EQ(tickets(), 4);
	}
}

static void put_after_timeout(void *arg)
{
	(void)arg;
	UNTIL(consumers[1].is_done && tickets() == 3);
	wic_t_nap(SOON_NS);
	TEST_EQ(put(5), 0);
	TEST_EQ(put(6), 0);
}

static void next_given_up(void)
{
	EACH_SEED()
	{
		add_consumer(0, 0, 1, WIC_FOREVER);
		add_consumer(seed & 1 ? 1 : ALONE, 1, 1, 20000);
		add_consumer(2, 2, 1, WIC_FOREVER);
		sched_add(100, 0, put_after_timeout, NULL);
		sched_run();
		TEST_EQ(consumers[0].tags[0], 5);
		TEST_EQ(consumers[1].rc, WIC_TREE_ETIMEDOUT);
		TEST_EQ(consumers[2].tags[0], 6);
	}
}

/* Laps of tickets that were all given up, while nothing was put. */
static void next_laps_given_up(void)
{
	EACH_SEED()
	{
		uint32_t tag = 0;

		for (uint32_t i = 0; i < 3 * SIZE + 5; i++)
			TEST_EQ(take(&world.lot[0], 0, &tag), WIC_TREE_ETIMEDOUT);
		TEST_EQ(put(11), 0);
		TEST_EQ(put(12), 0);
		TEST_EQ(take(&world.lot[0], 0, &tag), 0);
		TEST_EQ(tag, 11);
		TEST_EQ(take(NULL, 0, &tag), 0);
		TEST_EQ(tag, 12);
		TEST_EQ(take(NULL, 0, &tag), WIC_TREE_ETIMEDOUT);
	}
}

static void put_full(void)
{
	EACH_SEED()
	{
		uint32_t tag = 0;

		for (uint32_t i = 0; i < SIZE; i++)
			TEST_EQ(put(i), 0);
		TEST_EQ(put(SIZE), WIC_TREE_EAGAIN);
		/* The first look moves all to the device, where they wait for their tickets. */
		TEST_EQ(take(NULL, 0, &tag), 0);
		TEST_EQ(world.drained, SIZE);
		for (uint32_t i = 0; i < SIZE; i++)
			TEST_EQ(put(SIZE + i), 0);
		TEST_EQ(put(2 * SIZE), WIC_TREE_EAGAIN);
		for (uint32_t i = 1; i < 2 * SIZE; i++) {
			TEST_EQ(take(&world.lot[0], 0, &tag), 0);
			TEST_EQ(tag, i);
		}
		TEST_EQ(take(&world.lot[0], 0, &tag), WIC_TREE_ETIMEDOUT);
	}
}

static void put_many(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < 6 * SIZE; i++)
		UNTIL(!put(i));
}

static void next_laps(void)
{
	EACH_SEED()
	{
		uint8_t seen[6 * SIZE] = { 0 };

		for (uint32_t i = 0; i < 6; i++)
			add_consumer(i == 5 ? ALONE : i, 0, SIZE, WIC_FOREVER);
		sched_add(100, 0, put_many, NULL);
		sched_run();
		for (uint32_t i = 0; i < 6; i++)
			for (uint32_t j = 0; j < SIZE; j++) {
				TEST_EQ(seen[consumers[i].tags[j]]++, 0);
				TEST_TRUE(!j || consumers[i].tags[j] > consumers[i].tags[j - 1]);
			}
		TEST_EQ(world.drained, 6 * SIZE);
	}
}

static void put_for_all(void *arg)
{
	(void)arg;
	UNTIL(consumers[SIZE].is_done);
	TEST_EQ(consumers[SIZE].rc, WIC_TREE_ETIMEDOUT);
	for (uint32_t i = 0; i <= SIZE; i++)
		UNTIL(!put(i));
}

/* The one too many gives up: its ticket must not be that of a slot that is still waited for. */
static void next_more_waiters_than_slots(void)
{
	EACH_SEED()
	{
		for (uint32_t i = 0; i < SIZE; i++)
			add_consumer(i, i, 1, WIC_FOREVER);
		add_consumer(SIZE, SIZE, 1, 50000);
		add_consumer(SIZE + 1, SIZE, 1, WIC_FOREVER);
		sched_add(100, 0, put_for_all, NULL);
		sched_run();
		for (uint32_t i = 0; i < SIZE; i++)
			TEST_EQ(consumers[i].tags[0], i);
		TEST_EQ(consumers[SIZE + 1].tags[0], SIZE);
	}
}

static void put_and_die(void *arg)
{
	uint64_t how = *(const uint64_t *)arg;

	UNTIL(tickets() == 5);
	for (uint32_t i = 0; i < 3; i++)
		TEST_EQ(put(i), 0);
	end_queue(how);
}

/* What was put before the end is delivered; then nothing is left and nothing will come. */
static void next_after_death(void)
{
	static const uint64_t hows[2] = { WIC_TREE_CLOSED, WIC_TREE_DIED };

	EACH_SEED()
	{
		int ended = seed & 1 ? WIC_TREE_EOWNERDEAD : WIC_TREE_ECANCELED;
		uint32_t tag = 0;

		for (uint32_t i = 0; i < 5; i++)
			add_consumer(i, i, 1, WIC_FOREVER);
		sched_add(100, 0, put_and_die, (void *)(uintptr_t)&hows[seed & 1]);
		sched_run();
		for (uint32_t i = 0; i < 5; i++) {
			TEST_EQ(consumers[i].rc, i < 3 ? 0 : ended);
			TEST_TRUE(i >= 3 || consumers[i].tags[0] == i);
		}
		TEST_EQ(take(NULL, WIC_FOREVER, &tag), ended);
	}
}

static void next_of_the_dead(void)
{
	EACH_SEED()
	{
		uint32_t tag = 0;

		TEST_EQ(put(1), 0);
		TEST_EQ(put(2), 0);
		end_queue(WIC_TREE_DIED);
		TEST_EQ(take(NULL, WIC_FOREVER, &tag), 0);
		TEST_EQ(tag, 1);
		TEST_EQ(take(NULL, WIC_FOREVER, &tag), 0);
		TEST_EQ(tag, 2);
		TEST_EQ(take(NULL, WIC_FOREVER, &tag), WIC_TREE_EOWNERDEAD);
	}
}

static void cancel_then_put(void *arg)
{
	uint64_t *word = &world.truth[0][WIC_TREE_CANCEL];

	(void)arg;
	UNTIL(tickets() == 3);
	sched_step();
	*word = 1;
	UNTIL(consumers[0].is_done && consumers[1].is_done && consumers[2].is_done);
	sched_step();
	*word = 2;
	TEST_EQ(put(8), 0);
}

static void next_cancelled(void)
{
	EACH_SEED()
	{
		uint32_t tag = 0;

		for (uint32_t i = 0; i < 3; i++)
			add_consumer(i == 1 ? ALONE : i, 0, 1, WIC_FOREVER);
		sched_add(100, 0, cancel_then_put, NULL);
		sched_run();
		for (uint32_t i = 0; i < 3; i++)
			TEST_EQ(consumers[i].rc, WIC_TREE_ECANCELED);
		TEST_EQ(take(&world.lot[0], 0, &tag), 0);
		TEST_EQ(tag, 8);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(next_in_order),
					     TEST(next_by_ticket),
					     TEST(next_given_up),
					     TEST(next_laps_given_up),
					     TEST(put_full),
					     TEST(next_laps),
					     TEST(next_more_waiters_than_slots),
					     TEST(next_after_death),
					     TEST(next_of_the_dead),
					     TEST(next_cancelled),
					     { 0 } };

	return test_main(argc, argv, tests);
}
