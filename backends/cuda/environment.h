/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What is seen of this machine that warps which wait suffer from, in sentences for people: how
 * launches are serialised, who looks on, what ends a kernel, and what others share.
 *
 *	wic_cuda_seen()         reads variables, /proc/self and the device into struct cuda_seen
 *	wic_cuda_seen_say()     one sentence of it by number, from nothing but the struct
 *	wic_cuda_seen_log()     all of them, when a context opens
 *
 * What cannot be seen: that a GPU is time-sliced among containers.  The driver gives each of them
 * the whole GPU and tells nobody; libnvidia-ml.so.1 would list other processes at best, and none
 * of another container's.  Waits then last by whole time slices, which no sentence here says.
 *
 * Nothing here fails: what the driver does not answer counts as not seen.
 * Locking: none; wic_cuda_seen() reads variables as getenv() does.
 */
#ifndef WIC_BACKENDS_CUDA_ENVIRONMENT_H
#define WIC_BACKENDS_CUDA_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cuda/driver.h"

#define CUDA_SEEN_BYTES 224 /* of a sentence, as of a probe's text */

/* Texts are empty where there is none; long ones are cut. */
struct cuda_seen {
	char launch_blocking[8];  /* CUDA_LAUNCH_BLOCKING */
	char injection[64];       /* CUDA_INJECTION64_PATH, or a variable of a tool's */
	char tool[64];            /* a mapped library of a sanitizer, profiler or debugger */
	char tracer[24];          /* name of the process that traces this one */
	uint32_t tracer_pid;      /* 0: nobody */
	char mps_percentage[8];   /* CUDA_MPS_ACTIVE_THREAD_PERCENTAGE */
	char max_connections[16]; /* CUDA_DEVICE_MAX_CONNECTIONS */
	char module_loading[16];  /* CUDA_MODULE_LOADING */
	bool has_mps_pipe;        /* CUDA_MPS_PIPE_DIRECTORY */
	bool is_mps;              /* the device says so */
	bool is_mig;              /* by its UUID, or CUDA_VISIBLE_DEVICES */
	bool has_time_limit;      /* of kernels: a display */
	int compute_mode;         /* 0: anybody may use it */
	uint32_t devices;         /* logical ones of the context */
	int version;              /* of the driver */
};

enum cuda_seen_level {
	CUDA_SEEN_INFO, /* as everywhere; not a reason to worry */
	CUDA_SEEN_WARN,
	CUDA_SEEN_HANG, /* and it explains a wait that does not end */
};

/* @devices: logical ones. */
void wic_cuda_seen(const struct wic_cuda_driver *d, int device, int version, uint32_t devices,
		   struct cuda_seen *seen_out);

/* The names of tools are looked for in lines of /proc/self/maps.  For tests. */
bool wic_cuda_seen_is_tool(const char *line, char *name_out, size_t bytes);

/*
 * The @i-th thing that may be seen: "" in @text_out, of CUDA_SEEN_BYTES, if it is not.  @what_out
 * is its short name, constant.  False: there are no more.
 */
bool wic_cuda_seen_say(const struct cuda_seen *seen, uint32_t i, const char **what_out,
		       enum cuda_seen_level *level_out, char *text_out);

/*
 * Each is written to the log, once a process, after CUDA_SEEN_PREFIX.  @hang_out: those of HANG,
 * each after "; ".
 */
#define CUDA_SEEN_PREFIX "seen here: "
void wic_cuda_seen_log(const struct cuda_seen *seen, char *hang_out, size_t hang_bytes);

#endif /* WIC_BACKENDS_CUDA_ENVIRONMENT_H */
