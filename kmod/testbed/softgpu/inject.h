/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Faults of the model itself, from a seed: what a driver must survive, and what its tests
 * must notice.  All off after init.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_INJECT_H
#define WIC_KMOD_TESTBED_SOFTGPU_INJECT_H

#include "port.h"
#include "uapi.h"

struct sgpu_inject {
	uint64_t random; /* generator's state, never 0 */
	uint32_t values[SGPU_INJECT_COUNT];
	uint64_t done[SGPU_INJECT_COUNT]; /* how often each happened */
};

void sgpu_inject_init(struct sgpu_inject *inject, uint64_t seed);

/* xorshift64* (Vigna, 2016): the model's only source of chance. */
uint64_t sgpu_random(uint64_t *state);

/* Return: 0, or -EINVAL: no such kind, or its value is out of the range in uapi.h. */
int sgpu_inject_set(struct sgpu_inject *inject, uint32_t kind, uint32_t value);

/* Throws the dice of a kind that is given in one of 1,000, or counts one that is given as a turn;
 * notes in done[] what it says. */
bool sgpu_inject_now(struct sgpu_inject *inject, enum sgpu_inject_kind kind);

#endif
