/* Nodes, what agents tell of them, and where volumes and RuntimeClasses let pods go. */
#include "model/node.h"

#include "model/heard.h"
#include "model/runtime.h"
#include "model/state.h"
#include "model/volume.h"
#include "record/tables.h"

static const struct record_row taint_rows[] = {
	MEMBER(struct taint, key), MEMBER(struct taint, value), MEMBER(struct taint, effect)};
static const struct record_table taint_table = RECORD_TABLE(struct taint, taint_rows);

static const struct record_row node_rows[] = {NAME(struct node, name), MEMBER(struct node, uid),
	MEMBER(struct node, resource_version), MEMBER(struct node, boot),
	MEMBER(struct node, gpus_reset), MEMBER(struct node, runtime),
	LISTED(struct node, labels, pair_table),
	LIST(struct node, taints, taint_count, taint_table), MEMBER(struct node, unschedulable),
	MEMBER(struct node, ready), MEMBER(struct node, shares_already),
	MEMBER(struct node, serves_hami), MEMBER(struct node, serves_kai),
	MEMBER(struct node, is_mig), MEMBER(struct node, cpu_milli), MEMBER(struct node, mem_bytes),
	MEMBER(struct node, pod_slots), MEMBER(struct node, gpus),
	LISTED(struct node, others, amount_table)};
const struct record_table node_table = RECORD_TABLE(struct node, node_rows);

static const struct record_row slice_rows[] = {
	NAME(struct gpu_slice, name), MEMBER(struct gpu_slice, node)};
const struct record_table gpu_slice_table = RECORD_TABLE(struct gpu_slice, slice_rows);

static const struct record_row device_rows[] = {NAME(struct device_state, uuid),
	MEMBER(struct device_state, why), ENUM(struct device_state, cause, ILL_CAUSES),
	MEMBER(struct device_state, total_mib), MEMBER(struct device_state, used_mib),
	ENUM(struct device_state, mps, MPS_STATES), MEMBER(struct device_state, contexts),
	MEMBER(struct device_state, mps_why)};
static const struct record_table device_table = RECORD_TABLE(struct device_state, device_rows);

static const struct record_row use_rows[] = {NAME(struct pod_use, uid), NAME(struct pod_use, uuid),
	MEMBER(struct pod_use, mem_mib), MEMBER(struct pod_use, processes)};
static const struct record_table use_table = RECORD_TABLE(struct pod_use, use_rows);

static const struct record_row state_rows[] = {NAME(struct node_state, node),
	NAME(struct node_state, boot), MEMBER(struct node_state, sequence),
	MEMBER(struct node_state, seen_ms), MEMBER(struct node_state, seen_by_ms),
	MEMBER(struct node_state, again),
	LIST(struct node_state, devices, device_count, device_table),
	LIST(struct node_state, pods, pod_count, text_table),
	LIST(struct node_state, uses, use_count, use_table)};
const struct record_table node_state_table = RECORD_TABLE(struct node_state, state_rows);

static const struct record_row claim_rows[] = {NAME(struct volume_claim, ns),
	NAME(struct volume_claim, name), ENUM(struct volume_claim, state, CLAIM_STATES),
	LIST(struct volume_claim, terms, term_count, node_term_table),
	LISTED(struct volume_claim, zones, term_table)};
const struct record_table volume_claim_table = RECORD_TABLE(struct volume_claim, claim_rows);

/* Sums of these must not overflow. */
static const struct record_row runtime_rows[] = {
	UPTO(struct runtime_class, cpu_milli, RUNTIME_AMOUNT_MAX),
	UPTO(struct runtime_class, mem_bytes, RUNTIME_AMOUNT_MAX),
	LISTED(struct runtime_class, selector, pair_table)};
const struct record_table runtime_class_table = RECORD_TABLE(struct runtime_class, runtime_rows);

static const struct record_row heard_rows[] = {NAME(struct heard, uuid), NAME(struct heard, node),
	MEMBER(struct heard, why), NAME(struct heard, by), MEMBER(struct heard, boot),
	MEMBER(struct heard, reset)};
const struct record_table heard_table = RECORD_TABLE(struct heard, heard_rows);
