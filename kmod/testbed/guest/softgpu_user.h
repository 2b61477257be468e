/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * libsoftgpu: what a program in the guest does with the software GPUs.  It opens nvidia-uvm as
 * CUDA's driver would, registers GPUs, an address space and a channel on each, maps managed
 * memory, and runs warp programs (softgpu_program.h) on them through /dev/softgpu.
 *
 *	struct softgpu gpus;
 *	struct softgpu_program program;
 *	struct softgpu_launch launch = {.gpu = 0, .warps = 1, .program = &program};
 *	struct sgpu_wait_args end;
 *	uint64_t *word;
 *
 *	softgpu_open(&gpus, 1);
 *	softgpu_map(&gpus, 4096, (void **)&word);
 *	softgpu_program_init(&program);
 *	softgpu_load(&program, 8, 1, softgpu_at(word));	r1 = *word: faults, migrates
 *	softgpu_exit(&program);
 *	softgpu_launch(&gpus, &launch);
 *	softgpu_wait(&gpus, &launch, 1000, &end);
 *
 * Lifetime: what is mapped and launched belongs to the struct softgpu and goes with
 * softgpu_close(), or with the process.  A fork's child must not use its parent's.
 * Locking: none; threads may share one for everything but open and close, because nothing in
 * it changes in between but the last status, which is each thread's own.
 *
 * Errors are negative errnos.  The kernel module's come as they are; nvidia-uvm's statuses are
 * translated in one place, and softgpu_status() has the original.
 */
#ifndef WIC_KMOD_TESTBED_GUEST_SOFTGPU_USER_H
#define WIC_KMOD_TESTBED_GUEST_SOFTGPU_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kmod/testbed/softgpu/uapi.h"
#include "softgpu_program.h"

#define SOFTGPU_GPUS_MAX 2             /* that the testbed's machine has */
#define SOFTGPU_CPU UINT32_MAX         /* where a GPU's index is asked for: the host */
#define SOFTGPU_BLOCK_BYTES (2u << 20) /* nvidia-uvm's unit of management */

struct softgpu {
	int device_fd; /* owned: /dev/softgpu */
	int uvm_fd;    /* owned: /dev/nvidia-uvm, the address space */
	int mm_fd;     /* owned: /dev/nvidia-uvm, which ties the former to this process */
	uint32_t gpus; /* registered */
	uint32_t client;
	uint32_t va_space[SOFTGPU_GPUS_MAX], channel[SOFTGPU_GPUS_MAX]; /* handles */
	struct sgpu_info info;
};

struct softgpu_range {
	void *start;  /* multiple of 4,096 */
	size_t bytes; /* multiple of 4,096, not 0 */
};

/* What softgpu_advise() can ask of nvidia-uvm for a range. */
enum softgpu_advice {
	SOFTGPU_MIGRATE = 0,     /* to where; returns when it is there */
	SOFTGPU_PREFER,          /* preferred location: where */
	SOFTGPU_PREFER_NONE,     /* where is not looked at */
	SOFTGPU_ACCESSED_BY,     /* where keeps a mapping */
	SOFTGPU_ACCESSED_BY_NOT, /* where does not */
	SOFTGPU_DUPLICATE,       /* read duplication on */
	SOFTGPU_DUPLICATE_NOT,
	SOFTGPU_EVICT, /* the video memory behind the range's start, of GPU where */
	SOFTGPU_ADVICE_COUNT
};

struct softgpu_launch {
	uint32_t gpu;
	uint32_t warps, warps_per_block;       /* 0: 1 */
	const struct softgpu_program *program; /* borrowed, for the call */
	const uint64_t *registers;             /* borrowed: SGPU_REGISTERS to start with, or NULL */
	uint32_t id;                           /* out */
};

/*
 * softgpu_open - an address space on the first GPUs, with a channel on each
 * @softgpu: the caller's; filled on success only
 * @gpus: 0 (only nvidia-uvm's file and the device's) to SOFTGPU_GPUS_MAX
 *
 * Two GPUs are no peers at first.
 * Context: a thread of the process; blocks.
 * Return: 0; -EINVAL: @gpus; -ENODEV: the machine has fewer; or open()'s and ioctl()'s.
 */
int softgpu_open(struct softgpu *softgpu, uint32_t gpus);

/*
 * softgpu_close - unregister all and close
 *
 * Launches end; managed memory that is still mapped stays so, without a GPU behind it.
 * Context: as softgpu_open(); no other thread uses @softgpu.
 * Return: 0, or the first error of nvidia-uvm: all is closed nevertheless.
 */
int softgpu_close(struct softgpu *softgpu);

/*
 * softgpu_set_peers - whether the two GPUs access each other's memory, or copy through the host's
 *
 * Context: any thread.
 * Return: 0; -EINVAL: there are not two; or nvidia-uvm's.
 */
int softgpu_set_peers(const struct softgpu *softgpu, bool are_peers);

/*
 * softgpu_uvm - one ioctl of nvidia-uvm
 * @fd: the file's
 * @request: UVM_...
 * @params: its parameters, in and out
 * @status: where in them nvidia-uvm answers (rmStatus)
 *
 * Context: any thread; blocks as long as the driver does.
 * Return: 0, an errno of the ioctl itself, or one of the status (see softgpu_errno()).
 */
int softgpu_uvm(int fd, unsigned long request, void *params, const uint32_t *status);

/* softgpu_status - nvidia-uvm's status of this thread's last softgpu_uvm(), 0: it was well */
uint32_t softgpu_status(void);

/* softgpu_errno - the errno of one of NVIDIA's statuses; -EREMOTEIO: one without a like */
int softgpu_errno(uint32_t nv_status);

/*
 * softgpu_map - managed memory, aligned to SOFTGPU_BLOCK_BYTES
 * @bytes: not 0; rounded up to pages
 * @memory_out: zeros; softgpu_unmap() gives it back
 *
 * Context: any thread.
 * Return: 0 or mmap()'s errno.
 */
int softgpu_map(const struct softgpu *softgpu, size_t bytes, void **memory_out);

/*
 * softgpu_map_at - managed memory at an address, in place of what was mapped there
 *
 * Context: any thread.
 * Return: 0, -EINVAL: the range; or mmap()'s errno.
 */
int softgpu_map_at(const struct softgpu *softgpu, struct softgpu_range range);

/*
 * softgpu_unmap - gives managed memory, or a part of it, back
 *
 * Context: any thread.  A warp that touches it afterwards faults fatally.
 * Return: 0 or munmap()'s errno.
 */
int softgpu_unmap(struct softgpu_range range);

/*
 * softgpu_advise - tell nvidia-uvm where a range is to lie
 * @where: a registered GPU's index or SOFTGPU_CPU, where the advice has a place
 *
 * Context: any thread; blocks.
 * Return: 0; -EINVAL: @advice or @where; or nvidia-uvm's.
 */
int softgpu_advise(const struct softgpu *softgpu, enum softgpu_advice advice,
		   struct softgpu_range range, uint32_t where);

/*
 * softgpu_launch - start warps
 * @launch: see there; @id is written on success only
 *
 * Context: any thread; does not wait for the warps.
 * Return: 0; -EINVAL: the program, the sizes, the GPU; -EBUSY: too many launches at a time.
 */
int softgpu_launch(const struct softgpu *softgpu, struct softgpu_launch *launch);

/*
 * softgpu_wait - until a launch has ended
 * @timeout_ms: 0: a look
 * @wait_out: how far it is; is_done 0: @timeout_ms passed
 *
 * Context: any thread; waits again after a signal.
 * Return: 0; -ENOENT: no such launch.
 */
int softgpu_wait(const struct softgpu *softgpu, const struct softgpu_launch *launch,
		 uint32_t timeout_ms, struct sgpu_wait_args *wait_out);

/*
 * softgpu_report - what became of one warp
 *
 * Context: any thread.
 * Return: 0; -ENOENT: no such launch; -EINVAL: no such warp.
 */
int softgpu_report(const struct softgpu *softgpu, const struct softgpu_launch *launch,
		   uint32_t warp, struct sgpu_warp_report *report_out);

/*
 * softgpu_free - end a launch, running or not, and forget it
 *
 * Context: any thread.
 * Return: 0; -ENOENT: no such launch.
 */
int softgpu_free(const struct softgpu *softgpu, const struct softgpu_launch *launch);

/*
 * softgpu_counters - a GPU's counters, since its module was loaded
 *
 * Context: any thread.
 * Return: 0; -EINVAL: no such GPU.
 */
int softgpu_counters(const struct softgpu *softgpu, uint32_t gpu,
		     struct sgpu_counters *counters_out);

/*
 * softgpu_inject - make a GPU misbehave from now on; see enum sgpu_inject_kind
 *
 * Holds for all processes, until it is set to 0.
 * Context: any thread.
 * Return: 0; -EINVAL: no such GPU or kind, or the value is out of its range.
 */
int softgpu_inject(const struct softgpu *softgpu, uint32_t gpu, enum sgpu_inject_kind kind,
		   uint32_t value);

#endif
