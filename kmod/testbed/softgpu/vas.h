/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * An address space: the page tables that the driver set, and before them the memory that RM
 * mapped by itself (pushbuffers, GPFIFOs, semaphores), a list of ranges that needs no page
 * table here.  RM's addresses lie below 1 << 40, nvidia-uvm's page tables hold the rest.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_VAS_H
#define WIC_KMOD_TESTBED_SOFTGPU_VAS_H

#include "mmu.h"

struct sgpu_mapping {
	struct sgpu_mapping *next; /* of the address space */
	uint64_t va, bytes;
	uint8_t *memory; /* borrowed, until sgpu_vas_unmap() */
};

struct sgpu_vas {
	struct sgpu_vas *next; /* of the GPU */
	uint32_t handle;       /* the client's hVaSpace, 0: the driver's own */
	struct sgpu_mapping *mappings;
	struct sgpu_pdb pdb;
};

/* The caller's @mapping belongs to the list until sgpu_vas_unmap() gives it back. */
void sgpu_vas_map(struct sgpu_vas *vas, struct sgpu_mapping *mapping);

/* The mapping that holds @va, or NULL. */
struct sgpu_mapping *sgpu_vas_find(const struct sgpu_vas *vas, uint64_t va);

/* Takes the mapping that holds @va out of the list; NULL: there is none. */
struct sgpu_mapping *sgpu_vas_unmap(struct sgpu_vas *vas, uint64_t va);

#endif
