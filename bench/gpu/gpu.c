// SPDX-License-Identifier: MIT OR GPL-2.0
#include "bench/gpu/gpu.h"

#include <errno.h>
#include <string.h>

#include "bench/host.h"
#include "lib/kernel_image.h"
#include "lib/log.h"
#include "lib/memory.h"

/* They only have addresses: the GPU's code is in the image. */
void wic_gpu_echo(const void *args)
{
	(void)args;
}

void wic_gpu_work(const void *args)
{
	(void)args;
}

void wic_gpu_rounds(const void *args)
{
	(void)args;
}

#ifdef WIC_IMAGE_FILE
WIC_IMAGE_INCLUDE(wic_gpu_bench_fatbin, WIC_IMAGE_FILE);
#define IMAGE wic_gpu_bench_fatbin
#else
#define IMAGE NULL
#endif

static const struct wic_kernel_entry entries[] = {
	{ wic_gpu_echo, "wic_gpu_echo" },
	{ wic_gpu_work, "wic_gpu_work" },
	{ wic_gpu_rounds, "wic_gpu_rounds" },
	{ NULL, NULL },
};
static struct wic_kernel_image image = { IMAGE, entries, NULL, NULL };

bool bench_gpu_is_meant(const struct bench_perf_params *p)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w;
	bool is_gpu;

	if (p->backend && !strcmp(p->backend, "cuda"))
		return true;
	cfg.backend = p->backend;
	if ((p->backend && strcmp(p->backend, "auto")) || wic_open(&cfg, &w))
		return false;
	is_gpu = wic_is_gpu(w);
	wic_close(w);
	return is_gpu;
}

int bench_gpu_open(struct gpu_bench *g)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_geometry geometry;
	void *words = NULL;
	int rc;

	memset(g, 0, sizeof(*g));
	wic_kernel_image_add(&image);
	cfg.backend = "cuda";
	rc = wic_open(&cfg, &g->w);
	if (!rc)
		rc = wic_mem_alloc(g->w, WIC_MEM_HOST, WIC_GPU(0),
				   GPU_WORDS * GPU_FLAG_WORDS * sizeof(uint64_t), &words);
	if (rc) {
		bench_error("cannot open a context: %s", wic_last_error());
		wic_close(g->w);
		return rc;
	}
	g->words = words;
	wic_geometry_get(g->w, &geometry);
	bench_machine_add(wic_describe(g->w));
	g->sms = geometry.sms;
	return 0;
}

int bench_gpu_stream(struct gpu_bench *g)
{
	int device, result, rc = wic_cuda_driver_get(&g->d);

	if (rc)
		return rc;
	result = g->d->device_get(&device, 0);
	if (!result)
		result = g->d->device_primary_ctx_retain(&g->context, device);
	if (!result)
		result = g->d->ctx_push_current(g->context);
	if (!result)
		result = g->d->stream_create_with_priority(&g->stream, WIC_CU_STREAM_NON_BLOCKING,
							   0);
	return wic_cuda_fail(g->d, result, "a stream");
}

static void stream_end(struct gpu_bench *g)
{
	int device;

	if (g->stream)
		(void)g->d->stream_destroy(g->stream);
	if (!g->context)
		return;
	(void)g->d->ctx_pop_current(&g->context);
	if (!g->d->device_get(&device, 0))
		(void)g->d->device_primary_ctx_release(device);
}

void bench_gpu_close(struct gpu_bench *g)
{
	stream_end(g);
	wic_mem_free(g->w, g->words);
	wic_close(g->w);
}

int bench_gpu_channel(struct gpu_bench *g, uint32_t tags, struct wic_channel **ch_out)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;

	d.producer = WIC_HOST;
	d.consumer = WIC_GPU(0);
	d.tags = tags;
	d.bytes_per_tag = 0;
	return wic_channel_create(g->w, &d, ch_out);
}

int bench_gpu_look(const uint64_t *word, uint64_t value)
{
	uint64_t until = 0;

	/* The clock is asked seldom: it is not what is measured. */
	for (uint32_t looks = 1;; looks++) {
		if (__atomic_load_n(word, __ATOMIC_ACQUIRE) >= value)
			return 0;
		if (looks % 65536)
			continue;
		if (until && wic_now_ns() > until)
			return wic_fail(-ETIMEDOUT, "no answer of the GPU");
		if (!until)
			until = wic_now_ns() + GPU_TIMEOUT_NS;
	}
}

int bench_gpu_end(struct gpu_bench *g, const char *what)
{
	int rc = wic_sync(g->w, 2 * GPU_TIMEOUT_NS);
	int status = (int)(int64_t)*gpu_word(g, GPU_WORD_STATUS);

	if (!rc && status)
		rc = wic_fail(status, "a wait: %s", wic_strerror(status));
	if (rc)
		bench_error("%s: %s", what, wic_last_error());
	return rc;
}

struct bench_perf_row *bench_gpu_row(struct bench_perf_table *t, const char *test, const char *unit,
				     const char *name)
{
	struct bench_perf_row *row = bench_perf_row_add(t, test, unit, "%s", name);

	row->backend = "cuda";
	return row;
}
