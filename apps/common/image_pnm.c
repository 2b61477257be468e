/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Raw PNM: "P6" (RGB) or "P5" (gray), then width, height and maxval in decimal
 * with white space and #-comments between, one white space, then the pixels.
 * What follows them (the format allows more images) is left alone.
 */
#include <string.h>

#include "apps/common/image.h"
#include "lib/log.h"

struct cursor {
	const char *name;
	const uint8_t *bytes;
	size_t size;
	size_t at;
};

static bool is_space(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static void skip_space(struct cursor *c)
{
	while (c->at < c->size && (is_space(c->bytes[c->at]) || c->bytes[c->at] == '#')) {
		if (c->bytes[c->at] == '#')
			while (c->at < c->size && c->bytes[c->at] != '\n')
				c->at++;
		else
			c->at++;
	}
}

/* A number of at most nine digits, so that it cannot overflow. */
static int read_number(struct cursor *c, const char *what, uint32_t *value_out)
{
	uint32_t value = 0, digits = 0;

	skip_space(c);
	while (c->at < c->size && is_digit(c->bytes[c->at]) && digits < 10) {
		value = value * 10 + (uint32_t)(c->bytes[c->at++] - '0');
		digits++;
	}
	if (!digits)
		return wic_fail(-EINVAL, "%s: no %s at byte %zu of %zu", c->name, what, c->at,
				c->size);
	if (digits > 9)
		return wic_fail(-EFBIG, "%s: %s has ten digits or more", c->name, what);
	*value_out = value;
	return 0;
}

static int read_header(struct cursor *c, uint32_t *width, uint32_t *height, uint32_t *maxval)
{
	int rc = read_number(c, "width", width);

	if (!rc)
		rc = read_number(c, "height", height);
	if (!rc)
		rc = read_number(c, "maxval", maxval);
	if (rc)
		return rc;
	if (c->at >= c->size || !is_space(c->bytes[c->at]))
		return wic_fail(-EINVAL, "%s: no white space after maxval", c->name);
	c->at++;
	if (*maxval == 0 || *maxval > 65535)
		return wic_fail(-EINVAL, "%s: maxval %u", c->name, *maxval);
	if (*maxval > 255)
		return wic_fail(-ENOTSUP, "%s: maxval %u: 16-bit PNM is not read", c->name,
				*maxval);
	return image_check_size(c->name, *width, *height);
}

static int read_pixels(const struct cursor *c, uint32_t bands, uint32_t maxval,
		       const struct image *image)
{
	const uint8_t *from = c->bytes + c->at;
	size_t count = (size_t)image->width * image->height, i, band;

	for (i = 0; i < count; i++) {
		for (band = 0; band < 3; band++) {
			uint32_t v = bands == 3 ? from[i * 3 + band] : from[i];

			if (v > maxval)
				return wic_fail(-EINVAL, "%s: pixel %zu is %u, maxval %u", c->name,
						i, v, maxval);
			image->rgb[i * 3 + band] = (uint8_t)((v * 255 + maxval / 2) / maxval);
		}
	}
	return 0;
}

int image_decode_pnm(const char *name, const uint8_t *bytes, size_t size, struct image *image_out)
{
	struct cursor c = { name, bytes, size, 2 };
	uint32_t width, height, maxval, bands = bytes[1] == '6' ? 3 : 1;
	struct image image;
	uint64_t need;
	int rc;

	if (bytes[1] != '5' && bytes[1] != '6')
		return wic_fail(-ENOTSUP, "%s: P%c: only P5 and P6 are read", name, bytes[1]);
	rc = read_header(&c, &width, &height, &maxval);
	if (rc)
		return rc;
	need = (uint64_t)width * height * bands;
	if (need > size - c.at)
		return wic_fail(-EINVAL, "%s: truncated: %zu of %llu bytes of pixels", name,
				size - c.at, (unsigned long long)need);
	rc = image_alloc(name, width, height, &image);
	if (rc)
		return rc;
	rc = read_pixels(&c, bands, maxval, &image);
	if (rc) {
		image_fini(&image);
		return rc;
	}
	*image_out = image;
	return 0;
}
