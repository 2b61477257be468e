/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The figures of a trace, for people and as JSON. */
#include <inttypes.h>
#include <time.h>

#include <wic/kernel.h>

#include "bench/trace_stat.h"
#include "lib/json.h"

static const char *const kind_names[WIC_EVENT_DONE + 1] = {
	[WIC_EVENT_COMPUTE] = "compute", [WIC_EVENT_LOOK] = "look", [WIC_EVENT_PARK] = "park",
	[WIC_EVENT_WAKE] = "wake",       [WIC_EVENT_DONE] = "done",
};

/* UTC, ISO 8601 to the second, as in rows. */
static void date_of(const struct bench_trace_head *h, char *text, size_t bytes)
{
	time_t at = (time_t)(h->start_unix_ns / 1000000000u);
	struct tm tm;

	if (!gmtime_r(&at, &tm) || !strftime(text, bytes, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(text, bytes, "unknown");
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static void print_head(FILE *f, const struct bench_trace_stat *s, const struct bench_trace_head *h)
{
	char date[32];

	date_of(h, date, sizeof(date));
	fprintf(f, "%s, %s: %s\n", h->app, h->method,
		h->status ? wic_strerror(h->status) : "correct");
	fprintf(f, "  %s\n  %s, commit %s, %s\n", h->describe, h->machine, h->commit, date);
	fprintf(f,
		"  %.3f ms, %" PRIu64 " warps (%" PRIu64 " done) on %" PRIu32 " SM%s, %" PRIu32
		" tags, %" PRIu64 " events\n",
		ms(h->end_ns - h->start_ns), s->warps, s->warps_done, h->sms,
		h->sms == 1 ? "" : "s", h->tags, h->event_count);
	if (h->events_lost)
		fprintf(f,
			"  %" PRIu64 " events are lost, the oldest: the ring held %" PRIu32
			" an SM (wic trace record --events)\n",
			h->events_lost, h->ring_events);
	else
		fputs("  no event was lost\n", f);
}

static void print_times(FILE *f, const struct bench_trace_stat *s)
{
	fprintf(f, "%-10s %7s %9s %11s %11s %11s %11s\n", "state", "time", "spans", "p50 us",
		"p90 us", "p99 us", "max us");
	for (int i = 0; i < BENCH_TRACE_STATES; i++) {
		const struct bench_trace_times *t = &s->states[i];

		fprintf(f, "%-10s %5.1f %% %9" PRIu64,
			bench_trace_state_name((enum bench_trace_state)i),
			bench_trace_stat_share(s, (enum bench_trace_state)i), t->count);
		if (t->count)
			fprintf(f, " %11.1f %11.1f %11.1f %11.1f", us(t->p50_ns), us(t->p90_ns),
				us(t->p99_ns), us(t->max_ns));
		fputs("\n", f);
	}
}

static size_t shown(const struct bench_trace_stat *s, uint32_t top)
{
	return s->wait_count < top ? s->wait_count : top;
}

static void print_waits(FILE *f, const struct bench_trace_stat *s, uint32_t top)
{
	if (!shown(s, top))
		return;
	fprintf(f, "longest waits, %zu of %zu tags\n", shown(s, top), s->wait_count);
	fprintf(f, "%-10s %10s %9s %9s %13s %11s\n", "channel", "tag", "parks", "looks", "total us",
		"max us");
	for (size_t i = 0; i < shown(s, top); i++) {
		const struct bench_trace_wait *w = &s->waits[i];

		if (w->tag == WIC_NO_TAG)
			fprintf(f, "%-10u %10s", w->channel, "none");
		else
			fprintf(f, "%-10u %10" PRIu32, w->channel, w->tag);
		fprintf(f, " %9" PRIu64 " %9" PRIu64 " %13.1f %11.1f\n", w->parks, w->looks,
			us(w->sum_ns), us(w->max_ns));
	}
}

void bench_trace_stat_print(FILE *f, const struct bench_trace_stat *s, const struct bench_trace *t,
			    uint32_t top)
{
	print_head(f, s, &t->head);
	fputs("events:", f);
	for (int i = WIC_EVENT_COMPUTE; i <= WIC_EVENT_DONE; i++)
		fprintf(f, "%s %s %" PRIu64, i == WIC_EVENT_COMPUTE ? "" : ",", kind_names[i],
			s->kinds[i]);
	fputs("\n", f);
	print_times(f, s);
	print_waits(f, s, top);
}

static void json_head(struct wic_json *j, const struct bench_trace_head *h)
{
	char date[32];

	date_of(h, date, sizeof(date));
	wic_json_string(j, "app", h->app);
	wic_json_string(j, "method", h->method);
	wic_json_bool(j, "correct", !h->status);
	wic_json_string(j, "describe", h->describe);
	wic_json_string(j, "machine", h->machine);
	wic_json_string(j, "commit", h->commit);
	wic_json_string(j, "date", date);
	wic_json_double(j, "run_ms", ms(h->end_ns - h->start_ns));
	wic_json_uint(j, "sms", h->sms);
	wic_json_uint(j, "tags", h->tags);
	wic_json_uint(j, "events", h->event_count);
	wic_json_uint(j, "events_lost", h->events_lost);
	wic_json_uint(j, "ring_events", h->ring_events);
}

static void json_states(struct wic_json *j, const struct bench_trace_stat *s)
{
	wic_json_object_begin(j, "states");
	for (int i = 0; i < BENCH_TRACE_STATES; i++) {
		const struct bench_trace_times *t = &s->states[i];

		wic_json_object_begin(j, bench_trace_state_name((enum bench_trace_state)i));
		wic_json_double(j, "pct", bench_trace_stat_share(s, (enum bench_trace_state)i));
		wic_json_uint(j, "count", t->count);
		wic_json_uint(j, "sum_ns", t->sum_ns);
		wic_json_uint(j, "p50_ns", t->p50_ns);
		wic_json_uint(j, "p90_ns", t->p90_ns);
		wic_json_uint(j, "p99_ns", t->p99_ns);
		wic_json_uint(j, "max_ns", t->max_ns);
		wic_json_object_end(j);
	}
	wic_json_object_end(j);
}

static void json_waits(struct wic_json *j, const struct bench_trace_stat *s, uint32_t top)
{
	wic_json_array_begin(j, "waits");
	for (size_t i = 0; i < shown(s, top); i++) {
		const struct bench_trace_wait *w = &s->waits[i];

		wic_json_object_begin(j, NULL);
		wic_json_uint(j, "channel", w->channel);
		if (w->tag == WIC_NO_TAG)
			wic_json_null(j, "tag");
		else
			wic_json_uint(j, "tag", w->tag);
		wic_json_uint(j, "parks", w->parks);
		wic_json_uint(j, "looks", w->looks);
		wic_json_uint(j, "sum_ns", w->sum_ns);
		wic_json_uint(j, "max_ns", w->max_ns);
		wic_json_object_end(j);
	}
	wic_json_array_end(j);
}

int bench_trace_stat_write_json(FILE *f, const struct bench_trace_stat *s,
				const struct bench_trace *t, uint32_t top)
{
	struct wic_json j;

	wic_json_init(&j, f, WIC_JSON_COMPACT);
	wic_json_object_begin(&j, NULL);
	json_head(&j, &t->head);
	wic_json_uint(&j, "warps", s->warps);
	wic_json_uint(&j, "warps_done", s->warps_done);
	wic_json_object_begin(&j, "kinds");
	for (int i = WIC_EVENT_COMPUTE; i <= WIC_EVENT_DONE; i++)
		wic_json_uint(&j, kind_names[i], s->kinds[i]);
	wic_json_object_end(&j);
	json_states(&j, s);
	wic_json_uint(&j, "wait_tags", s->wait_count);
	json_waits(&j, s, top);
	wic_json_object_end(&j);
	return wic_json_finish(&j);
}
