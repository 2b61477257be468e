/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The engine: its memory, its entry check and the queue of actions. */
#include "core/engine_types.h"

/* --- memory ------------------------------------------------------------------ */

static bool params_are_valid(const struct wic_engine_params *p)
{
	return p && p->channels_max >= 1 && p->channels_max <= 65535 && p->tags_max >= 1 &&
	       p->tags_max <= 1u << 24 && p->requests_max >= 1 && p->requests_max <= 1u << 20 &&
	       p->wants_max >= p->requests_max && p->wants_max <= 1u << 22 &&
	       p->pages <= WIC_ENGINE_PAGES_MAX;
}

static uint32_t params_buckets(const struct wic_engine_params *p)
{
	uint32_t buckets = 1;

	while (buckets < p->requests_max)
		buckets *= 2;
	return buckets;
}

static uint32_t params_queue_ids(const struct wic_engine_params *p)
{
	return p->requests_max + 2 * p->pages + 1;
}

/* The next @count objects of @size bytes; @offset moves on, 16-aligned.  Sums stay far under 2^63.
 */
static size_t layout_put(size_t *offset, size_t count, size_t size)
{
	size_t at = *offset;

	*offset = (at + count * size + 15) & ~(size_t)15;
	return at;
}

struct layout {
	size_t channels, tags, requests, wants, pages, buckets, queue, by_epoch, by_deadline;
	size_t end;
};

static struct layout layout_make(const struct wic_engine_params *p)
{
	struct layout l = { 0 };
	size_t node = sizeof(struct wic_heap_node);

	layout_put(&l.end, 1, sizeof(struct wic_engine));
	l.channels = layout_put(&l.end, p->channels_max, sizeof(struct wic_core_channel));
	l.tags = layout_put(&l.end, p->tags_max, sizeof(struct wic_core_tag));
	l.requests = layout_put(&l.end, p->requests_max, sizeof(struct wic_core_request));
	l.wants = layout_put(&l.end, p->wants_max, sizeof(struct wic_core_want));
	l.pages = layout_put(&l.end, p->pages, sizeof(struct wic_core_page));
	l.buckets = layout_put(&l.end, params_buckets(p), sizeof(uint32_t));
	l.queue = layout_put(&l.end, params_queue_ids(p), sizeof(uint32_t));
	l.by_epoch = layout_put(&l.end, p->wants_max, node);
	l.by_deadline = layout_put(&l.end, p->requests_max, node);
	return l;
}

size_t wic_engine_bytes(const struct wic_engine_params *p)
{
	return params_are_valid(p) ? layout_make(p).end : 0;
}

static void queue_init(struct wic_engine *e)
{
	uint32_t i;

	for (i = 0; i < params_queue_ids(&e->params); i++)
		e->queue_next[i] = WIC_QUEUE_OUT;
	e->queue_first = e->queue_last = WIC_NONE;
	e->queue_length = 0;
	e->armed_ns = WIC_DEADLINE_NEVER;
}

int wic_engine_init(void *mem, size_t mem_bytes, const struct wic_engine_params *p,
		    struct wic_engine **e_out)
{
	const struct wic_engine_counters zero = { 0 };
	size_t bytes = wic_engine_bytes(p);
	struct wic_engine *e = mem;
	struct layout l;
	char *base = mem;

	if (!bytes || !mem || !e_out || (uintptr_t)mem % 16 || mem_bytes < bytes)
		return -EINVAL;
	l = layout_make(p);
	e->params = *p;
	e->channels = (void *)(base + l.channels);
	e->tags = (void *)(base + l.tags);
	e->requests = (void *)(base + l.requests);
	e->wants = (void *)(base + l.wants);
	e->pages = (void *)(base + l.pages);
	e->buckets = (void *)(base + l.buckets);
	e->queue_next = (void *)(base + l.queue);
	e->by_epoch.nodes = (void *)(base + l.by_epoch);
	e->by_epoch.steps = 0;
	e->by_deadline.nodes = (void *)(base + l.by_deadline);
	e->by_deadline.steps = 0;
	e->buckets_mask = params_buckets(p) - 1;
	e->counters = zero;
	e->magic = WIC_ENGINE_MAGIC;
	e->dead = false;
	queue_init(e);
	wic_dab_init(e);
	wic_pfq_init(e);
	wic_pcm_init(e);
	*e_out = e;
	return 0;
}

/* --- entry and leave --------------------------------------------------------- */

/* O(1): what a stray write or a lost link would show in first. */
int wic_engine_enter(struct wic_engine *e)
{
	if (WIC_CORE_UNLIKELY(e->dead))
		return -EIO;
	WIC_ENGINE_ASSERT(e, e->magic == WIC_ENGINE_MAGIC);
	WIC_ENGINE_ASSERT(e, e->requests_used <= e->params.requests_max);
	WIC_ENGINE_ASSERT(e, e->wants_used <= e->params.wants_max);
	WIC_ENGINE_ASSERT(e, e->wants_used >= e->requests_used);
	WIC_ENGINE_ASSERT(e, (e->requests_free == WIC_NONE) ==
				     (e->requests_used == e->params.requests_max));
	WIC_ENGINE_ASSERT(e, (e->wants_free == WIC_NONE) == (e->wants_used == e->params.wants_max));
	WIC_ENGINE_ASSERT(e, e->queue_length <= params_queue_ids(&e->params));
	WIC_ENGINE_ASSERT(e, (e->queue_first == WIC_NONE) == (e->queue_length == 0));
	WIC_ENGINE_ASSERT(e, e->deadline_root == WIC_HEAP_NONE ||
				     (e->deadline_root < e->params.requests_max &&
				      e->requests[e->deadline_root].timed));
	return e->dead ? -EIO : 0;
}

static uint64_t earliest_ns(const struct wic_engine *e)
{
	if (e->deadline_root == WIC_HEAP_NONE)
		return WIC_DEADLINE_NEVER;
	return e->requests[e->deadline_root].deadline_ns;
}

int wic_engine_leave(struct wic_engine *e)
{
	uint32_t timer = wic_queue_id_timer(e);

	if (earliest_ns(e) != e->armed_ns && !wic_queue_has(e, timer))
		wic_queue_put(e, timer);
	return e->dead ? -EIO : 0;
}

/* --- queue ------------------------------------------------------------------- */

void wic_queue_put(struct wic_engine *e, uint32_t id)
{
	WIC_ENGINE_ASSERT(e, !wic_queue_has(e, id));
	if (e->dead)
		return;
	e->queue_next[id] = WIC_NONE;
	if (e->queue_first == WIC_NONE)
		e->queue_first = id;
	else
		e->queue_next[e->queue_last] = id;
	e->queue_last = id;
	e->queue_length++;
}

static uint32_t queue_pop(struct wic_engine *e)
{
	uint32_t id = e->queue_first;

	WIC_ENGINE_ASSERT(e, e->queue_length > 0);
	e->queue_first = e->queue_next[id];
	e->queue_next[id] = WIC_QUEUE_OUT;
	e->queue_length--;
	if (e->queue_first == WIC_NONE)
		e->queue_last = WIC_NONE;
	return id;
}

static struct wic_action action_make(void)
{
	struct wic_action a = { 0 };

	a.cookie = WIC_COOKIE_NONE;
	a.at_ns = WIC_DEADLINE_NEVER;
	a.run.first = WIC_PAGE_NONE;
	return a;
}

bool wic_engine_next(struct wic_engine *e, struct wic_action *action_out)
{
	while (!e->dead && e->queue_first != WIC_NONE) {
		struct wic_action a = action_make();
		uint32_t id = queue_pop(e);

		if (id == wic_queue_id_timer(e)) {
			if (earliest_ns(e) == e->armed_ns)
				continue; /* changed back meanwhile */
			a.kind = WIC_ACTION_TIMER;
			a.at_ns = e->armed_ns = earliest_ns(e);
		} else if (id < e->params.requests_max) {
			wic_pfq_pull(e, id, &a);
		} else if (id < wic_queue_id_late(e, 0)) {
			wic_pcm_pull_run(e, id - wic_queue_id_run(e, 0), &a);
		} else {
			wic_pcm_pull_late(e, id - wic_queue_id_late(e, 0), &a);
		}
		if (e->dead)
			return false;
		*action_out = a;
		return true;
	}
	return false;
}

/* --- looking ----------------------------------------------------------------- */

void wic_engine_counters(const struct wic_engine *e, struct wic_engine_counters *out)
{
	*out = e->counters;
}

bool wic_engine_is_dead(const struct wic_engine *e)
{
	return e->dead;
}
