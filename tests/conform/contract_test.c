// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Points of the contract that no other program of the suite is about: see COVERAGE.md.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "tests/conform/conform.h"

#define BYTES 64

/* --- 1: publish and wait in any order ---------------------------------------- */

#define RACES (UNDER_TSAN ? 600u : 3000u)

struct race_args {
	struct wic_handle signals, data;
	uint32_t waits; /* says which epoch it is about to wait for */
	uint32_t wrong;
	int rc;
};

static void race_kernel(const void *arg)
{
	struct race_args *a = (struct race_args *)(uintptr_t)arg;

	int rc = 0;

	for (uint64_t e = 1; e <= RACES && !rc; e++) {
		void *data;

		__atomic_store_n(&a->waits, (uint32_t)e, __ATOMIC_RELEASE);
		if (e % 2) {
			rc = wic_wait(&a->signals, NULL, 0, e, TIMEOUT);
			continue;
		}
		rc = wic_request(&a->data, NULL, 0, e, TIMEOUT, &data);
		if (rc)
			break;
		a->wrong += *(uint64_t *)data != word_of(0, e, 0);
		rc = wic_release(&a->data, 0, e);
	}
	__atomic_store_n(&a->rc, rc, __ATOMIC_RELAXED);
}

/* From well before the wait to well after the park, in steps of some ns. */
static void publish_at_any_moment_of_a_wait(void)
{
	struct wic *w = open_one_sm(0, 0);
	struct wic_channel *signals = channel(w, 1, 0, 1), *data = channel(w, 1, BYTES, 1);
	struct race_args a = { .signals = wic_channel_handle(signals),
			       .data = wic_channel_handle(data) };
	uint64_t seed = 11;

	launch(w, race_kernel, &a, 1, 32);
	for (uint64_t e = 1; e <= RACES; e++) {
		uint64_t until;

		/* Odd ones may come before their wait has begun. */
		while (load(&a.waits) + e % 2 < e) {
			TEST_EQ(__atomic_load_n(&a.rc, __ATOMIC_RELAXED), 0);
			sched_yield();
		}
		until = now_ns() + test_random(&seed) % 20000;
		while (now_ns() < until)
			;
		if (e % 2)
			TEST_EQ(wic_publish(signals, 0, e), 0);
		else
			stage_and_publish(data, 0, e, BYTES);
	}
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.wrong, 0);
	close_quietly(w);
}

/* --- 2: no wait returns before its publish ------------------------------------ */

struct early_args {
	struct wic_handle h;
	uint32_t published; /* set before the publish */
	uint32_t early, done;
	int rc[5];
};

static int wait_in_some_form(struct early_args *a, uint32_t form)
{
	struct wic_ref refs[2] = { { .tag = 2 * form, .epoch = 2 },
				   { .tag = 2 * form + 1, .epoch = 2 } };
	uint32_t tag;
	void *data;

	switch (form) {
	case 0:
		return wic_wait(&a->h, NULL, 1, 2, TIMEOUT);
	case 1:
		return wic_request(&a->h, NULL, 3, 2, TIMEOUT, &data);
	case 2:
		return wic_wait_all(&a->h, NULL, refs, 2, TIMEOUT);
	case 3:
		return wic_request_all(&a->h, NULL, refs, 2, TIMEOUT);
	}
	return wic_next(&a->h, NULL, 8, 2, 2, TIMEOUT, &tag, &data);
}

/* Warp w waits in form w; of its two tags the first is published, or at an epoch before. */
static void early_kernel(const void *arg)
{
	struct early_args *a = (struct early_args *)(uintptr_t)arg;
	uint32_t form = wic_warp_id();

	a->rc[form] = wait_in_some_form(a, form);
	if (!load(&a->published))
		wic_atomic_add_u32(&a->early, 1);
	wic_atomic_add_u32(&a->done, 1);
}

static void no_wait_returns_before_its_publish(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 10, BYTES, 1);
	struct early_args a = { .h = wic_channel_handle(ch) };

	/* Everything short of what they wait for. */
	for (uint32_t tag = 0; tag < 8; tag += 2)
		stage_and_publish(ch, tag, 2, BYTES);
	stage_and_publish(ch, 8, 1, BYTES);
	launch(w, early_kernel, &a, 1, 5 * 32);
	sleep_ms(100);
	TEST_EQ(load(&a.done), 0);
	__atomic_store_n(&a.published, 1, __ATOMIC_RELEASE);
	for (uint32_t tag = 1; tag < 10; tag += 2)
		stage_and_publish(ch, tag, 2, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	for (int form = 0; form < 5; form++)
		TEST_EQ(a.rc[form], 0);
	TEST_EQ(a.early, 0);
	close_quietly(w);
}

/* --- 4: epochs ---------------------------------------------------------------- */

#define AT_2_32 ((1ull << 32) - 2)
#define EPOCHS 4

struct wrap_args {
	struct wic_handle h;
	uint64_t first;
	uint32_t done[3]; /* rounds of each form */
	int rc;
};

static int wrap_wait(struct wrap_args *a, uint32_t form, uint64_t epoch)
{
	struct wic_ref refs[3] = { { .tag = 1, .epoch = epoch },
				   { .tag = 2, .epoch = epoch },
				   { .tag = 0, .epoch = epoch } };
	uint32_t tag;
	void *data;

	if (form == 0)
		return wic_wait(&a->h, NULL, 0, epoch, TIMEOUT);
	if (form == 1)
		return wic_wait_all(&a->h, NULL, refs, 3, TIMEOUT);
	return wic_next(&a->h, NULL, 0, 1, epoch, TIMEOUT, &tag, &data);
}

static void wrap_kernel(const void *arg)
{
	struct wrap_args *a = (struct wrap_args *)(uintptr_t)arg;
	uint32_t form = wic_warp_id();

	for (uint64_t e = a->first; e < a->first + EPOCHS; e++) {
		int rc = wrap_wait(a, form, e);

		if (rc)
			a->rc = rc;
		__atomic_fetch_add(&a->done[form], 1, __ATOMIC_RELEASE);
	}
}

static void signals_across(uint64_t first)
{
	struct wic *w = open_one_sm(0, 0);
	struct wic_channel *ch = channel(w, 3, 0, 1);
	struct wrap_args a = { .h = wic_channel_handle(ch), .first = first };

	TEST_EQ(wic_publish_range(ch, 0, 3, first - 1), 0);
	launch(w, wrap_kernel, &a, 1, 3 * 32);
	for (uint32_t i = 0; i < EPOCHS; i++) {
		sleep_ms(5);
		for (int form = 0; form < 3; form++)
			TEST_EQ(load(&a.done[form]), i);
		TEST_EQ(wic_publish_range(ch, 0, 3, first + i), 0);
		for (int form = 0; form < 3; form++)
			wait_until(&a.done[form], i + 1);
	}
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	close_quietly(w);
}

static void epochs_of_signals_at_wraps(void)
{
	signals_across(AT_2_32);
	signals_across(WIC_EPOCH_LAST - EPOCHS + 1);
}

struct next_args {
	struct wic_handle h;
	uint64_t first;
	uint64_t count;
	uint32_t wrong;
	int rc;
};

/* One by its number, then only "the next". */
static void next_kernel(const void *arg)
{
	struct next_args *a = (struct next_args *)(uintptr_t)arg;

	for (uint64_t i = 0; i < a->count && !a->rc; i++) {
		uint64_t epoch = i ? WIC_EPOCH_NEXT : a->first;
		void *data;

		a->rc = wic_request(&a->h, NULL, 0, epoch, TIMEOUT, &data);
		if (a->rc)
			return;
		a->wrong += *(uint64_t *)data != word_of(0, a->first + i, 0);
		a->rc = wic_release(&a->h, 0, epoch);
	}
}

static void next_epoch_across(uint64_t first)
{
	struct wic *w = open_one_sm(0, 0);
	struct wic_channel *ch = channel(w, 1, BYTES, 1);
	struct next_args a = { .h = wic_channel_handle(ch), .first = first, .count = EPOCHS };

	launch(w, next_kernel, &a, 1, 32);
	for (uint64_t e = first; e < first + EPOCHS; e++)
		stage_and_publish(ch, 0, e, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.wrong, 0);
	close_quietly(w);
}

static void next_epoch_at_wraps(void)
{
	next_epoch_across(AT_2_32);
	next_epoch_across(WIC_EPOCH_LAST - EPOCHS + 1);
}

struct make_args {
	struct wic_handle h;
	uint64_t first;
	int rc;
};

static void make_kernel(const void *arg)
{
	struct make_args *a = (struct make_args *)(uintptr_t)arg;

	for (uint64_t e = a->first; e < a->first + EPOCHS && !a->rc; e++) {
		void *buffer;

		a->rc = wic_warp_stage(&a->h, NULL, 0, e, TIMEOUT, &buffer);
		if (a->rc)
			return;
		*(uint64_t *)buffer = word_of(0, e, 0);
		a->rc = wic_warp_publish(&a->h, 0, e);
	}
}

static void to_host_across(uint64_t first)
{
	struct wic_channel_desc d = channel_desc();
	struct wic *w = open_one_sm(0, 0);
	struct make_args a = { .first = first };
	struct wic_channel *ch;
	const void *data;

	d.producer = WIC_GPU(0);
	d.consumer = WIC_HOST;
	d.tags = 1;
	d.bytes_per_tag = BYTES;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	a.h = wic_channel_handle(ch);
	launch(w, make_kernel, &a, 1, 32);
	for (uint64_t e = first; e < first + EPOCHS; e++) {
		TEST_EQ(wic_host_wait(ch, 0, e, TIMEOUT), 0);
		TEST_EQ(wic_host_request(ch, 0, e, TIMEOUT, &data), 0);
		TEST_EQ(*(const uint64_t *)data == word_of(0, e, 0), 1);
		TEST_EQ(wic_host_release(ch, 0, e), 0);
	}
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	close_quietly(w);
}

static void epochs_to_host_at_wraps(void)
{
	to_host_across(AT_2_32);
	to_host_across(WIC_EPOCH_LAST - EPOCHS + 1);
}

struct stale_args {
	struct wic_handle h, signals;
	int rc[6];
};

/* Published is 5; these differ from 5 in their upper halves only, or are later. */
static void stale_kernel(const void *arg)
{
	struct stale_args *a = (struct stale_args *)(uintptr_t)arg;
	static const uint64_t wanted[3] = { (1ull << 32) + 5, (1ull << 63) + 5, 6 };
	void *data;

	for (int i = 0; i < 3; i++) {
		a->rc[i] = wic_wait(&a->signals, NULL, 0, wanted[i], WIC_MS(10));
		a->rc[3 + i] = wic_request(&a->h, NULL, 0, wanted[i], WIC_MS(10), &data);
	}
}

static void stale_epoch_satisfies_nothing(void)
{
	struct wic *w = open_one_sm(0, 0);
	struct wic_channel *ch = channel(w, 1, BYTES, 1), *signals = channel(w, 1, 0, 1);
	struct stale_args a = { .h = wic_channel_handle(ch),
				.signals = wic_channel_handle(signals) };
	void *buffer;

	stage_and_publish(ch, 0, 5, BYTES);
	TEST_EQ(wic_publish(signals, 0, 5), 0);
	launch(w, stale_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	for (int i = 0; i < 6; i++)
		TEST_EQ(a.rc[i], -ETIMEDOUT);
	/* It only grows, and has an end. */
	TEST_EQ(wic_publish(signals, 0, 5), -EINVAL);
	TEST_EQ(wic_publish(signals, 0, 4), -EINVAL);
	TEST_EQ(wic_publish(signals, 0, WIC_EPOCH_LAST), 0);
	TEST_EQ(wic_publish(signals, 0, WIC_EPOCH_LAST + 1), -EINVAL);
	TEST_EQ(wic_stage(ch, 0, WIC_EPOCH_LAST + 1, 0, &buffer), -EINVAL);
	close_quietly(w);
}

/* --- 4: rings ------------------------------------------------------------------ */

#define MANY 5000 /* more than the 4,096 releases that an SM's ring holds */

struct many_args {
	struct wic_handle h;
	uint32_t wrong, taken;
	int rc;
};

/* Takes all before it gives the first back, and gives them back without a turn. */
static void many_kernel(const void *arg)
{
	struct many_args *a = (struct many_args *)(uintptr_t)arg;
	void *data;

	for (uint64_t e = 1; e <= 3 && !a->rc; e++) {
		for (uint32_t t = 0; t < MANY && !a->rc; t++) {
			a->rc = wic_request(&a->h, NULL, t, e, TIMEOUT, &data);
			a->wrong += a->rc || *(uint64_t *)data != word_of(t, e, 0);
		}
		for (uint32_t t = 0; t < MANY && !a->rc; t++, a->taken++)
			a->rc = wic_release(&a->h, t, e);
	}
}

static void releases_lap_the_ring(void)
{
	struct wic *w = open_one_sm(0, 0);
	struct wic_channel *ch = channel(w, MANY, BYTES, 1);
	struct many_args a = { .h = wic_channel_handle(ch) };

	launch(w, many_kernel, &a, 1, 32);
	for (uint64_t e = 1; e <= 3; e++)
		for (uint32_t t = 0; t < MANY; t++)
			stage_and_publish(ch, t, e, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.wrong, 0);
	TEST_EQ(a.taken, 3 * MANY);
	close_quietly(w);
}

/* --- 5: grids larger than what is resident, lanes that left -------------------- */

static void more_blocks_than_resident(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel *ch;
	struct take_args a;
	struct wic *w;

	cfg.sms = 1;
	cfg.sm_blocks = 2;
	w = open_with(cfg);
	for (int backwards = 0; backwards < 2; backwards++) {
		ch = channel(w, 400, BYTES, 1);
		a = take_args(ch, 400, 1);
		launch(w, take_kernel, &a, 100, 4 * 32);
		for (uint32_t t = 0; t < 400; t++)
			stage_and_publish(ch, backwards ? 399 - t : t, 1, BYTES);
		TEST_EQ(wic_sync(w, TIMEOUT), 0);
		TEST_EQ(a.rc, 0);
		TEST_EQ(a.taken, 400);
		TEST_EQ(a.wrong, 0);
		wic_channel_destroy(ch);
	}
	close_quietly(w);
}

struct left_args {
	struct wic_handle h;
	uint32_t at_barrier, after, wrong;
	int rc, timed_out;
};

/*
 * Warps 0 and 1 leave while the others stand at the barrier: one when its data has come, one
 * when it has given up.  The last warp has one lane.
 */
static void left_kernel(const void *arg)
{
	struct left_args *a = (struct left_args *)(uintptr_t)arg;
	uint32_t me = wic_warp_id(), tag = wic_block_id();
	WIC_LANE_VAR(uint32_t, one);
	void *data;
	int rc;

	if (me == 1) {
		rc = wic_wait(&a->h, NULL, 3, 1, WIC_MS(20));
		wic_atomic_add_u32((uint32_t *)&a->timed_out, rc == -ETIMEDOUT);
		return;
	}
	if (me == 0) {
		rc = wic_request(&a->h, NULL, tag, 1, TIMEOUT, &data);
		if (!rc)
			rc = wic_release(&a->h, tag, 1);
		if (rc)
			__atomic_store_n(&a->rc, rc, __ATOMIC_RELAXED);
		return;
	}
	WIC_LANES(l)
		WIC_AT(one, l) = 1;
	if (wic_reduce_add_u32(one) != (me == wic_block_warps() - 1 ? 1 : 32))
		wic_atomic_add_u32(&a->wrong, 1);
	__atomic_fetch_add(&a->at_barrier, 1, __ATOMIC_RELEASE);
	wic_bar();
	wic_atomic_add_u32(&a->after, 1);
	wic_bar();
}

static void lanes_that_left_early(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 4, BYTES, 1);
	struct left_args a = { .h = wic_channel_handle(ch) };
	struct take_args one;

	launch(w, left_kernel, &a, 3, 4 * 32 + 1);
	wait_until(&a.at_barrier, 9);
	sleep_ms(30);
	TEST_EQ(load(&a.after), 0);
	for (uint32_t t = 0; t < 3; t++)
		stage_and_publish(ch, t, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.timed_out, 3);
	TEST_EQ(a.after, 9);
	TEST_EQ(a.wrong, 0);
	/* 33 threads: the warp of one lane waits as any other. */
	ch = channel(w, 2, BYTES, 1);
	one = take_args(ch, 2, 1);
	launch(w, take_kernel, &one, 1, 33);
	TEST_EQ(wic_sync(w, WIC_MS(5)), -ETIMEDOUT);
	stage_and_publish(ch, 0, 1, BYTES);
	TEST_EQ(wic_sync(w, WIC_MS(5)), -ETIMEDOUT);
	stage_and_publish(ch, 1, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(one.rc, 0);
	TEST_EQ(one.taken, 2);
	close_quietly(w);
}

/* --- 8: what is there already ------------------------------------------------------ */

struct there_args {
	struct wic_handle h, signals;
	uint32_t reader;
	int rc;
};

static void there_kernel(const void *arg)
{
	struct there_args *a = (struct there_args *)(uintptr_t)arg;
	struct wic_ref refs[2] = { { .tag = 0, .epoch = 1 }, { .tag = 1, .epoch = 1 } };
	void *data;

	a->rc = wic_wait(&a->signals, NULL, 0, 1, TIMEOUT);
	if (!a->rc)
		a->rc = wic_wait_all(&a->signals, NULL, refs, 2, TIMEOUT);
	if (!a->rc)
		a->rc = wic_request(&a->h, NULL, 0, 1, TIMEOUT, &data);
	/* The first keeps it for the second to find. */
	if (!a->rc && a->reader)
		a->rc = wic_release(&a->h, 0, 1);
}

static void published_before_parks_nobody(void)
{
	struct wic *w = open_one_sm(0, 0);
	struct wic_channel *ch = channel(w, 1, BYTES, 2), *signals = channel(w, 2, 0, 1);
	struct there_args a = { .h = wic_channel_handle(ch),
				.signals = wic_channel_handle(signals) };
	struct wic_stats before, first, second;

	stage_and_publish(ch, 0, 1, BYTES);
	TEST_EQ(wic_publish_range(signals, 0, 2, 1), 0);
	before = stats_of(w);
	launch(w, there_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	first = stats_of(w);
	/*
	 * Not on a page here: one round trip (which a look may see the end of).  Signals, and push
	 * mode: none.
	 */
	TEST_EQ(first.batches - before.batches, if_pull(1));
	TEST_TRUE(first.parks - before.parks <= if_pull(1));
	TEST_EQ(first.fills - before.fills, if_pull(1));
	a.reader = 1;
	launch(w, there_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	second = stats_of(w);
	/* On a page here: none at all. */
	TEST_EQ(second.parks - first.parks, 0);
	TEST_EQ(second.fills - first.fills, 0);
	TEST_EQ(second.faults - first.faults, 0);
	TEST_EQ(second.batches - first.batches, 0);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(publish_at_any_moment_of_a_wait),
		TEST(no_wait_returns_before_its_publish),
		TEST(epochs_of_signals_at_wraps),
		TEST(next_epoch_at_wraps),
		TEST(epochs_to_host_at_wraps),
		TEST(stale_epoch_satisfies_nothing),
		TEST(releases_lap_the_ring),
		TEST(more_blocks_than_resident),
		TEST(lanes_that_left_early),
		TEST(published_before_parks_nobody),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
