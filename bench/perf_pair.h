/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What `wic perf latency` and `rate` compare with, and the host's half of a round trip.
 *
 * A *pair* is the least that could wake somebody here: 1 to 32 threads on one core wait
 * for a word that only grows, by a futex or by looking at it all the time, and add to a
 * counter when they see it.  No data, no tags, no deadline.  The publisher makes the
 * system call only when somebody sleeps.
 *
 * A *ping* publishes, waits until the counter says that all waiters have gone on, and
 * does it again: for a pair and for warps alike.
 */
#ifndef WIC_BENCH_PERF_PAIR_H
#define WIC_BENCH_PERF_PAIR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/host.h"

#define BENCH_PAIR_WAITERS_MAX 32
/* How long a publisher waits for an answer before the measurement has failed. */
#define BENCH_PING_TIMEOUT_NS 20000000000ull

enum bench_pair_kind { BENCH_PAIR_FUTEX, BENCH_PAIR_SPIN };

struct bench_pair {
	/* Words that cross threads, a line each. */
	uint32_t word __attribute__((aligned(64)));     /* what is published; futex */
	uint32_t sleepers __attribute__((aligned(64))); /* pairs with word: Dekker */
	uint64_t arrived __attribute__((aligned(64)));  /* wakes, of all waiters together */
	/* Constant while the threads run. */
	enum bench_pair_kind kind __attribute__((aligned(64)));
	uint32_t waiters;
	uint32_t core;    /* of all waiters; an index among those of the process */
	uint32_t count;   /* epochs 1 to count */
	uint64_t *stamps; /* borrowed; when each epoch was seen (one waiter); NULL: not kept */
	uint32_t started;
	pthread_t threads[BENCH_PAIR_WAITERS_MAX];
};

/* Start the threads; the fields above are set, the words are 0.  0 or -errno. */
int bench_pair_start(struct bench_pair *p);
void bench_pair_publish(struct bench_pair *p, uint32_t epoch);
/* End the threads, whether or not all was published. */
void bench_pair_stop(struct bench_pair *p);

struct bench_ping {
	void *arg;
	/* Before the clock starts; NULL: nothing to do.  0 or -errno. */
	int (*prepare)(void *arg, uint64_t epoch);
	int (*publish)(void *arg, uint64_t epoch);
	const uint64_t *arrived; /* borrowed, atomic; grows by waiters an epoch */
	uint32_t waiters;
	uint64_t gap_ns; /* from an answer to the next publish */
};

/* Epochs 1 to count, ns each.  0; -ETIMEDOUT: an answer did not come; what a call gave. */
int bench_ping_run(const struct bench_ping *ping, double *ns_out, uint32_t count);
/* The same of a pair from its start to its stop. */
int bench_ping_pair(struct bench_pair *p, uint64_t gap_ns, double *ns_out);

/*
 * The publisher: a core of its own beside the Monitor's, where there are three; with
 * fewer it shares the Monitor's, and gives it away at each look.
 */
void bench_pin_publisher(struct bench_pin *pin);
bool bench_publisher_is_alone(void);
void bench_publisher_relax(void);
/* Until @due_ns: asleep while it is far, then looking at the clock. */
void bench_publisher_wait_until(uint64_t due_ns);

#endif /* WIC_BENCH_PERF_PAIR_H */
