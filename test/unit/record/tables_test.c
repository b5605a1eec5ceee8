/* The tables of the nouns: no member of a struct is forgotten. */
#include "record/tables.h"

#include "../covers.h"
#include "model/budget.h"
#include "model/checkpoint.h"
#include "model/group.h"
#include "model/plan.h"
#include "model/scaler.h"
#include "record/change.h"

Test(tables, every_member_has_a_row)
{
	EXPECT_COVERS(pair_table, struct pair);
	EXPECT_COVERS(term_table, struct term);
	EXPECT_COVERS(node_term_table, struct node_term);
	EXPECT_COVERS(selector_table, struct selector);
	EXPECT_COVERS(amount_table, struct amount);
	EXPECT_COVERS(toleration_table, struct toleration);
	EXPECT_COVERS(owner_table, struct owner);
	EXPECT_COVERS(pod_table, struct pod);
	EXPECT_COVERS(grant_table, struct grant);
	EXPECT_COVERS(ledger_table, struct ledger);
	EXPECT_COVERS(inject_claim_table, struct inject_claim);
	EXPECT_COVERS(inject_sight_table, struct inject_sight);
	EXPECT_COVERS(node_table, struct node);
	EXPECT_COVERS(gpu_slice_table, struct gpu_slice);
	EXPECT_COVERS(node_state_table, struct node_state);
	EXPECT_COVERS(volume_claim_table, struct volume_claim);
	EXPECT_COVERS(runtime_class_table, struct runtime_class);
	EXPECT_COVERS(heard_table, struct heard);
	EXPECT_COVERS(policy_table, struct policy);
	EXPECT_COVERS(sizing_table, struct sizing);
	EXPECT_COVERS(rollout_table, struct rollout);
	EXPECT_COVERS(namespace_table, struct namespace);
	EXPECT_COVERS(limit_range_table, struct limit_range);
	EXPECT_COVERS(quota_table, struct quota);
	EXPECT_COVERS(share_table, struct share);
	EXPECT_COVERS(recommendation_table, struct recommendation);
	EXPECT_COVERS(checkpoint_table, struct checkpoint);
	EXPECT_COVERS(action_table, struct action);
	EXPECT_COVERS(scaler_table, struct scaler);
	EXPECT_COVERS(budget_table, struct budget);
	EXPECT_COVERS(workload_group_table, struct workload_group);
	EXPECT_COVERS(*table_below(&workload_group_table, "rules"), struct group_rule);
	EXPECT_COVERS(change_table, struct change);
	EXPECT_COVERS(*table_below(&pod_table, "extra.ports.items"), struct host_port);
	EXPECT_COVERS(*table_below(&pod_table, "neighbours"), struct neighbour_term);
	EXPECT_COVERS(*table_below(&pod_table, "identity"), struct gpu_identity);
	EXPECT_COVERS(*table_below(&inject_claim_table, "others"), struct inject_class);
	EXPECT_COVERS(*table_below(&node_table, "taints"), struct taint);
	EXPECT_COVERS(*table_below(&node_state_table, "devices"), struct device_state);
	EXPECT_COVERS(*table_below(&node_state_table, "uses"), struct pod_use);
	EXPECT_COVERS(*table_below(&sizing_table, "heal_memory"), struct sizing_heal);
	EXPECT_COVERS(*table_below(&rollout_table, "kinds"), struct rollout_kind);
	EXPECT_COVERS(*table_below(&rollout_table, "windows"), struct rollout_window);
	EXPECT_COVERS(*table_below(&policy_table, "owner_kinds"), struct owner_kind);
	EXPECT_COVERS(*table_below(&recommendation_table, "target"), struct workload_key);
	EXPECT_COVERS(
		*table_below(&recommendation_table, "containers"), struct recommended_container);
	EXPECT_COVERS(
		*table_below(&recommendation_table, "conditions"), struct recommended_condition);
	EXPECT_COVERS(*table_below(&action_table, "surge"), struct surge_order);
}

/* The bounds of a row are told by the table that it is of: each table of a part is whole. */
static void look_below(const struct record_table *t, size_t *ret_rows)
{
	unsigned flags = 0;
	for (uint32_t i = 0; i < t->row_count; i++) {
		const struct record_row *r = &t->rows[i];
		flags = r->kind == ROW_BOOL ? flags + 1 : 0;
		cr_assert_leq(flags, 64, "%s: more flags than one number has", t->name);
		cr_assert(r->kind == ROW_ASIDE || r->at + r->size <= t->size);
		bool has_parts = r->kind >= ROW_PART && r->kind <= ROW_VEC;
		cr_assert_eq(r->of != NULL, has_parts, "%s.%s", t->name, r->name);
		(*ret_rows)++;
		if (has_parts) {
			look_below(r->of, ret_rows);
		}
	}
}

Test(tables, the_rows_are_sound)
{
	size_t rows = 0;
	look_below(&change_table, &rows);
	look_below(&action_table, &rows);
	cr_expect_gt(rows, 300);
}

Test(tables, claims_and_sights_are_copied_and_packed)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str out = STR_INIT(4096);
	struct inject_class others[INJECT_CLASSES_MAX + 1] = {{"boxed", INJECT_NRI}};
	struct inject_claim claim = {
		INJECT_CDI, "n", "GPU-a", "570", "b", "containerd", "", others, 1};
	struct inject_claim back = {0}, *copy = record_clone(&arena, &inject_claim_table, &claim);
	struct inject_sight sight = {1, "GPU-a"}, seen = {0};
	cr_expect_null(record_clone(&arena, &inject_claim_table, NULL));
	cr_expect(record_equals(&inject_claim_table, copy, &claim));
	cr_expect(copy->others != others && copy->node != claim.node);
	record_pack(&out, &inject_claim_table, &claim);
	record_pack(&out, &inject_sight_table, &sight);
	struct unpack u = {.p = out.p, .n = out.len, .arena = &arena};
	cr_assert(record_unpack(&u, &inject_claim_table, &back));
	cr_assert(record_unpack(&u, &inject_sight_table, &seen));
	cr_expect(record_equals(&inject_claim_table, &back, &claim));
	cr_expect(record_equals(&inject_sight_table, &seen, &sight));
	cr_expect_eq(u.n, 0);
	/* More classes than there may be, no text where one must be, more devices than any has. */
	for (uint32_t i = 0; i < COUNT_OF(others); i++) {
		others[i] = (struct inject_class){"c", INJECT_ENV};
	}
	claim.other_count = COUNT_OF(others);
	str_reset(&out);
	record_pack(&out, &inject_claim_table, &claim);
	u = (struct unpack){.p = out.p, .n = out.len, .arena = &arena};
	cr_expect_not(record_unpack(&u, &inject_claim_table, &back));
	const struct inject_sight bad[] = {
		{1, NULL}, {-1, "GPU-a"}, {INJECT_DEVICES_MAX + 1, "GPU-a"}};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		str_reset(&out);
		record_pack(&out, &inject_sight_table, &bad[i]);
		u = (struct unpack){.p = out.p, .n = out.len, .arena = &arena};
		cr_expect_not(record_unpack(&u, &inject_sight_table, &seen), "%zu", i);
	}
}

Test(tables, a_difference_anywhere_is_one)
{
	struct recommended_container c = {.name = "app", .target = {300, 7168}}, other = c;
	struct recommendation a = {.containers = &c, .container_count = 1, .revision = 17}, b = a;
	b.containers = &other;
	cr_expect(record_equals(&recommendation_table, &a, &b));
	other.target.mib++;
	cr_expect_not(record_equals(&recommendation_table, &a, &b));
	other = c;
	b.conditions[RECOMMENDATION_PAUSED].status = CONDITION_TRUE;
	cr_expect_not(record_equals(&recommendation_table, &a, &b));
	b = a;
	b.policy.source = "Selector";
	cr_expect_not(record_equals(&recommendation_table, &a, &b));
	b = a;
	b.container_count = 0;
	cr_expect_not(record_equals(&recommendation_table, &a, &b));
}
