/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The serial reference of G_BS: the keys in their order, and sorted by another way. */
#ifndef WIC_APPS_G_BS_REFERENCE_H
#define WIC_APPS_G_BS_REFERENCE_H

#include <stdint.h>

#include <wic/error.h>

/* The next @count keys; @state: GBS_SEED before the first, kept from call to call. */
void gbs_reference_keys(uint32_t *state, uint32_t *keys_out, uint32_t count);
/* Bottom-up merge sort.  0; -ENOMEM. */
int gbs_reference_sort(uint32_t *keys, uint32_t count) WIC_MUST_CHECK;

#endif /* WIC_APPS_G_BS_REFERENCE_H */
