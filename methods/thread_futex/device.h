/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Threads of the operating system that sleep on a futex, a warp = a thread; cpu
 * only.  What the cpu back-end does by its scheduler of warps is replaced here, so
 * that a kernel's source need not know: the warps of a block are no longer one
 * thread.  Their turns are the operating system's.
 */
#ifndef WIC_METHODS_THREAD_FUTEX_DEVICE_H
#define WIC_METHODS_THREAD_FUTEX_DEVICE_H

#include <wic/kernel.h>

#include "methods/method.h"
#include "methods/thread_futex/wait.h"

#define wic_bar() m_threads_bar()
#define wic_turn() ((void)0)
#define wic_block_add_u32(p, v) wic_atomic_add_u32(p, v)

/* Its turns are those of above. */
#include "methods/carry.h"

#define M_SHARED_BYTES(warps) (0u * (uint32_t)(warps))

struct m_state {
	const struct m_args *m; /* borrowed from the kernel's arguments */
};

WIC_DEVICE void m_begin(void)
{
}

WIC_DEVICE void m_init(struct m_state *s, const struct m_args *m)
{
	s->m = m;
}

WIC_DEVICE int m_wait(struct m_state *s, uint32_t tag, uint64_t epoch, void **data_out)
{
	int rc;

	if (tag == WIC_NO_TAG)
		return 0;
	rc = m_threads_wait(s->m, tag, epoch);
	if (rc == 0)
		*data_out = s->m->data + (uint64_t)tag * s->m->stride;
	return rc;
}

WIC_DEVICE void m_done(struct m_state *s, uint32_t tag, uint64_t epoch)
{
	(void)s;
	(void)tag;
	(void)epoch;
}

WIC_DEVICE int m_stage(struct m_state *s, uint32_t tag, uint64_t epoch, void **buffer_out)
{
	(void)epoch;
	*buffer_out = m_carry_buffer(s->m, tag);
	return 0;
}

WIC_DEVICE int m_publish(struct m_state *s, uint32_t tag, uint64_t epoch)
{
	m_carry_copy(s->m, tag);
	m_threads_publish(s->m, tag, epoch);
	return 0;
}

#endif /* WIC_METHODS_THREAD_FUTEX_DEVICE_H */
