/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What a trace says in figures: what the warps did, how long waits were, where the longest. */
#ifndef WIC_BENCH_TRACE_STAT_H
#define WIC_BENCH_TRACE_STAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/trace.h"
#include "bench/trace_lanes.h"

/* Times of the spans of one state; 0 where there are none. */
struct bench_trace_times {
	uint64_t count, sum_ns;
	uint64_t p50_ns, p90_ns, p99_ns, max_ns; /* by nearest rank: each is one that occurred */
};

/* All waits for one tag of one channel, parked and looking. */
struct bench_trace_wait {
	uint64_t sum_ns, max_ns;
	uint64_t parks, looks;
	uint32_t tag; /* WIC_NO_TAG: a warp that waited for nothing of its own */
	uint16_t channel;
};

struct bench_trace_stat {
	uint64_t kinds[WIC_EVENT_DONE + 1]; /* events, by enum wic_event_kind */
	uint64_t warps;
	uint64_t warps_done;
	struct bench_trace_times states[BENCH_TRACE_STATES];
	struct bench_trace_wait *waits; /* owned; the largest sum first */
	size_t wait_count;
};

/* 0 or -ENOMEM. */
int bench_trace_stat_make(struct bench_trace_stat *s, const struct bench_trace_lanes *l);
void bench_trace_stat_free(struct bench_trace_stat *s);

/* Per cent of the time of all warps; 0 where there is no time. */
double bench_trace_stat_share(const struct bench_trace_stat *s, enum bench_trace_state state);

/* @top: tags of the longest waits at the most. */
void bench_trace_stat_print(FILE *f, const struct bench_trace_stat *s, const struct bench_trace *t,
			    uint32_t top);
/* One JSON object, a line.  0 or -errno. */
int bench_trace_stat_write_json(FILE *f, const struct bench_trace_stat *s,
				const struct bench_trace *t, uint32_t top);

#endif /* WIC_BENCH_TRACE_STAT_H */
