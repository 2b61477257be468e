/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The CUDA driver, libcuda.so.1, opened at run time: a program with WIC in it starts on
 * machines that have none, and is built on machines without <cuda.h>.
 *
 *	struct wic_cuda_driver     a field a call, named like the call without "cu" and
 *	                           version suffix: cuMemAlloc_v2 is mem_alloc
 *	wic_cuda_driver_get()      finds it, once a process
 *	wic_cuda_fail()            the one place where a CUresult becomes a -errno
 *
 * What is declared here is the published ABI of the driver API, which never changes under a
 * name: CUresult, CUdevice and all enums are int, CUdeviceptr has 64 bits, the other handles
 * are pointers to what only the driver knows.  driver.c alone says the symbols' names.
 *
 * Lifetime: what wic_cuda_driver_get() gave stays until the process ends.  The library is
 * never closed, because the driver keeps threads and exit handlers of its own.
 * Locking: any thread may call anything here; the table is constant once it was given.
 */
#ifndef WIC_BACKENDS_CUDA_DRIVER_H
#define WIC_BACKENDS_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include <wic/error.h>

struct wic_cu_context;
struct wic_cu_stream;
struct wic_cu_event;
struct wic_cu_module;
struct wic_cu_function;

struct wic_cu_uuid {
	unsigned char bytes[16];
};

/*
 * The oldest driver that is used, as cuDriverGetVersion() has it: 1000 * major + 10 * minor.
 * The newest calls that are required, cuDevicePrimaryCtxRelease_v2 and its kin, came with CUDA
 * 11.0; 11.2 (the drivers R460) is the oldest that is promised.
 */
#define WIC_CUDA_VERSION_MIN 11020

/* Results that code of ours decides by; wic_cuda_fail() knows the others. */
enum wic_cu_result {
	WIC_CU_SUCCESS = 0,
	WIC_CU_INVALID_VALUE = 1,
	WIC_CU_OUT_OF_MEMORY = 2,
	WIC_CU_NO_DEVICE = 100,
	WIC_CU_NOT_FOUND = 500,
	WIC_CU_NOT_READY = 600,
};

enum wic_cu_device_attribute {
	WIC_CU_DEVICE_MAX_THREADS_PER_BLOCK = 1,
	WIC_CU_DEVICE_MAX_SHARED_PER_BLOCK = 8,
	WIC_CU_DEVICE_WARP_SIZE = 10,
	WIC_CU_DEVICE_CLOCK_KHZ = 13,
	WIC_CU_DEVICE_SM_COUNT = 16,
	WIC_CU_DEVICE_KERNEL_EXEC_TIMEOUT = 17,
	WIC_CU_DEVICE_INTEGRATED = 18,
	WIC_CU_DEVICE_CAN_MAP_HOST_MEMORY = 19,
	WIC_CU_DEVICE_COMPUTE_MODE = 20,
	WIC_CU_DEVICE_CONCURRENT_KERNELS = 31,
	WIC_CU_DEVICE_PCI_BUS_ID = 33,
	WIC_CU_DEVICE_PCI_DEVICE_ID = 34,
	WIC_CU_DEVICE_L2_BYTES = 38,
	WIC_CU_DEVICE_MAX_THREADS_PER_SM = 39,
	WIC_CU_DEVICE_ASYNC_ENGINES = 40,
	WIC_CU_DEVICE_UNIFIED_ADDRESSING = 41,
	WIC_CU_DEVICE_PCI_DOMAIN_ID = 50,
	WIC_CU_DEVICE_CAPABILITY_MAJOR = 75,
	WIC_CU_DEVICE_CAPABILITY_MINOR = 76,
	WIC_CU_DEVICE_STREAM_PRIORITIES = 78,
	WIC_CU_DEVICE_MAX_SHARED_PER_SM = 81,
	WIC_CU_DEVICE_MAX_REGISTERS_PER_SM = 82,
	WIC_CU_DEVICE_HOST_NATIVE_ATOMICS = 86,
	WIC_CU_DEVICE_COMPUTE_PREEMPTION = 90,
	WIC_CU_DEVICE_HOST_POINTER_IS_DEVICE_POINTER = 91, /* for registered memory */
	WIC_CU_DEVICE_COOPERATIVE_LAUNCH = 95,
	WIC_CU_DEVICE_MAX_SHARED_PER_BLOCK_OPTIN = 97,
	WIC_CU_DEVICE_MAX_BLOCKS_PER_SM = 106,
	WIC_CU_DEVICE_STREAM_MEM_OPS_64 = 122, /* stream_wait_value64, stream_write_value64 */
	WIC_CU_DEVICE_MPS_ENABLED = 133,
	WIC_CU_DEVICE_HOST_NUMA_ID = 134,
};

enum wic_cu_function_attribute {
	WIC_CU_FUNC_MAX_THREADS_PER_BLOCK = 0,
	WIC_CU_FUNC_SHARED_BYTES = 1,
	WIC_CU_FUNC_LOCAL_BYTES = 3,
	WIC_CU_FUNC_REGISTERS = 4,
	WIC_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES = 8, /* may be set */
};

enum wic_cu_pointer_attribute {
	WIC_CU_POINTER_MEMORY_TYPE = 2,    /* unsigned int, enum wic_cu_memory_type */
	WIC_CU_POINTER_DEVICE_POINTER = 3, /* uint64_t */
	WIC_CU_POINTER_HOST_POINTER = 4,   /* void * */
	WIC_CU_POINTER_IS_MANAGED = 8,     /* unsigned int */
	WIC_CU_POINTER_DEVICE_ORDINAL = 9, /* int */
	WIC_CU_POINTER_RANGE_START = 11,   /* uint64_t */
	WIC_CU_POINTER_RANGE_BYTES = 12,   /* size_t */
};

enum wic_cu_memory_type {
	WIC_CU_MEMORY_HOST = 1,
	WIC_CU_MEMORY_DEVICE = 2,
};

#define WIC_CU_HOST_PORTABLE 0x1u  /* mem_host_alloc: pinned for every context */
#define WIC_CU_HOST_DEVICEMAP 0x2u /* and at a device address */
#define WIC_CU_HOST_WRITECOMBINED 0x4u
#define WIC_CU_MANAGED_ATTACH_GLOBAL 0x1u
#define WIC_CU_STREAM_NON_BLOCKING 0x1u /* no order with the null stream */
#define WIC_CU_EVENT_BLOCKING_SYNC 0x1u
#define WIC_CU_EVENT_DISABLE_TIMING 0x2u
#define WIC_CU_WAIT_VALUE_GEQ 0x0u /* by (int64_t)(*addr - value) >= 0 */
#define WIC_CU_WAIT_VALUE_EQ 0x1u
#define WIC_CU_WAIT_VALUE_FLUSH 0x40000000u

/* Each call gives a CUresult.  Parameters are the driver API's, in its order. */
struct wic_cuda_driver {
	int (*init)(unsigned int flags);
	int (*driver_get_version)(int *version_out);
	int (*get_error_name)(int result, const char **name_out);
	int (*get_error_string)(int result, const char **text_out);

	int (*device_get_count)(int *count_out);
	int (*device_get)(int *device_out, int ordinal);
	int (*device_get_name)(char *name_out, int bytes, int device);
	int (*device_get_attribute)(int *value_out, int attribute, int device);
	int (*device_get_uuid)(struct wic_cu_uuid *uuid_out, int device);
	int (*device_get_uuid_v2)(struct wic_cu_uuid *uuid_out, int device); /* 11.4, or NULL */

	int (*device_primary_ctx_retain)(struct wic_cu_context **context_out, int device);
	int (*device_primary_ctx_release)(int device);
	int (*device_primary_ctx_get_state)(int device, unsigned int *flags_out, int *active_out);
	int (*ctx_push_current)(struct wic_cu_context *context);
	int (*ctx_pop_current)(struct wic_cu_context **context_out);
	int (*ctx_synchronize)(void);
	int (*ctx_get_stream_priority_range)(int *least_out, int *greatest_out);

	int (*mem_alloc)(uint64_t *address_out, size_t bytes);
	int (*mem_free)(uint64_t address);
	int (*mem_host_alloc)(void **memory_out, size_t bytes, unsigned int flags);
	int (*mem_free_host)(void *memory);
	int (*memcpy_htod)(uint64_t to, const void *from, size_t bytes);
	int (*memcpy_dtoh)(void *to, uint64_t from, size_t bytes);
	int (*memcpy_dtod)(uint64_t to, uint64_t from, size_t bytes);
	int (*memcpy_htod_async)(uint64_t to, const void *from, size_t bytes,
				 struct wic_cu_stream *stream);
	int (*memcpy_async)(uint64_t to, uint64_t from, size_t bytes, struct wic_cu_stream *stream);
	int (*memset_d8)(uint64_t address, unsigned char value, size_t bytes);
	/* Or NULL: some containers lack it. */
	int (*mem_alloc_managed)(uint64_t *address_out, size_t bytes, unsigned int flags);
	int (*pointer_get_attribute)(void *value_out, int attribute, uint64_t address);

	int (*stream_create_with_priority)(struct wic_cu_stream **stream_out, unsigned int flags,
					   int priority);
	int (*stream_destroy)(struct wic_cu_stream *stream);
	int (*stream_query)(struct wic_cu_stream *stream);
	int (*stream_synchronize)(struct wic_cu_stream *stream);
	int (*stream_wait_event)(struct wic_cu_stream *stream, struct wic_cu_event *event,
				 unsigned int flags);
	/* 11.7, or NULL; see WIC_CU_DEVICE_STREAM_MEM_OPS_64. */
	int (*stream_wait_value64)(struct wic_cu_stream *stream, uint64_t address, uint64_t value,
				   unsigned int flags);
	int (*stream_write_value64)(struct wic_cu_stream *stream, uint64_t address, uint64_t value,
				    unsigned int flags);

	int (*event_create)(struct wic_cu_event **event_out, unsigned int flags);
	int (*event_record)(struct wic_cu_event *event, struct wic_cu_stream *stream);
	int (*event_query)(struct wic_cu_event *event);
	int (*event_elapsed_time)(float *ms_out, struct wic_cu_event *from,
				  struct wic_cu_event *to);
	int (*event_destroy)(struct wic_cu_event *event);

	int (*module_load_data)(struct wic_cu_module **module_out, const void *image);
	int (*module_unload)(struct wic_cu_module *module);
	int (*module_get_function)(struct wic_cu_function **function_out,
				   struct wic_cu_module *module, const char *name);
	int (*func_get_attribute)(int *value_out, int attribute, struct wic_cu_function *function);
	int (*func_set_attribute)(struct wic_cu_function *function, int attribute, int value);
	int (*occupancy_max_active_blocks)(int *blocks_out, struct wic_cu_function *function,
					   int block_threads, size_t shared_bytes);
	int (*launch_kernel)(struct wic_cu_function *function, unsigned int grid_x,
			     unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
			     unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
			     struct wic_cu_stream *stream, void **parameters, void **extra);
	int (*launch_host_func)(struct wic_cu_stream *stream, void (*run)(void *arg), void *arg);
};

/*
 * Open libcuda.so.1 (or the file that WIC_LIBCUDA names), look that it is new enough and
 * whole, and call cuInit() and cuDeviceGetCount().  What was found once stays; what failed is
 * tried again by the next call, from the beginning.
 *
 * Return: 0 (there is at least one device); -ENOTSUP: the text says what exactly is missing.
 * @driver_out is constant memory, the caller frees nothing.
 */
int wic_cuda_driver_get(const struct wic_cuda_driver **driver_out) WIC_MUST_CHECK;

/*
 * What @result means as a status of ours, with wic_fail()'s text "@what: name (number), words".
 * @d: NULL: the driver's words are left out.  Any @result is taken, also one that no header
 * lists yet.
 *
 * Return: 0 for WIC_CU_SUCCESS, without a text; -EAGAIN: not ready; -EINVAL, -ENOMEM, -ENOENT,
 * -E2BIG, -EPERM and -EBUSY as wic_strerror() says them; -ENOTSUP: this driver, device or
 * installation cannot; -EIO: all else, in which is each error after which a context is lost.
 */
int wic_cuda_fail(const struct wic_cuda_driver *d, int result, const char *what);

#endif /* WIC_BACKENDS_CUDA_DRIVER_H */
