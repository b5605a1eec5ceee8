/* ResourceQuotas as they are read, and which pods they are about: what the API server's evaluator
 * says of the same scopes. */
#include "codec/objects.h"

#include <criterion/criterion.h>

#include "base/str.h"
#include "pods/pod_decode.h"

static struct quota read(struct arena *a, const char *spec)
{
	struct quota q;
	struct fault f = {0};
	char *json = arena_printf(
		a, "{\"metadata\":{\"namespace\":\"n\",\"name\":\"q\"},\"spec\":%s}", spec);
	cr_assert_eq(fields_decode(view_of(json), &quota_shape, a, &q, &f), 0, "%s", f.message);
	cr_assert_str_eq(q.ns, "n");
	cr_assert_str_eq(q.name, "q");
	return q;
}

Test(quota, only_the_key_that_kubernetes_counts)
{
	static const struct {
		const char *hard;
		bool bounds;
		int64_t milli;
	} rows[] = {
		{"{\"requests.nvidia.com/gpu\":\"2\",\"pods\":\"9\"}", true, 2000},
		{"{\"requests.nvidia.com/gpu\":\"0\"}", true, 0},
		{"{\"requests.nvidia.com/gpu\":3}", true, 3000},
		{"{\"requests.nvidia.com/gpu\":\"1500m\"}", true, 1500},
		{"{\"requests.nvidia.com/gpu\":\"9E\"}", true, INT64_MAX},
		{"{\"limits.nvidia.com/gpu\":\"2\"}", false, 0},
		{"{\"nvidia.com/gpu\":\"2\"}", false, 0},
		{"{\"requests.cpu\":\"2\"}", false, 0},
		{"null", false, 0},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct quota q = read(&arena, arena_printf(&arena, "{\"hard\":%s}", rows[i].hard));
		cr_assert_eq(q.bounds_gpus, rows[i].bounds, "row %zu", i);
		cr_assert_eq(q.hard_milli, rows[i].milli, "row %zu", i);
	}
}

Test(quota, what_is_no_quota_is_said)
{
	static const char *const rows[] = {"{}", "{\"metadata\":{\"name\":\"q\"}}",
		"{\"metadata\":{\"namespace\":\"n\",\"name\":\"q\"},\"spec\":{\"hard\":"
		"{\"requests.nvidia.com/gpu\":\"1\"},\"scopes\":[1]}}",
		"{\"metadata\":{\"namespace\":\"n\",\"name\":\"q\"},\"spec\":{\"hard\":"
		"{\"requests.nvidia.com/gpu\":\"1\"},\"scopeSelector\":{\"matchExpressions\":"
		"[{\"scopeName\":\"PriorityClass\",\"operator\":\"Like\"}]}}}"};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct quota q;
		struct fault f = {0};
		cr_assert_eq(fields_decode(view_of(rows[i]), &quota_shape, &arena, &q, &f), -1,
			"%zu", i);
		cr_assert_eq(f.kind, FAULT_INVALID);
	}
}

#define SELECTOR(scope, rest)                                                                      \
	"\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":\"" scope "\"," rest "}]}"
#define IN_HIGH	 SELECTOR("PriorityClass", "\"operator\":\"In\",\"values\":[\"high\",\"top\"]")
#define NOT_HIGH SELECTOR("PriorityClass", "\"operator\":\"NotIn\",\"values\":[\"high\",\"top\"]")

Test(quota, c7_scopes_choose_pods_as_the_api_server_does)
{
	static const struct quota_subject plain = {0}, high = {.priority_class = "high"},
					  low = {.priority_class = "low"},
					  ends = {.has_deadline = true},
					  best = {.best_effort = true},
					  wide = {.crosses_namespaces = true},
					  high_best = {
						  .priority_class = "top", .best_effort = true};
	static const struct {
		const char *scopes;
		const struct quota_subject *pod;
		bool covered;
	} rows[] = {
		{"\"scopes\":[]", &plain, true},
		{"\"scopes\":[\"Terminating\"]", &ends, true},
		{"\"scopes\":[\"Terminating\"]", &plain, false},
		{"\"scopes\":[\"NotTerminating\"]", &ends, false},
		{"\"scopes\":[\"NotTerminating\"]", &plain, true},
		{"\"scopes\":[\"BestEffort\"]", &best, true},
		{"\"scopes\":[\"BestEffort\"]", &plain, false},
		{"\"scopes\":[\"NotBestEffort\"]", &best, false},
		{"\"scopes\":[\"NotBestEffort\"]", &plain, true},
		{"\"scopes\":[\"CrossNamespacePodAffinity\"]", &wide, true},
		{"\"scopes\":[\"CrossNamespacePodAffinity\"]", &plain, false},
		{"\"scopes\":[\"PriorityClass\"]", &low, true},
		{"\"scopes\":[\"PriorityClass\"]", &plain, false},
		{"\"scopes\":[\"VolumeAttributesClass\"]", &plain, false},
		{IN_HIGH, &high, true},
		{IN_HIGH, &low, false},
		{IN_HIGH, &plain, false},
		{NOT_HIGH, &high, false},
		{NOT_HIGH, &low, true},
		/* No class is in no list. */
		{NOT_HIGH, &plain, true},
		{SELECTOR("PriorityClass", "\"operator\":\"DoesNotExist\""), &plain, true},
		{SELECTOR("PriorityClass", "\"operator\":\"DoesNotExist\""), &low, false},
		{SELECTOR("PriorityClass", "\"operator\":\"Exists\""), &low, true},
		{SELECTOR("BestEffort", "\"operator\":\"Exists\""), &best, true},
		/* All must hold. */
		{"\"scopes\":[\"BestEffort\"]," IN_HIGH, &high_best, true},
		{"\"scopes\":[\"BestEffort\"]," IN_HIGH, &high, false},
		{"\"scopes\":[\"BestEffort\"]," IN_HIGH, &best, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct quota q = read(&arena,
			arena_printf(&arena, "{\"hard\":{\"requests.nvidia.com/gpu\":\"1\"},%s}",
				rows[i].scopes));
		cr_assert_eq(quota_covers(&q, rows[i].pod), rows[i].covered, "row %zu: %s", i,
			rows[i].scopes);
	}
}

static struct quota_subject subject(struct arena *a, const char *spec, const char *status)
{
	struct pod p;
	struct fault f = {0};
	char *json = arena_printf(a,
		"{\"metadata\":{\"namespace\":\"n\",\"name\":\"p\"},\"spec\":%s,\"status\":%s}",
		spec, status);
	cr_assert_eq(pod_decode(json, strlen(json), a, &p, &f), 0, "%s", f.message);
	return quota_subject_of(&p);
}

#define GPU                                                                                        \
	"\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]"
#define CPU                                                                                        \
	"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1m\"},"            \
	"\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]"
#define REQUIRED(term) "{\"requiredDuringSchedulingIgnoredDuringExecution\":[" term "]}"
#define PREFERRED(term)                                                                            \
	"{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,"                     \
	"\"podAffinityTerm\":" term "}]}"

Test(quota, what_scopes_ask_of_a_pod_is_read_from_it)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct quota_subject s = subject(&a, "{" GPU "}", "{}");
	/* A GPU is no quality of service. */
	cr_assert(s.best_effort && !s.has_deadline && !s.crosses_namespaces);
	cr_assert(!subject(&a, "{" CPU "}", "{}").best_effort);
	cr_assert(!subject(&a, "{" GPU "}", "{\"qosClass\":\"Burstable\"}").best_effort);
	cr_assert(subject(&a, "{" CPU "}", "{\"qosClass\":\"BestEffort\"}").best_effort);
	/* A sandbox costs something too, but it is not the pod that asks for it. */
	cr_assert(subject(&a, "{" GPU ",\"overhead\":{\"cpu\":\"1\"}}", "{}").best_effort);
	cr_assert(!subject(&a, "{" GPU ",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}", "{}")
			   .best_effort);
	cr_assert(subject(&a, "{" GPU ",\"activeDeadlineSeconds\":600}", "{}").has_deadline);
	s = subject(&a, "{" GPU ",\"priorityClassName\":\"high\"}", "{}");
	cr_assert_str_eq(s.priority_class, "high");
}

Test(quota, affinity_to_pods_of_other_namespaces_is_seen)
{
	static const struct {
		const char *affinity;
		bool crosses;
	} rows[] = {
		{"{\"podAffinity\":" REQUIRED("{\"topologyKey\":\"z\"}") "}", false},
		{"{\"podAffinity\":" REQUIRED("{\"namespaces\":[]}") "}", false},
		{"{\"podAffinity\":" REQUIRED("{\"namespaces\":[\"x\"]}") "}", true},
		{"{\"podAntiAffinity\":" REQUIRED("{\"namespaceSelector\":{}}") "}", true},
		{"{\"podAffinity\":" PREFERRED("{\"namespaceSelector\":{}}") "}", true},
		{"{\"podAntiAffinity\":" PREFERRED("{\"namespaces\":[\"x\"]}") "}", true},
		{"{\"podAntiAffinity\":" PREFERRED("{\"topologyKey\":\"z\"}") "}", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena a = {0};
		const char *spec = arena_printf(&a, "{" GPU ",\"affinity\":%s}", rows[i].affinity);
		cr_assert_eq(subject(&a, spec, "{}").crosses_namespaces, rows[i].crosses, "%s",
			rows[i].affinity);
	}
}
