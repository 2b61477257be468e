/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The bare loop: what a park/fill/replay cycle costs when nothing but the mechanism
 * is there.  No engine, no channels, no deadlines, no pool, one request at a time.
 *
 *	worker, core 0				monitor, last core
 *	 fiber A touches a closed page
 *	 -> SIGBUS/SIGSEGV -> handler
 *	 -> switch to the scheduler
 *	 post the page ------------------------> copy 4 KiB to the data
 *	 fiber B takes turns, as the second	 open the page
 *	 warp does in WIC's own measurement	 done = n
 *	 <--------------------------------------
 *	 switch to A -> sigreturn -> the access
 *	 runs again; released = n -------------> every 64 pages: close them together
 *
 * The same pages to fault on and always-mapped data, page count, fill and closing
 * batches as the cpu back-end, and the same switch of fibers; everything else is
 * written for this file alone.
 */
#include "bench/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/host.h"
#include "lib/fiber/fiber.h"
#include "lib/log.h"
#include "lib/machine.h"

#define PAGE WIC_PAGE_BYTES
#define STACK_BYTES 65536

struct bench_bare {
	enum wic_mechanism mechanism;
	uint32_t tags;
	unsigned char *source; /* owned: what is filled in, a page a tag */
	unsigned char *data;   /* owned: always mapped */
	unsigned char *closed; /* owned: faults */
	int uffd;              /* owned, -1: none */
	struct wic_stacks stacks;
	struct wic_fiber scheduler, faulter, other;

	/* Words that cross threads, a line each; counts of cycles. */
	_Alignas(64) uint32_t posted;   /* worker, release: page posted - 1 waits */
	_Alignas(64) uint32_t done;     /* monitor, release: pages open */
	_Alignas(64) uint32_t released; /* worker, release: reads finished */
	_Alignas(64) uint32_t stop;

	/* The worker's. */
	uint32_t next; /* cycle that the faulter is in */
	bool is_parked, is_finished;
	uint32_t wrong;
	uint64_t start_ns, end_ns;
	/* The monitor's. */
	uint32_t closed_to; /* cycles whose pages are closed again */
	int error;
};

/* One loop runs at a time; the handler has no other way to find it. */
static struct bench_bare *running;

static uint32_t page_of(uint32_t cycle)
{
	return cycle % BENCH_PERF_PAGES;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	struct bench_bare *b = running;
	int saved = errno;

	(void)context;
	if (!b ||
	    (uintptr_t)info->si_addr - (uintptr_t)b->closed >= (uintptr_t)BENCH_PERF_PAGES * PAGE) {
		signal(sig, SIG_DFL);
		return;
	}
	b->is_parked = true;
	wic_fiber_switch(&b->faulter, &b->scheduler);
	errno = saved;
}

static void faulter_main(void *arg)
{
	struct bench_bare *b = arg;
	uint32_t end = b->next + b->tags;

	b->start_ns = wic_now_ns();
	for (; b->next != end; b->next++) {
		size_t at = (size_t)page_of(b->next) * PAGE;

		(void)*(volatile unsigned char *)(b->closed + at);
		if (*(volatile uint32_t *)(b->data + at) != b->next % b->tags)
			b->wrong++;
		__atomic_store_n(&b->released, b->next + 1, __ATOMIC_RELEASE);
	}
	b->end_ns = wic_now_ns();
	b->is_finished = true;
	wic_fiber_exit(&b->faulter, &b->scheduler);
}

static void other_main(void *arg)
{
	struct bench_bare *b = arg;

	for (;;)
		wic_fiber_switch(&b->other, &b->scheduler);
}

static void *worker_main(void *arg)
{
	struct bench_bare *b = arg;
	struct bench_pin pin;

	bench_pin_core(&pin, 0);
	wic_fiber_init_thread(&b->scheduler);
	wic_fiber_init(&b->faulter, wic_stacks_low(&b->stacks, 0), b->stacks.stack_bytes,
		       faulter_main, b);
	wic_fiber_init(&b->other, wic_stacks_low(&b->stacks, 1), b->stacks.stack_bytes, other_main,
		       b);
	b->is_parked = false;
	b->is_finished = false;
	while (!b->is_finished) {
		if (!b->is_parked) {
			wic_fiber_switch(&b->scheduler, &b->faulter);
			/* After the switch: before it, A's registers are not saved yet. */
			if (b->is_parked)
				__atomic_store_n(&b->posted, b->next + 1, __ATOMIC_RELEASE);
		}
		wic_fiber_switch(&b->scheduler, &b->other);
		if (__atomic_load_n(&b->done, __ATOMIC_ACQUIRE) == b->next + 1)
			b->is_parked = false;
	}
	wic_fiber_fini(&b->other);
	wic_fiber_fini(&b->faulter);
	__atomic_store_n(&b->stop, 1, __ATOMIC_RELEASE);
	return NULL;
}

static int page_open(struct bench_bare *b, uint32_t page)
{
	struct uffdio_zeropage z = {
		.range = { (uintptr_t)b->closed + (uint64_t)page * PAGE, PAGE },
		.mode = UFFDIO_ZEROPAGE_MODE_DONTWAKE,
	};

	if (b->mechanism == WIC_MECHANISM_UFFD)
		return ioctl(b->uffd, UFFDIO_ZEROPAGE, &z);
	return mprotect(b->closed + (size_t)page * PAGE, PAGE, PROT_READ);
}

static int pages_close(struct bench_bare *b, uint32_t first, uint32_t count)
{
	unsigned char *at = b->closed + (size_t)first * PAGE;

	if (b->mechanism == WIC_MECHANISM_UFFD)
		return madvise(at, (size_t)count * PAGE, MADV_DONTNEED);
	return mprotect(at, (size_t)count * PAGE, PROT_NONE);
}

static void monitor_close(struct bench_bare *b)
{
	uint32_t released = __atomic_load_n(&b->released, __ATOMIC_ACQUIRE);

	/* BENCH_PERF_PAGES is a multiple of the batch, so no batch wraps. */
	while (released - b->closed_to >= BENCH_PERF_CLOSE_BATCH) {
		if (pages_close(b, page_of(b->closed_to), BENCH_PERF_CLOSE_BATCH))
			b->error = errno;
		b->closed_to += BENCH_PERF_CLOSE_BATCH;
	}
}

static void *monitor_main(void *arg)
{
	struct bench_bare *b = arg;
	struct bench_pin pin;

	bench_pin_last(&pin);
	while (!__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE)) {
		uint32_t posted = __atomic_load_n(&b->posted, __ATOMIC_ACQUIRE);
		uint32_t cycle = posted - 1;

		if (posted == b->done) {
			wic_machine_pause();
			continue;
		}
		memcpy(b->data + (size_t)page_of(cycle) * PAGE,
		       b->source + (size_t)(cycle % b->tags) * PAGE, PAGE);
		if (page_open(b, page_of(cycle)))
			b->error = errno;
		__atomic_store_n(&b->done, posted, __ATOMIC_RELEASE);
		monitor_close(b);
	}
	monitor_close(b);
	return NULL;
}

static int uffd_open(struct bench_bare *b)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_SIGBUS,
	};
	struct uffdio_register reg = {
		.range = { (uintptr_t)b->closed, (uint64_t)BENCH_PERF_PAGES * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	b->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (b->uffd < 0 || ioctl(b->uffd, UFFDIO_API, &api) ||
	    ioctl(b->uffd, UFFDIO_REGISTER, &reg))
		return -errno;
	return 0;
}

static int window_open(struct bench_bare *b)
{
	size_t bytes = (size_t)BENCH_PERF_PAGES * PAGE;
	int prot = b->mechanism == WIC_MECHANISM_UFFD ? PROT_READ : PROT_NONE;

	b->data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	b->closed = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->data == MAP_FAILED || b->closed == MAP_FAILED)
		return -ENOMEM;
	(void)madvise(b->data, bytes, MADV_HUGEPAGE);
	(void)madvise(b->closed, bytes, MADV_NOHUGEPAGE);
	memset(b->data, 0xff, bytes);
	return b->mechanism == WIC_MECHANISM_UFFD ? uffd_open(b) : 0;
}

int bench_bare_open(enum wic_mechanism mechanism, uint32_t tags, struct bench_bare **b_out)
{
	struct bench_bare *b = aligned_alloc(64, sizeof(*b));
	int rc;

	if (!b)
		return -ENOMEM;
	memset(b, 0, sizeof(*b));
	b->mechanism = mechanism;
	b->tags = tags;
	b->uffd = -1;
	b->data = MAP_FAILED;
	b->closed = MAP_FAILED;
	b->source = aligned_alloc(PAGE, (size_t)tags * PAGE);
	rc = b->source ? wic_stacks_create(&b->stacks, 2, STACK_BYTES) : -ENOMEM;
	if (!rc)
		rc = window_open(b);
	if (rc) {
		bench_bare_close(b);
		return rc;
	}
	for (uint32_t t = 0; t < tags; t++)
		for (uint32_t w = 0; w < PAGE / sizeof(uint32_t); w++)
			((uint32_t *)(b->source + (size_t)t * PAGE))[w] = t;
	*b_out = b;
	return 0;
}

void bench_bare_close(struct bench_bare *b)
{
	if (b->uffd >= 0)
		close(b->uffd);
	if (b->closed != MAP_FAILED)
		munmap(b->closed, (size_t)BENCH_PERF_PAGES * PAGE);
	if (b->data != MAP_FAILED)
		munmap(b->data, (size_t)BENCH_PERF_PAGES * PAGE);
	if (b->stacks.base)
		wic_stacks_destroy(&b->stacks);
	free(b->source);
	free(b);
}

static int run_threads(struct bench_bare *b)
{
	pthread_t worker, monitor;
	int rc;

	b->stop = 0;
	rc = pthread_create(&monitor, NULL, monitor_main, b);
	if (rc)
		return -rc;
	rc = pthread_create(&worker, NULL, worker_main, b);
	if (rc)
		__atomic_store_n(&b->stop, 1, __ATOMIC_RELEASE);
	else
		pthread_join(worker, NULL);
	pthread_join(monitor, NULL);
	return -rc;
}

int bench_bare_cycle(struct bench_bare *b, double *ns_out)
{
	struct sigaction ours, before_bus, before_segv;
	int rc;

	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = on_fault;
	ours.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigemptyset(&ours.sa_mask);
	running = b;
	b->wrong = 0;
	/* WIC's own handler comes back afterwards; no kernel of its runs meanwhile. */
	if (sigaction(SIGBUS, &ours, &before_bus))
		return -errno;
	if (sigaction(SIGSEGV, &ours, &before_segv)) {
		sigaction(SIGBUS, &before_bus, NULL);
		return -errno;
	}
	rc = run_threads(b);
	sigaction(SIGSEGV, &before_segv, NULL);
	sigaction(SIGBUS, &before_bus, NULL);
	running = NULL;
	if (!rc && b->error)
		rc = -b->error;
	if (!rc && b->wrong)
		rc = -EIO;
	if (!rc)
		*ns_out = (double)(b->end_ns - b->start_ns) / b->tags;
	return rc;
}
