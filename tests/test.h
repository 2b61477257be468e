/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Assertion macros and a runner for test programs.  Ours, small, because the same
 * suites run on GPU nodes with nothing installed and inside a kernel module.
 *
 *	static void take_one_page(void) { TEST_EQ(1 + 1, 2); }
 *	int main(int argc, char **argv)
 *	{
 *		static const struct test tests[] = { TEST(take_one_page), { 0 } };
 *		return test_main(argc, argv, tests);
 *	}
 *
 * argv[1], if given, is the name of the only test to run.  A failure prints file,
 * line, values and the command that repeats it, and ends the program with 1.  A
 * test that cannot run here calls test_skip(why): if all skipped the exit is 77.
 */
#ifndef WIC_TESTS_TEST_H
#define WIC_TESTS_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(function)              \
	{                           \
#function, function \
	}

static const char *test_program;
static const char *test_current;
static const char *test_skipped;

static inline void test_skip(const char *why)
{
	test_skipped = why;
}

static inline void test_fail(const char *file, int line, const char *what, long long a, long long b)
{
	fflush(stdout);
	fprintf(stderr, "%s:%d: %s: %s (%lld, %lld)\n  again: %s %s\n", file, line, test_current,
		what, a, b, test_program, test_current);
	exit(1);
}

#define TEST_TRUE(x)                                             \
	do {                                                     \
		if (!(x))                                        \
			test_fail(__FILE__, __LINE__, #x, 0, 1); \
	} while (0)
#define TEST_EQ(a, b)                                                                  \
	do {                                                                           \
		long long test_a_ = (long long)(a), test_b_ = (long long)(b);          \
		if (test_a_ != test_b_)                                                \
			test_fail(__FILE__, __LINE__, #a " == " #b, test_a_, test_b_); \
	} while (0)
#define TEST_STR_HAS(text, part)                                                  \
	do {                                                                      \
		if (!strstr((text), (part))) {                                    \
			fprintf(stderr, "text: %s\n", (text));                    \
			test_fail(__FILE__, __LINE__, #text " has " #part, 0, 1); \
		}                                                                 \
	} while (0)

/* xorshift64*: seeded, the same everywhere. */
static inline uint64_t test_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

static inline int test_main(int argc, char **argv, const struct test *tests)
{
	int passed = 0, skipped = 0;

	test_program = argv[0];
	for (; tests->name; tests++) {
		if (argc > 1 && strcmp(argv[1], tests->name))
			continue;
		test_current = tests->name;
		test_skipped = NULL;
		tests->run();
		if (test_skipped) {
			printf("skip %s: %s\n", tests->name, test_skipped);
			skipped++;
		} else {
			printf("ok   %s\n", tests->name);
			passed++;
		}
		fflush(stdout);
	}
	if (!passed && !skipped) {
		fprintf(stderr, "%s: no such test\n", argv[1]);
		return 2;
	}
	return passed ? 0 : 77;
}

#endif /* WIC_TESTS_TEST_H */
