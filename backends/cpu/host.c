// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/host.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "backends/cpu/be.h"
#include "core/dep.h"
#include "lib/log.h"

void wic_cpu_hosts_init(struct cpu_hosts *hosts)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&hosts->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&hosts->slot_freed, &attr);
	pthread_condattr_destroy(&attr);
}

void wic_cpu_hosts_fini(struct cpu_hosts *hosts)
{
	pthread_cond_destroy(&hosts->slot_freed);
	pthread_mutex_destroy(&hosts->lock);
}

int wic_cpu_host_window(struct wic_be *be)
{
	struct cpu_device *host = &be->devs[be->dev_count];
	int rc = 0;

	pthread_mutex_lock(&be->launch_lock);
	if (!host->win.data)
		rc = wic_window_create_plain(&host->win, be->cfg.pool_pages);
	pthread_mutex_unlock(&be->launch_lock);
	return rc;
}

/*
 * A slot keeps its futex word, so that the Monitor may wake a thread that has seen what
 * came already and gone.  A wake too many, for the slot's next thread, only makes it look.
 */
void wic_cpu_host_wake(struct cpu_hosts *hosts, struct cpu_host_wait *wait, uint32_t what)
{
	uint32_t *word = &hosts->words[wait->slot];

	/* Pairs with the thread's acquire. */
	__atomic_fetch_or(word, what, __ATOMIC_RELEASE);
	wic_cpu_futex_wake_all(word);
}

static uint32_t got_of(const struct cpu_host_wait *wait)
{
	const struct cpu_hosts *hosts = &wait->req.ch->be->hosts;

	return __atomic_load_n(&hosts->words[wait->slot], __ATOMIC_ACQUIRE);
}

/* Out of the pool's FIFO; false: it was served or ended meanwhile. */
static bool leave_queue(struct cpu_device *dev, struct cpu_request *req)
{
	bool was_queued;

	pthread_mutex_lock(&dev->lock);
	was_queued = req->waiter.next;
	if (was_queued) {
		int rc = wic_pool_leave(dev->pool, &req->waiter);

		WIC_ASSERT(!rc);
		wic_cpu_queue_remove(dev, req);
	}
	pthread_mutex_unlock(&dev->lock);
	return was_queued;
}

/*
 * Those whose request the engine has; those that wait for pages look themselves when they
 * are woken; those whose request is posted are answered when it is taken.
 */
void wic_cpu_hosts_end_all(struct wic_be *be)
{
	struct cpu_hosts *hosts = &be->hosts;

	for (uint32_t i = 0; i < CPU_HOST_WAITS_MAX; i++) {
		if (!hosts->in_engine[i])
			continue;
		hosts->in_engine[i] = false;
		hosts->waits[i]->req.status = -EIO;
		wic_cpu_host_wake(hosts, hosts->waits[i], CPU_WAKE_STATUS);
	}
	for (uint32_t i = 0; i <= be->dev_count; i++) {
		struct cpu_device *dev = &be->devs[i];

		pthread_mutex_lock(&dev->lock);
		for (struct cpu_request *req = dev->queue_first; req; req = req->queue_next)
			if (req->host)
				wic_cpu_host_wake(hosts, req->host, CPU_WAKE_GRANTED);
		pthread_mutex_unlock(&dev->lock);
	}
}

static bool slot_find(struct cpu_hosts *hosts, struct cpu_host_wait *wait)
{
	for (uint32_t i = 0; i < CPU_HOST_WAITS_MAX; i++) {
		if (hosts->waits[i])
			continue;
		hosts->waits[i] = wait;
		wait->slot = i;
		__atomic_store_n(&hosts->words[i], 0, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

/* What keeps a thread from waiting for a slot any longer. */
static int slot_status(const struct cpu_request *req, uint64_t now)
{
	if (cpu_be_is_dead(req->ch->be))
		return -EIO;
	if (cpu_channel_is_closed(req->ch) || cpu_be_is_cancelled(req->ch->be))
		return -ECANCELED;
	return now < req->deadline_ns ? 0 : -ETIMEDOUT;
}

/* A slot: 0, or why there is none. */
static int slot_take(struct cpu_hosts *hosts, struct cpu_host_wait *wait)
{
	int rc = 0;

	pthread_mutex_lock(&hosts->lock);
	while (!slot_find(hosts, wait)) {
		/* Nobody wakes for a cancel or a close. */
		uint64_t now = wic_now_ns(), until = now + CPU_CANCEL_TICK_NS;
		struct timespec at = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

		rc = slot_status(&wait->req, now);
		if (rc)
			break;
		(void)pthread_cond_timedwait(&hosts->slot_freed, &hosts->lock, &at);
	}
	pthread_mutex_unlock(&hosts->lock);
	return rc;
}

static void slot_give(struct cpu_hosts *hosts, uint32_t slot)
{
	pthread_mutex_lock(&hosts->lock);
	hosts->waits[slot] = NULL;
	pthread_cond_signal(&hosts->slot_freed);
	pthread_mutex_unlock(&hosts->lock);
}

/* Sleep until one of @what came, or the deadline; true: it came. */
static bool sleep_for(struct cpu_host_wait *wait, uint32_t what, uint64_t deadline_ns)
{
	struct wic_be *be = wait->req.ch->be;
	struct cpu_hosts *hosts = &be->hosts;
	uint64_t asleep_from = wic_now_ns() + 2 * be->park_ns;
	uint32_t got;

	while (!((got = got_of(wait)) & what)) {
		uint64_t now = wic_now_ns();

		if (now >= deadline_ns)
			return false;
		/* For as long as a sleep costs; the Monitor may need this core. */
		if (now < asleep_from) {
			sched_yield();
			continue;
		}
		wic_cpu_futex_wait(&hosts->words[wait->slot], got,
				   deadline_ns == WIC_FOREVER ? UINT64_MAX : deadline_ns - now);
	}
	return true;
}

/* Wait in the pool's FIFO for pages.  True: go on to the Monitor. */
static bool wait_for_pages(struct cpu_host_wait *wait)
{
	struct wic_be_channel *ch = wait->req.ch;
	uint32_t what = CPU_WAKE_GRANTED | CPU_WAKE_STATUS;
	bool in_time;

	wic_cpu_gate_knock(&ch->be->mon.gate);
	in_time = cpu_be_is_dead(ch->be) || sleep_for(wait, what, wait->req.deadline_ns);
	/* Dead: it may have been woken without a grant, and nobody serves the queue any more. */
	if ((!in_time || cpu_be_is_dead(ch->be)) && leave_queue(ch->dev, &wait->req)) {
		wait->req.status = in_time ? -EIO : -ETIMEDOUT;
		wait->req.epoch_seen = cpu_channel_truth(ch, wait->req.tag);
		return false;
	}
	/* Served meanwhile: its grant is on the way. */
	(void)sleep_for(wait, what, WIC_FOREVER);
	return !(got_of(wait) & CPU_WAKE_STATUS);
}

/* Until the request has its status. */
static void run_request(struct cpu_host_wait *wait)
{
	struct cpu_request *req = &wait->req;
	struct cpu_device *dev = req->ch->dev;
	enum cpu_assign assigned = CPU_ASSIGN_JOINED;

	if (req->pages) {
		pthread_mutex_lock(&dev->lock);
		if (cpu_channel_is_closed(req->ch)) {
			/* Closed later, the Monitor flushes the queue under this lock. */
			req->status = -ECANCELED;
			assigned = CPU_ASSIGN_DONE;
		} else {
			assigned = wic_cpu_device_assign(dev, req, NULL);
		}
		pthread_mutex_unlock(&dev->lock);
	}
	if (assigned == CPU_ASSIGN_DONE || (assigned == CPU_ASSIGN_QUEUED && !wait_for_pages(wait)))
		return;
	/* A thread stands at no page: nothing keeps the hold once the request has ended. */
	req->owns_hold = false;
	wic_cpu_monitor_post(&req->ch->be->mon, &wait->call, wic_cpu_monitor_host_request, wait);
	/* The engine keeps the deadline. */
	(void)sleep_for(wait, CPU_WAKE_STATUS, WIC_FOREVER);
}

static int describe(const struct cpu_request *req)
{
	if (req->status == -EINVAL)
		return wic_fail(-EINVAL,
				"epoch %" PRIu64 " of tag %u of channel %u is gone: %" PRIu64
				" is published, and what was filled was released",
				req->epoch, req->tag, req->ch->id, req->epoch_seen);
	return wic_fail(req->status,
			"a host thread waited %" PRIu64 " us for epoch %" PRIu64
			" of tag %u of channel %u, saw %" PRIu64 ": %s",
			(wic_now_ns() - req->since_ns) / 1000, req->epoch, req->tag, req->ch->id,
			req->epoch_seen, wic_strerror(req->status));
}

/* Data that the host holds already, or a signal that is there. */
static bool is_there(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, const void **data_out)
{
	const void *data;
	bool is_gone;

	if (!data_out)
		return cpu_channel_truth(ch, tag) >= epoch;
	data = ch->push ? wic_cpu_push_find(ch, tag, epoch, &is_gone)
			: wic_cpu_device_find_data(ch->dev, ch, tag, epoch);
	if (data)
		*data_out = data;
	return data;
}

int wic_cpu_host_request(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			 uint64_t timeout_ns, const void **data_out)
{
	struct cpu_host_wait wait;
	uint64_t now;
	int rc;

	if (is_there(ch, tag, epoch, data_out))
		return 0;
	if (cpu_be_is_dead(ch->be))
		return wic_fail(-EIO, "the context is dead");
	if (!timeout_ns)
		return -EAGAIN;
	if (cpu_be_is_cancelled(ch->be))
		return wic_fail(-ECANCELED, "all waits are cancelled: wic_cancel()");
	now = wic_now_ns();
	memset(&wait, 0, sizeof(wait));
	wait.req.ch = ch;
	wait.req.tag = tag;
	wait.req.epoch = epoch;
	wait.req.pages = data_out && !ch->push ? ch->pages_per_tag : 0;
	wait.req.deadline_ns = wic_deadline_ns(now, timeout_ns);
	wait.req.status = CPU_STATUS_PENDING;
	wait.req.since_ns = now;
	wait.req.cancels = cpu_be_cancels(ch->be);
	wait.req.host = &wait;
	wic_cpu_channel_enter(ch);
	rc = slot_take(&ch->be->hosts, &wait);
	if (!rc) {
		run_request(&wait);
		slot_give(&ch->be->hosts, wait.slot);
		rc = wait.req.status ? describe(&wait.req) : 0;
	} else {
		wic_fail(rc, "%u host threads wait, the most at a time: %s", CPU_HOST_WAITS_MAX,
			 wic_strerror(rc));
	}
	if (!rc && data_out && ch->push && !is_there(ch, tag, epoch, data_out)) {
		wait.req.status = -EINVAL;
		rc = describe(&wait.req);
	} else if (!rc && data_out && !ch->push) {
		*data_out = ch->dev->win.data + (size_t)wait.req.run.first * WIC_PAGE_BYTES;
	}
	wic_cpu_channel_leave(ch);
	return rc;
}

int wic_cpu_host_release(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	struct cpu_device *dev = ch->dev;
	struct cpu_hold *hold;
	bool last = false;

	if (ch->push)
		return wic_cpu_push_release(ch, tag, epoch);
	pthread_mutex_lock(&dev->lock);
	hold = wic_cpu_device_find(dev, ch, tag, epoch);
	if (!wic_cpu_hold_is_readable(hold)) {
		pthread_mutex_unlock(&dev->lock);
		return wic_fail(-EINVAL, "epoch %" PRIu64 " of tag %u is not held here", epoch,
				tag);
	}
	last = !--hold->readers_left;
	if (last) {
		/* The Monitor's is what comes after; it takes it when it next looks. */
		hold->released = true;
		/* The list is one of its users: nobody else may drop it meanwhile. */
		hold->users++;
		hold->next_released = dev->released_first;
		dev->released_first = wic_cpu_device_hold_page(dev, hold);
		__atomic_store_n(&dev->has_released, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&dev->lock);
	if (last && __atomic_load_n(&dev->queue_count, __ATOMIC_RELAXED))
		wic_cpu_gate_knock(&ch->be->mon.gate);
	return 0;
}
