/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "fuzz_run.h"

/* Registers of a warp's program. */
enum {
	LANE = 1,
	ADDRESS,
	VALUE,
	COMPARE,
	GOT,
	AGAIN,
	WANT,
	FACTOR,
};

void fuzz_warp_begin(struct softgpu_program *program)
{
	softgpu_program_init(program);
	softgpu_get(program, SGPU_OP_LANE, LANE);
}

/* rd = first + lane * step */
static void linear(struct softgpu_program *program, uint8_t rd, uint64_t first, uint64_t step)
{
	if (step == 0) {
		softgpu_set(program, rd, first);
		return;
	}
	softgpu_set(program, FACTOR, step);
	softgpu_emit(program,
		     (struct sgpu_insn){ .op = SGPU_OP_MUL, .rd = rd, .ra = LANE, .rb = FACTOR });
	softgpu_add(program, rd, rd, first);
}

static void expect(struct softgpu_program *program, struct sgpu_insn insn, uint32_t lanes)
{
	insn.lanes = lanes;
	softgpu_emit(program, insn);
}

/*
 * Whether the wants of some lanes grow by a constant from lane to lane.
 * Return: 0 with where it begins and the constant, or -1.
 */
static int find_step(const struct fuzz_op *op, uint64_t *first_out, uint64_t *step_out)
{
	const uint32_t low = (uint32_t)__builtin_ctz(op->lanes);
	const uint32_t rest = op->lanes & (op->lanes - 1);
	uint64_t step = 0;

	if (rest != 0) {
		const uint32_t next = (uint32_t)__builtin_ctz(rest);

		if ((op->want[next] - op->want[low]) % (next - low) != 0)
			return -1;
		step = (op->want[next] - op->want[low]) / (next - low);
	}
	for (uint32_t lane = low; lane < FUZZ_LANES; lane++) {
		if ((op->lanes >> lane & 1) &&
		    op->want[lane] != op->want[low] + (lane - low) * step)
			return -1;
	}
	*first_out = op->want[low] - low * step;
	*step_out = step;
	return 0;
}

/* @insn compares WANT with what was read, for all lanes of the op. */
static void expect_wants(struct softgpu_program *program, const struct fuzz_op *op,
			 struct sgpu_insn insn)
{
	uint32_t rest = op->lanes;
	uint64_t first, step;

	if (find_step(op, &first, &step) == 0) {
		linear(program, WANT, first, step);
		expect(program, insn, op->lanes);
		return;
	}
	/* Lanes that want the same go together. */
	while (rest != 0) {
		const uint64_t want = op->want[__builtin_ctz(rest)];
		uint32_t same = 0;

		for (uint32_t lane = 0; lane < FUZZ_LANES; lane++) {
			if ((rest >> lane & 1) && op->want[lane] == want)
				same |= 1u << lane;
		}
		softgpu_set(program, WANT, want);
		expect(program, insn, same);
		rest &= ~same;
	}
}

static void expect_equal(struct softgpu_program *program, const struct fuzz_op *op)
{
	expect_wants(program, op,
		     (struct sgpu_insn){ .op = SGPU_OP_EXPECT_EQ, .ra = GOT, .rb = WANT });
}

static void expect_least(struct softgpu_program *program, const struct fuzz_op *op)
{
	expect_wants(program, op,
		     (struct sgpu_insn){ .op = SGPU_OP_EXPECT_LE, .ra = WANT, .rb = GOT });
}

static void access_memory(struct softgpu_program *program, const struct fuzz_op *op,
			  enum sgpu_op what, uint8_t rd)
{
	softgpu_emit(program, (struct sgpu_insn){
				      .op = (uint8_t)what,
				      .width = op->width,
				      .rd = rd,
				      .ra = ADDRESS,
				      .rb = VALUE,
				      .rc = COMPARE,
				      .lanes = op->lanes,
			      });
}

static void load_sequence(struct softgpu_program *program, const struct fuzz_op *op)
{
	access_memory(program, op, SGPU_OP_LOAD, GOT);
	expect_least(program, op);
	softgpu_emit(program, (struct sgpu_insn){ .op = SGPU_OP_COMPUTE, .imm = 20 });
	access_memory(program, op, SGPU_OP_LOAD, AGAIN);
	expect(program, (struct sgpu_insn){ .op = SGPU_OP_EXPECT_LE, .ra = GOT, .rb = AGAIN },
	       op->lanes);
	softgpu_set(program, WANT, op->most);
	expect(program, (struct sgpu_insn){ .op = SGPU_OP_EXPECT_LE, .ra = AGAIN, .rb = WANT },
	       op->lanes);
}

void fuzz_warp_op(struct softgpu_program *program, const struct fuzz_op *op, uintptr_t memory)
{
	linear(program, ADDRESS, memory + op->at, op->stride);
	linear(program, VALUE, op->value, op->step);
	switch (op->kind) {
	case FUZZ_STORE:
	case FUZZ_SEQUENCE:
		access_memory(program, op, SGPU_OP_STORE, 0);
		break;
	case FUZZ_COUNT:
		access_memory(program, op, SGPU_OP_ATOMIC_ADD, GOT);
		break;
	case FUZZ_LOAD:
	case FUZZ_LOAD_CONSTANT:
		access_memory(program, op, SGPU_OP_LOAD, GOT);
		expect_equal(program, op);
		break;
	case FUZZ_ADD:
		access_memory(program, op, SGPU_OP_ATOMIC_ADD, GOT);
		expect_equal(program, op);
		break;
	case FUZZ_EXCHANGE:
		access_memory(program, op, SGPU_OP_ATOMIC_EXCH, GOT);
		expect_equal(program, op);
		break;
	case FUZZ_COMPARE:
		softgpu_set(program, COMPARE, op->compare);
		access_memory(program, op, SGPU_OP_ATOMIC_CAS, GOT);
		expect_equal(program, op);
		break;
	case FUZZ_LOAD_SEQUENCE:
		load_sequence(program, op);
		break;
	case FUZZ_LOAD_COUNTER:
		access_memory(program, op, SGPU_OP_LOAD, GOT);
		expect_least(program, op);
		break;
	case FUZZ_PREFETCH:
	case FUZZ_KINDS:
		access_memory(program, op, SGPU_OP_PREFETCH, 0);
		break;
	}
}
