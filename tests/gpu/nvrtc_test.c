// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * wic/device.cuh under NVRTC, where it is installed: compiled at run time, with no header of the C
 * library in reach.  NVRTC is loaded by name, so this builds without CUDA, and it needs no GPU.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/test.h"

/* As <nvrtc.h> has them. */
struct nvrtc_program;
struct nvrtc {
	int (*create)(struct nvrtc_program **program_out, const char *source, const char *name,
		      int header_count, const char *const *headers, const char *const *names);
	int (*compile)(struct nvrtc_program *program, int option_count, const char *const *options);
	int (*log_size)(struct nvrtc_program *program, size_t *bytes_out);
	int (*log)(struct nvrtc_program *program, char *log_out);
	int (*destroy)(struct nvrtc_program **program);
};

static const char source[] =
	"#include <wic/device.cuh>\n"
	"#include <wic/device.cuh>\n"
	"extern \"C\" __global__ void words(const uint64_t *word, int *rc_out)\n"
	"{\n"
	"	__shared__ __align__(8) unsigned char bytes[WIC_LOT_BYTES(8)];\n"
	"	struct wic_lot *lot = (struct wic_lot *)bytes;\n"
	"	wic_lot_init(lot);\n"
	"	int rc = wic_wait_word(lot, word, 1, WIC_MS(50));\n"
	"	if (rc == -ETIMEDOUT)\n"
	"		rc = wic_wait_word_block(lot, word, 1, WIC_MS(50));\n"
	"	wic_lot_fini(lot);\n"
	"	rc_out[threadIdx.x] = rc;\n"
	"}\n"
	"#ifndef WIC_TREE_PLAIN_ONLY\n"
	"extern \"C\" __global__ void channels(struct wic_handle in, struct wic_handle out, int "
	"*rc_out)\n"
	"{\n"
	"	extern __shared__ uint64_t shared[];\n"
	"	struct wic_lot *lot = (struct wic_lot *)shared;\n"
	"	void *data, *buffer;\n"
	"	wic_lot_init(lot);\n"
	"	int rc = wic_request(&in, lot, 0, 1, WIC_MS(50), &data);\n"
	"	if (!rc)\n"
	"		rc = wic_warp_stage(&out, lot, 0, 1, WIC_MS(50), &buffer);\n"
	"	if (!rc) {\n"
	"		((int *)buffer)[threadIdx.x % 32] = ((int *)data)[threadIdx.x % 32];\n"
	"		rc = wic_warp_publish(&out, 0, 1) | wic_release(&in, 0, 1);\n"
	"	}\n"
	"	rc_out[threadIdx.x] = rc;\n"
	"}\n"
	"#endif\n";

/* It stays loaded: it is not made to be unloaded. */
static bool nvrtc_load(struct nvrtc *n)
{
	static const char *const names[] = {
		"libnvrtc.so.13",
		"libnvrtc.so.12",
#ifdef NVRTC_DIR
		NVRTC_DIR "/libnvrtc.so.13",
		NVRTC_DIR "/libnvrtc.so.12",
#endif
	};
	static const char *const symbols[] = { "nvrtcCreateProgram", "nvrtcCompileProgram",
					       "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
					       "nvrtcDestroyProgram" };
	void *library = NULL;

	_Static_assert(sizeof(*n) == sizeof(symbols), "a symbol a call");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *at = dlsym(library, symbols[i]);

		TEST_TRUE(at);
		memcpy((char *)n + i * sizeof(at), &at, sizeof(at));
	}
	return true;
}

static void compile(const char *arch, const char *std, const char *define)
{
	const char *options[] = { arch, std, "-I" WIC_INCLUDE_DIR, define };
	int count = define ? 4 : 3, rc;
	struct nvrtc_program *program;
	struct nvrtc n;
	size_t bytes = 0;
	char *log;

	if (!nvrtc_load(&n)) {
		test_skip("there is no libnvrtc.so.13 or .12");
		return;
	}
	TEST_EQ(n.create(&program, source, "user.cu", 0, NULL, NULL), 0);
	rc = n.compile(program, count, options);
	TEST_EQ(n.log_size(program, &bytes), 0);
	log = calloc(1, bytes + 1);
	TEST_TRUE(log);
	TEST_EQ(n.log(program, log), 0);
	/* Warnings too: a user's build may take them for errors. */
	if (rc || strstr(log, "warning") || strstr(log, "error"))
		fprintf(stderr, "%s %s %s:\n%s\n", arch, std, define ? define : "", log);
	TEST_EQ(rc, 0);
	TEST_TRUE(!strstr(log, "warning"));
	free(log);
	TEST_EQ(n.destroy(&program), 0);
}

static void compile_sm_75(void)
{
	compile("--gpu-architecture=compute_75", "--std=c++14", NULL);
}

static void compile_sm_80(void)
{
	compile("--gpu-architecture=compute_80", "--std=c++17", NULL);
}

static void compile_sm_90(void)
{
	compile("--gpu-architecture=compute_90", "--std=c++14", NULL);
	compile("--gpu-architecture=sm_90", "--std=c++17", NULL);
}

static void compile_words_alone(void)
{
	compile("--gpu-architecture=compute_90", "--std=c++14", "-DWIC_TREE_PLAIN_ONLY");
}

static void compile_debug(void)
{
	compile("--gpu-architecture=compute_90", "--std=c++14", "-DWIC_DEBUG");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(compile_sm_75), TEST(compile_sm_80),
					     TEST(compile_sm_90), TEST(compile_words_alone),
					     TEST(compile_debug), { 0 } };

	return test_main(argc, argv, tests);
}
