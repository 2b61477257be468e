// SPDX-License-Identifier: MIT OR GPL-2.0
/* Bad input to contexts, launches, statistics and error texts. */
#include <limits.h>
#include <string.h>

#include "tests/conform/bad_input.h"

static void strerror_any(struct bad_env *e)
{
	BAD_WANT(true, strlen(wic_strerror(1)) > 0);
	BAD_WANT(true, strlen(wic_strerror(INT_MIN)) > 0);
	BAD_WANT(true, strlen(wic_strerror(INT_MAX)) > 0);
	BAD_WANT(true, wic_strerror(-EIO) == wic_strerror(-EIO));
}

static void last_error_any(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_publish(NULL, 0, 1));
	BAD_WANT(true, strlen(wic_last_error()) > 0);
	BAD_WANT(true, wic_last_error() == wic_last_error());
}

static struct wic_config small(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	cfg.sms = 1;
	cfg.pool_pages = BAD_POOL_PAGES;
	return cfg;
}

static void open_null(struct bad_env *e)
{
	struct wic_config cfg = small();

	BAD_WANT(-EINVAL, wic_open(&cfg, NULL));
}

static void open_kind(struct bad_env *e)
{
	struct wic_config cfg = small();

	cfg.backend = "nonesuch";
	BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
	cfg.backend = "sim";
	BAD_WANT(-ENOTSUP, wic_open(&cfg, &e->out.w));
}

static void open_range(struct bad_env *e)
{
	struct wic_config cfg = small();

	cfg.pool_pages = 17;
	BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
	cfg = small();
	cfg.devices = 17;
	BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
	cfg = small();
	cfg.mechanism = 99;
	BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
	cfg = small();
	cfg.close_batch = BAD_POOL_PAGES;
	BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
}

static void open_sizes(struct bad_env *e)
{
	struct wic_config cfg = small();
	const uint64_t sizes[] = { 0, 7, 1u << 20, UINT64_MAX };

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		cfg.size_bytes = sizes[i];
		BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
	}
	cfg = small();
	cfg.sms = cfg.sm_warps = cfg.sm_blocks = cfg.stack_bytes = UINT32_MAX;
	BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
	cfg = small();
	cfg.pool_pages = UINT32_MAX - 1;
	BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
	cfg = small();
	cfg.devices = 16;
	cfg.pool_pages = 1u << 21;
	BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
}

static void open_refused(struct bad_env *e)
{
	struct wic_config cfg = small();

	BAD_WANT(-EINVAL, wic_open(&cfg, &e->out.w));
}

static void open_another(struct bad_env *e)
{
	struct wic_config cfg = small();
	struct wic *w = NULL;

	BAD_WANT(0, wic_open(&cfg, &w));
	wic_close(w);
}

static void open_in_child(struct bad_env *e)
{
#ifdef __SANITIZE_THREAD__
	(void)e; /* which lets a child of a process with threads start none */
#else
	open_another(e);
#endif
}

static void close_null(struct bad_env *e)
{
	BAD_LOGS(0, wic_close(NULL));
}

static void close_kind(struct bad_env *e)
{
	BAD_LOGS(1, wic_close((struct wic *)e->ch));
}

static void close_closed(struct bad_env *e)
{
	BAD_LOGS(1, wic_close(e->closed));
}

static void close_twice(struct bad_env *e)
{
	struct wic_config cfg = small();
	struct wic *w = NULL;

	BAD_WANT(0, wic_open(&cfg, &w));
	BAD_LOGS(0, wic_close(w));
	BAD_LOGS(1, wic_close(w));
}

static void close_refused(struct bad_env *e)
{
	BAD_LOGS(1, wic_close(e->w));
}

static void describe_null(struct bad_env *e)
{
	BAD_WANT(true, wic_describe(NULL) == NULL);
}

static void describe_any(struct bad_env *e)
{
	BAD_WANT(true, strstr(wic_describe(e->w), "cpu") != NULL);
	BAD_WANT(true, wic_describe(e->w) == wic_describe(e->w));
}

static void stats_null(struct bad_env *e)
{
	struct wic_stats s = WIC_STATS_INIT;

	BAD_WANT(-EINVAL, wic_stats_get(NULL, &s));
	BAD_WANT(-EINVAL, wic_stats_get(e->w, NULL));
}

static void stats_kind(struct bad_env *e)
{
	struct wic_stats s = WIC_STATS_INIT;

	BAD_WANT(-EINVAL, wic_stats_get((struct wic *)e->ch, &s));
}

static void stats_range(struct bad_env *e)
{
	struct wic_stats s = { .size_bytes = 7, .requests = 77 };

	BAD_WANT(-EINVAL, wic_stats_get(e->w, &s));
	BAD_WANT(7, s.size_bytes);
	BAD_WANT(77, s.requests);
}

/* What the caller knows and the library does not is left alone. */
static void stats_sizes(struct bad_env *e)
{
	struct {
		struct wic_stats s;
		uint64_t after;
	} x = { .s = { .size_bytes = UINT64_MAX }, .after = 77 };

	BAD_WANT(0, wic_stats_get(e->w, &x.s));
	BAD_WANT(77, x.after);
	BAD_WANT(true, x.s.size_bytes == UINT64_MAX);
}

static void stats_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_stats_get(e->closed, &e->out.stats));
}

static void stats_twice(struct bad_env *e)
{
	struct wic_stats a = WIC_STATS_INIT, b = WIC_STATS_INIT;

	BAD_WANT(0, wic_stats_get(e->w, &a));
	BAD_WANT(0, wic_stats_get(e->w, &b));
	BAD_WANT(a.requests, b.requests);
}

static void stats_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_stats_get(e->w, &e->out.stats));
}

static void events_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_events_read(NULL, &e->out.event, 1, &e->out.count));
	BAD_WANT(-EINVAL, wic_events_read(e->w, NULL, 1, &e->out.count));
	BAD_WANT(-EINVAL, wic_events_read(e->w, &e->out.event, 1, NULL));
}

static void events_kind(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_events_read((struct wic *)e->ch, &e->out.event, 1, &e->out.count));
	BAD_WANT(-ENOTSUP, wic_events_read(e->other, &e->out.event, 1, &e->out.count));
}

static void events_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_events_read(e->closed, &e->out.event, 1, &e->out.count));
}

static void events_twice(struct bad_env *e)
{
	struct wic_event events[64];
	size_t count = 0;

	BAD_WANT(0, wic_events_read(e->w, events, 64, &count));
	BAD_WANT(0, wic_events_read(e->w, events, 64, &count));
	BAD_WANT(0, count);
}

static void events_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_events_read(e->w, &e->out.event, 1, &e->out.count));
}

static void cancel_null(struct bad_env *e)
{
	BAD_LOGS(0, wic_cancel(NULL));
	BAD_LOGS(0, wic_cancel_clear(NULL));
}

static void cancel_twice(struct bad_env *e)
{
	wic_cancel(e->w);
	wic_cancel(e->w);
	BAD_WANT(-ECANCELED, wic_host_wait(e->to_host, 1, 1, BAD_WAIT));
	wic_cancel_clear(e->w);
	wic_cancel_clear(e->w);
	BAD_WANT(-ETIMEDOUT, wic_host_wait(e->to_host, 1, 1, 1));
}

static void cancel_in_kernel(struct bad_env *e)
{
	wic_cancel(e->w);
	BAD_WANT(-ECANCELED, wic_wait(&e->h_signals, NULL, 0, WIC_EPOCH_LAST, BAD_WAIT));
	wic_cancel_clear(e->w);
	BAD_WANT(-EAGAIN, wic_wait(&e->h_signals, NULL, 0, WIC_EPOCH_LAST, 0));
}

static void cancel_and_clear(struct bad_env *e)
{
	wic_cancel(e->w);
	wic_cancel_clear(e->w);
}

/* Which the parent does not see: the runner's exchange waits. */
static void cancel_in_child(struct bad_env *e)
{
	BAD_LOGS(0, wic_cancel(e->w));
}

static void waiters_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_waiters(NULL, &e->out.waiter, 1, &e->out.count));
	BAD_WANT(-EINVAL, wic_waiters(e->w, NULL, 1, &e->out.count));
	BAD_WANT(-EINVAL, wic_waiters(e->w, &e->out.waiter, 1, NULL));
}

static void waiters_kind(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_waiters((struct wic *)e->ch, &e->out.waiter, 1, &e->out.count));
}

static void waiters_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_waiters(e->closed, &e->out.waiter, 1, &e->out.count));
}

static void waiters_twice(struct bad_env *e)
{
	size_t count = 77;

	BAD_WANT(0, wic_waiters(e->w, NULL, 0, &count));
	BAD_WANT(0, wic_waiters(e->w, &e->out.waiter, 1, &count));
	BAD_WANT(0, count);
}

static void waiters_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_waiters(e->w, &e->out.waiter, 1, &e->out.count));
}

static void nothing_kernel(const void *arg)
{
	(void)arg;
}

static void spin_kernel(const void *arg)
{
	while (!__atomic_load_n((const uint32_t *)arg, __ATOMIC_ACQUIRE))
		wic_look();
}

static struct wic_launch_desc nothing(void)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;

	l.kernel = nothing_kernel;
	return l;
}

static void launch_null(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();

	BAD_WANT(-EINVAL, wic_launch(NULL, &l));
	BAD_WANT(-EINVAL, wic_launch(e->w, NULL));
	l.kernel = NULL;
	BAD_WANT(-EINVAL, wic_launch(e->w, &l));
}

static void launch_kind(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();

	BAD_WANT(-EINVAL, wic_launch((struct wic *)e->ch, &l));
	l.device = WIC_HOST;
	BAD_WANT(-EINVAL, wic_launch(e->w, &l));
}

static void launch_range(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();

	l.device = WIC_GPU(1);
	BAD_WANT(-EINVAL, wic_launch(e->w, &l));
	l = nothing();
	l.grid_blocks = 0;
	BAD_WANT(-EINVAL, wic_launch(e->w, &l));
	l = nothing();
	l.block_threads = 0;
	BAD_WANT(-EINVAL, wic_launch(e->w, &l));
	l = nothing();
	l.shared_bytes = (1u << 20) + 1;
	BAD_WANT(-EINVAL, wic_launch(e->w, &l));
}

static void launch_sizes(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();
	const uint64_t sizes[] = { 0, 8, 1u << 20, UINT64_MAX };

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		l.size_bytes = sizes[i];
		BAD_WANT(-EINVAL, wic_launch(e->w, &l));
	}
	l = nothing();
	l.grid_blocks = l.block_threads = UINT32_MAX;
	BAD_WANT(-EINVAL, wic_launch(e->w, &l));
	l.grid_blocks = 1;
	BAD_WANT(-E2BIG, wic_launch(e->w, &l));
	l = nothing();
	l.shared_bytes = UINT32_MAX;
	BAD_WANT(-EINVAL, wic_launch(e->w, &l));
}

static void launch_closed(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();

	BAD_WANT(-EINVAL, wic_launch(e->closed, &l));
}

static void launch_twice(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();
	uint32_t go = 0;

	l.kernel = spin_kernel;
	l.args = &go;
	BAD_WANT(0, wic_launch(e->w, &l));
	BAD_WANT(-EBUSY, wic_launch(e->w, &l));
	BAD_WANT(-ETIMEDOUT, wic_sync(e->w, 0));
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	BAD_WANT(0, wic_sync(e->w, BAD_WAIT));
}

static void launch_refused(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();

	BAD_WANT(-EINVAL, wic_launch(e->w, &l));
}

static void check_null(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();
	struct wic_fit fit = WIC_FIT_INIT;

	BAD_WANT(-EINVAL, wic_check(NULL, &l, &fit));
	BAD_WANT(-EINVAL, wic_check(e->w, NULL, &fit));
	BAD_WANT(-EINVAL, wic_check(e->w, &l, NULL));
	l.kernel = NULL;
	BAD_WANT(-EINVAL, wic_check(e->w, &l, &fit));
}

static void check_kind(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();
	struct wic_fit fit = WIC_FIT_INIT;

	BAD_WANT(-EINVAL, wic_check((struct wic *)e->ch, &l, &fit));
	l.device = WIC_HOST;
	BAD_WANT(-EINVAL, wic_check(e->w, &l, &fit));
}

static void check_range(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();
	struct wic_fit fit = { .size_bytes = sizeof(fit) - 1, .sm_blocks = 77 };

	BAD_WANT(-EINVAL, wic_check(e->w, &l, &fit));
	fit.size_bytes = sizeof(fit);
	l.device = WIC_GPU(1);
	BAD_WANT(-EINVAL, wic_check(e->w, &l, &fit));
	l = nothing();
	l.grid_blocks = 0;
	BAD_WANT(-EINVAL, wic_check(e->w, &l, &fit));
	l = nothing();
	l.block_threads = 0;
	BAD_WANT(-EINVAL, wic_check(e->w, &l, &fit));
	BAD_WANT(77, fit.sm_blocks);
}

/* What the caller knows and the library does not is left alone. */
static void check_sizes(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();
	struct {
		struct wic_fit fit;
		uint64_t beyond;
	} s = { { .size_bytes = UINT64_MAX, .sm_blocks = 77 }, 77 };

	l.block_threads = UINT32_MAX;
	BAD_WANT(-E2BIG, wic_check(e->w, &l, &s.fit));
	l.grid_blocks = UINT32_MAX;
	BAD_WANT(-EINVAL, wic_check(e->w, &l, &s.fit));
	l = nothing();
	l.size_bytes = UINT64_MAX;
	BAD_WANT(-EINVAL, wic_check(e->w, &l, &s.fit));
	BAD_WANT(77, s.fit.sm_blocks);
	l = nothing();
	BAD_WANT(0, wic_check(e->w, &l, &s.fit));
	BAD_WANT(true, s.fit.size_bytes == UINT64_MAX && s.beyond == 77);
}

static void check_closed(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();
	struct wic_fit fit = WIC_FIT_INIT;

	BAD_WANT(-EINVAL, wic_check(e->closed, &l, &fit));
}

static void check_twice(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();
	struct wic_fit fit = WIC_FIT_INIT, again = WIC_FIT_INIT;

	BAD_WANT(0, wic_check(e->w, &l, &fit));
	BAD_WANT(0, wic_check(e->w, &l, &again));
	BAD_WANT(0, memcmp(&fit, &again, sizeof(fit)));
}

static void check_refused(struct bad_env *e)
{
	struct wic_launch_desc l = nothing();
	struct wic_fit fit = WIC_FIT_INIT;

	BAD_WANT(-EINVAL, wic_check(e->w, &l, &fit));
}

static void word_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_check_word(NULL, &e->serial));
	BAD_WANT(-EINVAL, wic_check_word(e->w, NULL));
}

static void word_kind(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_check_word((struct wic *)e->ch, &e->serial));
}

static void word_range(struct bad_env *e)
{
	for (uintptr_t i = 1; i < 8; i++)
		BAD_WANT(-EINVAL,
			 wic_check_word(e->w, (const uint64_t *)((uintptr_t)&e->serial + i)));
}

static void word_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_check_word(e->closed, &e->serial));
}

static void word_twice(struct bad_env *e)
{
	BAD_WANT(0, wic_check_word(e->w, &e->serial));
	BAD_WANT(0, wic_check_word(e->w, &e->serial));
}

static void word_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_check_word(e->w, &e->serial));
}

static void sync_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_sync(NULL, 0));
	BAD_WANT(-EINVAL, wic_sync_device(NULL, WIC_GPU(0), 0));
}

static void sync_kind(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_sync((struct wic *)e->ch, 0));
	BAD_WANT(-EINVAL, wic_sync_device((struct wic *)e->ch, WIC_GPU(0), 0));
	BAD_WANT(-EINVAL, wic_sync_device(e->w, WIC_HOST, 0));
}

static void sync_range(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_sync_device(e->w, WIC_GPU(1), 0));
}

static void sync_sizes(struct bad_env *e)
{
	BAD_WANT(0, wic_sync(e->w, UINT64_MAX - 1));
	BAD_WANT(0, wic_sync_device(e->w, WIC_GPU(0), UINT64_MAX - 1));
}

static void sync_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_sync(e->closed, 0));
	BAD_WANT(-EINVAL, wic_sync_device(e->closed, WIC_GPU(0), 0));
}

static void sync_twice(struct bad_env *e)
{
	BAD_WANT(0, wic_sync(e->w, 0));
	BAD_WANT(0, wic_sync(e->w, 0));
	BAD_WANT(0, wic_sync_device(e->w, WIC_GPU(0), 0));
	BAD_WANT(0, wic_sync_device(e->w, WIC_GPU(0), 0));
}

static void sync_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_sync(e->w, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_sync_device(e->w, WIC_GPU(0), BAD_WAIT));
}

const struct bad_row bad_context_rows[] = {
	BAD_ROW(wic_strerror, NO_POINTER, NO_OBJECT, CALL(strerror_any), NO_SIZE, NO_OBJECT,
		CALL(strerror_any), CALL(strerror_any), CALL(strerror_any), CALL(strerror_any)),
	BAD_ROW(wic_last_error, NO_POINTER, NO_OBJECT, NO_RANGE, NO_SIZE, NO_OBJECT,
		CALL(last_error_any), CALL(last_error_any), IN_HANDLER, CALL(last_error_any)),
	BAD_ROW(wic_open, CALL(open_null), CALL(open_kind), CALL(open_range), CALL(open_sizes),
		NO_OBJECT, CALL(open_another), CALL(open_refused), IN_HANDLER, CALL(open_in_child)),
	BAD_ROW(wic_close, CALL(close_null), CALL(close_kind), NO_RANGE, NO_SIZE,
		CALL(close_closed), CALL(close_twice), CALL(close_refused), IN_HANDLER,
		CALL(close_refused)),
	BAD_ROW(wic_describe, CALL(describe_null), NOT_LOOKED_UP, NO_RANGE, NO_SIZE, GONE,
		CALL(describe_any), CALL(describe_any), IN_HANDLER, CALL(describe_any)),
	BAD_ROW(wic_stats_get, CALL(stats_null), CALL(stats_kind), CALL(stats_range),
		CALL(stats_sizes), CALL(stats_closed), CALL(stats_twice), CALL(stats_refused),
		IN_HANDLER, CALL(stats_refused)),
	BAD_ROW(wic_events_read, CALL(events_null), CALL(events_kind), NO_RANGE,
		NEVER("@events_max: capacity of @events_out"), CALL(events_closed),
		CALL(events_twice), CALL(events_refused), IN_HANDLER, CALL(events_refused)),
	BAD_ROW(wic_cancel, CALL(cancel_null), NOT_LOOKED_UP, NO_RANGE, NO_SIZE, GONE,
		CALL(cancel_twice), CALL(cancel_in_kernel), CALL(cancel_and_clear),
		CALL(cancel_in_child)),
	BAD_ROW(wic_cancel_clear, CALL(cancel_null), NOT_LOOKED_UP, NO_RANGE, NO_SIZE, GONE,
		CALL(cancel_twice), CALL(cancel_in_kernel), CALL(cancel_and_clear),
		CALL(cancel_and_clear)),
	BAD_ROW(wic_waiters, CALL(waiters_null), CALL(waiters_kind), NO_RANGE,
		NEVER("@waiters_out: @max places"), CALL(waiters_closed), CALL(waiters_twice),
		CALL(waiters_refused), IN_HANDLER, CALL(waiters_refused)),
	BAD_ROW(wic_launch, CALL(launch_null), CALL(launch_kind), CALL(launch_range),
		CALL(launch_sizes), CALL(launch_closed), CALL(launch_twice), CALL(launch_refused),
		IN_HANDLER, CALL(launch_refused)),
	BAD_ROW(wic_check, CALL(check_null), CALL(check_kind), CALL(check_range), CALL(check_sizes),
		CALL(check_closed), CALL(check_twice), CALL(check_refused), IN_HANDLER,
		CALL(check_refused)),
	BAD_ROW(wic_check_word, CALL(word_null), CALL(word_kind), CALL(word_range), NO_SIZE,
		CALL(word_closed), CALL(word_twice), CALL(word_refused), IN_HANDLER,
		CALL(word_refused)),
	BAD_ROW(wic_sync, CALL(sync_null), CALL(sync_kind), NO_RANGE, CALL(sync_sizes),
		CALL(sync_closed), CALL(sync_twice), CALL(sync_refused), IN_HANDLER,
		CALL(sync_refused)),
	BAD_ROW(wic_sync_device, CALL(sync_null), CALL(sync_kind), CALL(sync_range),
		CALL(sync_sizes), CALL(sync_closed), CALL(sync_twice), CALL(sync_refused),
		IN_HANDLER, CALL(sync_refused)),
	{ 0 },
};
