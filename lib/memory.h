/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Memory that kernels address, for the applications and methods of this tree.
 *
 *	HOST		host memory that devices read and write (cuda: pinned); every pointer to
 *			it is good on both sides
 *	DEVICE		a device's own: the host touches it through wic_mem_copy() alone
 *	MANAGED		one page that moves between both (cuda), for small pieces
 *
 * On the back-ends without a device of their own all three are ordinary memory.  So is what a NULL
 * context gives: tests run kernels without any back-end.
 *
 * All of it is zeroed, at least on whole pages, and lives until it is freed or its context is
 * closed, whichever comes first: free it before.  Any thread; nothing here locks.
 */
#ifndef WIC_LIB_MEMORY_H
#define WIC_LIB_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <wic/wic.h>

enum wic_mem { WIC_MEM_HOST, WIC_MEM_DEVICE, WIC_MEM_MANAGED };

struct wic_be;

/* What the devices of a back-end with WIC_BE_CAP_GPU are; 0: not known. */
struct wic_geometry {
	uint32_t sms;        /* multiprocessors */
	uint32_t sm_threads; /* that one keeps resident */
	uint32_t sm_blocks;
};

/* @device: whose memory; without a meaning for HOST.  0; -EINVAL: no bytes; -ENOMEM. */
int wic_mem_alloc(struct wic *w, enum wic_mem kind, struct wic_device_id device, size_t bytes,
		  void **p_out) WIC_MUST_CHECK;
/* @p: NULL or what wic_mem_alloc() gave, that no kernel uses any more. */
void wic_mem_free(struct wic *w, void *p);
/* Either may be of any kind or the caller's own; has ended when it returns. */
int wic_mem_copy(struct wic *w, void *dst, const void *src, size_t bytes) WIC_MUST_CHECK;
int wic_mem_zero(struct wic *w, void *dst, size_t bytes) WIC_MUST_CHECK;

/* Kernels of this context are GPU code. */
bool wic_is_gpu(const struct wic *w);
void wic_geometry_get(const struct wic *w, struct wic_geometry *geometry_out);

/* The operations of a back-end whose devices use the host's memory. */
int wic_plain_mem_alloc(struct wic_be *be, enum wic_mem kind, struct wic_device_id device,
			size_t bytes, void **p_out);
void wic_plain_mem_free(struct wic_be *be, void *p);
int wic_plain_mem_copy(struct wic_be *be, void *dst, const void *src, size_t bytes);

#endif /* WIC_LIB_MEMORY_H */
