/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The engine: Monitor and Activator as one state machine.  Inputs in, actions
 * out; it knows no clock, thread, page table or copy.
 *
 *	request, fault, publish, release, retire, filled,            FILL, REPLAY,
 *	invalidated, cancel, close, owner died, tick  --> engine --> INVALIDATE, TIMER
 *
 * DAB: one 64-bit epoch a tag, only grows.  PFQ: requests whose wants are not all
 * satisfied, found by tag, by page and (heap) by deadline.  All bounds are given at
 * init; every input is O(waiters it touches * log requests).
 *
 * A *request* is one warp's: it has 1 to n *wants* {tag, epoch, page run}.  A want
 * without pages is satisfied by epoch >= wanted.  A want with pages is satisfied
 * when its pages are FILLED with exactly that epoch; the engine emits one FILL for
 * the first request that names the pages, whoever joins later (another request with
 * the same page_first) waits for the same fill or finds it done.  When all wants are
 * satisfied: REPLAY with status 0.
 *
 *	pages of a want:  NONE --FILL--> FILLING --filled--> FILLED --release--> NONE
 *
 * Once a want of a request is FILLING, the request no longer times out or is
 * cancelled before `filled` comes (a fill is bounded), so that pages under a fill
 * are never given back.  After `filled` it ends: with 0 if nothing else is missing,
 * else with what held (-ETIMEDOUT, -ECANCELED, ...).  A fill that failed leaves its
 * pages with their (tag, epoch), not filled: the next request for them fills again.
 * An epoch is filled once: when its pages have been released it is gone, since the
 * producer may have its buffer again.
 *
 * A *fault* says that a warp stands at a page.  For a pending request it is noted
 * (again and again is harmless: duplicates are dropped).  For a request already
 * replayed whose pages are not released, REPLAY is emitted once more: status 0 when
 * they are FILLED, else the last error that a request on them ended with.  For a page
 * that nobody requested: REPLAY with -EINVAL and WIC_COOKIE_NONE.
 *
 * Every request ends with exactly one REPLAY that carries its status and
 * final = true; further ones for late faults carry final = false.
 *
 * Back-pressure: a request that does not fit in the PFQ is refused with -EAGAIN as
 * a whole batch, before anything changes; the caller keeps it and asks again.
 *
 * Invariants are checked at the entry of each input; a broken one makes the engine
 * dead: from then on each input is -EIO.  Locking: none, one caller at a time.
 */
#ifndef WIC_CORE_ENGINE_H
#define WIC_CORE_ENGINE_H

#include "core/dep.h"
#include "core/pool.h"

#define WIC_DEADLINE_NEVER UINT64_MAX
#define WIC_COOKIE_NONE UINT64_MAX
#define WIC_ENGINE_BATCH_MAX 16
#define WIC_ENGINE_PAGES_MAX (1u << 24)

struct wic_engine;

struct wic_engine_params {
	uint32_t channels_max; /* 1 to 65,535 */
	uint32_t tags_max;     /* of all open channels together; 1 to 2^24 */
	uint32_t requests_max; /* pending at a time; 1 to 2^20 */
	uint32_t wants_max;    /* of all pending requests together, >= requests_max, <= 2^22 */
	/* PCM pages of all devices, partners included, at most 2^24; 0: none (push only) */
	uint32_t pages;
};

struct wic_want {
	uint64_t epoch; /* with pages: 1 and up (0: nothing was published yet) */
	uint32_t tag;
	uint32_t page_first; /* WIC_PAGE_NONE: no data wanted */
	uint32_t page_count;
};

struct wic_request {
	uint64_t cookie; /* the caller's, not WIC_COOKIE_NONE; unique until its REPLAY is pulled */
	uint64_t deadline_ns; /* absolute, the caller's clock; WIC_DEADLINE_NEVER */
	uint32_t channel;
	uint32_t want_count;
	const struct wic_want *wants; /* borrowed during the call */
};

enum wic_action_kind {
	WIC_ACTION_FILL,
	WIC_ACTION_REPLAY,
	WIC_ACTION_INVALIDATE,
	WIC_ACTION_TIMER
};

struct wic_action {
	enum wic_action_kind kind;
	int status;          /* REPLAY: 0 or -errno */
	bool faulted;        /* REPLAY: a warp stands at @run.first; open it */
	bool final;          /* REPLAY: the request ends with this */
	uint32_t channel;    /* FILL, REPLAY */
	uint32_t tag;        /* FILL; REPLAY: first want; first missing one if status */
	uint64_t epoch;      /* FILL: to copy; REPLAY: wanted */
	uint64_t epoch_seen; /* REPLAY: published epoch of @tag */
	uint64_t cookie;     /* REPLAY */
	uint64_t at_ns;      /* TIMER: call tick no later; WIC_DEADLINE_NEVER: disarm */
	struct wic_run run;  /* FILL, INVALIDATE; REPLAY: the first want's pages; with @faulted
				the run from the page where the warp stands */
};

struct wic_engine_counters {
	/* replays: of requests; a late fault's own is a fault and no more. */
	uint64_t requests, batches, faults, faults_dropped, publishes, fills, replays;
	uint64_t invalidates, timeouts, cancels, checks;
	uint32_t pending, pending_max; /* with those whose REPLAY is not pulled yet */
};

/* 0 when @p is out of range. */
size_t wic_engine_bytes(const struct wic_engine_params *p);
/* 0; -EINVAL: @p out of range, @mem NULL, misaligned (16) or too small. */
int wic_engine_init(void *mem, size_t mem_bytes, const struct wic_engine_params *p,
		    struct wic_engine **e_out);

/*
 * @has_data: wants with pages are legal, and are exact in their epoch.  Tags are
 * taken as one contiguous range from tags_max; -ENOMEM: no channel or tags left.
 */
int wic_engine_open(struct wic_engine *e, uint32_t tags, bool has_data, uint32_t *channel_out);
/* Input: pending requests end with -ECANCELED, later ones are -EINVAL. -EINVAL: not open. */
int wic_engine_close(struct wic_engine *e, uint32_t channel);
/* Free the channel's number and tags.  -EBUSY: requests pend or pages are not released. */
int wic_engine_free(struct wic_engine *e, uint32_t channel);

/*
 * Input: a batch of 1 to 16 requests as one notice.  0; -EAGAIN: PFQ full (a slot is free
 * again when the request's REPLAY is pulled); -EINVAL: a field out of range, a cookie in use,
 * no such channel, pages that belong to another (tag, epoch) or overlap another run, or are
 * being invalidated, more wants than wants_max.  On an error nothing changed.  A request that
 * can never be satisfied is taken and ends with that status: -EINVAL (its epoch is gone, the
 * channel is closed) or -EOWNERDEAD; so is one whose deadline is past and whose data is not
 * on its pages (-ETIMEDOUT).  Its pages belong to its (tag, epoch) until they are released.
 */
int wic_engine_request(struct wic_engine *e, const struct wic_request *batch, uint32_t count,
		       uint64_t now_ns);
/*
 * Input: a warp with this cookie stands at @page (any cookie of the page's requests).  -EAGAIN:
 * a late fault of another cookie at this page is queued; pull the actions and ask again.
 */
int wic_engine_fault(struct wic_engine *e, uint32_t page, uint64_t cookie);
/*
 * Input: epochs of [tag_first, tag_first + tag_count) become @epoch; lower ones are ignored.
 * -EINVAL: not open, closed, or tags out of range.
 */
int wic_engine_publish(struct wic_engine *e, uint32_t channel, uint32_t tag_first,
		       uint32_t tag_count, uint64_t epoch);
/*
 * Input: all readers of the pages starting at @page are done, or all its requests failed.
 * -EBUSY: requests pend on it (until their REPLAY is pulled) or it is FILLING.  -EINVAL: no
 * run begins there.  The pages are NONE again.
 */
int wic_engine_release(struct wic_engine *e, uint32_t page);
/*
 * Input: these DIRTY pages may be closed (wic_pool_close_next()): INVALIDATE follows.
 * -EINVAL: out of range, or a page is not released, or is being invalidated.
 */
int wic_engine_retire(struct wic_engine *e, struct wic_run run);
/* Input: FILL done (0) or failed (-errno: its waiters end with it). -EINVAL: no such FILL. */
int wic_engine_filled(struct wic_engine *e, uint32_t page, int status);
/* Input: INVALIDATE done, the whole run as it was emitted.  -EINVAL: no such INVALIDATE. */
int wic_engine_invalidated(struct wic_engine *e, struct wic_run run);
/* Input: the request ends with -ECANCELED unless its fill is under way. -EINVAL: not pending. */
int wic_engine_cancel(struct wic_engine *e, uint64_t cookie);
/*
 * Input: nobody will publish [tag_first, tag_first + tag_count) any more: requests for
 * epochs not published end with -EOWNERDEAD, now and later.
 */
int wic_engine_owner_died(struct wic_engine *e, uint32_t channel, uint32_t tag_first,
			  uint32_t tag_count);
/* Input: time.  Requests past their deadline end with -ETIMEDOUT. */
int wic_engine_tick(struct wic_engine *e, uint64_t now_ns);

/* Next action, in order; false: none.  At most one TIMER is queued at a time. */
bool wic_engine_next(struct wic_engine *e, struct wic_action *action_out);

uint64_t wic_engine_epoch(const struct wic_engine *e, uint32_t channel, uint32_t tag);
void wic_engine_counters(const struct wic_engine *e, struct wic_engine_counters *out);
bool wic_engine_is_dead(const struct wic_engine *e);
/* O(n): every invariant above.  For tests and debug. */
bool wic_engine_is_consistent(const struct wic_engine *e);

#endif /* WIC_CORE_ENGINE_H */
