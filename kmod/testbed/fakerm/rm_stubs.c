/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the testbed has not: confidential computing, SR-IOV's paging channels, memory of other
 * drivers' clients, access counters.  The driver calls none of these on a GPU as it is described
 * here.  Where one is called all the same, the log has its name, and the call fails.
 */
#include "fakerm.h"

#include <linux/module.h>

static NV_STATUS refuse(const char *who)
{
	fakerm_error("%s() is not part of the testbed", who);
	return NV_ERR_NOT_SUPPORTED;
}

/* --- confidential computing ---------------------------------------------------- */

NV_STATUS nvUvmInterfaceFlushReplayableFaultBuffer(uvmGpuDeviceHandle device)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceFlushReplayableFaultBuffer);

NV_STATUS nvUvmInterfaceCslInitContext(UvmCslContext *uvmCslContext, uvmGpuChannelHandle channel)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceCslInitContext);

void nvUvmInterfaceDeinitCslContext(UvmCslContext *uvmCslContext)
{
	refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceDeinitCslContext);

NV_STATUS nvUvmInterfaceCslRotateIv(UvmCslContext *uvmCslContext, UvmCslOperation operation)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceCslRotateIv);

NV_STATUS nvUvmInterfaceCslEncrypt(UvmCslContext *uvmCslContext, NvU32 bufferSize,
				   NvU8 const *inputBuffer, UvmCslIv *encryptIv, NvU8 *outputBuffer,
				   NvU8 *authTagBuffer)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceCslEncrypt);

NV_STATUS nvUvmInterfaceCslDecrypt(UvmCslContext *uvmCslContext, NvU32 bufferSize,
				   NvU8 const *inputBuffer, UvmCslIv const *decryptIv,
				   NvU8 *outputBuffer, NvU8 const *addAuthData,
				   NvU32 addAuthDataSize, NvU8 const *authTagBuffer)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceCslDecrypt);

NV_STATUS nvUvmInterfaceCslSign(UvmCslContext *uvmCslContext, NvU32 bufferSize,
				NvU8 const *inputBuffer, NvU8 *authTagBuffer)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceCslSign);

NV_STATUS nvUvmInterfaceCslQueryMessagePool(UvmCslContext *uvmCslContext, UvmCslOperation operation,
					    NvU64 *messageNum)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceCslQueryMessagePool);

NV_STATUS nvUvmInterfaceCslIncrementIv(UvmCslContext *uvmCslContext, UvmCslOperation operation,
				       NvU64 increment, UvmCslIv *iv)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceCslIncrementIv);

/* --- SR-IOV -------------------------------------------------------------------- */

NV_STATUS nvUvmInterfacePagingChannelAllocate(uvmGpuDeviceHandle device,
					      const UvmGpuPagingChannelAllocParams *allocParams,
					      UvmGpuPagingChannelHandle *channel,
					      UvmGpuPagingChannelInfo *channelInfo)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfacePagingChannelAllocate);

void nvUvmInterfacePagingChannelDestroy(UvmGpuPagingChannelHandle channel)
{
	refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfacePagingChannelDestroy);

NV_STATUS nvUvmInterfacePagingChannelsMap(uvmGpuAddressSpaceHandle srcVaSpace,
					  UvmGpuPointer srcAddress, uvmGpuDeviceHandle device,
					  NvU64 *dstAddress)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfacePagingChannelsMap);

void nvUvmInterfacePagingChannelsUnmap(uvmGpuAddressSpaceHandle srcVaSpace,
				       UvmGpuPointer srcAddress, uvmGpuDeviceHandle device)
{
	refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfacePagingChannelsUnmap);

NV_STATUS nvUvmInterfacePagingChannelPushStream(UvmGpuPagingChannelHandle channel,
						char *methodStream, NvU32 methodStreamSize)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfacePagingChannelPushStream);

/* --- memory that RM gave to others, and channels' resources -------------------- */

NV_STATUS nvUvmInterfaceDupMemory(uvmGpuDeviceHandle device, NvHandle hClient, NvHandle hPhysMemory,
				  NvHandle *hDupMemory, UvmGpuMemoryInfo *pGpuMemoryInfo)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceDupMemory);

NV_STATUS nvUvmInterfaceFreeDupedHandle(uvmGpuDeviceHandle device, NvHandle hPhysHandle)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceFreeDupedHandle);

NV_STATUS nvUvmInterfaceGetExternalAllocPtes(uvmGpuAddressSpaceHandle vaSpace, NvHandle hMemory,
					     NvU64 offset, NvU64 size,
					     UvmGpuExternalMappingInfo *gpuExternalMappingInfo)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceGetExternalAllocPtes);

NV_STATUS nvUvmInterfaceGetChannelResourcePtes(uvmGpuAddressSpaceHandle vaSpace,
					       NvP64 resourceDescriptor, NvU64 offset, NvU64 size,
					       UvmGpuExternalMappingInfo *externalMappingInfo)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceGetChannelResourcePtes);

/* --- access counters, non-replayable faults ------------------------------------ */

NV_STATUS nvUvmInterfaceEnableAccessCntr(uvmGpuDeviceHandle device,
					 UvmGpuAccessCntrInfo *pAccessCntrInfo,
					 UvmGpuAccessCntrConfig *pAccessCntrConfig)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceEnableAccessCntr);

NV_STATUS nvUvmInterfaceDisableAccessCntr(uvmGpuDeviceHandle device,
					  UvmGpuAccessCntrInfo *pAccessCntrInfo)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceDisableAccessCntr);

NV_STATUS nvUvmInterfaceReportNonReplayableFault(uvmGpuDeviceHandle device,
						 const void *pFaultPacket)
{
	return refuse(__func__);
}
EXPORT_SYMBOL(nvUvmInterfaceReportNonReplayableFault);
