// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * What timed out on the device.  A kernel has no log: it leaves a record in host memory, and
 * whoever calls the library next, to sync, to wait or to close, says it.
 */
#include <inttypes.h>
#include <string.h>

#include "backends/cuda/be.h"
#include "lib/log.h"

#define WORDS (sizeof(struct wic_push_report) / sizeof(uint64_t))

/*
 * Each word by an acquire, so that the number is read again after them.  A fence would do, but
 * ThreadSanitizer does not know it.
 */
static void read_words(const struct wic_push_report *r, struct wic_push_report *copy_out)
{
	const uint64_t *from = (const uint64_t *)(const void *)r;
	uint64_t words[WORDS];

	for (size_t i = 0; i < WORDS; i++)
		words[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
	memcpy(copy_out, words, sizeof(words));
}

static void say(const struct wic_be *be, const struct wic_push_report *r)
{
	wic_log(WIC_LOG_WARN,
		"block %" PRIu32 " warp %" PRIu32 " timed out after %" PRIu64 " us: %s %" PRIu64
		" of tag %" PRIu32 " of channel %" PRIu32 ", saw %" PRIu64 "; %" PRIu32
		" blocks have reached a wait, this grid has %" PRIu32 "%s",
		r->block, r->warp, r->timeout_ns / 1000,
		r->is_stage ? "all releases of epoch" : "epoch", r->want, r->tag, r->channel,
		r->seen, r->blocks_waited, r->grid_blocks, be->hang);
}

void wic_cuda_reports_say(struct wic_be *be)
{
	uint64_t number, first, missed = 0;

	if (pthread_mutex_trylock(&be->report_lock))
		return; /* somebody is at it */
	first = be->reports_seen;
	for (number = first + 1;; number++) {
		struct wic_push_report *r = &be->reports[(number - 1) % WIC_PUSH_REPORTS];
		struct wic_push_report copy;
		/* Pairs with the warp's release: the record is whole. */
		uint64_t seen = __atomic_load_n(&r->number, __ATOMIC_ACQUIRE);

		if (seen < number)
			break;
		if (seen > number) {
			/* Written over, but what came right after it may not be. */
			missed += seen - number - (WIC_PUSH_REPORTS - 1);
			number = seen - WIC_PUSH_REPORTS;
			continue;
		}
		read_words(r, &copy);
		if (__atomic_load_n(&r->number, __ATOMIC_RELAXED) != number)
			break; /* it is being written over; the next call takes it */
		say(be, &copy);
	}
	be->reports_seen = number - 1;
	if (missed)
		wic_log(WIC_LOG_WARN, "%" PRIu64 " more waits timed out than records are kept",
			missed);
	pthread_mutex_unlock(&be->report_lock);
}
