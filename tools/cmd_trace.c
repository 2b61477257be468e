/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* `wic trace`: record a run into a file, and read such files. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/file.h"
#include "bench/host.h"
#include "bench/trace_export.h"
#include "bench/trace_stat.h"
#include "lib/log.h"
#include "tools/command.h"
#include "tools/once.h"

#define TOP 10

struct record_input {
	struct once_input once;
	const char *output;
	uint32_t events;
};

static error_t parse_record(int key, char *arg, struct argp_state *state)
{
	struct record_input *in = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &in->once;
		break;
	case KEY_OUTPUT:
		in->output = arg;
		break;
	case KEY_EVENTS:
		in->events = (uint32_t)parse_number(state, "events", arg, 1, 1u << 26);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option record_options[] = {
	{ "output", KEY_OUTPUT, "FILE", 0, "the trace; - is stdout (default trace.wic)", 2 },
	{ "events", KEY_EVENTS, "N", 0,
	  "events an SM that the recorder has room for, the newest are kept (default 262144)", 2 },
	{ 0 },
};

static const struct argp_child record_children[] = { { &once_argp, 0, NULL, 0 }, { 0 } };

static const struct argp record_argp = {
	.options = record_options,
	.parser = parse_record,
	.children = record_children,
	.doc = "Run one application with one method once with the recorder on, and write what each "
	       "warp did into a file, for `wic trace stat` and `wic trace export`.  The file is "
	       "there as a whole or not at all.\v" COMMAND_EXIT_TEXT,
};

static void fill_head(struct bench_trace_head *h, const struct bench_rig *rig,
		      const struct record_input *in, const struct bench_run *run)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	h->events_lost = run->stats.events_lost;
	h->start_ns = run->start_ns;
	h->end_ns = run->start_ns + run->time_ns;
	h->start_unix_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec -
			   (wic_now_ns() - run->start_ns);
	/* Events count them over all devices. */
	h->sms = rig->sms * rig->p.app->devices;
	h->tags = rig->shape->tags;
	h->status = run->status;
	h->ring_events = in->events;
	snprintf(h->app, sizeof(h->app), "%s", rig->p.app->name);
	snprintf(h->method, sizeof(h->method), "%s", once_method_name(&in->once));
	snprintf(h->machine, sizeof(h->machine), "%s", bench_machine());
	snprintf(h->commit, sizeof(h->commit), "%s", bench_commit());
	snprintf(h->describe, sizeof(h->describe), "%s", wic_describe(rig->w));
}

/* The rings' events of the run just made.  0 or -errno, and it was said why. */
static int read_events(struct bench_rig *rig, const struct bench_run *run, struct bench_trace *t)
{
	/* The rings were empty before. */
	uint64_t max = run->stats.events - run->stats.events_lost;
	size_t count;
	int rc;

	if (max > BENCH_TRACE_EVENTS_MAX) {
		bench_error("%" PRIu64 " events are more than a trace holds; --events has fewer",
			    max);
		return -E2BIG;
	}
	t->events = malloc((max + 1) * sizeof(*t->events));
	if (!t->events) {
		bench_error("no memory for %" PRIu64 " events", max);
		return -ENOMEM;
	}
	rc = wic_events_read(rig->w, t->events, max, &count);
	t->head.event_count = rc ? 0 : count;
	if (rc)
		bench_error("cannot read the recorder: %s", wic_last_error());
	return rc;
}

static int write_trace(const char *path, struct bench_trace *t)
{
	struct bench_file f;
	int rc = bench_file_begin_large(&f, path);

	if (rc)
		return rc;
	rc = bench_trace_write(f.stream, t);
	if (!rc)
		return bench_file_commit(&f);
	bench_error("cannot write %s: %s", path, strerror(-rc));
	bench_file_abandon(&f);
	return rc;
}

static void print_recorded(const struct record_input *in, const struct bench_trace *t)
{
	bool to_stdout = !strcmp(in->output, "-");

	fprintf(to_stdout ? stderr : stdout,
		"%s, %s: %s; %.3f ms, %" PRIu64 " events, %" PRIu64 " lost\n", t->head.app,
		t->head.method, t->head.status ? wic_strerror(t->head.status) : "correct",
		(double)(t->head.end_ns - t->head.start_ns) / 1e6, t->head.event_count,
		t->head.events_lost);
	if (t->head.events_lost)
		bench_error("the ring was too small: the oldest events are lost; give more than "
			    "--events %" PRIu32,
			    in->events);
	if (!to_stdout)
		printf("written: %s (wic trace stat, wic trace export)\n", in->output);
}

/* 0 or -errno, and it was said why. */
static int record(struct bench_rig *rig, const struct record_input *in)
{
	struct bench_trace t = { .events = NULL };
	struct wic_event none;
	struct once_result r;
	size_t count;
	int rc;

	once_measure(rig, &in->once, &r);
	/* What led up to the run is no part of it. */
	if (wic_events_read(rig->w, &none, 0, &count)) {
		bench_error("nothing can be recorded: %s", wic_last_error());
		return -ENOTSUP;
	}
	once_run(rig, &in->once, &r);
	if (r.run.status)
		bench_error("%s: %s", once_method_name(&in->once), r.run.why);
	/* A run that failed is worth looking at; one that did not start has no events. */
	if (r.bare.status || !r.run.time_ns || rig->is_dead)
		return r.run.status;
	fill_head(&t.head, rig, in, &r.run);
	rc = read_events(rig, &r.run, &t);
	if (!rc)
		rc = write_trace(in->output, &t);
	if (!rc)
		print_recorded(in, &t);
	bench_trace_free(&t);
	return rc ? rc : r.run.status;
}

static int trace_record(int argc, char **argv)
{
	struct record_input in = { .output = "trace.wic", .events = BENCH_RECORD_EVENTS };
	struct bench_rig rig;
	int rc;

	once_init(&in.once);
	argp_parse(&record_argp, argc, argv, 0, NULL, &in);
	if (bench_file_probe(in.output) || once_open(&in.once, in.events, &rig))
		return COMMAND_FAILED;
	rc = record(&rig, &in);
	bench_rig_close(&rig);
	return rc ? COMMAND_FAILED : COMMAND_OK;
}

/* export and stat: a file, and where to. */
struct read_input {
	const char *file;
	const char *json; /* NULL: not named */
	uint32_t top;
};

static error_t parse_read(int key, char *arg, struct argp_state *state)
{
	struct read_input *in = state->input;

	switch (key) {
	case KEY_JSON:
		in->json = arg ? arg : "-";
		break;
	case KEY_TOP:
		in->top = (uint32_t)parse_number(state, "top", arg, 0, UINT32_MAX);
		break;
	case ARGP_KEY_ARG:
		if (in->file)
			argp_error(state, "unexpected argument '%s'", arg);
		in->file = arg;
		break;
	case ARGP_KEY_END:
		if (!in->file)
			argp_error(state, "which file? wic trace record writes one");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option export_options[] = {
	{ "json", KEY_JSON, "OUT", 0, "where to; - is stdout (default: FILE.json)", 0 },
	{ 0 },
};

static const struct argp export_argp = {
	.options = export_options,
	.parser = parse_read,
	.args_doc = "FILE",
	.doc = "Write a trace as Chrome trace-event JSON: open it in ui.perfetto.dev or "
	       "chrome://tracing.  A process is an SM, a thread is a warp; spans say what it did, "
	       "with channel, tag and epoch; a counter shows how many were "
	       "parked.\v" COMMAND_EXIT_TEXT,
};

static const struct argp_option stat_options[] = {
	{ "json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL, "one JSON object; without =FILE to stdout",
	  0 },
	{ "top", KEY_TOP, "N", 0, "tags with the longest waits (default 10)", 0 },
	{ 0 },
};

static const struct argp stat_argp = {
	.options = stat_options,
	.parser = parse_read,
	.args_doc = "FILE",
	.doc = "Say what a trace shows: events, what the warps spent their time on, how long they "
	       "were parked, the longest waits, and what was lost.\v" COMMAND_EXIT_TEXT,
};

/* 0 or -errno, and it was said why. */
static int load(const char *path, struct bench_trace *t, struct bench_trace_lanes *l)
{
	FILE *f = fopen(path, "rb");
	char why[256];
	int rc;

	if (!f) {
		rc = -errno;
		bench_error("cannot read %s: %s", path, strerror(-rc));
		return rc;
	}
	rc = bench_trace_read(f, t, why, sizeof(why));
	fclose(f);
	if (!rc) {
		rc = bench_trace_lanes_make(l, t);
		if (rc) {
			snprintf(why, sizeof(why), "%s", strerror(-rc));
			bench_trace_free(t);
		}
	}
	if (rc)
		bench_error("cannot read %s: %s", path, why);
	return rc;
}

static int write_export(const char *path, const struct bench_trace_lanes *l)
{
	struct bench_file f;
	int rc = bench_file_begin_large(&f, path);

	if (rc)
		return rc;
	rc = bench_trace_export(f.stream, l);
	if (!rc)
		return bench_file_commit(&f);
	bench_error("cannot write %s: %s", path, strerror(-rc));
	bench_file_abandon(&f);
	return rc;
}

static int trace_export(int argc, char **argv)
{
	struct read_input in = { .file = NULL };
	struct bench_trace_lanes l;
	char path[PATH_MAX];
	struct bench_trace t;
	int rc;

	argp_parse(&export_argp, argc, argv, 0, NULL, &in);
	if (!in.json) {
		if (snprintf(path, sizeof(path), "%s.json", in.file) >= (int)sizeof(path)) {
			bench_error("cannot write %s.json: %s", in.file, strerror(ENAMETOOLONG));
			return COMMAND_FAILED;
		}
		in.json = path;
	}
	if (load(in.file, &t, &l))
		return COMMAND_FAILED;
	rc = write_export(in.json, &l);
	if (!rc && strcmp(in.json, "-"))
		printf("written: %s (open it in ui.perfetto.dev or chrome://tracing)\n", in.json);
	bench_trace_lanes_free(&l);
	bench_trace_free(&t);
	return rc ? COMMAND_FAILED : COMMAND_OK;
}

static int write_stat(const char *path, const struct bench_trace_stat *s,
		      const struct bench_trace *t, uint32_t top)
{
	struct bench_file f;
	int rc = bench_file_begin(&f, path);

	if (rc)
		return rc;
	rc = bench_trace_stat_write_json(f.stream, s, t, top);
	if (!rc)
		return bench_file_commit(&f);
	bench_error("cannot write %s: %s", path, strerror(-rc));
	bench_file_abandon(&f);
	return rc;
}

static int trace_stat(int argc, char **argv)
{
	struct read_input in = { .top = TOP };
	struct bench_trace_lanes l;
	struct bench_trace_stat s;
	struct bench_trace t;
	int rc;

	argp_parse(&stat_argp, argc, argv, 0, NULL, &in);
	if (load(in.file, &t, &l))
		return COMMAND_FAILED;
	rc = bench_trace_stat_make(&s, &l);
	if (rc)
		bench_error("no memory for the figures of %s", in.file);
	else if (in.json)
		rc = write_stat(in.json, &s, &t, in.top);
	else
		bench_trace_stat_print(stdout, &s, &t, in.top);
	bench_trace_stat_free(&s);
	bench_trace_lanes_free(&l);
	bench_trace_free(&t);
	return rc ? COMMAND_FAILED : COMMAND_OK;
}

static const struct command parts[] = {
	{ "record", "run once with the recorder on, into a file", trace_record },
	{ "export", "a recorded file as JSON for Perfetto and Chrome", trace_export },
	{ "stat", "what a recorded file shows, in figures", trace_stat },
};
#define PARTS (sizeof(parts) / sizeof(*parts))

static void help(FILE *f)
{
	fputs("Usage: wic trace record|export|stat [options]\n\n", f);
	for (size_t i = 0; i < PARTS; i++)
		fprintf(f, "  %-10s %s\n", parts[i].name, parts[i].summary);
	fputs("\n`wic trace <part> --help` lists the options.\n" COMMAND_EXIT_TEXT "\n", f);
}

int command_trace(int argc, char **argv)
{
	char name[32];

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?"))) {
		help(stdout);
		return COMMAND_OK;
	}
	for (size_t i = 0; argc > 1 && i < PARTS; i++) {
		if (strcmp(argv[1], parts[i].name))
			continue;
		/* What argp calls the program in its messages. */
		snprintf(name, sizeof(name), "wic trace %s", parts[i].name);
		argv[1] = name;
		return parts[i].run(argc - 1, argv + 1);
	}
	if (argc > 1)
		bench_error("no part '%s' of trace; there are: record, export, stat", argv[1]);
	else
		bench_error("which part of trace? there are: record, export, stat");
	return COMMAND_USAGE;
}
