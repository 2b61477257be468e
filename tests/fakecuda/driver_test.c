// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * How the CUDA driver is found, and what is said where it cannot be used.  What succeeds stays
 * for the process, so it is tried in a child each.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wic/wic.h>

#include "backends/cuda/driver.h"
#include "tests/fakecuda/fakecuda.h"
#include "tests/test.h"

#define FAKE FAKECUDA_FOLDER "/libcuda.so.1"
#define THREADS 8

static void use(const char *path)
{
	TEST_EQ(setenv("WIC_LIBCUDA", path, 1), 0);
	fakecuda_reset();
}

static void expect_refused(const char *text)
{
	const struct wic_cuda_driver *const none = (const struct wic_cuda_driver *)&errno,
					    *d = none;

	TEST_EQ(wic_cuda_driver_get(&d), -ENOTSUP);
	TEST_TRUE(d == none);
	TEST_STR_HAS(wic_last_error(), text);
}

static const struct wic_cuda_driver *get(void)
{
	const struct wic_cuda_driver *d = NULL;
	int rc = wic_cuda_driver_get(&d);

	if (rc)
		fprintf(stderr, "text: %s\n", wic_last_error());
	TEST_EQ(rc, 0);
	return d;
}

static void in_child(void (*run)(void))
{
	int status = -1;
	pid_t child = fork();

	TEST_TRUE(child >= 0);
	if (!child) {
		run();
		exit(0);
	}
	TEST_EQ(waitpid(child, &status, 0), child);
	TEST_TRUE(WIFEXITED(status));
	TEST_EQ(WEXITSTATUS(status), 0);
}

static void get_no_library(void)
{
	use("/nonexistent/libcuda.so.1");
	expect_refused("no CUDA driver: /nonexistent/libcuda.so.1: cannot open");
	use("/dev/null");
	expect_refused("no CUDA driver: /dev/null");
	/* A path without a slash is looked for as the real one is. */
	use("libcuda-of-nobody.so.1");
	expect_refused("libcuda-of-nobody.so.1: cannot open");
}

static void get_missing_symbol(void)
{
	use(FAKECUDA_FOLDER "/no_memset/libcuda.so.1");
	expect_refused("no_memset/libcuda.so.1 has no symbol cuMemsetD8_v2");
	use(FAKECUDA_FOLDER "/no_version/libcuda.so.1");
	expect_refused("no_version/libcuda.so.1 has no symbol cuDriverGetVersion");
}

static void without_optional(void)
{
	const struct wic_cuda_driver *d = get();

	TEST_TRUE(!d->device_get_uuid_v2);
	TEST_TRUE(!d->stream_wait_value64);
	TEST_TRUE(!d->stream_write_value64);
	TEST_TRUE(d->device_get_uuid && d->launch_host_func);
}

static void get_missing_optional(void)
{
	use(FAKECUDA_FOLDER "/no_optional/libcuda.so.1");
	in_child(without_optional);
}

static void get_must_do(void)
{
	get();
}

static void get_version(void)
{
	static const struct {
		int version;
		const char *text;
	} old[] = {
		{ 11010, "the driver is of CUDA 11.1, older than 11.2" },
		{ 10020, "the driver is of CUDA 10.2, older than 11.2" },
		{ 11019, "the driver is of CUDA 11.1, older than 11.2" },
		{ 0, "the driver is of CUDA 0.0, older than 11.2" },
	};

	use(FAKE);
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		fakecuda_set_version(old[i].version);
		expect_refused(old[i].text);
	}
	/* Too old to be started, so it was not. */
	TEST_EQ(fakecuda_calls("cuInit"), 0);
	fakecuda_set_version(11020);
	in_child(get_must_do);
	fakecuda_set_version(13000);
	in_child(get_must_do);
}

static void get_each_call_fails(void)
{
	static const struct {
		const char *call;
		int result;
		const char *text;
	} rows[] = {
		{ "cuDriverGetVersion", 999, "cuDriverGetVersion gave 999" },
		{ "cuInit", 100, "cuInit gave CUDA_ERROR_NO_DEVICE (100), no CUDA-capable device" },
		{ "cuInit", 803, "cuInit gave CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803), system" },
		{ "cuInit", 2, "cuInit gave CUDA_ERROR_OUT_OF_MEMORY (2)" },
		{ "cuInit", 12345, "cuInit gave unnamed result (12345), no words for it" },
		{ "cuDeviceGetCount", 3, "cuDeviceGetCount gave CUDA_ERROR_NOT_INITIALIZED (3)" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		use(FAKE);
		/* Once: the next try begins again, and nothing is in its way. */
		fakecuda_fail(rows[i].call, 1, rows[i].result, FAKECUDA_ONCE);
		expect_refused(rows[i].text);
		in_child(get_must_do);
		/* For good: it is said each time. */
		fakecuda_fail(rows[i].call, 1, rows[i].result, FAKECUDA_FOR_GOOD);
		expect_refused(rows[i].text);
		expect_refused(rows[i].text);
	}
}

static void all_fail_but_those_of_get(void)
{
	const char *call;

	for (uint32_t i = 0; (call = fakecuda_call(i)); i++)
		if (strcmp(call, "cuDriverGetVersion") && strcmp(call, "cuInit") &&
		    strcmp(call, "cuDeviceGetCount"))
			fakecuda_fail(call, 1, 999, FAKECUDA_FOR_GOOD);
	get();
	TEST_EQ(fakecuda_calls(NULL), 3);
}

static void get_makes_three_calls(void)
{
	use(FAKE);
	in_child(all_fail_but_those_of_get);
}

static void get_names_fail(void)
{
	use(FAKE);
	fakecuda_fail("cuInit", 1, 803, FAKECUDA_FOR_GOOD);
	fakecuda_fail("cuGetErrorName", 1, 1, FAKECUDA_ONCE);
	expect_refused("unnamed result (803), system has unsupported");
	fakecuda_fail("cuGetErrorString", 1, 1, FAKECUDA_ONCE);
	expect_refused("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803), no words for it");
}

static void get_no_device(void)
{
	use(FAKE);
	fakecuda_set_devices(0);
	expect_refused("CUDA_ERROR_NO_DEVICE (100)");
	/* A driver may start without one, too. */
	fakecuda_set_devices(1);
	in_child(get_must_do);
	fakecuda_fail("cuDeviceGetCount", 1, 0, FAKECUDA_ONCE);
	expect_refused("there is no device");
}

static void stays(void)
{
	const struct wic_cuda_driver *d = get();
	void (*const *fields)(void) = (void (*const *)(void))d;
	uint64_t calls = fakecuda_calls(NULL);

	for (size_t i = 0; i < sizeof(*d) / sizeof(fields[0]); i++)
		TEST_TRUE(fields[i]);
	fakecuda_fail("cuInit", 1, 999, FAKECUDA_FOR_GOOD);
	TEST_EQ(setenv("WIC_LIBCUDA", "/nonexistent", 1), 0);
	TEST_TRUE(get() == d);
	TEST_EQ(fakecuda_calls(NULL), calls);
}

static void get_stays(void)
{
	use(FAKE);
	in_child(stays);
}

static void *get_thread(void *arg)
{
	const struct wic_cuda_driver **d = arg;

	TEST_EQ(wic_cuda_driver_get(d), 0);
	return NULL;
}

static void many(void)
{
	const struct wic_cuda_driver *d[THREADS] = { 0 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, get_thread, &d[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		TEST_EQ(pthread_join(threads[i], NULL), 0);
		TEST_TRUE(d[i] && d[i] == d[0]);
	}
	TEST_EQ(fakecuda_calls("cuInit"), 1);
}

static void get_many_threads(void)
{
	use(FAKE);
	in_child(many);
}

/* Every number that <cuda.h> 13.0 has, in its order; a row [first, last] with one status. */
static const struct {
	int first;
	int last;
	int rc;
} expected[] = {
	{ 1, 1, -EINVAL },        { 2, 2, -ENOMEM },      { 3, 3, -ENOTSUP },
	{ 4, 8, -EIO },           { 34, 34, -ENOTSUP },   { 36, 36, -ENOTSUP },
	{ 46, 46, -EBUSY },       { 100, 100, -ENOTSUP }, { 101, 101, -EINVAL },
	{ 102, 102, -ENOTSUP },   { 200, 200, -EINVAL },  { 201, 208, -EIO },
	{ 209, 209, -ENOTSUP },   { 210, 214, -EIO },     { 215, 215, -ENOTSUP },
	{ 216, 216, -EIO },       { 217, 217, -ENOTSUP }, { 218, 218, -EINVAL },
	{ 219, 220, -EIO },       { 221, 225, -ENOTSUP }, { 226, 226, -EIO },
	{ 300, 300, -EIO },       { 301, 301, -ENOENT },  { 302, 304, -EIO },
	{ 400, 402, -EIO },       { 500, 500, -ENOENT },  { 600, 600, -EAGAIN },
	{ 700, 700, -EIO },       { 701, 701, -ENOMEM },  { 702, 719, -EIO },
	{ 720, 720, -E2BIG },     { 721, 721, -EIO },     { 800, 800, -EPERM },
	{ 801, 805, -ENOTSUP },   { 806, 806, -EIO },     { 807, 807, -ENOTSUP },
	{ 808, 809, -EBUSY },     { 810, 810, -EIO },     { 811, 812, -ENOTSUP },
	{ 900, 916, -EIO },       { 999, 999, -EIO },     { -1, -1, -EIO },
	{ 100000, 100000, -EIO },
};

static void fail_translates(void)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		for (int result = expected[i].first; result <= expected[i].last; result++) {
			char number[32];

			TEST_EQ(wic_cuda_fail(NULL, result, "a call"), expected[i].rc);
			snprintf(number, sizeof(number), "a call: unnamed result (%d)", result);
			TEST_STR_HAS(wic_last_error(), number);
		}
}

/* After these a context is lost, as the driver API's manual says of each. */
static void fail_sticky_is_eio(void)
{
	static const int sticky[] = { 214, 220, 226, 700, 702, 710, 714, 715,
				      716, 717, 718, 719, 721, 810, 999 };

	for (size_t i = 0; i < sizeof(sticky) / sizeof(sticky[0]); i++)
		TEST_EQ(wic_cuda_fail(NULL, sticky[i], "a call"), -EIO);
}

static void texts(void)
{
	const struct wic_cuda_driver *d = get();

	TEST_EQ(wic_cuda_fail(d, 2, "cuMemAlloc of 7 bytes"), -ENOMEM);
	TEST_STR_HAS(wic_last_error(),
		     "cuMemAlloc of 7 bytes: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory");
	TEST_EQ(wic_cuda_fail(d, 0, "nothing"), 0);
	TEST_STR_HAS(wic_last_error(), "cuMemAlloc of 7 bytes");
	/* A result that this driver does not know either. */
	TEST_EQ(wic_cuda_fail(d, 4711, "a call"), -EIO);
	TEST_STR_HAS(wic_last_error(), "a call: unnamed result (4711), no words for it");
}

static void fail_texts(void)
{
	use(FAKE);
	in_child(texts);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(get_no_library),
		TEST(get_missing_symbol),
		TEST(get_missing_optional),
		TEST(get_version),
		TEST(get_each_call_fails),
		TEST(get_makes_three_calls),
		TEST(get_names_fail),
		TEST(get_no_device),
		TEST(get_stays),
		TEST(get_many_threads),
		TEST(fail_translates),
		TEST(fail_sticky_is_eio),
		TEST(fail_texts),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
