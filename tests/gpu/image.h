/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The kernels as wic_launch() is given them, and their code: a fatbin, or what fakecuda runs. */
#ifndef WIC_TESTS_GPU_IMAGE_H
#define WIC_TESTS_GPU_IMAGE_H

#include <stdbool.h>

#include "tests/gpu/kernels.h"

#define GPU_DECLARE(name) void name(const void *args);
GPU_KERNELS(GPU_DECLARE)
GPU_KERNELS_OF_LANES(GPU_DECLARE)
#undef GPU_DECLARE

/* Whether this program runs over fakecuda, and whether it has code of a GPU. */
bool gpu_is_fake(void);
bool gpu_has_code(void);
/* Before a context is opened, and after fakecuda_reset(). */
void gpu_image_add(void);
/* Of a lot in dynamic shared memory. */
uint32_t gpu_lot_bytes(uint32_t warps);
/* Blocks of a device at the same time (fakecuda only). */
void gpu_set_resident_blocks(uint32_t blocks);
/* After the last context was closed: nothing was done wrong, nothing is left (fakecuda only). */
void gpu_check_driver(void);
void gpu_reset_driver(void);

#endif /* WIC_TESTS_GPU_IMAGE_H */
