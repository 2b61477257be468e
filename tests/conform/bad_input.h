/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Bad input by table: a row a public function, a cell a way to misuse it.  A cell is a call
 * with its documented result, or the sentence of the headers that forbids it, or why there is
 * nothing to misuse.  bad_input_test.c runs the cells; after each the context still exchanges
 * what takes its whole pool, and has counted nothing.
 *
 * Cells of host functions run on a host thread, those of device functions in a kernel, but
 * for three ways: the wrong thread is the other one; a fault handler runs over both; and a
 * child of fork() is alone with its parent's objects.
 *
 * ci/bad_input_rows.sh, which the build runs, compares the rows with the headers.
 */
#ifndef WIC_TESTS_CONFORM_BAD_INPUT_H
#define WIC_TESTS_CONFORM_BAD_INPUT_H

#include <stdbool.h>

#include <wic/kernel.h>
#include <wic/wic.h>

enum bad_case {
	BAD_NULL = 0,
	BAD_KIND,  /* an object of the wrong kind */
	BAD_RANGE, /* a value out of range */
	BAD_SIZES, /* sizes and counts that overflow */
	BAD_CLOSED,
	BAD_TWICE, /* the first of the two calls is legal */
	BAD_THREAD,
	BAD_HANDLER,
	BAD_FORK,
	BAD_CASES,
};

#define BAD_TAGS 32u
#define BAD_POOL_PAGES 16u
#define BAD_SET (BAD_POOL_PAGES / 2) /* tags [0, BAD_SET) are the runner's, all its pages */
#define BAD_TAG 8u                   /* (BAD_TAG, data_epoch) is there in a device's BAD_TWICE */
#define BAD_TAG_OF_P 16u             /* tags from here on are the producer handle's */
#define BAD_TAG_HELD 3u              /* (BAD_TAG_HELD, 1) of to_host is held by the host */
#define BAD_TAG_FREE 9u              /* staged and published by nobody else */
#define BAD_BYTES WIC_PAGE_BYTES
#define BAD_WAIT WIC_S(20)

/* Where refused calls must not write. */
struct bad_outputs {
	void *data;
	const void *const_data;
	struct wic *w;
	struct wic_channel *ch;
	struct wic_producer *p;
	size_t count;
	struct wic_waiter waiter;
	struct wic_event event;
	struct wic_stats stats;
	uint32_t tag;
};

struct bad_env {
	struct wic *w;      /* one device, one SM, the recorder on */
	struct wic *other;  /* the recorder off */
	struct wic *closed; /* was one */
	struct wic_channel *ch, *signals, *to_host, *to_host_signals;
	struct wic_channel *pat; /* to the host, signals, with words */
	struct wic_channel *closed_ch, *closed_to_host;
	struct wic_channel *stranger; /* of other */
	struct wic_producer *p;       /* of ch */
	struct wic_producer *closed_p /* of closed_ch, itself open */;
	struct wic_handle h_pat, h, h_signals, h_to_host, h_to_host_signals, h_closed,
		h_closed_to_host;
	struct wic_handle h_stranger; /* (0, 1) is on a page of other */
	struct wic_handle h_none;
	uint64_t serial;     /* an epoch greater than all before: ++ */
	uint64_t data_epoch; /* see BAD_TAG */
	bool is_push;        /* no pool: neither is too large for it, nor does a stage wait soon */
	struct bad_outputs out;
	/* The first cell's check that failed; a kernel cannot print. */
	const char *failed;
	int failed_line;
	long long failed_got, failed_wanted;
};

struct bad_cell {
	void (*call)(struct bad_env *e);
	const char *forbidden; /* a sentence, or part of one, of include/wic */
	const char *none;      /* why there is nothing to misuse */
	bool is_legal;         /* a call, and one that may count; BAD_TWICE always is */
};

struct bad_row {
	const char *name;
	bool is_device;
	struct bad_cell cells[BAD_CASES];
};

#define CALL(f)                \
	{                      \
		f, 0, 0, false \
	}
#define LEGAL(f)              \
	{                     \
		f, 0, 0, true \
	}
#define NEVER(sentence)               \
	{                             \
		0, sentence, 0, false \
	}
#define NONE(why)                \
	{                        \
		0, 0, why, false \
	}
/* All nine cells or it does not compile. */
#define BAD_ROW(function, null, kind, range, sizes, closed, twice, thread, handler, fork) \
	{                                                                                 \
#function, false,                                                         \
		{                                                                         \
			null, kind, range, sizes, closed, twice, thread, handler, fork    \
		}                                                                         \
	}
#define BAD_DEVICE_ROW(function, null, kind, range, sizes, closed, twice, thread, handler, fork) \
	{                                                                                        \
#function, true,                                                                 \
		{                                                                                \
			null, kind, range, sizes, closed, twice, thread, handler, fork           \
		}                                                                                \
	}

#define NO_POINTER NONE("takes no pointer")
#define NO_OBJECT NONE("takes no object")
#define NO_RANGE NONE("takes no number, or every number is legal")
#define NO_SIZE NONE("takes no size and no count")
#define NO_STATE NONE("has no state that a second call could meet")
#define IN_HANDLER NEVER("none may be called from a signal handler")
#define IN_DEVICE_HANDLER \
	NEVER("None of them may be called from a signal handler that runs over a kernel's warp.")
#define NOT_LOOKED_UP NEVER("the others must not be given such a pointer")
#define GONE NEVER("nothing may use an object while or after it is destroyed")
#define OUTSIDE NEVER("the ids, additions and reductions must not be called there")

/* Terminated by a row without a name. */
extern const struct bad_row bad_context_rows[];
extern const struct bad_row bad_channel_rows[];
extern const struct bad_row bad_producer_rows[];
extern const struct bad_row bad_device_rows[];

void bad_check(struct bad_env *e, const char *what, int line, long long got, long long wanted);
/* Lines of error and warning that were logged so far. */
uint32_t bad_log_lines(void);
/* A channel of e->w; @bytes a tag. */
struct wic_channel *bad_channel(struct wic *w, uint32_t tags, uint64_t bytes, bool to_host);
/* Host thread: a kernel publishes an epoch of tag 0 of e->to_host; returns it. */
uint64_t bad_produce(struct bad_env *e);
/* Host thread: run @call in a kernel of one warp. */
void bad_in_kernel(struct bad_env *e, struct wic *w, void (*call)(struct bad_env *e));

#define BAD_WANT(wanted, got) bad_check(e, #got, __LINE__, (long long)(got), (long long)(wanted))
/* A statement that logs so many lines. */
#define BAD_LOGS(lines, statement)                                                            \
	do {                                                                                  \
		uint32_t before_ = bad_log_lines();                                           \
		statement;                                                                    \
		bad_check(e, #statement " logs", __LINE__, bad_log_lines() - before_, lines); \
	} while (0)

#endif /* WIC_TESTS_CONFORM_BAD_INPUT_H */
