// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A channel's tables, in two pieces: pinned host memory and device memory.  Who is at the ends
 * decides what lies where; wic/push.h has the table.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/be.h"
#include "lib/log.h"

/* A piece of memory that is laid out twice: to know how large it is, then where all lies. */
struct layout {
	uint64_t base; /* 0: only its size is wanted */
	uint64_t bytes;
};

static void *take(struct layout *l, uint64_t bytes)
{
	uint64_t at = l->bytes;

	l->bytes += (bytes + CUDA_ALIGN - 1) / CUDA_ALIGN * CUDA_ALIGN;
	return (void *)(uintptr_t)(l->base + at);
}

static void lay_out(struct wic_be_channel *ch, struct layout *pinned, struct layout *memory)
{
	bool from_host = cuda_is_host(ch->desc.producer), to_host = cuda_is_host(ch->desc.consumer);
	struct layout *produces = from_host ? pinned : memory;
	struct layout *consumes = to_host ? pinned : memory;
	struct layout *both = from_host || to_host ? pinned : memory;
	struct wic_push_channel *p = &ch->push;
	uint64_t words = (uint64_t)ch->lines * WIC_TREE_LINE_TAGS;

	ch->device_push = (uint64_t)(uintptr_t)take(memory, sizeof(*p));
	ch->ends = take(pinned, 3ull * ch->lines * sizeof(uint64_t));
	p->data = take(consumes, ch->lines * sizeof(*p->data));
	p->tag = take(produces, words * sizeof(*p->tag));
	if (from_host)
		p->truth = take(pinned, words * sizeof(uint64_t));
	if (!p->stride)
		return;
	p->credit = take(produces, 2ull * ch->lines * sizeof(*p->credit));
	p->header = take(both, 2 * words * sizeof(uint64_t));
	p->count = take(consumes, 2 * words * sizeof(uint64_t));
	p->pages = take(both, 2 * words * p->stride);
	if (to_host)
		p->credit_truth = take(pinned, 2 * words * sizeof(uint64_t));
}

/*
 * @count lines at @where, of the host (@is_host) or the device.  @truth: NULL where words are
 * raised in place or posted to.
 */
static int lines_write(struct wic_be_channel *ch, struct wic_tree_line *where, uint32_t count,
		       const uint64_t *truth, const uint64_t *ends, bool is_host)
{
	struct wic_tree_line *control = is_host ? ch->be->control_host : ch->be->control_device;
	struct wic_tree_line *lines = where;
	int rc = 0;

	if (!is_host)
		lines = aligned_alloc(sizeof(*lines), count * sizeof(*lines));
	if (!lines)
		return wic_fail(-ENOMEM, "%u lines of a channel", count);
	for (uint32_t i = 0; i < count; i++)
		wic_tree_line_set(&lines[i], &where[i],
				  truth ? &truth[i * WIC_TREE_LINE_TAGS] : NULL, &ends[i], control);
	if (is_host)
		return 0;
	rc = wic_cuda_copy_to(ch->be, (uint64_t)(uintptr_t)where, lines, count * sizeof(*lines));
	free(lines);
	return rc;
}

static int tables_write(struct wic_be_channel *ch)
{
	bool from_host = cuda_is_host(ch->desc.producer), to_host = cuda_is_host(ch->desc.consumer);
	const struct wic_push_channel *p = &ch->push;
	int rc = lines_write(ch, p->data, ch->lines, p->truth, ch->ends, to_host);

	if (!rc && p->credit)
		rc = lines_write(ch, p->credit, 2 * ch->lines, p->credit_truth,
				 &ch->ends[ch->lines], from_host);
	return rc ? rc : wic_cuda_copy_to(ch->be, ch->device_push, p, sizeof(*p));
}

static void tables_free(struct wic_be_channel *ch)
{
	wic_cuda_memory_free(ch->be, ch->memory);
	wic_cuda_pinned_free(ch->be, ch->pinned);
	free(ch->busy);
	free(ch);
}

static int tables_alloc(struct wic_be_channel *ch)
{
	struct layout pinned = { 0 }, memory = { 0 };
	int rc;

	lay_out(ch, &pinned, &memory);
	ch->busy = calloc(ch->desc.tags, 1);
	if (!ch->busy)
		return wic_fail(-ENOMEM, "a channel of %u tags", ch->desc.tags);
	rc = wic_cuda_pinned_alloc(ch->be, pinned.bytes, &ch->pinned);
	if (!rc)
		rc = wic_cuda_memory_alloc(ch->be, memory.bytes, &ch->memory);
	if (rc)
		return rc;
	pinned = (struct layout){ .base = (uint64_t)(uintptr_t)ch->pinned };
	memory = (struct layout){ .base = ch->memory };
	lay_out(ch, &pinned, &memory);
	return 0;
}

int wic_cuda_channel_create(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
			    struct wic_be_channel **ch_out)
{
	struct wic_be_channel *ch;
	int rc = wic_cuda_check_alive(be);

	if (rc)
		return rc;
	if (d->bytes_per_tag > CUDA_BYTES_MAX)
		return wic_fail(-ENOTSUP,
				"bytes_per_tag is %" PRIu64
				": on cuda a channel carries at most %u, let "
				"it carry signals and read larger data where it lies",
				d->bytes_per_tag, CUDA_BYTES_MAX);
	if (d->flags & WIC_CHANNEL_PAT)
		return wic_fail(-ENOTSUP, "WIC_CHANNEL_PAT: not on cuda, whose publish is a store");
	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return wic_fail(-ENOMEM, "a channel");
	ch->be = be;
	ch->desc = *d;
	ch->lines = (d->tags + WIC_TREE_LINE_TAGS - 1) / WIC_TREE_LINE_TAGS;
	ch->push.stride = (d->bytes_per_tag + CUDA_ALIGN - 1) / CUDA_ALIGN * CUDA_ALIGN;
	ch->push.reports = be->reports;
	ch->push.report_count = be->report_count;
	ch->push.tags = d->tags;
	ch->push.readers = d->readers;
	ch->push.id = id;
	ch->push.is_to_host = cuda_is_host(d->consumer);
	rc = tables_alloc(ch);
	if (!rc)
		rc = tables_write(ch);
	if (rc) {
		tables_free(ch);
		return rc;
	}
	*ch_out = ch;
	return 0;
}

uint32_t wic_cuda_end_of(const struct wic_be_channel *ch, uint32_t tag)
{
	return (uint32_t)__atomic_load_n(&ch->ends[tag / WIC_TREE_LINE_TAGS], __ATOMIC_ACQUIRE);
}

static void end_lines(struct wic_be_channel *ch, uint32_t first, uint32_t count, uint32_t how)
{
	for (uint32_t i = first; i < first + count; i++)
		wic_tree_say_end(&ch->ends[i], ch->be->control_truth, how);
	for (uint32_t i = 2 * first; i < 2 * (first + count); i++)
		wic_tree_say_end(&ch->ends[ch->lines + i], ch->be->control_truth, how);
}

void wic_cuda_channel_close(struct wic_be_channel *ch)
{
	end_lines(ch, 0, ch->lines, WIC_TREE_CLOSED);
}

void wic_cuda_owner_died(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count)
{
	uint32_t first = tag_first / WIC_TREE_LINE_TAGS;
	uint32_t last = (tag_first + tag_count - 1) / WIC_TREE_LINE_TAGS;

	end_lines(ch, first, last - first + 1, WIC_TREE_DIED);
}

void wic_cuda_channel_destroy(struct wic_be_channel *ch)
{
	wic_cuda_reports_say(ch->be);
	tables_free(ch);
}

void wic_cuda_channel_handle(const struct wic_be_channel *ch, struct wic_handle *handle_out)
{
	memset(handle_out, 0, sizeof(*handle_out));
	/* wic/device.cuh knows that this is where the words lie. */
	handle_out->dir = (struct wic_dir_entry *)(void *)ch->push.data;
	handle_out->data = ch->push.pages;
	handle_out->channel = (void *)(uintptr_t)ch->device_push;
	handle_out->bytes_per_tag = ch->desc.bytes_per_tag;
	handle_out->tags = ch->desc.tags;
	handle_out->consumer = ch->desc.consumer.v;
	handle_out->producer = ch->desc.producer.v;
}
