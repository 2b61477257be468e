/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Stand-in of the kernel's header: what core/ may use of it, no more. */
#ifndef WIC_CORE_TESTKERNEL_LINUX_TYPES_H
#define WIC_CORE_TESTKERNEL_LINUX_TYPES_H

typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long uintptr_t;
typedef unsigned long size_t;
typedef _Bool bool;

enum { false = 0, true = 1 };

#define NULL ((void *)0)

#endif /* WIC_CORE_TESTKERNEL_LINUX_TYPES_H */
