/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <stdlib.h>

#include "lib/log.h"
#include "methods/cores.h"
#include "methods/flag.h"
#include "methods/memory.h"
#include "methods/method.h"
#include "methods/thread_futex/threads.h"

struct thread_futex {
	struct method base;        /* first: a struct method is one of these */
	struct m_threads *threads; /* owned */
};

static struct thread_futex *thread_futex_of(struct method *m)
{
	return (struct thread_futex *)(void *)m;
}

static int thread_futex_open(struct wic *w, const struct method_params *p, struct method **m_out)
{
	int rc = method_check_where(&method_thread_futex, w);
	struct thread_futex *f;
	cpu_set_t cores;

	if (rc)
		return rc;
	f = malloc(sizeof(*f));
	if (!f)
		return wic_fail(-ENOMEM, "method thread-futex: no memory");
	rc = m_memory_init(&f->base.mem, w, p, 0);
	if (rc)
		goto err_free;
	m_cores_of_sms(w, &cores);
	f->threads = m_threads_create(&cores);
	if (!f->threads) {
		rc = -ENOMEM;
		goto err_fini;
	}
	*m_out = &f->base;
	return 0;

err_fini:
	m_memory_fini(&f->base.mem);
err_free:
	free(f);
	return rc;
}

static int thread_futex_launch(struct method *m, const struct wic_launch_desc *l)
{
	return m_threads_launch(thread_futex_of(m)->threads, l);
}

static int thread_futex_sync(struct method *m, uint64_t timeout_ns)
{
	return m_threads_sync(thread_futex_of(m)->threads, timeout_ns);
}

static void thread_futex_close(struct method *m)
{
	if (!m)
		return;
	m_threads_destroy(thread_futex_of(m)->threads);
	m_memory_fini(&m->mem);
	free(thread_futex_of(m));
}

const struct method_ops method_thread_futex = {
	.name = "thread-futex",
	.summary = "no SMs: a warp is a thread of the system and sleeps on a futex",
	.copies = "the producer's thread, before it stores the epoch and wakes",
	.warps_max = M_THREADS_MAX,
	.where = METHOD_ON_CPU,
	.open = thread_futex_open,
	.args = m_memory_method_args,
	.stage = m_memory_method_stage,
	.publish = m_flag_method_publish,
	.take = m_flag_method_take,
	.done = m_memory_method_done,
	.launch = thread_futex_launch,
	.sync = thread_futex_sync,
	.close = thread_futex_close,
};
