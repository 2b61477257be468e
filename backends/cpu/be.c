// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/be.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/cpu/fault.h"
#include "backends/cpu/measure.h"
#include "core/dep.h"
#include "lib/log.h"
#include "lib/nosys.h"

/*
 * Closing is one TLB flush whatever the number of pages, and of a request's pages only
 * the first is ever open: so many at a time, but never so many that the pool runs dry.
 */
#define CLOSE_BATCH_PAGES 1024
#define CLOSE_BATCHES_MIN 16

_Static_assert(WIC_BE_WARPS_MAX + CPU_HOST_WAITS_MAX <= 1u << 20, "what an engine takes");

uint32_t wic_cpu_be_core_count(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (uint32_t)CPU_COUNT(&set);
}

int wic_cpu_be_core(uint32_t n)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -1;
	for (int core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, &set) && !n--)
			return core;
	return -1;
}

void wic_cpu_be_pin(uint32_t core_index)
{
	uint32_t count = wic_cpu_be_core_count();
	int core = wic_cpu_be_core(core_index < count ? core_index : count - 1);
	cpu_set_t set;

	if (core < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		wic_log(WIC_LOG_WARN, "pinning a thread to core %d: %s", core, strerror(errno));
}

static void sms_stop(struct wic_be *be)
{
	pthread_mutex_lock(&be->launch_lock);
	be->stop = true;
	pthread_cond_broadcast(&be->launch_go);
	pthread_mutex_unlock(&be->launch_lock);
	for (uint32_t i = 0; i < be->sms_started; i++)
		pthread_join(be->sms[i].thread, NULL);
	be->sms_started = 0;
}

static int sms_start(struct wic_be *be)
{
	for (uint32_t i = 0; i < be->sm_count; i++) {
		int rc = -pthread_create(&be->sms[i].thread, NULL, wic_cpu_sm_main, &be->sms[i]);

		if (rc) {
			sms_stop(be);
			return wic_fail(rc, "starting SM %u: %s", i, strerror(-rc));
		}
		be->sms_started++;
	}
	return 0;
}

static int sms_init(struct wic_be *be)
{
	be->sms = aligned_alloc(64, be->sm_count * sizeof(*be->sms));
	if (!be->sms)
		return wic_fail(-ENOMEM, "%u SMs", be->sm_count);
	for (uint32_t i = 0; i < be->dev_count; i++) {
		be->devs[i].sm_count = be->sm_count / be->dev_count;
		be->devs[i].sms = &be->sms[i * be->devs[i].sm_count];
	}
	for (uint32_t i = 0; i < be->sm_count; i++) {
		int rc = wic_cpu_sm_init(&be->sms[i], &be->devs[i / (be->sm_count / be->dev_count)],
					 be, i);

		if (rc) {
			while (i--)
				wic_cpu_sm_fini(&be->sms[i]);
			free(be->sms);
			return rc;
		}
	}
	return 0;
}

static void sms_fini(struct wic_be *be)
{
	for (uint32_t i = 0; i < be->sm_count; i++)
		wic_cpu_sm_fini(&be->sms[i]);
	free(be->sms);
}

static void launch_init(struct wic_be *be)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&be->launch_lock, NULL);
	pthread_cond_init(&be->launch_go, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&be->launch_done, &attr);
	pthread_condattr_destroy(&attr);
}

static void launch_fini(struct wic_be *be)
{
	pthread_cond_destroy(&be->launch_done);
	pthread_cond_destroy(&be->launch_go);
	pthread_mutex_destroy(&be->launch_lock);
}

static uint32_t close_batch_default(uint32_t pool_pages)
{
	uint32_t batch = pool_pages / CLOSE_BATCHES_MIN;

	if (batch > CLOSE_BATCH_PAGES)
		batch = CLOSE_BATCH_PAGES;
	return batch ? batch : 1;
}

static void devices_fini(struct wic_be *be, uint32_t count)
{
	while (count--)
		wic_cpu_device_fini(&be->devs[count]);
	free(be->devs);
}

static int devices_init(struct wic_be *be)
{
	const struct wic_config *cfg = &be->cfg;
	uint32_t close_batch =
		cfg->close_batch ? cfg->close_batch : close_batch_default(cfg->pool_pages);

	be->dev_count = cfg->devices;
	be->devs = aligned_alloc(CPU_LINE_BYTES, (be->dev_count + 1) * sizeof(*be->devs));
	if (!be->devs)
		return wic_fail(-ENOMEM, "%u devices", be->dev_count);
	for (uint32_t i = 0; i <= be->dev_count; i++) {
		struct cpu_device *dev = &be->devs[i];
		int rc = wic_cpu_device_init(dev, cfg, close_batch);

		if (rc) {
			devices_fini(be, i);
			return rc;
		}
		dev->index = i;
		dev->page_base = i * cfg->pool_pages;
		/* The host's window comes with the first channel to it. */
		if (i < be->dev_count)
			rc = wic_window_create(&dev->win, cfg->pool_pages, cfg->mechanism);
		if (rc) {
			devices_fini(be, i + 1);
			return rc;
		}
	}
	return 0;
}

static void write_description(struct wic_be *be)
{
	const struct cpu_device *dev = &be->devs[0];
	char devices[40] = "";

	if (be->dev_count > 1)
		snprintf(devices, sizeof(devices), "%u logical devices, in all ", be->dev_count);
	snprintf(be->describe, sizeof(be->describe),
		 "cpu, pages by %s (%s), %s%u SM%s emulated by %s threads, %u warps and %u blocks "
		 "an "
		 "SM, a park costs %.1f us",
		 dev->win.ops->name, dev->win.reason, devices, be->sm_count,
		 be->sm_count == 1 ? "" : "s", be->cfg.unpinned ? "unpinned" : "pinned",
		 be->cfg.sm_warps, be->cfg.sm_blocks, (double)be->park_measured_ns / 1000.0);
	wic_log(WIC_LOG_INFO, "%s", be->describe);
}

static int copy_counters(struct cpu_monitor *mon, void *arg)
{
	struct wic_stats *s = arg;
	struct wic_engine_counters c;
	struct timespec ts;

	wic_engine_counters(mon->engine, &c);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	s->fills = c.fills;
	s->replays = c.replays;
	s->invalidates = c.invalidates;
	s->checks = c.checks;
	s->timeouts = c.timeouts;
	s->publishes = c.publishes;
	s->fill_bytes = mon->fill_bytes;
	s->pages_closed = mon->pages_closed;
	s->monitor_sleeps = mon->sleeps;
	s->monitor_cpu_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	return 0;
}

/* Data that inline requests found: see struct cpu_sm_counters. */
static uint64_t inline_hits_of(const struct cpu_sm_counters *c)
{
	uint64_t released = __atomic_load_n(&c->released, __ATOMIC_RELAXED) +
			    __atomic_load_n(&c->released_many, __ATOMIC_RELAXED);
	uint64_t others = __atomic_load_n(&c->released_other, __ATOMIC_RELAXED) +
			  __atomic_load_n(&c->given_slow, __ATOMIC_RELAXED);

	/* Data not released yet: the difference lags, it is not negative. */
	return released > others ? released - others : 0;
}

static void count_all(struct wic_be *be, struct wic_stats *s)
{
	memset(s, 0, sizeof(*s));
	s->size_bytes = sizeof(*s);
	(void)wic_cpu_monitor_call(&be->mon, copy_counters, s);
	for (uint32_t i = 0; i < be->sm_count; i++) {
		const struct cpu_sm *sm = &be->sms[i];
		uint64_t inline_hits = inline_hits_of(&sm->count);

		s->requests += __atomic_load_n(&sm->count.requests, __ATOMIC_RELAXED) + inline_hits;
		s->hits += __atomic_load_n(&sm->count.hits, __ATOMIC_RELAXED) + inline_hits;
		s->timeouts += __atomic_load_n(&sm->count.timeouts, __ATOMIC_RELAXED);
		s->parks += __atomic_load_n(&sm->count.parks, __ATOMIC_RELAXED);
		s->faults += __atomic_load_n(&sm->count.faults, __ATOMIC_RELAXED);
		s->batches += __atomic_load_n(&sm->count.batches, __ATOMIC_RELAXED);
		s->looks += __atomic_load_n(&sm->count.looks, __ATOMIC_RELAXED);
		s->turns += __atomic_load_n(&sm->count.turns, __ATOMIC_RELAXED);
		s->events += wic_ring_total(sm->events);
		s->events_lost += wic_ring_lost(sm->events);
	}
	for (uint32_t i = 0; i <= be->dev_count; i++) {
		pthread_mutex_lock(&be->devs[i].lock);
		s->pool_waits += be->devs[i].pool_waits;
		pthread_mutex_unlock(&be->devs[i].lock);
	}
}

static void be_stats(struct wic_be *be, struct wic_stats *s)
{
	const uint64_t *base = (const uint64_t *)&be->counted_at_open;
	uint64_t *counter = (uint64_t *)s;

	count_all(be, s);
	/* All members are counters of 64 bits, after the first, which is the size. */
	for (size_t i = 1; i < sizeof(*s) / sizeof(*counter); i++)
		counter[i] -= base[i];
}

/* SMs of each device. */
static uint32_t sms_of(const struct wic_config *cfg, uint32_t cores)
{
	uint32_t most = WIC_BE_WARPS_MAX / (cfg->devices * cfg->sm_warps);
	uint32_t sms = (cores - 1) / cfg->devices;

	if (cfg->sms)
		return cfg->sms;
	if (sms > most)
		sms = most;
	return sms ? sms : 1;
}

/* Begins anew after 2^24 contexts. */
static uint32_t serial_take(void)
{
	static uint32_t taken;

	return __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED) % CPU_SERIALS;
}

static int be_open(const struct wic_config *cfg, struct wic_be **be_out)
{
	struct wic_be *be = aligned_alloc(CPU_LINE_BYTES, sizeof(*be));
	uint32_t cores;
	int rc;

	if (!be)
		return wic_fail(-ENOMEM, "a context");
	memset(be, 0, sizeof(*be));
	be->cfg = *cfg;
	be->serial = serial_take();
	cores = wic_cpu_be_core_count();
	be->sm_count = sms_of(cfg, cores) * cfg->devices;
	be->crowded = be->sm_count + 1 > cores;
	launch_init(be);
	wic_cpu_hosts_init(&be->hosts);
	rc = wic_cpu_push_control_create(&be->push_control, be->cfg.devices);
	if (rc)
		goto err_launch;
	rc = devices_init(be);
	if (rc)
		goto err_control;
	rc = sms_init(be);
	if (rc)
		goto err_device;
	rc = wic_cpu_fault_get();
	if (rc)
		goto err_sms;
	rc = wic_cpu_monitor_start(&be->mon, be);
	if (rc)
		goto err_fault;
	rc = sms_start(be);
	if (rc)
		goto err_monitor;
	rc = wic_cpu_be_measure(be);
	if (rc)
		goto err_stop;
	/* Neither counters nor events tell of the measurement. */
	for (uint32_t i = 0; i < be->sm_count; i++)
		(void)wic_ring_drain(&be->sms[i].events, 1, NULL, 0);
	count_all(be, &be->counted_at_open);
	write_description(be);
	*be_out = be;
	return 0;

err_stop:
	sms_stop(be);
err_monitor:
	wic_cpu_monitor_stop(&be->mon);
err_fault:
	wic_cpu_fault_put();
err_sms:
	sms_fini(be);
err_device:
	devices_fini(be, be->dev_count + 1);
err_control:
	wic_cpu_push_control_destroy(&be->push_control);
err_launch:
	wic_cpu_hosts_fini(&be->hosts);
	launch_fini(be);
	free(be);
	return rc;
}

static void shared_free(struct cpu_device *dev)
{
	for (uint32_t s = 0; s < dev->sm_count; s++)
		for (uint32_t b = 0; b < dev->sms[s].warp_count; b++) {
			free(dev->sms[s].blocks[b].shared);
			dev->sms[s].blocks[b].shared = NULL;
		}
}

static void be_close(struct wic_be *be)
{
	sms_stop(be);
	wic_cpu_monitor_stop(&be->mon);
	wic_cpu_fault_put();
	for (uint32_t i = 0; i < be->dev_count; i++)
		shared_free(&be->devs[i]);
	sms_fini(be);
	devices_fini(be, be->dev_count + 1);
	wic_cpu_push_control_destroy(&be->push_control);
	wic_cpu_hosts_fini(&be->hosts);
	launch_fini(be);
	free(be);
}

static const char *be_describe(const struct wic_be *be)
{
	return be->describe;
}

/* Shared memory for all places where a block can be resident. */
static int shared_alloc(struct cpu_device *dev, uint32_t blocks, uint32_t bytes)
{
	size_t rounded = (bytes + (size_t)63) & ~(size_t)63;

	shared_free(dev);
	for (uint32_t s = 0; bytes && s < dev->sm_count; s++)
		for (uint32_t b = 0; b < blocks; b++) {
			dev->sms[s].blocks[b].shared = aligned_alloc(64, rounded);
			if (!dev->sms[s].blocks[b].shared) {
				shared_free(dev);
				return wic_fail(-ENOMEM, "%u bytes of shared memory a block",
						bytes);
			}
		}
	return 0;
}

static int fit(const struct wic_be *be, const struct wic_launch_desc *l, uint32_t *sm_blocks_out)
{
	uint64_t warps = ((uint64_t)l->block_threads + WIC_WARP_LANES - 1) / WIC_WARP_LANES;

	if (warps > be->cfg.sm_warps)
		return wic_fail(-E2BIG, "a block of %u threads needs %llu warps, an SM holds %u",
				l->block_threads, (unsigned long long)warps, be->cfg.sm_warps);
	*sm_blocks_out = be->cfg.sm_warps / (uint32_t)warps;
	if (*sm_blocks_out > be->cfg.sm_blocks)
		*sm_blocks_out = be->cfg.sm_blocks;
	return 0;
}

static int be_check(struct wic_be *be, const struct wic_launch_desc *l, struct wic_fit *fit_out)
{
	int rc;

	if (cpu_be_is_dead(be))
		return wic_fail(-EIO, "the context is dead");
	rc = fit(be, l, &fit_out->sm_blocks);
	if (!rc)
		fit_out->resident_blocks = be->devs[l->device.v].sm_count * fit_out->sm_blocks;
	return rc;
}

/* A kernel is a function of this process, and reads what that reads. */
static int be_check_word(struct wic_be *be, const uint64_t *word)
{
	(void)word;
	return cpu_be_is_dead(be) ? wic_fail(-EIO, "the context is dead") : 0;
}

static int be_launch(struct wic_be *be, const struct wic_launch_desc *l)
{
	struct cpu_device *dev = &be->devs[l->device.v];
	uint32_t sm_blocks;
	int rc = fit(be, l, &sm_blocks);

	if (rc)
		return rc;
	pthread_mutex_lock(&be->launch_lock);
	if (dev->launch.sms_running) {
		rc = wic_fail(-EBUSY, "a kernel is running on device %u", dev->index);
		goto out_unlock;
	}
	if (cpu_be_is_dead(be)) {
		rc = wic_fail(-EIO, "the context is dead");
		goto out_unlock;
	}
	rc = shared_alloc(dev, be->cfg.sm_blocks, l->shared_bytes);
	if (rc)
		goto out_unlock;
	dev->launch.desc = *l;
	dev->launch.next_block = 0;
	dev->launch.blocks_waited = 0;
	dev->launch.sms_running = dev->sm_count;
	/* They may release what an earlier kernel left held. */
	for (uint32_t i = 0; i < dev->sm_count; i++)
		__atomic_store_n(&dev->sms[i].is_stuck, 0, __ATOMIC_RELAXED);
	dev->launch.seq = ++be->launch_seq;
	pthread_cond_broadcast(&be->launch_go);
out_unlock:
	pthread_mutex_unlock(&be->launch_lock);
	return rc;
}

/* A device with a kernel of the launches up to @seq_last, or NULL.  Under launch_lock. */
static const struct cpu_device *running(const struct wic_be *be, uint32_t device, uint64_t seq_last)
{
	for (uint32_t i = 0; i < be->dev_count; i++) {
		const struct cpu_launch *l = &be->devs[i].launch;

		if ((device == WIC_BE_DEVICE_ALL || device == i) && l->sms_running &&
		    l->seq <= seq_last)
			return &be->devs[i];
	}
	return NULL;
}

static int be_sync(struct wic_be *be, uint32_t device, uint64_t timeout_ns)
{
	uint64_t deadline = wic_deadline_ns(wic_now_ns(), timeout_ns);
	struct timespec at = { (time_t)(deadline / 1000000000u), (long)(deadline % 1000000000u) };
	const struct cpu_device *dev;
	uint64_t seq_last;
	int rc = 0;

	pthread_mutex_lock(&be->launch_lock);
	/* What others launch from now on is not waited for: they might go on for ever. */
	seq_last = be->launch_seq;
	while (running(be, device, seq_last) && !rc) {
		if (deadline == WIC_FOREVER)
			pthread_cond_wait(&be->launch_done, &be->launch_lock);
		else
			rc = -pthread_cond_timedwait(&be->launch_done, &be->launch_lock, &at);
	}
	dev = running(be, device, seq_last);
	pthread_mutex_unlock(&be->launch_lock);
	if (dev)
		return wic_fail(rc, "the kernel on device %u runs on", dev->index);
	if (cpu_be_is_dead(be))
		return wic_fail(-EIO, "the context is dead");
	return 0;
}

static bool is_running(struct wic_be *be)
{
	bool is;

	pthread_mutex_lock(&be->launch_lock);
	is = running(be, WIC_BE_DEVICE_ALL, be->launch_seq);
	pthread_mutex_unlock(&be->launch_lock);
	return is;
}

static int be_events(struct wic_be *be, struct wic_event *events_out, size_t events_max,
		     size_t *count_out)
{
	struct wic_ring **rings;

	if (!be->cfg.record_events)
		return wic_fail(-ENOTSUP, "the recorder is off: open with record_events");
	if (is_running(be))
		return wic_fail(-EBUSY, "a kernel is running");
	rings = calloc(be->sm_count, sizeof(struct wic_ring *));
	if (!rings)
		return wic_fail(-ENOMEM, "a list of %u rings", be->sm_count);
	for (uint32_t i = 0; i < be->sm_count; i++)
		rings[i] = be->sms[i].events;
	*count_out = wic_ring_drain(rings, be->sm_count, events_out, events_max);
	free(rings);
	return 0;
}

static uint64_t *cancel_word(struct wic_be *be)
{
	return &be->push_control.truth[0];
}

const struct wic_be_ops wic_be_cpu = {
	.name = "cpu",
	.caps = WIC_BE_CAP_PULL | WIC_BE_CAP_PUSH | WIC_BE_CAP_EVENTS,
	.probe = wic_cpu_be_probe,
	.open = be_open,
	.close = be_close,
	.describe = be_describe,
	.channel_create = wic_cpu_channel_create,
	.channel_close = wic_cpu_channel_close,
	.channel_destroy = wic_cpu_channel_destroy,
	.channel_handle = wic_cpu_channel_handle,
	.stage = wic_cpu_channel_stage,
	.publish = wic_cpu_channel_publish,
	.cancel_word = cancel_word,
	.waiters = wic_cpu_waiters,
	.owner_died = wic_cpu_channel_owner_died,
	.host_request = wic_cpu_host_request,
	.host_release = wic_cpu_host_release,
	.launch = be_launch,
	.check = be_check,
	.check_word = be_check_word,
	.sync = be_sync,
	.mem_alloc = wic_plain_mem_alloc,
	.mem_free = wic_plain_mem_free,
	.mem_copy = wic_plain_mem_copy,
	.geometry = wic_nosys_geometry,
	.stats = be_stats,
	.events = be_events,
};
