/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A push channel, over the tree: what its two ends do, written once for warps of a GPU (nvcc) and
 * for threads of the host.  The tree says that something is there; this says where.
 *
 * A tag of a channel with payload has two pages; epoch e lies on page e % 2.  Nothing is copied:
 * the producer fills the page that the consumer reads.
 *
 *	stage(e)	waits for the credit of what page e % 2 held before
 *	publish(e)	the page's epoch, then the tag's word
 *	request(e)	waits for the word, then looks whether the page still holds e
 *	release(e)	counts; the last reader's is the credit
 *
 * Who is at the ends decides where all that lies:
 *
 *	                 host -> GPU           GPU -> host          GPU -> the same GPU
 *	data             lines on the GPU      lines in host        lines on the GPU,
 *	                 over truth words      memory, posted to    raised in place
 *	credit           lines in host         lines on the GPU     lines on the GPU,
 *	                 memory, posted to     over truth words     posted to
 *	pages, headers   host memory           host memory          on the GPU
 *
 * One thread or warp at a time stages and publishes a tag.  A page whose epoch is gone is told from
 * one that is there by its header and its count, never by luck.
 *
 * All lanes of @m call each function together, with the same arguments, and get the same result.
 */
#ifndef WIC_PUSH_H
#define WIC_PUSH_H

#include <wic/tree.h>

/* A tag as its producer keeps it, in its own memory. */
struct wic_push_tag {
	uint64_t published; /* last epoch */
	uint64_t staged;    /* whose page is out, 0: none */
	uint64_t filled[2]; /* what lies on each page */
};

/* A wait that timed out on a device, for the host to say. */
struct wic_push_report {
	uint64_t number; /* 1 + how many there were before; written last */
	uint64_t want;
	uint64_t seen;
	uint64_t timeout_ns;
	uint32_t channel;
	uint32_t tag;
	uint32_t block;
	uint32_t warp;
	uint32_t grid_blocks;
	uint32_t blocks_waited; /* that reached a wait, since the last launch by wic_launch() */
	uint32_t is_stage;      /* it waited for a page to fill */
	uint32_t pad;
};

#define WIC_PUSH_REPORTS 64u

/* As an end sees it; constant after it was made.  Pointers are the same on host and device. */
struct wic_push_channel {
	struct wic_tree_line *data;   /* where the consumer waits: a word a tag */
	struct wic_tree_line *credit; /* where the producer waits: words 2 * tag + page */
	uint64_t *truth;              /* host memory; NULL: a device publishes */
	uint64_t *credit_truth;       /* host memory; NULL: credits are posted to credit's words */
	struct wic_push_tag *tag;     /* the producer's */
	uint64_t *header;     /* 2 a tag: epoch on the page, written before it is published */
	uint64_t *count;      /* 2 a tag: as wic_tree_release() counts, the consumer's */
	unsigned char *pages; /* 2 a tag */
	uint64_t stride;      /* bytes of a page; 0: signals */
	struct wic_push_report *reports; /* host memory, WIC_PUSH_REPORTS of the context */
	uint64_t *report_count;          /* device memory */
	uint32_t tags;
	uint32_t readers;
	uint32_t id;         /* for texts */
	uint32_t is_to_host; /* the host consumes */
};

WIC_STATIC_ASSERT(sizeof(struct wic_push_tag) == 32, "a tag");
WIC_STATIC_ASSERT(sizeof(struct wic_push_report) == 64, "a report");
WIC_STATIC_ASSERT(sizeof(struct wic_push_channel) == 104, "the host writes it, a device reads it");

WIC_TREE_FN uint32_t wic_push_page_(uint32_t tag, uint64_t epoch)
{
	return 2 * tag + (uint32_t)(epoch & 1);
}

/* Does the page hold @epoch, which is published, and may it be read?  One lane. */
WIC_TREE_FN uint32_t wic_push_is_here_(const struct wic_push_channel *c, uint32_t tag,
				       uint64_t epoch)
{
	uint32_t page = wic_push_page_(tag, epoch);

	/* Nothing later is published: it is this one.  Else the header tells, across the bus. */
	if (wic_t_load(wic_tree_tag_word(c->data, tag)) != epoch &&
	    wic_t_acquire_sys(&c->header[page]) != epoch)
		return 0;
	return !wic_tree_is_released(&c->count[page], c->readers, epoch);
}

/* The epoch after that released last: readers is 1.  Counts keep 48 bits, the word has the rest. */
WIC_TREE_FN uint64_t wic_push_next_(const struct wic_push_channel *c, uint32_t tag)
{
	uint64_t word = wic_t_load(wic_tree_tag_word(c->data, tag)), last = 0;

	for (uint32_t page = 2 * tag; page < 2 * tag + 2; page++) {
		uint64_t count = wic_t_load(&c->count[page]);
		uint64_t epoch = word - ((word - (count >> 16)) & (UINT64_MAX >> 16));

		if (count && epoch > last)
			last = epoch;
	}
	return last + 1;
}

/* WIC_EPOCH_NEXT is that; 0: this channel has none. */
WIC_TREE_FN uint64_t wic_push_epoch_(const struct wic_push_channel *c, uint32_t tag, uint64_t epoch,
				     uint32_t m)
{
	uint64_t next = 0;

	if (epoch != WIC_EPOCH_NEXT)
		return epoch;
	WIC_T_ONE(m)
		next = c->readers == 1 ? wic_push_next_(c, tag) : 0;
	epoch = (uint64_t)wic_t_get(m, (uint32_t)(next >> 32)) << 32;
	return epoch | wic_t_get(m, (uint32_t)next);
}

/**
 * wic_push_request() - Wait for the data of (tag, epoch) and get it.
 * @c: a channel with payload, of which the caller is the consumer.
 * @lot: see wic_tree_wait().
 * @tag: in [0, tags).
 * @epoch: exactly this one; WIC_EPOCH_NEXT where readers is 1.
 * @timeout_ns: see wic_tree_wait().
 * @m: live lanes.
 * @data_out: the page, until the release; set on success.
 *
 * Context: warp, converged, outside lane loops; or a host thread that is one.
 * Return: as wic_tree_wait(); -EINVAL also: signals, or the epoch is gone.
 */
WIC_TREE_FN int wic_push_request(const struct wic_push_channel *c, struct wic_lot *lot,
				 uint32_t tag, uint64_t epoch, uint64_t timeout_ns, uint32_t m,
				 void **data_out)
{
	int rc;

	if (!c->stride || tag >= c->tags)
		return WIC_TREE_EINVAL;
	epoch = wic_push_epoch_(c, tag, epoch, m);
	rc = wic_tree_wait(lot, c->data, c->tags, tag, epoch, timeout_ns, m);
	if (rc)
		return rc;
	WIC_T_ONE(m)
		rc = wic_push_is_here_(c, tag, epoch) ? 0 : WIC_TREE_EINVAL;
	rc = (int)wic_t_get(m, (uint32_t)rc);
	if (!rc)
		*data_out = c->pages + wic_push_page_(tag, epoch) * c->stride;
	return rc;
}

/**
 * wic_push_release() - Say that this warp, or thread, is done with the data of (tag, epoch).
 * @c: see wic_push_request().
 * @tag: see wic_push_request().
 * @epoch: see wic_push_request().
 * @m: live lanes, all of whose reads come before.
 *
 * Who requested is not known: the first so many releases of a published epoch count.
 *
 * Context: warp, converged; or host thread.
 * Return: 0; -EINVAL: bad argument, or this epoch is not held here.
 */
WIC_TREE_FN int wic_push_release(const struct wic_push_channel *c, uint32_t tag, uint64_t epoch,
				 uint32_t m)
{
	uint32_t page, is_here = 0;
	uint64_t *credit;

	if (!c->stride || tag >= c->tags)
		return WIC_TREE_EINVAL;
	epoch = wic_push_epoch_(c, tag, epoch, m);
	if (epoch - 1 >= WIC_EPOCH_LAST)
		return WIC_TREE_EINVAL;
	page = wic_push_page_(tag, epoch);
	WIC_T_ONE(m)
		is_here = wic_t_load(wic_tree_tag_word(c->data, tag)) >= epoch &&
			  wic_push_is_here_(c, tag, epoch);
	if (!wic_t_get(m, is_here))
		return WIC_TREE_EINVAL;
	credit = c->credit_truth ? &c->credit_truth[page] : wic_tree_tag_word(c->credit, page);
	return wic_tree_release(&c->count[page], c->readers, credit, epoch, m) < 0 ? WIC_TREE_EINVAL
										   : 0;
}

/**
 * wic_push_stage() - Get the page to fill for an epoch of a tag.
 * @c: a channel with payload, of which the caller is the producer.
 * @lot: see wic_tree_wait().
 * @tag: in [0, tags).
 * @epoch: greater than the published one; not by a multiple of 2^48 later than the last on its
 * page.
 * @timeout_ns: see wic_tree_wait().
 * @m: live lanes.
 * @buffer_out: the page, until it is published; set on success.
 *
 * Context: warp, converged, outside lane loops; or a host thread that is one.
 * Return: as wic_tree_wait(); -EINVAL also: signals, an epoch that is not later.
 */
WIC_TREE_FN int wic_push_stage(const struct wic_push_channel *c, struct wic_lot *lot, uint32_t tag,
			       uint64_t epoch, uint64_t timeout_ns, uint32_t m, void **buffer_out)
{
	uint32_t page = wic_push_page_(tag, epoch);
	uint64_t before;
	int rc = 0;

	if (!c->stride || tag >= c->tags || epoch - 1 >= WIC_EPOCH_LAST ||
	    epoch <= wic_t_load(&c->tag[tag].published))
		return WIC_TREE_EINVAL;
	before = wic_t_load(&c->tag[tag].filled[epoch & 1]);
	/* Counts keep 48 bits: the new epoch would count as released. */
	if (before && !((before ^ epoch) << 16))
		return WIC_TREE_EINVAL;
	if (before)
		rc = wic_tree_wait(lot, c->credit, 2 * c->tags, page, before, timeout_ns, m);
	if (rc)
		return rc;
	WIC_T_ONE(m)
		wic_t_store(&c->tag[tag].staged, epoch);
	wic_t_sync(m);
	*buffer_out = c->pages + page * c->stride;
	return 0;
}

/* The producer's own words, and the page's header; 0 or -EINVAL.  One lane. */
WIC_TREE_FN int wic_push_commit_(const struct wic_push_channel *c, uint32_t tag, uint64_t epoch)
{
	struct wic_push_tag *t = &c->tag[tag];

	if (epoch <= wic_t_load(&t->published) || (c->stride && wic_t_load(&t->staged) != epoch))
		return WIC_TREE_EINVAL;
	wic_t_store(&t->published, epoch);
	if (c->stride) {
		wic_t_store(&t->staged, 0);
		wic_t_store(&t->filled[epoch & 1], epoch);
		wic_t_store(&c->header[wic_push_page_(tag, epoch)], epoch);
	}
	return 0;
}

/**
 * wic_push_publish() - Say that the data of (tag, epoch) is there.
 * @c: a channel of which the caller is the producer.
 * @tag: in [0, tags).
 * @epoch: the staged one; of signals any that is later than the last.
 * @m: live lanes, all of whose stores come before.
 *
 * Context: warp, converged; or host thread.
 * Return: 0; -EINVAL: bad argument, not staged, not later.
 */
WIC_TREE_FN int wic_push_publish(const struct wic_push_channel *c, uint32_t tag, uint64_t epoch,
				 uint32_t m)
{
	int rc = 0;

	if (tag >= c->tags || epoch - 1 >= WIC_EPOCH_LAST)
		return WIC_TREE_EINVAL;
	WIC_T_ONE(m)
		rc = wic_push_commit_(c, tag, epoch);
	rc = (int)wic_t_get(m, (uint32_t)rc);
	if (rc)
		return rc;
	if (c->truth)
		wic_tree_publish_sys(&c->truth[tag], epoch, m);
	else if (c->is_to_host)
		wic_tree_publish_sys(wic_tree_tag_word(c->data, tag), epoch, m);
	else
		wic_tree_publish(c->data, tag, epoch, m);
	return 0;
}

#endif /* WIC_PUSH_H */
