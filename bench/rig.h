/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A rig: one application, one context and all methods opened in it, ready to run
 * any of them any number of times.
 *
 *	this thread, last core		SM threads, the other cores; or a GPU
 *	 launch --------------------->	kernel: c1, wait, c2, ...
 *	 stage, fill, sleep, publish	   ^
 *	 ... a tag at a time ...  ---------+
 *	 or take a tag of the kernel's  <--+
 *	 sync <-----------------------	done
 *
 * The calling thread is the host's side: producer, and consumer where a kernel
 * produces.  It runs on the last core, where the Monitor is, from open to close.  Epochs
 * grow by one with each run, over all methods.  One thread at a time.
 */
#ifndef WIC_BENCH_RIG_H
#define WIC_BENCH_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <wic/wic.h>

#include "apps/app.h"
#include "bench/host.h"
#include "bench/options.h"
#include "methods/method.h"

/*
 * The recorder's room, events an SM, where nobody chose another: C_SRS with 8,192 tags, the
 * most that bench chooses, takes 129,488 in a run on one SM.
 */
#define BENCH_RECORD_EVENTS (1u << 18)

/* Everything is published before the launch. */
#define BENCH_READY UINT64_MAX

struct bench_rig_params {
	const struct bench_options *options; /* borrowed while the rig is open */
	const struct app_ops *app;
	const struct method_ops *const *methods; /* borrowed; without none */
	uint32_t method_count;
	int size;              /* enum app_size */
	uint32_t tags;         /* at least; 0: what the size says */
	uint32_t side_percent; /* of an item, against the size's; 0: 100 */
	uint32_t turn_percent; /* of a turn, against the kernel's own; 0: 100 */
	uint32_t record_events;
};

struct bench_method {
	const struct method_ops *ops;
	struct method *channels[APP_CHANNELS_MAX]; /* owned */
	uint32_t channel_count;
	bool is_open; /* all of them; else why says it */
	void (*kernel)(const void *args);
	char why[256]; /* it could not be opened */
};

struct bench_rig {
	struct bench_rig_params p;
	struct app *app;               /* owned */
	const struct app_shape *shape; /* the app's */
	struct wic *w;                 /* owned */
	struct bench_method bare;      /* none */
	/* Those of the parameters that this launch can have at all. */
	struct bench_method methods[BENCH_METHODS_MAX];
	uint32_t method_count;
	char left_out[512]; /* which it cannot have, and why; "" none */
	struct bench_pin pin;
	uint64_t epoch; /* of the last run */
	uint32_t sms;
	/* A GPU's: memory for the data of each channel, which the methods share, one at a time. */
	unsigned char *data[APP_CHANNELS_MAX];
	bool is_gpu;
	uint32_t productions; /* steps of the host that publish */
	bool is_dead;         /* a kernel hangs: nothing can run any more */
};

/* What one run gave.  Counters are this run's alone. */
struct bench_run {
	uint64_t start_ns;        /* CLOCK_MONOTONIC; before the launch */
	uint64_t time_ns;         /* launch to synced */
	uint64_t publish_late_ns; /* most that a publish was behind its due time */
	struct wic_stats stats;
	int status;    /* 0 or -errno */
	char why[256]; /* "" or what was wrong */
};

/* 0 or -errno, then the reason was printed. */
int bench_rig_open(struct bench_rig *rig, const struct bench_rig_params *p);
void bench_rig_close(struct bench_rig *rig);

/*
 * T_prod and T_bare.  The producer alone, paced over @pace_ns, fills what method
 * none reads; then the kernel runs on it.  Where the producer is a kernel, T_prod is the
 * time of that alone, and pace_ns means nothing.
 */
void bench_rig_bare(struct bench_rig *rig, uint64_t pace_ns, uint64_t *prod_ns_out,
		    struct bench_run *run_out);
/*
 * T_run: of n tags of the host each is published @pace_ns / n after the one before it, not
 * counting the time in which the host takes tags; as fast as possible when that is 0.
 * BENCH_READY: all before the launch; what a kernel publishes comes when it comes.
 */
void bench_rig_run(struct bench_rig *rig, struct bench_method *method, uint64_t pace_ns,
		   struct bench_run *run_out);

#endif /* WIC_BENCH_RIG_H */
