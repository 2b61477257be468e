/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * 8-bit RGB images from files: PNM (P5, P6) always, PNG where libpng was found.
 *
 * Gray becomes r = g = b; palettes are looked up; alpha is dropped; 16-bit PNG is
 * scaled to 8 bits; a PNM maxval below 255 is scaled up.  A file is believed only
 * as far as its own length allows: what a header claims is checked against the
 * limits and against the bytes that are there before anything is allocated.
 *
 * Errors, each with a text in wic_last_error(): -EINVAL not an image, malformed
 * or truncated; -EFBIG over the limits below; -ENOTSUP a kind that is not read
 * here (ASCII or 16-bit PNM, PNG without libpng); -ENOMEM; and what open(2) and
 * read(2) give for a path.  Nothing is owned after an error.
 */
#ifndef WIC_APPS_COMMON_IMAGE_H
#define WIC_APPS_COMMON_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wic/error.h>

#define IMAGE_SIDE_MAX 65536u
#define IMAGE_PIXELS_MAX (1u << 28)
#define IMAGE_FILE_BYTES_MAX ((size_t)1 << 30)

struct image {
	uint32_t width;
	uint32_t height;
	uint8_t *rgb; /* owned: width * height * 3 bytes, rows from the top */
};

/* @name is for messages. */
int image_decode(const char *name, const uint8_t *bytes, size_t size,
		 struct image *image_out) WIC_MUST_CHECK;
int image_read(const char *path, struct image *image_out) WIC_MUST_CHECK;
void image_fini(struct image *image);

/* Does it begin like a file that this module knows, readable or not? */
bool image_is_known(const uint8_t *bytes, size_t size);
/* By its name: .ppm or .png (-ENOTSUP: other names, PNG without libpng). */
int image_write(const char *path, const struct image *image) WIC_MUST_CHECK;
bool image_has_png(void);

/* Between the files of this module. */
int image_check_size(const char *name, uint64_t width, uint64_t height) WIC_MUST_CHECK;
int image_alloc(const char *name, uint32_t width, uint32_t height,
		struct image *image_out) WIC_MUST_CHECK;
int image_decode_pnm(const char *name, const uint8_t *bytes, size_t size,
		     struct image *image_out) WIC_MUST_CHECK;
int image_decode_png(const char *name, const uint8_t *bytes, size_t size,
		     struct image *image_out) WIC_MUST_CHECK;
int image_write_png(const char *path, const struct image *image) WIC_MUST_CHECK;

#endif /* WIC_APPS_COMMON_IMAGE_H */
