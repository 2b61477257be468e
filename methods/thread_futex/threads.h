/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A kernel on threads of the operating system, a warp = a thread.
 *
 * Threads are made at the first launch that needs them and kept.  A thread that runs a
 * warp has a view of its own at wic_sm_self_, so ids, lanes and shared memory are
 * what wic/kernel.h says; barrier, turns and the block's adds are replaced by
 * methods/thread_futex/device.h.  All warps of a grid run at once.
 *
 * The caller's functions: one thread at a time, but sync and launch may be two.
 */
#ifndef WIC_METHODS_THREAD_FUTEX_THREADS_H
#define WIC_METHODS_THREAD_FUTEX_THREADS_H

#include <sched.h>
#include <stdint.h>

#include <wic/wic.h>

#define M_THREADS_MAX 1024

struct m_threads;

/* @cores: where the threads may run.  NULL: no memory (said). */
struct m_threads *m_threads_create(const cpu_set_t *cores);
/* Waits for the kernel that runs.  @t may be NULL. */
void m_threads_destroy(struct m_threads *t);
/* As wic_launch(); -ENOTSUP: more than M_THREADS_MAX warps; -EAGAIN: no more threads. */
int m_threads_launch(struct m_threads *t, const struct wic_launch_desc *l);
/* As wic_sync(). */
int m_threads_sync(struct m_threads *t, uint64_t timeout_ns);

#endif /* WIC_METHODS_THREAD_FUTEX_THREADS_H */
