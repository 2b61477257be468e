/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Launches, blocks, turns; who is stalled, and who tries again or ends. */
#include "sm.h"

#include "gpu.h"
#include "warp.h"

/* Of so many warps whose turn it could be the seed picks one. */
#define PICK 4

static bool warp_has_ended(const struct sgpu_warp *warp)
{
	switch (warp->state) {
	case SGPU_WARP_PENDING:
	case SGPU_WARP_READY:
	case SGPU_WARP_STALLED:
	case SGPU_WARP_AT_BARRIER:
		return false;
	case SGPU_WARP_EXITED:
	case SGPU_WARP_FAULTED:
	case SGPU_WARP_KILLED:
	case SGPU_WARP_ILLEGAL:
		break;
	}
	return true;
}

static void list_push(struct sgpu_warp **list, struct sgpu_warp *warp)
{
	warp->next = *list;
	*list = warp;
}

/* --- blocks ----------------------------------------------------------------- */

struct block {
	struct sgpu_warp *warps;
	uint32_t count;
};

static uint32_t launch_blocks(const struct sgpu_launch *launch)
{
	return (launch->warp_count + launch->warps_per_block - 1) / launch->warps_per_block;
}

/* The last block may have fewer warps. */
static struct block launch_block(const struct sgpu_launch *launch, uint32_t index)
{
	uint32_t first = index * launch->warps_per_block;
	uint32_t left = launch->warp_count - first;

	return (struct block){
		.warps = launch->warps + first,
		.count = left < launch->warps_per_block ? left : launch->warps_per_block,
	};
}

static struct block warp_block(const struct sgpu_warp *warp)
{
	return launch_block(warp->launch, warp->index / warp->launch->warps_per_block);
}

static void block_leave(struct sgpu_gpu *gpu, const struct block *block)
{
	gpu->sms[block->warps[0].sm].resident -= block->count;
	gpu->may_place = true;
}

/* A warp came to the barrier or ended: was it the last that the others waited for? */
static void block_look(struct sgpu_gpu *gpu, const struct block *block)
{
	struct sgpu_sm *sm = &gpu->sms[block->warps[0].sm];
	uint32_t alive = 0;
	uint32_t waiting = 0;
	uint32_t i;

	for (i = 0; i < block->count; i++) {
		alive += !warp_has_ended(&block->warps[i]);
		waiting += block->warps[i].state == SGPU_WARP_AT_BARRIER;
	}
	if (alive == 0) {
		block_leave(gpu, block);
		return;
	}
	if (waiting != alive)
		return;
	for (i = 0; i < block->count; i++) {
		if (block->warps[i].state != SGPU_WARP_AT_BARRIER)
			continue;
		sgpu_warp_pass_barrier(gpu, &block->warps[i]);
		list_push(&sm->had_turn, &block->warps[i]);
	}
}

/* The SM with the fewest warps, of these the first from a random one on; NULL: all are full. */
static struct sgpu_sm *block_find_sm(struct sgpu_gpu *gpu, uint32_t warps)
{
	uint32_t first = (uint32_t)((sgpu_random(&gpu->random) >> 32) % gpu->p.sms);
	struct sgpu_sm *best = NULL;
	struct sgpu_sm *sm;
	uint32_t i;

	for (i = 0; i < gpu->p.sms; i++) {
		sm = &gpu->sms[(first + i) % gpu->p.sms];
		if (sm->resident + warps <= gpu->p.warps_per_sm &&
		    (!best || sm->resident < best->resident))
			best = sm;
	}
	return best;
}

/* False: there was no room. */
static bool launch_place_block(struct sgpu_launch *launch)
{
	struct sgpu_gpu *gpu = launch->gpu;
	struct block block = launch_block(launch, launch->next_block);
	struct sgpu_sm *sm = block_find_sm(gpu, block.count);
	uint32_t i;

	if (!sm)
		return false;
	launch->next_block++;
	sm->resident += block.count;
	for (i = 0; i < block.count; i++) {
		block.warps[i].sm = (uint32_t)(sm - gpu->sms);
		block.warps[i].state = SGPU_WARP_READY;
		list_push(&sm->had_turn, &block.warps[i]);
	}
	return true;
}

/* Earlier launches first; a later one's block may be smaller and find room all the same. */
static void gpu_place(struct sgpu_gpu *gpu)
{
	struct sgpu_launch *launch;

	if (!gpu->may_place)
		return;
	gpu->may_place = false;
	for (launch = gpu->launches; launch; launch = launch->next)
		while (!launch->is_stopped && launch->next_block < launch_blocks(launch) &&
		       launch_place_block(launch))
			;
}

/* --- launches --------------------------------------------------------------- */

static void warp_start(struct sgpu_launch *launch, uint32_t index, const uint64_t *registers)
{
	struct sgpu_warp *warp = &launch->warps[index];
	uint32_t r;
	uint32_t lane;

	memset(warp, 0, sizeof(*warp));
	warp->launch = launch;
	warp->index = index;
	warp->state = SGPU_WARP_PENDING;
	if (!registers)
		return;
	for (r = 0; r < SGPU_REGISTERS; r++)
		for (lane = 0; lane < SGPU_LANES; lane++)
			warp->registers[r][lane] = registers[r];
}

int sgpu_launch_start(struct sgpu_launch *launch, const uint64_t *registers)
{
	struct sgpu_gpu *gpu = launch->gpu;
	struct sgpu_launch **link = &gpu->launches;
	uint32_t i;

	if (launch->warp_count == 0 || launch->warp_count > SGPU_LAUNCH_WARPS_MAX)
		return -EINVAL;
	if (launch->warps_per_block == 0 || launch->warps_per_block > SGPU_BLOCK_WARPS_MAX ||
	    launch->warps_per_block > gpu->p.warps_per_sm)
		return -EINVAL;
	for (i = 0; i < launch->warp_count; i++)
		warp_start(launch, i, registers);
	launch->next_block = 0;
	launch->ended = 0;
	launch->is_stopped = false;
	launch->is_draining = false;
	launch->next = NULL;
	while (*link)
		link = &(*link)->next;
	*link = launch;
	gpu->may_place = true;
	return 0;
}

/* Takes from a list those that have ended meanwhile. */
static void list_sweep(struct sgpu_warp **link)
{
	while (*link) {
		if (warp_has_ended(*link))
			*link = (*link)->next;
		else
			link = &(*link)->next;
	}
}

/* Return: how many outstanding faults were forgotten. */
static uint32_t block_kill(struct sgpu_launch *launch, uint32_t index)
{
	struct block block = launch_block(launch, index);
	uint32_t ended = 0;
	uint32_t forgotten = 0;
	uint32_t i;

	for (i = 0; i < block.count; i++) {
		if (warp_has_ended(&block.warps[i]))
			continue;
		forgotten += sgpu_warp_forget_faults(launch->gpu, &block.warps[i]);
		block.warps[i].state = SGPU_WARP_KILLED;
		ended++;
	}
	if (ended > 0 && index < launch->next_block)
		block_leave(launch->gpu, &block);
	launch->ended += ended;
	launch->gpu->counters.warps_killed += ended;
	return forgotten;
}

/* The stalled warps of an SM try again: all, or only those that no packet speaks for. */
static uint32_t sm_resume(struct sgpu_gpu *gpu, struct sgpu_sm *sm, bool are_all)
{
	struct sgpu_warp **link = &sm->stalled;
	struct sgpu_warp *warp;
	uint32_t resumed = 0;

	while ((warp = *link)) {
		if (!are_all && warp->lanes_faulting) {
			link = &warp->next;
			continue;
		}
		*link = warp->next;
		sgpu_warp_forget_faults(gpu, warp);
		warp->state = SGPU_WARP_READY;
		list_push(&sm->had_turn, warp);
		resumed++;
		if (are_all)
			warp->report.replays++;
	}
	return resumed;
}

void sgpu_launch_kill(struct sgpu_launch *launch)
{
	struct sgpu_gpu *gpu = launch->gpu;
	uint32_t blocks = launch_blocks(launch);
	uint32_t forgotten = 0;
	uint32_t i;

	launch->is_stopped = true;
	if (sgpu_launch_is_done(launch))
		return;
	for (i = 0; i < blocks; i++)
		forgotten += block_kill(launch, i);
	for (i = 0; i < gpu->p.sms; i++) {
		list_sweep(&gpu->sms[i].ready);
		list_sweep(&gpu->sms[i].had_turn);
		list_sweep(&gpu->sms[i].stalled);
		if (forgotten > 0)
			sm_resume(gpu, &gpu->sms[i], false);
	}
}

void sgpu_launch_remove(struct sgpu_launch *launch)
{
	struct sgpu_launch **link = &launch->gpu->launches;

	sgpu_launch_kill(launch);
	while (*link && *link != launch)
		link = &(*link)->next;
	if (*link)
		*link = launch->next;
	launch->next = NULL;
}

bool sgpu_launch_is_done(const struct sgpu_launch *launch)
{
	return launch->ended == launch->warp_count;
}

void sgpu_launch_report(const struct sgpu_launch *launch, uint32_t warp,
			struct sgpu_warp_report *report_out)
{
	const struct sgpu_warp *from = &launch->warps[warp];
	uint32_t r;

	*report_out = from->report;
	report_out->state = from->state;
	report_out->pc = from->pc;
	report_out->sm = from->sm;
	for (r = 0; r < SGPU_REGISTERS; r++)
		report_out->registers[r] = from->registers[r][0];
}

static bool launch_is_of(const struct sgpu_launch *launch, const struct sgpu_vas *vas,
			 uint32_t channel)
{
	return (!vas || launch->vas == vas) && (!channel || launch->channel_handle == channel);
}

void sgpu_sm_stop(struct sgpu_gpu *gpu, const struct sgpu_vas *vas, uint32_t channel)
{
	struct sgpu_launch *launch;

	for (launch = gpu->launches; launch; launch = launch->next)
		if (launch_is_of(launch, vas, channel))
			sgpu_launch_kill(launch);
}

/* --- faults ----------------------------------------------------------------- */

uint32_t sgpu_sm_outstanding(const struct sgpu_gpu *gpu, const struct sgpu_vas *vas,
			     uint32_t channel)
{
	const struct sgpu_warp *warp;
	uint32_t count = 0;
	uint32_t lanes;
	uint32_t i;

	for (i = 0; i < gpu->p.sms; i++) {
		for (warp = gpu->sms[i].stalled; warp; warp = warp->next) {
			if (!launch_is_of(warp->launch, vas, channel))
				continue;
			for (lanes = warp->lanes_faulting; lanes; lanes &= lanes - 1)
				count++;
		}
	}
	return count;
}

uint32_t sgpu_sm_replay(struct sgpu_gpu *gpu)
{
	uint32_t resumed = 0;
	uint32_t i;

	for (i = 0; i < gpu->p.sms; i++)
		resumed += sm_resume(gpu, &gpu->sms[i], true);
	gpu->counters.warps_resumed += resumed;
	return resumed;
}

static bool cancel_names(const struct sgpu_gpu *gpu, const struct sgpu_cancel *cancel,
			 const struct sgpu_warp *warp)
{
	const struct sgpu_utlb *utlb = &gpu->utlbs[gpu->sms[warp->sm].utlb];
	const struct sgpu_pdb *pdb = &warp->launch->vas->pdb;

	if (!warp->lanes_faulting)
		return false;
	if (cancel->has_root && !(pdb->is_valid && sgpu_address_is_same(&pdb->root, &cancel->root)))
		return false;
	if (cancel->is_global)
		return true;
	if (cancel->has_client)
		return utlb->gpc == cancel->gpc && utlb->client == cancel->client;
	return cancel->access_mask >> warp->fault_access & 1 &&
	       sgpu_warp_waits_for(warp, cancel->va);
}

/* A warp that is on no list has ended. */
static void warp_end(struct sgpu_gpu *gpu, struct sgpu_warp *warp)
{
	struct block block = warp_block(warp);

	warp->launch->ended++;
	block_look(gpu, &block);
}

static uint32_t sm_cancel(struct sgpu_gpu *gpu, struct sgpu_sm *sm,
			  const struct sgpu_cancel *cancel)
{
	struct sgpu_warp **link = &sm->stalled;
	struct sgpu_warp *warp;
	uint32_t cancelled = 0;

	while ((warp = *link)) {
		if (!cancel_names(gpu, cancel, warp)) {
			link = &warp->next;
			continue;
		}
		*link = warp->next;
		sgpu_warp_forget_faults(gpu, warp);
		warp->state = SGPU_WARP_FAULTED;
		warp_end(gpu, warp);
		cancelled++;
	}
	return cancelled;
}

uint32_t sgpu_sm_cancel(struct sgpu_gpu *gpu, const struct sgpu_cancel *cancel)
{
	uint32_t cancelled = 0;
	uint32_t i;

	for (i = 0; i < gpu->p.sms; i++)
		cancelled += sm_cancel(gpu, &gpu->sms[i], cancel);
	gpu->counters.warps_cancelled += cancelled;
	sgpu_sm_replay(gpu);
	return cancelled;
}

/* --- turns ------------------------------------------------------------------ */

/* One of the next few of this round; when all had their turn, a round begins.  NULL: none. */
static struct sgpu_warp *sm_pick(struct sgpu_gpu *gpu, struct sgpu_sm *sm)
{
	struct sgpu_warp **link = &sm->ready;
	struct sgpu_warp *warp;
	uint32_t skip;

	if (!sm->ready) {
		sm->ready = sm->had_turn;
		sm->had_turn = NULL;
	}
	if (!sm->ready)
		return NULL;
	for (skip = (uint32_t)((sgpu_random(&gpu->random) >> 32) % PICK); skip > 0; skip--)
		if ((*link)->next)
			link = &(*link)->next;
	warp = *link;
	*link = warp->next;
	return warp;
}

/* False: no warp is ready. */
static bool sm_turn(struct sgpu_gpu *gpu, struct sgpu_sm *sm, uint64_t now_ns)
{
	struct sgpu_warp *warp = sm_pick(gpu, sm);
	struct block block;

	if (!warp)
		return false;
	sgpu_warp_turn(gpu, warp, now_ns);
	if (warp->state == SGPU_WARP_READY && warp->launch->is_draining) {
		warp->state = SGPU_WARP_KILLED;
		gpu->counters.warps_killed++;
	}
	switch (warp->state) {
	case SGPU_WARP_READY:
		list_push(&sm->had_turn, warp);
		break;
	case SGPU_WARP_STALLED:
		list_push(&sm->stalled, warp);
		break;
	case SGPU_WARP_AT_BARRIER:
		block = warp_block(warp);
		block_look(gpu, &block);
		break;
	case SGPU_WARP_PENDING:
	case SGPU_WARP_EXITED:
	case SGPU_WARP_FAULTED:
	case SGPU_WARP_KILLED:
	case SGPU_WARP_ILLEGAL:
		warp_end(gpu, warp);
		break;
	}
	return true;
}

uint32_t sgpu_sm_step(struct sgpu_gpu *gpu, uint64_t now_ns, uint32_t budget)
{
	uint32_t done = 0;
	uint32_t idle = 0; /* SMs without a turn one after another */

	gpu_place(gpu);
	while (done < budget && idle < gpu->p.sms) {
		if (sm_turn(gpu, &gpu->sms[gpu->sm_next], now_ns)) {
			idle = 0;
			done++;
		} else {
			idle++;
		}
		gpu->sm_next = (gpu->sm_next + 1) % gpu->p.sms;
	}
	return done;
}
