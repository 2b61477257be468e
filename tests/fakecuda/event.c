// SPDX-License-Identifier: MIT OR GPL-2.0
/* Events: each record is an object of its own, which who waits for it keeps. */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/fakecuda/fake.h"

struct wic_cu_event {
	struct wic_cu_event *next;
	struct wic_cu_context *context;
	unsigned int flags;
	struct fake_record *record; /* the last one, counted; NULL: never recorded */
};

static struct wic_cu_event *events; /* fake.lock; owned */

void fake_record_put(struct fake_record *record)
{
	if (!--record->references)
		free(record);
}

static struct wic_cu_event *event_at(struct wic_cu_event *handle)
{
	struct wic_cu_event *e = events;

	while (e && e != handle)
		e = e->next;
	if (!e)
		fake_misuse("0x%" PRIxPTR " is used as an event and is none", (uintptr_t)handle);
	return e;
}

static void event_end(struct wic_cu_event **link)
{
	struct wic_cu_event *e = *link;

	*link = e->next;
	if (e->record)
		fake_record_put(e->record);
	free(e);
}

uint32_t fake_events_drop(const struct wic_cu_context *context)
{
	struct wic_cu_event **link = &events;
	uint32_t count = 0;

	while (*link)
		if (context && (*link)->context != context) {
			link = &(*link)->next;
		} else {
			event_end(link);
			count++;
		}
	return count;
}

uint32_t fake_events_count(void)
{
	uint32_t count = 0;

	for (const struct wic_cu_event *e = events; e; e = e->next)
		count++;
	return count;
}

static int event_create(struct wic_cu_event **event_out, unsigned int flags)
{
	struct wic_cu_event *e;

	if (flags & ~(WIC_CU_EVENT_BLOCKING_SYNC | WIC_CU_EVENT_DISABLE_TIMING))
		return WIC_CU_INVALID_VALUE;
	e = calloc(1, sizeof(*e));
	if (!e)
		return WIC_CU_OUT_OF_MEMORY;
	e->context = fake_current();
	e->flags = flags;
	e->next = events;
	events = e;
	*event_out = e;
	return 0;
}

int cuEventCreate(struct wic_cu_event **event_out, unsigned int flags)
{
	int result = fake_enter(FAKE_cuEventCreate);

	return fake_leave(result ? result : event_create(event_out, flags));
}

static int event_record(struct wic_cu_event *handle, struct wic_cu_stream *stream_handle)
{
	struct fake_op op = { .kind = FAKE_OP_RECORD };
	struct wic_cu_event *e = event_at(handle);
	struct wic_cu_stream *s = fake_stream(stream_handle);
	int result;

	if (!e || !s)
		return FAKE_INVALID_HANDLE;
	if (e->context != s->context) {
		fake_misuse("an event is recorded in a stream of another context");
		return FAKE_INVALID_HANDLE;
	}
	op.record = calloc(1, sizeof(*op.record));
	if (!op.record)
		return WIC_CU_OUT_OF_MEMORY;
	op.record->references = 2;
	result = fake_submit(s, &op);
	if (result) {
		free(op.record);
		return result;
	}
	if (e->record)
		fake_record_put(e->record);
	e->record = op.record;
	return 0;
}

int cuEventRecord(struct wic_cu_event *event, struct wic_cu_stream *stream)
{
	int result = fake_enter(FAKE_cuEventRecord);

	return fake_leave(result ? result : event_record(event, stream));
}

static int wait_event(struct wic_cu_stream *stream_handle, struct wic_cu_event *handle)
{
	struct fake_op op = { .kind = FAKE_OP_WAIT_EVENT };
	const struct wic_cu_event *e = event_at(handle);
	struct wic_cu_stream *s = fake_stream(stream_handle);
	int result;

	if (!e || !s)
		return FAKE_INVALID_HANDLE;
	/* An event that was never recorded is one that has happened. */
	if (!e->record)
		return 0;
	op.record = e->record;
	op.record->references++;
	result = fake_submit(s, &op);
	if (result)
		fake_record_put(op.record);
	return result;
}

int cuStreamWaitEvent(struct wic_cu_stream *stream, struct wic_cu_event *event, unsigned int flags)
{
	int result = fake_enter(FAKE_cuStreamWaitEvent);

	if (!result && flags)
		result = WIC_CU_INVALID_VALUE;
	return fake_leave(result ? result : wait_event(stream, event));
}

int cuEventQuery(struct wic_cu_event *event)
{
	int result = fake_enter(FAKE_cuEventQuery);
	const struct wic_cu_event *e = result ? NULL : event_at(event);

	if (!result && !e)
		result = FAKE_INVALID_HANDLE;
	else if (!result && e->record && !e->record->is_done)
		result = WIC_CU_NOT_READY;
	return fake_leave(result);
}

static int elapsed(float *ms_out, struct wic_cu_event *from_handle, struct wic_cu_event *to_handle)
{
	const struct wic_cu_event *from = event_at(from_handle), *to = event_at(to_handle);

	if (!from || !to || (from->flags | to->flags) & WIC_CU_EVENT_DISABLE_TIMING)
		return FAKE_INVALID_HANDLE;
	if (!from->record || !to->record)
		return FAKE_INVALID_HANDLE;
	if (!from->record->is_done || !to->record->is_done)
		return WIC_CU_NOT_READY;
	*ms_out = (float)((double)(int64_t)(to->record->time_ns - from->record->time_ns) / 1e6);
	return 0;
}

int cuEventElapsedTime(float *ms_out, struct wic_cu_event *from, struct wic_cu_event *to)
{
	int result = fake_enter(FAKE_cuEventElapsedTime);

	return fake_leave(result ? result : elapsed(ms_out, from, to));
}

static int destroy(struct wic_cu_event *handle)
{
	struct wic_cu_event **link = &events;

	if (!event_at(handle))
		return FAKE_INVALID_HANDLE;
	while (*link != handle)
		link = &(*link)->next;
	event_end(link);
	return 0;
}

int cuEventDestroy_v2(struct wic_cu_event *event)
{
	int result = fake_enter(FAKE_cuEventDestroy_v2);
	int own = fake_acts() ? destroy(event) : 0;

	return fake_leave(result ? result : own);
}
