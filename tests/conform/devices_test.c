// SPDX-License-Identifier: MIT OR GPL-2.0
/* Logical devices, kernels that produce, host threads that consume. */
#include <errno.h>
#include <stdlib.h>

#include "tests/conform/conform.h"

#define BYTES 5000 /* two pages, the second in part */
#define WORDS (BYTES / 8)

static struct wic *open_devices(uint32_t devices)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	cfg.devices = devices;
	cfg.sms = 1;
	cfg.pool_pages = 64;
	return open_with(cfg);
}

static struct wic_channel *join(struct wic *w, struct wic_device_id from, struct wic_device_id to,
				uint32_t tags, uint64_t bytes, uint32_t readers)
{
	struct wic_channel_desc d = channel_desc();
	struct wic_channel *ch = NULL;

	d.producer = from;
	d.consumer = to;
	d.tags = tags;
	d.bytes_per_tag = bytes;
	d.readers = readers;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	return ch;
}

static void launch_on(struct wic *w, uint32_t device, void (*kernel)(const void *), void *args,
		      uint32_t blocks, uint32_t threads)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;

	l.kernel = kernel;
	l.args = args;
	l.grid_blocks = blocks;
	l.block_threads = threads;
	l.device = WIC_GPU(device);
	TEST_EQ(wic_launch(w, &l), 0);
}

struct make_args {
	struct wic_handle h;
	uint64_t epochs;
	uint64_t timeout_ns;
	int rc;
	uint32_t made;
};

static void make_one(struct make_args *a, uint32_t tag, uint64_t epoch)
{
	void *buffer = NULL;
	uint64_t *words;
	int rc = wic_warp_stage(&a->h, NULL, tag, epoch, a->timeout_ns, &buffer);

	if (!rc) {
		words = buffer;
		for (uint64_t i = 0; i < a->h.bytes_per_tag / 8; i++)
			words[i] = word_of(tag, epoch, i);
		rc = wic_warp_publish(&a->h, tag, epoch);
	}
	if (rc)
		__atomic_store_n(&a->rc, rc, __ATOMIC_RELAXED);
	else
		wic_atomic_add_u32(&a->made, 1);
}

/* Warp w makes tags w, w + n, ... of all epochs. */
static void make_kernel(const void *arg)
{
	struct make_args *a = (struct make_args *)(uintptr_t)arg;
	uint32_t warps = wic_grid_blocks() * wic_block_warps();
	uint32_t me = wic_block_id() * wic_block_warps() + wic_warp_id();

	for (uint64_t e = 1; e <= a->epochs; e++)
		for (uint32_t tag = me; tag < a->h.tags; tag += warps)
			make_one(a, tag, e);
}

static struct make_args make_args(struct wic_channel *ch, uint64_t epochs)
{
	return (struct make_args){ .h = wic_channel_handle(ch),
				   .epochs = epochs,
				   .timeout_ns = TIMEOUT };
}

/* One tag on the host; returns how many of its words were wrong. */
static uint32_t take_on_host(struct wic_channel *ch, uint32_t tag, uint64_t epoch)
{
	const void *data = NULL;
	uint32_t wrong = 0;

	TEST_EQ(wic_host_request(ch, tag, epoch, TIMEOUT, &data), 0);
	for (uint64_t i = 0; i < WORDS; i++)
		wrong += ((const uint64_t *)data)[i] != word_of(tag, epoch, i);
	TEST_EQ(wic_host_release(ch, tag, epoch), 0);
	return wrong;
}

/* More epochs and tags than buffers or pages: both sides have to wait for the other. */
static void device_to_host(void)
{
	struct wic *w = open_devices(1);
	struct wic_channel *ch = join(w, WIC_GPU(0), WIC_HOST, 40, BYTES, 1);
	struct make_args a = make_args(ch, 20);

	launch_on(w, 0, make_kernel, &a, 4, 64);
	for (uint64_t e = 1; e <= 20; e++)
		for (uint32_t tag = 0; tag < 40; tag++)
			TEST_EQ(take_on_host(ch, tag, e), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.made, 800);
	close_quietly(w);
}

static void device_to_device(void)
{
	struct wic *w = open_devices(2);
	struct wic_channel *ch = join(w, WIC_GPU(1), WIC_GPU(0), 30, BYTES, 1);
	struct make_args make = make_args(ch, 20);
	struct take_args take = take_args(ch, 30, 20);

	launch_on(w, 0, take_kernel, &take, 3, 64);
	launch_on(w, 1, make_kernel, &make, 2, 96);
	TEST_EQ(wic_sync_device(w, WIC_GPU(1), TIMEOUT), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(make.rc, 0);
	TEST_EQ(take.rc, 0);
	TEST_EQ(take.wrong, 0);
	TEST_EQ(take.taken, 600);
	close_quietly(w);
}

struct ping_args {
	struct wic_handle in, out;
	uint64_t rounds;
	uint32_t first; /* sends before it takes */
	int rc;
	uint32_t wrong;
};

static int ping_send(struct ping_args *a, uint64_t epoch, uint64_t value)
{
	void *buffer;
	int rc = wic_warp_stage(&a->out, NULL, 0, epoch, TIMEOUT, &buffer);

	if (rc)
		return rc;
	*(uint64_t *)buffer = value;
	return wic_warp_publish(&a->out, 0, epoch);
}

/* Each adds one to what came and sends it back. */
static void ping_kernel(const void *arg)
{
	struct ping_args *a = (struct ping_args *)(uintptr_t)arg;
	uint64_t value = 0;

	if (a->first)
		a->rc = ping_send(a, 1, 1);
	for (uint64_t e = 1; e <= a->rounds && !a->rc; e++) {
		void *data;

		a->rc = wic_request(&a->in, NULL, 0, e, TIMEOUT, &data);
		if (a->rc)
			return;
		value = *(uint64_t *)data;
		a->rc = wic_release(&a->in, 0, e);
		a->wrong += value != 2 * e - !a->first;
		if (!a->rc && (!a->first || e < a->rounds))
			a->rc = ping_send(a, a->first ? e + 1 : e, value + 1);
	}
}

static void ping_pong(void)
{
	struct wic *w = open_devices(2);
	struct wic_channel *there = join(w, WIC_GPU(0), WIC_GPU(1), 1, 8, 1);
	struct wic_channel *back = join(w, WIC_GPU(1), WIC_GPU(0), 1, 8, 1);
	struct ping_args a = { .in = wic_channel_handle(back),
			       .out = wic_channel_handle(there),
			       .rounds = 300,
			       .first = 1 };
	struct ping_args b = { .in = wic_channel_handle(there),
			       .out = wic_channel_handle(back),
			       .rounds = 300 };

	launch_on(w, 0, ping_kernel, &a, 1, 32);
	launch_on(w, 1, ping_kernel, &b, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(b.rc, 0);
	TEST_EQ(a.wrong, 0);
	TEST_EQ(b.wrong, 0);
	close_quietly(w);
}

static void signal_kernel(const void *arg)
{
	struct make_args *a = (struct make_args *)(uintptr_t)arg;

	for (uint64_t e = 1; e <= a->epochs; e++)
		if (wic_warp_publish(&a->h, 0, e))
			a->rc = -1;
}

static void signals_to_host(void)
{
	struct wic *w = open_devices(1);
	struct wic_channel *ch = join(w, WIC_GPU(0), WIC_HOST, 1, 0, 1);
	struct make_args a = make_args(ch, 1000);
	const void *data;

	TEST_EQ(wic_host_wait(ch, 0, 1, 0), -EAGAIN);
	launch_on(w, 0, signal_kernel, &a, 1, 32);
	TEST_EQ(wic_host_wait(ch, 0, 1000, TIMEOUT), 0);
	TEST_EQ(wic_host_wait(ch, 0, 7, 0), 0);
	TEST_EQ(wic_host_request(ch, 0, 1, 0, &data), -EINVAL);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	close_quietly(w);
}

static void host_times_out(void)
{
	struct wic *w = open_devices(1);
	struct wic_channel *ch = join(w, WIC_GPU(0), WIC_HOST, 2, BYTES, 1);
	uint64_t begin = now_ns();
	const void *data;

	TEST_EQ(wic_host_request(ch, 1, 1, WIC_MS(50), &data), -ETIMEDOUT);
	TEST_TRUE(now_ns() - begin >= WIC_MS(50));
	TEST_STR_HAS(wic_last_error(), "epoch 1 of tag 1 of channel 0");
	TEST_EQ(wic_host_wait(ch, 1, 1, WIC_MS(1)), -ETIMEDOUT);
	TEST_EQ(wic_host_request(ch, 1, 1, 0, &data), -EAGAIN);
	TEST_EQ(wic_host_release(ch, 1, 1), -EINVAL);
	close_quietly(w);
}

struct host_waiter {
	struct wic_channel *ch;
	uint32_t tag;
	int rc;
};

static void *host_waits(void *arg)
{
	struct host_waiter *h = arg;
	const void *data;

	h->rc = wic_host_request(h->ch, h->tag, 1, WIC_FOREVER, &data);
	return NULL;
}

/* Some have pages, the rest wait for some: 32 usable, 2 a tag. */
static void close_ends_host_waits(void)
{
	struct wic *w = open_devices(1);
	struct wic_channel *ch = join(w, WIC_GPU(0), WIC_HOST, 24, BYTES, 1);
	struct host_waiter waiters[24];
	pthread_t threads[24];

	for (uint32_t i = 0; i < 24; i++) {
		waiters[i] = (struct host_waiter){ ch, i, 1 };
		TEST_EQ(pthread_create(&threads[i], NULL, host_waits, &waiters[i]), 0);
	}
	sleep_ms(50);
	TEST_EQ(wic_channel_close(ch), 0);
	for (uint32_t i = 0; i < 24; i++) {
		pthread_join(threads[i], NULL);
		TEST_EQ(waiters[i].rc, -ECANCELED);
	}
	close_quietly(w);
}

/* The context goes while threads wait in it: they come back first. */
static void close_while_threads_wait(void)
{
	for (int i = 0; i < 20; i++) {
		struct wic *w = open_devices(1);
		struct wic_channel *ch = join(w, WIC_GPU(0), WIC_HOST, 8, BYTES, 1);
		struct host_waiter waiters[8];
		pthread_t threads[8];

		for (uint32_t t = 0; t < 8; t++) {
			waiters[t] = (struct host_waiter){ ch, t, 1 };
			TEST_EQ(pthread_create(&threads[t], NULL, host_waits, &waiters[t]), 0);
		}
		for (size_t count = 0; count < 8;)
			TEST_EQ(wic_waiters(w, NULL, 0, &count), 0);
		close_quietly(w);
		for (uint32_t t = 0; t < 8; t++) {
			pthread_join(threads[t], NULL);
			TEST_EQ(waiters[t].rc, -ECANCELED);
		}
	}
}

/* Nobody takes epoch 1, so a stage waits in the end: until its deadline, or the close. */
static void stage_in_a_kernel_ends(void)
{
	struct wic *w = open_devices(1);
	struct wic_channel *ch = join(w, WIC_GPU(0), WIC_HOST, 3, BYTES, 1);
	struct make_args a = make_args(ch, stage_depth() + 1);

	a.timeout_ns = WIC_MS(20);
	launch_on(w, 0, make_kernel, &a, 1, 96);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -ETIMEDOUT);
	TEST_EQ(a.made, 3 * stage_depth());

	a = make_args(ch, stage_depth() + 2);
	a.timeout_ns = WIC_FOREVER;
	a.rc = 0;
	/* What is published is refused, the two after that wait. */
	launch_on(w, 0, make_kernel, &a, 1, 96);
	sleep_ms(30);
	TEST_EQ(wic_sync(w, 0), -ETIMEDOUT);
	TEST_EQ(wic_channel_close(ch), 0);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_TRUE(a.rc == -ECANCELED || a.rc == -EINVAL);
	TEST_EQ(a.made, 0);
	close_quietly(w);
}

struct wrong_args {
	struct wic_handle to_other, from_host, to_me;
	int rc[8];
};

static void wrong_kernel(const void *arg)
{
	struct wrong_args *a = (struct wrong_args *)(uintptr_t)arg;
	void *data;

	a->rc[0] = wic_request(&a->to_other, NULL, 0, 1, WIC_MS(5), &data);
	a->rc[1] = wic_wait(&a->to_other, NULL, 0, 1, WIC_MS(5));
	a->rc[2] = wic_release(&a->to_other, 0, 1);
	a->rc[3] = wic_warp_stage(&a->from_host, NULL, 0, 1, WIC_MS(5), &data);
	a->rc[4] = wic_warp_publish(&a->from_host, 0, 1);
	a->rc[5] = wic_warp_stage(&a->to_me, NULL, 9, 1, WIC_MS(5), &data);
	a->rc[6] = wic_warp_stage(&a->to_me, NULL, 0, WIC_EPOCH_NONE, WIC_MS(5), &data);
	a->rc[7] = wic_warp_stage(&a->to_me, NULL, 0, 1, WIC_MS(5), NULL);
}

static void wrong_side(void)
{
	struct wic *w = open_devices(2);
	struct wic_channel *to_one = join(w, WIC_HOST, WIC_GPU(1), 1, 64, 1);
	struct wic_channel *to_zero = join(w, WIC_GPU(0), WIC_GPU(0), 1, 64, 1);
	struct wic_channel *to_host = join(w, WIC_GPU(0), WIC_HOST, 1, 64, 1);
	struct wrong_args a = { .to_other = wic_channel_handle(to_one),
				.from_host = wic_channel_handle(to_one),
				.to_me = wic_channel_handle(to_zero) };
	const void *data;
	void *buffer;

	/* Its data is on no page of device 0's, and if it were it would be another's. */
	stage_and_publish(to_one, 0, 1, 64);
	launch_on(w, 0, wrong_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	for (int i = 0; i < 8; i++)
		TEST_EQ(a.rc[i], -EINVAL);
	TEST_EQ(wic_stage(to_host, 0, 1, 0, &buffer), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "its producer is device 0, not the host");
	TEST_EQ(wic_publish(to_host, 0, 1), -EINVAL);
	TEST_EQ(wic_host_wait(to_one, 0, 1, 0), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "its consumer is device 1, not the host");
	TEST_EQ(wic_host_request(to_one, 0, 1, 0, &data), -EINVAL);
	TEST_EQ(wic_host_release(to_one, 0, 1), -EINVAL);
	close_quietly(w);
}

struct other_args {
	struct wic_handle h;
	uint32_t is_held, may_end; /* atomics */
	int rc[3];
};

static void hold_kernel(const void *arg)
{
	struct other_args *a = (struct other_args *)(uintptr_t)arg;
	void *data;

	a->rc[0] = wic_request(&a->h, NULL, 0, 1, TIMEOUT, &data);
	__atomic_store_n(&a->is_held, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&a->may_end, __ATOMIC_ACQUIRE))
		WIC_TURN();
	a->rc[0] |= wic_release(&a->h, 0, 1);
}

static void steal_kernel(const void *arg)
{
	struct other_args *a = (struct other_args *)(uintptr_t)arg;
	void *data;

	while (!__atomic_load_n(&a->is_held, __ATOMIC_ACQUIRE))
		WIC_TURN();
	a->rc[1] = wic_try(&a->h, 0, 1, &data);
	a->rc[2] = wic_release(&a->h, 0, 1);
	__atomic_store_n(&a->may_end, 1, __ATOMIC_RELEASE);
}

/* On a page, but of the other device: neither given out nor given back. */
static void data_of_another_device(void)
{
	struct wic *w = open_devices(2);
	struct wic_channel *ch = join(w, WIC_HOST, WIC_GPU(1), 1, 64, 1);
	struct other_args a = { .h = wic_channel_handle(ch) };

	stage_and_publish(ch, 0, 1, 64);
	launch_on(w, 1, hold_kernel, &a, 1, 32);
	launch_on(w, 0, steal_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc[0], 0);
	TEST_EQ(a.rc[1], -EINVAL);
	TEST_EQ(a.rc[2], -EINVAL);
	close_quietly(w);
}

/* A device that runs does not keep another from being launched. */
static void devices_launch_apart(void)
{
	struct wic *w = open_devices(2);
	struct wic_channel *slow = join(w, WIC_HOST, WIC_GPU(0), 1, 64, 1);
	struct wic_channel *fast = join(w, WIC_HOST, WIC_GPU(1), 1, 64, 1);
	struct take_args a = take_args(slow, 1, 1), b = take_args(fast, 1, 1);
	struct wic_launch_desc again = WIC_LAUNCH_DESC_INIT;

	launch_on(w, 0, take_kernel, &a, 1, 32);
	launch_on(w, 1, take_kernel, &b, 1, 32);
	again.kernel = take_kernel;
	again.args = &a;
	TEST_EQ(wic_launch(w, &again), -EBUSY);
	stage_and_publish(fast, 0, 1, 64);
	TEST_EQ(wic_sync_device(w, WIC_GPU(1), TIMEOUT), 0);
	TEST_EQ(wic_sync_device(w, WIC_GPU(0), 0), -ETIMEDOUT);
	TEST_EQ(wic_sync(w, WIC_MS(1)), -ETIMEDOUT);
	stage_and_publish(slow, 0, 1, 64);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.taken + b.taken, 2);
	close_quietly(w);
}

struct relay {
	struct wic *w;
	uint32_t turn;  /* atomic: launches so far */
	uint32_t ended; /* atomic: kernels up to this one may return */
	uint32_t stop;  /* atomic */
};

struct relay_args {
	struct relay *r;
	uint32_t turn;
};

/* Returns once the next one runs on the other device. */
static void relay_kernel(const void *arg)
{
	const struct relay_args *a = arg;

	while (load(&a->r->ended) < a->turn)
		WIC_TURN();
}

/* Launches that overlap: there is no moment at which no device runs one. */
static void *relay_launch(void *arg)
{
	struct relay_args args[2];
	struct relay *r = arg;

	for (uint32_t turn = 1; !load(&r->stop); turn++) {
		/* Its last kernel, two turns ago, has returned. */
		TEST_EQ(wic_sync_device(r->w, WIC_GPU(turn % 2), TIMEOUT), 0);
		args[turn % 2] = (struct relay_args){ r, turn };
		launch_on(r->w, turn % 2, relay_kernel, &args[turn % 2], 1, 32);
		__atomic_store_n(&r->turn, turn, __ATOMIC_RELEASE);
		__atomic_store_n(&r->ended, turn - 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&r->ended, UINT32_MAX, __ATOMIC_RELEASE);
	TEST_EQ(wic_sync(r->w, TIMEOUT), 0);
	return NULL;
}

/* Who waits for kernels waits for those launched before, whatever others launch. */
static void sync_while_others_launch(void)
{
	struct wic *w = open_devices(2);
	struct wic_channel *ch = join(w, WIC_HOST, WIC_GPU(0), 1, 64, 1);
	struct relay r = { .w = w };
	pthread_t thread;

	TEST_EQ(pthread_create(&thread, NULL, relay_launch, &r), 0);
	for (uint32_t i = 1; i <= 20; i++) {
		uint64_t end = now_ns() + TIMEOUT;

		while (load(&r.turn) < 2 * i) {
			TEST_TRUE(now_ns() < end);
			sleep_ms(0);
		}
		TEST_EQ(wic_sync(w, WIC_S(5)), 0);
	}
	wic_channel_destroy(ch);
	TEST_TRUE(!load(&r.stop));
	__atomic_store_n(&r.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	close_quietly(w);
}

/* All readers have to release before the host's page goes. */
static void host_readers(void)
{
	struct wic *w = open_devices(1);
	struct wic_channel *ch = join(w, WIC_GPU(0), WIC_HOST, 1, BYTES, 2);
	struct make_args a = make_args(ch, 1);
	const void *first, *second;

	launch_on(w, 0, make_kernel, &a, 1, 32);
	TEST_EQ(wic_host_request(ch, 0, 1, TIMEOUT, &first), 0);
	TEST_EQ(wic_host_release(ch, 0, 1), 0);
	TEST_EQ(wic_host_request(ch, 0, 1, TIMEOUT, &second), 0);
	TEST_TRUE(first == second);
	TEST_EQ(wic_host_release(ch, 0, 1), 0);
	TEST_EQ(wic_host_release(ch, 0, 1), -EINVAL);
	TEST_EQ(wic_host_request(ch, 0, 1, WIC_MS(5), &second), -EINVAL);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(device_to_host),
		TEST(device_to_device),
		TEST(ping_pong),
		TEST(signals_to_host),
		TEST(host_times_out),
		TEST(close_ends_host_waits),
		TEST(close_while_threads_wait),
		TEST(stage_in_a_kernel_ends),
		TEST(wrong_side),
		TEST(data_of_another_device),
		TEST(devices_launch_apart),
		TEST(sync_while_others_launch),
		TEST(host_readers),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
