/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the tests of the fake driver share: a driver and a current context to begin with, and
 * the check at the end that nothing was done wrong but what was meant to be.
 */
#ifndef WIC_TESTS_FAKECUDA_FIXTURE_H
#define WIC_TESTS_FAKECUDA_FIXTURE_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "backends/cuda/driver.h"
#include "tests/fakecuda/fakecuda.h"
#include "tests/test.h"

#define WORDS 64u
#define BYTES (WORDS * sizeof(uint64_t))

/* What each test begins with: a driver, a context that is current. */
static const struct wic_cuda_driver *d;

static inline void begin(void)
{
	struct wic_cu_context *context = NULL;

	fakecuda_reset();
	TEST_EQ(wic_cuda_driver_get(&d), 0);
	TEST_EQ(d->device_primary_ctx_retain(&context, 0), 0);
	TEST_EQ(d->ctx_push_current(context), 0);
}

static inline void expect_found(const char *text)
{
	char findings[2048];

	fakecuda_check(findings, sizeof(findings));
	TEST_STR_HAS(findings, text);
}

static inline void expect_findings(int count)
{
	char findings[2048];
	int found = fakecuda_check(findings, sizeof(findings));

	if (found != count)
		fprintf(stderr, "findings:\n%s", findings);
	TEST_EQ(found, count);
}

/* @findings: things that the test did wrong on purpose; nothing else, and nothing is left. */
static inline void end_with(int findings)
{
	TEST_EQ(d->ctx_pop_current(NULL), 0);
	TEST_EQ(d->device_primary_ctx_release(0), 0);
	expect_findings(findings);
	fakecuda_reset();
	expect_findings(0);
}

static inline void end(void)
{
	end_with(0);
}

static inline struct wic_cu_stream *stream(int priority)
{
	struct wic_cu_stream *s = NULL;

	TEST_EQ(d->stream_create_with_priority(&s, WIC_CU_STREAM_NON_BLOCKING, priority), 0);
	return s;
}

/* Words of pinned memory, zero. */
static inline uint64_t *words(void)
{
	void *memory = NULL;

	TEST_EQ(d->mem_host_alloc(&memory, BYTES, WIC_CU_HOST_PORTABLE | WIC_CU_HOST_DEVICEMAP), 0);
	memset(memory, 0, BYTES);
	return memory;
}

static inline uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Bounded by the time limit of the test program. */
static inline void until(const uint64_t *word, uint64_t value)
{
	while (load(word) < value)
		sched_yield();
}

#endif /* WIC_TESTS_FAKECUDA_FIXTURE_H */
