/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The kernel against the reference on random schedules; no back-end needed.  One device
 * runs at a time: what the other one sends is made here.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/common/fake_warps.h"
#include "apps/g_bs/g_bs.h"
#include "apps/g_bs/kernel.h"
#include "apps/g_bs/reference.h"
#include "lib/log.h"
#include "tests/test.h"

/* TSan sees each byte and each switch: 50 times slower, and one thread has no races. */
#ifdef __SANITIZE_THREAD__
#define SEEDS 1
#else
#define SEEDS 4
#endif

struct run {
	const struct method_ops *ops;
	struct app *app;
	const struct app_shape *shape;
	struct method *method[GBS_DEVICES];
	struct m_args m[GBS_DEVICES];
	struct gbs_args *args[GBS_DEVICES]; /* the app's own; a test may write to them */
	uint32_t device;                    /* that runs */
	uint32_t next;                      /* tag of the other one */
	uint32_t end;
	uint64_t epoch;
};

static void run_open(struct run *r, const struct method_ops *ops, const struct app_params *p)
{
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->ops = ops;
	TEST_EQ(app_g_bs.open(p, &r->app), 0);
	TEST_EQ(app_g_bs.load(r->app, NULL), 0);
	r->shape = app_g_bs.shape(r->app);
	r->end = r->shape->channels[0].tags;
	for (i = 0; i < GBS_DEVICES; i++) {
		const struct app_channel *c = &r->shape->channels[i];
		struct method_params mp = { c->tags,     c->readers, c->bytes_per_tag,
					    WIC_MS(200), c->ends,    WIC_MODE_DEFAULT,
					    NULL };

		TEST_EQ(ops->open(NULL, &mp, &r->method[i]), 0);
		ops->args(r->method[i], &r->m[i]);
	}
}

static void run_close(struct run *r)
{
	uint32_t i;

	for (i = 0; i < GBS_DEVICES; i++)
		r->ops->close(r->method[i]);
	app_g_bs.close(r->app);
}

static void begin(struct run *r, uint64_t epoch)
{
	r->epoch = epoch;
	r->args[0] = (struct gbs_args *)(uintptr_t)app_g_bs.args(r->app, r->m, epoch);
	r->args[1] = (struct gbs_args *)(uintptr_t)app_g_bs.args_of(r->app, 1);
}

/* A device's half of an array as it must send it: up or down. */
static uint32_t *half_sorted(const struct run *r, uint32_t device, uint32_t array)
{
	const struct gbs_args *a = r->args[device];
	uint32_t *keys = malloc(a->half * sizeof(*keys)), i;

	TEST_TRUE(keys);
	for (i = 0; i < a->half; i++)
		keys[i] = a->keys[(uint64_t)array * a->half + i] | gbs_salt(r->epoch, array);
	TEST_EQ(gbs_reference_sort(keys, a->half), 0);
	for (i = 0; i < a->half / 2 && device; i++) {
		uint32_t swap = keys[i];

		keys[i] = keys[a->half - 1 - i];
		keys[a->half - 1 - i] = swap;
	}
	return keys;
}

/* The other device's next chunk. */
static void send_next(void *arg)
{
	struct run *r = arg;
	uint32_t from = 1 - r->device, array = r->next / GBS_CHUNKS, chunk = r->next % GBS_CHUNKS;
	uint64_t bytes = r->shape->bytes_per_tag;
	uint32_t *keys;
	void *buffer;

	if (r->next == r->end)
		return;
	TEST_EQ(r->ops->stage(r->method[from], r->next, r->epoch, &buffer), 0);
	keys = half_sorted(r, from, array);
	memcpy(buffer, (const unsigned char *)keys + chunk * bytes, bytes);
	free(keys);
	TEST_EQ(r->ops->publish(r->method[from], r->next, r->epoch), 0);
	r->next++;
}

static struct fake_counts launch(struct run *r, uint32_t device, uint64_t seed)
{
	struct fake_launch l = {
		.kernel = app_kernel_of(&app_g_bs, r->ops->name),
		.args = r->args[device],
		.grid_blocks = r->shape->grid_blocks,
		.block_threads = r->shape->block_threads,
		.shared_bytes = r->shape->shared_bytes,
		.seed = seed,
		.on_look = send_next,
		.on_look_arg = r,
	};

	r->device = device;
	return fake_run(&l);
}

/* What a device sent in the polling methods lies in its channel's data. */
static void expect_sent(const struct run *r, uint32_t device)
{
	uint32_t array, chunk, arrays = r->args[device]->arrays;
	uint64_t bytes = r->shape->bytes_per_tag;

	for (array = 0; array < arrays; array++) {
		uint32_t *keys = half_sorted(r, device, array);

		for (chunk = 0; chunk < GBS_CHUNKS; chunk++) {
			uint64_t tag = array * GBS_CHUNKS + chunk;

			TEST_EQ(r->m[device].flags[tag * M_FLAG_WORDS], r->epoch);
			TEST_EQ(memcmp(r->m[device].data + tag * r->m[device].stride,
				       (const unsigned char *)keys + chunk * bytes, bytes),
				0);
		}
		free(keys);
	}
}

static void expect_ok(struct run *r)
{
	char why[256] = "";
	int rc = app_g_bs.check(r->app, why, sizeof(why));

	if (rc)
		fprintf(stderr, "%s: %s\n", r->ops->name, why);
	TEST_EQ(rc, 0);
}

static void expect_wrong(struct run *r, int want, const char *text)
{
	char why[256] = "";

	TEST_EQ(app_g_bs.check(r->app, why, sizeof(why)), want);
	TEST_STR_HAS(why, text);
}

static struct app_params params(uint32_t sm_warps)
{
	return (struct app_params){
		.size = APP_TINY, .sms = 1, .sm_blocks = 2, .sm_warps = sm_warps, .tags = 80
	};
}

/* None: each device writes what the other one reads, one after the other, then for real. */
static void kernel_without_waits(void)
{
	static const uint32_t warps[] = { 16, 2, 8, 4 };
	uint32_t i, round;

	for (i = 0; i < SEEDS; i++) {
		struct app_params p = params(warps[i]);
		struct run r;

		run_open(&r, &method_none, &p);
		TEST_TRUE(r.m[0].staging != NULL);
		begin(&r, 1);
		for (round = 0; round < 2; round++) {
			r.args[0]->out.staging = r.args[1]->out.staging = NULL;
			TEST_EQ(launch(&r, 0, i + 1).looks, 0);
			launch(&r, 1, i + 7);
		}
		expect_ok(&r);
		run_close(&r);
	}
}

/* A device's result does not depend on when the other one sends. */
static void kernel_with_the_other_beside_it(void)
{
	static const struct method_ops *const polling[] = { &method_naive, &method_leader,
							    &method_warp };
	static const uint64_t epoch[] = { 1, 2, (1ull << 32) - 1, WIC_EPOCH_LAST };
	uint32_t i, k, device;

	for (i = 0; i < 3 * SEEDS; i++) {
		struct app_params p = params(i % 2 ? 16 : 4);
		struct run r;

		/* A channel has one producer: the kernel's own, or what is made here. */
		for (device = 0; device < GBS_DEVICES; device++) {
			run_open(&r, polling[i % 3], &p);
			begin(&r, epoch[i / 3]);
			r.device = device;
			for (k = 0; k < (i % 4) * 20; k++)
				send_next(&r);
			TEST_TRUE(launch(&r, device, i + 1).looks > 0 || i % 4 >= 2);
			expect_sent(&r, device);
			/* The other half, as it would be. */
			if (device)
				expect_wrong(&r, -EIO, "array 0: key 0 of device 0: expected ");
			else
				expect_wrong(&r, -EIO, "array 0: key 0 of device 1: expected ");
			run_close(&r);
		}
	}
}

static void kernel_wait_times_out(void)
{
	struct app_params p = params(16);
	struct run r;

	run_open(&r, &method_leader, &p);
	begin(&r, 1);
	r.end = 3;
	launch(&r, 0, 1);
	expect_wrong(&r, -ETIMEDOUT, "device 0 block 0 warp 0: a wait at epoch 1 ended");
	run_close(&r);
}

/* N = 4,096, seed 2048: benchmarks.md. */
static void kernel_known_sums(void)
{
	struct app_params p = params(16);
	uint64_t sum = 0;
	struct run r;
	uint32_t i, d;

	run_open(&r, &method_none, &p);
	begin(&r, 1);
	for (i = 0; i < 4; i++) {
		r.args[i % 2]->out.staging = NULL;
		launch(&r, i % 2, 1);
	}
	expect_ok(&r);
	for (d = 0; d < GBS_DEVICES; d++)
		for (i = 0; i < 2048; i++)
			sum += r.args[d]->sorted[i];
	TEST_EQ(sum, 135063552);
	TEST_EQ(r.args[0]->sorted[0], 78);
	TEST_EQ(r.args[1]->sorted[2047], 65518);
	run_close(&r);
}

/* A chunk of the epoch before must show, and so must a key that was changed or lost. */
static void check_finds_what_is_wrong(void)
{
	struct app_params p = params(16);
	unsigned char kept[WIC_PAGE_BYTES];
	struct run r;
	uint32_t i;

	run_open(&r, &method_none, &p);
	for (i = 0; i < 2; i++) {
		begin(&r, 1 + i);
		r.args[0]->out.staging = r.args[1]->out.staging = NULL;
		launch(&r, 0, 1);
		launch(&r, 1, 1);
		launch(&r, 0, 1);
		expect_ok(&r);
		if (!i)
			memcpy(kept, r.m[1].data + 17 * r.m[1].stride, sizeof(kept));
	}
	r.args[1]->sorted[5] ^= 1;
	expect_wrong(&r, -EIO, "array 0: key 5 of device 1: expected ");
	r.args[1]->sorted[5] ^= 1;
	expect_ok(&r);
	memcpy(r.m[1].data + 17 * r.m[1].stride, kept, sizeof(kept));
	launch(&r, 0, 1);
	expect_wrong(&r, -EIO, "array 2: key 0 of device 0: expected ");
	run_close(&r);
}

static void app_shapes(void)
{
	struct app_params p = params(64);
	struct run r;

	p.tags = 0;
	p.sms = 3;
	p.sm_blocks = 8;
	run_open(&r, &method_none, &p);
	TEST_EQ(r.shape->grid_blocks, 24);
	TEST_EQ(r.shape->block_threads, 256);
	TEST_EQ(r.shape->tags, 4 * 24 * 16);
	TEST_EQ(r.shape->channel_count, 2);
	TEST_EQ(r.shape->channels[1].tags, 4 * 24 * 8);
	TEST_EQ(r.shape->channels[1].ends.from, 1);
	TEST_EQ(r.shape->channels[1].ends.to, 0);
	TEST_EQ(r.shape->bytes_per_tag, 2048 / 8 * 4);
	run_close(&r);
	/* Three warps a block would not divide the keys. */
	p.sm_warps = 24;
	p.threads = 2 * 2 * 64 + 1;
	run_open(&r, &method_none, &p);
	TEST_EQ(r.shape->block_threads, 64);
	TEST_EQ(r.shape->grid_blocks, 2);
	run_close(&r);
}

static void app_bad_params(void)
{
	struct app_params p = params(64);
	struct app *app;

	p.sms = 0;
	TEST_EQ(app_g_bs.open(&p, &app), -EINVAL);
	p.sms = 1;
	p.size = (enum app_size)17;
	TEST_EQ(app_g_bs.open(&p, &app), -EINVAL);
	p.size = APP_TINY;
	p.tags = UINT32_MAX;
	TEST_EQ(app_g_bs.open(&p, &app), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "at most 65536");
}

static void quiet(void *arg, int level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(kernel_without_waits),
		TEST(kernel_with_the_other_beside_it),
		TEST(kernel_wait_times_out),
		TEST(kernel_known_sums),
		TEST(check_finds_what_is_wrong),
		TEST(app_shapes),
		TEST(app_bad_params),
		{ 0 },
	};

	wic_log_set(quiet, NULL);
	return test_main(argc, argv, tests);
}
