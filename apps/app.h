/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * An application, as bench sees it.  One kernel source (apps/<name>/kernel.c),
 * compiled once a method; a serial reference; a check that can fail.
 *
 * open() says what the work is, before there is a context for it; load() takes the memory.
 * What kernels touch is device memory (lib/memory.h), filled and read by copies, so that the same
 * source serves every back-end.
 *
 * A run: args() with a new epoch, launch on each device, the host's steps in order
 * (by default it publishes the tags [0, tags) of the one channel), sync, check().  All
 * tags of all channels are used once a run, at the run's epoch.
 */
#ifndef WIC_APPS_APP_H
#define WIC_APPS_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/kernel_image.h"
#include "methods/method.h"

enum app_size { APP_TINY, APP_SMALL, APP_DEFAULT, APP_LARGE };

struct app_params {
	enum app_size size;
	uint64_t seed;
	uint32_t sms;          /* of the context that will run it, >= 1, a device */
	uint32_t sm_blocks;    /* resident blocks an SM */
	uint32_t sm_warps;     /* resident warps an SM */
	uint32_t threads;      /* consumer threads of the kernel; 0: fill the SMs */
	uint32_t tags;         /* 0: what the size says; else at least this many */
	const char *input;     /* file or directory; NULL: generate */
	uint32_t turn_percent; /* length of a kernel's turns against its own choice; 0: 100 */
	/* Length of an item's side against the size's own, in per cent, 1 to 100; 0: 100.
	 * Bench scales the work with it. */
	uint32_t side_percent;
	bool is_gpu; /* more memory, and one host thread for far more of them */
};

#define APP_CHANNELS_MAX 8u
#define APP_DEVICES_MAX 2u

struct app_channel {
	struct m_ends ends;
	uint32_t tags;
	uint32_t readers;
	uint64_t bytes_per_tag;
};

/* What the host does next: it fills and publishes a tag, or takes one and gives it back. */
struct app_step {
	bool is_take;
	uint32_t channel;
	uint32_t tag;
	uint32_t item; /* what produce() or consume() is given */
};

struct app_shape {
	uint64_t bytes_per_tag; /* over several channels: the mean */
	uint32_t tags;          /* of all channels together */
	uint32_t readers;       /* warps that wait for each tag */
	/* 0: one, from the host to device 0, as the three fields above say. */
	uint32_t channel_count;
	struct app_channel channels[APP_CHANNELS_MAX];
	uint32_t steps;       /* of the host; where there is a step() */
	uint32_t grid_blocks; /* of each device */
	uint32_t block_threads;
	uint32_t shared_bytes;   /* with the largest M_SHARED_BYTES */
	uint32_t pool_pages_min; /* PCM pages, partners included, that all resident blocks need */
};

static inline uint32_t app_shape_channels(const struct app_shape *s)
{
	return s->channel_count ? s->channel_count : 1;
}

static inline struct app_channel app_shape_channel(const struct app_shape *s, uint32_t i)
{
	struct app_channel only = { { 0 }, s->tags, s->readers, s->bytes_per_tag };

	return s->channel_count ? s->channels[i] : only;
}

struct app;

/* The kernel compiled for a method, and its GPU code. */
struct app_kernel {
	const char *method;
	void (*kernel)(const void *args);
	struct wic_kernel_image *image;
};
/* A row of app_ops.kernels, and the declarations for it: apps/kernel_image.c. */
#define APP_KERNEL(method, kernel)                \
	{                                         \
		method, kernel, &(kernel##_image) \
	}
#define APP_KERNEL_DECLARE(kernel)     \
	void kernel(const void *args); \
	extern struct wic_kernel_image kernel##_image
#define APP_KERNEL_END           \
	{                        \
		NULL, NULL, NULL \
	}

struct app_ops {
	const char *name;    /* "C_SRS" */
	const char *pattern; /* "streaming x unidirectional" */
	const char *summary; /* one line for people */
	uint32_t devices;    /* that it runs on, 1 to APP_DEVICES_MAX */
	/* Work grows with this power of side_percent; 0: there is no such knob. */
	uint32_t side_power;
	/* The producer is a kernel: R is what that makes of it and cannot be set. */
	bool is_self_paced;
	int (*open)(const struct app_params *p, struct app **app_out);
	/* Once, before args().  @w: where the kernels will run, borrowed until close(), which
	 * therefore comes before wic_close(); NULL: there is no back-end, as in some tests. */
	int (*load)(struct app *app, struct wic *w);
	const struct app_shape *(*shape)(const struct app *app);
	/* One line: where the data comes from, what of it is used. */
	const char *(*describe)(const struct app *app);
	const struct app_kernel *kernels; /* the last one's method is NULL */
	/* Argument struct of the next run, owned by the app; clears the run's results.
	 * NULL: the memory cannot be reached; wic_last_error().
	 * @m: one a channel.  With several devices: that of device 0. */
	const void *(*args)(struct app *app, const struct m_args *m, uint64_t epoch);
	/* That of another device, after args().  NULL: there is one device. */
	const void *(*args_of)(struct app *app, uint32_t device);
	/* Step @i of [0, shape.steps).  NULL: tag i of the one channel is published, or, where
	 * it is self-paced, the host does nothing. */
	void (*step)(const struct app *app, uint32_t i, struct app_step *step_out);
	/* Fill a staged buffer.  Any one thread.  What is made depends on the epoch, so
	 * that data of another epoch cannot pass check(): no method may reuse it. */
	void (*produce)(struct app *app, uint32_t item, uint64_t epoch, void *buffer);
	/* What the host does with what it took.  NULL: it takes nothing. */
	void (*consume)(struct app *app, uint32_t item, uint64_t epoch, const void *data);
	/* The kernel's own status first (0 or the first -errno of a wait), then bit-exact results.
	 * 0; -errno; -EIO: results differ; @why_out says where. */
	int (*check)(struct app *app, char *why_out, size_t why_bytes);
	void (*close)(struct app *app);
};

/* NULL-terminated. */
extern const struct app_ops *const apps[];
const struct app_ops *app_find(const char *name);
/*
 * NULL: the application is not written for the method, and bench leaves it out.  What is
 * returned is started by method_launch() only.
 */
void (*app_kernel_of(const struct app_ops *app, const char *method))(const void *args);
/* Have wic_open() and wic_launch() know the GPU code of all of its kernels.  Any thread; once or
 * many times, before the context is opened, so that nothing is loaded while a kernel waits. */
void app_kernels_add(const struct app_ops *app);

#endif /* WIC_APPS_APP_H */
