/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "methods/libcupp/wait.h"
#include "methods/memory.h"
#include "methods/method.h"

struct libcupp {
	struct method base; /* first: a struct method is one of these */
	struct libcupp *next;
};

/* All that are open: kernels wait on several, and a wait that is to end may be any one's. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct libcupp *list;

static int libcupp_open(struct wic *w, const struct method_params *p, struct method **m_out)
{
	int rc = method_check_where(&method_libcupp, w);
	struct libcupp *m;

	if (rc)
		return rc;
	m = calloc(1, sizeof(*m));
	if (!m)
		return wic_fail(-ENOMEM, "method libcupp: no memory");
	rc = m_memory_init(&m->base.mem, w, p, 0);
	if (rc) {
		free(m);
		return rc;
	}
	pthread_mutex_lock(&list_lock);
	m->next = list;
	list = m;
	pthread_mutex_unlock(&list_lock);
	*m_out = &m->base;
	return 0;
}

static void libcupp_close(struct method *m)
{
	struct libcupp **link = &list;

	if (!m)
		return;
	pthread_mutex_lock(&list_lock);
	while (&(*link)->base != m)
		link = &(*link)->next;
	*link = (*link)->next;
	pthread_mutex_unlock(&list_lock);
	m_memory_fini(&m->mem);
	free(m);
}

static size_t flag_bytes(const struct m_memory *mem)
{
	return (size_t)mem->tags * M_FLAG_WORDS * sizeof(uint64_t);
}

/*
 * End all waits of a channel.  Copies of whole lines: flags may lie in device memory, and nobody
 * publishes any more.
 */
static int end_waits(struct m_memory *mem)
{
	uint64_t *ended = malloc(flag_bytes(mem));
	int rc;

	if (!ended)
		return wic_fail(-ENOMEM, "method libcupp: no memory to end waits");
	memset(ended, 0xff, flag_bytes(mem));
	rc = wic_mem_copy(mem->w, mem->flags, ended, flag_bytes(mem));
	free(ended);
	return rc;
}

/* Epochs only grow, so runs after this one wait for greater ones. */
static void begin_anew(struct m_memory *mem)
{
	if (wic_mem_zero(mem->w, mem->flags, flag_bytes(mem)))
		wic_log(WIC_LOG_ERROR, "method libcupp: %s", wic_last_error());
}

static void for_each(const struct wic *w, int is_end)
{
	struct libcupp *m;

	pthread_mutex_lock(&list_lock);
	for (m = list; m; m = m->next) {
		if (m->base.mem.w != w)
			continue;
		if (!is_end)
			begin_anew(&m->base.mem);
		else if (end_waits(&m->base.mem))
			wic_log(WIC_LOG_ERROR, "method libcupp: %s", wic_last_error());
	}
	pthread_mutex_unlock(&list_lock);
}

/* As wic_sync(); waits that last longer than the method's time are ended here. */
static int libcupp_sync(struct method *m, uint64_t timeout_ns)
{
	struct m_memory *mem = &m->mem;
	int rc;

	if (timeout_ns <= mem->timeout_ns)
		return wic_sync(mem->w, timeout_ns);
	rc = wic_sync(mem->w, mem->timeout_ns);
	if (rc != -ETIMEDOUT)
		return rc;
	for_each(mem->w, 1);
	rc = wic_sync(mem->w,
		      timeout_ns == WIC_FOREVER ? timeout_ns : timeout_ns - mem->timeout_ns);
	if (!rc)
		for_each(mem->w, 0);
	return rc;
}

static int libcupp_launch(struct method *m, const struct wic_launch_desc *l)
{
	return wic_launch(m->mem.w, l);
}

const struct method_ops method_libcupp = {
	.name = "libcupp",
	.summary = "one thread a block in cuda::atomic_ref::wait(), block barrier (GPU only)",
	.copies = "nobody",
	.where = METHOD_ON_GPU,
	.open = libcupp_open,
	.args = m_memory_method_args,
	.stage = m_memory_method_stage,
	.publish = m_memory_method_publish,
	.take = m_memory_method_take,
	.done = m_memory_method_done,
	.launch = libcupp_launch,
	.sync = libcupp_sync,
	.close = libcupp_close,
};
