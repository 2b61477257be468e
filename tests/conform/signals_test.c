// SPDX-License-Identifier: MIT OR GPL-2.0
/* What the back-end does to its process's signals: nothing that was not its own. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conform/conform.h"

#define BYTES 64

/* One real fault, to show that faults are still taken: by pull mode, beside whatever the other. */
static void fault_once(struct wic *w)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	uint64_t before = stats_of(w).faults;
	struct wic_channel *ch = NULL;
	struct take_args a;

	d.mode = WIC_MODE_PULL;
	d.tags = 1;
	d.bytes_per_tag = BYTES;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	a = take_args(ch, 1, 1);
	launch(w, take_kernel, &a, 1, WIC_WARP_LANES);
	sleep_ms(20);
	stage_and_publish(ch, 0, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.taken, 1);
	TEST_TRUE(stats_of(w).faults > before);
	wic_channel_destroy(ch);
}

static bool sanitizer_handles_signals(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	test_skip("the sanitizer's own handler reports crashes");
	return true;
#endif
	if (getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "vgpreload")) {
		test_skip("valgrind reports crashes itself");
		return true;
	}
	return false;
}

static void crash_kernel(const void *arg)
{
	*(volatile int *)(uintptr_t)arg = 1;
}

/* A real bug in a kernel still crashes, with a line that says where. */
static void crash_outside_the_window(void)
{
	char line[256] = { 0 };
	int pipes[2], status;
	ssize_t n = 0;
	pid_t pid;

	if (sanitizer_handles_signals())
		return;
	TEST_EQ(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		struct wic *w = open_default();

		dup2(pipes[1], STDERR_FILENO);
		launch(w, crash_kernel, (void *)0x10, 1, 32);
		(void)!wic_sync(w, TIMEOUT);
		_exit(0);
	}
	close(pipes[1]);
	n = read(pipes[0], line, sizeof(line) - 1);
	TEST_TRUE(n > 0);
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_TRUE(WIFSIGNALED(status));
	TEST_EQ(WTERMSIG(status), SIGSEGV);
	TEST_STR_HAS(line, "SIGSEGV at address 0x10");
	TEST_STR_HAS(line, "block 0, warp 0");
	close(pipes[0]);
}

/* SIGSEGV that somebody sent ends the process: nothing would be executed again. */
static void signal_sent_by_kill(void)
{
	int status;
	pid_t pid;

	if (sanitizer_handles_signals())
		return;
	pid = fork();
	if (!pid) {
		struct wic *w = open_default();

		fault_once(w);
		kill(getpid(), SIGSEGV);
		_exit(0);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_TRUE(WIFSIGNALED(status));
	TEST_EQ(WTERMSIG(status), SIGSEGV);
}

static volatile uintptr_t nowhere = 0x10;
static struct sigaction chained[2];
static unsigned int chained_calls;

/* A crash reporter of the user's, installed after ours, that hands on what it got. */
static void chain(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *next = &chained[sig == SIGBUS];

	__atomic_fetch_add(&chained_calls, 1, __ATOMIC_RELAXED);
	if (next->sa_flags & SA_SIGINFO)
		next->sa_sigaction(sig, info, context);
}

/* The context closes and another opens while the user's handler stays on top. */
static void handler_that_chains(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER }, kept[2];
	struct wic *w;

	if (sanitizer_handles_signals())
		return;
	TEST_EQ(sigaction(SIGSEGV, NULL, &kept[0]), 0);
	TEST_EQ(sigaction(SIGBUS, NULL, &kept[1]), 0);
	w = open_default();
	action.sa_sigaction = chain;
	TEST_EQ(sigaction(SIGSEGV, &action, &chained[0]), 0);
	TEST_EQ(sigaction(SIGBUS, &action, &chained[1]), 0);
	fault_once(w);
	close_quietly(w);

	w = open_default();
	fault_once(w);
	close_quietly(w);
	/* The user's is still on top: it was not ours to take away. */
	TEST_EQ(sigaction(SIGSEGV, NULL, &action), 0);
	TEST_TRUE(action.sa_sigaction == chain);
	TEST_EQ(sigaction(SIGSEGV, &kept[0], NULL), 0);
	TEST_EQ(sigaction(SIGBUS, &kept[1], NULL), 0);
	/* And now that it is gone, and what it passed on to with it. */
	w = open_default();
	fault_once(w);
	close_quietly(w);
}

/* The same, and then a crash: it ends the process, and goes round at most once more. */
static void crash_in_a_chain(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER };
	int status;
	pid_t pid;

	if (sanitizer_handles_signals())
		return;
	pid = fork();
	if (!pid) {
		struct wic *w = open_default();

		alarm(20);
		action.sa_sigaction = chain;
		if (sigaction(SIGSEGV, &action, &chained[0]) ||
		    sigaction(SIGBUS, &action, &chained[1]))
			_exit(1);
		wic_close(w);
		w = open_default();
		fault_once(w);
		*(volatile int *)nowhere = 1;
		_exit(3);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_TRUE(WIFSIGNALED(status));
	TEST_EQ(WTERMSIG(status), SIGSEGV);
}

static char alternate[65536];

static void note_stack(int sig, siginfo_t *info, void *context)
{
	char here;

	(void)info;
	(void)context;
	(void)sig;
	_exit((uintptr_t)&here - (uintptr_t)alternate < sizeof(alternate) ? 42 : 43);
}

/* A handler of the user's on an alternate stack still runs there: stack overflows need it. */
static void handler_on_alternate_stack(void)
{
	const stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	stack_t after;
	int status;
	pid_t pid;

	if (sanitizer_handles_signals())
		return;
	pid = fork();
	if (!pid) {
		struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
		struct wic *w;

		action.sa_sigaction = note_stack;
		if (sigaltstack(&stack, NULL) || sigaction(SIGSEGV, &action, NULL))
			_exit(1);
		w = open_default();
		fault_once(w);
		if (sigaltstack(NULL, &after) || after.ss_sp != alternate)
			_exit(2);
		*(volatile int *)nowhere = 1;
		_exit(3);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_TRUE(WIFEXITED(status));
	TEST_EQ(WEXITSTATUS(status), 42);
}

/* A warp goes on with the signal mask that it stopped with. */
static void mask_is_kept_kernel(const void *arg)
{
	struct take_args *a = (struct take_args *)(uintptr_t)arg;
	sigset_t before, after;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	take_one(a, 0, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		a->wrong += sigismember(&before, sig) != sigismember(&after, sig);
}

static void mask_is_kept(void)
{
	struct wic *w = open_default();
	struct wic_channel *ch = channel(w, 1, BYTES, 1);
	struct take_args a = take_args(ch, 1, 1);

	launch(w, mask_is_kept_kernel, &a, 1, WIC_WARP_LANES);
	sleep_ms(20);
	stage_and_publish(ch, 0, 1, BYTES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.taken, 1);
	TEST_EQ(a.wrong, 0);
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(crash_outside_the_window),
		TEST(signal_sent_by_kill),
		TEST(handler_that_chains),
		TEST(crash_in_a_chain),
		TEST(handler_on_alternate_stack),
		TEST(mask_is_kept),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
