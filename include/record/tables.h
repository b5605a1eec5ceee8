/* The tables of the nouns (record/record_table.h). */
#ifndef RECORD_TABLES_H
#define RECORD_TABLES_H

#include "record/record_table.h"

/* src/record/label_tables.c: parts of many nouns */
extern const struct record_table pair_table, term_table, node_term_table, selector_table;
extern const struct record_table amount_table, toleration_table, owner_table;

/* src/record/pod_tables.c. All that a decision reads of one; not what only admission fills. */
extern const struct record_table pod_table, grant_table, ledger_table;
extern const struct record_table inject_claim_table, inject_sight_table;
/* Of a pod what it says of nodes: selectors and affinity; tolerations. */
extern const struct record_table pod_selection_table, pod_tolerations_table;

/* src/record/node_tables.c */
extern const struct record_table node_table, gpu_slice_table, node_state_table, volume_claim_table;
extern const struct record_table runtime_class_table, heard_table;

/* src/record/policy_tables.c */
extern const struct record_table policy_table, sizing_table, rollout_table;
extern const struct record_table namespace_table, limit_range_table, quota_table;

/* src/record/recommendation_table.c */
extern const struct record_table recommendation_table, checkpoint_table, share_table;
extern const struct record_table workload_key_table;

/* src/record/workload_tables.c */
extern const struct record_table scaler_table, budget_table, workload_group_table;

/* src/record/action_tables.c */
extern const struct record_table action_table;

#endif
