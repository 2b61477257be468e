/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What each instruction does, in all lanes and in those of a mask. */
#include "tests/softgpu/rig.h"

#define VA 0x700000000000ull
#define LANES_ALL 0xffffffffu
#define UNTOUCHED 0x5555555555555555ull

enum { RD, RA, RB, RC };

static struct rig rig;

static const struct sgpu_insn insn_exit = { .op = SGPU_OP_EXIT };

/* Runs @insn alone from registers[]; the launch is the caller's to free. */
static struct sgpu_launch *run_one(struct sgpu_insn *insns, struct sgpu_insn insn,
				   const uint64_t *registers)
{
	insns[0] = insn;
	insns[1] = insn_exit;
	return rig_exec(&rig, &(struct rig_program){ insns, 2, .registers = registers });
}

struct op_case {
	enum sgpu_op op;
	uint64_t a, b, imm, result;
};

static const struct op_case op_cases[] = {
	{ SGPU_OP_MOV_IMM, 1, 2, 0xfedcba9876543210ull, 0xfedcba9876543210ull },
	{ SGPU_OP_MOV, 77, 2, 9, 77 },
	{ SGPU_OP_ADD, 5, 7, 0, 12 },
	{ SGPU_OP_ADD, ~0ull, 2, 100, 101 },
	{ SGPU_OP_SUB, 5, 7, 100, (uint64_t)-2 },
	{ SGPU_OP_MUL, 1ull << 33, 3, 100, 3ull << 33 },
	{ SGPU_OP_MUL, ~0ull, ~0ull, 0, 1 },
	{ SGPU_OP_AND, 0xff00ff, 0x0ff0f0, 5, 0x0f00f0 },
	{ SGPU_OP_OR, 0xf000, 0x000f, 0xff0, 0xf00f },
	{ SGPU_OP_XOR, 0xffff, 0xf0f0, 5, 0x0f0f },
	{ SGPU_OP_SHL, 3, 9, 62, 3ull << 62 },
	{ SGPU_OP_SHL, 3, 9, 65, 6 },
	{ SGPU_OP_SHR, 1ull << 63, 9, 63, 1 },
	{ SGPU_OP_SHR, 8, 9, 64, 8 },
	{ SGPU_OP_NOP, 1, 2, 3, UNTOUCHED },
};

static void op_check(const struct op_case *c, uint32_t lanes)
{
	uint64_t registers[SGPU_REGISTERS] = { UNTOUCHED, c->a, c->b };
	struct sgpu_insn insns[2];
	struct sgpu_insn insn = {
		.op = (uint8_t)c->op, .rd = RD, .ra = RA, .rb = RB, .lanes = lanes, .imm = c->imm
	};
	struct sgpu_launch *launch = run_one(insns, insn, registers);
	uint32_t lane;

	for (lane = 0; lane < SGPU_LANES; lane++) {
		bool takes_part = !lanes || lanes >> lane & 1;

		TEST_EQ(launch->warps[0].registers[RD][lane], takes_part ? c->result : UNTOUCHED);
		TEST_EQ(launch->warps[0].registers[RA][lane], c->a);
		TEST_EQ(launch->warps[0].registers[RB][lane], c->b);
	}
	rig_free(launch);
}

static void sgpu_warp_turn_registers(void)
{
	uint32_t i;

	rig_init(&rig);
	rig_start(&rig);
	for (i = 0; i < RIG_COUNT(op_cases); i++) {
		op_check(&op_cases[i], 0);
		op_check(&op_cases[i], LANES_ALL);
		op_check(&op_cases[i], 0x80010002);
	}
	TEST_EQ(rig.gpu->counters.instructions, RIG_COUNT(op_cases) * 3 * 2);
	rig_fini(&rig);
}

static void sgpu_warp_turn_where(void)
{
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_LANE, .rd = 1 },  { .op = SGPU_OP_WARP, .rd = 2 },
		{ .op = SGPU_OP_BLOCK, .rd = 3 }, { .op = SGPU_OP_SM, .rd = 4 },
		{ .op = SGPU_OP_TIME, .rd = 5 },  { .op = SGPU_OP_EXIT },
	};
	struct sgpu_warp_report report;
	struct sgpu_launch *launch;
	uint32_t i;
	uint32_t lane;

	rig_init(&rig);
	rig_start(&rig);
	rig.now_ns = 123456789012ull;
	launch = rig_exec(&rig, &(struct rig_program){ insns, RIG_COUNT(insns), 7, 3, NULL });
	for (i = 0; i < 7; i++) {
		for (lane = 0; lane < SGPU_LANES; lane++) {
			TEST_EQ(launch->warps[i].registers[0][lane], 0);
			TEST_EQ(launch->warps[i].registers[1][lane], lane);
			TEST_EQ(launch->warps[i].registers[2][lane], i);
			TEST_EQ(launch->warps[i].registers[3][lane], i / 3);
			TEST_EQ(launch->warps[i].registers[4][lane], launch->warps[i].sm);
			TEST_EQ(launch->warps[i].registers[5][lane], 123456789012ll);
		}
		/* The warps of a block share an SM. */
		TEST_EQ(launch->warps[i].sm, launch->warps[i / 3 * 3].sm);
		sgpu_launch_report(launch, i, &report);
		TEST_EQ(report.state, SGPU_WARP_EXITED);
		TEST_EQ(report.pc, RIG_COUNT(insns) - 1);
		TEST_EQ(report.sm, launch->warps[i].sm);
		TEST_EQ(report.registers[1], 0);
		TEST_EQ(report.registers[2], i);
		TEST_EQ(report.misses + report.faults + report.replays, 0);
	}
	rig_free(launch);
	rig_fini(&rig);
}

/* --- memory ----------------------------------------------------------------- */

/* Lane n's piece is the n-th of the page. */
static void width_check(uint32_t width, uint8_t *page)
{
	uint64_t registers[SGPU_REGISTERS] = { UNTOUCHED, 0, 0x8877665544332211ull };
	uint64_t mask = width == 8 ? ~0ull : (1ull << width * 8) - 1;
	struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_LANE, .rd = RA },
		{ .op = SGPU_OP_MOV_IMM, .rd = RC, .imm = width },
		{ .op = SGPU_OP_MUL, .rd = RA, .ra = RA, .rb = RC },
		{ .op = SGPU_OP_LOAD, .rd = RD, .ra = RA, .width = (uint8_t)width, .imm = VA },
		{ .op = SGPU_OP_LANE, .rd = RC },
		{ .op = SGPU_OP_ADD, .rd = RB, .ra = RB, .rb = RC },
		{ .op = SGPU_OP_STORE,
		  .ra = RA,
		  .rb = RB,
		  .width = (uint8_t)width,
		  .lanes = 0x7fffffff,
		  .imm = VA },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *launch;
	uint8_t before[8 * SGPU_LANES];
	uint64_t value;
	uint32_t i;

	for (i = 0; i < RIG_PAGE; i++)
		page[i] = (uint8_t)(i * 7 + 129);
	memcpy(before, page, sizeof(before));
	launch = rig_exec(&rig, &(struct rig_program){ insns, RIG_COUNT(insns), 1, 1, registers });
	for (i = 0; i < SGPU_LANES; i++) {
		value = 0;
		memcpy(&value, before + i * width, width);
		TEST_EQ(launch->warps[0].registers[RD][i], value);
		value = 0;
		memcpy(&value, page + i * width, width);
		if (i < 31)
			TEST_EQ(value, (registers[RB] + i) & mask);
	}
	/* Outside the mask, and behind the last. */
	TEST_EQ(memcmp(page + 31 * width, before + 31 * width, width), 0);
	for (i = SGPU_LANES * width; i < RIG_PAGE; i++)
		TEST_EQ(page[i], (uint8_t)(i * 7 + 129));
	rig_free(launch);
}

static void sgpu_warp_turn_widths(void)
{
	uint8_t *page;

	rig_init(&rig);
	rig_start(&rig);
	page = rig_map(&rig, VA, 0);
	width_check(1, page);
	width_check(2, page);
	width_check(4, page);
	width_check(8, page);
	TEST_EQ(rig.gpu->counters.loads, 4 * 32);
	TEST_EQ(rig.gpu->counters.stores, 4 * 31);
	TEST_EQ(rig.gpu->counters.atomics, 0);
	/* Each access asks its uTLB, which walked once. */
	TEST_EQ(rig.gpu->utlbs[0].tlb.hits + rig.gpu->utlbs[1].tlb.hits +
			rig.gpu->utlbs[0].tlb.misses + rig.gpu->utlbs[1].tlb.misses,
		4 * 63);
	rig_fini(&rig);
}

/* All lanes at one word: each sees what another left. */
static void add_check(uint8_t width, uint64_t start, uint64_t *word)
{
	uint64_t registers[SGPU_REGISTERS] = { 0, VA, 3 };
	struct sgpu_insn insns[2];
	struct sgpu_insn insn = {
		.op = SGPU_OP_ATOMIC_ADD, .rd = RD, .ra = RA, .rb = RB, .width = width, .imm = 8
	};
	uint64_t mask = width == 8 ? ~0ull : 0xffffffff;
	struct sgpu_launch *launch;
	uint64_t seen = 0;
	uint32_t lane;

	word[1] = start;
	launch = run_one(insns, insn, registers);
	for (lane = 0; lane < SGPU_LANES; lane++) {
		uint64_t step = ((launch->warps[0].registers[RD][lane] - start) & mask) / 3;

		TEST_TRUE(launch->warps[0].registers[RD][lane] <= mask);
		TEST_TRUE(step < 32);
		seen |= 1ull << step;
	}
	TEST_EQ(seen, 0xffffffff);
	TEST_EQ(word[1], (start & ~mask) | ((start + 96) & mask));
	rig_free(launch);
}

static void exchange_check(uint8_t width, uint64_t *word)
{
	uint64_t registers[SGPU_REGISTERS] = { 0, VA, 0xa1a2a3a4a5a6a7a8ull };
	struct sgpu_insn insns[2];
	struct sgpu_insn insn = { .op = SGPU_OP_ATOMIC_EXCH,
				  .rd = RD,
				  .ra = RA,
				  .rb = RB,
				  .width = width,
				  .lanes = 1 << 9 };
	uint64_t mask = width == 8 ? ~0ull : 0xffffffff;
	struct sgpu_launch *launch;

	word[0] = 0xb1b2b3b4b5b6b7b8ull;
	launch = run_one(insns, insn, registers);
	TEST_EQ(launch->warps[0].registers[RD][9], 0xb1b2b3b4b5b6b7b8ull & mask);
	TEST_EQ(word[0], (0xb1b2b3b4b5b6b7b8ull & ~mask) | (registers[RB] & mask));
	rig_free(launch);
}

static void compare_check(uint8_t width, uint64_t compare, uint64_t *word)
{
	uint64_t registers[SGPU_REGISTERS] = { 0, VA, 0xa1a2a3a4a5a6a7a8ull, compare };
	struct sgpu_insn insns[2];
	struct sgpu_insn insn = { .op = SGPU_OP_ATOMIC_CAS,
				  .rd = RD,
				  .ra = RA,
				  .rb = RB,
				  .rc = RC,
				  .width = width,
				  .lanes = 1 << 30 };
	uint64_t mask = width == 8 ? ~0ull : 0xffffffff;
	uint64_t was = 0xb1b2b3b4b5b6b7b8ull;
	struct sgpu_launch *launch;

	word[0] = was;
	launch = run_one(insns, insn, registers);
	TEST_EQ(launch->warps[0].registers[RD][30], was & mask);
	if ((compare & mask) == (was & mask))
		was = (was & ~mask) | (registers[RB] & mask);
	TEST_EQ(word[0], was);
	rig_free(launch);
}

static void sgpu_warp_turn_atomics(void)
{
	uint64_t *word;

	rig_init(&rig);
	rig_start(&rig);
	word = rig_map(&rig, VA, 0);
	add_check(4, 100, word);
	add_check(8, 100, word);
	add_check(4, 0x11111111fffffff0ull, word);
	add_check(8, 0x11111111fffffff0ull, word);
	TEST_EQ(rig.gpu->counters.atomics, 4 * 32);
	exchange_check(4, word);
	exchange_check(8, word);
	compare_check(4, 0xb1b2b3b4b5b6b7b8ull, word);
	compare_check(4, 0xb5b6b7b8ull, word);
	compare_check(4, 0xb5b6b7b9ull, word);
	compare_check(8, 0xb1b2b3b4b5b6b7b8ull, word);
	compare_check(8, 0xb5b6b7b8ull, word);
	TEST_EQ(rig.gpu->counters.atomics, 4 * 32 + 7);
	rig_fini(&rig);
}

/* One misaligned lane, the last: no lane has had an effect. */
static void misaligned_check(enum sgpu_op op, uint8_t width, uint64_t off, bool is_bad)
{
	uint64_t registers[SGPU_REGISTERS] = { 0, VA, 1 };
	struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_ADD, .rd = RA, .ra = RA, .imm = off - 1, .lanes = 1u << 31 },
		{ .op = (uint8_t)op, .ra = RA, .rb = RB, .rc = RC, .width = width, .imm = 8 },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *launch;
	struct sgpu_warp_report report;

	/* ADD adds rb as well: 1. */
	insns[0].rb = RB;
	launch = rig_launch(&rig, &(struct rig_program){ insns, 3, .registers = registers });
	rig_run(&rig);
	sgpu_launch_report(launch, 0, &report);
	TEST_EQ(report.state, is_bad ? SGPU_WARP_ILLEGAL : SGPU_WARP_EXITED);
	TEST_EQ(report.pc, is_bad ? 1 : 2);
	TEST_TRUE(sgpu_launch_is_done(launch));
	rig_check(&rig);
	rig_free(launch);
}

static void sgpu_warp_turn_misaligned(void)
{
	uint64_t *word;
	enum sgpu_op op;

	rig_init(&rig);
	rig_start(&rig);
	word = rig_map(&rig, VA, 0);
	for (op = SGPU_OP_LOAD; op <= SGPU_OP_ATOMIC_CAS; op++) {
		misaligned_check(op, 8, 1, true);
		misaligned_check(op, 8, 4, true);
		misaligned_check(op, 4, 1, true);
		misaligned_check(op, 4, 2, true);
	}
	misaligned_check(SGPU_OP_LOAD, 2, 1, true);
	misaligned_check(SGPU_OP_STORE, 2, 1, true);
	TEST_EQ(word[1], 0);
	misaligned_check(SGPU_OP_LOAD, 1, 1, false);
	misaligned_check(SGPU_OP_LOAD, 2, 2, false);
	misaligned_check(SGPU_OP_ATOMIC_ADD, 4, 4, false);
	misaligned_check(SGPU_OP_PREFETCH, 8, 1, false);
	TEST_EQ(rig.gpu->faults.written, 0);
	rig_fini(&rig);
}

/* Of pages VA to VA + 3, two lanes each. */
static const struct sgpu_insn prefetch_4[] = {
	{ .op = SGPU_OP_LANE, .rd = RA },
	{ .op = SGPU_OP_SHL, .rd = RA, .ra = RA, .imm = 11 },
	{ .op = SGPU_OP_PREFETCH, .ra = RA, .imm = VA, .lanes = 0xff },
	{ .op = SGPU_OP_EXIT },
};

/* Present: nothing to report; absent: a packet for each page, and no wait. */
static void sgpu_warp_turn_prefetch(void)
{
	struct sgpu_warp_report report;
	struct sgpu_launch *launch;
	struct sgpu_fault fault;

	rig_init(&rig);
	rig_start(&rig);
	rig_map(&rig, VA, WORLD_PTE_READ_ONLY);
	rig_map(&rig, VA + 2 * RIG_PAGE, 0);
	launch = rig_exec(&rig,
			  &(struct rig_program){ prefetch_4, RIG_COUNT(prefetch_4), 1, 1, NULL });
	TEST_TRUE(rig_take(&rig, &fault));
	TEST_EQ(fault.va, VA + RIG_PAGE);
	TEST_EQ(fault.access, SGPU_ACCESS_PREFETCH);
	TEST_EQ(fault.type, SGPU_FAULT_PTE);
	TEST_TRUE(rig_take(&rig, &fault));
	TEST_EQ(fault.va, VA + 3 * RIG_PAGE);
	TEST_TRUE(!rig_take(&rig, &fault));
	sgpu_launch_report(launch, 0, &report);
	TEST_EQ(report.faults, 2);
	TEST_EQ(report.fault_va, VA + 3 * RIG_PAGE);
	TEST_EQ(rig.gpu->counters.prefetches, 4);
	TEST_EQ(sgpu_sm_outstanding(rig.gpu, NULL, 0), 0);
	TEST_EQ(sgpu_sm_replay(rig.gpu), 0);
	rig_free(launch);
	rig_fini(&rig);
}

/* Filtered: no packet, and no wait; loads are not filtered, and prefetches later neither. */
static void sgpu_warp_turn_prefetch_filtered(void)
{
	static const struct sgpu_insn load[] = {
		{ .op = SGPU_OP_LOAD, .rd = RB, .ra = RA, .width = 4, .imm = VA },
		{ .op = SGPU_OP_EXIT },
	};
	const struct rig_program prefetches = { prefetch_4, RIG_COUNT(prefetch_4), 1, 1, NULL };
	struct sgpu_launch *launches[3];
	struct sgpu_warp_report report;
	uint32_t i;

	rig_init(&rig);
	rig_start(&rig);
	rig_map(&rig, VA, 0);
	rig.gpu->faults.prefetch_ctrl = 3;
	launches[0] = rig_exec(&rig, &prefetches);
	TEST_EQ(rig_drain(&rig), 0);
	sgpu_launch_report(launches[0], 0, &report);
	TEST_EQ(report.faults, 0);
	TEST_EQ(rig.gpu->counters.prefetches, 2);
	TEST_EQ(rig.gpu->faults.dropped, 0);
	launches[1] = rig_launch(
		&rig, &(struct rig_program){ load, RIG_COUNT(load), 1, 1,
					     (uint64_t[SGPU_REGISTERS]){ [RA] = RIG_PAGE } });
	rig_run(&rig);
	TEST_EQ(rig_drain(&rig), 1);
	rig.gpu->faults.prefetch_ctrl = 0;
	launches[2] = rig_exec(&rig, &prefetches);
	TEST_EQ(rig_drain(&rig), 3);
	for (i = 0; i < RIG_COUNT(launches); i++)
		rig_free(launches[i]);
	rig_fini(&rig);
}

/* --- control ---------------------------------------------------------------- */

/* Whether the jump over the marker is taken; lanes but the first would say the opposite. */
static void jump_check(enum sgpu_op op, uint64_t a, uint64_t b, bool is_taken)
{
	struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_MOV_IMM, .rd = RA, .imm = a, .lanes = 1 },
		{ .op = SGPU_OP_MOV_IMM, .rd = RB, .imm = b, .lanes = 1 },
		{ .op = SGPU_OP_MOV_IMM, .rd = RA, .imm = is_taken ? 6 : 5, .lanes = ~1u },
		{ .op = SGPU_OP_MOV_IMM,
		  .rd = RB,
		  .imm = op == SGPU_OP_JUMP_NE ? 6 : 5,
		  .lanes = ~1u },
		{ .op = (uint8_t)op, .ra = RA, .rb = RB, .imm = 6 },
		{ .op = SGPU_OP_MOV_IMM, .rd = RD, .imm = 1 },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *launch =
		rig_exec(&rig, &(struct rig_program){ insns, RIG_COUNT(insns), 1, 1, NULL });

	TEST_EQ(launch->warps[0].registers[RD][0], !is_taken);
	rig_free(launch);
}

static void sgpu_warp_turn_jumps(void)
{
	rig_init(&rig);
	rig_start(&rig);
	jump_check(SGPU_OP_JUMP, 1, 2, true);
	jump_check(SGPU_OP_JUMP_EQ, 1, 1, true);
	jump_check(SGPU_OP_JUMP_EQ, 1, 2, false);
	jump_check(SGPU_OP_JUMP_NE, 1, 2, true);
	jump_check(SGPU_OP_JUMP_NE, 1, 1, false);
	jump_check(SGPU_OP_JUMP_LT, 1, 2, true);
	jump_check(SGPU_OP_JUMP_LT, 2, 2, false);
	jump_check(SGPU_OP_JUMP_LT, 3, 2, false);
	jump_check(SGPU_OP_JUMP_LT, ~0ull, 2, false);
	rig_fini(&rig);
}

/* Back to 2 until the counter is 10. */
static void sgpu_warp_turn_loop(void)
{
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_MOV_IMM, .rd = RB, .imm = 10 },
		{ .op = SGPU_OP_JUMP, .imm = 2 },
		{ .op = SGPU_OP_ADD, .rd = RA, .ra = RA, .rb = RC, .imm = 1 },
		{ .op = SGPU_OP_JUMP_LT, .ra = RA, .rb = RB, .imm = 2 },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *launch;

	rig_init(&rig);
	rig_start(&rig);
	launch = rig_exec(&rig, &(struct rig_program){ insns, RIG_COUNT(insns), 1, 1, NULL });
	TEST_EQ(launch->warps[0].registers[RA][31], 10);
	TEST_EQ(rig.gpu->counters.instructions, 2 + 20 + 1);
	rig_free(launch);
	rig_fini(&rig);
}

/* So many turns; its instruction is one. */
static void compute_check(uint64_t imm, uint64_t turns)
{
	struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_COMPUTE, .imm = imm },
		{ .op = SGPU_OP_COMPUTE, .imm = imm },
		{ .op = SGPU_OP_EXIT },
	};
	uint64_t before = rig.gpu->counters.instructions;
	struct sgpu_launch *launch =
		rig_launch(&rig, &(struct rig_program){ insns, 3, 1, 1, NULL });

	TEST_EQ(rig_run(&rig), 2 * turns + 1);
	TEST_TRUE(sgpu_launch_is_done(launch));
	TEST_EQ(rig.gpu->counters.instructions - before, 3);
	rig_free(launch);
}

static void sgpu_warp_turn_compute(void)
{
	rig_init(&rig);
	rig_start(&rig);
	compute_check(0, 1);
	compute_check(1, 1);
	compute_check(2, 2);
	compute_check(1000, 1000);
	rig_fini(&rig);
}

struct expect_case {
	enum sgpu_op op;
	uint32_t lanes;
	uint64_t a, b; /* lane 5 alone has these; the others are equal */
	uint32_t misses;
};

static const struct expect_case expect_cases[] = {
	{ SGPU_OP_EXPECT_EQ, 0, 4, 4, 0 },          { SGPU_OP_EXPECT_EQ, 0, 4, 3, 1 },
	{ SGPU_OP_EXPECT_EQ, 1 << 5, 3, 4, 1 },     { SGPU_OP_EXPECT_EQ, ~(1u << 5), 3, 4, 0 },
	{ SGPU_OP_EXPECT_LE, 0, 3, 4, 0 },          { SGPU_OP_EXPECT_LE, 0, 4, 4, 0 },
	{ SGPU_OP_EXPECT_LE, 0, 4, 3, 1 },          { SGPU_OP_EXPECT_LE, 0, ~0ull, 1, 1 },
	{ SGPU_OP_EXPECT_LE, ~(1u << 5), 4, 3, 0 },
};

static void expect_check(const struct expect_case *c)
{
	struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_MOV_IMM, .rd = RA, .imm = c->a, .lanes = 1 << 5 },
		{ .op = SGPU_OP_MOV_IMM, .rd = RB, .imm = c->b, .lanes = 1 << 5 },
		{ .op = (uint8_t)c->op, .ra = RA, .rb = RB, .lanes = c->lanes },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch *launch =
		rig_exec(&rig, &(struct rig_program){ insns, RIG_COUNT(insns), 1, 1, NULL });
	struct sgpu_warp_report report;

	sgpu_launch_report(launch, 0, &report);
	TEST_EQ(report.misses, c->misses);
	TEST_EQ(report.miss_pc, c->misses ? 2 : 0);
	TEST_EQ(report.miss_lane, c->misses ? 5 : 0);
	TEST_EQ(report.miss_got, c->misses ? c->a : 0);
	TEST_EQ(report.miss_want, c->misses ? c->b : 0);
	rig_free(launch);
}

/* The first one is described, the others are counted. */
static void sgpu_warp_turn_expect(void)
{
	static const struct sgpu_insn insns[] = {
		{ .op = SGPU_OP_LANE, .rd = RA },
		{ .op = SGPU_OP_EXPECT_EQ, .ra = RA, .rb = RB },
		{ .op = SGPU_OP_EXPECT_LE, .ra = RA, .rb = RB },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_warp_report report;
	struct sgpu_launch *launch;
	uint32_t i;

	rig_init(&rig);
	rig_start(&rig);
	for (i = 0; i < RIG_COUNT(expect_cases); i++)
		expect_check(&expect_cases[i]);
	launch = rig_exec(&rig, &(struct rig_program){ insns, RIG_COUNT(insns), 1, 1, NULL });
	sgpu_launch_report(launch, 0, &report);
	TEST_EQ(report.misses, 2);
	TEST_EQ(report.miss_pc, 1);
	TEST_EQ(report.miss_lane, 1);
	TEST_EQ(report.miss_got, 1);
	TEST_EQ(report.miss_want, 0);
	rig_free(launch);
	rig_fini(&rig);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(sgpu_warp_turn_registers),
					     TEST(sgpu_warp_turn_where),
					     TEST(sgpu_warp_turn_widths),
					     TEST(sgpu_warp_turn_atomics),
					     TEST(sgpu_warp_turn_misaligned),
					     TEST(sgpu_warp_turn_prefetch),
					     TEST(sgpu_warp_turn_prefetch_filtered),
					     TEST(sgpu_warp_turn_jumps),
					     TEST(sgpu_warp_turn_loop),
					     TEST(sgpu_warp_turn_compute),
					     TEST(sgpu_warp_turn_expect),
					     { 0 } };

	return test_main(argc, argv, tests);
}
