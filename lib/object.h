/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Contexts and channels as lib/ keeps them, and the process-wide lists of those
 * that exist.  The lists are what makes a second close or destroy a line in the
 * log and not a crash; they are asked where an object is made or ended and for
 * the calls that are rare (launch, sync, statistics), never on the way of a
 * stage or a publish.  A pointer to freed memory that a new object has taken
 * over is beyond them.
 *
 * Locking: one mutex for both lists, a leaf: nothing is called while it is held.
 * After fork() the child's lists are empty: its parent's objects are not its own.  Calls
 * that ask no list find is_closed set in each channel.
 */
#ifndef WIC_LIB_OBJECT_H
#define WIC_LIB_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include <wic/kernel.h>
#include "lib/backend.h"
#include "lib/registry.h"

#define WIC_LINE_TAGS 16u   /* tags of a producer handle come in lines of so many */
#define WIC_CHANNELS_MAX 64 /* of a context, as wic_channel_create() documents */

/* All fields but the lists' are constant between open and close. */
struct wic {
	struct wic *next;             /* list lock */
	uint64_t channel_ids;         /* bit n: number n is taken; list lock */
	const struct wic_be_ops *ops; /* static */
	struct wic_be *be;            /* owned */
	uint64_t *cancel_word;        /* the back-end's, atomic; NULL: none */
	struct wic_config cfg;        /* resolved; its backend is ops->name */
	char description[WIC_REASON_BYTES + 256];
};

struct wic_channel {
	struct wic_channel *next;     /* list lock */
	struct wic *w;                /* borrowed, outlives the channel */
	const struct wic_be_ops *ops; /* w->ops, one load less on publish */
	struct wic_be_channel *be;    /* owned */
	struct wic_channel_desc d;    /* mode resolved */
	uint32_t id;                  /* in its context; the smallest that was free */
	/* Whose each line of 16 tags is, 0: the channel's own handle; relaxed, written under lock.
	 */
	uint64_t *line_owners; /* owned */
	bool is_closed;        /* relaxed: the back-end settles races with a close */
	bool is_parents;       /* this process came by fork() later; then is_closed is set too */
};

void wic_object_add(struct wic *w);
bool wic_object_exists(const struct wic *w);
/* False: it was not there. */
bool wic_object_remove(struct wic *w);
/* Log function of the context opened last that has one; false: none has. */
bool wic_object_sink(void (**log_out)(void *arg, int level, const char *line), void **arg_out);

/* Take a number for a channel of @w, in [0, WIC_CHANNELS_MAX); -ENOMEM: all are taken. */
int wic_object_take_id(struct wic *w);
void wic_object_give_id(struct wic *w, uint32_t id);
void wic_object_add_channel(struct wic_channel *ch);
bool wic_object_channel_exists(const struct wic_channel *ch);
bool wic_object_remove_channel(struct wic_channel *ch);
/* Some channel of @w, removed from the list; NULL: there is none. */
struct wic_channel *wic_object_remove_channel_of(struct wic *w);
/* Call @visit for each channel of @w.  Nobody may end channels of @w meanwhile. */
void wic_object_visit_channels(struct wic *w, void (*visit)(struct wic_channel *ch));

/* 0, or -EINVAL: a kernel's warp calls what is the host's. */
int wic_object_check_thread(const char *who);
/* That, NULL and the list. */
int wic_object_check(const struct wic *w, const char *who);

/* lib/channel.c, for wic_close(): close unless closed; end without looking at the lists. */
void wic_channel_close_once(struct wic_channel *ch);
void wic_channel_free(struct wic_channel *ch);
/* lib/producer.c: all handles of a channel that ends. */
void wic_producer_free_all(const struct wic_channel *ch);
/* Around fork(): a child has no handles. */
void wic_producer_fork_prepare(void);
void wic_producer_fork_done(bool is_child);
/* 0, or -EBUSY: a tag of the range is not @owner's. */
int wic_producer_check(const struct wic_channel *ch, const char *who, uint32_t tag_first,
		       uint32_t tag_count, uint64_t owner);
/* lib/channel.c: stage and publish of one handle. */
int wic_channel_stage_as(struct wic_channel *ch, const char *who, uint64_t owner, uint32_t tag,
			 uint64_t epoch, uint64_t timeout_ns, void **buffer_out);
int wic_channel_publish_as(struct wic_channel *ch, const char *who, uint64_t owner,
			   uint32_t tag_first, uint32_t tag_count, uint64_t epoch);
/* lib/context.c: wait for the kernels launched so far, with a line in the log each second. */
void wic_context_wait_idle(struct wic *w, const char *who);

/* Is this thread an SM that runs a warp?  Waiting there would stop all warps of the SM. */
static inline bool wic_is_in_kernel(void)
{
	return wic_sm_self_ && wic_sm_self_->warp;
}

#endif /* WIC_LIB_OBJECT_H */
