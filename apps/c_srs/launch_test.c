/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* C_SRS through wic_launch() with every method, data before and after the wait. */
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "apps/c_srs/c_srs.h"
#include "lib/log.h"
#include "tests/test.h"

struct run {
	struct wic *w;
	struct app *app;
	struct app_shape shape;
	const struct method_ops *ops;
	struct method *method;
};

static void run_open(struct run *r, const struct method_ops *ops, enum app_size size)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct app_params p = {
		.size = size,
		.seed = 3,
		.sms = 2,
		.sm_blocks = 4,
		.sm_warps = 16,
	};
	struct method_params mp;

	memset(r, 0, sizeof(*r));
	r->ops = ops;
	TEST_EQ(app_c_srs.open(&p, &r->app), 0);
	r->shape = *app_c_srs.shape(r->app);
	cfg.sms = p.sms;
	cfg.sm_blocks = p.sm_blocks;
	cfg.sm_warps = p.sm_warps;
	cfg.pool_pages = r->shape.pool_pages_min;
	TEST_EQ(wic_open(&cfg, &r->w), 0);
	TEST_EQ(app_c_srs.load(r->app, r->w), 0);
	mp = (struct method_params){ r->shape.tags,
				     r->shape.readers,
				     r->shape.bytes_per_tag,
				     WIC_S(30),
				     { 0 },
				     WIC_MODE_DEFAULT,
				     NULL };
	TEST_EQ(ops->open(r->w, &mp, &r->method), 0);
}

static void run_close(struct run *r)
{
	r->ops->close(r->method);
	app_c_srs.close(r->app);
	wic_close(r->w);
}

static void produce(struct run *r, uint32_t first, uint32_t end, uint64_t epoch)
{
	struct timespec pause = { 0, 20000 };
	void *buffer;
	uint32_t tag;

	for (tag = first; tag < end; tag++) {
		TEST_EQ(r->ops->stage(r->method, tag, epoch, &buffer), 0);
		app_c_srs.produce(r->app, tag, epoch, buffer);
		TEST_EQ(r->ops->publish(r->method, tag, epoch), 0);
		if (first)
			nanosleep(&pause, NULL);
	}
}

/* Tags from @ready on are published while the kernel runs. */
static void run_once(struct run *r, uint64_t epoch, uint32_t ready)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	char why[256] = "";
	struct m_args m;
	int rc;

	r->ops->args(r->method, &m);
	l.kernel = app_kernel_of(&app_c_srs, r->ops->name);
	l.args = app_c_srs.args(r->app, &m, epoch);
	l.grid_blocks = r->shape.grid_blocks;
	l.block_threads = r->shape.block_threads;
	l.shared_bytes = r->shape.shared_bytes;
	produce(r, 0, ready, epoch);
	TEST_EQ(method_launch(r->ops, r->method, r->w, &l), 0);
	produce(r, ready, r->shape.tags, epoch);
	TEST_EQ(method_sync(r->ops, r->method, r->w, WIC_S(60)), 0);
	rc = app_c_srs.check(r->app, why, sizeof(why));
	if (rc)
		fprintf(stderr, "%s: %s\n", r->ops->name, why);
	TEST_EQ(rc, 0);
}

/* Two: both contents of a tile.  TSan sees each byte and is 50 times slower. */
#ifdef __SANITIZE_THREAD__
#define EPOCHS_SMALL 1
#else
#define EPOCHS_SMALL 2
#endif

static void launch_all(enum app_size size, bool is_ready)
{
	uint64_t epoch;
	uint32_t i;

	for (i = 0; methods[i]; i++) {
		struct run r;

		if (method_check_where(methods[i], NULL) ||
		    (!is_ready && methods[i] == &method_none))
			continue;
		run_open(&r, methods[i], size);
		for (epoch = 1; epoch <= (size == APP_SMALL ? EPOCHS_SMALL : 4); epoch++)
			run_once(&r, epoch * 3, is_ready ? r.shape.tags : 1);
		run_close(&r);
	}
}

static void launch_tiny_all_ready(void)
{
	launch_all(APP_TINY, true);
}

static void launch_tiny_must_wait(void)
{
	launch_all(APP_TINY, false);
}

static void launch_small_must_wait(void)
{
	launch_all(APP_SMALL, false);
}

static void launch_times_out(void)
{
	uint32_t i;

	for (i = 1; methods[i]; i++) {
		struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
		struct method_params mp;
		char why[256] = "";
		struct m_args m;
		struct run r;

		if (method_check_where(methods[i], NULL))
			continue;
		run_open(&r, methods[i], APP_TINY);
		r.ops->close(r.method);
		mp = (struct method_params){ r.shape.tags, r.shape.readers, r.shape.bytes_per_tag,
					     WIC_MS(30),   { 0 },           WIC_MODE_DEFAULT,
					     NULL };
		TEST_EQ(r.ops->open(r.w, &mp, &r.method), 0);
		r.ops->args(r.method, &m);
		l.kernel = app_kernel_of(&app_c_srs, r.ops->name);
		l.args = app_c_srs.args(r.app, &m, 1);
		l.grid_blocks = r.shape.grid_blocks;
		l.block_threads = r.shape.block_threads;
		l.shared_bytes = r.shape.shared_bytes;
		produce(&r, 0, 10, 1);
		TEST_EQ(method_launch(r.ops, r.method, r.w, &l), 0);
		TEST_EQ(method_sync(r.ops, r.method, r.w, WIC_S(60)), 0);
		TEST_EQ(app_c_srs.check(r.app, why, sizeof(why)), -ETIMEDOUT);
		TEST_STR_HAS(why, "a wait at epoch 1 ended");
		run_close(&r);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(launch_tiny_all_ready),
		TEST(launch_tiny_must_wait),
		TEST(launch_small_must_wait),
		TEST(launch_times_out),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
