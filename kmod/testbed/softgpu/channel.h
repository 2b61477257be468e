/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A channel of the driver: a ring of GPFIFO entries, each a piece of pushbuffer, run in order.
 * A channel stalls on a semaphore it waits for, or for as long as a slow copy takes, and goes on
 * at the same method; the others go on meanwhile.  What it cannot decode ends it, as on
 * hardware: the error notifier is set, the log says which method and why, and the channel runs
 * no further entry.
 *
 *   GPFIFO -> pushbuffer -> header, data -> method -> host.h (below 0x100) or ce.h
 *
 * Formats: NVIDIA open-gpu-doc, classes C46F (host), C5B5 (copy engine).
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_CHANNEL_H
#define WIC_KMOD_TESTBED_SOFTGPU_CHANNEL_H

#include "vas.h"

struct sgpu_gpu;

#define SGPU_METHODS (0x2000 / 4)

/* What became of a method. */
enum sgpu_next {
	SGPU_NEXT,  /* done */
	SGPU_STALL, /* once more, later */
	SGPU_ERROR, /* reported by sgpu_channel_fail() */
};

struct sgpu_channel {
	struct sgpu_channel *next; /* of the GPU */
	struct sgpu_gpu *gpu;      /* borrowed */
	struct sgpu_vas *vas;      /* borrowed */
	uint32_t id;
	uint64_t *fifo; /* borrowed: entries of 8 bytes */
	uint32_t fifo_count;
	volatile uint32_t put; /* the driver's; an index */
	volatile uint32_t get;
	volatile uint16_t *error_status; /* borrowed: of the notifier; 0: none */
	/* Of the piece that is being run. */
	bool is_running;
	uint64_t segment_va;
	uint32_t segment_bytes, at_bytes; /* at_bytes: of the header that is next */
	uint32_t done;                    /* data words of this header that are done */
	uint64_t stalled_until_ns;        /* 0: not */
	bool has_failed;
	uint32_t registers[SGPU_METHODS]; /* what was last written to each method */
};

/* The caller has set the borrowed fields; the rest becomes that of a fresh channel. */
void sgpu_channel_init(struct sgpu_channel *channel);

/*
 * sgpu_channel_step - run methods until the channel has none, stalls, fails, or @budget are done
 *
 * Return: methods that were done.
 */
uint32_t sgpu_channel_step(struct sgpu_channel *channel, uint64_t now_ns, uint32_t budget);

/* Ends the channel: the log says "channel <id>: <why> <value>", the notifier is set. */
enum sgpu_next sgpu_channel_fail(struct sgpu_channel *channel, const char *why, uint64_t value);

/*
 * sgpu_channel_at - memory at a virtual address, as the host and the copy engines see it
 *
 * RM's mappings first, then the page tables through the GPU's hub TLB.  A fault there is no
 * replayable one.
 *
 * Return: a pointer and in @left_out the bytes in one piece, or NULL: it faults.
 */
void *sgpu_channel_at(struct sgpu_channel *channel, uint64_t va, enum sgpu_access access,
		      uint64_t *left_out);

/* host.c: methods below 0x100 on any subchannel. */
enum sgpu_next sgpu_host_method(struct sgpu_channel *channel, uint32_t method, uint32_t data,
				uint64_t now_ns);

/* ce.c: the copy engine's, on subchannel 4. */
enum sgpu_next sgpu_ce_method(struct sgpu_channel *channel, uint32_t method, uint32_t data,
			      uint64_t now_ns);

#endif
