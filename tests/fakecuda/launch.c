// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Launches.  The thread of the stream starts blocks as the device has room for them and takes
 * them down when their last warp has ended; a block that waits for room lets those of streams
 * of higher priority go first.
 *
 *	stream thread: start block ... start block, no room: wait ... join block, start block
 *	warp threads:      run() -> last of its block: block is done, room for another
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fakecuda/kernel.h"

#define THREADS_PER_WARP 32
#define BLOCKS_MAX (1u << 20)
#define STACK_BYTES (512u << 10)
#define CREATE_TRIES 1000 /* 1 ms apart: threads of other blocks end meanwhile */

struct block;

struct warp {
	struct block *block;
	uint32_t index;
	pthread_t thread;
};

struct block {
	struct block *next; /* in fake_launch.done */
	struct fake_launch *launch;
	uint32_t index;
	uint32_t warps_running;
	void *shared; /* owned */
	int any;      /* atomic; of fakecuda_barrier_or() */
	pthread_barrier_t barrier;
	struct warp warps[];
};

struct fake_launch {
	struct fake_launch *next; /* in waiting, while blocks wait for room */
	void (*run)(void *arg0, uint32_t block, uint32_t thread_warp, uint32_t warps);
	void *arg; /* owned; what all warps see of the first parameter */
	uint32_t blocks;
	uint32_t warps; /* of a block */
	uint32_t started;
	uint32_t ended;
	uint32_t room; /* blocks of this kernel that a device takes */
	size_t shared_bytes;
	int priority;
	struct fake_device *device;
	struct block *done; /* owned: to be joined */
};

static struct fake_launch *waiting; /* fake.lock; borrowed from the streams' operations */
static __thread struct block *own_block;

void *fakecuda_shared(void)
{
	return own_block->shared;
}

void fakecuda_barrier(void)
{
	pthread_barrier_wait(&own_block->barrier);
}

uint32_t fakecuda_waiting(void)
{
	uint32_t count = 0;

	pthread_mutex_lock(&fake.lock);
	for (const struct fake_launch *l = waiting; l; l = l->next)
		count++;
	pthread_mutex_unlock(&fake.lock);
	return count;
}

int fakecuda_barrier_or(int value)
{
	int any;

	if (value)
		__atomic_store_n(&own_block->any, 1, __ATOMIC_RELAXED);
	fakecuda_barrier();
	any = __atomic_load_n(&own_block->any, __ATOMIC_RELAXED);
	/* All have read it before it is 0 again, and it is that before anybody sets it. */
	fakecuda_barrier();
	__atomic_store_n(&own_block->any, 0, __ATOMIC_RELAXED);
	fakecuda_barrier();
	return any;
}

uint32_t fakecuda_blocks(void)
{
	return own_block->launch->blocks;
}

void fake_launch_free(struct fake_launch *launch)
{
	free(launch->arg);
	free(launch);
}

static void *warp_thread(void *arg)
{
	struct warp *w = arg;
	struct block *b = w->block;
	struct fake_launch *l = b->launch;

	own_block = b;
	fake_forbid_calls("a kernel");
	l->run(l->arg, b->index, w->index, l->warps);
	pthread_mutex_lock(&fake.lock);
	if (!--b->warps_running) {
		b->next = l->done;
		l->done = b;
		l->device->resident_blocks--;
		pthread_cond_broadcast(&fake.changed);
	}
	pthread_mutex_unlock(&fake.lock);
	return NULL;
}

static bool has_room(const struct fake_launch *l)
{
	return l->device->resident_blocks < (fake.resident_max ? fake.resident_max : l->room);
}

static bool may_start(const struct fake_launch *l)
{
	if (fake.sticky || l->started == l->blocks || !has_room(l))
		return false;
	for (const struct fake_launch *o = waiting; o; o = o->next)
		if (o->device == l->device && o->priority < l->priority && has_room(o))
			return false;
	return true;
}

static void give_up(const char *what)
{
	fprintf(stderr, "fakecuda: no %s for a block\n", what);
	abort();
}

static void warp_start(struct warp *w, const pthread_attr_t *attr)
{
	int tries = 0;

	while (pthread_create(&w->thread, attr, warp_thread, w)) {
		if (++tries == CREATE_TRIES)
			give_up("thread");
		fake_wait_ns(1000000);
	}
}

static void block_start(struct fake_launch *l)
{
	struct block *b = calloc(1, sizeof(*b) + l->warps * sizeof(b->warps[0]));
	pthread_attr_t attr;

	if (!b)
		give_up("memory");
	b->launch = l;
	b->index = l->started++;
	b->warps_running = l->warps;
	b->shared = calloc(1, l->shared_bytes + 1);
	if (!b->shared || pthread_barrier_init(&b->barrier, NULL, l->warps))
		give_up("memory");
	l->device->resident_blocks++;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (uint32_t i = 0; i < l->warps; i++) {
		b->warps[i].block = b;
		b->warps[i].index = i;
		warp_start(&b->warps[i], &attr);
	}
	pthread_attr_destroy(&attr);
}

static void block_end(struct fake_launch *l)
{
	struct block *b = l->done;

	l->done = b->next;
	pthread_mutex_unlock(&fake.lock);
	for (uint32_t i = 0; i < l->warps; i++)
		pthread_join(b->warps[i].thread, NULL);
	pthread_barrier_destroy(&b->barrier);
	free(b->shared);
	free(b);
	pthread_mutex_lock(&fake.lock);
	l->ended++;
}

/* All blocks have started, or none will any more. */
static void waiting_leave(struct fake_launch *l)
{
	struct fake_launch **link = &waiting;

	while (*link && *link != l)
		link = &(*link)->next;
	if (*link)
		*link = l->next;
	pthread_cond_broadcast(&fake.changed);
}

void fake_launch_run(struct fake_launch *l)
{
	bool is_waiting = true;

	l->next = waiting;
	waiting = l;
	while (l->ended < l->started || (l->started < l->blocks && !fake.sticky)) {
		if (may_start(l))
			block_start(l);
		else if (l->done)
			block_end(l);
		else
			fake_wait();
		if (is_waiting && (l->started == l->blocks || fake.sticky)) {
			waiting_leave(l);
			is_waiting = false;
		}
	}
	if (is_waiting)
		waiting_leave(l);
}

struct shape {
	unsigned int grid[3];
	unsigned int block[3];
	unsigned int shared_bytes;
};

/* 0: it overflows what a launch may have, or is nothing. */
static uint32_t volume(const unsigned int *side, uint32_t max)
{
	uint64_t v = 1;

	for (int i = 0; i < 3; i++) {
		v *= side[i];
		if (!v || v > max)
			return 0;
	}
	return (uint32_t)v;
}

/* What the driver says of a launch that cannot be. */
static int shape_check(const struct wic_cu_function *f, const struct shape *shape)
{
	const int *device = fake.devices[f->context->device].attributes;
	uint32_t threads_max = (uint32_t)device[WIC_CU_DEVICE_MAX_THREADS_PER_BLOCK];
	uint32_t threads = volume(shape->block, threads_max);
	int shared_max = f->kernel.attributes[WIC_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES];

	if (!volume(shape->grid, BLOCKS_MAX) || !threads ||
	    shape->shared_bytes > (unsigned int)shared_max)
		return WIC_CU_INVALID_VALUE;
	if (!fake_occupancy(f, threads, shape->shared_bytes))
		return FAKE_LAUNCH_OUT_OF_RESOURCES;
	return 0;
}

/* NULL: no memory. */
static struct fake_launch *launch_new(const struct wic_cu_function *f, const struct shape *shape,
				      const void *arg)
{
	struct fake_device *d = &fake.devices[f->context->device];
	uint32_t threads = volume(shape->block, UINT32_MAX);
	struct fake_launch *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->arg = malloc(f->kernel.arg_bytes + 1);
	if (!l->arg) {
		free(l);
		return NULL;
	}
	if (f->kernel.arg_bytes)
		memcpy(l->arg, arg, f->kernel.arg_bytes);
	l->run = f->kernel.run;
	l->blocks = volume(shape->grid, BLOCKS_MAX);
	l->warps = (threads + THREADS_PER_WARP - 1) / THREADS_PER_WARP;
	l->room = fake_occupancy(f, threads, shape->shared_bytes) *
		  (uint32_t)d->attributes[WIC_CU_DEVICE_SM_COUNT];
	l->shared_bytes = shape->shared_bytes;
	l->device = d;
	return l;
}

static int launch(struct wic_cu_function *function, const struct shape *shape,
		  struct wic_cu_stream *handle, void **parameters)
{
	const struct wic_cu_function *f = fake_function(function);
	struct wic_cu_stream *s = fake_stream(handle);
	struct fake_op op = { .kind = FAKE_OP_KERNEL };
	int result;

	if (!f || !s || f->context != s->context)
		return FAKE_INVALID_HANDLE;
	if (f->kernel.arg_bytes && (!parameters || !parameters[0]))
		return WIC_CU_INVALID_VALUE;
	result = shape_check(f, shape);
	if (result)
		return result;
	op.launch = launch_new(f, shape, parameters ? parameters[0] : NULL);
	if (!op.launch)
		return WIC_CU_OUT_OF_MEMORY;
	op.launch->priority = s->priority;
	result = fake_submit(s, &op);
	if (result)
		fake_launch_free(op.launch);
	return result;
}

int cuLaunchKernel(struct wic_cu_function *function, unsigned int grid_x, unsigned int grid_y,
		   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
		   unsigned int block_z, unsigned int shared_bytes, struct wic_cu_stream *stream,
		   void **parameters, void **extra)
{
	const struct shape shape = {
		.grid = { grid_x, grid_y, grid_z },
		.block = { block_x, block_y, block_z },
		.shared_bytes = shared_bytes,
	};
	int result = fake_enter(FAKE_cuLaunchKernel);

	/* The other way to give parameters is not one of ours. */
	if (!result && extra)
		result = WIC_CU_INVALID_VALUE;
	return fake_leave(result ? result : launch(function, &shape, stream, parameters));
}
