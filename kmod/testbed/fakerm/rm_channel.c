/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The driver's own channels: of copy engines, in its own address space. */
#include "fakerm.h"

#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "turing.h"

#define FIFO_ENTRIES_MAX (1u << 20)

NV_STATUS nvUvmInterfaceTsgAllocate(uvmGpuAddressSpaceHandle vaSpace,
				    const UvmGpuTsgAllocParams *allocParams, uvmGpuTsgHandle *tsg)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	struct fakerm_tsg *created;

	if (!vas || !allocParams || !tsg)
		return NV_ERR_INVALID_ARGUMENT;
	if (allocParams->engineType != UVM_GPU_CHANNEL_ENGINE_TYPE_CE ||
	    allocParams->engineIndex >= FAKERM_COPY_ENGINES) {
		fakerm_error("%s: there is no engine %u of type %u", __func__,
			     allocParams->engineIndex, allocParams->engineType);
		return NV_ERR_NOT_SUPPORTED;
	}
	created = kzalloc(sizeof(*created), GFP_KERNEL);
	if (!created)
		return NV_ERR_NO_MEMORY;
	created->vas = vas;
	created->engine = allocParams->engineIndex;
	mutex_lock(&vas->object.gpu->lock);
	vas->users++;
	mutex_unlock(&vas->object.gpu->lock);
	fakerm_object_add(&created->object, FAKERM_TSG, vas->object.gpu);
	*tsg = (uvmGpuTsgHandle)created;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceTsgAllocate);

void nvUvmInterfaceTsgDestroy(uvmGpuTsgHandle tsg)
{
	struct fakerm_tsg *found;

	/* The driver destroys what it failed to allocate as well. */
	if (!tsg)
		return;
	found = fakerm_object_find(tsg, FAKERM_TSG, __func__);
	if (!found)
		return;
	mutex_lock(&found->object.gpu->lock);
	if (found->channels != 0) {
		fakerm_error("%s: it has %u channels", __func__, found->channels);
		mutex_unlock(&found->object.gpu->lock);
		return;
	}
	found->vas->users--;
	mutex_unlock(&found->object.gpu->lock);
	fakerm_object_remove(&found->object);
	kfree(found);
}
EXPORT_SYMBOL(nvUvmInterfaceTsgDestroy);

static void info_fill(struct fakerm_channel *channel, UvmGpuChannelInfo *info)
{
	memset(info, 0, sizeof(*info));
	info->gpGet = &channel->channel.get;
	info->gpPut = &channel->channel.put;
	info->gpFifoEntries = (UvmGpuPointer *)channel->channel.fifo;
	info->numGpFifoEntries = channel->channel.fifo_count;
	info->channelClassNum = SGPU_CLASS_GPFIFO;
	info->errorNotifier = &channel->notifier;
	info->hwRunlistId = channel->tsg->engine;
	info->hwChannelId = channel->channel.id;
	/* Nobody looks at it: the engine looks at gpPut. */
	info->workSubmissionOffset = &channel->doorbell;
	info->workSubmissionToken = channel->channel.id;
	info->pWorkSubmissionToken = &channel->token;
}

NV_STATUS nvUvmInterfaceChannelAllocate(const uvmGpuTsgHandle tsg,
					const UvmGpuChannelAllocParams *allocParams,
					uvmGpuChannelHandle *channel,
					UvmGpuChannelInfo *channelInfo)
{
	struct fakerm_tsg *found = fakerm_object_find(tsg, FAKERM_TSG, __func__);
	struct fakerm_channel *created;
	struct fakerm_gpu *gpu;
	u64 *fifo;

	if (!found || !allocParams || !channel || !channelInfo ||
	    !is_power_of_2(allocParams->numGpFifoEntries) || allocParams->numGpFifoEntries < 2 ||
	    allocParams->numGpFifoEntries > FIFO_ENTRIES_MAX)
		return NV_ERR_INVALID_ARGUMENT;
	gpu = found->object.gpu;
	created = vzalloc(sizeof(*created));
	/* Its place does not matter to the model: gpFifoLoc and gpPutLoc are for hardware. */
	fifo = vzalloc(allocParams->numGpFifoEntries * sizeof(*fifo));
	if (!created || !fifo) {
		vfree(created);
		vfree(fifo);
		return NV_ERR_NO_MEMORY;
	}
	created->tsg = found;
	created->channel.gpu = &gpu->model;
	created->channel.vas = &found->vas->vas;
	created->channel.fifo = fifo;
	created->channel.fifo_count = allocParams->numGpFifoEntries;
	created->channel.error_status = &created->notifier.status;
	mutex_lock(&gpu->lock);
	created->channel.id = gpu->next_channel++;
	created->token = created->channel.id;
	sgpu_channel_init(&created->channel);
	sgpu_gpu_add_channel(&gpu->model, &created->channel);
	found->channels++;
	mutex_unlock(&gpu->lock);
	fakerm_object_add(&created->object, FAKERM_CHANNEL, gpu);
	fakerm_engine_wake(gpu);
	info_fill(created, channelInfo);
	*channel = (uvmGpuChannelHandle)created;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceChannelAllocate);

void nvUvmInterfaceChannelDestroy(uvmGpuChannelHandle channel)
{
	struct fakerm_channel *found;
	struct fakerm_gpu *gpu;

	/* The driver destroys what it failed to allocate as well. */
	if (!channel)
		return;
	found = fakerm_object_find(channel, FAKERM_CHANNEL, __func__);
	if (!found)
		return;
	gpu = found->object.gpu;
	fakerm_object_remove(&found->object);
	mutex_lock(&gpu->lock);
	if (!found->channel.has_failed && found->channel.put != found->channel.get)
		pr_warn("fakerm: channel %u is destroyed with work in it\n", found->channel.id);
	sgpu_gpu_remove_channel(&gpu->model, &found->channel);
	found->tsg->channels--;
	mutex_unlock(&gpu->lock);
	vfree(found->channel.fifo);
	vfree(found);
}
EXPORT_SYMBOL(nvUvmInterfaceChannelDestroy);
