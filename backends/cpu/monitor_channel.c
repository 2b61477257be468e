// SPDX-License-Identifier: MIT OR GPL-2.0
/* Channels begin and end in the Monitor's thread, between inputs. */
#include "backends/cpu/monitor_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/dep.h"
#include "lib/log.h"

/* A number of the engine's for @ch; signals of credits have no data. */
static int engine_open(struct cpu_monitor *mon, struct wic_be_channel *ch, bool has_data,
		       uint32_t *id_out)
{
	int rc = wic_engine_open(mon->engine, ch->desc.tags + 1, has_data, id_out);

	if (!rc)
		mon->by_engine[*id_out] = ch;
	return rc;
}

static int engine_free(struct cpu_monitor *mon, uint32_t id)
{
	mon->by_engine[id] = NULL;
	/* A dead engine keeps its requests for ever; nobody asks it again. */
	return mon->dead ? 0 : wic_engine_free(mon->engine, id);
}

int wic_cpu_monitor_open_channel(struct cpu_monitor *mon, void *arg)
{
	struct wic_be_channel *ch = arg;
	bool host_makes = ch->desc.producer.v == WIC_DEVICE_HOST_VALUE;
	int rc;

	if (mon->dead)
		return -EIO;
	/* The engine has room for one tag more a channel, and for credits. */
	if (ch->desc.tags > CPU_TAGS_MAX - mon->tags_open)
		return -ENOMEM;
	while (ch->index < CPU_CHANNELS_MAX && mon->channels[ch->index])
		ch->index++;
	if (ch->index == CPU_CHANNELS_MAX)
		return -ENOMEM;
	ch->credits_id = CPU_CREDITS_NONE;
	rc = engine_open(mon, ch, ch->pages_per_tag != 0, &ch->engine_id);
	if (rc)
		return rc;
	/* Threads that stage wait for a futex; warps park, which is the engine's. */
	if (!host_makes && ch->pages_per_tag)
		rc = engine_open(mon, ch, false, &ch->credits_id);
	if (rc) {
		wic_cpu_mon_check_input(mon, wic_engine_close(mon->engine, ch->engine_id));
		wic_cpu_mon_check_input(mon, engine_free(mon, ch->engine_id));
		return rc;
	}
	mon->channels[ch->index] = ch;
	mon->tags_open += ch->desc.tags;
	if (ch->pat.words)
		__atomic_store_n(&mon->pats[ch->index], ch, __ATOMIC_RELEASE);
	return 0;
}

int wic_cpu_monitor_close_channel(struct cpu_monitor *mon, void *arg)
{
	struct wic_be_channel *ch = arg;

	/* What was published before the close is no part of it. */
	(void)wic_cpu_mon_drain_publishes(mon);
	/* A store that faulted before this still finds it. */
	if (ch->pat.words)
		wic_cpu_pat_open(&ch->pat);
	wic_cpu_mon_flush_queue(mon, ch->dev, ch);
	if (mon->dead)
		return 0;
	if (ch->credits_id != CPU_CREDITS_NONE)
		wic_cpu_mon_check_input(mon, wic_engine_close(mon->engine, ch->credits_id));
	return wic_engine_close(mon->engine, ch->engine_id);
}

/* No kernel runs, so no request is under way: what is still held was not released. */
int wic_cpu_monitor_free_channel(struct cpu_monitor *mon, void *arg)
{
	struct wic_be_channel *ch = arg;
	struct cpu_device *dev = ch->dev;

	for (uint32_t s = 0; s < dev->sm_count; s++)
		(void)wic_cpu_mon_drain_releases(mon, &dev->sms[s], 1);
	(void)wic_cpu_mon_drain_host_releases(mon, dev);
	pthread_mutex_lock(&dev->lock);
	for (uint32_t tag = 0; tag < ch->desc.tags; tag++) {
		while (ch->tags[tag].hold_first != WIC_PAGE_NONE) {
			uint32_t page = ch->tags[tag].hold_first;

			if (dev->holds[page].is_in_engine)
				wic_cpu_mon_check_input(
					mon,
					wic_engine_release(mon->engine, dev->page_base + page));
			wic_cpu_device_drop(dev, &dev->holds[page]);
		}
	}
	wic_cpu_device_give(dev);
	pthread_mutex_unlock(&dev->lock);
	if (!mon->dead)
		wic_cpu_mon_retire_pages(mon, dev);
	mon->channels[ch->index] = NULL;
	/* Pairs with the handler's count: wic_cpu_pat_wait_for_handlers() comes after this. */
	__atomic_store_n(&mon->pats[ch->index], NULL, __ATOMIC_SEQ_CST);
	mon->tags_open -= ch->desc.tags;
	if (ch->credits_id != CPU_CREDITS_NONE)
		wic_cpu_mon_check_input(mon, engine_free(mon, ch->credits_id));
	return engine_free(mon, ch->engine_id);
}
