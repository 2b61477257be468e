/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The kernel against the reference on random schedules; no back-end needed. */
#include <string.h>

#include "apps/c_h3d/c_h3d.h"
#include "apps/c_h3d/kernel.h"
#include "apps/common/fake_warps.h"
#include "lib/log.h"
#include "tests/test.h"

/* TSan sees each byte and each switch: 50 times slower, and one thread has no races. */
#ifdef __SANITIZE_THREAD__
#define SEEDS 1
#else
#define SEEDS 4
#endif

static const struct method_ops *const polling[] = { &method_naive, &method_leader, &method_warp };

struct run {
	const struct method_ops *ops;
	struct app *app;
	const struct app_shape *shape;
	struct method *method[APP_CHANNELS_MAX];
	struct m_args m[APP_CHANNELS_MAX];
	struct h3d_args *args; /* the app's own; a test may write to them */
	uint32_t next;         /* step of the host */
	uint32_t end;          /* of what it does */
	uint64_t epoch;
};

static void run_open(struct run *r, const struct method_ops *ops, const struct app_params *p)
{
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->ops = ops;
	TEST_EQ(app_c_h3d.open(p, &r->app), 0);
	TEST_EQ(app_c_h3d.load(r->app, NULL), 0);
	r->shape = app_c_h3d.shape(r->app);
	r->end = r->shape->steps;
	for (i = 0; i < r->shape->channel_count; i++) {
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

	for (i = 0; i < r->shape->channel_count; i++)
		r->ops->close(r->method[i]);
	app_c_h3d.close(r->app);
}

static void host_take(struct run *r, const struct app_step *s)
{
	const void *data = NULL;

	TEST_EQ(r->ops->take(r->method[s->channel], s->tag, r->epoch, &data), 0);
	app_c_h3d.consume(r->app, s->item, r->epoch, data);
	TEST_EQ(r->ops->done(r->method[s->channel], s->tag, r->epoch), 0);
}

static void host_produce(struct run *r, const struct app_step *s)
{
	void *buffer;

	TEST_EQ(r->ops->stage(r->method[s->channel], s->tag, r->epoch, &buffer), 0);
	app_c_h3d.produce(r->app, s->item, r->epoch, buffer);
	TEST_EQ(r->ops->publish(r->method[s->channel], s->tag, r->epoch), 0);
}

/* The host's next step, if what it takes is there. */
static void host_next(void *arg)
{
	struct run *r = arg;
	struct app_step s;

	if (r->next == r->end)
		return;
	app_c_h3d.step(r->app, r->next, &s);
	if (!s.is_take)
		host_produce(r, &s);
	else if (r->m[s.channel].flags[(uint64_t)s.tag * M_FLAG_WORDS] < r->epoch)
		return;
	else
		host_take(r, &s);
	r->next++;
}

/* Those steps that do (or do not) take, all at once. */
static void host_all(struct run *r, bool is_take)
{
	struct app_step s;
	uint32_t i;

	for (i = 0; i < r->end; i++) {
		app_c_h3d.step(r->app, i, &s);
		if (s.is_take == is_take && is_take)
			host_take(r, &s);
		else if (s.is_take == is_take)
			host_produce(r, &s);
	}
}

static struct fake_counts launch(struct run *r, uint64_t seed)
{
	struct fake_launch l = {
		.kernel = app_kernel_of(&app_c_h3d, r->ops->name),
		.args = r->args,
		.grid_blocks = r->shape->grid_blocks,
		.block_threads = r->shape->block_threads,
		.shared_bytes = r->shape->shared_bytes,
		.seed = seed,
		.on_look = host_next,
		.on_look_arg = r,
	};

	return fake_run(&l);
}

static void begin(struct run *r, uint64_t epoch)
{
	r->epoch = epoch;
	r->next = 0;
	r->args = (struct h3d_args *)(uintptr_t)app_c_h3d.args(r->app, r->m, epoch);
}

static void expect_ok(struct run *r)
{
	char why[256] = "";
	int rc = app_c_h3d.check(r->app, why, sizeof(why));

	if (rc)
		fprintf(stderr, "%s: %s\n", r->ops->name, why);
	TEST_EQ(rc, 0);
}

static void expect_wrong(struct run *r, int want, const char *text)
{
	char why[256] = "";

	TEST_EQ(app_c_h3d.check(r->app, why, sizeof(why)), want);
	TEST_STR_HAS(why, text);
}

static struct app_params params(uint32_t sm_warps, uint32_t percent)
{
	return (struct app_params){ .size = APP_TINY,
				    .sms = 1,
				    .sm_blocks = 2,
				    .sm_warps = sm_warps,
				    .side_percent = percent };
}

static void all_ready(const struct method_ops *ops, const struct app_params *p, uint64_t seed)
{
	struct run r;

	run_open(&r, ops, p);
	for (uint64_t epoch = 1; epoch <= 2; epoch++) {
		begin(&r, epoch);
		host_all(&r, false);
		r.next = r.end;
		TEST_EQ(launch(&r, seed).looks, 0);
		host_all(&r, true);
		expect_ok(&r);
	}
	run_close(&r);
}

static void kernel_all_ready(void)
{
	static const struct method_ops *const all[] = { &method_none, &method_naive, &method_leader,
							&method_warp };
	/* Warps that divide the messages and that do not; sides 4 to 8. */
	static const uint32_t warps[] = { 16, 2, 6, 10 }, percent[] = { 100, 1, 63, 90 };

	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t k = 0; k < SEEDS; k++) {
			struct app_params p = params(warps[k], percent[k]);

			all_ready(all[i], &p, k + 1);
		}
	}
}

/* One block: the blocks of this runtime run one after the other, and the host goes round. */
static void kernel_with_the_host_beside_it(void)
{
	static const uint64_t epoch[] = { 1, 2, (1ull << 32) - 1, WIC_EPOCH_LAST };

	for (uint32_t i = 0; i < 3; i++) {
		struct app_params p = params(16, 0);
		struct run r;

		p.threads = 256;
		run_open(&r, polling[i], &p);
		TEST_EQ(r.shape->grid_blocks, 1);
		for (uint32_t k = 0; k < SEEDS; k++) {
			begin(&r, epoch[k]);
			TEST_TRUE(launch(&r, k + 1).looks > 0);
			TEST_EQ(r.next, r.end);
			expect_ok(&r);
		}
		run_close(&r);
	}
}

static void kernel_wait_times_out(void)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct app_params p = params(16, 0);
		struct run r;

		p.threads = 256;
		run_open(&r, polling[i], &p);
		begin(&r, 1);
		r.end = 26 + 26 + 26 + 3; /* of the second cycle's only three messages */
		launch(&r, 1);
		expect_wrong(&r, -ETIMEDOUT, "block 0 warp ");
		run_close(&r);
	}
}

/* A value of a zone, of the sum, of what the host took, and a message too few. */
static void check_finds_what_is_wrong(void)
{
	struct app_params p = params(16, 0);
	struct run r;
	double *box;

	run_open(&r, &method_none, &p);
	begin(&r, 7);
	expect_wrong(&r, -EIO, "the host took 0 messages of 1300");
	host_all(&r, false);
	launch(&r, 1);
	host_all(&r, true);
	expect_ok(&r);
	box = r.args->u + h3d_box_zones(8);
	box[h3d_var_zones(8) + 3] += 1;
	expect_wrong(&r, -EIO, "block 1: u of variable 1 at (3, 0, 0): expected ");
	box[h3d_var_zones(8) + 3] -= 1;
	r.args->w[h3d_box_zones(8) - 1] = 5;
	expect_wrong(&r, -EIO, "block 0: w of variable 2 at (9, 9, 9): expected 0, got 5");
	run_close(&r);

	run_open(&r, &method_none, &p);
	begin(&r, 1);
	host_all(&r, false);
	launch(&r, 1);
	((double *)(void *)(r.m[3].data + 11 * r.m[3].stride))[20] += 1;
	host_all(&r, true);
	expect_wrong(&r, -EIO, "the host took message 5 of block 1 in cycle 0: expected ");
	/* The next run is right again. */
	begin(&r, 2);
	host_all(&r, false);
	launch(&r, 1);
	host_all(&r, true);
	expect_ok(&r);
	run_close(&r);
}

/* Any message of the epoch before, or of the cycle before, in place of the right one. */
static void check_finds_stale_data(void)
{
	struct app_params p = params(16, 0);
	struct run r;

	run_open(&r, &method_none, &p);
	for (uint32_t cls = 0; cls < H3D_CLASSES; cls++) {
		/* Of block 1 in cycle 3, and the same of cycle 2. */
		uint32_t tag = h3d_tag(h3d_class_first(cls) + 2, 3, 1, 2);
		uint32_t older = h3d_tag(h3d_class_first(cls) + 2, 2, 1, 2);
		unsigned char kept[WIC_PAGE_BYTES], *at = r.m[cls].data + r.m[cls].stride * tag;

		for (uint64_t i = 0; i < 2; i++) {
			begin(&r, 10 * cls + 2 * i + 1);
			host_all(&r, false);
			memcpy(kept, i ? r.m[cls].data + r.m[cls].stride * older : at,
			       sizeof(kept));
			if (!i) {
				begin(&r, 10 * cls + 2);
				host_all(&r, false);
			}
			memcpy(at, kept, sizeof(kept));
			launch(&r, 1);
			host_all(&r, true);
			expect_wrong(&r, -EIO, "block 1: w of variable ");
		}
	}
	run_close(&r);
}

static void app_shapes(void)
{
	struct app_params p = params(64, 0);
	struct run r;

	p.sms = 3;
	p.sm_blocks = 8;
	run_open(&r, &method_none, &p);
	TEST_EQ(r.shape->grid_blocks, 6);
	TEST_EQ(r.shape->block_threads, 256);
	TEST_EQ(r.shape->tags, 2 * 26 * 25 * 6);
	TEST_EQ(r.shape->channel_count, 6);
	TEST_EQ(r.shape->channels[0].bytes_per_tag, 3 * 8 * 64);
	TEST_EQ(r.shape->channels[5].bytes_per_tag, 24);
	TEST_EQ(r.shape->channels[5].tags, 8 * 25 * 6);
	TEST_TRUE(r.shape->channels[5].ends.is_to_host);
	TEST_TRUE(!r.shape->channels[0].ends.is_from_device);
	run_close(&r);
	p.tags = 2 * 26 * 6 * 25 + 1;
	run_open(&r, &method_none, &p);
	TEST_EQ(r.shape->tags, 2 * 26 * 26 * 6);
	run_close(&r);
}

static void app_bad_params(void)
{
	struct app_params p = params(64, 0);
	struct app *app;

	p.sms = 0;
	TEST_EQ(app_c_h3d.open(&p, &app), -EINVAL);
	p.sms = 1;
	p.side_percent = 101;
	TEST_EQ(app_c_h3d.open(&p, &app), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "at most 100");
	p.side_percent = 0;
	p.size = (enum app_size)17;
	TEST_EQ(app_c_h3d.open(&p, &app), -EINVAL);
	p.size = APP_TINY;
	p.tags = UINT32_MAX;
	TEST_EQ(app_c_h3d.open(&p, &app), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "at most 4096");
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
		TEST(kernel_all_ready),       TEST(kernel_with_the_host_beside_it),
		TEST(kernel_wait_times_out),  TEST(check_finds_what_is_wrong),
		TEST(check_finds_stale_data), TEST(app_shapes),
		TEST(app_bad_params),         { 0 },
	};

	wic_log_set(quiet, NULL);
	return test_main(argc, argv, tests);
}
