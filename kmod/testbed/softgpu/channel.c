/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* From a ring of GPFIFO entries to methods. */
#include "channel.h"

#include "gpu.h"
#include "turing.h"

/* What RM writes to an error notifier's status; nvidia-uvm looks whether it is 0. */
#define STATUS_ERROR 0xffffu

/* GPFIFO and pushbuffer have addresses of 40 bits (dev_pbdma.ref.txt, GP_ENTRY1). */
#define PUSHBUFFER_END (1ull << 40)

/* A header of the pushbuffer: a run of methods, or none. */
struct header {
	uint32_t method, subchannel;
	uint32_t first, rest; /* from a method to the next: after the first, after the others */
	uint32_t methods;
	uint32_t words;     /* of data behind it */
	uint32_t immediate; /* the data of one without words */
	bool is_end;        /* the rest of the segment is skipped */
};

/* The piece of pushbuffer that the last word was in. */
struct window {
	const uint8_t *at;
	uint64_t va, bytes;
};

void sgpu_channel_init(struct sgpu_channel *channel)
{
	struct sgpu_gpu *gpu = channel->gpu;
	struct sgpu_vas *vas = channel->vas;
	uint32_t id = channel->id;
	uint64_t *fifo = channel->fifo;
	uint32_t fifo_count = channel->fifo_count;
	volatile uint16_t *error_status = channel->error_status;

	memset(channel, 0, sizeof(*channel));
	channel->gpu = gpu;
	channel->vas = vas;
	channel->id = id;
	channel->fifo = fifo;
	channel->fifo_count = fifo_count;
	channel->error_status = error_status;
}

#define NAME(name, offset) \
	case offset:       \
		return #name;

static const char *method_name(uint32_t method, uint32_t subchannel)
{
	if (method < SGPU_HOST_END || subchannel == SGPU_SUBCHANNEL_CE) {
		switch (method) {
			SGPU_HOST_METHODS(NAME)
			SGPU_CE_METHODS(NAME)
		}
	} else if (subchannel == SGPU_SUBCHANNEL_SOFTWARE) {
		switch (method) {
			SGPU_SOFTWARE_METHODS(NAME)
		}
	}
	return "a method without a name";
}

enum sgpu_next sgpu_channel_fail(struct sgpu_channel *channel, const char *why, uint64_t value)
{
	unsigned long long at = channel->segment_va + channel->at_bytes;

	if (channel->has_method)
		sgpu_log("channel %u: %s 0x%llx, at %s (0x%x) 0x%x on subchannel %u, header at "
			 "0x%llx",
			 channel->id, why, (unsigned long long)value,
			 method_name(channel->method, channel->subchannel), channel->method,
			 channel->data, channel->subchannel, at);
	else if (channel->is_running)
		sgpu_log("channel %u: %s 0x%llx, header at 0x%llx", channel->id, why,
			 (unsigned long long)value, at);
	else
		sgpu_log("channel %u: %s 0x%llx, GPFIFO entry %u", channel->id, why,
			 (unsigned long long)value, channel->get);
	channel->has_failed = true;
	channel->has_method = false;
	channel->gpu->counters.channel_errors++;
	if (channel->error_status)
		__atomic_store_n(channel->error_status, STATUS_ERROR, __ATOMIC_RELEASE);
	return SGPU_ERROR;
}

void *sgpu_channel_at(struct sgpu_channel *channel, uint64_t va, enum sgpu_access access,
		      uint64_t *left_out)
{
	const struct sgpu_mapping *mapping = sgpu_vas_find(channel->vas, va);
	struct sgpu_gpu *gpu = channel->gpu;
	struct sgpu_tlb_lookup lookup = { &gpu->bus, &channel->vas->pdb, va, access };
	struct sgpu_page page;
	uint64_t left;
	void *at;

	if (mapping) {
		*left_out = mapping->bytes - (va - mapping->va);
		return mapping->memory + (va - mapping->va);
	}
	if (sgpu_tlb_translate(&gpu->hub_tlb, &lookup, &page))
		return NULL;
	page.at.address += va - page.va;
	at = sgpu_bus_at(&gpu->bus, page.at, &left);
	if (!at)
		return NULL;
	*left_out = page.bytes - (va - page.va);
	if (*left_out > left)
		*left_out = left;
	return at;
}

void *sgpu_channel_word(struct sgpu_channel *channel, uint64_t va, uint32_t bytes,
			enum sgpu_access access)
{
	uint64_t left;
	void *at;

	if (va % bytes) {
		sgpu_channel_fail(channel, "misaligned semaphore", va);
		return NULL;
	}
	at = sgpu_channel_at(channel, va, access, &left);
	if (!at || left < bytes) {
		sgpu_channel_fail(channel, "fault of a semaphore at", va);
		return NULL;
	}
	return at;
}

enum sgpu_next sgpu_channel_release(struct sgpu_channel *channel,
				    const struct sgpu_release *release)
{
	uint8_t *at = sgpu_channel_word(channel, release->va, release->has_time ? 16 : 4,
					SGPU_ACCESS_WRITE);

	if (!at)
		return SGPU_ERROR;
	if (release->has_time) {
		sgpu_store64(at + 8, release->time_ns);
		sgpu_store32(at + 4, 0);
	}
	sgpu_store32(at, release->payload);
	channel->gpu->counters.releases++;
	return SGPU_NEXT;
}

void sgpu_channel_membar(struct sgpu_channel *channel)
{
	/* A full barrier on x86, where the model runs in the kernel; TSan knows no fence by itself.
	 */
	__atomic_fetch_add(&channel->gpu->counters.membars, 1, __ATOMIC_SEQ_CST);
}

/* An entry without a segment.  Opcodes: clc46f.h, GP_ENTRY1_OPCODE. */
static void control_run(struct sgpu_channel *channel, uint64_t entry)
{
	switch (sgpu_bits(entry, 32, 8)) {
	case 0: /* NOP */
		channel->get = (channel->get + 1) % channel->fifo_count;
		break;
	case 1:
		sgpu_channel_fail(channel, "control entry ILLEGAL", entry);
		break;
	case 2:
		sgpu_channel_fail(channel, "control entry GP_CRC", entry);
		break;
	case 3:
		sgpu_channel_fail(channel, "control entry PB_CRC", entry);
		break;
	default:
		sgpu_channel_fail(channel, "control entry without a name", entry);
	}
}

/*
 * The next entry of the ring.  SYNC (bit 63) and LEVEL (bit 41) change nothing here: segments
 * run one after the other, and nobody reads how far they are.
 *
 * Return: false: there is none.
 */
static bool entry_begin(struct sgpu_channel *channel)
{
	uint32_t put = sgpu_load32(&channel->put);
	uint64_t entry, va, bytes;

	if (put == channel->get)
		return false;
	if (put >= channel->fifo_count) {
		sgpu_channel_fail(channel, "GPPut is outside the ring:", put);
		return true;
	}
	entry = sgpu_load64(&channel->fifo[channel->get]);
	channel->gpu->counters.pushes++;
	bytes = sgpu_bits(entry, 42, 21) * 4;
	va = sgpu_bits(entry, 2, 38) << 2;
	if (!bytes)
		control_run(channel, entry);
	else if (sgpu_bits(entry, 0, 2))
		sgpu_channel_fail(channel, "entry with a conditional fetch", entry);
	else if (sgpu_bits(entry, 40, 1))
		sgpu_channel_fail(channel, "entry with reserved bit 40", entry);
	else if (va + bytes >= PUSHBUFFER_END)
		sgpu_channel_fail(channel, "segment beyond 40 bits", entry);
	if (!bytes || channel->has_failed)
		return true;
	channel->segment_va = va;
	channel->segment_bytes = (uint32_t)bytes;
	channel->at_bytes = 0;
	channel->done = 0;
	channel->is_running = true;
	return true;
}

/* The word at an offset of the segment, which may lie in another page than the one before. */
static enum sgpu_next word_read(struct sgpu_channel *channel, struct window *window,
				uint32_t at_bytes, uint32_t *word_out)
{
	uint64_t va = channel->segment_va + at_bytes;

	if (!window->at || va < window->va || va - window->va >= window->bytes) {
		window->va = va;
		window->at = sgpu_channel_at(channel, va, SGPU_ACCESS_READ, &window->bytes);
	}
	if (!window->at || window->bytes - (va - window->va) < 4)
		return sgpu_channel_fail(channel, "fault of the pushbuffer at", va);
	memcpy(word_out, window->at + (va - window->va), 4);
	return SGPU_NEXT;
}

/* clc46f.h, DMA_SEC_OP.  Return: NULL, or what is wrong with the header. */
static const char *header_decode(uint32_t word, struct header *header)
{
	uint32_t count = (uint32_t)sgpu_bits(word, 16, 13);

	memset(header, 0, sizeof(*header));
	header->method = (uint32_t)sgpu_bits(word, 0, 12) * 4;
	header->subchannel = (uint32_t)sgpu_bits(word, 13, 3);
	header->methods = header->words = count;
	switch (sgpu_bits(word, 29, 3)) {
	case 0: /* a word of zeros does nothing */
		return word ? "legacy or sub-device header" : NULL;
	case 1: /* INC_METHOD */
		header->first = header->rest = 4;
		break;
	case 2:
		return "legacy non-incrementing header";
	case 3: /* NON_INC_METHOD */
		/* Whatever data a NOP has are not for us: inline data of the driver. */
		if (header->method == SGPU_HOST_NOP)
			header->methods = count ? 1 : 0;
		break;
	case 4: /* IMMD_DATA_METHOD */
		header->immediate = count;
		header->methods = 1;
		header->words = 0;
		break;
	case 5: /* ONE_INC */
		header->first = 4;
		break;
	case 6:
		return "header of reserved form 6";
	case 7: /* END_PB_SEGMENT */
		header->methods = header->words = 0;
		header->is_end = true;
		return NULL;
	}
	return sgpu_bits(word, 12, 1) ? "header with reserved bit 12" : NULL;
}

static enum sgpu_next header_read(struct sgpu_channel *channel, struct window *window,
				  struct header *header_out)
{
	enum sgpu_next next;
	const char *why;
	uint32_t word;

	next = word_read(channel, window, channel->at_bytes, &word);
	if (next != SGPU_NEXT)
		return next;
	why = header_decode(word, header_out);
	if (why)
		return sgpu_channel_fail(channel, why, word);
	if (header_out->words > (channel->segment_bytes - channel->at_bytes) / 4 - 1)
		return sgpu_channel_fail(channel, "data beyond the end of the segment:", word);
	return SGPU_NEXT;
}

static enum sgpu_next method_run(struct sgpu_channel *channel, uint64_t now_ns)
{
	uint32_t method = channel->method;

	if (method >= SGPU_METHODS * 4)
		return sgpu_channel_fail(channel, "method out of range:", method);
	channel->registers[method / 4] = channel->data;
	if (method < SGPU_HOST_END)
		return sgpu_host_method(channel, method, channel->data, now_ns);
	if (channel->subchannel == SGPU_SUBCHANNEL_CE)
		return sgpu_ce_method(channel, method, channel->data, now_ns);
	if (channel->subchannel == SGPU_SUBCHANNEL_SOFTWARE)
		return sgpu_software_method(channel, method, channel->data);
	return sgpu_channel_fail(channel, "no engine on subchannel", channel->subchannel);
}

/* Method number channel->done of a header. */
static enum sgpu_next header_method(struct sgpu_channel *channel, struct window *window,
				    const struct header *header, uint64_t now_ns)
{
	enum sgpu_next next = SGPU_NEXT;

	channel->data = header->immediate;
	if (header->words)
		next = word_read(channel, window, channel->at_bytes + 4 + 4 * channel->done,
				 &channel->data);
	if (next != SGPU_NEXT)
		return next;
	channel->subchannel = header->subchannel;
	channel->method = header->method;
	if (channel->done)
		channel->method += header->first + header->rest * (channel->done - 1);
	channel->has_method = true;
	next = method_run(channel, now_ns);
	channel->has_method = false;
	if (next != SGPU_NEXT)
		return next;
	channel->done++;
	channel->gpu->counters.methods++;
	return SGPU_NEXT;
}

/* One method, or a header that has none, and what ends with it. */
static enum sgpu_next segment_step(struct sgpu_channel *channel, struct window *window,
				   uint64_t now_ns)
{
	struct header header;
	enum sgpu_next next = header_read(channel, window, &header);

	if (next == SGPU_NEXT && header.methods)
		next = header_method(channel, window, &header, now_ns);
	if (next != SGPU_NEXT || channel->done < header.methods)
		return next;
	channel->at_bytes += 4 + 4 * header.words;
	channel->done = 0;
	if (header.is_end || channel->at_bytes == channel->segment_bytes) {
		channel->is_running = false;
		channel->get = (channel->get + 1) % channel->fifo_count;
	}
	return SGPU_NEXT;
}

uint32_t sgpu_channel_step(struct sgpu_channel *channel, uint64_t now_ns, uint32_t budget)
{
	struct window window = { .at = NULL };
	uint32_t done;

	if (now_ns < channel->stalled_until_ns)
		return 0;
	for (done = 0; done < budget && !channel->has_failed; done++) {
		if (!channel->is_running) {
			if (!entry_begin(channel))
				break;
		} else if (segment_step(channel, &window, now_ns) == SGPU_STALL) {
			break;
		}
	}
	return done;
}
