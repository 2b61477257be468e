/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* GPFIFO entries and pushbuffer headers, good and bad. */
#include "kmod/testbed/softgpu/channel.h"

#include "tests/softgpu/front.h"

#define SEMAPHORE FRONT_SEMAPHORES
#define SYNC (1ull << 63)
#define LEVEL (1ull << 41)

static uint32_t seen(const struct front *front, uint32_t method)
{
	return front->channels[0].registers[method / 4];
}

/* Words that are no header of any form, if somebody reads them as one. */
static void push_garbage(struct front *front, uint32_t count)
{
	uint32_t word = 6u << 29 | 0xbad;

	while (count--)
		front_push(front, &word, 1);
}

static void push_header(struct front *front, uint32_t form, uint32_t method, uint32_t count)
{
	uint32_t header = front_header(form, 0, method, count);

	front_push(front, &header, 1);
}

static void init_keeps_what_is_borrowed(void)
{
	struct front *front = front_init();
	const struct sgpu_channel *channel = &front->channels[1];
	uint32_t i;

	TEST_TRUE(channel->gpu == &front->gpu && channel->vas == &front->vas);
	TEST_TRUE(channel->fifo == front->fifo[1] && channel->error_status == &front->errors[1]);
	TEST_EQ(channel->fifo_count, FRONT_FIFO);
	TEST_EQ(channel->id, 2);
	TEST_EQ(channel->put + channel->get + channel->is_running + channel->has_failed, 0);
	TEST_EQ(channel->stalled_until_ns, 0);
	for (i = 0; i < SGPU_METHODS; i++)
		TEST_EQ(channel->registers[i], 0);
	front_fini(front);
}

static void step_runs_an_entry(void)
{
	struct front *front = front_init();

	FRONT_RELEASE(front, SEMAPHORE, 7);
	TEST_EQ(front_run(front, 0), 0);
	front_submit(front, 0);
	TEST_EQ(front_word(front, SEMAPHORE), 0);
	/* Entry, and five methods. */
	TEST_EQ(front_run(front, 0), 6);
	TEST_EQ(front_word(front, SEMAPHORE), 7);
	TEST_EQ(front->channels[0].get, 1);
	TEST_EQ(front->channels[1].get, 0);
	TEST_EQ(front->gpu.counters.pushes, 1);
	TEST_EQ(front->gpu.counters.methods, 5);
	TEST_EQ(world_log()[0], 0);
	front_fini(front);
}

static void entry_flags_change_nothing(void)
{
	struct front *front = front_init();

	FRONT_RELEASE(front, SEMAPHORE, 7);
	front_entry(front, 0, FRONT_VA | (uint64_t)front->end << 42 | SYNC | LEVEL);
	front_run(front, 0);
	TEST_EQ(front_word(front, SEMAPHORE), 7);
	TEST_TRUE(!front->channels[0].has_failed);
	front_fini(front);
}

static void entry_ring_wraps(void)
{
	struct front *front = front_init();
	uint32_t i;

	for (i = 1; i <= 8 * FRONT_FIFO; i++) {
		front_entry(front, 0, i % 3 ? 0 : SYNC);
		FRONT_RELEASE(front, SEMAPHORE, i);
		front_do(front);
		TEST_EQ(front_word(front, SEMAPHORE), i);
		TEST_EQ(front->channels[0].get, 2 * i % FRONT_FIFO);
	}
	TEST_EQ(front->gpu.counters.pushes, 16 * FRONT_FIFO);
	front_fini(front);
}

/* Control entries only, as CHANNEL_SANITY has them: they are work too. */
static void entry_control_counts(void)
{
	struct front *front = front_init();
	uint32_t i;

	for (i = 0; i < FRONT_FIFO - 1; i++)
		front_entry(front, 0, 0);
	TEST_EQ(sgpu_channel_step(&front->channels[0], 0, 4), 4);
	TEST_EQ(front->channels[0].get, 4);
	TEST_EQ(front_run(front, 0), FRONT_FIFO - 5);
	TEST_EQ(front->gpu.counters.methods, 0);
	front_fini(front);
}

static void entry_bad_fails(void)
{
	static const struct {
		uint64_t entry;
		const char *why;
	} bad[] = {
		{ 1ull << 32, "control entry ILLEGAL 0x100000000, GPFIFO entry 0" },
		{ 2ull << 32, "control entry GP_CRC" },
		{ 3ull << 32, "control entry PB_CRC" },
		{ 0x80ull << 32, "control entry without a name" },
		{ FRONT_VA | 1 | 1ull << 42, "conditional fetch" },
		{ FRONT_VA | 1ull << 40 | 1ull << 42, "reserved bit 40" },
		{ 0xfffffffffcull | 1ull << 42, "segment beyond 40 bits" },
		{ 0xfffffffff8ull | 1ull << 42, "fault of the pushbuffer at 0xfffffffff8" },
		{ (FRONT_VA - 4) | 1ull << 42, "fault of the pushbuffer at 0x11fffffffc" },
	};
	struct front *front = front_init();
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		front_entry(front, 0, bad[i].entry);
		front_fails(front, bad[i].why);
	}
	front->channels[0].put = FRONT_FIFO;
	front_fails(front, "GPPut is outside the ring: 0x10");
	front->channels[0].put = UINT32_MAX;
	front_fails(front, "GPPut is outside the ring: 0xffffffff");
	front_fini(front);
}

static void header_forms(void)
{
	struct front *front = front_init();
	uint32_t zero = 0;

	front_push(front, &zero, 1);
	FRONT_METHODS(front, FRONT_INC, 3, SGPU_HOST_MEM_OP_A, 1, 2, 3);
	FRONT_METHODS(front, FRONT_NONINC, 7, SGPU_HOST_SEM_ADDR_LO, 4, 5, 6);
	FRONT_METHODS(front, FRONT_ONE_INC, 0, SGPU_HOST_SEM_ADDR_HI, 7, 8, 9, 10);
	push_header(front, FRONT_IMMD, SGPU_HOST_SEM_PAYLOAD_HI, 0x1fff);
	push_header(front, FRONT_INC, SGPU_HOST_SEM_EXECUTE, 0);
	push_header(front, FRONT_NONINC, SGPU_HOST_NOP, 0);
	front_do(front);
	TEST_EQ(seen(front, SGPU_HOST_MEM_OP_A), 1);
	TEST_EQ(seen(front, SGPU_HOST_MEM_OP_B), 2);
	TEST_EQ(seen(front, SGPU_HOST_MEM_OP_C), 3);
	TEST_EQ(seen(front, SGPU_HOST_SEM_ADDR_LO), 6);
	TEST_EQ(seen(front, SGPU_HOST_SEM_ADDR_HI), 7);
	TEST_EQ(seen(front, SGPU_HOST_SEM_PAYLOAD_LO), 10);
	TEST_EQ(seen(front, SGPU_HOST_SEM_PAYLOAD_HI), 0x1fff);
	TEST_EQ(front->gpu.counters.methods, 11);
	front_fini(front);
}

static void header_end_skips_the_rest(void)
{
	struct front *front = front_init();

	push_header(front, FRONT_END, 0, 0);
	push_garbage(front, 3);
	front_do(front);
	FRONT_RELEASE(front, SEMAPHORE, 9);
	front_do(front);
	TEST_EQ(front_word(front, SEMAPHORE), 9);
	front_fini(front);
}

static void header_nop_skips_inline_data(void)
{
	static const uint32_t lengths[] = { 1, 2, 100, 8191 };
	struct front *front = front_init();
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		push_header(front, FRONT_NONINC, SGPU_HOST_NOP, lengths[i]);
		push_garbage(front, lengths[i]);
		FRONT_RELEASE(front, SEMAPHORE, lengths[i]);
		front_do(front);
		TEST_EQ(front_word(front, SEMAPHORE), lengths[i]);
	}
	/* One that ends its segment. */
	push_header(front, FRONT_NONINC, SGPU_HOST_NOP, 5);
	push_garbage(front, 5);
	front_do(front);
	TEST_EQ(front->gpu.counters.methods, 4 * 6 + 1);
	front_fini(front);
}

static void header_bad_fails(void)
{
	static const struct {
		uint32_t header, words;
		const char *why;
	} bad[] = {
		{ 1u << 16, 0, "legacy or sub-device header 0x10000, header at 0x1200000000" },
		{ 1u << 18 | 0x5c, 1, "legacy or sub-device header" },
		{ 2u << 29, 0, "legacy non-incrementing header" },
		{ 6u << 29, 0, "reserved form 6" },
		{ FRONT_INC << 29 | 1u << 12, 0, "reserved bit 12" },
		{ FRONT_INC << 29 | 2u << 16 | 2, 1, "data beyond the end of the segment" },
		{ FRONT_NONINC << 29 | 8191u << 16 | 2, 8190, "data beyond the end" },
		{ FRONT_INC << 29 | 1u << 16 | 1u << 13 | 0x40, 1, "no engine on subchannel 0x1" },
		{ FRONT_INC << 29 | 1u << 16 | 6u << 13 | 0x40, 1, "no engine on subchannel 0x6" },
		{ FRONT_INC << 29 | 1u << 16 | 4u << 13 | 0x800, 1, "method out of range: 0x2000" },
		{ FRONT_INC << 29 | 1u << 16 | 4u << 13 | 0xfff, 1, "method out of range: 0x3ffc" },
		{ FRONT_IMMD << 29 | 4u << 13 | 0xfff, 0, "method out of range: 0x3ffc" },
	};
	struct front *front = front_init();
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		front->begin = front->end = 0;
		front_push(front, &bad[i].header, 1);
		push_garbage(front, bad[i].words);
		front_fails(front, bad[i].why);
	}
	/* Out of range on the way: both of the copy engine's last two offsets lack a method. */
	FRONT_METHODS(front, FRONT_INC, 4, 0x1ffc, 1, 2);
	front_fails(front,
		    "method 0x1ffc, at a method without a name (0x1ffc) 0x1 on subchannel 4");
	front_fini(front);
}

/* Where the pushbuffer is in page tables: pages that follow each other lie anywhere. */
static void pushbuffer_crosses_pages(void)
{
	struct front *front = front_init();
	struct world_mapping mapping = { .va = 0x40000000, .bytes = 4096 };
	uint64_t i, begin;
	uint8_t *words = front->rm.memory;

	for (i = 0; i < 4; i++) {
		mapping.at = world_take(&front->world,
					i % 2 ? SGPU_APERTURE_VIDMEM : SGPU_APERTURE_SYSMEM, 8192);
		world_map(&front->world, &front->vas.pdb, &mapping);
		mapping.va += 4096;
	}
	/* Headers, data and inline data come to lie on each side of each boundary. */
	for (i = 0; i < 450; i++) {
		FRONT_RELEASE(front, SEMAPHORE + 4 * i, (uint32_t)i + 1);
		FRONT_METHODS(front, FRONT_NONINC, 0, SGPU_HOST_NOP, 0xc0000000, 0xc0000000);
	}
	TEST_TRUE(front->end > 3 * 1024 && front->end <= 4 * 1024);
	for (i = 0; i < front->end; i++)
		front_set_word(front, 0x40000000 + 4 * i, ((uint32_t *)(void *)words)[i]);
	begin = 0x40000000;
	front_entry(front, 0, begin | (uint64_t)front->end << 42);
	front_run(front, 0);
	TEST_TRUE(!front->channels[0].has_failed);
	for (i = 0; i < 450; i++)
		TEST_EQ(front_word(front, SEMAPHORE + 4 * i), i + 1);
	/* The last page is gone: the methods before it are done. */
	memset(front->rm.memory + FRONT_BYTES / 2, 0, 4096);
	world_unmap(&front->world, &front->vas.pdb, 0x40003000, 4096);
	sgpu_tlb_init(&front->gpu.hub_tlb, 1);
	front_entry(front, 0, begin | (uint64_t)front->end << 42);
	front->begin = front->end;
	front_fails(front, "fault of the pushbuffer at 0x40003000");
	TEST_EQ(front_word(front, SEMAPHORE + 4 * 300), 301);
	TEST_EQ(front_word(front, SEMAPHORE + 4 * 449), 0);
	front_fini(front);
}

static void step_keeps_to_its_budget(void)
{
	struct front *front = front_init();
	struct sgpu_channel *channel = &front->channels[0];
	uint32_t i;

	FRONT_RELEASE(front, SEMAPHORE, 1);
	push_header(front, FRONT_NONINC, SGPU_HOST_NOP, 2);
	push_garbage(front, 2);
	FRONT_RELEASE(front, SEMAPHORE, 2);
	front_submit(front, 0);
	TEST_EQ(sgpu_channel_step(channel, 0, 0), 0);
	for (i = 0; i < 12; i++) {
		TEST_EQ(front_word(front, SEMAPHORE), i < 6 ? 0 : 1);
		TEST_EQ(sgpu_channel_step(channel, 0, 1), 1);
	}
	TEST_EQ(front_word(front, SEMAPHORE), 2);
	TEST_EQ(channel->get, channel->put);
	TEST_EQ(sgpu_channel_step(channel, 0, 1), 0);
	front_fini(front);
}

static void fail_ends_one_channel(void)
{
	struct front *front = front_init();
	struct sgpu_channel *channel = &front->channels[0];
	uint32_t i;

	FRONT_RELEASE(front, SEMAPHORE, 1);
	FRONT_HOST(front, YIELD, 3);
	FRONT_RELEASE(front, SEMAPHORE, 2);
	front_submit(front, 0);
	FRONT_RELEASE(front, SEMAPHORE, 3);
	front_submit(front, 0);
	FRONT_RELEASE(front, SEMAPHORE + 4, 4);
	front_submit(front, 1);
	for (i = 0; i < 3; i++) {
		front_run(front, 0);
		front_run(front, 1);
	}
	TEST_EQ(front_word(front, SEMAPHORE), 1);
	TEST_EQ(front_word(front, SEMAPHORE + 4), 4);
	TEST_EQ(front->errors[0], 0xffff);
	TEST_EQ(front->errors[1], 0);
	TEST_TRUE(channel->has_failed);
	TEST_EQ(channel->get, 0);
	TEST_EQ(front->gpu.counters.channel_errors, 1);
	TEST_TRUE(!strcmp(world_log(), "channel 1: the host does not do method 0x80, at YIELD "
				       "(0x80) 0x3 on subchannel 0, header at 0x1200000018\n"));
	/* No notifier, no crash. */
	front->channels[1].error_status = NULL;
	FRONT_HOST(front, YIELD, 0);
	front_submit(front, 1);
	front_run(front, 1);
	TEST_TRUE(front->channels[1].has_failed);
	front_fini(front);
}

static void at_takes_rm_first(void)
{
	struct front *front = front_init();
	struct sgpu_channel *channel = &front->channels[0];
	struct world_mapping mapping = { .bytes = 65536 };
	uint64_t left = 1;

	mapping.at = world_take(&front->world, SGPU_APERTURE_VIDMEM, 65536);
	mapping.va = FRONT_VA;
	mapping.flags = WORLD_PTE_READ_ONLY;
	world_map(&front->world, &front->vas.pdb, &mapping);
	mapping.va = FRONT_VA + FRONT_BYTES;
	world_map(&front->world, &front->vas.pdb, &mapping);
	TEST_TRUE(sgpu_channel_at(channel, FRONT_VA + 12, SGPU_ACCESS_WRITE, &left) ==
		  front->rm.memory + 12);
	TEST_EQ(left, FRONT_BYTES - 12);
	TEST_TRUE(sgpu_channel_at(channel, mapping.va + 4098, SGPU_ACCESS_READ, &left) ==
		  front->world.vidmem + mapping.at.address + 4098);
	TEST_EQ(left, 65536 - 4098);
	left = 77;
	TEST_TRUE(!sgpu_channel_at(channel, mapping.va, SGPU_ACCESS_WRITE, &left));
	TEST_TRUE(!sgpu_channel_at(channel, mapping.va + 65536, SGPU_ACCESS_READ, &left));
	TEST_TRUE(!sgpu_channel_at(channel, UINT64_MAX, SGPU_ACCESS_READ, &left));
	TEST_EQ(left, 77);
	front_fini(front);
}

/* The hub's TLB: a page that is unmapped goes on until an invalidate. */
static void at_goes_through_the_tlb(void)
{
	struct front *front = front_init();
	struct world_mapping mapping = { .va = 0x40000000, .bytes = 4096 };
	struct sgpu_tlb_range all = { .has_root = false };
	uint64_t left;

	mapping.at = world_take(&front->world, SGPU_APERTURE_SYSMEM, 4096);
	world_map(&front->world, &front->vas.pdb, &mapping);
	TEST_TRUE(sgpu_channel_at(&front->channels[0], mapping.va, SGPU_ACCESS_READ, &left));
	world_unmap(&front->world, &front->vas.pdb, mapping.va, 4096);
	TEST_TRUE(sgpu_channel_at(&front->channels[0], mapping.va, SGPU_ACCESS_READ, &left));
	TEST_EQ(sgpu_tlb_invalidate(&front->gpu.hub_tlb, &all), 1);
	TEST_TRUE(!sgpu_channel_at(&front->channels[0], mapping.va, SGPU_ACCESS_READ, &left));
	front_fini(front);
}

/* A method that means something, in each sixteenth of which a bit is wrong. */
static void push_random(struct front *front, uint64_t *rng)
{
	static const struct {
		uint32_t subchannel, method, data;
	} good[] = {
		{ 0, SGPU_HOST_SET_OBJECT, SGPU_CLASS_CE },
		{ 5, SGPU_HOST_SET_OBJECT, SGPU_CLASS_SOFTWARE },
		{ 0, SGPU_HOST_SEM_ADDR_LO, (uint32_t)SEMAPHORE },
		{ 0, SGPU_HOST_SEM_ADDR_HI, SEMAPHORE >> 32 },
		{ 0, SGPU_HOST_SEM_EXECUTE, 1 },
		{ 0, SGPU_HOST_SEM_EXECUTE, 1u << 25 | 1 },
		{ 0, SGPU_HOST_MEM_OP_A, 0 },
		{ 0, SGPU_HOST_MEM_OP_C, 0 },
		{ 0, SGPU_HOST_MEM_OP_C, 1 << 2 },
		{ 0, SGPU_HOST_MEM_OP_C, 5 << 2 },
		{ 0, SGPU_HOST_MEM_OP_D, 9u << 27 },
		{ 0, SGPU_HOST_MEM_OP_D, 10u << 27 },
		{ 4, SGPU_CE_OFFSET_IN_UPPER, FRONT_VA >> 32 },
		{ 4, SGPU_CE_OFFSET_IN_LOWER, 0 },
		{ 4, SGPU_CE_OFFSET_OUT_UPPER, FRONT_VA >> 32 },
		{ 4, SGPU_CE_OFFSET_OUT_LOWER, 0x100 },
		{ 4, SGPU_CE_LINE_LENGTH_IN, 0x123 },
		{ 4, SGPU_CE_SET_SEMAPHORE_A, SEMAPHORE >> 32 },
		{ 4, SGPU_CE_SET_SEMAPHORE_B, (uint32_t)SEMAPHORE },
		{ 4, SGPU_CE_SET_REMAP_COMPONENTS, 4 },
		{ 4, SGPU_CE_LAUNCH_DMA, 0x182 },
		{ 4, SGPU_CE_LAUNCH_DMA, 0x3582 },
		{ 4, SGPU_CE_LAUNCH_DMA, 0x008 },
		{ 5, SGPU_SOFTWARE_FAULT_CANCEL_C, 0 },
	};
	uint64_t x = test_random(rng);
	size_t i = x % (sizeof(good) / sizeof(good[0]));
	uint32_t words[2] = {
		front_header(FRONT_INC, good[i].subchannel, good[i].method, 1),
		good[i].data,
	};

	if (x >> 60 == 0)
		words[x >> 58 & 3 ? 1 : 0] ^= 1u << (x >> 48 & 31);
	front_push(front, words, 2);
}

static void random_words_do_no_harm(void)
{
	struct front *front = front_init();
	static const uint32_t upper[] = {
		SGPU_HOST_SEM_ADDR_HI,
		SGPU_CE_SET_SEMAPHORE_A,
		SGPU_CE_OFFSET_IN_UPPER,
		SGPU_CE_OFFSET_OUT_UPPER,
	};
	struct sgpu_channel *channel = &front->channels[0];
	uint64_t seed, rng;
	uint32_t i;

	for (seed = 1; seed <= 5000; seed++) {
		rng = seed;
		for (i = 0; i < 64; i++)
			push_random(front, &rng);
		front_submit(front, 0);
		front_entry(front, 0, test_random(&rng));
		for (i = 0; i < sizeof(upper) / sizeof(upper[0]); i++)
			channel->registers[upper[i] / 4] = FRONT_VA >> 32;
		channel->registers[SGPU_CE_SET_REMAP_COMPONENTS / 4] = 0x4;
		sgpu_inject_set(&front->gpu.inject, SGPU_INJECT_COPY_SLOW, seed % 2);
		for (i = 0; i < 200; i++) {
			front->now_ns += 1000;
			sgpu_channel_step(channel, front->now_ns, 100);
		}
		/* It has come to an end, or waits for a semaphore. */
		TEST_TRUE(channel->has_failed || channel->is_acquiring ||
			  channel->get == channel->put);
		TEST_EQ(channel->has_failed, world_log()[0] != 0);
		front_renew(front, 0);
	}
	/* It was not all over with the first header. */
	TEST_TRUE(front->gpu.counters.methods > 5 * seed);
	TEST_TRUE(front->gpu.counters.copies > 1000 && front->gpu.counters.memsets > 1000);
	front_fini(front);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(init_keeps_what_is_borrowed),
		TEST(step_runs_an_entry),
		TEST(entry_flags_change_nothing),
		TEST(entry_ring_wraps),
		TEST(entry_control_counts),
		TEST(entry_bad_fails),
		TEST(header_forms),
		TEST(header_end_skips_the_rest),
		TEST(header_nop_skips_inline_data),
		TEST(header_bad_fails),
		TEST(pushbuffer_crosses_pages),
		TEST(step_keeps_to_its_budget),
		TEST(fail_ends_one_channel),
		TEST(at_takes_rm_first),
		TEST(at_goes_through_the_tlb),
		TEST(random_words_do_no_harm),
		{ NULL, NULL },
	};

	return test_main(argc, argv, tests);
}
