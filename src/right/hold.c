/* When a share changes: growth at once, shrinking late, trifles never. */
#include "right/hold.h"

#include "base/number.h"

#define FULL_MILLI 1000

const char *hold_why_name(enum hold_why why)
{
	static const char *const names[HOLD_WHYS] = {
		[HOLD_SAME] = "Applied",
		[HOLD_CONVERTS] = "Applied",
		[HOLD_GROWS] = "Applied",
		[HOLD_SHRINKS] = "Applied",
		[HOLD_UNKNOWN] = "Unknown",
		[HOLD_SMALL] = "BelowThreshold",
		[HOLD_LEARNING] = "Learning",
		[HOLD_STALE] = "Stale",
		[HOLD_DELAY] = "ScaleDownDelay",
		[HOLD_HEALING] = "Healing",
		[HOLD_SCALED] = "HorizontalScalerOnGPU",
		[HOLD_ACTIVE] = "InUse",
	};
	return names[why];
}

static bool is_worth(int64_t from, int64_t to, int64_t least, const struct sizing *s)
{
	int64_t delta = from > to ? from - to : to - from;
	return delta >= least && delta * 100 >= from * s->min_change_percent;
}

static struct hold_part hold_result(enum hold_why why, int64_t next_ms)
{
	return (struct hold_part){why, next_ms};
}

/* What keeps any share from becoming smaller now; HOLD_SHRINKS: nothing. */
static struct hold_part check_shrink(const struct hold_ask *ask, int64_t since_ms)
{
	const struct sizing *s = ask->sizing;
	int64_t due = since_ms + s->scale_down_delay_s * 1000;
	int64_t idle_due = ask->facts.active_ms + s->shrink_idle_s * 1000;
	if (ask->facts.state == HISTORY_STALE) {
		return hold_result(HOLD_STALE, 0);
	}
	if (ask->facts.state != HISTORY_SUFFICIENT) {
		return hold_result(HOLD_LEARNING, 0);
	}
	if (ask->now_ms < due) {
		return hold_result(HOLD_DELAY, due);
	}
	if (ask->now_ms < ask->blocked_ms) {
		return hold_result(HOLD_HEALING, ask->blocked_ms);
	}
	if (s->shrink_idle_s > 0 && ask->now_ms < idle_due) {
		return hold_result(HOLD_ACTIVE, idle_due);
	}
	return hold_result(HOLD_SHRINKS, 0);
}

/* --- from a whole GPU --- */

static void convert(const struct hold_ask *ask, struct hold_answer *ret)
{
	struct hold_part part = check_shrink(ask, ask->facts.first_ms);
	if (ask->wanted.milli == 0 || ask->wanted.mib == 0) {
		part = hold_result(HOLD_UNKNOWN, 0);
	} else if (ask->keeps_compute) {
		part = hold_result(HOLD_SCALED, 0); /* memory alone makes no room for anybody */
	} else if (ask->wanted.milli >= FULL_MILLI) {
		part = hold_result(HOLD_SAME, 0);
	} else if (!is_worth(FULL_MILLI, ask->wanted.milli, HOLD_MIN_MILLI, ask->sizing)) {
		part = hold_result(HOLD_SMALL, 0);
	} else if (part.why == HOLD_SHRINKS) {
		part.why = HOLD_CONVERTS;
		ret->target = ask->wanted;
		ret->changes = true;
	}
	ret->compute = ret->memory = part;
}

/* --- from one share to another --- */

/* One of compute and memory. */
struct half {
	int64_t current, wanted, least;
	struct history_lower *lower; /* borrowed */
	int64_t target;
};

/* Time in which nothing was heard, or nobody asked, is not time in which less was enough. */
static void skip_silence(const struct hold_ask *ask, struct history_kept *kept)
{
	int64_t silent = kept->told_ms > 0 ? ask->now_ms - kept->told_ms : 0;
	if (ask->facts.state == HISTORY_STALE) {
		return;
	}
	if (silent > 2 * HISTORY_FRESH_MS) {
		kept->compute.since_ms += kept->compute.since_ms > 0 ? silent : 0;
		kept->memory.since_ms += kept->memory.since_ms > 0 ? silent : 0;
	}
	kept->told_ms = silent >= 0 ? ask->now_ms : kept->told_ms;
}

/* Those that are smaller must be so all the time; what is applied in the end is the highest. */
static struct hold_part judge_lower(const struct hold_ask *ask, struct half *x)
{
	if (x->lower->since_ms == 0) {
		*x->lower = (struct history_lower){ask->now_ms, x->wanted};
	}
	x->lower->high = larger_of(x->lower->high, x->wanted);
	struct hold_part part = check_shrink(ask, x->lower->since_ms);
	if (part.why == HOLD_SHRINKS) {
		x->target = x->lower->high;
		*x->lower = (struct history_lower){0};
	}
	return part;
}

static struct hold_part hold_half(const struct hold_ask *ask, struct half *x)
{
	x->target = x->current;
	if (x->wanted == 0) {
		return hold_result(HOLD_UNKNOWN, 0); /* nor is what was pending any less so */
	}
	bool worth = is_worth(x->current, x->wanted, x->least, ask->sizing);
	if (worth && x->wanted < x->current) {
		return judge_lower(ask, x);
	}
	*x->lower = (struct history_lower){0};
	if (!worth) {
		return hold_result(x->wanted == x->current ? HOLD_SAME : HOLD_SMALL, 0);
	}
	if (ask->facts.state == HISTORY_STALE) {
		return hold_result(HOLD_STALE, 0);
	}
	x->target = x->wanted;
	return hold_result(HOLD_GROWS, 0);
}

void hold_step(const struct hold_ask *ask, struct history_kept *kept, struct hold_answer *ret)
{
	*ret = (struct hold_answer){.target = ask->current};
	skip_silence(ask, kept);
	if (ask->whole) {
		kept->compute = kept->memory = (struct history_lower){0};
		convert(ask, ret);
		kept->held = ret->changes ? ret->target : (struct share){0};
		return;
	}
	struct half compute = {
		ask->current.milli, ask->wanted.milli, HOLD_MIN_MILLI, &kept->compute, 0};
	struct half memory = {ask->current.mib, ask->wanted.mib, HOLD_MIN_MIB, &kept->memory, 0};
	if (ask->keeps_compute) {
		kept->compute = (struct history_lower){0};
		compute.target = compute.current;
		ret->compute = hold_result(HOLD_SCALED, 0);
	} else {
		ret->compute = hold_half(ask, &compute);
	}
	ret->memory = hold_half(ask, &memory);
	ret->target = (struct share){compute.target, memory.target};
	ret->changes = compute.target != compute.current || memory.target != memory.current;
	kept->held = ret->target;
}
