/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * GPU code of kernels that wic_launch() is given by their host function.
 *
 * A program's kernels are compiled by nvcc to an image (a fatbin), which it carries in itself,
 * and by the C compiler to functions for the cpu back-end.  The latter's addresses name a kernel
 * everywhere; an image says by which name the former is found in it.  What registers
 * an image owns it, and it is constant from then on, to the end of the process.
 */
#ifndef WIC_LIB_KERNEL_IMAGE_H
#define WIC_LIB_KERNEL_IMAGE_H

#include <stddef.h>

/* Makes @symbol the bytes of @file; the driver reads a fatbin in place, 8 bytes aligned. */
#define WIC_IMAGE_INCLUDE(symbol, file)      \
	__asm__(".pushsection .rodata\n"     \
		".balign 64\n" #symbol ":\n" \
		".incbin \"" file "\"\n"     \
		".popsection\n");            \
	extern const unsigned char symbol[]

struct wic_kernel_entry {
	void (*kernel)(const void *args); /* NULL: the end */
	const char *name;                 /* in the image */
};

struct wic_kernel_image {
	const void *image; /* a fatbin; NULL: this build has none (no nvcc) */
	const struct wic_kernel_entry *entries;
	struct wic_kernel_image *next; /* the list's */
	const void *image_sleep;       /* for WIC_PARK=sleep; NULL: none */
};

/* Any thread; once or many times. */
void wic_kernel_image_add(struct wic_kernel_image *image);
/* The image after @image; NULL: the first, or there is none more.  Any thread. */
const struct wic_kernel_image *wic_kernel_image_next(const struct wic_kernel_image *image);
/* Which has the kernel, and its name there; NULL: none has.  Any thread. */
const struct wic_kernel_image *wic_kernel_image_find(void (*kernel)(const void *args),
						     const char **name_out);

#endif /* WIC_LIB_KERNEL_IMAGE_H */
