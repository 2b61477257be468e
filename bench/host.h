/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The machine that a figure comes from, and where this thread runs on it. */
#ifndef WIC_BENCH_HOST_H
#define WIC_BENCH_HOST_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One line: CPU model, cores that may be used, kernel; then what was added. */
const char *bench_machine(void);
/* Before a figure of the @device is written down, and before there are other threads. */
void bench_machine_add(const char *device);
/* Commit of the build, "-dirty" behind it when files differed from it, or "unknown". */
const char *bench_commit(void);
/* Now, UTC, ISO 8601 to the second. */
void bench_date(char *text, size_t bytes);

/* Cores that this process may use. */
uint32_t bench_cores(void);
/* Bytes that can be taken without swapping, half of them: what a run may use. */
uint64_t bench_memory_budget_bytes(void);

/*
 * The producer runs where the Monitor runs: on the last core, so that the SM
 * threads are left alone.  Threads inherit the mask, so contexts are opened with
 * the old one.
 */
struct bench_pin {
	cpu_set_t before;
	bool is_pinned;
};

/*
 * To a core of the process, also from a thread that inherited a mask of one.  Leaves the thread
 * where it is when WIC_UNPINNED is set or the mask cannot be read.
 */
void bench_pin_last(struct bench_pin *pin);
void bench_pin_core(struct bench_pin *pin, uint32_t index);
void bench_unpin(struct bench_pin *pin);
/* Are the threads of a context pinned (WIC_UNPINNED is not set)? */
bool bench_is_pinned(void);

/* Sleep until CLOCK_MONOTONIC reaches @due_ns, with the finest timer slack. */
void bench_sleep_until(uint64_t due_ns);

bool bench_is_utf8(void);
/* A terminal, and NO_COLOR is not set. */
bool bench_has_colour(FILE *stream);

/* "wic: ..." to stderr. */
void bench_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A line on a terminal that the next one overwrites; "" clears it.  Nothing elsewhere. */
void bench_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* WIC_BENCH_HOST_H */
