/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What each version begins with: enough to say that it is another one. */
#define PREFIX_BYTES (offsetof(struct bench_trace_head, head_bytes))
/* Events taken at a time: a file that lies about its count costs no memory. */
#define CHUNK_EVENTS ((size_t)1 << 16)

/*
 * FNV-1a, 64 bits, with its offset basis and prime (Fowler, Noll, Vo; RFC 9923).  Each
 * step is a bijection of the sum, so no single changed byte goes unseen.
 */
static uint64_t sum_of(const void *bytes, size_t count)
{
	const unsigned char *b = bytes;
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < count; i++)
		sum = (sum ^ b[i]) * 0x100000001b3;
	return sum;
}

static uint64_t head_sum_of(const struct bench_trace_head *h)
{
	return sum_of(h, offsetof(struct bench_trace_head, head_sum));
}

int bench_trace_write(FILE *f, struct bench_trace *t)
{
	struct bench_trace_head *h = &t->head;

	memcpy(h->magic, BENCH_TRACE_MAGIC, sizeof(h->magic));
	h->version = BENCH_TRACE_VERSION;
	h->head_bytes = sizeof(*h);
	h->event_bytes = sizeof(*t->events);
	h->clock = BENCH_TRACE_CLOCK_MONOTONIC;
	h->events_sum = sum_of(t->events, h->event_count * sizeof(*t->events));
	h->head_sum = head_sum_of(h);
	errno = 0;
	if (fwrite(h, sizeof(*h), 1, f) != 1 ||
	    fwrite(t->events, sizeof(*t->events), h->event_count, f) != h->event_count || fflush(f))
		return errno ? -errno : -EIO;
	return 0;
}

/* One file being read, and what is wrong with it. */
struct reader {
	FILE *f;
	char *why; /* borrowed from the caller */
	size_t why_bytes;
};

static int refuse(const struct reader *r, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(const struct reader *r, int rc, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(r->why, r->why_bytes, fmt, args);
	va_end(args);
	return rc;
}

/* 0, @got_out: how many bytes there were; -errno of the read. */
static int take(const struct reader *r, void *bytes, size_t count, size_t *got_out)
{
	int error;

	errno = 0;
	*got_out = fread(bytes, 1, count, r->f);
	if (*got_out == count || !ferror(r->f))
		return 0;
	error = errno ? errno : EIO;
	return refuse(r, -error, "%s", strerror(error));
}

static bool is_text(const char *text, size_t bytes)
{
	return memchr(text, '\0', bytes);
}

static int check_head(const struct reader *r, const struct bench_trace_head *h)
{
	if (h->head_sum != head_sum_of(h))
		return refuse(r, -EINVAL, "damaged: the sum of its head is wrong");
	if (h->head_bytes != sizeof(*h) || h->event_bytes != sizeof(struct wic_event) ||
	    h->clock != BENCH_TRACE_CLOCK_MONOTONIC)
		return refuse(r, -EINVAL,
			      "damaged: head of %" PRIu32 " bytes, events of %" PRIu32
			      " bytes, clock %" PRIu32,
			      h->head_bytes, h->event_bytes, h->clock);
	if (h->event_count > BENCH_TRACE_EVENTS_MAX)
		return refuse(r, -EINVAL, "damaged: %" PRIu64 " events, at most %" PRIu32 " can be",
			      h->event_count, BENCH_TRACE_EVENTS_MAX);
	/* An event has 16 bits for its SM. */
	if (h->sms > UINT16_MAX + 1u)
		return refuse(r, -EINVAL, "damaged: %" PRIu32 " SMs", h->sms);
	if (h->end_ns < h->start_ns)
		return refuse(r, -EINVAL, "damaged: it ends before it starts");
	if (!is_text(h->app, sizeof(h->app)) || !is_text(h->method, sizeof(h->method)) ||
	    !is_text(h->machine, sizeof(h->machine)) || !is_text(h->commit, sizeof(h->commit)) ||
	    !is_text(h->describe, sizeof(h->describe)))
		return refuse(r, -EINVAL, "damaged: a text in its head does not end");
	return 0;
}

static int read_head(const struct reader *r, struct bench_trace_head *h)
{
	size_t got, more;
	int rc = take(r, h, PREFIX_BYTES, &got);

	if (rc)
		return rc;
	if (!got)
		return refuse(r, -EINVAL, "it is empty");
	if (memcmp(h->magic, BENCH_TRACE_MAGIC, got < sizeof(h->magic) ? got : sizeof(h->magic)))
		return refuse(r, -EINVAL, "it is no trace of wic");
	if (got == PREFIX_BYTES && h->version != BENCH_TRACE_VERSION)
		return refuse(r, -EINVAL,
			      "a trace of version %" PRIu32 ", this wic reads version %d",
			      h->version, BENCH_TRACE_VERSION);
	rc = take(r, (char *)h + got, sizeof(*h) - got, &more);
	if (rc)
		return rc;
	if (got + more != sizeof(*h))
		return refuse(r, -EINVAL, "cut off: %zu of the %zu bytes of its head are there",
			      got + more, sizeof(*h));
	return check_head(r, h);
}

static int check_events(const struct reader *r, const struct bench_trace *t)
{
	const struct wic_event *e = t->events;
	size_t bytes = t->head.event_count * sizeof(*e);

	if (t->head.events_sum != sum_of(e, bytes))
		return refuse(r, -EINVAL, "damaged: the sum of its events is wrong");
	for (uint64_t i = 0; i < t->head.event_count; i++) {
		if (e[i].kind < WIC_EVENT_COMPUTE || e[i].kind > WIC_EVENT_DONE)
			return refuse(r, -EINVAL, "damaged: event %" PRIu64 " is of kind %u", i,
				      e[i].kind);
		if (e[i].sm >= t->head.sms)
			return refuse(r, -EINVAL,
				      "damaged: event %" PRIu64 " is of SM %u of %" PRIu32, i,
				      e[i].sm, t->head.sms);
		if (e[i].time_ns < (i ? e[i - 1].time_ns : t->head.start_ns) ||
		    e[i].time_ns > t->head.end_ns)
			return refuse(r, -EINVAL, "damaged: event %" PRIu64 " is out of order", i);
	}
	return 0;
}

static int read_events(const struct reader *r, struct bench_trace *t)
{
	uint64_t count = t->head.event_count, have = 0;
	const size_t size = sizeof(*t->events);
	char byte;

	while (have < count) {
		size_t room = count - have < CHUNK_EVENTS ? count - have : CHUNK_EVENTS, got;
		struct wic_event *more;
		int rc;

		/* Twice as many each time: copying costs no more than reading. */
		if (room < have)
			room = count - have < have ? count - have : have;
		more = realloc(t->events, (have + room) * size);
		if (!more)
			return refuse(r, -ENOMEM, "no memory for %" PRIu64 " events", count);
		t->events = more;
		rc = take(r, &more[have], room * size, &got);
		if (rc)
			return rc;
		have += got / size;
		if (got != room * size)
			return refuse(r, -EINVAL, "cut off: %" PRIu64 " of %" PRIu64 " events",
				      have, count);
	}
	return fread(&byte, 1, 1, r->f)
		       ? refuse(r, -EINVAL,
				"damaged: bytes follow the last of its %" PRIu64 " events", count)
		       : check_events(r, t);
}

int bench_trace_read(FILE *f, struct bench_trace *t_out, char *why_out, size_t why_bytes)
{
	const struct reader r = { f, why_out, why_bytes };
	struct bench_trace t;
	int rc;

	memset(&t, 0, sizeof(t));
	*why_out = '\0';
	rc = read_head(&r, &t.head);
	if (!rc)
		rc = read_events(&r, &t);
	if (rc) {
		bench_trace_free(&t);
		return rc;
	}
	*t_out = t;
	return 0;
}

void bench_trace_free(struct bench_trace *t)
{
	free(t->events);
	t->events = NULL;
}
