/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "methods/method.h"

struct method {
	struct wic_channel *channel; /* owned */
	uint64_t timeout_ns;
};

static int wic_method_open(struct wic *w, const struct method_params *p, struct method **m_out)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct method *m = malloc(sizeof(*m));
	int rc;

	if (!m)
		return wic_fail(-ENOMEM, "method wic: no memory");
	d.mode = p->mode;
	d.readers = p->readers;
	d.tags = p->tags;
	d.bytes_per_tag = p->bytes_per_tag;
	d.producer = p->ends.is_from_device ? WIC_GPU(p->ends.from) : WIC_HOST;
	d.consumer = p->ends.is_to_host ? WIC_HOST : WIC_GPU(p->ends.to);
	m->timeout_ns = p->timeout_ns;
	rc = wic_channel_create(w, &d, &m->channel);
	if (rc) {
		free(m);
		return rc;
	}
	*m_out = m;
	return 0;
}

static void wic_method_args(const struct method *m, struct m_args *args_out)
{
	memset(args_out, 0, sizeof(*args_out));
	args_out->h = wic_channel_handle(m->channel);
	args_out->timeout_ns = m->timeout_ns;
}

static int wic_method_stage(struct method *m, uint32_t tag, uint64_t epoch, void **buffer_out)
{
	return wic_stage(m->channel, tag, epoch, m->timeout_ns, buffer_out);
}

static int wic_method_publish(struct method *m, uint32_t tag, uint64_t epoch)
{
	return wic_publish(m->channel, tag, epoch);
}

static int wic_method_take(struct method *m, uint32_t tag, uint64_t epoch, const void **data_out)
{
	return wic_host_request(m->channel, tag, epoch, m->timeout_ns, data_out);
}

static int wic_method_done(struct method *m, uint32_t tag, uint64_t epoch)
{
	return wic_host_release(m->channel, tag, epoch);
}

static void wic_method_close(struct method *m)
{
	if (!m)
		return;
	wic_channel_destroy(m->channel);
	free(m);
}

const struct method_ops method_wic = {
	.name = "wic",
	.summary = "each warp is parked until its tag is there; the SM runs the others",
	.copies =
		"pull: the Monitor, onto the pages of the first warp that asks; push: nobody, the "
		"producer writes there, one copy less than the others",
	.open = wic_method_open,
	.args = wic_method_args,
	.stage = wic_method_stage,
	.publish = wic_method_publish,
	.take = wic_method_take,
	.done = wic_method_done,
	.close = wic_method_close,
};
