/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Each drawing of the page as a file beside it: SVG by ourselves, and the curves
 * as PNG by gnuplot where that is installed.
 */
#ifndef WIC_BENCH_PLOTS_H
#define WIC_BENCH_PLOTS_H

#include <stdint.h>
#include <stdio.h>

#include "bench/report.h"

/*
 * Into the out_dir of the reports' options, <application>-<what>.svg and .png; says on
 * @text what was written, or that there is no gnuplot.  0; -errno: a file could not
 * be written; -EIO: gnuplot failed.  The reason was said.
 */
int bench_plots_write(FILE *text, const struct bench_report *reports, uint32_t count);

#endif /* WIC_BENCH_PLOTS_H */
