/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* `wic bench`: measure, print, write the files. */
#ifndef WIC_BENCH_BENCH_H
#define WIC_BENCH_BENCH_H

#include "bench/options.h"

/* Fill in what spec.md says where the user said nothing: repeats, R, budget, seed. */
void bench_options_init(struct bench_options *o);

/* 0: every result correct and every file written; -errno otherwise, and it was said why. */
int bench_run_all(const struct bench_options *o);

#endif /* WIC_BENCH_BENCH_H */
