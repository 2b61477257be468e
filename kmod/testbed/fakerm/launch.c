/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Launches of files.  One is attached to the model until it is freed, or until its channel or
 * its address space goes; then it is killed, and its report stays for its file.
 *
 * A call counts the launch that it works on, so that another thread may free it meanwhile.
 */
#include "fakerm.h"

#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

struct fakerm_launch {
	struct fakerm_object object;
	struct kref refs;         /* of the file, and of calls */
	struct list_head of_file; /* under the file's lock */
	struct sgpu_launch launch;
	/* Under the GPU's lock; read by who waits without. */
	bool is_attached, is_done;
	struct sgpu_insn *insns;
	struct sgpu_warp *warps;
};

/* Fails instead of having the kernel kill someone for memory. */
#define GFP_LAUNCH (GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN)

static struct fakerm_launch *launch_of(struct sgpu_launch *launch)
{
	return container_of(launch, struct fakerm_launch, launch);
}

/* Under the GPU's lock. */
static void detach(struct fakerm_launch *launch)
{
	if (!launch->is_attached)
		return;
	sgpu_launch_remove(&launch->launch);
	launch->is_attached = false;
	WRITE_ONCE(launch->is_done, true);
	wake_up_all(&launch->object.gpu->done_wait);
}

void fakerm_launch_detach(struct fakerm_gpu *gpu, const struct sgpu_vas *vas, u32 channel)
{
	struct sgpu_launch *at = gpu->model.launches;
	struct sgpu_launch *next;

	for (; at; at = next) {
		next = at->next;
		if (at->vas == vas && (channel == 0 || at->channel_handle == channel))
			detach(launch_of(at));
	}
}

void fakerm_launch_poll(struct fakerm_gpu *gpu)
{
	struct sgpu_launch *at;
	bool is_news = false;

	for (at = gpu->model.launches; at; at = at->next) {
		if (launch_of(at)->is_done || !sgpu_launch_is_done(at))
			continue;
		WRITE_ONCE(launch_of(at)->is_done, true);
		is_news = true;
	}
	if (is_news)
		wake_up_all(&gpu->done_wait);
}

static void memory_free(struct fakerm_launch *launch)
{
	kvfree(launch->insns);
	vfree(launch->warps);
	kfree(launch);
}

static void release(struct kref *refs)
{
	struct fakerm_launch *launch = container_of(refs, struct fakerm_launch, refs);
	struct fakerm_gpu *gpu = launch->object.gpu;

	mutex_lock(&gpu->lock);
	detach(launch);
	gpu->launches--;
	mutex_unlock(&gpu->lock);
	fakerm_object_remove(&launch->object);
	memory_free(launch);
}

/*
 * The file's launch, counted.
 *
 * Return: 0, -EINVAL: there is no such GPU, or -ENOENT: the file has no such launch.
 */
static int find(struct fakerm_file *file, u32 gpu, u32 id, struct fakerm_launch **launch_out)
{
	struct fakerm_launch *found = NULL;
	struct fakerm_launch *launch;

	if (gpu >= fakerm_gpu_count)
		return -EINVAL;
	mutex_lock(&file->lock);
	list_for_each_entry(launch, &file->launches, of_file)
	{
		if (launch->object.gpu->index == gpu && launch->launch.id == id) {
			found = launch;
			kref_get(&found->refs);
			break;
		}
	}
	mutex_unlock(&file->lock);
	if (!found)
		return -ENOENT;
	*launch_out = found;
	return 0;
}

/* --- start --------------------------------------------------------------------- */

static int args_check(const struct sgpu_launch_args *args)
{
	if (args->gpu >= fakerm_gpu_count || args->reserved != 0)
		return -EINVAL;
	if (args->warps == 0 || args->warps > SGPU_LAUNCH_WARPS_MAX || args->warps_per_block == 0 ||
	    args->warps_per_block > SGPU_BLOCK_WARPS_MAX)
		return -EINVAL;
	if (args->insns == 0 || args->insns > SGPU_PROGRAM_MAX)
		return -EINVAL;
	return 0;
}

/* The program and the warps, in memory of a new launch. */
static int memory_create(const struct sgpu_launch_args *args, struct fakerm_launch **launch_out)
{
	struct fakerm_launch *launch;
	u32 bad;
	int rc = -ENOMEM;

	launch = kzalloc(sizeof(*launch), GFP_KERNEL_ACCOUNT);
	if (!launch)
		return -ENOMEM;
	launch->insns = kvmalloc_array(args->insns, sizeof(*launch->insns), GFP_KERNEL_ACCOUNT);
	launch->warps = __vmalloc((size_t)args->warps * sizeof(*launch->warps), GFP_LAUNCH);
	if (!launch->insns || !launch->warps)
		goto err_memory;
	rc = -EFAULT;
	if (copy_from_user(launch->insns, u64_to_user_ptr(args->program),
			   args->insns * sizeof(*launch->insns)))
		goto err_memory;
	rc = sgpu_program_check(launch->insns, args->insns, &bad);
	if (rc != 0) {
		pr_debug("fakerm: instruction %u of a program is none\n", bad);
		goto err_memory;
	}
	*launch_out = launch;
	return 0;
err_memory:
	memory_free(launch);
	return rc;
}

/*
 * The channel that a program can run on; under the GPU's lock.
 *
 * Return: 0, -ENOENT: there is none, or -ENOTUNIQ: clients have used these handles twice.
 */
static int find_channel(struct fakerm_gpu *gpu, const struct sgpu_launch_args *args,
			struct fakerm_user_channel **channel_out)
{
	struct fakerm_user_channel *channel;
	struct fakerm_user_channel *found = NULL;

	list_for_each_entry(channel, &gpu->user_channels, of_gpu)
	{
		if (channel->handle != args->channel || !channel->is_bound || channel->is_stopped ||
		    channel->vas->vas.handle != args->va_space)
			continue;
		if (found)
			return -ENOTUNIQ;
		found = channel;
	}
	if (!found)
		return -ENOENT;
	*channel_out = found;
	return 0;
}

static int attach(struct fakerm_gpu *gpu, struct fakerm_launch *launch,
		  const struct sgpu_launch_args *args, const u64 *registers)
{
	struct sgpu_launch *model = &launch->launch;
	struct fakerm_user_channel *channel;
	int rc;

	if (gpu->launches >= SGPU_LAUNCHES_MAX)
		return -EBUSY;
	rc = find_channel(gpu, args, &channel);
	if (rc != 0)
		return rc;
	model->gpu = &gpu->model;
	model->vas = &channel->vas->vas;
	model->instance.aperture = SGPU_APERTURE_VIDMEM;
	model->instance.address = (u64)channel->instance * SGPU_PAGE_BYTES;
	model->channel_handle = channel->handle;
	model->id = ++gpu->next_launch;
	model->warp_count = args->warps;
	model->warps_per_block = args->warps_per_block;
	model->insns = launch->insns;
	model->warps = launch->warps;
	rc = sgpu_launch_start(model, registers);
	if (rc != 0)
		return rc;
	launch->is_attached = true;
	gpu->launches++;
	return 0;
}

int fakerm_launch_create(struct fakerm_file *file, struct sgpu_launch_args *args)
{
	u64 registers[SGPU_REGISTERS];
	struct fakerm_launch *launch;
	struct fakerm_gpu *gpu;
	int rc;

	rc = args_check(args);
	if (rc != 0)
		return rc;
	if (args->registers &&
	    copy_from_user(registers, u64_to_user_ptr(args->registers), sizeof(registers)))
		return -EFAULT;
	rc = memory_create(args, &launch);
	if (rc != 0)
		return rc;
	gpu = fakerm_gpus[args->gpu];
	kref_init(&launch->refs);
	/* Whole before it is attached: from then on its channel may go, and detach it. */
	fakerm_object_add(&launch->object, FAKERM_LAUNCH, gpu);
	mutex_lock(&gpu->lock);
	rc = attach(gpu, launch, args, args->registers ? registers : NULL);
	mutex_unlock(&gpu->lock);
	if (rc != 0) {
		fakerm_object_remove(&launch->object);
		memory_free(launch);
		return rc;
	}
	args->launch = launch->launch.id;
	mutex_lock(&file->lock);
	list_add(&launch->of_file, &file->launches);
	mutex_unlock(&file->lock);
	fakerm_engine_wake(gpu);
	return 0;
}

/* --- the others ---------------------------------------------------------------- */

static void count_warps(struct fakerm_launch *launch, struct sgpu_wait_args *args)
{
	struct sgpu_warp_report report;
	u32 i;

	args->exited = args->faulted = args->killed = args->illegal = 0;
	args->misses = 0;
	for (i = 0; i < launch->launch.warp_count; i++) {
		sgpu_launch_report(&launch->launch, i, &report);
		args->exited += report.state == SGPU_WARP_EXITED;
		args->faulted += report.state == SGPU_WARP_FAULTED;
		args->killed += report.state == SGPU_WARP_KILLED;
		args->illegal += report.state == SGPU_WARP_ILLEGAL;
		args->misses += report.misses;
	}
}

int fakerm_launch_wait(struct fakerm_file *file, struct sgpu_wait_args *args)
{
	struct fakerm_launch *launch;
	struct fakerm_gpu *gpu;
	long left = 1;
	int rc = find(file, args->gpu, args->launch, &launch);

	if (rc != 0)
		return rc;
	gpu = launch->object.gpu;
	if (args->timeout_ms != 0)
		left = wait_event_interruptible_timeout(gpu->done_wait, READ_ONCE(launch->is_done),
							msecs_to_jiffies(args->timeout_ms));
	if (left >= 0) {
		mutex_lock(&gpu->lock);
		args->is_done = sgpu_launch_is_done(&launch->launch);
		count_warps(launch, args);
		mutex_unlock(&gpu->lock);
	}
	kref_put(&launch->refs, release);
	return left < 0 ? -EINTR : 0;
}

int fakerm_launch_warp(struct fakerm_file *file, struct sgpu_warp_args *args)
{
	struct fakerm_launch *launch;
	int rc;

	if (args->reserved != 0)
		return -EINVAL;
	rc = find(file, args->gpu, args->launch, &launch);
	if (rc != 0)
		return rc;
	if (args->warp >= launch->launch.warp_count) {
		kref_put(&launch->refs, release);
		return -EINVAL;
	}
	mutex_lock(&launch->object.gpu->lock);
	sgpu_launch_report(&launch->launch, args->warp, &args->report);
	mutex_unlock(&launch->object.gpu->lock);
	kref_put(&launch->refs, release);
	return 0;
}

/* No call finds it any more; what runs is killed. */
static void retire(struct fakerm_launch *launch)
{
	mutex_lock(&launch->object.gpu->lock);
	detach(launch);
	mutex_unlock(&launch->object.gpu->lock);
	kref_put(&launch->refs, release);
}

int fakerm_launch_free(struct fakerm_file *file, const struct sgpu_launch_id *id)
{
	struct fakerm_launch *launch;
	bool is_ours;
	int rc = find(file, id->gpu, id->launch, &launch);

	if (rc != 0)
		return rc;
	mutex_lock(&file->lock);
	/* Two threads may have found it. */
	is_ours = !list_empty(&launch->of_file);
	list_del_init(&launch->of_file);
	mutex_unlock(&file->lock);
	if (is_ours)
		retire(launch);
	kref_put(&launch->refs, release);
	return is_ours ? 0 : -ENOENT;
}

void fakerm_launch_free_all(struct fakerm_file *file)
{
	struct fakerm_launch *launch;
	struct fakerm_launch *next;

	/* The file is closed: no call is under way. */
	list_for_each_entry_safe(launch, next, &file->launches, of_file)
	{
		list_del_init(&launch->of_file);
		retire(launch);
	}
}
