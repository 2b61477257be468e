/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Which programs sgpu_program_check() takes; each rule of sm.h is broken by one instruction. */
#include "kmod/testbed/softgpu/sm.h"
#include "tests/test.h"

#define UNTOUCHED 0xdeadu

static struct sgpu_insn insns[SGPU_PROGRAM_MAX + 1];

static const struct sgpu_insn insn_exit = { .op = SGPU_OP_EXIT };

/* @bad: the instruction that is wrong, or UNTOUCHED: none is. */
static void expect(uint32_t count, uint32_t bad)
{
	uint32_t found = UNTOUCHED;

	TEST_EQ(sgpu_program_check(insns, count, &found), bad == UNTOUCHED ? 0 : -EINVAL);
	TEST_EQ(found, bad);
}

/* NOP, @insn, EXIT */
static void expect_insn(struct sgpu_insn insn, bool is_good)
{
	memset(insns, 0, sizeof(insns));
	insns[0].op = SGPU_OP_NOP;
	insns[1] = insn;
	insns[2] = insn_exit;
	expect(3, is_good ? UNTOUCHED : 1);
}

static void sgpu_program_check_length(void)
{
	memset(insns, 0, sizeof(insns));
	expect(0, 0);
	expect(1, UNTOUCHED);
	expect(SGPU_PROGRAM_MAX, UNTOUCHED);
	expect(SGPU_PROGRAM_MAX + 1, SGPU_PROGRAM_MAX + 1);
	expect(UINT32_MAX, UINT32_MAX);
}

/* Nothing runs off the end. */
static void sgpu_program_check_end(void)
{
	uint32_t op;

	memset(insns, 0, sizeof(insns));
	for (op = 0; op < SGPU_OP_COUNT; op++) {
		insns[1] = (struct sgpu_insn){ .op = (uint8_t)op };
		if (op >= SGPU_OP_LOAD && op <= SGPU_OP_ATOMIC_CAS)
			insns[1].width = 8;
		expect(2, op == SGPU_OP_EXIT || op == SGPU_OP_JUMP ? UNTOUCHED : 1);
	}
}

/* The widths that each op takes, bit by bit. */
static void sgpu_program_check_width(void)
{
	uint64_t any = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8;
	uint32_t op;
	uint32_t width;
	uint64_t wanted;

	for (op = 0; op < SGPU_OP_COUNT; op++) {
		wanted = 1;
		if (op == SGPU_OP_LOAD || op == SGPU_OP_STORE)
			wanted = any;
		if (op == SGPU_OP_ATOMIC_ADD || op == SGPU_OP_ATOMIC_EXCH ||
		    op == SGPU_OP_ATOMIC_CAS)
			wanted = 1 << 4 | 1 << 8;
		if (op == SGPU_OP_PREFETCH)
			wanted = 1 | any;
		for (width = 0; width < 64; width++)
			expect_insn(
				(struct sgpu_insn){ .op = (uint8_t)op, .width = (uint8_t)width },
				wanted >> width & 1);
	}
}

static void sgpu_program_check_op(void)
{
	uint32_t op;

	for (op = SGPU_OP_COUNT; op < 256; op++)
		expect_insn((struct sgpu_insn){ .op = (uint8_t)op }, false);
}

static void sgpu_program_check_registers(void)
{
	uint32_t r;

	for (r = 0; r < 256; r++) {
		bool is_good = r < SGPU_REGISTERS;
		struct sgpu_insn insn = { .op = SGPU_OP_ADD };

		insn.rd = (uint8_t)r;
		expect_insn(insn, is_good);
		insn = (struct sgpu_insn){ .op = SGPU_OP_ADD, .ra = (uint8_t)r };
		expect_insn(insn, is_good);
		insn = (struct sgpu_insn){ .op = SGPU_OP_ADD, .rb = (uint8_t)r };
		expect_insn(insn, is_good);
		insn = (struct sgpu_insn){ .op = SGPU_OP_ADD, .rc = (uint8_t)r };
		expect_insn(insn, is_good);
	}
}

static void sgpu_program_check_jump(void)
{
	uint32_t op;

	for (op = SGPU_OP_JUMP; op <= SGPU_OP_JUMP_LT; op++) {
		struct sgpu_insn insn = { .op = (uint8_t)op };

		for (insn.imm = 0; insn.imm < 6; insn.imm++)
			expect_insn(insn, insn.imm < 3);
		insn.imm = 1ull << 32;
		expect_insn(insn, false);
	}
	/* The immediate of others is any number. */
	expect_insn((struct sgpu_insn){ .op = SGPU_OP_COMPUTE, .imm = ~0ull }, true);
}

static void sgpu_program_check_reserved(void)
{
	expect_insn((struct sgpu_insn){ .op = SGPU_OP_NOP, .reserved = 1 }, false);
	expect_insn((struct sgpu_insn){ .op = SGPU_OP_NOP, .reserved = 0x8000 }, false);
	expect_insn((struct sgpu_insn){ .op = SGPU_OP_NOP, .reserved2 = 1 }, false);
	expect_insn((struct sgpu_insn){ .op = SGPU_OP_NOP, .reserved2 = 1u << 31 }, false);
	expect_insn((struct sgpu_insn){ .op = SGPU_OP_NOP, .lanes = 1 }, true);
}

/* Of several the first. */
static void sgpu_program_check_first(void)
{
	memset(insns, 0, sizeof(insns));
	insns[3].op = SGPU_OP_COUNT;
	insns[2].reserved = 1;
	expect(5, 2);
	insns[0].rd = SGPU_REGISTERS;
	expect(5, 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(sgpu_program_check_length),
					     TEST(sgpu_program_check_end),
					     TEST(sgpu_program_check_width),
					     TEST(sgpu_program_check_op),
					     TEST(sgpu_program_check_registers),
					     TEST(sgpu_program_check_jump),
					     TEST(sgpu_program_check_reserved),
					     TEST(sgpu_program_check_first),
					     { 0 } };

	return test_main(argc, argv, tests);
}
