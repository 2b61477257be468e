/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What a park costs on this machine: how long it pays to look first. */
#ifndef WIC_BACKENDS_CPU_MEASURE_H
#define WIC_BACKENDS_CPU_MEASURE_H

struct wic_be;

/*
 * Sets be->park_ns and be->mon.spin_ns from some dozen real parks.  A waiter that looks
 * for as long as a park costs, then parks, pays at most twice the best possible
 * (Karlin et al., "Empirical studies of competitive spinning", SOSP 1991).
 */
int wic_cpu_be_measure(struct wic_be *be);

#endif /* WIC_BACKENDS_CPU_MEASURE_H */
