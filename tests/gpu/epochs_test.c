// SPDX-License-Identifier: MIT OR GPL-2.0
/* Epochs at their ends, pages that are held, sets, words. */
#include "tests/gpu/gpu.h"

/* ---- epochs ------------------------------------------------------------------------------ */

static void from_epoch(uint64_t first, uint64_t epochs, uint64_t step, uint64_t bytes)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, bytes);
	struct wic_channel *from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 4, bytes);
	struct gpu_run take = gpu_run(&g, gpu_take, 1, 128), make = gpu_run(&g, gpu_make, 1, 128);

	take.args.h[0] = wic_channel_handle(to);
	make.args.h[0] = wic_channel_handle(from);
	take.args.count = make.args.count = 4;
	take.args.epoch_first = make.args.epoch_first = first;
	take.args.epochs = make.args.epochs = epochs;
	take.args.epoch_step = make.args.epoch_step = step;
	gpu_start(&g, &take);
	for (uint64_t i = 0; i < epochs; i++)
		for (uint32_t tag = 0; tag < 4; tag++)
			gpu_publish(to, tag, first + i * step, bytes);
	gpu_end(&g, &take);
	gpu_start(&g, &make);
	for (uint64_t i = 0; i < epochs; i++)
		for (uint32_t tag = 0; tag < 4; tag++)
			gpu_take_here(from, tag, first + i * step, bytes);
	gpu_end(&g, &make);
	gpu_close(&g);
}

static void epochs_at_each_wrap(void)
{
	from_epoch((1ull << 16) - 2, 5, 1, 8);
	from_epoch((1ull << 32) - 2, 5, 1, 8);
	from_epoch((1ull << 48) - 2, 5, 1, 100);
	from_epoch((1ull << 63) - 2, 5, 1, 8);
	from_epoch(UINT64_MAX - 4, 4, 1, 8); /* up to WIC_EPOCH_LAST */
}

static void epochs_that_jump(void)
{
	from_epoch(1, 9, 7, 8);  /* a page and the other in turn */
	from_epoch(3, 9, 10, 8); /* always the same page */
	from_epoch(5, 4, (1ull << 61) + 2, 8);
}

/* The one jump that a page's count cannot tell from no jump. */
static void epoch_that_jumps_too_far(void)
{
	const uint64_t far = 1ull << 48;
	struct gpu g = gpu_open(1);
	struct wic_channel *to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 1, 8);
	struct wic_channel *from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 1, 8);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 32);
	void *buffer;

	gpu_publish(to, 0, 5, 8);
	TEST_EQ(wic_stage(to, 0, 5 + 3 * far, TIMEOUT, &buffer), -EINVAL);
	gpu_publish(to, 0, 4 + far, 8);
	TEST_EQ(wic_try_stage(to, 0, 7 + far, &buffer), -EAGAIN);
	run.args.h[0] = wic_channel_handle(from);
	gpu_step(&run, GPU_STAGE, 0, 5);
	gpu_step(&run, GPU_PUBLISH, 0, 5);
	gpu_step(&run, GPU_STAGE, 0, 6 + far);
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, 0);
	run = gpu_run(&g, gpu_script, 1, 32);
	run.args.h[0] = wic_channel_handle(from);
	gpu_step(&run, GPU_STAGE, 0, 5 + far);
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, -EINVAL);
	gpu_close(&g);
}

static void signals_up_to_the_last_epoch(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 2, 0);
	struct wic_channel *from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 2, 0);
	struct gpu_run run = gpu_run(&g, gpu_ping, 1, 64);

	run.args.h[0] = wic_channel_handle(to);
	run.args.h[1] = wic_channel_handle(from);
	run.args.epoch_first = UINT64_MAX - 4;
	run.args.epochs = 4;
	gpu_start(&g, &run);
	for (uint64_t e = UINT64_MAX - 4; e <= WIC_EPOCH_LAST; e++)
		for (uint32_t tag = 0; tag < 2; tag++) {
			gpu_publish(to, tag, e, 0);
			TEST_EQ(wic_host_wait(from, tag, e, TIMEOUT), 0);
		}
	TEST_EQ(wic_publish(to, 0, WIC_EPOCH_LAST), -EINVAL);
	gpu_end(&g, &run);
	gpu_close(&g);
}

/* NEXT counts from what was released last, so it goes from 1 on. */
static void epoch_next(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 3, 100);
	struct wic_channel_desc two = gpu_desc(WIC_HOST, WIC_GPU(0), 1, 8);
	struct gpu_run run = gpu_run(&g, gpu_take, 1, 96), bad = gpu_run(&g, gpu_script, 1, 32);

	run.args.h[0] = wic_channel_handle(ch);
	run.args.count = 3;
	run.args.epochs = 40;
	run.args.is_next = 1;
	gpu_start(&g, &run);
	for (uint64_t e = 1; e <= 40; e++)
		for (uint32_t tag = 0; tag < 3; tag++)
			gpu_publish(ch, tag, e, 100);
	gpu_end(&g, &run);
	/* Where there are two readers nobody can say whose next it is. */
	two.readers = 2;
	bad.args.h[0] = wic_channel_handle(gpu_channel_of(&g, &two));
	gpu_step(&bad, GPU_REQUEST, 0, WIC_EPOCH_NEXT);
	gpu_step(&bad, GPU_RELEASE, 0, WIC_EPOCH_NEXT);
	gpu_step(&bad, GPU_REQUEST_BLOCK, 0, WIC_EPOCH_NEXT);
	gpu_start(&g, &bad);
	gpu_end_script(&g, &bad, -EINVAL);
	gpu_close(&g);
}

/* What is gone is -EINVAL, also while its page holds something else. */
static void epoch_that_is_gone(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 2, 8);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 32), gone = gpu_run(&g, gpu_script, 1, 32);

	gpu_publish(ch, 0, 1, 8);
	gpu_publish(ch, 0, 4, 8);
	run.args.h[0] = wic_channel_handle(ch);
	gpu_step(&run, GPU_REQUEST, 0, 1);
	gpu_step(&run, GPU_REQUEST, 0, 4);
	gpu_step(&run, GPU_RELEASE, 0, 1);
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, 0);
	gone.args.h[0] = wic_channel_handle(ch);
	gpu_step(&gone, GPU_REQUEST, 0, 1); /* released */
	gpu_step(&gone, GPU_REQUEST, 0, 2); /* passed over */
	gpu_step(&gone, GPU_REQUEST, 0, 3);
	gpu_step(&gone, GPU_TRY, 0, 2);
	gpu_step(&gone, GPU_REQUEST_BLOCK, 0, 3);
	gpu_step(&gone, GPU_RELEASE, 0, 1); /* one too many */
	gpu_step(&gone, GPU_RELEASE, 0, 2);
	gpu_step(&gone, GPU_RELEASE, 0, 5); /* not published */
	gpu_step(&gone, GPU_RELEASE_BLOCK, 0, 1);
	gpu_start(&g, &gone);
	gpu_end_script(&g, &gone, -EINVAL);
	/* None of that took anything from what is held. */
	run = gpu_run(&g, gpu_script, 1, 32);
	run.args.h[0] = wic_channel_handle(ch);
	gpu_step(&run, GPU_REQUEST, 0, 4);
	gpu_step(&run, GPU_RELEASE, 0, 4);
	gpu_step(&run, GPU_WAIT, 0, 2);
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, 0);
	gpu_close(&g);
}

static void host_epoch_that_is_gone(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 2, 8);
	struct gpu_run run = gpu_run(&g, gpu_make, 1, 32);
	const void *data;

	run.args.h[0] = wic_channel_handle(ch);
	run.args.count = 1;
	run.args.epochs = 3;
	gpu_start(&g, &run);
	for (uint64_t e = 1; e <= 2; e++)
		gpu_take_here(ch, 0, e, 8);
	gpu_end(&g, &run);
	TEST_EQ(wic_host_request(ch, 0, 1, TIMEOUT, &data), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "epoch 1 of tag 0 is gone, 3 is published");
	TEST_EQ(wic_host_release(ch, 0, 1), -EINVAL);
	TEST_EQ(wic_host_release(ch, 0, 2), -EINVAL);
	TEST_EQ(wic_host_release(ch, 0, 4), -EINVAL);
	gpu_take_here(ch, 0, 3, 8);
	TEST_EQ(wic_host_release(ch, 0, 3), -EINVAL);
	gpu_close(&g);
}

/* ---- pages that are held ----------------------------------------------------------------- */

static void stage_with_all_pages_held(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 2, 8);
	struct gpu_run run;
	uint64_t began;
	void *buffer = NULL;

	for (uint64_t e = 1; e < 9; e += 2) {
		gpu_publish(ch, 1, e, 8);
		gpu_publish(ch, 1, e + 1, 8);
		TEST_EQ(wic_try_stage(ch, 1, e + 2, &buffer), -EAGAIN);
		began = now_ns();
		TEST_EQ(wic_stage(ch, 1, e + 2, WIC_MS(20), &buffer), -ETIMEDOUT);
		TEST_TRUE(now_ns() - began >= WIC_MS(20));
		TEST_STR_HAS(wic_last_error(), "of tag 1");
		/* Two readers' worth of recovery: the release is the kernel's last instruction. */
		run = gpu_run(&g, gpu_take, 1, 32);
		run.args.h[0] = wic_channel_handle(ch);
		run.args.count = 2;
		run.args.epoch_first = e;
		run.args.epochs = 2;
		gpu_publish(ch, 0, e, 8);
		gpu_publish(ch, 0, e + 1, 8);
		gpu_start(&g, &run);
		TEST_EQ(wic_stage(ch, 1, e + 2, TIMEOUT, &buffer), 0);
		gpu_end(&g, &run);
		TEST_EQ(wic_try_stage(ch, 1, e + 3, &buffer), 0);
	}
	gpu_close(&g);
}

/* Releases in one kernel, right before it ends; the page is free after it, at once. */
static void release_as_the_last_instruction(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 1, 4096);
	void *buffer;

	gpu_publish(ch, 0, 1, 4096);
	gpu_publish(ch, 0, 2, 4096);
	for (uint64_t e = 1; e < 20; e++) {
		struct gpu_run run = gpu_run(&g, gpu_script, 1, 32);

		run.args.h[0] = wic_channel_handle(ch);
		run.args.has_lot = 0;
		gpu_step(&run, GPU_REQUEST, 0, e);
		gpu_step(&run, GPU_RELEASE, 0, e);
		gpu_start(&g, &run);
		gpu_end_script(&g, &run, 0);
		TEST_EQ(wic_try_stage(ch, 0, e + 2, &buffer), 0);
		gpu_fill(buffer, 0, e + 2, 4096);
		TEST_EQ(wic_publish(ch, 0, e + 2), 0);
	}
	gpu_close(&g);
}

/* A kernel that produces waits for pages as well, and says so. */
static void warp_stage_with_all_pages_held(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 1, 8);
	struct gpu_run run = gpu_run(&g, gpu_make, 1, 32), late = gpu_run(&g, gpu_script, 1, 32);

	run.args.h[0] = late.args.h[0] = wic_channel_handle(ch);
	run.args.count = 1;
	run.args.epochs = 2;
	gpu_start(&g, &run);
	gpu_end(&g, &run);
	gpu_step(&late, GPU_STAGE, 0, 3)->timeout_ns = 0;
	gpu_step(&late, GPU_STAGE, 0, 3)->timeout_ns = WIC_MS(5);
	gpu_start(&g, &late);
	gpu_sync(&g, &late);
	TEST_EQ(gpu_result(&late, 0, 0)->rc, -EAGAIN);
	TEST_EQ(gpu_result(&late, 0, 1)->rc, -ETIMEDOUT);
	TEST_STR_HAS(g.log->text,
		     "block 0 warp 0 timed out after 5000 us: all releases of epoch 1 of "
		     "tag 0 of channel 0, saw 0; ");
	gpu_free(&g, &late);
	gpu_take_here(ch, 0, 1, 8);
	run = gpu_run(&g, gpu_make, 1, 32);
	run.args.h[0] = wic_channel_handle(ch);
	run.args.count = 1;
	run.args.epoch_first = 3;
	run.args.epochs = 4;
	gpu_start(&g, &run);
	for (uint64_t e = 2; e < 7; e++)
		gpu_take_here(ch, 0, e, 8);
	gpu_end(&g, &run);
	gpu_close_with(&g, 1);
}

/* ---- sets -------------------------------------------------------------------------------- */

static void set_refs(struct gpu_step *s, uint32_t count, uint64_t epoch)
{
	s->count = count;
	for (uint32_t i = 0; i < count; i++)
		s->refs[i] = (struct wic_ref){ .epoch = epoch, .tag = 17 * i };
}

static void sets_of_tags(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel_desc d = gpu_desc(WIC_HOST, WIC_GPU(0), 60, 100);
	struct gpu_run run = gpu_run(&g, gpu_script, 2, 64);
	struct wic_channel *ch;

	d.readers = 4;
	ch = gpu_channel_of(&g, &d);
	run.args.h[0] = wic_channel_handle(ch);
	for (uint64_t e = 1; e < 5; e++) {
		set_refs(gpu_step(&run, e % 2 ? GPU_REQUEST_ALL : GPU_WAIT_ALL, 0, 0), 4, e);
		for (uint32_t i = 0; i < 4; i++)
			gpu_step(&run, GPU_RELEASE, 17 * i, e);
	}
	gpu_start(&g, &run);
	for (uint64_t e = 1; e < 5; e++)
		for (uint32_t i = 4; i--;)
			gpu_publish(ch, 17 * i, e, 100);
	gpu_end_script(&g, &run, 0);
	gpu_close(&g);
}

/* The deadline is the whole set's, and a set that is out of time is -ETIMEDOUT wherever it is. */
static void sets_time_out(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *ch = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 60, 8);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 32);
	struct gpu_step *s;

	for (uint32_t i = 0; i < 3; i++)
		gpu_publish(ch, 17 * i, 1, 8);
	run.args.h[0] = wic_channel_handle(ch);
	for (uint32_t i = 0; i < 4; i++) {
		s = gpu_step(&run, i % 2 ? GPU_REQUEST_ALL : GPU_WAIT_ALL, 0, 0);
		set_refs(s, 4, 1);
		/* Of 1 ns nothing is left after what is there. */
		s->timeout_ns = i < 2 ? 1 : WIC_MS(5);
	}
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, -ETIMEDOUT);
	run = gpu_run(&g, gpu_script, 1, 32);
	run.args.h[0] = wic_channel_handle(ch);
	s = gpu_step(&run, GPU_WAIT_ALL, 0, 0);
	set_refs(s, 4, 1);
	s->timeout_ns = 0;
	s = gpu_step(&run, GPU_REQUEST_ALL, 0, 0);
	set_refs(s, 4, 1);
	s->timeout_ns = 0;
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, -EAGAIN);
	/* What was there is still to be had: nothing was taken. */
	run = gpu_run(&g, gpu_script, 1, 32);
	run.args.h[0] = wic_channel_handle(ch);
	set_refs(gpu_step(&run, GPU_REQUEST_ALL, 0, 0), 3, 1);
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, 0);
	gpu_close_with(&g, 4);
}

/* ---- words ------------------------------------------------------------------------------- */

/* A word of the GPU's memory, by copies of the host and by another kernel. */
static void word_of_a_device(void)
{
	struct gpu g = gpu_open(2);
	struct gpu_run run = gpu_run(&g, gpu_script, 2, 96), other = gpu_run(&g, gpu_script, 1, 32);
	uint64_t value = 7;
	void *word = NULL;

	TEST_EQ(wic_mem_alloc(g.w, WIC_MEM_DEVICE, WIC_GPU(0), 4096, &word), 0);
	gpu_step(&run, GPU_WORD, 0, 7)->word = word;
	gpu_step(&run, GPU_WORD, 0, UINT64_MAX)->word = word;
	gpu_step(&run, GPU_WORD_BLOCK, 0, 100)->word = word;
	gpu_start(&g, &run);
	gpu_wait_arrived(&run, 1);
	TEST_EQ(wic_mem_copy(g.w, word, &value, sizeof(value)), 0);
	gpu_wait_arrived(&run, 2);
	other.l.device = WIC_GPU(1);
	gpu_step(&other, GPU_STORE, 0, UINT64_MAX)->word = word;
	gpu_start(&g, &other);
	gpu_end_script(&g, &other, 0);
	gpu_end_script(&g, &run, 0);
	wic_mem_free(g.w, word);
	gpu_close(&g);
}

static void word_times_out(void)
{
	struct gpu g = gpu_open(1);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 64);
	void *word = NULL;

	TEST_EQ(wic_mem_alloc(g.w, WIC_MEM_DEVICE, WIC_GPU(0), 64, &word), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct gpu_step *s = gpu_step(&run, i < 2 ? GPU_WORD : GPU_WORD_BLOCK, 0, 1);

		s->word = word;
		s->timeout_ns = WIC_MS(5);
	}
	gpu_start(&g, &run);
	gpu_sync(&g, &run);
	for (uint32_t i = 0; i < 3; i++) {
		/* The first warp, who waits for the block: others may come late. */
		const struct gpu_result *r = gpu_result(&run, 0, i);

		TEST_TRUE(r->ended_ns - r->began_ns + WIC_MS(1) >= WIC_MS(5));
	}
	gpu_end_script(&g, &run, -ETIMEDOUT);
	wic_mem_free(g.w, word);
	gpu_close(&g);
}

static const struct test tests[] = {
	TEST(epochs_at_each_wrap),
	TEST(epochs_that_jump),
	TEST(epoch_that_jumps_too_far),
	TEST(signals_up_to_the_last_epoch),
	TEST(epoch_next),
	TEST(epoch_that_is_gone),
	TEST(host_epoch_that_is_gone),
	TEST(stage_with_all_pages_held),
	TEST(release_as_the_last_instruction),
	TEST(warp_stage_with_all_pages_held),
	TEST(sets_of_tags),
	TEST(sets_time_out),
	TEST(word_of_a_device),
	TEST(word_times_out),
	{ 0 },
};

GPU_PART(epochs);
