/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A row of `wic bench`: one application, one method, one R.  The keys are an
 * interface that scripts rely on; the definitions are spec.md's, "How we measure".
 * NaN and NULL are written as null.
 */
#ifndef WIC_BENCH_ROW_H
#define WIC_BENCH_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/measure.h"
#include "bench/statistics.h"

struct bench_row {
	const char *app, *method, *backend;
	const char *mode; /* NULL: the method has no channel */
	const char *size;
	uint32_t threads, devices, sms, tags;
	double producer_delay; /* NaN: the producer is a kernel, R is its own */
	uint32_t turn_percent; /* length of the kernel's turns against its own */
	bool threads_pinned;
	uint64_t seed;
	bool correct;
	double t_run_ms[3]; /* p10, p50, p90 */
	double t_bare_ms, t_prod_ms;
	double bound_ratio, tax, overlap;
	double speedup_naive;             /* T_run(naive) / T_run(this one), paired */
	const char *best_rival;           /* rows of wic only */
	struct bench_interval ratio_best; /* T_run(wic) / T_run(best rival), paired */
	double parked_pct;                /* of the requests of wic */
	double checks_per_comm;           /* looks and comparisons a published tag */
	double consumer_overhead_pct;     /* (T_run all-ready - T_bare) / T_run */
	double host_overhead_pct;         /* CPU time of the Monitor / T_run */
	const char *commit, *machine;
	char date[32];

	/* Not written; for the report. */
	uint32_t repeats;
	struct bench_interval ratio_naive; /* T_run(this one) / T_run(naive), paired */
	double look_turns_pct;             /* turns given to looks, of all */
	char why[256];                     /* not correct */
};

/*
 * Rows of a point, in the order of its series.  @first: the point that has
 * T_run all-ready: tax does not depend on R, so each row carries that point's.
 */
void bench_rows_make(const struct bench_rig *rig, const struct bench_point *point,
		     const struct bench_point *first, struct bench_row *rows_out);

/* The row of a method among @count of one point; NULL: not there. */
const struct bench_row *bench_row_find(const struct bench_row *rows, uint32_t count,
				       const char *method);

struct bench_delay_text {
	char s[32];
};
/* "R = 0.9", or what stands for it where R is not set. */
struct bench_delay_text bench_delay_text(double producer_delay);

/* One JSON line.  0 or -errno. */
int bench_row_write_json(FILE *f, const struct bench_row *row);
/* The same keys, those of objects joined by a dot. */
void bench_row_write_csv_head(FILE *f);
void bench_row_write_csv(FILE *f, const struct bench_row *row);

#endif /* WIC_BENCH_ROW_H */
