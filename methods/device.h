/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The device half of the method this kernel is compiled for: -DWIC_METHOD=<name>
 * takes methods/<name>/device.h.  What it gives is said in methods/method.h.
 *
 *	M_KERNEL(srs_kernel, struct srs_args, a) { ... }
 *
 * defines srs_kernel_<name>, so that one source can be linked once a method.  It begins with
 * m_begin().
 */
#ifndef WIC_METHODS_DEVICE_H
#define WIC_METHODS_DEVICE_H

#include <wic/kernel.h>

#include "methods/method.h"

#ifndef WIC_METHOD
#error "compile with -DWIC_METHOD=<name of a folder in methods/>"
#endif

#define M_TEXT_(...) #__VA_ARGS__
#define M_TEXT(...) M_TEXT_(__VA_ARGS__)
/* It would put spaces into the path. */
/* clang-format off */
#include M_TEXT(methods/WIC_METHOD/device.h)
/* clang-format on */

/* Rounds of a kernel where it is not cut: see methods/method.h. */
#ifndef M_ROUNDS
#define M_ROUNDS(rc, state, env, kept, c1, c2)                                \
	do {                                                                  \
		struct m_want want_;                                          \
                                                                              \
		(rc) = 0;                                                     \
		while ((rc) == 0 && c1(env, kept, &want_)) {                  \
			void *data_ = NULL;                                   \
                                                                              \
			(rc) = m_wait(state, want_.tag, want_.epoch, &data_); \
			if ((rc) == 0)                                        \
				c2(env, kept, data_);                         \
		}                                                             \
	} while (0)
#endif

#define M_KERNEL_2_(prefix, method, type, args)                     \
	WIC_DEVICE void prefix##_##method##_work(const type *args); \
	WIC_KERNEL(prefix##_##method, type, args)                   \
	{                                                           \
		m_begin();                                          \
		prefix##_##method##_work(args);                     \
	}                                                           \
	WIC_DEVICE void prefix##_##method##_work(const type *args)
#define M_KERNEL_1_(prefix, method, type, args) M_KERNEL_2_(prefix, method, type, args)
#define M_KERNEL(prefix, type, args) M_KERNEL_1_(prefix, WIC_METHOD, type, args)

WIC_STATIC_ASSERT(M_SHARED_BYTES(1) <= M_SHARED_BYTES_MAX(1), "one warp");
WIC_STATIC_ASSERT(M_SHARED_BYTES(32) <= M_SHARED_BYTES_MAX(32), "the largest CUDA block");
WIC_STATIC_ASSERT(M_SHARED_BYTES(1024) <= M_SHARED_BYTES_MAX(1024), "the largest cpu block");
WIC_STATIC_ASSERT(M_SHARED_BYTES(3) % 16 == 0, "what follows is aligned");

#endif /* WIC_METHODS_DEVICE_H */
