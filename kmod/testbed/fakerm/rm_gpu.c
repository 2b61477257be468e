/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Sessions, GPUs, devices, what they can do, and the driver's callbacks. */
#include "fakerm.h"

#include <linux/module.h>
#include <linux/slab.h>

#include "turing.h"

/* NV2080_CTRL_MC_ARCH_INFO_*: Turing, TU102; TURING_COMPUTE_A of open-gpu-doc. */
#define ARCHITECTURE_TURING 0x160
#define IMPLEMENTATION_TU102 0x2
#define CLASS_TURING_COMPUTE 0xc5c0

/* What the driver can decode: a uTLB for each TPC of a GPC, and one more. */
#define TPCS_PER_GPC 8

#define DMA_LAST ((1ull << 47) - 1)

NV_STATUS nvUvmInterfaceRegisterGpu(const NvProcessorUuid *gpuUuid, UvmGpuPlatformInfo *gpuInfo)
{
	struct fakerm_gpu *gpu = fakerm_gpu_by_uuid(gpuUuid);

	if (!gpuInfo)
		return NV_ERR_INVALID_ARGUMENT;
	if (!gpu)
		return NV_ERR_GPU_UUID_NOT_FOUND;
	mutex_lock(&gpu->lock);
	gpu->registrations++;
	mutex_unlock(&gpu->lock);
	gpuInfo->pci_dev = gpu->pdev;
	gpuInfo->dma_addressable_start = 0;
	gpuInfo->dma_addressable_limit = DMA_LAST;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceRegisterGpu);

void nvUvmInterfaceUnregisterGpu(const NvProcessorUuid *gpuUuid)
{
	struct fakerm_gpu *gpu = fakerm_gpu_by_uuid(gpuUuid);

	if (!gpu)
		return;
	mutex_lock(&gpu->lock);
	if (gpu->registrations == 0)
		fakerm_error("%s: GPU %u is not registered", __func__, gpu->index);
	else
		gpu->registrations--;
	mutex_unlock(&gpu->lock);
}
EXPORT_SYMBOL(nvUvmInterfaceUnregisterGpu);

NV_STATUS nvUvmInterfaceSessionCreate(uvmGpuSessionHandle *session, UvmPlatformInfo *platformInfo)
{
	struct fakerm_session *created;

	if (!session || !platformInfo)
		return NV_ERR_INVALID_ARGUMENT;
	created = kzalloc(sizeof(*created), GFP_KERNEL);
	if (!created)
		return NV_ERR_NO_MEMORY;
	fakerm_object_add(&created->object, FAKERM_SESSION, NULL);
	/* No ATS, no confidential computing. */
	memset(platformInfo, 0, sizeof(*platformInfo));
	*session = (uvmGpuSessionHandle)created;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceSessionCreate);

NV_STATUS nvUvmInterfaceSessionDestroy(uvmGpuSessionHandle session)
{
	struct fakerm_session *found = fakerm_object_find(session, FAKERM_SESSION, __func__);

	if (!found)
		return NV_ERR_INVALID_ARGUMENT;
	fakerm_object_remove(&found->object);
	kfree(found);
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceSessionDestroy);

/* The model names a uTLB by GPC and client. */
static u32 gpc_count(const struct fakerm_gpu *gpu)
{
	u32 last = 0;
	u32 i;

	for (i = 0; i < gpu->model.utlb_count; i++)
		last = max(last, gpu->model.utlbs[i].gpc);
	return last + 1;
}

NV_STATUS nvUvmInterfaceGetGpuInfo(const NvProcessorUuid *gpuUuid,
				   const UvmGpuClientInfo *pGpuClientInfo, UvmGpuInfo *pGpuInfo)
{
	struct fakerm_gpu *gpu = fakerm_gpu_by_uuid(gpuUuid);

	if (!pGpuInfo)
		return NV_ERR_INVALID_ARGUMENT;
	if (!gpu || READ_ONCE(gpu->registrations) == 0)
		return NV_ERR_GPU_UUID_NOT_FOUND;
	memset(pGpuInfo, 0, sizeof(*pGpuInfo));
	snprintf(pGpuInfo->name, sizeof(pGpuInfo->name), "Software TU102 #%u", gpu->index);
	pGpuInfo->uuid = gpu->uuid;
	pGpuInfo->gpuArch = ARCHITECTURE_TURING;
	pGpuInfo->gpuImplementation = IMPLEMENTATION_TU102;
	pGpuInfo->hostClass = SGPU_CLASS_GPFIFO;
	pGpuInfo->ceClass = SGPU_CLASS_CE;
	pGpuInfo->computeClass = CLASS_TURING_COMPUTE;
	pGpuInfo->subdeviceCount = 1;
	/* isSimulated stays off: the driver leaves tests and batches out for those. */
	pGpuInfo->gpcCount = gpc_count(gpu);
	pGpuInfo->maxGpcCount = pGpuInfo->gpcCount;
	pGpuInfo->maxTpcPerGpcCount = TPCS_PER_GPC;
	pGpuInfo->tpcCount = pGpuInfo->gpcCount * TPCS_PER_GPC;
	pGpuInfo->sysmemLink = UVM_LINK_TYPE_PCIE;
	pGpuInfo->sysmemLinkRateMBps = FAKERM_LINK_MB_PER_S;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceGetGpuInfo);

NV_STATUS nvUvmInterfaceDeviceCreate(uvmGpuSessionHandle session, const UvmGpuInfo *pGpuInfo,
				     const NvProcessorUuid *gpuUuid, uvmGpuDeviceHandle *device,
				     NvBool bCreateSmcPartition)
{
	struct fakerm_gpu *gpu = fakerm_gpu_by_uuid(gpuUuid);
	struct fakerm_device *created;

	if (!fakerm_object_find(session, FAKERM_SESSION, __func__) || !pGpuInfo || !device)
		return NV_ERR_INVALID_ARGUMENT;
	if (!gpu || READ_ONCE(gpu->registrations) == 0)
		return NV_ERR_OBJECT_NOT_FOUND;
	if (bCreateSmcPartition)
		return NV_ERR_NOT_SUPPORTED;
	created = kzalloc(sizeof(*created), GFP_KERNEL);
	if (!created)
		return NV_ERR_NO_MEMORY;
	fakerm_object_add(&created->object, FAKERM_DEVICE, gpu);
	*device = (uvmGpuDeviceHandle)created;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceDeviceCreate);

void nvUvmInterfaceDeviceDestroy(uvmGpuDeviceHandle device)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);

	if (!found)
		return;
	fakerm_object_remove(&found->object);
	kfree(found);
}
EXPORT_SYMBOL(nvUvmInterfaceDeviceDestroy);

NV_STATUS nvUvmInterfaceQueryCaps(uvmGpuDeviceHandle device, UvmGpuCaps *caps)
{
	if (!fakerm_object_find(device, FAKERM_DEVICE, __func__) || !caps)
		return NV_ERR_INVALID_ARGUMENT;
	memset(caps, 0, sizeof(*caps)); /* its memory is no NUMA node */
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceQueryCaps);

NV_STATUS nvUvmInterfaceQueryCopyEnginesCaps(uvmGpuDeviceHandle device, UvmGpuCopyEnginesCaps *caps)
{
	u32 i;

	if (!fakerm_object_find(device, FAKERM_DEVICE, __func__) || !caps)
		return NV_ERR_INVALID_ARGUMENT;
	memset(caps, 0, sizeof(*caps));
	for (i = 0; i < FAKERM_COPY_ENGINES; i++) {
		UvmGpuCopyEngineCaps *engine = &caps->copyEngineCaps[i];

		engine->supported = 1;
		engine->sysmem = 1;
		engine->p2p = 1;
		/* One each way, so that the driver uses both. */
		engine->sysmemRead = i == 0;
		engine->sysmemWrite = i == 1;
		engine->cePceMask = 1u << i;
	}
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceQueryCopyEnginesCaps);

NV_STATUS nvUvmInterfaceGetFbInfo(uvmGpuDeviceHandle device, UvmGpuFbInfo *fbInfo)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);
	u64 bytes;

	if (!found || !fbInfo)
		return NV_ERR_INVALID_ARGUMENT;
	bytes = found->object.gpu->model.bus.vidmem_bytes;
	memset(fbInfo, 0, sizeof(*fbInfo));
	fbInfo->maxAllocatableAddress = bytes - 1;
	fbInfo->heapSize = (bytes - FAKERM_RESERVED_BYTES) >> 10;
	fbInfo->reservedHeapSize = FAKERM_RESERVED_BYTES >> 10;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceGetFbInfo);

NV_STATUS nvUvmInterfaceGetEccInfo(uvmGpuDeviceHandle device, UvmGpuEccInfo *eccInfo)
{
	if (!fakerm_object_find(device, FAKERM_DEVICE, __func__) || !eccInfo)
		return NV_ERR_INVALID_ARGUMENT;
	memset(eccInfo, 0, sizeof(*eccInfo)); /* none */
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceGetEccInfo);

NV_STATUS nvUvmInterfaceServiceDeviceInterruptsRM(uvmGpuDeviceHandle device)
{
	/* RM has no interrupts of its own here. */
	return fakerm_object_find(device, FAKERM_DEVICE, __func__) ? NV_OK
								   : NV_ERR_INVALID_ARGUMENT;
}
EXPORT_SYMBOL(nvUvmInterfaceServiceDeviceInterruptsRM);

NV_STATUS nvUvmInterfaceRegisterUvmCallbacks(struct UvmOpsUvmEvents *importedUvmOps)
{
	NV_STATUS status = NV_OK;

	if (!importedUvmOps || !importedUvmOps->isrTopHalf)
		return NV_ERR_INVALID_ARGUMENT;
	down_write(&fakerm_events_lock);
	if (fakerm_events)
		status = NV_ERR_IN_USE;
	else
		fakerm_events = importedUvmOps;
	up_write(&fakerm_events_lock);
	return status;
}
EXPORT_SYMBOL(nvUvmInterfaceRegisterUvmCallbacks);

void nvUvmInterfaceDeRegisterUvmOps(void)
{
	/* Who calls one of them reads the lock: when we have it, none runs. */
	down_write(&fakerm_events_lock);
	if (!fakerm_events)
		fakerm_error("%s: there are none", __func__);
	fakerm_events = NULL;
	up_write(&fakerm_events_lock);
}
EXPORT_SYMBOL(nvUvmInterfaceDeRegisterUvmOps);
