/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Rigs on a GPU, of which the host's half can be tried without one: a back-end that says it is
 * a GPU and runs the kernels of the cpu back-end.  Its device memory can be touched while a kernel
 * runs or a copy is made, and at no other time, so a host that forgets a copy dies here.
 *
 * The method wic is left out: its GPU half waits by device code that no C compiler has.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bench.h"
#include "bench/rig.h"
#include "lib/log.h"
#include "lib/nosys.h"
#include "lib/registry.h"
#include "tests/test.h"

#define PIECES_MAX 256
#define SMS 2

/* Ready, then as fast as can be.  TSan sees each byte and is 50 times slower. */
#ifdef __SANITIZE_THREAD__
#define RUNS 2
#else
#define RUNS 3
#endif

static struct {
	pthread_mutex_t lock;
	struct {
		void *p;
		size_t bytes;
	} piece[PIECES_MAX]; /* of device memory */
	uint32_t pieces;
	uint32_t users; /* kernels and copies; 0: closed */
	uint32_t kernels;
	uint32_t host_pieces; /* of all other memory */
} gpu = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct wic_be_ops ops;

static void protect(int how)
{
	for (uint32_t i = 0; i < gpu.pieces; i++)
		TEST_EQ(mprotect(gpu.piece[i].p, gpu.piece[i].bytes, how), 0);
}

static void use(void)
{
	pthread_mutex_lock(&gpu.lock);
	if (!gpu.users++)
		protect(PROT_READ | PROT_WRITE);
	pthread_mutex_unlock(&gpu.lock);
}

static void unuse(uint32_t users)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.users -= users;
	if (!gpu.users)
		protect(PROT_NONE);
	pthread_mutex_unlock(&gpu.lock);
}

static int gpu_alloc(struct wic_be *be, enum wic_mem kind, struct wic_device_id device,
		     size_t bytes, void **p_out)
{
	void *p;

	bytes = (bytes + WIC_PAGE_BYTES - 1) / WIC_PAGE_BYTES * WIC_PAGE_BYTES;
	if (kind != WIC_MEM_DEVICE) {
		gpu.host_pieces++;
		return wic_plain_mem_alloc(be, kind, device, bytes, p_out);
	}
	p = mmap(NULL, bytes, gpu.users ? PROT_READ | PROT_WRITE : PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TEST_TRUE(p != MAP_FAILED && gpu.pieces < PIECES_MAX);
	gpu.piece[gpu.pieces].p = p;
	gpu.piece[gpu.pieces++].bytes = bytes;
	*p_out = p;
	return 0;
}

static void gpu_free(struct wic_be *be, void *p)
{
	for (uint32_t i = 0; i < gpu.pieces; i++) {
		if (gpu.piece[i].p != p)
			continue;
		munmap(p, gpu.piece[i].bytes);
		gpu.piece[i] = gpu.piece[--gpu.pieces];
		return;
	}
	gpu.host_pieces--;
	wic_plain_mem_free(be, p);
}

static int gpu_copy(struct wic_be *be, void *dst, const void *src, size_t bytes)
{
	use();
	(void)wic_plain_mem_copy(be, dst, src, bytes);
	unuse(1);
	return 0;
}

static void gpu_geometry(const struct wic_be *be, struct wic_geometry *geometry_out)
{
	(void)be;
	*geometry_out = (struct wic_geometry){ SMS, 2048, 32 };
}

static int gpu_launch(struct wic_be *be, const struct wic_launch_desc *l)
{
	int rc;

	use();
	rc = wic_be_cpu.launch(be, l);
	if (rc)
		unuse(1);
	else
		gpu.kernels++;
	return rc;
}

static int gpu_sync(struct wic_be *be, uint32_t device, uint64_t timeout_ns)
{
	int rc = wic_be_cpu.sync(be, device, timeout_ns);

	if (!rc && gpu.kernels) {
		unuse(gpu.kernels);
		gpu.kernels = 0;
	}
	return rc;
}

static void gpu_begin(void)
{
	static const struct wic_be_ops *const list[] = { &ops, NULL };

	ops = wic_be_cpu;
	ops.name = "gpu";
	ops.caps |= WIC_BE_CAP_GPU;
	ops.mem_alloc = gpu_alloc;
	ops.mem_free = gpu_free;
	ops.mem_copy = gpu_copy;
	ops.geometry = gpu_geometry;
	ops.launch = gpu_launch;
	ops.sync = gpu_sync;
	wic_backends_set(list);
}

static void gpu_end(void)
{
	TEST_EQ(gpu.pieces, 0);
	TEST_EQ(gpu.host_pieces, 0);
	TEST_EQ(gpu.users, 0);
	wic_backends_set(NULL);
}

static struct bench_options options;

static const struct method_ops *const wanted[] = {
	&method_naive, &method_leader, &method_warp, &method_split, &method_thread_futex,
};

static void rig_open(struct bench_rig *rig, const char *app)
{
	struct bench_rig_params p = {
		.options = &options,
		.app = app_find(app),
		.methods = wanted,
		.method_count = sizeof(wanted) / sizeof(wanted[0]),
		.size = APP_TINY,
		.turn_percent = 100,
	};

	bench_options_init(&options);
	options.is_methods_named = true;
	TEST_TRUE(p.app);
	TEST_EQ(bench_rig_open(rig, &p), 0);
	TEST_TRUE(rig->is_gpu);
	TEST_EQ(rig->sms, SMS);
	TEST_STR_HAS(rig->left_out, "thread-futex: only where warps are emulated");
}

static void expect_ok(const struct bench_run *run)
{
	if (run->status)
		fprintf(stderr, "%s\n", run->why);
	TEST_EQ(run->status, 0);
}

/* Every method finds its data, that came before or comes meanwhile, in the one buffer. */
static void run_all(struct bench_rig *rig)
{
	struct bench_run run;
	uint64_t prod_ns;

	for (int i = 1; i < RUNS; i++) {
		bench_rig_bare(rig, 0, &prod_ns, &run);
		expect_ok(&run);
	}
	for (uint32_t i = 0; i < rig->method_count; i++) {
		struct m_args args;

		rig->methods[i].ops->args(rig->methods[i].channels[0], &args);
		TEST_TRUE(args.data == rig->data[0]);
		TEST_TRUE(!args.staging);
		for (int k = 0; k < RUNS; k++) {
			bench_rig_run(rig, &rig->methods[i], k ? 0 : BENCH_READY, &run);
			expect_ok(&run);
		}
	}
}

static void rig_c_srs(void)
{
	struct bench_rig rig;

	gpu_begin();
	rig_open(&rig, "C_SRS");
	TEST_EQ(rig.method_count, 4);
	TEST_EQ(rig.shape->grid_blocks, SMS * 4);
	TEST_EQ(rig.shape->block_threads, 256);
	run_all(&rig);
	bench_rig_close(&rig);
	gpu_end();
}

static void rig_c_h3d(void)
{
	struct bench_rig rig;

	gpu_begin();
	rig_open(&rig, "C_H3D");
	TEST_EQ(rig.method_count, 3);
	TEST_EQ(rig.shape->grid_blocks, SMS * 2);
	run_all(&rig);
	bench_rig_close(&rig);
	gpu_end();
}

/* The devices share the SMs, so that the blocks of both are resident. */
static void rig_g_bs(void)
{
	struct bench_rig rig;

	gpu_begin();
	rig_open(&rig, "G_BS");
	TEST_EQ(rig.method_count, 3);
	TEST_EQ(rig.shape->grid_blocks, SMS * 2);
	TEST_EQ(rig.shape->block_threads, 256);
	run_all(&rig);
	bench_rig_close(&rig);
	gpu_end();
}

/* A context that is no GPU in the end is opened again with the pool that the grid needs. */
static void rig_no_gpu_after_all(void)
{
	static struct wic_be_ops other;
	static const struct wic_be_ops *const list[] = { &wic_be_cpu, &other, NULL };
	struct bench_rig rig;
	struct bench_rig_params p = {
		.options = &options,
		.app = app_find("C_SRS"),
		.methods = wanted,
		.method_count = 1,
		.size = APP_TINY,
	};

	gpu_begin();
	other = ops;
	wic_backends_set(list);
	bench_options_init(&options);
	TEST_EQ(bench_rig_open(&rig, &p), 0);
	TEST_TRUE(!rig.is_gpu && !rig.data[0]);
	bench_rig_close(&rig);
	gpu_end();
}

/* All of `wic bench`: a size is chosen, no chart is drawn, no turn is swept. */
static void bench_all(void)
{
	static const struct method_ops *const some[] = { &method_naive, &method_leader };

	gpu_begin();
	bench_options_init(&options);
	for (uint32_t i = 0; i < 2; i++)
		options.methods[options.method_count++] = some[i];
	options.apps[options.app_count++] = app_find("C_SRS");
	options.is_methods_named = true;
	options.size = APP_TINY;
	options.repeats = 1;
	options.delay_count = 1;
	options.turns_percent[options.turn_count++] = 200;
	options.budget_s = 1;
	options.out_dir = NULL;
	TEST_EQ(bench_run_all(&options), 0);
	gpu_end();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(rig_c_srs), TEST(rig_c_h3d), TEST(rig_g_bs), TEST(rig_no_gpu_after_all),
		TEST(bench_all), { 0 },
	};

	return test_main(argc, argv, tests);
}
