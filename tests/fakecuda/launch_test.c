// SPDX-License-Identifier: MIT OR GPL-2.0
/* Modules and kernels of the fake driver. */
#include "tests/fakecuda/fixture.h"

struct arg {
	uint64_t *words;
	uint32_t salt;
};

/* A bit a warp, a word a block; then what the warps of a block share. */
static void count_kernel(void *arg0, uint32_t block, uint32_t warp, uint32_t warps)
{
	const struct arg *a = arg0;
	uint64_t *shared = fakecuda_shared();

	__atomic_fetch_add(&a->words[block], 1ull << (warp * 8), __ATOMIC_RELAXED);
	__atomic_fetch_add(shared, 1, __ATOMIC_RELAXED);
	fakecuda_barrier();
	if (load(shared) != warps)
		store(&a->words[block], a->salt);
}

static struct wic_cu_function *function(struct wic_cu_module **module_out, const char *name)
{
	struct wic_cu_function *f = NULL;
	char image[128];

	snprintf(image, sizeof(image), "%sother\n%s\n", FAKECUDA_IMAGE, name);
	TEST_EQ(d->module_load_data(module_out, image), 0);
	TEST_EQ(d->module_get_function(&f, *module_out, name), 0);
	return f;
}

static int launch(struct wic_cu_function *f, uint32_t blocks, struct wic_cu_stream *s,
		  const void *arg)
{
	void *parameters[] = { (void *)arg };

	return d->launch_kernel(f, blocks, 1, 1, 32, 2, 1, 64, s, parameters, NULL);
}

static void launch_runs_each_warp_once(void)
{
	struct wic_cu_module *module = NULL;
	struct wic_cu_function *f;
	struct wic_cu_stream *s;
	struct arg arg = { .salt = 99 };

	begin();
	fakecuda_kernel("count", sizeof(struct arg), count_kernel);
	s = stream(0);
	arg.words = words();
	f = function(&module, "count");
	TEST_EQ(launch(f, WORDS, s, &arg), 0);
	/* The parameter was taken at the launch. */
	arg.salt = 0;
	TEST_EQ(d->stream_synchronize(s), 0);
	for (uint32_t i = 0; i < WORDS; i++)
		TEST_EQ(arg.words[i], 0x0101);
	TEST_EQ(d->mem_free_host(arg.words), 0);
	TEST_EQ(d->module_unload(module), 0);
	TEST_EQ(d->stream_destroy(s), 0);
	end();
}

static void launch_is_checked(void)
{
	struct wic_cu_module *module = NULL;
	struct wic_cu_function *f, *none = NULL;
	struct wic_cu_stream *s;
	struct arg arg = { 0 };
	void *parameters[] = { &arg };
	int value = 0;

	begin();
	fakecuda_kernel("count", sizeof(struct arg), count_kernel);
	s = stream(0);
	f = function(&module, "count");
	TEST_EQ(launch(f, 0, s, &arg), 1);
	TEST_EQ(launch(f, 1, s, NULL), 1);
	TEST_EQ(d->launch_kernel(f, 1, 1, 1, 1025, 1, 1, 0, s, parameters, NULL), 1);
	TEST_EQ(d->launch_kernel(f, 1, 1, 1, 32, 1, 1, 49153, s, parameters, NULL), 1);
	TEST_EQ(d->launch_kernel(f, 1, 1, 1, 32, 1, 1, 0, s, parameters, parameters), 1);
	TEST_EQ(d->func_set_attribute(f, WIC_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES, 300000), 1);
	TEST_EQ(d->func_set_attribute(f, WIC_CU_FUNC_REGISTERS, 1), 1);
	TEST_EQ(d->func_set_attribute(f, WIC_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES, 200000), 0);
	TEST_EQ(d->occupancy_max_active_blocks(&value, f, 64, 200000), 0);
	TEST_EQ(value, 1);
	TEST_EQ(d->occupancy_max_active_blocks(&value, f, 1024, 0), 0);
	TEST_EQ(value, 2);
	TEST_EQ(d->occupancy_max_active_blocks(&value, f, 32, 0), 0);
	TEST_EQ(value, 32);
	fakecuda_kernel_attribute("count", WIC_CU_FUNC_REGISTERS, 255);
	f = function(&module, "count");
	TEST_EQ(d->func_get_attribute(&value, WIC_CU_FUNC_REGISTERS, f), 0);
	TEST_EQ(value, 255);
	TEST_EQ(d->occupancy_max_active_blocks(&value, f, 1024, 0), 0);
	TEST_EQ(value, 0);
	TEST_EQ(d->launch_kernel(f, 1, 1, 1, 1024, 1, 1, 0, s, parameters, NULL), 701);
	TEST_EQ(d->module_get_function(&none, module, "oth"), WIC_CU_NOT_FOUND);
	/* In the image, and nobody registered it. */
	TEST_EQ(d->module_get_function(&none, module, "other"), WIC_CU_NOT_FOUND);
	TEST_EQ(d->stream_destroy(s), 0);
	TEST_EQ(d->module_unload(module), 0);
	TEST_EQ(d->func_get_attribute(&value, WIC_CU_FUNC_REGISTERS, f), 400);
	TEST_EQ(d->module_load_data(&module, "\x7f"
					     "ELF"),
		200);
	fakecuda_set_any_image(true);
	TEST_EQ(d->module_load_data(&module, "\x7f"
					     "ELF"),
		0);
	TEST_EQ(d->module_get_function(&none, module, "count"), 0);
	TEST_EQ(d->module_unload(module), 0);
	/* The one that the second function() took the place of. */
	expect_found("not given back: 1 modules");
	TEST_EQ(d->ctx_pop_current(NULL), 0);
	TEST_EQ(d->device_primary_ctx_release(0), 0);
	expect_found("1 modules went with their context");
	expect_findings(2);
	fakecuda_reset();
}

enum { GATE, RUNNING, RUNNING_MOST, STARTED, ORDER };

/* Ends when the gate is open, or the device is broken. */
static void gated_kernel(void *arg0, uint32_t block, uint32_t warp, uint32_t warps)
{
	const struct arg *a = arg0;
	uint64_t *w = a->words, running, most;

	(void)block;
	(void)warps;
	if (warp)
		return;
	running = __atomic_add_fetch(&w[RUNNING], 1, __ATOMIC_ACQ_REL);
	most = load(&w[RUNNING_MOST]);
	while (running > most &&
	       !__atomic_compare_exchange_n(&w[RUNNING_MOST], &most, running, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	if (a->salt)
		store(&w[ORDER + a->salt], load(&w[STARTED]) + 1);
	__atomic_add_fetch(&w[STARTED], 1, __ATOMIC_ACQ_REL);
	while (!load(&w[GATE]) && !fakecuda_is_broken())
		sched_yield();
	__atomic_sub_fetch(&w[RUNNING], 1, __ATOMIC_ACQ_REL);
}

static void launch_has_room_for_some(void)
{
	struct wic_cu_module *module = NULL;
	struct wic_cu_stream *a, *b;
	struct wic_cu_function *f;
	struct arg arg = { 0 };
	uint64_t *w;

	begin();
	fakecuda_set_resident_blocks(3);
	fakecuda_kernel("gated", sizeof(struct arg), gated_kernel);
	f = function(&module, "gated");
	arg.words = w = words();
	a = stream(0);
	b = stream(0);
	TEST_EQ(launch(f, 2, a, &arg), 0);
	until(&w[STARTED], 2);
	TEST_EQ(launch(f, 10, b, &arg), 0);
	until(&w[STARTED], 3);
	while (fakecuda_waiting() != 1)
		sched_yield();
	store(&w[GATE], 1);
	TEST_EQ(d->ctx_synchronize(), 0);
	TEST_EQ(load(&w[STARTED]), 12);
	TEST_EQ(load(&w[RUNNING_MOST]), 3);
	TEST_EQ(fakecuda_waiting(), 0);
	TEST_EQ(fakecuda_implicit_syncs(), 0);
	TEST_EQ(d->stream_destroy(a), 0);
	TEST_EQ(d->stream_destroy(b), 0);
	TEST_EQ(d->mem_free_host(w), 0);
	TEST_EQ(d->module_unload(module), 0);
	end();
}

/* Three wait for one room: the highest of them is served first, one that has begun or not. */
static void launch_by_priority(void)
{
	struct wic_cu_stream *first, *low, *high;
	struct wic_cu_module *module = NULL;
	struct wic_cu_function *f;
	struct arg arg = { 0 };
	uint64_t *w;

	begin();
	fakecuda_set_resident_blocks(1);
	fakecuda_kernel("gated", sizeof(struct arg), gated_kernel);
	f = function(&module, "gated");
	arg.words = w = words();
	first = stream(0);
	low = stream(-1);
	high = stream(-3);
	TEST_EQ(launch(f, 5, first, &arg), 0);
	until(&w[STARTED], 1);
	arg.salt = 1;
	TEST_EQ(launch(f, 1, low, &arg), 0);
	arg.salt = 2;
	TEST_EQ(launch(f, 1, high, &arg), 0);
	while (fakecuda_waiting() != 3)
		sched_yield();
	store(&w[GATE], 1);
	TEST_EQ(d->ctx_synchronize(), 0);
	TEST_EQ(load(&w[STARTED]), 7);
	TEST_EQ(load(&w[ORDER + 2]), 2);
	TEST_EQ(load(&w[ORDER + 1]), 3);
	TEST_EQ(d->stream_destroy(first), 0);
	TEST_EQ(d->stream_destroy(low), 0);
	TEST_EQ(d->stream_destroy(high), 0);
	TEST_EQ(d->mem_free_host(w), 0);
	TEST_EQ(d->module_unload(module), 0);
	end();
}

static void *free_thread(void *arg)
{
	struct wic_cu_context *context = NULL;
	uint64_t *w = arg;

	TEST_EQ(d->device_primary_ctx_retain(&context, 0), 0);
	TEST_EQ(d->ctx_push_current(context), 0);
	TEST_EQ(d->mem_free(w[9]), 0);
	store(&w[8], 1);
	TEST_EQ(d->ctx_pop_current(NULL), 0);
	TEST_EQ(d->device_primary_ctx_release(0), 0);
	return NULL;
}

/* As on a GPU: who frees while warps are parked waits for them. */
static void free_waits_for_kernels(void)
{
	struct wic_cu_module *module = NULL;
	struct wic_cu_stream *s;
	struct arg arg = { 0 };
	pthread_t thread;
	uint64_t *w;

	begin();
	fakecuda_kernel("gated", sizeof(struct arg), gated_kernel);
	arg.words = w = words();
	s = stream(0);
	TEST_EQ(d->mem_alloc(&w[9], 8), 0);
	TEST_EQ(launch(function(&module, "gated"), 1, s, &arg), 0);
	TEST_EQ(pthread_create(&thread, NULL, free_thread, w), 0);
	while (!fakecuda_implicit_syncs())
		sched_yield();
	TEST_EQ(load(&w[8]), 0);
	store(&w[GATE], 1);
	TEST_EQ(pthread_join(thread, NULL), 0);
	TEST_EQ(load(&w[8]), 1);
	TEST_EQ(fakecuda_implicit_syncs(), 1);
	TEST_EQ(d->stream_destroy(s), 0);
	TEST_EQ(d->mem_free_host(w), 0);
	TEST_EQ(d->module_unload(module), 0);
	end();
}

/* A kernel that breaks the device ends the others' waits, and what is left may stay. */
static void breaking_kernel(void *arg0, uint32_t block, uint32_t warp, uint32_t warps)
{
	(void)arg0;
	(void)block;
	(void)warps;
	if (!warp)
		fakecuda_break(719);
}

static void kernel_that_fails(void)
{
	struct wic_cu_module *module = NULL;
	struct wic_cu_stream *a, *b;
	struct arg arg = { 0 };

	begin();
	fakecuda_kernel("gated", sizeof(struct arg), gated_kernel);
	fakecuda_kernel("breaking", 0, breaking_kernel);
	arg.words = words();
	a = stream(0);
	b = stream(0);
	TEST_EQ(launch(function(&module, "gated"), 3, a, &arg), 0);
	TEST_EQ(launch(function(&module, "breaking"), 1, b, NULL), 0);
	TEST_EQ(d->stream_synchronize(a), 719);
	TEST_EQ(d->ctx_pop_current(NULL), 719);
	TEST_EQ(d->device_primary_ctx_release(0), 719);
	expect_findings(0);
	fakecuda_reset();
}

static void calling_host_function(void *arg)
{
	store(arg, (uint64_t)d->ctx_synchronize());
}

static void calling_kernel(void *arg0, uint32_t block, uint32_t warp, uint32_t warps)
{
	const struct arg *a = arg0;
	int count;

	(void)block;
	(void)warps;
	if (!warp)
		store(a->words, (uint64_t)d->device_get_count(&count));
}

static void calls_from_inside(void)
{
	struct wic_cu_module *module = NULL;
	struct wic_cu_stream *s;
	struct arg arg = { 0 };

	begin();
	fakecuda_kernel("calling", sizeof(struct arg), calling_kernel);
	arg.words = words();
	s = stream(0);
	TEST_EQ(d->launch_host_func(s, calling_host_function, &arg.words[1]), 0);
	TEST_EQ(launch(function(&module, "calling"), 1, s, &arg), 0);
	TEST_EQ(d->stream_synchronize(s), 0);
	TEST_EQ(arg.words[0], 800);
	TEST_EQ(arg.words[1], 800);
	expect_found("cuCtxSynchronize is called in a host function");
	expect_found("cuDeviceGetCount is called in a kernel");
	TEST_EQ(d->mem_free_host(arg.words), 0);
	TEST_EQ(d->module_unload(module), 0);
	TEST_EQ(d->stream_destroy(s), 0);
	end_with(2);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(launch_runs_each_warp_once), TEST(launch_is_checked),
		TEST(launch_has_room_for_some),   TEST(launch_by_priority),
		TEST(free_waits_for_kernels),     TEST(kernel_that_fails),
		TEST(calls_from_inside),          { 0 },
	};

	return test_main(argc, argv, tests);
}
