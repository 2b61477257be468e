/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Looking at one flag until it has an epoch: device half of every polling method.
 *
 * A method gives three macros before it includes this: M_LOOK(flag), a look, made
 * once a turn; M_LOOKED(flag), what must follow the look that saw the epoch;
 * M_BACK_OFF(looks), what it does between two looks.
 */
#ifndef WIC_METHODS_LOOK_H
#define WIC_METHODS_LOOK_H

#include <wic/kernel.h>

#include "methods/method.h"

#ifndef __CUDACC__
#include <time.h>
#endif

/* The clock costs 20 to 50 ns, a look about as much: 64 looks hide it. */
#define M_LOOKS_PER_CLOCK 64

#ifdef __CUDACC__

WIC_DEVICE uint64_t m_now_ns(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/* The hardware schedules; nothing is recorded. */
WIC_DEVICE void m_look_turn(void)
{
}
WIC_DEVICE void m_note(int kind, uint32_t tag, uint64_t epoch)
{
	(void)kind;
	(void)tag;
	(void)epoch;
}
#define M_EVENT(kind) 0

#else

WIC_DEVICE uint64_t m_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

WIC_DEVICE void m_look_turn(void)
{
	wic_look();
}

WIC_DEVICE void m_note(enum wic_event_kind kind, uint32_t tag, uint64_t epoch)
{
	wic_note(kind, tag, epoch);
}
#define M_EVENT(kind) WIC_EVENT_##kind

#endif /* __CUDACC__ */

/* Look at one flag until it has the epoch.  0 or -ETIMEDOUT. */
WIC_DEVICE int m_poll(const struct m_args *m, uint32_t tag, uint64_t epoch)
{
	uint64_t *flag = &m->flags[(uint64_t)tag * M_FLAG_WORDS];
	uint64_t start_ns = 0;
	uint32_t looks = 0;

	while (M_LOOK(flag) < epoch) {
		if (looks++ % M_LOOKS_PER_CLOCK == 0) {
			uint64_t now_ns = m_now_ns();

			if (!start_ns) {
				start_ns = now_ns;
				m_note(M_EVENT(LOOK), tag, epoch);
			}
			if (now_ns - start_ns >= m->timeout_ns)
				return -ETIMEDOUT;
		}
		m_look_turn();
		M_BACK_OFF(looks);
	}
	M_LOOKED(flag);
	return 0;
}

#endif /* WIC_METHODS_LOOK_H */
