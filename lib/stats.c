/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <wic/stats.h>

#include <inttypes.h>
#include <string.h>

#include "lib/log.h"
#include "lib/object.h"

int wic_stats_get(struct wic *w, struct wic_stats *stats_out)
{
	struct wic_stats stats = { .size_bytes = sizeof(stats) };
	const size_t first_bytes = offsetof(struct wic_stats, requests);
	int rc = wic_object_check(w, "wic_stats_get");
	uint64_t bytes;

	if (rc)
		return rc;
	if (!stats_out)
		return wic_fail(-EINVAL, "wic_stats_get: stats_out is NULL");
	bytes = stats_out->size_bytes;
	if (bytes < first_bytes)
		return wic_fail(-EINVAL,
				"wic_stats_get: size_bytes is %" PRIu64 ", not at least %zu", bytes,
				first_bytes);
	w->ops->stats(w->be, &stats);
	/* Whole counters only, and the caller's size stays what it was. */
	bytes = (bytes < sizeof(stats) ? bytes : sizeof(stats)) / sizeof(uint64_t) *
		sizeof(uint64_t);
	memcpy(&stats_out->requests, &stats.requests, bytes - first_bytes);
	return 0;
}

int wic_events_read(struct wic *w, struct wic_event *events_out, size_t events_max,
		    size_t *count_out)
{
	int rc = wic_object_check(w, "wic_events_read");

	if (rc)
		return rc;
	if (!events_out || !count_out)
		return wic_fail(-EINVAL, "wic_events_read: %s is NULL",
				events_out ? "count_out" : "events_out");
	if (!w->cfg.record_events || !(w->ops->caps & WIC_BE_CAP_EVENTS))
		return wic_fail(-ENOTSUP,
				"wic_events_read: the recorder is off (record_events is %" PRIu32
				", back-end %s)",
				w->cfg.record_events, w->ops->name);
	return w->ops->events(w->be, events_out, events_max, count_out);
}
