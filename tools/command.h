/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The commands of `wic`.  Exit status: 0 all results correct, 1 a result was wrong or
 * something failed, 2 the command line was wrong (and nothing was done).
 */
#ifndef WIC_TOOLS_COMMAND_H
#define WIC_TOOLS_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/options.h"

enum { COMMAND_OK = 0, COMMAND_FAILED = 1, COMMAND_USAGE = 2 };

#define COMMAND_EXIT_TEXT                                                                     \
	"Exit status: 0 all results were correct, 1 a result was wrong or something failed, " \
	"2 the command line was wrong."

struct command {
	const char *name;
	const char *summary;
	/* argv[0] is "wic <name>". */
	int (*run)(int argc, char **argv);
};

int command_bench(int argc, char **argv);
int command_run(int argc, char **argv);
int command_perf(int argc, char **argv);
int command_trace(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_info(int argc, char **argv);
int command_gen_scene(int argc, char **argv);

/* Options of bench and run alike; the keys are above every character. */
enum {
	KEY_APPS = 0x100,
	KEY_METHODS,
	KEY_BACKEND,
	KEY_SIZE,
	KEY_THREADS,
	KEY_DEVICES,
	KEY_SMS,
	KEY_TAGS,
	KEY_MODE,
	KEY_DELAY,
	KEY_REPEAT,
	KEY_SEED,
	KEY_BUDGET,
	KEY_INPUT,
	KEY_JSON,
	KEY_CSV,
	KEY_OUT,
	KEY_NO_OUT,
	KEY_TURNS,
	KEY_OUTPUT,
	KEY_EVENTS,
	KEY_TOP,
	KEY_PLOTS,
};

/*
 * Parsers for argp: on a bad value they end the program with status 2 by
 * argp_error(), naming the option, the value and what would do.
 */
uint64_t parse_number(struct argp_state *state, const char *option, const char *text, uint64_t min,
		      uint64_t max);
double parse_real(struct argp_state *state, const char *option, const char *text, double min,
		  double max);
void parse_apps(struct argp_state *state, const char *text, struct bench_options *o);
void parse_methods(struct argp_state *state, const char *text, struct bench_options *o);
void parse_delays(struct argp_state *state, const char *text, struct bench_options *o);
void parse_size(struct argp_state *state, const char *text, struct bench_options *o);
void parse_backend(struct argp_state *state, const char *text, struct bench_options *o);
/* The options above that bench and run share.  ARGP_ERR_UNKNOWN: not one of them. */
error_t parse_common(int key, char *arg, struct argp_state *state, struct bench_options *o);

/* argp for both, so that --help lists them once. */
extern const struct argp command_common_argp;

/* "wic bench --apps ..." as it was typed, for reports; owned, free() it.  NULL: no memory. */
char *command_line(int argc, char **argv);

#endif /* WIC_TOOLS_COMMAND_H */
