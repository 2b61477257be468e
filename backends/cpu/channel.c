// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/channel.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "backends/cpu/be.h"
#include "core/dep.h"
#include "lib/log.h"

static uint32_t words_of(uint32_t bits)
{
	return (bits + 63) / 64;
}

static uint64_t buffers_of(const struct wic_be_channel *ch)
{
	return (uint64_t)ch->desc.tags * (ch->desc.mode == WIC_MODE_PUSH ? 2 : 1);
}

static void channel_free(struct wic_be_channel *ch)
{
	if (ch->staging)
		munmap(ch->staging, ch->stride * buffers_of(ch));
	wic_cpu_push_destroy(ch);
	free(ch->changed_words);
	free(ch->changed);
	free(ch->dir);
	wic_cpu_pat_fini(&ch->pat);
	free(ch->tags);
	free(ch);
}

static int channel_alloc(struct wic_be_channel *ch)
{
	uint32_t tags = ch->desc.tags;
	uint64_t bytes;

	/* One more, for what wic_next() waits for. */
	ch->tags = calloc((size_t)tags + 1, sizeof(*ch->tags));
	ch->dir = calloc(tags, sizeof(*ch->dir));
	ch->changed = calloc(words_of(tags), sizeof(*ch->changed));
	ch->changed_words = calloc(words_of(words_of(tags)), sizeof(*ch->changed_words));
	if (!ch->tags || !ch->dir || !ch->changed || !ch->changed_words)
		return wic_fail(-ENOMEM, "tables of a channel of %u tags", tags);
	for (uint32_t t = 0; t < tags; t++)
		ch->tags[t].hold_first = WIC_PAGE_NONE;
	if (ch->desc.flags & WIC_CHANNEL_PAT) {
		int rc = wic_cpu_pat_init(&ch->pat, tags);

		if (rc)
			return rc;
	}
	if (ch->desc.mode == WIC_MODE_PUSH) {
		int rc = wic_cpu_push_create(ch);

		if (rc)
			return rc;
	}
	if (!ch->pages_per_tag)
		return 0;
	if (__builtin_mul_overflow(ch->stride, buffers_of(ch), &bytes))
		return wic_fail(-ENOMEM, "%u tags of %" PRIu64 " bytes", tags,
				ch->desc.bytes_per_tag);
	ch->staging = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ch->staging == MAP_FAILED) {
		ch->staging = NULL;
		return wic_fail(-ENOMEM, "staging for %u tags of %" PRIu64 " bytes: %s", tags,
				ch->desc.bytes_per_tag, strerror(errno));
	}
	/* As the device's pages: a fill reads it from end to end. */
	(void)madvise(ch->staging, bytes, MADV_HUGEPAGE);
	return 0;
}

int wic_cpu_channel_create(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
			   struct wic_be_channel **ch_out)
{
	struct wic_be_channel *ch;
	uint64_t pages = (d->bytes_per_tag + WIC_PAGE_BYTES - 1) / WIC_PAGE_BYTES;
	int rc;

	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return wic_fail(-ENOMEM, "a channel");
	ch->be = be;
	ch->id = id;
	ch->dev = cpu_be_device(be, d->consumer);
	ch->desc = *d;
	ch->pages_per_tag = (uint32_t)pages;
	ch->stride = pages * WIC_PAGE_BYTES;
	rc = channel_alloc(ch);
	if (!rc && ch->dev->index == be->dev_count && pages && !ch->push)
		rc = wic_cpu_host_window(be);
	if (rc)
		goto err_free;
	rc = wic_cpu_monitor_call(&be->mon, wic_cpu_monitor_open_channel, ch);
	if (rc == -ENOMEM)
		wic_fail(rc, "no room for another channel of %u tags (%u channels, %u tags in all)",
			 d->tags, CPU_CHANNELS_MAX, CPU_TAGS_MAX);
	else if (rc == -EIO)
		wic_fail(rc, "the context is dead");
	if (rc)
		goto err_free;
	*ch_out = ch;
	return 0;

err_free:
	channel_free(ch);
	return rc;
}

void wic_cpu_channel_close(struct wic_be_channel *ch)
{
	int rc;

	__atomic_store_n(&ch->closed, 1, __ATOMIC_RELEASE);
	if (ch->push)
		wic_cpu_push_end(ch, 0, ch->desc.tags, CPU_PUSH_CLOSED);
	rc = wic_cpu_monitor_call(&ch->be->mon, wic_cpu_monitor_close_channel, ch);
	WIC_ASSERT(!rc || rc == -EIO);
	wic_cpu_channel_wake_stages(ch);
}

void wic_cpu_channel_wake_stages(struct wic_be_channel *ch)
{
	__atomic_fetch_add(&ch->fill_seq, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&ch->stage_waiters, __ATOMIC_SEQ_CST))
		wic_cpu_futex_wake_all(&ch->fill_seq);
}

void wic_cpu_channel_enter(struct wic_be_channel *ch)
{
	__atomic_fetch_add(&ch->callers, 1, __ATOMIC_RELAXED);
}

void wic_cpu_channel_leave(struct wic_be_channel *ch)
{
	/* Pairs with the acquire of the destroyer: nothing of the channel is used after this. */
	__atomic_fetch_sub(&ch->callers, 1, __ATOMIC_RELEASE);
}

void wic_cpu_channel_destroy(struct wic_be_channel *ch)
{
	const struct timespec moment = { 0, 100000 };
	int rc;

	/* The close has ended their waits: they are on their way out. */
	while (__atomic_load_n(&ch->callers, __ATOMIC_ACQUIRE))
		nanosleep(&moment, NULL);

	/* No kernel uses the channel now, so whatever pages it holds are nobody's. */
	rc = wic_cpu_monitor_call(&ch->be->mon, wic_cpu_monitor_free_channel, ch);
	WIC_ASSERT(!rc || rc == -EIO);
	wic_cpu_pat_wait_for_handlers(&ch->be->mon);
	channel_free(ch);
}

void wic_cpu_channel_handle(const struct wic_be_channel *ch, struct wic_handle *handle_out)
{
	*handle_out = (struct wic_handle){
		.dir = ch->dir,
		.data = ch->dev->win.data,
		.channel = (void *)(uintptr_t)ch,
		.bytes_per_tag = ch->desc.bytes_per_tag,
		.tags = ch->desc.tags,
		.tags_inline = ch->desc.readers == 1 && !ch->push ? ch->desc.tags : 0,
		.consumer = cpu_be_device_word(ch->be, ch->desc.consumer),
		.producer = cpu_be_device_word(ch->be, ch->desc.producer),
	};
}

/*
 * One thread a tag at a time.  Acquire pairs with tag_leave(): its plain fields are ours.
 * The Monitor, which publishes what a warp stored, is waited for: to the caller it is no
 * other thread, and it is there for some instructions only.
 */
static int tag_enter(struct cpu_tag *t, uint32_t tag, enum cpu_tag_user user)
{
	uint32_t there = CPU_TAG_FREE;

	while (!__atomic_compare_exchange_n(&t->busy, &there, user, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (there == CPU_TAG_CALLER)
			return wic_fail(-EBUSY, "another thread stages or publishes tag %u", tag);
		there = CPU_TAG_FREE;
		sched_yield();
	}
	return 0;
}

static void tag_leave(struct cpu_tag *t)
{
	__atomic_store_n(&t->busy, CPU_TAG_FREE, __ATOMIC_RELEASE);
}

/*
 * Under the tag's busy, where the answer holds until tag_leave(): wic_cpu_channel_owner_died()
 * waits for whoever entered without having seen it.
 */
static int tag_check_owner(const struct cpu_tag *t, uint32_t tag)
{
	if (__atomic_load_n(&t->is_dead, __ATOMIC_RELAXED))
		return wic_fail(-EOWNERDEAD, "the producer of tag %u is gone", tag);
	return 0;
}

/*
 * The buffer is free when the device has its copy of what was published last; in push mode
 * when the page's readers are done.
 */
static bool buffer_is_free(const struct wic_be_channel *ch, uint32_t tag)
{
	const struct cpu_tag *t = &ch->tags[tag];
	uint64_t truth = __atomic_load_n(&t->truth, __ATOMIC_RELAXED);

	if (ch->push)
		return wic_cpu_push_buffer_is_free(ch, tag);
	/* Pairs with the Monitor's release: its reads of the buffer are over. */
	return __atomic_load_n(&t->filled, __ATOMIC_ACQUIRE) >= truth;
}

static int buffer_wait(struct wic_be_channel *ch, uint32_t tag, uint64_t timeout_ns)
{
	struct cpu_tag *t = &ch->tags[tag];
	uint64_t now = wic_now_ns(), deadline = wic_deadline_ns(now, timeout_ns);
	int rc = 0;

	__atomic_fetch_add(&ch->stage_waiters, 1, __ATOMIC_SEQ_CST);
	while (!buffer_is_free(ch, tag)) {
		uint32_t seq = __atomic_load_n(&ch->fill_seq, __ATOMIC_SEQ_CST);

		if (buffer_is_free(ch, tag))
			break;
		rc = tag_check_owner(t, tag);
		if (rc)
			break;
		if (cpu_channel_is_closed(ch)) {
			rc = wic_fail(-ECANCELED, "the channel was closed while tag %u was staged",
				      tag);
			break;
		}
		if (cpu_be_is_dead(ch->be)) {
			rc = wic_fail(-EIO, "the context is dead");
			break;
		}
		if (cpu_be_is_cancelled(ch->be)) {
			rc = wic_fail(-ECANCELED, "all waits are cancelled: wic_cancel()");
			break;
		}
		now = wic_now_ns();
		if (now >= deadline) {
			rc = ch->push ? wic_fail(-ETIMEDOUT,
						 "tag %u was not released in time at epoch "
						 "%" PRIu64 " (published: %" PRIu64 ")",
						 tag, wic_cpu_push_unreleased(ch, tag), t->truth)
				      : wic_fail(-ETIMEDOUT,
						 "tag %u was not requested in time at epoch "
						 "%" PRIu64,
						 tag, t->truth);
			break;
		}
		/* Nobody wakes for wic_cancel(). */
		wic_cpu_futex_wait(&ch->fill_seq, seq,
				   deadline - now < CPU_CANCEL_TICK_NS ? deadline - now
								       : CPU_CANCEL_TICK_NS);
	}
	__atomic_fetch_sub(&ch->stage_waiters, 1, __ATOMIC_SEQ_CST);
	return rc;
}

static int publish_check(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	struct cpu_tag *t = &ch->tags[tag];
	uint64_t truth = __atomic_load_n(&t->truth, __ATOMIC_RELAXED);
	int rc = tag_check_owner(t, tag);

	if (rc)
		return rc;
	if (epoch <= truth)
		return wic_fail(-EINVAL,
				"epoch %" PRIu64 " of tag %u is not after the published %" PRIu64,
				epoch, tag, truth);
	if (ch->pages_per_tag && t->staged != epoch)
		return wic_fail(-EINVAL,
				"epoch %" PRIu64 " of tag %u was not staged (%" PRIu64 " was)",
				epoch, tag, t->staged);
	return 0;
}

/* Say which tag changed: bottom up, so that whoever sees a bit finds those below it. */
static void mark_changed(struct wic_be_channel *ch, uint32_t tag)
{
	uint32_t word = tag / 64;

	__atomic_fetch_or(&ch->changed[word], 1ull << tag % 64, __ATOMIC_RELEASE);
	__atomic_fetch_or(&ch->changed_words[word / 64], 1ull << word % 64, __ATOMIC_RELEASE);
}

static void knock(struct wic_be_channel *ch)
{
	if (cpu_channel_is_in_tree(ch))
		return;
	__atomic_fetch_or(&ch->be->mon.changed_channels, 1ull << ch->index, __ATOMIC_RELEASE);
	wic_cpu_gate_knock(&ch->be->mon.gate);
}

/* The tag is entered and the epoch checked; a knock() has to follow. */
static void tag_publish(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	if (ch->push)
		wic_cpu_push_publish(ch, tag, epoch);
	else
		/* Pairs with the acquire of the Monitor and of wic_wait(). */
		__atomic_store_n(&ch->tags[tag].truth, epoch, __ATOMIC_RELEASE);
	if (!cpu_channel_is_in_tree(ch))
		mark_changed(ch, tag);
}

/*
 * What a warp stored to the tag's availability word and the Monitor has not seen yet: the
 * buffer is not free before that is published.  The tag is entered.
 */
static void publish_stored(struct wic_be_channel *ch, uint32_t tag)
{
	uint64_t epoch = __atomic_load_n(&ch->pat.words[tag], __ATOMIC_ACQUIRE);
	struct cpu_tag *t = &ch->tags[tag];

	if (epoch <= __atomic_load_n(&t->truth, __ATOMIC_RELAXED) || epoch != t->staged)
		return;
	tag_publish(ch, tag, epoch);
	knock(ch);
}

int wic_cpu_channel_publish_word(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	struct cpu_tag *t = &ch->tags[tag];
	int rc = tag_enter(t, tag, CPU_TAG_MONITOR);
	bool is_new;

	if (rc)
		return rc;
	/* Published already where the warp has staged the next epoch meanwhile. */
	is_new = epoch > __atomic_load_n(&t->truth, __ATOMIC_RELAXED);
	if (is_new)
		rc = publish_check(ch, tag, epoch);
	if (is_new && !rc)
		tag_publish(ch, tag, epoch);
	tag_leave(t);
	if (is_new && !rc)
		knock(ch);
	return rc;
}

static int stage_check(const struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	const struct cpu_tag *t = &ch->tags[tag];
	uint64_t truth = __atomic_load_n(&t->truth, __ATOMIC_RELAXED);
	int rc = tag_check_owner(t, tag);

	if (!rc && epoch <= truth)
		rc = wic_fail(-EINVAL,
			      "epoch %" PRIu64 " of tag %u is not after the published %" PRIu64,
			      epoch, tag, truth);
	/* What is published now, no warp gets. */
	if (!rc && cpu_be_is_dead(ch->be))
		rc = wic_fail(-EIO, "the context is dead");
	return rc;
}

int wic_cpu_channel_stage(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			  uint64_t timeout_ns, void **buffer_out)
{
	struct cpu_tag *t = &ch->tags[tag];
	bool waits = false;
	int rc = tag_enter(t, tag, CPU_TAG_CALLER);

	if (rc)
		return rc;
	if (ch->pat.words)
		publish_stored(ch, tag);
	rc = stage_check(ch, tag, epoch);
	if (!rc && !buffer_is_free(ch, tag) && !timeout_ns)
		rc = -EAGAIN;
	else if (!rc && !buffer_is_free(ch, tag)) {
		waits = true;
		wic_cpu_channel_enter(ch);
		rc = buffer_wait(ch, tag, timeout_ns);
	}
	if (!rc) {
		t->staged = epoch;
		*buffer_out = ch->push ? wic_cpu_push_buffer(ch, tag)
				       : ch->staging + (uint64_t)tag * ch->stride;
	}
	tag_leave(t);
	if (waits)
		wic_cpu_channel_leave(ch);
	return rc;
}

void wic_cpu_channel_set_filled(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	__atomic_store_n(&ch->tags[tag].filled, epoch, __ATOMIC_RELEASE);
	wic_cpu_channel_wake_stages(ch);
}

int wic_cpu_channel_publish(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
			    uint64_t epoch)
{
	uint32_t entered = 0, tag;
	int rc = 0;

	for (tag = tag_first; !rc && entered < tag_count; tag++) {
		rc = tag_enter(&ch->tags[tag], tag, CPU_TAG_CALLER);
		if (rc)
			break;
		entered++;
		rc = publish_check(ch, tag, epoch);
	}
	for (uint32_t i = 0; i < entered; i++) {
		if (!rc)
			tag_publish(ch, tag_first + i, epoch);
		tag_leave(&ch->tags[tag_first + i]);
	}
	if (rc)
		return rc;
	knock(ch);
	return 0;
}

void wic_cpu_channel_look_again(struct wic_be_channel *ch, uint32_t tag)
{
	if (ch->push)
		wic_cpu_push_look_again(ch);
	mark_changed(ch, tag);
	knock(ch);
}

/*
 * Until nobody is at the tag who has not seen it dead.  A read-modify-write: either it comes
 * before an enter, whose acquire then pairs with its release, or it sees that one there.
 * What they published is seen: the acquire pairs with tag_leave().
 */
static void tag_wait_until_left(struct cpu_tag *t)
{
	uint32_t there = CPU_TAG_FREE;

	while (!__atomic_compare_exchange_n(&t->busy, &there, CPU_TAG_FREE, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED)) {
		there = CPU_TAG_FREE;
		sched_yield();
	}
}

void wic_cpu_channel_owner_died(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count)
{
	struct wic_cpu_monitor_death death = { ch, tag_first, tag_count };
	int rc;

	for (uint32_t i = 0; i < tag_count; i++)
		__atomic_store_n(&ch->tags[tag_first + i].is_dead, 1, __ATOMIC_RELEASE);
	wic_cpu_channel_wake_stages(ch);
	for (uint32_t i = 0; i < tag_count; i++)
		tag_wait_until_left(&ch->tags[tag_first + i]);
	if (ch->push)
		wic_cpu_push_end(ch, tag_first, tag_count, CPU_PUSH_DIED);
	/*
	 * After the publishes that came before it, or what was published would be dead; their
	 * bits are set, if not yet that of the channel.
	 */
	knock(ch);
	rc = wic_cpu_monitor_call(&ch->be->mon, wic_cpu_monitor_owner_died, &death);
	WIC_ASSERT(!rc || rc == -EIO || cpu_channel_is_closed(ch));
	wic_cpu_channel_look_again(ch, tag_first);
}
