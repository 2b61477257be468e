// SPDX-License-Identifier: MIT OR GPL-2.0
/* What is seen of the machine (backends/cuda/environment.h), and what fits on a GPU. */
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/environment.h"
#include "lib/backend.h"
#include "tests/fakecuda/fakecuda.h"
#include "tests/gpu/gpu.h"

static const char *const variables[] = {
	"CUDA_LAUNCH_BLOCKING",        "CUDA_INJECTION64_PATH",
	"CUDA_MPS_PIPE_DIRECTORY",     "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
	"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING",
	"CUDA_VISIBLE_DEVICES",        "NV_SANITIZER_INJECTION_PORT_BASE",
};

static void forget_variables(void)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		unsetenv(variables[i]);
}

/* ---- sentences, from the struct alone ---------------------------------------------------- */

/* How many are said, and the one that is called @what; "": it is not said. */
static uint32_t say(const struct cuda_seen *seen, const char *what, char *text_out)
{
	enum cuda_seen_level level;
	char text[CUDA_SEEN_BYTES];
	const char *name;
	uint32_t count = 0;

	*text_out = 0;
	for (uint32_t i = 0; wic_cuda_seen_say(seen, i, &name, &level, text); i++) {
		count += *text != 0;
		if (!strcmp(name, what))
			memcpy(text_out, text, sizeof(text));
	}
	return count;
}

static void sentences_of_nothing(void)
{
	struct cuda_seen seen = { .launch_blocking = "0", .devices = 8, .version = 11070 };
	char text[CUDA_SEEN_BYTES];

	TEST_EQ(say(&seen, "", text), 0);
	/* A percentage without a server, the connections as many as are needed. */
	strcpy(seen.mps_percentage, "50");
	strcpy(seen.max_connections, "16");
	seen.devices = 16;
	strcpy(seen.module_loading, "EAGER");
	seen.version = 13000;
	TEST_EQ(say(&seen, "", text), 0);
}

static void sentences_of_each(void)
{
	static const struct {
		struct cuda_seen seen;
		const char *what, *has;
	} rows[] = {
		{ { .launch_blocking = "1" },
		  "launch-blocking",
		  "CUDA_LAUNCH_BLOCKING=1: a launch" },
		{ { .tool = "libsanitizer-collection" }, "tool", "(libsanitizer-collection)" },
		{ { .injection = "/x/libprofiler.so" }, "tool", "(/x/libprofiler.so)" },
		{ { .tracer = "cuda-gdb", .tracer_pid = 7 },
		  "tracer",
		  "cuda-gdb (process 7) traces" },
		{ { .is_mps = true }, "mps", "MPS: other processes" },
		{ { .is_mps = true, .mps_percentage = "25" }, "mps", "PERCENTAGE=25" },
		{ { .has_mps_pipe = true, .mps_percentage = "25" }, "mps", "PERCENTAGE=25" },
		{ { .has_time_limit = true }, "time-limit", "drives a display" },
		{ { .is_mig = true }, "mig", "a MIG instance" },
		{ { .compute_mode = 2 }, "compute-mode", "compute mode prohibited" },
		{ { .compute_mode = 3 }, "compute-mode", "compute mode exclusive" },
		{ { .compute_mode = 1 }, "compute-mode", "compute mode 1" },
		{ { .devices = 9 }, "connections", "9 logical devices share 8 hardware queues" },
		{ { .devices = 3, .max_connections = "2" },
		  "connections",
		  "3 logical devices share 2" },
		{ { .module_loading = "LAZY" }, "module-loading", "LAZY: a first launch" },
		{ { .version = 12020 }, "module-loading", "LAZY (the default)" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[CUDA_SEEN_BYTES];

		TEST_EQ(say(&rows[i].seen, rows[i].what, text), 1);
		TEST_STR_HAS(text, rows[i].has);
		/* None is cut, unless what is quoted is long. */
		TEST_TRUE(strlen(text) + 32 < sizeof(text));
	}
}

static void tools_by_their_libraries(void)
{
	char name[64] = "";

	TEST_TRUE(wic_cuda_seen_is_tool("7f00-7f01 r-xp 00000000 08:01 5 /opt/cs/"
					"libsanitizer-collection.so\n",
					name, sizeof(name)));
	TEST_TRUE(!strcmp(name, "libsanitizer-collection"));
	TEST_TRUE(wic_cuda_seen_is_tool("/usr/lib/libcudadebugger.so.1\n", name, sizeof(name)));
	TEST_TRUE(!wic_cuda_seen_is_tool("/usr/lib/libcuda.so.1\n", name, sizeof(name)));
	TEST_TRUE(!wic_cuda_seen_is_tool("/usr/lib/libasan.so.6\n", name, sizeof(name)));
}

/* ---- on a device ------------------------------------------------------------------------- */

/* All that can be set up; each is in the log once a process, and a probe of the doctor's. */
static void seen_at_open_and_by_doctor(void)
{
	static const char *const has[] = {
		"CUDA_LAUNCH_BLOCKING=1",   "(/x/tool.so)",   "PERCENTAGE=40",
		"drives a display",         "a MIG instance", "compute mode exclusive",
		"2 logical devices share 1"
	};
	const uint32_t count = sizeof(has) / sizeof(*has);
	struct wic_probe probes[16];
	char texts[16 * CUDA_SEEN_BYTES] = "";
	uint32_t probe_count;
	struct gpu g;

	forget_variables();
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	setenv("CUDA_INJECTION64_PATH", "/x/tool.so", 1);
	setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "40", 1);
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
	fakecuda_set_attribute(0, WIC_CU_DEVICE_MPS_ENABLED, 1);
	fakecuda_set_attribute(0, WIC_CU_DEVICE_KERNEL_EXEC_TIMEOUT, 1);
	fakecuda_set_attribute(0, WIC_CU_DEVICE_COMPUTE_MODE, 3);
	fakecuda_set_mig(0);
	g = gpu_open(2);
	for (uint32_t i = 0; i < count; i++)
		TEST_STR_HAS(g.log->text, has[i]);
	wic_close(g.w);
	g = gpu_open(2);
	TEST_TRUE(!*g.log->text);
	wic_close(g.w);
	memset(probes, 0x5a, sizeof(probes));
	probe_count = wic_be_cuda.probe(probes, 16);
	/* The doctor's context has one device. */
	TEST_TRUE(probe_count >= count);
	TEST_TRUE(!strcmp(probes[0].name, "cuda") && probes[0].works);
	for (uint32_t i = 1; i < probe_count; i++) {
		TEST_TRUE(probes[i].works && !strncmp(probes[i].name, "cuda/", 5));
		strcat(texts, probes[i].text);
	}
	for (uint32_t i = 0; i + 1 < count; i++)
		TEST_STR_HAS(texts, has[i]);
	TEST_EQ(wic_be_cuda.probe(probes, 2), 2);
	gpu_check_driver();
}

static void seen_by_other_variables(void)
{
	struct cuda_seen seen;
	const struct wic_cuda_driver *d;

	forget_variables();
	TEST_EQ(wic_cuda_driver_get(&d), 0);
	setenv("CUDA_VISIBLE_DEVICES", "MIG-1234", 1);
	setenv("NV_SANITIZER_INJECTION_PORT_BASE", "60000", 1);
	setenv("CUDA_MPS_PIPE_DIRECTORY", "/tmp/mps", 1);
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	wic_cuda_seen(d, 0, 12040, 1, &seen);
	TEST_TRUE(seen.is_mig && seen.has_mps_pipe && !seen.is_mps && !seen.has_time_limit);
	TEST_TRUE(!strcmp(seen.injection, "NV_SANITIZER_INJECTION_PORT_BASE"));
	TEST_TRUE(!strcmp(seen.module_loading, "EAGER"));
	forget_variables();
	wic_cuda_seen(d, 0, 12040, 1, &seen);
	TEST_TRUE(!seen.is_mig && !seen.has_mps_pipe && !*seen.injection && !*seen.tool);
	/* A driver that knows none of the questions. */
	fakecuda_fail("cuDeviceGetAttribute", 1, 1, FAKECUDA_FOR_GOOD);
	fakecuda_fail("cuDeviceGetUuid_v2", 1, 1, FAKECUDA_FOR_GOOD);
	wic_cuda_seen(d, 0, 12040, 1, &seen);
	TEST_TRUE(!seen.is_mig && !seen.is_mps && !seen.has_time_limit && !seen.compute_mode);
	gpu_reset_driver();
}

/* A timeout says what explains it, on both sides, and not what does not. */
static void seen_in_timeouts(void)
{
	struct wic_channel *to, *from;
	struct gpu_run run;
	struct gpu g;

	forget_variables();
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	fakecuda_set_attribute(0, WIC_CU_DEVICE_KERNEL_EXEC_TIMEOUT, 1);
	g = gpu_open(1);
	to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 1, 0);
	from = gpu_channel(&g, WIC_GPU(0), WIC_HOST, 1, 0);
	g.log->text[0] = 0;
	run = gpu_run(&g, gpu_script, 1, 32);
	run.args.h[0] = wic_channel_handle(to);
	gpu_step(&run, GPU_WAIT, 0, 1)->timeout_ns = WIC_MS(1);
	gpu_start(&g, &run);
	gpu_end_script(&g, &run, -ETIMEDOUT);
	TEST_STR_HAS(g.log->text, "this grid has 1; CUDA_LAUNCH_BLOCKING=1: a launch");
	TEST_EQ(wic_host_wait(from, 0, 1, WIC_MS(1)), -ETIMEDOUT);
	TEST_STR_HAS(wic_last_error(), "; CUDA_LAUNCH_BLOCKING=1: a launch");
	TEST_TRUE(!strstr(wic_last_error(), "display") && !strstr(g.log->text, "display"));
	gpu_close_with(&g, 1);
}

struct blocked {
	struct wic *w;
	struct gpu_run run;
};

static void *launch(void *arg)
{
	struct blocked *l = arg;

	TEST_EQ(wic_launch(l->w, &l->run.l), 0);
	return NULL;
}

/* As CUDA_LAUNCH_BLOCKING has it: the launch returns late, and a sync of others does not. */
static void sync_while_a_launch_blocks(void)
{
	struct blocked l;
	pthread_t thread;
	struct gpu g;

	forget_variables();
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	g = gpu_open(1);
	l.w = g.w;
	l.run = gpu_run(&g, gpu_script, 1, 32);
	l.run.l.args = &l.run.args;
	gpu_step(&l.run, GPU_BARRIER, 0, 0);
	fakecuda_hold("cuLaunchKernel");
	TEST_EQ(pthread_create(&thread, NULL, launch, &l), 0);
	while (!fakecuda_held())
		sleep_ms(1);
	TEST_EQ(wic_sync(g.w, WIC_MS(20)), -ETIMEDOUT);
	TEST_STR_HAS(wic_last_error(), "still running; CUDA_LAUNCH_BLOCKING=1: a launch");
	fakecuda_let_go("cuLaunchKernel");
	TEST_EQ(pthread_join(thread, NULL), 0);
	gpu_end_script(&g, &l.run, 0);
	gpu_close(&g);
}

/* ---- what fits --------------------------------------------------------------------------- */

static void check_says_what_is_resident(void)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_fit fit = WIC_FIT_INIT;
	struct gpu g;

	gpu_image_add();
	/* Of a kernel that a context finds when it opens: gpu_open() would register it anew. */
	fakecuda_kernel_attribute("gpu_script", WIC_CU_FUNC_REGISTERS, 64);
	fakecuda_kernel_attribute("gpu_script", WIC_CU_FUNC_LOCAL_BYTES, 24);
	cfg.backend = "cuda";
	g.log = &gpu_log_;
	TEST_EQ(wic_open(&cfg, &g.w), 0);
	l.kernel = gpu_script;
	l.grid_blocks = 100000;
	l.block_threads = 256;
	TEST_EQ(wic_check(g.w, &l, &fit), 0);
	TEST_EQ(fit.sm_blocks, 4); /* 65,536 registers of an SM */
	TEST_EQ(fit.resident_blocks, 16);
	TEST_EQ(fit.grid_blocks, 100000);
	TEST_EQ(fit.registers, 64);
	TEST_EQ(fit.spill_bytes, 24);
	/* 227 KiB, which a kernel has to be allowed. */
	l.shared_bytes = 200000;
	TEST_EQ(wic_check(g.w, &l, &fit), 0);
	TEST_EQ(fit.sm_blocks, 1);
	l.block_threads = 1025;
	TEST_EQ(wic_check(g.w, &l, &fit), -E2BIG);
	l.block_threads = 256;
	l.shared_bytes = 1 << 20;
	TEST_EQ(wic_check(g.w, &l, &fit), -E2BIG);
	TEST_EQ(fit.sm_blocks, 1);
	l.shared_bytes = 0;
	l.kernel = (void (*)(const void *args))(uintptr_t)&g;
	TEST_EQ(wic_check(g.w, &l, &fit), -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "no GPU code");
	TEST_EQ(fakecuda_calls("cuLaunchKernel"), 0);
	gpu_close(&g);
}

/* It does not wait for what runs. */
static void check_while_a_kernel_waits(void)
{
	struct gpu g = gpu_open(1);
	struct wic_channel *to = gpu_channel(&g, WIC_HOST, WIC_GPU(0), 1, 0);
	struct gpu_run run = gpu_run(&g, gpu_script, 1, 32);
	struct wic_fit fit = WIC_FIT_INIT;
	uint64_t *word = gpu_pinned(&g, 8);

	run.args.h[0] = wic_channel_handle(to);
	gpu_step(&run, GPU_WAIT, 0, 1);
	gpu_start(&g, &run);
	gpu_wait_arrived(&run, 1);
	TEST_EQ(wic_check(g.w, &run.l, &fit), 0);
	TEST_EQ(wic_check_word(g.w, word), -EINVAL);
	TEST_EQ(wic_launch(g.w, &run.l), -EBUSY);
	gpu_publish(to, 0, 1, 0);
	gpu_end_script(&g, &run, 0);
	wic_mem_free(g.w, word);
	gpu_close(&g);
}

static void check_word_by_kind_of_memory(void)
{
	static const struct {
		enum wic_mem kind;
		const char *text;
	} rows[] = { { WIC_MEM_DEVICE, NULL },
		     { WIC_MEM_HOST, "the host's memory" },
		     { WIC_MEM_MANAGED, "managed memory" } };
	struct gpu g = gpu_open(1);
	uint64_t here = 0;
	void *p = NULL;

	for (uint32_t i = 0; i < 3; i++) {
		TEST_EQ(wic_mem_alloc(g.w, rows[i].kind, WIC_GPU(0), 64, &p), 0);
		TEST_EQ(wic_check_word(g.w, (uint64_t *)p + 3), rows[i].text ? -EINVAL : 0);
		if (rows[i].text)
			TEST_STR_HAS(wic_last_error(), rows[i].text);
		TEST_EQ(wic_check_word(g.w, (uint64_t *)(void *)((char *)p + 4)), -EINVAL);
		TEST_STR_HAS(wic_last_error(), "misaligned");
		wic_mem_free(g.w, p);
	}
	TEST_EQ(wic_check_word(g.w, &here), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "the host's memory");
	TEST_EQ(wic_check_word(g.w, NULL), -EINVAL);
	gpu_close(&g);
}

/* Memory of the process's other GPU. */
static void check_word_of_another_gpu(void)
{
	const struct wic_cuda_driver *d;
	struct wic_cu_context *context;
	uint64_t address = 0;
	struct gpu g;

	fakecuda_set_devices(2);
	g = gpu_open(1);
	TEST_EQ(wic_cuda_driver_get(&d), 0);
	TEST_EQ(d->device_primary_ctx_retain(&context, 1), 0);
	TEST_EQ(d->ctx_push_current(context), 0);
	TEST_EQ(d->mem_alloc(&address, 64), 0);
	TEST_EQ(wic_check_word(g.w, (const uint64_t *)(uintptr_t)address), -EINVAL);
	TEST_STR_HAS(wic_last_error(), "another GPU's memory");
	TEST_EQ(d->mem_free(address), 0);
	TEST_EQ(d->ctx_pop_current(&context), 0);
	TEST_EQ(d->device_primary_ctx_release(1), 0);
	gpu_close(&g);
}

static const struct test tests[] = {
	TEST(sentences_of_nothing),       TEST(sentences_of_each),
	TEST(tools_by_their_libraries),   TEST(seen_at_open_and_by_doctor),
	TEST(seen_by_other_variables),    TEST(seen_in_timeouts),
	TEST(sync_while_a_launch_blocks), TEST(check_says_what_is_resident),
	TEST(check_while_a_kernel_waits), TEST(check_word_by_kind_of_memory),
	TEST(check_word_of_another_gpu),  { 0 },
};

GPU_PART(seen);
