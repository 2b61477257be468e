// SPDX-License-Identifier: MIT OR GPL-2.0
/* Contract 9: what floods or stalls stops nobody but itself. */
#include <errno.h>
#include <stdlib.h>

#include "tests/conform/conform.h"

#define BYTES 64
#define PINGS 100
#define BOUND WIC_S(10) /* of one ping among floods, some us where nothing else runs */

/* A warp that waits for one epoch after the other, as long as they come. */
struct ping {
	struct wic *w;
	struct wic_channel *ch;
	struct take_args args;
};

static void ping_start(struct ping *p, struct wic *w)
{
	p->w = w;
	p->ch = channel(w, 1, BYTES, 1);
	p->args = take_args(p->ch, 1, PINGS);
	p->args.timeout_ns = BOUND;
	launch(w, take_kernel, &p->args, 1, 32);
}

static void ping_all(struct ping *p)
{
	for (uint32_t i = 1; i <= PINGS; i++) {
		stage_and_publish(p->ch, 0, i, BYTES);
		wait_until(&p->args.taken, i);
	}
	TEST_EQ(wic_sync_device(p->w, WIC_GPU(0), BOUND), 0);
	TEST_EQ(p->args.rc, 0);
	TEST_EQ(p->args.wrong, 0);
}

/* --- floods of publishes -------------------------------------------------------- */

#define FLOOD_TAGS 4096

struct flood {
	struct wic_channel *ch;
	uint32_t first, count; /* tags */
	uint32_t stop;         /* atomic */
	uint64_t published;    /* atomic */
};

static void *publish_flood(void *arg)
{
	struct flood *f = arg;

	for (uint64_t e = 1; !load(&f->stop); e++) {
		TEST_EQ(wic_publish_range(f->ch, f->first, f->count, e), 0);
		__atomic_fetch_add(&f->published, f->count, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Two threads, each publishing half of the tags of @ch without end, beside a ping. */
static void ping_beside_a_flood(struct wic *w, struct wic_channel *ch)
{
	struct flood floods[2] = { { .ch = ch, .count = FLOOD_TAGS / 2 },
				   { .ch = ch, .first = FLOOD_TAGS / 2, .count = 1 } };
	pthread_t threads[2];
	struct ping p;

	for (int i = 0; i < 2; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, publish_flood, &floods[i]), 0);
	/* Or the pings are over before a thread has begun. */
	for (int i = 0; i < 2; i++)
		while (!__atomic_load_n(&floods[i].published, __ATOMIC_RELAXED))
			sleep_ms(1);
	ping_start(&p, w);
	ping_all(&p);
	for (int i = 0; i < 2; i++)
		__atomic_store_n(&floods[i].stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void channel_that_floods(void)
{
	struct wic *w = open_default();

	ping_beside_a_flood(w, channel(w, FLOOD_TAGS, 0, 1));
	close_quietly(w);
}

static void context_that_floods(void)
{
	struct wic *noisy = open_default(), *w = open_default();

	ping_beside_a_flood(w, channel(noisy, FLOOD_TAGS, 0, 1));
	close_quietly(w);
	close_quietly(noisy);
}

struct beside_args {
	struct wic_handle h;
	uint32_t turns; /* of the warp that does not wait; atomic */
	int rc;
};

static void beside_kernel(const void *arg)
{
	struct beside_args *a = (struct beside_args *)(uintptr_t)arg;

	if (wic_warp_id() == 0)
		a->rc = wic_wait(&a->h, NULL, 1, 1, TIMEOUT);
	while (wic_warp_id() == 1 && a->turns < 10000) {
		wic_turn();
		wic_atomic_add_u32(&a->turns, 1);
	}
}

/* What floods is a tag beside the one that is waited for: others of that SM go on. */
static void tag_beside_that_floods(void)
{
	struct wic *w = open_one_sm(0, 0);
	struct wic_channel *ch = channel(w, 2, 0, 1);
	struct beside_args a = { .h = wic_channel_handle(ch) };
	struct flood flood = { .ch = ch, .count = 1 };
	pthread_t thread;

	TEST_EQ(pthread_create(&thread, NULL, publish_flood, &flood), 0);
	launch(w, beside_kernel, &a, 1, 2 * 32);
	wait_until(&a.turns, 10000);
	__atomic_store_n(&flood.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	TEST_EQ(wic_publish(ch, 1, 1), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	close_quietly(w);
}

/* --- floods of requests ----------------------------------------------------------- */

struct retry_args {
	struct wic_handle h;
	uint32_t stop, ended, other;
};

/* Ask for what never comes, give up after 1 ms, ask again. */
static void retry_kernel(const void *arg)
{
	struct retry_args *a = (struct retry_args *)(uintptr_t)arg;
	uint32_t tag = (wic_block_id() * wic_block_warps() + wic_warp_id()) % a->h.tags;

	while (!load(&a->stop)) {
		void *data;
		int rc = wic_request(&a->h, NULL, tag, 1, WIC_MS(1), &data);

		wic_atomic_add_u32(rc == -ETIMEDOUT ? &a->ended : &a->other, 1);
	}
}

static void launch_retries(struct wic *w, struct wic_channel *ch, struct retry_args *a,
			   uint32_t device)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;

	*a = (struct retry_args){ .h = wic_channel_handle(ch) };
	l.kernel = retry_kernel;
	l.args = a;
	l.grid_blocks = 8;
	l.block_threads = 4 * 32;
	l.device = WIC_GPU(device);
	TEST_EQ(wic_launch(w, &l), 0);
}

/* One Monitor serves both devices; their pools are their own, and this one is always full. */
static void device_that_floods(void)
{
	struct wic_channel_desc d = channel_desc();
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct retry_args retry;
	struct wic_channel *ch;
	struct ping p;
	struct wic *w;

	cfg.devices = 2;
	cfg.sms = 1;
	cfg.pool_pages = 16;
	w = open_with(cfg);
	d.tags = 32;
	d.bytes_per_tag = BYTES;
	d.consumer = WIC_GPU(1);
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	launch_retries(w, ch, &retry, 1);
	ping_start(&p, w);
	ping_all(&p);
	__atomic_store_n(&retry.stop, 1, __ATOMIC_RELEASE);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_TRUE(retry.ended >= 32);
	TEST_EQ(retry.other, 0);
	close_quietly(w);
}

static void context_that_retries(void)
{
	struct wic *noisy = open_default(), *w = open_default();
	struct retry_args retry;
	struct ping p;

	launch_retries(noisy, channel(noisy, 32, BYTES, 1), &retry, 0);
	ping_start(&p, w);
	ping_all(&p);
	__atomic_store_n(&retry.stop, 1, __ATOMIC_RELEASE);
	TEST_EQ(wic_sync(noisy, TIMEOUT), 0);
	TEST_EQ(retry.other, 0);
	close_quietly(w);
	close_quietly(noisy);
}

/* --- stalls -------------------------------------------------------------------------- */

struct mixed_args {
	struct wic_handle stalled;
	struct take_args take;
	uint32_t stalls, canceled;
};

/* Warp 0 of the last block goes on, all others wait for what never comes. */
static void mixed_kernel(const void *arg)
{
	struct mixed_args *a = (struct mixed_args *)(uintptr_t)arg;
	uint32_t me = wic_block_id() * wic_block_warps() + wic_warp_id();
	void *data;

	if (wic_block_id() == wic_grid_blocks() - 1 && wic_warp_id() == 0) {
		take_kernel(&a->take);
		return;
	}
	wic_atomic_add_u32(&a->stalls, 1);
	if (wic_request(&a->stalled, NULL, me, 1, WIC_FOREVER, &data) == -ECANCELED)
		wic_atomic_add_u32(&a->canceled, 1);
}

/* The others of its SM, of its batch and of its block are parked for ever. */
static void channel_that_stalls(void)
{
	struct wic *w = open_one_sm(0, 0);
	struct wic_channel *stalled = channel(w, 64, BYTES, 1), *ch = channel(w, 1, BYTES, 1);
	struct mixed_args a = { .stalled = wic_channel_handle(stalled),
				.take = take_args(ch, 1, PINGS) };

	/* take_kernel() gives tags by the warp's number in the grid: all to this one. */
	a.take.all_warps = 1;
	launch(w, mixed_kernel, &a, 8, 4 * 32);
	for (uint32_t i = 1; i <= PINGS; i++) {
		stage_and_publish(ch, 0, i, BYTES);
		wait_until(&a.take.taken, i);
	}
	TEST_EQ(load(&a.stalls), 31);
	TEST_EQ(load(&a.canceled), 0);
	TEST_EQ(wic_channel_close(stalled), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.canceled, 31);
	TEST_EQ(a.take.rc, 0);
	TEST_EQ(a.take.wrong, 0);
	close_quietly(w);
}

/* Nobody takes what this channel's producer has published: its stage waits, others do not. */
static void *stage_for_ever(void *arg)
{
	void *buffer;

	return (void *)(intptr_t)wic_stage(arg, 0, stage_depth() + 1, WIC_FOREVER, &buffer);
}

static void producer_that_stalls(void)
{
	struct wic *w = open_default();
	struct wic_channel *full = channel(w, 1, BYTES, 1);
	pthread_t thread;
	struct ping p;
	void *rc;

	(void)fill_buffers(full, 0, BYTES);
	TEST_EQ(pthread_create(&thread, NULL, stage_for_ever, full), 0);
	ping_start(&p, w);
	ping_all(&p);
	TEST_EQ(wic_channel_close(full), 0);
	pthread_join(thread, &rc);
	TEST_TRUE((intptr_t)rc == -ECANCELED || (intptr_t)rc == -EINVAL);
	close_quietly(w);
}

/* --- the same tags of two channels ------------------------------------------------- */

#define PAIRS 64

/* A foreign signal completes no wait (pytorch#192581): all tags, three channels, two contexts. */
static void channels_never_wake_each_other(void)
{
	struct wic *other = open_default(), *w = open_default();
	struct wic_channel *foreign[3] = { channel(w, PAIRS, BYTES, 1), NULL, NULL };
	struct wic_channel *ch = channel(w, PAIRS, BYTES, 1);
	struct take_args a = take_args(ch, PAIRS, 1);

	foreign[1] = channel(w, PAIRS, BYTES, 1);
	foreign[2] = channel(other, PAIRS, BYTES, 1);
	launch(w, take_kernel, &a, 8, 4 * 32);
	for (int i = 0; i < 3; i++)
		for (uint32_t t = 0; t < PAIRS; t++)
			stage_and_publish(foreign[i], t, 1 + (uint64_t)i % 2, BYTES);
	TEST_EQ(wic_sync(w, WIC_MS(50)), -ETIMEDOUT);
	TEST_EQ(load(&a.taken), 0);
	/* One of its own wakes one. */
	stage_and_publish(ch, 17, 1, BYTES);
	wait_until(&a.taken, 1);
	sleep_ms(10);
	TEST_EQ(load(&a.taken), 1);
	for (uint32_t t = 0; t < PAIRS; t++)
		if (t != 17)
			stage_and_publish(ch, t, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.wrong, 0);
	close_quietly(w);
	close_quietly(other);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(channel_that_floods),
		TEST(context_that_floods),
		TEST(tag_beside_that_floods),
		TEST(device_that_floods),
		TEST(context_that_retries),
		TEST(channel_that_stalls),
		TEST(producer_that_stalls),
		TEST(channels_never_wake_each_other),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
