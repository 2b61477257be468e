/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * How a careful programmer looks at an epoch word in the consumer's memory: a relaxed
 * load, one acquire once the epoch is there, a back-off between looks.
 *
 * Back-off.  CUDA: nanosleep, growing to 256 ns.  cpu: none.  A warp that skips a
 * look has still been given its turn, which costs more (a switch of fibers, about
 * 10 ns) than the look itself (a load that hits L1 until the word changes); so
 * skipping would add latency and save nothing.
 */
#ifndef WIC_METHODS_RELAXED_H
#define WIC_METHODS_RELAXED_H

#include <wic/kernel.h>

#include "methods/words.h"

WIC_DEVICE void m_back_off(uint32_t looks)
{
	m_nap(looks < 4 ? 32u << looks : 256u);
}

#define M_LOOK(flag) m_load_relaxed(flag)
#define M_LOOKED(flag) m_acquire(flag)
#define M_BACK_OFF(looks) m_back_off(looks)
#define M_SHOW(flag, epoch) m_warp_store_release(flag, epoch)

#endif /* WIC_METHODS_RELAXED_H */
