/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The reference against values worked out by hand. */
#include "apps/c_srs/reference.h"
#include "tests/test.h"

#define SIDE 32
#define COUNT (SIDE * SIDE)

static uint8_t tile[3 * COUNT];
static uint8_t filtered[4 * COUNT];
static uint32_t row_hash[SIDE];

static struct srs_result reference(void)
{
	struct srs_result r;

	TEST_EQ(srs_reference(tile, SIDE, &r, row_hash, filtered), 0);
	return r;
}

static uint8_t at(uint32_t plane, uint32_t x, uint32_t y)
{
	return filtered[plane * COUNT + y * SIDE + x];
}

/* One value a band: nothing to stretch, all becomes 0. */
static void reference_flat(void)
{
	struct srs_result r;
	uint32_t hash = 0, lane;

	memset(tile, 77, sizeof(tile));
	r = reference();
	TEST_EQ(r.lo[0], 77);
	TEST_EQ(r.hi[2], 77);
	TEST_EQ(r.energy, 0);
	TEST_EQ(r.passes, 0);
	TEST_EQ(r.luma[0], COUNT);
	TEST_EQ(r.edge[0], COUNT);
	/* One step of 32 pixels a row: each lane has 1 * 31 + 0, the weights sum to 32^2. */
	for (lane = 0; lane < 32; lane++)
		hash += 31 * (2 * lane + 1);
	TEST_EQ(hash, 31 * 1024);
	TEST_EQ(row_hash[0], hash);
	TEST_EQ(row_hash[SIDE - 1], hash);
}

/* Left half 10, right half 210 in each band: a step of 255 between two columns. */
static void reference_step(void)
{
	struct srs_result r;
	uint32_t i;

	for (i = 0; i < sizeof(tile); i++)
		tile[i] = i % SIDE < SIDE / 2 ? 10 : 210;
	r = reference();
	TEST_EQ(r.lo[1], 10);
	TEST_EQ(r.hi[1], 210);
	/* 200 * (65280 / 200) / 256 = 200 * 326 / 256 = 254, and luma of three 254s is 254. */
	TEST_EQ(r.energy, 32 * 254 * 254);
	/* 2,064,512 / 1,024 = 2,016: three median passes, which leave a straight step alone. */
	TEST_EQ(r.passes, 3);
	TEST_EQ(at(0, 0, 0), 0);
	TEST_EQ(at(0, 14, 3), 0);
	TEST_EQ(at(0, 15, 3), 0);   /* 5 * 0 - 254: below 0 */
	TEST_EQ(at(1, 16, 3), 255); /* 5 * 254 - 3 * 254: above 255 */
	TEST_EQ(at(2, 17, 3), 254); /* 5 * 254 - 4 * 254 */
	TEST_EQ(at(3, 14, 3), 0);
	TEST_EQ(at(3, 15, 3), 4 * 254 / 8);
	TEST_EQ(at(3, 16, 3), 4 * 254 / 8);
	TEST_EQ(at(3, 17, 3), 0);
	TEST_EQ(r.edge[127], 2 * SIDE);
	TEST_EQ(r.edge[0], 30 * SIDE);
	TEST_EQ(r.luma[0], 16 * SIDE);
	TEST_EQ(r.luma[255], SIDE);
	TEST_EQ(r.luma[254], 15 * SIDE);
}

/* A bright pixel alone in one band. */
static void reference_dot(void)
{
	struct srs_result r;

	memset(tile, 0, sizeof(tile));
	tile[COUNT + 5 * SIDE + 7] = 51; /* green */
	r = reference();
	/* Stretched to 51 * 1280 / 256 = 255; luma 150 * 255 / 256 = 149; two differences. */
	TEST_EQ(r.hi[1], 51);
	TEST_EQ(r.energy, 2 * 149 * 149);
	TEST_EQ(r.passes, 0);
	TEST_EQ(at(1, 7, 5), 255);
	TEST_EQ(at(1, 8, 5), 0);
	TEST_EQ(at(0, 7, 5), 0);
	TEST_EQ(at(3, 7, 5), 0);
	TEST_EQ(at(3, 8, 5), 2 * 149 / 8);
	TEST_EQ(at(3, 7, 4), 2 * 149 / 8);
	TEST_EQ(at(3, 8, 6), 2 * 149 / 8);
	TEST_EQ(r.luma[149], 1);
	TEST_EQ(r.edge[37], 8);
}

/* The border repeats the edge: a dot in the corner is four of its window of nine. */
static void reference_corner(void)
{
	struct srs_result r;

	memset(tile, 0, sizeof(tile));
	tile[0] = tile[COUNT] = tile[2 * COUNT] = 255;
	r = reference();
	TEST_EQ(r.energy, 255 * 255);
	TEST_EQ(at(0, 0, 0), 255); /* 5 * 255 - 2 * 255 */
	TEST_EQ(at(0, 1, 0), 0);
	TEST_EQ(at(3, 0, 0), (3 + 3) * 255 / 8);
	TEST_EQ(at(3, 1, 1), (1 + 1) * 255 / 8);
}

static void reference_median_removes_dots(void)
{
	struct srs_result r;
	uint32_t x, y;

	memset(tile, 0, sizeof(tile));
	for (y = 1; y < SIDE; y += 3)
		for (x = 1; x < SIDE; x += 3)
			tile[y * SIDE + x] = tile[COUNT + y * SIDE + x] =
				tile[2 * COUNT + y * SIDE + x] = 255;
	r = reference();
	TEST_EQ(r.passes, 3);
	TEST_EQ(r.luma[0], COUNT);
	TEST_EQ(r.edge[0], COUNT);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(reference_flat),
		TEST(reference_step),
		TEST(reference_dot),
		TEST(reference_corner),
		TEST(reference_median_removes_dots),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
