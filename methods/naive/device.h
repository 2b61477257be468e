/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The paper's Algorithm 1: block barrier, thread 0 spins with an atomic add of 0
 * on the flag, block barrier.  No back-off: each look is a full read-modify-write.
 */
#ifndef WIC_METHODS_NAIVE_DEVICE_H
#define WIC_METHODS_NAIVE_DEVICE_H

#include <wic/kernel.h>

#include "methods/words.h"

/* As the host half does: what is added leaves the flag at the epoch. */
WIC_DEVICE void m_add_distance(uint64_t *flag, uint64_t epoch)
{
	m_warp_sync();
	if (!m_lane_0())
		return;
	/* CUDA's atomics order nothing: the data first. */
	m_acquire(flag);
	/* A tag has one publisher, so the flag cannot move between load and add. */
	(void)m_add(flag, epoch - m_load_relaxed(flag));
}

#define M_LOOK(flag) m_add(flag, 0)
#define M_LOOKED(flag) m_acquire(flag)
#define M_BACK_OFF(looks) ((void)(looks))
#define M_SHOW(flag, epoch) m_add_distance(flag, epoch)
#include "methods/poll.h"

#endif /* WIC_METHODS_NAIVE_DEVICE_H */
