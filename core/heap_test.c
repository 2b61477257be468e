/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The heap against a sorted look at an array, and its worst-case steps. */
#include "core/heap.h"

#include "tests/test.h"

#define NODES 64u
#define HEAPS 3u

void wic_assert_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: assertion: %s\n", file, line, condition);
	abort();
}

static struct wic_heap heap_make(uint32_t nodes)
{
	struct wic_heap heap = { calloc(nodes, sizeof(struct wic_heap_node)), 0 };

	TEST_TRUE(heap.nodes != NULL);
	return heap;
}

static void insert_one(void)
{
	struct wic_heap heap = heap_make(1);

	TEST_EQ(wic_heap_insert(&heap, WIC_HEAP_NONE, 0), 0);
	TEST_TRUE(wic_heap_is_consistent(&heap, 0, 0));
	TEST_EQ(wic_heap_remove(&heap, 0, 0), WIC_HEAP_NONE);
	free(heap.nodes);
}

static void insert_equal_keys_is_fifo(void)
{
	struct wic_heap heap = heap_make(NODES);
	uint32_t root = WIC_HEAP_NONE;
	uint32_t i;

	for (i = 0; i < NODES; i++) {
		heap.nodes[i].key = 7;
		heap.nodes[i].order = i;
		root = wic_heap_insert(&heap, root, i);
	}
	for (i = 0; i < NODES; i++) {
		TEST_EQ(root, i);
		root = wic_heap_remove(&heap, root, root);
	}
	TEST_EQ(root, WIC_HEAP_NONE);
	free(heap.nodes);
}

/* in[i]: the heap that node i is in, or HEAPS. */
static void heaps_compare(const struct wic_heap *heap, const uint32_t *root, const uint32_t *in)
{
	uint32_t h;
	uint32_t i;

	for (h = 0; h < HEAPS; h++) {
		uint32_t first = WIC_HEAP_NONE;

		for (i = 0; i < NODES; i++) {
			if (in[i] != h)
				continue;
			TEST_TRUE(wic_heap_is_consistent(heap, root[h], i));
			if (first == WIC_HEAP_NONE || wic_heap_is_before(heap, i, first))
				first = i;
		}
		TEST_EQ(root[h], first);
	}
}

/* Several heaps in one array, any node removed at any time. */
static void random_three_heaps(void)
{
	uint64_t seed;

	for (seed = 1; seed <= 300; seed++) {
		struct wic_heap heap = heap_make(NODES);
		uint32_t root[HEAPS] = { WIC_HEAP_NONE, WIC_HEAP_NONE, WIC_HEAP_NONE };
		uint32_t in[NODES];
		uint64_t rng = seed;
		uint32_t step;

		for (step = 0; step < NODES; step++)
			in[step] = HEAPS;
		for (step = 0; step < 300; step++) {
			uint32_t i = (uint32_t)(test_random(&rng) >> 33) % NODES;
			uint32_t h = (uint32_t)(test_random(&rng) >> 33) % HEAPS;

			if (in[i] == HEAPS) {
				heap.nodes[i].key = test_random(&rng) >> (seed % 2 ? 61 : 0);
				heap.nodes[i].order = step;
				root[h] = wic_heap_insert(&heap, root[h], i);
				in[i] = h;
			} else {
				root[in[i]] = wic_heap_remove(&heap, root[in[i]], i);
				in[i] = HEAPS;
			}
			heaps_compare(&heap, root, in);
		}
		free(heap.nodes);
	}
}

enum key_order { KEYS_UP, KEYS_DOWN, KEYS_RANDOM, KEYS_ZIGZAG };

static uint64_t key_of(enum key_order order, uint32_t i, uint64_t *rng)
{
	switch (order) {
	case KEYS_UP:
		return i;
	case KEYS_DOWN:
		return UINT32_MAX - i;
	case KEYS_RANDOM:
		return test_random(rng);
	case KEYS_ZIGZAG:
		break;
	}
	return i % 2 ? i : UINT32_MAX - i;
}

/* Worst single insert or remove (of the root or of any) among @n nodes. */
static uint64_t worst_steps(uint32_t n, enum key_order order)
{
	struct wic_heap heap = heap_make(n);
	uint32_t root = WIC_HEAP_NONE;
	uint64_t rng = 5;
	uint64_t worst = 0;
	uint64_t before;
	uint32_t i;

	for (i = 0; i < n; i++) {
		before = heap.steps;
		heap.nodes[i].key = key_of(order, i, &rng);
		heap.nodes[i].order = i;
		root = wic_heap_insert(&heap, root, i);
		worst = heap.steps - before > worst ? heap.steps - before : worst;
	}
	for (i = 0; i < n / 2; i++) { /* the even ones by name, the others from the top */
		before = heap.steps;
		root = wic_heap_remove(&heap, root, 2 * i);
		worst = heap.steps - before > worst ? heap.steps - before : worst;
	}
	while (root != WIC_HEAP_NONE) {
		before = heap.steps;
		root = wic_heap_remove(&heap, root, root);
		worst = heap.steps - before > worst ? heap.steps - before : worst;
	}
	free(heap.nodes);
	return worst;
}

static void steps_are_logarithmic(void)
{
	enum key_order order;
	uint32_t log2_n;

	for (order = KEYS_UP; order <= KEYS_ZIGZAG; order++)
		for (log2_n = 1; log2_n <= 16; log2_n++)
			TEST_TRUE(worst_steps(1u << log2_n, order) <= 5 * (log2_n + 1));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(insert_one),
		TEST(insert_equal_keys_is_fifo),
		TEST(random_three_heaps),
		TEST(steps_are_logarithmic),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
