// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A back-end that does nothing, so that what is left is what the API itself costs: its
 * checks, its calls, its error texts.  It carries no data and wakes nobody:
 *
 *	stage		gives the channel's one buffer at once, the same for each tag
 *	publish		stores the epoch, a word a tag, and asks nothing
 *	host_request	returns 0 at once: there are no warps, so what they would publish counts
 *			as published; the data is that one buffer
 *	launch		-ENOTSUP: a kernel that does not wait for its data would be wrong, and
 *			its time would say nothing
 *
 * What lib/ refuses is refused here too, and nothing else is.  "auto" never takes it: a
 * program that got it unasked would compute with data that never came.
 *
 * Locking: none; a channel's words are atomic, the rest is constant.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/log.h"
#include "lib/nosys.h"

#define BUFFER_ALIGN 64 /* what wic_stage() documents */

struct wic_be {
	uint64_t cancel; /* wic_cancel()'s store goes somewhere; no wait looks at it */
};

struct wic_be_channel {
	unsigned char *buffer; /* owned */
	uint64_t epochs[];     /* a tag; release stores, nobody acquires them */
};

static uint32_t be_probe(struct wic_probe *probes_out, uint32_t max)
{
	if (!max)
		return 0;
	probes_out->works = true;
	snprintf(probes_out->name, sizeof(probes_out->name), "nil");
	snprintf(probes_out->text, sizeof(probes_out->text),
		 "carries nothing and runs no kernel, to measure the API itself; by name only");
	return 1;
}

static int be_open(const struct wic_config *cfg, struct wic_be **be_out)
{
	struct wic_be *be = calloc(1, sizeof(*be));

	(void)cfg;
	if (!be)
		return wic_fail(-ENOMEM, "a context");
	*be_out = be;
	return 0;
}

static void be_close(struct wic_be *be)
{
	free(be);
}

static const char *be_describe(const struct wic_be *be)
{
	(void)be;
	return "nil, carries nothing and runs no kernel";
}

static int channel_create(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
			  struct wic_be_channel **ch_out)
{
	/* bytes_per_tag is at most half a pool, which keeps this far from an overflow. */
	size_t bytes = (d->bytes_per_tag + BUFFER_ALIGN) / BUFFER_ALIGN * BUFFER_ALIGN;
	struct wic_be_channel *ch = calloc(1, sizeof(*ch) + d->tags * sizeof(ch->epochs[0]));

	(void)be;
	(void)id;
	if (!ch)
		return wic_fail(-ENOMEM, "a channel of %u tags", d->tags);
	ch->buffer = aligned_alloc(BUFFER_ALIGN, bytes);
	if (!ch->buffer) {
		free(ch);
		return wic_fail(-ENOMEM, "a buffer of %zu bytes", bytes);
	}
	/* A reader finds zeros, not what was in this memory before. */
	for (size_t i = 0; i < bytes; i++)
		ch->buffer[i] = 0;
	*ch_out = ch;
	return 0;
}

static void channel_close(struct wic_be_channel *ch)
{
	(void)ch;
}

static void channel_destroy(struct wic_be_channel *ch)
{
	free(ch->buffer);
	free(ch);
}

static int stage(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		 void **buffer_out)
{
	(void)tag;
	(void)epoch;
	(void)timeout_ns;
	*buffer_out = ch->buffer;
	return 0;
}

static int publish(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
		   uint64_t epoch)
{
	/* The least that any back-end's publish has to do. */
	for (uint32_t i = 0; i < tag_count; i++)
		__atomic_store_n(&ch->epochs[tag_first + i], epoch, __ATOMIC_RELEASE);
	return 0;
}

static int host_request(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			uint64_t timeout_ns, const void **data_out)
{
	(void)tag;
	(void)epoch;
	(void)timeout_ns;
	if (data_out)
		*data_out = ch->buffer;
	return 0;
}

static int host_release(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	(void)ch;
	(void)tag;
	(void)epoch;
	return 0;
}

static uint64_t *cancel_word(struct wic_be *be)
{
	return &be->cancel;
}

static int waiters(struct wic_be *be, struct wic_waiter *waiters_out, size_t max, size_t *count_out)
{
	(void)be;
	(void)waiters_out;
	(void)max;
	*count_out = 0;
	return 0;
}

const struct wic_be_ops wic_be_nil = {
	.name = "nil",
	.caps = WIC_BE_CAP_PULL,
	.by_name_only = true,
	.probe = be_probe,
	.open = be_open,
	.close = be_close,
	.describe = be_describe,
	.channel_create = channel_create,
	.channel_close = channel_close,
	.channel_destroy = channel_destroy,
	.channel_handle = wic_nosys_channel_handle,
	.stage = stage,
	.publish = publish,
	.owner_died = wic_nosys_owner_died,
	.host_request = host_request,
	.host_release = host_release,
	.cancel_word = cancel_word,
	.waiters = waiters,
	.launch = wic_nosys_launch,
	.check = wic_nosys_check,
	.check_word = wic_nosys_check_word,
	.sync = wic_nosys_sync,
	.mem_alloc = wic_plain_mem_alloc,
	.mem_free = wic_plain_mem_free,
	.mem_copy = wic_plain_mem_copy,
	.geometry = wic_nosys_geometry,
	.stats = wic_nosys_stats,
	.events = wic_nosys_events,
};
