/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Where one thread sleeps until others have work for it: spin-then-futex.
 *
 * The sleeper says so, looks at its work once more, then sleeps; a caller stores
 * the work, then looks whether somebody sleeps.  Both sides have a full fence
 * between, so one of them sees the other (Dekker).
 *
 * A caller that is stopped anywhere delays nobody else's knock: the owner counts as asleep
 * until a wake-up has been carried out, not from when somebody set out to do it.  Who
 * comes in between wakes it too.  Each sleep has a number, so a caller that goes on late
 * takes no later sleep for the one it knocked at.
 */
#ifndef WIC_BACKENDS_CPU_GATE_H
#define WIC_BACKENDS_CPU_GATE_H

#include <stdbool.h>
#include <stdint.h>

enum cpu_gate_state {
	CPU_GATE_AWAKE = 0,
	CPU_GATE_ASLEEP,  /* or about to be */
	CPU_GATE_KNOCKED, /* somebody is on the way to wake it */
};

/* A line of its own: whoever knocks takes it, and its owner's data must not go with it. */
struct cpu_gate {
	/* Futex word: number of the sleep, and enum cpu_gate_state in the lowest two bits. */
	uint32_t word __attribute__((aligned(64)));
};

/* After the work is stored: wake the owner if it sleeps. */
void wic_cpu_gate_knock(struct cpu_gate *g);
/* Announce sleep; the caller then looks at its work once more. */
void wic_cpu_gate_arm(struct cpu_gate *g);
/* There was work after all. */
void wic_cpu_gate_disarm(struct cpu_gate *g);
/* Sleep until a knock or for timeout_ns (UINT64_MAX: no limit), then disarmed. */
void wic_cpu_gate_sleep(struct cpu_gate *g, uint64_t timeout_ns);

/* The same futex calls on any word, for waits of host threads. */
void wic_cpu_futex_wait(uint32_t *word, uint32_t value, uint64_t timeout_ns);
void wic_cpu_futex_wake_all(uint32_t *word);

#endif /* WIC_BACKENDS_CPU_GATE_H */
