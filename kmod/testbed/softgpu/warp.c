/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* An instruction of a warp: registers, memory, faults. */
#include "warp.h"

#include "gpu.h"

/* One try of a memory instruction. */
struct attempt {
	struct sgpu_gpu *gpu;
	struct sgpu_warp *warp;
	struct sgpu_utlb *utlb;
	const struct sgpu_insn *insn;
	uint64_t now_ns;
	enum sgpu_access access;
	uint32_t failed;           /* lanes */
	uint8_t types[SGPU_LANES]; /* of those: enum sgpu_fault_type */
};

static const struct sgpu_insn *warp_insn(const struct sgpu_warp *warp)
{
	return &warp->launch->insns[warp->pc];
}

static uint32_t insn_lanes(const struct sgpu_insn *insn)
{
	return insn->lanes ? insn->lanes : ~0u;
}

static bool has_lane(uint32_t lanes, uint32_t lane)
{
	return lanes >> lane & 1;
}

static void warp_retire(struct sgpu_gpu *gpu, struct sgpu_warp *warp, uint32_t next_pc)
{
	gpu->counters.instructions++;
	warp->lanes_done = 0;
	warp->pc = next_pc;
}

void sgpu_warp_pass_barrier(struct sgpu_gpu *gpu, struct sgpu_warp *warp)
{
	warp->state = SGPU_WARP_READY;
	warp_retire(gpu, warp, warp->pc + 1);
}

/* --- memory ----------------------------------------------------------------- */

static uint64_t lane_va(const struct sgpu_warp *warp, const struct sgpu_insn *insn, uint32_t lane)
{
	return warp->registers[insn->ra][lane] + insn->imm;
}

uint32_t sgpu_warp_forget_faults(struct sgpu_gpu *gpu, struct sgpu_warp *warp)
{
	uint32_t count = 0;

	for (; warp->lanes_faulting; count++)
		warp->lanes_faulting &= warp->lanes_faulting - 1;
	gpu->utlbs[gpu->sms[warp->sm].utlb].outstanding -= count;
	return count;
}

bool sgpu_warp_waits_for(const struct sgpu_warp *warp, uint64_t va)
{
	const struct sgpu_insn *insn = warp_insn(warp);
	uint32_t lane;

	/* A lane that waits is not done, so its address is still in its register. */
	for (lane = 0; lane < SGPU_LANES; lane++)
		if (has_lane(warp->lanes_faulting, lane) &&
		    lane_va(warp, insn, lane) / SGPU_PAGE_BYTES == va / SGPU_PAGE_BYTES)
			return true;
	return false;
}

/* What memory does is one access for CPUs and other GPUs; no order with others is promised. */
static uint64_t memory_load(const void *at, uint32_t width)
{
	switch (width) {
	case 1:
		return __atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED);
	case 2:
		return __atomic_load_n((const uint16_t *)at, __ATOMIC_RELAXED);
	case 4:
		return __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED);
	default:
		return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
	}
}

static void memory_store(void *at, uint32_t width, uint64_t value)
{
	switch (width) {
	case 1:
		__atomic_store_n((uint8_t *)at, (uint8_t)value, __ATOMIC_RELAXED);
		break;
	case 2:
		__atomic_store_n((uint16_t *)at, (uint16_t)value, __ATOMIC_RELAXED);
		break;
	case 4:
		__atomic_store_n((uint32_t *)at, (uint32_t)value, __ATOMIC_RELAXED);
		break;
	default:
		__atomic_store_n((uint64_t *)at, value, __ATOMIC_RELAXED);
	}
}

/* @compare: of CAS.  Return: what was there. */
static uint64_t memory_atomic32(uint32_t op, void *at, uint32_t value, uint32_t compare)
{
	if (op == SGPU_OP_ATOMIC_ADD)
		return __atomic_fetch_add((uint32_t *)at, value, __ATOMIC_SEQ_CST);
	if (op == SGPU_OP_ATOMIC_EXCH)
		return __atomic_exchange_n((uint32_t *)at, value, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n((uint32_t *)at, &compare, value, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return compare;
}

static uint64_t memory_atomic64(uint32_t op, void *at, uint64_t value, uint64_t compare)
{
	if (op == SGPU_OP_ATOMIC_ADD)
		return __atomic_fetch_add((uint64_t *)at, value, __ATOMIC_SEQ_CST);
	if (op == SGPU_OP_ATOMIC_EXCH)
		return __atomic_exchange_n((uint64_t *)at, value, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n((uint64_t *)at, &compare, value, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return compare;
}

static void lane_access(const struct attempt *a, uint32_t lane, void *at)
{
	const struct sgpu_insn *insn = a->insn;
	struct sgpu_counters *counters = &a->gpu->counters;
	uint64_t *rd = &a->warp->registers[insn->rd][lane];
	uint64_t value = a->warp->registers[insn->rb][lane];
	uint64_t compare = a->warp->registers[insn->rc][lane];

	if (insn->op == SGPU_OP_LOAD) {
		counters->loads++;
		*rd = memory_load(at, insn->width);
	} else if (insn->op == SGPU_OP_STORE) {
		counters->stores++;
		memory_store(at, insn->width, value);
	} else {
		counters->atomics++;
		if (insn->width == 4)
			*rd = memory_atomic32(insn->op, at, (uint32_t)value, (uint32_t)compare);
		else
			*rd = memory_atomic64(insn->op, at, value, compare);
	}
}

/* Return: 0, or 1 + enum sgpu_fault_type. */
static int lane_try(const struct attempt *a, uint32_t lane)
{
	struct sgpu_tlb_lookup lookup = {
		.bus = &a->gpu->bus,
		.pdb = &a->warp->launch->vas->pdb,
		.va = lane_va(a->warp, a->insn, lane),
		.access = a->access,
	};
	struct sgpu_page page;
	uint64_t left = 0;
	void *at;
	int rc = sgpu_tlb_translate(&a->utlb->tlb, &lookup, &page);

	if (rc)
		return rc;
	if (a->access == SGPU_ACCESS_PREFETCH) {
		a->gpu->counters.prefetches++;
		return 0;
	}
	page.at.address += lookup.va - page.va;
	at = sgpu_bus_at(lookup.bus, page.at, &left);
	if (!at || left < a->insn->width)
		return 1 + SGPU_FAULT_UNSUPPORTED_APERTURE;
	lane_access(a, lane, at);
	return 0;
}

/* Of those lanes that failed on one page, the first. */
static bool is_first_of_page(const struct attempt *a, uint32_t lane)
{
	uint64_t page = lane_va(a->warp, a->insn, lane) / SGPU_PAGE_BYTES;
	uint32_t i;

	for (i = 0; i < lane; i++)
		if (has_lane(a->failed, i) &&
		    lane_va(a->warp, a->insn, i) / SGPU_PAGE_BYTES == page)
			return false;
	return true;
}

static void lane_fault(const struct attempt *a, uint32_t lane)
{
	uint64_t va = lane_va(a->warp, a->insn, lane);
	struct sgpu_fault fault = {
		.instance = a->warp->launch->instance,
		.va = va,
		.time_ns = a->now_ns,
		.type = (enum sgpu_fault_type)a->types[lane],
		.access = a->access,
		.gpc = a->utlb->gpc,
		.client = a->utlb->client,
	};

	a->warp->report.faults++;
	a->warp->report.fault_va = va;
	/* One that was dropped is outstanding all the same: until a replay. */
	sgpu_fault_write(&a->gpu->faults, &fault);
	if (sgpu_inject_now(&a->gpu->inject, SGPU_INJECT_FAULT_REPEATED))
		sgpu_fault_write(&a->gpu->faults, &fault);
}

/* A packet for each page that failed, as long as there is room for it; none if it is filtered. */
static void warp_fault(const struct attempt *a)
{
	uint32_t lane;

	if (a->access == SGPU_ACCESS_PREFETCH && sgpu_fault_filters_prefetches(&a->gpu->faults))
		return;
	for (lane = 0; lane < SGPU_LANES; lane++) {
		if (!has_lane(a->failed, lane) || !is_first_of_page(a, lane))
			continue;
		if (a->utlb->outstanding >= a->gpu->p.faults_per_utlb)
			return;
		lane_fault(a, lane);
		if (a->access != SGPU_ACCESS_PREFETCH) {
			a->utlb->outstanding++;
			a->warp->lanes_faulting |= 1u << lane;
		}
	}
}

static bool is_misaligned(const struct sgpu_warp *warp, const struct sgpu_insn *insn,
			  uint32_t lanes)
{
	uint32_t lane;

	for (lane = 0; lane < SGPU_LANES; lane++)
		if (has_lane(lanes, lane) && lane_va(warp, insn, lane) % insn->width)
			return true;
	return false;
}

static enum sgpu_access insn_access(const struct sgpu_insn *insn)
{
	if (insn->op == SGPU_OP_LOAD)
		return SGPU_ACCESS_READ;
	if (insn->op == SGPU_OP_STORE)
		return SGPU_ACCESS_WRITE;
	return insn->op == SGPU_OP_PREFETCH ? SGPU_ACCESS_PREFETCH : SGPU_ACCESS_ATOMIC;
}

static void warp_memory(struct sgpu_gpu *gpu, struct sgpu_warp *warp, uint64_t now_ns)
{
	struct attempt a = {
		.gpu = gpu,
		.warp = warp,
		.utlb = &gpu->utlbs[gpu->sms[warp->sm].utlb],
		.insn = warp_insn(warp),
		.now_ns = now_ns,
		.access = insn_access(warp_insn(warp)),
	};
	uint32_t wanted = insn_lanes(a.insn) & ~warp->lanes_done;
	uint32_t lane;
	int rc;

	/* Before any lane has had an effect: misaligned lanes fail in the first try. */
	if (a.access != SGPU_ACCESS_PREFETCH && is_misaligned(warp, a.insn, wanted)) {
		warp->state = SGPU_WARP_ILLEGAL;
		return;
	}
	for (lane = 0; lane < SGPU_LANES; lane++) {
		if (!has_lane(wanted, lane))
			continue;
		rc = lane_try(&a, lane);
		if (rc) {
			a.failed |= 1u << lane;
			a.types[lane] = (uint8_t)(rc - 1);
		} else {
			warp->lanes_done |= 1u << lane;
		}
	}
	if (a.failed)
		warp_fault(&a);
	if (!a.failed || a.access == SGPU_ACCESS_PREFETCH) {
		warp_retire(gpu, warp, warp->pc + 1);
		return;
	}
	warp->state = SGPU_WARP_STALLED;
	warp->fault_access = a.access;
}

/* --- registers -------------------------------------------------------------- */

static uint64_t lane_value(const struct sgpu_warp *warp, const struct sgpu_insn *insn,
			   uint32_t lane, uint64_t now_ns)
{
	uint64_t a = warp->registers[insn->ra][lane];
	uint64_t b = warp->registers[insn->rb][lane];

	switch (insn->op) {
	case SGPU_OP_MOV_IMM:
		return insn->imm;
	case SGPU_OP_MOV:
		return a;
	case SGPU_OP_LANE:
		return lane;
	case SGPU_OP_WARP:
		return warp->index;
	case SGPU_OP_BLOCK:
		return warp->index / warp->launch->warps_per_block;
	case SGPU_OP_SM:
		return warp->sm;
	case SGPU_OP_TIME:
		return now_ns;
	case SGPU_OP_ADD:
		return a + b + insn->imm;
	case SGPU_OP_SUB:
		return a - b;
	case SGPU_OP_MUL:
		return a * b;
	case SGPU_OP_AND:
		return a & b;
	case SGPU_OP_OR:
		return a | b;
	case SGPU_OP_XOR:
		return a ^ b;
	case SGPU_OP_SHL:
		return a << (insn->imm & 63);
	default: /* SGPU_OP_SHR */
		return a >> (insn->imm & 63);
	}
}

static void warp_arithmetic(struct sgpu_gpu *gpu, struct sgpu_warp *warp, uint64_t now_ns)
{
	const struct sgpu_insn *insn = warp_insn(warp);
	uint32_t lanes = insn_lanes(insn);
	uint32_t lane;

	for (lane = 0; lane < SGPU_LANES; lane++)
		if (has_lane(lanes, lane))
			warp->registers[insn->rd][lane] = lane_value(warp, insn, lane, now_ns);
	warp_retire(gpu, warp, warp->pc + 1);
}

/* The first lane of the mask in which it does not hold is noted, if it is the warp's first. */
static void warp_expect(struct sgpu_gpu *gpu, struct sgpu_warp *warp)
{
	const struct sgpu_insn *insn = warp_insn(warp);
	struct sgpu_warp_report *report = &warp->report;
	uint64_t a = 0;
	uint64_t b = 0;
	uint32_t lane;

	for (lane = 0; lane < SGPU_LANES; lane++) {
		a = warp->registers[insn->ra][lane];
		b = warp->registers[insn->rb][lane];
		if (has_lane(insn_lanes(insn), lane) &&
		    !(insn->op == SGPU_OP_EXPECT_EQ ? a == b : a <= b))
			break;
	}
	if (lane < SGPU_LANES && report->misses++ == 0) {
		report->miss_pc = warp->pc;
		report->miss_lane = lane;
		report->miss_got = a;
		report->miss_want = b;
	}
	warp_retire(gpu, warp, warp->pc + 1);
}

/* --- control ---------------------------------------------------------------- */

static void warp_jump(struct sgpu_gpu *gpu, struct sgpu_warp *warp)
{
	const struct sgpu_insn *insn = warp_insn(warp);
	uint64_t a = warp->registers[insn->ra][0];
	uint64_t b = warp->registers[insn->rb][0];
	bool is_taken = insn->op == SGPU_OP_JUMP || (insn->op == SGPU_OP_JUMP_EQ && a == b) ||
			(insn->op == SGPU_OP_JUMP_NE && a != b) ||
			(insn->op == SGPU_OP_JUMP_LT && a < b);

	warp_retire(gpu, warp, is_taken ? (uint32_t)insn->imm : warp->pc + 1);
}

/* The first turn says how many there are; 0 takes one as any instruction does. */
static void warp_compute(struct sgpu_gpu *gpu, struct sgpu_warp *warp)
{
	if (warp->compute_left == 0)
		warp->compute_left = warp_insn(warp)->imm;
	if (warp->compute_left > 1) {
		warp->compute_left--;
		return;
	}
	warp->compute_left = 0;
	warp_retire(gpu, warp, warp->pc + 1);
}

void sgpu_warp_turn(struct sgpu_gpu *gpu, struct sgpu_warp *warp, uint64_t now_ns)
{
	switch (warp_insn(warp)->op) {
	case SGPU_OP_EXIT:
		warp_retire(gpu, warp, warp->pc);
		warp->state = SGPU_WARP_EXITED;
		break;
	case SGPU_OP_NOP:
		warp_retire(gpu, warp, warp->pc + 1);
		break;
	case SGPU_OP_LOAD:
	case SGPU_OP_STORE:
	case SGPU_OP_ATOMIC_ADD:
	case SGPU_OP_ATOMIC_EXCH:
	case SGPU_OP_ATOMIC_CAS:
	case SGPU_OP_PREFETCH:
		warp_memory(gpu, warp, now_ns);
		break;
	case SGPU_OP_COMPUTE:
		warp_compute(gpu, warp);
		break;
	case SGPU_OP_BARRIER:
		warp->state = SGPU_WARP_AT_BARRIER;
		break;
	case SGPU_OP_JUMP:
	case SGPU_OP_JUMP_EQ:
	case SGPU_OP_JUMP_NE:
	case SGPU_OP_JUMP_LT:
		warp_jump(gpu, warp);
		break;
	case SGPU_OP_EXPECT_EQ:
	case SGPU_OP_EXPECT_LE:
		warp_expect(gpu, warp);
		break;
	default:
		warp_arithmetic(gpu, warp, now_ns);
	}
}
