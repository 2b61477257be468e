/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The drawings, as SVG: in the page, or each a file of its own. */
#include "bench/chart.h"

#include <math.h>
#include <string.h>

#define WIDTH 900
#define LABEL 90
#define BAR_HEIGHT 26
#define CURVE_HEIGHT 280
#define STRIP_LINE 11

/* Okabe and Ito's palette: told apart also with colour-blind eyes. */
static const struct {
	const char *method, *colour;
} colours[] = {
	{ "wic", "#0072b2" },  { "naive", "#d55e00" }, { "leader", "#e69f00" },
	{ "warp", "#cc79a7" }, { "split", "#56b4e9" }, { "thread-futex", "#009e73" },
};

const char *bench_html_colour(const char *method)
{
	for (size_t i = 0; i < sizeof(colours) / sizeof(*colours); i++)
		if (!strcmp(colours[i].method, method))
			return colours[i].colour;
	return "#808080";
}

/* What the page's style says of its drawings, for one that stands alone: on white. */
static const char style_alone[] =
	"<style>text{fill:#1a1a1a;font:12px sans-serif}.dim{fill:#595959}.axis{stroke:#d0d0d0}"
	".limit{stroke:#1a1a1a;stroke-dasharray:4 3}.compute{fill:#009e73}.look{fill:#d55e00}"
	".park{fill:#cfd8e3}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

static void svg_begin(FILE *f, int height, const char *title, bool is_alone)
{
	fprintf(f, "<svg%s viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
		is_alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", WIDTH, height);
	bench_html_text(f, title);
	fputs("\"><title>", f);
	bench_html_text(f, title);
	fputs("</title>\n", f);
	if (is_alone)
		fputs(style_alone, f);
}

void bench_chart_bars(FILE *f, const struct bench_report *r, bool is_alone)
{
	const struct bench_row *rows = r->rows;
	uint32_t count = r->points[0].count;
	int height = (int)count * BAR_HEIGHT + 40;
	double max = 1.1;
	double unit;

	for (uint32_t i = 0; i < count; i++)
		max = fmax(max, rows[i].bound_ratio * 1.02);
	unit = (WIDTH - LABEL - 80) / max;
	svg_begin(f, height, "Bound ratio of each method; shorter is better", is_alone);
	for (uint32_t i = 0; i < count; i++) {
		int y = (int)i * BAR_HEIGHT + 4;
		double ratio = rows[i].bound_ratio;

		fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", LABEL - 8,
			y + 15, rows[i].method);
		if (!isfinite(ratio)) {
			fprintf(f, "<text x=\"%d\" y=\"%d\" class=\"dim\">no time</text>\n",
				LABEL + 6, y + 15);
			continue;
		}
		fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>",
			LABEL, y, ratio * unit, BAR_HEIGHT - 6, bench_html_colour(rows[i].method));
		fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3f</text>\n", WIDTH - 20,
			y + 15, ratio);
	}
	fprintf(f, "<line class=\"limit\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>",
		LABEL + unit, LABEL + unit, height - 34);
	fprintf(f,
		"<text class=\"dim\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">1: "
		"T_run = max(T_bare, T_prod)</text>\n",
		LABEL + unit, height - 18);
	fputs("</svg>\n", f);
}

/* Where a value lies in the drawing; an x is R, or the logarithm of a turn's length. */
struct plot {
	const struct bench_report *r;
	const struct bench_curves *c;
	double x_min, x_max, y_min, y_max;
};

static double plot_x(const struct plot *p, double x)
{
	return 60 + (x - p->x_min) / (p->x_max - p->x_min) * (WIDTH - 210);
}

static double plot_y(const struct plot *p, double y)
{
	return 20 + (p->y_max - y) / (p->y_max - p->y_min) * (CURVE_HEIGHT - 70);
}

double bench_curve_x(const struct bench_curves *c, const struct bench_report_point *p)
{
	return c->sweep == BENCH_SWEEP_DELAY ? p->producer_delay : log2(p->turn_percent);
}

double bench_curve_y(const struct bench_curves *c, const struct bench_row *row)
{
	return c->is_overlap ? row->overlap : row->bound_ratio;
}

static double curve_label(const struct bench_curves *c, const struct bench_report_point *p)
{
	return c->sweep == BENCH_SWEEP_DELAY ? p->producer_delay : p->turn_percent;
}

const char *bench_curves_title(const struct bench_curves *c)
{
	if (c->is_overlap)
		return c->sweep == BENCH_SWEEP_DELAY
			       ? "Overlap of each method over R; higher is better"
			       : "Overlap of each method over the length of a turn; higher is "
				 "better";
	return c->sweep == BENCH_SWEEP_DELAY
		       ? "Bound ratio of each method over R; lower is better"
		       : "Bound ratio of each method over the length of a turn; lower is better";
}

const char *bench_curves_axis(const struct bench_curves *c)
{
	return c->sweep == BENCH_SWEEP_DELAY
		       ? "R"
		       : "length of a turn, % of the kernel's own (an emulation's own parameter)";
}

const struct bench_report_point *bench_curve_next(const struct bench_report *r,
						  const struct bench_curves *c,
						  const struct bench_report_point *after)
{
	double at = after ? bench_curve_x(c, after) : -INFINITY;
	const struct bench_report_point *found = NULL;

	for (uint32_t i = 0; i < r->point_count; i++) {
		const struct bench_report_point *p = &r->points[i];
		double x = bench_curve_x(c, p);

		if (bench_is_in_sweep(r, p, c->sweep) && x > at &&
		    (!found || x < bench_curve_x(c, found)))
			found = p;
	}
	return found;
}

static struct plot plot_of(const struct bench_report *r, const struct bench_curves *c)
{
	bool is_delay = c->sweep == BENCH_SWEEP_DELAY;
	struct plot p = { r, c, is_delay ? 0 : INFINITY, is_delay ? 0.1 : -INFINITY, 1, 1 };
	const struct bench_report_point *at = NULL;

	while ((at = bench_curve_next(r, c, at))) {
		p.x_min = fmin(p.x_min, bench_curve_x(c, at));
		p.x_max = fmax(p.x_max, bench_curve_x(c, at));
		for (uint32_t i = 0; i < at->count; i++) {
			double y = bench_curve_y(c, &r->rows[at->first + i]);

			if (!isfinite(y))
				continue;
			p.y_min = fmin(p.y_min, y);
			p.y_max = fmax(p.y_max, y);
		}
	}
	/* One point alone still has a place. */
	if (!(p.x_max > p.x_min))
		p.x_max = p.x_min + 1;
	p.y_max += 0.08 * (p.y_max - p.y_min) + 0.02;
	p.y_min -= 0.08 * (p.y_max - p.y_min) + 0.02;
	return p;
}

static void axes(FILE *f, const struct plot *p)
{
	double bottom = plot_y(p, p->y_min);
	const struct bench_report_point *at = NULL;

	for (int i = 0; i <= 4; i++) {
		double y = p->y_min + (p->y_max - p->y_min) * i / 4;

		fprintf(f,
			"<line class=\"axis\" x1=\"60\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"dim\" x=\"54\" y=\"%.1f\" text-anchor=\"end\">%.2f</text>\n",
			plot_x(p, p->x_max), plot_y(p, y), plot_y(p, y), plot_y(p, y) + 4, y);
	}
	fprintf(f, "<line class=\"limit\" x1=\"60\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
		plot_x(p, p->x_max), plot_y(p, 1), plot_y(p, 1));
	/* One label a measured x; where two are close they lean on each other: 0.9 and 1. */
	while ((at = bench_curve_next(p->r, p->c, at))) {
		double label = curve_label(p->c, at), x = plot_x(p, bench_curve_x(p->c, at));
		const char *anchor = label == 0.9 ? "end" : label == 1.0 ? "start" : "middle";

		fprintf(f,
			"<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"dim\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%g</text>\n",
			x, x, bottom, bottom + 5, x, bottom + 18, anchor, label);
	}
	fprintf(f, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
		(plot_x(p, p->x_min) + plot_x(p, p->x_max)) / 2, bottom + 36,
		bench_curves_axis(p->c));
}

/* A method's points, in order of x, with a line through them. */
static void curve(FILE *f, const struct plot *p, uint32_t method)
{
	const char *name = p->r->rows[method].method;
	const char *colour = bench_html_colour(name);
	const struct bench_report_point *at = NULL;
	double last_x = NAN, last_y = NAN;

	while ((at = bench_curve_next(p->r, p->c, at))) {
		const struct bench_row *row =
			bench_row_find(&p->r->rows[at->first], at->count, name);
		double y = row ? bench_curve_y(p->c, row) : NAN;
		double px = plot_x(p, bench_curve_x(p->c, at)), py = plot_y(p, y);

		if (!isfinite(y))
			continue;
		if (isfinite(last_x))
			fprintf(f,
				"<line stroke=\"%s\" stroke-width=\"2\" x1=\"%.1f\" y1=\"%.1f\" "
				"x2=\"%.1f\" y2=\"%.1f\"/>\n",
				colour, last_x, last_y, px, py);
		fprintf(f,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"><title>%s, "
			"%g: %.3f</title></circle>\n",
			px, py, colour, name, curve_label(p->c, at), y);
		last_x = px;
		last_y = py;
	}
	fprintf(f,
		"<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>"
		"<text x=\"%d\" y=\"%d\">%s</text>\n",
		WIDTH - 125, 22 + (int)method * 20, colour, WIDTH - 107, 32 + (int)method * 20,
		name);
}

void bench_chart_curves(FILE *f, const struct bench_report *r, const struct bench_curves *c,
			bool is_alone)
{
	struct plot p = plot_of(r, c);

	svg_begin(f, CURVE_HEIGHT, bench_curves_title(c), is_alone);
	axes(f, &p);
	for (uint32_t m = 0; m < r->points[0].count; m++)
		curve(f, &p, m);
	fputs("</svg>\n", f);
}

/* A run of equal cells is one rectangle. */
static void strip_row(FILE *f, const uint8_t *cells, int y)
{
	static const char *const class[BENCH_STRIP_STATES] = { NULL, "compute", "look", "park" };
	double unit = (double)(WIDTH - LABEL) / BENCH_STRIP_BINS;
	uint32_t first = 0, end;

	for (; first < BENCH_STRIP_BINS; first = end) {
		for (end = first; end < BENCH_STRIP_BINS && cells[end] == cells[first]; end++)
			;
		if (class[cells[first]])
			fprintf(f,
				"<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
				"height=\"%d\"/>",
				class[cells[first]], LABEL + first * unit, y, (end - first) * unit,
				STRIP_LINE - 2);
	}
	fputc('\n', f);
}

void bench_strip_text(const struct bench_strip *s, char *text, size_t bytes)
{
	snprintf(text, bytes,
		 "Of their time the warps were running or ready to run %.0f %%, looking %.0f %%, "
		 "stopped %.0f %%",
		 s->state_pct[BENCH_STRIP_COMPUTE], s->state_pct[BENCH_STRIP_LOOK],
		 s->state_pct[BENCH_STRIP_PARK]);
}

void bench_chart_strip(FILE *f, const struct bench_strip *s, bool is_alone)
{
	char title[256];
	int height = (int)s->warp_count * STRIP_LINE + 24;

	bench_strip_text(s, title, sizeof(title));
	svg_begin(f, height, title, is_alone);
	for (uint32_t i = 0; i < s->warp_count; i++) {
		int y = (int)i * STRIP_LINE;

		fprintf(f,
			"<text class=\"dim\" x=\"%d\" y=\"%d\" text-anchor=\"end\" "
			"style=\"font-size:9px\">warp %u</text>",
			LABEL - 8, y + 8, s->warps[i]);
		strip_row(f, s->cells[i], y);
	}
	fprintf(f,
		"<text class=\"dim\" x=\"%d\" y=\"%d\">0</text><text class=\"dim\" x=\"%d\" "
		"y=\"%d\" "
		"text-anchor=\"end\">%.0f ms</text>\n",
		LABEL, height - 8, WIDTH, height - 8, s->run_ms);
	fputs("</svg>\n", f);
}
