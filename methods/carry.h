/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Kernels that produce, in methods that carry their data themselves: the one copy. */
#ifndef WIC_METHODS_CARRY_H
#define WIC_METHODS_CARRY_H

#include <wic/kernel.h>

#include "methods/method.h"

/* Words of 8 bytes between two turns: 8 KiB, some 1 us. */
#define M_CARRY_TURN_WORDS 1024u

/* Where the data of a tag is written. */
WIC_DEVICE void *m_carry_buffer(const struct m_args *m, uint32_t tag)
{
	return (m->staging ? m->staging : m->data) + (uint64_t)tag * m->stride;
}

/*
 * A warp copies a tag from the producer's memory to the consumer's, a word a lane.  Where it was
 * written to the consumer's there is nothing to copy.
 */
WIC_DEVICE void m_carry_copy(const struct m_args *m, uint32_t tag)
{
	const uint64_t *from = (const uint64_t *)m_carry_buffer(m, tag);
	uint64_t *to = (uint64_t *)(m->data + (uint64_t)tag * m->stride);
	uint64_t words = (m->bytes_per_tag + 7) / 8, i;

	if (!m->staging)
		return;
	/* Whole rows of lanes: a tag's memory is whole pages. */
	for (i = 0; i < words; i += WIC_WARP_LANES) {
		WIC_LANES(l)
			to[i + l] = from[i + l];
		if (i % M_CARRY_TURN_WORDS == M_CARRY_TURN_WORDS - WIC_WARP_LANES)
			WIC_TURN();
	}
}

#endif /* WIC_METHODS_CARRY_H */
