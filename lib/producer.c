/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Producer handles: each owns some lines of 16 tags of a channel.  Which handle owns a line
 * is one word, looked at by every stage and publish; the lists are for what is rare.
 *
 * A handle of a thread (WIC_PRODUCER_OF_THREAD) dies with it: a destructor of a
 * thread-specific value runs however the thread ends, but for the end of the process.
 *
 * Locking: one mutex for the list of all.  Nothing of a back-end is called under it: a
 * handle whose death is being told is marked, and whoever frees it waits.
 */
#include <wic/wic.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/log.h"
#include "lib/object.h"

struct wic_producer {
	struct wic_producer *next; /* of all */
	struct wic_channel *ch;
	uint32_t tag_first, tag_count;
	uint64_t id;      /* in line_owners, never 0, never again another's: dead lines keep it */
	uint32_t is_dead; /* atomic: its thread has ended */
	pthread_t thread; /* where is_of_thread */
	bool is_of_thread;
	bool is_ending; /* somebody is outside the lock with it; under lock */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct wic_producer *producers;
static uint64_t ids;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* set for threads with handles */
static int key_rc;

void wic_producer_fork_prepare(void)
{
	pthread_mutex_lock(&lock);
}

void wic_producer_fork_done(bool is_child)
{
	if (is_child)
		producers = NULL;
	pthread_mutex_unlock(&lock);
}

/* One that @match says, marked as ending; NULL: none. */
static struct wic_producer *take_ending(bool (*match)(const struct wic_producer *p))
{
	struct wic_producer *p;

	pthread_mutex_lock(&lock);
	for (p = producers; p && !match(p); p = p->next)
		;
	if (p) {
		p->is_ending = true;
		p->is_of_thread = false;
	}
	pthread_mutex_unlock(&lock);
	return p;
}

static void die(struct wic_producer *p)
{
	__atomic_store_n(&p->is_dead, 1, __ATOMIC_RELEASE);
	p->ch->ops->owner_died(p->ch->be, p->tag_first, p->tag_count);
}

static bool is_of_this_thread(const struct wic_producer *p)
{
	return p->is_of_thread && pthread_equal(p->thread, pthread_self());
}

/* The thread ends: what it has not published never comes. */
static void thread_ends(void *unused)
{
	struct wic_producer *p;

	(void)unused;
	while ((p = take_ending(is_of_this_thread))) {
		die(p);
		pthread_mutex_lock(&lock);
		p->is_ending = false;
		pthread_cond_broadcast(&ended);
		pthread_mutex_unlock(&lock);
	}
}

static void key_create(void)
{
	key_rc = -pthread_key_create(&key, thread_ends);
}

static void lines_assign(struct wic_channel *ch, const struct wic_producer *p, uint64_t id)
{
	uint32_t end = (p->tag_first + p->tag_count + WIC_LINE_TAGS - 1) / WIC_LINE_TAGS;

	for (uint32_t i = p->tag_first / WIC_LINE_TAGS; i < end; i++)
		__atomic_store_n(&ch->line_owners[i], id, __ATOMIC_RELAXED);
}

int wic_producer_check(const struct wic_channel *ch, const char *who, uint32_t tag_first,
		       uint32_t tag_count, uint64_t owner)
{
	uint32_t last = (tag_first + tag_count - 1) / WIC_LINE_TAGS;

	for (uint32_t i = tag_first / WIC_LINE_TAGS; i <= last; i++)
		if (__atomic_load_n(&ch->line_owners[i], __ATOMIC_RELAXED) != owner)
			return wic_fail(-EBUSY,
					"%s: channel %" PRIu32 ": tag %" PRIu32
					" belongs to another producer handle",
					who, ch->id,
					i * WIC_LINE_TAGS < tag_first ? tag_first
								      : i * WIC_LINE_TAGS);
	return 0;
}

static int check_open(const struct wic_channel *ch, uint32_t tag_first, uint32_t tag_count,
		      uint32_t flags)
{
	int rc = wic_object_check_thread("wic_producer_open");

	if (rc)
		return rc;
	if (!ch)
		return wic_fail(-EINVAL, "wic_producer_open: ch is NULL");
	if (!wic_object_channel_exists(ch))
		return wic_fail(-EINVAL, "wic_producer_open: %p is not a channel",
				(const void *)ch);
	if (__atomic_load_n(&ch->is_closed, __ATOMIC_RELAXED))
		return wic_fail(-EINVAL, "wic_producer_open: channel %" PRIu32 " is closed",
				ch->id);
	if (ch->d.producer.v != WIC_DEVICE_HOST_VALUE)
		return wic_fail(-EINVAL,
				"wic_producer_open: channel %" PRIu32
				": its producer is device %" PRIu32 ", not the host",
				ch->id, ch->d.producer.v);
	if (flags & ~WIC_PRODUCER_OF_THREAD)
		return wic_fail(-EINVAL, "wic_producer_open: flags are 0x%" PRIx32, flags);
	if (tag_first >= ch->d.tags || !tag_count || tag_count > ch->d.tags - tag_first)
		return wic_fail(-EINVAL,
				"wic_producer_open: channel %" PRIu32 ": %" PRIu32
				" tags from %" PRIu32 ", of %" PRIu32,
				ch->id, tag_count, tag_first, ch->d.tags);
	if (tag_first % WIC_LINE_TAGS ||
	    (tag_count % WIC_LINE_TAGS && tag_first + tag_count != ch->d.tags))
		return wic_fail(-EINVAL,
				"wic_producer_open: %" PRIu32 " tags from %" PRIu32
				", not in whole lines of %u",
				tag_count, tag_first, WIC_LINE_TAGS);
	return 0;
}

/* Into the list, unless somebody has a line of it. */
static int producer_link(struct wic_producer *p)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = wic_producer_check(p->ch, "wic_producer_open", p->tag_first, p->tag_count, 0);
	if (!rc && p->is_of_thread)
		rc = -pthread_setspecific(key, &key);
	if (!rc) {
		/* 0 is the channel's own. */
		p->id = ++ids;
		p->next = producers;
		producers = p;
		lines_assign(p->ch, p, p->id);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

int wic_producer_open(struct wic_channel *ch, uint32_t tag_first, uint32_t tag_count,
		      uint32_t flags, struct wic_producer **p_out)
{
	struct wic_producer *p;
	int rc = check_open(ch, tag_first, tag_count, flags);

	if (rc)
		return rc;
	if (!p_out)
		return wic_fail(-EINVAL, "wic_producer_open: p_out is NULL");
	pthread_once(&key_once, key_create);
	if (key_rc)
		return wic_fail(-ENOMEM, "wic_producer_open: no key for what ends with a thread");
	p = calloc(1, sizeof(*p));
	if (!p)
		return wic_fail(-ENOMEM, "no memory for a producer handle");
	p->ch = ch;
	p->tag_first = tag_first;
	p->tag_count = tag_count;
	p->is_of_thread = flags & WIC_PRODUCER_OF_THREAD;
	p->thread = pthread_self();
	rc = producer_link(p);
	if (rc) {
		free(p);
		return rc;
	}
	*p_out = p;
	return 0;
}

/* Marked as ending, once nobody else is at it; false: it is not in the list. */
static bool begin_close(const struct wic_producer *p)
{
	struct wic_producer *q;

	pthread_mutex_lock(&lock);
	for (;;) {
		for (q = producers; q && q != p; q = q->next)
			;
		if (!q || !q->is_ending)
			break;
		pthread_cond_wait(&ended, &lock);
	}
	if (q) {
		q->is_ending = true;
		q->is_of_thread = false;
	}
	pthread_mutex_unlock(&lock);
	return q;
}

/* Its channel is not freed before this: wic_producer_free_all() waits for those that end. */
static void end_close(struct wic_producer *p)
{
	struct wic_producer **link = &producers;

	pthread_mutex_lock(&lock);
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&lock);
	free(p);
}

void wic_producer_close(struct wic_producer *p)
{
	if (!p)
		return;
	if (wic_is_in_kernel()) {
		wic_log(WIC_LOG_ERROR, "wic_producer_close: called inside a kernel");
		return;
	}
	if (!begin_close(p)) {
		wic_log(WIC_LOG_ERROR, "wic_producer_close: %p is not a producer handle",
			(void *)p);
		return;
	}
	if (!__atomic_load_n(&p->is_dead, __ATOMIC_ACQUIRE))
		die(p);
	/* The lines stay its own: nobody may publish what is said to be dead. */
	end_close(p);
}

void wic_producer_free_all(const struct wic_channel *ch)
{
	struct wic_producer **link, *p;

	pthread_mutex_lock(&lock);
	for (link = &producers; *link;) {
		p = *link;
		if (p->ch != ch) {
			link = &p->next;
		} else if (p->is_ending) {
			pthread_cond_wait(&ended, &lock);
			link = &producers;
		} else {
			*link = p->next;
			free(p);
		}
	}
	pthread_mutex_unlock(&lock);
}

static int check_use(const struct wic_producer *p, const char *who)
{
	if (!p)
		return wic_fail(-EINVAL, "%s: p is NULL", who);
	if (__atomic_load_n(&p->is_dead, __ATOMIC_ACQUIRE))
		return wic_fail(-EOWNERDEAD, "%s: the thread that opened the handle has ended",
				who);
	return 0;
}

int wic_producer_stage(struct wic_producer *p, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		       void **buffer_out)
{
	int rc = check_use(p, "wic_producer_stage");

	return rc ? rc
		  : wic_channel_stage_as(p->ch, "wic_producer_stage", p->id, tag, epoch, timeout_ns,
					 buffer_out);
}

int wic_producer_publish(struct wic_producer *p, uint32_t tag, uint64_t epoch)
{
	int rc = check_use(p, "wic_producer_publish");

	return rc ? rc
		  : wic_channel_publish_as(p->ch, "wic_producer_publish", p->id, tag, 1, epoch);
}
