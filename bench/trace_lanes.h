/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The events of a trace, a lane a warp of an SM, and the lane cut into spans:
 *
 *	events	COMPUTE        PARK      WAKE    COMPUTE      LOOK  COMPUTE   DONE
 *	spans	|-- computing --|- parked -|- ready -|- computing -|-look-|-- .. --|
 *
 * The spans of a lane follow each other without overlap and in order of time.  A warp
 * that is not done when the trace ends has its last span until then.
 */
#ifndef WIC_BENCH_TRACE_LANES_H
#define WIC_BENCH_TRACE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/trace.h"

enum bench_trace_state {
	BENCH_TRACE_COMPUTE, /* its own code: runs, or is ready to */
	BENCH_TRACE_READY,   /* woken, its turn has not come yet */
	BENCH_TRACE_LOOK,    /* polls */
	BENCH_TRACE_PARK,    /* stopped */
	BENCH_TRACE_STATES,  /* how many there are */
};

/* "computing", "ready", "looking", "parked". */
const char *bench_trace_state_name(enum bench_trace_state state);

struct bench_trace_lane {
	uint32_t warp;
	uint16_t sm;
	size_t first, end; /* of order[] */
};

struct bench_trace_order {
	uint32_t event, warp;
	uint16_t sm;
};

struct bench_trace_lanes {
	const struct bench_trace *t;     /* borrowed */
	struct bench_trace_order *order; /* owned: all events by SM, warp and time */
	struct bench_trace_lane *lanes;  /* owned, by SM and warp */
	size_t lane_count;
};

/* 0 or -ENOMEM. */
int bench_trace_lanes_make(struct bench_trace_lanes *l, const struct bench_trace *t);
void bench_trace_lanes_free(struct bench_trace_lanes *l);

struct bench_trace_span {
	uint64_t start_ns, end_ns;
	enum bench_trace_state state;
	const struct wic_event *event; /* that began it; borrowed from the trace */
};

/*
 * The next span of a lane into @span_out; @at: 0 for the first, moved on.  False: there
 * are no more.
 */
bool bench_trace_span_next(const struct bench_trace_lanes *l, const struct bench_trace_lane *lane,
			   size_t *at, struct bench_trace_span *span_out);

#endif /* WIC_BENCH_TRACE_LANES_H */
