/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* DAB: channels, tags and their epochs. */
#include "core/engine_types.h"

void wic_dab_init(struct wic_engine *e)
{
	uint32_t i;

	for (i = 0; i < e->params.channels_max; i++) {
		struct wic_core_channel *ch = &e->channels[i];

		ch->tag_first = ch->tags = 0;
		ch->pending_first = ch->pending_last = WIC_NONE;
		ch->requests = ch->runs = 0;
		ch->state = WIC_CHANNEL_UNUSED;
		ch->has_data = false;
	}
	for (i = 0; i < e->params.tags_max; i++) {
		e->tags[i].epoch = 0;
		e->tags[i].filled = 0;
		e->tags[i].waiting = WIC_NONE;
		e->tags[i].channel = WIC_TAG_UNUSED;
		e->tags[i].owner_died = false;
	}
}

struct wic_core_channel *wic_dab_channel(const struct wic_engine *e, uint32_t channel)
{
	if (channel >= e->params.channels_max || e->channels[channel].state == WIC_CHANNEL_UNUSED)
		return NULL;
	return &e->channels[channel];
}

bool wic_dab_has_tags(const struct wic_core_channel *ch, uint32_t first, uint32_t count)
{
	return first < ch->tags && count >= 1 && count <= ch->tags - first;
}

/* First fit in the table of tags; steps over whole channels.  WIC_NONE: no room. */
static uint32_t tags_find(const struct wic_engine *e, uint32_t tags)
{
	uint32_t start = 0;
	uint32_t i = 0;

	while (i < e->params.tags_max && i - start < tags) {
		uint16_t channel = e->tags[i].channel;

		i++;
		if (channel == WIC_TAG_UNUSED)
			continue;
		i = e->channels[channel].tag_first + e->channels[channel].tags;
		start = i;
	}
	return i - start < tags ? WIC_NONE : start;
}

static uint32_t channel_find(const struct wic_engine *e)
{
	uint32_t i;

	for (i = 0; i < e->params.channels_max; i++)
		if (e->channels[i].state == WIC_CHANNEL_UNUSED)
			return i;
	return WIC_NONE;
}

int wic_engine_open(struct wic_engine *e, uint32_t tags, bool has_data, uint32_t *channel_out)
{
	struct wic_core_channel *ch;
	uint32_t channel;
	uint32_t first;
	uint32_t i;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	if (tags == 0 || !channel_out || (has_data && e->params.pages == 0))
		return -EINVAL;
	channel = channel_find(e);
	first = tags_find(e, tags);
	if (channel == WIC_NONE || first == WIC_NONE)
		return -ENOMEM;
	for (i = first; i < first + tags; i++) {
		WIC_ENGINE_ASSERT(e, e->tags[i].channel == WIC_TAG_UNUSED);
		WIC_ENGINE_ASSERT(e, e->tags[i].waiting == WIC_NONE);
		e->tags[i].epoch = 0;
		e->tags[i].filled = 0;
		e->tags[i].channel = (uint16_t)channel;
		e->tags[i].owner_died = false;
	}
	ch = &e->channels[channel];
	WIC_ENGINE_ASSERT(e, ch->requests == 0 && ch->runs == 0);
	ch->tag_first = first;
	ch->tags = tags;
	ch->has_data = has_data;
	ch->state = WIC_CHANNEL_OPEN;
	*channel_out = channel;
	return 0;
}

int wic_engine_close(struct wic_engine *e, uint32_t channel)
{
	struct wic_core_channel *ch;
	uint32_t request;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	ch = wic_dab_channel(e, channel);
	if (!ch || ch->state != WIC_CHANNEL_OPEN)
		return -EINVAL;
	ch->state = WIC_CHANNEL_CLOSED;
	request = ch->pending_first;
	while (request != WIC_NONE) {
		uint32_t next = e->requests[request].next;

		wic_pfq_end(e, request, -ECANCELED);
		request = next;
	}
	return wic_engine_leave(e);
}

int wic_engine_free(struct wic_engine *e, uint32_t channel)
{
	struct wic_core_channel *ch;
	uint32_t i;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	ch = wic_dab_channel(e, channel);
	if (!ch)
		return -EINVAL;
	if (ch->requests || ch->runs)
		return -EBUSY;
	WIC_ENGINE_ASSERT(e, ch->pending_first == WIC_NONE);
	for (i = ch->tag_first; i < ch->tag_first + ch->tags; i++) {
		WIC_ENGINE_ASSERT(e, e->tags[i].waiting == WIC_NONE);
		e->tags[i].channel = WIC_TAG_UNUSED;
	}
	ch->state = WIC_CHANNEL_UNUSED;
	return wic_engine_leave(e);
}

/* Every want that waits for @tag at an epoch up to the published one moves on. */
static void tag_wake(struct wic_engine *e, struct wic_core_tag *tag)
{
	while (tag->waiting != WIC_NONE && e->wants[tag->waiting].epoch <= tag->epoch) {
		uint32_t want = tag->waiting;

		tag->waiting = wic_heap_remove(&e->by_epoch, tag->waiting, want);
		e->counters.checks++;
		wic_pfq_advance(e, want);
	}
}

int wic_engine_publish(struct wic_engine *e, uint32_t channel, uint32_t tag_first,
		       uint32_t tag_count, uint64_t epoch)
{
	const struct wic_core_channel *ch;
	uint32_t i;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	ch = wic_dab_channel(e, channel);
	if (!ch || ch->state != WIC_CHANNEL_OPEN || !wic_dab_has_tags(ch, tag_first, tag_count))
		return -EINVAL;
	e->counters.publishes++;
	for (i = 0; i < tag_count; i++) {
		struct wic_core_tag *tag = &e->tags[ch->tag_first + tag_first + i];

		if (tag->epoch >= epoch)
			continue;
		tag->epoch = epoch;
		tag_wake(e, tag);
	}
	return wic_engine_leave(e);
}

int wic_engine_owner_died(struct wic_engine *e, uint32_t channel, uint32_t tag_first,
			  uint32_t tag_count)
{
	const struct wic_core_channel *ch;
	uint32_t i;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	ch = wic_dab_channel(e, channel);
	if (!ch || !wic_dab_has_tags(ch, tag_first, tag_count))
		return -EINVAL;
	for (i = 0; i < tag_count; i++) {
		struct wic_core_tag *tag = &e->tags[ch->tag_first + tag_first + i];

		tag->owner_died = true;
		/* Only wants of epochs not published are in the heap; each end takes its own out.
		 */
		while (tag->waiting != WIC_NONE && !e->dead)
			wic_pfq_end(e, e->wants[tag->waiting].request, -EOWNERDEAD);
	}
	return wic_engine_leave(e);
}

uint64_t wic_engine_epoch(const struct wic_engine *e, uint32_t channel, uint32_t tag)
{
	const struct wic_core_channel *ch = wic_dab_channel(e, channel);

	return ch && tag < ch->tags ? e->tags[ch->tag_first + tag].epoch : 0;
}
