/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A trace in the Trace Event Format (Google, "Trace Event Format", JSON object form), which
 * ui.perfetto.dev and chrome://tracing open:
 *
 *	process		an SM; and one for all of them, with the counter
 *	thread		a warp, a lane: its id, one higher, for viewers may take 0 for the idle
 * thread X		a span: computing, ready, looking, parked i		a wake
 *	C		warps parked, over time
 *
 * Times are us since the launch.  Written as it is made: no memory but for the edges of parks.
 */
#ifndef WIC_BENCH_TRACE_EXPORT_H
#define WIC_BENCH_TRACE_EXPORT_H

#include <stdio.h>

#include "bench/trace_lanes.h"

/* 0; -ENOMEM; -errno of the first write that failed. */
int bench_trace_export(FILE *f, const struct bench_trace_lanes *l);

#endif /* WIC_BENCH_TRACE_EXPORT_H */
