/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A line holds a text of back-end, channel, tag, epochs and warp with room to spare. */
#define LINE_BYTES 512

typedef void sink_fn(void *arg, int level, const char *line);

/*
 * The sink is read-locked while it runs, so that wic_close() cannot take it away
 * under another thread's line; readers may nest, so a sink may call into WIC.
 */
static pthread_rwlock_t sink_lock = PTHREAD_RWLOCK_INITIALIZER;
static sink_fn *sink; /* NULL: stderr; sink_lock */
static void *sink_arg;
static sink_fn *base_sink; /* what wic_log_set() gave; sink_lock */
static void *base_arg;

/* Relaxed: a line more or less while the level changes does no harm. */
#define LEVEL_UNSET (-1)
static int level_now = LEVEL_UNSET;
static bool level_is_explicit;

static __thread char last_error[LINE_BYTES];

static const char *const level_names[] = { "error", "warn", "info", "debug" };

int wic_log_parse_level(const char *text)
{
	for (int i = 0; i <= WIC_LOG_DEBUG; i++)
		if (!strcmp(text, level_names[i]))
			return i;
	return -EINVAL;
}

void wic_log_set(sink_fn *new_sink, void *arg)
{
	pthread_rwlock_wrlock(&sink_lock);
	base_sink = new_sink;
	base_arg = arg;
	sink = new_sink;
	sink_arg = arg;
	pthread_rwlock_unlock(&sink_lock);
}

void wic_log_use(sink_fn *new_sink, void *arg)
{
	pthread_rwlock_wrlock(&sink_lock);
	sink = new_sink ? new_sink : base_sink;
	sink_arg = new_sink ? arg : base_arg;
	pthread_rwlock_unlock(&sink_lock);
}

void wic_log_after_fork(void)
{
	/* A parent's thread may have held it; that thread does not exist here. */
	sink_lock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	sink = base_sink;
	sink_arg = base_arg;
}

void wic_log_set_level(enum wic_log_level level)
{
	__atomic_store_n(&level_is_explicit, true, __ATOMIC_RELAXED);
	__atomic_store_n(&level_now, (int)level, __ATOMIC_RELAXED);
}

void wic_log_read_level(void)
{
	const char *text = getenv("WIC_LOG");
	int level = text && *text ? wic_log_parse_level(text) : WIC_LOG_WARN;

	if (__atomic_load_n(&level_is_explicit, __ATOMIC_RELAXED))
		return;
	/* A malformed value is wic_open()'s to refuse. */
	__atomic_store_n(&level_now, level < 0 ? WIC_LOG_WARN : level, __ATOMIC_RELAXED);
}

bool wic_log_is_on(enum wic_log_level level)
{
	if (__atomic_load_n(&level_now, __ATOMIC_RELAXED) == LEVEL_UNSET)
		wic_log_read_level();
	return (int)level <= __atomic_load_n(&level_now, __ATOMIC_RELAXED);
}

static void put_line(enum wic_log_level level, const char *line)
{
	pthread_rwlock_rdlock(&sink_lock);
	if (sink)
		sink(sink_arg, (int)level, line);
	else
		fprintf(stderr, "wic: %s: %s\n", level_names[level], line);
	pthread_rwlock_unlock(&sink_lock);
}

void wic_log(enum wic_log_level level, const char *fmt, ...)
{
	int errno_before = errno;
	char line[LINE_BYTES];
	va_list args;

	if (!wic_log_is_on(level))
		return;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	put_line(level, line);
	errno = errno_before;
}

int wic_fail(int rc, const char *fmt, ...)
{
	int errno_before = errno;
	char line[LINE_BYTES]; /* the arguments may point into last_error */
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	memcpy(last_error, line, strlen(line) + 1);
	if (wic_log_is_on(WIC_LOG_INFO))
		put_line(WIC_LOG_INFO, line);
	errno = errno_before;
	return rc;
}

const char *wic_last_error(void)
{
	return last_error;
}

uint64_t wic_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t wic_deadline_ns(uint64_t now_ns, uint64_t timeout_ns)
{
	uint64_t deadline_ns;

	if (__builtin_add_overflow(now_ns, timeout_ns, &deadline_ns))
		return WIC_FOREVER;
	return deadline_ns;
}
