/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The buffers of faults and access counters. */
#include "fakerm.h"

#include <linux/module.h>

#define BUFFER_HANDLE 1 /* anything but 0 */
#define ACCESS_COUNTER_MASK 2u

/* A buffer as after a reset of the GPU; the counters since the module was loaded go on. */
static void buffer_reset(struct fakerm_gpu *gpu)
{
	struct sgpu_fault_buffer *faults = &gpu->model.faults;
	struct sgpu_fault_buffer old = *faults;

	sgpu_fault_buffer_init(faults, gpu->fault_packets, fakerm_settings.fault_packets);
	faults->limit = old.limit;
	faults->written = old.written;
	faults->dropped = old.dropped;
	faults->overflows = old.overflows;
	faults->pulses = old.pulses;
}

NV_STATUS nvUvmInterfaceInitFaultInfo(uvmGpuDeviceHandle device, UvmGpuFaultInfo *pFaultInfo)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);
	struct sgpu_fault_buffer *faults;
	struct fakerm_gpu *gpu;
	NV_STATUS status = NV_OK;

	if (!found || !pFaultInfo)
		return NV_ERR_INVALID_ARGUMENT;
	gpu = found->object.gpu;
	mutex_lock(&gpu->lock);
	if (gpu->has_fault_info) {
		status = NV_ERR_IN_USE;
	} else {
		buffer_reset(gpu);
		gpu->has_fault_info = true;
	}
	mutex_unlock(&gpu->lock);
	if (status != NV_OK)
		return status;
	faults = &gpu->model.faults;
	memset(pFaultInfo, 0, sizeof(*pFaultInfo));
	pFaultInfo->replayable.pFaultBufferGet = &faults->get;
	pFaultInfo->replayable.pFaultBufferPut = &faults->put;
	pFaultInfo->replayable.pFaultBufferInfo = &faults->info;
	pFaultInfo->replayable.pPmcIntr = &faults->intr;
	pFaultInfo->replayable.pPmcIntrEnSet = &faults->intr_enable_set;
	pFaultInfo->replayable.pPmcIntrEnClear = &faults->intr_enable_clear;
	pFaultInfo->replayable.pPrefetchCtrl = &faults->prefetch_ctrl;
	pFaultInfo->replayable.replayableFaultMask = SGPU_FAULT_INTR_MASK;
	pFaultInfo->replayable.bufferAddress = gpu->fault_packets;
	pFaultInfo->replayable.bufferSize = fakerm_settings.fault_packets * SGPU_FAULT_BYTES;
	pFaultInfo->replayable.bUvmOwnsHwFaultBuffer = NV_TRUE;
	pFaultInfo->nonReplayable.shadowBufferAddress = gpu->shadow_packets;
	pFaultInfo->nonReplayable.bufferSize = FAKERM_SHADOW_PACKETS * SGPU_FAULT_BYTES;
	pFaultInfo->faultBufferHandle = BUFFER_HANDLE;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceInitFaultInfo);

NV_STATUS nvUvmInterfaceDestroyFaultInfo(uvmGpuDeviceHandle device, UvmGpuFaultInfo *pFaultInfo)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);
	NV_STATUS status = NV_OK;

	if (!found || !pFaultInfo || pFaultInfo->faultBufferHandle != BUFFER_HANDLE)
		return NV_ERR_INVALID_ARGUMENT;
	mutex_lock(&found->object.gpu->lock);
	if (!found->object.gpu->has_fault_info)
		status = NV_ERR_INVALID_STATE;
	found->object.gpu->has_fault_info = false;
	mutex_unlock(&found->object.gpu->lock);
	if (status == NV_OK)
		memset(pFaultInfo, 0, sizeof(*pFaultInfo));
	return status;
}
EXPORT_SYMBOL(nvUvmInterfaceDestroyFaultInfo);

NV_STATUS nvUvmInterfaceOwnPageFaultIntr(uvmGpuDeviceHandle device, NvBool bOwnInterrupts)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);
	NV_STATUS status = NV_OK;
	struct fakerm_gpu *gpu;

	if (!found)
		return NV_ERR_INVALID_ARGUMENT;
	gpu = found->object.gpu;
	mutex_lock(&gpu->lock);
	if (gpu->uvm_owns_interrupt == !!bOwnInterrupts)
		status = NV_ERR_INVALID_STATE;
	else
		gpu->uvm_owns_interrupt = bOwnInterrupts;
	/* It changes hands disabled. */
	gpu->model.faults.is_enabled = false;
	gpu->model.faults.intr_enable_set = 0;
	gpu->model.faults.intr_enable_clear = 0;
	mutex_unlock(&gpu->lock);
	return status;
}
EXPORT_SYMBOL(nvUvmInterfaceOwnPageFaultIntr);

/* In interrupt context, as the next. */
NV_STATUS nvUvmInterfaceHasPendingNonReplayableFaults(UvmGpuFaultInfo *pFaultInfo,
						      NvBool *hasPendingFaults)
{
	if (!pFaultInfo || !hasPendingFaults)
		return NV_ERR_INVALID_ARGUMENT;
	*hasPendingFaults = NV_FALSE; /* what copy engines and the host fault on ends a channel */
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceHasPendingNonReplayableFaults);

NV_STATUS nvUvmInterfaceGetNonReplayableFaults(UvmGpuFaultInfo *pFaultInfo, void *pFaultBuffer,
					       NvU32 *numFaults)
{
	if (!pFaultInfo || !pFaultBuffer || !numFaults)
		return NV_ERR_INVALID_ARGUMENT;
	*numFaults = 0;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceGetNonReplayableFaults);

NV_STATUS nvUvmInterfaceInitAccessCntrInfo(uvmGpuDeviceHandle device,
					   UvmGpuAccessCntrInfo *pAccessCntrInfo,
					   NvU32 accessCntrIndex)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);
	struct fakerm_access_counters *counters;
	struct fakerm_gpu *gpu;
	NV_STATUS status = NV_OK;

	if (!found || !pAccessCntrInfo || accessCntrIndex != 0)
		return NV_ERR_INVALID_ARGUMENT;
	gpu = found->object.gpu;
	mutex_lock(&gpu->lock);
	if (gpu->has_access_counter_info)
		status = NV_ERR_IN_USE;
	gpu->has_access_counter_info = true;
	mutex_unlock(&gpu->lock);
	if (status != NV_OK)
		return status;
	counters = &gpu->access_counters;
	counters->get = 0;
	counters->put = 0;
	memset(pAccessCntrInfo, 0, sizeof(*pAccessCntrInfo));
	pAccessCntrInfo->pAccessCntrBufferGet = &counters->get;
	pAccessCntrInfo->pAccessCntrBufferPut = &counters->put;
	pAccessCntrInfo->pAccessCntrBufferFull = &counters->full;
	pAccessCntrInfo->pHubIntr = &counters->intr;
	pAccessCntrInfo->pHubIntrEnSet = &counters->intr_enable_set;
	pAccessCntrInfo->pHubIntrEnClear = &counters->intr_enable_clear;
	pAccessCntrInfo->accessCounterMask = ACCESS_COUNTER_MASK;
	pAccessCntrInfo->bufferAddress = counters->buffer;
	pAccessCntrInfo->bufferSize = FAKERM_ACCESS_COUNTER_BYTES;
	pAccessCntrInfo->accessCntrBufferHandle = BUFFER_HANDLE;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceInitAccessCntrInfo);

NV_STATUS nvUvmInterfaceDestroyAccessCntrInfo(uvmGpuDeviceHandle device,
					      UvmGpuAccessCntrInfo *pAccessCntrInfo)
{
	struct fakerm_device *found = fakerm_object_find(device, FAKERM_DEVICE, __func__);
	NV_STATUS status = NV_OK;

	if (!found || !pAccessCntrInfo || pAccessCntrInfo->accessCntrBufferHandle != BUFFER_HANDLE)
		return NV_ERR_INVALID_ARGUMENT;
	mutex_lock(&found->object.gpu->lock);
	if (!found->object.gpu->has_access_counter_info)
		status = NV_ERR_INVALID_STATE;
	found->object.gpu->has_access_counter_info = false;
	mutex_unlock(&found->object.gpu->lock);
	return status;
}
EXPORT_SYMBOL(nvUvmInterfaceDestroyAccessCntrInfo);
