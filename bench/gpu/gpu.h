/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * `wic perf` on the cuda back-end.  Each figure stands beside the least, or the usual, that does
 * the same on the same GPU in the same run, interleaved.
 *
 *	latency		round trip of a store of the host's: bench/gpu/latency.c
 *	interference	what waiting warps cost those that compute: interference.c
 *	rate		8,448 parked warps against their producer alone, and copies beside
 *			waiting blocks: rate.c
 */
#ifndef WIC_BENCH_GPU_GPU_H
#define WIC_BENCH_GPU_GPU_H

#include "backends/cuda/driver.h"
#include "bench/gpu/kernels.h"
#include "bench/perf.h"

/* A context with the kernels, and the words that they share with the host. */
struct gpu_bench {
	struct wic *w;   /* owned */
	uint64_t *words; /* owned, pinned: GPU_WORD_* lines */
	uint32_t sms;
	/* bench_gpu_stream(): */
	const struct wic_cuda_driver *d;
	struct wic_cu_context *context; /* retained, and current to this thread */
	struct wic_cu_stream *stream;   /* owned */
};

/* Lines of gpu_bench.words. */
enum gpu_word { GPU_WORD_FLAG, GPU_WORD_ECHO, GPU_WORD_READY, GPU_WORD_STATUS, GPU_WORDS };

static inline uint64_t *gpu_word(const struct gpu_bench *g, enum gpu_word which)
{
	return g->words + which * GPU_FLAG_WORDS;
}

/* Is "auto" or the back-end that is asked for a GPU here? */
bool bench_gpu_is_meant(const struct bench_perf_params *p);
int bench_gpu_open(struct gpu_bench *g);
void bench_gpu_close(struct gpu_bench *g);
/* A stream of the driver's, for this thread to use until bench_gpu_close(). */
int bench_gpu_stream(struct gpu_bench *g);
/* A channel of signals from the host to the GPU. */
int bench_gpu_channel(struct gpu_bench *g, uint32_t tags, struct wic_channel **ch_out);
/* Looks until the word is at least @value: 0, or -ETIMEDOUT with a text. */
int bench_gpu_look(const uint64_t *word, uint64_t value);
/* The kernel has ended, and no warp has failed. */
int bench_gpu_end(struct gpu_bench *g, const char *what);
struct bench_perf_row *bench_gpu_row(struct bench_perf_table *t, const char *test, const char *unit,
				     const char *name);

int bench_gpu_latency(const struct bench_perf_params *p, struct bench_perf_table *t);
int bench_gpu_interference(const struct bench_perf_params *p, struct bench_perf_table *t);
int bench_gpu_rate(const struct bench_perf_params *p, struct bench_perf_table *t);

#endif /* WIC_BENCH_GPU_GPU_H */
