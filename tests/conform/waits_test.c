// SPDX-License-Identifier: MIT OR GPL-2.0
/* How waits end that nobody satisfies, and how one sees them: contract 5, 6 and 7. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/conform/conform.h"

#define BYTES 64

/* --- producers that die ------------------------------------------------------ */

struct wait_args {
	struct wic_handle h;
	uint64_t epoch;
	uint64_t timeout_ns;
	int rc[64]; /* a warp */
	char text[200];
};

static uint32_t my_warp(void)
{
	return wic_block_id() * wic_block_warps() + wic_warp_id();
}

/* Warp w requests tag w. */
static void request_kernel(const void *arg)
{
	struct wait_args *a = (struct wait_args *)(uintptr_t)arg;
	uint32_t me = my_warp();
	void *data;

	a->rc[me] = wic_request(&a->h, NULL, me, a->epoch, a->timeout_ns, &data);
	if (!a->rc[me])
		a->rc[me] = wic_release(&a->h, me, a->epoch);
	else if (!me)
		snprintf(a->text, sizeof(a->text), "%s", wic_last_error());
}

static void publish_as(struct wic_producer *p, uint32_t tag, uint64_t epoch)
{
	void *buffer;

	TEST_EQ(wic_producer_stage(p, tag, epoch, TIMEOUT, &buffer), 0);
	*(uint64_t *)buffer = word_of(tag, epoch, 0);
	TEST_EQ(wic_producer_publish(p, tag, epoch), 0);
}

static void producer_is_dropped(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 40, BYTES, 1);
	struct wait_args a = { .h = wic_channel_handle(ch), .epoch = 1, .timeout_ns = WIC_FOREVER };
	struct wic_producer *p;

	TEST_EQ(wic_producer_open(ch, 0, 16, 0, &p), 0);
	launch(w, request_kernel, &a, 5, 4 * 32);
	sleep_ms(20);
	for (uint32_t t = 0; t < 8; t++)
		publish_as(p, t, 1);
	for (uint32_t t = 16; t < 20; t++)
		stage_and_publish(ch, t, 1, BYTES);
	wic_producer_close(p);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	/* What was published is data, whether it was asked for before or not. */
	for (uint32_t t = 0; t < 20; t++)
		TEST_EQ(a.rc[t], t < 8 || t >= 16 ? 0 : -EOWNERDEAD);
	/* And later: at once. */
	a.epoch = 2;
	launch(w, request_kernel, &a, 1, 4 * 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc[0], -EOWNERDEAD);
	TEST_STR_HAS(a.text, "epoch 2 of tag 0 of channel 0, saw 1");
	close_quietly(w);
}

static size_t waiters_of(struct wic *w, struct wic_waiter *list, size_t max, size_t expected)
{
	size_t count = 0;

	for (int i = 0; i < 2000; i++) {
		TEST_EQ(wic_waiters(w, list, max, &count), 0);
		if (count == expected)
			break;
		sleep_ms(1);
	}
	return count;
}

struct dead_args {
	struct wic_handle h;
	int rc[4]; /* a warp */
};

/* Tag 0 is published, the others of the line never are; tag 16 may be. */
static void dead_sets_kernel(const void *arg)
{
	struct dead_args *a = (struct dead_args *)(uintptr_t)arg;
	struct wic_ref refs[2] = { { .tag = 16, .epoch = 1 }, { .tag = 1, .epoch = 1 } };
	uint32_t me = my_warp(), tag;
	void *data;

	if (me == 0)
		a->rc[0] = wic_wait_all(&a->h, NULL, refs, 2, WIC_FOREVER);
	else if (me == 1)
		a->rc[1] = wic_request_all(&a->h, NULL, refs, 2, WIC_FOREVER);
	else if (me == 2)
		a->rc[2] = wic_next(&a->h, NULL, 1, 15, 1, WIC_FOREVER, &tag, &data);
	else
		a->rc[3] = wic_next(&a->h, NULL, 8, 9, 1, WIC_FOREVER, &tag, &data);
}

/* A set ends with the first of its producers, whichever is missing too; next with the last. */
static void sets_of_dead_producers(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 32, BYTES, 1);
	struct dead_args a = { .h = wic_channel_handle(ch) };
	struct wic_producer *p;
	struct wic_waiter list[4];

	TEST_EQ(wic_producer_open(ch, 0, 16, 0, &p), 0);
	launch(w, dead_sets_kernel, &a, 1, 4 * 32);
	TEST_EQ(waiters_of(w, list, 4, 4), 4);
	publish_as(p, 0, 1);
	wic_producer_close(p);
	TEST_EQ(waiters_of(w, list, 4, 1), 1);
	stage_and_publish(ch, 16, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc[0], -EOWNERDEAD);
	TEST_EQ(a.rc[1], -EOWNERDEAD);
	TEST_EQ(a.rc[2], -EOWNERDEAD);
	TEST_EQ(a.rc[3], 0);
	close_quietly(w);
}

struct dying {
	struct wic_channel *ch;
	struct wic_producer *p;
	bool by_exit;
	uint32_t is_open, may_end; /* atomics */
};

static void *die_after_one(void *arg)
{
	struct dying *d = arg;

	TEST_EQ(wic_producer_open(d->ch, 0, 16, WIC_PRODUCER_OF_THREAD, &d->p), 0);
	publish_as(d->p, 1, 1);
	sleep_ms(20);
	if (d->by_exit)
		pthread_exit(NULL);
	return NULL;
}

static void producer_thread_ends(void)
{
	for (int by_exit = 0; by_exit < 2; by_exit++) {
		struct wic *w = open_default();
		struct wic_channel *ch = channel(w, 16, BYTES, 1);
		struct wait_args a = { .h = wic_channel_handle(ch),
				       .epoch = 1,
				       .timeout_ns = WIC_FOREVER };
		struct dying d = { .ch = ch, .by_exit = by_exit };
		pthread_t thread;
		void *buffer;

		launch(w, request_kernel, &a, 1, 2 * 32);
		TEST_EQ(pthread_create(&thread, NULL, die_after_one, &d), 0);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		pthread_join(thread, NULL);
		TEST_EQ(a.rc[0], -EOWNERDEAD);
		TEST_EQ(a.rc[1], 0);
		TEST_EQ(wic_producer_stage(d.p, 0, 1, 0, &buffer), -EOWNERDEAD);
		TEST_EQ(wic_producer_publish(d.p, 0, 1), -EOWNERDEAD);
		wic_producer_close(d.p);
		/* The context is whole. */
		stage_and_publish(channel(w, 1, BYTES, 1), 0, 1, BYTES);
		close_quietly(w);
	}
}

struct stager {
	struct wic_producer *p;
	uint32_t is_in; /* atomic */
	int rc;
};

/* Another thread than the handle's: the buffer of tag 0 is not free. */
static void *stage_for_ever(void *arg)
{
	struct stager *s = arg;
	void *buffer;

	__atomic_store_n(&s->is_in, 1, __ATOMIC_RELEASE);
	s->rc = wic_producer_stage(s->p, 0, stage_depth() + 1, WIC_FOREVER, &buffer);
	return NULL;
}

static void *open_and_publish(void *arg)
{
	struct dying *d = arg;

	TEST_EQ(wic_producer_open(d->ch, 0, 16, WIC_PRODUCER_OF_THREAD, &d->p), 0);
	for (uint64_t e = 1; e <= stage_depth(); e++)
		publish_as(d->p, 0, e);
	__atomic_store_n(&d->is_open, 1, __ATOMIC_RELEASE);
	wait_until(&d->may_end, 1);
	return NULL;
}

/* The owner ends while another thread of its handle waits for a buffer. */
static void producer_ends_while_one_stages(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 16, BYTES, 1);
	struct dying d = { .ch = ch };
	struct stager s = { .is_in = 0 };
	pthread_t owner, thread;

	TEST_EQ(pthread_create(&owner, NULL, open_and_publish, &d), 0);
	wait_until(&d.is_open, 1);
	s.p = d.p;
	TEST_EQ(pthread_create(&thread, NULL, stage_for_ever, &s), 0);
	wait_until(&s.is_in, 1);
	sleep_ms(20);
	__atomic_store_n(&d.may_end, 1, __ATOMIC_RELEASE);
	pthread_join(owner, NULL);
	pthread_join(thread, NULL);
	TEST_EQ(s.rc, -EOWNERDEAD);
	wic_producer_close(d.p);
	close_quietly(w);
}

static void producers_bad(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 40, BYTES, 1), *closed = channel(w, 16, BYTES, 1);
	struct wic_producer *p, *q;
	void *buffer;

	TEST_EQ(wic_producer_open(NULL, 0, 16, 0, &p), -EINVAL);
	TEST_EQ(wic_producer_open(ch, 0, 16, 0, NULL), -EINVAL);
	TEST_EQ(wic_producer_open(ch, 0, 0, 0, &p), -EINVAL);
	TEST_EQ(wic_producer_open(ch, 40, 1, 0, &p), -EINVAL);
	TEST_EQ(wic_producer_open(ch, 32, 16, 0, &p), -EINVAL);
	TEST_EQ(wic_producer_open(ch, 8, 16, 0, &p), -EINVAL);
	TEST_EQ(wic_producer_open(ch, 0, 8, 0, &p), -EINVAL);
	TEST_EQ(wic_producer_open(ch, 0, 16, 2, &p), -EINVAL);
	TEST_EQ(wic_channel_close(closed), 0);
	TEST_EQ(wic_producer_open(closed, 0, 16, 0, &p), -EINVAL);
	TEST_EQ(wic_producer_open(ch, 16, 24, 0, &p), 0);
	TEST_EQ(wic_producer_open(ch, 16, 16, 0, &q), -EBUSY);
	TEST_EQ(wic_producer_open(ch, 0, 40, 0, &q), -EBUSY);
	TEST_EQ(wic_stage(ch, 20, 1, 0, &buffer), -EBUSY);
	TEST_EQ(wic_publish(ch, 20, 1), -EBUSY);
	TEST_EQ(wic_publish_range(ch, 0, 40, 1), -EBUSY);
	TEST_EQ(wic_producer_stage(p, 3, 1, 0, &buffer), -EBUSY);
	TEST_EQ(wic_producer_publish(p, 3, 1), -EBUSY);
	TEST_EQ(wic_producer_stage(NULL, 3, 1, 0, &buffer), -EINVAL);
	TEST_EQ(wic_producer_publish(NULL, 3, 1), -EINVAL);
	TEST_EQ(wic_producer_stage(p, 40, 1, 0, &buffer), -EINVAL);
	TEST_EQ(wic_producer_stage(p, 20, 1, 0, NULL), -EINVAL);
	wic_producer_close(NULL);
	wic_producer_close(p);
	TEST_EQ(log_lines, 0);
	wic_producer_close(p);
	TEST_EQ(log_lines, 1);
	/* What is said to be dead stays so. */
	TEST_EQ(wic_publish(ch, 20, 1), -EBUSY);
	wic_close(w);
}

/* --- cancel ------------------------------------------------------------------ */

static void cancel_ends_all(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wait_args a = { .epoch = 1, .timeout_ns = WIC_FOREVER };
	struct wic_channel *ch;
	struct wic *w;

	cfg.pool_pages = 32; /* some wait for pages */
	w = open_with(cfg);
	ch = channel(w, 32, BYTES, 1);
	a.h = wic_channel_handle(ch);
	launch(w, request_kernel, &a, 8, 4 * 32);
	sleep_ms(30);
	wic_cancel(w);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	for (uint32_t i = 0; i < 32; i++)
		TEST_EQ(a.rc[i], -ECANCELED);
	/* It sticks, also where nobody waited yet ... */
	launch(w, request_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc[0], -ECANCELED);
	/* ... until it is cleared. */
	wic_cancel_clear(w);
	launch(w, request_kernel, &a, 1, 32);
	stage_and_publish(ch, 0, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc[0], 0);
	wic_cancel(NULL);
	wic_cancel_clear(NULL);
	close_quietly(w);
}

/* Whoever carries the cancel out may be late: what begins after the clear is not its. */
static void cancel_does_not_outlive_its_clear(void)
{
	struct wait_args a = { .epoch = 1, .timeout_ns = TIMEOUT };
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel *ch;
	struct wic *w;

	cfg.pool_pages = 32; /* some wait for pages */
	w = open_with(cfg);
	ch = channel(w, 32, BYTES, 1);
	a.h = wic_channel_handle(ch);
	for (uint32_t round = 0; round < 40; round++, a.epoch++) {
		launch(w, request_kernel, &a, 8, 4 * 32);
		sched_yield();
		wic_cancel(w);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		wic_cancel_clear(w);
		for (uint32_t i = 0; i < 32; i++)
			stage_and_publish(ch, i, a.epoch, BYTES);
		launch(w, request_kernel, &a, 8, 4 * 32);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		for (uint32_t i = 0; i < 32; i++)
			TEST_EQ(a.rc[i], 0);
	}
	close_quietly(w);
}

static struct wic *cancelled_by_signal;

static void on_signal(int sig)
{
	(void)sig;
	wic_cancel(cancelled_by_signal);
}

static void *stage_too_many(void *arg)
{
	struct wic_channel *ch = arg;
	uint64_t next = fill_buffers(ch, 0, BYTES);
	void *buffer;
	int rc = wic_stage(ch, 0, next, WIC_FOREVER, &buffer);

	return (void *)(intptr_t)rc;
}

static void cancel_in_a_signal_handler(void)
{
	struct sigaction action = { .sa_handler = on_signal }, before;
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 2, BYTES, 1), *other = channel(w, 1, BYTES, 1);
	struct wait_args a = { .h = wic_channel_handle(ch), .epoch = 1, .timeout_ns = WIC_FOREVER };
	pthread_t thread;
	void *rc;

	cancelled_by_signal = w;
	TEST_EQ(sigaction(SIGUSR1, &action, &before), 0);
	launch(w, request_kernel, &a, 1, 2 * 32);
	TEST_EQ(pthread_create(&thread, NULL, stage_too_many, other), 0);
	sleep_ms(30);
	raise(SIGUSR1);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	pthread_join(thread, &rc);
	TEST_EQ(a.rc[0], -ECANCELED);
	TEST_EQ(a.rc[1], -ECANCELED);
	TEST_EQ((intptr_t)rc, -ECANCELED);
	sigaction(SIGUSR1, &before, NULL);
	close_quietly(w);
}

/* --- who waits --------------------------------------------------------------- */

/* Eight producers, one silent: the list says which (NVIDIA/nccl#968). */
static void listing_names_the_silent(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 8, BYTES, 1);
	struct wait_args a = { .h = wic_channel_handle(ch), .epoch = 3, .timeout_ns = TIMEOUT };
	struct wic_waiter list[8];
	size_t count;

	for (uint32_t t = 0; t < 8; t++)
		stage_and_publish(ch, t, 2, BYTES);
	/* Their epoch 2 was never asked for, so 3 cannot be staged: signals tell enough. */
	wic_channel_destroy(ch);
	ch = channel(w, 8, BYTES, 1);
	a.h = wic_channel_handle(ch);
	launch(w, request_kernel, &a, 2, 4 * 32);
	TEST_EQ(waiters_of(w, list, 8, 8), 8);
	for (uint32_t t = 0; t < 8; t++)
		if (t != 5)
			stage_and_publish(ch, t, 3, BYTES);
	TEST_EQ(waiters_of(w, list, 8, 1), 1);
	TEST_EQ(list[0].tag, 5);
	TEST_EQ(list[0].channel, 0);
	TEST_EQ(list[0].device, 0);
	TEST_EQ(list[0].block, 1);
	TEST_EQ(list[0].warp, 1);
	TEST_EQ(list[0].epoch, 3);
	TEST_EQ(list[0].epoch_seen, 0);
	TEST_EQ(list[0].kind, WIC_WAITER_DATA);
	TEST_TRUE(list[0].age_ns > 0 && list[0].age_ns < TIMEOUT);
	TEST_TRUE(list[0].left_ns > 0 && list[0].left_ns < TIMEOUT);
	TEST_EQ(wic_waiters(w, NULL, 0, &count), 0);
	TEST_EQ(count, 1);
	stage_and_publish(ch, 5, 3, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(waiters_of(w, list, 8, 0), 0);
	TEST_EQ(wic_waiters(NULL, list, 8, &count), -EINVAL);
	TEST_EQ(wic_waiters(w, NULL, 8, &count), -EINVAL);
	TEST_EQ(wic_waiters(w, list, 8, NULL), -EINVAL);
	close_quietly(w);
}

static void *host_waits(void *arg)
{
	return (void *)(intptr_t)wic_host_wait(arg, 3, 7, WIC_FOREVER);
}

static void listing_of_threads_and_pages(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel_desc d = channel_desc();
	struct wait_args a = { .epoch = 1, .timeout_ns = WIC_FOREVER };
	struct wic_waiter list[8];
	struct wic_channel *ch, *back;
	pthread_t thread;
	struct wic *w;
	uint32_t pages = 0;
	void *rc;

	cfg.pool_pages = 4; /* 2 usable, for 4 that ask */
	cfg.close_batch = 1;
	w = open_with(cfg);
	ch = channel(w, 4, BYTES, 1);
	d.producer = WIC_GPU(0);
	d.consumer = WIC_HOST;
	d.tags = 4;
	TEST_EQ(wic_channel_create(w, &d, &back), 0);
	TEST_EQ(pthread_create(&thread, NULL, host_waits, back), 0);
	TEST_EQ(waiters_of(w, list, 8, 1), 1);
	TEST_EQ(list[0].device, UINT32_MAX);
	TEST_EQ(list[0].tag, 3);
	TEST_EQ(list[0].epoch, 7);
	TEST_EQ(list[0].channel, 1);
	TEST_TRUE(list[0].left_ns == WIC_FOREVER);
	a.h = wic_channel_handle(ch);
	launch(w, request_kernel, &a, 1, 4 * 32);
	TEST_EQ(waiters_of(w, list, 8, 5), 5);
	for (int i = 0; i < 5; i++)
		pages += list[i].kind == WIC_WAITER_PAGES;
	TEST_EQ(pages, if_pull(2));
	for (uint32_t t = 0; t < 4; t++)
		stage_and_publish(ch, t, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(wic_channel_close(back), 0);
	pthread_join(thread, &rc);
	TEST_EQ((intptr_t)rc, -ECANCELED);
	close_quietly(w);
}

struct staging_args {
	struct wic_handle h;
	uint64_t depth;
	int rc;
};

static void staging_kernel(const void *arg)
{
	struct staging_args *a = (struct staging_args *)(uintptr_t)arg;
	void *buffer;

	for (uint64_t e = 1; e <= a->depth + 1 && !a->rc; e++) {
		a->rc = wic_warp_stage(&a->h, NULL, 1, e, TIMEOUT, &buffer);
		if (!a->rc && e <= a->depth)
			a->rc = wic_warp_publish(&a->h, 1, e);
	}
}

/* A warp that waits for a buffer waits for epoch 1 to be taken, however many there are. */
static void listing_of_a_stage(void)
{
	struct staging_args a = { .depth = stage_depth() };
	struct wic_channel_desc d = channel_desc();
	struct wic_channel *ch;
	struct wic_waiter list[2];
	struct wic *w = open_default();
	const void *data;

	d.producer = WIC_GPU(0);
	d.consumer = WIC_HOST;
	d.tags = 2;
	d.bytes_per_tag = BYTES;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	a.h = wic_channel_handle(ch);
	launch(w, staging_kernel, &a, 1, 32);
	TEST_EQ(waiters_of(w, list, 2, 1), 1);
	TEST_EQ(list[0].kind, WIC_WAITER_BUFFER);
	TEST_EQ(list[0].tag, 1);
	TEST_EQ(list[0].epoch, 1);
	TEST_EQ(list[0].epoch_seen, 0);
	TEST_EQ(list[0].device, 0);
	TEST_EQ(wic_host_request(ch, 1, 1, TIMEOUT, &data), 0);
	TEST_EQ(wic_host_release(ch, 1, 1), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	close_quietly(w);
}

static unsigned int warned; /* atomic */
static char warning[256];

static void note_warning(void *arg, int level, const char *line)
{
	(void)arg;
	if (level != WIC_LOG_WARN)
		return;
	snprintf(warning, sizeof(warning), "%s", line);
	__atomic_fetch_add(&warned, 1, __ATOMIC_RELEASE);
}

/* A slow producer is a line in the log, not the end of the job (DeepGEMM#57). */
static void warns_and_goes_on(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wait_args a = { .epoch = 1, .timeout_ns = WIC_FOREVER };
	struct wic_channel *ch;
	struct wic *w;

	cfg.warn_after_ms = 30;
	cfg.log = note_warning;
	warned = 0;
	TEST_EQ(wic_open(&cfg, &w), 0);
	ch = channel(w, 1, BYTES, 1);
	a.h = wic_channel_handle(ch);
	launch(w, request_kernel, &a, 1, 32);
	sleep_ms(150);
	TEST_EQ(__atomic_load_n(&warned, __ATOMIC_ACQUIRE), 1);
	stage_and_publish(ch, 0, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc[0], 0);
	TEST_STR_HAS(warning, "block 0 warp 0 of device 0 has waited ");
	TEST_STR_HAS(warning, "epoch 1 of tag 0 of channel 0, saw 0");
	wic_close(w);
	TEST_EQ(warned, 1);
}

/* --- all pages held by those who wait for pages ------------------------------- */

struct hoard_args {
	struct wic_handle h;
	uint32_t held, deadlocks, done;
	uint32_t asked;    /* how many have asked for their second */
	uint32_t gave_way; /* the last that gave way was so manieth to ask */
	int other;
};

/* Each warp takes one tag, keeps it, and asks for a second. */
static void hoard_kernel(const void *arg)
{
	struct hoard_args *a = (struct hoard_args *)(uintptr_t)arg;
	uint32_t me = my_warp(), turn;
	void *data;
	int rc = wic_request(&a->h, NULL, 2 * me, 1, WIC_FOREVER, &data);

	if (rc) {
		a->other = rc;
		return;
	}
	a->held++;
	wic_bar();
	turn = ++a->asked;
	rc = wic_request(&a->h, NULL, 2 * me + 1, 1, WIC_FOREVER, &data);
	if (!rc)
		rc = wic_release(&a->h, 2 * me + 1, 1);
	if (rc == -EDEADLK) {
		a->deadlocks++;
		a->gave_way = turn;
	} else if (rc) {
		a->other = rc;
	}
	/* Gives up what it has: the others go on. */
	if (wic_release(&a->h, 2 * me, 1))
		a->other = -1;
	a->done++;
}

static void deadlock_is_broken(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct hoard_args a = { .held = 0 };
	struct wic_channel *ch;
	struct wic *w;

	cfg.pool_pages = 8; /* 4 usable, one for each of the four */
	cfg.close_batch = 1;
	cfg.sms = 1;
	w = open_with(cfg);
	ch = channel(w, 8, BYTES, 1);
	a.h = wic_channel_handle(ch);
	for (uint32_t t = 0; t < 8; t++)
		stage_and_publish(ch, t, 1, BYTES);
	launch(w, hoard_kernel, &a, 1, 4 * 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.other, 0);
	TEST_EQ(a.held, 4);
	TEST_EQ(a.done, 4);
	/* One gives way, the rest find pages one after another. */
	TEST_EQ(a.deadlocks, if_pull(1));
	/* The youngest: who asked before it is not passed over. */
	TEST_EQ(a.gave_way, if_pull(4));
	close_quietly(w);
}

/* Hold and wait that is none: the holder waits for data, not for pages. */
static void no_deadlock_while_data_may_come(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct hoard_args a = { .held = 0 };
	struct wic_channel *ch;
	struct wic *w;

	cfg.pool_pages = 10; /* 5 usable: one of the four gets its second pages, and waits */
	cfg.close_batch = 1;
	cfg.sms = 1;
	w = open_with(cfg);
	ch = channel(w, 8, BYTES, 1);
	a.h = wic_channel_handle(ch);
	for (uint32_t t = 0; t < 8; t += 2)
		stage_and_publish(ch, t, 1, BYTES);
	launch(w, hoard_kernel, &a, 1, 4 * 32);
	sleep_ms(100);
	TEST_EQ(a.deadlocks, 0);
	for (uint32_t t = 1; t < 8; t += 2)
		stage_and_publish(ch, t, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.other, 0);
	TEST_EQ(a.deadlocks, 0);
	TEST_EQ(a.done, 4);
	close_quietly(w);
}

struct blocks_args {
	struct wic_handle h;
	uint32_t right, wrong;
};

/* Each block waits in vain three times, with a barrier after each. */
static void blocks_kernel(const void *arg)
{
	struct blocks_args *a = (struct blocks_args *)(uintptr_t)arg;
	char all[48];

	snprintf(all, sizeof(all), "of %u blocks have", wic_grid_blocks());
	for (int i = 0; i < 3; i++) {
		int rc = wic_wait(&a->h, NULL, 0, 1, WIC_MS(5));
		const char *of = strstr(wic_last_error(), all), *count = of;
		unsigned long waited = 0;

		while (count && count > wic_last_error() && *count != '(')
			count--;
		if (count)
			waited = strtoul(count + 1, NULL, 10);
		wic_atomic_add_u32(rc == -ETIMEDOUT && waited >= 1 && waited <= wic_grid_blocks()
					   ? &a->right
					   : &a->wrong,
				   1);
		wic_bar();
	}
}

/* A block that has waited is counted once, in this kernel and not in the next. */
static void blocks_that_waited_are_counted(void)
{
	struct wic *w = open_default();
	struct blocks_args a = { .h = wic_channel_handle(channel(w, 1, 0, 1)) };

	for (uint32_t blocks = 6; blocks > 4; blocks--) {
		a.right = 0;
		launch(w, blocks_kernel, &a, blocks, 64);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		TEST_EQ(a.wrong, 0);
		TEST_EQ(a.right, blocks * 2 * 3);
	}
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(producer_is_dropped),
		TEST(sets_of_dead_producers),
		TEST(producer_thread_ends),
		TEST(producer_ends_while_one_stages),
		TEST(producers_bad),
		TEST(cancel_ends_all),
		TEST(cancel_does_not_outlive_its_clear),
		TEST(cancel_in_a_signal_handler),
		TEST(listing_names_the_silent),
		TEST(listing_of_threads_and_pages),
		TEST(listing_of_a_stage),
		TEST(warns_and_goes_on),
		TEST(deadlock_is_broken),
		TEST(no_deadlock_while_data_may_come),
		TEST(blocks_that_waited_are_counted),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
