/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef WIC_LIB_MINMAX_H
#define WIC_LIB_MINMAX_H

#include <stdint.h>

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

#endif /* WIC_LIB_MINMAX_H */
