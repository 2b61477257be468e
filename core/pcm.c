/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Page runs: who owns which pages, how far their fill is, faults at them. */
#include "core/engine_types.h"

/* Where an event leads.  Each cell is listed; BAD: not legal in that state. */
#define BAD WIC_RUN_STATES
static const uint8_t run_cells[WIC_RUN_STATES][WIC_RUN_EVENTS] = {
	[WIC_RUN_NONE] = {
		[WIC_RUN_CLAIM] = WIC_RUN_WANTED,
		[WIC_RUN_JOIN] = BAD,
		[WIC_RUN_START] = BAD,
		[WIC_RUN_PULL] = BAD,
		[WIC_RUN_DONE] = BAD,
		[WIC_RUN_FAIL] = BAD,
		[WIC_RUN_RELEASE] = BAD,
		[WIC_RUN_RETIRE] = WIC_RUN_RETIRED,
		[WIC_RUN_INVALIDATED] = BAD,
	},
	[WIC_RUN_WANTED] = {
		[WIC_RUN_CLAIM] = BAD,
		[WIC_RUN_JOIN] = WIC_RUN_WANTED,
		[WIC_RUN_START] = WIC_RUN_FILL,
		[WIC_RUN_PULL] = BAD,
		[WIC_RUN_DONE] = BAD,
		[WIC_RUN_FAIL] = BAD,
		[WIC_RUN_RELEASE] = WIC_RUN_NONE,
		[WIC_RUN_RETIRE] = BAD,
		[WIC_RUN_INVALIDATED] = BAD,
	},
	[WIC_RUN_FILL] = {
		[WIC_RUN_CLAIM] = BAD,
		[WIC_RUN_JOIN] = WIC_RUN_FILL,
		[WIC_RUN_START] = BAD,
		[WIC_RUN_PULL] = WIC_RUN_FILLING,
		[WIC_RUN_DONE] = BAD,
		[WIC_RUN_FAIL] = BAD,
		[WIC_RUN_RELEASE] = BAD,
		[WIC_RUN_RETIRE] = BAD,
		[WIC_RUN_INVALIDATED] = BAD,
	},
	[WIC_RUN_FILLING] = {
		[WIC_RUN_CLAIM] = BAD,
		[WIC_RUN_JOIN] = WIC_RUN_FILLING,
		[WIC_RUN_START] = BAD,
		[WIC_RUN_PULL] = BAD,
		[WIC_RUN_DONE] = WIC_RUN_FILLED,
		[WIC_RUN_FAIL] = WIC_RUN_WANTED,
		[WIC_RUN_RELEASE] = BAD,
		[WIC_RUN_RETIRE] = BAD,
		[WIC_RUN_INVALIDATED] = BAD,
	},
	[WIC_RUN_FILLED] = {
		[WIC_RUN_CLAIM] = BAD,
		[WIC_RUN_JOIN] = WIC_RUN_FILLED,
		[WIC_RUN_START] = BAD,
		[WIC_RUN_PULL] = BAD,
		[WIC_RUN_DONE] = BAD,
		[WIC_RUN_FAIL] = BAD,
		[WIC_RUN_RELEASE] = WIC_RUN_NONE,
		[WIC_RUN_RETIRE] = BAD,
		[WIC_RUN_INVALIDATED] = BAD,
	},
	[WIC_RUN_RETIRED] = {
		[WIC_RUN_CLAIM] = BAD,
		[WIC_RUN_JOIN] = BAD,
		[WIC_RUN_START] = BAD,
		[WIC_RUN_PULL] = WIC_RUN_INVALIDATING,
		[WIC_RUN_DONE] = BAD,
		[WIC_RUN_FAIL] = BAD,
		[WIC_RUN_RELEASE] = BAD,
		[WIC_RUN_RETIRE] = BAD,
		[WIC_RUN_INVALIDATED] = BAD,
	},
	[WIC_RUN_INVALIDATING] = {
		[WIC_RUN_CLAIM] = BAD,
		[WIC_RUN_JOIN] = BAD,
		[WIC_RUN_START] = BAD,
		[WIC_RUN_PULL] = BAD,
		[WIC_RUN_DONE] = BAD,
		[WIC_RUN_FAIL] = BAD,
		[WIC_RUN_RELEASE] = BAD,
		[WIC_RUN_RETIRE] = BAD,
		[WIC_RUN_INVALIDATED] = WIC_RUN_NONE,
	},
};

static bool run_can(const struct wic_core_page *run, enum wic_run_event event)
{
	return run_cells[run->state][event] != BAD;
}

static void run_step(struct wic_engine *e, struct wic_core_page *run, enum wic_run_event event)
{
	uint8_t to = run_cells[run->state][event];

	WIC_ENGINE_ASSERT(e, to != BAD);
	if (to != BAD)
		run->state = to;
}

void wic_pcm_init(struct wic_engine *e)
{
	uint32_t i;

	for (i = 0; i < e->params.pages; i++) {
		struct wic_core_page *page = &e->pages[i];

		page->late_cookie = WIC_COOKIE_NONE;
		page->late_status = 0;
		page->owner = WIC_NONE;
		page->epoch = 0;
		page->tag = page->count = page->wants = 0;
		page->waiters_first = page->waiters_last = WIC_NONE;
		page->status = 0;
		page->state = WIC_RUN_NONE;
	}
}

static bool pages_are_free(const struct wic_engine *e, uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = first; i < first + count; i++)
		if (e->pages[i].owner != WIC_NONE)
			return false;
	return true;
}

static void pages_own(struct wic_engine *e, uint32_t first, uint32_t count, uint32_t owner)
{
	uint32_t i;

	for (i = first; i < first + count; i++)
		e->pages[i].owner = owner;
}

/* The run that begins at @page, or NULL. */
static struct wic_core_page *run_at(const struct wic_engine *e, uint32_t page)
{
	if (page >= e->params.pages || e->pages[page].owner != page)
		return NULL;
	return &e->pages[page];
}

static void run_free(struct wic_engine *e, uint32_t page)
{
	e->channels[e->tags[e->pages[page].tag].channel].runs--;
	pages_own(e, page, e->pages[page].count, WIC_NONE);
}

int wic_pcm_claim(struct wic_engine *e, uint32_t want, uint32_t count)
{
	struct wic_core_want *w = &e->wants[want];
	struct wic_core_page *run = &e->pages[w->page];

	if (run->owner == WIC_NONE) {
		if (!pages_are_free(e, w->page, count))
			return -EINVAL;
		run_step(e, run, WIC_RUN_CLAIM);
		pages_own(e, w->page, count, w->page);
		run->epoch = w->epoch;
		run->tag = w->tag;
		run->count = count;
		run->status = 0;
		w->claimed = true;
		e->channels[e->tags[w->tag].channel].runs++;
		WIC_ENGINE_ASSERT(e, run->wants == 0);
	} else {
		if (run->owner != w->page || !run_can(run, WIC_RUN_JOIN) || run->tag != w->tag ||
		    run->epoch != w->epoch || run->count != count)
			return -EINVAL;
		run_step(e, run, WIC_RUN_JOIN);
	}
	run->wants++;
	return 0;
}

void wic_pcm_put(struct wic_engine *e, uint32_t page)
{
	WIC_ENGINE_ASSERT(e, e->pages[page].owner == page);
	WIC_ENGINE_ASSERT(e, e->pages[page].wants > 0);
	e->pages[page].wants--;
}

void wic_pcm_unclaim(struct wic_engine *e, uint32_t want)
{
	struct wic_core_want *w = &e->wants[want];

	wic_pcm_put(e, w->page);
	if (!w->claimed)
		return;
	WIC_ENGINE_ASSERT(e, e->pages[w->page].wants == 0);
	run_step(e, &e->pages[w->page], WIC_RUN_RELEASE);
	run_free(e, w->page);
}

void wic_pcm_start(struct wic_engine *e, uint32_t page)
{
	WIC_ENGINE_ASSERT(e, e->pages[page].waiters_first == WIC_NONE);
	run_step(e, &e->pages[page], WIC_RUN_START);
	wic_queue_put(e, wic_queue_id_run(e, page));
}

void wic_pcm_add_waiter(struct wic_engine *e, uint32_t want)
{
	struct wic_core_page *run = &e->pages[e->wants[want].page];

	e->wants[want].fill_next = WIC_NONE;
	if (run->waiters_first == WIC_NONE)
		run->waiters_first = want;
	else
		e->wants[run->waiters_last].fill_next = want;
	run->waiters_last = want;
}

int wic_engine_filled(struct wic_engine *e, uint32_t page, int status)
{
	struct wic_core_page *run;
	uint32_t want;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	run = run_at(e, page);
	if (!run || status > 0 || !run_can(run, status ? WIC_RUN_FAIL : WIC_RUN_DONE))
		return -EINVAL;
	run_step(e, run, status ? WIC_RUN_FAIL : WIC_RUN_DONE);
	if (!status && e->tags[run->tag].filled < run->epoch)
		e->tags[run->tag].filled = run->epoch;
	WIC_ENGINE_ASSERT(e, run->waiters_first != WIC_NONE);
	want = run->waiters_first;
	run->waiters_first = run->waiters_last = WIC_NONE;
	while (want != WIC_NONE) {
		uint32_t next = e->wants[want].fill_next;

		wic_pfq_filled(e, want, status);
		want = next;
	}
	return wic_engine_leave(e);
}

int wic_engine_release(struct wic_engine *e, uint32_t page)
{
	struct wic_core_page *run;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	run = run_at(e, page);
	if (!run || run->state == WIC_RUN_RETIRED || run->state == WIC_RUN_INVALIDATING)
		return -EINVAL;
	if (run->wants || !run_can(run, WIC_RUN_RELEASE))
		return -EBUSY;
	run_step(e, run, WIC_RUN_RELEASE);
	run_free(e, page);
	return wic_engine_leave(e);
}

int wic_engine_retire(struct wic_engine *e, struct wic_run run)
{
	struct wic_core_page *first;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	if (run.first >= e->params.pages || run.count == 0 ||
	    run.count > e->params.pages - run.first || !pages_are_free(e, run.first, run.count))
		return -EINVAL;
	first = &e->pages[run.first];
	run_step(e, first, WIC_RUN_RETIRE);
	first->count = run.count;
	pages_own(e, run.first, run.count, run.first);
	wic_queue_put(e, wic_queue_id_run(e, run.first));
	return wic_engine_leave(e);
}

int wic_engine_invalidated(struct wic_engine *e, struct wic_run run)
{
	struct wic_core_page *first;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	first = run_at(e, run.first);
	if (!first || first->count != run.count || !run_can(first, WIC_RUN_INVALIDATED))
		return -EINVAL;
	run_step(e, first, WIC_RUN_INVALIDATED);
	pages_own(e, run.first, run.count, WIC_NONE);
	return wic_engine_leave(e);
}

struct wic_run wic_pcm_rest(const struct wic_engine *e, uint32_t page)
{
	uint32_t owner = e->pages[page].owner;
	struct wic_run rest = { page, owner + e->pages[owner].count - page };

	return rest;
}

/* A warp at a page whose request is over, or that nobody requested. */
static int fault_late(struct wic_engine *e, uint32_t page, uint64_t cookie)
{
	struct wic_core_page *at = &e->pages[page];
	uint32_t id = wic_queue_id_late(e, page);
	int status = -EINVAL;

	if (at->owner == WIC_NONE || e->pages[at->owner].state == WIC_RUN_RETIRED ||
	    e->pages[at->owner].state == WIC_RUN_INVALIDATING)
		cookie = WIC_COOKIE_NONE;
	else if (e->pages[at->owner].state == WIC_RUN_FILLED)
		status = 0;
	else if (e->pages[at->owner].status)
		status = e->pages[at->owner].status;
	if (wic_queue_has(e, id)) {
		if (at->late_cookie != cookie)
			return -EAGAIN;
		e->counters.faults++;
		e->counters.faults_dropped++;
		return 0;
	}
	e->counters.faults++;
	at->late_cookie = cookie;
	at->late_status = status;
	wic_queue_put(e, id);
	return 0;
}

int wic_engine_fault(struct wic_engine *e, uint32_t page, uint64_t cookie)
{
	uint32_t request;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	if (page >= e->params.pages)
		return -EINVAL;
	request = wic_pfq_find(e, cookie);
	if (request == WIC_NONE || !wic_pfq_has_page(e, request, page)) {
		rc = fault_late(e, page, cookie);
		return rc ? rc : wic_engine_leave(e);
	}
	e->counters.faults++;
	if (e->requests[request].faulted_page != WIC_PAGE_NONE)
		e->counters.faults_dropped++;
	else
		e->requests[request].faulted_page = page;
	return wic_engine_leave(e);
}

void wic_pcm_pull_run(struct wic_engine *e, uint32_t page, struct wic_action *action_out)
{
	struct wic_core_page *run = &e->pages[page];

	WIC_ENGINE_ASSERT(e, run->owner == page);
	action_out->run.first = page;
	action_out->run.count = run->count;
	if (run->state == WIC_RUN_FILL) {
		const struct wic_core_tag *tag = &e->tags[run->tag];

		action_out->kind = WIC_ACTION_FILL;
		action_out->channel = tag->channel;
		action_out->tag = run->tag - e->channels[tag->channel].tag_first;
		action_out->epoch = run->epoch;
		e->counters.fills++;
	} else {
		action_out->kind = WIC_ACTION_INVALIDATE;
		e->counters.invalidates++;
	}
	run_step(e, run, WIC_RUN_PULL);
}

void wic_pcm_pull_late(struct wic_engine *e, uint32_t page, struct wic_action *action_out)
{
	const struct wic_core_page *at = &e->pages[page];
	const struct wic_core_page *run = at->owner == WIC_NONE ? NULL : &e->pages[at->owner];

	/* Not counted: its request has ended and was; this opens the page for the same warp. */
	action_out->kind = WIC_ACTION_REPLAY;
	action_out->status = at->late_status;
	action_out->cookie = at->late_cookie;
	action_out->faulted = true;
	action_out->run.first = page;
	action_out->run.count = 1;
	if (at->late_cookie == WIC_COOKIE_NONE || !run || run->state == WIC_RUN_RETIRED ||
	    run->state == WIC_RUN_INVALIDATING)
		return;
	action_out->channel = e->tags[run->tag].channel;
	action_out->tag = run->tag - e->channels[action_out->channel].tag_first;
	action_out->epoch = run->epoch;
	action_out->epoch_seen = e->tags[run->tag].epoch;
	action_out->run = wic_pcm_rest(e, page);
}
