/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * leader as much shipped code has it: the look itself is the acquire.  On a GPU each of them
 * throws the SM's L1 away, which the warps that compute pay for.
 */
#ifndef WIC_METHODS_LEADER_ACQ_DEVICE_H
#define WIC_METHODS_LEADER_ACQ_DEVICE_H

#include "methods/relaxed.h"

#undef M_LOOK
#undef M_LOOKED
#define M_LOOK(flag) m_load_acquire(flag)
#define M_LOOKED(flag) ((void)0)
/* The order matters. */
#include "methods/poll.h"

#endif /* WIC_METHODS_LEADER_ACQ_DEVICE_H */
