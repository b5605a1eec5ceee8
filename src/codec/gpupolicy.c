/* GPUPolicies. */
#include "codec/gpupolicy.h"

#include "base/clock.h"
#include "gpupolicy_parts.h"

#define MAX_OWNER_KINDS 32

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("generation"),
	SLICE_KEEP("creationTimestamp"),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep policy_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP("spec"),
	SLICE_KEEP("status"),
	SLICE_END,
};

const struct slice_keep *policy_projection(void)
{
	return policy_keep;
}

/* --- words and ranges --- */

static int read_enum(const json_t *value, const char *const *words, size_t count, void *field,
	struct fault *ret_fault)
{
	size_t position = 0;
	if (parts_read_word(value, words, count, &position, ret_fault) < 0) {
		return -1;
	}
	*(unsigned *)field = (unsigned)position;
	return 0;
}

static int read_fallback(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {"Never", "Fallback"};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(bool *)field = position == 1;
	return 0;
}

static int read_mode(const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena;
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", ret_fault);
	}
	if (!policy_mode_parse(json_string_value(value), field)) {
		return fault_set(ret_fault, FAULT_INVALID, "\"%.60s\" is not a mode",
			json_string_value(value));
	}
	return 0;
}

static int read_isolation(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {[ISOLATION_NONE] = "None", [ISOLATION_MPS] = "MPS"};
	(void)arena;
	return read_enum(value, words, COUNT_OF(words), field, ret_fault);
}

static int read_exclusivity(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {
		[EXCLUSIVITY_ANY] = "AnyWorkload",
		[EXCLUSIVITY_SAME] = "SameWorkload",
		[EXCLUSIVITY_DEDICATED] = "Dedicated",
	};
	(void)arena;
	return read_enum(value, words, COUNT_OF(words), field, ret_fault);
}

static int read_packing(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {[PACKING_PACK] = "Pack", [PACKING_SPREAD] = "Spread"};
	(void)arena;
	return read_enum(value, words, COUNT_OF(words), field, ret_fault);
}

static int read_preemption(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {"LowerPriority", "Never"};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(bool *)field = position == 1;
	return 0;
}

static int read_capacity_lost(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {
		[CAPACITY_LOST_REACQUIRE] = "Reacquire", [CAPACITY_LOST_EVICT] = "Evict"};
	(void)arena;
	return read_enum(value, words, COUNT_OF(words), field, ret_fault);
}

static int read_overuse(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {[OVERUSE_REPORT] = "Report", [OVERUSE_EVICT] = "Evict"};
	(void)arena;
	return read_enum(value, words, COUNT_OF(words), field, ret_fault);
}

static const struct decode_field policy_fields[] = {
	{"metadata.name", DECODE_TEXT, true, offsetof(struct policy, name), NULL},
	{"metadata.uid", DECODE_TEXT, false, offsetof(struct policy, uid), NULL},
	{"metadata.resourceVersion", DECODE_TEXT, false, offsetof(struct policy, resource_version),
		NULL},
	{"metadata.generation", DECODE_I64, false, offsetof(struct policy, generation), NULL},
	{"metadata.creationTimestamp", DECODE_TIME, false, offsetof(struct policy, created_ms),
		NULL},
	{"spec.priority", DECODE_I32, false, offsetof(struct policy, priority), NULL},
	{"spec.isDefault", DECODE_CUSTOM, false, offsetof(struct policy, is_fallback),
		read_fallback},
	{"spec.mode", DECODE_CUSTOM, false, offsetof(struct policy, mode), read_mode},
	{"spec.sharing.isolation", DECODE_CUSTOM, false, offsetof(struct policy, isolation),
		read_isolation},
	{"spec.sharing.exclusivity", DECODE_CUSTOM, false, offsetof(struct policy, exclusivity),
		read_exclusivity},
	{"spec.sharing.packing", DECODE_CUSTOM, false, offsetof(struct policy, packing),
		read_packing},
	{"spec.sharing.onCapacityLost", DECODE_CUSTOM, false,
		offsetof(struct policy, capacity_lost), read_capacity_lost},
	{"spec.sharing.memoryOveruse", DECODE_CUSTOM, false,
		offsetof(struct policy, memory_overuse), read_overuse},
	{"spec.sharing.maxTenants", DECODE_I32, false, offsetof(struct policy, max_tenants), NULL},
	{"spec.sharing.idleGraceSeconds", DECODE_I32, false, offsetof(struct policy, idle_grace_s),
		NULL},
	{"spec.sharing.preemption", DECODE_CUSTOM, false, offsetof(struct policy, never_preempts),
		read_preemption},
	{"status.observedGeneration", DECODE_I64, false,
		offsetof(struct policy, status_observed_generation), NULL},
	{"status.matchedWorkloads", DECODE_I32, false, offsetof(struct policy, status_matched),
		NULL},
	{"status.automatedWorkloads", DECODE_I32, false, offsetof(struct policy, status_automated),
		NULL},
};

static int check_policy(const struct policy *p, struct fault *ret_fault)
{
	const struct policy_range ranges[] = {
		{"spec.priority", p->priority, 0, 10000},
		{"spec.sharing.maxTenants", p->max_tenants, 1, 64},
		{"spec.sharing.idleGraceSeconds", p->idle_grace_s, 0, 86400},
	};
	return policy_check_ranges(ranges, COUNT_OF(ranges), ret_fault);
}

/* --- whom it is for --- */

static const struct decode_field owner_fields[] = {
	{"group", DECODE_TEXT, false, offsetof(struct owner_kind, group), NULL},
	{"kind", DECODE_TEXT, true, offsetof(struct owner_kind, kind), NULL},
};

static int read_owner_kinds(
	const json_t *root, struct arena *arena, struct policy *p, struct fault *ret_fault)
{
	static const char path[] = "spec.selector.ownerKinds";
	const json_t *array = NULL;
	if (decode_array(root, path, &array, ret_fault) < 0) {
		return -1;
	}
	size_t count = array != NULL ? json_array_size(array) : 0;
	if (count > MAX_OWNER_KINDS) {
		return fault_set(
			ret_fault, FAULT_INVALID, "%s: more than %d", path, MAX_OWNER_KINDS);
	}
	p->owner_kinds = count > 0 ? ARENA_ARRAY(arena, struct owner_kind, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		struct owner_kind *o = &p->owner_kinds[p->owner_kind_count++];
		o->group = "";
		if (decode_fields(json_array_get(array, i), owner_fields, COUNT_OF(owner_fields),
			    arena, o, ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s[%zu]", path, i);
		}
	}
	return 0;
}

static int read_selectors(
	const json_t *root, struct arena *arena, struct policy *p, struct fault *ret_fault)
{
	const json_t *selector = NULL;
	const json_t *namespaces = NULL;
	const json_t *pods = NULL;
	const json_t *types = NULL;
	if (decode_object(root, "spec.selector", &selector, ret_fault) < 0 ||
		decode_object(root, "spec.selector.namespaceSelector", &namespaces, ret_fault) <
			0 ||
		decode_object(root, "spec.selector.podSelector", &pods, ret_fault) < 0 ||
		decode_array(root, "spec.selector.workloadTypes", &types, ret_fault) < 0) {
		return -1;
	}
	p->has_selector = selector != NULL;
	if (parts_read_selector(namespaces, arena, &p->namespaces, ret_fault) < 0) {
		return fault_wrap(ret_fault, "spec.selector.namespaceSelector");
	}
	if (parts_read_selector(pods, arena, &p->pods, ret_fault) < 0) {
		return fault_wrap(ret_fault, "spec.selector.podSelector");
	}
	if (decode_texts(types, arena, &p->workload_types, &p->workload_type_count, ret_fault) <
		0) {
		return fault_wrap(ret_fault, "spec.selector.workloadTypes");
	}
	return read_owner_kinds(root, arena, p, ret_fault);
}

/* --- status --- */

static int read_conditions(
	const json_t *root, struct arena *arena, struct policy *p, struct fault *ret_fault)
{
	const json_t *array = NULL;
	if (decode_array(root, "status.conditions", &array, ret_fault) < 0) {
		return -1;
	}
	for (size_t i = 0; array != NULL && i < json_array_size(array); i++) {
		const json_t *condition = json_array_get(array, i);
		const char *type = NULL;
		const char *status = NULL;
		const char *reason = NULL;
		const char *since_text = NULL;
		int64_t since = 0;
		if (decode_text(condition, "type", &type, ret_fault) < 0 ||
			decode_text(condition, "lastTransitionTime", &since_text, ret_fault) < 0 ||
			decode_text(condition, "status", &status, ret_fault) < 0 ||
			decode_text(condition, "reason", &reason, ret_fault) < 0) {
			return fault_wrap(ret_fault, "status.conditions[%zu]", i);
		}
		if (since_text == NULL || !time_parse(since_text, &since)) {
			since = 0;
		}
		if (text_equals(type, "Ready")) {
			p->status_ready_reason = arena_strdup(arena, text_or(reason, ""));
			p->status_ready_ms = since;
		} else if (text_equals(type, "Overlapping")) {
			p->status_overlapping = text_equals(status, "True");
			p->status_overlapping_ms = since;
		} else if (text_equals(type, "Accepted")) {
			p->status_accepted_ms = since;
		}
	}
	return 0;
}

int policy_decode(const char *json, size_t n, struct arena *arena, struct policy *ret_policy,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	/* The defaults of the CRD, for what it left out. */
	struct policy p = {
		.name = "",
		.uid = "",
		.resource_version = "",
		.priority = 100,
		.mode = MODE_RECOMMEND,
		.sizing = SIZING_DEFAULT,
		.rollout = ROLLOUT_DEFAULT,
		.max_tenants = 16,
		.idle_grace_s = 60,
	};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_fields(root, policy_fields, COUNT_OF(policy_fields), arena, &p, ret_fault) <
			0 ||
		check_policy(&p, ret_fault) < 0 ||
		policy_read_sizing(root, arena, &p.sizing, ret_fault) < 0 ||
		policy_read_rollout(root, arena, &p.rollout, ret_fault) < 0 ||
		read_selectors(root, arena, &p, ret_fault) < 0 ||
		read_conditions(root, arena, &p, ret_fault) < 0) {
		return fault_wrap(ret_fault, "gpupolicy %.63s", p.name);
	}
	*ret_policy = p;
	return 0;
}
