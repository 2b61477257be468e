/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The two instructions that C does not name and that differ from machine to machine.
 * This, lib/fiber/frame.h and lib/fiber/switch_<machine>.S are what a port writes.
 */
#ifndef WIC_LIB_MACHINE_H
#define WIC_LIB_MACHINE_H

#if defined(__x86_64__)

/* Between two looks of a spinning thread: leaves the execution units to a sibling. */
static inline void wic_machine_pause(void)
{
	__builtin_ia32_pause();
}

/*
 * Fetch a line that another core wrote and this one will write, while there is other work
 * to do.  All x86-64 take the instruction; some do nothing.  The compiler's builtin gives it
 * with -mprfchw only, and fetches the line for reading otherwise.
 */
static inline void wic_machine_prefetch_for_write(const void *line)
{
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
}

#elif defined(__aarch64__)

/*
 * isb, not yield: yield is a nop on cores without hardware threads, which is most of them,
 * while isb stops fetching until what runs has ended, about as long as x86's pause (figures of
 * Neoverse-N1 in rust-lang/rust#84725; Arm recommends it, see libuv/libuv#4863).
 */
static inline void wic_machine_pause(void)
{
	__asm__ volatile("isb" : : : "memory");
}

/* prfm pstl1keep, in the base instruction set. */
static inline void wic_machine_prefetch_for_write(const void *line)
{
	__builtin_prefetch(line, 1);
}

#else
#error "lib/machine.h knows x86-64 and aarch64"
#endif

#endif /* WIC_LIB_MACHINE_H */
