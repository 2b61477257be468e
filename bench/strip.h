/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What 16 warps did over time, from the recorder: a row a warp, a column a slice of
 * the run, in each cell what the warp did for most of the slice.
 */
#ifndef WIC_BENCH_STRIP_H
#define WIC_BENCH_STRIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wic/stats.h>

#define BENCH_STRIP_WARPS 16
#define BENCH_STRIP_BINS 512

enum bench_strip_state {
	BENCH_STRIP_NONE = 0, /* not started, or returned */
	BENCH_STRIP_COMPUTE,  /* its own code: runs, or is ready to */
	BENCH_STRIP_LOOK,     /* takes turns only to look at a flag */
	BENCH_STRIP_PARK,     /* stopped, takes no turns */
	BENCH_STRIP_STATES,   /* how many there are */
};

struct bench_strip {
	const char *method;
	const char *why; /* there is no strip; NULL: there is */
	uint32_t warp_count;
	uint32_t warps[BENCH_STRIP_WARPS]; /* ids */
	uint8_t cells[BENCH_STRIP_WARPS][BENCH_STRIP_BINS];
	double run_ms;
	double state_pct[BENCH_STRIP_STATES]; /* of the time of the warps shown */
	uint64_t lost;                        /* events that the ring could not hold */
};

/*
 * @events in order of time; the run took [start_ns, end_ns).  The warps shown are
 * 16 spread evenly over those that were resident first, so that each block has one
 * or more of them; smallest id first.
 */
void bench_strip_make(struct bench_strip *strip, const struct wic_event *events, size_t count,
		      uint64_t start_ns, uint64_t end_ns);

/* Merge the cells [first, end) of a row: the state that most of them have. */
enum bench_strip_state bench_strip_merge(const uint8_t *cells, uint32_t first, uint32_t end);

#endif /* WIC_BENCH_STRIP_H */
