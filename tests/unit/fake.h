/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A back-end that does nothing but count and remember, and a log sink that holds
 * every line until a test has asked for it: what lib/ does by itself is all that
 * these tests see.
 */
#ifndef WIC_TESTS_UNIT_FAKE_H
#define WIC_TESTS_UNIT_FAKE_H

#include <stdbool.h>

#include "lib/backend.h"
#include "lib/log.h"
#include "tests/test.h"

/* Reset by fake_init().  An operation returns its rc_..., and counts as a call. */
struct fake {
	uint32_t calls; /* of all operations */
	uint32_t contexts;
	uint32_t channels; /* made and not destroyed */
	uint32_t closes;   /* channel_close calls */
	uint32_t timeouts; /* how many sync calls still answer -ETIMEDOUT */
	int rc_open;
	int rc_channel_create;
	int rc_stage;
	int rc_publish;
	int rc_launch;
	int rc_sync;
	int rc_events;
	struct wic_config cfg; /* last open */
	struct wic_channel_desc d;
	uint32_t channel_id;
	struct wic_launch_desc l;
	uint32_t tag_first, tag_count;
	uint64_t epoch, timeout_ns;
};

extern struct fake fake;
/* PULL, PUSH and EVENTS. */
extern const struct wic_be_ops fake_ops;
extern unsigned char fake_buffer[64];

/* Forget everything, make the fake the only back-end and install the sink. */
#define fake_init() fake_begin(test_program, test_current)
void fake_begin(const char *program, const char *test);
/* Fail the test if something of the fake is still open or a line was not asked for. */
void fake_fini(void);
/* Start over with another list of back-ends; NULL-terminated, borrowed. */
void fake_use(const struct wic_be_ops *const *list);

/* The oldest line not asked for yet has this level and text in it. */
void fake_log_expect(enum wic_log_level level, const char *part);
void fake_log_expect_none(void);

/* An open context of the fake. */
struct wic *fake_open(void);
/* A channel of it: 8 tags, @bytes_per_tag. */
struct wic_channel *fake_channel(struct wic *w, uint64_t bytes_per_tag);

void fake_check(const char *file, int line, const char *call, int rc, int rc_wanted,
		const char *part, uint32_t calls_before);

/* @call returns @rc with @part in its error text, and the back-end hears nothing of it. */
#define EXPECT_REFUSED(call, rc, part)                                        \
	do {                                                                  \
		uint32_t calls_ = fake.calls;                                 \
		int rc_ = wic_fail(0, "nothing has failed");                  \
		rc_ = (call);                                                 \
		fake_check(__FILE__, __LINE__, #call, rc_, rc, part, calls_); \
	} while (0)

#endif /* WIC_TESTS_UNIT_FAKE_H */
