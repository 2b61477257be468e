// SPDX-License-Identifier: MIT OR GPL-2.0
/* The device's functions of wic/kernel.h: warp context, on the warp's own stack. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>

#include "backends/cpu/request.h"
#include "core/dep.h"
#include "lib/log.h"

/* A crowded machine's polling warp gives the core away once in so many looks. */
#define LOOKS_A_YIELD 32

struct cpu_warp *wic_cpu_request_self(const char *what)
{
	struct cpu_sm *sm = cpu_sm_self();

	if (!sm || !sm->view.warp) {
		wic_fail(-EINVAL, "%s outside a kernel", what);
		return NULL;
	}
	return cpu_warp_self(sm);
}

/* @end: the side of the channel that this warp has to be on. */
static int check_device(const struct cpu_warp *w, const char *name, uint32_t end)
{
	uint32_t mine = w->sm->view.device, device = w->sm->dev->index;

	if (end == mine)
		return 0;
	if (end == WIC_DEVICE_HOST_VALUE)
		return wic_fail(-EINVAL, "the channel's %s is the host, this warp is device %u's",
				name, device);
	if (end >> CPU_DEVICE_BITS != mine >> CPU_DEVICE_BITS)
		return wic_fail(-EINVAL, "the channel is of another context than this kernel");
	return wic_fail(-EINVAL, "the channel's %s is device %u, this warp is device %u's", name,
			end - (mine - device), device);
}

static int check(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	const struct wic_be_channel *ch;

	if (!h || !h->channel || !h->dir)
		return wic_fail(-EINVAL, "no channel in the handle");
	ch = h->channel;
	if (tag >= ch->desc.tags)
		return wic_fail(-EINVAL, "tag %u of %u", tag, ch->desc.tags);
	if (epoch == WIC_EPOCH_NONE || epoch > WIC_EPOCH_LAST)
		return wic_fail(-EINVAL, "epoch %" PRIu64 " is out of range", epoch);
	return 0;
}

int wic_cpu_request_check(const struct cpu_warp *w, const struct wic_handle *h, uint32_t tag,
			  uint64_t epoch)
{
	int rc = check(h, tag, epoch);

	return rc ? rc : check_device(w, "consumer", h->consumer);
}

/* Is there anything else for the SM to do?  If not, a turn is nothing. */
static bool sm_has_other_work(struct cpu_sm *sm)
{
	return sm->run_count || sm->gather_count || sm->queued || !cpu_ring_is_empty(&sm->wakes) ||
	       (sm->asleep && wic_cpu_sm_is_sleep_over(sm));
}

void wic_turn(void)
{
	struct cpu_sm *sm = cpu_sm_self();

	if (!sm || !sm->view.warp)
		return;
	cpu_count_add(sm->count.turns, 1);
	cpu_sm_publish_releases(sm);
	if (sm_has_other_work(sm))
		wic_cpu_warp_yield(cpu_warp_self(sm), CPU_WARP_RUNNING);
}

void wic_look(void)
{
	struct cpu_sm *sm = cpu_sm_self();

	if (!sm || !sm->view.warp)
		return;
	cpu_count_add(sm->count.looks, 1);
	cpu_sm_publish_releases(sm);
	if (sm_has_other_work(sm))
		wic_cpu_warp_yield(cpu_warp_self(sm), CPU_WARP_RUNNING);
	else if (sm->be->crowded && sm->count.looks % LOOKS_A_YIELD == 0)
		sched_yield();
}

void wic_bar(void)
{
	struct cpu_sm *sm = cpu_sm_self();
	struct cpu_warp *w;

	if (!sm || !sm->view.warp)
		return;
	w = cpu_warp_self(sm);
	w->block->bar_arrived++;
	wic_cpu_warp_yield(w, CPU_WARP_BARRIER);
}

void wic_note(enum wic_event_kind kind, uint32_t tag, uint64_t epoch)
{
	struct cpu_sm *sm = cpu_sm_self();

	if (kind < WIC_EVENT_COMPUTE || kind > WIC_EVENT_DONE)
		return;
	if (sm && sm->view.warp)
		wic_cpu_sm_event(sm, cpu_warp_self(sm), kind, tag, epoch);
}

/*
 * Put a word into the ring of releases and show it to the Monitor; when the ring is
 * full, let others run until it is not.
 */
static void release_post(struct cpu_sm *sm, uint64_t epoch, uint32_t page)
{
	struct wic_sm_view *view = &sm->view;

	for (;;) {
		/* Pairs with the Monitor's release: it has read the words below tail. */
		view->release_limit =
			__atomic_load_n(&sm->release_tail, __ATOMIC_ACQUIRE) + WIC_RELEASE_WORDS_;
		if (view->release_head != view->release_limit)
			break;
		cpu_sm_publish_releases(sm);
		wic_cpu_gate_knock(&sm->be->mon.gate);
		wic_turn();
		sched_yield();
	}
	view->release_ring[view->release_head++ % WIC_RELEASE_WORDS_] =
		WIC_RELEASE_WORD_(page, epoch);
	cpu_sm_publish_releases(sm);
}

static void release_post_other(struct cpu_sm *sm, uint64_t epoch, uint32_t page)
{
	cpu_count_add(sm->count.released_other, 1);
	release_post(sm, epoch, page);
}

void wic_cpu_request_leave_hold(struct cpu_warp *w, uint64_t epoch, uint32_t page)
{
	release_post_other(w->sm, epoch, page | CPU_RELEASE_USER);
}

/* Touch the first page of the hold's run: a real fault, unless it is open by now. */
static void touch(struct cpu_warp *w)
{
	volatile const unsigned char *page =
		w->sm->dev->win.closed + (size_t)w->req.run.first * WIC_PAGE_BYTES;

	w->touch_next = false;
	/* The handler, on this thread, reads it: the stores stay on their sides of the load. */
	w->touching = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	(void)*page;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	w->touching = false;
	while (!(w->got & CPU_WAKE_STATUS))
		wic_cpu_warp_yield(w, CPU_WARP_PARKED);
}

/* Stop this warp until its request has a status; returns it. */
static int park(struct cpu_warp *w)
{
	struct cpu_sm *sm = w->sm;
	struct cpu_request *req = &w->req;

	if (!w->block->has_waited) {
		w->block->has_waited = true;
		__atomic_fetch_add(&sm->dev->launch.blocks_waited, 1, __ATOMIC_RELAXED);
	}
	w->got = 0;
	w->faulted = false;
	req->status = CPU_STATUS_PENDING;
	req->since_ns = wic_now_ns();
	req->cancels = cpu_be_cancels(sm->be);
	req->is_warned = false;
	req->has_run = false;
	req->owns_hold = false;
	if (cpu_channel_is_in_tree(req->ch) || (req->ch->push && req->for_credit)) {
		(void)wic_cpu_push_park(w);
		wic_cpu_sm_event(sm, w, WIC_EVENT_COMPUTE, req->tag, req->epoch);
		return req->status;
	}
	for (;;) {
		WIC_ASSERT(sm->gather_count < WIC_BATCH_WARPS);
		sm->gather[sm->gather_count++] = w;
		wic_cpu_warp_yield(w, CPU_WARP_GATHER);
		if (w->touch_next)
			touch(w);
		if (w->got & CPU_WAKE_STATUS)
			break;
		/* It was queued and has its pages now: once more, with the next batch. */
	}
	wic_cpu_sm_event(sm, w, WIC_EVENT_COMPUTE, req->tag, req->epoch);
	/* It stands at no page of the hold any more: the hold may go. */
	if (req->owns_hold)
		wic_cpu_request_leave_hold(w, req->epoch, req->run.first);
	return req->status;
}

static int describe_gone(const struct cpu_warp *w)
{
	const struct cpu_request *req = &w->req;

	return wic_fail(-EINVAL,
			"block %u warp %u: epoch %" PRIu64 " of tag %u of channel %u is gone: "
			"%" PRIu64 " is published, and what was filled was released",
			w->view.block_id, w->view.warp_id, req->epoch, req->tag, req->ch->id,
			req->epoch_seen);
}

static int describe(const struct cpu_warp *w)
{
	const struct cpu_request *req = &w->req;

	if (req->status == -EINVAL)
		return describe_gone(w);
	if (req->tag == req->ch->desc.tags)
		return wic_fail(req->status,
				"block %u warp %u waited %" PRIu64
				" us for any tag to claim of channel %u: %s",
				w->view.block_id, w->view.warp_id,
				(wic_now_ns() - req->since_ns) / 1000, req->ch->id,
				wic_strerror(req->status));
	return wic_fail(req->status,
			"block %u warp %u waited %" PRIu64 " us for epoch %" PRIu64
			" of tag %u of channel %u, saw %" PRIu64
			" (%u of %u blocks have come to a wait): %s",
			w->view.block_id, w->view.warp_id, (wic_now_ns() - req->since_ns) / 1000,
			req->epoch, req->tag, req->ch->id, req->epoch_seen,
			__atomic_load_n(&w->sm->dev->launch.blocks_waited, __ATOMIC_RELAXED),
			w->view.grid_blocks, wic_strerror(req->status));
}

int wic_cpu_request_park(struct cpu_warp *w)
{
	int rc = park(w);

	if (rc && w->req.ref_count) {
		w->req.tag = w->req.missing_tag;
		w->req.epoch = w->req.missing_epoch;
	}
	w->req.ref_count = 0;
	return rc ? describe(w) : 0;
}

int wic_cpu_request_may_park(const struct wic_be_channel *ch, uint64_t timeout_ns, bool was_open)
{
	if (cpu_be_is_dead(ch->be))
		return wic_fail(-EIO, "the context is dead");
	if (cpu_channel_is_closed(ch))
		return was_open ? wic_fail(-ECANCELED, "the channel was closed meanwhile")
				: wic_fail(-EINVAL, "the channel is closed");
	if (!timeout_ns)
		return -EAGAIN;
	if (cpu_be_is_cancelled(ch->be))
		return wic_fail(-ECANCELED, "all waits are cancelled: wic_cancel()");
	return 0;
}

/* The data or the epoch is not there: park, unless it is too late or not wanted. */
static int request(struct cpu_warp *w, struct wic_be_channel *ch, uint64_t timeout_ns,
		   uint32_t pages, bool is_gone)
{
	int rc = wic_cpu_request_may_park(ch, timeout_ns, false);

	if (rc)
		return rc;
	w->req.ch = ch;
	if (is_gone) {
		w->req.epoch_seen = cpu_channel_truth(ch, w->req.tag);
		return describe_gone(w);
	}
	w->req.pages = pages;
	w->req.for_credit = false;
	w->req.deadline_ns = wic_deadline_ns(wic_now_ns(), timeout_ns);
	return wic_cpu_request_park(w);
}

/*
 * WIC_EPOCH_NEXT: the epoch after that released last.  The directory keeps the low half of
 * that; it is not after the published one and, the buffer being one deep, near it.
 */
static int resolve_next(const struct wic_handle *h, uint32_t tag, uint64_t *epoch)
{
	const struct wic_be_channel *ch;
	uint64_t truth, released;

	if (*epoch != WIC_EPOCH_NEXT || !h || !h->channel || tag >= h->tags)
		return 0;
	ch = h->channel;
	if (ch->desc.readers != 1)
		return wic_fail(-EINVAL, "WIC_EPOCH_NEXT on a channel of %u readers a tag",
				ch->desc.readers);
	if (ch->push) {
		*epoch = wic_cpu_push_released(ch, tag) + 1;
		return 0;
	}
	truth = cpu_channel_truth(ch, tag);
	released = __atomic_load_n(&ch->dir[tag].released, __ATOMIC_RELAXED);
	*epoch = truth - (uint32_t)((uint32_t)truth - (uint32_t)released) + 1;
	return 0;
}

/* Data that is on a page here; gone: known at once in push mode only. */
static void *find_data(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, bool *is_gone_out)
{
	*is_gone_out = false;
	return ch->push ? wic_cpu_push_find(ch, tag, epoch, is_gone_out)
			: wic_cpu_device_find_data(ch->dev, ch, tag, epoch);
}

/* Releases in push mode go another way: they tell nothing of inline hits. */
static void count_given(struct cpu_warp *w, const struct wic_be_channel *ch)
{
	if (!ch->push)
		cpu_count_add(w->sm->count.given_slow, 1);
}

int wic_request_slow_(const struct wic_handle *h, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		      void **data_out)
{
	struct cpu_warp *w = wic_cpu_request_self("wic_request");
	struct wic_be_channel *ch;
	bool is_gone;
	void *data;
	int rc;

	if (!w)
		return -EINVAL;
	rc = resolve_next(h, tag, &epoch);
	if (!rc)
		rc = wic_cpu_request_check(w, h, tag, epoch);
	if (rc)
		return rc;
	ch = h->channel;
	if (!data_out || !ch->pages_per_tag)
		return wic_fail(-EINVAL, data_out ? "a channel of signals has no data to request"
						  : "nowhere to put the data's address");
	cpu_count_add(w->sm->count.requests, 1);
	data = find_data(ch, tag, epoch, &is_gone);
	if (data) {
		cpu_count_add(w->sm->count.hits, 1);
		count_given(w, ch);
		*data_out = data;
		return 0;
	}
	w->req.tag = tag;
	w->req.epoch = epoch;
	rc = request(w, ch, timeout_ns, ch->pages_per_tag, is_gone);
	if (rc)
		return rc;
	count_given(w, ch);
	data = ch->push ? wic_cpu_push_find(ch, tag, epoch, &is_gone)
			: ch->dev->win.data + (size_t)w->req.run.first * WIC_PAGE_BYTES;
	if (!data)
		return describe_gone(w);
	*data_out = data;
	return 0;
}

int wic_wait(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag, uint64_t epoch,
	     uint64_t timeout_ns)
{
	struct cpu_warp *w = wic_cpu_request_self("wic_wait");
	struct wic_be_channel *ch;
	int rc;

	(void)lot;
	if (!w)
		return -EINVAL;
	rc = wic_cpu_request_check(w, h, tag, epoch);
	if (rc)
		return rc;
	ch = h->channel;
	cpu_count_add(w->sm->count.requests, 1);
	if (cpu_channel_truth(ch, tag) >= epoch) {
		cpu_count_add(w->sm->count.hits, 1);
		return 0;
	}
	w->req.tag = tag;
	w->req.epoch = epoch;
	return request(w, ch, timeout_ns, 0, false);
}

int wic_release_slow_(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	struct cpu_warp *w = wic_cpu_request_self("wic_release");
	struct wic_be_channel *ch;
	struct cpu_hold *hold;
	uint32_t page = 0, left = UINT32_MAX;
	int rc;

	if (!w)
		return -EINVAL;
	rc = resolve_next(h, tag, &epoch);
	if (!rc)
		rc = wic_cpu_request_check(w, h, tag, epoch);
	if (rc)
		return rc;
	ch = h->channel;
	if (ch->push)
		return wic_cpu_push_release(ch, tag, epoch);
	pthread_mutex_lock(&ch->dev->lock);
	hold = wic_cpu_device_find(ch->dev, ch, tag, epoch);
	if (wic_cpu_hold_is_readable(hold)) {
		left = --hold->readers_left;
		__atomic_store_n(&h->dir[tag].released, (uint32_t)epoch, __ATOMIC_RELAXED);
		if (hold->is_in_directory && ch->desc.readers == 1)
			__atomic_store_n(&h->dir[tag].epoch, WIC_EPOCH_NONE, __ATOMIC_RELAXED);
		page = wic_cpu_device_hold_page(ch->dev, hold);
	}
	pthread_mutex_unlock(&ch->dev->lock);
	if (left == UINT32_MAX)
		return wic_fail(-EINVAL, "epoch %" PRIu64 " of tag %u is not held here", epoch,
				tag);
	if (ch->desc.readers > 1)
		cpu_count_add(w->sm->count.released_many, 1);
	if (!left && ch->desc.readers > 1)
		release_post_other(w->sm, epoch, page);
	else if (!left)
		release_post(w->sm, epoch, page);
	return 0;
}

/*
 * Park until the consumer's device has its copy of the epoch published last; in push mode until
 * the one before is released.
 */
static int wait_for_credit(struct cpu_warp *w, struct wic_be_channel *ch, uint32_t tag,
			   uint64_t deadline_ns)
{
	w->req.ch = ch;
	w->req.tag = tag;
	w->req.epoch = ch->push ? wic_cpu_push_unreleased(ch, tag) : cpu_channel_truth(ch, tag);
	w->req.pages = 0;
	w->req.for_credit = true;
	w->req.ref_count = 0;
	w->req.deadline_ns = deadline_ns;
	if (!park(w))
		return 0;
	return wic_fail(w->req.status,
			"block %u warp %u waited %" PRIu64
			" us to stage tag %u of channel %u: epoch "
			"%" PRIu64 " was not %s: %s",
			w->view.block_id, w->view.warp_id, (wic_now_ns() - w->req.since_ns) / 1000,
			tag, ch->id, w->req.epoch, ch->push ? "released" : "requested",
			wic_strerror(w->req.status));
}

int wic_cpu_request_check_produce(const struct cpu_warp *w, const struct wic_handle *h,
				  uint32_t tag, uint64_t epoch)
{
	int rc = check(h, tag, epoch);

	if (!rc)
		rc = check_device(w, "producer", h->producer);
	if (!rc && cpu_channel_is_closed(h->channel))
		rc = wic_fail(-EINVAL, "the channel is closed");
	return rc;
}

int wic_warp_stage(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag, uint64_t epoch,
		   uint64_t timeout_ns, void **buffer_out)
{
	struct cpu_warp *w = wic_cpu_request_self("wic_warp_stage");
	struct wic_be_channel *ch;
	uint64_t deadline;
	int rc;

	(void)lot;
	if (!w)
		return -EINVAL;
	rc = wic_cpu_request_check_produce(w, h, tag, epoch);
	if (rc)
		return rc;
	ch = h->channel;
	if (!buffer_out || !ch->pages_per_tag)
		return wic_fail(-EINVAL, buffer_out ? "a channel of signals has no buffers"
						    : "nowhere to put the buffer's address");
	rc = wic_cpu_channel_stage(ch, tag, epoch, 0, buffer_out);
	if (rc != -EAGAIN || !timeout_ns)
		return rc;
	deadline = wic_deadline_ns(wic_now_ns(), timeout_ns);
	while (rc == -EAGAIN) {
		rc = wic_cpu_request_may_park(ch, timeout_ns, true);
		if (rc)
			return rc;
		rc = wait_for_credit(w, ch, tag, deadline);
		if (!rc)
			rc = wic_cpu_channel_stage(ch, tag, epoch, 0, buffer_out);
	}
	return rc;
}

int wic_warp_publish(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	struct cpu_warp *w = wic_cpu_request_self("wic_warp_publish");
	int rc;

	if (!w)
		return -EINVAL;
	rc = wic_cpu_request_check_produce(w, h, tag, epoch);
	return rc ? rc : wic_cpu_channel_publish(h->channel, tag, 1, epoch);
}
