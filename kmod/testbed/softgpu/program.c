/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Which instructions are a program. */
#include "warp.h"

enum sgpu_op_kind sgpu_op_kind(uint32_t op)
{
	switch (op) {
	case SGPU_OP_LOAD:
	case SGPU_OP_STORE:
		return SGPU_KIND_MEMORY;
	case SGPU_OP_ATOMIC_ADD:
	case SGPU_OP_ATOMIC_EXCH:
	case SGPU_OP_ATOMIC_CAS:
		return SGPU_KIND_ATOMIC;
	case SGPU_OP_PREFETCH:
		return SGPU_KIND_PREFETCH;
	case SGPU_OP_JUMP:
	case SGPU_OP_JUMP_EQ:
	case SGPU_OP_JUMP_NE:
	case SGPU_OP_JUMP_LT:
		return SGPU_KIND_JUMP;
	default:
		return op < SGPU_OP_COUNT ? SGPU_KIND_PLAIN : SGPU_KIND_UNKNOWN;
	}
}

static bool is_width(uint8_t width, enum sgpu_op_kind kind)
{
	bool is_atomic = width == 4 || width == 8;
	bool is_any = is_atomic || width == 1 || width == 2;

	switch (kind) {
	case SGPU_KIND_ATOMIC:
		return is_atomic;
	case SGPU_KIND_MEMORY:
		return is_any;
	case SGPU_KIND_PREFETCH:
		return is_any || width == 0; /* a page is asked for, whatever the width */
	case SGPU_KIND_PLAIN:
	case SGPU_KIND_JUMP:
	case SGPU_KIND_UNKNOWN:
		break;
	}
	return width == 0;
}

static bool insn_is_good(const struct sgpu_insn *insn, uint32_t count)
{
	enum sgpu_op_kind kind = sgpu_op_kind(insn->op);

	if (kind == SGPU_KIND_UNKNOWN || insn->reserved != 0 || insn->reserved2 != 0)
		return false;
	if (insn->rd >= SGPU_REGISTERS || insn->ra >= SGPU_REGISTERS ||
	    insn->rb >= SGPU_REGISTERS || insn->rc >= SGPU_REGISTERS)
		return false;
	if (kind == SGPU_KIND_JUMP && insn->imm >= count)
		return false;
	return is_width(insn->width, kind);
}

int sgpu_program_check(const struct sgpu_insn *insns, uint32_t count, uint32_t *bad_out)
{
	uint32_t i;

	if (count == 0 || count > SGPU_PROGRAM_MAX) {
		*bad_out = count;
		return -EINVAL;
	}
	for (i = 0; i < count; i++) {
		if (!insn_is_good(&insns[i], count)) {
			*bad_out = i;
			return -EINVAL;
		}
	}
	/* No warp runs off the end. */
	if (insns[count - 1].op != SGPU_OP_EXIT && insns[count - 1].op != SGPU_OP_JUMP) {
		*bad_out = count - 1;
		return -EINVAL;
	}
	return 0;
}
