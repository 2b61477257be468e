/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/log.h"
#include "methods/memory.h"
#include "methods/method.h"

static int naive_open(struct wic *w, const struct method_params *p, struct method **m_out)
{
	/* A GPU's atomics on pinned memory may not be atomic against those of the host. */
	return m_memory_method_open(w, p, M_MEMORY_MANAGED_FLAGS, m_out);
}

/*
 * Algorithm 1 counts with atomic add 1.  A run may skip epochs, so what is added
 * is the distance: the flag is left at the epoch, and only ever grows.
 */
static int naive_publish(struct method *m, uint32_t tag, uint64_t epoch)
{
	uint64_t *flag, before;
	int rc = m_memory_copy(&m->mem, tag, epoch);

	if (rc)
		return rc;
	flag = &m->mem.flags[(uint64_t)tag * M_FLAG_WORDS];
	/* A tag has one publisher, so the flag cannot move between load and add. */
	before = __atomic_load_n(flag, __ATOMIC_RELAXED);
	/* Pairs with the add of 0 in methods/naive/device.h. */
	if (__atomic_add_fetch(flag, epoch - before, __ATOMIC_SEQ_CST) != epoch)
		return wic_fail(-EBUSY, "method naive: tag %u has two publishers", tag);
	return 0;
}

/* Algorithm 1 on the host's side: an add of 0, a full read-modify-write. */
static uint64_t naive_look(uint64_t *flag)
{
	/* Not a constant: a compiler may turn an add of 0 into a load. */
	uint64_t zero = 0;

	__asm__ volatile("" : "+r"(zero));
	/* Pairs with the add in m_add_distance() of methods/naive/device.h. */
	return __atomic_fetch_add(flag, zero, __ATOMIC_SEQ_CST);
}

static int naive_take(struct method *m, uint32_t tag, uint64_t epoch, const void **data_out)
{
	return m_memory_take(&m->mem, &(struct m_take){ tag, epoch }, naive_look, data_out);
}

const struct method_ops method_naive = {
	.name = "naive",
	.summary = "block barrier, thread 0 spins with an atomic add of 0, block barrier",
	.copies = "the producer's thread, before it adds to the flag; on a GPU nobody",
	.where = METHOD_ANYWHERE,
	.open = naive_open,
	.args = m_memory_method_args,
	.stage = m_memory_method_stage,
	.publish = naive_publish,
	.take = naive_take,
	.done = m_memory_method_done,
	.close = m_memory_method_close,
};
