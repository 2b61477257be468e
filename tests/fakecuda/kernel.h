/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What a launch has to know of a kernel and a function.  Under fake.lock, all of it.
 */
#ifndef WIC_TESTS_FAKECUDA_KERNEL_H
#define WIC_TESTS_FAKECUDA_KERNEL_H

#include "tests/fakecuda/fake.h"

#define FAKE_FUNCTION_ATTRIBUTES 16

struct kernel {
	char name[64];
	size_t arg_bytes;
	void (*run)(void *arg0, uint32_t block, uint32_t thread_warp, uint32_t warps);
	int attributes[FAKE_FUNCTION_ATTRIBUTES];
};

struct wic_cu_function {
	struct wic_cu_function *next;
	struct wic_cu_context *context;
	struct kernel kernel; /* as it was registered when the function was asked for */
};

/* NULL: not one. */
struct wic_cu_function *fake_function(const struct wic_cu_function *handle);
/* Blocks an SM has room for; 0: not even one. */
uint32_t fake_occupancy(const struct wic_cu_function *f, uint32_t block_threads,
			size_t shared_bytes);

#endif /* WIC_TESTS_FAKECUDA_KERNEL_H */
