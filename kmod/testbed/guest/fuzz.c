/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Suite "fuzz": warps on the GPUs and threads of the CPU use one managed memory at random, as
 * fuzz_plan.h deals it out, while fuzz_mutate.h moves it about.  In rounds: all are planned and
 * started, all end, faults and misses are looked at; now and then a part of the memory is mapped
 * anew, and a part, in the end all of it, is compared with the oracle.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_mutate.h"
#include "fuzz_plan.h"
#include "fuzz_run.h"
#include "softgpu_user.h"
#include "testbed.h"

#define SETUP_MS 60000
#define MORE_MS 60000 /* over a round's limit: planning, and all of the CPU's faults */
#define LOOK_MS 100   /* from one look at waiting warps to the next */
#define THREAD_OPS_MOST 256
#define SAMPLES 128 /* words that the CPU looks at after a round */
#define WARP_OPS_MOST 256

/* What can be said on the command line, NAME=NUMBER. */
struct options {
	uint64_t seed, rounds, seconds; /* seconds 0: by rounds */
	uint64_t gpus, memory_mib, warps, threads, ops, thread_ops, mutations, limit_ms, stall_ms,
		remap, peers, kinds;
	uint64_t inject[SGPU_INJECT_COUNT];
};

struct option {
	const char *name;
	size_t at;
	uint64_t least, most;
};

#define OPTION(word, field, least_, most_)                                                \
	{                                                                                 \
		.name = (word), .at = offsetof(struct options, field), .least = (least_), \
		.most = (most_)                                                           \
	}
#define INJECT(word, kind, most_) OPTION(word, inject[kind], 0, most_)

static const struct option known[] = {
	OPTION("gpus", gpus, 1, SOFTGPU_GPUS_MAX),
	OPTION("memory", memory_mib, 1, 1024),
	OPTION("warps", warps, 1, FUZZ_WARPS_MAX),
	OPTION("threads", threads, 0, FUZZ_THREADS_MAX),
	OPTION("ops", ops, 1, WARP_OPS_MOST),
	OPTION("thread_ops", thread_ops, 0, THREAD_OPS_MOST),
	OPTION("mutations", mutations, 0, 100000),
	OPTION("limit_ms", limit_ms, 100, 600000),
	OPTION("stall_ms", stall_ms, LOOK_MS, 600000),
	OPTION("remap", remap, 0, 1),
	OPTION("peers", peers, 0, 1),
	OPTION("kinds", kinds, 1, (1u << FUZZ_MUTATIONS) - 1),
	INJECT("lost", SGPU_INJECT_INTERRUPT_LOST, 1000),
	INJECT("doubled", SGPU_INJECT_INTERRUPT_DOUBLED, 1000),
	INJECT("late_us", SGPU_INJECT_INTERRUPT_LATE, 1000000),
	INJECT("fault_limit", SGPU_INJECT_FAULT_LIMIT, UINT32_MAX),
	INJECT("slow_us", SGPU_INJECT_COPY_SLOW, 1000000),
	INJECT("replay_lost", SGPU_INJECT_REPLAY_LOST, 1000),
	INJECT("invalidate_lost", SGPU_INJECT_INVALIDATE_LOST, 1000),
	INJECT("repeated", SGPU_INJECT_FAULT_REPEATED, 1000),
	INJECT("replay_lost_at", SGPU_INJECT_REPLAY_LOST_AT, 1000000),
	INJECT("invalidate_lost_at", SGPU_INJECT_INVALIDATE_LOST_AT, 1000000),
};

/* What a warp did where in its program, for the message of a miss. */
struct warp {
	struct softgpu_launch launch;
	uint32_t ops;
	uint32_t ends[WARP_OPS_MOST]; /* the first instruction behind each */
	struct fuzz_op done[WARP_OPS_MOST];
};

struct thread {
	struct fuzz *fuzz; /* borrowed */
	pthread_t id;
	uint32_t ops;
	struct fuzz_op todo[THREAD_OPS_MOST];
	struct fuzz_miss miss;
};

struct fuzz {
	struct options options;
	char command[512]; /* that repeats it */
	struct softgpu softgpu;
	struct sgpu_counters before[SOFTGPU_GPUS_MAX]; /* the first round */
	struct softgpu_range memory;
	struct fuzz_plan plan;
	uint64_t random; /* of what main decides: checks, maps */
	struct fuzz_mutator mutator;
	pthread_t mutator_id;
	pthread_barrier_t begin, end; /* of a round: main, threads, mutator */
	bool is_over;                 /* written by main before begin, read behind it */
	struct thread threads[FUZZ_THREADS_MAX];
	struct warp warps[FUZZ_WARPS_MAX];
};

static uint8_t *bytes_of(const struct fuzz *fuzz)
{
	return fuzz->memory.start;
}

/* ---- the CPU's part ---------------------------------------------------------- */

static void *run_thread(void *user)
{
	struct thread *thread = user;
	struct fuzz *fuzz = thread->fuzz;

	for (;;) {
		pthread_barrier_wait(&fuzz->begin);
		if (fuzz->is_over)
			return NULL;
		for (uint32_t i = 0; i < thread->ops; i++)
			fuzz_cpu_op(&thread->todo[i], bytes_of(fuzz), &thread->miss);
		pthread_barrier_wait(&fuzz->end);
	}
}

static void *run_mutator(void *user)
{
	struct fuzz *fuzz = user;

	for (;;) {
		pthread_barrier_wait(&fuzz->begin);
		if (fuzz->is_over)
			return NULL;
		for (uint64_t i = 0; i < fuzz->options.mutations; i++)
			fuzz_mutate(&fuzz->mutator);
		pthread_barrier_wait(&fuzz->end);
	}
}

static int start_threads(struct fuzz *fuzz)
{
	const unsigned int parts = (unsigned int)fuzz->options.threads + 2;

	if (pthread_barrier_init(&fuzz->begin, NULL, parts) != 0 ||
	    pthread_barrier_init(&fuzz->end, NULL, parts) != 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < fuzz->options.threads; i++) {
		fuzz->threads[i].fuzz = fuzz;
		if (pthread_create(&fuzz->threads[i].id, NULL, run_thread, &fuzz->threads[i]) != 0)
			return -EAGAIN;
	}
	return pthread_create(&fuzz->mutator_id, NULL, run_mutator, fuzz) != 0 ? -EAGAIN : 0;
}

static void stop_threads(struct fuzz *fuzz)
{
	fuzz->is_over = true;
	pthread_barrier_wait(&fuzz->begin);
	for (uint64_t i = 0; i < fuzz->options.threads; i++)
		pthread_join(fuzz->threads[i].id, NULL);
	pthread_join(fuzz->mutator_id, NULL);
}

/* ---- the warps' part --------------------------------------------------------- */

static int launch_warp(struct fuzz *fuzz, uint32_t index)
{
	static struct softgpu_program program;
	struct warp *warp = &fuzz->warps[index];

	fuzz_warp_begin(&program);
	for (warp->ops = 0; warp->ops < fuzz->options.ops; warp->ops++) {
		if (!softgpu_program_has_room(&program, FUZZ_OP_INSNS))
			break;
		fuzz_plan_op(&fuzz->plan, index, &warp->done[warp->ops]);
		fuzz_warp_op(&program, &warp->done[warp->ops], (uintptr_t)fuzz->memory.start);
		warp->ends[warp->ops] = program.count;
	}
	softgpu_exit(&program);
	warp->launch = (struct softgpu_launch){
		.gpu = index % fuzz->softgpu.gpus,
		.warps = 1,
		.program = &program,
	};
	return softgpu_launch(&fuzz->softgpu, &warp->launch);
}

/* Which of a warp's accesses instruction @pc belongs to; NULL: none. */
static const struct fuzz_op *op_at(const struct warp *warp, uint32_t pc)
{
	for (uint32_t i = 0; i < warp->ops; i++) {
		if (pc < warp->ends[i])
			return &warp->done[i];
	}
	return NULL;
}

/* What control and check.sh take for what it is must be nothing else: only wrong memory is a
 * mismatch, and only what no longer moves is a hang. */
static const char *status_name(int status)
{
	if (status == TESTBED_HANG)
		return "hang";
	return status == TESTBED_MISMATCH ? "mismatch" : "error";
}

static int fail(const struct fuzz *fuzz, int status, const char *why)
{
	testbed_fail("%s: %s; round %llu; repeat: %s", status_name(status), why,
		     (unsigned long long)fuzz->plan.round, fuzz->command);
	return status;
}

static const char *op_why(const char *who, const struct fuzz_op *op, uint32_t lane)
{
	const uint64_t at = op->at + lane * op->stride;

	return testbed_why("%s, %s of %u bytes at page %llu + %#llx", who, fuzz_kind_name(op->kind),
			   op->width, (unsigned long long)(at / 4096),
			   (unsigned long long)(at % 4096));
}

static int explain_warp(const struct fuzz *fuzz, uint32_t index, const struct sgpu_wait_args *wait)
{
	const struct warp *warp = &fuzz->warps[index];
	struct sgpu_warp_report report = { .state = 0 };
	const bool is_miss = wait->is_done && wait->exited == 1;
	const struct fuzz_op *op;
	char what[200] = "it began", who[64];

	softgpu_report(&fuzz->softgpu, &warp->launch, 0, &report);
	op = op_at(warp, is_miss ? report.miss_pc : report.pc);
	snprintf(who, sizeof(who), "warp %u of GPU %u", index, warp->launch.gpu);
	if (op != NULL)
		snprintf(what, sizeof(what), "%s", op_why(who, op, report.miss_lane));
	if (is_miss)
		return fail(fuzz, TESTBED_MISMATCH,
			    testbed_why("%s: %#llx against %#llx", what,
					(unsigned long long)report.miss_got,
					(unsigned long long)report.miss_want));
	if (wait->is_done)
		return fail(fuzz, TESTBED_FAILED,
			    testbed_why("%s: the warp ended in state %u, last fault at %#llx", what,
					report.state, (unsigned long long)report.fault_va));
	return fail(fuzz, TESTBED_HANG,
		    testbed_why("%s: the warp is in state %u, last fault at %#llx", what,
				report.state, (unsigned long long)report.fault_va));
}

/*
 * A round that is slow does not hang: the machine may be as slow as it likes.  It hangs when the
 * GPUs have done nothing for so many looks; looks and not seconds, as a guest that was not run
 * for a while has had no time to do something.
 */
struct pace {
	uint64_t work;   /* of all GPUs, at the last look */
	uint64_t looks;  /* since it was another */
	uint64_t end_ns; /* for work without end */
};

/* What GPUs do for warps, and what the driver has them do. */
static uint64_t work_done(const struct fuzz *fuzz)
{
	uint64_t work = 0;

	for (uint32_t gpu = 0; gpu < fuzz->softgpu.gpus; gpu++) {
		struct sgpu_counters counters;

		if (softgpu_counters(&fuzz->softgpu, gpu, &counters) == 0)
			work += counters.instructions + counters.replays + counters.pushes;
	}
	return work;
}

/* Return: whether they still do something. */
static bool goes_on(const struct fuzz *fuzz, struct pace *pace)
{
	const uint64_t work = work_done(fuzz);

	pace->looks = work == pace->work ? pace->looks + 1 : 0;
	pace->work = work;
	return pace->looks * LOOK_MS < testbed_ms((uint32_t)fuzz->options.stall_ms);
}

/* Return: enum testbed_exit. */
static int wait_warp(const struct fuzz *fuzz, uint32_t index, struct pace *pace)
{
	struct sgpu_wait_args wait = { .is_done = 0 };

	for (;;) {
		const int err =
			softgpu_wait(&fuzz->softgpu, &fuzz->warps[index].launch, LOOK_MS, &wait);

		if (err != 0)
			return fail(fuzz, TESTBED_FAILED, strerror(-err));
		if (wait.is_done || !goes_on(fuzz, pace))
			break;
		if (testbed_now_ns() > pace->end_ns)
			return fail(fuzz, TESTBED_FAILED, "GPUs work, and warps do not end");
	}
	if (wait.is_done && wait.exited == 1 && wait.misses == 0)
		return TESTBED_OK;
	return explain_warp(fuzz, index, &wait);
}

/* Return: enum testbed_exit. */
static int wait_warps(const struct fuzz *fuzz)
{
	struct pace pace = { .end_ns = testbed_now_ns() +
				       testbed_ms((uint32_t)fuzz->options.limit_ms) * 1000000ull };
	int status = TESTBED_OK;

	for (uint32_t i = 0; i < fuzz->options.warps && status == TESTBED_OK; i++)
		status = wait_warp(fuzz, i, &pace);
	return status;
}

static void free_warps(struct fuzz *fuzz)
{
	for (uint32_t i = 0; i < fuzz->options.warps; i++)
		softgpu_free(&fuzz->softgpu, &fuzz->warps[i].launch);
}

/* ---- rounds ------------------------------------------------------------------- */

static int check_cpu(const struct fuzz *fuzz)
{
	for (uint64_t i = 0; i < fuzz->options.threads; i++) {
		const struct fuzz_miss *miss = &fuzz->threads[i].miss;
		char what[200];

		if (!miss->is_there)
			continue;
		snprintf(what, sizeof(what), "%s", op_why("the CPU", &miss->op, miss->lane));
		return fail(fuzz, TESTBED_MISMATCH,
			    testbed_why("%s: %#llx, wanted %#llx", what,
					(unsigned long long)miss->got,
					(unsigned long long)miss->want));
	}
	if (fuzz->mutator.err != 0)
		return fail(fuzz, TESTBED_FAILED,
			    testbed_why("%s: %s, status %#x", fuzz->mutator.what,
					strerror(-fuzz->mutator.err), fuzz->mutator.status));
	return TESTBED_OK;
}

/* The CPU reads words and compares them with the oracle. */
static int check_memory(const struct fuzz *fuzz, uint64_t first, uint64_t count)
{
	const volatile uint64_t *words = fuzz->memory.start;

	for (uint64_t index = first; index < first + count; index++) {
		const uint64_t want = fuzz_plan_expected(&fuzz->plan, index);
		const uint64_t got = words[index];

		if (got != want)
			return fail(fuzz, TESTBED_MISMATCH,
				    testbed_why("memory between rounds, page %llu word %llu class "
						"%llu: %#llx, wanted %#llx",
						(unsigned long long)(index / 512),
						(unsigned long long)(index % 512),
						(unsigned long long)(index % FUZZ_CLASSES),
						(unsigned long long)got, (unsigned long long)want));
	}
	return TESTBED_OK;
}

static void write_constants(const struct fuzz *fuzz, uint64_t at, uint64_t bytes)
{
	volatile uint64_t *words = fuzz->memory.start;

	for (uint64_t index = at / 8; index < (at + bytes) / 8; index++) {
		if (fuzz_is_constant(index))
			words[index] = fuzz_constant(index);
	}
}

/* A part of the memory goes and comes back empty; all of it at times, so that it is in one piece
 * again. */
static int remap(struct fuzz *fuzz)
{
	struct softgpu_range range = fuzz_range(&fuzz->mutator, &fuzz->random);
	uint64_t at;
	int err;

	if (testbed_random(&fuzz->random) % 8 == 0)
		range = fuzz->memory;
	at = (uint64_t)((uint8_t *)range.start - bytes_of(fuzz));
	err = softgpu_unmap(range);
	if (err == 0)
		err = softgpu_map_at(&fuzz->softgpu, range);
	if (err != 0)
		return fail(fuzz, TESTBED_FAILED, testbed_why("remap: %s", strerror(-err)));
	fuzz_plan_forget(&fuzz->plan, at, range.bytes);
	write_constants(fuzz, at, range.bytes);
	return TESTBED_OK;
}

static int between_rounds(struct fuzz *fuzz)
{
	int status = TESTBED_OK;
	uint64_t index;

	for (uint32_t i = 0; i < SAMPLES && status == TESTBED_OK; i++) {
		if (fuzz_plan_sample(&fuzz->plan, &index))
			status = check_memory(fuzz, index, 1);
	}
	if (status == TESTBED_OK && fuzz->options.remap && testbed_random(&fuzz->random) % 3 == 0)
		status = remap(fuzz);
	fuzz_plan_round(&fuzz->plan);
	return status;
}

static int run_round(struct fuzz *fuzz)
{
	int status;

	for (uint64_t i = 0; i < fuzz->options.threads; i++) {
		struct thread *thread = &fuzz->threads[i];

		for (thread->ops = 0; thread->ops < fuzz->options.thread_ops; thread->ops++)
			fuzz_plan_op(&fuzz->plan, FUZZ_WARPS_MAX + (uint32_t)i,
				     &thread->todo[thread->ops]);
	}
	pthread_barrier_wait(&fuzz->begin);
	for (uint32_t i = 0; i < fuzz->options.warps; i++) {
		int err = launch_warp(fuzz, i);

		if (err != 0)
			return fail(fuzz, TESTBED_FAILED,
				    testbed_why("launch: %s", strerror(-err)));
	}
	status = wait_warps(fuzz);
	/* After a hang threads may never come back.  What waits is ended now: a channel with
	 * faults that nobody serves is slow to stop. */
	if (status != TESTBED_HANG)
		pthread_barrier_wait(&fuzz->end);
	free_warps(fuzz);
	return status != TESTBED_OK ? status : check_cpu(fuzz);
}

static int run_rounds(struct fuzz *fuzz)
{
	const uint64_t end_ns = testbed_now_ns() + fuzz->options.seconds * 1000000000;
	int status = TESTBED_OK;

	while (status == TESTBED_OK) {
		const bool is_over = fuzz->options.seconds != 0
					     ? testbed_now_ns() >= end_ns
					     : fuzz->plan.round > fuzz->options.rounds;

		if (is_over)
			break;
		testbed_begin("random", (uint32_t)fuzz->options.limit_ms + MORE_MS);
		status = run_round(fuzz);
		if (status == TESTBED_OK)
			status = between_rounds(fuzz);
	}
	if (status == TESTBED_OK)
		status = check_memory(fuzz, 0, fuzz->memory.bytes / 8);
	return status;
}

/* ---- the command --------------------------------------------------------------- */

static void inject(const struct fuzz *fuzz, bool is_on)
{
	for (uint32_t gpu = 0; gpu < fuzz->softgpu.gpus; gpu++) {
		for (uint32_t kind = 0; kind < SGPU_INJECT_COUNT; kind++) {
			const uint64_t value = fuzz->options.inject[kind];

			if (value != 0)
				softgpu_inject(&fuzz->softgpu, gpu, (enum sgpu_inject_kind)kind,
					       is_on ? (uint32_t)value : 0);
		}
	}
}

/* A GPU's counters since the begin. */
static int count(const struct fuzz *fuzz, uint32_t gpu, struct sgpu_counters *counters_out)
{
	const uint64_t *before = (const uint64_t *)(const void *)&fuzz->before[gpu];
	uint64_t *now = (uint64_t *)(void *)counters_out;
	int err = softgpu_counters(&fuzz->softgpu, gpu, counters_out);

	/* All that is in there is numbers of 64 bits. */
	for (size_t i = 0; i < sizeof(*counters_out) / sizeof(*now) && err == 0; i++)
		now[i] -= before[i];
	return err;
}

/* How often GPUs misbehaved in one way. */
static uint64_t times_injected(const struct sgpu_counters *counters, uint32_t kind)
{
	return kind == SGPU_INJECT_FAULT_LIMIT ? counters->overflows : counters->injected[kind];
}

/* The name of what was to be injected and never was; NULL: there is none. */
static const char *not_injected(const struct fuzz *fuzz, const uint64_t *injected)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		for (uint32_t kind = 0; kind < SGPU_INJECT_COUNT; kind++) {
			if (known[i].at == offsetof(struct options, inject[kind]) &&
			    fuzz->options.inject[kind] != 0 && injected[kind] == 0)
				return known[i].name;
		}
	}
	return NULL;
}

/*
 * What came of it, for people.  A fuzz without faults would prove nothing, nor does one whose GPUs
 * behaved as always where they were not to: it has failed, however it ended.
 */
static int summary(const struct fuzz *fuzz, int status)
{
	uint64_t faults = 0, injected[SGPU_INJECT_COUNT] = { 0 };
	const char *missing;

	for (uint32_t gpu = 0; gpu < fuzz->softgpu.gpus; gpu++) {
		struct sgpu_counters counters;

		if (count(fuzz, gpu, &counters) != 0)
			return TESTBED_FAILED;
		faults += counters.faults;
		for (uint32_t kind = 0; kind < SGPU_INJECT_COUNT; kind++)
			injected[kind] += times_injected(&counters, kind);
		printf("GPU %u: %llu faults, %llu dropped, %llu overflows, %llu replays, "
		       "%llu copies, %llu invalidates, %llu loads, %llu stores, %llu atomics\n",
		       gpu, (unsigned long long)counters.faults,
		       (unsigned long long)counters.faults_dropped,
		       (unsigned long long)counters.overflows, (unsigned long long)counters.replays,
		       (unsigned long long)counters.copies,
		       (unsigned long long)counters.invalidates, (unsigned long long)counters.loads,
		       (unsigned long long)counters.stores, (unsigned long long)counters.atomics);
	}
	printf("%llu rounds, %llu mutations\n", (unsigned long long)fuzz->plan.round - 1,
	       (unsigned long long)fuzz->mutator.done);
	missing = not_injected(fuzz, injected);
	if (status == TESTBED_OK && faults == 0)
		return fail(fuzz, TESTBED_FAILED, "no warp ever faulted");
	if (status == TESTBED_OK && missing != NULL)
		return fail(fuzz, TESTBED_FAILED, testbed_why("%s never happened", missing));
	if (missing != NULL)
		printf("%s never happened: it failed by something else\n", missing);
	return missing != NULL ? TESTBED_FAILED : status;
}

/*
 * nvidia-uvm 535.261.03 loses writes where a page lies on the CPU without a mapping, as it does
 * after an eviction or a migration of its range group, and is then migrated to a GPU as a
 * duplicate: see basic/migrate_duplicate.  So evictions and duplicates take turns by the seed.
 */
static uint64_t default_kinds(uint64_t seed)
{
	const uint64_t all = (1u << FUZZ_MUTATIONS) - 1;

	if (seed % 2 != 0)
		return all & ~(1u << SOFTGPU_DUPLICATE);
	return all & ~(1u << SOFTGPU_EVICT | 1u << FUZZ_MIGRATE_GROUP);
}

static int set_up(struct fuzz *fuzz)
{
	const struct options *options = &fuzz->options;
	const struct fuzz_plan_params params = {
		.bytes = options->memory_mib << 20,
		.seed = options->seed,
		.warps = (uint32_t)options->warps,
		.threads = (uint32_t)options->threads,
	};
	int err = softgpu_open(&fuzz->softgpu, (uint32_t)options->gpus);

	if (err == 0 && options->gpus == 2 && options->peers)
		err = softgpu_set_peers(&fuzz->softgpu, true);
	if (err != 0)
		return err;
	fuzz->memory.bytes = params.bytes;
	for (uint32_t gpu = 0; gpu < fuzz->softgpu.gpus && err == 0; gpu++)
		err = softgpu_counters(&fuzz->softgpu, gpu, &fuzz->before[gpu]);
	if (err != 0)
		return err;
	err = softgpu_map(&fuzz->softgpu, fuzz->memory.bytes, &fuzz->memory.start);
	if (err == 0)
		err = fuzz_plan_create(&fuzz->plan, &params);
	if (err == 0)
		err = fuzz_mutator_init(&fuzz->mutator, &fuzz->softgpu, fuzz->memory,
					options->seed);
	fuzz->mutator.kinds = options->kinds != 0 ? options->kinds : default_kinds(options->seed);
	fuzz->random = (options->seed + 7) * 0x9e3779b97f4a7c15ull | 1;
	if (err != 0)
		return err;
	write_constants(fuzz, 0, fuzz->memory.bytes);
	return start_threads(fuzz);
}

static int run_fuzz(struct fuzz *fuzz)
{
	bool is_well;
	int status, err;

	printf("%s\n", fuzz->command);
	testbed_begin("random", SETUP_MS);
	err = set_up(fuzz);
	if (err != 0) {
		testbed_fail("setup: %s, status %#x", strerror(-err), softgpu_status());
		return TESTBED_SETUP;
	}
	inject(fuzz, true);
	status = run_rounds(fuzz);
	inject(fuzz, false);
	is_well = status == TESTBED_OK;
	status = summary(fuzz, status);
	/* The process ends, and with it all that hangs. */
	if (!is_well)
		return status;
	stop_threads(fuzz);
	softgpu_unmap(fuzz->memory);
	err = softgpu_close(&fuzz->softgpu);
	if (status == TESTBED_OK && err != 0)
		status = fail(fuzz, TESTBED_FAILED, testbed_why("close: %s", strerror(-err)));
	if (status == TESTBED_OK)
		testbed_ok();
	fuzz_plan_destroy(&fuzz->plan);
	return status;
}

static bool parse_option(struct options *options, const char *word)
{
	const size_t length = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint64_t *field = (uint64_t *)(void *)((uint8_t *)options + known[i].at);

		if (strlen(known[i].name) == length && word[length] == '=' &&
		    strncmp(known[i].name, word, length) == 0)
			return testbed_number(word + length + 1, known[i].least, known[i].most,
					      field);
	}
	return false;
}

/* ROUNDS or SECONDSs, SEED, NAME=NUMBER...  Return: whether it is that. */
static bool parse(struct fuzz *fuzz, char **words)
{
	struct options *options = &fuzz->options;
	uint64_t amount = 0;
	char number[24];
	size_t length;

	if (words[0] == NULL || words[1] == NULL)
		return false;
	length = strlen(words[0]);
	if (length == 0 || length >= sizeof(number))
		return false;
	memcpy(number, words[0], length + 1);
	if (number[length - 1] == 's')
		number[length - 1] = 0;
	if (!testbed_number(number, 1, 1000000, &amount) ||
	    !testbed_number(words[1], 0, UINT64_MAX, &options->seed))
		return false;
	if (words[0][length - 1] == 's')
		options->seconds = amount;
	else
		options->rounds = amount;
	snprintf(fuzz->command, sizeof(fuzz->command), "testbed fuzz");
	for (char **word = words; *word != NULL; word++) {
		const size_t used = strlen(fuzz->command);

		if (word >= words + 2 && !parse_option(options, *word))
			return false;
		snprintf(fuzz->command + used, sizeof(fuzz->command) - used, " %s", *word);
	}
	return (options->memory_mib & (options->memory_mib - 1)) == 0;
}

static int run(char **words)
{
	struct fuzz *fuzz = calloc(1, sizeof(*fuzz));
	int status;

	if (fuzz == NULL)
		return TESTBED_SETUP;
	fuzz->options = (struct options){
		.gpus = 2,
		.memory_mib = 4,
		.warps = 64,
		.threads = 2,
		.ops = 16,
		.thread_ops = 12,
		.mutations = 40,
		.limit_ms = 90000,
		.stall_ms = 10000,
		.remap = 1,
		.peers = 1,
	};
	status = parse(fuzz, words) ? run_fuzz(fuzz) : TESTBED_USAGE;
	if (status == TESTBED_OK || status == TESTBED_USAGE)
		free(fuzz);
	return status;
}

const struct testbed_suite testbed_fuzz = {
	.name = "fuzz",
	.usage = "ROUNDS|SECONDSs SEED [gpus=2 memory=4 warps=64 threads=2 ops=16 thread_ops=12 "
		 "mutations=40 limit_ms=90000 stall_ms=10000 remap=1 peers=1 kinds=, injected: "
		 "lost= doubled= late_us= fault_limit= slow_us= replay_lost= replay_lost_at= "
		 "invalidate_lost= invalidate_lost_at= repeated=]",
	.run = run,
};
