/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <wic/wic.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/desc.h"
#include "lib/log.h"
#include "lib/object.h"

#define TAGS_MAX (1u << 20)
#define READERS_MAX 65535u

static uint32_t mode_cap(uint32_t mode)
{
	return mode == WIC_MODE_PULL ? WIC_BE_CAP_PULL : WIC_BE_CAP_PUSH;
}

/* The mode that the channel gets, which must be one that the back-end has. */
static int resolve_mode(const struct wic *w, struct wic_channel_desc *d)
{
	if (d->mode > WIC_MODE_PUSH)
		return wic_fail(-EINVAL, "wic_channel_create: mode is %" PRIu32 ", not in [0, %d]",
				d->mode, WIC_MODE_PUSH);
	if (d->mode == WIC_MODE_DEFAULT)
		d->mode = w->ops->caps & WIC_BE_CAP_PULL ? WIC_MODE_PULL : WIC_MODE_PUSH;
	if (!(w->ops->caps & mode_cap(d->mode)))
		return wic_fail(-ENOTSUP, "wic_channel_create: back-end %s has no mode %s",
				w->ops->name, d->mode == WIC_MODE_PULL ? "pull" : "push");
	return 0;
}

static int check_end(const struct wic *w, const char *name, struct wic_device_id end)
{
	if (end.v == WIC_DEVICE_HOST_VALUE || end.v < w->cfg.devices)
		return 0;
	return wic_fail(-EINVAL,
			"wic_channel_create: %s is device %" PRIu32
			", neither the host nor in [0, %" PRIu32 ")",
			name, end.v, w->cfg.devices);
}

static int check_devices(const struct wic *w, const struct wic_channel_desc *d)
{
	int rc = check_end(w, "producer", d->producer);

	if (!rc)
		rc = check_end(w, "consumer", d->consumer);
	if (!rc && d->producer.v == WIC_DEVICE_HOST_VALUE && d->consumer.v == WIC_DEVICE_HOST_VALUE)
		rc = wic_fail(-ENOTSUP,
			      "wic_channel_create: from the host to the host: one end is a device");
	if (!rc && d->flags & WIC_CHANNEL_PAT && d->producer.v == WIC_DEVICE_HOST_VALUE)
		rc = wic_fail(-EINVAL,
			      "wic_channel_create: WIC_CHANNEL_PAT is for a device that produces");
	return rc;
}

static int check_sizes(const struct wic *w, const struct wic_channel_desc *d)
{
	uint64_t pages = d->bytes_per_tag / WIC_PAGE_BYTES + !!(d->bytes_per_tag % WIC_PAGE_BYTES);

	if (d->readers < 1 || d->readers > READERS_MAX)
		return wic_fail(-EINVAL,
				"wic_channel_create: readers is %" PRIu32 ", not in [1, %u]",
				d->readers, READERS_MAX);
	if (d->tags < 1 || d->tags > TAGS_MAX)
		return wic_fail(-EINVAL, "wic_channel_create: tags is %" PRIu32 ", not in [1, %u]",
				d->tags, TAGS_MAX);
	if (d->flags & ~WIC_CHANNEL_PAT)
		return wic_fail(-EINVAL, "wic_channel_create: flags are 0x%" PRIx32, d->flags);
	/* Which also keeps tags * bytes_per_tag under 2^52. */
	if (pages > w->cfg.pool_pages / 2)
		return wic_fail(-E2BIG,
				"wic_channel_create: bytes_per_tag is %" PRIu64
				", which is %" PRIu64
				" pages, the usable half of the pool has %" PRIu32,
				d->bytes_per_tag, pages, w->cfg.pool_pages / 2);
	return 0;
}

static int check_desc(const struct wic *w, const struct wic_channel_desc *d,
		      struct wic_channel_desc *d_out)
{
	int rc;

	if (!d)
		return wic_fail(-EINVAL, "wic_channel_create: d is NULL");
	rc = wic_desc_copy("wic_channel_desc", d, sizeof(*d_out), sizeof(*d_out), d_out);
	if (!rc)
		rc = check_sizes(w, d_out);
	if (!rc)
		rc = resolve_mode(w, d_out);
	if (!rc)
		rc = check_devices(w, d_out);
	return rc;
}

int wic_channel_create(struct wic *w, const struct wic_channel_desc *d, struct wic_channel **ch_out)
{
	struct wic_channel_desc checked;
	struct wic_channel *ch;
	int rc, id;

	rc = wic_object_check(w, "wic_channel_create");
	if (rc)
		return rc;
	if (!ch_out)
		return wic_fail(-EINVAL, "wic_channel_create: ch_out is NULL");
	rc = check_desc(w, d, &checked);
	if (rc)
		return rc;
	id = wic_object_take_id(w);
	if (id < 0)
		return wic_fail(id, "wic_channel_create: the context has %d channels, the most",
				WIC_CHANNELS_MAX);
	ch = calloc(1, sizeof(*ch));
	if (!ch) {
		rc = wic_fail(-ENOMEM, "no memory for a channel (%zu bytes)", sizeof(*ch));
		goto err_give_id;
	}
	*ch = (struct wic_channel){ .w = w, .ops = w->ops, .d = checked, .id = (uint32_t)id };
	ch->line_owners = calloc(checked.tags / WIC_LINE_TAGS + 1, sizeof(*ch->line_owners));
	if (!ch->line_owners) {
		rc = wic_fail(-ENOMEM, "no memory for the owners of %" PRIu32 " tags",
			      checked.tags);
		goto err_free;
	}
	rc = w->ops->channel_create(w->be, &ch->d, ch->id, &ch->be);
	if (rc)
		goto err_free;
	wic_object_add_channel(ch);
	*ch_out = ch;
	return 0;

err_free:
	free(ch->line_owners);
	free(ch);
err_give_id:
	wic_object_give_id(w, (uint32_t)id);
	return rc;
}

/* False: somebody else has closed it. */
static bool close_first(struct wic_channel *ch)
{
	if (__atomic_exchange_n(&ch->is_closed, true, __ATOMIC_RELAXED))
		return false;
	ch->ops->channel_close(ch->be);
	return true;
}

void wic_channel_close_once(struct wic_channel *ch)
{
	close_first(ch);
}

void wic_channel_free(struct wic_channel *ch)
{
	wic_channel_close_once(ch);
	/* First: a thread that ends may be telling the back-end so. */
	wic_producer_free_all(ch);
	ch->ops->channel_destroy(ch->be);
	wic_object_give_id(ch->w, ch->id);
	free(ch->line_owners);
	free(ch);
}

int wic_channel_close(struct wic_channel *ch)
{
	int rc = wic_object_check_thread("wic_channel_close");

	if (rc)
		return rc;
	if (!ch)
		return wic_fail(-EINVAL, "wic_channel_close: ch is NULL");
	if (!wic_object_channel_exists(ch))
		return wic_fail(-EINVAL, "wic_channel_close: %p is not a channel", (void *)ch);
	if (!close_first(ch))
		return wic_fail(-EINVAL, "wic_channel_close: channel %" PRIu32 " was closed before",
				ch->id);
	return 0;
}

void wic_channel_destroy(struct wic_channel *ch)
{
	if (!ch)
		return;
	if (wic_is_in_kernel()) {
		wic_log(WIC_LOG_ERROR,
			"wic_channel_destroy: called inside a kernel, which it would wait for");
		return;
	}
	if (!wic_object_remove_channel(ch)) {
		wic_log(WIC_LOG_ERROR, "wic_channel_destroy: %p is not a channel", (void *)ch);
		return;
	}
	wic_channel_close_once(ch);
	wic_context_wait_idle(ch->w, "wic_channel_destroy");
	wic_channel_free(ch);
}

struct wic_handle wic_channel_handle(const struct wic_channel *ch)
{
	struct wic_handle handle;

	memset(&handle, 0, sizeof(handle));
	if (ch)
		ch->ops->channel_handle(ch->be, &handle);
	return handle;
}

static int fail_closed(const struct wic_channel *ch, const char *who)
{
	return wic_fail(-EINVAL, "%s: channel %" PRIu32 " %s", who, ch->id,
			ch->is_parents ? "is of the process that forked this one" : "is closed");
}

/* What every call that names tags and an epoch checks.  No lock: these are on the way of a publish.
 */
static int check_use(const struct wic_channel *ch, const char *who, uint32_t tag,
		     uint32_t tag_count, uint64_t epoch)
{
	if (wic_is_in_kernel())
		return wic_object_check_thread(who);
	if (!ch)
		return wic_fail(-EINVAL, "%s: ch is NULL", who);
	if (__atomic_load_n(&ch->is_closed, __ATOMIC_RELAXED))
		return fail_closed(ch, who);
	if (tag >= ch->d.tags)
		return wic_fail(-EINVAL,
				"%s: channel %" PRIu32 ": tag is %" PRIu32 ", not in [0, %" PRIu32
				")",
				who, ch->id, tag, ch->d.tags);
	if (!tag_count || tag_count > ch->d.tags - tag)
		return wic_fail(-EINVAL,
				"%s: channel %" PRIu32 ": tag_count is %" PRIu32
				" from tag %" PRIu32 ", not in [1, %" PRIu32 "]",
				who, ch->id, tag_count, tag, ch->d.tags - tag);
	if (epoch == WIC_EPOCH_NONE || epoch > WIC_EPOCH_LAST)
		return wic_fail(-EINVAL,
				"%s: channel %" PRIu32 ": epoch is %" PRIu64
				", not in [1, 2^64 - 2]",
				who, ch->id, epoch);
	return 0;
}

/* Whose calls these are: the side of the channel that the host is on. */
static int check_host_end(const struct wic_channel *ch, const char *who, const char *end,
			  struct wic_device_id id)
{
	if (id.v == WIC_DEVICE_HOST_VALUE)
		return 0;
	return wic_fail(-EINVAL,
			"%s: channel %" PRIu32 ": its %s is device %" PRIu32 ", not the host", who,
			ch->id, end, id.v);
}

static int check_publish(const struct wic_channel *ch, const char *who, uint64_t owner,
			 uint32_t tag_first, uint32_t tag_count, uint64_t epoch)
{
	int rc = check_use(ch, who, tag_first, tag_count, epoch);

	if (!rc)
		rc = check_host_end(ch, who, "producer", ch->d.producer);
	return rc ? rc : wic_producer_check(ch, who, tag_first, tag_count, owner);
}

int wic_channel_stage_as(struct wic_channel *ch, const char *who, uint64_t owner, uint32_t tag,
			 uint64_t epoch, uint64_t timeout_ns, void **buffer_out)
{
	int rc = check_publish(ch, who, owner, tag, 1, epoch);

	if (rc)
		return rc;
	if (!buffer_out)
		return wic_fail(-EINVAL, "%s: buffer_out is NULL", who);
	if (!ch->d.bytes_per_tag)
		return wic_fail(-EINVAL,
				"%s: channel %" PRIu32 " has no payload (bytes_per_tag is 0)", who,
				ch->id);
	rc = ch->ops->stage(ch->be, tag, epoch, timeout_ns, buffer_out);
	/* Called before a producer handle took the tag, whose death is its own affair. */
	return rc == -EOWNERDEAD && !owner ? wic_producer_check(ch, who, tag, 1, owner) : rc;
}

int wic_channel_publish_as(struct wic_channel *ch, const char *who, uint64_t owner,
			   uint32_t tag_first, uint32_t tag_count, uint64_t epoch)
{
	int rc = check_publish(ch, who, owner, tag_first, tag_count, epoch);

	if (rc)
		return rc;
	rc = ch->ops->publish(ch->be, tag_first, tag_count, epoch);
	if (rc == -EOWNERDEAD && !owner)
		return wic_producer_check(ch, who, tag_first, tag_count, owner);
	return rc;
}

int wic_stage(struct wic_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
	      void **buffer_out)
{
	return wic_channel_stage_as(ch, "wic_stage", 0, tag, epoch, timeout_ns, buffer_out);
}

int wic_try_stage(struct wic_channel *ch, uint32_t tag, uint64_t epoch, void **buffer_out)
{
	return wic_channel_stage_as(ch, "wic_try_stage", 0, tag, epoch, 0, buffer_out);
}

int wic_publish(struct wic_channel *ch, uint32_t tag, uint64_t epoch)
{
	return wic_channel_publish_as(ch, "wic_publish", 0, tag, 1, epoch);
}

int wic_publish_range(struct wic_channel *ch, uint32_t tag_first, uint32_t tag_count,
		      uint64_t epoch)
{
	return wic_channel_publish_as(ch, "wic_publish_range", 0, tag_first, tag_count, epoch);
}

static int check_consume(const struct wic_channel *ch, const char *who, uint32_t tag,
			 uint64_t epoch)
{
	int rc = check_use(ch, who, tag, 1, epoch);

	return rc ? rc : check_host_end(ch, who, "consumer", ch->d.consumer);
}

int wic_host_wait(struct wic_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns)
{
	int rc = check_consume(ch, "wic_host_wait", tag, epoch);

	return rc ? rc : ch->ops->host_request(ch->be, tag, epoch, timeout_ns, NULL);
}

int wic_host_request(struct wic_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		     const void **data_out)
{
	int rc = check_consume(ch, "wic_host_request", tag, epoch);

	if (rc)
		return rc;
	if (!data_out)
		return wic_fail(-EINVAL, "wic_host_request: data_out is NULL");
	if (!ch->d.bytes_per_tag)
		return wic_fail(-EINVAL,
				"wic_host_request: channel %" PRIu32
				" has no payload (bytes_per_tag is 0)",
				ch->id);
	return ch->ops->host_request(ch->be, tag, epoch, timeout_ns, data_out);
}

int wic_host_release(struct wic_channel *ch, uint32_t tag, uint64_t epoch)
{
	int rc = wic_object_check_thread("wic_host_release");

	if (rc)
		return rc;
	if (!ch)
		return wic_fail(-EINVAL, "wic_host_release: ch is NULL");
	/* What was held when the channel was closed is still to be released. */
	if (ch->is_parents)
		return fail_closed(ch, "wic_host_release");
	if (tag >= ch->d.tags || epoch == WIC_EPOCH_NONE || epoch > WIC_EPOCH_LAST)
		return wic_fail(-EINVAL,
				"wic_host_release: channel %" PRIu32 ": tag %" PRIu32
				", epoch %" PRIu64 " out of range",
				ch->id, tag, epoch);
	rc = check_host_end(ch, "wic_host_release", "consumer", ch->d.consumer);
	return rc ? rc : ch->ops->host_release(ch->be, tag, epoch);
}
