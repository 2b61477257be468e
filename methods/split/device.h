/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The kernel cut at its waits: a launch runs, of each warp, what lies between two of
 * them, and ends.  Between launches the host waits.  See methods/split/cut.h.
 */
#ifndef WIC_METHODS_SPLIT_DEVICE_H
#define WIC_METHODS_SPLIT_DEVICE_H

#include <wic/kernel.h>

#include "methods/method.h"
#include "methods/split/cut.h"

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

WIC_DEVICE void m_done(struct m_state *s, uint32_t tag, uint64_t epoch)
{
	(void)s;
	(void)tag;
	(void)epoch;
}

WIC_DEVICE void m_cut_copy(void *to, const void *from, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes; i++)
		((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}

/*
 * This warp's cut, with @kept as it was there; NULL: it has no more to do, and
 * @rc_out is what its last wait came to.
 */
WIC_DEVICE struct m_cut *m_cut_enter(const struct m_state *s, void *kept, uint32_t bytes,
				     int *rc_out)
{
	struct m_cut *cut = &s->m->cuts->cut[wic_block_id() * wic_block_warps() + wic_warp_id()];

	*rc_out = cut->rc;
	if (cut->rc)
		cut->is_over = 1;
	if (cut->is_over)
		return NULL;
	if (cut->is_waiting)
		m_cut_copy(kept, cut->kept, bytes);
	return cut;
}

WIC_DEVICE void *m_cut_data(const struct m_state *s, const struct m_cut *cut)
{
	return cut->want.tag == WIC_NO_TAG ? NULL
					   : s->m->data + (uint64_t)cut->want.tag * s->m->stride;
}

WIC_DEVICE void m_cut_leave(struct m_cut *cut, int is_waiting, const void *kept, uint32_t bytes)
{
	cut->is_waiting = (uint8_t)is_waiting;
	cut->is_over = !is_waiting;
	m_cut_copy(cut->kept, kept, bytes);
}

#define M_ROUNDS(rc, state, env, kept_, c1, c2)                                           \
	do {                                                                              \
		struct m_cut *cut_ = m_cut_enter(state, kept_, sizeof(*(kept_)), &(rc));  \
                                                                                          \
		WIC_STATIC_ASSERT(sizeof(*(kept_)) <= M_KEPT_BYTES_MAX, "kept is small"); \
		if (!cut_)                                                                \
			break;                                                            \
		if (cut_->is_waiting)                                                     \
			c2(env, kept_, m_cut_data(state, cut_));                          \
		m_cut_leave(cut_, c1(env, kept_, &cut_->want), kept_, sizeof(*(kept_)));  \
	} while (0)

#endif /* WIC_METHODS_SPLIT_DEVICE_H */
