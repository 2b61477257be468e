/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The few statistics that the tables use.  Pure functions of their arguments:
 * the same samples give the same figures, also the bootstrap (fixed seed).
 *
 * NaN stands for "absent" and is written as null; no function clamps.
 */
#ifndef WIC_BENCH_STATISTICS_H
#define WIC_BENCH_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Samples of one series at the most; more repeats are refused on the command line. */
#define BENCH_REPEATS_MAX 256
/* What spec.md asks for; fewer are allowed for trying out, and the report says so. */
#define BENCH_REPEATS_MIN 7
/* "Not slower": the upper end of the interval of the paired ratio is at most this (spec.md). */
#define BENCH_NOT_SLOWER 1.02
/* Overlap is absent where the shorter of T_bare and T_prod is under this part of the longer. */
#define BENCH_OVERLAP_MIN 0.05

struct bench_interval {
	double v, lo, hi;
};

struct bench_summary {
	double geomean, worst, best;
	size_t count, below_one;
};

/* Quantile q in [0, 1] by linear interpolation (type 7 of Hyndman and Fan 1996, as R and
 * NumPy do by default); NaN when count is 0 or over BENCH_REPEATS_MAX. */
double bench_quantile(const double *x, size_t count, double q);
double bench_median(const double *x, size_t count);
/* For series of any length: sort, then ask; NaN when count is 0.  No NaN in @x. */
void bench_sort(double *x, size_t count);
double bench_quantile_sorted(const double *x, size_t count, double q);

/*
 * Ratio a/b of two series measured in pairs: the median of a[i]/b[i], with the 95 %
 * percentile interval of a bootstrap over the pairs (Efron and Tibshirani, An
 * Introduction to the Bootstrap, 1993, chapter 13).  Pairs, because what disturbs a
 * machine for a second disturbs both runs of a repeat.  At 7 pairs the interval is
 * from the second smallest to the second largest ratio.
 */
struct bench_interval bench_ratio_paired(const double *a, const double *b, size_t count);

/* (T_bare + T_prod - T_run) / min; NaN where it means nothing; never clamped. */
double bench_overlap(double t_bare, double t_prod, double t_run);
/* T_run / max(T_bare, T_prod). */
double bench_bound_ratio(double t_bare, double t_prod, double t_run);

/* Of ratios where above 1 is good (speed-ups); NaN values are left out. */
struct bench_summary bench_summarise(const double *ratios, size_t count);

#endif /* WIC_BENCH_STATISTICS_H */
