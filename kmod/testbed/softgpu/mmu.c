/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The walk.  Bit positions: NV_MMU_VER2_* of nvidia-uvm's hwref/turing/tu102/dev_mmu.h. */
#include "mmu.h"

#define ENTRY_BYTES 8
#define FRAME_SHIFT 12 /* addresses in entries count 4 KiB, but for big tables */
#define BIG_FRAME_SHIFT 8

/* Bits of a PTE; the address begins at bit 8, that of a big table at bit 4. */
#define PTE_VALID (1u << 0)
#define PTE_PRIVILEGE (1u << 5)
#define PTE_READ_ONLY (1u << 6)
#define PTE_ATOMIC_DISABLE (1u << 7)
#define ADDRESS_BIT 8
#define BIG_ADDRESS_BIT 4
#define VIDMEM_END_BIT 33 /* peer id from here on */
#define SYSMEM_END_BIT 54
#define HIGH_BIT 36 /* where a PTE keeps bits 37 to 54 of an address in video memory */

#define IS_PTE (1u << 0) /* of an entry of PDE0 */

/* The aperture field of a PDE, other than a PTE's. */
enum pde_aperture {
	PDE_APERTURE_NONE = 0,
	PDE_APERTURE_VIDMEM = 1,
	PDE_APERTURE_SYSMEM = 2,
	PDE_APERTURE_SYSMEM_NONCOHERENT = 3,
};

#define SIZE_4K 0x1000ull
#define SIZE_64K 0x10000ull
#define SIZE_2M 0x200000ull

static int fault(enum sgpu_fault_type type)
{
	return 1 + (int)type;
}

/* Return: 0, or the fault: the table lies where there is no memory. */
static int entry_read(const struct sgpu_bus *bus, struct sgpu_address table, uint64_t index,
		      uint64_t *entry_out)
{
	uint64_t left;
	void *entry;

	table.address += index * ENTRY_BYTES;
	if (table.address % ENTRY_BYTES)
		return fault(SGPU_FAULT_UNSUPPORTED_APERTURE);
	entry = sgpu_bus_at(bus, table, &left);
	if (!entry || left < ENTRY_BYTES)
		return fault(SGPU_FAULT_UNSUPPORTED_APERTURE);
	*entry_out = sgpu_load64(entry);
	return 0;
}

/* The table that half of a PDE points to; false: to none. */
static bool pde_table(uint64_t pde, bool is_big, struct sgpu_address *table_out)
{
	unsigned int first = is_big ? BIG_ADDRESS_BIT : ADDRESS_BIT;
	unsigned int shift = is_big ? BIG_FRAME_SHIFT : FRAME_SHIFT;
	unsigned int end = SYSMEM_END_BIT;
	struct sgpu_address table = { .aperture = SGPU_APERTURE_SYSMEM };

	switch ((enum pde_aperture)sgpu_bits(pde, 1, 2)) {
	case PDE_APERTURE_NONE:
		return false;
	case PDE_APERTURE_VIDMEM:
		table.aperture = SGPU_APERTURE_VIDMEM;
		end = VIDMEM_END_BIT;
		break;
	case PDE_APERTURE_SYSMEM:
		break;
	case PDE_APERTURE_SYSMEM_NONCOHERENT:
		table.aperture = SGPU_APERTURE_SYSMEM_NONCOHERENT;
		break;
	}
	table.address = sgpu_bits(pde, first, end - first) << shift;
	*table_out = table;
	return true;
}

/* From the root down to the table of PDE0. */
static int walk_to_pde0(const struct sgpu_bus *bus, struct sgpu_address root, uint64_t va,
			struct sgpu_address *table_out)
{
	static const struct {
		uint8_t first, bits;
	} levels[] = { { 47, 2 }, { 38, 9 }, { 29, 9 } };
	struct sgpu_address table = root;
	unsigned int i;

	for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		uint64_t pde;
		int rc = entry_read(bus, table, sgpu_bits(va, levels[i].first, levels[i].bits),
				    &pde);

		if (rc)
			return rc;
		/* No pages of 512 MiB and more: those came after Turing. */
		if ((pde & IS_PTE) || !pde_table(pde, false, &table))
			return fault(SGPU_FAULT_PDE);
	}
	*table_out = table;
	return 0;
}

static struct sgpu_address pte_address(uint64_t pte)
{
	struct sgpu_address at = { .aperture = (enum sgpu_aperture)sgpu_bits(pte, 1, 2) };

	if (at.aperture >= SGPU_APERTURE_SYSMEM) {
		at.address = sgpu_bits(pte, ADDRESS_BIT, SYSMEM_END_BIT - ADDRESS_BIT)
			     << FRAME_SHIFT;
		return at;
	}
	at.address = sgpu_bits(pte, ADDRESS_BIT, VIDMEM_END_BIT - ADDRESS_BIT) |
		     sgpu_bits(pte, HIGH_BIT, SYSMEM_END_BIT - HIGH_BIT)
			     << (VIDMEM_END_BIT - ADDRESS_BIT);
	at.address <<= FRAME_SHIFT;
	if (at.aperture == SGPU_APERTURE_PEER)
		at.peer = (uint32_t)sgpu_bits(pte, VIDMEM_END_BIT, HIGH_BIT - VIDMEM_END_BIT);
	return at;
}

/* A valid PTE's page, if there is memory at @va.  A page is its size's multiple. */
static int pte_page(const struct sgpu_bus *bus, uint64_t pte, struct sgpu_page *page)
{
	uint64_t va = page->va;
	struct sgpu_address at;
	uint64_t left;

	page->va &= ~(page->bytes - 1);
	page->at = pte_address(pte);
	page->at.address &= ~(page->bytes - 1);
	page->is_read_only = pte & PTE_READ_ONLY;
	page->has_no_atomics = pte & PTE_ATOMIC_DISABLE;
	at = page->at;
	at.address += va - page->va;
	return sgpu_bus_at(bus, at, &left) ? 0 : fault(SGPU_FAULT_UNSUPPORTED_APERTURE);
}

/*
 * The PTE under a dual PDE, and its page's size.  A valid PTE of the big table wins; an
 * invalid one with the privilege bit says that the small table is out of use.
 */
static int pte_read(const struct sgpu_bus *bus, const uint64_t pde[2], struct sgpu_page *page,
		    uint64_t *pte_out)
{
	struct sgpu_address big, small;
	bool has_big = pde_table(pde[0], true, &big);
	bool has_small = pde_table(pde[1], false, &small);
	int rc;

	if (!has_big && !has_small)
		return fault(SGPU_FAULT_PDE);
	if (has_big) {
		rc = entry_read(bus, big, sgpu_bits(page->va, 16, 5), pte_out);
		page->bytes = SIZE_64K;
		if (rc || (*pte_out & (PTE_VALID | PTE_PRIVILEGE)))
			return rc;
	}
	if (!has_small)
		return 0;
	page->bytes = SIZE_4K;
	return entry_read(bus, small, sgpu_bits(page->va, 12, 9), pte_out);
}

int sgpu_mmu_walk(const struct sgpu_bus *bus, const struct sgpu_pdb *pdb, uint64_t va,
		  struct sgpu_page *page_out)
{
	struct sgpu_page page = { .va = va, .bytes = SIZE_2M };
	struct sgpu_address table;
	uint64_t pde[2], pte;
	int rc;

	if (!pdb->is_valid)
		return fault(SGPU_FAULT_UNBOUND_INSTANCE);
	if (va >> SGPU_VA_BITS)
		return fault(SGPU_FAULT_VA_LIMIT);
	rc = walk_to_pde0(bus, pdb->root, va, &table);
	if (!rc)
		rc = entry_read(bus, table, 2 * sgpu_bits(va, 21, 8), &pde[0]);
	if (!rc)
		rc = entry_read(bus, table, 2 * sgpu_bits(va, 21, 8) + 1, &pde[1]);
	if (rc)
		return rc;
	pte = pde[0];
	if (!(pte & IS_PTE))
		rc = pte_read(bus, pde, &page, &pte);
	if (!rc && !(pte & PTE_VALID))
		rc = fault(SGPU_FAULT_PTE);
	if (!rc)
		rc = pte_page(bus, pte, &page);
	if (!rc)
		*page_out = page;
	return rc;
}

int sgpu_mmu_permits(const struct sgpu_page *page, enum sgpu_access access)
{
	if (access != SGPU_ACCESS_WRITE && access != SGPU_ACCESS_ATOMIC)
		return 0;
	if (page->is_read_only)
		return fault(SGPU_FAULT_READ_ONLY);
	if (access == SGPU_ACCESS_ATOMIC && page->has_no_atomics)
		return fault(SGPU_FAULT_ATOMIC);
	return 0;
}
