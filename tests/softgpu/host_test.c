/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The host's methods.  The linker hands calls to SMs and TLBs of the whole GPU to the wrappers
 * here, which write them down and pass them on (CMakeLists.txt, --wrap).
 */
#include "tests/softgpu/front.h"

#define SEMAPHORE FRONT_SEMAPHORES
#define TIME (1u << 25)
#define RELEASE 1u

uint32_t __wrap_sgpu_sm_replay(struct sgpu_gpu *gpu);
uint32_t __real_sgpu_sm_replay(struct sgpu_gpu *gpu);
uint32_t __wrap_sgpu_sm_cancel(struct sgpu_gpu *gpu, const struct sgpu_cancel *cancel);
uint32_t __real_sgpu_sm_cancel(struct sgpu_gpu *gpu, const struct sgpu_cancel *cancel);
void __wrap_sgpu_gpu_invalidate(struct sgpu_gpu *gpu, const struct sgpu_tlb_range *range);
void __real_sgpu_gpu_invalidate(struct sgpu_gpu *gpu, const struct sgpu_tlb_range *range);

static struct {
	uint32_t replays, cancels, invalidates;
	struct sgpu_cancel cancel;
	struct sgpu_tlb_range range;
} calls;

uint32_t __wrap_sgpu_sm_replay(struct sgpu_gpu *gpu)
{
	calls.replays++;
	return __real_sgpu_sm_replay(gpu);
}

uint32_t __wrap_sgpu_sm_cancel(struct sgpu_gpu *gpu, const struct sgpu_cancel *cancel)
{
	calls.cancels++;
	calls.cancel = *cancel;
	return __real_sgpu_sm_cancel(gpu, cancel);
}

void __wrap_sgpu_gpu_invalidate(struct sgpu_gpu *gpu, const struct sgpu_tlb_range *range)
{
	calls.invalidates++;
	calls.range = *range;
	__real_sgpu_gpu_invalidate(gpu, range);
}

static struct front *begin(void)
{
	memset(&calls, 0, sizeof(calls));
	return front_init();
}

/* --- semaphores ------------------------------------------------------------- */

static void release_writes_one_word(void)
{
	struct front *front = begin();

	front_set_word(front, SEMAPHORE + 4, 0x1111);
	front_set_word(front, SEMAPHORE + 12, 0x2222);
	/* The low two bits are no part of the address. */
	FRONT_RELEASE(front, SEMAPHORE + 8 + 3, 0xa5a55a5a);
	front_do(front);
	TEST_EQ(front_word(front, SEMAPHORE + 4), 0x1111);
	TEST_EQ(front_word(front, SEMAPHORE + 8), 0xa5a55a5a);
	TEST_EQ(front_word(front, SEMAPHORE + 12), 0x2222);
	TEST_EQ(front->gpu.counters.releases, 1);
	front_fini(front);
}

static void release_writes_the_time(void)
{
	struct front *front = begin();
	uint32_t i;

	for (i = 0; i < 5; i++)
		front_set_word(front, SEMAPHORE + 4 * i, 0x77);
	front->now_ns = 0x123456789abcdef0ull;
	FRONT_SEMAPHORE(front, SEMAPHORE, 0xdeadbeef, RELEASE | TIME);
	front_do(front);
	TEST_EQ(front_word(front, SEMAPHORE), 0xdeadbeef);
	TEST_EQ(front_word(front, SEMAPHORE + 4), 0);
	TEST_EQ(front_word(front, SEMAPHORE + 8), 0x9abcdef0);
	TEST_EQ(front_word(front, SEMAPHORE + 12), 0x12345678);
	TEST_EQ(front_word(front, SEMAPHORE + 16), 0x77);
	front_fini(front);
}

static void semaphore_in_page_tables(void)
{
	struct front *front = begin();
	struct world_mapping mapping = { .va = 0x80000000, .bytes = 4096 };

	mapping.at = world_take(&front->world, SGPU_APERTURE_SYSMEM, 4096);
	world_map(&front->world, &front->vas.pdb, &mapping);
	FRONT_RELEASE(front, mapping.va + 4092, 3);
	FRONT_ACQUIRE(front, mapping.va + 4092, 3);
	front_do(front);
	TEST_EQ(front_word(front, mapping.va + 4092), 3);
	mapping.flags = WORLD_PTE_READ_ONLY;
	mapping.va += 4096;
	world_map(&front->world, &front->vas.pdb, &mapping);
	FRONT_ACQUIRE(front, mapping.va, 0);
	front_do(front);
	FRONT_RELEASE(front, mapping.va, 4);
	front_fails(front, "fault of a semaphore at 0x80001000, at SEM_EXECUTE");
	front_fini(front);
}

static void semaphore_refuses(void)
{
	static const struct {
		uint32_t high, low, execute;
		const char *why;
	} bad[] = {
		{ 0x12, 0x80000, 0, "operation ACQUIRE, SEM_EXECUTE 0x0" },
		{ 0x12, 0x80000, 2, "operation ACQ_STRICT_GEQ" },
		{ 0x12, 0x80000, 4, "operation ACQ_AND" },
		{ 0x12, 0x80000, 5, "operation ACQ_NOR" },
		{ 0x12, 0x80000, 6, "operation REDUCTION" },
		{ 0x12, 0x80000, 7, "no such operation" },
		{ 0x12, 0x80000, 1u << 24 | RELEASE, "PAYLOAD_SIZE 64BIT" },
		{ 0x12, 0x80000, 1u << 24 | 3, "PAYLOAD_SIZE 64BIT" },
		{ 0x112, 0x80000, RELEASE, "semaphore beyond 40 bits, SEM_ADDR_HI 0x112" },
		{ 0x12, 0x80004, RELEASE | TIME, "misaligned semaphore 0x1200080004" },
		{ 0x12, 0x80008, RELEASE | TIME, "misaligned semaphore" },
		{ 0x13, 0x80000, RELEASE, "fault of a semaphore at 0x1300080000" },
		{ 0x13, 0x80000, RELEASE | TIME, "fault of a semaphore at 0x1300080000" },
		{ 0x13, 0x80000, 3, "fault of a semaphore at 0x1300080000" },
	};
	struct front *front = begin();
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		FRONT_HOST(front, SEM_ADDR_LO, bad[i].low, bad[i].high, 1, 0, bad[i].execute);
		front_fails(front, bad[i].why);
	}
	/* A mapping that ends inside of one. */
	front->rm.bytes = FRONT_BYTES / 2 + 8;
	FRONT_SEMAPHORE(front, SEMAPHORE, 1, RELEASE | TIME);
	front_fails(front, "fault of a semaphore at 0x1200080000");
	TEST_EQ(front->gpu.counters.releases + front->gpu.counters.acquires, 0);
	front_fini(front);
}

static void acquire_compares_in_a_circle(void)
{
	static const struct {
		uint32_t value, payload;
		bool is_got;
	} cases[] = {
		{ 0, 0, true },
		{ 1, 0, true },
		{ 0, 1, false },
		{ 5, 5, true },
		{ 4, 5, false },
		{ 0x7fffffff, 0, true },
		{ 0x80000000, 0, false },
		{ 0xffffffff, 0, false },
		{ 0, 0xffffffff, true },
		{ 0x7ffffffe, 0xffffffff, true },
		{ 0x7fffffff, 0xffffffff, false },
		{ 0xfffffff0, 0xfffffff1, false },
		{ 3, 0xfffffff1, true },
		{ 0x80000000, 0x80000001, false },
	};
	struct front *front = begin();
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		front_set_word(front, SEMAPHORE, cases[i].value);
		FRONT_ACQUIRE(front, SEMAPHORE, cases[i].payload);
		front_submit(front, 0);
		front_run(front, 0);
		TEST_EQ(front->channels[0].get == front->channels[0].put, cases[i].is_got);
		TEST_TRUE(!front->channels[0].has_failed);
		front_renew(front, 0);
	}
	front_fini(front);
}

static void acquire_stalls_its_channel_only(void)
{
	struct front *front = begin();
	struct sgpu_channel *channel = &front->channels[0];
	uint32_t i;

	FRONT_RELEASE(front, SEMAPHORE, 1);
	FRONT_ACQUIRE(front, SEMAPHORE + 4, 8);
	FRONT_RELEASE(front, SEMAPHORE + 8, 2);
	front_submit(front, 0);
	FRONT_RELEASE(front, SEMAPHORE + 12, 3);
	front_submit(front, 0);
	/* Entry, release, four of the five methods of the acquire. */
	TEST_EQ(front_run(front, 0), 1 + 5 + 4);
	for (i = 0; i < 10; i++) {
		TEST_EQ(front_run(front, 0), 0);
		TEST_TRUE(channel->is_acquiring && channel->is_running && !channel->has_failed);
	}
	TEST_EQ(front_word(front, SEMAPHORE), 1);
	TEST_EQ(front_word(front, SEMAPHORE + 8), 0);
	TEST_EQ(front->gpu.counters.acquire_stalls, 1);
	TEST_EQ(front->gpu.counters.acquires, 0);
	/* The other channel gives it. */
	FRONT_RELEASE(front, SEMAPHORE + 4, 9);
	front_submit(front, 1);
	front_run(front, 1);
	TEST_EQ(front_word(front, SEMAPHORE + 4), 9);
	/* On from that method: what was before it is not done again. */
	front_set_word(front, SEMAPHORE, 0);
	TEST_EQ(front_run(front, 0), 1 + 5 + 1 + 5);
	TEST_EQ(front_word(front, SEMAPHORE), 0);
	TEST_EQ(front_word(front, SEMAPHORE + 8), 2);
	TEST_EQ(front_word(front, SEMAPHORE + 12), 3);
	TEST_TRUE(!channel->is_acquiring);
	TEST_EQ(front->gpu.counters.acquire_stalls, 1);
	TEST_EQ(front->gpu.counters.acquires, 1);
	front_fini(front);
}

/* --- MEM_OP ----------------------------------------------------------------- */

#define MEM_OP(front, a, b, c, d) FRONT_HOST(front, MEM_OP_A, a, b, c, d)
#define ALL (9u << 27)
#define TARGETED (10u << 27)
#define SYS (2u << 10)
#define REPLAY(type) ((uint32_t)(type) << 2)

static void mem_op_membars(void)
{
	struct front *front = begin();

	MEM_OP(front, 0, 0, 0, 5u << 27);
	MEM_OP(front, 0, 0, 1, 5u << 27);
	front_do(front);
	TEST_EQ(front->gpu.counters.membars, 2);
	/* With an invalidate that waits; without one that does. */
	MEM_OP(front, 1 << 11, 0, 1 << 5, ALL);
	MEM_OP(front, 1 << 11, 0, 0, ALL);
	MEM_OP(front, 0, 0, 1 << 5, ALL);
	MEM_OP(front, 1 << 11, 0, 1 << 5 | 1 << 1, ALL);
	front_do(front);
	TEST_EQ(front->gpu.counters.membars, 3);
	MEM_OP(front, 0, 0, 2, 5u << 27);
	front_fails(front, "no such membar, MEM_OP_C 0x2, at MEM_OP_D");
	front_fini(front);
}

static void invalidate_all_of_a_directory(void)
{
	struct front *front = begin();

	/* As uvm_hal_pascal_host_tlb_invalidate_all(), of a directory at 0x7654321000. */
	MEM_OP(front, 0, 0, 0x54321000 | 5 << 7 | 1 << 5, ALL | 0x76);
	front_do(front);
	TEST_EQ(calls.invalidates, 1);
	TEST_TRUE(calls.range.has_root && !calls.range.has_va);
	TEST_EQ(calls.range.root.aperture, SGPU_APERTURE_VIDMEM);
	TEST_EQ(calls.range.root.address, 0x7654321000);
	MEM_OP(front, 0, 0, 0x54321000 | SYS, ALL | 0x7ffffff);
	front_do(front);
	TEST_EQ(calls.range.root.aperture, SGPU_APERTURE_SYSMEM);
	TEST_EQ(calls.range.root.address, 0x7ffffff54321000);
	MEM_OP(front, 0, 0, 1, ALL);
	front_do(front);
	TEST_EQ(calls.invalidates, 3);
	TEST_TRUE(!calls.range.has_root && !calls.range.has_va);
	TEST_EQ(front->gpu.counters.invalidates, 3);
	TEST_EQ(calls.replays + calls.cancels, 0);
	front_fini(front);
}

static void invalidate_of_a_range(void)
{
	static const uint64_t vas[] = { 0x1ffffffffffff, 0x7f1234567000, 0x1000, 0 };
	struct front *front = begin();
	uint64_t bytes;
	uint32_t size;
	size_t i;

	for (i = 0; i < sizeof(vas) / sizeof(vas[0]); i++) {
		for (size = 0; size <= 37; size++) {
			bytes = 4096ull << size;
			MEM_OP(front, ((uint32_t)vas[i] & ~0xfffu) | size, (uint32_t)(vas[i] >> 32),
			       0x5000 | SYS | 2 << 7, TARGETED);
			front_do(front);
			TEST_TRUE(calls.range.has_va && calls.range.has_root);
			TEST_EQ(calls.range.bytes, bytes);
			TEST_EQ(calls.range.va, vas[i] / bytes * bytes);
			TEST_EQ(calls.range.root.address, 0x5000);
			TEST_EQ(calls.range.root.aperture, SGPU_APERTURE_SYSMEM);
		}
	}
	TEST_EQ(calls.invalidates, 4 * 38);
	front_fini(front);
}

/* A translation of @va in a TLB.  Return: whether it was there. */
static bool tlb_has(struct front *front, struct sgpu_tlb *tlb, uint64_t va)
{
	uint64_t hits = tlb->hits;
	struct sgpu_tlb_lookup lookup = { &front->gpu.bus, &front->vas.pdb, va, SGPU_ACCESS_READ };
	struct sgpu_page page;

	TEST_EQ(sgpu_tlb_translate(tlb, &lookup, &page), 0);
	return tlb->hits != hits;
}

static void invalidate_of_the_hub_leaves_the_gpcs(void)
{
	struct front *front = begin();
	struct world_mapping mapping = { .va = 0x80000000, .bytes = 4096 };
	struct sgpu_tlb *utlb = &front->gpu.utlbs[1].tlb;
	struct sgpu_tlb *hub = &front->gpu.hub_tlb;

	mapping.at = world_take(&front->world, SGPU_APERTURE_SYSMEM, 4096);
	world_map(&front->world, &front->vas.pdb, &mapping);
	TEST_TRUE(!tlb_has(front, utlb, mapping.va) && !tlb_has(front, hub, mapping.va));
	TEST_TRUE(tlb_has(front, utlb, mapping.va) && tlb_has(front, hub, mapping.va));
	/* GPC DISABLE: the replay is ignored, too. */
	MEM_OP(front, 0, 0, 1 << 1 | 1 | REPLAY(1), ALL);
	front_do(front);
	TEST_EQ(calls.invalidates + calls.replays, 0);
	TEST_EQ(front->gpu.counters.invalidates, 1);
	TEST_EQ(front->gpu.counters.invalidated, 1);
	TEST_TRUE(tlb_has(front, utlb, mapping.va) && !tlb_has(front, hub, mapping.va));
	MEM_OP(front, 0, 0, 1, ALL);
	front_do(front);
	TEST_TRUE(!tlb_has(front, utlb, mapping.va) && !tlb_has(front, hub, mapping.va));
	TEST_EQ(front->gpu.counters.invalidated, 3);
	/* What rides on a replay reaches all of them. */
	MEM_OP(front, 0, 0, 1 | REPLAY(1), ALL);
	front_do(front);
	TEST_TRUE(!tlb_has(front, utlb, mapping.va) && !tlb_has(front, hub, mapping.va));
	TEST_EQ(front->gpu.counters.invalidated, 5);
	front_fini(front);
}

static void invalidate_refuses(void)
{
	static const struct {
		uint32_t a, b, c, d;
		const char *why;
	} bad[] = {
		{ 0, 0, 1 << 10, ALL, "page directory in aperture 1, MEM_OP_C 0x400, at MEM_OP_D" },
		{ 0, 0, 1, TARGETED, "targeted invalidate of all page directories" },
		{ 38, 0, 0, TARGETED, "beyond 49 bits" },
		{ 63, 0, 0, TARGETED, "beyond 49 bits" },
		{ 0, 0x20000, 0, TARGETED, "beyond 49 bits" },
		{ 0, 0, REPLAY(6), ALL, "no such replay" },
		{ 0, 0, REPLAY(7), TARGETED, "no such replay" },
		{ 64, 0, REPLAY(5) | 3 << 7, TARGETED, "reserved access type" },
		{ 64, 0, REPLAY(5) | 7 << 7, ALL, "CANCEL_VA_GLOBAL of no address" },
		{ 0, 0, 0, 0x0du << 27, "L2_PEERMEM_INVALIDATE" },
		{ 0, 0, 0, 0x0eu << 27, "L2_SYSMEM_INVALIDATE" },
		{ 0, 0, 0, 0x0fu << 27, "L2_CLEAN_COMPTAGS" },
		{ 0, 0, 0, 0x10u << 27, "L2_FLUSH_DIRTY" },
		{ 0, 0, 0, 0x15u << 27, "L2_WAIT_FOR_SYS_PENDING_READS" },
		{ 0, 0, 0, 0, "no such operation, MEM_OP_D 0x0" },
		{ 0, 0, 0, 31u << 27, "no such operation" },
	};
	struct front *front = begin();
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		MEM_OP(front, bad[i].a, bad[i].b, bad[i].c, bad[i].d);
		front_fails(front, bad[i].why);
	}
	TEST_EQ(calls.invalidates + calls.replays + calls.cancels, 0);
	front_fini(front);
}

/* All three types of clear, and the targeted one with its tag. */
static void access_counters_are_cleared(void)
{
	struct front *front = begin();
	uint32_t type;

	for (type = 0; type < 4; type++)
		MEM_OP(front, 0, 0, 0xfffff, 0x16u << 27 | type | 1 << 2 | 0xf << 3);
	front_do(front);
	TEST_EQ(calls.invalidates + calls.replays + calls.cancels, 0);
	front_fini(front);
}

static void replay_resumes_and_is_no_invalidate(void)
{
	struct front *front = begin();

	/* uvm_hal_volta_replay_faults(): page 0 of directory 0, PTE_ONLY. */
	MEM_OP(front, 0, 0, REPLAY(1) | 1 << 7, TARGETED);
	front_do(front);
	TEST_EQ(calls.replays, 1);
	MEM_OP(front, 0, 0, REPLAY(2) | 1 << 7, TARGETED);
	front_do(front);
	TEST_EQ(calls.replays, 2);
	TEST_EQ(front->gpu.counters.replays, 2);
	TEST_EQ(calls.invalidates + calls.cancels, 0);
	TEST_EQ(front->gpu.counters.invalidates, 0);
	front_fini(front);
}

static void replay_may_be_lost(void)
{
	struct front *front = begin();
	uint32_t i;

	TEST_EQ(sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_INVALIDATE_LOST, 1000), 0);
	TEST_EQ(sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_REPLAY_LOST, 300), 0);
	for (i = 0; i < 1000; i++) {
		MEM_OP(front, 0, 0, REPLAY(1) | 1 << 7, TARGETED);
		front_do(front);
	}
	TEST_EQ(front->gpu.counters.replays, 1000);
	TEST_TRUE(calls.replays > 600 && calls.replays < 800);
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_REPLAY_LOST], 1000 - calls.replays);
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_INVALIDATE_LOST], 0);
	/* A cancel is no replay. */
	TEST_EQ(sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_REPLAY_LOST, 1000), 0);
	MEM_OP(front, 0, 0, REPLAY(4), ALL);
	front_do(front);
	TEST_EQ(calls.cancels, 1);
	front_fini(front);
}

/* The third from now, and no other. */
static void replay_is_lost_once(void)
{
	struct front *front = begin();
	uint32_t i;

	TEST_EQ(sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_REPLAY_LOST_AT, 3), 0);
	for (i = 1; i <= 5; i++) {
		MEM_OP(front, 0, 0, REPLAY(1) | 1 << 7, TARGETED);
		front_do(front);
		TEST_EQ(calls.replays, i < 3 ? i : i - 1);
	}
	TEST_EQ(front->gpu.counters.replays, 5);
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_REPLAY_LOST_AT], 1);
	TEST_EQ(front->gpu.inject.values[SGPU_INJECT_REPLAY_LOST_AT], 0);
	/* Those that are lost otherwise count. */
	TEST_EQ(sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_REPLAY_LOST, 1000), 0);
	TEST_EQ(sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_REPLAY_LOST_AT, 2), 0);
	for (i = 0; i < 2; i++) {
		MEM_OP(front, 0, 0, REPLAY(1) | 1 << 7, TARGETED);
		front_do(front);
	}
	TEST_EQ(calls.replays, 4);
	TEST_EQ(front->gpu.inject.values[SGPU_INJECT_REPLAY_LOST_AT], 0);
	front_fini(front);
}

/* The next; a replay that comes before it is none. */
static void invalidate_is_lost_once(void)
{
	struct world_mapping mapping = { .va = 0x80000000, .bytes = 4096 };
	struct front *front = begin();
	struct sgpu_tlb *hub = &front->gpu.hub_tlb;

	mapping.at = world_take(&front->world, SGPU_APERTURE_SYSMEM, 4096);
	world_map(&front->world, &front->vas.pdb, &mapping);
	TEST_EQ(sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_INVALIDATE_LOST_AT, 1), 0);
	MEM_OP(front, 0, 0, REPLAY(1) | 1 << 7, TARGETED);
	front_do(front);
	TEST_TRUE(!tlb_has(front, hub, mapping.va));
	MEM_OP(front, 0, 0, 1, ALL);
	front_do(front);
	TEST_TRUE(tlb_has(front, hub, mapping.va));
	MEM_OP(front, 0, 0, 1, ALL);
	front_do(front);
	TEST_TRUE(!tlb_has(front, hub, mapping.va));
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_INVALIDATE_LOST_AT], 1);
	front_fini(front);
}

static void invalidate_may_be_lost(void)
{
	struct front *front = begin();
	struct world_mapping mapping = { .va = 0x80000000, .bytes = 4096 };

	mapping.at = world_take(&front->world, SGPU_APERTURE_SYSMEM, 4096);
	world_map(&front->world, &front->vas.pdb, &mapping);
	TEST_TRUE(!tlb_has(front, &front->gpu.hub_tlb, mapping.va));
	TEST_EQ(sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_INVALIDATE_LOST, 1000), 0);
	MEM_OP(front, 0, 0, 1, ALL);
	front_do(front);
	TEST_TRUE(tlb_has(front, &front->gpu.hub_tlb, mapping.va));
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_INVALIDATE_LOST], 1);
	front_fini(front);
}

/* --- cancels ---------------------------------------------------------------- */

static void cancel_of_a_client(void)
{
	struct front *front = begin();

	MEM_OP(front, 17 << 6 | 42, 0, REPLAY(3), ALL);
	front_do(front);
	TEST_EQ(calls.cancels, 1);
	TEST_TRUE(calls.cancel.has_client && !calls.cancel.is_global && !calls.cancel.has_root);
	TEST_EQ(calls.cancel.gpc, 17);
	TEST_EQ(calls.cancel.client, 42);
	/* A client of 42 is no size of 42, so targeted is as good. */
	MEM_OP(front, 31 << 6 | 63, 0, REPLAY(3), TARGETED);
	front_do(front);
	TEST_EQ(calls.cancel.gpc, 31);
	TEST_EQ(calls.cancel.client, 63);
	MEM_OP(front, 0, 0, REPLAY(4), ALL);
	front_do(front);
	TEST_EQ(calls.cancels, 3);
	TEST_TRUE(calls.cancel.is_global && !calls.cancel.has_client && !calls.cancel.has_root);
	TEST_EQ(front->gpu.counters.cancels, 3);
	TEST_EQ(front->gpu.counters.replays, 0);
	front_fini(front);
}

static void cancel_of_an_address(void)
{
	static const uint32_t masks[8] = { 9, 2, 4, 0, 0, 4, 6, 15 };
	struct front *front = begin();
	uint32_t type;

	for (type = 0; type < 8; type++) {
		if (type == 3)
			continue;
		MEM_OP(front, 0x34567000 | SGPU_FAULT_ENGINE_GRAPHICS, 0x7f12,
		       0x9000 | SYS | REPLAY(5) | type << 7, TARGETED | 1);
		front_do(front);
		TEST_EQ(calls.cancel.access_mask, masks[type]);
		TEST_TRUE(!calls.cancel.is_global && !calls.cancel.has_client);
		TEST_EQ(calls.cancel.va, 0x7f1234567000);
		TEST_TRUE(calls.cancel.has_root);
		TEST_EQ(calls.cancel.root.aperture, SGPU_APERTURE_SYSMEM);
		TEST_EQ(calls.cancel.root.address, 0x100009000);
	}
	TEST_EQ(calls.cancels, 7);
	/* Of another engine: nothing is cancelled, everything replayed. */
	MEM_OP(front, 0x34567000 | 65, 0x7f12, REPLAY(5) | 7 << 7, TARGETED);
	front_do(front);
	TEST_EQ(calls.cancels, 8);
	TEST_EQ(calls.cancel.access_mask, 0);
	front_fini(front);
}

static void software_cancels(void)
{
	struct front *front = begin();

	FRONT_METHODS(front, FRONT_INC, 5, SGPU_HOST_SET_OBJECT, SGPU_CLASS_SOFTWARE);
	FRONT_METHODS(front, FRONT_INC, 5, SGPU_SOFTWARE_NO_OPERATION, 1);
	FRONT_METHODS(front, FRONT_INC, 5, SGPU_SOFTWARE_FAULT_CANCEL_A, 0x1002, 0, 3 << 6 | 5);
	front_do(front);
	TEST_EQ(calls.cancels, 1);
	TEST_TRUE(calls.cancel.has_client && !calls.cancel.is_global);
	TEST_EQ(calls.cancel.gpc, 3);
	TEST_EQ(calls.cancel.client, 5);
	FRONT_METHODS(front, FRONT_INC, 5, SGPU_SOFTWARE_FAULT_CANCEL_A, 0x1002, 0, 1u << 30);
	front_do(front);
	TEST_EQ(calls.cancels, 2);
	TEST_TRUE(calls.cancel.is_global && !calls.cancel.has_client);
	FRONT_METHODS(front, FRONT_INC, 5, SGPU_SOFTWARE_FAULT_CANCEL_C, 2u << 30);
	front_fails(front, "no such mode, FAULT_CANCEL_C 0x80000000, at FAULT_CANCEL_C (0x10c)");
	FRONT_METHODS(front, FRONT_INC, 5, SGPU_SOFTWARE_CLEAR_FAULTED_A, 0);
	front_fails(front, "RM does not do method 0x110, at CLEAR_FAULTED_A (0x110) 0x0");
	FRONT_METHODS(front, FRONT_INC, 5, 0x200, 0);
	front_fails(front, "RM does not do method 0x200, at a method without a name");
	TEST_EQ(calls.cancels, 2);
	front_fini(front);
}

/* Two warps wait for two pages: a cancel ends the one that it names. */
static void cancel_ends_a_warp(void)
{
	const struct sgpu_insn program[] = {
		{ .op = SGPU_OP_WARP, .rd = 1 },
		{ .op = SGPU_OP_SHL, .rd = 1, .ra = 1, .imm = 12 },
		{ .op = SGPU_OP_LOAD, .rd = 2, .ra = 1, .width = 4, .lanes = 1, .imm = 0x5000000 },
		{ .op = SGPU_OP_EXIT },
	};
	struct sgpu_launch launch = { .id = 1, .channel_handle = 1 };
	struct front *front = begin();
	struct sgpu_warp *warps = calloc(2, sizeof(*warps));

	TEST_TRUE(warps);
	launch.gpu = &front->gpu;
	launch.vas = &front->vas;
	launch.warp_count = 2;
	launch.warps_per_block = 1;
	launch.insns = program;
	launch.warps = warps;
	TEST_EQ(sgpu_launch_start(&launch, NULL), 0);
	sgpu_sm_step(&front->gpu, 0, 100);
	TEST_EQ(sgpu_sm_outstanding(&front->gpu, NULL, 0), 2);
	/* Of another engine, and of writes: both are as before. */
	MEM_OP(front, 0x5001000 | 1, 0, (uint32_t)front->vas.pdb.root.address | REPLAY(5) | 7 << 7,
	       TARGETED);
	MEM_OP(front, 0x5001000 | 64, 0, (uint32_t)front->vas.pdb.root.address | REPLAY(5) | 6 << 7,
	       TARGETED);
	front_do(front);
	sgpu_sm_step(&front->gpu, 0, 100);
	TEST_EQ(warps[0].state, SGPU_WARP_STALLED);
	TEST_EQ(warps[1].state, SGPU_WARP_STALLED);
	MEM_OP(front, 0x5001000 | 64, 0, (uint32_t)front->vas.pdb.root.address | REPLAY(5) | 7 << 7,
	       TARGETED);
	front_do(front);
	sgpu_sm_step(&front->gpu, 0, 100);
	TEST_EQ(warps[0].state, SGPU_WARP_STALLED);
	TEST_EQ(warps[1].state, SGPU_WARP_FAULTED);
	TEST_EQ(front->gpu.counters.warps_cancelled, 1);
	sgpu_launch_remove(&launch);
	free(warps);
	front_fini(front);
}

/* --- the others ------------------------------------------------------------- */

static void set_object_checks_the_class(void)
{
	static const struct {
		uint32_t subchannel, class;
	} bad[] = {
		{ 0, 0xc3b5 }, { 0, 0xc076 }, { 4, 0xc076 }, { 4, 0xc5c0 },   { 5, 0xc5b5 },
		{ 6, 0xc076 }, { 1, 0xc5b5 }, { 0, 0 },      { 0, 0x1fc5b5 },
	};
	struct front *front = begin();
	size_t i;

	FRONT_METHODS(front, FRONT_INC, 0, SGPU_HOST_SET_OBJECT, 0xc5b5);
	FRONT_METHODS(front, FRONT_INC, 4, SGPU_HOST_SET_OBJECT, 0xc5b5);
	FRONT_METHODS(front, FRONT_INC, 5, SGPU_HOST_SET_OBJECT, 0xc076);
	front_do(front);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		FRONT_METHODS(front, FRONT_INC, bad[i].subchannel, SGPU_HOST_SET_OBJECT,
			      bad[i].class);
		front_fails(front, "no engine here is of class 0x");
	}
	front_fini(front);
}

static void method_is_done_or_refused_by_name(void)
{
	static const struct front_refused refused[] = {
		{ 0x04, "ILLEGAL" },
		{ 0x10, "SEMAPHOREA" },
		{ 0x14, "SEMAPHOREB" },
		{ 0x18, "SEMAPHOREC" },
		{ 0x1c, "SEMAPHORED" },
		{ 0x24, "FB_FLUSH" },
		{ 0x50, "SET_REFERENCE" },
		{ 0x7c, "CRC_CHECK" },
		{ 0x80, "YIELD" },
		{ 0xa0, "QUADRO_VERIFY" },
		{ 0x0c, "without a name" },
		{ 0xfc, "without a name" },
		{ 0, NULL },
	};
	static const uint32_t done[] = { 0x08, 0x20, 0x28, 0x2c, 0x30, 0x5c,
					 0x60, 0x64, 0x68, 0x78, 0x84, 0 };
	static const struct front_methods methods = { 0, done, refused };
	struct front *front = begin();

	front_methods(front, &methods);
	front_fini(front);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(release_writes_one_word),
		TEST(release_writes_the_time),
		TEST(semaphore_in_page_tables),
		TEST(semaphore_refuses),
		TEST(acquire_compares_in_a_circle),
		TEST(acquire_stalls_its_channel_only),
		TEST(mem_op_membars),
		TEST(invalidate_all_of_a_directory),
		TEST(invalidate_of_a_range),
		TEST(invalidate_of_the_hub_leaves_the_gpcs),
		TEST(invalidate_refuses),
		TEST(access_counters_are_cleared),
		TEST(replay_resumes_and_is_no_invalidate),
		TEST(replay_may_be_lost),
		TEST(replay_is_lost_once),
		TEST(invalidate_is_lost_once),
		TEST(invalidate_may_be_lost),
		TEST(cancel_of_a_client),
		TEST(cancel_of_an_address),
		TEST(software_cancels),
		TEST(cancel_ends_a_warp),
		TEST(set_object_checks_the_class),
		TEST(method_is_done_or_refused_by_name),
		{ NULL, NULL },
	};

	return test_main(argc, argv, tests);
}
