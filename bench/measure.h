/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * One point of a sweep: methods at one R, interleaved.
 *
 *	for each repeat:  T_prod, T_bare,  then for each method (the order turns by
 *	one a repeat):  T_run,  and at the first point  T_run all-ready
 *
 * A warm-up round comes first and is not counted.
 */
#ifndef WIC_BENCH_MEASURE_H
#define WIC_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/rig.h"
#include "bench/statistics.h"

struct bench_counters {
	double requests, parks, looks, checks, turns, monitor_cpu_ns;
};

struct bench_series {
	const struct method_ops *method;
	uint32_t index; /* in the rig's methods */
	double run_ns[BENCH_REPEATS_MAX];
	double ready_ns[BENCH_REPEATS_MAX];
	struct bench_counters sum; /* over the runs of run_ns */
	int status;                /* of the first run that was not correct; 0: none */
	char why[256];
};

struct bench_point {
	double producer_delay; /* R; NaN: the application's kernels pace themselves */
	uint32_t repeats;
	bool has_ready; /* ready_ns is filled */
	double bare_ns[BENCH_REPEATS_MAX];
	double prod_ns[BENCH_REPEATS_MAX];
	double late_ns; /* most that a publish was behind its due time */
	int bare_status;
	char bare_why[256];
	struct bench_series series[BENCH_METHODS_MAX];
	uint32_t series_count;
};

#define BENCH_ALL_METHODS UINT32_MAX

struct bench_measure_params {
	double producer_delay; /* R */
	uint64_t bare_ns;      /* that R is a part of */
	uint32_t repeats;
	uint32_t methods; /* bit i: method i of the rig is measured */
	bool with_ready;
	bool is_warm; /* no warm-up round is needed */
};

void bench_measure_point(struct bench_rig *rig, const struct bench_measure_params *p,
			 struct bench_point *point_out);

/* Median T_bare of a few runs: what R is a part of.  0: it does not run (said so). */
uint64_t bench_measure_bare(struct bench_rig *rig);

#endif /* WIC_BENCH_MEASURE_H */
