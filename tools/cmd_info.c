/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <string.h>

#include "bench/file.h"
#include "bench/host.h"
#include "lib/config.h"
#include "lib/json.h"
#include "lib/registry.h"
#include "tools/command.h"

struct info {
	const char *json;
	struct wic_config defaults;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct info *in = state->input;

	switch (key) {
	case KEY_JSON:
		in->json = arg ? arg : "-";
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL, "one JSON object; without =FILE to stdout",
	  0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Say what this build is and what it would do by default.\v" COMMAND_EXIT_TEXT,
};

/* The cpu back-end's default. */
static uint32_t sms_of(const struct wic_config *c)
{
	if (c->sms)
		return c->sms;
	return bench_cores() > 1 ? bench_cores() - 1 : 1;
}

static void print_info(const struct info *in)
{
	const struct wic_config *c = &in->defaults;

	printf("wic %s, commit %s\n", WIC_VERSION, bench_commit());
	printf("  built: %s, %s%s%s\n", WIC_BUILD_COMPILER, WIC_BUILD_TYPE,
	       *WIC_BUILD_SANITIZE ? ", sanitizers " : "", WIC_BUILD_SANITIZE);
	printf("  machine: %s\n", bench_machine());
	printf("  defaults, with the WIC_* variables that are set: back-end %s, %u SM%s, %u warps "
	       "and "
	       "%u blocks an SM,\n    stack %u bytes, pool %u pages, mechanism %s, recorder %u "
	       "events, %s\n",
	       c->backend, sms_of(c), sms_of(c) == 1 ? "" : "s", c->sm_warps, c->sm_blocks,
	       c->stack_bytes, c->pool_pages, wic_mechanism_name((enum wic_mechanism)c->mechanism),
	       c->record_events, c->unpinned ? "unpinned" : "pinned");
	fputs("back-ends:\n", stdout);
	for (int i = 0; wic_backends()[i]; i++)
		printf("  %s\n", wic_backends()[i]->name);
	fputs("applications:\n", stdout);
	for (int i = 0; apps[i]; i++)
		printf("  %-8s %s: %s\n", apps[i]->name, apps[i]->pattern, apps[i]->summary);
	fputs("methods:\n", stdout);
	for (int i = 0; methods[i]; i++)
		printf("  %-12s %s\n               copy: %s\n", methods[i]->name,
		       methods[i]->summary, methods[i]->copies);
}

static void json_lists(struct wic_json *j)
{
	wic_json_array_begin(j, "backends");
	for (int i = 0; wic_backends()[i]; i++)
		wic_json_string(j, NULL, wic_backends()[i]->name);
	wic_json_array_end(j);
	wic_json_array_begin(j, "apps");
	for (int i = 0; apps[i]; i++)
		wic_json_string(j, NULL, apps[i]->name);
	wic_json_array_end(j);
	wic_json_array_begin(j, "methods");
	for (int i = 0; methods[i]; i++)
		wic_json_string(j, NULL, methods[i]->name);
	wic_json_array_end(j);
}

static int write_json(const struct info *in)
{
	const struct wic_config *c = &in->defaults;
	struct bench_file f;
	struct wic_json j;
	int rc = bench_file_begin(&f, in->json);

	if (rc)
		return rc;
	wic_json_init(&j, f.stream, WIC_JSON_COMPACT);
	wic_json_object_begin(&j, NULL);
	wic_json_string(&j, "version", WIC_VERSION);
	wic_json_string(&j, "commit", bench_commit());
	wic_json_string(&j, "compiler", WIC_BUILD_COMPILER);
	wic_json_string(&j, "build_type", WIC_BUILD_TYPE);
	wic_json_string(&j, "sanitizers", *WIC_BUILD_SANITIZE ? WIC_BUILD_SANITIZE : NULL);
	wic_json_string(&j, "machine", bench_machine());
	wic_json_object_begin(&j, "defaults");
	wic_json_string(&j, "backend", c->backend);
	wic_json_uint(&j, "sms", sms_of(c));
	wic_json_uint(&j, "sm_warps", c->sm_warps);
	wic_json_uint(&j, "sm_blocks", c->sm_blocks);
	wic_json_uint(&j, "stack_bytes", c->stack_bytes);
	wic_json_uint(&j, "pool_pages", c->pool_pages);
	wic_json_string(&j, "mechanism", wic_mechanism_name((enum wic_mechanism)c->mechanism));
	wic_json_uint(&j, "record_events", c->record_events);
	wic_json_bool(&j, "pinned", !c->unpinned);
	wic_json_object_end(&j);
	json_lists(&j);
	wic_json_object_end(&j);
	rc = wic_json_finish(&j);
	if (!rc)
		return bench_file_commit(&f);
	bench_error("cannot write %s: %s", in->json, strerror(-rc));
	bench_file_abandon(&f);
	return rc;
}

int command_info(int argc, char **argv)
{
	struct info in = { .json = NULL };
	const char *from;

	argp_parse(&argp, argc, argv, 0, NULL, &in);
	if (wic_config_resolve(NULL, &in.defaults, &from)) {
		bench_error("%s", wic_last_error());
		return COMMAND_FAILED;
	}
	wic_config_warn_unknown();
	if (in.json)
		return write_json(&in) ? COMMAND_FAILED : COMMAND_OK;
	print_info(&in);
	return COMMAND_OK;
}
