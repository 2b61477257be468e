/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The set comes from address space, page number and page size; look-ups try the three sizes. */
#include "tlb.h"

#include "inject.h"

static const uint8_t page_shifts[] = { 12, 16, 21 };

#define PAGE_SHIFTS (sizeof(page_shifts) / sizeof(page_shifts[0]))

void sgpu_tlb_init(struct sgpu_tlb *tlb, uint64_t seed)
{
	memset(tlb, 0, sizeof(*tlb));
	tlb->random = seed ? seed : 1;
}

static struct sgpu_tlb_entry *set_of(struct sgpu_tlb *tlb, const struct sgpu_address *root,
				     uint64_t page, unsigned int shift)
{
	uint64_t hash = page ^ page >> 5 ^ page >> 10 ^ root->address >> 12 ^ shift;

	return tlb->entries[hash % SGPU_TLB_SETS];
}

/* The entry for @va of one page size, or NULL. */
static struct sgpu_tlb_entry *entry_find(struct sgpu_tlb *tlb, const struct sgpu_address *root,
					 uint64_t va, unsigned int shift)
{
	struct sgpu_tlb_entry *set = set_of(tlb, root, va >> shift, shift);
	unsigned int way;

	for (way = 0; way < SGPU_TLB_WAYS; way++) {
		struct sgpu_tlb_entry *entry = &set[way];

		if (entry->is_valid && entry->page.bytes == 1ull << shift &&
		    entry->page.va == va >> shift << shift &&
		    sgpu_address_is_same(&entry->root, root))
			return entry;
	}
	return NULL;
}

static void entry_keep(struct sgpu_tlb *tlb, const struct sgpu_address *root,
		       const struct sgpu_page *page)
{
	struct sgpu_tlb_entry *set;
	unsigned int shift = page_shifts[0];
	unsigned int way = 0;
	unsigned int i;

	for (i = 0; i < PAGE_SHIFTS; i++)
		if (page->bytes == 1ull << page_shifts[i])
			shift = page_shifts[i];
	set = set_of(tlb, root, page->va >> shift, shift);
	while (way < SGPU_TLB_WAYS && set[way].is_valid)
		way++;
	if (way == SGPU_TLB_WAYS)
		way = (unsigned int)((sgpu_random(&tlb->random) >> 32) * SGPU_TLB_WAYS >> 32);
	set[way].is_valid = true;
	set[way].root = *root;
	set[way].page = *page;
}

/*
 * The cached page that permits @access, or NULL: there is none any more, of no size.  Sizes can
 * overlap where an invalidate was missed.
 */
static const struct sgpu_page *page_find(struct sgpu_tlb *tlb, const struct sgpu_address *root,
					 uint64_t va, enum sgpu_access access)
{
	bool is_refused = false;
	unsigned int i;

	for (i = 0; i < PAGE_SHIFTS; i++) {
		struct sgpu_tlb_entry *entry = entry_find(tlb, root, va, page_shifts[i]);

		if (!entry)
			continue;
		if (!is_refused && !sgpu_mmu_permits(&entry->page, access))
			return &entry->page;
		is_refused = true;
		entry->is_valid = false;
	}
	return NULL;
}

int sgpu_tlb_translate(struct sgpu_tlb *tlb, const struct sgpu_tlb_lookup *lookup,
		       struct sgpu_page *page_out)
{
	const struct sgpu_pdb *pdb = lookup->pdb;
	const struct sgpu_page *cached = NULL;
	struct sgpu_page page;
	int rc;

	if (pdb->is_valid)
		cached = page_find(tlb, &pdb->root, lookup->va, lookup->access);
	if (cached) {
		tlb->hits++;
		*page_out = *cached;
		return 0;
	}
	tlb->misses++;
	rc = sgpu_mmu_walk(lookup->bus, pdb, lookup->va, &page);
	if (rc)
		return rc;
	entry_keep(tlb, &pdb->root, &page);
	rc = sgpu_mmu_permits(&page, lookup->access);
	if (!rc)
		*page_out = page;
	return rc;
}

static bool range_covers(const struct sgpu_tlb_range *range, const struct sgpu_tlb_entry *entry)
{
	const struct sgpu_page *page = &entry->page;

	if (range->has_root && !sgpu_address_is_same(&range->root, &entry->root))
		return false;
	if (!range->has_va)
		return true;
	if (!range->bytes)
		return false;
	/* No sums: the range may end where 64 bits do. */
	return page->va >= range->va ? page->va - range->va < range->bytes
				     : range->va - page->va < page->bytes;
}

uint32_t sgpu_tlb_invalidate(struct sgpu_tlb *tlb, const struct sgpu_tlb_range *range)
{
	uint32_t gone = 0;
	unsigned int i;

	for (i = 0; i < SGPU_TLB_SETS * SGPU_TLB_WAYS; i++) {
		struct sgpu_tlb_entry *entry = &tlb->entries[i / SGPU_TLB_WAYS][i % SGPU_TLB_WAYS];

		if (!entry->is_valid || !range_covers(range, entry))
			continue;
		entry->is_valid = false;
		gone++;
	}
	return gone;
}
