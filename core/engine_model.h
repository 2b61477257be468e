/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A naive model of the engine: arrays, linear searches, no queue links, no heaps.
 * It shares no code with core/ but the public header.  Each input is given to both;
 * return codes must be equal, and so must the actions, one by one in order.
 *
 * Copyable by assignment, so that a search can come back to a state.
 */
#ifndef WIC_CORE_ENGINE_MODEL_H
#define WIC_CORE_ENGINE_MODEL_H

#include "core/engine.h"

#include "tests/test.h"

#define M_CHANNELS 3
#define M_TAGS 6
#define M_REQUESTS 6
#define M_WANTS 9
#define M_PAGES 12
#define M_QUEUE 64

enum m_want_state { M_WAITING, M_FILLING, M_GOT, M_LOST };
enum m_page_state {
	M_NONE,
	M_WANTED,
	M_FILL_SAID,
	M_FILL_SEEN,
	M_FILLED,
	M_RETIRE_SAID,
	M_RETIRE_SEEN
};

struct m_want {
	struct wic_want want;
	enum m_want_state state;
	uint64_t order; /* when it began to wait or to fill */
};

struct m_request {
	uint64_t cookie;
	uint64_t deadline;
	uint64_t order;
	uint64_t seen;
	uint32_t channel;
	uint32_t wants;
	uint32_t faulted;
	uint32_t report;
	int status;
	bool is_used;
	bool is_ended;
	bool is_timed;
	struct m_want want[M_WANTS];
};

struct m_page {
	uint32_t owner; /* index of its run's first page, or WIC_PAGE_NONE */
	uint32_t channel;
	uint32_t tag;
	uint32_t count;
	uint64_t epoch;
	enum m_page_state state;
	int error;
	bool has_late;
	uint64_t late_cookie;
	int late_status;
};

enum m_what { M_SAY_END, M_SAY_RUN, M_SAY_LATE, M_SAY_TIMER };

struct m_say {
	enum m_what what;
	uint32_t i;
};

struct model {
	bool is_open[M_CHANNELS];
	bool is_closed[M_CHANNELS];
	bool has_data[M_CHANNELS];
	uint32_t tags[M_CHANNELS];
	uint64_t epoch[M_CHANNELS][M_TAGS];
	uint64_t filled[M_CHANNELS][M_TAGS];
	bool is_dead[M_CHANNELS][M_TAGS];
	struct m_request r[M_REQUESTS];
	struct m_page page[M_PAGES];
	struct m_say say[M_QUEUE];
	uint32_t says;
	uint64_t order;
	uint64_t armed;
};

static inline void m_init(struct model *m)
{
	uint32_t i;

	memset(m, 0, sizeof(*m));
	m->armed = WIC_DEADLINE_NEVER;
	for (i = 0; i < M_PAGES; i++)
		m->page[i].owner = WIC_PAGE_NONE;
}

static inline void m_say(struct model *m, enum m_what what, uint32_t i)
{
	TEST_TRUE(m->says < M_QUEUE);
	m->say[m->says++] = (struct m_say){ what, i };
}

static inline bool m_says(const struct model *m, enum m_what what, uint32_t i)
{
	uint32_t k;

	for (k = 0; k < m->says; k++)
		if (m->say[k].what == what && m->say[k].i == i)
			return true;
	return false;
}

static inline uint64_t m_earliest(const struct model *m)
{
	uint64_t earliest = WIC_DEADLINE_NEVER;
	uint32_t i;

	for (i = 0; i < M_REQUESTS; i++)
		if (m->r[i].is_used && m->r[i].is_timed && m->r[i].deadline < earliest)
			earliest = m->r[i].deadline;
	return earliest;
}

/* After each input that was taken. */
static inline int m_done(struct model *m)
{
	if (m_earliest(m) != m->armed && !m_says(m, M_SAY_TIMER, 0))
		m_say(m, M_SAY_TIMER, 0);
	return 0;
}

static inline uint32_t m_find(const struct model *m, uint64_t cookie)
{
	uint32_t i;

	for (i = 0; i < M_REQUESTS; i++)
		if (m->r[i].is_used && m->r[i].cookie == cookie)
			return i;
	return M_REQUESTS;
}

static inline uint32_t m_count(const struct m_request *r, enum m_want_state state)
{
	uint32_t n = 0;
	uint32_t k;

	for (k = 0; k < r->wants; k++)
		n += r->want[k].state == state;
	return n;
}

/* Is the request over?  Then say so. */
static inline void m_settle(struct model *m, uint32_t i)
{
	struct m_request *r = &m->r[i];
	bool is_all = m_count(r, M_GOT) == r->wants;
	uint32_t k;

	if (r->is_ended || m_count(r, M_FILLING) || (!is_all && !r->status))
		return;
	if (is_all)
		r->status = 0;
	r->is_ended = true;
	r->is_timed = false;
	r->report = 0;
	if (r->status)
		while (r->want[r->report].state == M_GOT)
			r->report++;
	r->seen = m->epoch[r->channel][r->want[r->report].want.tag];
	for (k = 0; k < r->wants; k++)
		if (r->status && r->want[k].want.page_first != WIC_PAGE_NONE)
			m->page[r->want[k].want.page_first].error = r->status;
	m_say(m, M_SAY_END, i);
}

static inline void m_end(struct model *m, uint32_t i, int status)
{
	struct m_request *r = &m->r[i];
	uint32_t k;

	if (!r->status)
		r->status = status;
	r->is_timed = false;
	for (k = 0; k < r->wants; k++)
		if (r->want[k].state == M_WAITING)
			r->want[k].state = M_LOST;
	m_settle(m, i);
}

enum m_fate { M_OK, M_START, M_JOIN, M_STAY, M_GONE, M_DEAD };

static inline enum m_fate m_fate(const struct model *m, uint32_t channel, const struct wic_want *w)
{
	uint64_t published = m->epoch[channel][w->tag];
	bool is_data = w->page_first != WIC_PAGE_NONE;

	if (m->is_closed[channel])
		return M_GONE;
	if (is_data && m->page[w->page_first].state == M_FILLED)
		return M_OK;
	if (is_data && m->page[w->page_first].state != M_WANTED)
		return M_JOIN;
	if (published < w->epoch)
		return m->is_dead[channel][w->tag] ? M_DEAD : M_STAY;
	if (!is_data)
		return M_OK;
	return published == w->epoch && m->filled[channel][w->tag] < w->epoch ? M_START : M_GONE;
}

static inline void m_advance(struct model *m, uint32_t i, uint32_t k)
{
	struct m_want *w = &m->r[i].want[k];
	enum m_fate fate = m_fate(m, m->r[i].channel, &w->want);

	w->order = m->order++;
	if (fate == M_START) {
		m->page[w->want.page_first].state = M_FILL_SAID;
		m_say(m, M_SAY_RUN, w->want.page_first);
	}
	if (fate == M_START || fate == M_JOIN)
		w->state = M_FILLING;
	if (fate == M_STAY)
		w->state = M_WAITING;
	if (fate == M_OK) {
		w->state = M_GOT;
		m_settle(m, i);
	}
	if (fate == M_GONE || fate == M_DEAD) {
		w->state = M_LOST;
		m_end(m, i, fate == M_GONE ? -EINVAL : -EOWNERDEAD);
	}
}

/* The next want in order, of those in @state on the tag or the page; false: none. */
static inline bool m_next_want(const struct model *m, enum m_want_state state, uint32_t channel,
			       uint32_t tag, uint32_t page, uint32_t *i_out, uint32_t *k_out)
{
	const struct m_want *best = NULL;
	uint32_t i;
	uint32_t k;

	for (i = 0; i < M_REQUESTS; i++)
		for (k = 0; m->r[i].is_used && k < m->r[i].wants; k++) {
			const struct m_want *w = &m->r[i].want[k];

			if (w->state != state || m->r[i].is_ended)
				continue;
			if (state == M_FILLING && w->want.page_first != page)
				continue;
			if (state == M_WAITING &&
			    (m->r[i].channel != channel || w->want.tag != tag))
				continue;
			if (best && state == M_WAITING && best->want.epoch < w->want.epoch)
				continue;
			if (best && (state == M_FILLING || best->want.epoch == w->want.epoch) &&
			    best->order < w->order)
				continue;
			best = w;
			*i_out = i;
			*k_out = k;
		}
	return best != NULL;
}

/* --- inputs ------------------------------------------------------------------ */

static inline int m_publish(struct model *m, uint32_t channel, uint32_t first, uint32_t count,
			    uint64_t epoch)
{
	uint32_t tag;
	uint32_t i = 0;
	uint32_t k = 0;

	if (channel >= M_CHANNELS || !m->is_open[channel] || m->is_closed[channel])
		return -EINVAL;
	if (count == 0 || first >= m->tags[channel] || count > m->tags[channel] - first)
		return -EINVAL;
	for (tag = first; tag < first + count; tag++) {
		if (m->epoch[channel][tag] < epoch)
			m->epoch[channel][tag] = epoch;
		while (m_next_want(m, M_WAITING, channel, tag, 0, &i, &k)) {
			if (m->r[i].want[k].want.epoch > m->epoch[channel][tag])
				break;
			m_advance(m, i, k);
		}
	}
	return m_done(m);
}

static inline int m_owner_died(struct model *m, uint32_t channel, uint32_t first, uint32_t count)
{
	uint32_t tag;
	uint32_t i = 0;
	uint32_t k = 0;

	if (channel >= M_CHANNELS || !m->is_open[channel])
		return -EINVAL;
	if (count == 0 || first >= m->tags[channel] || count > m->tags[channel] - first)
		return -EINVAL;
	for (tag = first; tag < first + count; tag++) {
		m->is_dead[channel][tag] = true;
		while (m_next_want(m, M_WAITING, channel, tag, 0, &i, &k))
			m_end(m, i, -EOWNERDEAD);
	}
	return m_done(m);
}

/* Oldest request that is not ended, of a channel, or by deadline up to @now. */
static inline uint32_t m_next_request(const struct model *m, uint32_t channel, uint64_t now)
{
	uint32_t best = M_REQUESTS;
	uint32_t i;

	for (i = 0; i < M_REQUESTS; i++) {
		const struct m_request *r = &m->r[i];

		if (!r->is_used || r->is_ended)
			continue;
		if (channel < M_CHANNELS ? r->channel != channel || r->status
					 : !r->is_timed || r->deadline > now)
			continue;
		if (best == M_REQUESTS)
			best = i;
		else if (channel == M_CHANNELS && r->deadline != m->r[best].deadline)
			best = r->deadline < m->r[best].deadline ? i : best;
		else if (r->order < m->r[best].order)
			best = i;
	}
	return best;
}

static inline int m_close(struct model *m, uint32_t channel)
{
	uint32_t i;

	if (channel >= M_CHANNELS || !m->is_open[channel] || m->is_closed[channel])
		return -EINVAL;
	m->is_closed[channel] = true;
	while ((i = m_next_request(m, channel, 0)) < M_REQUESTS)
		m_end(m, i, -ECANCELED);
	return m_done(m);
}

static inline int m_tick(struct model *m, uint64_t now)
{
	uint32_t i;

	while ((i = m_next_request(m, M_CHANNELS, now)) < M_REQUESTS)
		m_end(m, i, -ETIMEDOUT);
	return m_done(m);
}

static inline int m_cancel(struct model *m, uint64_t cookie)
{
	uint32_t i = m_find(m, cookie);

	if (i == M_REQUESTS || m->r[i].is_ended)
		return -EINVAL;
	m_end(m, i, -ECANCELED);
	return m_done(m);
}

static inline int m_open(struct model *m, uint32_t tags, bool has_data, uint32_t channel)
{
	m->is_open[channel] = true;
	m->is_closed[channel] = false;
	m->has_data[channel] = has_data;
	m->tags[channel] = tags;
	memset(m->epoch[channel], 0, sizeof(m->epoch[channel]));
	memset(m->filled[channel], 0, sizeof(m->filled[channel]));
	memset(m->is_dead[channel], 0, sizeof(m->is_dead[channel]));
	return 0;
}

static inline bool m_is_owned(const struct model *m, uint32_t page)
{
	return m->page[page].owner != WIC_PAGE_NONE &&
	       m->page[m->page[page].owner].state < M_RETIRE_SAID;
}

static inline int m_free(struct model *m, uint32_t channel)
{
	uint32_t i;

	if (channel >= M_CHANNELS || !m->is_open[channel])
		return -EINVAL;
	for (i = 0; i < M_REQUESTS; i++)
		if (m->r[i].is_used && m->r[i].channel == channel)
			return -EBUSY;
	for (i = 0; i < M_PAGES; i++)
		if (m->page[i].owner == i && m_is_owned(m, i) && m->page[i].channel == channel)
			return -EBUSY;
	m->is_open[channel] = false;
	return m_done(m);
}

/* Make the want's run its own or join it. */
static inline int m_claim(struct model *m, uint32_t channel, const struct wic_want *w)
{
	struct m_page *run = &m->page[w->page_first];
	uint32_t p;

	if (run->owner == w->page_first)
		return m_is_owned(m, w->page_first) && run->channel == channel &&
				       run->tag == w->tag && run->epoch == w->epoch &&
				       run->count == w->page_count
			       ? 0
			       : -EINVAL;
	for (p = w->page_first; p < w->page_first + w->page_count; p++)
		if (m->page[p].owner != WIC_PAGE_NONE)
			return -EINVAL;
	for (p = w->page_first; p < w->page_first + w->page_count; p++)
		m->page[p].owner = w->page_first;
	run->channel = channel;
	run->tag = w->tag;
	run->epoch = w->epoch;
	run->count = w->page_count;
	run->state = M_WANTED;
	run->error = 0;
	return 0;
}

static inline void m_start(struct model *m, uint32_t i, uint64_t now)
{
	struct m_request *r = &m->r[i];
	bool is_missing = false;
	int status = 0;
	uint32_t k;

	for (k = 0; k < r->wants; k++) {
		enum m_fate fate = m_fate(m, r->channel, &r->want[k].want);

		is_missing |= fate != M_OK;
		if (!status && (fate == M_GONE || fate == M_DEAD))
			status = fate == M_GONE ? -EINVAL : -EOWNERDEAD;
	}
	if (!status && is_missing && r->deadline <= now)
		status = -ETIMEDOUT;
	for (k = 0; k < r->wants; k++) {
		if (!status)
			m_advance(m, i, k);
		else if (m_fate(m, r->channel, &r->want[k].want) == M_OK)
			r->want[k].state = M_GOT;
	}
	if (status)
		m_end(m, i, status);
	else if (!r->is_ended)
		r->is_timed = r->deadline != WIC_DEADLINE_NEVER;
}

static inline bool m_request_is_valid(const struct model *m, const struct wic_request *q)
{
	uint32_t k;

	if (q->channel >= M_CHANNELS || !m->is_open[q->channel] || q->cookie == WIC_COOKIE_NONE ||
	    q->want_count == 0)
		return false;
	for (k = 0; k < q->want_count; k++) {
		const struct wic_want *w = &q->wants[k];

		if (w->tag >= m->tags[q->channel])
			return false;
		if (w->page_first == WIC_PAGE_NONE)
			continue;
		if (!m->has_data[q->channel] || w->epoch == 0 || w->page_first >= M_PAGES ||
		    w->page_count == 0 || w->page_count > M_PAGES - w->page_first)
			return false;
	}
	return true;
}

static inline int m_request(struct model *m, const struct wic_request *q, uint32_t count,
			    uint64_t now)
{
	struct model before = *m; /* on an error nothing changed */
	uint32_t taken[WIC_ENGINE_BATCH_MAX];
	uint32_t used = 0;
	uint32_t used_wants = 0;
	uint32_t wants = 0;
	uint32_t i;
	uint32_t k;

	for (i = 0; i < M_REQUESTS; i++) {
		used += m->r[i].is_used;
		used_wants += m->r[i].is_used ? m->r[i].wants : 0;
	}
	if (count == 0 || count > WIC_ENGINE_BATCH_MAX || count > M_REQUESTS)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		wants += q[i].want_count;
		if (wants > M_WANTS || !m_request_is_valid(m, &q[i]))
			return -EINVAL;
	}
	if (used + count > M_REQUESTS || used_wants + wants > M_WANTS)
		return -EAGAIN;
	for (i = 0; i < count; i++) {
		struct m_request *r = m->r;

		if (m_find(m, q[i].cookie) < M_REQUESTS)
			goto err_before;
		while (r->is_used)
			r++;
		taken[i] = (uint32_t)(r - m->r);
		*r = (struct m_request){ .cookie = q[i].cookie,
					 .deadline = q[i].deadline_ns,
					 .order = m->order++,
					 .channel = q[i].channel,
					 .wants = q[i].want_count,
					 .faulted = WIC_PAGE_NONE,
					 .is_used = true };
		for (k = 0; k < r->wants; k++) {
			r->want[k] = (struct m_want){ .want = q[i].wants[k], .state = M_LOST };
			if (q[i].wants[k].page_first != WIC_PAGE_NONE &&
			    m_claim(m, r->channel, &q[i].wants[k]))
				goto err_before;
		}
	}
	for (i = 0; i < count; i++)
		m_start(m, taken[i], now);
	return m_done(m);

err_before:
	*m = before;
	return -EINVAL;
}

static inline bool m_pends_on(const struct model *m, uint32_t run)
{
	uint32_t i;
	uint32_t k;

	for (i = 0; i < M_REQUESTS; i++)
		for (k = 0; m->r[i].is_used && k < m->r[i].wants; k++)
			if (m->r[i].want[k].want.page_first == run)
				return true;
	return false;
}

static inline int m_fault(struct model *m, uint32_t page, uint64_t cookie)
{
	uint32_t i = m_find(m, cookie);
	struct m_page *p = &m->page[page];
	int status = -EINVAL;
	uint32_t k;

	if (page >= M_PAGES)
		return -EINVAL;
	for (k = 0; i < M_REQUESTS && k < m->r[i].wants; k++)
		if (p->owner != WIC_PAGE_NONE && m->r[i].want[k].want.page_first == p->owner) {
			if (m->r[i].faulted == WIC_PAGE_NONE)
				m->r[i].faulted = page;
			return m_done(m);
		}
	if (!m_is_owned(m, page))
		cookie = WIC_COOKIE_NONE;
	else if (m->page[p->owner].state == M_FILLED)
		status = 0;
	else if (m->page[p->owner].error)
		status = m->page[p->owner].error;
	if (p->has_late)
		return p->late_cookie == cookie ? m_done(m) : -EAGAIN;
	p->has_late = true;
	p->late_cookie = cookie;
	p->late_status = status;
	m_say(m, M_SAY_LATE, page);
	return m_done(m);
}

static inline void m_disown(struct model *m, uint32_t run)
{
	uint32_t p;

	for (p = 0; p < M_PAGES; p++)
		if (m->page[p].owner == run)
			m->page[p].owner = WIC_PAGE_NONE;
	m->page[run].state = M_NONE;
}

static inline int m_release(struct model *m, uint32_t page)
{
	if (page >= M_PAGES || m->page[page].owner != page || !m_is_owned(m, page))
		return -EINVAL;
	if (m->page[page].state == M_FILL_SAID || m->page[page].state == M_FILL_SEEN ||
	    m_pends_on(m, page))
		return -EBUSY;
	m_disown(m, page);
	return m_done(m);
}

static inline int m_retire(struct model *m, struct wic_run run)
{
	uint32_t p;

	if (run.count == 0 || run.first >= M_PAGES || run.count > M_PAGES - run.first)
		return -EINVAL;
	for (p = run.first; p < run.first + run.count; p++)
		if (m->page[p].owner != WIC_PAGE_NONE)
			return -EINVAL;
	for (p = run.first; p < run.first + run.count; p++)
		m->page[p].owner = run.first;
	m->page[run.first].state = M_RETIRE_SAID;
	m->page[run.first].count = run.count;
	m_say(m, M_SAY_RUN, run.first);
	return m_done(m);
}

static inline int m_invalidated(struct model *m, struct wic_run run)
{
	if (run.first >= M_PAGES || m->page[run.first].owner != run.first ||
	    m->page[run.first].state != M_RETIRE_SEEN || m->page[run.first].count != run.count)
		return -EINVAL;
	m_disown(m, run.first);
	return m_done(m);
}

static inline int m_filled(struct model *m, uint32_t page, int status)
{
	uint64_t *seen;
	uint32_t i = 0;
	uint32_t k = 0;

	if (page >= M_PAGES || m->page[page].owner != page || status > 0 ||
	    m->page[page].state != M_FILL_SEEN)
		return -EINVAL;
	m->page[page].state = status ? M_WANTED : M_FILLED;
	seen = &m->filled[m->page[page].channel][m->page[page].tag];
	if (!status && *seen < m->page[page].epoch)
		*seen = m->page[page].epoch;
	while (m_next_want(m, M_FILLING, 0, 0, page, &i, &k)) {
		m->r[i].want[k].state = status ? M_LOST : M_GOT;
		if (status)
			m_end(m, i, status);
		else
			m_settle(m, i);
	}
	return m_done(m);
}

/* --- actions ----------------------------------------------------------------- */

static inline struct wic_run m_rest(const struct model *m, uint32_t page)
{
	uint32_t owner = m->page[page].owner;

	return (struct wic_run){ page, owner + m->page[owner].count - page };
}

static inline void m_pull_end(struct model *m, uint32_t i, struct wic_action *a)
{
	struct m_request *r = &m->r[i];
	uint32_t page = r->faulted != WIC_PAGE_NONE ? r->faulted : r->want[0].want.page_first;

	a->kind = WIC_ACTION_REPLAY;
	a->status = r->status;
	a->faulted = r->faulted != WIC_PAGE_NONE;
	a->final = true;
	a->channel = r->channel;
	a->tag = r->want[r->report].want.tag;
	a->epoch = r->want[r->report].want.epoch;
	a->epoch_seen = r->seen;
	a->cookie = r->cookie;
	if (page != WIC_PAGE_NONE)
		a->run = m_rest(m, page);
	r->is_used = false;
}

static inline void m_pull_run(struct model *m, uint32_t i, struct wic_action *a)
{
	struct m_page *run = &m->page[i];

	a->run = (struct wic_run){ i, run->count };
	if (run->state == M_FILL_SAID) {
		a->kind = WIC_ACTION_FILL;
		a->channel = run->channel;
		a->tag = run->tag;
		a->epoch = run->epoch;
		run->state = M_FILL_SEEN;
	} else {
		TEST_EQ(run->state, M_RETIRE_SAID);
		a->kind = WIC_ACTION_INVALIDATE;
		run->state = M_RETIRE_SEEN;
	}
}

static inline void m_pull_late(struct model *m, uint32_t i, struct wic_action *a)
{
	struct m_page *p = &m->page[i];

	a->kind = WIC_ACTION_REPLAY;
	a->status = p->late_status;
	a->cookie = p->late_cookie;
	a->faulted = true;
	a->run = (struct wic_run){ i, 1 };
	p->has_late = false;
	if (p->late_cookie == WIC_COOKIE_NONE || !m_is_owned(m, i))
		return;
	a->channel = m->page[p->owner].channel;
	a->tag = m->page[p->owner].tag;
	a->epoch = m->page[p->owner].epoch;
	a->epoch_seen = m->epoch[a->channel][a->tag];
	a->run = m_rest(m, i);
}

static inline bool m_next(struct model *m, struct wic_action *a)
{
	while (m->says) {
		struct m_say say = m->say[0];

		memmove(m->say, m->say + 1, --m->says * sizeof(m->say[0]));
		*a = (struct wic_action){ .cookie = WIC_COOKIE_NONE,
					  .at_ns = WIC_DEADLINE_NEVER,
					  .run = { WIC_PAGE_NONE, 0 } };
		if (say.what == M_SAY_END)
			m_pull_end(m, say.i, a);
		else if (say.what == M_SAY_RUN)
			m_pull_run(m, say.i, a);
		else if (say.what == M_SAY_LATE)
			m_pull_late(m, say.i, a);
		else if (m_earliest(m) == m->armed)
			continue;
		else {
			a->kind = WIC_ACTION_TIMER;
			a->at_ns = m->armed = m_earliest(m);
		}
		return true;
	}
	return false;
}

#endif /* WIC_CORE_ENGINE_MODEL_H */
