/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What kernels compiled for thread-futex call; on a thread of struct m_threads only. */
#ifndef WIC_METHODS_THREAD_FUTEX_WAIT_H
#define WIC_METHODS_THREAD_FUTEX_WAIT_H

#include <stdint.h>

#include "methods/method.h"

/* The block's barrier; a warp that has returned is not waited for. */
void m_threads_bar(void);
/* 0; -ETIMEDOUT. */
int m_threads_wait(const struct m_args *m, uint32_t tag, uint64_t epoch);
/* Shows the epoch and wakes who sleeps; the data is in place. */
void m_threads_publish(const struct m_args *m, uint32_t tag, uint64_t epoch);

#endif /* WIC_METHODS_THREAD_FUTEX_WAIT_H */
