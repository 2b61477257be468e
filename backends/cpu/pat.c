// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/pat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/cpu/monitor_parts.h"
#include "backends/cpu/request.h"
#include "core/dep.h"
#include "lib/log.h"

static uint32_t pages_of(const struct cpu_pat *pat)
{
	return (uint32_t)(pat->bytes / WIC_PAGE_BYTES);
}

int wic_cpu_pat_init(struct cpu_pat *pat, uint32_t tags)
{
	size_t bytes = ((size_t)tags * sizeof(uint64_t) + WIC_PAGE_BYTES - 1) &
		       ~(size_t)(WIC_PAGE_BYTES - 1);
	void *words = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (words == MAP_FAILED)
		return wic_fail(-ENOMEM, "availability words of %u tags: %s", tags,
				strerror(errno));
	/* Pages in huge ones would be split at the first store. */
	(void)madvise(words, bytes, MADV_NOHUGEPAGE);
	pat->marked = calloc(bytes / WIC_PAGE_BYTES / 64 + 1, sizeof(*pat->marked));
	if (!pat->marked) {
		munmap(words, bytes);
		return wic_fail(-ENOMEM, "availability words of %u tags", tags);
	}
	pat->words = words;
	pat->bytes = bytes;
	return 0;
}

void wic_cpu_pat_fini(struct cpu_pat *pat)
{
	if (pat->words)
		munmap(pat->words, pat->bytes);
	free(pat->marked);
	memset(pat, 0, sizeof(*pat));
}

void wic_cpu_pat_open(struct cpu_pat *pat)
{
	if (mprotect(pat->words, pat->bytes, PROT_READ | PROT_WRITE))
		wic_log(WIC_LOG_ERROR, "opening availability pages: %s", strerror(errno));
}

static int page_protect(const struct wic_be_channel *ch, uint32_t page, int prot)
{
	return mprotect((char *)ch->pat.words + (size_t)page * WIC_PAGE_BYTES, WIC_PAGE_BYTES,
			prot);
}

void wic_cpu_pat_wait_for_handlers(struct cpu_monitor *mon)
{
	while (__atomic_load_n(&mon->pat_handlers, __ATOMIC_SEQ_CST))
		sched_yield();
}

/* A warp's store to a closed page of words.  False: @address is in none. */
static bool take_store(struct cpu_monitor *mon, const void *address)
{
	for (uint32_t i = 0; i < CPU_CHANNELS_MAX; i++) {
		/* Pairs with the Monitor's release, when the channel is opened. */
		struct wic_be_channel *ch = __atomic_load_n(&mon->pats[i], __ATOMIC_ACQUIRE);
		uintptr_t at;
		uint32_t page;

		if (!ch)
			continue;
		at = (uintptr_t)address - (uintptr_t)ch->pat.words;
		if (at >= ch->pat.bytes)
			continue;
		page = (uint32_t)(at / WIC_PAGE_BYTES);
		if (page_protect(ch, page, PROT_READ | PROT_WRITE))
			return false; /* no mapping left: it crashes, with our line */
		if (cpu_channel_is_closed(ch))
			return true; /* open from now on; nobody looks at the word */
		__atomic_fetch_or(&ch->pat.marked[page / 64], 1ull << page % 64, __ATOMIC_RELEASE);
		__atomic_fetch_or(&mon->marked_pats, 1ull << i, __ATOMIC_RELEASE);
		wic_cpu_gate_knock(&mon->gate);
		return true;
	}
	return false;
}

bool wic_cpu_pat_fault(struct cpu_sm *sm, const void *address)
{
	struct cpu_monitor *mon = &sm->be->mon;
	bool is_taken;

	/* Other kernels may run while a channel goes: it is freed once nobody looks at it. */
	__atomic_fetch_add(&mon->pat_handlers, 1, __ATOMIC_SEQ_CST);
	is_taken = take_store(mon, address);
	__atomic_fetch_sub(&mon->pat_handlers, 1, __ATOMIC_RELEASE);
	return is_taken;
}

/*
 * A refused value leaves the word, or it would be published once its epoch is staged, before
 * the data is there.  The page is open after this: it has to be looked at again.
 */
static void take_back(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch)
{
	uint32_t page = tag / CPU_PAT_PAGE_WORDS;
	uint64_t truth = cpu_channel_truth(ch, tag);

	if (page_protect(ch, page, PROT_READ | PROT_WRITE)) {
		wic_log(WIC_LOG_ERROR, "opening an availability page: %s", strerror(errno));
		wic_cpu_mon_die(&ch->be->mon);
		return;
	}
	/* Unless the warp has stored another one. */
	__atomic_compare_exchange_n(&ch->pat.words[tag], &epoch, truth, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
}

/* The words of a page that were stored to.  False: one has to be looked at again. */
static bool publish_page(struct wic_be_channel *ch, uint32_t page)
{
	uint32_t end = (page + 1) * CPU_PAT_PAGE_WORDS;
	bool all = true;

	for (uint32_t tag = page * CPU_PAT_PAGE_WORDS; tag < end && tag < ch->desc.tags; tag++) {
		/* Pairs with the warp's release: its payload is there. */
		uint64_t epoch = __atomic_load_n(&ch->pat.words[tag], __ATOMIC_ACQUIRE);
		int rc = 0;

		/* Most words of a page have not changed. */
		if (epoch > __atomic_load_n(&ch->tags[tag].truth, __ATOMIC_RELAXED))
			rc = epoch > WIC_EPOCH_LAST
				     ? wic_fail(-EINVAL, "epoch %" PRIu64 " is out of range", epoch)
				     : wic_cpu_channel_publish_word(ch, tag, epoch);
		if (rc == -EBUSY) {
			all = false; /* somebody stages it at this moment */
		} else if (rc) {
			take_back(ch, tag, epoch);
			all = false;
			wic_log(WIC_LOG_WARN, "the availability word of tag %u of channel %u: %s",
				tag, ch->id, wic_last_error());
		}
	}
	return all;
}

static void drain_channel(struct cpu_monitor *mon, struct wic_be_channel *ch)
{
	for (uint32_t i = 0; i <= pages_of(&ch->pat) / 64; i++) {
		uint64_t bits = __atomic_exchange_n(&ch->pat.marked[i], 0, __ATOMIC_ACQUIRE);

		/* Closed: its pages stay open.  The channel is closed in this thread, after that is
		 * set. */
		for (; bits && !cpu_channel_is_closed(ch); bits &= bits - 1) {
			uint32_t page = i * 64 + (uint32_t)__builtin_ctzll(bits);

			if (page_protect(ch, page, PROT_READ)) {
				wic_log(WIC_LOG_ERROR, "closing an availability page: %s",
					strerror(errno));
				wic_cpu_mon_die(mon);
				return;
			}
			if (publish_page(ch, page))
				continue;
			__atomic_fetch_or(&ch->pat.marked[i], bits & -bits, __ATOMIC_RELAXED);
			__atomic_fetch_or(&mon->marked_pats, 1ull << ch->index, __ATOMIC_RELAXED);
		}
	}
}

bool wic_cpu_pat_drain(struct cpu_monitor *mon)
{
	uint64_t channels = __atomic_load_n(&mon->marked_pats, __ATOMIC_RELAXED);

	if (!channels)
		return false;
	channels = __atomic_exchange_n(&mon->marked_pats, 0, __ATOMIC_ACQUIRE);
	for (; channels && !mon->dead; channels &= channels - 1) {
		struct wic_be_channel *ch = mon->pats[__builtin_ctzll(channels)];

		if (ch)
			drain_channel(mon, ch);
	}
	return true;
}

uint64_t *wic_pat(const struct wic_handle *h, uint32_t tag)
{
	const struct cpu_warp *w = wic_cpu_request_self("wic_pat");
	struct wic_be_channel *ch;

	if (!w || wic_cpu_request_check_produce(w, h, tag, 1))
		return NULL;
	ch = h->channel;
	if (!ch->pat.words) {
		wic_fail(-EINVAL, "a channel without WIC_CHANNEL_PAT has no words");
		return NULL;
	}
	return &ch->pat.words[tag];
}
