/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "tests/unit/fake.h"

#include <pthread.h>

#include "lib/nosys.h"
#include "lib/registry.h"

struct fake fake;
unsigned char fake_buffer[64];

/* What an operation of the fake gets; a mix-up of the two would be seen at once. */
struct wic_be {
	uint32_t magic;
	uint32_t channels;
};
struct wic_be_channel {
	uint32_t magic;
	struct wic_be *be;
};
#define BE_MAGIC 0xbe
#define CHANNEL_MAGIC 0xc4

#define LINES_MAX 64

static pthread_mutex_t lines_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int level;
	char text[512];
} lines[LINES_MAX];
static uint32_t lines_count, lines_read;

static void sink(void *arg, int level, const char *line)
{
	(void)arg;
	pthread_mutex_lock(&lines_lock);
	if (lines_count < LINES_MAX) {
		lines[lines_count].level = level;
		snprintf(lines[lines_count].text, sizeof(lines[0].text), "%s", line);
		lines_count++;
	}
	pthread_mutex_unlock(&lines_lock);
}

void fake_log_expect(enum wic_log_level level, const char *part)
{
	TEST_TRUE(lines_read < lines_count);
	TEST_STR_HAS(lines[lines_read].text, part);
	TEST_EQ(lines[lines_read].level, level);
	lines_read++;
}

void fake_log_expect_none(void)
{
	if (lines_read < lines_count)
		fprintf(stderr, "unexpected line: %s\n", lines[lines_read].text);
	TEST_EQ(lines_read, lines_count);
}

static uint32_t fake_probe(struct wic_probe *probes_out, uint32_t max)
{
	if (!max)
		return 0;
	snprintf(probes_out->name, sizeof(probes_out->name), "fake");
	snprintf(probes_out->text, sizeof(probes_out->text), "always works");
	probes_out->works = true;
	return 1;
}

static int fake_be_open(const struct wic_config *cfg, struct wic_be **be_out)
{
	struct wic_be *be;

	fake.calls++;
	fake.cfg = *cfg;
	if (fake.rc_open)
		return wic_fail(fake.rc_open, "the fake does not open");
	be = malloc(sizeof(*be));
	TEST_TRUE(be);
	*be = (struct wic_be){ .magic = BE_MAGIC };
	fake.contexts++;
	*be_out = be;
	return 0;
}

static void fake_be_close(struct wic_be *be)
{
	fake.calls++;
	TEST_EQ(be->magic, BE_MAGIC);
	TEST_EQ(be->channels, 0);
	fake.contexts--;
	free(be);
}

static const char *fake_describe(const struct wic_be *be)
{
	TEST_EQ(be->magic, BE_MAGIC);
	return "fake, 2 SMs of paper";
}

static int fake_channel_create(struct wic_be *be, const struct wic_channel_desc *d, uint32_t id,
			       struct wic_be_channel **ch_out)
{
	struct wic_be_channel *ch;

	fake.calls++;
	TEST_EQ(be->magic, BE_MAGIC);
	fake.d = *d;
	fake.channel_id = id;
	if (fake.rc_channel_create)
		return wic_fail(fake.rc_channel_create, "the fake makes no channel");
	ch = malloc(sizeof(*ch));
	TEST_TRUE(ch);
	*ch = (struct wic_be_channel){ .magic = CHANNEL_MAGIC, .be = be };
	be->channels++;
	fake.channels++;
	*ch_out = ch;
	return 0;
}

static void fake_channel_close(struct wic_be_channel *ch)
{
	fake.calls++;
	TEST_EQ(ch->magic, CHANNEL_MAGIC);
	fake.closes++;
}

static void fake_channel_destroy(struct wic_be_channel *ch)
{
	fake.calls++;
	TEST_EQ(ch->magic, CHANNEL_MAGIC);
	ch->be->channels--;
	fake.channels--;
	free(ch);
}

static void fake_channel_handle(const struct wic_be_channel *ch, struct wic_handle *handle_out)
{
	TEST_EQ(ch->magic, CHANNEL_MAGIC);
	handle_out->tags = fake.d.tags;
	handle_out->bytes_per_tag = fake.d.bytes_per_tag;
	handle_out->tags_inline = fake.d.readers == 1 ? fake.d.tags : 0;
}

static int fake_stage(struct wic_be_channel *ch, uint32_t tag, uint64_t epoch, uint64_t timeout_ns,
		      void **buffer_out)
{
	fake.calls++;
	TEST_EQ(ch->magic, CHANNEL_MAGIC);
	fake.tag_first = tag;
	fake.epoch = epoch;
	fake.timeout_ns = timeout_ns;
	if (fake.rc_stage)
		return wic_fail(fake.rc_stage, "the fake stages nothing");
	*buffer_out = fake_buffer;
	return 0;
}

static int fake_publish(struct wic_be_channel *ch, uint32_t tag_first, uint32_t tag_count,
			uint64_t epoch)
{
	fake.calls++;
	TEST_EQ(ch->magic, CHANNEL_MAGIC);
	fake.tag_first = tag_first;
	fake.tag_count = tag_count;
	fake.epoch = epoch;
	return fake.rc_publish;
}

static int fake_launch(struct wic_be *be, const struct wic_launch_desc *l)
{
	fake.calls++;
	TEST_EQ(be->magic, BE_MAGIC);
	fake.l = *l;
	return fake.rc_launch;
}

static int fake_fit(struct wic_be *be, const struct wic_launch_desc *l, struct wic_fit *fit_out)
{
	fake.calls++;
	TEST_EQ(be->magic, BE_MAGIC);
	fake.l = *l;
	fit_out->sm_blocks = 3;
	return fake.rc_launch;
}

static int fake_sync(struct wic_be *be, uint32_t device, uint64_t timeout_ns)
{
	(void)device;
	fake.calls++;
	TEST_EQ(be->magic, BE_MAGIC);
	fake.timeout_ns = timeout_ns;
	if (fake.timeouts) {
		fake.timeouts--;
		return wic_fail(-ETIMEDOUT, "the fake's kernel runs on");
	}
	return fake.rc_sync;
}

static void fake_stats(struct wic_be *be, struct wic_stats *stats_out)
{
	uint64_t *words = (uint64_t *)stats_out;

	fake.calls++;
	TEST_EQ(be->magic, BE_MAGIC);
	for (size_t i = 1; i < sizeof(*stats_out) / sizeof(uint64_t); i++)
		words[i] = i;
}

static int fake_events(struct wic_be *be, struct wic_event *events_out, size_t events_max,
		       size_t *count_out)
{
	fake.calls++;
	TEST_EQ(be->magic, BE_MAGIC);
	if (fake.rc_events)
		return fake.rc_events;
	if (events_max)
		events_out[0] = (struct wic_event){ .tag = 7 };
	*count_out = !!events_max;
	return 0;
}

const struct wic_be_ops fake_ops = {
	.name = "fake",
	.caps = WIC_BE_CAP_PULL | WIC_BE_CAP_PUSH | WIC_BE_CAP_EVENTS,
	.probe = fake_probe,
	.open = fake_be_open,
	.close = fake_be_close,
	.describe = fake_describe,
	.channel_create = fake_channel_create,
	.channel_close = fake_channel_close,
	.channel_destroy = fake_channel_destroy,
	.channel_handle = fake_channel_handle,
	.stage = fake_stage,
	.publish = fake_publish,
	.cancel_word = wic_nosys_cancel_word,
	.waiters = wic_nosys_waiters,
	.owner_died = wic_nosys_owner_died,
	.host_request = wic_nosys_host_request,
	.host_release = wic_nosys_host_release,
	.launch = fake_launch,
	.check = fake_fit,
	.check_word = wic_nosys_check_word,
	.sync = fake_sync,
	.mem_alloc = wic_plain_mem_alloc,
	.mem_free = wic_plain_mem_free,
	.mem_copy = wic_plain_mem_copy,
	.geometry = wic_nosys_geometry,
	.stats = fake_stats,
	.events = fake_events,
};

static const struct wic_be_ops *const fake_list[] = { &fake_ops, NULL };

void fake_use(const struct wic_be_ops *const *list)
{
	wic_backends_set(list);
}

void fake_begin(const char *program, const char *test)
{
	/* This file's own copies, for the line that says how to run it again. */
	test_program = program;
	test_current = test;
	memset(&fake, 0, sizeof(fake));
	lines_count = 0;
	lines_read = 0;
	wic_backends_set(fake_list);
	wic_log_set(sink, NULL);
	wic_log_set_level(WIC_LOG_WARN);
}

void fake_fini(void)
{
	fake_log_expect_none();
	TEST_EQ(fake.contexts, 0);
	TEST_EQ(fake.channels, 0);
	wic_backends_set(NULL);
	wic_log_set(NULL, NULL);
}

struct wic *fake_open(void)
{
	struct wic *w;

	TEST_EQ(wic_open(NULL, &w), 0);
	return w;
}

struct wic_channel *fake_channel(struct wic *w, uint64_t bytes_per_tag)
{
	struct wic_channel_desc d = WIC_CHANNEL_DESC_INIT;
	struct wic_channel *ch;

	d.tags = 8;
	d.bytes_per_tag = bytes_per_tag;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	return ch;
}

void fake_check(const char *file, int line, const char *call, int rc, int rc_wanted,
		const char *part, uint32_t calls_before)
{
	if (rc != rc_wanted)
		test_fail(file, line, call, rc, rc_wanted);
	if (!strstr(wic_last_error(), part)) {
		fprintf(stderr, "text: %s\nwanted in it: %s\n", wic_last_error(), part);
		test_fail(file, line, call, 0, 1);
	}
	if (fake.calls != calls_before)
		test_fail(file, line, "the back-end was called", fake.calls, calls_before);
}
