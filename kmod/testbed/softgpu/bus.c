/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* From physical addresses to the CPU's. */
#include "bus.h"

static void *vidmem_at(const struct sgpu_bus *bus, uint64_t address, uint64_t *left_out)
{
	if (!bus || !bus->vidmem || address >= bus->vidmem_bytes)
		return NULL;
	*left_out = bus->vidmem_bytes - address;
	return bus->vidmem + address;
}

/* Pages that follow each other on the bus need not do so in memory. */
static void *sysmem_at(const struct sgpu_bus *bus, uint64_t address, uint64_t *left_out)
{
	void *bytes = bus->sysmem_at ? bus->sysmem_at(bus->user, address) : NULL;

	if (bytes)
		*left_out = SGPU_PAGE_BYTES - address % SGPU_PAGE_BYTES;
	return bytes;
}

void *sgpu_bus_at(const struct sgpu_bus *bus, struct sgpu_address at, uint64_t *left_out)
{
	switch (at.aperture) {
	case SGPU_APERTURE_VIDMEM:
		return vidmem_at(bus, at.address, left_out);
	case SGPU_APERTURE_PEER:
		if (at.peer >= SGPU_PEERS_MAX)
			return NULL;
		return vidmem_at(bus->peers[at.peer], at.address, left_out);
	case SGPU_APERTURE_SYSMEM:
	case SGPU_APERTURE_SYSMEM_NONCOHERENT:
		return sysmem_at(bus, at.address, left_out);
	}
	return NULL;
}

static bool is_sysmem(enum sgpu_aperture aperture)
{
	return aperture == SGPU_APERTURE_SYSMEM || aperture == SGPU_APERTURE_SYSMEM_NONCOHERENT;
}

bool sgpu_address_is_same(const struct sgpu_address *a, const struct sgpu_address *b)
{
	if (a->aperture != b->aperture && !(is_sysmem(a->aperture) && is_sysmem(b->aperture)))
		return false;
	if (a->aperture == SGPU_APERTURE_PEER && a->peer != b->peer)
		return false;
	return a->address == b->address;
}
