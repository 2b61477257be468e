// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/fiber/fiber.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/dep.h"
#include "lib/fiber/frame.h"

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* Linux 6.13; a guard without a mapping of its own, so no limit on their number. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

#define PAGE_BYTES ((size_t)4096)

void wic_fiber_start(struct wic_fiber *f);

#ifdef FIBER_ASAN
static void san_before(struct wic_fiber *from, struct wic_fiber *to, int leaves_for_ever)
{
	__sanitizer_start_switch_fiber(leaves_for_ever ? NULL : &from->asan_fake_stack,
				       to->stack_low, to->stack_bytes);
}

/* ASan tells the bounds of the stack that was left: how a thread's own is learnt. */
static void san_after(struct wic_fiber *self, struct wic_fiber *left)
{
	const void *low = NULL;
	size_t bytes = 0;

	__sanitizer_finish_switch_fiber(self->asan_fake_stack, &low, &bytes);
	if (left && !left->stack_low) {
		left->stack_low = (void *)(uintptr_t)low;
		left->stack_bytes = bytes;
	}
}
#elif defined(FIBER_TSAN)
/*
 * Inlined by force: TSan counts calls and returns a fiber, and a call of this function
 * would begin in one fiber and return in the other.
 */
__attribute__((always_inline)) static inline void
san_before(struct wic_fiber *from, struct wic_fiber *to, int leaves_for_ever)
{
	(void)from;
	(void)leaves_for_ever;
	__tsan_switch_to_fiber(to->tsan_fiber, 0);
}

static void san_after(struct wic_fiber *self, struct wic_fiber *left)
{
	(void)self;
	(void)left;
}
#else
static inline void san_before(struct wic_fiber *from, struct wic_fiber *to, int leaves_for_ever)
{
	(void)from;
	(void)to;
	(void)leaves_for_ever;
}

static inline void san_after(struct wic_fiber *self, struct wic_fiber *left)
{
	(void)self;
	(void)left;
}
#endif

int wic_stacks_create(struct wic_stacks *s, uint32_t count, size_t stack_bytes)
{
	size_t stack = (stack_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	size_t stride = stack + PAGE_BYTES;
	unsigned char *base;

	base = mmap(NULL, stride * count, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (base == MAP_FAILED)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		unsigned char *guard = base + i * stride;

		/* An old kernel takes mprotect, two mappings a stack; past its limit, none. */
		if (madvise(guard, PAGE_BYTES, MADV_GUARD_INSTALL) &&
		    mprotect(guard, PAGE_BYTES, PROT_NONE))
			break;
	}
	*s = (struct wic_stacks){ .base = base,
				  .bytes = stride * count,
				  .stride = stride,
				  .stack_bytes = stack,
				  .count = count };
	return 0;
}

void wic_stacks_destroy(struct wic_stacks *s)
{
	if (!s->base)
		return;
#ifdef FIBER_ASAN
	/* The frames of fibers that never returned: the next mapping here is somebody else's. */
	__asan_unpoison_memory_region(s->base, s->bytes);
#endif
	munmap(s->base, s->bytes);
	memset(s, 0, sizeof(*s));
}

void *wic_stacks_low(const struct wic_stacks *s, uint32_t index)
{
	WIC_ASSERT(index < s->count);
	return s->base + index * s->stride + PAGE_BYTES;
}

void wic_fiber_init_thread(struct wic_fiber *f)
{
	memset(f, 0, sizeof(*f));
#ifdef FIBER_TSAN
	f->tsan_fiber = __tsan_get_current_fiber();
#endif
}

void wic_fiber_init(struct wic_fiber *f, void *stack_low, size_t stack_bytes,
		    void (*entry)(void *arg), void *arg)
{
	uint64_t *top = (uint64_t *)(((uintptr_t)stack_low + stack_bytes) & ~(uintptr_t)15);

#ifdef FIBER_ASAN
	__asan_unpoison_memory_region(stack_low, stack_bytes);
#endif
	memset(f, 0, sizeof(*f));
	f->stack_low = stack_low;
	f->stack_bytes = stack_bytes;
	f->entry = entry;
	f->arg = arg;
	f->sp = wic_fiber_frame_build(top, f);
#ifdef FIBER_TSAN
	f->tsan_fiber = __tsan_create_fiber(0);
#endif
}

void wic_fiber_fini(struct wic_fiber *f)
{
#ifdef FIBER_TSAN
	if (f->entry && f->tsan_fiber)
		__tsan_destroy_fiber(f->tsan_fiber);
#endif
	memset(f, 0, sizeof(*f));
}

/* Which fiber was left by the switch that is arriving; one a thread, not held across one. */
static _Thread_local struct wic_fiber *fiber_left;

void wic_fiber_start(struct wic_fiber *f)
{
	san_after(f, fiber_left);
	f->entry(f->arg);
	WIC_ASSERT(f->entry == NULL); /* it must not return */
	__builtin_unreachable();
}

void wic_fiber_switch(struct wic_fiber *from, struct wic_fiber *to)
{
	fiber_left = from;
	san_before(from, to, 0);
	wic_fiber_switch_asm(&from->sp, to->sp);
	san_after(from, fiber_left);
}

void wic_fiber_exit(struct wic_fiber *from, struct wic_fiber *to)
{
	fiber_left = from;
	san_before(from, to, 1);
	wic_fiber_switch_asm(&from->sp, to->sp);
	__builtin_unreachable();
}
