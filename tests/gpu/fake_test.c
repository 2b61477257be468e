// SPDX-License-Identifier: MIT OR GPL-2.0
/* What only a driver of ours can show: which calls are made when, and what happens if they fail. */
#include "tests/fakecuda/fakecuda.h"
#include "tests/gpu/gpu.h"

/* From publish to wake-up, in both directions, the driver is not called. */
static void no_call_between_publish_and_wake_up(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 100);
	struct wic_channel *from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 4, 0);
	struct wic_channel *pages = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 4, 0);
	struct gpu_run run = gpu_run(&g, gpu_ping, 1, 128);
	uint64_t calls;

	run.args.h[0] = wic_channel_handle(pages);
	run.args.h[1] = wic_channel_handle(from);
	run.args.epochs = 100;
	gpu_start(&g, &run);
	calls = fakecuda_calls(NULL);
	gpu_publish(to, 0, 1, 100);
	for (uint64_t e = 1; e <= 100; e++)
		for (uint32_t tag = 0; tag < 4; tag++) {
			gpu_publish(pages, tag, e, 0);
			TEST_EQ(wic_host_wait(from, tag, e, TIMEOUT), 0);
		}
	TEST_EQ(fakecuda_calls(NULL), calls);
	gpu_end(&g, &run);
	gpu_close(&g);
}

static const struct test tests[] = {
	TEST(no_call_between_publish_and_wake_up),
	{ 0 },
};

GPU_PART(fake);
