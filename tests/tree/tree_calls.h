/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Waits of single warps in a small world, for directed tests. */
#ifndef WIC_TESTS_TREE_TREE_CALLS_H
#define WIC_TESTS_TREE_TREE_CALLS_H

#include "tests/tree/tree_world.h"

#include "tests/test.h"

/* Each test under so many schedules. */
#define SEEDS 20u
#define EACH_SEED(contexts, host, device, queue) \
	for (uint64_t seed = 1; begin(seed, (contexts), (host), (device), (queue)); seed++)
/* Sleeps until it holds. */
#define UNTIL(x)                        \
	do {                            \
		while (!(x))            \
			wic_t_nap(100); \
	} while (0)
#define SOON_NS 100000u
#define LOTS 4u

/* A wait of a warp, and what came of it. */
struct call {
	struct wic_lot *lot;
	uint64_t *word;   /* of the user's, or NULL: a tag */
	uint32_t is_peer; /* the tag is another device's */
	uint32_t tag;
	uint64_t epoch;
	uint64_t timeout_ns;
	int rc;
	uint32_t is_done;
	uint64_t start_ns;
	uint64_t end_ns;
};

static struct call calls[WIC_WARPS_MAX];
static uint32_t calls_count;

static void sched_fail(const char *what, uint64_t a, uint64_t b)
{
	fprintf(stderr, "fiber %u at %llu ns\n", sched.current, (unsigned long long)sched.now_ns);
	test_fail("tests/tree/tree_sched.h", 0, what, (long long)a, (long long)b);
	abort();
}

static inline void check_clean(void)
{
	for (uint32_t i = 0; i < LOTS; i++)
		world_check_lot(i, world.lot[i].warps);
	world_check_lines();
}

/* 0: all seeds are done.  Four lots of 32 warps; lines as in world_make(). */
static inline int begin(uint64_t seed, uint32_t contexts, uint32_t host, uint32_t device,
			uint64_t queue)
{
	if (seed > 1)
		check_clean();
	if (seed > SEEDS)
		return 0;
	sched_reset(seed);
	memset(&sched.counts, 0, sizeof(sched.counts));
	world_make(contexts, host, device, queue, 0);
	for (uint32_t i = 0; i < LOTS; i++)
		wic_tree_lot_init(&world.lot[i], WIC_WARPS_MAX);
	memset(calls, 0, sizeof(calls));
	calls_count = 0;
	return 1;
}

static inline uint32_t host_tag(uint32_t line, uint32_t i)
{
	return (world.host_first + line) * WIC_TREE_LINE_TAGS + i;
}

static inline struct wic_tree_line *host_line(uint32_t line)
{
	return &world.lines[world.host_first + line];
}

static inline int wait_now(struct wic_lot *lot, uint32_t tag, uint64_t epoch, uint64_t timeout_ns)
{
	return wic_tree_wait(lot, world.lines, WORLD_LINES * WIC_TREE_LINE_TAGS, tag, epoch,
			     timeout_ns, 1);
}

static inline void call_run(void *arg)
{
	struct call *c = arg;

	c->start_ns = sched.now_ns;
	if (c->word)
		c->rc = wic_tree_wait_word(c->lot, c->word, c->epoch, c->timeout_ns, 1);
	else if (c->is_peer)
		c->rc = wic_tree_wait_peer(c->lot, world.lines, WORLD_LINES * WIC_TREE_LINE_TAGS,
					   c->tag, c->epoch, c->timeout_ns, 1);
	else
		c->rc = wait_now(c->lot, c->tag, c->epoch, c->timeout_ns);
	c->end_ns = sched.now_ns;
	c->is_done = 1;
}

/* A warp that waits; without a lot where @block is LOTS. */
static inline struct call *add_wait(uint32_t block, uint32_t warp, uint32_t tag, uint64_t epoch,
				    uint64_t timeout_ns)
{
	struct call *c = &calls[calls_count];

	c->lot = block < LOTS ? &world.lot[block] : NULL;
	c->tag = tag;
	c->epoch = epoch;
	c->timeout_ns = timeout_ns;
	sched_add(block < LOTS ? block : LOTS + calls_count, warp, call_run, c);
	calls_count++;
	return c;
}

static inline void publish(uint32_t tag, uint64_t epoch)
{
	sched_step();
	*world_published(tag) = epoch;
}

/* Host's: the line's tags have ended. */
static inline void end_line(uint32_t line, uint64_t how)
{
	sched_step();
	world.end_truth[line] = how;
	sched_step();
	world.truth[line % world.contexts][WIC_TREE_ENDS]++;
}

static inline void set_cancel(uint32_t context, uint64_t to)
{
	sched_step();
	world.truth[context][WIC_TREE_CANCEL] = to;
}

static inline uint32_t registered(uint32_t block)
{
	return (uint32_t)__builtin_popcount(world.lot[block].mask);
}

static inline void all_ok(void)
{
	for (uint32_t i = 0; i < calls_count; i++) {
		TEST_TRUE(calls[i].is_done);
		TEST_EQ(calls[i].rc, 0);
	}
}

static inline void publish_last(void *arg)
{
	const struct call *last = arg;

	wic_t_nap(3 * SOON_NS);
	TEST_TRUE(!last->is_done);
	publish(last->tag, last->epoch);
}

static inline void check_timed_out(const struct call *c)
{
	TEST_EQ(c->rc, WIC_TREE_ETIMEDOUT);
	TEST_TRUE(c->end_ns >= c->start_ns + c->timeout_ns);
	TEST_TRUE(c->end_ns < c->start_ns + c->timeout_ns + SOON_NS);
}

#endif /* WIC_TESTS_TREE_TREE_CALLS_H */
