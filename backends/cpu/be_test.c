/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What only the inside of the back-end can bring about: a window that does not obey. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "backends/cpu/be.h"
#include "backends/cpu/ring.h"
#include "lib/log.h"
#include "tests/test.h"

#define TIMEOUT WIC_S(20)
#define TAGS 24

struct args {
	struct wic_handle h;
	uint32_t io, ok, others;
};

static void no_log(void *arg, int level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static void take_kernel(const void *arg)
{
	struct args *a = (struct args *)(uintptr_t)arg;
	void *data;
	int rc = wic_request(&a->h, NULL, wic_block_id() * wic_block_warps() + wic_warp_id(), 1,
			     WIC_FOREVER, &data);

	wic_atomic_add_u32(rc == -EIO ? &a->io : rc ? &a->others : &a->ok, 1);
	if (!rc)
		(void)!wic_release(&a->h, wic_block_id() * wic_block_warps() + wic_warp_id(), 1);
}

static int refuse_page(struct window *win, uint32_t page)
{
	(void)win;
	(void)page;
	return -EIO;
}

static int refuse_run(struct window *win, struct wic_run run)
{
	(void)win;
	(void)run;
	return -EIO;
}

static struct wic_be *open_be(uint32_t mechanism)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_be *be = NULL;
	int rc;

	cfg.sms = 1;
	cfg.devices = 1;
	cfg.sm_warps = 32;
	cfg.sm_blocks = 8;
	cfg.stack_bytes = 64 << 10;
	cfg.pool_pages = 32; /* 16 usable: some of the 24 warps wait for pages */
	cfg.close_batch = 1;
	cfg.mechanism = mechanism;
	rc = wic_be_cpu.open(&cfg, &be);
	if (rc == -ENOTSUP)
		test_skip(wic_last_error());
	else
		TEST_EQ(rc, 0);
	return rc ? NULL : be;
}

/* Whatever fails, every warp ends with -EIO or its data, the kernel returns, close works. */
static void window_fails(uint32_t mechanism, bool at_open)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_be *be = open_be(mechanism);
	struct wic_be_channel *ch, *other;
	struct window_ops ops;
	struct args a = { .io = 0 };
	void *buffer;

	if (!be)
		return;
	ops = *be->devs[0].win.ops;
	if (at_open)
		ops.open_page = refuse_page;
	else
		ops.close_run = refuse_run;
	be->devs[0].win.ops = &ops;
	d.tags = TAGS;
	d.bytes_per_tag = 4096;
	TEST_EQ(wic_be_cpu.channel_create(be, &d, 0, &ch), 0);
	wic_be_cpu.channel_handle(ch, &a.h);
	l.kernel = take_kernel;
	l.args = &a;
	l.grid_blocks = 6;
	l.block_threads = 4 * 32;
	TEST_EQ(wic_be_cpu.launch(be, &l), 0);
	for (uint32_t t = 0; t < TAGS; t++) {
		int rc = wic_be_cpu.stage(ch, t, 1, TIMEOUT, &buffer);

		/* What came before may have been the end of it. */
		TEST_TRUE(!rc || (t && rc == -EIO));
		if (!rc)
			TEST_EQ(wic_be_cpu.publish(ch, t, 1, 1), 0);
	}
	TEST_EQ(wic_be_cpu.sync(be, WIC_BE_DEVICE_ALL, TIMEOUT), -EIO);
	TEST_TRUE(a.io > 0);
	TEST_EQ(a.others, 0);
	TEST_EQ(a.io + a.ok, TAGS);
	TEST_EQ(wic_be_cpu.launch(be, &l), -EIO);
	/* Free or not, no buffer is given out, and no channel made. */
	for (uint32_t t = 0; t < TAGS; t++) {
		TEST_EQ(wic_be_cpu.stage(ch, t, 2, 0, &buffer), -EIO);
		TEST_STR_HAS(wic_last_error(), "the context is dead");
	}
	TEST_EQ(wic_be_cpu.channel_create(be, &d, 0, &other), -EIO);
	TEST_STR_HAS(wic_last_error(), "the context is dead");
	wic_be_cpu.channel_close(ch);
	wic_be_cpu.channel_destroy(ch);
	wic_be_cpu.close(be);
}

static void open_fails_uffd(void)
{
	window_fails(WIC_MECHANISM_UFFD, true);
}

static void open_fails_mprotect(void)
{
	window_fails(WIC_MECHANISM_MPROTECT, true);
}

static void close_fails_uffd(void)
{
	window_fails(WIC_MECHANISM_UFFD, false);
}

static void close_fails_mprotect(void)
{
	window_fails(WIC_MECHANISM_MPROTECT, false);
}

struct tree_args {
	struct wic_handle pull, push;
	uint32_t waits, io;
};

/* Warp 0 brings about the end; each of the others waits in the tree in another way. */
static void tree_kernel(const void *arg)
{
	struct tree_args *a = (struct tree_args *)(uintptr_t)arg;
	struct wic_ref refs[2] = { { .tag = 0, .epoch = 1 }, { .tag = 1, .epoch = 1 } };
	uint32_t tag;
	void *data;
	int rc;

	wic_atomic_add_u32(&a->waits, 1);
	if (wic_warp_id() == 0)
		rc = wic_request(&a->pull, NULL, 0, 1, WIC_FOREVER, &data);
	else if (wic_warp_id() == 1)
		rc = wic_wait(&a->push, NULL, 0, 1, WIC_FOREVER);
	else if (wic_warp_id() == 2)
		rc = wic_request(&a->push, NULL, 1, 1, TIMEOUT, &data);
	else if (wic_warp_id() == 3)
		rc = wic_request_all(&a->push, NULL, refs, 2, WIC_FOREVER);
	else
		rc = wic_next(&a->push, NULL, 0, 2, 1, WIC_FOREVER, &tag, &data);
	wic_atomic_add_u32(&a->io, rc == -EIO);
}

/* A context that dies ends the waits of push mode too, and refuses what comes later. */
static void death_is_seen_in_the_tree(void)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_be *be = open_be(WIC_MECHANISM_AUTO);
	struct wic_be_channel *pull, *push;
	struct tree_args a = { .io = 0 };
	struct window_ops ops;
	void *buffer;

	if (!be)
		return;
	ops = *be->devs[0].win.ops;
	ops.open_page = refuse_page;
	be->devs[0].win.ops = &ops;
	d.tags = 2;
	d.bytes_per_tag = 4096;
	d.mode = WIC_MODE_PULL;
	TEST_EQ(wic_be_cpu.channel_create(be, &d, 0, &pull), 0);
	d.mode = WIC_MODE_PUSH;
	TEST_EQ(wic_be_cpu.channel_create(be, &d, 1, &push), 0);
	wic_be_cpu.channel_handle(pull, &a.pull);
	wic_be_cpu.channel_handle(push, &a.push);
	l.kernel = tree_kernel;
	l.args = &a;
	l.block_threads = 5 * 32;
	TEST_EQ(wic_be_cpu.launch(be, &l), 0);
	while (__atomic_load_n(&a.waits, __ATOMIC_RELAXED) < 5)
		sched_yield();
	usleep(20000);
	TEST_EQ(wic_be_cpu.stage(pull, 0, 1, TIMEOUT, &buffer), 0);
	TEST_EQ(wic_be_cpu.publish(pull, 0, 1, 1), 0);
	TEST_EQ(wic_be_cpu.sync(be, WIC_BE_DEVICE_ALL, TIMEOUT), -EIO);
	TEST_EQ(a.io, 5);
	TEST_EQ(wic_be_cpu.stage(push, 0, 1, 0, &buffer), -EIO);
	wic_be_cpu.channel_close(push);
	wic_be_cpu.channel_destroy(push);
	wic_be_cpu.channel_destroy(pull);
	wic_be_cpu.close(be);
}

static void ring_wraps(void)
{
	struct cpu_ring r;
	uint64_t word;

	TEST_EQ(cpu_ring_init(&r, 5), 0); /* 8 words */
	/* The last two laps before the positions wrap: slots of 0 are empty there too. */
	r.head = r.tail = r.tail_seen = 0u - 16;
	for (uint64_t lap = 0; lap < 5; lap++) {
		TEST_TRUE(cpu_ring_is_empty(&r));
		/* Not whole laps, so that the wrap falls within one. */
		for (uint64_t i = 0; i < 8; i++)
			TEST_TRUE(cpu_ring_push(&r, lap * 8 + i));
		TEST_TRUE(!cpu_ring_push(&r, 99));
		for (uint64_t i = 0; i < 8; i++) {
			TEST_TRUE(cpu_ring_pop(&r, &word));
			TEST_EQ(word, lap * 8 + i);
		}
		TEST_TRUE(!cpu_ring_pop(&r, &word));
		TEST_TRUE(cpu_ring_push(&r, 7) && cpu_ring_pop(&r, &word));
	}
	cpu_ring_fini(&r);
}

/* Linked with --wrap=sysconf. */
long __real_sysconf(int name);
long __wrap_sysconf(int name);
static long page_bytes;

/* The runtime of clang's TSan, linked statically, calls it before it can be called itself. */
#if defined(__clang__)
#define BEFORE_THE_RUNTIME __attribute__((disable_sanitizer_instrumentation))
#else
#define BEFORE_THE_RUNTIME
#endif

BEFORE_THE_RUNTIME long __wrap_sysconf(int name)
{
	return name == _SC_PAGESIZE && page_bytes ? page_bytes : __real_sysconf(name);
}

static void open_on_large_pages(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w = NULL;
	int rc;

	page_bytes = 65536;
	rc = wic_open(&cfg, &w);
	page_bytes = 0;
	TEST_EQ(rc, -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "65536 bytes");
	TEST_TRUE(!w);
}

/* Linked with --wrap=wic_now_ns: each look at the clock may find a minute gone. */
uint64_t __real_wic_now_ns(void);
uint64_t __wrap_wic_now_ns(void);
static uint64_t minutes, clock_step; /* atomic */

uint64_t __wrap_wic_now_ns(void)
{
	uint64_t step = __atomic_load_n(&clock_step, __ATOMIC_RELAXED);

	return __real_wic_now_ns() +
	       __atomic_add_fetch(&minutes, step, __ATOMIC_RELAXED) * WIC_S(60);
}

/* On a machine too busy for the first park wic_open() says so, and not what it tried before. */
static void open_on_busy_machine(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic *w = NULL;
	int rc;

	__atomic_store_n(&clock_step, 1, __ATOMIC_RELAXED);
	rc = wic_open(&cfg, &w);
	__atomic_store_n(&clock_step, 0, __ATOMIC_RELAXED);
	TEST_EQ(rc, -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "first park");
	TEST_TRUE(!w);
}

#define WORD_EPOCHS 20000u

struct word_race {
	struct wic_be_channel *ch;
	uint64_t stored; /* atomic */
	int rc;          /* atomic */
};

/* As the Monitor does it, over and over: the word, seen now or a while ago. */
static void *publish_words(void *arg)
{
	struct word_race *r = arg;
	uint64_t epoch = 0;
	int rc = 0;

	/* -EBUSY: the stager is there; the Monitor looks again. */
	while (epoch < WORD_EPOCHS && (!rc || rc == -EBUSY)) {
		epoch = __atomic_load_n(&r->stored, __ATOMIC_ACQUIRE);
		if (epoch)
			rc = wic_cpu_channel_publish_word(r->ch, 0, epoch);
	}
	__atomic_store_n(&r->rc, rc == -EBUSY ? 0 : rc, __ATOMIC_RELEASE);
	return NULL;
}

/* A warp that stages the next epoch meets the Monitor at the tag: neither gets an error. */
static void stage_while_a_word_is_published(void)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_be *be = open_be(WIC_MECHANISM_MPROTECT);
	struct word_race r = { 0 };
	pthread_t thread;
	void *buffer;

	if (!be)
		return;
	d.producer = WIC_GPU(0);
	d.consumer = WIC_HOST;
	d.bytes_per_tag = 64;
	d.tags = 1;
	TEST_EQ(wic_be_cpu.channel_create(be, &d, 0, &r.ch), 0);
	TEST_EQ(pthread_create(&thread, NULL, publish_words, &r), 0);
	for (uint64_t e = 1; e <= WORD_EPOCHS; e++) {
		/* The device has its copy at once, so that nothing waits. */
		wic_cpu_channel_set_filled(r.ch, 0, e);
		TEST_EQ(wic_be_cpu.stage(r.ch, 0, e, 0, &buffer), 0);
		__atomic_store_n(&r.stored, e, __ATOMIC_RELEASE);
		while (e < WORD_EPOCHS &&
		       __atomic_load_n(&r.ch->tags[0].truth, __ATOMIC_ACQUIRE) < e) {
			TEST_EQ(__atomic_load_n(&r.rc, __ATOMIC_ACQUIRE), 0);
			sched_yield();
		}
	}
	pthread_join(thread, NULL);
	TEST_EQ(r.rc, 0);
	wic_be_cpu.channel_close(r.ch);
	wic_be_cpu.channel_destroy(r.ch);
	wic_be_cpu.close(be);
}

/* Tags of all channels together, whoever produces, and again once some are gone. */
static void tags_of_all_channels(void)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_be *be = open_be(WIC_MECHANISM_MPROTECT);
	struct wic_be_channel *half, *rest, *none;

	if (!be)
		return;
	d.tags = CPU_TAGS_MAX / 2;
	TEST_EQ(wic_be_cpu.channel_create(be, &d, 0, &half), 0);
	d.producer = WIC_GPU(0);
	TEST_EQ(wic_be_cpu.channel_create(be, &d, 0, &rest), 0);
	for (uint32_t host = 0; host < 2; host++) {
		d.producer = host ? WIC_HOST : WIC_GPU(0);
		d.tags = 1;
		TEST_EQ(wic_be_cpu.channel_create(be, &d, 0, &none), -ENOMEM);
		TEST_STR_HAS(wic_last_error(), "channel of 1 tags (64 channels, 1048576 tags");
	}
	wic_be_cpu.channel_close(half);
	wic_be_cpu.channel_destroy(half);
	d.tags = CPU_TAGS_MAX / 2;
	TEST_EQ(wic_be_cpu.channel_create(be, &d, 0, &half), 0);
	wic_be_cpu.channel_close(half);
	wic_be_cpu.channel_destroy(half);
	wic_be_cpu.channel_close(rest);
	wic_be_cpu.channel_destroy(rest);
	wic_be_cpu.close(be);
}

static void *wait_on_the_host(void *ch)
{
	TEST_EQ(wic_be_cpu.host_request(ch, 0, 1, TIMEOUT, NULL), 0);
	return NULL;
}

/* The number that lib gave it, wherever a channel is named. */
static void channel_is_named_by_libs_id(void)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_waiter waiter = { .channel = 0 };
	pthread_t thread;
	size_t count = 0;
	struct wic_be *be = open_be(WIC_MECHANISM_MPROTECT);
	struct wic_be_channel *ch;

	if (!be)
		return;
	d.producer = WIC_GPU(0);
	d.consumer = WIC_HOST;
	d.tags = 1;
	TEST_EQ(wic_be_cpu.channel_create(be, &d, 7, &ch), 0);
	TEST_EQ(ch->index, 0);
	TEST_EQ(wic_be_cpu.host_request(ch, 0, 1, WIC_MS(1), NULL), -ETIMEDOUT);
	TEST_STR_HAS(wic_last_error(), "of tag 0 of channel 7");
	TEST_EQ(pthread_create(&thread, NULL, wait_on_the_host, ch), 0);
	while (!count) {
		TEST_EQ(wic_be_cpu.waiters(be, &waiter, 1, &count), 0);
		sched_yield();
	}
	TEST_EQ(waiter.channel, 7);
	TEST_EQ(wic_be_cpu.publish(ch, 0, 1, 1), 0);
	pthread_join(thread, NULL);
	wic_be_cpu.channel_close(ch);
	wic_be_cpu.channel_destroy(ch);
	wic_be_cpu.close(be);
}

struct death {
	struct wic_be_channel *ch;
	uint32_t is_dead; /* atomic: owner_died() has returned */
	uint64_t last;    /* what was published last */
	int rc;           /* of the publish after that */
};

static void *publish_on(void *arg)
{
	struct death *d = arg;

	for (uint32_t more = 0; more < 1000;
	     more += __atomic_load_n(&d->is_dead, __ATOMIC_ACQUIRE)) {
		d->rc = wic_be_cpu.publish(d->ch, 0, 1, d->last + 1);
		if (d->rc)
			break;
		d->last++;
	}
	return NULL;
}

/* Past all checks of lib/ a thread publishes on and on: what waiters are told holds. */
static void publish_while_the_owner_dies(void)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_be *be = open_be(WIC_MECHANISM_MPROTECT);
	struct death death;
	pthread_t thread;
	uint64_t seen;

	if (!be)
		return;
	d.tags = 1;
	for (int i = 0; i < 200; i++) {
		death = (struct death){ 0 };
		TEST_EQ(wic_be_cpu.channel_create(be, &d, 0, &death.ch), 0);
		TEST_EQ(pthread_create(&thread, NULL, publish_on, &death), 0);
		while (!cpu_channel_truth(death.ch, 0))
			sched_yield();
		wic_be_cpu.owner_died(death.ch, 0, 1);
		seen = cpu_channel_truth(death.ch, 0);
		__atomic_store_n(&death.is_dead, 1, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		TEST_EQ(death.rc, -EOWNERDEAD);
		TEST_EQ(death.last, seen);
		wic_be_cpu.channel_close(death.ch);
		wic_be_cpu.channel_destroy(death.ch);
	}
	wic_be_cpu.close(be);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(ring_wraps),
		TEST(open_fails_uffd),
		TEST(open_fails_mprotect),
		TEST(close_fails_uffd),
		TEST(close_fails_mprotect),
		TEST(death_is_seen_in_the_tree),
		TEST(open_on_large_pages),
		TEST(open_on_busy_machine),
		TEST(stage_while_a_word_is_published),
		TEST(publish_while_the_owner_dies),
		TEST(tags_of_all_channels),
		TEST(channel_is_named_by_libs_id),
		{ 0 },
	};

	wic_log_set(no_log, NULL); /* a death is loud, and meant here */
	return test_main(argc, argv, tests);
}
