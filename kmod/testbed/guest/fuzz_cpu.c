/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "fuzz_run.h"

static uint64_t load(const uint8_t *at, uint8_t width)
{
	switch (width) {
	case 1:
		return __atomic_load_n(at, __ATOMIC_ACQUIRE);
	case 2:
		return __atomic_load_n((const uint16_t *)(const void *)at, __ATOMIC_ACQUIRE);
	case 4:
		return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
	default:
		return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
	}
}

static void store(uint8_t *at, uint8_t width, uint64_t value)
{
	switch (width) {
	case 1:
		__atomic_store_n(at, (uint8_t)value, __ATOMIC_RELEASE);
		break;
	case 2:
		__atomic_store_n((uint16_t *)(void *)at, (uint16_t)value, __ATOMIC_RELEASE);
		break;
	case 4:
		__atomic_store_n((uint32_t *)(void *)at, (uint32_t)value, __ATOMIC_RELEASE);
		break;
	default:
		__atomic_store_n((uint64_t *)(void *)at, value, __ATOMIC_RELEASE);
	}
}

/* ADD and COUNT, EXCHANGE, COMPARE.  Return: what was there. */
static uint64_t atomic32(const struct fuzz_op *op, uint8_t *at, uint32_t value)
{
	uint32_t *const word = (uint32_t *)(void *)at;
	uint32_t was = (uint32_t)op->compare;

	if (op->kind == FUZZ_EXCHANGE)
		return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
	if (op->kind != FUZZ_COMPARE)
		return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(word, &was, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return was;
}

static uint64_t atomic64(const struct fuzz_op *op, uint8_t *at, uint64_t value)
{
	uint64_t *const word = (uint64_t *)(void *)at;
	uint64_t was = op->compare;

	if (op->kind == FUZZ_EXCHANGE)
		return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
	if (op->kind != FUZZ_COMPARE)
		return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(word, &was, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return was;
}

static uint64_t atomic(const struct fuzz_op *op, uint8_t *at, uint64_t value)
{
	return op->width == 4 ? atomic32(op, at, (uint32_t)value) : atomic64(op, at, value);
}

/* What a lane's access saw.  @is_good_out: that it is within what it wants. */
static uint64_t do_lane(const struct fuzz_op *op, uint8_t *at, uint32_t lane, bool *is_good_out)
{
	const uint64_t value = fuzz_cut(op->value + lane * op->step, op->width);
	const uint64_t want = op->want[lane];
	uint64_t got = want, again;

	*is_good_out = true;
	switch (op->kind) {
	case FUZZ_STORE:
	case FUZZ_SEQUENCE:
		store(at, op->width, value);
		break;
	case FUZZ_COUNT:
		atomic(op, at, value);
		break;
	case FUZZ_LOAD:
	case FUZZ_LOAD_CONSTANT:
		got = load(at, op->width);
		*is_good_out = got == want;
		break;
	case FUZZ_ADD:
	case FUZZ_EXCHANGE:
	case FUZZ_COMPARE:
		got = atomic(op, at, value);
		*is_good_out = got == want;
		break;
	case FUZZ_LOAD_SEQUENCE:
		got = load(at, op->width);
		again = load(at, op->width);
		*is_good_out = want <= got && got <= again && again <= op->most;
		break;
	case FUZZ_LOAD_COUNTER:
		got = load(at, op->width);
		*is_good_out = want <= got;
		break;
	case FUZZ_PREFETCH:
	case FUZZ_KINDS:
		__builtin_prefetch(at);
		break;
	}
	return got;
}

void fuzz_cpu_op(const struct fuzz_op *op, uint8_t *memory, struct fuzz_miss *miss)
{
	for (uint32_t lane = 0; lane < FUZZ_LANES; lane++) {
		bool is_good;
		uint64_t got;

		if ((op->lanes >> lane & 1) == 0)
			continue;
		got = do_lane(op, memory + op->at + lane * op->stride, lane, &is_good);
		if (!is_good && !miss->is_there)
			*miss = (struct fuzz_miss){
				.is_there = true,
				.op = *op,
				.lane = lane,
				.got = got,
				.want = op->want[lane],
			};
	}
}
