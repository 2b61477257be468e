// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Host threads at an end of a channel.  One that waits is a warp of the tree, like those on the
 * GPU: of up to 32 in a lot one looks, with naps, and the others sleep on a futex.  So waiting
 * here is by the same code and the same rules, and needs no thread of ours.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/be.h"
#include "lib/log.h"

_Static_assert(WIC_TREE_ETIMEDOUT == -ETIMEDOUT && WIC_TREE_ECANCELED == -ECANCELED &&
		       WIC_TREE_EOWNERDEAD == -EOWNERDEAD && WIC_TREE_EINVAL == -EINVAL,
	       "the tree's errors are the system's");

int wic_cuda_hosts_init(struct cuda_hosts *hosts)
{
	hosts->lots = aligned_alloc(64, (CUDA_LOTS * sizeof(*hosts->lots) + 63) / 64 * 64);
	if (!hosts->lots)
		return wic_fail(-ENOMEM, "lots of host threads");
	for (uint32_t i = 0; i < CUDA_LOTS; i++)
		wic_tree_lot_init(&hosts->lots[i], WIC_WARPS_MAX);
	return 0;
}

void wic_cuda_hosts_fini(struct cuda_hosts *hosts)
{
	free(hosts->lots);
}

/* A place for this thread; NULL: all are taken, and it looks by itself. */
static struct wic_lot *place_take(struct cuda_hosts *hosts, uint32_t *lot_out, uint32_t *warp_out)
{
	for (uint32_t i = 0; i < CUDA_LOTS; i++) {
		uint32_t taken = __atomic_load_n(&hosts->taken[i], __ATOMIC_RELAXED);

		while (~taken) {
			uint32_t warp = (uint32_t)__builtin_ctz(~taken);

			/* Pairs with place_give(): the place is as its last thread left it. */
			if (!__atomic_compare_exchange_n(&hosts->taken[i], &taken,
							 taken | 1u << warp, true, __ATOMIC_ACQUIRE,
							 __ATOMIC_RELAXED))
				continue;
			wic_tree_thread_set(i, warp);
			*lot_out = i;
			*warp_out = warp;
			return &hosts->lots[i];
		}
	}
	return NULL;
}

static void place_give(struct cuda_hosts *hosts, uint32_t lot, uint32_t warp)
{
	__atomic_fetch_and(&hosts->taken[lot], ~(1u << warp), __ATOMIC_RELEASE);
}

/* What a thread waits for. */
struct wait {
	struct wic_be_channel *ch;
	uint32_t tag;
	uint64_t epoch;
	uint64_t timeout_ns;
	int (*call)(struct wait *w, struct wic_lot *lot, uint64_t timeout_ns);
	void *page; /* out */
};

/* Looks, then waits in the tree. */
static int wait_run(struct wait *w)
{
	struct cuda_hosts *hosts = &w->ch->be->hosts;
	uint32_t at = 0, warp = 0;
	struct wic_lot *lot;
	int rc = w->call(w, NULL, 0);

	if (rc != -ETIMEDOUT || !w->timeout_ns)
		return rc == -ETIMEDOUT ? -EAGAIN : rc;
	lot = place_take(hosts, &at, &warp);
	rc = w->call(w, lot, w->timeout_ns);
	if (lot)
		place_give(hosts, at, warp);
	return rc;
}

/* The text of a wait that ended with @rc; what was lost is more to the point than a cancel. */
static int wait_fail(const struct wait *w, int rc, const char *what, uint64_t seen, uint64_t since)
{
	const struct wic_be *be = w->ch->be;

	if (rc == -ECANCELED && wic_cuda_is_dead(be))
		return wic_cuda_check_alive(be);
	wic_cuda_reports_say(w->ch->be);
	return wic_fail(rc,
			"channel %" PRIu32 ": a host thread waited %" PRIu64 " ms for %s %" PRIu64
			" of tag %" PRIu32 ", saw %" PRIu64 ": %s%s",
			w->ch->push.id, (wic_now_ns() - since) / 1000000, what, w->epoch, w->tag,
			seen, wic_strerror(rc), rc == -ETIMEDOUT ? be->hang : "");
}

/* ---- the host produces ------------------------------------------------------------------ */

static bool tag_enter(struct wic_be_channel *ch, uint32_t tag)
{
	return !__atomic_exchange_n(&ch->busy[tag], 1, __ATOMIC_ACQUIRE);
}

static void tag_leave(struct wic_be_channel *ch, uint32_t tag)
{
	__atomic_store_n(&ch->busy[tag], 0, __ATOMIC_RELEASE);
}

static int call_stage(struct wait *w, struct wic_lot *lot, uint64_t timeout_ns)
{
	return wic_push_stage(&w->ch->push, lot, w->tag, w->epoch, timeout_ns, 1, &w->page);
}

static int fail_busy(const struct wic_be_channel *ch, uint32_t tag)
{
	return wic_fail(-EBUSY,
			"channel %" PRIu32 ": tag %" PRIu32 " is staged or published by "
			"another thread",
			ch->push.id, tag);
}

/* What is published, or will be: 0, or why it may not be. */
static int check_end(const struct wic_be_channel *ch, uint32_t tag)
{
	int rc = wic_cuda_check_alive(ch->be);

	if (rc)
		return rc;
	if (wic_cuda_end_of(ch, tag) == WIC_TREE_DIED)
		return wic_fail(-EOWNERDEAD,
				"channel %" PRIu32 ": the producer of tag %" PRIu32 " has ended",
				ch->push.id, tag);
	return 0;
}

int wic_cuda_stage(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		   void **buffer_out)
{
	struct wait w = { ch, tag, epoch, timeout_ns, call_stage, NULL };
	uint64_t since = wic_now_ns();
	int rc;

	if (!cuda_is_host(ch->desc.producer))
		return wic_fail(-EINVAL, "channel %" PRIu32 ": its producer is a device",
				ch->push.id);
	rc = check_end(ch, tag);
	if (rc)
		return rc;
	if (!tag_enter(ch, tag))
		return fail_busy(ch, tag);
	rc = wait_run(&w);
	if (!rc)
		*buffer_out = w.page;
	else if (rc == -EINVAL)
		wic_fail(rc,
			 "channel %" PRIu32 ": epoch %" PRIu64 " of tag %" PRIu32
			 " is not after the published one, %" PRIu64
			 ", or by a multiple of 2^48 after the last on its page",
			 ch->push.id, epoch, tag, ch->push.tag[tag].published);
	else if (rc != -EAGAIN)
		rc = wait_fail(&w, rc, "the page to fill with epoch", ch->push.tag[tag].published,
			       since);
	tag_leave(ch, tag);
	return rc;
}

static int check_publish(const struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	const struct wic_push_tag *t = &ch->push.tag[tag];
	int rc = check_end(ch, tag);

	if (rc)
		return rc;
	if (epoch <= t->published)
		return wic_fail(-EINVAL,
				"channel %" PRIu32 ": epoch %" PRIu64 " of tag %" PRIu32
				" is not after the published one, %" PRIu64,
				ch->push.id, epoch, tag, t->published);
	if (ch->push.stride && t->staged != epoch)
		return wic_fail(-EINVAL,
				"channel %" PRIu32 ": epoch %" PRIu64 " of tag %" PRIu32
				" is not staged",
				ch->push.id, epoch, tag);
	return 0;
}

int wic_cuda_publish(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
		     uint64_t epoch)
{
	uint32_t taken;
	int rc = 0;

	if (!cuda_is_host(ch->desc.producer))
		return wic_fail(-EINVAL, "channel %" PRIu32 ": its producer is a device",
				ch->push.id);
	/* All are checked before any is published. */
	for (taken = 0; taken < tag_count && !rc; taken++) {
		if (!tag_enter(ch, tag_first + taken)) {
			rc = fail_busy(ch, tag_first + taken);
			break;
		}
		rc = check_publish(ch, tag_first + taken, epoch);
	}
	for (uint32_t i = 0; i < tag_count && !rc; i++)
		rc = wic_push_publish(&ch->push, tag_first + i, epoch, 1);
	while (taken)
		tag_leave(ch, tag_first + --taken);
	return rc;
}

/* ---- the host consumes ------------------------------------------------------------------ */

static int call_wait(struct wait *w, struct wic_lot *lot, uint64_t timeout_ns)
{
	const struct wic_push_channel *p = &w->ch->push;

	return wic_tree_wait(lot, p->data, p->tags, w->tag, w->epoch, timeout_ns, 1);
}

static int call_request(struct wait *w, struct wic_lot *lot, uint64_t timeout_ns)
{
	return wic_push_request(&w->ch->push, lot, w->tag, w->epoch, timeout_ns, 1, &w->page);
}

int wic_cuda_host_request(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			  uint64_t timeout_ns, const void **data_out)
{
	struct wait w = { ch, tag, epoch, timeout_ns, data_out ? call_request : call_wait, NULL };
	uint64_t since = wic_now_ns(), seen;
	int rc = wait_run(&w);

	if (!rc && data_out)
		*data_out = w.page;
	if (!rc || rc == -EAGAIN)
		return rc;
	seen = __atomic_load_n(wic_tree_tag_word(ch->push.data, tag), __ATOMIC_RELAXED);
	if (rc == -EINVAL)
		return wic_fail(rc,
				"channel %" PRIu32 ": epoch %" PRIu64 " of tag %" PRIu32
				" is gone, %" PRIu64 " is published",
				ch->push.id, epoch, tag, seen);
	return wait_fail(&w, rc, "epoch", seen, since);
}

int wic_cuda_host_release(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	if (!wic_push_release(&ch->push, tag, epoch, 1))
		return 0;
	return wic_fail(-EINVAL,
			"channel %" PRIu32 ": epoch %" PRIu64 " of tag %" PRIu32
			" is not held here",
			ch->push.id, epoch, tag);
}
