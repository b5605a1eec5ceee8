/* From what was measured to a share: need, headroom, step, bounds. */
#include "right/recommend.h"

#include "base/number.h"

#define FULL_MILLI     1000
#define MILLI_PERCENT  10
#define MINUTES_OF_DAY 1440

static int64_t with_headroom(int64_t value, int32_t percent)
{
	return (value * (100 + percent) + 99) / 100;
}

/* --- bounds --- */

struct bounds {
	int64_t min, max, device; /* 0: unset */
};

static int64_t clamp_with_cap(int64_t value, const struct bounds *b, enum capped_by *ret_by)
{
	enum capped_by by = CAPPED_BY_NONE;
	if (value < b->min) {
		value = b->min;
		by = CAPPED_BY_POLICY_MIN;
	}
	/* A policy that allows all of a device does not limit it. */
	bool limits = b->max > 0 && (b->device == 0 || b->max < b->device);
	if (limits && value > b->max) {
		value = b->max;
		by = CAPPED_BY_POLICY_MAX;
	}
	if (b->device > 0 && value > b->device) {
		value = b->device;
		by = CAPPED_BY_DEVICE;
	}
	*ret_by = by;
	return value;
}

static int64_t clamp_to_bounds(int64_t value, const struct bounds *b)
{
	enum capped_by by = CAPPED_BY_NONE;
	return clamp_with_cap(value, b, &by);
}

enum capped_by recommend_capped(const struct recommend_answer *a)
{
	static const enum capped_by order[] = {
		CAPPED_BY_DEVICE, CAPPED_BY_POLICY_MAX, CAPPED_BY_POLICY_MIN};
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		if (a->memory_capped == order[i] || a->compute_capped == order[i]) {
			return order[i];
		}
	}
	return CAPPED_BY_NONE;
}

/* The less is known the further above the target a share may be before it is called wasted: twice
 * after a day, a seventh more after a week. */
static int64_t upper_of(int64_t target, int64_t minutes)
{
	return minutes > 0 ? target + target * MINUTES_OF_DAY / minutes : target;
}

/* --- compute --- */

/* Whole percent to milli-GPU, up to the next step. The last step may end beyond the GPU. */
static int64_t percent_to_milli(int64_t percent, int32_t headroom, const struct sizing *s)
{
	int64_t step = larger_of(s->step_percent, 1) * MILLI_PERCENT;
	return rounded_up(with_headroom(percent * MILLI_PERCENT, headroom), step);
}

static void recommend_compute(const struct recommend_ask *ask, struct recommend_answer *a)
{
	const struct sizing *s = ask->sizing;
	const struct bounds bounds = {(int64_t)s->min_percent * MILLI_PERCENT,
		(int64_t)s->max_percent * MILLI_PERCENT, FULL_MILLI};
	int32_t used = history_compute(ask->history, s->percentile, ask->now_ms);
	int32_t median = history_compute(ask->history, 50, ask->now_ms);
	int32_t recent = history_recent(ask->history, s->percentile, ask->now_ms);
	if (used < 0) {
		return; /* a few minutes alone are no history */
	}
	a->fast = recent > used;
	a->usage.compute_known = true;
	a->usage.p50_percent = median;
	a->usage.target_percent = used;
	a->uncapped.milli = percent_to_milli(a->fast ? recent : used, s->headroom_percent, s);
	if (s->whole_from_p50_percent > 0 && median >= s->whole_from_p50_percent) {
		a->uncapped.milli = larger_of(a->uncapped.milli, FULL_MILLI);
	}
	a->target.milli = clamp_with_cap(a->uncapped.milli, &bounds, &a->compute_capped);
	a->lower.milli = clamp_to_bounds(percent_to_milli(median, 0, s), &bounds);
	a->upper.milli =
		clamp_to_bounds(upper_of(a->target.milli, ask->facts.compute_minutes), &bounds);
}

/* --- memory --- */

static void recommend_memory(const struct recommend_ask *ask, struct recommend_answer *a)
{
	const struct sizing *s = ask->sizing;
	const struct bounds bounds = {s->min_mem_mib, s->max_mem_mib, ask->device_mib};
	int64_t peak = history_peak(ask->history, ask->now_ms);
	if (peak < 0) {
		return;
	}
	a->usage.memory_known = true;
	a->usage.peak_mib = peak;
	struct prealloc_need ahead = prealloc_need(s, ask->history, &ask->prealloc, ask->now_ms);
	int64_t need = ahead.mib;
	a->memory_by = ahead.by;
	if (ahead.by == PREALLOC_NOT) {
		need = with_headroom(peak, s->mem_headroom_percent);
	} else if (need <= 0) {
		return;
	}
	a->uncapped.mib = rounded_up(need, s->step_mem_mib);
	a->target.mib = clamp_with_cap(a->uncapped.mib, &bounds, &a->memory_capped);
	a->lower.mib =
		clamp_to_bounds(rounded_up(smaller_of(peak, need), s->step_mem_mib), &bounds);
	a->upper.mib = clamp_to_bounds(upper_of(a->target.mib, ask->facts.mem_minutes), &bounds);
}

void recommend_share(const struct recommend_ask *ask, struct recommend_answer *ret)
{
	*ret = (struct recommend_answer){.usage.last_sample_ms = ask->facts.last_ms};
	recommend_compute(ask, ret);
	recommend_memory(ask, ret);
}
