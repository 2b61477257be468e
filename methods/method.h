/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A method: a way to wait for data and to carry it, behind one interface.
 *
 * Device half: methods/<name>/device.h, chosen by -DWIC_METHOD=<name> through
 * methods/device.h, gives static inline
 *
 *	void m_begin(void)	once a block, by all its warps, before anything else
 *	void m_init(struct m_state *s, const struct m_args *m)
 *	int  m_wait(struct m_state *s, uint32_t tag, uint64_t epoch, void **data_out)
 *	void m_done(struct m_state *s, uint32_t tag, uint64_t epoch)
 *	int  m_stage(struct m_state *s, uint32_t tag, uint64_t epoch, void **buffer_out)
 *	int  m_publish(struct m_state *s, uint32_t tag, uint64_t epoch)
 *	M_SHARED_BYTES(warps)	shared memory that it takes at the start of the block's
 *
 * Every warp of a block calls m_wait the same number of times, each with its own
 * tag or WIC_NO_TAG (then data_out is not written), outside lane loops, and m_done
 * once for each m_wait that returned 0 with a tag.  Block methods gather the tags,
 * bar, wait for all, bar; wic waits a warp.  m_wait returns 0 or -errno and is
 * bounded by m->timeout_ns.
 *
 * A struct m_state is one end of one channel: an application with several channels has a
 * struct m_args and an m_state for each.  All warps of a block wait on the same one at a
 * time.  m_stage and m_publish are for kernels that produce: one warp a tag, outside lane
 * loops, each tag once a run; what all lanes of that warp wrote into the buffer is
 * there for whoever waits.  Both return 0 or -errno.
 *
 * device.h may replace wic_bar(), wic_turn() and wic_block_add_u32() by macros of its
 * own (thread-futex does).  So an application includes methods/device.h before any
 * header of its own that has kernel code in it.
 *
 * M_ROUNDS: what an application gives so that its kernel can also be cut at its waits
 * (method split).  A warp's life is written as two functions, called in turn:
 *
 *	int  c1(env, kept, struct m_want *want_out)	work that needs no new data, then
 *							1: what to wait for; 0: it is over
 *	void c2(env, kept, void *data)			what follows the wait
 *
 *	M_KERNEL(x_kernel, struct x_args, a)
 *	{
 *		struct x_kept kept = { ... };		all that lives across a wait
 *		struct x_env env = { ... };		all that args and ids give again
 *		int rc;
 *
 *		m_init(&env.state, &a->m);
 *		M_ROUNDS(rc, &env.state, &env, &kept, x_c1, x_c2);
 *		if (rc)
 *			a->status[...] = rc;
 *	}
 *
 * data is NULL where the wanted tag is WIC_NO_TAG.  Both are called by all warps of
 * a block alike, outside lane loops, and may bar and call m_done.  *kept is the same
 * in every lane, has at most M_KEPT_BYTES_MAX bytes, words of 4 or 8, and points to nothing
 * on a stack or in shared memory: with split each part is a launch of its own, and shared
 * memory is new and zeroed in each.  For the same reason what stands before M_ROUNDS may run
 * many times, and what follows it may only write rc down.  With the other methods M_ROUNDS
 * is the plain loop c1, m_wait, c2.  A kernel that calls m_wait by itself works with all
 * methods but split: bench leaves that one out and says so.
 *
 * Host half: struct method_ops.  A struct method is one channel; a context may have many.
 * Every method makes exactly one copy from the producer's staging buffer to memory of
 * the consumer, and says who does.  No copy at all: none, and wic in push mode, whose producer
 * writes to the consumer's pages; the report says so.  On a GPU no method copies, all alike: the
 * producer writes to memory that the consumer addresses too.
 */
#ifndef WIC_METHODS_METHOD_H
#define WIC_METHODS_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include <wic/kernel.h>
#include <wic/wic.h>

/* 128 bytes, a line of a GPU: a publish disturbs no other tag's waiters. */
#define M_FLAG_WORDS 16

#define M_KEPT_BYTES_MAX 64

/* What a warp waits for. */
struct m_want {
	uint64_t epoch;
	uint32_t tag; /* or WIC_NO_TAG: only others of its block wait */
};

struct m_cuts;

/* What a kernel needs of its method; a field of each application's argument struct. */
struct m_args {
	struct wic_handle h;    /* wic */
	uint64_t *flags;        /* polling methods: epoch of tag t at flags[t * M_FLAG_WORDS] */
	unsigned char *data;    /* none, polling methods: tag t at data + t * stride */
	unsigned char *staging; /* likewise, the producer's; NULL: it writes to data */
	uint64_t bytes_per_tag;
	const struct m_cuts *cuts; /* split */
	uint64_t stride;           /* bytes_per_tag rounded up to pages */
	uint64_t timeout_ns;       /* of each wait */
};

/*
 * Shared memory at the start of a block's that the hungriest method takes (wic on a GPU: its lot);
 * the application's own begins at M_SHARED_BYTES(warps) of the method it is compiled
 * for.  methods/device.h checks that no method takes more.
 */
#define M_SHARED_BYTES_MAX(warps) ((40u + 40u * (uint32_t)(warps) + 15u) / 16u * 16u)

/* Who is at the ends of a channel.  All 0: the host produces, device 0 consumes. */
struct m_ends {
	bool is_from_device; /* else the host produces */
	bool is_to_host;     /* else a device consumes */
	uint32_t from;       /* the producing device */
	uint32_t to;         /* the consuming device */
};

struct method_params {
	uint32_t tags;
	uint32_t readers; /* warps that wait for each (tag, epoch) */
	uint64_t bytes_per_tag;
	uint64_t timeout_ns;
	struct m_ends ends;
	enum wic_mode mode; /* wic */
	/* On a GPU: memory of tags * method_stride(bytes_per_tag) that is used for the data, by one
	 * method at a time, borrowed until close; NULL: the method takes its own. */
	unsigned char *data;
};

/* From a tag's data to the next one's. */
static inline uint64_t method_stride(uint64_t bytes_per_tag)
{
	return (bytes_per_tag + WIC_PAGE_BYTES - 1) / WIC_PAGE_BYTES * WIC_PAGE_BYTES;
}

struct method;

#define METHOD_ON_CPU 1u /* back-ends that are no GPU */
#define METHOD_ON_GPU 2u
#define METHOD_ANYWHERE (METHOD_ON_CPU | METHOD_ON_GPU)

struct method_ops {
	const char *name;
	const char *summary; /* one line: how it waits */
	const char *copies;  /* one line: who copies the payload */
	uint32_t warps_max;  /* of a launch; 0: any number */
	uint32_t where;      /* METHOD_ON_ bits; open is -ENOTSUP on others */
	/* @w: where kernels are launched; borrowed until close. */
	int (*open)(struct wic *w, const struct method_params *p, struct method **m_out);
	void (*args)(const struct method *m, struct m_args *args_out);
	int (*stage)(struct method *m, uint32_t tag, uint64_t epoch, void **buffer_out);
	int (*publish)(struct method *m, uint32_t tag, uint64_t epoch);
	/* Where the host consumes: wait for the data and give it back. */
	int (*take)(struct method *m, uint32_t tag, uint64_t epoch, const void **data_out);
	int (*done)(struct method *m, uint32_t tag, uint64_t epoch);
	/* Called through method_launch() and method_sync().  Both NULL: those of the context. */
	int (*launch)(struct method *m, const struct wic_launch_desc *l);
	int (*sync)(struct method *m, uint64_t timeout_ns);
	void (*close)(struct method *m);
};

extern const struct method_ops method_none;
extern const struct method_ops method_naive;
extern const struct method_ops method_leader;
extern const struct method_ops method_leader_acq;
extern const struct method_ops method_warp;
extern const struct method_ops method_libcupp;
extern const struct method_ops method_split;
extern const struct method_ops method_thread_futex;
extern const struct method_ops method_wic;

/* 0, or -ENOTSUP and a text: no method for the back-end of @w (NULL: as cpu). */
int method_check_where(const struct method_ops *ops, const struct wic *w);

/* NULL-terminated, none first. */
extern const struct method_ops *const methods[];
/* NULL: no such method. */
const struct method_ops *method_find(const char *name);

/* Start a kernel that was compiled for the method, and wait for it: as wic_launch() and
 * wic_sync() of the context that it was opened in. */
int method_launch(const struct method_ops *ops, struct method *m, struct wic *w,
		  const struct wic_launch_desc *l);
int method_sync(const struct method_ops *ops, struct method *m, struct wic *w, uint64_t timeout_ns);

/* Warps of a launch, all blocks together. */
static inline uint64_t method_launch_warps(const struct wic_launch_desc *l)
{
	return ((uint64_t)l->block_threads + WIC_WARP_LANES - 1) / WIC_WARP_LANES * l->grid_blocks;
}

#endif /* WIC_METHODS_METHOD_H */
