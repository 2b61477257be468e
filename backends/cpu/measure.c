// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/measure.h"

#include <errno.h>
#include <stdlib.h>

#include "backends/cpu/be.h"
#include "lib/log.h"

#define PARKS 33
/* Far above any park: 2 s were too short at a load of 25 on two cores, in an emulator. */
#define MEASURE_TIMEOUT_NS WIC_S(20)
/* Bounds of what is believed: a machine that was busy must not make waiters spin long. */
#define PARK_NS_MIN 1000u
#define PARK_NS_MAX 200000u

struct measure_args {
	struct wic_handle h;
	uint64_t cost_ns[PARKS];
	int rc;
};

/* One warp, nothing else to run: each request is a whole cycle of fault, fill, replay. */
static void measure_kernel(const void *arg)
{
	struct measure_args *a = (struct measure_args *)(uintptr_t)arg;

	for (uint32_t i = 0; i < PARKS; i++) {
		uint64_t begin = wic_now_ns();
		void *data;

		a->rc = wic_request(&a->h, NULL, i, 1, MEASURE_TIMEOUT_NS, &data);
		if (!a->rc)
			a->rc = wic_release(&a->h, i, 1);
		if (a->rc)
			return;
		a->cost_ns[i] = wic_now_ns() - begin;
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int run_parks(struct wic_be *be, struct wic_be_channel *ch, struct measure_args *a)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	int rc = 0;

	for (uint32_t tag = 0; tag < PARKS && !rc; tag++) {
		void *buffer;

		rc = wic_cpu_channel_stage(ch, tag, 1, 0, &buffer);
		if (!rc)
			rc = wic_cpu_channel_publish(ch, tag, 1, 1);
	}
	if (rc)
		return rc;
	wic_cpu_channel_handle(ch, &a->h);
	l.kernel = measure_kernel;
	l.args = a;
	rc = wic_be_cpu.launch(be, &l);
	if (!rc)
		rc = wic_be_cpu.sync(be, 0, WIC_FOREVER);
	return rc ? rc : a->rc;
}

int wic_cpu_be_measure(struct wic_be *be)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct measure_args *a = calloc(1, sizeof(*a));
	struct wic_be_channel *ch;
	uint64_t cost;
	int rc;

	if (!a)
		return wic_fail(-ENOMEM, "measuring a park");
	d.tags = PARKS;
	d.bytes_per_tag = WIC_PAGE_BYTES;
	/* A pool of one page holds one request at a time: that is enough. */
	rc = wic_cpu_channel_create(be, &d, 0, &ch);
	if (rc)
		goto out_free;
	/* park_ns is still 0: no look, each request takes its fault. */
	rc = run_parks(be, ch, a);
	if (!rc) {
		qsort(a->cost_ns, PARKS, sizeof(a->cost_ns[0]), compare);
		/* The lower quartile: other programs only ever make a park dearer. */
		cost = a->cost_ns[PARKS / 4];
		be->park_measured_ns = cost;
		cost = cost < PARK_NS_MIN ? PARK_NS_MIN : cost;
		be->park_ns = cost > PARK_NS_MAX ? PARK_NS_MAX : cost;
		__atomic_store_n(&be->mon.spin_ns, 2 * be->park_ns, __ATOMIC_RELAXED);
	} else {
		rc = wic_fail(-ENOTSUP, "the first park on this machine failed: %s",
			      wic_strerror(rc));
	}
	wic_cpu_channel_close(ch);
	wic_cpu_channel_destroy(ch);
out_free:
	free(a);
	return rc;
}
