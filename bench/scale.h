/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The size of the work, chosen at start so that T_bare is long enough to be measured. */
#ifndef WIC_BENCH_SCALE_H
#define WIC_BENCH_SCALE_H

#include <stdint.h>

#include "apps/app.h"
#include "bench/options.h"

/*
 * Wanted: long against a wake-up, short enough for 7 repeats at the six default values
 * of R: of six methods at the first (130 times T_bare, all ready and a warm-up with
 * it), of three at the others.  Those take some 380 times T_bare, and the default budget of
 * 100 s has to do also where T_bare turns out longer than expected.  Several
 * applications share the budget, so each has a part of this.
 */
#define BENCH_BARE_NS 240000000u
#define BENCH_TAGS_MIN 64

struct bench_scale {
	int size; /* enum app_size */
	uint32_t tags;
	uint32_t side_percent; /* app_params.side_percent */
	double bare_ms;        /* T_bare to be expected of that; 0: not known */
	char text[224];        /* what was chosen and why, for people */
};

/* 0 or -errno, then the reason was printed. */
int bench_scale_choose(const struct bench_options *o, const struct app_ops *app,
		       struct bench_scale *scale_out);

#endif /* WIC_BENCH_SCALE_H */
