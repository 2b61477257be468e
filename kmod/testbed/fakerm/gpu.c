/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A GPU's memory and model, and what it sees of the system's memory. */
#include "fakerm.h"

#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

/* Turing's (nvidia-uvm takes the device's mask for what it can reach). */
#define DMA_BITS 47

#define VIDMEM_MB_MIN 16u
#define VIDMEM_MB_MAX (64u << 10)

/*
 * The kernel maps all memory, so a DMA address is known by its page.  What is no memory that
 * someone allocated is not there for the GPU, instead of a crash of the machine.
 */
static void *sysmem_at(void *user, uint64_t address)
{
	unsigned long pfn = PHYS_PFN(address);

	(void)user;
	if (address >> DMA_BITS || !pfn_valid(pfn) || PageReserved(pfn_to_page(pfn)))
		return NULL;
	return phys_to_virt(address);
}

/* A UUID of no real GPU: "softgpu", and the index. */
static void uuid_set(NvProcessorUuid *uuid, u32 index)
{
	static const u8 name[16] = { 's',  'o', 'f', 't', 'g', 'p', 0x40, 'u',
				     0x80, 0,   0,   0,   0,   0,   0,    0 };

	BUILD_BUG_ON(sizeof(uuid->uuid) != sizeof(name));
	memcpy(uuid->uuid, name, sizeof(name));
	uuid->uuid[15] = index + 1;
}

static int pci_prepare(struct pci_dev *pdev)
{
	int rc;

	if (device_iommu_mapped(&pdev->dev)) {
		fakerm_error("%s lies behind an IOMMU: a DMA address is no physical one",
			     pci_name(pdev));
		return -EIO;
	}
	rc = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(DMA_BITS));
	if (rc != 0)
		fakerm_error("%s cannot reach %u bits of memory: %d", pci_name(pdev), DMA_BITS, rc);
	return rc != 0 ? -EIO : 0;
}

static int model_init(struct fakerm_gpu *gpu)
{
	struct sgpu_params params = {
		.bus = {
			.vidmem = gpu->vidmem,
			.vidmem_bytes = (u64)fakerm_settings.vidmem_mb << 20,
			.sysmem_at = sysmem_at,
		},
		.sms = fakerm_settings.sms,
		.sms_per_utlb = fakerm_settings.sms_per_utlb,
		.warps_per_sm = fakerm_settings.warps_per_sm,
		.faults_per_utlb = fakerm_settings.faults_per_utlb,
		.fault_packets = gpu->fault_packets,
		.fault_count = fakerm_settings.fault_packets,
		/* Two GPUs with the same settings shall not do the same. */
		.seed = fakerm_settings.seed + gpu->index,
	};
	int rc = sgpu_gpu_init(&gpu->model, &params);

	if (rc != 0)
		fakerm_error("these settings make no GPU; see fakerm/README.md for their ranges");
	return rc;
}

static int memory_init(struct fakerm_gpu *gpu)
{
	const u64 bytes = (u64)fakerm_settings.vidmem_mb << 20;

	if (fakerm_settings.vidmem_mb < VIDMEM_MB_MIN ||
	    fakerm_settings.vidmem_mb > VIDMEM_MB_MAX || fakerm_settings.vidmem_mb % 2 != 0 ||
	    !is_power_of_2(fakerm_settings.fault_packets) ||
	    fakerm_settings.fault_packets > 1u << 20) {
		fakerm_error("bad settings: vidmem_mb %u or fault_packets %u",
			     fakerm_settings.vidmem_mb, fakerm_settings.fault_packets);
		return -EINVAL;
	}
	gpu->vidmem = vzalloc(bytes);
	gpu->fault_packets = vzalloc(fakerm_settings.fault_packets * SGPU_FAULT_BYTES);
	gpu->shadow_packets = vzalloc(FAKERM_SHADOW_PACKETS * SGPU_FAULT_BYTES);
	gpu->access_counters.buffer = vzalloc(FAKERM_ACCESS_COUNTER_BYTES);
	if (!gpu->vidmem || !gpu->fault_packets || !gpu->shadow_packets ||
	    !gpu->access_counters.buffer) {
		fakerm_error("no memory for a GPU with %u MiB", fakerm_settings.vidmem_mb);
		return -ENOMEM;
	}
	return fakerm_pma_init(&gpu->pma, bytes);
}

static void memory_fini(struct fakerm_gpu *gpu)
{
	fakerm_pma_fini(&gpu->pma);
	vfree(gpu->vidmem);
	vfree(gpu->fault_packets);
	vfree(gpu->shadow_packets);
	vfree(gpu->access_counters.buffer);
}

int fakerm_gpu_create(u32 index, struct pci_dev *pdev, struct fakerm_gpu **gpu_out)
{
	struct fakerm_gpu *gpu;
	int rc;

	rc = pci_prepare(pdev);
	if (rc != 0)
		return rc;
	gpu = vzalloc(sizeof(*gpu));
	if (!gpu)
		return -ENOMEM;
	gpu->index = index;
	uuid_set(&gpu->uuid, index);
	mutex_init(&gpu->lock);
	INIT_LIST_HEAD(&gpu->user_channels);
	set_bit(0, gpu->instances); /* an instance pointer of 0 would look like none */
	init_waitqueue_head(&gpu->engine_wait);
	init_waitqueue_head(&gpu->done_wait);
	rc = memory_init(gpu);
	if (rc == 0)
		rc = model_init(gpu);
	if (rc != 0) {
		memory_fini(gpu);
		vfree(gpu);
		return rc;
	}
	gpu->pdev = pci_dev_get(pdev);
	*gpu_out = gpu;
	return 0;
}

void fakerm_gpu_destroy(struct fakerm_gpu *gpu)
{
	pci_dev_put(gpu->pdev);
	memory_fini(gpu);
	mutex_destroy(&gpu->lock);
	vfree(gpu);
}
