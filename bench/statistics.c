/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Resamples of the bootstrap; Efron and Tibshirani advise 1,000 or more for intervals. */
#define RESAMPLES 2000
#define SEED 0x57494331u

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void bench_sort(double *x, size_t count)
{
	if (count)
		qsort(x, count, sizeof(*x), compare);
}

double bench_quantile_sorted(const double *x, size_t count, double q)
{
	double at = q * ((double)count - 1);
	size_t low, high;

	if (!count || !(q >= 0 && q <= 1))
		return NAN;
	low = (size_t)at;
	high = low + 1 < count ? low + 1 : low;
	return x[low] + (at - (double)low) * (x[high] - x[low]);
}

double bench_quantile(const double *x, size_t count, double q)
{
	double sorted[BENCH_REPEATS_MAX];

	if (!count || count > BENCH_REPEATS_MAX || !(q >= 0 && q <= 1))
		return NAN;
	for (size_t i = 0; i < count; i++)
		if (isnan(x[i]))
			return NAN;
	memcpy(sorted, x, count * sizeof(*x));
	qsort(sorted, count, sizeof(*sorted), compare);
	return bench_quantile_sorted(sorted, count, q);
}

double bench_median(const double *x, size_t count)
{
	return bench_quantile(x, count, 0.5);
}

/* xorshift64*; its low bits are weak, so the high ones choose. */
static size_t choose(uint64_t *state, size_t count)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (size_t)(((*state * 2685821657736338717ull) >> 32) * count >> 32);
}

static double median_of_resample(const double *ratios, size_t count, uint64_t *state)
{
	double sample[BENCH_REPEATS_MAX];

	for (size_t i = 0; i < count; i++)
		sample[i] = ratios[choose(state, count)];
	qsort(sample, count, sizeof(*sample), compare);
	return bench_quantile_sorted(sample, count, 0.5);
}

struct bench_interval bench_ratio_paired(const double *a, const double *b, size_t count)
{
	struct bench_interval r = { NAN, NAN, NAN };
	double ratios[BENCH_REPEATS_MAX];
	double medians[RESAMPLES];
	uint64_t state = SEED;

	if (!count || count > BENCH_REPEATS_MAX)
		return r;
	for (size_t i = 0; i < count; i++) {
		ratios[i] = a[i] / b[i];
		if (!isfinite(ratios[i]))
			return r;
	}
	for (size_t i = 0; i < RESAMPLES; i++)
		medians[i] = median_of_resample(ratios, count, &state);
	qsort(medians, RESAMPLES, sizeof(*medians), compare);
	r.v = bench_median(ratios, count);
	r.lo = bench_quantile_sorted(medians, RESAMPLES, 0.025);
	r.hi = bench_quantile_sorted(medians, RESAMPLES, 0.975);
	return r;
}

double bench_overlap(double t_bare, double t_prod, double t_run)
{
	double shorter = fmin(t_bare, t_prod), longer = fmax(t_bare, t_prod);

	if (isnan(t_bare) || isnan(t_prod) || !(shorter > 0) ||
	    shorter < BENCH_OVERLAP_MIN * longer)
		return NAN;
	return (t_bare + t_prod - t_run) / shorter;
}

double bench_bound_ratio(double t_bare, double t_prod, double t_run)
{
	if (isnan(t_bare) || isnan(t_prod))
		return NAN;
	return t_run / fmax(t_bare, t_prod);
}

struct bench_summary bench_summarise(const double *ratios, size_t count)
{
	struct bench_summary s = { NAN, NAN, NAN, 0, 0 };
	double logs = 0;

	for (size_t i = 0; i < count; i++) {
		if (!(ratios[i] > 0) || !isfinite(ratios[i]))
			continue;
		logs += log(ratios[i]);
		s.worst = s.count ? fmin(s.worst, ratios[i]) : ratios[i];
		s.best = s.count ? fmax(s.best, ratios[i]) : ratios[i];
		s.below_one += ratios[i] < 1.0;
		s.count++;
	}
	if (s.count)
		s.geomean = exp(logs / (double)s.count);
	return s;
}
