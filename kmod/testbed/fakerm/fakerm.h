/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A resource manager that has software GPUs: what nvidia-uvm.ko calls (nvUvmInterface*) and
 * what user space calls (/dev/softgpu), over the model in softgpu/.
 *
 *   nvidia-uvm.ko --- nvUvmInterface*() ---> rm_*.c --+
 *        ^                                            +--> struct fakerm_gpu --> softgpu/
 *        +--- isrTopHalf() <--- engine.c (a thread) --+
 *   a test ---------- ioctl ---------------> device.c, launch.c
 *
 * Each GPU has a PCI device (QEMU's "edu"), because the driver maps pages for DMA with it; it
 * is otherwise left alone.  There is no IOMMU, so a DMA address is a physical address.
 *
 * Handles are pointers to objects that begin with struct fakerm_object.  Each is looked up
 * before it is used: one that is not alive, or of another kind, is logged with the name of the
 * function and refused.  What is alive when the module goes is logged as a leak.
 *
 * Locks, outermost first:
 *   fakerm_events_lock   the driver's callbacks: read by who calls them
 *   fakerm_pma.callbacks_lock   the driver's eviction callbacks
 *   fakerm_gpu.lock      the model of that GPU, and what hangs from it; of GPU 0 before GPU 1
 *   fakerm_pma.lock, the registry's lock   leaves; spinlocks
 * The driver is called with none of the GPU's locks held.
 */
#ifndef WIC_KMOD_TESTBED_FAKERM_FAKERM_H
#define WIC_KMOD_TESTBED_FAKERM_FAKERM_H

#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "nvtypes.h"
#include "nvmisc.h"
#include "nvstatus.h"
#include "nv_uvm_types.h"
#include "nv_uvm_interface.h"

#include "gpu.h"
#include "uapi.h"

#define fakerm_error(format, ...) pr_err("fakerm: " format "\n", ##__VA_ARGS__)

#define FAKERM_GPUS_MAX 2
#define FAKERM_COPY_ENGINES 2
#define FAKERM_LINK_MB_PER_S 16000 /* to the system's memory and to the peer: PCIe 3, 16 lanes */

/* RM allocates in steps of the big page; so does its allocator of video memory. */
#define FAKERM_FRAME_SHIFT 16
#define FAKERM_FRAME_BYTES (1ull << FAKERM_FRAME_SHIFT)
#define FAKERM_CHUNK_BYTES (2ull << 20)

/* The first of video memory is RM's own: the instance blocks of channels lie there, and the
 * driver never owns address 0. */
#define FAKERM_RESERVED_BYTES FAKERM_CHUNK_BYTES
#define FAKERM_INSTANCES (FAKERM_RESERVED_BYTES / SGPU_PAGE_BYTES)

/* --- objects ------------------------------------------------------------------- */

enum fakerm_kind {
	FAKERM_SESSION,
	FAKERM_DEVICE,
	FAKERM_VAS,
	FAKERM_MEMORY,
	FAKERM_TSG,
	FAKERM_CHANNEL,
	FAKERM_USER_CHANNEL,
	FAKERM_P2P,
	FAKERM_LAUNCH,
	FAKERM_KIND_COUNT
};

struct fakerm_gpu;

struct fakerm_object {
	struct hlist_node node; /* of the registry */
	enum fakerm_kind kind;
	struct fakerm_gpu *gpu; /* borrowed; NULL: of none */
};

/* Makes @object alive.  Its gpu may be NULL. */
void fakerm_object_add(struct fakerm_object *object, enum fakerm_kind kind, struct fakerm_gpu *gpu);
void fakerm_object_remove(struct fakerm_object *object);

/*
 * fakerm_object_find - is @handle an object of this kind?
 * @who: function that was given it, for the log
 *
 * Return: @handle, or NULL: it is not, and the log says so.
 */
void *fakerm_object_find(const void *handle, enum fakerm_kind kind, const char *who);

/* Logs what is alive.  Return: how many. */
unsigned int fakerm_object_leaks(void);

/* --- video memory -------------------------------------------------------------- */

/*
 * Frames of 64 KiB.  A frame is free, or used; used ones may be pinned, which the driver
 * cannot be asked to give back.  One that is being evicted belongs to who asked for it,
 * also when the driver has freed it.
 */
struct fakerm_pma {
	spinlock_t lock;
	unsigned long frames;
	/* One bit a frame; under lock. */
	unsigned long *used, *pinned, *evicting, *scratch;
	UvmPmaStatistics stats; /* written under lock, read by the driver without */
	struct mutex callbacks_lock;
	uvmPmaEvictPagesCallback evict_pages;
	uvmPmaEvictRangeCallback evict_range;
	void *callback_data;
};

/* What an allocation asks for; all in frames. */
struct fakerm_pma_want {
	unsigned long count; /* pages */
	unsigned long page_frames, align_frames;
	unsigned long begin, end; /* where */
	bool is_contiguous, is_pinned, is_partial, may_evict;
};

int fakerm_pma_init(struct fakerm_pma *pma, u64 bytes);
void fakerm_pma_fini(struct fakerm_pma *pma);

/*
 * fakerm_pma_alloc - frames for @want
 * @addresses: of each page, or of the first one if they are contiguous
 * @count_out: pages; fewer than wanted only with is_partial
 *
 * Context: may sleep only with may_evict.
 * Return: 0, or -ENOMEM.
 */
int fakerm_pma_alloc(struct fakerm_pma *pma, const struct fakerm_pma_want *want, u64 *addresses,
		     unsigned long *count_out);

/* One piece of @frames frames; false: not all of it was in use, which is logged. */
bool fakerm_pma_free(struct fakerm_pma *pma, u64 address, unsigned long frames);

/* -EBUSY: it is being evicted; -EINVAL: not used, or pinned (unpinned) already. */
int fakerm_pma_pin(struct fakerm_pma *pma, u64 address, unsigned long frames, bool pin);

/* Frames in use, RM's own not counted. */
unsigned long fakerm_pma_in_use(struct fakerm_pma *pma);

/* --- a GPU --------------------------------------------------------------------- */

/* Packets of non-replayable faults: there are none, but the driver wants room for some. */
#define FAKERM_SHADOW_PACKETS 64

/* What InitAccessCntrInfo hands out: no counter ever counts. */
#define FAKERM_ACCESS_COUNTER_BYTES (256 * 32)

struct fakerm_access_counters {
	volatile NvU32 get, put, full, intr, intr_enable_set, intr_enable_clear;
	void *buffer;
};

struct fakerm_gpu {
	u32 index;
	NvProcessorUuid uuid;
	struct pci_dev *pdev; /* counted */

	struct mutex lock;
	/* Under lock. */
	struct sgpu_gpu model;
	u32 registrations;
	bool has_fault_info, has_access_counter_info;
	u32 next_channel, next_launch;
	u32 launches; /* all there are, attached or not */
	DECLARE_BITMAP(instances, FAKERM_INSTANCES);
	struct list_head user_channels;

	void *vidmem, *fault_packets, *shadow_packets;
	struct fakerm_access_counters access_counters;
	struct fakerm_pma pma;

	struct task_struct *engine;
	wait_queue_head_t engine_wait; /* the engine, until there is something to do */
	wait_queue_head_t done_wait;   /* others, until a launch is done */
	struct irq_work interrupt;
	/* nvidia-uvm owns the replayable fault interrupt.  Under lock. */
	bool uvm_owns_interrupt;
};

struct fakerm_settings {
	unsigned int vidmem_mb, sms, warps_per_sm, sms_per_utlb, faults_per_utlb, fault_packets;
	unsigned int stop_timeout_ms, poll_us, spin_us;
	unsigned long seed;
};

extern struct fakerm_settings fakerm_settings;
extern struct fakerm_gpu *fakerm_gpus[FAKERM_GPUS_MAX];
extern unsigned int fakerm_gpu_count;
extern struct rw_semaphore fakerm_events_lock;
extern struct UvmOpsUvmEvents *fakerm_events; /* the driver's; under fakerm_events_lock */

struct fakerm_gpu *fakerm_gpu_by_uuid(const NvProcessorUuid *uuid);

/* gpu.c; -ENOMEM, -EINVAL: the settings make no GPU; -EIO: the device cannot map for DMA. */
int fakerm_gpu_create(u32 index, struct pci_dev *pdev, struct fakerm_gpu **gpu_out);
void fakerm_gpu_destroy(struct fakerm_gpu *gpu);

/* engine.c */
int fakerm_engine_start(struct fakerm_gpu *gpu);
void fakerm_engine_stop(struct fakerm_gpu *gpu);
/* There may be something to do for an engine that sleeps for good. */
void fakerm_engine_wake(struct fakerm_gpu *gpu);

/* --- what hangs from it -------------------------------------------------------- */

struct fakerm_session {
	struct fakerm_object object;
};

struct fakerm_device {
	struct fakerm_object object;
};

/* The driver's own, or one of a client that the driver duplicated, once or more often. */
struct fakerm_vas {
	struct fakerm_object object;
	struct sgpu_vas vas;
	u32 client; /* hClient; its hVaSpace is vas.handle */
	/* Under the GPU's lock. */
	u32 duplicates; /* handles that were given out */
	u32 users;      /* TSGs and user channels */
};

/* Memory that RM allocated; mapped in one address space, or in several. */
struct fakerm_memory {
	struct fakerm_object object;
	struct kref refs; /* mappings */
	u8 *bytes_at;
	u64 bytes;
	bool is_vidmem;
	u64 offset; /* in video memory */
};

struct fakerm_mapping {
	struct sgpu_mapping mapping;
	struct fakerm_memory *memory; /* counted */
	u32 cpu_maps;
};

struct fakerm_tsg {
	struct fakerm_object object;
	struct fakerm_vas *vas; /* borrowed: it counts us in users */
	u32 engine;             /* copy engine */
	u32 channels;           /* under the GPU's lock */
};

struct fakerm_channel {
	struct fakerm_object object;
	struct fakerm_tsg *tsg; /* borrowed: it counts us in channels */
	struct sgpu_channel channel;
	NvNotification notifier;
	volatile NvU32 doorbell, token;
};

/* A client's channel that the driver retained, once or more often. */
struct fakerm_user_channel {
	struct fakerm_object object;
	struct list_head of_gpu;
	struct fakerm_vas *vas; /* borrowed: it counts us in users */
	u32 client, handle;
	u32 instance; /* index of its block in video memory */
	/* Under the GPU's lock. */
	u32 refs;
	bool is_bound, is_stopped;
};

/* Takes launches of a channel out of the model, or with @channel 0 those of the address
 * space; they are killed.  Under the GPU's lock. */
void fakerm_launch_detach(struct fakerm_gpu *gpu, const struct sgpu_vas *vas, u32 channel);

/* Marks launches that are done, and wakes who waits for one.  Under the GPU's lock. */
void fakerm_launch_poll(struct fakerm_gpu *gpu);

/* The files' side of it; launch.c. */
struct fakerm_file {
	struct mutex lock;
	struct list_head launches; /* under lock */
};

int fakerm_launch_create(struct fakerm_file *file, struct sgpu_launch_args *args);
int fakerm_launch_wait(struct fakerm_file *file, struct sgpu_wait_args *args);
int fakerm_launch_warp(struct fakerm_file *file, struct sgpu_warp_args *args);
int fakerm_launch_free(struct fakerm_file *file, const struct sgpu_launch_id *id);
void fakerm_launch_free_all(struct fakerm_file *file);

int fakerm_device_register(void);
void fakerm_device_unregister(void);

#endif
