// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * `wic perf rate` on a GPU.
 *
 *	parked/run	8,448 warps (on an H200: 32 of each of two blocks an SM), each parked for
 * its own tag, round after round, with nothing else to do / the producer alone
 *	parked/tags	the same as tags seen by parked warps in a second
 *	copy		copies from host to device beside as many waiting blocks / undisturbed
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/gpu.h"
#include "bench/host.h"
#include "lib/log.h"
#include "lib/memory.h"

#define ROUNDS 200u
#define COPY_BYTES ((size_t)256 << 20)
#define SETTLE_NS WIC_MS(2) /* until all that have come have parked */

struct subject {
	struct gpu_bench g;
	struct wic_channel *ch;
	uint32_t blocks;
	uint64_t base;
	void *started;   /* owned; of the device */
	void *from, *to; /* owned; pinned, and of the device */
	struct bench_perf_samples run, copy;
};

static int launch(struct subject *s, struct gpu_rounds_args *a, uint32_t rounds)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	int rc = wic_mem_zero(s->g.w, s->started, sizeof(uint64_t));

	a->h = wic_channel_handle(s->ch);
	a->started = s->started;
	a->all = gpu_word(&s->g, GPU_WORD_READY);
	a->status = (int64_t *)gpu_word(&s->g, GPU_WORD_STATUS);
	a->base = s->base;
	a->rounds = rounds;
	*a->all = 0;
	*a->status = 0;
	l.kernel = wic_gpu_rounds;
	l.args = a;
	l.grid_blocks = s->blocks;
	l.block_threads = GPU_BLOCK_THREADS;
	if (!rc)
		rc = wic_launch(s->g.w, &l);
	if (!rc)
		rc = bench_gpu_look(a->all, 1);
	if (!rc)
		bench_sleep_until(wic_now_ns() + SETTLE_NS);
	return rc;
}

static int produce(struct subject *s, uint32_t rounds)
{
	uint32_t tags = s->blocks * GPU_BLOCK_WARPS;
	int rc = 0;

	for (uint32_t i = 0; i < rounds && !rc; i++)
		rc = wic_publish_range(s->ch, 0, tags, ++s->base);
	return rc;
}

/* The producer with and without those that wait. */
static int rounds(struct subject *s, int at)
{
	struct gpu_rounds_args a;
	uint64_t begin = wic_now_ns(), end;
	int rc = produce(s, ROUNDS), end_rc;

	s->run.baseline[at] = (double)(wic_now_ns() - begin);
	if (!rc)
		rc = launch(s, &a, ROUNDS);
	begin = wic_now_ns();
	end_rc = produce(s, ROUNDS);
	rc = rc ? rc : end_rc;
	/* To the moment in which the last warp has ended, as exactly as the host can see it. */
	while (!rc && (rc = wic_sync(s->g.w, 0)) == -ETIMEDOUT)
		rc = 0;
	end = wic_now_ns();
	s->run.value[at] = (double)(end - begin);
	end_rc = bench_gpu_end(&s->g, "rate");
	return rc ? rc : end_rc;
}

static int copy(struct subject *s, double *ns_out)
{
	uint64_t begin = wic_now_ns();
	int result = s->g.d->memcpy_htod_async((uint64_t)(uintptr_t)s->to, s->from, COPY_BYTES,
					       s->g.stream);

	if (!result)
		result = s->g.d->stream_synchronize(s->g.stream);
	*ns_out = (double)(wic_now_ns() - begin);
	return wic_cuda_fail(s->g.d, result, "a copy");
}

static int copies(struct subject *s, int at)
{
	struct gpu_rounds_args a;
	double alone = NAN, beside = NAN;
	int rc = copy(s, &alone), end_rc;

	if (!rc)
		rc = launch(s, &a, 1);
	if (!rc)
		rc = copy(s, &beside);
	end_rc = produce(s, 1);
	rc = rc ? rc : end_rc;
	/* As bandwidth: bytes a ns are GB a second. */
	s->copy.value[at] = (double)COPY_BYTES / beside;
	s->copy.baseline[at] = (double)COPY_BYTES / alone;
	end_rc = bench_gpu_end(&s->g, "rate");
	return rc ? rc : end_rc;
}

static int subject_init(struct subject *s)
{
	int rc = bench_gpu_open(&s->g);

	if (rc)
		return rc;
	s->blocks = 2 * s->g.sms;
	rc = bench_gpu_channel(&s->g, s->blocks * GPU_BLOCK_WARPS, &s->ch);
	if (!rc)
		rc = wic_mem_alloc(s->g.w, WIC_MEM_DEVICE, WIC_GPU(0), sizeof(uint64_t),
				   &s->started);
	if (!rc)
		rc = wic_mem_alloc(s->g.w, WIC_MEM_HOST, WIC_GPU(0), COPY_BYTES, &s->from);
	if (!rc)
		rc = wic_mem_alloc(s->g.w, WIC_MEM_DEVICE, WIC_GPU(0), COPY_BYTES, &s->to);
	if (!rc)
		rc = bench_gpu_stream(&s->g);
	if (rc)
		bench_error("rate: %s", wic_last_error());
	return rc;
}

static void subject_fini(struct subject *s)
{
	wic_mem_free(s->g.w, s->to);
	wic_mem_free(s->g.w, s->from);
	wic_mem_free(s->g.w, s->started);
	bench_gpu_close(&s->g);
}

static void rows(const struct subject *s, struct bench_perf_table *t, uint32_t repeats)
{
	static struct bench_perf_samples tags;
	double seen = (double)s->blocks * GPU_BLOCK_WARPS * ROUNDS;
	struct bench_perf_row *row = bench_gpu_row(t, "rate", "us", "parked/run");

	bench_perf_row_finish(row, &s->run, repeats, 1e-3);
	bench_perf_row_note(row, "%u warps, each its own tag, %u rounds",
			    s->blocks * GPU_BLOCK_WARPS, ROUNDS);
	for (uint32_t i = 0; i < repeats; i++) {
		tags.value[i] = seen / s->run.value[i] * 1e3;
		tags.baseline[i] = seen / s->run.baseline[i] * 1e3;
	}
	bench_perf_row_finish(bench_gpu_row(t, "rate", "M/s", "parked/tags"), &tags, repeats, 1);
	row = bench_gpu_row(t, "rate", "GB/s", "copy/beside-waiting-blocks");
	bench_perf_row_finish(row, &s->copy, repeats, 1);
	bench_perf_row_note(row, "%u blocks wait, %u lines", s->blocks,
			    s->blocks * GPU_BLOCK_WARPS / 16);
}

int bench_gpu_rate(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	static struct subject s;
	int rc;

	memset(&s, 0, sizeof(s));
	rc = subject_init(&s);
	/* The first round warms all and is not counted. */
	for (int r = -1; r < (int)p->repeats && !rc; r++) {
		bench_progress("rate: repeat %d of %u", r + 1, p->repeats);
		rc = rounds(&s, r < 0 ? 0 : r);
		if (!rc)
			rc = copies(&s, r < 0 ? 0 : r);
		if (rc)
			bench_error("rate: %s", wic_last_error());
	}
	bench_progress("%s", "");
	if (!rc)
		rows(&s, t, p->repeats);
	subject_fini(&s);
	return rc;
}
