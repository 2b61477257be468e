/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Producer availability tags: a word a tag, in pages that may not be written.  A warp's
 * store faults; the handler makes the page writable, marks it and knocks; the Monitor closes
 * the page again and then reads its words, so that a store after its look faults again:
 *
 *	warp: store -> fault -> writable -> marked -> store
 *	Monitor:                                 marked? -> closed -> words read -> published
 *
 * Writable comes before marked: the other way round the Monitor could close the page between
 * the two, and the store would be seen by nobody.
 */
#ifndef WIC_BACKENDS_CPU_PAT_H
#define WIC_BACKENDS_CPU_PAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_PAT_PAGE_WORDS 512u

struct wic_be_channel;
struct cpu_monitor;
struct cpu_sm;

struct cpu_pat {
	uint64_t *words; /* owned mapping, a word a tag; NULL: none */
	size_t bytes;
	uint64_t *marked; /* owned, a bit a page; atomics */
};

int wic_cpu_pat_init(struct cpu_pat *pat, uint32_t tags);
void wic_cpu_pat_fini(struct cpu_pat *pat);
/* Writable for good: the channel is closed, stores are nobody's notice any more. */
void wic_cpu_pat_open(struct cpu_pat *pat);
/* Until no handler looks at a channel that is no longer among the Monitor's. */
void wic_cpu_pat_wait_for_handlers(struct cpu_monitor *mon);
/* WIC_FAULT_PATH: a warp's store to a PAT page of its context?  True: it may go on. */
bool wic_cpu_pat_fault(struct cpu_sm *sm, const void *address);
/* The Monitor's: publish what was stored. */
bool wic_cpu_pat_drain(struct cpu_monitor *mon);

#endif /* WIC_BACKENDS_CPU_PAT_H */
