/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* `wic perf cycle`: WIC and the loop by hand in turn, repeat by repeat. */
#include "bench/perf.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench/host.h"

/* A cycle without a real fault is another path: below this the row is not correct. */
#define FAULTS_MIN 0.95

static int measure_cycles(const struct bench_perf_params *p, struct bench_perf_wic *x,
			  struct bench_bare *b, struct bench_perf_row *row)
{
	static struct bench_perf_samples s;
	double faults = 0, faults_min = INFINITY;
	int rc = 0;

	/* The first round warms both and is not counted. */
	for (int i = -1; i < (int)p->repeats && !rc; i++) {
		double value = NAN, baseline = NAN;

		bench_progress("cycle, %s: repeat %d of %u", row->name, i + 1, p->repeats);
		rc = bench_bare_cycle(b, &baseline);
		if (rc) {
			bench_error("the bare loop failed: %s", strerror(-rc));
			break;
		}
		rc = bench_perf_wic_cycle(x, &value, &faults);
		if (rc) {
			bench_error("the cycle through wic failed: %s", wic_last_error());
			break;
		}
		if (i < 0)
			continue;
		s.value[i] = value;
		s.baseline[i] = baseline;
		faults_min = fmin(faults_min, faults);
	}
	bench_progress("%s", "");
	if (rc)
		return rc;
	bench_perf_row_finish(row, &s, p->repeats, 1e-3);
	bench_perf_row_note(row,
			    "%.2f real faults a cycle; pages closed in batches of %d on both sides",
			    faults_min, BENCH_PERF_CLOSE_BATCH);
	if (faults_min >= FAULTS_MIN)
		return 0;
	bench_error("cycle, %s: only %.2f real faults a cycle: not what is to be measured",
		    row->name, faults_min);
	return -EIO;
}

static int measure_hits(const struct bench_perf_params *p, struct bench_perf_wic *x,
			struct bench_perf_row *row)
{
	static struct bench_perf_samples s;
	int rc = 0;

	for (int i = -1; i < (int)p->repeats && !rc; i++) {
		double value = NAN, baseline = NAN;

		bench_progress("request + release: repeat %d of %u", i + 1, p->repeats);
		rc = bench_perf_wic_hit(x, &value, &baseline);
		if (rc)
			bench_error("request + release failed: %s", wic_last_error());
		if (i < 0)
			continue;
		s.value[i] = value;
		s.baseline[i] = baseline;
	}
	bench_progress("%s", "");
	if (rc)
		return rc;
	bench_perf_row_finish(row, &s, p->repeats, 1);
	bench_perf_row_note(
		row, "no call leaves the warp: data on a page here%s",
		p->tags > BENCH_PERF_TAGS
			? ""
			: "; the tags fit into the ring of releases, so what the Monitor does with "
			  "them later is not in the figure");
	return 0;
}

/* 1: this mechanism does not work here, which was said; 0; -errno. */
static int mechanism_rows(const struct bench_perf_params *p, enum wic_mechanism mechanism,
			  struct bench_perf_table *t)
{
	bool is_uffd = mechanism == WIC_MECHANISM_UFFD;
	struct bench_perf_wic *x;
	struct bench_bare *b;
	int rc;

	rc = bench_perf_wic_open(mechanism, p, &x);
	if (rc == -ENOTSUP) {
		bench_error("%s: left out: %s", is_uffd ? "uffd" : "mprotect", wic_last_error());
		return 1;
	}
	if (rc) {
		bench_error("cannot open a context: %s", wic_last_error());
		return rc;
	}
	rc = bench_bare_open(mechanism, p->tags, &b);
	if (rc) {
		bench_error("cannot set up the bare loop: %s", strerror(-rc));
		goto err_close_wic;
	}
	rc = measure_cycles(p, x, b,
			    bench_perf_row_add(t, "cycle", "us", "park-fill-replay/%s",
					       is_uffd ? "uffd" : "mprotect"));
	/* The mechanism has no part in a hit: once is enough. */
	if (!rc && t->count == 1)
		rc = measure_hits(p, x,
				  bench_perf_row_add(t, "cycle", "ns", "request-release-hit"));
	bench_bare_close(b);
err_close_wic:
	bench_perf_wic_close(x);
	return rc;
}

int bench_perf_cycle(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	static const enum wic_mechanism all[] = { WIC_MECHANISM_UFFD, WIC_MECHANISM_MPROTECT };
	int rc = 0, left_out = 0;

	for (size_t i = 0; i < 2 && rc >= 0; i++) {
		rc = mechanism_rows(p, all[i], t);
		left_out += rc > 0;
	}
	if (rc >= 0 && left_out == 2)
		return -ENOTSUP;
	return rc < 0 ? rc : 0;
}
