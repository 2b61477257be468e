/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <string.h>
#include <time.h>

#include "apps/common/team.h"
#include "tests/test.h"

#define RUNS 200

struct job {
	uint32_t calls[TEAM_THREADS_MAX]; /* each its part's own */
};

static void count(void *arg, uint32_t part)
{
	struct job *j = arg;

	j->calls[part]++;
}

static void team_run_all_parts(void)
{
	static const uint32_t sizes[] = { 1, 2, 3, TEAM_THREADS_MAX };
	struct timespec pause = { 0, 3 * TEAM_LOOK_NS };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct team *t = team_create(sizes[i]);
		struct job j = { { 0 } };

		TEST_TRUE(t);
		TEST_EQ(team_threads(t), sizes[i]);
		for (uint32_t run = 1; run <= RUNS; run++) {
			team_run(t, count, &j);
			for (uint32_t part = 0; part < TEAM_THREADS_MAX; part++)
				TEST_EQ(j.calls[part], part < sizes[i] ? run : 0);
			/* Now and then they sleep in between. */
			if (run % 50 == 0)
				nanosleep(&pause, NULL);
		}
		team_destroy(t);
	}
	team_destroy(NULL);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(team_run_all_parts), { 0 } };

	return test_main(argc, argv, tests);
}
