// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Each function of tree.h in a kernel, for nvcc.  ctest compiles it only; where there is a device
 * it may be run: blocks whose warps are no dimension's (33 threads; 8 x 8 x 4; 1024), every warp
 * with a number of its own, some with a lot and some without, the host publishing while all wait.
 *
 *	nvcc -std=c++17 -arch=sm_90 -Iinclude tests/tree/tree_use.cu -o tree_use && ./tree_use
 *
 * Exit: 0; 1: wrong; 77: no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WIC_TREE_NEXT
#include <wic/tree.h>

#define LINES 4u /* control, host tags, the queue, its slots */
#define HOST_LINE 1u
#define QUEUE_LINE 2u
#define TAGS (LINES * WIC_TREE_LINE_TAGS)
#define BLOCKS 3u
#define EPOCHS 50u

#define CHECK(x)                                                                     \
	do {                                                                         \
		cudaError_t check_ = (x);                                            \
		if (check_ != cudaSuccess) {                                         \
			fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(check_)); \
			exit(1);                                                     \
		}                                                                    \
	} while (0)

/* Pinned; written by one side, read by the other. */
struct host_side {
	uint64_t truth[LINES][WIC_TREE_LINE_TAGS];
	uint64_t end_truth[LINES];
	uint64_t payload[EPOCHS + 1];
	uint64_t drained;
	uint64_t credit;
	uint64_t peer;
};

struct use {
	struct wic_tree_line *lines;
	struct host_side *host;
	unsigned long long *wrong; /* of the device */
	uint64_t *count;
	uint32_t warps; /* of all blocks */
};

static __device__ void use_warp(const struct use &u, struct wic_lot *lot, uint32_t m)
{
	uint32_t warp = wic_t_warp(), tag = 0, wrong = 0;
	uint32_t mine = HOST_LINE * WIC_TREE_LINE_TAGS + warp % 4;
	int rc;

	for (uint64_t e = 1; e <= EPOCHS; e++) {
		/* One warp of the block has no lot, another one a turn. */
		rc = wic_tree_wait(warp == e % 8 ? NULL : lot, u.lines, TAGS, mine, e, WIC_FOREVER,
				   m);
		wrong |= rc != 0;
		wrong |= *(volatile uint64_t *)&u.host->payload[e] != e;
		wrong |= wic_tree_wait(lot, u.lines, TAGS, mine, EPOCHS + 1, 2000, m) !=
			 WIC_TREE_ETIMEDOUT;
	}
	rc = wic_tree_wait_word(lot, wic_tree_tag_word(u.lines, mine), EPOCHS, WIC_FOREVER, m);
	wrong |= rc != 0;
	wic_tree_release(u.count, u.warps, &u.host->credit, EPOCHS, m);
	rc = wic_tree_next(lot, &u.lines[QUEUE_LINE], WIC_FOREVER, m, &tag);
	wrong |= rc != (int)(rc ? WIC_TREE_EOWNERDEAD : 0) || (!rc && tag != 7);
	if (!rc)
		wic_tree_publish_sys(&u.host->peer, 9, m);
	if (wrong)
		atomicAdd(u.wrong, 1);
}

static __global__ void use_all(struct use u)
{
	__shared__ __align__(8) struct wic_lot lot;
	uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
	uint32_t linear = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
	uint32_t lane;

	asm("mov.u32 %0, %%laneid;" : "=r"(lane));
	if (!linear)
		wic_tree_lot_init(&lot, (threads + 31) / 32);
	__syncthreads();
	/* The machine's lanes and the number of the warp go together. */
	if (wic_t_warp() != linear / 32 || lane != linear % 32)
		atomicAdd(u.wrong, 1);
	use_warp(u, &lot, __activemask());
}

static void pause_us(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

static void make(struct use *u, struct wic_tree_line *lines, struct host_side *host)
{
	memset(host, 0, sizeof(*host));
	memset(lines, 0, LINES * sizeof(*lines));
	for (uint32_t i = 0; i < LINES; i++) {
		lines[i].truth = i == QUEUE_LINE + 1 ? NULL : host->truth[i];
		lines[i].end_truth = &host->end_truth[i == QUEUE_LINE + 1 ? QUEUE_LINE : i];
		lines[i].control = i ? u->lines : NULL;
		lines[i].reader = u->lines + (i == QUEUE_LINE + 1 ? QUEUE_LINE : i);
	}
	lines[QUEUE_LINE].slots = u->lines + QUEUE_LINE + 1;
	lines[QUEUE_LINE].size = WIC_TREE_LINE_TAGS;
	lines[QUEUE_LINE].drained = &host->drained;
}

static int run(struct use u, dim3 block)
{
	struct wic_tree_line lines[LINES];
	struct host_side *host = u.host;
	unsigned long long wrong = 0;

	make(&u, lines, host);
	u.warps = (block.x * block.y * block.z + 31) / 32 * BLOCKS;
	CHECK(cudaMemcpy(u.lines, lines, sizeof(lines), cudaMemcpyHostToDevice));
	CHECK(cudaMemset(u.wrong, 0, sizeof(*u.wrong)));
	CHECK(cudaMemset(u.count, 0, sizeof(*u.count)));
	use_all<<<BLOCKS, block>>>(u);
	CHECK(cudaGetLastError());
	for (uint64_t e = 1; e <= EPOCHS; e++) {
		host->payload[e] = e;
		for (uint32_t i = 0; i < 4; i++)
			__atomic_store_n(&host->truth[HOST_LINE][i], e, __ATOMIC_RELEASE);
		pause_us(e % 4 ? 20 : 200);
	}
	if (wic_tree_put(host->truth[QUEUE_LINE], &host->drained, WIC_TREE_LINE_TAGS, 0, 7))
		return 1;
	pause_us(1000);
	__atomic_store_n(&host->end_truth[QUEUE_LINE], WIC_TREE_DIED, __ATOMIC_RELEASE);
	__atomic_add_fetch(&host->truth[0][WIC_TREE_ENDS], 1, __ATOMIC_RELEASE);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&wrong, u.wrong, sizeof(wrong), cudaMemcpyDeviceToHost));
	printf("%u x %u x %u: %u warps, %llu wrong, credit %llu, peer %llu\n", block.x, block.y,
	       block.z, u.warps, wrong, (unsigned long long)host->credit,
	       (unsigned long long)host->peer);
	return wrong || host->credit != EPOCHS || host->peer != 9;
}

int main(void)
{
	struct use u = { 0 };
	int devices = 0, bad = 0;

	if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
		printf("there is no device\n");
		return 77;
	}
	CHECK(cudaMalloc((void **)&u.lines, LINES * sizeof(*u.lines)));
	CHECK(cudaMalloc((void **)&u.wrong, sizeof(*u.wrong)));
	CHECK(cudaMalloc((void **)&u.count, sizeof(*u.count)));
	CHECK(cudaMallocHost((void **)&u.host, sizeof(*u.host)));
	for (int i = 0; i < 20; i++) {
		bad |= run(u, dim3(33));
		bad |= run(u, dim3(8, 8, 4));
		bad |= run(u, dim3(1024));
		bad |= run(u, dim3(1));
	}
	return bad;
}
