/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The distinct tiles of a run, planar, in memory before the timed loop starts:
 * cut from images, or from a synthetic scene.
 *
 * An image is cut from its top left corner, row after row; what is left over at
 * its right and lower edge is dropped.  A directory's files are taken in the order
 * of their names (bytes); names that begin with a dot, folders, files that are not
 * images and images smaller than a tile are passed over with a line in the log; a
 * broken image is an error.
 */
#ifndef WIC_APPS_C_SRS_TILES_H
#define WIC_APPS_C_SRS_TILES_H

#include <stdint.h>

#include <wic/error.h>

#define TILES_BYTES_MAX ((uint64_t)1 << 31)

struct tiles {
	uint8_t *data;       /* owned: count * tile_bytes */
	uint64_t tile_bytes; /* 3 * side * side */
	uint32_t count;
	uint32_t side;
};

/* @count tiles of a scene.  0; -ENOMEM; -EFBIG: over TILES_BYTES_MAX. */
int tiles_generate(struct tiles *t, uint32_t side, uint32_t count, uint64_t seed) WIC_MUST_CHECK;
/*
 * All tiles that a file or directory gives, as many as TILES_BYTES_MAX holds.
 * 0; -ENODATA: a directory without a tile; -EINVAL: a file smaller than a tile; as
 * image_read().
 */
int tiles_load(struct tiles *t, uint32_t side, const char *path) WIC_MUST_CHECK;
void tiles_fini(struct tiles *t);

#endif /* WIC_APPS_C_SRS_TILES_H */
