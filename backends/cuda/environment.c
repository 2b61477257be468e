// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cuda/environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"

#define MAX_CONNECTIONS_DEFAULT 8u /* CUDA C++ Programming Guide, environment variables */
#define VERSION_LAZY 12020         /* from then on modules load lazily by default on Linux */
#define MODE_PROHIBITED 2          /* CU_COMPUTEMODE_* of <cuda.h> */
#define MODE_EXCLUSIVE_PROCESS 3

/* ---- seeing ------------------------------------------------------------------------------ */

static void copy_text(char *text_out, size_t bytes, const char *from)
{
	snprintf(text_out, bytes, "%.*s", (int)bytes - 1, from ? from : "");
}

#define COPY_VARIABLE(field, name) copy_text(field, sizeof(field), getenv(name))

/* Tools of NVIDIA set variables of their own for what they start, and the names differ. */
static bool tool_variable(char *name_out, size_t bytes)
{
	static const char *const prefixes[] = { "NV_SANITIZER_INJECTION", "NV_COMPUTE_SANITIZER",
						"NV_NSIGHT_INJECTION" };

	for (char **v = environ; v && *v; v++)
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
			if (!strncmp(*v, prefixes[i], strlen(prefixes[i]))) {
				size_t length = strcspn(*v, "=") + 1;

				snprintf(name_out, length < bytes ? length : bytes, "%s", *v);
				return true;
			}
	return false;
}

bool wic_cuda_seen_is_tool(const char *line, char *name_out, size_t bytes)
{
	/* compute-sanitizer, Nsight Systems and Compute, cuda-gdb. */
	static const char *const tools[] = {
		"libsanitizer-collection",
		"libInterceptorInjectionTarget",
		"libTreeLauncher",
		"libToolsInjection",
		"libcuda-injection",
		"libcudadebugger",
		"libcuda-gdb",
	};

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (strstr(line, tools[i])) {
			copy_text(name_out, bytes, tools[i]);
			return true;
		}
	return false;
}

static void see_maps(struct cuda_seen *seen)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	/* A longer path is read in pieces; a name that is cut in two is not found, and that's all.
	 */
	while (maps && fgets(line, sizeof(line), maps))
		if (wic_cuda_seen_is_tool(line, seen->tool, sizeof(seen->tool)))
			break;
	if (maps)
		fclose(maps);
}

/* cuda-gdb traces what it debugs, and so do gdb and strace. */
static void see_tracer(struct cuda_seen *seen)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "TracerPid:", 10))
			seen->tracer_pid = (uint32_t)strtoul(line + 10, NULL, 10);
	if (file)
		fclose(file);
	if (!seen->tracer_pid)
		return;
	copy_text(seen->tracer, sizeof(seen->tracer), "another process");
	snprintf(line, sizeof(line), "/proc/%" PRIu32 "/comm", seen->tracer_pid);
	file = fopen(line, "re");
	if (!file)
		return;
	if (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		copy_text(seen->tracer, sizeof(seen->tracer), line);
	}
	fclose(file);
}

/* 0 where the driver does not know the question. */
static int ask(const struct wic_cuda_driver *d, int device, int attribute)
{
	int value = 0;

	return d->device_get_attribute(&value, attribute, device) ? 0 : value;
}

/* The second form gives the UUID of the instance, the first that of the GPU. */
static bool has_uuid_of_its_own(const struct wic_cuda_driver *d, int device)
{
	struct wic_cu_uuid gpu, own;

	return d->device_get_uuid_v2 && !d->device_get_uuid(&gpu, device) &&
	       !d->device_get_uuid_v2(&own, device) && memcmp(&gpu, &own, sizeof(gpu));
}

void wic_cuda_seen(const struct wic_cuda_driver *d, int device, int version, uint32_t devices,
		   struct cuda_seen *seen_out)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *pipe;
	struct cuda_seen *seen = seen_out;

	memset(seen, 0, sizeof(*seen));
	COPY_VARIABLE(seen->launch_blocking, "CUDA_LAUNCH_BLOCKING");
	COPY_VARIABLE(seen->injection, "CUDA_INJECTION64_PATH");
	COPY_VARIABLE(seen->mps_percentage, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
	COPY_VARIABLE(seen->max_connections, "CUDA_DEVICE_MAX_CONNECTIONS");
	COPY_VARIABLE(seen->module_loading, "CUDA_MODULE_LOADING");
	if (!*seen->injection)
		(void)tool_variable(seen->injection, sizeof(seen->injection));
	pipe = getenv("CUDA_MPS_PIPE_DIRECTORY");
	seen->has_mps_pipe = pipe && *pipe;
	see_maps(seen);
	see_tracer(seen);
	seen->is_mps = ask(d, device, WIC_CU_DEVICE_MPS_ENABLED);
	seen->is_mig = has_uuid_of_its_own(d, device) || (visible && !strncmp(visible, "MIG-", 4));
	seen->has_time_limit = ask(d, device, WIC_CU_DEVICE_KERNEL_EXEC_TIMEOUT);
	seen->compute_mode = ask(d, device, WIC_CU_DEVICE_COMPUTE_MODE);
	seen->devices = devices;
	seen->version = version;
}

/* ---- saying ------------------------------------------------------------------------------ */

#define SAY(...) snprintf(text_out, CUDA_SEEN_BYTES, __VA_ARGS__)

static void say_launch_blocking(const struct cuda_seen *seen, char *text_out)
{
	if (strtol(seen->launch_blocking, NULL, 10))
		SAY("CUDA_LAUNCH_BLOCKING=%s: a launch returns when its kernel has ended, so what "
		    "the "
		    "launching thread would publish then comes after the deadline",
		    seen->launch_blocking);
}

static void say_tool(const struct cuda_seen *seen, char *text_out)
{
	if (*seen->tool || *seen->injection)
		SAY("a sanitizer, profiler or debugger is loaded (%s): it may run one kernel at a "
		    "time, and a kernel that waits for another then waits to its deadline",
		    *seen->tool ? seen->tool : seen->injection);
}

static void say_tracer(const struct cuda_seen *seen, char *text_out)
{
	if (seen->tracer_pid)
		SAY("%s (process %" PRIu32
		    ") traces this process: while it stops a thread, nothing is "
		    "published, and cuda-gdb runs one kernel at a time",
		    seen->tracer, seen->tracer_pid);
}

static void say_time_limit(const struct cuda_seen *seen, char *text_out)
{
	if (seen->has_time_limit)
		SAY("this GPU drives a display: a kernel that runs for more than some seconds is "
		    "ended "
		    "and the context lost, so waits need shorter timeouts");
}

static void say_mps(const struct cuda_seen *seen, char *text_out)
{
	/* The percentage counts for nothing without a server. */
	if (!seen->is_mps && !(seen->has_mps_pipe && *seen->mps_percentage))
		return;
	if (*seen->mps_percentage)
		SAY("MPS, with CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%s: other processes run on this "
		    "GPU, "
		    "and this one has a part of the SMs, so fewer blocks are resident",
		    seen->mps_percentage);
	else
		SAY("MPS: other processes run on this GPU, and blocks of theirs may keep a "
		    "producer's "
		    "from becoming resident");
}

static void say_mig(const struct cuda_seen *seen, char *text_out)
{
	if (seen->is_mig)
		SAY("a MIG instance: it has a part of the GPU's SMs and copy engines, so fewer "
		    "blocks "
		    "are resident");
}

static void say_compute_mode(const struct cuda_seen *seen, char *text_out)
{
	if (seen->compute_mode == MODE_PROHIBITED)
		SAY("compute mode prohibited: nobody gets a context of this GPU");
	else if (seen->compute_mode == MODE_EXCLUSIVE_PROCESS)
		SAY("compute mode exclusive: a producer in another process gets no context of this "
		    "GPU");
	else if (seen->compute_mode)
		SAY("compute mode %d: who may have a context of this GPU is restricted",
		    seen->compute_mode);
}

static void say_connections(const struct cuda_seen *seen, char *text_out)
{
	unsigned long queues = strtoul(seen->max_connections, NULL, 10);

	if (!queues)
		queues = MAX_CONNECTIONS_DEFAULT;
	if (seen->devices > queues)
		SAY("%" PRIu32 " logical devices share %lu hardware queues "
		    "(CUDA_DEVICE_MAX_CONNECTIONS%s): a kernel that cannot start keeps back those "
		    "behind it in its queue",
		    seen->devices, queues, *seen->max_connections ? "" : " is not set");
}

/* Kernels of WIC's images are loaded when a context opens; this is about those of others. */
static void say_loading(const struct cuda_seen *seen, char *text_out)
{
	bool is_default = !*seen->module_loading;

	if (is_default ? seen->version >= VERSION_LAZY : !strcmp(seen->module_loading, "LAZY"))
		SAY("CUDA_MODULE_LOADING=LAZY%s: a first launch of a kernel of your own loads it, "
		    "and "
		    "that may wait for kernels that run; WIC's own are loaded already",
		    is_default ? " (the default)" : "");
}

static const struct {
	const char *what;
	enum cuda_seen_level level;
	void (*say)(const struct cuda_seen *seen, char *text_out);
} sights[] = {
	{ "launch-blocking", CUDA_SEEN_HANG, say_launch_blocking },
	{ "tool", CUDA_SEEN_HANG, say_tool },
	{ "tracer", CUDA_SEEN_HANG, say_tracer },
	{ "mps", CUDA_SEEN_HANG, say_mps },
	{ "time-limit", CUDA_SEEN_WARN, say_time_limit },
	{ "mig", CUDA_SEEN_WARN, say_mig },
	{ "compute-mode", CUDA_SEEN_WARN, say_compute_mode },
	{ "connections", CUDA_SEEN_WARN, say_connections },
	{ "module-loading", CUDA_SEEN_INFO, say_loading },
};

#define SIGHTS (sizeof(sights) / sizeof(*sights))

bool wic_cuda_seen_say(const struct cuda_seen *seen, uint32_t i, const char **what_out,
		       enum cuda_seen_level *level_out, char *text_out)
{
	if (i >= SIGHTS)
		return false;
	*what_out = sights[i].what;
	*level_out = sights[i].level;
	*text_out = 0;
	sights[i].say(seen, text_out);
	return true;
}

static void append(char *text, size_t bytes, const char *before, const char *what)
{
	size_t used = strlen(text);

	/* What does not fit is left out as a whole. */
	if (used + strlen(before) + strlen(what) < bytes)
		snprintf(text + used, bytes - used, "%s%s", before, what);
}

/* True once a process for each. */
static bool is_first(uint32_t i)
{
	static uint32_t said; /* a bit each; orders nothing else */
	uint32_t bit = 1u << i;

	return !(__atomic_fetch_or(&said, bit, __ATOMIC_RELAXED) & bit);
}

void wic_cuda_seen_log(const struct cuda_seen *seen, char *hang_out, size_t hang_bytes)
{
	char text[CUDA_SEEN_BYTES];
	enum cuda_seen_level level;
	const char *what;

	*hang_out = 0;
	for (uint32_t i = 0; wic_cuda_seen_say(seen, i, &what, &level, text); i++) {
		if (!*text)
			continue;
		if (is_first(i))
			wic_log(level == CUDA_SEEN_INFO ? WIC_LOG_INFO : WIC_LOG_WARN,
				CUDA_SEEN_PREFIX "%s", text);
		if (level == CUDA_SEEN_HANG)
			append(hang_out, hang_bytes, "; ", text);
	}
}
