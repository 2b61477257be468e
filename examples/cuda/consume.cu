/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A kernel of one's own, launched as usual, whose warps wait for data that the host publishes.
 *
 *	nvcc -std=c++14 -arch=sm_90 -I<prefix>/include consume.cu \
 *		-L<prefix>/lib -lwic -ldl -lpthread
 *
 * Each warp takes its own tag, round after round.  The host fills the tags in another order than
 * the warps stand in, so most of them wait, and those that wait are parked.
 */
#include <cstdio>

#include <wic/device.cuh>
#include <wic/wic.h>

enum { BLOCKS = 4, WARPS = 8, TAGS = BLOCKS * WARPS, ROUNDS = 50, VALUES = 256, SKIP = 77 };

#define DEADLINE WIC_S(5)

struct result {
	int rc;
	int round; /* in which it was */
	unsigned long long sum;
};

static __global__ void consume(struct wic_handle h, struct result *results)
{
	__shared__ __align__(8) unsigned char lot_bytes[WIC_LOT_BYTES(WARPS)];
	struct wic_lot *lot = (struct wic_lot *)lot_bytes;
	uint32_t tag = blockIdx.x * WARPS + threadIdx.x / 32;
	struct result r = { 0, 0, 0 };

	wic_lot_init(lot);
	for (int epoch = 1; epoch <= ROUNDS && !r.rc; epoch++) {
		unsigned sum = 0;
		void *data;

		r.round = epoch;
		r.rc = wic_request(&h, lot, tag, epoch, DEADLINE, &data);
		if (r.rc)
			break; /* the same status in all lanes */
		for (int i = threadIdx.x % 32; i < VALUES; i += 32)
			sum += ((uint32_t *)data)[i];
		r.rc = wic_release(&h, tag, epoch);
		for (int i = 16; i; i /= 2)
			sum += __shfl_down_sync(~0u, sum, i);
		r.sum += sum;
	}
	if (threadIdx.x % 32 == 0)
		results[tag] = r;
}

static uint32_t value(uint32_t tag, int epoch, int i)
{
	return tag * 1000 + epoch * 10 + i;
}

static int produce(struct wic_channel *ch)
{
	for (int epoch = 1; epoch <= ROUNDS; epoch++) {
		for (uint32_t n = 0; n < TAGS; n++) {
			uint32_t tag = (n * 13 + epoch) % TAGS;
			void *buffer;
			int rc = wic_stage(ch, tag, epoch, DEADLINE, &buffer);

			if (rc)
				return rc;
			for (int i = 0; i < VALUES; i++)
				((uint32_t *)buffer)[i] = value(tag, epoch, i);
			rc = wic_publish(ch, tag, epoch);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int check(const struct result *results)
{
	int wrong = 0;

	for (uint32_t tag = 0; tag < TAGS; tag++) {
		unsigned long long want = 0;

		for (int epoch = 1; epoch <= ROUNDS; epoch++)
			for (int i = 0; i < VALUES; i++)
				want += value(tag, epoch, i);
		if (!results[tag].rc && results[tag].sum == want)
			continue;
		wrong++;
		fprintf(stderr, "tag %u: %s in round %d, sum %llu, not %llu\n", tag,
			wic_strerror(results[tag].rc), results[tag].round, results[tag].sum, want);
	}
	if (!wrong)
		printf("%d warps, %d rounds: all sums are right\n", TAGS, ROUNDS);
	return wrong ? 1 : 0;
}

/* 0: all was right; 1. */
static int run(struct wic *w)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_channel *ch;
	struct result *results = NULL;
	cudaError_t error;
	int rc;

	d.tags = TAGS;
	d.bytes_per_tag = VALUES * sizeof(uint32_t);
	rc = wic_channel_create(w, &d, &ch);
	if (rc) {
		fprintf(stderr, "wic_channel_create: %s: %s\n", wic_strerror(rc), wic_last_error());
		return 1;
	}
	/* What allocates, or loads, comes before the kernel that waits. */
	error = cudaMallocHost((void **)&results, TAGS * sizeof(*results));
	if (error == cudaSuccess) {
		consume<<<BLOCKS, WARPS * 32>>>(wic_channel_handle(ch), results);
		error = cudaGetLastError();
	}
	if (error == cudaSuccess) {
		rc = produce(ch);
		if (rc)
			fprintf(stderr, "publishing: %s: %s\n", wic_strerror(rc), wic_last_error());
		/* Whatever failed, deadlines end the kernel. */
		error = cudaDeviceSynchronize();
	}
	if (error != cudaSuccess)
		fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
	else if (!rc)
		rc = check(results);
	cudaFreeHost(results);
	/* The kernel has ended: the channel's memory may go. */
	wic_channel_destroy(ch);
	return rc || error != cudaSuccess;
}

int main(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w;
	int count = 0, rc;
	cudaError_t error = cudaGetDeviceCount(&count);

	if (error != cudaSuccess || !count) {
		printf("skipped: no GPU: %s\n", cudaGetErrorString(error));
		return SKIP;
	}
	cfg.backend = "cuda";
	rc = wic_open(&cfg, &w);
	if (rc) {
		fprintf(stderr, "wic_open: %s: %s\n", wic_strerror(rc), wic_last_error());
		return 1;
	}
	printf("%s\n", wic_describe(w));
	rc = run(w);
	wic_close(w);
	return rc;
}
