/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/row.h"

#include <math.h>
#include <stdlib.h>

#include "tests/test.h"

static struct bench_row row_make(void)
{
	struct bench_row r = {
		.app = "C_SRS",
		.method = "wic",
		.backend = "cpu",
		.mode = "pull",
		.size = "tiny",
		.threads = 64,
		.devices = 1,
		.sms = 2,
		.tags = 3,
		.producer_delay = 0.123456789,
		.turn_percent = 400,
		.seed = UINT64_MAX,
		.correct = true,
		.t_run_ms = { 1, 2.5, 3 },
		.t_bare_ms = 4,
		.t_prod_ms = 5,
		.bound_ratio = 0.5,
		.tax = NAN,
		.overlap = -1.5,
		.speedup_naive = INFINITY,
		.best_rival = "thread-futex",
		.ratio_best = { 1, 0.5, 2 },
		.parked_pct = 12.345,
		.checks_per_comm = NAN,
		.consumer_overhead_pct = 0,
		.host_overhead_pct = 7,
		.commit = "abc",
		.machine = "CPU \"X\", 2 cores\nand more",
		.date = "2026-01-01T00:00:00Z",
	};

	return r;
}

static const char *csv_of(const struct bench_row *r)
{
	static char text[1024];
	FILE *f = fmemopen(text, sizeof(text), "w");

	TEST_TRUE(f);
	bench_row_write_csv(f, r);
	fclose(f);
	return text;
}

static void csv_all_fields(void)
{
	struct bench_row r = row_make();

	TEST_STR_HAS(csv_of(&r),
		     "C_SRS,wic,cpu,pull,tiny,64,1,2,3,0.123456789,400,false,"
		     "18446744073709551615,true,1.000,2.500,3.000,4.000,5.000,0.5000,,-1.5000,,"
		     "thread-futex,1.0000,0.5000,2.0000,12.35,,0.000,7.000,abc,"
		     "\"CPU \"\"X\"\", 2 cores\nand more\",2026-01-01T00:00:00Z\n");
}

/* What is absent is an empty field, so that the columns stay. */
static void csv_absent(void)
{
	struct bench_row r = row_make();

	r.mode = NULL;
	r.best_rival = NULL;
	r.ratio_best = (struct bench_interval){ NAN, NAN, NAN };
	r.machine = "plain";
	TEST_STR_HAS(csv_of(&r), "C_SRS,wic,cpu,,tiny,");
	TEST_STR_HAS(csv_of(&r), "-1.5000,,,,,,12.35,");
	TEST_STR_HAS(csv_of(&r), ",plain,");
	r.producer_delay = NAN;
	TEST_STR_HAS(csv_of(&r), "tiny,64,1,2,3,,400,false,");
}

/* As many names as fields. */
static void csv_head(void)
{
	char head[1024] = "";
	FILE *f = fmemopen(head, sizeof(head), "w");
	struct bench_row r = row_make();
	uint32_t names = 0, fields = 0;
	const char *c;

	TEST_TRUE(f);
	bench_row_write_csv_head(f);
	fclose(f);
	r.machine = "plain";
	for (c = head; *c; c++)
		names += *c == ',';
	for (c = csv_of(&r); *c; c++)
		fields += *c == ',';
	TEST_EQ(names, fields);
	TEST_EQ(head[strlen(head) - 1], '\n');
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(csv_all_fields),
		TEST(csv_absent),
		TEST(csv_head),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
