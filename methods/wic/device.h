/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * WIC, a warp at a time: no block barrier, each warp is parked until its own tag
 * is there and the SM runs the others.
 *
 * CUDA: the channel carries signals only.  The data lies where the producer wrote it, as
 * with every other method there, and the woken warps read it; nothing is given back.  The lot
 * stands at the start of the block's shared memory, one for all channels.
 */
#ifndef WIC_METHODS_WIC_DEVICE_H
#define WIC_METHODS_WIC_DEVICE_H

#include <wic/kernel.h>

#include "methods/method.h"

#ifdef __CUDACC__

#include <wic/device.cuh>

#define M_SHARED_BYTES(warps) (((uint32_t)WIC_LOT_BYTES(warps) + 15u) / 16u * 16u)

struct m_state {
	const struct m_args *m; /* borrowed from the kernel's arguments */
	struct wic_lot *lot;    /* borrowed from the block's shared memory */
};

WIC_DEVICE void m_begin(void)
{
	WIC_SHARED(struct wic_lot, lot);

	wic_lot_init(lot);
}

WIC_DEVICE void m_init(struct m_state *s, const struct m_args *m)
{
	WIC_SHARED(struct wic_lot, lot);

	s->m = m;
	s->lot = lot;
}

WIC_DEVICE int m_wait(struct m_state *s, uint32_t tag, uint64_t epoch, void **data_out)
{
	int rc;

	if (tag == WIC_NO_TAG)
		return 0;
	rc = wic_wait(&s->m->h, s->lot, tag, epoch, s->m->timeout_ns);
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
	*buffer_out = s->m->data + (uint64_t)tag * s->m->stride;
	return 0;
}

#else

#define M_SHARED_BYTES(warps) (0u * (uint32_t)(warps))

struct m_state {
	const struct m_args *m;
	int release_rc; /* first failed release, given by the next wait or stage */
};

WIC_DEVICE void m_begin(void)
{
}

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

#endif /* __CUDACC__ */

WIC_DEVICE int m_publish(struct m_state *s, uint32_t tag, uint64_t epoch)
{
	return wic_warp_publish(&s->m->h, tag, epoch);
}

#endif /* WIC_METHODS_WIC_DEVICE_H */
