/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Memory for a software GPU under test: video memory, system memory at made-up DMA addresses,
 * page tables that a test fills in, and a log that can be looked at.  A test plays the driver.
 */
#ifndef WIC_TESTS_SOFTGPU_WORLD_H
#define WIC_TESTS_SOFTGPU_WORLD_H

#include "kmod/testbed/softgpu/bus.h"
#include "kmod/testbed/softgpu/mmu.h"
#include "tests/test.h"

#define WORLD_VIDMEM_BYTES (8u << 20)
#define WORLD_SYSMEM_BYTES (8u << 20)
#define WORLD_SYSMEM_AT 0x100000000ull /* DMA address of its first byte */

struct world {
	struct sgpu_bus bus; /* hand it to the object under test */
	uint8_t *vidmem, *sysmem;
	uint64_t vidmem_used, sysmem_used; /* taken by world_take() */
};

/* Both memories hold zeros. */
void world_init(struct world *world);
void world_fini(struct world *world);

/* @bytes of zeroed memory, aligned to the next power of two; never given back. */
struct sgpu_address world_take(struct world *world, enum sgpu_aperture aperture, uint64_t bytes);

/* The bytes at an address; ends the test where there are none. */
void *world_at(struct world *world, struct sgpu_address at);

enum world_pte {
	WORLD_PTE_READ_ONLY = 1 << 0,
	WORLD_PTE_NO_ATOMICS = 1 << 1,
	WORLD_PTE_VOLATILE = 1 << 2,
};

/* An empty address space whose tables come from @aperture. */
struct sgpu_pdb world_pdb(struct world *world, enum sgpu_aperture aperture);

struct world_mapping {
	uint64_t va, bytes; /* bytes: of the page: 4 KiB, 64 KiB or 2 MiB */
	struct sgpu_address at;
	unsigned int flags; /* enum world_pte */
};

/* Makes the tables that lack, and the PTE; a TLB hears nothing of it. */
void world_map(struct world *world, const struct sgpu_pdb *pdb,
	       const struct world_mapping *mapping);
/* Makes the PTE of the page of @bytes at @va invalid. */
void world_unmap(struct world *world, const struct sgpu_pdb *pdb, uint64_t va, uint64_t bytes);
/* The invalid 64 KiB PTE with PRIV set, which hides the 4 KiB table beside it. */
void world_hide_small(struct world *world, const struct sgpu_pdb *pdb, uint64_t va);

/* What the model has said since the last call, "" nothing; lines end with "\n". */
const char *world_log(void);

#endif
