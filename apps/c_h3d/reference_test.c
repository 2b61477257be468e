/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The reference against values worked out by hand, and its closed form against it. */
#include <stdlib.h>

#include "apps/c_h3d/reference.h"
#include "tests/test.h"

static double box_u[3 * 12 * 12 * 12], box_w[3 * 12 * 12 * 12];

static uint64_t at(uint32_t side, uint32_t var, uint32_t x, uint32_t y, uint32_t z)
{
	uint64_t pitch = side + 2;

	return ((var * pitch + z) * pitch + y) * pitch + x;
}

static void run(uint32_t side, uint32_t rank, uint32_t cycles, uint64_t epoch)
{
	struct h3d_reference r = { side, rank, cycles, epoch };

	TEST_TRUE(h3d_box_zones(side) <= sizeof(box_u) / sizeof(*box_u));
	TEST_EQ(h3d_reference(&r, box_u, box_w), 0);
}

/* Interior -(gid + var), boundary +(gid + var), ghosts -(gid + var) of the other rank. */
static void reference_begin(void)
{
	h3d_reference_begin(3, 1, box_u);
	/* Rank 1 of 27 zones: its first zone is number 27, its middle one 27 + 13. */
	TEST_EQ(box_u[at(3, 0, 1, 1, 1)], 27);
	TEST_EQ(box_u[at(3, 2, 1, 1, 1)], 29);
	TEST_EQ(box_u[at(3, 0, 3, 2, 1)], 27 + 5);
	TEST_EQ(box_u[at(3, 1, 2, 2, 2)], -(27 + 13 + 1));
	/* Ghosts: rank 0, wrapped: left of the first zone is its zone (2, 0, 0). */
	TEST_EQ(box_u[at(3, 0, 0, 1, 1)], -2);
	TEST_EQ(box_u[at(3, 0, 4, 4, 4)], -0.0);
	TEST_EQ(box_u[at(3, 1, 0, 0, 0)], -(26 + 1));
	TEST_EQ(box_u[at(3, 0, 2, 0, 2)], -(9 + 6 + 1));
}

/* One zone a rank: numbers 0 and 1; every ghost is the other rank's one zone. */
static void reference_one_zone(void)
{
	double s = h3d_shift(1, 0), t = h3d_shift(1, 1);

	TEST_EQ(s, 2 * 4096);
	TEST_EQ(t, 2 * 4096 + 1);
	run(1, 0, 2, 1);
	TEST_EQ(box_u[at(1, 0, 1, 1, 1)], t);
	TEST_EQ(box_u[at(1, 0, 0, 1, 2)], 1 + t);
	TEST_EQ(box_u[at(1, 2, 2, 2, 2)], 3 + t);
	TEST_EQ(box_w[at(1, 0, 1, 1, 1)], s + 26 * (1 + s) + t + 26 * (1 + t));
	TEST_EQ(box_w[at(1, 0, 0, 1, 2)], 0);
}

/* 3^3: one interior zone among 26 of the boundary, whose sum is -its own without it. */
static void reference_three(void)
{
	double s = h3d_shift(5, 0), sum = 0;
	uint32_t i;

	run(3, 0, 1, 5);
	TEST_EQ(box_u[at(3, 0, 2, 2, 2)], -(13 + s));
	TEST_EQ(box_u[at(3, 0, 2, 2, 1)], 4 + s);
	TEST_EQ(box_u[at(3, 0, 2, 2, 0)], 27 + 22 + s);
	for (i = 0; i < 27; i++)
		sum += i == 13 ? -(13 + s) : i + s;
	TEST_EQ(box_w[at(3, 0, 2, 2, 2)], sum);
	/* Left of (1, 2, 2) are nine ghosts: numbers 27 + 2, 5, 8, ... 26. */
	sum = 9 * 27 + 9 * 14 + 9 * s;
	/* Then x = 0 of the box, 0, 3, ... 24, and x = 1 with the interior zone. */
	sum += 9 * 12 + 9 * s;
	sum += 9 * 13 + 9 * s - 2 * (13 + s);
	TEST_EQ(box_w[at(3, 0, 1, 2, 2)], sum);
}

static void expected_is_the_reference(void)
{
	static const uint32_t side[] = { 1, 2, 3, 4, 5, 10 };
	uint32_t i, rank;

	for (i = 0; i < 6; i++) {
		for (rank = 0; rank < 4; rank += 3) {
			struct h3d_reference r = { side[i], rank, 1 + i, 1000 + i };
			uint64_t pitch = side[i] + 2, k;

			run(r.side, r.rank, r.cycles, r.epoch);
			for (k = 0; k < h3d_box_zones(side[i]); k++) {
				struct h3d_zone z = { (uint32_t)(k / pitch / pitch / pitch),
						      (uint32_t)(k % pitch),
						      (uint32_t)(k / pitch % pitch),
						      (uint32_t)(k / pitch / pitch % pitch) };

				TEST_EQ(h3d_expected_u(&r, &z), box_u[k]);
				TEST_EQ(h3d_expected_w(&r, &z), box_w[k]);
			}
		}
	}
}

/* Each ghost is in exactly one region, and what arrives there was sent in that direction. */
static void regions_cover_the_ghosts(void)
{
	static const uint32_t side[] = { 1, 2, 4, 7 };
	uint32_t i, m, axis, zones;

	for (i = 0; i < 4; i++) {
		uint32_t n = side[i], seen = 0;

		for (m = 0; m < H3D_MESSAGES; m++) {
			struct h3d_region from = h3d_region(n, m, 0), to = h3d_region(n, m, 1);

			zones = to.count[0] * to.count[1] * to.count[2];
			TEST_EQ(zones, h3d_class_zones(n, h3d_class(m)));
			seen += zones;
			for (axis = 0; axis < 3; axis++) {
				int d = h3d_direction(m, axis);

				TEST_EQ(from.count[axis], to.count[axis]);
				TEST_EQ(from.at[axis], d > 0 ? n : 1);
				TEST_EQ(to.at[axis], d > 0 ? 0 : d < 0 ? n + 1 : 1);
			}
		}
		TEST_EQ(seen, (n + 2) * (n + 2) * (n + 2) - n * n * n);
	}
	/* All 26 differ. */
	for (m = 0, zones = 0; m < H3D_MESSAGES; m++)
		zones |= 1u << (9 * (h3d_direction(m, 2) + 1) + 3 * (h3d_direction(m, 1) + 1) +
				h3d_direction(m, 0) + 1);
	TEST_EQ(zones, (1u << 27) - 1 - (1u << 13));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(reference_begin),          TEST(reference_one_zone),
		TEST(reference_three),          TEST(expected_is_the_reference),
		TEST(regions_cover_the_ghosts), { 0 },
	};

	return test_main(argc, argv, tests);
}
