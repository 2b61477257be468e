// SPDX-License-Identifier: MIT OR GPL-2.0
/* Device memory and pinned memory, both of the host, each access looked up. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fakecuda/fake.h"

#define DEVICE_ALIGN 256  /* as cuMemAlloc() promises */
#define PINNED_ALIGN 4096 /* whole pages, as cuMemHostAlloc() gives */
#define NEW_BYTE 0xa5     /* nobody may count on zeros */
#define FREED_MAX 64

struct memory {
	struct memory *next;
	struct wic_cu_context *context;
	unsigned char *bytes; /* owned */
	size_t size_bytes;
	bool is_pinned;
	bool is_managed; /* device memory that the host may touch, as it may all here */
};

static struct memory *memories; /* fake.lock; owned */
/* The addresses that were freed last, so that a second free is called by its name. */
static uint64_t freed[FREED_MAX];
static uint32_t freed_count;

static struct memory *memory_at(uint64_t address)
{
	for (struct memory *m = memories; m; m = m->next)
		if (address >= (uintptr_t)m->bytes && address - (uintptr_t)m->bytes < m->size_bytes)
			return m;
	return NULL;
}

bool fake_memory_has(uint64_t address, size_t bytes, bool must_know)
{
	const struct memory *m = memory_at(address);

	if (!m && !must_know)
		return address != 0;
	return m && bytes <= m->size_bytes - (size_t)(address - (uintptr_t)m->bytes);
}

static bool was_freed(uint64_t address)
{
	bool found = false;

	for (uint32_t i = 0; i < freed_count && i < FREED_MAX; i++)
		found = found || freed[i] == address;
	return found;
}

static struct memory *memory_new(size_t bytes, bool is_pinned)
{
	size_t align = is_pinned ? PINNED_ALIGN : DEVICE_ALIGN;
	struct memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	/* One unit more: what lies behind an end is never the begin of another allocation. */
	m->bytes = aligned_alloc(align, (bytes / align + 2) * align);
	if (!m->bytes) {
		free(m);
		return NULL;
	}
	memset(m->bytes, NEW_BYTE, bytes);
	m->context = fake_current();
	m->size_bytes = bytes;
	m->is_pinned = is_pinned;
	m->next = memories;
	memories = m;
	/* The allocator may give an address again; it is not a freed one then. */
	for (uint32_t i = 0; i < FREED_MAX; i++)
		if (freed[i] == (uintptr_t)m->bytes)
			freed[i] = 0;
	return m;
}

static void memory_end(struct memory **link)
{
	struct memory *m = *link;

	*link = m->next;
	if (!m->is_pinned)
		fake.devices[m->context->device].memory_bytes -= m->size_bytes;
	freed[freed_count++ % FREED_MAX] = (uintptr_t)m->bytes;
	free(m->bytes);
	free(m);
}

uint32_t fake_memory_drop(const struct wic_cu_context *context)
{
	struct memory **link = &memories;
	uint32_t count = 0;

	while (*link)
		if (context && (*link)->context != context) {
			link = &(*link)->next;
		} else {
			memory_end(link);
			count++;
		}
	return count;
}

uint32_t fake_memory_count(bool is_pinned)
{
	uint32_t count = 0;

	for (const struct memory *m = memories; m; m = m->next)
		count += m->is_pinned == is_pinned;
	return count;
}

static int device_alloc(uint64_t *address_out, size_t bytes)
{
	struct fake_device *d = &fake.devices[fake_current()->device];
	struct memory *m;

	if (!bytes)
		return WIC_CU_INVALID_VALUE;
	if (bytes > fake.memory_max || d->memory_bytes > fake.memory_max - bytes)
		return WIC_CU_OUT_OF_MEMORY;
	m = memory_new(bytes, false);
	if (!m)
		return WIC_CU_OUT_OF_MEMORY;
	d->memory_bytes += bytes;
	*address_out = (uintptr_t)m->bytes;
	return 0;
}

int cuMemAlloc_v2(uint64_t *address_out, size_t bytes)
{
	int result = fake_enter(FAKE_cuMemAlloc_v2);

	return fake_leave(result ? result : device_alloc(address_out, bytes));
}

static int managed_alloc(uint64_t *address_out, size_t bytes, unsigned int flags)
{
	int result = flags == WIC_CU_MANAGED_ATTACH_GLOBAL ? device_alloc(address_out, bytes)
							   : WIC_CU_INVALID_VALUE;

	if (!result)
		memory_at(*address_out)->is_managed = true;
	return result;
}

int cuMemAllocManaged(uint64_t *address_out, size_t bytes, unsigned int flags)
{
	int result = fake_enter(FAKE_cuMemAllocManaged);

	return fake_leave(result ? result : managed_alloc(address_out, bytes, flags));
}

static int pinned_alloc(void **memory_out, size_t bytes)
{
	struct memory *m;

	if (!bytes)
		return WIC_CU_INVALID_VALUE;
	/* What the host has is no limit here, but nobody means more than a device takes. */
	m = bytes <= fake.memory_max ? memory_new(bytes, true) : NULL;
	if (!m)
		return WIC_CU_OUT_OF_MEMORY;
	*memory_out = m->bytes;
	return 0;
}

int cuMemHostAlloc(void **memory_out, size_t bytes, unsigned int flags)
{
	int result = fake_enter(FAKE_cuMemHostAlloc);

	if (!result &&
	    flags & ~(WIC_CU_HOST_PORTABLE | WIC_CU_HOST_DEVICEMAP | WIC_CU_HOST_WRITECOMBINED))
		result = WIC_CU_INVALID_VALUE;
	return fake_leave(result ? result : pinned_alloc(memory_out, bytes));
}

static int give_back(uint64_t address, bool is_pinned)
{
	const char *call = is_pinned ? "cuMemFreeHost" : "cuMemFree_v2";
	struct memory **link = &memories;

	if (!address)
		return is_pinned ? WIC_CU_INVALID_VALUE : 0;
	/* First, because it lets the lock go. */
	if (!fake_settle(fake_current(), call))
		return WIC_CU_INVALID_VALUE;
	while (*link && ((uintptr_t)(*link)->bytes != address || (*link)->is_pinned != is_pinned))
		link = &(*link)->next;
	if (!*link) {
		fake_misuse("%s of 0x%" PRIx64 ", which %s", call, address,
			    was_freed(address) ? "was freed before" : "it never gave");
		return WIC_CU_INVALID_VALUE;
	}
	memory_end(link);
	return 0;
}

int cuMemFree_v2(uint64_t address)
{
	int result = fake_enter(FAKE_cuMemFree_v2);
	int own = fake_acts() ? give_back(address, false) : 0;

	return fake_leave(result ? result : own);
}

int cuMemFreeHost(void *memory)
{
	int result = fake_enter(FAKE_cuMemFreeHost);
	int own = fake_acts() ? give_back((uintptr_t)memory, true) : 0;

	return fake_leave(result ? result : own);
}

/*
 * A word is copied at once, as a GPU's copy engine does it, so that a kernel may look at one
 * that is being copied.
 */
void fake_copy(uint64_t to, uint64_t from, size_t bytes)
{
	void *target = (void *)(uintptr_t)to;
	const void *source = (const void *)(uintptr_t)from;

	if (bytes == 8 && !(to % 8) && !(from % 8))
		__atomic_store_n((uint64_t *)target,
				 __atomic_load_n((const uint64_t *)source, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	else if (bytes == 4 && !(to % 4) && !(from % 4))
		__atomic_store_n((uint32_t *)target,
				 __atomic_load_n((const uint32_t *)source, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	else
		memcpy(target, source, bytes);
}

struct span {
	uint64_t address;
	bool is_device; /* only memory of the driver's will do */
};

static int copy_check(const char *call, struct span to, struct span from, size_t bytes)
{
	if (!bytes)
		return 0;
	if (!fake_memory_has(to.address, bytes, to.is_device)) {
		fake_misuse("%s: %zu bytes to 0x%" PRIx64 " are not in one allocation", call, bytes,
			    to.address);
		return WIC_CU_INVALID_VALUE;
	}
	if (!fake_memory_has(from.address, bytes, from.is_device)) {
		fake_misuse("%s: %zu bytes from 0x%" PRIx64 " are not in one allocation", call,
			    bytes, from.address);
		return WIC_CU_INVALID_VALUE;
	}
	return 0;
}

static int copy_now(const char *call, struct span to, struct span from, size_t bytes)
{
	int result = copy_check(call, to, from, bytes);

	if (!result && bytes)
		fake_copy(to.address, from.address, bytes);
	return result;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
	int result = fake_enter(FAKE_cuMemcpyHtoD_v2);

	return fake_leave(result ? result
				 : copy_now("cuMemcpyHtoD_v2", (struct span){ to, true },
					    (struct span){ (uintptr_t)from, false }, bytes));
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
	int result = fake_enter(FAKE_cuMemcpyDtoH_v2);

	return fake_leave(result ? result
				 : copy_now("cuMemcpyDtoH_v2",
					    (struct span){ (uintptr_t)to, false },
					    (struct span){ from, true }, bytes));
}

int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes)
{
	int result = fake_enter(FAKE_cuMemcpyDtoD_v2);

	return fake_leave(result ? result
				 : copy_now("cuMemcpyDtoD_v2", (struct span){ to, true },
					    (struct span){ from, true }, bytes));
}

static int copy_later(const char *call, struct fake_op *op, bool is_to_device,
		      struct wic_cu_stream *handle)
{
	struct wic_cu_stream *stream = fake_stream(handle);
	int result;

	if (!stream)
		return FAKE_INVALID_HANDLE;
	result = copy_check(call, (struct span){ op->to, is_to_device },
			    (struct span){ op->from, false }, op->bytes);
	op->kind = FAKE_OP_COPY;
	return result ? result : fake_submit(stream, op);
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, struct wic_cu_stream *stream)
{
	struct fake_op op = { .to = to, .from = (uintptr_t)from, .bytes = bytes };
	int result = fake_enter(FAKE_cuMemcpyHtoDAsync_v2);

	return fake_leave(result ? result : copy_later("cuMemcpyHtoDAsync_v2", &op, true, stream));
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, struct wic_cu_stream *stream)
{
	struct fake_op op = { .to = to, .from = from, .bytes = bytes };
	int result = fake_enter(FAKE_cuMemcpyAsync);

	return fake_leave(result ? result : copy_later("cuMemcpyAsync", &op, false, stream));
}

static int set_bytes(uint64_t address, unsigned char value, size_t bytes)
{
	if (bytes && !fake_memory_has(address, bytes, true)) {
		fake_misuse("cuMemsetD8_v2: %zu bytes at 0x%" PRIx64 " are not in one allocation",
			    bytes, address);
		return WIC_CU_INVALID_VALUE;
	}
	memset((void *)(uintptr_t)address, value, bytes);
	return 0;
}

int cuMemsetD8_v2(uint64_t address, unsigned char value, size_t bytes)
{
	int result = fake_enter(FAKE_cuMemsetD8_v2);

	return fake_leave(result ? result : set_bytes(address, value, bytes));
}

static int pointer_attribute(void *value_out, int attribute, uint64_t address)
{
	const struct memory *m = memory_at(address);

	if (!m || (attribute == WIC_CU_POINTER_HOST_POINTER && !m->is_pinned))
		return WIC_CU_INVALID_VALUE;
	switch (attribute) {
	case WIC_CU_POINTER_MEMORY_TYPE:
		*(unsigned int *)value_out =
			m->is_pinned ? WIC_CU_MEMORY_HOST : WIC_CU_MEMORY_DEVICE;
		return 0;
	case WIC_CU_POINTER_IS_MANAGED:
		*(unsigned int *)value_out = m->is_managed;
		return 0;
	case WIC_CU_POINTER_DEVICE_POINTER:
		*(uint64_t *)value_out = address;
		return 0;
	case WIC_CU_POINTER_HOST_POINTER:
		*(void **)value_out = (void *)(uintptr_t)address;
		return 0;
	case WIC_CU_POINTER_DEVICE_ORDINAL:
		*(int *)value_out = m->context->device;
		return 0;
	case WIC_CU_POINTER_RANGE_START:
		*(uint64_t *)value_out = (uintptr_t)m->bytes;
		return 0;
	case WIC_CU_POINTER_RANGE_BYTES:
		*(size_t *)value_out = m->size_bytes;
		return 0;
	default:
		return WIC_CU_INVALID_VALUE;
	}
}

int cuPointerGetAttribute(void *value_out, int attribute, uint64_t address)
{
	int result = fake_enter(FAKE_cuPointerGetAttribute);

	return fake_leave(result ? result : pointer_attribute(value_out, attribute, address));
}
