/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Memory of the methods that carry their data themselves, or need not.
 *
 * Three regions, all page-aligned and touched at init so that no run pays for
 * first touches: data (the consumer's device memory on cpu), staging (the
 * producer's), flags (the epochs, M_FLAG_WORDS apart).  A tag has one publisher
 * at a time; nothing here locks.
 *
 * On a GPU there is no staging and no method copies: data lies where both sides address it,
 * in pinned host memory, or in device memory where kernels produce for kernels, and so do the
 * flags.
 */
#ifndef WIC_METHODS_MEMORY_H
#define WIC_METHODS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "methods/method.h"

struct m_memory {
	uint64_t *flags;        /* owned; accessed with atomics only once a kernel runs */
	unsigned char *data;    /* owned, or method_params.data */
	unsigned char *staging; /* owned; NULL: staged in place */
	uint64_t *staged;       /* owned: epoch being filled, a tag; its publisher's */
	struct wic *w;          /* borrowed until fini; NULL: none, as lib/memory.h has it */
	bool is_data_borrowed;  /* it is method_params.data */
	uint64_t stride;
	uint64_t bytes_per_tag;
	uint64_t timeout_ns;
	uint32_t tags;
};

#define M_MEMORY_IN_PLACE 1u      /* the producer writes to data, also on cpu */
#define M_MEMORY_SPARE 2u         /* staging on a GPU too: nobody carries it */
#define M_MEMORY_MANAGED_FLAGS 4u /* on a GPU, where host and device both write them by atomics */

/* @how: bits of the above.  0; -EINVAL: no tags, no payload; -ENOMEM; after an error there is
 * nothing to fini. */
int m_memory_init(struct m_memory *mem, struct wic *w, const struct method_params *p, uint32_t how);
void m_memory_fini(struct m_memory *mem);
void m_memory_args(const struct m_memory *mem, struct m_args *args_out);
/* 0; -EINVAL: tag out of range, epoch not greater than the published one. */
int m_memory_stage(struct m_memory *mem, uint32_t tag, uint64_t epoch, void **buffer_out);
/* The one copy, producer to consumer.  0; -EINVAL: tag out of range, not staged. */
int m_memory_copy(struct m_memory *mem, uint32_t tag, uint64_t epoch);

struct m_take {
	uint32_t tag;
	uint64_t epoch;
};

/*
 * Where the host consumes: poll until @look sees the epoch.  0; -EINVAL: tag out of range;
 * -ETIMEDOUT: not within the method's time.
 */
int m_memory_take(struct m_memory *mem, const struct m_take *t, uint64_t (*look)(uint64_t *flag),
		  const void **data_out);

/* The host half of such a method. */
struct method {
	struct m_memory mem;
};

/* @how: as m_memory_init().  0; -EINVAL; -ENOMEM. */
int m_memory_method_open(struct wic *w, const struct method_params *p, uint32_t how,
			 struct method **m_out);
/* As method_ops has them. */
void m_memory_method_args(const struct method *m, struct m_args *args_out);
int m_memory_method_stage(struct method *m, uint32_t tag, uint64_t epoch, void **buffer_out);
/* Copies, then stores the epoch (release).  0; -EINVAL: tag out of range, not staged. */
int m_memory_method_publish(struct method *m, uint32_t tag, uint64_t epoch);
/* By loads with acquire, between them a pause of the core. */
int m_memory_method_take(struct method *m, uint32_t tag, uint64_t epoch, const void **data_out);
/* Nothing: a tag is used once a run. */
int m_memory_method_done(struct method *m, uint32_t tag, uint64_t epoch);
void m_memory_method_close(struct method *m);

#endif /* WIC_METHODS_MEMORY_H */
