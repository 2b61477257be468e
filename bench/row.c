/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/row.h"

#include <math.h>
#include <string.h>

#include "bench/host.h"
#include "lib/json.h"

#define MS 1e6

static bool is_wic(const struct method_ops *m)
{
	return m == &method_wic;
}

static double sum_of(const double *x, uint32_t count)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += x[i];
	return sum;
}

/* The method other than wic whose median T_run is the smallest; -1: there is none. */
static int best_rival(const struct bench_point *p)
{
	double best = INFINITY;
	int found = -1;

	for (uint32_t i = 0; i < p->series_count; i++) {
		double t = bench_median(p->series[i].run_ns, p->repeats);

		if (is_wic(p->series[i].method) || p->series[i].status || !(t < best))
			continue;
		best = t;
		found = (int)i;
	}
	return found;
}

static const struct bench_series *find_series(const struct bench_point *p,
					      const struct method_ops *m)
{
	for (uint32_t i = 0; i < p->series_count; i++)
		if (p->series[i].method == m)
			return &p->series[i];
	return NULL;
}

static void row_times(const struct bench_point *p, const struct bench_series *s,
		      struct bench_row *row)
{
	static const double q[3] = { 0.1, 0.5, 0.9 };

	for (int i = 0; i < 3; i++)
		row->t_run_ms[i] = bench_quantile(s->run_ns, p->repeats, q[i]) / MS;
	row->t_bare_ms = bench_median(p->bare_ns, p->repeats) / MS;
	row->t_prod_ms = bench_median(p->prod_ns, p->repeats) / MS;
	row->bound_ratio = bench_bound_ratio(row->t_bare_ms, row->t_prod_ms, row->t_run_ms[1]);
	row->overlap = bench_overlap(row->t_bare_ms, row->t_prod_ms, row->t_run_ms[1]);
}

static void row_costs(const struct bench_point *first, const struct bench_series *s,
		      struct bench_row *row)
{
	const struct bench_series *of = find_series(first, s->method);
	double ready_ms, bare_ms = bench_median(first->bare_ns, first->repeats) / MS;

	row->tax = NAN;
	row->consumer_overhead_pct = NAN;
	if (first->has_ready && of) {
		ready_ms = bench_median(of->ready_ns, first->repeats) / MS;
		row->tax = bench_ratio_paired(of->ready_ns, first->bare_ns, first->repeats).v;
		row->consumer_overhead_pct = 100 * (ready_ms - bare_ms) / row->t_run_ms[1];
	}
	row->look_turns_pct = NAN;
	/* wic_stats.turns are the kernel's own; a look takes one more. */
	if (s->sum.looks + s->sum.turns > 0)
		row->look_turns_pct = 100 * s->sum.looks / (s->sum.looks + s->sum.turns);
}

static void row_counters(const struct bench_point *p, const struct bench_series *s,
			 struct bench_row *row)
{
	double published = (double)row->tags * p->repeats;

	row->parked_pct = NAN;
	if (is_wic(s->method) && s->sum.requests > 0)
		row->parked_pct = 100 * s->sum.parks / s->sum.requests;
	row->checks_per_comm = (s->sum.looks + s->sum.checks) / published;
	/* A method that launches by itself waits where the context does not count. */
	if (s->method->launch)
		row->checks_per_comm = NAN;
	row->host_overhead_pct = 100 * s->sum.monitor_cpu_ns / sum_of(s->run_ns, p->repeats);
}

static void row_compare(const struct bench_point *p, const struct bench_series *s,
			struct bench_row *row)
{
	int rival = best_rival(p);
	const struct bench_series *naive = find_series(p, &method_naive);

	row->speedup_naive = NAN;
	row->ratio_naive = (struct bench_interval){ NAN, NAN, NAN };
	if (naive && !naive->status) {
		row->speedup_naive = bench_ratio_paired(naive->run_ns, s->run_ns, p->repeats).v;
		row->ratio_naive = bench_ratio_paired(s->run_ns, naive->run_ns, p->repeats);
	}
	row->ratio_best = (struct bench_interval){ NAN, NAN, NAN };
	if (!is_wic(s->method) || rival < 0)
		return;
	row->best_rival = p->series[rival].method->name;
	row->ratio_best = bench_ratio_paired(s->run_ns, p->series[rival].run_ns, p->repeats);
}

static void row_where(const struct bench_rig *rig, struct bench_row *row)
{
	const char *asked = rig->p.options->backend;

	row->app = rig->p.app->name;
	/* "auto" has one choice until other back-ends are built in. */
	row->backend = asked && strcmp(asked, "auto") ? asked : "cpu";
	row->size = bench_size_name(rig->p.size);
	row->devices = rig->p.app->devices;
	row->threads = rig->shape->grid_blocks * rig->shape->block_threads * row->devices;
	row->sms = rig->sms;
	row->tags = rig->shape->tags;
	row->turn_percent = rig->p.turn_percent ? rig->p.turn_percent : 100;
	row->threads_pinned = bench_is_pinned() && !rig->is_gpu;
	row->seed = rig->p.options->seed;
	row->commit = bench_commit();
	row->machine = bench_machine();
	bench_date(row->date, sizeof(row->date));
}

void bench_rows_make(const struct bench_rig *rig, const struct bench_point *point,
		     const struct bench_point *first, struct bench_row *rows_out)
{
	for (uint32_t i = 0; i < point->series_count; i++) {
		const struct bench_series *s = &point->series[i];
		struct bench_row *row = &rows_out[i];

		memset(row, 0, sizeof(*row));
		row_where(rig, row);
		row->method = s->method->name;
		row->mode = NULL;
		if (is_wic(s->method))
			row->mode = rig->p.options->mode == WIC_MODE_PUSH ? "push" : "pull";
		row->producer_delay = point->producer_delay;
		row->repeats = point->repeats;
		row->correct = !s->status && !point->bare_status;
		snprintf(row->why, sizeof(row->why), "%s", s->status ? s->why : point->bare_why);
		row_times(point, s, row);
		row_costs(first, s, row);
		row_counters(point, s, row);
		row_compare(point, s, row);
	}
}

const struct bench_row *bench_row_find(const struct bench_row *rows, uint32_t count,
				       const char *method)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(rows[i].method, method))
			return &rows[i];
	return NULL;
}

struct bench_delay_text bench_delay_text(double producer_delay)
{
	struct bench_delay_text t = { "its own R" };

	if (!isnan(producer_delay))
		snprintf(t.s, sizeof(t.s), "R = %g", producer_delay);
	return t;
}

/* More digits than the measurement has would only be noise in diffs. */
static double rounded(double x, int decimals)
{
	double scale = pow(10, decimals);

	return isfinite(x) ? round(x * scale) / scale : NAN;
}

static void write_figures(struct wic_json *j, const struct bench_row *row)
{
	wic_json_object_begin(j, "t_run_ms");
	wic_json_double(j, "p10", rounded(row->t_run_ms[0], 3));
	wic_json_double(j, "p50", rounded(row->t_run_ms[1], 3));
	wic_json_double(j, "p90", rounded(row->t_run_ms[2], 3));
	wic_json_object_end(j);
	wic_json_double(j, "t_bare_ms", rounded(row->t_bare_ms, 3));
	wic_json_double(j, "t_prod_ms", rounded(row->t_prod_ms, 3));
	wic_json_double(j, "bound_ratio", rounded(row->bound_ratio, 4));
	wic_json_double(j, "tax", rounded(row->tax, 4));
	wic_json_double(j, "overlap", rounded(row->overlap, 4));
	wic_json_double(j, "speedup_naive", rounded(row->speedup_naive, 4));
	wic_json_string(j, "best_rival", row->best_rival);
	if (row->best_rival) {
		wic_json_object_begin(j, "ratio_best");
		wic_json_double(j, "v", rounded(row->ratio_best.v, 4));
		wic_json_double(j, "lo", rounded(row->ratio_best.lo, 4));
		wic_json_double(j, "hi", rounded(row->ratio_best.hi, 4));
		wic_json_object_end(j);
	} else {
		wic_json_null(j, "ratio_best");
	}
	wic_json_double(j, "parked_pct", rounded(row->parked_pct, 2));
	wic_json_double(j, "checks_per_comm", rounded(row->checks_per_comm, 2));
	wic_json_double(j, "consumer_overhead_pct", rounded(row->consumer_overhead_pct, 3));
	wic_json_double(j, "host_overhead_pct", rounded(row->host_overhead_pct, 3));
}

int bench_row_write_json(FILE *f, const struct bench_row *row)
{
	struct wic_json j;

	wic_json_init(&j, f, WIC_JSON_COMPACT);
	wic_json_object_begin(&j, NULL);
	wic_json_string(&j, "app", row->app);
	wic_json_string(&j, "method", row->method);
	wic_json_string(&j, "backend", row->backend);
	wic_json_string(&j, "mode", row->mode);
	wic_json_string(&j, "size", row->size);
	wic_json_uint(&j, "threads", row->threads);
	wic_json_uint(&j, "devices", row->devices);
	wic_json_uint(&j, "sms", row->sms);
	wic_json_uint(&j, "tags", row->tags);
	wic_json_double(&j, "producer_delay", row->producer_delay);
	wic_json_uint(&j, "turn_percent", row->turn_percent);
	wic_json_bool(&j, "threads_pinned", row->threads_pinned);
	wic_json_uint(&j, "seed", row->seed);
	wic_json_bool(&j, "correct", row->correct);
	write_figures(&j, row);
	wic_json_string(&j, "commit", row->commit);
	wic_json_string(&j, "machine", row->machine);
	wic_json_string(&j, "date", row->date);
	wic_json_object_end(&j);
	return wic_json_finish(&j);
}

void bench_row_write_csv_head(FILE *f)
{
	fputs("app,method,backend,mode,size,threads,devices,sms,tags,producer_delay,"
	      "turn_percent,threads_pinned,seed,correct,t_run_ms.p10,t_run_ms.p50,t_run_ms.p90,t_"
	      "bare_ms,"
	      "t_prod_ms,bound_ratio,tax,overlap,speedup_naive,best_rival,ratio_best.v,"
	      "ratio_best.lo,ratio_best.hi,parked_pct,checks_per_comm,consumer_overhead_pct,"
	      "host_overhead_pct,commit,machine,date\n",
	      f);
}

/* Absent: an empty field.  Rounded as in JSON, so that both say the same. */
static void csv_double(FILE *f, double x, int decimals)
{
	fputc(',', f);
	if (isfinite(x))
		fprintf(f, "%.*f", decimals, rounded(x, decimals));
}

/* RFC 4180: in quotes where a reader would stumble, quotes doubled.  Absent: empty. */
static void csv_string(FILE *f, const char *text)
{
	bool is_quoted = text && strpbrk(text, ",\"\r\n");

	if (is_quoted)
		fputc('"', f);
	for (; text && *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	if (is_quoted)
		fputc('"', f);
}

static void csv_next(FILE *f, const char *text)
{
	fputc(',', f);
	csv_string(f, text);
}

void bench_row_write_csv(FILE *f, const struct bench_row *row)
{
	csv_string(f, row->app);
	csv_next(f, row->method);
	csv_next(f, row->backend);
	csv_next(f, row->mode);
	csv_next(f, row->size);
	fprintf(f, ",%u,%u,%u,%u,", row->threads, row->devices, row->sms, row->tags);
	if (!isnan(row->producer_delay))
		fprintf(f, "%.15g", row->producer_delay);
	fprintf(f, ",%u,%s,%llu,%s", row->turn_percent, row->threads_pinned ? "true" : "false",
		(unsigned long long)row->seed, row->correct ? "true" : "false");
	for (int i = 0; i < 3; i++)
		csv_double(f, row->t_run_ms[i], 3);
	csv_double(f, row->t_bare_ms, 3);
	csv_double(f, row->t_prod_ms, 3);
	csv_double(f, row->bound_ratio, 4);
	csv_double(f, row->tax, 4);
	csv_double(f, row->overlap, 4);
	csv_double(f, row->speedup_naive, 4);
	csv_next(f, row->best_rival);
	csv_double(f, row->ratio_best.v, 4);
	csv_double(f, row->ratio_best.lo, 4);
	csv_double(f, row->ratio_best.hi, 4);
	csv_double(f, row->parked_pct, 2);
	csv_double(f, row->checks_per_comm, 2);
	csv_double(f, row->consumer_overhead_pct, 3);
	csv_double(f, row->host_overhead_pct, 3);
	csv_next(f, row->commit);
	csv_next(f, row->machine);
	csv_next(f, row->date);
	fputc('\n', f);
}
