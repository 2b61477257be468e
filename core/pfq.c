/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * PFQ: requests and their wants.
 *
 *	WAITING --publish--> SATISFIED			(no data)
 *	WAITING --publish--> FILLING --filled--> SATISFIED
 *	WAITING, FILLING --> DROPPED			(its request ends with an error)
 *
 * A request with FILLING wants does not end.  What would end it is kept in
 * request.status, its WAITING wants are dropped at once so that nothing new starts,
 * and the last filled() ends it: with 0 if nothing is missing, else with that status.
 */
#include "core/engine_types.h"

void wic_pfq_init(struct wic_engine *e)
{
	uint32_t i;

	for (i = 0; i < e->params.requests_max; i++) {
		e->requests[i].state = WIC_REQUEST_FREE;
		e->requests[i].timed = false;
		e->requests[i].next = i + 1 < e->params.requests_max ? i + 1 : WIC_NONE;
	}
	for (i = 0; i < e->params.wants_max; i++)
		e->wants[i].next = i + 1 < e->params.wants_max ? i + 1 : WIC_NONE;
	for (i = 0; i <= e->buckets_mask; i++)
		e->buckets[i] = WIC_NONE;
	e->requests_free = e->wants_free = 0;
	e->requests_used = e->wants_used = 0;
	e->deadline_root = WIC_HEAP_NONE;
	e->order = 0;
}

/* --- requests by cookie ------------------------------------------------------ */

/* The finalizer of splitmix64: cookies are often indices or pointers. */
static uint32_t *bucket(const struct wic_engine *e, uint64_t cookie)
{
	cookie = (cookie ^ (cookie >> 30)) * 0xbf58476d1ce4e5b9ull;
	cookie = (cookie ^ (cookie >> 27)) * 0x94d049bb133111ebull;
	return &e->buckets[(uint32_t)(cookie ^ (cookie >> 31)) & e->buckets_mask];
}

uint32_t wic_pfq_find(const struct wic_engine *e, uint64_t cookie)
{
	uint32_t i = *bucket(e, cookie);

	while (i != WIC_NONE && e->requests[i].cookie != cookie)
		i = e->requests[i].hash_next;
	return i;
}

static void hash_remove(struct wic_engine *e, uint32_t request)
{
	uint32_t *link = bucket(e, e->requests[request].cookie);

	while (*link != request) {
		WIC_ENGINE_ASSERT(e, *link != WIC_NONE);
		if (*link == WIC_NONE)
			return;
		link = &e->requests[*link].hash_next;
	}
	*link = e->requests[request].hash_next;
}

bool wic_pfq_has_page(const struct wic_engine *e, uint32_t request, uint32_t page)
{
	uint32_t owner = e->pages[page].owner;
	uint32_t i;

	if (owner == WIC_NONE)
		return false;
	for (i = e->requests[request].want_first; i != WIC_NONE; i = e->wants[i].next)
		if (e->wants[i].page == owner)
			return true;
	return false;
}

/* --- the channel's list, the heap of deadlines ------------------------------- */

static void pending_link(struct wic_engine *e, uint32_t request)
{
	struct wic_core_request *r = &e->requests[request];
	struct wic_core_channel *ch = &e->channels[r->channel];

	r->prev = ch->pending_last;
	r->next = WIC_NONE;
	if (r->prev != WIC_NONE)
		e->requests[r->prev].next = request;
	else
		ch->pending_first = request;
	ch->pending_last = request;
}

static void pending_unlink(struct wic_engine *e, uint32_t request)
{
	struct wic_core_request *r = &e->requests[request];
	struct wic_core_channel *ch = &e->channels[r->channel];

	if (r->next != WIC_NONE)
		e->requests[r->next].prev = r->prev;
	else
		ch->pending_last = r->prev;
	if (r->prev != WIC_NONE)
		e->requests[r->prev].next = r->next;
	else
		ch->pending_first = r->next;
}

static void deadline_insert(struct wic_engine *e, uint32_t request)
{
	struct wic_core_request *r = &e->requests[request];
	struct wic_heap_node *node = &e->by_deadline.nodes[request];

	if (r->deadline_ns == WIC_DEADLINE_NEVER)
		return;
	node->key = r->deadline_ns;
	node->order = e->order++;
	e->deadline_root = wic_heap_insert(&e->by_deadline, e->deadline_root, request);
	r->timed = true;
}

static void deadline_remove(struct wic_engine *e, uint32_t request)
{
	if (!e->requests[request].timed)
		return;
	e->deadline_root = wic_heap_remove(&e->by_deadline, e->deadline_root, request);
	e->requests[request].timed = false;
}

/* --- wants ------------------------------------------------------------------- */

static enum wic_look look_at_run(const struct wic_engine *e, const struct wic_core_want *w)
{
	const struct wic_core_tag *tag = &e->tags[w->tag];
	enum wic_run_state state = (enum wic_run_state)e->pages[w->page].state;

	switch (state) {
	case WIC_RUN_FILLED:
		return WIC_LOOK_SATISFIED;
	case WIC_RUN_FILL:
	case WIC_RUN_FILLING:
		return WIC_LOOK_JOIN;
	case WIC_RUN_WANTED:
		break;
	case WIC_RUN_NONE:
	case WIC_RUN_RETIRED:
	case WIC_RUN_INVALIDATING:
	case WIC_RUN_STATES:
		return WIC_LOOK_GONE;
	}
	if (tag->epoch == w->epoch)
		return tag->filled == w->epoch ? WIC_LOOK_GONE : WIC_LOOK_FILL;
	if (tag->epoch > w->epoch)
		return WIC_LOOK_GONE;
	return tag->owner_died ? WIC_LOOK_DEAD : WIC_LOOK_WAIT;
}

enum wic_look wic_pfq_look(const struct wic_engine *e, uint32_t want)
{
	const struct wic_core_want *w = &e->wants[want];
	const struct wic_core_tag *tag = &e->tags[w->tag];

	if (e->channels[tag->channel].state != WIC_CHANNEL_OPEN)
		return WIC_LOOK_GONE;
	if (w->page != WIC_PAGE_NONE)
		return look_at_run(e, w);
	if (tag->epoch >= w->epoch)
		return WIC_LOOK_SATISFIED;
	return tag->owner_died ? WIC_LOOK_DEAD : WIC_LOOK_WAIT;
}

static void want_wait(struct wic_engine *e, uint32_t want)
{
	struct wic_core_tag *tag = &e->tags[e->wants[want].tag];
	struct wic_heap_node *node = &e->by_epoch.nodes[want];

	e->wants[want].state = WIC_WANT_WAITING;
	node->key = e->wants[want].epoch;
	node->order = e->order++;
	tag->waiting = wic_heap_insert(&e->by_epoch, tag->waiting, want);
}

static void want_fill(struct wic_engine *e, uint32_t want)
{
	e->wants[want].state = WIC_WANT_FILLING;
	e->requests[e->wants[want].request].filling++;
	wic_pcm_add_waiter(e, want);
}

/* WAITING wants and their heaps: what a request that will end leaves behind. */
static void wants_drop(struct wic_engine *e, uint32_t request)
{
	uint32_t i;

	for (i = e->requests[request].want_first; i != WIC_NONE; i = e->wants[i].next) {
		struct wic_core_tag *tag = &e->tags[e->wants[i].tag];

		if (e->wants[i].state != WIC_WANT_WAITING)
			continue;
		tag->waiting = wic_heap_remove(&e->by_epoch, tag->waiting, i);
		e->wants[i].state = WIC_WANT_DROPPED;
	}
}

/* --- the end of a request ---------------------------------------------------- */

static void request_finish(struct wic_engine *e, uint32_t request, int status)
{
	struct wic_core_request *r = &e->requests[request];
	uint32_t i;

	WIC_ENGINE_ASSERT(e, r->state == WIC_REQUEST_PENDING);
	WIC_ENGINE_ASSERT(e, r->filling == 0);
	WIC_ENGINE_ASSERT(e, (status == 0) == (r->missing == 0));
	deadline_remove(e, request);
	pending_unlink(e, request);
	r->state = WIC_REQUEST_ENDED;
	r->status = status;
	r->report_want = r->want_first;
	for (i = r->want_first; status && i != WIC_NONE; i = e->wants[i].next)
		if (e->wants[i].page != WIC_PAGE_NONE)
			e->pages[e->wants[i].page].status = status;
	if (status)
		while (e->wants[r->report_want].state == WIC_WANT_SATISFIED &&
		       e->wants[r->report_want].next != WIC_NONE)
			r->report_want = e->wants[r->report_want].next;
	r->epoch_seen = e->tags[e->wants[r->report_want].tag].epoch;
	if (status == -ETIMEDOUT)
		e->counters.timeouts++;
	if (status == -ECANCELED)
		e->counters.cancels++;
	wic_queue_put(e, request);
}

void wic_pfq_end(struct wic_engine *e, uint32_t request, int status)
{
	struct wic_core_request *r = &e->requests[request];

	WIC_ENGINE_ASSERT(e, r->state == WIC_REQUEST_PENDING);
	WIC_ENGINE_ASSERT(e, status < 0);
	if (r->status == 0)
		r->status = status;
	wants_drop(e, request);
	deadline_remove(e, request);
	if (r->filling == 0)
		request_finish(e, request, r->status);
}

static void want_satisfy(struct wic_engine *e, uint32_t want)
{
	struct wic_core_request *r = &e->requests[e->wants[want].request];

	WIC_ENGINE_ASSERT(e, r->missing > 0);
	e->wants[want].state = WIC_WANT_SATISFIED;
	r->missing--;
	if (r->missing == 0)
		request_finish(e, e->wants[want].request, 0);
	else if (r->status && r->filling == 0)
		request_finish(e, e->wants[want].request, r->status);
}

void wic_pfq_filled(struct wic_engine *e, uint32_t want, int status)
{
	struct wic_core_want *w = &e->wants[want];

	WIC_ENGINE_ASSERT(e, w->state == WIC_WANT_FILLING);
	WIC_ENGINE_ASSERT(e, e->requests[w->request].filling > 0);
	e->requests[w->request].filling--;
	if (status == 0) {
		want_satisfy(e, want);
		return;
	}
	w->state = WIC_WANT_DROPPED;
	wic_pfq_end(e, w->request, status);
}

void wic_pfq_advance(struct wic_engine *e, uint32_t want)
{
	switch (wic_pfq_look(e, want)) {
	case WIC_LOOK_SATISFIED:
		want_satisfy(e, want);
		break;
	case WIC_LOOK_FILL:
		wic_pcm_start(e, e->wants[want].page);
		want_fill(e, want);
		break;
	case WIC_LOOK_JOIN:
		want_fill(e, want);
		break;
	case WIC_LOOK_WAIT:
		want_wait(e, want);
		break;
	case WIC_LOOK_GONE:
		e->wants[want].state = WIC_WANT_DROPPED;
		wic_pfq_end(e, e->wants[want].request, -EINVAL);
		break;
	case WIC_LOOK_DEAD:
		e->wants[want].state = WIC_WANT_DROPPED;
		wic_pfq_end(e, e->wants[want].request, -EOWNERDEAD);
		break;
	}
}

/* --- request: fields, slots, start ------------------------------------------- */

static bool want_is_valid(const struct wic_engine *e, const struct wic_core_channel *ch,
			  const struct wic_want *want)
{
	if (want->tag >= ch->tags)
		return false;
	if (want->page_first == WIC_PAGE_NONE)
		return true;
	return ch->has_data && want->epoch > 0 && want->page_first < e->params.pages &&
	       want->page_count >= 1 && want->page_count <= e->params.pages - want->page_first;
}

/* Each field by itself.  0 and the wants of the batch together; -EINVAL. */
static int batch_check(const struct wic_engine *e, const struct wic_request *batch, uint32_t count,
		       uint32_t *wants_out)
{
	uint32_t wants = 0;
	uint32_t i;
	uint32_t k;

	if (!batch || count == 0 || count > WIC_ENGINE_BATCH_MAX || count > e->params.requests_max)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		const struct wic_core_channel *ch = wic_dab_channel(e, batch[i].channel);

		if (!ch || batch[i].cookie == WIC_COOKIE_NONE || !batch[i].wants)
			return -EINVAL;
		if (batch[i].want_count == 0 || batch[i].want_count > e->params.wants_max - wants)
			return -EINVAL;
		wants += batch[i].want_count;
		for (k = 0; k < batch[i].want_count; k++)
			if (!want_is_valid(e, ch, &batch[i].wants[k]))
				return -EINVAL;
	}
	*wants_out = wants;
	return 0;
}

/* Take the request's slots out; runs are put back by the caller. */
static void slots_free(struct wic_engine *e, uint32_t request)
{
	struct wic_core_request *r = &e->requests[request];

	hash_remove(e, request);
	while (r->want_first != WIC_NONE) {
		uint32_t want = r->want_first;

		r->want_first = e->wants[want].next;
		e->wants[want].next = e->wants_free;
		e->wants_free = want;
		e->wants_used--;
	}
	e->channels[r->channel].requests--;
	r->state = WIC_REQUEST_FREE;
	r->next = e->requests_free;
	e->requests_free = request;
	e->requests_used--;
}

static uint32_t want_admit(struct wic_engine *e, uint32_t request, const struct wic_want *from)
{
	uint32_t want = e->wants_free;
	struct wic_core_want *w = &e->wants[want];

	e->wants_free = w->next;
	e->wants_used++;
	w->epoch = from->epoch;
	w->tag = e->channels[e->requests[request].channel].tag_first + from->tag;
	w->page = from->page_first;
	w->request = request;
	w->next = w->fill_next = WIC_NONE;
	w->state = WIC_WANT_DROPPED;
	w->claimed = false;
	return want;
}

static uint32_t request_admit(struct wic_engine *e, const struct wic_request *from)
{
	uint32_t request = e->requests_free;
	struct wic_core_request *r = &e->requests[request];
	uint32_t *head = bucket(e, from->cookie);

	e->requests_free = r->next;
	e->requests_used++;
	r->cookie = from->cookie;
	r->deadline_ns = from->deadline_ns;
	r->epoch_seen = 0;
	r->channel = from->channel;
	r->want_first = WIC_NONE;
	r->prev = r->next = WIC_NONE;
	r->missing = from->want_count;
	r->filling = 0;
	r->report_want = WIC_NONE;
	r->faulted_page = WIC_PAGE_NONE;
	r->status = 0;
	r->state = WIC_REQUEST_PENDING;
	r->timed = false;
	r->hash_next = *head;
	*head = request;
	e->channels[r->channel].requests++;
	return request;
}

static void request_refuse(struct wic_engine *e, uint32_t request)
{
	uint32_t pass;
	uint32_t i;

	/* Who joined a run leaves before who claimed it. */
	for (pass = 0; pass < 2; pass++)
		for (i = e->requests[request].want_first; i != WIC_NONE; i = e->wants[i].next)
			if (e->wants[i].page != WIC_PAGE_NONE && e->wants[i].claimed == pass)
				wic_pcm_unclaim(e, i);
	slots_free(e, request);
}

/* Slots for the request and its claims; undone again on an error. */
static int request_take(struct wic_engine *e, const struct wic_request *from, uint32_t *request_out)
{
	uint32_t request;
	uint32_t *link;
	uint32_t k;

	if (wic_pfq_find(e, from->cookie) != WIC_NONE)
		return -EINVAL;
	request = request_admit(e, from);
	link = &e->requests[request].want_first;
	for (k = 0; k < from->want_count; k++) {
		uint32_t want = want_admit(e, request, &from->wants[k]);
		struct wic_core_want *w = &e->wants[want];
		bool is_data = w->page != WIC_PAGE_NONE;

		if (is_data && wic_pcm_claim(e, want, from->wants[k].page_count)) {
			w->page = WIC_PAGE_NONE;
			*link = want;
			request_refuse(e, request);
			return -EINVAL;
		}
		*link = want;
		link = &w->next;
	}
	*request_out = request;
	return 0;
}

/* What the request would end with now, having started nothing; or 0. */
static int request_look(struct wic_engine *e, uint32_t request, uint64_t now_ns)
{
	bool is_missing = false;
	uint32_t i;
	int status = 0;

	for (i = e->requests[request].want_first; i != WIC_NONE; i = e->wants[i].next) {
		enum wic_look look = wic_pfq_look(e, i);

		e->counters.checks++;
		if (look != WIC_LOOK_SATISFIED)
			is_missing = true;
		if (status == 0 && look == WIC_LOOK_GONE)
			status = -EINVAL;
		if (status == 0 && look == WIC_LOOK_DEAD)
			status = -EOWNERDEAD;
	}
	if (status == 0 && is_missing && e->requests[request].deadline_ns <= now_ns)
		status = -ETIMEDOUT;
	return status;
}

static void request_start(struct wic_engine *e, uint32_t request, uint64_t now_ns)
{
	struct wic_core_request *r = &e->requests[request];
	int status = request_look(e, request, now_ns);
	uint32_t want = r->want_first;

	pending_link(e, request);
	while (want != WIC_NONE) {
		uint32_t next = e->wants[want].next;

		if (status == 0) {
			wic_pfq_advance(e, want);
		} else if (wic_pfq_look(e, want) == WIC_LOOK_SATISFIED) {
			e->wants[want].state = WIC_WANT_SATISFIED;
			r->missing--;
		}
		want = next;
	}
	if (status)
		wic_pfq_end(e, request, status);
	else if (r->state == WIC_REQUEST_PENDING)
		deadline_insert(e, request);
}

int wic_engine_request(struct wic_engine *e, const struct wic_request *batch, uint32_t count,
		       uint64_t now_ns)
{
	uint32_t taken[WIC_ENGINE_BATCH_MAX];
	uint32_t wants = 0;
	uint32_t i;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	rc = batch_check(e, batch, count, &wants);
	if (rc)
		return rc;
	if (count > e->params.requests_max - e->requests_used ||
	    wants > e->params.wants_max - e->wants_used)
		return -EAGAIN;
	for (i = 0; i < count; i++) {
		rc = request_take(e, &batch[i], &taken[i]);
		if (rc)
			goto err_refuse;
	}
	e->counters.batches++;
	e->counters.requests += count;
	e->counters.pending = e->requests_used;
	if (e->counters.pending_max < e->requests_used)
		e->counters.pending_max = e->requests_used;
	for (i = 0; i < count; i++)
		request_start(e, taken[i], now_ns);
	return wic_engine_leave(e);

err_refuse:
	while (i-- > 0)
		request_refuse(e, taken[i]);
	return rc;
}

/* --- other inputs, pull ------------------------------------------------------ */

int wic_engine_cancel(struct wic_engine *e, uint64_t cookie)
{
	uint32_t request;
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	request = wic_pfq_find(e, cookie);
	if (request == WIC_NONE || e->requests[request].state != WIC_REQUEST_PENDING)
		return -EINVAL;
	wic_pfq_end(e, request, -ECANCELED);
	return wic_engine_leave(e);
}

int wic_engine_tick(struct wic_engine *e, uint64_t now_ns)
{
	int rc = wic_engine_enter(e);

	if (rc)
		return rc;
	while (e->deadline_root != WIC_HEAP_NONE && !e->dead &&
	       e->requests[e->deadline_root].deadline_ns <= now_ns)
		wic_pfq_end(e, e->deadline_root, -ETIMEDOUT);
	return wic_engine_leave(e);
}

void wic_pfq_pull(struct wic_engine *e, uint32_t request, struct wic_action *action_out)
{
	struct wic_core_request *r = &e->requests[request];
	const struct wic_core_want *report = &e->wants[r->report_want];
	uint32_t page = e->wants[r->want_first].page;
	uint32_t i;

	WIC_ENGINE_ASSERT(e, r->state == WIC_REQUEST_ENDED);
	action_out->kind = WIC_ACTION_REPLAY;
	action_out->status = r->status;
	action_out->final = true;
	action_out->channel = r->channel;
	action_out->tag = report->tag - e->channels[r->channel].tag_first;
	action_out->epoch = report->epoch;
	action_out->epoch_seen = r->epoch_seen;
	action_out->cookie = r->cookie;
	action_out->faulted = r->faulted_page != WIC_PAGE_NONE;
	if (action_out->faulted)
		page = r->faulted_page;
	if (page != WIC_PAGE_NONE)
		action_out->run = wic_pcm_rest(e, page);
	for (i = r->want_first; i != WIC_NONE; i = e->wants[i].next)
		if (e->wants[i].page != WIC_PAGE_NONE)
			wic_pcm_put(e, e->wants[i].page);
	slots_free(e, request);
	e->counters.replays++;
	e->counters.pending = e->requests_used;
}
