// SPDX-License-Identifier: MIT OR GPL-2.0
/* The state, how a call begins and ends, and what a test sets and asks. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/fakecuda/fake.h"

#define MISUSES 16
#define TEXT_BYTES 160
#define SETTLE_NS 20000000000u /* longer than any kernel of a test that means to end */

struct fake fake = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.version = 12040,
	.devices_count = 1,
	.memory_max = (size_t)1 << 30,
};

#define NAME(symbol, field, need) [FAKE_##symbol] = #symbol,
static const char *const names[] = { FAKE_CALLS(NAME) };

#define NEED(symbol, field, need) [FAKE_##symbol] = need,
static const enum fake_need needs[] = { FAKE_CALLS(NEED) };

static char misuses[MISUSES][TEXT_BYTES]; /* fake.lock */
static uint32_t misuses_count;

static __thread const char *forbidden_in;
static __thread bool acts;

static enum fake_call call_by_name(const char *name)
{
	for (int i = 0; i < FAKE_CALL_COUNT; i++)
		if (!strcmp(names[i], name))
			return (enum fake_call)i;
	fprintf(stderr, "fakecuda: no call %s\n", name);
	abort();
}

void fake_forbid_calls(const char *where)
{
	forbidden_in = where;
}

void fake_misuse(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (misuses_count < MISUSES)
		vsnprintf(misuses[misuses_count], TEXT_BYTES, fmt, args);
	misuses_count++;
	va_end(args);
}

uint64_t fake_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void fake_wait(void)
{
	pthread_cond_wait(&fake.changed, &fake.lock);
}

void fake_wait_ns(uint64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000u);
	t.tv_nsec = (long)(ns % 1000000000u);
	pthread_cond_timedwait(&fake.changed, &fake.lock, &t);
}

void fake_break(int result)
{
	/* Atomic for fakecuda_is_broken() alone, which kernels ask over and over. */
	if (!fake.sticky)
		__atomic_store_n(&fake.sticky, result, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&fake.changed);
}

static int injected(struct fake_call_state *c)
{
	if (!c->fail_in)
		return -1;
	if (c->fail_in > 1) {
		c->fail_in--;
		return -1;
	}
	if (c->how != FAKECUDA_FOR_GOOD)
		c->fail_in = 0;
	if (c->how == FAKECUDA_STICKY)
		fake_break(c->result);
	return c->result;
}

static int refusal(enum fake_call call)
{
	const struct wic_cu_context *current = fake_current();

	if (forbidden_in) {
		fake_misuse("%s is called in %s", names[call], forbidden_in);
		return FAKE_NOT_PERMITTED;
	}
	if (needs[call] != FAKE_NOTHING && !fake.is_initialized)
		return FAKE_NOT_INITIALIZED;
	if (needs[call] == FAKE_CONTEXT && !current)
		return FAKE_INVALID_CONTEXT;
	if (needs[call] == FAKE_CONTEXT && !current->retains)
		return FAKE_CONTEXT_IS_DESTROYED;
	return 0;
}

int fake_enter(enum fake_call call)
{
	struct fake_call_state *c = &fake.calls[call];
	int result, refused;

	pthread_mutex_lock(&fake.lock);
	c->calls++;
	fake.held++;
	while (c->is_held)
		fake_wait();
	fake.held--;
	refused = refusal(call);
	acts = !refused;
	if (fake.sticky && needs[call] != FAKE_NOTHING)
		return fake.sticky;
	result = injected(c);
	/* An injected success has to keep the call from doing anything too. */
	if (result >= 0)
		return result ? result : -1;
	return refused;
}

bool fake_acts(void)
{
	return acts;
}

int fake_leave(int result)
{
	pthread_cond_broadcast(&fake.changed);
	pthread_mutex_unlock(&fake.lock);
	return result < 0 ? 0 : result;
}

static bool is_settled(const struct wic_cu_context *context)
{
	for (const struct wic_cu_stream *s = fake.streams; s; s = s->next)
		if ((!context || s->context == context) && fake_stream_is_busy(s))
			return false;
	return true;
}

bool fake_settle(const struct wic_cu_context *context, const char *call)
{
	uint64_t deadline = fake_now_ns() + SETTLE_NS;

	if (is_settled(context))
		return true;
	fake.implicit_syncs++;
	while (!is_settled(context) && fake_now_ns() < deadline)
		fake_wait_ns(10000000);
	if (is_settled(context))
		return true;
	fake_misuse("%s waits for work that does not end", call);
	return false;
}

void fakecuda_reset(void)
{
	pthread_mutex_lock(&fake.lock);
	/* Whatever still waits for a value ends by this. */
	if (!is_settled(NULL))
		fake_break(FAKE_CONTEXT_IS_DESTROYED);
	while (!is_settled(NULL))
		fake_wait();
	fake_streams_drop(NULL);
	fake_streams_reap();
	fake_events_drop(NULL);
	fake_modules_drop(NULL);
	fake_memory_drop(NULL);
	fake_kernels_reset();
	fake_devices_reset();
	memset(fake.calls, 0, sizeof(fake.calls));
	__atomic_store_n(&fake.sticky, 0, __ATOMIC_RELEASE);
	fake.version = 12040;
	fake.devices_count = 1;
	fake.memory_max = (size_t)1 << 30;
	fake.resident_max = 0;
	fake.is_any_image = false;
	fake.implicit_syncs = 0;
	misuses_count = 0;
	pthread_cond_broadcast(&fake.changed);
	pthread_mutex_unlock(&fake.lock);
}

void fakecuda_fail(const char *call, uint64_t nth, int result, enum fakecuda_how how)
{
	struct fake_call_state *c = &fake.calls[call_by_name(call)];

	pthread_mutex_lock(&fake.lock);
	c->fail_in = nth;
	c->result = result;
	c->how = how;
	pthread_mutex_unlock(&fake.lock);
}

void fakecuda_break(int result)
{
	pthread_mutex_lock(&fake.lock);
	fake_break(result);
	pthread_mutex_unlock(&fake.lock);
}

bool fakecuda_is_broken(void)
{
	return __atomic_load_n(&fake.sticky, __ATOMIC_ACQUIRE);
}

static void set_held(const char *call, bool is_held)
{
	pthread_mutex_lock(&fake.lock);
	fake.calls[call_by_name(call)].is_held = is_held;
	pthread_cond_broadcast(&fake.changed);
	pthread_mutex_unlock(&fake.lock);
}

void fakecuda_hold(const char *call)
{
	set_held(call, true);
}

void fakecuda_let_go(const char *call)
{
	set_held(call, false);
}

uint32_t fakecuda_held(void)
{
	uint32_t held;

	pthread_mutex_lock(&fake.lock);
	held = fake.held;
	pthread_mutex_unlock(&fake.lock);
	return held;
}

const char *fakecuda_call(uint32_t i)
{
	return i < FAKE_CALL_COUNT ? names[i] : NULL;
}

uint64_t fakecuda_calls(const char *call)
{
	uint64_t sum = 0;

	pthread_mutex_lock(&fake.lock);
	for (int i = 0; i < FAKE_CALL_COUNT; i++)
		if (!call || i == (int)call_by_name(call))
			sum += fake.calls[i].calls;
	pthread_mutex_unlock(&fake.lock);
	return sum;
}

uint64_t fakecuda_implicit_syncs(void)
{
	uint64_t count;

	pthread_mutex_lock(&fake.lock);
	count = fake.implicit_syncs;
	pthread_mutex_unlock(&fake.lock);
	return count;
}

void fakecuda_set_version(int version)
{
	pthread_mutex_lock(&fake.lock);
	fake.version = version;
	pthread_mutex_unlock(&fake.lock);
}

void fakecuda_set_devices(int count)
{
	pthread_mutex_lock(&fake.lock);
	fake.devices_count = count < FAKECUDA_DEVICES_MAX ? count : FAKECUDA_DEVICES_MAX;
	pthread_mutex_unlock(&fake.lock);
}

void fakecuda_set_memory(size_t bytes)
{
	pthread_mutex_lock(&fake.lock);
	fake.memory_max = bytes;
	pthread_mutex_unlock(&fake.lock);
}

void fakecuda_set_resident_blocks(uint32_t blocks)
{
	pthread_mutex_lock(&fake.lock);
	fake.resident_max = blocks;
	pthread_cond_broadcast(&fake.changed);
	pthread_mutex_unlock(&fake.lock);
}

void fakecuda_set_any_image(bool is_any)
{
	pthread_mutex_lock(&fake.lock);
	fake.is_any_image = is_any;
	pthread_mutex_unlock(&fake.lock);
}

struct report {
	char *text;
	size_t bytes;
	size_t used;
	int findings;
};

static void report_line(struct report *r, const char *line)
{
	size_t length = strlen(line);

	r->findings++;
	if (r->used + length + 2 > r->bytes)
		return;
	memcpy(r->text + r->used, line, length);
	r->used += length;
	r->text[r->used++] = '\n';
	r->text[r->used] = 0;
}

static void report_count(struct report *r, uint32_t count, const char *what)
{
	char line[TEXT_BYTES];

	if (!count)
		return;
	snprintf(line, sizeof(line), "not given back: %u %s", count, what);
	report_line(r, line);
}

int fakecuda_check(char *text_out, size_t bytes)
{
	struct report r = { .text = text_out, .bytes = bytes };
	uint32_t retains = 0;

	if (bytes)
		text_out[0] = 0;
	pthread_mutex_lock(&fake.lock);
	for (uint32_t i = 0; i < misuses_count; i++)
		report_line(&r, i < MISUSES ? misuses[i] : "one more, without a text");
	for (int i = 0; i < FAKECUDA_DEVICES_MAX; i++)
		retains += fake.devices[i].context.retains;
	report_count(&r, fake_memory_count(false), "allocations of device memory");
	report_count(&r, fake_memory_count(true), "allocations of pinned memory");
	report_count(&r, fake_streams_count(), "streams");
	report_count(&r, fake_events_count(), "events");
	report_count(&r, fake_modules_count(), "modules");
	report_count(&r, retains, "references to primary contexts");
	pthread_mutex_unlock(&fake.lock);
	return r.findings;
}
