/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What the user asked of a measurement; filled by tools/, read by bench/. */
#ifndef WIC_BENCH_OPTIONS_H
#define WIC_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "apps/app.h"
#include "methods/method.h"

#define BENCH_APPS_MAX 16
#define BENCH_METHODS_MAX 16
#define BENCH_DELAYS_MAX 16
#define BENCH_TURNS_MAX 8
#define BENCH_SIZE_AUTO (-1)
#define BENCH_BUDGET_S 100 /* the default, seconds */

/* Strings are borrowed from the command line. */
struct bench_options {
	const struct app_ops *apps[BENCH_APPS_MAX];
	uint32_t app_count;
	/* Without none: that one is measured always, as T_bare. */
	const struct method_ops *methods[BENCH_METHODS_MAX];
	uint32_t method_count;
	/* The user named them: all are measured at every R and turn, else see bench.h. */
	bool is_methods_named;
	const char *backend;
	enum wic_mode mode; /* of the method wic's channels; WIC_MODE_DEFAULT: the back-end's */
	int size;           /* enum app_size, BENCH_SIZE_AUTO: chosen at start */
	uint32_t sms;       /* 0: the default */
	uint32_t threads;   /* 0: fill the SMs */
	uint32_t tags;      /* 0: so many that T_bare is about BENCH_BARE_NS, scale.h */
	/* Lengths of a kernel's turns against its own; R is swept at the first. */
	uint32_t turns_percent[BENCH_TURNS_MAX];
	uint32_t turn_count;
	uint32_t repeats;
	uint64_t seed;
	double delays[BENCH_DELAYS_MAX]; /* most important first */
	uint32_t delay_count;
	double budget_s;
	const char *input;   /* NULL: generated */
	const char *json;    /* NULL: none; "-": stdout */
	const char *csv;     /* NULL: none; "-": stdout */
	const char *out_dir; /* NULL: no page and no rows there */
	bool has_plots;      /* each drawing as a file in out_dir too */
	const char *command; /* for the report */
};

const char *bench_size_name(int size);
/* enum app_size, or -EINVAL. */
int bench_size_parse(const char *name);

#endif /* WIC_BENCH_OPTIONS_H */
