/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What NVRTC, which has no C library, lacks of <stdint.h> and <errno.h>.  A program that gives
 * NVRTC a header of its own for the former, or libcu++'s <cuda/std/cstdint>, includes that first
 * and defines WIC_RTC_HAS_STDINT.
 */
#ifndef WIC_RTC_H
#define WIC_RTC_H

#if defined(__CUDACC_RTC__) && !defined(WIC_RTC_HAS_STDINT)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;

#define UINT32_MAX 0xffffffffu
#define UINT64_MAX 0xfffffffffffffffful
#endif

/* The statuses of waits, as on Linux. */
#if defined(__CUDACC_RTC__) && !defined(EINVAL)
#define E2BIG 7
#define EAGAIN 11
#define EINVAL 22
#define ENOTSUP 95
#define ETIMEDOUT 110
#define ECANCELED 125
#define EOWNERDEAD 130
#endif

#endif /* WIC_RTC_H */
