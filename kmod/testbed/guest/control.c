/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Suite "control": the fuzz under faults of the GPU.  What the driver must survive it has to
 * pass; a defect it has to see, and in the right way, or it could see nothing.
 *
 * Not among what must be survived: lost interrupts.  An interrupt is a pulse; nvidia-uvm looks at
 * the fault buffer when one comes and until PUT is GET, and has no clock that would look again.
 * When all warps wait, the next pulse never comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softgpu_user.h"
#include "testbed.h"

#define WORDS_MOST 10
#define LIMIT_MS 300000

struct control {
	const char *name;
	int wanted; /* enum testbed_exit of the fuzz */
	const char *words[WORDS_MOST];
};

static const struct control controls[] = {
	{ "interrupts_doubled", TESTBED_OK, { "2", "1", "doubled=500" } },
	{ "interrupts_late", TESTBED_OK, { "2", "2", "late_us=3000" } },
	/* Each batch of faults overflows: of all others' packets none is left. */
	{ "overflow", TESTBED_OK, { "1", "3", "fault_limit=4", "ops=4" } },
	{ "copies_slow", TESTBED_OK, { "2", "4", "slow_us=50", "ops=2", "mutations=3" } },
	{ "faults_repeated", TESTBED_OK, { "2", "5", "repeated=500" } },
	{ "replays_lost", TESTBED_HANG, { "3", "7", "replay_lost=900", "stall_ms=5000" } },
	/* With one warp a GPU there is none whose later fault would have it resumed. */
	{ "replay_lost",
	  TESTBED_HANG,
	  { "3", "7", "replay_lost_at=5", "warps=2", "stall_ms=5000" } },
	{ "interrupts_lost", TESTBED_HANG, { "3", "8", "lost=1000", "stall_ms=5000" } },
	/*
	 * All of them: with one alone lost (invalidate_lost_at=5, =300) 90 seconds of rounds, for
	 * each, saw no mismatch.  The last control: what it leaves in TLBs harms those who come
	 * after it.
	 */
	{ "invalidates_lost",
	  TESTBED_MISMATCH,
	  { "20", "9", "invalidate_lost=1000", "remap=0", "kinds=3967" } },
};

/* In the child: the fuzz as its own suite, its lines to @to. */
static void be_fuzz(const struct control *control, int to)
{
	char *words[WORDS_MOST + 1] = { NULL };

	/* The array's strings are not written to. */
	for (size_t i = 0; i < WORDS_MOST && control->words[i] != NULL; i++)
		words[i] = (char *)(uintptr_t)control->words[i];
	dup2(to, STDOUT_FILENO);
	exit(testbed_watch(&testbed_fuzz, words));
}

/* Its lines go on indented: they are not ours. */
static void pass_on(int from)
{
	FILE *lines = fdopen(from, "r");
	char line[1024];

	while (lines != NULL && fgets(line, sizeof(line), lines) != NULL)
		printf("  | %s", line);
	if (lines != NULL)
		fclose(lines);
}

/*
 * However it ended, GPUs are well again.  For that nvidia-uvm, which may hang, is not needed.
 * Return: 0, or an errno: they may not be.
 */
static int heal(void)
{
	struct softgpu softgpu = { .device_fd = open("/dev/softgpu", O_RDWR | O_CLOEXEC) };
	int err = 0;

	if (softgpu.device_fd < 0)
		return -errno;
	if (ioctl(softgpu.device_fd, SGPU_IOC_INFO, &softgpu.info) != 0)
		err = -errno;
	for (uint32_t gpu = 0; gpu < softgpu.info.gpus && err == 0; gpu++) {
		for (uint32_t kind = 0; kind < SGPU_INJECT_COUNT && err == 0; kind++)
			err = softgpu_inject(&softgpu, gpu, (enum sgpu_inject_kind)kind, 0);
	}
	close(softgpu.device_fd);
	return err;
}

static void run_control(const struct control *control)
{
	int ends[2], status = 0, err;
	pid_t child;

	testbed_begin(control->name, LIMIT_MS);
	if (pipe(ends) != 0) {
		testbed_fail("pipe: %s", strerror(errno));
		return;
	}
	fflush(stdout);
	child = fork();
	if (child == 0)
		be_fuzz(control, ends[1]);
	close(ends[1]);
	pass_on(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child) {
		testbed_fail("fork: %s", strerror(errno));
		return;
	}
	err = heal();
	if (err != 0)
		testbed_fail("the GPUs could not be made well again: %s", strerror(-err));
	else if (!WIFEXITED(status))
		testbed_fail("the fuzz ended by a signal, status %#x", status);
	else if (WEXITSTATUS(status) != control->wanted)
		testbed_fail("the fuzz ended with %d, and should have with %d (0 well, 3 mismatch, "
			     "4 hang)",
			     WEXITSTATUS(status), control->wanted);
	else
		testbed_ok();
}

static int run(char **words)
{
	const size_t count = sizeof(controls) / sizeof(controls[0]);

	for (size_t i = 0; i < count && words[0] == NULL; i++)
		run_control(&controls[i]);
	for (char **word = words; *word != NULL; word++) {
		size_t i = 0;

		while (i < count && strcmp(*word, controls[i].name) != 0)
			i++;
		if (i == count)
			return TESTBED_USAGE;
		run_control(&controls[i]);
	}
	return testbed_failures() == 0 ? TESTBED_OK : TESTBED_FAILED;
}

const struct testbed_suite testbed_control = {
	.name = "control",
	.usage = "[NAME...]: the fuzz under faults of the GPU: it passes, or fails as it must",
	.run = run,
};
