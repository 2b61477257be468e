/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The host's methods: semaphores, TLB invalidates, replays and cancels of faults. */
#include "channel.h"

#include "gpu.h"
#include "turing.h"

#define VA_END (1ull << SGPU_VA_BITS)

/* SEM_EXECUTE_OPERATION; 1 is RELEASE. */
#define ACQ_CIRC_GEQ 3

/* MEM_OP_D_OPERATION */
#define MEMBAR 0x05
#define TLB_INVALIDATE 0x09
#define TLB_INVALIDATE_TARGETED 0x0a
#define ACCESS_COUNTER_CLR 0x16

/* MEM_OP_C_TLB_INVALIDATE_REPLAY */
enum replay {
	REPLAY_NONE,
	REPLAY_START,
	REPLAY_START_ACK_ALL,
	REPLAY_CANCEL_TARGETED,
	REPLAY_CANCEL_GLOBAL,
	REPLAY_CANCEL_VA_GLOBAL,
	REPLAY_COUNT
};

/* The fields of MEM_OP_A to D, of an invalidate. */
struct mem_op {
	uint32_t a, b, c, d;
	enum replay replay;
	bool is_hub_only; /* not the GPCs' TLBs: no replay either */
	uint64_t va;
};

/* Engines are told apart by their subchannel alone; the classes must be what the model is. */
static enum sgpu_next set_object(struct sgpu_channel *channel, uint32_t class)
{
	if (channel->subchannel == SGPU_SUBCHANNEL_SOFTWARE && class == SGPU_CLASS_SOFTWARE)
		return SGPU_NEXT;
	/* On subchannel 0 as well: so nvidia-uvm does, uvm_hal_maxwell_ce_init(). */
	if ((channel->subchannel == SGPU_SUBCHANNEL_CE || !channel->subchannel) &&
	    class == SGPU_CLASS_CE)
		return SGPU_NEXT;
	return sgpu_channel_fail(channel, "no engine here is of class", class);
}

static enum sgpu_next acquire(struct sgpu_channel *channel, uint64_t va, uint32_t payload)
{
	const void *at = sgpu_channel_word(channel, va, 4, SGPU_ACCESS_READ);
	struct sgpu_counters *counters = &channel->gpu->counters;

	if (!at)
		return SGPU_ERROR;
	/* Less than half of all numbers ahead of the payload, which may have wrapped. */
	if (sgpu_load32(at) - payload >= 1u << 31) {
		counters->acquire_stalls += !channel->is_acquiring;
		channel->is_acquiring = true;
		return SGPU_STALL;
	}
	channel->is_acquiring = false;
	counters->acquires++;
	return SGPU_NEXT;
}

static enum sgpu_next semaphore(struct sgpu_channel *channel, uint32_t execute, uint64_t now_ns)
{
	static const char *const refused[] = {
		[0] = "operation ACQUIRE, SEM_EXECUTE",
		[2] = "operation ACQ_STRICT_GEQ, SEM_EXECUTE",
		[4] = "operation ACQ_AND, SEM_EXECUTE",
		[5] = "operation ACQ_NOR, SEM_EXECUTE",
		[6] = "operation REDUCTION, SEM_EXECUTE",
		[7] = "no such operation, SEM_EXECUTE",
	};
	uint32_t high = sgpu_channel_register(channel, SGPU_HOST_SEM_ADDR_HI);
	struct sgpu_release release = {
		/* The low two bits are no part of the address. */
		.va = ((uint64_t)high << 32) |
		      (sgpu_channel_register(channel, SGPU_HOST_SEM_ADDR_LO) & ~3u),
		.payload = sgpu_channel_register(channel, SGPU_HOST_SEM_PAYLOAD_LO),
		.has_time = sgpu_bits(execute, 25, 1),
		.time_ns = now_ns,
	};
	uint32_t operation = (uint32_t)sgpu_bits(execute, 0, 3);

	if (refused[operation])
		return sgpu_channel_fail(channel, refused[operation], execute);
	if (sgpu_bits(execute, 24, 1))
		return sgpu_channel_fail(channel, "PAYLOAD_SIZE 64BIT, SEM_EXECUTE", execute);
	if (high >> 8)
		return sgpu_channel_fail(channel, "semaphore beyond 40 bits, SEM_ADDR_HI", high);
	if (operation == ACQ_CIRC_GEQ)
		return acquire(channel, release.va, release.payload);
	return sgpu_channel_release(channel, &release);
}

static struct mem_op mem_op_of(const struct sgpu_channel *channel)
{
	struct mem_op op = {
		.a = sgpu_channel_register(channel, SGPU_HOST_MEM_OP_A),
		.b = sgpu_channel_register(channel, SGPU_HOST_MEM_OP_B),
		.c = sgpu_channel_register(channel, SGPU_HOST_MEM_OP_C),
		.d = sgpu_channel_register(channel, SGPU_HOST_MEM_OP_D),
	};

	op.is_hub_only = sgpu_bits(op.c, 1, 1);
	op.replay = op.is_hub_only ? REPLAY_NONE : (enum replay)sgpu_bits(op.c, 2, 3);
	op.va = ((uint64_t)op.b << 32) | (op.a & ~0xfffu);
	return op;
}

/*
 * What an invalidate covers.  The level of the page tables (C[9:7]) makes no difference: the
 * TLBs of the model keep translations, no directories.
 *
 * Return: NULL, or what is wrong with it.
 */
static const char *range_decode(const struct mem_op *op, struct sgpu_tlb_range *range)
{
	uint32_t aperture = (uint32_t)sgpu_bits(op->c, 10, 2);
	uint32_t size = 0;

	memset(range, 0, sizeof(*range));
	range->has_root = !sgpu_bits(op->c, 0, 1);
	range->has_va = sgpu_bits(op->d, 27, 5) == TLB_INVALIDATE_TARGETED;
	if (range->has_root) {
		if (aperture == SGPU_APERTURE_PEER)
			return "page directory in aperture 1, MEM_OP_C";
		range->root.aperture = (enum sgpu_aperture)aperture;
		range->root.address = (sgpu_bits(op->d, 0, 27) << 32) | (op->c & ~0xfffu);
	}
	if (!range->has_va)
		return NULL;
	if (!range->has_root)
		return "targeted invalidate of all page directories, MEM_OP_C";
	/* A[5:0] belongs to cancels, or is log2 of the pages. */
	if (op->replay < REPLAY_CANCEL_TARGETED)
		size = (uint32_t)sgpu_bits(op->a, 0, 6);
	if (op->va >= VA_END || size > SGPU_VA_BITS - 12)
		return "invalidate beyond 49 bits, MEM_OP_A to D";
	range->bytes = 4096ull << size;
	range->va = op->va & ~(range->bytes - 1);
	return NULL;
}

/*
 * With its own method an invalidate may be injected as lost.  What rides on a replay or a cancel
 * is never so: nvidia-uvm names no translation there (uvm_volta_host.c, page 0 of directory 0),
 * and a loss that nobody can notice is no control.
 */
static void invalidate(struct sgpu_gpu *gpu, const struct mem_op *op,
		       const struct sgpu_tlb_range *range)
{
	struct sgpu_counters *counters = &gpu->counters;
	uint32_t i;

	if (op->replay == REPLAY_NONE && !op->is_hub_only) {
		sgpu_gpu_invalidate(gpu, range);
		return;
	}
	counters->invalidates += op->is_hub_only;
	counters->invalidated += sgpu_tlb_invalidate(&gpu->hub_tlb, range);
	for (i = 0; i < gpu->utlb_count && !op->is_hub_only; i++)
		counters->invalidated += sgpu_tlb_invalidate(&gpu->utlbs[i].tlb, range);
}

static void replay_start(struct sgpu_gpu *gpu)
{
	bool is_lost = sgpu_inject_now(&gpu->inject, SGPU_INJECT_REPLAY_LOST);

	/* Each counts, also one that is lost already. */
	is_lost |= sgpu_inject_now(&gpu->inject, SGPU_INJECT_REPLAY_LOST_AT);
	gpu->counters.replays++;
	if (!is_lost)
		sgpu_sm_replay(gpu);
}

static void cancel_start(struct sgpu_gpu *gpu, const struct sgpu_cancel *cancel)
{
	gpu->counters.cancels++;
	sgpu_sm_cancel(gpu, cancel);
}

/* MEM_OP_C_TLB_INVALIDATE_ACCESS_TYPE to bits of enum sgpu_access.  SMs have strong atomics. */
static uint32_t access_mask_of(uint32_t type)
{
	static const uint32_t masks[8] = {
		[0] = 1u << SGPU_ACCESS_READ | 1u << SGPU_ACCESS_PREFETCH,
		[1] = 1u << SGPU_ACCESS_WRITE,
		[2] = 1u << SGPU_ACCESS_ATOMIC,
		[4] = 0, /* weak atomics */
		[5] = 1u << SGPU_ACCESS_ATOMIC,
		[6] = 1u << SGPU_ACCESS_WRITE | 1u << SGPU_ACCESS_ATOMIC,
		[7] = 1u << SGPU_ACCESS_READ | 1u << SGPU_ACCESS_PREFETCH |
		      1u << SGPU_ACCESS_WRITE | 1u << SGPU_ACCESS_ATOMIC,
	};

	return masks[type];
}

static enum sgpu_next cancel_va(struct sgpu_channel *channel, const struct mem_op *op,
				const struct sgpu_tlb_range *range)
{
	uint32_t type = (uint32_t)sgpu_bits(op->c, 7, 3);
	struct sgpu_cancel cancel = {
		.va = op->va,
		.access_mask = access_mask_of(type),
		.has_root = true,
		.root = range->root,
	};

	if (!range->has_va)
		return sgpu_channel_fail(channel, "CANCEL_VA_GLOBAL of no address, MEM_OP_D",
					 op->d);
	if (type == 3)
		return sgpu_channel_fail(channel, "reserved access type, MEM_OP_C", op->c);
	/* A cancel that finds nothing of its engine replays everything. */
	if (sgpu_bits(op->a, 0, 7) != SGPU_FAULT_ENGINE_GRAPHICS)
		cancel.access_mask = 0;
	cancel_start(channel->gpu, &cancel);
	return SGPU_NEXT;
}

static enum sgpu_next tlb_invalidate(struct sgpu_channel *channel)
{
	struct mem_op op = mem_op_of(channel);
	struct sgpu_cancel cancel = { .is_global = op.replay == REPLAY_CANCEL_GLOBAL };
	struct sgpu_gpu *gpu = channel->gpu;
	struct sgpu_tlb_range range;
	const char *why;

	if (op.replay >= REPLAY_COUNT)
		return sgpu_channel_fail(channel, "no such replay, MEM_OP_C", op.c);
	why = range_decode(&op, &range);
	if (why)
		return sgpu_channel_fail(channel, why, op.c);
	invalidate(gpu, &op, &range);
	/* SYSMEMBAR, where an acknowledgement is waited for. */
	if (!op.is_hub_only && sgpu_bits(op.a, 11, 1) && sgpu_bits(op.c, 5, 2))
		sgpu_channel_membar(channel);
	switch (op.replay) {
	case REPLAY_NONE:
	case REPLAY_COUNT:
		break;
	case REPLAY_START:
	case REPLAY_START_ACK_ALL:
		replay_start(gpu);
		break;
	case REPLAY_CANCEL_TARGETED:
		cancel.has_client = true;
		cancel.client = (uint32_t)sgpu_bits(op.a, 0, 6);
		cancel.gpc = (uint32_t)sgpu_bits(op.a, 6, 5);
		cancel_start(gpu, &cancel);
		break;
	case REPLAY_CANCEL_GLOBAL:
		cancel_start(gpu, &cancel);
		break;
	case REPLAY_CANCEL_VA_GLOBAL:
		return cancel_va(channel, &op, &range);
	}
	return SGPU_NEXT;
}

static enum sgpu_next mem_op(struct sgpu_channel *channel, uint32_t d)
{
	switch (sgpu_bits(d, 27, 5)) {
	case MEMBAR:
		if (sgpu_channel_register(channel, SGPU_HOST_MEM_OP_C) > 1)
			return sgpu_channel_fail(
				channel, "no such membar, MEM_OP_C",
				sgpu_channel_register(channel, SGPU_HOST_MEM_OP_C));
		sgpu_channel_membar(channel);
		return SGPU_NEXT;
	case TLB_INVALIDATE:
	case TLB_INVALIDATE_TARGETED:
		return tlb_invalidate(channel);
	case ACCESS_COUNTER_CLR: /* there are no counters to clear */
		return SGPU_NEXT;
	case 0x0d:
		return sgpu_channel_fail(channel, "L2_PEERMEM_INVALIDATE, MEM_OP_D", d);
	case 0x0e:
		return sgpu_channel_fail(channel, "L2_SYSMEM_INVALIDATE, MEM_OP_D", d);
	case 0x0f:
		return sgpu_channel_fail(channel, "L2_CLEAN_COMPTAGS, MEM_OP_D", d);
	case 0x10:
		return sgpu_channel_fail(channel, "L2_FLUSH_DIRTY, MEM_OP_D", d);
	case 0x15:
		return sgpu_channel_fail(channel, "L2_WAIT_FOR_SYS_PENDING_READS, MEM_OP_D", d);
	default:
		return sgpu_channel_fail(channel, "no such operation, MEM_OP_D", d);
	}
}

enum sgpu_next sgpu_host_method(struct sgpu_channel *channel, uint32_t method, uint32_t data,
				uint64_t now_ns)
{
	switch (method) {
	case SGPU_HOST_SET_OBJECT:
		return set_object(channel, data);
	case SGPU_HOST_NOP:
	case SGPU_HOST_NON_STALL_INTERRUPT: /* nobody asked RM for it */
	case SGPU_HOST_WFI:
	case SGPU_HOST_CLEAR_FAULTED: /* channels do not stop on faults, they end */
	case SGPU_HOST_MEM_OP_A:
	case SGPU_HOST_MEM_OP_B:
	case SGPU_HOST_MEM_OP_C:
	case SGPU_HOST_SEM_ADDR_LO:
	case SGPU_HOST_SEM_ADDR_HI:
	case SGPU_HOST_SEM_PAYLOAD_LO:
	case SGPU_HOST_SEM_PAYLOAD_HI:
		return SGPU_NEXT;
	case SGPU_HOST_MEM_OP_D:
		return mem_op(channel, data);
	case SGPU_HOST_SEM_EXECUTE:
		return semaphore(channel, data, now_ns);
	default:
		return sgpu_channel_fail(channel, "the host does not do method", method);
	}
}

/* FAULT_CANCEL_A and B name the instance; a uTLB is enough to find it. */
static enum sgpu_next fault_cancel(struct sgpu_channel *channel, uint32_t data)
{
	uint32_t mode = (uint32_t)sgpu_bits(data, 30, 2);
	struct sgpu_cancel cancel = { .is_global = mode == 1 };

	if (mode > 1)
		return sgpu_channel_fail(channel, "no such mode, FAULT_CANCEL_C", data);
	if (!cancel.is_global) {
		cancel.has_client = true;
		cancel.client = (uint32_t)sgpu_bits(data, 0, 6);
		cancel.gpc = (uint32_t)sgpu_bits(data, 6, 5);
	}
	cancel_start(channel->gpu, &cancel);
	return SGPU_NEXT;
}

enum sgpu_next sgpu_software_method(struct sgpu_channel *channel, uint32_t method, uint32_t data)
{
	switch (method) {
	case SGPU_SOFTWARE_NO_OPERATION:
	case SGPU_SOFTWARE_FAULT_CANCEL_A:
	case SGPU_SOFTWARE_FAULT_CANCEL_B:
		return SGPU_NEXT;
	case SGPU_SOFTWARE_FAULT_CANCEL_C:
		return fault_cancel(channel, data);
	default:
		return sgpu_channel_fail(channel, "RM does not do method", method);
	}
}
