/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* For the engine's tests: an engine on the heap, short inputs, expected actions. */
#ifndef WIC_CORE_ENGINE_FIXTURE_H
#define WIC_CORE_ENGINE_FIXTURE_H

#include "core/engine.h"

#include "tests/test.h"

struct fixture {
	void *mem;
	struct wic_engine *e;
	uint32_t channel; /* has data; 8 tags unless told */
};

static inline void fixture_open(struct fixture *f, const struct wic_engine_params *p)
{
	size_t bytes = wic_engine_bytes(p);

	TEST_TRUE(bytes > 0);
	f->mem = aligned_alloc(16, bytes);
	TEST_TRUE(f->mem != NULL);
	memset(f->mem, 0xa5, bytes); /* init must not rely on zeros */
	TEST_EQ(wic_engine_init(f->mem, bytes, p, &f->e), 0);
	TEST_TRUE(wic_engine_is_consistent(f->e));
}

static inline void fixture_open_small(struct fixture *f)
{
	static const struct wic_engine_params p = {
		.channels_max = 4, .tags_max = 16, .requests_max = 8, .wants_max = 16, .pages = 32
	};

	fixture_open(f, &p);
	TEST_EQ(wic_engine_open(f->e, 8, true, &f->channel), 0);
}

static inline bool fixture_next(struct fixture *f, struct wic_action *a)
{
	bool is_some = wic_engine_next(f->e, a);

	TEST_TRUE(wic_engine_is_consistent(f->e));
	return is_some;
}

static inline void fixture_close(struct fixture *f)
{
	free(f->mem);
}

/* One request of one want; page WIC_PAGE_NONE: no data. */
static inline int ask_by(struct fixture *f, uint64_t cookie, uint32_t tag, uint64_t epoch,
			 uint32_t page, uint64_t deadline_ns)
{
	struct wic_want want = { epoch, tag, page, page == WIC_PAGE_NONE ? 0 : 2 };
	struct wic_request r = { cookie, deadline_ns, f->channel, 1, &want };
	int rc = wic_engine_request(f->e, &r, 1, 0);

	TEST_TRUE(wic_engine_is_consistent(f->e));
	return rc;
}

static inline int ask(struct fixture *f, uint64_t cookie, uint32_t tag, uint64_t epoch,
		      uint32_t page)
{
	return ask_by(f, cookie, tag, epoch, page, WIC_DEADLINE_NEVER);
}

static inline void publish(struct fixture *f, uint32_t tag, uint64_t epoch)
{
	TEST_EQ(wic_engine_publish(f->e, f->channel, tag, 1, epoch), 0);
	TEST_TRUE(wic_engine_is_consistent(f->e));
}

static inline void expect_none(struct fixture *f)
{
	struct wic_action a;

	TEST_TRUE(!fixture_next(f, &a));
}

static inline struct wic_action expect(struct fixture *f, enum wic_action_kind kind)
{
	struct wic_action a = { 0 };

	TEST_TRUE(fixture_next(f, &a));
	TEST_EQ(a.kind, kind);
	return a;
}

static inline struct wic_action expect_replay(struct fixture *f, uint64_t cookie, int status,
					      bool faulted, bool final)
{
	struct wic_action a = expect(f, WIC_ACTION_REPLAY);

	TEST_EQ(a.cookie, cookie);
	TEST_EQ(a.status, status);
	TEST_EQ(a.faulted, faulted);
	TEST_EQ(a.final, final);
	return a;
}

static inline void expect_fill(struct fixture *f, uint32_t tag, uint64_t epoch, uint32_t page)
{
	struct wic_action a = expect(f, WIC_ACTION_FILL);

	TEST_EQ(a.channel, f->channel);
	TEST_EQ(a.tag, tag);
	TEST_EQ(a.epoch, epoch);
	TEST_EQ(a.run.first, page);
	TEST_EQ(a.run.count, 2);
}

static inline void expect_timer(struct fixture *f, uint64_t at_ns)
{
	TEST_EQ(expect(f, WIC_ACTION_TIMER).at_ns, at_ns);
}

#endif /* WIC_CORE_ENGINE_FIXTURE_H */
