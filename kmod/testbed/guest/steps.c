/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Suite "steps": what the fuzz does, one thing at a time.  Sequences of random steps, each on
 * fresh memory and each step ended before the next begins, short ones first; so a failure is the
 * shortest that was met, and it happens again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu_user.h"
#include "testbed.h"

#define PAGE 4096u
#define PAGES 32 /* 128 KiB: two pages of 64 KiB */
#define STEPS_MOST 64
#define WAIT_MS 20000
#define LIMIT_MS 60000
#define STEPS_FIRST 4

enum step_kind {
	STEP_CPU_READ = SOFTGPU_ADVICE_COUNT, /* below: advice */
	STEP_CPU_WRITE,
	STEP_GPU_READ,
	STEP_GPU_WRITE,
	STEP_KINDS
};

struct step {
	uint32_t kind;         /* enum softgpu_advice or step_kind */
	uint32_t first, count; /* pages */
	uint32_t where;
	uint64_t value; /* that a write stores */
};

struct steps {
	struct softgpu softgpu;
	uint8_t *memory;
	uint64_t random, kinds;
	uint64_t want[PAGES]; /* the first word of each page */
	struct step steps[STEPS_MOST];
};

static const char *const names[STEP_KINDS] = {
	"migrate", "prefer", "prefer none", "accessed by", "not accessed by", "duplicate",
	"split",   "evict",  "CPU read",    "CPU write",   "GPU read",        "GPU write",
};

static uint64_t below(struct steps *steps, uint64_t bound)
{
	return testbed_random(&steps->random) % bound;
}

static void choose(struct steps *steps, struct step *step)
{
	do {
		step->kind = (uint32_t)below(steps, STEP_KINDS);
	} while ((steps->kinds >> step->kind & 1) == 0);
	step->first = (uint32_t)below(steps, PAGES);
	step->count = (uint32_t)below(steps, 1ull << below(steps, 6)) + 1;
	if (step->count > PAGES - step->first)
		step->count = PAGES - step->first;
	/* Half of all: the whole. */
	if (below(steps, 2) == 0)
		step->first = 0, step->count = PAGES;
	step->where = (uint32_t)below(steps, steps->softgpu.gpus + 1);
	if (step->where == steps->softgpu.gpus)
		step->where = SOFTGPU_CPU;
	if ((step->kind == SOFTGPU_EVICT || step->kind >= STEP_GPU_READ) &&
	    step->where == SOFTGPU_CPU)
		step->where = 0;
	step->value = testbed_random(&steps->random) | 1;
}

/* Lane l takes page first + l, and only those that there are. */
static void program_pages(struct softgpu_program *program, const struct steps *steps,
			  const struct step *step)
{
	const uint32_t lanes = step->count == 32 ? UINT32_MAX : (1u << step->count) - 1;
	struct sgpu_insn access = { .width = 8, .rd = 4, .ra = 2, .rb = 3, .lanes = lanes };

	softgpu_program_init(program);
	softgpu_get(program, SGPU_OP_LANE, 1);
	softgpu_emit(program, (struct sgpu_insn){ .op = SGPU_OP_SHL, .rd = 2, .ra = 1, .imm = 12 });
	softgpu_add(program, 2, 2, (uintptr_t)steps->memory + step->first * PAGE);
	if (step->kind == STEP_GPU_WRITE) {
		access.op = SGPU_OP_STORE;
		softgpu_add(program, 3, 1, step->value);
		softgpu_emit(program, access);
	} else {
		access.op = SGPU_OP_LOAD;
		softgpu_emit(program, access);
		for (uint32_t i = 0; i < step->count; i++) {
			softgpu_set(program, 5, steps->want[step->first + i]);
			softgpu_emit(program, (struct sgpu_insn){ .op = SGPU_OP_EXPECT_EQ,
								  .ra = 4,
								  .rb = 5,
								  .lanes = 1u << i });
		}
	}
	softgpu_exit(program);
}

static const char *run_warp(struct steps *steps, const struct step *step)
{
	static struct softgpu_program program;
	struct softgpu_launch launch = { .gpu = step->where, .warps = 1, .program = &program };
	struct sgpu_warp_report report;
	struct sgpu_wait_args wait = { .is_done = 0 };
	int err;

	program_pages(&program, steps, step);
	err = softgpu_launch(&steps->softgpu, &launch);
	if (err != 0)
		return testbed_why("launch: %s", strerror(-err));
	err = softgpu_wait(&steps->softgpu, &launch, testbed_ms(WAIT_MS), &wait);
	softgpu_report(&steps->softgpu, &launch, 0, &report);
	softgpu_free(&steps->softgpu, &launch);
	if (err != 0 || !wait.is_done)
		return "hang: the warp did not end";
	if (wait.exited != 1)
		return testbed_why("the warp ended in state %u", report.state);
	if (wait.misses != 0)
		return testbed_why("the GPU reads %#llx at page %u, not %#llx",
				   (unsigned long long)report.miss_got,
				   step->first + report.miss_lane,
				   (unsigned long long)report.miss_want);
	return NULL;
}

static const char *run_cpu(struct steps *steps, const struct step *step)
{
	for (uint32_t i = 0; i < step->count; i++) {
		volatile uint64_t *word =
			(volatile uint64_t *)(void *)(steps->memory + (step->first + i) * PAGE);

		if (step->kind == STEP_CPU_WRITE)
			*word = step->value + i;
		else if (*word != steps->want[step->first + i])
			return testbed_why("the CPU reads %#llx at page %u, not %#llx",
					   (unsigned long long)*word, step->first + i,
					   (unsigned long long)steps->want[step->first + i]);
	}
	return NULL;
}

static const char *run_step(struct steps *steps, const struct step *step)
{
	const struct softgpu_range range = { steps->memory + step->first * PAGE,
					     step->count * PAGE };
	const char *why = NULL;

	if (step->kind < SOFTGPU_ADVICE_COUNT) {
		const int err = softgpu_advise(&steps->softgpu, (enum softgpu_advice)step->kind,
					       range, step->where);

		return err != 0 ? testbed_why("%s, status %#x", strerror(-err), softgpu_status())
				: NULL;
	}
	if (step->kind == STEP_GPU_READ || step->kind == STEP_GPU_WRITE)
		why = run_warp(steps, step);
	else
		why = run_cpu(steps, step);
	if (step->kind != STEP_GPU_WRITE && step->kind != STEP_CPU_WRITE)
		return why;
	for (uint32_t i = 0; i < step->count; i++)
		steps->want[step->first + i] = step->value + i;
	return why;
}

static void print_steps(const struct steps *steps, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct step *step = &steps->steps[i];
		const bool has_where = step->kind <= SOFTGPU_ACCESSED_BY_NOT ||
				       step->kind == SOFTGPU_EVICT || step->kind >= STEP_GPU_READ;

		printf("  step %u: %s, pages %u to %u", i, names[step->kind], step->first,
		       step->first + step->count - 1);
		if (has_where && step->where == SOFTGPU_CPU)
			printf(", CPU");
		else if (has_where)
			printf(", GPU %u", step->where);
		printf("\n");
	}
}

/* One sequence on fresh memory.  Return: why it failed, or NULL. */
static const char *run_sequence(struct steps *steps, uint32_t count)
{
	const struct step all = { .kind = STEP_CPU_READ, .count = PAGES };
	const char *why = NULL;
	uint32_t done = 0;
	int err = softgpu_map(&steps->softgpu, PAGES * PAGE, (void **)&steps->memory);

	if (err != 0)
		return testbed_why("map: %s", strerror(-err));
	memset(steps->want, 0, sizeof(steps->want));
	for (; done < count && why == NULL; done++) {
		choose(steps, &steps->steps[done]);
		why = run_step(steps, &steps->steps[done]);
	}
	if (why == NULL)
		why = run_step(steps, &all);
	if (why != NULL)
		print_steps(steps, done);
	softgpu_unmap((struct softgpu_range){ steps->memory, PAGES * PAGE });
	return why;
}

static int run(char **words)
{
	uint64_t sequences = 0, seed = 0, gpus = 2, kinds = (1u << STEP_KINDS) - 1;
	struct steps *steps = calloc(1, sizeof(*steps));
	const char *why = NULL;
	int err;

	if (steps == NULL)
		return TESTBED_SETUP;
	if (words[0] == NULL || words[1] == NULL ||
	    !testbed_number(words[0], 1, 1000000, &sequences) ||
	    !testbed_number(words[1], 0, UINT64_MAX, &seed) ||
	    (words[2] != NULL && (!testbed_number(words[2], 1, SOFTGPU_GPUS_MAX, &gpus) ||
				  !testbed_number(words[3], 1, kinds, &kinds))))
		return TESTBED_USAGE;
	testbed_begin("sequences", LIMIT_MS);
	steps->random = (seed + 1) * 0x9e3779b97f4a7c15ull | 1;
	steps->kinds = kinds;
	err = softgpu_open(&steps->softgpu, (uint32_t)gpus);
	if (err == 0 && gpus == 2)
		err = softgpu_set_peers(&steps->softgpu, true);
	if (err != 0) {
		testbed_fail("open: %s", strerror(-err));
		return TESTBED_SETUP;
	}
	for (uint64_t i = 0; i < sequences && why == NULL; i++) {
		testbed_begin("sequences", LIMIT_MS);
		why = run_sequence(steps, STEPS_FIRST + (uint32_t)(i * (STEPS_MOST - STEPS_FIRST) /
								   sequences));
	}
	if (why != NULL)
		testbed_fail("%s; repeat: testbed steps %llu %llu %llu %llu", why,
			     (unsigned long long)sequences, (unsigned long long)seed,
			     (unsigned long long)gpus, (unsigned long long)kinds);
	else
		testbed_ok();
	err = softgpu_close(&steps->softgpu);
	free(steps);
	if (why != NULL)
		return TESTBED_MISMATCH;
	return err != 0 ? TESTBED_FAILED : TESTBED_OK;
}

const struct testbed_suite testbed_steps = {
	.name = "steps",
	.usage = "SEQUENCES SEED [GPUS [KINDS]]: what the fuzz does, one thing at a time",
	.run = run,
};
