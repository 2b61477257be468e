/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The steps of the exhaustive tests' world: each one input of engine or pool, or one action
 * pulled, and beside it what the ghost makes of it.  A step that is not possible now returns
 * false and has changed nothing.
 */
#ifndef WIC_CORE_EXHAUSTIVE_WORLD_FIXTURE_H
#define WIC_CORE_EXHAUSTIVE_WORLD_FIXTURE_H

#include "core/exhaustive_model.h"

#define X_CHANNEL 0u
#define X_COOKIE(i) (1000u + (i))

static inline void x_world_open(struct world *w, const struct x_script *script)
{
	const struct wic_engine_params engine = { .channels_max = 1,
						  .tags_max = X_TAGS,
						  .requests_max = script->slots,
						  .wants_max = script->slots * X_WANTS,
						  .pages = script->pages };
	const struct wic_pool_params pool = { script->pages, script->close_batch };
	size_t engine_bytes = wic_engine_bytes(&engine);
	uint32_t channel;
	uint32_t tag;

	x_script = script;
	x_ends_seen = 0;
	memset(w, 0, sizeof(*w));
	memset(w->mem, 0xa5, sizeof(w->mem)); /* init must not rely on zeros */
	TEST_TRUE(script->asks <= X_ASKS && script->pages <= X_PAGES);
	TEST_TRUE(engine_bytes + wic_pool_bytes(&pool) <= X_MEM_BYTES);
	x_world_bytes = (size_t)(w->mem - (unsigned char *)w) + engine_bytes;
	TEST_EQ(wic_engine_init(w->mem, engine_bytes, &engine, &w->e), 0);
	if (script->pages) {
		x_world_bytes += (wic_pool_bytes(&pool) + 15) & ~(size_t)15;
		TEST_EQ(wic_pool_init(w->mem + engine_bytes, X_MEM_BYTES - engine_bytes, &pool,
				      &w->pool),
			0);
	}
	TEST_EQ(wic_engine_open(w->e, X_TAGS, script->pages > 0, &channel), 0);
	TEST_EQ(channel, X_CHANNEL);
	TEST_EQ(wic_engine_publish(w->e, X_CHANNEL, 0, X_TAGS, script->base), 0);
	for (tag = 0; tag < X_TAGS; tag++)
		w->epoch[tag] = script->base;
	w->armed = WIC_DEADLINE_NEVER;
}

/* --- a request on its way to the engine -------------------------------------- */

static inline void x_has(struct world *w, uint32_t i)
{
	w->ask[i].state = X_HAS;
	x_list_add(&w->unposted, i);
}

static inline void x_give(struct world *w, struct wic_run run)
{
	CONTRACT(3, wic_pool_give(w->pool, run) == 0);
	x_pages_set(w, run, WIC_PAGE_DIRTY);
}

/* Nothing of it is left that could tell one way to here from another. */
static inline void x_done(struct world *w, uint32_t i)
{
	memset(&w->ask[i], 0, sizeof(w->ask[i]));
	memset(&w->waiter[i], 0, sizeof(w->waiter[i]));
	w->ask[i].state = X_DONE;
}

/* Each want joins the run of its (tag, epoch) or makes one from @run; the rest goes back. */
static inline void x_join(struct world *w, uint32_t i, struct wic_run run)
{
	uint32_t k;

	for (k = 0; k < x_script->ask[i].wants; k++) {
		const struct x_want *want = &x_script->ask[i].want[k];
		uint32_t first = x_run_find(w, want);

		if (!want->pages)
			continue;
		if (first == WIC_PAGE_NONE) {
			CONTRACT(3, run.count >= want->pages);
			first = run.first;
			w->run[first].tag = want->tag;
			w->run[first].epoch = x_epoch(want);
			w->run[first].count = want->pages;
			w->run[first].state = X_RUN_WANTED;
			run.first += want->pages;
			run.count -= want->pages;
		}
		TEST_EQ(w->run[first].count, want->pages); /* or the script is wrong */
		w->ask[i].run[k] = first;
		w->run[first].refs++;
	}
	if (run.count)
		x_give(w, run);
	w->ask[i].state = X_HAS;
	x_list_add(&w->unposted, i);
}

/* Who waits for pages that are there now, as another's, leaves the FIFO and joins. */
static inline void x_join_queued(struct world *w)
{
	uint32_t n = 0;

	while (n < w->fifo.count) {
		uint32_t i = w->fifo.ask[n];

		if (x_pages_needed(w, i)) {
			n++;
			continue;
		}
		CONTRACT(7, wic_pool_leave(w->pool, &w->waiter[i]) == 0);
		memset(&w->waiter[i], 0, sizeof(w->waiter[i]));
		x_list_remove(&w->fifo, i);
		x_join(w, i, (struct wic_run){ 0, 0 });
	}
}

static inline void x_granted(struct world *w, uint32_t i, struct wic_run run)
{
	uint32_t half = x_script->pages / 2;
	uint32_t p;

	CONTRACT(3, run.count > 0 && run.first < 2 * half && run.count <= 2 * half - run.first);
	CONTRACT(3, run.first / half == (run.first + run.count - 1) / half);
	for (p = run.first; p < run.first + run.count; p++)
		CONTRACT(3, x_page_is_free(w, p) && !w->page[p].is_open && !w->page[p].epoch);
	x_pages_set(w, run, WIC_PAGE_HELD);
	x_join(w, i, run);
	x_join_queued(w);
}

/* The first @count of those that have their pages, as one notice. */
static inline bool x_post(struct world *w, uint32_t count)
{
	struct wic_want wants[X_ASKS][X_WANTS];
	struct wic_request batch[X_ASKS];
	uint32_t n;
	uint32_t k;
	int rc;

	if (count == 0 || count > w->unposted.count || count > x_script->slots)
		return false;
	for (n = 0; n < count; n++) {
		uint32_t i = w->unposted.ask[n];
		const struct x_ask *ask = &x_script->ask[i];

		for (k = 0; k < ask->wants; k++)
			wants[n][k] = (struct wic_want){
				.epoch = x_epoch(&ask->want[k]),
				.tag = ask->want[k].tag,
				.page_first = ask->want[k].pages ? w->ask[i].run[k] : WIC_PAGE_NONE,
				.page_count = ask->want[k].pages,
			};
		batch[n] = (struct wic_request){ X_COOKIE(i), x_deadline(i), X_CHANNEL, ask->wants,
						 wants[n] };
	}
	rc = wic_engine_request(w->e, batch, count, w->now);
	if (w->posted.count + count > x_script->slots) {
		CONTRACT(7, rc == -EAGAIN);
		return false;
	}
	CONTRACT(7, rc == 0);
	for (n = 0; n < count; n++)
		x_ghost_post(w, w->unposted.ask[0]);
	x_judge(w);
	return true;
}

/* Where nothing may come between pages and notice. */
static inline void x_post_now(struct world *w)
{
	while (!x_script->is_split && x_post(w, 1))
		;
}

/* --- steps of the script ----------------------------------------------------- */

static inline bool x_do_ask(struct world *w, uint32_t i)
{
	uint32_t pages;
	struct wic_run run = { 0, 0 };
	int rc;

	if (i >= x_script->asks || w->ask[i].state != X_NEW)
		return false;
	pages = x_pages_needed(w, i);
	if (!pages) {
		x_join(w, i, run);
		x_post_now(w);
		return true;
	}
	rc = wic_pool_take(w->pool, pages, &run);
	CONTRACT(7, rc == (!w->fifo.count && x_pages_fit(w, pages) ? 0 : -EAGAIN));
	if (rc) {
		CONTRACT(7, wic_pool_wait(w->pool, &w->waiter[i], pages) == 0);
		w->ask[i].state = X_QUEUED;
		x_list_add(&w->fifo, i);
		return true;
	}
	x_granted(w, i, run);
	x_post_now(w);
	return true;
}

static inline bool x_do_publish(struct world *w, uint32_t i)
{
	const struct x_publish *p = &x_script->publish[i];
	uint64_t epoch = x_script->base + p->epoch;
	uint32_t tag;

	if (i >= x_script->publishes || w->is_closed || w->used >> i & 1)
		return false;
	w->used |= 1u << i;
	CONTRACT(4, wic_engine_publish(w->e, X_CHANNEL, p->tag, p->tags, epoch) == 0);
	for (tag = p->tag; tag < p->tag + p->tags; tag++)
		x_ghost_publish(w, tag, epoch);
	x_judge(w);
	return true;
}

/* Gives up in the pool's FIFO, where no engine knows of it. */
static inline void x_give_up(struct world *w, uint32_t i)
{
	CONTRACT(7, wic_pool_leave(w->pool, &w->waiter[i]) == 0);
	x_list_remove(&w->fifo, i);
	x_done(w, i);
}

static inline bool x_do_tick(struct world *w)
{
	uint32_t i;

	if (w->ticks == x_script->ticks)
		return false;
	w->now = x_script->tick_ns[w->ticks++];
	CONTRACT(5, wic_engine_tick(w->e, w->now) == 0);
	for (i = 0; i < x_script->asks; i++) {
		if (x_deadline(i) > w->now)
			continue;
		if (w->ask[i].state == X_QUEUED)
			x_give_up(w, i);
		x_doom(w, i, -ETIMEDOUT);
	}
	x_judge(w);
	return true;
}

static inline bool x_do_cancel(struct world *w, uint32_t i)
{
	uint32_t bit = 1u << (X_PUBLISHES + i);
	int rc;

	if (!(x_script->cancels >> i & 1) || w->used & bit || w->ask[i].state == X_NEW ||
	    w->ask[i].state == X_HAS)
		return false;
	w->used |= bit;
	rc = wic_engine_cancel(w->e, X_COOKIE(i));
	CONTRACT(5, rc == (x_is_open(w, i) ? 0 : -EINVAL));
	if (w->ask[i].state == X_QUEUED)
		x_give_up(w, i);
	x_doom(w, i, -ECANCELED);
	x_judge(w);
	return true;
}

static inline bool x_do_die(struct world *w)
{
	uint32_t tag;

	if (!x_script->deaths || w->died)
		return false;
	CONTRACT(5, wic_engine_owner_died(w->e, X_CHANNEL, 0, x_script->deaths) == 0);
	for (tag = 0; tag < x_script->deaths; tag++)
		x_ghost_die(w, tag);
	x_judge(w);
	return true;
}

static inline bool x_do_close(struct world *w)
{
	uint32_t i;

	if (!x_script->closes || w->is_closed)
		return false;
	w->is_closed = 1;
	CONTRACT(5, wic_engine_close(w->e, X_CHANNEL) == 0);
	for (i = 0; i < x_script->asks; i++)
		x_doom(w, i, -ECANCELED);
	x_judge(w);
	return true;
}

/* A late fault of another request at the same pages is on its way. */
static inline bool x_is_late_of_another(const struct world *w, uint32_t i)
{
	uint32_t j;

	for (j = 0; j < x_script->asks; j++)
		if (j != i && w->ask[j].state == X_ENDED && w->ask[j].is_standing &&
		    w->ask[j].run[0] == w->ask[i].run[0])
			return true;
	return false;
}

/* A warp of the request touches the last page of its first run. */
static inline bool x_do_fault(struct world *w, uint32_t i)
{
	const struct x_ghost_run *run = &w->run[w->ask[i].run[0]];
	uint32_t page = w->ask[i].run[0] + run->count - 1;
	int rc;

	if (w->faults == x_script->faults || !x_script->ask[i].want[0].pages ||
	    (w->ask[i].state != X_POSTED && w->ask[i].state != X_ENDED))
		return false;
	rc = wic_engine_fault(w->e, page, X_COOKIE(i));
	if (rc == -EAGAIN && x_is_late_of_another(w, i))
		return false; /* asks again */
	CONTRACT(1, rc == 0);
	w->faults++;
	w->ask[i].is_standing = 1;
	return true;
}

/* Its readers are done, or it failed: its runs go back with the last who has them. */
static inline bool x_do_release(struct world *w, uint32_t i)
{
	uint32_t k;

	if (w->ask[i].state != X_ENDED || w->ask[i].is_standing)
		return false;
	for (k = 0; k < x_script->ask[i].wants; k++) {
		struct x_ghost_run *run = &w->run[w->ask[i].run[k]];
		struct wic_run pages = { w->ask[i].run[k], run->count };

		if (!x_script->ask[i].want[k].pages || --run->refs)
			continue;
		CONTRACT(3, wic_engine_release(w->e, pages.first) == 0);
		memset(run, 0, sizeof(*run));
		x_give(w, pages);
	}
	x_done(w, i);
	return true;
}

/* --- steps of the back-end --------------------------------------------------- */

static inline bool x_do_filled(struct world *w, uint32_t page, int status)
{
	if (w->run[page].state != X_RUN_COPYING || (status && w->fails == x_script->fails))
		return false;
	w->fails += status != 0;
	CONTRACT(1, wic_engine_filled(w->e, page, status) == 0);
	x_ghost_filled(w, page, status);
	x_judge(w);
	return true;
}

static inline bool x_do_invalidated(struct world *w, uint32_t page)
{
	struct wic_run run = { page, w->page[page].closing };
	uint32_t i;

	if (!w->page[page].is_closing_seen)
		return false;
	CONTRACT(3, x_pages_are(w, run, WIC_PAGE_CLOSING));
	CONTRACT(3, wic_engine_invalidated(w->e, run) == 0);
	CONTRACT(3, wic_pool_closed(w->pool, run) == 0);
	for (i = page; i < page + run.count; i++)
		memset(&w->page[i], 0, sizeof(w->page[i]));
	x_pages_set(w, run, WIC_PAGE_CLOSED);
	return true;
}

static inline bool x_do_serve(struct world *w)
{
	struct wic_pool_waiter *waiter;
	struct wic_run run;
	uint32_t head;

	if (!w->pool)
		return false;
	waiter = wic_pool_serve(w->pool);
	if (!waiter) {
		CONTRACT(7, !w->fifo.count || !x_pages_fit(w, w->waiter[w->fifo.ask[0]].pages));
		return false;
	}
	CONTRACT(7, w->fifo.count > 0);
	head = w->fifo.ask[0];
	CONTRACT(7, waiter == &w->waiter[head]);
	CONTRACT(3, waiter->run.count == waiter->pages);
	run = waiter->run;
	memset(waiter, 0, sizeof(*waiter));
	x_list_remove(&w->fifo, head);
	x_granted(w, head, run);
	x_post_now(w);
	return true;
}

static inline bool x_do_retire(struct world *w)
{
	struct wic_run run;
	bool was_refused;

	if (!w->pool)
		return false;
	was_refused = w->pool->refused;
	if (!wic_pool_close_next(w->pool, &run))
		return was_refused; /* which it has forgotten now */
	CONTRACT(3, x_pages_are(w, run, WIC_PAGE_DIRTY));
	x_pages_set(w, run, WIC_PAGE_CLOSING);
	w->page[run.first].closing = run.count;
	CONTRACT(3, wic_engine_retire(w->e, run) == 0);
	return true;
}

/* --- actions ----------------------------------------------------------------- */

static inline void x_pulled_fill(struct world *w, const struct wic_action *a)
{
	struct x_ghost_run *run = &w->run[a->run.first];

	CONTRACT(3, x_pages_are(w, a->run, WIC_PAGE_HELD));
	CONTRACT(3, run->state == X_RUN_FILLING && run->count == a->run.count);
	CONTRACT(2, a->channel == X_CHANNEL && a->tag == run->tag && a->epoch == run->epoch);
	CONTRACT(4, a->epoch > x_script->base && a->epoch <= w->epoch[a->tag]);
	run->state = X_RUN_COPYING;
}

static inline void x_pulled_invalidate(struct world *w, const struct wic_action *a)
{
	CONTRACT(3, x_pages_are(w, a->run, WIC_PAGE_CLOSING));
	CONTRACT(3, w->page[a->run.first].closing == a->run.count);
	CONTRACT(3, !w->page[a->run.first].is_closing_seen);
	w->page[a->run.first].is_closing_seen = 1;
}

/* What the ask was promised lies on its pages, and those are its own. */
static inline void x_check_data(const struct world *w, uint32_t i)
{
	uint32_t k;

	for (k = 0; k < x_script->ask[i].wants; k++) {
		const struct x_want *want = &x_script->ask[i].want[k];
		struct wic_run run = { w->ask[i].run[k], want->pages };

		CONTRACT(2, w->epoch[want->tag] >= x_epoch(want));
		if (!want->pages)
			continue;
		CONTRACT(3, x_pages_are(w, run, WIC_PAGE_HELD));
		CONTRACT(2, x_pages_have(w, run, want->tag, x_epoch(want)));
	}
}

/* Whoever was decided before it has had his REPLAY; by the same input, on the same tag, too. */
static inline void x_check_line(const struct world *w, uint32_t i)
{
	const struct x_ask *ask = &x_script->ask[i];
	uint32_t n;

	for (n = 0; w->line.ask[n] != i; n++) {
		uint32_t j = w->line.ask[n];
		const struct x_ask *other = &x_script->ask[j];

		CONTRACT(7, w->ask[j].group == w->ask[i].group);
		CONTRACT(7, ask->wants != 1 || other->wants != 1 ||
				    memcmp(&ask->want[0], &other->want[0], sizeof(ask->want[0])));
	}
}

/* Over: without pages at once, else when it releases them. */
static inline void x_end(struct world *w, uint32_t i, int status)
{
	uint32_t pages = 0;
	uint32_t k;

	x_list_remove(&w->line, i);
	x_list_remove(&w->posted, i);
	for (k = 0; k < x_script->ask[i].wants; k++)
		pages += x_script->ask[i].want[k].pages;
	w->ask[i].status = status;
	w->ask[i].is_standing = 0;
	w->ask[i].group = 0;
	w->ask[i].state = X_ENDED;
	if (!pages)
		x_done(w, i);
	for (k = 0; k < X_ENDS; k++)
		if (x_end_status[k] == status)
			x_ends_seen |= X_BIT(k);
}

static inline void x_open_pages(struct world *w, struct wic_run run)
{
	uint32_t p;

	CONTRACT(3, x_pages_are(w, run, WIC_PAGE_HELD));
	for (p = run.first; p < run.first + run.count; p++)
		w->page[p].is_open = 1;
}

static inline void x_pulled_replay(struct world *w, const struct wic_action *a)
{
	uint32_t i = (uint32_t)(a->cookie - X_COOKIE(0));

	CONTRACT(5, a->cookie >= X_COOKIE(0) && i < x_script->asks);
	if (!a->final) { /* a late fault is answered: of who ended, and is there still */
		const struct x_ghost_run *run = &w->run[w->ask[i].run[0]];

		CONTRACT(5, w->ask[i].state == X_ENDED && w->ask[i].is_standing && a->faulted);
		CONTRACT(2, a->status != 0 || run->state == X_RUN_FILLED);
		CONTRACT(1, a->status == 0 || w->ask[i].status != 0);
		w->ask[i].is_standing = 0;
		x_open_pages(w, a->run);
		return;
	}
	CONTRACT(5, w->ask[i].state == X_POSTED);
	CONTRACT(2, a->status != 0 || w->ask[i].verdict == X_GOOD);
	CONTRACT(1, a->status == 0 || w->ask[i].verdict != X_GOOD);
	CONTRACT(5, w->ask[i].verdict != X_OPEN);
	CONTRACT(5, a->status == (w->ask[i].verdict == X_GOOD ? 0 : w->ask[i].doom));
	CONTRACT(1, a->faulted == (w->ask[i].is_standing != 0));
	CONTRACT(4, a->epoch_seen >= x_script->base && a->epoch_seen <= w->epoch[a->tag]);
	if (a->status == 0)
		x_check_data(w, i);
	if (a->run.first != WIC_PAGE_NONE)
		x_open_pages(w, a->run);
	x_check_line(w, i);
	x_end(w, i, a->status);
}

/* Nothing to pull: the last TIMER is for the first deadline of those that have one. */
static inline void x_check_timer(const struct world *w)
{
	uint64_t earliest = WIC_DEADLINE_NEVER;
	uint32_t i;

	for (i = 0; i < x_script->asks; i++)
		if (x_is_live(w, i) && x_deadline(i) < earliest)
			earliest = x_deadline(i);
	CONTRACT(5, w->armed == earliest);
}

static inline bool x_do_pull(struct world *w)
{
	uint32_t queued = w->e->queue_length;
	struct wic_action a;

	if (!wic_engine_next(w->e, &a)) {
		X_CHECK("engine", !wic_engine_is_dead(w->e));
		x_check_timer(w);
		return queued > 0; /* a TIMER that is not needed any more was dropped */
	}
	switch (a.kind) {
	case WIC_ACTION_FILL:
		x_pulled_fill(w, &a);
		break;
	case WIC_ACTION_INVALIDATE:
		x_pulled_invalidate(w, &a);
		break;
	case WIC_ACTION_REPLAY:
		x_pulled_replay(w, &a);
		break;
	case WIC_ACTION_TIMER:
		w->armed = a.at_ns;
		break;
	}
	return true;
}

static inline bool x_do(struct world *w, struct x_step step)
{
	switch (step.kind) {
	case X_STEP_ASK:
		return x_do_ask(w, step.i);
	case X_STEP_PUBLISH:
		return x_do_publish(w, step.i);
	case X_STEP_TICK:
		return x_do_tick(w);
	case X_STEP_CANCEL:
		return x_do_cancel(w, step.i);
	case X_STEP_DIE:
		return x_do_die(w);
	case X_STEP_CLOSE:
		return x_do_close(w);
	case X_STEP_FAULT:
		return x_do_fault(w, step.i);
	case X_STEP_RELEASE:
		return x_do_release(w, step.i);
	case X_STEP_FILL_FAILED:
		return x_do_filled(w, step.i, -EIO);
	case X_STEP_POST:
		return x_post(w, step.i + 1);
	case X_STEP_PULL:
		return x_do_pull(w);
	case X_STEP_FILLED:
		return x_do_filled(w, step.i, 0);
	case X_STEP_INVALIDATED:
		return x_do_invalidated(w, step.i);
	case X_STEP_SERVE:
		return x_do_serve(w);
	case X_STEP_RETIRE:
		return x_do_retire(w);
	case X_STEP_KINDS:
		break;
	}
	return false;
}

/* --- what holds in every state ----------------------------------------------- */

/* Pages under a fill or of a request that has not ended cannot be released. */
static inline void x_check_no_release(struct world *w, uint32_t page)
{
	bool is_used = w->run[page].state == X_RUN_FILLING || w->run[page].state == X_RUN_COPYING;
	uint32_t i;
	uint32_t k;

	for (i = 0; i < x_script->asks; i++)
		for (k = 0; k < x_script->ask[i].wants; k++)
			is_used |= w->ask[i].state == X_POSTED && x_script->ask[i].want[k].pages &&
				   w->ask[i].run[k] == page;
	if (is_used)
		CONTRACT(3, wic_engine_release(w->e, page) == -EBUSY);
}

static inline void x_check(struct world *w)
{
	uint32_t held = 0;
	uint32_t i;

	X_CHECK("engine", wic_engine_is_consistent(w->e));
	for (i = 0; i < X_TAGS; i++)
		CONTRACT(4, wic_engine_epoch(w->e, X_CHANNEL, i) == w->epoch[i]);
	for (i = 0; i < x_script->asks; i++)
		if (w->ask[i].state == X_ENDED && w->ask[i].status == 0)
			x_check_data(w, i);
	if (!w->pool)
		return;
	X_CHECK("pool", wic_pool_is_consistent(w->pool));
	for (i = 0; i < x_script->pages; i++) {
		CONTRACT(3, (uint32_t)wic_pool_page_state(w->pool, i) == w->page[i].state);
		held += w->page[i].state == WIC_PAGE_HELD;
		if (w->run[i].refs)
			x_check_no_release(w, i);
	}
	CONTRACT(3, wic_pool_held(w->pool) == held);
	CONTRACT(7, wic_pool_waiting(w->pool) == w->fifo.count);
}

/* Only the script can go on from here.  So whoever still waits must have a reason. */
static inline void x_check_settled(const struct world *w)
{
	uint32_t i;

	for (i = 0; i < x_script->asks; i++) {
		uint32_t missing = 0;
		uint32_t k;

		CONTRACT(1, w->ask[i].state != X_ENDED || !w->ask[i].is_standing);
		CONTRACT(7, w->ask[i].state != X_HAS || w->posted.count == x_script->slots);
		if (w->ask[i].state != X_POSTED)
			continue;
		CONTRACT(1, x_is_live(w, i));
		for (k = 0; k < x_script->ask[i].wants; k++) {
			const struct x_want *want = &x_script->ask[i].want[k];

			missing +=
				w->epoch[want->tag] < x_epoch(want) && !(w->died >> want->tag & 1);
		}
		CONTRACT(1, missing > 0 && !w->is_closed);
		CONTRACT(5, x_deadline(i) > w->now);
	}
	for (i = 0; w->fifo.count && i < x_script->pages; i++) {
		CONTRACT(7, w->page[i].state != WIC_PAGE_DIRTY);
		CONTRACT(7, w->page[i].state != WIC_PAGE_CLOSING);
	}
}

#endif /* WIC_CORE_EXHAUSTIVE_WORLD_FIXTURE_H */
