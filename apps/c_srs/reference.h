/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The serial reference of C_SRS: plain C, written apart from the kernel. */
#ifndef WIC_APPS_C_SRS_REFERENCE_H
#define WIC_APPS_C_SRS_REFERENCE_H

#include <stdint.h>

#include "apps/c_srs/kernel.h"

/*
 * What the kernel must make of a tile.
 * @tile: planar, 3 * side * side bytes.
 * @result_out: all but its done field.
 * @row_hash_out: side words.
 * @filtered_out: the filtered tile (sharpened r, g, b, then edges), 4 * side *
 *	side bytes; NULL: not wanted.
 * Return: 0; -ENOMEM.
 */
int srs_reference(const uint8_t *tile, uint32_t side, struct srs_result *result_out,
		  uint32_t *row_hash_out, uint8_t *filtered_out) WIC_MUST_CHECK;

#endif /* WIC_APPS_C_SRS_REFERENCE_H */
