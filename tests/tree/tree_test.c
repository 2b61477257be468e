// SPDX-License-Identifier: MIT OR GPL-2.0
/* Each function of tree.h but next, directed: who waits, what is published when, what comes of it.
 */
#include "tests/tree/tree_calls.h"

/* ---- looks ----------------------------------------------------------------------- */

static void wait_hit(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		world.truth[world.host_first][3] = host_line(0)->word[3] = 7;
		TEST_EQ(wait_now(&world.lot[0], host_tag(0, 3), 7, WIC_FOREVER), 0);
		TEST_EQ(wait_now(NULL, host_tag(0, 3), 1, 0), 0);
		TEST_EQ(sched.counts.takes, 0);
		TEST_EQ(world.lot[0].turns, 0);
		TEST_TRUE(sched.now_ns - SCHED_START_NS <= 4);
	}
}

/* Nobody has waited, so nobody has read: one look finds it, with a lot and without. */
static void wait_timeout_0_finds_what_was_published(void)
{
	EACH_SEED(1, 2, 0, 0)
	{
		publish(host_tag(0, 3), 2);
		publish(host_tag(1, 15), 1);
		TEST_EQ(wait_now(&world.lot[0], host_tag(0, 3), 2, 0), 0);
		TEST_EQ(host_line(0)->word[3], 2);
		TEST_EQ(wait_now(NULL, host_tag(1, 15), 1, 0), 0);
	}
}

static void wait_timeout_0_not_there(void)
{
	EACH_SEED(1, 1, 1, 0)
	{
		publish(host_tag(0, 3), 2);
		TEST_EQ(wait_now(&world.lot[0], host_tag(0, 3), 3, 0), WIC_TREE_ETIMEDOUT);
		TEST_EQ(wait_now(NULL, host_tag(0, 2), 1, 0), WIC_TREE_ETIMEDOUT);
		TEST_EQ(wait_now(NULL, host_tag(1, 2), 1, 0), WIC_TREE_ETIMEDOUT);
		TEST_EQ(world.lot[0].turns, 0);
		TEST_TRUE(sched.now_ns - SCHED_START_NS < 100);
	}
}

static void tag_word_is_in_its_line(void)
{
	TEST_TRUE(wic_tree_tag_word(world.lines, 0) == &world.lines[0].word[0]);
	TEST_TRUE(wic_tree_tag_word(world.lines, 15) == &world.lines[0].word[15]);
	TEST_TRUE(wic_tree_tag_word(world.lines, 33) == &world.lines[2].word[1]);
}

/* ---- parks and roles ------------------------------------------------------------- */

static void park_and_publish(void *arg)
{
	(void)arg;
	UNTIL(registered(0) == 2 && sched.parked);
	/* The parked one's first. */
	publish(host_tag(0, world.lot[0].watcher == 1 ? 1 : 0), 1);
	UNTIL(calls[0].is_done + calls[1].is_done == 1);
	TEST_EQ(sched.counts.parks, 1);
	TEST_EQ(sched.counts.hand_overs, 0);
	TEST_EQ(registered(0), 1);
	publish(host_tag(0, 0), 1);
	publish(host_tag(0, 1), 1);
}

static void wait_parked_is_woken(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		add_wait(0, 0, host_tag(0, 0), 1, WIC_FOREVER);
		add_wait(0, 1, host_tag(0, 1), 1, WIC_FOREVER);
		sched_add(100, 0, park_and_publish, NULL);
		sched_run();
		all_ok();
		TEST_EQ(sched.counts.role_ends, 1);
		TEST_TRUE(world.lot[0].turns > 0);
	}
}

static void watcher_first(void *arg)
{
	uint32_t first;

	(void)arg;
	UNTIL(registered(0) == 2 && sched.parked);
	first = world.lot[0].watcher - 1;
	publish(host_tag(0, first), 1);
	UNTIL(calls[first].is_done);
	UNTIL(world.lot[0].watcher == 2 - first);
	TEST_EQ(sched.counts.hand_overs, 1);
	TEST_TRUE(!calls[1 - first].is_done);
	publish(host_tag(0, 1 - first), 1);
}

static void wait_watcher_hands_over(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		add_wait(0, 0, host_tag(0, 0), 1, WIC_FOREVER);
		add_wait(0, 1, host_tag(0, 1), 1, WIC_FOREVER);
		sched_add(100, 0, watcher_first, NULL);
		sched_run();
		all_ok();
		TEST_EQ(sched.counts.parks, 1);
		TEST_EQ(sched.counts.hand_overs, 1);
		TEST_EQ(sched.counts.role_ends, 1);
	}
}

/* Once so many are registered, @arg, and all but the watchers parked: all tags, one by one. */
static void publish_all(void *arg)
{
	uint32_t count = *(const uint32_t *)arg;

	UNTIL(registered(0) + registered(1) + registered(2) + registered(3) == count);
	for (uint32_t i = 0; i < calls_count; i++) {
		publish(calls[i].tag, calls[i].epoch);
		wic_t_nap((uint32_t)(sched_random() >> 52));
	}
}

static void wait_two_for_one_tag(void)
{
	static const uint32_t count = 2;

	EACH_SEED(1, 1, 0, 0)
	{
		add_wait(0, 0, host_tag(0, 9), 1, WIC_FOREVER);
		add_wait(0, 1, host_tag(0, 9), 1, WIC_FOREVER);
		sched_add(100, 0, publish_all, (void *)(uintptr_t)&count);
		sched_run();
		all_ok();
	}
}

static void wait_32_warps(void)
{
	static const uint32_t count = 32;

	EACH_SEED(1, 2, 0, 0)
	{
		for (uint32_t i = 0; i < count; i++)
			add_wait(0, i, host_tag(i & 1, i / 2), 1 + i % 3, WIC_FOREVER);
		sched_add(100, 0, publish_all, (void *)(uintptr_t)&count);
		sched_run();
		all_ok();
		TEST_TRUE(sched.counts.parks >= 31);
	}
}

/* ---- lines ----------------------------------------------------------------------- */

static void wait_blocks_share_lines(void)
{
	static const uint32_t count = 12;

	EACH_SEED(1, 3, 0, 0)
	{
		for (uint32_t i = 0; i < count; i++)
			add_wait(i % 4, i / 4, host_tag(i % 3, i), 2, WIC_FOREVER);
		sched_add(100, 0, publish_all, (void *)(uintptr_t)&count);
		sched_run();
		all_ok();
	}
}

static void see_four_owned(void *arg)
{
	(void)arg;
	UNTIL(host_line(0)->owner && host_line(1)->owner && host_line(2)->owner &&
	      host_line(3)->owner);
	TEST_EQ(host_line(3)->owner, 1);
	UNTIL(world.lines[0].owner == 1);
	for (uint32_t i = 0; i < 4; i++)
		publish(host_tag(i, i), 1);
}

static void wait_several_lines(void)
{
	EACH_SEED(1, 4, 0, 0)
	{
		for (uint32_t i = 0; i < 4; i++)
			add_wait(0, i, host_tag(i, i), 1, WIC_FOREVER);
		sched_add(100, 0, see_four_owned, NULL);
		sched_run();
		all_ok();
	}
}

static void see_line_freed(void *arg)
{
	uint32_t other;

	(void)arg;
	UNTIL(registered(0) == 2 && host_line(0)->owner && host_line(1)->owner);
	other = world.lot[0].watcher == 1 ? 1 : 0;
	publish(host_tag(other, 5), 1);
	UNTIL(calls[other].is_done && !host_line(other)->owner);
	TEST_EQ(host_line(1 - other)->owner, 1);
	TEST_TRUE(!calls[1 - other].is_done);
	publish(host_tag(1 - other, 5), 1);
}

static void line_freed_when_not_wanted(void)
{
	EACH_SEED(1, 2, 0, 0)
	{
		add_wait(0, 0, host_tag(0, 5), 1, WIC_FOREVER);
		add_wait(0, 1, host_tag(1, 5), 1, WIC_FOREVER);
		sched_add(100, 0, see_line_freed, NULL);
		sched_run();
		all_ok();
		TEST_EQ(sched.counts.hand_overs, 0);
	}
}

static void see_line_change(void *arg)
{
	uint32_t owner;

	(void)arg;
	UNTIL(registered(0) && registered(1) && host_line(0)->owner);
	owner = (uint32_t)host_line(0)->owner - 1;
	publish(host_tag(0, owner), 1);
	UNTIL(calls[owner].is_done && host_line(0)->owner == 2 - owner);
	publish(host_tag(0, 1 - owner), 1);
}

static void line_freed_when_watcher_leaves(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		add_wait(0, 0, host_tag(0, 0), 1, WIC_FOREVER);
		add_wait(1, 0, host_tag(0, 1), 1, WIC_FOREVER);
		sched_add(100, 0, see_line_change, NULL);
		sched_run();
		all_ok();
	}
}

/* ---- deadlines ------------------------------------------------------------------- */

/* Whoever watches when it comes: the first and the last of three, then the one that stays. */
static void deadline_of_waiters(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		struct call *a = add_wait(0, 0, host_tag(0, 0), 1, 50000), *stays;
		struct call *b = add_wait(0, 2, host_tag(0, 2), 1, seed & 1 ? 50000 : 90000);

		stays = add_wait(0, 1, host_tag(0, 1), 1, WIC_FOREVER);
		sched_add(100, 0, publish_last, stays);
		sched_run();
		check_timed_out(a);
		check_timed_out(b);
		TEST_EQ(stays->rc, 0);
	}
}

static void see_watcher_time_out(void *arg)
{
	(void)arg;
	TEST_EQ(world.lot[0].watcher, 1);
	wic_t_nap(60000);
	UNTIL(calls[0].is_done && world.lot[0].watcher == 2);
	TEST_EQ(sched.counts.hand_overs, 1);
	publish(host_tag(0, 1), 1);
}

static void late_waiter_run(void *arg)
{
	UNTIL(world.lot[0].watcher == 1);
	sched_add(100, 0, see_watcher_time_out, NULL);
	call_run(arg);
}

static void deadline_of_watcher(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		struct call *c = &calls[1];

		add_wait(0, 0, host_tag(0, 0), 1, 50000);
		*c = (struct call){ .lot = &world.lot[0],
				    .tag = host_tag(0, 1),
				    .epoch = 1,
				    .timeout_ns = WIC_FOREVER };
		sched_add(0, 1, late_waiter_run, c);
		sched_run();
		check_timed_out(&calls[0]);
		TEST_EQ(c->rc, 0);
	}
}

static void publish_later(void *arg)
{
	const struct call *c = arg;

	wic_t_nap(20000000);
	publish(c->tag, c->epoch);
}

/* now + timeout does not wrap. */
static void deadline_far_away(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		struct call *c =
			add_wait(seed & 1 ? 0 : LOTS, 0, host_tag(0, 0), 1, WIC_FOREVER - seed / 2);

		sched_add(100, 0, publish_later, c);
		sched_run();
		all_ok();
	}
}

/* ---- without a lot; words; the device publishes ---------------------------------- */

static void publish_to_alone(void *arg)
{
	(void)arg;
	wic_t_nap(SOON_NS);
	publish(host_tag(0, 1), 1);
	UNTIL(calls[1].is_done);
	wic_t_nap(SOON_NS);
	publish(host_tag(0, 2), 1);
	publish(host_tag(0, 3), 1);
	wic_t_nap(SOON_NS);
	set_cancel(0, 1);
}

static void wait_without_lot(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		add_wait(LOTS, 0, host_tag(0, 0), 1, 50000);
		add_wait(LOTS, 0, host_tag(0, 1), 1, WIC_FOREVER);
		add_wait(LOTS, 0, host_tag(0, 2), 1, WIC_FOREVER);
		add_wait(0, 0, host_tag(0, 3), 1, WIC_FOREVER);
		add_wait(LOTS, 0, host_tag(0, 4), 1, WIC_FOREVER);
		sched_add(100, 0, publish_to_alone, NULL);
		sched_run();
		check_timed_out(&calls[0]);
		for (uint32_t i = 1; i < 4; i++)
			TEST_EQ(calls[i].rc, 0);
		TEST_EQ(calls[4].rc, WIC_TREE_ECANCELED);
	}
}

static void store_words(void *arg)
{
	(void)arg;
	set_cancel(0, 1);
	wic_t_nap(SOON_NS);
	TEST_TRUE(!calls[0].is_done && !calls[1].is_done && calls[2].is_done);
	sched_step();
	world.plain[0] = (uint64_t)1 << 63;
	sched_step();
	world.plain[1] = UINT64_MAX;
}

/* No cancel; compared as unsigned; by a lot's watcher, parked and alone. */
static void wait_word_of_users(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		add_wait(0, 0, 0, (uint64_t)1 << 63, WIC_FOREVER)->word = &world.plain[0];
		add_wait(0, 1, 0, UINT64_MAX, WIC_FOREVER)->word = &world.plain[1];
		add_wait(0, 2, 0, 1, 50000)->word = &world.plain[2];
		add_wait(LOTS, 0, 0, 5, WIC_FOREVER)->word = &world.plain[0];
		sched_add(100, 0, store_words, NULL);
		sched_run();
		check_timed_out(&calls[2]);
		TEST_EQ(calls[0].rc | calls[1].rc | calls[3].rc, 0);
		TEST_EQ(wic_tree_wait_word(NULL, &world.plain[2], 0, 0, 1), 0);
		TEST_EQ(wic_tree_wait_word(&world.lot[0], &world.plain[2], 1, 0, 1),
			WIC_TREE_ETIMEDOUT);
		TEST_EQ(sched.counts.takes, 0);
	}
}

static void publish_on_device(void *arg)
{
	(void)arg;
	UNTIL(registered(0) == 2);
	wic_tree_publish(world.lines, host_tag(1, 4), 3, 1);
	UNTIL(calls[0].is_done);
	/* Raised, never stored: an old epoch changes nothing. */
	wic_tree_publish(world.lines, host_tag(1, 4), 2, 1);
	TEST_EQ(world.lines[world.device_first].word[4], 3);
	wic_tree_publish_sys(world_published(host_tag(0, 4)), 1, 1);
}

static void publish_from_device(void)
{
	EACH_SEED(1, 1, 1, 0)
	{
		add_wait(0, 0, host_tag(1, 4), 3, WIC_FOREVER);
		add_wait(0, 1, host_tag(0, 4), 1, WIC_FOREVER);
		sched_add(100, 0, publish_on_device, NULL);
		sched_run();
		all_ok();
		TEST_EQ(world.lines[world.device_first].owner, 0);
	}
}

static void publish_on_peer(void *arg)
{
	(void)arg;
	UNTIL(registered(0) == 2);
	for (uint64_t epoch = 1; epoch <= 3; epoch++)
		wic_tree_publish_sys(world_word(host_tag(1, 5)), epoch, 1);
}

/* Two that park or watch, one without a lot, one after it was there. */
static void publish_from_peer(void)
{
	EACH_SEED(1, 1, 1, 0)
	{
		for (uint32_t i = 0; i < 3; i++)
			add_wait(i < 2 ? 0 : LOTS, i, host_tag(1, 5), 3, WIC_FOREVER)->is_peer = 1;
		sched_add(100, 0, publish_on_peer, NULL);
		sched_run();
		all_ok();
		TEST_EQ(wic_tree_wait_peer(NULL, world.lines, WORLD_LINES * WIC_TREE_LINE_TAGS,
					   host_tag(1, 5), 3, 0, 1),
			0);
		TEST_EQ(wic_tree_wait_peer(NULL, NULL, 16, 0, 3, 0, 1), WIC_TREE_EINVAL);
		TEST_EQ(wic_tree_wait_peer(NULL, world.lines, 16, 16, 3, 0, 1), WIC_TREE_EINVAL);
		TEST_EQ(wic_tree_wait_peer(NULL, world.lines, 16, 0, 0, 0, 1), WIC_TREE_EINVAL);
		TEST_EQ(wic_tree_wait_peer(NULL, world.lines, 16, 0, 3, 0, 0), WIC_TREE_EINVAL);
	}
}

static void release_gives_credit(void)
{
	for (uint32_t readers = 1; readers <= 3; readers++) {
		uint64_t count = 0, credit = 0;

		for (uint64_t epoch = 1; epoch <= 4; epoch++)
			for (uint32_t i = 1; i <= readers; i++) {
				TEST_TRUE(!wic_tree_is_released(&count, readers, epoch));
				TEST_EQ(wic_tree_release(&count, readers, &credit, epoch, 1),
					i == readers);
				TEST_EQ(credit, i == readers ? epoch : epoch - 1);
			}
		/* One too many takes nothing from anybody. */
		TEST_TRUE(wic_tree_is_released(&count, readers, 4));
		TEST_EQ(wic_tree_release(&count, readers, &credit, 4, 1), WIC_TREE_EINVAL);
		TEST_EQ(count, 4 << 16 | readers);
		TEST_EQ(credit, 4);
		/* Epochs jump, across 2^32 too. */
		for (uint64_t epoch = 0xfffffffe; epoch <= 0x100000002; epoch++)
			for (uint32_t i = 1; i <= readers; i++)
				TEST_EQ(wic_tree_release(&count, readers, &credit, epoch, 1),
					i == readers);
		TEST_EQ(credit, 0x100000002);
	}
	for (uint32_t i = 1; i <= 65535; i++) {
		static uint64_t count, credit;

		TEST_EQ(wic_tree_release(&count, 65535, &credit, WIC_EPOCH_LAST, 1), i == 65535);
	}
}

/* ---- epochs and arguments -------------------------------------------------------- */

static void raise_epochs(void *arg)
{
	static const uint64_t epochs[] = { 0xfffffffe, 0xffffffff, 0x100000000, 0x100000001,
					   WIC_EPOCH_LAST };

	(void)arg;
	for (uint32_t i = 0; i < 5; i++) {
		UNTIL(calls[i].start_ns);
		wic_t_nap(SOON_NS);
		TEST_TRUE(!calls[i].is_done);
		publish(host_tag(0, 0), epochs[i]);
		UNTIL(calls[i].is_done);
	}
}

static void epochs_to_the_last(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		static const uint64_t wants[] = { 0xfffffffe, 0xffffffff, 0x100000000, 0x100000001,
						  WIC_EPOCH_LAST };

		for (uint32_t i = 0; i < 5; i++)
			add_wait(i == 2 ? LOTS : 0, i, host_tag(0, 0), wants[i], WIC_FOREVER);
		sched_add(100, 0, raise_epochs, NULL);
		sched_run();
		all_ok();
		TEST_EQ(wait_now(&world.lot[0], host_tag(0, 0), WIC_EPOCH_LAST, 0), 0);
	}
}

static void bad_input(void)
{
	struct wic_lot *lot = &world.lot[0];
	struct wic_tree_line *lines = world.lines;
	uint64_t words[2] = { 9, 9 };
	const uint64_t *odd = (const uint64_t *)(const void *)((const char *)words + 4);
	uint32_t tag = 77;

	begin(1, 1, 1, 0, 16);
	publish(16, 1);
	TEST_EQ(wic_tree_wait(lot, NULL, 32, 16, 1, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait(lot, lines, 32, 32, 1, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait(lot, lines, 0, 0, 1, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait(lot, lines, 32, 16, 0, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait(lot, lines, 32, 16, WIC_EPOCH_LAST + 1, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait(lot, lines, 32, 16, 1, 0, 0), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait_word(lot, NULL, 1, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait_word(lot, odd, 1, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait_word(lot, words, 1, 0, 0), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_next(lot, NULL, 0, 1, &tag), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_next(lot, &lines[world.queue], 0, 0, &tag), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_next(lot, &lines[world.queue], 0, 1, NULL), WIC_TREE_EINVAL);
	/* A lot for fewer warps: only where the wait does not end at its first look. */
	wic_tree_lot_init(lot, 2);
	sched.fiber[SCHED_MAIN].warp = 2;
	TEST_EQ(wic_tree_wait(lot, lines, 32, 16, 2, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_wait_word(lot, words, 10, 0, 1), WIC_TREE_EINVAL);
	TEST_EQ(wic_tree_next(lot, &lines[world.queue], 0, 1, &tag), WIC_TREE_EINVAL);
	sched.fiber[SCHED_MAIN].warp = 0;
	TEST_EQ(tag, 77);
	TEST_EQ(lines[world.queue].word[WIC_TREE_TICKET], 0);
	check_clean();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(wait_hit),
					     TEST(wait_timeout_0_finds_what_was_published),
					     TEST(wait_timeout_0_not_there),
					     TEST(tag_word_is_in_its_line),
					     TEST(wait_parked_is_woken),
					     TEST(wait_watcher_hands_over),
					     TEST(wait_two_for_one_tag),
					     TEST(wait_32_warps),
					     TEST(wait_blocks_share_lines),
					     TEST(wait_several_lines),
					     TEST(line_freed_when_not_wanted),
					     TEST(line_freed_when_watcher_leaves),
					     TEST(deadline_of_waiters),
					     TEST(deadline_of_watcher),
					     TEST(deadline_far_away),
					     TEST(wait_without_lot),
					     TEST(wait_word_of_users),
					     TEST(publish_from_device),
					     TEST(publish_from_peer),
					     TEST(release_gives_credit),
					     TEST(epochs_to_the_last),
					     TEST(bad_input),
					     { 0 } };

	return test_main(argc, argv, tests);
}
