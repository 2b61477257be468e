// SPDX-License-Identifier: MIT OR GPL-2.0
/* Runs the table of bad_input.h. */
#include "tests/conform/bad_input.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "tests/conform/conform.h"

#define CHILD_SECONDS 60 /* a child that hangs is ended */

static const char *const case_names[BAD_CASES] = {
	"NULL",  "wrong kind",   "out of range",    "overflowing sizes", "closed",
	"twice", "wrong thread", "a fault handler", "after fork",
};

static const struct bad_row *const tables[] = { bad_context_rows, bad_channel_rows,
						bad_producer_rows, bad_device_rows };
#define TABLES (sizeof(tables) / sizeof(*tables))

static uint32_t lines; /* atomic: any thread logs */

static void count_line(void *arg, int level, const char *line)
{
	(void)arg;
	(void)line;
	if (level <= WIC_LOG_WARN)
		__atomic_fetch_add(&lines, 1, __ATOMIC_RELAXED);
}

/* In a child the context's log function is not there: lines go to stderr, which is this pipe. */
static int child_pipe = -1, child_stderr;

static void child_begin(void)
{
	int fds[2];

	TEST_EQ(pipe2(fds, O_NONBLOCK), 0);
	child_stderr = dup(STDERR_FILENO);
	TEST_TRUE(dup2(fds[1], STDERR_FILENO) == STDERR_FILENO);
	child_pipe = fds[0];
}

/* Counts lines of the log, and passes on what else was said. */
static void child_read(void)
{
	char text[4096];
	ssize_t n = read(child_pipe, text, sizeof(text) - 1);
	char *line = text;

	text[n > 0 ? n : 0] = 0;
	while (*line) {
		size_t bytes = strcspn(line, "\n");

		bytes += line[bytes] == '\n';
		if (!strncmp(line, "wic: ", 5))
			lines++;
		else
			TEST_TRUE(write(child_stderr, line, bytes) == (ssize_t)bytes);
		line += bytes;
	}
}

static void child_end(void)
{
	child_read();
	TEST_TRUE(dup2(child_stderr, STDERR_FILENO) == STDERR_FILENO);
}

uint32_t bad_log_lines(void)
{
	if (child_pipe >= 0)
		child_read();
	return __atomic_load_n(&lines, __ATOMIC_RELAXED);
}

static struct bad_outputs untouched(void)
{
	struct bad_outputs out;

	memset(&out, 0x5a, sizeof(out));
	out.stats.size_bytes = sizeof(out.stats);
	return out;
}

void bad_check(struct bad_env *e, const char *what, int line, long long got, long long wanted)
{
	const struct bad_outputs wanted_out = untouched();

	if (e->failed)
		return;
	if (got == wanted && (wanted >= 0 || !memcmp(&e->out, &wanted_out, sizeof(wanted_out))))
		return;
	e->failed = got == wanted ? "it wrote to an output" : what;
	e->failed_line = line;
	e->failed_got = got;
	e->failed_wanted = wanted;
}

struct wic_channel *bad_channel(struct wic *w, uint32_t tags, uint64_t bytes, bool to_host)
{
	struct wic_channel_desc d = channel_desc();
	struct wic_channel *ch = NULL;

	d.tags = tags;
	d.bytes_per_tag = bytes;
	d.producer = to_host ? WIC_GPU(0) : WIC_HOST;
	d.consumer = to_host ? WIC_HOST : WIC_GPU(0);
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	return ch;
}

static struct wic_channel *pat_channel(struct wic *w)
{
	struct wic_channel_desc d = channel_desc();
	struct wic_channel *ch = NULL;

	d.tags = BAD_TAGS;
	d.producer = WIC_GPU(0);
	d.consumer = WIC_HOST;
	d.flags = WIC_CHANNEL_PAT;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	return ch;
}

struct call {
	struct bad_env *e;
	void (*call)(struct bad_env *e);
};

static void call_kernel(const void *arg)
{
	const struct call *c = arg;

	c->call(c->e);
}

void bad_in_kernel(struct bad_env *e, struct wic *w, void (*call)(struct bad_env *e))
{
	struct call c = { e, call };

	launch(w, call_kernel, &c, 1, WIC_WARP_LANES);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
}

static void produce_one(struct bad_env *e)
{
	void *buffer = NULL;

	BAD_WANT(0, wic_warp_stage(&e->h_to_host, NULL, 0, e->serial, BAD_WAIT, &buffer));
	BAD_WANT(0, wic_warp_publish(&e->h_to_host, 0, e->serial));
}

uint64_t bad_produce(struct bad_env *e)
{
	e->serial++;
	bad_in_kernel(e, e->w, produce_one);
	return e->serial;
}

/* Takes all pages of the pool at once, so that not one may be lost. */
static void take_set(struct bad_env *e)
{
	struct wic_ref refs[BAD_SET];

	int rc;

	for (uint32_t i = 0; i < BAD_SET; i++)
		refs[i] = (struct wic_ref){ .tag = i, .epoch = e->serial };
	rc = wic_request_all(&e->h, NULL, refs, BAD_SET, BAD_WAIT);
	BAD_WANT(0, rc);
	if (rc)
		return;
	for (uint32_t i = 0; i < BAD_SET; i++) {
		BAD_WANT(true, *(uint64_t *)refs[i].data == word_of(i, e->serial, 0));
		BAD_WANT(0, wic_release(&e->h, i, e->serial));
	}
}

static void take_data(struct bad_env *e)
{
	void *data;

	/* Gone, where the cell took it. */
	if (!wic_request(&e->h, NULL, BAD_TAG, e->data_epoch, BAD_WAIT, &data))
		BAD_WANT(0, wic_release(&e->h, BAD_TAG, e->data_epoch));
}

/* What shows that nothing is broken. */
static void exchange_all(struct bad_env *e)
{
	const void *data = NULL;
	uint64_t epoch;

	e->serial++;
	for (uint32_t i = 0; i < BAD_SET; i++)
		stage_and_publish(e->ch, i, e->serial, BAD_BYTES);
	bad_in_kernel(e, e->w, take_set);
	epoch = bad_produce(e);
	BAD_WANT(0, wic_host_request(e->to_host, 0, epoch, BAD_WAIT, &data));
	BAD_WANT(0, wic_host_release(e->to_host, 0, epoch));
}

static void hold_of_stranger(struct bad_env *e)
{
	void *data;

	BAD_WANT(0, wic_request(&e->h_stranger, NULL, 0, 1, BAD_WAIT, &data));
}

static void make_held(struct bad_env *e)
{
	void *buffer = NULL;

	BAD_WANT(0, wic_warp_stage(&e->h_to_host, NULL, BAD_TAG_HELD, 1, BAD_WAIT, &buffer));
	BAD_WANT(0, wic_warp_publish(&e->h_to_host, BAD_TAG_HELD, 1));
}

static void handles_get(struct bad_env *e)
{
	e->h = wic_channel_handle(e->ch);
	e->h_signals = wic_channel_handle(e->signals);
	e->h_to_host = wic_channel_handle(e->to_host);
	e->h_to_host_signals = wic_channel_handle(e->to_host_signals);
	e->h_closed = wic_channel_handle(e->closed_ch);
	e->h_closed_to_host = wic_channel_handle(e->closed_to_host);
	e->h_stranger = wic_channel_handle(e->stranger);
	e->h_pat = wic_channel_handle(e->pat);
}

static void env_init(struct bad_env *e)
{
	struct wic_config cfg = WIC_CONFIG_INIT;
	const void *data;

	memset(e, 0, sizeof(*e));
	e->is_push = is_push();
	cfg.sms = 1;
	cfg.pool_pages = BAD_POOL_PAGES;
	cfg.log = count_line;
	TEST_EQ(wic_open(&cfg, &e->closed), 0);
	TEST_EQ(wic_open(&cfg, &e->other), 0);
	cfg.record_events = 64;
	TEST_EQ(wic_open(&cfg, &e->w), 0);
	wic_close(e->closed);
	e->ch = bad_channel(e->w, BAD_TAGS, BAD_BYTES, false);
	e->signals = bad_channel(e->w, BAD_TAGS, 0, false);
	e->to_host = bad_channel(e->w, BAD_TAGS, BAD_BYTES, true);
	e->to_host_signals = bad_channel(e->w, BAD_TAGS, 0, true);
	e->pat = pat_channel(e->w);
	e->closed_ch = bad_channel(e->w, BAD_TAGS, BAD_BYTES, false);
	e->closed_to_host = bad_channel(e->w, BAD_TAGS, BAD_BYTES, true);
	e->stranger = bad_channel(e->other, BAD_TAGS, BAD_BYTES, false);
	TEST_EQ(wic_producer_open(e->ch, BAD_TAG_OF_P, 16, 0, &e->p), 0);
	TEST_EQ(wic_producer_open(e->closed_ch, 0, 16, 0, &e->closed_p), 0);
	TEST_EQ(wic_channel_close(e->closed_ch), 0);
	TEST_EQ(wic_channel_close(e->closed_to_host), 0);
	handles_get(e);
	e->out = untouched();
	stage_and_publish(e->stranger, 0, 1, BAD_BYTES);
	bad_in_kernel(e, e->other, hold_of_stranger);
	bad_in_kernel(e, e->w, make_held);
	TEST_EQ(wic_host_request(e->to_host, BAD_TAG_HELD, 1, BAD_WAIT, &data), 0);
	exchange_all(e);
	TEST_TRUE(!e->failed);
	lines = 0;
}

static void env_fini(struct bad_env *e)
{
	/* Still held, whatever was refused. */
	TEST_EQ(wic_host_release(e->to_host, BAD_TAG_HELD, 1), 0);
	wic_close(e->w);
	wic_close(e->other);
}

static void fail_if(const struct bad_env *e, const char *row, const char *name)
{
	if (!e->failed)
		return;
	fprintf(stderr, "%s, %s: line %d:\n", row, name, e->failed_line);
	test_fail(row, e->failed_line, e->failed, e->failed_got, e->failed_wanted);
}

/* Counters that a refused call must leave alone, whatever the threads do meanwhile. */
static void counters_check(struct bad_env *e, const struct wic_stats *a, const struct wic_stats *b)
{
	BAD_WANT(a->parks, b->parks);
	BAD_WANT(a->faults, b->faults);
	BAD_WANT(a->batches, b->batches);
	BAD_WANT(a->fills, b->fills);
	BAD_WANT(a->fill_bytes, b->fill_bytes);
	BAD_WANT(a->replays, b->replays);
	BAD_WANT(a->timeouts, b->timeouts);
	BAD_WANT(a->pool_waits, b->pool_waits);
	/* In push mode the Monitor takes up those to the host only, after they are seen. */
	if (!is_push())
		BAD_WANT(a->publishes, b->publishes);
}

/*
 * The child says by a byte that all was well: its exit status is valgrind's to change, which
 * looks for leaks at the end of a process that has lost its threads.
 */
static void in_child(struct bad_env *e, void (*call)(struct bad_env *e), const char *row)
{
	int fds[2], status;
	char said = 0;
	pid_t pid;

	fflush(NULL);
	TEST_EQ(pipe(fds), 0);
	pid = fork();
	TEST_TRUE(pid >= 0);
	if (!pid) {
		alarm(CHILD_SECONDS);
		child_begin();
		call(e);
		child_end();
		if (e->failed)
			fprintf(stderr, "%s, after fork: line %d: %s (%lld, %lld)\n", row,
				e->failed_line, e->failed, e->failed_got, e->failed_wanted);
		else
			TEST_EQ(write(fds[1], "k", 1), 1);
		_exit(0);
	}
	close(fds[1]);
	TEST_EQ(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || read(fds[0], &said, 1) != 1 || said != 'k')
		test_fail(row, 0, "the child says that all was well (its status)", status, 0);
	close(fds[0]);
}

/* --- a handler of the user's, to which the back-end's passes on -------------- */

static struct call handler_call;
static void *handler_page;
static struct sigaction handler_before[2];

static void user_handler(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_addr != handler_page)
		_exit(3);
	handler_call.call(handler_call.e);
	/* The access is executed again. */
	mprotect(handler_page, WIC_PAGE_BYTES, PROT_READ | PROT_WRITE);
}

static void handler_install(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER };

	action.sa_sigaction = user_handler;
	handler_page = mmap(NULL, WIC_PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TEST_TRUE(handler_page != MAP_FAILED);
	TEST_EQ(sigaction(SIGSEGV, &action, &handler_before[0]), 0);
	TEST_EQ(sigaction(SIGBUS, &action, &handler_before[1]), 0);
}

static void handler_remove(void)
{
	TEST_EQ(sigaction(SIGSEGV, &handler_before[0], NULL), 0);
	TEST_EQ(sigaction(SIGBUS, &handler_before[1], NULL), 0);
	munmap(handler_page, WIC_PAGE_BYTES);
}

/* Takes a fault, in a kernel or not; the name is in ci/valgrind.supp. */
static __attribute__((noinline)) void touch(struct bad_env *e)
{
	(void)e;
	(void)*(volatile const unsigned char *)handler_page;
}

static void in_handler(struct bad_env *e, void (*call)(struct bad_env *e))
{
	handler_call = (struct call){ e, call };
	TEST_EQ(mprotect(handler_page, WIC_PAGE_BYTES, PROT_NONE), 0);
	touch(e);
	TEST_EQ(mprotect(handler_page, WIC_PAGE_BYTES, PROT_NONE), 0);
	bad_in_kernel(e, e->w, touch);
}

static void run_cell(struct bad_env *e, const struct bad_row *row, enum bad_case c)
{
	void (*call)(struct bad_env * e) = row->cells[c].call;

	if (c == BAD_FORK)
		in_child(e, call, row->name);
	else if (c == BAD_HANDLER)
		in_handler(e, call);
	else if (row->is_device != (c == BAD_THREAD))
		bad_in_kernel(e, e->w, call);
	else
		call(e);
}

static void check_cell(struct bad_env *e, const struct bad_row *row, enum bad_case c)
{
	bool has_data = row->is_device && c == BAD_TWICE;
	struct wic_stats before, after;

	if (has_data) {
		e->data_epoch = ++e->serial;
		stage_and_publish(e->ch, BAD_TAG, e->data_epoch, BAD_BYTES);
		TEST_EQ(wic_publish(e->signals, BAD_TAG, e->data_epoch), 0);
	}
	before = stats_of(e->w);
	run_cell(e, row, c);
	fail_if(e, row->name, case_names[c]);
	after = stats_of(e->w);
	if (c != BAD_TWICE && !row->cells[c].is_legal)
		counters_check(e, &before, &after);
	if (has_data)
		bad_in_kernel(e, e->w, take_data);
	exchange_all(e);
	fail_if(e, row->name, case_names[c]);
}

static void run_case(enum bad_case c)
{
	static struct bad_env e;
	uint32_t ran = 0;

	handler_install();
	env_init(&e);
	for (uint32_t t = 0; t < TABLES; t++)
		for (const struct bad_row *row = tables[t]; row->name; row++)
			if (row->cells[c].call) {
				check_cell(&e, row, c);
				ran++;
			}
	TEST_TRUE(ran);
	env_fini(&e);
	handler_remove();
}

static void case_null(void)
{
	run_case(BAD_NULL);
}

static void case_kind(void)
{
	run_case(BAD_KIND);
}

static void case_range(void)
{
	run_case(BAD_RANGE);
}

static void case_sizes(void)
{
	run_case(BAD_SIZES);
}

static void case_closed(void)
{
	run_case(BAD_CLOSED);
}

static void case_twice(void)
{
	run_case(BAD_TWICE);
}

static void case_thread(void)
{
	run_case(BAD_THREAD);
}

static void case_handler(void)
{
	run_case(BAD_HANDLER);
}

static void case_fork(void)
{
	run_case(BAD_FORK);
}

/* --- what no cell can see ------------------------------------------------------ */

static int cancelled_rc;

static void cancel(struct bad_env *e)
{
	wic_cancel(e->w);
}

static void fault_and_wait(struct bad_env *e)
{
	touch(e);
	cancelled_rc = wic_wait(&e->h_signals, NULL, 0, WIC_EPOCH_LAST, BAD_WAIT);
}

static void a_fault_handler_cancels(void)
{
	const char *preload = getenv("LD_PRELOAD");
	static struct bad_env e;

	if (preload && strstr(preload, "vgpreload")) {
		test_skip("under valgrind the kernel's next calls fault at addresses of no page");
		return;
	}
	handler_install();
	env_init(&e);
	handler_call = (struct call){ &e, cancel };
	bad_in_kernel(&e, e.w, fault_and_wait);
	TEST_EQ(cancelled_rc, -ECANCELED);
	wic_cancel_clear(e.w);
	exchange_all(&e);
	fail_if(&e, "wic_cancel", "in a handler");
	env_fini(&e);
	handler_remove();
}

static void notes(struct bad_env *e)
{
	(void)e;
	wic_note(WIC_EVENT_LOOK, 7, 1);
	wic_note((enum wic_event_kind)0, 7, 2);
	wic_note((enum wic_event_kind)99, 7, 3);
	wic_note((enum wic_event_kind)(256 + WIC_EVENT_LOOK), 7, 4);
}

static void a_note_of_no_kind_is_not_recorded(void)
{
	static struct bad_env e;
	struct wic_event events[64];
	size_t count = 0, of_tag_7 = 0;

	handler_install();
	env_init(&e);
	bad_in_kernel(&e, e.w, notes);
	TEST_EQ(wic_events_read(e.w, events, 64, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (events[i].tag == 7 && events[i].kind == WIC_EVENT_LOOK)
			of_tag_7++;
		else
			TEST_TRUE(events[i].kind >= WIC_EVENT_COMPUTE &&
				  events[i].kind <= WIC_EVENT_DONE);
	TEST_EQ(of_tag_7, 1);
	env_fini(&e);
	handler_remove();
}

/* Until its readers have released it. */
static void a_closed_channel_gives_what_is_held(void)
{
	struct wic_channel_desc d = channel_desc();
	struct wic *w = open_default();
	struct wic_channel *ch = NULL;
	struct take_args a;

	d.tags = 1;
	d.bytes_per_tag = 64;
	d.readers = 2;
	TEST_EQ(wic_channel_create(w, &d, &ch), 0);
	a = take_args(ch, 1, 1);
	stage_and_publish(ch, 0, 1, 64);
	launch(w, take_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(wic_channel_close(ch), 0);
	launch(w, take_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, 0);
	TEST_EQ(a.taken, 2);
	launch(w, take_kernel, &a, 1, 32);
	TEST_EQ(wic_sync(w, TIMEOUT), 0);
	TEST_EQ(a.rc, -EINVAL);
	close_quietly(w);
}

static void use_parents_handle(struct bad_env *e)
{
	BAD_WANT(-EINVAL, wic_request(&e->h_stranger, NULL, 0, 1, BAD_WAIT, &e->out.data));
	BAD_WANT(-EINVAL, wic_wait(&e->h_signals, NULL, 0, 1, BAD_WAIT));
	BAD_WANT(-EINVAL, wic_release(&e->h_stranger, 0, 1));
	BAD_WANT(-EINVAL, wic_warp_publish(&e->h_to_host_signals, 0, WIC_EPOCH_LAST));
}

static void child_with_own_context(struct bad_env *e)
{
	struct wic *own = open_default();

	bad_in_kernel(e, own, use_parents_handle);
	wic_close(own);
}

static void a_childs_kernel_refuses_its_parents_handles(void)
{
	static struct bad_env e;

#ifdef __SANITIZE_THREAD__
	test_skip("TSan lets a child of a process with threads start none");
	return;
#endif
	handler_install();
	env_init(&e);
	in_child(&e, child_with_own_context, "a child's own kernel");
	exchange_all(&e);
	fail_if(&e, "fork", "own context");
	env_fini(&e);
	handler_remove();
}

/* --- the table itself ---------------------------------------------------------- */

/* Appends a header without the stars of its comments, all white space one blank. */
static void read_header(const char *path, char **text, size_t *used)
{
	FILE *f = fopen(path, "r");
	int c, last = (*used) ? (*text)[*used - 1] : ' ';

	TEST_TRUE(f);
	while ((c = fgetc(f)) != EOF) {
		if (c == '\n' || c == '\t' || c == '*')
			c = ' ';
		if (c == ' ' && last == ' ')
			continue;
		last = c;
		*text = realloc(*text, *used + 2);
		TEST_TRUE(*text);
		(*text)[(*used)++] = (char)c;
	}
	fclose(f);
}

/* All public headers as one text, to be freed. */
static char *read_headers(void)
{
	DIR *dir = opendir(WIC_HEADERS);
	struct dirent *entry;
	char *text = NULL;
	size_t used = 0;

	TEST_TRUE(dir);
	while ((entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');
		char path[1024];

		if (!dot || strcmp(dot, ".h"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", WIC_HEADERS, entry->d_name);
		read_header(path, &text, &used);
	}
	closedir(dir);
	TEST_TRUE(text);
	text[used] = 0;
	return text;
}

static void what_is_forbidden_is_documented(void)
{
	char *text = read_headers();

	for (uint32_t t = 0; t < TABLES; t++)
		for (const struct bad_row *row = tables[t]; row->name; row++)
			for (int c = 0; c < BAD_CASES; c++) {
				const char *sentence = row->cells[c].forbidden;

				if (!sentence || strstr(text, sentence))
					continue;
				fprintf(stderr, "%s, %s: no header says: %s\n", row->name,
					case_names[c], sentence);
				test_fail(__FILE__, __LINE__, row->name, c, 0);
			}
	free(text);
}

static void each_cell_says_one_thing(void)
{
	for (uint32_t t = 0; t < TABLES; t++)
		for (const struct bad_row *row = tables[t]; row->name; row++)
			for (int c = 0; c < BAD_CASES; c++) {
				const struct bad_cell *cell = &row->cells[c];
				int things = !!cell->call + !!cell->forbidden + !!cell->none;

				if (things != 1)
					test_fail(row->name, 0, case_names[c], things, 1);
			}
}

/* The checks of this program can fail. */
static void bad_results_are_found(void)
{
	struct bad_env env = { .out = untouched() }, *e = &env;

	BAD_WANT(-EINVAL, -EINVAL);
	BAD_LOGS(0, count_line(NULL, WIC_LOG_INFO, ""));
	TEST_TRUE(!e->failed);
	BAD_LOGS(0, count_line(NULL, WIC_LOG_WARN, ""));
	TEST_STR_HAS(e->failed, "logs");
	e->failed = NULL;
	BAD_WANT(-EINVAL, -EBUSY);
	TEST_EQ(e->failed_got, -EBUSY);
	e->failed = NULL;
	e->out.data = e;
	BAD_WANT(-EINVAL, -EINVAL);
	TEST_STR_HAS(e->failed, "output");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(each_cell_says_one_thing),
		TEST(what_is_forbidden_is_documented),
		TEST(bad_results_are_found),
		TEST(case_null),
		TEST(case_kind),
		TEST(case_range),
		TEST(case_sizes),
		TEST(case_closed),
		TEST(case_twice),
		TEST(case_thread),
		TEST(case_handler),
		TEST(case_fork),
		TEST(a_fault_handler_cancels),
		TEST(a_note_of_no_kind_is_not_recorded),
		TEST(a_closed_channel_gives_what_is_held),
		TEST(a_childs_kernel_refuses_its_parents_handles),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
