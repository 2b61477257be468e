/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * `wic perf`: what one step costs, each against the least that could do it here,
 * measured in the same run, interleaved.
 *
 *	cycle	one whole park/fill/replay cycle through the public API against the
 *		same mechanism in a loop written by hand (perf_bare.c)
 *	hit	request + release with the data on a page here against an acquire
 *		load and a counter's store
 *	latency	publish -> the warp resumes -> its store seen, against a futex wake and
 *		against a thread that spins (perf_latency.c, perf_idle.c)
 *	rate	publishes a second, and latency against offered rate (perf_rate.c)
 *	interference
 *		what waiting warps cost those that compute (perf_interference.c)
 *	engine	the core alone: inputs of the engine and of the pool over pages and
 *		pending requests (perf_engine.c)
 *	record	the recorder on against off, on that cycle and on C_SRS (perf_record.c)
 *	tree	the tree of wic/tree.h over threads (perf_tree.c)
 *	api	calls of the host's over the back-end that does nothing (perf_api.c)
 */
#ifndef WIC_BENCH_PERF_H
#define WIC_BENCH_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <wic/wic.h>

#include "bench/statistics.h"

#define BENCH_PERF_ROWS_MAX 512
/*
 * Requests of a repeat: the pool's usable half holds a page for each, and the ring of
 * releases to the Monitor (4,096) each release.
 */
#define BENCH_PERF_TAGS 4000
/* Bare windows and contexts of WIC alike. */
#define BENCH_PERF_PAGES 16384
#define BENCH_PERF_CLOSE_BATCH 64

struct bench_perf_row {
	const char *test, *backend;
	char name[64]; /* the key "case" */
	double value;
	const char *unit;
	double baseline;
	struct bench_interval ratio;
	char note[192]; /* for people */
};

struct bench_perf_table {
	struct bench_perf_row *rows; /* owned, BENCH_PERF_ROWS_MAX */
	uint32_t count;
};

/* One series of pairs, a pair a repeat. */
struct bench_perf_samples {
	double value[BENCH_REPEATS_MAX];
	double baseline[BENCH_REPEATS_MAX];
};

/* Where the sweeps of `engine` begin and, by default, end: the figures. */
#define BENCH_PERF_PAGES_FIRST 1024u
#define BENCH_PERF_PAGES_LAST (1u << 20)
#define BENCH_PERF_PENDING_FIRST 16u
#define BENCH_PERF_PENDING_LAST 65536u

/* Rates of a load curve at the most. */
#define BENCH_PERF_RATES_MAX 16

struct bench_perf_params {
	const char *backend;
	uint32_t repeats;
	uint32_t tags;    /* cycle: requests of a repeat */
	uint32_t samples; /* latency: wakes a case and repeat; rate: publishes a point, at least */
	uint32_t work;    /* interference: pieces of work a computing warp */
	uint32_t idle_ms; /* latency: how long the Monitor is left idle */
	double rates[BENCH_PERF_RATES_MAX]; /* rate: offered, publishes a second, ascending */
	uint32_t rate_count;
	uint32_t pages_max;     /* engine: the largest pool, at least BENCH_PERF_PAGES_FIRST */
	uint32_t record_events; /* of the contexts; 0: off */
	int size;               /* record: of C_SRS, enum app_size or BENCH_SIZE_AUTO */
	uint32_t pending_max;   /* engine: most pending requests, at least .._PENDING_FIRST */
};

/*
 * The tests.  0, or -errno when something failed or a result was not correct (said
 * why); rows that could be made are in the table.
 */
int bench_perf_cycle(const struct bench_perf_params *p, struct bench_perf_table *t);
int bench_perf_latency(const struct bench_perf_params *p, struct bench_perf_table *t);
int bench_perf_rate(const struct bench_perf_params *p, struct bench_perf_table *t);
int bench_perf_interference(const struct bench_perf_params *p, struct bench_perf_table *t);
int bench_perf_engine(const struct bench_perf_params *p, struct bench_perf_table *t);
int bench_perf_record(const struct bench_perf_params *p, struct bench_perf_table *t);
/* No back-end. */
int bench_perf_tree(const struct bench_perf_params *p, struct bench_perf_table *t);
/* Its back-end is "auto" or "nil". */
int bench_perf_api(const struct bench_perf_params *p, struct bench_perf_table *t);

/* perf_row.c */
int bench_perf_table_init(struct bench_perf_table *t);
void bench_perf_table_fini(struct bench_perf_table *t);
/* A new row without figures; @fmt gives its "case". */
struct bench_perf_row *bench_perf_row_add(struct bench_perf_table *t, const char *test,
					  const char *unit, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void bench_perf_row_note(struct bench_perf_row *row, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Medians times @scale, and the paired ratio. */
void bench_perf_row_finish(struct bench_perf_row *row, const struct bench_perf_samples *s,
			   uint32_t repeats, double scale);
int bench_perf_write_json(FILE *f, const struct bench_perf_row *row);
void bench_perf_print(FILE *f, const struct bench_perf_table *t);

/* perf_wic.c: contexts of WIC with the kernels that are timed. */
struct bench_perf_wic;

int bench_perf_wic_open(enum wic_mechanism mechanism, const struct bench_perf_params *p,
			struct bench_perf_wic **x_out);
void bench_perf_wic_close(struct bench_perf_wic *x);
/* ns a cycle; @faults_out: real faults a cycle.  0 or -errno. */
int bench_perf_wic_cycle(struct bench_perf_wic *x, double *ns_out, double *faults_out);
/* ns a request + release, and a load + store, of data that is there.  0 or -errno. */
int bench_perf_wic_hit(struct bench_perf_wic *x, double *ns_out, double *bare_ns_out);

/* perf_bare.c: the loop by hand. */
struct bench_bare;

int bench_bare_open(enum wic_mechanism mechanism, uint32_t tags, struct bench_bare **b_out);
void bench_bare_close(struct bench_bare *b);
int bench_bare_cycle(struct bench_bare *b, double *ns_out);

#endif /* WIC_BENCH_PERF_H */
