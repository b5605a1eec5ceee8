/* Pods, with what capacity pods and probes carry. */
#include "model/pod.h"

#include "record/tables.h"

static const struct record_row host_port_rows[] = {MEMBER(struct host_port, port),
	MEMBER(struct host_port, protocol), MEMBER(struct host_port, address)};
static const struct record_table host_port_table = RECORD_TABLE(struct host_port, host_port_rows);

static const struct record_row neighbour_rows[] = {
	ENUM(struct neighbour_term, kind, NEIGHBOUR_SPREAD + 1),
	MEMBER(struct neighbour_term, all_namespaces), MEMBER(struct neighbour_term, any_node),
	MEMBER(struct neighbour_term, heeds_taints), MEMBER(struct neighbour_term, key),
	MEMBER(struct neighbour_term, max_skew), MEMBER(struct neighbour_term, min_domains),
	PART(struct neighbour_term, pods, selector_table),
	LIST(struct neighbour_term, namespaces, namespace_count, text_table)};
static const struct record_table neighbour_table =
	RECORD_TABLE(struct neighbour_term, neighbour_rows);

static const struct record_row identity_rows[] = {CHARS(struct gpu_identity, uuid),
	CHARS(struct gpu_identity, model), CHARS(struct gpu_identity, driver),
	MEMBER(struct gpu_identity, mem_mib), MEMBER(struct gpu_identity, minor)};
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

static const struct record_row grant_rows[] = {MEMBER(struct grant, uid), MEMBER(struct grant, ns),
	MEMBER(struct grant, name), MEMBER(struct grant, milli), MEMBER(struct grant, mem_mib)};
const struct record_table grant_table = RECORD_TABLE(struct grant, grant_rows);

static const struct record_row ledger_rows[] = {LIST(struct ledger, items, count, grant_table)};
const struct record_table ledger_table = RECORD_TABLE(struct ledger, ledger_rows);

static const struct record_row pod_rows[] = {MEMBER(struct pod, ns), MEMBER(struct pod, name),
	MEMBER(struct pod, uid), MEMBER(struct pod, resource_version),
	PART(struct pod, owner, owner_table), MEMBER(struct pod, node),
	MEMBER(struct pod, scheduler), MEMBER(struct pod, runtime_class),
	MEMBER(struct pod, priority_class), MEMBER(struct pod, status_reason),
	MEMBER(struct pod, placed.type), MEMBER(struct pod, placed.reason),
	MEMBER(struct pod, placed.message), MEMBER(struct pod, trouble),
	MEMBER(struct pod, gpu_container), MEMBER(struct pod, gpu_image),
	MEMBER(struct pod, group_name), MEMBER(struct pod, created_ms),
	MEMBER(struct pod, deleting_ms), MEMBER(struct pod, grace_s), MEMBER(struct pod, priority),
	MEMBER(struct pod, cpu_milli), MEMBER(struct pod, mem_bytes), MEMBER(struct pod, gpus),
	ENUM(struct pod, phase, POD_UNKNOWN + 1), MEMBER(struct pod, placed.since_ms),
	MEMBER(struct pod, restarts), MEMBER(struct pod, gpu_oom_ms), MEMBER(struct pod, failed_ms),
	/* yes or no: what is so of most pods that are kept comes first */
	MEMBER(struct pod, ready), MEMBER(struct pod, has_priority),
	MEMBER(struct pod, best_effort), MEMBER(struct pod, unschedulable),
	MEMBER(struct pod, placed.is_true), MEMBER(struct pod, holds), MEMBER(struct pod, lingers),
	MEMBER(struct pod, keeps_node), MEMBER(struct pod, has_volumes_claimed),
	MEMBER(struct pod, is_static), MEMBER(struct pod, never_preempts),
	MEMBER(struct pod, has_claims), MEMBER(struct pod, has_group),
	MEMBER(struct pod, has_pod_affinity), MEMBER(struct pod, has_spread),
	MEMBER(struct pod, ledger_bad), MEMBER(struct pod, too_complex),
	MEMBER(struct pod, has_deadline), MEMBER(struct pod, crosses_namespaces),
	MEMBER(struct pod, disrupted), MEMBER(struct pod, forged), MEMBER(struct pod, told_overuse),
	MEMBER(struct pod, told_contention), MEMBER(struct pod, beside), MEMBER(struct pod, surged),
	MEMBER(struct pod, own_cost), MEMBER(struct pod, cut), MEMBER(struct pod, lean),
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

static const struct record_row selection_rows[] = {LISTED(struct pod, node_selector, pair_table),
	LIST(struct pod, node_terms, node_term_count, node_term_table)};
const struct record_table pod_selection_table = RECORD_TABLE(struct pod, selection_rows);

static const struct record_row tolerations_rows[] = {
	LIST(struct pod, tolerations, toleration_count, toleration_table)};
const struct record_table pod_tolerations_table = RECORD_TABLE(struct pod, tolerations_rows);
