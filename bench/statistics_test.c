/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Figures worked out by hand. */
#include "bench/statistics.h"

#include <math.h>

#include "tests/test.h"

static int near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void median_odd_even(void)
{
	const double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 };

	TEST_TRUE(near(bench_median(odd, 3), 2));
	TEST_TRUE(near(bench_median(even, 4), 2.5));
	TEST_TRUE(near(odd[0], 3)); /* the caller's samples keep their order */
}

static void quantile_by_hand(void)
{
	const double x[] = { 10, 20, 30, 40, 50, 60, 70 };

	/* (7 - 1) * 0.1 = 0.6: 10 + 0.6 * 10; (7 - 1) * 0.9 = 5.4: 60 + 0.4 * 10. */
	TEST_TRUE(near(bench_quantile(x, 7, 0.1), 16));
	TEST_TRUE(near(bench_quantile(x, 7, 0.9), 64));
	TEST_TRUE(near(bench_quantile(x, 7, 0), 10));
	TEST_TRUE(near(bench_quantile(x, 7, 1), 70));
	TEST_TRUE(near(bench_quantile(x, 1, 0.9), 10));
}

static void quantile_bad_input(void)
{
	const double x[] = { 1, NAN };

	TEST_TRUE(isnan(bench_quantile(x, 0, 0.5)));
	TEST_TRUE(isnan(bench_quantile(x, 2, 0.5)));
	TEST_TRUE(isnan(bench_quantile(x, 1, 1.5)));
	TEST_TRUE(isnan(bench_quantile(x, BENCH_REPEATS_MAX + 1, 0.5)));
}

static void quantile_sorted_long(void)
{
	static double x[4 * BENCH_REPEATS_MAX + 1];
	size_t count = sizeof(x) / sizeof(*x);

	/* 0, 1, 2 ... in an order that is not theirs: 7 and the count have no common divisor. */
	for (size_t i = 0; i < count; i++)
		x[i] = (double)(i * 7 % count);
	bench_sort(x, count);
	TEST_TRUE(near(bench_quantile_sorted(x, count, 0.999), 0.999 * (double)(count - 1)));
	TEST_TRUE(near(bench_quantile_sorted(x, count, 1), (double)(count - 1)));
	TEST_TRUE(near(bench_quantile_sorted(x, 1, 0.5), 0));
	TEST_TRUE(isnan(bench_quantile_sorted(x, 0, 0.5)));
	TEST_TRUE(isnan(bench_quantile_sorted(x, count, -0.1)));
	bench_sort(x, 0);
}

/*
 * Of 7 pairs the median of a resample is at most the smallest ratio only if 4 or
 * more of 7 draws hit it: P = 0.97 %; at most the second smallest: P = 10 %.  So the
 * 2.5 % end is the second smallest, and by symmetry the upper end the second largest.
 */
static void ratio_paired_seven(void)
{
	const double a[] = { 1.00, 1.02, 0.90, 1.05, 1.01, 0.95, 1.10 };
	const double b[] = { 1, 1, 1, 1, 1, 1, 1 };
	struct bench_interval r = bench_ratio_paired(a, b, 7);

	TEST_TRUE(near(r.v, 1.01));
	TEST_TRUE(near(r.lo, 0.95));
	TEST_TRUE(near(r.hi, 1.05));
}

/* A disturbance that doubles both runs of a pair leaves the ratio alone. */
static void ratio_paired_is_paired(void)
{
	const double a[] = { 2, 4, 2, 8, 2, 2, 16 };
	const double b[] = { 4, 8, 4, 16, 4, 4, 32 };
	struct bench_interval r = bench_ratio_paired(a, b, 7);

	TEST_TRUE(near(r.v, 0.5) && near(r.lo, 0.5) && near(r.hi, 0.5));
}

static void ratio_paired_bad_input(void)
{
	const double a[] = { 1, 1 }, zero[] = { 1, 0 };

	TEST_TRUE(isnan(bench_ratio_paired(a, zero, 2).v));
	TEST_TRUE(isnan(bench_ratio_paired(a, zero, 0).v));
	TEST_TRUE(near(bench_ratio_paired(a, zero, 1).hi, 1));
}

static void overlap_by_hand(void)
{
	/* All of T_prod hidden, none of it, and worse than one after the other. */
	TEST_TRUE(near(bench_overlap(10, 9, 10), 1));
	TEST_TRUE(near(bench_overlap(10, 9, 19), 0));
	TEST_TRUE(near(bench_overlap(10, 9, 28), -1));
	/* Not clamped above either. */
	TEST_TRUE(near(bench_overlap(10, 5, 9), 1.2));
	TEST_TRUE(isnan(bench_overlap(10, 0.4, 10)));
	TEST_TRUE(!isnan(bench_overlap(10, 0.5, 10)));
	TEST_TRUE(isnan(bench_overlap(0, 0, 10)));
	TEST_TRUE(isnan(bench_overlap(NAN, 1, 1)));
}

static void bound_ratio_by_hand(void)
{
	TEST_TRUE(near(bench_bound_ratio(10, 9, 11), 1.1));
	TEST_TRUE(near(bench_bound_ratio(10, 20, 22), 1.1));
	TEST_TRUE(isnan(bench_bound_ratio(NAN, 20, 22)));
}

static void summary_by_hand(void)
{
	const double x[] = { 2, 0.5, NAN, 4, 0.25, 1 };
	struct bench_summary s = bench_summarise(x, 6);

	TEST_TRUE(near(s.geomean, 1));
	TEST_TRUE(near(s.worst, 0.25) && near(s.best, 4));
	TEST_EQ(s.count, 5);
	TEST_EQ(s.below_one, 2);
	s = bench_summarise(x + 2, 1);
	TEST_EQ(s.count, 0);
	TEST_TRUE(isnan(s.geomean));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(median_odd_even),
		TEST(quantile_by_hand),
		TEST(quantile_bad_input),
		TEST(quantile_sorted_long),
		TEST(ratio_paired_seven),
		TEST(ratio_paired_is_paired),
		TEST(ratio_paired_bad_input),
		TEST(overlap_by_hand),
		TEST(bound_ratio_by_hand),
		TEST(summary_by_hand),
		{ NULL, NULL },
	};

	return test_main(argc, argv, tests);
}
