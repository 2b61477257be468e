/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Scenes, cutting of images, directories, and what the application says to bad input. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/c_srs/c_srs.h"
#include "apps/c_srs/scene.h"
#include "apps/c_srs/tiles.h"
#include "apps/common/image.h"
#include "lib/log.h"
#include "tests/test.h"

static char dir[200];

static const char *in_dir(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void dir_make(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/wic-tiles-XXXXXX", tmp ? tmp : "/tmp");
	TEST_TRUE(mkdtemp(dir));
}

/* An image whose pixel (x, y) is {x, y, @mark}. */
static void put_image(const char *name, uint32_t width, uint32_t height, uint8_t mark)
{
	struct image image;
	uint32_t i;

	TEST_EQ(image_alloc("test", width, height, &image), 0);
	for (i = 0; i < width * height; i++) {
		image.rgb[i * 3] = (uint8_t)(i % width);
		image.rgb[i * 3 + 1] = (uint8_t)(i / width);
		image.rgb[i * 3 + 2] = mark;
	}
	TEST_EQ(image_write(in_dir(name), &image), 0);
	image_fini(&image);
}

static void put_bytes(const char *name, const char *bytes)
{
	FILE *f = fopen(in_dir(name), "wb");

	TEST_TRUE(f);
	TEST_EQ(fwrite(bytes, 1, strlen(bytes), f), strlen(bytes));
	TEST_EQ(fclose(f), 0);
}

static uint8_t tile_at(const struct tiles *t, uint32_t tile, uint32_t band, uint32_t x, uint32_t y)
{
	return t->data[tile * t->tile_bytes + ((uint64_t)band * t->side + y) * t->side + x];
}

static void scene_is_the_same_in_parts(void)
{
	struct scene s = { 5, 1000, 1000, 64 };
	static uint8_t whole[1000 * 3], part[1000 * 3];
	uint32_t x;

	scene_span(&s, 0, 77, 1000, whole);
	for (x = 0; x < 1000; x += 37) {
		uint32_t count = 1000 - x < 37 ? 1000 - x : 37;

		scene_span(&s, x, 77, count, part);
		TEST_EQ(memcmp(whole + x * 3, part, count * 3), 0);
	}
	s.seed = 6;
	scene_span(&s, 0, 77, 1000, part);
	TEST_TRUE(memcmp(whole, part, sizeof(whole)));
}

static void scene_written_is_what_is_generated(void)
{
	struct scene s = { 9, 128, 128, 64 };
	struct tiles made, loaded;

	dir_make();
	TEST_EQ(scene_write(&s, in_dir("s.ppm")), 0);
	TEST_EQ(tiles_generate(&made, 64, 4, 9), 0);
	TEST_EQ(tiles_load(&loaded, 64, in_dir("s.ppm")), 0);
	TEST_EQ(loaded.count, 4);
	TEST_EQ(memcmp(made.data, loaded.data, 4 * made.tile_bytes), 0);
	tiles_fini(&loaded);
	if (image_has_png()) {
		TEST_EQ(scene_write(&s, in_dir("s.png")), 0);
		TEST_EQ(tiles_load(&loaded, 64, in_dir("s.png")), 0);
		TEST_EQ(memcmp(made.data, loaded.data, 4 * made.tile_bytes), 0);
		tiles_fini(&loaded);
		unlink(in_dir("s.png"));
	}
	tiles_fini(&made);
	s.feature_px = 100;
	TEST_EQ(scene_write(&s, in_dir("s.ppm")), -EINVAL);
	s.feature_px = 64;
	s.width = 100000;
	TEST_EQ(scene_write(&s, in_dir("s.ppm")), -EFBIG);
	unlink(in_dir("s.ppm"));
	rmdir(dir);
}

static void tiles_cut_drops_the_rest(void)
{
	struct tiles t;

	dir_make();
	put_image("a.ppm", 150, 200, 7);
	TEST_EQ(tiles_load(&t, 64, in_dir("a.ppm")), 0);
	TEST_EQ(t.count, 2 * 3);
	TEST_EQ(tile_at(&t, 0, 0, 0, 0), 0);
	TEST_EQ(tile_at(&t, 1, 0, 5, 0), 64 + 5);
	TEST_EQ(tile_at(&t, 5, 0, 63, 63), 127);
	TEST_EQ(tile_at(&t, 5, 1, 0, 63), 191);
	TEST_EQ(tile_at(&t, 3, 2, 9, 9), 7);
	tiles_fini(&t);
	TEST_EQ(tiles_load(&t, 256, in_dir("a.ppm")), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "150 x 200 pixels, a tile has 256 x 256");
	unlink(in_dir("a.ppm"));
	rmdir(dir);
}

static void tiles_directory_in_order(void)
{
	struct tiles t;

	dir_make();
	TEST_EQ(tiles_load(&t, 64, dir), -ENODATA);
	TEST_STR_HAS(wic_last_error(), "no image of at least 64 x 64");
	put_image("10.ppm", 64, 64, 3);
	put_image("02.ppm", 128, 64, 2);
	put_image("small.ppm", 10, 10, 9);
	put_image(".hidden.ppm", 64, 64, 9);
	put_bytes("notes.txt", "not an image");
	put_bytes("empty", "");
	TEST_EQ(mkdir(in_dir("sub.ppm"), 0700), 0);
	TEST_EQ(tiles_load(&t, 64, dir), 0);
	TEST_EQ(t.count, 3);
	TEST_EQ(tile_at(&t, 0, 2, 0, 0), 2);
	TEST_EQ(tile_at(&t, 1, 2, 0, 0), 2);
	TEST_EQ(tile_at(&t, 2, 2, 0, 0), 3);
	tiles_fini(&t);

	put_bytes("05.ppm", "P6 64 64 255\ntruncated");
	TEST_EQ(tiles_load(&t, 64, dir), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "05.ppm: truncated");
	unlink(in_dir("05.ppm"));
	TEST_EQ(symlink("nowhere", in_dir("07.ppm")), 0);
	TEST_EQ(tiles_load(&t, 64, dir), -ENOENT);
	unlink(in_dir("07.ppm"));
	unlink(in_dir("10.ppm"));
	unlink(in_dir("02.ppm"));
	unlink(in_dir("small.ppm"));
	unlink(in_dir(".hidden.ppm"));
	unlink(in_dir("notes.txt"));
	unlink(in_dir("empty"));
	rmdir(in_dir("sub.ppm"));
	TEST_EQ(rmdir(dir), 0);
	TEST_EQ(tiles_load(&t, 64, dir), -ENOENT);
}

static int open_with(const struct app_params *p, struct app_shape *shape_out)
{
	struct app *app;
	int rc = app_c_srs.open(p, &app);

	if (rc)
		return rc;
	*shape_out = *app_c_srs.shape(app);
	TEST_TRUE(app_c_srs.describe(app)[0]);
	app_c_srs.close(app);
	return 0;
}

static void app_shapes(void)
{
	struct app_params p = { .size = APP_TINY, .sms = 2, .sm_blocks = 8, .sm_warps = 64 };
	struct app_shape s;

	TEST_EQ(open_with(&p, &s), 0);
	TEST_EQ(s.grid_blocks, 16);
	TEST_EQ(s.block_threads, 256);
	TEST_EQ(s.readers, 8);
	TEST_EQ(s.tags, 64);
	TEST_EQ(s.bytes_per_tag, 3 * 64 * 64);
	TEST_EQ(s.pool_pages_min, 2 * 3 * (3 * 16 + 2));
	p.sms = 15;
	TEST_EQ(open_with(&p, &s), 0);
	TEST_EQ(s.tags, 4 * 120);
	p.tags = 1000;
	TEST_EQ(open_with(&p, &s), 0);
	TEST_EQ(s.tags, 1000);
	p.tags = 0;
	p.threads = 64;
	TEST_EQ(open_with(&p, &s), 0);
	TEST_EQ(s.grid_blocks, 1);
	TEST_EQ(s.block_threads, 64);
	TEST_EQ(s.tags, 64);
	p.threads = 1;
	TEST_EQ(open_with(&p, &s), 0);
	TEST_EQ(s.block_threads, 32);
	p.threads = 1u << 20;
	TEST_EQ(open_with(&p, &s), 0);
	TEST_EQ(s.grid_blocks, 4096);
	TEST_EQ(s.tags, 4096);
	p.threads = 0;
	p.side_percent = 1;
	TEST_EQ(open_with(&p, &s), 0);
	TEST_EQ(s.bytes_per_tag, 3 * 64 * 64);
	p.side_percent = 0;
	p.sm_warps = 3;
	p.sm_blocks = 8;
	TEST_EQ(open_with(&p, &s), 0);
	TEST_EQ(s.block_threads, 32);
}

static void app_bad_params(void)
{
	struct app_params p = { .size = APP_TINY, .sms = 1, .sm_blocks = 8, .sm_warps = 64 };
	struct app_shape s;

	p.sms = 0;
	TEST_EQ(open_with(&p, &s), -EINVAL);
	p.sms = 1;
	p.size = (enum app_size)17;
	TEST_EQ(open_with(&p, &s), -EINVAL);
	p.size = APP_TINY;
	p.side_percent = 101;
	TEST_EQ(open_with(&p, &s), -EINVAL);
	p.side_percent = 0;
	p.tags = UINT32_MAX;
	TEST_EQ(open_with(&p, &s), -EINVAL);
	p.tags = 0;
	p.input = "/nonexistent";
	TEST_EQ(open_with(&p, &s), -ENOENT);
	p.input = "";
	TEST_EQ(open_with(&p, &s), -ENOENT);
}

static void app_uses_few_tiles_again(void)
{
	struct app_params p = { .size = APP_TINY, .sms = 1, .sm_blocks = 8, .sm_warps = 64 };
	struct app *app;
	uint8_t *buffer = malloc(3 * 64 * 64);

	TEST_TRUE(buffer);
	dir_make();
	put_image("a.ppm", 128, 64, 40);
	p.input = in_dir("a.ppm");
	TEST_EQ(app_c_srs.open(&p, &app), 0);
	TEST_STR_HAS(app_c_srs.describe(app), "2 tiles of 64 x 64 from ");
	TEST_STR_HAS(app_c_srs.describe(app), "used again and again");
	TEST_EQ(app_c_srs.shape(app)->tags, 64);
	app_c_srs.produce(app, 63, 1, buffer);
	TEST_EQ(buffer[0], 64);
	TEST_EQ(buffer[2 * 64 * 64], 40);
	app_c_srs.produce(app, 63, 2, buffer);
	TEST_EQ(buffer[0], 65);
	app_c_srs.close(app);
	free(buffer);
	unlink(in_dir("a.ppm"));
	rmdir(dir);
}

static void quiet(void *arg, int level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(scene_is_the_same_in_parts),
		TEST(scene_written_is_what_is_generated),
		TEST(tiles_cut_drops_the_rest),
		TEST(tiles_directory_in_order),
		TEST(app_shapes),
		TEST(app_bad_params),
		TEST(app_uses_few_tiles_again),
		{ 0 },
	};

	wic_log_set(quiet, NULL);
	return test_main(argc, argv, tests);
}
