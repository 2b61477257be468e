/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Inside of the engine; included by core/ alone.  Four tables and one queue:
 *
 *	dab.c   channels, tags: epochs, and a tag the heap of the wants that wait for it
 *	pfq.c   requests and their wants; found by cookie (hash) and by deadline (heap)
 *	pcm.c   page runs: NONE, WANTED, FILL, FILLING ...; a warp's late fault
 *	queue   actions not pulled yet, in order
 *
 *	channel --> requests --> wants --> run (first page)
 *	  tag  --(heap by epoch)--^  ^--(list)-- run that is FILLING
 *
 * A request's slot is free again when its final REPLAY has been pulled; until then
 * its runs cannot be released.  Everything refers by index, WIC_NONE for none.
 *
 * The queue needs no memory of its own: what can be queued has an id, and next[id]
 * is its link.  An id is queued at most once, so the queue is bounded by the objects:
 *
 *	[0, R)           request: its final REPLAY
 *	[R, R + P)       run by first page: FILL or INVALIDATE
 *	[R + P, R + 2P)  page: REPLAY for a late fault
 *	R + 2P           TIMER
 */
#ifndef WIC_CORE_ENGINE_TYPES_H
#define WIC_CORE_ENGINE_TYPES_H

#include "core/engine.h"
#include "core/heap.h"

#define WIC_NONE 0xffffffffu
#define WIC_QUEUE_OUT 0xfffffffeu /* next[id] of what is not queued */

/* Broken: say so, and answer -EIO from the next input on. */
#define WIC_ENGINE_ASSERT(e, condition)                                    \
	do {                                                               \
		if (WIC_CORE_UNLIKELY(!(condition))) {                     \
			(e)->dead = true;                                  \
			wic_assert_failed(#condition, __FILE__, __LINE__); \
		}                                                          \
	} while (0)

enum wic_channel_state {
	WIC_CHANNEL_UNUSED,
	WIC_CHANNEL_OPEN,
	WIC_CHANNEL_CLOSED,
};

struct wic_core_channel {
	uint32_t tag_first; /* in the table of tags */
	uint32_t tags;
	uint32_t pending_first; /* requests not ended, oldest first */
	uint32_t pending_last;
	uint32_t requests; /* with those whose REPLAY is not pulled */
	uint32_t runs;     /* not released */
	uint8_t state;     /* enum wic_channel_state */
	bool has_data;
};

struct wic_core_tag {
	uint64_t epoch;   /* published */
	uint64_t filled;  /* last epoch that was filled; its pages or none have it now */
	uint32_t waiting; /* root of the heap of its WAITING wants, by epoch */
	uint16_t channel; /* WIC_TAG_UNUSED */
	bool owner_died;
};
#define WIC_TAG_UNUSED 0xffffu

enum wic_want_state {
	WIC_WANT_WAITING, /* in its tag's heap */
	WIC_WANT_FILLING, /* in its run's list of waiters */
	WIC_WANT_SATISFIED,
	WIC_WANT_DROPPED, /* its request ends with an error */
};

struct wic_core_want {
	uint64_t epoch;
	uint32_t tag;  /* in the table of tags */
	uint32_t page; /* first page of its run; WIC_PAGE_NONE */
	uint32_t request;
	uint32_t next;      /* of the request; of the free list */
	uint32_t fill_next; /* of the run's waiters */
	uint8_t state;      /* enum wic_want_state */
	bool claimed;       /* the run is NONE but for this want (undo of a batch) */
};

enum wic_request_state {
	WIC_REQUEST_FREE,
	WIC_REQUEST_PENDING,
	WIC_REQUEST_ENDED, /* its REPLAY is queued */
};

struct wic_core_request {
	uint64_t cookie;
	uint64_t deadline_ns;
	uint64_t epoch_seen; /* ENDED: of report_want's tag when it ended */
	uint32_t channel;
	uint32_t want_first;
	uint32_t prev; /* PENDING: of the channel */
	uint32_t next; /* PENDING: of the channel; FREE: of the free list */
	uint32_t hash_next;
	uint32_t missing;      /* wants not satisfied */
	uint32_t filling;      /* wants that are FILLING: no end before they are filled */
	uint32_t report_want;  /* ENDED: first missing, or first */
	uint32_t faulted_page; /* where a warp stands; WIC_PAGE_NONE */
	int status;            /* PENDING: what it ends with after its fills, or 0 */
	uint8_t state;         /* enum wic_request_state */
	bool timed;            /* in the heap of deadlines */
};

enum wic_run_state {
	WIC_RUN_NONE,
	WIC_RUN_WANTED,  /* belongs to (tag, epoch); not filled */
	WIC_RUN_FILL,    /* FILL is queued */
	WIC_RUN_FILLING, /* FILL was pulled */
	WIC_RUN_FILLED,
	WIC_RUN_RETIRED,      /* INVALIDATE is queued */
	WIC_RUN_INVALIDATING, /* INVALIDATE was pulled */
	WIC_RUN_STATES,
};

enum wic_run_event {
	WIC_RUN_CLAIM, /* the first request names it */
	WIC_RUN_JOIN,  /* one more request names it */
	WIC_RUN_START, /* its epoch is published */
	WIC_RUN_PULL,  /* its action left the queue */
	WIC_RUN_DONE,  /* filled */
	WIC_RUN_FAIL,  /* not filled */
	WIC_RUN_RELEASE,
	WIC_RUN_RETIRE,
	WIC_RUN_INVALIDATED,
	WIC_RUN_EVENTS,
};

/* A page, and if it is the first of a run, the run. */
struct wic_core_page {
	uint64_t late_cookie;
	int late_status;
	uint32_t owner; /* first page of the run it is part of; WIC_NONE */
	/* run: */
	uint64_t epoch;
	uint32_t tag; /* in the table of tags */
	uint32_t count;
	uint32_t wants;         /* of requests whose REPLAY is not pulled */
	uint32_t waiters_first; /* FILLING wants, in order */
	uint32_t waiters_last;
	int status;    /* the last error that a request on it ended with */
	uint8_t state; /* enum wic_run_state */
};

struct wic_engine {
	struct wic_engine_params params;
	struct wic_core_channel *channels; /* [channels_max] */
	struct wic_core_tag *tags;         /* [tags_max] */
	struct wic_core_request *requests; /* [requests_max] */
	struct wic_core_want *wants;       /* [wants_max] */
	struct wic_core_page *pages;       /* [pages] */
	uint32_t *buckets;                 /* [buckets_mask + 1]: requests by cookie */
	uint32_t *queue_next;              /* [requests_max + 2 * pages + 1] */
	struct wic_heap by_epoch;          /* node i is want i */
	struct wic_heap by_deadline;       /* node i is request i */
	uint64_t order;                    /* counts wants, for FIFO among equals */
	uint64_t armed_ns;                 /* last TIMER pulled */
	struct wic_engine_counters counters;
	uint32_t buckets_mask;
	uint32_t queue_first;
	uint32_t queue_last;
	uint32_t queue_length;
	uint32_t deadline_root;
	uint32_t requests_free;
	uint32_t requests_used;
	uint32_t wants_free;
	uint32_t wants_used;
	uint32_t magic;
	bool dead;
};

#define WIC_ENGINE_MAGIC 0x57494321u

/* engine.c: queue */
static inline uint32_t wic_queue_id_run(const struct wic_engine *e, uint32_t page)
{
	return e->params.requests_max + page;
}

static inline uint32_t wic_queue_id_late(const struct wic_engine *e, uint32_t page)
{
	return e->params.requests_max + e->params.pages + page;
}

static inline uint32_t wic_queue_id_timer(const struct wic_engine *e)
{
	return e->params.requests_max + 2 * e->params.pages;
}

static inline bool wic_queue_has(const struct wic_engine *e, uint32_t id)
{
	return e->queue_next[id] != WIC_QUEUE_OUT;
}

void wic_queue_put(struct wic_engine *e, uint32_t id);

/* dab.c */
void wic_dab_init(struct wic_engine *e);
/* The open or closed channel, or NULL. */
struct wic_core_channel *wic_dab_channel(const struct wic_engine *e, uint32_t channel);
/* True when [first, first + count) are tags of @ch and not empty. */
bool wic_dab_has_tags(const struct wic_core_channel *ch, uint32_t first, uint32_t count);

/* pfq.c: what a want would come to now; nothing changes. */
enum wic_look {
	WIC_LOOK_SATISFIED,
	WIC_LOOK_FILL, /* start to fill its run */
	WIC_LOOK_JOIN, /* its run is being filled */
	WIC_LOOK_WAIT,
	WIC_LOOK_GONE, /* -EINVAL: its epoch is gone, or the channel is closed */
	WIC_LOOK_DEAD, /* -EOWNERDEAD */
};

void wic_pfq_init(struct wic_engine *e);
enum wic_look wic_pfq_look(const struct wic_engine *e, uint32_t want);
/* Advance a want as far as it goes.  It is in no heap. */
void wic_pfq_advance(struct wic_engine *e, uint32_t want);
/* A want that was FILLING: @status 0, or the error its request ends with. */
void wic_pfq_filled(struct wic_engine *e, uint32_t want, int status);
/* End with @status, at once or when its fills are done. */
void wic_pfq_end(struct wic_engine *e, uint32_t request, int status);
/* PENDING or ENDED request with this cookie, or WIC_NONE. */
uint32_t wic_pfq_find(const struct wic_engine *e, uint64_t cookie);
/* True when a want of the request has @page in its run. */
bool wic_pfq_has_page(const struct wic_engine *e, uint32_t request, uint32_t page);
/* Fill in the final REPLAY and free the slot. */
void wic_pfq_pull(struct wic_engine *e, uint32_t request, struct wic_action *action_out);

/* pcm.c */
void wic_pcm_init(struct wic_engine *e);
/* The want's run is its own or can be joined: counted there.  0; -EINVAL. */
int wic_pcm_claim(struct wic_engine *e, uint32_t want, uint32_t count);
/* Undo the claim of a batch that is refused. */
void wic_pcm_unclaim(struct wic_engine *e, uint32_t want);
/* One want less. */
void wic_pcm_put(struct wic_engine *e, uint32_t page);
/* Queue FILL; the want is the first of its waiters. */
void wic_pcm_start(struct wic_engine *e, uint32_t page);
void wic_pcm_add_waiter(struct wic_engine *e, uint32_t want);
/* The run of @page from @page on. */
struct wic_run wic_pcm_rest(const struct wic_engine *e, uint32_t page);
/* Fill in FILL or INVALIDATE; a late REPLAY. */
void wic_pcm_pull_run(struct wic_engine *e, uint32_t page, struct wic_action *action_out);
void wic_pcm_pull_late(struct wic_engine *e, uint32_t page, struct wic_action *action_out);

/* engine.c: the check at the entry of each input; 0 or -EIO. */
int wic_engine_enter(struct wic_engine *e);
/* After an input: TIMER if the earliest deadline is another.  0 or -EIO. */
int wic_engine_leave(struct wic_engine *e);

#endif /* WIC_CORE_ENGINE_TYPES_H */
