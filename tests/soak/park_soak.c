/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Parks many warps at a time, each for a tag of its own, and wakes each with its data.
 *
 *	park_soak [WARPS [SECONDS [SEED]]]	default 65536 0 1
 *
 * Rounds of three kinds in turn, until SECONDS have passed, each kind once at least:
 *
 *	forever		no deadline
 *	deadline	a deadline far away: each warp is in the heap of deadlines
 *	expires		odd warps have a deadline and nobody publishes for them
 *
 * In each all warps are parked (as the counters say) before anything is published, in a
 * random order.  Every warp must come back exactly once, with the right status and data.
 * 32 warps a block, 1,024 an SM: 65,536 warps are 64 SM threads on whatever cores there
 * are, with stacks of 16 KiB.
 */
#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include <wic/kernel.h>
#include <wic/wic.h>

#include "bench/host.h"
#include "tests/test.h"

#define SM_WARPS 1024u
#define BLOCK_WARPS 32u
#define WARPS_MAX (1u << 18) /* of a pool of 2^20 pages */
#define WORDS 8u
/* Bounds every wait of a run that is broken; SM threads share cores and are slow. */
#define LIMIT_NS WIC_S(300)
#define FAR_NS WIC_S(600)
#define EXPIRES_NS WIC_S(1)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_BYTES 65536u
#else
#define STACK_BYTES 16384u
#endif

/*
 * One page held, one not closed yet from the round before, a partner for each: a warp that
 * waits for pages is not parked.
 */
#define POOL_PAGES_A_WARP 4u

enum kind { FOREVER, DEADLINE, EXPIRES, KINDS };

static const char *const kind_names[KINDS] = { "forever", "deadline", "expires" };

struct soak_args {
	struct wic_handle h;
	uint64_t epoch;
	enum kind kind;
	/* Written by the warps. */
	uint8_t *came_back; /* borrowed: times, a warp */
	uint32_t got;       /* right data */
	uint32_t timed_out;
	uint32_t wrong; /* other data */
	uint32_t other; /* other statuses */
	int status;     /* one of these */
};

struct soak {
	struct wic *w;          /* owned */
	struct wic_channel *ch; /* owned by w */
	uint32_t warps;
	uint32_t *order;    /* owned */
	uint8_t *came_back; /* owned */
	uint64_t random;
	uint64_t epoch;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Different for each (tag, epoch, i). */
static uint64_t word_of(uint32_t tag, uint64_t epoch, uint32_t i)
{
	return epoch * 0x9e3779b97f4a7c15ull ^ (uint64_t)tag << 32 ^ i;
}

static bool is_published(enum kind kind, uint32_t tag)
{
	return kind != EXPIRES || tag % 2 == 0;
}

static uint64_t timeout_of(enum kind kind, uint32_t tag)
{
	if (kind == DEADLINE)
		return FAR_NS;
	return is_published(kind, tag) ? WIC_FOREVER : EXPIRES_NS;
}

static void count_status(struct soak_args *a, int rc)
{
	if (rc == -ETIMEDOUT) {
		wic_atomic_add_u32(&a->timed_out, 1);
		return;
	}
	wic_atomic_add_u32(&a->other, 1);
	__atomic_store_n(&a->status, rc, __ATOMIC_RELAXED);
}

WIC_KERNEL(soak_kernel, struct soak_args, a)
{
	/* The arguments are borrowed from run_round(), which waits for us. */
	struct soak_args *out = (struct soak_args *)(uintptr_t)a;
	uint32_t tag = wic_block_id() * BLOCK_WARPS + wic_warp_id();
	uint32_t wrong = 0;
	void *data;
	int rc = wic_request(&a->h, NULL, tag, a->epoch, timeout_of(a->kind, tag), &data);

	a->came_back[tag]++;
	if (rc) {
		count_status(out, rc);
		return;
	}
	for (uint32_t i = 0; i < WORDS; i++)
		wrong += ((volatile uint64_t *)data)[i] != word_of(tag, a->epoch, i);
	rc = wic_release(&a->h, tag, a->epoch);
	if (rc)
		count_status(out, rc);
	wic_atomic_add_u32(wrong ? &out->wrong : &out->got, 1);
}

static struct wic_stats stats_of(struct soak *s)
{
	struct wic_stats stats = WIC_STATS_INIT;

	TEST_EQ(wic_stats_get(s->w, &stats), 0);
	return stats;
}

/*
 * Until all are parked; returns how many were.  On a slow machine a deadline may pass before
 * its warp had pages to be parked on: that one has come back already.
 */
static uint32_t wait_until_parked(struct soak *s, const struct soak_args *a,
				  const struct wic_stats *before)
{
	const struct timespec pause = { 0, 1000000 };
	uint64_t until = now_ns() + LIMIT_NS;
	uint32_t parked, gone;

	for (;;) {
		gone = __atomic_load_n(&a->timed_out, __ATOMIC_RELAXED);
		parked = (uint32_t)(stats_of(s).parks - before->parks);
		if (parked + gone >= s->warps)
			break;
		TEST_TRUE(now_ns() < until);
		/* No order depends on the pause: it leaves the cores to the warps. */
		nanosleep(&pause, NULL);
	}
	TEST_TRUE(a->kind == EXPIRES || parked == s->warps);
	return parked;
}

static void publish_one(struct soak *s, uint32_t tag)
{
	void *buffer;

	TEST_EQ(wic_stage(s->ch, tag, s->epoch, LIMIT_NS, &buffer), 0);
	for (uint32_t i = 0; i < WORDS; i++)
		((uint64_t *)buffer)[i] = word_of(tag, s->epoch, i);
	TEST_EQ(wic_publish(s->ch, tag, s->epoch), 0);
}

/* Durstenfeld's shuffle (CACM 7, 1964, algorithm 235), then in that order. */
static uint32_t publish_all(struct soak *s, enum kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->warps; i++) {
		uint32_t j = (uint32_t)(test_random(&s->random) % (i + 1));

		s->order[i] = s->order[j];
		s->order[j] = i;
	}
	for (uint32_t i = 0; i < s->warps; i++) {
		if (!is_published(kind, s->order[i]))
			continue;
		publish_one(s, s->order[i]);
		count++;
	}
	return count;
}

static void check_round(const struct soak *s, const struct soak_args *a, uint32_t published)
{
	TEST_EQ(a->status, 0);
	TEST_EQ(a->other, 0);
	TEST_EQ(a->wrong, 0);
	TEST_EQ(a->got, published);
	TEST_EQ(a->timed_out, s->warps - published);
	for (uint32_t i = 0; i < s->warps; i++)
		TEST_EQ(s->came_back[i], 1);
}

static void run_round(struct soak *s, enum kind kind)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct soak_args a = { .kind = kind, .came_back = s->came_back, .epoch = ++s->epoch };
	uint64_t start_ns = now_ns(), parked_ns;
	struct wic_stats before = stats_of(s);
	uint32_t parked, published;

	memset(s->came_back, 0, s->warps);
	a.h = wic_channel_handle(s->ch);
	l.kernel = soak_kernel;
	l.args = &a;
	l.grid_blocks = s->warps / BLOCK_WARPS;
	l.block_threads = BLOCK_WARPS * WIC_WARP_LANES;
	TEST_EQ(wic_launch(s->w, &l), 0);
	parked = wait_until_parked(s, &a, &before);
	parked_ns = now_ns();
	published = publish_all(s, kind);
	TEST_EQ(wic_sync(s->w, LIMIT_NS), 0);
	printf("%-8s epoch %llu: %u parked in %.2f s (%llu waited for pages), %u woken, "
	       "%u timed out in %.2f s\n",
	       kind_names[kind], (unsigned long long)s->epoch, parked,
	       (double)(parked_ns - start_ns) * 1e-9,
	       (unsigned long long)(stats_of(s).pool_waits - before.pool_waits), a.got, a.timed_out,
	       (double)(now_ns() - parked_ns) * 1e-9);
	fflush(stdout);
	check_round(s, &a, published);
}

/* Pool and stacks, all of which are touched. */
static uint64_t bytes_needed(const struct soak *s)
{
	return (uint64_t)s->warps * (POOL_PAGES_A_WARP * WIC_PAGE_BYTES + STACK_BYTES);
}

/* False: not on this machine, which was said. */
static bool soak_open(struct soak *s)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	int rc;

	cfg.sms = (s->warps + SM_WARPS - 1) / SM_WARPS;
	cfg.sm_warps = SM_WARPS;
	cfg.sm_blocks = SM_WARPS / BLOCK_WARPS;
	cfg.stack_bytes = STACK_BYTES;
	cfg.pool_pages = POOL_PAGES_A_WARP * s->warps;
	if (bytes_needed(s) > bench_memory_budget_bytes()) {
		printf("skip park_soak: %u warps take %llu MiB, more than half of what is free\n",
		       s->warps, (unsigned long long)(bytes_needed(s) >> 20));
		return false;
	}
	rc = wic_open(&cfg, &s->w);
	if (rc == -ENOTSUP || rc == -ENOMEM) {
		printf("skip park_soak: %s\n", wic_last_error());
		return false;
	}
	TEST_EQ(rc, 0);
	d.tags = s->warps;
	d.bytes_per_tag = WORDS * sizeof(uint64_t);
	TEST_EQ(wic_channel_create(s->w, &d, &s->ch), 0);
	s->order = calloc(s->warps, sizeof(*s->order));
	s->came_back = calloc(s->warps, 1);
	TEST_TRUE(s->order && s->came_back);
	return true;
}

static uint64_t argument(int argc, char **argv, int i, uint64_t otherwise, uint64_t max)
{
	unsigned long long value = otherwise;
	char *end = NULL;

	if (argc <= i)
		return otherwise;
	value = strtoull(argv[i], &end, 10);
	if (*argv[i] >= '0' && *argv[i] <= '9' && !*end && value <= max)
		return value;
	fprintf(stderr, "usage: %s [WARPS, a multiple of 32 up to %u [SECONDS [SEED]]]\n", argv[0],
		WARPS_MAX);
	exit(2);
}

int main(int argc, char **argv)
{
	static char again[64];
	struct soak s = { .warps = (uint32_t)argument(argc, argv, 1, 65536, WARPS_MAX) };
	uint64_t seconds = argument(argc, argv, 2, 0, 1000000), end_ns;
	uint64_t seed = argument(argc, argv, 3, 1, UINT64_MAX);
	uint32_t rounds = 0;

	if (!s.warps || s.warps % BLOCK_WARPS)
		argument(2, (char *[]){ argv[0], "x" }, 1, 0, 0);
	/* What a failure prints. */
	snprintf(again, sizeof(again), "%u %llu %llu", s.warps, (unsigned long long)seconds,
		 (unsigned long long)seed);
	test_program = argv[0];
	test_current = again;
	s.random = seed ? seed : 1;
	if (!soak_open(&s))
		return 77;
	for (end_ns = now_ns() + WIC_S(seconds); rounds < KINDS || now_ns() < end_ns; rounds++)
		run_round(&s, (enum kind)(rounds % KINDS));
	wic_close(s.w);
	free(s.order);
	free(s.came_back);
	printf("ok   park_soak: %u rounds of %u warps\n", rounds, s.warps);
	return 0;
}
