/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "methods/thread_futex/barrier.h"

#include <stdbool.h>

#include "backends/cpu/gate.h"

#define ARRIVED_ONE (1u << 16)
#define LIVE_MASK (ARRIVED_ONE - 1)

void m_barrier_init(struct m_barrier *b, uint32_t live)
{
	b->state = live;
	b->generation = 0;
}

/* Change the state by @add.  True: all that are live have arrived, and the caller opens. */
static bool barrier_add(struct m_barrier *b, uint32_t add)
{
	uint32_t seen = __atomic_load_n(&b->state, __ATOMIC_RELAXED), next;
	bool is_open;

	do {
		next = seen + add;
		is_open = next >> 16 && next >> 16 == (next & LIVE_MASK);
		if (is_open)
			next &= LIVE_MASK;
		/* Who opens has seen what all that arrived before did. */
	} while (!__atomic_compare_exchange_n(&b->state, &seen, next, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return is_open;
}

static void barrier_open(struct m_barrier *b)
{
	/* Pairs with the loads in m_barrier_wait(). */
	__atomic_fetch_add(&b->generation, 1, __ATOMIC_RELEASE);
	wic_cpu_futex_wake_all(&b->generation);
}

void m_barrier_wait(struct m_barrier *b)
{
	/* Before arriving: it cannot be counted up before. */
	uint32_t generation = __atomic_load_n(&b->generation, __ATOMIC_RELAXED);

	if (barrier_add(b, ARRIVED_ONE)) {
		barrier_open(b);
		return;
	}
	/* Pairs with the count in barrier_open(). */
	while (__atomic_load_n(&b->generation, __ATOMIC_ACQUIRE) == generation)
		wic_cpu_futex_wait(&b->generation, generation, UINT64_MAX);
}

void m_barrier_leave(struct m_barrier *b)
{
	/* Minus one live. */
	if (barrier_add(b, UINT32_MAX))
		barrier_open(b);
}
