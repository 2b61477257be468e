/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Suite "basic": what each operation of a warp does, that faults are served in both directions,
 * and that processes may end at any time.  Two files of tests, one list.
 */
#ifndef WIC_KMOD_TESTBED_GUEST_BASIC_H
#define WIC_KMOD_TESTBED_GUEST_BASIC_H

#include <stddef.h>

#include "softgpu_user.h"
#include "testbed.h"

#define BASIC_LAUNCH_MS 10000 /* for a launch that is no hang */

/* So begins the why of a test that shows a known defect of the driver: it counts as skipped. */
#define BASIC_KNOWN "a defect of nvidia-uvm: "

struct basic_test {
	const char *name;
	uint32_t gpus; /* at least */
	/* Return: why it failed, or NULL. */
	const char *(*run)(struct softgpu *softgpu);
};

extern const struct basic_test basic_memory_tests[];
extern const size_t basic_memory_tests_count;
extern const struct basic_test basic_lifecycle_tests[];
extern const size_t basic_lifecycle_tests_count;

/*
 * Launches, waits, frees.  Return: NULL, and how the launch ended, or why not.
 */
const char *basic_launch(const struct softgpu *softgpu, struct softgpu_launch *launch,
			 struct sgpu_wait_args *wait_out);

/* The same, and all warps exit without a miss. */
const char *basic_run(const struct softgpu *softgpu, const struct softgpu_program *program,
		      uint32_t gpu, uint32_t warps);

#endif
