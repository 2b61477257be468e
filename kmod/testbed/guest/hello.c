/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The example of docs/testbed.md: one warp adds 1 to a word that the CPU wrote. */
#include <stdio.h>

#include "softgpu_user.h"

static struct softgpu_program program;

/* NULL, or what went wrong. */
static const char *hello(const struct softgpu *gpus, volatile uint64_t *word)
{
	struct softgpu_launch launch = { .gpu = 0, .program = &program };
	struct sgpu_warp_report report;
	struct sgpu_wait_args end;

	*word = 41; /* the page is the CPU's now, so the warp faults */
	softgpu_program_init(&program);
	softgpu_load(&program, 8, 1, softgpu_at(word)); /* r1 = *word */
	softgpu_add(&program, 1, 1, 1);                 /* r1 += 1 */
	softgpu_store(&program, 8, softgpu_at(word), 1);
	softgpu_exit(&program);
	if (softgpu_launch(gpus, &launch))
		return "it does not start: the program, or the sizes";
	if (softgpu_wait(gpus, &launch, 10000, &end) || softgpu_report(gpus, &launch, 0, &report))
		return "no such launch";
	/* Not done, state 2 (stalled) and no replay: the driver has not replayed. */
	printf("state %u, %llu faults, %llu replays\n", report.state,
	       (unsigned long long)report.faults, (unsigned long long)report.replays);
	if (!end.is_done)
		return "it does not end";
	if (!report.faults || end.exited != 1)
		return "no fault, or no exit";
	return *word == 42 ? NULL : "the CPU reads something else"; /* it faults the page back */
}

int main(void)
{
	struct softgpu gpus;
	const char *why;
	void *memory;

	if (softgpu_open(&gpus, 1) || softgpu_map(&gpus, 4096, &memory)) {
		printf("fail hello: no GPU, or no memory\n");
		return 1;
	}
	why = hello(&gpus, memory);
	softgpu_close(&gpus);
	printf(why ? "fail hello: %s\n" : "ok hello\n", why);
	return why != NULL;
}
