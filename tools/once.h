/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* One run of one application with one method: what `wic run` and `wic trace record` share. */
#ifndef WIC_TOOLS_ONCE_H
#define WIC_TOOLS_ONCE_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/options.h"
#include "bench/rig.h"

struct once_input {
	struct bench_options o; /* one application; no method: none */
	bool is_ready;          /* all is published before the launch */
};

/* One run and what it is seen against. */
struct once_result {
	struct bench_run bare, run;
	uint64_t prod_ns;
	uint64_t pace_ns; /* of the run and of prod_ns */
};

/* Options that choose the run; its input is a struct once_input after once_init(). */
extern const struct argp once_argp;

void once_init(struct once_input *in);
const char *once_method_name(const struct once_input *in);
/* @record_events: capacity of the recorder's rings, 0: off.  0 or -errno, and it was said why. */
int once_open(const struct once_input *in, uint32_t record_events, struct bench_rig *rig);
/* T_bare and T_prod, to pace the run by; a failure is in @r->bare. */
void once_measure(struct bench_rig *rig, const struct once_input *in, struct once_result *r);
/* The run itself; what failed before it is its failure too. */
void once_run(struct bench_rig *rig, const struct once_input *in, struct once_result *r);

#endif /* WIC_TOOLS_ONCE_H */
