/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The one outside header of core/: types, errno values, and what an assertion
 * does.  User space and kernel have their own half; nothing else in core/ may
 * include a header from outside it.
 *
 * core/ is freestanding: no allocation, no clock, no globals, no libc.  What
 * embeds it provides wic_assert_failed(), which aborts in tests and debug builds
 * and logs in release; the engine then marks itself dead and answers -EIO.
 */
#ifndef WIC_CORE_DEP_H
#define WIC_CORE_DEP_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/types.h>
#ifndef UINT64_MAX
#define UINT64_MAX 0xffffffffffffffffull
#endif
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* Linux' numbers: <errno.h> is not part of a freestanding compiler. */
#ifndef EIO
#define EIO 5
#define EAGAIN 11
#define ENOMEM 12
#define EBUSY 16
#define EINVAL 22
#define E2BIG 7
#define EDEADLK 35
#define ETIMEDOUT 110
#define ECANCELED 125
#define EOWNERDEAD 130
#endif
#endif

#define WIC_CORE_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Zero bits below the lowest, above the highest one bit; @x is not 0. */
#define WIC_CORE_CTZ64(x) ((uint32_t)__builtin_ctzll(x))
#define WIC_CORE_CLZ64(x) ((uint32_t)__builtin_clzll(x))

/* Called with the text of the broken condition and where it stands. */
void wic_assert_failed(const char *condition, const char *file, int line);

/* Our own broken invariants only; on in release.  Never on input or hardware. */
#define WIC_ASSERT(condition)                                              \
	do {                                                               \
		if (WIC_CORE_UNLIKELY(!(condition)))                       \
			wic_assert_failed(#condition, __FILE__, __LINE__); \
	} while (0)

#endif /* WIC_CORE_DEP_H */
