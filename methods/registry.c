/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <string.h>

#include "methods/method.h"

const struct method_ops *const methods[] = {
	&method_none,    &method_naive, &method_leader,       &method_leader_acq, &method_warp,
	&method_libcupp, &method_split, &method_thread_futex, &method_wic,        NULL,
};

const struct method_ops *method_find(const char *name)
{
	size_t i;

	if (!name)
		return NULL;
	for (i = 0; methods[i]; i++)
		if (!strcmp(methods[i]->name, name))
			return methods[i];
	return NULL;
}

int method_launch(const struct method_ops *ops, struct method *m, struct wic *w,
		  const struct wic_launch_desc *l)
{
	return ops->launch ? ops->launch(m, l) : wic_launch(w, l);
}

int method_sync(const struct method_ops *ops, struct method *m, struct wic *w, uint64_t timeout_ns)
{
	return ops->sync ? ops->sync(m, timeout_ns) : wic_sync(w, timeout_ns);
}
