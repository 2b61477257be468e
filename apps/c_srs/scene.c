/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/c_srs/scene.h"

#include <stdbool.h>
#include <string.h>

#include "apps/common/image.h"
#include "apps/common/parallel.h"
#include "lib/log.h"

/* Value at a lattice point, 0 to 255; murmur3's finaliser over the coordinates. */
static uint32_t lattice(uint64_t seed, uint32_t layer, uint32_t x, uint32_t y)
{
	uint64_t h = seed ^ ((uint64_t)layer << 56);

	h ^= (uint64_t)x * 0x9e3779b97f4a7c15u + (uint64_t)y * 0xc2b2ae3d27d4eb4fu;
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
	return (uint32_t)(h >> 56);
}

struct span {
	const struct scene *s;
	uint32_t x;
	uint32_t y;
	uint32_t count;
};

/* Add one octave, @cell pixels a lattice step, to the sums; scaled to 0..255*weight. */
static void octave_add(const struct span *p, uint32_t layer, uint32_t cell, uint32_t weight,
		       uint32_t *sum)
{
	uint32_t cy = p->y / cell, fy = p->y % cell * 256 / cell, i = 0;

	while (i < p->count) {
		uint32_t cx = (p->x + i) / cell, in = (p->x + i) % cell, end, left, right;
		uint32_t shift = (uint32_t)__builtin_ctz(cell);

		left = lattice(p->s->seed, layer, cx, cy) * (256 - fy) +
		       lattice(p->s->seed, layer, cx, cy + 1) * fy;
		right = lattice(p->s->seed, layer, cx + 1, cy) * (256 - fy) +
			lattice(p->s->seed, layer, cx + 1, cy + 1) * fy;
		end = p->count - i < cell - in ? in + (p->count - i) : cell;
		/* 255 * 256 * 4,096 fits 32 bits. */
		for (; in < end; in++, i++)
			sum[i] += (((left * (cell - in) + right * in) >> shift) >> 8) * weight;
	}
}

/* Sum of octaves from @cell down to @cell_last, halved in weight each, as 0..255. */
static void fractal(const struct span *p, uint32_t layer, uint32_t cell, uint32_t cell_last,
		    uint8_t *out)
{
	uint32_t sum[SCENE_SPAN_MAX];
	uint32_t weight = 256, total = 0, i;

	memset(sum, 0, p->count * sizeof(sum[0]));
	for (; cell >= cell_last && weight; cell /= 2, weight /= 2, layer++) {
		octave_add(p, layer, cell, weight, sum);
		total += weight;
	}
	for (i = 0; i < p->count; i++)
		out[i] = (uint8_t)(total ? sum[i] / total : 0);
}

static void paint(uint8_t *rgb, uint32_t r, uint32_t g, uint32_t b)
{
	rgb[0] = (uint8_t)(r > 255 ? 255 : r);
	rgb[1] = (uint8_t)(g > 255 ? 255 : g);
	rgb[2] = (uint8_t)(b > 255 ? 255 : b);
}

/* Rectangular fields: one colour each, with furrows along or across. */
static void paint_field(const struct scene *s, uint32_t x, uint32_t y, uint8_t *rgb)
{
	uint32_t size = s->feature_px / 16 + 4;
	uint32_t crop = lattice(s->seed, 200, x / size, y / size);
	uint32_t furrow = (crop & 1 ? x : y) % 8 < 2 ? 18 : 0;

	paint(rgb, 90 + crop / 4 + furrow, 110 + crop / 3, 50 + crop / 8 + furrow);
}

/* Streets and roofs: hard edges everywhere, so much gradient energy. */
static void paint_town(const struct scene *s, uint32_t x, uint32_t y, uint8_t *rgb)
{
	bool is_street = x % 12 < 2 || y % 16 < 3;
	uint32_t roof = lattice(s->seed, 201, x / 4, y / 4);
	uint32_t grain = lattice(s->seed, 202, x, y) / 4;

	if (is_street)
		paint(rgb, 70 + grain, 70 + grain, 75 + grain);
	else
		paint(rgb, 60 + roof * 3 / 4 + grain, 50 + roof * 2 / 3 + grain,
		      45 + roof / 2 + grain);
}

static void paint_wild(const struct scene *s, uint32_t x, uint32_t y, uint8_t *rgb)
{
	uint32_t height = rgb[0], use = rgb[1];
	uint32_t grain = lattice(s->seed, 203, x, y) / 16;

	if (height < 96)
		paint(rgb, 10 + height / 4, 35 + height / 2, 80 + height * 3 / 4);
	else if (height > 176)
		paint(rgb, height * 2 / 3 + grain, height * 2 / 3 + grain, height * 2 / 3);
	else if (use > 128)
		paint(rgb, 30 + use / 8 + grain, 60 + height / 4 + grain * 2, 25 + grain);
	else
		paint(rgb, 80 + height / 3 + grain, 90 + height / 3 + grain, 50 + height / 4);
}

static void paint_cloud(uint32_t cloud, uint8_t *rgb)
{
	uint32_t cover, band;

	if (cloud <= 150)
		return;
	cover = (cloud - 150) * 6;
	cover = cover > 255 ? 255 : cover;
	for (band = 0; band < 3; band++)
		rgb[band] = (uint8_t)((rgb[band] * (255 - cover) + 240 * cover) / 255);
}

void scene_span(const struct scene *s, uint32_t x, uint32_t y, uint32_t count, uint8_t *rgb)
{
	struct span p = { s, x, y, count };
	uint8_t height[SCENE_SPAN_MAX], use[SCENE_SPAN_MAX], cloud[SCENE_SPAN_MAX];
	uint32_t i;

	fractal(&p, 0, s->feature_px, 4, height);
	/* What the land is used for changes from tile to tile: tiles differ in work. */
	fractal(&p, 32, s->feature_px * 2, s->feature_px / 4, use);
	fractal(&p, 64, s->feature_px, 8, cloud);
	for (i = 0; i < count; i++) {
		uint8_t *pixel = rgb + (uint64_t)i * 3;

		if (height[i] >= 96 && height[i] <= 176 && use[i] > 150)
			paint_town(s, x + i, y, pixel);
		else if (height[i] >= 96 && height[i] <= 160 && use[i] < 105) {
			paint_field(s, x + i, y, pixel);
		} else {
			pixel[0] = height[i];
			pixel[1] = use[i];
			paint_wild(s, x + i, y, pixel);
		}
		paint_cloud(cloud[i], pixel);
	}
}

struct scene_job {
	const struct scene *s;
	const struct image *image;
};

static int scene_write_row(void *arg, uint32_t y)
{
	struct scene_job *job = arg;
	uint32_t x, width = job->s->width;

	for (x = 0; x < width; x += SCENE_SPAN_MAX)
		scene_span(job->s, x, y, width - x < SCENE_SPAN_MAX ? width - x : SCENE_SPAN_MAX,
			   job->image->rgb + ((uint64_t)y * width + x) * 3);
	return 0;
}

int scene_write(const struct scene *s, const char *path)
{
	struct image image;
	struct scene_job job = { s, &image };
	int rc;

	if (s->feature_px < 32 || s->feature_px > SCENE_SPAN_MAX ||
	    (s->feature_px & (s->feature_px - 1)))
		return wic_fail(-EINVAL, "scene: feature_px %u: a power of two, 32 to %d",
				s->feature_px, SCENE_SPAN_MAX);
	rc = image_check_size(path, s->width, s->height);
	if (!rc)
		rc = image_alloc(path, s->width, s->height, &image);
	if (rc)
		return rc;
	rc = parallel_for(s->height, scene_write_row, &job);
	if (!rc)
		rc = image_write(path, &image);
	image_fini(&image);
	return rc;
}
