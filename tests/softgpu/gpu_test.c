/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The GPU put together: parameters, lists, TLBs, interrupts, time, and pushes that wake warps. */
#include "tests/softgpu/front.h"

#define VA 0x700000000000ull
#define PAGE ((uint64_t)SGPU_PAGE_BYTES)
#define US 1000ull
#define STEPS_MAX 1000u

/* MEM_OP_C_TLB_INVALIDATE_REPLAY, and MEM_OP_D's operations. */
#define REPLAY_START (1u << 2)
#define CANCEL_VA_GLOBAL (5u << 2) /* access type 0: reads */
#define INVALIDATE (0x09u << 27)
#define INVALIDATE_TARGETED (0x0au << 27)
/* LAUNCH_DMA: pipelined, pitch to pitch. */
#define COPY (1u | 1u << 7 | 1u << 8)

static struct sgpu_gpu gpu;
static uint8_t packets[64 * SGPU_FAULT_BYTES];

static void *no_sysmem(void *user, uint64_t address)
{
	(void)user;
	(void)address;
	return NULL;
}

static struct sgpu_params good_params(void)
{
	static uint8_t vidmem[SGPU_PAGE_BYTES];

	return (struct sgpu_params){
		.bus = { .vidmem = vidmem, .vidmem_bytes = sizeof(vidmem), .sysmem_at = no_sysmem },
		.sms = 4,
		.sms_per_utlb = 2,
		.warps_per_sm = 8,
		.faults_per_utlb = 16,
		.fault_packets = packets,
		.fault_count = 64,
		.seed = 1,
	};
}

/* --- parameters -------------------------------------------------------------- */

static void expect_init(const struct sgpu_params *params, int rc)
{
	const uint8_t *bytes = (const uint8_t *)&gpu;
	size_t i;

	memset(&gpu, 0x5a, sizeof(gpu));
	TEST_EQ(sgpu_gpu_init(&gpu, params), rc);
	for (i = 0; rc && i < sizeof(gpu); i++)
		TEST_EQ(bytes[i], 0x5a);
}

/* Each value of one field: does init take it? */
#define EXPECT_FIELD(field, value, rc)                      \
	do {                                                \
		struct sgpu_params params_ = good_params(); \
                                                            \
		params_.field = (value);                    \
		expect_init(&params_, rc);                  \
	} while (0)

static void sgpu_gpu_init_params(void)
{
	EXPECT_FIELD(seed, 1, 0);
	EXPECT_FIELD(bus.vidmem, NULL, -EINVAL);
	EXPECT_FIELD(bus.sysmem_at, NULL, -EINVAL);
	EXPECT_FIELD(fault_packets, NULL, -EINVAL);
	EXPECT_FIELD(sms, 0, -EINVAL);
	EXPECT_FIELD(sms, 1, 0);
	EXPECT_FIELD(sms, SGPU_SMS_MAX, 0);
	EXPECT_FIELD(sms, SGPU_SMS_MAX + 1, -EINVAL);
	EXPECT_FIELD(sms_per_utlb, 0, -EINVAL);
	EXPECT_FIELD(sms_per_utlb, 1, 0);
	EXPECT_FIELD(sms_per_utlb, SGPU_SMS_MAX, 0);
	EXPECT_FIELD(sms_per_utlb, SGPU_SMS_MAX + 1, -EINVAL);
	/* With sms - 1 added it would be 0, or small. */
	EXPECT_FIELD(sms_per_utlb, UINT32_MAX, -EINVAL);
	EXPECT_FIELD(sms_per_utlb, UINT32_MAX - 2, -EINVAL);
	EXPECT_FIELD(warps_per_sm, 0, -EINVAL);
	EXPECT_FIELD(warps_per_sm, 1, 0);
	EXPECT_FIELD(warps_per_sm, 1024, 0);
	EXPECT_FIELD(warps_per_sm, 1025, -EINVAL);
	EXPECT_FIELD(faults_per_utlb, 0, -EINVAL);
	EXPECT_FIELD(faults_per_utlb, 1, 0);
	EXPECT_FIELD(fault_count, 0, -EINVAL);
	EXPECT_FIELD(fault_count, 1, -EINVAL);
	EXPECT_FIELD(fault_count, 2, 0);
	EXPECT_FIELD(fault_count, 3, -EINVAL);
	EXPECT_FIELD(fault_count, 63, -EINVAL);
	EXPECT_FIELD(fault_count, 1u << 21, -EINVAL);
	EXPECT_FIELD(fault_count, 1u << 31, -EINVAL);
}

/* SMs share uTLBs in order, the last has what remains; each is a GPC's. */
static void sgpu_gpu_init_utlbs(void)
{
	struct sgpu_params params = good_params();
	uint32_t i;

	params.sms = 5;
	expect_init(&params, 0);
	TEST_EQ(gpu.utlb_count, 3);
	for (i = 0; i < 5; i++)
		TEST_EQ(gpu.sms[i].utlb, i / 2);
	for (i = 0; i < 3; i++) {
		TEST_EQ(gpu.utlbs[i].gpc, i);
		TEST_EQ(gpu.utlbs[i].client, 0);
	}
	params.sms = SGPU_SMS_MAX;
	expect_init(&params, 0);
	TEST_EQ(gpu.utlb_count, SGPU_UTLBS_MAX);
	params.sms_per_utlb = 1;
	expect_init(&params, -EINVAL);
	params.sms = SGPU_UTLBS_MAX;
	expect_init(&params, 0);
	params.sms = SGPU_UTLBS_MAX + 1;
	expect_init(&params, -EINVAL);
}

/* Any seed will do, the generator's state is never 0. */
static void sgpu_gpu_init_seed(void)
{
	static const uint64_t seeds[] = { 0, 1, ~0ull, 0x9e3779b97f4a7c15ull, 1ull << 63 };
	struct sgpu_params params = good_params();
	uint64_t first[5];
	uint32_t i;
	uint32_t j;

	for (i = 0; i < 5; i++) {
		params.seed = seeds[i];
		expect_init(&params, 0);
		TEST_TRUE(gpu.random && gpu.inject.random && gpu.hub_tlb.random);
		first[i] = gpu.random;
		/* The highest bit is set in any case, the one pair that it tells apart aside. */
		for (j = 0; j < i; j++)
			TEST_TRUE(first[i] != first[j] || (seeds[i] ^ seeds[j]) == 1ull << 63);
	}
}

/* --- lists ------------------------------------------------------------------- */

static void sgpu_gpu_add_remove(void)
{
	static struct sgpu_channel channels[3];
	struct sgpu_vas spaces[3] = { { 0 } };
	struct sgpu_params params = good_params();
	uint32_t i;

	expect_init(&params, 0);
	for (i = 0; i < 3; i++) {
		sgpu_gpu_add_vas(&gpu, &spaces[i]);
		sgpu_gpu_add_channel(&gpu, &channels[i]);
	}
	sgpu_gpu_remove_vas(&gpu, &spaces[1]);
	sgpu_gpu_remove_channel(&gpu, &channels[1]);
	TEST_TRUE(gpu.vas_list == &spaces[2] && spaces[2].next == &spaces[0]);
	TEST_TRUE(gpu.channels == &channels[2] && channels[2].next == &channels[0]);
	/* One that is not there changes nothing. */
	sgpu_gpu_remove_vas(&gpu, &spaces[1]);
	sgpu_gpu_remove_channel(&gpu, &channels[1]);
	sgpu_gpu_remove_vas(&gpu, &spaces[2]);
	sgpu_gpu_remove_channel(&gpu, &channels[2]);
	TEST_TRUE(gpu.vas_list == &spaces[0] && gpu.channels == &channels[0]);
	sgpu_gpu_remove_vas(&gpu, &spaces[0]);
	sgpu_gpu_remove_channel(&gpu, &channels[0]);
	TEST_TRUE(!gpu.vas_list && !gpu.channels);
}

/* --- interrupts -------------------------------------------------------------- */

static struct front *front;
static uint32_t interrupts; /* delivered since begin() */
static struct sgpu_step step;

static void begin_seeded(uint64_t seed)
{
	front = front_init_seeded(seed);
	interrupts = 0;
	front->gpu.faults.intr_enable_set = SGPU_FAULT_INTR_MASK;
}

static void begin(void)
{
	begin_seeded(FRONT_SEED);
}

static void end(void)
{
	TEST_EQ(strcmp(world_log(), ""), 0);
	front_fini(front);
}

static void step_once(void)
{
	sgpu_gpu_step(&front->gpu, front->now_ns, &step);
	interrupts += step.interrupts;
}

static void step_until_idle(void)
{
	uint32_t steps = 0;

	do {
		step_once();
		TEST_TRUE(++steps < STEPS_MAX);
	} while (step.work);
}

static void inject(enum sgpu_inject_kind kind, uint32_t value)
{
	TEST_EQ(sgpu_inject_set(&front->gpu.inject, kind, value), 0);
}

static void fault_once(void)
{
	struct sgpu_fault fault = { .va = VA };

	TEST_TRUE(sgpu_fault_write(&front->gpu.faults, &fault));
}

static void sgpu_gpu_step_interrupt(void)
{
	begin();
	step_once();
	TEST_EQ(interrupts, 0);
	fault_once();
	step_once();
	TEST_EQ(interrupts, 1);
	step_once();
	TEST_EQ(interrupts, 1);
	TEST_TRUE(!step.has_timer);
	TEST_EQ(front->gpu.counters.interrupts, 1);
	end();
}

static void sgpu_gpu_step_lost_or_doubled(void)
{
	begin();
	inject(SGPU_INJECT_INTERRUPT_LOST, 1000);
	fault_once();
	step_once();
	step_once();
	TEST_EQ(interrupts, 0);
	inject(SGPU_INJECT_INTERRUPT_LOST, 0);
	inject(SGPU_INJECT_INTERRUPT_DOUBLED, 1000);
	fault_once();
	step_once();
	TEST_EQ(interrupts, 2);
	TEST_EQ(front->gpu.counters.interrupts, 2);
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_INTERRUPT_LOST], 1);
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_INTERRUPT_DOUBLED], 1);
	end();
}

/* The step says when it comes; a second one comes with it. */
static void sgpu_gpu_step_late(void)
{
	uint64_t due;

	begin();
	inject(SGPU_INJECT_INTERRUPT_LATE, 30);
	due = front->now_ns + 30 * US;
	fault_once();
	step_once();
	TEST_EQ(step.has_timer, true);
	TEST_EQ(step.timer_ns, due);
	front->now_ns += 10 * US;
	fault_once();
	step_once();
	TEST_EQ(step.timer_ns, due);
	front->now_ns = due - 1;
	step_once();
	TEST_EQ(interrupts, 0);
	front->now_ns = due;
	step_once();
	TEST_EQ(interrupts, 2);
	TEST_TRUE(!step.has_timer);
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_INTERRUPT_LATE], 2);
	/* Late no longer. */
	inject(SGPU_INJECT_INTERRUPT_LATE, 0);
	fault_once();
	step_once();
	TEST_EQ(interrupts, 3);
	end();
}

static void sgpu_gpu_step_fault_limit(void)
{
	struct sgpu_fault fault = { .va = VA };
	uint32_t i;

	begin();
	inject(SGPU_INJECT_FAULT_LIMIT, 2);
	step_once();
	for (i = 0; i < 4; i++)
		TEST_EQ(sgpu_fault_write(&front->gpu.faults, &fault), i < 2);
	end();
}

/* --- time -------------------------------------------------------------------- */

static void sgpu_gpu_step_time(void)
{
	begin();
	front->now_ns = 0x123456789abcdef0ull;
	step_once();
	TEST_EQ(front->gpu.time[0], 0x9abcdef0);
	TEST_EQ(front->gpu.time[1], 0x12345678);
	TEST_EQ((uintptr_t)front->gpu.time % 8, 0);
	end();
}

/* A slow copy keeps its channel until then, another one works meanwhile. */
static void sgpu_gpu_step_slow_copy(void)
{
	uint64_t done = FRONT_SEMAPHORES;
	uint64_t due;

	begin();
	inject(SGPU_INJECT_COPY_SLOW, 50);
	due = front->now_ns + 50 * US;
	front_set_word(front, done + 32, 77);
	FRONT_CE(front, OFFSET_IN_UPPER, (uint32_t)((done + 32) >> 32), (uint32_t)(done + 32),
		 (uint32_t)((done + 64) >> 32), (uint32_t)(done + 64));
	FRONT_CE(front, LINE_LENGTH_IN, 4);
	FRONT_CE(front, LAUNCH_DMA, COPY);
	FRONT_RELEASE(front, done, 1);
	front_submit(front, 0);
	FRONT_RELEASE(front, done + 16, 1);
	front_submit(front, 1);
	step_until_idle();
	TEST_EQ(front_word(front, done + 16), 1);
	TEST_EQ(front_word(front, done), 0);
	TEST_EQ(front_word(front, done + 64), 0);
	TEST_TRUE(step.has_timer);
	TEST_EQ(step.timer_ns, due);
	/* Whichever is first. */
	inject(SGPU_INJECT_INTERRUPT_LATE, 20);
	fault_once();
	step_once();
	TEST_EQ(step.timer_ns, front->now_ns + 20 * US);
	front->now_ns = due;
	step_until_idle();
	TEST_EQ(interrupts, 1);
	TEST_EQ(front_word(front, done), 1);
	TEST_EQ(front_word(front, done + 64), 77);
	TEST_TRUE(!step.has_timer);
	end();
}

/* One channel waits for what the other releases, wherever they stand in the list. */
static void sgpu_gpu_step_channels(void)
{
	uint32_t waiting;

	for (waiting = 0; waiting < 2; waiting++) {
		begin();
		FRONT_ACQUIRE(front, FRONT_SEMAPHORES, 5);
		FRONT_RELEASE(front, FRONT_SEMAPHORES + 16, 1);
		front_submit(front, waiting);
		step_until_idle();
		TEST_EQ(front_word(front, FRONT_SEMAPHORES + 16), 0);
		FRONT_RELEASE(front, FRONT_SEMAPHORES, 5);
		front_submit(front, 1 - waiting);
		step_until_idle();
		TEST_EQ(front_word(front, FRONT_SEMAPHORES + 16), 1);
		end();
	}
}

/* A channel that never ends leaves the other, and the warps, their share of each step. */
static void sgpu_gpu_step_budget(void)
{
	static const struct sgpu_insn forever[] = { { .op = SGPU_OP_JUMP, .imm = 0 } };
	static struct sgpu_warp warp;
	struct sgpu_launch launch = {
		.warp_count = 1, .warps_per_block = 1, .insns = forever, .warps = &warp
	};
	uint32_t i;

	begin();
	launch.gpu = &front->gpu;
	launch.vas = &front->vas;
	TEST_EQ(sgpu_launch_start(&launch, NULL), 0);
	for (i = 0; i < 2000; i++)
		FRONT_HOST(front, NOP, 0);
	front_submit(front, 0);
	FRONT_RELEASE(front, FRONT_SEMAPHORES, 5);
	front_submit(front, 1);
	step_once();
	TEST_EQ(front_word(front, FRONT_SEMAPHORES), 5);
	TEST_TRUE(front->gpu.counters.methods < 2000);
	TEST_TRUE(front->gpu.counters.instructions > 0);
	/* What the step says it did is what there is. */
	TEST_TRUE(step.work >= front->gpu.counters.instructions);
	for (i = 0; i < 100 && front->channels[0].get != front->channels[0].put; i++)
		step_once();
	TEST_TRUE(i > 1 && i < 100);
	sgpu_launch_remove(&launch);
	step_until_idle();
	end();
}

/* --- warps and pushes --------------------------------------------------------- */

/* Loads the word at VA until it is 2, keeps count. */
static const struct sgpu_insn wait_for_2[] = {
	{ .op = SGPU_OP_MOV_IMM, .rd = 1, .imm = VA },
	{ .op = SGPU_OP_MOV_IMM, .rd = 2, .imm = 2 },
	{ .op = SGPU_OP_MOV_IMM, .rd = 4, .imm = 1 },
	{ .op = SGPU_OP_ADD, .rd = 3, .ra = 3, .rb = 4 },
	{ .op = SGPU_OP_LOAD, .rd = 0, .ra = 1, .width = 4 },
	{ .op = SGPU_OP_JUMP_NE, .ra = 0, .rb = 2, .imm = 3 },
	{ .op = SGPU_OP_EXIT },
};

static struct sgpu_warp warps[3];
static struct sgpu_launch launch;

static void launch_begin(void)
{
	launch = (struct sgpu_launch){
		.gpu = &front->gpu,
		.vas = &front->vas,
		.instance = { .aperture = SGPU_APERTURE_SYSMEM, .address = 0x5000 },
		.channel_handle = 1,
		.warp_count = 3,
		.warps_per_block = 1,
		.insns = wait_for_2,
		.warps = warps,
	};
	TEST_EQ(sgpu_launch_start(&launch, NULL), 0);
}

static uint32_t warps_in(enum sgpu_warp_state state)
{
	return (warps[0].state == state) + (warps[1].state == state) + (warps[2].state == state);
}

static uint32_t *map_page(uint32_t value)
{
	struct world_mapping mapping = { .va = VA, .bytes = PAGE };
	uint32_t *word;

	mapping.at = world_take(&front->world, SGPU_APERTURE_VIDMEM, PAGE);
	world_map(&front->world, &front->vas.pdb, &mapping);
	word = world_at(&front->world, mapping.at);
	*word = value;
	return word;
}

/* MEM_OP_A to D, of one page; @engine: of a cancel. */
static void do_mem_op(uint32_t engine, uint32_t c, uint32_t d)
{
	uint64_t root = front->vas.pdb.root.address;

	FRONT_HOST(front, MEM_OP_A, (uint32_t)VA | engine, (uint32_t)(VA >> 32), (uint32_t)root | c,
		   (uint32_t)(root >> 32) | d);
	front_submit(front, 0);
}

/* The driver's way: fault, interrupt, map, replay; then the page moves: invalidate. */
static void sgpu_gpu_step_push_wakes(void)
{
	struct sgpu_counters counters;
	uint32_t *old;

	begin();
	launch_begin();
	step_until_idle();
	TEST_EQ(warps_in(SGPU_WARP_STALLED), 3);
	TEST_EQ(interrupts, 1);
	TEST_EQ(front->gpu.faults.put, 3);
	old = map_page(1);
	step_until_idle();
	TEST_EQ(warps_in(SGPU_WARP_STALLED), 3);
	do_mem_op(0, REPLAY_START, INVALIDATE);
	step_once();
	TEST_EQ(warps_in(SGPU_WARP_READY), 3);
	/* They poll the old page until the TLBs hear of the new one, although it holds 2. */
	map_page(2);
	step_once();
	step_once();
	TEST_EQ(warps_in(SGPU_WARP_READY), 3);
	do_mem_op(0, 0, INVALIDATE_TARGETED);
	step_until_idle();
	TEST_EQ(warps_in(SGPU_WARP_EXITED), 3);
	TEST_EQ(*old, 1);
	sgpu_gpu_counters(&front->gpu, &counters);
	TEST_EQ(counters.faults, 3);
	TEST_EQ(counters.faults_dropped, 0);
	TEST_EQ(counters.replays, 1);
	TEST_EQ(counters.warps_resumed, 3);
	TEST_EQ(counters.invalidates, 1);
	TEST_EQ(counters.invalidated, 2); /* of two uTLBs */
	TEST_EQ(counters.tlb_hits + counters.tlb_misses, counters.loads + 3 * SGPU_LANES);
	TEST_EQ(counters.pushes, 2);
	sgpu_launch_remove(&launch);
	end();
}

/* The same without hearing of it. */
static void sgpu_gpu_invalidate_lost(void)
{
	uint32_t i;

	begin();
	map_page(1);
	launch_begin();
	step_once();
	map_page(2);
	inject(SGPU_INJECT_INVALIDATE_LOST, 1000);
	do_mem_op(0, 0, INVALIDATE_TARGETED);
	for (i = 0; i < 20; i++)
		step_once();
	TEST_EQ(warps_in(SGPU_WARP_READY), 3);
	TEST_EQ(front->gpu.counters.invalidates, 1);
	TEST_EQ(front->gpu.counters.invalidated, 0);
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_INVALIDATE_LOST], 1);
	inject(SGPU_INJECT_INVALIDATE_LOST, 0);
	do_mem_op(0, 0, INVALIDATE_TARGETED);
	step_until_idle();
	TEST_EQ(warps_in(SGPU_WARP_EXITED), 3);
	sgpu_launch_remove(&launch);
	end();
}

/* A replay that is lost leaves them where they are; the next helps. */
static void sgpu_gpu_step_replay_lost(void)
{
	begin();
	launch_begin();
	step_until_idle();
	map_page(2);
	inject(SGPU_INJECT_REPLAY_LOST, 1000);
	do_mem_op(0, REPLAY_START, INVALIDATE);
	step_until_idle();
	TEST_EQ(warps_in(SGPU_WARP_STALLED), 3);
	inject(SGPU_INJECT_REPLAY_LOST, 0);
	do_mem_op(0, REPLAY_START, INVALIDATE);
	step_until_idle();
	TEST_EQ(warps_in(SGPU_WARP_EXITED), 3);
	sgpu_launch_remove(&launch);
	end();
}

static void sgpu_gpu_step_push_cancels(void)
{
	begin();
	launch_begin();
	step_until_idle();
	do_mem_op(SGPU_FAULT_ENGINE_GRAPHICS, CANCEL_VA_GLOBAL, INVALIDATE_TARGETED);
	step_until_idle();
	TEST_EQ(warps_in(SGPU_WARP_FAULTED), 3);
	TEST_TRUE(sgpu_launch_is_done(&launch));
	TEST_EQ(front->gpu.counters.cancels, 1);
	TEST_EQ(front->gpu.counters.warps_cancelled, 3);
	sgpu_launch_remove(&launch);
	end();
}

/* The hub's TLB as well as the uTLBs, by range. */
static void sgpu_gpu_invalidate_all(void)
{
	struct sgpu_tlb_range range = { .has_va = true, .va = VA + PAGE, .bytes = PAGE };
	struct sgpu_tlb_lookup lookup = { .va = VA, .access = SGPU_ACCESS_READ };
	struct sgpu_page page;
	uint32_t i;

	begin();
	map_page(0);
	lookup.bus = &front->gpu.bus;
	lookup.pdb = &front->vas.pdb;
	for (i = 0; i < 3; i++)
		TEST_EQ(sgpu_tlb_translate(i < 2 ? &front->gpu.utlbs[i].tlb : &front->gpu.hub_tlb,
					   &lookup, &page),
			0);
	sgpu_gpu_invalidate(&front->gpu, &range);
	TEST_EQ(front->gpu.counters.invalidated, 0);
	range.va = VA;
	sgpu_gpu_invalidate(&front->gpu, &range);
	TEST_EQ(front->gpu.counters.invalidated, 3);
	end();
}

/* Same seed, inputs and clock: same run, to the last counter; another seed is another run. */
static struct sgpu_counters run_of(uint64_t seed)
{
	struct sgpu_counters counters;
	uint32_t i;

	begin_seeded(seed);
	inject(SGPU_INJECT_FAULT_REPEATED, 500);
	inject(SGPU_INJECT_INTERRUPT_DOUBLED, 300);
	inject(SGPU_INJECT_INTERRUPT_LATE, 3);
	launch_begin();
	for (i = 0; i < 200; i++) {
		front->now_ns += US;
		step_once();
		if (i % 3 == 0) {
			/* Nothing is read, but there is room again. */
			front->gpu.faults.get = front->gpu.faults.put | 3u << 30;
			do_mem_op(0, REPLAY_START, INVALIDATE);
		}
	}
	sgpu_gpu_counters(&front->gpu, &counters);
	sgpu_launch_remove(&launch);
	end();
	return counters;
}

static void sgpu_gpu_step_repeats(void)
{
	struct sgpu_counters first = run_of(1);
	struct sgpu_counters second = run_of(1);
	struct sgpu_counters other = run_of(2);

	TEST_EQ(memcmp(&first, &second, sizeof(first)), 0);
	TEST_TRUE(memcmp(&first, &other, sizeof(first)) != 0);
	TEST_TRUE(first.injected[SGPU_INJECT_FAULT_REPEATED] > 20);
	TEST_TRUE(first.faults > first.injected[SGPU_INJECT_FAULT_REPEATED]);
	TEST_TRUE(first.interrupts > 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(sgpu_gpu_init_params),
		TEST(sgpu_gpu_init_utlbs),
		TEST(sgpu_gpu_init_seed),
		TEST(sgpu_gpu_add_remove),
		TEST(sgpu_gpu_step_interrupt),
		TEST(sgpu_gpu_step_lost_or_doubled),
		TEST(sgpu_gpu_step_late),
		TEST(sgpu_gpu_step_fault_limit),
		TEST(sgpu_gpu_step_time),
		TEST(sgpu_gpu_step_slow_copy),
		TEST(sgpu_gpu_step_channels),
		TEST(sgpu_gpu_step_budget),
		TEST(sgpu_gpu_step_push_wakes),
		TEST(sgpu_gpu_invalidate_lost),
		TEST(sgpu_gpu_step_replay_lost),
		TEST(sgpu_gpu_step_push_cancels),
		TEST(sgpu_gpu_invalidate_all),
		TEST(sgpu_gpu_step_repeats),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
