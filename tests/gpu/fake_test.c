// SPDX-License-Identifier: MIT OR GPL-2.0
/* What only a driver of ours can show: which calls are made when, and what happens if they fail. */
#include "backends/cuda/driver.h"
#include "lib/kernel_image.h"
#include "tests/fakecuda/fake.h"
#include "tests/gpu/gpu.h"

#define OUT_OF_MEMORY 2
#define LAUNCH_FAILED 719

/* From publish to wake-up, in both directions, the driver is not called. */
static void no_call_between_publish_and_wake_up(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *data = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 100);
	struct wic_channel *to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 0);
	struct wic_channel *from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 4, 0);
	struct gpu_run run = gpu_run(&g, gpu_ping, 1, 128);
	uint64_t calls;

	run.args.h[0] = wic_channel_handle(to);
	run.args.h[1] = wic_channel_handle(from);
	run.args.epochs = 100;
	gpu_start(&g, &run);
	calls = fakecuda_calls(NULL);
	gpu_publish(data, 0, 1, 100);
	for (uint64_t e = 1; e <= 100; e++)
		for (uint32_t tag = 0; tag < 4; tag++) {
			gpu_publish(to, tag, e, 0);
			TEST_EQ(wic_host_wait(from, tag, e, TIMEOUT), 0);
		}
	TEST_EQ(fakecuda_calls(NULL), calls);
	gpu_end(&g, &run);
	gpu_close(&g);
}

/* ---- each call fails once ---------------------------------------------------------------- */

/* What one life of a context needs; each may be missing. */
struct life {
	struct gpu g;
	struct wic_channel *to, *from;
	void *steps, *results, *device;
};

static int life_make(struct life *l)
{
	const struct wic_channel_desc to = gpu_desc(WIC_HOST, WIC_GPU(0), 20, 100);
	const struct wic_channel_desc from = gpu_desc(WIC_GPU(0), WIC_HOST, 20, 100);
	struct wic *w = l->g.w;
	int rc = wic_channel_create(w, &to, &l->to);

	if (!rc)
		rc = wic_channel_create(w, &from, &l->from);
	if (!rc)
		rc = wic_mem_alloc(w, WIC_MEM_HOST, WIC_GPU(0), 4096, &l->steps);
	if (!rc)
		rc = wic_mem_alloc(w, WIC_MEM_HOST, WIC_GPU(0), 4096, &l->results);
	if (!rc)
		rc = wic_mem_alloc(w, WIC_MEM_DEVICE, WIC_GPU(0), 4096, &l->device);
	return rc;
}

static int life_run(struct life *l)
{
	struct wic_launch_desc launch = WIC_LAUNCH_DESC_INIT;
	struct gpu_args args = { .steps = l->steps, .results = l->results, .count = 1 };
	struct gpu_step *step = l->steps;
	struct wic_fit fit = WIC_FIT_INIT;
	uint64_t value = 5;
	int rc = wic_mem_copy(l->g.w, l->device, &value, sizeof(value));

	if (rc)
		return rc;
	*step = (struct gpu_step){ GPU_WORD,         0,          GPU_ALL,
				   GPU_ALL,          .epoch = 5, .timeout_ns = TIMEOUT,
				   .word = l->device };
	launch.kernel = gpu_script;
	launch.args = &args;
	/* More than a kernel has by itself, so that it has to be asked for. */
	launch.shared_bytes = 60000;
	rc = wic_check(l->g.w, &launch, &fit);
	if (!rc)
		rc = wic_check_word(l->g.w, l->device);
	if (!rc)
		rc = wic_launch(l->g.w, &launch);
	return rc ? rc : wic_sync(l->g.w, TIMEOUT);
}

/* Its first error, or 0. */
static int life(void)
{
	struct life l;
	int rc;

	memset(&l, 0, sizeof(l));
	rc = gpu_try_open(1, &l.g);
	if (rc)
		return rc;
	rc = life_make(&l);
	if (!rc)
		rc = life_run(&l);
	wic_mem_free(l.g.w, l.steps);
	wic_mem_free(l.g.w, l.results);
	wic_mem_free(l.g.w, l.device);
	wic_channel_destroy(l.to);
	wic_channel_destroy(l.from);
	wic_close(l.g.w);
	return rc;
}

#define NAME(symbol, field, need) #symbol,
static const char *const names[] = { FAKE_CALLS(NAME) };
#define NAMES (sizeof(names) / sizeof(*names))

/* What a call that fails may come to. */
static bool is_documented(int rc, int result)
{
	if (!rc)
		return true;
	return result == OUT_OF_MEMORY ? rc == -ENOMEM : rc == -EIO;
}

static void fail_each(int result, enum fakecuda_how how, bool may_lose)
{
	uint64_t counts[NAMES];
	char text[1024];

	TEST_EQ(life(), 0);
	fakecuda_reset();
	TEST_EQ(life(), 0);
	for (size_t i = 0; i < NAMES; i++)
		counts[i] = fakecuda_calls(names[i]);
	for (size_t i = 0; i < NAMES; i++) {
		/* Without these nobody can give anything back. */
		bool is_needed = !strncmp(names[i], "cuCtxPushCurrent", 16) ||
				 !strcmp(names[i], "cuPointerGetAttribute");

		/* Where it only helps to say an error. */
		if (!strncmp(names[i], "cuGetError", 10))
			continue;
		for (uint64_t nth = 1; nth <= counts[i]; nth++) {
			int rc;

			fakecuda_reset();
			fakecuda_fail(names[i], nth, result, how);
			rc = life();
			if (!is_documented(rc, result) ||
			    (!may_lose && !is_needed && fakecuda_check(text, sizeof(text)))) {
				fprintf(stderr, "%s, call %llu: %d, %s\n", names[i],
					(unsigned long long)nth, rc, text);
				TEST_EQ(rc, 0);
				test_fail(__FILE__, __LINE__, "something was lost", 0, 1);
			}
		}
	}
	fakecuda_reset();
	/* The process is as good as new. */
	TEST_EQ(life(), 0);
	gpu_check_driver();
}

static void each_call_fails_once(void)
{
	fail_each(OUT_OF_MEMORY, FAKECUDA_ONCE, false);
}

static void each_call_fails_for_good(void)
{
	fail_each(OUT_OF_MEMORY, FAKECUDA_FOR_GOOD, true);
}

/* The driver's own objects are lost with the device, ours are not. */
static void each_call_finds_the_device_lost(void)
{
	fail_each(LAUNCH_FAILED, FAKECUDA_STICKY, true);
}

/* It stays lost, also if the driver says so only once. */
static void device_lost_is_remembered(void)
{
	static const char *const calls[] = { "cuEventQuery", "cuLaunchKernel" };

	for (uint32_t i = 0; i < 2; i++) {
		struct gpu g = gpu_open(1);
		struct gpu_run run = gpu_run(&g, gpu_script, 1, 32);
		int rc;

		gpu_step(&run, GPU_BARRIER, 0, 0);
		run.l.args = &run.args;
		fakecuda_fail(calls[i], 1, LAUNCH_FAILED, FAKECUDA_ONCE);
		rc = wic_launch(g.w, &run.l);
		TEST_EQ(rc ? rc : wic_sync(g.w, TIMEOUT), -EIO);
		TEST_EQ(wic_sync(g.w, TIMEOUT), -EIO);
		TEST_EQ(wic_launch(g.w, &run.l), -EIO);
		gpu_free(&g, &run);
		wic_close(g.w);
		gpu_check_driver();
	}
}

/* ---- a device that is lost --------------------------------------------------------------- */

struct host_waiter {
	struct wic_channel *ch;
	int rc;
};

static void *wait_for_ever(void *arg)
{
	struct host_waiter *h = arg;

	h->rc = wic_host_wait(h->ch, 0, 1, WIC_FOREVER);
	return NULL;
}

static void device_lost_ends_all(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 8);
	struct host_waiter h = { .ch = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 4, 0) };
	struct wic_channel_desc d = gpu_desc(WIC_HOST, WIC_GPU(0), 4, 8);
	struct gpu_run run = gpu_run(&g, gpu_script, 2, 64);
	struct wic_channel *none = NULL;
	pthread_t thread;
	void *buffer;

	run.args.h[0] = wic_channel_handle(to);
	gpu_step(&run, GPU_WAIT, 0, 1)->timeout_ns = WIC_FOREVER;
	gpu_start(&g, &run);
	TEST_EQ(pthread_create(&thread, NULL, wait_for_ever, &h), 0);
	gpu_wait_arrived(&run, 1);
	fakecuda_break(LAUNCH_FAILED);
	TEST_EQ(wic_sync(g.w, TIMEOUT), -EIO);
	TEST_EQ(pthread_join(thread, NULL), 0);
	TEST_EQ(h.rc, -EIO);
	for (int i = 0; i < 2; i++) {
		TEST_EQ(wic_launch(g.w, &run.l), -EIO);
		TEST_EQ(wic_sync(g.w, TIMEOUT), -EIO);
		TEST_EQ(wic_sync_device(g.w, WIC_GPU(0), 0), -EIO);
		TEST_EQ(wic_channel_create(g.w, &d, &none), -EIO);
		TEST_EQ(wic_stage(to, 0, 1, 0, &buffer), -EIO);
		TEST_EQ(wic_publish(to, 0, 1), -EIO);
		TEST_EQ(wic_host_wait(h.ch, 0, 1, WIC_FOREVER), -EIO);
		TEST_EQ(wic_mem_alloc(g.w, WIC_MEM_HOST, WIC_GPU(0), 64, &buffer), -EIO);
	}
	wic_cancel_clear(g.w);
	TEST_EQ(wic_host_wait(h.ch, 0, 1, WIC_FOREVER), -EIO);
	wic_close(g.w);
	TEST_STR_HAS(g.log->text, "the context is dead, all waits end");
	gpu_reset_driver();
	/* Another context, on a device that works again, has none of that. */
	TEST_EQ(life(), 0);
	gpu_check_driver();
}

/* ---- several threads --------------------------------------------------------------------- */

struct launcher {
	struct gpu *g;
	struct gpu_run run;
	struct wic_channel *ch;
	uint32_t busy; /* answers */
};

#define ROUNDS 40

static void *launch_rounds(void *arg)
{
	struct launcher *l = arg;

	for (uint32_t i = 0; i < ROUNDS;) {
		int rc = wic_launch(l->g->w, &l->run.l);

		TEST_TRUE(!rc || rc == -EBUSY);
		l->busy += rc == -EBUSY;
		i += !rc;
		TEST_EQ(wic_sync_device(l->g->w, l->run.l.device, TIMEOUT), 0);
	}
	return NULL;
}

static void launch_by_two_threads(void)
{
	/* Each its own device, then both the same. */
	for (uint32_t same = 0; same < 2; same++) {
		struct gpu g = gpu_open(2);
		struct launcher l[2] = { { .g = &g }, { .g = &g } };
		pthread_t threads[2];

		for (uint32_t i = 0; i < 2; i++) {
			l[i].run = gpu_run(&g, gpu_script, 2, 64);
			l[i].run.l.args = &l[i].run.args;
			l[i].run.l.device = WIC_GPU(same ? 0 : i);
			gpu_step(&l[i].run, GPU_BARRIER, 0, 0);
		}
		for (uint32_t i = 0; i < 2; i++)
			TEST_EQ(pthread_create(&threads[i], NULL, launch_rounds, &l[i]), 0);
		for (uint32_t i = 0; i < 2; i++) {
			TEST_EQ(pthread_join(threads[i], NULL), 0);
			TEST_TRUE(same || !l[i].busy);
			gpu_end_script(&g, &l[i].run, 0);
		}
		gpu_close(&g);
	}
}

enum stranger_does { SYNCHRONIZES, FREES_PINNED, FREES_DEVICE };

struct stranger {
	struct gpu g;
	enum stranger_does what;
	void *memory;
	uint32_t is_done; /* atomic */
};

/* Another library's thread in the same process, as the CUDA runtime would do it. */
static void *stranger(void *arg)
{
	struct stranger *s = arg;
	const struct wic_cuda_driver *d;
	struct wic_cu_context *context;

	TEST_EQ(wic_cuda_driver_get(&d), 0);
	TEST_EQ(d->device_primary_ctx_retain(&context, 0), 0);
	TEST_EQ(d->ctx_push_current(context), 0);
	if (s->what == SYNCHRONIZES)
		TEST_EQ(d->ctx_synchronize(), 0);
	TEST_EQ(d->ctx_pop_current(&context), 0);
	TEST_EQ(d->device_primary_ctx_release(0), 0);
	if (s->what != SYNCHRONIZES)
		wic_mem_free(s->g.w, s->memory);
	__atomic_store_n(&s->is_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* While warps are parked a stranger's call waits for the kernel, and they wake nevertheless. */
static void with_stranger(enum stranger_does what)
{
	struct stranger s = { .g = gpu_open(1), .what = what };
	struct wic_channel *to = gpu_channel(&s.g, WIC_HOST, WIC_GPU(0), 4, 8);
	struct wic_channel *from = gpu_channel(&s.g, WIC_GPU(0), WIC_HOST, 4, 0);
	struct gpu_run run = gpu_run(&s.g, gpu_script, 2, 64);
	pthread_t thread;

	run.args.h[0] = wic_channel_handle(to);
	run.args.h[1] = wic_channel_handle(from);
	gpu_step(&run, GPU_WAIT, 0, 1);
	gpu_step(&run, GPU_PUBLISH, 1, 1)->handle = 1;
	run.steps[1].block = run.steps[1].warp = 0;
	gpu_step(&run, GPU_WAIT, 0, 2);
	TEST_EQ(wic_mem_alloc(s.g.w, what == FREES_DEVICE ? WIC_MEM_DEVICE : WIC_MEM_HOST,
			      WIC_GPU(0), 64, &s.memory),
		0);
	gpu_start(&s.g, &run);
	gpu_wait_arrived(&run, 1);
	TEST_EQ(pthread_create(&thread, NULL, stranger, &s), 0);
	if (what != SYNCHRONIZES)
		while (!fakecuda_implicit_syncs())
			sleep_ms(1);
	sleep_ms(20);
	gpu_publish(to, 0, 1, 8);
	TEST_EQ(wic_host_wait(from, 1, 1, TIMEOUT), 0);
	TEST_TRUE(!__atomic_load_n(&s.is_done, __ATOMIC_ACQUIRE));
	gpu_publish(to, 0, 2, 8);
	TEST_EQ(pthread_join(thread, NULL), 0);
	gpu_end_script(&s.g, &run, 0);
	if (what == SYNCHRONIZES)
		wic_mem_free(s.g.w, s.memory);
	gpu_close(&s.g);
}

static void strangers_wait_and_the_parked_wake(void)
{
	with_stranger(SYNCHRONIZES);
	with_stranger(FREES_PINNED);
	with_stranger(FREES_DEVICE);
}

/* ---- WIC_PARK ---------------------------------------------------------------------------- */

static void kernel_asleep(const void *args)
{
	(void)args;
}

/* It has code for WIC_PARK=sleep alone, the suite's own kernels have none for that. */
static const struct wic_kernel_entry asleep_entries[] = { { kernel_asleep, "gpu_script" },
							  { NULL, NULL } };
static struct wic_kernel_image asleep = { NULL, asleep_entries, NULL,
					  FAKECUDA_IMAGE "gpu_script\n" };

static int check_kernel(struct gpu *g, void (*kernel)(const void *args))
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct gpu_args args = { 0 };
	struct wic_fit fit = WIC_FIT_INIT;

	l.kernel = kernel;
	l.args = &args;
	return wic_check(g->w, &l, &fit);
}

static void park_chooses_the_code(void)
{
	struct gpu g;

	wic_kernel_image_add(&asleep);
	g = gpu_open(1);
	TEST_STR_HAS(wic_describe(g.w), "warps park on mbarriers");
	TEST_EQ(check_kernel(&g, gpu_script), 0);
	TEST_EQ(check_kernel(&g, kernel_asleep), -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "no GPU code");
	gpu_close(&g);
	setenv("WIC_PARK", "sleep", 1);
	g = gpu_open(1);
	TEST_STR_HAS(wic_describe(g.w), "warps park on sleeps");
	TEST_STR_HAS(g.log->text, "WIC_PARK is sleep: kernel gpu_");
	TEST_EQ(check_kernel(&g, gpu_script), -ENOTSUP);
	TEST_EQ(check_kernel(&g, kernel_asleep), 0);
	gpu_close_with(&g, 1);
}

static void park_refused(void)
{
	struct gpu g;

	setenv("WIC_PARK", "nap", 1);
	TEST_EQ(gpu_try_open(1, &g), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "WIC_PARK is \"nap\"");
	setenv("WIC_PARK", "try_wait", 1);
	g = gpu_open(1);
	TEST_EQ(check_kernel(&g, gpu_script), 0);
	gpu_close(&g);
	fakecuda_set_attribute(0, WIC_CU_DEVICE_CAPABILITY_MAJOR, 8);
	fakecuda_set_attribute(0, WIC_CU_DEVICE_CAPABILITY_MINOR, 6);
	TEST_EQ(gpu_try_open(1, &g), -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "try_wait, which sm_86 does not have");
	gpu_check_driver();
	setenv("WIC_PARK", "", 1);
	g = gpu_open(1);
	gpu_close(&g);
}

static const struct test tests[] = {
	TEST(no_call_between_publish_and_wake_up),
	TEST(each_call_fails_once),
	TEST(each_call_fails_for_good),
	TEST(each_call_finds_the_device_lost),
	TEST(device_lost_is_remembered),
	TEST(device_lost_ends_all),
	TEST(launch_by_two_threads),
	TEST(strangers_wait_and_the_parked_wake),
	TEST(park_chooses_the_code),
	TEST(park_refused),
	{ 0 },
};

GPU_PART(fake);
