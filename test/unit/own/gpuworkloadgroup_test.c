/* GPUWorkloadGroups: every field, the defaults, and what cannot mean anything. */
#include "own/gpuworkloadgroup.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/str.h"

static int decode(const char *rest, struct arena *a, struct workload_group *g, struct fault *f)
{
	const char *json =
		arena_printf(a, "{\"metadata\":{\"name\":\"runs\",\"generation\":4},%s}", rest);
	return fields_decode(view_of(json), &group_shape, a, g, f);
}

Test(group, every_field)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct workload_group g;
	struct fault f = {0};
	cr_assert_eq(
		decode("\"spec\":{\"state\":\"Disabled\",\"weight\":-3,\"keyFrom\":\"LabelValue\","
		       "\"keyName\":\"run\",\"defaultPolicyRef\":{\"name\":\"small\"},"
		       "\"retentionSeconds\":3600,\"rules\":[{\"topOwner\":{\"group\":"
		       "\"argoproj.io\",\"kind\":\"Workflow\",\"nameRegex\":\"^n\"},\"labels\":[{"
		       "\"key\":\"a\",\"value\":\"b\"},{\"key\":\"c\"}],\"annotations\":[{\"key\":"
		       "\"d\"}],\"imageRegex\":\"i\",\"containerNameRegex\":\"c\","
		       "\"excludeLabels\":[{\"key\":\"e\"}]},{\"imageRegex\":\"j\"}]},"
		       "\"status\":{\"observedGeneration\":3,\"matchedPods\":12,\"groups\":1,"
		       "\"conditions\":[{\"type\":\"Accepted\",\"reason\":\"Accepted\","
		       "\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]}",
			&a, &g, &f),
		0, "%s", f.message);
	cr_assert_str_eq(g.name, "runs");
	cr_assert_eq(g.generation, 4);
	cr_assert(g.disabled);
	cr_assert_eq(g.weight, -3);
	cr_assert_eq(g.key_from, GROUP_KEY_LABEL_VALUE);
	cr_assert_str_eq(g.key_name, "run");
	cr_assert_str_eq(g.policy, "small");
	cr_assert_eq(g.retention_s, 3600);
	cr_assert_eq(g.rule_count, 2);
	const struct group_rule *r = &g.rules[0];
	cr_assert_str_eq(r->owner_group, "argoproj.io");
	cr_assert_str_eq(r->owner_kind, "Workflow");
	cr_assert_str_eq(r->owner_name_regex, "^n");
	cr_assert_eq(r->labels.count, 2);
	cr_assert_str_eq(r->labels.items[0].value, "b");
	cr_assert_null(r->labels.items[1].value);
	cr_assert_str_eq(r->notes.items[0].key, "d");
	cr_assert_str_eq(r->image_regex, "i");
	cr_assert_str_eq(r->container_name_regex, "c");
	cr_assert_str_eq(r->excluded.items[0].key, "e");
	cr_assert_str_eq(g.rules[1].image_regex, "j");
	cr_assert_null(g.rules[1].owner_kind);
	cr_assert_eq(g.status_pods, 12);
	cr_assert_str_eq(g.status_accepted_reason, "Accepted");
	cr_assert_gt(g.status_accepted_ms, 0);
}

Test(group, defaults)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct workload_group g;
	struct fault f = {0};
	cr_assert_eq(decode("\"spec\":{\"rules\":[{\"imageRegex\":\"x\"}]}", &a, &g, &f), 0, "%s",
		f.message);
	cr_assert_not(g.disabled);
	cr_assert_eq(g.weight, 0);
	cr_assert_eq(g.key_from, GROUP_KEY_OWNER_NAME);
	cr_assert_eq(g.retention_s, 691200);
	cr_assert_null(g.policy);
	cr_assert_null(g.status_accepted_reason);
}

static void refused(const char *spec, const char *message)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct workload_group g;
	struct fault f = {0};
	cr_assert_eq(decode(arena_printf(&a, "\"spec\":%s", spec), &a, &g, &f), -1, "%s", spec);
	cr_assert_not_null(strstr(f.message, message), "%s", f.message);
}

Test(group, what_cannot_mean_anything)
{
	refused("{}", "gpuworkloadgroup runs: spec.rules: not from 1 to 16");
	refused("{\"rules\":[7]}", "spec.rules[0]: object expected");
	refused("{\"rules\":[{\"topOwner\":{\"group\":\"apps\"}}]}",
		"spec.rules[0]: topOwner.kind: missing");
	refused("{\"rules\":[{\"labels\":[{\"value\":\"x\"}]}]}", "labels[0]");
	refused("{\"keyFrom\":\"Nowhere\",\"rules\":[{}]}", "spec.keyFrom");
}

/* What was said stays true since then; what changed is true from now on. */
Test(group, the_verdict_of_its_status)
{
	CLEANUP(str_finish) struct str json = STR_INIT(4096);
	struct workload_group g = {.name = "runs",
		.uid = "u-1",
		.generation = 4,
		.status_accepted_reason = "Accepted",
		.status_accepted_ms = 1000,
		.status_ready_ms = 2000};
	struct group_verdict verdict = {.reason = "BadRegex",
		.problem = "rules[0].imageRegex is wrong",
		.wall_ms = 1795392000000};
	struct build b = build_into(&json);
	group_write_status(&b, &g, &verdict);
	cr_assert(build_ok(&b));
	cr_assert_str_eq(str_text(&json),
		"{\"metadata\":{\"uid\":\"u-1\"},\"status\":{\"observedGeneration\":4,"
		"\"conditions\":[{\"type\":\"Accepted\",\"status\":\"False\","
		"\"observedGeneration\":4,\"lastTransitionTime\":\"2026-11-23T00:00:00Z\","
		"\"reason\":\"BadRegex\",\"message\":\"rules[0].imageRegex is wrong\"},{\"type\":"
		"\"Ready\",\"status\":\"False\",\"observedGeneration\":4,\"lastTransitionTime\":"
		"\"2026-11-23T00:00:00Z\",\"reason\":\"BadRegex\",\"message\":\"The group matches "
		"no pod.\"}]}}");
	str_reset(&json);
	verdict = (struct group_verdict){.reason = "Accepted",
		.wall_ms = 1795392000000,
		.counted = true,
		.pods = 7,
		.groups = 2};
	b = build_into(&json);
	group_write_status(&b, &g, &verdict);
	cr_assert_not_null(strstr(str_text(&json), "1970-01-01T00:00:01Z"));
	cr_assert_not_null(strstr(str_text(&json), "1970-01-01T00:00:02Z"));
	cr_assert_null(strstr(str_text(&json), "2026"));
	cr_assert_not_null(strstr(str_text(&json), "\"matchedPods\":7,\"groups\":2,"));
}
