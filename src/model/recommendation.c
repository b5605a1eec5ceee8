/* The words of a GPURecommendation, and whether it holds. */
#include "model/recommendation.h"

#include "base/str.h"

static const char *const condition_names[RECOMMENDATION_CONDITIONS] = {
	[RECOMMENDATION_READY] = "Ready",
	[RECOMMENDATION_HISTORY_SUFFICIENT] = "HistorySufficient",
	[RECOMMENDATION_RECOMMENDED] = "Recommended",
	[RECOMMENDATION_APPLIED] = "Applied",
	[RECOMMENDATION_UPDATE_BLOCKED] = "UpdateBlocked",
	[RECOMMENDATION_HEALING] = "Healing",
	[RECOMMENDATION_SCALE_DOWN_BLOCKED] = "ScaleDownBlocked",
	[RECOMMENDATION_MEMORY_PREALLOCATED] = "MemoryPreallocated",
	[RECOMMENDATION_CAPPED] = "Capped",
	[RECOMMENDATION_PAUSED] = "Paused",
	[RECOMMENDATION_CONTENTION] = "Contention",
	[RECOMMENDATION_LEAK_SUSPECTED] = "LeakSuspected",
	[RECOMMENDATION_IDLE] = "Idle",
	[RECOMMENDATION_CLAMPED] = "Clamped",
};

const char *recommendation_condition_name(enum recommendation_condition type)
{
	return condition_names[type];
}

bool recommendation_condition_parse(const char *text, enum recommendation_condition *ret_type)
{
	size_t i = texts_find(condition_names, RECOMMENDATION_CONDITIONS, text);
	if (i == RECOMMENDATION_CONDITIONS) {
		return false;
	}
	*ret_type = (enum recommendation_condition)i;
	return true;
}

const char *capped_by_name(enum capped_by by)
{
	static const char *const names[] = {
		[CAPPED_BY_NONE] = "None",
		[CAPPED_BY_POLICY_MIN] = "PolicyMin",
		[CAPPED_BY_POLICY_MAX] = "PolicyMax",
		[CAPPED_BY_DEVICE] = "Device",
		[CAPPED_BY_HEALING] = "Healing",
	};
	return names[by];
}

const char *healing_kind_name(enum healing_kind kind)
{
	static const char *const names[] = {
		[HEALING_NONE] = NULL,
		[HEALING_MEMORY] = "MemoryPressure",
		[HEALING_COMPUTE] = "ComputePressure",
		[HEALING_ROLLBACK] = "Rollback",
	};
	return names[kind];
}

const char *update_result_name(enum update_result result)
{
	static const char *const names[] = {
		[UPDATE_NONE] = NULL,
		[UPDATE_SUCCEEDED] = "Succeeded",
		[UPDATE_FAILED] = "Failed",
		[UPDATE_ROLLED_BACK] = "RolledBack",
	};
	return names[result];
}

bool recommendation_holds(const struct recommendation *r)
{
	const struct recommended_condition *c = &r->conditions[RECOMMENDATION_HISTORY_SUFFICIENT];
	return c->status == CONDITION_TRUE ||
	       (c->status == CONDITION_FALSE &&
		       (text_equals(c->reason, "Stale") || text_equals(c->reason, "Relearning")));
}
