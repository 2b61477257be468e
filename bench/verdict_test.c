/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/verdict.h"

#include <math.h>

#include "tests/test.h"

static struct bench_row row(const char *method, double delay)
{
	struct bench_row r = { .method = method, .producer_delay = delay, .correct = true };

	r.repeats = 7;
	r.parked_pct = NAN;
	if (!strcmp(method, "wic")) {
		r.best_rival = "leader";
		r.parked_pct = 80;
	}
	return r;
}

static enum bench_verdict judge_ratio(double v, double lo, double hi)
{
	struct bench_row rows[2] = { row("leader", 0.9), row("wic", 0.9) };
	struct bench_verdict_text t;

	rows[1].ratio_best = (struct bench_interval){ v, lo, hi };
	bench_verdict_make(rows, 2, &t);
	return t.verdict;
}

static void verdict_by_interval(void)
{
	TEST_EQ(judge_ratio(0.9, 0.88, 0.92), BENCH_VERDICT_GAIN);
	TEST_EQ(judge_ratio(0.99, 0.97, 1.0), BENCH_VERDICT_NO_GAIN);
	TEST_EQ(judge_ratio(1.01, 1.005, 1.02), BENCH_VERDICT_NO_GAIN);
	TEST_EQ(judge_ratio(1.0, 0.95, 1.021), BENCH_VERDICT_OPEN);
	TEST_EQ(judge_ratio(1.1, 1.001, 1.2), BENCH_VERDICT_SLOWER);
	TEST_EQ(judge_ratio(NAN, NAN, NAN), BENCH_VERDICT_NONE);
}

static void verdict_needs_parks(void)
{
	struct bench_row rows[2] = { row("leader", 0.9), row("wic", 0.9) };
	struct bench_verdict_text t;

	rows[1].ratio_best = (struct bench_interval){ 0.5, 0.4, 0.6 };
	rows[1].parked_pct = 30;
	bench_verdict_make(rows, 2, &t);
	TEST_EQ(t.verdict, BENCH_VERDICT_NONE);
	TEST_STR_HAS(t.text, "measured nothing");
	rows[1].parked_pct = 30.1;
	bench_verdict_make(rows, 2, &t);
	TEST_EQ(t.verdict, BENCH_VERDICT_GAIN);
	TEST_STR_HAS(t.text, "50.0 % less time than leader");
}

static void verdict_needs_its_delay(void)
{
	struct bench_row rows[1] = { row("wic", 0.5) };
	struct bench_verdict_text t;

	bench_verdict_make(rows, 1, &t);
	TEST_STR_HAS(t.text, "not measured at R = 0.9");
}

static void verdict_needs_correct_results(void)
{
	struct bench_row rows[2] = { row("leader", 0.9), row("wic", 0.9) };
	struct bench_verdict_text t;

	rows[0].correct = false;
	snprintf(rows[0].why, sizeof(rows[0].why), "tile 3");
	bench_verdict_make(rows, 2, &t);
	TEST_EQ(t.verdict, BENCH_VERDICT_NONE);
	TEST_STR_HAS(t.text, "leader at R = 0.9");
}

static void verdict_needs_a_rival(void)
{
	struct bench_row rows[1] = { row("wic", 0.9) };
	struct bench_verdict_text t;

	rows[0].best_rival = NULL;
	bench_verdict_make(rows, 1, &t);
	TEST_STR_HAS(t.text, "no other method");
}

static void verdict_says_few_repeats(void)
{
	struct bench_row rows[1] = { row("wic", 0.9) };
	struct bench_verdict_text t;

	rows[0].repeats = 2;
	rows[0].ratio_best = (struct bench_interval){ 0.5, 0.4, 0.6 };
	bench_verdict_make(rows, 1, &t);
	TEST_STR_HAS(t.text, "Only 2 repeats");
}

/* Scenario 1: few waits park there, and what a method costs is the question. */
static void verdict_where_kernels_produce(void)
{
	struct bench_row rows[2] = { row("leader", NAN), row("wic", NAN) };
	struct bench_verdict_text t;

	rows[1].parked_pct = 3;
	rows[1].ratio_best = (struct bench_interval){ 1, 0.99, 1.01 };
	bench_verdict_make(rows, 2, &t);
	TEST_EQ(t.verdict, BENCH_VERDICT_NO_GAIN);
	TEST_STR_HAS(t.text, "at its own R wic is not slower than leader");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(verdict_by_interval),           TEST(verdict_needs_parks),
		TEST(verdict_needs_its_delay),       TEST(verdict_needs_correct_results),
		TEST(verdict_needs_a_rival),         TEST(verdict_says_few_repeats),
		TEST(verdict_where_kernels_produce), { NULL, NULL },
	};

	return test_main(argc, argv, tests);
}
