/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/verdict.h"

#include <math.h>
#include <string.h>

static enum bench_verdict judge(struct bench_interval r)
{
	if (isnan(r.v))
		return BENCH_VERDICT_NONE;
	if (r.hi < 1.0)
		return BENCH_VERDICT_GAIN;
	if (r.hi <= BENCH_NOT_SLOWER)
		return BENCH_VERDICT_NO_GAIN;
	return r.lo > 1.0 ? BENCH_VERDICT_SLOWER : BENCH_VERDICT_OPEN;
}

const char *bench_ratio_word(struct bench_interval ratio)
{
	switch (judge(ratio)) {
	case BENCH_VERDICT_GAIN:
		return "faster";
	case BENCH_VERDICT_NO_GAIN:
		return "not slower";
	case BENCH_VERDICT_OPEN:
		return "open";
	case BENCH_VERDICT_SLOWER:
		return "slower";
	case BENCH_VERDICT_NONE:
		break;
	}
	return "-";
}

static void say_judged(const struct bench_row *wic, struct bench_verdict_text *out)
{
	struct bench_delay_text where = bench_delay_text(wic->producer_delay);
	struct bench_interval r = wic->ratio_best;
	char figures[160];

	out->verdict = judge(r);
	snprintf(figures, sizeof(figures),
		 "T_run ratio %.3f, 95 %% interval %.3f to %.3f; %.0f %% of wic's waits parked",
		 r.v, r.lo, r.hi, wic->parked_pct);
	switch (out->verdict) {
	case BENCH_VERDICT_GAIN:
		snprintf(out->text, sizeof(out->text),
			 "At %s wic takes %.1f %% less time than %s, the best other method "
			 "(%s).",
			 where.s, 100 * (1 - r.v), wic->best_rival, figures);
		break;
	case BENCH_VERDICT_NO_GAIN:
		snprintf(out->text, sizeof(out->text),
			 "No gain here: at %s wic is not slower than %s, the best other "
			 "method, "
			 "and not clearly faster (%s).",
			 where.s, wic->best_rival, figures);
		break;
	case BENCH_VERDICT_OPEN:
		snprintf(out->text, sizeof(out->text),
			 "No gain shown here: at %s the interval against %s, the best other "
			 "method, holds both faster and slower (%s). More repeats would narrow it.",
			 where.s, wic->best_rival, figures);
		break;
	case BENCH_VERDICT_SLOWER:
		snprintf(out->text, sizeof(out->text),
			 "No gain here: at %s wic takes %.1f %% more time than %s, the best "
			 "other "
			 "method (%s).",
			 where.s, 100 * (r.v - 1), wic->best_rival, figures);
		break;
	case BENCH_VERDICT_NONE:
		snprintf(out->text, sizeof(out->text),
			 "No verdict: the ratio against %s could not be formed.", wic->best_rival);
		break;
	}
}

/* At R = 0.9, or where R is the kernels' own. */
static const struct bench_row *find_verdict_row(const struct bench_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(rows[i].method, "wic") &&
		    !(fabs(rows[i].producer_delay - BENCH_VERDICT_DELAY) >= 1e-9))
			return &rows[i];
	return NULL;
}

void bench_verdict_make(const struct bench_row *rows, uint32_t count,
			struct bench_verdict_text *out)
{
	const struct bench_row *wic = find_verdict_row(rows, count);
	size_t length;

	out->verdict = BENCH_VERDICT_NONE;
	for (uint32_t i = 0; i < count; i++) {
		if (rows[i].correct)
			continue;
		snprintf(out->text, sizeof(out->text),
			 "No verdict: %s at %s did not give the correct result (%.200s).",
			 rows[i].method, bench_delay_text(rows[i].producer_delay).s, rows[i].why);
		return;
	}
	if (!wic) {
		snprintf(out->text, sizeof(out->text),
			 "No verdict: wic was not measured at R = 0.9, where it is given.");
		return;
	}
	if (!wic->best_rival) {
		snprintf(out->text, sizeof(out->text),
			 "No verdict: no other method was measured to compare wic with.");
		return;
	}
	/* Kernels that pace themselves ask what waiting for data that is there costs. */
	if (!isnan(wic->producer_delay) && !(wic->parked_pct > BENCH_VERDICT_PARKED_PCT)) {
		snprintf(out->text, sizeof(out->text),
			 "This measured nothing: only %.0f %% of wic's waits parked at R = 0.9 "
			 "(more "
			 "than 30 %% must). The data was mostly there before a warp asked for it, "
			 "so "
			 "how a warp waits made no difference.",
			 isnan(wic->parked_pct) ? 0.0 : wic->parked_pct);
		return;
	}
	say_judged(wic, out);
	length = strlen(out->text);
	if (wic->repeats < BENCH_REPEATS_MIN)
		snprintf(out->text + length, sizeof(out->text) - length,
			 " Only %u repeats: for trying out, not a result (7 are asked for).",
			 wic->repeats);
}
