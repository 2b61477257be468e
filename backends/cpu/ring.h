/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Bounded rings of 63-bit words between two threads: one writer, one reader, no lock.
 *
 * The top bit of a slot says in which lap it was written, so that the reader looks at the
 * slot itself and not at the writer's position: one line moves between the cores for a
 * word, not two.  After FastForward (Giacomoni, Moseley, Vachharajani, PPoPP 2008), which
 * marks an empty slot by a value and has its reader write it.
 */
#ifndef WIC_BACKENDS_CPU_RING_H
#define WIC_BACKENDS_CPU_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/machine.h"

#define CPU_LINE_BYTES 64

#define CPU_RING_LAP (1ull << 63)

struct cpu_ring {
	uint64_t *words; /* owned */
	uint32_t mask;
	uint32_t head __attribute__((aligned(CPU_LINE_BYTES))); /* writer's */
	uint32_t tail_seen; /* writer's: where tail was, so that it is not read at each push */
	uint32_t tail __attribute__((aligned(CPU_LINE_BYTES))); /* reader's */
};

static inline int cpu_ring_init(struct cpu_ring *r, uint32_t capacity)
{
	uint32_t size = 1;

	while (size < capacity)
		size *= 2;
	r->words = calloc(size, sizeof(*r->words));
	r->mask = size - 1;
	r->head = 0;
	r->tail_seen = 0;
	r->tail = 0;
	return r->words ? 0 : -1;
}

static inline void cpu_ring_fini(struct cpu_ring *r)
{
	free(r->words);
	r->words = NULL;
}

/* The lap bit of position @at: set in the first lap, where all slots are 0. */
static inline uint64_t cpu_ring_lap(const struct cpu_ring *r, uint32_t at)
{
	return at & (r->mask + 1) ? 0 : CPU_RING_LAP;
}

/* False: full.  Release pairs with the acquire in cpu_ring_peek(). */
static inline bool cpu_ring_push(struct cpu_ring *r, uint64_t word)
{
	uint32_t head = r->head;

	if (head - r->tail_seen > r->mask) {
		r->tail_seen = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
		if (head - r->tail_seen > r->mask)
			return false;
	}
	__atomic_store_n(&r->words[head & r->mask], word | cpu_ring_lap(r, head), __ATOMIC_RELEASE);
	r->head = head + 1;
	return true;
}

/*
 * The same for some at a time.  From the last slot to the first: a reader that sees the first
 * finds the others, wherever the writer is stopped.
 */
static inline bool cpu_ring_push_all(struct cpu_ring *r, const uint64_t *words, uint32_t count)
{
	uint32_t head = r->head;

	if (head + count - r->tail_seen > r->mask + 1) {
		r->tail_seen = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
		if (head + count - r->tail_seen > r->mask + 1)
			return false;
	}
	for (uint32_t i = count; i-- > 0;)
		__atomic_store_n(&r->words[(head + i) & r->mask],
				 words[i] | cpu_ring_lap(r, head + i), __ATOMIC_RELEASE);
	r->head = head + count;
	return true;
}

static inline void cpu_ring_prefetch_push(const struct cpu_ring *r)
{
	wic_machine_prefetch_for_write(&r->words[r->head & r->mask]);
}

/* The reader's: the next word is there. */
static inline bool cpu_ring_peek(const struct cpu_ring *r, uint64_t *word_out)
{
	uint64_t word = __atomic_load_n(&r->words[r->tail & r->mask], __ATOMIC_ACQUIRE);

	*word_out = word & ~CPU_RING_LAP;
	return (word & CPU_RING_LAP) == cpu_ring_lap(r, r->tail);
}

static inline bool cpu_ring_is_empty(const struct cpu_ring *r)
{
	uint64_t word;

	return !cpu_ring_peek(r, &word);
}

/* False: empty.  The release of tail gives the slot back to the writer. */
static inline bool cpu_ring_pop(struct cpu_ring *r, uint64_t *word_out)
{
	if (!cpu_ring_peek(r, word_out))
		return false;
	__atomic_store_n(&r->tail, r->tail + 1, __ATOMIC_RELEASE);
	return true;
}

#endif /* WIC_BACKENDS_CPU_RING_H */
