// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/sm.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/be.h"
#include "backends/cpu/fault.h"
#include "backends/cpu/push.h"
#include "core/dep.h"
#include "lib/log.h"

/* How long an idle SM looks for wakes before it sleeps: a few exchanges of a slow producer. */
#define IDLE_LOOK_NS 5000000u
/* Sleeps of warps shorter than that are spent looking: a thread's sleep takes as long. */
#define ASLEEP_LOOK_NS 100000u
/* Rounds between two looks at the clock for warps that sleep: a look costs as much as a turn. */
#define ASLEEP_ROUNDS 4
/* How long a queued warp's deadline may go unseen while the SM sleeps. */
#define QUEUED_TICK_NS 1000000u

__thread struct wic_sm_view *wic_sm_self_;

static void warp_main(void *arg)
{
	struct cpu_warp *w = arg;

	for (;;) {
		const struct wic_launch_desc *l = &w->sm->dev->launch.desc;

		l->kernel(l->args);
		wic_cpu_warp_yield(w, CPU_WARP_DONE);
	}
}

int wic_cpu_sm_init(struct cpu_sm *sm, struct cpu_device *dev, struct wic_be *be, uint32_t index)
{
	uint32_t warps = be->cfg.sm_warps;

	memset(sm, 0, sizeof(*sm));
	sm->be = be;
	sm->dev = dev;
	sm->view.device = cpu_be_device_word(be, WIC_GPU(dev->index));
	sm->index = index;
	sm->warp_count = warps;
	sm->warps = aligned_alloc(CPU_LINE_BYTES, warps * sizeof(*sm->warps));
	if (sm->warps)
		memset(sm->warps, 0, warps * sizeof(*sm->warps));
	sm->blocks = calloc(warps, sizeof(*sm->blocks));
	sm->run_queue = calloc(warps, sizeof(struct cpu_warp *));
	sm->is_stuck = 1;
	pthread_mutex_init(&sm->tree_lock, NULL);
	sm->lots = wic_cpu_push_lots_create(warps);
	sm->view.release_limit = WIC_RELEASE_WORDS_;
	/* A warp has one request under way: a notice for it and one for its fault. */
	if (!sm->warps || !sm->blocks || !sm->run_queue || !sm->lots ||
	    cpu_ring_init(&sm->notices, 2 * warps) || cpu_ring_init(&sm->wakes, 4 * warps) ||
	    wic_stacks_create(&sm->stacks, warps, be->cfg.stack_bytes))
		goto err_free;
	if (be->cfg.record_events) {
		sm->events = wic_ring_create(be->cfg.record_events);
		if (!sm->events)
			goto err_free;
	}
	return 0;

err_free:
	wic_cpu_sm_fini(sm);
	return wic_fail(-ENOMEM, "tables of SM %u with %u warps", index, warps);
}

void wic_cpu_sm_fini(struct cpu_sm *sm)
{
	wic_ring_destroy(sm->events);
	wic_stacks_destroy(&sm->stacks);
	cpu_ring_fini(&sm->wakes);
	cpu_ring_fini(&sm->notices);
	free(sm->lots);
	pthread_mutex_destroy(&sm->tree_lock);
	free(sm->run_queue);
	free(sm->blocks);
	free(sm->warps);
	memset(sm, 0, sizeof(*sm));
}

void wic_cpu_sm_event(struct cpu_sm *sm, const struct cpu_warp *w, enum wic_event_kind kind,
		      uint32_t tag, uint64_t epoch)
{
	struct wic_event event;

	if (!sm->events)
		return;
	event = (struct wic_event){
		.time_ns = wic_now_ns(),
		.epoch = epoch,
		.tag = tag,
		.warp = w->view.block_id * w->view.block_warps + w->view.warp_id,
		.channel = w->req.ch ? (uint16_t)w->req.ch->id : 0,
		.sm = (uint16_t)sm->index,
		.kind = (uint8_t)kind,
	};
	wic_ring_put(sm->events, &event);
}

void wic_cpu_sm_publish(struct cpu_sm *sm)
{
	cpu_count_add(sm->count.released, sm->view.release_head - sm->release_published);
	/* Orders the warps' reads of their data before the give-back. */
	__atomic_store_n(&sm->release_published, sm->view.release_head, __ATOMIC_RELEASE);
	/* Nobody is in a hurry for pages unless somebody waits for some. */
	if (__atomic_load_n(&sm->dev->queue_count, __ATOMIC_RELAXED))
		wic_cpu_gate_knock(&sm->be->mon.gate);
}

void wic_cpu_sm_make_runnable(struct cpu_sm *sm, struct cpu_warp *w)
{
	WIC_ASSERT(sm->run_count < sm->warp_count);
	WIC_ASSERT(w->state != CPU_WARP_RUNNABLE);
	w->state = CPU_WARP_RUNNABLE;
	sm->run_queue[(sm->run_head + sm->run_count++) % sm->warp_count] = w;
}

void wic_cpu_warp_yield(struct cpu_warp *w, enum cpu_warp_state state)
{
	struct cpu_sm *sm = w->sm;

	w->state = state;
	wic_fiber_switch(&w->fiber, &sm->scheduler);
}

void wic_cpu_sm_sleep(struct cpu_warp *w, uint64_t until_ns)
{
	struct cpu_sm *sm = w->sm;

	w->sleep_until_ns = until_ns;
	if (!sm->asleep++ || until_ns < sm->asleep_until_ns)
		sm->asleep_until_ns = until_ns;
	wic_cpu_warp_yield(w, CPU_WARP_ASLEEP);
}

static void wake_sleeper(struct cpu_sm *sm, struct cpu_warp *w)
{
	WIC_ASSERT(sm->asleep);
	sm->asleep--;
	wic_cpu_sm_make_runnable(sm, w);
}

void wic_cpu_sm_wake_at(struct cpu_sm *sm, const uint64_t *barrier)
{
	struct cpu_warp *w = &sm->warps[wic_cpu_push_warp_at(sm, barrier)];

	/* Else it has not parked yet, or runs already since its time was up. */
	if (w->state == CPU_WARP_ASLEEP && w->park_at == barrier) {
		if (sm->events)
			wic_cpu_push_arrived(w);
		wake_sleeper(sm, w);
	}
}

bool wic_cpu_sm_is_sleep_over(struct cpu_sm *sm)
{
	if (++sm->asleep_skipped < ASLEEP_ROUNDS)
		return false;
	if (wic_now_ns() >= sm->asleep_until_ns)
		return true; /* the scheduler looks at once */
	sm->asleep_skipped = 0;
	return false;
}

void wic_cpu_sm_wake(struct cpu_warp *w)
{
	if (w->state == CPU_WARP_ASLEEP && !w->park_at)
		wake_sleeper(w->sm, w);
}

/* Whose time is up.  True: some. */
static bool wake_sleepers(struct cpu_sm *sm)
{
	uint64_t now, next = UINT64_MAX;
	bool any = false;

	sm->asleep_skipped = 0;
	if (!sm->asleep)
		return false;
	now = wic_now_ns();
	if (now < sm->asleep_until_ns)
		return false;
	for (uint32_t i = 0; i < sm->warp_count; i++) {
		struct cpu_warp *w = &sm->warps[i];

		if (w->state != CPU_WARP_ASLEEP)
			continue;
		if (w->sleep_until_ns <= now) {
			wake_sleeper(sm, w);
			any = true;
		} else if (w->sleep_until_ns < next) {
			next = w->sleep_until_ns;
		}
	}
	sm->asleep_until_ns = next;
	return any;
}

/* The last warp to arrive, or to leave while the others wait, lets them all go. */
static void barrier_check(struct cpu_sm *sm, struct cpu_block *block)
{
	uint32_t first = (uint32_t)(block - sm->blocks) * sm->block_warps;

	if (!block->bar_arrived || block->bar_arrived < block->warps_live)
		return;
	block->bar_arrived = 0;
	for (uint32_t i = first; i < first + sm->block_warps; i++)
		if (sm->warps[i].state == CPU_WARP_BARRIER)
			wic_cpu_sm_make_runnable(sm, &sm->warps[i]);
}

/* Give the place to the next block of the grid.  False: none is left. */
static bool block_start(struct cpu_sm *sm, struct cpu_block *block)
{
	const struct wic_launch_desc *l = &sm->dev->launch.desc;
	uint32_t first = (uint32_t)(block - sm->blocks) * sm->block_warps;
	uint64_t id = __atomic_fetch_add(&sm->dev->launch.next_block, 1, __ATOMIC_RELAXED);

	if (id >= l->grid_blocks)
		return false;
	block->warps_live = sm->block_warps;
	block->bar_arrived = 0;
	block->has_waited = false;
	if (l->shared_bytes)
		memset(block->shared, 0, l->shared_bytes);
	for (uint32_t i = 0; i < sm->block_warps; i++) {
		struct cpu_warp *w = &sm->warps[first + i];
		uint32_t left = l->block_threads - i * WIC_WARP_LANES;

		w->block = block;
		w->req.ch = NULL;
		w->view = (struct wic_warp_view){
			.block_id = (uint32_t)id,
			.warp_id = i,
			.block_warps = sm->block_warps,
			.block_threads = l->block_threads,
			.grid_blocks = l->grid_blocks,
			.lanes_live = left < WIC_WARP_LANES ? left : WIC_WARP_LANES,
			.shared = block->shared,
		};
		wic_cpu_sm_event(sm, w, WIC_EVENT_COMPUTE, WIC_NO_TAG, 0);
		wic_cpu_sm_make_runnable(sm, w);
	}
	sm->blocks_live++;
	return true;
}

static void warp_done(struct cpu_sm *sm, struct cpu_warp *w)
{
	struct cpu_block *block = w->block;

	wic_cpu_sm_event(sm, w, WIC_EVENT_DONE, WIC_NO_TAG, 0);
	w->state = CPU_WARP_IDLE;
	if (--block->warps_live) {
		barrier_check(sm, block);
		return;
	}
	sm->blocks_live--;
	(void)block_start(sm, block);
}

void wic_cpu_sm_resume(struct cpu_sm *sm, struct cpu_warp *w)
{
	w->state = CPU_WARP_RUNNING;
	sm->view.warp = &w->view;
	wic_fiber_switch(&sm->scheduler, &w->fiber);
	sm->view.warp = NULL;
	cpu_sm_publish_releases(sm);

	switch (w->state) {
	case CPU_WARP_RUNNING: /* a turn */
		wic_cpu_sm_make_runnable(sm, w);
		break;
	case CPU_WARP_BARRIER:
		barrier_check(sm, w->block);
		break;
	case CPU_WARP_DONE:
		warp_done(sm, w);
		break;
	case CPU_WARP_ASLEEP: /* counted already */
	case CPU_WARP_GATHER: /* in the list already */
	case CPU_WARP_PARKED: /* at its fault, or waits for its status again */
		break;
	case CPU_WARP_IDLE:
	case CPU_WARP_RUNNABLE:
	case CPU_WARP_QUEUED:
		WIC_ASSERT(w->state == CPU_WARP_RUNNING); /* these only the scheduler gives */
		break;
	}
}

/* Does what came allow the warp to go on? */
static bool wake_is_complete(const struct cpu_warp *w)
{
	return w->got & CPU_WAKE_STATUS && (!w->faulted || w->got & CPU_WAKE_OPENED);
}

bool wic_cpu_sm_take_wakes(struct cpu_sm *sm)
{
	uint64_t word;
	bool any = false;

	while (cpu_ring_peek(&sm->wakes, &word)) {
		struct cpu_warp *w = &sm->warps[word & 0xffff];

		/* Before the Monitor can see that the wake is taken. */
		if (sm->is_stuck)
			__atomic_store_n(&sm->is_stuck, 0, __ATOMIC_RELAXED);
		(void)cpu_ring_pop(&sm->wakes, &word);
		any = true;
		if (cpu_be_is_dead(sm->be))
			continue; /* end_all() */
		w->got |= (uint32_t)word & (CPU_WAKE_STATUS | CPU_WAKE_OPENED);
		if (word & CPU_WAKE_GRANTED || (w->state == CPU_WARP_QUEUED && w->got)) {
			WIC_ASSERT(w->state == CPU_WARP_QUEUED);
			sm->queued--;
			/* It runs once more, to join the gather list or to take its status. */
			wic_cpu_sm_make_runnable(sm, w);
		} else if (w->state == CPU_WARP_PARKED && wake_is_complete(w)) {
			wic_cpu_sm_event(sm, w, WIC_EVENT_WAKE, w->req.tag, w->req.epoch);
			wic_cpu_sm_make_runnable(sm, w);
		}
	}
	return any;
}

/*
 * Nothing runs, but blocks are resident: look at the ring of wakes, then sleep until the
 * Monitor knocks.  An idle SM's core has nothing else to do, and being woken from another
 * core costs as much as a park; an SM that shares its core looks no longer than that.
 */
static void sm_idle(struct cpu_sm *sm)
{
	uint64_t look_ns = sm->be->crowded ? 2 * sm->be->park_ns : IDLE_LOOK_NS;
	uint64_t now = wic_now_ns(), until = now + look_ns, sleep_ns = UINT64_MAX;

	/* A watcher that has waited for long sleeps for long, and so does its SM. */
	if (sm->asleep && sm->asleep_until_ns > now + ASLEEP_LOOK_NS)
		until = now;
	do {
		if (wic_cpu_sm_take_wakes(sm) || wake_sleepers(sm) || sm->run_count ||
		    cpu_be_is_dead(sm->be))
			return;
		cpu_be_relax(sm->be);
		now = wic_now_ns();
	} while (now < until);

	if (sm->queued)
		sleep_ns = QUEUED_TICK_NS;
	if (sm->asleep) {
		uint64_t left = sm->asleep_until_ns > now ? sm->asleep_until_ns - now : 0;

		sleep_ns = left < sleep_ns ? left : sleep_ns;
	}
	wic_cpu_gate_arm(&sm->gate);
	if (!cpu_ring_is_empty(&sm->wakes) || cpu_be_is_dead(sm->be))
		wic_cpu_gate_disarm(&sm->gate);
	else
		wic_cpu_gate_sleep(&sm->gate, sleep_ns);
}

/* The context is dead and every page open: whatever a warp waits for ends with -EIO. */
static void end_all(struct cpu_sm *sm)
{
	struct cpu_device *dev = sm->dev;

	for (uint32_t i = 0; i < sm->warp_count; i++) {
		struct cpu_warp *w = &sm->warps[i];

		if (w->state == CPU_WARP_QUEUED) {
			pthread_mutex_lock(&dev->lock);
			/* Else it was served or ended, and that wake is on the way. */
			if (!wic_pool_leave(dev->pool, &w->req.waiter))
				wic_cpu_queue_remove(dev, &w->req);
			/* A status was written under this lock. */
			if (w->req.status == CPU_STATUS_PENDING)
				w->req.status = -EIO;
			pthread_mutex_unlock(&dev->lock);
			sm->queued--;
		} else if (w->state == CPU_WARP_PARKED) {
			w->req.status = -EIO;
		} else {
			continue;
		}
		w->got |= CPU_WAKE_STATUS | CPU_WAKE_OPENED;
		wic_cpu_sm_make_runnable(sm, w);
	}
}

/*
 * Nothing runs: does everything wait for pages, or at a barrier for what does?  A warp that
 * is parked will go on, and may release something.
 */
static bool is_stuck(const struct cpu_sm *sm)
{
	if (!sm->queued)
		return false;
	for (uint32_t i = 0; i < sm->warp_count; i++)
		if (sm->warps[i].state == CPU_WARP_PARKED || sm->warps[i].state == CPU_WARP_ASLEEP)
			return false;
	return true;
}

static void run_grid(struct cpu_sm *sm)
{
	const struct wic_launch_desc *l = &sm->dev->launch.desc;
	uint32_t resident;

	sm->block_warps = (l->block_threads + WIC_WARP_LANES - 1) / WIC_WARP_LANES;
	resident = sm->warp_count / sm->block_warps;
	if (resident > sm->be->cfg.sm_blocks)
		resident = sm->be->cfg.sm_blocks;
	for (uint32_t i = 0; i < resident; i++)
		if (!block_start(sm, &sm->blocks[i]))
			break;

	while (sm->blocks_live) {
		struct cpu_warp *w;

		if (!cpu_ring_is_empty(&sm->wakes))
			wic_cpu_sm_take_wakes(sm);
		if (cpu_be_is_dead(sm->be))
			end_all(sm);
		if (!sm->round_left || !sm->run_count || sm->gather_count == WIC_BATCH_WARPS) {
			if (sm->gather_count)
				wic_cpu_sm_send_batch(sm);
			if (sm->queued)
				wic_cpu_sm_expire_queued(sm);
			if (sm->asleep && ++sm->asleep_skipped >= ASLEEP_ROUNDS)
				wake_sleepers(sm);
			sm->round_left = sm->run_count;
		}
		if (!sm->run_count) {
			/* Pairs with the Monitor's acquire: its releases came before. */
			__atomic_store_n(&sm->is_stuck, is_stuck(sm), __ATOMIC_RELEASE);
			sm_idle(sm);
			__atomic_store_n(&sm->is_stuck, 0, __ATOMIC_RELAXED);
			continue;
		}
		w = sm->run_queue[sm->run_head];
		sm->run_head = (sm->run_head + 1) % sm->warp_count;
		sm->run_count--;
		sm->round_left--;
		wic_cpu_sm_resume(sm, w);
	}
	WIC_ASSERT(!sm->run_count && !sm->gather_count && !sm->queued && !sm->asleep);
}

/* Wait for the next launch.  False: the context closes. */
static bool launch_wait(struct cpu_sm *sm, uint64_t *seq)
{
	struct wic_be *be = sm->be;
	bool go;

	pthread_mutex_lock(&be->launch_lock);
	while (!be->stop && sm->dev->launch.seq == *seq)
		pthread_cond_wait(&be->launch_go, &be->launch_lock);
	go = !be->stop;
	*seq = sm->dev->launch.seq;
	pthread_mutex_unlock(&be->launch_lock);
	return go;
}

static void launch_leave(struct cpu_sm *sm)
{
	struct wic_be *be = sm->be;

	pthread_mutex_lock(&be->launch_lock);
	if (!--sm->dev->launch.sms_running)
		pthread_cond_broadcast(&be->launch_done);
	pthread_mutex_unlock(&be->launch_lock);
}

void *wic_cpu_sm_main(void *arg)
{
	struct cpu_sm *sm = arg;
	struct wic_be *be = sm->be;
	const stack_t none = { .ss_flags = SS_DISABLE };
	uint64_t seq = 0;

	(void)sigaltstack(&none, NULL); /* fault.h: parked fibers must not share one */
	(void)pthread_setname_np(pthread_self(), "wic-sm");
	if (!be->cfg.unpinned)
		wic_cpu_be_pin(sm->index);
	wic_sm_self_ = &sm->view;
	wic_fiber_init_thread(&sm->scheduler);
	for (uint32_t i = 0; i < sm->warp_count; i++) {
		struct cpu_warp *w = &sm->warps[i];

		w->sm = sm;
		w->req.warp = w;
		w->index = i;
		wic_fiber_init(&w->fiber, wic_stacks_low(&sm->stacks, i), sm->stacks.stack_bytes,
			       warp_main, w);
	}
	while (launch_wait(sm, &seq)) {
		__atomic_store_n(&sm->is_stuck, 0, __ATOMIC_RELAXED);
		run_grid(sm);
		/* A kernel that has returned releases nothing any more. */
		__atomic_store_n(&sm->is_stuck, 1, __ATOMIC_RELEASE);
		launch_leave(sm);
	}
	for (uint32_t i = 0; i < sm->warp_count; i++)
		wic_fiber_fini(&sm->warps[i].fiber);
	wic_sm_self_ = NULL;
	return NULL;
}
