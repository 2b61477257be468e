// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The Interrupter: what an SM's gather list becomes.  Scheduler context.
 *
 * A batch shares one run of pages and one notice, not the fate: each warp has its own
 * part of the run, its own status, and goes on when its own tag is there.  When no run
 * fits the whole batch, each member takes its own or waits for it in the pool's FIFO.
 */
#include <errno.h>
#include <string.h>

#include "backends/cpu/be.h"
#include "core/dep.h"
#include "lib/log.h"

struct batch {
	struct cpu_warp *warps[WIC_BATCH_WARPS];
	uint32_t count;
	struct wic_run run; /* what is left of the batch's run */
};

static bool wants_same(const struct cpu_request *a, const struct cpu_request *b)
{
	return a->ch == b->ch && a->tag == b->tag && a->epoch == b->epoch;
}

/* It asks for data, has no pages yet, and no status. */
static bool needs_pages(const struct cpu_warp *w)
{
	return w->req.pages && !w->req.has_run && !(w->got & CPU_WAKE_STATUS);
}

/* Pages that the batch needs beside the holds that exist.  Under the device's lock. */
static uint32_t pages_missing(struct cpu_device *dev, const struct batch *b)
{
	uint32_t pages = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		const struct cpu_request *req = &b->warps[i]->req;
		uint32_t j = 0;

		if (!needs_pages(b->warps[i]) || req->ref_count ||
		    wic_cpu_device_find(dev, req->ch, req->tag, req->epoch))
			continue;
		while (j < i && !(needs_pages(b->warps[j]) && !b->warps[j]->req.ref_count &&
				  wants_same(req, &b->warps[j]->req)))
			j++;
		if (j == i && __builtin_add_overflow(pages, req->pages, &pages))
			return UINT32_MAX;
	}
	return pages;
}

/* Give one member its pages: a hold to join, a new one, or a place in the FIFO. */
static void assign_pages(struct cpu_sm *sm, struct batch *b, struct cpu_warp *w)
{
	if (!needs_pages(w))
		return;
	switch (wic_cpu_device_assign(sm->dev, &w->req, &b->run)) {
	case CPU_ASSIGN_DONE:
		w->got |= CPU_WAKE_STATUS;
		break;
	case CPU_ASSIGN_QUEUED:
		w->state = CPU_WARP_QUEUED;
		sm->queued++;
		break;
	case CPU_ASSIGN_JOINED:
		break;
	}
}

/*
 * Channels closed since their warps asked.  One closed later is seen by the Monitor, which
 * flushes the queue for pages under the lock that is held here.
 */
static void cancel_closed(const struct batch *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		struct cpu_request *req = &b->warps[i]->req;

		if (req->has_run || !cpu_channel_is_closed(req->ch))
			continue;
		req->status = -ECANCELED;
		req->epoch_seen = cpu_channel_truth(req->ch, req->tag);
		b->warps[i]->got |= CPU_WAKE_STATUS;
	}
}

static void assign_all(struct cpu_sm *sm, struct batch *b)
{
	struct cpu_device *dev = sm->dev;
	uint32_t pages;

	pthread_mutex_lock(&dev->lock);
	cancel_closed(b);
	pages = pages_missing(dev, b);
	b->run = (struct wic_run){ 0, 0 };
	if (pages && pages <= wic_pool_usable(dev->pool))
		(void)wic_cpu_device_take(dev, pages, &b->run);
	for (uint32_t i = 0; i < b->count; i++)
		assign_pages(sm, b, b->warps[i]);
	/* A set of this batch has made a hold that another member then joined. */
	wic_cpu_device_return(dev, b->run);
	pthread_mutex_unlock(&dev->lock);
}

/* Keep those that go to the Monitor; the others are done or wait for pages. */
static void keep_pending(struct cpu_sm *sm, struct batch *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		struct cpu_warp *w = b->warps[i];

		if (w->state == CPU_WARP_QUEUED) {
			wic_cpu_sm_event(sm, w, WIC_EVENT_PARK, w->req.tag, w->req.epoch);
		} else if (w->got & CPU_WAKE_STATUS) {
			wic_cpu_sm_make_runnable(sm, w);
		} else {
			w->state = CPU_WARP_PARKED;
			b->warps[kept++] = w;
		}
	}
	b->count = kept;
}

static void notify(struct cpu_sm *sm, const uint64_t *words, uint32_t count)
{
	bool pushed = cpu_ring_push_all(&sm->notices, words, count);

	/* Two words a warp at most: see wic_cpu_sm_init(). */
	WIC_ASSERT(pushed);
}

static void post(struct cpu_sm *sm, const struct batch *b)
{
	uint64_t words[WIC_BATCH_WARPS];

	for (uint32_t i = 0; i < b->count; i++)
		words[i] = cpu_notice_make(b->warps[i]->faulted ? CPU_NOTICE_STOPPED
								: CPU_NOTICE_REQUEST,
					   b->warps[i]->index, b->count - i);
	notify(sm, words, b->count);
	cpu_count_add(sm->count.batches, 1);
}

/* The SM would be idle: look for as long as a park costs, unless another warp can run. */
static void look(struct cpu_sm *sm)
{
	uint64_t until = wic_now_ns() + sm->be->park_ns;

	while (!sm->run_count && wic_now_ns() < until) {
		wic_cpu_sm_take_wakes(sm);
		cpu_be_relax(sm->be);
	}
}

/* The batch's first warp with pages of its own takes the real fault. */
static void take_fault(struct cpu_sm *sm, struct cpu_warp *w)
{
	w->touch_next = true;
	wic_cpu_sm_resume(sm, w);
}

void wic_cpu_sm_send_batch(struct cpu_sm *sm)
{
	struct batch b = { .count = sm->gather_count };
	struct cpu_warp *owner = NULL;
	bool posted = false;

	memcpy(b.warps, sm->gather, sizeof(b.warps));
	sm->gather_count = 0;
	assign_all(sm, &b);
	keep_pending(sm, &b);
	if (!b.count)
		goto out_knock;
	if (!sm->run_count && sm->be->park_ns) {
		post(sm, &b);
		posted = true;
		wic_cpu_gate_knock(&sm->be->mon.gate);
		look(sm);
	}
	for (uint32_t i = 0; i < b.count; i++) {
		struct cpu_warp *w = b.warps[i];

		if (w->state != CPU_WARP_PARKED)
			continue;
		wic_cpu_sm_event(sm, w, WIC_EVENT_PARK, w->req.tag, w->req.epoch);
		cpu_count_add(sm->count.parks, 1);
		if (w->req.owns_hold && !owner)
			owner = w;
	}
	if (owner)
		take_fault(sm, owner);
	/* After the switch: before it, the warp could be resumed while it still runs. */
	if (!posted)
		post(sm, &b);
	else if (owner && owner->faulted)
		notify(sm,
		       &(uint64_t){ cpu_notice_make(CPU_NOTICE_FAULT, owner->index,
						    owner->req.run.first) },
		       1);
out_knock:
	wic_cpu_gate_knock(&sm->be->mon.gate);
}

void wic_cpu_sm_expire_queued(struct cpu_sm *sm)
{
	struct cpu_device *dev = sm->dev;
	uint64_t now = wic_now_ns();

	for (uint32_t i = 0; i < sm->warp_count; i++) {
		struct cpu_warp *w = &sm->warps[i];
		bool left;

		if (w->state != CPU_WARP_QUEUED || now < w->req.deadline_ns)
			continue;
		pthread_mutex_lock(&dev->lock);
		/* Served meanwhile: its grant is on the way. */
		left = !wic_pool_leave(dev->pool, &w->req.waiter);
		if (left)
			wic_cpu_queue_remove(dev, &w->req);
		pthread_mutex_unlock(&dev->lock);
		if (!left)
			continue;
		w->req.status = -ETIMEDOUT;
		cpu_count_add(sm->count.timeouts, 1);
		w->req.epoch_seen = cpu_channel_truth(w->req.ch, w->req.tag);
		w->got |= CPU_WAKE_STATUS;
		sm->queued--;
		wic_cpu_sm_make_runnable(sm, w);
	}
}
