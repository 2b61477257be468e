/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "basic.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u
#define BOUND_MS 20000   /* for a process to go away */
#define STALLED_MS 10000 /* for warps to come to their fault */
#define WARPS 16
#define ALWAYS 1000 /* of 1,000 */

/* Without end; @memory NULL: without memory either. */
static void program_forever(struct softgpu_program *program, const void *memory)
{
	softgpu_program_init(program);
	if (memory != NULL)
		softgpu_load(program, 8, 1, softgpu_at(memory));
	softgpu_emit(program, (struct sgpu_insn){ .op = SGPU_OP_JUMP, .imm = 0 });
}

/* Whether the first warp of a launch comes to be in @state within its time. */
static bool comes_to(const struct softgpu *softgpu, const struct softgpu_launch *launch,
		     uint32_t state)
{
	const uint64_t end_ns = testbed_now_ns() + testbed_ms(STALLED_MS) * 1000000ull;
	struct sgpu_warp_report report;
	struct sgpu_wait_args wait;

	do {
		if (softgpu_report(softgpu, launch, 0, &report) != 0)
			return false;
		/* A turn within its instruction counts as running. */
		if (report.state == state)
			return true;
		if (softgpu_wait(softgpu, launch, 10, &wait) != 0 || wait.is_done)
			return false;
	} while (testbed_now_ns() < end_ns);
	return false;
}

/* A good launch on each GPU: they are as before. */
static const char *still_works(const struct softgpu *softgpu)
{
	static struct softgpu_program program;
	const char *why = NULL;
	uint64_t *word;
	int err = softgpu_map(softgpu, PAGE, (void **)&word);

	if (err != 0)
		return testbed_err("map", err);
	for (uint32_t gpu = 0; gpu < softgpu->gpus && why == NULL; gpu++) {
		softgpu_program_init(&program);
		softgpu_set(&program, 1, 7 + gpu);
		softgpu_store(&program, 8, softgpu_at(word), 1);
		softgpu_exit(&program);
		why = basic_run(softgpu, &program, gpu, 1);
		if (why == NULL && *(volatile uint64_t *)word != 7 + gpu)
			why = testbed_why("GPU %u writes nowhere", gpu);
	}
	softgpu_unmap((struct softgpu_range){ word, PAGE });
	return why;
}

/* What a process that is going to be killed does. */
struct victim {
	uint32_t gpus;
	bool is_stalled; /* its warps wait for a replay that never comes, else they run */
};

/* In the child: says over @ready that its warps are where they are to be, then waits. */
static void be_victim(const struct victim *victim, int ready)
{
	static struct softgpu_program program;
	const uint32_t state = victim->is_stalled ? SGPU_WARP_STALLED : SGPU_WARP_READY;
	struct softgpu own;
	uint8_t *memory;
	char is_ready = 'y';

	if (softgpu_open(&own, victim->gpus) != 0 || softgpu_map(&own, PAGE, (void **)&memory) != 0)
		_exit(1);
	program_forever(&program, victim->is_stalled ? memory : NULL);
	for (uint32_t gpu = 0; gpu < victim->gpus; gpu++) {
		struct softgpu_launch launch = { .gpu = gpu, .warps = WARPS, .program = &program };

		if (softgpu_launch(&own, &launch) != 0 || !comes_to(&own, &launch, state))
			is_ready = 'n';
	}
	if (write(ready, &is_ready, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Return: whether @child is gone within the bound. */
static bool is_reaped(pid_t child)
{
	const uint64_t end_ns = testbed_now_ns() + testbed_ms(BOUND_MS) * 1000000ull;

	while (testbed_now_ns() < end_ns) {
		if (waitpid(child, NULL, WNOHANG) == child)
			return true;
		poll(NULL, 0, 5);
	}
	return false;
}

static const char *kill_victim(const struct victim *victim)
{
	struct pollfd ready = { .events = POLLIN };
	const char *why = NULL;
	char is_ready = 'n';
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0)
		return testbed_err("pipe", -errno);
	child = fork();
	if (child == 0)
		be_victim(victim, ends[1]);
	close(ends[1]);
	ready.fd = ends[0];
	if (child < 0)
		why = testbed_err("fork", -errno);
	else if (poll(&ready, 1, (int)testbed_ms(STALLED_MS + BOUND_MS)) != 1 ||
		 read(ends[0], &is_ready, 1) != 1 || is_ready != 'y')
		why = "the warps did not come to where they were to be killed";
	close(ends[0]);
	if (child > 0) {
		kill(child, SIGKILL);
		if (!is_reaped(child))
			why = "hang: the killed process is not gone within its bound";
	}
	return why;
}

static void inject_all(const struct softgpu *softgpu, enum sgpu_inject_kind kind, uint32_t value)
{
	for (uint32_t gpu = 0; gpu < softgpu->gpus; gpu++)
		softgpu_inject(softgpu, gpu, kind, value);
}

/* Stopping a channel waits for its faults, in vain where replays are lost, and says so. */
static void expect_stop(void)
{
	printf("expect-log nvUvmInterfaceStopChannel: channel .* has outstanding faults\n");
}

static const char *run_kill_stalled(struct softgpu *softgpu)
{
	const struct victim victim = { .gpus = softgpu->gpus, .is_stalled = true };
	const char *why;

	expect_stop();
	inject_all(softgpu, SGPU_INJECT_REPLAY_LOST, ALWAYS);
	why = kill_victim(&victim);
	inject_all(softgpu, SGPU_INJECT_REPLAY_LOST, 0);
	return why != NULL ? why : still_works(softgpu);
}

static const char *run_kill_running(struct softgpu *softgpu)
{
	const struct victim victim = { .gpus = softgpu->gpus };
	const char *why = kill_victim(&victim);

	return why != NULL ? why : still_works(softgpu);
}

/* The file is closed with warps that run, and then with warps that wait for a replay. */
static const char *close_during(const struct softgpu *softgpu, bool is_stalled)
{
	static struct softgpu_program program;
	struct softgpu_launch launch = { .gpu = 0, .warps = WARPS, .program = &program };
	struct softgpu own;
	uint8_t *memory = NULL;
	const char *why = NULL;
	int err = softgpu_open(&own, softgpu->gpus);

	if (err != 0)
		return testbed_err("open", err);
	err = softgpu_map(&own, PAGE, (void **)&memory);
	if (err == 0) {
		program_forever(&program, is_stalled ? memory : NULL);
		err = softgpu_launch(&own, &launch);
	}
	if (err != 0)
		why = testbed_err("launch", err);
	else if (!comes_to(&own, &launch, is_stalled ? SGPU_WARP_STALLED : SGPU_WARP_READY))
		why = "the warps did not come to where they were to be";
	err = softgpu_close(&own);
	if (why == NULL && err != 0)
		why = testbed_err("close", err);
	if (memory != NULL)
		softgpu_unmap((struct softgpu_range){ memory, PAGE });
	return why;
}

static const char *run_close(struct softgpu *softgpu)
{
	const char *why = close_during(softgpu, false);

	if (why == NULL) {
		expect_stop();
		inject_all(softgpu, SGPU_INJECT_REPLAY_LOST, ALWAYS);
		why = close_during(softgpu, true);
		inject_all(softgpu, SGPU_INJECT_REPLAY_LOST, 0);
	}
	return why != NULL ? why : still_works(softgpu);
}

/* One by one: a launch is ended while others of its file go on. */
static const char *run_free(struct softgpu *softgpu)
{
	static struct softgpu_program program;
	struct softgpu_launch launches[4];
	struct sgpu_wait_args wait;
	const char *why = NULL;
	uint32_t count = 0;
	int err = 0;

	program_forever(&program, NULL);
	while (count < 4 && err == 0) {
		launches[count] = (struct softgpu_launch){
			.gpu = 0,
			.warps = WARPS,
			.program = &program,
		};
		err = softgpu_launch(softgpu, &launches[count]);
		count += err == 0;
	}
	if (err != 0)
		why = testbed_err("launch", err);
	while (count-- > 0) {
		if (softgpu_free(softgpu, &launches[count]) != 0 && why == NULL)
			why = "a running launch could not be freed";
		if (softgpu_free(softgpu, &launches[count]) != -ENOENT && why == NULL)
			why = "a launch was freed twice";
		if (count > 0 && why == NULL &&
		    (softgpu_wait(softgpu, &launches[0], 1, &wait) != 0 || wait.is_done))
			why = "another launch ended too";
	}
	return why != NULL ? why : still_works(softgpu);
}

/* Takes the memory of a running launch away.  Return: why its warps did not all fault. */
static const char *unmap_under(const struct softgpu *softgpu, const struct softgpu_launch *launch,
			       uint8_t *memory)
{
	struct sgpu_wait_args wait = { .is_done = 0 };
	const bool has_run = softgpu_wait(softgpu, launch, 100, &wait) == 0 && !wait.is_done;
	int err;

	softgpu_unmap((struct softgpu_range){ memory, PAGE });
	if (!has_run)
		return "the warps did not run";
	err = softgpu_wait(softgpu, launch, testbed_ms(BASIC_LAUNCH_MS), &wait);
	if (err != 0)
		return testbed_err("wait", err);
	return wait.faulted == WARPS ? NULL
				     : testbed_why("%u of %u warps faulted", wait.faulted, WARPS);
}

/* Memory goes away under warps that read it: each ends by a fault, none hangs. */
static const char *run_unmap(struct softgpu *softgpu)
{
	static struct softgpu_program program;
	struct softgpu_launch launch = { .gpu = 0, .warps = WARPS, .program = &program };
	const char *why;
	uint8_t *memory;
	int err = softgpu_map(softgpu, PAGE, (void **)&memory);

	if (err != 0)
		return testbed_err("map", err);
	program_forever(&program, memory);
	err = softgpu_launch(softgpu, &launch);
	if (err != 0) {
		softgpu_unmap((struct softgpu_range){ memory, PAGE });
		return testbed_err("launch", err);
	}
	why = unmap_under(softgpu, &launch, memory);
	softgpu_free(softgpu, &launch);
	return why != NULL ? why : still_works(softgpu);
}

/* ---- arguments of /dev/softgpu ----------------------------------------------- */

/* What is good is filled in; each row then spoils one thing. */
struct bad_launch {
	const char *what;
	void (*spoil)(struct sgpu_launch_args *args, struct sgpu_insn *insns);
	int errno_wanted;
};

#define SPOIL(name, statement)                                                           \
	static void spoil_##name(struct sgpu_launch_args *args, struct sgpu_insn *insns) \
	{                                                                                \
		(void)args, (void)insns;                                                 \
		statement;                                                               \
	}

SPOIL(gpu, args->gpu = 8)
SPOIL(no_warps, args->warps = 0)
SPOIL(warps, args->warps = SGPU_LAUNCH_WARPS_MAX + 1)
SPOIL(no_block, args->warps_per_block = 0)
SPOIL(block, args->warps_per_block = SGPU_BLOCK_WARPS_MAX + 1)
SPOIL(no_insns, args->insns = 0)
SPOIL(insns, args->insns = SGPU_PROGRAM_MAX + 1)
SPOIL(null_program, args->program = 0)
SPOIL(kernel_program, args->program = 0xffff888000000000)
SPOIL(kernel_registers, args->registers = 0xffff888000000000)
SPOIL(va_space, args->va_space ^= 0x10000000)
SPOIL(channel, args->channel ^= 0x10000000)
SPOIL(op, insns[0].op = SGPU_OP_COUNT)
SPOIL(rd, insns[0].rd = SGPU_REGISTERS)
SPOIL(width, (insns[0].op = SGPU_OP_LOAD, insns[0].width = 3))
SPOIL(jump, (insns[0].op = SGPU_OP_JUMP, insns[0].imm = 2))
SPOIL(reserved, insns[0].reserved2 = 1)
SPOIL(no_exit, insns[1].op = SGPU_OP_NOP)

static const struct bad_launch bad_launches[] = {
	{ "a GPU that is none", spoil_gpu, EINVAL },
	{ "no warps", spoil_no_warps, EINVAL },
	{ "too many warps", spoil_warps, EINVAL },
	{ "an empty block", spoil_no_block, EINVAL },
	{ "a block too large", spoil_block, EINVAL },
	{ "an empty program", spoil_no_insns, EINVAL },
	{ "a program too long", spoil_insns, EINVAL },
	{ "a program at 0", spoil_null_program, EFAULT },
	{ "a program in the kernel", spoil_kernel_program, EFAULT },
	{ "registers in the kernel", spoil_kernel_registers, EFAULT },
	{ "an unknown VA space", spoil_va_space, ENOENT },
	{ "an unknown channel", spoil_channel, ENOENT },
	{ "an unknown instruction", spoil_op, EINVAL },
	{ "a register that is none", spoil_rd, EINVAL },
	{ "a width that is none", spoil_width, EINVAL },
	{ "a jump outside", spoil_jump, EINVAL },
	{ "a reserved field", spoil_reserved, EINVAL },
	{ "a program without end", spoil_no_exit, EINVAL },
};

static const char *expect_errno(int result, int wanted, const char *what)
{
	const int got = result == 0 ? 0 : errno;

	return got == wanted ? NULL
			     : testbed_why("%s: %s, not %s", what, strerror(got), strerror(wanted));
}

static const char *run_bad_launch(struct softgpu *softgpu)
{
	const char *why = NULL;

	for (size_t i = 0; i < sizeof(bad_launches) / sizeof(bad_launches[0]) && why == NULL; i++) {
		struct sgpu_insn insns[2] = { { .op = SGPU_OP_NOP }, { .op = SGPU_OP_EXIT } };
		struct sgpu_launch_args args = {
			.va_space = softgpu->va_space[0],
			.channel = softgpu->channel[0],
			.warps = 1,
			.warps_per_block = 1,
			.insns = 2,
			.program = (uintptr_t)insns,
		};

		bad_launches[i].spoil(&args, insns);
		why = expect_errno(ioctl(softgpu->device_fd, SGPU_IOC_LAUNCH, &args),
				   bad_launches[i].errno_wanted, bad_launches[i].what);
	}
	return why != NULL ? why : still_works(softgpu);
}

/* The rest of its calls: what is passed, and what must come back. */
union any_args {
	struct sgpu_info info;
	struct sgpu_wait_args wait;
	struct sgpu_warp_args warp;
	struct sgpu_launch_id id;
	struct sgpu_counters_args counters;
	struct sgpu_inject_args inject;
};

static const struct {
	const char *what;
	unsigned long request;
	union any_args args;
	int errno_wanted;
} bad_calls[] = {
	{ "an unknown call", _IO('G', 99), { .id = { 0 } }, ENOTTY },
	{ "a call of another device", _IO('x', 0), { .id = { 0 } }, ENOTTY },
	{ "wait for a launch that is none", SGPU_IOC_WAIT, { .wait = { .launch = ~0u } }, ENOENT },
	{ "wait on a GPU that is none", SGPU_IOC_WAIT, { .wait = { .gpu = 8 } }, EINVAL },
	{ "report of a launch that is none", SGPU_IOC_WARP, { .warp = { .launch = ~0u } }, ENOENT },
	{ "report on a GPU that is none", SGPU_IOC_WARP, { .warp = { .gpu = 8 } }, EINVAL },
	{ "free of a launch that is none", SGPU_IOC_FREE, { .id = { .launch = ~0u } }, ENOENT },
	{ "free on a GPU that is none", SGPU_IOC_FREE, { .id = { .gpu = 8 } }, EINVAL },
	{ "counters of a GPU that is none",
	  SGPU_IOC_COUNTERS,
	  { .counters = { .gpu = 8 } },
	  EINVAL },
	{ "injection on a GPU that is none", SGPU_IOC_INJECT, { .inject = { .gpu = 8 } }, EINVAL },
	{ "injection of a kind that is none",
	  SGPU_IOC_INJECT,
	  { .inject = { .kind = SGPU_INJECT_COUNT } },
	  EINVAL },
	{ "injection at 1,001 of 1,000",
	  SGPU_IOC_INJECT,
	  { .inject = { .kind = SGPU_INJECT_REPLAY_LOST, .value = 1001 } },
	  EINVAL },
	{ "an interrupt later than a second",
	  SGPU_IOC_INJECT,
	  { .inject = { .kind = SGPU_INJECT_INTERRUPT_LATE, .value = 1000001 } },
	  EINVAL },
};

static const char *run_bad_calls(struct softgpu *softgpu)
{
	const char *why = NULL;

	for (size_t i = 0; i < sizeof(bad_calls) / sizeof(bad_calls[0]) && why == NULL; i++) {
		union any_args args = bad_calls[i].args;

		why = expect_errno(ioctl(softgpu->device_fd, bad_calls[i].request, &args),
				   bad_calls[i].errno_wanted, bad_calls[i].what);
	}
	if (why == NULL)
		why = expect_errno(ioctl(softgpu->device_fd, SGPU_IOC_INFO, NULL), EFAULT,
				   "information to address 0");
	return why != NULL ? why : still_works(softgpu);
}

/* As many launches as there may be, and one more. */
static const char *run_too_many(struct softgpu *softgpu)
{
	static struct softgpu_program program;
	static struct softgpu_launch launches[SGPU_LAUNCHES_MAX];
	struct softgpu_launch more = { .gpu = 0, .warps = 1, .program = &program };
	const char *why = NULL;
	uint32_t count = 0;

	program_forever(&program, NULL);
	for (; count < SGPU_LAUNCHES_MAX; count++) {
		int err;

		launches[count] = more;
		err = softgpu_launch(softgpu, &launches[count]);
		if (err != 0) {
			why = testbed_why("launch %u: %s", count, strerror(-err));
			break;
		}
	}
	if (why == NULL && softgpu_launch(softgpu, &more) != -EBUSY)
		why = "one more than there may be was accepted";
	while (count-- > 0)
		softgpu_free(softgpu, &launches[count]);
	return why != NULL ? why : still_works(softgpu);
}

const struct basic_test basic_lifecycle_tests[] = {
	{ "free_running", 1, run_free },         { "unmap_in_use", 1, run_unmap },
	{ "close_in_use", 1, run_close },        { "kill_running", 1, run_kill_running },
	{ "kill_stalled", 1, run_kill_stalled }, { "bad_launch", 1, run_bad_launch },
	{ "bad_calls", 1, run_bad_calls },       { "too_many_launches", 1, run_too_many },
};
const size_t basic_lifecycle_tests_count =
	sizeof(basic_lifecycle_tests) / sizeof(basic_lifecycle_tests[0]);
