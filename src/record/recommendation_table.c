/* What is recommended of a workload, and what was measured of one. */
#include "model/recommendation.h"

#include "model/checkpoint.h"
#include "record/tables.h"

static const struct record_row key_rows[] = {MEMBER(struct workload_key, ns),
	MEMBER(struct workload_key, group), MEMBER(struct workload_key, kind),
	MEMBER(struct workload_key, name)};
const struct record_table workload_key_table = RECORD_TABLE(struct workload_key, key_rows);

static const struct record_row share_rows[] = {
	MEMBER(struct share, milli), MEMBER(struct share, mib)};
const struct record_table share_table = RECORD_TABLE(struct share, share_rows);

static const struct record_row container_rows[] = {MEMBER(struct recommended_container, name),
	PART(struct recommended_container, original, share_table),
	PART(struct recommended_container, allocated, share_table),
	MEMBER(struct recommended_container, allocated_pods),
	PART(struct recommended_container, target, share_table),
	PART(struct recommended_container, uncapped, share_table),
	PART(struct recommended_container, lower, share_table),
	PART(struct recommended_container, upper, share_table),
	MEMBER(struct recommended_container, usage.compute_known),
	MEMBER(struct recommended_container, usage.memory_known),
	MEMBER(struct recommended_container, usage.p50_percent),
	MEMBER(struct recommended_container, usage.target_percent),
	MEMBER(struct recommended_container, usage.peak_mib),
	MEMBER(struct recommended_container, usage.last_sample_ms),
	MEMBER(struct recommended_container, capped_by)};
static const struct record_table container_table =
	RECORD_TABLE(struct recommended_container, container_rows);

static const struct record_row condition_rows[] = {MEMBER(struct recommended_condition, status),
	MEMBER(struct recommended_condition, reason), MEMBER(struct recommended_condition, message),
	MEMBER(struct recommended_condition, since_ms)};
static const struct record_table condition_table =
	RECORD_TABLE(struct recommended_condition, condition_rows);

static const struct record_row recommendation_rows[] = {MEMBER(struct recommendation, name),
	MEMBER(struct recommendation, uid), MEMBER(struct recommendation, resource_version),
	MEMBER(struct recommendation, generation), MEMBER(struct recommendation, created_ms),
	MEMBER(struct recommendation, owned), MEMBER(struct recommendation, saves),
	PART(struct recommendation, target, workload_key_table),
	MEMBER(struct recommendation, observed_generation), MEMBER(struct recommendation, revision),
	MEMBER(struct recommendation, policy.name),
	MEMBER(struct recommendation, policy.generation),
	MEMBER(struct recommendation, policy.source), MEMBER(struct recommendation, type),
	LIST(struct recommendation, containers, container_count, container_table),
	MEMBER(struct recommendation, history.first_sample_ms),
	MEMBER(struct recommendation, history.samples),
	MEMBER(struct recommendation, history.coverage_percent),
	MEMBER(struct recommendation, pods.total), MEMBER(struct recommendation, pods.up_to_date),
	MEMBER(struct recommendation, pods.pending), MEMBER(struct recommendation, healing.kind),
	MEMBER(struct recommendation, healing.step),
	MEMBER(struct recommendation, healing.since_ms),
	MEMBER(struct recommendation, healing.until_ms), MEMBER(struct recommendation, saved_milli),
	MEMBER(struct recommendation, last_update.result),
	MEMBER(struct recommendation, last_update.at_ms),
	MEMBER(struct recommendation, last_update.reason),
	MEMBER(struct recommendation, last_update.times),
	ARRAY(struct recommendation, conditions, condition_table)};
const struct record_table recommendation_table =
	RECORD_TABLE(struct recommendation, recommendation_rows);

static const struct record_row checkpoint_rows[] = {MEMBER(struct checkpoint, ns),
	MEMBER(struct checkpoint, name), MEMBER(struct checkpoint, uid),
	MEMBER(struct checkpoint, resource_version), MEMBER(struct checkpoint, recommendation),
	MEMBER(struct checkpoint, container), MEMBER(struct checkpoint, version),
	MEMBER(struct checkpoint, written_ms), MEMBER(struct checkpoint, first_ms),
	MEMBER(struct checkpoint, last_ms), MEMBER(struct checkpoint, samples),
	ASIDE(struct checkpoint, bytes)};
const struct record_table checkpoint_table = RECORD_TABLE(struct checkpoint, checkpoint_rows);
