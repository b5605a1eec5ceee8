/* Pods, with what capacity pods and probes carry. */
#include "model/pod.h"

#include "record/tables.h"

static const struct record_row host_port_rows[] = {FIELD(struct host_port, port),
	FIELD(struct host_port, protocol), FIELD(struct host_port, address)};
static const struct record_table host_port_table = RECORD_TABLE(struct host_port, host_port_rows);

static const struct record_row neighbour_rows[] = {
	ENUM(struct neighbour_term, kind, NEIGHBOUR_SPREAD + 1),
	FIELD(struct neighbour_term, all_namespaces), FIELD(struct neighbour_term, any_node),
	FIELD(struct neighbour_term, heeds_taints), FIELD(struct neighbour_term, key),
	FIELD(struct neighbour_term, max_skew), FIELD(struct neighbour_term, min_domains),
	PART(struct neighbour_term, pods, selector_table),
	LIST(struct neighbour_term, namespaces, namespace_count, text_table)};
static const struct record_table neighbour_table =
	RECORD_TABLE(struct neighbour_term, neighbour_rows);

static const struct record_row identity_rows[] = {CHARS(struct gpu_identity, uuid),
	CHARS(struct gpu_identity, model), CHARS(struct gpu_identity, driver),
	FIELD(struct gpu_identity, mem_mib), FIELD(struct gpu_identity, minor)};
static const struct record_table identity_table = RECORD_TABLE(struct gpu_identity, identity_rows);

static const struct record_row class_rows[] = {
	NAME(struct inject_class, class), ENUM(struct inject_class, form, INJECT_FORMS)};
static const struct record_table class_table = RECORD_TABLE(struct inject_class, class_rows);

static const struct record_row claim_rows[] = {ENUM(struct inject_claim, form, INJECT_FORMS),
	NAME(struct inject_claim, node), NAME(struct inject_claim, uuid),
	NAME(struct inject_claim, driver), NAME(struct inject_claim, boot),
	NAME(struct inject_claim, runtime), NAME(struct inject_claim, class),
	LIST_UPTO(struct inject_claim, others, other_count, class_table, INJECT_CLASSES_MAX)};
const struct record_table inject_claim_table = RECORD_TABLE(struct inject_claim, claim_rows);

static const struct record_row sight_rows[] = {
	UPTO(struct inject_sight, devices, INJECT_DEVICES_MAX), NAME(struct inject_sight, uuid)};
const struct record_table inject_sight_table = RECORD_TABLE(struct inject_sight, sight_rows);

static const struct record_row grant_rows[] = {FIELD(struct grant, uid), FIELD(struct grant, ns),
	FIELD(struct grant, name), FIELD(struct grant, milli), FIELD(struct grant, mem_mib)};
const struct record_table grant_table = RECORD_TABLE(struct grant, grant_rows);

static const struct record_row ledger_rows[] = {LIST(struct ledger, items, count, grant_table)};
const struct record_table ledger_table = RECORD_TABLE(struct ledger, ledger_rows);

static const struct record_row pod_rows[] = {FIELD(struct pod, ns), FIELD(struct pod, name),
	FIELD(struct pod, uid), FIELD(struct pod, resource_version),
	PART(struct pod, owner, owner_table), FIELD(struct pod, node), FIELD(struct pod, scheduler),
	FIELD(struct pod, runtime_class), FIELD(struct pod, priority_class),
	FIELD(struct pod, status_reason), FIELD(struct pod, placed.type),
	FIELD(struct pod, placed.reason), FIELD(struct pod, placed.message),
	FIELD(struct pod, trouble), FIELD(struct pod, gpu_container), FIELD(struct pod, gpu_image),
	FIELD(struct pod, group_name), FIELD(struct pod, created_ms),
	FIELD(struct pod, deleting_ms), FIELD(struct pod, grace_s), FIELD(struct pod, priority),
	FIELD(struct pod, cpu_milli), FIELD(struct pod, mem_bytes), FIELD(struct pod, gpus),
	ENUM(struct pod, phase, POD_UNKNOWN + 1), FIELD(struct pod, placed.since_ms),
	FIELD(struct pod, restarts), FIELD(struct pod, gpu_oom_ms), FIELD(struct pod, failed_ms),
	/* yes or no: what is so of most pods that are kept comes first */
	FIELD(struct pod, ready), FIELD(struct pod, has_priority), FIELD(struct pod, best_effort),
	FIELD(struct pod, unschedulable), FIELD(struct pod, placed.is_true),
	FIELD(struct pod, holds), FIELD(struct pod, lingers), FIELD(struct pod, keeps_node),
	FIELD(struct pod, has_volumes_claimed), FIELD(struct pod, is_static),
	FIELD(struct pod, never_preempts), FIELD(struct pod, has_claims),
	FIELD(struct pod, has_group), FIELD(struct pod, has_pod_affinity),
	FIELD(struct pod, has_spread), FIELD(struct pod, ledger_bad),
	FIELD(struct pod, too_complex), FIELD(struct pod, has_deadline),
	FIELD(struct pod, crosses_namespaces), FIELD(struct pod, disrupted),
	FIELD(struct pod, forged), FIELD(struct pod, told_overuse),
	FIELD(struct pod, told_contention), FIELD(struct pod, beside), FIELD(struct pod, surged),
	FIELD(struct pod, own_cost), FIELD(struct pod, cut), FIELD(struct pod, lean),
	LISTED(struct pod, labels, pair_table), LISTED(struct pod, notes, pair_table),
	LIST(struct pod, gates, gate_count, text_table),
	LISTED(struct pod, node_selector, pair_table),
	LIST(struct pod, node_terms, node_term_count, node_term_table),
	LIST(struct pod, tolerations, toleration_count, toleration_table),
	LISTED(struct pod, extra.amounts, amount_table),
	LISTED(struct pod, extra.ports, host_port_table),
	LIST(struct pod, claims, claim_count, text_table),
	LIST(struct pod, neighbours, neighbour_count, neighbour_table),
	POINTER(struct pod, identity, identity_table),
	POINTER(struct pod, claim, inject_claim_table),
	POINTER(struct pod, sight, inject_sight_table), LISTED(struct pod, ledger, grant_table),
	/* admission and the watch alone have these */
	ASIDE(struct pod, generate_name), ASIDE(struct pod, containers),
	ASIDE(struct pod, container_count), ASIDE(struct pod, address),
	ASIDE(struct pod, on_node_network), ASIDE(struct pod, port),
	ASIDE(struct pod, metrics_port), ASIDE(struct pod, scrape_port),
	ASIDE(struct pod, scrape_path)};
const struct record_table pod_table = RECORD_TABLE(struct pod, pod_rows);
