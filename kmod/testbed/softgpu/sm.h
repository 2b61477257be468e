/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * SMs, and the warps that run programs on them.
 *
 * A launch is a grid of blocks of warps of one program in one address space.  A block becomes
 * resident on an SM when there is room for all its warps and stays until they have ended; an SM
 * gives its ready warps turns in an order that the seed decides, an instruction a turn.
 *
 * A lane whose translation fails makes its warp stall, precisely: the instruction has not
 * retired, lanes that had succeeded are done.  For each page that a warp waits for a packet is
 * written, as long as its uTLB has room for it among its outstanding faults; else the warp
 * stalls all the same and asks again after the next replay.  A replay (start) makes all stalled
 * warps of the GPU try again; their outstanding faults are forgotten.  A cancel ends those whose
 * fault it names, and replays the others.  Where a launch is killed and others wait for the room
 * that its outstanding faults took, these try again as well: nobody would replay for them.
 *
 *   pending -> ready <-> stalled           a fault, a replay
 *                    <-> at a barrier
 *                     -> exited, illegal   and from each state: killed; from stalled: faulted
 *
 * A ready warp is on one of two lists of its SM, a stalled one on the third, the others on none:
 * a step without ready warps looks at no warp.  Who had its turn waits until all others that were
 * ready had theirs.
 *
 * Locking: as bus.h says.
 */
#ifndef WIC_KMOD_TESTBED_SOFTGPU_SM_H
#define WIC_KMOD_TESTBED_SOFTGPU_SM_H

#include "uapi.h"
#include "vas.h"

struct sgpu_gpu;
struct sgpu_launch;

struct sgpu_warp {
	struct sgpu_launch *launch;
	enum sgpu_warp_state state;
	uint32_t index, pc, sm;
	uint32_t lanes_done;   /* of the memory instruction at pc */
	uint64_t compute_left; /* turns */
	/* Stalled: of each page whose packet was written (or dropped) the first lane.  So many
	 * outstanding faults of its uTLB are this warp's. */
	uint32_t lanes_faulting;
	uint32_t fault_access;          /* enum sgpu_access */
	struct sgpu_warp *next;         /* of its SM's list */
	struct sgpu_warp_report report; /* counts and the first miss; filled in on demand */
	uint64_t registers[SGPU_REGISTERS][SGPU_LANES];
};

struct sgpu_launch {
	struct sgpu_launch *next; /* of the GPU */
	struct sgpu_gpu *gpu;
	struct sgpu_vas *vas;
	struct sgpu_address instance; /* of its channel, as fault packets name it */
	uint32_t channel_handle;
	uint32_t id;
	uint32_t warp_count, warps_per_block;
	uint32_t next_block;           /* the first that is not resident yet */
	uint32_t ended;                /* warps */
	bool is_stopped;               /* no further block starts */
	bool is_draining;              /* a warp is killed after its next turn, unless it stalls */
	const struct sgpu_insn *insns; /* borrowed, until the launch is taken out */
	struct sgpu_warp *warps;       /* borrowed: warp_count of them */
};

/*
 * sgpu_program_check - is this a program?
 *
 * Return: 0, or -EINVAL with the first bad instruction in @bad_out: an unknown op, a register or
 * width out of range (0 where it means nothing), a jump outside or a last instruction that is
 * neither EXIT nor JUMP, a reserved field that is not 0; or one longer than
 * SGPU_PROGRAM_MAX, or empty (@bad_out then is @count).
 */
int sgpu_program_check(const struct sgpu_insn *insns, uint32_t count, uint32_t *bad_out);

/*
 * sgpu_launch_start - @launch's warps become pending
 *
 * The caller has set gpu, vas, instance, channel_handle, id, the counts, insns and warps; insns
 * have been checked.  @registers: what all lanes start with, or NULL.
 *
 * Return: 0, or -EINVAL: no warps, too many, or blocks larger than an SM takes.
 */
int sgpu_launch_start(struct sgpu_launch *launch, const uint64_t *registers);

/* Ends all warps that have not ended (SGPU_WARP_KILLED), and forgets their faults. */
void sgpu_launch_kill(struct sgpu_launch *launch);

/* Takes a launch out of the GPU, and kills it first if it has not ended; its memory is the
 * caller's again. */
void sgpu_launch_remove(struct sgpu_launch *launch);

bool sgpu_launch_is_done(const struct sgpu_launch *launch);

/* @warp: below warp_count. */
void sgpu_launch_report(const struct sgpu_launch *launch, uint32_t warp,
			struct sgpu_warp_report *report_out);

/* Which faults a cancel names. */
struct sgpu_cancel {
	bool is_global;  /* all that are outstanding */
	bool has_client; /* targeted: of this GPC and client */
	uint32_t gpc, client;
	uint64_t va;          /* else those of this page... */
	uint32_t access_mask; /* ...and of these accesses: bits of enum sgpu_access */
	/* Of any form: only those of this address space. */
	bool has_root;
	struct sgpu_address root;
};

/* All stalled warps try again; what inject.h loses of replays is lost by the host.  Return: how
 * many. */
uint32_t sgpu_sm_replay(struct sgpu_gpu *gpu);

/* Return: how many warps ended. */
uint32_t sgpu_sm_cancel(struct sgpu_gpu *gpu, const struct sgpu_cancel *cancel);

/* Places blocks, gives turns; at most @budget instructions.  Return: how many. */
uint32_t sgpu_sm_step(struct sgpu_gpu *gpu, uint64_t now_ns, uint32_t budget);

/* Outstanding faults of the launches of a channel; those of an address space with @channel 0, of
 * all with @vas NULL. */
uint32_t sgpu_sm_outstanding(const struct sgpu_gpu *gpu, const struct sgpu_vas *vas,
			     uint32_t channel);

/* Kills the launches of a channel, or with @channel 0 of an address space. */
void sgpu_sm_stop(struct sgpu_gpu *gpu, const struct sgpu_vas *vas, uint32_t channel);

#endif
