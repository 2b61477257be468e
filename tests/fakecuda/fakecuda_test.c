// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The fake driver by itself, through the table that the back-end uses: devices, contexts,
 * memory, streams, events, failures, findings.
 */
#include "tests/fakecuda/fake.h"
#include "tests/fakecuda/fixture.h"

/* Called by their symbols, as the table comes with cuInit() made; the first test, therefore. */
static void calls_need_init(void)
{
	const char *name = NULL;
	uint64_t address;
	int value = 0;

	fakecuda_reset();
	TEST_EQ(cuDriverGetVersion(&value), 0);
	TEST_EQ(value, 12040);
	TEST_EQ(cuGetErrorName(3, &name), 0);
	TEST_STR_HAS(name, "CUDA_ERROR_NOT_INITIALIZED");
	TEST_EQ(cuDeviceGetCount(&value), 3);
	TEST_EQ(cuMemAlloc_v2(&address, 8), 3);
	TEST_EQ(cuInit(1), WIC_CU_INVALID_VALUE);
	TEST_EQ(cuInit(0), 0);
	TEST_EQ(cuDeviceGetCount(&value), 0);
	TEST_EQ(cuMemAlloc_v2(&address, 8), 201);
}

static void device_asks(void)
{
	struct wic_cu_uuid uuid[2];
	char name[64];
	int value = 0, device = -1;

	begin();
	fakecuda_set_devices(2);
	TEST_EQ(d->device_get_count(&value), 0);
	TEST_EQ(value, 2);
	TEST_EQ(d->device_get(&device, 1), 0);
	TEST_EQ(device, 1);
	TEST_EQ(d->device_get(&device, 2), 101);
	TEST_EQ(d->device_get_name(name, sizeof(name), 1), 0);
	TEST_EQ(strcmp(name, "Fake GPU 1"), 0);
	fakecuda_set_name(1, "NVIDIA H200");
	TEST_EQ(d->device_get_name(name, 7, 1), 0);
	TEST_EQ(strcmp(name, "NVIDIA"), 0);
	TEST_EQ(d->device_get_attribute(&value, WIC_CU_DEVICE_CAPABILITY_MAJOR, 0), 0);
	TEST_EQ(value, 9);
	fakecuda_set_attribute(0, WIC_CU_DEVICE_CAPABILITY_MAJOR, 7);
	TEST_EQ(d->device_get_attribute(&value, WIC_CU_DEVICE_CAPABILITY_MAJOR, 0), 0);
	TEST_EQ(value, 7);
	TEST_EQ(d->device_get_attribute(&value, 100000, 0), WIC_CU_INVALID_VALUE);
	TEST_EQ(d->device_get_uuid(&uuid[0], 0), 0);
	TEST_EQ(d->device_get_uuid_v2(&uuid[1], 1), 0);
	TEST_TRUE(memcmp(&uuid[0], &uuid[1], sizeof(uuid[0])));
	end();
}

static void context_is_counted(void)
{
	struct wic_cu_context *context = NULL, *popped = NULL;
	unsigned int flags;
	uint64_t address;
	int active = -1;

	begin();
	TEST_EQ(d->device_primary_ctx_retain(&context, 0), 0);
	TEST_EQ(d->device_primary_ctx_release(0), 0);
	TEST_EQ(d->device_primary_ctx_get_state(0, &flags, &active), 0);
	TEST_EQ(active, 1);
	TEST_EQ(d->ctx_pop_current(&popped), 0);
	TEST_TRUE(popped == context);
	TEST_EQ(d->mem_alloc(&address, 8), 201);
	TEST_EQ(d->ctx_pop_current(&popped), 201);
	TEST_EQ(d->ctx_push_current(context), 0);
	TEST_EQ(d->device_primary_ctx_release(0), 0);
	TEST_EQ(d->mem_alloc(&address, 8), 709);
	TEST_EQ(d->ctx_pop_current(&popped), 0);
	expect_findings(0);
	TEST_EQ(d->ctx_push_current(context), 201);
	TEST_EQ(d->device_primary_ctx_release(0), 201);
	expect_found("released without a reference");
	expect_findings(2);
	fakecuda_reset();
}

static void memory_is_checked(void)
{
	uint64_t a = 0, b = 0, value = 7, *pinned;

	begin();
	pinned = words();
	TEST_EQ(d->mem_alloc(&a, BYTES), 0);
	TEST_EQ(d->mem_alloc(&b, BYTES), 0);
	TEST_EQ(a % 256, 0);
	TEST_EQ(d->mem_alloc(&value, 0), WIC_CU_INVALID_VALUE);
	TEST_EQ(d->memset_d8(a, 0x11, BYTES), 0);
	TEST_EQ(d->memcpy_htod(a + 8, &value, 8), 0);
	TEST_EQ(d->memcpy_dtod(b, a, BYTES), 0);
	TEST_EQ(d->memcpy_dtoh(pinned, b, BYTES), 0);
	TEST_EQ(pinned[0], 0x1111111111111111);
	TEST_EQ(pinned[1], 7);
	TEST_EQ(d->memcpy_htod(a + BYTES - 7, &value, 8), WIC_CU_INVALID_VALUE);
	expect_found("cuMemcpyHtoD_v2: 8 bytes to 0x");
	TEST_EQ(d->memcpy_dtoh(&value, a + BYTES, 8), WIC_CU_INVALID_VALUE);
	expect_found("cuMemcpyDtoH_v2: 8 bytes from 0x");
	TEST_EQ(d->memset_d8(a, 0, BYTES + 1), WIC_CU_INVALID_VALUE);
	expect_found("cuMemsetD8_v2: 513 bytes at 0x");
	TEST_EQ(d->mem_free(a), 0);
	TEST_EQ(d->mem_free(a), WIC_CU_INVALID_VALUE);
	expect_found("which was freed before");
	TEST_EQ(d->mem_free(b + 8), WIC_CU_INVALID_VALUE);
	TEST_EQ(d->mem_free_host(&value), WIC_CU_INVALID_VALUE);
	expect_found("which it never gave");
	TEST_EQ(d->memcpy_htod(a, &value, 8), WIC_CU_INVALID_VALUE);
	TEST_EQ(d->mem_free(b), 0);
	TEST_EQ(d->mem_free(0), 0);
	TEST_EQ(d->mem_free_host(pinned), 0);
	end_with(7);
}

static void memory_has_an_end(void)
{
	uint64_t a = 0, b = 0;

	begin();
	fakecuda_set_memory(100);
	TEST_EQ(d->mem_alloc(&a, 60), 0);
	TEST_EQ(d->mem_alloc(&b, 41), WIC_CU_OUT_OF_MEMORY);
	TEST_EQ(d->mem_alloc(&b, SIZE_MAX), WIC_CU_OUT_OF_MEMORY);
	TEST_EQ(d->mem_alloc(&b, 40), 0);
	TEST_EQ(d->mem_free(a), 0);
	TEST_EQ(d->mem_alloc(&a, 60), 0);
	TEST_EQ(d->mem_free(a), 0);
	TEST_EQ(d->mem_free(b), 0);
	end();
}

static void pointer_asks(void)
{
	uint64_t a = 0, address = 0, *pinned;
	unsigned int type = 0;
	void *host = NULL;
	size_t bytes = 0;
	int ordinal = -1;

	begin();
	pinned = words();
	TEST_EQ(d->mem_alloc(&a, BYTES), 0);
	TEST_EQ(d->pointer_get_attribute(&type, WIC_CU_POINTER_MEMORY_TYPE, a + 9), 0);
	TEST_EQ(type, WIC_CU_MEMORY_DEVICE);
	TEST_EQ(d->pointer_get_attribute(&type, WIC_CU_POINTER_MEMORY_TYPE, (uintptr_t)pinned), 0);
	TEST_EQ(type, WIC_CU_MEMORY_HOST);
	TEST_EQ(d->pointer_get_attribute(&address, WIC_CU_POINTER_DEVICE_POINTER,
					 (uintptr_t)pinned),
		0);
	TEST_EQ(address, (uintptr_t)pinned);
	TEST_EQ(d->pointer_get_attribute(&host, WIC_CU_POINTER_HOST_POINTER, (uintptr_t)pinned), 0);
	TEST_TRUE(host == pinned);
	TEST_EQ(d->pointer_get_attribute(&host, WIC_CU_POINTER_HOST_POINTER, a), 1);
	TEST_EQ(d->pointer_get_attribute(&ordinal, WIC_CU_POINTER_DEVICE_ORDINAL, a), 0);
	TEST_EQ(ordinal, 0);
	TEST_EQ(d->pointer_get_attribute(&address, WIC_CU_POINTER_RANGE_START, a + 9), 0);
	TEST_EQ(address, a);
	TEST_EQ(d->pointer_get_attribute(&bytes, WIC_CU_POINTER_RANGE_BYTES, a + 9), 0);
	TEST_EQ(bytes, BYTES);
	TEST_EQ(d->pointer_get_attribute(&type, WIC_CU_POINTER_MEMORY_TYPE, (uintptr_t)&type), 1);
	TEST_EQ(d->mem_free(a), 0);
	TEST_EQ(d->mem_free_host(pinned), 0);
	end();
}

/* Copies, a word each, one behind the other: the last of the chain has what the first had. */
static void stream_is_a_fifo(void)
{
	struct wic_cu_stream *s;
	uint64_t a = 0, *w;

	begin();
	s = stream(0);
	w = words();
	TEST_EQ(d->mem_alloc(&a, BYTES), 0);
	TEST_EQ(d->stream_wait_value64(s, (uintptr_t)w, 5, WIC_CU_WAIT_VALUE_GEQ), 0);
	TEST_EQ(d->memcpy_htod_async(a, w, 8, s), 0);
	for (uint32_t i = 1; i < WORDS; i++)
		TEST_EQ(d->memcpy_async(a + 8 * i, a + 8 * (i - 1), 8, s), 0);
	TEST_EQ(d->memcpy_async((uintptr_t)&w[1], a + BYTES - 8, 8, s), 0);
	TEST_EQ(d->stream_write_value64(s, (uintptr_t)&w[2], 3, 0), 0);
	TEST_EQ(d->stream_query(s), WIC_CU_NOT_READY);
	TEST_EQ(load(&w[2]), 0);
	store(w, 9);
	TEST_EQ(d->stream_synchronize(s), 0);
	TEST_EQ(load(&w[1]), 9);
	TEST_EQ(load(&w[2]), 3);
	TEST_EQ(d->stream_query(s), 0);
	TEST_EQ(d->memcpy_async(a + 8, a, BYTES, s), WIC_CU_INVALID_VALUE);
	TEST_EQ(d->memcpy_htod_async((uintptr_t)&a, w, 8, s), WIC_CU_INVALID_VALUE);
	TEST_EQ(d->mem_free(a), 0);
	TEST_EQ(d->mem_free_host(w), 0);
	TEST_EQ(d->stream_destroy(s), 0);
	TEST_EQ(d->stream_destroy(s), 400);
	expect_found("is used as a stream and is none");
	end_with(3);
}

static void stream_waits_for_values(void)
{
	static const struct {
		uint64_t wanted;
		uint64_t seen;
		unsigned int flags;
	} rows[] = {
		{ 5, 5, 0 },
		{ 5, 6, 0 },
		{ UINT64_MAX - 1, 3, 0 },
		{ 5, 5, 1 },
		{ 6, 2, 2 },
		{ UINT64_MAX - 1, 0, 3 },
		{ 5, 5, WIC_CU_WAIT_VALUE_FLUSH },
	};
	struct wic_cu_stream *s;
	uint64_t *w;

	begin();
	w = words();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* No value that any of them takes. */
		store(w, rows[i].flags == 3 ? 1 : rows[i].wanted > 9 ? rows[i].wanted - 9 : 0);
		s = stream(0);
		TEST_EQ(d->stream_wait_value64(s, (uintptr_t)w, rows[i].wanted, rows[i].flags), 0);
		TEST_EQ(d->stream_query(s), WIC_CU_NOT_READY);
		store(w, rows[i].seen);
		TEST_EQ(d->stream_synchronize(s), 0);
		TEST_EQ(d->stream_destroy(s), 0);
	}
	s = stream(0);
	TEST_EQ(d->stream_wait_value64(s, (uintptr_t)w + 4, 0, 0), WIC_CU_INVALID_VALUE);
	TEST_EQ(d->stream_wait_value64(s, (uintptr_t)w, 0, 8), WIC_CU_INVALID_VALUE);
	TEST_EQ(d->stream_write_value64(s, (uintptr_t)&s, 0, 0), WIC_CU_INVALID_VALUE);
	fakecuda_set_attribute(0, WIC_CU_DEVICE_STREAM_MEM_OPS_64, 0);
	TEST_EQ(d->stream_write_value64(s, (uintptr_t)w, 0, 0), 801);
	TEST_EQ(d->stream_destroy(s), 0);
	TEST_EQ(d->mem_free_host(w), 0);
	end_with(2);
}

static void host_function(void *arg)
{
	uint64_t *word = arg;

	store(word, load(word) + 1);
}

static void streams_do_not_wait_for_each_other(void)
{
	struct wic_cu_stream *blocked, *other, *gone;
	struct fakecuda_stream seen[4];
	uint64_t *w;

	begin();
	w = words();
	blocked = stream(0);
	other = stream(-100);
	TEST_EQ(d->stream_wait_value64(blocked, (uintptr_t)w, 1, 0), 0);
	TEST_EQ(d->launch_host_func(other, host_function, &w[1]), 0);
	TEST_EQ(d->stream_synchronize(other), 0);
	TEST_EQ(d->launch_host_func(NULL, host_function, &w[1]), 0);
	TEST_EQ(d->stream_synchronize(NULL), 0);
	TEST_EQ(load(&w[1]), 2);
	TEST_EQ(fakecuda_streams(seen, 4), 2);
	TEST_EQ(seen[0].priority, -5);
	TEST_EQ(seen[0].flags, WIC_CU_STREAM_NON_BLOCKING);
	TEST_TRUE(!seen[0].is_busy && seen[1].is_busy);
	/* One that is destroyed still does what it has. */
	gone = stream(0);
	TEST_EQ(d->stream_wait_value64(gone, (uintptr_t)w, 1, 0), 0);
	TEST_EQ(d->launch_host_func(gone, host_function, &w[2]), 0);
	TEST_EQ(d->stream_destroy(gone), 0);
	TEST_EQ(fakecuda_streams(seen, 4), 2);
	TEST_EQ(d->stream_query(blocked), WIC_CU_NOT_READY);
	store(w, 1);
	TEST_EQ(d->ctx_synchronize(), 0);
	TEST_EQ(load(&w[2]), 1);
	TEST_EQ(d->stream_destroy(blocked), 0);
	TEST_EQ(d->stream_destroy(other), 0);
	TEST_EQ(d->mem_free_host(w), 0);
	end();
}

static void event_is_of_its_record(void)
{
	struct wic_cu_event *e = NULL, *later = NULL, *untimed = NULL;
	struct wic_cu_stream *a, *b;
	float ms = -1;
	uint64_t *w;

	begin();
	w = words();
	a = stream(0);
	b = stream(0);
	TEST_EQ(d->event_create(&e, 0), 0);
	TEST_EQ(d->event_create(&later, WIC_CU_EVENT_BLOCKING_SYNC), 0);
	TEST_EQ(d->event_create(&untimed, WIC_CU_EVENT_DISABLE_TIMING), 0);
	TEST_EQ(d->event_query(e), 0);
	TEST_EQ(d->event_elapsed_time(&ms, e, later), 400);
	TEST_EQ(d->stream_wait_event(b, e, 0), 0);
	TEST_EQ(d->stream_synchronize(b), 0);
	TEST_EQ(d->stream_wait_value64(a, (uintptr_t)w, 1, 0), 0);
	TEST_EQ(d->event_record(e, a), 0);
	TEST_EQ(d->event_query(e), WIC_CU_NOT_READY);
	TEST_EQ(d->stream_wait_event(b, e, 0), 0);
	TEST_EQ(d->event_record(later, b), 0);
	TEST_EQ(d->event_elapsed_time(&ms, e, later), WIC_CU_NOT_READY);
	/* Recorded again and even destroyed: b waits for what was recorded when it was told. */
	TEST_EQ(d->stream_wait_value64(a, (uintptr_t)w, 2, 0), 0);
	TEST_EQ(d->event_record(e, a), 0);
	store(w, 1);
	TEST_EQ(d->stream_synchronize(b), 0);
	TEST_EQ(d->event_query(later), 0);
	TEST_EQ(d->event_query(e), WIC_CU_NOT_READY);
	TEST_EQ(d->stream_wait_event(b, e, 0), 0);
	store(w, 2);
	TEST_EQ(d->ctx_synchronize(), 0);
	TEST_EQ(d->event_elapsed_time(&ms, later, e), 0);
	TEST_TRUE(ms >= 0);
	TEST_EQ(d->event_elapsed_time(&ms, later, untimed), 400);
	TEST_EQ(d->event_destroy(e), 0);
	TEST_EQ(d->event_query(e), 400);
	expect_found("is used as an event and is none");
	TEST_EQ(d->event_destroy(later), 0);
	TEST_EQ(d->event_destroy(untimed), 0);
	TEST_EQ(d->stream_destroy(a), 0);
	TEST_EQ(d->stream_destroy(b), 0);
	TEST_EQ(d->mem_free_host(w), 0);
	end_with(1);
}

static void fail_once_nth_for_good(void)
{
	uint64_t a = 0, b = 0;

	begin();
	fakecuda_fail("cuMemAlloc_v2", 2, WIC_CU_OUT_OF_MEMORY, FAKECUDA_ONCE);
	TEST_EQ(d->mem_alloc(&a, 8), 0);
	TEST_EQ(d->mem_alloc(&b, 8), WIC_CU_OUT_OF_MEMORY);
	TEST_EQ(d->mem_alloc(&b, 8), 0);
	TEST_EQ(fakecuda_calls("cuMemAlloc_v2"), 3);
	fakecuda_fail("cuMemAlloc_v2", 1, 719, FAKECUDA_FOR_GOOD);
	for (int i = 0; i < 3; i++)
		TEST_EQ(d->mem_alloc(&b, 8), 719);
	TEST_EQ(d->ctx_synchronize(), 0);
	/* What gives back does so though it fails. */
	fakecuda_fail("cuMemFree_v2", 1, 719, FAKECUDA_FOR_GOOD);
	TEST_EQ(d->mem_free(a), 719);
	TEST_EQ(d->mem_free(b), 719);
	end();
}

static void fail_sticky(void)
{
	struct wic_cu_event *e = NULL;
	struct wic_cu_stream *s;
	const char *name = NULL;
	uint64_t *w, a = 0;
	int version = 0;

	begin();
	w = words();
	s = stream(0);
	TEST_EQ(d->event_create(&e, 0), 0);
	TEST_EQ(d->stream_wait_value64(s, (uintptr_t)w, 1, 0), 0);
	TEST_EQ(d->launch_host_func(s, host_function, &w[1]), 0);
	TEST_EQ(d->event_record(e, s), 0);
	fakecuda_fail("cuStreamQuery", 1, 700, FAKECUDA_STICKY);
	TEST_TRUE(!fakecuda_is_broken());
	TEST_EQ(d->stream_query(s), 700);
	TEST_TRUE(fakecuda_is_broken());
	TEST_EQ(d->stream_query(s), 700);
	TEST_EQ(d->stream_synchronize(s), 700);
	TEST_EQ(d->ctx_synchronize(), 700);
	TEST_EQ(d->event_query(e), 700);
	TEST_EQ(d->mem_alloc(&a, 8), 700);
	TEST_EQ(d->driver_get_version(&version), 0);
	TEST_EQ(d->get_error_name(700, &name), 0);
	/* The words are read once the stream has let go what it had. */
	TEST_EQ(d->stream_destroy(s), 700);
	TEST_EQ(d->event_destroy(e), 700);
	TEST_EQ(load(&w[1]), 0);
	TEST_EQ(d->mem_free_host(w), 700);
	TEST_EQ(d->ctx_pop_current(NULL), 700);
	TEST_EQ(d->device_primary_ctx_release(0), 700);
	expect_findings(0);
	fakecuda_reset();
}

static void *alloc_thread(void *arg)
{
	struct wic_cu_context *context = NULL;
	uint64_t a = 0;

	TEST_EQ(d->device_primary_ctx_retain(&context, 0), 0);
	TEST_EQ(d->ctx_push_current(context), 0);
	TEST_EQ(d->mem_alloc(&a, 8), 0);
	store(arg, 1);
	TEST_EQ(d->mem_free(a), 0);
	TEST_EQ(d->ctx_pop_current(NULL), 0);
	TEST_EQ(d->device_primary_ctx_release(0), 0);
	return NULL;
}

static void hold_keeps_a_call(void)
{
	pthread_t threads[2];
	uint64_t done[2] = { 0 };

	begin();
	fakecuda_hold("cuMemAlloc_v2");
	for (int i = 0; i < 2; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, alloc_thread, &done[i]), 0);
	while (fakecuda_held() < 2)
		sched_yield();
	TEST_EQ(d->ctx_synchronize(), 0);
	TEST_EQ(load(&done[0]) + load(&done[1]), 0);
	fakecuda_let_go("cuMemAlloc_v2");
	for (int i = 0; i < 2; i++)
		TEST_EQ(pthread_join(threads[i], NULL), 0);
	TEST_EQ(done[0] + done[1], 2);
	TEST_EQ(fakecuda_held(), 0);
	end();
}

static void check_finds_what_is_left(void)
{
	struct wic_cu_event *e = NULL;
	struct wic_cu_module *module = NULL;
	uint64_t a = 0;

	begin();
	expect_found("not given back: 1 references to primary contexts");
	expect_findings(1);
	TEST_EQ(d->mem_alloc(&a, 8), 0);
	words();
	words();
	stream(0);
	TEST_EQ(d->event_create(&e, 0), 0);
	TEST_EQ(d->module_load_data(&module, FAKECUDA_IMAGE), 0);
	/* The null stream is the context's own. */
	TEST_EQ(d->memcpy_async(a, a, 8, NULL), 0);
	expect_found("not given back: 1 allocations of device memory");
	expect_found("not given back: 2 allocations of pinned memory");
	expect_found("not given back: 1 streams");
	expect_found("not given back: 1 events");
	expect_found("not given back: 1 modules");
	expect_findings(6);
	TEST_EQ(d->ctx_pop_current(NULL), 0);
	TEST_EQ(d->device_primary_ctx_release(0), 0);
	expect_found("3 allocations went with their context");
	expect_found("1 streams went with their context");
	expect_findings(4);
	fakecuda_reset();
	expect_findings(0);
}

#define PUSHERS 4
#define ROUNDS 200u

struct pusher {
	uint64_t seed;
	uint64_t address;
	struct wic_cu_context *context;
};

/* Random copies and fills beside the same on an array; the two are alike in the end. */
static void *push_thread(void *arg)
{
	struct pusher *p = arg;
	unsigned char model[BYTES], seen[BYTES];
	struct wic_cu_stream *s;

	TEST_EQ(d->ctx_push_current(p->context), 0);
	s = stream(-(int)(p->seed % 6));
	memset(model, 0, BYTES);
	TEST_EQ(d->memset_d8(p->address, 0, BYTES), 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		size_t half = BYTES / 2, bytes = test_random(&p->seed) % half;
		size_t from = test_random(&p->seed) % (half - bytes);
		size_t to = half + test_random(&p->seed) % (half - bytes);
		unsigned char value = (unsigned char)test_random(&p->seed);

		if (i % 8 == 7) {
			TEST_EQ(d->stream_synchronize(s), 0);
			TEST_EQ(d->memset_d8(p->address + from, value, bytes), 0);
			memset(model + from, value, bytes);
			continue;
		}
		if (i % 2) {
			size_t swap = to;

			to = from;
			from = swap;
		}
		TEST_EQ(d->memcpy_async(p->address + to, p->address + from, bytes, s), 0);
		memcpy(model + to, model + from, bytes);
	}
	TEST_EQ(d->stream_synchronize(s), 0);
	TEST_EQ(d->memcpy_dtoh(seen, p->address, BYTES), 0);
	TEST_EQ(memcmp(seen, model, BYTES), 0);
	TEST_EQ(d->stream_destroy(s), 0);
	TEST_EQ(d->ctx_pop_current(NULL), 0);
	return NULL;
}

static void many_threads_at_random(void)
{
	struct wic_cu_context *context = NULL;
	struct pusher pushers[PUSHERS];
	pthread_t threads[PUSHERS];

	begin();
	TEST_EQ(d->device_primary_ctx_retain(&context, 0), 0);
	for (uint32_t i = 0; i < PUSHERS; i++) {
		pushers[i] = (struct pusher){ .seed = i + 1, .context = context };
		TEST_EQ(d->mem_alloc(&pushers[i].address, BYTES), 0);
		TEST_EQ(pthread_create(&threads[i], NULL, push_thread, &pushers[i]), 0);
	}
	for (uint32_t i = 0; i < PUSHERS; i++) {
		TEST_EQ(pthread_join(threads[i], NULL), 0);
		TEST_EQ(d->mem_free(pushers[i].address), 0);
	}
	TEST_EQ(d->device_primary_ctx_release(0), 0);
	end();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(calls_need_init),
		TEST(device_asks),
		TEST(context_is_counted),
		TEST(memory_is_checked),
		TEST(memory_has_an_end),
		TEST(pointer_asks),
		TEST(stream_is_a_fifo),
		TEST(stream_waits_for_values),
		TEST(streams_do_not_wait_for_each_other),
		TEST(event_is_of_its_record),
		TEST(fail_once_nth_for_good),
		TEST(fail_sticky),
		TEST(hold_keeps_a_call),
		TEST(check_finds_what_is_left),
		TEST(many_threads_at_random),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
