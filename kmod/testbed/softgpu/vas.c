/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* RM's own mappings of an address space: a list, newest first. */
#include "vas.h"

static bool mapping_holds(const struct sgpu_mapping *mapping, uint64_t va)
{
	return va - mapping->va < mapping->bytes;
}

void sgpu_vas_map(struct sgpu_vas *vas, struct sgpu_mapping *mapping)
{
	mapping->next = vas->mappings;
	vas->mappings = mapping;
}

struct sgpu_mapping *sgpu_vas_find(const struct sgpu_vas *vas, uint64_t va)
{
	struct sgpu_mapping *mapping;

	for (mapping = vas->mappings; mapping; mapping = mapping->next)
		if (mapping_holds(mapping, va))
			return mapping;
	return NULL;
}

struct sgpu_mapping *sgpu_vas_unmap(struct sgpu_vas *vas, uint64_t va)
{
	struct sgpu_mapping **link;

	for (link = &vas->mappings; *link; link = &(*link)->next) {
		struct sgpu_mapping *mapping = *link;

		if (!mapping_holds(mapping, va))
			continue;
		*link = mapping->next;
		mapping->next = NULL;
		return mapping;
	}
	return NULL;
}
