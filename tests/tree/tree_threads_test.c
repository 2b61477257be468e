// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The interrupt tree over threads: parked ones sleep on futexes.  Payloads are plain memory,
 * stored before they are published and loaded after the wait, so that TSan judges the orders.
 *
 *	tree_threads_test [SEED [WAITS [SECONDS]]]	default 1 100000 100
 *
 * Rounds of three kinds in turn, until WAITS waits are done:
 *
 *	tags	epochs of host and device tags, with deadlines, cancels and waiters without a lot
 *	pages	two a tag, that go back to their producer when all readers have released them
 *	queue	whichever tag is ready, until its producer has died
 *
 * A program that has not ended after SECONDS hangs, and fails.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIC_TREE_NEXT
#include <wic/tree.h>

#define LINES 6u /* control, 2 of host tags, 1 of device tags, the queue, its slots */
#define HOST_LINE 1u
#define DEVICE_LINE 3u
#define QUEUE_LINE 4u
#define TAGS (4u * WIC_TREE_LINE_TAGS)
#define TAGS_USED 4u /* of a line */
#define EPOCHS 48u
#define PAYLOAD_WORDS 4u
#define WAITERS_MAX 24u
#define READERS 2u
#define ITEMS 600u

enum kind { KIND_TAGS, KIND_PAGES, KIND_QUEUE, KINDS };

struct payload {
	uint64_t word[PAYLOAD_WORDS];
};

struct shape {
	uint32_t blocks, warps, alone;
};

static const struct shape shapes[] = { { 2, 8, 0 }, { 1, 1, 1 },  { 1, 4, 2 },
				       { 4, 4, 1 }, { 1, 16, 0 }, { 6, 1, 0 } };

struct actor {
	pthread_t thread;
	uint64_t random;
	uint32_t id;
	uint32_t block; /* of waiters: UINT32_MAX: no lot */
	uint32_t warp;
	uint64_t waits, timeouts, cancels;
};

static struct {
	struct wic_tree_line lines[LINES] __attribute__((aligned(256)));
	uint64_t truth[LINES][WIC_TREE_LINE_TAGS];
	uint64_t end_truth[LINES];
	uint64_t drained;
	struct wic_lot lot[8];
	/* Plain: a payload an epoch, two pages a tag, an item a put. */
	struct payload payload[TAGS][EPOCHS + 1];
	struct payload page[WAITERS_MAX][2];
	struct payload item[ITEMS];
	uint64_t count[WAITERS_MAX][2];
	uint64_t credit[WAITERS_MAX][2];
	uint32_t waiters_left; /* atomic */
	uint32_t delivered;    /* atomic */
	uint32_t page_tags;
	struct actor actor[WAITERS_MAX + 4];
} s;

static uint64_t seed, waits_max, rounds, waits, timeouts, cancels;
static unsigned seconds;

static void fail(const char *what, uint64_t a, uint64_t b) __attribute__((noreturn));

static void fail(const char *what, uint64_t a, uint64_t b)
{
	fflush(stdout);
	fprintf(stderr,
		"tree_threads_test: %s (%lld, %lld), after %llu waits, in round %llu\n"
		"  again: tree_threads_test %llu %llu\n",
		what, (long long)a, (long long)b, (unsigned long long)waits,
		(unsigned long long)rounds, (unsigned long long)seed,
		(unsigned long long)waits_max);
	_exit(1);
}

/* Hangs are found by a thread, which may print. */
static void *watchdog_run(void *arg)
{
	(void)arg;
	sleep(seconds);
	fail("hangs", seconds, 0);
}

static uint64_t below(struct actor *a, uint64_t n)
{
	a->random ^= a->random >> 12;
	a->random ^= a->random << 25;
	a->random ^= a->random >> 27;
	return (a->random * 2685821657736338717ull >> 16) % n;
}

static void now_and_then(struct actor *a)
{
	if (!below(a, 4))
		wic_t_nap((uint32_t)below(a, 60000));
}

static void fill(struct payload *p, uint64_t v)
{
	for (uint32_t i = 0; i < PAYLOAD_WORDS; i++)
		p->word[i] = v + i;
}

static void check(const struct payload *p, uint64_t v)
{
	for (uint32_t i = 0; i < PAYLOAD_WORDS; i++)
		if (p->word[i] != v + i)
			fail("a wrong payload", p->word[i], v + i);
}

/* ---- tags ------------------------------------------------------------------------ */

static void tag_publisher(struct actor *a, uint32_t first, uint32_t end)
{
	for (uint64_t e = 1; e <= EPOCHS; e++)
		for (uint32_t line = first; line < end; line++) {
			uint32_t tag = line * WIC_TREE_LINE_TAGS;

			for (uint32_t i = 0; i < TAGS_USED; i++)
				fill(&s.payload[tag + i][e], e * 1000 + tag + i);
			for (uint32_t i = 0; i < TAGS_USED; i++)
				if (line == DEVICE_LINE)
					wic_tree_publish(s.lines, tag + i, e, 1);
				else
					__atomic_store_n(&s.truth[line][i], e, __ATOMIC_RELEASE);
			now_and_then(a);
		}
}

static void *host_tags_run(void *arg)
{
	tag_publisher(arg, HOST_LINE, DEVICE_LINE);
	return NULL;
}

static void *device_tags_run(void *arg)
{
	tag_publisher(arg, DEVICE_LINE, DEVICE_LINE + 1);
	return NULL;
}

static void *canceller_run(void *arg)
{
	struct actor *a = arg;

	while (__atomic_load_n(&s.waiters_left, __ATOMIC_RELAXED)) {
		wic_t_nap((uint32_t)below(a, 2000000));
		__atomic_add_fetch(&s.truth[0][WIC_TREE_CANCEL], 1, __ATOMIC_RELEASE);
		wic_t_nap((uint32_t)below(a, 100000));
		__atomic_add_fetch(&s.truth[0][WIC_TREE_CANCEL], 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static struct wic_lot *lot_of(const struct actor *a)
{
	return a->block == UINT32_MAX ? NULL : &s.lot[a->block];
}

static void wait_tag(struct actor *a, uint64_t epoch)
{
	uint32_t tag = (HOST_LINE + (uint32_t)below(a, 3)) * WIC_TREE_LINE_TAGS +
		       (uint32_t)below(a, TAGS_USED);
	uint64_t timeout_ns = below(a, 3) ? WIC_FOREVER : below(a, 200000);
	int rc = wic_tree_wait(lot_of(a), s.lines, TAGS, tag, epoch, timeout_ns, 1);

	a->waits++;
	switch (rc) {
	case 0:
		check(&s.payload[tag][epoch], epoch * 1000 + tag);
		break;
	case WIC_TREE_ETIMEDOUT:
		if (timeout_ns == WIC_FOREVER)
			fail("a timeout of a wait for ever", tag, epoch);
		a->timeouts++;
		break;
	case WIC_TREE_ECANCELED:
		if (!__atomic_load_n(&s.truth[0][WIC_TREE_CANCEL], __ATOMIC_RELAXED))
			fail("cancelled by nobody", tag, epoch);
		a->cancels++;
		break;
	default:
		fail("a status that cannot be", (uint64_t)rc, tag);
	}
}

static void *tag_waiter_run(void *arg)
{
	struct actor *a = arg;

	wic_tree_thread_set(a->block == UINT32_MAX ? 100 + a->id : a->block, a->warp);
	for (uint64_t e = 1; e <= EPOCHS; e++)
		for (uint32_t i = 0; i < 3; i++)
			wait_tag(a, e);
	__atomic_sub_fetch(&s.waiters_left, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* ---- pages that go back ---------------------------------------------------------- */

static void *stager_run(void *arg)
{
	struct actor *a = arg;

	for (uint64_t e = 1; e <= EPOCHS; e++)
		for (uint32_t tag = 0; tag < s.page_tags; tag++) {
			uint64_t *credit = &s.credit[tag][e & 1];

			while (e > 2 && __atomic_load_n(credit, __ATOMIC_ACQUIRE) < e - 2)
				wic_t_nap((uint32_t)below(a, 10000));
			fill(&s.page[tag][e & 1], e);
			wic_tree_publish_sys(&s.truth[HOST_LINE][tag], e, 1);
		}
	return NULL;
}

static void *reader_run(void *arg)
{
	struct actor *a = arg;
	uint32_t tag = a->id / READERS;

	wic_tree_thread_set(a->block == UINT32_MAX ? 100 + a->id : a->block, a->warp);
	for (uint64_t e = 1; e <= EPOCHS && tag < s.page_tags; e++) {
		int rc = wic_tree_wait(lot_of(a), s.lines, TAGS,
				       HOST_LINE * WIC_TREE_LINE_TAGS + tag, e, WIC_FOREVER, 1);

		if (rc)
			fail("a wait for a page fails", (uint64_t)rc, e);
		check(&s.page[tag][e & 1], e);
		wic_tree_release(&s.count[tag][e & 1], READERS, &s.credit[tag][e & 1], e, 1);
		a->waits++;
	}
	return NULL;
}

/* ---- a queue --------------------------------------------------------------------- */

static void *putter_run(void *arg)
{
	struct actor *a = arg;

	for (uint32_t i = 0; i < ITEMS; i++) {
		fill(&s.item[i], i);
		while (wic_tree_put(s.truth[QUEUE_LINE], &s.drained, WIC_TREE_LINE_TAGS, i, i))
			wic_t_nap((uint32_t)below(a, 10000));
		if (!below(a, 8))
			now_and_then(a);
	}
	__atomic_store_n(&s.end_truth[QUEUE_LINE], WIC_TREE_DIED, __ATOMIC_RELEASE);
	__atomic_add_fetch(&s.truth[0][WIC_TREE_ENDS], 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *consumer_run(void *arg)
{
	struct actor *a = arg;
	int rc = 0;

	wic_tree_thread_set(a->block == UINT32_MAX ? 100 + a->id : a->block, a->warp);
	while (rc != WIC_TREE_EOWNERDEAD) {
		uint64_t timeout_ns = below(a, 2) ? WIC_FOREVER : below(a, 200000);
		uint32_t tag = UINT32_MAX;

		rc = wic_tree_next(lot_of(a), &s.lines[QUEUE_LINE], timeout_ns, 1, &tag);
		a->waits++;
		if (!rc) {
			check(&s.item[tag], tag);
			fill(&s.item[tag], 1000000); /* nobody else has it */
			__atomic_add_fetch(&s.delivered, 1, __ATOMIC_RELAXED);
		} else if (rc == WIC_TREE_ETIMEDOUT && timeout_ns != WIC_FOREVER) {
			a->timeouts++;
		} else if (rc != WIC_TREE_EOWNERDEAD) {
			fail("a status that cannot be", (uint64_t)rc, timeout_ns);
		}
	}
	return NULL;
}

/* ---- a round --------------------------------------------------------------------- */

static void make_lines(void)
{
	memset(&s, 0, sizeof(s));
	for (uint32_t i = 0; i < LINES; i++) {
		s.lines[i].truth = s.truth[i];
		s.lines[i].end_truth = &s.end_truth[i];
		s.lines[i].control = i ? &s.lines[0] : NULL;
		s.lines[i].reader = &s.lines[i];
	}
	s.lines[DEVICE_LINE].truth = NULL;
	s.lines[DEVICE_LINE].reader = NULL;
	s.lines[QUEUE_LINE].slots = &s.lines[QUEUE_LINE + 1];
	s.lines[QUEUE_LINE].size = WIC_TREE_LINE_TAGS;
	s.lines[QUEUE_LINE].drained = &s.drained;
	s.lines[QUEUE_LINE + 1].truth = NULL;
	s.lines[QUEUE_LINE + 1].end_truth = &s.end_truth[QUEUE_LINE];
	s.lines[QUEUE_LINE + 1].reader = &s.lines[QUEUE_LINE];
}

static void start(uint32_t i, void *(*run)(void *arg))
{
	struct actor *a = &s.actor[i];

	a->id = i;
	a->random = (seed * 1000003 + rounds) * 0x9e3779b97f4a7c15ull + i + 1;
	if (pthread_create(&a->thread, NULL, run, a))
		fail("no thread", i, 0);
}

static void check_end(const struct shape *shape)
{
	for (uint32_t b = 0; b < shape->blocks; b++) {
		struct wic_lot *lot = &s.lot[b];

		if (lot->mask || lot->watcher || lot->control)
			fail("a lot is not empty", lot->mask, lot->watcher);
		for (uint32_t w = 0; w < shape->warps; w++)
			if (lot->warp[w].line ||
			    (lot->warp[w].barrier & 1) != (lot->parity >> w & 1))
				fail("a place is not clean", b, w);
	}
	for (uint32_t i = 0; i < LINES; i++)
		if (s.lines[i].owner)
			fail("an owner is left", i, s.lines[i].owner);
}

static void one_round(void)
{
	static void *(*const waiter[KINDS])(void *) = { tag_waiter_run, reader_run, consumer_run };
	static void *(*const others[KINDS][3])(void *) = {
		{ host_tags_run, device_tags_run, canceller_run }, { stager_run }, { putter_run }
	};
	uint32_t kind = (uint32_t)(rounds % KINDS), count, lots;
	const struct shape *shape = &shapes[rounds / KINDS % (sizeof(shapes) / sizeof(shapes[0]))];

	make_lines();
	lots = shape->blocks * shape->warps;
	count = lots + shape->alone;
	s.waiters_left = count;
	s.page_tags = count / READERS;
	for (uint32_t b = 0; b < shape->blocks; b++)
		wic_tree_lot_init(&s.lot[b], shape->warps);
	for (uint32_t i = 0; i < count; i++) {
		s.actor[i].block = i < lots ? i / shape->warps : UINT32_MAX;
		s.actor[i].warp = i < lots ? i % shape->warps : 0;
		start(i, waiter[kind]);
	}
	for (uint32_t i = 0; i < 3 && others[kind][i]; i++)
		start(count++, others[kind][i]);
	for (uint32_t i = 0; i < count; i++) {
		pthread_join(s.actor[i].thread, NULL);
		waits += s.actor[i].waits;
		timeouts += s.actor[i].timeouts;
		cancels += s.actor[i].cancels;
	}
	if (kind == KIND_QUEUE && s.delivered != ITEMS)
		fail("items are lost", s.delivered, ITEMS);
	check_end(shape);
	rounds++;
}

int main(int argc, char **argv)
{
	pthread_t watchdog;

	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	waits_max = argc > 2 ? strtoull(argv[2], NULL, 0) : 100000;
	seconds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 0) : 100;
	if (pthread_create(&watchdog, NULL, watchdog_run, NULL))
		fail("no thread", 0, 0);
	pthread_detach(watchdog);
	while (waits < waits_max)
		one_round();
	printf("seed %llu, %llu rounds, %llu waits, %llu deadlines, %llu cancels\n",
	       (unsigned long long)seed, (unsigned long long)rounds, (unsigned long long)waits,
	       (unsigned long long)timeouts, (unsigned long long)cancels);
	return 0;
}
