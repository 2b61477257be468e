/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The back-ends that there are, in the order in which "auto" tries them, and the
 * choice of one for a context.
 */
#ifndef WIC_LIB_REGISTRY_H
#define WIC_LIB_REGISTRY_H

#include "lib/backend.h"

#define WIC_REASON_BYTES 256

/* NULL-terminated. */
const struct wic_be_ops *const *wic_backends(void);

/* For tests: use @list (NULL-terminated, borrowed) from now on; NULL: the built-in ones. */
void wic_backends_set(const struct wic_be_ops *const *list);

/**
 * wic_be_check() - Is the table of operations complete, and does it match its caps?
 * @ops: not NULL.
 *
 * Return: 0; -ENOTSUP: a slot is empty, a capability is unknown, is promised by a
 * stub or is missing for a real operation; logged as an error.
 */
int wic_be_check(const struct wic_be_ops *ops) WIC_MUST_CHECK;

/**
 * wic_be_open() - Choose a back-end and open it.
 * @cfg: resolved; its backend is "auto" or a name.
 * @from: who named it, for the reason.
 * @reason_out: WIC_REASON_BYTES bytes: why this one.
 * @ops_out: the back-end chosen.
 * @be_out: its context, owned by the caller.
 *
 * "auto" passes over what is by name only and what answers -ENOTSUP, and over nothing else.
 *
 * Return: 0; -EINVAL: no such back-end; -ENOTSUP: none works; what its open() says.
 */
int wic_be_open(const struct wic_config *cfg, const char *from, char *reason_out,
		const struct wic_be_ops **ops_out, struct wic_be **be_out) WIC_MUST_CHECK;

#endif /* WIC_LIB_REGISTRY_H */
