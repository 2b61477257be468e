// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/push.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIC_TREE_PRIMITIVES "backends/cpu/tree_fiber.h"
#include <wic/tree.h>

#include "backends/cpu/be.h"
#include "backends/cpu/request.h"
#include "core/dep.h"
#include "lib/log.h"

/* A wait that has begun so long ago, at most, is new to the watcher. */
#define JOIN_NS 1000000u
#define LINE_BYTES (WIC_TREE_LINE_TAGS * sizeof(uint64_t))

_Static_assert(WIC_TREE_ETIMEDOUT == -ETIMEDOUT && WIC_TREE_ECANCELED == -ECANCELED &&
		       WIC_TREE_EOWNERDEAD == -EOWNERDEAD,
	       "the tree's errors are the system's");
_Static_assert((int)CPU_PUSH_CLOSED == WIC_TREE_CLOSED && (int)CPU_PUSH_DIED == WIC_TREE_DIED,
	       "ends of tags");

static uint32_t lines_of(uint32_t words)
{
	return (words + WIC_TREE_LINE_TAGS - 1) / WIC_TREE_LINE_TAGS;
}

static void *zeroed(size_t align, size_t bytes)
{
	void *p = aligned_alloc(align, (bytes + align - 1) / align * align);

	if (p)
		memset(p, 0, (bytes + align - 1) / align * align);
	return p;
}

static struct wic_tree_line *lines_create(uint32_t count)
{
	return zeroed(sizeof(struct wic_tree_line), count * sizeof(struct wic_tree_line));
}

int wic_cpu_push_control_create(struct cpu_push_control *c, uint32_t devices)
{
	c->truth = zeroed(LINE_BYTES, LINE_BYTES);
	c->lines = lines_create(devices + 1);
	if (!c->truth || !c->lines) {
		wic_cpu_push_control_destroy(c);
		return wic_fail(-ENOMEM, "control lines of %u devices", devices);
	}
	for (uint32_t i = 0; i <= devices; i++)
		wic_tree_control_set(&c->lines[i], &c->lines[i], c->truth);
	return 0;
}

void wic_cpu_push_control_destroy(struct cpu_push_control *c)
{
	free(c->lines);
	free(c->truth);
	memset(c, 0, sizeof(*c));
}

void wic_cpu_push_end_all(struct cpu_push_control *c)
{
	__atomic_store_n(&c->truth[WIC_TREE_CANCEL], WIC_BE_CANCEL_FOR_GOOD, __ATOMIC_RELEASE);
}

struct wic_lot *wic_cpu_push_lots_create(uint32_t warps)
{
	uint32_t count = (warps + WIC_WARPS_MAX - 1) / WIC_WARPS_MAX;
	struct wic_lot *lots = zeroed(CPU_LINE_BYTES, count * sizeof(*lots));

	for (uint32_t i = 0; lots && i < count; i++)
		wic_tree_lot_init(&lots[i], WIC_WARPS_MAX);
	return lots;
}

uint32_t wic_cpu_push_warp_at(const struct cpu_sm *sm, const uint64_t *barrier)
{
	size_t at = (size_t)((const char *)barrier - (const char *)sm->lots);
	size_t in_lot = at % sizeof(struct wic_lot) - offsetof(struct wic_lot, warp);

	return (uint32_t)(at / sizeof(struct wic_lot) * WIC_WARPS_MAX +
			  in_lot / sizeof(struct wic_lot_warp));
}

/* ---- the channel ----------------------------------------------------------------------- */

static bool is_raised_in_place(const struct wic_be_channel *ch)
{
	return ch->desc.producer.v != WIC_DEVICE_HOST_VALUE;
}

/* @words words of a device, each line with its end; @truth: NULL where they are raised in place. */
static void lines_init(struct wic_tree_line *lines, uint32_t words, uint64_t *truth, uint64_t *ends,
		       struct wic_tree_line *control)
{
	for (uint32_t i = 0; i < lines_of(words); i++) {
		const uint64_t *words_of_line = truth ? truth + i * WIC_TREE_LINE_TAGS : NULL;

		wic_tree_line_set(&lines[i], &lines[i], words_of_line, &ends[i], control);
	}
}

int wic_cpu_push_create(struct wic_be_channel *ch)
{
	struct cpu_push *p = calloc(1, sizeof(*p));
	struct cpu_push_control *c = &ch->be->push_control;
	/* One more, the count of publishes, has a line of its own: no producer handle is its. */
	uint32_t tags = lines_of(ch->desc.tags) * WIC_TREE_LINE_TAGS, words = tags + 1;
	struct cpu_device *producer = cpu_be_device(ch->be, ch->desc.producer);

	ch->push = p;
	if (!p)
		return wic_fail(-ENOMEM, "a channel");
	p->truth = zeroed(LINE_BYTES, lines_of(words) * LINE_BYTES);
	p->ends = calloc(lines_of(words), sizeof(*p->ends));
	p->lines = lines_create(lines_of(words));
	p->credit = lines_create(lines_of(2 * tags));
	p->credit_ends = calloc(lines_of(2 * tags), sizeof(*p->credit_ends));
	p->pages = calloc(2 * (size_t)tags, sizeof(*p->pages));
	if (!p->truth || !p->ends || !p->lines || !p->credit || !p->credit_ends || !p->pages)
		return wic_fail(-ENOMEM, "tables of a channel of %u tags", ch->desc.tags);
	lines_init(p->lines, words, is_raised_in_place(ch) ? NULL : p->truth, p->ends,
		   &c->lines[ch->dev->index]);
	lines_init(p->credit, 2 * tags, NULL, p->credit_ends, &c->lines[producer->index]);
	return 0;
}

void wic_cpu_push_destroy(struct wic_be_channel *ch)
{
	struct cpu_push *p = ch->push;

	if (!p)
		return;
	free(p->pages);
	free(p->credit_ends);
	free(p->credit);
	free(p->lines);
	free(p->ends);
	free(p->truth);
	free(p);
}

void wic_cpu_push_end(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
		      enum cpu_push_end end)
{
	const struct cpu_push *p = ch->push;
	uint64_t *ends = &ch->be->push_control.truth[WIC_TREE_ENDS];
	uint32_t first = tag_first / WIC_TREE_LINE_TAGS;
	uint32_t last = (tag_first + tag_count - 1) / WIC_TREE_LINE_TAGS;

	for (uint32_t i = first; i <= last; i++)
		wic_t_raise(&p->ends[i], end);
	for (uint32_t i = 2 * first; i <= 2 * last + 1; i++)
		wic_t_raise(&p->credit_ends[i], end);
	if (end == CPU_PUSH_CLOSED)
		wic_t_raise(&p->ends[lines_of(ch->desc.tags)], end);
	/* After the ends: who sees the count finds them. */
	__atomic_fetch_add(ends, 1, __ATOMIC_RELEASE);
	wic_cpu_push_look_again(ch);
}

static uint64_t *count_word(const struct wic_be_channel *ch)
{
	return &ch->push->truth[lines_of(ch->desc.tags) * WIC_TREE_LINE_TAGS];
}

uint64_t wic_cpu_push_count(const struct wic_be_channel *ch)
{
	return __atomic_load_n(count_word(ch), __ATOMIC_ACQUIRE);
}

void wic_cpu_push_look_again(struct wic_be_channel *ch)
{
	struct cpu_push *p = ch->push;
	uint32_t count = lines_of(ch->desc.tags) * WIC_TREE_LINE_TAGS;
	uint64_t publishes = __atomic_add_fetch(count_word(ch), 1, __ATOMIC_ACQ_REL);

	if (is_raised_in_place(ch))
		wic_t_raise(wic_tree_tag_word(p->lines, count), publishes);
}

/* ---- pages ------------------------------------------------------------------------------ */

static uint64_t *credit_of(const struct wic_be_channel *ch, uint32_t tag, uint32_t page)
{
	return wic_tree_tag_word(ch->push->credit, 2 * tag + page);
}

static uint64_t epoch_on(const struct wic_be_channel *ch, uint32_t tag, uint32_t page)
{
	return __atomic_load_n(&ch->push->pages[2 * tag + page].epoch, __ATOMIC_ACQUIRE);
}

/* The page for the next epoch: not that of the last. */
static uint32_t page_to_fill(const struct wic_be_channel *ch, uint32_t tag)
{
	return epoch_on(ch, tag, 0) > epoch_on(ch, tag, 1);
}

static void *data_of(const struct wic_be_channel *ch, uint32_t tag, uint32_t page)
{
	return ch->staging + (2 * (uint64_t)tag + page) * ch->stride;
}

bool wic_cpu_push_buffer_is_free(const struct wic_be_channel *ch, uint32_t tag)
{
	uint32_t page = page_to_fill(ch, tag);

	/* Pairs with the last reader's post: all have read. */
	return wic_t_acquire(credit_of(ch, tag, page)) >= epoch_on(ch, tag, page);
}

uint64_t wic_cpu_push_unreleased(const struct wic_be_channel *ch, uint32_t tag)
{
	return epoch_on(ch, tag, page_to_fill(ch, tag));
}

void *wic_cpu_push_buffer(const struct wic_be_channel *ch, uint32_t tag)
{
	return data_of(ch, tag, page_to_fill(ch, tag));
}

void wic_cpu_push_publish(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	struct cpu_push *p = ch->push;

	if (ch->pages_per_tag) {
		struct cpu_push_page *page = &p->pages[2 * tag + page_to_fill(ch, tag)];

		__atomic_store_n(&page->epoch, epoch, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&ch->tags[tag].truth, epoch, __ATOMIC_RELEASE);
	if (is_raised_in_place(ch))
		wic_tree_publish(p->lines, tag, epoch, 1);
	else
		wic_tree_say(&p->truth[tag], epoch);
	wic_cpu_push_look_again(ch);
}

/* 0 or 1; 2: no page has the epoch, or its readers are done. */
static uint32_t page_of(const struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	uint32_t page;

	for (page = 0; page < 2; page++)
		if (epoch_on(ch, tag, page) == epoch &&
		    wic_t_acquire(credit_of(ch, tag, page)) < epoch)
			break;
	return page;
}

void *wic_cpu_push_find(const struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			bool *is_gone_out)
{
	/* Before the page is looked for: what is published is on one, or gone. */
	bool is_published = cpu_channel_truth(ch, tag) >= epoch;
	uint32_t page = is_published ? page_of(ch, tag, epoch) : 2;

	*is_gone_out = is_published && page == 2;
	return page < 2 ? data_of(ch, tag, page) : NULL;
}

int wic_cpu_push_release(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	uint32_t page = page_of(ch, tag, epoch);
	int rc = -EINVAL;

	if (page < 2)
		rc = wic_tree_release(&ch->push->pages[2 * tag + page].releases, ch->desc.readers,
				      credit_of(ch, tag, page), epoch, 1);
	if (rc < 0)
		return wic_fail(rc, "epoch %" PRIu64 " of tag %u is not held here", epoch, tag);
	if (rc)
		wic_cpu_channel_wake_stages(ch);
	return 0;
}

uint64_t wic_cpu_push_released(const struct wic_be_channel *ch, uint32_t tag)
{
	uint64_t a = wic_t_acquire(credit_of(ch, tag, 0)), b = wic_t_acquire(credit_of(ch, tag, 1));

	return a > b ? a : b;
}

uint64_t wic_cpu_push_all_released(const struct wic_be_channel *ch, uint32_t tag)
{
	uint64_t released = wic_cpu_push_released(ch, tag);
	uint64_t before = wic_cpu_push_unreleased(ch, tag);

	before -= before > 0;
	return released < before ? released : before;
}

/* ---- waiting ---------------------------------------------------------------------------- */

/*
 * One of a set that is not there, first of all one whose producer is gone: it ends the wait.  NULL:
 * all are there, or there is no set.
 */
static const struct wic_ref *missing(const struct cpu_request *req)
{
	const struct wic_ref *first = NULL;

	for (uint32_t i = 0; i < req->ref_count; i++) {
		const struct wic_ref *ref = &req->refs[i];

		if (cpu_channel_truth(req->ch, ref->tag) >= ref->epoch)
			continue;
		if (__atomic_load_n(&req->ch->tags[ref->tag].is_dead, __ATOMIC_ACQUIRE))
			return ref;
		first = first ? first : ref;
	}
	return first;
}

/* A missing one, for the request and for who lists it; false: all are there. */
static bool find_missing(struct cpu_warp *w)
{
	const struct wic_ref *ref = missing(&w->req);

	if (!ref)
		return false;
	pthread_mutex_lock(&w->sm->tree_lock);
	w->req.missing_tag = ref->tag;
	w->req.missing_epoch = ref->epoch;
	pthread_mutex_unlock(&w->sm->tree_lock);
	return true;
}

/* The word that a request waits for, and its value. */
static uint64_t *word_of(const struct cpu_request *req, uint64_t *want_out)
{
	const struct wic_be_channel *ch = req->ch;
	uint32_t tag = req->ref_count ? req->missing_tag : req->tag;

	*want_out = req->ref_count ? req->missing_epoch : req->epoch;
	/* Where another producer of the tag has taken that page meanwhile, it is the other's. */
	if (req->for_credit)
		return credit_of(ch, tag, epoch_on(ch, tag, 0) != req->epoch);
	if (tag == ch->desc.tags)
		tag = lines_of(tag) * WIC_TREE_LINE_TAGS;
	return wic_tree_tag_word(ch->push->lines, tag);
}

/*
 * Until the word is there or the deadline, with a warning of an old wait.  Of a set: or for a
 * moment, since the producer of another of its tags may be gone.
 */
static int wait_for_req(struct cpu_warp *w)
{
	struct cpu_request *req = &w->req;
	uint64_t warn = req->since_ns + WIC_MS((uint64_t)w->sm->be->cfg.warn_after_ms), want;
	uint64_t moment = req->ref_count > 1 ? wic_now_ns() + CPU_CANCEL_TICK_NS : WIC_FOREVER;
	uint64_t *word = word_of(req, &want);
	struct wic_lot *lot = &w->sm->lots[w->index / WIC_WARPS_MAX];

	for (;;) {
		uint64_t now = wic_now_ns();
		uint64_t until =
			req->is_warned || req->deadline_ns < warn ? req->deadline_ns : warn;
		bool is_moment = moment < until;
		int rc;

		until = is_moment ? moment : until;
		rc = wic_tree_wait_(lot, (uint64_t)(uintptr_t)word, want,
				    until > now ? until - now : 0, 1);
		req->epoch_seen = wic_t_load(word);
		if (rc == -ETIMEDOUT && is_moment)
			return 0;
		if (rc != -ETIMEDOUT || until == req->deadline_ns)
			return rc;
		wic_cpu_waiters_warn(req);
	}
}

/* One a wait: from now on it only waits for its turn. */
static void note_wake(struct cpu_warp *w)
{
	if (!w->is_woken)
		wic_cpu_sm_event(w->sm, w, WIC_EVENT_WAKE, w->req.tag, w->req.epoch);
	w->is_woken = true;
}

void wic_cpu_push_arrived(struct cpu_warp *w)
{
	const struct wic_lot *lot = &w->sm->lots[w->index / WIC_WARPS_MAX];

	/* A wait for a word has no events. */
	if (!w->in_tree)
		return;
	/* Neither the role of the watcher nor one tag of a set ends a wait. */
	if (wic_t_lot_load(&lot->watcher) != w->index % WIC_WARPS_MAX + 1 && !missing(&w->req))
		note_wake(w);
}

void wic_cpu_push_joined(struct wic_lot *lot)
{
	struct cpu_sm *sm = cpu_sm_self();
	struct cpu_warp *w = cpu_warp_self(sm);
	uint32_t watcher = wic_t_lot_load(&lot->watcher);
	uint64_t now = wic_now_ns();

	/* The next moment of a wait that is old. */
	if (now - w->req.since_ns > JOIN_NS || !watcher)
		return;
	wic_t_lot_store64(&lot->since, now);
	wic_cpu_sm_wake(&sm->warps[w->index / WIC_WARPS_MAX * WIC_WARPS_MAX + watcher - 1]);
}

static void set_in_tree(struct cpu_warp *w, bool is)
{
	pthread_mutex_lock(&w->sm->tree_lock);
	w->in_tree = is;
	pthread_mutex_unlock(&w->sm->tree_lock);
}

int wic_cpu_push_park(struct cpu_warp *w)
{
	struct cpu_request *req = &w->req;
	int rc;

	req->status = 0;
	if (req->ref_count && !find_missing(w))
		return 0; /* published since the look */
	cpu_count_add(w->sm->count.parks, 1);
	w->is_woken = false;
	wic_cpu_sm_event(w->sm, w, WIC_EVENT_PARK, req->tag, req->epoch);
	set_in_tree(w, true);
	do {
		rc = wait_for_req(w);
	} while (!rc && req->ref_count && find_missing(w));
	set_in_tree(w, false);
	note_wake(w); /* it watched, or ended by itself */
	if (rc == -ECANCELED && cpu_be_is_dead(w->sm->be))
		rc = -EIO;
	if (rc == -ETIMEDOUT)
		cpu_count_add(w->sm->count.timeouts, 1);
	req->status = rc;
	return rc;
}

static int describe_word(const struct cpu_warp *w, int rc, const uint64_t *word, uint64_t at_least,
			 uint64_t since_ns)
{
	return wic_fail(rc,
			"block %u warp %u waited %" PRIu64 " us for a word to be at least %" PRIu64
			", saw %" PRIu64 ": %s",
			w->view.block_id, w->view.warp_id, (wic_now_ns() - since_ns) / 1000,
			at_least, wic_t_load(word), wic_strerror(rc));
}

int wic_wait_word(struct wic_lot *lot, const uint64_t *word, uint64_t at_least, uint64_t timeout_ns)
{
	struct cpu_warp *w = wic_cpu_request_self("wic_wait_word");
	uint64_t since = wic_now_ns(), deadline = wic_deadline_ns(since, timeout_ns), now = since;
	int rc;

	(void)lot;
	if (!w)
		return -EINVAL;
	if (!word || (uintptr_t)word % sizeof(*word))
		return wic_fail(-EINVAL, word ? "the word is not aligned to 8 bytes" : "no word");
	w->req.since_ns = since; /* WIC_T_BEGAN() */
	cpu_count_add(w->sm->count.requests, 1);
	if (wic_t_acquire(word) >= at_least) {
		cpu_count_add(w->sm->count.hits, 1);
		return 0;
	}
	cpu_count_add(w->sm->count.parks, timeout_ns > 0);
	for (;;) {
		/* Nobody wakes it for a cancel. */
		uint64_t left =
			deadline - now < CPU_CANCEL_TICK_NS ? deadline - now : CPU_CANCEL_TICK_NS;

		rc = wic_tree_wait_word(&w->sm->lots[w->index / WIC_WARPS_MAX], word, at_least,
					left, 1);
		if (!rc)
			return 0;
		if (!timeout_ns)
			return -EAGAIN;
		now = wic_now_ns();
		if (cpu_be_is_dead(w->sm->be))
			rc = -EIO;
		else if (cpu_be_is_cancelled(w->sm->be))
			rc = -ECANCELED;
		else if (now < deadline)
			continue;
		cpu_count_add(w->sm->count.timeouts, rc == -ETIMEDOUT);
		return describe_word(w, rc, word, at_least, since);
	}
}
