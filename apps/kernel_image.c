/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The GPU code of one kernel of one method, compiled once for each beside the kernel itself:
 * WIC_IMAGE_KERNEL is its name, WIC_IMAGE_FILE the fatbin; not defined: this build has no nvcc.
 */
#include "lib/kernel_image.h"

#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)
#define NAME_(kernel, what) kernel##what
#define NAME(kernel, what) NAME_(kernel, what)

void WIC_IMAGE_KERNEL(const void *args);
extern struct wic_kernel_image NAME(WIC_IMAGE_KERNEL, _image);

#ifdef WIC_IMAGE_FILE
#define INCLUDE(symbol, file) WIC_IMAGE_INCLUDE(symbol, file)
INCLUDE(NAME(WIC_IMAGE_KERNEL, _fatbin), WIC_IMAGE_FILE);
#define IMAGE NAME(WIC_IMAGE_KERNEL, _fatbin)
#else
#define IMAGE NULL
#endif

static const struct wic_kernel_entry entries[] = {
	{ WIC_IMAGE_KERNEL, TEXT(WIC_IMAGE_KERNEL) },
	{ NULL, NULL },
};

struct wic_kernel_image NAME(WIC_IMAGE_KERNEL, _image) = { IMAGE, entries, NULL, NULL };
