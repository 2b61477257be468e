/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/log.h"
#include "lib/object.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define ZERO_BYTES ((size_t)4 << 20) /* of a copy: few calls, and it stays in a cache */

int wic_plain_mem_alloc(struct wic_be *be, enum wic_mem kind, struct wic_device_id device,
			size_t bytes, void **p_out)
{
	size_t align = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : WIC_PAGE_BYTES, room;
	void *p;

	(void)be;
	(void)kind;
	(void)device;
	if (bytes > SIZE_MAX - align)
		return wic_fail(-ENOMEM, "memory of %zu bytes", bytes);
	room = (bytes + align - 1) / align * align;
	p = aligned_alloc(align, room);
	if (!p)
		return wic_fail(-ENOMEM, "memory of %zu bytes", bytes);
	/* As the pages of the cpu back-end's pool: every method reads huge pages. */
	if (align == HUGE_PAGE_BYTES)
		(void)madvise(p, room, MADV_HUGEPAGE);
	/* Touched here, so that no run pays for first touches. */
	memset(p, 0, room);
	*p_out = p;
	return 0;
}

void wic_plain_mem_free(struct wic_be *be, void *p)
{
	(void)be;
	free(p);
}

int wic_plain_mem_copy(struct wic_be *be, void *dst, const void *src, size_t bytes)
{
	(void)be;
	memcpy(dst, src, bytes);
	return 0;
}

int wic_mem_alloc(struct wic *w, enum wic_mem kind, struct wic_device_id device, size_t bytes,
		  void **p_out)
{
	if (!bytes)
		return wic_fail(-EINVAL, "memory of no bytes");
	return w ? w->ops->mem_alloc(w->be, kind, device, bytes, p_out)
		 : wic_plain_mem_alloc(NULL, kind, device, bytes, p_out);
}

void wic_mem_free(struct wic *w, void *p)
{
	if (p && w)
		w->ops->mem_free(w->be, p);
	else
		wic_plain_mem_free(NULL, p);
}

int wic_mem_copy(struct wic *w, void *dst, const void *src, size_t bytes)
{
	if (!bytes)
		return 0;
	return w ? w->ops->mem_copy(w->be, dst, src, bytes)
		 : wic_plain_mem_copy(NULL, dst, src, bytes);
}

/* By copies: what a device's memory needs else no back-end has to know. */
static int gpu_zero(struct wic *w, unsigned char *dst, size_t bytes)
{
	size_t step = bytes < ZERO_BYTES ? bytes : ZERO_BYTES, at;
	void *zeros = calloc(1, step + !step);
	int rc = 0;

	if (!zeros)
		return wic_fail(-ENOMEM, "memory of %zu bytes", step);
	for (at = 0; at < bytes && !rc; at += step)
		rc = wic_mem_copy(w, dst + at, zeros, bytes - at < step ? bytes - at : step);
	free(zeros);
	return rc;
}

int wic_mem_zero(struct wic *w, void *dst, size_t bytes)
{
	if (!bytes)
		return 0;
	if (wic_is_gpu(w))
		return gpu_zero(w, dst, bytes);
	memset(dst, 0, bytes);
	return 0;
}

bool wic_is_gpu(const struct wic *w)
{
	return w && (w->ops->caps & WIC_BE_CAP_GPU);
}

void wic_geometry_get(const struct wic *w, struct wic_geometry *geometry_out)
{
	w->ops->geometry(w->be, geometry_out);
}
