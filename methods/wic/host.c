/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * On a GPU the channel carries signals only, and the data lies in memory that both sides
 * address, as with every other method there: mem.  Elsewhere the channel carries it.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/memory.h"
#include "methods/memory.h"
#include "methods/method.h"

struct wic_method {
	struct method base;          /* first: a struct method is one of these; a GPU's only */
	struct wic_channel *channel; /* owned */
	uint64_t timeout_ns;
	bool is_gpu;
};

static struct wic_method *wic_of(struct method *m)
{
	return (struct wic_method *)(void *)m;
}

static int channel_create(struct wic_method *m, struct wic *w, const struct method_params *p)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;

	d.mode = p->mode;
	d.readers = p->readers;
	d.tags = p->tags;
	d.bytes_per_tag = m->is_gpu ? 0 : p->bytes_per_tag;
	d.producer = p->ends.is_from_device ? WIC_GPU(p->ends.from) : WIC_HOST;
	d.consumer = p->ends.is_to_host ? WIC_HOST : WIC_GPU(p->ends.to);
	return wic_channel_create(w, &d, &m->channel);
}

static int wic_method_open(struct wic *w, const struct method_params *p, struct method **m_out)
{
	struct wic_method *m = calloc(1, sizeof(*m));
	int rc = 0;

	if (!m)
		return wic_fail(-ENOMEM, "method wic: no memory");
	m->is_gpu = wic_is_gpu(w);
	m->timeout_ns = p->timeout_ns;
	if (m->is_gpu)
		rc = m_memory_init(&m->base.mem, w, p, M_MEMORY_IN_PLACE);
	if (rc)
		goto err_free;
	rc = channel_create(m, w, p);
	if (rc)
		goto err_fini;
	*m_out = &m->base;
	return 0;

err_fini:
	if (m->is_gpu)
		m_memory_fini(&m->base.mem);
err_free:
	free(m);
	return rc;
}

static void wic_method_args(const struct method *base, struct m_args *args_out)
{
	const struct wic_method *m = (const struct wic_method *)(const void *)base;

	memset(args_out, 0, sizeof(*args_out));
	if (m->is_gpu)
		m_memory_args(&base->mem, args_out);
	args_out->h = wic_channel_handle(m->channel);
	args_out->timeout_ns = m->timeout_ns;
}

static int wic_method_stage(struct method *base, uint32_t tag, uint64_t epoch, void **buffer_out)
{
	struct wic_method *m = wic_of(base);

	if (m->is_gpu)
		return m_memory_stage(&base->mem, tag, epoch, buffer_out);
	return wic_stage(m->channel, tag, epoch, m->timeout_ns, buffer_out);
}

static int wic_method_publish(struct method *base, uint32_t tag, uint64_t epoch)
{
	struct wic_method *m = wic_of(base);
	int rc = m->is_gpu ? m_memory_copy(&base->mem, tag, epoch) : 0;

	return rc ? rc : wic_publish(m->channel, tag, epoch);
}

static int wic_method_take(struct method *base, uint32_t tag, uint64_t epoch, const void **data_out)
{
	struct wic_method *m = wic_of(base);
	int rc;

	if (!m->is_gpu)
		return wic_host_request(m->channel, tag, epoch, m->timeout_ns, data_out);
	rc = wic_host_wait(m->channel, tag, epoch, m->timeout_ns);
	if (!rc)
		*data_out = base->mem.data + base->mem.stride * tag;
	return rc;
}

static int wic_method_done(struct method *base, uint32_t tag, uint64_t epoch)
{
	struct wic_method *m = wic_of(base);

	return m->is_gpu ? 0 : wic_host_release(m->channel, tag, epoch);
}

static void wic_method_close(struct method *base)
{
	struct wic_method *m = wic_of(base);

	if (!m)
		return;
	/* Waits for the kernels that read the data. */
	wic_channel_destroy(m->channel);
	if (m->is_gpu)
		m_memory_fini(&base->mem);
	free(m);
}

const struct method_ops method_wic = {
	.name = "wic",
	.summary = "each warp is parked until its tag is there; the SM runs the others",
	.copies =
		"pull: the Monitor, onto the pages of the first warp that asks; push: nobody, the "
		"producer writes there, one copy less than the others; on a GPU nobody",
	.where = METHOD_ANYWHERE,
	.open = wic_method_open,
	.args = wic_method_args,
	.stage = wic_method_stage,
	.publish = wic_method_publish,
	.take = wic_method_take,
	.done = wic_method_done,
	.close = wic_method_close,
};
