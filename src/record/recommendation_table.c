/* What is recommended of a workload, and what was measured of one. */
#include "model/recommendation.h"

#include "model/checkpoint.h"
#include "record/tables.h"

static const struct record_row key_rows[] = {FIELD(struct workload_key, ns),
	FIELD(struct workload_key, group), FIELD(struct workload_key, kind),
	FIELD(struct workload_key, name)};
static const struct record_table key_table = RECORD_TABLE(struct workload_key, key_rows);

static const struct record_row share_rows[] = {
	FIELD(struct share, milli), FIELD(struct share, mib)};
const struct record_table share_table = RECORD_TABLE(struct share, share_rows);

static const struct record_row container_rows[] = {FIELD(struct recommended_container, name),
	PART(struct recommended_container, original, share_table),
	PART(struct recommended_container, allocated, share_table),
	FIELD(struct recommended_container, allocated_pods),
	PART(struct recommended_container, target, share_table),
	PART(struct recommended_container, uncapped, share_table),
	PART(struct recommended_container, lower, share_table),
	PART(struct recommended_container, upper, share_table),
	FIELD(struct recommended_container, usage.compute_known),
	FIELD(struct recommended_container, usage.memory_known),
	FIELD(struct recommended_container, usage.p50_percent),
	FIELD(struct recommended_container, usage.target_percent),
	FIELD(struct recommended_container, usage.peak_mib),
	FIELD(struct recommended_container, usage.last_sample_ms),
	FIELD(struct recommended_container, capped_by)};
static const struct record_table container_table =
	RECORD_TABLE(struct recommended_container, container_rows);

static const struct record_row condition_rows[] = {FIELD(struct recommended_condition, status),
	FIELD(struct recommended_condition, reason), FIELD(struct recommended_condition, message),
	FIELD(struct recommended_condition, since_ms)};
static const struct record_table condition_table =
	RECORD_TABLE(struct recommended_condition, condition_rows);

static const struct record_row recommendation_rows[] = {FIELD(struct recommendation, name),
	FIELD(struct recommendation, uid), FIELD(struct recommendation, resource_version),
	FIELD(struct recommendation, generation), FIELD(struct recommendation, created_ms),
	FIELD(struct recommendation, owned), FIELD(struct recommendation, saves),
	PART(struct recommendation, target, key_table),
	FIELD(struct recommendation, observed_generation), FIELD(struct recommendation, revision),
	FIELD(struct recommendation, policy.name), FIELD(struct recommendation, policy.generation),
	FIELD(struct recommendation, policy.source), FIELD(struct recommendation, type),
	LIST(struct recommendation, containers, container_count, container_table),
	FIELD(struct recommendation, history.first_sample_ms),
	FIELD(struct recommendation, history.samples),
	FIELD(struct recommendation, history.coverage_percent),
	FIELD(struct recommendation, pods.total), FIELD(struct recommendation, pods.up_to_date),
	FIELD(struct recommendation, pods.pending), FIELD(struct recommendation, healing.kind),
	FIELD(struct recommendation, healing.step), FIELD(struct recommendation, healing.since_ms),
	FIELD(struct recommendation, healing.until_ms), FIELD(struct recommendation, saved_milli),
	FIELD(struct recommendation, last_update.result),
	FIELD(struct recommendation, last_update.at_ms),
	FIELD(struct recommendation, last_update.reason),
	FIELD(struct recommendation, last_update.times),
	ARRAY(struct recommendation, conditions, condition_table)};
const struct record_table recommendation_table =
	RECORD_TABLE(struct recommendation, recommendation_rows);

static const struct record_row checkpoint_rows[] = {FIELD(struct checkpoint, ns),
	FIELD(struct checkpoint, name), FIELD(struct checkpoint, uid),
	FIELD(struct checkpoint, resource_version), FIELD(struct checkpoint, recommendation),
	FIELD(struct checkpoint, container), FIELD(struct checkpoint, version),
	FIELD(struct checkpoint, written_ms), FIELD(struct checkpoint, first_ms),
	FIELD(struct checkpoint, last_ms), FIELD(struct checkpoint, samples),
	ASIDE(struct checkpoint, bytes)};
const struct record_table checkpoint_table = RECORD_TABLE(struct checkpoint, checkpoint_rows);
