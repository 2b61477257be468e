/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "methods/cores.h"

#include <stdbool.h>

#include "lib/object.h"

/* False: the threads of @w may run everywhere. */
static bool cores_get(const struct wic *w, cpu_set_t *set_out)
{
	if (sched_getaffinity(0, sizeof(*set_out), set_out)) {
		/* Nothing is known: no thread is kept from anywhere. */
		for (int core = 0; core < CPU_SETSIZE; core++)
			CPU_SET(core, set_out);
		return false;
	}
	return w && !w->cfg.unpinned;
}

/* Keep the cores [first, end) of those in the set, counted from the lowest. */
static void cores_keep(cpu_set_t *set, uint32_t first, uint32_t end)
{
	uint32_t index = 0;

	for (int core = 0; core < CPU_SETSIZE; core++) {
		if (!CPU_ISSET(core, set))
			continue;
		if (index < first || index >= end)
			CPU_CLR(core, set);
		index++;
	}
}

void m_cores_of_sms(const struct wic *w, cpu_set_t *set_out)
{
	uint32_t count, sms;

	if (!cores_get(w, set_out))
		return;
	count = (uint32_t)CPU_COUNT(set_out);
	/* 0: the cpu back-end's default. */
	sms = w->cfg.sms ? w->cfg.sms : count - (count > 1);
	cores_keep(set_out, 0, sms);
}

void m_cores_of_host(const struct wic *w, cpu_set_t *set_out)
{
	uint32_t count;

	if (!cores_get(w, set_out))
		return;
	count = (uint32_t)CPU_COUNT(set_out);
	cores_keep(set_out, count - 1, count);
}
