/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "methods/memory.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/log.h"

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

static unsigned char *memory_map(uint64_t bytes)
{
	void *p;

	if (bytes > SIZE_MAX)
		return NULL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	/* As the cpu back-end does for the pages of wic: every method reads huge pages. */
	(void)madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, 0, bytes);
	return p;
}

static void memory_unmap(void *p, uint64_t bytes)
{
	if (p)
		munmap(p, bytes);
}

static uint64_t flag_bytes(const struct m_memory *mem)
{
	return (uint64_t)mem->tags * M_FLAG_WORDS * sizeof(uint64_t);
}

int m_memory_init(struct m_memory *mem, const struct method_params *p, bool in_place)
{
	uint64_t bytes;

	memset(mem, 0, sizeof(*mem));
	if (!p->tags || !p->bytes_per_tag)
		return wic_fail(-EINVAL, "method: %u tags of %llu bytes", p->tags,
				(unsigned long long)p->bytes_per_tag);
	mem->tags = p->tags;
	mem->bytes_per_tag = p->bytes_per_tag;
	mem->timeout_ns = p->timeout_ns;
	if (p->bytes_per_tag > UINT64_MAX - WIC_PAGE_BYTES)
		return wic_fail(-EINVAL, "method: a tag of 2^64 bytes");
	mem->stride = (p->bytes_per_tag + WIC_PAGE_BYTES - 1) / WIC_PAGE_BYTES * WIC_PAGE_BYTES;
	if (__builtin_mul_overflow(mem->stride, (uint64_t)p->tags, &bytes))
		return wic_fail(-ENOMEM, "method: %u tags of %llu bytes", p->tags,
				(unsigned long long)p->bytes_per_tag);
	mem->flags = (uint64_t *)memory_map(flag_bytes(mem));
	mem->staged = (uint64_t *)memory_map((uint64_t)p->tags * sizeof(uint64_t));
	mem->data = memory_map(bytes);
	mem->staging = in_place ? NULL : memory_map(bytes);
	if (mem->flags && mem->staged && mem->data && (in_place || mem->staging))
		return 0;
	m_memory_fini(mem);
	return wic_fail(-ENOMEM, "method: no memory for 2 x %llu bytes", (unsigned long long)bytes);
}

void m_memory_fini(struct m_memory *mem)
{
	uint64_t bytes = mem->stride * mem->tags;

	memory_unmap(mem->staging, bytes);
	memory_unmap(mem->data, bytes);
	memory_unmap(mem->staged, (uint64_t)mem->tags * sizeof(uint64_t));
	memory_unmap(mem->flags, flag_bytes(mem));
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

int m_memory_method_open(const char *name, const struct method_params *p, bool in_place,
			 struct method **m_out)
{
	struct method *m = malloc(sizeof(*m));
	int rc;

	if (!m)
		return wic_fail(-ENOMEM, "method %s: no memory", name);
	rc = m_memory_init(&m->mem, p, in_place);
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
