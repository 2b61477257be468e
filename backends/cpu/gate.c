// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/gate.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void wic_cpu_futex_wait(uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	struct timespec ts = { (time_t)(timeout_ns / 1000000000u),
			       (long)(timeout_ns % 1000000000u) };

	/* Every reason to return (wake, value changed, time, signal) is looked at by the caller. */
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns == UINT64_MAX ? NULL : &ts,
		NULL, 0);
}

void wic_cpu_futex_wake_all(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#define STATE_MASK 3u

void wic_cpu_gate_knock(struct cpu_gate *g)
{
	/*
	 * A read-modify-write that changes nothing is a full fence that TSan sees; it
	 * pairs with the one in wic_cpu_gate_arm().
	 */
	uint32_t word = __atomic_fetch_or(&g->word, 0, __ATOMIC_SEQ_CST);
	uint32_t sleep = word & ~STATE_MASK;

	if (word == (sleep | CPU_GATE_AWAKE))
		return;
	/* From here on the owner does not go to sleep: the word is not what it waits with. */
	if (word == (sleep | CPU_GATE_ASLEEP) &&
	    !__atomic_compare_exchange_n(&g->word, &word, sleep | CPU_GATE_KNOCKED, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	    word != (sleep | CPU_GATE_KNOCKED))
		return; /* it woke by itself, or by another's knock, and sees the work */
	wic_cpu_futex_wake_all(&g->word);
	/* The next ones need not. */
	word = sleep | CPU_GATE_KNOCKED;
	__atomic_compare_exchange_n(&g->word, &word, sleep | CPU_GATE_AWAKE, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Only the owner changes the number. */
static uint32_t sleep_number(const struct cpu_gate *g)
{
	return __atomic_load_n(&g->word, __ATOMIC_RELAXED) & ~STATE_MASK;
}

void wic_cpu_gate_arm(struct cpu_gate *g)
{
	uint32_t next = sleep_number(g) + STATE_MASK + 1;

	__atomic_exchange_n(&g->word, next | CPU_GATE_ASLEEP, __ATOMIC_SEQ_CST);
}

void wic_cpu_gate_disarm(struct cpu_gate *g)
{
	__atomic_store_n(&g->word, sleep_number(g) | CPU_GATE_AWAKE, __ATOMIC_RELEASE);
}

void wic_cpu_gate_sleep(struct cpu_gate *g, uint64_t timeout_ns)
{
	/* Another value by now: the futex call returns at once. */
	wic_cpu_futex_wait(&g->word, sleep_number(g) | CPU_GATE_ASLEEP, timeout_ns);
	wic_cpu_gate_disarm(g);
}
