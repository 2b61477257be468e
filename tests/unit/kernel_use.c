/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A kernel that uses each macro and inline function of wic/kernel.h that C, C++
 * and CUDA have in common.  It is compiled as each of them (include/CMakeLists.txt),
 * with all warnings, and never run.
 */
#include <wic/kernel.h>
#include <wic/wic.h>

struct kernel_use_args {
	struct wic_handle h;
	uint32_t *words;
	float *floats;
};

WIC_DEVICE uint32_t kernel_use_index(void)
{
	return wic_block_id() * wic_block_warps() + wic_warp_id();
}

WIC_KERNEL(kernel_use, struct kernel_use_args, a)
{
	WIC_SHARED(uint32_t, shared);
	WIC_LANE_VAR(uint32_t, x);
	WIC_LANE_VAR(float, y);
	uint32_t sum;

	WIC_LANES(l) {
		WIC_AT(x, l) = a->words[l] + wic_block_threads();
		WIC_AT(y, l) = a->floats[l];
	}
	WIC_TURN();
	sum = wic_reduce_add_u32(x);
	wic_block_add_u32(&shared[0], sum);
	wic_bar();
	wic_atomic_add_u32(&a->words[kernel_use_index()], shared[0] + wic_grid_blocks());
	a->floats[wic_block_id()] = wic_reduce_add_f32(y);
}

#ifndef __CUDACC__
/* What a warp of the cpu back-end has beside these; waits and releases in every form. */
int kernel_use_waits(const struct wic_handle *h);

int kernel_use_waits(const struct wic_handle *h)
{
	void *data;
	int rc = wic_wait(h, NULL, 0, 1, WIC_US(5));

	wic_note(WIC_EVENT_LOOK, WIC_NO_TAG, WIC_EPOCH_NONE);
	wic_look();
	if (!rc)
		rc = wic_try(h, 0, 1, &data);
	if (rc == -EAGAIN)
		rc = wic_request(h, NULL, 0, 1, WIC_FOREVER, &data);
	return rc ? rc : wic_release(h, 0, 1);
}
#endif

/* The initialisers of the host's structs, which C++ reads in its own way. */
int kernel_use_inits(void);

int kernel_use_inits(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;

	d.producer = WIC_HOST;
	d.consumer = WIC_GPU(0);
	return cfg.size_bytes == sizeof(cfg) && d.readers == 1 && l.grid_blocks == 1 &&
	       d.producer.v != d.consumer.v;
}
