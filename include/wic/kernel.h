/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Kernels written once: under nvcc a lane loop is the hardware lane, under a C
 * compiler it is a loop over the warp's live lanes that vectorises.  The waits under nvcc are those
 * of wic/device.cuh; wic_next() and wic_pat() are not there yet.
 *
 *	struct sum_args { struct wic_handle h; float *out; int *rc; };
 *
 *	WIC_KERNEL(sum, struct sum_args, a)
 *	{
 *		WIC_LANE_VAR(float, x);
 *		void *data;
 *
 *		if (wic_request(&a->h, NULL, wic_block_id(), 1, WIC_MS(50), &data))
 *			return;				// see rule 3
 *		WIC_LANES(l)
 *			WIC_AT(x, l) = ((float *)data)[l];
 *		a->out[wic_block_id()] = wic_reduce_add_f32(x);
 *		*a->rc = wic_release(&a->h, wic_block_id(), 1);
 *	}
 *
 * Rules: (1) a value that lives across lane loops is a WIC_LANE_VAR; (2) no
 * return, barrier, wait or turn inside a lane loop; (3) every warp of a block
 * reaches the same wic_bar() calls; (4) the last warp of a block whose threads are no
 * multiple of 32 has fewer lanes: a loop over data strides by wic_lanes_live() or the
 * block is a multiple; (5) a loop that runs for more than a few us
 * passes WIC_TURN(), where the cpu back-end's SM may run another warp (it is
 * nothing on CUDA).
 *
 * The functions below run in warp context only.  Called by any other thread, also in a child
 * of fork(), those that return a status return -EINVAL, wic_pat() returns NULL, turn, look, bar
 * and note do nothing; the ids, additions and reductions must not be called there.  None of
 * them may be called from a signal handler that runs over a kernel's warp.  A handle is good
 * in the kernels of its channel's context; in those of another, and of a child's own, each
 * call with it is -EINVAL.
 */
#ifndef WIC_KERNEL_H
#define WIC_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <wic/abi.h>
#include <wic/error.h>
#include <wic/stats.h>

#define WIC_NO_TAG UINT32_MAX

/* Where a block's parked warps meet on CUDA; NULL on every other back-end. */
struct wic_lot;

#ifdef __CUDACC__

#define WIC_DEVICE static __device__ __forceinline__
#define WIC_KERNEL(name, args_type, args)                                                  \
	static __device__ void name##_body(const args_type *args);                         \
	extern "C" __global__ void name(const __grid_constant__ args_type args##_by_value) \
	{                                                                                  \
		name##_body(&args##_by_value);                                             \
	}                                                                                  \
	static __device__ void name##_body(const args_type *args)
#define WIC_SHARED(type, name)                                             \
	extern __shared__ __align__(16) unsigned char wic_shared_bytes_[]; \
	type *name = (type *)wic_shared_bytes_
#define WIC_LANE_VAR(type, name) type name
#define WIC_AT(name, lane) (name)
#define WIC_LANES(lane) \
	for (int64_t lane = wic_lane_id(), lane##_once = 1; lane##_once; lane##_once = 0)
#define WIC_TURN() ((void)0)

WIC_DEVICE uint32_t wic_block_threads(void)
{
	return blockDim.x * blockDim.y * blockDim.z;
}
WIC_DEVICE uint32_t wic_block_warps(void)
{
	return (wic_block_threads() + 31) / 32;
}
WIC_DEVICE uint32_t wic_grid_blocks(void)
{
	return gridDim.x * gridDim.y * gridDim.z;
}
WIC_DEVICE uint32_t wic_block_id(void)
{
	return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
WIC_DEVICE uint32_t wic_thread_id_(void)
{
	return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
WIC_DEVICE uint32_t wic_warp_id(void)
{
	return wic_thread_id_() / 32;
}
WIC_DEVICE int64_t wic_lane_id(void)
{
	return wic_thread_id_() % 32;
}
WIC_DEVICE int64_t wic_lanes_live(void)
{
	int64_t left = (int64_t)wic_block_threads() - (int64_t)wic_warp_id() * WIC_WARP_LANES;

	return left < WIC_WARP_LANES ? left : WIC_WARP_LANES;
}
/* Those that were launched, whether they are converged now or not. */
WIC_DEVICE uint32_t wic_lanes_mask_(void)
{
	return UINT32_MAX >> (WIC_WARP_LANES - wic_lanes_live());
}
WIC_DEVICE void wic_bar(void)
{
	__syncthreads();
}
WIC_DEVICE void wic_atomic_add_u32(uint32_t *p, uint32_t v)
{
	atomicAdd(p, v);
}
WIC_DEVICE void wic_block_add_u32(uint32_t *p, uint32_t v)
{
	atomicAdd_block(p, v);
}
WIC_DEVICE uint32_t wic_reduce_add_u32(uint32_t x)
{
	uint32_t live = wic_lanes_mask_();

	for (int d = 16; d; d /= 2) {
		uint32_t y = __shfl_down_sync(live, x, d);

		x += (wic_lane_id() + d < 32 && (live >> (wic_lane_id() + d) & 1)) ? y : 0;
	}
	return __shfl_sync(live, x, 0);
}
WIC_DEVICE float wic_reduce_add_f32(float x)
{
	uint32_t live = wic_lanes_mask_();

	for (int d = 16; d; d /= 2) {
		float y = __shfl_down_sync(live, x, d);

		x += (wic_lane_id() + d < 32 && (live >> (wic_lane_id() + d) & 1)) ? y : 0;
	}
	return __shfl_sync(live, x, 0);
}

/* Waits.  After the above, which they do not need, so that they can be had alone. */
#include <wic/device.cuh>

WIC_DEVICE void wic_look(void)
{
}
WIC_DEVICE void wic_note(enum wic_event_kind kind, uint32_t tag, uint64_t epoch)
{
	(void)kind, (void)tag, (void)epoch;
}

#else /* a C or C++ compiler: the warp is a fiber */

#ifdef __cplusplus
extern "C" {
#endif

#define WIC_DEVICE static inline
#define WIC_KERNEL(name, args_type, args)                   \
	static void name##_body(const args_type *args);     \
	void name(const void *args##_any);                  \
	void name(const void *args##_any)                   \
	{                                                   \
		name##_body((const args_type *)args##_any); \
	}                                                   \
	static void name##_body(const args_type *args)
#define WIC_SHARED(type, name) type *name = (type *)wic_warp_self_()->shared
#define WIC_LANE_VAR(type, name) type name[WIC_WARP_LANES]
#define WIC_AT(name, lane) ((name)[lane])
#define WIC_LANES(lane) \
	for (int64_t lane = 0, lane##_end = wic_lanes_live(); lane < lane##_end; lane++)
#define WIC_TURN() wic_turn()

/* The running warp.  Kept by the back-end, constant while the warp lives. */
struct wic_warp_view {
	uint32_t block_id;
	uint32_t warp_id; /* in its block */
	uint32_t block_warps;
	uint32_t block_threads;
	uint32_t grid_blocks;
	uint32_t lanes_live; /* 32, fewer in the last warp of an odd block */
	void *shared;        /* the block's shared memory */
};

/* Releases of an SM on their way to the Monitor at the most. */
#define WIC_RELEASE_WORDS_ 4096u

/*
 * What inline code needs of its SM.  Written by the SM's thread only.
 *
 * A release is a word in a ring to the Monitor, WIC_RELEASE_WORD_(): nothing is shared
 * with another core until the scheduler publishes release_head, at the next turn, park
 * or end of a warp, or when release_limit is reached.
 */
struct wic_sm_view {
	struct wic_warp_view *warp; /* the one that runs now */
	uint32_t release_head;      /* next word to fill, free-running */
	uint32_t release_limit;     /* where the ring would be full, as far as known */
	uint32_t device;            /* of this SM, as in struct wic_handle */
	uint32_t pad;
	uint64_t release_ring[WIC_RELEASE_WORDS_];
};

/* The page's number says which hold; the epoch's low half, whether it is still the same. */
#define WIC_RELEASE_WORD_(page, epoch) ((uint64_t)(epoch) << 32 | (page))

/*
 * NULL outside kernels.  A fiber stays on the thread that started it, so the
 * address of this variable may be cached across a park.
 */
extern __thread struct wic_sm_view *wic_sm_self_;

static inline const struct wic_warp_view *wic_warp_self_(void)
{
	return wic_sm_self_->warp;
}

/**
 * wic_block_id() - This block's number in the grid.
 *
 * Context: warp.
 * Return: 0 to wic_grid_blocks() - 1.
 */
static inline uint32_t wic_block_id(void)
{
	return wic_warp_self_()->block_id;
}

/**
 * wic_warp_id() - This warp's number in its block.
 *
 * Context: warp.
 * Return: 0 to wic_block_warps() - 1.
 */
static inline uint32_t wic_warp_id(void)
{
	return wic_warp_self_()->warp_id;
}

/**
 * wic_block_warps() - Warps of a block.
 *
 * Context: warp.
 * Return: at least 1.
 */
static inline uint32_t wic_block_warps(void)
{
	return wic_warp_self_()->block_warps;
}

/**
 * wic_block_threads() - Threads of a block, as launched.
 *
 * Context: warp.
 * Return: at least 1; need not be a multiple of 32.
 */
static inline uint32_t wic_block_threads(void)
{
	return wic_warp_self_()->block_threads;
}

/**
 * wic_grid_blocks() - Blocks of the grid, as launched.
 *
 * Context: warp.
 * Return: at least 1.
 */
static inline uint32_t wic_grid_blocks(void)
{
	return wic_warp_self_()->grid_blocks;
}

/**
 * wic_lanes_live() - Lanes of this warp that run.
 *
 * Context: warp.
 * Return: 32; fewer in the last warp of an odd block.
 */
static inline int64_t wic_lanes_live(void)
{
	return wic_warp_self_()->lanes_live;
}

/**
 * wic_turn() - A scheduling point: the SM may run another warp.
 *
 * Context: warp, outside lane loops.
 */
void wic_turn(void);

/**
 * wic_look() - A turn taken by a polling wait for one look at a flag.
 *
 * Counted in wic_stats.looks, so that what polling costs can be seen.
 *
 * Context: warp, outside lane loops.
 */
void wic_look(void);

/**
 * wic_bar() - Block barrier: returns when every live warp of the block is here.
 *
 * A warp that has returned from the kernel is not waited for.
 *
 * Context: warp, outside lane loops.
 */
void wic_bar(void);

/**
 * wic_note() - Record that this warp changes what it does.
 * @kind: enum wic_event_kind; another value is ignored.
 * @tag: tag it is about, WIC_NO_TAG: none.
 * @epoch: epoch it is about.
 *
 * For methods that wait in their own way; WIC's own waits record themselves.
 * Free when the recorder is off.
 *
 * Context: warp.
 */
void wic_note(enum wic_event_kind kind, uint32_t tag, uint64_t epoch);

/**
 * wic_atomic_add_u32() - Add to a word that any warp of the device may add to.
 * @p: in memory of this device.
 * @v: what to add; relaxed, orders nothing else.
 *
 * Context: warp.
 */
static inline void wic_atomic_add_u32(uint32_t *p, uint32_t v)
{
	__atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}

/**
 * wic_block_add_u32() - Add to a word that only warps of this block use.
 * @p: in memory of this device or the block's shared memory.
 * @v: what to add.
 *
 * A block's warps share a thread on the cpu back-end, so no atomic is needed there.
 *
 * Context: warp.
 */
static inline void wic_block_add_u32(uint32_t *p, uint32_t v)
{
	*p += v;
}

/**
 * wic_reduce_add_u32() - Sum over the live lanes of the warp.
 * @x: a WIC_LANE_VAR.
 *
 * Context: warp, outside lane loops.
 * Return: the sum, the same in each lane; wraps at 2^32.
 */
static inline uint32_t wic_reduce_add_u32(const uint32_t *x)
{
	uint32_t sum = 0;

	WIC_LANES(l)
		sum += x[l];
	return sum;
}

/**
 * wic_reduce_add_f32() - Sum over the live lanes of the warp, in the order of the lanes.
 * @x: a WIC_LANE_VAR.
 *
 * Context: warp, outside lane loops.
 * Return: the sum, the same in each lane.
 */
static inline float wic_reduce_add_f32(const float *x)
{
	float sum = 0;

	WIC_LANES(l)
		sum += x[l];
	return sum;
}

/* The slow halves of the functions below; not to be called directly. */
int wic_request_slow_(const struct wic_handle *h, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		      void **data_out) WIC_MUST_CHECK;
int wic_release_slow_(const struct wic_handle *h, uint32_t tag, uint64_t epoch) WIC_MUST_CHECK;

/* Is (tag, epoch) on a page here?  Contract of struct wic_dir_entry. */
static inline void *wic_dir_find_(const struct wic_handle *h, uint32_t tag, uint64_t epoch)
{
	struct wic_dir_entry *d = &h->dir[tag];
	uint32_t page;

	if (__atomic_load_n(&d->epoch, __ATOMIC_ACQUIRE) != epoch)
		return NULL;
	page = __atomic_load_n(&d->page, __ATOMIC_ACQUIRE);
	if (__atomic_load_n(&d->epoch, __ATOMIC_RELAXED) != epoch)
		return NULL;
	return h->data + (uint64_t)page * WIC_PAGE_BYTES;
}

/**
 * wic_request() - Wait for the data of (tag, epoch) and get it.
 * @h: a handle of a channel with bytes_per_tag > 0.
 * @lot: NULL here; reserved for CUDA.
 * @tag: in [0, tags).
 * @epoch: 1 to WIC_EPOCH_LAST; exactly this epoch.  WIC_EPOCH_NEXT: the one after that
 *	released last on this tag (the first: 1), where the channel's readers is 1; then also
 *	in its release.
 * @timeout_ns: from now; 0 is wic_try(); WIC_FOREVER.
 * @data_out: bytes_per_tag bytes, page-aligned, readable until the release.
 *
 * Data that is not there parks this warp; the SM runs others.  After 0 the
 * warp owes one wic_release().  In push mode what is published is there.
 *
 * Context: warp, outside lane loops, holding no lock (other warps run meanwhile).
 * Return: 0: the data is visible to every lane; -ETIMEDOUT; -ECANCELED: channel or
 * context closed meanwhile, or wic_cancel(); -EOWNERDEAD: the producer ended without publishing;
 * -EDEADLK: every warp of the device waits for pages that only they could give back (pull mode);
 * -EINVAL: bad argument, closed before, a channel of signals or of another device, or an
 * epoch that is gone (a later one is published, or its readers have released it); -EAGAIN: timeout
 * 0 and not there now; -EIO: context is dead.
 */
static inline WIC_MUST_CHECK int wic_request(const struct wic_handle *h, struct wic_lot *lot,
					     uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
					     void **data_out)
{
	(void)lot;
	if (h && tag < h->tags && data_out && epoch != WIC_EPOCH_NONE && wic_sm_self_ &&
	    h->consumer == wic_sm_self_->device) {
		void *data = wic_dir_find_(h, tag, epoch);

		if (data) {
			*data_out = data;
			return 0;
		}
	}
	return wic_request_slow_(h, tag, epoch, timeout_ns, data_out);
}

/**
 * wic_try() - As wic_request(), but never parks and asks for nothing.
 * @h: see wic_request().
 * @tag: see wic_request().
 * @epoch: see wic_request().
 * @data_out: see wic_request().
 *
 * Context: warp, outside lane loops.
 * Return: as wic_request(); -EAGAIN: the data is not on a page here now (also where it never
 * will be: only a request finds out that an epoch is gone).
 */
static inline WIC_MUST_CHECK int wic_try(const struct wic_handle *h, uint32_t tag, uint64_t epoch,
					 void **data_out)
{
	return wic_request(h, NULL, tag, epoch, 0, data_out);
}

/**
 * wic_wait() - Wait until an epoch of a tag, or a later one, is published; no data.
 * @h: a handle, with or without payload.
 * @lot: NULL here; reserved for CUDA.
 * @tag: in [0, tags).
 * @epoch: 1 to WIC_EPOCH_LAST.
 * @timeout_ns: from now; 0: look once; WIC_FOREVER.
 *
 * Needs no release.  Data of the producer's that it wrote before it published,
 * and that this device can address, is visible after 0.
 *
 * Context: warp, outside lane loops.
 * Return: as wic_request(), except that no epoch is ever gone.
 */
int wic_wait(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag, uint64_t epoch,
	     uint64_t timeout_ns) WIC_MUST_CHECK;

/**
 * wic_wait_word() - Wait until a word of the caller's is at least a value.
 * @lot: NULL here; reserved for CUDA.
 * @word: 8 bytes, aligned, in memory of this device that may be read while the kernel runs;
 *	anybody may write it, with a store of 8 bytes.  The host asks wic_check_word() about it.
 * @at_least: unsigned.
 * @timeout_ns: from now; 0: look once; WIC_FOREVER.
 *
 * Needs no channel.  What the writer wrote before it stored the value with release order is
 * visible after 0.  One warp of up to 32 of the SM that wait looks for all; the others park.
 * wic_cancel() and the end of the context end it, within some 20 ms.  It is not among
 * wic_waiters(), nor in the recorder.
 *
 * Context: warp, outside lane loops, holding no lock.
 * Return: 0; -ETIMEDOUT; -EAGAIN: timeout 0 and less; -ECANCELED; -EIO: the context is dead;
 * -EINVAL: NULL, misaligned.
 */
int wic_wait_word(struct wic_lot *lot, const uint64_t *word, uint64_t at_least,
		  uint64_t timeout_ns) WIC_MUST_CHECK;

/**
 * wic_release() - Say that this warp is done with the data of (tag, epoch).
 * @h: the handle it was requested with.
 * @tag: see wic_request().
 * @epoch: see wic_request().
 *
 * The last of the channel's readers gives the pages back; nobody may read them
 * after its own release.  Push mode does not know who requested: the first so many releases of
 * a published epoch count.
 *
 * Context: warp, outside lane loops; does not park (it may take a turn when 4,096
 * releases are on their way).
 * Return: 0; -EINVAL: bad argument, or this epoch is not held here.
 */
static inline WIC_MUST_CHECK int wic_release(const struct wic_handle *h, uint32_t tag,
					     uint64_t epoch)
{
	if (h && tag < h->tags_inline && epoch != WIC_EPOCH_NONE && wic_sm_self_ &&
	    h->consumer == wic_sm_self_->device) {
		struct wic_sm_view *sm = wic_sm_self_;
		struct wic_dir_entry *d = &h->dir[tag];

		if (__atomic_load_n(&d->epoch, __ATOMIC_RELAXED) == epoch &&
		    sm->release_head != sm->release_limit) {
			uint32_t page = __atomic_load_n(&d->page, __ATOMIC_RELAXED);

			sm->release_ring[sm->release_head++ % WIC_RELEASE_WORDS_] =
				WIC_RELEASE_WORD_(page, epoch);
			__atomic_store_n(&d->released, (uint32_t)epoch, __ATOMIC_RELAXED);
			/* A second release of it finds nothing here. */
			__atomic_store_n(&d->epoch, WIC_EPOCH_NONE, __ATOMIC_RELAXED);
			return 0;
		}
	}
	return wic_release_slow_(h, tag, epoch);
}

/**
 * wic_wait_all() - Wait until all of a set of (tag, epoch) are published; no data.
 * @h: a handle, with or without payload.
 * @lot: NULL here; reserved for CUDA.
 * @refs: @count tags with their epochs; a tag may come more than once.
 * @count: 1 to WIC_SET_MAX.
 * @timeout_ns: from now, for all; 0: look once; WIC_FOREVER.
 *
 * One park for the set, as a rule.
 *
 * Context: warp, outside lane loops, holding no lock.
 * Return: as wic_wait(); -E2BIG: more than WIC_SET_MAX.
 */
int wic_wait_all(const struct wic_handle *h, struct wic_lot *lot, const struct wic_ref *refs,
		 uint32_t count, uint64_t timeout_ns) WIC_MUST_CHECK;

/**
 * wic_request_all() - Wait for the data of all of a set of (tag, epoch) and get it.
 * @h: a handle of a channel with bytes_per_tag > 0.
 * @lot: NULL here; reserved for CUDA.
 * @refs: @count different tags with their epochs; their data is set on success.
 * @count: 1 to WIC_SET_MAX; in pull mode together they need no more pages than half the pool.
 * @timeout_ns: from now, for all; 0: only what is on pages here; WIC_FOREVER.  Once all is
 * published and has its pages, the data comes in a round trip a tag, of up to 1 s each, also
 * where the deadline passes then.
 *
 * In pull mode the pages of all are taken at once, or the warp waits in the queue for them and
 * holds none; in push mode the data is on its pages, without a round trip.
 * After 0 it owes one wic_release() for each; after an error for none, and a later try finds
 * all that was published.
 *
 * Context: warp, outside lane loops, holding no lock.
 * Return: as wic_request(); -E2BIG: more than WIC_SET_MAX, or than the pool has.
 */
int wic_request_all(const struct wic_handle *h, struct wic_lot *lot, struct wic_ref *refs,
		    uint32_t count, uint64_t timeout_ns) WIC_MUST_CHECK;

/**
 * wic_next() - Claim whichever tag of a range is ready, and get its data.
 * @h: a handle, with or without payload.
 * @lot: NULL here; reserved for CUDA.
 * @tag_first: first tag of the range.
 * @tag_count: at least 1.
 * @epoch: 1 to WIC_EPOCH_LAST, for each of them.
 * @timeout_ns: from now; 0: only what is ready, see below; WIC_FOREVER.
 * @tag_out: the tag that this warp has now; no other gets it at this epoch or before.
 * @data_out: its data; NULL on a channel of signals.
 *
 * Parks only when no tag of the range is ready.  Every publish on the channel makes the
 * parked look again.  With data, the warp owes one wic_release() of the tag.  A tag whose
 * epoch is gone (it was filled and released before) counts as claimed.
 *
 * Timeout 0 does not wait for a publish, but what is ready has to be fetched in pull mode: on a
 * channel with payload the warp may park for that round trip, some us, or up to 1 s
 * where it has to wait for free pages.
 *
 * Context: warp, outside lane loops, holding no lock.
 * Return: as wic_request(); -ENOENT: all tags of the range are claimed; -EOWNERDEAD: the
 * producers of all that are left are gone.  A claim whose data does not come is given back.
 */
int wic_next(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag_first,
	     uint32_t tag_count, uint64_t epoch, uint64_t timeout_ns, uint32_t *tag_out,
	     void **data_out) WIC_MUST_CHECK;

/**
 * wic_warp_stage() - Get the buffer to fill for an epoch of a tag, in a kernel that produces.
 * @h: a handle of a channel with bytes_per_tag > 0 whose producer is this warp's device.
 * @lot: NULL here; reserved for CUDA.
 * @tag: in [0, tags).
 * @epoch: greater than the tag's published epoch, at most WIC_EPOCH_LAST.
 * @timeout_ns: how long to wait for the buffer; 0: look once; WIC_FOREVER.
 * @buffer_out: bytes_per_tag bytes, 64-byte aligned, this warp's to write until it publishes.
 *
 * As wic_stage() of the host; a buffer that is not free parks this warp.
 *
 * Context: warp, outside lane loops, holding no lock.
 * Return: 0; -ETIMEDOUT; -EAGAIN: timeout 0 and not free now; -ECANCELED: closed
 * meanwhile, or wic_cancel(); -EINVAL: bad argument, closed before, no payload, another device's
 * channel; -EBUSY: somebody else is inside a call that stages or publishes this tag; -EIO.
 */
int wic_warp_stage(const struct wic_handle *h, struct wic_lot *lot, uint32_t tag, uint64_t epoch,
		   uint64_t timeout_ns, void **buffer_out) WIC_MUST_CHECK;

/**
 * wic_warp_publish() - Say that the data of (tag, epoch) is there, in a kernel that produces.
 * @h: a handle of a channel whose producer is this warp's device.
 * @tag: in [0, tags).
 * @epoch: the staged one; on a channel of signals any that is greater than the last.
 *
 * What all lanes of this warp wrote before is visible to whoever waits for it.
 *
 * Context: warp, outside lane loops; does not park.
 * Return: 0; -EINVAL: bad argument, closed, not staged, another device's channel; -EBUSY:
 * somebody else stages or publishes this tag.
 */
int wic_warp_publish(const struct wic_handle *h, uint32_t tag, uint64_t epoch) WIC_MUST_CHECK;

/**
 * wic_pat() - The availability tag of a tag: a word whose store is the notice itself.
 * @h: a handle of a channel made with WIC_CHANNEL_PAT, whose producer is this warp's device.
 * @tag: in [0, tags).
 *
 * Storing an epoch there (8 bytes, with release order) publishes it, as wic_warp_publish()
 * would; on a channel with payload the epoch must have been staged.  The first store to a
 * page of 512 words since the Monitor looked takes a write fault, later ones do not; none is
 * lost.  A value that is not greater than the published epoch is ignored; one that cannot be
 * published is reported in the log.  (Under clang's TSan it must not be stored to: the fault would
 * come inside the sanitizer's own code.)
 *
 * Context: warp.
 * Return: the word, borrowed until the channel is destroyed, readable by anyone, to be
 * written by warps of the producer's device only; NULL: bad argument, or no such channel.
 */
uint64_t *wic_pat(const struct wic_handle *h, uint32_t tag);

#ifdef __cplusplus
}
#endif
#endif /* __CUDACC__ */

#endif /* WIC_KERNEL_H */
