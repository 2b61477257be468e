/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Threads of the operating system that sleep until a tag's flag has an epoch.
 *
 *	a flag's line:	epoch | sequence, sleepers | ...	(M_FLAG_WORDS words)
 *
 * A futex is 32 bits and an epoch 64, so threads sleep on the sequence, which
 * grows with each publish.  The sleeper counts itself, reads the sequence, then looks
 * at the epoch; the publisher stores the epoch, counts up, then looks for sleepers.
 * Both in one order that all see (Dekker): no wake is lost, and a publish that
 * nobody sleeps for makes no system call.
 */
#ifndef WIC_METHODS_FLAG_H
#define WIC_METHODS_FLAG_H

#include <stdint.h>

#include "methods/memory.h"

/* Sleep until the flag of a tag has the epoch.  0; -ETIMEDOUT: not at @deadline_ns. */
int m_flag_wait(uint64_t *flags, uint32_t tag, uint64_t epoch, uint64_t deadline_ns);
/* Store the epoch (release) and wake who sleeps. */
void m_flag_publish(uint64_t *flags, uint32_t tag, uint64_t epoch);
/* As method_ops.publish: copies, stores the epoch, wakes who sleeps. */
int m_flag_method_publish(struct method *m, uint32_t tag, uint64_t epoch);
/* As method_ops.take. */
int m_flag_method_take(struct method *m, uint32_t tag, uint64_t epoch, const void **data_out);

#endif /* WIC_METHODS_FLAG_H */
