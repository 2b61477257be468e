/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Files that are whole or not there.  A report is written beside its place under
 * another name and renamed at the end, so that a crash or a full disk never leaves
 * half a file that looks like a whole one; a signal that ends the program takes the
 * other name away.  Devices and pipes (/dev/stdout) are written directly; "-" is stdout.
 * What goes to the stream is held in memory until commit, which knows why a write
 * failed: a stream does not.  What is too large for that is written as it comes, by
 * bench_file_begin_large(); then the caller looks at each write himself.
 * One file at a time, by one thread.
 *
 * The function that fails has said why on stderr.
 */
#ifndef WIC_BENCH_FILE_H
#define WIC_BENCH_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct bench_file {
	FILE *stream; /* owned: into text, or to the file */
	char *text;   /* owned, the stream's; NULL: it goes to the file */
	size_t bytes;
	int fd; /* owned, but stdout's; -1: none */
	char path[PATH_MAX];
	char temp[PATH_MAX]; /* "": written directly */
};

/* Make a directory and those above it.  0 or -errno. */
int bench_dir_make(const char *path);
/* Could bench_file_begin() work?  Asked before minutes of measuring.  0 or -errno. */
int bench_file_probe(const char *path);
/* 0 or -errno. */
int bench_file_begin(struct bench_file *f, const char *path);
int bench_file_begin_large(struct bench_file *f, const char *path);
/* Everything on the disk and in place, or nothing.  0 or -errno. */
int bench_file_commit(struct bench_file *f);
void bench_file_abandon(struct bench_file *f);

#endif /* WIC_BENCH_FILE_H */
