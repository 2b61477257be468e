/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "bench/file.h"
#include "bench/host.h"
#include "lib/json.h"
#include "tools/command.h"
#include "tools/once.h"

struct run_input {
	struct once_input once;
	const char *json; /* NULL: text */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_input *in = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &in->once;
		break;
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
	  2 },
	{ 0 },
};

static const struct argp_child children[] = { { &once_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.doc = "Run one application with one method once, and check its "
	       "result.\v" COMMAND_EXIT_TEXT,
};

static void print_result(const struct bench_rig *rig, const struct run_input *in,
			 const struct once_result *r)
{
	const struct wic_stats *s = &r->run.stats;

	printf("%s, %s: %s\n", rig->p.app->name, once_method_name(&in->once),
	       r->run.status ? r->run.why : "correct");
	printf("  %s\n", wic_describe(rig->w));
	printf("  %s\n", rig->p.app->describe(rig->app));
	printf("  %u tags of %" PRIu64 " bytes, %u block%s of %u threads, %u reader%s a tag\n",
	       rig->shape->tags, rig->shape->bytes_per_tag, rig->shape->grid_blocks,
	       rig->shape->grid_blocks == 1 ? "" : "s", rig->shape->block_threads,
	       rig->shape->readers, rig->shape->readers == 1 ? "" : "s");
	printf("  T_run %.3f ms, T_bare %.3f ms, T_prod %.3f ms\n", (double)r->run.time_ns / 1e6,
	       (double)r->bare.time_ns / 1e6, (double)r->prod_ns / 1e6);
	printf("  requests %" PRIu64 " (found on a page here %" PRIu64 ", parks %" PRIu64
	       ", real faults %" PRIu64 ", batches %" PRIu64 ", pool waits %" PRIu64 ")\n",
	       s->requests, s->hits, s->parks, s->faults, s->batches, s->pool_waits);
	printf("  looks %" PRIu64 ", turns %" PRIu64 ", fills %" PRIu64 " (%" PRIu64
	       " bytes), pages closed %" PRIu64 " in %" PRIu64 " calls\n",
	       s->looks, s->turns, s->fills, s->fill_bytes, s->pages_closed, s->invalidates);
	printf("  Monitor: publishes taken up %" PRIu64 ", epochs compared %" PRIu64
	       ", replays %" PRIu64 ", timeouts %" PRIu64 ", CPU %.3f ms, slept %" PRIu64
	       " times\n",
	       s->publishes, s->checks, s->replays, s->timeouts, (double)s->monitor_cpu_ns / 1e6,
	       s->monitor_sleeps);
}

#define COUNTER(name)                                   \
	{                                               \
#name, offsetof(struct wic_stats, name) \
	}

/* Every counter that there is. */
static const struct counter {
	const char *name;
	size_t offset;
} counters[] = {
	COUNTER(requests),    COUNTER(hits),           COUNTER(parks),
	COUNTER(faults),      COUNTER(batches),        COUNTER(looks),
	COUNTER(turns),       COUNTER(fills),          COUNTER(fill_bytes),
	COUNTER(replays),     COUNTER(invalidates),    COUNTER(pages_closed),
	COUNTER(checks),      COUNTER(timeouts),       COUNTER(pool_waits),
	COUNTER(publishes),   COUNTER(monitor_cpu_ns), COUNTER(monitor_sleeps),
	COUNTER(events_lost), COUNTER(events),
};

_Static_assert(sizeof(counters) / sizeof(*counters) ==
		       sizeof(struct wic_stats) / sizeof(uint64_t) - 1,
	       "a counter is missing; the first member is the size");

static void json_counters(struct wic_json *j, const struct wic_stats *s)
{
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		wic_json_uint(j, counters[i].name,
			      *(const uint64_t *)((const char *)s + counters[i].offset));
}

static int write_json(const struct bench_rig *rig, const struct run_input *in,
		      const struct once_result *r)
{
	struct bench_file f;
	struct wic_json j;
	int rc = bench_file_begin(&f, in->json);

	if (rc)
		return rc;
	wic_json_init(&j, f.stream, WIC_JSON_COMPACT);
	wic_json_object_begin(&j, NULL);
	wic_json_string(&j, "app", rig->p.app->name);
	wic_json_string(&j, "method", once_method_name(&in->once));
	wic_json_bool(&j, "correct", !r->run.status);
	wic_json_string(&j, "error", r->run.status ? r->run.why : NULL);
	wic_json_uint(&j, "sms", rig->sms);
	wic_json_uint(&j, "tags", rig->shape->tags);
	wic_json_double(&j, "t_run_ms", (double)r->run.time_ns / 1e6);
	wic_json_double(&j, "t_bare_ms", (double)r->bare.time_ns / 1e6);
	wic_json_double(&j, "t_prod_ms", (double)r->prod_ns / 1e6);
	json_counters(&j, &r->run.stats);
	wic_json_string(&j, "commit", bench_commit());
	wic_json_string(&j, "machine", bench_machine());
	wic_json_object_end(&j);
	rc = wic_json_finish(&j);
	if (!rc)
		return bench_file_commit(&f);
	bench_error("cannot write %s: %s", in->json, strerror(-rc));
	bench_file_abandon(&f);
	return rc;
}

int command_run(int argc, char **argv)
{
	struct run_input in = { .json = NULL };
	struct once_result r;
	struct bench_rig rig;
	int rc = 0;

	once_init(&in.once);
	argp_parse(&argp, argc, argv, 0, NULL, &in);
	if (in.json && bench_file_probe(in.json))
		return COMMAND_FAILED;
	if (once_open(&in.once, 0, &rig))
		return COMMAND_FAILED;
	once_measure(&rig, &in.once, &r);
	once_run(&rig, &in.once, &r);
	if (in.json)
		rc = write_json(&rig, &in, &r);
	else
		print_result(&rig, &in, &r);
	if (r.run.status)
		bench_error("%s: %s", once_method_name(&in.once), r.run.why);
	bench_rig_close(&rig);
	return rc || r.run.status ? COMMAND_FAILED : COMMAND_OK;
}
