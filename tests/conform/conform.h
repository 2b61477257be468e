/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the programs of the conformance suite share: contexts that may log nothing, a
 * payload that tells tag and epoch, a consumer and a producer.
 */
#ifndef WIC_TESTS_CONFORM_CONFORM_H
#define WIC_TESTS_CONFORM_CONFORM_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <wic/kernel.h>
#include <wic/wic.h>

#include "tests/test.h"

#define TIMEOUT WIC_S(20)

/* Which sanitizer: clang has no macro of its own for it. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

static unsigned int log_lines; /* atomic: any thread logs */

static inline void count_lines(void *arg, int level, const char *line)
{
	(void)arg;
	if (level > WIC_LOG_WARN)
		return;
	__atomic_fetch_add(&log_lines, 1, __ATOMIC_RELAXED);
	fprintf(stderr, "log: %s\n", line);
}

static inline bool under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* CONFORM_MODE=push runs the suite over channels of the other mode. */
static inline bool is_push(void)
{
	const char *mode = getenv("CONFORM_MODE");

	return mode && !strcmp(mode, "push");
}

static inline struct wic *open_with(struct wic_config cfg)
{
	struct wic *w = NULL;

	cfg.log = count_lines;
	/* Nothing comes from the pool, and what it costs to touch 64 MiB is most of a test. */
	if (is_push() && !cfg.pool_pages)
		cfg.pool_pages = 256;
	log_lines = 0;
	TEST_EQ(wic_open(&cfg, &w), 0);
	return w;
}

static inline struct wic *open_default(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	return open_with(cfg);
}

static inline void close_quietly(struct wic *w)
{
	wic_close(w);
	TEST_EQ(log_lines, 0);
}

static inline struct wic_channel_desc channel_desc(void)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;

	d.mode = is_push() ? WIC_MODE_PUSH : WIC_MODE_PULL;
	return d;
}

static inline struct wic_channel *channel(struct wic *w, uint32_t tags, uint64_t bytes,
					  uint32_t readers)
{
	struct wic_channel_desc d = channel_desc();
	struct wic_channel *ch = NULL;

	d.tags = tags;
	d.bytes_per_tag = bytes;
	d.readers = readers;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	return ch;
}

/* Payload word i of (tag, epoch): different for each. */
static inline uint64_t word_of(uint32_t tag, uint64_t epoch, uint64_t i)
{
	return (epoch * 0x9e3779b97f4a7c15ull) ^ ((uint64_t)tag << 32) ^ i;
}

static inline void stage_and_publish(struct wic_channel *ch, uint32_t tag, uint64_t epoch,
				     uint64_t bytes)
{
	void *buffer = NULL;
	uint64_t *words;

	TEST_EQ(wic_stage(ch, tag, epoch, TIMEOUT, &buffer), 0);
	words = buffer;
	for (uint64_t i = 0; i < bytes / 8; i++)
		words[i] = word_of(tag, epoch, i);
	TEST_EQ(wic_publish(ch, tag, epoch), 0);
}

/* Epochs of a tag that are published before anybody has to take the first. */
static inline uint64_t stage_depth(void)
{
	return is_push() ? 2 : 1;
}

/* Stages and publishes as many from epoch 1 on; the next, which is returned, has to wait. */
static inline uint64_t fill_buffers(struct wic_channel *ch, uint32_t tag, uint64_t bytes)
{
	for (uint64_t e = 1; e <= stage_depth(); e++)
		stage_and_publish(ch, tag, e, bytes);
	return stage_depth() + 1;
}

/* What only pull mode has, fills and faults and waits for pages: so many, none in push mode. */
static inline uint64_t if_pull(uint64_t count)
{
	return is_push() ? 0 : count;
}

/* What most kernels here do: warp w of the grid takes tags w, w + n, ... of all epochs. */
struct take_args {
	struct wic_handle h;
	uint64_t epoch_first;
	uint64_t epoch_end;
	uint64_t timeout_ns;
	uint32_t tags;
	int rc;
	uint32_t taken;
	uint32_t wrong;
	uint32_t all_warps; /* every warp takes every tag */
};

static inline void take_one(struct take_args *a, uint32_t tag, uint64_t epoch)
{
	void *data = NULL;
	uint64_t *words;
	int rc = wic_request(&a->h, NULL, tag, epoch, a->timeout_ns, &data);

	if (rc) {
		__atomic_store_n(&a->rc, rc, __ATOMIC_RELAXED);
		return;
	}
	words = data;
	for (uint64_t i = 0; i < a->h.bytes_per_tag / 8; i++)
		if (words[i] != word_of(tag, epoch, i))
			wic_atomic_add_u32(&a->wrong, 1);
	rc = wic_release(&a->h, tag, epoch);
	if (rc)
		__atomic_store_n(&a->rc, rc, __ATOMIC_RELAXED);
	wic_atomic_add_u32(&a->taken, 1);
}

static inline void take_kernel(const void *arg)
{
	struct take_args *a = (struct take_args *)(uintptr_t)arg;
	uint32_t warps = wic_grid_blocks() * wic_block_warps();
	uint32_t me = wic_block_id() * wic_block_warps() + wic_warp_id();

	for (uint64_t e = a->epoch_first; e != a->epoch_end; e++)
		for (uint32_t tag = a->all_warps ? 0 : me; tag < a->tags;
		     tag += a->all_warps ? 1 : warps)
			take_one(a, tag, e);
}

static inline void launch(struct wic *w, void (*kernel)(const void *), void *args, uint32_t blocks,
			  uint32_t threads)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;

	l.kernel = kernel;
	l.args = args;
	l.grid_blocks = blocks;
	l.block_threads = threads;
	TEST_EQ(wic_launch(w, &l), 0);
}

static inline struct wic_stats stats_of(struct wic *w)
{
	struct wic_stats s = { .size_bytes = sizeof(s) };

	TEST_EQ(wic_stats_get(w, &s), 0);
	return s;
}

/* Until the kernel has returned: as long as @count grows, a busy machine may take its time. */
static inline void sync_while_it_grows(struct wic *w, const uint32_t *count)
{
	uint32_t before;
	int rc;

	do {
		before = __atomic_load_n(count, __ATOMIC_RELAXED);
		rc = wic_sync(w, TIMEOUT);
	} while (rc == -ETIMEDOUT && __atomic_load_n(count, __ATOMIC_RELAXED) != before);
	TEST_EQ(rc, 0);
}

static inline struct take_args take_args(struct wic_channel *ch, uint32_t tags, uint64_t epochs)
{
	return (struct take_args){ .h = wic_channel_handle(ch),
				   .epoch_first = 1,
				   .epoch_end = epochs + 1,
				   .timeout_ns = TIMEOUT,
				   .tags = tags };
}

static inline void sleep_ms(unsigned int ms)
{
	struct timespec ts = { 0, (long)ms * 1000000 };

	nanosleep(&ts, NULL);
}

static inline void wait_for_parks(struct wic *w, uint64_t parks)
{
	uint64_t end_ns = now_ns() + TIMEOUT;

	while (stats_of(w).parks < parks) {
		TEST_TRUE(now_ns() < end_ns);
		sleep_ms(1);
	}
}

static inline uint32_t load(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* A condition that some other thread makes true within the bound of all waits here. */
static inline void wait_until(const uint32_t *p, uint32_t value)
{
	uint64_t end = now_ns() + TIMEOUT;

	while (load(p) < value) {
		TEST_TRUE(now_ns() < end);
		sleep_ms(0);
	}
	TEST_EQ(load(p), value);
}

static inline struct wic *open_one_sm(uint32_t pool_pages, uint32_t close_batch)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	cfg.sms = 1;
	cfg.pool_pages = pool_pages;
	cfg.close_batch = close_batch;
	return open_with(cfg);
}

struct producer {
	struct wic_channel *ch;
	uint64_t epoch_first;
	uint64_t epoch_end;
	uint64_t bytes;
	uint64_t seed;
	uint32_t tags;
};

/* All tags of an epoch in a random order, at random times. */
static inline void *produce(void *arg)
{
	struct producer *p = arg;
	uint32_t *order = malloc(p->tags * sizeof(*order));

	TEST_TRUE(order);
	for (uint64_t e = p->epoch_first; e != p->epoch_end; e++) {
		for (uint32_t i = 0; i < p->tags; i++) {
			uint32_t j = (uint32_t)(test_random(&p->seed) % (i + 1));

			order[i] = order[j];
			order[j] = i;
		}
		for (uint32_t i = 0; i < p->tags; i++) {
			stage_and_publish(p->ch, order[i], e, p->bytes);
			if (test_random(&p->seed) % 16 == 0)
				sleep_ms((unsigned int)(test_random(&p->seed) % 3));
		}
	}
	free(order);
	return NULL;
}

/* One tag, as fast as its buffer comes free. */
static inline void *produce_at_once(void *arg)
{
	struct producer *p = arg;

	for (uint64_t e = p->epoch_first; e != p->epoch_end; e++)
		stage_and_publish(p->ch, 0, e, p->bytes);
	return NULL;
}

static inline void exchange(struct wic *w, struct take_args *a, struct producer *p, uint32_t blocks,
			    uint32_t threads)
{
	pthread_t thread;

	TEST_EQ(pthread_create(&thread, NULL, produce, p), 0);
	launch(w, take_kernel, a, blocks, threads);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	pthread_join(thread, NULL);
	TEST_EQ(a->rc, 0);
	TEST_EQ(a->wrong, 0);
}

#endif /* WIC_TESTS_CONFORM_CONFORM_H */
