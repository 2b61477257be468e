/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "fuzz_plan.h"

#include <errno.h>
#include <stdlib.h>

#include "testbed.h"

#define CLASS_SEQUENCES 64u
#define CLASS_THREADS 128u
#define CLASS_THREAD_SEQUENCES 136u
#define CLASS_COUNTERS 144u
#define CLASS_CONSTANTS 160u

#define LONGEST_STRIDE_LOG 6 /* rows: lanes then are 128 KiB apart */
#define HOT_ROWS 64

static uint64_t below(struct fuzz_plan *plan, uint64_t bound)
{
	return testbed_random(&plan->random) % bound;
}

uint64_t fuzz_cut(uint64_t value, uint8_t width)
{
	return width == 8 ? value : value & ((1ull << width * 8) - 1);
}

const char *fuzz_kind_name(enum fuzz_kind kind)
{
	static const char *const names[] = {
		[FUZZ_STORE] = "store",
		[FUZZ_LOAD] = "load",
		[FUZZ_ADD] = "add",
		[FUZZ_EXCHANGE] = "exchange",
		[FUZZ_COMPARE] = "compare and swap",
		[FUZZ_SEQUENCE] = "store of a sequence number",
		[FUZZ_LOAD_SEQUENCE] = "load of a sequence number",
		[FUZZ_COUNT] = "count",
		[FUZZ_LOAD_COUNTER] = "load of a counter",
		[FUZZ_LOAD_CONSTANT] = "load of a constant",
		[FUZZ_PREFETCH] = "prefetch",
	};

	return kind < FUZZ_KINDS ? names[kind] : "nothing";
}

static uint32_t private_class(uint32_t owner)
{
	return owner < FUZZ_WARPS_MAX ? owner : CLASS_THREADS + (owner - FUZZ_WARPS_MAX);
}

static uint32_t sequence_class(uint32_t owner)
{
	if (owner < FUZZ_WARPS_MAX)
		return CLASS_SEQUENCES + owner;
	return CLASS_THREAD_SEQUENCES + (owner - FUZZ_WARPS_MAX);
}

/* Different in each word, and the same step from lane to lane. */
uint64_t fuzz_constant(uint64_t index)
{
	return 0xc0000000000 + index * 3;
}

bool fuzz_is_constant(uint64_t index)
{
	const uint64_t class = index % FUZZ_CLASSES;

	return class >= CLASS_CONSTANTS && class < CLASS_CONSTANTS + FUZZ_CONSTANTS;
}

uint64_t fuzz_plan_expected(const struct fuzz_plan *plan, uint64_t index)
{
	return fuzz_is_constant(index) ? fuzz_constant(index) : plan->now[index];
}

int fuzz_plan_create(struct fuzz_plan *plan, const struct fuzz_plan_params *params)
{
	const uint64_t bytes = params->bytes, rows = bytes / FUZZ_ROW_BYTES;

	if (rows < HOT_ROWS || (bytes & (bytes - 1)) != 0)
		return -EINVAL;
	if (params->warps > FUZZ_WARPS_MAX || params->threads > FUZZ_THREADS_MAX ||
	    params->warps + params->threads == 0)
		return -EINVAL;
	*plan = (struct fuzz_plan){
		.rows = rows,
		/* Neighbouring seeds must not begin alike, and 0 is no state. */
		.random = (params->seed + 1) * 0x9e3779b97f4a7c15ull | 1,
		.warps = params->warps,
		.threads = params->threads,
		/* A word changes once a round; this is more than a round has accesses. */
		.changed_most = rows * FUZZ_CLASSES,
	};
	plan->now = calloc(rows * FUZZ_CLASSES, sizeof(uint64_t));
	plan->before = calloc(rows * FUZZ_CLASSES, sizeof(uint64_t));
	plan->changed = calloc(plan->changed_most, sizeof(uint64_t));
	if (plan->now == NULL || plan->before == NULL || plan->changed == NULL) {
		fuzz_plan_destroy(plan);
		return -ENOMEM;
	}
	fuzz_plan_round(plan);
	return 0;
}

void fuzz_plan_destroy(struct fuzz_plan *plan)
{
	free(plan->now);
	free(plan->before);
	free(plan->changed);
	*plan = (struct fuzz_plan){ .rows = 0 };
}

void fuzz_plan_round(struct fuzz_plan *plan)
{
	while (plan->changed_count > 0) {
		const uint64_t index = plan->changed[--plan->changed_count];

		plan->before[index] = plan->now[index];
	}
	for (uint32_t owner = 0; owner < FUZZ_OWNERS_MAX; owner++)
		plan->sequence[owner] = 0;
	plan->round++;
	plan->hot_row = below(plan, plan->rows - HOT_ROWS + 1);
}

bool fuzz_plan_sample(struct fuzz_plan *plan, uint64_t *index_out)
{
	if (plan->changed_count == 0)
		return false;
	*index_out = plan->changed[below(plan, plan->changed_count)];
	return true;
}

void fuzz_plan_forget(struct fuzz_plan *plan, uint64_t at, uint64_t bytes)
{
	for (uint64_t index = at / 8; index < (at + bytes) / 8; index++) {
		plan->now[index] = 0;
		plan->before[index] = 0;
	}
}

static void set_now(struct fuzz_plan *plan, uint64_t index, uint64_t word)
{
	if (plan->now[index] == plan->before[index] && word != plan->now[index]) {
		if (plan->changed_count == plan->changed_most)
			abort(); /* a round of so many accesses does not fit a program */
		plan->changed[plan->changed_count++] = index;
	}
	plan->now[index] = word;
}

/* ---- where ------------------------------------------------------------------ */

static uint32_t choose_lanes(struct fuzz_plan *plan)
{
	uint32_t lanes;

	switch (below(plan, 4)) {
	case 0:
		return UINT32_MAX;
	case 1:
		return 1u << below(plan, FUZZ_LANES);
	default:
		lanes = (uint32_t)(testbed_random(&plan->random) >> 32) &
			(uint32_t)(testbed_random(&plan->random) >> 32);
		return lanes != 0 ? lanes : 1;
	}
}

/* Lanes, their rows, their first byte: all in words of @class. */
static void choose_place(struct fuzz_plan *plan, uint32_t class, struct fuzz_op *op)
{
	const uint64_t log = below(plan, LONGEST_STRIDE_LOG + 1);
	uint64_t span, row;

	op->lanes = choose_lanes(plan);
	op->stride = FUZZ_ROW_BYTES << log;
	span = (FUZZ_LANES - 1ull) << log;
	if (span >= plan->rows) {
		op->stride = FUZZ_ROW_BYTES;
		span = FUZZ_LANES - 1;
	}
	if (below(plan, 2) == 0)
		row = plan->hot_row + below(plan, HOT_ROWS);
	else
		row = below(plan, plan->rows);
	if (row + span >= plan->rows)
		row = plan->rows - 1 - span;
	op->at = row * FUZZ_ROW_BYTES + class * 8;
}

/* A width, and which of the word's bytes. */
static void choose_width(struct fuzz_plan *plan, struct fuzz_op *op, uint8_t least)
{
	do {
		op->width = (uint8_t)(1u << below(plan, 4));
	} while (op->width < least);
	op->at += below(plan, 8 / op->width) * op->width;
}

static uint64_t lane_at(const struct fuzz_op *op, uint32_t lane)
{
	return op->at + lane * op->stride;
}

/* What memory holds there, as an access of this width sees it. */
static uint64_t part_of(uint64_t word, uint64_t at, uint8_t width)
{
	return fuzz_cut(word >> at % 8 * 8, width);
}

static uint64_t with_part(uint64_t word, uint64_t at, uint8_t width, uint64_t value)
{
	const uint64_t mask = fuzz_cut(UINT64_MAX, width) << at % 8 * 8;

	return (word & ~mask) | (fuzz_cut(value, width) << at % 8 * 8);
}

static void remember(struct fuzz_recent *recent, const struct fuzz_op *op)
{
	recent->places[recent->count++ % FUZZ_RECENT] = (struct fuzz_place){
		.lanes = op->lanes,
		.at = op->at - op->at % 8,
		.stride = op->stride,
	};
}

/* Three of four times where its owner wrote lately, so that a write that got lost is missed. */
static void choose_again(struct fuzz_plan *plan, const struct fuzz_recent *recent, uint32_t class,
			 struct fuzz_op *op)
{
	const uint32_t count = recent->count < FUZZ_RECENT ? recent->count : FUZZ_RECENT;
	const struct fuzz_place *place;

	if (count == 0 || below(plan, 4) == 0) {
		choose_place(plan, class, op);
		return;
	}
	place = &recent->places[below(plan, count)];
	op->lanes = place->lanes;
	op->at = place->at;
	op->stride = place->stride;
}

/* ---- what ------------------------------------------------------------------- */

static void choose_value(struct fuzz_plan *plan, struct fuzz_op *op)
{
	op->value = testbed_random(&plan->random);
	op->step = below(plan, 2) == 0 ? 0 : below(plan, 1000) + 1;
}

static uint64_t lane_value(const struct fuzz_op *op, uint32_t lane)
{
	return fuzz_cut(op->value + lane * op->step, op->width);
}

static uint64_t stored(const struct fuzz_op *op, uint64_t was, uint32_t lane)
{
	switch (op->kind) {
	case FUZZ_ADD:
		return fuzz_cut(was + lane_value(op, lane), op->width);
	case FUZZ_COMPARE:
		return was == op->compare ? lane_value(op, lane) : was;
	case FUZZ_LOAD:
		return was;
	default:
		return lane_value(op, lane);
	}
}

static void plan_private(struct fuzz_plan *plan, uint32_t owner, struct fuzz_op *op)
{
	if (op->kind == FUZZ_STORE)
		choose_place(plan, private_class(owner), op);
	else
		choose_again(plan, &plan->written[owner], private_class(owner), op);
	if (op->kind != FUZZ_LOAD)
		remember(&plan->written[owner], op);
	choose_width(plan, op, op->kind == FUZZ_STORE || op->kind == FUZZ_LOAD ? 1 : 4);
	choose_value(plan, op);
	/* One that hits in a lane, often in all: stores without a step are frequent. */
	op->compare = part_of(plan->now[lane_at(op, (uint32_t)__builtin_ctz(op->lanes)) / 8],
			      op->at, op->width);
	for (uint32_t lane = 0; lane < FUZZ_LANES; lane++) {
		const uint64_t at = lane_at(op, lane);
		uint64_t word;

		if ((op->lanes >> lane & 1) == 0)
			continue;
		word = plan->now[at / 8];
		op->want[lane] = part_of(word, at, op->width);
		set_now(plan, at / 8,
			with_part(word, at, op->width, stored(op, op->want[lane], lane)));
	}
}

static void plan_sequence(struct fuzz_plan *plan, uint32_t owner, struct fuzz_op *op)
{
	choose_place(plan, sequence_class(owner), op);
	remember(&plan->numbered[owner], op);
	op->width = 8;
	op->value = plan->round << FUZZ_SEQUENCE_BITS | ++plan->sequence[owner];
	for (uint32_t lane = 0; lane < FUZZ_LANES; lane++) {
		if (op->lanes >> lane & 1)
			set_now(plan, lane_at(op, lane) / 8, op->value);
	}
}

static void plan_others(struct fuzz_plan *plan, struct fuzz_op *op)
{
	const uint64_t other = below(plan, plan->warps + plan->threads);
	const uint64_t owner = other < plan->warps ? other : FUZZ_WARPS_MAX + other - plan->warps;

	choose_again(plan, &plan->numbered[owner], sequence_class((uint32_t)owner), op);
	op->width = 8;
	op->most = (plan->round + 1) << FUZZ_SEQUENCE_BITS;
	for (uint32_t lane = 0; lane < FUZZ_LANES; lane++)
		op->want[lane] = op->lanes >> lane & 1 ? plan->before[lane_at(op, lane) / 8] : 0;
}

/* Counters in rows with an odd index have 32 bits. */
static void plan_counter(struct fuzz_plan *plan, struct fuzz_op *op)
{
	choose_place(plan, CLASS_COUNTERS + (uint32_t)below(plan, FUZZ_COUNTERS), op);
	if (op->stride == FUZZ_ROW_BYTES)
		op->stride = 0; /* all lanes on one */
	op->width = op->at / FUZZ_ROW_BYTES % 2 == 0 ? 8 : 4;
	op->value = below(plan, 100) + 1;
	for (uint32_t lane = 0; lane < FUZZ_LANES; lane++) {
		const uint64_t index = lane_at(op, lane) / 8;

		if ((op->lanes >> lane & 1) == 0)
			continue;
		op->want[lane] = plan->before[index];
		if (op->kind == FUZZ_COUNT)
			set_now(plan, index, fuzz_cut(plan->now[index] + op->value, op->width));
	}
}

static void plan_constant(struct fuzz_plan *plan, struct fuzz_op *op)
{
	choose_place(plan, CLASS_CONSTANTS + (uint32_t)below(plan, FUZZ_CONSTANTS), op);
	choose_width(plan, op, 1);
	for (uint32_t lane = 0; lane < FUZZ_LANES; lane++)
		op->want[lane] = part_of(fuzz_constant(lane_at(op, lane) / 8), op->at, op->width);
}

/* Of 32: how often each kind is chosen. */
static enum fuzz_kind choose_kind(struct fuzz_plan *plan)
{
	static const uint8_t shares[FUZZ_KINDS] = {
		[FUZZ_STORE] = 6,         [FUZZ_LOAD] = 7,     [FUZZ_ADD] = 1,
		[FUZZ_EXCHANGE] = 1,      [FUZZ_COMPARE] = 2,  [FUZZ_SEQUENCE] = 4,
		[FUZZ_LOAD_SEQUENCE] = 4, [FUZZ_COUNT] = 3,    [FUZZ_LOAD_COUNTER] = 1,
		[FUZZ_LOAD_CONSTANT] = 2, [FUZZ_PREFETCH] = 1,
	};
	uint64_t rest = below(plan, 32);
	uint32_t kind = 0;

	while (rest >= shares[kind])
		rest -= shares[kind++];
	return (enum fuzz_kind)kind;
}

void fuzz_plan_op(struct fuzz_plan *plan, uint32_t owner, struct fuzz_op *op_out)
{
	struct fuzz_op op = { .kind = choose_kind(plan) };

	switch (op.kind) {
	case FUZZ_STORE:
	case FUZZ_LOAD:
	case FUZZ_ADD:
	case FUZZ_EXCHANGE:
	case FUZZ_COMPARE:
		plan_private(plan, owner, &op);
		break;
	case FUZZ_SEQUENCE:
		plan_sequence(plan, owner, &op);
		break;
	case FUZZ_LOAD_SEQUENCE:
		plan_others(plan, &op);
		break;
	case FUZZ_COUNT:
	case FUZZ_LOAD_COUNTER:
		plan_counter(plan, &op);
		break;
	case FUZZ_LOAD_CONSTANT:
	case FUZZ_PREFETCH:
	case FUZZ_KINDS:
		plan_constant(plan, &op);
		break;
	}
	*op_out = op;
}
