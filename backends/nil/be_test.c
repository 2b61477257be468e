// SPDX-License-Identifier: MIT OR GPL-2.0
/* The nil back-end by the public API: what is there at once, and what is refused. */
#include <stdbool.h>
#include <stdlib.h>

#include <wic/kernel.h>
#include <wic/wic.h>

#include "tests/test.h"

#define TAGS 40u
#define BYTES 100u

static struct wic *open_nil(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w = NULL;

	cfg.backend = "nil";
	TEST_EQ(wic_open(&cfg, &w), 0);
	return w;
}

static struct wic_channel *channel(struct wic *w, uint64_t bytes, bool to_host)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_channel *ch = NULL;

	d.tags = TAGS;
	d.bytes_per_tag = bytes;
	d.producer = to_host ? WIC_GPU(0) : WIC_HOST;
	d.consumer = to_host ? WIC_HOST : WIC_GPU(0);
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	return ch;
}

static void by_name_only(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w = open_nil();

	TEST_STR_HAS(wic_describe(w), "nil, carries nothing");
	wic_close(w);
	cfg.backend = "auto";
	cfg.pool_pages = 64;
	TEST_EQ(wic_open(&cfg, &w), 0);
	TEST_TRUE(strncmp(wic_describe(w), "nil", 3));
	wic_close(w);
	TEST_EQ(setenv("WIC_BACKEND", "nil", 1), 0);
	TEST_EQ(wic_open(NULL, &w), 0);
	TEST_STR_HAS(wic_describe(w), "nil");
	wic_close(w);
	TEST_EQ(unsetenv("WIC_BACKEND"), 0);
}

static void producing_never_waits(void)
{
	struct wic *w = open_nil();
	struct wic_channel *ch = channel(w, BYTES, false), *signals = channel(w, 0, false);
	struct wic_producer *p = NULL;
	unsigned char *first = NULL;
	void *buffer = NULL;

	for (uint64_t e = 1; e <= 3; e++)
		for (uint32_t t = 0; t < TAGS; t++) {
			TEST_EQ(wic_stage(ch, t, e, WIC_FOREVER, &buffer), 0);
			/* Read and written by whoever wants: one buffer of the documented size. */
			if (!first)
				first = buffer;
			TEST_TRUE(first == buffer && (uintptr_t)buffer % 64 == 0);
			memset(buffer, (int)e, BYTES);
			TEST_EQ(wic_publish(ch, t, e), 0);
		}
	TEST_EQ(wic_try_stage(ch, 0, 9, &buffer), 0);
	TEST_EQ(wic_publish_range(signals, 0, TAGS, 7), 0);
	TEST_EQ(wic_producer_open(ch, 16, 16, 0, &p), 0);
	TEST_EQ(wic_producer_stage(p, 20, 9, 0, &buffer), 0);
	TEST_EQ(wic_producer_publish(p, 20, 9), 0);
	/* What lib/ refuses, here too. */
	TEST_EQ(wic_publish(ch, 20, 10), -EBUSY);
	TEST_EQ(wic_publish(ch, TAGS, 10), -EINVAL);
	TEST_EQ(wic_stage(signals, 0, 1, 0, &buffer), -EINVAL);
	wic_producer_close(p);
	TEST_EQ(wic_channel_close(ch), 0);
	TEST_EQ(wic_publish(ch, 0, 10), -EINVAL);
	wic_close(w);
}

static void consuming_never_waits(void)
{
	struct wic *w = open_nil();
	struct wic_channel *ch = channel(w, BYTES, true);
	const unsigned char *bytes;
	const void *data = NULL;

	TEST_EQ(wic_host_wait(ch, 0, WIC_EPOCH_LAST, WIC_FOREVER), 0);
	TEST_EQ(wic_host_request(ch, 3, 1, 0, &data), 0);
	bytes = data;
	for (uint32_t i = 0; i < BYTES; i++)
		TEST_EQ(bytes[i], 0);
	TEST_EQ(wic_host_release(ch, 3, 1), 0);
	wic_cancel(w);
	TEST_EQ(wic_host_wait(ch, 0, 1, WIC_FOREVER), 0);
	wic_cancel_clear(w);
	wic_close(w);
}

static void kernel(const void *arg)
{
	(void)arg;
}

static void no_kernel_runs(void)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic_stats s = WIC_STATS_INIT;
	struct wic *w = open_nil();
	struct wic_channel *ch = channel(w, BYTES, false);
	struct wic_handle h = wic_channel_handle(ch);
	size_t count = 9;

	l.kernel = kernel;
	TEST_EQ(wic_launch(w, &l), -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "launch");
	TEST_EQ(wic_sync(w, WIC_FOREVER), 0);
	TEST_EQ(wic_waiters(w, NULL, 0, &count), 0);
	TEST_EQ(count, 0);
	TEST_EQ(wic_stats_get(w, &s), 0);
	TEST_EQ(s.requests, 0);
	TEST_EQ(h.tags, 0);
	TEST_EQ(wic_wait(&h, NULL, 0, 1, 0), -EINVAL);
	wic_close(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(by_name_only),
		TEST(producing_never_waits),
		TEST(consuming_never_waits),
		TEST(no_kernel_runs),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
