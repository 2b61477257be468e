// SPDX-License-Identifier: MIT OR GPL-2.0
/* Bad input to what kernels call. */
#include "tests/conform/bad_input.h"

static void request_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_request(NULL, NULL, 0, 1, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_request(&e->h_none, NULL, 0, 1, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_request(&e->h, NULL, BAD_TAG_FREE, 1, BAD_WAIT, NULL));
	BAD_WANT(-EINVAL, wic_try(NULL, 0, 1, &e->out.data));
	BAD_WANT(-EINVAL, wic_try(&e->h_none, 0, 1, &e->out.data));
	BAD_WANT(-EINVAL, wic_try(&e->h, BAD_TAG_FREE, 1, NULL));
	BAD_WANT(-EINVAL, wic_release(NULL, 0, 1));
	BAD_WANT(-EINVAL, wic_release(&e->h_none, 0, 1));
}

static void request_kind(struct bad_env *e)
{
	const struct wic_handle *bad[] = { &e->h_signals, &e->h_to_host, &e->h_stranger };

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		BAD_WANT(-EINVAL, wic_request(bad[i], NULL, 0, 1, BAD_WAIT, &e->out.data));
		BAD_WANT(-EINVAL, wic_try(bad[i], 0, 1, &e->out.data));
		BAD_WANT(-EINVAL, wic_release(bad[i], 0, 1));
	}
}

static void request_range(struct bad_env *e)
{
	const struct {
		uint32_t tag;
		uint64_t epoch;
	} bad[] = { { BAD_TAGS, 1 },
		    { UINT32_MAX, 1 },
		    { WIC_NO_TAG, WIC_EPOCH_NEXT },
		    { BAD_TAG_FREE, WIC_EPOCH_NONE } };

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		BAD_WANT(-EINVAL, wic_request(&e->h, NULL, bad[i].tag, bad[i].epoch, BAD_WAIT,
					      &e->out.data));
		BAD_WANT(-EINVAL, wic_try(&e->h, bad[i].tag, bad[i].epoch, &e->out.data));
		BAD_WANT(-EINVAL, wic_release(&e->h, bad[i].tag, bad[i].epoch));
	}
	/* Not held. */
	BAD_WANT(-EINVAL, wic_release(&e->h, BAD_TAG_FREE, 1));
	BAD_WANT(-EINVAL, wic_release(&e->h, 0, 1));
}

/* A deadline past the end of time is none; (0, 1) was published and released. */
static void request_sizes(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_request(&e->h, NULL, 0, 1, UINT64_MAX - 1, &e->out.data));
}

static void request_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_request(&e->h_closed, NULL, 0, 1, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_try(&e->h_closed, 0, 1, &e->out.data));
	BAD_WANT(-EINVAL, wic_release(&e->h_closed, 0, 1));
}

static void request_twice(struct bad_env *e)
{
	void *first = NULL, *second = NULL, *third = NULL;
	uint64_t epoch = e->data_epoch;

	BAD_WANT(0, wic_request(&e->h, NULL, BAD_TAG, epoch, BAD_WAIT, &first));
	BAD_WANT(0, wic_request(&e->h, NULL, BAD_TAG, epoch, BAD_WAIT, &second));
	BAD_WANT(0, wic_try(&e->h, BAD_TAG, epoch, &third));
	BAD_WANT(true, first && first == second && first == third);
	BAD_WANT(0, wic_release(&e->h, BAD_TAG, epoch));
	BAD_WANT(-EINVAL, wic_release(&e->h, BAD_TAG, epoch));
	BAD_WANT(-EINVAL, wic_request(&e->h, NULL, BAD_TAG, epoch, BAD_WAIT, &e->out.data));
}

static void request_outside(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_request(&e->h, NULL, 0, 1, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_try(&e->h, 0, 1, &e->out.data));
	BAD_WANT(-EINVAL, wic_release(&e->h, 0, 1));
}

static void wait_null(struct bad_env *e)
{
	struct wic_ref ref = { .epoch = 1 };

	BAD_WANT(-EINVAL, wic_wait(NULL, NULL, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_wait(&e->h_none, NULL, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_wait_all(NULL, NULL, &ref, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_wait_all(&e->h_none, NULL, &ref, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_wait_all(&e->h, NULL, NULL, 1, BAD_WAIT));
}

static void wait_kind(struct bad_env *e)
{
	struct wic_ref ref = { .epoch = 1 };

	BAD_WANT(-EINVAL, wic_wait(&e->h_to_host, NULL, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_wait(&e->h_stranger, NULL, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_wait_all(&e->h_to_host, NULL, &ref, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_wait_all(&e->h_stranger, NULL, &ref, 1, BAD_WAIT));
}

static const struct wic_ref bad_refs[] = {
	{ .tag = BAD_TAGS, .epoch = 1 },         { .tag = UINT32_MAX, .epoch = 1 },
	{ .tag = 0, .epoch = WIC_EPOCH_NONE },   { .tag = 0, .epoch = WIC_EPOCH_NEXT },
	{ .tag = 0, .epoch = 1, .reserved = 1 },
};
#define BAD_REFS (sizeof(bad_refs) / sizeof(*bad_refs))

static void wait_range(struct bad_env *e)
{
	for (uint32_t i = 0; i < BAD_REFS; i++) {
		struct wic_ref refs[2] = { { .epoch = 1 }, bad_refs[i] };

		BAD_WANT(-EINVAL, wic_wait_all(&e->h, NULL, refs, 2, BAD_WAIT));
		if (!refs[1].reserved)
			BAD_WANT(-EINVAL,
				 wic_wait(&e->h, NULL, refs[1].tag, refs[1].epoch, BAD_WAIT));
	}
}

static void wait_sizes(struct bad_env *e)
{
	struct wic_ref refs[WIC_SET_MAX + 1] = { { .epoch = 1 } };

	BAD_WANT(-EINVAL, wic_wait_all(&e->h, NULL, refs, 0, BAD_WAIT));
	BAD_WANT(-E2BIG, wic_wait_all(&e->h, NULL, refs, WIC_SET_MAX + 1, BAD_WAIT));
	BAD_WANT(-E2BIG, wic_wait_all(&e->h, NULL, refs, UINT32_MAX, BAD_WAIT));
	BAD_WANT(0, wic_wait_all(&e->h, NULL, refs, 1, UINT64_MAX - 1));
	BAD_WANT(0, wic_wait(&e->h, NULL, 0, 1, UINT64_MAX - 1));
}

static void wait_closed(struct bad_env *e)
{
	struct wic_ref ref = { .epoch = 1 };

	BAD_WANT(-EINVAL, wic_wait(&e->h_closed, NULL, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_wait_all(&e->h_closed, NULL, &ref, 1, BAD_WAIT));
}

static void wait_twice(struct bad_env *e)
{
	struct wic_ref refs[2] = { { .tag = BAD_TAG, .epoch = e->data_epoch },
				   { .tag = BAD_TAG, .epoch = e->data_epoch } };

	BAD_WANT(0, wic_wait(&e->h, NULL, BAD_TAG, e->data_epoch, BAD_WAIT));
	BAD_WANT(0, wic_wait(&e->h, NULL, BAD_TAG, e->data_epoch, BAD_WAIT));
	BAD_WANT(0, wic_wait_all(&e->h, NULL, refs, 2, BAD_WAIT));
}

static void wait_outside(struct bad_env *e)
{
	struct wic_ref ref = { .epoch = 1 };

	BAD_WANT(-EINVAL, wic_wait(&e->h, NULL, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_wait_all(&e->h, NULL, &ref, 1, BAD_WAIT));
}

/* @refs stays as it was. */
static void refuse_all(struct bad_env *e, const struct wic_handle *h, struct wic_ref *refs,
		       uint32_t count, int wanted)
{
	void *before = refs ? refs[0].data : NULL;

	BAD_WANT(wanted, wic_request_all(h, NULL, refs, count, BAD_WAIT));
	if (refs)
		BAD_WANT(true, refs[0].data == before);
}

static void all_null(struct bad_env *e)
{
	struct wic_ref ref = { .epoch = 1, .data = e };

	refuse_all(e, NULL, &ref, 1, -EINVAL);
	refuse_all(e, &e->h_none, &ref, 1, -EINVAL);
	refuse_all(e, &e->h, NULL, 1, -EINVAL);
}

static void all_kind(struct bad_env *e)
{
	struct wic_ref ref = { .epoch = 1, .data = e };

	refuse_all(e, &e->h_signals, &ref, 1, -EINVAL);
	refuse_all(e, &e->h_to_host, &ref, 1, -EINVAL);
	refuse_all(e, &e->h_stranger, &ref, 1, -EINVAL);
}

static void all_range(struct bad_env *e)
{
	for (uint32_t i = 0; i < BAD_REFS; i++) {
		struct wic_ref refs[2] = { { .tag = 1, .epoch = 1, .data = e }, bad_refs[i] };

		refuse_all(e, &e->h, refs, 2, -EINVAL);
	}
}

static void all_sizes(struct bad_env *e)
{
	struct wic_ref refs[BAD_SET + 1];

	for (uint32_t i = 0; i <= BAD_SET; i++)
		refs[i] = (struct wic_ref){ .tag = i, .epoch = 1, .data = e };
	refuse_all(e, &e->h, refs, 0, -EINVAL);
	if (!e->is_push)
		refuse_all(e, &e->h, refs, BAD_SET + 1, -E2BIG);
	refuse_all(e, &e->h, refs, WIC_SET_MAX + 1, -E2BIG);
	refuse_all(e, &e->h, refs, UINT32_MAX, -E2BIG);
}

static void all_closed(struct bad_env *e)
{
	struct wic_ref ref = { .epoch = 1, .data = e };

	refuse_all(e, &e->h_closed, &ref, 1, -EINVAL);
}

static void all_twice(struct bad_env *e)
{
	struct wic_ref refs[2] = { { .tag = BAD_TAG, .epoch = e->data_epoch, .data = e },
				   { .tag = BAD_TAG, .epoch = e->data_epoch, .data = e } };

	refuse_all(e, &e->h, refs, 2, -EINVAL);
	BAD_WANT(0, wic_request_all(&e->h, NULL, refs, 1, BAD_WAIT));
	BAD_WANT(0, wic_release(&e->h, BAD_TAG, e->data_epoch));
	refs[0].data = e;
	refuse_all(e, &e->h, refs, 1, -EINVAL);
}

static void all_outside(struct bad_env *e)
{
	struct wic_ref ref = { .epoch = 1, .data = e };

	refuse_all(e, &e->h, &ref, 1, -EINVAL);
}

static void refuse_next(struct bad_env *e, const struct wic_handle *h, uint32_t tag_first,
			uint32_t tag_count)
{
	BAD_WANT(-EINVAL,
		 wic_next(h, NULL, tag_first, tag_count, 1, BAD_WAIT, &e->out.tag, &e->out.data));
}

static void next_null(struct bad_env *e)
{
	refuse_next(e, NULL, 0, 1);
	refuse_next(e, &e->h_none, 0, 1);
	BAD_WANT(-EINVAL, wic_next(&e->h, NULL, 0, 1, 1, BAD_WAIT, NULL, &e->out.data));
	BAD_WANT(-EINVAL, wic_next(&e->h, NULL, 0, 1, 1, BAD_WAIT, &e->out.tag, NULL));
}

static void next_kind(struct bad_env *e)
{
	refuse_next(e, &e->h_to_host, 0, 1);
	refuse_next(e, &e->h_stranger, 0, 1);
}

static void next_range(struct bad_env *e)
{
	refuse_next(e, &e->h, BAD_TAGS, 1);
	refuse_next(e, &e->h, UINT32_MAX, 1);
	BAD_WANT(-EINVAL,
		 wic_next(&e->h, NULL, 0, 1, WIC_EPOCH_NONE, BAD_WAIT, &e->out.tag, &e->out.data));
	BAD_WANT(-EINVAL,
		 wic_next(&e->h, NULL, 0, 1, WIC_EPOCH_NEXT, BAD_WAIT, &e->out.tag, &e->out.data));
}

static void next_sizes(struct bad_env *e)
{
	refuse_next(e, &e->h, 0, 0);
	refuse_next(e, &e->h, 0, BAD_TAGS + 1);
	refuse_next(e, &e->h, 1, BAD_TAGS);
	refuse_next(e, &e->h, 1, UINT32_MAX);
}

static void next_closed(struct bad_env *e)
{
	refuse_next(e, &e->h_closed, 0, BAD_TAGS);
}

static void next_twice(struct bad_env *e)
{
	uint32_t tag = 0;

	BAD_WANT(0, wic_next(&e->h_signals, NULL, BAD_TAG, 1, e->data_epoch, BAD_WAIT, &tag, NULL));
	BAD_WANT(BAD_TAG, tag);
	BAD_WANT(-ENOENT, wic_next(&e->h_signals, NULL, BAD_TAG, 1, e->data_epoch, BAD_WAIT,
				   &e->out.tag, &e->out.data));
}

static void next_outside(struct bad_env *e)
{
	refuse_next(e, &e->h, 0, 1);
}

static void produce_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_warp_stage(NULL, NULL, 0, 1, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_warp_stage(&e->h_none, NULL, 0, 1, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_warp_stage(&e->h_to_host, NULL, 2, 1, BAD_WAIT, NULL));
	BAD_WANT(-EINVAL, wic_warp_publish(NULL, 0, 1));
	BAD_WANT(-EINVAL, wic_warp_publish(&e->h_none, 0, 1));
}

static void produce_kind(struct bad_env *e)
{
	const struct wic_handle *bad[] = { &e->h, &e->h_signals, &e->h_stranger };

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		BAD_WANT(-EINVAL, wic_warp_stage(bad[i], NULL, 2, 1000000, BAD_WAIT, &e->out.data));
		BAD_WANT(-EINVAL, wic_warp_publish(bad[i], 2, 1000000));
	}
	BAD_WANT(-EINVAL,
		 wic_warp_stage(&e->h_to_host_signals, NULL, 2, 1000000, BAD_WAIT, &e->out.data));
	/* Not staged. */
	BAD_WANT(-EINVAL, wic_warp_publish(&e->h_to_host, 2, 1000000));
}

static void produce_range(struct bad_env *e)
{
	const struct {
		uint32_t tag;
		uint64_t epoch;
	} bad[] = { { BAD_TAGS, e->serial },
		    { UINT32_MAX, e->serial },
		    { 2, WIC_EPOCH_NONE },
		    { 2, WIC_EPOCH_NEXT },
		    { 0, 1 } };

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		BAD_WANT(-EINVAL, wic_warp_stage(&e->h_to_host, NULL, bad[i].tag, bad[i].epoch,
						 BAD_WAIT, &e->out.data));
		BAD_WANT(-EINVAL, wic_warp_publish(&e->h_to_host, bad[i].tag, bad[i].epoch));
	}
}

static void produce_sizes(struct bad_env *e)
{
	void *buffer = NULL;

	BAD_WANT(0, wic_warp_stage(&e->h_to_host, NULL, 2, e->serial, UINT64_MAX - 1, &buffer));
	BAD_WANT(true, buffer != NULL);
}

static void produce_closed(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_warp_stage(&e->h_closed_to_host, NULL, 0, 1, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_warp_publish(&e->h_closed_to_host, 0, 1));
}

static void produce_twice(struct bad_env *e)
{
	void *first = NULL, *second = NULL;

	e->serial++;
	BAD_WANT(0, wic_warp_stage(&e->h_to_host, NULL, 2, e->serial, BAD_WAIT, &first));
	BAD_WANT(0, wic_warp_stage(&e->h_to_host, NULL, 2, e->serial, BAD_WAIT, &second));
	BAD_WANT(true, first && first == second);
	BAD_WANT(0, wic_warp_publish(&e->h_to_host_signals, 2, e->serial));
	BAD_WANT(-EINVAL, wic_warp_publish(&e->h_to_host_signals, 2, e->serial));
}

static void produce_outside(struct bad_env *e)
{
	BAD_WANT(-EINVAL,
		 wic_warp_stage(&e->h_to_host, NULL, 2, e->serial, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_warp_publish(&e->h_to_host_signals, 2, e->serial));
}

static void pat_null(struct bad_env *e)
{
	BAD_WANT(true, !wic_pat(NULL, 0));
	BAD_WANT(true, !wic_pat(&e->h_none, 0));
}

static void pat_kind(struct bad_env *e)
{
	BAD_WANT(true, !wic_pat(&e->h, 0));
	BAD_WANT(true, !wic_pat(&e->h_to_host, 0));
	BAD_WANT(true, !wic_pat(&e->h_stranger, 0));
}

static void pat_range(struct bad_env *e)
{
	BAD_WANT(true, !wic_pat(&e->h_pat, BAD_TAGS));
	BAD_WANT(true, !wic_pat(&e->h_pat, UINT32_MAX));
}

static void pat_closed(struct bad_env *e)
{
	BAD_WANT(true, !wic_pat(&e->h_closed_to_host, 0));
}

static void pat_twice(struct bad_env *e)
{
	BAD_WANT(true, wic_pat(&e->h_pat, 3) != NULL);
	BAD_WANT(true, wic_pat(&e->h_pat, 3) == wic_pat(&e->h_pat, 3));
	BAD_WANT(true, wic_pat(&e->h_pat, 4) == wic_pat(&e->h_pat, 3) + 1);
}

static void pat_outside(struct bad_env *e)
{
	BAD_WANT(true, !wic_pat(&e->h_pat, 0));
}

static void turns_outside(struct bad_env *e)
{
	BAD_LOGS(0, wic_turn());
	BAD_LOGS(0, wic_look());
	BAD_LOGS(0, wic_bar());
	BAD_LOGS(0, wic_note(WIC_EVENT_PARK, 0, 1));
}

/* bad_input_test.c looks whether they were recorded. */
static void note_range(struct bad_env *e)
{
	BAD_LOGS(0, wic_note((enum wic_event_kind)0, 0, 1));
	BAD_LOGS(0, wic_note((enum wic_event_kind)99, 0, 1));
	BAD_LOGS(0, wic_note((enum wic_event_kind)(256 + WIC_EVENT_PARK), 0, 1));
}

static uint64_t one = 1;

static void word_null(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_wait_word(NULL, NULL, 1, BAD_WAIT));
}

static void word_range(struct bad_env *e)
{
	const unsigned char *p = (const unsigned char *)&one;

	for (uint32_t i = 1; i < 8; i++)
		BAD_WANT(-EINVAL,
			 wic_wait_word(NULL, (const uint64_t *)(const void *)(p + i), 0, BAD_WAIT));
}

static void word_sizes(struct bad_env *e)
{
	BAD_WANT(0, wic_wait_word(NULL, &one, 1, UINT64_MAX - 1));
}

static void word_outside(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_wait_word(NULL, &one, 1, BAD_WAIT));
}

#define ID_ROW(function)                                                                        \
	BAD_DEVICE_ROW(function, NO_POINTER, NO_OBJECT, NO_RANGE, NO_SIZE, NO_OBJECT, NO_STATE, \
		       OUTSIDE, IN_DEVICE_HANDLER, OUTSIDE)
#define TURN_ROW(function)                                                                      \
	BAD_DEVICE_ROW(function, NO_POINTER, NO_OBJECT, NO_RANGE, NO_SIZE, NO_OBJECT, NO_STATE, \
		       CALL(turns_outside), IN_DEVICE_HANDLER, CALL(turns_outside))
#define ADD_ROW(function, what)                                                                  \
	BAD_DEVICE_ROW(function, NEVER(what), NO_OBJECT, NO_RANGE, NO_SIZE, NO_OBJECT, NO_STATE, \
		       OUTSIDE, IN_DEVICE_HANDLER, OUTSIDE)

const struct bad_row bad_device_rows[] = {
	BAD_DEVICE_ROW(wic_request, CALL(request_null), CALL(request_kind), CALL(request_range),
		       LEGAL(request_sizes), CALL(request_closed), CALL(request_twice),
		       CALL(request_outside), IN_DEVICE_HANDLER, CALL(request_outside)),
	BAD_DEVICE_ROW(wic_try, CALL(request_null), CALL(request_kind), CALL(request_range),
		       NO_SIZE, CALL(request_closed), CALL(request_twice), CALL(request_outside),
		       IN_DEVICE_HANDLER, CALL(request_outside)),
	BAD_DEVICE_ROW(wic_release, CALL(request_null), CALL(request_kind), CALL(request_range),
		       NO_SIZE, CALL(request_closed), CALL(request_twice), CALL(request_outside),
		       IN_DEVICE_HANDLER, CALL(request_outside)),
	BAD_DEVICE_ROW(wic_wait, CALL(wait_null), CALL(wait_kind), CALL(wait_range),
		       CALL(wait_sizes), CALL(wait_closed), CALL(wait_twice), CALL(wait_outside),
		       IN_DEVICE_HANDLER, CALL(wait_outside)),
	BAD_DEVICE_ROW(wic_wait_word, CALL(word_null), NO_OBJECT, CALL(word_range),
		       CALL(word_sizes), NO_OBJECT, NO_STATE, CALL(word_outside), IN_DEVICE_HANDLER,
		       CALL(word_outside)),
	BAD_DEVICE_ROW(wic_wait_all, CALL(wait_null), CALL(wait_kind), CALL(wait_range),
		       CALL(wait_sizes), CALL(wait_closed), CALL(wait_twice), CALL(wait_outside),
		       IN_DEVICE_HANDLER, CALL(wait_outside)),
	BAD_DEVICE_ROW(wic_request_all, CALL(all_null), CALL(all_kind), CALL(all_range),
		       CALL(all_sizes), CALL(all_closed), CALL(all_twice), CALL(all_outside),
		       IN_DEVICE_HANDLER, CALL(all_outside)),
	BAD_DEVICE_ROW(wic_next, CALL(next_null), CALL(next_kind), CALL(next_range),
		       CALL(next_sizes), CALL(next_closed), CALL(next_twice), CALL(next_outside),
		       IN_DEVICE_HANDLER, CALL(next_outside)),
	BAD_DEVICE_ROW(wic_warp_stage, CALL(produce_null), CALL(produce_kind), CALL(produce_range),
		       CALL(produce_sizes), CALL(produce_closed), CALL(produce_twice),
		       CALL(produce_outside), IN_DEVICE_HANDLER, CALL(produce_outside)),
	BAD_DEVICE_ROW(wic_warp_publish, CALL(produce_null), CALL(produce_kind),
		       CALL(produce_range), NO_SIZE, CALL(produce_closed), CALL(produce_twice),
		       CALL(produce_outside), IN_DEVICE_HANDLER, CALL(produce_outside)),
	BAD_DEVICE_ROW(wic_pat, CALL(pat_null), CALL(pat_kind), CALL(pat_range), NO_SIZE,
		       CALL(pat_closed), CALL(pat_twice), CALL(pat_outside), IN_DEVICE_HANDLER,
		       CALL(pat_outside)),
	TURN_ROW(wic_turn),
	TURN_ROW(wic_look),
	TURN_ROW(wic_bar),
	BAD_DEVICE_ROW(wic_note, NO_POINTER, NO_OBJECT, CALL(note_range), NO_SIZE, NO_OBJECT,
		       NO_STATE, CALL(turns_outside), IN_DEVICE_HANDLER, CALL(turns_outside)),
	ID_ROW(wic_block_id),
	ID_ROW(wic_warp_id),
	ID_ROW(wic_block_warps),
	ID_ROW(wic_block_threads),
	ID_ROW(wic_grid_blocks),
	ID_ROW(wic_lanes_live),
	ADD_ROW(wic_atomic_add_u32, "@p: in memory of this device."),
	ADD_ROW(wic_block_add_u32, "@p: in memory of this device or the block's shared memory."),
	ADD_ROW(wic_reduce_add_u32, "@x: a WIC_LANE_VAR."),
	ADD_ROW(wic_reduce_add_f32, "@x: a WIC_LANE_VAR."),
	{ 0 },
};
