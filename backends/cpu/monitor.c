// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/monitor_parts.h"
#include "core/dep.h"
#include "lib/log.h"
#include "lib/machine.h"

/* While warps wait for pages, releases that nobody knocks for are looked for this often. */
#define QUEUED_TICK_NS 1000000u
/* Looks, with a pause each, between two yields. */
#define SPINS_A_YIELD 256
/* Looks at the clock, and at what is in no hurry, once in so many turns. */
#define TURNS_A_CLOCK 16
#define WARN_SCAN_NS_MAX 1000000000u
/* Until the cost of a wake-up has been measured. */
#define SPIN_START_NS 50000u

static void take_fault(struct cpu_monitor *mon, const struct cpu_warp *w, uint32_t page)
{
	wic_cpu_mon_check_input(mon, wic_engine_fault(mon->engine, w->sm->dev->page_base + page,
						      wic_cpu_mon_cookie_of(&w->req)));
}

/*
 * The wants of a set, all of them while there is room, else the first that is missing: the
 * warp looks at the others again when it is woken.
 */
static uint32_t set_to_wants(struct cpu_monitor *mon, struct cpu_request *req,
			     struct wic_want *wants)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < req->ref_count; i++) {
		const struct wic_ref *ref = &req->refs[i];

		if (cpu_channel_truth(req->ch, ref->tag) >= ref->epoch)
			continue;
		wants[count++] = (struct wic_want){ .epoch = ref->epoch,
						    .tag = ref->tag,
						    .page_first = WIC_PAGE_NONE };
		if (mon->set_wants + count > CPU_SET_WANTS_MAX)
			break;
	}
	if (!count)
		wants[count++] = (struct wic_want){ .epoch = req->refs[0].epoch,
						    .tag = req->refs[0].tag,
						    .page_first = WIC_PAGE_NONE };
	req->set_wants = count - 1;
	mon->set_wants += req->set_wants;
	return count;
}

/* As the engine takes it; @wants is where its wants go, WIC_SET_MAX at the most. */
static struct wic_request to_engine(struct cpu_monitor *mon, struct cpu_request *req,
				    struct wic_want *wants)
{
	const struct wic_be_channel *ch = req->ch;
	uint32_t count = 1;

	if (req->ref_count)
		count = set_to_wants(mon, req, wants);
	else
		wants[0] = (struct wic_want){
			.epoch = req->epoch,
			.tag = req->tag,
			.page_first =
				req->has_run ? ch->dev->page_base + req->run.first : WIC_PAGE_NONE,
			.page_count = req->has_run ? req->run.count : 0,
		};
	req->in_engine = true;
	if (req->has_run)
		ch->dev->holds[req->run.first].is_in_engine = true;
	if (req->host)
		mon->be->hosts.in_engine[req->host->slot] = true;
	return (struct wic_request){
		.cookie = wic_cpu_mon_cookie_of(req),
		.deadline_ns = req->deadline_ns,
		.channel = req->for_credit ? ch->credits_id : ch->engine_id,
		.want_count = count,
		.wants = wants,
	};
}

int wic_cpu_monitor_host_request(struct cpu_monitor *mon, void *arg)
{
	struct cpu_host_wait *wait = arg;
	struct wic_request request;
	int rc = -EIO;

	if (!mon->dead) {
		request = to_engine(mon, &wait->req, mon->wants);
		rc = wic_engine_request(mon->engine, &request, 1, wic_now_ns());
		wic_cpu_mon_check_input(mon, rc);
	}
	if (!rc)
		return 0;
	mon->be->hosts.in_engine[wait->slot] = false;
	wait->req.status = -EIO;
	wic_cpu_host_wake(&mon->be->hosts, wait, CPU_WAKE_STATUS);
	return rc;
}

static void take_requests(struct cpu_monitor *mon, struct cpu_sm *sm, uint64_t first)
{
	struct wic_request requests[WIC_ENGINE_BATCH_MAX];
	struct wic_want *wants = mon->wants;
	const struct cpu_warp *stopped = NULL;
	uint32_t count = (uint32_t)first;
	uint64_t word = first;
	int rc;

	WIC_ASSERT(count >= 1 && count <= WIC_ENGINE_BATCH_MAX);
	cpu_ring_prefetch_push(&sm->wakes);
	for (uint32_t i = 0; i < count; i++) {
		struct cpu_warp *w = &sm->warps[word >> 32 & 0xffff];

		requests[i] = to_engine(mon, &w->req, wants);
		wants += requests[i].want_count;
		wic_machine_prefetch_for_write(&w->req.status);
		if (word >> 56 == CPU_NOTICE_STOPPED)
			stopped = w;
		if (i + 1 < count) {
			bool is_there = cpu_ring_pop(&sm->notices, &word);

			/* A batch's words were stored before the first: cpu_ring_push_all(). */
			WIC_ASSERT(is_there);
		}
	}
	rc = wic_engine_request(mon->engine, requests, count, wic_now_ns());
	wic_cpu_mon_check_input(mon, rc);
	if (rc)
		wic_cpu_mon_die(mon);
	else if (stopped)
		take_fault(mon, stopped, stopped->req.run.first);
}

static bool drain_notices(struct cpu_monitor *mon, struct cpu_sm *sm)
{
	uint64_t word;
	bool any = false;

	while (cpu_ring_pop(&sm->notices, &word)) {
		any = true;
		if (mon->dead)
			continue;
		switch ((enum cpu_notice)(word >> 56)) {
		case CPU_NOTICE_REQUEST:
		case CPU_NOTICE_STOPPED:
			take_requests(mon, sm, word);
			break;
		case CPU_NOTICE_FAULT:
			take_fault(mon, &sm->warps[word >> 32 & 0xffff], (uint32_t)word);
			break;
		}
		wic_cpu_mon_act(mon);
	}
	return any;
}

/* Somebody may wait for any publish on the channel. */
static void wake_next(struct cpu_monitor *mon, struct wic_be_channel *ch)
{
	/*
	 * A read-modify-write, as the waiter's: either it comes first, then the waiter's look
	 * at the tags finds what was published before this, or its wait is seen here.
	 */
	if (!__atomic_fetch_add(&ch->next_waiters, 0, __ATOMIC_SEQ_CST) ||
	    cpu_channel_is_closed(ch))
		return;
	__atomic_store_n(&ch->publish_seq, ch->publish_seq + 1, __ATOMIC_RELEASE);
	wic_cpu_mon_check_input(mon, wic_engine_publish(mon->engine, ch->engine_id, ch->desc.tags,
							1, ch->publish_seq));
	wic_cpu_mon_act(mon);
}

static void take_publishes(struct cpu_monitor *mon, struct wic_be_channel *ch, uint32_t word)
{
	uint64_t bits = __atomic_exchange_n(&ch->changed[word], 0, __ATOMIC_ACQUIRE);

	while (bits && !mon->dead) {
		uint32_t tag = word * 64 + (uint32_t)__builtin_ctzll(bits);
		/* Pairs with the publisher's release: its payload is there. */
		uint64_t epoch = cpu_channel_truth(ch, tag);
		int rc = wic_engine_publish(mon->engine, ch->engine_id, tag, 1, epoch);

		/* Closed meanwhile: nobody waits for it. */
		if (!cpu_channel_is_closed(ch))
			wic_cpu_mon_check_input(mon, rc);
		bits &= bits - 1;
		wic_cpu_mon_act(mon);
	}
}

bool wic_cpu_mon_drain_publishes(struct cpu_monitor *mon)
{
	uint64_t channels = __atomic_load_n(&mon->changed_channels, __ATOMIC_RELAXED);
	bool any = channels;

	if (!any)
		return false;
	channels = __atomic_exchange_n(&mon->changed_channels, 0, __ATOMIC_ACQUIRE);

	for (; channels && !mon->dead; channels &= channels - 1) {
		struct wic_be_channel *ch = mon->channels[__builtin_ctzll(channels)];
		uint32_t words;

		if (!ch)
			continue;
		wake_next(mon, ch);
		words = (ch->desc.tags + 4095) / 4096;
		for (uint32_t i = 0; i < words; i++) {
			uint64_t bits =
				__atomic_exchange_n(&ch->changed_words[i], 0, __ATOMIC_ACQUIRE);

			for (; bits; bits &= bits - 1)
				take_publishes(mon, ch, i * 64 + (uint32_t)__builtin_ctzll(bits));
		}
	}
	return any;
}

int wic_cpu_monitor_owner_died(struct cpu_monitor *mon, void *arg)
{
	const struct wic_cpu_monitor_death *d = arg;

	/* What was published before the death is no part of it. */
	(void)wic_cpu_mon_drain_publishes(mon);
	return wic_engine_owner_died(mon->engine, d->ch->engine_id, d->tag_first, d->tag_count);
}

static bool drain_calls(struct cpu_monitor *mon)
{
	struct wic_cpu_monitor_call *c;

	if (!__atomic_load_n(&mon->call_count, __ATOMIC_ACQUIRE))
		return false;
	pthread_mutex_lock(&mon->call_lock);
	while ((c = mon->calls)) {
		mon->calls = c->next;
		__atomic_fetch_sub(&mon->call_count, 1, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&mon->call_lock);
		if (c->is_posted) {
			/* It is gone once its caller has what it waits for. */
			(void)c->call(mon, c->arg);
			wic_cpu_mon_act(mon);
			pthread_mutex_lock(&mon->call_lock);
			continue;
		}
		c->rc = c->call(mon, c->arg);
		wic_cpu_mon_act(mon);
		pthread_mutex_lock(&mon->call_lock);
		c->done = true;
		pthread_cond_broadcast(&mon->call_done);
	}
	pthread_mutex_unlock(&mon->call_lock);
	return true;
}

static bool take_time(struct cpu_monitor *mon, uint64_t now)
{
	if (now < mon->timer_ns || mon->timer_ns == WIC_DEADLINE_NEVER || mon->dead)
		return false;
	mon->timer_ns = WIC_DEADLINE_NEVER;
	(void)wic_engine_tick(mon->engine, now);
	wic_cpu_mon_act(mon);
	return true;
}

/* What somebody may be waiting for. */
static bool monitor_turn(struct cpu_monitor *mon)
{
	struct wic_be *be = mon->be;
	bool any = drain_calls(mon);

	any |= wic_cpu_pat_drain(mon);
	/* Publishes first: a request that follows finds its epoch without a second look. */
	any |= wic_cpu_mon_drain_publishes(mon);
	for (uint32_t s = 0; s < be->sm_count; s++)
		any |= drain_notices(mon, &be->sms[s]);
	for (uint32_t i = 0; i <= be->dev_count; i++)
		if (wic_cpu_mon_has_queue(&be->devs[i]))
			any |= wic_cpu_mon_take_releases_of(mon, &be->devs[i], 1);
	return any;
}

static bool has_work(const struct cpu_monitor *mon)
{
	const struct wic_be *be = mon->be;

	if (__atomic_load_n(&mon->changed_channels, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&mon->marked_pats, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&mon->call_count, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&mon->stop, __ATOMIC_ACQUIRE))
		return true;
	for (uint32_t s = 0; s < be->sm_count; s++)
		if (!cpu_ring_is_empty(&be->sms[s].notices))
			return true;
	return false;
}

/* What time, and not an input, makes happen to those who wait. */
static void look_after_waiters(struct cpu_monitor *mon, uint64_t now)
{
	uint64_t warn_ns = (uint64_t)mon->be->cfg.warn_after_ms * 1000000;

	if (mon->is_broken)
		wic_cpu_mon_die(mon);
	if (mon->dead)
		return;
	if (cpu_be_is_cancelled(mon->be))
		wic_cpu_mon_cancel_all(mon);
	for (uint32_t i = 0; i < mon->be->dev_count; i++)
		wic_cpu_mon_break_deadlock(mon, &mon->be->devs[i]);
	if (mon->be->cfg.warn_after_ms == UINT32_MAX || now < mon->warn_at_ns)
		return;
	wic_cpu_mon_warn_old(mon, now);
	/* A wait is reported an eighth late at the most, and a scan costs nothing to speak of. */
	mon->warn_at_ns = now + (warn_ns / 8 < WARN_SCAN_NS_MAX ? warn_ns / 8 : WARN_SCAN_NS_MAX);
}

static bool has_waiters(const struct cpu_monitor *mon)
{
	struct wic_engine_counters c;

	wic_engine_counters(mon->engine, &c);
	return c.pending;
}

static void monitor_sleep(struct cpu_monitor *mon)
{
	uint64_t timeout = UINT64_MAX;

	wic_cpu_gate_arm(&mon->gate);
	if (has_work(mon)) {
		wic_cpu_gate_disarm(&mon->gate);
		return;
	}
	if (mon->timer_ns != WIC_DEADLINE_NEVER) {
		uint64_t now = wic_now_ns();

		timeout = mon->timer_ns > now ? mon->timer_ns - now : 0;
	}
	if (has_waiters(mon) && timeout > CPU_CANCEL_TICK_NS)
		timeout = CPU_CANCEL_TICK_NS;
	for (uint32_t i = 0; i <= mon->be->dev_count; i++)
		if (wic_cpu_mon_has_queue(&mon->be->devs[i]) && timeout > QUEUED_TICK_NS)
			timeout = QUEUED_TICK_NS;
	cpu_count_add(mon->sleeps, 1);
	wic_cpu_gate_sleep(&mon->gate, timeout);
}

/*
 * Between two looks.  Mostly a pause, which leaves the execution units to a sibling
 * thread of the core; the producer shares this core, so now and then it gets it.
 */
static void spin_once(const struct wic_be *be, uint32_t *spins)
{
	if (be->crowded || ++*spins % SPINS_A_YIELD == 0) {
		sched_yield();
		return;
	}
	wic_machine_pause();
}

static void *monitor_main(void *arg)
{
	struct cpu_monitor *mon = arg;
	uint64_t last_work = wic_now_ns();
	uint32_t spins = 0;
	bool worked = false;

	(void)pthread_setname_np(pthread_self(), "wic-monitor");
	if (!mon->be->cfg.unpinned)
		wic_cpu_be_pin(UINT32_MAX);
	for (uint32_t turns = 1; !__atomic_load_n(&mon->stop, __ATOMIC_ACQUIRE); turns++) {
		bool any = monitor_turn(mon);
		uint64_t now;

		worked |= any;
		if (turns % TURNS_A_CLOCK) {
			if (!any)
				spin_once(mon->be, &spins);
			continue;
		}
		now = wic_now_ns();
		worked |= take_time(mon, now);
		look_after_waiters(mon, now);
		worked |= wic_cpu_mon_take_releases(mon, RELEASES_A_TURN);
		if (worked) {
			last_work = now;
			worked = false;
		}
		if (now - last_work < __atomic_load_n(&mon->spin_ns, __ATOMIC_RELAXED) ||
		    wic_cpu_mon_take_releases(mon, 1))
			continue;
		monitor_sleep(mon);
		last_work = wic_now_ns();
	}
	return NULL;
}

int wic_cpu_monitor_start(struct cpu_monitor *mon, struct wic_be *be)
{
	struct wic_engine_params params = {
		/* A channel's own, one tag more for wic_next(), and its credits. */
		.channels_max = 2 * CPU_CHANNELS_MAX,
		.tags_max = 2 * (CPU_TAGS_MAX + CPU_CHANNELS_MAX),
		.requests_max = be->sm_count * be->cfg.sm_warps + CPU_HOST_WAITS_MAX,
		.wants_max =
			be->sm_count * be->cfg.sm_warps + CPU_HOST_WAITS_MAX + CPU_SET_WANTS_MAX,
		.pages = (be->dev_count + 1) * be->cfg.pool_pages,
	};
	size_t bytes = wic_engine_bytes(&params);
	int rc;

	mon->be = be;
	mon->timer_ns = WIC_DEADLINE_NEVER;
	mon->spin_ns = SPIN_START_NS;
	mon->engine_mem = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
	if (!mon->engine_mem)
		return wic_fail(-ENOMEM, "%zu bytes for the engine", bytes);
	rc = wic_engine_init(mon->engine_mem, bytes, &params, &mon->engine);
	if (rc) {
		wic_fail(rc, "an engine for %u warps and %u pages", params.requests_max,
			 params.pages);
		goto err_free;
	}
	pthread_mutex_init(&mon->call_lock, NULL);
	pthread_cond_init(&mon->call_done, NULL);
	rc = -pthread_create(&mon->thread, NULL, monitor_main, mon);
	if (rc) {
		wic_fail(rc, "starting the Monitor: %s", strerror(-rc));
		goto err_lock;
	}
	return 0;

err_lock:
	pthread_cond_destroy(&mon->call_done);
	pthread_mutex_destroy(&mon->call_lock);
err_free:
	free(mon->engine_mem);
	return rc;
}

void wic_cpu_monitor_stop(struct cpu_monitor *mon)
{
	__atomic_store_n(&mon->stop, 1, __ATOMIC_RELEASE);
	wic_cpu_gate_knock(&mon->gate);
	pthread_join(mon->thread, NULL);
	pthread_cond_destroy(&mon->call_done);
	pthread_mutex_destroy(&mon->call_lock);
	free(mon->engine_mem);
}

static void call_append(struct cpu_monitor *mon, struct wic_cpu_monitor_call *c)
{
	struct wic_cpu_monitor_call **last = &mon->calls;

	pthread_mutex_lock(&mon->call_lock);
	while (*last)
		last = &(*last)->next;
	*last = c;
	__atomic_fetch_add(&mon->call_count, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&mon->call_lock);
	wic_cpu_gate_knock(&mon->gate);
}

void wic_cpu_monitor_post(struct cpu_monitor *mon, struct wic_cpu_monitor_call *c,
			  int (*call)(struct cpu_monitor *mon, void *arg), void *arg)
{
	*c = (struct wic_cpu_monitor_call){ .call = call, .arg = arg, .is_posted = true };
	call_append(mon, c);
}

int wic_cpu_monitor_call(struct cpu_monitor *mon, int (*call)(struct cpu_monitor *mon, void *arg),
			 void *arg)
{
	struct wic_cpu_monitor_call c = { .call = call, .arg = arg };

	/* From the user's log function, which the Monitor calls too. */
	if (pthread_equal(pthread_self(), mon->thread))
		return wic_fail(-EDEADLK, "called by the log function of the Monitor's own thread");
	call_append(mon, &c);
	pthread_mutex_lock(&mon->call_lock);
	while (!c.done)
		pthread_cond_wait(&mon->call_done, &mon->call_lock);
	pthread_mutex_unlock(&mon->call_lock);
	return c.rc;
}
