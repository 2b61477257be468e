/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The TLB: what it keeps, what it forgets, and that a missing invalidate shows. */
#include "kmod/testbed/softgpu/tlb.h"
#include "tests/softgpu/world.h"

#define SIZE_4K 0x1000ull
#define SIZE_64K 0x10000ull
#define SIZE_2M 0x200000ull

#define FAULT(type) (1 + SGPU_FAULT_##type)

#define READ SGPU_ACCESS_READ
#define WRITE SGPU_ACCESS_WRITE
#define ATOMIC SGPU_ACCESS_ATOMIC

struct fixture {
	struct world world;
	struct sgpu_tlb tlb;
	struct sgpu_pdb pdb;
};

static void setup(struct fixture *f)
{
	world_init(&f->world);
	sgpu_tlb_init(&f->tlb, 1);
	f->pdb = world_pdb(&f->world, SGPU_APERTURE_SYSMEM);
}

static void map(struct fixture *f, uint64_t va, uint64_t bytes, uint64_t address)
{
	struct world_mapping mapping = { va, bytes, { .address = address }, 0 };

	world_map(&f->world, &f->pdb, &mapping);
}

static void map_flags(struct fixture *f, uint64_t va, uint64_t address, unsigned int flags)
{
	struct world_mapping mapping = { va, SIZE_4K, { .address = address }, flags };

	world_map(&f->world, &f->pdb, &mapping);
}

static int translate(struct fixture *f, uint64_t va, enum sgpu_access access,
		     struct sgpu_page *page_out)
{
	struct sgpu_tlb_lookup lookup = { &f->world.bus, &f->pdb, va, access };

	return sgpu_tlb_translate(&f->tlb, &lookup, page_out);
}

/* The address in video memory that @va reaches. */
static uint64_t reach(struct fixture *f, uint64_t va, enum sgpu_access access)
{
	struct sgpu_page page;

	TEST_EQ(translate(f, va, access, &page), 0);
	TEST_TRUE(va - page.va < page.bytes);
	return page.at.address + (va - page.va);
}

static void expect_fault(struct fixture *f, uint64_t va, enum sgpu_access access, int fault)
{
	struct sgpu_page page, untouched;

	memset(&page, 0x5a, sizeof(page));
	untouched = page;
	TEST_EQ(translate(f, va, access, &page), fault);
	TEST_TRUE(!memcmp(&page, &untouched, sizeof(page)));
}

static void expect_counts(const struct fixture *f, uint64_t hits, uint64_t misses)
{
	TEST_EQ(f->tlb.hits, hits);
	TEST_EQ(f->tlb.misses, misses);
}

static uint32_t invalidate_va(struct fixture *f, uint64_t va, uint64_t bytes)
{
	struct sgpu_tlb_range range = { true, f->pdb.root, true, va, bytes };

	return sgpu_tlb_invalidate(&f->tlb, &range);
}

static uint32_t invalidate_all(struct fixture *f)
{
	return sgpu_tlb_invalidate(&f->tlb, &(struct sgpu_tlb_range){ 0 });
}

static void translate_keeps_until_invalidated(void)
{
	static const uint64_t sizes[] = { SIZE_4K, SIZE_64K, SIZE_2M };
	struct fixture f;

	for (int i = 0; i < 3; i++) {
		uint64_t va = 0x7f0000000000, last = sizes[i] - 1;

		setup(&f);
		map(&f, va, sizes[i], 0);
		TEST_EQ(reach(&f, va + 5, READ), 5);
		expect_counts(&f, 0, 1);
		map(&f, va, sizes[i], SIZE_2M);
		/* The old page, wherever in it, whatever the access. */
		TEST_EQ(reach(&f, va + last, WRITE), last);
		world_unmap(&f.world, &f.pdb, va, sizes[i]);
		TEST_EQ(reach(&f, va, ATOMIC), 0);
		expect_counts(&f, 2, 1);
		map(&f, va, sizes[i], SIZE_2M);
		TEST_EQ(invalidate_va(&f, va + last, 1), 1);
		TEST_EQ(reach(&f, va + last, READ), SIZE_2M + last);
		expect_counts(&f, 2, 2);
		world_fini(&f.world);
	}
}

static void translate_keeps_no_faults(void)
{
	struct fixture f;

	setup(&f);
	expect_fault(&f, 0x5000, READ, FAULT(PDE));
	map(&f, 0x5000, SIZE_4K, 0x1000);
	TEST_EQ(reach(&f, 0x5000, READ), 0x1000);
	expect_fault(&f, 0x6000, WRITE, FAULT(PTE));
	map(&f, 0x6000, SIZE_4K, 0x2000);
	TEST_EQ(reach(&f, 0x6000, WRITE), 0x2000);
	expect_counts(&f, 0, 4);
	expect_fault(&f, 1ull << 49, READ, FAULT(VA_LIMIT));
	map(&f, 0x7000, SIZE_4K, WORLD_VIDMEM_BYTES);
	expect_fault(&f, 0x7000, READ, FAULT(UNSUPPORTED_APERTURE));
	map(&f, 0x7000, SIZE_4K, 0x3000);
	TEST_EQ(reach(&f, 0x7000, READ), 0x3000);
	TEST_EQ(invalidate_all(&f), 3);
	world_fini(&f.world);
}

/* An address space without tables faults although its old root is cached. */
static void translate_unbound(void)
{
	struct fixture f;

	setup(&f);
	map(&f, 0x5000, SIZE_4K, 0x1000);
	TEST_EQ(reach(&f, 0x5000, READ), 0x1000);
	f.pdb.is_valid = false;
	expect_fault(&f, 0x5000, READ, FAULT(UNBOUND_INSTANCE));
	world_fini(&f.world);
}

static void translate_raised_permissions(void)
{
	struct fixture f;

	setup(&f);
	map_flags(&f, 0x5000, 0x1000, WORLD_PTE_READ_ONLY | WORLD_PTE_NO_ATOMICS);
	TEST_EQ(reach(&f, 0x5000, READ), 0x1000);
	expect_fault(&f, 0x5000, WRITE, FAULT(READ_ONLY));
	expect_fault(&f, 0x5000, ATOMIC, FAULT(READ_ONLY));
	expect_counts(&f, 0, 3);
	/* What was walked again is kept: reads hit. */
	TEST_EQ(reach(&f, 0x5000, SGPU_ACCESS_PREFETCH), 0x1000);
	expect_counts(&f, 1, 3);
	map_flags(&f, 0x5000, 0x1000, WORLD_PTE_NO_ATOMICS);
	TEST_EQ(reach(&f, 0x5000, WRITE), 0x1000);
	TEST_EQ(reach(&f, 0x5000, WRITE), 0x1000);
	expect_counts(&f, 2, 4);
	expect_fault(&f, 0x5000, ATOMIC, FAULT(ATOMIC));
	map_flags(&f, 0x5000, 0x1000, 0);
	TEST_EQ(reach(&f, 0x5000, ATOMIC), 0x1000);
	TEST_EQ(invalidate_all(&f), 1);
	world_fini(&f.world);
}

/* Lowered without an invalidate: the write still goes through, which is the driver's fault. */
static void translate_lowered_permissions(void)
{
	struct fixture f;

	setup(&f);
	map_flags(&f, 0x5000, 0x1000, 0);
	TEST_EQ(reach(&f, 0x5000, WRITE), 0x1000);
	map_flags(&f, 0x5000, 0x1000, WORLD_PTE_READ_ONLY);
	TEST_EQ(reach(&f, 0x5000, WRITE), 0x1000);
	TEST_EQ(invalidate_va(&f, 0x5000, SIZE_4K), 1);
	expect_fault(&f, 0x5000, WRITE, FAULT(READ_ONLY));
	world_fini(&f.world);
}

/* The refused page is gone for all accesses once the walk has seen that it is unmapped. */
static void translate_refused_and_unmapped(void)
{
	struct fixture f;

	setup(&f);
	map_flags(&f, 0x5000, 0x1000, WORLD_PTE_READ_ONLY);
	TEST_EQ(reach(&f, 0x5000, READ), 0x1000);
	world_unmap(&f.world, &f.pdb, 0x5000, SIZE_4K);
	TEST_EQ(reach(&f, 0x5000, READ), 0x1000);
	expect_fault(&f, 0x5000, WRITE, FAULT(PTE));
	expect_fault(&f, 0x5000, READ, FAULT(PTE));
	world_fini(&f.world);
}

/* Stale pages of several sizes over one address: a refusal rids the TLB of all of them. */
static void overlap(unsigned int big_flags)
{
	struct world_mapping big = { 0, SIZE_64K, { .address = SIZE_64K }, big_flags };
	struct fixture f;

	setup(&f);
	map_flags(&f, 0x5000, 0x1000, WORLD_PTE_READ_ONLY);
	TEST_EQ(reach(&f, 0x5000, READ), 0x1000);
	world_map(&f.world, &f.pdb, &big);
	TEST_EQ(reach(&f, 0x6000, READ), SIZE_64K + 0x6000);
	TEST_EQ(reach(&f, 0x5000, READ), 0x1000);
	map(&f, 0, SIZE_2M, SIZE_2M);
	TEST_EQ(reach(&f, 0x5000, WRITE), SIZE_2M + 0x5000);
	TEST_EQ(reach(&f, 0x5000, READ), SIZE_2M + 0x5000);
	TEST_EQ(reach(&f, 0x6000, READ), SIZE_2M + 0x6000);
	TEST_EQ(invalidate_all(&f), 1);
	world_fini(&f.world);
}

static void translate_overlapping_sizes(void)
{
	overlap(WORLD_PTE_READ_ONLY);
	overlap(0);
}

static void invalidate_ranges(void)
{
	static const struct {
		uint64_t va, bytes;
		uint32_t gone;
	} cases[] = {
		{ SIZE_2M, SIZE_64K, 1 },
		{ SIZE_2M + SIZE_64K - 1, 1, 1 },
		{ SIZE_2M + SIZE_64K, SIZE_2M, 0 },
		{ SIZE_2M - 1, 1, 0 },
		{ SIZE_2M - 1, 2, 1 },
		{ 0, SIZE_2M, 0 },
		{ 0, SIZE_2M + 1, 1 },
		{ SIZE_2M + 0x4000, SIZE_4K, 1 },
		{ SIZE_2M + 0x4000, 0, 0 },
		{ SIZE_2M, 0, 0 },
		/* Up to the end of 64 bits, and over it. */
		{ 0, UINT64_MAX, 1 },
		{ SIZE_4K, UINT64_MAX, 1 },
		{ SIZE_2M + 1, UINT64_MAX, 1 },
		{ SIZE_2M + SIZE_64K, UINT64_MAX, 0 },
		{ UINT64_MAX, UINT64_MAX, 0 },
	};
	struct fixture f;

	setup(&f);
	map(&f, SIZE_2M, SIZE_64K, SIZE_64K);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		TEST_EQ(reach(&f, SIZE_2M + 0xf000, READ), SIZE_64K + 0xf000);
		TEST_EQ(invalidate_va(&f, cases[i].va, cases[i].bytes), cases[i].gone);
		TEST_EQ(invalidate_va(&f, SIZE_2M, SIZE_64K), 1 - cases[i].gone);
	}
	TEST_EQ(invalidate_all(&f), 0);
	world_fini(&f.world);
}

/* Many address spaces with one address, so that some share a set. */
static void translate_by_root(void)
{
	struct sgpu_pdb spaces[SGPU_TLB_SETS * 3];
	struct fixture f;

	setup(&f);
	for (uint32_t i = 0; i < SGPU_TLB_SETS * 3; i++) {
		f.pdb = spaces[i] =
			world_pdb(&f.world, i & 1 ? SGPU_APERTURE_SYSMEM : SGPU_APERTURE_VIDMEM);
		map(&f, 0x5000, SIZE_4K, i * SIZE_4K);
	}
	for (int k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < SGPU_TLB_SETS * 3; i++) {
			f.pdb = spaces[i];
			TEST_EQ(reach(&f, 0x5000, READ), i * SIZE_4K);
		}
	}
	TEST_TRUE(f.tlb.hits);
	world_fini(&f.world);
}

/* Two address spaces with the same addresses, and roots whose numbers differ or do not. */
static void invalidate_by_root(void)
{
	struct sgpu_tlb_range range = { .has_root = true };
	struct sgpu_pdb second;
	struct fixture f;

	setup(&f);
	second = world_pdb(&f.world, SGPU_APERTURE_SYSMEM);
	map(&f, 0x5000, SIZE_4K, 0x1000);
	TEST_EQ(reach(&f, 0x5000, READ), 0x1000);
	range.root = f.pdb.root;
	f.pdb = second;
	expect_fault(&f, 0x5000, READ, FAULT(PDE));
	map(&f, 0x5000, SIZE_4K, 0x2000);
	TEST_EQ(reach(&f, 0x5000, READ), 0x2000);
	TEST_EQ(sgpu_tlb_invalidate(&f.tlb, &range), 1);
	TEST_EQ(reach(&f, 0x5000, READ), 0x2000);
	expect_counts(&f, 1, 3);
	/* The same number in video memory is another root; not coherent is the same one. */
	range.root = second.root;
	range.root.aperture = SGPU_APERTURE_VIDMEM;
	TEST_EQ(sgpu_tlb_invalidate(&f.tlb, &range), 0);
	range.root.aperture = SGPU_APERTURE_SYSMEM_NONCOHERENT;
	TEST_EQ(sgpu_tlb_invalidate(&f.tlb, &range), 1);
	/* By addresses alone. */
	TEST_EQ(reach(&f, 0x5000, READ), 0x2000);
	range = (struct sgpu_tlb_range){ .has_va = true, .va = 0x5000, .bytes = 1 };
	TEST_EQ(sgpu_tlb_invalidate(&f.tlb, &range), 1);
	world_fini(&f.world);
}

#define MANY 512

/* More pages than places; each translation is right, and some were thrown out. */
static uint64_t many_hits(uint64_t tlb_seed)
{
	uint64_t seed = 99, hits;
	struct fixture f;

	setup(&f);
	sgpu_tlb_init(&f.tlb, tlb_seed);
	for (uint64_t i = 0; i < MANY; i++)
		map(&f, i * SIZE_4K, SIZE_4K, (MANY - i) * SIZE_4K);
	for (int k = 0; k < 20000; k++) {
		uint64_t i = (test_random(&seed) >> 32) % MANY;

		TEST_EQ(reach(&f, i * SIZE_4K, READ), (MANY - i) * SIZE_4K);
	}
	hits = f.tlb.hits;
	TEST_EQ(hits + f.tlb.misses, 20000);
	/* Every place is in use. */
	TEST_EQ(invalidate_all(&f), SGPU_TLB_SETS * SGPU_TLB_WAYS);
	world_fini(&f.world);
	return hits;
}

static void translate_replaces_by_seed(void)
{
	uint64_t hits = many_hits(5);

	/* A quarter of the pages has a place. */
	TEST_TRUE(hits > 4000 && hits < 6000);
	TEST_EQ(many_hits(5), hits);
	TEST_TRUE(many_hits(6) != hits);
	TEST_TRUE(many_hits(0) != hits);
}

/* Neighbouring pages use all sets before any is thrown out. */
static void translate_spreads(void)
{
	struct fixture f;

	setup(&f);
	for (uint64_t i = 0; i < SGPU_TLB_SETS * SGPU_TLB_WAYS; i++)
		map(&f, i * SIZE_4K, SIZE_4K, i * SIZE_4K);
	for (int k = 0; k < 2; k++)
		for (uint64_t i = 0; i < SGPU_TLB_SETS * SGPU_TLB_WAYS; i++)
			TEST_EQ(reach(&f, i * SIZE_4K, READ), i * SIZE_4K);
	/* Hashing need not be perfect, but close to it. */
	TEST_TRUE(f.tlb.hits >= SGPU_TLB_SETS * SGPU_TLB_WAYS / 2);
	world_fini(&f.world);
}

/* Pages of the random test: 96 of 4 KiB, 64 of 64 KiB, 16 of 2 MiB. */
#define PAGES 176
#define PLACES 4 /* that a page may be mapped to, by number */

enum care {
	CARE_ALWAYS,  /* invalidates what it changed */
	CARE_NEVER,   /* never */
	CARE_FORGETS, /* one in eight times not */
};

struct random_test {
	struct fixture f;
	uint64_t seed;
	enum care care;
	int8_t now[PAGES];     /* place; -1: unmapped */
	uint8_t can_be[PAGES]; /* mask of places that the TLB may still hold */
	uint64_t stale, faults_missed;
};

static uint64_t page_bytes(uint32_t page)
{
	if (page < 96)
		return SIZE_4K;
	return page < 160 ? SIZE_64K : SIZE_2M;
}

static uint64_t page_va(uint32_t page)
{
	if (page < 96)
		return 0x7f0000000000 + page * 3 * SIZE_4K;
	if (page < 160)
		return 0x7f4000000000 + (page - 96) * SIZE_64K;
	return 0x7f8000000000 + (page - 160) * SIZE_2M;
}

static uint32_t roll(struct random_test *t, uint32_t sides)
{
	return (uint32_t)((test_random(&t->seed) >> 32) % sides);
}

static uint8_t place_bit(int8_t place)
{
	return (uint8_t)(1 << place);
}

/* An invalidate that covers @page: exact, a little of it, too much, its space, everything. */
static void random_invalidate(struct random_test *t, uint32_t page)
{
	struct sgpu_tlb_range range = { .has_root = roll(t, 2), .root = t->f.pdb.root };
	uint64_t bytes = page_bytes(page);

	range.has_va = roll(t, 64);
	range.va = page_va(page);
	range.bytes = bytes;
	if (roll(t, 3) == 0) {
		range.va += roll(t, (uint32_t)bytes);
		range.bytes = 1;
	} else if (roll(t, 3) == 0) {
		range.va -= roll(t, 4) * bytes;
		range.bytes = 6 * bytes;
	}
	(void)sgpu_tlb_invalidate(&t->f.tlb, &range);
	for (page = 0; page < PAGES; page++) {
		uint64_t va = page_va(page);

		if (!range.has_va ||
		    (va < range.va + range.bytes && range.va < va + page_bytes(page)))
			t->can_be[page] = t->now[page] < 0 ? 0 : place_bit(t->now[page]);
	}
}

static void random_change(struct random_test *t)
{
	uint32_t page = roll(t, PAGES);
	int8_t to = (int8_t)((int)roll(t, PLACES + 2) - 2);

	if (to < 0) {
		t->now[page] = -1;
		world_unmap(&t->f.world, &t->f.pdb, page_va(page), page_bytes(page));
	} else {
		t->now[page] = to;
		t->can_be[page] = (uint8_t)(t->can_be[page] | place_bit(to));
		map(&t->f, page_va(page), page_bytes(page), (uint64_t)to * SIZE_2M);
	}
	if (t->care == CARE_ALWAYS || (t->care == CARE_FORGETS && roll(t, 8)))
		random_invalidate(t, page);
}

static void random_access(struct random_test *t)
{
	uint32_t page = roll(t, PAGES);
	uint64_t va = page_va(page) + roll(t, (uint32_t)page_bytes(page));
	struct sgpu_page got;
	int rc = translate(&t->f, va, (enum sgpu_access)roll(t, 4), &got);
	uint64_t place;

	if (rc) {
		TEST_TRUE(rc == FAULT(PDE) || rc == FAULT(PTE));
		TEST_EQ(t->now[page], -1);
		return;
	}
	TEST_EQ(got.va, page_va(page));
	TEST_EQ(got.bytes, page_bytes(page));
	place = got.at.address / SIZE_2M;
	TEST_TRUE(got.at.address % SIZE_2M == 0 && place < PLACES);
	/* Never what an invalidate has covered since. */
	TEST_TRUE(t->can_be[page] & 1 << place);
	t->faults_missed += t->now[page] < 0;
	t->stale += t->now[page] >= 0 && (uint64_t)t->now[page] != place;
}

static void random_run(struct random_test *t, enum care care, uint64_t seed)
{
	memset(t, 0, sizeof(*t));
	setup(&t->f);
	memset(t->now, -1, sizeof(t->now));
	t->seed = seed;
	t->care = care;
	for (int i = 0; i < 100000; i++) {
		if (roll(t, 4) == 0)
			random_change(t);
		else
			random_access(t);
	}
	TEST_TRUE(t->f.tlb.hits > 1000 && t->f.tlb.misses > 1000);
	world_fini(&t->f.world);
}

static void random_with_invalidates(void)
{
	static struct random_test t;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		random_run(&t, CARE_ALWAYS, seed);
		TEST_EQ(t.stale, 0);
		TEST_EQ(t.faults_missed, 0);
	}
}

static void random_without_invalidates(void)
{
	static struct random_test t;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		random_run(&t, CARE_NEVER, seed);
		TEST_TRUE(t.stale > 1000 && t.faults_missed > 1000);
	}
}

static void random_with_forgotten_invalidates(void)
{
	static struct random_test t;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		random_run(&t, CARE_FORGETS, seed);
		TEST_TRUE(t.stale > 10 && t.faults_missed > 10);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(translate_keeps_until_invalidated),
		TEST(translate_keeps_no_faults),
		TEST(translate_unbound),
		TEST(translate_raised_permissions),
		TEST(translate_lowered_permissions),
		TEST(translate_refused_and_unmapped),
		TEST(translate_overlapping_sizes),
		TEST(invalidate_ranges),
		TEST(translate_by_root),
		TEST(invalidate_by_root),
		TEST(translate_replaces_by_seed),
		TEST(translate_spreads),
		TEST(random_with_invalidates),
		TEST(random_without_invalidates),
		TEST(random_with_forgotten_invalidates),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
