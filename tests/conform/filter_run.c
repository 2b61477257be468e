// SPDX-License-Identifier: MIT OR GPL-2.0
/* filter_run [--no-userfaultfd] program [args]: start it under the filter of a sandbox. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/conform/filter.h"

int main(int argc, char **argv)
{
	struct filter f = { .is_sandbox = 1 };
	int first = 1, rc;

	if (argc > 1 && !strcmp(argv[1], "--no-userfaultfd")) {
		f.userfaultfd = EPERM;
		f.open_rdwr = EACCES;
		first = 2;
	}
	if (argc <= first) {
		fprintf(stderr, "usage: %s [--no-userfaultfd] program [args]\n", argv[0]);
		return 2;
	}
	rc = filter_install(f);
	if (rc) {
		fprintf(stderr, "skip: no seccomp filter here: %s\n", strerror(-rc));
		return 77;
	}
	execv(argv[first], &argv[first]);
	perror(argv[first]);
	return 1;
}
