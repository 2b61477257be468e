// SPDX-License-Identifier: MIT OR GPL-2.0
/* Waits of wic/kernel.h for more than one tag: all of a set, any of a range. */
#include <errno.h>
#include <inttypes.h>

#include "backends/cpu/request.h"
#include "core/dep.h"
#include "lib/log.h"

/* Bound of a round trip for data that is published. */
#define ROUND_TRIP_NS WIC_S(1)

static bool is_published(const struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	return cpu_channel_truth(ch, tag) >= epoch;
}

static int check_set(const struct cpu_warp *w, const struct wic_handle *h,
		     const struct wic_ref *refs, uint32_t count)
{
	int rc = 0;

	if (!refs || !count)
		return wic_fail(-EINVAL, "an empty set");
	if (count > WIC_SET_MAX)
		return wic_fail(-E2BIG, "a set of %u tags, at most %u", count, WIC_SET_MAX);
	for (uint32_t i = 0; i < count && !rc; i++) {
		rc = wic_cpu_request_check(w, h, refs[i].tag, refs[i].epoch);
		if (!rc && refs[i].reserved)
			rc = wic_fail(-EINVAL, "reserved of reference %u is %u, not 0", i,
				      refs[i].reserved);
	}
	return rc;
}

static bool set_is_published(const struct wic_be_channel *ch, const struct wic_ref *refs,
			     uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!is_published(ch, refs[i].tag, refs[i].epoch))
			return false;
	return true;
}

static int wait_set(struct cpu_warp *w, struct wic_be_channel *ch, const struct wic_ref *refs,
		    uint32_t count, uint64_t timeout_ns)
{
	uint64_t deadline = wic_deadline_ns(wic_now_ns(), timeout_ns);

	bool was_open = false;

	while (!set_is_published(ch, refs, count)) {
		int rc = wic_cpu_request_may_park(ch, timeout_ns, was_open);

		if (rc)
			return rc;
		was_open = true;
		w->req.ch = ch;
		w->req.tag = refs[0].tag;
		w->req.epoch = refs[0].epoch;
		w->req.pages = 0;
		w->req.for_credit = false;
		w->req.refs = refs;
		w->req.ref_count = count;
		w->req.missing_tag = refs[0].tag;
		w->req.missing_epoch = refs[0].epoch;
		w->req.deadline_ns = deadline;
		rc = wic_cpu_request_park(w);
		if (rc)
			return rc;
		/* The engine may have had room for a part of the set only. */
	}
	return 0;
}

int wic_wait_all(const struct wic_handle *h, struct wic_lot *lot, const struct wic_ref *refs,
		 uint32_t count, uint64_t timeout_ns)
{
	struct cpu_warp *w = wic_cpu_request_self("wic_wait_all");
	int rc;

	(void)lot;
	if (!w)
		return -EINVAL;
	rc = check_set(w, h, refs, count);
	if (rc)
		return rc;
	cpu_count_add(w->sm->count.requests, 1);
	return wait_set(w, h->channel, refs, count, timeout_ns);
}

/* What is left of a timeout; 0 stays 0, and what has run out becomes the shortest. */
static uint64_t left_ns(uint64_t deadline_ns, uint64_t timeout_ns)
{
	uint64_t now;

	if (!timeout_ns || timeout_ns == WIC_FOREVER)
		return timeout_ns;
	now = wic_now_ns();
	return now < deadline_ns ? deadline_ns - now : 1;
}

static int check_set_data(const struct cpu_warp *w, const struct wic_handle *h,
			  const struct wic_ref *refs, uint32_t count)
{
	const struct wic_be_channel *ch;
	int rc = check_set(w, h, refs, count);

	if (rc)
		return rc;
	ch = h->channel;
	if (!ch->pages_per_tag)
		return wic_fail(-EINVAL, "a channel of signals has no data to request");
	if (!ch->push && (uint64_t)ch->pages_per_tag * count > wic_pool_usable(ch->dev->pool))
		return wic_fail(-E2BIG, "a set of %u tags of %u pages, the pool has %u", count,
				ch->pages_per_tag, wic_pool_usable(ch->dev->pool));
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (refs[i].tag == refs[j].tag)
				return wic_fail(-EINVAL, "tag %u is twice in the set", refs[i].tag);
	return 0;
}

/* The pages of all, or a place in the queue for all: of two sets neither waits for the other. */
static int pin_set(struct cpu_warp *w, struct wic_be_channel *ch, const struct wic_ref *refs,
		   uint32_t count, uint32_t *pins, uint64_t timeout_ns)
{
	int rc = wic_cpu_request_may_park(ch, timeout_ns, true);

	if (rc)
		return rc;
	w->req.ch = ch;
	w->req.tag = refs[0].tag;
	w->req.epoch = refs[0].epoch;
	w->req.pages = ch->pages_per_tag;
	w->req.for_credit = false;
	w->req.refs = refs;
	w->req.pins = pins;
	w->req.ref_count = count;
	w->req.missing_tag = refs[0].tag;
	w->req.missing_epoch = refs[0].epoch;
	w->req.deadline_ns = wic_deadline_ns(wic_now_ns(), timeout_ns);
	return wic_cpu_request_park(w);
}

static void unpin_set(struct cpu_warp *w, struct wic_be_channel *ch, const struct wic_ref *refs,
		      uint32_t count, const uint32_t *pins)
{
	pthread_mutex_lock(&ch->dev->lock);
	for (uint32_t i = 0; i < count; i++)
		ch->dev->holds[pins[i]].pins--;
	pthread_mutex_unlock(&ch->dev->lock);
	for (uint32_t i = 0; i < count; i++)
		wic_cpu_request_leave_hold(w, refs[i].epoch, pins[i]);
}

/* Nothing is given back after an error: data that nobody has read is there for the next try. */
static int request_each(const struct wic_handle *h, struct wic_ref *refs, uint32_t count,
			uint64_t timeout_ns)
{
	void *data[WIC_SET_MAX];

	for (uint32_t i = 0; i < count; i++) {
		int rc = wic_request(h, NULL, refs[i].tag, refs[i].epoch, timeout_ns, &data[i]);

		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < count; i++)
		refs[i].data = data[i];
	return 0;
}

/* All is published: its data, in one bounded round trip a tag. */
static int request_pinned(struct cpu_warp *w, const struct wic_handle *h, struct wic_ref *refs,
			  uint32_t count, uint64_t timeout_ns)
{
	struct wic_be_channel *ch = h->channel;
	uint32_t pins[WIC_SET_MAX];
	int rc = pin_set(w, ch, refs, count, pins, timeout_ns);

	if (rc)
		return rc;
	/*
	 * A deadline between two would leave pages with data that nobody holds, and others
	 * waiting for them.
	 */
	rc = request_each(h, refs, count, ROUND_TRIP_NS);
	unpin_set(w, ch, refs, count, pins);
	return rc;
}

int wic_request_all(const struct wic_handle *h, struct wic_lot *lot, struct wic_ref *refs,
		    uint32_t count, uint64_t timeout_ns)
{
	struct cpu_warp *w = wic_cpu_request_self("wic_request_all");
	const struct wic_be_channel *ch;
	uint64_t deadline;
	bool was_open;
	int rc;

	(void)lot;
	if (!w)
		return -EINVAL;
	rc = check_set_data(w, h, refs, count);
	if (rc)
		return rc;
	ch = h->channel;
	was_open = !cpu_channel_is_closed(ch);
	deadline = wic_deadline_ns(wic_now_ns(), timeout_ns);
	rc = request_each(h, refs, count, 0);
	if (rc != -EAGAIN || !timeout_ns)
		return rc;
	/* Pages only once everything is there: a set that waits holds none. */
	rc = wait_set(w, h->channel, refs, count, timeout_ns);
	if (!rc && ch->push)
		rc = request_each(h, refs, count, ROUND_TRIP_NS);
	else if (!rc)
		rc = request_pinned(w, h, refs, count, left_ns(deadline, timeout_ns));
	return rc == -EINVAL && was_open && cpu_channel_is_closed(ch)
		       ? wic_fail(-ECANCELED, "the channel was closed meanwhile")
		       : rc;
}

/* Take (tag, epoch) if it is ready and nobody has; *before_out: what was claimed before. */
static bool claim(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, uint64_t *before_out)
{
	uint64_t *claimed = &ch->tags[tag].claimed;
	uint64_t before = __atomic_load_n(claimed, __ATOMIC_RELAXED);

	while (before < epoch) {
		if (__atomic_compare_exchange_n(claimed, &before, epoch, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			*before_out = before;
			return true;
		}
	}
	return false;
}

struct range {
	uint32_t first;
	uint32_t count;
	uint64_t epoch;
};

/*
 * 0: *tag_out is this warp's.  -EAGAIN: none is ready; -EOWNERDEAD: and none of those
 * left will be; -ENOENT: none is left.  Warps begin at different tags, so that they do not
 * all try for the same.
 */
static int claim_any(const struct cpu_warp *w, struct wic_be_channel *ch, const struct range *r,
		     uint32_t *tag_out, uint64_t *before_out)
{
	uint32_t me = w->view.block_id * w->view.block_warps + w->view.warp_id;
	uint32_t left = 0, dead = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		uint32_t tag = r->first + (me + i) % r->count;
		const struct cpu_tag *t = &ch->tags[tag];
		uint32_t is_dead;

		if (__atomic_load_n(&t->claimed, __ATOMIC_RELAXED) >= r->epoch)
			continue;
		/* Dead first: what was published before the death is seen after it. */
		is_dead = __atomic_load_n(&t->is_dead, __ATOMIC_ACQUIRE);
		if (!is_published(ch, tag, r->epoch)) {
			left++;
			dead += is_dead;
			continue;
		}
		/* Lost to another warp, it is not left: no publish would follow it. */
		if (claim(ch, tag, r->epoch, before_out)) {
			*tag_out = tag;
			return 0;
		}
	}
	if (!left)
		return wic_fail(-ENOENT, "all %u tags from %u on are claimed at epoch %" PRIu64,
				r->count, r->first, r->epoch);
	if (dead == left)
		return wic_fail(-EOWNERDEAD, "the producer of the %u tags left is gone", left);
	return -EAGAIN;
}

/* Until a tag of the range is claimed, or none will be. */
static int claim_wait(struct cpu_warp *w, struct wic_be_channel *ch, const struct range *r,
		      uint64_t timeout_ns, uint32_t *tag_out, uint64_t *before_out)
{
	uint64_t deadline = wic_deadline_ns(wic_now_ns(), timeout_ns);
	int rc = claim_any(w, ch, r, tag_out, before_out);
	bool was_open = false;

	if (rc != -EAGAIN)
		return rc;
	/* Pairs with wake_next(): the looks below come after it is seen. */
	__atomic_fetch_add(&ch->next_waiters, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		uint64_t seq = ch->push ? wic_cpu_push_count(ch)
					: __atomic_load_n(&ch->publish_seq, __ATOMIC_ACQUIRE);

		rc = claim_any(w, ch, r, tag_out, before_out);
		if (rc != -EAGAIN)
			break;
		rc = wic_cpu_request_may_park(ch, timeout_ns, was_open);
		if (rc)
			break;
		was_open = true;
		w->req.ch = ch;
		w->req.tag = ch->desc.tags; /* the channel's publishes */
		w->req.epoch = seq + 1;
		w->req.pages = 0;
		w->req.for_credit = false;
		w->req.deadline_ns = deadline;
		rc = wic_cpu_request_park(w);
		if (rc)
			break;
	}
	__atomic_fetch_sub(&ch->next_waiters, 1, __ATOMIC_RELAXED);
	return rc;
}

/* The data did not come: let others have it. */
static void unclaim(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, uint64_t before)
{
	__atomic_compare_exchange_n(&ch->tags[tag].claimed, &epoch, before, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	wic_cpu_channel_look_again(ch, tag);
}

int wic_next(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag_first,
	     uint32_t tag_count, uint64_t epoch, uint64_t timeout_ns, uint32_t *tag_out,
	     void **data_out)
{
	const struct range r = { tag_first, tag_count, epoch };
	struct cpu_warp *w = wic_cpu_request_self("wic_next");
	struct wic_be_channel *ch;
	uint64_t deadline, before;
	uint32_t tag;
	int rc;

	if (!w)
		return -EINVAL;
	rc = wic_cpu_request_check(w, h, tag_first, epoch);
	if (rc)
		return rc;
	ch = h->channel;
	if (!tag_out || (ch->pages_per_tag && !data_out))
		return wic_fail(-EINVAL, "nowhere to put the %s", tag_out ? "data" : "tag");
	if (!tag_count || tag_count > ch->desc.tags - tag_first)
		return wic_fail(-EINVAL, "%u tags from %u on, of %u", tag_count, tag_first,
				ch->desc.tags);
	deadline = wic_deadline_ns(wic_now_ns(), timeout_ns);
	do {
		rc = claim_wait(w, ch, &r, left_ns(deadline, timeout_ns), &tag, &before);
		if (rc)
			return rc;
		if (!ch->pages_per_tag)
			break;
		/* What is ready and claimed comes in one bounded round trip. */
		rc = wic_request(h, lot, tag, epoch,
				 timeout_ns ? left_ns(deadline, timeout_ns) : ROUND_TRIP_NS,
				 data_out);
		/* Gone: nobody will get it, so it stays claimed. */
	} while (rc == -EINVAL && !cpu_channel_is_closed(ch));
	if (rc) {
		unclaim(ch, tag, epoch, before);
		return rc;
	}
	if (!ch->pages_per_tag && data_out)
		*data_out = NULL;
	*tag_out = tag;
	return 0;
}
