// SPDX-License-Identifier: MIT OR GPL-2.0
/* mprotect(2) on the closed pages: needs nothing, works under valgrind and old kernels. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/cpu/window.h"
#include "lib/log.h"

static int protect(struct window *win, struct wic_run run, int prot)
{
	if (mprotect(win->closed + (size_t)run.first * WIC_PAGE_BYTES,
		     (size_t)run.count * WIC_PAGE_BYTES, prot))
		return wic_fail(-EIO, "mprotect of pages %u to %u: %s", run.first,
				run.first + run.count - 1, strerror(errno));
	return 0;
}

static int mprotect_init(struct window *win)
{
	if (win->pages > WINDOW_MPROTECT_PAGES)
		return wic_fail(-ENOTSUP,
				"mechanism mprotect holds at most %u pages (mappings), not %u",
				WINDOW_MPROTECT_PAGES, win->pages);
	if (protect(win, (struct wic_run){ 0, win->pages }, PROT_NONE))
		return -ENOTSUP;
	return 0;
}

static int mprotect_open_page(struct window *win, uint32_t page)
{
	return protect(win, (struct wic_run){ page, 1 }, PROT_READ);
}

static int mprotect_close_run(struct window *win, struct wic_run run)
{
	return protect(win, run, PROT_NONE);
}

static void mprotect_open_all(struct window *win)
{
	/* One protection for all merges the mappings, so this needs no new one. */
	if (protect(win, (struct wic_run){ 0, win->pages }, PROT_READ))
		wic_log(WIC_LOG_ERROR, "opening all pages: %s", wic_last_error());
}

static void mprotect_fini(struct window *win)
{
	(void)win;
}

const struct window_ops wic_window_mprotect = {
	.name = "mprotect",
	.init = mprotect_init,
	.open_page = mprotect_open_page,
	.close_run = mprotect_close_run,
	.open_all = mprotect_open_all,
	.fini = mprotect_fini,
};
