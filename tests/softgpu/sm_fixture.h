/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Programs of a line or two, and what becomes of their warps. */
#ifndef WIC_TESTS_SOFTGPU_SM_FIXTURE_H
#define WIC_TESTS_SOFTGPU_SM_FIXTURE_H

#include "tests/softgpu/rig.h"

#define VA 0x700000000000ull
#define LANES 32u

enum { RD, RA, RB, RC };

static struct rig rig;

/* All lanes add 1 to the word at VA + ra: of ra's register the launch decides. */
static const struct sgpu_insn add_one[] = {
	{ .op = SGPU_OP_MOV_IMM, .rd = RB, .imm = 1 },
	{ .op = SGPU_OP_ATOMIC_ADD, .ra = RA, .rb = RB, .width = 4, .imm = VA },
	{ .op = SGPU_OP_EXIT },
};

static inline void begin(void)
{
	rig_init(&rig);
	rig_start(&rig);
}

static inline struct sgpu_launch *launch_n(const struct sgpu_insn *insns, uint32_t count,
					   uint32_t warps, uint32_t warps_per_block)
{
	return rig_launch(&rig,
			  &(struct rig_program){ insns, count, warps, warps_per_block, NULL });
}

#define LAUNCH(insns, warps, per_block) launch_n(insns, RIG_COUNT(insns), warps, per_block)

/* A warp of @insns whose address is VA + @offset. */
static inline struct sgpu_launch *launch_at(const struct sgpu_insn *insns, uint32_t count,
					    uint64_t offset)
{
	uint64_t registers[SGPU_REGISTERS] = { [RA] = offset };

	return rig_launch(&rig, &(struct rig_program){ insns, count, 1, 1, registers });
}

static inline void expect_fault(uint64_t va, enum sgpu_access access, enum sgpu_fault_type type)
{
	struct sgpu_fault fault;

	TEST_TRUE(rig_take(&rig, &fault));
	TEST_EQ(fault.va, va);
	TEST_EQ(fault.access, access);
	TEST_EQ(fault.type, type);
	TEST_EQ(fault.instance.aperture, SGPU_APERTURE_SYSMEM);
	TEST_EQ(fault.instance.address, RIG_INSTANCE);
	TEST_EQ(fault.time_ns, rig.now_ns);
}

static inline void expect_no_fault(void)
{
	TEST_EQ(rig_drain(&rig), 0);
}

static inline void run_and_check(void)
{
	rig_run(&rig);
	rig_check(&rig);
}

#endif
