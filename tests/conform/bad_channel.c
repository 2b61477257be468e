// SPDX-License-Identifier: MIT OR GPL-2.0
/* Bad input to channels, and to what stages and publishes by the channel's own handle. */
#include <string.h>

#include "tests/conform/bad_input.h"

static struct wic_channel_desc desc(void)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;

	d.tags = BAD_TAGS;
	d.bytes_per_tag = BAD_BYTES;
	return d;
}

static void create_null(struct bad_env *e)
{
	struct wic_channel_desc d = desc();

	BAD_WANT(-EINVAL, wic_channel_create(NULL, &d, &e->out.ch));
	BAD_WANT(-EINVAL, wic_channel_create(e->w, NULL, &e->out.ch));
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, NULL));
}

static void create_kind(struct bad_env *e)
{
	struct wic_channel_desc d = desc();

	BAD_WANT(-EINVAL, wic_channel_create((struct wic *)e->ch, &d, &e->out.ch));
	d.consumer = WIC_HOST;
	BAD_WANT(-ENOTSUP, wic_channel_create(e->w, &d, &e->out.ch));
	d = desc();
	d.flags = WIC_CHANNEL_PAT; /* whose producer is the host */
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
}

static void create_range(struct bad_env *e)
{
	struct wic_channel_desc d = desc();

	d.readers = 0;
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
	d.readers = 65536;
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
	d = desc();
	d.tags = 0;
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
	d = desc();
	d.mode = WIC_MODE_PUSH + 1;
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
	d = desc();
	d.producer = WIC_GPU(1);
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
	d = desc();
	d.consumer = WIC_GPU(1);
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
	d = desc();
	d.flags = ~WIC_CHANNEL_PAT;
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
}

static void create_sizes(struct bad_env *e)
{
	struct wic_channel_desc d = desc();
	const uint64_t sizes[] = { 0, 8, 1u << 20, UINT64_MAX };
	const uint64_t bytes[] = { UINT64_MAX, UINT64_MAX - WIC_PAGE_BYTES + 1, 1ull << 63,
				   (uint64_t)UINT32_MAX * WIC_PAGE_BYTES,
				   BAD_SET * WIC_PAGE_BYTES + 1 };

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		d.size_bytes = sizes[i];
		BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
	}
	d = desc();
	for (uint32_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		d.bytes_per_tag = bytes[i];
		BAD_WANT(-E2BIG, wic_channel_create(e->w, &d, &e->out.ch));
	}
	d = desc();
	d.tags = (1u << 20) + 1;
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
	d.tags = UINT32_MAX;
	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
}

static void create_closed(struct bad_env *e)
{
	struct wic_channel_desc d = desc();

	BAD_WANT(-EINVAL, wic_channel_create(e->closed, &d, &e->out.ch));
}

/* As often as there are numbers; the next one changes nothing. */
static void create_twice(struct bad_env *e)
{
	struct wic_channel_desc d = desc();
	struct wic_channel *made[64];
	uint32_t n = 0;
	int rc = 0;

	while (n < 64 && !rc) {
		rc = wic_channel_create(e->w, &d, &made[n]);
		n += !rc;
	}
	BAD_WANT(-ENOMEM, rc);
	BAD_WANT(-ENOMEM, wic_channel_create(e->w, &d, &e->out.ch));
	while (n)
		wic_channel_destroy(made[--n]);
}

static void create_refused(struct bad_env *e)
{
	struct wic_channel_desc d = desc();

	BAD_WANT(-EINVAL, wic_channel_create(e->w, &d, &e->out.ch));
}

static void close_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_channel_close(NULL));
}

static void close_kind(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_channel_close((struct wic_channel *)e->w));
}

static void close_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_channel_close(e->closed_ch));
}

static void close_twice(struct bad_env *e)
{
	struct wic_channel *ch = bad_channel(e->w, 1, 0, false);

	BAD_WANT(0, wic_channel_close(ch));
	BAD_WANT(-EINVAL, wic_channel_close(ch));
	wic_channel_destroy(ch);
	BAD_WANT(-EINVAL, wic_channel_close(ch));
}

static void close_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_channel_close(e->ch));
}

static void destroy_null(struct bad_env *e)
{
	BAD_LOGS(0, wic_channel_destroy(NULL));
}

static void destroy_kind(struct bad_env *e)
{
	BAD_LOGS(1, wic_channel_destroy((struct wic_channel *)e->w));
}

static void destroy_twice(struct bad_env *e)
{
	struct wic_channel *ch = bad_channel(e->w, 1, 0, false);

	BAD_WANT(0, wic_channel_close(ch));
	BAD_LOGS(0, wic_channel_destroy(ch));
	BAD_LOGS(1, wic_channel_destroy(ch));
}

static void destroy_refused(struct bad_env *e)
{
	BAD_LOGS(1, wic_channel_destroy(e->ch));
}

static void handle_null(struct bad_env *e)
{
	struct wic_handle h = wic_channel_handle(NULL);

	BAD_WANT(0, h.tags);
	BAD_WANT(true, h.channel == NULL);
}

static void handle_any(struct bad_env *e)
{
	struct wic_handle h = wic_channel_handle(e->ch), closed = wic_channel_handle(e->closed_ch);

	BAD_WANT(0, memcmp(&h, &e->h, sizeof(h)));
	BAD_WANT(0, memcmp(&closed, &e->h_closed, sizeof(closed)));
}

static void stage_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_stage(NULL, 0, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_stage(e->ch, BAD_TAG_FREE, e->serial, BAD_WAIT, NULL));
	BAD_WANT(-EINVAL, wic_try_stage(NULL, 0, e->serial, &e->out.data));
	BAD_WANT(-EINVAL, wic_try_stage(e->ch, BAD_TAG_FREE, e->serial, NULL));
}

static void stage_kind(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_stage(e->signals, 0, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_stage(e->to_host, 0, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EBUSY, wic_stage(e->ch, BAD_TAG_OF_P, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_try_stage(e->signals, 0, e->serial, &e->out.data));
	BAD_WANT(-EINVAL, wic_try_stage(e->to_host, 0, e->serial, &e->out.data));
	BAD_WANT(-EBUSY, wic_try_stage(e->ch, BAD_TAG_OF_P, e->serial, &e->out.data));
}

/* Tag 0's epochs up to serial are published. */
static void stage_range(struct bad_env *e)
{
	const struct {
		uint32_t tag;
		uint64_t epoch;
	} bad[] = { { BAD_TAGS, e->serial },
		    { UINT32_MAX, e->serial },
		    { BAD_TAG_FREE, WIC_EPOCH_NONE },
		    { BAD_TAG_FREE, WIC_EPOCH_NEXT },
		    { 0, 1 } };

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		BAD_WANT(-EINVAL,
			 wic_stage(e->ch, bad[i].tag, bad[i].epoch, BAD_WAIT, &e->out.data));
		BAD_WANT(-EINVAL, wic_try_stage(e->ch, bad[i].tag, bad[i].epoch, &e->out.data));
	}
}

/* A deadline past the end of time is none. */
static void stage_sizes(struct bad_env *e)
{
	void *buffer = NULL;

	BAD_WANT(0, wic_stage(e->ch, BAD_TAG_FREE, e->serial, UINT64_MAX - 1, &buffer));
	BAD_WANT(true, buffer != NULL);
}

static void stage_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_stage(e->closed_ch, 0, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_try_stage(e->closed_ch, 0, e->serial, &e->out.data));
}

static void stage_twice(struct bad_env *e)
{
	void *first = NULL, *second = NULL, *third = NULL;

	e->serial++;
	BAD_WANT(0, wic_stage(e->ch, BAD_TAG_FREE, e->serial, BAD_WAIT, &first));
	BAD_WANT(0, wic_stage(e->ch, BAD_TAG_FREE, e->serial, BAD_WAIT, &second));
	BAD_WANT(0, wic_try_stage(e->ch, BAD_TAG_FREE, e->serial, &third));
	BAD_WANT(true, first == second && first == third);
}

static void stage_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_stage(e->ch, BAD_TAG_FREE, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_try_stage(e->ch, BAD_TAG_FREE, e->serial, &e->out.data));
}

static void publish_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_publish(NULL, 0, e->serial));
	BAD_WANT(-EINVAL, wic_publish_range(NULL, 0, 1, e->serial));
}

static void publish_kind(struct bad_env *e)
{
	uint64_t unstaged = e->serial + 1000000;

	BAD_WANT(-EINVAL, wic_publish(e->to_host, 0, unstaged));
	BAD_WANT(-EINVAL, wic_publish(e->ch, BAD_TAG_FREE, unstaged));
	BAD_WANT(-EBUSY, wic_publish(e->ch, BAD_TAG_OF_P, unstaged));
	BAD_WANT(-EINVAL, wic_publish_range(e->to_host, 0, 1, unstaged));
	BAD_WANT(-EINVAL, wic_publish_range(e->ch, BAD_TAG_FREE, 1, unstaged));
	BAD_WANT(-EBUSY, wic_publish_range(e->ch, 0, BAD_TAGS, unstaged));
}

static void publish_range(struct bad_env *e)
{
	const struct {
		uint32_t tag;
		uint64_t epoch;
	} bad[] = { { BAD_TAGS, e->serial },
		    { UINT32_MAX, e->serial },
		    { 0, WIC_EPOCH_NONE },
		    { 0, WIC_EPOCH_NEXT } };

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		BAD_WANT(-EINVAL, wic_publish(e->signals, bad[i].tag, bad[i].epoch));
		BAD_WANT(-EINVAL, wic_publish_range(e->signals, bad[i].tag, 1, bad[i].epoch));
	}
	BAD_WANT(-EINVAL, wic_publish(e->ch, 0, 1));
}

static void publish_sizes(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_publish_range(e->signals, 0, 0, e->serial));
	BAD_WANT(-EINVAL, wic_publish_range(e->signals, 0, BAD_TAGS + 1, e->serial));
	BAD_WANT(-EINVAL, wic_publish_range(e->signals, 1, BAD_TAGS, e->serial));
	BAD_WANT(-EINVAL, wic_publish_range(e->signals, 1, UINT32_MAX, e->serial));
	BAD_WANT(-EINVAL, wic_publish_range(e->signals, BAD_TAGS - 1, UINT32_MAX, e->serial));
}

static void publish_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_publish(e->closed_ch, 0, e->serial));
	BAD_WANT(-EINVAL, wic_publish_range(e->closed_ch, 0, 1, e->serial));
}

/* One that fails half way publishes none: tag 1 is behind, tag 0 is not. */
static void publish_twice(struct bad_env *e)
{
	e->serial += 2;
	BAD_WANT(0, wic_publish(e->signals, 0, e->serial));
	BAD_WANT(-EINVAL, wic_publish(e->signals, 0, e->serial));
	BAD_WANT(-EINVAL, wic_publish_range(e->signals, 0, BAD_TAGS, e->serial));
	BAD_WANT(0, wic_publish_range(e->signals, 1, BAD_TAGS - 1, e->serial));
	BAD_WANT(-EINVAL, wic_publish_range(e->signals, 1, BAD_TAGS - 1, e->serial));
}

static void publish_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_publish(e->signals, 0, e->serial + 1000));
	BAD_WANT(-EINVAL, wic_publish_range(e->signals, 0, 1, e->serial + 1000));
}

const struct bad_row bad_channel_rows[] = {
	BAD_ROW(wic_channel_create, CALL(create_null), CALL(create_kind), CALL(create_range),
		CALL(create_sizes), CALL(create_closed), CALL(create_twice), CALL(create_refused),
		IN_HANDLER, CALL(create_refused)),
	BAD_ROW(wic_channel_close, CALL(close_null), CALL(close_kind), NO_RANGE, NO_SIZE,
		CALL(close_closed), CALL(close_twice), CALL(close_refused), IN_HANDLER,
		CALL(close_refused)),
	BAD_ROW(wic_channel_destroy, CALL(destroy_null), CALL(destroy_kind), NO_RANGE, NO_SIZE,
		CALL(destroy_twice), CALL(destroy_twice), CALL(destroy_refused), IN_HANDLER,
		CALL(destroy_refused)),
	BAD_ROW(wic_channel_handle, CALL(handle_null), NOT_LOOKED_UP, NO_RANGE, NO_SIZE,
		CALL(handle_any), CALL(handle_any), CALL(handle_any), IN_HANDLER, CALL(handle_any)),
	BAD_ROW(wic_stage, CALL(stage_null), CALL(stage_kind), CALL(stage_range), CALL(stage_sizes),
		CALL(stage_closed), CALL(stage_twice), CALL(stage_refused), IN_HANDLER,
		CALL(stage_refused)),
	BAD_ROW(wic_try_stage, CALL(stage_null), CALL(stage_kind), CALL(stage_range), NO_SIZE,
		CALL(stage_closed), CALL(stage_twice), CALL(stage_refused), IN_HANDLER,
		CALL(stage_refused)),
	BAD_ROW(wic_publish, CALL(publish_null), CALL(publish_kind), CALL(publish_range), NO_SIZE,
		CALL(publish_closed), CALL(publish_twice), CALL(publish_refused), IN_HANDLER,
		CALL(publish_refused)),
	BAD_ROW(wic_publish_range, CALL(publish_null), CALL(publish_kind), CALL(publish_range),
		CALL(publish_sizes), CALL(publish_closed), CALL(publish_twice),
		CALL(publish_refused), IN_HANDLER, CALL(publish_refused)),
	{ 0 },
};
