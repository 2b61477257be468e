/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The fault buffer.  The driver's side does what nvidia-uvm does: it reads PUT, waits for VALID,
 * clears it, stores GET and then GET with the clear bits; around its service it disables and
 * enables interrupts as on Turing.
 */
#include "kmod/testbed/softgpu/fault.h"
#include "tests/softgpu/world.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define COUNT_MAX 64
#define CLEAR 0xc0000000u /* bits 30 and 31 of GET */
#define VALID 0x80000000u

static uint8_t packets[COUNT_MAX * SGPU_FAULT_BYTES] __attribute__((aligned(32)));

static struct sgpu_fault fault_at(uint64_t va)
{
	return (struct sgpu_fault){ .va = va, .type = SGPU_FAULT_PTE };
}

static bool write_at(struct sgpu_fault_buffer *buffer, uint64_t va)
{
	struct sgpu_fault fault = fault_at(va);

	return sgpu_fault_write(buffer, &fault);
}

static uint32_t packet_word(uint32_t index, uint32_t word)
{
	return sgpu_load32(packets + index * SGPU_FAULT_BYTES + word * 4);
}

/* The driver's two stores. */
static void driver_get(struct sgpu_fault_buffer *buffer, uint32_t get)
{
	sgpu_store32(&buffer->get, get);
	sgpu_store32(&buffer->get, get | CLEAR);
}

static void driver_enable(struct sgpu_fault_buffer *buffer)
{
	sgpu_store32(&buffer->intr_enable_set, SGPU_FAULT_INTR_MASK);
}

static void driver_disable(struct sgpu_fault_buffer *buffer)
{
	sgpu_store32(&buffer->intr_enable_clear, SGPU_FAULT_INTR_MASK);
	sgpu_store32(&buffer->intr, SGPU_FAULT_INTR_MASK);
}

static void setup(struct sgpu_fault_buffer *buffer, uint32_t count)
{
	memset(buffer, 0x5a, sizeof(*buffer));
	memset(packets, 0x5a, sizeof(packets));
	sgpu_fault_buffer_init(buffer, packets, count);
}

static void expect_words(uint32_t index, const uint32_t want[8])
{
	for (uint32_t i = 0; i < 8; i++)
		TEST_EQ(packet_word(index, i), want[i]);
}

static void init_empty(void)
{
	struct sgpu_fault_buffer buffer;

	setup(&buffer, 8);
	TEST_EQ(buffer.get, 0);
	TEST_EQ(buffer.put, 0);
	TEST_TRUE(!buffer.is_enabled && !buffer.has_overflowed);
	for (uint32_t i = 0; i < 8; i++)
		TEST_EQ(packet_word(i, 7), 0);
	/* No further than its own packets. */
	TEST_EQ(packet_word(8, 0), 0x5a5a5a5a);
	TEST_TRUE(!sgpu_fault_poll(&buffer));
}

/* Words as clc369.h has them. */
static void write_packet_bits(void)
{
	struct sgpu_fault fault = {
		.instance = { SGPU_APERTURE_SYSMEM, 0, 0x000123456789a000 },
		.va = 0x0001fedcba987fff,
		.time_ns = 0x1122334455667788,
		.type = SGPU_FAULT_ATOMIC,
		.access = SGPU_ACCESS_ATOMIC,
		.gpc = 5,
		.client = 0x23,
	};
	static const uint32_t first[8] = { 0x6789a200, 0x00012345, 0xba987000, 0x0001fedc,
					   0x55667788, 0x11223344, 0x00000040, 0xc502238f };
	static const uint32_t second[8] = { 0xfffff300, 0xffffffff, 0xfffff000, 0xffffffff,
					    0xffffffff, 0xffffffff, 0x00000040, 0xdf037f82 };
	static const uint32_t third[8] = { 0, 0, 0, 0, 0, 0, 0x00000040, 0xc0000080 };
	struct sgpu_fault_buffer buffer;

	setup(&buffer, 8);
	TEST_TRUE(sgpu_fault_write(&buffer, &fault));
	expect_words(0, first);
	fault = (struct sgpu_fault){
		.instance = { SGPU_APERTURE_SYSMEM_NONCOHERENT, 0, UINT64_MAX },
		.va = UINT64_MAX,
		.time_ns = UINT64_MAX,
		.type = SGPU_FAULT_PTE,
		.access = SGPU_ACCESS_PREFETCH,
		.gpc = 31,
		.client = 127,
	};
	TEST_TRUE(sgpu_fault_write(&buffer, &fault));
	expect_words(1, second);
	TEST_TRUE(sgpu_fault_write(&buffer, &(struct sgpu_fault){ 0 }));
	expect_words(2, third);
	TEST_EQ(buffer.put, 3);
	TEST_EQ(buffer.written, 3);
	expect_words(0, first);
}

/* Values that are too big for their fields do not reach the fields beside them. */
static void write_bad_values(void)
{
	struct sgpu_fault fault = { .gpc = 32, .client = 128 };
	struct sgpu_fault_buffer buffer;

	setup(&buffer, 8);
	fault.type = (enum sgpu_fault_type)32;
	fault.access = (enum sgpu_access)16;
	fault.instance.aperture = (enum sgpu_aperture)4;
	TEST_TRUE(sgpu_fault_write(&buffer, &fault));
	TEST_EQ(packet_word(0, 0), 0);
	TEST_EQ(packet_word(0, 7), 0xc0000080);
}

static void overflow_needs_get_and_bit(void)
{
	struct sgpu_fault_buffer buffer;

	setup(&buffer, 4);
	for (int i = 0; i < 3; i++)
		TEST_TRUE(write_at(&buffer, 0x1000));
	TEST_TRUE(!buffer.has_overflowed);
	TEST_TRUE(!write_at(&buffer, 0x2000));
	TEST_TRUE(!write_at(&buffer, 0x3000));
	TEST_TRUE(buffer.has_overflowed);
	TEST_EQ(buffer.put, 3);
	TEST_EQ(buffer.overflows, 1);
	TEST_EQ(buffer.dropped, 2);
	/* The bit alone, seen while it is still full. */
	driver_get(&buffer, 0);
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	TEST_EQ(buffer.get, 0);
	TEST_TRUE(!write_at(&buffer, 0x4000));
	/* GET alone. */
	sgpu_store32(&buffer.get, 2);
	TEST_TRUE(!write_at(&buffer, 0x5000));
	TEST_EQ(buffer.overflows, 1);
	/* Both. */
	driver_get(&buffer, 2);
	TEST_TRUE(write_at(&buffer, 0x6000));
	TEST_EQ(buffer.get, 2);
	TEST_EQ(buffer.put, 0);
	TEST_EQ(packet_word(3, 2), 0x6000);
	TEST_TRUE(write_at(&buffer, 0x7000));
	TEST_TRUE(!write_at(&buffer, 0x8000));
	TEST_EQ(buffer.overflows, 2);
	TEST_EQ(buffer.dropped, 5);
	TEST_EQ(buffer.written, 5);
}

/* Each clear bit by itself is taken away; other stores are left alone. */
static void get_bits_are_consumed(void)
{
	static const uint32_t bits[] = { 0x40000000, 0x80000000, 0xc0000000 };
	struct sgpu_fault_buffer buffer;

	for (int i = 0; i < 3; i++) {
		setup(&buffer, 8);
		for (int k = 0; k < 5; k++)
			(void)write_at(&buffer, 0x1000);
		sgpu_store32(&buffer.get, 5 | bits[i]);
		TEST_TRUE(!sgpu_fault_poll(&buffer));
		TEST_EQ(buffer.get, 5);
		sgpu_store32(&buffer.get, 4 | bits[i]);
		TEST_TRUE(write_at(&buffer, 0x1000));
		TEST_EQ(buffer.get, 4);
	}
}

static void limit_overflows_early(void)
{
	struct sgpu_fault_buffer buffer;

	setup(&buffer, 16);
	buffer.limit = 2;
	TEST_TRUE(write_at(&buffer, 0x1000) && write_at(&buffer, 0x1000));
	TEST_TRUE(!write_at(&buffer, 0x1000));
	TEST_EQ(buffer.overflows, 1);
	driver_get(&buffer, 1);
	TEST_TRUE(write_at(&buffer, 0x1000));
	TEST_TRUE(!write_at(&buffer, 0x1000));
	TEST_EQ(buffer.overflows, 2);
	/* More than there is, or none: all that there is. */
	for (int i = 0; i < 2; i++) {
		setup(&buffer, 16);
		buffer.limit = i ? UINT32_MAX : 0;
		for (int k = 0; k < 15; k++)
			TEST_TRUE(write_at(&buffer, 0x1000));
		TEST_TRUE(!write_at(&buffer, 0x1000));
	}
}

static void get_out_of_range(void)
{
	static const uint32_t bad[] = { 8, 9, 0xfffff, 0x3fffffff };
	struct sgpu_fault_buffer buffer;

	for (int i = 0; i < 4; i++) {
		setup(&buffer, 8);
		driver_enable(&buffer);
		driver_get(&buffer, bad[i]);
		TEST_TRUE(!write_at(&buffer, 0x1000));
		TEST_TRUE(!write_at(&buffer, 0x1000));
		TEST_STR_HAS(world_log(), "fault buffer: GET is ");
		TEST_EQ(buffer.overflows, 1);
		(void)sgpu_fault_poll(&buffer);
		TEST_EQ(buffer.get, bad[i]);
		driver_get(&buffer, 7);
		TEST_TRUE(write_at(&buffer, 0x1000));
		TEST_TRUE(sgpu_fault_poll(&buffer));
		TEST_TRUE(!*world_log());
	}
}

/* The driver changes the filter's two bits and leaves the others as they are. */
static void prefetches_are_filtered(void)
{
	struct sgpu_fault_buffer buffer;

	setup(&buffer, 8);
	TEST_TRUE(!sgpu_fault_filters_prefetches(&buffer));
	sgpu_store32(&buffer.prefetch_ctrl, 3);
	TEST_TRUE(sgpu_fault_filters_prefetches(&buffer));
	sgpu_store32(&buffer.prefetch_ctrl, 0xfffffffc);
	TEST_TRUE(!sgpu_fault_filters_prefetches(&buffer));
	sgpu_store32(&buffer.prefetch_ctrl, 0xffffffff);
	TEST_TRUE(sgpu_fault_filters_prefetches(&buffer));
	for (uint32_t value = 0; value < 3; value++) {
		sgpu_store32(&buffer.prefetch_ctrl, value);
		TEST_TRUE(!sgpu_fault_filters_prefetches(&buffer));
	}
}

static void poll_pulses_once(void)
{
	struct sgpu_fault_buffer buffer;

	setup(&buffer, 8);
	TEST_TRUE(write_at(&buffer, 0x1000));
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	driver_enable(&buffer);
	TEST_TRUE(sgpu_fault_poll(&buffer));
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	/* A fault. */
	TEST_TRUE(write_at(&buffer, 0x1000));
	TEST_TRUE(write_at(&buffer, 0x1000));
	TEST_TRUE(sgpu_fault_poll(&buffer));
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	/* A store to GET, moved or not. */
	driver_get(&buffer, 1);
	TEST_TRUE(sgpu_fault_poll(&buffer));
	driver_get(&buffer, 1);
	TEST_TRUE(sgpu_fault_poll(&buffer));
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	/* An enable. */
	driver_enable(&buffer);
	TEST_TRUE(sgpu_fault_poll(&buffer));
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	/* Empty. */
	driver_get(&buffer, 3);
	driver_enable(&buffer);
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	TEST_EQ(buffer.pulses, 5);
	/* A store that says that the pulse was seen takes no later one away. */
	TEST_TRUE(write_at(&buffer, 0x1000));
	sgpu_store32(&buffer.intr, SGPU_FAULT_INTR_MASK);
	TEST_TRUE(sgpu_fault_poll(&buffer));
	TEST_EQ(buffer.intr, 0);
}

static void poll_disabled(void)
{
	struct sgpu_fault_buffer buffer;

	setup(&buffer, 8);
	driver_enable(&buffer);
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	driver_disable(&buffer);
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	TEST_TRUE(write_at(&buffer, 0x1000));
	driver_get(&buffer, 0);
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	/* What happened meanwhile is one pulse. */
	driver_enable(&buffer);
	TEST_TRUE(sgpu_fault_poll(&buffer));
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	/* A disable and an enable between two looks. */
	driver_disable(&buffer);
	driver_enable(&buffer);
	TEST_TRUE(sgpu_fault_poll(&buffer));
	TEST_TRUE(buffer.is_enabled);
	TEST_EQ(buffer.intr_enable_set, 0);
	TEST_EQ(buffer.intr_enable_clear, 0);
	/* Other interrupts' bits mean nothing here. */
	sgpu_store32(&buffer.intr_enable_clear, ~SGPU_FAULT_INTR_MASK);
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	TEST_TRUE(buffer.is_enabled);
	driver_disable(&buffer);
	sgpu_store32(&buffer.intr_enable_set, ~SGPU_FAULT_INTR_MASK);
	TEST_TRUE(!sgpu_fault_poll(&buffer));
	TEST_TRUE(!buffer.is_enabled);
}

/* The driver's copies of GET and PUT, and which fault it waits for. */
struct driver {
	struct sgpu_fault_buffer *buffer;
	uint32_t get;
	uint64_t next;
	bool is_serving;
	uint32_t bad; /* what it has seen amiss */
};

/* The packet at GET: the next one, and valid once; false: none is there. */
static bool driver_take(struct driver *d)
{
	uint8_t *valid = packets + d->get * SGPU_FAULT_BYTES + 28;
	uint32_t count = d->buffer->count;
	uint32_t word = sgpu_load32(valid);

	if (sgpu_load32(&d->buffer->put) == d->get)
		return false;
	if (!(word & VALID))
		word = sgpu_load32(valid);
	/* PUT is written after VALID. */
	d->bad += !(word & VALID);
	d->bad += packet_word(d->get, 2) != (uint32_t)(d->next << 12);
	d->bad += packet_word(d->get, 3) != (uint32_t)(d->next << 12 >> 32);
	sgpu_store32(valid, word & ~VALID);
	d->next++;
	d->get = (d->get + 1) % count;
	return true;
}

static void driver_top_half(struct driver *d)
{
	driver_disable(d->buffer);
	d->is_serving = true;
}

static void driver_unlock(struct driver *d)
{
	driver_enable(d->buffer);
	sgpu_store32(&d->buffer->intr, SGPU_FAULT_INTR_MASK);
	driver_get(d->buffer, d->get);
	d->is_serving = false;
}

/*
 * A driver that acts on pulses only, in random steps.  Faults that were not dropped reach it,
 * each once and in order; in the end none is left, so no pulse was lost.
 */
static void loop_round(uint64_t seed, uint32_t count)
{
	struct sgpu_fault_buffer buffer;
	struct driver d = { .buffer = &buffer };
	uint64_t sent = 0, attempts = 0;

	setup(&buffer, count);
	buffer.limit = seed % 3 ? 0 : count / 2;
	driver_enable(&buffer);
	for (int i = 0; i < 60000; i++) {
		uint64_t what = (test_random(&seed) >> 32) % 16;

		if (what < 6 && i < 50000) {
			attempts++;
			sent += write_at(&buffer, sent << 12);
		} else if (what < 9) {
			if (sgpu_fault_poll(&buffer) && !d.is_serving)
				driver_top_half(&d);
		} else if (!d.is_serving) {
			continue;
		} else if (what < 14) {
			(void)driver_take(&d);
		} else if (what < 15) {
			driver_get(&buffer, d.get);
		} else {
			driver_unlock(&d);
		}
		TEST_EQ(d.bad, 0);
	}
	TEST_EQ(d.next, sent);
	TEST_EQ(buffer.written, sent);
	TEST_EQ(buffer.dropped, attempts - sent);
	TEST_TRUE(sent > 1000 && buffer.overflows > 10 && buffer.pulses > 100);
}

static void driver_loop(void)
{
	for (uint32_t count = 2; count <= COUNT_MAX; count *= 2)
		for (uint64_t seed = 1; seed <= 6; seed++)
			loop_round(seed, count);
}

/* Each hand-over may cost a time slice of a loaded machine. */
#define THREAD_FAULTS 10000
#define THREAD_SECONDS 100 /* it hangs */

struct threads {
	struct sgpu_fault_buffer buffer;
	struct driver driver;
	uint32_t pulse; /* atomic: the model's to set, the driver's to take */
	uint32_t is_done;
};

/* Interrupts come, the driver's stores fall anywhere between the model's looks. */
static void *driver_thread(void *arg)
{
	struct threads *t = arg;
	uint64_t seed = 7;

	while (!sgpu_load32(&t->is_done)) {
		uint64_t most = 1 + (test_random(&seed) >> 32) % 24;

		if (!__atomic_exchange_n(&t->pulse, 0, __ATOMIC_ACQ_REL)) {
			sched_yield();
			continue;
		}
		driver_top_half(&t->driver);
		while (most-- && driver_take(&t->driver)) {
			/* One store, so that a lost one would not be made good by the next. */
			sgpu_store32(&t->buffer.get, t->driver.get | CLEAR);
		}
		driver_unlock(&t->driver);
	}
	return NULL;
}

static void driver_in_a_thread(void)
{
	static struct threads t;
	time_t end = time(NULL) + THREAD_SECONDS;
	uint64_t sent = 0;
	pthread_t thread;

	setup(&t.buffer, 16);
	t.driver.buffer = &t.buffer;
	driver_enable(&t.buffer);
	TEST_EQ(pthread_create(&thread, NULL, driver_thread, &t), 0);
	while (sent < THREAD_FAULTS || sgpu_load32(&t.buffer.get) != t.buffer.put) {
		if (sent < THREAD_FAULTS)
			sent += write_at(&t.buffer, sent << 12);
		if (sgpu_fault_poll(&t.buffer))
			sgpu_store32(&t.pulse, 1);
		/* Room comes from the other thread, which may want this CPU. */
		if (t.buffer.has_overflowed || sent == THREAD_FAULTS)
			sched_yield();
		TEST_TRUE(time(NULL) < end);
	}
	sgpu_store32(&t.is_done, 1);
	TEST_EQ(pthread_join(thread, NULL), 0);
	TEST_EQ(t.driver.bad, 0);
	TEST_EQ(t.driver.next, THREAD_FAULTS);
	/* How often it overflows is up to the scheduler; driver_loop() sees to overflows. */
	TEST_EQ(t.buffer.written, THREAD_FAULTS);
}

#define FLIPS 2000u
#define FLIP_STORES 4
#define POLLS_A_YIELD 256 /* with nothing told: where there is one core, the other must run */

struct flips {
	struct sgpu_fault_buffer buffer;
	uint32_t told, seen; /* atomic: rounds of the driver's stores, and of the model's looks */
	uint32_t lost;       /* the driver's: stores to GET that were gone */
};

static void *flips_thread(void *arg)
{
	struct flips *f = arg;
	uint32_t get = 0;

	for (uint32_t i = 1; i <= FLIPS; i++) {
		for (int k = 0; k < FLIP_STORES; k++) {
			f->lost += (sgpu_load32(&f->buffer.get) & ~CLEAR) != get;
			get = (get + 1) % f->buffer.count;
			sgpu_store32(&f->buffer.get, get | CLEAR);
		}
		sgpu_store32(&f->buffer.intr_enable_clear, SGPU_FAULT_INTR_MASK);
		sgpu_store32(&f->buffer.intr_enable_set, SGPU_FAULT_INTR_MASK);
		sgpu_store32(&f->told, i);
		while (sgpu_load32(&f->seen) != i)
			sched_yield();
	}
	return NULL;
}

/*
 * Stores that hit the model in the midst of its looks: none to GET is lost, and after a disable
 * and an enable the buffer is enabled.
 */
static void poll_races_with_stores(void)
{
	time_t end = time(NULL) + THREAD_SECONDS;
	static struct flips f;
	pthread_t thread;
	uint32_t idle = 0;

	setup(&f.buffer, 16);
	TEST_EQ(pthread_create(&thread, NULL, flips_thread, &f), 0);
	while (f.seen != FLIPS) {
		uint32_t told = sgpu_load32(&f.told);

		(void)sgpu_fault_poll(&f.buffer);
		if (told != f.seen) {
			TEST_TRUE(f.buffer.is_enabled);
			sgpu_store32(&f.seen, told);
		} else if (++idle % POLLS_A_YIELD == 0) {
			sched_yield();
		}
		TEST_TRUE(time(NULL) < end);
	}
	TEST_EQ(pthread_join(thread, NULL), 0);
	TEST_EQ(f.lost, 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(init_empty),
		TEST(write_packet_bits),
		TEST(write_bad_values),
		TEST(overflow_needs_get_and_bit),
		TEST(get_bits_are_consumed),
		TEST(limit_overflows_early),
		TEST(get_out_of_range),
		TEST(prefetches_are_filtered),
		TEST(poll_pulses_once),
		TEST(poll_disabled),
		TEST(driver_loop),
		TEST(driver_in_a_thread),
		TEST(poll_races_with_stores),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
