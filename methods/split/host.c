/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "methods/cores.h"
#include "methods/flag.h"
#include "methods/memory.h"
#include "methods/method.h"
#include "methods/split/cut.h"

/*
 * One launch at a time.  The driver owns cuts, launch and status from the moment
 * is_busy is set to the moment it clears it; is_busy and stop are the lock's.
 */
struct split {
	struct method base;  /* first: a struct method is one of these */
	struct wic *w;       /* borrowed until close */
	struct m_cuts *cuts; /* owned, with its array; where host and device address them */
	uint32_t cuts_max;
	uint32_t warps; /* of the launch */
	struct wic_launch_desc launch;
	int status; /* of the last launch: 0 or the driver's first -errno */
	char why[256];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t driver;
	bool is_busy;
	bool stop;
};

static struct split *split_of(struct method *m)
{
	return (struct split *)(void *)m;
}

/* Wait for all that the warps want.  False: none wants anything, it is over. */
static bool wait_for_wanted(struct split *s)
{
	uint64_t deadline_ns = wic_deadline_ns(wic_now_ns(), s->base.mem.timeout_ns);
	bool is_wanted = false;

	for (uint32_t i = 0; i < s->warps; i++) {
		struct m_cut *cut = &s->cuts->cut[i];

		if (cut->is_over)
			continue;
		is_wanted = true;
		if (cut->want.tag == WIC_NO_TAG)
			continue;
		cut->rc =
			m_flag_wait(s->base.mem.flags, cut->want.tag, cut->want.epoch, deadline_ns);
	}
	return is_wanted;
}

/* One launch after the other, until no warp wants anything.  0 or -errno. */
static int drive(struct split *s)
{
	int rc;

	do {
		rc = wic_launch(s->w, &s->launch);
		if (!rc)
			rc = wic_sync(s->w, WIC_FOREVER);
	} while (!rc && wait_for_wanted(s));
	return rc;
}

static void *driver_main(void *arg)
{
	struct split *s = arg;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		if (!s->is_busy) {
			pthread_cond_wait(&s->changed, &s->lock);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		s->status = drive(s);
		/* The text of an error is its thread's. */
		if (s->status)
			snprintf(s->why, sizeof(s->why), "%.250s", wic_last_error());
		pthread_mutex_lock(&s->lock);
		s->is_busy = false;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static int driver_start(struct split *s)
{
	pthread_condattr_t clock;
	pthread_attr_t attr;
	cpu_set_t cores;
	int rc;

	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &clock);
	pthread_condattr_destroy(&clock);
	m_cores_of_host(s->w, &cores);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(cores), &cores);
	rc = -pthread_create(&s->driver, &attr, driver_main, s);
	pthread_attr_destroy(&attr);
	if (!rc)
		return 0;
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	return wic_fail(rc, "method split: no thread: %s", strerror(-rc));
}

static int cuts_init(struct split *s)
{
	void *p;
	int rc = wic_mem_alloc(s->w, WIC_MEM_HOST, WIC_HOST, sizeof(*s->cuts), &p);

	if (!rc)
		s->cuts = p;
	return rc;
}

static void cuts_fini(struct split *s)
{
	wic_mem_free(s->w, s->cuts->cut);
	wic_mem_free(s->w, s->cuts);
}

static int split_open(struct wic *w, const struct method_params *p, struct method **m_out)
{
	struct split *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return wic_fail(-ENOMEM, "method split: no memory");
	if (p->ends.is_from_device || p->ends.is_to_host || p->ends.to) {
		rc = wic_fail(-ENOTSUP, "method split: only from the host to device 0");
		goto err_free;
	}
	s->w = w;
	rc = m_memory_init(&s->base.mem, w, p, 0);
	if (rc)
		goto err_free;
	rc = cuts_init(s);
	if (rc)
		goto err_fini;
	rc = driver_start(s);
	if (rc)
		goto err_cuts_fini;
	*m_out = &s->base;
	return 0;

err_cuts_fini:
	cuts_fini(s);
err_fini:
	m_memory_fini(&s->base.mem);
err_free:
	free(s);
	return rc;
}

static void split_args(const struct method *m, struct m_args *args_out)
{
	const struct split *s = (const struct split *)(const void *)m;

	m_memory_args(&m->mem, args_out);
	args_out->cuts = s->cuts;
}

/* Cuts for a launch of @warps, all new. */
static int cuts_reset(struct split *s, uint32_t warps)
{
	struct m_cut *cut = s->cuts->cut;
	void *p;
	int rc;

	if (warps > s->cuts_max) {
		wic_mem_free(s->w, cut);
		s->cuts->cut = NULL;
		s->cuts_max = 0;
		rc = wic_mem_alloc(s->w, WIC_MEM_HOST, WIC_HOST, warps * sizeof(*cut), &p);
		if (rc)
			return wic_fail(rc, "method split: no memory for %u warps", warps);
		s->cuts->cut = p;
		s->cuts_max = warps;
	} else {
		memset(cut, 0, warps * sizeof(*cut));
	}
	s->warps = warps;
	return 0;
}

static int split_launch(struct method *m, const struct wic_launch_desc *l)
{
	uint64_t warps = method_launch_warps(l);
	struct split *s = split_of(m);
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	if (s->is_busy)
		rc = wic_fail(-EBUSY, "method split: a kernel is running");
	else if (!warps || warps >= UINT32_MAX)
		rc = wic_fail(-EINVAL, "method split: %llu warps", (unsigned long long)warps);
	else
		rc = cuts_reset(s, (uint32_t)warps);
	if (!rc) {
		s->launch = *l;
		s->is_busy = true;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static int split_sync(struct method *m, uint64_t timeout_ns)
{
	uint64_t deadline_ns = wic_deadline_ns(wic_now_ns(), timeout_ns);
	struct timespec due = { (time_t)(deadline_ns / 1000000000u),
				(long)(deadline_ns % 1000000000u) };
	struct split *s = split_of(m);
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while (s->is_busy && !rc)
		rc = -pthread_cond_timedwait(&s->changed, &s->lock, &due);
	if (s->is_busy)
		rc = wic_fail(-ETIMEDOUT, "method split: the kernel runs on");
	else
		rc = s->status ? wic_fail(s->status, "%s", s->why) : 0;
	s->status = s->is_busy ? s->status : 0;
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void split_close(struct method *m)
{
	struct split *s = split_of(m);

	if (!m)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->driver, NULL);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	cuts_fini(s);
	m_memory_fini(&s->base.mem);
	free(s);
}

const struct method_ops method_split = {
	.name = "split",
	.summary = "the kernel cut at its waits: a launch, the host waits, the next launch",
	.copies = "the producer's thread, before it stores the epoch; on a GPU nobody",
	.where = METHOD_ANYWHERE,
	.open = split_open,
	.args = split_args,
	.stage = m_memory_method_stage,
	.publish = m_flag_method_publish,
	.launch = split_launch,
	.sync = split_sync,
	.close = split_close,
};
