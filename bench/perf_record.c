/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * `wic perf record`: what the recorder costs while it is on.  Two contexts that differ in
 * record_events alone, run in turn; which of the two comes first changes with each
 * repeat, so that neither gains from what the other left in the caches.
 */
#include "bench/perf.h"

#include <errno.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/host.h"
#include "bench/measure.h"
#include "bench/rig.h"
#include "bench/scale.h"
#include "lib/log.h"

enum { OFF, ON };

static int measure_cycles(const struct bench_perf_params *p, struct bench_perf_wic *const x[2],
			  struct bench_perf_row *row)
{
	static struct bench_perf_samples s; /* value: on */
	double ns, faults;
	int rc;

	/* The first round warms both and is not counted. */
	for (int i = -1; i < (int)p->repeats; i++) {
		bench_progress("%s: repeat %d of %u", row->name, i + 1, p->repeats);
		for (int k = 0; k < 2; k++) {
			int side = (i & 1) ^ k;

			rc = bench_perf_wic_cycle(x[side], &ns, &faults);
			if (rc) {
				bench_error("%s failed: %s", row->name, wic_last_error());
				return rc;
			}
			if (i >= 0)
				*(side == ON ? &s.value[i] : &s.baseline[i]) = ns;
		}
	}
	bench_perf_row_finish(row, &s, p->repeats, 1e-3);
	bench_perf_row_note(row, "a whole park, fill, replay; three events each");
	return 0;
}

static int cycle_row(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	struct bench_perf_row *row = bench_perf_row_add(t, "record", "us", "park-fill-replay");
	struct bench_perf_params on = *p;
	struct bench_perf_wic *x[2];
	int rc;

	on.record_events = BENCH_RECORD_EVENTS;
	rc = bench_perf_wic_open(WIC_MECHANISM_AUTO, p, &x[OFF]);
	if (!rc) {
		rc = bench_perf_wic_open(WIC_MECHANISM_AUTO, &on, &x[ON]);
		if (rc)
			bench_perf_wic_close(x[OFF]);
	}
	if (rc) {
		bench_error("cannot open a context: %s", wic_last_error());
		return rc;
	}
	rc = measure_cycles(p, x, row);
	bench_progress("%s", "");
	bench_perf_wic_close(x[ON]);
	bench_perf_wic_close(x[OFF]);
	return rc;
}

/* One run of each; times into @ns_out[side]. */
static int run_both(struct bench_rig rigs[2], uint64_t pace_ns, int first, double ns_out[2])
{
	for (int k = 0; k < 2; k++) {
		struct bench_rig *rig = &rigs[first ^ k];
		struct bench_run run;

		bench_rig_run(rig, &rig->methods[0], pace_ns, &run);
		if (run.status) {
			bench_error("%s: %s", rig->p.app->name, run.why);
			return run.status;
		}
		ns_out[first ^ k] = (double)run.time_ns;
	}
	return 0;
}

static int measure_app(const struct bench_perf_params *p, struct bench_rig rigs[2], double delay,
		       struct bench_perf_row *row)
{
	struct wic_stats stats = { .size_bytes = sizeof(stats) };
	uint64_t bare_ns = bench_measure_bare(&rigs[OFF]);
	uint64_t pace_ns = (uint64_t)(delay * (double)bare_ns), runs = p->repeats + 1u;
	static struct bench_perf_samples s; /* value: on */
	double ns[2];
	int rc = 0;

	if (!bare_ns)
		return -EIO;
	for (int i = -1; i < (int)p->repeats && !rc; i++) {
		bench_progress("%s: repeat %d of %u", row->name, i + 1, p->repeats);
		rc = run_both(rigs, pace_ns, i & 1, ns);
		if (i < 0)
			continue;
		s.baseline[i] = ns[OFF];
		s.value[i] = ns[ON];
	}
	if (!rc)
		rc = wic_stats_get(rigs[ON].w, &stats);
	if (rc)
		return rc;
	bench_perf_row_finish(row, &s, p->repeats, 1e-6);
	bench_perf_row_note(row, "R = %g, T_bare %.0f ms, %llu events a run on %u SM%s", delay,
			    (double)bare_ns / 1e6, (unsigned long long)(stats.events / runs),
			    rigs[ON].sms, rigs[ON].sms == 1 ? "" : "s");
	return 0;
}

static int app_row(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	struct bench_perf_row *row = bench_perf_row_add(t, "record", "ms", "C_SRS, wic");
	static const struct method_ops *const wic[] = { &method_wic };
	static struct bench_rig rigs[2];
	struct bench_rig_params rp = { .methods = wic, .method_count = 1 };
	struct bench_scale scale;
	struct bench_options o;
	int rc;

	bench_options_init(&o);
	o.backend = p->backend;
	o.size = p->size;
	o.methods[o.method_count++] = &method_wic;
	rp.options = &o;
	rp.app = app_find("C_SRS");
	rc = bench_scale_choose(&o, rp.app, &scale);
	if (rc)
		return rc;
	rp.size = scale.size;
	rp.tags = scale.tags;
	rp.side_percent = scale.side_percent;
	rc = bench_rig_open(&rigs[OFF], &rp);
	if (rc)
		return rc;
	/* Contexts are opened with the whole mask; pins nest. */
	bench_unpin(&rigs[OFF].pin);
	rp.record_events = BENCH_RECORD_EVENTS;
	rc = bench_rig_open(&rigs[ON], &rp);
	if (!rc) {
		rc = measure_app(p, rigs, o.delays[0], row);
		bench_progress("%s", "");
		bench_rig_close(&rigs[ON]);
	}
	bench_rig_close(&rigs[OFF]);
	return rc;
}

int bench_perf_record(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	int rc = cycle_row(p, t);

	return rc ? rc : app_row(p, t);
}
