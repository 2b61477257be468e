/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* In place of image_png.c where libpng was not found. */
#include "apps/common/image.h"
#include "lib/log.h"

bool image_has_png(void)
{
	return false;
}

int image_decode_png(const char *name, const uint8_t *bytes, size_t size, struct image *image_out)
{
	(void)bytes;
	(void)size;
	(void)image_out;
	return wic_fail(-ENOTSUP, "%s: PNG: this build has no libpng; convert it to PPM", name);
}

int image_write_png(const char *path, const struct image *image)
{
	(void)image;
	return wic_fail(-ENOTSUP, "%s: PNG: this build has no libpng; write a .ppm", path);
}
