/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The bus, the page walk and the list of RM's mappings. */
#include "kmod/testbed/softgpu/vas.h"
#include "tests/softgpu/world.h"

#define SIZE_4K 0x1000ull
#define SIZE_64K 0x10000ull
#define SIZE_2M 0x200000ull

#define FAULT(type) (1 + SGPU_FAULT_##type)

static struct sgpu_address vidmem(uint64_t address)
{
	return (struct sgpu_address){ .aperture = SGPU_APERTURE_VIDMEM, .address = address };
}

static struct sgpu_address peer(uint32_t id, uint64_t address)
{
	return (struct sgpu_address){ SGPU_APERTURE_PEER, id, address };
}

static struct sgpu_address sysmem(uint64_t address)
{
	return (struct sgpu_address){ .aperture = SGPU_APERTURE_SYSMEM,
				      .address = WORLD_SYSMEM_AT + address };
}

static void map(struct world *world, const struct sgpu_pdb *pdb, uint64_t va, uint64_t bytes,
		struct sgpu_address at)
{
	world_map(world, pdb, &(struct world_mapping){ va, bytes, at, 0 });
}

static void poke(struct world *world, uint64_t address, uint64_t value)
{
	memcpy(world->vidmem + address, &value, sizeof(value));
}

/* The page at @va is the one of @bytes around it that lies at @at. */
static void expect_page(const struct world *world, const struct sgpu_pdb *pdb, uint64_t va,
			uint64_t bytes, struct sgpu_address at)
{
	struct sgpu_page page;

	memset(&page, 0x5a, sizeof(page));
	TEST_EQ(sgpu_mmu_walk(&world->bus, pdb, va, &page), 0);
	TEST_EQ(page.va, va & ~(bytes - 1));
	TEST_EQ(page.bytes, bytes);
	TEST_EQ(page.at.aperture, at.aperture);
	TEST_EQ(page.at.peer, at.peer);
	TEST_EQ(page.at.address, at.address);
}

static void expect_fault(const struct world *world, const struct sgpu_pdb *pdb, uint64_t va,
			 int fault)
{
	struct sgpu_page page, untouched;

	memset(&page, 0x5a, sizeof(page));
	untouched = page;
	TEST_EQ(sgpu_mmu_walk(&world->bus, pdb, va, &page), fault);
	TEST_TRUE(!memcmp(&page, &untouched, sizeof(page)));
}

static void bus_pieces(void)
{
	struct sgpu_address noncoherent = sysmem(0x1800);
	struct world world, other;
	uint64_t left = 0;

	world_init(&world);
	world_init(&other);
	world.bus.peers[3] = &other.bus;
	other.bus.vidmem_bytes = 0x3000;
	TEST_TRUE(sgpu_bus_at(&world.bus, vidmem(5), &left) == world.vidmem + 5);
	TEST_EQ(left, WORLD_VIDMEM_BYTES - 5);
	TEST_TRUE(sgpu_bus_at(&world.bus, vidmem(WORLD_VIDMEM_BYTES - 1), &left));
	TEST_EQ(left, 1);
	TEST_TRUE(sgpu_bus_at(&world.bus, peer(3, 0x2ff0), &left) == other.vidmem + 0x2ff0);
	TEST_EQ(left, 0x10);
	TEST_TRUE(sgpu_bus_at(&world.bus, sysmem(0x1234), &left) == world.sysmem + 0x1234);
	TEST_EQ(left, 0x1000 - 0x234);
	TEST_TRUE(sgpu_bus_at(&world.bus, sysmem(0x2000), &left));
	TEST_EQ(left, 0x1000);
	noncoherent.aperture = SGPU_APERTURE_SYSMEM_NONCOHERENT;
	TEST_TRUE(sgpu_bus_at(&world.bus, noncoherent, &left) == world.sysmem + 0x1800);
	TEST_EQ(left, 0x800);
	world_fini(&world);
	world_fini(&other);
}

static void bus_nothing_there(void)
{
	struct sgpu_address bad[] = {
		vidmem(WORLD_VIDMEM_BYTES),
		vidmem(UINT64_MAX),
		peer(2, 0),
		peer(3, WORLD_VIDMEM_BYTES),
		peer(SGPU_PEERS_MAX, 0),
		peer(UINT32_MAX, 0),
		sysmem(WORLD_SYSMEM_BYTES),
		sysmem(-1ull),
		{ .aperture = (enum sgpu_aperture)4 },
		{ .aperture = (enum sgpu_aperture)UINT32_MAX },
	};
	struct sgpu_bus empty = { 0 };
	struct world world;
	uint64_t left = 77;

	world_init(&world);
	world.bus.peers[3] = &world.bus;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		TEST_TRUE(!sgpu_bus_at(&world.bus, bad[i], &left));
	TEST_TRUE(!sgpu_bus_at(&empty, vidmem(0), &left));
	TEST_TRUE(!sgpu_bus_at(&empty, sysmem(0), &left));
	TEST_EQ(left, 77);
	world_fini(&world);
}

/*
 * Tables as numbers, by NVIDIA's document and not by world.c: VA 0x1_8ac7_0561_3000 has the
 * indices 3, 43, 56, 43, and 1 (64 KiB) or 19 (4 KiB).
 */
#define LITERAL_VA 0x18ac705613000ull

static void literal_tables(struct world *world)
{
	poke(world, 0x1000 + 3 * 8, 0x0000000000000202);   /* PDE3: video memory, 0x2000 */
	poke(world, 0x2000 + 43 * 8, 0x000000000000030a);  /* PDE2: 0x3000, volatile */
	poke(world, 0x3000 + 56 * 8, 0x0000000000000422);  /* PDE1: 0x4000, no ATS */
	poke(world, 0x4000 + 43 * 16, 0x000000000000051a); /* big table at 0x5100, volatile */
	poke(world, 0x4000 + 43 * 16 + 8, 0x0000000602);   /* small table at 0x6000 */
	poke(world, 0x6000 + 19 * 8, 0x06000000000012c9);  /* 0x12000: 4 KiB, RO, no atomics */
}

static void walk_literal(void)
{
	struct sgpu_pdb pdb = { true, vidmem(0x1000) };
	struct sgpu_page page;
	struct world world;

	world_init(&world);
	literal_tables(&world);
	TEST_EQ(sgpu_mmu_walk(&world.bus, &pdb, LITERAL_VA + 0xabc, &page), 0);
	TEST_EQ(page.va, LITERAL_VA);
	TEST_EQ(page.bytes, 0x1000);
	TEST_EQ(page.at.aperture, SGPU_APERTURE_VIDMEM);
	TEST_EQ(page.at.address, 0x12000);
	TEST_TRUE(page.is_read_only && page.has_no_atomics);
	/* The big table: system memory, WORLD_SYSMEM_AT + 0x30000. */
	poke(&world, 0x5100 + 1 * 8, 0x0600000010003005);
	expect_page(&world, &pdb, LITERAL_VA, 0x10000, sysmem(0x30000));
	/* A page of 2 MiB in its place; the other half is not looked at. */
	poke(&world, 0x4000 + 43 * 16, 0x0600000000040001);
	expect_page(&world, &pdb, LITERAL_VA, 0x200000, vidmem(0x400000));
	TEST_EQ(sgpu_mmu_walk(&world.bus, &pdb, LITERAL_VA, &page), 0);
	TEST_TRUE(!page.is_read_only && !page.has_no_atomics);
	world_fini(&world);
}

static void walk_literal_peer(void)
{
	struct sgpu_pdb pdb = { true, vidmem(0x1000) };
	struct world world, other;

	world_init(&world);
	world_init(&other);
	world.bus.peers[5] = &other.bus;
	literal_tables(&world);
	/* Peer 5 in bits 35:33. */
	poke(&world, 0x6000 + 19 * 8, 0x0600000a00001203);
	expect_page(&world, &pdb, LITERAL_VA, 0x1000, peer(5, 0x12000));
	poke(&world, 0x6000 + 19 * 8, 0x0600000c00001203);
	expect_fault(&world, &pdb, LITERAL_VA, FAULT(UNSUPPORTED_APERTURE));
	poke(&world, 0x6000 + 19 * 8, 0x0600000a00080003);
	expect_fault(&world, &pdb, LITERAL_VA, FAULT(UNSUPPORTED_APERTURE));
	/* Address bits 37 and up, from bit 36 on: not the page at 0x12000. */
	poke(&world, 0x6000 + 19 * 8, 0x0600001000001201);
	expect_fault(&world, &pdb, LITERAL_VA, FAULT(UNSUPPORTED_APERTURE));
	/* nvidia-uvm's poisoned PTE: privileged, read-only, 0x1bad000000. */
	poke(&world, 0x6000 + 19 * 8, 0x06000001bad000e9);
	expect_fault(&world, &pdb, LITERAL_VA, FAULT(UNSUPPORTED_APERTURE));
	world_fini(&world);
	world_fini(&other);
}

/* A sysmem_at that says what it was asked, for addresses that no test machine has. */
static void *sysmem_wide(void *user, uint64_t address)
{
	static uint64_t page[512];

	*(uint64_t *)user = address;
	return page;
}

static void walk_wide_sysmem(void)
{
	struct sgpu_pdb pdb = { true, vidmem(0x1000) };
	struct sgpu_page page;
	struct world world;
	uint64_t asked = 0;

	world_init(&world);
	literal_tables(&world);
	world.bus.sysmem_at = sysmem_wide;
	world.bus.user = &asked;
	/* 46 bits of frame and what lies above them: the kind, in bits 63:56. */
	poke(&world, 0x6000 + 19 * 8, 0x063fffffffffff07);
	TEST_EQ(sgpu_mmu_walk(&world.bus, &pdb, LITERAL_VA + 0x321, &page), 0);
	TEST_EQ(page.at.aperture, SGPU_APERTURE_SYSMEM_NONCOHERENT);
	TEST_EQ(page.at.address, 0x3fffffffffff000);
	/* It looked whether memory is there where the access goes. */
	TEST_EQ(asked, 0x3fffffffffff321);
	/* A big table beyond 4 GiB: frames of 256 bytes from bit 4 on. */
	poke(&world, 0x4000 + 43 * 16, 0x0000123456789ab4);
	(void)sgpu_mmu_walk(&world.bus, &pdb, LITERAL_VA, &page);
	poke(&world, 0x4000 + 43 * 16 + 8, 0);
	expect_fault(&world, &pdb, LITERAL_VA, FAULT(PTE));
	TEST_EQ(asked, 0x123456789ab00 + 1 * 8);
	world_fini(&world);
}

static void sizes_one(enum sgpu_aperture tables, enum sgpu_aperture data)
{
	static const uint64_t sizes[] = { SIZE_4K, SIZE_64K, SIZE_2M };
	struct world world;
	struct sgpu_pdb pdb;

	world_init(&world);
	pdb = world_pdb(&world, tables);
	for (int i = 0; i < 3; i++) {
		uint64_t va = 0x7f1234000000ull + i * SIZE_2M;
		struct sgpu_address at = { .aperture = data, .address = SIZE_2M };

		if (data != SGPU_APERTURE_VIDMEM)
			at.address += WORLD_SYSMEM_AT;
		map(&world, &pdb, va, sizes[i], at);
		expect_page(&world, &pdb, va, sizes[i], at);
		expect_page(&world, &pdb, va + sizes[i] / 2 + 3, sizes[i], at);
		expect_page(&world, &pdb, va + sizes[i] - 1, sizes[i], at);
		if (sizes[i] != SIZE_2M)
			expect_fault(&world, &pdb, va + sizes[i], FAULT(PTE));
		world_unmap(&world, &pdb, va, sizes[i]);
		expect_fault(&world, &pdb, va, sizes[i] == SIZE_2M ? FAULT(PDE) : FAULT(PTE));
	}
	world_fini(&world);
}

static void walk_sizes(void)
{
	static const enum sgpu_aperture apertures[] = { SGPU_APERTURE_VIDMEM, SGPU_APERTURE_SYSMEM,
							SGPU_APERTURE_SYSMEM_NONCOHERENT };

	for (int i = 0; i < 9; i++)
		sizes_one(apertures[i / 3], apertures[i % 3]);
}

static void walk_flags(void)
{
	struct sgpu_page page;
	struct world world;
	struct sgpu_pdb pdb;

	world_init(&world);
	pdb = world_pdb(&world, SGPU_APERTURE_SYSMEM);
	for (unsigned int flags = 0; flags < 8; flags++) {
		world_map(&world, &pdb,
			  &(struct world_mapping){ 0x1000, SIZE_4K, vidmem(0), flags });
		TEST_EQ(sgpu_mmu_walk(&world.bus, &pdb, 0x1000, &page), 0);
		TEST_EQ(page.is_read_only, !!(flags & WORLD_PTE_READ_ONLY));
		TEST_EQ(page.has_no_atomics, !!(flags & WORLD_PTE_NO_ATOMICS));
	}
	world_fini(&world);
}

/* The four states of a 64 KiB PTE over a table of 4 KiB pages. */
static void walk_big_over_small(void)
{
	struct world world;
	struct sgpu_pdb pdb;

	world_init(&world);
	pdb = world_pdb(&world, SGPU_APERTURE_VIDMEM);
	map(&world, &pdb, 0x13000, SIZE_4K, sysmem(0x7000));
	expect_page(&world, &pdb, 0x13456, SIZE_4K, sysmem(0x7000));
	map(&world, &pdb, 0x10000, SIZE_64K, vidmem(0x40000));
	expect_page(&world, &pdb, 0x13456, SIZE_64K, vidmem(0x40000));
	/* Its neighbours' big PTEs are invalid and hide nothing. */
	map(&world, &pdb, 0x20000, SIZE_4K, sysmem(0x8000));
	expect_page(&world, &pdb, 0x20000, SIZE_4K, sysmem(0x8000));
	world_hide_small(&world, &pdb, 0x10000);
	expect_fault(&world, &pdb, 0x13456, FAULT(PTE));
	expect_page(&world, &pdb, 0x20000, SIZE_4K, sysmem(0x8000));
	world_unmap(&world, &pdb, 0x10000, SIZE_64K);
	expect_page(&world, &pdb, 0x13456, SIZE_4K, sysmem(0x7000));
	expect_fault(&world, &pdb, 0x14000, FAULT(PTE));
	world_fini(&world);
}

static void walk_missing_levels(void)
{
	struct sgpu_pdb pdb = { true, vidmem(0x1000) };
	static const struct {
		uint64_t entry, value;
		int fault;
	} cases[] = {
		{ 0x1000 + 3 * 8, 0, FAULT(PDE) },
		{ 0x2000 + 43 * 8, 0, FAULT(PDE) },
		{ 0x3000 + 56 * 8, 0, FAULT(PDE) },
		/* Only the aperture says that a table is there. */
		{ 0x3000 + 56 * 8, 0x400, FAULT(PDE) },
		/* A PTE where Turing has none. */
		{ 0x1000 + 3 * 8, 0x201, FAULT(PDE) },
		{ 0x2000 + 43 * 8, 0x303, FAULT(PDE) },
		{ 0x3000 + 56 * 8, 0x403, FAULT(PDE) },
		{ 0x4000 + 43 * 16 + 8, 0, FAULT(PTE) },
		{ 0x6000 + 19 * 8, 0, FAULT(PTE) },
		/* Sparse, privileged: invalid all the same. */
		{ 0x6000 + 19 * 8, 0x8, FAULT(PTE) },
		{ 0x6000 + 19 * 8, 0x20, FAULT(PTE) },
		/* Tables where no memory is. */
		{ 0x1000 + 3 * 8, 0x1ffffff02, FAULT(UNSUPPORTED_APERTURE) },
		{ 0x2000 + 43 * 8, 0x80002, FAULT(UNSUPPORTED_APERTURE) },
		{ 0x3000 + 56 * 8, 0x404, FAULT(UNSUPPORTED_APERTURE) },
		{ 0x4000 + 43 * 16, 0x80002, FAULT(UNSUPPORTED_APERTURE) },
		{ 0x4000 + 43 * 16 + 8, 0x3fffffffffff06, FAULT(UNSUPPORTED_APERTURE) },
	};
	struct world world;

	world_init(&world);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		literal_tables(&world);
		expect_page(&world, &pdb, LITERAL_VA, SIZE_4K, vidmem(0x12000));
		poke(&world, cases[i].entry, cases[i].value);
		expect_fault(&world, &pdb, LITERAL_VA, cases[i].fault);
	}
	literal_tables(&world);
	poke(&world, 0x4000 + 43 * 16, 0);
	poke(&world, 0x4000 + 43 * 16 + 8, 0);
	expect_fault(&world, &pdb, LITERAL_VA, FAULT(PDE));
	world_fini(&world);
}

static void walk_bad_roots(void)
{
	struct sgpu_address bad[] = {
		vidmem(WORLD_VIDMEM_BYTES),
		vidmem(WORLD_VIDMEM_BYTES - 8),
		vidmem(0x1004),
		vidmem(UINT64_MAX - 0xfff),
		sysmem(WORLD_SYSMEM_BYTES),
		peer(1, 0x1000),
		{ .aperture = (enum sgpu_aperture)9 },
	};
	struct sgpu_pdb pdb = { true, vidmem(0x1000) };
	struct world world;

	world_init(&world);
	literal_tables(&world);
	expect_page(&world, &pdb, LITERAL_VA, SIZE_4K, vidmem(0x12000));
	expect_fault(&world, &pdb, 1ull << 49, FAULT(VA_LIMIT));
	expect_fault(&world, &pdb, LITERAL_VA | 1ull << 49, FAULT(VA_LIMIT));
	expect_fault(&world, &pdb, UINT64_MAX, FAULT(VA_LIMIT));
	expect_fault(&world, &pdb, (1ull << 49) - 1, FAULT(PDE));
	pdb.is_valid = false;
	expect_fault(&world, &pdb, LITERAL_VA, FAULT(UNBOUND_INSTANCE));
	pdb.is_valid = true;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pdb.root = bad[i];
		expect_fault(&world, &pdb, LITERAL_VA, FAULT(UNSUPPORTED_APERTURE));
	}
	world_fini(&world);
}

/* An entry whose 8 bytes reach over the memory's end. */
static void walk_memory_ends_in_entry(void)
{
	struct sgpu_pdb pdb = { true, vidmem(0x1000) };
	struct world world;

	world_init(&world);
	literal_tables(&world);
	poke(&world, 0x6000 + 19 * 8, 0x0600000010003005);
	world.bus.vidmem_bytes = 0x6000 + 20 * 8;
	expect_page(&world, &pdb, LITERAL_VA, SIZE_4K, sysmem(0x30000));
	world.bus.vidmem_bytes -= 4;
	expect_fault(&world, &pdb, LITERAL_VA, FAULT(UNSUPPORTED_APERTURE));
	world_fini(&world);
}

/* The first half of a page of 64 KiB has memory, the second has none. */
static void walk_page_over_the_end(void)
{
	struct world world;
	struct sgpu_pdb pdb;

	world_init(&world);
	pdb = world_pdb(&world, SGPU_APERTURE_SYSMEM);
	map(&world, &pdb, 0x10000, SIZE_64K, vidmem(0x10000));
	world.bus.vidmem_bytes = 0x18000;
	expect_page(&world, &pdb, 0x17fff, SIZE_64K, vidmem(0x10000));
	expect_fault(&world, &pdb, 0x18000, FAULT(UNSUPPORTED_APERTURE));
	world_fini(&world);
}

static void permits_all(void)
{
	static const struct {
		bool is_read_only, has_no_atomics;
		int rc[4]; /* by enum sgpu_access */
	} cases[] = {
		{ false, false, { 0, 0, 0, 0 } },
		{ false, true, { 0, 0, FAULT(ATOMIC), 0 } },
		{ true, false, { 0, FAULT(READ_ONLY), FAULT(READ_ONLY), 0 } },
		{ true, true, { 0, FAULT(READ_ONLY), FAULT(READ_ONLY), 0 } },
	};

	for (int i = 0; i < 16; i++) {
		struct sgpu_page page = {
			.is_read_only = cases[i / 4].is_read_only,
			.has_no_atomics = cases[i / 4].has_no_atomics,
		};

		TEST_EQ(sgpu_mmu_permits(&page, (enum sgpu_access)(i % 4)), cases[i / 4].rc[i % 4]);
	}
}

#define BLOCKS 6

/* What the tables of a block of 2 MiB should say, flat. */
struct block {
	uint64_t va;
	bool is_huge, has_big, has_small;
	bool is_big[32], is_hidden[32], is_small[512];
	struct sgpu_address huge, big[32], small[512];
};

static void block_split(struct block *block)
{
	if (!block->is_huge)
		return;
	block->is_huge = false;
	memset(block->is_big, 0, sizeof(block->is_big));
	memset(block->is_hidden, 0, sizeof(block->is_hidden));
	memset(block->is_small, 0, sizeof(block->is_small));
	block->has_big = block->has_small = false;
}

static struct sgpu_address random_at(uint64_t *seed, uint64_t bytes)
{
	uint64_t pages = WORLD_VIDMEM_BYTES / bytes;
	uint64_t address = test_random(seed) % pages * bytes;

	return test_random(seed) & 1 ? vidmem(address) : sysmem(address);
}

static void random_huge(struct world *world, const struct sgpu_pdb *pdb, struct block *block,
			uint64_t *seed)
{
	if (block->is_huge && test_random(seed) & 1) {
		world_unmap(world, pdb, block->va, SIZE_2M);
		block_split(block);
		return;
	}
	block->is_huge = true;
	block->huge = random_at(seed, SIZE_2M);
	map(world, pdb, block->va, SIZE_2M, block->huge);
}

static void random_big(struct world *world, const struct sgpu_pdb *pdb, struct block *block,
		       uint64_t *seed)
{
	uint32_t i = test_random(seed) % 32;
	uint64_t va = block->va + i * SIZE_64K;
	uint64_t what = test_random(seed) % 3;

	block_split(block);
	block->has_big = true;
	block->is_big[i] = what == 0;
	block->is_hidden[i] = what == 1;
	if (what == 0) {
		block->big[i] = random_at(seed, SIZE_64K);
		map(world, pdb, va, SIZE_64K, block->big[i]);
	} else if (what == 1) {
		world_hide_small(world, pdb, va);
	} else {
		world_unmap(world, pdb, va, SIZE_64K);
	}
}

static void random_small(struct world *world, const struct sgpu_pdb *pdb, struct block *block,
			 uint64_t *seed)
{
	uint32_t i = test_random(seed) % 512;
	uint64_t va = block->va + i * SIZE_4K;

	block_split(block);
	block->has_small = true;
	block->is_small[i] = test_random(seed) % 4;
	if (!block->is_small[i]) {
		world_unmap(world, pdb, va, SIZE_4K);
		return;
	}
	block->small[i] = random_at(seed, SIZE_4K);
	map(world, pdb, va, SIZE_4K, block->small[i]);
}

static void block_check(const struct world *world, const struct sgpu_pdb *pdb,
			const struct block *block, uint64_t offset)
{
	uint64_t va = block->va + offset;
	uint32_t big = (uint32_t)(offset / SIZE_64K);
	uint32_t small = (uint32_t)(offset / SIZE_4K);

	if (block->is_huge)
		expect_page(world, pdb, va, SIZE_2M, block->huge);
	else if (block->is_big[big])
		expect_page(world, pdb, va, SIZE_64K, block->big[big]);
	else if (block->is_small[small] && !block->is_hidden[big])
		expect_page(world, pdb, va, SIZE_4K, block->small[small]);
	else
		expect_fault(world, pdb, va,
			     block->has_big || block->has_small ? FAULT(PTE) : FAULT(PDE));
}

static void random_round(uint64_t seed)
{
	/* Neighbours, and one of another entry at each level. */
	static const uint64_t vas[BLOCKS] = { 0,          SIZE_2M,
					      1ull << 29, 0x7f0000000000,
					      1ull << 48, (1ull << 49) - SIZE_2M };
	static struct block blocks[BLOCKS];
	struct world world;
	struct sgpu_pdb pdb;

	world_init(&world);
	memset(blocks, 0, sizeof(blocks));
	pdb = world_pdb(&world, seed & 1 ? SGPU_APERTURE_VIDMEM : SGPU_APERTURE_SYSMEM);
	for (int i = 0; i < BLOCKS; i++)
		blocks[i].va = vas[i];
	for (int i = 0; i < 1500; i++) {
		struct block *block = &blocks[test_random(&seed) % BLOCKS];
		uint64_t what = test_random(&seed) % 50;

		if (what == 0)
			random_huge(&world, &pdb, block, &seed);
		else if (what < 15)
			random_big(&world, &pdb, block, &seed);
		else
			random_small(&world, &pdb, block, &seed);
		for (int k = 0; k < 30; k++)
			block_check(&world, &pdb, &blocks[test_random(&seed) % BLOCKS],
				    test_random(&seed) % SIZE_2M);
	}
	for (int i = 0; i < BLOCKS * 512; i++)
		block_check(&world, &pdb, &blocks[i / 512], i % 512 * SIZE_4K);
	world_fini(&world);
}

static void walk_random(void)
{
	for (uint64_t seed = 1; seed <= 12; seed++)
		random_round(seed);
}

/* Tables of noise: any answer will do, but no access outside of memory. */
static void noise_fill(struct world *world, uint64_t *seed)
{
	/* Mostly tables and pages of video memory, so that many walks reach the end. */
	static const uint8_t low[] = { 2, 2, 2, 2, 2, 1, 0, 4, 5, 3, 0x20, 0xff };

	for (uint64_t at = 0; at < WORLD_VIDMEM_BYTES; at += 8) {
		uint64_t noise = test_random(seed);
		uint64_t frame = noise >> 32 & 0x7ff;

		poke(world, at,
		     noise >> 60 ? frame << 8 | low[(noise & 0xffff) % sizeof(low)] : noise);
	}
}

static void walk_noise(void)
{
	int counts[2 + SGPU_FAULT_ATOMIC] = { 0 };
	uint64_t seed = 0x6e6f697365;
	struct sgpu_page page;
	struct world world;

	world_init(&world);
	noise_fill(&world, &seed);
	for (int i = 0; i < 200000; i++) {
		uint64_t root = (test_random(&seed) >> 32) % 2048 * SGPU_PAGE_BYTES;
		struct sgpu_pdb pdb = { true, vidmem(root) };
		int rc = sgpu_mmu_walk(&world.bus, &pdb, test_random(&seed) >> 15, &page);

		TEST_TRUE(rc >= 0 && rc <= FAULT(ATOMIC));
		counts[rc]++;
	}
	TEST_TRUE(counts[0] > 1000 && counts[FAULT(PTE)] > 1000 && counts[FAULT(PDE)] > 1000);
	TEST_TRUE(counts[FAULT(UNSUPPORTED_APERTURE)] > 1000);
	world_fini(&world);
}

static void vas_map_find_unmap(void)
{
	uint8_t memory[1];
	struct sgpu_mapping a = { .va = 0x10000, .bytes = 0x2000, .memory = memory };
	struct sgpu_mapping b = { .va = 0x12000, .bytes = 1, .memory = memory };
	struct sgpu_mapping c = { .va = UINT64_MAX - 0xfff, .bytes = 0x1000, .memory = memory };
	struct sgpu_vas vas = { 0 };

	TEST_TRUE(!sgpu_vas_find(&vas, 0) && !sgpu_vas_unmap(&vas, 0));
	sgpu_vas_map(&vas, &a);
	sgpu_vas_map(&vas, &b);
	sgpu_vas_map(&vas, &c);
	TEST_TRUE(sgpu_vas_find(&vas, 0x10000) == &a);
	TEST_TRUE(sgpu_vas_find(&vas, 0x11fff) == &a);
	TEST_TRUE(sgpu_vas_find(&vas, 0x12000) == &b);
	TEST_TRUE(sgpu_vas_find(&vas, UINT64_MAX) == &c);
	TEST_TRUE(!sgpu_vas_find(&vas, 0xffff) && !sgpu_vas_find(&vas, 0x12001));
	TEST_TRUE(!sgpu_vas_find(&vas, 0) && !sgpu_vas_find(&vas, UINT64_MAX - 0x1000));
	TEST_TRUE(sgpu_vas_unmap(&vas, 0x12000) == &b);
	TEST_TRUE(!b.next && !sgpu_vas_find(&vas, 0x12000) && !sgpu_vas_unmap(&vas, 0x12000));
	TEST_TRUE(sgpu_vas_find(&vas, 0x11000) == &a);
	TEST_TRUE(sgpu_vas_unmap(&vas, 0x10001) == &a);
	TEST_TRUE(sgpu_vas_unmap(&vas, UINT64_MAX) == &c);
	TEST_TRUE(!vas.mappings);
}

static void address_is_same(void)
{
	static const struct sgpu_address at[] = {
		{ .aperture = SGPU_APERTURE_VIDMEM, .address = 0x5000 },
		{ .aperture = SGPU_APERTURE_VIDMEM, .address = 0x6000 },
		{ .aperture = SGPU_APERTURE_PEER, .address = 0x5000 },
		{ .aperture = SGPU_APERTURE_PEER, .peer = 1, .address = 0x5000 },
		{ .aperture = SGPU_APERTURE_SYSMEM, .address = 0x5000 },
		{ .aperture = SGPU_APERTURE_SYSMEM, .address = 0x100005000 },
	};
	const size_t count = sizeof(at) / sizeof(at[0]);
	struct sgpu_address noncoherent = at[4];

	for (size_t i = 0; i < count * count; i++)
		TEST_EQ(sgpu_address_is_same(&at[i / count], &at[i % count]),
			i / count == i % count);
	noncoherent.aperture = SGPU_APERTURE_SYSMEM_NONCOHERENT;
	for (size_t i = 0; i < count; i++) {
		TEST_EQ(sgpu_address_is_same(&at[i], &noncoherent), i == 4);
		TEST_EQ(sgpu_address_is_same(&noncoherent, &at[i]), i == 4);
	}
	TEST_TRUE(sgpu_address_is_same(&noncoherent, &noncoherent));
	/* Who has no peer may have anything in that field. */
	noncoherent.peer = 3;
	TEST_TRUE(sgpu_address_is_same(&noncoherent, &at[4]));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(bus_pieces),
		TEST(bus_nothing_there),
		TEST(walk_literal),
		TEST(walk_literal_peer),
		TEST(walk_wide_sysmem),
		TEST(walk_sizes),
		TEST(walk_flags),
		TEST(walk_big_over_small),
		TEST(walk_missing_levels),
		TEST(walk_bad_roots),
		TEST(walk_memory_ends_in_entry),
		TEST(walk_page_over_the_end),
		TEST(permits_all),
		TEST(walk_random),
		TEST(walk_noise),
		TEST(vas_map_find_unmap),
		TEST(address_is_same),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
