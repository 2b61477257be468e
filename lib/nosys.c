/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/nosys.h"

#include <string.h>

#include "lib/log.h"

static int nosys(const char *operation)
{
	return wic_fail(-ENOTSUP, "%s: not an operation of this back-end", operation);
}

uint32_t wic_nosys_probe(struct wic_probe *probes_out, uint32_t max)
{
	(void)probes_out;
	(void)max;
	return 0;
}

int wic_nosys_open(const struct wic_config *cfg, struct wic_be **be_out)
{
	(void)cfg;
	(void)be_out;
	return nosys("open");
}

void wic_nosys_close(struct wic_be *be)
{
	(void)be;
}

const char *wic_nosys_describe(const struct wic_be *be)
{
	(void)be;
	return "no description";
}

int wic_nosys_channel_create(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
			     struct wic_be_channel **ch_out)
{
	(void)be;
	(void)d;
	(void)id;
	(void)ch_out;
	return nosys("channel_create");
}

void wic_nosys_channel_close(struct wic_be_channel *ch)
{
	(void)ch;
}

void wic_nosys_channel_destroy(struct wic_be_channel *ch)
{
	(void)ch;
}

void wic_nosys_channel_handle(const struct wic_be_channel *ch, struct wic_handle *handle_out)
{
	(void)ch;
	memset(handle_out, 0, sizeof(*handle_out));
}

int wic_nosys_stage(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		    void **buffer_out)
{
	(void)ch;
	(void)tag;
	(void)epoch;
	(void)timeout_ns;
	(void)buffer_out;
	return nosys("stage");
}

int wic_nosys_publish(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
		      uint64_t epoch)
{
	(void)ch;
	(void)tag_first;
	(void)tag_count;
	(void)epoch;
	return nosys("publish");
}

void wic_nosys_owner_died(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count)
{
	(void)ch;
	(void)tag_first;
	(void)tag_count;
}

int wic_nosys_host_request(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			   uint64_t timeout_ns, const void **data_out)
{
	(void)ch;
	(void)tag;
	(void)epoch;
	(void)timeout_ns;
	(void)data_out;
	return nosys("host_request");
}

int wic_nosys_host_release(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	(void)ch;
	(void)tag;
	(void)epoch;
	return nosys("host_release");
}

uint64_t *wic_nosys_cancel_word(struct wic_be *be)
{
	(void)be;
	return NULL;
}

int wic_nosys_waiters(struct wic_be *be, struct wic_waiter *waiters_out, size_t max,
		      size_t *count_out)
{
	(void)be;
	(void)waiters_out;
	(void)max;
	(void)count_out;
	return nosys("waiters");
}

int wic_nosys_launch(struct wic_be *be, const struct wic_launch_desc *l)
{
	(void)be;
	(void)l;
	return nosys("launch");
}

int wic_nosys_check(struct wic_be *be, const struct wic_launch_desc *l, struct wic_fit *fit_out)
{
	(void)be;
	(void)l;
	(void)fit_out;
	return nosys("check");
}

int wic_nosys_check_word(struct wic_be *be, const uint64_t *word)
{
	(void)be;
	(void)word;
	return nosys("check_word");
}

int wic_nosys_sync(struct wic_be *be, uint32_t device, uint64_t timeout_ns)
{
	(void)device;
	(void)be;
	(void)timeout_ns;
	return 0;
}

int wic_nosys_mem_alloc(struct wic_be *be, enum wic_mem kind, struct wic_device_id device,
			size_t bytes, void **p_out)
{
	(void)be;
	(void)kind;
	(void)device;
	(void)bytes;
	(void)p_out;
	return nosys("mem_alloc");
}

void wic_nosys_mem_free(struct wic_be *be, void *p)
{
	(void)be;
	(void)p;
}

int wic_nosys_mem_copy(struct wic_be *be, void *dst, const void *src, size_t bytes)
{
	(void)be;
	(void)dst;
	(void)src;
	(void)bytes;
	return nosys("mem_copy");
}

void wic_nosys_geometry(const struct wic_be *be, struct wic_geometry *geometry_out)
{
	(void)be;
	memset(geometry_out, 0, sizeof(*geometry_out));
}

void wic_nosys_stats(struct wic_be *be, struct wic_stats *stats_out)
{
	(void)be;
	(void)stats_out;
}

int wic_nosys_events(struct wic_be *be, struct wic_event *events_out, size_t events_max,
		     size_t *count_out)
{
	(void)be;
	(void)events_out;
	(void)events_max;
	(void)count_out;
	return nosys("events");
}
