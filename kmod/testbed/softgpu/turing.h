/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The methods of Turing's channels, by the names of their manuals: what an error says.
 *
 * Source: clc46f.h (host), clc5b5.h (copy engine), clc076.h (software methods, which on
 * hardware trap into RM) of NVIDIA's open-gpu-kernel-modules; what they do is in open-gpu-doc,
 * Host-Fifo/volta/gv100/dev_pbdma.ref.txt, and in nvidia-uvm, uvm_{turing,volta,pascal}_host.c
 * and uvm_volta_ce.c, which write them.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_TURING_H
#define WIC_KMOD_TESTBED_SOFTGPU_TURING_H

#define SGPU_CLASS_GPFIFO 0xc46fu   /* TURING_CHANNEL_GPFIFO_A */
#define SGPU_CLASS_CE 0xc5b5u       /* TURING_DMA_COPY_A */
#define SGPU_CLASS_SOFTWARE 0xc076u /* GP100_UVM_SW */

#define SGPU_SUBCHANNEL_CE 4u
#define SGPU_SUBCHANNEL_SOFTWARE 5u /* UVM_SW_OBJ_SUBCHANNEL */

/* Below this a method is the host's, whatever its subchannel. */
#define SGPU_HOST_END 0x100u

#define SGPU_HOST_METHODS(X)         \
	X(SET_OBJECT, 0x00)          \
	X(ILLEGAL, 0x04)             \
	X(NOP, 0x08)                 \
	X(SEMAPHOREA, 0x10)          \
	X(SEMAPHOREB, 0x14)          \
	X(SEMAPHOREC, 0x18)          \
	X(SEMAPHORED, 0x1c)          \
	X(NON_STALL_INTERRUPT, 0x20) \
	X(FB_FLUSH, 0x24)            \
	X(MEM_OP_A, 0x28)            \
	X(MEM_OP_B, 0x2c)            \
	X(MEM_OP_C, 0x30)            \
	X(MEM_OP_D, 0x34)            \
	X(SET_REFERENCE, 0x50)       \
	X(SEM_ADDR_LO, 0x5c)         \
	X(SEM_ADDR_HI, 0x60)         \
	X(SEM_PAYLOAD_LO, 0x64)      \
	X(SEM_PAYLOAD_HI, 0x68)      \
	X(SEM_EXECUTE, 0x6c)         \
	X(WFI, 0x78)                 \
	X(CRC_CHECK, 0x7c)           \
	X(YIELD, 0x80)               \
	X(CLEAR_FAULTED, 0x84)       \
	X(QUADRO_VERIFY, 0xa0)

#define SGPU_CE_METHODS(X)                  \
	X(NOP, 0x100)                       \
	X(PM_TRIGGER, 0x140)                \
	X(SET_SEMAPHORE_A, 0x240)           \
	X(SET_SEMAPHORE_B, 0x244)           \
	X(SET_SEMAPHORE_PAYLOAD, 0x248)     \
	X(SET_RENDER_ENABLE_A, 0x254)       \
	X(SET_RENDER_ENABLE_B, 0x258)       \
	X(SET_RENDER_ENABLE_C, 0x25c)       \
	X(SET_SRC_PHYS_MODE, 0x260)         \
	X(SET_DST_PHYS_MODE, 0x264)         \
	X(SET_GLOBAL_COUNTER_UPPER, 0x280)  \
	X(SET_GLOBAL_COUNTER_LOWER, 0x284)  \
	X(SET_PAGEOUT_START_PAUPPER, 0x288) \
	X(SET_PAGEOUT_START_PALOWER, 0x28c) \
	X(LAUNCH_DMA, 0x300)                \
	X(OFFSET_IN_UPPER, 0x400)           \
	X(OFFSET_IN_LOWER, 0x404)           \
	X(OFFSET_OUT_UPPER, 0x408)          \
	X(OFFSET_OUT_LOWER, 0x40c)          \
	X(PITCH_IN, 0x410)                  \
	X(PITCH_OUT, 0x414)                 \
	X(LINE_LENGTH_IN, 0x418)            \
	X(LINE_COUNT, 0x41c)                \
	X(SET_REMAP_CONST_A, 0x700)         \
	X(SET_REMAP_CONST_B, 0x704)         \
	X(SET_REMAP_COMPONENTS, 0x708)      \
	X(SET_DST_BLOCK_SIZE, 0x70c)        \
	X(SET_DST_WIDTH, 0x710)             \
	X(SET_DST_HEIGHT, 0x714)            \
	X(SET_DST_DEPTH, 0x718)             \
	X(SET_DST_LAYER, 0x71c)             \
	X(SET_DST_ORIGIN, 0x720)            \
	X(SET_SRC_BLOCK_SIZE, 0x728)        \
	X(SET_SRC_WIDTH, 0x72c)             \
	X(SET_SRC_HEIGHT, 0x730)            \
	X(SET_SRC_DEPTH, 0x734)             \
	X(SET_SRC_LAYER, 0x738)             \
	X(SET_SRC_ORIGIN, 0x73c)            \
	X(SRC_ORIGIN_X, 0x744)              \
	X(SRC_ORIGIN_Y, 0x748)              \
	X(DST_ORIGIN_X, 0x74c)              \
	X(DST_ORIGIN_Y, 0x750)              \
	X(PM_TRIGGER_END, 0x1114)

#define SGPU_SOFTWARE_METHODS(X)  \
	X(NO_OPERATION, 0x100)    \
	X(FAULT_CANCEL_A, 0x104)  \
	X(FAULT_CANCEL_B, 0x108)  \
	X(FAULT_CANCEL_C, 0x10c)  \
	X(CLEAR_FAULTED_A, 0x110) \
	X(CLEAR_FAULTED_B, 0x114)

#define SGPU_HOST_ENUMERATOR(name, offset) SGPU_HOST_##name = (offset),
#define SGPU_CE_ENUMERATOR(name, offset) SGPU_CE_##name = (offset),
#define SGPU_SOFTWARE_ENUMERATOR(name, offset) SGPU_SOFTWARE_##name = (offset),

/* Byte offsets. */
enum sgpu_host_offset { SGPU_HOST_METHODS(SGPU_HOST_ENUMERATOR) };
enum sgpu_ce_offset { SGPU_CE_METHODS(SGPU_CE_ENUMERATOR) };
enum sgpu_software_offset { SGPU_SOFTWARE_METHODS(SGPU_SOFTWARE_ENUMERATOR) };

#endif
