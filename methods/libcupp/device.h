/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What CUDA's own C++ library offers: cuda::atomic_ref<uint64_t, thread_scope_system>::wait(), by
 * one thread a block, between block barriers.  Its loads, order and back-off are the library's
 * (CCCL, from C++17).
 *
 * Exists on a GPU only; elsewhere each wait is -ENOTSUP.
 */
#ifndef WIC_METHODS_LIBCUPP_DEVICE_H
#define WIC_METHODS_LIBCUPP_DEVICE_H

#include <wic/kernel.h>

#include "methods/libcupp/wait.h"
#include "methods/relaxed.h"

#ifdef __CUDACC__

#include <cuda/atomic>

WIC_DEVICE int m_libcupp_wait(const struct m_args *m, uint32_t tag, uint64_t epoch)
{
	cuda::atomic_ref<uint64_t, cuda::thread_scope_system> flag(
		m->flags[(uint64_t)tag * M_FLAG_WORDS]);
	uint64_t seen = flag.load(cuda::memory_order_acquire);

	while (seen < epoch) {
		flag.wait(seen, cuda::memory_order_acquire);
		seen = flag.load(cuda::memory_order_acquire);
	}
	return seen == M_LIBCUPP_ENDED ? -ETIMEDOUT : 0;
}

#else

WIC_DEVICE int m_libcupp_wait(const struct m_args *m, uint32_t tag, uint64_t epoch)
{
	(void)m;
	(void)tag;
	(void)epoch;
	return -ENOTSUP;
}

#endif /* __CUDACC__ */

#define M_POLL_LANE(m, tag, epoch) m_libcupp_wait(m, tag, epoch)
/* The order matters. */
#include "methods/poll.h"

#endif /* WIC_METHODS_LIBCUPP_DEVICE_H */
