/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <wic/kernel.h>

#include "methods/device.h"

#include "methods/carry_kernel.h"

WIC_DEVICE int carry_make(const struct carry_args *a, struct m_state *out, uint32_t tag)
{
	uint64_t *to;
	void *buffer;
	uint32_t i;
	int rc = m_stage(out, tag, a->epoch, &buffer);

	if (rc)
		return rc;
	to = (uint64_t *)buffer;
	for (i = 0; i < a->words; i++)
		to[i] = carry_word(tag, a->epoch, i);
	return m_publish(out, tag, a->epoch);
}

WIC_DEVICE int carry_take(const struct carry_args *a, struct m_state *in, uint32_t tag)
{
	uint32_t i, wrong = 0;
	void *data = NULL;
	int rc = m_wait(in, tag, a->epoch, &data);

	if (rc)
		return rc;
	for (i = 0; i < a->words; i++)
		wrong += ((const uint64_t *)data)[i] != carry_word(tag, a->epoch, i);
	wic_atomic_add_u32(a->wrong, wrong);
	m_done(in, tag, a->epoch);
	return 0;
}

M_KERNEL(carry_kernel, struct carry_args, a)
{
	uint32_t warps = wic_grid_blocks() * wic_block_warps(), tag;
	uint32_t me = wic_block_id() * wic_block_warps() + wic_warp_id();
	struct m_state out, in;
	int rc = 0;

	m_init(&out, &a->out);
	m_init(&in, &a->in);
	for (tag = me; tag < a->tags_out && rc == 0; tag += warps)
		rc = carry_make(a, &out, tag);
	for (tag = me; tag < a->tags_in && rc == 0; tag += warps)
		rc = carry_take(a, &in, tag);
	if (rc)
		a->status[me] = rc;
}
