/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* All that is known about one application at the end, and its forms for people. */
#ifndef WIC_BENCH_REPORT_H
#define WIC_BENCH_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "apps/app.h"
#include "bench/row.h"
#include "bench/scale.h"
#include "bench/strip.h"
#include "bench/verdict.h"

/* Each R, and each further length of a turn. */
#define BENCH_POINTS_MAX (BENCH_DELAYS_MAX + BENCH_TURNS_MAX)
#define BENCH_ROWS_MAX (BENCH_POINTS_MAX * BENCH_METHODS_MAX)
/* naive above wic. */
#define BENCH_STRIPS 2

/* Rows [first, first + count) of a report: the methods at one R and one length of a turn. */
struct bench_report_point {
	uint32_t first;
	uint32_t count;
	double producer_delay;
	uint32_t turn_percent;
};

/* What a sweep goes over; the other of the two stays as it is at the first point. */
enum bench_sweep { BENCH_SWEEP_DELAY, BENCH_SWEEP_TURN };

struct bench_report {
	const struct bench_options *options;
	const struct app_ops *app;
	char mechanism[384]; /* wic_describe() */
	char data[256];      /* the application's own words on its data */
	char geometry[320];  /* blocks, threads, SMs, cores */
	bool is_gpu;         /* else warps are emulated */
	struct bench_scale scale;
	struct bench_row rows[BENCH_ROWS_MAX];
	uint32_t row_count;
	/* The first has all methods, the others some of them. */
	struct bench_report_point points[BENCH_POINTS_MAX];
	uint32_t point_count;
	struct bench_strip strips[BENCH_STRIPS];
	struct bench_verdict_text verdict;
	bool is_disturbed; /* at the R of the verdict; the note says how */
	char cut[256];     /* sweep points that the budget cut, "" none */
	/* Methods of the points after the first. */
	const char *sweep_methods[BENCH_METHODS_MAX];
	uint32_t sweep_method_count;
	char few[256];       /* why these are not all, "" they are */
	char cut_turns[256]; /* as cut, of the sweep over turns */
	char left_out[512];  /* methods that this launch cannot have, "" none */
	char note[2048];     /* what a reader has to know, "" nothing */
};

/* What every reader is told; ASCII. */
const char *bench_text_where(const struct bench_report *r);
/* Who looks while warps of wic are parked. */
const char *bench_text_polling(const struct bench_report *r);
/* For where a bound ratio is below 1. */
extern const char bench_text_below_bound[];
bool bench_is_below_bound(const struct bench_row *rows, uint32_t count);

bool bench_is_in_sweep(const struct bench_report *r, const struct bench_report_point *p,
		       enum bench_sweep sweep);
/* How many points a sweep has; the first is in both. */
uint32_t bench_sweep_count(const struct bench_report *r, enum bench_sweep sweep);

/* console.c: parts in the order in which they become known. */
void bench_console_head(FILE *f, const struct bench_report *r);
void bench_console_point(FILE *f, const struct bench_report *r);
void bench_console_strips(FILE *f, const struct bench_report *r);
void bench_console_verdict(FILE *f, const struct bench_report *r);
/* The head, with the first point; then each further one. */
void bench_console_sweep_head(FILE *f, const struct bench_report *r, enum bench_sweep sweep);
void bench_console_sweep_point(FILE *f, const struct bench_report *r,
			       const struct bench_report_point *p, enum bench_sweep sweep);
void bench_console_summary(FILE *f, const struct bench_report *reports, uint32_t count);

/* html.c: one page, nothing outside it. */
void bench_html_write(FILE *f, const struct bench_report *reports, uint32_t count);
void bench_html_text(FILE *f, const char *text);
/* chart.c */
const char *bench_html_colour(const char *method);

#endif /* WIC_BENCH_REPORT_H */
