/* PodGroups as Kubernetes 1.36 writes them, and as later versions and others may. */
#include "codec/objects.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "pods/pod_decode.h"

#define GROUP(meta, spec)                                                                          \
	"{\"metadata\":{\"namespace\":\"team\",\"name\":\"g\",\"uid\":\"u\",\"resourceVersion\":"  \
	"\"7\"" meta "},\"spec\":" spec ",\"status\":{\"conditions\":[]}}"
#define BASIC "\"schedulingPolicy\":{\"basic\":{}}"

static struct pod_group decoded(const char *json, struct arena *arena)
{
	struct pod_group g = {0};
	struct fault f = {0};
	cr_assert_eq(
		fields_decode(view_of(json), &pod_group_shape, arena, &g, &f), 0, "%s", f.message);
	return g;
}

Test(podgroup, C4_only_what_is_understood_in_all_its_parts_is_basic)
{
	static const struct {
		const char *json;
		bool basic;
	} rows[] = {
		{GROUP("", "{" BASIC "}"), true},
		{GROUP("", "{\"podGroupTemplateRef\":{\"workload\":{\"workloadName\":\"w\"}}," BASIC
			   ",\"disruptionMode\":\"Pod\",\"priorityClassName\":\"low\",\"priority\":"
			   "3,\"resourceClaims\":null}"),
			true},
		{GROUP("", "{\"schedulingPolicy\":{\"gang\":{\"minCount\":2}}}"), false},
		{GROUP("", "{\"schedulingPolicy\":{\"basic\":{},\"gang\":{\"minCount\":2}}}"),
			false},
		{GROUP("", "{\"schedulingPolicy\":{\"basic\":{\"minCount\":2}}}"), false},
		{GROUP("", "{\"schedulingPolicy\":{\"basic\":true}}"), false},
		{GROUP("", "{\"schedulingPolicy\":{\"basic\":null}}"), false},
		{GROUP("", "{\"schedulingPolicy\":{}}"), false},
		{GROUP("", "{\"schedulingPolicy\":\"basic\"}"), false},
		{GROUP("", "{" BASIC
			   ",\"schedulingConstraints\":{\"topology\":[{\"key\":\"rack\"}]}}"),
			false},
		{GROUP("", "{" BASIC ",\"disruptionMode\":\"PodGroup\"}"), false},
		{GROUP("", "{" BASIC ",\"resourceClaims\":[{\"name\":\"c\"}]}"), false},
		{GROUP("", "{" BASIC ",\"startTogether\":true}"), false},
		{GROUP(",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "{" BASIC "}"), false},
		{GROUP("", "{}"), false},
		{GROUP("", "[]"), false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena arena = {0};
		struct pod_group g = decoded(rows[i].json, &arena);
		cr_assert_str_eq(g.ns, "team");
		cr_assert_str_eq(g.name, "g");
		cr_expect_eq(g.basic, rows[i].basic, "%s", rows[i].json);
		arena_finish(&arena);
	}
}

Test(podgroup, one_without_a_name_cannot_be_read)
{
	static const char *const rows[] = {"{}", "[]", "{\"metadata\":{\"name\":\"g\"}}",
		"{\"metadata\":{\"namespace\":\"n\",\"name\":7}}"};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena arena = {0};
		struct pod_group g;
		struct fault f = {0};
		cr_expect_lt(fields_decode(view_of(rows[i]), &pod_group_shape, &arena, &g, &f), 0);
		cr_expect_eq(f.kind, FAULT_INVALID);
		arena_finish(&arena);
	}
}

static struct pod pod_of(const char *spec, struct arena *arena)
{
	const char *json = arena_printf(arena, "{\"spec\":{%s}}", spec);
	struct pod p = {0};
	struct fault f = {0};
	cr_assert_eq(pod_decode(json, strlen(json), arena, &p, &f), 0, "%s", f.message);
	return p;
}

/* The group is looked for by its name alone; what tells more is not understood. */
Test(podgroup, C4_the_pod_group_is_known_by_its_name)
{
	static const struct {
		const char *spec, *name;
	} rows[] = {
		{"\"schedulingGroup\":{\"podGroupName\":\"g\"}", "g"},
		{"\"schedulingGroup\":{\"podGroupName\":\"g\",\"more\":1}", NULL},
		{"\"schedulingGroup\":{\"podGroupName\":\"../g\"}", NULL},
		{"\"schedulingGroup\":{\"podGroupName\":7}", NULL},
		{"\"schedulingGroup\":{}", NULL},
		{"\"schedulingGroup\":\"g\"", NULL},
		{"\"workloadRef\":{\"name\":\"w\",\"podGroup\":\"g\"}", NULL},
		{"\"schedulingGroup\":{\"podGroupName\":\"g\"},\"workloadRef\":{\"name\":"
		 "\"w\"}",
			NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct pod p = pod_of(rows[i].spec, &arena);
		cr_expect(p.has_group, "%s", rows[i].spec);
		cr_expect(text_equals(p.group_name, rows[i].name), "%s", rows[i].spec);
	}
}
