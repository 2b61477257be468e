/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/plots.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/chart.h"
#include "bench/file.h"
#include "bench/host.h"

extern char **environ;

static const struct {
	const char *name;
	struct bench_curves curves;
} curve_files[] = {
	{ "r-bound", { BENCH_SWEEP_DELAY, false } },
	{ "r-overlap", { BENCH_SWEEP_DELAY, true } },
	{ "turn-bound", { BENCH_SWEEP_TURN, false } },
	{ "turn-overlap", { BENCH_SWEEP_TURN, true } },
};
#define CURVE_FILES (sizeof(curve_files) / sizeof(*curve_files))

/* What the exit status of a child says where the program is not there (POSIX, posix_spawn). */
#define EXIT_NOT_FOUND 127

static int plot_begin(struct bench_file *f, const struct bench_report *r, const char *name,
		      const char *ending)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s-%s.%s", r->options->out_dir, r->app->name, name,
		     ending) < (int)sizeof(path))
		return bench_file_begin(f, path);
	bench_error("the path of %s is too long", r->options->out_dir);
	return -ENAMETOOLONG;
}

/* One curve has one point: nothing to draw. */
static bool has_curves(const struct bench_report *r, const struct bench_curves *c)
{
	return bench_sweep_count(r, c->sweep) > 1;
}

static int write_strip(const struct bench_report *r, const struct bench_strip *s)
{
	struct bench_file f;
	char name[64];
	int rc;

	if (!s->method || s->why)
		return 0;
	snprintf(name, sizeof(name), "warps-%.40s", s->method);
	rc = plot_begin(&f, r, name, "svg");
	if (rc)
		return rc;
	bench_chart_strip(f.stream, s, true);
	return bench_file_commit(&f);
}

static int write_svgs(const struct bench_report *r)
{
	struct bench_file f;
	int rc = plot_begin(&f, r, "methods", "svg");

	if (rc)
		return rc;
	bench_chart_bars(f.stream, r, true);
	rc = bench_file_commit(&f);
	for (int i = 0; i < BENCH_STRIPS && !rc; i++)
		rc = write_strip(r, &r->strips[i]);
	for (size_t i = 0; i < CURVE_FILES && !rc; i++) {
		if (!has_curves(r, &curve_files[i].curves))
			continue;
		rc = plot_begin(&f, r, curve_files[i].name, "svg");
		if (rc)
			return rc;
		bench_chart_curves(f.stream, r, &curve_files[i].curves, true);
		rc = bench_file_commit(&f);
	}
	return rc;
}

static double script_x(const struct bench_curves *c, const struct bench_report_point *p)
{
	return c->sweep == BENCH_SWEEP_DELAY ? p->producer_delay : p->turn_percent;
}

/* A method's points as gnuplot reads them from its own script, "e" at the end. */
static void script_data(FILE *f, const struct bench_report *r, const struct bench_curves *c,
			const char *method)
{
	const struct bench_report_point *at = NULL;

	while ((at = bench_curve_next(r, c, at))) {
		const struct bench_row *row =
			bench_row_find(&r->rows[at->first], at->count, method);
		double y = row ? bench_curve_y(c, row) : NAN;

		if (isfinite(y))
			fprintf(f, "%.17g %.17g\n", script_x(c, at), y);
	}
	fputs("e\n", f);
}

/* Has the method a point at all?  gnuplot takes an empty curve for an error. */
static bool has_points(const struct bench_report *r, const struct bench_curves *c,
		       const char *method)
{
	const struct bench_report_point *at = NULL;

	while ((at = bench_curve_next(r, c, at))) {
		const struct bench_row *row =
			bench_row_find(&r->rows[at->first], at->count, method);

		if (row && isfinite(bench_curve_y(c, row)))
			return true;
	}
	return false;
}

/* A mark at each measured x.  The range too: of a curve with one point gnuplot has none. */
static void script_axis(FILE *f, const struct bench_report *r, const struct bench_curves *c)
{
	const struct bench_report_point *at = NULL;
	double x = 0, min = NAN;

	fputs(c->sweep == BENCH_SWEEP_TURN ? "set logscale x 2\nset xtics (" : "set xtics (", f);
	while ((at = bench_curve_next(r, c, at))) {
		x = script_x(c, at);
		fprintf(f, "%s%g", isnan(min) ? "" : ", ", x);
		min = fmin(min, x);
	}
	if (c->sweep == BENCH_SWEEP_TURN)
		fprintf(f, ")\nset xrange [%g:%g]\n", 0.8 * min, 1.25 * x);
	else
		fprintf(f, ")\nset xrange [0:%g]\n", 1.05 * x);
}

/* Names of methods and applications have no quotes, so they need none here. */
static void script(FILE *f, const struct bench_report *r, const struct bench_curves *c)
{
	const char *separator = "plot";

	fputs("if (strstrt(GPVAL_TERMINALS, \"pngcairo\") > 0) set terminal pngcairo size 900,420; "
	      "else set terminal png size 900,420\n",
	      f);
	fprintf(f, "set title \"%s. %s\" noenhanced\n", r->app->name, bench_curves_title(c));
	fprintf(f, "set xlabel \"%s\"\nset key outside right noenhanced\nset grid\n",
		bench_curves_axis(c));
	script_axis(f, r, c);
	for (uint32_t i = 0; i < r->points[0].count; i++) {
		const char *method = r->rows[i].method;

		if (!has_points(r, c, method))
			continue;
		fprintf(f,
			"%s '-' using 1:2 with linespoints pt 7 lw 2 linecolor rgb \"%s\" title "
			"\"%s\"",
			separator, bench_html_colour(method), method);
		separator = ",";
	}
	fputc('\n', f);
	for (uint32_t i = 0; i < r->points[0].count; i++)
		if (has_points(r, c, r->rows[i].method))
			script_data(f, r, c, r->rows[i].method);
}

/* gnuplot with a script on stdin; its stdout is @out.  The exit status, or -errno. */
static int gnuplot(FILE *script_file, FILE *out)
{
	static char name[] = "gnuplot";
	char *argv[] = { name, NULL };
	posix_spawn_file_actions_t actions;
	int rc, status;
	pid_t pid;

	rewind(script_file);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(script_file), STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
	rc = posix_spawnp(&pid, name, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc == ENOENT)
		return EXIT_NOT_FOUND;
	if (rc)
		return -rc;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* 0, or EXIT_NOT_FOUND: there is no gnuplot, or -errno (said). */
static int write_png(const struct bench_report *r, size_t index)
{
	FILE *script_file = tmpfile(), *png = tmpfile();
	struct bench_file f;
	char bytes[4096];
	size_t n;
	int rc = -errno;

	if (!script_file || !png)
		goto out_close;
	script(script_file, r, &curve_files[index].curves);
	rc = fflush(script_file) ? -errno : gnuplot(script_file, png);
	rewind(png);
	n = fread(bytes, 1, sizeof(bytes), png);
	if (rc > 0 && rc != EXIT_NOT_FOUND) {
		bench_error("gnuplot ended with status %d", rc);
		rc = -EIO;
	} else if (!rc && !n) {
		bench_error("gnuplot wrote no picture");
		rc = -EIO;
	}
	if (rc)
		goto out_close;
	rc = plot_begin(&f, r, curve_files[index].name, "png");
	if (rc)
		goto out_close;
	for (; n; n = fread(bytes, 1, sizeof(bytes), png))
		fwrite(bytes, 1, n, f.stream);
	rc = bench_file_commit(&f);
out_close:
	if (script_file)
		fclose(script_file);
	if (png)
		fclose(png);
	return rc;
}

static int write_pngs(const struct bench_report *r)
{
	int rc = 0;

	for (size_t i = 0; i < CURVE_FILES && !rc; i++)
		if (has_curves(r, &curve_files[i].curves))
			rc = write_png(r, i);
	return rc;
}

int bench_plots_write(FILE *text, const struct bench_report *reports, uint32_t count)
{
	int rc = 0, png = 0;
	bool any = false;

	for (uint32_t i = 0; i < count && !rc; i++)
		rc = write_svgs(&reports[i]);
	for (uint32_t i = 0; i < count; i++)
		for (size_t c = 0; c < CURVE_FILES; c++)
			any |= has_curves(&reports[i], &curve_files[c].curves);
	for (uint32_t i = 0; i < count && !rc && !png; i++)
		png = write_pngs(&reports[i]);
	if (rc)
		return rc;
	fprintf(text, "written: the drawings as %s/*.svg%s\n", reports[0].options->out_dir,
		png || !any ? "" : ", the curves as *.png too");
	if (png == EXIT_NOT_FOUND)
		fputs("no PNG: gnuplot is not installed\n", text);
	return png < 0 ? png : 0;
}
