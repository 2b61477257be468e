/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A large trace through figures and export. */
#include <stdbool.h>
#include <stdio.h>

#include "bench/trace_export.h"
#include "bench/trace_fixture.h"
#include "bench/trace_stat.h"
#include "tests/test.h"

/* What of JSON can be seen without keeping it: balanced outside of strings, and counts. */
struct scan {
	int depth;
	bool is_string, is_escaped;
	uint64_t objects;
	int last;
};

static void scan_byte(struct scan *s, int c)
{
	if (s->is_escaped) {
		s->is_escaped = false;
	} else if (s->is_string) {
		s->is_escaped = c == '\\';
		s->is_string = c != '"';
	} else if (c == '"') {
		s->is_string = true;
	} else if (c == '{' || c == '[') {
		s->objects += c == '{' && s->depth == 2;
		s->depth++;
	} else if (c == '}' || c == ']') {
		s->depth--;
		TEST_TRUE(s->depth >= 0);
	}
	s->last = c;
}

/* 10^6 events: 200,000 of each kind, 4 warps. */
static void export_million(void)
{
	struct scan s = { .depth = 0 };
	struct bench_trace_lanes l;
	struct bench_trace_stat stat;
	uint64_t spans = 0, edges;
	static char bytes[1 << 16];
	FILE *f = tmpfile();
	size_t got;

	TEST_TRUE(f);
	TEST_EQ(bench_trace_lanes_make(&l, trace_make(1000000)), 0);
	TEST_EQ(bench_trace_stat_make(&stat, &l), 0);
	for (int i = 0; i < BENCH_TRACE_STATES; i++)
		spans += stat.states[i].count;
	TEST_EQ(spans, 800000);
	TEST_EQ(stat.wait_count, 64);
	/* Each park begins and ends at a moment of its own, 10 ns from any other. */
	edges = 2 * stat.states[BENCH_TRACE_PARK].count;
	TEST_EQ(bench_trace_export(f, &l), 0);
	rewind(f);
	while ((got = fread(bytes, 1, sizeof(bytes), f)))
		for (size_t i = 0; i < got; i++)
			scan_byte(&s, bytes[i]);
	TEST_EQ(s.last, '\n');
	TEST_EQ(s.depth, 0);
	TEST_TRUE(!s.is_string);
	/* Names of 3 processes and 4 threads, two each; the counter's first 0. */
	TEST_EQ(s.objects, spans + stat.kinds[WIC_EVENT_WAKE] + edges + 2 * 3 + 2 * 4 + 1);
	fclose(f);
	bench_trace_stat_free(&stat);
	bench_trace_lanes_free(&l);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(export_million), { 0 } };

	return test_main(argc, argv, tests);
}
