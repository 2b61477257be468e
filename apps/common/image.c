/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/common/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"

static const uint8_t png_magic[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

static bool is_png(const uint8_t *bytes, size_t size)
{
	return size >= sizeof(png_magic) && !memcmp(bytes, png_magic, sizeof(png_magic));
}

static bool is_pnm(const uint8_t *bytes, size_t size)
{
	return size >= 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6';
}

bool image_is_known(const uint8_t *bytes, size_t size)
{
	return is_png(bytes, size) || is_pnm(bytes, size);
}

int image_decode(const char *name, const uint8_t *bytes, size_t size, struct image *image_out)
{
	if (is_png(bytes, size))
		return image_decode_png(name, bytes, size, image_out);
	if (is_pnm(bytes, size))
		return image_decode_pnm(name, bytes, size, image_out);
	return wic_fail(-EINVAL, "%s: not a PNM or PNG image (%zu bytes)", name, size);
}

void image_fini(struct image *image)
{
	free(image->rgb);
	image->rgb = NULL;
}

int image_check_size(const char *name, uint64_t width, uint64_t height)
{
	if (!width || !height)
		return wic_fail(-EINVAL, "%s: an image of %llu x %llu pixels", name,
				(unsigned long long)width, (unsigned long long)height);
	if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX || width * height > IMAGE_PIXELS_MAX)
		return wic_fail(-EFBIG, "%s: %llu x %llu pixels: at most %u a side, %u in all",
				name, (unsigned long long)width, (unsigned long long)height,
				IMAGE_SIDE_MAX, IMAGE_PIXELS_MAX);
	return 0;
}

int image_alloc(const char *name, uint32_t width, uint32_t height, struct image *image_out)
{
	size_t bytes = (size_t)width * height * 3;
	uint8_t *rgb = malloc(bytes);

	if (!rgb)
		return wic_fail(-ENOMEM, "%s: no memory for %zu bytes", name, bytes);
	*image_out = (struct image){ width, height, rgb };
	return 0;
}

/* All @size bytes; a file that got shorter meanwhile is an error. */
static int read_all(const char *path, int fd, uint8_t *bytes, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = read(fd, bytes + have, size - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return wic_fail(-errno, "%s: %s", path, strerror(errno));
		if (n == 0)
			return wic_fail(-EINVAL, "%s: ends at byte %zu of %zu", path, have, size);
		have += (size_t)n;
	}
	return 0;
}

static int read_open(const char *path, int fd, struct image *image_out)
{
	struct stat st;
	uint8_t *bytes;
	int rc;

	if (fstat(fd, &st))
		return wic_fail(-errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return wic_fail(-EINVAL, "%s: not a regular file", path);
	if (st.st_size == 0)
		return wic_fail(-EINVAL, "%s: empty", path);
	if ((uint64_t)st.st_size > IMAGE_FILE_BYTES_MAX)
		return wic_fail(-EFBIG, "%s: %lld bytes, at most %zu", path, (long long)st.st_size,
				IMAGE_FILE_BYTES_MAX);
	bytes = malloc((size_t)st.st_size);
	if (!bytes)
		return wic_fail(-ENOMEM, "%s: no memory for %lld bytes", path,
				(long long)st.st_size);
	rc = read_all(path, fd, bytes, (size_t)st.st_size);
	if (!rc)
		rc = image_decode(path, bytes, (size_t)st.st_size, image_out);
	free(bytes);
	return rc;
}

int image_read(const char *path, struct image *image_out)
{
	/* Not blocking: a FIFO must not hang us before fstat() has seen it. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	if (fd < 0)
		return wic_fail(-errno, "%s: %s", path, strerror(errno));
	rc = read_open(path, fd, image_out);
	close(fd);
	return rc;
}

static int write_ppm(const char *path, const struct image *image)
{
	size_t size = (size_t)image->width * image->height * 3;
	FILE *f = fopen(path, "wbe");
	bool ok;

	if (!f)
		return wic_fail(-errno, "%s: %s", path, strerror(errno));
	ok = fprintf(f, "P6\n%u %u\n255\n", image->width, image->height) > 0 &&
	     fwrite(image->rgb, 1, size, f) == size;
	/* What the disk refuses may be said only here. */
	if (fclose(f) || !ok)
		return wic_fail(errno ? -errno : -EIO, "%s: cannot be written: %s", path,
				strerror(errno));
	return 0;
}

int image_write(const char *path, const struct image *image)
{
	const char *dot = strrchr(path, '.');

	if (dot && !strcasecmp(dot, ".ppm"))
		return write_ppm(path, image);
	if (dot && !strcasecmp(dot, ".png"))
		return image_write_png(path, image);
	return wic_fail(-ENOTSUP, "%s: give a name that ends in .ppm or .png", path);
}
