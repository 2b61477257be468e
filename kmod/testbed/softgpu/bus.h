/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Physical memory as a GPU sees it: its own, a peer's, the system's.  The pointers stay
 * valid as long as the memory belongs to the driver, which is the driver's business: the
 * model follows an address as hardware does.
 *
 * The model has no locks.  All calls for one GPU come from one thread at a time (fakerm holds
 * the GPU's mutex); memory itself is shared with CPUs and the other GPU without any.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_BUS_H
#define WIC_KMOD_TESTBED_SOFTGPU_BUS_H

#include "port.h"

#define SGPU_PEERS_MAX 8

/* The values of a PTE's aperture field. */
enum sgpu_aperture {
	SGPU_APERTURE_VIDMEM = 0,
	SGPU_APERTURE_PEER = 1,
	SGPU_APERTURE_SYSMEM = 2,
	SGPU_APERTURE_SYSMEM_NONCOHERENT = 3,
};

struct sgpu_address {
	enum sgpu_aperture aperture;
	uint32_t peer;    /* of SGPU_APERTURE_PEER: the peer id, below SGPU_PEERS_MAX */
	uint64_t address; /* bytes: an offset into video memory, or a DMA address */
};

/* Is it one place?  Coherent or not, system memory is the same memory. */
bool sgpu_address_is_same(const struct sgpu_address *a, const struct sgpu_address *b);

struct sgpu_bus {
	uint8_t *vidmem; /* borrowed, as long as the GPU lives */
	uint64_t vidmem_bytes;
	const struct sgpu_bus *peers[SGPU_PEERS_MAX]; /* borrowed; NULL: no such peer */
	/* A CPU pointer to the system memory at a DMA address; valid to the end of its 4 KiB
	 * page; NULL: there is none. */
	void *(*sysmem_at)(void *user, uint64_t address);
	void *user;
};

/*
 * sgpu_bus_at - the bytes at a physical address
 * @left_out: how many bytes from there on lie in one piece, at least 1
 *
 * Return: a CPU pointer, or NULL: nothing is there; @left_out is then untouched.
 */
void *sgpu_bus_at(const struct sgpu_bus *bus, struct sgpu_address at, uint64_t *left_out);

#endif
