/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The Monitor asleep.
 *
 *	first-after-idle	a warp asks for data that is published and on no page, after
 *				5 ms in which nobody had work for the Monitor: to the end of
 *				wic_request().  Baseline: a thread on the Monitor's core
 *				asleep at a futex is woken from the warp's core and answers
 *	idle-monitor		CPU time of the Monitor / wall time, while one warp is parked
 *	idle-process		the same of the whole process
 */
#include "bench/perf_idle.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include <wic/kernel.h>

#include "bench/host.h"
#include "bench/perf_pair.h"
#include "lib/log.h"

#define TIMEOUT_NS WIC_S(20)
#define REQUESTS 20
/* The Monitor looks for twice a park after its last work, 400 us at most, then sleeps. */
#define IDLE_NS WIC_MS(5)
/* An idle SM looks for 5 ms, then sleeps. */
#define SETTLE_NS WIC_MS(50)
/* With fewer sleeps than requests, in part something else was measured. */
#define SLEPT_MIN 0.9

struct idle_args {
	struct wic_handle h;
	uint64_t epoch;
	double ns[REQUESTS];
	int status;
	uint32_t wrong;
};

WIC_DEVICE int idle_request(struct idle_args *a, uint32_t tag)
{
	uint64_t start_ns = wic_now_ns() + IDLE_NS;
	void *data;
	int rc;

	while (wic_now_ns() < start_ns)
		WIC_TURN();
	start_ns = wic_now_ns();
	rc = wic_request(&a->h, NULL, tag, a->epoch, TIMEOUT_NS, &data);
	a->ns[tag] = (double)(wic_now_ns() - start_ns);
	if (rc)
		return rc;
	if (*(volatile uint32_t *)data != tag)
		a->wrong++;
	return wic_release(&a->h, tag, a->epoch);
}

WIC_KERNEL(bench_idle_kernel, struct idle_args, a)
{
	/* The arguments are borrowed from who launched, which waits for us. */
	struct idle_args *out = (struct idle_args *)(uintptr_t)a;

	for (uint32_t t = 0; t < REQUESTS && !out->status; t++)
		out->status = idle_request(out, t);
}

WIC_KERNEL(bench_parked_kernel, struct idle_args, a)
{
	struct idle_args *out = (struct idle_args *)(uintptr_t)a;

	out->status = wic_wait(&a->h, NULL, 0, 1, WIC_FOREVER);
}

static int fill(struct wic_channel *ch, uint64_t epoch)
{
	void *buffer;
	int rc = 0;

	for (uint32_t tag = 0; tag < REQUESTS && !rc; tag++) {
		rc = wic_stage(ch, tag, epoch, TIMEOUT_NS, &buffer);
		if (!rc)
			*(uint32_t *)buffer = tag;
		if (!rc)
			rc = wic_publish(ch, tag, epoch);
	}
	return rc;
}

static int launch_and_sync(struct wic *w, struct idle_args *a)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	int rc;

	l.kernel = bench_idle_kernel;
	l.args = a;
	rc = wic_launch(w, &l);
	if (!rc)
		rc = wic_sync(w, WIC_S(60));
	if (!rc && a->status)
		rc = wic_fail(a->status, "idle: a request: %s", wic_strerror(a->status));
	if (!rc && a->wrong)
		rc = wic_fail(-EIO, "idle: %u pages hold other data", a->wrong);
	return rc;
}

/* ns of each request; @slept_out: times the Monitor went to sleep, a request. */
static int first_through_wic(struct wic *w, struct wic_channel *ch, uint64_t epoch,
			     struct idle_args *a, double *slept_out)
{
	struct wic_stats before = WIC_STATS_INIT, after = WIC_STATS_INIT;
	int rc = fill(ch, epoch);

	memset(a, 0, sizeof(*a));
	a->h = wic_channel_handle(ch);
	a->epoch = epoch;
	if (!rc)
		rc = wic_stats_get(w, &before);
	if (!rc)
		rc = launch_and_sync(w, a);
	if (!rc)
		rc = wic_stats_get(w, &after);
	*slept_out = (double)(after.monitor_sleeps - before.monitor_sleeps) / REQUESTS;
	return rc;
}

static int first_by_futex(double *ns_out)
{
	struct bench_pair pair = {
		.kind = BENCH_PAIR_FUTEX,
		.waiters = 1,
		.core = bench_cores() - 1,
		.count = REQUESTS,
	};
	struct bench_pin pin;
	int rc;

	bench_pin_core(&pin, 0);
	rc = bench_ping_pair(&pair, IDLE_NS, ns_out);
	bench_unpin(&pin);
	return rc;
}

static void add_first(const struct bench_perf_params *p, struct bench_perf_table *t,
		      const struct bench_perf_samples *p50, const struct bench_perf_samples *p90,
		      double slept)
{
	struct bench_perf_row *row = bench_perf_row_add(t, "latency", "us", "first-after-idle/p50");

	bench_perf_row_finish(row, p50, p->repeats, 1e-3);
	bench_perf_row_note(row, "the Monitor slept %.2f times a request", slept);
	row = bench_perf_row_add(t, "latency", "us", "first-after-idle/p90");
	bench_perf_row_finish(row, p90, p->repeats, 1e-3);
	if (slept < SLEPT_MIN)
		bench_error("first-after-idle: the Monitor slept only %.2f times a request: "
			    "disturbed",
			    slept);
}

static int measure_first(const struct bench_perf_params *p, struct wic *w, struct wic_channel *ch,
			 struct bench_perf_table *t)
{
	static struct bench_perf_samples p50, p90;
	double slept, slept_min = 1e9, futex_ns[REQUESTS];
	struct idle_args a;
	int rc = 0;

	for (int i = -1; i < (int)p->repeats && !rc; i++) {
		bench_progress("first after idle: repeat %d of %u", i + 1, p->repeats);
		rc = first_through_wic(w, ch, (uint64_t)i + 2, &a, &slept);
		if (rc)
			bench_error("first after idle failed: %s", wic_last_error());
		else
			rc = first_by_futex(futex_ns);
		if (rc || i < 0)
			continue;
		slept_min = slept < slept_min ? slept : slept_min;
		p50.value[i] = bench_median(a.ns, REQUESTS);
		p90.value[i] = bench_quantile(a.ns, REQUESTS, 0.9);
		p50.baseline[i] = bench_median(futex_ns, REQUESTS);
		p90.baseline[i] = bench_quantile(futex_ns, REQUESTS, 0.9);
	}
	bench_progress("%s", "");
	if (!rc)
		add_first(p, t, &p50, &p90, slept_min);
	return rc;
}

static double process_cpu_ns(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u))
		return 0;
	return 1e9 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Until a warp more is parked; the statistics wake the Monitor, so not too often. */
static int wait_for_park(struct wic *w, uint64_t parks_before)
{
	uint64_t until_ns = wic_now_ns() + TIMEOUT_NS;
	struct wic_stats s = WIC_STATS_INIT;
	int rc;

	do {
		bench_sleep_until(wic_now_ns() + WIC_MS(1));
		rc = wic_stats_get(w, &s);
		if (!rc && wic_now_ns() > until_ns)
			rc = wic_fail(-ETIMEDOUT, "idle: the warp does not park");
	} while (!rc && s.parks == parks_before);
	return rc;
}

static void idle_row(struct bench_perf_table *t, const char *name, double cpu_ns, double wall_ns)
{
	struct bench_perf_row *row = bench_perf_row_add(t, "latency", "%", "%s", name);

	row->value = 100 * cpu_ns / wall_ns;
	bench_perf_row_note(row, "of one core, over %.1f s, one warp parked", wall_ns * 1e-9);
}

static int leave_idle(const struct bench_perf_params *p, struct wic *w, struct bench_perf_table *t)
{
	struct wic_stats before = WIC_STATS_INIT, after = WIC_STATS_INIT;
	double cpu_ns, wall_ns;
	uint64_t start_ns;
	int rc;

	bench_sleep_until(wic_now_ns() + SETTLE_NS);
	rc = wic_stats_get(w, &before);
	if (rc)
		return rc;
	cpu_ns = process_cpu_ns();
	start_ns = wic_now_ns();
	bench_progress("idle for %u ms", p->idle_ms);
	bench_sleep_until(start_ns + WIC_MS(p->idle_ms));
	bench_progress("%s", "");
	wall_ns = (double)(wic_now_ns() - start_ns);
	cpu_ns = process_cpu_ns() - cpu_ns;
	rc = wic_stats_get(w, &after);
	if (rc)
		return rc;
	idle_row(t, "idle-monitor", (double)(after.monitor_cpu_ns - before.monitor_cpu_ns),
		 wall_ns);
	idle_row(t, "idle-process", cpu_ns, wall_ns);
	return 0;
}

static int measure_idle(const struct bench_perf_params *p, struct wic *w, struct wic_channel *ch,
			struct bench_perf_table *t)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic_stats before = WIC_STATS_INIT;
	struct idle_args a;
	int rc, end_rc;

	memset(&a, 0, sizeof(a));
	a.h = wic_channel_handle(ch);
	l.kernel = bench_parked_kernel;
	l.args = &a;
	rc = wic_stats_get(w, &before);
	if (!rc)
		rc = wic_launch(w, &l);
	if (rc)
		goto out;
	rc = wait_for_park(w, before.parks);
	if (!rc)
		rc = leave_idle(p, w, t);
	end_rc = wic_publish(ch, 0, 1);
	if (!end_rc)
		end_rc = wic_sync(w, TIMEOUT_NS);
	rc = rc ? rc : end_rc ? end_rc : a.status;
out:
	if (rc)
		bench_error("idle: %s", wic_last_error());
	return rc;
}

int bench_perf_idle(const struct bench_perf_params *p, struct wic *w, struct bench_perf_table *t)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_channel *data = NULL, *signals = NULL;
	int rc;

	d.tags = REQUESTS;
	d.bytes_per_tag = WIC_PAGE_BYTES;
	rc = wic_channel_create(w, &d, &data);
	d.tags = 1;
	d.bytes_per_tag = 0;
	if (!rc)
		rc = wic_channel_create(w, &d, &signals);
	if (rc)
		bench_error("idle: no channel: %s", wic_last_error());
	if (!rc)
		rc = measure_first(p, w, data, t);
	if (!rc)
		rc = measure_idle(p, w, signals, t);
	wic_channel_destroy(signals);
	wic_channel_destroy(data);
	return rc;
}
