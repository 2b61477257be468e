/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The cuda back-end: push mode on NVIDIA GPUs with a stock driver.
 *
 * Warps wait by the tree (wic/tree.h) and channels work by wic/push.h, on the GPU and here
 * alike: a host thread that stages, or consumes, is a warp of the tree too (host.c).  What is
 * left for this folder is memory in the right place, launches, and words for people:
 *
 *	driver.c	libcuda, opened at run time
 *	be.c		the context: device, control line, its operations
 *	environment.c	what is seen of the machine that waiting suffers from
 *	memory.c	pinned and device memory
 *	channel.c	a channel's tables; stage and publish
 *	host.c		host threads that wait
 *	launch.c	kernels of images, streams, occupancy
 *	report.c	waits that timed out on the device, said in the log
 *
 * No call of the driver lies between a publish and the wake-up, and nothing of ours runs on the GPU
 * beside the caller's kernels.  There is no thread either: publishing is a store.
 *
 * Lifetime: a context retains the device's primary context, so it shares the device with the CUDA
 * runtime.  All memory of a channel is two pieces, pinned and device, freed after its kernels.
 *
 * Locking: `lock` guards launches and the list of functions; a byte a tag keeps a second publisher
 * out; all else is the tree's words.
 */
#ifndef WIC_BACKENDS_CUDA_BE_H
#define WIC_BACKENDS_CUDA_BE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <wic/push.h>

#include "backends/cuda/driver.h"
#include "backends/cuda/environment.h"
#include "lib/backend.h"

#define CUDA_DEVICES_MAX 16  /* logical ones */
#define CUDA_LOTS 32u        /* 1,024 host threads wait with a lot at the same time */
#define CUDA_BYTES_MAX 4096u /* of a tag */
#define CUDA_ALIGN 256u

/* What one GPU is, read once. */
struct cuda_gpu {
	int device;
	char name[96];
	int version; /* of the driver */
	int major, minor;
	uint32_t sms;
	uint32_t sm_threads;
	uint32_t sm_blocks;
	uint32_t block_shared_bytes; /* a block may ask for */
	bool parks_on_mbarriers;     /* since sm_90, but WIC_PARK=sleep */
};

/* One logical device: kernels of its own stream. */
struct cuda_device {
	struct wic_cu_stream *stream; /* owned */
	struct wic_cu_event *done;    /* owned; recorded after the last launch */
	bool is_busy;                 /* lock: launched, not seen to have ended */
};

struct cuda_function {
	void (*kernel)(const void *args);
	struct wic_cu_function *function;
};

/* Host threads that wait: warps of lots. */
struct cuda_hosts {
	struct wic_lot *lots;      /* owned */
	uint32_t taken[CUDA_LOTS]; /* bit w: warp w of the lot is a thread's; atomic */
};

struct wic_be {
	const struct wic_cuda_driver *d; /* static */
	struct wic_cu_context *context;  /* retained */
	struct wic_config cfg;
	struct cuda_gpu gpu;
	char description[320];
	char hang[2 + CUDA_SEEN_BYTES]; /* the first of it that explains a hang; after "; " */

	void *pinned;                         /* owned: the next three */
	uint64_t *control_truth;              /* host memory */
	struct wic_tree_line *control_host;   /* the host's copy */
	struct wic_push_report *reports;      /* WIC_PUSH_REPORTS */
	uint64_t memory;                      /* owned: the next two; device memory */
	struct wic_tree_line *control_device; /* the GPU's copy */
	uint64_t *report_count;

	uint64_t reports_seen; /* report_lock */
	pthread_mutex_t report_lock;
	struct cuda_hosts hosts;
	uint32_t is_dead; /* atomic: the device is lost to us */

	pthread_mutex_t lock; /* launches */
	struct cuda_device devices[CUDA_DEVICES_MAX];
	struct wic_cu_module **modules; /* owned; of the images */
	uint32_t module_count;
	struct cuda_function *functions; /* owned */
	uint32_t function_count;
};

struct wic_be_channel {
	struct wic_be *be;
	struct wic_channel_desc desc;
	struct wic_push_channel push; /* as the host sees it; the device has a copy */
	uint64_t device_push;         /* that copy */
	void *pinned;                 /* owned */
	uint64_t memory;              /* owned */
	uint64_t *ends;               /* a word a line of tags, then one a line of credits */
	uint32_t lines;               /* of tags; of credits twice as many */
	unsigned char *busy;          /* owned; a tag: somebody stages or publishes; atomic */
};

static inline bool cuda_is_host(struct wic_device_id id)
{
	return id.v == WIC_DEVICE_HOST_VALUE;
}

/* The context is current to this thread between the two. */
int wic_cuda_enter(struct wic_be *be);
void wic_cuda_leave(struct wic_be *be);
/* wic_cuda_fail(), and the context is dead if that is what the result says. */
int wic_cuda_be_fail(struct wic_be *be, int result, const char *what);
bool wic_cuda_is_dead(const struct wic_be *be);
/* 0; -EIO with a text: it is. */
int wic_cuda_check_alive(const struct wic_be *be);

/* memory.c.  Zeroed, CUDA_ALIGN aligned. */
int wic_cuda_pinned_alloc(struct wic_be *be, size_t bytes, void **p_out);
void wic_cuda_pinned_free(struct wic_be *be, void *p);
int wic_cuda_memory_alloc(struct wic_be *be, size_t bytes, uint64_t *address_out);
void wic_cuda_memory_free(struct wic_be *be, uint64_t address);
int wic_cuda_copy_to(struct wic_be *be, uint64_t to, const void *from, size_t bytes);
int wic_cuda_mem_alloc(struct wic_be *be, enum wic_mem kind, struct wic_device_id device,
		       size_t bytes, void **p_out);
void wic_cuda_mem_free(struct wic_be *be, void *p);
int wic_cuda_check_word(struct wic_be *be, const uint64_t *word);
int wic_cuda_mem_copy(struct wic_be *be, void *dst, const void *src, size_t bytes);

/* channel.c */
int wic_cuda_channel_create(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
			    struct wic_be_channel **ch_out);
void wic_cuda_channel_close(struct wic_be_channel *ch);
void wic_cuda_channel_destroy(struct wic_be_channel *ch);
void wic_cuda_channel_handle(const struct wic_be_channel *ch, struct wic_handle *handle_out);
void wic_cuda_owner_died(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count);
/* 0 or how the tag's line ended: WIC_TREE_CLOSED, WIC_TREE_DIED. */
uint32_t wic_cuda_end_of(const struct wic_be_channel *ch, uint32_t tag);

/* host.c */
int wic_cuda_hosts_init(struct cuda_hosts *hosts);
void wic_cuda_hosts_fini(struct cuda_hosts *hosts);
int wic_cuda_stage(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		   void **buffer_out);
int wic_cuda_publish(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
		     uint64_t epoch);
int wic_cuda_host_request(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			  uint64_t timeout_ns, const void **data_out);
int wic_cuda_host_release(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch);

/* launch.c */
int wic_cuda_launch_init(struct wic_be *be);
void wic_cuda_launch_fini(struct wic_be *be);
int wic_cuda_launch(struct wic_be *be, const struct wic_launch_desc *l);
int wic_cuda_check(struct wic_be *be, const struct wic_launch_desc *l, struct wic_fit *fit_out);
int wic_cuda_sync(struct wic_be *be, uint32_t device, uint64_t timeout_ns);

/* report.c: log what timed out on the device since the last call. */
void wic_cuda_reports_say(struct wic_be *be);

#endif /* WIC_BACKENDS_CUDA_BE_H */
