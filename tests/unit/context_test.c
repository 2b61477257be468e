/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Contexts, the choice of a back-end, launch, sync, statistics: what lib/ refuses by itself. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/nosys.h"
#include "lib/registry.h"
#include "tests/unit/fake.h"
#include "tests/unit/wrap.h"

static struct wic *const untouched = (struct wic *)0x5a5a;

static int open_refused(const struct wic_config *cfg)
{
	struct wic *w = untouched;
	int rc = wic_open(cfg, &w);

	TEST_TRUE(rc ? w == untouched : w != untouched);
	if (!rc)
		wic_close(w);
	return rc;
}

static void open_bad_arguments(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;

	fake_init();
	EXPECT_REFUSED(wic_open(NULL, NULL), -EINVAL, "w_out is NULL");
	cfg.pool_pages = 3;
	EXPECT_REFUSED(open_refused(&cfg), -EINVAL, "pool_pages is 3");
	cfg.pool_pages = 0;
	cfg.backend = "gpu";
	EXPECT_REFUSED(open_refused(&cfg), -EINVAL, "\"gpu\", this build has auto, fake");
	cfg.backend = "";
	EXPECT_REFUSED(open_refused(&cfg), -EINVAL, "wic_config names back-end \"\"");
	setenv("WIC_BACKEND", "fak", 1);
	EXPECT_REFUSED(open_refused(NULL), -EINVAL, "WIC_BACKEND names back-end \"fak\"");
	unsetenv("WIC_BACKEND");
	fake_fini();
}

static void open_passes_on_what_the_backend_says(void)
{
	static const int statuses[] = { -ENOTSUP, -ENOMEM, -EAGAIN, -EINVAL };
	struct wic_config cfg = WIC_CONFIG_INIT;

	fake_init();
	cfg.backend = "fake";
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		fake.rc_open = statuses[i];
		TEST_EQ(open_refused(&cfg), statuses[i]);
		TEST_STR_HAS(wic_last_error(), "the fake does not open");
		TEST_EQ(open_refused(NULL), statuses[i]);
		TEST_STR_HAS(wic_last_error(), "the fake does not open");
	}
	fake_fini();
}

static void open_resolves_the_config(void)
{
	struct wic *w;

	fake_init();
	TEST_EQ(wic_open(NULL, &w), 0);
	TEST_EQ(fake.cfg.sm_warps, 64);
	TEST_EQ(fake.cfg.pool_pages, 16384);
	TEST_STR_HAS(wic_describe(w), "fake, 2 SMs of paper (auto: the first there is)");
	TEST_TRUE(!wic_describe(NULL));
	wic_close(w);
	fake_fini();
}

static int no_open(const struct wic_config *cfg, struct wic_be **be_out)
{
	(void)cfg;
	(void)be_out;
	return wic_fail(-ENOTSUP, "no such hardware");
}

static void auto_passes_over_what_is_by_name_only(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_be_ops named = fake_ops;
	const struct wic_be_ops *list[] = { &named, &fake_ops, NULL };
	struct wic *w;

	fake_init();
	named.name = "named";
	named.by_name_only = true;
	fake_use(list);
	TEST_EQ(wic_open(NULL, &w), 0);
	TEST_STR_HAS(wic_describe(w), "auto: the first there is");
	wic_close(w);
	cfg.backend = "named";
	TEST_EQ(wic_open(&cfg, &w), 0);
	TEST_STR_HAS(wic_describe(w), "asked for by");
	wic_close(w);
	list[1] = NULL;
	EXPECT_REFUSED(open_refused(NULL), -ENOTSUP, "no back-end works here");
	fake_fini();
}

static void auto_says_why(void)
{
	struct wic_be_ops absent = fake_ops;
	const struct wic_be_ops *list[] = { &absent, &fake_ops, NULL };
	struct wic *w;

	fake_init();
	absent.name = "absent";
	absent.open = no_open;
	fake_use(list);
	TEST_EQ(wic_open(NULL, &w), 0);
	TEST_STR_HAS(wic_describe(w), "auto: the first that works here; not absent: no such");
	wic_close(w);
	list[1] = NULL;
	TEST_EQ(open_refused(NULL), -ENOTSUP);
	TEST_STR_HAS(wic_last_error(), "no back-end works here; not absent: no such hardware");
	setenv("WIC_BACKEND", "fake", 1);
	list[1] = &fake_ops;
	TEST_EQ(wic_open(NULL, &w), 0);
	TEST_STR_HAS(wic_describe(w), "(asked for by WIC_BACKEND)");
	wic_close(w);
	unsetenv("WIC_BACKEND");
	fake_fini();
}

static void refuse_ops(const struct wic_be_ops *ops, const char *part)
{
	const struct wic_be_ops *const list[] = { &fake_ops, ops, NULL };

	fake_use(list);
	EXPECT_REFUSED(open_refused(NULL), -ENOTSUP, part);
	fake_log_expect(WIC_LOG_ERROR, part);
}

/* Each slot emptied in turn: they are the pointers behind name and caps. */
static void be_check_empty_slots(void)
{
	const size_t first = offsetof(struct wic_be_ops, probe);
	struct wic_be_ops ops;

	fake_init();
	for (size_t at = first; at < sizeof(ops); at += sizeof(void *)) {
		ops = fake_ops;
		memset((char *)&ops + at, 0, sizeof(void *));
		refuse_ops(&ops, "empty slot");
	}
	ops = fake_ops;
	ops.name = NULL;
	refuse_ops(&ops, "no name");
	ops.name = "auto";
	refuse_ops(&ops, "no name");
	fake_fini();
}

static void fake_geometry(const struct wic_be *be, struct wic_geometry *geometry_out)
{
	(void)be;
	geometry_out->sms = 132;
}

static void be_check_caps(void)
{
	struct wic_be_ops ops = fake_ops;

	fake_init();
	TEST_EQ(wic_be_check(&ops), 0);
	ops.caps |= 1u << 9;
	refuse_ops(&ops, "unknown capability");
	ops.caps = WIC_BE_CAP_EVENTS;
	refuse_ops(&ops, "do not agree");
	ops.caps = WIC_BE_CAP_PULL;
	refuse_ops(&ops, "EVENTS");
	ops = fake_ops;
	ops.stage = wic_nosys_stage;
	refuse_ops(&ops, "stage");
	ops = fake_ops;
	ops.publish = wic_nosys_publish;
	refuse_ops(&ops, "publish");
	ops = fake_ops;
	ops.channel_create = wic_nosys_channel_create;
	refuse_ops(&ops, "channel_create");
	ops = fake_ops;
	ops.channel_destroy = wic_nosys_channel_destroy;
	refuse_ops(&ops, "channel_destroy");
	ops = fake_ops;
	ops.events = wic_nosys_events;
	refuse_ops(&ops, "EVENTS");
	ops.caps = WIC_BE_CAP_PUSH;
	TEST_EQ(wic_be_check(&ops), 0);
	ops.caps |= WIC_BE_CAP_GPU;
	refuse_ops(&ops, "geometry");
	ops.geometry = fake_geometry;
	refuse_ops(&ops, "mem_alloc");
	ops.mem_alloc = wic_nosys_mem_alloc;
	TEST_EQ(wic_be_check(&ops), 0);
	ops.caps &= ~WIC_BE_CAP_GPU;
	refuse_ops(&ops, "geometry");
	fake_fini();
}

/* The built-in ones must pass too. */
static void be_check_built_in(void)
{
	fake_init();
	fake_use(NULL);
	for (const struct wic_be_ops *const *b = wic_backends(); *b; b++)
		TEST_EQ(wic_be_check(*b), 0);
	fake_fini();
}

static void nosys_answers(void)
{
	struct wic_probe probe;
	struct wic_handle handle;
	struct wic_stats stats = { .requests = 3 };
	struct wic_geometry geometry = { 1, 1, 1 };

	fake_init();
	TEST_EQ(wic_nosys_probe(&probe, 1), 0);
	EXPECT_REFUSED(wic_nosys_open(NULL, NULL), -ENOTSUP, "open");
	EXPECT_REFUSED(wic_nosys_channel_create(NULL, NULL, 0, NULL), -ENOTSUP, "channel_create");
	EXPECT_REFUSED(wic_nosys_stage(NULL, 0, 1, 0, NULL), -ENOTSUP, "stage");
	EXPECT_REFUSED(wic_nosys_publish(NULL, 0, 1, 1), -ENOTSUP, "publish");
	EXPECT_REFUSED(wic_nosys_host_request(NULL, 0, 1, 0, NULL), -ENOTSUP, "host_request");
	EXPECT_REFUSED(wic_nosys_host_release(NULL, 0, 1), -ENOTSUP, "host_release");
	EXPECT_REFUSED(wic_nosys_launch(NULL, NULL), -ENOTSUP, "launch");
	EXPECT_REFUSED(wic_nosys_check(NULL, NULL, NULL), -ENOTSUP, "check");
	EXPECT_REFUSED(wic_nosys_check_word(NULL, NULL), -ENOTSUP, "check_word");
	EXPECT_REFUSED(wic_nosys_mem_alloc(NULL, WIC_MEM_HOST, WIC_HOST, 1, NULL), -ENOTSUP,
		       "mem_alloc");
	EXPECT_REFUSED(wic_nosys_mem_copy(NULL, NULL, NULL, 1), -ENOTSUP, "mem_copy");
	wic_nosys_mem_free(NULL, NULL);
	wic_nosys_geometry(NULL, &geometry);
	TEST_EQ(geometry.sms, 0);
	EXPECT_REFUSED(wic_nosys_events(NULL, NULL, 0, NULL), -ENOTSUP, "events");
	TEST_EQ(wic_nosys_sync(NULL, 0, 0), 0);
	wic_nosys_close(NULL);
	wic_nosys_channel_close(NULL);
	wic_nosys_channel_destroy(NULL);
	wic_nosys_stats(NULL, &stats);
	TEST_EQ(stats.requests, 3);
	TEST_TRUE(wic_nosys_describe(NULL));
	memset(&handle, 0x5a, sizeof(handle));
	wic_nosys_channel_handle(NULL, &handle);
	TEST_TRUE(!handle.dir && !handle.tags);
	fake_fini();
}

static void close_twice_is_logged(void)
{
	struct wic *w;

	fake_init();
	w = fake_open();
	wic_close(NULL);
	wic_close(w);
	TEST_EQ(fake.contexts, 0);
	wic_close(w);
	fake_log_expect(WIC_LOG_ERROR, "is not an open context");
	EXPECT_REFUSED(wic_sync(w, 0), -EINVAL, "is not an open context");
	fake_fini();
}

static void close_ends_channels(void)
{
	struct wic *w, *other;
	struct wic_channel *ch, *closed, *kept;

	fake_init();
	w = fake_open();
	other = fake_open();
	ch = fake_channel(w, 64);
	kept = fake_channel(other, 64);
	closed = fake_channel(w, 0);
	TEST_EQ(wic_channel_close(closed), 0);
	TEST_EQ(fake.closes, 1);
	wic_close(w);
	TEST_EQ(fake.closes, 2);
	TEST_EQ(fake.channels, 1);
	wic_channel_destroy(ch);
	fake_log_expect(WIC_LOG_ERROR, "is not a channel");
	EXPECT_REFUSED(wic_channel_close(closed), -EINVAL, "is not a channel");
	TEST_EQ(wic_publish(kept, 0, 1), 0);
	wic_close(other);
	TEST_EQ(fake.closes, 3);
	fake_fini();
}

static void close_waits_and_says_so(void)
{
	struct wic *w;

	fake_init();
	w = fake_open();
	fake.timeouts = 2;
	wic_close(w);
	fake_log_expect(WIC_LOG_WARN, "wic_close: a kernel is still running after 1 s");
	fake_log_expect(WIC_LOG_WARN, "wic_close: a kernel is still running after 2 s");
	w = fake_open();
	fake.rc_sync = -EIO;
	wic_close(w);
	fake_fini();
}

static void kernel(const void *args)
{
	(void)args;
}

static void launch_bad_arguments(void)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT, good;
	struct wic *w;

	fake_init();
	w = fake_open();
	EXPECT_REFUSED(wic_launch(NULL, &l), -EINVAL, "w is NULL");
	EXPECT_REFUSED(wic_launch(untouched, &l), -EINVAL, "0x5a5a is not an open context");
	EXPECT_REFUSED(wic_launch(w, NULL), -EINVAL, "l is NULL");
	EXPECT_REFUSED(wic_launch(w, &l), -EINVAL, "kernel is NULL");
	l.kernel = kernel;
	good = l;
	l.grid_blocks = 0;
	EXPECT_REFUSED(wic_launch(w, &l), -EINVAL, "0 blocks of 32");
	l = good;
	l.block_threads = 0;
	EXPECT_REFUSED(wic_launch(w, &l), -EINVAL, "1 blocks of 0");
	l = good;
	l.shared_bytes = (1 << 20) + 1;
	EXPECT_REFUSED(wic_launch(w, &l), -EINVAL, "shared_bytes is 1048577");
	l = good;
	l.device = WIC_GPU(1);
	EXPECT_REFUSED(wic_launch(w, &l), -EINVAL, "device is 1, not in [0, 1)");
	EXPECT_REFUSED(wic_sync_device(w, WIC_GPU(1), 0), -EINVAL, "device is 1, not in [0, 1)");
	EXPECT_REFUSED(wic_sync_device(w, WIC_HOST, 0), -EINVAL, "device is 4294967295");
	l = good;
	l.grid_blocks = UINT32_MAX;
	EXPECT_REFUSED(wic_launch(w, &l), -EINVAL, "4294967295 blocks");
	l.grid_blocks = 1u << 31;
	l.block_threads = 64;
	EXPECT_REFUSED(wic_launch(w, &l), -EINVAL, "2147483648 blocks");
	l.block_threads = UINT32_MAX;
	EXPECT_REFUSED(wic_launch(w, &l), -EINVAL, "134217728 warps");
	l = good;
	l.size_bytes = 8;
	EXPECT_REFUSED(wic_launch(w, &l), -EINVAL, "wic_launch_desc: size_bytes is 8");
	wic_close(w);
	fake_fini();
}

static void check_asks_the_backend(void)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic_fit fit = WIC_FIT_INIT;
	struct wic *w;

	fake_init();
	w = fake_open();
	EXPECT_REFUSED(wic_check(w, NULL, &fit), -EINVAL, "wic_check: l is NULL");
	EXPECT_REFUSED(wic_check(w, &l, &fit), -EINVAL, "wic_check: kernel is NULL");
	l.kernel = kernel;
	l.grid_blocks = 9;
	EXPECT_REFUSED(wic_check(w, &l, NULL), -EINVAL, "fit_out is NULL");
	TEST_EQ(wic_check(w, &l, &fit), 0);
	TEST_EQ(fake.l.grid_blocks, 9);
	TEST_EQ(fit.grid_blocks, 9);
	TEST_EQ(fit.sm_blocks, 3);
	/* On success only. */
	fake.rc_launch = -E2BIG;
	l.grid_blocks = 10;
	TEST_EQ(wic_check(w, &l, &fit), -E2BIG);
	TEST_EQ(fit.grid_blocks, 9);
	EXPECT_REFUSED(wic_check_word(w, NULL), -EINVAL, "is NULL");
	EXPECT_REFUSED(wic_check_word(w, (const uint64_t *)(uintptr_t)12), -EINVAL, "misaligned");
	EXPECT_REFUSED(wic_check_word(w, (const uint64_t *)(uintptr_t)16), -ENOTSUP, "check_word");
	wic_close(w);
	fake_fini();
}

static void launch_and_sync(void)
{
	struct wic_launch_desc l = WIC_LAUNCH_DESC_INIT;
	struct wic *w;

	fake_init();
	w = fake_open();
	l.kernel = kernel;
	l.grid_blocks = UINT32_MAX / 64;
	l.block_threads = 2048;
	l.shared_bytes = 1 << 20;
	TEST_EQ(wic_launch(w, &l), 0);
	TEST_EQ(fake.l.grid_blocks, l.grid_blocks);
	TEST_TRUE(fake.l.kernel == kernel);
	fake.rc_launch = -E2BIG;
	TEST_EQ(wic_launch(w, &l), -E2BIG);
	fake.rc_launch = -EBUSY;
	TEST_EQ(wic_launch(w, &l), -EBUSY);
	TEST_EQ(wic_sync(w, 77), 0);
	TEST_EQ(fake.timeout_ns, 77);
	fake.rc_sync = -EIO;
	TEST_EQ(wic_sync(w, WIC_FOREVER), -EIO);
	fake.rc_sync = 0;
	EXPECT_REFUSED(wic_sync(NULL, 0), -EINVAL, "w is NULL");
	EXPECT_REFUSED(wic_sync(untouched, 0), -EINVAL, "0x5a5a");
	wic_close(w);
	fake_fini();
}

static void stats_sizes(void)
{
	struct {
		struct wic_stats s;
		uint64_t more;
	} grown;
	struct wic *w;

	fake_init();
	w = fake_open();
	memset(&grown, 0x5a, sizeof(grown));
	grown.s.size_bytes = 7;
	EXPECT_REFUSED(wic_stats_get(w, &grown.s), -EINVAL, "size_bytes is 7");
	EXPECT_REFUSED(wic_stats_get(NULL, &grown.s), -EINVAL, "w is NULL");
	EXPECT_REFUSED(wic_stats_get(w, NULL), -EINVAL, "stats_out is NULL");
	EXPECT_REFUSED(wic_stats_get(untouched, &grown.s), -EINVAL, "not an open context");
	grown.s.size_bytes = 8;
	EXPECT_REFUSED(wic_stats_get(untouched, &grown.s), -EINVAL, "0x5a5a");
	TEST_EQ(wic_stats_get(w, &grown.s), 0);
	TEST_EQ(grown.s.requests, 0x5a5a5a5a5a5a5a5a);
	grown.s.size_bytes = 31;
	TEST_EQ(wic_stats_get(w, &grown.s), 0);
	TEST_EQ(grown.s.requests, 1);
	TEST_EQ(grown.s.hits, 2);
	TEST_EQ(grown.s.parks, 0x5a5a5a5a5a5a5a5a);
	TEST_EQ(grown.s.size_bytes, 31);
	grown.s.size_bytes = sizeof(grown);
	TEST_EQ(wic_stats_get(w, &grown.s), 0);
	TEST_EQ(grown.s.events, sizeof(struct wic_stats) / 8 - 1);
	TEST_EQ(grown.more, 0x5a5a5a5a5a5a5a5a);
	wic_close(w);
	fake_fini();
}

static void events_arguments(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	struct wic_event events[2];
	size_t count = 99;
	struct wic *w;

	fake_init();
	w = fake_open();
	EXPECT_REFUSED(wic_events_read(w, events, 2, &count), -ENOTSUP, "record_events is 0");
	wic_close(w);
	cfg.record_events = 16;
	TEST_EQ(wic_open(&cfg, &w), 0);
	EXPECT_REFUSED(wic_events_read(NULL, events, 2, &count), -EINVAL, "w is NULL");
	EXPECT_REFUSED(wic_events_read(w, NULL, 2, &count), -EINVAL, "events_out is NULL");
	EXPECT_REFUSED(wic_events_read(w, events, 2, NULL), -EINVAL, "count_out is NULL");
	EXPECT_REFUSED(wic_events_read(untouched, events, 2, &count), -EINVAL, "0x5a5a");
	TEST_EQ(count, 99);
	fake.rc_events = -EBUSY;
	TEST_EQ(wic_events_read(w, events, 2, &count), -EBUSY);
	TEST_EQ(count, 99);
	fake.rc_events = 0;
	TEST_EQ(wic_events_read(w, events, 2, &count), 0);
	TEST_EQ(count, 1);
	TEST_EQ(events[0].tag, 7);
	wic_close(w);
	fake_fini();
}

static void own_sink(void *arg, int level, const char *line)
{
	(void)level;
	(void)line;
	++*(int *)arg;
}

/* The sink is the newest open context's, and never one of a context that is closed. */
static void log_functions_of_contexts(void)
{
	struct wic_config cfg = WIC_CONFIG_INIT, bad = WIC_CONFIG_INIT;
	struct wic *first, *second, *silent;
	int first_lines = 0, second_lines = 0;

	fake_init();
	cfg.log = own_sink;
	cfg.log_arg = &first_lines;
	TEST_EQ(wic_open(&cfg, &first), 0);
	cfg.log_arg = &second_lines;
	TEST_EQ(wic_open(&cfg, &second), 0);
	silent = fake_open();
	wic_log(WIC_LOG_WARN, "to the second");
	TEST_EQ(second_lines, 1);
	wic_close(second);
	wic_log(WIC_LOG_WARN, "to the first");
	TEST_EQ(first_lines, 1);
	wic_close(first);
	wic_log(WIC_LOG_WARN, "to the base");
	fake_log_expect(WIC_LOG_WARN, "to the base");
	wic_close(silent);
	TEST_EQ(second_lines, 1);
	/* A failing open is heard by its own function, and gives it back. */
	wic_log_set_level(WIC_LOG_INFO);
	bad.log = own_sink;
	bad.log_arg = &second_lines;
	bad.devices = 17;
	TEST_EQ(open_refused(&bad), -EINVAL);
	TEST_EQ(second_lines, 2);
	wic_log(WIC_LOG_WARN, "to the base again");
	fake_log_expect(WIC_LOG_WARN, "to the base again");
	fake_fini();
}

static void child_of_fork_has_no_contexts(void)
{
	struct wic *w, *own;
	int status;
	pid_t pid;

	fake_init();
	w = fake_open();
	pid = fork();
	TEST_TRUE(pid >= 0);
	if (!pid) {
		EXPECT_REFUSED(wic_sync(w, 0), -EINVAL, "is not an open context");
		wic_close(w);
		fake_log_expect(WIC_LOG_ERROR, "is not an open context");
		own = fake_open();
		wic_close(own);
		fake_log_expect_none();
		_exit(0);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_EQ(status, 0);
	wic_close(w);
	fake_fini();
}

static void open_without_memory(void)
{
	fake_init();
	wrap_fail_next(1);
	EXPECT_REFUSED(open_refused(NULL), -ENOMEM, "no memory for a context");
	TEST_EQ(open_refused(NULL), 0);
	fake_fini();
}

static void *open_and_close(void *arg)
{
	(void)arg;
	for (int i = 0; i < 200; i++) {
		struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
		struct wic_channel *ch;
		struct wic *w;

		TEST_EQ(wic_open(NULL, &w), 0);
		d.tags = 1;
		TEST_EQ(wic_channel_create(w, &d, &ch), 0);
		wic_close(w);
	}
	return NULL;
}

/* Only lib/ counts here: this fake keeps nothing, so that TSan sees lib's own accesses. */
static int quiet_open(const struct wic_config *cfg, struct wic_be **be_out)
{
	(void)cfg;
	*be_out = NULL;
	return 0;
}

static int quiet_channel_create(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
				struct wic_be_channel **ch_out)
{
	(void)be;
	(void)d;
	(void)id;
	*ch_out = NULL;
	return 0;
}

static void quiet_close_channel(struct wic_be_channel *ch)
{
	(void)ch;
}

static void quiet_destroy_channel(struct wic_be_channel *ch)
{
	(void)ch;
}

static void threads_open_and_close(void)
{
	struct wic_be_ops ops = fake_ops;
	const struct wic_be_ops *const list[] = { &ops, NULL };
	pthread_t threads[4];

	fake_init();
	ops.open = quiet_open;
	ops.close = wic_nosys_close;
	ops.describe = wic_nosys_describe;
	ops.channel_create = quiet_channel_create;
	ops.channel_close = quiet_close_channel;
	ops.channel_destroy = quiet_destroy_channel;
	ops.sync = wic_nosys_sync;
	fake_use(list);
	for (int i = 0; i < 4; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
	for (int i = 0; i < 4; i++)
		TEST_EQ(pthread_join(threads[i], NULL), 0);
	fake_fini();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(open_bad_arguments),
		TEST(open_passes_on_what_the_backend_says),
		TEST(open_resolves_the_config),
		TEST(auto_says_why),
		TEST(auto_passes_over_what_is_by_name_only),
		TEST(be_check_empty_slots),
		TEST(be_check_caps),
		TEST(be_check_built_in),
		TEST(nosys_answers),
		TEST(close_twice_is_logged),
		TEST(close_ends_channels),
		TEST(close_waits_and_says_so),
		TEST(launch_bad_arguments),
		TEST(check_asks_the_backend),
		TEST(launch_and_sync),
		TEST(stats_sizes),
		TEST(events_arguments),
		TEST(log_functions_of_contexts),
		TEST(child_of_fork_has_no_contexts),
		TEST(open_without_memory),
		TEST(threads_open_and_close),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
