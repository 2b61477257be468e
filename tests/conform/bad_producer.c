// SPDX-License-Identifier: MIT OR GPL-2.0
/* Bad input to producer handles, and to host threads that consume. */
#include "tests/conform/bad_input.h"

static void open_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_producer_open(NULL, 0, 16, 0, &e->out.p));
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, 0, 16, 0, NULL));
}

static void open_kind(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_producer_open((struct wic_channel *)e->w, 0, 16, 0, &e->out.p));
	BAD_WANT(-EINVAL, wic_producer_open(e->to_host, 0, 16, 0, &e->out.p));
}

static void open_range(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, 1, 16, 0, &e->out.p));
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, 0, 15, 0, &e->out.p));
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, BAD_TAGS, 16, 0, &e->out.p));
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, 0, 16, 2, &e->out.p));
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, 0, 16, UINT32_MAX, &e->out.p));
}

static void open_sizes(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, 0, 0, 0, &e->out.p));
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, 16, UINT32_MAX, 0, &e->out.p));
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, 16, UINT32_MAX - 15, 0, &e->out.p));
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, UINT32_MAX - 15, 16, 0, &e->out.p));
}

static void open_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_producer_open(e->closed_ch, 0, 16, 0, &e->out.p));
}

static void open_twice(struct bad_env *e)
{
	BAD_WANT(-EBUSY, wic_producer_open(e->ch, BAD_TAG_OF_P, 16, 0, &e->out.p));
	BAD_WANT(-EBUSY, wic_producer_open(e->ch, 0, BAD_TAGS, 0, &e->out.p));
}

static void open_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_producer_open(e->signals, 0, 16, 0, &e->out.p));
}

static void close_null(struct bad_env *e)
{
	BAD_LOGS(0, wic_producer_close(NULL));
}

static void close_kind(struct bad_env *e)
{
	BAD_LOGS(1, wic_producer_close((struct wic_producer *)e->w));
}

static void close_twice(struct bad_env *e)
{
	struct wic_channel *ch = bad_channel(e->w, 16, 0, false);
	struct wic_producer *p = NULL;

	BAD_WANT(0, wic_producer_open(ch, 0, 16, 0, &p));
	BAD_LOGS(0, wic_producer_close(p));
	BAD_LOGS(1, wic_producer_close(p));
	wic_channel_destroy(ch);
}

/* The handle of a closed channel can be dropped; that of a destroyed one is gone. */
static void close_closed(struct bad_env *e)
{
	struct wic_channel *ch = bad_channel(e->w, 32, 0, false);
	struct wic_producer *p = NULL, *q = NULL;

	BAD_WANT(0, wic_producer_open(ch, 0, 16, 0, &p));
	BAD_WANT(0, wic_producer_open(ch, 16, 16, 0, &q));
	BAD_WANT(0, wic_channel_close(ch));
	BAD_LOGS(0, wic_producer_close(p));
	BAD_LOGS(0, wic_channel_destroy(ch));
	BAD_LOGS(1, wic_producer_close(q));
}

static void close_refused(struct bad_env *e)
{
	BAD_LOGS(1, wic_producer_close(e->p));
}

static void use_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL,
		 wic_producer_stage(NULL, BAD_TAG_OF_P, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_producer_stage(e->p, BAD_TAG_OF_P, e->serial, BAD_WAIT, NULL));
	BAD_WANT(-EINVAL, wic_producer_publish(NULL, BAD_TAG_OF_P, e->serial));
}

/* Somebody else's tag; an epoch that was not staged. */
static void use_kind(struct bad_env *e)
{
	uint64_t unstaged = e->serial + 1000000;

	BAD_WANT(-EBUSY, wic_producer_stage(e->p, 0, unstaged, BAD_WAIT, &e->out.data));
	BAD_WANT(-EBUSY, wic_producer_publish(e->p, 0, unstaged));
	BAD_WANT(-EINVAL, wic_producer_publish(e->p, BAD_TAG_OF_P, unstaged));
}

static void use_range(struct bad_env *e)
{
	const struct {
		uint32_t tag;
		uint64_t epoch;
	} bad[] = { { BAD_TAGS, e->serial },
		    { UINT32_MAX, e->serial },
		    { BAD_TAG_OF_P, WIC_EPOCH_NONE },
		    { BAD_TAG_OF_P, WIC_EPOCH_NEXT } };

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		BAD_WANT(-EINVAL, wic_producer_stage(e->p, bad[i].tag, bad[i].epoch, BAD_WAIT,
						     &e->out.data));
		BAD_WANT(-EINVAL, wic_producer_publish(e->p, bad[i].tag, bad[i].epoch));
	}
}

static void use_sizes(struct bad_env *e)
{
	void *buffer = NULL;

	BAD_WANT(0, wic_producer_stage(e->p, BAD_TAG_OF_P, e->serial, UINT64_MAX - 1, &buffer));
	BAD_WANT(true, buffer != NULL);
}

static void use_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_producer_stage(e->closed_p, 0, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_producer_publish(e->closed_p, 0, e->serial));
}

static void use_twice(struct bad_env *e)
{
	struct wic_channel *ch = bad_channel(e->w, 16, BAD_BYTES, false);
	void *first = NULL, *second = NULL;
	struct wic_producer *p = NULL;
	uint64_t next = 2;

	BAD_WANT(0, wic_producer_open(ch, 0, 16, 0, &p));
	BAD_WANT(0, wic_producer_stage(p, 3, 1, BAD_WAIT, &first));
	BAD_WANT(0, wic_producer_stage(p, 3, 1, BAD_WAIT, &second));
	BAD_WANT(true, first == second);
	BAD_WANT(0, wic_producer_publish(p, 3, 1));
	BAD_WANT(-EINVAL, wic_producer_publish(p, 3, 1));
	if (e->is_push) {
		BAD_WANT(0, wic_producer_stage(p, 3, next, BAD_WAIT, &second));
		BAD_WANT(0, wic_producer_publish(p, 3, next++));
		BAD_WANT(true, first != second);
	}
	BAD_WANT(-EAGAIN, wic_producer_stage(p, 3, next, 0, &e->out.data));
	wic_channel_destroy(ch);
}

static void use_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL,
		 wic_producer_stage(e->p, BAD_TAG_OF_P, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_producer_publish(e->p, BAD_TAG_OF_P, e->serial));
}

static void wait_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_host_wait(NULL, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_host_request(NULL, 0, 1, BAD_WAIT, &e->out.const_data));
	BAD_WANT(-EINVAL, wic_host_request(e->to_host, 0, 1, BAD_WAIT, NULL));
	BAD_WANT(-EINVAL, wic_host_release(NULL, 0, 1));
}

static void wait_kind(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_host_wait(e->ch, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_host_request(e->ch, 0, 1, BAD_WAIT, &e->out.const_data));
	BAD_WANT(-EINVAL, wic_host_request(e->to_host_signals, 0, 1, BAD_WAIT, &e->out.const_data));
	BAD_WANT(-EINVAL, wic_host_release(e->ch, 0, 1));
	BAD_WANT(-EINVAL, wic_host_release(e->to_host_signals, 0, 1));
}

static void wait_range(struct bad_env *e)
{
	const struct {
		uint32_t tag;
		uint64_t epoch;
	} bad[] = {
		{ BAD_TAGS, 1 }, { UINT32_MAX, 1 }, { 0, WIC_EPOCH_NONE }, { 0, WIC_EPOCH_NEXT }
	};

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		BAD_WANT(-EINVAL, wic_host_wait(e->to_host, bad[i].tag, bad[i].epoch, BAD_WAIT));
		BAD_WANT(-EINVAL, wic_host_request(e->to_host, bad[i].tag, bad[i].epoch, BAD_WAIT,
						   &e->out.const_data));
		BAD_WANT(-EINVAL, wic_host_release(e->to_host, bad[i].tag, bad[i].epoch));
	}
	BAD_WANT(-EINVAL, wic_host_release(e->to_host, 1, 1));
}

/* A deadline past the end of time is none; (0, 1) was published and released. */
static void wait_sizes(struct bad_env *e)
{
	BAD_WANT(0, wic_host_wait(e->to_host, 0, 1, UINT64_MAX - 1));
	BAD_WANT(-EINVAL, wic_host_request(e->to_host, 0, 1, UINT64_MAX - 1, &e->out.const_data));
}

static void wait_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_host_wait(e->closed_to_host, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_host_request(e->closed_to_host, 0, 1, BAD_WAIT, &e->out.const_data));
	BAD_WANT(-EINVAL, wic_host_release(e->closed_to_host, 0, 1));
}

static void wait_twice(struct bad_env *e)
{
	const void *first = NULL, *second = NULL;
	uint64_t epoch = bad_produce(e);

	BAD_WANT(0, wic_host_wait(e->to_host, 0, epoch, BAD_WAIT));
	BAD_WANT(0, wic_host_wait(e->to_host, 0, epoch, BAD_WAIT));
	BAD_WANT(0, wic_host_request(e->to_host, 0, epoch, BAD_WAIT, &first));
	BAD_WANT(0, wic_host_request(e->to_host, 0, epoch, BAD_WAIT, &second));
	BAD_WANT(true, first && first == second);
	BAD_WANT(0, wic_host_release(e->to_host, 0, epoch));
	BAD_WANT(-EINVAL, wic_host_release(e->to_host, 0, epoch));
	BAD_WANT(-EINVAL, wic_host_request(e->to_host, 0, epoch, BAD_WAIT, &e->out.const_data));
}

static void wait_refused(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_host_wait(e->to_host, BAD_TAG_HELD, 1, BAD_WAIT));
	BAD_WANT(-EINVAL,
		 wic_host_request(e->to_host, BAD_TAG_HELD, 1, BAD_WAIT, &e->out.const_data));
	BAD_WANT(-EINVAL, wic_host_release(e->to_host, BAD_TAG_HELD, 1));
}

const struct bad_row bad_producer_rows[] = {
	BAD_ROW(wic_producer_open, CALL(open_null), CALL(open_kind), CALL(open_range),
		CALL(open_sizes), CALL(open_closed), CALL(open_twice), CALL(open_refused),
		IN_HANDLER, CALL(open_refused)),
	BAD_ROW(wic_producer_close, CALL(close_null), CALL(close_kind), NO_RANGE, NO_SIZE,
		CALL(close_closed), CALL(close_twice), CALL(close_refused), IN_HANDLER,
		CALL(close_refused)),
	BAD_ROW(wic_producer_stage, CALL(use_null), CALL(use_kind), CALL(use_range),
		CALL(use_sizes), CALL(use_closed), CALL(use_twice), CALL(use_refused), IN_HANDLER,
		CALL(use_refused)),
	BAD_ROW(wic_producer_publish, CALL(use_null), CALL(use_kind), CALL(use_range), NO_SIZE,
		CALL(use_closed), CALL(use_twice), CALL(use_refused), IN_HANDLER,
		CALL(use_refused)),
	BAD_ROW(wic_host_wait, CALL(wait_null), CALL(wait_kind), CALL(wait_range),
		LEGAL(wait_sizes), CALL(wait_closed), CALL(wait_twice), CALL(wait_refused),
		IN_HANDLER, CALL(wait_refused)),
	BAD_ROW(wic_host_request, CALL(wait_null), CALL(wait_kind), CALL(wait_range),
		LEGAL(wait_sizes), CALL(wait_closed), CALL(wait_twice), CALL(wait_refused),
		IN_HANDLER, CALL(wait_refused)),
	BAD_ROW(wic_host_release, CALL(wait_null), CALL(wait_kind), CALL(wait_range), NO_SIZE,
		CALL(wait_closed), CALL(wait_twice), CALL(wait_refused), IN_HANDLER,
		CALL(wait_refused)),
	{ 0 },
};
