/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "builtin.h"

/* What NV_ERR_INVALID_STATE and others mean is said by the kernel's log: the driver prints the
 * condition that did not hold. */

static void fill_range_tree_random(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_RANGE_TREE_RANDOM_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->seed = 1;
	params->main_iterations = 500;
	params->high_probability = 75;
	params->add_remove_shrink_group_probability = 60;
	params->shrink_probability = 20;
	params->collision_checks = 8;
	params->iterator_checks = 8;
	params->max_end = 1ull << 40;
	params->max_ranges = 256;
	params->max_batch_count = 16;
	params->max_attempts = 16;
}

static const char *check_range_tree_random(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_RANGE_TREE_RANDOM_PARAMS *params = raw;

	(void)world;
	return params->stats.total_adds == 0 ? "it added no range" : NULL;
}

static void fill_rb_tree_random(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_RB_TREE_RANDOM_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->iterations = 1000;
	params->node_limit = 128;
	params->seed = 1;
}

static void fill_range_allocator(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_RANGE_ALLOCATOR_SANITY_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->seed = 1;
	params->iters = 1000;
}

static void fill_thread_context(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_THREAD_CONTEXT_SANITY_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->iterations = 1000;
}

static void fill_thread_context_perf(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_THREAD_CONTEXT_PERF_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->iterations = 100;
}

static void fill_perf_module(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PERF_MODULE_SANITY_PARAMS *params = raw;

	(void)gpu;
	params->range_address = (uintptr_t)world->blocks;
	params->range_size = 2 * SOFTGPU_BLOCK_BYTES; /* two blocks that exist */
}

static void fill_flush_deferred(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_FLUSH_DEFERRED_WORK_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->work_type = UvmTestDeferredWorkTypeAcessedByMappings;
}

/* No session listens: the event and the counter go through the filters and nowhere. */
static void fill_inject_event(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_INJECT_TOOLS_EVENT_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->entry.eventData.eventType = UvmEventTypeMigration;
	params->count = 4;
}

static void fill_increment_counter(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_INCREMENT_TOOLS_COUNTER_PARAMS *params = raw;

	(void)gpu;
	params->amount = 1;
	params->count = 4;
	params->processor = builtin_uuid(world, SOFTGPU_CPU);
}

/* All but the last page of what page tables of 4 or 5 levels leave to programs. */
static const char *check_user_end(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_GET_USER_SPACE_END_ADDRESS_PARAMS *params = raw;
	const uint64_t end = params->user_space_end_address + 4096;

	(void)world;
	if (end != 1ull << 47 && end != 1ull << 56)
		return testbed_why("user space ends at %#llx",
				   (unsigned long long)params->user_space_end_address);
	return NULL;
}

static const char *check_chunk_sizes(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_GET_CPU_CHUNK_ALLOC_SIZES_PARAMS *params = raw;

	(void)world;
	return (params->alloc_size_mask & 4096) != 0 ? NULL : "4 KiB is no size of a chunk";
}

/* What libsoftgpu's second file is for. */
static const char *check_pageable(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_GET_PAGEABLE_MEM_ACCESS_TYPE_PARAMS *params = raw;

	(void)world;
	if (params->type != UVM_TEST_PAGEABLE_MEM_ACCESS_TYPE_MMU_NOTIFIER)
		return testbed_why("type %u, not that of an MMU notifier", params->type);
	return NULL;
}

static void fill_mm_or_current(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_VA_SPACE_MM_OR_CURRENT_RETAIN_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->sleep_us = 1000;
}

static void fill_va_block_info(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_VA_BLOCK_INFO_PARAMS *params = raw;

	(void)gpu;
	params->lookup_address = (uintptr_t)world->blocks + 4096;
}

static const char *check_va_block_info(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_VA_BLOCK_INFO_PARAMS *params = raw;
	const uint64_t start = (uintptr_t)world->blocks;

	if (params->va_block_start != start ||
	    params->va_block_end != start + SOFTGPU_BLOCK_BYTES - 1)
		return "another block than the one that was mapped";
	return NULL;
}

static void fill_va_range_info(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_VA_RANGE_INFO_PARAMS *params = raw;

	(void)gpu;
	params->lookup_address = (uintptr_t)world->pieces;
}

static const char *check_va_range_info(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_VA_RANGE_INFO_PARAMS *params = raw;

	if (params->type != UVM_TEST_VA_RANGE_TYPE_MANAGED)
		return testbed_why("type %u, not managed", params->type);
	if (params->va_range_end != (uintptr_t)world->pieces + SOFTGPU_BLOCK_BYTES / 4 - 1)
		return "another range than the one that was mapped";
	return params->managed.owned_by_calling_process ? NULL : "not owned by this process";
}

/* ---- on GPUs ---------------------------------------------------------------- */

static void fill_ref_count(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_GET_GPU_REF_COUNT_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
}

static const char *check_ref_count(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_GET_GPU_REF_COUNT_PARAMS *params = raw;

	(void)world;
	return params->ref_count > 0 ? NULL : "a registered GPU has no reference";
}

static void fill_peer_ref_count(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PEER_REF_COUNT_PARAMS *params = raw;

	(void)gpu;
	params->gpu_uuid_1 = builtin_uuid(world, 0);
	params->gpu_uuid_2 = builtin_uuid(world, 1);
}

static const char *check_peer_ref_count(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_PEER_REF_COUNT_PARAMS *params = raw;

	(void)world;
	return params->ref_count > 0 ? NULL : "the GPUs are no peers";
}

static void fill_peer_identity(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PEER_IDENTITY_MAPPINGS_PARAMS *params = raw;

	(void)gpu;
	params->gpuA = builtin_uuid(world, 0);
	params->gpuB = builtin_uuid(world, 1);
}

static void fill_stress_noop(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_CHANNEL_STRESS_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->mode = UVM_TEST_CHANNEL_STRESS_MODE_NOOP_PUSH;
	params->iterations = 200;
	params->seed = 1;
}

static void fill_flush(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_FAULT_BUFFER_FLUSH_PARAMS *params = raw;

	(void)world, (void)gpu;
	params->iterations = 20;
}

static void fill_pmm_query(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PMM_QUERY_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
	params->key = UVM_TEST_CHUNK_SIZE_GET_USER_SIZE;
}

static const char *check_pmm_query(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_PMM_QUERY_PARAMS *params = raw;

	(void)world;
	return (params->value & SOFTGPU_BLOCK_BYTES) != 0 ? NULL : "2 MiB is no size of a chunk";
}

static void fill_pmm_async(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PMM_ASYNC_ALLOC_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
	params->num_chunks = 64;
	params->num_work_iterations = 4;
}

static void fill_pma_alloc(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PMA_ALLOC_FREE_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
	params->page_size = SOFTGPU_BLOCK_BYTES;
	params->num_pages = 4;
	params->nap_us_before_free = 1000;
}

/* ---- video memory that others must give up ---------------------------------- */

/*
 * Managed memory that is larger than a GPU's, migrated there: all that is not the driver's own is
 * in use and may be evicted.  What RM allocates then is what it takes away, through the callbacks
 * for pages or, for contiguous ones, for a range.
 */
static struct {
	uint8_t *memory; /* NULL: it could not be made */
	size_t bytes, written;
	uint32_t gpu;
	uint64_t free_bytes;           /* that were left all the same */
	struct sgpu_counters counters; /* before the call */
} filler;

/* Of its first blocks, which are the first to give way, a word in each so many bytes is written. */
#define FILLER_WRITTEN (12u * SOFTGPU_BLOCK_BYTES)
#define FILLER_STEP (64u << 10)
#define FILLER_PAGES 6u /* that are taken away */

static uint64_t *filler_word(size_t at)
{
	return (uint64_t *)(void *)(filler.memory + at);
}

/* What is free goes from the driver to RM, so that pages are taken in the order of addresses: the
 * driver refuses to have the last chunk evicted when it is asked for pages anywhere. */
static int filler_migrate(const struct builtin_world *world, size_t bytes)
{
	const struct softgpu_range range = { filler.memory, bytes };
	UVM_TEST_PMM_RELEASE_FREE_ROOT_CHUNKS_PARAMS release = {
		.gpu_uuid = builtin_uuid(world, filler.gpu),
	};
	UVM_TEST_PMM_QUERY_PMA_STATS_PARAMS stats = {
		.gpu_uuid = builtin_uuid(world, filler.gpu),
	};
	int err = BUILTIN_UVM(world, UVM_TEST_PMM_RELEASE_FREE_ROOT_CHUNKS, &release);

	if (err == 0)
		err = softgpu_advise(&world->gpus, SOFTGPU_MIGRATE, range, filler.gpu);
	if (err == 0)
		err = BUILTIN_UVM(world, UVM_TEST_PMM_QUERY_PMA_STATS, &stats);
	filler.free_bytes = stats.pma_stats.numFreePages64k << 16;
	if (err == 0)
		err = softgpu_counters(&world->gpus, filler.gpu, &filler.counters);
	return err;
}

static void filler_end(void)
{
	softgpu_unmap((struct softgpu_range){ filler.memory, filler.bytes });
	filler.memory = NULL;
}

static void filler_begin(const struct builtin_world *world, uint32_t gpu)
{
	filler.gpu = gpu;
	filler.bytes = world->gpus.info.vidmem_bytes;
	filler.written = filler.bytes < FILLER_WRITTEN ? filler.bytes : FILLER_WRITTEN;
	if (softgpu_map(&world->gpus, filler.bytes, (void **)&filler.memory) != 0) {
		filler.memory = NULL;
		return;
	}
	for (size_t at = 0; at < filler.written; at += FILLER_STEP)
		*filler_word(at) = at ^ 0xf111e4;
	if (filler_migrate(world, filler.bytes) != 0)
		filler_end();
}

/* What was evicted is where the CPU finds it, unchanged. */
static const char *filler_check(void)
{
	for (size_t at = 0; at < filler.written; at += FILLER_STEP) {
		if (*filler_word(at) != (at ^ 0xf111e4))
			return testbed_why("%#llx at %#zx of what had to give way",
					   (unsigned long long)*filler_word(at), at);
	}
	return NULL;
}

static void fill_pma_evict(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	fill_pma_alloc(world, gpu, raw);
	((UVM_TEST_PMA_ALLOC_FREE_PARAMS *)raw)->num_pages = FILLER_PAGES;
	filler_begin(world, gpu);
}

static void fill_pma_evict_range(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	fill_pma_evict(world, gpu, raw);
	((UVM_TEST_PMA_ALLOC_FREE_PARAMS *)raw)->contiguous = NV_TRUE;
}

/* The last chunk is taken in part: the driver frees its tail from within the callback. */
static void fill_pma_evict_small(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	fill_pma_evict(world, gpu, raw);
	((UVM_TEST_PMA_ALLOC_FREE_PARAMS *)raw)->page_size = 64 << 10;
	((UVM_TEST_PMA_ALLOC_FREE_PARAMS *)raw)->num_pages = 40;
}

static const char *check_pma_evict(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_PMA_ALLOC_FREE_PARAMS *params = raw;
	const uint64_t bytes = params->num_pages * params->page_size;
	struct sgpu_counters after = { .copies = 0 };
	const char *why = NULL;
	uint64_t copied;

	if (filler.memory == NULL)
		return "video memory could not be filled";
	if (softgpu_counters(&world->gpus, filler.gpu, &after) != 0)
		why = "no counters";
	copied = after.copy_bytes - filler.counters.copy_bytes;
	/* What is evicted is copied to the host. */
	if (why == NULL && copied + filler.free_bytes < bytes)
		why = testbed_why("%llu bytes were free and %llu evicted, of %llu",
				  (unsigned long long)filler.free_bytes, (unsigned long long)copied,
				  (unsigned long long)bytes);
	if (why == NULL)
		why = filler_check();
	filler_end();
	return why;
}

static void fill_evict_error(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PMM_INJECT_PMA_EVICT_ERROR_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
	params->error_after_num_chunks = 2;
	filler_begin(world, gpu);
}

/* With an error in the midst of its evictions an allocation fails; the same again does not. */
static const char *fail_once(const struct builtin_world *world,
			     UVM_TEST_PMA_ALLOC_FREE_PARAMS *params)
{
	int err = BUILTIN_UVM(world, UVM_TEST_PMA_ALLOC_FREE, params);

	if (softgpu_status() != NV_ERR_NO_MEMORY)
		return testbed_why("an eviction failed, and the allocation gave %d", err);
	err = BUILTIN_UVM(world, UVM_TEST_PMA_ALLOC_FREE, params);
	return err != 0 ? testbed_why("after an error: %d", err) : NULL;
}

static const char *check_evict_error(const struct builtin_world *world, const void *raw)
{
	UVM_TEST_PMM_INJECT_PMA_EVICT_ERROR_PARAMS again =
		*(const UVM_TEST_PMM_INJECT_PMA_EVICT_ERROR_PARAMS *)raw;
	UVM_TEST_PMA_ALLOC_FREE_PARAMS params = { .rmStatus = 0 };
	const char *why;

	if (filler.memory == NULL)
		return "video memory could not be filled";
	fill_pma_alloc(world, filler.gpu, &params);
	/* More than what the failing one leaves free. */
	params.num_pages = FILLER_PAGES;
	why = fail_once(world, &params);
	if (why == NULL)
		why = filler_check();
	/* By now that is all at the host; the rest is where it was. */
	if (why == NULL && filler_migrate(world, filler.written) != 0)
		why = "video memory could not be filled again";
	if (why == NULL && BUILTIN_UVM(world, UVM_TEST_PMM_INJECT_PMA_EVICT_ERROR, &again) != 0)
		why = "a second error could not be injected";
	params.contiguous = NV_TRUE;
	if (why == NULL)
		why = fail_once(world, &params);
	if (why == NULL)
		why = filler_check();
	filler_end();
	return why;
}

static void fill_pmm_alloc_root(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PMM_ALLOC_FREE_ROOT_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
	params->nap_us_before_free = 1000;
}

static void fill_pmm_release(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PMM_RELEASE_FREE_ROOT_CHUNKS_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
}

static void fill_pma_batch(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PMA_GET_BATCH_SIZE_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
}

static const char *check_pma_batch(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_PMA_GET_BATCH_SIZE_PARAMS *params = raw;

	(void)world;
	return params->pma_batch_size >= SOFTGPU_BLOCK_BYTES ? NULL : "less than a chunk";
}

static void fill_pma_stats(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_PMM_QUERY_PMA_STATS_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
}

static void fill_drain(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_DRAIN_REPLAYABLE_FAULTS_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
	params->timeout_ns = 5000000000ull;
}

static void fill_counters_default(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_ACCESS_COUNTERS_ENABLED_BY_DEFAULT_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
}

/* Turing's are off unless the module's parameters ask for migrations by them. */
static const char *check_counters_default(const struct builtin_world *world, const void *raw)
{
	const UVM_TEST_ACCESS_COUNTERS_ENABLED_BY_DEFAULT_PARAMS *params = raw;

	(void)world;
	return params->enabled ? "access counters are enabled" : NULL;
}

static void fill_counters_reset(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_RESET_ACCESS_COUNTERS_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
}

static void fill_flush_events(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_TOOLS_FLUSH_REPLAY_EVENTS_PARAMS *params = raw;

	params->gpuUuid = builtin_uuid(world, gpu);
}

static void fill_numa_closest(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_NUMA_GET_CLOSEST_CPU_NODE_TO_GPU_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
}

static void fill_channel_space(const struct builtin_world *world, uint32_t gpu, void *raw)
{
	UVM_TEST_CHECK_CHANNEL_VA_SPACE_PARAMS *params = raw;

	params->gpu_uuid = builtin_uuid(world, gpu);
	params->rm_ctrl_fd = -1;
	params->client = world->gpus.client;
	params->channel = world->gpus.channel[gpu];
	params->va_space_fd = world->gpus.uvm_fd;
}

/* A call under a name of its own. */
#define CALL_AS(NAME, TEST, GPUS, ...)                                                     \
	{                                                                                  \
		.name = (TEST), .request = UVM_TEST_##NAME,                                \
		.status_at = offsetof(UVM_TEST_##NAME##_PARAMS, rmStatus), .gpus = (GPUS), \
		__VA_ARGS__                                                                \
	}
#define CALL(NAME, GPUS, ...) CALL_AS(NAME, #NAME, GPUS, __VA_ARGS__)

const struct builtin_call builtin_calls[] = {
	CALL(RNG_SANITY, 0),
	CALL(RANGE_TREE_DIRECTED, 0),
	CALL(RANGE_TREE_RANDOM, 0, .fill = fill_range_tree_random,
	     .check = check_range_tree_random),
	CALL(LOCK_SANITY, 0),
	CALL(PERF_UTILS_SANITY, 0),
	CALL(KVMALLOC, 0),
	CALL(PERF_EVENTS_SANITY, 0),
	CALL(PERF_MODULE_SANITY, 0, .fill = fill_perf_module),
	CALL(RANGE_ALLOCATOR_SANITY, 0, .fill = fill_range_allocator),
	CALL(RB_TREE_DIRECTED, 0),
	CALL(RB_TREE_RANDOM, 0, .fill = fill_rb_tree_random),
	CALL(NV_KTHREAD_Q, 0),
	CALL(PAGE_TREE, 0),
	CALL(THREAD_CONTEXT_SANITY, 0, .fill = fill_thread_context),
	CALL(THREAD_CONTEXT_PERF, 0, .fill = fill_thread_context_perf),
	CALL(FLUSH_DEFERRED_WORK, 0, .fill = fill_flush_deferred),
	CALL(INJECT_TOOLS_EVENT, 0, .fill = fill_inject_event),
	CALL(INCREMENT_TOOLS_COUNTER, 0, .fill = fill_increment_counter),
	CALL(GET_USER_SPACE_END_ADDRESS, 0, .check = check_user_end),
	CALL(GET_CPU_CHUNK_ALLOC_SIZES, 0, .check = check_chunk_sizes),
	CALL(GET_PAGEABLE_MEM_ACCESS_TYPE, 0, .check = check_pageable),
	CALL(VA_SPACE_MM_OR_CURRENT_RETAIN, 0, .fill = fill_mm_or_current),
	CALL(VA_BLOCK_INFO, 0, .fill = fill_va_block_info, .check = check_va_block_info),
	CALL(VA_RANGE_INFO, 0, .fill = fill_va_range_info, .check = check_va_range_info),

	CALL(GET_GPU_REF_COUNT, 1, .is_each_gpu = true, .fill = fill_ref_count,
	     .check = check_ref_count),
	CALL(RM_MEM_SANITY, 1),
	/* It sets semaphores to values that no GPU could give them. */
	CALL(GPU_SEMAPHORE_SANITY, 1,
	     .log = "update_completed_value_locked.* Assert failed.*UVM_GPU_SEMAPHORE_MAX_JUMP"),
	CALL(TRACKER_SANITY, 1),
	CALL(PUSH_SANITY, 1),
	CALL(CE_SANITY, 1),
	CALL(HOST_SANITY, 1),
	CALL(MEM_SANITY, 1),
	CALL(FAULT_BUFFER_FLUSH, 1, .fill = fill_flush),
	CALL(CHANNEL_STRESS, 1, .fill = fill_stress_noop),
	CALL(VA_BLOCK, 1),
	CALL(CPU_CHUNK_API, 1),
	CALL(PMM_QUERY, 1, .is_each_gpu = true, .fill = fill_pmm_query, .check = check_pmm_query),
	CALL(PMM_ASYNC_ALLOC, 1, .is_each_gpu = true, .fill = fill_pmm_async),
	CALL(PMA_ALLOC_FREE, 1, .is_each_gpu = true, .fill = fill_pma_alloc),
	CALL_AS(PMA_ALLOC_FREE, "PMA_ALLOC_FREE_EVICT", 1, .is_each_gpu = true,
		.fill = fill_pma_evict, .check = check_pma_evict),
	CALL_AS(PMA_ALLOC_FREE, "PMA_ALLOC_FREE_EVICT_RANGE", 1, .is_each_gpu = true,
		.fill = fill_pma_evict_range, .check = check_pma_evict),
	CALL_AS(PMA_ALLOC_FREE, "PMA_ALLOC_FREE_EVICT_SMALL", 1, .is_each_gpu = true,
		.fill = fill_pma_evict_small, .check = check_pma_evict),
	CALL(PMM_INJECT_PMA_EVICT_ERROR, 1, .is_each_gpu = true, .fill = fill_evict_error,
	     .check = check_evict_error),
	CALL(PMM_ALLOC_FREE_ROOT, 1, .is_each_gpu = true, .fill = fill_pmm_alloc_root),
	CALL(PMM_RELEASE_FREE_ROOT_CHUNKS, 1, .is_each_gpu = true, .fill = fill_pmm_release),
	CALL(PMA_GET_BATCH_SIZE, 1, .is_each_gpu = true, .fill = fill_pma_batch,
	     .check = check_pma_batch),
	CALL(PMM_QUERY_PMA_STATS, 1, .is_each_gpu = true, .fill = fill_pma_stats),
	CALL(DRAIN_REPLAYABLE_FAULTS, 1, .is_each_gpu = true, .fill = fill_drain),
	CALL(ACCESS_COUNTERS_ENABLED_BY_DEFAULT, 1, .is_each_gpu = true,
	     .fill = fill_counters_default, .check = check_counters_default),
	CALL(RESET_ACCESS_COUNTERS, 1, .is_each_gpu = true, .fill = fill_counters_reset),
	CALL(TOOLS_FLUSH_REPLAY_EVENTS, 1, .is_each_gpu = true, .fill = fill_flush_events),
	CALL(NUMA_GET_CLOSEST_CPU_NODE_TO_GPU, 1, .is_each_gpu = true, .fill = fill_numa_closest),
	CALL(CHECK_CHANNEL_VA_SPACE, 1, .is_each_gpu = true, .fill = fill_channel_space),
	CALL(PEER_REF_COUNT, 2, .fill = fill_peer_ref_count, .check = check_peer_ref_count),
	CALL(PEER_IDENTITY_MAPPINGS, 2, .fill = fill_peer_identity),
	/*
	 * It makes a GPU's channels anew and leaves trackers behind that point to the old ones
	 * (the replay_tracker of the parent GPU, those of chunks of video memory): whoever waits
	 * for these afterwards reads freed memory and may wait for ever.
	 */
	CALL(CHANNEL_SANITY, 1, .not_by_default = "in a boot of its own", .has_no_peers = true,
	     .log = "uvm_channel_update_progress_with_max.* Assert failed.*completed_value|"
		    "softgpu: channel .* fault of the destination at 0xffffffff,"),
};
const size_t builtin_calls_count = sizeof(builtin_calls) / sizeof(builtin_calls[0]);

const struct builtin_omission builtin_omitted[] = {
	{ "GET_RM_PTES", "of memory that RM allocated, which the fake RM has none of" },
	{ "MAKE_CHANNEL_STOPS_IMMEDIATE",
	  "no test: makes StopChannel hide what it should wait for" },
	{ "RECONFIGURE_ACCESS_COUNTERS", "the fake RM has no access counters" },
	{ "ENABLE_NVLINK_PEER_ACCESS", "the GPUs are peers over PCIe" },
	{ "DISABLE_NVLINK_PEER_ACCESS", "the GPUs are peers over PCIe" },
	{ "PMM_INDIRECT_PEERS", "needs GPUs whose memory the CPU can map: NVLink to the CPU" },
	{ "PMM_CHUNK_WITH_ELEVATED_PAGE", "needs a GPU that is a NUMA node" },
	{ "SEC2_SANITY", "needs confidential computing" },
	{ "SEC2_CPU_GPU_ROUNDTRIP", "needs confidential computing" },
	{ "REGISTER_UNLOAD_STATE_BUFFER", "no test: where the driver writes at its end whether "
					  "memory leaked; its log says it too" },
	{ "SPLIT_INVALIDATE_DELAY", "no test: a delay within HMM, which this kernel is without" },
	{ "SKIP_MIGRATE_VMA", "no test: a switch of pageable memory, which Turing cannot access" },
	{ "DESTROY_GPU_VA_SPACE_DELAY", "no test: a delay for ATS" },
	{ "VA_RANGE_INJECT_ADD_GPU_VA_SPACE_ERROR",
	  "no test: an error within the registration of a GPU" },
};
const size_t builtin_omitted_count = sizeof(builtin_omitted) / sizeof(builtin_omitted[0]);
