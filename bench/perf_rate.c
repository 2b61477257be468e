/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * `wic perf rate`: how much, and how late.
 *
 *	take-up		publishes a second that the Monitor takes up while nobody waits;
 *			baseline: a release store a publish by the publisher alone
 *	wakes		signals a second, each to a warp of its own that waits for it and is
 *			published again once it has gone on (a closed loop of 64 warps);
 *			baseline: one thread at a futex, published again once it has gone on
 *	load-R/...	latency at R publishes a second offered, over the 64 warps in turn;
 *			baseline: one thread at a futex, the same times
 *	load-R/achieved	publishes a second really seen by the warps; ratio to R
 *
 * The load curve is an open loop: when each publish is due is fixed beforehand, and its
 * latency counts from then, also where the publisher or the wakes before it are late.
 * Otherwise a slow system would be asked less often and its waits would go unseen
 * ("coordinated omission": G. Tene, How NOT to Measure Latency, 2013; open and closed
 * loops: Schroeder, Wierman, Harchol-Balter, NSDI 2006).  Times between two publishes
 * are all alike.
 *
 * Availability is a level: a warp that comes late finds several of its epochs published
 * and takes them without another park, as the thread of the baseline does.  So overload
 * shows as latency, and what is achieved can stay at what is offered.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wic/kernel.h>
#include <wic/wic.h>

#include "bench/host.h"
#include "bench/perf.h"
#include "bench/perf_pair.h"
#include "lib/log.h"

#define WARPS 64
#define TAKE_UP_TAGS (1u << 16)
#define TIMEOUT_NS WIC_S(20)
/* A point lasts at least so long, and has at least --samples publishes. */
#define POINT_S 0.2
/* From the launch to the first publish that is due. */
#define LEAD_NS WIC_MS(2)
#define QUANTILES 4

static const double quantiles[QUANTILES] = { 0.5, 0.9, 0.99, 0.999 };
static const char *const quantile_names[QUANTILES] = { "p50", "p90", "p99", "p99.9" };

/* Warp w waits for tag w, epoch after epoch: publish i is of tag i % WARPS. */
struct rate_args {
	struct wic_handle h;
	uint64_t epoch_base;
	uint32_t publishes;
	uint64_t *stamps; /* borrowed: when each was seen */
	/* Each warp's own: epochs seen, for the closed loop; a line each. */
	struct {
		uint32_t seen __attribute__((aligned(64)));
	} warps[WARPS];
	int status;
};

struct subject {
	struct wic *w;          /* owned */
	struct wic_channel *ch; /* owned by w */
	uint64_t epoch_base;
	uint64_t *stamps; /* owned, publishes_max */
	double *ns;       /* owned, publishes_max */
	struct rate_args args;
};

struct point {
	struct bench_perf_samples latency[QUANTILES];
	struct bench_perf_samples achieved;
};

WIC_KERNEL(bench_rate_kernel, struct rate_args, a)
{
	/* The arguments are borrowed from who launched, which waits for us. */
	struct rate_args *out = (struct rate_args *)(uintptr_t)a;
	uint32_t me = wic_warp_id(), seen = 0;

	for (uint32_t i = me; i < a->publishes; i += WARPS) {
		int rc = wic_wait(&a->h, NULL, me, a->epoch_base + ++seen, TIMEOUT_NS);

		if (rc) {
			__atomic_store_n(&out->status, rc, __ATOMIC_RELAXED);
			return;
		}
		a->stamps[i] = wic_now_ns();
		/* Pairs with the acquire in run_closed(). */
		__atomic_store_n(&out->warps[me].seen, seen, __ATOMIC_RELEASE);
	}
}

static int launch(struct subject *s, uint32_t publishes)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct rate_args *a = &s->args;

	memset(a, 0, sizeof(*a));
	a->h = wic_channel_handle(s->ch);
	a->epoch_base = s->epoch_base;
	a->publishes = publishes;
	a->stamps = s->stamps;
	s->epoch_base += publishes / WARPS + 1;
	l.kernel = bench_rate_kernel;
	l.args = a;
	l.block_threads = WARPS * WIC_WARP_LANES;
	return wic_launch(s->w, &l);
}

static int sync_all(struct subject *s)
{
	int rc = wic_sync(s->w, 2 * TIMEOUT_NS);

	if (s->args.status)
		return wic_fail(s->args.status, "rate: a wait in the kernel: %s",
				wic_strerror(s->args.status));
	return rc;
}

static int publish(struct subject *s, uint32_t i)
{
	return wic_publish(s->ch, i % WARPS, s->args.epoch_base + i / WARPS + 1);
}

/* Publishes i = 0, 1, ... at start + i / rate.  0 or -errno. */
static int run_open(struct subject *s, uint32_t publishes, double rate, uint64_t *start_ns_out)
{
	uint64_t start_ns = wic_now_ns() + LEAD_NS;
	int rc = 0;

	for (uint32_t i = 0; i < publishes && !rc; i++) {
		bench_publisher_wait_until(start_ns + (uint64_t)(i * 1e9 / rate));
		rc = publish(s, i);
	}
	*start_ns_out = start_ns;
	return rc;
}

static void run_open_pair(struct bench_pair *p, uint32_t publishes, double rate,
			  uint64_t *start_ns_out)
{
	uint64_t start_ns = wic_now_ns() + LEAD_NS;

	for (uint32_t i = 0; i < publishes; i++) {
		bench_publisher_wait_until(start_ns + (uint64_t)(i * 1e9 / rate));
		bench_pair_publish(p, i + 1);
	}
	*start_ns_out = start_ns;
}

/* Quantiles of stamps less due times; achieved: a second, from the first due time to the last wake.
 */
static void digest(struct subject *s, uint32_t publishes, double rate, uint64_t start_ns,
		   double *quantiles_out, double *achieved_out)
{
	uint64_t last_ns = start_ns;

	for (uint32_t i = 0; i < publishes; i++) {
		uint64_t due_ns = start_ns + (uint64_t)(i * 1e9 / rate);

		s->ns[i] = (double)(int64_t)(s->stamps[i] - due_ns);
		last_ns = s->stamps[i] > last_ns ? s->stamps[i] : last_ns;
	}
	bench_sort(s->ns, publishes);
	for (int q = 0; q < QUANTILES; q++)
		quantiles_out[q] = bench_quantile_sorted(s->ns, publishes, quantiles[q]);
	*achieved_out = (double)(publishes - 1) * 1e9 / (double)(last_ns - start_ns + 1);
}

static uint32_t publishes_of(const struct bench_perf_params *p, double rate)
{
	double n = fmax(p->samples, rate * POINT_S);

	/* Each warp has as many. */
	return ((uint32_t)n + WARPS - 1) / WARPS * WARPS;
}

static int measure_point(const struct bench_perf_params *p, struct subject *s, double rate,
			 struct point *x, uint32_t repeat)
{
	uint32_t publishes = publishes_of(p, rate);
	struct bench_pair pair = {
		.kind = BENCH_PAIR_FUTEX,
		.waiters = 1,
		.count = publishes,
		.stamps = s->stamps,
	};
	double value[QUANTILES], baseline[QUANTILES], pair_achieved;
	uint64_t start_ns;
	int rc = launch(s, publishes), sync_rc;

	if (rc)
		return rc;
	rc = run_open(s, publishes, rate, &start_ns);
	sync_rc = sync_all(s);
	rc = rc ? rc : sync_rc;
	if (rc)
		return rc;
	digest(s, publishes, rate, start_ns, value, &x->achieved.value[repeat]);
	x->achieved.baseline[repeat] = rate;
	rc = bench_pair_start(&pair);
	if (rc)
		return wic_fail(rc, "rate: no thread for the baseline");
	run_open_pair(&pair, publishes, rate, &start_ns);
	bench_pair_stop(&pair);
	digest(s, publishes, rate, start_ns, baseline, &pair_achieved);
	for (int q = 0; q < QUANTILES; q++) {
		x->latency[q].value[repeat] = value[q];
		x->latency[q].baseline[repeat] = baseline[q];
	}
	return 0;
}

static void add_point(const struct bench_perf_params *p, struct bench_perf_table *t, double rate,
		      const struct point *x)
{
	struct bench_perf_row *row;

	for (int q = 0; q < QUANTILES; q++) {
		row = bench_perf_row_add(t, "rate", "us", "load-%.0f/%s", rate, quantile_names[q]);
		bench_perf_row_finish(row, &x->latency[q], p->repeats, 1e-3);
	}
	row = bench_perf_row_add(t, "rate", "/s", "load-%.0f/achieved", rate);
	bench_perf_row_finish(row, &x->achieved, p->repeats, 1);
}

/* Rate by rate, each with all its repeats. */
static int measure_load(const struct bench_perf_params *p, struct subject *s,
			struct bench_perf_table *t)
{
	static struct point x;
	int rc = 0;

	for (uint32_t r = 0; r < p->rate_count && !rc; r++) {
		for (int i = -1; i < (int)p->repeats && !rc; i++) {
			bench_progress("%.0f publishes/s offered: repeat %d of %u", p->rates[r],
				       i + 1, p->repeats);
			rc = measure_point(p, s, p->rates[r], &x, i < 0 ? 0 : (uint32_t)i);
		}
		bench_progress("%s", "");
		if (!rc)
			add_point(p, t, p->rates[r], &x);
	}
	return rc;
}

/* Publish each tag again as soon as its warp has gone on. */
static int run_closed(struct subject *s, uint32_t publishes, double *per_s_out)
{
	uint64_t start_ns = wic_now_ns();
	uint32_t sent[WARPS] = { 0 }, total = 0;
	int rc = 0;

	while (total < publishes && !rc) {
		uint32_t before = total;

		for (uint32_t w = 0; w < WARPS && !rc; w++) {
			if (__atomic_load_n(&s->args.warps[w].seen, __ATOMIC_ACQUIRE) != sent[w] ||
			    sent[w] == publishes / WARPS)
				continue;
			rc = publish(s, sent[w]++ * WARPS + w);
			total++;
		}
		if (before == total)
			bench_publisher_relax();
		if (wic_now_ns() - start_ns > BENCH_PING_TIMEOUT_NS)
			rc = wic_fail(-ETIMEDOUT, "rate: warps do not go on");
	}
	if (!rc)
		rc = sync_all(s);
	*per_s_out = (double)publishes * 1e9 / (double)(wic_now_ns() - start_ns);
	return rc;
}

static int wakes_by_futex(struct subject *s, uint32_t publishes, double *per_s_out)
{
	struct bench_pair pair = { .kind = BENCH_PAIR_FUTEX, .waiters = 1, .count = publishes };
	uint64_t start_ns = wic_now_ns();
	int rc = bench_ping_pair(&pair, 0, s->ns);

	*per_s_out = (double)publishes * 1e9 / (double)(wic_now_ns() - start_ns);
	return rc ? wic_fail(rc, "rate: the thread at a futex: %s", wic_strerror(rc)) : 0;
}

static int measure_wakes(const struct bench_perf_params *p, struct subject *s,
			 struct bench_perf_table *t)
{
	static struct bench_perf_samples x;
	uint32_t publishes = publishes_of(p, 20 * p->samples);
	int rc = 0;

	for (int i = -1; i < (int)p->repeats && !rc; i++) {
		uint32_t at = i < 0 ? 0 : (uint32_t)i;

		bench_progress("wakes: repeat %d of %u", i + 1, p->repeats);
		rc = launch(s, publishes);
		if (!rc)
			rc = run_closed(s, publishes, &x.value[at]);
		if (!rc)
			rc = wakes_by_futex(s, publishes, &x.baseline[at]);
	}
	bench_progress("%s", "");
	if (!rc)
		bench_perf_row_finish(bench_perf_row_add(t, "rate", "/s", "wakes"), &x, p->repeats,
				      1);
	return rc;
}

/* Until all @wanted publishes have been taken up; asking is a call to the Monitor. */
static int wait_taken_up(struct wic *w, uint64_t wanted)
{
	uint64_t until_ns = wic_now_ns() + TIMEOUT_NS;
	struct wic_stats s = WIC_STATS_INIT;
	int rc;

	do {
		rc = wic_stats_get(w, &s);
		if (!rc && wic_now_ns() > until_ns)
			rc = wic_fail(-ETIMEDOUT, "rate: publishes are not taken up");
	} while (!rc && s.publishes < wanted);
	return rc;
}

static int take_up(struct subject *s, struct wic_channel *ch, uint64_t epoch, double *per_s_out)
{
	struct wic_stats before = WIC_STATS_INIT;
	uint64_t start_ns;
	int rc = wic_stats_get(s->w, &before);

	start_ns = wic_now_ns();
	for (uint32_t tag = 0; tag < TAKE_UP_TAGS && !rc; tag++)
		rc = wic_publish(ch, tag, epoch);
	if (!rc)
		rc = wait_taken_up(s->w, before.publishes + TAKE_UP_TAGS);
	*per_s_out = TAKE_UP_TAGS * 1e9 / (double)(wic_now_ns() - start_ns);
	return rc;
}

static double take_up_bare(uint64_t *words, uint64_t epoch)
{
	uint64_t start_ns = wic_now_ns();

	for (uint32_t tag = 0; tag < TAKE_UP_TAGS; tag++)
		__atomic_store_n(&words[tag], epoch, __ATOMIC_RELEASE);
	return TAKE_UP_TAGS * 1e9 / (double)(wic_now_ns() - start_ns + 1);
}

static int measure_take_up(const struct bench_perf_params *p, struct subject *s,
			   struct bench_perf_table *t)
{
	static struct bench_perf_samples x;
	static uint64_t words[TAKE_UP_TAGS];
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_channel *ch;
	int rc;

	d.tags = TAKE_UP_TAGS;
	rc = wic_channel_create(s->w, &d, &ch);
	if (rc)
		return rc;
	for (int i = -1; i < (int)p->repeats && !rc; i++) {
		uint32_t at = i < 0 ? 0 : (uint32_t)i;

		bench_progress("take-up: repeat %d of %u", i + 1, p->repeats);
		rc = take_up(s, ch, (uint64_t)i + 2, &x.value[at]);
		x.baseline[at] = take_up_bare(words, (uint64_t)i + 2);
	}
	bench_progress("%s", "");
	wic_channel_destroy(ch);
	if (!rc)
		bench_perf_row_finish(bench_perf_row_add(t, "rate", "/s", "take-up"), &x,
				      p->repeats, 1);
	return rc;
}

static int subject_init(struct subject *s, const struct bench_perf_params *p)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_config cfg = WIC_CONFIG_INIT;
	uint32_t most = publishes_of(p, 20 * p->samples);
	int rc;

	memset(s, 0, sizeof(*s));
	for (uint32_t r = 0; r < p->rate_count; r++)
		most = publishes_of(p, p->rates[r]) > most ? publishes_of(p, p->rates[r]) : most;
	s->stamps = calloc(most, sizeof(*s->stamps));
	s->ns = calloc(most, sizeof(*s->ns));
	if (!s->stamps || !s->ns)
		return wic_fail(-ENOMEM, "rate: no memory for %u publishes", most);
	cfg.backend = p->backend;
	cfg.sms = 1;
	cfg.sm_warps = WARPS;
	rc = wic_open(&cfg, &s->w);
	d.tags = WARPS;
	return rc ? rc : wic_channel_create(s->w, &d, &s->ch);
}

int bench_perf_rate(const struct bench_perf_params *p, struct bench_perf_table *t)
{
	static struct subject s;
	struct bench_pin pin;
	int rc = subject_init(&s, p);

	if (!rc) {
		bench_pin_publisher(&pin);
		rc = measure_take_up(p, &s, t);
		if (!rc)
			rc = measure_wakes(p, &s, t);
		if (!rc)
			rc = measure_load(p, &s, t);
		bench_unpin(&pin);
	}
	if (rc)
		bench_error("rate: %s", wic_last_error());
	wic_close(s.w);
	free(s.stamps);
	free(s.ns);
	return rc;
}
