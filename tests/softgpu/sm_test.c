/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Where warps run, wait and end: launches, turns, barriers, kills. */
#include "tests/softgpu/sm_fixture.h"

static const struct sgpu_insn forever[] = { { .op = SGPU_OP_JUMP, .imm = 0 } };

/* --- launches and blocks ----------------------------------------------------- */

static int start_rc(uint32_t warps, uint32_t warps_per_block)
{
	struct sgpu_launch launch = { .gpu = rig.gpu,
				      .vas = &rig.vas,
				      .warp_count = warps,
				      .warps_per_block = warps_per_block,
				      .insns = forever };

	/* No warps: what is refused touches none. */
	return sgpu_launch_start(&launch, NULL);
}

static void sgpu_launch_start_bad(void)
{
	begin(); /* 8 warps an SM */
	TEST_EQ(start_rc(0, 1), -EINVAL);
	TEST_EQ(start_rc(SGPU_LAUNCH_WARPS_MAX + 1, 1), -EINVAL);
	TEST_EQ(start_rc(1, 0), -EINVAL);
	TEST_EQ(start_rc(8, 9), -EINVAL);
	TEST_EQ(start_rc(8, UINT32_MAX), -EINVAL);
	TEST_TRUE(!rig.gpu->launches);
	rig_free(LAUNCH(forever, 8, 8));
	rig_free(LAUNCH(forever, 3, 8));
	rig_fini(&rig);
	rig_init(&rig);
	rig.params.warps_per_sm = 1024;
	rig_start(&rig);
	TEST_EQ(start_rc(64, SGPU_BLOCK_WARPS_MAX + 1), -EINVAL);
	rig_free(LAUNCH(forever, SGPU_LAUNCH_WARPS_MAX, SGPU_BLOCK_WARPS_MAX));
	rig_fini(&rig);
}

/* Registers of lanes and warps are those given. */
static void sgpu_launch_start_registers(void)
{
	uint64_t registers[SGPU_REGISTERS];
	struct sgpu_launch *launch;
	uint32_t i;
	uint32_t lane;

	begin();
	for (i = 0; i < SGPU_REGISTERS; i++)
		registers[i] = 0x1000 + i;
	launch = rig_launch(&rig, &(struct rig_program){ forever, 1, 3, 1, registers });
	for (i = 0; i < SGPU_REGISTERS; i++)
		for (lane = 0; lane < LANES; lane++)
			TEST_EQ(launch->warps[2].registers[i][lane], 0x1000 + i);
	rig_free(launch);
	rig_fini(&rig);
}

/* 4 SMs of 8 warps: one-warp blocks go to the emptiest, and wait when all are full. */
static void sgpu_sm_step_spreads(void)
{
	struct sgpu_launch *launch;
	uint32_t sm;

	begin();
	launch = LAUNCH(forever, 6, 1);
	sgpu_sm_step(rig.gpu, 0, 1);
	rig_check(&rig);
	for (sm = 0; sm < 4; sm++)
		TEST_TRUE(rig.gpu->sms[sm].resident == 1 || rig.gpu->sms[sm].resident == 2);
	rig_free(launch);
	launch = LAUNCH(forever, 100, 1);
	sgpu_sm_step(rig.gpu, 0, 1);
	rig_check(&rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_READY), 32);
	TEST_EQ(rig_count(launch, SGPU_WARP_PENDING), 68);
	for (sm = 0; sm < 4; sm++)
		TEST_EQ(rig.gpu->sms[sm].resident, 8);
	rig_free(launch);
	rig_fini(&rig);
}

/* A block of 5 does not fit beside one of 5 in 8; a later launch's of 3 does. */
static void sgpu_sm_step_overtakes(void)
{
	struct sgpu_launch *large;
	struct sgpu_launch *small;

	begin();
	large = LAUNCH(forever, 9 * 5 - 1, 5);
	small = LAUNCH(forever, 5 * 3, 3);
	sgpu_sm_step(rig.gpu, 0, 1);
	rig_check(&rig);
	TEST_EQ(rig_count(large, SGPU_WARP_READY), 4 * 5);
	TEST_EQ(rig_count(small, SGPU_WARP_READY), 4 * 3);
	/* What is too small for the one is not for the other. */
	sgpu_launch_kill(large);
	rig_check(&rig);
	sgpu_sm_step(rig.gpu, 0, 1);
	TEST_EQ(rig_count(small, SGPU_WARP_READY), 5 * 3);
	sgpu_launch_kill(small);
	rig_check(&rig);
	TEST_EQ(rig.gpu->counters.warps_killed, 44 + 15);
	rig_free(large);
	rig_free(small);
	rig_fini(&rig);
}

/* A block keeps its room until all its warps have ended. */
static void sgpu_sm_step_block_room(void)
{
	/* Warp 0 runs on, the others exit. */
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_WARP, .rd = RA },
		{ .op = SGPU_OP_JUMP_EQ, .ra = RA, .rb = RB, .imm = 1 },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *launch;
	uint32_t i;

	rig_init(&rig);
	rig.params.sms = 1;
	rig_start(&rig);
	launch = LAUNCH(insns, 24, 8);
	for (i = 0; i < 100; i++)
		sgpu_sm_step(rig.gpu, 0, 10);
	rig_check(&rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_EXITED), 7);
	TEST_EQ(rig_count(launch, SGPU_WARP_PENDING), 16);
	TEST_EQ(launch->ended, 7);
	TEST_TRUE(!sgpu_launch_is_done(launch));
	rig_free(launch);
	rig_fini(&rig);
}

/* Many more than fit run through. */
static void sgpu_sm_step_many(void)
{
	struct sgpu_launch *launch;
	uint32_t *counter;

	begin();
	counter = rig_map(&rig, VA, 0);
	launch = LAUNCH(add_one, SGPU_LAUNCH_WARPS_MAX, 3);
	run_and_check();
	TEST_TRUE(sgpu_launch_is_done(launch));
	TEST_EQ(*counter, SGPU_LAUNCH_WARPS_MAX * LANES);
	TEST_EQ(rig.gpu->counters.instructions, SGPU_LAUNCH_WARPS_MAX * 3);
	rig_free(launch);
	rig_fini(&rig);
}

/* Nobody has two turns more than another of the SM; the budget is kept; SMs share alike. */
static void sgpu_sm_step_fair(void)
{
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_ADD, .rd = RD, .ra = RD, .rb = RB, .imm = 1 },
		{ .op = SGPU_OP_JUMP, .imm = 0 },
	};
	struct sgpu_launch *launch;
	uint32_t step;
	uint32_t i;

	begin();
	launch = LAUNCH(insns, 32, 1);
	for (step = 1; step < 400; step++) {
		TEST_EQ(sgpu_sm_step(rig.gpu, 0, 7), 7);
		for (i = 0; i < 32; i++) {
			const struct sgpu_warp *warp = &launch->warps[i];
			uint64_t turns = 2 * warp->registers[RD][0] - (warp->pc == 1);
			uint64_t average = 7 * step / 32;

			TEST_TRUE(turns <= average + 2 && turns + 2 >= average);
		}
	}
	TEST_EQ(sgpu_sm_step(rig.gpu, 0, 0), 0);
	rig_free(launch);
	rig_fini(&rig);
}

/* Which warp comes first is the seed's to say, and always the same with one seed. */
static uint64_t order_of(uint64_t seed)
{
	/* Each warp takes a ticket. */
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_MOV_IMM, .rd = RB, .imm = 1 },
		{ .op = SGPU_OP_ATOMIC_ADD,
		  .rd = RD,
		  .ra = RA,
		  .rb = RB,
		  .width = 8,
		  .lanes = 1,
		  .imm = VA },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *launch;
	uint64_t order = 0;
	uint32_t i;

	rig_init(&rig);
	rig.params.seed = seed;
	rig_start(&rig);
	rig_map(&rig, VA, 0);
	launch = rig_exec(&rig, &(struct rig_program){ insns, RIG_COUNT(insns), 16, 1, NULL });
	for (i = 0; i < 16; i++)
		order = order << 4 | launch->warps[i].registers[RD][0];
	rig_free(launch);
	rig_fini(&rig);
	return order;
}

static void sgpu_sm_step_seed(void)
{
	uint32_t seed;
	uint32_t others = 0;

	for (seed = 0; seed < 8; seed++) {
		TEST_TRUE(order_of(seed) == order_of(seed));
		others += order_of(seed) != order_of(seed + 1);
	}
	TEST_TRUE(others >= 7);
}

/* --- barriers ---------------------------------------------------------------- */

/* Each warp stores before the barrier and looks behind it whether all have: 50 rounds. */
static void sgpu_sm_step_barrier(void)
{
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_MOV_IMM, .rd = RB, .imm = 1 },
		{ .op = SGPU_OP_ATOMIC_ADD, .rd = 15, .ra = RA, .rb = RB, .width = 4, .imm = VA },
		{ .op = SGPU_OP_ADD, .rd = 5, .ra = 5, .rb = 14, .imm = 6 * LANES },
		{ .op = SGPU_OP_BARRIER },
		{ .op = SGPU_OP_LOAD, .rd = RD, .ra = RA, .width = 4, .imm = VA },
		{ .op = SGPU_OP_EXPECT_EQ, .ra = RD, .rb = 5 },
		{ .op = SGPU_OP_BARRIER },
		{ .op = SGPU_OP_ADD, .rd = 6, .ra = 6, .rb = 14, .imm = 1 },
		{ .op = SGPU_OP_JUMP_LT, .ra = 6, .rb = 7, .imm = 1 },
		{ .op = SGPU_OP_EXIT },
	};
	uint64_t registers[SGPU_REGISTERS] = { [7] = 50 };
	struct sgpu_launch *launch;
	uint32_t *counter;
	uint32_t i;

	begin();
	counter = rig_map(&rig, VA, 0);
	launch = rig_exec(&rig, &(struct rig_program){ insns, RIG_COUNT(insns), 6, 6, registers });
	TEST_EQ(*counter, 50 * 6 * LANES);
	for (i = 0; i < 6; i++)
		TEST_EQ(launch->warps[i].report.misses, 0);
	rig_free(launch);
	rig_fini(&rig);
}

/* Warps 0 and 1 wait; 2 exits, 3 is stalled, then cancelled: nobody waits for them.  The next
 * block's warps meet each other only. */
static void sgpu_sm_step_barrier_ended(void)
{
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_WARP, .rd = RA },
		{ .op = SGPU_OP_JUMP_EQ, .ra = RA, .rb = 2, .imm = 5 },
		{ .op = SGPU_OP_JUMP_EQ, .ra = RA, .rb = 3, .imm = 4 },
		{ .op = SGPU_OP_BARRIER },
		{ .op = SGPU_OP_EXIT }, /* jumped to by none but who passed */
		{ .op = SGPU_OP_LOAD, .rd = RD, .ra = 4, .width = 8, .imm = VA },
		{ .op = SGPU_OP_EXIT },
	};
	uint64_t registers[SGPU_REGISTERS] = { [2] = 3, [3] = 2 };
	struct sgpu_cancel all = { .is_global = true };
	struct sgpu_launch *launch;

	begin();
	launch =
		rig_launch(&rig, &(struct rig_program){ insns, RIG_COUNT(insns), 7, 4, registers });
	run_and_check();
	TEST_EQ(launch->warps[0].state, SGPU_WARP_AT_BARRIER);
	TEST_EQ(launch->warps[0].pc, 3);
	TEST_EQ(launch->warps[1].state, SGPU_WARP_AT_BARRIER);
	TEST_EQ(launch->warps[2].state, SGPU_WARP_EXITED);
	TEST_EQ(launch->warps[3].state, SGPU_WARP_STALLED);
	TEST_EQ(launch->warps[4].state + launch->warps[5].state + launch->warps[6].state,
		3 * SGPU_WARP_EXITED);
	/* A replay is no business of those at a barrier. */
	TEST_EQ(sgpu_sm_replay(rig.gpu), 1);
	run_and_check();
	TEST_EQ(launch->warps[0].state, SGPU_WARP_AT_BARRIER);
	TEST_EQ(sgpu_sm_cancel(rig.gpu, &all), 1);
	rig_check(&rig);
	TEST_EQ(launch->warps[0].state, SGPU_WARP_READY);
	run_and_check();
	TEST_EQ(launch->warps[3].state, SGPU_WARP_FAULTED);
	TEST_EQ(rig_count(launch, SGPU_WARP_EXITED), 6);
	TEST_TRUE(sgpu_launch_is_done(launch));
	rig_free(launch);
	rig_fini(&rig);
}

/* --- kills -------------------------------------------------------------------- */

/* Warps of one launch in each state: 0 to 3 wait at a barrier, exit, stall, loop; 4 and 5 in
 * blocks of which half has ended; the rest is pending. */
static const struct sgpu_insn all_states[] = {
	{ .op = SGPU_OP_WARP, .rd = RA },
	{ .op = SGPU_OP_MOV_IMM, .rd = RB, .imm = 3 },
	{ .op = SGPU_OP_AND, .rd = RA, .ra = RA, .rb = RB },
	{ .op = SGPU_OP_JUMP_EQ, .ra = RA, .rb = RB, .imm = 3 },
	{ .op = SGPU_OP_MOV_IMM, .rd = RB, .imm = 1 },
	{ .op = SGPU_OP_JUMP_EQ, .ra = RA, .rb = RB, .imm = 9 },
	{ .op = SGPU_OP_JUMP_LT, .ra = RA, .rb = RB, .imm = 8 },
	{ .op = SGPU_OP_LOAD, .ra = RC, .width = 8, .imm = VA },
	{ .op = SGPU_OP_BARRIER },
	{ .op = SGPU_OP_EXIT },
};

static struct sgpu_launch *all_states_begin(void)
{
	struct sgpu_launch *launch;
	uint32_t i;

	begin();
	launch = LAUNCH(all_states, 40, 4);
	for (i = 0; i < 100; i++)
		sgpu_sm_step(rig.gpu, rig.now_ns, 10);
	rig_check(&rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_AT_BARRIER), 8);
	TEST_EQ(rig_count(launch, SGPU_WARP_EXITED), 8);
	TEST_EQ(rig_count(launch, SGPU_WARP_STALLED), 8);
	TEST_EQ(rig_count(launch, SGPU_WARP_READY), 8);
	TEST_EQ(rig_count(launch, SGPU_WARP_PENDING), 8);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, &rig.vas, RIG_CHANNEL), 8);
	return launch;
}

static void all_states_end(struct sgpu_launch *launch)
{
	rig_check(&rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_KILLED), 32);
	TEST_EQ(rig_count(launch, SGPU_WARP_EXITED), 8);
	TEST_TRUE(sgpu_launch_is_done(launch));
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, NULL, 0), 0);
	TEST_EQ(sgpu_sm_step(rig.gpu, rig.now_ns, 100), 0);
	TEST_EQ(sgpu_sm_replay(rig.gpu), 0);
	TEST_EQ(rig.gpu->counters.warps_killed, 32);
	/* Again: nothing more. */
	sgpu_launch_kill(launch);
	TEST_EQ(launch->ended, 40);
	rig_check(&rig);
	rig_free(launch);
	/* All room is free. */
	rig_free(rig_exec(&rig, &(struct rig_program){ add_one + 2, 1, 32, 8, NULL }));
	rig_fini(&rig);
}

static void sgpu_launch_kill_states(void)
{
	struct sgpu_launch *launch = all_states_begin();

	sgpu_launch_kill(launch);
	all_states_end(launch);
}

static void sgpu_launch_kill_pending(void)
{
	struct sgpu_launch *launch;

	begin();
	launch = LAUNCH(all_states, 40, 4);
	sgpu_launch_kill(launch);
	rig_check(&rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_KILLED), 40);
	TEST_EQ(sgpu_sm_step(rig.gpu, rig.now_ns, 100), 0);
	rig_free(launch);
	rig_fini(&rig);
}

/* Blocks that have ended gave their room back already. */
static void sgpu_launch_kill_ended_blocks(void)
{
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_BLOCK, .rd = RA },
		{ .op = SGPU_OP_JUMP_NE, .ra = RA, .rb = RB, .imm = 1 },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *other;
	struct sgpu_launch *launch;
	uint32_t i;

	begin();
	other = LAUNCH(forever, 8, 1);
	launch = LAUNCH(insns, 8, 2);
	for (i = 0; i < 20; i++)
		sgpu_sm_step(rig.gpu, rig.now_ns, 10);
	TEST_EQ(rig_count(launch, SGPU_WARP_EXITED), 2);
	TEST_EQ(rig_count(launch, SGPU_WARP_READY), 6);
	sgpu_launch_kill(launch);
	rig_check(&rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_KILLED), 6);
	rig_free(launch);
	rig_free(other);
	rig_fini(&rig);
}

/* Draining: who is ready ends after one turn more, who waits at a barrier when nobody is left to
 * come; who is stalled stays, also over a replay that does not help; no block starts. */
static void sgpu_sm_step_drains(void)
{
	struct sgpu_launch *launch = all_states_begin();

	launch->is_stopped = true;
	launch->is_draining = true;
	rig_run(&rig);
	rig_check(&rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_STALLED), 8);
	TEST_EQ(rig_count(launch, SGPU_WARP_AT_BARRIER), 8);
	TEST_EQ(rig_count(launch, SGPU_WARP_EXITED), 8);
	TEST_EQ(rig_count(launch, SGPU_WARP_KILLED), 8);
	TEST_EQ(rig_count(launch, SGPU_WARP_PENDING), 8);
	TEST_EQ(sgpu_sm_replay(rig.gpu), 8);
	rig_run(&rig);
	rig_check(&rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_STALLED), 8);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, &rig.vas, RIG_CHANNEL), 8);
	rig_map(&rig, VA, 0);
	TEST_EQ(sgpu_sm_replay(rig.gpu), 8);
	rig_run(&rig);
	rig_check(&rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_STALLED), 0);
	TEST_EQ(rig_count(launch, SGPU_WARP_AT_BARRIER), 0);
	TEST_EQ(rig_count(launch, SGPU_WARP_PENDING), 8);
	TEST_TRUE(!sgpu_launch_is_done(launch));
	/* Behind the barrier was an exit. */
	TEST_EQ(rig_count(launch, SGPU_WARP_EXITED), 16);
	TEST_EQ(rig_count(launch, SGPU_WARP_KILLED), 16);
	TEST_EQ(rig.gpu->counters.warps_killed, 16);
	sgpu_sm_stop(rig.gpu, &rig.vas, RIG_CHANNEL);
	rig_check(&rig);
	TEST_TRUE(sgpu_launch_is_done(launch));
	rig_free(launch);
	rig_fini(&rig);
}

/* A launch is stopped by its channel, or with its address space; others run on. */
static void sgpu_sm_stop_which(void)
{
	struct sgpu_launch *launch = all_states_begin();
	struct sgpu_vas other = { 0 };

	sgpu_sm_stop(rig.gpu, &rig.vas, RIG_CHANNEL + 1);
	sgpu_sm_stop(rig.gpu, &other, RIG_CHANNEL);
	sgpu_sm_stop(rig.gpu, &other, 0);
	TEST_EQ(rig.gpu->counters.warps_killed, 0);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, &rig.vas, RIG_CHANNEL + 1), 0);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, &other, 0), 0);
	sgpu_sm_stop(rig.gpu, &rig.vas, RIG_CHANNEL);
	all_states_end(launch);
	launch = all_states_begin();
	sgpu_sm_stop(rig.gpu, &rig.vas, 0);
	all_states_end(launch);
}

/* From the middle of the list; the others stay. */
static void sgpu_launch_remove_order(void)
{
	struct sgpu_launch *launches[3];
	uint32_t i;

	begin();
	for (i = 0; i < 3; i++)
		launches[i] = LAUNCH(forever, 2, 1);
	sgpu_sm_step(rig.gpu, 0, 20);
	TEST_TRUE(rig.gpu->launches == launches[0] && launches[1]->next == launches[2]);
	rig_free(launches[1]);
	TEST_TRUE(launches[0]->next == launches[2]);
	rig_check(&rig);
	TEST_EQ(sgpu_sm_step(rig.gpu, 0, 20), 20);
	rig_free(launches[0]);
	rig_free(launches[2]);
	TEST_EQ(sgpu_sm_step(rig.gpu, 0, 20), 0);
	rig_fini(&rig);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(sgpu_launch_start_bad),
		TEST(sgpu_launch_start_registers),
		TEST(sgpu_sm_step_spreads),
		TEST(sgpu_sm_step_overtakes),
		TEST(sgpu_sm_step_block_room),
		TEST(sgpu_sm_step_many),
		TEST(sgpu_sm_step_fair),
		TEST(sgpu_sm_step_seed),
		TEST(sgpu_sm_step_barrier),
		TEST(sgpu_sm_step_barrier_ended),
		TEST(sgpu_launch_kill_states),
		TEST(sgpu_launch_kill_ended_blocks),
		TEST(sgpu_launch_kill_pending),
		TEST(sgpu_sm_step_drains),
		TEST(sgpu_sm_stop_which),
		TEST(sgpu_launch_remove_order),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
