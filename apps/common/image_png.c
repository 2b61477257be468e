/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* PNG through libpng's simplified interface, which needs no setjmp() from us. */
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/image.h"
#include "lib/log.h"

/* Deflate makes at most 1,032 bytes of one (zlib's technical notes). */
#define PNG_DEFLATE_RATIO_MAX 1032u

bool image_has_png(void)
{
	return true;
}

/* r g b a to r g b, in place: each pixel moves to the left. */
static void drop_alpha(uint8_t *pixels, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		memmove(pixels + i * 3, pixels + i * 4, 3);
}

static int decode_begun(const char *name, png_image *png, size_t size, struct image *image_out)
{
	bool has_alpha = png->format & PNG_FORMAT_FLAG_ALPHA;
	size_t count = (size_t)png->width * png->height;
	uint8_t *pixels;
	int rc;

	rc = image_check_size(name, png->width, png->height);
	if (rc)
		return rc;
	/* 1 bit a pixel is the least that a PNG can hold. */
	if (count / 8 / PNG_DEFLATE_RATIO_MAX > size)
		return wic_fail(-EINVAL, "%s: %zu bytes cannot hold %u x %u pixels", name, size,
				png->width, png->height);
	png->format = has_alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
	/* 16-bit samples are taken as they are, not as linear light. */
	png->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
	pixels = malloc(count * (has_alpha ? 4 : 3));
	if (!pixels)
		return wic_fail(-ENOMEM, "%s: no memory for %zu pixels", name, count);
	if (!png_image_finish_read(png, NULL, pixels, 0, NULL)) {
		free(pixels);
		return wic_fail(-EINVAL, "%s: %s", name, png->message);
	}
	if (has_alpha)
		drop_alpha(pixels, count);
	*image_out = (struct image){ png->width, png->height, pixels };
	return 0;
}

int image_decode_png(const char *name, const uint8_t *bytes, size_t size, struct image *image_out)
{
	png_image png;
	int rc;

	memset(&png, 0, sizeof(png));
	png.version = PNG_IMAGE_VERSION;
	if (!png_image_begin_read_from_memory(&png, bytes, size))
		return wic_fail(-EINVAL, "%s: %s", name, png.message);
	rc = decode_begun(name, &png, size, image_out);
	png_image_free(&png);
	return rc;
}

int image_write_png(const char *path, const struct image *image)
{
	png_image png;

	memset(&png, 0, sizeof(png));
	png.version = PNG_IMAGE_VERSION;
	png.width = image->width;
	png.height = image->height;
	png.format = PNG_FORMAT_RGB;
	if (!png_image_write_to_file(&png, path, 0, image->rgb, 0, NULL))
		return wic_fail(-EIO, "%s: %s", path, png.message);
	return 0;
}
