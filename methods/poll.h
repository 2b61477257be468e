/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Device half of methods in which one warp polls for its whole block.
 *
 *	warps 0..n-1	tag[warp] = mine --bar--+----------------------+--bar-- status
 *	warp 0					+- for each distinct tag: look until there
 *
 * The block's words lie at the start of its shared memory.  Two barriers a wait
 * make them safe without more: tag[] is written before the first and read between
 * the two, status is written between the two and read after the second, and
 * nobody passes the next wait's first barrier before all have read status.
 *
 * How a warp looks is the method's own: see methods/look.h.  So is how a warp that
 * produces shows an epoch: M_SHOW(flag, epoch), after its one copy.
 */
#ifndef WIC_METHODS_POLL_H
#define WIC_METHODS_POLL_H

#include <wic/kernel.h>

#include "methods/carry.h"
#include "methods/look.h"
#include "methods/method.h"

struct m_block {
	int32_t status;
	uint32_t pad;
	uint32_t tag[]; /* one a warp */
};

#define M_SHARED_BYTES(warps) ((8u + 4u * (uint32_t)(warps) + 15u) / 16u * 16u)

struct m_state {
	const struct m_args *m; /* borrowed from the kernel's arguments */
	struct m_block *block;  /* borrowed from the block's shared memory */
};

WIC_DEVICE void m_begin(void)
{
}

WIC_DEVICE void m_init(struct m_state *s, const struct m_args *m)
{
	WIC_SHARED(struct m_block, block);

	s->m = m;
	s->block = block;
}

/* Wait for each tag that a warp of the block gave; the first failure ends it. */
WIC_DEVICE int m_poll_block(struct m_state *s, uint64_t epoch)
{
	const uint32_t *tag = s->block->tag;
	uint32_t i, j;
	int rc = 0;

	for (i = 0; i < wic_block_warps() && rc == 0; i++) {
		for (j = 0; j < i && tag[j] != tag[i]; j++)
			;
		if (j == i && tag[i] != WIC_NO_TAG)
			rc = m_poll(s->m, tag[i], epoch);
	}
	return rc;
}

/* All warps get the same status: a tag that failed fails the block. */
WIC_DEVICE int m_wait(struct m_state *s, uint32_t tag, uint64_t epoch, void **data_out)
{
	int rc;

	if (m_lane_0())
		s->block->tag[wic_warp_id()] = tag;
	/* Stopped at the barrier a warp takes no turns, as one that is parked. */
	m_note(M_EVENT(PARK), tag, epoch);
	wic_bar();
	if (wic_warp_id() == 0) {
		rc = m_poll_block(s, epoch);
		if (m_lane_0())
			s->block->status = rc;
	}
	wic_bar();
	m_note(M_EVENT(COMPUTE), tag, epoch);
	rc = s->block->status;
	if (rc == 0 && tag != WIC_NO_TAG)
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

#endif /* WIC_METHODS_POLL_H */
