/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/trace_lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_names[BENCH_TRACE_STATES] = { "computing", "ready", "looking",
							     "parked" };

const char *bench_trace_state_name(enum bench_trace_state state)
{
	return state_names[state];
}

static int compare(uint32_t x, uint32_t y)
{
	return (x > y) - (x < y);
}

static bool is_one_lane(const struct bench_trace_order *a, const struct bench_trace_order *b)
{
	return a->sm == b->sm && a->warp == b->warp;
}

static int by_lane_and_time(const void *a, const void *b)
{
	const struct bench_trace_order *x = a, *y = b;

	if (is_one_lane(x, y))
		return compare(x->event, y->event);
	return x->sm != y->sm ? compare(x->sm, y->sm) : compare(x->warp, y->warp);
}

static const struct wic_event *event_at(const struct bench_trace_lanes *l, size_t at)
{
	return &l->t->events[l->order[at].event];
}

static size_t count_lanes(const struct bench_trace_lanes *l, size_t count)
{
	size_t lanes = 0;

	for (size_t i = 0; i < count; i++)
		lanes += !i || !is_one_lane(&l->order[i - 1], &l->order[i]);
	return lanes;
}

static void fill_lanes(struct bench_trace_lanes *l, size_t count)
{
	size_t lane = 0;

	for (size_t i = 0; i < count; i++) {
		const struct bench_trace_order *o = &l->order[i];

		if (!i || !is_one_lane(o - 1, o))
			l->lanes[lane++] = (struct bench_trace_lane){ o->warp, o->sm, i, i };
		l->lanes[lane - 1].end++;
	}
}

int bench_trace_lanes_make(struct bench_trace_lanes *l, const struct bench_trace *t)
{
	size_t count = t->head.event_count;

	memset(l, 0, sizeof(*l));
	l->t = t;
	l->order = malloc((count + 1) * sizeof(*l->order));
	if (!l->order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		l->order[i] = (struct bench_trace_order){ (uint32_t)i, t->events[i].warp,
							  t->events[i].sm };
	qsort(l->order, count, sizeof(*l->order), by_lane_and_time);
	l->lane_count = count_lanes(l, count);
	l->lanes = malloc((l->lane_count + 1) * sizeof(*l->lanes));
	if (!l->lanes) {
		bench_trace_lanes_free(l);
		return -ENOMEM;
	}
	fill_lanes(l, count);
	return 0;
}

void bench_trace_lanes_free(struct bench_trace_lanes *l)
{
	free(l->lanes);
	free(l->order);
	memset(l, 0, sizeof(*l));
}

static enum bench_trace_state state_of(const struct wic_event *e)
{
	switch ((enum wic_event_kind)e->kind) {
	case WIC_EVENT_COMPUTE:
		return BENCH_TRACE_COMPUTE;
	case WIC_EVENT_LOOK:
		return BENCH_TRACE_LOOK;
	case WIC_EVENT_PARK:
		return BENCH_TRACE_PARK;
	case WIC_EVENT_WAKE:
		return BENCH_TRACE_READY;
	case WIC_EVENT_DONE:
		break;
	}
	return BENCH_TRACE_STATES;
}

/* A warp that waited for pages parks twice in one wait: first for them, then for the data. */
static bool is_one_wait(const struct wic_event *a, const struct wic_event *b)
{
	return a->kind == WIC_EVENT_PARK && b->kind == WIC_EVENT_PARK && a->channel == b->channel &&
	       a->tag == b->tag && a->epoch == b->epoch;
}

bool bench_trace_span_next(const struct bench_trace_lanes *l, const struct bench_trace_lane *lane,
			   size_t *at, struct bench_trace_span *span_out)
{
	size_t i = lane->first + *at;
	const struct wic_event *e;

	while (i < lane->end && event_at(l, i)->kind == WIC_EVENT_DONE)
		i++;
	if (i == lane->end)
		return false;
	e = event_at(l, i);
	do
		i++;
	while (i < lane->end && is_one_wait(e, event_at(l, i)));
	*span_out = (struct bench_trace_span){
		.start_ns = e->time_ns,
		.end_ns = i < lane->end ? event_at(l, i)->time_ns : l->t->head.end_ns,
		.state = state_of(e),
		.event = e,
	};
	*at = i - lane->first;
	return true;
}
