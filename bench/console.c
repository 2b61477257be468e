/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The report on a terminal or in a log: ASCII but for the strip chart. */
#include "bench/report.h"

#include <math.h>
#include <string.h>

#include "bench/host.h"

/* Columns of a strip chart: with its labels it fits 80. */
#define STRIP_COLUMNS 64
#define WRAP_COLUMNS 92

static const char text_emulated[] =
	"SMs are emulated here: each is one thread of this CPU that runs its warps in turns. Times "
	"compare ways of waiting on that emulation; they are no GPU's.";
static const char text_gpu[] =
	"A GPU's warps; the data lies where host and device both address it, and no method copies "
	"it: the producer writes it, the woken warps read it.";
static const char text_pull[] =
	"Nothing polls for a parked warp of wic: its page is closed, and the Monitor opens it when "
	"the data is published. Before it parks, a warp on an SM with nothing else to run looks "
	"for "
	"about as long as a park costs; the Monitor, on the producer's core, looks for a moment "
	"after its last work, then sleeps.";
static const char text_push[] =
	"wic is in push mode: no page faults. Of up to 32 warps of an SM that wait one looks at "
	"memory for all, with naps of a twentieth of what it has waited; the others are parked. "
	"The "
	"producer writes the consumer's pages itself: one copy less than the other methods.";

static const char text_tree[] =
	"Of the warps of a block that wait by wic one looks for all; the others are parked, and "
	"issue nothing.";

const char *bench_text_where(const struct bench_report *r)
{
	return r->is_gpu ? text_gpu : text_emulated;
}

const char *bench_text_polling(const struct bench_report *r)
{
	if (r->is_gpu)
		return text_tree;
	return r->options->mode == WIC_MODE_PUSH ? text_push : text_pull;
}

const char bench_text_below_bound[] =
	"A bound ratio a few per cent below 1 can be real: the data of T_bare lies cold in memory, "
	"that of a method has just passed through the cache that the cores share.";

bool bench_is_below_bound(const struct bench_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (rows[i].bound_ratio < 1)
			return true;
	return false;
}

static void wrapped(FILE *f, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column + word > WRAP_COLUMNS && column) {
			fputc('\n', f);
			column = 0;
		}
		fputs(column ? " " : "  ", f);
		fwrite(text, 1, word, f);
		column += word + 1;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

static void bold(FILE *f, bool on)
{
	if (bench_has_colour(f))
		fputs(on ? "\033[1m" : "\033[0m", f);
}

/* "-" for what is absent, right-aligned. */
static void cell(FILE *f, int width, int decimals, double x, const char *unit)
{
	if (isfinite(x))
		fprintf(f, " %*.*f%s", width - (int)strlen(unit), decimals, x, unit);
	else
		fprintf(f, " %*s", width, "-");
}

void bench_console_head(FILE *f, const struct bench_report *r)
{
	const struct bench_options *o = r->options;

	bold(f, true);
	fprintf(f, "%s, %s", r->app->name, r->app->pattern);
	bold(f, false);
	fprintf(f, ": %s\n", r->app->summary);
	fputs("measured by:\n", f);
	wrapped(f, r->mechanism);
	wrapped(f, bench_text_where(r));
	wrapped(f, bench_text_polling(r));
	fputs("set-up:\n", f);
	wrapped(f, r->scale.text);
	wrapped(f, r->data);
	wrapped(f, r->geometry);
	fprintf(f, "  %u repeats after a warm-up, methods interleaved; R is T_prod / T_bare\n",
		o->repeats);
	if (o->repeats < BENCH_REPEATS_MIN)
		fprintf(f, "  fewer than %d repeats: for trying out, not a result\n",
			BENCH_REPEATS_MIN);
	if (r->left_out[0]) {
		fputs("left out:\n", f);
		wrapped(f, r->left_out);
	}
	if (r->note[0])
		wrapped(f, r->note);
	fflush(f);
}

static void against(FILE *f, const char *other, const char *what, struct bench_interval r)
{
	char label[64];

	snprintf(label, sizeof(label), "wic / %s%s", other, what);
	if (isnan(r.v))
		return;
	bold(f, true);
	fprintf(f, "  %-32s %.3f  [%.3f, %.3f]  %s\n", label, r.v, r.lo, r.hi, bench_ratio_word(r));
	bold(f, false);
}

static void method_line(FILE *f, const struct bench_row *row)
{
	bool is_wic = !strcmp(row->method, "wic");

	if (is_wic)
		bold(f, true);
	fprintf(f, "  %-12s", row->method);
	cell(f, 8, 1, row->t_run_ms[1], "");
	cell(f, 8, 1, row->t_run_ms[0], "");
	cell(f, 8, 1, row->t_run_ms[2], "");
	cell(f, 7, 3, row->bound_ratio, "");
	cell(f, 7, 3, row->tax, "");
	cell(f, 8, 2, row->overlap, "");
	cell(f, 7, 1, row->parked_pct, "%");
	cell(f, 10, 1, row->checks_per_comm, "");
	cell(f, 6, 2, row->host_overhead_pct, "%");
	fprintf(f, "  %s\n", row->correct ? "ok" : "WRONG");
	if (is_wic)
		bold(f, false);
	if (!row->correct)
		fprintf(f, "               %s\n", row->why);
}

/* With T_prod under T_bare the SMs have work all the time: what exceeds it is lost to waiting. */
static void lost_lines(FILE *f, const struct bench_row *rows, uint32_t count)
{
	if (!(rows[0].t_prod_ms <= rows[0].t_bare_ms))
		return;
	fputs("  SM time lost to C1, (T_run - T_bare) / T_run:\n", f);
	for (uint32_t i = 0; i < count; i++) {
		const struct bench_row *row = &rows[i];

		if (isnan(row->t_run_ms[1]))
			continue;
		fprintf(f, "    %-12s %5.1f %%", row->method,
			100 * (row->t_run_ms[1] - row->t_bare_ms) / row->t_run_ms[1]);
		if (row->look_turns_pct > 0)
			fprintf(f, "   (%.1f %% of the turns were given to looks at a flag)",
				row->look_turns_pct);
		fputc('\n', f);
	}
}

void bench_console_point(FILE *f, const struct bench_report *r)
{
	const struct bench_row *rows = r->rows;
	uint32_t count = r->points[0].count;
	const struct bench_row *wic = bench_row_find(rows, count, "wic");

	fprintf(f, "\nAt %s: T_bare %.1f ms, T_prod %.1f ms; max(T_bare, T_prod) is %.1f ms\n",
		bench_delay_text(rows[0].producer_delay).s, rows[0].t_bare_ms, rows[0].t_prod_ms,
		fmax(rows[0].t_bare_ms, rows[0].t_prod_ms));
	if (wic && wic->best_rival) {
		fputs("  T_run ratio                      median  [95 % interval]\n", f);
		against(f, wic->best_rival, ", best other method", wic->ratio_best);
		if (strcmp(wic->best_rival, "naive"))
			against(f, "naive", "", wic->ratio_naive);
	}
	fputs("  method       T_run ms      p10      p90   bound     tax  overlap  parked"
	      "  checks/tag   host\n",
	      f);
	for (uint32_t i = 0; i < count; i++)
		method_line(f, &rows[i]);
	fputs("  bound: T_run / max(T_bare, T_prod); tax: all data there / T_bare; host: CPU time "
	      "of "
	      "the\n  Monitor / T_run\n",
	      f);
	if (bench_is_below_bound(rows, count))
		wrapped(f, bench_text_below_bound);
	lost_lines(f, rows, count);
	fflush(f);
}

struct strip_look {
	const char *glyph[BENCH_STRIP_STATES];
	const char *colour[BENCH_STRIP_STATES];
};

static const struct strip_look look_ascii = {
	{ " ", "#", "o", "." },
	{ "", "", "\033[31m", "\033[2m" },
};
static const struct strip_look look_utf8 = {
	{ " ", "\u2588", "\u2592", "\u00b7" },
	{ "", "\033[32m", "\033[31m", "\033[2m" },
};

static void strip_row(FILE *f, const struct bench_strip *s, uint32_t index,
		      const struct strip_look *look)
{
	bool has_colour = bench_has_colour(f);

	fprintf(f, "  warp %4u |", s->warps[index]);
	for (uint32_t c = 0; c < STRIP_COLUMNS; c++) {
		uint32_t first = c * BENCH_STRIP_BINS / STRIP_COLUMNS;
		uint32_t end = (c + 1) * BENCH_STRIP_BINS / STRIP_COLUMNS;
		int state = (int)bench_strip_merge(s->cells[index], first, end);

		if (has_colour)
			fprintf(f, "%s%s\033[0m", look->colour[state], look->glyph[state]);
		else
			fputs(look->glyph[state], f);
	}
	fputs("|\n", f);
}

void bench_console_strips(FILE *f, const struct bench_report *r)
{
	const struct strip_look *look = bench_is_utf8() ? &look_utf8 : &look_ascii;

	if (r->is_gpu)
		return;
	fprintf(f,
		"\nWhat 16 warps did over time at %s (another, untimed run, recorded: may be "
		"slower)\n",
		bench_delay_text(r->rows[0].producer_delay).s);
	fprintf(f,
		"  %s running or ready to run   %s looking at a flag   %s stopped (parked, or at "
		"the "
		"block's barrier)\n",
		look->glyph[BENCH_STRIP_COMPUTE], look->glyph[BENCH_STRIP_LOOK],
		look->glyph[BENCH_STRIP_PARK]);
	for (int i = 0; i < BENCH_STRIPS; i++) {
		const struct bench_strip *s = &r->strips[i];

		if (!s->method)
			continue;
		if (s->why) {
			fprintf(f, "  %s: no chart: %s\n", s->method, s->why);
			continue;
		}
		fprintf(f,
			"  %s, %.0f ms: running or ready to run %.0f %%, looking %.0f %%, stopped "
			"%.0f %% of "
			"their time%s\n",
			s->method, s->run_ms, s->state_pct[BENCH_STRIP_COMPUTE],
			s->state_pct[BENCH_STRIP_LOOK], s->state_pct[BENCH_STRIP_PARK],
			s->lost ? " (the recorder lost events)" : "");
		for (uint32_t k = 0; k < s->warp_count; k++)
			strip_row(f, s, k, look);
	}
	fflush(f);
}

void bench_console_verdict(FILE *f, const struct bench_report *r)
{
	if (r->note[0]) {
		fputs("\nnotes:\n", f);
		wrapped(f, r->note);
	}
	fputs("\nverdict:\n", f);
	bold(f, true);
	wrapped(f, r->verdict.text);
	bold(f, false);
	fflush(f);
}

void bench_console_sweep_head(FILE *f, const struct bench_report *r, enum bench_sweep sweep)
{
	if (sweep == BENCH_SWEEP_DELAY)
		fputs("\nOver R: T_run ms, bound ratio, overlap\n", f);
	else
		fprintf(f,
			"\nOver the length of a turn, in %% of the kernel's own, at %s: T_run "
			"ms, bound ratio, overlap\n",
			bench_delay_text(r->points[0].producer_delay).s);
	if (r->few[0])
		wrapped(f, r->few);
	fputs(sweep == BENCH_SWEEP_DELAY ? "  R    " : "  turn ", f);
	for (uint32_t i = 0; i < r->sweep_method_count; i++)
		fprintf(f, " | %-22s", r->sweep_methods[i]);
	fputs(" | wic/best [95 %]      parked\n", f);
	bench_console_sweep_point(f, r, &r->points[0], sweep);
}

void bench_console_sweep_point(FILE *f, const struct bench_report *r,
			       const struct bench_report_point *p, enum bench_sweep sweep)
{
	const struct bench_row *rows = &r->rows[p->first];
	const struct bench_row *wic = bench_row_find(rows, p->count, "wic");

	fprintf(f, "  %-5g",
		sweep == BENCH_SWEEP_DELAY ? p->producer_delay : (double)p->turn_percent);
	for (uint32_t i = 0; i < r->sweep_method_count; i++) {
		const struct bench_row *row = bench_row_find(rows, p->count, r->sweep_methods[i]);

		fputs(" |", f);
		cell(f, 8, 1, row->t_run_ms[1], "");
		cell(f, 6, 3, row->bound_ratio, "");
		cell(f, 6, 2, row->overlap, "");
		fputs(row->correct ? "" : "!", f);
	}
	if (wic && wic->best_rival && isfinite(wic->ratio_best.v)) {
		fprintf(f, " | %.3f [%.3f, %.3f]", wic->ratio_best.v, wic->ratio_best.lo,
			wic->ratio_best.hi);
		cell(f, 5, 0, wic->parked_pct, "%");
	}
	fputc('\n', f);
	fflush(f);
}

static void summary_line(FILE *f, const char *what, const double *ratios, size_t count)
{
	struct bench_summary s = bench_summarise(ratios, count);

	if (s.count)
		fprintf(f,
			"  %-28s geometric mean %.3f, worst %.3f, best %.3f, below 1.00: %zu of "
			"%zu\n",
			what, s.geomean, s.worst, s.best, s.below_one, s.count);
}

void bench_console_summary(FILE *f, const struct bench_report *reports, uint32_t count)
{
	double best[BENCH_APPS_MAX * BENCH_DELAYS_MAX], naive[BENCH_APPS_MAX * BENCH_DELAYS_MAX];
	size_t rows = 0;

	for (uint32_t a = 0; a < count; a++) {
		for (uint32_t i = 0; i < reports[a].point_count; i++) {
			const struct bench_report_point *p = &reports[a].points[i];
			const struct bench_row *row =
				bench_row_find(&reports[a].rows[p->first], p->count, "wic");

			if (!row || !row->best_rival ||
			    !bench_is_in_sweep(&reports[a], p, BENCH_SWEEP_DELAY))
				continue;
			best[rows] = 1 / row->ratio_best.v;
			naive[rows++] = row->speedup_naive;
		}
	}
	if (rows < 2)
		return;
	fputs("\nSpeed-up of wic over all its rows (applications x R), above 1 wic is faster:\n",
	      f);
	summary_line(f, "against the best other", best, rows);
	summary_line(f, "against naive", naive, rows);
	fflush(f);
}

bool bench_is_in_sweep(const struct bench_report *r, const struct bench_report_point *p,
		       enum bench_sweep sweep)
{
	const struct bench_report_point *first = &r->points[0];

	if (sweep == BENCH_SWEEP_DELAY)
		return p->turn_percent == first->turn_percent;
	/* Of those of the first turn, only the first point: the others are other R. */
	return p == first || p->turn_percent != first->turn_percent;
}

uint32_t bench_sweep_count(const struct bench_report *r, enum bench_sweep sweep)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->point_count; i++)
		count += bench_is_in_sweep(r, &r->points[i], sweep);
	return count;
}
