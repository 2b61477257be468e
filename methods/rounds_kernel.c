/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <wic/kernel.h>

#include "methods/device.h"

#include "methods/rounds_kernel.h"

struct rounds_env {
	const struct rounds_args *a;
	uint32_t *seen; /* shared: a word a warp */
	struct m_state state;
};

struct rounds_kept {
	uint32_t round;
	uint32_t sum;
};

WIC_DEVICE uint32_t rounds_number(void)
{
	return wic_block_id() * wic_block_warps() + wic_warp_id();
}

/* What this warp writes its neighbour must see after a barrier, and not before. */
WIC_DEVICE void rounds_meet(const struct rounds_env *e, uint32_t round)
{
	uint32_t next = (wic_warp_id() + 1) % wic_block_warps();

	e->seen[wic_warp_id()] = round + 1;
	wic_bar();
	if (e->seen[next] != round + 1)
		wic_block_add_u32(&e->a->bar_errors[wic_block_id()], 1);
	wic_bar();
}

WIC_DEVICE int rounds_c1(struct rounds_env *e, struct rounds_kept *kept, struct m_want *want_out)
{
	uint32_t warps = wic_block_warps() * wic_grid_blocks(), number = rounds_number();

	rounds_meet(e, kept->round);
	WIC_TURN();
	wic_block_add_u32(&e->a->c1_calls[wic_block_id()], 1);
	e->a->sums[number] = kept->sum;
	if (kept->round == e->a->rounds)
		return 0;
	want_out->epoch = e->a->epoch;
	want_out->tag = WIC_NO_TAG;
	if (rounds_has_tag(number, kept->round))
		want_out->tag = kept->round * warps + number;
	return 1;
}

WIC_DEVICE void rounds_c2(struct rounds_env *e, struct rounds_kept *kept, const void *data)
{
	uint32_t warps = wic_block_warps() * wic_grid_blocks(), number = rounds_number();

	if (data) {
		kept->sum += *(const uint32_t *)data;
		m_done(&e->state, kept->round * warps + number, e->a->epoch);
	}
	kept->round++;
}

M_KERNEL(rounds_kernel, struct rounds_args, a)
{
	WIC_SHARED(unsigned char, shared);
	struct rounds_kept kept = { 0, 0 };
	struct rounds_env env = {
		a,
		(uint32_t *)(void *)(shared + M_SHARED_BYTES(wic_block_warps())),
		{ 0 },
	};
	int rc;

	m_init(&env.state, &a->m);
	M_ROUNDS(rc, &env.state, &env, &kept, rounds_c1, rounds_c2);
	if (rc)
		a->status[rounds_number()] = rc;
}

/*
 * No waits: warp w passes w + 1 barriers and returns.  Before each it counts itself, so
 * that after the n-th all that came to it have been counted.
 */
M_KERNEL(leave_kernel, struct rounds_args, a)
{
	WIC_SHARED(unsigned char, shared);
	uint32_t *count = (uint32_t *)(void *)(shared + M_SHARED_BYTES(wic_block_warps()));
	uint32_t warps = wic_block_warps(), round, want = 0;

	for (round = 0; round <= wic_warp_id(); round++) {
		wic_block_add_u32(&count[round], 1);
		wic_bar();
		want = warps - round;
		/* Nobody counts into an old round's word. */
		if (count[round] != want)
			wic_block_add_u32(&a->bar_errors[wic_block_id()], 1);
	}
	a->sums[rounds_number()] = want * 100 + (uint32_t)wic_lanes_live();
}
