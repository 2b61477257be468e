/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The kernel cut at its waits: a launch runs, of each warp, what lies between two of
 * them, and ends.  Between launches the host waits.  See methods/split/cut.h.
 */
#ifndef WIC_METHODS_SPLIT_DEVICE_H
#define WIC_METHODS_SPLIT_DEVICE_H

#include <string.h>

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

/* This warp's cut; NULL: it has no more to do, and @rc_out is what its last wait came to. */
WIC_DEVICE struct m_cut *m_cut_enter(const struct m_state *s, int *rc_out)
{
	struct m_cut *cut = &s->m->cuts->cut[wic_block_id() * wic_block_warps() + wic_warp_id()];

	*rc_out = cut->rc;
	if (cut->rc)
		cut->is_over = 1;
	return cut->is_over ? NULL : cut;
}

WIC_DEVICE void *m_cut_data(const struct m_state *s, const struct m_cut *cut)
{
	return cut->want.tag == WIC_NO_TAG ? NULL
					   : s->m->data + (uint64_t)cut->want.tag * s->m->stride;
}

/*
 * What is kept across a wait.  On a GPU a cut lies in host memory, so as few accesses as can be:
 * nvcc takes the type's alignment for an assignment, and bytes for memcpy().
 */
#ifdef __CUDACC__
template <typename T> WIC_DEVICE void m_cut_save(uint64_t *to, const T *from)
{
	*(T *)to = *from;
}
template <typename T> WIC_DEVICE void m_cut_load(T *to, const uint64_t *from)
{
	*to = *(const T *)from;
}
#else
#define m_cut_save(to, from) memcpy(to, from, sizeof(*(from)))
#define m_cut_load(to, from) memcpy(to, from, sizeof(*(to)))
#endif

#define M_ROUNDS(rc, state, env, kept_, c1, c2)                                           \
	do {                                                                              \
		struct m_cut *cut_ = m_cut_enter(state, &(rc));                           \
                                                                                          \
		WIC_STATIC_ASSERT(sizeof(*(kept_)) <= M_KEPT_BYTES_MAX, "kept is small"); \
		if (!cut_)                                                                \
			break;                                                            \
		if (cut_->is_waiting) {                                                   \
			m_cut_load(kept_, cut_->kept);                                    \
			c2(env, kept_, m_cut_data(state, cut_));                          \
		}                                                                         \
		cut_->is_waiting = (uint8_t)c1(env, kept_, &cut_->want);                  \
		cut_->is_over = !cut_->is_waiting;                                        \
		m_cut_save(cut_->kept, kept_);                                            \
	} while (0)

#endif /* WIC_METHODS_SPLIT_DEVICE_H */
