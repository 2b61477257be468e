/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <string.h>

#include "bench/file.h"
#include "bench/host.h"
#include "lib/json.h"
#include "lib/registry.h"
#include "tools/command.h"

#define PROBES_MAX 64

/* Back-ends of other releases: named, so that nobody looks for the mistake here. */
static const struct {
	const char *name, *why;
} absent[] = {
	{ "uvm", "not built into this release" },
	{ "sim", "not built into this release" },
};

struct doctor {
	const char *json;
	struct wic_probe probes[PROBES_MAX];
	uint32_t count;
	bool any_works;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor *d = state->input;

	switch (key) {
	case KEY_JSON:
		d->json = arg ? arg : "-";
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
	{ "json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL, "JSON lines; without =FILE to stdout", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Try what WIC needs of this machine, for real, and say what works.\v"
	       "Exit status: 0 a back-end works here, 1 none does or the report could not be "
	       "written, 2 the command line was wrong.",
};

static void probe_all(struct doctor *d)
{
	const struct wic_be_ops *const *be = wic_backends();

	for (; *be && d->count < PROBES_MAX; be++) {
		uint32_t first = d->count;

		d->count += (*be)->probe(&d->probes[first], PROBES_MAX - first);
		/* The first is the back-end's own. */
		if (d->count > first && !(*be)->by_name_only)
			d->any_works |= d->probes[first].works;
	}
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent) && d->count < PROBES_MAX; i++) {
		struct wic_probe *p = &d->probes[d->count++];

		memset(p, 0, sizeof(*p));
		snprintf(p->name, sizeof(p->name), "%s", absent[i].name);
		snprintf(p->text, sizeof(p->text), "%s", absent[i].why);
	}
}

static void print_probes(const struct doctor *d)
{
	printf("%s\n", bench_machine());
	for (uint32_t i = 0; i < d->count; i++) {
		const struct wic_probe *p = &d->probes[i];
		bool has_colour = bench_has_colour(stdout);
		const char *colour = p->works ? "\033[32m" : "\033[33m";

		printf("  %-20s %s%-8s%s %s\n", p->name, has_colour ? colour : "",
		       p->works ? "works" : "no", has_colour ? "\033[0m" : "", p->text);
	}
}

static int write_json(const struct doctor *d)
{
	struct bench_file f;
	struct wic_json j;
	int rc = bench_file_begin(&f, d->json);

	for (uint32_t i = 0; i < d->count && !rc; i++) {
		wic_json_init(&j, f.stream, WIC_JSON_COMPACT);
		wic_json_object_begin(&j, NULL);
		wic_json_string(&j, "name", d->probes[i].name);
		wic_json_bool(&j, "works", d->probes[i].works);
		wic_json_string(&j, "text", d->probes[i].text);
		wic_json_string(&j, "machine", bench_machine());
		wic_json_object_end(&j);
		rc = wic_json_finish(&j);
		if (rc)
			bench_error("cannot write %s: %s", d->json, strerror(-rc));
	}
	if (!rc)
		return bench_file_commit(&f);
	bench_file_abandon(&f);
	return rc;
}

int command_doctor(int argc, char **argv)
{
	static struct doctor d;
	int rc = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &d);
	if (d.json && bench_file_probe(d.json))
		return COMMAND_FAILED;
	probe_all(&d);
	if (d.json)
		rc = write_json(&d);
	else
		print_probes(&d);
	if (!d.any_works)
		bench_error("no back-end works here");
	return rc || !d.any_works ? COMMAND_FAILED : COMMAND_OK;
}
