/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/record.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MAX (1u << 31)

/*
 * Positions run freely and are masked on use.  @tail moves only in a drain, while
 * the writer stands still; starting and ending a kernel orders the two.
 */
struct wic_ring {
	uint64_t head; /* next to write; the writer's, relaxed: read by anyone at any time */
	uint64_t tail; /* oldest not drained, or overwritten since */
	uint64_t mask;
	uint64_t lost; /* relaxed: read by anyone at any time */
	struct wic_event events[];
};

static uint64_t capacity_of(const struct wic_ring *ring)
{
	return ring->mask + 1;
}

struct wic_ring *wic_ring_create(uint32_t capacity)
{
	struct wic_ring *ring;
	uint64_t slots = 1;
	size_t bytes;

	if (!capacity || capacity > CAPACITY_MAX)
		return NULL;
	while (slots < capacity)
		slots *= 2;
	bytes = sizeof(*ring) + slots * sizeof(ring->events[0]);
	ring = malloc(bytes);
	if (!ring)
		return NULL;
	/* Touched now, so that recording takes no page faults in the kernel it measures. */
	memset(ring, 0, bytes);
	ring->mask = slots - 1;
	return ring;
}

void wic_ring_destroy(struct wic_ring *ring)
{
	free(ring);
}

void wic_ring_put(struct wic_ring *ring, const struct wic_event *event)
{
	if (!ring)
		return;
	if (ring->head - ring->tail >= capacity_of(ring))
		__atomic_store_n(&ring->lost, ring->lost + 1, __ATOMIC_RELAXED);
	ring->events[ring->head & ring->mask] = *event;
	__atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELAXED);
}

uint64_t wic_ring_total(const struct wic_ring *ring)
{
	return ring ? __atomic_load_n(&ring->head, __ATOMIC_RELAXED) : 0;
}

uint64_t wic_ring_lost(const struct wic_ring *ring)
{
	return ring ? __atomic_load_n(&ring->lost, __ATOMIC_RELAXED) : 0;
}

/* Step over what was overwritten; what is left to read. */
static uint64_t settle(struct wic_ring *ring)
{
	if (ring->head - ring->tail > capacity_of(ring))
		ring->tail = ring->head - capacity_of(ring);
	return ring->head - ring->tail;
}

/* The ring with the oldest event, the first of several; NULL: all are empty. */
static struct wic_ring *oldest(struct wic_ring *const *rings, uint32_t count)
{
	struct wic_ring *best = NULL;
	uint64_t best_ns = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t ns;

		if (!rings[i] || rings[i]->tail == rings[i]->head)
			continue;
		ns = rings[i]->events[rings[i]->tail & rings[i]->mask].time_ns;
		if (!best || ns < best_ns) {
			best = rings[i];
			best_ns = ns;
		}
	}
	return best;
}

size_t wic_ring_drain(struct wic_ring *const *rings, uint32_t count, struct wic_event *events_out,
		      size_t max)
{
	struct wic_ring *ring;
	uint64_t total = 0;
	size_t written = 0;

	for (uint32_t i = 0; i < count; i++)
		total += rings[i] ? settle(rings[i]) : 0;
	while ((ring = oldest(rings, count))) {
		if (total > max) {
			__atomic_store_n(&ring->lost, ring->lost + 1, __ATOMIC_RELAXED);
			total--;
		} else {
			events_out[written++] = ring->events[ring->tail & ring->mask];
		}
		ring->tail++;
	}
	return written;
}
