/* Actions: a journal has the hash of each, and who carries one out a copy. */
#include "model/plan.h"

#include "record/tables.h"

static const struct record_row surge_rows[] = {MEMBER(struct surge_order, task),
	MEMBER(struct surge_order, set_name), MEMBER(struct surge_order, set_uid),
	MEMBER(struct surge_order, hash), MEMBER(struct surge_order, generation),
	MEMBER(struct surge_order, old_uid), MEMBER(struct surge_order, fresh_name),
	MEMBER(struct surge_order, fresh_uid)};
static const struct record_table surge_table = RECORD_TABLE(struct surge_order, surge_rows);

static const struct record_row action_rows[] = {MEMBER(struct action, id),
	MEMBER(struct action, type), MEMBER(struct action, ns), MEMBER(struct action, name),
	MEMBER(struct action, uid), MEMBER(struct action, resource_version),
	MEMBER(struct action, node), MEMBER(struct action, runtime_class),
	MEMBER(struct action, uuid), MEMBER(struct action, capacity_pod),
	MEMBER(struct action, policy), MEMBER(struct action, event_reason),
	MEMBER(struct action, message), MEMBER(struct action, regarding_kind),
	MEMBER(struct action, regarding_api_version), MEMBER(struct action, condition),
	MEMBER(struct action, container), MEMBER(struct action, owner_uid),
	MEMBER(struct action, milli), MEMBER(struct action, mem_mib),
	MEMBER(struct action, node_term_count), MEMBER(struct action, reason),
	MEMBER(struct action, generation), MEMBER(struct action, matched),
	MEMBER(struct action, automated), MEMBER(struct action, accepted_ms),
	MEMBER(struct action, overlapping_ms), MEMBER(struct action, ready_ms),
	MEMBER(struct action, cpu_milli), MEMBER(struct action, mem_bytes),
	MEMBER(struct action, gpus), MEMBER(struct action, form),
	MEMBER(struct action, framework_memory), MEMBER(struct action, unpinned),
	MEMBER(struct action, mps), MEMBER(struct action, companion),
	MEMBER(struct action, keeps_node), MEMBER(struct action, movable),
	MEMBER(struct action, is_true), MEMBER(struct action, warning),
	MEMBER(struct action, overlapping), MEMBER(struct action, makes),
	LIST(struct action, tolerations, toleration_count, toleration_table),
	LISTED(struct action, where_labels, pair_table),
	LIST(struct action, where_terms, where_count, node_term_table),
	LIST(struct action, gates, gate_count, text_table),
	LISTED(struct action, ledger, grant_table), LISTED(struct action, still, grant_table),
	PART(struct action, owner, owner_table), POINTER(struct action, claim, inject_claim_table),
	POINTER(struct action, recommendation, recommendation_table),
	ASIDE(struct action, checkpoint), /* its bytes are copied by hand */
	POINTER(struct action, surge, surge_table)};
const struct record_table action_table = RECORD_TABLE(struct action, action_rows);
