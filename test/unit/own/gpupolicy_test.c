/* GPUPolicies: every field, the defaults, and what cannot mean anything. */
#include "own/gpupolicy.h"

#include <criterion/criterion.h>

#include "../codec/data.h"

Test(policy, every_field)
{
	struct str json = DATA("policy.json");
	struct arena arena = {0};
	struct policy p;
	struct fault f = {0};
	cr_assert_eq(fields_decode((struct view){json.p, json.len}, &policy_shape, &arena, &p, &f),
		0, "%s", f.message);
	cr_assert_str_eq(p.name, "realtime");
	cr_assert_eq(p.generation, 3);
	cr_assert_eq(p.created_ms, 1793491200000);
	cr_assert_eq(p.priority, 200);
	cr_assert_not(p.is_fallback || p.built_in);
	cr_assert(p.has_selector && p.namespaces.present && p.pods.present);
	cr_assert_str_eq(pairs_get(&p.namespaces.match_labels, "team"), "ml");
	cr_assert_eq(p.pods.expressions.count, 2);
	cr_assert_eq(p.pods.expressions.items[0].operator, TERM_NOT_IN);
	cr_assert_eq(p.pods.expressions.items[1].operator, TERM_EXISTS);
	cr_assert_eq(p.owner_kind_count, 2);
	cr_assert_str_eq(p.owner_kinds[0].group, "apps");
	cr_assert_str_eq(p.owner_kinds[1].group, "");
	cr_assert_eq(p.workload_type_count, 1);
	cr_assert_eq(p.mode, MODE_AUTOMATE);
	cr_assert_eq(p.sizing.min_percent, 20);
	cr_assert_eq(p.sizing.max_percent, 90);
	cr_assert_eq(p.sizing.step_percent, 10);
	cr_assert_eq(p.sizing.min_mem_mib, 2048);
	cr_assert_eq(p.sizing.max_mem_mib, 40960);
	cr_assert_eq(p.isolation, ISOLATION_MPS);
	cr_assert_eq(p.exclusivity, EXCLUSIVITY_SAME);
	cr_assert_eq(p.packing, PACKING_SPREAD);
	cr_assert_eq(p.capacity_lost, CAPACITY_LOST_EVICT);
	cr_assert_eq(p.memory_overuse, OVERUSE_EVICT);
	cr_assert_eq(p.max_tenants, 4);
	cr_assert_eq(p.idle_grace_s, 0);
	cr_assert_eq(p.status_observed_generation, 2);
	cr_assert_eq(p.status_matched, 7);
	cr_assert_eq(p.status_automated, 3);
	cr_assert_str_eq(p.status_ready_reason, "Resolved");
	cr_assert(p.status_overlapping);
	arena_finish(&arena);
	str_finish(&json);
}

Test(policy, defaults)
{
	const char *json = "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"isDefault\":\"Fallback\"}}";
	struct arena arena = {0};
	struct policy p;
	struct fault f = {0};
	cr_assert_eq(
		fields_decode(view_of(json), &policy_shape, &arena, &p, &f), 0, "%s", f.message);
	cr_assert(p.is_fallback);
	cr_assert_not(p.has_selector || p.namespaces.present || p.pods.present);
	cr_assert_eq(p.priority, 100);
	cr_assert_eq(p.mode, MODE_RECOMMEND);
	cr_assert_eq(p.sizing.min_percent, SIZING_LEAST_PERCENT);
	cr_assert_eq(p.sizing.max_percent, 100);
	cr_assert_eq(p.sizing.min_mem_mib, 1024);
	cr_assert_eq(p.sizing.max_mem_mib, 0);
	cr_assert_eq(p.max_tenants, 16);
	cr_assert_eq(p.idle_grace_s, 60);
	cr_assert_null(p.status_ready_reason);
	arena_finish(&arena);
}

static void refused(const char *spec, const char *message)
{
	struct arena arena = {0};
	struct policy p;
	struct fault f = {0};
	char *json = arena_printf(&arena, "{\"metadata\":{\"name\":\"x\"},\"spec\":%s}", spec);
	cr_assert_eq(fields_decode(view_of(json), &policy_shape, &arena, &p, &f), -1,
		"accepted: %s", spec);
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert_eq(strncmp(f.message, message, strlen(message)), 0, "%s", f.message);
	arena_finish(&arena);
}

Test(policy, what_cannot_mean_anything)
{
	refused("{\"mode\":\"automate\"}", "gpupolicy x: spec.mode: \"automate\" is not a mode");
	refused("{\"isDefault\":true}",
		"gpupolicy x: spec.isDefault: string expected, boolean found");
	refused("{\"compute\":{\"minPercent\":\"10\"}}",
		"gpupolicy x: spec.compute.minPercent: integer expected, string found");
	refused("{\"compute\":{\"minPercent\":60,\"maxPercent\":50}}",
		"gpupolicy x: spec.compute.minPercent: 60 is not between 1 and 50");
	refused("{\"compute\":{\"maxPercent\":101}}",
		"gpupolicy x: spec.compute.maxPercent: 101 is not between 1 and 100");
	refused("{\"memory\":{\"min\":\"1 Gi\"}}", "gpupolicy x: spec.memory.min: ");
	refused("{\"memory\":{\"max\":\"512Mi\"}}",
		"gpupolicy x: spec.memory.max: less than spec.memory.min");
	refused("{\"sharing\":{\"maxTenants\":0}}",
		"gpupolicy x: spec.sharing.maxTenants: 0 is not between 1 and 64");
	refused("{\"sharing\":{\"isolation\":\"Mps\"}}",
		"gpupolicy x: spec.sharing.isolation: \"Mps\" is not known here");
	refused("{\"selector\":{\"podSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":"
		"\"Is\"}]}}}",
		"gpupolicy x: spec.selector.podSelector: matchExpressions: [0]: operator: \"Is\"");
	refused("{\"selector\":{\"ownerKinds\":[{\"group\":\"apps\"}]}}",
		"gpupolicy x: spec.selector.ownerKinds[0]: kind: missing");
	refused("[]", "gpupolicy x: spec: object expected, array found");
}
