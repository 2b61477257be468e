// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * `wic perf latency` on a GPU: the host publishes, a warp resumes and stores, the host sees it.
 *
 *	watcher		the warp watches for its block and owns the line
 *	parked		it parks; another warp of its block watches and owns the line
 *	other-line	it watches; another block owns the line
 *	write-value	cuStreamWriteValue64() to a word of the GPU, at which a warp looks
 *
 * back to back, and with 20 and 200 us between an answer and the next publish.  Baseline: the same
 * store to a pinned word at which one warp looks all the time.  A value is the median over the
 * repeats of each repeat's quantile; "p99/p50" sets the 99th percentile against the median of the
 * same case.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/gpu.h"
#include "bench/host.h"
#include "lib/log.h"
#include "lib/memory.h"

#define QUANTILES 2
#define TAGS 16

static const double quantiles[QUANTILES] = { 0.5, 0.99 };
static const char *const quantile_names[QUANTILES] = { "p50", "p99" };
static const uint32_t gaps_us[] = { 0, 20, 200 };
#define GAPS (sizeof(gaps_us) / sizeof(*gaps_us))

/* Fewer samples where each takes longer. */
#define GAP_SAMPLES 200

struct echo_case {
	enum gpu_echo kind;
	const char *name;
	uint32_t blocks, warps;
};

static const struct echo_case cases[] = {
	{ GPU_ECHO_SPIN, "spin", 1, 1 },        { GPU_ECHO_WATCHER, "watcher", 1, 1 },
	{ GPU_ECHO_PARKED, "parked", 1, 2 },    { GPU_ECHO_OTHER, "other-line", 2, 1 },
	{ GPU_ECHO_WORD, "write-value", 1, 1 },
};
#define CASES (sizeof(cases) / sizeof(*cases))

struct series {
	double at[QUANTILES][BENCH_REPEATS_MAX];
};

struct subject {
	struct gpu_bench g;
	struct wic_channel *ch; /* owned by the context */
	uint64_t *word;         /* owned; of the device */
	uint64_t base;
	double *ns; /* owned, samples */
	struct series series[CASES][GAPS];
};

static int publish(struct subject *s, enum gpu_echo kind, uint64_t epoch)
{
	if (kind == GPU_ECHO_SPIN) {
		__atomic_store_n(gpu_word(&s->g, GPU_WORD_FLAG), epoch, __ATOMIC_RELEASE);
		return 0;
	}
	if (kind == GPU_ECHO_WORD)
		return wic_cuda_fail(s->g.d,
				     s->g.d->stream_write_value64(
					     s->g.stream, (uint64_t)(uintptr_t)s->word, epoch, 0),
				     "cuStreamWriteValue64");
	return wic_publish(s->ch, 0, epoch);
}

static int launch(struct subject *s, const struct echo_case *c, struct gpu_echo_args *a,
		  uint32_t count)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;

	a->h = wic_channel_handle(s->ch);
	a->flag = c->kind == GPU_ECHO_WORD ? s->word : gpu_word(&s->g, GPU_WORD_FLAG);
	a->echo = gpu_word(&s->g, GPU_WORD_ECHO);
	a->ready = gpu_word(&s->g, GPU_WORD_READY);
	a->status = (int64_t *)gpu_word(&s->g, GPU_WORD_STATUS);
	a->base = s->base;
	a->count = count;
	a->kind = c->kind;
	*a->ready = 0;
	*a->status = 0;
	l.kernel = wic_gpu_echo;
	l.args = a;
	l.grid_blocks = c->blocks;
	l.block_threads = 32 * c->warps;
	return wic_launch(s->g.w, &l);
}

static int run(struct subject *s, const struct echo_case *c, uint32_t gap_us, uint32_t count)
{
	const uint64_t *echo = gpu_word(&s->g, GPU_WORD_ECHO);
	struct gpu_echo_args a;
	int rc = launch(s, c, &a, count), end_rc;

	if (!rc)
		rc = bench_gpu_look(gpu_word(&s->g, GPU_WORD_READY), 1);
	for (uint32_t i = 0; i < count && !rc; i++) {
		uint64_t epoch = s->base + i + 1, begin;

		if (gap_us)
			for (begin = wic_now_ns(); wic_now_ns() < begin + WIC_US(gap_us);)
				;
		begin = wic_now_ns();
		rc = publish(s, c->kind, epoch);
		if (!rc)
			rc = bench_gpu_look(echo, epoch);
		s->ns[i] = (double)(wic_now_ns() - begin);
	}
	s->base += count;
	/* Who only kept a role goes on, and whoever waits after an error. */
	end_rc = wic_publish_range(s->ch, 0, TAGS, s->base + 1);
	s->base++;
	if (!rc)
		rc = end_rc;
	end_rc = bench_gpu_end(&s->g, c->name);
	return rc ? rc : end_rc;
}

static bool is_left_out(const struct subject *s, const struct echo_case *c)
{
	return c->kind == GPU_ECHO_WORD && !s->g.d->stream_write_value64;
}

static int repeat(struct subject *s, uint32_t gap, uint32_t samples, int r)
{
	uint32_t count = gaps_us[gap] && samples > GAP_SAMPLES ? GAP_SAMPLES : samples;
	int rc = 0;

	for (size_t c = 0; c < CASES && !rc; c++) {
		if (is_left_out(s, &cases[c]))
			continue;
		rc = run(s, &cases[c], gaps_us[gap], count);
		bench_sort(s->ns, count);
		for (int q = 0; q < QUANTILES; q++)
			s->series[c][gap].at[q][r < 0 ? 0 : r] =
				bench_quantile_sorted(s->ns, count, quantiles[q]);
		if (rc)
			bench_error("latency, %s: %s", cases[c].name, wic_last_error());
	}
	return rc;
}

static void row(struct bench_perf_table *t, const char *name, const double *value,
		const double *baseline, uint32_t repeats)
{
	static struct bench_perf_samples s;

	memcpy(s.value, value, repeats * sizeof(*value));
	memcpy(s.baseline, baseline, repeats * sizeof(*baseline));
	bench_perf_row_finish(bench_gpu_row(t, "latency", "us", name), &s, repeats, 1e-3);
}

static void rows(const struct subject *s, struct bench_perf_table *t, uint32_t gap,
		 uint32_t repeats)
{
	char name[64];

	for (size_t c = 0; c < CASES; c++) {
		const struct series *x = &s->series[c][gap];

		if (is_left_out(s, &cases[c]))
			continue;
		for (int q = 0; q < QUANTILES && c; q++) {
			snprintf(name, sizeof(name), "%s/%uus/%s", cases[c].name, gaps_us[gap],
				 quantile_names[q]);
			row(t, name, x->at[q], s->series[0][gap].at[q], repeats);
		}
		snprintf(name, sizeof(name), "%s/%uus/p99/p50", cases[c].name, gaps_us[gap]);
		row(t, name, x->at[1], x->at[0], repeats);
	}
}

static int subject_init(struct subject *s, uint32_t samples)
{
	void *word = NULL;
	int rc;

	rc = bench_gpu_open(&s->g);
	if (rc)
		return rc;
	s->ns = calloc(samples, sizeof(double));
	rc = bench_gpu_channel(&s->g, TAGS, &s->ch);
	if (!rc)
		rc = wic_mem_alloc(s->g.w, WIC_MEM_DEVICE, WIC_GPU(0), GPU_FLAG_WORDS * 8, &word);
	s->word = word;
	if (!rc)
		rc = bench_gpu_stream(&s->g);
	return rc ? rc : s->ns ? 0 : -ENOMEM;
}

static void subject_fini(struct subject *s)
{
	wic_mem_free(s->g.w, s->word);
	free(s->ns);
	bench_gpu_close(&s->g);
}

int bench_gpu_latency(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	static struct subject s;
	int rc;

	memset(&s, 0, sizeof(s));
	rc = subject_init(&s, p->samples);
	for (uint32_t gap = 0; gap < GAPS && !rc; gap++) {
		/* The first round warms all and is not counted. */
		for (int r = -1; r < (int)p->repeats && !rc; r++) {
			bench_progress("latency, %u us: repeat %d of %u", gaps_us[gap], r + 1,
				       p->repeats);
			rc = repeat(&s, gap, p->samples, r);
		}
		bench_progress("%s", "");
		if (!rc)
			rows(&s, t, gap, p->repeats);
	}
	subject_fini(&s);
	return rc;
}
