/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/object.h"

#include <pthread.h>

#include "lib/log.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct wic *contexts; /* newest first */
static struct wic_channel *channels;

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void fork_prepare(void)
{
	pthread_mutex_lock(&list_lock);
	wic_producer_fork_prepare();
}

static void fork_parent(void)
{
	wic_producer_fork_done(false);
	pthread_mutex_unlock(&list_lock);
}

static void fork_child(void)
{
	for (struct wic_channel *ch = channels; ch; ch = ch->next) {
		ch->is_closed = true;
		ch->is_parents = true;
	}
	contexts = NULL;
	channels = NULL;
	wic_producer_fork_done(true);
	wic_log_after_fork();
	pthread_mutex_unlock(&list_lock);
}

static void fork_watch(void)
{
	/* Fails without memory only; then a child keeps its parent's lists, no worse. */
	if (pthread_atfork(fork_prepare, fork_parent, fork_child))
		wic_log(WIC_LOG_WARN, "pthread_atfork failed: a child may not use wic");
}

void wic_object_add(struct wic *w)
{
	pthread_once(&fork_once, fork_watch);
	pthread_mutex_lock(&list_lock);
	w->next = contexts;
	contexts = w;
	pthread_mutex_unlock(&list_lock);
}

bool wic_object_exists(const struct wic *w)
{
	const struct wic *i;

	pthread_mutex_lock(&list_lock);
	for (i = contexts; i && i != w; i = i->next)
		;
	pthread_mutex_unlock(&list_lock);
	return i != NULL;
}

int wic_object_check_thread(const char *who)
{
	if (!wic_is_in_kernel())
		return 0;
	return wic_fail(-EINVAL, "%s: called inside a kernel", who);
}

int wic_object_check(const struct wic *w, const char *who)
{
	int rc = wic_object_check_thread(who);

	if (rc)
		return rc;
	if (!w)
		return wic_fail(-EINVAL, "%s: w is NULL", who);
	if (!wic_object_exists(w))
		return wic_fail(-EINVAL, "%s: %p is not an open context", who, (const void *)w);
	return 0;
}

bool wic_object_remove(struct wic *w)
{
	struct wic **i;
	bool is_there;

	pthread_mutex_lock(&list_lock);
	for (i = &contexts; *i && *i != w; i = &(*i)->next)
		;
	is_there = *i != NULL;
	if (is_there)
		*i = w->next;
	pthread_mutex_unlock(&list_lock);
	return is_there;
}

bool wic_object_sink(void (**log_out)(void *arg, int level, const char *line), void **arg_out)
{
	const struct wic *i;

	pthread_mutex_lock(&list_lock);
	for (i = contexts; i && !i->cfg.log; i = i->next)
		;
	if (i) {
		*log_out = i->cfg.log;
		*arg_out = i->cfg.log_arg;
	}
	pthread_mutex_unlock(&list_lock);
	return i != NULL;
}

int wic_object_take_id(struct wic *w)
{
	uint64_t free_ids;
	int id = -ENOMEM;

	pthread_mutex_lock(&list_lock);
	free_ids = ~w->channel_ids;
	if (free_ids) {
		id = __builtin_ctzll(free_ids);
		w->channel_ids |= (uint64_t)1 << id;
	}
	pthread_mutex_unlock(&list_lock);
	return id;
}

void wic_object_give_id(struct wic *w, uint32_t id)
{
	pthread_mutex_lock(&list_lock);
	w->channel_ids &= ~((uint64_t)1 << id);
	pthread_mutex_unlock(&list_lock);
}

void wic_object_add_channel(struct wic_channel *ch)
{
	pthread_mutex_lock(&list_lock);
	ch->next = channels;
	channels = ch;
	pthread_mutex_unlock(&list_lock);
}

bool wic_object_channel_exists(const struct wic_channel *ch)
{
	const struct wic_channel *i;

	pthread_mutex_lock(&list_lock);
	for (i = channels; i && i != ch; i = i->next)
		;
	pthread_mutex_unlock(&list_lock);
	return i != NULL;
}

bool wic_object_remove_channel(struct wic_channel *ch)
{
	struct wic_channel **i;
	bool is_there;

	pthread_mutex_lock(&list_lock);
	for (i = &channels; *i && *i != ch; i = &(*i)->next)
		;
	is_there = *i != NULL;
	if (is_there)
		*i = ch->next;
	pthread_mutex_unlock(&list_lock);
	return is_there;
}

struct wic_channel *wic_object_remove_channel_of(struct wic *w)
{
	struct wic_channel **i, *found;

	pthread_mutex_lock(&list_lock);
	for (i = &channels; *i && (*i)->w != w; i = &(*i)->next)
		;
	found = *i;
	if (found)
		*i = found->next;
	pthread_mutex_unlock(&list_lock);
	return found;
}

/* The next channel of @w after @ch, or the first. */
static struct wic_channel *next_of(const struct wic *w, const struct wic_channel *ch)
{
	struct wic_channel *i;

	pthread_mutex_lock(&list_lock);
	for (i = ch ? ch->next : channels; i && i->w != w; i = i->next)
		;
	pthread_mutex_unlock(&list_lock);
	return i;
}

void wic_object_visit_channels(struct wic *w, void (*visit)(struct wic_channel *ch))
{
	for (struct wic_channel *i = next_of(w, NULL); i; i = next_of(w, i))
		visit(i);
}
