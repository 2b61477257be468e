// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cuda/be.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/nosys.h"

/* ---- entering the driver ---------------------------------------------------------------- */

bool wic_cuda_is_dead(const struct wic_be *be)
{
	return __atomic_load_n(&be->is_dead, __ATOMIC_ACQUIRE);
}

int wic_cuda_check_alive(const struct wic_be *be)
{
	return wic_cuda_is_dead(be) ? wic_fail(-EIO, "the context is dead: the device was lost")
				    : 0;
}

/* The device is lost to this context: whatever waits on the host ends. */
static void die(struct wic_be *be)
{
	if (__atomic_exchange_n(&be->is_dead, 1, __ATOMIC_ACQ_REL))
		return;
	wic_log(WIC_LOG_ERROR, "%s: the context is dead, all waits end", wic_last_error());
	if (be->control_truth)
		__atomic_store_n(&be->control_truth[WIC_TREE_CANCEL], WIC_BE_CANCEL_FOR_GOOD,
				 __ATOMIC_RELEASE);
}

int wic_cuda_be_fail(struct wic_be *be, int result, const char *what)
{
	int rc = wic_cuda_fail(be->d, result, what);

	if (rc == -EIO)
		die(be);
	return rc;
}

int wic_cuda_enter(struct wic_be *be)
{
	return wic_cuda_be_fail(be, be->d->ctx_push_current(be->context), "cuCtxPushCurrent");
}

void wic_cuda_leave(struct wic_be *be)
{
	struct wic_cu_context *context;

	(void)be->d->ctx_pop_current(&context);
}

/* ---- the GPU ----------------------------------------------------------------------------- */

static int attribute(const struct wic_cuda_driver *d, int device, int which, uint32_t *value_out)
{
	int value = 0;
	int rc = wic_cuda_fail(d, d->device_get_attribute(&value, which, device),
			       "cuDeviceGetAttribute");

	*value_out = (uint32_t)value;
	return rc;
}

static int gpu_read(const struct wic_cuda_driver *d, struct cuda_gpu *g)
{
	static const struct {
		int which;
		size_t offset;
	} wanted[] = {
		{ WIC_CU_DEVICE_CAPABILITY_MAJOR, offsetof(struct cuda_gpu, major) },
		{ WIC_CU_DEVICE_CAPABILITY_MINOR, offsetof(struct cuda_gpu, minor) },
		{ WIC_CU_DEVICE_SM_COUNT, offsetof(struct cuda_gpu, sms) },
		{ WIC_CU_DEVICE_MAX_THREADS_PER_SM, offsetof(struct cuda_gpu, sm_threads) },
		{ WIC_CU_DEVICE_MAX_BLOCKS_PER_SM, offsetof(struct cuda_gpu, sm_blocks) },
		{ WIC_CU_DEVICE_MAX_SHARED_PER_BLOCK_OPTIN,
		  offsetof(struct cuda_gpu, block_shared_bytes) },
	};
	uint32_t unified;
	int rc = wic_cuda_fail(d, d->device_get(&g->device, 0), "cuDeviceGet");

	if (!rc)
		rc = wic_cuda_fail(d, d->device_get_name(g->name, sizeof(g->name), g->device),
				   "cuDeviceGetName");
	if (!rc)
		rc = wic_cuda_fail(d, d->driver_get_version(&g->version), "cuDriverGetVersion");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted) && !rc; i++)
		rc = attribute(d, g->device, wanted[i].which,
			       (uint32_t *)(void *)((char *)g + wanted[i].offset));
	if (!rc)
		rc = attribute(d, g->device, WIC_CU_DEVICE_UNIFIED_ADDRESSING, &unified);
	if (rc)
		return rc;
	g->parks_on_mbarriers = g->major >= 9;
	if (g->major * 10 + g->minor < 75)
		return wic_fail(-ENOTSUP, "%s is of compute capability %d.%d, 7.5 is the least",
				g->name, g->major, g->minor);
	if (!unified)
		return wic_fail(-ENOTSUP, "%s has no unified addresses with the host", g->name);
	return 0;
}

static void gpu_say(const struct cuda_gpu *g, char *text_out, size_t bytes)
{
	snprintf(text_out, bytes, "%s (sm_%d%d, %" PRIu32 " SMs, driver %d.%d), warps park on %s",
		 g->name, g->major, g->minor, g->sms, g->version / 1000, g->version % 1000 / 10,
		 g->parks_on_mbarriers ? "mbarriers" : "sleeps at a word of shared memory");
}

/* ---- the context ------------------------------------------------------------------------- */

static int control_create(struct wic_be *be)
{
	const size_t line = WIC_TREE_LINE_TAGS * sizeof(uint64_t);
	const size_t pinned = CUDA_ALIGN + sizeof(struct wic_tree_line) +
			      WIC_PUSH_REPORTS * sizeof(struct wic_push_report);
	struct wic_tree_line control;
	unsigned char *at;
	int rc = wic_cuda_pinned_alloc(be, pinned, &be->pinned);

	_Static_assert(WIC_TREE_LINE_TAGS * sizeof(uint64_t) <= CUDA_ALIGN, "a line of truth");
	if (rc)
		return rc;
	at = be->pinned;
	be->control_truth = (uint64_t *)(void *)at;
	be->control_host = (struct wic_tree_line *)(void *)(at + CUDA_ALIGN);
	be->reports = (struct wic_push_report *)(void *)(be->control_host + 1);
	rc = wic_cuda_memory_alloc(be, sizeof(struct wic_tree_line) + line, &be->memory);
	if (rc)
		return rc;
	be->control_device = (struct wic_tree_line *)(uintptr_t)be->memory;
	be->report_count = (uint64_t *)(void *)(be->control_device + 1);
	wic_tree_control_set(be->control_host, be->control_host, be->control_truth);
	wic_tree_control_set(&control, be->control_device, be->control_truth);
	return wic_cuda_copy_to(be, be->memory, &control, sizeof(control));
}

static void be_close(struct wic_be *be)
{
	if (be->reports)
		wic_cuda_reports_say(be);
	wic_cuda_launch_fini(be);
	wic_cuda_memory_free(be, be->memory);
	be->control_truth = NULL;
	wic_cuda_pinned_free(be, be->pinned);
	wic_cuda_hosts_fini(&be->hosts);
	(void)wic_cuda_fail(be->d, be->d->device_primary_ctx_release(be->gpu.device),
			    "cuDevicePrimaryCtxRelease");
	pthread_mutex_destroy(&be->lock);
	pthread_mutex_destroy(&be->report_lock);
	free(be);
}

static void look_around(struct wic_be *be)
{
	struct cuda_seen seen;

	wic_cuda_seen(be->d, be->gpu.device, be->gpu.version, be->cfg.devices, &seen);
	wic_cuda_seen_log(&seen, be->hang, sizeof(be->hang));
}

static int be_open(const struct wic_config *cfg, struct wic_be **be_out)
{
	const struct wic_cuda_driver *d;
	struct wic_be *be;
	int rc = wic_cuda_driver_get(&d);

	if (rc)
		return rc;
	be = calloc(1, sizeof(*be));
	if (!be)
		return wic_fail(-ENOMEM, "a context");
	be->d = d;
	be->cfg = *cfg;
	rc = gpu_read(d, &be->gpu);
	if (!rc)
		rc = wic_cuda_fail(d, d->device_primary_ctx_retain(&be->context, be->gpu.device),
				   "cuDevicePrimaryCtxRetain");
	if (rc) {
		free(be);
		return rc;
	}
	pthread_mutex_init(&be->lock, NULL);
	pthread_mutex_init(&be->report_lock, NULL);
	rc = wic_cuda_hosts_init(&be->hosts);
	if (!rc)
		rc = control_create(be);
	if (!rc)
		rc = wic_cuda_launch_init(be);
	if (rc) {
		be_close(be);
		return rc;
	}
	look_around(be);
	snprintf(be->description, sizeof(be->description), "cuda, ");
	gpu_say(&be->gpu, be->description + 6, sizeof(be->description) - 6);
	*be_out = be;
	return 0;
}

static const char *be_describe(const struct wic_be *be)
{
	return be->description;
}

/* A probe for each thing that is seen here, for a context of one logical device. */
static uint32_t probe_seen(const struct wic_cuda_driver *d, const struct cuda_gpu *gpu,
			   struct wic_probe *probes_out, uint32_t max)
{
	enum cuda_seen_level level;
	struct cuda_seen seen;
	const char *what;
	uint32_t count = 0;

	_Static_assert(sizeof(probes_out->text) == CUDA_SEEN_BYTES, "a sentence is a probe's text");
	wic_cuda_seen(d, gpu->device, gpu->version, 1, &seen);
	for (uint32_t i = 0;
	     count < max && wic_cuda_seen_say(&seen, i, &what, &level, probes_out[count].text);
	     i++) {
		struct wic_probe *p = &probes_out[count];

		if (!*p->text)
			continue;
		snprintf(p->name, sizeof(p->name), "cuda/%s", what);
		p->works = true;
		count++;
	}
	return count;
}

static uint32_t be_probe(struct wic_probe *probes_out, uint32_t max)
{
	const struct wic_cuda_driver *d;
	struct cuda_gpu gpu;

	if (!max)
		return 0;
	snprintf(probes_out->name, sizeof(probes_out->name), "cuda");
	probes_out->works = !wic_cuda_driver_get(&d) && !gpu_read(d, &gpu);
	if (!probes_out->works) {
		snprintf(probes_out->text, sizeof(probes_out->text), "%s", wic_last_error());
		return 1;
	}
	gpu_say(&gpu, probes_out->text, sizeof(probes_out->text));
	return 1 + probe_seen(d, &gpu, probes_out + 1, max - 1);
}

static uint64_t *be_cancel_word(struct wic_be *be)
{
	return &be->control_truth[WIC_TREE_CANCEL];
}

static void be_geometry(const struct wic_be *be, struct wic_geometry *geometry_out)
{
	geometry_out->sms = be->gpu.sms;
	geometry_out->sm_threads = be->gpu.sm_threads;
	geometry_out->sm_blocks = be->gpu.sm_blocks;
}

const struct wic_be_ops wic_be_cuda = {
	.name = "cuda",
	.caps = WIC_BE_CAP_PUSH | WIC_BE_CAP_GPU,
	.probe = be_probe,
	.open = be_open,
	.close = be_close,
	.describe = be_describe,
	.channel_create = wic_cuda_channel_create,
	.channel_close = wic_cuda_channel_close,
	.channel_destroy = wic_cuda_channel_destroy,
	.channel_handle = wic_cuda_channel_handle,
	.stage = wic_cuda_stage,
	.publish = wic_cuda_publish,
	.owner_died = wic_cuda_owner_died,
	.host_request = wic_cuda_host_request,
	.host_release = wic_cuda_host_release,
	.cancel_word = be_cancel_word,
	.waiters = wic_nosys_waiters,
	.launch = wic_cuda_launch,
	.check = wic_cuda_check,
	.check_word = wic_cuda_check_word,
	.sync = wic_cuda_sync,
	.mem_alloc = wic_cuda_mem_alloc,
	.mem_free = wic_cuda_mem_free,
	.mem_copy = wic_cuda_mem_copy,
	.geometry = be_geometry,
	.stats = wic_nosys_stats,
	.events = wic_nosys_events,
};
