/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A logical device's memory: the page window, the PCM pool, and who holds what.
 *
 * A *hold* is a run of pages that belongs to one (channel, tag, epoch): made by the
 * first request for it, joined by the others, given back by the last release or, when
 * all its requests failed before a fill, by the last of these.  At most one a (tag,
 * epoch).  Holds are kept in an array by their first page and linked by tag.
 *
 *	none --request--> PENDING --filled--> FILLED --readers releases--> none
 *	                     `--all users failed-----------------------> none
 *
 * A *user* is a request that names the hold and has not ended: a hold stays until its
 * last user is gone, so that a warp that timed out cannot stand at a page of another.
 *
 * A set of tags gets the pages of all at once, or waits in the queue for as many and
 * holds none: its warp *pins* the holds while it requests them one after the other.
 *
 * Locking: the device's one mutex guards pool, holds and the queue of requests that
 * wait for pages.  SM threads, host threads that consume and the Monitor take it, for some 100 ns;
 * nobody holds it across a fiber switch, a fault or a system call of the window.
 */
#ifndef WIC_BACKENDS_CPU_DEVICE_H
#define WIC_BACKENDS_CPU_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <wic/wic.h>

#include "backends/cpu/window.h"
#include "core/pool.h"

struct wic_be_channel;
struct cpu_sm;
struct cpu_request;

enum cpu_hold_state { CPU_HOLD_NONE, CPU_HOLD_PENDING, CPU_HOLD_FILLED };

struct cpu_hold {
	struct wic_be_channel *ch; /* borrowed: a channel outlives its holds */
	uint64_t epoch;
	uint32_t tag;
	uint32_t pages;
	uint32_t users;         /* requests under way that name it */
	uint32_t live;          /* of these: no status yet */
	uint32_t pins;          /* sets that have it and request it one tag after the other */
	uint32_t readers_left;  /* releases still owed, once FILLED */
	uint32_t next;          /* first page of the next hold of this tag, WIC_PAGE_NONE: last */
	uint32_t next_released; /* the same, of the device's list of holds released by threads */
	enum cpu_hold_state state;
	bool released;        /* all readers are done; goes when its last user does */
	bool is_in_engine;    /* the Monitor's own: a request named it there */
	bool is_in_directory; /* was put there: with one reader, the entry is the truth */
};

/* A kernel on the device; guarded by the context's launch_lock unless said otherwise. */
struct cpu_launch {
	struct wic_launch_desc desc; /* constant while sms_running */
	uint64_t next_block;         /* atomic: first block not taken by an SM */
	uint32_t blocks_waited;      /* atomic: blocks of which a warp has parked */
	uint64_t seq;                /* of the context's launches, 0: none yet */
	uint32_t sms_running;
};

struct cpu_device {
	uint32_t index;
	uint32_t page_base; /* of its page 0 among the engine's pages, which are of all devices */
	struct cpu_sm *sms; /* borrowed from the context */
	uint32_t sm_count;
	struct cpu_launch launch;
	struct window win;
	pthread_mutex_t lock;
	struct wic_pool *pool;  /* in pool_mem; guarded by lock */
	void *pool_mem;         /* owned */
	struct cpu_hold *holds; /* owned; by first page; guarded by lock */
	struct wic_run spare;   /* taken, held by nobody yet; empty while anybody waits */
	struct wic_run given;   /* dropped, not yet given to the pool; empty when unlocked */
	struct cpu_request *queue_first; /* they wait for pages; guarded by lock */
	struct cpu_request *queue_last;
	uint32_t released_first; /* holds that host threads released; guarded by lock */
	uint64_t pool_waits;     /* requests that ever queued; guarded by lock */
	/* Written under lock, read with atomics by anyone, at each turn: a line of its own. */
	uint32_t queue_count __attribute__((aligned(64)));
	uint32_t has_released; /* atomic, a flag: the list of released holds is not empty */
};

/* Without a window: struct window. */
int wic_cpu_device_init(struct cpu_device *dev, const struct wic_config *cfg, uint32_t close_batch);
void wic_cpu_device_fini(struct cpu_device *dev);

/* Takes dev->lock.  Data held here, also where the directory has gone on; NULL: none. */
void *wic_cpu_device_find_data(struct cpu_device *dev, struct wic_be_channel *ch, uint32_t tag,
			       uint64_t epoch);

/* All below: the caller holds dev->lock. */
/* NULL: nobody requested (tag, epoch), or its readers are done. */
struct cpu_hold *wic_cpu_device_find(struct cpu_device *dev, struct wic_be_channel *ch,
				     uint32_t tag, uint64_t epoch);
struct cpu_hold *wic_cpu_device_hold(struct cpu_device *dev, struct wic_be_channel *ch,
				     uint32_t tag, uint64_t epoch, struct wic_run run);
/* Pages for a hold.  False: none now; the caller waits in the pool's FIFO. */
bool wic_cpu_device_take(struct cpu_device *dev, uint32_t pages, struct wic_run *run_out);
/* Pages that were taken and that no hold has; none: nothing. */
void wic_cpu_device_return(struct cpu_device *dev, struct wic_run run);
/*
 * Find pages for a request: a hold to join, a new one, or a place in the pool's FIFO.
 * @batch_run: what is left of its batch's run, or NULL.  ASSIGN_DONE: it has its status.
 */
enum cpu_assign { CPU_ASSIGN_JOINED, CPU_ASSIGN_DONE, CPU_ASSIGN_QUEUED };
enum cpu_assign wic_cpu_device_assign(struct cpu_device *dev, struct cpu_request *req,
				      struct wic_run *batch_run);
/* Holds for all of a set: those that are there, and new ones on @run, which has the pages. */
void wic_cpu_device_pin_set(struct cpu_device *dev, struct cpu_request *req, struct wic_run run);
/*
 * Unlink; the pages become DIRTY with the next wic_cpu_device_give(), which must come
 * before the lock is let go.  Neighbours that are dropped one after the other are one run
 * then, and one walk of the pool's tree.
 */
void wic_cpu_device_drop(struct cpu_device *dev, struct cpu_hold *hold);
void wic_cpu_device_give(struct cpu_device *dev);
/* Filled, and releases are still owed. */
bool wic_cpu_hold_is_readable(const struct cpu_hold *hold);
/*
 * Put the newest readable hold of the tag into the directory, if its entry is empty.  The
 * entry of an epoch stays until that epoch is released: with one reader the releasing warp
 * empties it, else the Monitor when the hold goes.  So a warp that holds an epoch never
 * finds its entry replaced.
 */
void wic_cpu_device_install(struct cpu_device *dev, struct wic_be_channel *ch, uint32_t tag);
uint32_t wic_cpu_device_hold_page(const struct cpu_device *dev, const struct cpu_hold *hold);
/* The request names the hold's pages from now on. */
void wic_cpu_request_join(struct cpu_device *dev, struct cpu_request *req, struct cpu_hold *hold);
/* Into the queue for pages, and out of it (the pool's FIFO has let it go). */
void wic_cpu_queue_append(struct cpu_device *dev, struct cpu_request *req);
void wic_cpu_queue_remove(struct cpu_device *dev, struct cpu_request *req);

#endif /* WIC_BACKENDS_CPU_DEVICE_H */
