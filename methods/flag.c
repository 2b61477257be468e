/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "methods/flag.h"

#include "backends/cpu/gate.h"
#include "lib/log.h"

#define FLAG_SEQUENCE 2 /* 32-bit words of a flag's line */
#define FLAG_SLEEPERS 3

WIC_STATIC_ASSERT(FLAG_SLEEPERS < 2 * M_FLAG_WORDS, "they lie in the flag's line");

static uint32_t *flag_word(uint64_t *flag, uint32_t index)
{
	return (uint32_t *)(void *)flag + index;
}

int m_flag_wait(uint64_t *flags, uint32_t tag, uint64_t epoch, uint64_t deadline_ns)
{
	uint64_t *flag = &flags[(uint64_t)tag * M_FLAG_WORDS], now_ns;
	uint32_t sequence;
	int rc = 0;

	/* Pairs with the store in m_flag_publish(), here and below. */
	if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) >= epoch)
		return 0;
	__atomic_fetch_add(flag_word(flag, FLAG_SLEEPERS), 1, __ATOMIC_SEQ_CST);
	for (;;) {
		sequence = __atomic_load_n(flag_word(flag, FLAG_SEQUENCE), __ATOMIC_SEQ_CST);
		if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) >= epoch)
			break;
		now_ns = wic_now_ns();
		if (now_ns >= deadline_ns) {
			rc = -ETIMEDOUT;
			break;
		}
		wic_cpu_futex_wait(flag_word(flag, FLAG_SEQUENCE), sequence, deadline_ns - now_ns);
	}
	__atomic_fetch_sub(flag_word(flag, FLAG_SLEEPERS), 1, __ATOMIC_RELAXED);
	return rc;
}

void m_flag_publish(uint64_t *flags, uint32_t tag, uint64_t epoch)
{
	uint64_t *flag = &flags[(uint64_t)tag * M_FLAG_WORDS];

	__atomic_store_n(flag, epoch, __ATOMIC_RELEASE);
	__atomic_fetch_add(flag_word(flag, FLAG_SEQUENCE), 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(flag_word(flag, FLAG_SLEEPERS), __ATOMIC_SEQ_CST))
		wic_cpu_futex_wake_all(flag_word(flag, FLAG_SEQUENCE));
}

int m_flag_method_publish(struct method *m, uint32_t tag, uint64_t epoch)
{
	int rc = m_memory_copy(&m->mem, tag, epoch);

	if (!rc)
		m_flag_publish(m->mem.flags, tag, epoch);
	return rc;
}

int m_flag_method_take(struct method *m, uint32_t tag, uint64_t epoch, const void **data_out)
{
	uint64_t deadline_ns = wic_deadline_ns(wic_now_ns(), m->mem.timeout_ns);
	int rc;

	if (tag >= m->mem.tags)
		return wic_fail(-EINVAL, "method: tag %u of %u", tag, m->mem.tags);
	rc = m_flag_wait(m->mem.flags, tag, epoch, deadline_ns);
	if (rc)
		return wic_fail(rc, "method: epoch %llu of tag %u did not come",
				(unsigned long long)epoch, tag);
	*data_out = m->mem.data + m->mem.stride * tag;
	return 0;
}
