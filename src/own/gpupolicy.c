/* GPUPolicies. */
#include "own/gpupolicy.h"

#include "base/clock.h"
#include "codec/parts.h"

#define OWNER_KINDS_MAX 32
#define DAY_MIN		1440
#define TIME_ZONE_MAX	64
#define MIB_MAX		(INT64_C(16) << 20)

/* --- kinds of values that only a policy has --- */

static int read_mode(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", r->fault);
	}
	if (!policy_mode_parse(json_string_value(value), to)) {
		return fault_set(r->fault, FAULT_INVALID, "\"%.60s\" is not a mode",
			json_string_value(value));
	}
	return 0;
}

/* "HH:MM" to minutes of the day, to the last one that is allowed. */
static bool parse_time(const char *text, int64_t most, int32_t *ret_min)
{
	int64_t hours;
	int64_t minutes;
	if (strlen(text) != 5 || text[2] != ':' ||
		!parse_i64((struct view){text, 2}, 0, 24, &hours) ||
		!parse_i64((struct view){text + 3, 2}, 0, 59, &minutes) ||
		hours * 60 + minutes > most) {
		return false;
	}
	*ret_min = (int32_t)(hours * 60 + minutes);
	return true;
}

static int read_clock(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", r->fault);
	}
	if (!parse_time(json_string_value(value), r->field->max, to)) {
		return fault_set(r->fault, FAULT_INVALID, "\"%.16s\" is no time of day",
			json_string_value(value));
	}
	return 0;
}

static int read_days(const struct reading *r, const json_t *value, void *to)
{
	uint8_t *days = to;
	if (!json_is_array(value)) {
		return decode_mismatch(value, "array", r->fault);
	}
	for (size_t i = 0; i < json_array_size(value); i++) {
		unsigned day = 0;
		if (fields_read_word(json_array_get(value, i), r->field->words, &day, r->fault) <
			0) {
			return fault_wrap(r->fault, "[%zu]", i);
		}
		*days = (uint8_t)(*days | 1u << day);
	}
	return *days != 0 ? 0 : fault_set(r->fault, FAULT_INVALID, "no day");
}

/* A number of pods, or "25%". */
static int read_unavailable(const struct reading *r, const json_t *value, void *to)
{
	struct rollout *rollout = to;
	int64_t number = 0;
	if (json_is_integer(value)) {
		number = json_integer_value(value);
	} else if (json_is_string(value)) {
		struct view text = {json_string_value(value), json_string_length(value)};
		rollout->max_unavailable_is_percent = text.n > 0 && text.p[text.n - 1] == '%';
		text.n -= rollout->max_unavailable_is_percent ? 1 : 0;
		if (!rollout->max_unavailable_is_percent || !parse_i64(text, 1, 100, &number)) {
			return fault_set(r->fault, FAULT_INVALID,
				"neither a number nor a percentage from 1%% to 100%%");
		}
	} else {
		return decode_mismatch(value, "integer or string", r->fault);
	}
	if (fields_in_range(r->field, number, r->fault) < 0) {
		return -1;
	}
	rollout->max_unavailable = (int32_t)number;
	return 0;
}

static const struct field_kind field_mode = {.read = read_mode};
static const struct field_kind field_clock = {.read = read_clock};
static const struct field_kind field_days = {.read = read_days};
static const struct field_kind field_unavailable = {.read = read_unavailable};

/* --- what two fields say together --- */

/* What nobody wrote is left to the kind of work; what is here instead holds for who asks himself,
 * and for the checks. The schema has no defaults for these, or they would all be written. */
static void leave_open(const json_t *root, struct sizing *s)
{
	static const struct {
		const char *path;
		enum sizing_open bit;
	} fields[] = {
		{"spec.compute.percentile", SIZING_OPEN_PERCENTILE},
		{"spec.compute.headroomPercent", SIZING_OPEN_HEADROOM},
		{"spec.compute.minPercent", SIZING_OPEN_MIN},
		{"spec.compute.maxPercent", SIZING_OPEN_MAX},
		{"spec.memory.headroomPercent", SIZING_OPEN_MEM_HEADROOM},
		{"spec.history.windowSeconds", SIZING_OPEN_WINDOW},
		{"spec.history.requiredSeconds", SIZING_OPEN_REQUIRED},
		{"spec.update.scaleDownDelaySeconds", SIZING_OPEN_DELAY},
	};
	s->open = SIZING_OPEN_REST;
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		const json_t *value = decode_find(root, fields[i].path);
		s->open |= value == NULL || json_is_null(value) ? fields[i].bit : 0;
	}
	if (s->open & SIZING_OPEN_MIN) {
		s->min_percent = SIZING_LEAST_PERCENT < s->max_percent ? SIZING_LEAST_PERCENT
								       : s->max_percent;
	}
	if (s->open & SIZING_OPEN_WINDOW && s->window_s < s->required_s) {
		s->window_s = s->required_s;
	}
	if (s->open & SIZING_OPEN_REQUIRED && s->required_s > s->window_s) {
		s->required_s = s->window_s;
	}
}

static int check_range(
	const char *path, int64_t value, int64_t min, int64_t max, struct fault *ret_fault)
{
	const struct field f = {.min = min, .max = max};
	return fields_in_range(&f, value, ret_fault) < 0 ? fault_wrap(ret_fault, "%s", path) : 0;
}

/* The schema of the CRD says the same; what is computed with these rests on it. */
static int check_sizing(const struct sizing *s, struct fault *ret_fault)
{
	if (check_range("spec.compute.minPercent", s->min_percent, 1, s->max_percent, ret_fault) <
			0 ||
		check_range("spec.history.requiredSeconds", s->required_s, 0, s->window_s,
			ret_fault) < 0) {
		return -1;
	}
	if (100 % s->step_percent != 0) {
		return fault_set(ret_fault, FAULT_INVALID,
			"spec.compute.stepPercent: %d does not divide 100", (int)s->step_percent);
	}
	if (s->max_mem_mib != 0 && s->max_mem_mib < s->min_mem_mib) {
		return fault_set(
			ret_fault, FAULT_INVALID, "spec.memory.max: less than spec.memory.min");
	}
	return 0;
}

static int finish_policy(const struct reading *r, void *noun)
{
	struct policy *p = noun;
	for (uint32_t i = 0; i < p->rollout.window_count; i++) {
		if (strlen(p->rollout.windows[i].time_zone) > TIME_ZONE_MAX) {
			return fault_set(r->fault, FAULT_INVALID,
				"spec.update.windows[%u].timeZone: longer than %d", i,
				TIME_ZONE_MAX);
		}
	}
	leave_open(r->object, &p->sizing);
	return check_sizing(&p->sizing, r->fault);
}

/* --- status --- */

struct policy_condition {
	const char *type, *status, *reason, *since;
};

static const struct field condition_fields[] = {
	FIELD("type", text, AT(policy_condition, type)),
	FIELD("lastTransitionTime", text, AT(policy_condition, since)),
	FIELD("status", text, AT(policy_condition, status)),
	FIELD("reason", text, AT(policy_condition, reason)),
};
static const struct shape condition_shape = {SHAPE(policy_condition, condition_fields)};

static int take_policy_condition(const struct reading *r, const void *item, void *noun)
{
	struct policy *p = noun;
	const struct policy_condition *c = item;
	int64_t since = 0;
	(void)r;
	if (c->since == NULL || !time_parse(c->since, &since)) {
		since = 0;
	}
	if (text_equals(c->type, "Ready")) {
		p->status_ready_reason = text_or(c->reason, "");
		p->status_ready_ms = since;
	} else if (text_equals(c->type, "Overlapping")) {
		p->status_overlapping = text_equals(c->status, "True");
		p->status_overlapping_ms = since;
	} else if (text_equals(c->type, "Accepted")) {
		p->status_accepted_ms = since;
	}
	return 0;
}

/* --- the table --- */

static const struct field owner_fields[] = {
	FIELD("group", text, AT(owner_kind, group)),
	FIELD("kind", text, AT(owner_kind, kind), .required = true),
};
static const struct shape owner_shape = {
	SHAPE(owner_kind, owner_fields), .defaults = &(const struct owner_kind){.group = ""}};

static const struct field kind_fields[] = {
	FIELD("kind", text, AT(rollout_kind, kind), .required = true),
	FIELD("strategy", word, AT(rollout_kind, strategy), .required = true,
		.words = WORDS([ROLLOUT_ON_CREATE] = "OnCreate", [ROLLOUT_ONGOING] = "Ongoing",
			[ROLLOUT_NEVER] = "Never")),
};
static const struct shape kind_shape = {SHAPE(rollout_kind, kind_fields)};

static const struct field window_fields[] = {
	FIELD("days", days, AT(rollout_window, days), .required = true,
		.words = WORDS("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")),
	FIELD("start", clock, AT(rollout_window, start_min), .required = true, .max = DAY_MIN - 1),
	FIELD("end", clock, AT(rollout_window, end_min), .required = true, .max = DAY_MIN),
	FIELD("timeZone", text, AT(rollout_window, time_zone)),
};
static const struct shape window_shape = {SHAPE(rollout_window, window_fields),
	.defaults = &(const struct rollout_window){.time_zone = "UTC"}};

#define S(member) AT(policy, sizing.member)
#define R(member) AT(policy, rollout.member)

static const struct field policy_fields[] = {
	FIELD("metadata.name", text, AT(policy, name), .required = true),
	FIELD("metadata.uid", text, AT(policy, uid)),
	FIELD("metadata.resourceVersion", text, AT(policy, resource_version)),
	FIELD("metadata.generation", i64, AT(policy, generation)),
	FIELD("metadata.creationTimestamp", time, AT(policy, created_ms)),
	FIELD("spec.priority", i32, AT(policy, priority), .min = 0, .max = 10000),
	FIELD("spec.isDefault", choice, AT(policy, is_fallback),
		.words = WORDS("Never", "Fallback")),
	FIELD("spec.mode", mode, AT(policy, mode)),
	FIELD("spec.sharing.isolation", word, AT(policy, isolation),
		.words = WORDS([ISOLATION_NONE] = "None", [ISOLATION_MPS] = "MPS")),
	FIELD("spec.sharing.exclusivity", word, AT(policy, exclusivity),
		.words = WORDS([EXCLUSIVITY_ANY] = "AnyWorkload",
			[EXCLUSIVITY_SAME] = "SameWorkload",
			[EXCLUSIVITY_DEDICATED] = "Dedicated")),
	FIELD("spec.sharing.packing", word, AT(policy, packing),
		.words = WORDS([PACKING_PACK] = "Pack", [PACKING_SPREAD] = "Spread")),
	FIELD("spec.sharing.onCapacityLost", word, AT(policy, capacity_lost),
		.words = WORDS([CAPACITY_LOST_REACQUIRE] = "Reacquire", [CAPACITY_LOST_EVICT] =
										"Evict")),
	FIELD("spec.sharing.memoryOveruse", word, AT(policy, memory_overuse),
		.words = WORDS([OVERUSE_REPORT] = "Report", [OVERUSE_EVICT] = "Evict")),
	FIELD("spec.sharing.maxTenants", i32, AT(policy, max_tenants), .min = 1, .max = 64),
	FIELD("spec.sharing.idleGraceSeconds", i32, AT(policy, idle_grace_s), .min = 0,
		.max = 86400),
	FIELD("spec.sharing.preemption", choice, AT(policy, never_preempts),
		.words = WORDS("LowerPriority", "Never")),

	FIELD("spec.compute.percentile", i32, S(percentile), .min = 50, .max = 100),
	FIELD("spec.compute.headroomPercent", i32, S(headroom_percent), .min = 0, .max = 200),
	FIELD("spec.compute.minPercent", i32, S(min_percent)),
	FIELD("spec.compute.maxPercent", i32, S(max_percent), .min = 1, .max = 100),
	FIELD("spec.compute.stepPercent", i32, S(step_percent), .min = 1, .max = 100),
	FIELD("spec.memory.headroomPercent", i32, S(mem_headroom_percent), .min = 0, .max = 200),
	FIELD("spec.memory.min", memory, S(min_mem_mib), .min = 1, .max = MIB_MAX),
	FIELD("spec.memory.max", memory, S(max_mem_mib), .min = 0, .max = MIB_MAX),
	FIELD("spec.memory.step", memory, S(step_mem_mib), .min = 1, .max = MIB_MAX),
	FIELD("spec.memory.preallocated", word, S(preallocated),
		.words = WORDS([PREALLOCATED_APP_METRICS] = "AppMetrics",
			[PREALLOCATED_KEEP_USED] = "KeepUsed",
			[PREALLOCATED_SHRINK] = "IgnoreAndShrink")),
	FIELD("spec.history.windowSeconds", i64, S(window_s), .min = 3600,
		.max = SIZING_WINDOW_MAX_S),
	FIELD("spec.history.requiredSeconds", i64, S(required_s)),
	FIELD("spec.history.halfLifeSeconds", i64, S(half_life_s), .min = 60,
		.max = SIZING_WINDOW_MAX_S),
	FIELD("spec.healing.memory.state", choice, S(heal_memory.enabled),
		.words = WORDS("Disabled", "Enabled")),
	FIELD("spec.healing.memory.stepPercent", i32, S(heal_memory.step_percent), .min = 1,
		.max = 200),
	FIELD("spec.healing.memory.minStep", memory, S(heal_memory.min_step), .min = 1,
		.max = MIB_MAX),
	FIELD("spec.healing.memory.holdSeconds", i64, S(heal_memory.hold_s), .min = 0,
		.max = SIZING_WINDOW_MAX_S),
	FIELD("spec.healing.compute.state", choice, S(heal_compute.enabled),
		.words = WORDS("Disabled", "Enabled")),
	FIELD("spec.healing.compute.stepPercent", i32, S(heal_compute.step_percent), .min = 1,
		.max = 200),
	FIELD("spec.healing.compute.minStepPercent", i64, S(heal_compute.min_step), .min = 1,
		.max = 100),
	FIELD("spec.healing.compute.holdSeconds", i64, S(heal_compute.hold_s), .min = 0,
		.max = SIZING_WINDOW_MAX_S),

	FIELD("spec.update.minChangePercent", i32, S(min_change_percent), .min = 0, .max = 100),
	FIELD("spec.update.scaleDownDelaySeconds", i64, S(scale_down_delay_s), .min = 0,
		.max = SIZING_WINDOW_MAX_S),
	FIELD("spec.update.minReplicas", i32, R(min_replicas), .min = 1, .max = 10000),
	FIELD("spec.update.minPodAgeSeconds", i64, R(min_pod_age_s), .min = 0,
		.max = SIZING_WINDOW_MAX_S),
	FIELD("spec.update.cooldownSeconds", i64, R(cooldown_s), .min = 0,
		.max = SIZING_WINDOW_MAX_S),
	FIELD("spec.update.giveBackAfterMinutes", i32, R(give_back_min), .min = 0, .max = 1440),
	FIELD("spec.update.replacement", choice, R(evicts),
		.words = WORDS("SurgeThenEvict", "Evict")),
	FIELD("spec.update.allowNodeScaleUp", choice, R(may_add_nodes),
		.words = WORDS("Never", "Allow")),
	FIELD("spec.update.byKind", list, R(kinds), COUNT_AT(policy, rollout.kind_count),
		.inside = &kind_shape, .max = ROLLOUT_KINDS_MAX),
	FIELD("spec.update.windows", list, R(windows), COUNT_AT(policy, rollout.window_count),
		.inside = &window_shape, .max = ROLLOUT_WINDOWS_MAX),
	FIELD("spec.update.maxUnavailable", unavailable, AT(policy, rollout), .min = 1,
		.max = 10000),

	FIELD("spec.selector", there, AT(policy, has_selector)),
	FIELD("spec.selector.namespaceSelector", selector, AT(policy, namespaces)),
	FIELD("spec.selector.podSelector", selector, AT(policy, pods)),
	FIELD("spec.selector.workloadTypes", texts, AT(policy, workload_types),
		COUNT_AT(policy, workload_type_count)),
	FIELD("spec.selector.ownerKinds", list, AT(policy, owner_kinds),
		COUNT_AT(policy, owner_kind_count), .inside = &owner_shape, .max = OWNER_KINDS_MAX),

	FIELD("status.observedGeneration", i64, AT(policy, status_observed_generation)),
	FIELD("status.matchedWorkloads", i32, AT(policy, status_matched)),
	FIELD("status.automatedWorkloads", i32, AT(policy, status_automated)),
	FIELD("status.conditions", each, .inside = &condition_shape, .each = take_policy_condition),
};
/* The defaults of the CRD, for what it left out. */
const struct shape policy_shape = {SHAPE(policy, policy_fields),
	.defaults =
		&(const struct policy){
			.name = "",
			.uid = "",
			.resource_version = "",
			.priority = 100,
			.mode = MODE_RECOMMEND,
			.sizing = SIZING_DEFAULT,
			.rollout = ROLLOUT_DEFAULT,
			.max_tenants = 16,
			.idle_grace_s = 60,
		},
	SHAPE_NAME("gpupolicy", policy, name), .flags = DECODE_MEND, .finish = finish_policy};
