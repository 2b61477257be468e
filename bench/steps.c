/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/steps.h"

#include "lib/log.h"

void bench_run_failed(struct bench_run *run, int status, const char *what)
{
	/* The first failure is the cause; what follows from it is not news. */
	if (run->status)
		return;
	run->status = status;
	snprintf(run->why, sizeof(run->why), "%.40s: %.200s", what, wic_last_error());
}

static uint32_t step_count(const struct bench_rig *rig)
{
	if (rig->p.app->step)
		return rig->shape->steps;
	return rig->p.app->is_self_paced ? 0 : rig->shape->tags;
}

static struct app_step step_get(const struct bench_rig *rig, uint32_t i)
{
	struct app_step step = { false, 0, i, i };

	if (rig->p.app->step)
		rig->p.app->step(rig->app, i, &step);
	return step;
}

uint32_t bench_steps_productions(const struct bench_rig *rig)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < step_count(rig); i++)
		count += !step_get(rig, i).is_take;
	return count;
}

/* @due_ns 0: at once. */
static void produce(struct bench_rig *rig, struct bench_method *m, const struct app_step *step,
		    uint64_t due_ns, struct bench_run *run)
{
	struct method *channel = m->channels[step->channel];
	void *buffer;
	uint64_t now_ns;
	int rc = m->ops->stage(channel, step->tag, rig->epoch, &buffer);

	if (rc) {
		bench_run_failed(run, rc, "stage");
		return;
	}
	rig->p.app->produce(rig->app, step->item, rig->epoch, buffer);
	if (due_ns) {
		bench_sleep_until(due_ns);
		now_ns = wic_now_ns();
		if (now_ns > due_ns && now_ns - due_ns > run->publish_late_ns)
			run->publish_late_ns = now_ns - due_ns;
	}
	rc = m->ops->publish(channel, step->tag, rig->epoch);
	if (rc)
		bench_run_failed(run, rc, "publish");
}

static void take(struct bench_rig *rig, struct bench_method *m, const struct app_step *step,
		 struct bench_run *run)
{
	struct method *channel = m->channels[step->channel];
	const void *data;
	int rc = m->ops->take(channel, step->tag, rig->epoch, &data);

	if (rc) {
		bench_run_failed(run, rc, "take");
		return;
	}
	rig->p.app->consume(rig->app, step->item, rig->epoch, data);
	rc = m->ops->done(channel, step->tag, rig->epoch);
	if (rc)
		bench_run_failed(run, rc, "done");
}

void bench_steps_run(struct bench_rig *rig, struct bench_method *m, const struct bench_steps *steps,
		     struct bench_run *run)
{
	double gap_ns = rig->productions ? (double)steps->pace_ns / rig->productions : 0;
	double due_ns = (double)wic_now_ns();

	for (uint32_t i = 0; i < step_count(rig) && !run->status; i++) {
		struct app_step step = step_get(rig, i);

		if (step.is_take && steps->kind != BENCH_STEPS_PRODUCE) {
			uint64_t start_ns = wic_now_ns();

			take(rig, m, &step, run);
			/* The work that the pace stands for goes on when the host has what it took.
			 */
			due_ns += (double)(wic_now_ns() - start_ns);
		} else if (!step.is_take && steps->kind != BENCH_STEPS_TAKE) {
			due_ns += gap_ns;
			produce(rig, m, &step, steps->pace_ns ? (uint64_t)due_ns : 0, run);
		}
	}
}
