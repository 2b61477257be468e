/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Chance, and what it is asked for. */
#include "inject.h"

#define ONE_IN 1000u
#define DELAY_US_MAX 1000000u
#define TURN_MAX 1000000u

void sgpu_inject_init(struct sgpu_inject *inject, uint64_t seed)
{
	memset(inject, 0, sizeof(*inject));
	inject->random = seed ? seed : 1;
}

uint64_t sgpu_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* Not given in one of 1,000: a time or a count. */
static bool is_amount(uint32_t kind)
{
	return kind == SGPU_INJECT_INTERRUPT_LATE || kind == SGPU_INJECT_COPY_SLOW ||
	       kind == SGPU_INJECT_FAULT_LIMIT;
}

/* Its value names one occasion. */
static bool is_once(uint32_t kind)
{
	return kind == SGPU_INJECT_REPLAY_LOST_AT || kind == SGPU_INJECT_INVALIDATE_LOST_AT;
}

static uint32_t value_max(uint32_t kind)
{
	if (kind == SGPU_INJECT_FAULT_LIMIT)
		return UINT32_MAX;
	if (is_once(kind))
		return TURN_MAX;
	return is_amount(kind) ? DELAY_US_MAX : ONE_IN;
}

int sgpu_inject_set(struct sgpu_inject *inject, uint32_t kind, uint32_t value)
{
	if (kind >= SGPU_INJECT_COUNT || value > value_max(kind))
		return -EINVAL;
	inject->values[kind] = value;
	return 0;
}

bool sgpu_inject_now(struct sgpu_inject *inject, enum sgpu_inject_kind kind)
{
	uint64_t dice;
	bool is_now;

	/* What is off leaves the other kinds' dice as they fall without it. */
	if ((uint32_t)kind >= SGPU_INJECT_COUNT || is_amount(kind) || !inject->values[kind])
		return false;
	if (is_once(kind)) {
		/* One occasion less until its own; 0 is off again. */
		is_now = --inject->values[kind] == 0;
	} else {
		dice = (sgpu_random(&inject->random) >> 32) * ONE_IN >> 32;
		is_now = dice < inject->values[kind];
	}
	inject->done[kind] += is_now;
	return is_now;
}
