/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Clients' channels, on which /dev/softgpu runs programs.  Like an address space, one comes to
 * be when the driver retains it.
 *
 * Its instance block is a page of video memory; the lowest that is free, so that an old packet
 * names a new channel as soon as it can: the driver must flush the fault buffer before it
 * releases a channel.
 *
 *   retained -> bound -> stopped       launches: while bound, and not stopped
 */
#include "fakerm.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/slab.h>

#define STOP_POLL_US 200

static struct fakerm_user_channel *find(struct fakerm_vas *vas, u32 client, u32 handle)
{
	struct fakerm_user_channel *channel;

	list_for_each_entry(channel, &vas->object.gpu->user_channels, of_gpu)
	{
		if (channel->vas == vas && channel->client == client && channel->handle == handle)
			return channel;
	}
	return NULL;
}

/* Under the GPU's lock; NULL: no memory, or no instance block is left. */
static struct fakerm_user_channel *create(struct fakerm_vas *vas, u32 client, u32 handle)
{
	struct fakerm_gpu *gpu = vas->object.gpu;
	unsigned long instance = find_first_zero_bit(gpu->instances, FAKERM_INSTANCES);
	struct fakerm_user_channel *channel;

	if (instance == FAKERM_INSTANCES)
		return NULL;
	channel = kzalloc(sizeof(*channel), GFP_KERNEL);
	if (!channel)
		return NULL;
	set_bit(instance, gpu->instances);
	channel->instance = instance;
	channel->vas = vas;
	channel->client = client;
	channel->handle = handle;
	vas->users++;
	list_add(&channel->of_gpu, &gpu->user_channels);
	fakerm_object_add(&channel->object, FAKERM_USER_CHANNEL, gpu);
	return channel;
}

NV_STATUS nvUvmInterfaceRetainChannel(uvmGpuAddressSpaceHandle vaSpace, NvHandle hClient,
				      NvHandle hChannel, void **retainedChannel,
				      UvmGpuChannelInstanceInfo *channelInstanceInfo)
{
	struct fakerm_vas *vas = fakerm_object_find(vaSpace, FAKERM_VAS, __func__);
	struct fakerm_user_channel *channel;

	if (!vas || !retainedChannel || !channelInstanceInfo)
		return NV_ERR_INVALID_ARGUMENT;
	if (hChannel == 0)
		return NV_ERR_OBJECT_NOT_FOUND;
	mutex_lock(&vas->object.gpu->lock);
	channel = find(vas, hClient, hChannel);
	if (!channel)
		channel = create(vas, hClient, hChannel);
	if (channel)
		channel->refs++;
	mutex_unlock(&vas->object.gpu->lock);
	if (!channel)
		return NV_ERR_INSUFFICIENT_RESOURCES;
	/* No TSG, no subcontext, no resources: the driver then maps none for the channel. */
	memset(channelInstanceInfo, 0, sizeof(*channelInstanceInfo));
	channelInstanceInfo->base = (u64)channel->instance * SGPU_PAGE_BYTES;
	channelInstanceInfo->chId = channel->instance;
	channelInstanceInfo->clearFaultedToken = channel->instance;
	channelInstanceInfo->channelEngineType = UVM_GPU_CHANNEL_ENGINE_TYPE_GR;
	*retainedChannel = channel;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceRetainChannel);

NV_STATUS
nvUvmInterfaceBindChannelResources(void *retainedChannel,
				   UvmGpuChannelResourceBindParams *channelResourceBindParams)
{
	struct fakerm_user_channel *channel =
		fakerm_object_find(retainedChannel, FAKERM_USER_CHANNEL, __func__);

	(void)channelResourceBindParams; /* an array of none */
	if (!channel)
		return NV_ERR_INVALID_ARGUMENT;
	mutex_lock(&channel->object.gpu->lock);
	channel->is_bound = true;
	mutex_unlock(&channel->object.gpu->lock);
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceBindChannelResources);

void nvUvmInterfaceReleaseChannel(void *retainedChannel)
{
	struct fakerm_user_channel *channel =
		fakerm_object_find(retainedChannel, FAKERM_USER_CHANNEL, __func__);
	struct fakerm_gpu *gpu;
	bool is_last;

	if (!channel)
		return;
	gpu = channel->object.gpu;
	mutex_lock(&gpu->lock);
	is_last = --channel->refs == 0;
	if (is_last) {
		if (channel->is_bound && !channel->is_stopped)
			fakerm_error("%s: channel %#x was not stopped", __func__, channel->handle);
		fakerm_launch_detach(gpu, &channel->vas->vas, channel->handle);
		clear_bit(channel->instance, gpu->instances);
		channel->vas->users--;
		list_del(&channel->of_gpu);
		fakerm_object_remove(&channel->object);
	}
	mutex_unlock(&gpu->lock);
	if (is_last)
		kfree(channel);
}
EXPORT_SYMBOL(nvUvmInterfaceReleaseChannel);

/* No block starts any more, and a warp that is not stalled ends after its next turn. */
static void drain(struct fakerm_gpu *gpu, const struct fakerm_user_channel *channel)
{
	struct sgpu_launch *launch;

	for (launch = gpu->model.launches; launch; launch = launch->next) {
		if (launch->vas != &channel->vas->vas || launch->channel_handle != channel->handle)
			continue;
		launch->is_stopped = true;
		launch->is_draining = true;
	}
}

/* Return: the channel has stopped. */
static bool try_stop(struct fakerm_gpu *gpu, struct fakerm_user_channel *channel, bool is_immediate)
{
	u32 outstanding;

	mutex_lock(&gpu->lock);
	/* From now on none is launched. */
	channel->is_stopped = true;
	drain(gpu, channel);
	outstanding = sgpu_sm_outstanding(&gpu->model, &channel->vas->vas, channel->handle);
	if (outstanding == 0 || is_immediate)
		sgpu_sm_stop(&gpu->model, &channel->vas->vas, channel->handle);
	mutex_unlock(&gpu->lock);
	return outstanding == 0 || is_immediate;
}

/*
 * On hardware a channel cannot leave its SMs while one of its replayable faults is outstanding:
 * the driver has to serve or cancel it.  So this blocks, and shows where the driver cannot.
 */
void nvUvmInterfaceStopChannel(void *retainedChannel, NvBool bImmediate)
{
	struct fakerm_user_channel *channel =
		fakerm_object_find(retainedChannel, FAKERM_USER_CHANNEL, __func__);
	unsigned int timeout_ms = READ_ONCE(fakerm_settings.stop_timeout_ms);
	unsigned long deadline = jiffies + msecs_to_jiffies(timeout_ms);
	struct fakerm_gpu *gpu;

	if (!channel)
		return;
	gpu = channel->object.gpu;
	while (!try_stop(gpu, channel, bImmediate)) {
		if (time_after(jiffies, deadline)) {
			fakerm_error("%s: channel %#x has outstanding faults after %u ms, killed",
				     __func__, channel->handle, timeout_ms);
			try_stop(gpu, channel, true);
			return;
		}
		usleep_range(STOP_POLL_US, 2 * STOP_POLL_US);
	}
}
EXPORT_SYMBOL(nvUvmInterfaceStopChannel);
