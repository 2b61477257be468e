/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The recorder's ring: fixed 32-byte events, one ring a worker thread, written
 * without locks by that thread alone, oldest overwritten.  Off: ring NULL, one
 * predictable branch.  Read only while the writers stand still (no kernel runs).
 */
#ifndef WIC_LIB_RECORD_H
#define WIC_LIB_RECORD_H

#include <wic/stats.h>

struct wic_ring;

/* @capacity is rounded up to a power of two.  NULL: no memory, 0, or over 2^31. */
struct wic_ring *wic_ring_create(uint32_t capacity);
void wic_ring_destroy(struct wic_ring *ring);
/* @ring NULL: does nothing. */
void wic_ring_put(struct wic_ring *ring, const struct wic_event *event);
/* Events ever put, those lost later among them.  Any thread. */
uint64_t wic_ring_total(const struct wic_ring *ring);
/* Events that no drain handed out: overwritten, or without room there.  Any thread. */
uint64_t wic_ring_lost(const struct wic_ring *ring);
/*
 * Merge and empty @count rings (NULL ones are skipped) in order of time.  The
 * newest @max events are written, those before them are dropped and count as lost.
 */
size_t wic_ring_drain(struct wic_ring *const *rings, uint32_t count, struct wic_event *events_out,
		      size_t max);

#endif /* WIC_LIB_RECORD_H */
