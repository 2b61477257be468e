// SPDX-License-Identifier: MIT OR GPL-2.0
/* Modules with functions, which are kernels that the test registered, and what one may ask. */
#include "tests/fakecuda/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS_MAX 64
#define SHARED_DEFAULT 49152 /* dynamic shared memory without cuFuncSetAttribute() */
#define SHARED_RESERVED 1024 /* what a block has of an SM's besides, since sm_80 */
#define THREADS_PER_WARP 32

struct wic_cu_module {
	struct wic_cu_module *next;
	struct wic_cu_context *context;
	char *image;                       /* owned; NULL: any kernel is in it */
	struct wic_cu_function *functions; /* owned */
};

static struct kernel kernels[KERNELS_MAX]; /* fake.lock */
static uint32_t kernels_count;
static struct wic_cu_module *modules; /* fake.lock; owned */

static struct kernel *kernel_by_name(const char *name)
{
	for (uint32_t i = 0; i < kernels_count; i++)
		if (!strcmp(kernels[i].name, name))
			return &kernels[i];
	return NULL;
}

void fake_kernels_reset(void)
{
	kernels_count = 0;
}

void fakecuda_kernel(const char *name, size_t arg_bytes,
		     void (*run)(void *arg0, uint32_t block, uint32_t thread_warp, uint32_t warps))
{
	struct kernel *k;

	pthread_mutex_lock(&fake.lock);
	k = kernel_by_name(name);
	if (!k && kernels_count == KERNELS_MAX) {
		fprintf(stderr, "fakecuda: more than %d kernels\n", KERNELS_MAX);
		abort();
	}
	if (!k)
		k = &kernels[kernels_count++];
	*k = (struct kernel){ .arg_bytes = arg_bytes, .run = run };
	snprintf(k->name, sizeof(k->name), "%s", name);
	k->attributes[WIC_CU_FUNC_MAX_THREADS_PER_BLOCK] = 1024;
	k->attributes[WIC_CU_FUNC_REGISTERS] = 32;
	k->attributes[WIC_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES] = SHARED_DEFAULT;
	pthread_mutex_unlock(&fake.lock);
}

void fakecuda_kernel_attribute(const char *name, int attribute, int value)
{
	struct kernel *k;

	pthread_mutex_lock(&fake.lock);
	k = kernel_by_name(name);
	if (!k || attribute < 0 || attribute >= FAKE_FUNCTION_ATTRIBUTES) {
		fprintf(stderr, "fakecuda: no kernel %s, or no attribute %d\n", name, attribute);
		abort();
	}
	k->attributes[attribute] = value;
	pthread_mutex_unlock(&fake.lock);
}

static void module_end(struct wic_cu_module **link)
{
	struct wic_cu_module *m = *link;
	struct wic_cu_function *next;

	*link = m->next;
	for (struct wic_cu_function *f = m->functions; f; f = next) {
		next = f->next;
		free(f);
	}
	free(m->image);
	free(m);
}

uint32_t fake_modules_drop(const struct wic_cu_context *context)
{
	struct wic_cu_module **link = &modules;
	uint32_t count = 0;

	while (*link)
		if (context && (*link)->context != context) {
			link = &(*link)->next;
		} else {
			module_end(link);
			count++;
		}
	return count;
}

uint32_t fake_modules_count(void)
{
	uint32_t count = 0;

	for (const struct wic_cu_module *m = modules; m; m = m->next)
		count++;
	return count;
}

static int module_load(struct wic_cu_module **module_out, const char *image)
{
	struct wic_cu_module *m;

	/* What is no image of ours need not end with a zero byte, so no more of it is read. */
	if (!fake.is_any_image && strncmp(image, FAKECUDA_IMAGE, strlen(FAKECUDA_IMAGE)))
		return FAKE_INVALID_IMAGE;
	m = calloc(1, sizeof(*m));
	if (!m)
		return WIC_CU_OUT_OF_MEMORY;
	if (!fake.is_any_image) {
		m->image = strdup(image);
		if (!m->image) {
			free(m);
			return WIC_CU_OUT_OF_MEMORY;
		}
	}
	m->context = fake_current();
	m->next = modules;
	modules = m;
	*module_out = m;
	return 0;
}

int cuModuleLoadData(struct wic_cu_module **module_out, const void *image)
{
	int result = fake_enter(FAKE_cuModuleLoadData);

	return fake_leave(result ? result : module_load(module_out, image));
}

static struct wic_cu_module **module_at(const struct wic_cu_module *handle)
{
	struct wic_cu_module **link = &modules;

	while (*link && *link != handle)
		link = &(*link)->next;
	if (*link)
		return link;
	fake_misuse("0x%" PRIxPTR " is used as a module and is none", (uintptr_t)handle);
	return NULL;
}

static int unload(struct wic_cu_module *handle)
{
	struct wic_cu_module **link;

	if (!fake_settle(fake_current(), "cuModuleUnload"))
		return WIC_CU_INVALID_VALUE;
	link = module_at(handle);
	if (!link)
		return FAKE_INVALID_HANDLE;
	module_end(link);
	return 0;
}

int cuModuleUnload(struct wic_cu_module *module)
{
	int result = fake_enter(FAKE_cuModuleUnload);
	int own = fake_acts() ? unload(module) : 0;

	return fake_leave(result ? result : own);
}

/* A line of the image is the name. */
static bool image_has(const char *image, const char *name)
{
	size_t length = strlen(name);

	if (!image)
		return true;
	for (const char *line = strchr(image, '\n'); line; line = strchr(line, '\n')) {
		line++;
		if (length && !strncmp(line, name, length) &&
		    (line[length] == '\n' || !line[length]))
			return true;
	}
	return false;
}

static int function_get(struct wic_cu_function **function_out, struct wic_cu_module *handle,
			const char *name)
{
	struct wic_cu_module **link = module_at(handle);
	const struct kernel *k = kernel_by_name(name);
	struct wic_cu_function *f;

	if (!link)
		return FAKE_INVALID_HANDLE;
	if (!k || !image_has((*link)->image, name))
		return WIC_CU_NOT_FOUND;
	f = calloc(1, sizeof(*f));
	if (!f)
		return WIC_CU_OUT_OF_MEMORY;
	f->kernel = *k;
	f->context = (*link)->context;
	f->next = (*link)->functions;
	(*link)->functions = f;
	*function_out = f;
	return 0;
}

int cuModuleGetFunction(struct wic_cu_function **function_out, struct wic_cu_module *module,
			const char *name)
{
	int result = fake_enter(FAKE_cuModuleGetFunction);

	return fake_leave(result ? result : function_get(function_out, module, name));
}

struct wic_cu_function *fake_function(const struct wic_cu_function *handle)
{
	for (const struct wic_cu_module *m = modules; m; m = m->next)
		for (struct wic_cu_function *f = m->functions; f; f = f->next)
			if (f == handle)
				return f;
	fake_misuse("0x%" PRIxPTR " is used as a function and is none", (uintptr_t)handle);
	return NULL;
}

int cuFuncGetAttribute(int *value_out, int attribute, struct wic_cu_function *function)
{
	int result = fake_enter(FAKE_cuFuncGetAttribute);
	const struct wic_cu_function *f = result ? NULL : fake_function(function);

	if (!result && !f)
		result = FAKE_INVALID_HANDLE;
	else if (!result && (attribute < 0 || attribute >= FAKE_FUNCTION_ATTRIBUTES))
		result = WIC_CU_INVALID_VALUE;
	if (!result)
		*value_out = f->kernel.attributes[attribute];
	return fake_leave(result);
}

static int attribute_set(struct wic_cu_function *handle, int attribute, int value)
{
	struct wic_cu_function *f = fake_function(handle);
	int max;

	if (!f)
		return FAKE_INVALID_HANDLE;
	max = fake.devices[f->context->device].attributes[WIC_CU_DEVICE_MAX_SHARED_PER_BLOCK_OPTIN];
	if (attribute != WIC_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES || value < 0 || value > max)
		return WIC_CU_INVALID_VALUE;
	f->kernel.attributes[attribute] = value;
	return 0;
}

int cuFuncSetAttribute(struct wic_cu_function *function, int attribute, int value)
{
	int result = fake_enter(FAKE_cuFuncSetAttribute);

	return fake_leave(result ? result : attribute_set(function, attribute, value));
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint32_t fake_occupancy(const struct wic_cu_function *f, uint32_t block_threads,
			size_t shared_bytes)
{
	const int *device = fake.devices[f->context->device].attributes;
	uint64_t threads =
		(block_threads + THREADS_PER_WARP - 1) / THREADS_PER_WARP * THREADS_PER_WARP;
	uint64_t registers = (uint64_t)f->kernel.attributes[WIC_CU_FUNC_REGISTERS] * threads;
	uint64_t shared = shared_bytes + SHARED_RESERVED +
			  (uint64_t)f->kernel.attributes[WIC_CU_FUNC_SHARED_BYTES];
	uint64_t blocks = (uint64_t)device[WIC_CU_DEVICE_MAX_BLOCKS_PER_SM];

	if (!threads || threads > (uint64_t)f->kernel.attributes[WIC_CU_FUNC_MAX_THREADS_PER_BLOCK])
		return 0;
	blocks = least(blocks, (uint64_t)device[WIC_CU_DEVICE_MAX_THREADS_PER_SM] / threads);
	blocks = least(blocks, (uint64_t)device[WIC_CU_DEVICE_MAX_SHARED_PER_SM] / shared);
	if (registers)
		blocks = least(blocks,
			       (uint64_t)device[WIC_CU_DEVICE_MAX_REGISTERS_PER_SM] / registers);
	return (uint32_t)blocks;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks_out, struct wic_cu_function *function,
						int block_threads, size_t shared_bytes)
{
	int result = fake_enter(FAKE_cuOccupancyMaxActiveBlocksPerMultiprocessor);
	const struct wic_cu_function *f = result ? NULL : fake_function(function);

	if (!result && !f)
		result = FAKE_INVALID_HANDLE;
	else if (!result && block_threads < 1)
		result = WIC_CU_INVALID_VALUE;
	if (!result)
		*blocks_out = (int)fake_occupancy(f, (uint32_t)block_threads, shared_bytes);
	return fake_leave(result);
}
