/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the rows of an application say, in one sentence.  It may be "no gain here";
 * and it says that nothing was measured where too few of wic's waits parked for
 * the way of waiting to matter.
 */
#ifndef WIC_BENCH_VERDICT_H
#define WIC_BENCH_VERDICT_H

#include <stdint.h>

#include "bench/row.h"

/* The R at which the verdict is given, and the part of the waits that must park (spec.md). */
#define BENCH_VERDICT_DELAY 0.9
#define BENCH_VERDICT_PARKED_PCT 30.0

enum bench_verdict {
	BENCH_VERDICT_NONE,    /* nothing to judge by, or it measured nothing */
	BENCH_VERDICT_GAIN,    /* the whole interval is below 1 */
	BENCH_VERDICT_NO_GAIN, /* not slower: its upper end is at most 1.02 */
	BENCH_VERDICT_OPEN,    /* the interval says neither */
	BENCH_VERDICT_SLOWER,  /* the whole interval is above 1, its upper end over 1.02 */
};

struct bench_verdict_text {
	enum bench_verdict verdict;
	char text[640];
};

/* @rows: all of one application. */
void bench_verdict_make(const struct bench_row *rows, uint32_t count,
			struct bench_verdict_text *out);

/* "faster", "not slower", "slower", "open" for a ratio T_run(wic)/T_run(other). */
const char *bench_ratio_word(struct bench_interval ratio);

#endif /* WIC_BENCH_VERDICT_H */
