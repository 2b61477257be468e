// SPDX-License-Identifier: MIT OR GPL-2.0
/* The Activator: what the engine decided, carried out. */
#include "backends/cpu/monitor_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/dep.h"
#include "lib/log.h"
#include "lib/machine.h"

#define COOKIE_HOST (1ull << 32)

uint64_t wic_cpu_mon_cookie_of(const struct cpu_request *req)
{
	if (req->host)
		return COOKIE_HOST | req->host->slot;
	return (uint64_t)req->warp->sm->index << 16 | req->warp->index;
}

static struct cpu_request *request_of(struct cpu_monitor *mon, uint64_t cookie)
{
	if (cookie & COOKIE_HOST)
		return &mon->be->hosts.waits[(uint32_t)cookie]->req;
	return &mon->be->sms[cookie >> 16].warps[cookie & 0xffff].req;
}

void wic_cpu_mon_wake(struct cpu_request *req, uint32_t what)
{
	struct cpu_warp *w = req->warp;
	bool pushed;

	if (req->host) {
		wic_cpu_host_wake(&req->ch->be->hosts, req->host, what);
		return;
	}
	pushed = cpu_ring_push(&w->sm->wakes, w->index | what);
	/* Four words a warp: status, opened, granted, and one to spare; see wic_cpu_sm_init(). */
	WIC_ASSERT(pushed);
	wic_cpu_gate_knock(&w->sm->gate);
}

/* After the context's death inputs are refused; before it none may be. */
void wic_cpu_mon_check_input(struct cpu_monitor *mon, int rc)
{
	bool is_right = !rc || mon->dead || wic_engine_is_dead(mon->engine);

	WIC_ASSERT(is_right);
	/* A release build goes on after that.  Not here: the caller may hold a device's lock. */
	if (!is_right)
		mon->is_broken = true;
}

/*
 * An invariant broke, or the window does not obey: nothing is decided any more.  All pages
 * are opened, and the SMs end whatever their warps wait for with -EIO.
 */
void wic_cpu_mon_die(struct cpu_monitor *mon)
{
	struct wic_be *be = mon->be;

	if (mon->dead)
		return;
	wic_log(WIC_LOG_ERROR, "the context is dead: every wait ends with -EIO");
	for (uint32_t i = 0; i < be->dev_count; i++)
		wic_window_open_all(&be->devs[i].win);
	mon->timer_ns = WIC_DEADLINE_NEVER;
	__atomic_store_n(&mon->dead, 1, __ATOMIC_RELEASE);
	wic_cpu_push_end_all(&mon->be->push_control);
	wic_cpu_hosts_end_all(be);
	for (uint32_t s = 0; s < be->sm_count; s++)
		wic_cpu_gate_knock(&be->sms[s].gate);
}

static void act_fill(struct cpu_monitor *mon, const struct wic_action *a)
{
	struct wic_be_channel *ch = mon->by_engine[a->channel];
	struct cpu_device *dev = ch->dev;
	uint32_t page = a->run.first - dev->page_base;
	struct cpu_hold *hold = &dev->holds[page];

	wic_machine_prefetch_for_write(&dev->lock);
	wic_machine_prefetch_for_write(hold);
	wic_machine_prefetch_for_write(&ch->dir[a->tag]);
	wic_machine_prefetch_for_write(&ch->tags[a->tag]);
	memcpy(dev->win.data + (size_t)page * WIC_PAGE_BYTES,
	       ch->staging + (uint64_t)a->tag * ch->stride, ch->desc.bytes_per_tag);
	cpu_count_add(mon->fill_bytes, ch->desc.bytes_per_tag);
	wic_cpu_channel_set_filled(ch, a->tag, a->epoch);
	if (ch->credits_id != CPU_CREDITS_NONE)
		wic_cpu_mon_check_input(
			mon, wic_engine_publish(mon->engine, ch->credits_id, a->tag, 1, a->epoch));

	pthread_mutex_lock(&dev->lock);
	WIC_ASSERT(hold->state == CPU_HOLD_PENDING && hold->ch == ch);
	hold->state = CPU_HOLD_FILLED;
	wic_cpu_device_install(dev, ch, a->tag);
	pthread_mutex_unlock(&dev->lock);

	wic_cpu_mon_check_input(mon, wic_engine_filled(mon->engine, a->run.first, 0));
}

/* A request has its status.  Its warp may still stand at the page if it owns the hold. */
static void request_ended(struct cpu_monitor *mon, struct cpu_request *req)
{
	struct cpu_device *dev = req->ch->dev;
	struct cpu_hold *hold = &dev->holds[req->run.first];

	pthread_mutex_lock(&dev->lock);
	WIC_ASSERT(hold->users && hold->live);
	hold->live--;
	/* More asked than the channel has readers: those are done with the data. */
	if (hold->released && !req->status)
		req->status = -EINVAL;
	if (!req->owns_hold) {
		hold->users--;
		wic_cpu_mon_drop_if_over(mon, hold);
		wic_cpu_device_give(dev);
	}
	pthread_mutex_unlock(&dev->lock);
}

static void act_replay(struct cpu_monitor *mon, const struct wic_action *a)
{
	struct cpu_request *req;
	uint32_t what = 0;

	if (a->cookie == WIC_COOKIE_NONE) {
		wic_log(WIC_LOG_ERROR, "a fault on page %u that nobody requested",
			a->run.first % mon->be->cfg.pool_pages);
		wic_cpu_mon_die(mon);
		return;
	}
	req = request_of(mon, a->cookie);
	if (a->final) {
		WIC_ASSERT(req->in_engine);
		req->in_engine = false;
		if (req->host)
			mon->be->hosts.in_engine[req->host->slot] = false;
		req->status = a->status;
		/* What the engine says of a closed channel; who calls looked before. */
		if (a->status == -EINVAL && cpu_channel_is_closed(req->ch))
			req->status = -ECANCELED;
		req->epoch_seen = a->epoch_seen;
		if (req->ref_count) {
			mon->set_wants -= req->set_wants;
			/* Which of the set was missing. */
			req->missing_tag = a->tag;
			req->missing_epoch = a->epoch;
		}
		if (req->has_run)
			request_ended(mon, req);
		what |= CPU_WAKE_STATUS;
	}
	if (a->faulted) {
		struct cpu_device *dev = req->ch->dev;

		if (wic_window_open(&dev->win, a->run.first - dev->page_base)) {
			wic_cpu_mon_die(mon);
			return;
		}
		what |= CPU_WAKE_OPENED;
	}
	if (what)
		wic_cpu_mon_wake(req, what);
}

static void act_invalidate(struct cpu_monitor *mon, const struct wic_action *a)
{
	struct cpu_device *dev = &mon->be->devs[a->run.first / mon->be->cfg.pool_pages];
	struct wic_run run = { a->run.first - dev->page_base, a->run.count };
	uint32_t closed;

	if (wic_window_close(&dev->win, run, &closed)) {
		wic_cpu_mon_die(mon);
		return;
	}
	cpu_count_add(mon->pages_closed, closed);
	wic_cpu_mon_check_input(mon, wic_engine_invalidated(mon->engine, a->run));
	pthread_mutex_lock(&dev->lock);
	wic_cpu_mon_check_input(mon, wic_pool_closed(dev->pool, run));
	wic_cpu_mon_serve_queue(mon, dev);
	pthread_mutex_unlock(&dev->lock);
}

/* Carry out what the engine has decided. */
void wic_cpu_mon_act(struct cpu_monitor *mon)
{
	struct wic_action a;

	while (!mon->dead && wic_engine_next(mon->engine, &a)) {
		switch (a.kind) {
		case WIC_ACTION_FILL:
			act_fill(mon, &a);
			break;
		case WIC_ACTION_REPLAY:
			act_replay(mon, &a);
			break;
		case WIC_ACTION_INVALIDATE:
			act_invalidate(mon, &a);
			break;
		case WIC_ACTION_TIMER:
			mon->timer_ns = a.at_ns;
			break;
		}
	}
	if (wic_engine_is_dead(mon->engine) || mon->is_broken)
		wic_cpu_mon_die(mon);
}
