/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "testbed.h"

#include <stdio.h>
#include <string.h>

static const struct testbed_suite *const suites[] = {
	&testbed_builtin, &testbed_basic, &testbed_fuzz, &testbed_control, &testbed_steps,
};

static int usage(void)
{
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		fprintf(stderr, "testbed %s %s\n", suites[i]->name, suites[i]->usage);
	return TESTBED_USAGE;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(suites) / sizeof(suites[0]); i++) {
		if (strcmp(argv[1], suites[i]->name) == 0)
			return testbed_watch(suites[i], argv + 2);
	}
	return usage();
}
