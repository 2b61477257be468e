/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The frame that wic_fiber_switch_asm() pops from a fiber's stack, as a fiber that has
 * not run yet has it: the layout is that of switch_<machine>.S.
 */
#ifndef WIC_LIB_FIBER_FRAME_H
#define WIC_LIB_FIBER_FRAME_H

#include <stdint.h>
#include <string.h>

void wic_fiber_switch_asm(void **sp_out, void *sp);
void wic_fiber_start_asm(void);

#if defined(__x86_64__)

/* mxcsr: all exceptions masked, round to nearest; x87: the same, 64-bit mantissa. */
#define WIC_FIBER_CONTROL_WORDS (0x1f80ull | 0x037full << 32)
#define WIC_FIBER_FRAME_WORDS 8

/* @top is 16-aligned, and so is rsp when wic_fiber_start_asm() begins. */
static inline void *wic_fiber_frame_build(uint64_t *top, void *fiber)
{
	uint64_t *sp = top - WIC_FIBER_FRAME_WORDS;

	memset(sp, 0, WIC_FIBER_FRAME_WORDS * sizeof(*sp));
	sp[0] = WIC_FIBER_CONTROL_WORDS;
	sp[4] = (uint64_t)(uintptr_t)fiber; /* r12 */
	sp[7] = (uint64_t)(uintptr_t)wic_fiber_start_asm;
	return sp;
}

#elif defined(__aarch64__)

#define WIC_FIBER_FRAME_WORDS 22

/*
 * @top is 16-aligned, as sp must always be.  FPCR 0: no traps, round to nearest, no flush to
 * zero, which is what Linux starts a program with.
 */
static inline void *wic_fiber_frame_build(uint64_t *top, void *fiber)
{
	uint64_t *sp = top - WIC_FIBER_FRAME_WORDS;

	memset(sp, 0, WIC_FIBER_FRAME_WORDS * sizeof(*sp));
	sp[1] = (uint64_t)(uintptr_t)wic_fiber_start_asm; /* x30; x29 is 0: no caller */
	sp[2] = (uint64_t)(uintptr_t)fiber;               /* x19 */
	return sp;
}

#else
#error "lib/fiber/frame.h knows x86-64 and aarch64"
#endif

#endif /* WIC_LIB_FIBER_FRAME_H */
