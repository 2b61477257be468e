// SPDX-License-Identifier: MIT OR GPL-2.0
#include "backends/cpu/fault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "backends/cpu/be.h"
#include "lib/log.h"

static const int fault_signals[] = { SIGSEGV, SIGBUS };
#define FAULT_SIGNALS (sizeof(fault_signals) / sizeof(fault_signals[0]))

static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int fault_users;
/* What was there when ours was installed; written before, so read without a lock. */
static struct sigaction fault_previous[FAULT_SIGNALS];
/*
 * What was there before ours the first time.  A handler that somebody put over ours may
 * outlive it and still pass on to it, and be what the next ours lies on: a signal that
 * goes round once ends here.
 */
static struct sigaction fault_origin[FAULT_SIGNALS];
static bool fault_has_origin;
static __thread const siginfo_t *fault_passing;

static char *put_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

static char *put_number(char *to, uint64_t value, unsigned int base)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (n)
		*to++ = digits[--n];
	return to;
}

/* WIC_FAULT_PATH: async-signal-safe, no printf. */
static void report(int sig, const siginfo_t *info, const struct cpu_sm *sm)
{
	char line[160], *to = line;
	ssize_t ignored;

	to = put_text(to, "wic: ");
	to = put_text(to, sig == SIGSEGV ? "SIGSEGV" : "SIGBUS");
	to = put_text(to, " at address 0x");
	to = put_number(to, (uintptr_t)info->si_addr, 16);
	to = put_text(to, ", not a page that a warp waits for");
	if (sm && sm->view.warp) {
		to = put_text(to, "; in block ");
		to = put_number(to, sm->view.warp->block_id, 10);
		to = put_text(to, ", warp ");
		to = put_number(to, sm->view.warp->warp_id, 10);
	}
	*to++ = '\n';
	ignored = write(STDERR_FILENO, line, (size_t)(to - line));
	(void)ignored;
}

/* WIC_FAULT_PATH */
static void pass_on(int sig, siginfo_t *info, void *context, const struct cpu_sm *sm)
{
	uint32_t i = sig == SIGSEGV ? 0 : 1;
	const struct sigaction *previous =
		fault_passing == info ? &fault_origin[i] : &fault_previous[i];

	fault_passing = info;
	if (previous->sa_flags & SA_SIGINFO) {
		previous->sa_sigaction(sig, info, context);
		fault_passing = NULL;
		return;
	}
	if (previous->sa_handler != SIG_DFL && previous->sa_handler != SIG_IGN) {
		previous->sa_handler(sig);
		fault_passing = NULL;
		return;
	}
	fault_passing = NULL;
	if (info->si_code <= 0) {
		/* Sent by somebody, not caused by an access: nothing would be executed again. */
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	report(sig, info, sm);
	/* Returning re-executes the access, now with the default action: a core at the bug. */
	signal(sig, SIG_DFL);
}

/* WIC_FAULT_PATH */
static void handler(int sig, siginfo_t *info, void *context)
{
	struct cpu_sm *sm = cpu_sm_self();
	struct cpu_warp *w = sm && sm->view.warp ? cpu_warp_self(sm) : NULL;
	int saved_errno = errno;

	if (w && sig == SIGSEGV && wic_cpu_pat_fault(sm, info->si_addr)) {
		errno = saved_errno;
		return;
	}
	if (!w || !w->touching || !window_contains(&sm->dev->win, info->si_addr)) {
		pass_on(sig, info, context, sm);
		errno = saved_errno;
		return;
	}
	w->faulted = true;
	cpu_count_add(sm->count.faults, 1);
	/*
	 * TSan calls handlers with all signals blocked; the scheduler must not inherit
	 * that.  Without TSan SA_NODEFER has left the mask as it was.
	 */
#if defined(__SANITIZE_THREAD__)
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL, 8);
#endif
	wic_cpu_warp_yield(w, CPU_WARP_PARKED);
	errno = saved_errno;
}

static void fork_prepare(void)
{
	pthread_mutex_lock(&fault_lock);
}

static void fork_done(void)
{
	pthread_mutex_unlock(&fault_lock);
}

/* A child may open a context of its own, whatever another thread of its parent was at. */
static void fork_watch(void)
{
	if (pthread_atfork(fork_prepare, fork_done, fork_done))
		wic_log(WIC_LOG_WARN, "pthread_atfork failed: a child may not open a context");
}

int wic_cpu_fault_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sigaction action;
	int rc = 0;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
	sigemptyset(&action.sa_mask);

	pthread_once(&once, fork_watch);
	pthread_mutex_lock(&fault_lock);
	if (!fault_users) {
		for (size_t i = 0; i < FAULT_SIGNALS && !rc; i++) {
			/* Read first: a fault between the two calls finds where to go. */
			if (sigaction(fault_signals[i], NULL, &fault_previous[i]) ||
			    sigaction(fault_signals[i], &action, NULL))
				rc = wic_fail(-errno, "sigaction: %s", strerror(errno));
			else if (!fault_has_origin)
				fault_origin[i] = fault_previous[i];
		}
		fault_has_origin = true;
	}
	if (!rc)
		fault_users++;
	pthread_mutex_unlock(&fault_lock);
	return rc;
}

void wic_cpu_fault_put(void)
{
	struct sigaction now;

	pthread_mutex_lock(&fault_lock);
	if (!--fault_users) {
		for (size_t i = 0; i < FAULT_SIGNALS; i++) {
			if (sigaction(fault_signals[i], NULL, &now))
				continue;
			/* Over a handler that somebody installed later nothing is undone. */
			if (now.sa_sigaction == handler)
				sigaction(fault_signals[i], &fault_previous[i], NULL);
		}
	}
	pthread_mutex_unlock(&fault_lock);
}
