/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* O(n) checker of every invariant of the engine; recomputes, trusts no count. */
#include "core/engine_types.h"

static uint32_t list_length(const struct wic_engine *e, uint32_t first, bool of_wants)
{
	uint32_t limit = of_wants ? e->params.wants_max : e->params.requests_max;
	uint32_t length = 0;

	for (; first != WIC_NONE && length <= limit; length++) {
		if (first >= limit)
			return WIC_NONE;
		first = of_wants ? e->wants[first].next : e->requests[first].next;
	}
	return length;
}

/* Walks the queue once; how many ids of requests, runs, pages. */
static bool queue_is_consistent(const struct wic_engine *e)
{
	uint32_t ids = e->params.requests_max + 2 * e->params.pages + 1;
	uint32_t queued = 0;
	uint32_t length = 0;
	uint32_t last = WIC_NONE;
	uint32_t id;

	for (id = 0; id < ids; id++)
		queued += wic_queue_has(e, id);
	for (id = e->queue_first; id != WIC_NONE; id = e->queue_next[id]) {
		if (id >= ids || !wic_queue_has(e, id) || ++length > queued)
			return false;
		last = id;
	}
	if (length != queued || length != e->queue_length || last != e->queue_last)
		return false;
	if (!wic_queue_has(e, wic_queue_id_timer(e))) {
		uint64_t earliest = e->deadline_root == WIC_HEAP_NONE
					    ? WIC_DEADLINE_NEVER
					    : e->requests[e->deadline_root].deadline_ns;

		return earliest == e->armed_ns;
	}
	return true;
}

/* A want that waits or is under way must have nothing to go on with. */
static bool want_is_consistent(const struct wic_engine *e, uint32_t want)
{
	const struct wic_core_want *w = &e->wants[want];
	const struct wic_core_request *r = &e->requests[w->request];
	const struct wic_core_page *run = NULL;

	if (w->tag >= e->params.tags_max || e->tags[w->tag].channel != r->channel)
		return false;
	if (w->page != WIC_PAGE_NONE) {
		run = &e->pages[w->page];
		if (run->owner != w->page || run->tag != w->tag || run->epoch != w->epoch)
			return false;
	}
	switch ((enum wic_want_state)w->state) {
	case WIC_WANT_WAITING:
		return r->state == WIC_REQUEST_PENDING && r->status == 0 &&
		       wic_pfq_look(e, want) == WIC_LOOK_WAIT &&
		       e->by_epoch.nodes[want].key == w->epoch &&
		       wic_heap_is_consistent(&e->by_epoch, e->tags[w->tag].waiting, want);
	case WIC_WANT_FILLING:
		return r->state == WIC_REQUEST_PENDING && run &&
		       (run->state == WIC_RUN_FILL || run->state == WIC_RUN_FILLING);
	case WIC_WANT_SATISFIED:
		return run ? run->state == WIC_RUN_FILLED : e->tags[w->tag].epoch >= w->epoch;
	case WIC_WANT_DROPPED:
		return r->status != 0;
	}
	return false;
}

struct tally {
	uint32_t requests;
	uint32_t wants;
	uint32_t wants_paged;
	uint32_t wants_filling;
	uint32_t pending;
};

static bool request_is_consistent(const struct wic_engine *e, uint32_t request, struct tally *t)
{
	const struct wic_core_request *r = &e->requests[request];
	bool is_pending = r->state == WIC_REQUEST_PENDING;
	uint32_t missing = 0;
	uint32_t filling = 0;
	uint32_t i;

	for (i = r->want_first; i != WIC_NONE; i = e->wants[i].next) {
		const struct wic_core_want *w = &e->wants[i];

		if (w->request != request || !want_is_consistent(e, i))
			return false;
		missing += w->state != WIC_WANT_SATISFIED;
		filling += w->state == WIC_WANT_FILLING;
		t->wants++;
		t->wants_paged += w->page != WIC_PAGE_NONE;
		if (t->wants > e->wants_used)
			return false;
	}
	t->requests++;
	t->pending += is_pending;
	t->wants_filling += filling;
	if (r->missing != missing || r->filling != filling ||
	    wic_pfq_find(e, r->cookie) != request || wic_queue_has(e, request) == is_pending)
		return false;
	if (r->timed && (e->by_deadline.nodes[request].key != r->deadline_ns ||
			 !wic_heap_is_consistent(&e->by_deadline, e->deadline_root, request)))
		return false;
	if (!is_pending)
		return !r->timed && filling == 0 && (r->status == 0) == (missing == 0);
	/* Pending for a reason: something is missing; if it is to end, a fill holds it. */
	return missing > 0 && (r->status == 0 || filling > 0) &&
	       r->timed == (r->status == 0 && r->deadline_ns != WIC_DEADLINE_NEVER);
}

static bool requests_are_consistent(const struct wic_engine *e, struct tally *t)
{
	uint32_t i;

	for (i = 0; i < e->params.requests_max; i++) {
		if (e->requests[i].state == WIC_REQUEST_FREE) {
			if (wic_queue_has(e, i) || e->requests[i].timed)
				return false;
			continue;
		}
		if (!request_is_consistent(e, i, t))
			return false;
	}
	return t->requests == e->requests_used && t->wants == e->wants_used &&
	       e->counters.pending == e->requests_used &&
	       list_length(e, e->requests_free, false) == e->params.requests_max - t->requests &&
	       list_length(e, e->wants_free, true) == e->params.wants_max - t->wants;
}

static bool channels_are_consistent(const struct wic_engine *e, const struct tally *t)
{
	uint32_t tags = 0;
	uint32_t requests = 0;
	uint32_t pending = 0;
	uint32_t i;

	for (i = 0; i < e->params.channels_max; i++) {
		const struct wic_core_channel *ch = &e->channels[i];
		uint32_t k;

		if (ch->state == WIC_CHANNEL_UNUSED)
			continue;
		for (k = 0; k < ch->tags; k++)
			if (e->tags[ch->tag_first + k].channel != i)
				return false;
		tags += ch->tags;
		requests += ch->requests;
		pending += list_length(e, ch->pending_first, false);
		for (k = ch->pending_first; k != WIC_NONE; k = e->requests[k].next)
			if (e->requests[k].channel != i ||
			    e->requests[k].state != WIC_REQUEST_PENDING)
				return false;
	}
	for (i = 0; i < e->params.tags_max; i++) {
		const struct wic_core_tag *tag = &e->tags[i];

		tags -= tag->channel != WIC_TAG_UNUSED;
		if (tag->waiting != WIC_NONE && (tag->channel == WIC_TAG_UNUSED ||
						 e->wants[tag->waiting].state != WIC_WANT_WAITING ||
						 e->wants[tag->waiting].tag != i))
			return false;
	}
	return tags == 0 && requests == t->requests && pending == t->pending;
}

/* A run and its pages; the page may as well be of no run. */
static bool page_is_consistent(const struct wic_engine *e, uint32_t page, struct tally *t)
{
	const struct wic_core_page *run = &e->pages[page];
	bool is_queued = wic_queue_has(e, wic_queue_id_run(e, page));
	bool is_filling = run->state == WIC_RUN_FILL || run->state == WIC_RUN_FILLING;
	uint32_t i;

	if (run->owner != page) {
		if (run->owner != WIC_NONE &&
		    (e->pages[run->owner].owner != run->owner || page < run->owner ||
		     page - run->owner >= e->pages[run->owner].count))
			return false;
		return run->state == WIC_RUN_NONE && !is_queued;
	}
	if (run->state == WIC_RUN_NONE || run->count > e->params.pages - page)
		return false;
	for (i = 0; i < run->count; i++)
		if (e->pages[page + i].owner != page)
			return false;
	if (is_queued != (run->state == WIC_RUN_FILL || run->state == WIC_RUN_RETIRED))
		return false;
	if (is_filling != (run->waiters_first != WIC_NONE))
		return false;
	for (i = run->waiters_first; i != WIC_NONE; i = e->wants[i].fill_next) {
		if (e->wants[i].page != page || e->wants[i].state != WIC_WANT_FILLING ||
		    t->wants_filling == 0)
			return false;
		t->wants_filling--;
	}
	if (run->state == WIC_RUN_RETIRED || run->state == WIC_RUN_INVALIDATING)
		return true;
	if (t->wants_paged < run->wants)
		return false;
	t->wants_paged -= run->wants;
	return true;
}

static bool runs_are_consistent(const struct wic_engine *e, struct tally *t)
{
	uint32_t runs = 0;
	uint32_t i;

	for (i = 0; i < e->params.pages; i++) {
		const struct wic_core_page *run = &e->pages[i];

		if (!page_is_consistent(e, i, t))
			return false;
		runs += run->owner == i && run->state != WIC_RUN_RETIRED &&
			run->state != WIC_RUN_INVALIDATING;
	}
	for (i = 0; i < e->params.channels_max; i++)
		if (e->channels[i].state != WIC_CHANNEL_UNUSED)
			runs -= e->channels[i].runs;
	return runs == 0 && t->wants_paged == 0 && t->wants_filling == 0;
}

bool wic_engine_is_consistent(const struct wic_engine *e)
{
	struct tally t = { 0 };

	return !e->dead && e->magic == WIC_ENGINE_MAGIC && queue_is_consistent(e) &&
	       requests_are_consistent(e, &t) && channels_are_consistent(e, &t) &&
	       runs_are_consistent(e, &t);
}
