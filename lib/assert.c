/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What a broken invariant of core/ does in user space: in a debug build it stops
 * the program where it stands, in a release it is logged and the caller goes on
 * to mark its context dead (-EIO): a library does not end its user's process.
 */
#include "core/dep.h"
#include "lib/log.h"

#include <stdlib.h>

#ifdef WIC_DEBUG
#define IS_FATAL true
#else
#define IS_FATAL false
#endif

void wic_assert_failed(const char *condition, const char *file, int line)
{
	wic_log(WIC_LOG_ERROR, "%s:%d: assertion failed: %s", file, line, condition);
	if (IS_FATAL)
		abort();
}
