/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Translations that were walked once and are used until they are thrown out or invalidated:
 * one such cache for each uTLB (the SMs behind it) and one for the copy engines and the host.
 * That is what makes a missing invalidate show: the old page goes on being read and written.
 * Only valid translations are kept, as on the hardware: a page that gets mapped needs no
 * invalidate, one that is changed or unmapped does.
 *
 * Set-associative, 4 ways, random replacement from the model's seed.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_TLB_H
#define WIC_KMOD_TESTBED_SOFTGPU_TLB_H

#include "mmu.h"

#define SGPU_TLB_WAYS 4
#define SGPU_TLB_SETS 32

struct sgpu_tlb_entry {
	bool is_valid;
	struct sgpu_address root; /* of the address space */
	struct sgpu_page page;
};

struct sgpu_tlb {
	struct sgpu_tlb_entry entries[SGPU_TLB_SETS][SGPU_TLB_WAYS];
	uint64_t random; /* state of the replacement's generator, never 0 */
	uint64_t hits, misses;
};

void sgpu_tlb_init(struct sgpu_tlb *tlb, uint64_t seed);

/* What is asked for. */
struct sgpu_tlb_lookup {
	const struct sgpu_bus *bus; /* borrowed, as pdb, for the call */
	const struct sgpu_pdb *pdb;
	uint64_t va;
	enum sgpu_access access;
};

/*
 * sgpu_tlb_translate - from the cache, or else by a walk whose result is kept
 *
 * A page whose permissions refuse the access is walked again before that is a fault: hardware
 * does so, because permissions may be raised without an invalidate.
 *
 * Return: 0 with *@page_out, or 1 + enum sgpu_fault_type.
 */
int sgpu_tlb_translate(struct sgpu_tlb *tlb, const struct sgpu_tlb_lookup *lookup,
		       struct sgpu_page *page_out);

/* What an invalidate covers. */
struct sgpu_tlb_range {
	bool has_root; /* else all address spaces */
	struct sgpu_address root;
	bool has_va; /* else all addresses */
	uint64_t va, bytes;
};

/* Return: how many entries went. */
uint32_t sgpu_tlb_invalidate(struct sgpu_tlb *tlb, const struct sgpu_tlb_range *range);

#endif
