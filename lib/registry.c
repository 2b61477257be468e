/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/registry.h"

#include <stdio.h>
#include <string.h>

#include "lib/log.h"
#include "lib/nosys.h"

#define CAPS_KNOWN (WIC_BE_CAP_PULL | WIC_BE_CAP_PUSH | WIC_BE_CAP_EVENTS | WIC_BE_CAP_GPU)

static const struct wic_be_ops *const built_in[] = { &wic_be_cuda, &wic_be_cpu, &wic_be_nil, NULL };
static const struct wic_be_ops *const *backends = built_in;

const struct wic_be_ops *const *wic_backends(void)
{
	return backends;
}

void wic_backends_set(const struct wic_be_ops *const *list)
{
	backends = list ? list : built_in;
}

static const char *empty_slot(const struct wic_be_ops *ops)
{
	if (!ops->probe || !ops->open || !ops->close || !ops->describe)
		return "probe, open, close or describe";
	if (!ops->channel_create || !ops->channel_close || !ops->channel_destroy ||
	    !ops->channel_handle)
		return "channel_create, channel_close, channel_destroy or channel_handle";
	if (!ops->stage || !ops->publish)
		return "stage or publish";
	if (!ops->cancel_word || !ops->waiters)
		return "cancel_word or waiters";
	if (!ops->owner_died || !ops->host_request || !ops->host_release)
		return "owner_died, host_request or host_release";
	if (!ops->mem_alloc || !ops->mem_free || !ops->mem_copy || !ops->geometry)
		return "mem_alloc, mem_free, mem_copy or geometry";
	if (!ops->launch || !ops->sync || !ops->stats || !ops->events)
		return "launch, sync, stats or events";
	if (!ops->check || !ops->check_word)
		return "check or check_word";
	return NULL;
}

/* What caps promise and the operations do not hold, or the other way round; NULL: they agree. */
static const char *caps_mismatch(const struct wic_be_ops *ops)
{
	bool has_channels = ops->caps & (WIC_BE_CAP_PULL | WIC_BE_CAP_PUSH);
	bool has_events = ops->caps & WIC_BE_CAP_EVENTS;
	bool is_gpu = ops->caps & WIC_BE_CAP_GPU;

	if (ops->caps & ~CAPS_KNOWN)
		return "an unknown capability";
	if (has_channels != (ops->channel_create != wic_nosys_channel_create))
		return "PULL, PUSH and channel_create do not agree";
	if (has_channels != (ops->channel_close != wic_nosys_channel_close) ||
	    has_channels != (ops->channel_destroy != wic_nosys_channel_destroy))
		return "PULL, PUSH and channel_close or channel_destroy do not agree";
	if (has_channels != (ops->publish != wic_nosys_publish))
		return "PULL, PUSH and publish do not agree";
	if (has_channels != (ops->stage != wic_nosys_stage))
		return "PULL, PUSH and stage do not agree";
	if (has_events != (ops->events != wic_nosys_events))
		return "EVENTS and events do not agree";
	/* The host cannot touch what a GPU's own memory is, and somebody has to size grids. */
	if (is_gpu != (ops->geometry != wic_nosys_geometry))
		return "GPU and geometry do not agree";
	if (is_gpu && ops->mem_alloc == wic_plain_mem_alloc)
		return "GPU and mem_alloc do not agree";
	return NULL;
}

int wic_be_check(const struct wic_be_ops *ops)
{
	const char *wrong;

	if (!ops->name || !ops->name[0] || !strcmp(ops->name, "auto")) {
		wic_log(WIC_LOG_ERROR, "a back-end has no name of its own");
		return wic_fail(-ENOTSUP, "a back-end has no name of its own");
	}
	wrong = empty_slot(ops);
	if (wrong) {
		wic_log(WIC_LOG_ERROR, "back-end %s: empty slot: %s", ops->name, wrong);
		return wic_fail(-ENOTSUP, "back-end %s: empty slot: %s", ops->name, wrong);
	}
	wrong = caps_mismatch(ops);
	if (wrong) {
		wic_log(WIC_LOG_ERROR, "back-end %s: capabilities 0x%x: %s", ops->name, ops->caps,
			wrong);
		return wic_fail(-ENOTSUP, "back-end %s: capabilities 0x%x: %s", ops->name,
				ops->caps, wrong);
	}
	return 0;
}

static int check_all(void)
{
	int rc = 0;

	for (const struct wic_be_ops *const *b = backends; *b && !rc; b++)
		rc = wic_be_check(*b);
	return rc;
}

/* "cpu, cuda" */
static void list_names(char *names_out, size_t bytes)
{
	size_t used = 0;

	names_out[0] = 0;
	for (const struct wic_be_ops *const *b = backends; *b && used < bytes; b++)
		used += (size_t)snprintf(names_out + used, bytes - used, "%s%s", used ? ", " : "",
					 (*b)->name);
}

/* Names that are right, of back-ends that a build may lack. */
static const char *const planned[] = { "cpu", "cuda", "uvm", "sim" };

static int open_named(const struct wic_config *cfg, const char *from, char *reason_out,
		      const struct wic_be_ops **ops_out, struct wic_be **be_out)
{
	char names[96];
	int rc;

	for (const struct wic_be_ops *const *b = backends; *b; b++) {
		if (strcmp((*b)->name, cfg->backend))
			continue;
		rc = (*b)->open(cfg, be_out);
		if (rc)
			return rc;
		snprintf(reason_out, WIC_REASON_BYTES, "asked for by %s", from);
		*ops_out = *b;
		return 0;
	}
	list_names(names, sizeof(names));
	for (size_t i = 0; i < sizeof(planned) / sizeof(*planned); i++)
		if (!strcmp(planned[i], cfg->backend))
			return wic_fail(-ENOTSUP,
					"%s names back-end \"%s\", which is not in this build; it "
					"has auto, %s",
					from, cfg->backend, names);
	return wic_fail(-EINVAL, "%s names back-end \"%.64s\", this build has auto, %s", from,
			cfg->backend, names);
}

static int open_auto(const struct wic_config *cfg, char *reason_out,
		     const struct wic_be_ops **ops_out, struct wic_be **be_out)
{
	char skipped[WIC_REASON_BYTES - 40] = "";
	size_t used = 0;
	int rc;

	for (const struct wic_be_ops *const *b = backends; *b; b++) {
		if ((*b)->by_name_only)
			continue;
		rc = (*b)->open(cfg, be_out);
		if (!rc) {
			snprintf(reason_out, WIC_REASON_BYTES, "auto: %s%s",
				 used ? "the first that works here" : "the first there is",
				 skipped);
			*ops_out = *b;
			return 0;
		}
		if (rc != -ENOTSUP)
			return rc;
		if (used < sizeof(skipped))
			used += (size_t)snprintf(skipped + used, sizeof(skipped) - used,
						 "; not %s: %s", (*b)->name, wic_last_error());
	}
	return wic_fail(-ENOTSUP, "no back-end works here%s", skipped);
}

int wic_be_open(const struct wic_config *cfg, const char *from, char *reason_out,
		const struct wic_be_ops **ops_out, struct wic_be **be_out)
{
	int rc = check_all();

	if (rc)
		return rc;
	if (strcmp(cfg->backend, "auto"))
		return open_named(cfg, from, reason_out, ops_out, be_out);
	return open_auto(cfg, reason_out, ops_out, be_out);
}
