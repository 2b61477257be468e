/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <wic/wic.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/config.h"
#include "lib/desc.h"
#include "lib/log.h"
#include "lib/object.h"

#define SHARED_BYTES_MAX (1u << 20)

_Static_assert(WIC_CHANNELS_MAX == 64, "one word of bits holds the channel numbers");

/* The sink that is right for the contexts that are open now. */
static void sink_restore(void)
{
	void (*log)(void *arg, int level, const char *line) = NULL;
	void *arg = NULL;

	wic_object_sink(&log, &arg);
	wic_log_use(log, arg);
}

/* The new context's own sink first, so that it also hears why opening failed. */
static void sink_take(const struct wic_config *cfg)
{
	const size_t known_bytes = offsetof(struct wic_config, log_arg) + sizeof(cfg->log_arg);

	wic_log_read_level();
	if (cfg && cfg->size_bytes >= known_bytes && cfg->log)
		wic_log_use(cfg->log, cfg->log_arg);
}

static int context_open(const struct wic_config *cfg, struct wic **w_out)
{
	char reason[WIC_REASON_BYTES];
	const char *from;
	struct wic *w;
	int rc;

	w = calloc(1, sizeof(*w));
	if (!w)
		return wic_fail(-ENOMEM, "no memory for a context (%zu bytes)", sizeof(*w));
	rc = wic_config_resolve(cfg, &w->cfg, &from);
	if (rc)
		goto err_free;
	wic_config_warn_unknown();
	rc = wic_be_open(&w->cfg, from, reason, &w->ops, &w->be);
	if (rc)
		goto err_free;
	w->cfg.backend = w->ops->name;
	w->cancel_word = w->ops->cancel_word(w->be);
	snprintf(w->description, sizeof(w->description), "%s (%s)", w->ops->describe(w->be),
		 reason);
	wic_log(WIC_LOG_INFO, "opened %s", w->description);
	*w_out = w;
	return 0;

err_free:
	free(w);
	return rc;
}

int wic_open(const struct wic_config *cfg, struct wic **w_out)
{
	int rc = wic_object_check_thread("wic_open");
	struct wic *w;

	if (rc)
		return rc;
	if (!w_out)
		return wic_fail(-EINVAL, "wic_open: w_out is NULL");
	sink_take(cfg);
	rc = context_open(cfg, &w);
	if (!rc)
		wic_object_add(w);
	/* Another thread's close may have changed it since; now the list decides. */
	sink_restore();
	if (rc)
		return rc;
	*w_out = w;
	return 0;
}

void wic_context_wait_idle(struct wic *w, const char *who)
{
	for (uint64_t seconds = 1; w->ops->sync(w->be, WIC_BE_DEVICE_ALL, WIC_S(1)) == -ETIMEDOUT;
	     seconds++)
		wic_log(WIC_LOG_WARN, "%s: a kernel is still running after %" PRIu64 " s", who,
			seconds);
}

void wic_close(struct wic *w)
{
	struct wic_channel *ch;

	if (!w)
		return;
	if (wic_is_in_kernel()) {
		wic_log(WIC_LOG_ERROR,
			"wic_close: called inside a kernel, which it would wait for");
		return;
	}
	if (!wic_object_remove(w)) {
		wic_log(WIC_LOG_ERROR, "wic_close: %p is not an open context", (void *)w);
		return;
	}
	/* All first: a kernel may wait on one channel after another. */
	wic_object_visit_channels(w, wic_channel_close_once);
	/* Then what waits for no channel. */
	if (w->cancel_word)
		__atomic_store_n(w->cancel_word, WIC_BE_CANCEL_FOR_GOOD, __ATOMIC_RELEASE);
	wic_context_wait_idle(w, "wic_close");
	while ((ch = wic_object_remove_channel_of(w)))
		wic_channel_free(ch);
	w->ops->close(w->be);
	wic_log(WIC_LOG_INFO, "closed %s", w->ops->name);
	sink_restore();
	free(w);
}

const char *wic_describe(const struct wic *w)
{
	return w ? w->description : NULL;
}

static int check_device(const struct wic *w, const char *who, struct wic_device_id device)
{
	if (device.v >= w->cfg.devices)
		return wic_fail(-EINVAL, "%s: device is %" PRIu32 ", not in [0, %" PRIu32 ")", who,
				device.v, w->cfg.devices);
	return 0;
}

static int check_launch(const char *who, const struct wic_launch_desc *l)
{
	uint32_t warps = l->block_threads / WIC_WARP_LANES + !!(l->block_threads % WIC_WARP_LANES);

	if (!l->kernel)
		return wic_fail(-EINVAL, "%s: kernel is NULL", who);
	if (!l->grid_blocks || !l->block_threads)
		return wic_fail(-EINVAL,
				"%s: %" PRIu32 " blocks of %" PRIu32
				" threads, not at least 1 of each",
				who, l->grid_blocks, l->block_threads);
	if (l->shared_bytes > SHARED_BYTES_MAX)
		return wic_fail(-EINVAL, "%s: shared_bytes is %" PRIu32 ", not in [0, %u]", who,
				l->shared_bytes, SHARED_BYTES_MAX);
	/* An event names its warp by 32 bits, the last value is nobody's. */
	if ((uint64_t)l->grid_blocks * warps >= UINT32_MAX)
		return wic_fail(-EINVAL,
				"%s: %" PRIu32 " blocks of %" PRIu32
				" warps, not less than 2^32 - 1 warps in all",
				who, l->grid_blocks, warps);
	return 0;
}

/* The caller's description, checked as far as no back-end is needed. */
static int launch_copy(struct wic *w, const char *who, const struct wic_launch_desc *l,
		       struct wic_launch_desc *copy_out)
{
	int rc = wic_object_check(w, who);

	if (rc)
		return rc;
	if (!l)
		return wic_fail(-EINVAL, "%s: l is NULL", who);
	rc = wic_desc_copy("wic_launch_desc", l, sizeof(*copy_out), sizeof(*copy_out), copy_out);
	if (!rc)
		rc = check_launch(who, copy_out);
	return rc ? rc : check_device(w, who, copy_out->device);
}

int wic_launch(struct wic *w, const struct wic_launch_desc *l)
{
	struct wic_launch_desc copy;
	int rc = launch_copy(w, "wic_launch", l, &copy);

	return rc ? rc : w->ops->launch(w->be, &copy);
}

int wic_check(struct wic *w, const struct wic_launch_desc *l, struct wic_fit *fit_out)
{
	const size_t first_bytes = sizeof(struct wic_fit);
	struct wic_fit fit = { .size_bytes = sizeof(fit) };
	struct wic_launch_desc copy;
	int rc = launch_copy(w, "wic_check", l, &copy);

	if (rc)
		return rc;
	if (!fit_out)
		return wic_fail(-EINVAL, "wic_check: fit_out is NULL");
	if (fit_out->size_bytes < first_bytes)
		return wic_fail(-EINVAL, "wic_check: size_bytes is %" PRIu64 ", not at least %zu",
				fit_out->size_bytes, first_bytes);
	fit.grid_blocks = copy.grid_blocks;
	rc = w->ops->check(w->be, &copy, &fit);
	if (rc)
		return rc;
	/* What the caller knows and the library does not is left alone. */
	fit.size_bytes = fit_out->size_bytes;
	*fit_out = fit;
	return 0;
}

int wic_check_word(struct wic *w, const uint64_t *word)
{
	int rc = wic_object_check(w, "wic_check_word");

	if (rc)
		return rc;
	if (!word || (uintptr_t)word % sizeof(*word))
		return wic_fail(-EINVAL, "wic_check_word: the word at %p is %s", (const void *)word,
				word ? "misaligned: it needs 8 bytes" : "NULL");
	return w->ops->check_word(w->be, word);
}

/* One more, if the word is even (odd) now: copies of it are raised, so it never goes back. */
static void cancel_word_raise(struct wic *w, uint64_t parity)
{
	uint64_t old;

	if (!w || !w->cancel_word)
		return;
	old = __atomic_load_n(w->cancel_word, __ATOMIC_RELAXED);
	while (old % 2 == parity && old != WIC_BE_CANCEL_FOR_GOOD &&
	       !__atomic_compare_exchange_n(w->cancel_word, &old, old + 1, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

/* No list is asked: this may be a signal handler. */
void wic_cancel(struct wic *w)
{
	cancel_word_raise(w, 0);
}

void wic_cancel_clear(struct wic *w)
{
	cancel_word_raise(w, 1);
}

int wic_waiters(struct wic *w, struct wic_waiter *waiters_out, size_t max, size_t *count_out)
{
	int rc = wic_object_check(w, "wic_waiters");

	if (rc)
		return rc;
	if (!count_out || (max && !waiters_out))
		return wic_fail(-EINVAL, "wic_waiters: %s is NULL",
				count_out ? "waiters_out" : "count_out");
	return w->ops->waiters(w->be, waiters_out, max, count_out);
}

int wic_sync(struct wic *w, uint64_t timeout_ns)
{
	int rc = wic_object_check(w, "wic_sync");

	return rc ? rc : w->ops->sync(w->be, WIC_BE_DEVICE_ALL, timeout_ns);
}

int wic_sync_device(struct wic *w, struct wic_device_id device, uint64_t timeout_ns)
{
	int rc = wic_object_check(w, "wic_sync_device");

	if (!rc)
		rc = check_device(w, "wic_sync_device", device);
	return rc ? rc : w->ops->sync(w->be, device.v, timeout_ns);
}
