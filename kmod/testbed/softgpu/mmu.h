/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The page tables of Pascal to Ampere (MMU version 2): 49 bits of address, entries of 8
 * bytes, and one level of 16-byte entries with a table of 64 KiB pages beside one of 4 KiB
 * pages.  The walk reads them from memory each time; see tlb.h for what is kept.
 *
 *   bits 48:47  46:38  37:29  28:21            20:16 (64 KiB) or 20:12 (4 KiB)
 *        PDE3 -> PDE2 -> PDE1 -> PDE0, or PTE of 2 MiB -> PTE
 *
 * Source: NVIDIA open-gpu-doc, "Pascal MMU format", and nvidia-uvm's uvm_pascal_mmu.c,
 * uvm_volta_mmu.c, which write what is read here.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_MMU_H
#define WIC_KMOD_TESTBED_SOFTGPU_MMU_H

#include "bus.h"

#define SGPU_VA_BITS 49

enum sgpu_access {
	SGPU_ACCESS_READ = 0,
	SGPU_ACCESS_WRITE = 1,
	SGPU_ACCESS_ATOMIC = 2,
	SGPU_ACCESS_PREFETCH = 3, /* as a read, but nothing waits for it */
};

/* The hardware's numbers (NV_PFAULT_FAULT_TYPE_*). */
enum sgpu_fault_type {
	SGPU_FAULT_PDE = 0,
	SGPU_FAULT_PTE = 2,
	SGPU_FAULT_VA_LIMIT = 3,
	SGPU_FAULT_UNBOUND_INSTANCE = 4,
	SGPU_FAULT_READ_ONLY = 6,
	SGPU_FAULT_UNSUPPORTED_APERTURE = 10, /* the PTE points to no memory */
	SGPU_FAULT_ATOMIC = 15,
};

/* The root of an address space. */
struct sgpu_pdb {
	bool is_valid;
	struct sgpu_address root; /* of video or system memory */
};

/* A page: what a PTE says, and where it applies. */
struct sgpu_page {
	uint64_t va;    /* of its first byte */
	uint64_t bytes; /* 4 KiB, 64 KiB or 2 MiB */
	struct sgpu_address at;
	bool is_read_only;
	bool has_no_atomics;
};

/*
 * sgpu_mmu_walk - the page of a virtual address
 * @va: bytes, any
 * @page_out: written on success only
 *
 * Says nothing about permissions: see sgpu_mmu_permits().
 *
 * Return: 0, or 1 + enum sgpu_fault_type of what is missing.
 */
int sgpu_mmu_walk(const struct sgpu_bus *bus, const struct sgpu_pdb *pdb, uint64_t va,
		  struct sgpu_page *page_out);

/* Return: 0, or 1 + SGPU_FAULT_READ_ONLY or SGPU_FAULT_ATOMIC. */
int sgpu_mmu_permits(const struct sgpu_page *page, enum sgpu_access access);

#endif
