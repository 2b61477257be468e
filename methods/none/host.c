/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/log.h"
#include "methods/memory.h"
#include "methods/method.h"

static int none_open(struct wic *w, const struct method_params *p, struct method **m_out)
{
	bool is_of_devices = p->ends.is_from_device && !p->ends.is_to_host;

	/* Between devices a kernel writes while the other reads: it gets a spare buffer. */
	return m_memory_method_open(w, p, is_of_devices ? M_MEMORY_SPARE : M_MEMORY_IN_PLACE,
				    m_out);
}

/* No waiting here either: the caller knows that the kernel has returned. */
static int none_take(struct method *m, uint32_t tag, uint64_t epoch, const void **data_out)
{
	(void)epoch;
	if (tag >= m->mem.tags)
		return wic_fail(-EINVAL, "method none: tag %u of %u", tag, m->mem.tags);
	*data_out = m->mem.data + m->mem.stride * tag;
	return 0;
}

const struct method_ops method_none = {
	.name = "none",
	.summary = "no waiting: all data in place before the launch (T_bare)",
	.copies = "nobody: stage gives the device's own buffer",
	.where = METHOD_ANYWHERE,
	.open = none_open,
	.args = m_memory_method_args,
	.stage = m_memory_method_stage,
	.publish = m_memory_method_publish,
	.take = none_take,
	.done = m_memory_method_done,
	.close = m_memory_method_close,
};
