/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Where a method's own threads may run, so that all methods have the same cores: what
 * works for the kernel on those of the SMs, what works for the host on the last one,
 * where the Monitor and the producer are.  Where the context does not pin its
 * threads, nobody's are.
 */
#ifndef WIC_METHODS_CORES_H
#define WIC_METHODS_CORES_H

#include <sched.h>

#include <wic/wic.h>

/* Cores of the context's SMs.  @w NULL: all that this thread may use. */
void m_cores_of_sms(const struct wic *w, cpu_set_t *set_out);
/* The last core. */
void m_cores_of_host(const struct wic *w, cpu_set_t *set_out);

#endif /* WIC_METHODS_CORES_H */
