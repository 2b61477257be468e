/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "methods/thread_futex/threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wic/kernel.h>

#include "lib/log.h"
#include "methods/flag.h"
#include "methods/method.h"
#include "methods/thread_futex/barrier.h"
#include "methods/thread_futex/wait.h"

/* Kernels have small frames; the view of an SM is 32 KiB, of which a line is touched. */
#define STACK_BYTES (512u << 10)

struct thread {
	pthread_t id;
	struct m_threads *owner;
	uint32_t index; /* runs warp index of the grid */
};

/* All fields but the threads' own are the lock's; what a launch uses is constant while it runs. */
struct m_threads {
	pthread_mutex_t lock;
	pthread_cond_t go;   /* a launch, or the end */
	pthread_cond_t done; /* running is 0 */
	struct wic_launch_desc launch;
	struct m_barrier *barriers; /* owned: one a block of the launch */
	unsigned char *shared;      /* owned: shared_stride bytes a block */
	uint64_t shared_stride;
	uint64_t launches;
	uint32_t warps;   /* of the launch */
	uint32_t running; /* warps that have not returned */
	uint32_t started; /* threads */
	bool stop;
	cpu_set_t cores;
	struct thread threads[M_THREADS_MAX];
};

static __thread struct m_barrier *barrier_self;

void m_threads_bar(void)
{
	m_barrier_wait(barrier_self);
}

int m_threads_wait(const struct m_args *m, uint32_t tag, uint64_t epoch)
{
	return m_flag_wait(m->flags, tag, epoch, wic_deadline_ns(wic_now_ns(), m->timeout_ns));
}

void m_threads_publish(const struct m_args *m, uint32_t tag, uint64_t epoch)
{
	m_flag_publish(m->flags, tag, epoch);
}

static void run_warp(struct m_threads *t, uint32_t index)
{
	uint32_t block_threads = t->launch.block_threads;
	uint32_t block_warps = (block_threads + WIC_WARP_LANES - 1) / WIC_WARP_LANES;
	uint32_t block = index / block_warps, warp = index % block_warps;
	uint32_t left = block_threads - warp * WIC_WARP_LANES;
	struct wic_warp_view view = {
		block,
		warp,
		block_warps,
		block_threads,
		t->launch.grid_blocks,
		left < WIC_WARP_LANES ? left : WIC_WARP_LANES,
		t->shared + t->shared_stride * block,
	};
	struct wic_sm_view sm;

	/* Its ring is for releases, which a kernel compiled for this method has not. */
	sm.warp = &view;
	sm.release_head = 0;
	sm.release_limit = 0;
	wic_sm_self_ = &sm;
	barrier_self = &t->barriers[block];
	t->launch.kernel(t->launch.args);
	m_barrier_leave(barrier_self);
	barrier_self = NULL;
	wic_sm_self_ = NULL;
}

static void *thread_main(void *arg)
{
	struct thread *self = arg;
	struct m_threads *t = self->owner;
	uint64_t seen = 0;

	pthread_mutex_lock(&t->lock);
	while (!t->stop) {
		/* A launch that this thread is not needed for may have begun and ended. */
		if (t->launches == seen || self->index >= t->warps || !t->running) {
			pthread_cond_wait(&t->go, &t->lock);
			continue;
		}
		seen = t->launches;
		pthread_mutex_unlock(&t->lock);
		run_warp(t, self->index);
		pthread_mutex_lock(&t->lock);
		if (--t->running == 0)
			pthread_cond_broadcast(&t->done);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct m_threads *m_threads_create(const cpu_set_t *cores)
{
	struct m_threads *t = calloc(1, sizeof(*t));
	pthread_condattr_t clock;

	if (!t) {
		(void)wic_fail(-ENOMEM, "method thread-futex: no memory");
		return NULL;
	}
	t->cores = *cores;
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&t->go, NULL);
	pthread_cond_init(&t->done, &clock);
	pthread_condattr_destroy(&clock);
	return t;
}

void m_threads_destroy(struct m_threads *t)
{
	if (!t)
		return;
	(void)m_threads_sync(t, WIC_FOREVER);
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_broadcast(&t->go);
	pthread_mutex_unlock(&t->lock);
	for (uint32_t i = 0; i < t->started; i++)
		pthread_join(t->threads[i].id, NULL);
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->go);
	pthread_mutex_destroy(&t->lock);
	free(t->barriers);
	free(t->shared);
	free(t);
}

/* As many threads as the launch has warps.  Under the lock. */
static int threads_start(struct m_threads *t, uint32_t count)
{
	pthread_attr_t attr;
	int rc = 0;

	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(t->cores), &t->cores);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (; t->started < count && !rc; t->started += !rc) {
		struct thread *self = &t->threads[t->started];

		self->owner = t;
		self->index = t->started;
		rc = -pthread_create(&self->id, &attr, thread_main, self);
	}
	pthread_attr_destroy(&attr);
	if (rc)
		return wic_fail(rc, "method thread-futex: thread %u of %u: %s", t->started, count,
				strerror(-rc));
	return 0;
}

/* Barriers and zeroed shared memory for a launch.  Under the lock. */
static int blocks_prepare(struct m_threads *t, const struct wic_launch_desc *l)
{
	uint32_t block_warps = (l->block_threads + WIC_WARP_LANES - 1) / WIC_WARP_LANES;

	free(t->barriers);
	free(t->shared);
	t->shared_stride = (l->shared_bytes / 64 + 1) * 64;
	t->barriers = aligned_alloc(64, l->grid_blocks * sizeof(*t->barriers));
	t->shared = aligned_alloc(64, l->grid_blocks * t->shared_stride);
	if (!t->barriers || !t->shared)
		return wic_fail(-ENOMEM, "method thread-futex: no memory for %u blocks",
				l->grid_blocks);
	memset(t->shared, 0, l->grid_blocks * t->shared_stride);
	for (uint32_t i = 0; i < l->grid_blocks; i++)
		m_barrier_init(&t->barriers[i], block_warps);
	return 0;
}

/* Under the lock. */
static int launch_locked(struct m_threads *t, const struct wic_launch_desc *l)
{
	uint64_t warps = method_launch_warps(l);
	int rc;

	if (t->running)
		return wic_fail(-EBUSY, "method thread-futex: a kernel is running");
	if (!l->kernel || !warps)
		return wic_fail(-EINVAL, "method thread-futex: no kernel, or no warps");
	if (warps > M_THREADS_MAX)
		return wic_fail(-ENOTSUP, "method thread-futex: %llu warps, at most %u",
				(unsigned long long)warps, M_THREADS_MAX);
	rc = threads_start(t, (uint32_t)warps);
	if (!rc)
		rc = blocks_prepare(t, l);
	if (rc)
		return rc;
	t->launch = *l;
	t->warps = (uint32_t)warps;
	t->running = (uint32_t)warps;
	t->launches++;
	pthread_cond_broadcast(&t->go);
	return 0;
}

int m_threads_launch(struct m_threads *t, const struct wic_launch_desc *l)
{
	int rc;

	pthread_mutex_lock(&t->lock);
	rc = launch_locked(t, l);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

int m_threads_sync(struct m_threads *t, uint64_t timeout_ns)
{
	uint64_t deadline_ns = wic_deadline_ns(wic_now_ns(), timeout_ns);
	struct timespec due = { (time_t)(deadline_ns / 1000000000u),
				(long)(deadline_ns % 1000000000u) };
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	while (t->running && !rc)
		rc = -pthread_cond_timedwait(&t->done, &t->lock, &due);
	if (t->running)
		rc = wic_fail(-ETIMEDOUT, "method thread-futex: the kernel runs on");
	else
		rc = 0;
	pthread_mutex_unlock(&t->lock);
	return rc;
}
