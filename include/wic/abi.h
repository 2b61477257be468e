/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What host and device share: fixed widths, sizes asserted.  A kernel reads
 * these through include/wic/kernel.h; nobody else needs this header.
 */
#ifndef WIC_ABI_H
#define WIC_ABI_H

#ifdef __CUDACC_RTC__
#include <wic/rtc.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define WIC_WARP_LANES 32   /* lanes of a warp, on every back-end */
#define WIC_BATCH_WARPS 16  /* requests of one interrupt at the most */
#define WIC_PAGE_BYTES 4096 /* a PCM page */

/* Timeouts are in ns.  0 means: look once.  There is no "default" timeout. */
#define WIC_FOREVER UINT64_MAX
#define WIC_US(us) ((uint64_t)(us)*1000u)
#define WIC_MS(ms) ((uint64_t)(ms)*1000000u)
#define WIC_S(s) ((uint64_t)(s)*1000000000u)

/* Epochs run from 1 to WIC_EPOCH_LAST.  0 means: nothing published yet. */
#define WIC_EPOCH_NONE ((uint64_t)0)
#define WIC_EPOCH_LAST (UINT64_MAX - 1)
/* In a request and its release: the one after that last released here; readers is 1. */
#define WIC_EPOCH_NEXT UINT64_MAX

/*
 * Where the data of a tag lies on this device.  Written page first, epoch last
 * (release); a reader loads epoch (acquire), page, epoch again, so an entry that
 * moves to another epoch under the reader is never taken for the one wanted.
 * Filled by the Monitor while it is empty; emptied, with one reader a tag, by the warp
 * that releases the epoch, else by the Monitor when the last reader has.  So nobody who
 * holds an epoch finds its entry replaced.  Accessed with atomic builtins only.
 */
struct wic_dir_entry {
	uint64_t epoch;    /* epoch on the page, WIC_EPOCH_NONE: no page here */
	uint32_t page;     /* first PCM page of the run that holds it */
	uint32_t released; /* low half of the epoch released last, readers = 1 */
};

/**
 * struct wic_handle - A channel as a kernel sees it; plain data, copied freely.
 * @dir: one entry a tag, borrowed from the channel until it is destroyed.
 * @data: data of PCM page 0; page p is at p * WIC_PAGE_BYTES.
 * @channel: the back-end's own channel, opaque here.
 * @bytes_per_tag: payload of one tag in bytes, 0 for a channel of signals only.
 * @tags: number of tags; a tag is in [0, tags).
 * @tags_inline: @tags where one release gives an epoch's pages back (readers is 1), so
 *	that the release needs no call; else 0.
 * @consumer: whose warps may request: a word for a logical device of one context, which
 *	no other context of the process has; UINT32_MAX: the host.
 * @producer: whose warps may stage and publish; as @consumer.
 */
struct wic_handle {
	struct wic_dir_entry *dir;
	unsigned char *data;
	void *channel;
	uint64_t bytes_per_tag;
	uint32_t tags;
	uint32_t tags_inline;
	uint32_t consumer;
	uint32_t producer;
};

/* One tag of a set: wic_wait_all(), wic_request_all(). */
struct wic_ref {
	uint64_t epoch;
	void *data; /* set by wic_request_all() */
	uint32_t tag;
	uint32_t reserved; /* 0 */
};

#define WIC_SET_MAX 64 /* tags of a set at the most */

/* One event of the recorder: see wic/stats.h for the kinds. */
struct wic_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t epoch;
	uint32_t tag;
	uint32_t warp; /* block * warps a block + warp in the block */
	uint16_t channel;
	uint16_t sm;
	uint8_t kind; /* enum wic_event_kind */
	uint8_t pad[3];
};

#ifdef __cplusplus
#define WIC_STATIC_ASSERT static_assert
#else
#define WIC_STATIC_ASSERT _Static_assert
#endif
/* NVRTC has no offsetof, and nothing else that is a constant. */
#ifdef __CUDACC_RTC__
#define WIC_STATIC_ASSERT_AT(type, field, offset, why) WIC_STATIC_ASSERT(sizeof(type), why)
#else
#define WIC_STATIC_ASSERT_AT(type, field, offset, why) \
	WIC_STATIC_ASSERT(offsetof(type, field) == (offset), why)
#endif

WIC_STATIC_ASSERT(sizeof(struct wic_dir_entry) == 16, "a tag's entry is read in two words");
WIC_STATIC_ASSERT_AT(struct wic_dir_entry, page, 8, "the page follows the epoch");
WIC_STATIC_ASSERT(sizeof(struct wic_handle) == 48, "the handle is passed by value");
WIC_STATIC_ASSERT(sizeof(struct wic_event) == 32, "two events a cache line");

#endif /* WIC_ABI_H */
