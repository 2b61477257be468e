/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * void wic_fiber_switch_asm(void **sp_out, void *sp)
 *
 * AAPCS64 (Arm's ABI document, IHI 0055), sections 6.1.1 and 6.1.2: callee-saved are
 * x19 to x28, x29 (frame), sp, and of v8 to v15 the lower halves, d8 to d15; x30 is where to
 * return to.  x18 is the platform's, which Linux does not use in programs.
 *
 * FPCR is neither callee- nor caller-saved but global state that a program changes by calls
 * such as fesetround().  Each fiber has its own here, as on x86-64, where the ABI wants it:
 * a warp that changes its rounding must not change another's.  It is written only where
 * the two differ, since a write may drain the pipeline.  FPSR, the sticky flags, is
 * caller-saved and not kept.
 *
 * BTI: the entry takes an indirect call (hint 34 = bti c, a nop before Armv8.5).  The way
 * back is a ret: a br would need a landing pad behind each call.  PAC: a caller
 * signs its x30 with its own sp and finds the same sp again, so signed frames may be
 * switched; what lies in our frame is not signed, hence no PAC bit in the note.  A guarded
 * control stack (GCS) is not switched, and the note does not claim it.
 */
#define FRAME_BYTES 176

	.text
	.globl	wic_fiber_switch_asm
	.hidden	wic_fiber_switch_asm
	.type	wic_fiber_switch_asm, %function
	.p2align 4
wic_fiber_switch_asm:
	hint	#34
	sub	sp, sp, #FRAME_BYTES
	stp	x29, x30, [sp, #0]
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mrs	x9, fpcr
	str	x9, [sp, #160]
	mov	x10, sp
	str	x10, [x0]
	mov	sp, x1
	ldr	x10, [sp, #160]
	cmp	x9, x10
	b.eq	1f
	msr	fpcr, x10
1:	ldp	d14, d15, [sp, #144]
	ldp	d12, d13, [sp, #128]
	ldp	d10, d11, [sp, #112]
	ldp	d8, d9, [sp, #96]
	ldp	x27, x28, [sp, #80]
	ldp	x25, x26, [sp, #64]
	ldp	x23, x24, [sp, #48]
	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp, #0]
	add	sp, sp, #FRAME_BYTES
	ret
	.size	wic_fiber_switch_asm, . - wic_fiber_switch_asm

/* First instruction of a new fiber: its struct is in x19. */
	.globl	wic_fiber_start_asm
	.hidden	wic_fiber_start_asm
	.type	wic_fiber_start_asm, %function
	.p2align 4
wic_fiber_start_asm:
	.cfi_startproc
	.cfi_undefined x30
	mov	x0, x19
	bl	wic_fiber_start
	brk	#1
	.cfi_endproc
	.size	wic_fiber_start_asm, . - wic_fiber_start_asm

/* ELF for the Arm 64-bit Architecture, GNU_PROPERTY_AARCH64_FEATURE_1_AND: bit 0, BTI. */
	.section .note.gnu.property, "a"
	.p2align 3
	.word	4		/* bytes of the name */
	.word	16		/* bytes of the property */
	.word	5		/* NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.word	0xc0000000	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
	.word	4
	.word	1
	.word	0

	.section .note.GNU-stack, "", %progbits
