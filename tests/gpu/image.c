// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tests/gpu/image.h"

#include <stdio.h>
#include <stdlib.h>

#include <wic/tree.h>

#include "lib/kernel_image.h"

#define GPU_DEFINE(name)            \
	void name(const void *args) \
	{                           \
		(void)args;         \
	}
GPU_KERNELS(GPU_DEFINE)
GPU_KERNELS_OF_LANES(GPU_DEFINE)

#define GPU_ENTRY(name) { name, #name },

#ifdef GPU_OVER_FAKECUDA
#include "tests/fakecuda/fakecuda.h"

static const struct wic_kernel_entry entries[] = { GPU_KERNELS(GPU_ENTRY){ NULL, NULL } };

#define GPU_LINE(name) #name "\n"
static struct wic_kernel_image image = { FAKECUDA_IMAGE GPU_KERNELS(GPU_LINE), entries, NULL,
					 NULL };

#define GPU_RUN(name) void name##_run(void *arg0, uint32_t block, uint32_t warp, uint32_t warps);
GPU_KERNELS(GPU_RUN)

#define GPU_REGISTER(name) fakecuda_kernel(#name, sizeof(struct gpu_args), name##_run);
void gpu_image_add(void)
{
	GPU_KERNELS(GPU_REGISTER)
	wic_kernel_image_add(&image);
}

bool gpu_is_fake(void)
{
	return true;
}

void gpu_set_resident_blocks(uint32_t blocks)
{
	fakecuda_set_resident_blocks(blocks);
}

/* Joins its threads too. */
void gpu_reset_driver(void)
{
	fakecuda_reset();
}

void gpu_check_driver(void)
{
	char text[4096] = "";
	int findings = fakecuda_check(text, sizeof(text));

	gpu_reset_driver();
	if (!findings)
		return;
	fprintf(stderr, "fakecuda_check() says:\n%s", text);
	exit(1);
}
#else
#ifdef GPU_IMAGE_FILE
WIC_IMAGE_INCLUDE(gpu_fatbin, GPU_IMAGE_FILE);
WIC_IMAGE_INCLUDE(gpu_fatbin_sleep, GPU_IMAGE_SLEEP_FILE);
#define IMAGE gpu_fatbin
#define IMAGE_SLEEP gpu_fatbin_sleep
#else
#define IMAGE NULL
#define IMAGE_SLEEP NULL
#endif

static const struct wic_kernel_entry entries[] = { GPU_KERNELS(GPU_ENTRY) GPU_KERNELS_OF_LANES(
	GPU_ENTRY){ NULL, NULL } };
static struct wic_kernel_image image = { IMAGE, entries, NULL, IMAGE_SLEEP };

void gpu_image_add(void)
{
	wic_kernel_image_add(&image);
}

bool gpu_is_fake(void)
{
	return false;
}

void gpu_set_resident_blocks(uint32_t blocks)
{
	(void)blocks;
}

void gpu_reset_driver(void)
{
}

void gpu_check_driver(void)
{
}
#endif

bool gpu_has_code(void)
{
	return image.image;
}

uint32_t gpu_lot_bytes(uint32_t warps)
{
	return (uint32_t)WIC_LOT_BYTES(warps);
}
