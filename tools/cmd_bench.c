/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/statistics.h"
#include "tools/command.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bench_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = o;
		break;
	case KEY_APPS:
		parse_apps(state, arg, o);
		break;
	case KEY_METHODS:
		parse_methods(state, arg, o);
		if (!o->method_count)
			argp_error(state, "--methods: none alone compares nothing");
		break;
	case KEY_DELAY:
		parse_delays(state, arg, o);
		break;
	case KEY_REPEAT:
		o->repeats = (uint32_t)parse_number(state, "repeat", arg, 1, BENCH_REPEATS_MAX);
		break;
	case KEY_BUDGET:
		o->budget_s = parse_real(state, "budget", arg, 0, 1e6);
		break;
	case KEY_JSON:
		o->json = arg;
		break;
	case KEY_CSV:
		o->csv = arg;
		break;
	case KEY_OUT:
		o->out_dir = arg;
		break;
	case KEY_NO_OUT:
		o->out_dir = NULL;
		break;
	case KEY_PLOTS:
		o->has_plots = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		break;
	case ARGP_KEY_END:
		if (o->json && o->csv && !strcmp(o->json, "-") && !strcmp(o->csv, "-"))
			argp_error(state, "--json and --csv cannot both go to stdout");
		if (o->has_plots && !o->out_dir)
			argp_error(state, "--plots: with --no-out there is no place for them");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "apps", KEY_APPS, "A,B", 0,
	  "applications, or all (default: the first that wic info lists)", 1 },
	{ "methods", KEY_METHODS, "X,Y", 0,
	  "methods (default: all at the first R; after it naive, wic and the best other)", 1 },
	{ "producer-delay", KEY_DELAY, "R[,R]", 0,
	  "T_prod / T_bare, most important first (default 0.9,1.5,0,1,0.5,3)", 1 },
	{ "repeat", KEY_REPEAT, "N", 0, "repeats of each (default 7, the fewest that count)", 1 },
	{ "budget", KEY_BUDGET, "S", 0,
	  "seconds after which values of R are cut, never repeats (default 100)", 1 },
	{ "json", KEY_JSON, "FILE", 0, "rows as JSON lines; - is stdout", 2 },
	{ "csv", KEY_CSV, "FILE", 0, "rows as CSV; - is stdout", 2 },
	{ "out", KEY_OUT, "DIR", 0, "where bench.html and bench.jsonl go (default out)", 2 },
	{ "no-out", KEY_NO_OUT, NULL, 0, "write neither", 2 },
	{ "plots", KEY_PLOTS, NULL, 0,
	  "also write each drawing there: SVG, and PNG where gnuplot is installed", 2 },
	{ 0 },
};

static const struct argp_child children[] = { { &command_common_argp, 0, NULL, 3 }, { 0 } };

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.doc = "Compare ways of waiting on real work.\v" COMMAND_EXIT_TEXT,
};

int command_bench(int argc, char **argv)
{
	struct bench_options o;
	char *line;
	int rc;

	bench_options_init(&o);
	o.apps[o.app_count++] = apps[0];
	for (int i = 0; methods[i] && o.method_count < BENCH_METHODS_MAX; i++)
		if (methods[i] != &method_none)
			o.methods[o.method_count++] = methods[i];
	line = command_line(argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	o.command = line;
	rc = bench_run_all(&o);
	free(line);
	return rc ? COMMAND_FAILED : COMMAND_OK;
}
