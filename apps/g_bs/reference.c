/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/g_bs/reference.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

void gbs_reference_keys(uint32_t *state, uint32_t *keys_out, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		*state = (1309 * *state + 13849) % 65536;
		keys_out[i] = *state;
	}
}

/* Runs [from, middle) and [middle, end) into @to. */
static void merge(const uint32_t *keys, uint32_t *to, const uint32_t bounds[3])
{
	uint32_t a = bounds[0], b = bounds[1], i;

	for (i = bounds[0]; i < bounds[2]; i++) {
		if (b == bounds[2] || (a < bounds[1] && keys[a] <= keys[b]))
			to[i] = keys[a++];
		else
			to[i] = keys[b++];
	}
}

static uint32_t min_u32(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

int gbs_reference_sort(uint32_t *keys, uint32_t count)
{
	uint32_t *other = malloc((size_t)count * sizeof(*other) + 1), *from = keys, *to = other;
	uint64_t run, i;

	if (!other)
		return wic_fail(-ENOMEM, "g_bs: no memory for the reference");
	for (run = 1; run < count; run *= 2) {
		uint32_t *swap = from;

		for (i = 0; i < count; i += 2 * run)
			merge(from, to,
			      (const uint32_t[3]){ (uint32_t)i, min_u32(i + run, count),
						   min_u32(i + 2 * run, count) });
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, (size_t)count * sizeof(*keys));
	free(other);
	return 0;
}
