/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A channel, producer -> consumer.  Push mode: push.h.
 *
 * Publishing is levels, not messages: truth[tag] is a word that only grows, and two
 * bitmaps say which tags to look at again.  So a publisher never waits, no queue can
 * be full, and one that is stopped between two stores delays only its own tag.
 *
 *	publish:  truth[tag] := epoch; changed[tag / 64] |= bit; changed_words |= bit;
 *	          Monitor's channel bit; knock
 *	Monitor:  takes bits (exchange), reads truth, tells the engine
 *
 * A tag has one staging buffer.  stage(e') waits until the device has its copy of the
 * last published epoch (filled[tag], written by the Monitor).
 */
#ifndef WIC_BACKENDS_CPU_CHANNEL_H
#define WIC_BACKENDS_CPU_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/cpu/pat.h"
#include "backends/cpu/push.h"
#include "lib/backend.h"

#define CPU_CREDITS_NONE UINT32_MAX

struct cpu_device;

enum cpu_tag_user { CPU_TAG_FREE = 0, CPU_TAG_CALLER, CPU_TAG_MONITOR };

struct cpu_tag {
	uint64_t truth;      /* published epoch; the publisher's; acquire/release */
	uint64_t staged;     /* epoch whose buffer was handed out; under busy */
	uint64_t filled;     /* last epoch copied to the device; the Monitor's; acquire/release */
	uint64_t claimed;    /* highest epoch that a wic_next() has taken; atomic */
	uint32_t hold_first; /* first page of the tag's holds; written under the device's lock */
	uint32_t queued;     /* requests for it that wait for pages; guarded by the device's lock */
	uint32_t is_dead;    /* its producer is gone; atomic, set once; see tag_check_owner() */
	uint32_t busy;       /* who stages or publishes this tag: enum cpu_tag_user; atomic */
};

struct wic_be_channel {
	struct wic_be *be;
	struct cpu_device *dev; /* the consumer's, borrowed from be */
	struct wic_channel_desc desc;
	uint32_t id;    /* lib's: in texts, waiters and events */
	uint32_t index; /* the Monitor's: in its tables, and its bit there */
	uint32_t engine_id;
	uint32_t credits_id;       /* a warp's stage waits here for a fill; CPU_CREDITS_NONE */
	uint32_t pages_per_tag;    /* 0: signals only */
	uint64_t stride;           /* of staging, bytes */
	struct cpu_tag *tags;      /* owned */
	struct wic_dir_entry *dir; /* owned; the device's directory */
	unsigned char *staging;    /* owned mapping; NULL: signals only.  Push: the pages */
	struct cpu_push *push;     /* owned; NULL: pull mode */
	struct cpu_pat pat;        /* nothing where the channel has none */
	uint64_t *changed;         /* owned; a bit a tag; atomics */
	uint64_t *changed_words;   /* owned; a bit a word of changed; atomics */
	uint32_t closed;           /* atomic; set once */
	/* For wic_next(): publishes taken while somebody waits for any, as the tag after the last.
	 */
	uint32_t next_waiters;  /* atomic */
	uint64_t publish_seq;   /* atomic; the Monitor's */
	uint32_t fill_seq;      /* futex of threads in stage; counts fills */
	uint32_t stage_waiters; /* atomic */
	uint32_t callers;       /* atomic: host threads that wait inside a call: it is not freed */
};

int wic_cpu_channel_create(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
			   struct wic_be_channel **ch_out);
void wic_cpu_channel_close(struct wic_be_channel *ch);
void wic_cpu_channel_destroy(struct wic_be_channel *ch);
void wic_cpu_channel_handle(const struct wic_be_channel *ch, struct wic_handle *handle_out);
int wic_cpu_channel_stage(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			  uint64_t timeout_ns, void **buffer_out);
int wic_cpu_channel_publish(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
			    uint64_t epoch);
/* The Monitor's: a warp stored @epoch to the tag's availability word. */
int wic_cpu_channel_publish_word(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch);

/* Its consumers wait in the tree, not by the engine. */
static inline bool cpu_channel_is_in_tree(const struct wic_be_channel *ch)
{
	return ch->push && ch->desc.consumer.v != WIC_DEVICE_HOST_VALUE;
}

static inline bool cpu_channel_is_closed(const struct wic_be_channel *ch)
{
	return __atomic_load_n(&ch->closed, __ATOMIC_ACQUIRE);
}

/* Pairs with the publisher's release: what it wrote before the publish is there. */
static inline uint64_t cpu_channel_truth(const struct wic_be_channel *ch, uint32_t tag)
{
	return __atomic_load_n(&ch->tags[tag].truth, __ATOMIC_ACQUIRE);
}

/* Nobody will publish these tags any more. */
void wic_cpu_channel_owner_died(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count);
/* Around what a host thread does with the channel while it may be closed and destroyed. */
void wic_cpu_channel_enter(struct wic_be_channel *ch);
void wic_cpu_channel_leave(struct wic_be_channel *ch);
/* Host threads in stage look again. */
void wic_cpu_channel_wake_stages(struct wic_be_channel *ch);
/* Make those that wait for any tag of the channel look again. */
void wic_cpu_channel_look_again(struct wic_be_channel *ch, uint32_t tag);
/* The Monitor's: the device has its copy of @epoch. */
void wic_cpu_channel_set_filled(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch);

#endif /* WIC_BACKENDS_CPU_CHANNEL_H */
