/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "softgpu_user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uvm.h"

#define PAGE_BYTES 4096u

static _Thread_local uint32_t last_status;

uint32_t softgpu_status(void)
{
	return last_status;
}

int softgpu_errno(uint32_t nv_status)
{
	switch (nv_status) {
	case NV_OK:
	case NV_WARN_NOTHING_TO_DO:
		return 0;
	case NV_ERR_BUSY_RETRY:
	case NV_ERR_IN_USE:
	case NV_ERR_STATE_IN_USE:
		return -EBUSY;
	case NV_ERR_INVALID_ADDRESS:
		return -EFAULT;
	case NV_ERR_INVALID_ARGUMENT:
	case NV_ERR_INVALID_PARAMETER:
		return -EINVAL;
	case NV_ERR_INVALID_DEVICE:
	case NV_ERR_GPU_UUID_NOT_FOUND:
		return -ENODEV;
	case NV_ERR_NO_MEMORY:
		return -ENOMEM;
	case NV_ERR_NOT_SUPPORTED:
		return -EOPNOTSUPP;
	case NV_ERR_OBJECT_NOT_FOUND:
		return -ENOENT;
	case NV_ERR_SIGNAL_PENDING:
		return -EINTR;
	case NV_ERR_TIMEOUT:
		return -ETIMEDOUT;
	default:
		return -EREMOTEIO;
	}
}

int softgpu_uvm(int fd, unsigned long request, void *params, const uint32_t *status)
{
	last_status = NV_OK;
	if (ioctl(fd, request, params) != 0)
		return -errno;
	last_status = *status;
	return softgpu_errno(last_status);
}

/* The driver's parameter structs all call it rmStatus. */
#define UVM_CALL(fd, request, params) softgpu_uvm(fd, request, params, &(params)->rmStatus)

static NvProcessorUuid gpu_uuid(const struct softgpu *softgpu, uint32_t gpu)
{
	NvProcessorUuid uuid;

	memcpy(uuid.uuid, softgpu->info.uuid[gpu], sizeof(uuid.uuid));
	return uuid;
}

/*
 * Handles are a client's own on real systems; here they name things to /dev/softgpu too, so they
 * differ between processes and between the spaces of one.
 */
static void choose_handles(struct softgpu *softgpu)
{
	static atomic_uint spaces;
	const uint32_t space = atomic_fetch_add_explicit(&spaces, 1, memory_order_relaxed) % 16;
	const uint32_t base = ((uint32_t)getpid() << 8) + (space << 4);

	softgpu->client = base;
	for (uint32_t gpu = 0; gpu < SOFTGPU_GPUS_MAX; gpu++) {
		softgpu->va_space[gpu] = base + gpu;
		softgpu->channel[gpu] = base + 8 + gpu;
	}
}

static int register_gpu(const struct softgpu *softgpu, uint32_t gpu)
{
	UVM_REGISTER_GPU_PARAMS whole = {
		.gpu_uuid = gpu_uuid(softgpu, gpu),
		.rmCtrlFd = -1,
	};
	UVM_REGISTER_GPU_VASPACE_PARAMS space = {
		.gpuUuid = gpu_uuid(softgpu, gpu),
		.rmCtrlFd = -1,
		.hClient = softgpu->client,
		.hVaSpace = softgpu->va_space[gpu],
	};
	UVM_REGISTER_CHANNEL_PARAMS channel = {
		.gpuUuid = gpu_uuid(softgpu, gpu),
		.rmCtrlFd = -1,
		.hClient = softgpu->client,
		.hChannel = softgpu->channel[gpu],
	};
	int err = UVM_CALL(softgpu->uvm_fd, UVM_REGISTER_GPU, &whole);

	if (err == 0)
		err = UVM_CALL(softgpu->uvm_fd, UVM_REGISTER_GPU_VASPACE, &space);
	if (err == 0)
		err = UVM_CALL(softgpu->uvm_fd, UVM_REGISTER_CHANNEL, &channel);
	return err;
}

/* In the reverse order; goes on after an error.  Return: the first. */
static int unregister_gpu(const struct softgpu *softgpu, uint32_t gpu)
{
	UVM_UNREGISTER_CHANNEL_PARAMS channel = {
		.gpuUuid = gpu_uuid(softgpu, gpu),
		.hClient = softgpu->client,
		.hChannel = softgpu->channel[gpu],
	};
	UVM_UNREGISTER_GPU_VASPACE_PARAMS space = { .gpuUuid = gpu_uuid(softgpu, gpu) };
	UVM_UNREGISTER_GPU_PARAMS whole = { .gpu_uuid = gpu_uuid(softgpu, gpu) };
	const int err_channel = UVM_CALL(softgpu->uvm_fd, UVM_UNREGISTER_CHANNEL, &channel);
	const int err_space = UVM_CALL(softgpu->uvm_fd, UVM_UNREGISTER_GPU_VASPACE, &space);
	const int err_whole = UVM_CALL(softgpu->uvm_fd, UVM_UNREGISTER_GPU, &whole);

	if (err_channel != 0)
		return err_channel;
	return err_space != 0 ? err_space : err_whole;
}

static int open_uvm(struct softgpu *softgpu)
{
	UVM_INITIALIZE_PARAMS init = { .flags = 0 };
	UVM_MM_INITIALIZE_PARAMS mm = { .uvmFd = 0 };
	int err;

	softgpu->uvm_fd = open("/dev/nvidia-uvm", O_RDWR | O_CLOEXEC);
	if (softgpu->uvm_fd < 0)
		return -errno;
	softgpu->mm_fd = open("/dev/nvidia-uvm", O_RDWR | O_CLOEXEC);
	if (softgpu->mm_fd < 0) {
		err = -errno;
		goto err_uvm;
	}
	err = UVM_CALL(softgpu->uvm_fd, UVM_INITIALIZE, &init);
	if (err != 0)
		goto err_mm;
	mm.uvmFd = softgpu->uvm_fd;
	err = UVM_CALL(softgpu->mm_fd, UVM_MM_INITIALIZE, &mm);
	if (err != 0)
		goto err_mm;
	return 0;

err_mm:
	close(softgpu->mm_fd);
err_uvm:
	close(softgpu->uvm_fd);
	return err;
}

static int open_device(struct softgpu *softgpu)
{
	int err = 0;

	softgpu->device_fd = open("/dev/softgpu", O_RDWR | O_CLOEXEC);
	if (softgpu->device_fd < 0)
		return -errno;
	if (ioctl(softgpu->device_fd, SGPU_IOC_INFO, &softgpu->info) != 0)
		err = -errno;
	else if (softgpu->info.version != SGPU_VERSION)
		err = -EPROTO;
	if (err != 0)
		close(softgpu->device_fd);
	return err;
}

int softgpu_open(struct softgpu *softgpu, uint32_t gpus)
{
	struct softgpu new = { .gpus = 0 };
	int err;

	if (gpus > SOFTGPU_GPUS_MAX)
		return -EINVAL;
	err = open_device(&new);
	if (err != 0)
		return err;
	err = -ENODEV;
	if (gpus > new.info.gpus)
		goto err_device;
	err = open_uvm(&new);
	if (err != 0)
		goto err_device;
	choose_handles(&new);
	for (; new.gpus < gpus; new.gpus++) {
		err = register_gpu(&new, new.gpus);
		if (err != 0)
			goto err_uvm; /* closing the file unregisters what there is */
	}
	*softgpu = new;
	return 0;

err_uvm:
	close(new.mm_fd);
	close(new.uvm_fd);
err_device:
	close(new.device_fd);
	return err;
}

int softgpu_set_peers(const struct softgpu *softgpu, bool are_peers)
{
	UVM_ENABLE_PEER_ACCESS_PARAMS params;
	_Static_assert(sizeof(params) == sizeof(UVM_DISABLE_PEER_ACCESS_PARAMS), "one layout");

	if (softgpu->gpus != 2)
		return -EINVAL;
	params.gpuUuidA = gpu_uuid(softgpu, 0);
	params.gpuUuidB = gpu_uuid(softgpu, 1);
	return UVM_CALL(softgpu->uvm_fd,
			are_peers ? UVM_ENABLE_PEER_ACCESS : UVM_DISABLE_PEER_ACCESS, &params);
}

int softgpu_close(struct softgpu *softgpu)
{
	int first = 0;

	close(softgpu->device_fd); /* ends the launches */
	for (uint32_t gpu = softgpu->gpus; gpu-- > 0;) {
		const int err = unregister_gpu(softgpu, gpu);

		if (first == 0)
			first = err;
	}
	close(softgpu->uvm_fd);
	close(softgpu->mm_fd);
	return first;
}

int softgpu_map_at(const struct softgpu *softgpu, struct softgpu_range range)
{
	void *memory;

	if ((uintptr_t)range.start % PAGE_BYTES != 0 || range.bytes == 0)
		return -EINVAL;
	/* nvidia-uvm wants the file's offset to be the address. */
	memory = mmap(range.start, range.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		      softgpu->uvm_fd, (off_t)(uintptr_t)range.start);
	return memory == MAP_FAILED ? -errno : 0;
}

int softgpu_map(const struct softgpu *softgpu, size_t bytes, void **memory_out)
{
	const size_t size = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	struct softgpu_range range = { .bytes = size };
	size_t before;
	uint8_t *area;
	int err;

	if (bytes == 0)
		return -EINVAL;
	area = mmap(NULL, size + SOFTGPU_BLOCK_BYTES, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return -errno;
	before = -(uintptr_t)area % SOFTGPU_BLOCK_BYTES;
	range.start = area + before;
	if (before != 0)
		munmap(area, before);
	munmap(area + before + size, SOFTGPU_BLOCK_BYTES - before);
	err = softgpu_map_at(softgpu, range);
	if (err != 0) {
		munmap(range.start, size);
		return err;
	}
	*memory_out = range.start;
	return 0;
}

int softgpu_unmap(struct softgpu_range range)
{
	return munmap(range.start, range.bytes) != 0 ? -errno : 0;
}

static int migrate(int fd, struct softgpu_range range, NvProcessorUuid where)
{
	UVM_MIGRATE_PARAMS params = {
		.base = (uintptr_t)range.start,
		.length = range.bytes,
		.destinationUuid = where,
	};

	return UVM_CALL(fd, UVM_MIGRATE, &params);
}

static int evict(int fd, struct softgpu_range range, NvProcessorUuid where)
{
	UVM_TEST_EVICT_CHUNK_PARAMS params = {
		.gpu_uuid = where,
		.eviction_mode = UvmTestEvictModeVirtual,
		.address = (uintptr_t)range.start,
	};

	return UVM_CALL(fd, UVM_TEST_EVICT_CHUNK, &params);
}

static int prefer(int fd, struct softgpu_range range, NvProcessorUuid where)
{
	UVM_SET_PREFERRED_LOCATION_PARAMS params = {
		.requestedBase = (uintptr_t)range.start,
		.length = range.bytes,
		.preferredLocation = where,
	};

	return UVM_CALL(fd, UVM_SET_PREFERRED_LOCATION, &params);
}

/* _SET_ and _UNSET_ take the same parameters; so do the calls of a range alone. */
static int accessed_by(int fd, unsigned long request, struct softgpu_range range,
		       NvProcessorUuid where)
{
	UVM_SET_ACCESSED_BY_PARAMS params = {
		.requestedBase = (uintptr_t)range.start,
		.length = range.bytes,
		.accessedByUuid = where,
	};
	_Static_assert(sizeof(params) == sizeof(UVM_UNSET_ACCESSED_BY_PARAMS), "one layout");

	return UVM_CALL(fd, request, &params);
}

static int range_only(int fd, unsigned long request, struct softgpu_range range)
{
	UVM_ENABLE_READ_DUPLICATION_PARAMS params = {
		.requestedBase = (uintptr_t)range.start,
		.length = range.bytes,
	};
	_Static_assert(sizeof(params) == sizeof(UVM_DISABLE_READ_DUPLICATION_PARAMS) &&
			       sizeof(params) == sizeof(UVM_UNSET_PREFERRED_LOCATION_PARAMS),
		       "one layout");

	return UVM_CALL(fd, request, &params);
}

int softgpu_advise(const struct softgpu *softgpu, enum softgpu_advice advice,
		   struct softgpu_range range, uint32_t where)
{
	const int fd = softgpu->uvm_fd;
	NvProcessorUuid uuid = NV_PROCESSOR_UUID_CPU_DEFAULT;

	if (where != SOFTGPU_CPU) {
		if (where >= softgpu->gpus)
			return -EINVAL;
		uuid = gpu_uuid(softgpu, where);
	}
	switch (advice) {
	case SOFTGPU_MIGRATE:
		return migrate(fd, range, uuid);
	case SOFTGPU_PREFER:
		return prefer(fd, range, uuid);
	case SOFTGPU_PREFER_NONE:
		return range_only(fd, UVM_UNSET_PREFERRED_LOCATION, range);
	case SOFTGPU_ACCESSED_BY:
		return accessed_by(fd, UVM_SET_ACCESSED_BY, range, uuid);
	case SOFTGPU_ACCESSED_BY_NOT:
		return accessed_by(fd, UVM_UNSET_ACCESSED_BY, range, uuid);
	case SOFTGPU_DUPLICATE:
		return range_only(fd, UVM_ENABLE_READ_DUPLICATION, range);
	case SOFTGPU_DUPLICATE_NOT:
		return range_only(fd, UVM_DISABLE_READ_DUPLICATION, range);
	case SOFTGPU_EVICT:
		return evict(fd, range, uuid);
	case SOFTGPU_ADVICE_COUNT:
		break;
	}
	return -EINVAL;
}

int softgpu_launch(const struct softgpu *softgpu, struct softgpu_launch *launch)
{
	struct sgpu_launch_args args = {
		.gpu = launch->gpu,
		.warps = launch->warps != 0 ? launch->warps : 1,
		.warps_per_block = launch->warps_per_block != 0 ? launch->warps_per_block : 1,
		.insns = launch->program->count,
		.program = (uintptr_t)launch->program->insns,
		.registers = (uintptr_t)launch->registers,
	};

	if (launch->gpu >= softgpu->gpus || launch->program->is_too_long)
		return -EINVAL;
	args.va_space = softgpu->va_space[launch->gpu];
	args.channel = softgpu->channel[launch->gpu];
	if (ioctl(softgpu->device_fd, SGPU_IOC_LAUNCH, &args) != 0)
		return -errno;
	launch->id = args.launch;
	return 0;
}

int softgpu_wait(const struct softgpu *softgpu, const struct softgpu_launch *launch,
		 uint32_t timeout_ms, struct sgpu_wait_args *wait_out)
{
	struct sgpu_wait_args args = {
		.gpu = launch->gpu,
		.launch = launch->id,
		.timeout_ms = timeout_ms,
	};

	while (ioctl(softgpu->device_fd, SGPU_IOC_WAIT, &args) != 0) {
		if (errno != EINTR)
			return -errno;
	}
	*wait_out = args;
	return 0;
}

int softgpu_report(const struct softgpu *softgpu, const struct softgpu_launch *launch,
		   uint32_t warp, struct sgpu_warp_report *report_out)
{
	struct sgpu_warp_args args = { .gpu = launch->gpu, .launch = launch->id, .warp = warp };

	if (ioctl(softgpu->device_fd, SGPU_IOC_WARP, &args) != 0)
		return -errno;
	*report_out = args.report;
	return 0;
}

int softgpu_free(const struct softgpu *softgpu, const struct softgpu_launch *launch)
{
	struct sgpu_launch_id args = { .gpu = launch->gpu, .launch = launch->id };

	return ioctl(softgpu->device_fd, SGPU_IOC_FREE, &args) != 0 ? -errno : 0;
}

int softgpu_counters(const struct softgpu *softgpu, uint32_t gpu,
		     struct sgpu_counters *counters_out)
{
	struct sgpu_counters_args args = { .gpu = gpu };

	if (ioctl(softgpu->device_fd, SGPU_IOC_COUNTERS, &args) != 0)
		return -errno;
	*counters_out = args.counters;
	return 0;
}

int softgpu_inject(const struct softgpu *softgpu, uint32_t gpu, enum sgpu_inject_kind kind,
		   uint32_t value)
{
	struct sgpu_inject_args args = { .gpu = gpu, .kind = kind, .value = value };

	return ioctl(softgpu->device_fd, SGPU_IOC_INJECT, &args) != 0 ? -errno : 0;
}
