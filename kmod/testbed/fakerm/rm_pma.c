/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* nvUvmInterfacePma*: what the driver asks of pma.c. */
#include "fakerm.h"

#include <linux/log2.h>
#include <linux/module.h>

static struct fakerm_gpu *gpu_of(const void *handle, const char *who)
{
	unsigned int i;

	for (i = 0; i < fakerm_gpu_count; i++) {
		if (handle == &fakerm_gpus[i]->pma)
			return fakerm_gpus[i];
	}
	fakerm_error("%s: %px is no allocator of video memory", who, handle);
	return NULL;
}

static bool is_page_size(u64 bytes)
{
	return bytes == UVM_PAGE_SIZE_64K || bytes == UVM_PAGE_SIZE_128K ||
	       bytes == UVM_PAGE_SIZE_2M || bytes == UVM_PAGE_SIZE_512M;
}

NV_STATUS nvUvmInterfaceGetPmaObject(uvmGpuDeviceHandle device, void **pPma,
				     const UvmPmaStatistics **pPmaPubStats)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);

	if (!found || !pPma || !pPmaPubStats)
		return NV_ERR_INVALID_ARGUMENT;
	*pPma = &found->object.gpu->pma;
	*pPmaPubStats = &found->object.gpu->pma.stats;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceGetPmaObject);

NV_STATUS nvUvmInterfacePmaRegisterEvictionCallbacks(void *pPma,
						     uvmPmaEvictPagesCallback evictPages,
						     uvmPmaEvictRangeCallback evictRange,
						     void *callbackData)
{
	struct fakerm_gpu *gpu = gpu_of(pPma, __func__);
	NV_STATUS status = NV_ERR_IN_USE;

	if (!gpu || !evictPages || !evictRange)
		return NV_ERR_INVALID_ARGUMENT;
	mutex_lock(&gpu->pma.callbacks_lock);
	if (!gpu->pma.evict_pages) {
		gpu->pma.evict_pages = evictPages;
		gpu->pma.evict_range = evictRange;
		gpu->pma.callback_data = callbackData;
		status = NV_OK;
	}
	mutex_unlock(&gpu->pma.callbacks_lock);
	return status;
}
EXPORT_SYMBOL(nvUvmInterfacePmaRegisterEvictionCallbacks);

void nvUvmInterfacePmaUnregisterEvictionCallbacks(void *pPma)
{
	struct fakerm_gpu *gpu = gpu_of(pPma, __func__);

	if (!gpu)
		return;
	/* The lock is held during a callback: when it is ours, none runs. */
	mutex_lock(&gpu->pma.callbacks_lock);
	gpu->pma.evict_pages = NULL;
	gpu->pma.evict_range = NULL;
	gpu->pma.callback_data = NULL;
	mutex_unlock(&gpu->pma.callbacks_lock);
}
EXPORT_SYMBOL(nvUvmInterfacePmaUnregisterEvictionCallbacks);

/* What RM refuses; -EINVAL. */
static int want_from(const struct fakerm_pma *pma, const UvmPmaAllocationOptions *options,
		     struct fakerm_pma_want *want)
{
	const u64 page = want->page_frames << FAKERM_FRAME_SHIFT;
	const NvU32 unknown =
		UVM_PMA_ALLOCATE_SPECIFY_MINIMUM_SPEED | UVM_PMA_ALLOCATE_SPECIFY_REGION_ID |
		UVM_PMA_ALLOCATE_PROTECTED_REGION | UVM_PMA_ALLOCATE_TURN_BLACKLIST_OFF;

	if (options->flags & unknown) {
		fakerm_error("an allocation of video memory with flags %#x", options->flags);
		return -EINVAL;
	}
	want->is_contiguous = options->flags & UVM_PMA_ALLOCATE_CONTIGUOUS;
	want->is_pinned = options->flags & UVM_PMA_ALLOCATE_PINNED;
	want->is_partial = options->flags & UVM_PMA_ALLOCATE_ALLOW_PARTIAL;
	want->may_evict = !(options->flags & UVM_PMA_ALLOCATE_DONT_EVICT);
	want->align_frames = want->page_frames;
	want->begin = 0;
	want->end = pma->frames;
	if (options->flags & UVM_PMA_ALLOCATE_FORCE_ALIGNMENT) {
		if (!is_power_of_2(options->alignment) || options->alignment < FAKERM_FRAME_BYTES ||
		    (!want->is_contiguous && options->alignment > page))
			return -EINVAL;
		want->align_frames = max(page, options->alignment) >> FAKERM_FRAME_SHIFT;
	}
	if (options->flags & UVM_PMA_ALLOCATE_SPECIFY_ADDRESS_RANGE) {
		/* physEnd is the last byte. */
		if (!IS_ALIGNED(options->physBegin, page) ||
		    !IS_ALIGNED(options->physEnd + 1, page) ||
		    options->physBegin > options->physEnd)
			return -EINVAL;
		want->begin = min_t(u64, options->physBegin >> FAKERM_FRAME_SHIFT, pma->frames);
		want->end = min_t(u64, (options->physEnd + 1) >> FAKERM_FRAME_SHIFT, pma->frames);
	}
	return 0;
}

NV_STATUS nvUvmInterfacePmaAllocPages(void *pPma, NvLength pageCount, NvU64 pageSize,
				      UvmPmaAllocationOptions *pPmaAllocOptions, NvU64 *pPages)
{
	struct fakerm_gpu *gpu = gpu_of(pPma, __func__);
	struct fakerm_pma_want want = { .count = pageCount };
	unsigned long count;

	if (!gpu || pageCount == 0 || !is_page_size(pageSize) || !pPmaAllocOptions || !pPages)
		return NV_ERR_INVALID_ARGUMENT;
	want.page_frames = pageSize >> FAKERM_FRAME_SHIFT;
	if (want_from(&gpu->pma, pPmaAllocOptions, &want) != 0)
		return NV_ERR_INVALID_ARGUMENT;
	if (pageCount > gpu->pma.frames / want.page_frames && !want.is_partial)
		return NV_ERR_NO_MEMORY;
	if (fakerm_pma_alloc(&gpu->pma, &want, pPages, &count) != 0)
		return NV_ERR_NO_MEMORY;
	/* Nothing is scrubbed: what a page holds is what its last owner left. */
	pPmaAllocOptions->resultFlags = 0;
	pPmaAllocOptions->numPagesAllocated = count;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfacePmaAllocPages);

static NV_STATUS pin(struct fakerm_gpu *gpu, const NvU64 *pages, NvLength count,
		     struct fakerm_pma_want *want)
{
	NvLength i;
	int rc;

	for (i = 0; i < count; i++) {
		rc = fakerm_pma_pin(&gpu->pma, pages[i], want->page_frames, want->is_pinned);
		if (rc == 0)
			continue;
		while (i-- > 0)
			fakerm_pma_pin(&gpu->pma, pages[i], want->page_frames, !want->is_pinned);
		return rc == -EBUSY ? NV_ERR_IN_USE : NV_ERR_INVALID_STATE;
	}
	return NV_OK;
}

NV_STATUS nvUvmInterfacePmaPinPages(void *pPma, NvU64 *pPages, NvLength pageCount, NvU64 pageSize,
				    NvU32 flags)
{
	struct fakerm_gpu *gpu = gpu_of(pPma, __func__);
	struct fakerm_pma_want want = { .page_frames = pageSize >> FAKERM_FRAME_SHIFT,
					.is_pinned = true };

	if (!gpu || !pPages || !is_page_size(pageSize) ||
	    (flags & ~UVM_PMA_CALLED_FROM_PMA_EVICTION))
		return NV_ERR_INVALID_ARGUMENT;
	return pin(gpu, pPages, pageCount, &want);
}
EXPORT_SYMBOL(nvUvmInterfacePmaPinPages);

NV_STATUS nvUvmInterfacePmaUnpinPages(void *pPma, NvU64 *pPages, NvLength pageCount, NvU64 pageSize)
{
	struct fakerm_gpu *gpu = gpu_of(pPma, __func__);
	struct fakerm_pma_want want = { .page_frames = pageSize >> FAKERM_FRAME_SHIFT };

	if (!gpu || !pPages || !is_page_size(pageSize))
		return NV_ERR_INVALID_ARGUMENT;
	return pin(gpu, pPages, pageCount, &want);
}
EXPORT_SYMBOL(nvUvmInterfacePmaUnpinPages);

void nvUvmInterfacePmaFreePages(void *pPma, NvU64 *pPages, NvLength pageCount, NvU64 pageSize,
				NvU32 flags)
{
	struct fakerm_gpu *gpu = gpu_of(pPma, __func__);
	unsigned long frames = pageSize >> FAKERM_FRAME_SHIFT;
	NvLength i;

	if (!gpu)
		return;
	if (!pPages || !is_page_size(pageSize) || pageCount > gpu->pma.frames) {
		fakerm_error("%s: %llu pages of %#llx bytes at %px", __func__, (u64)pageCount,
			     pageSize, pPages);
		return;
	}
	if (flags & UVM_PMA_ALLOCATE_CONTIGUOUS) {
		fakerm_pma_free(&gpu->pma, pPages[0], pageCount * frames);
		return;
	}
	for (i = 0; i < pageCount; i++)
		fakerm_pma_free(&gpu->pma, pPages[i], frames);
}
EXPORT_SYMBOL(nvUvmInterfacePmaFreePages);
