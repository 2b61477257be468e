/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What NVRTC, which has no C library, lacks of <stdint.h> and <stddef.h>.  A program that gives
 * NVRTC headers of its own for these includes them first and defines WIC_RTC_HAS_STDINT.
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
#define offsetof(type, field) __builtin_offsetof(type, field)
#endif

#endif /* WIC_RTC_H */
