/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "methods/memory.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/memory.h"

/* As in methods/look.h. */
#define LOOKS_PER_CLOCK 64

#ifdef __x86_64__
static void look_pause(void)
{
	__builtin_ia32_pause();
}
#else
static void look_pause(void)
{
	sched_yield();
}
#endif

/* Where kernels produce for kernels the host never looks. */
static bool is_of_devices(const struct method_params *p)
{
	return p->ends.is_from_device && !p->ends.is_to_host;
}

static void *region(struct m_memory *mem, enum wic_mem kind, uint32_t device, uint64_t bytes)
{
	void *p = NULL;

	if (bytes > SIZE_MAX || wic_mem_alloc(mem->w, kind, WIC_GPU(device), bytes, &p))
		return NULL;
	return p;
}

static uint64_t flag_bytes(const struct m_memory *mem)
{
	return (uint64_t)mem->tags * M_FLAG_WORDS * sizeof(uint64_t);
}

static bool has_staging(const struct m_memory *mem, uint32_t how)
{
	if (how & M_MEMORY_IN_PLACE)
		return false;
	return (how & M_MEMORY_SPARE) || !wic_is_gpu(mem->w);
}

/* True: all that is wanted is there. */
static bool regions_init(struct m_memory *mem, const struct method_params *p, uint32_t how)
{
	enum wic_mem kind = is_of_devices(p) ? WIC_MEM_DEVICE : WIC_MEM_HOST, flags_kind = kind;
	uint64_t bytes = mem->stride * mem->tags;

	if (kind == WIC_MEM_HOST && (how & M_MEMORY_MANAGED_FLAGS))
		flags_kind = WIC_MEM_MANAGED;
	mem->flags = region(mem, flags_kind, p->ends.to, flag_bytes(mem));
	mem->staged = calloc(p->tags, sizeof(*mem->staged));
	mem->is_data_borrowed = p->data != NULL;
	mem->data = p->data ? p->data : region(mem, kind, p->ends.to, bytes);
	if (!mem->flags || !mem->staged || !mem->data)
		return false;
	if (!has_staging(mem, how))
		return true;
	mem->staging = region(mem, kind, p->ends.from, bytes);
	return mem->staging != NULL;
}

int m_memory_init(struct m_memory *mem, struct wic *w, const struct method_params *p, uint32_t how)
{
	uint64_t bytes;

	memset(mem, 0, sizeof(*mem));
	if (!p->tags || !p->bytes_per_tag)
		return wic_fail(-EINVAL, "method: %u tags of %llu bytes", p->tags,
				(unsigned long long)p->bytes_per_tag);
	mem->w = w;
	mem->tags = p->tags;
	mem->bytes_per_tag = p->bytes_per_tag;
	mem->timeout_ns = p->timeout_ns;
	if (p->bytes_per_tag > UINT64_MAX - WIC_PAGE_BYTES)
		return wic_fail(-EINVAL, "method: a tag of 2^64 bytes");
	mem->stride = method_stride(p->bytes_per_tag);
	if (__builtin_mul_overflow(mem->stride, (uint64_t)p->tags, &bytes))
		return wic_fail(-ENOMEM, "method: %u tags of %llu bytes", p->tags,
				(unsigned long long)p->bytes_per_tag);
	if (regions_init(mem, p, how))
		return 0;
	m_memory_fini(mem);
	return wic_fail(-ENOMEM, "method: no memory for %llu bytes%s", (unsigned long long)bytes,
			wic_is_gpu(w) ? "" : ", twice where they are copied");
}

void m_memory_fini(struct m_memory *mem)
{
	wic_mem_free(mem->w, mem->staging);
	if (!mem->is_data_borrowed)
		wic_mem_free(mem->w, mem->data);
	free(mem->staged);
	wic_mem_free(mem->w, mem->flags);
	memset(mem, 0, sizeof(*mem));
}

void m_memory_args(const struct m_memory *mem, struct m_args *args_out)
{
	memset(args_out, 0, sizeof(*args_out));
	args_out->flags = mem->flags;
	args_out->data = mem->data;
	args_out->staging = mem->staging;
	args_out->stride = mem->stride;
	args_out->bytes_per_tag = mem->bytes_per_tag;
	args_out->timeout_ns = mem->timeout_ns;
}

int m_memory_stage(struct m_memory *mem, uint32_t tag, uint64_t epoch, void **buffer_out)
{
	if (tag >= mem->tags)
		return wic_fail(-EINVAL, "method: tag %u of %u", tag, mem->tags);
	if (epoch <= __atomic_load_n(&mem->flags[(uint64_t)tag * M_FLAG_WORDS], __ATOMIC_RELAXED) ||
	    epoch > WIC_EPOCH_LAST)
		return wic_fail(-EINVAL, "method: tag %u: epoch %llu is not the next", tag,
				(unsigned long long)epoch);
	mem->staged[tag] = epoch;
	*buffer_out = (mem->staging ? mem->staging : mem->data) + mem->stride * tag;
	return 0;
}

int m_memory_copy(struct m_memory *mem, uint32_t tag, uint64_t epoch)
{
	if (tag >= mem->tags || epoch == WIC_EPOCH_NONE || mem->staged[tag] != epoch)
		return wic_fail(-EINVAL, "method: tag %u epoch %llu was not staged", tag,
				(unsigned long long)epoch);
	mem->staged[tag] = WIC_EPOCH_NONE;
	if (mem->staging)
		memcpy(mem->data + mem->stride * tag, mem->staging + mem->stride * tag,
		       mem->bytes_per_tag);
	return 0;
}

int m_memory_method_open(struct wic *w, const struct method_params *p, uint32_t how,
			 struct method **m_out)
{
	struct method *m = malloc(sizeof(*m));
	int rc;

	if (!m)
		return wic_fail(-ENOMEM, "method: no memory");
	rc = m_memory_init(&m->mem, w, p, how);
	if (rc) {
		free(m);
		return rc;
	}
	*m_out = m;
	return 0;
}

void m_memory_method_args(const struct method *m, struct m_args *args_out)
{
	m_memory_args(&m->mem, args_out);
}

int m_memory_method_stage(struct method *m, uint32_t tag, uint64_t epoch, void **buffer_out)
{
	return m_memory_stage(&m->mem, tag, epoch, buffer_out);
}

int m_memory_method_publish(struct method *m, uint32_t tag, uint64_t epoch)
{
	int rc = m_memory_copy(&m->mem, tag, epoch);

	if (rc)
		return rc;
	/* Pairs with the acquire of the method's device half; methods/none needs none. */
	__atomic_store_n(&m->mem.flags[(uint64_t)tag * M_FLAG_WORDS], epoch, __ATOMIC_RELEASE);
	return 0;
}

int m_memory_take(struct m_memory *mem, const struct m_take *t, uint64_t (*look)(uint64_t *flag),
		  const void **data_out)
{
	uint64_t start_ns = 0, *flag;
	uint32_t looks = 0;

	if (t->tag >= mem->tags)
		return wic_fail(-EINVAL, "method: tag %u of %u", t->tag, mem->tags);
	flag = &mem->flags[(uint64_t)t->tag * M_FLAG_WORDS];
	while (look(flag) < t->epoch) {
		if (looks++ % LOOKS_PER_CLOCK == 0) {
			uint64_t now_ns = wic_now_ns();

			start_ns = start_ns ? start_ns : now_ns;
			if (now_ns - start_ns >= mem->timeout_ns)
				return wic_fail(-ETIMEDOUT,
						"method: epoch %llu of tag %u did not come",
						(unsigned long long)t->epoch, t->tag);
		}
		look_pause();
	}
	*data_out = mem->data + mem->stride * t->tag;
	return 0;
}

static uint64_t look_acquire(uint64_t *flag)
{
	/* Pairs with m_store_release() of methods/relaxed.h. */
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

int m_memory_method_take(struct method *m, uint32_t tag, uint64_t epoch, const void **data_out)
{
	return m_memory_take(&m->mem, &(struct m_take){ tag, epoch }, look_acquire, data_out);
}

int m_memory_method_done(struct method *m, uint32_t tag, uint64_t epoch)
{
	(void)m;
	(void)tag;
	(void)epoch;
	return 0;
}

void m_memory_method_close(struct method *m)
{
	if (!m)
		return;
	m_memory_fini(&m->mem);
	free(m);
}
