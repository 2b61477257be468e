/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The tests that nvidia-uvm itself contains (module parameter uvm_enable_builtin_tests), one
 * ioctl each: UVM_TEST_*.  Three tables together name each of them, which
 * kmod/testbed/guest/builtin_list.sh checks:
 *
 *	builtin_calls	  one call, with parameters and a look at the answer
 *	builtin_cases	  several calls, or memory that must be in some state
 *	builtin_omitted	  not run, and why
 */
#ifndef WIC_KMOD_TESTBED_GUEST_BUILTIN_H
#define WIC_KMOD_TESTBED_GUEST_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu_user.h"
#include "testbed.h"
#include "uvm.h"

#define BUILTIN_BLOCKS 4

/* What the tests work on. */
struct builtin_world {
	struct softgpu gpus;
	bool are_peers;
	uint8_t *blocks; /* managed: BUILTIN_BLOCKS whole blocks, each touched by the CPU */
	uint8_t *pieces; /* managed: a block's addresses in mappings of 1/4, 1/4, 1/2, touched */
};

struct builtin_call {
	const char *name;
	unsigned long request;
	uint32_t status_at; /* offset of rmStatus in the parameters */
	uint32_t gpus;      /* at least */
	bool is_each_gpu;   /* once for each GPU, else once */
	uint32_t limit_ms;  /* 0: a default */
	/* Zeros are the parameters of a call without. */
	void (*fill)(const struct builtin_world *world, uint32_t gpu, void *params);
	/* Return: why the answer is wrong, or NULL. */
	const char *(*check)(const struct builtin_world *world, const void *params);
	const char *not_by_default; /* run only by name: why */
	bool has_no_peers;          /* it wants to be the only one that holds the GPUs */
	const char *log;            /* regular expression of what it makes the driver log */
};

struct builtin_case {
	const char *name;
	uint32_t gpus; /* at least */
	/* Return: why it failed, or NULL. */
	const char *(*run)(struct builtin_world *world, uint32_t gpu);
	const char *not_by_default; /* run only by name: why */
	uint32_t by_default;        /* with so many GPUs, or fewer, by default all the same */
};

struct builtin_omission {
	const char *name, *why;
};

extern const struct builtin_call builtin_calls[];
extern const size_t builtin_calls_count;
extern const struct builtin_case builtin_cases[];
extern const size_t builtin_cases_count;
extern const struct builtin_omission builtin_omitted[];
extern const size_t builtin_omitted_count;

/* A GPU as nvidia-uvm names it; SOFTGPU_CPU: the host. */
NvProcessorUuid builtin_uuid(const struct builtin_world *world, uint32_t gpu);

#define BUILTIN_UVM(world, request, params) \
	softgpu_uvm((world)->gpus.uvm_fd, request, params, &(params)->rmStatus)

#endif
