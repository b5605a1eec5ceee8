/* Policies, and what of a namespace counts beside them. */
#include "model/policy.h"

#include "model/quota.h"
#include "record/tables.h"

static const struct record_row heal_rows[] = {MEMBER(struct sizing_heal, enabled),
	MEMBER(struct sizing_heal, step_percent), MEMBER(struct sizing_heal, min_step),
	MEMBER(struct sizing_heal, hold_s)};
static const struct record_table heal_table = RECORD_TABLE(struct sizing_heal, heal_rows);

static const struct record_row sizing_rows[] = {MEMBER(struct sizing, percentile),
	MEMBER(struct sizing, headroom_percent), MEMBER(struct sizing, min_percent),
	MEMBER(struct sizing, max_percent), MEMBER(struct sizing, step_percent),
	MEMBER(struct sizing, whole_from_p50_percent), MEMBER(struct sizing, active_above_percent),
	MEMBER(struct sizing, mem_headroom_percent), MEMBER(struct sizing, min_mem_mib),
	MEMBER(struct sizing, max_mem_mib), MEMBER(struct sizing, step_mem_mib),
	ENUM(struct sizing, preallocated, PREALLOCATED_SHRINK + 1), MEMBER(struct sizing, window_s),
	MEMBER(struct sizing, required_s), MEMBER(struct sizing, half_life_s),
	MEMBER(struct sizing, required_runs), MEMBER(struct sizing, required_run_s),
	MEMBER(struct sizing, min_change_percent), MEMBER(struct sizing, scale_down_delay_s),
	MEMBER(struct sizing, shrink_idle_s), MEMBER(struct sizing, keeps_running),
	PART(struct sizing, heal_memory, heal_table), PART(struct sizing, heal_compute, heal_table),
	MEMBER(struct sizing, open)};
const struct record_table sizing_table = RECORD_TABLE(struct sizing, sizing_rows);

static const struct record_row kind_rows[] = {
	MEMBER(struct rollout_kind, kind), ENUM(struct rollout_kind, strategy, ROLLOUT_NEVER + 1)};
static const struct record_table kind_table = RECORD_TABLE(struct rollout_kind, kind_rows);

static const struct record_row window_rows[] = {MEMBER(struct rollout_window, days),
	MEMBER(struct rollout_window, start_min), MEMBER(struct rollout_window, end_min),
	MEMBER(struct rollout_window, time_zone)};
static const struct record_table window_table = RECORD_TABLE(struct rollout_window, window_rows);

static const struct record_row rollout_rows[] = {
	LIST(struct rollout, kinds, kind_count, kind_table), MEMBER(struct rollout, min_replicas),
	MEMBER(struct rollout, min_pod_age_s), MEMBER(struct rollout, cooldown_s),
	MEMBER(struct rollout, give_back_min), MEMBER(struct rollout, max_unavailable),
	MEMBER(struct rollout, max_unavailable_is_percent), MEMBER(struct rollout, evicts),
	MEMBER(struct rollout, may_add_nodes),
	LIST(struct rollout, windows, window_count, window_table)};
const struct record_table rollout_table = RECORD_TABLE(struct rollout, rollout_rows);

static const struct record_row owner_kind_rows[] = {
	MEMBER(struct owner_kind, group), MEMBER(struct owner_kind, kind)};
static const struct record_table owner_kind_table =
	RECORD_TABLE(struct owner_kind, owner_kind_rows);

static const struct record_row policy_rows[] = {NAME(struct policy, name),
	MEMBER(struct policy, uid), MEMBER(struct policy, resource_version),
	MEMBER(struct policy, status_ready_reason), MEMBER(struct policy, generation),
	MEMBER(struct policy, created_ms), MEMBER(struct policy, priority),
	ENUM(struct policy, mode, MODE_DISABLED + 1),
	ENUM(struct policy, isolation, ISOLATION_MPS + 1),
	ENUM(struct policy, exclusivity, EXCLUSIVITY_DEDICATED + 1),
	ENUM(struct policy, packing, PACKING_SPREAD + 1),
	ENUM(struct policy, capacity_lost, CAPACITY_LOST_EVICT + 1),
	ENUM(struct policy, memory_overuse, OVERUSE_EVICT + 1), MEMBER(struct policy, max_tenants),
	MEMBER(struct policy, idle_grace_s), MEMBER(struct policy, status_observed_generation),
	MEMBER(struct policy, status_matched), MEMBER(struct policy, status_automated),
	MEMBER(struct policy, status_accepted_ms), MEMBER(struct policy, status_overlapping_ms),
	MEMBER(struct policy, status_ready_ms), PART(struct policy, sizing, sizing_table),
	PART(struct policy, rollout, rollout_table), MEMBER(struct policy, is_fallback),
	MEMBER(struct policy, has_selector), MEMBER(struct policy, built_in),
	MEMBER(struct policy, status_overlapping), MEMBER(struct policy, never_preempts),
	PART(struct policy, namespaces, selector_table), PART(struct policy, pods, selector_table),
	LIST(struct policy, owner_kinds, owner_kind_count, owner_kind_table),
	LIST(struct policy, workload_types, workload_type_count, text_table)};
const struct record_table policy_table = RECORD_TABLE(struct policy, policy_rows);

static const struct record_row namespace_rows[] = {NAME(struct namespace, name),
	LISTED(struct namespace, labels, pair_table), LISTED(struct namespace, notes, pair_table),
	MEMBER(struct namespace, terminating)};
const struct record_table namespace_table = RECORD_TABLE(struct namespace, namespace_rows);

static const struct record_row range_rows[] = {NAME(struct limit_range, ns),
	NAME(struct limit_range, name), MEMBER(struct limit_range, limits_gpus)};
const struct record_table limit_range_table = RECORD_TABLE(struct limit_range, range_rows);

static const struct record_row quota_rows[] = {NAME(struct quota, ns), NAME(struct quota, name),
	MEMBER(struct quota, bounds_gpus), MEMBER(struct quota, hard_milli),
	LISTED(struct quota, scopes, term_table)};
const struct record_table quota_table = RECORD_TABLE(struct quota, quota_rows);
