// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Contract 9: a publisher stopped at any instruction delays nobody else's notices.  Each
 * instruction of stage and publish in turn (the processor's single step), and publishers
 * stopped by a signal wherever it meets them.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <ucontext.h>

#include "tests/conform/conform.h"

#define BYTES 64
#define POINTS_MAX 600 /* of so many instructions all are tried, of more a random choice */
#define BOUND WIC_S(5) /* seconds where nobody is delayed: some us, on a busy machine ms */

enum { STANDS = 's', DONE = 'd' };

struct stop {
	long at; /* instruction to stop at; -1: only count */
	long count;
	int is_on; /* atomic; stepping, or publishing */
	int to_main[2], to_victim[2];
};

static struct stop stop;

static void tell(char c)
{
	if (write(stop.to_main[1], &c, 1) != 1)
		abort();
}

/* Tell main, wait for it: async-signal-safe. */
static void stand_still(void)
{
	int saved = errno;
	char c;

	tell(STANDS);
	if (read(stop.to_victim[0], &c, 1) != 1)
		abort();
	errno = saved;
}

/* What a publisher has to say: STANDS or DONE. */
static char hear(void)
{
	char c = 0;

	TEST_EQ(read(stop.to_main[0], &c, 1), 1);
	return c;
}

static void let_go(void)
{
	TEST_EQ(write(stop.to_victim[1], "", 1), 1);
}

static void pipes_open(void)
{
	TEST_EQ(pipe(stop.to_main), 0);
	TEST_EQ(pipe(stop.to_victim), 0);
}

static void pipes_close(void)
{
	for (int i = 0; i < 2; i++) {
		close(stop.to_main[i]);
		close(stop.to_victim[i]);
	}
}

static void one_kernel(const void *arg)
{
	struct take_args *a = (struct take_args *)(uintptr_t)arg;

	take_one(a, a->tags, a->epoch_first);
}

static void take(struct wic *w, struct wic_channel *ch, uint32_t tag, uint64_t epoch)
{
	struct take_args a = take_args(ch, tag, 0);

	a.epoch_first = epoch;
	launch(w, one_kernel, &a, 1, 32);
	if (tag)
		stage_and_publish(ch, tag, epoch, BYTES);
	TEST_EQ(wic_sync(w, BOUND), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.taken, 1);
	TEST_EQ(a.wrong, 0);
}

struct victim {
	struct wic_channel *ch;
	uint64_t epoch_first, epoch_end;
	uint32_t tag;
	long at;
	int rc;
};

#if defined(__x86_64__) && !UNDER_TSAN

#define TRAP_FLAG 0x100 /* EFLAGS.TF: a trap after each instruction */

static void step_begin(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void step(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	if (!__atomic_load_n(&stop.is_on, __ATOMIC_RELAXED))
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	else if (stop.count++ == stop.at)
		stand_still();
}

static int stage_fill_publish(struct wic_channel *ch, uint32_t tag, uint64_t epoch)
{
	void *buffer = NULL;
	int rc = wic_stage(ch, tag, epoch, TIMEOUT, &buffer);

	if (rc)
		return rc;
	for (uint64_t i = 0; i < BYTES / 8; i++)
		((uint64_t *)buffer)[i] = word_of(tag, epoch, i);
	return wic_publish(ch, tag, epoch);
}

static void *publish_by_steps(void *arg)
{
	struct victim *v = arg;

	stop.at = v->at;
	stop.count = 0;
	__atomic_store_n(&stop.is_on, 1, __ATOMIC_RELAXED);
	raise(SIGUSR2);
	v->rc = stage_fill_publish(v->ch, v->tag, v->epoch_first);
	__atomic_store_n(&stop.is_on, 0, __ATOMIC_RELAXED);
	tell(DONE);
	return NULL;
}

/*
 * One publisher of tag 0, stopped at instruction @at while the Monitor sleeps and nobody
 * waits; then a warp begins to wait for tag 1 and is woken by a publish that comes now.
 * Returns false where the publisher had done before instruction @at.
 */
static bool stop_one_at(struct wic *w, struct wic_channel *ch, uint64_t epoch, long at)
{
	struct victim v = { .ch = ch, .epoch_first = epoch, .at = at };
	pthread_t thread;
	bool stood;

	sleep_ms(1); /* long enough for the Monitor to go to sleep, as a rule */
	TEST_EQ(pthread_create(&thread, NULL, publish_by_steps, &v), 0);
	stood = hear() == STANDS;
	take(w, ch, 1, epoch);
	if (stood) {
		let_go();
		TEST_EQ(hear(), DONE);
	}
	pthread_join(thread, NULL);
	TEST_EQ(v.rc, 0);
	take(w, ch, 0, epoch);
	return stood;
}

static void stop_at_each(struct wic *w, struct wic_channel *ch)
{
	uint64_t seed = 3, epoch = 1;
	long all, missed = 0;

	TEST_TRUE(!stop_one_at(w, ch, epoch++, -1));
	all = stop.count;
	TEST_TRUE(all > 50);
	if (all > POINTS_MAX) {
		for (long i = 0; i < POINTS_MAX / 2; i++)
			stop_one_at(w, ch, epoch++, (long)(test_random(&seed) % (uint64_t)all));
		return;
	}
	/* How many they are depends on whether the Monitor sleeps. */
	for (long at = 0; missed < 3; at++)
		missed = stop_one_at(w, ch, epoch++, at) ? 0 : missed + 1;
}

static void publisher_stopped_at_each_instruction(void)
{
	struct sigaction begin = { .sa_flags = SA_SIGINFO }, each = { .sa_flags = SA_SIGINFO };
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct sigaction kept[2];
	struct wic *w;

	if (under_valgrind()) {
		test_skip("valgrind does not step");
		return;
	}
	begin.sa_sigaction = step_begin;
	each.sa_sigaction = step;
	pipes_open();
	TEST_EQ(sigaction(SIGUSR2, &begin, &kept[0]), 0);
	TEST_EQ(sigaction(SIGTRAP, &each, &kept[1]), 0);
	cfg.sms = 1;
	cfg.pool_pages = 64;
	w = open_with(cfg);
	stop_at_each(w, channel(w, 2, BYTES, 1));
	close_quietly(w);
	sigaction(SIGUSR2, &kept[0], NULL);
	sigaction(SIGTRAP, &kept[1], NULL);
	pipes_close();
}

#else

static void publisher_stopped_at_each_instruction(void)
{
	test_skip("needs the single step of x86-64, and no TSan, which delays signals");
}

#endif

#define VICTIMS 3
#define ROUNDS 60

static void on_stop(int sig)
{
	(void)sig;
	stand_still();
	tell(DONE);
}

/* Epoch after epoch; a tag's credit comes from a warp that takes it, so signals only. */
static void *publish_until(void *arg)
{
	struct victim *v = arg;
	uint64_t epoch = 1;

	while (__atomic_load_n(&stop.is_on, __ATOMIC_RELAXED) && !v->rc)
		v->rc = wic_publish(v->ch, v->tag, epoch++);
	return NULL;
}

/* Three at once, on the other's line of tags and on others, wherever the signal meets them. */
static void publishers_stopped_by_signals(void)
{
	static const uint32_t tags[VICTIMS] = { 1, 40, 7 };
	struct sigaction action = { .sa_handler = on_stop }, kept;
	struct victim victims[VICTIMS];
	pthread_t threads[VICTIMS];
	struct wic_channel *signals, *ch;
	struct wic *w;

	if (UNDER_TSAN) {
		test_skip("TSan delays signals");
		return;
	}
	w = open_default();
	signals = channel(w, 64, 0, 1);
	ch = channel(w, 2, BYTES, 1);
	pipes_open();
	stop.is_on = 1;
	TEST_EQ(sigaction(SIGUSR1, &action, &kept), 0);
	for (int i = 0; i < VICTIMS; i++) {
		victims[i] = (struct victim){ .ch = signals, .tag = tags[i] };
		TEST_EQ(pthread_create(&threads[i], NULL, publish_until, &victims[i]), 0);
	}
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < VICTIMS; i++)
			TEST_EQ(pthread_kill(threads[i], SIGUSR1), 0);
		for (int i = 0; i < VICTIMS; i++)
			TEST_EQ(hear(), STANDS);
		sleep_ms(1);
		TEST_EQ(wic_publish(signals, 0, round), 0);
		take(w, ch, 1, round);
		for (int i = 0; i < VICTIMS; i++)
			let_go();
		/* Or one that stops again would take another's word to go on. */
		for (int i = 0; i < VICTIMS; i++)
			TEST_EQ(hear(), DONE);
	}
	__atomic_store_n(&stop.is_on, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < VICTIMS; i++) {
		pthread_join(threads[i], NULL);
		TEST_EQ(victims[i].rc, 0);
	}
	sigaction(SIGUSR1, &kept, NULL);
	pipes_close();
	close_quietly(w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(publisher_stopped_at_each_instruction),
		TEST(publishers_stopped_by_signals),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
