/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What the host does of an application: it publishes tags and takes tags, in its order. */
#ifndef WIC_BENCH_STEPS_H
#define WIC_BENCH_STEPS_H

#include "bench/rig.h"

enum bench_steps_kind {
	BENCH_STEPS_ALL,     /* what a run does */
	BENCH_STEPS_PRODUCE, /* only what publishes: needs no kernel */
	BENCH_STEPS_TAKE,    /* only what takes */
};

struct bench_steps {
	enum bench_steps_kind kind;
	/* Over how long all that is published is spread; 0: no sleeps. */
	uint64_t pace_ns;
};

/* How many of the application's steps publish. */
uint32_t bench_steps_productions(const struct bench_rig *rig);
/* At the rig's epoch; ends with the first failure, which is the run's. */
void bench_steps_run(struct bench_rig *rig, struct bench_method *m, const struct bench_steps *steps,
		     struct bench_run *run);
/* @what: where; the text is wic_last_error().  The first failure of a run is kept. */
void bench_run_failed(struct bench_run *run, int status, const char *what);

#endif /* WIC_BENCH_STEPS_H */
