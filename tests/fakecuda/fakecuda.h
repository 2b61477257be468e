/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A libcuda.so.1 over host memory, so that backends/cuda is tested where there is no GPU.  A
 * test links the library fakecuda and names it in WIC_LIBCUDA; both are then one object, with
 * one state a process.
 *
 *	memory    what lies behind a device address is host memory; each access is checked
 *	stream    a FIFO with a thread of its own, made with its first operation
 *	kernel    a C function of the test; each warp of each block is a thread
 *
 * As with a driver: contexts are current in a thread, a call without one is refused, memory is
 * not zero when it is new, cuMemFree(), cuMemFreeHost() and cuModuleUnload() wait for what runs
 * in the context (a test whose warps are parked hangs there as it would on a GPU; here for 20 s
 * at most).  Unlike a driver: streams never wait for the null stream, and a call is refused
 * where it would crash.
 *
 * What a program does wrong (frees twice, copies past an end, calls the driver from a host
 * function, ...) is an error of the call, and is kept as a text for fakecuda_check().
 *
 * Calls are named by their symbol, "cuMemAlloc_v2".  A name that is not one aborts, so that a
 * test does not wait for what cannot come.  Context: everything here from any thread.
 */
#ifndef WIC_TESTS_FAKECUDA_FAKECUDA_H
#define WIC_TESTS_FAKECUDA_FAKECUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKECUDA_DEVICES_MAX 8
#define FAKECUDA_IMAGE "fakecuda\n" /* a module's image: this, then a kernel's name a line */

/*
 * Everything as at the beginning, but that cuInit() was called.  Waits for what still runs, and
 * takes away what was not given back: no handle may be used any more.
 */
void fakecuda_reset(void);

enum fakecuda_how {
	FAKECUDA_ONCE,
	FAKECUDA_FOR_GOOD, /* that call, from then on */
	FAKECUDA_STICKY,   /* every call from then on, as after a kernel that failed */
};

/*
 * Have a call fail the @nth time from now (1: the next).  It does nothing then, but calls that
 * give something back do: the driver often reports an earlier error by them.  @result may be 0.
 */
void fakecuda_fail(const char *call, uint64_t nth, int result, enum fakecuda_how how);
/* What a kernel does that fails: @result is sticky from now on, queued work is dropped. */
void fakecuda_break(int result);
/* A sticky error; kernels that wait should end. */
bool fakecuda_is_broken(void);

/* Whoever makes this call stays in it, before it does anything, until it is let go. */
void fakecuda_hold(const char *call);
void fakecuda_let_go(const char *call);
uint32_t fakecuda_held(void); /* threads that stay in calls now */

/* The symbol of the @i-th call, for tests that go through all of them; NULL: past the last. */
const char *fakecuda_call(uint32_t i);
/* NULL: all together.  A call that failed counts too. */
uint64_t fakecuda_calls(const char *call);
/* Calls that waited for work in the context that only happened to run. */
uint64_t fakecuda_implicit_syncs(void);

void fakecuda_set_version(int version); /* 12040 to begin with */
void fakecuda_set_devices(int count);   /* 1 to begin with; 0: cuInit() fails */
void fakecuda_set_name(int device, const char *name);
void fakecuda_set_attribute(int device, int attribute, int value);
void fakecuda_set_mig(int device); /* it is an instance, with a UUID of its own */
/* A device's; 1 GiB to begin with.  No pinned allocation is larger either. */
void fakecuda_set_memory(size_t bytes);
/* Blocks that a device has room for, of all kernels; 0: SMs * occupancy of the kernel. */
void fakecuda_set_resident_blocks(uint32_t blocks);
/* Launches of which a block has not started yet though the stream has come to them. */
uint32_t fakecuda_waiting(void);
/* Any image loads, and has each kernel that is registered. */
void fakecuda_set_any_image(bool is_any);

/*
 * Register a kernel for cuModuleGetFunction().  @run is called for each warp with a copy of the
 * first parameter's @arg_bytes, which all warps of a launch share and which ends with it.
 */
void fakecuda_kernel(const char *name, size_t arg_bytes,
		     void (*run)(void *arg0, uint32_t block, uint32_t thread_warp, uint32_t warps));
void fakecuda_kernel_attribute(const char *name, int attribute, int value);
/* In a kernel: the block's dynamic shared memory, zero at first; a barrier of its warps. */
void *fakecuda_shared(void);
void fakecuda_barrier(void);
/* The same; whether any warp gave a value that is not 0. */
int fakecuda_barrier_or(int value);
uint32_t fakecuda_blocks(void); /* of the grid */

struct fakecuda_stream {
	int priority;
	unsigned int flags;
	bool is_busy;
};

/* Streams that were created and not destroyed, newest first.  Returns how many there are. */
size_t fakecuda_streams(struct fakecuda_stream *streams_out, size_t max);

/*
 * What was done wrong, and what was made and not given back: memory, streams, events, modules,
 * contexts.  Returns the number of findings, with as many of them in @text_out as fit, a line
 * each.
 */
int fakecuda_check(char *text_out, size_t bytes);

#endif /* WIC_TESTS_FAKECUDA_FAKECUDA_H */
