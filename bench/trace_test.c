/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The file of a trace, whole and in every way broken. */
#include "bench/trace.h"

#include <errno.h>
#include <stdbool.h>

#include "bench/trace_fixture.h"
#include "tests/test.h"

#define FILE_MAX (1 << 16)

static char why[256];

/* Write @t into @bytes; how many there are. */
static size_t write_trace(struct bench_trace *t, unsigned char *bytes)
{
	FILE *f = fmemopen(bytes, FILE_MAX, "wb");
	long size;

	TEST_TRUE(f);
	TEST_EQ(bench_trace_write(f, t), 0);
	size = ftell(f);
	fclose(f);
	return (size_t)size;
}

static int read_trace(const unsigned char *bytes, size_t count, struct bench_trace *t)
{
	/* fmemopen() of nothing is an error; a file may be empty. */
	FILE *f = count ? fmemopen((void *)(uintptr_t)bytes, count, "rb") : fopen("/dev/null", "r");
	int rc;

	TEST_TRUE(f);
	rc = bench_trace_read(f, t, why, sizeof(why));
	fclose(f);
	return rc;
}

static void expect_refused(const unsigned char *bytes, size_t count, const char *text)
{
	struct bench_trace t = { .events = NULL };

	TEST_EQ(read_trace(bytes, count, &t), -EINVAL);
	TEST_STR_HAS(why, text);
	TEST_TRUE(!t.events);
}

/* The same with a head that says otherwise, its sum made right. */
static void expect_head_refused(const struct bench_trace_head *h, const char *text)
{
	static unsigned char bytes[FILE_MAX];
	size_t count = write_trace(trace_make(3), bytes);
	struct bench_trace_head changed = *h;

	changed.head_sum = trace_sum(&changed, offsetof(struct bench_trace_head, head_sum));
	memcpy(bytes, &changed, sizeof(changed));
	expect_refused(bytes, count, text);
}

static void round_trip(void)
{
	static unsigned char bytes[FILE_MAX];
	static const uint32_t counts[] = { 0, 1, 2, 1000 };

	for (int i = 0; i < 4; i++) {
		struct bench_trace *t = trace_make(counts[i]), got;
		size_t count = write_trace(t, bytes);

		TEST_EQ(count, sizeof(t->head) + counts[i] * sizeof(struct wic_event));
		TEST_EQ(read_trace(bytes, count, &got), 0);
		TEST_EQ(why[0], 0);
		TEST_EQ(memcmp(&got.head, &t->head, sizeof(got.head)), 0);
		TEST_EQ(got.head.events_lost, 5);
		if (counts[i])
			TEST_EQ(memcmp(got.events, t->events, counts[i] * sizeof(*got.events)), 0);
		bench_trace_free(&got);
	}
}

/* More than are read at a time. */
static void round_trip_large(void)
{
	const uint32_t count = 300001;
	struct bench_trace *t = trace_make(count), got;
	FILE *f = tmpfile();

	TEST_TRUE(f);
	TEST_EQ(bench_trace_write(f, t), 0);
	rewind(f);
	TEST_EQ(bench_trace_read(f, &got, why, sizeof(why)), 0);
	TEST_EQ(memcmp(got.events, t->events, count * sizeof(*got.events)), 0);
	bench_trace_free(&got);
	fclose(f);
}

static void write_full_device(void)
{
	FILE *f = fopen("/dev/full", "w");

	if (!f) {
		test_skip("no /dev/full");
		return;
	}
	TEST_EQ(bench_trace_write(f, trace_make(1000)), -ENOSPC);
	fclose(f);
}

static void read_cut_off(void)
{
	static unsigned char bytes[FILE_MAX];
	size_t count = write_trace(trace_make(3), bytes);

	expect_refused(bytes, 0, "it is empty");
	for (size_t i = 1; i < sizeof(struct bench_trace_head); i++)
		expect_refused(bytes, i, "of the 672 bytes of its head are there");
	for (size_t i = sizeof(struct bench_trace_head); i < count; i++)
		expect_refused(bytes, i, "of 3 events");
	bytes[count] = 0;
	expect_refused(bytes, count + 1, "bytes follow the last of its 3 events");
}

/* Each byte of a file, changed in each of its bits. */
static void read_damaged(void)
{
	static unsigned char bytes[FILE_MAX];
	size_t count = write_trace(trace_make(3), bytes);

	for (size_t i = 0; i < count; i++)
		for (int bit = 0; bit < 8; bit++) {
			const char *text = i < 8                                 ? "no trace of wic"
					   : i < 12                              ? "of version"
					   : i < sizeof(struct bench_trace_head) ? "of its head"
										 : "of its events";

			bytes[i] ^= (unsigned char)(1 << bit);
			expect_refused(bytes, count, text);
			bytes[i] ^= (unsigned char)(1 << bit);
		}
}

static void read_other_version(void)
{
	struct bench_trace_head h;
	static unsigned char bytes[FILE_MAX];

	write_trace(trace_make(3), bytes);
	memcpy(&h, bytes, sizeof(h));
	h.version = 2;
	expect_head_refused(&h, "a trace of version 2, this wic reads version 1");
	/* A short one of a later version is no damaged one. */
	memcpy(bytes, &h, 12);
	expect_refused(bytes, 12, "a trace of version 2");
}

/* Sums are right, what they protect is not: nothing is believed. */
static void read_lying_head(void)
{
	static unsigned char bytes[FILE_MAX];
	struct bench_trace_head good, h;

	write_trace(trace_make(3), bytes);
	memcpy(&good, bytes, sizeof(good));
	h = good;
	h.event_count = 2;
	expect_head_refused(&h, "bytes follow the last of its 2 events");
	h.event_count = 4;
	expect_head_refused(&h, "cut off: 3 of 4 events");
	h.event_count = 1u << 31;
	expect_head_refused(&h, "cut off: 3 of 2147483648 events");
	h.event_count = UINT64_MAX;
	expect_head_refused(&h, "18446744073709551615 events, at most");
	h = good;
	h.event_bytes = 31;
	expect_head_refused(&h, "events of 31 bytes");
	h = good;
	h.head_bytes = 0;
	expect_head_refused(&h, "head of 0 bytes");
	h = good;
	h.clock = 2;
	expect_head_refused(&h, "clock 2");
	h = good;
	h.end_ns = h.start_ns - 1;
	expect_head_refused(&h, "ends before it starts");
	h = good;
	h.sms = 0;
	expect_head_refused(&h, "of SM 0 of 0");
	h.sms = UINT32_MAX;
	expect_head_refused(&h, "4294967295 SMs");
	h = good;
	memset(h.method, 'x', sizeof(h.method));
	expect_head_refused(&h, "does not end");
	h = good;
	h.end_ns = h.start_ns;
	expect_head_refused(&h, "out of order");
}

static void read_lying_events(void)
{
	static unsigned char bytes[FILE_MAX];
	struct bench_trace *t;
	size_t count;

	t = trace_make(3);
	t->events[1].kind = 0;
	count = write_trace(t, bytes);
	expect_refused(bytes, count, "event 1 is of kind 0");
	t->events[1].kind = WIC_EVENT_DONE + 1;
	count = write_trace(t, bytes);
	expect_refused(bytes, count, "event 1 is of kind 6");
	t = trace_make(3);
	t->events[2].time_ns = t->events[1].time_ns - 1;
	count = write_trace(t, bytes);
	expect_refused(bytes, count, "event 2 is out of order");
	t = trace_make(3);
	t->events[0].time_ns = t->head.start_ns - 1;
	count = write_trace(t, bytes);
	expect_refused(bytes, count, "event 0 is out of order");
}

static void read_directory(void)
{
	FILE *f = fopen("/", "r");
	struct bench_trace t;

	TEST_TRUE(f);
	TEST_EQ(bench_trace_read(f, &t, why, sizeof(why)), -EISDIR);
	TEST_STR_HAS(why, "directory");
	fclose(f);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(round_trip),        TEST(round_trip_large),
		TEST(write_full_device), TEST(read_cut_off),
		TEST(read_damaged),      TEST(read_other_version),
		TEST(read_lying_head),   TEST(read_lying_events),
		TEST(read_directory),    { 0 },
	};

	return test_main(argc, argv, tests);
}
