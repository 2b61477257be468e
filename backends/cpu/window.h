/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The PCM window of a device's pool: for each page its data, and a page to fault on.
 *
 *	data	always mapped, may be huge pages; filled by the Monitor, read by warps
 *	closed	no memory behind it; a touch of a closed page is a real fault
 *
 * Only the closed page of a run's first page is ever touched and opened; the pointer
 * that a warp gets is into the data: one fault and one opened page a request, whatever
 * its size.  With the data mapped twice instead (one alias closed) each close flushed
 * the translations of the data too, and the data could not lie in huge pages.
 *
 * The mechanism is chosen at run time behind init, open, close:
 *	uffd		userfaultfd MISSING + SIGBUS: closed = no page-table entry, open = the
 *			zero page.  The state is in the entry, not in the VMA.
 *	mprotect	closed = PROT_NONE; each open page splits a VMA, so a pool is
 *			limited to WINDOW_MPROTECT_PAGES.  Works under valgrind.
 *
 * Threads: open and close by the Monitor only; contains from any thread and from
 * the fault handler.
 */
#ifndef WIC_BACKENDS_CPU_WINDOW_H
#define WIC_BACKENDS_CPU_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wic/wic.h>

#include "core/pool.h"

/* vm.max_map_count is 65,530 by default and an alternation costs two mappings. */
#define WINDOW_MPROTECT_PAGES 60000

struct window;

struct window_ops {
	const char *name;
	int (*init)(struct window *win);
	int (*open_page)(struct window *win, uint32_t page);
	int (*close_run)(struct window *win, struct wic_run run);
	void (*open_all)(struct window *win);
	void (*fini)(struct window *win);
};

struct window {
	const struct window_ops *ops;
	unsigned char *data;   /* owned mapping, pages * 4 KiB */
	unsigned char *closed; /* owned mapping of as many pages */
	uint64_t *open_bits;   /* owned; pages open now; the Monitor's */
	uint32_t pages;
	int uffd;         /* owned, -1: none */
	char reason[160]; /* why this mechanism */
};

extern const struct window_ops wic_window_uffd;
extern const struct window_ops wic_window_mprotect;

/* @mechanism: enum wic_mechanism.  0; -ENOTSUP, -ENOMEM with wic_last_error(). */
/* Data alone, for a device whose waiters never fault: nothing may be opened. */
int wic_window_create_plain(struct window *win, uint32_t pages);
int wic_window_create(struct window *win, uint32_t pages, uint32_t mechanism);
void wic_window_destroy(struct window *win);

/* Open one page: the touch that waits there goes on. */
int wic_window_open(struct window *win, uint32_t page);
/* Open every page for good, as well as can be: the context is dead. */
void wic_window_open_all(struct window *win);
/* Close the pages of a run that are open.  @closed_out: how many were. */
int wic_window_close(struct window *win, struct wic_run run, uint32_t *closed_out);

static inline bool window_contains(const struct window *win, const void *address)
{
	return (uintptr_t)address - (uintptr_t)win->closed < (uintptr_t)win->pages * WIC_PAGE_BYTES;
}

static inline uint32_t window_page(const struct window *win, const void *address)
{
	return (uint32_t)(((uintptr_t)address - (uintptr_t)win->closed) / WIC_PAGE_BYTES);
}

#endif /* WIC_BACKENDS_CPU_WINDOW_H */
