/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The guest's test program, `testbed`: one binary, a subcommand a suite.  What it prints is read
 * by init and by kmod/testbed/boot.sh:
 *
 *	ok SUITE/NAME
 *	fail SUITE/NAME: WHY
 *	skip SUITE/NAME: WHY
 *	expect-log REGULAR EXPRESSION		of errors that a test makes the kernel log
 *
 * A suite runs in a child process, and the parent watches: a test that is not done within its
 * limit is a failure by name, even when the child hangs in the kernel.
 *
 * All limits are those of a machine as it is; where it is known to be slower, WIC_SLOW in the
 * environment says by which factor, and testbed_ms() applies it.
 */
#ifndef WIC_KMOD_TESTBED_GUEST_TESTBED_H
#define WIC_KMOD_TESTBED_GUEST_TESTBED_H

#include <stdbool.h>
#include <stdint.h>

/* Exit statuses.  A control must tell a mismatch from a hang. */
enum testbed_exit {
	TESTBED_OK = 0,
	TESTBED_FAILED = 1,
	TESTBED_USAGE = 2,
	TESTBED_MISMATCH = 3, /* memory was not as it had to be */
	TESTBED_HANG = 4,     /* something did not end within its bound */
	TESTBED_SETUP = 5,    /* the test could not start */
};

/* A suite: its words after the name, NULL-terminated.  Return: enum testbed_exit. */
struct testbed_suite {
	const char *name, *usage;
	int (*run)(char **words);
};

extern const struct testbed_suite testbed_builtin;
extern const struct testbed_suite testbed_basic;
extern const struct testbed_suite testbed_fuzz;
extern const struct testbed_suite testbed_control;
extern const struct testbed_suite testbed_steps;

/* Runs a suite in a child and watches it.  Return: what it returned, or TESTBED_HANG. */
int testbed_watch(const struct testbed_suite *suite, char **words);

/*
 * A test of the running suite begins: until testbed_ok(), _fail() or _skip() of any test the
 * watching parent gives it testbed_ms(@limit_ms).  Init finds its begin in the kernel's log.
 */
void testbed_begin(const char *name, uint32_t limit_ms);

/* The test that was begun last has ended. */
void testbed_ok(void);
__attribute__((format(printf, 1, 2))) void testbed_fail(const char *why, ...);
__attribute__((format(printf, 1, 2))) void testbed_skip(const char *why, ...);

/* A why with numbers in it; the string is this thread's, until the next. */
__attribute__((format(printf, 1, 2))) const char *testbed_why(const char *format, ...);

/* What a call says that failed: its name, its negative errno, the driver's last status. */
const char *testbed_err(const char *what, int err);

/* A test that is not run at all. */
void testbed_not_run(const char *name, const char *why);

/* How many tests of this process have failed. */
uint32_t testbed_failures(void);

/* A limit on this machine: @ms times WIC_SLOW, a number of [1, 1000], else 1. */
uint32_t testbed_ms(uint32_t ms);

/* CLOCK_MONOTONIC */
uint64_t testbed_now_ns(void);

/*
 * A decimal number of [least, most].  @word may be NULL: @number_out stays as it is.
 * Return: whether it is one.
 */
bool testbed_number(const char *word, uint64_t least, uint64_t most, uint64_t *number_out);

/* The next of the generator that all tests use, from a state that is not 0 (xorshift64*). */
uint64_t testbed_random(uint64_t *state);

#endif
