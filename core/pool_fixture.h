/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* For the pool's tests: a pool on the heap, its memory in the caller's hands. */
#ifndef WIC_CORE_POOL_FIXTURE_H
#define WIC_CORE_POOL_FIXTURE_H

#include "core/pool.h"

#include "tests/test.h"

static inline struct wic_pool *pool_make(uint32_t pages, uint32_t close_batch, void **mem_out)
{
	struct wic_pool_params p = { pages, close_batch };
	struct wic_pool *pool = NULL;
	size_t bytes = wic_pool_bytes(&p);

	TEST_TRUE(bytes > 0);
	*mem_out = aligned_alloc(16, (bytes + 15) & ~(size_t)15);
	TEST_TRUE(*mem_out != NULL);
	memset(*mem_out, 0xa5, bytes);
	TEST_EQ(wic_pool_init(*mem_out, bytes, &p, &pool), 0);
	return pool;
}

#endif /* WIC_CORE_POOL_FIXTURE_H */
