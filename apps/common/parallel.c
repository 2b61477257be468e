/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/common/parallel.h"

#include <pthread.h>
#include <sched.h>

#define PARALLEL_THREADS_MAX 16

struct parallel {
	int (*work)(void *arg, uint32_t index);
	void *arg;
	uint32_t count;
	uint32_t next; /* atomic, relaxed: the joins order everything else */
	int rc;        /* atomic: the first failure */
};

static void *parallel_run(void *arg)
{
	struct parallel *p = arg;

	while (__atomic_load_n(&p->rc, __ATOMIC_RELAXED) == 0) {
		uint32_t i = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED);
		int none = 0, rc;

		if (i >= p->count)
			break;
		rc = p->work(p->arg, i);
		if (rc)
			__atomic_compare_exchange_n(&p->rc, &none, rc, 0, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
	}
	return NULL;
}

uint32_t parallel_cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

static uint32_t parallel_threads(uint32_t count)
{
	uint32_t cores = parallel_cores();

	if (cores > PARALLEL_THREADS_MAX)
		cores = PARALLEL_THREADS_MAX;
	return cores < count ? cores : count;
}

int parallel_for(uint32_t count, int (*work)(void *arg, uint32_t index), void *arg)
{
	struct parallel p = { work, arg, count, 0, 0 };
	pthread_t thread[PARALLEL_THREADS_MAX];
	uint32_t threads = parallel_threads(count), started = 0;

	/* One that cannot be started is not missed: the others do its share. */
	while (started + 1 < threads &&
	       pthread_create(&thread[started], NULL, parallel_run, &p) == 0)
		started++;
	parallel_run(&p);
	while (started)
		pthread_join(thread[--started], NULL);
	return p.rc;
}
