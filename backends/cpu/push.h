/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Push mode: the producer fills the consumer's pages and publishes; warps wait by the tree of
 * wic/tree.h, without Monitor or engine.
 *
 * A tag has two pages (runs of them), P and P', used in turn.  stage() hands out the one that is
 * not the last published, once all readers of the epoch on it have released: its credit.  A request
 * looks which page has its epoch.
 *
 *	host -> device		truth in host memory; the watchers raise the device's words
 *	device -> device	the publishing warp raises the consumer's words itself
 *	device -> host		truth; threads wait by the engine, which sleeps, as in pull mode
 *
 * The truth of struct cpu_tag is stored too, before that of the tree: what checks publishes, and
 * what looks without waiting, is the same in both modes.  (The device's word may be behind it by a
 * nap of the line's owner.)
 */
#ifndef WIC_BACKENDS_CPU_PUSH_H
#define WIC_BACKENDS_CPU_PUSH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/backend.h"

/* Ends of tags, the values of wic/tree.h. */
enum cpu_push_end { CPU_PUSH_CLOSED = 1, CPU_PUSH_DIED = 2 };

struct cpu_device;
struct cpu_request;
struct cpu_sm;
struct cpu_warp;
struct wic_be_channel;
struct wic_lot;
struct wic_tree_line;

/* One of the two pages of a tag. */
struct cpu_push_page {
	uint64_t epoch;    /* published on it; atomic, written before the truth */
	uint64_t releases; /* as wic_tree_release() counts */
};

struct cpu_push {
	uint64_t *truth;              /* owned; tags, and how many publishes there were */
	uint64_t *ends;               /* owned; a word a line */
	struct wic_tree_line *lines;  /* owned; the consumer's words */
	struct wic_tree_line *credit; /* owned; the producer's: credit of (tag, page) */
	uint64_t *credit_ends;        /* owned; a word a line of credits */
	struct cpu_push_page *pages;  /* owned; two a tag */
};

/* Of the context: cancel and ends of tags, and each device's copies of them. */
struct cpu_push_control {
	uint64_t *truth;             /* owned; a line of host memory */
	struct wic_tree_line *lines; /* owned; one a device, the host's last */
};

int wic_cpu_push_control_create(struct cpu_push_control *c, uint32_t devices);
void wic_cpu_push_control_destroy(struct cpu_push_control *c);
/* The context is dead: whatever waits in the tree ends, now and for good. */
void wic_cpu_push_end_all(struct cpu_push_control *c);

/* Lots for an SM's warps; NULL: no memory.  Freed by free(). */
struct wic_lot *wic_cpu_push_lots_create(uint32_t warps);
/* Index of the warp whose barrier it is. */
uint32_t wic_cpu_push_warp_at(const struct cpu_sm *sm, const uint64_t *barrier);

int wic_cpu_push_create(struct wic_be_channel *ch);
void wic_cpu_push_destroy(struct wic_be_channel *ch);
/* The tags' waits end. */
void wic_cpu_push_end(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
		      enum cpu_push_end end);

/* Publishing side; the tag is entered. */
bool wic_cpu_push_buffer_is_free(const struct wic_be_channel *ch, uint32_t tag);
void *wic_cpu_push_buffer(const struct wic_be_channel *ch, uint32_t tag);
/* What that page waits for, and the epoch up to which all are released. */
uint64_t wic_cpu_push_unreleased(const struct wic_be_channel *ch, uint32_t tag);
uint64_t wic_cpu_push_all_released(const struct wic_be_channel *ch, uint32_t tag);
void wic_cpu_push_publish(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch);
/* Publishes of the channel so far. */
uint64_t wic_cpu_push_count(const struct wic_be_channel *ch);
/* Those who wait for any tag look again. */
void wic_cpu_push_look_again(struct wic_be_channel *ch);

/*
 * Consuming side.  The data of a published epoch that not all readers have released; or NULL, and
 * gone where it was published.
 */
void *wic_cpu_push_find(const struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			bool *is_gone_out);
/* 0, or -EINVAL: it is not held. */
int wic_cpu_push_release(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch);
/* The latest epoch that is released, WIC_EPOCH_NONE: none. */
uint64_t wic_cpu_push_released(const struct wic_be_channel *ch, uint32_t tag);
/* Another warp has arrived at its barrier. */
void wic_cpu_push_arrived(struct cpu_warp *w);
/* Warp context: the watcher of the lot looks for a new waiter at once, and often again. */
void wic_cpu_push_joined(struct wic_lot *lot);
/* Warp context: wait for w->req, without describing a failure.  Returns its status. */
int wic_cpu_push_park(struct cpu_warp *w);

#endif /* WIC_BACKENDS_CPU_PUSH_H */
