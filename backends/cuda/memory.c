// SPDX-License-Identifier: MIT OR GPL-2.0
#include <errno.h>
#include <string.h>

#include "backends/cuda/be.h"
#include "lib/log.h"

int wic_cuda_pinned_alloc(struct wic_be *be, size_t bytes, void **p_out)
{
	void *p = NULL;
	int rc = wic_cuda_enter(be);

	if (rc)
		return rc;
	rc = wic_cuda_be_fail(
		be, be->d->mem_host_alloc(&p, bytes, WIC_CU_HOST_PORTABLE | WIC_CU_HOST_DEVICEMAP),
		"cuMemHostAlloc");
	wic_cuda_leave(be);
	if (rc)
		return rc;
	memset(p, 0, bytes);
	*p_out = p;
	return 0;
}

void wic_cuda_pinned_free(struct wic_be *be, void *p)
{
	if (!p || wic_cuda_enter(be))
		return;
	(void)wic_cuda_be_fail(be, be->d->mem_free_host(p), "cuMemFreeHost");
	wic_cuda_leave(be);
}

int wic_cuda_memory_alloc(struct wic_be *be, size_t bytes, uint64_t *address_out)
{
	uint64_t address = 0;
	int rc = wic_cuda_enter(be);

	if (rc)
		return rc;
	rc = wic_cuda_be_fail(be, be->d->mem_alloc(&address, bytes), "cuMemAlloc");
	if (!rc) {
		rc = wic_cuda_be_fail(be, be->d->memset_d8(address, 0, bytes), "cuMemsetD8");
		/* It returns before it is done. */
		if (!rc)
			rc = wic_cuda_be_fail(be, be->d->stream_synchronize(NULL),
					      "cuStreamSynchronize");
		if (rc)
			(void)be->d->mem_free(address);
	}
	wic_cuda_leave(be);
	if (!rc)
		*address_out = address;
	return rc;
}

void wic_cuda_memory_free(struct wic_be *be, uint64_t address)
{
	if (!address || wic_cuda_enter(be))
		return;
	(void)wic_cuda_be_fail(be, be->d->mem_free(address), "cuMemFree");
	wic_cuda_leave(be);
}

int wic_cuda_copy_to(struct wic_be *be, uint64_t to, const void *from, size_t bytes)
{
	int rc = wic_cuda_enter(be);

	if (rc)
		return rc;
	rc = wic_cuda_be_fail(be, be->d->memcpy_htod(to, from, bytes), "cuMemcpyHtoD");
	wic_cuda_leave(be);
	return rc;
}

/* Is it the device's, as the driver knows it?  What it does not know is the caller's own. */
static int of_device(struct wic_be *be, const void *p, bool *of_device_out)
{
	unsigned int type = WIC_CU_MEMORY_HOST;
	int result = be->d->pointer_get_attribute(&type, WIC_CU_POINTER_MEMORY_TYPE,
						  (uint64_t)(uintptr_t)p);

	*of_device_out = !result && type == WIC_CU_MEMORY_DEVICE;
	return result == WIC_CU_INVALID_VALUE ? WIC_CU_SUCCESS : result;
}

int wic_cuda_mem_alloc(struct wic_be *be, enum wic_mem kind, struct wic_device_id device,
		       size_t bytes, void **p_out)
{
	uint64_t address = 0;
	int rc;

	(void)device; /* all logical devices are of one GPU */
	if (kind == WIC_MEM_HOST)
		return wic_cuda_pinned_alloc(be, bytes, p_out);
	if (kind == WIC_MEM_DEVICE) {
		rc = wic_cuda_memory_alloc(be, bytes, &address);
	} else if (!be->d->mem_alloc_managed) {
		rc = wic_fail(-ENOTSUP, "this driver has no managed memory");
	} else {
		rc = wic_cuda_enter(be);
		if (rc)
			return rc;
		rc = wic_cuda_be_fail(
			be, be->d->mem_alloc_managed(&address, bytes, WIC_CU_MANAGED_ATTACH_GLOBAL),
			"cuMemAllocManaged");
		wic_cuda_leave(be);
		if (!rc)
			memset((void *)(uintptr_t)address, 0, bytes);
	}
	if (!rc)
		*p_out = (void *)(uintptr_t)address;
	return rc;
}

void wic_cuda_mem_free(struct wic_be *be, void *p)
{
	bool is_device = false;
	int managed = 0, result;

	if (wic_cuda_enter(be))
		return;
	result = be->d->pointer_get_attribute(&managed, WIC_CU_POINTER_IS_MANAGED,
					      (uint64_t)(uintptr_t)p);
	/* Not every driver knows the question. */
	if (!result || result == WIC_CU_INVALID_VALUE)
		result = of_device(be, p, &is_device);
	wic_cuda_leave(be);
	/* To free it as what it is not would be worse than to keep it. */
	if (wic_cuda_be_fail(be, result, "cuPointerGetAttribute"))
		wic_log(WIC_LOG_ERROR, "memory at %p is not freed: %s", p, wic_last_error());
	else if (managed || is_device)
		wic_cuda_memory_free(be, (uint64_t)(uintptr_t)p);
	else
		wic_cuda_pinned_free(be, p);
}

/* What is wrong with where the word lies; NULL: nothing, or @result_out is an error. */
static const char *wrong_memory(struct wic_be *be, const uint64_t *word, int *result_out)
{
	const uint64_t address = (uint64_t)(uintptr_t)word;
	int managed = 0, ordinal = be->gpu.device;
	bool is_device = false;

	*result_out = be->d->pointer_get_attribute(&managed, WIC_CU_POINTER_IS_MANAGED, address);
	/* Not every driver knows the question. */
	if (*result_out && *result_out != WIC_CU_INVALID_VALUE)
		return NULL;
	*result_out = of_device(be, word, &is_device);
	if (*result_out)
		return NULL;
	if (managed)
		return "managed memory, which moves while it is waited for";
	if (!is_device)
		return "the host's memory, and each look at it would cross the bus";
	*result_out =
		be->d->pointer_get_attribute(&ordinal, WIC_CU_POINTER_DEVICE_ORDINAL, address);
	return ordinal == be->gpu.device ? NULL : "another GPU's memory";
}

int wic_cuda_check_word(struct wic_be *be, const uint64_t *word)
{
	int result, rc = wic_cuda_check_alive(be);
	const char *wrong;

	if (rc)
		return rc;
	rc = wic_cuda_enter(be);
	if (rc)
		return rc;
	wrong = wrong_memory(be, word, &result);
	rc = wic_cuda_be_fail(be, result, "cuPointerGetAttribute");
	wic_cuda_leave(be);
	if (rc || !wrong)
		return rc;
	return wic_fail(-EINVAL, "the word at %p lies in %s; it has to lie in %s's",
			(const void *)word, wrong, be->gpu.name);
}

int wic_cuda_mem_copy(struct wic_be *be, void *dst, const void *src, size_t bytes)
{
	uint64_t to = (uint64_t)(uintptr_t)dst, from = (uint64_t)(uintptr_t)src;
	bool is_to = false, is_from = false;
	int result, rc = wic_cuda_enter(be);

	if (rc)
		return rc;
	result = of_device(be, dst, &is_to);
	if (!result)
		result = of_device(be, src, &is_from);
	if (!result && is_to)
		result = is_from ? be->d->memcpy_dtod(to, from, bytes)
				 : be->d->memcpy_htod(to, src, bytes);
	else if (!result && is_from)
		result = be->d->memcpy_dtoh(dst, from, bytes);
	else if (!result)
		memcpy(dst, src, bytes);
	/* A copy on the device returns before it is done. */
	if (!result)
		result = be->d->stream_synchronize(NULL);
	rc = wic_cuda_be_fail(be, result, "a copy");
	wic_cuda_leave(be);
	return rc;
}
