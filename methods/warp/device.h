/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Every warp that waits looks for itself: no block barrier, so no warp waits for
 * the slowest of its block, but each of them takes turns for its looks.
 *
 * CUDA: lane 0 looks, the others stand at the barrier of the warp.
 */
#ifndef WIC_METHODS_WARP_DEVICE_H
#define WIC_METHODS_WARP_DEVICE_H

/* How it looks, then the loop. */
#include "methods/relaxed.h"
/* The order matters. */
#include "methods/carry.h"
#include "methods/look.h"

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
	rc = m_poll(s->m, tag, epoch);
	m_note(M_EVENT(COMPUTE), tag, epoch);
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
	M_SHOW(&s->m->flags[(uint64_t)tag * M_FLAG_WORDS], epoch);
	return 0;
}

#endif /* WIC_METHODS_WARP_DEVICE_H */
