/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A channel of the driver: a ring of GPFIFO entries, each a piece of pushbuffer, run in order.
 * A channel stalls on a semaphore it waits for, or for as long as a slow copy takes, and goes on
 * at the same method; the others go on meanwhile.  What it cannot decode ends it, as on
 * hardware: the error notifier is set, the log says which method and why, and the channel runs
 * no further entry.
 *
 *   GPFIFO -> pushbuffer -> header, data -> method -> host.c (below 0x100), or by subchannel
 *                                                      ce.c (4) or software in host.c (5)
 *
 * The engines have no queue of their own: a method is done when its step returns, so waiting for
 * idle and memory barriers order nothing that is not ordered already.
 *
 * Formats: NVIDIA open-gpu-doc, classes C46F (host), C5B5 (copy engine); see turing.h.
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
	uint64_t stalled_until_ns;        /* by a slow copy; 0: not */
	bool is_acquiring;                /* a semaphore, which it did not get at its last try */
	bool has_failed;
	/* The method that is being run: what an error names. */
	bool has_method;
	uint32_t subchannel, method, data;
	uint32_t registers[SGPU_METHODS]; /* what was last written to each method */
};

/* What was last written to @method, a byte offset. */
static inline uint32_t sgpu_channel_register(const struct sgpu_channel *channel, uint32_t method)
{
	return channel->registers[method / 4];
}

/* The caller has set the borrowed fields and the id; the rest becomes that of a fresh channel. */
void sgpu_channel_init(struct sgpu_channel *channel);

/*
 * sgpu_channel_step - run methods until the channel has none, stalls, fails, or @budget are done
 *
 * Return: methods that were done; a GPFIFO entry that is begun and a header without a method
 * count as one.
 */
uint32_t sgpu_channel_step(struct sgpu_channel *channel, uint64_t now_ns, uint32_t budget);

/*
 * Ends the channel: the log says "channel <id>: <why> <value>" and which method it was, or which
 * header or GPFIFO entry; the notifier is set.
 */
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

/*
 * sgpu_channel_word - a semaphore, in one piece
 * @bytes: a power of two, to which @va must be aligned
 *
 * Return: a pointer, or NULL: it faults, and the channel has failed.
 */
void *sgpu_channel_word(struct sgpu_channel *channel, uint64_t va, uint32_t bytes,
			enum sgpu_access access);

struct sgpu_release {
	uint64_t va;
	uint32_t payload;
	bool has_time; /* 16 bytes: payload, 0, time */
	uint64_t time_ns;
};

/* Writes a semaphore; its payload last. */
enum sgpu_next sgpu_channel_release(struct sgpu_channel *channel,
				    const struct sgpu_release *release);

/* A membar, or a flush. */
void sgpu_channel_membar(struct sgpu_channel *channel);

/* host.c: methods below 0x100 on any subchannel. */
enum sgpu_next sgpu_host_method(struct sgpu_channel *channel, uint32_t method, uint32_t data,
				uint64_t now_ns);

/* host.c: those that RM does in software, on subchannel 5: targeted and global cancels. */
enum sgpu_next sgpu_software_method(struct sgpu_channel *channel, uint32_t method, uint32_t data);

/* ce.c: the copy engine's, on subchannel 4. */
enum sgpu_next sgpu_ce_method(struct sgpu_channel *channel, uint32_t method, uint32_t data,
			      uint64_t now_ns);

#endif
