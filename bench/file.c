/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/host.h"

static int failed(const char *what, const char *path, int error)
{
	bench_error("cannot %s %s: %s", what, path, strerror(error));
	return -error;
}

int bench_dir_make(const char *path)
{
	char part[PATH_MAX];
	struct stat st;

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return failed("make directory", path, ENAMETOOLONG);
	for (char *slash = part + 1; *part; slash++) {
		char end = *slash;

		if (end != '/' && end != '\0')
			continue;
		*slash = '\0';
		if (mkdir(part, 0777) && errno != EEXIST)
			return failed("make directory", part, errno);
		*slash = end;
		if (!end)
			break;
	}
	if (stat(path, &st))
		return failed("open directory", path, errno);
	if (!S_ISDIR(st.st_mode))
		return failed("write into", path, ENOTDIR);
	return 0;
}

/* Renaming over a device or pipe would replace it. */
static bool is_direct(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static const int ending_signals[] = { SIGHUP, SIGINT, SIGTERM };
#define ENDING_SIGNALS (sizeof(ending_signals) / sizeof(*ending_signals))

/* The name that a signal takes away; borrowed from the one file being written. */
static char *_Atomic temp_armed;
static struct sigaction before[ENDING_SIGNALS];

static void on_end(int sig)
{
	char *temp = atomic_load_explicit(&temp_armed, memory_order_relaxed);

	if (temp)
		unlink(temp);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Before the file is there: what mkstemp() has not made cannot be unlinked. */
static void temp_arm(char *temp)
{
	struct sigaction ours;

	memset(&ours, 0, sizeof(ours));
	ours.sa_handler = on_end;
	sigemptyset(&ours.sa_mask);
	atomic_store_explicit(&temp_armed, temp, memory_order_relaxed);
	for (size_t i = 0; i < ENDING_SIGNALS; i++) {
		sigaction(ending_signals[i], NULL, &before[i]);
		/* Ignored (nohup) or somebody's own: left alone. */
		if (!(before[i].sa_flags & SA_SIGINFO) && before[i].sa_handler == SIG_DFL)
			sigaction(ending_signals[i], &ours, NULL);
	}
}

static void temp_disarm(void)
{
	if (!atomic_load_explicit(&temp_armed, memory_order_relaxed))
		return;
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaction(ending_signals[i], &before[i], NULL);
	atomic_store_explicit(&temp_armed, NULL, memory_order_relaxed);
}

static int temp_open(struct bench_file *f)
{
	const char *slash = strrchr(f->path, '/');
	int dir_length = slash ? (int)(slash - f->path) + 1 : 0;
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (snprintf(f->temp, sizeof(f->temp), "%.*s.%s.XXXXXX", dir_length, f->path,
		     f->path + dir_length) >= (int)sizeof(f->temp)) {
		f->temp[0] = '\0';
		errno = ENAMETOOLONG;
		return -1;
	}
	temp_arm(f->temp);
	fd = mkstemp(f->temp);
	if (fd < 0) {
		f->temp[0] = '\0';
		return -1;
	}
	/* mkstemp() makes it private; a report is an ordinary file. */
	if (fchmod(fd, 0666 & ~mask))
		bench_error("cannot set the mode of %s: %s", f->temp, strerror(errno));
	return fd;
}

static int open_target(struct bench_file *f)
{
	struct stat st;

	if (!strcmp(f->path, "-"))
		return STDOUT_FILENO;
	errno = *f->path ? EISDIR : ENOENT;
	if (!*f->path || (!stat(f->path, &st) && S_ISDIR(st.st_mode)))
		return -1;
	if (is_direct(f->path))
		return open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return temp_open(f);
}

static void close_target(struct bench_file *f)
{
	if (f->fd >= 0 && f->fd != STDOUT_FILENO)
		close(f->fd);
	f->fd = -1;
	if (f->temp[0])
		unlink(f->temp);
	temp_disarm();
}

/* A stream to the file, with a descriptor of its own: commit closes both. */
static FILE *open_direct(int fd)
{
	int own;
	FILE *stream;

	/* What was printed before comes before. */
	if (fd == STDOUT_FILENO && fflush(stdout))
		return NULL;
	own = dup(fd);
	if (own < 0)
		return NULL;
	stream = fdopen(own, "w");
	if (!stream)
		close(own);
	return stream;
}

static int begin(struct bench_file *f, const char *path, bool is_large)
{
	int error;

	memset(f, 0, sizeof(*f));
	f->fd = -1;
	if (snprintf(f->path, sizeof(f->path), "%s", path) >= (int)sizeof(f->path))
		return failed("write", path, ENAMETOOLONG);
	f->fd = open_target(f);
	if (f->fd < 0) {
		error = errno;
		temp_disarm();
		return failed("write", *path ? path : "\"\"", error);
	}
	f->stream = is_large ? open_direct(f->fd) : open_memstream(&f->text, &f->bytes);
	if (f->stream)
		return 0;
	error = errno;
	close_target(f);
	return failed("write", path, error);
}

int bench_file_begin(struct bench_file *f, const char *path)
{
	return begin(f, path, false);
}

int bench_file_begin_large(struct bench_file *f, const char *path)
{
	return begin(f, path, true);
}

/* 0 or errno. */
static int write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		text += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* The end of the stream: 0 or errno; then text is whole. */
static int close_stream(struct bench_file *f)
{
	int error = 0;

	/* The one thing that can fail in memory; in a file, why it did is long forgotten. */
	if (ferror(f->stream))
		error = f->text ? ENOMEM : EIO;
	if (fclose(f->stream) && !error)
		error = errno;
	f->stream = NULL;
	return error;
}

int bench_file_commit(struct bench_file *f)
{
	bool is_stdout = f->fd == STDOUT_FILENO;
	int error = close_stream(f);

	/* What was printed before comes before. */
	if (!error && is_stdout && fflush(stdout))
		error = errno;
	if (!error)
		error = write_all(f->fd, f->text, f->bytes);
	free(f->text);
	f->text = NULL;
	if (!error && f->temp[0] && fsync(f->fd))
		error = errno;
	if (!is_stdout && close(f->fd) && !error)
		error = errno;
	f->fd = -1;
	if (!error && f->temp[0] && rename(f->temp, f->path))
		error = errno;
	if (!error)
		f->temp[0] = '\0';
	close_target(f);
	return error ? failed("write", is_stdout ? "stdout" : f->path, error) : 0;
}

void bench_file_abandon(struct bench_file *f)
{
	if (!f->stream)
		return;
	(void)close_stream(f);
	free(f->text);
	f->text = NULL;
	close_target(f);
}

int bench_file_probe(const char *path)
{
	struct bench_file f;
	int rc;

	/* Opening a pipe without a reader would wait. */
	if (!strcmp(path, "-") || is_direct(path))
		return 0;
	rc = bench_file_begin(&f, path);
	if (!rc)
		bench_file_abandon(&f);
	return rc;
}
