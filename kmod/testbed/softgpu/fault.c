/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Packets as in NVIDIA's clc369.h (NVC369_BUF_ENTRY_*), registers as in dev_fb.h of GV100
 * (NV_PFB_PRI_MMU_FAULT_BUFFER_*), interrupts as uvm_turing_fault_buffer.c drives them.
 */
#include "fault.h"

#define PACKET_WORDS (SGPU_FAULT_BYTES / 4)

/* GET: the index in bits 19:0, and what the driver stores to be rid of an error. */
#define GET_CORRUPTED_CLEAR (1u << 30)
#define GET_OVERFLOW_CLEAR (1u << 31)
#define GET_CLEAR (GET_CORRUPTED_CLEAR | GET_OVERFLOW_CLEAR)

/* PREFETCH_CTRL: the filter in bits 1:0 (NV_PFB_PRI_MMU_PAGE_FAULT_CTRL_PRF_FILTER, hwref/pascal's
 * dev_fb.h); 0 sends all, other values have no meaning. */
#define PREFETCH_FILTER_MASK 3u
#define PREFETCH_FILTER_SEND_NONE 3u

/* Word 7 of a packet; bit 20, the client's type, is 0: a GPC. */
#define PACKET_REPLAYABLE (1u << 7)
#define PACKET_CLIENT_BIT 8
#define PACKET_ACCESS_BIT 16
#define PACKET_GPC_BIT 24
#define PACKET_REPLAYABLE_ENABLED (1u << 30)
#define PACKET_VALID (1u << 31)

void sgpu_fault_buffer_init(struct sgpu_fault_buffer *buffer, void *packets, uint32_t count)
{
	memset(buffer, 0, sizeof(*buffer));
	memset(packets, 0, (size_t)count * SGPU_FAULT_BYTES);
	buffer->packets = packets;
	buffer->count = count;
}

/* A GET outside the ring, which only a broken driver stores, leaves no room. */
static bool has_room(const struct sgpu_fault_buffer *buffer, uint32_t get)
{
	uint32_t used = (buffer->put - get) & (buffer->count - 1);
	uint32_t room = buffer->count - 1;

	if (buffer->limit && buffer->limit < room)
		room = buffer->limit;
	return get < buffer->count && used < room;
}

/*
 * GET's index, its clear bits consumed.  Pairs with the driver's plain stores: one that comes
 * between load and exchange is not lost, the exchange fails and looks again.
 */
static uint32_t get_take(struct sgpu_fault_buffer *buffer)
{
	uint32_t get = sgpu_load32(&buffer->get);

	while (get & GET_CLEAR) {
		if (!__atomic_compare_exchange_n(&buffer->get, &get, get & ~GET_CLEAR, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		get &= ~GET_CLEAR;
		buffer->has_news = true;
		/* A buffer that is still full overflows still. */
		if (has_room(buffer, get))
			buffer->has_overflowed = false;
	}
	return get;
}

static void packet_write(uint8_t *packet, const struct sgpu_fault *fault)
{
	uint32_t words[PACKET_WORDS] = { 0 };

	words[0] = (uint32_t)sgpu_bits(fault->instance.address, 12, 20) << 12 |
		   (uint32_t)sgpu_bits(fault->instance.aperture, 0, 2) << 8;
	words[1] = (uint32_t)(fault->instance.address >> 32);
	words[2] = (uint32_t)sgpu_bits(fault->va, 12, 20) << 12;
	words[3] = (uint32_t)(fault->va >> 32);
	words[4] = (uint32_t)fault->time_ns;
	words[5] = (uint32_t)(fault->time_ns >> 32);
	words[6] = SGPU_FAULT_ENGINE_GRAPHICS;
	words[7] = (uint32_t)sgpu_bits(fault->type, 0, 5) | PACKET_REPLAYABLE |
		   (uint32_t)sgpu_bits(fault->client, 0, 7) << PACKET_CLIENT_BIT |
		   (uint32_t)sgpu_bits(fault->access, 0, 4) << PACKET_ACCESS_BIT |
		   (uint32_t)sgpu_bits(fault->gpc, 0, 5) << PACKET_GPC_BIT |
		   PACKET_REPLAYABLE_ENABLED | PACKET_VALID;
	memcpy(packet, words, SGPU_FAULT_BYTES - sizeof(words[7]));
	/* Pairs with the driver's look at VALID, which comes before it reads the packet. */
	sgpu_store32(packet + SGPU_FAULT_BYTES - sizeof(words[7]), words[7]);
}

bool sgpu_fault_write(struct sgpu_fault_buffer *buffer, const struct sgpu_fault *fault)
{
	uint32_t get = get_take(buffer);
	uint32_t put = buffer->put;

	if (!buffer->has_overflowed && !has_room(buffer, get)) {
		if (get >= buffer->count)
			sgpu_log("fault buffer: GET is %u of %u", get, buffer->count);
		buffer->has_overflowed = true;
		buffer->overflows++;
	}
	if (buffer->has_overflowed) {
		buffer->dropped++;
		return false;
	}
	packet_write(buffer->packets + (size_t)put * SGPU_FAULT_BYTES, fault);
	sgpu_store32(&buffer->put, (put + 1) & (buffer->count - 1));
	buffer->has_news = true;
	buffer->written++;
	return true;
}

bool sgpu_fault_filters_prefetches(const struct sgpu_fault_buffer *buffer)
{
	return (sgpu_load32(&buffer->prefetch_ctrl) & PREFETCH_FILTER_MASK) ==
	       PREFETCH_FILTER_SEND_NONE;
}

/* What the driver has stored to a register since the last look. */
static bool register_take(volatile uint32_t *word)
{
	return __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL) & SGPU_FAULT_INTR_MASK;
}

bool sgpu_fault_poll(struct sgpu_fault_buffer *buffer)
{
	/*
	 * In this order: a disable and an enable that come between the two looks are then seen
	 * in one poll and the next, and the buffer ends enabled.
	 */
	bool is_set = register_take(&buffer->intr_enable_set);
	bool is_cleared = register_take(&buffer->intr_enable_clear);
	uint32_t get = get_take(buffer);

	if (is_set)
		buffer->is_enabled = buffer->has_news = true;
	else if (is_cleared)
		buffer->is_enabled = false;
	/* A pulse leaves nothing pending, so there is nothing that this store could clear. */
	(void)register_take(&buffer->intr);
	if (!buffer->is_enabled || !buffer->has_news || get == buffer->put)
		return false;
	buffer->has_news = false;
	buffer->pulses++;
	return true;
}
