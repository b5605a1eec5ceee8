/* Actions: a journal has the hash of each, and who carries one out a copy. */
#include "model/plan.h"

#include "record/tables.h"

static const struct record_row surge_rows[] = {FIELD(struct surge_order, task),
	FIELD(struct surge_order, set_name), FIELD(struct surge_order, set_uid),
	FIELD(struct surge_order, hash), FIELD(struct surge_order, generation),
	FIELD(struct surge_order, old_uid), FIELD(struct surge_order, fresh_name),
	FIELD(struct surge_order, fresh_uid)};
static const struct record_table surge_table = RECORD_TABLE(struct surge_order, surge_rows);

static const struct record_row action_rows[] = {FIELD(struct action, id),
	FIELD(struct action, type), FIELD(struct action, ns), FIELD(struct action, name),
	FIELD(struct action, uid), FIELD(struct action, resource_version),
	FIELD(struct action, node), FIELD(struct action, runtime_class), FIELD(struct action, uuid),
	FIELD(struct action, capacity_pod), FIELD(struct action, policy),
	FIELD(struct action, event_reason), FIELD(struct action, message),
	FIELD(struct action, regarding_kind), FIELD(struct action, regarding_api_version),
	FIELD(struct action, condition), FIELD(struct action, container),
	FIELD(struct action, owner_uid), FIELD(struct action, milli), FIELD(struct action, mem_mib),
	FIELD(struct action, node_term_count), FIELD(struct action, reason),
	FIELD(struct action, generation), FIELD(struct action, matched),
	FIELD(struct action, automated), FIELD(struct action, accepted_ms),
	FIELD(struct action, overlapping_ms), FIELD(struct action, ready_ms),
	FIELD(struct action, cpu_milli), FIELD(struct action, mem_bytes),
	FIELD(struct action, gpus), FIELD(struct action, form),
	FIELD(struct action, framework_memory), FIELD(struct action, unpinned),
	FIELD(struct action, mps), FIELD(struct action, companion),
	FIELD(struct action, keeps_node), FIELD(struct action, movable),
	FIELD(struct action, is_true), FIELD(struct action, warning),
	FIELD(struct action, overlapping), FIELD(struct action, makes),
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
