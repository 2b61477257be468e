/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the model needs from outside, in the kernel and in user space: fixed-width types,
 * memory functions, a log, and loads and stores of words that a driver's threads touch at
 * the same time.  Nothing else: no allocation, no lock, no clock.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_PORT_H
#define WIC_KMOD_TESTBED_SOFTGPU_PORT_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/printk.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#define INT32_MAX S32_MAX
#define UINT32_MAX U32_MAX
#define sgpu_log(format, ...) pr_err("softgpu: " format "\n", ##__VA_ARGS__)
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* One line without its end; tests/softgpu defines it and looks at what was said. */
__attribute__((format(printf, 1, 2))) void sgpu_log_line(const char *format, ...);
#define sgpu_log(...) sgpu_log_line(__VA_ARGS__)
#endif

#define SGPU_PAGE_BYTES 4096u

/* Acquire and release: they pair with the driver's barriers round its own accesses. */
static inline uint32_t sgpu_load32(const volatile void *word)
{
	return __atomic_load_n((const volatile uint32_t *)word, __ATOMIC_ACQUIRE);
}

static inline void sgpu_store32(volatile void *word, uint32_t value)
{
	__atomic_store_n((volatile uint32_t *)word, value, __ATOMIC_RELEASE);
}

static inline uint64_t sgpu_load64(const volatile void *word)
{
	return __atomic_load_n((const volatile uint64_t *)word, __ATOMIC_ACQUIRE);
}

static inline void sgpu_store64(volatile void *word, uint64_t value)
{
	__atomic_store_n((volatile uint64_t *)word, value, __ATOMIC_RELEASE);
}

/* @bits of @value, from bit @first on. */
static inline uint64_t sgpu_bits(uint64_t value, unsigned int first, unsigned int bits)
{
	return (value >> first) & (bits >= 64 ? ~0ull : (1ull << bits) - 1);
}

#endif
