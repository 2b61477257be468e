/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A trace: what the recorder took of one run, and the file that keeps it.
 *
 *	+------------------+ 0
 *	| head             |	magic, version, sizes, counts, clock, machine, run
 *	+------------------+ head.head_bytes
 *	| event 0          |	struct wic_event, in order of time
 *	| ...              |
 *	+------------------+ head.head_bytes + head.event_count * head.event_bytes
 *
 * All numbers are little-endian.  Each half has a sum of its own, so that no file that was cut
 * short, written over or made by something else is read as a trace.  A change of struct
 * bench_trace_head or of struct wic_event makes a new version; others are refused.
 */
#ifndef WIC_BENCH_TRACE_H
#define WIC_BENCH_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <wic/stats.h>

#define BENCH_TRACE_MAGIC "wictrace"
#define BENCH_TRACE_VERSION 1
/* struct bench_trace_lanes numbers events by 32 bits. */
#define BENCH_TRACE_EVENTS_MAX UINT32_MAX

enum bench_trace_clock { BENCH_TRACE_CLOCK_MONOTONIC = 1 };

/* Texts end in NUL. */
struct bench_trace_head {
	char magic[8]; /* without a NUL */
	uint32_t version;
	uint32_t head_bytes; /* of this struct */
	uint32_t event_bytes;
	uint32_t clock; /* enum bench_trace_clock: of all times but start_unix_ns */
	uint64_t event_count;
	uint64_t events_lost; /* overwritten in the ring: the oldest of the run */
	uint64_t start_ns;    /* the launch */
	uint64_t end_ns;      /* the kernel was synced */
	uint64_t start_unix_ns;
	uint32_t sms;
	uint32_t tags;
	int32_t status; /* of the run: 0 or -errno */
	uint32_t ring_events;
	char app[32];
	char method[32];
	char machine[192];
	char commit[64];
	char describe[256]; /* wic_describe() */
	uint64_t events_sum;
	uint64_t head_sum; /* of all before it */
};

WIC_STATIC_ASSERT(sizeof(struct bench_trace_head) == 672, "the head of version 1");
WIC_STATIC_ASSERT(offsetof(struct bench_trace_head, app) == 80, "no hidden padding");
WIC_STATIC_ASSERT(offsetof(struct bench_trace_head, events_sum) == 656, "no hidden padding");
WIC_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file's order is the machine's");

struct bench_trace {
	struct bench_trace_head head;
	struct wic_event *events; /* owned, head.event_count */
};

/*
 * Write head and events; magic, version, sizes and sums are filled in here.  0 or -errno
 * of the write that failed.
 */
int bench_trace_write(FILE *f, struct bench_trace *t);

/*
 * Read a whole trace.  0, then bench_trace_free() it; -EINVAL: no trace, of another
 * version, cut off or damaged; -ENOMEM; -errno of a read that failed.  @why_out: what is
 * wrong, "" after 0.
 */
int bench_trace_read(FILE *f, struct bench_trace *t_out, char *why_out, size_t why_bytes);
void bench_trace_free(struct bench_trace *t);

#endif /* WIC_BENCH_TRACE_H */
