/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The smallest whole program: a kernel of one warp sums a payload that the host
 * publishes after the kernel has been started.  The warp is parked until then.
 */
#include <stdio.h>

#include <wic/kernel.h>
#include <wic/wic.h>

enum { FLOATS = 1024, EPOCH = 1 };

struct sum_args {
	struct wic_handle h;
	float *sum_out;
	int *rc_out;
};

WIC_KERNEL(sum, struct sum_args, a)
{
	WIC_LANE_VAR(float, x);
	void *data;
	int rc = wic_request(&a->h, NULL, 0, EPOCH, WIC_S(10), &data);

	*a->rc_out = rc;
	if (rc)
		return;
	WIC_LANES(l) {
		WIC_AT(x, l) = 0;
		for (int i = 0; i < FLOATS / WIC_WARP_LANES; i++)
			WIC_AT(x, l) += ((float *)data)[i * WIC_WARP_LANES + l];
	}
	*a->sum_out = wic_reduce_add_f32(x);
	*a->rc_out = wic_release(&a->h, 0, EPOCH);
}

static int produce(struct wic_channel *ch)
{
	void *buffer;
	int rc = wic_stage(ch, 0, EPOCH, WIC_S(10), &buffer);

	if (rc)
		return rc;
	for (int i = 0; i < FLOATS; i++)
		((float *)buffer)[i] = 0.5f;
	return wic_publish(ch, 0, EPOCH);
}

static int run(struct wic *w)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic_channel *ch;
	float result = 0;
	int kernel_rc = 0, rc;

	d.tags = 1;
	d.bytes_per_tag = FLOATS * sizeof(float);
	rc = wic_channel_create(w, &d, &ch);
	if (rc)
		return rc;
	struct sum_args args = { wic_channel_handle(ch), &result, &kernel_rc };

	l.kernel = sum;
	l.args = &args;
	rc = wic_launch(w, &l);
	if (!rc)
		rc = produce(ch);
	if (!rc)
		rc = wic_sync(w, WIC_FOREVER);
	/* If nothing was published: ends the kernel's wait, and waits for its return. */
	wic_channel_destroy(ch);
	if (!rc)
		rc = kernel_rc;
	if (!rc)
		printf("sum of %d halves: %g\n", FLOATS, (double)result);
	return rc;
}

int main(void)
{
	struct wic *w;
	int rc = wic_open(NULL, &w);

	if (!rc) {
		printf("%s\n", wic_describe(w));
		rc = run(w);
		wic_close(w);
	}
	if (rc)
		fprintf(stderr, "%s: %s\n", wic_strerror(rc), wic_last_error());
	return rc ? 1 : 0;
}
