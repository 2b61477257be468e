/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/bench.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/file.h"
#include "bench/host.h"
#include "bench/measure.h"
#include "bench/plots.h"
#include "bench/report.h"
#include "bench/rig.h"
#include "bench/scale.h"
#include "lib/log.h"

/* A publish this part of T_bare behind its time disturbs what is measured. */
#define LATE_PART 0.05
/* R as measured may be this far off before it is said. */
#define OFF_PART 0.1
/* T_bare may differ this much from the one that the size was chosen by. */
#define BARE_PART 0.25

struct bench {
	const struct bench_options *o;
	FILE *text;                   /* for people: stdout, or stderr where rows go to stdout */
	struct bench_report *reports; /* owned */
	uint32_t report_count;
	bool has_failed;
};

/* Of the application that is measured now. */
struct sweep {
	struct bench *b;
	struct bench_report *r;
	struct bench_rig rig;
	uint64_t bare_ns;
	uint64_t end_ns;  /* of its share of the budget */
	uint32_t methods; /* bits: those of the points after the first */
	struct bench_point first, point;
};

/* A point and what it was measured with. */
struct measured {
	const struct bench_rig *rig;
	const struct bench_point *point;
	const struct bench_point *first; /* has the tax */
	uint64_t bare_ns;                /* that R is a part of */
};

void bench_options_init(struct bench_options *o)
{
	static const double delays[] = { 0.9, 1.5, 0, 1, 0.5, 3 };

	memset(o, 0, sizeof(*o));
	o->backend = "auto";
	o->size = BENCH_SIZE_AUTO;
	o->repeats = BENCH_REPEATS_MIN;
	o->seed = 1;
	memcpy(o->delays, delays, sizeof(delays));
	o->delay_count = sizeof(delays) / sizeof(*delays);
	o->turns_percent[o->turn_count++] = 100;
	o->budget_s = BENCH_BUDGET_S;
	o->out_dir = "out";
}

static void describe(struct sweep *s)
{
	const struct bench_rig *rig = &s->rig;
	struct bench_report *r = s->r;
	uint32_t cores = bench_cores(), sms = rig->sms * rig->p.app->devices;

	r->is_gpu = rig->is_gpu;
	snprintf(r->mechanism, sizeof(r->mechanism), "%s", wic_describe(rig->w));
	snprintf(r->data, sizeof(r->data), "%s", rig->p.app->describe(rig->app));
	snprintf(r->geometry, sizeof(r->geometry),
		 "%u block%s of %u threads on %u SM%s%s; %s %u core%s; threads are %s",
		 rig->shape->grid_blocks, rig->shape->grid_blocks == 1 ? "" : "s",
		 rig->shape->block_threads, rig->sms, rig->sms == 1 ? "" : "s",
		 rig->p.app->devices > 1 ? " of each of 2 devices" : "",
		 rig->is_gpu ? "the host has" : "the producer and the Monitor on the last of",
		 cores, cores == 1 ? "" : "s",
		 bench_is_pinned() && !rig->is_gpu ? "pinned" : "not pinned");
	snprintf(r->left_out, sizeof(r->left_out), "%s", rig->left_out);
	if (rig->p.turn_percent != 100)
		snprintf(r->geometry + strlen(r->geometry),
			 sizeof(r->geometry) - strlen(r->geometry),
			 "; turns of %u %% of the kernel's own length", rig->p.turn_percent);
	if (sms + 1 > cores && !rig->is_gpu)
		snprintf(r->note, sizeof(r->note),
			 "NOTE: %u SM threads and the producer share %u core%s, so they take turns "
			 "with each other; the times say little.",
			 sms, cores, cores == 1 ? "" : "s");
}

static void add_note(struct bench_report *r, const char *text)
{
	size_t length = strlen(r->note);

	snprintf(r->note + length, sizeof(r->note) - length, "%s%s", length ? " " : "", text);
	bench_error("%s", text);
}

/* Figures from a machine that does other things are printed, and it is said. */
static void note_disturbed(struct bench_report *r, const struct measured *m,
			   const struct bench_row *rows)
{
	const struct bench_point *p = m->point;
	double measured = rows[0].t_prod_ms / rows[0].t_bare_ms;
	bool is_disturbed = false,
	     is_first_turn = m->rig->p.turn_percent == r->points[0].turn_percent;
	char text[256], where[64];

	snprintf(where, sizeof(where), "At %s", bench_delay_text(p->producer_delay).s);
	if (!is_first_turn)
		snprintf(where, sizeof(where), "At %s with turns of %u %%",
			 bench_delay_text(p->producer_delay).s, m->rig->p.turn_percent);
	if (p->late_ns > LATE_PART * (double)m->bare_ns) {
		snprintf(text, sizeof(text),
			 "%s a publish came %.1f ms late: the producer did not get its core, "
			 "other programs run here.",
			 where, p->late_ns / 1e6);
		add_note(r, text);
		is_disturbed = true;
	}
	if (p->producer_delay > 0.2 && fabs(measured / p->producer_delay - 1) > OFF_PART) {
		snprintf(text, sizeof(text),
			 "%s the measured T_prod / T_bare was %.2f: T_bare changed since it "
			 "was "
			 "taken for pacing, or the producer is slower than that.",
			 where, measured);
		add_note(r, text);
		is_disturbed = true;
	}
	if (is_disturbed && is_first_turn && fabs(p->producer_delay - BENCH_VERDICT_DELAY) < 1e-9)
		r->is_disturbed = true;
}

/* The size was chosen for a T_bare that is no longer so. */
static void note_other_bare(struct sweep *s)
{
	double then_ms = s->r->scale.bare_ms, now_ms = s->r->rows[0].t_bare_ms;
	char text[256];

	if (!(then_ms > 0) || !(fabs(now_ms / then_ms - 1) > BARE_PART))
		return;
	snprintf(text, sizeof(text),
		 "T_bare was %.0f ms when it was measured; %.0f ms were expected when the size was "
		 "chosen.",
		 now_ms, then_ms);
	add_note(s->r, text);
}

static void make_verdict(struct bench_report *r)
{
	struct bench_verdict_text *v = &r->verdict;
	size_t length;

	bench_verdict_make(r->rows, r->row_count, v);
	length = strlen(v->text);
	if (r->is_disturbed)
		snprintf(v->text + length, sizeof(v->text) - length,
			 " The run was disturbed (see the notes): repeat it on a quiet machine "
			 "before relying on this.");
}

static int add_rows(struct sweep *s, const struct measured *m)
{
	struct bench_report *r = s->r;
	struct bench_row *rows = &r->rows[r->row_count];
	struct bench_report_point *point = &r->points[r->point_count++];

	bench_rows_make(m->rig, m->point, m->first, rows);
	*point = (struct bench_report_point){
		r->row_count,
		m->point->series_count,
		m->point->producer_delay,
		m->rig->p.turn_percent,
	};
	r->row_count += point->count;
	for (uint32_t i = 0; i < point->count; i++)
		if (!rows[i].correct)
			s->b->has_failed = true;
	note_disturbed(r, m, rows);
	return m->rig->is_dead ? -EIO : 0;
}

/*
 * Which methods the points after the first have.  Where the user named none: naive,
 * wic and the best of the others at the first, so that the sweep fits the budget.
 */
static void choose_sweep_methods(struct sweep *s)
{
	struct bench_report *r = s->r;
	const struct bench_row *wic = bench_row_find(r->rows, r->points[0].count, "wic");
	bool is_all = s->b->o->is_methods_named || !wic || !wic->best_rival;

	s->methods = 0;
	for (uint32_t i = 0; i < s->rig.method_count; i++) {
		const char *name = s->rig.methods[i].ops->name;

		if (!is_all && strcmp(name, "naive") && strcmp(name, "wic") &&
		    strcmp(name, wic->best_rival))
			continue;
		s->methods |= 1u << i;
		r->sweep_methods[r->sweep_method_count++] = name;
	}
	if (r->sweep_method_count < s->rig.method_count)
		snprintf(r->few, sizeof(r->few),
			 "The sweep has naive, wic and the method that was the best other at "
			 "%s; name methods (--methods) to have them everywhere.",
			 bench_delay_text(r->points[0].producer_delay).s);
}

/* The warps of all devices have the same numbers; the SMs of device 0 come first. */
static size_t events_of_device_0(struct wic_event *events, size_t count, uint32_t sms)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (events[i].sm < sms)
			events[kept++] = events[i];
	return kept;
}

static void record_strip(struct bench_rig *rig, uint32_t index, uint64_t pace_ns,
			 struct bench_strip *strip)
{
	size_t count = 0, max = (size_t)BENCH_RECORD_EVENTS * rig->sms * rig->p.app->devices;
	struct wic_event *events = malloc(max * sizeof(*events));
	struct bench_run run;

	strip->method = rig->methods[index].ops->name;
	strip->why = "no memory";
	if (!events)
		return;
	strip->why = "the recorded run failed";
	bench_rig_run(rig, &rig->methods[index], pace_ns, &run);
	if (!run.status && !wic_events_read(rig->w, events, max, &count)) {
		count = events_of_device_0(events, count, rig->sms);
		bench_strip_make(strip, events, count, run.start_ns, run.start_ns + run.time_ns);
		strip->lost = run.stats.events_lost;
		strip->why = count ? NULL : "nothing was recorded";
	} else if (run.status) {
		bench_error("%s, recorded: %s", strip->method, run.why);
	}
	free(events);
}

/* A context of its own: recording must not be on where times are taken. */
static void record_strips(struct sweep *s)
{
	static const struct method_ops *const shown[BENCH_STRIPS] = { &method_naive, &method_wic };
	const struct bench_options *o = s->b->o;
	const struct method_ops *wanted[BENCH_STRIPS];
	struct bench_rig_params p = s->rig.p;
	struct bench_rig rig;

	/* Nothing records there. */
	if (s->rig.is_gpu)
		return;
	p.methods = wanted;
	p.method_count = 0;
	p.record_events = BENCH_RECORD_EVENTS;
	for (int k = 0; k < BENCH_STRIPS; k++)
		for (uint32_t i = 0; i < o->method_count; i++)
			if (o->methods[i] == shown[k])
				wanted[p.method_count++] = shown[k];
	if (!p.method_count)
		return;
	bench_progress("%s: recording one run each for the charts", s->r->app->name);
	/* Contexts are opened with the whole mask; pins nest. */
	bench_unpin(&s->rig.pin);
	if (!bench_rig_open(&rig, &p)) {
		double pace_ns = o->delays[0] * (double)s->bare_ns;

		for (uint32_t i = 0; i < rig.method_count; i++)
			record_strip(&rig, i, (uint64_t)pace_ns, &s->r->strips[i]);
		bench_rig_close(&rig);
	}
	bench_pin_last(&s->rig.pin);
	bench_progress("%s", "");
}

/* What a point will cost: each run ends at the bound or later. */
static double point_cost_s(const struct sweep *s, double delay)
{
	double bare_s = (double)s->bare_ns / 1e9;
	double run_s = bare_s * fmax(1, delay) + 0.15 * bare_s;
	double prod_s = bare_s * (1 + delay);

	return s->b->o->repeats * (prod_s + s->r->sweep_method_count * run_s);
}

static bool has_time_for(const struct sweep *s, double cost_s)
{
	return cost_s <= ((double)s->end_ns - (double)wic_now_ns()) / 1e9;
}

/* @what: "R" or "turns of %". */
static void note_cut(const struct sweep *s, char *cut, const char *what, double value)
{
	size_t length = strlen(cut), bytes = sizeof(s->r->cut);

	if (!length)
		snprintf(cut, bytes, "not measured, the budget of %g s is spent: %s = %g",
			 s->b->o->budget_s, what, value);
	else
		snprintf(cut + length, bytes - length, ", %g", value);
}

static int sweep_delays(struct sweep *s)
{
	const struct measured m = { &s->rig, &s->point, &s->first, s->bare_ns };
	const struct bench_options *o = s->b->o;
	struct bench_report *r = s->r;

	if (r->app->is_self_paced)
		return 0;
	if (o->delay_count > 1)
		bench_console_sweep_head(s->b->text, r, BENCH_SWEEP_DELAY);
	for (uint32_t i = 1; i < o->delay_count; i++) {
		struct bench_measure_params p = {
			.producer_delay = o->delays[i],
			.bare_ns = s->bare_ns,
			.repeats = o->repeats,
			.methods = s->methods,
			.is_warm = true,
		};

		if (!has_time_for(s, point_cost_s(s, o->delays[i]))) {
			note_cut(s, r->cut, "R", o->delays[i]);
			continue;
		}
		bench_measure_point(&s->rig, &p, &s->point);
		if (add_rows(s, &m))
			return -EIO;
		bench_console_sweep_point(s->b->text, r, &r->points[r->point_count - 1],
					  BENCH_SWEEP_DELAY);
	}
	if (r->cut[0])
		fprintf(s->b->text, "  %s (--budget)\n", r->cut);
	return 0;
}

/* A length of a turn is the application's from its start: a rig of its own, and a T_bare. */
static int measure_turn(struct sweep *s, uint32_t turn_percent)
{
	struct bench_rig_params rp = s->rig.p;
	struct bench_rig rig;
	struct measured m = { &rig, &s->point, &s->point, 0 };
	struct bench_measure_params p = {
		.producer_delay = s->b->o->delays[0],
		.repeats = s->b->o->repeats,
		.methods = s->methods,
		.with_ready = true,
	};
	int rc;

	rp.turn_percent = turn_percent;
	/* Contexts are opened with the whole mask; pins nest. */
	bench_unpin(&s->rig.pin);
	rc = bench_rig_open(&rig, &rp);
	if (rc)
		goto out_pin;
	m.bare_ns = bench_measure_bare(&rig);
	p.bare_ns = m.bare_ns;
	rc = -EIO;
	if (m.bare_ns) {
		bench_measure_point(&rig, &p, &s->point);
		rc = add_rows(s, &m);
	}
	bench_rig_close(&rig);
out_pin:
	bench_pin_last(&s->rig.pin);
	return rc;
}

static int sweep_turns(struct sweep *s)
{
	const struct bench_options *o = s->b->o;
	struct bench_report *r = s->r;

	if (s->rig.is_gpu && o->turn_count > 1)
		add_note(r, "A GPU's warps take no turns: --turn-percent has no meaning there.");
	if (s->rig.is_gpu)
		return 0;
	if (o->turn_count > 1)
		bench_console_sweep_head(s->b->text, r, BENCH_SWEEP_TURN);
	for (uint32_t i = 1; i < o->turn_count; i++) {
		/* Opened anew, all ready besides, and a warm-up. */
		if (!has_time_for(s, 2.5 * point_cost_s(s, o->delays[0]))) {
			note_cut(s, r->cut_turns, "turns of %", o->turns_percent[i]);
			continue;
		}
		if (measure_turn(s, o->turns_percent[i]))
			return -EIO;
		bench_console_sweep_point(s->b->text, r, &r->points[r->point_count - 1],
					  BENCH_SWEEP_TURN);
	}
	if (r->cut_turns[0])
		fprintf(s->b->text, "  %s (--budget)\n", r->cut_turns);
	return 0;
}

static int measure_app(struct sweep *s)
{
	const struct measured m = { &s->rig, &s->first, &s->first, s->bare_ns };
	const struct bench_options *o = s->b->o;
	struct bench_report *r = s->r;
	struct bench_measure_params p = {
		.producer_delay = o->delays[0],
		.bare_ns = s->bare_ns,
		.repeats = o->repeats,
		.methods = BENCH_ALL_METHODS,
		.with_ready = true,
	};
	int rc;

	bench_console_head(s->b->text, r);
	bench_measure_point(&s->rig, &p, &s->first);
	if (add_rows(s, &m))
		return -EIO;
	note_other_bare(s);
	bench_console_point(s->b->text, r);
	record_strips(s);
	bench_console_strips(s->b->text, r);
	make_verdict(r);
	bench_console_verdict(s->b->text, r);
	choose_sweep_methods(s);
	rc = sweep_turns(s);
	if (!rc)
		rc = sweep_delays(s);
	/* Once more: a wrong result at another R takes it back. */
	make_verdict(r);
	return rc;
}

static int bench_app(struct bench *b, const struct app_ops *app, uint64_t end_ns)
{
	const struct bench_options *o = b->o;
	struct bench_report *r = &b->reports[b->report_count];
	struct bench_rig_params p = {
		.options = o,
		.app = app,
		.methods = o->methods,
		.method_count = o->method_count,
	};
	struct sweep *s = calloc(1, sizeof(*s));
	int rc;

	if (!s) {
		bench_error("no memory");
		return -ENOMEM;
	}
	r->options = o;
	r->app = app;
	s->b = b;
	s->r = r;
	s->end_ns = end_ns;
	rc = bench_scale_choose(o, app, &r->scale);
	if (rc)
		goto err_free;
	p.size = r->scale.size;
	p.tags = r->scale.tags;
	p.side_percent = r->scale.side_percent;
	p.turn_percent = o->turns_percent[0];
	rc = bench_rig_open(&s->rig, &p);
	if (rc)
		goto err_free;
	describe(s);
	s->bare_ns = s->rig.method_count ? bench_measure_bare(&s->rig) : 0;
	if (!s->rig.method_count)
		bench_error("%s has no method to measure: %s", app->name, r->left_out);
	rc = s->bare_ns ? measure_app(s) : -EIO;
	if (r->row_count)
		b->report_count++;
	bench_rig_close(&s->rig);
err_free:
	free(s);
	return rc;
}

static int write_rows(struct bench *b, const char *path, bool is_csv)
{
	struct bench_file f;
	int rc;

	rc = bench_file_begin(&f, path);
	if (rc)
		return rc;
	if (is_csv)
		bench_row_write_csv_head(f.stream);
	for (uint32_t a = 0; a < b->report_count && !rc; a++) {
		for (uint32_t i = 0; i < b->reports[a].row_count && !rc; i++) {
			if (is_csv)
				bench_row_write_csv(f.stream, &b->reports[a].rows[i]);
			else
				rc = bench_row_write_json(f.stream, &b->reports[a].rows[i]);
		}
	}
	if (rc) {
		bench_error("cannot write %s: %s", path, strerror(-rc));
		bench_file_abandon(&f);
		return rc;
	}
	return bench_file_commit(&f);
}

static int write_page(struct bench *b, const char *path)
{
	struct bench_file f;
	int rc = bench_file_begin(&f, path);

	if (rc)
		return rc;
	bench_html_write(f.stream, b->reports, b->report_count);
	return bench_file_commit(&f);
}

static int out_path(char *path, const struct bench_options *o, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", o->out_dir, name) < PATH_MAX)
		return 0;
	bench_error("the path of %s is too long", o->out_dir);
	return -ENAMETOOLONG;
}

/* Before minutes of work: could all this be written? */
static int probe_files(const struct bench_options *o)
{
	static const char *const names[] = { "bench.html", "bench.jsonl" };
	char path[PATH_MAX];
	int rc = 0;

	if (o->json)
		rc = bench_file_probe(o->json);
	if (!rc && o->csv)
		rc = bench_file_probe(o->csv);
	if (rc || !o->out_dir)
		return rc;
	/* The plots lie beside the page: what this says of it goes for them. */
	rc = bench_dir_make(o->out_dir);
	for (int i = 0; i < 2 && !rc; i++) {
		rc = out_path(path, o, names[i]);
		if (!rc)
			rc = bench_file_probe(path);
	}
	return rc;
}

static int write_files(struct bench *b)
{
	const struct bench_options *o = b->o;
	char page[PATH_MAX], rows[PATH_MAX];
	int rc = 0, one;

	if (o->out_dir) {
		rc = out_path(page, o, "bench.html");
		if (!rc)
			rc = out_path(rows, o, "bench.jsonl");
		if (!rc)
			rc = write_page(b, page);
		if (!rc)
			rc = write_rows(b, rows, false);
		if (!rc)
			fprintf(b->text, "\nwritten: %s (open it in a browser), %s\n", page, rows);
	}
	if (o->has_plots && !rc)
		rc = bench_plots_write(b->text, b->reports, b->report_count);
	one = o->json ? write_rows(b, o->json, false) : 0;
	rc = rc ? rc : one;
	one = o->csv ? write_rows(b, o->csv, true) : 0;
	return rc ? rc : one;
}

int bench_run_all(const struct bench_options *o)
{
	bool rows_to_stdout =
		(o->json && !strcmp(o->json, "-")) || (o->csv && !strcmp(o->csv, "-"));
	struct bench b = { .o = o, .text = rows_to_stdout ? stderr : stdout };
	uint64_t start_ns = wic_now_ns();
	int rc, files_rc;

	rc = probe_files(o);
	if (rc)
		return rc;
	b.reports = calloc(o->app_count, sizeof(*b.reports));
	if (!b.reports) {
		bench_error("no memory");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < o->app_count && !rc; i++) {
		double share_s = o->budget_s * (i + 1) / o->app_count;

		rc = bench_app(&b, o->apps[i], start_ns + (uint64_t)(share_s * 1e9));
	}
	if (b.report_count && !rc)
		bench_console_summary(b.text, b.reports, b.report_count);
	/* What was measured is written even when something went wrong: rows say so. */
	files_rc = b.report_count ? write_files(&b) : 0;
	if (!rc && b.has_failed) {
		bench_error("not every result was correct");
		rc = -EIO;
	}
	free(b.reports);
	return rc ? rc : files_rc;
}
