/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "tests/softgpu/front.h"

#define STEPS_MAX 100000u

static void channel_make(struct front *front, uint32_t i)
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

void front_renew(struct front *front, uint32_t channel)
{
	sgpu_gpu_remove_channel(&front->gpu, &front->channels[channel]);
	channel_make(front, channel);
}

struct front *front_init(void)
{
	struct front *front = calloc(1, sizeof(*front));
	struct sgpu_params params = {
		.sms = 2,
		.sms_per_utlb = 1,
		.warps_per_sm = 8,
		.faults_per_utlb = 16,
		.fault_count = FRONT_PACKETS,
		.seed = 1,
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
		channel_make(front, i);
	front->now_ns = 1000;
	return front;
}

void front_fini(struct front *front)
{
	free(front->rm.memory);
	world_fini(&front->world);
	free(front);
}

uint32_t front_header(uint32_t form, uint32_t subchannel, uint32_t method, uint32_t count)
{
	return form << 29 | count << 16 | subchannel << 13 | method / 4;
}

void front_push(struct front *front, const uint32_t *words, uint32_t count)
{
	TEST_TRUE((front->end + count) * 4 <= FRONT_BYTES / 2);
	memcpy(front->rm.memory + 4 * front->end, words, 4 * count);
	front->end += count;
}

void front_entry(struct front *front, uint32_t channel, uint64_t entry)
{
	struct sgpu_channel *c = &front->channels[channel];

	TEST_TRUE((c->put + 1) % FRONT_FIFO != c->get);
	front->fifo[channel][c->put] = entry;
	c->put = (c->put + 1) % FRONT_FIFO;
}

void front_submit(struct front *front, uint32_t channel)
{
	uint64_t words = front->end - front->begin;

	front_entry(front, channel, (FRONT_VA + 4 * front->begin) | words << 42);
	front->begin = front->end;
	/* Nothing of it is read after this many entries. */
	if (front->end * 4 > FRONT_BYTES / 4)
		front->begin = front->end = 0;
}

uint32_t front_run(struct front *front, uint32_t channel)
{
	uint32_t done = 0;
	uint32_t step, steps;

	for (steps = 0; steps < STEPS_MAX; steps++) {
		step = sgpu_channel_step(&front->channels[channel], front->now_ns, 1000);
		if (!step)
			return done;
		done += step;
	}
	test_fail(__FILE__, __LINE__, "the channel comes to rest", done, 0);
	return done;
}

void front_do(struct front *front)
{
	struct sgpu_channel *channel = &front->channels[0];

	front_submit(front, 0);
	front_run(front, 0);
	if (channel->has_failed)
		fprintf(stderr, "%s", world_log());
	TEST_TRUE(!channel->has_failed && !front->errors[0]);
	TEST_TRUE(!channel->is_running && channel->get == channel->put);
}

void front_fails(struct front *front, const char *why)
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

static uint8_t *byte_at(struct front *front, uint64_t va)
{
	uint64_t left;
	uint8_t *at = sgpu_channel_at(&front->channels[1], va, SGPU_ACCESS_READ, &left);

	TEST_TRUE(at && left >= 4);
	return at;
}

uint32_t front_word(struct front *front, uint64_t va)
{
	uint32_t word;

	memcpy(&word, byte_at(front, va), 4);
	return word;
}

void front_set_word(struct front *front, uint64_t va, uint32_t value)
{
	memcpy(byte_at(front, va), &value, 4);
}
