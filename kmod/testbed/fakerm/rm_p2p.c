/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Peers.  A GPU reaches its peer's memory for as long as there is a peer-to-peer object of the
 * two, and no longer: what the driver accesses outside of that is no memory.
 */
#include "fakerm.h"

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#define PEER_ID 0 /* of the other GPU: there is only one */

struct p2p {
	struct fakerm_object object;
};

static DEFINE_XARRAY_ALLOC1(p2p_objects); /* by handle, which is never 0 */

/* The GPUs of two devices; false: they are no pair. */
static bool pair_of(uvmGpuDeviceHandle device1, uvmGpuDeviceHandle device2,
		    struct fakerm_gpu *pair_out[2], const char *who)
{
	struct fakerm_device *first = fakerm_object_find(device1, FAKERM_DEVICE, who);
	struct fakerm_device *second = fakerm_object_find(device2, FAKERM_DEVICE, who);

	if (!first || !second || first->object.gpu == second->object.gpu)
		return false;
	pair_out[0] = first->object.gpu;
	pair_out[1] = second->object.gpu;
	return true;
}

NV_STATUS nvUvmInterfaceGetP2PCaps(uvmGpuDeviceHandle device1, uvmGpuDeviceHandle device2,
				   UvmGpuP2PCapsParams *p2pCapsParams)
{
	struct fakerm_gpu *pair[2];

	if (!pair_of(device1, device2, pair, __func__) || !p2pCapsParams)
		return NV_ERR_INVALID_ARGUMENT;
	memset(p2pCapsParams, 0, sizeof(*p2pCapsParams));
	p2pCapsParams->peerIds[0] = PEER_ID;
	p2pCapsParams->peerIds[1] = PEER_ID;
	p2pCapsParams->p2pLink = UVM_LINK_TYPE_PCIE;
	p2pCapsParams->totalLinkLineRateMBps = FAKERM_LINK_MB_PER_S;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceGetP2PCaps);

/* There are two GPUs at most, so all objects are of the same pair. */
static void peers_set(bool are_reachable)
{
	struct fakerm_gpu *gpu;
	unsigned int i;

	for (i = 0; i < fakerm_gpu_count; i++) {
		gpu = fakerm_gpus[i];
		mutex_lock(&gpu->lock);
		gpu->model.bus.peers[PEER_ID] =
			are_reachable ? &fakerm_gpus[1 - i]->model.bus : NULL;
		mutex_unlock(&gpu->lock);
	}
}

NV_STATUS nvUvmInterfaceP2pObjectCreate(uvmGpuDeviceHandle device1, uvmGpuDeviceHandle device2,
					NvHandle *hP2pObject)
{
	struct fakerm_gpu *pair[2];
	struct p2p *created;
	u32 handle;

	BUILD_BUG_ON(FAKERM_GPUS_MAX != 2);
	if (!pair_of(device1, device2, pair, __func__) || !hP2pObject)
		return NV_ERR_INVALID_ARGUMENT;
	created = kzalloc(sizeof(*created), GFP_KERNEL);
	if (!created)
		return NV_ERR_NO_MEMORY;
	if (xa_alloc(&p2p_objects, &handle, created, xa_limit_31b, GFP_KERNEL) != 0) {
		kfree(created);
		return NV_ERR_NO_MEMORY;
	}
	fakerm_object_add(&created->object, FAKERM_P2P, NULL);
	peers_set(true);
	*hP2pObject = handle;
	return NV_OK;
}
EXPORT_SYMBOL(nvUvmInterfaceP2pObjectCreate);

void nvUvmInterfaceP2pObjectDestroy(uvmGpuSessionHandle session, NvHandle hP2pObject)
{
	struct p2p *found;

	if (!fakerm_object_find(session, FAKERM_SESSION, __func__))
		return;
	found = xa_erase(&p2p_objects, hP2pObject);
	if (!found) {
		fakerm_error("%s: %#x is no peer-to-peer object", __func__, hP2pObject);
		return;
	}
	fakerm_object_remove(&found->object);
	kfree(found);
	if (xa_empty(&p2p_objects))
		peers_set(false);
}
EXPORT_SYMBOL(nvUvmInterfaceP2pObjectDestroy);
