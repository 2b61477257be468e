/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Rigs of applications whose host takes, or whose kernels produce: steps, pacing, T_prod. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/measure.h"
#include "bench/rig.h"
#include "bench/row.h"
#include "bench/steps.h"
#include "tests/test.h"

/* Longer than either application needs at the smallest size on a busy machine. */
#define PACE_NS 150000000u

static struct bench_options options;

static void rig_open(struct bench_rig *rig, const char *app)
{
	static const struct method_ops *const wanted[] = { &method_leader, &method_split,
							   &method_wic };
	struct bench_rig_params p = {
		.options = &options,
		.app = app_find(app),
		.methods = wanted,
		.method_count = 3,
		.size = APP_TINY,
		.turn_percent = 100,
	};

	bench_options_init(&options);
	TEST_TRUE(p.app);
	TEST_EQ(bench_rig_open(rig, &p), 0);
}

static void expect_ok(const struct bench_run *run)
{
	if (run->status)
		fprintf(stderr, "%s\n", run->why);
	TEST_EQ(run->status, 0);
	TEST_TRUE(run->time_ns > 0);
}

/* The host sends no faster than it is paced, and the kernel waits for it. */
static void rig_host_takes(void)
{
	struct bench_rig rig;
	struct bench_run run;
	uint64_t prod_ns;

	rig_open(&rig, "C_H3D");
	TEST_EQ(rig.method_count, 2);
	TEST_STR_HAS(rig.left_out, "split: the kernel of C_H3D");
	TEST_EQ(rig.methods[0].channel_count, 6);
	TEST_EQ(rig.productions, rig.shape->tags / 2);
	bench_rig_bare(&rig, PACE_NS, &prod_ns, &run);
	expect_ok(&run);
	TEST_TRUE(prod_ns >= PACE_NS - 1000);
	for (uint32_t i = 0; i < rig.method_count; i++) {
		bench_rig_run(&rig, &rig.methods[i], PACE_NS, &run);
		expect_ok(&run);
		TEST_TRUE(run.time_ns >= PACE_NS - 1000);
		bench_rig_run(&rig, &rig.methods[i], BENCH_READY, &run);
		expect_ok(&run);
		bench_rig_run(&rig, &rig.methods[i], 0, &run);
		expect_ok(&run);
	}
	/* In wic's runs only the host's messages are requests of warps. */
	TEST_EQ(run.stats.requests, rig.productions);
	bench_rig_close(&rig);
}

/* No step is the host's; R cannot be set, so a row has none. */
static void rig_kernels_produce(void)
{
	struct bench_measure_params p = { .producer_delay = 0.5,
					  .bare_ns = PACE_NS,
					  .repeats = 1,
					  .methods = BENCH_ALL_METHODS,
					  .with_ready = true };
	static struct bench_point point;
	struct bench_row rows[BENCH_METHODS_MAX];
	struct bench_rig rig;
	struct bench_run run;
	uint64_t prod_ns;

	rig_open(&rig, "G_BS");
	TEST_EQ(rig.productions, 0);
	TEST_EQ(rig.methods[0].channel_count, 2);
	bench_rig_bare(&rig, WIC_S(1000), &prod_ns, &run);
	expect_ok(&run);
	TEST_TRUE(prod_ns > 0 && prod_ns < WIC_S(1000));
	bench_measure_point(&rig, &p, &point);
	TEST_TRUE(isnan(point.producer_delay));
	bench_rows_make(&rig, &point, &point, rows);
	for (uint32_t i = 0; i < rig.method_count; i++) {
		TEST_TRUE(rows[i].correct && isnan(rows[i].producer_delay));
		TEST_EQ(rows[i].devices, 2);
		TEST_EQ(rows[i].threads, 2 * rig.shape->grid_blocks * rig.shape->block_threads);
		TEST_TRUE(rows[i].t_prod_ms > 0);
	}
	bench_rig_close(&rig);
}

/* What is not taken, or is taken and wrong, is this run's failure and no later one's. */
static void rig_failures_are_the_runs(void)
{
	const struct bench_steps none = { BENCH_STEPS_TAKE, 0 };
	struct bench_rig rig;
	struct bench_run run;
	uint64_t prod_ns;

	rig_open(&rig, "C_H3D");
	rig.epoch++;
	memset(&run, 0, sizeof(run));
	/* Nothing was ever sent: what lies in place of the device's messages is zero. */
	bench_steps_run(&rig, &rig.bare, &none, &run);
	TEST_EQ(run.status, 0);
	TEST_TRUE(rig.p.app->check(rig.app, run.why, sizeof(run.why)) < 0);
	bench_rig_bare(&rig, 0, &prod_ns, &run);
	expect_ok(&run);
	memset(&run, 0, sizeof(run));
	/* Published before: the epoch does not grow. */
	bench_steps_run(&rig, &rig.bare, &(struct bench_steps){ BENCH_STEPS_PRODUCE, 0 }, &run);
	TEST_EQ(run.status, -EINVAL);
	TEST_STR_HAS(run.why, "stage: ");
	bench_rig_bare(&rig, 0, &prod_ns, &run);
	expect_ok(&run);
	bench_rig_close(&rig);
}

static void delay_text(void)
{
	TEST_STR_HAS(bench_delay_text(0.9).s, "R = 0.9");
	TEST_STR_HAS(bench_delay_text(NAN).s, "its own R");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(rig_host_takes),
		TEST(rig_kernels_produce),
		TEST(rig_failures_are_the_runs),
		TEST(delay_text),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
