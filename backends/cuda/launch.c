// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Kernels of images (lib/kernel_image.h): all are loaded when the context opens, because a first
 * launch that loads code waits for kernels that run, which may wait for the thread that launches.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/cuda/be.h"
#include "lib/kernel_image.h"
#include "lib/log.h"

#define POLL_NS_MIN 20000u
#define POLL_NS_MAX 1000000u
#define SHARED_STATIC 49152u /* more than this a kernel has to be allowed to ask for */

/* ---- images ------------------------------------------------------------------------------ */

static int function_add(struct wic_be *be, struct wic_cu_module *module,
			const struct wic_kernel_entry *entry)
{
	struct cuda_function *grown =
		realloc(be->functions, (be->function_count + 1) * sizeof(*grown));
	int rc;

	if (!grown)
		return wic_fail(-ENOMEM, "a list of kernels");
	be->functions = grown;
	grown += be->function_count;
	rc = wic_cuda_be_fail(be, be->d->module_get_function(&grown->function, module, entry->name),
			      entry->name);
	if (rc)
		return rc;
	grown->kernel = entry->kernel;
	be->function_count++;
	return 0;
}

static int image_load(struct wic_be *be, const struct wic_kernel_image *image, const void *code)
{
	struct wic_cu_module **grown =
		realloc(be->modules, (be->module_count + 1) * sizeof(struct wic_cu_module *));
	int rc;

	if (!grown)
		return wic_fail(-ENOMEM, "a list of modules");
	be->modules = grown;
	rc = wic_cuda_be_fail(be, be->d->module_load_data(&grown[be->module_count], code),
			      "cuModuleLoadData");
	if (rc)
		return rc;
	be->module_count++;
	for (const struct wic_kernel_entry *e = image->entries; e->kernel && !rc; e++)
		rc = function_add(be, be->modules[be->module_count - 1], e);
	return rc;
}

static int streams_create(struct wic_be *be)
{
	int rc = 0;

	for (uint32_t i = 0; i < be->cfg.devices && !rc; i++) {
		struct cuda_device *dev = &be->devices[i];

		rc = wic_cuda_be_fail(be,
				      be->d->stream_create_with_priority(
					      &dev->stream, WIC_CU_STREAM_NON_BLOCKING, 0),
				      "cuStreamCreateWithPriority");
		if (!rc)
			rc = wic_cuda_be_fail(
				be, be->d->event_create(&dev->done, WIC_CU_EVENT_DISABLE_TIMING),
				"cuEventCreate");
	}
	return rc;
}

/* WIC_PARK: how warps of kernels of images park: as the GPU does best, or as GPUs before sm_90 do.
 */
static int park_read(struct wic_be *be, bool *is_sleep_out)
{
	const char *park = getenv("WIC_PARK");

	*is_sleep_out = false;
	if (!park || !*park)
		return 0;
	if (!strcmp(park, "sleep")) {
		be->gpu.parks_on_mbarriers = false;
		*is_sleep_out = true;
		return 0;
	}
	if (strcmp(park, "try_wait"))
		return wic_fail(-EINVAL, "WIC_PARK is \"%.32s\", neither try_wait nor sleep", park);
	if (be->gpu.major >= 9)
		return 0;
	return wic_fail(-ENOTSUP, "WIC_PARK is try_wait, which sm_%d%d does not have",
			be->gpu.major, be->gpu.minor);
}

int wic_cuda_launch_init(struct wic_be *be)
{
	const struct wic_kernel_image *image = NULL;
	bool is_sleep;
	int rc = park_read(be, &is_sleep);

	if (!rc)
		rc = wic_cuda_enter(be);
	if (rc)
		return rc;
	rc = streams_create(be);
	while (!rc && (image = wic_kernel_image_next(image))) {
		const void *code = is_sleep ? image->image_sleep : image->image;

		if (code)
			rc = image_load(be, image, code);
		else if (image->image)
			wic_log(WIC_LOG_WARN, "WIC_PARK is sleep: kernel %s has no code for that",
				image->entries->name);
	}
	wic_cuda_leave(be);
	return rc;
}

void wic_cuda_launch_fini(struct wic_be *be)
{
	bool is_in = !wic_cuda_enter(be);

	/* Where the driver lets nobody in, what it gave is lost with the device. */
	for (uint32_t i = 0; i < be->cfg.devices && is_in; i++) {
		if (be->devices[i].done)
			(void)be->d->event_destroy(be->devices[i].done);
		if (be->devices[i].stream)
			(void)be->d->stream_destroy(be->devices[i].stream);
	}
	while (is_in && be->module_count)
		(void)be->d->module_unload(be->modules[--be->module_count]);
	if (is_in)
		wic_cuda_leave(be);
	free(be->modules);
	free(be->functions);
}

/* ---- launches ---------------------------------------------------------------------------- */

static struct wic_cu_function *function_find(const struct wic_be *be,
					     void (*kernel)(const void *args))
{
	for (uint32_t i = 0; i < be->function_count; i++)
		if (be->functions[i].kernel == kernel)
			return be->functions[i].function;
	return NULL;
}

/* What a launch needs to run at all; how many of its blocks are resident. */
static int check_fit(struct wic_be *be, struct wic_cu_function *f, const struct wic_launch_desc *l,
		     struct wic_fit *fit_out)
{
	int blocks = 0, rc = 0;

	if (l->shared_bytes > be->gpu.block_shared_bytes || l->block_threads > 1024)
		return wic_fail(-E2BIG,
				"a block of %" PRIu32 " threads and %" PRIu32 " bytes of shared "
				"memory: a GPU has 1024 and this one %" PRIu32,
				l->block_threads, l->shared_bytes, be->gpu.block_shared_bytes);
	if (l->shared_bytes > SHARED_STATIC)
		rc = wic_cuda_be_fail(
			be,
			be->d->func_set_attribute(f, WIC_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES,
						  (int)l->shared_bytes),
			"cuFuncSetAttribute");
	if (!rc)
		rc = wic_cuda_be_fail(be,
				      be->d->occupancy_max_active_blocks(
					      &blocks, f, (int)l->block_threads, l->shared_bytes),
				      "cuOccupancyMaxActiveBlocksPerMultiprocessor");
	if (rc)
		return rc;
	if (!blocks)
		return wic_fail(-E2BIG,
				"a block of %" PRIu32
				" threads does not fit on a multiprocessor: too "
				"many registers or too much shared memory",
				l->block_threads);
	fit_out->sm_blocks = (uint32_t)blocks;
	fit_out->resident_blocks = (uint32_t)blocks * be->gpu.sms;
	return 0;
}

static void say_fit(const struct wic_launch_desc *l, const struct wic_fit *fit)
{
	if (l->grid_blocks > fit->resident_blocks)
		wic_log(WIC_LOG_INFO,
			"a grid of %" PRIu32 " blocks, of which %" PRIu32
			" are resident: those that "
			"wait keep their slots, and only the host or another GPU may produce",
			l->grid_blocks, fit->resident_blocks);
}

static int fail_no_code(void)
{
	return wic_fail(-ENOTSUP, "this kernel has no GPU code in this program: it was built "
				  "without nvcc, or no image names it");
}

static int check_locked(struct wic_be *be, const struct wic_launch_desc *l, struct wic_fit *fit_out)
{
	struct wic_cu_function *f = function_find(be, l->kernel);
	int registers = 0, spill = 0, rc;

	if (!f)
		return fail_no_code();
	rc = check_fit(be, f, l, fit_out);
	if (!rc)
		rc = wic_cuda_be_fail(
			be, be->d->func_get_attribute(&registers, WIC_CU_FUNC_REGISTERS, f),
			"cuFuncGetAttribute");
	if (!rc)
		rc = wic_cuda_be_fail(be,
				      be->d->func_get_attribute(&spill, WIC_CU_FUNC_LOCAL_BYTES, f),
				      "cuFuncGetAttribute");
	fit_out->registers = (uint32_t)registers;
	fit_out->spill_bytes = (uint32_t)spill;
	return rc;
}

int wic_cuda_check(struct wic_be *be, const struct wic_launch_desc *l, struct wic_fit *fit_out)
{
	int rc = wic_cuda_check_alive(be);

	if (!rc)
		rc = wic_cuda_enter(be);
	if (rc)
		return rc;
	pthread_mutex_lock(&be->lock);
	rc = check_locked(be, l, fit_out);
	pthread_mutex_unlock(&be->lock);
	wic_cuda_leave(be);
	return rc;
}

/* The count of blocks that waited begins anew where nothing else runs. */
static void count_from_here(struct wic_be *be)
{
	uint64_t at = (uint64_t)(uintptr_t)&be->control_device->word[WIC_TREE_WAITED];

	/* Only asked: what a kernel ended with is for who waits for it. */
	for (uint32_t i = 0; i < be->cfg.devices; i++)
		if (be->devices[i].is_busy &&
		    be->d->event_query(be->devices[i].done) == WIC_CU_NOT_READY)
			return;
	(void)be->d->memset_d8(at, 0, sizeof(uint64_t));
	(void)be->d->stream_synchronize(NULL);
}

/* @result_out: how its last kernel ended, once: who asks again is told of none. */
static bool is_running(struct wic_be *be, struct cuda_device *dev, int *result_out)
{
	int result = dev->is_busy ? be->d->event_query(dev->done) : WIC_CU_SUCCESS;

	dev->is_busy = result == WIC_CU_NOT_READY;
	*result_out = dev->is_busy ? WIC_CU_SUCCESS : result;
	return dev->is_busy;
}

static int launch_locked(struct wic_be *be, const struct wic_launch_desc *l)
{
	struct cuda_device *dev = &be->devices[l->device.v];
	struct wic_cu_function *f = function_find(be, l->kernel);
	void *parameters[1] = { (void *)(uintptr_t)l->args };
	struct wic_fit fit;
	int result, rc;

	if (!f)
		return fail_no_code();
	if (is_running(be, dev, &result))
		return wic_fail(-EBUSY, "a kernel is running on device %" PRIu32, l->device.v);
	rc = wic_cuda_be_fail(be, result, "the kernel before");
	if (!rc)
		rc = check_fit(be, f, l, &fit);
	if (rc)
		return rc;
	say_fit(l, &fit);
	count_from_here(be);
	rc = wic_cuda_be_fail(be,
			      be->d->launch_kernel(f, l->grid_blocks, 1, 1, l->block_threads, 1, 1,
						   l->shared_bytes, dev->stream, parameters, NULL),
			      "cuLaunchKernel");
	if (!rc)
		rc = wic_cuda_be_fail(be, be->d->event_record(dev->done, dev->stream),
				      "cuEventRecord");
	dev->is_busy = !rc;
	return rc;
}

int wic_cuda_launch(struct wic_be *be, const struct wic_launch_desc *l)
{
	int rc = wic_cuda_check_alive(be);

	if (!rc)
		rc = wic_cuda_enter(be);
	if (rc)
		return rc;
	pthread_mutex_lock(&be->lock);
	rc = launch_locked(be, l);
	pthread_mutex_unlock(&be->lock);
	wic_cuda_leave(be);
	return rc;
}

/* ---- sync -------------------------------------------------------------------------------- */

static bool any_running(struct wic_be *be, uint32_t first, uint32_t end, int *result_out)
{
	bool any = false;

	*result_out = WIC_CU_SUCCESS;
	/* Who launches keeps the lock, with CUDA_LAUNCH_BLOCKING until that kernel ends. */
	if (pthread_mutex_trylock(&be->lock))
		return true;
	for (uint32_t i = first; i < end && !*result_out; i++)
		any |= is_running(be, &be->devices[i], result_out);
	pthread_mutex_unlock(&be->lock);
	return any;
}

static void nap(uint64_t ns)
{
	struct timespec t = { 0, (long)ns };

	nanosleep(&t, NULL);
}

int wic_cuda_sync(struct wic_be *be, uint32_t device, uint64_t timeout_ns)
{
	uint32_t first = device == WIC_BE_DEVICE_ALL ? 0 : device;
	uint32_t end = device == WIC_BE_DEVICE_ALL ? be->cfg.devices : device + 1;
	uint64_t begin = wic_now_ns(), deadline = wic_deadline_ns(begin, timeout_ns), now = begin;
	int result, rc = wic_cuda_check_alive(be);
	bool is_late = false;

	if (!rc)
		rc = wic_cuda_enter(be);
	if (rc)
		return rc;
	/* Looked at, with sleeps: a wait inside the driver has no deadline. */
	while (any_running(be, first, end, &result) && !(is_late = now >= deadline)) {
		uint64_t waited = now - begin;

		nap(waited < POLL_NS_MIN * 20ull   ? POLL_NS_MIN
		    : waited < POLL_NS_MAX * 20ull ? waited / 20
						   : POLL_NS_MAX);
		now = wic_now_ns();
	}
	rc = wic_cuda_be_fail(be, result, "a kernel");
	wic_cuda_leave(be);
	wic_cuda_reports_say(be);
	if (!rc && is_late)
		return wic_fail(-ETIMEDOUT, "kernels are still running%s", be->hang);
	return rc;
}
