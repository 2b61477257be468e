/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <wic/error.h>

const char *wic_strerror(int rc)
{
	switch (rc) {
	case 0:
		return "success";
	case -E2BIG:
		return "more pages, warps or bytes than there will ever be here";
	case -EAGAIN:
		return "not now, try again";
	case -EBUSY:
		return "in use by another thread or kernel";
	case -ECANCELED:
		return "closed or cancelled meanwhile";
	case -EDEADLK:
		return "all pages are held by warps that wait for pages";
	case -EINVAL:
		return "bad argument, or not possible in this state";
	case -EIO:
		return "device lost, context dead or input/output failed";
	case -ENOENT:
		return "no such file or object, or none is left";
	case -ENOMEM:
		return "no memory, or a limit of the context is reached";
	case -ENOSPC:
		return "no space left";
	case -ENOTSUP:
		return "not supported here";
	case -EOWNERDEAD:
		return "the producer ended without publishing";
	case -EPERM:
	case -EACCES:
		return "not permitted here";
	case -ETIMEDOUT:
		return "deadline passed";
	default:
		return rc > 0 ? "not a status: greater than 0" : "unknown status";
	}
}
