// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/fiber/fiber.h"

#include <fenv.h>

#include "tests/test.h"

struct pair {
	struct wic_fiber thread, fiber;
	int steps;
	double sum;
};

static void count_steps(void *arg)
{
	struct pair *p = arg;
	double x = 0.5;

	for (int i = 0; i < 1000; i++) {
		p->steps++;
		x += 1.0;
		wic_fiber_switch(&p->fiber, &p->thread);
	}
	p->sum = x;
	wic_fiber_exit(&p->fiber, &p->thread);
}

static void switch_keeps_locals(void)
{
	struct wic_stacks s;
	struct pair p = { .steps = 0 };

	TEST_EQ(wic_stacks_create(&s, 2, 1000), 0);
	TEST_EQ(s.stack_bytes % 4096, 0);
	TEST_TRUE(s.stack_bytes >= 1000);
	wic_stacks_destroy(&s);

	TEST_EQ(wic_stacks_create(&s, 1, 64 * 1024), 0);
	wic_fiber_init_thread(&p.thread);
	wic_fiber_init(&p.fiber, wic_stacks_low(&s, 0), s.stack_bytes, count_steps, &p);
	for (int i = 1; i <= 1000; i++) {
		wic_fiber_switch(&p.thread, &p.fiber);
		TEST_EQ(p.steps, i);
	}
	wic_fiber_switch(&p.thread, &p.fiber);
	TEST_TRUE(p.sum == 1000.5);
	wic_fiber_fini(&p.fiber);
	wic_stacks_destroy(&s);
}

static void set_rounding(void *arg)
{
	struct pair *p = arg;

	p->steps = fegetround();
	fesetround(FE_UPWARD);
	wic_fiber_switch(&p->fiber, &p->thread);
	p->sum = fegetround();
	wic_fiber_exit(&p->fiber, &p->thread);
}

/* The ABI makes the control words callee-saved: each fiber has its own. */
static void switch_keeps_rounding_mode(void)
{
	struct wic_stacks s;
	struct pair p = { .steps = -1 };

	TEST_EQ(wic_stacks_create(&s, 1, 64 * 1024), 0);
	wic_fiber_init_thread(&p.thread);
	wic_fiber_init(&p.fiber, wic_stacks_low(&s, 0), s.stack_bytes, set_rounding, &p);
	wic_fiber_switch(&p.thread, &p.fiber);
	TEST_EQ(p.steps, FE_TONEAREST);
	TEST_EQ(fegetround(), FE_TONEAREST);
	wic_fiber_switch(&p.thread, &p.fiber);
	TEST_EQ(p.sum, FE_UPWARD);
	TEST_EQ(fegetround(), FE_TONEAREST);
	wic_fiber_fini(&p.fiber);
	wic_stacks_destroy(&s);
}

struct values {
	uint64_t i[9];
	double d[8];
};

/*
 * Nine integers, a pointer and eight doubles live across the switch, read once only: aarch64
 * has as many callee-saved registers (x86-64 has fewer), and a compiler that optimises
 * uses each.
 */
static int values_stay(struct wic_fiber *from, struct wic_fiber *to,
		       const volatile struct values *v)
{
	uint64_t a = v->i[0], b = v->i[1], c = v->i[2], d = v->i[3], e = v->i[4];
	uint64_t f = v->i[5], g = v->i[6], h = v->i[7], i = v->i[8];
	double p = v->d[0], q = v->d[1], r = v->d[2], s = v->d[3];
	double t = v->d[4], u = v->d[5], w = v->d[6], x = v->d[7];
	void *frame = __builtin_frame_address(0);

	__asm__ volatile("" : "+r"(frame)); /* not known to be the same afterwards */
	wic_fiber_switch(from, to);
	return frame == __builtin_frame_address(0) && a == v->i[0] && b == v->i[1] &&
	       c == v->i[2] && d == v->i[3] && e == v->i[4] && f == v->i[5] && g == v->i[6] &&
	       h == v->i[7] && i == v->i[8] && p == v->d[0] && q == v->d[1] && r == v->d[2] &&
	       s == v->d[3] && t == v->d[4] && u == v->d[5] && w == v->d[6] && x == v->d[7];
}

static void values_fill(struct values *v, int first)
{
	for (int i = 0; i < 9; i++)
		v->i[i] = (uint64_t)(first + i);
	for (int i = 0; i < 8; i++)
		v->d[i] = first + 100 + i;
}

static void stay_in_fiber(void *arg)
{
	struct pair *p = arg;
	struct values v;

	values_fill(&v, 1000);
	p->steps = 1;
	while (values_stay(&p->fiber, &p->thread, &v))
		p->steps++;
	p->steps = -1;
	wic_fiber_exit(&p->fiber, &p->thread);
}

static void switch_keeps_registers(void)
{
	struct wic_stacks s;
	struct values v;
	struct pair p = { .steps = 0 };

	values_fill(&v, 2000);
	TEST_EQ(wic_stacks_create(&s, 1, 64 * 1024), 0);
	wic_fiber_init_thread(&p.thread);
	wic_fiber_init(&p.fiber, wic_stacks_low(&s, 0), s.stack_bytes, stay_in_fiber, &p);
	for (int i = 1; i <= 10; i++) {
		TEST_TRUE(values_stay(&p.thread, &p.fiber, &v));
		TEST_EQ(p.steps, i);
	}
	wic_fiber_fini(&p.fiber);
	wic_stacks_destroy(&s);
}

struct many {
	struct wic_fiber thread;
	struct wic_fiber fibers[64];
	int order[64 * 10];
	int n;
	int running;
};

static void take_turns(void *arg)
{
	struct many *m = arg;

	for (int round = 0;; round++) {
		m->order[m->n++] = m->running;
		wic_fiber_switch(&m->fibers[m->running], &m->thread);
	}
}

static void switch_among_many(void)
{
	static struct many m;
	struct wic_stacks s;

	TEST_EQ(wic_stacks_create(&s, 64, 64 * 1024), 0);
	wic_fiber_init_thread(&m.thread);
	for (uint32_t i = 0; i < 64; i++)
		wic_fiber_init(&m.fibers[i], wic_stacks_low(&s, i), s.stack_bytes, take_turns, &m);
	for (int i = 0; i < 64 * 10; i++) {
		m.running = i % 64;
		wic_fiber_switch(&m.thread, &m.fibers[m.running]);
	}
	TEST_EQ(m.n, 640);
	for (int i = 0; i < 640; i++)
		TEST_EQ(m.order[i], i % 64);
	for (int i = 0; i < 64; i++)
		wic_fiber_fini(&m.fibers[i]);
	wic_stacks_destroy(&s);
}

/* More stacks than two mappings each would allow; without guards on an old kernel. */
static void stacks_many(void)
{
	struct wic_stacks s;

	TEST_EQ(wic_stacks_create(&s, 40000, 16 * 1024), 0);
	*(volatile char *)wic_stacks_low(&s, 39999) = 1;
	wic_stacks_destroy(&s);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(switch_keeps_locals),
		TEST(switch_keeps_registers),
		TEST(switch_keeps_rounding_mode),
		TEST(switch_among_many),
		TEST(stacks_many),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
