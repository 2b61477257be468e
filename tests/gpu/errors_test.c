// SPDX-License-Identifier: MIT OR GPL-2.0
/* Bad input, in kernels by table; producers that end; publishers that are stopped. */
#include <signal.h>

#include "tests/gpu/gpu.h"

/* ---- bad input in kernels ---------------------------------------------------------------- */

/* Which channel a row's step gets; NULL_CHANNEL: the handle that no channel gives. */
enum which { TO, FROM, SIGNALS, FROM_SIGNALS, NULL_CHANNEL, NO_HANDLE };

struct row {
	enum which which;
	enum gpu_what what;
	uint32_t tag;
	uint64_t epoch;
	uint32_t count;
	int rc;
};

#define TAGS 20
#define LAST WIC_EPOCH_LAST

static const struct row rows[] = {
	{ NO_HANDLE, GPU_WAIT, 0, 1, 0, -EINVAL },
	{ NO_HANDLE, GPU_REQUEST, 0, 1, 0, -EINVAL },
	{ NO_HANDLE, GPU_TRY, 0, 1, 0, -EINVAL },
	{ NO_HANDLE, GPU_RELEASE, 0, 1, 0, -EINVAL },
	{ NO_HANDLE, GPU_STAGE, 0, 1, 0, -EINVAL },
	{ NO_HANDLE, GPU_PUBLISH, 0, 1, 0, -EINVAL },
	{ NO_HANDLE, GPU_WAIT_ALL, 0, 1, 2, -EINVAL },
	{ NO_HANDLE, GPU_REQUEST_ALL, 0, 1, 2, -EINVAL },
	{ NO_HANDLE, GPU_WAIT_BLOCK, 0, 1, 0, -EINVAL },
	{ NO_HANDLE, GPU_REQUEST_BLOCK, 0, 1, 0, -EINVAL },
	{ NO_HANDLE, GPU_RELEASE_BLOCK, 0, 1, 0, -EINVAL },
	{ NO_HANDLE, GPU_PUBLISH_BLOCK, 0, 1, 0, -EINVAL },
	{ NULL_CHANNEL, GPU_WAIT, 0, 1, 0, -EINVAL },
	{ NULL_CHANNEL, GPU_REQUEST, 0, 1, 0, -EINVAL },
	{ NULL_CHANNEL, GPU_RELEASE, 0, 1, 0, -EINVAL },
	{ NULL_CHANNEL, GPU_STAGE, 0, 1, 0, -EINVAL },
	{ NULL_CHANNEL, GPU_PUBLISH, 0, 1, 0, -EINVAL },
	{ NULL_CHANNEL, GPU_REQUEST_BLOCK, 0, 1, 0, -EINVAL },
	/* Tags. */
	{ TO, GPU_WAIT, TAGS, 1, 0, -EINVAL },
	{ TO, GPU_WAIT, UINT32_MAX, 1, 0, -EINVAL },
	{ TO, GPU_REQUEST, TAGS, 1, 0, -EINVAL },
	{ TO, GPU_TRY, TAGS, 1, 0, -EINVAL },
	{ TO, GPU_RELEASE, TAGS, 1, 0, -EINVAL },
	{ TO, GPU_REQUEST_BLOCK, TAGS, 1, 0, -EINVAL },
	{ FROM, GPU_STAGE, TAGS, 1, 0, -EINVAL },
	{ FROM, GPU_PUBLISH, TAGS, 1, 0, -EINVAL },
	{ FROM_SIGNALS, GPU_PUBLISH, UINT32_MAX, 1, 0, -EINVAL },
	/* Epochs. */
	{ TO, GPU_WAIT, 0, 0, 0, -EINVAL },
	{ TO, GPU_WAIT, 0, LAST + 1, 0, -EINVAL },
	{ TO, GPU_REQUEST, 0, 0, 0, -EINVAL },
	{ TO, GPU_TRY, 0, 0, 0, -EINVAL },
	{ TO, GPU_RELEASE, 0, 0, 0, -EINVAL },
	{ TO, GPU_WAIT_ALL, 0, 0, 2, -EINVAL },
	{ TO, GPU_REQUEST_ALL, 0, 0, 2, -EINVAL },
	{ FROM, GPU_STAGE, 0, 0, 0, -EINVAL },
	{ FROM, GPU_STAGE, 0, LAST + 1, 0, -EINVAL },
	{ FROM, GPU_PUBLISH, 0, 0, 0, -EINVAL },
	{ FROM, GPU_PUBLISH, 0, LAST + 1, 0, -EINVAL },
	{ FROM, GPU_PUBLISH, 0, 1, 0, -EINVAL }, /* not staged */
	{ FROM_SIGNALS, GPU_PUBLISH, 0, 0, 0, -EINVAL },
	{ FROM_SIGNALS, GPU_PUBLISH, 0, LAST + 1, 0, -EINVAL },
	/* The other end's, and what signals have not. */
	{ FROM, GPU_WAIT, 0, 1, 0, -EINVAL },
	{ FROM, GPU_REQUEST, 0, 1, 0, -EINVAL },
	{ FROM, GPU_RELEASE, 0, 1, 0, -EINVAL },
	{ FROM, GPU_REQUEST_BLOCK, 0, 1, 0, -EINVAL },
	{ TO, GPU_STAGE, 0, 1, 0, -EINVAL },
	{ TO, GPU_PUBLISH, 0, 1, 0, -EINVAL },
	{ TO, GPU_PUBLISH_BLOCK, 0, 1, 0, -EINVAL },
	{ SIGNALS, GPU_REQUEST, 0, 1, 0, -EINVAL },
	{ SIGNALS, GPU_TRY, 0, 1, 0, -EINVAL },
	{ SIGNALS, GPU_RELEASE, 0, 1, 0, -EINVAL },
	{ SIGNALS, GPU_REQUEST_ALL, 0, 1, 2, -EINVAL },
	{ FROM_SIGNALS, GPU_STAGE, 0, 1, 0, -EINVAL },
	/* Sets. */
	{ TO, GPU_WAIT_ALL, 0, 1, 0, -EINVAL },
	{ TO, GPU_REQUEST_ALL, 0, 1, 0, -EINVAL },
	{ TO, GPU_WAIT_ALL, 0, 1, WIC_SET_MAX + 1, -E2BIG },
	{ TO, GPU_WAIT_NO_REFS, 0, 1, 2, -EINVAL },
	{ TO, GPU_REQUEST_NO_REFS, 0, 1, 2, -EINVAL },
	/* Nowhere to put it, nobody to do it. */
	{ TO, GPU_REQUEST_NO_DATA, 0, 1, 0, -EINVAL },
	{ TO, GPU_REQUEST_BLOCK_NO_DATA, 0, 1, 0, -EINVAL },
	{ FROM, GPU_STAGE_NO_BUFFER, 0, 1, 0, -EINVAL },
	{ TO, GPU_WAIT_NO_LANE, 0, 1, 0, -EINVAL },
	{ TO, GPU_REQUEST_NO_LANE, 0, 1, 0, -EINVAL },
	{ TO, GPU_RELEASE_NO_LANE, 0, 1, 0, -EINVAL },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static struct wic_channel *row_channel(struct gpu *g, enum which which)
{
	switch (which) {
	case TO:
		return gpu_channel(g, WIC_HOST, WIC_GPU(0), TAGS, 8);
	case FROM:
		return gpu_channel(g, WIC_GPU(0), WIC_HOST, TAGS, 8);
	case SIGNALS:
		return gpu_channel(g, WIC_HOST, WIC_GPU(0), TAGS, 0);
	case FROM_SIGNALS:
		return gpu_channel(g, WIC_GPU(0), WIC_HOST, TAGS, 0);
	case NULL_CHANNEL:
	case NO_HANDLE:
		break;
	}
	return NULL;
}

/* By two warps of a block. */
static void row_run(struct gpu *g, const struct row *r, struct wic_channel *ch, uint32_t has_lot)
{
	struct gpu_run run = gpu_run(g, gpu_script, 1, 64);
	struct gpu_step *s = gpu_step(&run, r->what, r->tag, r->epoch);

	run.args.h[0] = wic_channel_handle(ch);
	run.args.has_lot = has_lot;
	s->handle = r->which == NO_HANDLE ? GPU_NULL : 0;
	s->count = r->count;
	for (uint32_t i = 0; i < GPU_REFS; i++)
		s->refs[i] = (struct wic_ref){ .epoch = r->epoch, .tag = i };
	gpu_start(g, &run);
	gpu_sync(g, &run);
	for (uint32_t warp = 0; warp < 2; warp++)
		if (gpu_result(&run, warp, 0)->rc != r->rc) {
			fprintf(stderr, "row %zu, lot %u: step %u of tag %u, epoch %llu\n",
				(size_t)(r - rows), has_lot, r->what, r->tag,
				(unsigned long long)r->epoch);
			TEST_EQ(gpu_result(&run, warp, 0)->rc, r->rc);
		}
	gpu_free(g, &run);
}

static void bad_input_in_kernels(void)
{
	struct gpu g = gpu_open(1);

	for (size_t i = 0; i < ROWS; i++)
		for (uint32_t has_lot = 0; has_lot < 2; has_lot++) {
			struct wic_channel *ch = row_channel(&g, rows[i].which);

			row_run(&g, &rows[i], ch, has_lot);
			wic_channel_destroy(ch);
		}
	gpu_close(&g);
}

static void bad_words(void)
{
	struct gpu g = gpu_open(1);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 64);
	unsigned char *word = gpu_pinned(&g, 64);

	for (uint32_t i = 1; i < 8; i++)
		gpu_step(&run, GPU_WORD, 0, 1)->word = (uint64_t *)(void *)(word + i);
	gpu_step(&run, GPU_WORD, 0, 1)->word = NULL;
	gpu_step(&run, GPU_WORD_BLOCK, 0, 1)->word = NULL;
	gpu_step(&run, GPU_WORD_NO_LANE, 0, 1)->word = (uint64_t *)(void *)word;
	gpu_step(&run, GPU_WORD_NO_LANE, 0, 0)->word = (uint64_t *)(void *)word;
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, -EINVAL);
	wic_mem_free(g.w, word);
	gpu_close(&g);
}

static void lot_for_fewer_warps(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 1, 8);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 96);
	uint64_t *word = gpu_pinned(&g, 8);

	run.args.h[0] = wic_channel_handle(ch);
	run.args.has_lot = 0;
	gpu_step(&run, GPU_WAIT_SMALL_LOT, 0, 1)->timeout_ns = 0;
	gpu_step(&run, GPU_WORD_SMALL_LOT, 0, 1)->timeout_ns = 0;
	run.steps[1].word = word;
	gpu_start(&g, &run);
	gpu_sync(&g, &run);
	for (uint32_t warp = 0; warp < 3; warp++)
		for (uint32_t i = 0; i < 2; i++)
			TEST_EQ(gpu_result(&run, warp, i)->rc, warp ? -EINVAL : -EAGAIN);
	gpu_free(&g, &run);
	wic_mem_free(g.w, word);
	gpu_close(&g);
}

/* After all that is refused, what is right works. */
static void bad_input_changes_nothing(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), TAGS, 8);
	struct wic_channel *from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, TAGS, 8);
	struct gpu_run run = gpu_run(&g, gpu_take, 1, 64), make = gpu_run(&g, gpu_make, 1, 64);

	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].which == TO || rows[i].which == FROM)
			row_run(&g, &rows[i], rows[i].which == TO ? ch : from, i % 2);
	run.args.h[0] = wic_channel_handle(ch);
	make.args.h[0] = wic_channel_handle(from);
	run.args.count = make.args.count = TAGS;
	run.args.epochs = make.args.epochs = 3;
	gpu_start(&g, &run);
	for (uint64_t e = 1; e < 4; e++)
		for (uint32_t tag = 0; tag < TAGS; tag++)
			gpu_publish(ch, tag, e, 8);
	gpu_end(&g, &run);
	gpu_start(&g, &make);
	for (uint64_t e = 1; e < 4; e++)
		for (uint32_t tag = 0; tag < TAGS; tag++)
			gpu_take_here(from, tag, e, 8);
	gpu_end(&g, &make);
	gpu_close(&g);
}

/* ---- producers --------------------------------------------------------------------------- */

struct owner {
	struct gpu g;
	struct wic_channel *ch;
	struct gpu_run run;
	struct wic_producer *p;
	pthread_t stager;
};

/* Tags 16 to 31 have an owner, who published epoch 1 of tag 16; one warp waits for more. */
static void owner_begin(struct owner *o)
{
	o->g = gpu_open(1);
	o->ch = gpu_channel(&o->g, WIC_HOST, WIC_GPU(0), 48, 0);
	o->run = gpu_run(&o->g, gpu_script, 2, 64);
	o->run.args.h[0] = wic_channel_handle(o->ch);
	gpu_step(&o->run, GPU_WAIT, 16, 1);
	gpu_step(&o->run, GPU_WAIT, 16, 2)->warp = 0;
	gpu_step(&o->run, GPU_WAIT, 20, 1)->warp = 1;
	gpu_step(&o->run, GPU_WAIT, 16, 1);
	gpu_step(&o->run, GPU_WAIT, 3, 1); /* another line, which is alive */
	gpu_start(&o->g, &o->run);
}

static void owner_end(struct owner *o)
{
	struct gpu_run *run = &o->run;

	gpu_publish(o->ch, 3, 1, 0);
	gpu_sync(&o->g, run);
	for (uint32_t warp = 0; warp < run->warps; warp++) {
		TEST_EQ(gpu_result(run, warp, 0)->rc, 0);
		TEST_EQ(gpu_result(run, warp, warp % 2 ? 2 : 1)->rc, -EOWNERDEAD);
		TEST_EQ(gpu_result(run, warp, 3)->rc, 0);
		TEST_EQ(gpu_result(run, warp, 4)->rc, 0);
	}
	gpu_free(&o->g, run);
	gpu_close(&o->g);
}

static void producer_close_ends_waits(void)
{
	struct owner o;

	owner_begin(&o);
	TEST_EQ(wic_producer_open(o.ch, 16, 16, 0, &o.p), 0);
	TEST_EQ(wic_producer_publish(o.p, 16, 1), 0);
	gpu_wait_arrived(&o.run, 2);
	wic_producer_close(o.p);
	owner_end(&o);
}

static void *producer_thread(void *arg)
{
	struct owner *o = arg;

	TEST_EQ(wic_producer_open(o->ch, 16, 16, WIC_PRODUCER_OF_THREAD, &o->p), 0);
	TEST_EQ(wic_producer_publish(o->p, 16, 1), 0);
	gpu_wait_arrived(&o->run, 2);
	return NULL;
}

static void producer_thread_ends(void)
{
	struct owner o;
	pthread_t thread;

	owner_begin(&o);
	TEST_EQ(pthread_create(&thread, NULL, producer_thread, &o), 0);
	TEST_EQ(pthread_join(thread, NULL), 0);
	TEST_EQ(wic_producer_publish(o.p, 16, 2), -EOWNERDEAD);
	owner_end(&o);
}

/* The owner dies while it waits for a page. */
static void *stage_third(void *arg)
{
	struct owner *o = arg;
	void *buffer;

	TEST_EQ(wic_producer_stage(o->p, 0, 3, TIMEOUT, &buffer), -EOWNERDEAD);
	return NULL;
}

static void *open_and_fill(void *arg)
{
	struct owner *o = arg;
	void *buffer;

	TEST_EQ(wic_producer_open(o->ch, 0, 16, WIC_PRODUCER_OF_THREAD, &o->p), 0);
	for (uint64_t e = 1; e < 3; e++) {
		TEST_EQ(wic_producer_stage(o->p, 0, e, TIMEOUT, &buffer), 0);
		TEST_EQ(wic_producer_publish(o->p, 0, e), 0);
	}
	TEST_EQ(pthread_create(&o->stager, NULL, stage_third, o), 0);
	sleep_ms(20);
	return NULL;
}

static void producer_thread_ends_while_another_stages(void)
{
	struct owner o = { .g = gpu_open(1) };
	pthread_t thread;

	o.ch = gpu_channel(&o.g, WIC_HOST, WIC_GPU(0), 16, 8);
	TEST_EQ(pthread_create(&thread, NULL, open_and_fill, &o), 0);
	TEST_EQ(pthread_join(thread, NULL), 0);
	TEST_EQ(pthread_join(o.stager, NULL), 0);
	gpu_close(&o.g);
}

/* ---- two in one tag, and one that is stopped --------------------------------------------- */

struct stager {
	struct wic_channel *ch;
	int rc;
};

static void *stage_and_wait(void *arg)
{
	struct stager *s = arg;
	void *buffer;

	/* It may meet the other's one look. */
	do
		s->rc = wic_stage(s->ch, 0, 3, WIC_MS(400), &buffer);
	while (s->rc == -EBUSY);
	return NULL;
}

static void stage_by_two_threads(void)
{
	struct gpu g = gpu_open(1);
	struct stager s = { .ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 2, 8) };
	uint64_t until = now_ns() + WIC_S(10);
	pthread_t thread;
	void *buffer;
	int rc;

	gpu_publish(s.ch, 0, 1, 8);
	gpu_publish(s.ch, 0, 2, 8);
	TEST_EQ(pthread_create(&thread, NULL, stage_and_wait, &s), 0);
	do {
		rc = wic_try_stage(s.ch, 0, 3, &buffer);
		TEST_TRUE(rc == -EAGAIN || rc == -EBUSY);
		TEST_TRUE(now_ns() < until);
	} while (rc != -EBUSY);
	TEST_EQ(wic_publish(s.ch, 0, 3), -EBUSY);
	TEST_EQ(wic_publish_range(s.ch, 0, 2, 3), -EBUSY);
	gpu_publish(s.ch, 1, 1, 8);
	TEST_EQ(pthread_join(thread, NULL), 0);
	TEST_EQ(s.rc, -ETIMEDOUT);
	TEST_EQ(wic_try_stage(s.ch, 0, 3, &buffer), -EAGAIN);
	gpu_close(&g);
}

/* All tags of a range, or none. */
static void publish_range_all_or_none(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 20, 8);
	struct gpu_run none = gpu_run(&g, gpu_script, 1, 32), run = gpu_run(&g, gpu_take, 1, 128);
	void *buffer = NULL;

	for (uint32_t tag = 0; tag < 20; tag++) {
		if (tag == 18)
			TEST_EQ(wic_publish_range(ch, 0, 20, 1), -EINVAL);
		TEST_EQ(wic_stage(ch, tag, 1, 0, &buffer), 0);
		gpu_fill(buffer, tag, 1, 8);
	}
	none.args.h[0] = run.args.h[0] = wic_channel_handle(ch);
	for (uint32_t tag = 0; tag < 20; tag++)
		gpu_step(&none, GPU_TRY, tag, 1);
	gpu_start(&g, &none);
	gpu_end_script(&g, &none, -EAGAIN);
	TEST_EQ(wic_publish_range(ch, 0, 20, 1), 0);
	TEST_EQ(wic_publish_range(ch, 0, 20, 1), -EINVAL);
	run.args.count = 20;
	gpu_start(&g, &run);
	gpu_end(&g, &run);
	gpu_close(&g);
}

static uint32_t stopped_now, stopped_may_go; /* atomic */

static void on_stop(int signal)
{
	uint64_t until = now_ns() + WIC_S(20);

	(void)signal;
	__atomic_store_n(&stopped_now, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&stopped_may_go, __ATOMIC_ACQUIRE) && now_ns() < until)
		sleep_ms(1);
}

static void *publish_on_and_on(void *arg)
{
	struct wic_channel *ch = arg;

	for (uint64_t e = 1; !__atomic_load_n(&stopped_may_go, __ATOMIC_ACQUIRE); e++)
		TEST_EQ(wic_publish(ch, 0, e), 0);
	return NULL;
}

/* Wherever a publisher is stopped, other tags, of its own line too, are as quick as before. */
static void publisher_stopped(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 0);
	struct wic_channel *from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 4, 0);
	struct sigaction act;

	memset(&act, 0, sizeof(act));
	act.sa_handler = on_stop;
	TEST_EQ(sigaction(SIGUSR2, &act, NULL), 0);
	for (uint64_t round = 0; round < 20; round++) {
		struct gpu_run run = gpu_run(&g, gpu_ping, 1, 96);
		pthread_t thread;

		wic_channel_destroy(to);
		to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 0);
		stopped_now = stopped_may_go = 0;
		run.args.h[0] = wic_channel_handle(to);
		run.args.h[1] = wic_channel_handle(from);
		run.args.epoch_first = round + 1;
		TEST_EQ(pthread_create(&thread, NULL, publish_on_and_on, to), 0);
		sleep_ms((uint32_t)round % 3);
		TEST_EQ(pthread_kill(thread, SIGUSR2), 0);
		while (!__atomic_load_n(&stopped_now, __ATOMIC_ACQUIRE))
			sleep_ms(1);
		gpu_start(&g, &run);
		for (uint32_t tag = 1; tag < 3; tag++) {
			TEST_EQ(wic_publish(to, tag, round + 1), 0);
			TEST_EQ(wic_host_wait(from, tag, round + 1, WIC_S(5)), 0);
		}
		__atomic_store_n(&stopped_may_go, 1, __ATOMIC_RELEASE);
		TEST_EQ(pthread_join(thread, NULL), 0);
		/* Tag 0 may have come as far by itself. */
		TEST_EQ(wic_publish(to, 0, WIC_EPOCH_LAST), 0);
		gpu_end(&g, &run);
	}
	gpu_close(&g);
}

static const struct test tests[] = {
	TEST(bad_input_in_kernels),
	TEST(bad_words),
	TEST(lot_for_fewer_warps),
	TEST(bad_input_changes_nothing),
	TEST(producer_close_ends_waits),
	TEST(producer_thread_ends),
	TEST(producer_thread_ends_while_another_stages),
	TEST(stage_by_two_threads),
	TEST(publish_range_all_or_none),
	TEST(publisher_stopped),
	{ 0 },
};

GPU_PART(errors);
