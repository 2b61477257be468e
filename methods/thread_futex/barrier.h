/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A barrier for threads that sleep, which some may leave for good.
 *
 *	state: arrived << 16 | live
 *
 * The one that makes arrived equal to live, by arriving or by leaving, opens it: it
 * sets arrived to 0 in the same exchange, then counts the generation up, on which
 * the others sleep.  Nobody can arrive for the next time between the two: all
 * that are live sleep, but the one that opens.
 */
#ifndef WIC_METHODS_THREAD_FUTEX_BARRIER_H
#define WIC_METHODS_THREAD_FUTEX_BARRIER_H

#include <stdint.h>

/* A line of its own: blocks do not disturb each other. */
struct m_barrier {
	uint32_t state __attribute__((aligned(64)));
	uint32_t generation; /* futex word */
};

/* @live: 1 to 65,535 threads. */
void m_barrier_init(struct m_barrier *b, uint32_t live);
/* What a thread did before is seen by all after. */
void m_barrier_wait(struct m_barrier *b);
/* The calling thread will not come again. */
void m_barrier_leave(struct m_barrier *b);

#endif /* WIC_METHODS_THREAD_FUTEX_BARRIER_H */
