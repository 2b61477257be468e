/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Producer handles, with their inside: after 2^32 of them the lines of the dead stay dead. */
#include "lib/producer.c"

#include "tests/unit/fake.h"

static void ids_do_not_come_again(void)
{
	struct wic_producer *dead, *late;
	struct wic_channel *ch;
	uint64_t first;
	struct wic *w;
	void *buffer;

	fake_init();
	w = fake_open();
	ch = fake_channel(w, 64);
	TEST_EQ(wic_producer_open(ch, 0, 8, 0, &dead), 0);
	first = dead->id;
	wic_producer_close(dead);
	/* So many others have come and gone that 32 bits are at the dead one's number again. */
	ids += UINT32_MAX;
	TEST_EQ(wic_producer_open(fake_channel(w, 64), 0, 8, 0, &late), 0);
	TEST_TRUE(late->id != first);
	TEST_EQ(wic_producer_check(ch, "a test", 0, 8, late->id), -EBUSY);
	TEST_EQ(wic_producer_stage(late, 0, 1, 0, &buffer), 0);
	wic_close(w);
	fake_fini();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(ids_do_not_come_again),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
