/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "builtin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PARAMS_BYTES 4096 /* more than any of the driver's */
#define LIMIT_MS 60000
#define LONG_MS 600000 /* of those that are not run by default */

NvProcessorUuid builtin_uuid(const struct builtin_world *world, uint32_t gpu)
{
	NvProcessorUuid uuid = NV_PROCESSOR_UUID_CPU_DEFAULT;

	if (gpu != SOFTGPU_CPU)
		memcpy(uuid.uuid, world->gpus.info.uuid[gpu], sizeof(uuid.uuid));
	return uuid;
}

/* A block's addresses in several mappings. */
static int map_pieces(struct builtin_world *world)
{
	static const uint32_t parts[] = { 4, 4, 2 };
	struct softgpu_range piece;
	int err = softgpu_map(&world->gpus, SOFTGPU_BLOCK_BYTES, (void **)&world->pieces);

	piece.start = world->pieces;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && err == 0; i++) {
		piece.bytes = SOFTGPU_BLOCK_BYTES / parts[i];
		err = softgpu_map_at(&world->gpus, piece);
		if (err == 0)
			*(volatile uint8_t *)piece.start = 1;
		piece.start = (uint8_t *)piece.start + piece.bytes;
	}
	return err;
}

static int open_world(struct builtin_world *world, uint32_t gpus)
{
	int err = softgpu_open(&world->gpus, gpus);

	if (err != 0)
		return err;
	err = softgpu_map(&world->gpus, BUILTIN_BLOCKS * (size_t)SOFTGPU_BLOCK_BYTES,
			  (void **)&world->blocks);
	if (err == 0)
		err = map_pieces(world);
	if (err != 0) {
		softgpu_close(&world->gpus);
		return err;
	}
	for (uint32_t block = 0; block < BUILTIN_BLOCKS; block++)
		world->blocks[block * (size_t)SOFTGPU_BLOCK_BYTES] = 1;
	return 0;
}

/* Without GPUs nvidia-uvm offers managed memory all the same. */
static void close_world(struct builtin_world *world)
{
	int err;

	testbed_begin("close", LIMIT_MS);
	softgpu_unmap(
		(struct softgpu_range){ world->blocks, BUILTIN_BLOCKS * SOFTGPU_BLOCK_BYTES });
	softgpu_unmap((struct softgpu_range){ world->pieces, SOFTGPU_BLOCK_BYTES });
	err = softgpu_close(&world->gpus);
	if (err != 0)
		testbed_fail("%s, status %#x", strerror(-err), softgpu_status());
	else
		testbed_ok();
}

/* Two GPUs become peers once there is a test that allows it.  Return: whether they are. */
static bool make_peers(struct builtin_world *world)
{
	int err;

	if (world->gpus.gpus != 2 || world->are_peers)
		return true;
	err = softgpu_set_peers(&world->gpus, true);
	if (err != 0)
		testbed_fail("peers: %s, status %#x", strerror(-err), softgpu_status());
	world->are_peers = err == 0;
	return world->are_peers;
}

static void run_call(struct builtin_world *world, const struct builtin_call *call)
{
	const uint32_t times = call->is_each_gpu ? world->gpus.gpus : 1;

	if (call->log != NULL)
		printf("expect-log %s\n", call->log);
	testbed_begin(call->name, call->limit_ms != 0 ? call->limit_ms : LIMIT_MS);
	if (!call->has_no_peers && !make_peers(world))
		return;
	for (uint32_t gpu = 0; gpu < times; gpu++) {
		_Alignas(8) uint8_t params[PARAMS_BYTES] = { 0 };
		const char *why = NULL;
		int err;

		if (call->fill != NULL)
			call->fill(world, gpu, params);
		err = softgpu_uvm(world->gpus.uvm_fd, call->request, params,
				  (const uint32_t *)(const void *)(params + call->status_at));
		if (softgpu_status() == NV_WARN_NOTHING_TO_DO) {
			testbed_skip("the driver says that there is nothing to do");
			return;
		}
		if (err != 0)
			why = testbed_why("%s, status %#x", strerror(-err), softgpu_status());
		else if (call->check != NULL)
			why = call->check(world, params);
		if (why != NULL) {
			testbed_fail("GPU %u: %s", gpu, why);
			return;
		}
	}
	testbed_ok();
}

static void run_case(struct builtin_world *world, const struct builtin_case *one)
{
	const uint32_t times = one->gpus == 1 ? world->gpus.gpus : 1;

	testbed_begin(one->name, one->not_by_default != NULL ? LONG_MS : LIMIT_MS);
	if (!make_peers(world))
		return;
	for (uint32_t gpu = 0; gpu < times; gpu++) {
		const char *why = one->run(world, gpu);

		if (why != NULL) {
			testbed_fail("GPU %u: %s", gpu, why);
			return;
		}
	}
	testbed_ok();
}

/*
 * Those of the tables that the number of GPUs allows: with 0 those that need none, else those
 * that need some and no more than there are.
 */
static bool is_wanted(uint32_t needed, uint32_t gpus)
{
	return gpus == 0 ? needed == 0 : needed > 0 && needed <= gpus;
}

static void run_all(struct builtin_world *world, uint32_t gpus)
{
	for (size_t i = 0; i < builtin_cases_count; i++) {
		const struct builtin_case *one = &builtin_cases[i];

		if (is_wanted(one->gpus, gpus) && one->not_by_default != NULL &&
		    gpus > one->by_default)
			testbed_not_run(one->name, one->not_by_default);
		else if (is_wanted(one->gpus, gpus))
			run_case(world, one);
	}
	for (size_t i = 0; i < builtin_calls_count; i++) {
		const struct builtin_call *call = &builtin_calls[i];

		if (is_wanted(call->gpus, gpus) && call->not_by_default != NULL)
			testbed_not_run(call->name, call->not_by_default);
		else if (is_wanted(call->gpus, gpus))
			run_call(world, call);
	}
	for (size_t i = 0; i < builtin_omitted_count && gpus == 0; i++)
		testbed_not_run(builtin_omitted[i].name, builtin_omitted[i].why);
}

/* Return: whether there is one of that name. */
static bool run_named(struct builtin_world *world, const char *name)
{
	for (size_t i = 0; i < builtin_cases_count; i++) {
		if (strcmp(name, builtin_cases[i].name) == 0) {
			run_case(world, &builtin_cases[i]);
			return true;
		}
	}
	for (size_t i = 0; i < builtin_calls_count; i++) {
		if (strcmp(name, builtin_calls[i].name) == 0) {
			run_call(world, &builtin_calls[i]);
			return true;
		}
	}
	return false;
}

static int run(char **words)
{
	struct builtin_world world = { .blocks = NULL };
	uint64_t gpus = 0;
	int err;

	if (words[0] == NULL || !testbed_number(words[0], 0, SOFTGPU_GPUS_MAX, &gpus))
		return TESTBED_USAGE;
	testbed_begin("open", LIMIT_MS);
	err = open_world(&world, (uint32_t)gpus);
	if (err != 0) {
		testbed_fail("%s, status %#x", strerror(-err), softgpu_status());
		return TESTBED_SETUP;
	}
	testbed_ok();
	if (words[1] == NULL)
		run_all(&world, (uint32_t)gpus);
	for (char **name = words + 1; *name != NULL; name++) {
		if (!run_named(&world, *name))
			return TESTBED_USAGE;
	}
	close_world(&world);
	return testbed_failures() == 0 ? TESTBED_OK : TESTBED_FAILED;
}

const struct testbed_suite testbed_builtin = {
	.name = "builtin",
	.usage = "0|1|2 [NAME...]: the driver's own tests on that many GPUs",
	.run = run,
};
