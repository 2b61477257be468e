/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What the device's functions of wic/kernel.h share.  Warp context. */
#ifndef WIC_BACKENDS_CPU_REQUEST_H
#define WIC_BACKENDS_CPU_REQUEST_H

#include "backends/cpu/be.h"

/* The warp that runs on this thread; NULL, with an error, outside kernels. */
struct cpu_warp *wic_cpu_request_self(const char *what);
/* That the handle, the tag and the epoch are ones; and that this warp consumes. */
int wic_cpu_request_check(const struct cpu_warp *w, const struct wic_handle *h, uint32_t tag,
			  uint64_t epoch);
/* The same for a warp that produces; the channel is open. */
int wic_cpu_request_check_produce(const struct cpu_warp *w, const struct wic_handle *h,
				  uint32_t tag, uint64_t epoch);
/*
 * What keeps a warp from parking: a dead context, a closed channel, no time.  @was_open: the
 * call has found the channel open, so that it was closed meanwhile.
 */
int wic_cpu_request_may_park(const struct wic_be_channel *ch, uint64_t timeout_ns, bool was_open);
/*
 * Park until w->req, whose ch, tag, epoch, pages, refs and deadline are set, has its status;
 * returns it, with its text.
 */
int wic_cpu_request_park(struct cpu_warp *w);
/* It is no user any more of the hold at @page. */
void wic_cpu_request_leave_hold(struct cpu_warp *w, uint64_t epoch, uint32_t page);

#endif /* WIC_BACKENDS_CPU_REQUEST_H */
