/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The recorder's ring, directed and against a naive model. */
#include <stdbool.h>

#include "lib/record.h"
#include "tests/test.h"
#include "tests/unit/wrap.h"

static void put(struct wic_ring *ring, uint64_t time_ns, uint32_t tag)
{
	wic_ring_put(ring, &(struct wic_event){ .time_ns = time_ns, .tag = tag });
}

static void create_limits(void)
{
	struct wic_ring *ring;

	TEST_TRUE(!wic_ring_create(0));
	TEST_TRUE(!wic_ring_create((1u << 31) + 1));
	wrap_fail_next(1);
	TEST_TRUE(!wic_ring_create(16));
	ring = wic_ring_create(1);
	TEST_TRUE(ring);
	wic_ring_destroy(ring);
	wic_ring_destroy(NULL);
}

static void off_is_nothing(void)
{
	struct wic_ring *none = NULL;
	struct wic_event event;

	put(NULL, 1, 1);
	TEST_EQ(wic_ring_lost(NULL), 0);
	TEST_EQ(wic_ring_total(NULL), 0);
	TEST_EQ(wic_ring_drain(&none, 1, &event, 1), 0);
	TEST_EQ(wic_ring_drain(NULL, 0, NULL, 0), 0);
}

static void overwrites_the_oldest(void)
{
	struct wic_ring *ring = wic_ring_create(3); /* becomes 4 */
	struct wic_event events[8];

	TEST_TRUE(ring);
	for (uint32_t i = 0; i < 6; i++)
		put(ring, i, i);
	TEST_EQ(wic_ring_lost(ring), 2);
	TEST_EQ(wic_ring_drain(&ring, 1, events, 8), 4);
	for (uint32_t i = 0; i < 4; i++)
		TEST_EQ(events[i].tag, i + 2);
	TEST_EQ(wic_ring_drain(&ring, 1, events, 8), 0);
	TEST_EQ(wic_ring_lost(ring), 2);
	TEST_EQ(wic_ring_total(ring), 6);
	wic_ring_destroy(ring);
}

static void drain_merges_and_drops_the_oldest(void)
{
	struct wic_ring *rings[3] = { wic_ring_create(8), NULL, wic_ring_create(8) };
	struct wic_event events[8];

	TEST_TRUE(rings[0] && rings[2]);
	put(rings[0], 10, 0);
	put(rings[2], 5, 1);
	put(rings[2], 10, 2);
	put(rings[0], 20, 3);
	TEST_EQ(wic_ring_drain(rings, 3, events, 8), 4);
	TEST_EQ(events[0].tag, 1);
	TEST_EQ(events[1].tag, 0);
	TEST_EQ(events[2].tag, 2);
	TEST_EQ(events[3].tag, 3);
	for (uint32_t i = 0; i < 4; i++)
		put(rings[i % 2 * 2], i, i);
	TEST_EQ(wic_ring_drain(rings, 3, events, 1), 1);
	TEST_EQ(events[0].tag, 3);
	TEST_EQ(wic_ring_lost(rings[0]) + wic_ring_lost(rings[2]), 3);
	TEST_EQ(wic_ring_drain(rings, 3, events, 8), 0);
	wic_ring_destroy(rings[0]);
	wic_ring_destroy(rings[2]);
}

/* The naive model: all events ever put, the last @capacity of each ring count. */
#define MODEL_MAX 256

struct model {
	uint32_t capacity;
	uint32_t count;
	struct wic_event events[MODEL_MAX];
};

static void model_put(struct model *m, const struct wic_event *event)
{
	if (m->count == m->capacity) {
		memmove(m->events, m->events + 1, (m->count - 1) * sizeof(m->events[0]));
		m->count--;
	}
	m->events[m->count++] = *event;
}

/* Take the oldest over @count models, the first of equals; false: all are empty. */
static bool model_take(struct model *m, uint32_t count, struct wic_event *event_out)
{
	struct model *best = NULL;

	for (uint32_t i = 0; i < count; i++)
		if (m[i].count && (!best || m[i].events[0].time_ns < best->events[0].time_ns))
			best = &m[i];
	if (!best)
		return false;
	*event_out = best->events[0];
	best->count--;
	memmove(best->events, best->events + 1, best->count * sizeof(best->events[0]));
	return true;
}

#define RINGS 3

static void round_against_model(uint64_t *seed, struct wic_ring **rings, struct model *m)
{
	struct wic_event events[RINGS * 16], event;
	uint64_t time_ns = 0;
	size_t max = test_random(seed) % (RINGS * 16 + 1), total = 0, count;

	for (uint64_t puts = test_random(seed) % 120; puts; puts--) {
		uint32_t i = (uint32_t)(test_random(seed) % RINGS);

		time_ns += test_random(seed) % 3;
		event = (struct wic_event){ .time_ns = time_ns, .tag = (uint32_t)puts };
		wic_ring_put(rings[i], &event);
		model_put(&m[i], &event);
	}
	for (uint32_t i = 0; i < RINGS; i++)
		total += m[i].count;
	count = wic_ring_drain(rings, RINGS, events, max);
	TEST_EQ(count, total < max ? total : max);
	for (; total > count; total--)
		TEST_TRUE(model_take(m, RINGS, &event));
	for (size_t i = 0; i < count; i++) {
		TEST_TRUE(model_take(m, RINGS, &event));
		TEST_EQ(memcmp(&event, &events[i], sizeof(event)), 0);
	}
	TEST_TRUE(!model_take(m, RINGS, &event));
}

static void random_against_model(void)
{
	static const uint32_t capacities[RINGS] = { 1, 4, 16 };
	struct wic_ring *rings[RINGS];
	static struct model m[RINGS];
	uint64_t seed = 42;

	for (uint32_t i = 0; i < RINGS; i++) {
		rings[i] = wic_ring_create(capacities[i]);
		TEST_TRUE(rings[i]);
		m[i].capacity = capacities[i];
	}
	for (int i = 0; i < 3000; i++)
		round_against_model(&seed, rings, m);
	for (uint32_t i = 0; i < RINGS; i++)
		wic_ring_destroy(rings[i]);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(create_limits),         TEST(off_is_nothing),
		TEST(overwrites_the_oldest), TEST(drain_merges_and_drops_the_oldest),
		TEST(random_against_model),  { 0 },
	};

	return test_main(argc, argv, tests);
}
