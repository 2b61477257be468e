/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Random accesses of many owners to one memory, and the oracle that knows what each must see.
 *
 * An owner is a warp or a thread of the CPU.  The memory's 8-byte words are dealt out by their
 * index modulo FUZZ_CLASSES, so each 4 KiB page has words of every owner and is falsely shared
 * by all of them:
 *
 *	class	  0..63	   64..127    128..135	136..143    144..159	 160..191
 *	of	  warps	   warps      threads	threads	    all		 nobody
 *	holds	  private  sequences  private	sequences   counters	 constants
 *
 * private	read, written and exchanged by their owner alone, at all widths: a read must give
 *		exactly what the program's order says
 * sequences	written by their owner with numbers that grow; others check that what they read is
 *		no older than the round's begin, from no later round, and never falls
 * counters	anyone adds; nobody sees less than at the round's begin; in the end the sums match
 * constants	written once before the GPUs; everyone reads
 *
 * The oracle is flat memory: one array for what the plan made so far leads to, one for the state
 * at the begin of the round.  All owners of a round run at the same time, in any order; between
 * rounds all of them stand.  Nothing here accesses the memory itself.
 *
 * No locking: one thread plans.
 */
#ifndef WIC_KMOD_TESTBED_GUEST_FUZZ_PLAN_H
#define WIC_KMOD_TESTBED_GUEST_FUZZ_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_CLASSES 256
#define FUZZ_ROW_BYTES (FUZZ_CLASSES * 8u) /* a word of each class */
#define FUZZ_WARPS_MAX 64
#define FUZZ_THREADS_MAX 8
#define FUZZ_OWNERS_MAX (FUZZ_WARPS_MAX + FUZZ_THREADS_MAX) /* warps first */
#define FUZZ_COUNTERS 16
#define FUZZ_CONSTANTS 32
#define FUZZ_LANES 32
#define FUZZ_RECENT 8         /* places that an owner wrote last, and that are read again */
#define FUZZ_SEQUENCE_BITS 20 /* of a sequence number: within its round */

enum fuzz_kind {
	FUZZ_STORE = 0,     /* private words = value */
	FUZZ_LOAD,          /* private words must be want */
	FUZZ_ADD,           /* private words, atomically: were want; += value */
	FUZZ_EXCHANGE,      /* were want; = value */
	FUZZ_COMPARE,       /* were want; = value, if they were compare */
	FUZZ_SEQUENCE,      /* the owner's sequence words = value */
	FUZZ_LOAD_SEQUENCE, /* someone's, twice: want <= first <= second <= most */
	FUZZ_COUNT,         /* counters += value */
	FUZZ_LOAD_COUNTER,  /* want <= them */
	FUZZ_LOAD_CONSTANT, /* must be want */
	FUZZ_PREFETCH,      /* asks, and does not wait */
	FUZZ_KINDS
};

/* One access of up to 32 lanes. */
struct fuzz_op {
	enum fuzz_kind kind;
	uint8_t width;    /* bytes: 1, 2, 4, 8; atomics 4, 8 */
	uint32_t lanes;   /* mask, not 0 */
	uint64_t at;      /* of lane 0: offset into the memory */
	uint64_t stride;  /* bytes from lane to lane: 0, or a power of two */
	uint64_t value;   /* of lane 0 */
	uint64_t step;    /* lane l takes value + l * step, cut to width */
	uint64_t compare; /* all lanes' */
	uint64_t most;    /* all lanes' */
	uint64_t want[FUZZ_LANES];
};

/* Where an owner wrote: lanes, and of lane 0 the word. */
struct fuzz_place {
	uint32_t lanes;
	uint64_t at, stride;
};

/* The last of them, in a ring. */
struct fuzz_recent {
	uint32_t count; /* ever */
	struct fuzz_place places[FUZZ_RECENT];
};

/* What a plan is for. */
struct fuzz_plan_params {
	uint64_t bytes;   /* of the memory; a power of two, at least 64 rows */
	uint64_t seed;    /* any */
	uint32_t warps;   /* at most FUZZ_WARPS_MAX */
	uint32_t threads; /* at most FUZZ_THREADS_MAX */
};

struct fuzz_plan {
	uint64_t rows;   /* of FUZZ_ROW_BYTES that the memory has; a power of two, at least 64 */
	uint64_t random; /* the generator's state */
	uint32_t warps, threads;
	uint64_t round;                     /* from 1 */
	uint64_t hot_row;                   /* many accesses of this round go near it */
	uint64_t sequence[FUZZ_OWNERS_MAX]; /* last numbers given in this round */
	struct fuzz_recent written[FUZZ_OWNERS_MAX], numbered[FUZZ_OWNERS_MAX];
	uint64_t *now, *before; /* owned: rows * FUZZ_CLASSES words */
	uint64_t *changed;      /* owned: indices of words that differ */
	uint64_t changed_count, changed_most;
};

/*
 * fuzz_plan_create - a plan for a memory of zeros
 *
 * Return: 0; -EINVAL: the sizes; -ENOMEM.
 */
int fuzz_plan_create(struct fuzz_plan *plan, const struct fuzz_plan_params *params);
void fuzz_plan_destroy(struct fuzz_plan *plan);

/* Opens the next round: what was planned has happened. */
void fuzz_plan_round(struct fuzz_plan *plan);

/*
 * fuzz_plan_op - the next access of an owner in this round
 * @owner: a warp's index, or FUZZ_WARPS_MAX + a thread's
 * @op_out: written, and the oracle goes on as if it were done
 */
void fuzz_plan_op(struct fuzz_plan *plan, uint32_t owner, struct fuzz_op *op_out);

/* Between rounds: the bytes of [@at, @at + @bytes) became zeros; both multiples of 8. */
void fuzz_plan_forget(struct fuzz_plan *plan, uint64_t at, uint64_t bytes);

/*
 * fuzz_plan_sample - a word that this round's accesses changed
 * @index_out: of it, at random; untouched if there is none
 *
 * Return: whether there is one.
 */
bool fuzz_plan_sample(struct fuzz_plan *plan, uint64_t *index_out);

/* What constant word @index, of the memory, holds; the writer tells the oracle nothing. */
uint64_t fuzz_constant(uint64_t index);
bool fuzz_is_constant(uint64_t index);

/*
 * fuzz_plan_expected - what a word of the memory must be between rounds
 * Return: false: no owner ever writes words of its class; they are 0.
 */
uint64_t fuzz_plan_expected(const struct fuzz_plan *plan, uint64_t index);

/* The bits of a value that @width bytes have. */
uint64_t fuzz_cut(uint64_t value, uint8_t width);

/* A kind's name in messages. */
const char *fuzz_kind_name(enum fuzz_kind kind);

#endif
