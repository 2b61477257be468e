/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "methods/memory.h"
#include "methods/method.h"

static int warp_open(struct wic *w, const struct method_params *p, struct method **m_out)
{
	return m_memory_method_open(w, p, 0, m_out);
}

const struct method_ops method_warp = {
	.name = "warp",
	.summary = "every waiting warp looks (relaxed) at an epoch word, acquire once, no barrier",
	.copies = "the producer's thread, before it stores the epoch; on a GPU nobody",
	.where = METHOD_ANYWHERE,
	.open = warp_open,
	.args = m_memory_method_args,
	.stage = m_memory_method_stage,
	.publish = m_memory_method_publish,
	.take = m_memory_method_take,
	.done = m_memory_method_done,
	.close = m_memory_method_close,
};
