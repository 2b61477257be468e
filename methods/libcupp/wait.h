/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What both halves of libcupp say to each other. */
#ifndef WIC_METHODS_LIBCUPP_WAIT_H
#define WIC_METHODS_LIBCUPP_WAIT_H

#include <stdint.h>

/*
 * More than any epoch.  cuda::atomic_ref::wait() knows no deadline, so the host half stores this
 * in all flags when one has passed: those that wait see it, and return -ETIMEDOUT.
 */
#define M_LIBCUPP_ENDED UINT64_MAX

#endif /* WIC_METHODS_LIBCUPP_WAIT_H */
