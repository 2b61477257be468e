/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

static void commit_full_device(void)
{
	struct bench_file f;

	if (access("/dev/full", W_OK))
		return;
	TEST_EQ(bench_file_begin(&f, "/dev/full"), 0);
	/* More than a stream's buffer holds. */
	for (int i = 0; i < 100000; i++)
		fputs("0123456789", f.stream);
	TEST_EQ(bench_file_commit(&f), -ENOSPC);
}

static void commit_large(void)
{
	char dir[] = "/tmp/wic-file-test.XXXXXX", path[64];
	struct bench_file f;
	struct stat st;

	TEST_TRUE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/large", dir);
	TEST_EQ(bench_file_begin_large(&f, path), 0);
	for (int i = 0; i < 100000; i++)
		fputs("0123456789", f.stream);
	/* It goes out as it comes, but not yet to its place. */
	TEST_EQ(fstat(f.fd, &st), 0);
	TEST_TRUE(st.st_size > 0);
	TEST_TRUE(access(path, F_OK));
	TEST_EQ(bench_file_commit(&f), 0);
	TEST_EQ(stat(path, &st), 0);
	TEST_EQ(st.st_size, 1000000);
	TEST_EQ(bench_file_begin_large(&f, path), 0);
	fputs("other", f.stream);
	bench_file_abandon(&f);
	TEST_EQ(stat(path, &st), 0);
	TEST_EQ(st.st_size, 1000000);
	TEST_EQ(unlink(path), 0);
	TEST_EQ(rmdir(dir), 0);
	if (access("/dev/full", W_OK))
		return;
	TEST_EQ(bench_file_begin_large(&f, "/dev/full"), 0);
	for (int i = 0; i < 100000; i++)
		fputs("0123456789", f.stream);
	TEST_EQ(bench_file_commit(&f), -EIO);
	TEST_EQ(bench_file_begin_large(&f, "/dev/full"), 0);
	fputs("0", f.stream);
	TEST_EQ(bench_file_commit(&f), -ENOSPC);
}

/* A child that is ended between begin and commit leaves nothing: rmdir() works. */
static void begin_ended_by_signal(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	char dir[] = "/tmp/wic-file-test.XXXXXX", path[64];
	int status;

	TEST_TRUE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/rows", dir);
	for (int i = 0; i < 3; i++) {
		struct bench_file f;
		pid_t child = fork();

		if (!child) {
			signal(signals[i], SIG_DFL);
			if (!bench_file_begin(&f, path))
				raise(signals[i]);
			_exit(0);
		}
		TEST_EQ(waitpid(child, &status, 0), child);
		TEST_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
	}
	TEST_EQ(rmdir(dir), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(commit_full_device),
		TEST(commit_large),
		TEST(begin_ended_by_signal),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
