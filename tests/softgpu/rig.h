/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A GPU in a world with one address space, launches on it, and the driver's side of its fault
 * buffer.  Pages of 4 KiB; what moves and when is the test's to say.
 */
#ifndef WIC_TESTS_SOFTGPU_RIG_H
#define WIC_TESTS_SOFTGPU_RIG_H

#include "kmod/testbed/softgpu/gpu.h"
#include "tests/softgpu/world.h"

#define RIG_PACKETS 1024u /* at most */
#define RIG_PAGE ((uint64_t)SGPU_PAGE_BYTES)
#define RIG_INSTANCE 0x12345000ull
#define RIG_CHANNEL 7u
#define RIG_GET_CLEAR (3u << 30)

#define RIG_COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct rig {
	struct world world;
	struct sgpu_params params; /* may be changed between rig_init() and rig_start() */
	struct sgpu_gpu *gpu;
	struct sgpu_vas vas;
	uint64_t now_ns;
	uint8_t packets[RIG_PACKETS * SGPU_FAULT_BYTES];
};

static inline void rig_init(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	world_init(&rig->world);
	rig->params = (struct sgpu_params){
		.bus = rig->world.bus,
		.sms = 4,
		.sms_per_utlb = 2,
		.warps_per_sm = 8,
		.faults_per_utlb = 16,
		.fault_packets = rig->packets,
		.fault_count = 64,
		.seed = 1,
	};
	rig->vas.pdb = world_pdb(&rig->world, SGPU_APERTURE_VIDMEM);
	rig->now_ns = 1000;
}

static inline void rig_start(struct rig *rig)
{
	rig->gpu = calloc(1, sizeof(*rig->gpu));
	TEST_TRUE(rig->gpu);
	TEST_EQ(sgpu_gpu_init(rig->gpu, &rig->params), 0);
	sgpu_gpu_add_vas(rig->gpu, &rig->vas);
}

/* Its launches have been freed. */
static inline void rig_fini(struct rig *rig)
{
	TEST_TRUE(!rig->gpu->launches);
	free(rig->gpu);
	world_fini(&rig->world);
	TEST_EQ(strcmp(world_log(), ""), 0);
}

/* Maps a fresh page.  Return: its bytes. */
static inline void *rig_map(struct rig *rig, uint64_t va, unsigned int flags)
{
	struct world_mapping mapping = { .va = va, .bytes = RIG_PAGE, .flags = flags };

	mapping.at = world_take(&rig->world, SGPU_APERTURE_SYSMEM, RIG_PAGE);
	world_map(&rig->world, &rig->vas.pdb, &mapping);
	return world_at(&rig->world, mapping.at);
}

/* --- launches --------------------------------------------------------------- */

struct rig_program {
	const struct sgpu_insn *insns; /* borrowed, until the launch is freed */
	uint32_t count;
	uint32_t warps, warps_per_block; /* 0: 1 */
	const uint64_t *registers;
};

/* Its warps are pending. */
static inline struct sgpu_launch *rig_launch(struct rig *rig, const struct rig_program *program)
{
	struct sgpu_launch *launch = calloc(1, sizeof(*launch));
	uint32_t bad;

	TEST_TRUE(launch);
	TEST_EQ(sgpu_program_check(program->insns, program->count, &bad), 0);
	launch->gpu = rig->gpu;
	launch->vas = &rig->vas;
	launch->instance.aperture = SGPU_APERTURE_SYSMEM;
	launch->instance.address = RIG_INSTANCE;
	launch->channel_handle = RIG_CHANNEL;
	launch->warp_count = program->warps ? program->warps : 1;
	launch->warps_per_block = program->warps_per_block ? program->warps_per_block : 1;
	launch->insns = program->insns;
	launch->warps = malloc(launch->warp_count * sizeof(*launch->warps));
	TEST_TRUE(launch->warps);
	TEST_EQ(sgpu_launch_start(launch, program->registers), 0);
	return launch;
}

static inline void rig_free(struct sgpu_launch *launch)
{
	sgpu_launch_remove(launch);
	free(launch->warps);
	free(launch);
}

/* Steps until no warp is ready.  Return: turns. */
static inline uint64_t rig_run(struct rig *rig)
{
	uint64_t turns = 0;
	uint32_t done;

	do {
		done = sgpu_sm_step(rig->gpu, rig->now_ns, 100);
		turns += done;
		TEST_TRUE(turns < 10000000);
	} while (done);
	return turns;
}

static inline uint32_t rig_count(const struct sgpu_launch *launch, enum sgpu_warp_state state)
{
	uint32_t count = 0;
	uint32_t i;

	for (i = 0; i < launch->warp_count; i++)
		count += launch->warps[i].state == state;
	return count;
}

/* Launches, runs until nothing is ready; all have exited. */
static inline struct sgpu_launch *rig_exec(struct rig *rig, const struct rig_program *program)
{
	struct sgpu_launch *launch = rig_launch(rig, program);

	rig_run(rig);
	TEST_EQ(rig_count(launch, SGPU_WARP_EXITED), launch->warp_count);
	TEST_TRUE(sgpu_launch_is_done(launch));
	return launch;
}

static inline uint32_t rig_list(struct sgpu_warp *list, enum sgpu_warp_state state)
{
	uint32_t count = 0;

	for (; list; list = list->next, count++)
		TEST_EQ(list->state, state);
	return count;
}

/* Room that is taken is that of blocks that run; lists hold whom they should; faults add up. */
static inline void rig_check(struct rig *rig)
{
	uint32_t resident[SGPU_SMS_MAX] = { 0 };
	uint32_t listed[2] = { 0 };
	uint32_t wanted[2] = { 0 };
	uint32_t outstanding = 0;
	const struct sgpu_launch *launch;
	uint32_t i;

	for (launch = rig->gpu->launches; launch; launch = launch->next) {
		wanted[0] += rig_count(launch, SGPU_WARP_READY);
		wanted[1] += rig_count(launch, SGPU_WARP_STALLED);
		for (i = 0; i < launch->warp_count; i++) {
			uint32_t first = i - i % launch->warps_per_block;
			uint32_t other;
			bool is_resident = false;

			for (other = first; other < first + launch->warps_per_block; other++)
				if (other < launch->warp_count)
					is_resident |=
						launch->warps[other].state > 0 &&
						launch->warps[other].state <= SGPU_WARP_AT_BARRIER;
			if (is_resident)
				resident[launch->warps[i].sm]++;
		}
	}
	for (i = 0; i < rig->params.sms; i++) {
		struct sgpu_sm *sm = &rig->gpu->sms[i];

		TEST_EQ(sm->resident, resident[i]);
		TEST_TRUE(sm->resident <= rig->params.warps_per_sm);
		listed[0] += rig_list(sm->ready, SGPU_WARP_READY);
		listed[0] += rig_list(sm->had_turn, SGPU_WARP_READY);
		listed[1] += rig_list(sm->stalled, SGPU_WARP_STALLED);
	}
	TEST_EQ(listed[0], wanted[0]);
	TEST_EQ(listed[1], wanted[1]);
	for (i = 0; i < rig->gpu->utlb_count; i++) {
		TEST_TRUE(rig->gpu->utlbs[i].outstanding <= rig->params.faults_per_utlb);
		outstanding += rig->gpu->utlbs[i].outstanding;
	}
	TEST_EQ(outstanding, sgpu_sm_outstanding(rig->gpu, NULL, 0));
}

/* --- the driver's side ------------------------------------------------------- */

/* The next packet, as a driver reads it.  False: there is none. */
static inline bool rig_take(struct rig *rig, struct sgpu_fault *fault_out)
{
	struct sgpu_fault_buffer *faults = &rig->gpu->faults;
	uint32_t get = faults->get & ~RIG_GET_CLEAR;
	uint32_t words[SGPU_FAULT_BYTES / 4];

	if (get == faults->put)
		return false;
	memcpy(words, rig->packets + (size_t)get * SGPU_FAULT_BYTES, sizeof(words));
	TEST_TRUE(words[7] >> 31);
	*fault_out = (struct sgpu_fault){
		.instance.aperture = (enum sgpu_aperture)sgpu_bits(words[0], 8, 2),
		.instance.address = (uint64_t)words[1] << 32 | (words[0] & ~0xfffu),
		.va = (uint64_t)words[3] << 32 | (words[2] & ~0xfffu),
		.time_ns = (uint64_t)words[5] << 32 | words[4],
		.type = (enum sgpu_fault_type)sgpu_bits(words[7], 0, 5),
		.access = (enum sgpu_access)sgpu_bits(words[7], 16, 4),
		.gpc = (uint32_t)sgpu_bits(words[7], 24, 5),
		.client = (uint32_t)sgpu_bits(words[7], 8, 7),
	};
	faults->get = ((get + 1) % rig->params.fault_count) | RIG_GET_CLEAR;
	return true;
}

/* Takes all packets.  Return: how many there were. */
static inline uint32_t rig_drain(struct rig *rig)
{
	struct sgpu_fault fault;
	uint32_t count = 0;

	while (rig_take(rig, &fault))
		count++;
	return count;
}

#endif
