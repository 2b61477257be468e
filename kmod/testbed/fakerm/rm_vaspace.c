/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Address spaces.  The driver's own has RM's mappings below 1 << 40 and, from SetPageDirectory()
 * on, the driver's page tables.  A client's is known by its two handles; nobody allocated it
 * anywhere: it comes to be when the driver duplicates it, and goes with its last duplicate.
 */
#include "fakerm.h"

#include <linux/module.h>
#include <linux/slab.h>

#define BIG_PAGE_BYTES 65536
#define SUBCONTEXTS 64

static void info_fill(struct fakerm_gpu *gpu, UvmGpuAddressSpaceInfo *info)
{
	memset(info, 0, sizeof(*info));
	info->bigPageSize = BIG_PAGE_BYTES;
	info->time0Offset = &gpu->model.time[0];
	info->time1Offset = &gpu->model.time[1];
	info->maxSubctxCount = SUBCONTEXTS;
}

static struct fakerm_vas *vas_create(struct fakerm_gpu *gpu, u32 client, u32 handle)
{
	struct fakerm_vas *vas = kzalloc(sizeof(*vas), GFP_KERNEL);

	if (!vas)
		return NULL;
	vas->vas.handle = handle;
	vas->client = client;
	vas->duplicates = 1;
	fakerm_object_add(&vas->object, FAKERM_VAS, gpu);
	sgpu_gpu_add_vas(&gpu->model, &vas->vas);
	return vas;
}

/* What was found or created; @vas may be NULL: there was no memory for it. */
static NV_STATUS vas_give(struct fakerm_vas *vas, uvmGpuAddressSpaceHandle *handle_out,
			  UvmGpuAddressSpaceInfo *info_out)
{
	if (!vas)
		return NV_ERR_NO_MEMORY;
	info_fill(vas->object.gpu, info_out);
	*handle_out = (uvmGpuAddressSpaceHandle)vas;
	return NV_OK;
}

NV_STATUS nvUvmInterfaceAddressSpaceCreate(uvmGpuDeviceHandle device, unsigned long long vaBase,
					   unsigned long long vaSize,
					   uvmGpuAddressSpaceHandle *vaSpace,
					   UvmGpuAddressSpaceInfo *vaSpaceInfo)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);
	struct fakerm_vas *vas;
	struct fakerm_gpu *gpu;

	if (!found || !vaSpace || !vaSpaceInfo)
		return NV_ERR_INVALID_ARGUMENT;
	/* All of what RM maps must lie within. */
	if (vaBase != 0 || vaSize < 1ull << 40)
		return NV_ERR_INVALID_ARGUMENT;
	gpu = found->object.gpu;
	mutex_lock(&gpu->lock);
	vas = vas_create(gpu, 0, 0);
	mutex_unlock(&gpu->lock);
	return vas_give(vas, vaSpace, vaSpaceInfo);
}
EXPORT_SYMBOL(nvUvmInterfaceAddressSpaceCreate);

static struct fakerm_vas *find_client(struct fakerm_gpu *gpu, u32 client, u32 handle)
{
	struct sgpu_vas *at;
	struct fakerm_vas *vas;

	for (at = gpu->model.vas_list; at; at = at->next) {
		vas = container_of(at, struct fakerm_vas, vas);
		if (at->handle == handle && vas->client == client)
			return vas;
	}
	return NULL;
}

NV_STATUS nvUvmInterfaceDupAddressSpace(uvmGpuDeviceHandle device, NvHandle hUserClient,
					NvHandle hUserVASpace, uvmGpuAddressSpaceHandle *vaSpace,
					UvmGpuAddressSpaceInfo *vaSpaceInfo)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);
	struct fakerm_vas *vas;
	struct fakerm_gpu *gpu;

	if (!found || !vaSpace || !vaSpaceInfo)
		return NV_ERR_INVALID_ARGUMENT;
	if (hUserVASpace == 0)
		return NV_ERR_OBJECT_NOT_FOUND;
	gpu = found->object.gpu;
	mutex_lock(&gpu->lock);
	vas = find_client(gpu, hUserClient, hUserVASpace);
	if (vas)
		vas->duplicates++;
	else
		vas = vas_create(gpu, hUserClient, hUserVASpace);
	mutex_unlock(&gpu->lock);
	return vas_give(vas, vaSpace, vaSpaceInfo);
}
EXPORT_SYMBOL(nvUvmInterfaceDupAddressSpace);

/* No access through the tables of @root that comes from now on finds an old translation.  RM's
 * own invalidate: it is not counted, nor lost by injected faults. */
static void forget_root(struct fakerm_gpu *gpu, struct sgpu_address root)
{
	struct sgpu_tlb_range range = { .has_root = true, .root = root };
	u32 i;

	for (i = 0; i < gpu->model.utlb_count; i++)
		sgpu_tlb_invalidate(&gpu->model.utlbs[i].tlb, &range);
	sgpu_tlb_invalidate(&gpu->model.hub_tlb, &range);
}

static void pdb_unset(struct fakerm_gpu *gpu, struct fakerm_vas *vas)
{
	if (!vas->vas.pdb.is_valid)
		return;
	vas->vas.pdb.is_valid = false;
	forget_root(gpu, vas->vas.pdb.root);
}

void nvUvmInterfaceAddressSpaceDestroy(uvmGpuAddressSpaceHandle vaSpace)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	struct fakerm_gpu *gpu;
	bool is_last;

	if (!vas)
		return;
	gpu = vas->object.gpu;
	mutex_lock(&gpu->lock);
	is_last = --vas->duplicates == 0;
	if (is_last && (vas->users != 0 || vas->vas.mappings)) {
		fakerm_error("%s: %u users or a mapping are left in address space %#x", __func__,
			     vas->users, vas->vas.handle);
		/* It stays, as a leak: they point to it. */
		vas->duplicates = 1;
		is_last = false;
	}
	if (is_last) {
		fakerm_launch_detach(gpu, &vas->vas, 0);
		pdb_unset(gpu, vas);
		sgpu_gpu_remove_vas(&gpu->model, &vas->vas);
		fakerm_object_remove(&vas->object);
	}
	mutex_unlock(&gpu->lock);
	if (is_last)
		kfree(vas);
}
EXPORT_SYMBOL(nvUvmInterfaceAddressSpaceDestroy);

NV_STATUS nvUvmInterfaceSetPageDirectory(uvmGpuAddressSpaceHandle vaSpace, NvU64 physAddress,
					 unsigned numEntries, NvBool bVidMemAperture, NvU32 pasid)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	struct sgpu_address root = {
		.aperture = bVidMemAperture ? SGPU_APERTURE_VIDMEM : SGPU_APERTURE_SYSMEM,
		.address = physAddress,
	};
	NV_STATUS status = NV_OK;
	struct fakerm_gpu *gpu;
	u64 left;

	(void)pasid; /* of ATS */
	if (!vas || numEntries == 0 || !IS_ALIGNED(physAddress, SGPU_PAGE_BYTES))
		return NV_ERR_INVALID_ARGUMENT;
	gpu = vas->object.gpu;
	mutex_lock(&gpu->lock);
	if (vas->vas.pdb.is_valid) {
		/* A client's address space that is registered already. */
		status = NV_ERR_NOT_SUPPORTED;
	} else if (!sgpu_bus_at(&gpu->model.bus, root, &left)) {
		status = NV_ERR_INVALID_ARGUMENT;
	} else {
		/* The memory may have been another's root before. */
		forget_root(gpu, root);
		vas->vas.pdb.root = root;
		vas->vas.pdb.is_valid = true;
	}
	mutex_unlock(&gpu->lock);
	return status;
}
EXPORT_SYMBOL(nvUvmInterfaceSetPageDirectory);

NV_STATUS nvUvmInterfaceUnsetPageDirectory(uvmGpuAddressSpaceHandle vaSpace)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	NV_STATUS status = NV_OK;

	if (!vas)
		return NV_ERR_INVALID_ARGUMENT;
	mutex_lock(&vas->object.gpu->lock);
	if (vas->vas.pdb.is_valid)
		pdb_unset(vas->object.gpu, vas);
	else
		status = NV_ERR_INVALID_STATE;
	mutex_unlock(&vas->object.gpu->lock);
	return status;
}
EXPORT_SYMBOL(nvUvmInterfaceUnsetPageDirectory);
