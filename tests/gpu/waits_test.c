// SPDX-License-Identifier: MIT OR GPL-2.0
/* Waits that end without data: deadlines, cancel, close. */
#include <signal.h>

#include "tests/gpu/gpu.h"

/* A loaded machine lets threads wait for each other; a GPU's warps run at the same time. */
static uint64_t late_max(void)
{
	return gpu_is_fake() ? 10 * LATE_MAX : LATE_MAX;
}

/* It ended not before its deadline, and not late. */
static void expect_in_time(const struct gpu_result *r, uint64_t timeout_ns)
{
	uint64_t took = r->ended_ns - r->began_ns;

	/* The timer of old GPUs has steps of up to a ms. */
	TEST_TRUE(took + WIC_MS(1) >= timeout_ns);
	TEST_TRUE(took <= timeout_ns + late_max());
}

static void time_out(uint32_t has_lot)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 40, 8);
	struct gpu_run run = gpu_run(&g, gpu_script, 2, 96);

	gpu_publish(ch, 17, 3, 8);
	run.args.h[0] = wic_channel_handle(ch);
	run.args.has_lot = has_lot;
	gpu_step(&run, GPU_WAIT, 17, 5)->timeout_ns = WIC_MS(50);
	gpu_step(&run, GPU_REQUEST, 18, 1)->timeout_ns = WIC_MS(20);
	gpu_start(&g, &run);
	gpu_sync(&g, &run);
	for (uint32_t warp = 0; warp < run.warps; warp++) {
		expect_in_time(gpu_result(&run, warp, 0), WIC_MS(50));
		expect_in_time(gpu_result(&run, warp, 1), WIC_MS(20));
	}
	gpu_end_script(&g, &run, -ETIMEDOUT);
	/* Channel, tag, epoch wanted and seen, block, warp, and how many waited. */
	TEST_STR_HAS(g.log->text, "block 1 warp 2 timed out after 50000 us: epoch 5 of tag 17 of "
				  "channel 0, saw 3; ");
	TEST_STR_HAS(g.log->text, "block 0 warp 1 timed out after 20000 us: epoch 1 of tag 18 of "
				  "channel 0, saw 0; ");
	if (has_lot)
		TEST_STR_HAS(g.log->text, "; 2 blocks have reached a wait, this grid has 2");
	gpu_close_with(&g, 12);
}

static void timeout_with_a_lot(void)
{
	time_out(1);
}

static void timeout_without_a_lot(void)
{
	time_out(0);
}

/* A context is as good as new after a wait that timed out. */
static void take_round(struct gpu *g, struct wic_channel *ch, uint64_t epoch)
{
	struct gpu_run run = gpu_run(g, gpu_take, 2, 64);

	run.args.h[0] = wic_channel_handle(ch);
	run.args.count = 4;
	run.args.epoch_first = epoch;
	gpu_start(g, &run);
	for (uint32_t tag = 0; tag < 4; tag++)
		gpu_publish(ch, tag, epoch, 8);
	gpu_end(g, &run);
}

static void timeout_then_go_on(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 8);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 128);

	run.args.h[0] = wic_channel_handle(ch);
	gpu_step(&run, GPU_REQUEST, 1, 1)->timeout_ns = WIC_MS(5);
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, -ETIMEDOUT);
	for (uint64_t e = 1; e < 5; e++)
		take_round(&g, ch, e);
	gpu_close_with(&g, 4);
}

/* Until all warps have done their script, without a call that asks the driver. */
static void wait_done(const struct gpu_run *run)
{
	gpu_wait_arrived(run, run->args.count + 1);
	sleep_ms(20);
}

/* Blocks are counted from the last launch beside which nothing ran, synced or not. */
static void timeout_counts_blocks_of_now(void)
{
	struct gpu g = gpu_open(2);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 8);
	struct gpu_run before = gpu_run(&g, gpu_script, 7, 32),
		       run = gpu_run(&g, gpu_script, 3, 32);

	before.args.h[0] = run.args.h[0] = wic_channel_handle(ch);
	gpu_step(&before, GPU_WAIT, 0, 1);
	gpu_step(&run, GPU_WAIT, 1, 1)->timeout_ns = WIC_MS(20);
	gpu_start(&g, &before);
	gpu_wait_arrived(&before, 1);
	sleep_ms(20);
	gpu_publish(ch, 0, 1, 8);
	wait_done(&before);
	run.l.device = WIC_GPU(1);
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, -ETIMEDOUT);
	gpu_end_script(&g, &before, 0);
	TEST_STR_HAS(g.log->text, " blocks have reached a wait, this grid has 3");
	/* Some of 3, where threads start late; never the 7 before and these. */
	for (uint32_t blocks = 7; blocks <= 10; blocks++) {
		char text[64];

		snprintf(text, sizeof(text), "; %u blocks have reached", blocks);
		TEST_TRUE(!strstr(g.log->text, text));
	}
	gpu_close_with(&g, 3);
}

/* Records of waits that timed out are as many as there is room for, the latest. */
static void timeouts_more_than_records(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 64, 8);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 64);

	run.args.h[0] = wic_channel_handle(ch);
	for (uint32_t tag = 0; tag < 40; tag++)
		gpu_step(&run, GPU_WAIT, tag, 1)->timeout_ns = WIC_US(100);
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, -ETIMEDOUT);
	TEST_STR_HAS(g.log->text, "epoch 1 of tag 15 of channel 0");
	TEST_STR_HAS(g.log->text, "epoch 1 of tag 39 of channel 0");
	TEST_STR_HAS(g.log->text, "16 more waits timed out than records are kept");
	gpu_close_with(&g, 64 + 1);
}

static void timeout_of_0_looks_once(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 8);
	struct wic_channel *from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 4, 8);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 64);
	uint64_t *word = gpu_pinned(&g, 8);
	const void *data;

	run.args.h[0] = wic_channel_handle(ch);
	gpu_step(&run, GPU_WAIT, 1, 1)->timeout_ns = 0;
	gpu_step(&run, GPU_REQUEST, 1, 1)->timeout_ns = 0;
	gpu_step(&run, GPU_TRY, 1, 1);
	gpu_step(&run, GPU_WAIT_BLOCK, 1, 1)->timeout_ns = 0;
	gpu_step(&run, GPU_REQUEST_BLOCK, 1, 1)->timeout_ns = 0;
	gpu_step(&run, GPU_WORD, 0, 1)->timeout_ns = 0;
	run.steps[run.args.count - 1].word = word;
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, -EAGAIN);
	TEST_EQ(wic_host_wait(from, 0, 1, 0), -EAGAIN);
	TEST_EQ(wic_host_request(from, 0, 1, 0, &data), -EAGAIN);
	wic_mem_free(g.w, word);
	gpu_close(&g);
}

static void timeout_of_a_host_thread(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 4, 8);
	uint64_t began = now_ns(), took;
	const void *data;

	TEST_EQ(wic_host_request(ch, 3, 7, WIC_MS(50), &data), -ETIMEDOUT);
	took = now_ns() - began;
	TEST_TRUE(took >= WIC_MS(50) && took <= WIC_MS(50) + late_max());
	TEST_STR_HAS(wic_last_error(), "channel 0");
	TEST_STR_HAS(wic_last_error(), "epoch 7 of tag 3, saw 0");
	gpu_close(&g);
}

/* ---- cancel and close -------------------------------------------------------------------- */

struct parked {
	struct gpu g;
	struct wic_channel *to, *from;
	struct gpu_run run;
	pthread_t thread; /* a host thread that waits */
	int rc;           /* of it */
};

static void *wait_here(void *arg)
{
	struct parked *p = arg;

	p->rc = wic_host_wait(p->from, 2, 1, TIMEOUT);
	return NULL;
}

/* Six warps and a host thread wait for what does not come. */
static void park(struct parked *p)
{
	p->g = gpu_open(1);
	p->to = gpu_channel(&p->g, WIC_HOST, WIC_GPU(0), 40, 8);
	p->from = gpu_channel(&p->g, WIC_GPU(0), WIC_HOST, 4, 0);
	p->run = gpu_run(&p->g, gpu_script, 2, 96);
	p->run.args.h[0] = wic_channel_handle(p->to);
	for (uint32_t warp = 0; warp < 3; warp++)
		gpu_step(&p->run, warp ? GPU_WAIT : GPU_REQUEST, 10 * warp, 1)->warp = warp;
	gpu_start(&p->g, &p->run);
	TEST_EQ(pthread_create(&p->thread, NULL, wait_here, p), 0);
	gpu_wait_arrived(&p->run, 1);
	sleep_ms(10);
}

/* All have ended with @rc, and soon. */
static void unpark(struct parked *p, int rc, int host_rc)
{
	uint64_t began = now_ns();

	TEST_EQ(pthread_join(p->thread, NULL), 0);
	TEST_EQ(p->rc, host_rc);
	gpu_end_script(&p->g, &p->run, rc);
	TEST_TRUE(now_ns() - began < WIC_S(5));
}

static void cancel_ends_all(void)
{
	struct parked p;
	struct gpu_run run;

	park(&p);
	wic_cancel(p.g.w);
	unpark(&p, -ECANCELED, -ECANCELED);
	/* It stays so, but for what is there. */
	run = gpu_run(&p.g, gpu_script, 1, 32);
	run.args.h[0] = wic_channel_handle(p.to);
	gpu_step(&run, GPU_WAIT, 0, 1);
	gpu_start(&p.g, &run);
	gpu_end_script(&p.g, &run, -ECANCELED);
	TEST_EQ(wic_host_wait(p.from, 0, 1, TIMEOUT), -ECANCELED);
	wic_cancel_clear(p.g.w);
	for (uint64_t e = 1; e < 4; e++)
		take_round(&p.g, p.to, e);
	gpu_close(&p.g);
}

static struct wic *to_cancel;

static void on_signal(int signal)
{
	(void)signal;
	wic_cancel(to_cancel);
}

static void cancel_from_a_signal_handler(void)
{
	struct parked p;
	struct sigaction act;

	memset(&act, 0, sizeof(act));
	act.sa_handler = on_signal;
	park(&p);
	to_cancel = p.g.w;
	TEST_EQ(sigaction(SIGUSR1, &act, NULL), 0);
	/* In the thread that waits. */
	TEST_EQ(pthread_kill(p.thread, SIGUSR1), 0);
	unpark(&p, -ECANCELED, -ECANCELED);
	wic_cancel_clear(p.g.w);
	take_round(&p.g, p.to, 1);
	gpu_close(&p.g);
}

static void cancel_ends_a_stage(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 8);
	void *buffer;

	gpu_publish(ch, 0, 1, 8);
	gpu_publish(ch, 0, 2, 8);
	wic_cancel(g.w);
	TEST_EQ(wic_stage(ch, 0, 3, TIMEOUT, &buffer), -ECANCELED);
	wic_cancel_clear(g.w);
	TEST_EQ(wic_stage(ch, 0, 3, WIC_MS(5), &buffer), -ETIMEDOUT);
	gpu_close(&g);
}

static void channel_close_while_waiting(void)
{
	struct parked p;

	park(&p);
	TEST_EQ(wic_channel_close(p.to), 0);
	TEST_EQ(wic_channel_close(p.from), 0);
	unpark(&p, -ECANCELED, -ECANCELED);
	wic_channel_destroy(p.to);
	wic_channel_destroy(p.from);
	p.to = gpu_channel(&p.g, WIC_HOST, WIC_GPU(0), 40, 8);
	take_round(&p.g, p.to, 1);
	gpu_close(&p.g);
}

struct closer {
	struct wic_channel *ch;
	int rc;
};

static void *stage_third(void *arg)
{
	struct closer *c = arg;
	void *buffer;

	c->rc = wic_stage(c->ch, 0, 3, TIMEOUT, &buffer);
	return NULL;
}

static void channel_close_ends_a_stage(void)
{
	struct gpu g = gpu_open(1);
	struct closer c = { .ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 8) };
	pthread_t thread;

	gpu_publish(c.ch, 0, 1, 8);
	gpu_publish(c.ch, 0, 2, 8);
	TEST_EQ(pthread_create(&thread, NULL, stage_third, &c), 0);
	sleep_ms(20);
	TEST_EQ(wic_channel_close(c.ch), 0);
	TEST_EQ(pthread_join(thread, NULL), 0);
	/* Closed before it called, on a slow machine. */
	TEST_TRUE(c.rc == -ECANCELED || c.rc == -EINVAL);
	gpu_close(&g);
}

/* What is published is still given out, and what is not, not. */
static void channel_closed_before(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 8);
	struct gpu_run there = gpu_run(&g, gpu_script, 1, 64),
		       none = gpu_run(&g, gpu_script, 1, 64);

	gpu_publish(ch, 0, 1, 8);
	TEST_EQ(wic_channel_close(ch), 0);
	there.args.h[0] = none.args.h[0] = wic_channel_handle(ch);
	gpu_step(&there, GPU_REQUEST, 0, 1);
	gpu_step(&there, GPU_WAIT, 0, 1);
	gpu_start(&g, &there);
	gpu_end_script(&g, &there, 0);
	gpu_step(&none, GPU_REQUEST, 0, 2);
	gpu_step(&none, GPU_WAIT, 1, 1);
	gpu_start(&g, &none);
	gpu_end_script(&g, &none, -ECANCELED);
	gpu_close(&g);
}

static void context_close_while_waiting(void)
{
	struct parked p;

	park(&p);
	TEST_EQ(wic_channel_close(p.from), 0);
	TEST_EQ(pthread_join(p.thread, NULL), 0);
	wic_close(p.g.w);
	/* What the kernel had of pinned memory went with the context, so the driver is not asked.
	 */
	TEST_EQ(p.g.log->lines, 0);
	gpu_reset_driver();
}

static const struct test tests[] = {
	TEST(timeout_with_a_lot),
	TEST(timeout_without_a_lot),
	TEST(timeout_then_go_on),
	TEST(timeout_counts_blocks_of_now),
	TEST(timeouts_more_than_records),
	TEST(timeout_of_0_looks_once),
	TEST(timeout_of_a_host_thread),
	TEST(cancel_ends_all),
	TEST(cancel_from_a_signal_handler),
	TEST(cancel_ends_a_stage),
	TEST(channel_close_while_waiting),
	TEST(channel_close_ends_a_stage),
	TEST(channel_closed_before),
	TEST(context_close_while_waiting),
	{ 0 },
};

GPU_PART(waits);
