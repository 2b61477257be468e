/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The handler of SIGSEGV and SIGBUS.  A warp's expected touch of a closed page parks
 * the warp: the handler, on the fiber's own stack, switches to the scheduler, and
 * returns (re-executing the touch) when the page is open.  Everything else goes to the
 * handler that was there before; where there was none, one line is written and the
 * default action follows, so that a real bug still crashes where it is.
 *
 * SA_NODEFER, or the signal would stay blocked in the scheduler.  SA_ONSTACK, so that a
 * handler that was there before still has its alternate stack on other threads; the SMs'
 * threads have none, or the frames of parked fibers would share it.
 */
#ifndef WIC_BACKENDS_CPU_FAULT_H
#define WIC_BACKENDS_CPU_FAULT_H

/* Install the handlers with the first user, restore with the last. 0 or -errno. */
int wic_cpu_fault_get(void);
void wic_cpu_fault_put(void);

#endif /* WIC_BACKENDS_CPU_FAULT_H */
