/* GPURecommendations, both ways. What is not known is not written. */
#include "own/gpurecommendation.h"

#include <stdio.h>

#include "model/names.h"
#include "model/quantity.h"
#include "codec/parts.h"

/* Of original.computePercent, which is of all GPUs that a template asks for. */
#define PERCENT_MAX 1000000
#define FIGURE_MAX  32

/* --- shares --- */

/* Half a percent is none and no more than that: what a person annotated may be finer. */
static int64_t percent_of(int64_t milli)
{
	return (milli + 5) / 10;
}

static int read_percent(const struct reading *r, const json_t *value, void *to)
{
	const struct field of = {.max = PERCENT_MAX};
	int64_t *milli = to;
	if (field_i64.read(&(struct reading){.field = &of, .fault = r->fault}, value, milli) < 0) {
		return -1;
	}
	*milli *= 10;
	return 0;
}

static void write_percent(struct build *b, const struct field *f, const void *from)
{
	(void)f;
	build_i64(b, percent_of(*(const int64_t *)from));
}

static bool is_no_percent(const struct field *f, const void *from)
{
	(void)f;
	return *(const int64_t *)from <= 0;
}

static int read_mib(const struct reading *r, const json_t *value, void *to)
{
	if (text_equals(json_string_value(value), "0")) {
		*(int64_t *)to = 0;
		return 0;
	}
	return field_memory.read(r, value, to);
}

static void write_mib(struct build *b, const struct field *f, const void *from)
{
	if (*(const int64_t *)from > 0) {
		field_memory.write(b, f, from);
	} else {
		build_text(b, "0");
	}
}

static const struct field_kind field_percent = {
	.read = read_percent, .write = write_percent, .is_empty = is_no_percent};
static const struct field_kind field_mib = {
	.read = read_mib, .write = write_mib, .is_empty = is_no_percent};

/* --- containers --- */

static bool has_pods(const void *container)
{
	return ((const struct recommended_container *)container)->allocated_pods > 0;
}

static bool knows_compute(const void *container)
{
	return ((const struct recommended_container *)container)->usage.compute_known;
}

static bool knows_memory(const void *container)
{
	return ((const struct recommended_container *)container)->usage.memory_known;
}

#define C(member) AT(recommended_container, member)

static const struct field container_fields[] = {
	FIELD("name", text, C(name), .required = true, .always = true),
	FIELD("original.computePercent", percent, C(original.milli)),
	FIELD("original.memory", mib, C(original.mib)),
	FIELD("allocated.computePercent", percent, C(allocated.milli), .when = has_pods),
	FIELD("allocated.memory", mib, C(allocated.mib), .when = has_pods),
	FIELD("allocated.pods", i32, C(allocated_pods), .when = has_pods),
	FIELD("target.computePercent", percent, C(target.milli)),
	FIELD("target.memory", mib, C(target.mib)),
	FIELD("uncappedTarget.computePercent", percent, C(uncapped.milli)),
	FIELD("uncappedTarget.memory", mib, C(uncapped.mib)),
	FIELD("lowerBound.computePercent", percent, C(lower.milli)),
	FIELD("lowerBound.memory", mib, C(lower.mib)),
	FIELD("upperBound.computePercent", percent, C(upper.milli)),
	FIELD("upperBound.memory", mib, C(upper.mib)),
	FIELD("usage.computeP50", i32, C(usage.p50_percent), .always = true, .when = knows_compute),
	FIELD("usage.computeTarget", i32, C(usage.target_percent), .always = true,
		.when = knows_compute),
	FIELD("usage.computeTarget", there, C(usage.compute_known)),
	FIELD("usage.memoryPeak", mib, C(usage.peak_mib), .always = true, .when = knows_memory),
	FIELD("usage.memoryPeak", there, C(usage.memory_known)),
	FIELD("usage.lastSampleTime", time, C(usage.last_sample_ms)),
	FIELD("cappedBy", name, C(capped_by), .name = capped_by_name, .max = CAPPED_BY_HEALING),
};
static const struct shape container_shape = {SHAPE(recommended_container, container_fields)};

/* --- what kubectl shows in columns --- */

static void write_figures(
	struct build *b, const struct share *s, const char *compute_key, const char *memory_key)
{
	char text[QUANTITY_TEXT_MAX];
	char percent[FIGURE_MAX];
	if (s->milli > 0) {
		snprintf(percent, sizeof percent, "%lld%%", (long long)percent_of(s->milli));
		build_text_at(b, compute_key, percent);
	}
	if (s->mib > 0) {
		build_text_at(b, memory_key, memory_format(s->mib, text));
	}
}

static void write_summary(struct build *b, const struct field *f, const void *from)
{
	const struct recommendation *r = from;
	char pods[FIGURE_MAX];
	(void)f;
	build_begin_object(b);
	if (r->container_count > 0) {
		const struct recommended_container *c = &r->containers[0];
		write_figures(b, &c->target, "compute", "memory");
		if (c->allocated_pods > 0) {
			write_figures(b, &c->allocated, "allocatedCompute", "allocatedMemory");
		}
	}
	snprintf(pods, sizeof pods, "%d/%d", (int)r->pods.up_to_date, (int)r->pods.total);
	build_text_at(b, "pods", pods);
	build_end(b);
}

static const struct field_kind field_summary = {.write = write_summary};

/* --- conditions --- */

static const struct field condition_fields[] = {
	FIELD("type", text, AT(condition, type), .required = true),
	FIELD("status", text, AT(condition, status), .required = true),
	FIELD("reason", text, AT(condition, reason)),
	FIELD("message", text, AT(condition, message)),
	FIELD("lastTransitionTime", time, AT(condition, since_ms)),
};
static const struct shape condition_shape = {SHAPE(condition, condition_fields),
	.defaults = &(const struct condition){.reason = "", .message = ""}};

static int take_recommended_condition(const struct reading *r, const void *item, void *noun)
{
	struct recommendation *of = noun;
	const struct condition *c = item;
	enum recommendation_condition type;
	(void)r;
	if (recommendation_condition_parse(c->type, &type)) {
		enum condition_status status = text_equals(c->status, "True") ? CONDITION_TRUE
					       : text_equals(c->status, "False")
						       ? CONDITION_FALSE
						       : CONDITION_UNKNOWN;
		of->conditions[type] =
			(struct recommended_condition){status, c->reason, c->message, c->since_ms};
	}
	return 0;
}

static void write_conditions(struct build *b, const struct field *f, const void *from)
{
	static const char *const words[] = {[CONDITION_TRUE] = "True",
		[CONDITION_FALSE] = "False",
		[CONDITION_UNKNOWN] = "Unknown"};
	const struct recommendation *r = from;
	(void)f;
	build_begin_array(b);
	for (unsigned i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		const struct recommended_condition *c = &r->conditions[i];
		struct view said = text_cut(c->message, RECOMMENDATION_MESSAGE_MAX);
		char message[RECOMMENDATION_MESSAGE_MAX + 1];
		if (c->status != CONDITION_ABSENT) {
			snprintf(message, sizeof message, "%.*s", (int)said.n, said.p);
			condition_write(b, &(struct condition){recommendation_condition_name(i),
						   words[c->status], c->reason, message,
						   c->since_ms, r->observed_generation});
		}
	}
	build_end(b);
}

static const struct field_kind field_conditions = {.write = write_conditions};

/* --- the whole --- */

static int read_owned(const struct reading *r, const json_t *value, void *to)
{
	(void)r;
	*(bool *)to = json_array_size(value) > 0;
	return 0;
}

static const struct field_kind field_owned = {.read = read_owned, .lenient = true};

static bool has_policy(const void *r)
{
	return ((const struct recommendation *)r)->policy.name != NULL;
}

static bool is_healing(const void *r)
{
	return ((const struct recommendation *)r)->healing.kind != HEALING_NONE;
}

static bool has_savings(const void *r)
{
	return ((const struct recommendation *)r)->saves;
}

static bool was_updated(const void *r)
{
	return ((const struct recommendation *)r)->last_update.result != UPDATE_NONE;
}

#define R(member) AT(recommendation, member)

static const struct field recommendation_fields[] = {
	FIELD("metadata.name", text, R(name), .required = true),
	FIELD("metadata.namespace", text, R(target.ns), .required = true),
	FIELD("metadata.uid", text, R(uid)),
	FIELD("metadata.resourceVersion", text, R(resource_version)),
	FIELD("metadata.generation", i64, R(generation)),
	FIELD("metadata.creationTimestamp", time, R(created_ms)),
	FIELD("metadata.ownerReferences", owned, R(owned)),

	FIELD("spec.targetRef.group", text, R(target.group), .always = true),
	FIELD("spec.targetRef.kind", text, R(target.kind), .required = true, .always = true),
	FIELD("spec.targetRef.name", text, R(target.name), .required = true, .always = true),

	FIELD("status.observedGeneration", i64, R(observed_generation), .always = true),
	FIELD("status.revision", i64, R(revision), .always = true),
	FIELD("status.policy.name", text, R(policy.name), .always = true, .when = has_policy),
	FIELD("status.policy.generation", i64, R(policy.generation), .always = true,
		.when = has_policy),
	FIELD("status.policy.source", text, R(policy.source), .when = has_policy),
	FIELD("status.workloadType", name, R(type), .name = workload_type_name,
		.max = WORKLOAD_TYPES - 1),
	FIELD("status.summary", summary, .at = 0),
	FIELD("status.containers", list, R(containers), COUNT_AT(recommendation, container_count),
		.always = true, .inside = &container_shape, .max = RECOMMENDED_CONTAINERS_MAX),
	FIELD("status.history.firstSampleTime", time, R(history.first_sample_ms)),
	FIELD("status.history.samples", i64, R(history.samples), .always = true),
	FIELD("status.history.coveragePercent", i32, R(history.coverage_percent), .always = true),
	FIELD("status.pods.total", i32, R(pods.total), .always = true),
	FIELD("status.pods.upToDate", i32, R(pods.up_to_date), .always = true),
	FIELD("status.pods.pending", i32, R(pods.pending), .always = true),
	FIELD("status.healing.kind", name, R(healing.kind), .name = healing_kind_name,
		.max = HEALING_ROLLBACK),
	FIELD("status.healing.since", time, R(healing.since_ms), .when = is_healing),
	FIELD("status.healing.until", time, R(healing.until_ms), .when = is_healing),
	FIELD("status.healing.step", i32, R(healing.step), .always = true, .when = is_healing),
	FIELD("status.savings.gpuMilli", i64, R(saved_milli), .always = true, .when = has_savings),
	FIELD("status.savings.gpuMilli", there, R(saves)),
	FIELD("status.lastUpdate.time", time, R(last_update.at_ms), .when = was_updated),
	FIELD("status.lastUpdate.result", name, R(last_update.result), .name = update_result_name,
		.max = UPDATE_ROLLED_BACK),
	FIELD("status.lastUpdate.reason", text, R(last_update.reason), .when = was_updated),
	FIELD("status.lastUpdate.givenBackTimes", i32, R(last_update.times), .when = was_updated),
	FIELD("status.conditions", each, .inside = &condition_shape,
		.each = take_recommended_condition),
	FIELD("status.conditions", conditions, .at = 0),
};
const struct shape recommendation_shape = {SHAPE(recommendation, recommendation_fields),
	.defaults = &(const struct recommendation){.name = "",
		.uid = "",
		.resource_version = "",
		.target = {.ns = "", .group = ""}},
	SHAPE_NAMES("gpurecommendation", recommendation, target.ns, name), .flags = DECODE_MEND};

void recommendation_write_status(struct build *b, const struct recommendation *r)
{
	build_begin_object(b);
	fields_write(b, &recommendation_shape, "status", r);
	build_end(b);
}

void recommendation_write_new(
	struct build *b, const struct recommendation *r, const struct owner *owner)
{
	build_begin_object(b);
	build_text_at(b, "apiVersion", NAME_GROUP "/" NAME_VERSION);
	build_text_at(b, "kind", "GPURecommendation");
	build_object_at(b, "metadata");
	build_text_at(b, "name", r->name);
	build_text_at(b, "namespace", r->target.ns);
	if (owner != NULL) {
		parts_write_owner(b, owner);
	}
	build_end(b);
	build_object_at(b, "spec");
	fields_write(b, &recommendation_shape, "spec", r);
	build_end(b);
	build_end(b);
}
