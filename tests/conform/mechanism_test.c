// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * No userfaultfd here (userfaultfd-rs#16, #68; shadPS4#1680; cloud-hypervisor#8165): the call
 * refused by a filter or unknown, the device node there but not ours to open.  A context
 * opens with mprotect, says why, and works.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conform/conform.h"
#include "tests/conform/filter.h"

#define BYTES 5000

static char described[512]; /* the back-end's line in the log */

static void note_line(void *arg, int level, const char *line)
{
	(void)arg;
	if (level <= WIC_LOG_WARN)
		__atomic_fetch_add(&log_lines, 1, __ATOMIC_RELAXED);
	if (strstr(line, "mprotect"))
		snprintf(described, sizeof(described), "%s", line);
}

static void works(struct wic *w)
{
	struct wic_channel *ch = channel(w, 61, BYTES, 1);
	struct take_args a = take_args(ch, 61, 10);
	struct producer p = { ch, 1, 11, BYTES, 42, 61 };

	exchange(w, &a, &p, 8, 160);
	TEST_EQ(a.taken, 610);
	TEST_TRUE(stats_of(w).faults > 0);
	close_quietly(w);
}

/* In a child, as there is no way back from a filter. */
static void fall_back(struct filter f, const char *why)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w;

	unsetenv("WIC_MECHANISM");
	setenv("WIC_LOG", "info", 1);
	if (filter_install(f))
		_exit(77);
	cfg.mechanism = WIC_MECHANISM_UFFD;
	TEST_EQ(wic_open(&cfg, &w), -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "userfaultfd: ");
	TEST_STR_HAS(wic_last_error(), why);
	cfg.mechanism = WIC_MECHANISM_AUTO;
	cfg.log = note_line;
	TEST_EQ(wic_open(&cfg, &w), 0);
	TEST_STR_HAS(wic_describe(w), "mprotect");
	TEST_STR_HAS(wic_describe(w), why);
	TEST_STR_HAS(described, why);
	works(w);
	exit(0);
}

/* The call refused, the node not: through it. */
static void by_node(struct filter f, const char *unused)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	(void)unused;
	unsetenv("WIC_MECHANISM");
	if (filter_install(f) || access("/dev/userfaultfd", R_OK | W_OK))
		_exit(77);
	cfg.mechanism = WIC_MECHANISM_UFFD;
	works(open_with(cfg));
	exit(0);
}

static void in_a_child(void (*run)(struct filter f, const char *why), struct filter f,
		       const char *why)
{
	int status;
	pid_t pid;

	if (under_valgrind()) {
		test_skip("valgrind knows no userfaultfd and makes system calls of its own");
		return;
	}
	fflush(NULL);
	pid = fork();
	TEST_TRUE(pid >= 0);
	if (!pid)
		run(f, why);
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_TRUE(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		test_skip("no seccomp filter, or no /dev/userfaultfd that may be opened");
	else
		TEST_EQ(WEXITSTATUS(status), 0);
}

static void userfaultfd_refused(void)
{
	in_a_child(fall_back, (struct filter){ .userfaultfd = EPERM, .open_rdwr = EACCES },
		   strerror(EPERM));
}

static void userfaultfd_refused_without_node(void)
{
	in_a_child(fall_back, (struct filter){ .userfaultfd = EPERM, .open_rdwr = ENOENT },
		   strerror(EPERM));
}

static void userfaultfd_unknown(void)
{
	in_a_child(fall_back, (struct filter){ .userfaultfd = ENOSYS, .open_rdwr = ENOENT },
		   strerror(ENOSYS));
}

static void userfaultfd_by_its_node(void)
{
	in_a_child(by_node, (struct filter){ .userfaultfd = EPERM }, NULL);
	in_a_child(by_node, (struct filter){ .userfaultfd = ENOSYS }, NULL);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(userfaultfd_refused),
		TEST(userfaultfd_refused_without_node),
		TEST(userfaultfd_unknown),
		TEST(userfaultfd_by_its_node),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
