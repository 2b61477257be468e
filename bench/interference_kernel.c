/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/interference.h"

#include "lib/log.h"
#include "methods/device.h"

#define ROW WIC_WARP_LANES /* floats */
#define FMA_STEPS 512
#define STREAM_ROWS 128 /* of a piece: 16 KiB */
#define L1_ROWS 8       /* of a warp: 1 KiB */
#define L1_PASSES 64
#define GATHER_ROUNDS 8
#define BUFFER_FLOATS (INTERFERENCE_BUFFER_BYTES / sizeof(float))
/* A power of two of them, so that no warp's part needs a division. */
#define PART_ROWS (BUFFER_FLOATS / 32 / ROW)

WIC_STATIC_ASSERT(INTERFERENCE_BLOCKS <= 32, "a part of the buffer for each");

WIC_DEVICE void work_fma(float *x)
{
	for (int k = 0; k < FMA_STEPS; k++)
		WIC_LANES(l)
			WIC_AT(x, l) = WIC_AT(x, l) * 0.999f + 0.001f;
}

WIC_DEVICE void work_rows(float *x, const float *row, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++, row += ROW)
		WIC_LANES(l)
			WIC_AT(x, l) += row[l];
}

WIC_DEVICE void work_gather(float *x, uint32_t *at, const float *buffer)
{
	/* The linear congruential generator of Numerical Recipes (1992), its high bits. */
	for (int k = 0; k < GATHER_ROUNDS; k++)
		WIC_LANES(l) {
			WIC_AT(at, l) = WIC_AT(at, l) * 1664525u + 1013904223u;
			WIC_AT(x, l) += buffer[WIC_AT(at, l) >> 8];
		}
}

WIC_STATIC_ASSERT(BUFFER_FLOATS == 1u << 24, "32 - 8 bits say where to gather");

WIC_DEVICE void work_piece(const struct interference_args *a, uint32_t piece, float *x,
			   uint32_t *at)
{
	const float *part = a->buffer + (uint64_t)wic_block_id() * PART_ROWS * ROW;

	switch ((enum interference_work)a->work) {
	case INTERFERENCE_FMA:
		work_fma(x);
		break;
	case INTERFERENCE_STREAM:
		work_rows(x, part + (uint64_t)(piece * STREAM_ROWS % PART_ROWS) * ROW, STREAM_ROWS);
		break;
	case INTERFERENCE_L1:
		for (int k = 0; k < L1_PASSES; k++)
			work_rows(x, part, L1_ROWS);
		break;
	case INTERFERENCE_GATHER:
		work_gather(x, at, a->buffer);
		break;
	case INTERFERENCE_WORKS:
		break;
	}
}

WIC_DEVICE void compute(struct interference_args *a)
{
	uint32_t block = wic_block_id();
	WIC_LANE_VAR(float, x);
	WIC_LANE_VAR(uint32_t, at);

	WIC_LANES(l) {
		WIC_AT(x, l) = (float)l;
		WIC_AT(at, l) = (uint32_t)l + block * WIC_WARP_LANES;
	}
	/* Pairs with the host's release, so that what it did before is not measured. */
	while (!__atomic_load_n(&a->go, __ATOMIC_ACQUIRE))
		WIC_TURN();
	a->start_ns[block] = wic_now_ns();
	for (uint32_t i = 0; i < a->pieces; i++) {
		work_piece(a, i, x, at);
		WIC_TURN();
	}
	a->end_ns[block] = wic_now_ns();
	a->sum[block] = wic_reduce_add_f32(x);
	__atomic_fetch_add(&a->finished, 1, __ATOMIC_RELEASE);
}

WIC_DEVICE void check(struct interference_args *a, const void *data)
{
	if (*(const volatile uint64_t *)data != a->epoch)
		wic_atomic_add_u32(&a->wrong, 1);
}

WIC_DEVICE void fail(struct interference_args *a, int rc)
{
	__atomic_store_n(&a->status, rc, __ATOMIC_RELAXED);
}

#ifdef M_LOOK

/* All of the block come here; the barrier before any look. */
WIC_DEVICE void wait_prepare(struct m_state *s, uint32_t tag)
{
	s->block->tag[wic_warp_id()] = tag;
}

WIC_DEVICE void wait_all(struct interference_args *a, struct m_state *s, uint32_t tag)
{
	int rc = wic_warp_id() ? 0 : m_poll_block(s, a->epoch);

	if (rc)
		fail(a, rc);
	wic_bar();
	if (!__atomic_load_n(&a->status, __ATOMIC_RELAXED))
		check(a, a->m.data + (uint64_t)tag * a->m.stride);
}

#else

WIC_DEVICE void wait_prepare(struct m_state *s, uint32_t tag)
{
	(void)s;
	(void)tag;
}

/* Each tag is released `readers` times: where it has fewer warps, its first one asks again. */
WIC_DEVICE void wait_all(struct interference_args *a, struct m_state *s, uint32_t tag)
{
	const struct interference_shape *sh = &a->shape;
	uint32_t slot = wic_warp_id() % sh->tags;
	uint32_t warps = (sh->waiters - slot + sh->tags - 1) / sh->tags;
	uint32_t times = wic_warp_id() == slot ? 1 + sh->readers - warps : 1;
	void *data;

	for (uint32_t i = 0; i < times; i++) {
		int rc = m_wait(s, tag, a->epoch, &data);

		if (rc) {
			fail(a, rc);
			break;
		}
		check(a, data);
		m_done(s, tag, a->epoch);
	}
	wic_bar();
}

#endif /* M_LOOK */

M_KERNEL(bench_interference_kernel, struct interference_args, a)
{
	/* The arguments are borrowed from who launched, which waits for us. */
	struct interference_args *out = (struct interference_args *)(uintptr_t)a;
	const struct interference_shape *sh = &a->shape;
	bool computes = wic_warp_id() == INTERFERENCE_WAITERS_MAX;
	bool waits = wic_block_id() < sh->waiting_blocks && wic_warp_id() < sh->waiters;
	uint32_t tag = waits ? wic_block_id() * sh->tags + wic_warp_id() % sh->tags : WIC_NO_TAG;
	struct m_state s;

	m_init(&s, &a->m);
	wait_prepare(&s, tag);
	if (!computes && !waits)
		return;
	wic_bar();
	if (computes) {
		compute(out);
		wic_bar();
		return;
	}
	__atomic_fetch_add(&out->arrived, 1, __ATOMIC_RELAXED);
	if (a->is_waiting)
		wait_all(out, &s, tag);
	else
		wic_bar();
}
