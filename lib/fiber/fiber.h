/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Fibers: a stack and the place where it stopped.
 *
 * A switch saves the callee-saved registers and the two floating-point control
 * words (about 6 ns on x86-64); signal masks are not touched (ucontext would, for 1.2 us).
 * A fiber may be left from inside a signal handler that runs on its stack and be
 * resumed later, also on another thread; WIC keeps each on the thread that started
 * it.  The stacks of a set are one mapping, each with a guard page below it.
 *
 * The switch is ours, some 20 instructions, and not Boost.Context's: the library
 * must build where nothing but a C compiler and CMake is installed.
 *
 * Sanitizers: switches are announced to ASan and TSan.
 */
#ifndef WIC_LIB_FIBER_H
#define WIC_LIB_FIBER_H

#include <stddef.h>
#include <stdint.h>

struct wic_fiber {
	void *sp;        /* where it stopped; valid while it does not run */
	void *stack_low; /* borrowed from its stacks; NULL: a thread's own stack */
	size_t stack_bytes;
	void *asan_fake_stack;
	void *tsan_fiber;
	void (*entry)(void *arg); /* must not return: it ends by switching away */
	void *arg;
};

struct wic_stacks {
	unsigned char *base; /* owned mapping */
	size_t bytes;
	size_t stride; /* guard page + stack */
	size_t stack_bytes;
	uint32_t count;
};

/* @stack_bytes is rounded up to pages.  0 or -ENOMEM. */
int wic_stacks_create(struct wic_stacks *s, uint32_t count, size_t stack_bytes);
void wic_stacks_destroy(struct wic_stacks *s);
void *wic_stacks_low(const struct wic_stacks *s, uint32_t index);

/* The calling thread's own stack as a fiber to come back to. */
void wic_fiber_init_thread(struct wic_fiber *f);
/* A new fiber that will run entry(arg) at the first switch to it. */
void wic_fiber_init(struct wic_fiber *f, void *stack_low, size_t stack_bytes,
		    void (*entry)(void *arg), void *arg);
void wic_fiber_fini(struct wic_fiber *f);

/* Stop @from (the running one) and go on with @to. */
void wic_fiber_switch(struct wic_fiber *from, struct wic_fiber *to);
/* As wic_fiber_switch(), by a fiber that never runs again. */
void wic_fiber_exit(struct wic_fiber *from, struct wic_fiber *to) __attribute__((noreturn));

#endif /* WIC_LIB_FIBER_H */
