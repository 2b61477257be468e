/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/trace_stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A span, as far as figures need it. */
struct span {
	uint64_t ns;
	uint32_t tag;
	uint16_t channel;
	uint16_t state;
};

static int compare_u64(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int by_state_and_time(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->state != y->state ? compare_u64(x->state, y->state) : compare_u64(x->ns, y->ns);
}

static int by_tag(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->channel != y->channel ? compare_u64(x->channel, y->channel)
					: compare_u64(x->tag, y->tag);
}

/* Equal sums by tag, so that the same trace gives the same list. */
static int by_sum(const void *a, const void *b)
{
	const struct bench_trace_wait *x = a, *y = b;

	if (x->sum_ns != y->sum_ns)
		return compare_u64(y->sum_ns, x->sum_ns);
	return x->channel != y->channel ? compare_u64(x->channel, y->channel)
					: compare_u64(x->tag, y->tag);
}

/* Of times that are sorted: the smallest that @percent of them do not exceed. */
static uint64_t rank(const struct span *spans, size_t count, unsigned int percent)
{
	return spans[(count * percent + 99) / 100 - 1].ns;
}

static void make_times(struct bench_trace_times *t, const struct span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++)
		t->sum_ns += spans[i].ns;
	t->count = count;
	if (!count)
		return;
	t->p50_ns = rank(spans, count, 50);
	t->p90_ns = rank(spans, count, 90);
	t->p99_ns = rank(spans, count, 99);
	t->max_ns = spans[count - 1].ns;
}

static size_t collect(const struct bench_trace_lanes *l, struct span *spans)
{
	struct bench_trace_span span;
	size_t count = 0, at;

	for (size_t i = 0; i < l->lane_count; i++)
		for (at = 0; bench_trace_span_next(l, &l->lanes[i], &at, &span);)
			spans[count++] = (struct span){
				.ns = span.end_ns - span.start_ns,
				.tag = span.event->tag,
				.channel = span.event->channel,
				.state = (uint16_t)span.state,
			};
	return count;
}

/* Waits alone, by tag; sums over equal ones replace them in place. */
static int make_waits(struct bench_trace_stat *s, struct span *spans, size_t count)
{
	qsort(spans, count, sizeof(*spans), by_tag);
	s->waits = calloc(count + 1, sizeof(*s->waits));
	if (!s->waits)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct bench_trace_wait *w;

		s->wait_count += !i || by_tag(&spans[i - 1], &spans[i]);
		w = &s->waits[s->wait_count - 1];
		w->tag = spans[i].tag;
		w->channel = spans[i].channel;
		w->sum_ns += spans[i].ns;
		w->max_ns = w->max_ns < spans[i].ns ? spans[i].ns : w->max_ns;
		w->parks += spans[i].state == BENCH_TRACE_PARK;
		w->looks += spans[i].state == BENCH_TRACE_LOOK;
	}
	qsort(s->waits, s->wait_count, sizeof(*s->waits), by_sum);
	return 0;
}

int bench_trace_stat_make(struct bench_trace_stat *s, const struct bench_trace_lanes *l)
{
	const struct bench_trace *t = l->t;
	size_t count, first = 0, end;
	struct span *spans;
	int rc;

	memset(s, 0, sizeof(*s));
	for (uint64_t i = 0; i < t->head.event_count; i++)
		s->kinds[t->events[i].kind]++;
	s->warps = l->lane_count;
	/* A lane's last event says whether the warp left. */
	for (size_t i = 0; i < l->lane_count; i++)
		s->warps_done +=
			t->events[l->order[l->lanes[i].end - 1].event].kind == WIC_EVENT_DONE;
	spans = malloc((t->head.event_count + 1) * sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	count = collect(l, spans);
	qsort(spans, count, sizeof(*spans), by_state_and_time);
	_Static_assert(BENCH_TRACE_PARK == BENCH_TRACE_STATES - 1 &&
			       BENCH_TRACE_LOOK == BENCH_TRACE_PARK - 1,
		       "waits are sorted last");
	for (int state = 0; state < BENCH_TRACE_STATES; state++) {
		for (end = first; end < count && spans[end].state == state; end++)
			;
		make_times(&s->states[state], &spans[first], end - first);
		first = end;
	}
	first = count - s->states[BENCH_TRACE_PARK].count - s->states[BENCH_TRACE_LOOK].count;
	rc = make_waits(s, &spans[first], count - first);
	free(spans);
	return rc;
}

void bench_trace_stat_free(struct bench_trace_stat *s)
{
	free(s->waits);
	s->waits = NULL;
}

double bench_trace_stat_share(const struct bench_trace_stat *s, enum bench_trace_state state)
{
	double sum = 0;

	for (int i = 0; i < BENCH_TRACE_STATES; i++)
		sum += (double)s->states[i].sum_ns;
	return sum > 0 ? 100 * (double)s->states[state].sum_ns / sum : 0;
}
