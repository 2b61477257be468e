/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The parts put together. */
#include "gpu.h"

/* Of a step; small enough that what a driver's thread waits for comes soon. */
#define CHANNEL_METHODS 256
#define SM_INSTRUCTIONS 1024

#define NS_PER_US 1000ull
#define WARPS_PER_SM_MAX 1024
#define FAULT_COUNT_MAX (1u << 20) /* PUT and GET have 20 bits for it */

/* The uTLB's client within its GPC: T1_0 (nvidia-uvm, hwref/turing/tu102/dev_fault.h). */
#define CLIENT_T1_0 0

static uint32_t params_utlbs(const struct sgpu_params *params)
{
	return (params->sms + params->sms_per_utlb - 1) / params->sms_per_utlb;
}

static bool params_are_good(const struct sgpu_params *params)
{
	if (!params->bus.vidmem || !params->bus.sysmem_at || !params->fault_packets)
		return false;
	if (params->sms == 0 || params->sms > SGPU_SMS_MAX || params->sms_per_utlb == 0 ||
	    params->sms_per_utlb > SGPU_SMS_MAX || params_utlbs(params) > SGPU_UTLBS_MAX)
		return false;
	if (params->warps_per_sm == 0 || params->warps_per_sm > WARPS_PER_SM_MAX ||
	    params->faults_per_utlb == 0)
		return false;
	/* A ring of one packet is full when it is empty. */
	return params->fault_count >= 2 && params->fault_count <= FAULT_COUNT_MAX &&
	       (params->fault_count & (params->fault_count - 1)) == 0;
}

int sgpu_gpu_init(struct sgpu_gpu *gpu, const struct sgpu_params *params)
{
	uint32_t i;

	if (!params_are_good(params))
		return -EINVAL;
	memset(gpu, 0, sizeof(*gpu));
	gpu->p = *params;
	gpu->bus = params->bus;
	/* Seeds that differ in one bit shall not begin alike; the state is never 0. */
	gpu->random = (params->seed ^ 0x9e3779b97f4a7c15ull) | 1ull << 63;
	for (i = 0; i < 8; i++)
		sgpu_random(&gpu->random);
	for (i = 0; i < params->sms; i++)
		gpu->sms[i].utlb = i / params->sms_per_utlb;
	gpu->utlb_count = params_utlbs(params);
	for (i = 0; i < gpu->utlb_count; i++) {
		gpu->utlbs[i].gpc = i;
		gpu->utlbs[i].client = CLIENT_T1_0;
		sgpu_tlb_init(&gpu->utlbs[i].tlb, sgpu_random(&gpu->random));
	}
	sgpu_tlb_init(&gpu->hub_tlb, sgpu_random(&gpu->random));
	sgpu_inject_init(&gpu->inject, sgpu_random(&gpu->random));
	sgpu_fault_buffer_init(&gpu->faults, params->fault_packets, params->fault_count);
	return 0;
}

/* --- lists ------------------------------------------------------------------ */

void sgpu_gpu_add_vas(struct sgpu_gpu *gpu, struct sgpu_vas *vas)
{
	vas->next = gpu->vas_list;
	gpu->vas_list = vas;
}

void sgpu_gpu_remove_vas(struct sgpu_gpu *gpu, struct sgpu_vas *vas)
{
	struct sgpu_vas **link = &gpu->vas_list;

	while (*link && *link != vas)
		link = &(*link)->next;
	if (*link)
		*link = vas->next;
	vas->next = NULL;
}

void sgpu_gpu_add_channel(struct sgpu_gpu *gpu, struct sgpu_channel *channel)
{
	channel->next = gpu->channels;
	gpu->channels = channel;
}

void sgpu_gpu_remove_channel(struct sgpu_gpu *gpu, struct sgpu_channel *channel)
{
	struct sgpu_channel **link = &gpu->channels;

	while (*link && *link != channel)
		link = &(*link)->next;
	if (*link)
		*link = channel->next;
	channel->next = NULL;
}

/* --- TLBs and counters ------------------------------------------------------ */

void sgpu_gpu_invalidate(struct sgpu_gpu *gpu, const struct sgpu_tlb_range *range)
{
	bool is_lost = sgpu_inject_now(&gpu->inject, SGPU_INJECT_INVALIDATE_LOST);
	uint32_t i;

	/* Each counts, also one that is lost already. */
	is_lost |= sgpu_inject_now(&gpu->inject, SGPU_INJECT_INVALIDATE_LOST_AT);
	gpu->counters.invalidates++;
	if (is_lost)
		return;
	for (i = 0; i < gpu->utlb_count; i++)
		gpu->counters.invalidated += sgpu_tlb_invalidate(&gpu->utlbs[i].tlb, range);
	gpu->counters.invalidated += sgpu_tlb_invalidate(&gpu->hub_tlb, range);
}

void sgpu_gpu_counters(const struct sgpu_gpu *gpu, struct sgpu_counters *counters_out)
{
	uint32_t i;

	*counters_out = gpu->counters;
	counters_out->tlb_hits = gpu->hub_tlb.hits;
	counters_out->tlb_misses = gpu->hub_tlb.misses;
	for (i = 0; i < gpu->utlb_count; i++) {
		counters_out->tlb_hits += gpu->utlbs[i].tlb.hits;
		counters_out->tlb_misses += gpu->utlbs[i].tlb.misses;
	}
	counters_out->faults = gpu->faults.written;
	counters_out->faults_dropped = gpu->faults.dropped;
	counters_out->overflows = gpu->faults.overflows;
	for (i = 0; i < SGPU_INJECT_COUNT; i++)
		counters_out->injected[i] = gpu->inject.done[i];
}

/* --- a step ----------------------------------------------------------------- */

/* The buffer's pulse, less or more of it, or later.  Return: how many are delivered now. */
static uint32_t gpu_interrupts(struct sgpu_gpu *gpu, uint64_t now_ns)
{
	uint32_t late_us = gpu->inject.values[SGPU_INJECT_INTERRUPT_LATE];
	uint32_t pulses = sgpu_fault_poll(&gpu->faults);

	if (pulses && sgpu_inject_now(&gpu->inject, SGPU_INJECT_INTERRUPT_LOST))
		pulses = 0;
	if (pulses && sgpu_inject_now(&gpu->inject, SGPU_INJECT_INTERRUPT_DOUBLED))
		pulses = 2;
	if (pulses && late_us) {
		gpu->inject.done[SGPU_INJECT_INTERRUPT_LATE]++;
		/* Those that come while one is due come with it. */
		if (!gpu->interrupts_due)
			gpu->interrupt_at_ns = now_ns + late_us * NS_PER_US;
		gpu->interrupts_due += pulses;
		pulses = 0;
	}
	if (gpu->interrupts_due && now_ns >= gpu->interrupt_at_ns) {
		pulses += gpu->interrupts_due;
		gpu->interrupts_due = 0;
	}
	gpu->counters.interrupts += pulses;
	return pulses;
}

static void step_wants(struct sgpu_step *step, uint64_t at_ns)
{
	if (!step->has_timer || at_ns < step->timer_ns)
		step->timer_ns = at_ns;
	step->has_timer = true;
}

static void gpu_timers(const struct sgpu_gpu *gpu, uint64_t now_ns, struct sgpu_step *step)
{
	const struct sgpu_channel *channel;

	if (gpu->interrupts_due)
		step_wants(step, gpu->interrupt_at_ns);
	for (channel = gpu->channels; channel; channel = channel->next)
		if (!channel->has_failed && channel->stalled_until_ns > now_ns)
			step_wants(step, channel->stalled_until_ns);
}

void sgpu_gpu_step(struct sgpu_gpu *gpu, uint64_t now_ns, struct sgpu_step *step_out)
{
	struct sgpu_step step = { 0 };
	struct sgpu_channel *channel;

	/* At once: a driver that reads high, low, high again sees no mixture. */
	sgpu_store64(gpu->time, now_ns);
	gpu->faults.limit = gpu->inject.values[SGPU_INJECT_FAULT_LIMIT];
	for (channel = gpu->channels; channel; channel = channel->next)
		step.work += sgpu_channel_step(channel, now_ns, CHANNEL_METHODS);
	step.work += sgpu_sm_step(gpu, now_ns, SM_INSTRUCTIONS);
	step.interrupts = gpu_interrupts(gpu, now_ns);
	gpu_timers(gpu, now_ns, &step);
	*step_out = step;
}
