/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Synthetic satellite scenes: terrain from fractal noise with water, fields, woods,
 * towns and clouds.  A pixel depends on the seed and its own place alone, so any
 * part of a scene can be made by itself, in any order, and is the same everywhere.
 */
#ifndef WIC_APPS_C_SRS_SCENE_H
#define WIC_APPS_C_SRS_SCENE_H

#include <stdint.h>

#include <wic/error.h>

struct scene {
	uint64_t seed;
	uint32_t width;
	uint32_t height;
	uint32_t feature_px; /* size of its largest forms, 32 to 4,096, a power of two */
};

#define SCENE_SPAN_MAX 4096 /* pixels at a time */

/* Pixels [x, x + count) of row @y into @rgb; @count is at most SCENE_SPAN_MAX. */
void scene_span(const struct scene *s, uint32_t x, uint32_t y, uint32_t count, uint8_t *rgb);

/*
 * Make the whole scene and write it as .ppm or .png.
 * Return: 0; -EINVAL: feature_px; else as image_write().
 */
int scene_write(const struct scene *s, const char *path) WIC_MUST_CHECK;

#endif /* WIC_APPS_C_SRS_SCENE_H */
