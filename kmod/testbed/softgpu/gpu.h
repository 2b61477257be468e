/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The software GPU: memory, channels, SMs, faults, put together; stepped by its owner.
 *
 *            driver's words                        warps' programs
 *                  |                                     |
 *   channel.h: GPFIFO, pushbuffer                 sm.h: SMs, uTLBs, stalls
 *      |           |                                 |            |
 *   host.h     ce.h ------- tlb.h, mmu.h, vas.h ------+        fault.h --> interrupt
 *      |  replay, cancel, invalidate  ^                           ^
 *      +------------------------------+---------------------------+
 *                              bus.h: memory
 *
 * Same inputs, same seed and same clock: same run.  No allocation, no lock, no clock inside.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_GPU_H
#define WIC_KMOD_TESTBED_SOFTGPU_GPU_H

#include "channel.h"
#include "fault.h"
#include "inject.h"
#include "sm.h"
#include "tlb.h"

#define SGPU_SMS_MAX 32
#define SGPU_UTLBS_MAX 16

struct sgpu_params {
	struct sgpu_bus bus;
	uint32_t sms;             /* 1 to SGPU_SMS_MAX */
	uint32_t sms_per_utlb;    /* 1 to SGPU_SMS_MAX; sms / this: at most SGPU_UTLBS_MAX */
	uint32_t warps_per_sm;    /* resident, 1 to 1,024 */
	uint32_t faults_per_utlb; /* outstanding, at least 1 */
	void *fault_packets;      /* fault_count * SGPU_FAULT_BYTES, borrowed */
	uint32_t fault_count;     /* a power of two */
	uint64_t seed;
};

struct sgpu_sm {
	uint32_t utlb;
	uint32_t resident;          /* warps of blocks that have not ended */
	struct sgpu_warp *ready;    /* those that have yet to get a turn in this round */
	struct sgpu_warp *had_turn; /* ready as well, in the next round */
	struct sgpu_warp *stalled;
};

/* The first of GPC 0, the second of GPC 1...: RM must name so many GPCs, of 1 TPC at least. */
struct sgpu_utlb {
	uint32_t gpc, client; /* as fault packets name it */
	uint32_t outstanding; /* faults */
	struct sgpu_tlb tlb;
};

struct sgpu_gpu {
	struct sgpu_params p;
	struct sgpu_bus bus;
	struct sgpu_vas *vas_list;
	struct sgpu_channel *channels;
	struct sgpu_launch *launches;
	struct sgpu_sm sms[SGPU_SMS_MAX];
	struct sgpu_utlb utlbs[SGPU_UTLBS_MAX];
	uint32_t utlb_count;
	struct sgpu_tlb hub_tlb; /* of the host and the copy engines */
	struct sgpu_fault_buffer faults;
	struct sgpu_inject inject;
	struct sgpu_counters counters;
	uint64_t random;
	/* Nanoseconds, low and high: the driver reads them.  Aligned, for they change at once. */
	volatile uint32_t time[2] __attribute__((aligned(8)));
	uint64_t interrupt_at_ns; /* when the late pulses are due, if there are any */
	uint32_t interrupts_due;
	uint32_t sm_next; /* the SM whose turn is next */
	bool may_place;   /* since the last try a launch came, or a block's room was freed */
};

/* What a step found to do. */
struct sgpu_step {
	uint32_t work;       /* methods and instructions that were done */
	uint32_t interrupts; /* call the driver's top half so often, with no lock of the GPU held */
	bool has_timer;      /* something is due at a time although there is no work now */
	uint64_t timer_ns;   /* when */
};

/* Return: 0, or -EINVAL: @params are out of range. */
int sgpu_gpu_init(struct sgpu_gpu *gpu, const struct sgpu_params *params);

/* A round: each channel, the SMs, the interrupt. */
void sgpu_gpu_step(struct sgpu_gpu *gpu, uint64_t now_ns, struct sgpu_step *step_out);

void sgpu_gpu_add_vas(struct sgpu_gpu *gpu, struct sgpu_vas *vas);
/* Its channels and launches are gone already. */
void sgpu_gpu_remove_vas(struct sgpu_gpu *gpu, struct sgpu_vas *vas);
void sgpu_gpu_add_channel(struct sgpu_gpu *gpu, struct sgpu_channel *channel);
void sgpu_gpu_remove_channel(struct sgpu_gpu *gpu, struct sgpu_channel *channel);

/* For host.c: each TLB of the GPU, with what inject.h loses of it; counted as an invalidate. */
void sgpu_gpu_invalidate(struct sgpu_gpu *gpu, const struct sgpu_tlb_range *range);

/* Counters, those that lie elsewhere added up. */
void sgpu_gpu_counters(const struct sgpu_gpu *gpu, struct sgpu_counters *counters_out);

#endif
