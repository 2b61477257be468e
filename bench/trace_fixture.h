/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Traces for tests. */
#ifndef WIC_BENCH_TRACE_FIXTURE_H
#define WIC_BENCH_TRACE_FIXTURE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/trace.h"
#include "tests/test.h"

#define TRACE_START_NS 1000000u

/* FNV-1a again, in the words of its authors: the file's own must agree with it. */
static inline uint64_t trace_sum(const void *bytes, size_t count)
{
	const unsigned char *b = bytes, *end = b + count;
	uint64_t hash = 14695981039346656037u;

	while (b < end) {
		hash ^= *b++;
		hash *= 1099511628211u;
	}
	return hash;
}

/* A trace of room for @count events, all zero; the last one made is freed by the next. */
static inline struct bench_trace *trace_room(uint32_t count)
{
	static struct bench_trace t;

	bench_trace_free(&t);
	memset(&t, 0, sizeof(t));
	t.events = calloc(count + 1, sizeof(*t.events));
	TEST_TRUE(t.events);
	t.head.event_count = count;
	t.head.events_lost = 5;
	t.head.start_ns = TRACE_START_NS;
	t.head.end_ns = TRACE_START_NS + 10 * ((uint64_t)count + 1);
	t.head.start_unix_ns = 1700000000000000000u;
	t.head.sms = 2;
	t.head.tags = 64;
	strcpy(t.head.app, "C_TEST");
	strcpy(t.head.method, "wic");
	strcpy(t.head.machine, "a machine");
	strcpy(t.head.commit, "0123456");
	strcpy(t.head.describe, "a context");
	return &t;
}

/* Every 10 ns an event, of kinds in turn, over 4 warps on 2 SMs. */
static inline struct bench_trace *trace_make(uint32_t count)
{
	struct bench_trace *t = trace_room(count);

	for (uint32_t i = 0; i < count; i++)
		t->events[i] = (struct wic_event){
			.time_ns = TRACE_START_NS + 10 * (uint64_t)i,
			.epoch = 3,
			.tag = i % 64,
			.warp = i % 4,
			.channel = 1,
			.sm = i % 2,
			.kind = (uint8_t)(WIC_EVENT_COMPUTE + i / 4 % 5),
		};
	return t;
}

#endif /* WIC_BENCH_TRACE_FIXTURE_H */
