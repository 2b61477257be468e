/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the parts of the fake driver share: the list of calls, and one state under one lock.
 * Each call takes the lock by fake_enter() and gives it back by fake_leave(); what runs for
 * long (a copy, a warp, a host function) runs without it.  Whoever changes something that
 * another may wait for says so by fake.changed.
 */
#ifndef WIC_TESTS_FAKECUDA_FAKE_H
#define WIC_TESTS_FAKECUDA_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cuda/driver.h"
#include "tests/fakecuda/fakecuda.h"

/* What must have been before: nothing, cuInit(), a current context. */
enum fake_need {
	FAKE_NOTHING,
	FAKE_INIT,
	FAKE_CONTEXT,
};

/* Symbol, field of the table in driver.h, need. */
#define FAKE_CALLS(X)                                                                             \
	X(cuInit, init, FAKE_NOTHING)                                                             \
	X(cuDriverGetVersion, driver_get_version, FAKE_NOTHING)                                   \
	X(cuGetErrorName, get_error_name, FAKE_NOTHING)                                           \
	X(cuGetErrorString, get_error_string, FAKE_NOTHING)                                       \
	X(cuDeviceGetCount, device_get_count, FAKE_INIT)                                          \
	X(cuDeviceGet, device_get, FAKE_INIT)                                                     \
	X(cuDeviceGetName, device_get_name, FAKE_INIT)                                            \
	X(cuDeviceGetAttribute, device_get_attribute, FAKE_INIT)                                  \
	X(cuDeviceGetUuid, device_get_uuid, FAKE_INIT)                                            \
	X(cuDeviceGetUuid_v2, device_get_uuid_v2, FAKE_INIT)                                      \
	X(cuDevicePrimaryCtxRetain, device_primary_ctx_retain, FAKE_INIT)                         \
	X(cuDevicePrimaryCtxRelease_v2, device_primary_ctx_release, FAKE_INIT)                    \
	X(cuDevicePrimaryCtxGetState, device_primary_ctx_get_state, FAKE_INIT)                    \
	X(cuCtxPushCurrent_v2, ctx_push_current, FAKE_INIT)                                       \
	X(cuCtxPopCurrent_v2, ctx_pop_current, FAKE_INIT)                                         \
	X(cuCtxSynchronize, ctx_synchronize, FAKE_CONTEXT)                                        \
	X(cuCtxGetStreamPriorityRange, ctx_get_stream_priority_range, FAKE_CONTEXT)               \
	X(cuMemAlloc_v2, mem_alloc, FAKE_CONTEXT)                                                 \
	X(cuMemAllocManaged, mem_alloc_managed, FAKE_CONTEXT)                                     \
	X(cuMemFree_v2, mem_free, FAKE_CONTEXT)                                                   \
	X(cuMemHostAlloc, mem_host_alloc, FAKE_CONTEXT)                                           \
	X(cuMemFreeHost, mem_free_host, FAKE_CONTEXT)                                             \
	X(cuMemcpyHtoD_v2, memcpy_htod, FAKE_CONTEXT)                                             \
	X(cuMemcpyDtoH_v2, memcpy_dtoh, FAKE_CONTEXT)                                             \
	X(cuMemcpyDtoD_v2, memcpy_dtod, FAKE_CONTEXT)                                             \
	X(cuMemcpyHtoDAsync_v2, memcpy_htod_async, FAKE_CONTEXT)                                  \
	X(cuMemcpyAsync, memcpy_async, FAKE_CONTEXT)                                              \
	X(cuMemsetD8_v2, memset_d8, FAKE_CONTEXT)                                                 \
	X(cuPointerGetAttribute, pointer_get_attribute, FAKE_INIT)                                \
	X(cuStreamCreateWithPriority, stream_create_with_priority, FAKE_CONTEXT)                  \
	X(cuStreamDestroy_v2, stream_destroy, FAKE_CONTEXT)                                       \
	X(cuStreamQuery, stream_query, FAKE_CONTEXT)                                              \
	X(cuStreamSynchronize, stream_synchronize, FAKE_CONTEXT)                                  \
	X(cuStreamWaitEvent, stream_wait_event, FAKE_CONTEXT)                                     \
	X(cuStreamWaitValue64_v2, stream_wait_value64, FAKE_CONTEXT)                              \
	X(cuStreamWriteValue64_v2, stream_write_value64, FAKE_CONTEXT)                            \
	X(cuEventCreate, event_create, FAKE_CONTEXT)                                              \
	X(cuEventRecord, event_record, FAKE_CONTEXT)                                              \
	X(cuEventQuery, event_query, FAKE_CONTEXT)                                                \
	X(cuEventElapsedTime, event_elapsed_time, FAKE_CONTEXT)                                   \
	X(cuEventDestroy_v2, event_destroy, FAKE_CONTEXT)                                         \
	X(cuModuleLoadData, module_load_data, FAKE_CONTEXT)                                       \
	X(cuModuleUnload, module_unload, FAKE_CONTEXT)                                            \
	X(cuModuleGetFunction, module_get_function, FAKE_CONTEXT)                                 \
	X(cuFuncGetAttribute, func_get_attribute, FAKE_CONTEXT)                                   \
	X(cuFuncSetAttribute, func_set_attribute, FAKE_CONTEXT)                                   \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, occupancy_max_active_blocks, FAKE_CONTEXT) \
	X(cuLaunchKernel, launch_kernel, FAKE_CONTEXT)                                            \
	X(cuLaunchHostFunc, launch_host_func, FAKE_CONTEXT)

#define FAKE_ENUM(symbol, field, need) FAKE_##symbol,
enum fake_call { FAKE_CALLS(FAKE_ENUM) FAKE_CALL_COUNT };

/* The types are the table's: another signature does not compile. */
#define FAKE_DECLARE(symbol, field, need) \
	extern __typeof__(*((struct wic_cuda_driver *)0)->field) symbol;
FAKE_CALLS(FAKE_DECLARE)

/* Results that only a driver gives. */
enum {
	FAKE_NOT_INITIALIZED = 3,
	FAKE_INVALID_DEVICE = 101,
	FAKE_INVALID_IMAGE = 200,
	FAKE_INVALID_CONTEXT = 201,
	FAKE_INVALID_HANDLE = 400,
	FAKE_LAUNCH_OUT_OF_RESOURCES = 701,
	FAKE_CONTEXT_IS_DESTROYED = 709,
	FAKE_NOT_PERMITTED = 800,
	FAKE_NOT_SUPPORTED = 801,
};

#define FAKE_ATTRIBUTES 160
#define FAKE_PRIORITY_GREATEST (-5)

struct wic_cu_context {
	int device;
	uint32_t retains;
	struct wic_cu_stream *null_stream; /* owned; NULL before its first operation */
};

/* One cuEventRecord(): later ones of the same event do not change it. */
struct fake_record {
	uint32_t references; /* the event's, and of each queued operation */
	bool is_done;
	uint64_t time_ns;
};

struct fake_launch;

enum fake_op_kind {
	FAKE_OP_COPY,
	FAKE_OP_RECORD,
	FAKE_OP_WAIT_EVENT,
	FAKE_OP_WAIT_VALUE,
	FAKE_OP_WRITE_VALUE,
	FAKE_OP_HOST,
	FAKE_OP_KERNEL,
};

struct fake_op {
	struct fake_op *next;
	enum fake_op_kind kind;
	uint64_t to;
	uint64_t from;
	size_t bytes;
	uint64_t value;
	unsigned int flags;
	struct fake_record *record; /* counted */
	void (*run)(void *arg);
	void *arg;
	struct fake_launch *launch; /* owned */
};

struct wic_cu_stream {
	struct wic_cu_stream *next;
	struct wic_cu_context *context;
	unsigned int flags;
	int priority;
	bool has_thread;
	bool is_busy;
	bool is_destroyed; /* ends when what is queued has run */
	pthread_t thread;
	struct fake_op *first, *last; /* owned */
};

struct fake_device {
	char name[64];
	int attributes[FAKE_ATTRIBUTES];
	struct wic_cu_context context;
	uint32_t resident_blocks; /* now */
	bool is_mig;
	size_t memory_bytes; /* allocated */
};

struct fake_call_state {
	uint64_t calls;
	uint64_t fail_in; /* calls until it fails, that one included; 0: it does not */
	int result;
	enum fakecuda_how how;
	bool is_held;
};

struct fake {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_initialized;
	int sticky;
	int version;
	int devices_count;
	size_t memory_max;
	uint32_t resident_max;
	bool is_any_image;
	uint32_t held;
	uint64_t implicit_syncs;
	struct fake_call_state calls[FAKE_CALL_COUNT];
	struct fake_device devices[FAKECUDA_DEVICES_MAX];
	struct wic_cu_stream *streams; /* owned, also those that end */
	struct wic_cu_stream *ended;   /* owned: their threads are to be joined */
};

extern struct fake fake;

/* Take the lock.  Returns what the call has to fail with, or 0. */
int fake_enter(enum fake_call call);
int fake_leave(int result);
/*
 * Whether the call that this thread is in may be carried out, also if it has to report an error
 * that is sticky or asked for by the test: for calls that give something back.
 */
bool fake_acts(void);
void fake_wait(void);
/* For @ns at most. */
void fake_wait_ns(uint64_t ns);
uint64_t fake_now_ns(void);
void fake_misuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Set in threads of kernels and host functions, which may not call the driver. */
void fake_forbid_calls(const char *where);

/* With the lock, all below. */
void fake_break(int result);
struct wic_cu_context *fake_current(void);
/* Whether all is done in the context; waits as a driver does that has to. */
bool fake_settle(const struct wic_cu_context *context, const char *call);

/* For each part: give back what belongs to @context (NULL: all), return how many there were. */
uint32_t fake_memory_drop(const struct wic_cu_context *context);
uint32_t fake_streams_drop(const struct wic_cu_context *context);
uint32_t fake_events_drop(const struct wic_cu_context *context);
uint32_t fake_modules_drop(const struct wic_cu_context *context);
/* How many there are now, to be given back by the program. */
uint32_t fake_memory_count(bool is_pinned);
uint32_t fake_streams_count(void);
uint32_t fake_events_count(void);
uint32_t fake_modules_count(void);

void fake_devices_reset(void);
void fake_kernels_reset(void);

/* Whether [address, address + bytes) may be used; @must_know: only memory of the driver's. */
bool fake_memory_has(uint64_t address, size_t bytes, bool must_know);
void fake_copy(uint64_t to, uint64_t from, size_t bytes);

/* The stream behind a handle, the context's own for NULL; NULL: not a stream. */
struct wic_cu_stream *fake_stream(struct wic_cu_stream *handle);
int fake_submit(struct wic_cu_stream *stream, const struct fake_op *op);
bool fake_stream_is_busy(const struct wic_cu_stream *stream);
/* Join threads that have ended.  Lets the lock go. */
void fake_streams_reap(void);

void fake_record_put(struct fake_record *record);
void fake_launch_run(struct fake_launch *launch);
void fake_launch_free(struct fake_launch *launch);

#endif /* WIC_TESTS_FAKECUDA_FAKE_H */
