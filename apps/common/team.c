/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/common/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "backends/cpu/gate.h"
#include "lib/log.h"
#include "lib/machine.h"

#define LOOKS_PER_YIELD 64

struct helper {
	struct team *t; /* borrowed: its owner */
	pthread_t id;
	uint32_t part;
};

/*
 * The caller stores work and arg, then counts the job up (release); helpers acquire it, and count
 * done up (release), which the caller acquires.
 */
struct team {
	void (*work)(void *arg, uint32_t part);
	void *arg;
	uint32_t job;  /* atomic, a futex: number of the last job */
	uint32_t done; /* atomic: helpers that have done it */
	bool stop;     /* written before a job is counted up */
	uint32_t helpers;
	struct helper helper[TEAM_THREADS_MAX - 1];
};

/* Where there are more threads than cores, whom one waits for may have none. */
static void look_pause(uint32_t *looks)
{
	if (++*looks % LOOKS_PER_YIELD)
		wic_machine_pause();
	else
		sched_yield();
}

/* A job after @seen. */
static uint32_t next_job(struct team *t, uint32_t seen)
{
	uint64_t end_ns = wic_now_ns() + TEAM_LOOK_NS;
	uint32_t job, looks = 0;

	for (;;) {
		/* Pairs with begin(). */
		job = __atomic_load_n(&t->job, __ATOMIC_ACQUIRE);
		if (job != seen)
			return job;
		if (wic_now_ns() < end_ns)
			look_pause(&looks);
		else
			wic_cpu_futex_wait(&t->job, seen, UINT64_MAX);
	}
}

static void *helper_main(void *arg)
{
	struct helper *h = arg;
	struct team *t = h->t;
	uint32_t seen = 0;

	for (;;) {
		seen = next_job(t, seen);
		if (t->stop)
			return NULL;
		t->work(t->arg, h->part);
		/* Pairs with the load in team_run(). */
		__atomic_fetch_add(&t->done, 1, __ATOMIC_RELEASE);
	}
}

static void begin(struct team *t)
{
	/* Pairs with next_job(). */
	__atomic_fetch_add(&t->job, 1, __ATOMIC_RELEASE);
	wic_cpu_futex_wake_all(&t->job);
}

struct team *team_create(uint32_t threads)
{
	struct team *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	while (t->helpers + 1 < threads && t->helpers < TEAM_THREADS_MAX - 1) {
		struct helper *h = &t->helper[t->helpers];

		h->t = t;
		h->part = t->helpers + 1;
		if (pthread_create(&h->id, NULL, helper_main, h)) {
			team_destroy(t);
			return NULL;
		}
		t->helpers++;
	}
	return t;
}

void team_destroy(struct team *t)
{
	if (!t)
		return;
	t->stop = true;
	begin(t);
	for (uint32_t i = 0; i < t->helpers; i++)
		pthread_join(t->helper[i].id, NULL);
	free(t);
}

uint32_t team_threads(const struct team *t)
{
	return t->helpers + 1;
}

void team_run(struct team *t, void (*work)(void *arg, uint32_t part), void *arg)
{
	uint32_t looks = 0;

	t->work = work;
	t->arg = arg;
	__atomic_store_n(&t->done, 0, __ATOMIC_RELAXED);
	if (t->helpers)
		begin(t);
	work(arg, 0);
	/* Pairs with the helpers' adds. */
	while (__atomic_load_n(&t->done, __ATOMIC_ACQUIRE) != t->helpers)
		look_pause(&looks);
}
