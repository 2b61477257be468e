/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * /dev/softgpu: softgpu/uapi.h.  A call that fails has changed nothing, and has written nothing
 * but, in the case of a bad pointer, a part of its structure.
 */
#include "fakerm.h"

#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

/* The largest of the calls' structures. */
union device_args {
	struct sgpu_info info;
	struct sgpu_launch_args launch;
	struct sgpu_wait_args wait;
	struct sgpu_warp_args warp;
	struct sgpu_launch_id id;
	struct sgpu_counters_args counters;
	struct sgpu_inject_args inject;
};

static int device_open(struct inode *inode, struct file *filp)
{
	struct fakerm_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return -ENOMEM;
	mutex_init(&file->lock);
	INIT_LIST_HEAD(&file->launches);
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

static int device_release(struct inode *inode, struct file *filp)
{
	struct fakerm_file *file = filp->private_data;

	fakerm_launch_free_all(file);
	mutex_destroy(&file->lock);
	kfree(file);
	return 0;
}

static int get_info(struct sgpu_info *info)
{
	u32 i;

	BUILD_BUG_ON(FAKERM_GPUS_MAX > ARRAY_SIZE(info->uuid));
	memset(info, 0, sizeof(*info));
	info->version = SGPU_VERSION;
	info->gpus = fakerm_gpu_count;
	info->sms = fakerm_settings.sms;
	info->warps_per_sm = fakerm_settings.warps_per_sm;
	info->sms_per_utlb = fakerm_settings.sms_per_utlb;
	info->faults_per_utlb = fakerm_settings.faults_per_utlb;
	info->fault_packets = fakerm_settings.fault_packets;
	info->vidmem_bytes = (u64)fakerm_settings.vidmem_mb << 20;
	for (i = 0; i < fakerm_gpu_count; i++)
		memcpy(info->uuid[i], &fakerm_gpus[i]->uuid, sizeof(info->uuid[i]));
	return 0;
}

static int get_counters(struct sgpu_counters_args *args)
{
	struct fakerm_gpu *gpu;

	if (args->gpu >= fakerm_gpu_count || args->reserved != 0)
		return -EINVAL;
	gpu = fakerm_gpus[args->gpu];
	mutex_lock(&gpu->lock);
	sgpu_gpu_counters(&gpu->model, &args->counters);
	mutex_unlock(&gpu->lock);
	return 0;
}

static int set_inject(const struct sgpu_inject_args *args)
{
	struct fakerm_gpu *gpu;
	int rc;

	if (args->gpu >= fakerm_gpu_count || args->reserved != 0)
		return -EINVAL;
	gpu = fakerm_gpus[args->gpu];
	mutex_lock(&gpu->lock);
	rc = sgpu_inject_set(&gpu->model.inject, args->kind, args->value);
	mutex_unlock(&gpu->lock);
	return rc;
}

static int dispatch(struct fakerm_file *file, unsigned int command, union device_args *args)
{
	switch (command) {
	case SGPU_IOC_INFO:
		return get_info(&args->info);
	case SGPU_IOC_LAUNCH:
		return fakerm_launch_create(file, &args->launch);
	case SGPU_IOC_WAIT:
		return fakerm_launch_wait(file, &args->wait);
	case SGPU_IOC_WARP:
		return fakerm_launch_warp(file, &args->warp);
	case SGPU_IOC_FREE:
		return fakerm_launch_free(file, &args->id);
	case SGPU_IOC_COUNTERS:
		return get_counters(&args->counters);
	case SGPU_IOC_INJECT:
		return set_inject(&args->inject);
	default:
		return -ENOTTY;
	}
}

static long device_ioctl(struct file *filp, unsigned int command, unsigned long arg)
{
	const unsigned int bytes = _IOC_SIZE(command);
	void __user *user = (void __user *)arg;
	union device_args args;
	int rc;

	/* The size is part of the number, so of ours none is larger. */
	if (bytes > sizeof(args))
		return -ENOTTY;
	memset(&args, 0, sizeof(args));
	if ((_IOC_DIR(command) & _IOC_WRITE) && copy_from_user(&args, user, bytes))
		return -EFAULT;
	rc = dispatch(filp->private_data, command, &args);
	if (rc != 0 || !(_IOC_DIR(command) & _IOC_READ))
		return rc;
	if (copy_to_user(user, &args, bytes) == 0)
		return 0;
	/* Nobody would know its id. */
	if (command == SGPU_IOC_LAUNCH) {
		const struct sgpu_launch_id id = { args.launch.gpu, args.launch.launch };

		fakerm_launch_free(filp->private_data, &id);
	}
	return -EFAULT;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = no_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "softgpu",
	.fops = &device_operations,
};

int fakerm_device_register(void)
{
	return misc_register(&device);
}

void fakerm_device_unregister(void)
{
	misc_deregister(&device);
}
