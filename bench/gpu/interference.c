// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * `wic perf interference` on a GPU: two blocks of 32 warps an SM, of which some wait during the
 * whole computation of the others / the same kernel, registers and shared memory with those warps
 * at a plain barrier.
 *
 *	<work>/w<waiting warps of a block>/t<distinct tags of a block>/<mean|slowest>/<method>
 *
 * mean: of the times of the blocks; slowest: from the first start to the last end.  What is waited
 * for is published after all have computed.  The methods rest-... have a leader that looks; they
 * tell what it costs that the others rest, in each way that there is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/gpu.h"
#include "bench/host.h"
#include "lib/log.h"
#include "lib/memory.h"

#define BUFFER_WORDS (256u << 20) /* 1 GiB */
#define MS_WANTED 2.0             /* of a run, more or less */

static const char *const work_names[GPU_WORKS] = { "fma",    "stream", "l1-16k",
						   "l1-64k", "gather", "tensor" };
/* To begin with; scaled to the time that is wanted. */
static const uint32_t work_pieces[GPU_WORKS] = { 16, 16, 64, 16, 16, 64 };

static const struct {
	enum gpu_wait wait;
	const char *name;
	bool has_tags; /* also with a tag a warp */
} waits[] = {
	{ GPU_WAIT_WIC, "wic", true },
	{ GPU_WAIT_LEADER, "leader", false },
	{ GPU_WAIT_LEADER_ACQ, "leader-acq", false },
	{ GPU_WAIT_WARP, "warp", false },
	{ GPU_WAIT_ONE_WORD, "one-word", false },
	{ GPU_WAIT_PARK, "rest-park", false },
	{ GPU_WAIT_TRY_WAIT, "rest-try-wait", false },
	{ GPU_WAIT_SLEEP_1, "rest-sleep-1us", false },
	{ GPU_WAIT_SLEEP_4, "rest-sleep-4us", false },
	{ GPU_WAIT_SLEEP_16, "rest-sleep-16us", false },
};
#define WAITS (sizeof(waits) / sizeof(*waits))

static const uint32_t waiters[] = { 1, 15, 28 };

struct subject {
	struct gpu_bench g;
	struct wic_channel *ch;
	uint32_t blocks;
	uint64_t *flags;                       /* owned, pinned */
	void *buffer, *times, *finished, *out; /* owned; of the device */
	uint64_t *times_ns;                    /* owned */
	uint64_t epoch;
	uint32_t pieces[GPU_WORKS];
	struct bench_perf_samples mean, slowest;
};

static int release_all(struct subject *s)
{
	for (uint32_t i = 0; i < s->blocks * GPU_BLOCK_WARPS; i++)
		__atomic_store_n(&s->flags[i * GPU_FLAG_WORDS], s->epoch, __ATOMIC_RELEASE);
	return wic_publish_range(s->ch, 0, s->blocks * GPU_BLOCK_WARPS, s->epoch);
}

static int digest(struct subject *s, double *mean_out, double *slowest_out)
{
	uint64_t first = UINT64_MAX, last = 0, sum = 0;
	int rc = wic_mem_copy(s->g.w, s->times_ns, s->times, s->blocks * 2 * sizeof(uint64_t));

	for (uint32_t b = 0; b < s->blocks; b++) {
		uint64_t begin = s->times_ns[2 * b], end = s->times_ns[2 * b + 1];

		first = begin < first ? begin : first;
		last = end > last ? end : last;
		sum += end - begin;
	}
	*mean_out = (double)sum / s->blocks;
	*slowest_out = (double)(last - first);
	return rc;
}

static int run(struct subject *s, struct gpu_work_args *a, double *mean_out, double *slowest_out)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	int rc, end_rc;

	a->h = wic_channel_handle(s->ch);
	a->buffer = s->buffer;
	a->buffer_words = BUFFER_WORDS;
	a->flags = s->flags;
	a->times_ns = s->times;
	a->finished = s->finished;
	a->all = gpu_word(&s->g, GPU_WORD_READY);
	a->status = (int64_t *)gpu_word(&s->g, GPU_WORD_STATUS);
	a->out = s->out;
	a->epoch = ++s->epoch;
	a->pieces = s->pieces[a->work];
	*a->all = 0;
	*a->status = 0;
	rc = wic_mem_zero(s->g.w, s->finished, sizeof(uint32_t));
	l.kernel = wic_gpu_work;
	l.args = a;
	l.grid_blocks = s->blocks;
	l.block_threads = GPU_BLOCK_THREADS;
	if (!rc)
		rc = wic_launch(s->g.w, &l);
	if (rc)
		return rc;
	/* The host's looks stay in its own cache until the last block stores. */
	rc = bench_gpu_look(a->all, 1);
	end_rc = release_all(s);
	rc = rc ? rc : end_rc;
	end_rc = bench_gpu_end(&s->g, "interference");
	rc = rc ? rc : end_rc;
	return rc ? rc : digest(s, mean_out, slowest_out);
}

/* A pair; who is first turns with the repeats. */
static int pair(struct subject *s, const struct gpu_work_args *like, int r)
{
	double mean[2], slowest[2];
	int at = r < 0 ? 0 : r, rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		struct gpu_work_args a = *like;
		int is_waiting = (i + at) % 2;

		if (!is_waiting)
			a.wait = GPU_WAIT_BARRIER;
		rc = run(s, &a, &mean[is_waiting], &slowest[is_waiting]);
	}
	s->mean.value[at] = mean[1];
	s->mean.baseline[at] = mean[0];
	s->slowest.value[at] = slowest[1];
	s->slowest.baseline[at] = slowest[0];
	return rc;
}

static int measure(struct subject *s, const struct bench_perf_params *p, struct bench_perf_table *t,
		   const struct gpu_work_args *a, const char *method)
{
	char name[64];
	int rc = 0;

	for (int r = -1; r < (int)p->repeats && !rc; r++)
		rc = pair(s, a, r);
	if (rc) {
		bench_error("interference, %s, %s: %s", work_names[a->work], method,
			    wic_last_error());
		return rc;
	}
	for (int slowest = 0; slowest < 2; slowest++) {
		snprintf(name, sizeof(name), "%s/w%u/t%u/%s/%s", work_names[a->work], a->waiters,
			 a->tags, slowest ? "slowest" : "mean", method);
		bench_perf_row_finish(bench_gpu_row(t, "interference", "us", name),
				      slowest ? &s->slowest : &s->mean, p->repeats, 1e-3);
	}
	return 0;
}

/* So many pieces that a run takes about as long as is wanted. */
static int scale(struct subject *s, uint32_t work, uint32_t waiting)
{
	struct gpu_work_args a = { .work = work, .waiters = waiting, .tags = 1 };
	double mean = 0, slowest;
	int rc = 0;

	s->pieces[work] = work_pieces[work];
	for (int i = 0; i < 2 && !rc; i++)
		rc = run(s, &a, &mean, &slowest);
	if (!rc && mean > 0)
		s->pieces[work] =
			(uint32_t)((double)work_pieces[work] * MS_WANTED * 1e6 / mean) + 1;
	return rc;
}

static int measure_work(struct subject *s, const struct bench_perf_params *p,
			struct bench_perf_table *t, uint32_t work, uint32_t waiting)
{
	int rc = scale(s, work, waiting);

	bench_progress("interference, %s, %u warps of a block wait", work_names[work], waiting);
	for (size_t i = 0; i < WAITS && !rc; i++) {
		struct gpu_work_args a = {
			.work = work, .waiters = waiting, .tags = 1, .wait = waits[i].wait
		};

		rc = measure(s, p, t, &a, waits[i].name);
		a.tags = GPU_BLOCK_WARPS;
		if (!rc && waits[i].has_tags)
			rc = measure(s, p, t, &a, waits[i].name);
	}
	bench_progress("%s", "");
	return rc;
}

static int subject_init(struct subject *s)
{
	struct wic_device_id device = WIC_GPU(0);
	uint32_t warps;
	void *flags = NULL;
	int rc = bench_gpu_open(&s->g);

	if (rc)
		return rc;
	s->blocks = 2 * s->g.sms;
	warps = s->blocks * GPU_BLOCK_WARPS;
	s->times_ns = calloc(s->blocks, 2 * sizeof(uint64_t));
	if (!s->times_ns)
		rc = wic_fail(-ENOMEM, "interference: no memory");
	if (!rc)
		rc = bench_gpu_channel(&s->g, warps, &s->ch);
	if (!rc)
		rc = wic_mem_alloc(s->g.w, WIC_MEM_HOST, device,
				   (size_t)warps * GPU_FLAG_WORDS * sizeof(uint64_t), &flags);
	s->flags = flags;
	if (!rc)
		rc = wic_mem_alloc(s->g.w, WIC_MEM_DEVICE, device, (size_t)BUFFER_WORDS * 4,
				   &s->buffer);
	if (!rc)
		rc = wic_mem_alloc(s->g.w, WIC_MEM_DEVICE, device, s->blocks * 2 * sizeof(uint64_t),
				   &s->times);
	if (!rc)
		rc = wic_mem_alloc(s->g.w, WIC_MEM_DEVICE, device, sizeof(uint32_t), &s->finished);
	if (!rc)
		rc = wic_mem_alloc(s->g.w, WIC_MEM_DEVICE, device, (size_t)warps * 32 * 4, &s->out);
	if (rc)
		bench_error("interference: %s", wic_last_error());
	return rc;
}

static void subject_fini(struct subject *s)
{
	wic_mem_free(s->g.w, s->out);
	wic_mem_free(s->g.w, s->finished);
	wic_mem_free(s->g.w, s->times);
	wic_mem_free(s->g.w, s->buffer);
	wic_mem_free(s->g.w, s->flags);
	free(s->times_ns);
	bench_gpu_close(&s->g);
}

int bench_gpu_interference(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	static struct subject s;
	int rc;

	memset(&s, 0, sizeof(s));
	rc = subject_init(&s);
	for (uint32_t work = 0; work < GPU_WORKS && !rc; work++)
		for (size_t i = 0; i < sizeof(waiters) / sizeof(*waiters) && !rc; i++)
			rc = measure_work(&s, p, t, work, waiters[i]);
	subject_fini(&s);
	return rc;
}
