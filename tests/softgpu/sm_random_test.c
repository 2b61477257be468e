/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Random programs beside a flat interpreter.  A toy driver moves pages about while they run: it
 * unmaps, invalidates, copies, leaves rubbish behind, maps elsewhere, and answers faults.  Each
 * lane has bytes of its own in each page; counters are shared, but only added to.  In the end
 * memory, registers and misses are the interpreter's.  A driver that forgets its invalidates,
 * or whose invalidates are lost, is found out.
 */
#include "tests/softgpu/rig.h"

#define VA 0x700000000000ull
#define PAGES 16u /* one of the shared counters follows */
#define FRAMES 64u
#define WARPS 8u
#define LANE_BYTES 16u /* of each page: WARPS * 32 * 16 are one */
#define INSNS 400u
#define RUBBISH 0xee
#define SEEDS 60u
#define STEPS_MAX 200000u

#ifdef __SANITIZE_THREAD__
#define SEEDS_PART 10
#else
#define SEEDS_PART 1
#endif

/* 0 to 7: data. */
enum { R_MASK = 8, R_ADDRESS, R_BASE, R_LANE, R_ONE, R_LIMIT, R_COUNTER, R_WASTE };

struct program {
	struct sgpu_insn insns[INSNS];
	uint32_t count;
	uint64_t random;
	uint32_t jump; /* a forward jump whose target is not known yet, or 0 */
};

static uint32_t pick(uint64_t *random, uint32_t below)
{
	return (uint32_t)((test_random(random) >> 32) % below);
}

/* --- programs ---------------------------------------------------------------- */

static void emit(struct program *p, struct sgpu_insn insn)
{
	TEST_TRUE(p->count < INSNS);
	p->insns[p->count++] = insn;
}

static uint8_t data_register(struct program *p)
{
	return (uint8_t)pick(&p->random, R_MASK);
}

static uint32_t some_lanes(struct program *p)
{
	return pick(&p->random, 3) ? 0 : (uint32_t)test_random(&p->random);
}

static void emit_plain(struct program *p)
{
	static const uint8_t ops[] = { SGPU_OP_NOP,      SGPU_OP_MOV_IMM, SGPU_OP_MOV,
				       SGPU_OP_LANE,     SGPU_OP_WARP,    SGPU_OP_BLOCK,
				       SGPU_OP_ADD,      SGPU_OP_SUB,     SGPU_OP_MUL,
				       SGPU_OP_AND,      SGPU_OP_OR,      SGPU_OP_XOR,
				       SGPU_OP_SHL,      SGPU_OP_SHR,     SGPU_OP_EXPECT_EQ,
				       SGPU_OP_EXPECT_LE };

	emit(p, (struct sgpu_insn){ .op = ops[pick(&p->random, RIG_COUNT(ops))],
				    .rd = data_register(p),
				    .ra = data_register(p),
				    .rb = data_register(p),
				    .lanes = some_lanes(p),
				    .imm = test_random(&p->random) });
}

/* Any page, by lane, and there the lane's own bytes. */
static void emit_memory(struct program *p)
{
	uint32_t op = SGPU_OP_LOAD + pick(&p->random, 6);
	bool is_atomic = op != SGPU_OP_LOAD && op != SGPU_OP_STORE && op != SGPU_OP_PREFETCH;
	uint32_t width = 1u << (is_atomic ? 2 + pick(&p->random, 2) : pick(&p->random, 4));

	emit(p, (struct sgpu_insn){
			.op = SGPU_OP_AND, .rd = R_ADDRESS, .ra = data_register(p), .rb = R_MASK });
	emit(p,
	     (struct sgpu_insn){ .op = SGPU_OP_SHL, .rd = R_ADDRESS, .ra = R_ADDRESS, .imm = 12 });
	emit(p, (struct sgpu_insn){
			.op = SGPU_OP_ADD, .rd = R_ADDRESS, .ra = R_ADDRESS, .rb = R_BASE });
	emit(p, (struct sgpu_insn){ .op = (uint8_t)op,
				    /* Now and then over the address. */
				    .rd = pick(&p->random, 4) ? data_register(p) : R_ADDRESS,
				    .ra = R_ADDRESS,
				    .rb = data_register(p),
				    .rc = data_register(p),
				    .width = (uint8_t)width,
				    .lanes = some_lanes(p),
				    .imm = pick(&p->random, LANE_BYTES / width) * width });
}

static void emit_shared(struct program *p)
{
	emit(p, (struct sgpu_insn){ .op = SGPU_OP_MOV_IMM,
				    .rd = R_ADDRESS,
				    .imm = VA + PAGES * RIG_PAGE + pick(&p->random, 8) * 8 });
	emit(p, (struct sgpu_insn){ .op = SGPU_OP_ATOMIC_ADD,
				    .rd = R_WASTE,
				    .ra = R_ADDRESS,
				    .rb = R_ONE,
				    .width = 8,
				    .lanes = some_lanes(p) });
}

static void emit_group(struct program *p)
{
	uint32_t kind = pick(&p->random, 16);

	/* Jumps end where a group begins: there nothing depends on what was left out. */
	if (p->jump && pick(&p->random, 2)) {
		p->insns[p->jump].imm = p->count;
		p->jump = 0;
	}
	if (kind < 6) {
		emit_memory(p);
	} else if (kind < 8) {
		emit_shared(p);
	} else if (kind == 8) {
		emit(p, (struct sgpu_insn){ .op = SGPU_OP_BARRIER });
	} else if (kind == 9) {
		emit(p, (struct sgpu_insn){ .op = SGPU_OP_COMPUTE, .imm = pick(&p->random, 9) });
	} else if (kind == 10 && !p->jump) {
		p->jump = p->count;
		emit(p, (struct sgpu_insn){ .op = (uint8_t)(SGPU_OP_JUMP + pick(&p->random, 4)),
					    .ra = data_register(p),
					    .rb = data_register(p) });
	} else {
		emit_plain(p);
	}
}

static void program_make(struct program *p, uint64_t seed)
{
	static const struct sgpu_insn before[] = {
		{ .op = SGPU_OP_MOV_IMM, .rd = R_MASK, .imm = PAGES - 1 },
		{ .op = SGPU_OP_MOV_IMM, .rd = R_ONE, .imm = 1 },
		{ .op = SGPU_OP_WARP, .rd = R_BASE },
		{ .op = SGPU_OP_SHL, .rd = R_BASE, .ra = R_BASE, .imm = 9 },
		{ .op = SGPU_OP_LANE, .rd = R_LANE },
		{ .op = SGPU_OP_SHL, .rd = R_LANE, .ra = R_LANE, .imm = 4 },
		{ .op = SGPU_OP_ADD, .rd = R_BASE, .ra = R_BASE, .rb = R_LANE, .imm = VA },
	};
	uint32_t groups;
	uint32_t start;
	uint32_t i;

	memset(p, 0, sizeof(*p));
	p->random = seed * 2 + 1;
	for (i = 0; i < RIG_COUNT(before); i++)
		emit(p, before[i]);
	for (i = 0; i < R_MASK; i++)
		emit(p, (struct sgpu_insn){ .op = SGPU_OP_ADD,
					    .rd = (uint8_t)i,
					    .ra = (uint8_t)i,
					    .rb = i % 2 ? R_BASE : R_LANE });
	emit(p, (struct sgpu_insn){
			.op = SGPU_OP_MOV_IMM, .rd = R_LIMIT, .imm = 1 + pick(&p->random, 4) });
	start = p->count;
	groups = 20 + pick(&p->random, 60);
	for (i = 0; i < groups; i++)
		emit_group(p);
	if (p->jump)
		p->insns[p->jump].imm = p->count;
	emit(p, (struct sgpu_insn){
			.op = SGPU_OP_ADD, .rd = R_COUNTER, .ra = R_COUNTER, .rb = R_ONE });
	emit(p, (struct sgpu_insn){
			.op = SGPU_OP_JUMP_LT, .ra = R_COUNTER, .rb = R_LIMIT, .imm = start });
	emit(p, (struct sgpu_insn){ .op = SGPU_OP_EXIT });
}

/* --- the flat interpreter ---------------------------------------------------- */

struct flat {
	uint8_t memory[(PAGES + 1) * SGPU_PAGE_BYTES];
	uint64_t r[SGPU_REGISTERS][SGPU_LANES];
	uint32_t misses;
	uint32_t warp, warps_per_block;
};

static void flat_memory(struct flat *f, const struct sgpu_insn *i, uint32_t lane)
{
	uint8_t *at = f->memory + (f->r[i->ra][lane] + i->imm - VA);
	uint64_t old = 0;
	uint64_t new = f->r[i->rb][lane];

	if (i->op == SGPU_OP_PREFETCH)
		return;
	TEST_TRUE(at >= f->memory && at + i->width <= f->memory + sizeof(f->memory));
	memcpy(&old, at, i->width);
	if (i->op == SGPU_OP_ATOMIC_ADD)
		new += old;
	if (i->op == SGPU_OP_ATOMIC_CAS && memcmp(&f->r[i->rc][lane], &old, i->width))
		new = old;
	if (i->op != SGPU_OP_LOAD)
		memcpy(at, &new, i->width);
	if (i->op != SGPU_OP_STORE)
		f->r[i->rd][lane] = old;
}

static uint64_t flat_value(const struct flat *f, const struct sgpu_insn *i, uint32_t lane)
{
	uint64_t a = f->r[i->ra][lane];
	uint64_t b = f->r[i->rb][lane];
	uint64_t values[SGPU_OP_COUNT] = {
		[SGPU_OP_MOV_IMM] = i->imm,
		[SGPU_OP_MOV] = a,
		[SGPU_OP_LANE] = lane,
		[SGPU_OP_WARP] = f->warp,
		[SGPU_OP_BLOCK] = f->warp / f->warps_per_block,
		[SGPU_OP_ADD] = a + b + i->imm,
		[SGPU_OP_SUB] = a - b,
		[SGPU_OP_MUL] = a * b,
		[SGPU_OP_AND] = a & b,
		[SGPU_OP_OR] = a | b,
		[SGPU_OP_XOR] = a ^ b,
		[SGPU_OP_SHL] = a << (i->imm % 64),
		[SGPU_OP_SHR] = a >> (i->imm % 64),
	};

	return values[i->op];
}

/* Return: the next instruction. */
static uint32_t flat_insn(struct flat *f, const struct sgpu_insn *i, uint32_t pc)
{
	uint64_t a = f->r[i->ra][0];
	uint64_t b = f->r[i->rb][0];
	bool has_missed = false;
	uint32_t lane;

	if ((i->op == SGPU_OP_JUMP) || (i->op == SGPU_OP_JUMP_EQ && a == b) ||
	    (i->op == SGPU_OP_JUMP_NE && a != b) || (i->op == SGPU_OP_JUMP_LT && a < b))
		return (uint32_t)i->imm;
	for (lane = 0; lane < SGPU_LANES; lane++) {
		if (i->lanes && !(i->lanes & 1u << lane))
			continue;
		if (i->op >= SGPU_OP_LOAD && i->op <= SGPU_OP_PREFETCH)
			flat_memory(f, i, lane);
		else if (i->op >= SGPU_OP_MOV_IMM && i->op < SGPU_OP_LOAD)
			f->r[i->rd][lane] = flat_value(f, i, lane);
		else if (i->op == SGPU_OP_EXPECT_EQ)
			has_missed |= f->r[i->ra][lane] != f->r[i->rb][lane];
		else if (i->op == SGPU_OP_EXPECT_LE)
			has_missed |= f->r[i->ra][lane] > f->r[i->rb][lane];
	}
	f->misses += has_missed;
	return pc + 1;
}

static void flat_run(struct flat *f, const struct program *p, uint32_t warp,
		     const uint64_t *registers)
{
	uint32_t pc = 0;
	uint32_t i;

	f->misses = 0;
	f->warp = warp;
	for (i = 0; i < SGPU_REGISTERS * SGPU_LANES; i++)
		f->r[i / SGPU_LANES][i % SGPU_LANES] = registers[i / SGPU_LANES];
	while (p->insns[pc].op != SGPU_OP_EXIT)
		pc = flat_insn(f, &p->insns[pc], pc);
}

/* --- the toy driver ---------------------------------------------------------- */

enum trouble { NONE, NO_INVALIDATES, LOST_INVALIDATES };

struct driver {
	struct rig rig;
	enum trouble trouble;
	uint64_t random;
	struct sgpu_address frames[FRAMES];
	bool is_used[FRAMES];
	struct {
		uint32_t frame;
		bool is_mapped;
	} pages[PAGES + 1];
	uint64_t serviced, moved;
};

static uint8_t *page_bytes(struct driver *d, uint32_t page)
{
	return world_at(&d->rig.world, d->frames[d->pages[page].frame]);
}

static void page_map(struct driver *d, uint32_t page, unsigned int flags)
{
	struct world_mapping mapping = { .va = VA + page * RIG_PAGE,
					 .bytes = RIG_PAGE,
					 .at = d->frames[d->pages[page].frame],
					 .flags = flags };

	world_map(&d->rig.world, &d->rig.vas.pdb, &mapping);
	d->pages[page].is_mapped = true;
}

static void page_unmap(struct driver *d, uint32_t page)
{
	struct sgpu_tlb_range range = {
		.has_root = true,
		.root = d->rig.vas.pdb.root,
		.has_va = true,
		.va = VA + page * RIG_PAGE,
		.bytes = RIG_PAGE,
	};

	if (!d->pages[page].is_mapped)
		return;
	world_unmap(&d->rig.world, &d->rig.vas.pdb, range.va, RIG_PAGE);
	if (d->trouble != NO_INVALIDATES)
		sgpu_gpu_invalidate(d->rig.gpu, &range);
	d->pages[page].is_mapped = false;
}

/* Of a page that is not mapped. */
static void page_move(struct driver *d, uint32_t page)
{
	uint32_t from = d->pages[page].frame;
	uint32_t to = pick(&d->random, FRAMES);

	while (d->is_used[to])
		to = (to + 1) % FRAMES;
	d->is_used[from] = false;
	d->is_used[to] = true;
	memcpy(world_at(&d->rig.world, d->frames[to]), page_bytes(d, page), RIG_PAGE);
	memset(page_bytes(d, page), RUBBISH, RIG_PAGE);
	d->pages[page].frame = to;
	d->moved++;
}

static void driver_service(struct driver *d, const struct sgpu_fault *fault)
{
	uint64_t page = (fault->va - VA) / RIG_PAGE;
	unsigned int flags = 0;

	TEST_TRUE(fault->va >= VA && page <= PAGES);
	TEST_TRUE(fault->instance.address == RIG_INSTANCE);
	if (fault->access == SGPU_ACCESS_WRITE && pick(&d->random, 2))
		flags = WORLD_PTE_NO_ATOMICS;
	if (fault->access == SGPU_ACCESS_READ && pick(&d->random, 2))
		flags = WORLD_PTE_READ_ONLY | WORLD_PTE_NO_ATOMICS;
	if (!d->pages[page].is_mapped && pick(&d->random, 2))
		page_move(d, (uint32_t)page);
	/* More permission in the same place needs no invalidate; less may come later. */
	page_map(d, (uint32_t)page, flags);
	d->serviced++;
}

static void driver_step(struct driver *d)
{
	uint32_t packets = 1 + pick(&d->random, 2 * d->rig.params.fault_count);
	uint32_t page = pick(&d->random, PAGES + 1);
	struct sgpu_fault fault;
	bool is_due = false;

	if (pick(&d->random, 4) == 0) {
		page_unmap(d, page);
		if (!d->pages[page].is_mapped && pick(&d->random, 2))
			page_move(d, page);
	}
	if (pick(&d->random, 3))
		return;
	for (; packets > 0 && rig_take(&d->rig, &fault); packets--) {
		driver_service(d, &fault);
		is_due = true;
	}
	if (is_due)
		sgpu_sm_replay(d->rig.gpu);
}

static void driver_begin(struct driver *d, uint64_t seed, enum trouble trouble)
{
	uint32_t i;

	rig_init(&d->rig);
	d->random = seed * 2 + 1001;
	d->trouble = trouble;
	d->serviced = d->moved = 0;
	memset(d->is_used, 0, sizeof(d->is_used));
	d->rig.params.seed = seed;
	d->rig.params.sms = 1 + pick(&d->random, 6);
	d->rig.params.sms_per_utlb = 1 + pick(&d->random, 3);
	d->rig.params.warps_per_sm = 4 + pick(&d->random, 4);
	d->rig.params.faults_per_utlb = 1 + pick(&d->random, 20);
	d->rig.params.fault_count = 2u << pick(&d->random, 6);
	rig_start(&d->rig);
	if (trouble == LOST_INVALIDATES)
		TEST_EQ(sgpu_inject_set(&d->rig.gpu->inject, SGPU_INJECT_INVALIDATE_LOST, 1000), 0);
	if (seed % 3 == 0)
		TEST_EQ(sgpu_inject_set(&d->rig.gpu->inject, SGPU_INJECT_FAULT_REPEATED, 300), 0);
	for (i = 0; i < FRAMES; i++)
		d->frames[i] =
			world_take(&d->rig.world,
				   i % 2 ? SGPU_APERTURE_VIDMEM : SGPU_APERTURE_SYSMEM, RIG_PAGE);
	for (i = 0; i <= PAGES; i++) {
		d->pages[i].frame = i;
		d->pages[i].is_mapped = false;
		d->is_used[i] = true;
	}
}

/* --- both -------------------------------------------------------------------- */

static struct driver driver;
static struct flat flat;
static struct program program;

/* Return: how much of a warp is not the interpreter's. */
static uint32_t warp_compare(const struct sgpu_warp *warp)
{
	uint32_t wrong = warp->report.misses != flat.misses || warp->state != SGPU_WARP_EXITED;
	uint32_t i;

	for (i = 0; i < R_WASTE * SGPU_LANES; i++)
		wrong += warp->registers[i / SGPU_LANES][i % SGPU_LANES] !=
			 flat.r[i / SGPU_LANES][i % SGPU_LANES];
	return wrong;
}

/* Return: how many bytes and registers are wrong. */
static uint32_t run(uint64_t seed, enum trouble trouble)
{
	uint64_t registers[SGPU_REGISTERS] = { 0 };
	struct rig_program to_launch = { program.insns, 0, WARPS, 0, registers };
	struct sgpu_launch *launch;
	uint32_t wrong = 0;
	uint32_t steps;
	uint32_t i;

	driver_begin(&driver, seed, trouble);
	program_make(&program, seed);
	for (i = 0; i < R_MASK; i++)
		registers[i] = test_random(&driver.random);
	for (i = 0; i < sizeof(flat.memory); i++) {
		flat.memory[i] = (uint8_t)test_random(&driver.random);
		page_bytes(&driver, i / SGPU_PAGE_BYTES)[i % SGPU_PAGE_BYTES] = flat.memory[i];
	}
	to_launch.count = program.count;
	to_launch.warps_per_block = flat.warps_per_block = 1 + pick(&driver.random, 4);
	launch = rig_launch(&driver.rig, &to_launch);
	for (steps = 0; !sgpu_launch_is_done(launch); steps++) {
		TEST_TRUE(steps < STEPS_MAX);
		driver.rig.now_ns += 10;
		sgpu_sm_step(driver.rig.gpu, driver.rig.now_ns, pick(&driver.random, 40));
		rig_check(&driver.rig);
		driver_step(&driver);
	}
	for (i = 0; i < WARPS; i++) {
		flat_run(&flat, &program, i, registers);
		wrong += warp_compare(&launch->warps[i]);
	}
	for (i = 0; i < sizeof(flat.memory); i++)
		wrong += page_bytes(&driver, i / SGPU_PAGE_BYTES)[i % SGPU_PAGE_BYTES] !=
			 flat.memory[i];
	TEST_TRUE(driver.serviced > PAGES / 2 && driver.moved > PAGES / 2);
	rig_free(launch);
	rig_fini(&driver.rig);
	return wrong;
}

static void sgpu_sm_step_random(void)
{
	uint64_t seed;
	uint32_t wrong;

	for (seed = 0; seed < SEEDS / SEEDS_PART; seed++) {
		wrong = run(seed, NONE);
		if (wrong)
			fprintf(stderr, "seed %llu: %u wrong\n", (unsigned long long)seed, wrong);
		TEST_EQ(wrong, 0);
	}
}

static uint32_t found_of(enum trouble trouble)
{
	uint32_t found = 0;
	uint64_t seed;

	for (seed = 0; seed < 10; seed++)
		found += run(seed, trouble) != 0;
	return found;
}

static void sgpu_sm_step_no_invalidates(void)
{
	TEST_TRUE(found_of(NO_INVALIDATES) >= 5);
}

static void sgpu_sm_step_lost_invalidates(void)
{
	TEST_TRUE(found_of(LOST_INVALIDATES) >= 5);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(sgpu_sm_step_random),
		TEST(sgpu_sm_step_no_invalidates),
		TEST(sgpu_sm_step_lost_invalidates),
		{ 0 },
	};

	return test_main(argc, argv, tests);
}
