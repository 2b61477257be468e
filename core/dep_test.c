/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* WIC_ASSERT(false) fires and WIC_ASSERT(true) does not, in both halves of dep.h. */
#include "core/dep.h"

#include "tests/test.h"

void dep_kernel_twin(bool condition);
uint64_t dep_kernel_never(void);

static int fired;
static const char *fired_condition;

void wic_assert_failed(const char *condition, const char *file, int line)
{
	TEST_TRUE(file != NULL && line > 0);
	fired_condition = condition;
	fired++;
}

static void assert_false_fires(void)
{
	fired = 0;
	WIC_ASSERT(false);
	TEST_EQ(fired, 1);
	TEST_STR_HAS(fired_condition, "false");
}

static void assert_true_is_silent(void)
{
	fired = 0;
	WIC_ASSERT(true);
	TEST_EQ(fired, 0);
}

static void assert_evaluates_once(void)
{
	int n = 0;

	fired = 0;
	WIC_ASSERT(++n == 1);
	TEST_EQ(n, 1);
	TEST_EQ(fired, 0);
}

static void kernel_assert_false_fires(void)
{
	fired = 0;
	dep_kernel_twin(false);
	TEST_EQ(fired, 1);
}

static void kernel_assert_true_is_silent(void)
{
	fired = 0;
	dep_kernel_twin(true);
	TEST_EQ(fired, 0);
}

static void kernel_has_uint64_max(void)
{
	TEST_TRUE(dep_kernel_never() == UINT64_MAX);
}

static void bits_count_zeros(void)
{
	TEST_EQ(WIC_CORE_CTZ64(1ull), 0);
	TEST_EQ(WIC_CORE_CTZ64(1ull << 63), 63);
	TEST_EQ(WIC_CORE_CLZ64(1ull), 63);
	TEST_EQ(WIC_CORE_CLZ64(1ull << 63), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(assert_false_fires),
		TEST(assert_true_is_silent),
		TEST(assert_evaluates_once),
		TEST(kernel_assert_false_fires),
		TEST(kernel_assert_true_is_silent),
		TEST(kernel_has_uint64_max),
		TEST(bits_count_zeros),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
