// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/channel.h"
#include "backends/cpu/sm.h"
#include "core/dep.h"
#include "lib/log.h"

/* Small requests are carved from a run of so many pages: one walk of the tree for many. */
#define SPARE_PAGES 16u

int wic_cpu_device_init(struct cpu_device *dev, const struct wic_config *cfg, uint32_t close_batch)
{
	struct wic_pool_params params = { .pages = cfg->pool_pages, .close_batch = close_batch };
	size_t bytes = wic_pool_bytes(&params);
	int rc;

	memset(dev, 0, sizeof(*dev));
	dev->pool_mem = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
	dev->holds = calloc(cfg->pool_pages, sizeof(*dev->holds));
	if (!dev->pool_mem || !dev->holds) {
		rc = wic_fail(-ENOMEM, "tables of a pool of %u pages", cfg->pool_pages);
		goto err_free;
	}
	rc = wic_pool_init(dev->pool_mem, bytes, &params, &dev->pool);
	if (rc) {
		wic_fail(rc, "a pool of %u pages, closed %u at a time", params.pages,
			 params.close_batch);
		goto err_free;
	}
	dev->released_first = WIC_PAGE_NONE;
	pthread_mutex_init(&dev->lock, NULL);
	return 0;

err_free:
	free(dev->holds);
	free(dev->pool_mem);
	return rc;
}

void wic_cpu_device_fini(struct cpu_device *dev)
{
	pthread_mutex_destroy(&dev->lock);
	free(dev->holds);
	free(dev->pool_mem);
	wic_window_destroy(&dev->win);
}

uint32_t wic_cpu_device_hold_page(const struct cpu_device *dev, const struct cpu_hold *hold)
{
	return (uint32_t)(hold - dev->holds);
}

struct cpu_hold *wic_cpu_device_find(struct cpu_device *dev, struct wic_be_channel *ch,
				     uint32_t tag, uint64_t epoch)
{
	uint32_t page = ch->tags[tag].hold_first;

	while (page != WIC_PAGE_NONE) {
		struct cpu_hold *hold = &dev->holds[page];

		WIC_ASSERT(hold->ch == ch && hold->tag == tag);
		if (hold->epoch == epoch && !hold->released)
			return hold;
		page = hold->next;
	}
	return NULL;
}

struct cpu_hold *wic_cpu_device_hold(struct cpu_device *dev, struct wic_be_channel *ch,
				     uint32_t tag, uint64_t epoch, struct wic_run run)
{
	struct cpu_hold *hold = &dev->holds[run.first];

	WIC_ASSERT(hold->state == CPU_HOLD_NONE);
	*hold = (struct cpu_hold){
		.ch = ch,
		.epoch = epoch,
		.tag = tag,
		.pages = run.count,
		.readers_left = ch->desc.readers,
		.next = ch->tags[tag].hold_first,
		.state = CPU_HOLD_PENDING,
	};
	__atomic_store_n(&ch->tags[tag].hold_first, run.first, __ATOMIC_RELAXED);
	return hold;
}

bool wic_cpu_hold_is_readable(const struct cpu_hold *hold)
{
	if (!hold || hold->state != CPU_HOLD_FILLED || !hold->readers_left || hold->released)
		return false;
	/* The inline release of a single reader empties the entry and does no more. */
	return hold->ch->desc.readers > 1 || !hold->is_in_directory ||
	       __atomic_load_n(&hold->ch->dir[hold->tag].epoch, __ATOMIC_RELAXED) == hold->epoch;
}

void *wic_cpu_device_find_data(struct cpu_device *dev, struct wic_be_channel *ch, uint32_t tag,
			       uint64_t epoch)
{
	struct cpu_hold *hold;
	void *data = NULL;

	/* Mostly nothing is held, and a hold made meanwhile is found when pages are assigned. */
	if (__atomic_load_n(&ch->tags[tag].hold_first, __ATOMIC_RELAXED) == WIC_PAGE_NONE)
		return NULL;
	pthread_mutex_lock(&dev->lock);
	hold = wic_cpu_device_find(dev, ch, tag, epoch);
	if (wic_cpu_hold_is_readable(hold))
		data = dev->win.data + (size_t)wic_cpu_device_hold_page(dev, hold) * WIC_PAGE_BYTES;
	pthread_mutex_unlock(&dev->lock);
	return data;
}

void wic_cpu_device_install(struct cpu_device *dev, struct wic_be_channel *ch, uint32_t tag)
{
	struct wic_dir_entry *d = &ch->dir[tag];
	uint32_t page = ch->tags[tag].hold_first;
	struct cpu_hold *newest = NULL;

	if (__atomic_load_n(&d->epoch, __ATOMIC_RELAXED) != WIC_EPOCH_NONE)
		return;
	for (; page != WIC_PAGE_NONE; page = dev->holds[page].next) {
		struct cpu_hold *hold = &dev->holds[page];

		if (wic_cpu_hold_is_readable(hold) && (!newest || newest->epoch < hold->epoch))
			newest = hold;
	}
	if (!newest)
		return;
	newest->is_in_directory = true;
	/* Page first, epoch last: struct wic_dir_entry. */
	__atomic_store_n(&d->page, wic_cpu_device_hold_page(dev, newest), __ATOMIC_RELAXED);
	__atomic_store_n(&d->epoch, newest->epoch, __ATOMIC_RELEASE);
}

void wic_cpu_device_drop(struct cpu_device *dev, struct cpu_hold *hold)
{
	uint32_t page = wic_cpu_device_hold_page(dev, hold);
	uint32_t *link = &hold->ch->tags[hold->tag].hold_first;

	while (*link != page) {
		WIC_ASSERT(*link != WIC_PAGE_NONE);
		link = &dev->holds[*link].next;
	}
	__atomic_store_n(link, hold->next, __ATOMIC_RELAXED);
	hold->state = CPU_HOLD_NONE;
	/* A run lies on one side: pages and partners are no neighbours. */
	if (page != dev->given.first + dev->given.count || page == wic_pool_usable(dev->pool))
		wic_cpu_device_give(dev);
	if (!dev->given.count)
		dev->given.first = page;
	dev->given.count += hold->pages;
}

static bool carve(struct wic_run *from, uint32_t pages, struct wic_run *run_out)
{
	*run_out = (struct wic_run){ from->first, pages };
	from->first += pages;
	from->count -= pages;
	return true;
}

void wic_cpu_device_return(struct cpu_device *dev, struct wic_run run)
{
	if (run.count) {
		int rc = wic_pool_give(dev->pool, run);

		WIC_ASSERT(!rc);
	}
}

bool wic_cpu_device_take(struct cpu_device *dev, uint32_t pages, struct wic_run *run_out)
{
	if (pages <= dev->spare.count)
		return carve(&dev->spare, pages, run_out);
	if (pages <= SPARE_PAGES / 2) {
		struct wic_run left = dev->spare;

		if (!wic_pool_take(dev->pool, SPARE_PAGES, &dev->spare)) {
			wic_cpu_device_return(dev, left);
			return carve(&dev->spare, pages, run_out);
		}
	}
	if (!wic_pool_take(dev->pool, pages, run_out))
		return true;
	/* Somebody goes without pages: these are for the next in the FIFO. */
	wic_cpu_device_return(dev, dev->spare);
	dev->spare.count = 0;
	return false;
}

void wic_cpu_device_give(struct cpu_device *dev)
{
	wic_cpu_device_return(dev, dev->given);
	dev->given.count = 0;
}

static uint32_t set_pages_missing(struct cpu_device *dev, const struct cpu_request *req)
{
	uint32_t pages = 0;

	/* Different tags, and no more than the pool has: wic_request_all(). */
	for (uint32_t i = 0; i < req->ref_count; i++)
		if (!wic_cpu_device_find(dev, req->ch, req->refs[i].tag, req->refs[i].epoch))
			pages += req->ch->pages_per_tag;
	return pages;
}

void wic_cpu_device_pin_set(struct cpu_device *dev, struct cpu_request *req, struct wic_run run)
{
	for (uint32_t i = 0; i < req->ref_count; i++) {
		const struct wic_ref *ref = &req->refs[i];
		struct cpu_hold *hold = wic_cpu_device_find(dev, req->ch, ref->tag, ref->epoch);
		struct wic_run part;

		if (!hold) {
			WIC_ASSERT(run.count >= req->ch->pages_per_tag);
			(void)carve(&run, req->ch->pages_per_tag, &part);
			hold = wic_cpu_device_hold(dev, req->ch, ref->tag, ref->epoch, part);
		}
		hold->users++;
		hold->pins++;
		req->pins[i] = wic_cpu_device_hold_page(dev, hold);
	}
	/* Others have made holds while it waited for its pages. */
	wic_cpu_device_return(dev, run);
	req->status = 0;
}

static enum cpu_assign assign_set(struct cpu_device *dev, struct cpu_request *req)
{
	uint32_t pages = set_pages_missing(dev, req);
	struct wic_run run = { 0, 0 };
	int rc;

	if (!pages || wic_cpu_device_take(dev, pages, &run)) {
		wic_cpu_device_pin_set(dev, req, run);
		return CPU_ASSIGN_DONE;
	}
	rc = wic_pool_wait(dev->pool, &req->waiter, pages);
	WIC_ASSERT(!rc);
	wic_cpu_queue_append(dev, req);
	return CPU_ASSIGN_QUEUED;
}

enum cpu_assign wic_cpu_device_assign(struct cpu_device *dev, struct cpu_request *req,
				      struct wic_run *batch_run)
{
	struct cpu_hold *hold;
	struct wic_run run;
	bool taken = false;
	int rc;

	if (req->ref_count)
		return assign_set(dev, req);
	hold = wic_cpu_device_find(dev, req->ch, req->tag, req->epoch);
	/*
	 * All that asked for it have given up, and others wait for its pages: whoever asks
	 * again waits behind them, or a warp that retries would keep the pages for ever.
	 */
	if (hold && hold->state == CPU_HOLD_PENDING && !hold->live && !hold->pins &&
	    dev->queue_count)
		hold = NULL;
	if (hold && hold->state == CPU_HOLD_FILLED) {
		/* Filled while it was gathered: no user, the data is there or gone. */
		req->run.first = wic_cpu_device_hold_page(dev, hold);
		req->epoch_seen = req->epoch;
		req->status = wic_cpu_hold_is_readable(hold) ? 0 : -EINVAL;
		return CPU_ASSIGN_DONE;
	}
	if (hold) {
		wic_cpu_request_join(dev, req, hold);
		return CPU_ASSIGN_JOINED;
	}
	if (batch_run && batch_run->count) {
		WIC_ASSERT(batch_run->count >= req->pages);
		taken = carve(batch_run, req->pages, &run);
	} else {
		taken = wic_cpu_device_take(dev, req->pages, &run);
	}
	if (taken) {
		hold = wic_cpu_device_hold(dev, req->ch, req->tag, req->epoch, run);
		wic_cpu_request_join(dev, req, hold);
		req->owns_hold = true;
		return CPU_ASSIGN_JOINED;
	}
	rc = wic_pool_wait(dev->pool, &req->waiter, req->pages);
	WIC_ASSERT(!rc);
	wic_cpu_queue_append(dev, req);
	return CPU_ASSIGN_QUEUED;
}

void wic_cpu_queue_append(struct cpu_device *dev, struct cpu_request *req)
{
	req->queue_next = NULL;
	req->queue_prev = dev->queue_last;
	if (dev->queue_last)
		dev->queue_last->queue_next = req;
	else
		dev->queue_first = req;
	dev->queue_last = req;
	dev->pool_waits++;
	req->ch->tags[req->tag].queued++;
	__atomic_store_n(&dev->queue_count, dev->queue_count + 1, __ATOMIC_RELEASE);
}

void wic_cpu_queue_remove(struct cpu_device *dev, struct cpu_request *req)
{
	if (req->queue_prev)
		req->queue_prev->queue_next = req->queue_next;
	else
		dev->queue_first = req->queue_next;
	if (req->queue_next)
		req->queue_next->queue_prev = req->queue_prev;
	else
		dev->queue_last = req->queue_prev;
	req->ch->tags[req->tag].queued--;
	__atomic_store_n(&dev->queue_count, dev->queue_count - 1, __ATOMIC_RELEASE);
}

void wic_cpu_request_join(struct cpu_device *dev, struct cpu_request *req, struct cpu_hold *hold)
{
	hold->users++;
	hold->live++;
	req->run = (struct wic_run){ wic_cpu_device_hold_page(dev, hold), hold->pages };
	req->has_run = true;
}
