/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The __KERNEL__ half of dep.h in a test program; see dep_test.c. */
#define __KERNEL__
#undef EIO
#include "core/dep.h"

void dep_kernel_twin(bool condition);
uint64_t dep_kernel_never(void);

void dep_kernel_twin(bool condition)
{
	WIC_ASSERT(condition);
}

uint64_t dep_kernel_never(void)
{
	return UINT64_MAX;
}
