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

/* Ends with front_fini(). */
struct front *front_init(void);
void front_fini(struct front *front);
/* A fresh channel in the place of one. */
void front_renew(struct front *front, uint32_t channel);

uint32_t front_header(uint32_t form, uint32_t subchannel, uint32_t method, uint32_t count);
/* Appends words to the pushbuffer. */
void front_push(struct front *front, const uint32_t *words, uint32_t count);
/* A GPFIFO entry of what was appended since the last. */
void front_submit(struct front *front, uint32_t channel);
void front_entry(struct front *front, uint32_t channel, uint64_t entry);
/* Steps a channel until it does nothing.  Return: what was done. */
uint32_t front_run(struct front *front, uint32_t channel);
/* Submits to channel 0 and runs it, which is to succeed. */
void front_do(struct front *front);
/* The same, but the channel ends, and says why; it is a fresh one then. */
void front_fails(struct front *front, const char *why);

/* A word at an address of the channels. */
uint32_t front_word(struct front *front, uint64_t va);
void front_set_word(struct front *front, uint64_t va, uint32_t value);

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

#endif
