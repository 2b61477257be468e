/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* lib/assert.c as a release (or, with ASSERT_TWIN_DEBUG, as a debug build) has it. */
#undef WIC_DEBUG
#ifdef ASSERT_TWIN_DEBUG
#define WIC_DEBUG 1
#define wic_assert_failed assert_debug
#else
#define wic_assert_failed assert_release
#endif
#include "lib/assert.c"
