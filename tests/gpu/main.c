// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Runs the parts of the suite, each test in a child.
 *
 *	gpu_conform [part or test]
 *
 * All are run, whatever fails.  Exit status 77: there is no GPU, and why.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/gpu.h"

/* Of a test; five times as long under TSan, or as aarch64, which an emulator runs.  On a GPU one
 * takes a few. */
#define SECONDS_MAX 60
#define SECONDS_MAX_GPU 30

extern const struct gpu_part gpu_part_open, gpu_part_exchange, gpu_part_waits, gpu_part_epochs,
	gpu_part_errors, gpu_part_litmus;
#ifdef GPU_OVER_FAKECUDA
#define PART_OF_ITS_OWN gpu_part_fake
extern const struct gpu_part gpu_part_seen;
#define PART_OF_SIGHTS , &gpu_part_seen
#else
#define PART_OF_ITS_OWN gpu_part_lanes
#define PART_OF_SIGHTS
#endif
extern const struct gpu_part PART_OF_ITS_OWN;

static const struct gpu_part *const parts[] = { &gpu_part_open,
						&gpu_part_exchange,
						&gpu_part_waits,
						&gpu_part_epochs,
						&gpu_part_errors,
						&gpu_part_litmus,
						&PART_OF_ITS_OWN PART_OF_SIGHTS };

/* The child's exit status; -1: it was ended for taking too long, or died. */
static int child_wait(pid_t child, const char *name)
{
	uint32_t seconds =
		gpu_is_fake() ? SECONDS_MAX * (UNDER_TSAN || IS_EMULATED ? 5 : 1) : SECONDS_MAX_GPU;
	uint64_t until = now_ns() + WIC_S(seconds);
	int status = 0;

	while (!waitpid(child, &status, WNOHANG)) {
		if (now_ns() >= until) {
			printf("FAIL %s: still runs after its time\n", name);
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			return -1;
		}
		sleep_ms(2);
	}
	if (WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == 77))
		return WEXITSTATUS(status);
	printf("FAIL %s: %s %d\n", name, WIFEXITED(status) ? "exit status" : "signal",
	       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return -1;
}

static pid_t child_start(void)
{
	fflush(stdout);
	fflush(stderr);
	return fork();
}

static int test_run(const struct gpu_part *part, char *program, const struct test *t)
{
	char name[128];
	char *argv[] = { program, name, NULL };
	pid_t child = child_start();

	TEST_TRUE(child >= 0);
	if (!child) {
		snprintf(name, sizeof(name), "%s", t->name);
		exit(part->run(2, argv, part->tests));
	}
	return child_wait(child, t->name);
}

/* Not here: what has asked for a driver cannot have children that use it. */
static void probe(void)
{
	struct gpu g;
	int rc;

	if (!gpu_has_code()) {
		printf("skip all: this program has no GPU code, it was built without nvcc\n");
		exit(77);
	}
	rc = gpu_try_open(1, &g);
	if (rc == -ENOTSUP) {
		printf("skip all: %s\n", wic_last_error());
		exit(77);
	}
	if (rc) {
		printf("wic_open: %s\n", wic_last_error());
		exit(1);
	}
	printf("%s\n", wic_describe(g.w));
	wic_close(g.w);
	exit(0);
}

int main(int argc, char **argv)
{
	uint32_t passed = 0, skipped = 0, failed = 0;
	pid_t child = child_start();
	int rc;

	test_program = argv[0];
	test_current = "all";
	TEST_TRUE(child >= 0);
	if (!child)
		probe();
	rc = child_wait(child, "probe");
	if (rc)
		return rc == 77 ? 77 : 1;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		for (const struct test *t = parts[i]->tests; t->name; t++) {
			if (argc > 1 && strcmp(argv[1], t->name) && strcmp(argv[1], parts[i]->name))
				continue;
			rc = test_run(parts[i], argv[0], t);
			passed += !rc;
			skipped += rc == 77;
			failed += rc < 0;
		}
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	if (failed || (!passed && !skipped))
		return 1;
	return passed ? 0 : 77;
}
