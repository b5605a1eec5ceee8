/* Reading a GPURecommendation. */
#include "codec/gpurecommendation.h"

#include "base/clock.h"
#include "model/quantity.h"
#include "parts.h"

/* Of original.computePercent, which is of all GPUs that a template asks for. */
#define PERCENT_MAX 1000000

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("generation"),
	SLICE_KEEP("creationTimestamp"),
	SLICE_KEEP("ownerReferences"),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep recommendation_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP("spec"),
	SLICE_KEEP("status"),
	SLICE_END,
};

const struct slice_keep *recommendation_projection(void)
{
	return recommendation_keep;
}

/* --- values --- */

static int read_percent(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena;
	if (!json_is_integer(value)) {
		return decode_mismatch(value, "integer", ret_fault);
	}
	json_int_t percent = json_integer_value(value);
	if (percent < 0 || percent > PERCENT_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "%lld is not between 0 and %d",
			(long long)percent, PERCENT_MAX);
	}
	*(int64_t *)field = percent * 10;
	return 0;
}

static int read_memory(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena;
	if (!json_is_string(value)) {
		return decode_mismatch(value, "quantity", ret_fault);
	}
	struct view text = {json_string_value(value), json_string_length(value)};
	if (view_equals(text, "0")) {
		*(int64_t *)field = 0;
		return 0;
	}
	return memory_parse(text, field, ret_fault);
}

/* The position of a word that `name` gives to a number from 0 to count - 1; 0 if none does. */
static unsigned position_of(
	const json_t *value, const char *(*name)(unsigned position), unsigned count)
{
	const char *text = json_string_value(value);
	for (unsigned i = 0; text != NULL && i < count; i++) {
		if (text_equals(name(i), text)) {
			return i;
		}
	}
	return 0;
}

static const char *capped_name(unsigned i)
{
	return capped_by_name((enum capped_by)i);
}

static int read_capped(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena, (void)ret_fault;
	*(enum capped_by *)field =
		(enum capped_by)position_of(value, capped_name, CAPPED_BY_HEALING + 1);
	return 0;
}

static const char *healing_name(unsigned i)
{
	return healing_kind_name((enum healing_kind)i);
}

static int read_healing_kind(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena, (void)ret_fault;
	*(enum healing_kind *)field =
		(enum healing_kind)position_of(value, healing_name, HEALING_ROLLBACK + 1);
	return 0;
}

static const char *result_name(unsigned i)
{
	return update_result_name((enum update_result)i);
}

static int read_result(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena, (void)ret_fault;
	*(enum update_result *)field =
		(enum update_result)position_of(value, result_name, UPDATE_ROLLED_BACK + 1);
	return 0;
}

static int read_type(const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena, (void)ret_fault;
	(void)!workload_type_parse(json_string_value(value), field);
	return 0;
}

/* --- containers --- */

#define SHARE_FIELDS(path, member)                                                                 \
	{path ".computePercent", DECODE_CUSTOM, false,                                             \
		offsetof(struct recommended_container, member.milli), read_percent},               \
	{                                                                                          \
		path ".memory", DECODE_CUSTOM, false,                                              \
			offsetof(struct recommended_container, member.mib), read_memory            \
	}

static const struct decode_field container_fields[] = {
	{"name", DECODE_TEXT, true, offsetof(struct recommended_container, name), NULL},
	SHARE_FIELDS("original", original),
	SHARE_FIELDS("allocated", allocated),
	{"allocated.pods", DECODE_I32, false,
		offsetof(struct recommended_container, allocated_pods), NULL},
	SHARE_FIELDS("target", target),
	SHARE_FIELDS("uncappedTarget", uncapped),
	SHARE_FIELDS("lowerBound", lower),
	SHARE_FIELDS("upperBound", upper),
	{"usage.computeP50", DECODE_I32, false,
		offsetof(struct recommended_container, usage.p50_percent), NULL},
	{"usage.computeTarget", DECODE_I32, false,
		offsetof(struct recommended_container, usage.target_percent), NULL},
	{"usage.memoryPeak", DECODE_CUSTOM, false,
		offsetof(struct recommended_container, usage.peak_mib), read_memory},
	{"usage.lastSampleTime", DECODE_TIME, false,
		offsetof(struct recommended_container, usage.last_sample_ms), NULL},
	{"cappedBy", DECODE_CUSTOM, false, offsetof(struct recommended_container, capped_by),
		read_capped},
};

static int read_containers(
	const json_t *root, struct arena *arena, struct recommendation *r, struct fault *ret_fault)
{
	static const char path[] = "status.containers";
	const json_t *array = NULL;
	if (decode_array(root, path, &array, ret_fault) < 0) {
		return -1;
	}
	size_t count = array != NULL ? json_array_size(array) : 0;
	if (count > RECOMMENDED_CONTAINERS_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "%s: more than %d", path,
			RECOMMENDED_CONTAINERS_MAX);
	}
	r->containers = count > 0 ? ARENA_ARRAY(arena, struct recommended_container, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(array, i);
		struct recommended_container *c = &r->containers[r->container_count++];
		if (decode_fields(object, container_fields, COUNT_OF(container_fields), arena, c,
			    ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s[%zu]", path, i);
		}
		c->usage.compute_known = decode_find(object, "usage.computeTarget") != NULL;
		c->usage.memory_known = decode_find(object, "usage.memoryPeak") != NULL;
	}
	return 0;
}

/* --- conditions --- */

struct condition_text {
	const char *type, *status, *reason, *message;
	int64_t since_ms;
};

static const struct decode_field condition_fields[] = {
	{"type", DECODE_TEXT, true, offsetof(struct condition_text, type), NULL},
	{"status", DECODE_TEXT, true, offsetof(struct condition_text, status), NULL},
	{"reason", DECODE_TEXT, false, offsetof(struct condition_text, reason), NULL},
	{"message", DECODE_TEXT, false, offsetof(struct condition_text, message), NULL},
	{"lastTransitionTime", DECODE_TIME, false, offsetof(struct condition_text, since_ms), NULL},
};

static int read_conditions(
	const json_t *root, struct arena *arena, struct recommendation *r, struct fault *ret_fault)
{
	const json_t *array = NULL;
	if (decode_array(root, "status.conditions", &array, ret_fault) < 0) {
		return -1;
	}
	for (size_t i = 0; array != NULL && i < json_array_size(array); i++) {
		struct condition_text t = {.reason = "", .message = ""};
		enum recommendation_condition type;
		if (decode_fields(json_array_get(array, i), condition_fields,
			    COUNT_OF(condition_fields), arena, &t, ret_fault) < 0) {
			return fault_wrap(ret_fault, "status.conditions[%zu]", i);
		}
		if (recommendation_condition_parse(t.type, &type)) {
			enum condition_status status =
				text_equals(t.status, "True")	 ? CONDITION_TRUE
				: text_equals(t.status, "False") ? CONDITION_FALSE
								 : CONDITION_UNKNOWN;
			r->conditions[type] = (struct recommended_condition){
				status, t.reason, t.message, t.since_ms};
		}
	}
	return 0;
}

/* --- the whole --- */

static const struct decode_field recommendation_fields[] = {
	{"metadata.name", DECODE_TEXT, true, offsetof(struct recommendation, name), NULL},
	{"metadata.namespace", DECODE_TEXT, true, offsetof(struct recommendation, target.ns), NULL},
	{"metadata.uid", DECODE_TEXT, false, offsetof(struct recommendation, uid), NULL},
	{"metadata.resourceVersion", DECODE_TEXT, false,
		offsetof(struct recommendation, resource_version), NULL},
	{"metadata.generation", DECODE_I64, false, offsetof(struct recommendation, generation),
		NULL},
	{"metadata.creationTimestamp", DECODE_TIME, false,
		offsetof(struct recommendation, created_ms), NULL},
	{"spec.targetRef.group", DECODE_TEXT, false, offsetof(struct recommendation, target.group),
		NULL},
	{"spec.targetRef.kind", DECODE_TEXT, true, offsetof(struct recommendation, target.kind),
		NULL},
	{"spec.targetRef.name", DECODE_TEXT, true, offsetof(struct recommendation, target.name),
		NULL},
	{"status.observedGeneration", DECODE_I64, false,
		offsetof(struct recommendation, observed_generation), NULL},
	{"status.revision", DECODE_I64, false, offsetof(struct recommendation, revision), NULL},
	{"status.policy.name", DECODE_TEXT, false, offsetof(struct recommendation, policy.name),
		NULL},
	{"status.policy.generation", DECODE_I64, false,
		offsetof(struct recommendation, policy.generation), NULL},
	{"status.policy.source", DECODE_TEXT, false, offsetof(struct recommendation, policy.source),
		NULL},
	{"status.workloadType", DECODE_CUSTOM, false, offsetof(struct recommendation, type),
		read_type},
	{"status.history.firstSampleTime", DECODE_TIME, false,
		offsetof(struct recommendation, history.first_sample_ms), NULL},
	{"status.history.samples", DECODE_I64, false,
		offsetof(struct recommendation, history.samples), NULL},
	{"status.history.coveragePercent", DECODE_I32, false,
		offsetof(struct recommendation, history.coverage_percent), NULL},
	{"status.pods.total", DECODE_I32, false, offsetof(struct recommendation, pods.total), NULL},
	{"status.pods.upToDate", DECODE_I32, false,
		offsetof(struct recommendation, pods.up_to_date), NULL},
	{"status.pods.pending", DECODE_I32, false, offsetof(struct recommendation, pods.pending),
		NULL},
	{"status.healing.kind", DECODE_CUSTOM, false, offsetof(struct recommendation, healing.kind),
		read_healing_kind},
	{"status.healing.since", DECODE_TIME, false,
		offsetof(struct recommendation, healing.since_ms), NULL},
	{"status.healing.until", DECODE_TIME, false,
		offsetof(struct recommendation, healing.until_ms), NULL},
	{"status.healing.step", DECODE_I32, false, offsetof(struct recommendation, healing.step),
		NULL},
	{"status.savings.gpuMilli", DECODE_I64, false, offsetof(struct recommendation, saved_milli),
		NULL},
	{"status.lastUpdate.result", DECODE_CUSTOM, false,
		offsetof(struct recommendation, last_update.result), read_result},
	{"status.lastUpdate.time", DECODE_TIME, false,
		offsetof(struct recommendation, last_update.at_ms), NULL},
	{"status.lastUpdate.reason", DECODE_TEXT, false,
		offsetof(struct recommendation, last_update.reason), NULL},
	{"status.lastUpdate.givenBackTimes", DECODE_I32, false,
		offsetof(struct recommendation, last_update.times), NULL},
};

int recommendation_decode(const char *json, size_t n, struct arena *arena,
	struct recommendation *ret_recommendation, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct recommendation r = {
		.name = "", .uid = "", .resource_version = "", .target = {.ns = "", .group = ""}};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_fields(root, recommendation_fields, COUNT_OF(recommendation_fields), arena,
			&r, ret_fault) < 0 ||
		read_containers(root, arena, &r, ret_fault) < 0 ||
		read_conditions(root, arena, &r, ret_fault) < 0) {
		return fault_wrap(ret_fault, "gpurecommendation %.63s/%.63s", r.target.ns, r.name);
	}
	r.owned = json_array_size(decode_find(root, "metadata.ownerReferences")) > 0;
	r.saves = decode_find(root, "status.savings.gpuMilli") != NULL;
	*ret_recommendation = r;
	return 0;
}
