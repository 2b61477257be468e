/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Spans, figures and the export of traces made by hand, and of random ones. */
#include "bench/trace_lanes.h"

#include <errno.h>
#include <stdbool.h>

#include <wic/kernel.h>

#include "bench/trace_export.h"
#include "bench/trace_fixture.h"
#include "bench/trace_stat.h"
#include "tests/test.h"

static struct wic_event event(uint64_t at_ns, uint32_t warp, enum wic_event_kind kind, uint32_t tag)
{
	return (struct wic_event){
		.time_ns = TRACE_START_NS + at_ns,
		.epoch = 7,
		.tag = tag,
		.warp = warp,
		.channel = 3,
		.sm = (uint16_t)(warp / 32),
		.kind = (uint8_t)kind,
	};
}

static struct bench_trace *trace_of(const struct wic_event *events, uint32_t count, uint64_t end_ns)
{
	struct bench_trace *t = trace_room(count);

	memcpy(t->events, events, count * sizeof(*events));
	t->head.end_ns = TRACE_START_NS + end_ns;
	return t;
}

static void expect_span(const struct bench_trace_lanes *l, size_t *at, uint64_t start_ns,
			uint64_t end_ns, enum bench_trace_state state)
{
	struct bench_trace_span s;

	TEST_TRUE(bench_trace_span_next(l, &l->lanes[0], at, &s));
	TEST_EQ(s.start_ns - TRACE_START_NS, start_ns);
	TEST_EQ(s.end_ns - TRACE_START_NS, end_ns);
	TEST_EQ(s.state, state);
}

/* Two warps on two SMs; the second is never done. */
static struct bench_trace *two_warps(void)
{
	const struct wic_event events[] = {
		event(0, 1, WIC_EVENT_COMPUTE, WIC_NO_TAG),
		event(1000, 1, WIC_EVENT_PARK, 5),
		event(1500, 33, WIC_EVENT_LOOK, 9),
		/* It waited for pages first: one wait, two parks. */
		event(2000, 1, WIC_EVENT_PARK, 5),
		event(4001, 1, WIC_EVENT_WAKE, 5),
		event(4501, 1, WIC_EVENT_COMPUTE, 5),
		event(6000, 1, WIC_EVENT_DONE, WIC_NO_TAG),
	};

	return trace_of(events, 7, 10000);
}

static void span_of_each_state(void)
{
	struct bench_trace_lanes l;
	struct bench_trace_span s;
	size_t at = 0;

	TEST_EQ(bench_trace_lanes_make(&l, two_warps()), 0);
	TEST_EQ(l.lane_count, 2);
	TEST_EQ(l.lanes[0].warp, 1);
	TEST_EQ(l.lanes[1].warp, 33);
	TEST_EQ(l.lanes[1].sm, 1);
	expect_span(&l, &at, 0, 1000, BENCH_TRACE_COMPUTE);
	expect_span(&l, &at, 1000, 4001, BENCH_TRACE_PARK);
	expect_span(&l, &at, 4001, 4501, BENCH_TRACE_READY);
	expect_span(&l, &at, 4501, 6000, BENCH_TRACE_COMPUTE);
	TEST_TRUE(!bench_trace_span_next(&l, &l.lanes[0], &at, &s));
	at = 0;
	TEST_TRUE(bench_trace_span_next(&l, &l.lanes[1], &at, &s));
	TEST_EQ(s.state, BENCH_TRACE_LOOK);
	TEST_EQ(s.end_ns - TRACE_START_NS, 10000);
	TEST_TRUE(!bench_trace_span_next(&l, &l.lanes[1], &at, &s));
	bench_trace_lanes_free(&l);
}

static void lanes_of_nothing(void)
{
	struct bench_trace_lanes l;
	struct bench_trace_stat s;

	TEST_EQ(bench_trace_lanes_make(&l, trace_room(0)), 0);
	TEST_EQ(l.lane_count, 0);
	TEST_EQ(bench_trace_stat_make(&s, &l), 0);
	TEST_EQ(s.wait_count, 0);
	TEST_TRUE(bench_trace_stat_share(&s, BENCH_TRACE_PARK) == 0);
	bench_trace_stat_free(&s);
	bench_trace_lanes_free(&l);
}

/* Two launches, or two devices: what one SM's warp 1 did is not what the other's did. */
static void lanes_warp_on_two_sms(void)
{
	struct bench_trace *t = two_warps();
	struct bench_trace_lanes l;

	t->events[3].sm = 1;
	TEST_EQ(bench_trace_lanes_make(&l, t), 0);
	TEST_EQ(l.lane_count, 3);
	TEST_EQ(l.lanes[0].sm, 0);
	TEST_EQ(l.lanes[1].sm, 1);
	TEST_EQ(l.lanes[1].warp, 1);
	TEST_EQ(l.lanes[1].end - l.lanes[1].first, 1);
	TEST_EQ(l.lanes[2].warp, 33);
	bench_trace_lanes_free(&l);
}

static void stat_by_hand(void)
{
	struct bench_trace_lanes l;
	struct bench_trace_stat s;

	TEST_EQ(bench_trace_lanes_make(&l, two_warps()), 0);
	TEST_EQ(bench_trace_stat_make(&s, &l), 0);
	TEST_EQ(s.kinds[WIC_EVENT_PARK], 2);
	TEST_EQ(s.kinds[WIC_EVENT_WAKE], 1);
	TEST_EQ(s.warps, 2);
	TEST_EQ(s.warps_done, 1);
	TEST_EQ(s.states[BENCH_TRACE_COMPUTE].sum_ns, 2499);
	TEST_EQ(s.states[BENCH_TRACE_PARK].count, 1);
	TEST_EQ(s.states[BENCH_TRACE_PARK].max_ns, 3001);
	/* 1000 + 1499 + 3001 + 500 + 8500. */
	TEST_TRUE(bench_trace_stat_share(&s, BENCH_TRACE_LOOK) > 58.62);
	TEST_TRUE(bench_trace_stat_share(&s, BENCH_TRACE_LOOK) < 58.63);
	TEST_EQ(s.wait_count, 2);
	TEST_EQ(s.waits[0].tag, 9);
	TEST_EQ(s.waits[0].looks, 1);
	TEST_EQ(s.waits[0].sum_ns, 8500);
	TEST_EQ(s.waits[1].tag, 5);
	TEST_EQ(s.waits[1].parks, 1);
	TEST_EQ(s.waits[1].channel, 3);
	bench_trace_stat_free(&s);
	bench_trace_lanes_free(&l);
}

/* Parks of 1 to @count ns, one after another, on tags 0 and 1 in turn. */
static struct bench_trace *parks_trace(uint32_t count)
{
	struct bench_trace *t = trace_room(count + 1);
	uint64_t at_ns = 0;

	for (uint32_t i = 0; i <= count; at_ns += ++i)
		t->events[i] = event(at_ns, 0, i < count ? WIC_EVENT_PARK : WIC_EVENT_DONE, i % 2);
	t->head.end_ns = TRACE_START_NS + at_ns;
	return t;
}

static void stat_ranks(void)
{
	static const uint32_t want[][4] = { { 1, 1, 1, 1 },
					    { 2, 1, 2, 2 },
					    { 10, 5, 9, 10 },
					    { 100, 50, 90, 99 },
					    { 1000, 500, 900, 990 } };

	for (int i = 0; i < 5; i++) {
		struct bench_trace_lanes l;
		struct bench_trace_stat s;
		const struct bench_trace_times *p = &s.states[BENCH_TRACE_PARK];

		TEST_EQ(bench_trace_lanes_make(&l, parks_trace(want[i][0])), 0);
		TEST_EQ(bench_trace_stat_make(&s, &l), 0);
		TEST_EQ(p->count, want[i][0]);
		TEST_EQ(p->p50_ns, want[i][1]);
		TEST_EQ(p->p90_ns, want[i][2]);
		TEST_EQ(p->p99_ns, want[i][3]);
		TEST_EQ(p->max_ns, want[i][0]);
		TEST_EQ(s.wait_count, want[i][0] > 1 ? 2 : 1);
		TEST_TRUE(s.wait_count < 2 || s.waits[0].sum_ns >= s.waits[1].sum_ns);
		bench_trace_stat_free(&s);
		bench_trace_lanes_free(&l);
	}
}

/* Each moment of a warp from its first event on lies in one span, and in the right one. */
static void check_lane(const struct bench_trace_lanes *l, const struct bench_trace_lane *lane)
{
	static const enum bench_trace_state states[] = {
		[WIC_EVENT_COMPUTE] = BENCH_TRACE_COMPUTE, [WIC_EVENT_LOOK] = BENCH_TRACE_LOOK,
		[WIC_EVENT_PARK] = BENCH_TRACE_PARK,       [WIC_EVENT_WAKE] = BENCH_TRACE_READY,
		[WIC_EVENT_DONE] = BENCH_TRACE_STATES,
	};
	const struct bench_trace *t = l->t;
	struct bench_trace_span s = { .end_ns = 0 };
	size_t at = 0, spans = 0;
	bool is_in = false;

	for (uint64_t i = 0; i < t->head.event_count; i++) {
		const struct wic_event *e = &t->events[i];

		if (e->warp != lane->warp)
			continue;
		/* In a span that goes on: a second park of one wait. */
		if (is_in && e->time_ns <= s.end_ns && e->kind == WIC_EVENT_PARK &&
		    s.event->kind == WIC_EVENT_PARK && s.event->tag == e->tag &&
		    e->time_ns != s.end_ns)
			continue;
		TEST_TRUE(!is_in || s.end_ns == e->time_ns);
		is_in = e->kind != WIC_EVENT_DONE;
		if (!is_in)
			continue;
		TEST_TRUE(bench_trace_span_next(l, lane, &at, &s));
		TEST_EQ(s.start_ns, e->time_ns);
		TEST_EQ(s.state, states[e->kind]);
		TEST_TRUE(s.event == e);
		spans++;
	}
	TEST_TRUE(!is_in || s.end_ns == t->head.end_ns);
	TEST_TRUE(!bench_trace_span_next(l, lane, &at, &s));
	TEST_TRUE(spans <= lane->end - lane->first);
}

static void random_against_model(void)
{
	uint64_t seed = 3;

	for (int round = 0; round < 300; round++) {
		uint32_t count = (uint32_t)(test_random(&seed) % 200);
		struct bench_trace *t = trace_room(count);
		struct bench_trace_lanes l;
		uint64_t at_ns = 0;
		size_t events = 0;

		for (uint32_t i = 0; i < count; i++) {
			at_ns += 1 + test_random(&seed) % 3;
			t->events[i] = event(at_ns, (uint32_t)(test_random(&seed) % 40),
					     (enum wic_event_kind)(1 + test_random(&seed) % 5),
					     (uint32_t)(test_random(&seed) % 3));
		}
		t->head.end_ns = TRACE_START_NS + at_ns + 1;
		TEST_EQ(bench_trace_lanes_make(&l, t), 0);
		for (size_t i = 0; i < l.lane_count; i++) {
			TEST_TRUE(!i || l.lanes[i - 1].warp < l.lanes[i].warp);
			events += l.lanes[i].end - l.lanes[i].first;
			check_lane(&l, &l.lanes[i]);
		}
		TEST_EQ(events, count);
		bench_trace_lanes_free(&l);
	}
}

static void export_by_hand(void)
{
	struct bench_trace_lanes l;
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	TEST_TRUE(f);
	TEST_EQ(bench_trace_lanes_make(&l, two_warps()), 0);
	TEST_EQ(bench_trace_export(f, &l), 0);
	fclose(f);
	TEST_STR_HAS(text, "\"traceEvents\":[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,"
			   "\"args\":{\"name\":\"SM 0\"}}");
	TEST_STR_HAS(text, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":2,\"tid\":34,"
			   "\"args\":{\"name\":\"warp 33\"}}");
	TEST_STR_HAS(text,
		     "{\"name\":\"computing\",\"ph\":\"X\",\"pid\":1,\"tid\":2,\"cat\":\"warp\","
		     "\"ts\":0,\"dur\":1,\"args\":{}}");
	TEST_STR_HAS(text,
		     "{\"name\":\"parked\",\"ph\":\"X\",\"pid\":1,\"tid\":2,\"cat\":\"warp\","
		     "\"ts\":1,\"dur\":3.001,\"args\":{\"channel\":3,\"tag\":5,\"epoch\":7}}");
	TEST_STR_HAS(text, "{\"name\":\"wake\",\"ph\":\"i\",\"pid\":1,\"tid\":2,\"cat\":\"wake\","
			   "\"s\":\"t\",\"ts\":4.001,");
	TEST_STR_HAS(text,
		     "{\"name\":\"looking\",\"ph\":\"X\",\"pid\":2,\"tid\":34,\"cat\":\"warp\","
		     "\"ts\":1.5,\"dur\":8.5,\"args\":{\"channel\":3,\"tag\":9,\"epoch\":7}}");
	TEST_STR_HAS(text, "{\"name\":\"parked warps\",\"ph\":\"C\",\"pid\":3,\"ts\":1,"
			   "\"args\":{\"parked\":1}}");
	TEST_STR_HAS(text, "\"ts\":4.001,\"args\":{\"parked\":0}}]}\n");
	free(text);
	bench_trace_lanes_free(&l);
}

static void export_full_device(void)
{
	FILE *f = fopen("/dev/full", "w");
	struct bench_trace_lanes l;

	if (!f) {
		test_skip("no /dev/full");
		return;
	}
	TEST_EQ(bench_trace_lanes_make(&l, trace_make(10000)), 0);
	TEST_EQ(bench_trace_export(f, &l), -ENOSPC);
	fclose(f);
	bench_trace_lanes_free(&l);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(span_of_each_state), TEST(lanes_of_nothing),   TEST(lanes_warp_on_two_sms),
		TEST(stat_by_hand),       TEST(stat_ranks),         TEST(random_against_model),
		TEST(export_by_hand),     TEST(export_full_device), { 0 },
	};

	return test_main(argc, argv, tests);
}
