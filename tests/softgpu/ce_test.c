/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The copy engine against memory that is copied byte by byte. */
#include "tests/softgpu/front.h"

#define SEMAPHORE FRONT_SEMAPHORES
#define VA 0x7f0000000000ull /* of pages that lie anywhere, PIECES of 4 KiB */
#define PIECES 16u
#define BYTES (PIECES * 4096u)

/* LAUNCH_DMA */
#define PIPELINED 1u
#define NON_PIPELINED 2u
#define FLUSH (1u << 2)
#define ONE_WORD (1u << 3)
#define FOUR_WORDS (2u << 3)
#define PITCH (3u << 7)
#define REMAP (1u << 10)
#define SRC_PHYSICAL (1u << 12)
#define DST_PHYSICAL (1u << 13)
#define INC (6u << 14 | 1u << 18 | 1u << 19)
#define COPY (PITCH | NON_PIPELINED)
#define FILL (COPY | REMAP)

/* SET_REMAP_COMPONENTS */
#define CONST_A 4u
#define CONST_B 5u
#define NO_WRITE 6u

/* Where a byte is: a virtual address, or a physical one. */
struct place {
	uint64_t address;
	bool is_physical;
	uint32_t target; /* SET_*_PHYS_MODE */
};

static struct place virtual(uint64_t va)
{
	return (struct place){ .address = va };
}

static void push_address(struct front *front, uint32_t method, uint64_t address)
{
	FRONT_METHODS(front, FRONT_INC, SGPU_SUBCHANNEL_CE, method, (uint32_t)(address >> 32),
		      (uint32_t)address);
}

static uint32_t push_destination(struct front *front, struct place to)
{
	if (to.is_physical)
		FRONT_CE(front, SET_DST_PHYS_MODE, to.target);
	push_address(front, SGPU_CE_OFFSET_OUT_UPPER, to.address);
	return to.is_physical ? DST_PHYSICAL : 0;
}

static void push_copy(struct front *front, struct place to, struct place from, uint32_t bytes)
{
	uint32_t launch = COPY | push_destination(front, to);

	if (from.is_physical) {
		FRONT_CE(front, SET_SRC_PHYS_MODE, from.target);
		launch |= SRC_PHYSICAL;
	}
	push_address(front, SGPU_CE_OFFSET_IN_UPPER, from.address);
	FRONT_CE(front, LINE_LENGTH_IN, bytes);
	FRONT_CE(front, LAUNCH_DMA, launch);
}

/* @components: SET_REMAP_COMPONENTS. */
static void push_fill(struct front *front, struct place to, uint32_t components, uint32_t elements)
{
	uint32_t launch = FILL | push_destination(front, to);

	FRONT_CE(front, SET_REMAP_COMPONENTS, components);
	FRONT_CE(front, LINE_LENGTH_IN, elements);
	FRONT_CE(front, LAUNCH_DMA, launch);
}

static void push_semaphore(struct front *front, uint64_t va, uint32_t payload, uint32_t launch)
{
	FRONT_CE(front, SET_SEMAPHORE_A, (uint32_t)(va >> 32), (uint32_t)va, payload);
	FRONT_CE(front, LAUNCH_DMA, launch);
}

static uint8_t *byte_at(struct front *front, uint64_t va)
{
	uint64_t left;
	uint8_t *at = sgpu_channel_at(&front->channels[1], va, SGPU_ACCESS_READ, &left);

	TEST_TRUE(at);
	return at;
}

/* Pages at VA, no two side by side, half of them in system memory; all bytes are random. */
static struct front *begin(void)
{
	struct front *front = front_init();
	struct world_mapping mapping = { .bytes = 4096 };
	uint64_t rng = 7;
	uint32_t i;

	for (i = 0; i < PIECES; i++) {
		/* Page 5 * i, so that neighbours are none. */
		mapping.va = VA + 4096 * (5 * i % PIECES);
		mapping.at = world_take(&front->world,
					i % 3 ? SGPU_APERTURE_SYSMEM : SGPU_APERTURE_VIDMEM, 4096);
		world_map(&front->world, &front->vas.pdb, &mapping);
	}
	for (i = 0; i < BYTES; i++)
		*byte_at(front, VA + i) = (uint8_t)(test_random(&rng) >> 32);
	for (i = 0; i < FRONT_BYTES / 2; i++)
		front->rm.memory[FRONT_BYTES / 2 + i] = (uint8_t)(test_random(&rng) >> 32);
	return front;
}

static void bytes_get(struct front *front, uint64_t va, uint8_t *bytes, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		bytes[i] = *byte_at(front, va + i);
}

/* Ends the test at the first byte that differs. */
static void bytes_are(struct front *front, uint64_t va, const uint8_t *bytes, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (*byte_at(front, va + i) != bytes[i])
			test_fail(__FILE__, __LINE__, "byte i is as it was wanted", i,
				  *byte_at(front, va + i));
}

static uint8_t was[BYTES];

/* --- copies ----------------------------------------------------------------- */

static void copy_one_byte(void)
{
	struct front *front = begin();

	bytes_get(front, VA, was, 3);
	was[1] = *byte_at(front, SEMAPHORE + 5);
	push_copy(front, virtual(VA + 1), virtual(SEMAPHORE + 5), 1);
	front_do(front);
	bytes_are(front, VA, was, 3);
	TEST_EQ(front->gpu.counters.copies, 1);
	TEST_EQ(front->gpu.counters.copy_bytes, 1);
	push_copy(front, virtual(VA + 1), virtual(SEMAPHORE + 6), 0);
	front_do(front);
	bytes_are(front, VA, was, 3);
	/* What maps nothing is not touched by a line of no bytes. */
	push_copy(front, virtual(1), virtual(2), 0);
	front_do(front);
	front_fini(front);
}

/* Virtual and physical, video and system memory, each to each, with bytes round them. */
static void copy_each_to_each(void)
{
	struct front *front = begin();
	struct sgpu_address video = world_take(&front->world, SGPU_APERTURE_VIDMEM, 65536);
	struct sgpu_address sys = world_take(&front->world, SGPU_APERTURE_SYSMEM, 65536);
	const struct place places[] = {
		virtual(VA + 77),
		virtual(SEMAPHORE + 3),
		{ .address = video.address + 4000, .is_physical = true, .target = 0 },
		{ .address = sys.address + 4001, .is_physical = true, .target = 1 },
	};
	uint8_t *at[4] = { NULL, front->rm.memory + FRONT_BYTES / 2 + 3,
			   (uint8_t *)world_at(&front->world, video) + 4000,
			   (uint8_t *)world_at(&front->world, sys) + 4001 };
	uint32_t i, j, k;

	for (i = 0; i < 4; i++) {
		for (j = 1; j < 4; j++) {
			for (k = 0; k < 9000; k++)
				at[j][k] = (uint8_t)(k * 31 + i * 7 + j);
			bytes_get(front, VA + 77, was, 9000);
			if (i)
				memcpy(was, at[i], 9000);
			push_copy(front, places[j], places[i], 8999);
			front_do(front);
			if (i == j)
				continue;
			TEST_TRUE(!memcmp(at[j], was, 8999));
			TEST_EQ(at[j][8999], (uint8_t)(8999 * 31 + i * 7 + j));
			TEST_EQ(at[j][0], was[0]);
		}
		/* And back to the pages that lie anywhere. */
		if (!i)
			continue;
		memcpy(was, at[i], 8999);
		was[8999] = *byte_at(front, VA + 77 + 8999);
		push_copy(front, places[0], places[i], 8999);
		front_do(front);
		bytes_are(front, VA + 77, was, 9000);
	}
	front_fini(front);
}

static void copy_random(void)
{
	struct front *front = begin();
	uint64_t rng = 3;
	uint32_t i, from, to, bytes;

	bytes_get(front, VA, was, BYTES);
	for (i = 0; i < 500; i++) {
		bytes = 1 + (uint32_t)(test_random(&rng) >> 33) % (i % 2 ? 50 : BYTES / 2);
		from = (uint32_t)(test_random(&rng) >> 33) % (BYTES - bytes + 1);
		to = (uint32_t)(test_random(&rng) >> 33) % (BYTES - bytes + 1);
		/* Hardware says nothing about overlaps, so neither does this. */
		if (from < to + bytes && to < from + bytes)
			continue;
		memcpy(was + to, was + from, bytes);
		push_copy(front, virtual(VA + to), virtual(VA + from), bytes);
		front_do(front);
	}
	bytes_are(front, VA, was, BYTES);
	front_fini(front);
}

/* Source and destination in one piece may overlap: no trap, and what memmove() does. */
static void copy_overlapping(void)
{
	struct front *front = begin();
	uint8_t *at = front->rm.memory + FRONT_BYTES / 2;

	memcpy(was, at, 1000);
	push_copy(front, virtual(SEMAPHORE + 7), virtual(SEMAPHORE), 900);
	front_do(front);
	TEST_TRUE(!memcmp(at + 7, was, 900) && !memcmp(at, was, 7));
	front_fini(front);
}

static void copy_faults(void)
{
	struct front *front = begin();
	struct world_mapping mapping = { .bytes = 65536, .flags = WORLD_PTE_READ_ONLY };
	struct place beyond = { .address = WORLD_VIDMEM_BYTES - 8, .is_physical = true };

	/* As CHANNEL_SANITY does it: and the semaphore behind it is never released. */
	front_set_word(front, SEMAPHORE, 0);
	push_fill(front, virtual(0xffffffff), CONST_B | 3 << 16, 1);
	push_semaphore(front, SEMAPHORE, 1, ONE_WORD);
	front_fails(front, "channel 1: fault of the destination at 0xffffffff, at LAUNCH_DMA "
			   "(0x300) 0x582 on subchannel 4");
	TEST_EQ(front_word(front, SEMAPHORE), 0);
	push_copy(front, virtual(VA), virtual(VA + BYTES - 100), 101);
	front_fails(front, "fault of the source at 0x7f0000010000");
	push_copy(front, virtual(VA + BYTES - 100), virtual(VA), 101);
	front_fails(front, "fault of the destination at 0x7f0000010000");
	/* What came before the fault is copied. */
	bytes_get(front, VA, was, 100);
	bytes_are(front, VA + BYTES - 100, was, 100);
	push_copy(front, beyond, virtual(VA), 8);
	front_do(front);
	push_copy(front, beyond, virtual(VA), 9);
	front_fails(front, "fault of the destination at 0x800000");
	push_copy(front, virtual(VA), beyond, 9);
	front_fails(front, "fault of the source at 0x800000");
	beyond.target = 1;
	push_copy(front, virtual(VA), beyond, 1);
	front_fails(front, "fault of the source at 0x7ffff8");
	mapping.va = VA + (1 << 24);
	mapping.at = world_take(&front->world, SGPU_APERTURE_VIDMEM, 65536);
	world_map(&front->world, &front->vas.pdb, &mapping);
	push_copy(front, virtual(VA), virtual(mapping.va), 65536);
	front_do(front);
	push_copy(front, virtual(mapping.va), virtual(VA), 1);
	front_fails(front, "fault of the destination at 0x7f0001000000");
	push_copy(front, virtual((1ull << 49) - 4), virtual(VA), 16);
	front_fails(front, "fault of the destination at 0x1fffffffffffc");
	front_fini(front);
}

static void copy_refuses(void)
{
	struct front *front = begin();
	struct place place = { .address = 0, .is_physical = true };

	push_copy(front, virtual(1ull << 49), virtual(VA), 16);
	front_fails(front, "address beyond 49 bits, upper part 0x20000");
	push_copy(front, virtual(VA), virtual(1ull << 63), 16);
	front_fails(front, "address beyond 49 bits, upper part 0x80000000");
	for (place.target = 3; place.target < 40; place.target += 9) {
		push_copy(front, virtual(VA), place, 16);
		front_fails(front, "no such target, SET_*_PHYS_MODE 0x");
		push_copy(front, place, virtual(VA), 16);
		front_fails(front, "no such target, SET_*_PHYS_MODE 0x");
	}
	/* System memory without coherence is system memory. */
	place.target = 2;
	place.address = WORLD_SYSMEM_AT;
	bytes_get(front, VA, was, 16);
	push_copy(front, place, virtual(VA), 16);
	front_do(front);
	TEST_TRUE(!memcmp(front->world.sysmem, was, 16));
	front_fini(front);
}

/* --- fills ------------------------------------------------------------------ */

#define A 0xa3a2a1a0u
#define B 0xb3b2b1b0u

/* What a fill is to leave of @was. */
static void fill_naive(uint32_t components, uint32_t at, uint32_t elements)
{
	uint32_t size = (components >> 16 & 3) + 1;
	uint32_t count = (components >> 24 & 3) + 1;
	uint32_t i, c, byte;

	for (i = 0; i < elements; i++) {
		for (c = 0; c < count; c++) {
			for (byte = 0; byte < size; byte++, at++) {
				uint32_t from = components >> 4 * c & 7;

				if (from != NO_WRITE)
					was[at] = (uint8_t)((from == CONST_A ? A : B) >> 8 * byte);
			}
		}
	}
}

/* All sizes and counts of components, with each choice of constants, over several pages. */
static void fill_components(void)
{
	struct front *front = begin();
	uint32_t shape, choice, c, components, at, elements;

	for (shape = 0; shape < 16; shape++) {
		for (choice = 0; choice < 81; choice++) {
			uint32_t rest = choice;

			components = (shape & 3) << 16 | shape >> 2 << 24;
			for (c = 0; c < 4; c++, rest /= 3)
				components |= (CONST_A + rest % 3) << 4 * c;
			at = (choice * 37 + shape) % 5000;
			elements = choice % 4 ? 1 + choice % 50 : 1200;
			bytes_get(front, VA + at, was, 22000);
			fill_naive(components, 0, elements);
			FRONT_CE(front, SET_REMAP_CONST_A, A, B);
			push_fill(front, virtual(VA + at), components, elements);
			front_do(front);
			bytes_are(front, VA + at, was, 22000);
		}
	}
	TEST_EQ(front->gpu.counters.memsets, 16 * 81);
	TEST_EQ(front->gpu.counters.copies, 0);
	front_fini(front);
}

/* memset_1, _4, _8 as uvm_volta_ce.c writes them, of all pages. */
static void fill_all_pages(void)
{
	static const struct {
		uint32_t components, bytes;
	} sets[] = {
		{ CONST_B, 1 },
		{ CONST_B | 3 << 16, 4 },
		{ CONST_A | CONST_B << 4 | 3 << 16 | 1 << 24, 8 },
	};
	struct front *front = begin();
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		fill_naive(sets[i].components, 0, BYTES / sets[i].bytes);
		FRONT_CE(front, SET_REMAP_CONST_A, A, B);
		push_fill(front, virtual(VA), sets[i].components, BYTES / sets[i].bytes);
		front_do(front);
		bytes_are(front, VA, was, BYTES);
		bytes += BYTES;
		TEST_EQ(front->gpu.counters.memset_bytes, bytes);
	}
	/* Zeros: elements of one byte as well. */
	memset(was, 0, BYTES - 8);
	FRONT_CE(front, SET_REMAP_CONST_A, 0, 0);
	push_fill(front, virtual(VA), sets[2].components, BYTES / 8 - 1);
	front_do(front);
	bytes_are(front, VA, was, BYTES);
	TEST_EQ(front->gpu.counters.memset_bytes, bytes + BYTES - 8);
	front_fini(front);
}

static void fill_physical(void)
{
	struct front *front = begin();
	struct sgpu_address video = world_take(&front->world, SGPU_APERTURE_VIDMEM, 65536);
	struct place to = { .address = video.address, .is_physical = true };
	const uint8_t *at = world_at(&front->world, video);

	FRONT_CE(front, SET_REMAP_CONST_A, A, B);
	push_fill(front, to, CONST_A | CONST_B << 4 | 3 << 16 | 1 << 24, 8192);
	front_do(front);
	for (to.address = 0; to.address < 65536; to.address++)
		TEST_EQ(at[to.address],
			(uint8_t)((to.address & 4 ? B : A) >> 8 * (to.address % 4)));
	front_fini(front);
}

static void fill_refuses(void)
{
	struct front *front = begin();
	uint32_t from;

	for (from = 0; from < 4; from++) {
		push_fill(front, virtual(VA), from, 1);
		front_fails(front, "remap of the source, SET_REMAP_COMPONENTS 0x");
		push_fill(front, virtual(VA), 0x444 | from << 12 | 3 << 24, 1);
		front_fails(front, "remap of the source, SET_REMAP_COMPONENTS 0x");
		/* A component that is not there may say what it wants. */
		push_fill(front, virtual(VA), 0x444 | from << 12 | 2 << 24, 1);
		front_do(front);
	}
	push_fill(front, virtual(VA), 7, 1);
	front_fails(front, "remap of the source, SET_REMAP_COMPONENTS 0x7");
	push_fill(front, virtual(VA + BYTES - 4), CONST_A | 3 << 16, 2);
	front_fails(front, "fault of the destination at 0x7f0000010000");
	front_fini(front);
}

/* --- semaphores ------------------------------------------------------------- */

static void semaphore_forms(void)
{
	struct front *front = begin();

	front_set_word(front, SEMAPHORE + 4, 0x55);
	front_set_word(front, SEMAPHORE + 32, 0x55);
	front->now_ns = 0x1122334455667788;
	push_semaphore(front, SEMAPHORE, 0xa5a55a5a, ONE_WORD);
	push_semaphore(front, SEMAPHORE + 16, 0xdeadbeef, FOUR_WORDS);
	front_do(front);
	TEST_EQ(front_word(front, SEMAPHORE), 0xa5a55a5a);
	TEST_EQ(front_word(front, SEMAPHORE + 4), 0x55);
	TEST_EQ(front_word(front, SEMAPHORE + 16), 0xdeadbeef);
	TEST_EQ(front_word(front, SEMAPHORE + 20), 0);
	TEST_EQ(front_word(front, SEMAPHORE + 24), 0x55667788);
	TEST_EQ(front_word(front, SEMAPHORE + 28), 0x11223344);
	TEST_EQ(front_word(front, SEMAPHORE + 32), 0x55);
	TEST_EQ(front->gpu.counters.releases, 2);
	TEST_EQ(front->gpu.counters.membars, 0);
	/* Neither a transfer nor a semaphore: a flush, of either type. */
	FRONT_CE(front, LAUNCH_DMA, FLUSH);
	FRONT_CE(front, LAUNCH_DMA, FLUSH | 1u << 25);
	FRONT_CE(front, LAUNCH_DMA, 1u << 25);
	front_do(front);
	TEST_EQ(front->gpu.counters.membars, 2);
	TEST_EQ(front->gpu.counters.releases, 2);
	front_fini(front);
}

/* At the top of 49 bits, where nvidia-uvm's own memory is; and with a transfer. */
static void semaphore_after_a_copy(void)
{
	struct front *front = begin();
	struct world_mapping mapping = { .va = 0x1fffffffff000, .bytes = 4096 };

	mapping.at = world_take(&front->world, SGPU_APERTURE_SYSMEM, 4096);
	world_map(&front->world, &front->vas.pdb, &mapping);
	FRONT_CE(front, SET_SEMAPHORE_A, 0x1ffff, 0xfffffffc, 7);
	push_address(front, SGPU_CE_OFFSET_IN_UPPER, SEMAPHORE);
	push_address(front, SGPU_CE_OFFSET_OUT_UPPER, VA);
	FRONT_CE(front, LINE_LENGTH_IN, 4);
	FRONT_CE(front, LAUNCH_DMA, COPY | FLUSH | ONE_WORD);
	front_do(front);
	TEST_EQ(front_word(front, mapping.va + 4092), 7);
	TEST_EQ(front_word(front, VA), front_word(front, SEMAPHORE));
	front_fini(front);
}

static void semaphore_refuses(void)
{
	struct front *front = begin();

	push_semaphore(front, SEMAPHORE + 2, 1, ONE_WORD);
	front_fails(front, "misaligned semaphore 0x1200080002");
	push_semaphore(front, SEMAPHORE + 8, 1, FOUR_WORDS);
	front_fails(front, "misaligned semaphore 0x1200080008");
	push_semaphore(front, 0x1000, 1, ONE_WORD);
	front_fails(front, "fault of a semaphore at 0x1000");
	push_semaphore(front, 0x1000, 1, ONE_WORD | INC);
	front_fails(front, "fault of a semaphore at 0x1000");
	push_semaphore(front, 1ull << 49, 1, ONE_WORD);
	front_fails(front, "address beyond 49 bits, upper part 0x20000");
	TEST_EQ(front->gpu.counters.releases, 0);
	front_fini(front);
}

static void reduction_increments(void)
{
	struct front *front = begin();
	struct world_mapping mapping = {
		.va = VA + (1 << 24),
		.bytes = 4096,
		.flags = WORLD_PTE_NO_ATOMICS,
	};
	uint32_t i;

	front_set_word(front, VA + 8, 0);
	front_set_word(front, VA + 12, 0x77);
	/* From 0 to the payload, then 0 again. */
	for (i = 1; i <= 100; i++) {
		push_semaphore(front, VA + 8, 32, ONE_WORD | INC);
		front_do(front);
		TEST_EQ(front_word(front, VA + 8), i % 33);
	}
	TEST_EQ(front_word(front, VA + 12), 0x77);
	front_set_word(front, VA + 8, 1000);
	push_semaphore(front, VA + 8, 32, ONE_WORD | INC);
	front_do(front);
	TEST_EQ(front_word(front, VA + 8), 0);
	TEST_EQ(front->gpu.counters.releases, 101);
	mapping.at = world_take(&front->world, SGPU_APERTURE_SYSMEM, 4096);
	world_map(&front->world, &front->vas.pdb, &mapping);
	push_semaphore(front, mapping.va, 1, ONE_WORD);
	front_do(front);
	push_semaphore(front, mapping.va, 1, ONE_WORD | INC);
	front_fails(front, "fault of a semaphore at 0x7f0001000000");
	front_fini(front);
}

/* --- what is refused -------------------------------------------------------- */

static void launch_refuses_by_name(void)
{
	static const struct {
		uint32_t launch;
		const char *why;
	} bad[] = {
		{ PITCH | 3, "no such DATA_TRANSFER_TYPE" },
		{ 3u << 3, "RELEASE_CONDITIONAL_INTR_SEMAPHORE" },
		{ COPY | 1u << 5, "INTERRUPT_TYPE" },
		{ 2u << 5, "INTERRUPT_TYPE" },
		{ COPY & ~(1u << 7), "SRC_MEMORY_LAYOUT BLOCKLINEAR" },
		{ COPY & ~(1u << 8), "DST_MEMORY_LAYOUT BLOCKLINEAR" },
		{ FILL & ~(1u << 8), "DST_MEMORY_LAYOUT BLOCKLINEAR" },
		{ COPY | 1u << 9, "MULTI_LINE_ENABLE" },
		{ COPY | 1u << 11, "FORCE_RMWDISABLE" },
		{ ONE_WORD | (INC & ~(6u << 14)), "SEMAPHORE_REDUCTION other than INC" },
		{ ONE_WORD | INC | 1u << 14, "SEMAPHORE_REDUCTION other than INC" },
		{ ONE_WORD | (INC & ~(1u << 18)), "SEMAPHORE_REDUCTION_SIGN SIGNED" },
		{ FOUR_WORDS | INC, "reduction of other than one word" },
		{ INC, "reduction of other than one word" },
		{ COPY | 1u << 20, "BYPASS_L2" },
		{ COPY | 1u << 21, "BYPASS_L2" },
		{ COPY | 1u << 22, "VPRMODE" },
		{ COPY | 1u << 23, "VPRMODE" },
		{ 1u << 24, "reserved bits" },
		{ 1u << 27, "reserved bits" },
		{ COPY | 1u << 31, "reserved bits" },
	};
	struct front *front = begin();
	char why[80];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		push_address(front, SGPU_CE_OFFSET_IN_UPPER, SEMAPHORE);
		push_address(front, SGPU_CE_OFFSET_OUT_UPPER, VA);
		FRONT_CE(front, SET_SEMAPHORE_A, SEMAPHORE >> 32, (uint32_t)SEMAPHORE, 1);
		FRONT_CE(front, LINE_LENGTH_IN, 4);
		FRONT_CE(front, LAUNCH_DMA, bad[i].launch);
		snprintf(why, sizeof(why), "channel 1: %s, LAUNCH_DMA 0x%x", bad[i].why,
			 bad[i].launch);
		front_fails(front, why);
	}
	TEST_EQ(front->gpu.counters.copies + front->gpu.counters.memsets, 0);
	TEST_EQ(front->gpu.counters.releases, 0);
	front_fini(front);
}

static void method_is_done_or_refused_by_name(void)
{
	static const struct {
		uint32_t method;
		const char *name;
	} refused[] = {
		{ 0x104, "without a name" },
		{ 0x140, "PM_TRIGGER" },
		{ 0x254, "SET_RENDER_ENABLE_A" },
		{ 0x280, "SET_GLOBAL_COUNTER_UPPER" },
		{ 0x28c, "SET_PAGEOUT_START_PALOWER" },
		{ 0x410, "PITCH_IN" },
		{ 0x414, "PITCH_OUT" },
		{ 0x41c, "LINE_COUNT" },
		{ 0x70c, "SET_DST_BLOCK_SIZE" },
		{ 0x73c, "SET_SRC_ORIGIN" },
		{ 0x750, "DST_ORIGIN_Y" },
		{ 0x1114, "PM_TRIGGER_END" },
		{ 0x1ffc, "without a name" },
	};
	static const uint32_t done[] = { 0x100, 0x240, 0x244, 0x248, 0x260, 0x264, 0x400,
					 0x404, 0x408, 0x40c, 0x418, 0x700, 0x704, 0x708 };
	struct front *front = begin();
	char why[80];
	size_t i;

	for (i = 0; i < sizeof(done) / sizeof(done[0]); i++)
		FRONT_METHODS(front, FRONT_INC, 4, done[i], 0xffffffff);
	front_do(front);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		FRONT_METHODS(front, FRONT_INC, 4, refused[i].method, 0xabc);
		snprintf(why, sizeof(why), "%s (0x%x) 0xabc on subchannel 4", refused[i].name,
			 refused[i].method);
		front_fails(front, why);
	}
	front_fini(front);
}

/* --- slow copies ------------------------------------------------------------ */

static void slow_copy_happens_at_its_end(void)
{
	struct front *front = begin();
	struct sgpu_channel *channel = &front->channels[0];
	uint64_t start = front->now_ns;
	uint32_t i;

	TEST_EQ(sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_COPY_SLOW, 50), 0);
	front_set_word(front, VA, 1);
	front_set_word(front, SEMAPHORE, 2);
	front_set_word(front, SEMAPHORE + 16, 0);
	push_copy(front, virtual(VA), virtual(SEMAPHORE), 4);
	push_semaphore(front, SEMAPHORE + 16, 9, ONE_WORD);
	front_submit(front, 0);
	for (i = 0; i < 50; i++) {
		front->now_ns = start + 1000ull * i;
		TEST_EQ(front_run(front, 0) == 0, i != 0);
		TEST_EQ(channel->stalled_until_ns, start + 50000);
		TEST_EQ(front_word(front, VA), 1);
	}
	/* The others go on. */
	front_set_word(front, SEMAPHORE + 32, 0);
	push_semaphore(front, SEMAPHORE + 32, 3, ONE_WORD);
	front_submit(front, 1);
	front_run(front, 1);
	TEST_EQ(front_word(front, SEMAPHORE + 32), 3);
	TEST_EQ(front_word(front, SEMAPHORE + 16), 0);
	front->now_ns = start + 50000;
	front_run(front, 0);
	TEST_EQ(channel->stalled_until_ns, 0);
	TEST_EQ(front_word(front, VA), 2);
	TEST_EQ(front_word(front, SEMAPHORE + 16), 9);
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_COPY_SLOW], 1);
	TEST_EQ(front->gpu.counters.copies, 1);
	/* The next one is slow again, and so is a fill. */
	push_copy(front, virtual(VA), virtual(SEMAPHORE), 4);
	push_fill(front, virtual(VA), CONST_A, 1);
	front_submit(front, 0);
	front_run(front, 0);
	TEST_EQ(channel->stalled_until_ns, start + 100000);
	front->now_ns = start + 200000;
	front_run(front, 0);
	TEST_EQ(channel->stalled_until_ns, start + 250000);
	front->now_ns = start + 250000;
	front_run(front, 0);
	TEST_EQ(front->gpu.inject.done[SGPU_INJECT_COPY_SLOW], 3);
	TEST_EQ(channel->get, channel->put);
	front_fini(front);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(copy_one_byte),
		TEST(copy_each_to_each),
		TEST(copy_random),
		TEST(copy_overlapping),
		TEST(copy_faults),
		TEST(copy_refuses),
		TEST(fill_components),
		TEST(fill_all_pages),
		TEST(fill_physical),
		TEST(fill_refuses),
		TEST(semaphore_forms),
		TEST(semaphore_after_a_copy),
		TEST(semaphore_refuses),
		TEST(reduction_increments),
		TEST(launch_refuses_by_name),
		TEST(method_is_done_or_refused_by_name),
		TEST(slow_copy_happens_at_its_end),
		{ NULL, NULL },
	};

	return test_main(argc, argv, tests);
}
