/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Warps of tree.h as threads, on Linux (-std=gnu17, or _GNU_SOURCE defined): a parked one sleeps on
 * a futex, at the low half of its barrier.  Each thread says which warp it is, by
 * wic_tree_thread_set(), before it waits.
 */
#ifndef WIC_TREE_THREADS_H
#define WIC_TREE_THREADS_H

#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <wic/tree_gcc.h>

/* A parked thread looks at its deadline as often, at least. */
#define WIC_T_PARK_NS 4000000u
#define WIC_T_NAP_NS_MAX 20000u

struct wic_tree_thread {
	uint32_t block;
	uint32_t warp;
};

static __thread struct wic_tree_thread wic_tree_thread_;

/**
 * wic_tree_thread_set() - This thread is a warp of a block.
 * @block: any number; for people.
 * @warp: its number in its lot, less than the lot's warps.  Two threads with one number in one
 *	lot hang, past their deadlines too.
 *
 * Context: thread, before its first wait in this source file's functions.
 */
WIC_TREE_FN void wic_tree_thread_set(uint32_t block, uint32_t warp)
{
	wic_tree_thread_.block = block;
	wic_tree_thread_.warp = warp;
}

WIC_TREE_FN uint32_t wic_t_warp(void)
{
	return wic_tree_thread_.warp;
}

WIC_TREE_FN uint32_t wic_t_block(void)
{
	return wic_tree_thread_.block;
}

WIC_TREE_FN uint64_t wic_t_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

WIC_TREE_FN void wic_t_nap(uint32_t ns)
{
	struct timespec t;

	t.tv_sec = 0;
	t.tv_nsec = (long)ns;
	/* Shorter than a sleep takes. */
	if (ns < 5000)
		sched_yield();
	else
		nanosleep(&t, NULL);
}

/* Little end first: the half that counts. */
WIC_TREE_FN uint32_t *wic_t_barrier_(uint64_t *barrier)
{
	return (uint32_t *)barrier;
}

WIC_TREE_FN void wic_t_arrive(uint64_t *barrier)
{
	__atomic_fetch_add(wic_t_barrier_(barrier), 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, wic_t_barrier_(barrier), FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Sleeps until an arrive has ended the parity, or a while: 1: it has. */
WIC_TREE_FN uint32_t wic_t_park(uint64_t *barrier, uint32_t parity, uint64_t until)
{
	uint32_t seen = __atomic_load_n(wic_t_barrier_(barrier), __ATOMIC_ACQUIRE);
	uint64_t now, left;
	struct timespec t;

	if ((seen & 1) != parity)
		return 1;
	now = wic_t_now();
	left = until > now ? until - now : 0;
	if (!left)
		return 0;
	t.tv_sec = 0;
	t.tv_nsec = (long)(left > WIC_T_PARK_NS ? WIC_T_PARK_NS : left);
	syscall(SYS_futex, wic_t_barrier_(barrier), FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
	return (__atomic_load_n(wic_t_barrier_(barrier), __ATOMIC_ACQUIRE) & 1) != parity;
}

#endif /* WIC_TREE_THREADS_H */
