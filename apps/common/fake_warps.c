/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/common/fake_warps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fiber/fiber.h"

#ifdef __SANITIZE_ADDRESS__
#define STACK_BYTES (1u << 20)
#else
#define STACK_BYTES (128u << 10)
#endif

__thread struct wic_sm_view *wic_sm_self_;

enum state { READY, AT_BARRIER, ENDED };

static struct {
	const struct fake_launch *launch;
	struct wic_fiber scheduler;
	struct wic_fiber fiber[FAKE_WARPS_MAX];
	struct wic_stacks stacks; /* owned */
	struct wic_warp_view view[FAKE_WARPS_MAX];
	enum state state[FAKE_WARPS_MAX];
	uint32_t warps;
	uint64_t random;
	struct wic_sm_view sm;
	struct fake_counts counts;
} fake;

static void fake_yield(void)
{
	uint32_t me = fake.sm.warp->warp_id;

	wic_fiber_switch(&fake.fiber[me], &fake.scheduler);
}

void wic_turn(void)
{
	fake.counts.turns++;
	fake_yield();
}

void wic_look(void)
{
	fake.counts.looks++;
	if (fake.launch->on_look)
		fake.launch->on_look(fake.launch->on_look_arg);
	fake_yield();
}

void wic_bar(void)
{
	fake.counts.bars++;
	fake.state[fake.sm.warp->warp_id] = AT_BARRIER;
	fake_yield();
}

void wic_note(enum wic_event_kind kind, uint32_t tag, uint64_t epoch)
{
	(void)kind;
	(void)tag;
	(void)epoch;
}

/* There is no engine here: the method wic needs a real back-end. */
int wic_request_slow_(const struct wic_handle *h, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		      void **data_out)
{
	(void)h;
	(void)tag;
	(void)epoch;
	(void)timeout_ns;
	(void)data_out;
	return -ENOTSUP;
}

int wic_release_slow_(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	(void)h;
	(void)tag;
	(void)epoch;
	return -ENOTSUP;
}

int wic_warp_stage(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag, uint64_t epoch,
		   uint64_t timeout_ns, void **buffer_out)
{
	(void)h;
	(void)lot;
	(void)tag;
	(void)epoch;
	(void)timeout_ns;
	(void)buffer_out;
	return -ENOTSUP;
}

int wic_warp_publish(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	(void)h;
	(void)tag;
	(void)epoch;
	return -ENOTSUP;
}

static void fake_warp(void *arg)
{
	struct wic_warp_view *view = arg;

	fake.launch->kernel(fake.launch->args);
	fake.state[view->warp_id] = ENDED;
	wic_fiber_exit(&fake.fiber[view->warp_id], &fake.scheduler);
}

static void fake_warp_init(uint32_t warp, uint32_t block, void *shared)
{
	uint32_t threads = fake.launch->block_threads;
	uint32_t left = threads - warp * WIC_WARP_LANES;

	fake.view[warp] = (struct wic_warp_view){
		block,
		warp,
		fake.warps,
		threads,
		fake.launch->grid_blocks,
		left < WIC_WARP_LANES ? left : WIC_WARP_LANES,
		shared,
	};
	fake.state[warp] = READY;
	wic_fiber_init(&fake.fiber[warp], wic_stacks_low(&fake.stacks, warp),
		       fake.stacks.stack_bytes, fake_warp, &fake.view[warp]);
}

static uint32_t fake_random(uint32_t below)
{
	fake.random = fake.random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(fake.random >> 33) % below;
}

/* When all warps that have not ended are at the barrier, it opens. */
static bool fake_open_barrier(void)
{
	uint32_t i, waiting = 0;

	for (i = 0; i < fake.warps; i++) {
		if (fake.state[i] == READY)
			return true;
		waiting += fake.state[i] == AT_BARRIER;
	}
	for (i = 0; i < fake.warps; i++)
		if (fake.state[i] == AT_BARRIER)
			fake.state[i] = READY;
	return waiting != 0;
}

static void fake_block(uint32_t block, void *shared)
{
	uint32_t i;

	for (i = 0; i < fake.warps; i++)
		fake_warp_init(i, block, shared);
	while (fake_open_barrier()) {
		do
			i = fake_random(fake.warps);
		while (fake.state[i] != READY);
		fake.sm.warp = &fake.view[i];
		wic_fiber_switch(&fake.scheduler, &fake.fiber[i]);
	}
	for (i = 0; i < fake.warps; i++)
		wic_fiber_fini(&fake.fiber[i]);
}

struct fake_counts fake_run(const struct fake_launch *launch)
{
	unsigned char *shared = malloc(launch->shared_bytes + 1);
	uint32_t i;

	memset(&fake, 0, sizeof(fake));
	fake.launch = launch;
	fake.random = launch->seed;
	fake.warps = (launch->block_threads + WIC_WARP_LANES - 1) / WIC_WARP_LANES;
	if (!shared || fake.warps > FAKE_WARPS_MAX ||
	    wic_stacks_create(&fake.stacks, fake.warps, STACK_BYTES))
		abort();
	wic_fiber_init_thread(&fake.scheduler);
	wic_sm_self_ = &fake.sm;
	for (i = 0; i < launch->grid_blocks; i++) {
		memset(shared, 0, launch->shared_bytes);
		fake_block(i, shared);
	}
	wic_sm_self_ = NULL;
	wic_stacks_destroy(&fake.stacks);
	free(shared);
	return fake.counts;
}
