/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "builtin.h"

#include <errno.h>
#include <string.h>

#define BLOCK ((size_t)SOFTGPU_BLOCK_BYTES)
#define PAGE 4096u
#define LAUNCH_MS 10000

/* Block 0 is for all; block 2 for those who move pages; block 3 gets split off. */
static struct softgpu_range block_of(const struct builtin_world *world, uint32_t block)
{
	return (struct softgpu_range){ world->blocks + block * BLOCK, BLOCK };
}

/* Words that differ from page to page. */
static void write_pattern(uint8_t *memory, size_t bytes, uint64_t seed)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		*(volatile uint64_t *)(memory + at) = seed + at;
}

static const char *check_pattern(const uint8_t *memory, size_t bytes, uint64_t seed)
{
	for (size_t at = 0; at < bytes; at += PAGE) {
		const uint64_t word = *(const volatile uint64_t *)(memory + at);

		if (word != seed + at)
			return testbed_why("page %zu has %#llx, not %#llx", at / PAGE,
					   (unsigned long long)word,
					   (unsigned long long)(seed + at));
	}
	return NULL;
}

static const char *residency(const struct builtin_world *world, const void *at,
			     UVM_TEST_VA_RESIDENCY_INFO_PARAMS *params)
{
	int err;

	memset(params, 0, sizeof(*params));
	params->lookup_address = (uintptr_t)at;
	err = BUILTIN_UVM(world, UVM_TEST_VA_RESIDENCY_INFO, params);
	return err != 0 ? testbed_err("residency", err) : NULL;
}

/* Whether the page at @at lies with @gpu alone. */
static const char *check_resident(const struct builtin_world *world, const void *at, uint32_t gpu)
{
	UVM_TEST_VA_RESIDENCY_INFO_PARAMS params;
	const NvProcessorUuid uuid = builtin_uuid(world, gpu);
	const char *why = residency(world, at, &params);

	if (why != NULL)
		return why;
	if (params.resident_on_count != 1)
		return testbed_why("resident on %u processors", params.resident_on_count);
	if (memcmp(&params.resident_on[0], &uuid, sizeof(uuid)) != 0)
		return "resident elsewhere";
	return NULL;
}

/* ---- without a GPU ---------------------------------------------------------- */

static const char *run_range_group_tree(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_RANGE_GROUP_TREE_PARAMS params = { .rmStatus = 0 };
	const char *why = NULL;
	uint32_t count = 0;
	int err = 0;

	(void)gpu;
	for (; count < 4 && err == 0; count++) {
		UVM_CREATE_RANGE_GROUP_PARAMS group = { .rmStatus = 0 };

		err = BUILTIN_UVM(world, UVM_CREATE_RANGE_GROUP, &group);
		params.rangeGroupIds[count] = group.rangeGroupId;
	}
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_RANGE_GROUP_TREE, &params);
	if (err != 0)
		why = testbed_err("the tree's test", err);
	while (count-- > 0) {
		UVM_DESTROY_RANGE_GROUP_PARAMS group = { .rangeGroupId =
								 params.rangeGroupIds[count] };

		err = BUILTIN_UVM(world, UVM_DESTROY_RANGE_GROUP, &group);
		if (err != 0 && why == NULL)
			why = testbed_err("destroying a group", err);
	}
	return why;
}

/* A page in a group: counted there, and found by its address. */
static const char *check_group(struct builtin_world *world, uint64_t id)
{
	const uint64_t start = (uintptr_t)world->blocks + PAGE;
	UVM_SET_RANGE_GROUP_PARAMS set = {
		.rangeGroupId = id,
		.requestedBase = start,
		.length = PAGE,
	};
	UVM_TEST_RANGE_GROUP_RANGE_COUNT_PARAMS count = { .rangeGroupId = id };
	UVM_TEST_RANGE_GROUP_RANGE_INFO_PARAMS info = { .lookup_address = start };
	int err = BUILTIN_UVM(world, UVM_SET_RANGE_GROUP, &set);

	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_RANGE_GROUP_RANGE_COUNT, &count);
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_RANGE_GROUP_RANGE_INFO, &info);
	if (err != 0)
		return testbed_err("group", err);
	if (count.count != 1)
		return testbed_why("%llu ranges in the group", (unsigned long long)count.count);
	if (!info.range_group_present || info.range_group_id != id ||
	    info.range_group_range_start != start || info.range_group_range_end != start + PAGE - 1)
		return "the group's range is another than was set";
	return NULL;
}

static const char *run_range_group(struct builtin_world *world, uint32_t gpu)
{
	UVM_CREATE_RANGE_GROUP_PARAMS create = { .rmStatus = 0 };
	UVM_DESTROY_RANGE_GROUP_PARAMS destroy;
	const char *why;
	int err = BUILTIN_UVM(world, UVM_CREATE_RANGE_GROUP, &create);

	(void)gpu;
	if (err != 0)
		return testbed_err("creating a group", err);
	why = check_group(world, create.rangeGroupId);
	destroy.rangeGroupId = create.rangeGroupId;
	err = BUILTIN_UVM(world, UVM_DESTROY_RANGE_GROUP, &destroy);
	return why == NULL && err != 0 ? testbed_err("destroying a group", err) : why;
}

static const char *run_mm_retain(struct builtin_world *world, uint32_t gpu)
{
	static volatile uint64_t word = 0x5eed;
	UVM_TEST_GET_KERNEL_VIRTUAL_ADDRESS_PARAMS where = { .addr = 0 };
	UVM_TEST_VA_SPACE_MM_RETAIN_PARAMS params = { .addr = (uintptr_t)&word, .sleep_us = 1000 };
	int err = BUILTIN_UVM(world, UVM_TEST_GET_KERNEL_VIRTUAL_ADDRESS, &where);

	(void)gpu;
	params.va_space_ptr = where.addr;
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_VA_SPACE_MM_RETAIN, &params);
	if (err != 0)
		return testbed_err("retain", err);
	if (params.val_before != word || params.val_after != word)
		return "it read another value";
	params.va_space_ptr = where.addr + 8;
	err = BUILTIN_UVM(world, UVM_TEST_VA_SPACE_MM_RETAIN, &params);
	return err != 0 ? NULL : "an address that is no VA space was accepted";
}

static int split(const struct builtin_world *world, const uint8_t *at)
{
	UVM_TEST_VA_RANGE_SPLIT_PARAMS params = { .split_address = (uintptr_t)at - 1 };

	return BUILTIN_UVM(world, UVM_TEST_VA_RANGE_SPLIT, &params);
}

static const char *run_range_split(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_VA_RANGE_INFO_PARAMS info = { .lookup_address = (uintptr_t)world->blocks };
	uint8_t *const at = world->blocks + 3 * BLOCK;
	int err;

	(void)gpu;
	if (split(world, at + 1) != -EFAULT)
		return "it split a page";
	err = split(world, at);
	if (err != 0)
		return testbed_err("split", err);
	if (split(world, at) != -EFAULT)
		return "it split where there is an end already";
	err = BUILTIN_UVM(world, UVM_TEST_VA_RANGE_INFO, &info);
	if (err != 0)
		return testbed_err("range", err);
	return info.va_range_end == (uintptr_t)at - 1 ? NULL : "the range did not end there";
}

static const char *run_split_error(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_VA_RANGE_INJECT_SPLIT_ERROR_PARAMS inject = {
		.lookup_address = (uintptr_t)world->blocks + 3 * BLOCK,
	};
	int err = BUILTIN_UVM(world, UVM_TEST_VA_RANGE_INJECT_SPLIT_ERROR, &inject);

	(void)gpu;
	if (err != 0)
		return testbed_err("injection", err);
	if (split(world, world->blocks + 3 * BLOCK + BLOCK / 2) != -ENOMEM)
		return "the split did not fail";
	err = split(world, world->blocks + 3 * BLOCK + BLOCK / 2);
	return err != 0 ? testbed_err("the split after it", err) : NULL;
}

static const char *run_thrashing_policy(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_SET_PAGE_THRASHING_POLICY_PARAMS set = { .rmStatus = 0 };
	UVM_TEST_GET_PAGE_THRASHING_POLICY_PARAMS before = { .rmStatus = 0 },
						  get = { .rmStatus = 0 };
	int err = BUILTIN_UVM(world, UVM_TEST_GET_PAGE_THRASHING_POLICY, &before);

	(void)gpu;
	if (err != 0)
		return testbed_err("get", err);
	for (int i = 0; i < 2; i++) {
		/* The other one, then the one it was. */
		set.policy = i == 0 ? !before.policy : before.policy;
		set.pin_ns = before.pin_ns;
		err = BUILTIN_UVM(world, UVM_TEST_SET_PAGE_THRASHING_POLICY, &set);
		if (err == 0)
			err = BUILTIN_UVM(world, UVM_TEST_GET_PAGE_THRASHING_POLICY, &get);
		if (err != 0)
			return testbed_err("set", err);
		if (get.policy != set.policy)
			return "the policy stayed as it was";
	}
	return NULL;
}

static const char *run_prefetch_policy(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_SET_PAGE_PREFETCH_POLICY_PARAMS params = {
		.policy = UVM_TEST_PAGE_PREFETCH_POLICY_MAX,
	};
	int err;

	(void)gpu;
	if (BUILTIN_UVM(world, UVM_TEST_SET_PAGE_PREFETCH_POLICY, &params) != -EINVAL)
		return "a policy that is none was accepted";
	params.policy = UVM_TEST_PAGE_PREFETCH_POLICY_DISABLE;
	err = BUILTIN_UVM(world, UVM_TEST_SET_PAGE_PREFETCH_POLICY, &params);
	params.policy = UVM_TEST_PAGE_PREFETCH_POLICY_ENABLE;
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_SET_PAGE_PREFETCH_POLICY, &params);
	return err != 0 ? testbed_err("set", err) : NULL;
}

static const char *run_prefetch_lapse(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_GET_PREFETCH_FAULTS_REENABLE_LAPSE_PARAMS before = { .rmStatus = 0 }, get;
	UVM_TEST_SET_PREFETCH_FAULTS_REENABLE_LAPSE_PARAMS set;
	int err = BUILTIN_UVM(world, UVM_TEST_GET_PREFETCH_FAULTS_REENABLE_LAPSE, &before);

	(void)gpu;
	set.reenable_lapse = before.reenable_lapse + 1;
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_SET_PREFETCH_FAULTS_REENABLE_LAPSE, &set);
	get = before;
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_GET_PREFETCH_FAULTS_REENABLE_LAPSE, &get);
	set.reenable_lapse = before.reenable_lapse;
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_SET_PREFETCH_FAULTS_REENABLE_LAPSE, &set);
	if (err != 0)
		return testbed_err("lapse", err);
	return get.reenable_lapse == before.reenable_lapse + 1 ? NULL : "it stayed as it was";
}

static const char *run_dummy_contexts(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_VA_SPACE_ADD_DUMMY_THREAD_CONTEXTS_PARAMS add = { .num_dummy_thread_contexts = 4 };
	UVM_TEST_VA_SPACE_REMOVE_DUMMY_THREAD_CONTEXTS_PARAMS remove = { .rmStatus = 0 };
	int err = BUILTIN_UVM(world, UVM_TEST_VA_SPACE_ADD_DUMMY_THREAD_CONTEXTS, &add);

	(void)gpu;
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_VA_SPACE_REMOVE_DUMMY_THREAD_CONTEXTS, &remove);
	return err != 0 ? testbed_err("dummies", err) : NULL;
}

static const char *run_space_error(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_VA_SPACE_INJECT_ERROR_PARAMS inject = { .va_block_allocation_fail_nth = 1 };
	UVM_TEST_VA_BLOCK_INJECT_ERROR_PARAMS touch = { .rmStatus = 0 }; /* makes the block */
	uint8_t *fresh;
	int err = softgpu_map(&world->gpus, BLOCK, (void **)&fresh);

	(void)gpu;
	if (err != 0)
		return testbed_err("map", err);
	touch.lookup_address = (uintptr_t)fresh;
	err = BUILTIN_UVM(world, UVM_TEST_VA_SPACE_INJECT_ERROR, &inject);
	if (err != 0)
		return testbed_err("injection", err);
	if (BUILTIN_UVM(world, UVM_TEST_VA_BLOCK_INJECT_ERROR, &touch) != -ENOMEM)
		return "making a block did not fail";
	err = BUILTIN_UVM(world, UVM_TEST_VA_BLOCK_INJECT_ERROR, &touch);
	softgpu_unmap((struct softgpu_range){ fresh, BLOCK });
	return err != 0 ? testbed_err("making it after that", err) : NULL;
}

/* Either answer is right: it is of the kernel. */
static const char *run_cgroup(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_CGROUP_ACCOUNTING_SUPPORTED_PARAMS params = { .rmStatus = 0 };
	int err = BUILTIN_UVM(world, UVM_TEST_CGROUP_ACCOUNTING_SUPPORTED, &params);

	(void)gpu;
	return err != 0 && err != -EOPNOTSUPP ? testbed_err("answer", err) : NULL;
}

/* ---- on GPUs ---------------------------------------------------------------- */

/* Pieces of a block's addresses, populated in order out of one chunk of video memory. */
static const char *run_reverse_map(struct builtin_world *world, uint32_t gpu)
{
	static const size_t pieces[] = { BLOCK / 2, BLOCK / 4, BLOCK / 8, BLOCK / 8 };
	UVM_TEST_PMM_REVERSE_MAP_PARAMS params = {
		.gpu_uuid = builtin_uuid(world, gpu),
		.range_size2 = BLOCK,
	};
	struct softgpu_range piece = { .bytes = 0 };
	uint8_t *memory;
	int err = softgpu_map(&world->gpus, 2 * BLOCK, (void **)&memory);

	if (err != 0)
		return testbed_err("map", err);
	err = softgpu_advise(&world->gpus, SOFTGPU_MIGRATE, (struct softgpu_range){ memory, BLOCK },
			     gpu);
	piece.start = memory + BLOCK;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]) && err == 0; i++) {
		piece.bytes = pieces[i];
		err = softgpu_map_at(&world->gpus, piece);
		if (err == 0)
			err = softgpu_advise(&world->gpus, SOFTGPU_MIGRATE, piece, gpu);
		piece.start = (uint8_t *)piece.start + pieces[i];
	}
	params.range_address1 = (uintptr_t)memory;
	params.range_address2 = (uintptr_t)memory + BLOCK;
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_PMM_REVERSE_MAP, &params);
	softgpu_unmap((struct softgpu_range){ memory, 2 * BLOCK });
	return err != 0 ? testbed_err("reverse map", err) : NULL;
}

static const char *run_pmm_sysmem(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_PMM_SYSMEM_PARAMS params = {
		.range_address1 = (uintptr_t)world->blocks,
		.range_address2 = (uintptr_t)world->pieces,
	};
	int err = BUILTIN_UVM(world, UVM_TEST_PMM_SYSMEM, &params);

	(void)gpu;
	return err != 0 ? testbed_err("reverse map", err) : NULL;
}

static const char *run_residency(struct builtin_world *world, uint32_t gpu)
{
	const struct softgpu_range block = block_of(world, 2);
	const char *why;
	int err = softgpu_advise(&world->gpus, SOFTGPU_MIGRATE, block, gpu);

	if (err != 0)
		return testbed_err("migrate", err);
	why = check_resident(world, block.start, gpu);
	if (why != NULL)
		return why;
	*(volatile uint8_t *)block.start = 1;
	return check_resident(world, block.start, SOFTGPU_CPU);
}

/* How @gpu maps @at.  Return: UVM_TEST_PTE_MAPPING, INVALID: not. */
static uint32_t mapping_of(const struct builtin_world *world, const void *at, uint32_t gpu)
{
	UVM_TEST_VA_RESIDENCY_INFO_PARAMS params;
	const NvProcessorUuid uuid = builtin_uuid(world, gpu);

	if (residency(world, at, &params) != NULL)
		return UVM_TEST_PTE_MAPPING_INVALID;
	for (uint32_t i = 0; i < params.mapped_on_count; i++) {
		if (memcmp(&params.mapped_on[i], &uuid, sizeof(uuid)) == 0)
			return params.mapping_type[i];
	}
	return UVM_TEST_PTE_MAPPING_INVALID;
}

/* A warp writes and reads back: it must get the permission again. */
static const char *write_by_warp(const struct builtin_world *world, uint32_t gpu, uint64_t *word)
{
	static struct softgpu_program program;
	struct softgpu_launch launch = { .gpu = gpu, .warps = 1, .program = &program };
	struct sgpu_wait_args wait;
	int err;

	softgpu_program_init(&program);
	softgpu_set(&program, 1, 0x600d);
	softgpu_store(&program, 8, softgpu_at(word), 1);
	softgpu_load(&program, 8, 2, softgpu_at(word));
	softgpu_expect(&program, 2, 1);
	softgpu_exit(&program);
	err = softgpu_launch(&world->gpus, &launch);
	if (err != 0)
		return testbed_err("launch", err);
	err = softgpu_wait(&world->gpus, &launch, testbed_ms(LAUNCH_MS), &wait);
	softgpu_free(&world->gpus, &launch);
	if (err != 0 || !wait.is_done)
		return "the warp did not end";
	if (wait.exited != 1 || wait.misses != 0)
		return "the warp could not write";
	return *(volatile uint64_t *)word == 0x600d ? NULL : "what the warp wrote is lost";
}

static const char *run_change_pte(struct builtin_world *world, uint32_t gpu)
{
	const struct softgpu_range block = block_of(world, 2);
	UVM_TEST_CHANGE_PTE_MAPPING_PARAMS params = {
		.uuid = builtin_uuid(world, gpu),
		.va = (uintptr_t)block.start,
	};
	static const uint32_t mappings[] = { UVM_TEST_PTE_MAPPING_READ_ONLY,
					     UVM_TEST_PTE_MAPPING_INVALID };

	for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
		const char *why;
		int err = softgpu_advise(&world->gpus, SOFTGPU_MIGRATE, block, gpu);

		params.mapping = mappings[i];
		if (err == 0)
			err = BUILTIN_UVM(world, UVM_TEST_CHANGE_PTE_MAPPING, &params);
		if (err != 0)
			return testbed_err("change", err);
		if (mapping_of(world, block.start, gpu) != mappings[i])
			return "the mapping is another than was set";
		why = write_by_warp(world, gpu, block.start);
		if (why != NULL)
			return why;
	}
	return NULL;
}

static const char *run_block_error(struct builtin_world *world, uint32_t gpu)
{
	const struct softgpu_range block = block_of(world, 2);
	UVM_TEST_VA_BLOCK_INJECT_ERROR_PARAMS params = {
		.lookup_address = (uintptr_t)block.start,
		.page_table_allocation_retry_force_count = 2,
		.user_pages_allocation_retry_force_count = 2,
	};
	const char *why;
	int err;

	/* Without video memory behind it, so that it must be allocated. */
	softgpu_unmap(block);
	err = softgpu_map_at(&world->gpus, block);
	if (err != 0)
		return testbed_err("map", err);
	write_pattern(block.start, BLOCK, 0xe44);
	err = BUILTIN_UVM(world, UVM_TEST_VA_BLOCK_INJECT_ERROR, &params);
	if (err == 0)
		err = softgpu_advise(&world->gpus, SOFTGPU_MIGRATE, block, gpu);
	if (err != 0)
		return testbed_err("migrate", err);
	why = check_resident(world, block.start, gpu);
	return why != NULL ? why : check_pattern(block.start, BLOCK, 0xe44);
}

static const char *run_prefetch_filter(struct builtin_world *world, uint32_t gpu)
{
	static const uint32_t modes[] = { UVM_TEST_PREFETCH_FILTERING_MODE_FILTER_ALL,
					  UVM_TEST_PREFETCH_FILTERING_MODE_FILTER_NONE };
	UVM_TEST_SET_PREFETCH_FILTERING_PARAMS params = { .gpu_uuid = builtin_uuid(world, gpu) };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		int err;

		params.filtering_mode = modes[i];
		err = BUILTIN_UVM(world, UVM_TEST_SET_PREFETCH_FILTERING, &params);
		if (err != 0)
			return testbed_err("filter", err);
	}
	return NULL;
}

/* It looks at all GPUs by itself. */
static const char *run_pmm_sanity(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_PMM_SANITY_PARAMS params = { .mode = 0 };
	int err;

	(void)gpu;
	if (BUILTIN_UVM(world, UVM_TEST_PMM_SANITY, &params) != -EINVAL)
		return "a mode that is none was accepted";
	params.mode = UvmTestPmmSanityModeBasic;
	err = BUILTIN_UVM(world, UVM_TEST_PMM_SANITY, &params);
	return err != 0 ? testbed_err("basic mode", err) : NULL;
}

static const char *run_pmm_sanity_full(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_PMM_SANITY_PARAMS params = { .mode = UvmTestPmmSanityModeFull };
	int err = BUILTIN_UVM(world, UVM_TEST_PMM_SANITY, &params);

	(void)gpu;
	return err != 0 ? testbed_err("full mode", err) : NULL;
}

/* Each combination that the driver can express. */
static const char *run_invalidate(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_INVALIDATE_TLB_PARAMS params = {
		.gpu_uuid = builtin_uuid(world, gpu),
		.va = (uintptr_t)world->blocks,
	};
	struct sgpu_counters before, after;
	uint32_t count = 0;
	int err = softgpu_counters(&world->gpus, gpu, &before);

	for (uint32_t at = 0; at < 7 * 3 * 2 * 2 && err == 0; at++, count++) {
		params.page_table_level = UvmInvalidatePageTableLevelAll + at % 7;
		params.membar = UvmInvalidateTlbMemBarNone + at / 7 % 3;
		params.target_va_mode = UvmTargetVaModeAll + at / 21 % 2;
		params.disable_gpc_invalidate = at / 42 != 0;
		err = BUILTIN_UVM(world, UVM_TEST_INVALIDATE_TLB, &params);
	}
	if (err == 0)
		err = softgpu_counters(&world->gpus, gpu, &after);
	if (err != 0)
		return testbed_why("combination %u: %s", count, strerror(-err));
	if (after.invalidates - before.invalidates < count)
		return testbed_why("the GPU saw %llu of %u",
				   (unsigned long long)(after.invalidates - before.invalidates),
				   count);
	params.target_va_mode = 0;
	if (BUILTIN_UVM(world, UVM_TEST_INVALIDATE_TLB, &params) != -EINVAL)
		return "a mode that is none was accepted";
	return NULL;
}

/* @physical: of the chunk, for the mode that wants that. */
static const char *evict_once(struct builtin_world *world, UVM_TEST_EVICT_CHUNK_PARAMS *params,
			      uint32_t gpu)
{
	const struct softgpu_range block = block_of(world, 2);
	UVM_TEST_VA_RESIDENCY_INFO_PARAMS info;
	const char *why;
	int err;

	write_pattern(block.start, BLOCK, params->eviction_mode);
	err = softgpu_advise(&world->gpus, SOFTGPU_MIGRATE, block, gpu);
	if (err != 0)
		return testbed_err("migrate", err);
	why = residency(world, block.start, &info);
	if (why != NULL)
		return why;
	params->address = params->eviction_mode == UvmTestEvictModePhysical
				  ? info.resident_physical_address[0]
				  : (uintptr_t)block.start;
	err = BUILTIN_UVM(world, UVM_TEST_EVICT_CHUNK, params);
	if (err != 0)
		return testbed_err("evict", err);
	if (!params->chunk_was_evicted)
		return testbed_why("mode %u evicted nothing", params->eviction_mode);
	/* By default another one may be the oldest. */
	if (params->eviction_mode != UvmTestEvictModeDefault)
		why = check_resident(world, block.start, SOFTGPU_CPU);
	return why != NULL ? why : check_pattern(block.start, BLOCK, params->eviction_mode);
}

static const char *run_evict(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_EVICT_CHUNK_PARAMS params = { .gpu_uuid = builtin_uuid(world, gpu) };

	for (uint32_t mode = UvmTestEvictModeDefault; mode <= UvmTestEvictModePhysical; mode++) {
		const char *why;

		params.eviction_mode = mode;
		why = evict_once(world, &params, gpu);
		if (why != NULL)
			return why;
	}
	params.eviction_mode = UvmTestEvictModePhysical + 1;
	if (BUILTIN_UVM(world, UVM_TEST_EVICT_CHUNK, &params) != -EINVAL)
		return "a mode that is none was accepted";
	return NULL;
}

/* All of video memory twice: what the first left out the second must get. */
static const char *run_check_leak(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_PMM_CHECK_LEAK_PARAMS params = {
		.gpu_uuid = builtin_uuid(world, gpu),
		.chunk_size = BLOCK,
		.alloc_limit = -1,
	};
	uint64_t first;
	int err = BUILTIN_UVM(world, UVM_TEST_PMM_CHECK_LEAK, &params);

	first = params.allocated;
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_PMM_CHECK_LEAK, &params);
	if (err != 0)
		return testbed_err("allocation", err);
	if (first == 0 || first != params.allocated)
		return testbed_why("%llu chunks, then %llu", (unsigned long long)first,
				   (unsigned long long)params.allocated);
	return NULL;
}

static const char *run_ignore_counters(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_SET_IGNORE_ACCESS_COUNTERS_PARAMS params = {
		.gpu_uuid = builtin_uuid(world, gpu),
		.ignore = NV_TRUE,
	};
	int err = BUILTIN_UVM(world, UVM_TEST_SET_IGNORE_ACCESS_COUNTERS, &params);

	params.ignore = NV_FALSE;
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_SET_IGNORE_ACCESS_COUNTERS, &params);
	return err != 0 ? testbed_err("ignore", err) : NULL;
}

static const char *run_gpu_time(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_GET_GPU_TIME_PARAMS params = { .gpu_uuid = builtin_uuid(world, gpu) };
	uint64_t first;
	int err = BUILTIN_UVM(world, UVM_TEST_GET_GPU_TIME, &params);

	if (err != 0)
		return testbed_err("time", err);
	first = params.timestamp_ns;
	/* The clock goes on by itself; how fine it is, is the model's matter. */
	for (uint32_t tries = 0; tries < 1000000; tries++) {
		err = BUILTIN_UVM(world, UVM_TEST_GET_GPU_TIME, &params);
		if (err != 0)
			return testbed_err("time", err);
		if (params.timestamp_ns > first)
			return NULL;
	}
	return "the GPU's clock stands still";
}

static const char *run_stress(struct builtin_world *world, uint32_t mode, uint32_t iterations)
{
	UVM_TEST_CHANNEL_STRESS_PARAMS params = {
		.mode = mode,
		.iterations = iterations,
		.num_streams = 4,
		.seed = 1,
	};
	int err = BUILTIN_UVM(world, UVM_TEST_CHANNEL_STRESS, &params);

	return err != 0 ? testbed_err("stress", err) : NULL;
}

static const char *run_stress_stream(struct builtin_world *world, uint32_t gpu)
{
	(void)gpu;
	return run_stress(world, UVM_TEST_CHANNEL_STRESS_MODE_STREAM, 20);
}

static const char *run_stress_update(struct builtin_world *world, uint32_t gpu)
{
	(void)gpu;
	return run_stress(world, UVM_TEST_CHANNEL_STRESS_MODE_UPDATE_CHANNELS, 1000);
}

/* The guest has one node or none. */
static const char *run_numa(struct builtin_world *world, uint32_t gpu)
{
	UVM_TEST_NUMA_CHECK_AFFINITY_PARAMS params = { .gpu_uuid = builtin_uuid(world, gpu) };
	int err = BUILTIN_UVM(world, UVM_TEST_NUMA_CHECK_AFFINITY, &params);

	return err != 0 && err != -EOPNOTSUPP ? testbed_err("affinity", err) : NULL;
}

const struct builtin_case builtin_cases[] = {
	{ "RANGE_GROUP_TREE", 0, run_range_group_tree, NULL, 0 },
	{ "RANGE_GROUP_RANGE_INFO+RANGE_GROUP_RANGE_COUNT", 0, run_range_group, NULL, 0 },
	{ "VA_SPACE_MM_RETAIN+GET_KERNEL_VIRTUAL_ADDRESS", 0, run_mm_retain, NULL, 0 },
	{ "VA_RANGE_SPLIT", 0, run_range_split, NULL, 0 },
	{ "VA_RANGE_INJECT_SPLIT_ERROR", 0, run_split_error, NULL, 0 },
	{ "GET_PAGE_THRASHING_POLICY+SET_PAGE_THRASHING_POLICY", 0, run_thrashing_policy, NULL, 0 },
	{ "SET_PAGE_PREFETCH_POLICY", 0, run_prefetch_policy, NULL, 0 },
	{ "GET_PREFETCH_FAULTS_REENABLE_LAPSE+SET_PREFETCH_FAULTS_REENABLE_LAPSE", 0,
	  run_prefetch_lapse, NULL, 0 },
	{ "VA_SPACE_ADD_DUMMY_THREAD_CONTEXTS+VA_SPACE_REMOVE_DUMMY_THREAD_CONTEXTS", 0,
	  run_dummy_contexts, NULL, 0 },
	{ "VA_SPACE_INJECT_ERROR", 0, run_space_error, NULL, 0 },
	{ "CGROUP_ACCOUNTING_SUPPORTED", 0, run_cgroup, NULL, 0 },
	/* First of all: it wants to be the only one with pieces of a chunk. */
	{ "PMM_REVERSE_MAP", 1, run_reverse_map, NULL, 0 },
	{ "PMM_SYSMEM", 1, run_pmm_sysmem, NULL, 0 },
	{ "VA_RESIDENCY_INFO", 1, run_residency, NULL, 0 },
	{ "CHANGE_PTE_MAPPING", 1, run_change_pte, NULL, 0 },
	{ "VA_BLOCK_INJECT_ERROR", 1, run_block_error, NULL, 0 },
	{ "SET_PREFETCH_FILTERING", 1, run_prefetch_filter, NULL, 0 },
	{ "PMM_SANITY", 1, run_pmm_sanity, "takes a minute with two GPUs", 1 },
	{ "PMM_SANITY_FULL", 1, run_pmm_sanity_full, "takes minutes", 0 },
	{ "INVALIDATE_TLB", 1, run_invalidate, NULL, 0 },
	{ "EVICT_CHUNK", 1, run_evict, NULL, 0 },
	{ "PMM_CHECK_LEAK", 1, run_check_leak, NULL, 0 },
	{ "SET_IGNORE_ACCESS_COUNTERS", 1, run_ignore_counters, NULL, 0 },
	{ "GET_GPU_TIME", 1, run_gpu_time, NULL, 0 },
	{ "CHANNEL_STRESS_STREAM", 1, run_stress_stream, NULL, 0 },
	{ "CHANNEL_STRESS_UPDATE", 1, run_stress_update, NULL, 0 },
	{ "NUMA_CHECK_AFFINITY", 1, run_numa, NULL, 0 },
};
const size_t builtin_cases_count = sizeof(builtin_cases) / sizeof(builtin_cases[0]);
