/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What a back-end gives to lib/.  Every slot is filled: with a real operation or
 * a typed nosys stub from lib/nosys.h.  lib/ has checked arguments, ranges and
 * closed channels before it calls; a back-end answers only for what it alone can
 * know.  No lock of lib/ is held across a call.
 */
#ifndef WIC_LIB_BACKEND_H
#define WIC_LIB_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include <wic/wic.h>

#include "lib/memory.h"

struct wic_be;         /* a context of the back-end, owned by struct wic */
struct wic_be_channel; /* a channel of the back-end, owned by struct wic_channel */

#define WIC_BE_CAP_PULL (1u << 0)
#define WIC_BE_CAP_PUSH (1u << 1)
#define WIC_BE_CAP_EVENTS (1u << 2)
/* Kernels are GPU code (lib/kernel_image.h); channels carry signals and up to 4,096 bytes a tag. */
#define WIC_BE_CAP_GPU (1u << 3)

#define WIC_BE_DEVICE_ALL UINT32_MAX
#define WIC_BE_CANCEL_FOR_GOOD UINT64_MAX /* in the cancel word: the context ends or is dead */

/* sms * devices * sm_warps: an engine takes 2^20 requests, 1,024 are of threads. */
#define WIC_BE_WARPS_MAX ((1u << 20) - 1024)

/* One thing tried by `wic doctor`; text says what was seen or why not. */
struct wic_probe {
	char name[32]; /* "cpu", "cpu/uffd", "cpu/mprotect" */
	bool works;
	char text[224];
};

struct wic_be_ops {
	const char *name;
	uint32_t caps;
	bool by_name_only; /* "auto" passes it over, and it is not what works on a machine */
	/* Try each mechanism for real.  Writes up to @max probes, returns how many; the first is
	 * the back-end's own. */
	uint32_t (*probe)(struct wic_probe *probes_out, uint32_t max);
	/* @cfg: all fields resolved but those where 0 means the back-end's default. */
	int (*open)(const struct wic_config *cfg, struct wic_be **be_out);
	void (*close)(struct wic_be *be);
	/* One line that begins with the name: mechanism, SMs, and why these. */
	const char *(*describe)(const struct wic_be *be);

	/* @id: the channel's in its context, for texts, waiters and events. */
	int (*channel_create)(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
			      struct wic_be_channel **ch_out);
	void (*channel_close)(struct wic_be_channel *ch);   /* once */
	void (*channel_destroy)(struct wic_be_channel *ch); /* closed before */
	void (*channel_handle)(const struct wic_be_channel *ch, struct wic_handle *handle_out);

	int (*stage)(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		     void **buffer_out); /* timeout 0: -EAGAIN */
	int (*publish)(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
		       uint64_t epoch);

	/*
	 * Nobody will publish these tags any more: stage, one that waits too, and publish are
	 * -EOWNERDEAD from then on.
	 */
	void (*owner_died)(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count);

	/* @data_out: NULL: wait for the epoch alone.  Timeout 0: -EAGAIN. */
	int (*host_request)(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			    uint64_t timeout_ns, const void **data_out);
	int (*host_release)(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch);

	/* While the word is odd every wait ends with -ECANCELED; it only grows.  NULL: none. */
	uint64_t *(*cancel_word)(struct wic_be *be);
	int (*waiters)(struct wic_be *be, struct wic_waiter *waiters_out, size_t max,
		       size_t *count_out);

	int (*launch)(struct wic_be *be, const struct wic_launch_desc *l);
	/* What launch would say but for what runs now.  Its grid_blocks is filled in already. */
	int (*check)(struct wic_be *be, const struct wic_launch_desc *l, struct wic_fit *fit_out);
	/* @word: neither NULL nor misaligned. */
	int (*check_word)(struct wic_be *be, const uint64_t *word);
	/*
	 * @device: WIC_BE_DEVICE_ALL: all.  Waits for what was launched before the call.  Any
	 * status but -ETIMEDOUT says that none of it runs: what it used may be freed.
	 */
	int (*sync)(struct wic_be *be, uint32_t device, uint64_t timeout_ns);

	/* As lib/memory.h has them; @bytes is not 0, @p not NULL. */
	int (*mem_alloc)(struct wic_be *be, enum wic_mem kind, struct wic_device_id device,
			 size_t bytes, void **p_out);
	void (*mem_free)(struct wic_be *be, void *p);
	int (*mem_copy)(struct wic_be *be, void *dst, const void *src, size_t bytes);
	void (*geometry)(const struct wic_be *be, struct wic_geometry *geometry_out);

	void (*stats)(struct wic_be *be, struct wic_stats *stats_out);
	int (*events)(struct wic_be *be, struct wic_event *events_out, size_t events_max,
		      size_t *count_out);
};

extern const struct wic_be_ops wic_be_cpu;
extern const struct wic_be_ops wic_be_cuda;
extern const struct wic_be_ops wic_be_nil;

#endif /* WIC_LIB_BACKEND_H */
