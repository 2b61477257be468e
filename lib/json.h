/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A JSON writer to a FILE.  Values go out in the order of the calls, nothing is
 * kept, so a report of any size needs no memory.
 *
 *	struct wic_json j;
 *
 *	wic_json_init(&j, file, WIC_JSON_PRETTY);
 *	wic_json_object_begin(&j, NULL);
 *	wic_json_string(&j, "app", name);
 *	wic_json_array_begin(&j, "ratio");
 *	wic_json_double(&j, NULL, 1.02);
 *	wic_json_array_end(&j);
 *	wic_json_object_end(&j);
 *	rc = wic_json_close(&j);		-ENOSPC when the disk was full
 *
 * @key is the member's name inside an object and NULL elsewhere; anything else,
 * like an end without its begin, is a misuse: it is remembered as -EINVAL, as the
 * first failed write is with its errno, and reported by wic_json_finish() or
 * wic_json_close().  After an error nothing more is written.  A double that JSON
 * has no word for (NaN, infinities) becomes null; the locale does not matter.
 * Integers go out with all their digits: readers that keep numbers as doubles
 * round those over 2^53.
 *
 * Locking: none, one thread at a time.
 */
#ifndef WIC_LIB_JSON_H
#define WIC_LIB_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define WIC_JSON_DEPTH_MAX 64

enum wic_json_style {
	WIC_JSON_COMPACT, /* one line, no spaces: a line of a JSON-lines file */
	WIC_JSON_PRETTY,  /* a line a value, indented by two spaces */
};

struct wic_json {
	FILE *file; /* borrowed; owned from wic_json_close() on */
	enum wic_json_style style;
	int error;            /* first error, 0: none */
	uint32_t depth;       /* open objects and arrays */
	uint64_t is_array;    /* bit n: level n is an array */
	uint64_t has_members; /* bit n: level n is not empty */
	bool is_done;         /* the one value of the top level is complete */
};

void wic_json_init(struct wic_json *j, FILE *file, enum wic_json_style style);

void wic_json_object_begin(struct wic_json *j, const char *key);
void wic_json_object_end(struct wic_json *j);
void wic_json_array_begin(struct wic_json *j, const char *key);
void wic_json_array_end(struct wic_json *j);

/* NULL is written as null; bytes that are no UTF-8 become U+FFFD. */
void wic_json_string(struct wic_json *j, const char *key, const char *value);
void wic_json_int(struct wic_json *j, const char *key, int64_t value);
void wic_json_uint(struct wic_json *j, const char *key, uint64_t value);
/* The fewest digits (at least as many as needed) that read back as the same double. */
void wic_json_double(struct wic_json *j, const char *key, double value);
void wic_json_bool(struct wic_json *j, const char *key, bool value);
void wic_json_null(struct wic_json *j, const char *key);

/**
 * wic_json_finish() - End the document with a newline and flush it.
 * @j: all objects and arrays ended.  Afterwards @j may write the next document
 *	to the same file, with nothing left of an error of this one.
 *
 * Return: 0; -EINVAL: misuse, or begins and ends do not match; -errno of the
 * first write that failed.
 */
int wic_json_finish(struct wic_json *j) __attribute__((warn_unused_result));

/* wic_json_finish(), then fclose(), whose error counts as well (NFS, quotas). */
int wic_json_close(struct wic_json *j) __attribute__((warn_unused_result));

#endif /* WIC_LIB_JSON_H */
