/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/strip.h"

#include <stdlib.h>
#include <string.h>

static enum bench_strip_state state_of(uint8_t kind)
{
	switch ((enum wic_event_kind)kind) {
	case WIC_EVENT_COMPUTE:
	case WIC_EVENT_WAKE:
		return BENCH_STRIP_COMPUTE;
	case WIC_EVENT_LOOK:
		return BENCH_STRIP_LOOK;
	case WIC_EVENT_PARK:
		return BENCH_STRIP_PARK;
	case WIC_EVENT_DONE:
		break;
	}
	return BENCH_STRIP_NONE;
}

/* Of the first launch's resident warps at most this many are chosen from. */
#define CANDIDATES 1024

static bool has_warp(const uint32_t *warps, uint32_t count, uint32_t warp)
{
	for (uint32_t i = 0; i < count; i++)
		if (warps[i] == warp)
			return true;
	return false;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Resident first: those that began before any warp was done. */
static void choose_warps(struct bench_strip *s, const struct wic_event *events, size_t count)
{
	static uint32_t found[CANDIDATES];
	uint32_t found_count = 0;

	for (size_t i = 0; i < count && found_count < CANDIDATES; i++) {
		if (events[i].kind == WIC_EVENT_DONE && found_count >= BENCH_STRIP_WARPS)
			break;
		if (!has_warp(found, found_count, events[i].warp))
			found[found_count++] = events[i].warp;
	}
	qsort(found, found_count, sizeof(*found), compare_ids);
	s->warp_count = found_count < BENCH_STRIP_WARPS ? found_count : BENCH_STRIP_WARPS;
	for (uint32_t i = 0; i < s->warp_count; i++)
		s->warps[i] = found[i * found_count / s->warp_count];
}

/* Time in each state, a column, of one warp. */
struct strip_row {
	double ns[BENCH_STRIP_BINS][BENCH_STRIP_STATES];
};

static void add_span(struct strip_row *row, double from, double to, enum bench_strip_state state)
{
	uint32_t bin = (uint32_t)from;

	/* In columns, not ns: each column is one unit wide. */
	for (; bin < BENCH_STRIP_BINS && from < to; bin++) {
		double end = to < bin + 1.0 ? to : bin + 1.0;

		row->ns[bin][state] += end - from;
		from = end;
	}
}

static void make_row(struct bench_strip *s, uint32_t index, const struct wic_event *events,
		     size_t count, const uint64_t span_ns[2])
{
	static struct strip_row row; /* 16 KiB; reports are made by one thread */
	double scale = BENCH_STRIP_BINS / (double)(span_ns[1] - span_ns[0]);
	enum bench_strip_state state = BENCH_STRIP_NONE;
	double from = 0, at;

	memset(&row, 0, sizeof(row));
	for (size_t i = 0; i < count; i++) {
		if (events[i].warp != s->warps[index] || events[i].time_ns < span_ns[0])
			continue;
		at = (double)(events[i].time_ns - span_ns[0]) * scale;
		add_span(&row, from, at, state);
		from = at;
		state = state_of(events[i].kind);
	}
	add_span(&row, from, BENCH_STRIP_BINS, state);
	for (uint32_t bin = 0; bin < BENCH_STRIP_BINS; bin++) {
		int most = 0;

		for (int k = 0; k < BENCH_STRIP_STATES; k++) {
			s->state_pct[k] += row.ns[bin][k];
			if (row.ns[bin][k] > row.ns[bin][most])
				most = k;
		}
		s->cells[index][bin] = (uint8_t)most;
	}
}

void bench_strip_make(struct bench_strip *strip, const struct wic_event *events, size_t count,
		      uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t span_ns[2] = { start_ns, end_ns > start_ns ? end_ns : start_ns + 1 };

	strip->warp_count = 0;
	memset(strip->cells, 0, sizeof(strip->cells));
	memset(strip->state_pct, 0, sizeof(strip->state_pct));
	choose_warps(strip, events, count);
	strip->run_ms = (double)(span_ns[1] - span_ns[0]) / 1e6;
	for (uint32_t i = 0; i < strip->warp_count; i++)
		make_row(strip, i, events, count, span_ns);
	for (int k = 0; k < BENCH_STRIP_STATES && strip->warp_count; k++)
		strip->state_pct[k] *= 100.0 / (strip->warp_count * (double)BENCH_STRIP_BINS);
}

enum bench_strip_state bench_strip_merge(const uint8_t *cells, uint32_t first, uint32_t end)
{
	uint32_t seen[BENCH_STRIP_STATES] = { 0 };
	int most = 0;

	for (uint32_t i = first; i < end; i++)
		seen[cells[i]]++;
	for (int k = 1; k < BENCH_STRIP_STATES; k++)
		if (seen[k] > seen[most])
			most = k;
	return (enum bench_strip_state)most;
}
