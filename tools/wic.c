/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The `wic` command: finds the command to run, and checks that what it printed went out. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "bench/host.h"
#include "tools/command.h"

static const struct command commands[] = {
	{ "bench", "compare ways of waiting on the applications", command_bench },
	{ "run", "one application, one method, one run", command_run },
	{ "perf", "what one step costs against the least that could do it", command_perf },
	{ "trace", "record one run, export it for Perfetto, say what it shows", command_trace },
	{ "doctor", "what works on this machine, and why not", command_doctor },
	{ "info", "version, defaults, applications, methods", command_info },
	{ "gen-scene", "write a synthetic satellite scene", command_gen_scene },
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void help(FILE *f)
{
	fputs("usage: wic <command> [options]\n\n", f);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\n`wic <command> --help` lists the options.\n" COMMAND_EXIT_TEXT "\n", f);
}

/* A full disk or a closed pipe must not look like success. */
static int close_stdout(int status)
{
	errno = EIO;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	bench_error("cannot write to stdout: %s", strerror(errno));
	return status ? status : COMMAND_FAILED;
}

static int unknown(const char *name)
{
	bench_error("no command '%s'; there are:", name);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(stderr, "  %s\n", commands[i].name);
	return COMMAND_USAGE;
}

static int run_command(const struct command *c, int argc, char **argv)
{
	char name[64];

	/* What argp calls the program in its messages. */
	snprintf(name, sizeof(name), "wic %s", c->name);
	argv[0] = name;
	return c->run(argc, argv);
}

int main(int argc, char **argv)
{
	argp_err_exit_status = COMMAND_USAGE;
	/* Only what the terminal can show: numbers keep their dots. */
	setlocale(LC_CTYPE, "");
	/* Before any thread is pinned. */
	(void)bench_cores();
	if (argc < 2) {
		help(stderr);
		return COMMAND_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return close_stdout(COMMAND_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("wic %s (%s)\n", WIC_VERSION, bench_commit());
		return close_stdout(COMMAND_OK);
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return close_stdout(run_command(&commands[i], argc - 1, argv + 1));
	return unknown(argv[1]);
}
