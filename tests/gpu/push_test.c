// SPDX-License-Identifier: MIT OR GPL-2.0
/* push.h by itself: both ends are threads, over memory of this file, and there is no back-end. */
#include <pthread.h>

#include <wic/push.h>

#include "tests/test.h"

#define TAGS 16u
#define STRIDE 256u
#define EPOCHS 5000u

static uint64_t control_truth[16], truth[TAGS], ends[3], header[2 * TAGS], count[2 * TAGS];
static struct wic_tree_line control, data, credit[2];
static struct wic_push_tag tag_words[TAGS];
static unsigned char pages[2 * TAGS * STRIDE];
static struct wic_push_channel channel;
static struct wic_lot lots[2]; /* the consumer's, the producer's */

/* A channel from the host to a GPU. */
static void make(uint32_t readers)
{
	memset(control_truth, 0, sizeof(control_truth));
	memset(truth, 0, sizeof(truth));
	memset(ends, 0, sizeof(ends));
	memset(header, 0, sizeof(header));
	memset(count, 0, sizeof(count));
	memset(tag_words, 0, sizeof(tag_words));
	wic_tree_control_set(&control, &control, control_truth);
	wic_tree_line_set(&data, &data, truth, &ends[0], &control);
	for (uint32_t i = 0; i < 2; i++) {
		wic_tree_line_set(&credit[i], &credit[i], NULL, &ends[1 + i], &control);
		wic_tree_lot_init(&lots[i], 1);
	}
	channel = (struct wic_push_channel){
		.data = &data,
		.credit = credit,
		.truth = truth,
		.tag = tag_words,
		.header = header,
		.count = count,
		.pages = pages,
		.stride = STRIDE,
		.tags = TAGS,
		.readers = readers,
	};
	wic_tree_thread_set(0, 0);
}

static void unmake(void)
{
	for (uint32_t i = 0; i < 2; i++)
		wic_tree_lot_fini(&lots[i]);
}

static int put(uint32_t tag, uint64_t epoch, uint64_t timeout_ns)
{
	void *page;
	int rc = wic_push_stage(&channel, NULL, tag, epoch, timeout_ns, 1, &page);

	if (rc)
		return rc;
	memcpy(page, &epoch, sizeof(epoch));
	return wic_push_publish(&channel, tag, epoch, 1);
}

/* The epoch that lies there, or the negative status. */
static int64_t look(uint32_t tag, uint64_t epoch, uint64_t timeout_ns)
{
	void *page;
	int64_t value;
	int rc = wic_push_request(&channel, NULL, tag, epoch, timeout_ns, 1, &page);

	if (rc)
		return rc;
	memcpy(&value, page, sizeof(value));
	return value;
}

static int give(uint32_t tag, uint64_t epoch)
{
	return wic_push_release(&channel, tag, epoch, 1);
}

static void push_two_pages_a_tag(void)
{
	make(1);
	TEST_EQ(look(3, 1, 0), WIC_TREE_ETIMEDOUT);
	TEST_EQ(put(3, 1, 0), 0);
	TEST_EQ(put(3, 2, 0), 0);
	TEST_EQ(put(3, 3, 0), WIC_TREE_ETIMEDOUT);
	TEST_EQ(put(4, 1, 0), 0);
	TEST_EQ(look(3, 1, 0), 1);
	TEST_EQ(look(3, 2, 0), 2);
	TEST_EQ(give(3, 2), 0);
	/* The page that is free is not the one that is next. */
	TEST_EQ(put(3, 3, 0), WIC_TREE_ETIMEDOUT);
	TEST_EQ(give(3, 1), 0);
	TEST_EQ(put(3, 3, 0), 0);
	TEST_EQ(look(3, 3, 0), 3);
	TEST_EQ(look(3, 1, 0), WIC_TREE_EINVAL);
	TEST_EQ(look(3, 2, 0), WIC_TREE_EINVAL);
	unmake();
}

static void push_readers(void)
{
	make(3);
	TEST_EQ(put(0, 7, 0), 0);
	TEST_EQ(give(0, 8), WIC_TREE_EINVAL);
	for (int i = 0; i < 3; i++) {
		TEST_EQ(look(0, 7, 0), 7);
		TEST_EQ(put(0, 9 + 2 * i, 0), WIC_TREE_ETIMEDOUT);
		TEST_EQ(give(0, 7), 0);
	}
	TEST_EQ(give(0, 7), WIC_TREE_EINVAL);
	TEST_EQ(look(0, 7, 0), WIC_TREE_EINVAL);
	TEST_EQ(put(0, 9, 0), 0);
	unmake();
}

static void *produce(void *arg)
{
	(void)arg;
	wic_tree_thread_set(1, 0);
	for (uint64_t e = 1; e <= EPOCHS; e++) {
		void *page = NULL;

		TEST_EQ(wic_push_stage(&channel, &lots[1], 5, e, WIC_S(20), 1, &page), 0);
		for (uint32_t i = 0; i < STRIDE / 8; i++)
			((uint64_t *)page)[i] = e + i;
		TEST_EQ(wic_push_publish(&channel, 5, e, 1), 0);
	}
	return NULL;
}

static void push_between_threads(void)
{
	pthread_t producer;

	make(1);
	TEST_EQ(pthread_create(&producer, NULL, produce, NULL), 0);
	for (uint64_t e = 1; e <= EPOCHS; e++) {
		void *page = NULL;

		TEST_EQ(wic_push_request(&channel, &lots[0], 5, WIC_EPOCH_NEXT, WIC_S(20), 1,
					 &page),
			0);
		for (uint32_t i = 0; i < STRIDE / 8; i++)
			TEST_EQ(((uint64_t *)page)[i], e + i);
		TEST_EQ(wic_push_release(&channel, 5, WIC_EPOCH_NEXT, 1), 0);
	}
	TEST_EQ(pthread_join(producer, NULL), 0);
	unmake();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(push_two_pages_a_tag),
		TEST(push_readers),
		TEST(push_between_threads),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
