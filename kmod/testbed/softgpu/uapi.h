/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What user space and the software GPU share: warp programs, counters, injected faults and
 * the calls of /dev/softgpu.  Used by the model, by its kernel module and by libsoftgpu; all
 * numbers are of a testbed and may change between versions of it.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_UAPI_H
#define WIC_KMOD_TESTBED_SOFTGPU_UAPI_H

#ifdef __KERNEL__
#include <linux/ioctl.h>
#include <linux/types.h>
#else
#include <stdint.h>
#include <sys/ioctl.h>
#endif

#define SGPU_LANES 32
#define SGPU_REGISTERS 16
#define SGPU_PROGRAM_MAX 4096 /* instructions */
#define SGPU_LAUNCH_WARPS_MAX 8192
#define SGPU_BLOCK_WARPS_MAX 32
#define SGPU_LAUNCHES_MAX 64 /* at a time, of one GPU */

/*
 * A warp has 16 registers of 64 bits in each of its 32 lanes, and one program counter: lanes do
 * not diverge, a branch looks at lane 0.  A memory instruction runs for the lanes of its mask
 * and retires when all of them have succeeded; a lane that has succeeded is not run again after
 * a replay.
 *
 * "ra", "rb": registers; "imm": the immediate, the same for all lanes; address: ra + imm.
 */
enum sgpu_op {
	SGPU_OP_EXIT = 0,
	SGPU_OP_NOP,
	SGPU_OP_MOV_IMM, /* rd = imm */
	SGPU_OP_MOV,     /* rd = ra */
	SGPU_OP_LANE,    /* rd = index of the lane */
	SGPU_OP_WARP,    /* rd = index of the warp in its launch */
	SGPU_OP_BLOCK,   /* rd = index of the block */
	SGPU_OP_SM,      /* rd = index of the SM that runs it */
	SGPU_OP_TIME,    /* rd = nanoseconds of the GPU's clock */
	SGPU_OP_ADD,     /* rd = ra + rb + imm; also SUB, MUL: without imm */
	SGPU_OP_SUB,
	SGPU_OP_MUL,
	SGPU_OP_AND,
	SGPU_OP_OR,
	SGPU_OP_XOR,
	SGPU_OP_SHL, /* rd = ra << (imm & 63) */
	SGPU_OP_SHR,
	SGPU_OP_LOAD,        /* rd = memory, width bytes, zero-extended */
	SGPU_OP_STORE,       /* memory = rb */
	SGPU_OP_ATOMIC_ADD,  /* rd = memory, memory += rb; width 4 or 8 */
	SGPU_OP_ATOMIC_EXCH, /* rd = memory, memory = rb */
	SGPU_OP_ATOMIC_CAS,  /* rd = memory, if it is rc: memory = rb */
	SGPU_OP_PREFETCH,    /* asks for the page and does not wait */
	SGPU_OP_COMPUTE,     /* takes imm turns of its SM */
	SGPU_OP_BARRIER,     /* until all warps of the block that have not ended are here */
	SGPU_OP_JUMP,        /* to instruction imm */
	SGPU_OP_JUMP_EQ,     /* if ra == rb in lane 0; also NE, LT (unsigned) */
	SGPU_OP_JUMP_NE,
	SGPU_OP_JUMP_LT,
	SGPU_OP_EXPECT_EQ, /* in each lane of the mask ra == rb, else the warp notes a miss */
	SGPU_OP_EXPECT_LE, /* ra <= rb, unsigned */
	SGPU_OP_COUNT
};

struct sgpu_insn {
	uint8_t op;             /* enum sgpu_op */
	uint8_t rd, ra, rb, rc; /* below SGPU_REGISTERS */
	uint8_t width;          /* of memory instructions: 1, 2, 4 or 8 bytes, aligned */
	uint16_t reserved;      /* 0 */
	uint32_t lanes;         /* mask of those that take part; 0: all */
	uint32_t reserved2;     /* 0 */
	uint64_t imm;
};

enum sgpu_warp_state {
	SGPU_WARP_PENDING = 0, /* no SM has had room for it yet */
	SGPU_WARP_READY,
	SGPU_WARP_STALLED, /* on a fault, until a replay */
	SGPU_WARP_AT_BARRIER,
	SGPU_WARP_EXITED,
	SGPU_WARP_FAULTED, /* its access was cancelled */
	SGPU_WARP_KILLED,  /* its channel was stopped, or its launch killed */
	SGPU_WARP_ILLEGAL, /* misaligned */
};

struct sgpu_warp_report {
	uint32_t state; /* enum sgpu_warp_state */
	uint32_t pc;
	uint32_t misses; /* EXPECT_* that did not hold */
	/* Of the first miss. */
	uint32_t miss_pc, miss_lane;
	uint32_t sm;
	uint64_t miss_got, miss_want;
	uint64_t faults;                    /* packets that it wrote or tried to write */
	uint64_t replays;                   /* times that it was resumed */
	uint64_t fault_va;                  /* last one */
	uint64_t registers[SGPU_REGISTERS]; /* of lane 0 */
};

/* Of one GPU, since the module was loaded. */
struct sgpu_counters {
	uint64_t pushes; /* GPFIFO entries that were run */
	uint64_t methods;
	uint64_t copies, copy_bytes, memsets, memset_bytes; /* copy engine */
	uint64_t releases, acquires, acquire_stalls;        /* semaphores */
	uint64_t invalidates, invalidated; /* TLB methods; entries that they threw out */
	uint64_t tlb_hits, tlb_misses;
	uint64_t membars;
	uint64_t faults, faults_dropped, overflows; /* packets written, packets lost, times full */
	uint64_t interrupts;                        /* pulses delivered */
	uint64_t replays, cancels;                  /* methods */
	uint64_t warps_resumed;                     /* by replays */
	uint64_t warps_cancelled, warps_killed;
	uint64_t instructions;                       /* retired */
	uint64_t loads, stores, atomics, prefetches; /* of lanes */
	uint64_t channel_errors;                     /* each is in the log with its cause */
	uint64_t injected[16];                       /* by enum sgpu_inject_kind */
};

/* Values are one in 1,000 unless said otherwise; 0 is off. */
enum sgpu_inject_kind {
	SGPU_INJECT_INTERRUPT_LOST = 0,
	SGPU_INJECT_INTERRUPT_DOUBLED,
	SGPU_INJECT_INTERRUPT_LATE,  /* microseconds, at most 1,000,000; each pulse */
	SGPU_INJECT_FAULT_LIMIT,     /* packets that the buffer takes before it overflows */
	SGPU_INJECT_COPY_SLOW,       /* microseconds a copy or memset, at most 1,000,000 */
	SGPU_INJECT_REPLAY_LOST,     /* a defect: a control that a test can fail */
	SGPU_INJECT_INVALIDATE_LOST, /* a defect: a control that a test can fail */
	SGPU_INJECT_FAULT_REPEATED,  /* the packet of a fault is written twice */
	/* Exactly one, the value-th from then on, at most the 1,000,000th; then the kind is off. */
	SGPU_INJECT_REPLAY_LOST_AT,
	SGPU_INJECT_INVALIDATE_LOST_AT,
	SGPU_INJECT_COUNT
};

struct sgpu_info {
	uint32_t version; /* SGPU_VERSION */
	uint32_t gpus;
	uint32_t sms, warps_per_sm, sms_per_utlb, faults_per_utlb;
	uint32_t fault_packets; /* of the buffer */
	uint32_t reserved;
	uint64_t vidmem_bytes;
	uint8_t uuid[8][16]; /* of GPU 0, 1, ... */
};

struct sgpu_launch_args {
	uint32_t gpu;
	uint32_t va_space, channel;      /* the hVaSpace and hChannel that nvidia-uvm was given */
	uint32_t warps, warps_per_block; /* at most 8,192 and 32 */
	uint32_t insns;
	uint64_t program;   /* pointer to struct sgpu_insn[insns] */
	uint64_t registers; /* pointer to uint64_t[SGPU_REGISTERS]: all lanes start with these, or 0
			     */
	uint32_t launch;    /* out: its id */
	uint32_t reserved;
};

struct sgpu_wait_args {
	uint32_t gpu, launch;
	uint32_t timeout_ms;                       /* 0: a look */
	uint32_t is_done;                          /* out */
	uint32_t exited, faulted, killed, illegal; /* out: warps */
	uint64_t misses;                           /* out, of all warps */
};

struct sgpu_warp_args {
	uint32_t gpu, launch, warp, reserved;
	struct sgpu_warp_report report; /* out */
};

struct sgpu_launch_id {
	uint32_t gpu, launch;
};

struct sgpu_counters_args {
	uint32_t gpu, reserved;
	struct sgpu_counters counters; /* out */
};

struct sgpu_inject_args {
	uint32_t gpu, kind, value, reserved;
};

#define SGPU_VERSION 1
#define SGPU_IOC_INFO _IOR('G', 0, struct sgpu_info)
/* -ENOENT: no such address space or channel; -EINVAL: program, sizes; -EBUSY: too many. */
#define SGPU_IOC_LAUNCH _IOWR('G', 1, struct sgpu_launch_args)
/* 0 also when it is not done in time: is_done says so; -EINTR; -EINVAL: no such GPU; -ENOENT: no
 * such launch, here and below. */
#define SGPU_IOC_WAIT _IOWR('G', 2, struct sgpu_wait_args)
#define SGPU_IOC_WARP _IOWR('G', 3, struct sgpu_warp_args)
/* Ends all its warps and forgets it; closing the file does so for all launches of the file. */
#define SGPU_IOC_FREE _IOW('G', 4, struct sgpu_launch_id)
#define SGPU_IOC_COUNTERS _IOWR('G', 5, struct sgpu_counters_args)
#define SGPU_IOC_INJECT _IOW('G', 6, struct sgpu_inject_args)

#endif
