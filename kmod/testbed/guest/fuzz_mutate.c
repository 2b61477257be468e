/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "fuzz_mutate.h"

#include <errno.h>
#include <stdio.h>

#include "testbed.h"
#include "uvm.h"

#define SMALL_BYTES 4096u
#define LARGE_BYTES 65536u
#define PIN_NS 300000000ull /* the driver's default */

#define UVM_CALL(mutator, request, params) \
	softgpu_uvm((mutator)->softgpu->uvm_fd, request, params, &(params)->rmStatus)

static uint64_t below(uint64_t *random, uint64_t bound)
{
	return testbed_random(random) % bound;
}

struct softgpu_range fuzz_range(const struct fuzz_mutator *mutator, uint64_t *random)
{
	const uint64_t unit = below(random, 4) == 0 ? SMALL_BYTES : LARGE_BYTES;
	const uint64_t units = mutator->memory.bytes / unit;
	const uint64_t first = below(random, units);
	/* Short ones are frequent, long ones are possible. */
	uint64_t count = 1 + below(random, 1ull << below(random, 8));

	if (count > units - first)
		count = units - first;
	return (struct softgpu_range){
		.start = (uint8_t *)mutator->memory.start + first * unit,
		.bytes = count * unit,
	};
}

int fuzz_mutator_init(struct fuzz_mutator *mutator, const struct softgpu *softgpu,
		      struct softgpu_range memory, uint64_t seed)
{
	UVM_CREATE_RANGE_GROUP_PARAMS group = { .rmStatus = 0 };
	int err;

	*mutator = (struct fuzz_mutator){
		.softgpu = softgpu,
		.memory = memory,
		.random = seed * 0x9e3779b97f4a7c15ull | 1,
		.kinds = UINT64_MAX,
	};
	err = UVM_CALL(mutator, UVM_CREATE_RANGE_GROUP, &group);
	mutator->group = group.rangeGroupId;
	return err;
}

static uint32_t processor(struct fuzz_mutator *mutator)
{
	const uint64_t which = below(&mutator->random, mutator->softgpu->gpus + 1);

	return which == mutator->softgpu->gpus ? SOFTGPU_CPU : (uint32_t)which;
}

static void note(struct fuzz_mutator *mutator, int err, const char *what,
		 struct softgpu_range range)
{
	mutator->done++;
	/* Video memory may be full of pages that are just being moved. */
	if (err == 0 || err == -ENOMEM || mutator->err != 0)
		return;
	mutator->err = err;
	mutator->status = softgpu_status();
	snprintf(mutator->what, sizeof(mutator->what), "%s of %zu KiB at %zu KiB", what,
		 range.bytes / 1024,
		 (size_t)((uint8_t *)range.start - (uint8_t *)mutator->memory.start) / 1024);
}

static void advise(struct fuzz_mutator *mutator, enum softgpu_advice advice)
{
	static const char *const names[SOFTGPU_ADVICE_COUNT] = {
		"migrate",         "prefer",    "prefer none",      "accessed by",
		"not accessed by", "duplicate", "do not duplicate", "evict",
	};
	const struct softgpu_range range = fuzz_range(mutator, &mutator->random);
	uint32_t where = processor(mutator);

	if (advice == SOFTGPU_EVICT)
		where = (uint32_t)below(&mutator->random, mutator->softgpu->gpus);
	note(mutator, softgpu_advise(mutator->softgpu, advice, range, where), names[advice], range);
}

/* Ranges go into a group and out of it; the group as a whole is moved. */
static void regroup(struct fuzz_mutator *mutator)
{
	const struct softgpu_range range = fuzz_range(mutator, &mutator->random);
	UVM_SET_RANGE_GROUP_PARAMS set = {
		.rangeGroupId =
			below(&mutator->random, 2) ? mutator->group : UVM_RANGE_GROUP_ID_NONE,
		.requestedBase = (uintptr_t)range.start,
		.length = range.bytes,
	};

	note(mutator, UVM_CALL(mutator, UVM_SET_RANGE_GROUP, &set), "range group", range);
}

static void migrate_group(struct fuzz_mutator *mutator)
{
	UVM_MIGRATE_RANGE_GROUP_PARAMS params = {
		.rangeGroupId = mutator->group,
		.destinationUuid = NV_PROCESSOR_UUID_CPU_DEFAULT,
	};
	const uint32_t where = processor(mutator);

	if (where != SOFTGPU_CPU)
		__builtin_memcpy(params.destinationUuid.uuid, mutator->softgpu->info.uuid[where],
				 sizeof(params.destinationUuid.uuid));
	note(mutator, UVM_CALL(mutator, UVM_MIGRATE_RANGE_GROUP, &params), "migration of the group",
	     mutator->memory);
}

static void set_prefetch(struct fuzz_mutator *mutator)
{
	UVM_TEST_SET_PAGE_PREFETCH_POLICY_PARAMS params = {
		.policy = (NvU32)below(&mutator->random, UVM_TEST_PAGE_PREFETCH_POLICY_MAX),
	};

	note(mutator, UVM_CALL(mutator, UVM_TEST_SET_PAGE_PREFETCH_POLICY, &params),
	     "prefetch policy", mutator->memory);
}

static void set_thrashing(struct fuzz_mutator *mutator)
{
	UVM_TEST_SET_PAGE_THRASHING_POLICY_PARAMS params = {
		.policy = (NvU32)below(&mutator->random, UVM_TEST_PAGE_THRASHING_POLICY_MAX),
		.pin_ns = PIN_NS,
	};

	note(mutator, UVM_CALL(mutator, UVM_TEST_SET_PAGE_THRASHING_POLICY, &params),
	     "thrashing policy", mutator->memory);
}

/* Of 32: how often each kind is chosen. */
static uint32_t choose_kind(struct fuzz_mutator *mutator)
{
	static const uint8_t shares[FUZZ_MUTATIONS] = {
		[SOFTGPU_MIGRATE] = 10,
		[SOFTGPU_PREFER] = 3,
		[SOFTGPU_PREFER_NONE] = 2,
		[SOFTGPU_ACCESSED_BY] = 3,
		[SOFTGPU_ACCESSED_BY_NOT] = 2,
		[SOFTGPU_DUPLICATE] = 2,
		[SOFTGPU_DUPLICATE_NOT] = 2,
		[SOFTGPU_EVICT] = 2,
		[FUZZ_REGROUP] = 2,
		[FUZZ_MIGRATE_GROUP] = 1,
		[FUZZ_PREFETCH_POLICY] = 2,
		[FUZZ_THRASHING_POLICY] = 1,
	};
	uint64_t rest = below(&mutator->random, 32);
	uint32_t kind = 0;

	while (rest >= shares[kind])
		rest -= shares[kind++];
	return kind;
}

void fuzz_mutate(struct fuzz_mutator *mutator)
{
	const uint32_t kind = choose_kind(mutator);

	if ((mutator->kinds >> kind & 1) == 0)
		return;
	if (kind < SOFTGPU_ADVICE_COUNT)
		advise(mutator, (enum softgpu_advice)kind);
	else if (kind == FUZZ_REGROUP)
		regroup(mutator);
	else if (kind == FUZZ_MIGRATE_GROUP)
		migrate_group(mutator);
	else if (kind == FUZZ_PREFETCH_POLICY)
		set_prefetch(mutator);
	else
		set_thrashing(mutator);
}
