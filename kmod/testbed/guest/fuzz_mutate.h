/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What a process may tell nvidia-uvm of its memory while others use it: migrations, preferred
 * locations, mappings, duplicates, evictions, range groups, and the heuristics' switches.  None
 * of it may change what anybody reads.
 */
#ifndef WIC_KMOD_TESTBED_GUEST_FUZZ_MUTATE_H
#define WIC_KMOD_TESTBED_GUEST_FUZZ_MUTATE_H

#include "softgpu_user.h"

/* Calls beside softgpu_advise()'s. */
enum fuzz_mutation {
	FUZZ_REGROUP = SOFTGPU_ADVICE_COUNT, /* a range goes into the group, or out of it */
	FUZZ_MIGRATE_GROUP,
	FUZZ_PREFETCH_POLICY,
	FUZZ_THRASHING_POLICY,
	FUZZ_MUTATIONS
};

struct fuzz_mutator {
	const struct softgpu *softgpu; /* borrowed */
	struct softgpu_range memory;
	uint64_t random;
	uint64_t group; /* a range group of our own */
	uint64_t done;  /* calls */
	uint64_t kinds; /* bits of those that are made: enum softgpu_advice, then FUZZ_... */
	/* Of the first call that failed. */
	int err;
	uint32_t status;
	char what[96];
};

/* Return: 0 or the range group's errno. */
int fuzz_mutator_init(struct fuzz_mutator *mutator, const struct softgpu *softgpu,
		      struct softgpu_range memory, uint64_t seed);

/* One random call; a failure is noted in the mutator. */
void fuzz_mutate(struct fuzz_mutator *mutator);

/* A random range within the memory, mostly of whole 64 KiB. */
struct softgpu_range fuzz_range(const struct fuzz_mutator *mutator, uint64_t *random);

#endif
