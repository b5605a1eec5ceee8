/* What of the engine's memory is in a journal: each member is in a table, or is said to be none of
 * it. */
#include "journal_tables.h"

#include "../covers.h"
#include "policies.h"

Test(journal_tables, every_member_has_a_row)
{
	EXPECT_COVERS(journal_head_table, struct journal_head);
	EXPECT_COVERS(journal_step_table, struct journal_step);
	EXPECT_COVERS(journal_outcome_table, struct journal_outcome);
	EXPECT_COVERS(journal_seen_table, struct journal_seen);
	EXPECT_COVERS(journal_versions_table, struct journal_versions);
	EXPECT_COVERS(waiter_table, struct waiter);
	EXPECT_COVERS(*table_below(&waiter_table, "landings.items"), struct landing);
	EXPECT_COVERS(*table_below(&waiter_table, "backoff"), struct backoff);
	EXPECT_COVERS(holder_table, struct holder);
	EXPECT_COVERS(whole_table, struct whole);
	EXPECT_COVERS(node_memo_table, struct node_memo);
	EXPECT_COVERS(absence_table, struct absence);
	EXPECT_COVERS(startup_table, struct startup);
	EXPECT_COVERS(ailment_table, struct ailment);
	EXPECT_COVERS(eviction_table, struct eviction);
	EXPECT_COVERS(orphan_table, struct orphan);
	EXPECT_COVERS(resize_table, struct resize);
	EXPECT_COVERS(avoidance_table, struct gpu_avoidance);
	EXPECT_COVERS(scale_rest_table, struct scale_rest);
	EXPECT_COVERS(standin_table, struct standin);
	EXPECT_COVERS(inject_memo_table, struct inject_memo);
	EXPECT_COVERS(*table_below(&inject_memo_table, "tries"), struct inject_try);
	EXPECT_COVERS(policies_pass_table, struct policies_pass);
	EXPECT_COVERS(*table_below(&policies_pass_table, "cells.items"), struct policy_tally);
	EXPECT_COVERS(*table_below(&policies_pass_table, "told.items"), struct told_pod);
	EXPECT_COVERS(*table_below(&engine_table, "evictions.stuck.items"), struct stuck);
	EXPECT_COVERS(*table_below(&engine_table, "evictions.recycled.items"), struct recycled);
	EXPECT_COVERS(*table_below(&engine_table, "evictions.jobs.items"), struct job);
	EXPECT_COVERS(*table_below(&engine_table, "overuses.items.items"), struct overuse);
	EXPECT_COVERS(*table_below(&engine_table, "overuses.crowds.items"), struct crowd);
	EXPECT_COVERS(*table_below(&engine_table, "overuses.failures.items"), struct failure);
	EXPECT_COVERS(*table_below(&engine_table, "overuses.remarks.items"), struct remark);
}
