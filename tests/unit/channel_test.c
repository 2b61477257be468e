/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Channels: every refusal that the documentation names, and what reaches the back-end. */
#include "tests/unit/fake.h"
#include "tests/unit/wrap.h"

static struct wic_channel *const untouched = (struct wic_channel *)0x5a5a;

static struct wic_channel_desc desc(uint32_t tags, uint64_t bytes_per_tag)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;

	d.tags = tags;
	d.bytes_per_tag = bytes_per_tag;
	return d;
}

static int create_refused(struct wic *w, const struct wic_channel_desc *d)
{
	struct wic_channel *ch = untouched;
	int rc = wic_channel_create(w, d, &ch);

	TEST_TRUE(rc ? ch == untouched : ch != untouched);
	if (!rc)
		wic_channel_destroy(ch);
	return rc;
}

static void create_bad_pointers(void)
{
	struct wic_channel_desc d = desc(1, 0);
	struct wic *w;

	fake_init();
	w = fake_open();
	EXPECT_REFUSED(create_refused(NULL, &d), -EINVAL, "w is NULL");
	EXPECT_REFUSED(create_refused(w, NULL), -EINVAL, "d is NULL");
	EXPECT_REFUSED(wic_channel_create(w, &d, NULL), -EINVAL, "ch_out is NULL");
	wic_close(w);
	EXPECT_REFUSED(create_refused(w, &d), -EINVAL, "is not an open context");
	fake_fini();
}

static void create_bad_fields(void)
{
	static const struct {
		size_t offset;
		uint32_t value;
		int rc;
		const char *text;
	} cases[] = {
		{ offsetof(struct wic_channel_desc, tags), 0, -EINVAL, "tags is 0" },
		{ offsetof(struct wic_channel_desc, tags), (1 << 20) + 1, -EINVAL,
		  "tags is 1048577" },
		{ offsetof(struct wic_channel_desc, tags), UINT32_MAX, -EINVAL, "4294967295" },
		{ offsetof(struct wic_channel_desc, readers), 0, -EINVAL, "readers is 0" },
		{ offsetof(struct wic_channel_desc, readers), 65536, -EINVAL, "readers is 65536" },
		{ offsetof(struct wic_channel_desc, mode), 3, -EINVAL, "mode is 3" },
		{ offsetof(struct wic_channel_desc, mode), UINT32_MAX, -EINVAL, "4294967295" },
		{ offsetof(struct wic_channel_desc, flags), 2, -EINVAL, "flags are 0x2" },
		{ offsetof(struct wic_channel_desc, flags), WIC_CHANNEL_PAT, -EINVAL,
		  "WIC_CHANNEL_PAT" },
		{ offsetof(struct wic_channel_desc, producer), 1, -EINVAL, "producer is device 1" },
		{ offsetof(struct wic_channel_desc, consumer), 1, -EINVAL, "consumer is device 1" },
		{ offsetof(struct wic_channel_desc, consumer), WIC_DEVICE_HOST_VALUE, -ENOTSUP,
		  "from the host to the host" },
	};
	struct wic *w;

	fake_init();
	w = fake_open();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wic_channel_desc d = desc(8, 64);

		memcpy((char *)&d + cases[i].offset, &cases[i].value, sizeof(uint32_t));
		EXPECT_REFUSED(create_refused(w, &d), cases[i].rc, cases[i].text);
	}
	wic_close(w);
	fake_fini();
}

static void create_bad_sizes(void)
{
	struct {
		struct wic_channel_desc d;
		uint64_t more;
	} grown = { .d = desc(8, 64) };
	struct wic *w;

	fake_init();
	w = fake_open();
	grown.d.size_bytes = sizeof(grown);
	TEST_EQ(create_refused(w, &grown.d), 0);
	TEST_EQ(fake.d.size_bytes, sizeof(grown.d));
	grown.more = 1ull << 63;
	EXPECT_REFUSED(create_refused(w, &grown.d), -EINVAL, "wic_channel_desc: byte 47 is 128");
	grown.d.size_bytes = 0;
	EXPECT_REFUSED(create_refused(w, &grown.d), -EINVAL, "size_bytes is 0");
	grown.d.size_bytes = UINT64_MAX;
	EXPECT_REFUSED(create_refused(w, &grown.d), -EINVAL, "18446744073709551615");
	wic_close(w);
	fake_fini();
}

static void create_too_big(void)
{
	static const uint64_t bytes[] = { 4 * 4096 + 1, 1ull << 32, 1ull << 63, UINT64_MAX - 4095,
					  UINT64_MAX };
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel_desc d = desc(1 << 20, 4 * 4096);
	struct wic *w;
	char text[32];

	fake_init();
	cfg.pool_pages = 8;
	TEST_EQ(wic_open(&cfg, &w), 0);
	TEST_EQ(create_refused(w, &d), 0);
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		d.bytes_per_tag = bytes[i];
		snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes[i]);
		EXPECT_REFUSED(create_refused(w, &d), -E2BIG, text);
	}
	wic_close(w);
	fake_fini();
}

static void create_modes(void)
{
	struct wic_be_ops push = fake_ops;
	const struct wic_be_ops *const list[] = { &push, NULL };
	struct wic_channel_desc d = desc(1, 64);
	struct wic *w;

	fake_init();
	w = fake_open();
	TEST_EQ(create_refused(w, &d), 0);
	TEST_EQ(fake.d.mode, WIC_MODE_PULL);
	d.mode = WIC_MODE_PUSH;
	TEST_EQ(create_refused(w, &d), 0);
	TEST_EQ(fake.d.mode, WIC_MODE_PUSH);
	wic_close(w);
	push.caps = WIC_BE_CAP_PUSH | WIC_BE_CAP_EVENTS;
	fake_use(list);
	w = fake_open();
	d.mode = WIC_MODE_DEFAULT;
	TEST_EQ(create_refused(w, &d), 0);
	TEST_EQ(fake.d.mode, WIC_MODE_PUSH);
	d.mode = WIC_MODE_PULL;
	EXPECT_REFUSED(create_refused(w, &d), -ENOTSUP, "fake has no mode pull");
	wic_close(w);
	fake_fini();
}

static void create_at_most_64(void)
{
	struct wic_channel *ch[64];
	struct wic_channel_desc d = desc(1, 64);
	struct wic *w;

	fake_init();
	w = fake_open();
	for (int i = 0; i < 64; i++) {
		TEST_EQ(wic_channel_create(w, &d, &ch[i]), 0);
		TEST_EQ(fake.channel_id, i);
	}
	EXPECT_REFUSED(create_refused(w, &d), -ENOMEM, "has 64 channels");
	wic_channel_destroy(ch[17]);
	TEST_EQ(wic_channel_create(w, &d, &ch[17]), 0);
	TEST_EQ(fake.channel_id, 17);
	TEST_EQ(create_refused(w, &d), -ENOMEM);
	wic_close(w);
	fake_fini();
}

static void create_fails_below(void)
{
	static const int statuses[] = { -ENOMEM, -ENOTSUP, -EIO };
	struct wic_channel_desc d = desc(1, 64);
	struct wic *w;

	fake_init();
	w = fake_open();
	for (int i = 0; i < 100; i++) {
		fake.rc_channel_create = statuses[i % 3];
		TEST_EQ(create_refused(w, &d), statuses[i % 3]);
		TEST_STR_HAS(wic_last_error(), "the fake makes no channel");
	}
	fake.rc_channel_create = 0;
	for (int i = 0; i < 100; i++) {
		wrap_fail_next(1);
		EXPECT_REFUSED(create_refused(w, &d), -ENOMEM, "no memory for a channel");
	}
	TEST_EQ(create_refused(w, &d), 0);
	wic_close(w);
	fake_fini();
}

static void close_and_destroy_twice(void)
{
	struct wic_channel *ch;
	struct wic *w;

	fake_init();
	w = fake_open();
	ch = fake_channel(w, 64);
	EXPECT_REFUSED(wic_channel_close(NULL), -EINVAL, "ch is NULL");
	TEST_EQ(wic_channel_close(ch), 0);
	EXPECT_REFUSED(wic_channel_close(ch), -EINVAL, "channel 0 was closed before");
	TEST_EQ(fake.closes, 1);
	wic_channel_destroy(NULL);
	wic_channel_destroy(ch);
	TEST_EQ(fake.closes, 1);
	TEST_EQ(fake.channels, 0);
	wic_channel_destroy(ch);
	fake_log_expect(WIC_LOG_ERROR, "is not a channel");
	EXPECT_REFUSED(wic_channel_close(ch), -EINVAL, "is not a channel");
	ch = fake_channel(w, 64);
	fake.timeouts = 1;
	wic_channel_destroy(ch);
	fake_log_expect(WIC_LOG_WARN, "wic_channel_destroy: a kernel is still running after 1 s");
	TEST_EQ(fake.closes, 2);
	wic_close(w);
	fake_fini();
}

static void handle(void)
{
	struct wic_handle h;
	struct wic_channel *ch;
	struct wic *w;

	fake_init();
	w = fake_open();
	h = wic_channel_handle(NULL);
	TEST_TRUE(!h.dir && !h.data && !h.channel && !h.tags && !h.tags_inline && !h.bytes_per_tag);
	ch = fake_channel(w, 100);
	TEST_EQ(wic_channel_close(ch), 0);
	h = wic_channel_handle(ch);
	TEST_EQ(h.tags, 8);
	TEST_EQ(h.bytes_per_tag, 100);
	TEST_EQ(h.tags_inline, h.tags);
	wic_close(w);
	fake_fini();
}

static int stage_refused(struct wic_channel *ch, uint32_t tag, uint64_t epoch, bool is_try)
{
	void *buffer = untouched;
	int rc = is_try ? wic_try_stage(ch, tag, epoch, &buffer)
			: wic_stage(ch, tag, epoch, WIC_MS(1), &buffer);

	TEST_TRUE(rc ? buffer == (void *)untouched : buffer == fake_buffer);
	return rc;
}

static void stage_bad_arguments(void)
{
	struct wic_channel *ch, *signals;
	struct wic *w;

	fake_init();
	w = fake_open();
	ch = fake_channel(w, 64);
	signals = fake_channel(w, 0);
	for (int i = 0; i < 2; i++) {
		const char *who = i ? "wic_try_stage: " : "wic_stage: ";

		EXPECT_REFUSED(stage_refused(NULL, 0, 1, i), -EINVAL, "ch is NULL");
		EXPECT_REFUSED(stage_refused(ch, 8, 1, i), -EINVAL, "tag is 8, not in [0, 8)");
		EXPECT_REFUSED(stage_refused(ch, UINT32_MAX, 1, i), -EINVAL, "4294967295");
		EXPECT_REFUSED(stage_refused(ch, 0, 0, i), -EINVAL, "epoch is 0");
		EXPECT_REFUSED(stage_refused(ch, 0, UINT64_MAX, i), -EINVAL,
			       "18446744073709551615");
		EXPECT_REFUSED(stage_refused(signals, 0, 1, i), -EINVAL,
			       "channel 1 has no payload");
		EXPECT_REFUSED(stage_refused(signals, 0, 1, i), -EINVAL, who);
	}
	EXPECT_REFUSED(wic_stage(ch, 0, 1, 0, NULL), -EINVAL, "buffer_out is NULL");
	EXPECT_REFUSED(wic_try_stage(ch, 0, 1, NULL), -EINVAL, "buffer_out is NULL");
	TEST_EQ(wic_channel_close(ch), 0);
	for (int i = 0; i < 2; i++)
		EXPECT_REFUSED(stage_refused(ch, 0, 1, i), -EINVAL, "channel 0 is closed");
	wic_close(w);
	fake_fini();
}

static void stage_passes_on(void)
{
	static const int statuses[] = { -ETIMEDOUT, -ECANCELED, -EINVAL, -EBUSY, -EAGAIN, -EIO };
	struct wic_channel *ch;
	struct wic *w;

	fake_init();
	w = fake_open();
	ch = fake_channel(w, 64);
	TEST_EQ(stage_refused(ch, 7, WIC_EPOCH_LAST, false), 0);
	TEST_EQ(fake.tag_first, 7);
	TEST_TRUE(fake.epoch == WIC_EPOCH_LAST);
	TEST_EQ(fake.timeout_ns, 1000000);
	TEST_EQ(stage_refused(ch, 0, 1, true), 0);
	TEST_EQ(fake.timeout_ns, 0);
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		fake.rc_stage = statuses[i];
		TEST_EQ(stage_refused(ch, 0, 1, i % 2), statuses[i]);
	}
	wic_close(w);
	fake_fini();
}

static void publish_bad_arguments(void)
{
	struct wic_channel *ch;
	struct wic *w;

	fake_init();
	w = fake_open();
	ch = fake_channel(w, 0);
	EXPECT_REFUSED(wic_publish(NULL, 0, 1), -EINVAL, "ch is NULL");
	EXPECT_REFUSED(wic_publish(ch, 8, 1), -EINVAL, "channel 0: tag is 8");
	EXPECT_REFUSED(wic_publish(ch, UINT32_MAX, 1), -EINVAL, "4294967295");
	EXPECT_REFUSED(wic_publish(ch, 0, 0), -EINVAL, "epoch is 0");
	EXPECT_REFUSED(wic_publish(ch, 0, UINT64_MAX), -EINVAL, "18446744073709551615");
	EXPECT_REFUSED(wic_publish_range(NULL, 0, 1, 1), -EINVAL, "ch is NULL");
	EXPECT_REFUSED(wic_publish_range(ch, 0, 0, 1), -EINVAL, "tag_count is 0");
	EXPECT_REFUSED(wic_publish_range(ch, 0, 9, 1), -EINVAL, "tag_count is 9");
	EXPECT_REFUSED(wic_publish_range(ch, 1, 8, 1), -EINVAL, "tag_count is 8 from tag 1");
	EXPECT_REFUSED(wic_publish_range(ch, 8, 1, 1), -EINVAL, "tag is 8");
	EXPECT_REFUSED(wic_publish_range(ch, 7, UINT32_MAX, 1), -EINVAL, "4294967295");
	EXPECT_REFUSED(wic_publish_range(ch, UINT32_MAX, 2, 1), -EINVAL, "tag is 4294967295");
	EXPECT_REFUSED(wic_publish_range(ch, 0, 8, 0), -EINVAL, "epoch is 0");
	EXPECT_REFUSED(wic_publish_range(ch, 0, 8, UINT64_MAX), -EINVAL, "epoch is 184");
	TEST_EQ(wic_channel_close(ch), 0);
	EXPECT_REFUSED(wic_publish(ch, 0, 1), -EINVAL, "channel 0 is closed");
	EXPECT_REFUSED(wic_publish_range(ch, 0, 1, 1), -EINVAL, "channel 0 is closed");
	wic_close(w);
	fake_fini();
}

static void publish_passes_on(void)
{
	struct wic_channel *ch;
	struct wic *w;

	fake_init();
	w = fake_open();
	ch = fake_channel(w, 0);
	TEST_EQ(wic_publish(ch, 7, WIC_EPOCH_LAST), 0);
	TEST_EQ(fake.tag_first, 7);
	TEST_EQ(fake.tag_count, 1);
	TEST_TRUE(fake.epoch == WIC_EPOCH_LAST);
	TEST_EQ(wic_publish_range(ch, 0, 8, 1), 0);
	TEST_EQ(fake.tag_first, 0);
	TEST_EQ(fake.tag_count, 8);
	TEST_EQ(wic_publish_range(ch, 7, 1, 2), 0);
	fake.rc_publish = -EBUSY;
	TEST_EQ(wic_publish(ch, 0, 1), -EBUSY);
	TEST_EQ(wic_publish_range(ch, 0, 1, 1), -EBUSY);
	wic_close(w);
	fake_fini();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(create_bad_pointers),
		TEST(create_bad_fields),
		TEST(create_bad_sizes),
		TEST(create_too_big),
		TEST(create_modes),
		TEST(create_at_most_64),
		TEST(create_fails_below),
		TEST(close_and_destroy_twice),
		TEST(handle),
		TEST(stage_bad_arguments),
		TEST(stage_passes_on),
		TEST(publish_bad_arguments),
		TEST(publish_passes_on),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
