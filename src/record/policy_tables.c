/* Policies, and what of a namespace counts beside them. */
#include "model/policy.h"

#include "model/quota.h"
#include "record/tables.h"

static const struct record_row heal_rows[] = {FIELD(struct sizing_heal, enabled),
	FIELD(struct sizing_heal, step_percent), FIELD(struct sizing_heal, min_step),
	FIELD(struct sizing_heal, hold_s)};
static const struct record_table heal_table = RECORD_TABLE(struct sizing_heal, heal_rows);

static const struct record_row sizing_rows[] = {FIELD(struct sizing, percentile),
	FIELD(struct sizing, headroom_percent), FIELD(struct sizing, min_percent),
	FIELD(struct sizing, max_percent), FIELD(struct sizing, step_percent),
	FIELD(struct sizing, whole_from_p50_percent), FIELD(struct sizing, active_above_percent),
	FIELD(struct sizing, mem_headroom_percent), FIELD(struct sizing, min_mem_mib),
	FIELD(struct sizing, max_mem_mib), FIELD(struct sizing, step_mem_mib),
	ENUM(struct sizing, preallocated, PREALLOCATED_SHRINK + 1), FIELD(struct sizing, window_s),
	FIELD(struct sizing, required_s), FIELD(struct sizing, half_life_s),
	FIELD(struct sizing, required_runs), FIELD(struct sizing, required_run_s),
	FIELD(struct sizing, min_change_percent), FIELD(struct sizing, scale_down_delay_s),
	FIELD(struct sizing, shrink_idle_s), FIELD(struct sizing, keeps_running),
	PART(struct sizing, heal_memory, heal_table), PART(struct sizing, heal_compute, heal_table),
	FIELD(struct sizing, open)};
const struct record_table sizing_table = RECORD_TABLE(struct sizing, sizing_rows);

static const struct record_row kind_rows[] = {
	FIELD(struct rollout_kind, kind), ENUM(struct rollout_kind, strategy, ROLLOUT_NEVER + 1)};
static const struct record_table kind_table = RECORD_TABLE(struct rollout_kind, kind_rows);

static const struct record_row window_rows[] = {FIELD(struct rollout_window, days),
	FIELD(struct rollout_window, start_min), FIELD(struct rollout_window, end_min),
	FIELD(struct rollout_window, time_zone)};
static const struct record_table window_table = RECORD_TABLE(struct rollout_window, window_rows);

static const struct record_row rollout_rows[] = {
	LIST(struct rollout, kinds, kind_count, kind_table), FIELD(struct rollout, min_replicas),
	FIELD(struct rollout, min_pod_age_s), FIELD(struct rollout, cooldown_s),
	FIELD(struct rollout, give_back_min), FIELD(struct rollout, max_unavailable),
	FIELD(struct rollout, max_unavailable_is_percent), FIELD(struct rollout, evicts),
	FIELD(struct rollout, may_add_nodes),
	LIST(struct rollout, windows, window_count, window_table)};
const struct record_table rollout_table = RECORD_TABLE(struct rollout, rollout_rows);

static const struct record_row owner_kind_rows[] = {
	FIELD(struct owner_kind, group), FIELD(struct owner_kind, kind)};
static const struct record_table owner_kind_table =
	RECORD_TABLE(struct owner_kind, owner_kind_rows);

static const struct record_row policy_rows[] = {NAME(struct policy, name),
	FIELD(struct policy, uid), FIELD(struct policy, resource_version),
	FIELD(struct policy, status_ready_reason), FIELD(struct policy, generation),
	FIELD(struct policy, created_ms), FIELD(struct policy, priority),
	ENUM(struct policy, mode, MODE_DISABLED + 1),
	ENUM(struct policy, isolation, ISOLATION_MPS + 1),
	ENUM(struct policy, exclusivity, EXCLUSIVITY_DEDICATED + 1),
	ENUM(struct policy, packing, PACKING_SPREAD + 1),
	ENUM(struct policy, capacity_lost, CAPACITY_LOST_EVICT + 1),
	ENUM(struct policy, memory_overuse, OVERUSE_EVICT + 1), FIELD(struct policy, max_tenants),
	FIELD(struct policy, idle_grace_s), FIELD(struct policy, status_observed_generation),
	FIELD(struct policy, status_matched), FIELD(struct policy, status_automated),
	FIELD(struct policy, status_accepted_ms), FIELD(struct policy, status_overlapping_ms),
	FIELD(struct policy, status_ready_ms), PART(struct policy, sizing, sizing_table),
	PART(struct policy, rollout, rollout_table), FIELD(struct policy, is_fallback),
	FIELD(struct policy, has_selector), FIELD(struct policy, built_in),
	FIELD(struct policy, status_overlapping), FIELD(struct policy, never_preempts),
	PART(struct policy, namespaces, selector_table), PART(struct policy, pods, selector_table),
	LIST(struct policy, owner_kinds, owner_kind_count, owner_kind_table),
	LIST(struct policy, workload_types, workload_type_count, text_table)};
const struct record_table policy_table = RECORD_TABLE(struct policy, policy_rows);

static const struct record_row namespace_rows[] = {NAME(struct namespace, name),
	LISTED(struct namespace, labels, pair_table), LISTED(struct namespace, notes, pair_table),
	FIELD(struct namespace, terminating)};
const struct record_table namespace_table = RECORD_TABLE(struct namespace, namespace_rows);

static const struct record_row range_rows[] = {NAME(struct limit_range, ns),
	NAME(struct limit_range, name), FIELD(struct limit_range, limits_gpus)};
const struct record_table limit_range_table = RECORD_TABLE(struct limit_range, range_rows);

static const struct record_row quota_rows[] = {NAME(struct quota, ns), NAME(struct quota, name),
	FIELD(struct quota, bounds_gpus), FIELD(struct quota, hard_milli),
	LISTED(struct quota, scopes, term_table)};
const struct record_table quota_table = RECORD_TABLE(struct quota, quota_rows);
