/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/trace_export.h"

#include <errno.h>
#include <stdlib.h>

#include <wic/kernel.h>

#include "lib/json.h"

/* A viewer may take process and thread 0 for a machine's idle ones. */
static uint64_t pid_of(uint32_t sm)
{
	return (uint64_t)sm + 1;
}

static uint64_t tid_of(uint32_t warp)
{
	return (uint64_t)warp + 1;
}

static double us_since(const struct bench_trace *t, uint64_t ns)
{
	return (double)(ns - t->head.start_ns) / 1e3;
}

static void event_begin(struct wic_json *j, const char *name, const char *phase, uint64_t pid)
{
	wic_json_object_begin(j, NULL);
	wic_json_string(j, "name", name);
	wic_json_string(j, "ph", phase);
	wic_json_uint(j, "pid", pid);
}

/* Names and order of a process, or with @tid of a thread. */
static void put_metadata(struct wic_json *j, const char *what, uint64_t pid, const uint64_t *tid,
			 const char *name)
{
	event_begin(j, what, "M", pid);
	if (tid)
		wic_json_uint(j, "tid", *tid);
	wic_json_object_begin(j, "args");
	if (name)
		wic_json_string(j, "name", name);
	else
		wic_json_uint(j, "sort_index", tid ? *tid : pid);
	wic_json_object_end(j);
	wic_json_object_end(j);
}

static void put_processes(struct wic_json *j, const struct bench_trace *t)
{
	char name[80];

	for (uint32_t sm = 0; sm <= t->head.sms; sm++) {
		if (sm < t->head.sms)
			snprintf(name, sizeof(name), "SM %u", sm);
		else
			snprintf(name, sizeof(name), "%s, %s: all SMs", t->head.app,
				 t->head.method);
		put_metadata(j, "process_name", pid_of(sm), NULL, name);
		put_metadata(j, "process_sort_index", pid_of(sm), NULL, NULL);
	}
}

static void put_args(struct wic_json *j, const struct wic_event *e)
{
	wic_json_object_begin(j, "args");
	if (e->tag != WIC_NO_TAG) {
		wic_json_uint(j, "channel", e->channel);
		wic_json_uint(j, "tag", e->tag);
		wic_json_uint(j, "epoch", e->epoch);
	}
	wic_json_object_end(j);
}

static void put_span(struct wic_json *j, const struct bench_trace *t,
		     const struct bench_trace_span *s)
{
	event_begin(j, bench_trace_state_name(s->state), "X", pid_of(s->event->sm));
	wic_json_uint(j, "tid", tid_of(s->event->warp));
	wic_json_string(j, "cat", "warp");
	wic_json_double(j, "ts", us_since(t, s->start_ns));
	wic_json_double(j, "dur", (double)(s->end_ns - s->start_ns) / 1e3);
	put_args(j, s->event);
	wic_json_object_end(j);
}

static void put_wake(struct wic_json *j, const struct bench_trace *t, const struct wic_event *e)
{
	event_begin(j, "wake", "i", pid_of(e->sm));
	wic_json_uint(j, "tid", tid_of(e->warp));
	wic_json_string(j, "cat", "wake");
	/* An arrow in the warp's own lane. */
	wic_json_string(j, "s", "t");
	wic_json_double(j, "ts", us_since(t, e->time_ns));
	put_args(j, e);
	wic_json_object_end(j);
}

/*
 * The edges of all parks: time since the launch << 1 | is an end.  A park of no length
 * begins before it ends, so the counter never goes below 0.
 */
struct edges {
	uint64_t *at; /* owned */
	size_t count;
};

static void put_lane(struct wic_json *j, const struct bench_trace_lanes *l,
		     const struct bench_trace_lane *lane, struct edges *edges)
{
	uint64_t pid = pid_of(lane->sm), tid = tid_of(lane->warp);
	const uint64_t start_ns = l->t->head.start_ns;
	struct bench_trace_span span;
	char name[32];

	snprintf(name, sizeof(name), "warp %u", lane->warp);
	put_metadata(j, "thread_name", pid, &tid, name);
	put_metadata(j, "thread_sort_index", pid, &tid, NULL);
	for (size_t at = 0; bench_trace_span_next(l, lane, &at, &span);) {
		if (span.state == BENCH_TRACE_READY)
			put_wake(j, l->t, span.event);
		put_span(j, l->t, &span);
		if (span.state != BENCH_TRACE_PARK)
			continue;
		edges->at[edges->count++] = (span.start_ns - start_ns) << 1;
		edges->at[edges->count++] = (span.end_ns - start_ns) << 1 | 1;
	}
}

static int compare_edges(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void put_parked(struct wic_json *j, const struct bench_trace *t, double us, uint64_t parked)
{
	event_begin(j, "parked warps", "C", pid_of(t->head.sms));
	wic_json_double(j, "ts", us);
	wic_json_object_begin(j, "args");
	wic_json_uint(j, "parked", parked);
	wic_json_object_end(j);
	wic_json_object_end(j);
}

/* One value a moment, after all that happened in it. */
static void put_counter(struct wic_json *j, const struct bench_trace *t, struct edges *edges)
{
	uint64_t parked = 0;

	qsort(edges->at, edges->count, sizeof(*edges->at), compare_edges);
	put_parked(j, t, 0, 0);
	for (size_t i = 0; i < edges->count; i++) {
		uint64_t ns = edges->at[i] >> 1;

		parked = edges->at[i] & 1 ? parked - 1 : parked + 1;
		if (i + 1 == edges->count || edges->at[i + 1] >> 1 != ns)
			put_parked(j, t, (double)ns / 1e3, parked);
	}
}

static void put_about(struct wic_json *j, const struct bench_trace_head *h)
{
	wic_json_string(j, "displayTimeUnit", "ns");
	wic_json_object_begin(j, "otherData");
	wic_json_string(j, "app", h->app);
	wic_json_string(j, "method", h->method);
	wic_json_string(j, "context", h->describe);
	wic_json_string(j, "machine", h->machine);
	wic_json_string(j, "commit", h->commit);
	wic_json_uint(j, "events_lost", h->events_lost);
	wic_json_object_end(j);
}

int bench_trace_export(FILE *f, const struct bench_trace_lanes *l)
{
	struct edges edges = { .count = 0 };
	struct wic_json j;

	/* A park is begun by an event of its own and has two edges. */
	edges.at = malloc((2 * l->t->head.event_count + 1) * sizeof(*edges.at));
	if (!edges.at)
		return -ENOMEM;
	wic_json_init(&j, f, WIC_JSON_COMPACT);
	wic_json_object_begin(&j, NULL);
	put_about(&j, &l->t->head);
	wic_json_array_begin(&j, "traceEvents");
	put_processes(&j, l->t);
	for (size_t i = 0; i < l->lane_count; i++)
		put_lane(&j, l, &l->lanes[i], &edges);
	put_counter(&j, l->t, &edges);
	wic_json_array_end(&j);
	wic_json_object_end(&j);
	free(edges.at);
	return wic_json_finish(&j);
}
