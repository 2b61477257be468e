// SPDX-License-Identifier: MIT OR GPL-2.0
/* For `wic doctor`: each mechanism is tried for real, a park and a check of the data. */
#include <stdio.h>
#include <string.h>

#include "backends/cpu/be.h"
#include "lib/log.h"

#define PROBE_TIMEOUT_NS 2000000000ull
#define PROBE_PAGES 64

struct probe_args {
	struct wic_handle h;
	int rc;
	unsigned char seen;
};

static void probe_kernel(const void *arg)
{
	struct probe_args *a = (struct probe_args *)(uintptr_t)arg;
	void *data;

	a->rc = wic_request(&a->h, NULL, 0, 1, PROBE_TIMEOUT_NS, &data);
	if (a->rc)
		return;
	a->seen = *(unsigned char *)data;
	a->rc = wic_release(&a->h, 0, 1);
}

static int run_probe(struct wic_be *be, struct probe_args *a)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic_be_channel *ch;
	void *buffer;
	int rc;

	d.tags = 1;
	d.bytes_per_tag = 1;
	rc = wic_cpu_channel_create(be, &d, 0, &ch);
	if (rc)
		return rc;
	rc = wic_cpu_channel_stage(ch, 0, 1, 0, &buffer);
	if (!rc) {
		*(unsigned char *)buffer = 0x5a;
		rc = wic_cpu_channel_publish(ch, 0, 1, 1);
	}
	wic_cpu_channel_handle(ch, &a->h);
	l.kernel = probe_kernel;
	l.args = a;
	if (!rc)
		rc = wic_be_cpu.launch(be, &l);
	if (!rc)
		rc = wic_be_cpu.sync(be, 0, WIC_FOREVER);
	wic_cpu_channel_close(ch);
	wic_cpu_channel_destroy(ch);
	return rc ? rc : a->rc;
}

static void probe_mechanism(struct wic_probe *p, const char *name, uint32_t mechanism)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct probe_args args = { .seen = 0 };
	struct wic_be *be;
	uint64_t park_ns;
	int rc;

	snprintf(p->name, sizeof(p->name), "cpu/%s", name);
	p->works = false;
	cfg.sms = 1;
	cfg.devices = 1;
	cfg.sm_warps = 1;
	cfg.sm_blocks = 1;
	cfg.stack_bytes = 64 * 1024;
	cfg.pool_pages = PROBE_PAGES;
	cfg.mechanism = mechanism;
	cfg.warn_after_ms = UINT32_MAX; /* not resolved: 0 would be at once */
	rc = wic_be_cpu.open(&cfg, &be);
	if (rc) {
		snprintf(p->text, sizeof(p->text), "%.200s", wic_last_error());
		return;
	}
	park_ns = be->park_measured_ns;
	be->park_ns = 0; /* no look: the fault is what is tried */
	rc = run_probe(be, &args);
	if (rc)
		snprintf(p->text, sizeof(p->text), "a park failed: %.180s", wic_last_error());
	else if (args.seen != 0x5a)
		snprintf(p->text, sizeof(p->text), "a warp woke to wrong data (0x%02x)", args.seen);
	else if (!be->sms[0].count.faults)
		snprintf(p->text, sizeof(p->text), "a warp went on without a page fault");
	else
		p->works = true;
	if (p->works)
		snprintf(p->text, sizeof(p->text),
			 "a warp took a real page fault, parked, and woke to its data; a park "
			 "costs %.1f us",
			 (double)park_ns / 1000.0);
	wic_be_cpu.close(be);
}

uint32_t wic_cpu_be_probe(struct wic_probe *probes_out, uint32_t max)
{
	struct wic_probe uffd, protect;

	probe_mechanism(&uffd, "uffd", WIC_MECHANISM_UFFD);
	probe_mechanism(&protect, "mprotect", WIC_MECHANISM_MPROTECT);
	if (max > 0) {
		struct wic_probe *p = &probes_out[0];

		memset(p, 0, sizeof(*p));
		snprintf(p->name, sizeof(p->name), "cpu");
		p->works = uffd.works || protect.works;
		snprintf(p->text, sizeof(p->text), "%s",
			 p->works ? "warps are fibers, SMs are threads, parked by real page faults"
				  : "no mechanism to close pages works here");
	}
	if (max > 1)
		probes_out[1] = uffd;
	if (max > 2)
		probes_out[2] = protect;
	return max < 3 ? max : 3;
}
