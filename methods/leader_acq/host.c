/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "methods/memory.h"
#include "methods/method.h"

static int leader_acq_open(struct wic *w, const struct method_params *p, struct method **m_out)
{
	int rc = method_check_where(&method_leader_acq, w);

	return rc ? rc : m_memory_method_open(w, p, 0, m_out);
}

const struct method_ops method_leader_acq = {
	.name = "leader-acq",
	.summary = "leader, but each look is an acquire: what much shipped code does (GPU only)",
	.copies = "nobody",
	.where = METHOD_ON_GPU,
	.open = leader_acq_open,
	.args = m_memory_method_args,
	.stage = m_memory_method_stage,
	.publish = m_memory_method_publish,
	.take = m_memory_method_take,
	.done = m_memory_method_done,
	.close = m_memory_method_close,
};
