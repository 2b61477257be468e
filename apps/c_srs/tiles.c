/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/c_srs/tiles.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/c_srs/scene.h"
#include "apps/common/image.h"
#include "apps/common/parallel.h"
#include "lib/log.h"

static void tiles_init(struct tiles *t, uint32_t side)
{
	memset(t, 0, sizeof(*t));
	t->side = side;
	t->tile_bytes = (uint64_t)side * side * 3;
}

void tiles_fini(struct tiles *t)
{
	free(t->data);
	t->data = NULL;
	t->count = 0;
}

/* Room for @more tiles behind those that are there. */
static int tiles_grow(struct tiles *t, uint32_t more)
{
	uint64_t bytes = (t->count + (uint64_t)more) * t->tile_bytes;
	uint8_t *data;

	if (bytes > TILES_BYTES_MAX)
		return wic_fail(-EFBIG, "tiles: %llu bytes, at most %llu",
				(unsigned long long)bytes, (unsigned long long)TILES_BYTES_MAX);
	data = realloc(t->data, bytes);
	if (!data)
		return wic_fail(-ENOMEM, "tiles: no memory for %llu bytes",
				(unsigned long long)bytes);
	t->data = data;
	return 0;
}

/* @count interleaved pixels into row @row of a planar tile. */
static void split_row(const uint8_t *rgb, uint8_t *tile, uint32_t side, uint32_t row)
{
	uint64_t plane = (uint64_t)side * side, at = (uint64_t)row * side, x;

	for (x = 0; x < side; x++) {
		tile[at + x] = rgb[x * 3];
		tile[plane + at + x] = rgb[x * 3 + 1];
		tile[2 * plane + at + x] = rgb[x * 3 + 2];
	}
}

struct generate {
	struct tiles *t;
	struct scene scene;
	uint32_t columns; /* tiles side by side in the scene */
};

static int generate_tile(void *arg, uint32_t index)
{
	struct generate *g = arg;
	uint32_t side = g->t->side, row;
	uint32_t x = index % g->columns * side, y = index / g->columns * side;
	uint8_t rgb[SCENE_SPAN_MAX * 3];

	for (row = 0; row < side; row++) {
		scene_span(&g->scene, x, y + row, side, rgb);
		split_row(rgb, g->t->data + index * g->t->tile_bytes, side, row);
	}
	return 0;
}

int tiles_generate(struct tiles *t, uint32_t side, uint32_t count, uint64_t seed)
{
	struct generate g = { .t = t, .columns = 1 };
	int rc;

	tiles_init(t, side);
	rc = tiles_grow(t, count);
	if (rc)
		return rc;
	while (g.columns * g.columns < count)
		g.columns++;
	g.scene = (struct scene){ seed, g.columns * side, g.columns * side, side };
	t->count = count;
	return parallel_for(count, generate_tile, &g);
}

/* Cut @image; tiles that memory's bound leaves no room for are dropped, with a line. */
static int tiles_cut(struct tiles *t, const char *name, const struct image *image)
{
	uint32_t columns = image->width / t->side, rows = image->height / t->side, side = t->side;
	uint64_t room = TILES_BYTES_MAX / t->tile_bytes - t->count;
	uint32_t count = columns * rows, i, row;
	int rc;

	if (count > room) {
		wic_log(WIC_LOG_WARN, "%s: %u of %u tiles are used: memory is bounded", name,
			(uint32_t)room, count);
		count = (uint32_t)room;
	}
	if (!count)
		return 0;
	rc = tiles_grow(t, count);
	if (rc)
		return rc;
	for (i = 0; i < count; i++) {
		uint64_t x = (uint64_t)(i % columns) * side, y = (uint64_t)(i / columns) * side;
		uint8_t *tile = t->data + (t->count + (uint64_t)i) * t->tile_bytes;

		for (row = 0; row < side; row++)
			split_row(image->rgb + ((y + row) * image->width + x) * 3, tile, side, row);
	}
	t->count += count;
	return 0;
}

static int load_file(struct tiles *t, const char *path, bool is_in_directory)
{
	struct image image;
	int rc = image_read(path, &image);

	if (rc)
		return rc;
	if (image.width < t->side || image.height < t->side) {
		if (is_in_directory)
			wic_log(WIC_LOG_INFO, "%s: passed over: %u x %u pixels, a tile has %u x %u",
				path, image.width, image.height, t->side, t->side);
		else
			rc = wic_fail(-EINVAL, "%s: %u x %u pixels, a tile has %u x %u", path,
				      image.width, image.height, t->side, t->side);
	} else {
		rc = tiles_cut(t, path, &image);
	}
	image_fini(&image);
	return rc;
}

/* Does the file begin like an image?  What cannot be opened is: its error is told later. */
static bool looks_like_image(const char *path)
{
	uint8_t magic[8];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return true;
	n = read(fd, magic, sizeof(magic));
	close(fd);
	return n > 0 && image_is_known(magic, (size_t)n);
}

static int load_entry(struct tiles *t, const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (name[0] == '.')
		return 0;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return wic_fail(-ENAMETOOLONG, "%s/%s: path too long", directory, name);
	if (stat(path, &st))
		return wic_fail(-errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || !looks_like_image(path)) {
		wic_log(WIC_LOG_INFO, "%s: passed over: not an image", path);
		return 0;
	}
	return load_file(t, path, true);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_directory(struct tiles *t, const char *path)
{
	struct dirent **entry;
	int count = scandir(path, &entry, NULL, by_bytes), i, rc = 0;

	if (count < 0)
		return wic_fail(-errno, "%s: %s", path, strerror(errno));
	for (i = 0; i < count; i++) {
		if (!rc)
			rc = load_entry(t, path, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	if (!rc && !t->count)
		return wic_fail(-ENODATA, "%s: no image of at least %u x %u pixels in it", path,
				t->side, t->side);
	return rc;
}

int tiles_load(struct tiles *t, uint32_t side, const char *path)
{
	struct stat st;
	int rc;

	tiles_init(t, side);
	if (stat(path, &st))
		return wic_fail(-errno, "%s: %s", path, strerror(errno));
	rc = S_ISDIR(st.st_mode) ? load_directory(t, path) : load_file(t, path, false);
	if (rc)
		tiles_fini(t);
	return rc;
}
