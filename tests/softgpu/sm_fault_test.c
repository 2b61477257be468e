/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Stalls, packets, replays and cancels, each directed. */
#include "tests/softgpu/sm_fixture.h"

/* Lane n loads the word at its page, VA + n * 4 KiB. */
static const struct sgpu_insn load_pages[] = {
	{ .op = SGPU_OP_LANE, .rd = RA },
	{ .op = SGPU_OP_SHL, .rd = RA, .ra = RA, .imm = 12 },
	{ .op = SGPU_OP_LOAD, .rd = RD, .ra = RA, .width = 8, .imm = VA },
	{ .op = SGPU_OP_EXIT },
};
static const struct sgpu_insn load_one[] = {
	{ .op = SGPU_OP_LOAD, .rd = RD, .ra = RA, .width = 8, .imm = VA },
	{ .op = SGPU_OP_EXIT },
};
static const struct sgpu_insn store_one[] = {
	{ .op = SGPU_OP_STORE, .ra = RA, .rb = RB, .width = 8, .imm = VA },
	{ .op = SGPU_OP_EXIT },
};

/* --- faults ------------------------------------------------------------------ */

/* 32 pages, of which three are there: those lanes are done, once; the others get a packet each,
 * 16 at a time. */
static void sgpu_sm_replay_pages(void)
{
	struct sgpu_warp_report report;
	struct sgpu_launch *launch;
	uint32_t lane;

	begin();
	for (lane = 0; lane < 3; lane++)
		*(uint64_t *)rig_map(&rig, VA + lane * RIG_PAGE, 0) = 100 + lane;
	launch = LAUNCH(load_pages, 1, 1);
	run_and_check();
	TEST_EQ(launch->warps[0].state, SGPU_WARP_STALLED);
	TEST_EQ(launch->warps[0].pc, 2);
	TEST_EQ(launch->warps[0].lanes_done, 7);
	TEST_EQ(rig.gpu->counters.loads, 3);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, &rig.vas, RIG_CHANNEL), 16);
	for (lane = 3; lane < 19; lane++)
		expect_fault(VA + lane * RIG_PAGE, SGPU_ACCESS_READ, SGPU_FAULT_PTE);
	expect_no_fault();
	/* What was mapped meanwhile changes nothing before the replay. */
	for (lane = 3; lane < 30; lane++)
		*(uint64_t *)rig_map(&rig, VA + lane * RIG_PAGE, 0) = 100 + lane;
	TEST_EQ(sgpu_sm_step(rig.gpu, rig.now_ns, 100), 0);
	TEST_EQ(sgpu_sm_replay(rig.gpu), 1);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, NULL, 0), 0);
	run_and_check();
	expect_fault(VA + 30 * RIG_PAGE, SGPU_ACCESS_READ, SGPU_FAULT_PTE);
	expect_fault(VA + 31 * RIG_PAGE, SGPU_ACCESS_READ, SGPU_FAULT_PTE);
	expect_no_fault();
	rig_map(&rig, VA + 30 * RIG_PAGE, 0);
	rig_map(&rig, VA + 31 * RIG_PAGE, 0);
	sgpu_sm_replay(rig.gpu);
	run_and_check();
	TEST_TRUE(sgpu_launch_is_done(launch));
	TEST_EQ(rig.gpu->counters.loads, LANES);
	for (lane = 0; lane < 30; lane++)
		TEST_EQ(launch->warps[0].registers[RD][lane], 100 + lane);
	sgpu_launch_report(launch, 0, &report);
	TEST_EQ(report.faults, 18);
	TEST_EQ(report.replays, 2);
	TEST_EQ(report.fault_va, VA + 31 * RIG_PAGE);
	TEST_EQ(rig.gpu->counters.warps_resumed, 2);
	rig_free(launch);
	rig_fini(&rig);
}

/* Lanes that added do not add again, however often the others are replayed. */
static void sgpu_sm_replay_precise(void)
{
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_LANE, .rd = RA },
		{ .op = SGPU_OP_SHR, .rd = RA, .ra = RA, .imm = 4 },
		{ .op = SGPU_OP_SHL, .rd = RA, .ra = RA, .imm = 12 },
		{ .op = SGPU_OP_MOV_IMM, .rd = RB, .imm = 1 },
		/* The result takes the address's place. */
		{ .op = SGPU_OP_ATOMIC_ADD, .rd = RA, .ra = RA, .rb = RB, .width = 8, .imm = VA },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *launch;
	uint64_t *words[2];
	uint32_t i;

	begin();
	words[0] = rig_map(&rig, VA, 0);
	launch = LAUNCH(insns, 1, 1);
	for (i = 0; i < 5; i++) {
		run_and_check();
		expect_fault(VA + RIG_PAGE, SGPU_ACCESS_ATOMIC, SGPU_FAULT_PTE);
		expect_no_fault();
		TEST_EQ(*words[0], 16);
		sgpu_sm_replay(rig.gpu);
	}
	words[1] = rig_map(&rig, VA + RIG_PAGE, 0);
	run_and_check();
	TEST_TRUE(sgpu_launch_is_done(launch));
	TEST_EQ(*words[0], 16);
	TEST_EQ(*words[1], 16);
	TEST_EQ(rig.gpu->counters.atomics, LANES);
	rig_free(launch);
	rig_fini(&rig);
}

/* A packet for each warp that waits for the same page, until the uTLB is full; then stalls
 * without, which the next replay brings to light.  The other uTLB has its own room. */
static void sgpu_sm_replay_utlb_full(void)
{
	struct sgpu_launch *launch;
	struct sgpu_fault fault;
	uint32_t by_gpc[2] = { 0 };
	uint32_t i;

	rig_init(&rig);
	rig.params.faults_per_utlb = 3;
	rig_start(&rig);
	launch = LAUNCH(load_one, 20, 1);
	run_and_check();
	TEST_EQ(rig_count(launch, SGPU_WARP_STALLED), 20);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, &rig.vas, 0), 6);
	for (i = 0; i < 6; i++) {
		TEST_TRUE(rig_take(&rig, &fault));
		TEST_EQ(fault.client, 0);
		TEST_TRUE(fault.gpc < 2);
		by_gpc[fault.gpc]++;
	}
	TEST_EQ(by_gpc[0], 3);
	TEST_EQ(by_gpc[1], 3);
	expect_no_fault();
	/* Nothing was mapped: the same number again. */
	TEST_EQ(sgpu_sm_replay(rig.gpu), 20);
	run_and_check();
	TEST_EQ(rig_drain(&rig), 6);
	rig_map(&rig, VA, 0);
	TEST_EQ(sgpu_sm_replay(rig.gpu), 20);
	run_and_check();
	expect_no_fault();
	TEST_TRUE(sgpu_launch_is_done(launch));
	rig_free(launch);
	rig_fini(&rig);
}

/* A buffer of 3: the other packets are lost, their warps wait, and a replay helps. */
static void sgpu_sm_replay_dropped(void)
{
	struct sgpu_launch *launch;

	rig_init(&rig);
	rig.params.fault_count = 4;
	rig_start(&rig);
	launch = LAUNCH(load_pages, 1, 1);
	run_and_check();
	TEST_EQ(rig.gpu->faults.written, 3);
	TEST_EQ(rig.gpu->faults.dropped, 13);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, &rig.vas, 0), 16);
	TEST_EQ(launch->warps[0].state, SGPU_WARP_STALLED);
	TEST_EQ(rig_drain(&rig), 3);
	TEST_EQ(sgpu_sm_step(rig.gpu, rig.now_ns, 10), 0);
	TEST_EQ(sgpu_sm_replay(rig.gpu), 1);
	run_and_check();
	expect_fault(VA, SGPU_ACCESS_READ, SGPU_FAULT_PDE);
	TEST_EQ(rig_drain(&rig), 2);
	rig_free(launch);
	rig_fini(&rig);
}

/* Types come from the page tables; addresses that reach no memory have one as well. */
static void sgpu_sm_step_fault_types(void)
{
	struct world_mapping nowhere = { .va = VA + 4 * RIG_PAGE, .bytes = RIG_PAGE };
	struct sgpu_launch *launches[5];
	uint32_t i;

	begin();
	nowhere.at.aperture = SGPU_APERTURE_VIDMEM;
	nowhere.at.address = WORLD_VIDMEM_BYTES;
	world_map(&rig.world, &rig.vas.pdb, &nowhere);
	rig_map(&rig, VA, WORLD_PTE_READ_ONLY);
	rig_map(&rig, VA + RIG_PAGE, WORLD_PTE_NO_ATOMICS);
	launches[0] = launch_at(store_one, RIG_COUNT(store_one), 8);
	run_and_check();
	expect_fault(VA, SGPU_ACCESS_WRITE, SGPU_FAULT_READ_ONLY);
	launches[1] = launch_at(add_one, RIG_COUNT(add_one), RIG_PAGE + 16);
	run_and_check();
	expect_fault(VA + RIG_PAGE, SGPU_ACCESS_ATOMIC, SGPU_FAULT_ATOMIC);
	launches[2] = launch_at(load_one, RIG_COUNT(load_one), 4 * RIG_PAGE);
	run_and_check();
	expect_fault(VA + 4 * RIG_PAGE, SGPU_ACCESS_READ, SGPU_FAULT_UNSUPPORTED_APERTURE);
	launches[3] = launch_at(load_one, RIG_COUNT(load_one), (1ull << SGPU_VA_BITS) - VA);
	run_and_check();
	expect_fault(1ull << SGPU_VA_BITS, SGPU_ACCESS_READ, SGPU_FAULT_VA_LIMIT);
	/* Allowed accesses to the first two. */
	launches[4] = launch_at(load_one, RIG_COUNT(load_one), 8);
	run_and_check();
	TEST_TRUE(sgpu_launch_is_done(launches[4]));
	expect_no_fault();
	for (i = 0; i < RIG_COUNT(launches); i++)
		rig_free(launches[i]);
	rig.vas.pdb.is_valid = false;
	launches[0] = launch_at(load_one, RIG_COUNT(load_one), 0);
	run_and_check();
	expect_fault(VA, SGPU_ACCESS_READ, SGPU_FAULT_UNBOUND_INSTANCE);
	rig_free(launches[0]);
	rig_fini(&rig);
}

/* Injected: each packet twice; the fault is one. */
static void sgpu_sm_step_repeated(void)
{
	struct sgpu_launch *launch;

	begin();
	TEST_EQ(sgpu_inject_set(&rig.gpu->inject, SGPU_INJECT_FAULT_REPEATED, 1000), 0);
	launch = launch_at(load_one, RIG_COUNT(load_one), 0);
	run_and_check();
	expect_fault(VA, SGPU_ACCESS_READ, SGPU_FAULT_PDE);
	expect_fault(VA, SGPU_ACCESS_READ, SGPU_FAULT_PDE);
	expect_no_fault();
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, &rig.vas, 0), 1);
	rig_free(launch);
	rig_fini(&rig);
}

/* Prefetches take nothing of the uTLB's room, and are left out when others have taken it. */
static void sgpu_sm_step_prefetch_full(void)
{
	static const struct sgpu_insn prefetch[] = {
		{ .op = SGPU_OP_PREFETCH, .ra = RA, .imm = VA },
		{ .op = SGPU_OP_PREFETCH, .ra = RA, .imm = VA + RIG_PAGE },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *launches[3];
	uint32_t i;

	rig_init(&rig);
	rig.params.sms = 1;
	rig.params.faults_per_utlb = 1;
	rig_start(&rig);
	launches[0] = LAUNCH(prefetch, 1, 1);
	run_and_check();
	TEST_EQ(rig_drain(&rig), 2);
	launches[1] = launch_at(load_one, RIG_COUNT(load_one), 0);
	run_and_check();
	TEST_EQ(rig_drain(&rig), 1);
	launches[2] = LAUNCH(prefetch, 1, 1);
	run_and_check();
	expect_no_fault();
	TEST_TRUE(sgpu_launch_is_done(launches[2]));
	for (i = 0; i < RIG_COUNT(launches); i++)
		rig_free(launches[i]);
	rig_fini(&rig);
}

/* --- cancels ------------------------------------------------------------------ */

static struct sgpu_launch *waiting[4];

/* Loads of page 0 and 1, a store and an atomic to page 0: all stalled, packets taken. */
static void cancel_begin(void)
{
	begin();
	waiting[0] = launch_at(load_one, RIG_COUNT(load_one), 0);
	waiting[1] = launch_at(load_one, RIG_COUNT(load_one), RIG_PAGE + 24);
	waiting[2] = launch_at(store_one, RIG_COUNT(store_one), 8);
	waiting[3] = launch_at(add_one, RIG_COUNT(add_one), 16);
	run_and_check();
	TEST_EQ(rig_drain(&rig), 4);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, &rig.vas, 0), 4);
}

/* @ended: bit n: waiting[n] ends; the others try again at once. */
static void cancel_end(const struct sgpu_cancel *cancel, uint32_t ended)
{
	uint32_t i;

	TEST_EQ(sgpu_sm_cancel(rig.gpu, cancel), __builtin_popcount(ended));
	rig_check(&rig);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, NULL, 0), 0);
	for (i = 0; i < RIG_COUNT(waiting); i++) {
		TEST_EQ(waiting[i]->warps[0].state,
			ended >> i & 1 ? SGPU_WARP_FAULTED : SGPU_WARP_READY);
		TEST_EQ(sgpu_launch_is_done(waiting[i]), ended >> i & 1);
	}
	run_and_check();
	TEST_EQ(rig_drain(&rig), 4 - __builtin_popcount(ended));
	TEST_EQ(rig.gpu->counters.warps_cancelled, __builtin_popcount(ended));
	for (i = 0; i < RIG_COUNT(waiting); i++)
		rig_free(waiting[i]);
	rig_fini(&rig);
}

static void sgpu_sm_cancel_va(void)
{
	uint32_t read = 1 << SGPU_ACCESS_READ;
	uint32_t write = 1 << SGPU_ACCESS_WRITE;
	uint32_t atomic = 1 << SGPU_ACCESS_ATOMIC;
	struct sgpu_cancel cancel = { .va = VA, .access_mask = read };

	cancel_begin();
	cancel_end(&cancel, 1);
	cancel_begin();
	cancel.va = VA + RIG_PAGE - 1; /* any byte of the page */
	cancel.access_mask = write | atomic;
	cancel_end(&cancel, 0xc);
	cancel_begin();
	cancel.va = VA + RIG_PAGE;
	cancel.access_mask = read | write | atomic;
	cancel_end(&cancel, 2);
	cancel_begin();
	cancel.access_mask = write;
	cancel_end(&cancel, 0);
	cancel_begin();
	cancel.access_mask = 0;
	cancel_end(&cancel, 0);
	cancel_begin();
	cancel.va = VA - 1;
	cancel.access_mask = ~0u;
	cancel_end(&cancel, 0);
}

static void sgpu_sm_cancel_root(void)
{
	struct sgpu_cancel cancel = { .va = VA, .access_mask = ~0u, .has_root = true };

	cancel_begin();
	cancel.root = rig.vas.pdb.root;
	cancel_end(&cancel, 0xd);
	cancel_begin();
	cancel.root = rig.vas.pdb.root;
	cancel.root.address += RIG_PAGE;
	cancel_end(&cancel, 0);
	cancel_begin();
	cancel.root = rig.vas.pdb.root;
	cancel.root.aperture = SGPU_APERTURE_SYSMEM;
	cancel_end(&cancel, 0);
	cancel_begin();
	cancel.is_global = true;
	cancel_end(&cancel, 0);
}

static void sgpu_sm_cancel_global(void)
{
	struct sgpu_cancel cancel = { .is_global = true };

	cancel_begin();
	cancel_end(&cancel, 0xf);
}

static void sgpu_sm_cancel_targeted(void)
{
	struct sgpu_cancel cancel = { .has_client = true, .gpc = 1 };
	uint32_t ended = 0;
	uint32_t i;

	cancel_begin();
	for (i = 0; i < RIG_COUNT(waiting); i++)
		ended |= (uint32_t)(waiting[i]->warps[0].sm / 2 == 1) << i;
	TEST_TRUE(ended != 0 && ended != 0xf);
	cancel_end(&cancel, ended);
	cancel_begin();
	cancel.client = 1;
	cancel_end(&cancel, 0);
	cancel_begin();
	cancel.client = 0;
	cancel.gpc = 2;
	cancel_end(&cancel, 0);
}

/* Of a warp's 32 pages one is named: outstanding (0), it ends; not asked for yet (31), it is
 * replayed. */
static void sgpu_sm_cancel_pages(void)
{
	struct sgpu_cancel cancel = { .va = VA + 31 * RIG_PAGE,
				      .access_mask = 1 << SGPU_ACCESS_READ };
	struct sgpu_launch *launch;

	begin();
	launch = LAUNCH(load_pages, 1, 1);
	run_and_check();
	TEST_EQ(rig_drain(&rig), 16);
	TEST_EQ(sgpu_sm_cancel(rig.gpu, &cancel), 0);
	run_and_check();
	TEST_EQ(launch->warps[0].state, SGPU_WARP_STALLED);
	cancel.va = VA + 9 * RIG_PAGE;
	TEST_EQ(sgpu_sm_cancel(rig.gpu, &cancel), 1);
	rig_check(&rig);
	TEST_EQ(launch->warps[0].state, SGPU_WARP_FAULTED);
	TEST_EQ(launch->warps[0].pc, 2);
	TEST_TRUE(sgpu_launch_is_done(launch));
	/* Nobody waits: nobody ends. */
	cancel.is_global = true;
	TEST_EQ(sgpu_sm_cancel(rig.gpu, &cancel), 0);
	rig_free(launch);
	rig_fini(&rig);
}

/* What has no packet is not outstanding: of two stalled warps one ends. */
static void sgpu_sm_cancel_without_packet(void)
{
	struct sgpu_cancel cancel = { .is_global = true };
	struct sgpu_launch *launch;

	rig_init(&rig);
	rig.params.sms = 1;
	rig.params.faults_per_utlb = 1;
	rig_start(&rig);
	launch = LAUNCH(load_one, 2, 1);
	run_and_check();
	TEST_EQ(rig_count(launch, SGPU_WARP_STALLED), 2);
	TEST_EQ(sgpu_sm_cancel(rig.gpu, &cancel), 1);
	TEST_EQ(rig_count(launch, SGPU_WARP_READY), 1);
	rig_check(&rig);
	rig_free(launch);
	rig_fini(&rig);
}

/* Without a launch that is killed nobody would replay for those that had no room for a packet. */
static void sgpu_launch_kill_room(void)
{
	struct sgpu_launch *first;
	struct sgpu_launch *second;

	rig_init(&rig);
	rig.params.sms = 1;
	rig.params.faults_per_utlb = 1;
	rig_start(&rig);
	first = launch_at(load_one, RIG_COUNT(load_one), 0);
	run_and_check();
	second = launch_at(load_one, RIG_COUNT(load_one), RIG_PAGE);
	run_and_check();
	TEST_EQ(second->warps[0].state, SGPU_WARP_STALLED);
	TEST_EQ(rig_drain(&rig), 1);
	rig_free(first);
	run_and_check();
	expect_fault(VA + RIG_PAGE, SGPU_ACCESS_READ, SGPU_FAULT_PDE);
	rig_free(second);
	rig_fini(&rig);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(sgpu_sm_replay_pages),
		TEST(sgpu_sm_replay_precise),
		TEST(sgpu_sm_replay_utlb_full),
		TEST(sgpu_sm_replay_dropped),
		TEST(sgpu_sm_step_fault_types),
		TEST(sgpu_sm_step_repeated),
		TEST(sgpu_sm_step_prefetch_full),
		TEST(sgpu_sm_cancel_va),
		TEST(sgpu_sm_cancel_root),
		TEST(sgpu_sm_cancel_global),
		TEST(sgpu_sm_cancel_targeted),
		TEST(sgpu_sm_cancel_pages),
		TEST(sgpu_sm_cancel_without_packet),
		TEST(sgpu_launch_kill_room),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
