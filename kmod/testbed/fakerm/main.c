/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The module: settings, one GPU for each PCI device, /dev/softgpu. */
#include "fakerm.h"

#include <linux/module.h>

#define VENDOR_QEMU 0x1234
#define DEVICE_EDU 0x11e8

struct fakerm_settings fakerm_settings = {
	.vidmem_mb = 128,
	.sms = 8,
	.warps_per_sm = 32,
	.sms_per_utlb = 2,
	/* Observed on hardware; second hand. */
	.faults_per_utlb = 56,
	.fault_packets = 1024,
	.stop_timeout_ms = 5000,
	.poll_us = 40,
	.spin_us = 500,
	.seed = 1,
};

module_param_named(vidmem_mb, fakerm_settings.vidmem_mb, uint, 0444);
MODULE_PARM_DESC(vidmem_mb, "video memory of each GPU, MiB; even, 16 or more");
module_param_named(sms, fakerm_settings.sms, uint, 0444);
MODULE_PARM_DESC(sms, "SMs of each GPU, 1 to 32");
module_param_named(warps_per_sm, fakerm_settings.warps_per_sm, uint, 0444);
MODULE_PARM_DESC(warps_per_sm, "warps that an SM holds at a time, 1 to 1024");
module_param_named(sms_per_utlb, fakerm_settings.sms_per_utlb, uint, 0444);
MODULE_PARM_DESC(sms_per_utlb, "SMs that share a uTLB, 1 to 32");
module_param_named(faults_per_utlb, fakerm_settings.faults_per_utlb, uint, 0444);
MODULE_PARM_DESC(faults_per_utlb, "outstanding faults of a uTLB, at least 1");
module_param_named(fault_packets, fakerm_settings.fault_packets, uint, 0444);
MODULE_PARM_DESC(fault_packets, "size of the replayable fault buffer, a power of two");
module_param_named(seed, fakerm_settings.seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of all chance in the model");
module_param_named(stop_timeout_ms, fakerm_settings.stop_timeout_ms, uint, 0644);
MODULE_PARM_DESC(stop_timeout_ms, "how long StopChannel waits for outstanding faults");
module_param_named(poll_us, fakerm_settings.poll_us, uint, 0644);
MODULE_PARM_DESC(poll_us, "how often an idle GPU looks for work, 1 to 10000");
module_param_named(spin_us, fakerm_settings.spin_us, uint, 0644);
MODULE_PARM_DESC(spin_us, "how long it looks without a pause after it had some");

struct fakerm_gpu *fakerm_gpus[FAKERM_GPUS_MAX];
unsigned int fakerm_gpu_count;
DECLARE_RWSEM(fakerm_events_lock);
struct UvmOpsUvmEvents *fakerm_events;

struct fakerm_gpu *fakerm_gpu_by_uuid(const NvProcessorUuid *uuid)
{
	unsigned int i;

	for (i = 0; uuid && i < fakerm_gpu_count; i++) {
		if (memcmp(uuid, &fakerm_gpus[i]->uuid, sizeof(*uuid)) == 0)
			return fakerm_gpus[i];
	}
	return NULL;
}

static void gpus_destroy(void)
{
	/* A GPU may look into its peer's memory for as long as its engine runs. */
	unsigned int i;

	for (i = 0; i < fakerm_gpu_count; i++)
		fakerm_engine_stop(fakerm_gpus[i]);
	while (fakerm_gpu_count > 0)
		fakerm_gpu_destroy(fakerm_gpus[--fakerm_gpu_count]);
}

static int gpus_create(void)
{
	struct pci_dev *pdev = NULL;
	struct fakerm_gpu *gpu;
	int rc;

	while ((pdev = pci_get_device(VENDOR_QEMU, DEVICE_EDU, pdev))) {
		if (fakerm_gpu_count == FAKERM_GPUS_MAX) {
			fakerm_error("%s is one more than %u, it is not used", pci_name(pdev),
				     FAKERM_GPUS_MAX);
			continue;
		}
		rc = fakerm_gpu_create(fakerm_gpu_count, pdev, &gpu);
		if (rc != 0)
			goto err_device;
		fakerm_gpus[fakerm_gpu_count++] = gpu;
		rc = fakerm_engine_start(gpu);
		if (rc != 0)
			goto err_device;
	}
	/* None is fine: the driver's tests that need no GPU. */
	return 0;
err_device:
	pci_dev_put(pdev);
	gpus_destroy();
	return rc;
}

static int __init fakerm_init(void)
{
	int rc;

	rc = gpus_create();
	if (rc != 0)
		return rc;
	rc = fakerm_device_register();
	if (rc != 0) {
		gpus_destroy();
		return rc;
	}
	pr_info("fakerm: %u GPUs of %u MiB, seed %lu\n", fakerm_gpu_count,
		fakerm_settings.vidmem_mb, fakerm_settings.seed);
	return 0;
}

static void __exit fakerm_exit(void)
{
	unsigned int leaks;
	unsigned int i;

	fakerm_device_unregister();
	leaks = fakerm_object_leaks();
	for (i = 0; i < fakerm_gpu_count; i++) {
		struct fakerm_gpu *gpu = fakerm_gpus[i];
		unsigned long frames = fakerm_pma_in_use(&gpu->pma);

		if (gpu->registrations != 0)
			fakerm_error("leak: GPU %u is registered %u times", i, gpu->registrations);
		if (frames != 0)
			fakerm_error("leak: %lu frames of GPU %u's memory", frames, i);
		if (gpu->pma.evict_pages)
			fakerm_error("leak: eviction callbacks of GPU %u", i);
		if (gpu->has_fault_info || gpu->has_access_counter_info || gpu->uvm_owns_interrupt)
			fakerm_error("leak: fault information of GPU %u", i);
		leaks += gpu->registrations != 0 || frames != 0 || gpu->pma.evict_pages ||
			 gpu->has_fault_info || gpu->has_access_counter_info ||
			 gpu->uvm_owns_interrupt;
	}
	if (fakerm_events) {
		fakerm_error("leak: the driver's callbacks");
		leaks++;
	}
	gpus_destroy();
	pr_info("fakerm: unloaded, %u leaks\n", leaks);
}

module_init(fakerm_init);
module_exit(fakerm_exit);
MODULE_DESCRIPTION("a resource manager with software GPUs, for tests of nvidia-uvm");
MODULE_LICENSE("Dual MIT/GPL");
