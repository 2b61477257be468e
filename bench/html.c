/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * One page that can be mailed: style and drawings inside, no script, nothing loaded.
 * Readable in light and dark; each drawing has a title and a description, and its
 * figures stand in a table too.
 */
#include "bench/report.h"

#include <math.h>
#include <string.h>

#include "bench/chart.h"
#include "bench/host.h"

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1a1a1a;--dim:#595959;--line:#d0d0d0;"
	"--card:#f5f5f5;--none:transparent;--compute:#009e73;--look:#d55e00;--park:#cfd8e3}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#16181b;--fg:#e8e8e8;--dim:#a8a8a8;"
	"--line:#3a3d42;--card:#202327;--park:#39424e}}\n"
	"body{margin:0 auto;max-width:66rem;padding:1.5rem;background:var(--bg);color:var(--fg);"
	"font:16px/1.5 system-ui,sans-serif}\n"
	"h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1.2rem;margin:2.2rem 0 .5rem}"
	"h3{font-size:1rem;margin:1.5rem 0 .3rem}\n"
	"p{margin:.5rem 0}.dim{color:var(--dim);font-size:.9rem}\n"
	".verdict{border-left:.3rem solid var(--dim);background:var(--card);padding:.7rem 1rem;"
	"margin:1rem 0;font-size:1.05rem}.gain{border-color:#009e73}.slower{border-color:#d55e00}\n"
	".scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;"
	"font-size:.8rem}\n"
	"th,td{padding:.25rem .35rem;text-align:right;border-bottom:1px solid var(--line);"
	"white-space:nowrap}th:first-child,td:first-child{text-align:left}\n"
	"tr.wic td{font-weight:600}.wrong{color:#d55e00;font-weight:700}\n"
	"svg{display:block;max-width:100%;height:auto;margin:.5rem 0}"
	"svg text{fill:var(--fg);font:12px system-ui,sans-serif}svg .dim{fill:var(--dim)}\n"
	".axis{stroke:var(--line)}.limit{stroke:var(--fg);stroke-dasharray:4 3}\n"
	".compute{fill:var(--compute)}.look{fill:var(--look)}.park{fill:var(--park)}\n"
	".key{display:inline-block;width:.9em;height:.9em;vertical-align:-.1em;margin:0 .3em 0 "
	"1em}\n"
	"code{font-size:.85rem;overflow-wrap:anywhere}\n";

void bench_html_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			fputc(*text, f);
			break;
		}
	}
}

/* Nothing for no text. */
static void paragraph(FILE *f, const char *class, const char *text)
{
	if (!*text)
		return;
	fprintf(f, "<p class=\"%s\">", class);
	bench_html_text(f, text);
	fputs("</p>\n", f);
}

static void cell(FILE *f, double x, int decimals)
{
	if (isfinite(x))
		fprintf(f, "<td>%.*f</td>", decimals, x);
	else
		fputs("<td>\u2013</td>", f);
}

static void interval_cell(FILE *f, struct bench_interval r)
{
	if (isfinite(r.v))
		fprintf(f, "<td>%.3f [%.3f, %.3f]</td>", r.v, r.lo, r.hi);
	else
		fputs("<td>\u2013</td>", f);
}

static void against(FILE *f, const char *other, const char *what, struct bench_interval r)
{
	if (isnan(r.v))
		return;
	fprintf(f, "<tr class=\"wic\"><td>wic / %s%s</td>", other, what);
	interval_cell(f, r);
	fprintf(f, "<td>%s</td></tr>\n", bench_ratio_word(r));
}

static void headline(FILE *f, const struct bench_row *rows, uint32_t count)
{
	const struct bench_row *wic = bench_row_find(rows, count, "wic");

	if (!wic || !wic->best_rival)
		return;
	fputs("<div class=\"scroll\"><table><tr><th scope=\"col\">T_run ratio</th>"
	      "<th scope=\"col\">median [95 % interval]</th><th scope=\"col\">so wic "
	      "is</th></tr>\n",
	      f);
	against(f, wic->best_rival, ", the best other method", wic->ratio_best);
	if (strcmp(wic->best_rival, "naive"))
		against(f, "naive", ", the paper's baseline", wic->ratio_naive);
	fputs("</table></div>\n", f);
}

static const char table_head[] =
	"<div class=\"scroll\"><table><tr><th scope=\"col\">method</th><th scope=\"col\">R</th>"
	"<th scope=\"col\">turn %</th>"
	"<th scope=\"col\">T_run ms</th><th scope=\"col\">p10</th><th scope=\"col\">p90</th>"
	"<th scope=\"col\">bound ratio</th><th scope=\"col\">tax</th><th scope=\"col\">overlap</th>"
	"<th scope=\"col\">wic / best</th><th scope=\"col\">parked %</th>"
	"<th scope=\"col\">checks a tag</th><th scope=\"col\">host %</th>"
	"<th scope=\"col\">result</th></tr>\n";

static void table_row(FILE *f, const struct bench_row *row)
{
	fprintf(f, "<tr%s><td>%s</td>", strcmp(row->method, "wic") ? "" : " class=\"wic\"",
		row->method);
	cell(f, row->producer_delay, 2);
	fprintf(f, "<td>%u</td>", row->turn_percent);
	cell(f, row->t_run_ms[1], 1);
	cell(f, row->t_run_ms[0], 1);
	cell(f, row->t_run_ms[2], 1);
	cell(f, row->bound_ratio, 3);
	cell(f, row->tax, 3);
	cell(f, row->overlap, 2);
	interval_cell(f, row->ratio_best);
	cell(f, row->parked_pct, 1);
	cell(f, row->checks_per_comm, 1);
	cell(f, row->host_overhead_pct, 2);
	fputs(row->correct ? "<td>correct</td></tr>\n" : "<td class=\"wrong\">WRONG</td></tr>\n",
	      f);
}

static void rows_table(FILE *f, const struct bench_row *rows, uint32_t count)
{
	fputs(table_head, f);
	for (uint32_t i = 0; i < count; i++)
		table_row(f, &rows[i]);
	fputs("</table></div>\n", f);
}

static void lost_table(FILE *f, const struct bench_row *rows, uint32_t count)
{
	if (!(rows[0].t_prod_ms <= rows[0].t_bare_ms))
		return;
	fputs("<h3>What waiting takes from C1</h3>\n<div class=\"scroll\"><table><tr>"
	      "<th scope=\"col\">method</th><th scope=\"col\">SM time lost, (T_run \u2212 T_bare) "
	      "/ "
	      "T_run</th><th scope=\"col\">turns given to looks</th></tr>\n",
	      f);
	for (uint32_t i = 0; i < count; i++) {
		const struct bench_row *row = &rows[i];

		fprintf(f, "<tr%s><td>%s</td>", strcmp(row->method, "wic") ? "" : " class=\"wic\"",
			row->method);
		cell(f, 100 * (row->t_run_ms[1] - row->t_bare_ms) / row->t_run_ms[1], 1);
		cell(f, row->look_turns_pct, 1);
		fputs("</tr>\n", f);
	}
	fputs("</table></div>\n<p class=\"dim\">Both in per cent. An SM that had other warps to "
	      "run "
	      "gave them less time by this much.</p>\n",
	      f);
}

static void strip(FILE *f, const struct bench_strip *s)
{
	char text[256];

	if (s->why) {
		fprintf(f, "<h3>%s</h3>\n<p class=\"dim\">No chart: %s.</p>\n", s->method, s->why);
		return;
	}
	bench_strip_text(s, text, sizeof(text));
	fprintf(f, "<h3>%s, %.0f ms</h3>\n<p class=\"dim\">%s%s</p>\n", s->method, s->run_ms, text,
		s->lost ? " (the recorder lost events)" : "");
	bench_chart_strip(f, s, false);
}

static void strips(FILE *f, const struct bench_report *r)
{
	fprintf(f,
		"<h2>16 warps over time, %s (another, untimed run)</h2>\n<p class=\"dim\">"
		"One more run of each, recorded; recording may make it slower. Time goes from left "
		"to right, a row is a warp.</p>\n<p>"
		"<span class=\"key\" style=\"background:var(--compute);margin-left:0\"></span>"
		"running or ready to run<span class=\"key\" "
		"style=\"background:var(--look)\"></span>"
		"looking at a flag<span class=\"key\" "
		"style=\"background:var(--park)\"></span>stopped "
		"(parked, or at the block's barrier)</p>\n",
		bench_delay_text(r->rows[0].producer_delay).s);
	for (int i = 0; i < BENCH_STRIPS; i++)
		if (r->strips[i].method)
			strip(f, &r->strips[i]);
}

static void curves(FILE *f, const struct bench_report *r, enum bench_sweep sweep)
{
	const struct bench_curves bound = { sweep, false }, overlap = { sweep, true };
	const char *cut = sweep == BENCH_SWEEP_DELAY ? r->cut : r->cut_turns;

	if (bench_sweep_count(r, sweep) < 2)
		return;
	if (sweep == BENCH_SWEEP_DELAY)
		fputs("<h2>Over R = T_prod / T_bare</h2>\n", f);
	else
		fprintf(f, "<h2>Over the length of a turn, %s</h2>\n",
			bench_delay_text(r->points[0].producer_delay).s);
	fputs("<h3>Bound ratio (1: T_run = max(T_bare, T_prod))</h3>\n", f);
	bench_chart_curves(f, r, &bound, false);
	fputs("<h3>Overlap (1: all of the shorter one is hidden)</h3>\n", f);
	bench_chart_curves(f, r, &overlap, false);
	paragraph(f, "dim", r->few);
	paragraph(f, "dim", cut);
}

static const char *verdict_class(enum bench_verdict v)
{
	switch (v) {
	case BENCH_VERDICT_GAIN:
		return "verdict gain";
	case BENCH_VERDICT_SLOWER:
		return "verdict slower";
	case BENCH_VERDICT_NO_GAIN:
	case BENCH_VERDICT_OPEN:
	case BENCH_VERDICT_NONE:
		break;
	}
	return "verdict";
}

static void app_section(FILE *f, const struct bench_report *r)
{
	const struct bench_row *rows = r->rows;
	uint32_t count = r->points[0].count;

	fprintf(f, "<section>\n<h2>%s: %s</h2>\n", r->app->name, r->app->pattern);
	paragraph(f, "dim", r->app->summary);
	paragraph(f, verdict_class(r->verdict.verdict), r->verdict.text);
	paragraph(f, "wrong", r->note);
	fprintf(f, "<h3>At %s: T_bare %.1f ms, T_prod %.1f ms</h3>\n",
		bench_delay_text(rows[0].producer_delay).s, rows[0].t_bare_ms, rows[0].t_prod_ms);
	headline(f, rows, count);
	bench_chart_bars(f, r, false);
	rows_table(f, rows, count);
	if (r->left_out[0])
		fputs("<p>Left out:</p>\n", f);
	paragraph(f, "dim", r->left_out);
	if (bench_is_below_bound(rows, r->row_count))
		paragraph(f, "dim", bench_text_below_bound);
	lost_table(f, rows, count);
	if (!r->is_gpu)
		strips(f, r);
	curves(f, r, BENCH_SWEEP_DELAY);
	curves(f, r, BENCH_SWEEP_TURN);
	if (r->point_count > 1) {
		fputs("<details><summary>All rows</summary>\n", f);
		rows_table(f, rows, r->row_count);
		fputs("</details>\n", f);
	}
	fputs("<h3>How it was measured</h3>\n", f);
	paragraph(f, "", r->mechanism);
	paragraph(f, "", r->scale.text);
	paragraph(f, "", r->data);
	paragraph(f, "", r->geometry);
	fputs("</section>\n", f);
}

static void footer(FILE *f, const struct bench_report *r)
{
	fputs("<h2>Words</h2>\n<p class=\"dim\">T_bare: the application with its waits compiled "
	      "out and "
	      "all data there. T_prod: the producer alone. T_run: with a method. Medians of ",
	      f);
	fprintf(f, "%u repeats after a warm-up, methods interleaved. ", r->options->repeats);
	fputs("Bound ratio = T_run / max(T_bare, T_prod). Tax = T_run with "
	      "everything "
	      "published before the launch / T_bare, measured at the first R. Overlap = (T_bare + "
	      "T_prod \u2212 T_run) / min(T_bare, T_prod). wic / best: T_run of wic over that of "
	      "the best "
	      "other method, paired by repeat, with the 95 % interval of a bootstrap; \u201cnot "
	      "slower\u201d: its upper end is at most 1.02. Host: CPU time of the Monitor / "
	      "T_run.</p>\n",
	      f);
	fputs("<h2>Where it comes from</h2>\n<p>", f);
	bench_html_text(f, r->rows[0].machine);
	fputs("</p>\n<p>commit <code>", f);
	bench_html_text(f, r->rows[0].commit);
	fprintf(f, "</code>, %s</p>\n<p><code>", r->rows[0].date);
	bench_html_text(f, r->options->command ? r->options->command : "");
	fputs("</code></p>\n", f);
}

void bench_html_write(FILE *f, const struct bench_report *reports, uint32_t count)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	      "<title>WIC bench</title>\n<style>\n",
	      f);
	fputs(style, f);
	fputs("</style>\n</head>\n<body>\n<h1>WIC: what waiting costs</h1>\n", f);
	paragraph(f, "", bench_text_where(&reports[0]));
	paragraph(f, "dim", bench_text_polling(&reports[0]));
	for (uint32_t i = 0; i < count; i++)
		app_section(f, &reports[i]);
	footer(f, &reports[0]);
	fputs("</body>\n</html>\n", f);
}
