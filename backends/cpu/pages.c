// SPDX-License-Identifier: MIT OR GPL-2.0
/* The Monitor's side of the pools: who gets pages, what is released, what is closed. */
#include "backends/cpu/monitor_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/dep.h"
#include "lib/log.h"
#include "lib/machine.h"

/* Who waits for pages, on one channel or (NULL) since before a cancel, ends with -ECANCELED. */
void wic_cpu_mon_flush_queue(struct cpu_monitor *mon, struct cpu_device *dev,
			     const struct wic_be_channel *ch)
{
	struct cpu_request *req, *next;

	pthread_mutex_lock(&dev->lock);
	for (req = dev->queue_first; req; req = next) {
		next = req->queue_next;
		if (ch ? req->ch != ch : !wic_cpu_mon_is_cancelled(mon, req))
			continue;
		wic_cpu_mon_check_input(mon, wic_pool_leave(dev->pool, &req->waiter));
		wic_cpu_queue_remove(dev, req);
		req->status = -ECANCELED;
		req->epoch_seen = cpu_channel_truth(req->ch, req->tag);
		wic_cpu_mon_wake(req, CPU_WAKE_STATUS);
	}
	pthread_mutex_unlock(&dev->lock);
}

/* Whoever waits for the same (tag, epoch) as @hold joins it.  Under the device's lock. */
static void serve_joiners(struct cpu_device *dev, struct cpu_hold *hold)
{
	struct cpu_request *req = dev->queue_first, *next;

	for (; req && hold->ch->tags[hold->tag].queued; req = next) {
		next = req->queue_next;
		if (req->ref_count || req->ch != hold->ch || req->tag != hold->tag ||
		    req->epoch != hold->epoch)
			continue;
		if (wic_pool_leave(dev->pool, &req->waiter))
			continue;
		wic_cpu_queue_remove(dev, req);
		wic_cpu_request_join(dev, req, hold);
		wic_cpu_mon_wake(req, CPU_WAKE_GRANTED);
	}
}

/* Its warp has a status as soon as it has the pages: it goes on to its requests. */
static void serve_set(struct cpu_device *dev, struct cpu_request *req)
{
	uint32_t pages[WIC_SET_MAX], count = req->ref_count;

	wic_cpu_device_pin_set(dev, req, req->waiter.run);
	memcpy(pages, req->pins, count * sizeof(*pages));
	wic_cpu_mon_wake(req, CPU_WAKE_STATUS);
	for (uint32_t i = 0; i < count; i++)
		serve_joiners(dev, &dev->holds[pages[i]]);
}

/* Give pages to the first in the queue while there are some.  Under the device's lock. */
void wic_cpu_mon_serve_queue(struct cpu_monitor *mon, struct cpu_device *dev)
{
	struct wic_pool_waiter *waiter;

	if (mon->dead)
		return;
	while ((waiter = wic_pool_serve(dev->pool))) {
		struct cpu_request *req =
			(struct cpu_request *)((char *)waiter -
					       offsetof(struct cpu_request, waiter));
		struct cpu_hold *hold;

		wic_cpu_queue_remove(dev, req);
		if (req->ref_count) {
			serve_set(dev, req);
			continue;
		}
		hold = wic_cpu_device_find(dev, req->ch, req->tag, req->epoch);
		if (hold && hold->state == CPU_HOLD_PENDING) {
			/* One that it had to let go is still there: one hold a (tag, epoch). */
			wic_cpu_mon_check_input(mon, wic_pool_give(dev->pool, waiter->run));
		} else {
			hold = wic_cpu_device_hold(dev, req->ch, req->tag, req->epoch, waiter->run);
			req->owns_hold = true;
		}
		wic_cpu_request_join(dev, req, hold);
		wic_cpu_mon_wake(req, CPU_WAKE_GRANTED);
		serve_joiners(dev, hold);
	}
}

/* Close what is worth closing, or all that is dirty while somebody waits for pages. */
void wic_cpu_mon_retire_pages(struct cpu_monitor *mon, struct cpu_device *dev)
{
	struct wic_run run;

	for (;;) {
		bool any;

		pthread_mutex_lock(&dev->lock);
		wic_cpu_mon_serve_queue(mon, dev);
		any = wic_pool_close_next(dev->pool, &run);
		pthread_mutex_unlock(&dev->lock);
		if (!any || mon->dead)
			return;
		run.first += dev->page_base;
		wic_cpu_mon_check_input(mon, wic_engine_retire(mon->engine, run));
		wic_cpu_mon_act(mon);
	}
}

/* Give a hold's pages back once nobody reads them, waits for them or stands at them. */
void wic_cpu_mon_drop_if_over(struct cpu_monitor *mon, struct cpu_hold *hold)
{
	struct wic_be_channel *ch = hold->ch;
	struct cpu_device *dev = ch->dev;
	uint32_t tag = hold->tag;
	struct wic_dir_entry *d = &ch->dir[tag];

	if (hold->users || (hold->state == CPU_HOLD_FILLED && !hold->released))
		return;
	if (__atomic_load_n(&d->epoch, __ATOMIC_RELAXED) == hold->epoch)
		__atomic_store_n(&d->epoch, WIC_EPOCH_NONE, __ATOMIC_RELAXED);
	if (hold->is_in_engine)
		wic_cpu_mon_check_input(
			mon,
			wic_engine_release(mon->engine,
					   dev->page_base + wic_cpu_device_hold_page(dev, hold)));
	wic_cpu_device_drop(dev, hold);
	wic_cpu_device_install(dev, ch, tag);
}

static uint64_t release_word(const struct cpu_sm *sm, uint32_t i)
{
	return sm->view.release_ring[i % WIC_RELEASE_WORDS_];
}

static struct cpu_hold *release_hold(struct cpu_device *dev, uint64_t word)
{
	return &dev->holds[(uint32_t)word & ~CPU_RELEASE_USER];
}

/* One word: the last release of a hold, or the end of a request.  Under the device's lock. */
static void take_release(struct cpu_monitor *mon, struct cpu_device *dev, uint64_t word)
{
	bool user = word & CPU_RELEASE_USER;
	struct cpu_hold *hold = release_hold(dev, word);

	if (user) {
		WIC_ASSERT(hold->state != CPU_HOLD_NONE && hold->users);
		hold->users--;
		wic_cpu_mon_drop_if_over(mon, hold);
	} else if (hold->state == CPU_HOLD_FILLED && !hold->released &&
		   (uint32_t)hold->epoch == word >> 32) {
		hold->released = true;
		wic_cpu_mon_drop_if_over(mon, hold);
	} else {
		wic_log(WIC_LOG_WARN,
			"an epoch ending in %u (mod 2^32), page %u, was released twice by two SMs",
			(uint32_t)(word >> 32), (uint32_t)word);
	}
}

bool wic_cpu_mon_drain_releases(struct cpu_monitor *mon, struct cpu_sm *sm, uint32_t at_least)
{
	/* Pairs with cpu_sm_publish_releases(): the readers' loads are before this. */
	uint32_t end = __atomic_load_n(&sm->release_published, __ATOMIC_ACQUIRE);
	uint32_t tail = sm->release_tail;
	struct cpu_device *dev = sm->dev;

	if (end - tail < at_least)
		return false;
	while (tail != end) {
		uint32_t stop = end - tail > RELEASES_A_TURN ? tail + RELEASES_A_TURN : end;
		uint32_t i;

		/* Not under the lock: another core wrote all of them. */
		for (i = tail; i != stop; i++)
			wic_machine_prefetch_for_write(release_hold(dev, release_word(sm, i)));
		pthread_mutex_lock(&dev->lock);
		for (; tail != stop; tail++)
			take_release(mon, dev, release_word(sm, tail));
		wic_cpu_device_give(dev);
		pthread_mutex_unlock(&dev->lock);
	}
	__atomic_store_n(&sm->release_tail, tail, __ATOMIC_RELEASE);
	return true;
}

/* Holds that host threads released; the list is under the device's lock. */
bool wic_cpu_mon_drain_host_releases(struct cpu_monitor *mon, struct cpu_device *dev)
{
	if (!__atomic_load_n(&dev->has_released, __ATOMIC_ACQUIRE))
		return false;
	pthread_mutex_lock(&dev->lock);
	while (dev->released_first != WIC_PAGE_NONE) {
		struct cpu_hold *hold = &dev->holds[dev->released_first];

		dev->released_first = hold->next_released;
		hold->users--;
		wic_cpu_mon_drop_if_over(mon, hold);
	}
	wic_cpu_device_give(dev);
	__atomic_store_n(&dev->has_released, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&dev->lock);
	return true;
}

bool wic_cpu_mon_has_queue(const struct cpu_device *dev)
{
	return __atomic_load_n(&dev->queue_count, __ATOMIC_ACQUIRE);
}

/* Releases of a device, where an SM has @at_least so many; then close what is worth it. */
bool wic_cpu_mon_take_releases_of(struct cpu_monitor *mon, struct cpu_device *dev,
				  uint32_t at_least)
{
	bool any = false;

	for (uint32_t s = 0; s < dev->sm_count; s++)
		any |= wic_cpu_mon_drain_releases(mon, &dev->sms[s], at_least);
	any |= wic_cpu_mon_drain_host_releases(mon, dev);
	if (any || wic_cpu_mon_has_queue(dev))
		wic_cpu_mon_retire_pages(mon, dev);
	return any;
}

bool wic_cpu_mon_take_releases(struct cpu_monitor *mon, uint32_t at_least)
{
	bool any = false;

	for (uint32_t i = 0; i <= mon->be->dev_count; i++)
		any |= wic_cpu_mon_take_releases_of(mon, &mon->be->devs[i], at_least);
	return any;
}

/* No warp of the device can come to a release before it is woken; nor is one on its way. */
static bool device_is_stuck(const struct cpu_device *dev)
{
	for (uint32_t s = 0; s < dev->sm_count; s++) {
		struct cpu_sm *sm = &dev->sms[s];

		/*
		 * In this order: an SM that has taken its last wake is no longer stuck, and one
		 * that is stuck has shown its last release.
		 */
		if (__atomic_load_n(&sm->wakes.tail, __ATOMIC_ACQUIRE) != sm->wakes.head ||
		    !__atomic_load_n(&sm->is_stuck, __ATOMIC_ACQUIRE) ||
		    __atomic_load_n(&sm->release_published, __ATOMIC_ACQUIRE) != sm->release_tail)
			return false;
	}
	return dev->sm_count;
}

void wic_cpu_mon_break_deadlock(struct cpu_monitor *mon, struct cpu_device *dev)
{
	struct cpu_request *req;

	if (!wic_cpu_mon_has_queue(dev) || !device_is_stuck(dev))
		return;
	/* Closes what is dirty and serves whom it can: only after that nothing is left. */
	wic_cpu_mon_retire_pages(mon, dev);
	pthread_mutex_lock(&dev->lock);
	req = dev->queue_last;
	if (req && device_is_stuck(dev)) {
		wic_cpu_mon_check_input(mon, wic_pool_leave(dev->pool, &req->waiter));
		wic_cpu_queue_remove(dev, req);
		req->status = -EDEADLK;
		req->epoch_seen = cpu_channel_truth(req->ch, req->tag);
		wic_cpu_mon_wake(req, CPU_WAKE_STATUS);
	}
	pthread_mutex_unlock(&dev->lock);
}
