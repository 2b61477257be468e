/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * WIC, a warp at a time: no block barrier, each warp is parked until its own tag
 * is there and the SM runs the others.
 */
#ifndef WIC_METHODS_WIC_DEVICE_H
#define WIC_METHODS_WIC_DEVICE_H

#include "methods/method.h"

#define M_SHARED_BYTES(warps) (0u * (uint32_t)(warps))

struct m_state {
	const struct m_args *m;
	int release_rc; /* first failed release, given by the next wait or stage */
};

WIC_DEVICE void m_init(struct m_state *s, const struct m_args *m)
{
	s->m = m;
	s->release_rc = 0;
}

WIC_DEVICE int m_wait(struct m_state *s, uint32_t tag, uint64_t epoch, void **data_out)
{
	if (s->release_rc)
		return s->release_rc;
	if (tag == WIC_NO_TAG)
		return 0;
	return wic_request(&s->m->h, NULL, tag, epoch, s->m->timeout_ns, data_out);
}

WIC_DEVICE void m_done(struct m_state *s, uint32_t tag, uint64_t epoch)
{
	int rc = wic_release(&s->m->h, tag, epoch);

	if (rc && !s->release_rc)
		s->release_rc = rc;
}

WIC_DEVICE int m_stage(struct m_state *s, uint32_t tag, uint64_t epoch, void **buffer_out)
{
	if (s->release_rc)
		return s->release_rc;
	return wic_warp_stage(&s->m->h, NULL, tag, epoch, s->m->timeout_ns, buffer_out);
}

WIC_DEVICE int m_publish(struct m_state *s, uint32_t tag, uint64_t epoch)
{
	return wic_warp_publish(&s->m->h, tag, epoch);
}

#endif /* WIC_METHODS_WIC_DEVICE_H */
