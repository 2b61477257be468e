/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "tools/once.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "tools/command.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct once_input *in = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &in->o;
		break;
	case KEY_APPS:
		parse_apps(state, arg, &in->o);
		if (in->o.app_count != 1)
			argp_error(state, "--app: one application");
		break;
	case KEY_METHODS:
		parse_methods(state, arg, &in->o);
		if (in->o.method_count > 1)
			argp_error(state, "--method: one method");
		break;
	case KEY_DELAY:
		if (!strcmp(arg, "ready")) {
			in->is_ready = true;
			break;
		}
		parse_delays(state, arg, &in->o);
		if (in->o.delay_count != 1)
			argp_error(state, "--producer-delay: one value");
		break;
	case ARGP_KEY_END:
		if (in->o.turn_count != 1)
			argp_error(state, "--turn-percent: one value");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "app", KEY_APPS, "A", 0, "application (default: the first)", 1 },
	{ "apps", KEY_APPS, NULL, OPTION_ALIAS, NULL, 1 },
	{ "method", KEY_METHODS, "X", 0, "method (default wic)", 1 },
	{ "methods", KEY_METHODS, NULL, OPTION_ALIAS, NULL, 1 },
	{ "producer-delay", KEY_DELAY, "R", 0,
	  "T_prod / T_bare, or 'ready': all is published before the launch (default 0.9)", 1 },
	{ 0 },
};

static const struct argp_child children[] = { { &command_common_argp, 0, NULL, 3 }, { 0 } };

const struct argp once_argp = { .options = options, .parser = parse, .children = children };

void once_init(struct once_input *in)
{
	bench_options_init(&in->o);
	in->is_ready = false;
	in->o.size = APP_TINY;
	in->o.apps[in->o.app_count++] = apps[0];
	in->o.methods[in->o.method_count++] = &method_wic;
}

const char *once_method_name(const struct once_input *in)
{
	return in->o.method_count ? in->o.methods[0]->name : "none";
}

int once_open(const struct once_input *in, uint32_t record_events, struct bench_rig *rig)
{
	const struct bench_rig_params p = {
		.options = &in->o,
		.app = in->o.apps[0],
		.methods = in->o.methods,
		.method_count = in->o.method_count,
		.size = in->o.size,
		.tags = in->o.tags,
		.turn_percent = in->o.turns_percent[0],
		.record_events = record_events,
	};

	return bench_rig_open(rig, &p);
}

void once_measure(struct bench_rig *rig, const struct once_input *in, struct once_result *r)
{
	memset(r, 0, sizeof(*r));
	/* Once for first touches, once for T_bare, once more for T_prod at that pace. */
	bench_rig_bare(rig, 0, &r->prod_ns, &r->bare);
	if (!r->bare.status)
		bench_rig_bare(rig, 0, &r->prod_ns, &r->bare);
	r->pace_ns = (uint64_t)(in->o.delays[0] * (double)r->bare.time_ns);
	if (in->is_ready)
		r->pace_ns = BENCH_READY;
	else if (!r->bare.status)
		bench_rig_bare(rig, r->pace_ns, &r->prod_ns, &r->bare);
}

/* The reason stands behind the method's name, which is printed anyway. */
static void left_out(const struct bench_rig *rig, const struct once_input *in,
		     struct bench_run *run)
{
	memset(run, 0, sizeof(*run));
	run->status = -ENOTSUP;
	snprintf(run->why, sizeof(run->why), "%.250s",
		 rig->left_out + strlen(once_method_name(in)) + 2);
}

void once_run(struct bench_rig *rig, const struct once_input *in, struct once_result *r)
{
	uint64_t prod_ns;

	if (r->bare.status)
		r->run = r->bare;
	else if (!in->o.method_count)
		bench_rig_bare(rig, 0, &prod_ns, &r->run);
	else if (!rig->method_count)
		left_out(rig, in, &r->run);
	else
		bench_rig_run(rig, &rig->methods[0], r->pace_ns, &r->run);
}
