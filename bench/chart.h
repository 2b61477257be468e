/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A report's drawings as SVG.  In the page they take its style; alone (a file) they
 * bring their own, on white.
 */
#ifndef WIC_BENCH_CHART_H
#define WIC_BENCH_CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/report.h"

/* One drawing of curves: what it goes over, and what it shows. */
struct bench_curves {
	enum bench_sweep sweep;
	bool is_overlap; /* else the bound ratio */
};

void bench_chart_bars(FILE *f, const struct bench_report *r, bool is_alone);
void bench_chart_curves(FILE *f, const struct bench_report *r, const struct bench_curves *c,
			bool is_alone);
/* Of a strip that is there (no why). */
void bench_chart_strip(FILE *f, const struct bench_strip *s, bool is_alone);
void bench_strip_text(const struct bench_strip *s, char *text, size_t bytes);

const char *bench_curves_title(const struct bench_curves *c);
const char *bench_curves_axis(const struct bench_curves *c);
/* Of a point; turns are drawn by their logarithm. */
double bench_curve_x(const struct bench_curves *c, const struct bench_report_point *p);
/* NaN: not known. */
double bench_curve_y(const struct bench_curves *c, const struct bench_row *row);
/* The next larger x after a point's, NULL: the smallest.  NULL: no more. */
const struct bench_report_point *bench_curve_next(const struct bench_report *r,
						  const struct bench_curves *c,
						  const struct bench_report_point *after);

#endif /* WIC_BENCH_CHART_H */
