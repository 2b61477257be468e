/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The last rows of `wic perf latency`: what an idle Monitor costs, and to wake it. */
#ifndef WIC_BENCH_PERF_IDLE_H
#define WIC_BENCH_PERF_IDLE_H

#include "bench/perf.h"

/* @w: an open context of one SM with no kernel running.  0 or -errno (said why). */
int bench_perf_idle(const struct bench_perf_params *p, struct wic *w, struct bench_perf_table *t);

#endif /* WIC_BENCH_PERF_IDLE_H */
