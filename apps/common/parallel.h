/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Set-up work of applications spread over the machine's cores. */
#ifndef WIC_APPS_COMMON_PARALLEL_H
#define WIC_APPS_COMMON_PARALLEL_H

#include <stdint.h>

/*
 * Call @work(@arg, i) for each i of [0, count), in any order, on up to as many
 * threads as this process may use (at most 16); the caller's is one of them.
 * Return: 0, or the first -errno that a call returned (the rest may not be made).
 */
int parallel_for(uint32_t count, int (*work)(void *arg, uint32_t index), void *arg);

/* Cores that the calling thread may use, at least 1. */
uint32_t parallel_cores(void);

#endif /* WIC_APPS_COMMON_PARALLEL_H */
