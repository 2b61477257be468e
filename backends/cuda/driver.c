// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define LIBRARY "libcuda.so.1"
#define LIBRARY_VARIABLE "WIC_LIBCUDA"

struct call {
	const char *symbol;
	size_t offset; /* in struct wic_cuda_driver */
	bool is_optional;
};

#define REQUIRED(symbol, field)                                         \
	{                                                               \
		symbol, offsetof(struct wic_cuda_driver, field), false, \
	}
#define OPTIONAL(symbol, field)                                        \
	{                                                              \
		symbol, offsetof(struct wic_cuda_driver, field), true, \
	}

/* The names under which libcuda exports what <cuda.h> calls without a suffix. */
static const struct call calls[] = {
	REQUIRED("cuInit", init),
	REQUIRED("cuDriverGetVersion", driver_get_version),
	REQUIRED("cuGetErrorName", get_error_name),
	REQUIRED("cuGetErrorString", get_error_string),
	REQUIRED("cuDeviceGetCount", device_get_count),
	REQUIRED("cuDeviceGet", device_get),
	REQUIRED("cuDeviceGetName", device_get_name),
	REQUIRED("cuDeviceGetAttribute", device_get_attribute),
	REQUIRED("cuDeviceGetUuid", device_get_uuid),
	OPTIONAL("cuDeviceGetUuid_v2", device_get_uuid_v2),
	REQUIRED("cuDevicePrimaryCtxRetain", device_primary_ctx_retain),
	REQUIRED("cuDevicePrimaryCtxRelease_v2", device_primary_ctx_release),
	REQUIRED("cuDevicePrimaryCtxGetState", device_primary_ctx_get_state),
	REQUIRED("cuCtxPushCurrent_v2", ctx_push_current),
	REQUIRED("cuCtxPopCurrent_v2", ctx_pop_current),
	REQUIRED("cuCtxSynchronize", ctx_synchronize),
	REQUIRED("cuCtxGetStreamPriorityRange", ctx_get_stream_priority_range),
	REQUIRED("cuMemAlloc_v2", mem_alloc),
	REQUIRED("cuMemFree_v2", mem_free),
	REQUIRED("cuMemHostAlloc", mem_host_alloc),
	REQUIRED("cuMemFreeHost", mem_free_host),
	REQUIRED("cuMemcpyHtoD_v2", memcpy_htod),
	REQUIRED("cuMemcpyDtoH_v2", memcpy_dtoh),
	REQUIRED("cuMemcpyDtoD_v2", memcpy_dtod),
	REQUIRED("cuMemcpyHtoDAsync_v2", memcpy_htod_async),
	REQUIRED("cuMemcpyAsync", memcpy_async),
	REQUIRED("cuMemsetD8_v2", memset_d8),
	OPTIONAL("cuMemAllocManaged", mem_alloc_managed),
	REQUIRED("cuPointerGetAttribute", pointer_get_attribute),
	REQUIRED("cuStreamCreateWithPriority", stream_create_with_priority),
	REQUIRED("cuStreamDestroy_v2", stream_destroy),
	REQUIRED("cuStreamQuery", stream_query),
	REQUIRED("cuStreamSynchronize", stream_synchronize),
	REQUIRED("cuStreamWaitEvent", stream_wait_event),
	OPTIONAL("cuStreamWaitValue64_v2", stream_wait_value64),
	OPTIONAL("cuStreamWriteValue64_v2", stream_write_value64),
	REQUIRED("cuEventCreate", event_create),
	REQUIRED("cuEventRecord", event_record),
	REQUIRED("cuEventQuery", event_query),
	REQUIRED("cuEventElapsedTime", event_elapsed_time),
	REQUIRED("cuEventDestroy_v2", event_destroy),
	REQUIRED("cuModuleLoadData", module_load_data),
	REQUIRED("cuModuleUnload", module_unload),
	REQUIRED("cuModuleGetFunction", module_get_function),
	REQUIRED("cuFuncGetAttribute", func_get_attribute),
	REQUIRED("cuFuncSetAttribute", func_set_attribute),
	REQUIRED("cuOccupancyMaxActiveBlocksPerMultiprocessor", occupancy_max_active_blocks),
	REQUIRED("cuLaunchKernel", launch_kernel),
	REQUIRED("cuLaunchHostFunc", launch_host_func),
};

/* The one that is called before the others are looked up. */
static const struct call version_call = REQUIRED("cuDriverGetVersion", driver_get_version);

#define CALLS (sizeof(calls) / sizeof(calls[0]))

_Static_assert(sizeof(struct wic_cuda_driver) == CALLS * sizeof(void (*)(void)),
	       "each field has its symbol, and each symbol its field");

struct translation {
	int result;
	int rc;
};

/*
 * Numbers of <cuda.h> 13.0 that mean something else than -EIO.  A handle or a context that is
 * refused is not here: no user gave it, so it is a fault of ours.
 */
static const struct translation translations[] = {
	{ 1, -EINVAL },    /* INVALID_VALUE */
	{ 2, -ENOMEM },    /* OUT_OF_MEMORY */
	{ 3, -ENOTSUP },   /* NOT_INITIALIZED */
	{ 34, -ENOTSUP },  /* STUB_LIBRARY */
	{ 36, -ENOTSUP },  /* CALL_REQUIRES_NEWER_DRIVER */
	{ 46, -EBUSY },    /* DEVICE_UNAVAILABLE: another process has it for itself */
	{ 100, -ENOTSUP }, /* NO_DEVICE */
	{ 101, -EINVAL },  /* INVALID_DEVICE */
	{ 102, -ENOTSUP }, /* DEVICE_NOT_LICENSED */
	{ 200, -EINVAL },  /* INVALID_IMAGE */
	{ 209, -ENOTSUP }, /* NO_BINARY_FOR_GPU */
	{ 215, -ENOTSUP }, /* UNSUPPORTED_LIMIT */
	{ 217, -ENOTSUP }, /* PEER_ACCESS_UNSUPPORTED */
	{ 218, -EINVAL },  /* INVALID_PTX */
	{ 221, -ENOTSUP }, /* JIT_COMPILER_NOT_FOUND */
	{ 222, -ENOTSUP }, /* UNSUPPORTED_PTX_VERSION */
	{ 223, -ENOTSUP }, /* JIT_COMPILATION_DISABLED */
	{ 224, -ENOTSUP }, /* UNSUPPORTED_EXEC_AFFINITY */
	{ 225, -ENOTSUP }, /* UNSUPPORTED_DEVSIDE_SYNC */
	{ 301, -ENOENT },  /* FILE_NOT_FOUND */
	{ 500, -ENOENT },  /* NOT_FOUND */
	{ 600, -EAGAIN },  /* NOT_READY */
	{ 701, -ENOMEM },  /* LAUNCH_OUT_OF_RESOURCES */
	{ 720, -E2BIG },   /* COOPERATIVE_LAUNCH_TOO_LARGE */
	{ 800, -EPERM },   /* NOT_PERMITTED */
	{ 801, -ENOTSUP }, /* NOT_SUPPORTED */
	{ 802, -ENOTSUP }, /* SYSTEM_NOT_READY */
	{ 803, -ENOTSUP }, /* SYSTEM_DRIVER_MISMATCH */
	{ 804, -ENOTSUP }, /* COMPAT_NOT_SUPPORTED_ON_DEVICE */
	{ 805, -ENOTSUP }, /* MPS_CONNECTION_FAILED */
	{ 807, -ENOTSUP }, /* MPS_SERVER_NOT_READY */
	{ 808, -EBUSY },   /* MPS_MAX_CLIENTS_REACHED */
	{ 809, -EBUSY },   /* MPS_MAX_CONNECTIONS_REACHED */
	{ 811, -ENOTSUP }, /* CDP_NOT_SUPPORTED */
	{ 812, -ENOTSUP }, /* CDP_VERSION_MISMATCH */
};

static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;
static bool driver_is_ready; /* driver_lock */
/* Written under driver_lock before it is ready, constant from then on. */
static struct wic_cuda_driver driver;

static int translate(int result)
{
	for (size_t i = 0; i < sizeof(translations) / sizeof(translations[0]); i++)
		if (translations[i].result == result)
			return translations[i].rc;
	return -EIO;
}

static const char *result_name(const struct wic_cuda_driver *d, int result)
{
	const char *name = NULL;

	return d && !d->get_error_name(result, &name) && name ? name : "unnamed result";
}

static const char *result_text(const struct wic_cuda_driver *d, int result)
{
	const char *text = NULL;

	return d && !d->get_error_string(result, &text) && text ? text : "no words for it";
}

int wic_cuda_fail(const struct wic_cuda_driver *d, int result, const char *what)
{
	if (result == WIC_CU_SUCCESS)
		return 0;
	return wic_fail(translate(result), "%s: %s (%d), %s", what, result_name(d, result), result,
			result_text(d, result));
}

static const char *library_path(void)
{
	/* Not from a program that runs with more rights than who started it. */
	const char *path = secure_getenv(LIBRARY_VARIABLE);

	return path && *path ? path : LIBRARY;
}

static int look_up(void *library, const char *path, const struct call *call,
		   struct wic_cuda_driver *d)
{
	void *found = dlsym(library, call->symbol);

	if (!found && !call->is_optional)
		return wic_fail(-ENOTSUP, "%s has no symbol %s", path, call->symbol);
	/* An object pointer becomes a function's as POSIX has it: the same bits. */
	memcpy((char *)d + call->offset, &found, sizeof(found));
	return 0;
}

/* Before the other symbols: of an old driver the version says more than what it lacks. */
static int check_version(void *library, const char *path, struct wic_cuda_driver *d)
{
	int version = 0, result, rc = look_up(library, path, &version_call, d);

	if (rc)
		return rc;
	result = d->driver_get_version(&version);
	if (result)
		return wic_fail(-ENOTSUP, "%s: cuDriverGetVersion gave %d", path, result);
	if (version < WIC_CUDA_VERSION_MIN)
		return wic_fail(-ENOTSUP, "%s: the driver is of CUDA %d.%d, older than %d.%d", path,
				version / 1000, version % 1000 / 10, WIC_CUDA_VERSION_MIN / 1000,
				WIC_CUDA_VERSION_MIN % 1000 / 10);
	return 0;
}

static int start(const char *path, const struct wic_cuda_driver *d)
{
	int count = 0, result = d->init(0);

	if (result)
		return wic_fail(-ENOTSUP, "%s: cuInit gave %s (%d), %s", path,
				result_name(d, result), result, result_text(d, result));
	result = d->device_get_count(&count);
	if (result)
		return wic_fail(-ENOTSUP, "%s: cuDeviceGetCount gave %s (%d), %s", path,
				result_name(d, result), result, result_text(d, result));
	if (count < 1)
		return wic_fail(-ENOTSUP, "%s: there is no device", path);
	return 0;
}

/* With driver_lock. */
static int load(struct wic_cuda_driver *d)
{
	const char *path = library_path();
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const char *why;
	int rc;

	if (!library) {
		why = dlerror();
		return wic_fail(-ENOTSUP, "no CUDA driver: %s", why ? why : path);
	}
	rc = check_version(library, path, d);
	for (size_t i = 0; !rc && i < CALLS; i++)
		rc = look_up(library, path, &calls[i], d);
	/* From cuInit() on the library stays, also after an error: see driver.h. */
	if (rc) {
		dlclose(library);
		return rc;
	}
	return start(path, d);
}

int wic_cuda_driver_get(const struct wic_cuda_driver **driver_out)
{
	int rc = 0;

	pthread_mutex_lock(&driver_lock);
	if (!driver_is_ready) {
		rc = load(&driver);
		driver_is_ready = !rc;
	}
	pthread_mutex_unlock(&driver_lock);
	if (!rc)
		*driver_out = &driver;
	return rc;
}
