/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Allocations that fail on request; linked with --wrap=calloc --wrap=malloc. */
#ifndef WIC_TESTS_UNIT_WRAP_H
#define WIC_TESTS_UNIT_WRAP_H

#include <stdint.h>

/* The next @count allocations fail. */
void wrap_fail_next(uint32_t count);

#endif /* WIC_TESTS_UNIT_WRAP_H */
