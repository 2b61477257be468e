// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Random schedules of the interrupt tree, over fibers, against oracles (tree_world.h).
 *
 *	tree_random_test [SEED [WAITS [ROUND]]]		default 1 500000 0
 *
 * Rounds, each of another shape, with its own seed made of SEED and its number; the first one is
 * ROUND, until WAITS waits are done.  A failure prints the command that begins with its round.
 */
#include "tests/tree/tree_world.h"

#define HOST_FIBERS 4u
#define CREDIT_EPOCHS 24u
#define PAYLOAD_WORDS 3u

struct shape {
	uint32_t blocks, warps;
};

/* From the smallest, which a model has shown too, to full ones. */
static const struct shape shapes[] = { { 1, 1 }, { 1, 2 }, { 2, 1 }, { 2, 2 }, { 1, 3 },
				       { 1, 4 }, { 3, 2 }, { 2, 4 }, { 4, 4 }, { 8, 1 },
				       { 4, 8 }, { 1, 8 }, { 1, 32 } };

struct waiter {
	uint32_t id;
	uint32_t block; /* of the lot, or WORLD_BLOCKS: it has none */
	uint32_t waits;
	int64_t last_seq;
};

struct publisher {
	uint32_t keys[WORLD_LINES * WIC_TREE_LINE_TAGS]; /* its first tags of each line */
	uint32_t count;
	uint32_t on_device;
};

/* What is drawn for a round. */
struct round {
	struct shape shape;
	uint32_t alone; /* waiters without a lot */
	uint32_t waits; /* of each warp */
	uint32_t waiters_left;
	uint32_t nap_bits;   /* between what is published */
	uint32_t pause_mask; /* of a waiter before a wait */
	uint32_t forever_mask;
	uint32_t timeout_bits;
	uint32_t cancel_bits;            /* between cancels; 0: none */
	uint64_t end_at_ns[WORLD_LINES]; /* SCHED_NEVER: does not end */
	uint32_t end_how[WORLD_LINES];
	struct waiter waiter[WORLD_WARPS];
	struct publisher publisher[HOST_FIBERS];
	uint32_t publishers;
};

static struct round round_;
static uint64_t waits_max;

static void sched_fail(const char *what, uint64_t a, uint64_t b)
{
	fflush(stdout);
	fprintf(stderr,
		"tree_random_test: %s (%lld, %lld), after %llu waits\n"
		"  fiber %u at %llu ns; again: tree_random_test %llu %llu %llu\n",
		what, (long long)a, (long long)b, (unsigned long long)world.counts.waits,
		sched.current, (unsigned long long)sched.now_ns, (unsigned long long)world.seed,
		(unsigned long long)waits_max, (unsigned long long)world.round);
	exit(1);
}

static uint64_t below(uint64_t n)
{
	return (sched_random() >> 16) % n;
}

/* From 0, of any order of magnitude alike. */
static uint64_t any_size(uint32_t bits)
{
	return sched_random() >> 16 & (((uint64_t)1 << below(bits + 1)) - 1);
}

static void store(uint64_t *p, uint64_t v)
{
	sched_step();
	*p = v;
}

/* ---- who publishes --------------------------------------------------------------- */

static void end_line(uint32_t line)
{
	uint64_t *control = world.truth[line == world.queue ? 0 : line % world.contexts];

	store(&world.end_truth[line], round_.end_how[line]);
	sched_step();
	control[WIC_TREE_ENDS]++;
	world_say_ended(line);
}

static int is_ended(uint32_t line)
{
	if (line >= WORLD_LINES)
		return 0;
	if (!world.end_truth[line] && sched.now_ns >= round_.end_at_ns[line])
		end_line(line);
	return world.end_truth[line] != 0;
}

static void publish(const struct publisher *p, uint32_t key)
{
	uint32_t line = key / WIC_TREE_LINE_TAGS;
	uint64_t *word = world_published(key), epoch = *word + 1;

	if (is_ended(line))
		return;
	if (!below(8) && epoch < WIC_EPOCH_LAST - 2)
		epoch += 2;
	if (epoch > WIC_EPOCH_LAST)
		return;
	store(&world.payload[key], epoch);
	if (p->on_device)
		wic_tree_publish(&world.lines[line], key % WIC_TREE_LINE_TAGS, epoch, 1);
	else if (below(4))
		store(word, epoch);
	else
		wic_tree_publish_sys(word, epoch, 1);
	world_say_published(key, epoch);
}

/* Ranges, with stops anywhere. */
static void publisher_run(void *arg)
{
	const struct publisher *p = arg;

	while (round_.waiters_left) {
		uint32_t first = (uint32_t)below(p->count), n = 1 + (uint32_t)below(p->count);

		if (below(2))
			n = 1 + n % 4;
		for (uint32_t i = 0; i < n; i++) {
			publish(p, p->keys[(first + i) % p->count]);
			if (!below(4096))
				wic_t_nap((uint32_t)any_size(23));
			else if (!below(64))
				wic_t_nap((uint32_t)any_size(17));
		}
		wic_t_nap((uint32_t)any_size(round_.nap_bits));
	}
}

static void putter_run(void *arg)
{
	uint32_t line = world.queue;

	(void)arg;
	while (round_.waiters_left && !is_ended(line) && world.puts < WORLD_PUTS) {
		int rc;

		sched_step();
		rc = wic_tree_put(world.queue_truth, &world.drained, world.lines[line].size,
				  world.puts, (uint32_t)world.puts);
		if (!rc)
			world.put_fair_ns[world.puts++] = sched_fair_ns();
		if (rc || below(2))
			wic_t_nap((uint32_t)any_size(round_.nap_bits));
	}
	if (!world.end_truth[line]) {
		round_.end_how[line] = WIC_TREE_DIED;
		end_line(line);
	}
}

static void canceller_run(void *arg)
{
	(void)arg;
	while (round_.waiters_left) {
		uint32_t context = (uint32_t)below(world.contexts);
		uint64_t *word = &world.truth[context][WIC_TREE_CANCEL];

		wic_t_nap((uint32_t)any_size(round_.cancel_bits));
		sched_step();
		world.cancel_sets[context]++;
		world.cancelled_fair_ns[context] = sched_fair_ns();
		++*word;
		wic_t_nap((uint32_t)any_size(14));
		sched_step();
		++*word;
	}
}

/* ---- who waits ------------------------------------------------------------------- */

static uint64_t draw_timeout(void)
{
	if (below(32) == 0)
		return 0;
	return below(round_.forever_mask + 1) ? WIC_FOREVER : any_size(round_.timeout_bits);
}

static void wait_next(struct waiter *w, struct wic_lot *lot)
{
	uint64_t timeout_ns = draw_timeout();
	uint32_t tag = UINT32_MAX;
	int rc;

	world_wait_begin(w->id, WORLD_QUEUE, world.queue * WIC_TREE_LINE_TAGS, 0, timeout_ns);
	rc = wic_tree_next(lot, &world.lines[world.queue], timeout_ns, 1, &tag);
	if (!rc) {
		world_got(tag);
		SCHED_CHECK((int64_t)tag > w->last_seq, "not first in first out", tag, w->last_seq);
		w->last_seq = tag;
	}
	world_wait_end(w->id, rc);
}

static void wait_word(struct waiter *w, struct wic_lot *lot)
{
	uint32_t i = (uint32_t)below(WORLD_PLAIN);
	uint64_t want = world.plain[i] + below(3), timeout_ns = draw_timeout();
	int rc;

	world_wait_begin(w->id, WORLD_WORD, WORLD_LINES * WIC_TREE_LINE_TAGS + i, want, timeout_ns);
	rc = wic_tree_wait_word(lot, &world.plain[i], want, timeout_ns, 1);
	world_wait_end(w->id, rc);
}

static uint32_t draw_tag(void)
{
	uint32_t line = 0;

	for (uint32_t i = 0; i < 4; i++) {
		line = world.host_first + (uint32_t)below(world.host_count + world.device_count);
		if (!world.end_truth[line])
			break;
	}
	return line * WIC_TREE_LINE_TAGS + (uint32_t)below(world.tags_used);
}

static void wait_tag(struct waiter *w, struct wic_lot *lot)
{
	static const uint8_t ahead[8] = { 0, 0, 1, 1, 1, 1, 2, 2 };
	uint32_t key = draw_tag();
	uint64_t want = *world_published(key) + ahead[below(8)], timeout_ns = draw_timeout();
	int rc;

	want += !want;
	want = want > WIC_EPOCH_LAST ? WIC_EPOCH_LAST : want;
	world_wait_begin(w->id, WORLD_TAG, key, want, timeout_ns);
	rc = wic_tree_wait(lot, world.lines, WORLD_LINES * WIC_TREE_LINE_TAGS, key, want,
			   timeout_ns, 1);
	world_wait_end(w->id, rc);
}

static void waiter_run(void *arg)
{
	struct waiter *w = arg;

	for (uint32_t i = 0; i < w->waits; i++) {
		struct wic_lot *lot = w->block < WORLD_BLOCKS ? &world.lot[w->block] : NULL;
		uint64_t kind = below(16);

		if (!below(64))
			lot = NULL;
		if (!(sched_random() >> 32 & round_.pause_mask))
			wic_t_nap((uint32_t)any_size(13));
		if (kind < 4 && world.queue)
			wait_next(w, lot);
		else if (kind == 4)
			wait_word(w, lot);
		else
			wait_tag(w, lot);
	}
	round_.waiters_left--;
}

/* ---- a round --------------------------------------------------------------------- */

static void draw_schedule(void)
{
	static const uint32_t gaps[] = { 0, 1, 3, 7, 31, 127 };

	sched.gap_mask = gaps[below(6)];
	sched.freeze_mask = below(2) ? 0 : (1u << (9 + below(5))) - 1;
	sched.freeze_bits = 12 + (uint32_t)below(8);
	sched.check = world_check;
}

static void draw_round(void)
{
	struct round *r = &round_;
	uint32_t total;

	memset(r, 0, sizeof(*r));
	r->shape = shapes[below(sizeof(shapes) / sizeof(shapes[0]))];
	r->alone = below(4) ? 0 : 1 + (uint32_t)below(3);
	total = r->shape.blocks * r->shape.warps + r->alone;
	r->waiters_left = total;
	r->waits = 1 + (uint32_t)any_size(12) / total;
	r->nap_bits = 8 + (uint32_t)below(6);
	r->pause_mask = (1u << below(5)) - 1;
	r->forever_mask = (1u << below(5)) - 1;
	r->timeout_bits = 8 + (uint32_t)below(13);
	r->cancel_bits = below(2) ? 0 : 12 + (uint32_t)below(8);
	for (uint32_t i = 0; i < WORLD_LINES; i++) {
		r->end_at_ns[i] = below(6) ? SCHED_NEVER : sched.now_ns + any_size(20);
		r->end_how[i] = below(2) ? WIC_TREE_CLOSED : WIC_TREE_DIED;
	}
}

static void draw_world(void)
{
	static const uint64_t epochs[] = {
		0, 0, 1, ((uint64_t)1 << 32) - 2, ((uint64_t)1 << 63) - 1, WIC_EPOCH_LAST - 30
	};
	static const uint64_t sizes[] = { 0, 0, 0, 16, 32 };
	static const uint32_t used[] = { 1, 2, 2, 4, 16 };

	world_make(1 + (uint32_t)below(2), 1 + (uint32_t)below(4), (uint32_t)below(2),
		   sizes[below(5)], epochs[below(6)]);
	world.tags_used = used[below(5)];
}

/* Each line has one publisher; the first has the user's words too. */
static void add_publishers(void)
{
	struct round *r = &round_;
	uint32_t hosts = 1 + (uint32_t)below(2);

	for (uint32_t line = world.host_first; line < world.device_first + world.device_count;
	     line++) {
		struct publisher *p =
			line < world.device_first ? &r->publisher[line % hosts] : &r->publisher[2];

		p->on_device = line >= world.device_first;
		for (uint32_t i = 0; i < world.tags_used; i++)
			p->keys[p->count++] = line * WIC_TREE_LINE_TAGS + i;
	}
	for (uint32_t i = 0; i < WORLD_PLAIN; i++)
		r->publisher[3].keys[r->publisher[3].count++] =
			WORLD_LINES * WIC_TREE_LINE_TAGS + i;
	for (uint32_t i = 0; i < HOST_FIBERS; i++)
		if (r->publisher[i].count)
			sched_add(100 + i, 0, publisher_run, &r->publisher[i]);
	if (world.queue)
		sched_add(110, 0, putter_run, NULL);
	if (r->cancel_bits)
		sched_add(111, 0, canceller_run, NULL);
}

static void add_waiters(void (*run)(void *arg))
{
	struct round *r = &round_;
	uint32_t lots = r->shape.blocks * r->shape.warps;

	for (uint32_t i = 0; i < r->shape.blocks; i++)
		wic_tree_lot_init(&world.lot[i], r->shape.warps);
	for (uint32_t i = 0; i < lots + r->alone; i++) {
		struct waiter *w = &r->waiter[i];

		w->id = i;
		w->waits = r->waits;
		w->block = i < lots ? i / r->shape.warps : WORLD_BLOCKS;
		w->last_seq = -1;
		sched_add(i < lots ? w->block : 50 + i, i < lots ? i % r->shape.warps : 0, run, w);
	}
}

/* What nobody took is still there, once. */
static void drain_queue(void)
{
	uint32_t tag;

	if (!world.queue)
		return;
	while (!wic_tree_next(NULL, &world.lines[world.queue], 0, 1, &tag))
		world_got(tag);
	SCHED_CHECK(world.delivered == world.puts, "tags are left", world.delivered, world.puts);
	SCHED_CHECK(world.drained == world.puts, "a count is wrong", world.drained, world.puts);
}

static void random_round(void)
{
	draw_round();
	draw_world();
	draw_schedule();
	add_waiters(waiter_run);
	add_publishers();
	sched_run();
	drain_queue();
}

/* ---- pages that go back ---------------------------------------------------------- */

/* A tag has two pages.  Its readers wait for each epoch, read, and release. */
static struct {
	uint32_t readers;
	uint32_t tags;
	uint64_t pages[8][2][PAYLOAD_WORDS];
	uint64_t count[8][2];
	uint64_t credit[8][2];
	uint64_t completed[8];
} credits;

static void reader_run(void *arg)
{
	struct waiter *w = arg;
	uint32_t tag = w->id % credits.tags;
	uint32_t key = world.host_first * WIC_TREE_LINE_TAGS + tag;
	struct wic_lot *lot = &world.lot[w->block];

	for (uint64_t epoch = 1; epoch <= CREDIT_EPOCHS;) {
		uint64_t *page = credits.pages[tag][epoch & 1], timeout_ns = draw_timeout();
		int rc;

		world_wait_begin(w->id, WORLD_TAG, key, epoch, timeout_ns);
		rc = wic_tree_wait(lot, world.lines, WORLD_LINES * WIC_TREE_LINE_TAGS, key, epoch,
				   timeout_ns, 1);
		world_wait_end(w->id, rc);
		if (rc)
			continue;
		for (uint32_t i = 0; i < PAYLOAD_WORDS; i++) {
			sched_step();
			SCHED_CHECK(page[i] == epoch, "a page changes while it is read", page[i],
				    epoch);
		}
		credits.completed[tag] +=
			(uint32_t)wic_tree_release(&credits.count[tag][epoch & 1], credits.readers,
						   &credits.credit[tag][epoch & 1], epoch, 1);
		world.counts.releases++;
		epoch++;
	}
	round_.waiters_left--;
}

static void stager_run(void *arg)
{
	uint32_t tag = *(const uint32_t *)arg;
	uint32_t key = world.host_first * WIC_TREE_LINE_TAGS + tag;

	for (uint64_t epoch = 1; epoch <= CREDIT_EPOCHS; epoch++) {
		uint64_t *page = credits.pages[tag][epoch & 1];

		while (epoch > 2 && credits.credit[tag][epoch & 1] < epoch - 2)
			wic_t_nap(1 + (uint32_t)any_size(10));
		SCHED_CHECK(epoch <= 2 || credits.credit[tag][epoch & 1] == epoch - 2,
			    "a credit of the future", credits.credit[tag][epoch & 1], epoch);
		for (uint32_t i = 0; i < PAYLOAD_WORDS; i++)
			store(&page[i], epoch);
		store(&world.payload[key], epoch);
		store(world_published(key), epoch);
		world_say_published(key, epoch);
	}
}

static void credit_round(void)
{
	static const uint32_t tags[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	uint32_t warps;

	draw_round();
	world_make(1, 1, 0, 0, 0);
	draw_schedule();
	memset(&credits, 0, sizeof(credits));
	round_.alone = 0;
	credits.readers = 1 + (uint32_t)below(3);
	round_.shape.warps = credits.readers * (1 + (uint32_t)below(2));
	round_.shape.blocks = 1 + (uint32_t)below(4);
	warps = round_.shape.warps * round_.shape.blocks;
	credits.tags = warps / credits.readers;
	round_.waiters_left = warps;
	add_waiters(reader_run);
	for (uint32_t i = 0; i < credits.tags; i++)
		sched_add(100 + i, 0, stager_run, (void *)(uintptr_t)&tags[i]);
	sched_run();
	for (uint32_t i = 0; i < credits.tags; i++)
		SCHED_CHECK(credits.completed[i] == CREDIT_EPOCHS, "a release too many or too few",
			    credits.completed[i], i);
}

static void one_round(void)
{
	sched_reset(world.seed * 1000003 + world.round);
	if (below(16))
		random_round();
	else
		credit_round();
	for (uint32_t i = 0; i < round_.shape.blocks; i++)
		world_check_lot(i, round_.shape.warps);
	world_check_lines();
	world.counts.rounds++;
	world.round++;
}

static void print(const char *name, uint64_t value)
{
	printf("%-12s %12llu\n", name, (unsigned long long)value);
}

int main(int argc, char **argv)
{
	const struct world_counts *c = &world.counts;

	world.seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	waits_max = argc > 2 ? strtoull(argv[2], NULL, 0) : 500000;
	world.round = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	while (c->waits < waits_max)
		one_round();
	print("seed", world.seed);
	print("rounds", c->rounds);
	print("waits", c->waits);
	print("hits", c->hits);
	print("parks", sched.counts.parks);
	print("hand-overs", sched.counts.hand_overs);
	print("role ends", sched.counts.role_ends);
	print("deadlines", c->timeouts);
	print("cancels", c->cancels);
	print("ends", c->ends);
	print("nexts", c->nexts);
	print("releases", c->releases);
	print("owned", sched.counts.takes);
	print("switches", sched.counts.switches);
	print("frozen", sched.counts.frozen);
	print("late ns", (uint64_t)c->late_ns_max);
	print("end late ns", (uint64_t)c->end_late_ns_max);
	print("simulated us", sched.counts.simulated_ns / 1000);
	return 0;
}
