/* The words of a GPURecommendation, and when two of them say the same. */
#include "model/recommendation.h"

#include <string.h>

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
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		if (text_equals(text, condition_names[i])) {
			*ret_type = (enum recommendation_condition)i;
			return true;
		}
	}
	return false;
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

void recommendation_copy(
	struct arena *a, const struct recommendation *from, struct recommendation *ret)
{
	const struct workload_key *key = &from->target;
	*ret = *from;
	ret->name = arena_strdup(a, from->name);
	ret->uid = arena_strdup(a, from->uid);
	ret->resource_version = arena_strdup(a, from->resource_version);
	ret->target = (struct workload_key){arena_strdup(a, key->ns), arena_strdup(a, key->group),
		arena_strdup(a, key->kind), arena_strdup(a, key->name)};
	ret->policy.name = arena_strdup(a, from->policy.name);
	ret->policy.source = arena_strdup(a, from->policy.source);
	ret->last_update.reason = arena_strdup(a, from->last_update.reason);
	ret->containers = ARENA_ARRAY(a, struct recommended_container, from->container_count + 1);
	for (uint32_t i = 0; i < from->container_count; i++) {
		ret->containers[i] = from->containers[i];
		ret->containers[i].name = arena_strdup(a, from->containers[i].name);
	}
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		ret->conditions[i].reason = arena_strdup(a, from->conditions[i].reason);
		ret->conditions[i].message = arena_strdup(a, from->conditions[i].message);
	}
}

/* --- the same? --- */

static bool share_equals(const struct share *a, const struct share *b)
{
	return a->milli == b->milli && a->mib == b->mib;
}

static bool usage_equals(const struct recommended_usage *a, const struct recommended_usage *b)
{
	bool same_compute = a->compute_known == b->compute_known &&
			    a->p50_percent == b->p50_percent &&
			    a->target_percent == b->target_percent;
	return same_compute && a->memory_known == b->memory_known && a->peak_mib == b->peak_mib &&
	       a->last_sample_ms == b->last_sample_ms;
}

static bool container_equals(
	const struct recommended_container *a, const struct recommended_container *b)
{
	bool same_shares = share_equals(&a->original, &b->original) &&
			   share_equals(&a->allocated, &b->allocated) &&
			   share_equals(&a->target, &b->target) &&
			   share_equals(&a->uncapped, &b->uncapped) &&
			   share_equals(&a->lower, &b->lower) && share_equals(&a->upper, &b->upper);
	return same_shares && text_equals(a->name, b->name) &&
	       a->allocated_pods == b->allocated_pods && a->capped_by == b->capped_by &&
	       usage_equals(&a->usage, &b->usage);
}

static bool condition_equals(
	const struct recommended_condition *a, const struct recommended_condition *b)
{
	if (a->status == CONDITION_ABSENT) {
		return b->status == CONDITION_ABSENT;
	}
	return a->status == b->status && a->since_ms == b->since_ms &&
	       text_equals(a->reason, b->reason) &&
	       text_equals(text_or(a->message, ""), text_or(b->message, ""));
}

static bool containers_equal(const struct recommendation *a, const struct recommendation *b)
{
	bool same = a->container_count == b->container_count;
	for (uint32_t i = 0; same && i < a->container_count; i++) {
		same = container_equals(&a->containers[i], &b->containers[i]);
	}
	return same;
}

static bool conditions_equal(const struct recommendation *a, const struct recommendation *b)
{
	bool same = true;
	for (int i = 0; same && i < RECOMMENDATION_CONDITIONS; i++) {
		same = condition_equals(&a->conditions[i], &b->conditions[i]);
	}
	return same;
}

static bool healing_equals(const struct recommended_healing *a, const struct recommended_healing *b)
{
	return a->kind == b->kind && a->since_ms == b->since_ms && a->until_ms == b->until_ms &&
	       a->step == b->step;
}

static bool policy_equals(const struct recommended_policy *a, const struct recommended_policy *b)
{
	return text_equals(a->name, b->name) && a->generation == b->generation &&
	       text_equals(a->source, b->source);
}

bool recommendation_equals(const struct recommendation *a, const struct recommendation *b)
{
	const struct recommended_history *ah = &a->history;
	const struct recommended_history *bh = &b->history;
	const struct recommended_update *au = &a->last_update;
	const struct recommended_update *bu = &b->last_update;
	bool same_history = ah->first_sample_ms == bh->first_sample_ms &&
			    ah->samples == bh->samples &&
			    ah->coverage_percent == bh->coverage_percent;
	bool same_update = au->result == bu->result && au->at_ms == bu->at_ms &&
			   text_equals(au->reason, bu->reason) && au->times == bu->times;
	bool same_pods = a->pods.total == b->pods.total &&
			 a->pods.up_to_date == b->pods.up_to_date &&
			 a->pods.pending == b->pods.pending;
	bool same_saving = a->saves == b->saves && (!a->saves || a->saved_milli == b->saved_milli);
	return same_history && same_update && same_pods && same_saving &&
	       a->observed_generation == b->observed_generation && a->revision == b->revision &&
	       a->type == b->type && policy_equals(&a->policy, &b->policy) &&
	       healing_equals(&a->healing, &b->healing) && containers_equal(a, b) &&
	       conditions_equal(a, b);
}
