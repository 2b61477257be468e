/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The least that one can take of WIC: a header, a lot and a word.  No library is linked and no
 * context is opened.  Warps wait for a word of device memory, which the host raises by a copy on
 * another stream; one warp of each block looks at it, the others are parked.
 *
 *	nvcc -std=c++14 -arch=sm_90 -I<prefix>/include wait_word.cu -o wait_word
 *
 * A copy is an API call while a kernel waits, so what it needs (stream, pinned memory, the module)
 * is there before the kernel starts; a copy that was stuck would end the wait by its deadline.
 */
#include <cstdio>

#define WIC_TREE_PLAIN_ONLY /* wic_wait_word() alone: fewer registers */
#include <wic/device.cuh>

enum { BLOCKS = 8, THREADS = 256, ROUNDS = 100, SKIP = 77 };

#define DEADLINE WIC_S(5)

#define CUDA(call)                                                                      \
	do {                                                                            \
		cudaError_t error_ = (call);                                            \
		if (error_ != cudaSuccess) {                                            \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_)); \
			return 1;                                                       \
		}                                                                       \
	} while (0)

/* A round is there when the word has its number; it carries data: the value that was copied first.
 */
static __global__ void rounds(const uint64_t *word, const volatile uint64_t *data, int *rc_out,
			      unsigned long long *sum_out)
{
	__shared__ struct wic_lot lot;
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned long long sum = 0;
	int rc = 0;

	wic_lot_init(&lot);
	for (uint64_t round = 1; round <= ROUNDS && !rc; round++) {
		rc = wic_wait_word(&lot, word, round, DEADLINE);
		/* Volatile, not const __restrict__: it was written while this kernel ran. */
		if (!rc)
			sum += data[round];
	}
	rc_out[thread] = rc;
	sum_out[thread] = sum;
}

struct run {
	uint64_t *word, *data; /* device */
	int *rc;               /* pinned, as what follows */
	unsigned long long *sum;
	uint64_t *from; /* pinned: [round] is the word's value, [ROUNDS + 1 + round] the data */
	cudaStream_t kernel, copy;
};

static int make(struct run *r)
{
	const size_t words = (ROUNDS + 1) * sizeof(uint64_t);

	CUDA(cudaMalloc((void **)&r->word, sizeof(uint64_t)));
	CUDA(cudaMalloc((void **)&r->data, words));
	CUDA(cudaMallocHost((void **)&r->rc, BLOCKS * THREADS * sizeof(*r->rc)));
	CUDA(cudaMallocHost((void **)&r->sum, BLOCKS * THREADS * sizeof(*r->sum)));
	CUDA(cudaMallocHost((void **)&r->from, 2 * words));
	CUDA(cudaStreamCreateWithFlags(&r->kernel, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&r->copy, cudaStreamNonBlocking));
	for (uint64_t round = 0; round <= ROUNDS; round++) {
		r->from[round] = round;
		r->from[ROUNDS + 1 + round] = round * round;
	}
	/* The first copy of this stream happens here, and not while the kernel waits. */
	CUDA(cudaMemcpyAsync(r->word, r->from, sizeof(uint64_t), cudaMemcpyHostToDevice, r->copy));
	CUDA(cudaStreamSynchronize(r->copy));
	return 0;
}

static int produce(struct run *r)
{
	for (int round = 1; round <= ROUNDS; round++) {
		/* One stream does one after the other, so the data is there before the word says
		 * so. */
		CUDA(cudaMemcpyAsync(&r->data[round], &r->from[ROUNDS + 1 + round],
				     sizeof(uint64_t), cudaMemcpyHostToDevice, r->copy));
		CUDA(cudaMemcpyAsync(r->word, &r->from[round], sizeof(uint64_t),
				     cudaMemcpyHostToDevice, r->copy));
	}
	return 0;
}

static int check(const struct run *r)
{
	unsigned long long want = 0;
	int wrong = 0;

	for (unsigned long long round = 1; round <= ROUNDS; round++)
		want += round * round;
	for (int i = 0; i < BLOCKS * THREADS; i++) {
		if (!r->rc[i] && r->sum[i] == want)
			continue;
		if (!wrong++)
			fprintf(stderr, "thread %d: status %d, sum %llu, not %llu\n", i, r->rc[i],
				r->sum[i], want);
	}
	if (!wrong)
		printf("%d threads, %d rounds, status 0, sum %llu\n", BLOCKS * THREADS, ROUNDS,
		       want);
	return wrong ? 1 : 0;
}

int main(void)
{
	struct run r = {};
	int count = 0, failed;
	cudaError_t error = cudaGetDeviceCount(&count);

	if (error != cudaSuccess || !count) {
		printf("skipped: no GPU: %s\n", cudaGetErrorString(error));
		return SKIP;
	}
	if (make(&r))
		return 1;
	rounds<<<BLOCKS, THREADS, 0, r.kernel>>>(r.word, r.data, r.rc, r.sum);
	CUDA(cudaGetLastError());
	/* Whatever failed, the deadline ends the kernel. */
	failed = produce(&r);
	CUDA(cudaDeviceSynchronize());
	failed |= check(&r);
	return failed;
}
