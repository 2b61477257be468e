/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Memory that RM allocates for the driver and maps: pushbuffers, semaphores.  Its addresses lie
 * below 1 << 40, where all of the GPU's units reach, with something unmapped between any two.
 */
#include "fakerm.h"

#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define VA_FIRST (1ull << 32) /* what is cut off at 32 bits faults */
#define VA_END (1ull << 40)
#define VA_GAP FAKERM_FRAME_BYTES

static struct fakerm_mapping *mapping_of(struct sgpu_mapping *mapping)
{
	return mapping ? container_of(mapping, struct fakerm_mapping, mapping) : NULL;
}

static struct fakerm_memory *sysmem_create(struct fakerm_gpu *gpu, u64 bytes)
{
	struct fakerm_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);

	if (!memory)
		return NULL;
	memory->bytes_at = vzalloc(bytes);
	if (!memory->bytes_at) {
		kfree(memory);
		return NULL;
	}
	memory->bytes = bytes;
	kref_init(&memory->refs);
	fakerm_object_add(&memory->object, FAKERM_MEMORY, gpu);
	return memory;
}

static struct fakerm_memory *vidmem_create(struct fakerm_gpu *gpu, u64 bytes)
{
	struct fakerm_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	const struct fakerm_pma_want want = {
		.count = bytes >> FAKERM_FRAME_SHIFT,
		.page_frames = 1,
		.align_frames = 1,
		.end = gpu->pma.frames,
		.is_contiguous = true,
		.is_pinned = true,
	};
	unsigned long count;

	if (!memory)
		return NULL;
	/* Not at the cost of the driver's pages: it calls with locks that its eviction takes. */
	if (want.count > gpu->pma.frames ||
	    fakerm_pma_alloc(&gpu->pma, &want, &memory->offset, &count) != 0) {
		kfree(memory);
		return NULL;
	}
	memory->is_vidmem = true;
	memory->bytes_at = gpu->model.bus.vidmem + memory->offset;
	memory->bytes = bytes;
	memset(memory->bytes_at, 0, bytes);
	kref_init(&memory->refs);
	fakerm_object_add(&memory->object, FAKERM_MEMORY, gpu);
	return memory;
}

static void memory_release(struct kref *refs)
{
	struct fakerm_memory *memory = container_of(refs, struct fakerm_memory, refs);

	fakerm_object_remove(&memory->object);
	if (memory->is_vidmem)
		fakerm_pma_free(&memory->object.gpu->pma, memory->offset,
				memory->bytes >> FAKERM_FRAME_SHIFT);
	else
		vfree(memory->bytes_at);
	kfree(memory);
}

/* The lowest free address for @bytes; 0: there is none.  Under the GPU's lock. */
static u64 find_va(const struct sgpu_vas *vas, u64 bytes, u64 alignment)
{
	const struct sgpu_mapping *at;
	u64 va = ALIGN(VA_FIRST, alignment);
	bool is_free = false;

	while (!is_free) {
		if (va > VA_END || bytes > VA_END - va)
			return 0;
		is_free = true;
		for (at = vas->mappings; at; at = at->next) {
			if (va >= at->va + at->bytes + VA_GAP || at->va >= va + bytes + VA_GAP)
				continue;
			va = ALIGN(at->va + at->bytes + VA_GAP, alignment);
			is_free = false;
		}
	}
	return va;
}

/* Takes over the caller's count of @memory, also when it fails. */
static NV_STATUS map(struct fakerm_vas *vas, struct fakerm_memory *memory, u64 alignment,
		     u64 *va_out)
{
	struct fakerm_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	struct fakerm_gpu *gpu = vas->object.gpu;
	u64 va = 0;

	if (mapping) {
		mapping->memory = memory;
		mutex_lock(&gpu->lock);
		va = find_va(&vas->vas, memory->bytes, max(alignment, FAKERM_FRAME_BYTES));
		if (va != 0) {
			mapping->mapping.va = va;
			mapping->mapping.bytes = memory->bytes;
			mapping->mapping.memory = memory->bytes_at;
			sgpu_vas_map(&vas->vas, &mapping->mapping);
		}
		mutex_unlock(&gpu->lock);
	}
	if (va == 0) {
		kfree(mapping);
		kref_put(&memory->refs, memory_release);
		return NV_ERR_NO_MEMORY;
	}
	*va_out = va;
	return NV_OK;
}

static bool is_alignment(u64 bytes)
{
	return bytes == 0 || (is_power_of_2(bytes) && bytes <= VA_END);
}

static bool is_page_size(u64 bytes)
{
	return bytes == UVM_PAGE_SIZE_DEFAULT || bytes == UVM_PAGE_SIZE_4K ||
	       bytes == UVM_PAGE_SIZE_64K || bytes == UVM_PAGE_SIZE_2M;
}

/* How much is allocated for @length; 0: what is asked for is refused.  Any pointer may be NULL. */
static u64 alloc_bytes(const struct fakerm_vas *vas, u64 length, const UvmGpuPointer *pointer_out,
		       const UvmGpuAllocInfo *info)
{
	if (!vas || !pointer_out || !info)
		return 0;
	if (!is_alignment(info->alignment) || !is_page_size(info->pageSize) || length > VA_END)
		return 0;
	return length == 0 ? FAKERM_FRAME_BYTES : ALIGN(length, FAKERM_FRAME_BYTES);
}

/* Maps what was just created, if it was: @memory may be NULL. */
static NV_STATUS alloc_map(struct fakerm_vas *vas, struct fakerm_memory *memory,
			   UvmGpuAllocInfo *info, UvmGpuPointer *pointer_out)
{
	NV_STATUS status;
	u64 offset;
	u64 va;

	if (!memory)
		return NV_ERR_NO_MEMORY;
	offset = memory->offset;
	status = map(vas, memory, info->alignment, &va);
	if (status != NV_OK)
		return status;
	info->gpuPhysOffset = offset; /* 0 of system memory */
	*pointer_out = va;
	return NV_OK;
}

NV_STATUS nvUvmInterfaceMemoryAllocFB(uvmGpuAddressSpaceHandle vaSpace, NvLength length,
				      UvmGpuPointer *gpuPointer, UvmGpuAllocInfo *allocInfo)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	u64 bytes = alloc_bytes(vas, length, gpuPointer, allocInfo);

	if (bytes == 0)
		return NV_ERR_INVALID_ARGUMENT;
	return alloc_map(vas, vidmem_create(vas->object.gpu, bytes), allocInfo, gpuPointer);
}
EXPORT_SYMBOL(nvUvmInterfaceMemoryAllocFB);

NV_STATUS nvUvmInterfaceMemoryAllocSys(uvmGpuAddressSpaceHandle vaSpace, NvLength length,
				       UvmGpuPointer *gpuPointer, UvmGpuAllocInfo *allocInfo)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	u64 bytes = alloc_bytes(vas, length, gpuPointer, allocInfo);

	if (bytes == 0)
		return NV_ERR_INVALID_ARGUMENT;
	return alloc_map(vas, sysmem_create(vas->object.gpu, bytes), allocInfo, gpuPointer);
}
EXPORT_SYMBOL(nvUvmInterfaceMemoryAllocSys);

void nvUvmInterfaceMemoryFree(uvmGpuAddressSpaceHandle vaSpace, UvmGpuPointer gpuPointer)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	struct sgpu_mapping *found;
	struct fakerm_mapping *mapping = NULL;

	if (!vas)
		return;
	mutex_lock(&vas->object.gpu->lock);
	found = sgpu_vas_find(&vas->vas, gpuPointer);
	if (found && found->va == gpuPointer)
		mapping = mapping_of(sgpu_vas_unmap(&vas->vas, gpuPointer));
	mutex_unlock(&vas->object.gpu->lock);
	if (!mapping) {
		fakerm_error("%s: nothing begins at %#llx", __func__, gpuPointer);
		return;
	}
	if (mapping->cpu_maps != 0)
		fakerm_error("%s: %#llx is mapped for the CPU %u times", __func__, gpuPointer,
			     mapping->cpu_maps);
	kref_put(&mapping->memory->refs, memory_release);
	kfree(mapping);
}
EXPORT_SYMBOL(nvUvmInterfaceMemoryFree);

NV_STATUS nvUvmInterfaceMemoryCpuMap(uvmGpuAddressSpaceHandle vaSpace, UvmGpuPointer gpuPointer,
				     NvLength length, void **cpuPtr, NvU64 pageSize)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	NV_STATUS status = NV_ERR_INVALID_ADDRESS;
	struct fakerm_mapping *mapping;
	u64 offset;

	if (!vas || !cpuPtr || !is_page_size(pageSize))
		return NV_ERR_INVALID_ARGUMENT;
	mutex_lock(&vas->object.gpu->lock);
	mapping = mapping_of(sgpu_vas_find(&vas->vas, gpuPointer));
	if (mapping) {
		offset = gpuPointer - mapping->mapping.va;
		if (length <= mapping->mapping.bytes - offset) {
			mapping->cpu_maps++;
			*cpuPtr = mapping->mapping.memory + offset;
			status = NV_OK;
		}
	}
	mutex_unlock(&vas->object.gpu->lock);
	return status;
}
EXPORT_SYMBOL(nvUvmInterfaceMemoryCpuMap);

void nvUvmInterfaceMemoryCpuUnMap(uvmGpuAddressSpaceHandle vaSpace, void *cpuPtr)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	struct fakerm_mapping *found = NULL;
	struct sgpu_mapping *at;
	const u8 *pointer = cpuPtr;

	if (!vas)
		return;
	mutex_lock(&vas->object.gpu->lock);
	for (at = vas->vas.mappings; at && !found; at = at->next) {
		if (pointer >= at->memory && pointer < at->memory + at->bytes &&
		    mapping_of(at)->cpu_maps != 0)
			found = mapping_of(at);
	}
	if (found)
		found->cpu_maps--;
	mutex_unlock(&vas->object.gpu->lock);
	if (!found)
		fakerm_error("%s: %px is no pointer to mapped memory", __func__, cpuPtr);
}
EXPORT_SYMBOL(nvUvmInterfaceMemoryCpuUnMap);

NV_STATUS nvUvmInterfaceDupAllocation(uvmGpuAddressSpaceHandle srcVaSpace, NvU64 srcAddress,
				      uvmGpuAddressSpaceHandle dstVaSpace, NvU64 dstVaAlignment,
				      NvU64 *dstAddress)
{
	struct fakerm_vas *from = fakerm_object_find(srcVaSpace, FAKERM_VAS, __func__);
	struct fakerm_vas *to = fakerm_object_find(dstVaSpace, FAKERM_VAS, __func__);
	struct fakerm_memory *memory = NULL;
	struct fakerm_mapping *mapping;

	if (!from || !to || from == to || !dstAddress || !is_alignment(dstVaAlignment))
		return NV_ERR_INVALID_ARGUMENT;
	mutex_lock(&from->object.gpu->lock);
	mapping = mapping_of(sgpu_vas_find(&from->vas, srcAddress));
	if (mapping && mapping->mapping.va == srcAddress) {
		memory = mapping->memory;
		kref_get(&memory->refs);
	}
	mutex_unlock(&from->object.gpu->lock);
	if (!memory)
		return NV_ERR_OBJECT_NOT_FOUND;
	if (memory->is_vidmem && from->object.gpu != to->object.gpu) {
		kref_put(&memory->refs, memory_release);
		return NV_ERR_NOT_SUPPORTED;
	}
	return map(to, memory, dstVaAlignment, dstAddress);
}
EXPORT_SYMBOL(nvUvmInterfaceDupAllocation);
