/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "tests/unit/wrap.h"

#include <stdlib.h>

void *__real_calloc(size_t count, size_t bytes);
void *__real_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes);

static uint32_t failures;

void wrap_fail_next(uint32_t count)
{
	__atomic_store_n(&failures, count, __ATOMIC_RELAXED);
}

static int fails(void)
{
	if (!__atomic_load_n(&failures, __ATOMIC_RELAXED))
		return 0;
	__atomic_fetch_sub(&failures, 1, __ATOMIC_RELAXED);
	return 1;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}
