/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* No waiting at all: the data lies in place before the launch.  Gives T_bare. */
#ifndef WIC_METHODS_NONE_DEVICE_H
#define WIC_METHODS_NONE_DEVICE_H

#include "methods/carry.h"
#include "methods/method.h"

#define M_SHARED_BYTES(warps) (0u * (uint32_t)(warps))

struct m_state {
	const struct m_args *m;
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
	(void)epoch;
	if (tag != WIC_NO_TAG)
		*data_out = s->m->data + (uint64_t)tag * s->m->stride;
	return 0;
}

WIC_DEVICE void m_done(struct m_state *s, uint32_t tag, uint64_t epoch)
{
	(void)s;
	(void)tag;
	(void)epoch;
}

/* The buffer is the consumer's own, or a spare one: nobody carries anything. */
WIC_DEVICE int m_stage(struct m_state *s, uint32_t tag, uint64_t epoch, void **buffer_out)
{
	(void)epoch;
	*buffer_out = m_carry_buffer(s->m, tag);
	return 0;
}

WIC_DEVICE int m_publish(struct m_state *s, uint32_t tag, uint64_t epoch)
{
	(void)s;
	(void)tag;
	(void)epoch;
	return 0;
}

#endif /* WIC_METHODS_NONE_DEVICE_H */
