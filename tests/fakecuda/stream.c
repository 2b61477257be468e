// SPDX-License-Identifier: MIT OR GPL-2.0
/* Streams: FIFOs of operations, each with a thread of its own once it has an operation. */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/fakecuda/fake.h"

#define VALUE_LOOK_NS 20000 /* between two looks at a word that is waited for */

bool fake_stream_is_busy(const struct wic_cu_stream *stream)
{
	return stream->is_busy || stream->first;
}

static struct wic_cu_stream *stream_new(struct wic_cu_context *context, unsigned int flags,
					int priority)
{
	struct wic_cu_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->context = context;
	s->flags = flags;
	s->priority = priority;
	s->next = fake.streams;
	fake.streams = s;
	return s;
}

/* Off the list, by its own thread or where it has none. */
static void stream_end(struct wic_cu_stream *stream)
{
	struct wic_cu_stream **link = &fake.streams;

	while (*link != stream)
		link = &(*link)->next;
	*link = stream->next;
	if (!stream->has_thread) {
		free(stream);
		return;
	}
	stream->next = fake.ended;
	fake.ended = stream;
}

void fake_streams_reap(void)
{
	while (fake.ended) {
		struct wic_cu_stream *s = fake.ended;

		fake.ended = s->next;
		pthread_mutex_unlock(&fake.lock);
		pthread_join(s->thread, NULL);
		pthread_mutex_lock(&fake.lock);
		free(s);
	}
}

static bool is_null_stream(const struct wic_cu_stream *stream)
{
	return stream->context->null_stream == stream;
}

static void stream_destroy(struct wic_cu_stream *stream)
{
	if (is_null_stream(stream))
		stream->context->null_stream = NULL;
	stream->is_destroyed = true;
	if (!stream->has_thread)
		stream_end(stream);
	pthread_cond_broadcast(&fake.changed);
}

uint32_t fake_streams_drop(const struct wic_cu_context *context)
{
	uint32_t count = 0;
	struct wic_cu_stream *next;

	for (struct wic_cu_stream *s = fake.streams; s; s = next) {
		next = s->next;
		if ((context && s->context != context) || s->is_destroyed)
			continue;
		count += !is_null_stream(s);
		stream_destroy(s);
	}
	/* Those with a thread are gone when it says so. */
	for (struct wic_cu_stream *s = fake.streams; s;)
		if (!context || s->context == context) {
			fake_wait();
			s = fake.streams;
		} else {
			s = s->next;
		}
	return count;
}

uint32_t fake_streams_count(void)
{
	uint32_t count = 0;

	for (const struct wic_cu_stream *s = fake.streams; s; s = s->next)
		count += !s->is_destroyed && !is_null_stream(s);
	return count;
}

size_t fakecuda_streams(struct fakecuda_stream *streams_out, size_t max)
{
	size_t count = 0;

	pthread_mutex_lock(&fake.lock);
	for (const struct wic_cu_stream *s = fake.streams; s; s = s->next) {
		if (s->is_destroyed || is_null_stream(s))
			continue;
		if (count < max)
			streams_out[count] = (struct fakecuda_stream){
				.priority = s->priority,
				.flags = s->flags,
				.is_busy = fake_stream_is_busy(s),
			};
		count++;
	}
	pthread_mutex_unlock(&fake.lock);
	return count;
}

struct wic_cu_stream *fake_stream(struct wic_cu_stream *handle)
{
	struct wic_cu_context *c = fake_current();
	struct wic_cu_stream *s = fake.streams;

	if (!handle) {
		if (!c->null_stream)
			c->null_stream = stream_new(c, 0, 0);
		return c->null_stream;
	}
	while (s && (s != handle || s->is_destroyed))
		s = s->next;
	if (!s)
		fake_misuse("0x%" PRIxPTR " is used as a stream and is none", (uintptr_t)handle);
	return s;
}

static bool value_is_there(const struct fake_op *op)
{
	const uint64_t *word = (const uint64_t *)(uintptr_t)op->to;
	uint64_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	switch (op->flags & 3) {
	case 0:
		return (int64_t)(seen - op->value) >= 0;
	case 1:
		return seen == op->value;
	case 2:
		return seen & op->value;
	default:
		return ~(seen | op->value);
	}
}

/* Without the lock: what may take long and what is not the fake's. */
static void run_unlocked(const struct fake_op *op)
{
	pthread_mutex_unlock(&fake.lock);
	if (op->kind == FAKE_OP_COPY) {
		if (op->bytes)
			fake_copy(op->to, op->from, op->bytes);
	} else {
		fake_forbid_calls("a host function");
		op->run(op->arg);
		fake_forbid_calls(NULL);
	}
	pthread_mutex_lock(&fake.lock);
}

static void op_run(struct fake_op *op)
{
	switch (op->kind) {
	case FAKE_OP_COPY:
	case FAKE_OP_HOST:
		run_unlocked(op);
		break;
	case FAKE_OP_RECORD:
		op->record->is_done = true;
		op->record->time_ns = fake_now_ns();
		break;
	case FAKE_OP_WAIT_EVENT:
		while (!op->record->is_done && !fake.sticky)
			fake_wait();
		break;
	case FAKE_OP_WAIT_VALUE:
		while (!value_is_there(op) && !fake.sticky)
			fake_wait_ns(VALUE_LOOK_NS);
		break;
	case FAKE_OP_WRITE_VALUE:
		__atomic_store_n((uint64_t *)(uintptr_t)op->to, op->value, __ATOMIC_RELEASE);
		break;
	case FAKE_OP_KERNEL:
		fake_launch_run(op->launch);
		break;
	}
}

static void op_free(struct fake_op *op)
{
	if (op->record)
		fake_record_put(op->record);
	if (op->launch)
		fake_launch_free(op->launch);
	free(op);
}

static void *stream_thread(void *arg)
{
	struct wic_cu_stream *s = arg;

	pthread_mutex_lock(&fake.lock);
	while (s->first || !s->is_destroyed) {
		struct fake_op *op = s->first;

		if (!op) {
			fake_wait();
			continue;
		}
		s->first = op->next;
		s->is_busy = true;
		/* After a sticky error nothing runs any more, as on a device that is lost. */
		if (!fake.sticky)
			op_run(op);
		s->is_busy = false;
		op_free(op);
		pthread_cond_broadcast(&fake.changed);
	}
	stream_end(s);
	pthread_cond_broadcast(&fake.changed);
	pthread_mutex_unlock(&fake.lock);
	return NULL;
}

int fake_submit(struct wic_cu_stream *stream, const struct fake_op *op)
{
	struct fake_op *copy = malloc(sizeof(*copy));

	if (!copy)
		return WIC_CU_OUT_OF_MEMORY;
	*copy = *op;
	copy->next = NULL;
	if (!stream->has_thread) {
		if (pthread_create(&stream->thread, NULL, stream_thread, stream)) {
			free(copy);
			return WIC_CU_OUT_OF_MEMORY;
		}
		stream->has_thread = true;
	}
	if (stream->first)
		stream->last->next = copy;
	else
		stream->first = copy;
	stream->last = copy;
	pthread_cond_broadcast(&fake.changed);
	return 0;
}

static int stream_create(struct wic_cu_stream **stream_out, unsigned int flags, int priority)
{
	struct wic_cu_stream *s;

	if (flags & ~WIC_CU_STREAM_NON_BLOCKING)
		return WIC_CU_INVALID_VALUE;
	/* A priority that is out of range is clamped, says the driver's manual. */
	if (priority > 0)
		priority = 0;
	if (priority < FAKE_PRIORITY_GREATEST)
		priority = FAKE_PRIORITY_GREATEST;
	s = stream_new(fake_current(), flags, priority);
	if (!s)
		return WIC_CU_OUT_OF_MEMORY;
	*stream_out = s;
	return 0;
}

int cuStreamCreateWithPriority(struct wic_cu_stream **stream_out, unsigned int flags, int priority)
{
	int result = fake_enter(FAKE_cuStreamCreateWithPriority);

	return fake_leave(result ? result : stream_create(stream_out, flags, priority));
}

static int destroy(struct wic_cu_stream *handle)
{
	struct wic_cu_stream *s = handle ? fake_stream(handle) : NULL;

	if (!s)
		return FAKE_INVALID_HANDLE;
	stream_destroy(s);
	return 0;
}

int cuStreamDestroy_v2(struct wic_cu_stream *stream)
{
	int result = fake_enter(FAKE_cuStreamDestroy_v2);
	int own = fake_acts() ? destroy(stream) : 0;

	return fake_leave(result ? result : own);
}

int cuStreamQuery(struct wic_cu_stream *stream)
{
	int result = fake_enter(FAKE_cuStreamQuery);
	const struct wic_cu_stream *s = result ? NULL : fake_stream(stream);

	if (!result && !s)
		result = FAKE_INVALID_HANDLE;
	else if (!result && fake_stream_is_busy(s))
		result = WIC_CU_NOT_READY;
	return fake_leave(result);
}

/* Whether the stream has done what it had; looked up again, as another may destroy it. */
static bool is_done(const struct wic_cu_stream *stream)
{
	for (const struct wic_cu_stream *s = fake.streams; s; s = s->next)
		if (s == stream)
			return !fake_stream_is_busy(s);
	return true;
}

int cuStreamSynchronize(struct wic_cu_stream *stream)
{
	int result = fake_enter(FAKE_cuStreamSynchronize);
	const struct wic_cu_stream *s = result ? NULL : fake_stream(stream);

	if (!result && !s)
		result = FAKE_INVALID_HANDLE;
	while (!result && !is_done(s)) {
		fake_wait();
		result = fake.sticky;
	}
	return fake_leave(result);
}

static int value_submit(const char *call, struct wic_cu_stream *handle, const struct fake_op *op)
{
	const struct fake_device *d = &fake.devices[fake_current()->device];
	struct wic_cu_stream *s = fake_stream(handle);

	if (!s)
		return FAKE_INVALID_HANDLE;
	if (!d->attributes[WIC_CU_DEVICE_STREAM_MEM_OPS_64])
		return FAKE_NOT_SUPPORTED;
	if (op->to % 8 || !fake_memory_has(op->to, 8, true)) {
		fake_misuse("%s: 0x%" PRIx64 " is not a word of the device's", call, op->to);
		return WIC_CU_INVALID_VALUE;
	}
	return fake_submit(s, op);
}

int cuStreamWaitValue64_v2(struct wic_cu_stream *stream, uint64_t address, uint64_t value,
			   unsigned int flags)
{
	struct fake_op op = { .kind = FAKE_OP_WAIT_VALUE, .to = address, .value = value };
	int result = fake_enter(FAKE_cuStreamWaitValue64_v2);

	op.flags = flags;
	if (!result && flags & ~(3u | WIC_CU_WAIT_VALUE_FLUSH))
		result = WIC_CU_INVALID_VALUE;
	return fake_leave(result ? result : value_submit("cuStreamWaitValue64_v2", stream, &op));
}

int cuStreamWriteValue64_v2(struct wic_cu_stream *stream, uint64_t address, uint64_t value,
			    unsigned int flags)
{
	struct fake_op op = { .kind = FAKE_OP_WRITE_VALUE, .to = address, .value = value };
	int result = fake_enter(FAKE_cuStreamWriteValue64_v2);

	if (!result && flags > 1)
		result = WIC_CU_INVALID_VALUE;
	return fake_leave(result ? result : value_submit("cuStreamWriteValue64_v2", stream, &op));
}

static int host_submit(struct wic_cu_stream *handle, void (*run)(void *arg), void *arg)
{
	struct fake_op op = { .kind = FAKE_OP_HOST, .run = run, .arg = arg };
	struct wic_cu_stream *s = fake_stream(handle);

	if (!s)
		return FAKE_INVALID_HANDLE;
	return run ? fake_submit(s, &op) : WIC_CU_INVALID_VALUE;
}

int cuLaunchHostFunc(struct wic_cu_stream *stream, void (*run)(void *arg), void *arg)
{
	int result = fake_enter(FAKE_cuLaunchHostFunc);

	return fake_leave(result ? result : host_submit(stream, run, arg));
}
