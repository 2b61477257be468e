/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The thread that is a GPU: steps the model, delivers its interrupts.
 *
 * A doorbell is a plain word that nobody traps, so work is found by looking: without a pause for
 * spin_us after some was found, because a driver that waits for a push soon makes the next and a
 * timer of an emulated machine may come late; then every poll_us, after a while of nothing every
 * eight times that.  A GPU without a channel and without a launch can find nothing, and sleeps
 * until it gets one.
 *
 * The driver's top half runs in interrupt context, as it does on hardware: what it must not do
 * there, a debug kernel reports.
 */
#include "fakerm.h"

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#define POLL_US_MAX 10000u
#define SLOW_AFTER_NS (20 * NSEC_PER_MSEC)
#define SLOW 8 /* so many times poll_us then */

static void interrupt(struct irq_work *work)
{
	struct fakerm_gpu *gpu = container_of(work, struct fakerm_gpu, interrupt);

	/* The engine holds fakerm_events_lock, and waits for us. */
	fakerm_events->isrTopHalf(&gpu->uuid);
}

static void deliver(struct fakerm_gpu *gpu, u32 pulses)
{
	down_read(&fakerm_events_lock);
	while (pulses-- > 0 && fakerm_events && READ_ONCE(gpu->uvm_owns_interrupt)) {
		irq_work_queue(&gpu->interrupt);
		irq_work_sync(&gpu->interrupt);
	}
	up_read(&fakerm_events_lock);
}

/* False: nothing can come from the driver's words or from warps. */
static bool has_sources(struct fakerm_gpu *gpu)
{
	return READ_ONCE(gpu->model.channels) || READ_ONCE(gpu->model.launches);
}

static void idle_pause(u64 idle_ns)
{
	unsigned int us = clamp(READ_ONCE(fakerm_settings.poll_us), 1u, POLL_US_MAX);

	if (idle_ns < (u64)READ_ONCE(fakerm_settings.spin_us) * NSEC_PER_USEC) {
		cond_resched();
		return;
	}
	if (idle_ns >= SLOW_AFTER_NS)
		us *= SLOW;
	usleep_range(us, us + us / 2);
}

static int engine(void *data)
{
	struct fakerm_gpu *gpu = data;
	struct sgpu_step step;
	u64 worked_ns = 0;
	u64 now_ns;

	while (!kthread_should_stop()) {
		mutex_lock(&gpu->lock);
		now_ns = ktime_get_ns();
		sgpu_gpu_step(&gpu->model, now_ns, &step);
		fakerm_launch_poll(gpu);
		mutex_unlock(&gpu->lock);
		if (step.interrupts != 0)
			deliver(gpu, step.interrupts);
		if (step.work != 0 || step.interrupts != 0) {
			worked_ns = now_ns;
			cond_resched();
		} else if (step.has_timer || has_sources(gpu)) {
			idle_pause(now_ns - worked_ns);
		} else {
			wait_event_idle(gpu->engine_wait,
					kthread_should_stop() || has_sources(gpu));
		}
	}
	return 0;
}

int fakerm_engine_start(struct fakerm_gpu *gpu)
{
	struct task_struct *task;

	gpu->interrupt = IRQ_WORK_INIT_HARD(interrupt);
	task = kthread_run(engine, gpu, "softgpu%u", gpu->index);
	if (IS_ERR(task)) {
		fakerm_error("no thread for GPU %u: %ld", gpu->index, PTR_ERR(task));
		return PTR_ERR(task);
	}
	gpu->engine = task;
	return 0;
}

void fakerm_engine_stop(struct fakerm_gpu *gpu)
{
	if (!gpu->engine)
		return;
	kthread_stop(gpu->engine);
	gpu->engine = NULL;
}

void fakerm_engine_wake(struct fakerm_gpu *gpu)
{
	wake_up(&gpu->engine_wait);
}
