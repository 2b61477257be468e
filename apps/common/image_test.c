/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Images good and bad; every truncation of each kind; random damage. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/common/image.h"
#include "apps/common/image_test_png.h"
#include "lib/log.h"
#include "tests/test.h"

/* Exactly @size bytes on the heap, so that ASan sees a read beyond them. */
static int decode(const void *bytes, size_t size, struct image *image_out)
{
	uint8_t *copy = malloc(size ? size : 1);
	int rc;

	TEST_TRUE(copy);
	memcpy(copy, bytes, size);
	rc = image_decode("test", copy, size, image_out);
	free(copy);
	return rc;
}

static int decode_text(const char *text, struct image *image_out)
{
	return decode(text, strlen(text), image_out);
}

static void pnm_rgb(void)
{
	struct image image;

	TEST_EQ(decode_text("P6\n# a comment\n2 #another\n1\n255\nabcdef", &image), 0);
	TEST_EQ(image.width, 2);
	TEST_EQ(image.height, 1);
	TEST_EQ(memcmp(image.rgb, "abcdef", 6), 0);
	image_fini(&image);
	/* More images may follow: left alone. */
	TEST_EQ(decode_text("P6 1 1 255\nabcP6 1 1", &image), 0);
	image_fini(&image);
}

static void pnm_gray(void)
{
	static const uint8_t want[] = { 0, 0, 0, 128, 128, 128, 255, 255, 255 };
	static const uint8_t file[] = { 'P', '5', ' ', '3', '\t', '1', '\n', '4', '\n', 0, 2, 4 };
	struct image image;

	TEST_EQ(decode(file, sizeof(file), &image), 0);
	TEST_EQ(memcmp(image.rgb, want, sizeof(want)), 0);
	image_fini(&image);
}

static void pnm_bad(void)
{
	static const struct {
		const char *text;
		int rc;
		const char *why;
	} bad[] = {
		{ "", -EINVAL, "not a PNM or PNG" },
		{ "P", -EINVAL, "not a PNM or PNG" },
		{ "hello, world", -EINVAL, "not a PNM or PNG" },
		{ "P7\n", -EINVAL, "not a PNM or PNG" },
		{ "P3\n1 1 255\n1 2 3\n", -ENOTSUP, "only P5 and P6" },
		{ "P6\n", -EINVAL, "no width" },
		{ "P6\n#1 1 255\nabc", -EINVAL, "no width" },
		{ "P6 7 abc", -EINVAL, "no height" },
		{ "P6 x", -EINVAL, "no width" },
		{ "P6 -1 1 255\nabc", -EINVAL, "no width" },
		{ "P6 1 1", -EINVAL, "no maxval" },
		{ "P6 1 1 255", -EINVAL, "no white space" },
		{ "P6 1 1 255x", -EINVAL, "no white space" },
		{ "P6 1 1 0\nabc", -EINVAL, "maxval 0" },
		{ "P6 1 1 65536\nabc", -EINVAL, "maxval 65536" },
		{ "P6 1 1 65535\nabcdef", -ENOTSUP, "16-bit" },
		{ "P6 1 1 97\nabc", -EINVAL, "is 98, maxval 97" },
		{ "P6 0 5 255\n", -EINVAL, "0 x 5" },
		{ "P6 5 0 255\n", -EINVAL, "5 x 0" },
		{ "P6 1 2 255\nabcde", -EINVAL, "truncated: 5 of 6" },
		{ "P6 60000 4000 255\nabc", -EINVAL, "truncated: 3 of 720000000" },
		{ "P6 100000 1 255\nabc", -EFBIG, "100000 x 1" },
		{ "P6 50000 20000 255\nabc", -EFBIG, "50000 x 20000" },
		{ "P6 999999999 999999999 255\nabc", -EFBIG, "999999999" },
		{ "P6 4294967297 1 255\nabc", -EFBIG, "ten digits" },
		{ "P6 00000000000000000001 1 255\nabc", -EFBIG, "ten digits" },
	};
	struct image image = { 1, 2, NULL };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		TEST_EQ(decode_text(bad[i].text, &image), bad[i].rc);
		TEST_STR_HAS(wic_last_error(), bad[i].why);
		TEST_TRUE(!image.rgb && image.width == 1);
	}
}

static void make_image(struct image *image, uint32_t width, uint32_t height)
{
	uint64_t seed = width * 1000 + height + 1, i;

	TEST_EQ(image_alloc("test", width, height, image), 0);
	for (i = 0; i < (uint64_t)width * height * 3; i++)
		image->rgb[i] = (uint8_t)(i % 7 ? i / 5 : test_random(&seed));
}

static void path_of(char *path, size_t bytes, const char *name)
{
	const char *dir = getenv("TMPDIR");

	snprintf(path, bytes, "%s/wic-image-%d-%s", dir ? dir : "/tmp", (int)getpid(), name);
}

static size_t slurp(const char *path, uint8_t *bytes, size_t max)
{
	FILE *f = fopen(path, "rb");
	size_t size;

	TEST_TRUE(f);
	size = fread(bytes, 1, max, f);
	fclose(f);
	TEST_TRUE(size < max);
	return size;
}

/* Writes @name, reads it back, then tries every shorter length and random damage. */
static void round_trip(const char *name)
{
	static uint8_t file[1 << 16];
	struct image image, back;
	uint64_t seed = 11;
	char path[256];
	size_t size, i;

	path_of(path, sizeof(path), name);
	make_image(&image, 13, 9);
	TEST_EQ(image_write(path, &image), 0);
	TEST_EQ(image_read(path, &back), 0);
	TEST_EQ(back.width, 13);
	TEST_EQ(back.height, 9);
	TEST_EQ(memcmp(image.rgb, back.rgb, 13 * 9 * 3), 0);
	image_fini(&back);
	size = slurp(path, file, sizeof(file));
	unlink(path);
	for (i = 0; i < size; i++) {
		int rc = decode(file, i, &back);

		/* Only bytes after the pixels (PNG's last chunk) may be missing. */
		if (rc == 0) {
			TEST_TRUE(i + 24 > size);
			TEST_EQ(memcmp(image.rgb, back.rgb, 13 * 9 * 3), 0);
			image_fini(&back);
		} else {
			TEST_TRUE(rc == -EINVAL);
		}
	}
	for (i = 0; i < 3000; i++) {
		size_t at = test_random(&seed) % size;
		uint8_t kept = file[at];

		file[at] = (uint8_t)test_random(&seed);
		if (decode(file, size, &back) == 0)
			image_fini(&back);
		file[at] = kept;
	}
	image_fini(&image);
}

static void ppm_truncated_and_damaged(void)
{
	round_trip("a.ppm");
}

static void png_truncated_and_damaged(void)
{
	if (!image_has_png()) {
		test_skip("built without libpng");
		return;
	}
	round_trip("a.png");
}

/* A real header of 60,000 x 4,000 pixels before nothing: refused before memory is taken. */
static void png_claims_more_than_it_has(void)
{
	static const uint8_t huge[] = {
		0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0,    0, 0,    13,
		'I',  'H', 'D', 'R', 0,    0,    0xea, 0x60, 0,    0, 0x0f, 0xa0,
		8,    2,   0,   0,   0,    0x4f, 0xc0, 0x75, 0x11, 0, 0,    0,
		0,    'I', 'D', 'A', 'T',  0x35, 0xaf, 6,    0x1e,
	};
	struct image image;
	int rc;

	if (!image_has_png()) {
		TEST_EQ(decode(huge, sizeof(huge), &image), -ENOTSUP);
		TEST_STR_HAS(wic_last_error(), "libpng");
		return;
	}
	rc = decode(huge, sizeof(huge), &image);
	TEST_EQ(rc, -EINVAL);
}

/* 8-bit gray, gray+alpha, palette, RGBA and 16-bit RGB, 2 x 1, made by another program. */
static void png_kinds(void)
{
	size_t i;

	if (!image_has_png()) {
		test_skip("built without libpng");
		return;
	}
	for (i = 0; i < sizeof(png_kind) / sizeof(png_kind[0]); i++) {
		struct image image;

		TEST_EQ(decode(png_kind[i].bytes, png_kind[i].size, &image), 0);
		TEST_EQ(image.width, 2);
		TEST_EQ(image.height, 1);
		TEST_EQ(memcmp(image.rgb, png_kind[i].rgb, 6), 0);
		image_fini(&image);
	}
}

static void paths_bad(void)
{
	char path[256];
	struct image image;
	FILE *f;

	path_of(path, sizeof(path), "bad");
	TEST_EQ(image_read(path, &image), -ENOENT);
	TEST_STR_HAS(wic_last_error(), "No such file");
	TEST_EQ(image_read("/", &image), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "not a regular file");
	TEST_EQ(image_read("/dev/zero", &image), -EINVAL);
	TEST_EQ(mkfifo(path, 0600), 0);
	TEST_EQ(image_read(path, &image), -EINVAL);
	unlink(path);

	f = fopen(path, "wb");
	TEST_TRUE(f);
	fclose(f);
	TEST_EQ(image_read(path, &image), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "empty");
	TEST_EQ(truncate(path, (off_t)IMAGE_FILE_BYTES_MAX + 1), 0);
	TEST_EQ(image_read(path, &image), -EFBIG);
	TEST_EQ(chmod(path, 0), 0);
	if (geteuid())
		TEST_EQ(image_read(path, &image), -EACCES);
	unlink(path);
}

static void write_bad(void)
{
	struct image image;

	make_image(&image, 2, 2);
	TEST_EQ(image_write("/nonexistent/a.ppm", &image), -ENOENT);
	TEST_EQ(image_write("/nonexistent/a.PPM", &image), -ENOENT);
	TEST_EQ(image_write("a.jpg", &image), -ENOTSUP);
	TEST_EQ(image_write("noname", &image), -ENOTSUP);
	if (image_has_png())
		TEST_TRUE(image_write("/nonexistent/a.png", &image) < 0);
	if (access("/dev/full", W_OK) == 0 && symlink("/dev/full", "/tmp/wic-full.ppm") == 0) {
		TEST_EQ(image_write("/tmp/wic-full.ppm", &image), -ENOSPC);
		unlink("/tmp/wic-full.ppm");
	}
	image_fini(&image);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(pnm_rgb),
		TEST(pnm_gray),
		TEST(pnm_bad),
		TEST(ppm_truncated_and_damaged),
		TEST(png_truncated_and_damaged),
		TEST(png_claims_more_than_it_has),
		TEST(png_kinds),
		TEST(paths_bad),
		TEST(write_bad),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
