/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Threads that stay, for a producer whose pieces are too short to start threads for: filling a tile
 * for a GPU takes one core longer than the GPU takes to use it up.
 *
 * Helpers look for work for TEAM_LOOK_NS after their last, then sleep.  One caller at a time.
 */
#ifndef WIC_APPS_COMMON_TEAM_H
#define WIC_APPS_COMMON_TEAM_H

#include <stdint.h>

#define TEAM_THREADS_MAX 16u
#define TEAM_LOOK_NS 200000u

struct team;

/* @threads: the caller's included, 1 to TEAM_THREADS_MAX.  NULL: no memory or threads. */
struct team *team_create(uint32_t threads);
/* @t: NULL or idle. */
void team_destroy(struct team *t);
uint32_t team_threads(const struct team *t);
/* Call @work(@arg, i) for each i of [0, team_threads()), all at once; 0 is the caller's.  What they
 * wrote is there for the caller when it returns. */
void team_run(struct team *t, void (*work)(void *arg, uint32_t part), void *arg);

#endif /* WIC_APPS_COMMON_TEAM_H */
