/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Memory of kernels, over back-ends with and without one of their own, and the list of images. */
#include <pthread.h>
#include <stdlib.h>

#include "lib/kernel_image.h"
#include "lib/memory.h"
#include "lib/nosys.h"
#include "lib/object.h"
#include "tests/unit/fake.h"

#define BIG_BYTES ((5u << 20) + 3)

static uint64_t copied;

/* As a GPU: only copies reach it. */
static int gpu_copy(struct wic_be *be, void *dst, const void *src, size_t bytes)
{
	copied += bytes;
	return wic_plain_mem_copy(be, dst, src, bytes);
}

static void gpu_geometry(const struct wic_be *be, struct wic_geometry *geometry_out)
{
	(void)be;
	*geometry_out = (struct wic_geometry){ 132, 2048, 32 };
}

static int gpu_alloc(struct wic_be *be, enum wic_mem kind, struct wic_device_id device,
		     size_t bytes, void **p_out)
{
	return wic_plain_mem_alloc(be, kind, device, bytes, p_out);
}

static bool is_zero(const unsigned char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (p[i])
			return false;
	return true;
}

static void exercise(struct wic *w)
{
	static const size_t sizes[] = { 1, WIC_PAGE_BYTES, WIC_PAGE_BYTES + 1, BIG_BYTES };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *p, *q;

		TEST_EQ(wic_mem_alloc(w, WIC_MEM_DEVICE, WIC_GPU(0), sizes[i], (void **)&p), 0);
		TEST_EQ(wic_mem_alloc(w, WIC_MEM_HOST, WIC_HOST, sizes[i], (void **)&q), 0);
		TEST_EQ((uintptr_t)p % WIC_PAGE_BYTES, 0);
		TEST_TRUE(is_zero(p, sizes[i]));
		memset(q, 0x5a, sizes[i]);
		TEST_EQ(wic_mem_copy(w, p, q, sizes[i]), 0);
		TEST_EQ(memcmp(p, q, sizes[i]), 0);
		TEST_EQ(wic_mem_zero(w, p, sizes[i]), 0);
		TEST_TRUE(is_zero(p, sizes[i]));
		TEST_EQ(wic_mem_copy(w, NULL, NULL, 0), 0);
		TEST_EQ(wic_mem_zero(w, NULL, 0), 0);
		wic_mem_free(w, p);
		wic_mem_free(w, q);
	}
	wic_mem_free(w, NULL);
}

static void memory_of_no_context(void)
{
	exercise(NULL);
	TEST_TRUE(!wic_is_gpu(NULL));
}

static void memory_of_a_context(void)
{
	struct wic_geometry g = { 1, 1, 1 };
	struct wic *w;

	fake_init();
	w = fake_open();
	exercise(w);
	TEST_TRUE(!wic_is_gpu(w));
	wic_geometry_get(w, &g);
	TEST_EQ(g.sms, 0);
	wic_close(w);
	fake_fini();
}

static void memory_of_a_gpu(void)
{
	struct wic_be_ops ops = fake_ops;
	const struct wic_be_ops *const list[] = { &ops, NULL };
	struct wic_geometry g;
	struct wic *w;

	fake_init();
	ops.caps |= WIC_BE_CAP_GPU;
	ops.mem_alloc = gpu_alloc;
	ops.mem_copy = gpu_copy;
	ops.geometry = gpu_geometry;
	fake_use(list);
	w = fake_open();
	copied = 0;
	exercise(w);
	TEST_EQ(copied, 2 * (1 + 2 * WIC_PAGE_BYTES + 1 + BIG_BYTES));
	TEST_TRUE(wic_is_gpu(w));
	wic_geometry_get(w, &g);
	TEST_EQ(g.sms, 132);
	wic_close(w);
	fake_fini();
}

static void memory_bad(void)
{
	struct wic_be_ops ops = fake_ops;
	const struct wic_be_ops *const list[] = { &ops, NULL };
	struct wic *w;
	void *p = &p;

	fake_init();
	TEST_EQ(wic_mem_alloc(NULL, WIC_MEM_HOST, WIC_HOST, 0, &p), -EINVAL);
	TEST_EQ(wic_mem_alloc(NULL, WIC_MEM_HOST, WIC_HOST, SIZE_MAX, &p), -ENOMEM);
	TEST_TRUE(p == &p);
	ops.mem_alloc = wic_nosys_mem_alloc;
	ops.mem_copy = wic_nosys_mem_copy;
	fake_use(list);
	w = fake_open();
	TEST_EQ(wic_mem_alloc(w, WIC_MEM_MANAGED, WIC_GPU(0), 1, &p), -ENOTSUP);
	TEST_EQ(wic_mem_copy(w, &p, &w, 1), -ENOTSUP);
	wic_close(w);
	fake_fini();
}

static void kernel_a(const void *args)
{
	(void)args;
}

static void kernel_b(const void *args)
{
	(void)args;
}

static void kernel_c(const void *args)
{
	(void)args;
}

static const struct wic_kernel_entry entries_1[] = { { kernel_a, "a" }, { NULL, NULL } };
static const struct wic_kernel_entry entries_2[] = { { kernel_b, "b" }, { NULL, NULL } };
static struct wic_kernel_image image_1 = { "1", entries_1, NULL, NULL };
static struct wic_kernel_image image_2 = { "2", entries_2, NULL, NULL };

static void *add_both(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++) {
		wic_kernel_image_add(&image_1);
		wic_kernel_image_add(&image_2);
	}
	return NULL;
}

static void image_add_and_find(void)
{
	const struct wic_kernel_image *image = NULL;
	const char *name = NULL;
	pthread_t threads[4];
	uint32_t count = 0;

	TEST_TRUE(!wic_kernel_image_next(NULL));
	TEST_TRUE(!wic_kernel_image_find(kernel_a, &name));
	for (int i = 0; i < 4; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, add_both, NULL), 0);
	for (int i = 0; i < 4; i++)
		TEST_EQ(pthread_join(threads[i], NULL), 0);
	while ((image = wic_kernel_image_next(image)))
		count++;
	TEST_EQ(count, 2);
	TEST_TRUE(wic_kernel_image_find(kernel_a, &name) == &image_1);
	TEST_STR_HAS(name, "a");
	TEST_TRUE(wic_kernel_image_find(kernel_b, &name) == &image_2);
	TEST_STR_HAS(name, "b");
	TEST_TRUE(!wic_kernel_image_find(kernel_c, &name));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(memory_of_no_context), TEST(memory_of_a_context), TEST(memory_of_a_gpu),
		TEST(memory_bad),           TEST(image_add_and_find),  { 0 },
	};

	return test_main(argc, argv, tests);
}
