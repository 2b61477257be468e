/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The rows of `wic perf`: collected in a table, written as JSON lines, printed. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host.h"
#include "bench/perf.h"
#include "core/dep.h"
#include "lib/json.h"

int bench_perf_table_init(struct bench_perf_table *t)
{
	memset(t, 0, sizeof(*t));
	t->rows = calloc(BENCH_PERF_ROWS_MAX, sizeof(*t->rows));
	return t->rows ? 0 : -ENOMEM;
}

void bench_perf_table_fini(struct bench_perf_table *t)
{
	free(t->rows);
	memset(t, 0, sizeof(*t));
}

struct bench_perf_row *bench_perf_row_add(struct bench_perf_table *t, const char *test,
					  const char *unit, const char *fmt, ...)
{
	struct bench_perf_row *row;
	va_list args;

	/* All tests together have fewer; should that be wrong, the last row suffers. */
	WIC_ASSERT(t->count < BENCH_PERF_ROWS_MAX);
	if (t->count < BENCH_PERF_ROWS_MAX)
		t->count++;
	row = &t->rows[t->count - 1];
	memset(row, 0, sizeof(*row));
	row->test = test;
	/* The one back-end with real faults that there is; a test of another says so. */
	row->backend = "cpu";
	row->unit = unit;
	row->value = NAN;
	row->baseline = NAN;
	row->ratio = (struct bench_interval){ NAN, NAN, NAN };
	va_start(args, fmt);
	vsnprintf(row->name, sizeof(row->name), fmt, args);
	va_end(args);
	return row;
}

void bench_perf_row_note(struct bench_perf_row *row, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(row->note, sizeof(row->note), fmt, args);
	va_end(args);
}

void bench_perf_row_finish(struct bench_perf_row *row, const struct bench_perf_samples *s,
			   uint32_t repeats, double scale)
{
	row->value = bench_median(s->value, repeats) * scale;
	row->baseline = bench_median(s->baseline, repeats) * scale;
	row->ratio = bench_ratio_paired(s->value, s->baseline, repeats);
}

static double rounded(double x)
{
	return isfinite(x) ? round(x * 1e4) / 1e4 : NAN;
}

int bench_perf_write_json(FILE *f, const struct bench_perf_row *row)
{
	struct wic_json j;
	char date[32];

	bench_date(date, sizeof(date));
	wic_json_init(&j, f, WIC_JSON_COMPACT);
	wic_json_object_begin(&j, NULL);
	wic_json_string(&j, "test", row->test);
	wic_json_string(&j, "backend", row->backend);
	wic_json_string(&j, "case", row->name);
	wic_json_double(&j, "value", rounded(row->value));
	wic_json_string(&j, "unit", row->unit);
	wic_json_double(&j, "baseline", rounded(row->baseline));
	wic_json_double(&j, "ratio", rounded(row->ratio.v));
	wic_json_double(&j, "lo", rounded(row->ratio.lo));
	wic_json_double(&j, "hi", rounded(row->ratio.hi));
	wic_json_string(&j, "commit", bench_commit());
	wic_json_string(&j, "machine", bench_machine());
	wic_json_string(&j, "date", date);
	wic_json_object_end(&j);
	return wic_json_finish(&j);
}

/* "-" for what is not known. */
static void print_number(FILE *f, int width, int digits, double x)
{
	if (isfinite(x))
		fprintf(f, " %*.*f", width, digits, x);
	else
		fprintf(f, " %*s", width, "-");
}

void bench_perf_print(FILE *f, const struct bench_perf_table *t)
{
	int width = 28;

	for (uint32_t i = 0; i < t->count; i++) {
		int length = (int)strlen(t->rows[i].name);

		width = length > width ? length : width;
	}
	fprintf(f, "%-*s %11s %11s %4s   ratio  [95 %% interval]\n", width, "case", "value",
		"baseline", "");
	for (uint32_t i = 0; i < t->count; i++) {
		const struct bench_perf_row *row = &t->rows[i];

		fprintf(f, "%-*s", width, row->name);
		print_number(f, 11, 2, row->value);
		print_number(f, 11, 2, row->baseline);
		fprintf(f, " %-4s ", row->unit);
		print_number(f, 6, 3, row->ratio.v);
		fputs("  [", f);
		print_number(f, 0, 3, row->ratio.lo);
		fputc(',', f);
		print_number(f, 0, 3, row->ratio.hi);
		fprintf(f, " ]  %s\n", row->note);
	}
}
