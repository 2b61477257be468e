/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/perf_pair.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/host.h"
#include "lib/log.h"
#include "lib/machine.h"

#define LOOKS_A_CLOCK 64
/* A sleep ends late by a wake-up; so much before the time the publisher looks instead. */
#define AWAKE_NS 100000u

static void futex_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wait_for(struct bench_pair *p, uint32_t epoch)
{
	for (;;) {
		uint32_t seen = __atomic_load_n(&p->word, __ATOMIC_ACQUIRE);

		if (seen >= epoch)
			return;
		if (p->kind == BENCH_PAIR_SPIN) {
			wic_machine_pause();
			continue;
		}
		/* The kernel looks at the word after this: one of both sides sees the other. */
		__atomic_fetch_add(&p->sleepers, 1, __ATOMIC_SEQ_CST);
		futex_wait(&p->word, seen);
		__atomic_fetch_sub(&p->sleepers, 1, __ATOMIC_SEQ_CST);
	}
}

static void *waiter_main(void *arg)
{
	struct bench_pair *p = arg;
	struct bench_pin pin;

	bench_pin_core(&pin, p->core);
	for (uint32_t e = 1; e <= p->count; e++) {
		wait_for(p, e);
		if (p->stamps)
			p->stamps[e - 1] = wic_now_ns();
		/* Pairs with the publisher's acquire. */
		__atomic_fetch_add(&p->arrived, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

int bench_pair_start(struct bench_pair *p)
{
	int rc = 0;

	for (p->started = 0; p->started < p->waiters; p->started++) {
		rc = pthread_create(&p->threads[p->started], NULL, waiter_main, p);
		if (rc)
			break;
	}
	if (rc)
		bench_pair_stop(p);
	return -rc;
}

void bench_pair_publish(struct bench_pair *p, uint32_t epoch)
{
	/* A full fence before the look at the sleepers. */
	__atomic_exchange_n(&p->word, epoch, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&p->sleepers, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &p->word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void bench_pair_stop(struct bench_pair *p)
{
	/* Above every epoch: whoever waits runs through to its last one. */
	bench_pair_publish(p, UINT32_MAX);
	for (uint32_t i = 0; i < p->started; i++)
		pthread_join(p->threads[i], NULL);
}

bool bench_publisher_is_alone(void)
{
	return bench_cores() > 2 && bench_is_pinned();
}

void bench_pin_publisher(struct bench_pin *pin)
{
	bench_pin_core(pin, bench_cores() - (bench_cores() > 2 ? 2 : 1));
}

void bench_publisher_relax(void)
{
	if (bench_publisher_is_alone())
		wic_machine_pause();
	else
		sched_yield();
}

void bench_publisher_wait_until(uint64_t due_ns)
{
	uint64_t now = wic_now_ns();

	if (now + AWAKE_NS < due_ns)
		bench_sleep_until(due_ns - AWAKE_NS);
	while (wic_now_ns() < due_ns)
		bench_publisher_relax();
}

static int wait_for_answer(const struct bench_ping *ping, uint64_t wanted, uint64_t start_ns)
{
	uint32_t looks = 0;

	while (__atomic_load_n(ping->arrived, __ATOMIC_ACQUIRE) < wanted) {
		if (++looks % LOOKS_A_CLOCK == 0 && wic_now_ns() - start_ns > BENCH_PING_TIMEOUT_NS)
			return -ETIMEDOUT;
		bench_publisher_relax();
	}
	return 0;
}

int bench_ping_run(const struct bench_ping *ping, double *ns_out, uint32_t count)
{
	uint64_t last_ns = wic_now_ns();
	int rc = 0;

	for (uint32_t e = 1; e <= count && !rc; e++) {
		uint64_t start_ns;

		if (ping->prepare)
			rc = ping->prepare(ping->arg, e);
		if (rc)
			break;
		if (ping->gap_ns)
			bench_publisher_wait_until(last_ns + ping->gap_ns);
		start_ns = wic_now_ns();
		rc = ping->publish(ping->arg, e);
		if (!rc)
			rc = wait_for_answer(ping, (uint64_t)e * ping->waiters, start_ns);
		last_ns = wic_now_ns();
		ns_out[e - 1] = (double)(last_ns - start_ns);
	}
	return rc;
}

static int pair_publish(void *arg, uint64_t epoch)
{
	bench_pair_publish(arg, (uint32_t)epoch);
	return 0;
}

int bench_ping_pair(struct bench_pair *p, uint64_t gap_ns, double *ns_out)
{
	struct bench_ping ping = { p, NULL, pair_publish, &p->arrived, p->waiters, gap_ns };
	int rc = bench_pair_start(p);

	if (rc)
		return rc;
	rc = bench_ping_run(&ping, ns_out, p->count);
	bench_pair_stop(p);
	return rc;
}
