/* What acts on the pods of a workload: who changes the number of its replicas, which disruption
 * budgets its pods have, which groups gather them. Copied only. */
#include "model/budget.h"
#include "model/group.h"
#include "model/scaler.h"
#include "record/tables.h"

static const struct record_row scaler_rows[] = {MEMBER(struct scaler, kind),
	MEMBER(struct scaler, name), LIST(struct scaler, metrics, metric_count, text_table),
	MEMBER(struct scaler, current), MEMBER(struct scaler, desired),
	MEMBER(struct scaler, scaled_ms), PART(struct scaler, target, workload_key_table),
	MEMBER(struct scaler, uid)};
const struct record_table scaler_table = RECORD_TABLE(struct scaler, scaler_rows);

static const struct record_row budget_rows[] = {MEMBER(struct budget, ns),
	MEMBER(struct budget, name), MEMBER(struct budget, uid),
	PART(struct budget, selector, selector_table), MEMBER(struct budget, allowed)};
const struct record_table budget_table = RECORD_TABLE(struct budget, budget_rows);

static const struct record_row group_rule_rows[] = {MEMBER(struct group_rule, owner_group),
	MEMBER(struct group_rule, owner_kind), MEMBER(struct group_rule, owner_name_regex),
	LISTED(struct group_rule, labels, pair_table), LISTED(struct group_rule, notes, pair_table),
	MEMBER(struct group_rule, image_regex), MEMBER(struct group_rule, container_name_regex),
	LISTED(struct group_rule, excluded, pair_table)};
static const struct record_table group_rule_table =
	RECORD_TABLE(struct group_rule, group_rule_rows);

static const struct record_row group_rows[] = {MEMBER(struct workload_group, name),
	MEMBER(struct workload_group, uid), MEMBER(struct workload_group, resource_version),
	MEMBER(struct workload_group, generation), MEMBER(struct workload_group, disabled),
	MEMBER(struct workload_group, weight),
	LIST(struct workload_group, rules, rule_count, group_rule_table),
	MEMBER(struct workload_group, key_from), MEMBER(struct workload_group, key_name),
	MEMBER(struct workload_group, owner_suffix_regex), MEMBER(struct workload_group, policy),
	MEMBER(struct workload_group, retention_s),
	MEMBER(struct workload_group, status_observed_generation),
	MEMBER(struct workload_group, status_pods), MEMBER(struct workload_group, status_groups),
	MEMBER(struct workload_group, status_accepted_reason),
	MEMBER(struct workload_group, status_accepted_ms),
	MEMBER(struct workload_group, status_ready_ms)};
const struct record_table workload_group_table = RECORD_TABLE(struct workload_group, group_rows);
