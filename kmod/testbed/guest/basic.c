/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "basic.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u
#define PAGES 600 /* more than a block has, so that there are two */
#define LIMIT_MS 60000

static struct softgpu_program program; /* of the test that runs */

const char *basic_launch(const struct softgpu *softgpu, struct softgpu_launch *launch,
			 struct sgpu_wait_args *wait_out)
{
	struct sgpu_wait_args wait = { .is_done = 0 };
	struct sgpu_warp_report report = { .state = 0 };
	int err = softgpu_launch(softgpu, launch);

	if (err != 0)
		return testbed_err("launch", err);
	err = softgpu_wait(softgpu, launch, testbed_ms(BASIC_LAUNCH_MS), &wait);
	softgpu_report(softgpu, launch, 0, &report);
	softgpu_free(softgpu, launch);
	if (err != 0)
		return testbed_err("wait", err);
	if (!wait.is_done)
		return testbed_why("hang: warp 0 is in state %u at instruction %u, its last fault "
				   "was at %#llx",
				   report.state, report.pc, (unsigned long long)report.fault_va);
	*wait_out = wait;
	return NULL;
}

const char *basic_run(const struct softgpu *softgpu, const struct softgpu_program *code,
		      uint32_t gpu, uint32_t warps)
{
	struct softgpu_launch launch = { .gpu = gpu, .warps = warps, .program = code };
	struct sgpu_wait_args wait;
	const char *why = basic_launch(softgpu, &launch, &wait);

	if (why != NULL)
		return why;
	if (wait.exited != warps)
		return testbed_why("of %u warps %u exited, %u faulted, %u were killed, %u illegal",
				   warps, wait.exited, wait.faulted, wait.killed, wait.illegal);
	return wait.misses == 0 ? NULL
				: testbed_why("%llu misses", (unsigned long long)wait.misses);
}

/* A lane takes a page: r2 = memory + lane * PAGE, r3 = seed + lane. */
static void lane_pages(const void *memory, uint64_t seed)
{
	softgpu_get(&program, SGPU_OP_LANE, 1);
	softgpu_emit(&program,
		     (struct sgpu_insn){ .op = SGPU_OP_SHL, .rd = 2, .ra = 1, .imm = 12 });
	softgpu_add(&program, 2, 2, (uintptr_t)memory);
	softgpu_add(&program, 3, 1, seed);
}

static const char *run_cpu_to_warp(struct softgpu *softgpu)
{
	uint8_t *memory;
	const char *why;
	int err = softgpu_map(softgpu, PAGES * PAGE, (void **)&memory);

	if (err != 0)
		return testbed_err("map", err);
	for (uint32_t lane = 0; lane < SGPU_LANES; lane++)
		*(volatile uint64_t *)(memory + lane * PAGE) = 1000 + lane;
	softgpu_program_init(&program);
	lane_pages(memory, 1000);
	softgpu_load(&program, 8, 4, (struct softgpu_at){ .base = 2 });
	softgpu_expect(&program, 4, 3);
	softgpu_exit(&program);
	why = basic_run(softgpu, &program, 0, 1);
	softgpu_unmap((struct softgpu_range){ memory, PAGES * PAGE });
	return why;
}

static const char *run_warp_to_cpu(struct softgpu *softgpu)
{
	uint8_t *memory;
	const char *why;
	int err = softgpu_map(softgpu, PAGES * PAGE, (void **)&memory);

	if (err != 0)
		return testbed_err("map", err);
	softgpu_program_init(&program);
	lane_pages(memory + PAGES * PAGE - SGPU_LANES * PAGE, 77);
	softgpu_store(&program, 8, (struct softgpu_at){ .base = 2, .offset = PAGE - 8 }, 3);
	softgpu_exit(&program);
	why = basic_run(softgpu, &program, 0, 1);
	for (uint32_t lane = 0; lane < SGPU_LANES && why == NULL; lane++) {
		const uint32_t page = PAGES - SGPU_LANES + lane;

		if (*(volatile uint64_t *)(memory + page * PAGE + PAGE - 8) != 77 + lane)
			why = testbed_why("lane %u's word is not there", lane);
	}
	softgpu_unmap((struct softgpu_range){ memory, PAGES * PAGE });
	return why;
}

/* Each access of each width next to others', which must stay as they are. */
static const char *run_widths(struct softgpu *softgpu)
{
	static const uint8_t want[16] = { 0x11, 0xff, 0x22, 0x22, 0x33, 0x33, 0x33, 0x33,
					  0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44 };
	static const struct {
		uint8_t width, at;
		uint64_t value;
	} stores[] = {
		{ 1, 0, 0x11 }, { 2, 2, 0x2222 }, { 4, 4, 0x33333333 }, { 8, 8, 0x4444444444444444 }
	};
	uint8_t *memory;
	const char *why;
	int err = softgpu_map(softgpu, PAGE, (void **)&memory);

	if (err != 0)
		return testbed_err("map", err);
	memset(memory, 0xff, PAGE);
	softgpu_program_init(&program);
	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		const struct softgpu_at at = softgpu_at(memory + stores[i].at);

		/* More bits than are stored. */
		softgpu_set(&program, 1, stores[i].value | (stores[i].width < 8 ? 1ull << 60 : 0));
		softgpu_store(&program, stores[i].width, at, 1);
		softgpu_load(&program, stores[i].width, 2, at);
		softgpu_set(&program, 1, stores[i].value);
		softgpu_expect(&program, 2, 1);
	}
	softgpu_exit(&program);
	why = basic_run(softgpu, &program, 0, 1);
	if (why == NULL && memcmp(memory, want, sizeof(want)) != 0)
		why = "the bytes are not as they were stored";
	if (why == NULL && memory[16] != 0xff)
		why = "a byte behind them was changed";
	softgpu_unmap((struct softgpu_range){ memory, PAGE });
	return why;
}

/* *word += 1, having been @value. */
static const char *increment(const struct softgpu *softgpu, uint64_t *word, uint32_t gpu,
			     uint64_t value)
{
	softgpu_program_init(&program);
	softgpu_set(&program, 1, value);
	softgpu_load(&program, 8, 2, softgpu_at(word));
	softgpu_expect(&program, 2, 1);
	softgpu_add(&program, 2, 2, 1);
	softgpu_store(&program, 8, softgpu_at(word), 2);
	softgpu_exit(&program);
	return basic_run(softgpu, &program, gpu, 1);
}

/* Round and round: the CPU, GPU 0, GPU 1. */
static const char *run_migration(struct softgpu *softgpu)
{
	uint64_t *word, value = 0;
	const char *why = NULL;
	int err = softgpu_map(softgpu, PAGE, (void **)&word);

	if (err != 0)
		return testbed_err("map", err);
	for (uint32_t round = 0; round < 10 && why == NULL; round++) {
		if (*(volatile uint64_t *)word != value)
			why = testbed_why("round %u: the CPU reads %llu, not %llu", round,
					  (unsigned long long)*word, (unsigned long long)value);
		*(volatile uint64_t *)word = ++value;
		for (uint32_t gpu = 0; gpu < softgpu->gpus && why == NULL; gpu++)
			why = increment(softgpu, word, gpu, value++);
	}
	softgpu_unmap((struct softgpu_range){ word, PAGE });
	return why;
}

/* One warp faults fatally, its neighbours on the same SMs go on. */
static const char *run_fatal(struct softgpu *softgpu)
{
	struct softgpu_launch bad = { .gpu = 0, .warps = 1, .program = &program };
	struct sgpu_wait_args wait;
	const char *why;
	uint8_t *memory;
	int err = softgpu_map(softgpu, PAGES * PAGE, (void **)&memory);

	if (err != 0)
		return testbed_err("map", err);
	/* Warp 3 takes a hole in the middle. */
	softgpu_unmap((struct softgpu_range){ memory + 3 * PAGE, PAGE });
	softgpu_program_init(&program);
	softgpu_get(&program, SGPU_OP_WARP, 1);
	softgpu_emit(&program,
		     (struct sgpu_insn){ .op = SGPU_OP_SHL, .rd = 2, .ra = 1, .imm = 12 });
	softgpu_add(&program, 2, 2, (uintptr_t)memory);
	softgpu_store(&program, 8, (struct softgpu_at){ .base = 2 }, 2);
	softgpu_load(&program, 8, 3, (struct softgpu_at){ .base = 2 });
	softgpu_expect(&program, 3, 2);
	softgpu_exit(&program);
	bad.warps = 8;
	why = basic_launch(softgpu, &bad, &wait);
	if (why == NULL && (wait.faulted != 1 || wait.exited != 7 || wait.misses != 0))
		why = testbed_why("%u faulted, %u exited, %llu misses", wait.faulted, wait.exited,
				  (unsigned long long)wait.misses);
	for (uint32_t warp = 0; warp < 8 && why == NULL; warp++) {
		uint64_t *at = (uint64_t *)(memory + warp * PAGE);

		if (warp != 3 && *(volatile uint64_t *)at != (uintptr_t)at)
			why = testbed_why("warp %u's word is not there", warp);
	}
	softgpu_unmap((struct softgpu_range){ memory, PAGES * PAGE });
	return why;
}

/* The program runs on a GPU and faults, at once and fatally; the report says where. */
static const char *faults_at(const struct softgpu *softgpu, uint32_t gpu, uint64_t nowhere)
{
	struct softgpu_launch launch = { .gpu = gpu, .warps = 1, .program = &program };
	struct sgpu_wait_args wait;
	struct sgpu_warp_report report;
	int err = softgpu_launch(softgpu, &launch);

	if (err != 0)
		return testbed_err("launch", err);
	err = softgpu_wait(softgpu, &launch, testbed_ms(BASIC_LAUNCH_MS), &wait);
	if (err == 0)
		err = softgpu_report(softgpu, &launch, 0, &report);
	softgpu_free(softgpu, &launch);
	if (err != 0)
		return testbed_err("wait", err);
	if (report.state != SGPU_WARP_FAULTED || wait.faulted != 1)
		return testbed_why("GPU %u: the warp is in state %u", gpu, report.state);
	if (report.fault_va / PAGE != nowhere / PAGE)
		return testbed_why("GPU %u says it faulted at %#llx", gpu,
				   (unsigned long long)report.fault_va);
	return report.pc == 0 ? NULL : "it went on after the fault";
}

/* An address that never was anything, from each GPU's view. */
static const char *run_unmapped(struct softgpu *softgpu)
{
	const uint64_t nowhere = 0x123456789000;
	const char *why = NULL;

	softgpu_program_init(&program);
	softgpu_load(&program, 4, 1, (struct softgpu_at){ .offset = nowhere });
	softgpu_exit(&program);
	for (uint32_t gpu = 0; gpu < softgpu->gpus && why == NULL; gpu++)
		why = faults_at(softgpu, gpu, nowhere);
	return why;
}

static const char *run_read_only(struct softgpu *softgpu)
{
	struct softgpu_launch launch = { .gpu = 0, .warps = 1, .program = &program };
	struct sgpu_wait_args wait;
	uint64_t *word;
	const char *why;
	int err = softgpu_map(softgpu, PAGE, (void **)&word);

	if (err != 0)
		return testbed_err("map", err);
	*word = 42;
	if (mprotect(word, PAGE, PROT_READ) != 0)
		return testbed_err("mprotect", -errno);
	softgpu_program_init(&program);
	softgpu_set(&program, 1, 42);
	softgpu_load(&program, 8, 2, softgpu_at(word));
	softgpu_expect(&program, 2, 1);
	softgpu_exit(&program);
	why = basic_run(softgpu, &program, 0, 1);
	softgpu_program_init(&program);
	softgpu_store(&program, 8, softgpu_at(word), SOFTGPU_ZERO);
	softgpu_exit(&program);
	if (why == NULL)
		why = basic_launch(softgpu, &launch, &wait);
	if (why == NULL && wait.faulted != 1)
		why = "a write to read-only memory did not fault";
	if (why == NULL && *(volatile uint64_t *)word != 42)
		why = "the write was done nevertheless";
	softgpu_unmap((struct softgpu_range){ word, PAGE });
	return why;
}

static void atomic_add(uint8_t width, const void *word, uint8_t rb)
{
	softgpu_emit(&program, (struct sgpu_insn){
				       .op = SGPU_OP_ATOMIC_ADD,
				       .width = width,
				       .rd = 4,
				       .ra = SOFTGPU_ZERO,
				       .rb = rb,
				       .imm = (uintptr_t)word,
			       });
}

/* All lanes of all warps of all GPUs, and the CPU at the same time. */
static const char *run_atomics(struct softgpu *softgpu)
{
	const uint64_t lanes = 16ull * SGPU_LANES * softgpu->gpus;
	struct softgpu_launch launches[SOFTGPU_GPUS_MAX];
	struct sgpu_wait_args wait = { .is_done = 0 };
	const char *why = NULL;
	uint64_t *words;
	int err = softgpu_map(softgpu, PAGE, (void **)&words);

	if (err != 0)
		return testbed_err("map", err);
	softgpu_program_init(&program);
	softgpu_set(&program, 1, 3);
	atomic_add(8, &words[0], 1);
	atomic_add(4, &words[1], 1);
	softgpu_exit(&program);
	for (uint32_t gpu = 0; gpu < softgpu->gpus && err == 0; gpu++) {
		launches[gpu] = (struct softgpu_launch){
			.gpu = gpu,
			.warps = 16,
			.program = &program,
		};
		err = softgpu_launch(softgpu, &launches[gpu]);
	}
	for (uint32_t i = 0; i < 1000; i++)
		__atomic_fetch_add(&words[0], 5, __ATOMIC_RELAXED);
	for (uint32_t gpu = 0; gpu < softgpu->gpus && err == 0; gpu++) {
		err = softgpu_wait(softgpu, &launches[gpu], testbed_ms(BASIC_LAUNCH_MS), &wait);
		softgpu_free(softgpu, &launches[gpu]);
		if (err == 0 && wait.exited != 16)
			why = testbed_why("%u of 16 warps of GPU %u exited", wait.exited, gpu);
	}
	if (err != 0)
		why = testbed_err("launch", err);
	if (why == NULL && words[0] != 3 * lanes + 5000)
		why = testbed_why("the sum is %llu, not %llu", (unsigned long long)words[0],
				  (unsigned long long)(3 * lanes + 5000));
	if (why == NULL && words[1] != 3 * lanes)
		why = testbed_why("the sum of 32 bits is %llu", (unsigned long long)words[1]);
	softgpu_unmap((struct softgpu_range){ words, PAGE });
	return why;
}

/* EXCH gives what was there, CAS stores only if it is what it must be. */
static const char *run_exchange(struct softgpu *softgpu)
{
	struct sgpu_insn exchange = {
		.op = SGPU_OP_ATOMIC_EXCH, .width = 8, .rd = 4, .rb = 2, .rc = 3, .lanes = 1
	};
	const char *why;
	uint64_t *word;
	int err = softgpu_map(softgpu, PAGE, (void **)&word);

	if (err != 0)
		return testbed_err("map", err);
	*word = 10;
	exchange.imm = (uintptr_t)word;
	softgpu_program_init(&program);
	softgpu_set(&program, 2, 20);
	softgpu_emit(&program, exchange);
	softgpu_set(&program, 3, 10);
	softgpu_emit(&program,
		     (struct sgpu_insn){ .op = SGPU_OP_EXPECT_EQ, .ra = 4, .rb = 3, .lanes = 1 });
	exchange.op = SGPU_OP_ATOMIC_CAS;
	softgpu_emit(&program, exchange); /* 10 is not there: nothing is stored */
	softgpu_emit(&program,
		     (struct sgpu_insn){ .op = SGPU_OP_EXPECT_EQ, .ra = 4, .rb = 2, .lanes = 1 });
	softgpu_set(&program, 3, 20);
	softgpu_set(&program, 2, 30);
	softgpu_emit(&program, exchange);
	softgpu_exit(&program);
	why = basic_run(softgpu, &program, 0, 1);
	if (why == NULL && *(volatile uint64_t *)word != 30)
		why = testbed_why("%llu in the end, not 30", (unsigned long long)*word);
	softgpu_unmap((struct softgpu_range){ word, PAGE });
	return why;
}

/* A launch that only asks for pages.  @mapped_out: for how many the GPU had a translation. */
static const char *prefetch_pages(const struct softgpu *softgpu, const void *memory,
				  uint64_t *mapped_out)
{
	struct sgpu_counters before, after;
	const char *why;
	int err = softgpu_counters(softgpu, 0, &before);

	softgpu_program_init(&program);
	lane_pages(memory, 0);
	softgpu_emit(&program, (struct sgpu_insn){ .op = SGPU_OP_PREFETCH, .ra = 2 });
	softgpu_exit(&program);
	why = basic_run(softgpu, &program, 0, 1);
	if (err == 0)
		err = softgpu_counters(softgpu, 0, &after);
	if (why != NULL || err != 0)
		return why != NULL ? why : testbed_err("counters", err);
	*mapped_out = after.prefetches - before.prefetches;
	return NULL;
}

/* Nothing waits for a prefetch, yet the page comes; one of no memory harms nobody. */
static const char *run_prefetch(struct softgpu *softgpu)
{
	const uint64_t end_ns = testbed_now_ns() + testbed_ms(BASIC_LAUNCH_MS) * 1000000ull;
	uint64_t *words, mapped = 0;
	const char *why = NULL;
	int err = softgpu_map(softgpu, SGPU_LANES * PAGE, (void **)&words);

	if (err != 0)
		return testbed_err("map", err);
	for (uint32_t page = 0; page < SGPU_LANES; page++)
		words[page * PAGE / 8] = 9;
	while (why == NULL && mapped < SGPU_LANES) {
		why = prefetch_pages(softgpu, words, &mapped);
		if (testbed_now_ns() > end_ns)
			why = testbed_why("%llu of %u pages came", (unsigned long long)mapped,
					  SGPU_LANES);
	}
	if (why == NULL)
		why = prefetch_pages(softgpu, (const void *)0x123456789000, &mapped);
	if (why == NULL && mapped != 0)
		why = "nowhere is mapped";
	if (why == NULL && words[0] != 9)
		why = "a page came back with another value";
	softgpu_unmap((struct softgpu_range){ words, SGPU_LANES * PAGE });
	return why;
}

/*
 * Of two warps one comes late to each barrier, the other has 0 in register 7.  Registers 2 and 3
 * are the places of the own word and the neighbour's.
 */
static void barrier_rounds(const void *words)
{
	for (uint64_t round = 1; round < 3; round++) {
		const uint32_t late = program.count + 2;

		softgpu_emit(&program, (struct sgpu_insn){
					       .op = SGPU_OP_JUMP_EQ,
					       .ra = 7,
					       .rb = SOFTGPU_ZERO,
					       .imm = late,
				       });
		softgpu_emit(&program, (struct sgpu_insn){ .op = SGPU_OP_COMPUTE, .imm = 5000 });
		softgpu_set(&program, 5, round);
		softgpu_store(&program, 8,
			      (struct softgpu_at){ .base = 2, .offset = (uintptr_t)words }, 5);
		softgpu_emit(&program, (struct sgpu_insn){ .op = SGPU_OP_BARRIER });
		softgpu_load(&program, 8, 6,
			     (struct softgpu_at){ .base = 3, .offset = (uintptr_t)words });
		softgpu_expect(&program, 6, 5);
		softgpu_emit(&program, (struct sgpu_insn){ .op = SGPU_OP_BARRIER });
	}
}

/* A neighbour's word after a barrier, twice, so that it is not the first by chance. */
static const char *run_barrier(struct softgpu *softgpu)
{
	struct softgpu_launch launch = {
		.gpu = 0, .warps = 64, .warps_per_block = 8, .program = &program
	};
	struct sgpu_wait_args wait;
	const char *why;
	uint64_t *words;
	int err = softgpu_map(softgpu, PAGE, (void **)&words);

	if (err != 0)
		return testbed_err("map", err);
	softgpu_program_init(&program);
	softgpu_get(&program, SGPU_OP_WARP, 1);
	/* r2 = own word's place, r3 = its neighbour's in the block. */
	softgpu_emit(&program, (struct sgpu_insn){ .op = SGPU_OP_SHL, .rd = 2, .ra = 1, .imm = 3 });
	softgpu_set(&program, 4, 8);
	softgpu_emit(&program, (struct sgpu_insn){ .op = SGPU_OP_XOR, .rd = 3, .ra = 2, .rb = 4 });
	softgpu_set(&program, 4, 1);
	softgpu_emit(&program, (struct sgpu_insn){ .op = SGPU_OP_AND, .rd = 7, .ra = 1, .rb = 4 });
	barrier_rounds(words);
	softgpu_exit(&program);
	why = basic_launch(softgpu, &launch, &wait);
	if (why == NULL && (wait.exited != 64 || wait.misses != 0))
		why = testbed_why("%u of 64 exited, %llu misses", wait.exited,
				  (unsigned long long)wait.misses);
	softgpu_unmap((struct softgpu_range){ words, PAGE });
	return why;
}

/* A loop over pages that all warps share, each with a word of its own in them. */
static const char *run_warps64(struct softgpu *softgpu)
{
	const uint32_t pages = 64;
	const char *why = NULL;
	uint8_t *memory;
	int err = softgpu_map(softgpu, pages * PAGE, (void **)&memory);
	uint32_t loop;

	if (err != 0)
		return testbed_err("map", err);
	for (uint32_t gpu = 0; gpu < softgpu->gpus && why == NULL; gpu++) {
		softgpu_program_init(&program);
		softgpu_get(&program, SGPU_OP_WARP, 1);
		softgpu_emit(&program,
			     (struct sgpu_insn){ .op = SGPU_OP_SHL, .rd = 2, .ra = 1, .imm = 3 });
		softgpu_add(&program, 2, 2, (uintptr_t)memory);
		softgpu_set(&program, 3, (uintptr_t)memory + pages * PAGE);
		loop = program.count;
		softgpu_load(&program, 8, 4, (struct softgpu_at){ .base = 2 });
		softgpu_add(&program, 4, 4, 1 + gpu);
		softgpu_emit(
			&program,
			(struct sgpu_insn){
				.op = SGPU_OP_STORE, .width = 8, .ra = 2, .rb = 4, .lanes = 1 });
		softgpu_add(&program, 2, 2, PAGE);
		softgpu_jump_less(&program, 2, 3, loop);
		softgpu_exit(&program);
		why = basic_run(softgpu, &program, gpu, 64);
	}
	for (uint32_t at = 0; at < pages * 64 && why == NULL; at++) {
		const uint64_t word = ((volatile uint64_t *)(memory + at / 64 * PAGE))[at % 64];

		if (word != (softgpu->gpus == 1 ? 1 : 3))
			why = testbed_why("page %u warp %u: %llu", at / 64, at % 64,
					  (unsigned long long)word);
	}
	softgpu_unmap((struct softgpu_range){ memory, pages * PAGE });
	return why;
}

/*
 * A page with copies on the CPU and on the GPU must be mapped to read, or a write changes one
 * copy alone.  uvm_migrate.c, block_migrate_map_unmapped_pages(), takes a page without mappings
 * for one without copies; patches/duplicate_fix.patch mends it.
 */
static const char *run_migrate_duplicate(struct softgpu *softgpu)
{
	static const enum softgpu_advice advice[] = { SOFTGPU_MIGRATE, SOFTGPU_DUPLICATE,
						      SOFTGPU_EVICT, SOFTGPU_MIGRATE };
	struct softgpu_range range = { .bytes = PAGE };
	const char *why = NULL;
	uint64_t *word;
	int err = softgpu_map(softgpu, PAGE, (void **)&word);

	if (err != 0)
		return testbed_err("map", err);
	*word = 5;
	range.start = word;
	/* A develop build's own check sees it too. */
	puts("expect-log Too many resident copies for pages");
	puts("expect-log Call Trace");
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]) && err == 0; i++)
		err = softgpu_advise(softgpu, advice[i], range, 0);
	if (err != 0)
		why = testbed_err("advice", err);
	if (why == NULL)
		why = increment(softgpu, word, 0, 5);
	if (why == NULL && *(volatile uint64_t *)word == 5)
		why = BASIC_KNOWN "the CPU's copy of a duplicated page is not what the GPU wrote";
	else if (why == NULL && *(volatile uint64_t *)word != 6)
		why = testbed_why("the word is %llu", (unsigned long long)*word);
	softgpu_unmap(range);
	return why;
}

static const char *run_misaligned(struct softgpu *softgpu)
{
	struct softgpu_launch launch = { .gpu = 0, .warps = 1, .program = &program };
	struct sgpu_wait_args wait;
	const char *why;
	uint8_t *memory;
	int err = softgpu_map(softgpu, PAGE, (void **)&memory);

	if (err != 0)
		return testbed_err("map", err);
	softgpu_program_init(&program);
	softgpu_load(&program, 8, 1, softgpu_at(memory + 4));
	softgpu_exit(&program);
	why = basic_launch(softgpu, &launch, &wait);
	if (why == NULL && wait.illegal != 1)
		why = "a misaligned load went through";
	softgpu_unmap((struct softgpu_range){ memory, PAGE });
	return why;
}

const struct basic_test basic_memory_tests[] = {
	{ "cpu_to_warp", 1, run_cpu_to_warp }, { "warp_to_cpu", 1, run_warp_to_cpu },
	{ "widths", 1, run_widths },           { "migration", 1, run_migration },
	{ "fatal_fault", 1, run_fatal },       { "unmapped_address", 1, run_unmapped },
	{ "read_only", 1, run_read_only },     { "atomics", 1, run_atomics },
	{ "exchange", 1, run_exchange },       { "prefetch", 1, run_prefetch },
	{ "barrier", 1, run_barrier },         { "warps64", 1, run_warps64 },
	{ "misaligned", 1, run_misaligned },   { "migrate_duplicate", 1, run_migrate_duplicate },
};
const size_t basic_memory_tests_count = sizeof(basic_memory_tests) / sizeof(basic_memory_tests[0]);

static void run_tests(struct softgpu *softgpu, const struct basic_test *tests, size_t count,
		      const char *only)
{
	for (size_t i = 0; i < count; i++) {
		const char *why;

		if (only != NULL && strcmp(only, tests[i].name) != 0)
			continue;
		testbed_begin(tests[i].name, LIMIT_MS);
		if (tests[i].gpus > softgpu->gpus) {
			testbed_skip("%u GPUs are needed", tests[i].gpus);
			continue;
		}
		why = tests[i].run(softgpu);
		if (why == NULL)
			testbed_ok();
		else if (strncmp(why, BASIC_KNOWN, strlen(BASIC_KNOWN)) == 0)
			testbed_skip("%s", why);
		else
			testbed_fail("%s", why);
	}
}

static int run(char **words)
{
	struct softgpu softgpu;
	uint64_t gpus = 0;
	int err;

	if (words[0] == NULL || !testbed_number(words[0], 1, SOFTGPU_GPUS_MAX, &gpus))
		return TESTBED_USAGE;
	testbed_begin("open", LIMIT_MS);
	err = softgpu_open(&softgpu, (uint32_t)gpus);
	if (err == 0 && gpus == 2)
		err = softgpu_set_peers(&softgpu, true);
	if (err != 0) {
		testbed_fail("%s, status %#x", strerror(-err), softgpu_status());
		return TESTBED_SETUP;
	}
	testbed_ok();
	run_tests(&softgpu, basic_memory_tests, basic_memory_tests_count, words[1]);
	run_tests(&softgpu, basic_lifecycle_tests, basic_lifecycle_tests_count, words[1]);
	testbed_begin("close", LIMIT_MS);
	err = softgpu_close(&softgpu);
	if (err != 0)
		testbed_fail("%s, status %#x", strerror(-err), softgpu_status());
	else
		testbed_ok();
	return testbed_failures() == 0 ? TESTBED_OK : TESTBED_FAILED;
}

const struct testbed_suite testbed_basic = {
	.name = "basic",
	.usage = "1|2 [NAME]: operations of warps, and processes that end at any time",
	.run = run,
};
