// SPDX-License-Identifier: MIT OR GPL-2.0
/* Contexts and channels: what they say, and what they refuse. */
#include "tests/gpu/gpu.h"

static void open_says_what_it_found(void)
{
	struct gpu g = gpu_open(1);
	const char *text = wic_describe(g.w);

	TEST_STR_HAS(text, "cuda, ");
	TEST_STR_HAS(text, "(sm_");
	TEST_STR_HAS(text, " SMs, driver ");
	TEST_STR_HAS(text, "warps park on ");
	TEST_TRUE(wic_is_gpu(g.w));
	gpu_close(&g);
}

static void open_again_and_again(void)
{
	for (int i = 0; i < 3; i++) {
		struct gpu g = gpu_open(i % 2 + 1);

		gpu_close(&g);
	}
}

static void expect_refused(struct gpu *g, const struct wic_channel_desc *d, int rc,
			   const char *text)
{
	struct wic_channel *ch = NULL;

	TEST_EQ(wic_channel_create(g->w, d, &ch), rc);
	TEST_TRUE(!ch);
	TEST_STR_HAS(wic_last_error(), text);
}

static void channel_create_what_a_gpu_has_not(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel_desc d = gpu_desc(WIC_HOST, WIC_GPU(0), 16, 4097);

	expect_refused(&g, &d, -ENOTSUP, "bytes_per_tag is 4097");
	d = gpu_desc(WIC_GPU(0), WIC_HOST, 16, 8);
	d.flags = WIC_CHANNEL_PAT;
	expect_refused(&g, &d, -ENOTSUP, "WIC_CHANNEL_PAT");
	d.flags = 0;
	d.mode = WIC_MODE_PULL;
	expect_refused(&g, &d, -ENOTSUP, "no mode pull");
	d = gpu_desc(WIC_HOST, WIC_HOST, 16, 8);
	expect_refused(&g, &d, -ENOTSUP, "from the host to the host");
	d = gpu_desc(WIC_HOST, WIC_GPU(1), 16, 8);
	expect_refused(&g, &d, -EINVAL, "consumer is device 1");
	d = gpu_desc(WIC_HOST, WIC_GPU(0), 16, 4096);
	wic_channel_destroy(gpu_channel_of(&g, &d));
	gpu_close(&g);
}

static void producer_open_two_over_one_line(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 64, 8);
	struct wic_producer *p = NULL, *other = NULL;
	void *buffer;

	TEST_EQ(wic_producer_open(ch, 16, 32, 0, &p), 0);
	TEST_EQ(wic_producer_open(ch, 32, 16, 0, &other), -EBUSY);
	TEST_EQ(wic_producer_open(ch, 8, 16, 0, &other), -EINVAL);
	TEST_EQ(wic_stage(ch, 47, 1, 0, &buffer), -EBUSY);
	TEST_EQ(wic_stage(ch, 48, 1, 0, &buffer), 0);
	TEST_EQ(wic_producer_stage(p, 48, 1, 0, &buffer), -EBUSY);
	TEST_EQ(wic_producer_open(ch, 48, 16, 0, &other), 0);
	wic_producer_close(p);
	wic_producer_close(other);
	gpu_close(&g);
}

/* Memory of each kind is zero, takes copies from each other kind, and is given back. */
static void memory_of_each_kind(void)
{
	static const enum wic_mem kinds[] = { WIC_MEM_HOST, WIC_MEM_DEVICE, WIC_MEM_MANAGED };
	struct gpu g = gpu_open(1);
	uint64_t seen, value = 0;
	void *p[3] = { NULL };

	for (uint32_t i = 0; i < 3; i++) {
		TEST_EQ(wic_mem_alloc(g.w, kinds[i], WIC_GPU(0), 5000, &p[i]), 0);
		seen = 1;
		TEST_EQ(wic_mem_copy(g.w, &seen, (char *)p[i] + 4992, sizeof(seen)), 0);
		TEST_EQ(seen, 0);
	}
	for (uint32_t from = 0; from < 3; from++)
		for (uint32_t to = 0; to < 3; to++) {
			value++;
			TEST_EQ(wic_mem_copy(g.w, p[from], &value, sizeof(value)), 0);
			TEST_EQ(wic_mem_copy(g.w, p[to], p[from], sizeof(value)), 0);
			TEST_EQ(wic_mem_copy(g.w, &seen, p[to], sizeof(seen)), 0);
			TEST_EQ(seen, value);
		}
	for (uint32_t i = 0; i < 3; i++)
		wic_mem_free(g.w, p[i]);
	gpu_close(&g);
}

static void launch_without_gpu_code(void)
{
	struct gpu g = gpu_open(1);
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct gpu_args args = { 0 };

	l.kernel = (void (*)(const void *args))(uintptr_t)&g;
	l.args = &args;
	TEST_EQ(wic_launch(g.w, &l), -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "no GPU code");
	l.kernel = gpu_script;
	l.block_threads = 1025;
	TEST_EQ(wic_launch(g.w, &l), -E2BIG);
	l.block_threads = 32;
	l.shared_bytes = 1 << 20;
	TEST_EQ(wic_launch(g.w, &l), -E2BIG);
	l.shared_bytes = 0;
	TEST_EQ(wic_launch(g.w, &l), 0);
	TEST_EQ(wic_sync(g.w, TIMEOUT), 0);
	gpu_close(&g);
}

static const struct test tests[] = {
	TEST(open_says_what_it_found),
	TEST(open_again_and_again),
	TEST(channel_create_what_a_gpu_has_not),
	TEST(producer_open_two_over_one_line),
	TEST(memory_of_each_kind),
	TEST(launch_without_gpu_code),
	{ 0 },
};

GPU_PART(open);
