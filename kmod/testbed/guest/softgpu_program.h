/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Writing warp programs: one function an instruction, each of which appends to the program.
 * What the instructions do is in ../softgpu/uapi.h.  A program that outgrows its array notes
 * that, and softgpu_launch() refuses it with -EINVAL; so no append needs a check of its own.
 *
 * All registers start at 0 unless the launch says otherwise, and these functions take register
 * SOFTGPU_ZERO to stay so: it is the base of an absolute address and the second summand of an
 * addition of a constant.
 */
#ifndef WIC_KMOD_TESTBED_GUEST_SOFTGPU_PROGRAM_H
#define WIC_KMOD_TESTBED_GUEST_SOFTGPU_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "kmod/testbed/softgpu/uapi.h"

#define SOFTGPU_ZERO 0

struct softgpu_program {
	uint32_t count; /* instructions; also the index of the next */
	bool is_too_long;
	struct sgpu_insn insns[SGPU_PROGRAM_MAX];
};

/* Where a memory instruction goes: register + offset. */
struct softgpu_at {
	uint8_t base; /* register */
	uint64_t offset;
};

/* An absolute address. */
static inline struct softgpu_at softgpu_at(const volatile void *memory)
{
	return (struct softgpu_at){ .base = SOFTGPU_ZERO, .offset = (uintptr_t)memory };
}

static inline void softgpu_program_init(struct softgpu_program *program)
{
	program->count = 0;
	program->is_too_long = false;
}

/* Appends any instruction.  Return: its index, the place that a jump to it needs. */
static inline uint32_t softgpu_emit(struct softgpu_program *program, struct sgpu_insn insn)
{
	if (program->count == SGPU_PROGRAM_MAX) {
		program->is_too_long = true;
		return program->count - 1;
	}
	program->insns[program->count] = insn;
	return program->count++;
}

/* Whether @more instructions fit, and an exit after them. */
static inline bool softgpu_program_has_room(const struct softgpu_program *program, uint32_t more)
{
	return program->count + more < SGPU_PROGRAM_MAX;
}

/* The last instruction that each program needs. */
static inline void softgpu_exit(struct softgpu_program *program)
{
	softgpu_emit(program, (struct sgpu_insn){ .op = SGPU_OP_EXIT });
}

/* rd = value */
static inline void softgpu_set(struct softgpu_program *program, uint8_t rd, uint64_t value)
{
	softgpu_emit(program, (struct sgpu_insn){ .op = SGPU_OP_MOV_IMM, .rd = rd, .imm = value });
}

/* rd = one of SGPU_OP_LANE, _WARP, _BLOCK, _SM, _TIME */
static inline void softgpu_get(struct softgpu_program *program, enum sgpu_op what, uint8_t rd)
{
	softgpu_emit(program, (struct sgpu_insn){ .op = (uint8_t)what, .rd = rd });
}

/* rd = ra + value */
static inline void softgpu_add(struct softgpu_program *program, uint8_t rd, uint8_t ra,
			       uint64_t value)
{
	softgpu_emit(program, (struct sgpu_insn){
				      .op = SGPU_OP_ADD,
				      .rd = rd,
				      .ra = ra,
				      .rb = SOFTGPU_ZERO,
				      .imm = value,
			      });
}

/* rd = @width bytes at @at */
static inline void softgpu_load(struct softgpu_program *program, uint8_t width, uint8_t rd,
				struct softgpu_at at)
{
	softgpu_emit(program, (struct sgpu_insn){
				      .op = SGPU_OP_LOAD,
				      .width = width,
				      .rd = rd,
				      .ra = at.base,
				      .imm = at.offset,
			      });
}

/* @width bytes at @at = rb */
static inline void softgpu_store(struct softgpu_program *program, uint8_t width,
				 struct softgpu_at at, uint8_t rb)
{
	softgpu_emit(program, (struct sgpu_insn){
				      .op = SGPU_OP_STORE,
				      .width = width,
				      .ra = at.base,
				      .rb = rb,
				      .imm = at.offset,
			      });
}

/* The warp notes a miss where ra is not rb. */
static inline void softgpu_expect(struct softgpu_program *program, uint8_t ra, uint8_t rb)
{
	softgpu_emit(program, (struct sgpu_insn){ .op = SGPU_OP_EXPECT_EQ, .ra = ra, .rb = rb });
}

/* To instruction @target if ra < rb in lane 0. */
static inline void softgpu_jump_less(struct softgpu_program *program, uint8_t ra, uint8_t rb,
				     uint32_t target)
{
	softgpu_emit(program, (struct sgpu_insn){
				      .op = SGPU_OP_JUMP_LT,
				      .ra = ra,
				      .rb = rb,
				      .imm = target,
			      });
}

#endif
