/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/measure.h"

#include <math.h>
#include <string.h>

#include "bench/row.h"

/* Runs from which T_bare is taken for pacing. */
#define BARE_RUNS 3

static void add(struct bench_counters *sum, const struct wic_stats *s)
{
	sum->requests += (double)s->requests;
	sum->parks += (double)s->parks;
	sum->looks += (double)s->looks;
	sum->checks += (double)s->checks;
	sum->turns += (double)s->turns;
	sum->monitor_cpu_ns += (double)s->monitor_cpu_ns;
}

static void note_failure(struct bench_series *s, const struct bench_run *run)
{
	if (!run->status || s->status)
		return;
	s->status = run->status;
	snprintf(s->why, sizeof(s->why), "%s", run->why);
	bench_error("%s: %s", s->method->name, run->why);
}

static void measure_method(struct bench_rig *rig, const struct bench_measure_params *p,
			   uint32_t index, struct bench_point *point, int repeat)
{
	struct bench_series *s = &point->series[index];
	struct bench_method *m = &rig->methods[s->index];
	double pace_ns = p->producer_delay * (double)p->bare_ns;
	struct bench_run run;

	bench_rig_run(rig, m, (uint64_t)pace_ns, &run);
	note_failure(s, &run);
	if (repeat >= 0) {
		s->run_ns[repeat] = run.status ? NAN : (double)run.time_ns;
		add(&s->sum, &run.stats);
		point->late_ns = fmax(point->late_ns, (double)run.publish_late_ns);
	}
	if (!p->with_ready)
		return;
	bench_rig_run(rig, m, BENCH_READY, &run);
	note_failure(s, &run);
	if (repeat >= 0)
		s->ready_ns[repeat] = run.status ? NAN : (double)run.time_ns;
}

static void measure_bare(struct bench_rig *rig, const struct bench_measure_params *p,
			 struct bench_point *point, int repeat)
{
	double pace_ns = p->producer_delay * (double)p->bare_ns;
	struct bench_run run;
	uint64_t prod_ns;

	bench_rig_bare(rig, (uint64_t)pace_ns, &prod_ns, &run);
	if (run.status && !point->bare_status) {
		point->bare_status = run.status;
		snprintf(point->bare_why, sizeof(point->bare_why), "%s", run.why);
		bench_error("T_bare: %s", run.why);
	}
	if (repeat < 0)
		return;
	point->bare_ns[repeat] = run.status ? NAN : (double)run.time_ns;
	point->prod_ns[repeat] = run.status ? NAN : (double)prod_ns;
}

void bench_measure_point(struct bench_rig *rig, const struct bench_measure_params *p,
			 struct bench_point *point_out)
{
	uint32_t count = 0;

	memset(point_out, 0, sizeof(*point_out));
	point_out->producer_delay = rig->p.app->is_self_paced ? NAN : p->producer_delay;
	point_out->repeats = p->repeats;
	point_out->has_ready = p->with_ready;
	for (uint32_t i = 0; i < rig->method_count; i++) {
		if (!(p->methods >> i & 1))
			continue;
		point_out->series[count].method = rig->methods[i].ops;
		point_out->series[count++].index = i;
	}
	point_out->series_count = count;

	for (int repeat = p->is_warm ? 0 : -1; repeat < (int)p->repeats; repeat++) {
		bench_progress("%s at %s: %s %d of %u", rig->p.app->name,
			       bench_delay_text(point_out->producer_delay).s,
			       repeat < 0 ? "warm-up before" : "repeat",
			       repeat < 0 ? 1 : repeat + 1, p->repeats);
		measure_bare(rig, p, point_out, repeat);
		for (uint32_t i = 0; i < count; i++)
			measure_method(rig, p, (i + (uint32_t)(repeat + 1)) % count, point_out,
				       repeat);
	}
	bench_progress("%s", "");
}

uint64_t bench_measure_bare(struct bench_rig *rig)
{
	double ns[BARE_RUNS];
	struct bench_run run;
	uint64_t prod_ns;

	/* One more before them: the first pays for first touches. */
	for (int i = -1; i < BARE_RUNS; i++) {
		bench_rig_bare(rig, 0, &prod_ns, &run);
		if (run.status) {
			bench_error("%s without any method does not run: %s", rig->p.app->name,
				    run.why);
			return 0;
		}
		if (i >= 0)
			ns[i] = (double)run.time_ns;
	}
	return (uint64_t)bench_median(ns, BARE_RUNS);
}
