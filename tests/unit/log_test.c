/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Log lines, error texts, statuses, clock, and both twins of wic_assert_failed(). */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/dep.h"
#include "lib/log.h"
#include "tests/unit/fake.h"

/* The twins, whatever build this is. */
void assert_release(const char *condition, const char *file, int line);
void assert_debug(const char *condition, const char *file, int line);

static void level_from_env(void)
{
	setenv("WIC_LOG", "debug", 1);
	wic_log_read_level();
	TEST_TRUE(wic_log_is_on(WIC_LOG_DEBUG));
	setenv("WIC_LOG", "error", 1);
	wic_log_read_level();
	TEST_TRUE(wic_log_is_on(WIC_LOG_ERROR));
	TEST_TRUE(!wic_log_is_on(WIC_LOG_WARN));
	setenv("WIC_LOG", "loud", 1);
	wic_log_read_level();
	TEST_TRUE(wic_log_is_on(WIC_LOG_WARN));
	TEST_TRUE(!wic_log_is_on(WIC_LOG_INFO));
	unsetenv("WIC_LOG");
	wic_log_set_level(WIC_LOG_INFO);
	setenv("WIC_LOG", "error", 1);
	wic_log_read_level();
	TEST_TRUE(wic_log_is_on(WIC_LOG_INFO));
	unsetenv("WIC_LOG");
}

static void level_names(void)
{
	TEST_EQ(wic_log_parse_level("error"), WIC_LOG_ERROR);
	TEST_EQ(wic_log_parse_level("warn"), WIC_LOG_WARN);
	TEST_EQ(wic_log_parse_level("info"), WIC_LOG_INFO);
	TEST_EQ(wic_log_parse_level("debug"), WIC_LOG_DEBUG);
	TEST_EQ(wic_log_parse_level(""), -EINVAL);
	TEST_EQ(wic_log_parse_level("Error"), -EINVAL);
	TEST_EQ(wic_log_parse_level("warning"), -EINVAL);
}

static void fail_text_and_level(void)
{
	fake_init();
	errno = 17;
	TEST_EQ(wic_fail(-EBUSY, "tag %d", 5), -EBUSY);
	TEST_EQ(errno, 17);
	TEST_EQ(strcmp(wic_last_error(), "tag 5"), 0);
	fake_log_expect_none();
	wic_log_set_level(WIC_LOG_INFO);
	TEST_EQ(wic_fail(-EIO, "not %s: %s", "this", wic_last_error()), -EIO);
	TEST_EQ(strcmp(wic_last_error(), "not this: tag 5"), 0);
	fake_log_expect(WIC_LOG_INFO, "not this: tag 5");
	wic_log(WIC_LOG_DEBUG, "off");
	wic_log(WIC_LOG_ERROR, "on %d", 1);
	fake_log_expect(WIC_LOG_ERROR, "on 1");
	fake_fini();
}

static void fail_text_too_long(void)
{
	static char text[2000];

	fake_init();
	memset(text, 'a', sizeof(text) - 1);
	TEST_EQ(wic_fail(-EINVAL, "%s", text), -EINVAL);
	TEST_EQ(strlen(wic_last_error()), 511);
	fake_fini();
}

static void *other_thread(void *arg)
{
	(void)arg;
	TEST_EQ(wic_last_error()[0], 0);
	TEST_EQ(wic_fail(-EIO, "theirs"), -EIO);
	return NULL;
}

static void last_error_is_a_threads_own(void)
{
	pthread_t thread;

	fake_init();
	TEST_EQ(wic_fail(-EIO, "mine"), -EIO);
	TEST_EQ(pthread_create(&thread, NULL, other_thread, NULL), 0);
	TEST_EQ(pthread_join(thread, NULL), 0);
	TEST_EQ(strcmp(wic_last_error(), "mine"), 0);
	fake_fini();
}

static void strerror_each_status_has_its_own(void)
{
	static const int statuses[] = {
		0,        -ETIMEDOUT, -ECANCELED, -EOWNERDEAD, -EAGAIN, -E2BIG,
		-EDEADLK, -EIO,       -EINVAL,    -EBUSY,      -ENOMEM, -ENOTSUP,
		-ENOENT,  -ENOSPC,    -EPERM,     -5000,       1,
	};
	const uint32_t count = sizeof(statuses) / sizeof(statuses[0]);

	for (uint32_t i = 0; i < count; i++) {
		TEST_TRUE(wic_strerror(statuses[i])[0]);
		for (uint32_t j = 0; j < i; j++)
			TEST_TRUE(strcmp(wic_strerror(statuses[i]), wic_strerror(statuses[j])));
	}
	TEST_STR_HAS(wic_strerror(-5000), "unknown");
	TEST_STR_HAS(wic_strerror(INT32_MIN), "unknown");
	TEST_STR_HAS(wic_strerror(5), "not a status");
}

static void deadline_saturates(void)
{
	uint64_t now_ns = wic_now_ns();

	TEST_TRUE(wic_now_ns() >= now_ns);
	TEST_EQ(wic_deadline_ns(5, 0), 5);
	TEST_EQ(wic_deadline_ns(5, 7), 12);
	TEST_EQ(wic_deadline_ns(0, WIC_FOREVER), WIC_FOREVER);
	TEST_EQ(wic_deadline_ns(now_ns, WIC_FOREVER), WIC_FOREVER);
	TEST_EQ(wic_deadline_ns(now_ns, WIC_FOREVER - now_ns + 1), WIC_FOREVER);
	TEST_EQ(wic_deadline_ns(2, WIC_FOREVER - 3), WIC_FOREVER - 1);
}

static void assert_release_logs_and_goes_on(void)
{
	fake_init();
	assert_release("x == 1", "a.c", 3);
	fake_log_expect(WIC_LOG_ERROR, "a.c:3: assertion failed: x == 1");
	fake_fini();
}

static void assert_debug_aborts(void)
{
	int status;
	pid_t pid = fork();

	TEST_TRUE(pid >= 0);
	if (!pid) {
		fake_init();
		assert_debug("x == 1", "a.c", 3);
		_exit(0);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_TRUE(WIFSIGNALED(status));
	TEST_EQ(WTERMSIG(status), SIGABRT);
}

static int evaluations;

static bool evaluated(bool value)
{
	evaluations++;
	return value;
}

static void assert_true_does_not_fire(void)
{
	fake_init();
	evaluations = 0;
	WIC_ASSERT(evaluated(true));
	TEST_EQ(evaluations, 1);
	fake_fini();
}

/* The one that is linked, as core/ uses it. */
static void assert_false_fires(void)
{
	int status;
	pid_t pid = fork();

	TEST_TRUE(pid >= 0);
	if (!pid) {
		fake_init();
		evaluations = 0;
		WIC_ASSERT(evaluated(false));
		fake_log_expect(WIC_LOG_ERROR, "assertion failed: evaluated(false)");
		TEST_EQ(evaluations, 1);
		_exit(42);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
#ifdef WIC_DEBUG
	TEST_TRUE(WIFSIGNALED(status));
#else
	TEST_EQ(WEXITSTATUS(status), 42);
#endif
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(level_from_env), /* first: an explicit level wins for good */
		TEST(level_names),
		TEST(fail_text_and_level),
		TEST(fail_text_too_long),
		TEST(last_error_is_a_threads_own),
		TEST(strerror_each_status_has_its_own),
		TEST(deadline_saturates),
		TEST(assert_release_logs_and_goes_on),
		TEST(assert_debug_aborts),
		TEST(assert_true_does_not_fire),
		TEST(assert_false_fires),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
