/* HorizontalPodAutoscalers and ScaledObjects as their controllers write them. */
#include "codec/objects.h"

#include <criterion/criterion.h>

#include "base/str.h"
#include "json/decode.h"

#define META "\"metadata\":{\"namespace\":\"n\",\"name\":\"s\",\"uid\":\"u\"}"

static const char hpa[] =
	"{" META ",\"spec\":{\"scaleTargetRef\":{\"apiVersion\":\"apps/v1\",\"kind\":"
	"\"Deployment\",\"name\":\"llm\"},\"minReplicas\":1,\"maxReplicas\":4,\"metrics\":["
	"{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
	"\"Utilization\",\"averageUtilization\":80}}},"
	"{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"memory\",\"container\":"
	"\"c\"}},"
	"{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"DCGM_FI_DEV_GPU_UTIL\"}}},"
	"{\"type\":\"Object\",\"object\":{\"metric\":{\"name\":\"requests\"}}},"
	"{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"s0-prometheus\"}}}]},"
	"\"status\":{\"currentReplicas\":2,\"desiredReplicas\":3,\"lastScaleTime\":"
	"\"2026-01-02T03:04:05Z\"}}";

Test(scaler, U14_an_autoscaler_tells_its_target_its_metrics_and_its_numbers)
{
	static const char *const metrics[] = {
		"cpu", "memory", "DCGM_FI_DEV_GPU_UTIL", "requests", "s0-prometheus"};
	CLEANUP(arena_finish) struct arena arena = {0};
	struct scaler s;
	struct fault f = {0};
	cr_assert_eq(
		fields_decode(view_of(hpa), &scaler_shape, &arena, &s, &f), 0, "%s", f.message);
	struct workload_key llm = {"n", "apps", "Deployment", "llm"};
	cr_expect(workload_key_equals(&s.target, &llm));
	cr_expect_str_eq(s.kind, "HorizontalPodAutoscaler");
	cr_expect_str_eq(s.name, "s");
	cr_assert_eq(s.metric_count, COUNT_OF(metrics));
	for (size_t i = 0; i < COUNT_OF(metrics); i++) {
		cr_expect_str_eq(s.metrics[i], metrics[i]);
	}
	cr_expect_eq(s.current, 2);
	cr_expect_eq(s.desired, 3);
	cr_expect_eq(s.scaled_ms, INT64_C(1767323045000));
}

Test(scaler, U14_a_scaled_object_tells_its_queries)
{
	static const char json[] =
		"{" META ",\"spec\":{\"scaleTargetRef\":{\"name\":\"llm\"},\"triggers\":["
		"{\"type\":\"prometheus\",\"metadata\":{\"query\":\"avg(sm_active)\",\"metricName\""
		":\"active\"}},{\"type\":\"cron\",\"metadata\":{\"start\":\"0 8 * * *\"}}]}}";
	static const char other[] =
		"{" META ",\"spec\":{\"scaleTargetRef\":{\"apiVersion\":\"argoproj.io/v1alpha1\","
		"\"kind\":\"Rollout\",\"name\":\"llm\"}}}";
	CLEANUP(arena_finish) struct arena arena = {0};
	struct scaler s;
	struct fault f = {0};
	cr_assert_eq(fields_decode(view_of(json), &scaled_object_shape, &arena, &s, &f), 0, "%s",
		f.message);
	struct workload_key llm = {"n", "apps", "Deployment", "llm"};
	cr_expect(workload_key_equals(&s.target, &llm));
	cr_assert_eq(s.metric_count, 2);
	cr_expect_str_eq(s.metrics[0], "avg(sm_active)");
	cr_expect_str_eq(s.metrics[1], "active");
	cr_assert_eq(fields_decode(view_of(other), &scaled_object_shape, &arena, &s, &f), 0);
	cr_expect_str_eq(s.target.group, "argoproj.io");
	cr_expect_str_eq(s.target.kind, "Rollout");
	cr_expect_eq(s.metric_count, 0);
}

Test(scaler, what_is_none_is_said)
{
	static const char *const rows[] = {"[]", "{}", "{" META "}",
		"{" META ",\"spec\":{\"scaleTargetRef\":{\"name\":1}}}",
		"{" META ",\"spec\":{\"scaleTargetRef\":{\"name\":\"a\"},\"metrics\":{},"
		"\"triggers\":{}}}",
		"{" META ",\"spec\":{\"scaleTargetRef\":{\"name\":\"a\"},\"metrics\":[{\"pods\":{"
		"\"metric\":{\"name\":1}}}],\"triggers\":[{\"metadata\":{\"query\":1}}]}}"};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct scaler s;
		struct fault f = {0}, g = {0};
		const char *json = rows[i];
		cr_expect_eq(
			fields_decode(view_of(json), &scaler_shape, &arena, &s, &f), -1, "%zu", i);
		cr_expect_eq(f.kind, FAULT_INVALID);
		cr_expect_eq(
			fields_decode(view_of(json), &scaled_object_shape, &arena, &s, &g), -1);
		cr_expect_eq(g.kind, FAULT_INVALID);
	}
}
