/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The buffer of replayable faults: a ring of 32-byte packets in memory that the driver reads,
 * with PUT (written here), GET (written by the driver) and the interrupt's three registers.
 *
 * The registers are ordinary words.  A driver's store to GET carries the bits that clear an
 * overflow, and sgpu_fault_poll() takes these bits away again, so that each store is seen.
 * Interrupts are pulses, as on Turing: one when the buffer is not empty, interrupts are enabled
 * and something happened since the last: a fault, a store to GET, an enable.  Of a disable and
 * an enable between two polls the order is lost; the enable is taken to be the later one, so
 * there may be a pulse too many, never one too few.
 *
 * Full: PUT one before GET.  The fault that finds it full is dropped and the buffer overflows;
 * then all faults are dropped until GET has moved and its clear bit was stored.  Who was dropped
 * comes back after a replay, as all that waits does.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_FAULT_H
#define WIC_KMOD_TESTBED_SOFTGPU_FAULT_H

#include "mmu.h"

#define SGPU_FAULT_BYTES 32
#define SGPU_FAULT_ENGINE_GRAPHICS 64 /* the MMU's engine id of subcontext 0 */
#define SGPU_FAULT_INTR_MASK 1u

struct sgpu_fault {
	struct sgpu_address instance; /* of the channel: which one it is */
	uint64_t va;
	uint64_t time_ns;
	enum sgpu_fault_type type;
	enum sgpu_access access;
	uint32_t gpc;    /* below 32 */
	uint32_t client; /* of the uTLB within its GPC, below 128 */
};

struct sgpu_fault_buffer {
	uint8_t *packets; /* borrowed; count * SGPU_FAULT_BYTES */
	uint32_t count;   /* packets, a power of two */
	/* The driver's registers. */
	volatile uint32_t get, put, info, intr, intr_enable_set, intr_enable_clear;
	volatile uint32_t prefetch_ctrl; /* which faults of prefetches have packets */
	bool is_enabled;
	bool has_overflowed;
	bool has_news;  /* for a pulse */
	uint32_t limit; /* packets at most at a time, injected; 0: count - 1 */
	uint64_t written, dropped, overflows, pulses;
};

void sgpu_fault_buffer_init(struct sgpu_fault_buffer *buffer, void *packets, uint32_t count);

/* Return: false: dropped. */
bool sgpu_fault_write(struct sgpu_fault_buffer *buffer, const struct sgpu_fault *fault);

/* Does the driver want no packets of prefetches?  The filter stands before the buffer. */
bool sgpu_fault_filters_prefetches(const struct sgpu_fault_buffer *buffer);

/* Reads the registers; true: now there is a pulse to deliver. */
bool sgpu_fault_poll(struct sgpu_fault_buffer *buffer);

#endif
