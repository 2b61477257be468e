/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* From the texts on the command line to values, with errors that say what would do. */
#include "tools/command.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const backends[] = { "auto", "cpu", "cuda", "nil", "sim", "uvm" };

uint64_t parse_number(struct argp_state *state, const char *option, const char *text, uint64_t min,
		      uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	/* strtoull() takes "-1" and " 1". */
	if (!isdigit((unsigned char)*text) || *end || errno || value < min || value > max)
		argp_error(state, "--%s: '%s' is not a number from %" PRIu64 " to %" PRIu64, option,
			   text, min, max);
	return value;
}

double parse_real(struct argp_state *state, const char *option, const char *text, double min,
		  double max)
{
	char *end;
	double value;

	value = strtod(text, &end);
	/* strtod() takes hexadecimal too. */
	if (!(isdigit((unsigned char)*text) || *text == '.') || *end || strpbrk(text, "xX") ||
	    !(value >= min) || !(value <= max))
		argp_error(state, "--%s: '%s' is not a number from %g to %g", option, text, min,
			   max);
	return value;
}

/* The next of a list a,b,c into @word; false: no more.  Empty parts are words too. */
static bool next_word(const char **at, char *word, size_t bytes)
{
	size_t length;

	if (!*at)
		return false;
	length = strcspn(*at, ",");
	snprintf(word, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), *at);
	*at += length;
	*at = **at ? *at + 1 : NULL;
	return true;
}

static void known_apps(char *text, size_t bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; apps[i] && used < bytes; i++)
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "",
					 apps[i]->name);
}

static void known_methods(char *text, size_t bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; methods[i] && used < bytes; i++)
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "",
					 methods[i]->name);
}

void parse_apps(struct argp_state *state, const char *text, struct bench_options *o)
{
	char word[64], known[512];

	o->app_count = 0;
	if (!strcmp(text, "all")) {
		for (int i = 0; apps[i] && o->app_count < BENCH_APPS_MAX; i++)
			o->apps[o->app_count++] = apps[i];
		return;
	}
	while (next_word(&text, word, sizeof(word))) {
		const struct app_ops *app = app_find(word);

		if (!app) {
			known_apps(known, sizeof(known));
			argp_error(state, "no application '%s'; there are: %s", word, known);
			return;
		}
		for (uint32_t i = 0; i < o->app_count; i++)
			if (o->apps[i] == app)
				argp_error(state, "application %s is named twice", word);
		if (o->app_count < BENCH_APPS_MAX)
			o->apps[o->app_count++] = app;
	}
}

void parse_methods(struct argp_state *state, const char *text, struct bench_options *o)
{
	char word[64], known[512];

	o->method_count = 0;
	o->is_methods_named = true;
	while (next_word(&text, word, sizeof(word))) {
		const struct method_ops *m = method_find(word);

		if (!m) {
			known_methods(known, sizeof(known));
			argp_error(state, "no method '%s'; there are: %s", word, known);
			return;
		}
		/* Measured always, as T_bare; to name it is no mistake. */
		if (m == &method_none)
			continue;
		for (uint32_t i = 0; i < o->method_count; i++)
			if (o->methods[i] == m)
				argp_error(state, "method %s is named twice", word);
		if (o->method_count < BENCH_METHODS_MAX)
			o->methods[o->method_count++] = m;
	}
}

void parse_delays(struct argp_state *state, const char *text, struct bench_options *o)
{
	char word[64];

	o->delay_count = 0;
	while (next_word(&text, word, sizeof(word))) {
		double delay = parse_real(state, "producer-delay", word, 0, 100);

		for (uint32_t i = 0; i < o->delay_count; i++)
			if (o->delays[i] == delay)
				argp_error(state, "--producer-delay: %g is named twice", delay);
		if (o->delay_count == BENCH_DELAYS_MAX)
			argp_error(state, "--producer-delay: more than %d values",
				   BENCH_DELAYS_MAX);
		o->delays[o->delay_count++] = delay;
	}
}

void parse_backend(struct argp_state *state, const char *text, struct bench_options *o)
{
	for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++)
		if (!strcmp(text, backends[i])) {
			o->backend = text;
			return;
		}
	argp_error(state, "no back-end '%s'; there are: auto, cpu, cuda, nil, sim, uvm", text);
}

/* R is swept at the first: 100 where it is named. */
static void turns_first(struct bench_options *o)
{
	for (uint32_t i = 1; i < o->turn_count; i++) {
		if (o->turns_percent[i] != 100)
			continue;
		for (; i; i--)
			o->turns_percent[i] = o->turns_percent[i - 1];
		o->turns_percent[0] = 100;
		return;
	}
}

static void parse_turns(struct argp_state *state, const char *text, struct bench_options *o)
{
	char word[64];

	o->turn_count = 0;
	while (next_word(&text, word, sizeof(word))) {
		uint32_t turn = (uint32_t)parse_number(state, "turn-percent", word, 1, 10000);

		for (uint32_t i = 0; i < o->turn_count; i++)
			if (o->turns_percent[i] == turn)
				argp_error(state, "--turn-percent: %u is named twice", turn);
		if (o->turn_count == BENCH_TURNS_MAX)
			argp_error(state, "--turn-percent: more than %d values", BENCH_TURNS_MAX);
		o->turns_percent[o->turn_count++] = turn;
	}
	turns_first(o);
}

void parse_size(struct argp_state *state, const char *text, struct bench_options *o)
{
	o->size = bench_size_parse(text);
	if (o->size < 0)
		argp_error(state, "--size: '%s' is none of tiny, small, default, large", text);
}

static void parse_mode(struct argp_state *state, const char *text, struct bench_options *o)
{
	if (!strcmp(text, "push"))
		o->mode = WIC_MODE_PUSH;
	else if (!strcmp(text, "pull"))
		o->mode = WIC_MODE_PULL;
	else
		argp_error(state, "--mode: '%s' is none of push, pull", text);
}

static void parse_devices(struct argp_state *state, const char *text)
{
	if (parse_number(state, "devices", text, 1, 64) > 1)
		argp_error(state,
			   "--devices: how many there are is the application's choice (G_BS: two)");
}

error_t parse_common(int key, char *arg, struct argp_state *state, struct bench_options *o)
{
	switch (key) {
	case KEY_BACKEND:
		parse_backend(state, arg, o);
		break;
	case KEY_SIZE:
		parse_size(state, arg, o);
		break;
	case KEY_THREADS:
		o->threads = (uint32_t)parse_number(state, "threads", arg, 1, 1u << 20);
		if (o->threads % WIC_WARP_LANES)
			argp_error(state, "--threads: %u is not a multiple of %u, a warp's lanes",
				   o->threads, WIC_WARP_LANES);
		break;
	case KEY_DEVICES:
		parse_devices(state, arg);
		break;
	case KEY_SMS:
		o->sms = (uint32_t)parse_number(state, "sms", arg, 1, 1024);
		break;
	case KEY_TAGS:
		o->tags = (uint32_t)parse_number(state, "tags", arg, 1, 1u << 20);
		break;
	case KEY_MODE:
		parse_mode(state, arg, o);
		break;
	case KEY_SEED:
		o->seed = parse_number(state, "seed", arg, 0, UINT64_MAX);
		break;
	case KEY_TURNS:
		parse_turns(state, arg, o);
		break;
	case KEY_INPUT:
		o->input = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_common_child(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG || key == ARGP_KEY_END || key == ARGP_KEY_NO_ARGS)
		return ARGP_ERR_UNKNOWN;
	return parse_common(key, arg, state, state->input);
}

static const struct argp_option common_options[] = {
	{ "backend", KEY_BACKEND, "NAME", 0, "auto, cpu, cuda, sim or uvm (default auto)", 0 },
	{ "size", KEY_SIZE, "NAME", 0, "tiny, small, default or large (default: chosen at start)",
	  0 },
	{ "threads", KEY_THREADS, "N", 0,
	  "consumer threads of the kernel, a multiple of 32 (default: fill the SMs)", 0 },
	{ "devices", KEY_DEVICES, "N", 0, "1: what an application needs is its own choice", 0 },
	{ "sms", KEY_SMS, "N", 0, "emulated SMs (default: cores - 1)", 0 },
	{ "tags", KEY_TAGS, "N", 0, "tags, at least (default: chosen at start)", 0 },
	{ "mode", KEY_MODE, "NAME", 0, "of the method wic: pull, push (default pull)", 0 },
	{ "seed", KEY_SEED, "N", 0, "seed of generated input (default 1)", 0 },
	{ "input", KEY_INPUT, "PATH", 0, "image file or directory of images (default: generated)",
	  0 },
	{ "turn-percent", KEY_TURNS, "N[,N]", 0,
	  "length of a kernel's turns against its own choice, in per cent (default 100)", 0 },
	{ 0 },
};

const struct argp command_common_argp = { .options = common_options, .parser = parse_common_child };

char *command_line(int argc, char **argv)
{
	size_t bytes = 1;
	char *text;

	for (int i = 0; i < argc; i++)
		bytes += strlen(argv[i]) + 1;
	text = malloc(bytes);
	if (!text)
		return NULL;
	text[0] = '\0';
	for (int i = 0; i < argc; i++) {
		strcat(text, argv[i]);
		if (i + 1 < argc)
			strcat(text, " ");
	}
	return text;
}
