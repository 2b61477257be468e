/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the parts of the GPU suite share.  Each test runs in a process of its own, so that what
 * hangs or loses the device spoils that test alone: main.c starts them.
 *
 *	struct gpu g = gpu_open(1);
 *	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 16, 100);
 *	struct gpu_run run = gpu_run(&g, gpu_take, 1, 32);
 *
 *	run.args.h[0] = wic_channel_handle(ch);
 *	gpu_start(&g, &run);
 *	...
 *	gpu_end(&g, &run);		// waits, looks at the results, frees
 *	gpu_close(&g);
 */
#ifndef WIC_TESTS_GPU_GPU_H
#define WIC_TESTS_GPU_GPU_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include <wic/wic.h>

#include "lib/memory.h"
#include "tests/gpu/image.h"
#include "tests/test.h"

#define TIMEOUT WIC_S(20)
#define LATE_MAX WIC_MS(100) /* of a wait past its deadline */

#ifdef __SANITIZE_THREAD__
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif
/* As aarch64 these run under an emulator, which has one thread run at a time, more or less. */
#ifdef __aarch64__
#define IS_EMULATED 1
#else
#define IS_EMULATED 0
#endif

/* A part of the suite: its tests, run by test_main() of its own file. */
struct gpu_part {
	const char *name;
	const struct test *tests;
	int (*run)(int argc, char **argv, const struct test *tests);
};

#define GPU_PART(part) const struct gpu_part gpu_part_##part = { #part, tests, test_main }

/* The log of this process's contexts. */
struct gpu_log {
	pthread_mutex_t lock;
	uint32_t lines; /* warnings and errors */
	char text[16384];
};

struct gpu {
	struct wic *w;
	struct gpu_log *log;
};

/* A launch: set what is to differ, then start it. */
struct gpu_run {
	struct wic_launch_desc l;
	struct gpu_args args;
	struct gpu_step *steps;     /* pinned; of a script */
	struct gpu_result *results; /* pinned */
	uint64_t *arrived;          /* pinned */
	uint32_t warps;             /* of the grid */
};

#define STEPS_MAX 64

static struct gpu_log gpu_log_ = { .lock = PTHREAD_MUTEX_INITIALIZER };

static inline void gpu_log_add(void *arg, int level, const char *line)
{
	struct gpu_log *log = arg;
	size_t used;

	if (level > WIC_LOG_WARN)
		return;
	pthread_mutex_lock(&log->lock);
	/* What is wrong with the machine, which no test makes. */
	log->lines += strncmp(line, "seen here: ", 11) != 0;
	used = strlen(log->text);
	snprintf(log->text + used, sizeof(log->text) - used, "%s\n", line);
	pthread_mutex_unlock(&log->lock);
	fprintf(stderr, "log: %s\n", line);
}

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void sleep_ms(uint32_t ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&ts, NULL);
}

static inline int gpu_try_open(uint32_t devices, struct gpu *g)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	gpu_image_add();
	*g = (struct gpu){ NULL, &gpu_log_ };
	g->log->lines = 0;
	g->log->text[0] = 0;
	cfg.backend = "cuda";
	cfg.devices = devices;
	cfg.log = gpu_log_add;
	cfg.log_arg = g->log;
	return wic_open(&cfg, &g->w);
}

static inline struct gpu gpu_open(uint32_t devices)
{
	struct gpu g;
	int rc = gpu_try_open(devices, &g);

	if (rc)
		fprintf(stderr, "wic_open: %s\n", wic_last_error());
	TEST_EQ(rc, 0);
	return g;
}

/* @lines: warnings and errors that the test expects in the log, all of them. */
static inline void gpu_close_with(struct gpu *g, uint32_t lines)
{
	wic_close(g->w);
	TEST_EQ(g->log->lines, lines);
	gpu_check_driver();
}

static inline void gpu_close(struct gpu *g)
{
	gpu_close_with(g, 0);
}

static inline struct wic_channel_desc gpu_desc(struct wic_device_id from, struct wic_device_id to,
					       uint32_t tags, uint64_t bytes)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;

	d.producer = from;
	d.consumer = to;
	d.tags = tags;
	d.bytes_per_tag = bytes;
	return d;
}

static inline struct wic_channel *gpu_channel_of(struct gpu *g, const struct wic_channel_desc *d)
{
	struct wic_channel *ch = NULL;

	TEST_EQ(wic_channel_create(g->w, d, &ch), 0);
	return ch;
}

static inline struct wic_channel *gpu_channel(struct gpu *g, struct wic_device_id from,
					      struct wic_device_id to, uint32_t tags,
					      uint64_t bytes)
{
	struct wic_channel_desc d = gpu_desc(from, to, tags, bytes);

	return gpu_channel_of(g, &d);
}

static inline void *gpu_pinned(struct gpu *g, size_t bytes)
{
	void *p = NULL;

	TEST_EQ(wic_mem_alloc(g->w, WIC_MEM_HOST, WIC_GPU(0), bytes, &p), 0);
	return p;
}

/* ---- launches ---------------------------------------------------------------------------- */

static inline struct gpu_run gpu_run(struct gpu *g, void (*kernel)(const void *args),
				     uint32_t blocks, uint32_t threads)
{
	struct gpu_run run = { .l = WIC_LAUNCH_DESC_INIT };
	uint32_t warps = (threads + 31) / 32;

	run.warps = blocks * warps;
	run.l.kernel = kernel;
	run.l.grid_blocks = blocks;
	run.l.block_threads = threads;
	run.l.shared_bytes = gpu_lot_bytes(warps);
	run.steps = gpu_pinned(g, STEPS_MAX * sizeof(*run.steps));
	run.results = gpu_pinned(g, (size_t)run.warps * STEPS_MAX * sizeof(*run.results));
	run.arrived = gpu_pinned(g, run.warps * sizeof(*run.arrived));
	run.args.steps = run.steps;
	run.args.results = run.results;
	run.args.arrived = run.arrived;
	run.args.epoch_first = 1;
	run.args.epoch_step = 1;
	run.args.epochs = 1;
	run.args.timeout_ns = TIMEOUT;
	run.args.has_lot = 1;
	return run;
}

/* Adds a step of a script, by all warps; the caller may say more of it. */
static inline struct gpu_step *gpu_step(struct gpu_run *run, enum gpu_what what, uint32_t tag,
					uint64_t epoch)
{
	struct gpu_step *s = &run->steps[run->args.count++];

	TEST_TRUE(run->args.count <= STEPS_MAX);
	s->what = what;
	s->tag = tag;
	s->epoch = epoch;
	s->block = GPU_ALL;
	s->warp = GPU_ALL;
	s->timeout_ns = TIMEOUT;
	return s;
}

static inline void gpu_start(struct gpu *g, struct gpu_run *run)
{
	int rc;

	run->l.args = &run->args;
	for (uint32_t i = 0; i < run->warps * STEPS_MAX; i++)
		run->results[i].rc = 1; /* nobody was here */
	rc = wic_launch(g->w, &run->l);
	if (rc)
		fprintf(stderr, "wic_launch: %s\n", wic_last_error());
	TEST_EQ(rc, 0);
}

/* Until all warps have begun a step of the script (from 1), for people who come right after. */
static inline void gpu_wait_arrived(const struct gpu_run *run, uint64_t step)
{
	uint64_t until = now_ns() + TIMEOUT;

	for (uint32_t i = 0; i < run->warps; i++)
		while (__atomic_load_n(&run->arrived[i], __ATOMIC_ACQUIRE) < step) {
			TEST_TRUE(now_ns() < until);
			sleep_ms(1);
		}
}

static inline void gpu_free(struct gpu *g, struct gpu_run *run)
{
	wic_mem_free(g->w, run->steps);
	wic_mem_free(g->w, run->results);
	wic_mem_free(g->w, run->arrived);
}

static inline void gpu_sync(struct gpu *g, const struct gpu_run *run)
{
	TEST_EQ(wic_sync_device(g->w, run->l.device, TIMEOUT + WIC_S(20)), 0);
}

/* Result of a warp of the grid for a step of the script. */
static inline const struct gpu_result *gpu_result(const struct gpu_run *run, uint32_t warp,
						  uint32_t step)
{
	return &run->results[(uint64_t)warp * run->args.count + step];
}

/* A loop has ended, everywhere with 0 and the right data. */
static inline void gpu_end(struct gpu *g, struct gpu_run *run)
{
	gpu_sync(g, run);
	for (uint32_t i = 0; i < run->warps; i++) {
		TEST_EQ(run->results[i].rc, 0);
		TEST_EQ(run->results[i].wrong, 0);
	}
	gpu_free(g, run);
}

/* A script has ended, each of its steps with @rc where a warp did it. */
static inline void gpu_end_script(struct gpu *g, struct gpu_run *run, int rc)
{
	gpu_sync(g, run);
	for (uint32_t i = 0; i < run->warps; i++)
		for (uint32_t j = 0; j < run->args.count; j++) {
			if (gpu_result(run, i, j)->rc == 1)
				continue;
			TEST_EQ(gpu_result(run, i, j)->rc, rc);
			TEST_EQ(gpu_result(run, i, j)->wrong, 0);
		}
	gpu_free(g, run);
}

/* ---- the host's end ---------------------------------------------------------------------- */

static inline void gpu_fill(void *buffer, uint32_t tag, uint64_t epoch, uint64_t bytes)
{
	uint32_t *words = buffer;

	for (uint32_t i = 0; i < bytes / 4; i++)
		words[i] = gpu_word(tag, epoch, i);
}

static inline uint32_t gpu_wrong(const void *data, uint32_t tag, uint64_t epoch, uint64_t bytes)
{
	const uint32_t *words = data;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < bytes / 4; i++)
		wrong += words[i] != gpu_word(tag, epoch, i);
	return wrong;
}

static inline void gpu_publish(struct wic_channel *ch, uint32_t tag, uint64_t epoch, uint64_t bytes)
{
	void *buffer = NULL;

	if (bytes) {
		TEST_EQ(wic_stage(ch, tag, epoch, TIMEOUT, &buffer), 0);
		gpu_fill(buffer, tag, epoch, bytes);
	}
	TEST_EQ(wic_publish(ch, tag, epoch), 0);
}

static inline void gpu_take_here(struct wic_channel *ch, uint32_t tag, uint64_t epoch,
				 uint64_t bytes)
{
	const void *data = NULL;

	TEST_EQ(wic_host_request(ch, tag, epoch, TIMEOUT, &data), 0);
	TEST_EQ(gpu_wrong(data, tag, epoch, bytes), 0);
	TEST_EQ(wic_host_release(ch, tag, epoch), 0);
}

#endif /* WIC_TESTS_GPU_GPU_H */
