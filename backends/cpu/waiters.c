// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Those who wait, seen all at once: to list them, to warn, to cancel.  The Monitor's thread, but
 * wic_cpu_waiters_warn().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "backends/cpu/monitor_parts.h"
#include "core/dep.h"
#include "lib/log.h"

struct visit {
	struct cpu_monitor *mon;
	void (*call)(struct visit *v, struct cpu_request *req, bool for_pages);
	uint64_t now_ns;
	/* Of a listing. */
	struct wic_waiter *waiters_out;
	size_t max, count;
};

/* All whose request the engine has. */
static void visit_engine(struct visit *v)
{
	struct wic_be *be = v->mon->be;

	/* All have been ended, whatever the engine still says. */
	if (v->mon->dead)
		return;
	for (uint32_t s = 0; s < be->sm_count; s++)
		for (uint32_t i = 0; i < be->sms[s].warp_count; i++)
			if (be->sms[s].warps[i].req.in_engine)
				v->call(v, &be->sms[s].warps[i].req, false);
	/* A slot is not given back while the engine has its request. */
	for (uint32_t i = 0; i < CPU_HOST_WAITS_MAX; i++)
		if (be->hosts.in_engine[i])
			v->call(v, &be->hosts.waits[i]->req, false);
}

/* Those in the tree: their SM decides, so they are listed only. */
static void visit_trees(struct visit *v)
{
	struct wic_be *be = v->mon->be;

	for (uint32_t s = 0; s < be->sm_count; s++) {
		struct cpu_sm *sm = &be->sms[s];

		pthread_mutex_lock(&sm->tree_lock);
		for (uint32_t i = 0; i < sm->warp_count; i++)
			if (sm->warps[i].in_tree)
				v->call(v, &sm->warps[i].req, false);
		pthread_mutex_unlock(&sm->tree_lock);
	}
}

static void visit_queues(struct visit *v)
{
	struct wic_be *be = v->mon->be;

	for (uint32_t i = 0; i <= be->dev_count; i++) {
		struct cpu_device *dev = &be->devs[i];

		pthread_mutex_lock(&dev->lock);
		for (struct cpu_request *req = dev->queue_first; req; req = req->queue_next)
			v->call(v, req, true);
		pthread_mutex_unlock(&dev->lock);
	}
}

static struct wic_waiter to_waiter(const struct cpu_request *req, bool for_pages, uint64_t now_ns)
{
	const struct wic_be_channel *ch = req->ch;
	/* In the tree a set waits for one tag after the other. */
	bool is_one_of_set = req->ref_count && cpu_channel_is_in_tree(ch);
	uint32_t tag = is_one_of_set ? req->missing_tag : req->tag;
	const struct cpu_tag *t = &ch->tags[tag];
	struct wic_waiter w = {
		.epoch = is_one_of_set ? req->missing_epoch : req->epoch,
		.epoch_seen =
			__atomic_load_n(req->for_credit ? &t->filled : &t->truth, __ATOMIC_ACQUIRE),
		.age_ns = now_ns > req->since_ns ? now_ns - req->since_ns : 0,
		.left_ns = WIC_FOREVER,
		.channel = ch->id,
		.tag = tag,
		.device = WIC_DEVICE_HOST_VALUE,
		.kind = WIC_WAITER_DATA,
	};

	if (req->deadline_ns != WIC_FOREVER)
		w.left_ns = req->deadline_ns > now_ns ? req->deadline_ns - now_ns : 0;
	if (req->warp) {
		w.device = req->warp->sm->dev->index;
		w.block = req->warp->view.block_id;
		w.warp = req->warp->view.warp_id;
	}
	if (req->tag == ch->desc.tags)
		w.epoch_seen = ch->push ? wic_cpu_push_count(ch)
					: __atomic_load_n(&ch->publish_seq, __ATOMIC_ACQUIRE);
	else if (req->for_credit && ch->push)
		w.epoch_seen = wic_cpu_push_all_released(ch, req->tag);
	if (for_pages)
		w.kind = WIC_WAITER_PAGES;
	else if (req->for_credit)
		w.kind = WIC_WAITER_BUFFER;
	else if (req->ref_count)
		w.kind = WIC_WAITER_SET;
	else if (req->tag == ch->desc.tags)
		w.kind = WIC_WAITER_ANY;
	return w;
}

static void list_one(struct visit *v, struct cpu_request *req, bool for_pages)
{
	if (v->count < v->max)
		v->waiters_out[v->count] = to_waiter(req, for_pages, v->now_ns);
	v->count++;
}

static int list_all(struct cpu_monitor *mon, void *arg)
{
	struct visit *v = arg;

	v->mon = mon;
	v->call = list_one;
	v->now_ns = wic_now_ns();
	visit_engine(v);
	visit_queues(v);
	visit_trees(v);
	return 0;
}

int wic_cpu_waiters(struct wic_be *be, struct wic_waiter *waiters_out, size_t max,
		    size_t *count_out)
{
	struct visit v = { .waiters_out = waiters_out, .max = max };
	int rc = wic_cpu_monitor_call(&be->mon, list_all, &v);

	if (!rc)
		*count_out = v.count;
	return rc;
}

/* This thread may have been late: a wait that began after a clear is not the cancel's. */
bool wic_cpu_mon_is_cancelled(const struct cpu_monitor *mon, const struct cpu_request *req)
{
	return __atomic_load_n(&mon->be->push_control.truth[0], __ATOMIC_ACQUIRE) > req->cancels;
}

static void cancel_one(struct visit *v, struct cpu_request *req, bool for_pages)
{
	(void)for_pages;
	if (!wic_cpu_mon_is_cancelled(v->mon, req))
		return;
	/* -EINVAL: its REPLAY is on the way. */
	(void)wic_engine_cancel(v->mon->engine, wic_cpu_mon_cookie_of(req));
}

void wic_cpu_mon_cancel_all(struct cpu_monitor *mon)
{
	struct visit v = { .mon = mon, .call = cancel_one };

	visit_engine(&v);
	wic_cpu_mon_act(mon);
	for (uint32_t i = 0; i <= mon->be->dev_count; i++)
		wic_cpu_mon_flush_queue(mon, &mon->be->devs[i], NULL);
}

static void warn(struct cpu_request *req, const struct wic_waiter *w)
{
	static const char *const what[] = {
		[WIC_WAITER_DATA] = "epoch",
		[WIC_WAITER_SET] = "a set with epoch",
		[WIC_WAITER_ANY] = "any tag to claim, publish",
		[WIC_WAITER_BUFFER] = "a buffer, free once its data is taken: epoch",
		[WIC_WAITER_PAGES] = "free pages for epoch",
	};
	char who[64] = "a host thread";

	req->is_warned = true;
	if (req->warp)
		snprintf(who, sizeof(who), "block %u warp %u of device %u", w->block, w->warp,
			 w->device);
	wic_log(WIC_LOG_WARN,
		"%s has waited %" PRIu64 " ms for %s %" PRIu64
		" of tag %u of channel %u, saw %" PRIu64,
		who, w->age_ns / 1000000, what[w->kind], w->epoch, w->tag, w->channel,
		w->epoch_seen);
}

static void warn_one(struct visit *v, struct cpu_request *req, bool for_pages)
{
	struct wic_waiter w = to_waiter(req, for_pages, v->now_ns);

	if (!req->is_warned && w.age_ns / 1000000 >= v->mon->be->cfg.warn_after_ms)
		warn(req, &w);
}

void wic_cpu_waiters_warn(struct cpu_request *req)
{
	struct wic_waiter w = to_waiter(req, false, wic_now_ns());

	warn(req, &w);
}

void wic_cpu_mon_warn_old(struct cpu_monitor *mon, uint64_t now_ns)
{
	struct visit v = { .mon = mon, .call = warn_one, .now_ns = now_ns };

	visit_engine(&v);
	visit_queues(&v);
}
