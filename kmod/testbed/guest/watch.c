/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "testbed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "softgpu_user.h"

#define NAME_BYTES 96

#define SLOW_MS 1000     /* what takes longer is shown */
#define FACTOR_MOST 1000 /* of limits */

/* The child writes, the parent reads. */
struct now {
	atomic_uint_fast64_t deadline_ns; /* 0: no test; released after the name was written */
	char suite[NAME_BYTES / 2];
	char name[NAME_BYTES];
};

static struct now *now; /* shared with the child */
static uint32_t failures;
static uint64_t begun_ns;
static bool is_nested; /* within another suite's test: the log's lines are of that one */

uint64_t testbed_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint32_t testbed_ms(uint32_t ms)
{
	uint64_t factor = 1;

	testbed_number(getenv("WIC_SLOW"), 1, FACTOR_MOST, &factor);
	return ms * factor < UINT32_MAX ? (uint32_t)(ms * factor) : UINT32_MAX;
}

/* Init matches the log's lines from here on with what this test has announced. */
static void mark_log(const char *name)
{
	char line[2 * NAME_BYTES];
	const int length = snprintf(line, sizeof(line), "wic-test %s/%s\n", now->suite, name);
	/* Opened anew each time: how many lines one file may write in a time is limited. */
	const int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	/* Without a mark the line is the test's before: a failure is too many, none too few. */
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)length) != length)
		fprintf(stderr, "no mark of %s in the kernel's log\n", name);
	close(fd);
}

void testbed_begin(const char *name, uint32_t limit_ms)
{
	/* A test may begin again, with a new limit. */
	const bool is_new = strcmp(now->name, name) != 0;

	atomic_store_explicit(&now->deadline_ns, 0, memory_order_release);
	snprintf(now->name, sizeof(now->name), "%s", name);
	if (is_new && !is_nested)
		mark_log(name);
	begun_ns = testbed_now_ns();
	atomic_store_explicit(&now->deadline_ns, begun_ns + testbed_ms(limit_ms) * 1000000ull,
			      memory_order_release);
}

/* One write, so that lines of two processes do not mix. */
static void say(const char *word, const char *name, const char *format, va_list values)
{
	char why[512] = "";

	if (format != NULL)
		vsnprintf(why, sizeof(why), format, values);
	printf("%s %s/%s%s%s\n", word, now->suite, name, format != NULL ? ": " : "", why);
	fflush(stdout);
}

static void end(const char *word, const char *format, va_list values)
{
	const uint64_t took_ms = (testbed_now_ns() - begun_ns) / 1000000;

	atomic_store_explicit(&now->deadline_ns, 0, memory_order_release);
	if (took_ms >= SLOW_MS)
		printf("  %s took %llu ms\n", now->name, (unsigned long long)took_ms);
	say(word, now->name, format, values);
}

static void end_without(const char *word, ...)
{
	va_list values;

	va_start(values, word);
	end(word, NULL, values);
	va_end(values);
}

void testbed_ok(void)
{
	end_without("ok");
}

void testbed_fail(const char *why, ...)
{
	va_list values;

	va_start(values, why);
	end("fail", why, values);
	va_end(values);
	failures++;
}

void testbed_skip(const char *why, ...)
{
	va_list values;

	va_start(values, why);
	end("skip", why, values);
	va_end(values);
}

void testbed_not_run(const char *name, const char *why)
{
	printf("skip %s/%s: %s\n", now->suite, name, why);
	fflush(stdout);
}

const char *testbed_why(const char *format, ...)
{
	static _Thread_local char why[256];
	va_list values;

	va_start(values, format);
	vsnprintf(why, sizeof(why), format, values);
	va_end(values);
	return why;
}

const char *testbed_err(const char *what, int err)
{
	return testbed_why("%s: %s, status %#x", what, strerror(-err), softgpu_status());
}

uint32_t testbed_failures(void)
{
	return failures;
}

bool testbed_number(const char *word, uint64_t least, uint64_t most, uint64_t *number_out)
{
	uint64_t number;
	char *end_of;

	if (word == NULL)
		return true;
	errno = 0;
	number = strtoull(word, &end_of, 10);
	if (word[0] < '0' || word[0] > '9' || *end_of != 0 || errno != 0)
		return false;
	if (number < least || number > most)
		return false;
	*number_out = number;
	return true;
}

uint64_t testbed_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/* A tenth of a second, or until a child has ended. */
static void pause_for_child(void)
{
	const struct timespec tenth = { .tv_nsec = 100000000 };
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigtimedwait(&signals, NULL, &tenth);
}

static int watch(pid_t child)
{
	for (;;) {
		const uint64_t deadline =
			atomic_load_explicit(&now->deadline_ns, memory_order_acquire);
		int status;

		if (waitpid(child, &status, WNOHANG) == child) {
			if (WIFEXITED(status))
				return WEXITSTATUS(status);
			printf("fail %s/%s: signal %d ended it\n", now->suite, now->name,
			       WTERMSIG(status));
			return TESTBED_FAILED;
		}
		if (deadline != 0 && testbed_now_ns() > deadline) {
			printf("fail %s/%s: not done within its limit\n", now->suite, now->name);
			kill(child, SIGKILL); /* it may hang in the kernel: not waited for */
			return TESTBED_HANG;
		}
		pause_for_child();
	}
}

int testbed_watch(const struct testbed_suite *suite, char **words)
{
	sigset_t signals;
	pid_t child;

	is_nested = now != NULL;
	now = mmap(NULL, sizeof(*now), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (now == MAP_FAILED)
		return TESTBED_SETUP;
	snprintf(now->suite, sizeof(now->suite), "%s", suite->name);
	snprintf(now->name, sizeof(now->name), "start");
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	child = fork();
	if (child < 0)
		return TESTBED_SETUP;
	if (child == 0) {
		int status;

		sigprocmask(SIG_UNBLOCK, &signals, NULL);
		status = suite->run(words);
		if (status == TESTBED_USAGE)
			fprintf(stderr, "testbed %s %s\n", suite->name, suite->usage);
		exit(status);
	}
	return watch(child);
}
