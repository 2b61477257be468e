// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * What users of other systems reported (each test names the report), as far as no other
 * program of the suite is about it: see COVERAGE.md.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "tests/conform/conform.h"

#define BYTES 64

static struct wic_channel *join(struct wic *w, struct wic_device_id from, struct wic_device_id to,
				uint32_t tags, uint64_t bytes)
{
	struct wic_channel_desc d = channel_desc();
	struct wic_channel *ch = NULL;

	d.producer = from;
	d.consumer = to;
	d.tags = tags;
	d.bytes_per_tag = bytes;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	return ch;
}

static void launch_on(struct wic *w, uint32_t device, void (*kernel)(const void *), void *args)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;

	l.kernel = kernel;
	l.args = args;
	l.device = WIC_GPU(device);
	TEST_EQ(wic_launch(w, &l), 0);
}

static struct wic *open_devices(uint32_t devices)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	cfg.devices = devices;
	cfg.sms = 1;
	cfg.pool_pages = 64;
	return open_with(cfg);
}

/* --- A: every wait has a bound, and keeps it ---------------------------------------- */

#define LIMIT WIC_MS(50)

enum form { WAIT, REQUEST, WAIT_ALL, REQUEST_ALL, NEXT, WARP_STAGE, DEVICE_FORMS };

struct bound_args {
	struct wic_handle h, out;
	enum form form;
	uint64_t depth; /* of out: stage_depth() */
	uint64_t took_ns;
	int rc;
};

static int bound_wait(struct bound_args *a)
{
	struct wic_ref refs[2] = { { .tag = 0, .epoch = 1 }, { .tag = 1, .epoch = 1 } };
	uint32_t tag;
	void *data;

	switch (a->form) {
	case WAIT:
		return wic_wait(&a->h, NULL, 0, 1, LIMIT);
	case REQUEST:
		return wic_request(&a->h, NULL, 0, 1, LIMIT, &data);
	case WAIT_ALL:
		return wic_wait_all(&a->h, NULL, refs, 2, LIMIT);
	case REQUEST_ALL:
		return wic_request_all(&a->h, NULL, refs, 2, LIMIT);
	case NEXT:
		return wic_next(&a->h, NULL, 0, 2, 1, LIMIT, &tag, &data);
	case WARP_STAGE:
		return wic_warp_stage(&a->out, NULL, 0, a->depth + 1, LIMIT, &data);
	case DEVICE_FORMS:
		break;
	}
	return -1;
}

static void bound_kernel(const void *arg)
{
	struct bound_args *a = (struct bound_args *)(uintptr_t)arg;
	uint64_t begin = now_ns();

	a->rc = bound_wait(a);
	a->took_ns = now_ns() - begin;
}

static void fill_buffers_kernel(const void *arg)
{
	struct bound_args *a = (struct bound_args *)(uintptr_t)arg;
	void *buffer;

	for (uint64_t e = 1; e <= a->depth && !a->rc; e++) {
		a->rc = wic_warp_stage(&a->out, NULL, 0, e, LIMIT, &buffer);
		if (!a->rc)
			a->rc = wic_warp_publish(&a->out, 0, e);
	}
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* mscclpp#161: never early, 100 ms late at the most; the middle of five, CI stops us at times. */
static void each_form_of_wait_ends_at_its_deadline(void)
{
	struct wic *w = open_devices(1);
	struct wic_channel *ch = channel(w, 2, BYTES, 1);
	struct wic_channel *out = join(w, WIC_GPU(0), WIC_HOST, 1, BYTES);
	struct bound_args a = { .h = wic_channel_handle(ch),
				.out = wic_channel_handle(out),
				.depth = stage_depth() };
	uint64_t took[5];

	launch(w, fill_buffers_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	for (a.form = WAIT; a.form < DEVICE_FORMS; a.form++) {
		for (int i = 0; i < 5; i++) {
			launch(w, bound_kernel, &a, 1, 32);
			TEST_EQ(wic_sync(w, TIMEOUT), 0);
			TEST_EQ(a.rc, -ETIMEDOUT);
			TEST_TRUE(a.took_ns >= LIMIT);
			took[i] = a.took_ns;
		}
		qsort(took, 5, sizeof(took[0]), ascending);
		TEST_TRUE(took[2] <= LIMIT + WIC_MS(100));
	}
	close_quietly(w);
}

static void forever_kernel(const void *arg)
{
	struct take_args *a = (struct take_args *)(uintptr_t)arg;

	take_one(a, a->tags, 1);
}

/* The same for what the host's threads wait with. */
static void each_host_wait_ends_at_its_deadline(void)
{
	struct wic *w = open_devices(1);
	struct wic_channel *ch = channel(w, 2, BYTES, 1);
	struct wic_channel *out = join(w, WIC_GPU(0), WIC_HOST, 1, BYTES);
	struct take_args a = take_args(ch, 1, 0);
	uint64_t took[5], begin, next;
	const void *data;
	void *buffer;
	int rc;

	next = fill_buffers(ch, 0, BYTES);
	launch(w, forever_kernel, &a, 1, 32);
	for (int form = 0; form < 4; form++) {
		for (int i = 0; i < 5; i++) {
			begin = now_ns();
			if (form == 0)
				rc = wic_stage(ch, 0, next, LIMIT, &buffer);
			else if (form == 1)
				rc = wic_host_wait(out, 0, 1, LIMIT);
			else if (form == 2)
				rc = wic_host_request(out, 0, 1, LIMIT, &data);
			else
				rc = wic_sync(w, LIMIT);
			took[i] = now_ns() - begin;
			TEST_EQ(rc, -ETIMEDOUT);
			TEST_TRUE(took[i] >= LIMIT);
		}
		qsort(took, 5, sizeof(took[0]), ascending);
		TEST_TRUE(took[2] <= LIMIT + WIC_MS(100));
	}
	stage_and_publish(ch, 1, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	close_quietly(w);
}

struct hung_args {
	struct bound_args fill;
	uint32_t parks; /* atomic */
};

/* Nobody ever takes epoch 1: this warp is parked in its last stage for ever. */
static void hung_producer_kernel(const void *arg)
{
	struct hung_args *a = (struct hung_args *)(uintptr_t)arg;
	void *buffer;

	fill_buffers_kernel(&a->fill);
	__atomic_store_n(&a->parks, 1, __ATOMIC_RELEASE);
	if (!a->fill.rc)
		a->fill.rc = wic_warp_stage(&a->fill.out, NULL, 0, a->fill.depth + 1, WIC_FOREVER,
					    &buffer);
}

/* pplx-kernels#32: a hung producer keeps no consumer, and the context goes on. */
static void producer_parked_for_ever(void)
{
	struct wic *w = open_devices(2);
	struct wic_channel *between = join(w, WIC_GPU(1), WIC_GPU(0), 2, BYTES);
	struct wic_channel *ch = channel(w, 1, BYTES, 1);
	struct hung_args hung = { .fill = { .out = wic_channel_handle(between),
					    .depth = stage_depth() } };
	struct take_args a = take_args(between, 1, 0), b = take_args(ch, 0, 0);

	launch_on(w, 1, hung_producer_kernel, &hung);
	wait_until(&hung.parks, 1);
	/* Tag 1 never comes. */
	a.timeout_ns = LIMIT;
	launch_on(w, 0, forever_kernel, &a);
	TEST_EQ(wic_sync_device(w, WIC_GPU(0), TIMEOUT), 0);
	TEST_EQ(a.rc, -ETIMEDOUT);
	/* A second round, with the producer parked as before. */
	stage_and_publish(ch, 0, 1, BYTES);
	launch_on(w, 0, forever_kernel, &b);
	TEST_EQ(wic_sync_device(w, WIC_GPU(0), TIMEOUT), 0);
	TEST_EQ(b.rc, 0);
	TEST_EQ(b.taken, 1);
	TEST_EQ(wic_sync_device(w, WIC_GPU(1), 0), -ETIMEDOUT);
	TEST_EQ(wic_channel_close(between), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(hung.fill.rc, -ECANCELED);
	close_quietly(w);
}

struct diagnosed_args {
	struct wic_handle h;
	char text[256];
	int rc;
};

static void diagnosed_kernel(const void *arg)
{
	struct diagnosed_args *a = (struct diagnosed_args *)(uintptr_t)arg;
	void *data;

	if (wic_block_id() != 2 || wic_warp_id() != 1)
		return;
	a->rc = wic_request(&a->h, NULL, 3, 8, LIMIT, &data);
	snprintf(a->text, sizeof(a->text), "%s", wic_last_error());
}

/* vllm#51035: what ended, where, what it wanted, what it saw and how long it waited. */
static void timeout_says_all_of_it(void)
{
	struct wic *w = open_default();
	struct wic_channel *first = channel(w, 1, 0, 1), *ch = channel(w, 4, BYTES, 1);
	struct diagnosed_args a = { .h = wic_channel_handle(ch) };
	uint64_t us = 0, wanted = 0, seen = 0;
	unsigned int block = 0, warp = 0, tag = 0, id = 0;

	TEST_TRUE(first);
	stage_and_publish(ch, 3, 7, BYTES);
	launch(w, diagnosed_kernel, &a, 4, 2 * 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -ETIMEDOUT);
	if (sscanf(a.text,
		   "block %u warp %u waited %" SCNu64 " us for epoch %" SCNu64
		   " of tag %u of channel %u, saw %" SCNu64,
		   &block, &warp, &us, &wanted, &tag, &id, &seen) != 7)
		TEST_STR_HAS(a.text, "block, warp, age, epoch, tag, channel and what it saw");
	TEST_EQ(block, 2);
	TEST_EQ(warp, 1);
	TEST_TRUE(us >= LIMIT / 1000 && us < TIMEOUT / 1000);
	TEST_EQ(wanted, 8);
	TEST_EQ(tag, 3);
	TEST_EQ(id, 1);
	TEST_EQ(seen, 7);
	/* Of the grid: was it one block that hung, or all? */
	TEST_STR_HAS(a.text, "(1 of 4 blocks have come to a wait)");
	close_quietly(w);
}

/* --- A: cccl#973, a try form that blocked ------------------------------------------- */

#define TRIES 3000
#define TRY_BOUND WIC_S(1) /* some ns; a busy machine may stop us in it */

struct try_args {
	struct wic_handle h;
	uint64_t longest_ns;
	uint32_t tries, other;
};

static void try_kernel(const void *arg)
{
	struct try_args *a = (struct try_args *)(uintptr_t)arg;

	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t begin = now_ns(), took;
		void *data;
		int rc = wic_try(&a->h, i % a->h.tags, 1, &data);

		took = now_ns() - begin;
		if (took > __atomic_load_n(&a->longest_ns, __ATOMIC_RELAXED))
			__atomic_store_n(&a->longest_ns, took, __ATOMIC_RELAXED);
		wic_atomic_add_u32(rc == -EAGAIN ? &a->tries : &a->other, 1);
	}
}

static void *stage_and_stage(void *arg)
{
	struct wic_channel *ch = arg;
	void *buffer;

	/* -EBUSY beside the other thread, else the buffer: never a wait. */
	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t begin = now_ns();
		int rc = wic_try_stage(ch, i % 4, 1, &buffer);

		TEST_TRUE(rc == 0 || rc == -EBUSY);
		TEST_TRUE(now_ns() - begin < TRY_BOUND);
	}
	return NULL;
}

static void try_never_waits(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 4, BYTES, 1);
	struct try_args a = { .h = wic_channel_handle(ch) };
	uint64_t parks = stats_of(w).parks;
	pthread_t threads[2];

	launch(w, try_kernel, &a, 4, 4 * 32);
	for (int i = 0; i < 2; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, stage_and_stage, ch), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.tries, 16 * TRIES);
	TEST_EQ(a.other, 0);
	TEST_TRUE(a.longest_ns < TRY_BOUND);
	TEST_EQ(stats_of(w).parks - parks, 0);
	close_quietly(w);
}

/* --- B: limits are set at run time --------------------------------------------------- */

static unsigned int warned; /* atomic */

static void note_warning(void *arg, int level, const char *line)
{
	(void)arg;
	(void)line;
	if (level <= WIC_LOG_WARN)
		__atomic_fetch_add(&warned, 1, __ATOMIC_RELEASE);
}

/* DeepGEMM#57, DeepEP#424: by the environment, and a slow producer is waited for. */
static void warning_limit_by_environment(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel *ch;
	struct take_args a;
	struct wic *w;

	warned = 0;
	cfg.log = note_warning;
	TEST_EQ(setenv("WIC_WARN_AFTER_MS", "20", 1), 0);
	TEST_EQ(wic_open(&cfg, &w), 0);
	unsetenv("WIC_WARN_AFTER_MS");
	ch = channel(w, 1, BYTES, 1);
	a = take_args(ch, 0, 0);
	a.timeout_ns = WIC_FOREVER;
	launch(w, forever_kernel, &a, 1, 32);
	wait_until(&warned, 1);
	sleep_ms(60);
	TEST_EQ(wic_sync(w, 0), -ETIMEDOUT);
	stage_and_publish(ch, 0, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.wrong, 0);
	TEST_EQ(warned, 1);
	wic_close(w);
}

/* --- D: lost, stale and crossed signals ----------------------------------------------- */

struct rounds_args {
	struct wic_handle signals, data;
	uint64_t first;
	uint32_t wrong;
	int rc;
};

static void rounds_kernel(const void *arg)
{
	struct rounds_args *a = (struct rounds_args *)(uintptr_t)arg;

	for (uint64_t e = a->first; e < a->first + 3 && !a->rc; e++) {
		void *data;

		a->rc = wic_wait(&a->signals, NULL, 0, e, TIMEOUT);
		if (!a->rc)
			a->rc = wic_request(&a->data, NULL, 0, e, TIMEOUT, &data);
		if (a->rc)
			return;
		a->wrong += *(uint64_t *)data != word_of(0, e, 0);
		a->rc = wic_release(&a->data, 0, e);
	}
}

/* tvm#16797, nccl#1990: the producer is ahead of each consumer's start, and nothing is reset. */
static void producer_starts_first(void)
{
	struct wic *w = open_default();
	struct wic_channel *signals = channel(w, 1, 0, 1), *data = channel(w, 1, BYTES, 1);
	struct rounds_args a = { .first = 1 };

	for (int launches = 0; launches < 4; launches++) {
		/* All signals of this launch and some of the next one's, and the first data. */
		TEST_EQ(wic_publish(signals, 0, a.first + 4), 0);
		stage_and_publish(data, 0, a.first, BYTES);
		a.signals = wic_channel_handle(signals);
		a.data = wic_channel_handle(data);
		launch(w, rounds_kernel, &a, 1, 32);
		for (uint64_t e = a.first + 1; e < a.first + 3; e++)
			stage_and_publish(data, 0, e, BYTES);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		TEST_EQ(a.rc, 0);
		TEST_EQ(a.wrong, 0);
		a.first += 3;
	}
	close_quietly(w);
}

/* pytorch#191858: what a back-end cannot do it refuses; a channel that waits for nothing is none.
 */
static void mode_that_is_not_there(void)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_channel *ch = (struct wic_channel *)1;
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w;

	cfg.backend = "nil"; /* cpu has all */
	w = open_with(cfg);
	d.tags = 1;
	d.bytes_per_tag = BYTES;
	d.mode = WIC_MODE_PUSH;
	TEST_EQ(wic_channel_create(w, &d, &ch), -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "push");
	TEST_TRUE(ch == (struct wic_channel *)1);
	close_quietly(w);
}

/* --- E: sglang#31117, two launches for the same epochs of one channel ------------------ */

static void second_consumer_is_refused(void)
{
	struct wic *w = open_devices(2);
	struct wic_channel *ch = channel(w, 1, BYTES, 1);
	struct take_args a = take_args(ch, 0, 0), b = take_args(ch, 0, 0);
	struct wic_launch_desc again = WIC_LAUNCH_DESC_INIT;

	a.timeout_ns = WIC_FOREVER;
	b.timeout_ns = WIC_FOREVER;
	launch_on(w, 0, forever_kernel, &a);
	again.kernel = forever_kernel;
	again.args = &b;
	TEST_EQ(wic_launch(w, &again), -EBUSY);
	/* On another device the channel is not its own: an error at once, no wait. */
	launch_on(w, 1, forever_kernel, &b);
	TEST_EQ(wic_sync_device(w, WIC_GPU(1), TIMEOUT), 0);
	TEST_EQ(b.rc, -EINVAL);
	TEST_EQ(b.taken, 0);
	stage_and_publish(ch, 0, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.taken, 1);
	close_quietly(w);
}

/* --- F: dead producers, idle cost ------------------------------------------------------- */

struct survivor_args {
	struct wic_handle h;
	uint32_t *holds;
	uint32_t wrong;
	int rc_dead, rc;
};

static void survivor_kernel(const void *arg)
{
	struct survivor_args *a = (struct survivor_args *)(uintptr_t)arg;
	void *kept, *data;

	a->rc = wic_request(&a->h, NULL, 0, 1, TIMEOUT, &kept);
	if (a->rc)
		return;
	__atomic_store_n(a->holds, 1, __ATOMIC_RELEASE);
	a->rc_dead = wic_request(&a->h, NULL, 1, 1, WIC_FOREVER, &data);
	/* What it had of the dead one is still its own. */
	for (uint64_t i = 0; i < BYTES / 8; i++)
		a->wrong += ((uint64_t *)kept)[i] != word_of(0, 1, i);
	a->rc = wic_release(&a->h, 0, 1);
}

struct dying {
	struct wic_channel *ch;
	uint32_t *die_when;
};

static void *die_while_data_is_held(void *arg)
{
	struct dying *d = arg;
	struct wic_producer *p;
	void *buffer;

	TEST_EQ(wic_producer_open(d->ch, 0, 16, WIC_PRODUCER_OF_THREAD, &p), 0);
	TEST_EQ(wic_producer_stage(p, 0, 1, TIMEOUT, &buffer), 0);
	for (uint64_t i = 0; i < BYTES / 8; i++)
		((uint64_t *)buffer)[i] = word_of(0, 1, i);
	TEST_EQ(wic_producer_publish(p, 0, 1), 0);
	/* Tag 1 is staged, and that is all. */
	TEST_EQ(wic_producer_stage(p, 1, 1, TIMEOUT, &buffer), 0);
	wait_until(d->die_when, 1);
	return NULL;
}

/* nixl#1917: survivors get -EOWNERDEAD, and what they hold stays valid. */
static void survivors_keep_what_they_hold(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 16, BYTES, 1);
	uint32_t holds = 0;
	struct survivor_args a = { .h = wic_channel_handle(ch), .holds = &holds };
	struct dying d = { ch, &holds };
	pthread_t thread;

	launch(w, survivor_kernel, &a, 1, 32);
	TEST_EQ(pthread_create(&thread, NULL, die_while_data_is_held, &d), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	pthread_join(thread, NULL);
	TEST_EQ(a.rc_dead, -EOWNERDEAD);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.wrong, 0);
	close_quietly(w);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* nccl#374, uccl#938: threads that serve waits burn no core while nothing comes. */
static void idle_costs_nothing(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 1, BYTES, 1);
	struct take_args a = take_args(ch, 0, 0);
	struct timespec two = { 2, 0 };
	uint64_t before;

	if (UNDER_ASAN || UNDER_TSAN || under_valgrind()) {
		test_skip("the checker's own time is in it");
		wic_close(w);
		return;
	}
	launch(w, forever_kernel, &a, 1, 32);
	sleep_ms(50);
	before = cpu_ns();
	nanosleep(&two, NULL);
	/* A thread that polls would take 2,000 ms; 50 looks a second for a cancel take 10 to 20. */
	TEST_TRUE(cpu_ns() - before < WIC_MS(200));
	stage_and_publish(ch, 0, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(each_form_of_wait_ends_at_its_deadline),
		TEST(each_host_wait_ends_at_its_deadline),
		TEST(producer_parked_for_ever),
		TEST(timeout_says_all_of_it),
		TEST(try_never_waits),
		TEST(warning_limit_by_environment),
		TEST(producer_starts_first),
		TEST(mode_that_is_not_there),
		TEST(second_consumer_is_refused),
		TEST(survivors_keep_what_they_hold),
		TEST(idle_costs_nothing),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
