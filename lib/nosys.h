/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Stubs for the operations that a back-end does not have, one of each type: a
 * call through a pointer of another type is undefined.  Those that can fail
 * return -ENOTSUP with an error text.
 */
#ifndef WIC_LIB_NOSYS_H
#define WIC_LIB_NOSYS_H

#include "lib/backend.h"

uint32_t wic_nosys_probe(struct wic_probe *probes_out, uint32_t max);
int wic_nosys_open(const struct wic_config *cfg, struct wic_be **be_out);
void wic_nosys_close(struct wic_be *be);
const char *wic_nosys_describe(const struct wic_be *be);
int wic_nosys_channel_create(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
			     struct wic_be_channel **ch_out);
void wic_nosys_channel_close(struct wic_be_channel *ch);
void wic_nosys_channel_destroy(struct wic_be_channel *ch);
/* A handle on which every device call is -EINVAL. */
void wic_nosys_channel_handle(const struct wic_be_channel *ch, struct wic_handle *handle_out);
int wic_nosys_stage(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		    void **buffer_out);
int wic_nosys_publish(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
		      uint64_t epoch);
/* Nobody waits. */
void wic_nosys_owner_died(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count);
int wic_nosys_host_request(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch,
			   uint64_t timeout_ns, const void **data_out);
int wic_nosys_host_release(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch);
uint64_t *wic_nosys_cancel_word(struct wic_be *be);
int wic_nosys_waiters(struct wic_be *be, struct wic_waiter *waiters_out, size_t max,
		      size_t *count_out);
int wic_nosys_launch(struct wic_be *be, const struct wic_launch_desc *l);
int wic_nosys_check(struct wic_be *be, const struct wic_launch_desc *l, struct wic_fit *fit_out);
int wic_nosys_check_word(struct wic_be *be, const uint64_t *word);
/* 0: nothing was launched. */
int wic_nosys_sync(struct wic_be *be, uint32_t device, uint64_t timeout_ns);
int wic_nosys_mem_alloc(struct wic_be *be, enum wic_mem kind, struct wic_device_id device,
			size_t bytes, void **p_out);
void wic_nosys_mem_free(struct wic_be *be, void *p);
int wic_nosys_mem_copy(struct wic_be *be, void *dst, const void *src, size_t bytes);
/* Nothing is known. */
void wic_nosys_geometry(const struct wic_be *be, struct wic_geometry *geometry_out);
/* Counts nothing. */
void wic_nosys_stats(struct wic_be *be, struct wic_stats *stats_out);
int wic_nosys_events(struct wic_be *be, struct wic_event *events_out, size_t events_max,
		     size_t *count_out);

#endif /* WIC_LIB_NOSYS_H */
