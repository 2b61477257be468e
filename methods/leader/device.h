/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What a careful programmer writes: one warp a block looks at an epoch word, relaxed
 * and with a back-off, acquires once when it is there, then a block barrier.
 */
#ifndef WIC_METHODS_LEADER_DEVICE_H
#define WIC_METHODS_LEADER_DEVICE_H

/* How it looks, then who does. */
#include "methods/relaxed.h"
/* The order matters. */
#include "methods/poll.h"

#endif /* WIC_METHODS_LEADER_DEVICE_H */
