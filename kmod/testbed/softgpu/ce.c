/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The copy engine: one line of bytes copied or filled, then a semaphore. */
#include "channel.h"

#include "gpu.h"
#include "turing.h"

/* OFFSET_*_UPPER and SET_SEMAPHORE_A have 17 bits: addresses of 49. */
#define UPPER_BITS 17

#define COMPONENTS_MAX 4u
#define ELEMENT_BYTES_MAX (COMPONENTS_MAX * 4u)
/* Bytes of a fill that are written at a time: whole elements of each size from 1 to 4 times 1 to 4
 * bytes. */
#define BLOCK_BYTES 144u

/* SET_REMAP_COMPONENTS_DST_* */
#define CONST_A 4u
#define CONST_B 5u
#define NO_WRITE 6u

/* One side of a copy. */
struct end {
	uint64_t address;
	bool is_physical;
	enum sgpu_aperture aperture; /* if it is */
	enum sgpu_access access;     /* if it is not */
	const char *fault;
};

/* What a fill writes again and again. */
struct element {
	uint32_t bytes;
	bool is_partial; /* some bytes are left as they are */
	uint8_t value[ELEMENT_BYTES_MAX];
	bool is_kept[ELEMENT_BYTES_MAX];
};

static enum sgpu_next address_of(struct sgpu_channel *channel, uint32_t upper_method,
				 uint32_t lower_method, uint64_t *address_out)
{
	uint32_t upper = sgpu_channel_register(channel, upper_method);

	if (upper >> UPPER_BITS)
		return sgpu_channel_fail(channel, "address beyond 49 bits, upper part", upper);
	*address_out = ((uint64_t)upper << 32) | sgpu_channel_register(channel, lower_method);
	return SGPU_NEXT;
}

/* SET_*_PHYS_MODE */
static enum sgpu_next aperture_of(struct sgpu_channel *channel, uint32_t method,
				  enum sgpu_aperture *aperture_out)
{
	static const enum sgpu_aperture apertures[] = {
		SGPU_APERTURE_VIDMEM,
		SGPU_APERTURE_SYSMEM,
		SGPU_APERTURE_SYSMEM_NONCOHERENT,
	};
	uint32_t mode = sgpu_channel_register(channel, method);

	if (mode >= sizeof(apertures) / sizeof(apertures[0]))
		return sgpu_channel_fail(channel, "no such target, SET_*_PHYS_MODE", mode);
	*aperture_out = apertures[mode];
	return SGPU_NEXT;
}

static enum sgpu_next source_of(struct sgpu_channel *channel, uint32_t launch, struct end *end_out)
{
	enum sgpu_next next;

	end_out->fault = "fault of the source at";
	end_out->access = SGPU_ACCESS_READ;
	end_out->is_physical = sgpu_bits(launch, 12, 1);
	next = address_of(channel, SGPU_CE_OFFSET_IN_UPPER, SGPU_CE_OFFSET_IN_LOWER,
			  &end_out->address);
	if (next == SGPU_NEXT && end_out->is_physical)
		next = aperture_of(channel, SGPU_CE_SET_SRC_PHYS_MODE, &end_out->aperture);
	return next;
}

static enum sgpu_next destination_of(struct sgpu_channel *channel, uint32_t launch,
				     struct end *end_out)
{
	enum sgpu_next next;

	end_out->fault = "fault of the destination at";
	end_out->access = SGPU_ACCESS_WRITE;
	end_out->is_physical = sgpu_bits(launch, 13, 1);
	next = address_of(channel, SGPU_CE_OFFSET_OUT_UPPER, SGPU_CE_OFFSET_OUT_LOWER,
			  &end_out->address);
	if (next == SGPU_NEXT && end_out->is_physical)
		next = aperture_of(channel, SGPU_CE_SET_DST_PHYS_MODE, &end_out->aperture);
	return next;
}

/* The memory from an offset on, or NULL and the channel has failed. */
static uint8_t *end_at(struct sgpu_channel *channel, const struct end *end, uint64_t offset,
		       uint64_t *left_out)
{
	struct sgpu_address physical = {
		.aperture = end->aperture,
		.address = end->address + offset,
	};
	uint8_t *at;

	if (end->is_physical)
		at = sgpu_bus_at(&channel->gpu->bus, physical, left_out);
	else
		at = sgpu_channel_at(channel, end->address + offset, end->access, left_out);
	if (!at)
		sgpu_channel_fail(channel, end->fault, end->address + offset);
	return at;
}

/* What was copied before a fault stays so, as on hardware. */
static enum sgpu_next copy(struct sgpu_channel *channel, const struct end *from,
			   const struct end *to)
{
	uint64_t bytes = sgpu_channel_register(channel, SGPU_CE_LINE_LENGTH_IN);
	uint64_t done, piece, left;
	const uint8_t *source;
	uint8_t *destination;

	for (done = 0; done < bytes; done += piece) {
		piece = bytes - done;
		source = end_at(channel, from, done, &left);
		if (!source)
			return SGPU_ERROR;
		piece = piece < left ? piece : left;
		destination = end_at(channel, to, done, &left);
		if (!destination)
			return SGPU_ERROR;
		piece = piece < left ? piece : left;
		memmove(destination, source, (size_t)piece);
	}
	channel->gpu->counters.copies++;
	channel->gpu->counters.copy_bytes += bytes;
	return SGPU_NEXT;
}

static enum sgpu_next copy_launch(struct sgpu_channel *channel, uint32_t launch)
{
	struct end from = { .address = 0 };
	struct end to = { .address = 0 };
	enum sgpu_next next = source_of(channel, launch, &from);

	if (next == SGPU_NEXT)
		next = destination_of(channel, launch, &to);
	return next == SGPU_NEXT ? copy(channel, &from, &to) : next;
}

/* SET_REMAP_COMPONENTS: sizes and counts are one less in their fields. */
static enum sgpu_next element_of(struct sgpu_channel *channel, struct element *element_out)
{
	uint32_t components = sgpu_channel_register(channel, SGPU_CE_SET_REMAP_COMPONENTS);
	uint32_t size = (uint32_t)sgpu_bits(components, 16, 2) + 1;
	uint32_t count = (uint32_t)sgpu_bits(components, 24, 2) + 1;
	uint32_t i, j, from, value;

	memset(element_out, 0, sizeof(*element_out));
	element_out->bytes = size * count;
	for (i = 0; i < count; i++) {
		from = (uint32_t)sgpu_bits(components, 4 * i, 3);
		if (from < CONST_A || from > NO_WRITE)
			return sgpu_channel_fail(
				channel, "remap of the source, SET_REMAP_COMPONENTS", components);
		value = sgpu_channel_register(channel, from == CONST_A ? SGPU_CE_SET_REMAP_CONST_A
								       : SGPU_CE_SET_REMAP_CONST_B);
		element_out->is_partial |= from == NO_WRITE;
		for (j = 0; j < size; j++) {
			element_out->value[i * size + j] = (uint8_t)(value >> (8 * j));
			element_out->is_kept[i * size + j] = from == NO_WRITE;
		}
	}
	return SGPU_NEXT;
}

/* @phase: the first byte's place in its element. */
static void fill_piece(uint8_t *at, uint64_t bytes, const struct element *element, uint32_t phase)
{
	uint8_t block[BLOCK_BYTES + ELEMENT_BYTES_MAX];
	uint64_t i, piece;

	for (i = 0; i < bytes && element->is_partial; i++)
		if (!element->is_kept[(phase + i) % element->bytes])
			at[i] = element->value[(phase + i) % element->bytes];
	if (element->is_partial)
		return;
	if (element->bytes == 1) {
		memset(at, element->value[0], (size_t)bytes);
		return;
	}
	for (i = 0; i < sizeof(block); i++)
		block[i] = element->value[i % element->bytes];
	for (i = 0; i < bytes; i += piece) {
		piece = bytes - i < BLOCK_BYTES ? bytes - i : BLOCK_BYTES;
		memcpy(at + i, block + phase, (size_t)piece);
	}
}

/* An element of equal bytes is one of one byte: most fills are of zeros. */
static void element_reduce(struct element *element)
{
	uint32_t i;

	for (i = 1; i < element->bytes; i++)
		if (element->is_partial || element->value[i] != element->value[0])
			return;
	element->bytes = 1;
}

static enum sgpu_next fill_launch(struct sgpu_channel *channel, uint32_t launch)
{
	struct end to = { .address = 0 };
	enum sgpu_next next = destination_of(channel, launch, &to);
	uint64_t bytes = sgpu_channel_register(channel, SGPU_CE_LINE_LENGTH_IN);
	struct element element;
	uint64_t done, left;
	uint8_t *at;

	if (next == SGPU_NEXT)
		next = element_of(channel, &element);
	if (next != SGPU_NEXT)
		return next;
	/* The line is as long as that in elements. */
	bytes *= element.bytes;
	element_reduce(&element);
	for (done = 0; done < bytes; done += left) {
		at = end_at(channel, &to, done, &left);
		if (!at)
			return SGPU_ERROR;
		left = left < bytes - done ? left : bytes - done;
		fill_piece(at, left, &element, (uint32_t)(done % element.bytes));
	}
	channel->gpu->counters.memsets++;
	channel->gpu->counters.memset_bytes += bytes;
	return SGPU_NEXT;
}

/* SEMAPHORE_REDUCTION INC: up to the payload and then to 0 (dev_pbdma.ref.txt). */
static enum sgpu_next increment(struct sgpu_channel *channel, uint64_t va, uint32_t payload)
{
	uint32_t *at = sgpu_channel_word(channel, va, 4, SGPU_ACCESS_ATOMIC);
	uint32_t old;

	if (!at)
		return SGPU_ERROR;
	old = sgpu_load32(at);
	while (!__atomic_compare_exchange_n(at, &old, old >= payload ? 0 : old + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	channel->gpu->counters.releases++;
	return SGPU_NEXT;
}

static enum sgpu_next semaphore(struct sgpu_channel *channel, uint32_t launch, uint64_t now_ns)
{
	uint32_t type = (uint32_t)sgpu_bits(launch, 3, 2);
	struct sgpu_release release = {
		.payload = sgpu_channel_register(channel, SGPU_CE_SET_SEMAPHORE_PAYLOAD),
		.has_time = type == 2,
		.time_ns = now_ns,
	};
	enum sgpu_next next;

	if (!type)
		return SGPU_NEXT;
	next = address_of(channel, SGPU_CE_SET_SEMAPHORE_A, SGPU_CE_SET_SEMAPHORE_B, &release.va);
	if (next != SGPU_NEXT)
		return next;
	if (sgpu_bits(launch, 19, 1))
		return increment(channel, release.va, release.payload);
	return sgpu_channel_release(channel, &release);
}

/* Bits of LAUNCH_DMA that must have a value. */
struct rule {
	uint32_t mask, value;
	const char *why;
};

static const struct rule always[] = {
	{ 3u << 5, 0, "INTERRUPT_TYPE, LAUNCH_DMA" },
	{ 1u << 11, 0, "FORCE_RMWDISABLE, LAUNCH_DMA" },
	{ 3u << 20, 0, "BYPASS_L2, LAUNCH_DMA" },
	{ 3u << 22, 0, "VPRMODE, LAUNCH_DMA" },
	{ 1u << 24 | 0x1fu << 27, 0, "reserved bits, LAUNCH_DMA" },
};

static const struct rule of_transfers[] = {
	{ 1u << 7, 1u << 7, "SRC_MEMORY_LAYOUT BLOCKLINEAR, LAUNCH_DMA" },
	{ 1u << 8, 1u << 8, "DST_MEMORY_LAYOUT BLOCKLINEAR, LAUNCH_DMA" },
	{ 1u << 9, 0, "MULTI_LINE_ENABLE, LAUNCH_DMA" },
};

static const struct rule of_reductions[] = {
	{ 0xfu << 14, 6u << 14, "SEMAPHORE_REDUCTION other than INC, LAUNCH_DMA" },
	{ 1u << 18, 1u << 18, "SEMAPHORE_REDUCTION_SIGN SIGNED, LAUNCH_DMA" },
	{ 3u << 3, 1u << 3, "reduction of other than one word, LAUNCH_DMA" },
};

static const char *broken_rule(const struct rule *rules, size_t count, uint32_t data)
{
	size_t i;

	for (i = 0; i < count; i++)
		if ((data & rules[i].mask) != rules[i].value)
			return rules[i].why;
	return NULL;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Return: NULL, or what of it the model does not do. */
static const char *launch_refused(uint32_t data)
{
	const char *why = broken_rule(always, COUNT(always), data);

	if (sgpu_bits(data, 0, 2) == 3)
		return "no such DATA_TRANSFER_TYPE, LAUNCH_DMA";
	if (sgpu_bits(data, 3, 2) == 3)
		return "RELEASE_CONDITIONAL_INTR_SEMAPHORE, LAUNCH_DMA";
	if (!why && sgpu_bits(data, 0, 2))
		why = broken_rule(of_transfers, COUNT(of_transfers), data);
	if (!why && sgpu_bits(data, 19, 1))
		why = broken_rule(of_reductions, COUNT(of_reductions), data);
	return why;
}

/* True: not yet.  All of a slow copy happens at its end, so that who does not wait sees it. */
static bool is_slow(struct sgpu_channel *channel, uint64_t now_ns)
{
	struct sgpu_inject *inject = &channel->gpu->inject;
	uint32_t delay_us = inject->values[SGPU_INJECT_COPY_SLOW];

	if (!channel->stalled_until_ns && delay_us) {
		inject->done[SGPU_INJECT_COPY_SLOW]++;
		channel->stalled_until_ns = now_ns + delay_us * 1000ull;
		return true;
	}
	channel->stalled_until_ns = 0;
	return false;
}

static enum sgpu_next launch(struct sgpu_channel *channel, uint32_t data, uint64_t now_ns)
{
	const char *why = launch_refused(data);
	enum sgpu_next next = SGPU_NEXT;

	if (why)
		return sgpu_channel_fail(channel, why, data);
	if (sgpu_bits(data, 0, 2)) {
		if (is_slow(channel, now_ns))
			return SGPU_STALL;
		next = sgpu_bits(data, 10, 1) ? fill_launch(channel, data)
					      : copy_launch(channel, data);
	}
	if (next != SGPU_NEXT)
		return next;
	if (sgpu_bits(data, 2, 1))
		sgpu_channel_membar(channel);
	return semaphore(channel, data, now_ns);
}

enum sgpu_next sgpu_ce_method(struct sgpu_channel *channel, uint32_t method, uint32_t data,
			      uint64_t now_ns)
{
	switch (method) {
	case SGPU_CE_NOP:
	case SGPU_CE_SET_SEMAPHORE_A:
	case SGPU_CE_SET_SEMAPHORE_B:
	case SGPU_CE_SET_SEMAPHORE_PAYLOAD:
	case SGPU_CE_SET_SRC_PHYS_MODE:
	case SGPU_CE_SET_DST_PHYS_MODE:
	case SGPU_CE_OFFSET_IN_UPPER:
	case SGPU_CE_OFFSET_IN_LOWER:
	case SGPU_CE_OFFSET_OUT_UPPER:
	case SGPU_CE_OFFSET_OUT_LOWER:
	case SGPU_CE_LINE_LENGTH_IN:
	case SGPU_CE_SET_REMAP_CONST_A:
	case SGPU_CE_SET_REMAP_CONST_B:
	case SGPU_CE_SET_REMAP_COMPONENTS:
		return SGPU_NEXT;
	case SGPU_CE_LAUNCH_DMA:
		return launch(channel, data, now_ns);
	default:
		return sgpu_channel_fail(channel, "the copy engine does not do method", method);
	}
}
