/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/log.h"
#include "lib/memory.h"
#include "methods/method.h"

int method_check_where(const struct method_ops *ops, const struct wic *w)
{
	bool is_gpu = wic_is_gpu(w);

	if (ops->where & (is_gpu ? METHOD_ON_GPU : METHOD_ON_CPU))
		return 0;
	return wic_fail(-ENOTSUP, "%s: only %s", ops->name,
			is_gpu ? "where warps are emulated, back-end cpu"
			       : "on a GPU, back-end cuda");
}
