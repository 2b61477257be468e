// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/dep.h"
#include "lib/log.h"

static size_t window_bytes(const struct window *win)
{
	return (size_t)win->pages * WIC_PAGE_BYTES;
}

static unsigned char *map(const struct window *win, int prot, int flags, int advice)
{
	void *at = mmap(NULL, window_bytes(win), prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	/* A kernel without huge pages refuses the advice, and needs none. */
	(void)madvise(at, window_bytes(win), advice);
	return at;
}

static void unmap(struct window *win)
{
	if (win->closed)
		munmap(win->closed, window_bytes(win));
	if (win->data)
		munmap(win->data, window_bytes(win));
	win->closed = NULL;
	win->data = NULL;
}

static int map_both(struct window *win)
{
	win->data = map(win, PROT_READ | PROT_WRITE, 0, MADV_HUGEPAGE);
	win->closed = map(win, PROT_READ, MAP_NORESERVE, MADV_NOHUGEPAGE);
	if (!win->data || !win->closed) {
		unmap(win);
		return wic_fail(-ENOMEM, "mapping twice %u pages: %s", win->pages, strerror(errno));
	}
	/* Touched now, so that the Monitor does not fault while it fills. */
	memset(win->data, 0, window_bytes(win));
	return 0;
}

int wic_window_create_plain(struct window *win, uint32_t pages)
{
	memset(win, 0, sizeof(*win));
	win->pages = pages;
	win->open_bits = calloc((pages + 63) / 64, sizeof(*win->open_bits));
	if (!win->open_bits)
		return wic_fail(-ENOMEM, "a bitmap of %u pages", pages);
	win->data = map(win, PROT_READ | PROT_WRITE, 0, MADV_HUGEPAGE);
	if (win->data)
		return 0;
	free(win->open_bits);
	win->open_bits = NULL;
	return wic_fail(-ENOMEM, "mapping %u pages: %s", pages, strerror(errno));
}

static int try_mechanism(struct window *win, const struct window_ops *ops)
{
	int rc = map_both(win);

	if (rc)
		return rc;
	win->uffd = -1;
	rc = ops->init(win);
	if (rc) {
		unmap(win);
		return rc;
	}
	win->ops = ops;
	return 0;
}

/* Kernels for aarch64 may have pages of 16 or 64 KiB, and protect no less than one. */
static int page_size_check(void)
{
	long bytes = sysconf(_SC_PAGESIZE);

	if (bytes != WIC_PAGE_BYTES)
		return wic_fail(
			-ENOTSUP,
			"the kernel's pages have %ld bytes; back-end cpu closes pages of %d", bytes,
			WIC_PAGE_BYTES);
	return 0;
}

int wic_window_create(struct window *win, uint32_t pages, uint32_t mechanism)
{
	int rc;

	memset(win, 0, sizeof(*win));
	rc = page_size_check();
	if (rc)
		return rc;
	win->pages = pages;
	win->open_bits = calloc((pages + 63) / 64, sizeof(*win->open_bits));
	if (!win->open_bits)
		return wic_fail(-ENOMEM, "a bitmap of %u pages", pages);

	if (mechanism == WIC_MECHANISM_MPROTECT) {
		rc = try_mechanism(win, &wic_window_mprotect);
		snprintf(win->reason, sizeof(win->reason), "asked for");
	} else {
		rc = try_mechanism(win, &wic_window_uffd);
		snprintf(win->reason, sizeof(win->reason), "%s",
			 mechanism == WIC_MECHANISM_UFFD ? "asked for" : "userfaultfd works here");
		if (rc && mechanism == WIC_MECHANISM_AUTO) {
			snprintf(win->reason, sizeof(win->reason), "%.150s", wic_last_error());
			rc = try_mechanism(win, &wic_window_mprotect);
		}
	}
	if (rc) {
		free(win->open_bits);
		win->open_bits = NULL;
	}
	return rc;
}

void wic_window_destroy(struct window *win)
{
	if (win->ops)
		win->ops->fini(win);
	unmap(win);
	free(win->open_bits);
	memset(win, 0, sizeof(*win));
}

int wic_window_open(struct window *win, uint32_t page)
{
	int rc;

	WIC_ASSERT(page < win->pages);
	rc = win->ops->open_page(win, page);
	if (!rc)
		win->open_bits[page / 64] |= 1ull << page % 64;
	return rc;
}

void wic_window_open_all(struct window *win)
{
	win->ops->open_all(win);
}

/* Closing is one flush of all cores' TLBs: only the part that is open, in one call. */
int wic_window_close(struct window *win, struct wic_run run, uint32_t *closed_out)
{
	uint32_t first = WIC_PAGE_NONE, last = 0, closed = 0;
	int rc;

	WIC_ASSERT(run.first < win->pages && run.count <= win->pages - run.first);
	for (uint32_t page = run.first; page < run.first + run.count; page++) {
		if (!(win->open_bits[page / 64] >> page % 64 & 1))
			continue;
		if (first == WIC_PAGE_NONE)
			first = page;
		last = page;
		closed++;
	}
	*closed_out = closed;
	if (!closed)
		return 0;
	rc = win->ops->close_run(win, (struct wic_run){ first, last + 1 - first });
	if (rc)
		return rc;
	for (uint32_t page = first; page <= last; page++)
		win->open_bits[page / 64] &= ~(1ull << page % 64);
	return 0;
}
