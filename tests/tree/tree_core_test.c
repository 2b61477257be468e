// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The tree against the engine: equal inputs, equal wake-ups.
 *
 * The same random inputs go to both: waits with deadlines, publishes of ranges, cancels, deaths of
 * owners, the end of the channel, time.  After each, once the tree has had time to settle, the same
 * waits have ended with the same statuses.  Deadlines lie where no other input does.
 *
 *	tree_core_test [SEED [ROUNDS]]
 */
/* Both fixtures have one. */
#define publish engine_publish
#include "core/engine_fixture.h"
#undef publish

#include "tests/tree/tree_calls.h"

#define LINES 2u
#define TAGS (LINES * WIC_TREE_LINE_TAGS)
#define BLOCKS 3u
#define BLOCK_WARPS 4u
#define WAITERS (BLOCKS * BLOCK_WARPS)
#define INPUTS 60u
/* All that an input wakes has been woken then; and deadlines are so far from everything else. */
#define SETTLE_NS 400000u
#define GRID_NS 10000000u
#define LATE_NS 8000000u /* of the grid: no input that has not settled by the next deadline */

enum waiter_state { IDLE, ASKED, WAITING, DONE };

struct waiter {
	enum waiter_state state;
	uint32_t tag;
	uint64_t epoch;
	uint64_t until_ns;
	int tree_rc;   /* while DONE */
	int engine_rc; /* 1: not ended */
};

static struct waiter waiters[WAITERS];
static struct fixture engine;
static uint64_t epochs[TAGS];
static uint32_t is_dead[LINES], is_closed, is_over;
static uint64_t ended[4], inputs; /* waits, by status: 0, timed out, cancelled, owner died */

static void waiter_run(void *arg)
{
	struct waiter *w = arg;
	struct wic_lot *lot = &world.lot[(uint32_t)(w - waiters) / BLOCK_WARPS];

	while (!is_over) {
		if (w->state != ASKED) {
			wic_t_nap(1000);
			continue;
		}
		w->state = WAITING;
		w->tree_rc = wait_now(lot, host_tag(0, w->tag), w->epoch,
				      w->until_ns == WIC_FOREVER ? WIC_FOREVER
								 : w->until_ns - sched.now_ns);
		w->state = DONE;
	}
}

static void engine_take(void)
{
	struct wic_action a;

	while (fixture_next(&engine, &a)) {
		if (a.kind == WIC_ACTION_TIMER)
			continue;
		SCHED_CHECK(a.kind == WIC_ACTION_REPLAY && a.final, "an action of no wait", a.kind,
			    a.cookie);
		SCHED_CHECK(waiters[a.cookie].engine_rc == 1, "two ends of a wait", a.cookie,
			    a.status);
		waiters[a.cookie].engine_rc = a.status;
	}
}

/* What the tree and what the engine have ended. */
static void compare(void)
{
	TEST_EQ(wic_engine_tick(engine.e, sched.now_ns), 0);
	engine_take();
	for (uint32_t i = 0; i < WAITERS; i++) {
		struct waiter *w = &waiters[i];

		if (w->state == IDLE)
			continue;
		SCHED_CHECK((w->state == DONE) == (w->engine_rc != 1),
			    w->state == DONE ? "the engine has not ended a wait"
					     : "the tree has not ended a wait",
			    i, w->engine_rc);
		if (w->state != DONE)
			continue;
		SCHED_CHECK(w->tree_rc == w->engine_rc, "a wait has ended in two ways", w->tree_rc,
			    w->engine_rc);
		ended[!w->tree_rc                        ? 0
		      : w->tree_rc == WIC_TREE_ETIMEDOUT ? 1
		      : w->tree_rc == WIC_TREE_ECANCELED ? 2
							 : 3]++;
		w->state = IDLE;
	}
}

static void settle(void)
{
	wic_t_nap(SETTLE_NS);
	compare();
	if (sched.now_ns % GRID_NS > LATE_NS) {
		wic_t_nap((uint32_t)(GRID_NS - sched.now_ns % GRID_NS));
		wic_t_nap(SETTLE_NS);
		compare();
	}
}

static void input_wait(uint64_t random)
{
	uint32_t i = (uint32_t)(random % WAITERS);
	struct waiter *w = &waiters[i];
	struct wic_want want;
	struct wic_request r;

	if (w->state != IDLE || is_closed)
		return;
	w->tag = random >> 8 & 1 ? (uint32_t)(random >> 16 & 3) : (uint32_t)(random >> 16) % TAGS;
	w->epoch = epochs[w->tag] + (random >> 32) % 4;
	w->epoch += !w->epoch;
	w->until_ns = WIC_FOREVER;
	if (random >> 40 & 1)
		w->until_ns = (sched.now_ns / GRID_NS + 1 + (random >> 48 & 3)) * GRID_NS;
	w->engine_rc = 1;
	want = (struct wic_want){ w->epoch, w->tag, WIC_PAGE_NONE, 0 };
	r = (struct wic_request){ i, w->until_ns, engine.channel, 1, &want };
	TEST_EQ(wic_engine_request(engine.e, &r, 1, sched.now_ns), 0);
	w->state = ASKED;
}

static void input_publish(uint64_t random)
{
	uint32_t first =
		random >> 8 & 1 ? (uint32_t)(random >> 16 & 3) : (uint32_t)(random >> 16) % TAGS;
	uint32_t count = 1 + (uint32_t)(random >> 32) % 3;
	uint64_t epoch = epochs[first] + 1 + (random >> 40) % 2;

	if (is_closed || first + count > TAGS)
		return;
	for (uint32_t i = first; i < first + count; i++)
		if (is_dead[i / WIC_TREE_LINE_TAGS] || epochs[i] >= epoch)
			return;
	TEST_EQ(wic_engine_publish(engine.e, engine.channel, first, count, epoch), 0);
	for (uint32_t i = first; i < first + count; i++) {
		epochs[i] = epoch;
		publish(host_tag(0, i), epoch);
	}
}

/* Waits that began before; what is asked while it lasts, the engine's callers do not ask. */
static void input_cancel(void)
{
	uint64_t word = world.truth[0][WIC_TREE_CANCEL];

	for (uint32_t i = 0; i < WAITERS; i++)
		if (waiters[i].state != IDLE && waiters[i].engine_rc == 1)
			TEST_EQ(wic_engine_cancel(engine.e, i), 0);
	set_cancel(0, word + 1);
	settle();
	set_cancel(0, word + 2);
}

static void input_death(uint64_t random)
{
	uint32_t line = (uint32_t)(random >> 8) % LINES;

	if (is_dead[line] || is_closed)
		return;
	is_dead[line] = 1;
	TEST_EQ(wic_engine_owner_died(engine.e, engine.channel, line * WIC_TREE_LINE_TAGS,
				      WIC_TREE_LINE_TAGS),
		0);
	end_line(world.host_first + line, WIC_TREE_DIED);
}

static void input_close(void)
{
	if (is_closed)
		return;
	is_closed = 1;
	TEST_EQ(wic_engine_close(engine.e, engine.channel), 0);
	for (uint32_t line = 0; line < LINES; line++)
		if (!is_dead[line])
			end_line(world.host_first + line, WIC_TREE_CLOSED);
}

static void driver_run(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < INPUTS; i++) {
		uint64_t random = sched_random(), kind = random >> 56;

		inputs++;
		if (kind < 120)
			input_wait(random);
		else if (kind < 230)
			input_publish(random);
		else if (kind < 240)
			input_cancel();
		else if (kind < 243)
			input_death(random);
		else if (i > INPUTS * 3 / 4 && kind < 246)
			input_close();
		/* Else time alone. */
		if (kind >= 246)
			wic_t_nap((uint32_t)(GRID_NS - sched.now_ns % GRID_NS));
		settle();
	}
	input_close();
	settle();
	for (uint32_t i = 0; i < WAITERS; i++)
		SCHED_CHECK(waiters[i].state == IDLE, "a wait outlives its channel", i, 0);
	is_over = 1;
}

static void one_round(uint64_t seed)
{
	static const struct wic_engine_params p = {
		.channels_max = 1, .tags_max = TAGS, .requests_max = WAITERS, .wants_max = WAITERS
	};

	sched_reset(seed);
	world_make(1, LINES, 0, 0, 0);
	for (uint32_t i = 0; i < BLOCKS; i++)
		wic_tree_lot_init(&world.lot[i], BLOCK_WARPS);
	memset(waiters, 0, sizeof(waiters));
	memset(epochs, 0, sizeof(epochs));
	memset(is_dead, 0, sizeof(is_dead));
	is_closed = is_over = 0;
	fixture_open(&engine, &p);
	TEST_EQ(wic_engine_open(engine.e, TAGS, false, &engine.channel), 0);
	for (uint32_t i = 0; i < WAITERS; i++)
		sched_add(i / BLOCK_WARPS, i % BLOCK_WARPS, waiter_run, &waiters[i]);
	sched_add(BLOCKS, 0, driver_run, NULL);
	sched_run();
	check_clean();
	fixture_close(&engine);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 0) : 200;
	static char name[64];

	test_program = argv[0];
	test_current = name;
	for (uint64_t i = 0; i < rounds; i++) {
		snprintf(name, sizeof(name), "%llu 1", (unsigned long long)(seed + i));
		one_round(seed + i);
	}
	printf("%llu rounds, %llu inputs; waits: %llu satisfied, %llu timed out, %llu cancelled, "
	       "%llu owner died\n",
	       (unsigned long long)rounds, (unsigned long long)inputs, (unsigned long long)ended[0],
	       (unsigned long long)ended[1], (unsigned long long)ended[2],
	       (unsigned long long)ended[3]);
	return !(ended[0] && ended[1] && ended[2] && ended[3]);
}
