/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <string.h>

#include "bench/file.h"
#include "bench/host.h"
#include "bench/gpu/gpu.h"
#include "bench/perf.h"
#include "tools/command.h"

struct perf_test {
	const char *name;
	int (*run)(const struct bench_perf_params *p, struct bench_perf_table *t);
	const char *where; /* what runs on which core */
	/* The same question on the cuda back-end; NULL: it has none. */
	int (*run_on_gpu)(const struct bench_perf_params *p, struct bench_perf_table *t);
};

static const struct perf_test tests[] = {
	{ "cycle", bench_perf_cycle, "warps on core 0, Monitor on the last", NULL },
	{ "latency", bench_perf_latency,
	  "warps on core 0, Monitor on the last, the publisher on the one before (with two cores: "
	  "on the Monitor's)",
	  bench_gpu_latency },
	{ "rate", bench_perf_rate,
	  "warps on core 0, Monitor on the last, the publisher on the one before (with two cores: "
	  "on the Monitor's)",
	  bench_gpu_rate },
	{ "interference", bench_perf_interference,
	  "one SM on core 0, Monitor and publisher on the last", bench_gpu_interference },
	{ "engine", bench_perf_engine, "one thread on core 0, nothing else", NULL },
	{ "record", bench_perf_record, "warps on core 0, Monitor on the last", NULL },
	{ "tree", bench_perf_tree,
	  "warps are threads on core 0, the publisher on the last (with more than two cores: the "
	  "one "
	  "before)",
	  NULL },
	{ "api", bench_perf_api, "one thread on core 0, the back-end nil", NULL },
};
#define TESTS (sizeof(tests) / sizeof(*tests))
#define TEST_NAMES "cycle, latency, rate, interference, engine, record, tree, api"

struct perf_input {
	struct bench_options o; /* its backend */
	struct bench_perf_params p;
	const struct perf_test *test;
	const char *json;
};

/* Keys of this command alone. */
enum {
	KEY_SAMPLES = 0x200,
	KEY_WORK,
	KEY_RATES,
	KEY_IDLE,
	KEY_PAGES,
	KEY_PENDING,
};

static const double rates_default[] = { 1000,  2000,   5000,   10000, 20000,
					50000, 100000, 200000, 500000 };

static void parse_test(struct argp_state *state, const char *name, struct perf_input *in)
{
	if (in->test)
		argp_error(state, "unexpected argument '%s'", name);
	for (size_t i = 0; i < TESTS; i++)
		if (!strcmp(name, tests[i].name))
			in->test = &tests[i];
	if (!in->test)
		argp_error(state, "no test '%s'; there are: " TEST_NAMES, name);
}

static void parse_rates(struct argp_state *state, const char *text, struct bench_perf_params *p)
{
	p->rate_count = 0;
	while (text) {
		size_t length = strcspn(text, ",");
		char word[64];
		double rate;

		snprintf(word, sizeof(word), "%.*s", (int)(length < 63 ? length : 63), text);
		rate = (double)parse_number(state, "rates", word, 1, 10000000);
		if (p->rate_count == BENCH_PERF_RATES_MAX)
			argp_error(state, "--rates: more than %d", BENCH_PERF_RATES_MAX);
		if (p->rate_count && rate <= p->rates[p->rate_count - 1])
			argp_error(state, "--rates: '%s' is not above the one before", word);
		p->rates[p->rate_count++] = rate;
		text = text[length] ? text + length + 1 : NULL;
	}
}

static uint32_t parse_u32(struct argp_state *state, const char *option, const char *text,
			  uint32_t min, uint32_t max)
{
	return (uint32_t)parse_number(state, option, text, min, max);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct perf_input *in = state->input;

	switch (key) {
	case KEY_BACKEND:
		parse_backend(state, arg, &in->o);
		break;
	case KEY_REPEAT:
		in->p.repeats = parse_u32(state, "repeat", arg, 1, BENCH_REPEATS_MAX);
		break;
	case KEY_TAGS:
		in->p.tags = parse_u32(state, "tags", arg, 1, BENCH_PERF_PAGES / 2);
		break;
	case KEY_SAMPLES:
		in->p.samples = parse_u32(state, "samples", arg, 1, 1000000);
		break;
	case KEY_WORK:
		in->p.work = parse_u32(state, "work", arg, 1, 1000000);
		break;
	case KEY_RATES:
		parse_rates(state, arg, &in->p);
		break;
	case KEY_IDLE:
		in->p.idle_ms = parse_u32(state, "idle-ms", arg, 1, 600000);
		break;
	case KEY_PAGES:
		in->p.pages_max = parse_u32(state, "pages-max", arg, BENCH_PERF_PAGES_FIRST,
					    BENCH_PERF_PAGES_LAST);
		break;
	case KEY_PENDING:
		in->p.pending_max = parse_u32(state, "pending-max", arg, BENCH_PERF_PENDING_FIRST,
					      BENCH_PERF_PENDING_LAST);
		break;
	case KEY_SIZE:
		parse_size(state, arg, &in->o);
		break;
	case KEY_JSON:
		in->json = arg;
		break;
	case ARGP_KEY_ARG:
		parse_test(state, arg, in);
		break;
	case ARGP_KEY_END:
		if (!in->test)
			argp_error(state, "which test? there are: " TEST_NAMES);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "backend", KEY_BACKEND, "NAME", 0,
	  "auto, cpu, cuda (latency, rate, interference) or nil (api) (default auto)", 0 },
	{ "repeat", KEY_REPEAT, "N", 0, "repeats (default 15)", 0 },
	{ "tags", KEY_TAGS, "N", 0, "cycle: requests of a repeat (default 4000)", 0 },
	{ "samples", KEY_SAMPLES, "N", 0,
	  "latency: wakes of a case in a repeat; rate: publishes of a point, at least (default "
	  "1000)",
	  0 },
	{ "idle-ms", KEY_IDLE, "MS", 0,
	  "latency: how long the Monitor is left idle to see what it costs (default 2000)", 0 },
	{ "rates", KEY_RATES, "R,...", 0,
	  "rate: publishes a second that are offered, ascending (default 1000 to 500000)", 0 },
	{ "work", KEY_WORK, "N", 0, "interference: pieces of work of a computing warp (default 50)",
	  0 },
	{ "pages-max", KEY_PAGES, "N", 0, "engine: the largest pool (default 1048576)", 0 },
	{ "pending-max", KEY_PENDING, "N", 0, "engine: most pending requests (default 65536)", 0 },
	{ "size", KEY_SIZE, "NAME", 0,
	  "record: of C_SRS, tiny, small, default or large (default: chosen at start)", 0 },
	{ "json", KEY_JSON, "FILE", 0, "rows as JSON lines; - is stdout", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "cycle|latency|rate|interference|engine|record|tree|api",
	.doc = "What one step costs, against the least that could do it in the same run.\n\n"
	       "cycle: a whole park, fill, replay through the API against the same mechanism in a "
	       "loop by hand, for each mechanism that works here; and request + release with the "
	       "data there against an acquire load and a counter's store.\n"
	       "latency: publish, the warp resumes, its store is seen; against a futex wake and a "
	       "thread that spins; the first request after idle, and what an idle Monitor costs.\n"
	       "rate: publishes a second, and latency against offered rate, open loop, from the "
	       "time at which each publish was due.\n"
	       "interference: the same computation while other warps wait / while they stand at a "
	       "plain barrier, for naive, leader and wic.\n"
	       "engine: inputs of the core over pages and pending requests / the same at the "
	       "smallest size.\n"
	       "record: the recorder on against off, on that cycle and on C_SRS.\n"
	       "tree: the interrupt tree over threads: the watcher, a parked warp, another block's "
	       "line, a hand-over, 32 waiters, a plain word / a thread at a futex, and one that "
	       "spins.\n"
	       "api: calls of the host's over the back-end nil, which does nothing / its "
	       "operations called directly.\v" COMMAND_EXIT_TEXT,
};

static int write_rows(const char *path, const struct bench_perf_table *t)
{
	struct bench_file f;
	int rc = bench_file_begin(&f, path);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < t->count && !rc; i++)
		rc = bench_perf_write_json(f.stream, &t->rows[i]);
	if (!rc)
		return bench_file_commit(&f);
	bench_error("cannot write %s: %s", path, strerror(-rc));
	bench_file_abandon(&f);
	return rc;
}

static void input_init(struct perf_input *in)
{
	memset(in, 0, sizeof(*in));
	in->o.backend = "auto";
	in->p.repeats = 15;
	in->o.size = BENCH_SIZE_AUTO;
	in->p.tags = BENCH_PERF_TAGS;
	in->p.samples = 1000;
	in->p.work = 50;
	in->p.idle_ms = 2000;
	in->p.pages_max = BENCH_PERF_PAGES_LAST;
	in->p.pending_max = BENCH_PERF_PENDING_LAST;
	in->p.rate_count = sizeof(rates_default) / sizeof(*rates_default);
	memcpy(in->p.rates, rates_default, sizeof(rates_default));
}

int command_perf(int argc, char **argv)
{
	struct perf_input in;
	struct bench_perf_table table;
	FILE *text;
	bool is_gpu;
	int rc;

	input_init(&in);
	argp_parse(&argp, argc, argv, 0, NULL, &in);
	in.p.backend = in.o.backend;
	in.p.size = in.o.size;
	if (in.json && bench_file_probe(in.json))
		return COMMAND_FAILED;
	if (bench_perf_table_init(&table)) {
		bench_error("no memory for %d rows", BENCH_PERF_ROWS_MAX);
		return COMMAND_FAILED;
	}
	text = in.json && !strcmp(in.json, "-") ? stderr : stdout;
	is_gpu = in.test->run_on_gpu && bench_gpu_is_meant(&in.p);
	fprintf(text, "%s, commit %s\n", bench_machine(), bench_commit());
	fprintf(text, "%s: %u repeat%s, interleaved; %s\n", in.test->name, in.p.repeats,
		in.p.repeats == 1 ? "" : "s",
		is_gpu ? "one kernel on the GPU, this thread where it is" : in.test->where);
	if (in.p.repeats < BENCH_REPEATS_MIN)
		fprintf(text, "fewer than %d repeats: for trying out, not a result\n",
			BENCH_REPEATS_MIN);
	rc = (is_gpu ? in.test->run_on_gpu : in.test->run)(&in.p, &table);
	bench_perf_print(text, &table);
	if (in.json && write_rows(in.json, &table))
		rc = -1;
	bench_perf_table_fini(&table);
	return rc ? COMMAND_FAILED : COMMAND_OK;
}
