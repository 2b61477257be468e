// SPDX-License-Identifier: MIT OR GPL-2.0
/* What ends a wait without data, directed: cancels of contexts, ends of tags. */
#include "tests/tree/tree_calls.h"

/* ---- cancel ---------------------------------------------------------------------- */

static void cancel_all(void *arg)
{
	(void)arg;
	UNTIL(registered(0) == 4);
	publish(host_tag(0, 0), 1);
	wic_t_nap(SOON_NS);
	TEST_TRUE(calls[0].is_done && !calls[1].is_done && !calls[3].is_done);
	set_cancel(0, 1);
	wic_t_nap(SOON_NS);
	TEST_TRUE(calls[1].is_done && calls[2].is_done && calls[3].is_done);
}

static void cancel_ends_waits(void)
{
	EACH_SEED(1, 1, 1, 0)
	{
		for (uint32_t i = 0; i < 4; i++)
			add_wait(0, i, i == 2 ? host_tag(1, 0) : host_tag(0, i), 1,
				 i == 1 ? WIC_FOREVER : 50 * SOON_NS);
		sched_add(100, 0, cancel_all, NULL);
		sched_run();
		TEST_EQ(calls[0].rc, 0);
		for (uint32_t i = 1; i < 4; i++)
			TEST_EQ(calls[i].rc, WIC_TREE_ECANCELED);
		/* What is there satisfies all the same; what is not is cancelled at once. */
		TEST_EQ(wait_now(NULL, host_tag(0, 0), 1, WIC_FOREVER), 0);
		TEST_EQ(wait_now(NULL, host_tag(0, 1), 1, WIC_FOREVER), WIC_TREE_ECANCELED);
	}
}

/* The copy still says cancelled: a wait that began after the clear is not. */
static void cancel_cleared(void)
{
	EACH_SEED(1, 1, 0, 0)
	{
		struct call *c;

		set_cancel(0, 2);
		world.lines[0].word[WIC_TREE_CANCEL] = 1;
		TEST_EQ(wait_now(&world.lot[0], host_tag(0, 1), 1, 0), WIC_TREE_ETIMEDOUT);
		TEST_EQ(world.lines[0].word[WIC_TREE_CANCEL], 2);
		set_cancel(0, 4);
		world.lines[0].word[WIC_TREE_CANCEL] = 3;
		c = add_wait(0, 0, host_tag(0, 0), 1, WIC_FOREVER);
		add_wait(0, 1, host_tag(0, 2), 1, 10000);
		sched_add(100, 0, publish_last, c);
		sched_run();
		TEST_EQ(c->rc, 0);
		check_timed_out(&calls[1]);
	}
}

static void cancel_second(void *arg)
{
	(void)arg;
	UNTIL(registered(0) == 4);
	wic_t_nap(SOON_NS);
	set_cancel(1, 1);
	UNTIL(calls[1].is_done && calls[3].is_done);
	TEST_TRUE(!calls[0].is_done && !calls[2].is_done);
	publish(calls[0].tag, 1);
	publish(calls[2].tag, 1);
}

/* Two contexts in one block: the watcher reads the control lines of both. */
static void cancel_of_another_context(void)
{
	EACH_SEED(2, 2, 0, 0)
	{
		for (uint32_t i = 0; i < 4; i++)
			add_wait(0, i, host_tag(i & 1, i), 1, WIC_FOREVER);
		sched_add(100, 0, cancel_second, NULL);
		sched_run();
		TEST_EQ(calls[0].rc, 0);
		TEST_EQ(calls[1].rc, WIC_TREE_ECANCELED);
		TEST_EQ(calls[2].rc, 0);
		TEST_EQ(calls[3].rc, WIC_TREE_ECANCELED);
	}
}

/* ---- ends ------------------------------------------------------------------------ */

static void end_first_line(void *arg)
{
	uint64_t how = *(const uint64_t *)arg;

	UNTIL(registered(0) == 3);
	publish(host_tag(0, 0), 1);
	end_line(world.host_first, how);
	UNTIL(calls[0].is_done && calls[1].is_done);
	wic_t_nap(SOON_NS);
	TEST_TRUE(!calls[2].is_done);
	publish(host_tag(1, 2), 1);
}

/* Of the first: what was published before the end satisfies.  The other line goes on. */
static void end_of_tags(void)
{
	static const uint64_t hows[2] = { WIC_TREE_CLOSED, WIC_TREE_DIED };

	EACH_SEED(1, 2, 0, 0)
	{
		int ended = seed & 1 ? WIC_TREE_EOWNERDEAD : WIC_TREE_ECANCELED;

		add_wait(0, 0, host_tag(0, 0), 1, WIC_FOREVER);
		add_wait(0, 1, host_tag(0, 1), 1, WIC_FOREVER);
		add_wait(0, 2, host_tag(1, 2), 1, WIC_FOREVER);
		sched_add(100, 0, end_first_line, (void *)(uintptr_t)&hows[seed & 1]);
		sched_run();
		TEST_EQ(calls[0].rc, 0);
		TEST_EQ(calls[1].rc, ended);
		TEST_EQ(calls[2].rc, 0);
		/* A later end of another line changes nothing; nor is a published epoch lost. */
		end_line(world.host_first + 1, WIC_TREE_DIED);
		TEST_EQ(wait_now(NULL, host_tag(0, 0), 2, WIC_FOREVER), ended);
		TEST_EQ(wait_now(NULL, host_tag(1, 2), 1, WIC_FOREVER), 0);
		TEST_EQ(wait_now(NULL, host_tag(1, 3), 1, WIC_FOREVER), WIC_TREE_EOWNERDEAD);
	}
}

static void end_device_line(void *arg)
{
	(void)arg;
	UNTIL(registered(0) == 2);
	wic_tree_publish(world.lines, host_tag(1, 0), 1, 1);
	end_line(world.device_first, WIC_TREE_DIED);
}

static void end_of_device_tags(void)
{
	EACH_SEED(1, 1, 1, 0)
	{
		add_wait(0, 0, host_tag(1, 0), 1, WIC_FOREVER);
		add_wait(0, 1, host_tag(1, 1), 1, WIC_FOREVER);
		sched_add(100, 0, end_device_line, NULL);
		sched_run();
		TEST_EQ(calls[0].rc, 0);
		TEST_EQ(calls[1].rc, WIC_TREE_EOWNERDEAD);
	}
}

/* What the host calls, on words of its own. */
static void host_side(void)
{
	static uint64_t truth[WIC_TREE_LINE_TAGS], control_truth[WIC_TREE_LINE_TAGS], end;
	static struct wic_tree_line line, control;

	memset(&line, 0xff, sizeof(line));
	wic_tree_control_set(&control, &control, control_truth);
	wic_tree_line_set(&line, &line, truth, &end, &control);
	TEST_TRUE(line.reader == &line && line.control == &control && !line.word[3] && !line.owner);
	TEST_TRUE(control.reader == &control && !control.control);
	wic_tree_say(&truth[3], 7);
	TEST_EQ(wic_tree_wait(NULL, &line, 16, 3, 7, 0, 1), 0);
	TEST_EQ(wic_tree_wait(NULL, &line, 16, 4, 1, 0, 1), WIC_TREE_ETIMEDOUT);
	wic_tree_say_cancel(control_truth, 0);
	TEST_EQ(control_truth[WIC_TREE_CANCEL], 0);
	wic_tree_say_cancel(control_truth, 1);
	wic_tree_say_cancel(control_truth, 1);
	TEST_EQ(control_truth[WIC_TREE_CANCEL], 1);
	TEST_EQ(wic_tree_wait(NULL, &line, 16, 4, 1, 0, 1), WIC_TREE_ECANCELED);
	TEST_EQ(wic_tree_wait(NULL, &line, 16, 3, 7, 0, 1), 0);
	wic_tree_say_cancel(control_truth, 0);
	TEST_EQ(wic_tree_wait(NULL, &line, 16, 4, 1, 0, 1), WIC_TREE_ETIMEDOUT);
	wic_tree_say_end(&end, control_truth, WIC_TREE_CLOSED);
	TEST_EQ(wic_tree_wait(NULL, &line, 16, 4, 1, 0, 1), WIC_TREE_ECANCELED);
	wic_tree_say_end(&end, control_truth, WIC_TREE_DIED);
	wic_tree_say_end(&end, control_truth, WIC_TREE_CLOSED);
	TEST_EQ(end, WIC_TREE_DIED);
	wic_tree_line_set(&line, &line, truth, &end, &control);
	TEST_EQ(wic_tree_wait(NULL, &line, 16, 4, 1, 0, 1), WIC_TREE_EOWNERDEAD);
	TEST_EQ(wic_tree_wait(NULL, &line, 16, 3, 7, 0, 1), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(cancel_ends_waits),
					     TEST(cancel_cleared),
					     TEST(cancel_of_another_context),
					     TEST(end_of_tags),
					     TEST(end_of_device_tags),
					     TEST(host_side),
					     { 0 } };

	return test_main(argc, argv, tests);
}
