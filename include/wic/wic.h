/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * WIC, the host's side: contexts, channels, publishing, launching.
 *
 * A *channel* joins a producer side to a consumer side and has tags.  The
 * producer stages the payload of a (tag, epoch), fills it and publishes it; a
 * warp of a kernel on the consumer side requests it (wic/kernel.h) and is parked
 * until it is there.  Availability is one 64-bit epoch a tag that only grows:
 * nothing is ever reset between rounds.
 *
 * What follows holds for each function here, in error.h and in stats.h, unless its Context
 * says otherwise:
 *
 * Threads: all functions may be called from any thread at the same time, except
 * that nothing may use an object while or after it is destroyed.
 *
 * Kernels: what belongs to the host is -EINVAL inside a kernel; a function without a
 * status writes a line to the log there and does nothing.
 *
 * Signals: none may be called from a signal handler.
 *
 * fork(): in the child a function that is given an object of the parent's is -EINVAL; one
 * without a status writes a line to the log and does nothing.  The child may open a context of
 * its own.  A kernel must not call fork().
 *
 * Pointers: NULL is -EINVAL where no text says what it means.  What is no object of the right
 * type is found out by wic_close(), wic_channel_close(), wic_channel_destroy(),
 * wic_producer_open(), wic_producer_close() and the functions that return a status and take a
 * context; the others must not be given such a pointer.
 */
#ifndef WIC_WIC_H
#define WIC_WIC_H

#include <stddef.h>
#include <stdint.h>

#include <wic/abi.h>
#include <wic/error.h>
#include <wic/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wic;
struct wic_channel;

/* An end of a channel: the host, or the n-th logical device. */
struct wic_device_id {
	uint32_t v;
};

static inline struct wic_device_id wic_device_id_make_(uint32_t v)
{
	struct wic_device_id id = { v };

	return id;
}

#define WIC_DEVICE_HOST_VALUE UINT32_MAX
#define WIC_HOST wic_device_id_make_(WIC_DEVICE_HOST_VALUE)
#define WIC_GPU(n) wic_device_id_make_(n)

/* Ways to stop a warp on a page, backends/cpu only. */
enum wic_mechanism {
	WIC_MECHANISM_AUTO = 0, /* the best that works here; the reason is logged */
	WIC_MECHANISM_UFFD,     /* userfaultfd, MISSING + SIGBUS, USER_MODE_ONLY */
	WIC_MECHANISM_MPROTECT, /* mprotect + SIGSEGV; pools of at most 60,000 pages */
};

enum wic_log_level { WIC_LOG_ERROR = 0, WIC_LOG_WARN, WIC_LOG_INFO, WIC_LOG_DEBUG };

/**
 * struct wic_config - How to open a context.  Start from WIC_CONFIG_INIT.
 * @size_bytes: sizeof(struct wic_config), set by WIC_CONFIG_INIT.
 * @backend: "auto", "cpu", "cuda", or "nil", which carries nothing (backends/nil).  NULL is
 *	"auto": "cuda" where there is a GPU, else "cpu"; a program whose kernels are CUDA's
 *	asks for "cuda", an error without one.  Borrowed during wic_open().
 * @sms: cpu: emulated SMs of a device, one thread each, 1 to 4,096;
 *	@sms * @devices * @sm_warps is at most 2^20 - 1,024.  0: an equal part of cores - 1, at
 *	least 1.
 * @sm_warps: cpu: resident warps an SM, 1 to 1024; see @sms.  0: 64.
 * @sm_blocks: cpu: resident blocks an SM, 1 to @sm_warps.  0: 8, or @sm_warps if
 *	that is less.
 * @stack_bytes: cpu: stack of a warp, 16 KiB to 8 MiB, rounded up to pages. 0: 64 KiB.
 *	A kernel that overflows it ends the process: SIGSEGV at a guard page, without a line.
 * @pool_pages: PCM pages of 4 KiB, partners included, an even number from 2 to
 *	2^21.  0: 16,384.
 * @close_batch: pages that are closed together, 1 to @pool_pages / 2.  0: the
 *	back-end's default.
 * @mechanism: enum wic_mechanism.
 * @record_events: capacity of the recorder's ring an SM, in events, at most 2^26;
 *	0: off.
 * @unpinned: non-zero: leave the threads unpinned.
 * @warn_after_ms: a wait older than this is reported in the log, once, and goes on;
 *	UINT32_MAX: never.  0: 10,000.
 * @reserved: 0.
 * @devices: cpu: logical devices, 1 to 16, each with @sms SMs, a pool of @pool_pages and
 *	memory of its own; (@devices + 1) * @pool_pages is at most 2^24, and see @sms.  0: 1.
 * @log: called for each log line, without newline, from any thread, also several at
 *	a time; it must not open or close contexts, nor call what waits
 *	for the Monitor (wic_waiters(), wic_stats_get(), making or ending a channel).  There is
 *	one for the process: that of the context opened last that has one.  NULL: no change,
 *	which is stderr to begin with.
 * @log_arg: passed to @log.
 *
 * A field that is 0 (or NULL) takes the value of its WIC_* variable if that is
 * set (WIC_BACKEND, WIC_SMS, WIC_SM_WARPS, WIC_SM_BLOCKS, WIC_STACK_BYTES,
 * WIC_POOL_PAGES, WIC_CLOSE_BATCH, WIC_MECHANISM, WIC_RECORD_EVENTS,
 * WIC_UNPINNED, WIC_DEVICES, WIC_WARN_AFTER_MS), then the default; a variable that is 0 or empty
 * counts as not set. WIC_LOG is error, warn, info or debug.  WIC_LIBCUDA is the path of a CUDA
 * driver to use instead of libcuda.so.1; tests give one of theirs.  An unknown WIC_* variable gets
 * a warning, a malformed value is -EINVAL.
 *
 * This struct, and the other descriptions that begin with size_bytes, may be longer
 * than the library's own as long as what it does not know is 0.
 */
struct wic_config {
	uint64_t size_bytes;
	const char *backend;
	uint32_t sms;
	uint32_t sm_warps;
	uint32_t sm_blocks;
	uint32_t stack_bytes;
	uint32_t pool_pages;
	uint32_t close_batch;
	uint32_t mechanism;
	uint32_t record_events;
	uint32_t unpinned;
	uint32_t devices;
	void (*log)(void *arg, int level, const char *line);
	void *log_arg;
	uint32_t warn_after_ms;
	uint32_t reserved;
};

#define WIC_CONFIG_INIT                                                                         \
	{                                                                                       \
		sizeof(struct wic_config), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0 \
	}

/**
 * wic_open() - Open a context: pick a back-end and start its threads.
 * @cfg: NULL for all defaults; borrowed during the call.
 * @w_out: the new context, owned by the caller, ended by wic_close().
 *
 * The pool's data is touched here: pool_pages * 4 KiB become resident (64 MiB by default).
 * cuda: no pool; the primary context of the first GPU that the driver names, which the CUDA
 * runtime uses too; the thread's current context stays what it was.
 *
 * Context: any thread outside a kernel; blocks for some ms, longer with a large pool.
 * Return: 0; -EINVAL: a field or a WIC_* variable out of range; -ENOTSUP: the
 * back-end or mechanism does not work here (wic_last_error() says why);
 * -ENOMEM, -EAGAIN: no memory or threads.
 */
int wic_open(const struct wic_config *cfg, struct wic **w_out) WIC_MUST_CHECK;

/**
 * wic_close() - End a context and everything made from it.
 * @w: an open context, or NULL.  One that is not open (closed twice) is reported
 *	in the log and left alone.
 *
 * Cancels all waits, lets running kernels return, joins all threads.  A kernel
 * that never returns by itself keeps wic_close() waiting: it says so in the log
 * each second.
 *
 * Context: any thread outside a kernel; blocks.
 */
void wic_close(struct wic *w);

/**
 * wic_describe() - One line: back-end, mechanism, SMs, and why these.
 * @w: an open context.
 *
 * Context: any thread, also from a kernel and in a child of fork(); does not block.
 * Return: a string owned by @w until it is closed; NULL when @w is NULL.
 */
const char *wic_describe(const struct wic *w);

enum wic_mode {
	WIC_MODE_DEFAULT = 0, /* cpu: pull; cuda: push */
	WIC_MODE_PULL,        /* the consumer requests, the engine fills pages */
	/* The producer fills one of two pages a tag on the consumer's side: no pool, no fault. */
	WIC_MODE_PUSH,
};

/*
 * The tags have words of their own that a producing warp stores to (wic_pat()): the store is
 * the notice, by a write fault.
 */
#define WIC_CHANNEL_PAT 1u

/**
 * struct wic_channel_desc - What a channel is.  Start from WIC_CHANNEL_DESC_INIT.
 * @size_bytes: sizeof(struct wic_channel_desc).
 * @mode: enum wic_mode.
 * @readers: releases an epoch of a tag needs before its pages are reused, 1 to
 *	65,535; 1 by default.  Each warp that requests it releases it: all 8 warps of 4
 *	blocks are 32 readers; a _block form of device.cuh is one.  In push mode an epoch
 *	is held from its publish on.
 * @producer: WIC_HOST or WIC_GPU(n), which stages and publishes.
 * @consumer: WIC_GPU(n) or WIC_HOST, which requests and releases; not both the host.
 * @tags: number of tags, 1 to 2^20.
 * @flags: 0, or WIC_CHANNEL_PAT where a device is the producer.
 * @bytes_per_tag: payload of a tag in bytes; 0: signals only (wic_wait()).  In push mode too at
 *	most what half the pool holds; cuda: at most 4,096.
 */
struct wic_channel_desc {
	uint64_t size_bytes;
	uint32_t mode;
	uint32_t readers;
	struct wic_device_id producer;
	struct wic_device_id consumer;
	uint32_t tags;
	uint32_t flags;
	uint64_t bytes_per_tag;
};

#define WIC_CHANNEL_DESC_INIT                                                                    \
	{                                                                                        \
		sizeof(struct wic_channel_desc), 0, 1, { WIC_DEVICE_HOST_VALUE }, { 0 }, 0, 0, 0 \
	}

/**
 * wic_channel_create() - Make a channel.
 * @w: an open context.
 * @d: borrowed during the call.
 * @ch_out: the new channel, owned by the caller, ended by wic_channel_destroy()
 *	or with its context.
 *
 * All memory that the channel needs is taken here: tags * bytes_per_tag for
 * staging, 64 bytes or so a tag beside it; in push mode twice the former, 200 or so beside it.
 *
 * Context: any thread outside a kernel; may block.
 * Return: 0; -EINVAL: not an open context, NULL or a field out of range; -E2BIG: bytes_per_tag
 * needs more than the usable half of the pool; -ENOTSUP: this back-end has no such mode or devices;
 * -ENOMEM: no memory, or more than 64 channels or 2^20 tags, of all channels together, in the
 * context; -EIO: the context is dead.
 */
int wic_channel_create(struct wic *w, const struct wic_channel_desc *d,
		       struct wic_channel **ch_out) WIC_MUST_CHECK;

/**
 * wic_channel_close() - End all waits, refuse new ones, staging and publishing.
 * @ch: a channel.
 *
 * Warps waiting on it return -ECANCELED, so does a thread in wic_stage().  Pages
 * that warps hold stay theirs until they release them; until all readers have, their data
 * is still given to who requests it (in push mode: whatever was published).
 *
 * Context: any thread outside a kernel; waits for the Monitor, some us.
 * Return: 0; -EINVAL: NULL, not a channel, or closed before.
 */
int wic_channel_close(struct wic_channel *ch) WIC_MUST_CHECK;

/**
 * wic_channel_destroy() - Close the channel if it is open, and free it.
 * @ch: a channel that no kernel uses any more, or NULL.  One that does not
 *	exist (destroyed twice) is reported in the log and left alone.
 *
 * Context: any thread outside a kernel; waits until the kernels launched before have returned.
 */
void wic_channel_destroy(struct wic_channel *ch);

/**
 * wic_channel_handle() - The channel as a kernel takes it, by value.
 * @ch: a channel; NULL gives a handle on which every device call is -EINVAL.
 *
 * Context: any thread, also from a kernel and, where the handle is of no use, in a child of
 * fork(); does not block.
 * Return: the handle, usable until the channel is destroyed in kernels of its context.
 */
struct wic_handle wic_channel_handle(const struct wic_channel *ch);

/**
 * wic_stage() - Get the buffer to fill for an epoch of a tag.
 * @ch: a channel with bytes_per_tag > 0.
 * @tag: in [0, tags).
 * @epoch: greater than the tag's published epoch, at most WIC_EPOCH_LAST.  cuda: not by a multiple
 *	of 2^48 later than the last that was even, or odd, as it is.
 * @timeout_ns: how long to wait for the buffer; 0 is wic_try_stage(); WIC_FOREVER.
 * @buffer_out: bytes_per_tag bytes, 64-byte aligned, the caller's to write until
 *	it publishes.
 *
 * In pull mode a tag has one buffer: the one for the next epoch is free once the consumer's
 * device has its copy of the last published one, which the first request for that makes.  In push
 * mode it has two, in turn, from which the consumers read: the one for the next epoch is free
 * once all readers of the last but one that was published have released it.
 *
 * Context: any host thread outside a kernel; blocks up to @timeout_ns.
 * Return: 0; -ETIMEDOUT; -ECANCELED: closed meanwhile, or wic_cancel(); -EIO: the context is
 * dead; -EINVAL: NULL, closed, no payload, tag or epoch out of range; -EBUSY: another thread is
 * inside a call that stages or publishes this tag, or another producer handle has the tag.  (Two
 * threads that stage the same epoch one after the other get the same buffer.)
 */
int wic_stage(struct wic_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
	      void **buffer_out) WIC_MUST_CHECK;

/**
 * wic_try_stage() - As wic_stage(), but never waits.
 * @ch: see wic_stage().
 * @tag: see wic_stage().
 * @epoch: see wic_stage().
 * @buffer_out: see wic_stage().
 *
 * Context: any host thread outside a kernel; does not block.
 * Return: as wic_stage(), and -EAGAIN: the buffer is not free now.
 */
int wic_try_stage(struct wic_channel *ch, uint32_t tag, uint64_t epoch,
		  void **buffer_out) WIC_MUST_CHECK;

/**
 * wic_publish() - Say that the data of (tag, epoch) is there.
 * @ch: a channel.
 * @tag: in [0, tags).
 * @epoch: the staged one; on a channel of signals any that is greater than the
 *	last, at most WIC_EPOCH_LAST.
 *
 * What the calling thread wrote before, into the staged buffer and elsewhere, is visible to
 * every lane of a warp whose wait for it returns 0.
 *
 * Context: any host thread outside a kernel; does not block, takes no lock.
 * Return: 0; -EINVAL: NULL, closed, tag or epoch out of range, not staged;
 * -EBUSY: another thread stages or publishes this tag.
 */
int wic_publish(struct wic_channel *ch, uint32_t tag, uint64_t epoch) WIC_MUST_CHECK;

/**
 * wic_publish_range() - wic_publish() for the tags [tag_first, tag_first + tag_count).
 * @ch: a channel.
 * @tag_first: first tag.
 * @tag_count: at least 1.
 * @epoch: as wic_publish(), for each of them.
 *
 * All tags are checked first: on an error none is published.
 *
 * Context: any host thread outside a kernel; does not block.
 * Return: as wic_publish().
 */
int wic_publish_range(struct wic_channel *ch, uint32_t tag_first, uint32_t tag_count,
		      uint64_t epoch) WIC_MUST_CHECK;

struct wic_producer;

/* The handle's tags count as dead when the thread that opened it ends. */
#define WIC_PRODUCER_OF_THREAD 1u

/**
 * wic_producer_open() - Take a range of a channel's tags for a producer of its own.
 * @ch: a channel whose producer is the host.
 * @tag_first: first tag, a multiple of 16.
 * @tag_count: a multiple of 16, or up to the channel's last tag.
 * @flags: 0 or WIC_PRODUCER_OF_THREAD.
 * @p_out: the handle, ended by wic_producer_close(); it ends with its channel too.
 *
 * From now on only this handle stages and publishes these tags (wic_stage() and the like, which
 * are the channel's own handle, are -EBUSY).  When it is closed, or its thread has ended, waits
 * for what it has not published end with -EOWNERDEAD, now and later; nobody can open or publish
 * these tags again.
 *
 * Context: any host thread outside a kernel; does not block.
 * Return: 0; -EINVAL: NULL, closed, tags out of range or not in lines of 16, unknown flags, a
 * device is the producer; -EBUSY: another handle has some of them; -ENOMEM.
 */
int wic_producer_open(struct wic_channel *ch, uint32_t tag_first, uint32_t tag_count,
		      uint32_t flags, struct wic_producer **p_out) WIC_MUST_CHECK;

/**
 * wic_producer_close() - Drop a producer handle: its tags' producer is dead from now on.
 * @p: a handle, or NULL.  One that does not exist (closed twice, or its channel is destroyed)
 *	is reported in the log and left alone.
 *
 * Context: any host thread outside a kernel; waits for the Monitor, some us.
 */
void wic_producer_close(struct wic_producer *p);

/**
 * wic_producer_stage() - wic_stage() of a producer handle.
 * @p: an open handle.
 * @tag: one of its tags.
 * @epoch: see wic_stage().
 * @timeout_ns: see wic_stage().
 * @buffer_out: see wic_stage().
 *
 * Context: any host thread outside a kernel; blocks up to @timeout_ns.
 * Return: as wic_stage(); -EBUSY also: the tag is another handle's; -EOWNERDEAD: the
 * handle's thread has ended, also while this call waits.
 */
int wic_producer_stage(struct wic_producer *p, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		       void **buffer_out) WIC_MUST_CHECK;

/**
 * wic_producer_publish() - wic_publish() of a producer handle.
 * @p: an open handle.
 * @tag: one of its tags.
 * @epoch: see wic_publish().
 *
 * Context: any host thread outside a kernel; does not block.
 * Return: as wic_publish(); -EBUSY also: the tag is another handle's; -EOWNERDEAD: the
 * handle's thread has ended: no waiter that was told so sees this publish.
 */
int wic_producer_publish(struct wic_producer *p, uint32_t tag, uint64_t epoch) WIC_MUST_CHECK;

/**
 * wic_host_wait() - Sleep until an epoch of a tag, or a later one, is published; no data.
 * @ch: a channel whose consumer is the host.
 * @tag: in [0, tags).
 * @epoch: 1 to WIC_EPOCH_LAST.
 * @timeout_ns: from now; 0: look once; WIC_FOREVER.
 *
 * What the publishing warp wrote before it published is visible after 0.
 *
 * Context: any host thread outside a kernel; sleeps up to @timeout_ns.
 * Return: 0; -ETIMEDOUT; -EAGAIN: timeout 0 and not there; -ECANCELED: closed meanwhile, or
 * wic_cancel(); -EOWNERDEAD: the producer ended without publishing; -EINVAL: NULL, closed before,
 * the consumer is no host, tag or epoch out of range; -EIO: the context is dead.
 */
int wic_host_wait(struct wic_channel *ch, uint32_t tag, uint64_t epoch,
		  uint64_t timeout_ns) WIC_MUST_CHECK;

/**
 * wic_host_request() - Sleep until the data of (tag, epoch) is there and get it.
 * @ch: a channel with bytes_per_tag > 0 whose consumer is the host.
 * @tag: in [0, tags).
 * @epoch: exactly this epoch.
 * @timeout_ns: from now; 0: only what is on a page of the host's already; WIC_FOREVER.
 * @data_out: bytes_per_tag bytes, page-aligned (cuda: by 256), readable until the release.
 *
 * After 0 the thread owes one wic_host_release().
 *
 * Context: any host thread outside a kernel; sleeps up to @timeout_ns.
 * Return: as wic_host_wait(); -EINVAL also: no payload, or an epoch that is gone (a later
 * one is published, or its readers have released it).
 */
int wic_host_request(struct wic_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		     const void **data_out) WIC_MUST_CHECK;

/**
 * wic_host_release() - Say that the host is done with the data of (tag, epoch).
 * @ch: see wic_host_request(); may be closed.
 * @tag: see wic_host_request().
 * @epoch: see wic_host_request().
 *
 * Context: any host thread outside a kernel; does not block.
 * Return: 0; -EINVAL: bad argument, or this epoch is not held here.
 */
int wic_host_release(struct wic_channel *ch, uint32_t tag, uint64_t epoch) WIC_MUST_CHECK;

/**
 * wic_cancel() - End every wait of the context with -ECANCELED, now and until cleared.
 * @w: an open context, or NULL.
 *
 * For all channels, devices and threads; data that is on a page here is still given out.  Waits end
 * within some 20 ms.
 *
 * Context: any thread, also from a kernel, any signal handler, also one of SIGSEGV or SIGBUS: one
 * word is changed, without a lock.  In a child of fork() the parent does not see it.
 */
void wic_cancel(struct wic *w);

/**
 * wic_cancel_clear() - Let waits wait again.
 * @w: an open context, or NULL.
 *
 * Context: as wic_cancel().
 */
void wic_cancel_clear(struct wic *w);

/* What a waiter waits for. */
enum wic_waiter_kind {
	WIC_WAITER_DATA = 0, /* an epoch of a tag */
	WIC_WAITER_SET,      /* the rest of a set; @tag is one of it */
	WIC_WAITER_ANY,      /* any tag to claim; @tag is the channel's number of tags */
	WIC_WAITER_BUFFER,   /* a buffer to stage into: a fill, push: all releases, of @epoch */
	WIC_WAITER_PAGES,    /* free pages of its device */
};

/**
 * struct wic_waiter - One who waits.
 * @epoch: wanted; WIC_WAITER_ANY: a count of the channel's publishes.
 * @epoch_seen: published (WIC_WAITER_BUFFER: filled; push: up to this one all are released).
 * @age_ns: since it began.
 * @left_ns: until its deadline; WIC_FOREVER: it has none.
 * @channel: number of the channel in its context, as in error texts.
 * @tag: what it waits for.
 * @device: logical device of the warp; UINT32_MAX: a host thread.
 * @block: of the warp; 0 for a thread.
 * @warp: in its block; 0 for a thread.
 * @kind: enum wic_waiter_kind.
 */
struct wic_waiter {
	uint64_t epoch;
	uint64_t epoch_seen;
	uint64_t age_ns;
	uint64_t left_ns;
	uint32_t channel;
	uint32_t tag;
	uint32_t device;
	uint32_t block;
	uint32_t warp;
	uint32_t kind;
};

/**
 * wic_waiters() - Who waits now, for what, since when.
 * @w: an open context; kernels may run.
 * @waiters_out: @max places; may be NULL when @max is 0.
 * @max: how many to write at the most.
 * @count_out: how many there were, also those that did not fit.
 *
 * Host threads inside wic_stage() are not listed.
 *
 * Context: any thread outside a kernel; waits for the Monitor, some us.
 * Return: 0; -EINVAL: NULL or not an open context; -ENOTSUP: the back-end cannot tell.
 */
int wic_waiters(struct wic *w, struct wic_waiter *waiters_out, size_t max,
		size_t *count_out) WIC_MUST_CHECK;

/**
 * struct wic_launch_desc - A kernel and its grid.  Start from WIC_LAUNCH_DESC_INIT.
 * @size_bytes: sizeof(struct wic_launch_desc).
 * @kernel: what WIC_KERNEL() in wic/kernel.h defined.
 * @args: its argument struct, borrowed until wic_sync() has returned 0.
 * @grid_blocks: number of blocks, at least 1; more than are resident is legal.  All
 *	blocks together have less than 2^32 - 1 warps.
 * @block_threads: threads a block, at least 1; need not be a multiple of 32.
 * @shared_bytes: shared memory a block, at most 1 MiB; zeroed, but not on cuda.
 * @device: WIC_GPU(n), the logical device that runs it.
 */
struct wic_launch_desc {
	uint64_t size_bytes;
	void (*kernel)(const void *args);
	const void *args;
	uint32_t grid_blocks;
	uint32_t block_threads;
	uint32_t shared_bytes;
	struct wic_device_id device;
};

#define WIC_LAUNCH_DESC_INIT                                          \
	{                                                             \
		sizeof(struct wic_launch_desc), NULL, NULL, 1, 32, 0, \
		{                                                     \
			0                                             \
		}                                                     \
	}

/**
 * wic_launch() - Start a kernel on a logical device; returns at once.
 * @w: an open context.
 * @l: borrowed during the call.
 *
 * Context: any thread outside a kernel; does not block for the kernel.
 * Return: 0; -EINVAL: not an open context, NULL or a field out of range; -E2BIG: one block needs
 * more warps than an SM holds; -EBUSY: a kernel is running on that device; -ENOMEM; -EIO: the
 * context is dead.
 */
int wic_launch(struct wic *w, const struct wic_launch_desc *l) WIC_MUST_CHECK;

/**
 * struct wic_fit - How a launch fits on its device.  Start from WIC_FIT_INIT.
 * @size_bytes: sizeof(struct wic_fit).
 * @sm_blocks: blocks of this kernel that are resident on an SM at a time, if it is alone there.
 * @resident_blocks: the same of the whole device.  Blocks past it begin when others have ended,
 *	so that what resident blocks wait for must not be theirs to publish.
 * @grid_blocks: of the launch.
 * @registers: of a thread; 0: not known, or there are none.
 * @spill_bytes: cuda: memory of a thread that is no register: what was spilled, and arrays
 *	that are indexed at run time.
 * @reserved: 0.
 */
struct wic_fit {
	uint64_t size_bytes;
	uint32_t sm_blocks;
	uint32_t resident_blocks;
	uint32_t grid_blocks;
	uint32_t registers;
	uint32_t spill_bytes;
	uint32_t reserved;
};

#define WIC_FIT_INIT                                     \
	{                                                \
		sizeof(struct wic_fit), 0, 0, 0, 0, 0, 0 \
	}

/**
 * wic_check() - Would this launch fit, and how much of it is resident?
 * @w: an open context; kernels may run.
 * @l: borrowed during the call; its args are not looked at.
 * @fit_out: start from WIC_FIT_INIT, which sets size_bytes; as much as both sides know is
 *	written.
 *
 * Context: any thread outside a kernel; launches nothing and waits for no kernel (cuda: for a
 * launch of another thread, which CUDA_LAUNCH_BLOCKING makes as long as its kernel).
 * Return: 0, and wic_launch() gives this launch none of these: -EINVAL: not an open context,
 * NULL or a field out of range; -E2BIG: one block does not fit on an SM; -ENOTSUP: the back-end
 * runs no kernels, or not this one; -EIO: the context is dead.  cuda: -ENOMEM of the driver's.
 */
int wic_check(struct wic *w, const struct wic_launch_desc *l,
	      struct wic_fit *fit_out) WIC_MUST_CHECK;

/**
 * wic_check_word() - May warps of the context's devices wait for this word by wic_wait_word()?
 * @w: an open context; kernels may run.
 * @word: only its address is looked at.
 *
 * cuda: memory of the context's own GPU is right.  Memory of the host is not, because each look
 * at it crosses the bus; nor is managed memory, which moves while it is waited for; nor memory of
 * another GPU.  cpu: any aligned address is right.
 *
 * Context: any thread outside a kernel; does not block.
 * Return: 0; -EINVAL: not an open context, NULL, misaligned, or the wrong memory, which the text
 * names; -ENOTSUP: the back-end runs no kernels; -EIO: the context is dead.  cuda: -ENOMEM of
 * the driver's.
 */
int wic_check_word(struct wic *w, const uint64_t *word) WIC_MUST_CHECK;

/**
 * wic_sync() - Wait until the launched kernels, of all devices, have returned.
 * @w: an open context.
 * @timeout_ns: WIC_FOREVER to wait without bound.
 *
 * What another thread launches meanwhile is not waited for.
 *
 * Context: any thread outside a kernel; blocks up to @timeout_ns.
 * Return: 0, also when nothing was launched; -ETIMEDOUT: it runs on, call again;
 * -EINVAL: NULL, or not an open context; -EIO: the context is dead (an invariant of WIC broke).
 */
int wic_sync(struct wic *w, uint64_t timeout_ns) WIC_MUST_CHECK;

/**
 * wic_sync_device() - Wait until the kernel launched on one device has returned.
 * @w: an open context.
 * @device: WIC_GPU(n).
 * @timeout_ns: WIC_FOREVER to wait without bound.
 *
 * What another thread launches meanwhile is not waited for.
 *
 * Context: any thread outside a kernel; blocks up to @timeout_ns.
 * Return: as wic_sync(); -EINVAL also: no such device.
 */
int wic_sync_device(struct wic *w, struct wic_device_id device, uint64_t timeout_ns) WIC_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif /* WIC_WIC_H */
