// SPDX-License-Identifier: MIT OR GPL-2.0
/* Driver, devices and their primary contexts. */
#include <stdio.h>
#include <string.h>

#include "tests/fakecuda/fake.h"

#define STACK_MAX 16

/* Contexts that are current in this thread, the last one on top. */
static __thread struct wic_cu_context *stack[STACK_MAX];
static __thread uint32_t stack_depth;

/* What a small H200 would say: few SMs, because each warp is a thread here. */
static const int attributes[][2] = {
	{ WIC_CU_DEVICE_MAX_THREADS_PER_BLOCK, 1024 },
	{ WIC_CU_DEVICE_MAX_SHARED_PER_BLOCK, 49152 },
	{ WIC_CU_DEVICE_WARP_SIZE, 32 },
	{ WIC_CU_DEVICE_CLOCK_KHZ, 1980000 },
	{ WIC_CU_DEVICE_SM_COUNT, 4 },
	{ WIC_CU_DEVICE_CAN_MAP_HOST_MEMORY, 1 },
	{ WIC_CU_DEVICE_CONCURRENT_KERNELS, 1 },
	{ WIC_CU_DEVICE_L2_BYTES, 62914560 },
	{ WIC_CU_DEVICE_MAX_THREADS_PER_SM, 2048 },
	{ WIC_CU_DEVICE_ASYNC_ENGINES, 3 },
	{ WIC_CU_DEVICE_UNIFIED_ADDRESSING, 1 },
	{ WIC_CU_DEVICE_CAPABILITY_MAJOR, 9 },
	{ WIC_CU_DEVICE_CAPABILITY_MINOR, 0 },
	{ WIC_CU_DEVICE_STREAM_PRIORITIES, 1 },
	{ WIC_CU_DEVICE_MAX_SHARED_PER_SM, 233472 },
	{ WIC_CU_DEVICE_MAX_REGISTERS_PER_SM, 65536 },
	{ WIC_CU_DEVICE_COMPUTE_PREEMPTION, 1 },
	{ WIC_CU_DEVICE_HOST_POINTER_IS_DEVICE_POINTER, 1 },
	{ WIC_CU_DEVICE_COOPERATIVE_LAUNCH, 1 },
	{ WIC_CU_DEVICE_MAX_SHARED_PER_BLOCK_OPTIN, 232448 },
	{ WIC_CU_DEVICE_MAX_BLOCKS_PER_SM, 32 },
	{ WIC_CU_DEVICE_STREAM_MEM_OPS_64, 1 },
};

struct result_name {
	int result;
	const char *name;
	const char *text;
};

/* Those that tests of ours use; the driver knows more. */
static const struct result_name result_names[] = {
	{ 0, "CUDA_SUCCESS", "no error" },
	{ 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
	{ 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
	{ 46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "devices are busy or unavailable" },
	{ 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
	{ 101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
	{ 200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid" },
	{ 201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
	{ 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for this device" },
	{ 214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered" },
	{ 400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
	{ 500, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
	{ 600, "CUDA_ERROR_NOT_READY", "device not ready" },
	{ 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered" },
	{ 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch" },
	{ 702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated" },
	{ 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed" },
	{ 719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" },
	{ 800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted" },
	{ 801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported" },
	{ 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	  "system has unsupported display driver / cuda driver combination" },
	{ 999, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

void fake_devices_reset(void)
{
	for (int i = 0; i < FAKECUDA_DEVICES_MAX; i++) {
		struct fake_device *d = &fake.devices[i];

		memset(d, 0, sizeof(*d));
		snprintf(d->name, sizeof(d->name), "Fake GPU %d", i);
		d->context.device = i;
		d->attributes[WIC_CU_DEVICE_PCI_BUS_ID] = i + 1;
		for (size_t k = 0; k < sizeof(attributes) / sizeof(attributes[0]); k++)
			d->attributes[attributes[k][0]] = attributes[k][1];
	}
}

/* When the library is loaded, before anybody asks. */
__attribute__((constructor)) static void devices_begin(void)
{
	fake_devices_reset();
}

static struct fake_device *device_at(int device)
{
	return device >= 0 && device < fake.devices_count ? &fake.devices[device] : NULL;
}

void fakecuda_set_name(int device, const char *name)
{
	pthread_mutex_lock(&fake.lock);
	snprintf(fake.devices[device].name, sizeof(fake.devices[device].name), "%s", name);
	pthread_mutex_unlock(&fake.lock);
}

void fakecuda_set_attribute(int device, int attribute, int value)
{
	pthread_mutex_lock(&fake.lock);
	fake.devices[device].attributes[attribute] = value;
	pthread_mutex_unlock(&fake.lock);
}

int cuInit(unsigned int flags)
{
	int result = fake_enter(FAKE_cuInit);

	if (!result && flags)
		result = WIC_CU_INVALID_VALUE;
	else if (!result && !fake.devices_count)
		result = WIC_CU_NO_DEVICE;
	if (!result)
		fake.is_initialized = true;
	return fake_leave(result);
}

int cuDriverGetVersion(int *version_out)
{
	int result = fake_enter(FAKE_cuDriverGetVersion);

	if (!result)
		*version_out = fake.version;
	return fake_leave(result);
}

static const struct result_name *result_find(int result)
{
	for (size_t i = 0; i < sizeof(result_names) / sizeof(result_names[0]); i++)
		if (result_names[i].result == result)
			return &result_names[i];
	return NULL;
}

int cuGetErrorName(int error, const char **name_out)
{
	int result = fake_enter(FAKE_cuGetErrorName);
	const struct result_name *found = result_find(error);

	if (!result) {
		*name_out = found ? found->name : NULL;
		result = found ? 0 : WIC_CU_INVALID_VALUE;
	}
	return fake_leave(result);
}

int cuGetErrorString(int error, const char **text_out)
{
	int result = fake_enter(FAKE_cuGetErrorString);
	const struct result_name *found = result_find(error);

	if (!result) {
		*text_out = found ? found->text : NULL;
		result = found ? 0 : WIC_CU_INVALID_VALUE;
	}
	return fake_leave(result);
}

int cuDeviceGetCount(int *count_out)
{
	int result = fake_enter(FAKE_cuDeviceGetCount);

	if (!result)
		*count_out = fake.devices_count;
	return fake_leave(result);
}

int cuDeviceGet(int *device_out, int ordinal)
{
	int result = fake_enter(FAKE_cuDeviceGet);

	if (!result && !device_at(ordinal))
		result = FAKE_INVALID_DEVICE;
	if (!result)
		*device_out = ordinal;
	return fake_leave(result);
}

int cuDeviceGetName(char *name_out, int bytes, int device)
{
	int result = fake_enter(FAKE_cuDeviceGetName);

	if (!result && !device_at(device))
		result = FAKE_INVALID_DEVICE;
	else if (!result && bytes < 1)
		result = WIC_CU_INVALID_VALUE;
	if (!result)
		snprintf(name_out, (size_t)bytes, "%s", device_at(device)->name);
	return fake_leave(result);
}

void fakecuda_set_mig(int device)
{
	pthread_mutex_lock(&fake.lock);
	fake.devices[device].is_mig = true;
	pthread_mutex_unlock(&fake.lock);
}

int cuDeviceGetAttribute(int *value_out, int attribute, int device)
{
	int result = fake_enter(FAKE_cuDeviceGetAttribute);

	if (!result && !device_at(device))
		result = FAKE_INVALID_DEVICE;
	else if (!result && (attribute < 1 || attribute >= FAKE_ATTRIBUTES))
		result = WIC_CU_INVALID_VALUE;
	if (!result)
		*value_out = device_at(device)->attributes[attribute];
	return fake_leave(result);
}

static int uuid_get(struct wic_cu_uuid *uuid_out, int device)
{
	if (!device_at(device))
		return FAKE_INVALID_DEVICE;
	memset(uuid_out->bytes, 0xfa, sizeof(uuid_out->bytes));
	uuid_out->bytes[15] = (unsigned char)device;
	return 0;
}

int cuDeviceGetUuid(struct wic_cu_uuid *uuid_out, int device)
{
	int result = fake_enter(FAKE_cuDeviceGetUuid);

	return fake_leave(result ? result : uuid_get(uuid_out, device));
}

int cuDeviceGetUuid_v2(struct wic_cu_uuid *uuid_out, int device)
{
	int result = fake_enter(FAKE_cuDeviceGetUuid_v2);

	if (!result)
		result = uuid_get(uuid_out, device);
	if (!result && device_at(device)->is_mig)
		uuid_out->bytes[0] = 1;
	return fake_leave(result);
}

struct wic_cu_context *fake_current(void)
{
	return stack_depth ? stack[stack_depth - 1] : NULL;
}

int cuDevicePrimaryCtxRetain(struct wic_cu_context **context_out, int device)
{
	int result = fake_enter(FAKE_cuDevicePrimaryCtxRetain);

	if (!result && !device_at(device))
		result = FAKE_INVALID_DEVICE;
	if (!result) {
		device_at(device)->context.retains++;
		*context_out = &device_at(device)->context;
	}
	return fake_leave(result);
}

static void went_with_it(uint32_t count, const char *what)
{
	if (count)
		fake_misuse("%u %s went with their context", count, what);
}

/* The last reference is gone: what is left goes too, which is no fault after a sticky error. */
static void context_end(struct wic_cu_context *c)
{
	uint32_t streams, events, modules, allocations;

	if (!fake_settle(c, "cuDevicePrimaryCtxRelease_v2"))
		return;
	streams = fake_streams_drop(c);
	events = fake_events_drop(c);
	modules = fake_modules_drop(c);
	allocations = fake_memory_drop(c);
	if (fake.sticky)
		return;
	went_with_it(streams, "streams");
	went_with_it(events, "events");
	went_with_it(modules, "modules");
	went_with_it(allocations, "allocations");
}

static int context_release(int device)
{
	struct fake_device *d = device_at(device);

	if (!d)
		return FAKE_INVALID_DEVICE;
	if (!d->context.retains) {
		fake_misuse("the context of device %d is released without a reference", device);
		return FAKE_INVALID_CONTEXT;
	}
	if (!--d->context.retains)
		context_end(&d->context);
	return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	int result = fake_enter(FAKE_cuDevicePrimaryCtxRelease_v2);
	int own = fake_acts() ? context_release(device) : 0;

	return fake_leave(result ? result : own);
}

int cuDevicePrimaryCtxGetState(int device, unsigned int *flags_out, int *active_out)
{
	int result = fake_enter(FAKE_cuDevicePrimaryCtxGetState);

	if (!result && !device_at(device))
		result = FAKE_INVALID_DEVICE;
	if (!result) {
		*flags_out = 0;
		*active_out = device_at(device)->context.retains > 0;
	}
	return fake_leave(result);
}

static bool is_context(const struct wic_cu_context *context)
{
	for (int i = 0; i < FAKECUDA_DEVICES_MAX; i++)
		if (context == &fake.devices[i].context)
			return true;
	return false;
}

static int push(struct wic_cu_context *context)
{
	if (!is_context(context) || !context->retains || stack_depth == STACK_MAX) {
		fake_misuse("cuCtxPushCurrent_v2 of what is no context, or of too many");
		return FAKE_INVALID_CONTEXT;
	}
	stack[stack_depth++] = context;
	return 0;
}

int cuCtxPushCurrent_v2(struct wic_cu_context *context)
{
	int result = fake_enter(FAKE_cuCtxPushCurrent_v2);

	return fake_leave(result ? result : push(context));
}

static int pop(struct wic_cu_context **context_out)
{
	if (!stack_depth)
		return FAKE_INVALID_CONTEXT;
	stack_depth--;
	if (context_out)
		*context_out = stack[stack_depth];
	return 0;
}

int cuCtxPopCurrent_v2(struct wic_cu_context **context_out)
{
	int result = fake_enter(FAKE_cuCtxPopCurrent_v2);
	int own = fake_acts() ? pop(context_out) : 0;

	return fake_leave(result ? result : own);
}

int cuCtxSynchronize(void)
{
	int result = fake_enter(FAKE_cuCtxSynchronize);

	while (!result) {
		const struct wic_cu_stream *s = fake.streams;

		while (s && (s->context != fake_current() || !fake_stream_is_busy(s)))
			s = s->next;
		if (!s)
			break;
		fake_wait();
		result = fake.sticky;
	}
	return fake_leave(result);
}

int cuCtxGetStreamPriorityRange(int *least_out, int *greatest_out)
{
	int result = fake_enter(FAKE_cuCtxGetStreamPriorityRange);

	if (!result) {
		if (least_out)
			*least_out = 0;
		if (greatest_out)
			*greatest_out = FAKE_PRIORITY_GREATEST;
	}
	return fake_leave(result);
}
