/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A software GPU with two channels in one address space, and pushes for them: a test plays
 * nvidia-uvm.  RM has mapped a megabyte, where the pushbuffer begins and semaphores lie behind
 * it; page tables are the test's to fill in.
 */
#ifndef WIC_TESTS_SOFTGPU_FRONT_H
#define WIC_TESTS_SOFTGPU_FRONT_H

#include "kmod/testbed/softgpu/gpu.h"
#include "kmod/testbed/softgpu/turing.h"
#include "tests/softgpu/world.h"

#define FRONT_CHANNELS 2
#define FRONT_SEED 1
#define FRONT_FIFO 16u
#define FRONT_PACKETS 64u
#define FRONT_VA 0x1200000000ull /* of what RM mapped */
#define FRONT_BYTES (1u << 20)
#define FRONT_SEMAPHORES (FRONT_VA + FRONT_BYTES / 2)

/* Forms of a header. */
#define FRONT_INC 1u
#define FRONT_NONINC 3u
#define FRONT_IMMD 4u
#define FRONT_ONE_INC 5u
#define FRONT_END 7u

#define FRONT_STEPS_MAX 100000u

struct front {
	struct world world;
	struct sgpu_gpu gpu;
	struct sgpu_vas vas;
	struct sgpu_mapping rm;
	struct sgpu_channel channels[FRONT_CHANNELS];
	uint64_t fifo[FRONT_CHANNELS][FRONT_FIFO];
	uint16_t errors[FRONT_CHANNELS];
	uint8_t packets[FRONT_PACKETS * SGPU_FAULT_BYTES];
	uint32_t begin, end; /* words of the pushbuffer that were not submitted yet */
	uint64_t now_ns;
};

static inline void front_channel(struct front *front, uint32_t i)
{
	struct sgpu_channel *channel = &front->channels[i];

	/* What a fresh channel must not keep. */
	memset(channel, 0xa5, sizeof(*channel));
	channel->gpu = &front->gpu;
	channel->vas = &front->vas;
	channel->id = i + 1;
	channel->fifo = front->fifo[i];
	channel->fifo_count = FRONT_FIFO;
	channel->error_status = &front->errors[i];
	front->errors[i] = 0;
	sgpu_channel_init(channel);
	sgpu_gpu_add_channel(&front->gpu, channel);
}

/* A fresh channel in the place of one. */
static inline void front_renew(struct front *front, uint32_t channel)
{
	sgpu_gpu_remove_channel(&front->gpu, &front->channels[channel]);
	front_channel(front, channel);
}

/* Ends with front_fini(). */
static inline struct front *front_init_seeded(uint64_t seed)
{
	struct front *front = calloc(1, sizeof(*front));
	struct sgpu_params params = {
		.sms = 2,
		.sms_per_utlb = 1,
		.warps_per_sm = 8,
		.faults_per_utlb = 16,
		.fault_count = FRONT_PACKETS,
		.seed = seed,
	};
	uint32_t i;

	TEST_TRUE(front);
	world_init(&front->world);
	params.bus = front->world.bus;
	params.fault_packets = front->packets;
	TEST_EQ(sgpu_gpu_init(&front->gpu, &params), 0);
	front->vas.pdb = world_pdb(&front->world, SGPU_APERTURE_VIDMEM);
	sgpu_gpu_add_vas(&front->gpu, &front->vas);
	front->rm.va = FRONT_VA;
	front->rm.bytes = FRONT_BYTES;
	front->rm.memory = calloc(1, FRONT_BYTES);
	TEST_TRUE(front->rm.memory);
	sgpu_vas_map(&front->vas, &front->rm);
	for (i = 0; i < FRONT_CHANNELS; i++)
		front_channel(front, i);
	front->now_ns = 1000;
	return front;
}

static inline struct front *front_init(void)
{
	return front_init_seeded(FRONT_SEED);
}

static inline void front_fini(struct front *front)
{
	free(front->rm.memory);
	world_fini(&front->world);
	free(front);
}

static inline uint32_t front_header(uint32_t form, uint32_t subchannel, uint32_t method,
				    uint32_t count)
{
	return form << 29 | count << 16 | subchannel << 13 | method / 4;
}

/* Appends words to the pushbuffer. */
static inline void front_push(struct front *front, const uint32_t *words, uint32_t count)
{
	TEST_TRUE((front->end + count) * 4 <= FRONT_BYTES / 2);
	memcpy(front->rm.memory + 4 * front->end, words, 4 * count);
	front->end += count;
}

static inline void front_entry(struct front *front, uint32_t channel, uint64_t entry)
{
	struct sgpu_channel *c = &front->channels[channel];

	TEST_TRUE((c->put + 1) % FRONT_FIFO != c->get);
	front->fifo[channel][c->put] = entry;
	c->put = (c->put + 1) % FRONT_FIFO;
}

/* A GPFIFO entry of what was appended since the last. */
static inline void front_submit(struct front *front, uint32_t channel)
{
	uint64_t words = front->end - front->begin;

	front_entry(front, channel, (FRONT_VA + 4 * front->begin) | words << 42);
	front->begin = front->end;
	/* By then tests have run what they submitted there. */
	if (front->end * 4 > FRONT_BYTES / 4)
		front->begin = front->end = 0;
}

/* Steps a channel until it does nothing.  Return: what was done. */
static inline uint32_t front_run(struct front *front, uint32_t channel)
{
	uint32_t done = 0;
	uint32_t step, steps;

	for (steps = 0; steps < FRONT_STEPS_MAX; steps++) {
		step = sgpu_channel_step(&front->channels[channel], front->now_ns, 1000);
		if (!step)
			return done;
		done += step;
	}
	test_fail(__FILE__, __LINE__, "the channel comes to rest", done, 0);
	return done;
}

/* Submits to channel 0 and runs it, which is to succeed. */
static inline void front_do(struct front *front)
{
	struct sgpu_channel *channel = &front->channels[0];

	front_submit(front, 0);
	front_run(front, 0);
	if (channel->has_failed)
		fprintf(stderr, "%s", world_log());
	TEST_TRUE(!channel->has_failed && !front->errors[0]);
	TEST_TRUE(!channel->is_running && channel->get == channel->put);
}

/* The same, but the channel ends, and says why; it is a fresh one then. */
static inline void front_fails(struct front *front, const char *why)
{
	uint64_t errors = front->gpu.counters.channel_errors;
	const char *log;

	if (front->begin != front->end)
		front_submit(front, 0);
	front_run(front, 0);
	log = world_log();
	TEST_STR_HAS(log, why);
	TEST_STR_HAS(log, "channel 1: ");
	TEST_TRUE(front->channels[0].has_failed);
	TEST_EQ(front->errors[0], 0xffff);
	TEST_EQ(front->gpu.counters.channel_errors, errors + 1);
	front_renew(front, 0);
}

static inline uint8_t *front_byte(struct front *front, uint64_t va)
{
	uint64_t left;
	uint8_t *at = sgpu_channel_at(&front->channels[1], va, SGPU_ACCESS_READ, &left);

	TEST_TRUE(at && left >= 4);
	return at;
}

/* A word at an address of the channels. */
static inline uint32_t front_word(struct front *front, uint64_t va)
{
	uint32_t word;

	memcpy(&word, front_byte(front, va), 4);
	return word;
}

static inline void front_set_word(struct front *front, uint64_t va, uint32_t value)
{
	memcpy(front_byte(front, va), &value, 4);
}

/* A run of methods with data. */
#define FRONT_METHODS(front, form, subchannel, method, ...)                        \
	do {                                                                       \
		const uint32_t data_[] = { __VA_ARGS__ };                          \
		uint32_t count_ = sizeof(data_) / sizeof(data_[0]);                \
		uint32_t header_ = front_header(form, subchannel, method, count_); \
                                                                                   \
		front_push(front, &header_, 1);                                    \
		front_push(front, data_, count_);                                  \
	} while (0)
#define FRONT_HOST(front, name, ...) \
	FRONT_METHODS(front, FRONT_INC, 0, SGPU_HOST_##name, __VA_ARGS__)
#define FRONT_CE(front, name, ...) \
	FRONT_METHODS(front, FRONT_INC, SGPU_SUBCHANNEL_CE, SGPU_CE_##name, __VA_ARGS__)

/* SEM_ADDR_LO to SEM_EXECUTE. */
#define FRONT_SEMAPHORE(front, va, payload, execute) \
	FRONT_HOST(front, SEM_ADDR_LO, (uint32_t)(va), (uint32_t)((va) >> 32), payload, 0, execute)
#define FRONT_RELEASE(front, va, payload) FRONT_SEMAPHORE(front, va, payload, 1)
#define FRONT_ACQUIRE(front, va, payload) FRONT_SEMAPHORE(front, va, payload, 3 | 1 << 12)

struct front_refused {
	uint32_t method;
	const char *name;
};

/* The methods of a subchannel: done, or refused by their names. */
struct front_methods {
	uint32_t subchannel;
	const uint32_t *done;                /* to a 0 */
	const struct front_refused *refused; /* to a NULL */
};

static inline void front_methods(struct front *front, const struct front_methods *m)
{
	char why[80];
	size_t i;

	for (i = 0; m->done[i]; i++)
		FRONT_METHODS(front, FRONT_INC, m->subchannel, m->done[i], 0xffffffff);
	front_do(front);
	for (i = 0; m->refused[i].name; i++) {
		FRONT_METHODS(front, FRONT_INC, m->subchannel, m->refused[i].method, 0xabc);
		snprintf(why, sizeof(why), "%s (0x%x) 0xabc on subchannel %u", m->refused[i].name,
			 m->refused[i].method, m->subchannel);
		front_fails(front, why);
	}
}

#endif
