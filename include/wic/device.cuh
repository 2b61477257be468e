/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Waiting in CUDA kernels: the CUDA face of push.h and tree.h, for nvcc (C++14) and NVRTC.
 *
 *	__global__ void consume(struct wic_handle h, ...)
 *	{
 *		__shared__ struct wic_lot lot;
 *		void *data;
 *
 *		wic_lot_init(&lot);			// all threads; holds a barrier
 *		c1();
 *		if (wic_request(&h, &lot, tag, epoch, WIC_MS(50), &data))
 *			return;				// a status, 0 or -errno; never a trap
 *		c2(data);				// this warp was parked; others ran
 *		(void)wic_release(&h, tag, epoch);
 *	}
 *
 * The handle is wic_channel_handle()'s, an argument by value.  Nothing here launches,
 * allocates or calls the host; kernels are launched as one likes.
 *
 * Three forms.  The plain one is a warp's: all its live lanes together, converged, with the
 * same arguments.  _mask: those lanes of a warp that @m names, which are converged; two such
 * groups of one warp may not wait at the same time.  _block: all threads of the block, the
 * first 32 of them converged; it holds barriers, and what it acquired is visible to all of
 * them.  After a loop or branch in which lanes of a warp went different ways, __syncwarp()
 * converges them: the plain form takes the lanes that it finds active for all, and parts of
 * a warp would wait, or release, each for itself.
 *
 * A lot is where the warps of a block meet: WIC_LOT_BYTES(warps) bytes of shared memory
 * (that macro is in tree.h), 8 aligned, static or a piece of the dynamic, of blocks of up to
 * 1,024 threads of any shape; a struct wic_lot is one for the largest block, 1,320 bytes.
 * It must have room for all warps of the block: nobody can see that it has not.  NULL is
 * legal: then the warp looks by itself, with sleeps.  Before the memory is used for anything
 * else: wic_lot_fini(), which need not be called at a kernel's end.  Threads may return when
 * they like, as long as no barrier waits for them.
 *
 * What is read after a wait must be read as other threads' data is: not through __ldg(), a
 * `const T *__restrict__` or a texture, which may show what was there before, nor by TMA or
 * cp.async.bulk before a fence.proxy.async.
 *
 * Blocks that wait keep their slots.  A grid that does not fit waits for blocks that have
 * not begun; where only the host or another GPU produces that is no more than slow.
 *
 * Timeouts are in ns of %globaltimer, whose step is 32 ns to 1 us, of old cards up to 1 ms.
 * 0 looks once.  In a build with -DWIC_DEBUG a mask that is not that of the active lanes is
 * -EINVAL; else it is undefined, as for __shfl_sync().
 *
 * With WIC_TREE_PLAIN_ONLY defined there is wic_wait_word() alone, in fewer registers.
 */
#ifndef WIC_DEVICE_CUH
#define WIC_DEVICE_CUH

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#error "wic/device.cuh is for nvcc and NVRTC; host code includes wic/wic.h"
#endif

#ifndef __CUDACC_RTC__
#include <errno.h>
#endif

#include <wic/abi.h>
#include <wic/tree.h>

#ifndef WIC_TREE_PLAIN_ONLY
#include <wic/push.h>
#endif

#ifndef WIC_DEVICE
#define WIC_DEVICE static __device__ __forceinline__
#endif

WIC_STATIC_ASSERT(WIC_TREE_EAGAIN == -11 && WIC_TREE_ETIMEDOUT == -110, "errno of Linux");

#define WIC_DEVICE_ENOTSUP_ (-95)
#define WIC_DEVICE_E2BIG_ (-7)

/* ---- the lot ---------------------------------------------------------------------------- */

WIC_DEVICE uint32_t wic_device_thread_(void)
{
	return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/**
 * wic_lot_init() - Make a lot, before any warp of the block waits.
 * @lot: WIC_LOT_BYTES() of the block's warps at least, in shared memory.
 *
 * Context: all threads of the block; holds the barrier after it.
 */
WIC_DEVICE void wic_lot_init(struct wic_lot *lot)
{
	if (wic_device_thread_() == 0)
		wic_tree_lot_init(lot, (blockDim.x * blockDim.y * blockDim.z + 31) / 32);
	__syncthreads();
}

/**
 * wic_lot_fini() - End a lot: its memory may be used for something else.
 * @lot: no warp waits there.
 *
 * Context: all threads of the block; holds the barriers around it.
 */
WIC_DEVICE void wic_lot_fini(struct wic_lot *lot)
{
	__syncthreads();
	if (wic_device_thread_() == 0)
		wic_tree_lot_fini(lot);
	__syncthreads();
}

/*
 * What is left of a set's time, never 0, which would ask for one look: lanes read the clock
 * one by one, and all or none of them may report the wait that is late.
 */
WIC_DEVICE uint64_t wic_device_left_(uint64_t until)
{
	uint64_t now = wic_t_now();

	return until > now ? until - now : 1;
}

/* Is @m what the caller says?  Only a debug build asks. */
WIC_DEVICE uint32_t wic_device_mask_is_wrong_(uint32_t m)
{
#ifdef WIC_DEBUG
	return m != __activemask();
#else
	return !m;
#endif
}

/*
 * A status of one warp, for the whole block: 0 where it is 0, which is one barrier; an error
 * goes on bit by bit.
 */
WIC_DEVICE int wic_device_share_(int rc)
{
	int all = 0;

	if (!__syncthreads_or(rc))
		return 0;
	for (int bit = 0; bit < 8; bit++)
		all |= !!__syncthreads_or(-rc >> bit & 1) << bit;
	return -all;
}

/* ---- words ------------------------------------------------------------------------------- */

/**
 * wic_wait_word_mask() - Wait until a word of the caller's is at least a value.
 * @lot: the block's lot, or NULL.
 * @word: 8 bytes, aligned, in memory of this GPU (wic_check_word() tells); see below for who
 *	may store to it.
 * @at_least: unsigned.
 * @timeout_ns: from now; 0: look once; WIC_FOREVER.
 * @m: the lanes that wait.
 *
 * Needs no context and no channel.  The value is stored in one piece, by a thread of this
 * GPU (release order, scope of the device), one of another GPU (scope of the system),
 * cuStreamWriteValue64(), or a copy of the 8 bytes on a stream.  What the storing thread
 * wrote before, or its stream did before, is visible after 0.  Nothing but value and deadline
 * ends it.
 *
 * Context: lanes of @m, converged.
 * Return: 0; -ETIMEDOUT; -EAGAIN: timeout 0; -EINVAL: NULL, misaligned, no lane, a lot for
 * fewer warps.
 */
WIC_DEVICE int wic_wait_word_mask(struct wic_lot *lot, const uint64_t *word, uint64_t at_least,
				  uint64_t timeout_ns, uint32_t m)
{
	int rc;

	if (wic_device_mask_is_wrong_(m))
		return WIC_TREE_EINVAL;
	rc = wic_tree_wait_word(lot, word, at_least, timeout_ns, m);
	return rc == WIC_TREE_ETIMEDOUT && !timeout_ns ? WIC_TREE_EAGAIN : rc;
}

/**
 * wic_wait_word() - wic_wait_word_mask() of a whole warp.
 * @lot: see wic_wait_word_mask().
 * @word: see wic_wait_word_mask().
 * @at_least: see wic_wait_word_mask().
 * @timeout_ns: see wic_wait_word_mask().
 *
 * Context: warp, converged.
 * Return: as wic_wait_word_mask().
 */
WIC_DEVICE int wic_wait_word(struct wic_lot *lot, const uint64_t *word, uint64_t at_least,
			     uint64_t timeout_ns)
{
	return wic_wait_word_mask(lot, word, at_least, timeout_ns, __activemask());
}

/**
 * wic_wait_word_block() - wic_wait_word_mask() of a whole block.
 * @lot: see wic_wait_word_mask().
 * @word: see wic_wait_word_mask().
 * @at_least: see wic_wait_word_mask().
 * @timeout_ns: see wic_wait_word_mask().
 *
 * Context: all threads of the block; holds barriers.
 * Return: as wic_wait_word_mask(), the same for all.
 */
WIC_DEVICE int wic_wait_word_block(struct wic_lot *lot, const uint64_t *word, uint64_t at_least,
				   uint64_t timeout_ns)
{
	int rc = 0;

	if (wic_device_thread_() < 32)
		rc = wic_wait_word(lot, word, at_least, timeout_ns);
	return wic_device_share_(rc);
}

#ifndef WIC_TREE_PLAIN_ONLY

/* ---- channels ---------------------------------------------------------------------------- */

WIC_DEVICE struct wic_tree_line *wic_device_lines_(const struct wic_handle *h)
{
	return (struct wic_tree_line *)(void *)h->dir;
}

WIC_DEVICE const struct wic_push_channel *wic_device_channel_(const struct wic_handle *h)
{
	return (const struct wic_push_channel *)h->channel;
}

/* Is the handle of a channel whose consumer (producer) is a GPU? */
WIC_DEVICE uint32_t wic_device_end_is_wrong_(const struct wic_handle *h, uint32_t end, uint32_t m)
{
	return wic_device_mask_is_wrong_(m) || !h || !h->channel || end == UINT32_MAX;
}

/* A wait that timed out, told to the host; and its status as callers get it. */
static __device__ __noinline__ int wic_device_late_(const struct wic_push_channel *c, uint32_t tag,
						    uint64_t want, uint64_t timeout_ns, uint32_t m,
						    uint32_t is_stage)
{
	uint64_t *word = is_stage ? wic_tree_tag_word(c->credit, wic_push_page_(tag, want))
				  : wic_tree_tag_word(c->data, tag);

	if (!timeout_ns)
		return WIC_TREE_EAGAIN;
	WIC_T_ONE(m) {
		uint64_t number = wic_t_count_(c->report_count) + 1;
		struct wic_push_report *r = &c->reports[(number - 1) % WIC_PUSH_REPORTS];
		struct wic_tree_line *control =
			c->is_to_host ? c->credit->control : c->data->control;

		/* Nobody reads it while it has no number. */
		wic_t_post_sys(&r->number, 0);
		/* Who stages waits for the releases of what lies on the page. */
		r->want = is_stage ? wic_t_load(&c->tag[tag].filled[want & 1]) : want;
		r->seen = wic_t_load(word);
		r->timeout_ns = timeout_ns;
		r->channel = c->id;
		r->tag = tag;
		r->block = wic_t_block();
		r->warp = wic_t_warp();
		r->grid_blocks = gridDim.x * gridDim.y * gridDim.z;
		r->blocks_waited = (uint32_t)wic_t_load(&control->word[WIC_TREE_WAITED]);
		r->is_stage = is_stage;
		wic_t_post_sys(&r->number, number);
	}
	wic_t_sync(m);
	return WIC_TREE_ETIMEDOUT;
}

/**
 * wic_wait_mask() - Wait until an epoch of a tag, or a later one, is published; no data.
 * @h: a handle, with or without payload.
 * @lot: the block's lot, or NULL.
 * @tag: in [0, tags).
 * @epoch: 1 to WIC_EPOCH_LAST.
 * @timeout_ns: from now; 0: look once; WIC_FOREVER.
 * @m: the lanes that wait.
 *
 * Context: lanes of @m, converged.
 * Return: 0: what the producer wrote before it published is visible to every lane of @m;
 * -ETIMEDOUT (the host's log says of whom); -EAGAIN: timeout 0; -ECANCELED: channel or context
 * closed, or wic_cancel(); -EOWNERDEAD: the producer ended without publishing; -EINVAL.
 */
WIC_DEVICE int wic_wait_mask(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag,
			     uint64_t epoch, uint64_t timeout_ns, uint32_t m)
{
	int rc;

	if (wic_device_end_is_wrong_(h, h ? h->consumer : 0, m))
		return WIC_TREE_EINVAL;
	rc = wic_tree_wait(lot, wic_device_lines_(h), h->tags, tag, epoch, timeout_ns, m);
	if (rc == WIC_TREE_ETIMEDOUT)
		rc = wic_device_late_(wic_device_channel_(h), tag, epoch, timeout_ns, m, 0);
	return rc;
}

/**
 * wic_wait() - wic_wait_mask() of a whole warp.
 * @h: see wic_wait_mask().
 * @lot: see wic_wait_mask().
 * @tag: see wic_wait_mask().
 * @epoch: see wic_wait_mask().
 * @timeout_ns: see wic_wait_mask().
 *
 * Context: warp, converged.
 * Return: as wic_wait_mask().
 */
WIC_DEVICE int wic_wait(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag,
			uint64_t epoch, uint64_t timeout_ns)
{
	return wic_wait_mask(h, lot, tag, epoch, timeout_ns, __activemask());
}

/**
 * wic_wait_block() - wic_wait_mask() of a whole block.
 * @h: see wic_wait_mask().
 * @lot: see wic_wait_mask().
 * @tag: see wic_wait_mask().
 * @epoch: see wic_wait_mask().
 * @timeout_ns: see wic_wait_mask().
 *
 * Context: all threads of the block; holds barriers.
 * Return: as wic_wait_mask(), the same for all.
 */
WIC_DEVICE int wic_wait_block(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag,
			      uint64_t epoch, uint64_t timeout_ns)
{
	int rc = 0;

	if (wic_device_thread_() < 32)
		rc = wic_wait(h, lot, tag, epoch, timeout_ns);
	return wic_device_share_(rc);
}

/**
 * wic_request_mask() - Wait for the data of (tag, epoch) and get it.
 * @h: a handle of a channel with bytes_per_tag > 0.
 * @lot: see wic_wait_mask().
 * @tag: see wic_wait_mask().
 * @epoch: exactly this one; WIC_EPOCH_NEXT: the one after that released last, where readers
 * is 1.
 * @timeout_ns: see wic_wait_mask().
 * @data_out: bytes_per_tag bytes, 256 aligned, readable until the release; in host memory where the
 *	host produces: each read of a line crosses the bus.
 * @m: see wic_wait_mask().
 *
 * After 0 the lanes owe one wic_release_mask().
 *
 * Context: lanes of @m, converged.
 * Return: as wic_wait_mask(); -EINVAL also: signals, or an epoch that is gone.
 */
WIC_DEVICE int wic_request_mask(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag,
				uint64_t epoch, uint64_t timeout_ns, void **data_out, uint32_t m)
{
	int rc;

	if (wic_device_end_is_wrong_(h, h ? h->consumer : 0, m) || !data_out)
		return WIC_TREE_EINVAL;
	rc = wic_push_request(wic_device_channel_(h), lot, tag, epoch, timeout_ns, m, data_out);
	if (rc == WIC_TREE_ETIMEDOUT)
		rc = wic_device_late_(wic_device_channel_(h), tag, epoch, timeout_ns, m, 0);
	return rc;
}

/**
 * wic_request() - wic_request_mask() of a whole warp.
 * @h: see wic_request_mask().
 * @lot: see wic_request_mask().
 * @tag: see wic_request_mask().
 * @epoch: see wic_request_mask().
 * @timeout_ns: see wic_request_mask().
 * @data_out: see wic_request_mask().
 *
 * Context: warp, converged.
 * Return: as wic_request_mask().
 */
WIC_DEVICE int wic_request(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag,
			   uint64_t epoch, uint64_t timeout_ns, void **data_out)
{
	return wic_request_mask(h, lot, tag, epoch, timeout_ns, data_out, __activemask());
}

/**
 * wic_request_block() - wic_request_mask() of a whole block: one request, one release.
 * @h: see wic_request_mask().
 * @lot: see wic_request_mask().
 * @tag: see wic_request_mask().
 * @epoch: see wic_request_mask(); not WIC_EPOCH_NEXT.
 * @timeout_ns: see wic_request_mask().
 * @data_out: see wic_request_mask(); of each thread.
 *
 * Context: all threads of the block; holds barriers.
 * Return: as wic_request_mask(), the same for all.
 */
WIC_DEVICE int wic_request_block(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag,
				 uint64_t epoch, uint64_t timeout_ns, void **data_out)
{
	void *data;
	int rc = 0;

	if (epoch == WIC_EPOCH_NEXT || !data_out)
		rc = WIC_TREE_EINVAL;
	else if (wic_device_thread_() < 32)
		rc = wic_request(h, lot, tag, epoch, timeout_ns, &data);
	rc = wic_device_share_(rc);
	if (!rc)
		*data_out = wic_device_channel_(h)->pages +
			    wic_push_page_(tag, epoch) * wic_device_channel_(h)->stride;
	return rc;
}

/**
 * wic_try() - As wic_request(), but looks once and never parks.
 * @h: see wic_request_mask().
 * @tag: see wic_request_mask().
 * @epoch: see wic_request_mask().
 * @data_out: see wic_request_mask().
 *
 * Context: warp, converged.
 * Return: as wic_request_mask(); -EAGAIN: not there now.
 */
WIC_DEVICE int wic_try(const struct wic_handle *h, uint32_t tag, uint64_t epoch, void **data_out)
{
	return wic_request(h, NULL, tag, epoch, 0, data_out);
}

/**
 * wic_release_mask() - Say that these lanes are done with the data of (tag, epoch).
 * @h: the handle it was requested with.
 * @tag: see wic_request_mask().
 * @epoch: see wic_request_mask().
 * @m: see wic_request_mask(); all their reads come before.
 *
 * The last of the channel's readers gives the page back.
 *
 * Context: lanes of @m, converged; may be the last thing that a kernel does.
 * Return: 0; -EINVAL: bad argument, or this epoch is not held here.
 */
WIC_DEVICE int wic_release_mask(const struct wic_handle *h, uint32_t tag, uint64_t epoch,
				uint32_t m)
{
	if (wic_device_end_is_wrong_(h, h ? h->consumer : 0, m))
		return WIC_TREE_EINVAL;
	return wic_push_release(wic_device_channel_(h), tag, epoch, m);
}

/**
 * wic_release() - wic_release_mask() of a whole warp.
 * @h: see wic_release_mask().
 * @tag: see wic_release_mask().
 * @epoch: see wic_release_mask().
 *
 * Context: warp, converged.
 * Return: as wic_release_mask().
 */
WIC_DEVICE int wic_release(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	return wic_release_mask(h, tag, epoch, __activemask());
}

/**
 * wic_release_block() - wic_release_mask() of a whole block, for its one request.
 * @h: see wic_release_mask().
 * @tag: see wic_release_mask().
 * @epoch: see wic_release_mask().
 *
 * Context: all threads of the block, whose reads come before; holds barriers.
 * Return: as wic_release_mask(), the same for all.
 */
WIC_DEVICE int wic_release_block(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	int rc = 0;

	__syncthreads();
	if (wic_device_thread_() < 32)
		rc = wic_release(h, tag, epoch);
	return wic_device_share_(rc);
}

/**
 * wic_wait_all() - Wait until all of a set of (tag, epoch) are published; no data.
 * @h: see wic_wait_mask().
 * @lot: see wic_wait_mask().
 * @refs: @count tags with their epochs.
 * @count: 1 to WIC_SET_MAX.
 * @timeout_ns: from now, for all; 0: look once; WIC_FOREVER.
 *
 * One after the other; what comes meanwhile is there at its look.
 *
 * Context: warp, converged.
 * Return: as wic_wait_mask(); -E2BIG: more than WIC_SET_MAX.
 */
WIC_DEVICE int wic_wait_all(const struct wic_handle *h, struct wic_lot *lot,
			    const struct wic_ref *refs, uint32_t count, uint64_t timeout_ns)
{
	uint64_t until = wic_tree_until_(timeout_ns), left = timeout_ns;
	int rc = 0;

	if (!refs || !count)
		return WIC_TREE_EINVAL;
	if (count > WIC_SET_MAX)
		return WIC_DEVICE_E2BIG_;
	for (uint32_t i = 0; i < count && !rc; i++) {
		rc = wic_wait(h, lot, refs[i].tag, refs[i].epoch, left);
		if (left && left != WIC_FOREVER)
			left = wic_device_left_(until);
	}
	return rc;
}

/**
 * wic_request_all() - Wait for the data of all of a set of (tag, epoch) and get it.
 * @h: a handle of a channel with bytes_per_tag > 0.
 * @lot: see wic_wait_mask().
 * @refs: @count different tags with their epochs; their data is set on success.
 * @count: 1 to WIC_SET_MAX.
 * @timeout_ns: from now, for all; 0: look once; WIC_FOREVER.
 *
 * After 0 the warp owes one wic_release() for each; after an error for none.
 *
 * Context: warp, converged.
 * Return: as wic_request_mask(); -E2BIG: more than WIC_SET_MAX.
 */
WIC_DEVICE int wic_request_all(const struct wic_handle *h, struct wic_lot *lot,
			       struct wic_ref *refs, uint32_t count, uint64_t timeout_ns)
{
	uint64_t until = wic_tree_until_(timeout_ns), left = timeout_ns;
	int rc = 0;

	if (!refs || !count)
		return WIC_TREE_EINVAL;
	if (count > WIC_SET_MAX)
		return WIC_DEVICE_E2BIG_;
	for (uint32_t i = 0; i < count && !rc; i++) {
		rc = wic_request(h, lot, refs[i].tag, refs[i].epoch, left, &refs[i].data);
		if (left && left != WIC_FOREVER)
			left = wic_device_left_(until);
	}
	return rc;
}

/**
 * wic_warp_stage() - Get the page to fill for an epoch of a tag, in a kernel that produces.
 * @h: a handle of a channel with bytes_per_tag > 0 whose producer is a GPU.
 * @lot: see wic_wait_mask().
 * @tag: in [0, tags).
 * @epoch: greater than the tag's published epoch, at most WIC_EPOCH_LAST; not by a multiple of 2^48
 *	later than the last that was even, or odd, as it is.
 * @timeout_ns: how long to wait for the page; 0: look once; WIC_FOREVER.
 * @buffer_out: bytes_per_tag bytes, 256 aligned, this warp's to write until it publishes; or
 *	its block's, which gets the pointer through shared memory and ends with
 *	wic_publish_block(); host memory where the host consumes.
 *
 * One warp at a time a tag; two at once are not found out.
 *
 * Context: warp, converged.
 * Return: as wic_wait_mask(); -EINVAL also: signals, another end's channel, no later epoch.
 */
WIC_DEVICE int wic_warp_stage(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag,
			      uint64_t epoch, uint64_t timeout_ns, void **buffer_out)
{
	uint32_t m = __activemask();
	int rc;

	if (wic_device_end_is_wrong_(h, h ? h->producer : 0, m) || !buffer_out)
		return WIC_TREE_EINVAL;
	rc = wic_push_stage(wic_device_channel_(h), lot, tag, epoch, timeout_ns, m, buffer_out);
	if (rc == WIC_TREE_ETIMEDOUT)
		rc = wic_device_late_(wic_device_channel_(h), tag, epoch, timeout_ns, m, 1);
	return rc;
}

/**
 * wic_warp_publish() - Say that the data of (tag, epoch) is there, in a kernel that produces.
 * @h: a handle of a channel whose producer is a GPU.
 * @tag: in [0, tags).
 * @epoch: the staged one; on a channel of signals any that is greater than the last.
 *
 * What all lanes of this warp wrote before is visible to whoever waits for it.  Of what
 * other warps wrote that is true after a barrier.
 *
 * Context: warp, converged.
 * Return: 0; -EINVAL: bad argument, not staged, another end's channel.
 */
WIC_DEVICE int wic_warp_publish(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	uint32_t m = __activemask();

	if (wic_device_end_is_wrong_(h, h ? h->producer : 0, m))
		return WIC_TREE_EINVAL;
	return wic_push_publish(wic_device_channel_(h), tag, epoch, m);
}

/**
 * wic_publish_block() - wic_warp_publish() for what all threads of a block wrote.
 * @h: see wic_warp_publish().
 * @tag: see wic_warp_publish().
 * @epoch: see wic_warp_publish().
 *
 * Context: all threads of the block, whose stores come before; holds barriers.
 * Return: as wic_warp_publish(), the same for all.
 */
WIC_DEVICE int wic_publish_block(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	int rc = 0;

	__syncthreads();
	if (wic_device_thread_() < 32)
		rc = wic_warp_publish(h, tag, epoch);
	return wic_device_share_(rc);
}

#endif /* WIC_TREE_PLAIN_ONLY */

#endif /* WIC_DEVICE_CUH */
