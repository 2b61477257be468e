/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The driver's part: it fills in page tables as nvidia-uvm's uvm_turing_mmu.c does. */
#include "tests/softgpu/world.h"

#include <errno.h>
#include <stdarg.h>

#define LOG_BYTES 65536

#define KIND_GENERIC (6ull << 56) /* NV_MMU_PTE_KIND_GENERIC_MEMORY */
#define PTE_VALID 1ull
#define PTE_PRIVILEGE (1ull << 5)
#define PDE_VOLATILE (1ull << 3)

static char log_lines[LOG_BYTES];
static char log_taken[LOG_BYTES];

void sgpu_log_line(const char *format, ...)
{
	size_t used = strlen(log_lines);
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(log_lines + used, LOG_BYTES - used - 1, format, args);
	va_end(args);
	TEST_TRUE(length >= 0 && (size_t)length < LOG_BYTES - used - 1);
	strcat(log_lines, "\n");
}

const char *world_log(void)
{
	memcpy(log_taken, log_lines, sizeof(log_taken));
	log_lines[0] = 0;
	return log_taken;
}

static void *sysmem_at(void *user, uint64_t address)
{
	struct world *world = user;

	if (address - WORLD_SYSMEM_AT >= WORLD_SYSMEM_BYTES)
		return NULL;
	return world->sysmem + (address - WORLD_SYSMEM_AT);
}

static uint8_t *zeroed(size_t bytes)
{
	uint8_t *memory = aligned_alloc(SGPU_PAGE_BYTES, bytes);

	TEST_TRUE(memory);
	memset(memory, 0, bytes);
	return memory;
}

void world_init(struct world *world)
{
	/* For test_fail() in this file: all tests of the program repeat the one that failed. */
	test_program = program_invocation_name;
	test_current = "";
	memset(world, 0, sizeof(*world));
	world->vidmem = zeroed(WORLD_VIDMEM_BYTES);
	world->sysmem = zeroed(WORLD_SYSMEM_BYTES);
	world->bus.vidmem = world->vidmem;
	world->bus.vidmem_bytes = WORLD_VIDMEM_BYTES;
	world->bus.sysmem_at = sysmem_at;
	world->bus.user = world;
	log_lines[0] = 0;
}

void world_fini(struct world *world)
{
	free(world->vidmem);
	free(world->sysmem);
	memset(world, 0, sizeof(*world));
}

struct sgpu_address world_take(struct world *world, enum sgpu_aperture aperture, uint64_t bytes)
{
	bool is_vidmem = aperture == SGPU_APERTURE_VIDMEM;
	uint64_t *used = is_vidmem ? &world->vidmem_used : &world->sysmem_used;
	uint64_t total = is_vidmem ? WORLD_VIDMEM_BYTES : WORLD_SYSMEM_BYTES;
	struct sgpu_address at = { .aperture = aperture };
	uint64_t align = 1;

	TEST_TRUE(aperture != SGPU_APERTURE_PEER);
	TEST_TRUE(bytes && bytes <= total);
	while (align < bytes)
		align *= 2;
	at.address = (*used + align - 1) & ~(align - 1);
	TEST_TRUE(at.address <= total - bytes);
	*used = at.address + bytes;
	if (!is_vidmem)
		at.address += WORLD_SYSMEM_AT;
	return at;
}

void *world_at(struct world *world, struct sgpu_address at)
{
	uint64_t left;
	void *bytes = sgpu_bus_at(&world->bus, at, &left);

	TEST_TRUE(bytes);
	return bytes;
}

struct sgpu_pdb world_pdb(struct world *world, enum sgpu_aperture aperture)
{
	/* The root has 4 entries and a page of its own. */
	return (struct sgpu_pdb){
		.is_valid = true,
		.root = world_take(world, aperture, SGPU_PAGE_BYTES),
	};
}

static uint64_t *entry_at(struct world *world, struct sgpu_address table, uint64_t index)
{
	table.address += index * sizeof(uint64_t);
	return world_at(world, table);
}

static bool is_sysmem(enum sgpu_aperture aperture)
{
	return aperture == SGPU_APERTURE_SYSMEM || aperture == SGPU_APERTURE_SYSMEM_NONCOHERENT;
}

static uint64_t pde_make(struct sgpu_address table, bool is_big)
{
	uint64_t aperture = is_sysmem(table.aperture) ? table.aperture : 1;

	/* Frames of 256 bytes from bit 4 on, or of 4 KiB from bit 8 on. */
	return aperture << 1 | PDE_VOLATILE |
	       (is_big ? table.address >> 8 << 4 : table.address >> 12 << 8);
}

/* The table that @pde points to; made first where it lacks. */
static struct sgpu_address table_get(struct world *world, enum sgpu_aperture aperture,
				     uint64_t *pde, bool is_big)
{
	unsigned int first = is_big ? 4 : 8;
	unsigned int shift = is_big ? 8 : 12;
	struct sgpu_address table;

	if (!sgpu_bits(*pde, 1, 2)) {
		table = world_take(world, aperture, is_big ? 256 : SGPU_PAGE_BYTES);
		*pde = pde_make(table, is_big);
		return table;
	}
	table = (struct sgpu_address){ .aperture = SGPU_APERTURE_VIDMEM };
	if (sgpu_bits(*pde, 1, 2) != 1)
		table.aperture = (enum sgpu_aperture)sgpu_bits(*pde, 1, 2);
	table.address = sgpu_bits(*pde, first, 54 - first) << shift;
	return table;
}

/* The dual PDE of @va. */
static uint64_t *pde0_get(struct world *world, const struct sgpu_pdb *pdb, uint64_t va)
{
	struct sgpu_address table = pdb->root;
	uint64_t *pde;

	pde = entry_at(world, table, sgpu_bits(va, 47, 2));
	table = table_get(world, pdb->root.aperture, pde, false);
	pde = entry_at(world, table, sgpu_bits(va, 38, 9));
	table = table_get(world, pdb->root.aperture, pde, false);
	pde = entry_at(world, table, sgpu_bits(va, 29, 9));
	table = table_get(world, pdb->root.aperture, pde, false);
	return entry_at(world, table, 2 * sgpu_bits(va, 21, 8));
}

/* The PTE of a page of @bytes: 16 bytes of 2 MiB, else 8; splits a page of 2 MiB into none. */
static uint64_t *pte_get(struct world *world, const struct sgpu_pdb *pdb, uint64_t va,
			 uint64_t bytes)
{
	uint64_t *pde = pde0_get(world, pdb, va);
	struct sgpu_address table;

	TEST_EQ(va % bytes, 0);
	if (bytes == 2u << 20)
		return pde;
	if (pde[0] & PTE_VALID)
		pde[0] = pde[1] = 0;
	if (bytes == 65536) {
		table = table_get(world, pdb->root.aperture, &pde[0], true);
		return entry_at(world, table, sgpu_bits(va, 16, 5));
	}
	TEST_EQ(bytes, 4096);
	table = table_get(world, pdb->root.aperture, &pde[1], false);
	return entry_at(world, table, sgpu_bits(va, 12, 9));
}

static uint64_t pte_make(const struct world_mapping *mapping)
{
	uint64_t frame = mapping->at.address >> 12;
	uint64_t pte = PTE_VALID | (uint64_t)mapping->at.aperture << 1 | KIND_GENERIC;

	if (is_sysmem(mapping->at.aperture))
		pte |= frame << 8;
	else
		pte |= sgpu_bits(frame, 0, 25) << 8 | (frame >> 25) << 36;
	if (mapping->at.aperture == SGPU_APERTURE_PEER)
		pte |= (uint64_t)mapping->at.peer << 33;
	if (mapping->flags & WORLD_PTE_VOLATILE)
		pte |= 1 << 3;
	if (mapping->flags & WORLD_PTE_READ_ONLY)
		pte |= 1 << 6;
	if (mapping->flags & WORLD_PTE_NO_ATOMICS)
		pte |= 1 << 7;
	return pte;
}

void world_map(struct world *world, const struct sgpu_pdb *pdb, const struct world_mapping *mapping)
{
	uint64_t *pte = pte_get(world, pdb, mapping->va, mapping->bytes);

	pte[0] = pte_make(mapping);
	if (mapping->bytes == 2u << 20)
		pte[1] = 0;
}

void world_unmap(struct world *world, const struct sgpu_pdb *pdb, uint64_t va, uint64_t bytes)
{
	uint64_t *pte = pte_get(world, pdb, va, bytes);

	pte[0] = 0;
	if (bytes == 2u << 20)
		pte[1] = 0;
}

void world_hide_small(struct world *world, const struct sgpu_pdb *pdb, uint64_t va)
{
	*pte_get(world, pdb, va, 65536) = PTE_PRIVILEGE;
}
