/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * `wic perf api`: what a call of the host's costs by itself.  The nil back-end does nothing
 * behind it, so a call's time is that of the API: checks of arguments and of the state, and
 * the way to the back-end.  The baseline is the same operation of the back-end called
 * directly, through the pointer that lib/ calls it by.
 *
 * One thread; nothing waits and nothing is contended, so these are lower bounds of what the
 * calls cost over a real back-end.
 */
#include <errno.h>
#include <string.h>

#include "bench/host.h"
#include "bench/perf.h"
#include "lib/log.h"
#include "lib/object.h"

#define TAGS 32u
#define BYTES 64u
#define RANGE 16u /* tags of a publish_range; also a producer handle's, one line */
#define CALLS 65536u

struct api {
	struct wic *w;
	struct wic_channel *ch, *signals, *to_host;
	struct wic_producer *p; /* tags [RANGE, TAGS) of ch */
	uint64_t epoch;         /* used last */
};

/* One case: the calls of the API, and the back-end's behind them.  0 or -errno. */
struct api_case {
	const char *name;
	int (*api)(struct api *a, uint32_t tag);
	int (*direct)(struct api *a, uint32_t tag);
};

static int api_stage_publish(struct api *a, uint32_t tag)
{
	void *buffer;
	int rc = wic_stage(a->ch, tag, ++a->epoch, WIC_FOREVER, &buffer);

	return rc ? rc : wic_publish(a->ch, tag, a->epoch);
}

static int direct_stage_publish(struct api *a, uint32_t tag)
{
	const struct wic_be_ops *ops = a->ch->ops;
	void *buffer;
	int rc = ops->stage(a->ch->be, tag, ++a->epoch, WIC_FOREVER, &buffer);

	return rc ? rc : ops->publish(a->ch->be, tag, 1, a->epoch);
}

static int api_producer(struct api *a, uint32_t tag)
{
	void *buffer;
	int rc = wic_producer_stage(a->p, RANGE + tag, ++a->epoch, WIC_FOREVER, &buffer);

	return rc ? rc : wic_producer_publish(a->p, RANGE + tag, a->epoch);
}

static int api_publish(struct api *a, uint32_t tag)
{
	return wic_publish(a->signals, tag, ++a->epoch);
}

static int direct_publish(struct api *a, uint32_t tag)
{
	return a->signals->ops->publish(a->signals->be, tag, 1, ++a->epoch);
}

static int api_range(struct api *a, uint32_t tag)
{
	return wic_publish_range(a->signals, tag, RANGE, ++a->epoch);
}

static int direct_range(struct api *a, uint32_t tag)
{
	return a->signals->ops->publish(a->signals->be, tag, RANGE, ++a->epoch);
}

static int api_host_wait(struct api *a, uint32_t tag)
{
	return wic_host_wait(a->to_host, tag, ++a->epoch, WIC_FOREVER);
}

static int direct_host_wait(struct api *a, uint32_t tag)
{
	return a->to_host->ops->host_request(a->to_host->be, tag, ++a->epoch, WIC_FOREVER, NULL);
}

static int api_host_take(struct api *a, uint32_t tag)
{
	const void *data;
	int rc = wic_host_request(a->to_host, tag, ++a->epoch, WIC_FOREVER, &data);

	return rc ? rc : wic_host_release(a->to_host, tag, a->epoch);
}

static int direct_host_take(struct api *a, uint32_t tag)
{
	const struct wic_be_ops *ops = a->to_host->ops;
	const void *data;
	int rc = ops->host_request(a->to_host->be, tag, ++a->epoch, WIC_FOREVER, &data);

	return rc ? rc : ops->host_release(a->to_host->be, tag, a->epoch);
}

static const struct api_case cases[] = {
	{ "stage+publish", api_stage_publish, direct_stage_publish },
	{ "producer-stage+publish", api_producer, direct_stage_publish },
	{ "publish", api_publish, direct_publish },
	{ "publish-range-16", api_range, direct_range },
	{ "host-wait", api_host_wait, direct_host_wait },
	{ "host-request+release", api_host_take, direct_host_take },
};
#define CASES (sizeof(cases) / sizeof(*cases))

static int time_calls(struct api *a, int (*call)(struct api *a, uint32_t tag), double *ns_out)
{
	uint64_t begin = wic_now_ns();
	int rc = 0;

	for (uint32_t i = 0; i < CALLS && !rc; i++)
		rc = call(a, i % RANGE);
	*ns_out = (double)(wic_now_ns() - begin) / CALLS;
	return rc;
}

static int channel_open(struct wic *w, uint64_t bytes, bool to_host, struct wic_channel **ch_out)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;

	d.tags = TAGS;
	d.bytes_per_tag = bytes;
	d.producer = to_host ? WIC_GPU(0) : WIC_HOST;
	d.consumer = to_host ? WIC_HOST : WIC_GPU(0);
	return wic_channel_create(w, &d, ch_out);
}

/* What was opened ends with the context, also after an error. */
static int api_open(struct api *a)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	int rc;

	memset(a, 0, sizeof(*a));
	cfg.backend = "nil";
	rc = wic_open(&cfg, &a->w);
	if (!rc)
		rc = channel_open(a->w, BYTES, false, &a->ch);
	if (!rc)
		rc = channel_open(a->w, 0, false, &a->signals);
	if (!rc)
		rc = channel_open(a->w, BYTES, true, &a->to_host);
	if (!rc)
		rc = wic_producer_open(a->ch, RANGE, TAGS - RANGE, 0, &a->p);
	return rc;
}

static int measure(struct api *a, uint32_t repeats, struct bench_perf_samples *samples)
{
	int rc = 0;

	for (uint32_t r = 0; r < repeats && !rc; r++)
		for (size_t i = 0; i < CASES && !rc; i++) {
			rc = time_calls(a, cases[i].api, &samples[i].value[r]);
			if (!rc)
				rc = time_calls(a, cases[i].direct, &samples[i].baseline[r]);
		}
	return rc;
}

int bench_perf_api(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	static struct bench_perf_samples samples[CASES];
	struct bench_pin pin;
	struct api a;
	int rc;

	if (strcmp(p->backend, "auto") && strcmp(p->backend, "nil")) {
		bench_error("perf api measures the back-end nil, not %s", p->backend);
		return -EINVAL;
	}
	bench_pin_core(&pin, 0);
	rc = api_open(&a);
	if (!rc)
		rc = measure(&a, p->repeats, samples);
	if (rc)
		bench_error("perf api: %s", wic_last_error());
	for (size_t i = 0; i < CASES && !rc; i++) {
		struct bench_perf_row *row =
			bench_perf_row_add(t, "api", "ns", "%s", cases[i].name);

		row->backend = "nil";
		bench_perf_row_finish(row, &samples[i], p->repeats, 1);
		bench_perf_row_note(row, "%.1f ns are the API's", row->value - row->baseline);
	}
	wic_close(a.w);
	bench_unpin(&pin);
	return rc;
}
