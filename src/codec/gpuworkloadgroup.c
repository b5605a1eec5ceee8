/* GPUWorkloadGroups. */
#include "codec/gpuworkloadgroup.h"

#include "base/clock.h"
#include "parts.h"

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("generation"),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep group_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP("spec"),
	SLICE_KEEP("status"),
	SLICE_END,
};

const struct slice_keep *group_projection(void)
{
	return group_keep;
}

static int read_state(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {"Enabled", "Disabled"};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(bool *)field = position == 1;
	return 0;
}

static int read_key_from(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {
		[GROUP_KEY_OWNER_NAME] = "OwnerName",
		[GROUP_KEY_LABEL_VALUE] = "LabelValue",
		[GROUP_KEY_ANNOTATION_VALUE] = "AnnotationValue",
		[GROUP_KEY_REGEX_CAPTURE] = "RegexCapture",
		[GROUP_KEY_CONSTANT] = "Constant",
	};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(enum group_key_from *)field = (enum group_key_from)position;
	return 0;
}

static const struct decode_field group_fields[] = {
	{"metadata.name", DECODE_TEXT, true, offsetof(struct workload_group, name), NULL},
	{"metadata.uid", DECODE_TEXT, false, offsetof(struct workload_group, uid), NULL},
	{"metadata.resourceVersion", DECODE_TEXT, false,
		offsetof(struct workload_group, resource_version), NULL},
	{"metadata.generation", DECODE_I64, false, offsetof(struct workload_group, generation),
		NULL},
	{"spec.state", DECODE_CUSTOM, false, offsetof(struct workload_group, disabled), read_state},
	{"spec.weight", DECODE_I32, false, offsetof(struct workload_group, weight), NULL},
	{"spec.keyFrom", DECODE_CUSTOM, false, offsetof(struct workload_group, key_from),
		read_key_from},
	{"spec.keyName", DECODE_TEXT, false, offsetof(struct workload_group, key_name), NULL},
	{"spec.ownerSuffixRegex", DECODE_TEXT, false,
		offsetof(struct workload_group, owner_suffix_regex), NULL},
	{"spec.defaultPolicyRef.name", DECODE_TEXT, false, offsetof(struct workload_group, policy),
		NULL},
	{"spec.retentionSeconds", DECODE_I32, false, offsetof(struct workload_group, retention_s),
		NULL},
	{"status.observedGeneration", DECODE_I64, false,
		offsetof(struct workload_group, status_observed_generation), NULL},
	{"status.matchedPods", DECODE_I32, false, offsetof(struct workload_group, status_pods),
		NULL},
	{"status.groups", DECODE_I32, false, offsetof(struct workload_group, status_groups), NULL},
};

static const struct decode_field rule_fields[] = {
	{"topOwner.group", DECODE_TEXT, false, offsetof(struct group_rule, owner_group), NULL},
	{"topOwner.kind", DECODE_TEXT, false, offsetof(struct group_rule, owner_kind), NULL},
	{"topOwner.nameRegex", DECODE_TEXT, false, offsetof(struct group_rule, owner_name_regex),
		NULL},
	{"imageRegex", DECODE_TEXT, false, offsetof(struct group_rule, image_regex), NULL},
	{"containerNameRegex", DECODE_TEXT, false,
		offsetof(struct group_rule, container_name_regex), NULL},
};

static const struct decode_field pair_fields[] = {
	{"key", DECODE_TEXT, true, offsetof(struct group_pair, key), NULL},
	{"value", DECODE_TEXT, false, offsetof(struct group_pair, value), NULL},
};

static int read_pairs(const json_t *rule, const char *path, struct arena *arena,
	struct group_pairs *ret_pairs, struct fault *ret_fault)
{
	const json_t *array = NULL;
	if (decode_array(rule, path, &array, ret_fault) < 0) {
		return -1;
	}
	size_t count = array != NULL ? json_array_size(array) : 0;
	if (count > GROUP_LABELS_MAX) {
		return fault_set(
			ret_fault, FAULT_INVALID, "%s: more than %d", path, GROUP_LABELS_MAX);
	}
	ret_pairs->items = ARENA_ARRAY(arena, struct group_pair, count + 1);
	for (size_t i = 0; i < count; i++) {
		if (decode_fields(json_array_get(array, i), pair_fields, COUNT_OF(pair_fields),
			    arena, &ret_pairs->items[ret_pairs->count++], ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s[%zu]", path, i);
		}
	}
	return 0;
}

static int read_rule(
	const json_t *object, struct arena *arena, struct group_rule *rule, struct fault *ret_fault)
{
	if (!json_is_object(object)) {
		return decode_mismatch(object, "object", ret_fault);
	}
	if (decode_fields(object, rule_fields, COUNT_OF(rule_fields), arena, rule, ret_fault) < 0 ||
		read_pairs(object, "labels", arena, &rule->labels, ret_fault) < 0 ||
		read_pairs(object, "annotations", arena, &rule->notes, ret_fault) < 0 ||
		read_pairs(object, "excludeLabels", arena, &rule->excluded, ret_fault) < 0) {
		return -1;
	}
	/* Without a kind it would match every owner that there is. */
	return rule->owner_kind == NULL && decode_find(object, "topOwner") != NULL
		       ? fault_set(ret_fault, FAULT_INVALID, "topOwner.kind: missing")
		       : 0;
}

static int read_rules(
	const json_t *root, struct arena *arena, struct workload_group *g, struct fault *ret_fault)
{
	static const char path[] = "spec.rules";
	const json_t *array = NULL;
	if (decode_array(root, path, &array, ret_fault) < 0) {
		return -1;
	}
	size_t count = array != NULL ? json_array_size(array) : 0;
	if (count == 0 || count > GROUP_RULES_MAX) {
		return fault_set(
			ret_fault, FAULT_INVALID, "%s: not from 1 to %d", path, GROUP_RULES_MAX);
	}
	g->rules = ARENA_ARRAY(arena, struct group_rule, count);
	for (size_t i = 0; i < count; i++) {
		if (read_rule(json_array_get(array, i), arena, &g->rules[g->rule_count++],
			    ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s[%zu]", path, i);
		}
	}
	return 0;
}

struct condition_text {
	const char *type, *reason;
	int64_t since_ms;
};

static const struct decode_field condition_fields[] = {
	{"type", DECODE_TEXT, true, offsetof(struct condition_text, type), NULL},
	{"reason", DECODE_TEXT, false, offsetof(struct condition_text, reason), NULL},
	{"lastTransitionTime", DECODE_TIME, false, offsetof(struct condition_text, since_ms), NULL},
};

static int read_conditions(
	const json_t *root, struct arena *arena, struct workload_group *g, struct fault *ret_fault)
{
	const json_t *array = NULL;
	if (decode_array(root, "status.conditions", &array, ret_fault) < 0) {
		return -1;
	}
	for (size_t i = 0; array != NULL && i < json_array_size(array); i++) {
		struct condition_text t = {.reason = ""};
		if (decode_fields(json_array_get(array, i), condition_fields,
			    COUNT_OF(condition_fields), arena, &t, ret_fault) < 0) {
			return fault_wrap(ret_fault, "status.conditions[%zu]", i);
		}
		if (text_equals(t.type, "Accepted")) {
			g->status_accepted_reason = t.reason;
			g->status_accepted_ms = t.since_ms;
		} else if (text_equals(t.type, "Ready")) {
			g->status_ready_ms = t.since_ms;
		}
	}
	return 0;
}

int group_decode(const char *json, size_t n, struct arena *arena, struct workload_group *ret_group,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	/* The defaults of the CRD, for what it left out. */
	struct workload_group g = {
		.name = "", .uid = "", .resource_version = "", .retention_s = 691200};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_fields(root, group_fields, COUNT_OF(group_fields), arena, &g, ret_fault) <
			0 ||
		read_rules(root, arena, &g, ret_fault) < 0 ||
		read_conditions(root, arena, &g, ret_fault) < 0) {
		return fault_wrap(ret_fault, "gpuworkloadgroup %.63s", g.name);
	}
	*ret_group = g;
	return 0;
}

/* --- out --- */

struct condition {
	const char *type;
	bool is_true;
	const char *reason, *message;
	int64_t since_ms; /* 0: from now on */
};

static void write_condition(
	struct build *b, const struct condition *c, const struct workload_group *g, int64_t wall_ms)
{
	char since[TIME_TEXT_MAX];
	build_begin_object(b);
	build_text_at(b, "type", c->type);
	build_text_at(b, "status", c->is_true ? "True" : "False");
	build_i64_at(b, "observedGeneration", g->generation);
	build_text_at(b, "lastTransitionTime",
		time_format(c->since_ms > 0 ? c->since_ms : wall_ms, since));
	build_text_at(b, "reason", c->reason);
	build_text_at(b, "message", c->message);
	build_end(b);
}

void group_write_status(
	struct build *b, const struct workload_group *g, const struct group_verdict *verdict)
{
	bool good = verdict->problem == NULL;
	bool same = text_equals(g->status_accepted_reason, verdict->reason);
	const struct condition accepted = {"Accepted", good, verdict->reason,
		good ? "The group can be used as it is written." : verdict->problem,
		same ? g->status_accepted_ms : 0};
	const struct condition ready = {"Ready", good, good ? "Ready" : verdict->reason,
		good ? "Pods are matched." : "The group matches no pod.",
		same ? g->status_ready_ms : 0};
	build_begin_object(b);
	build_object_at(b, "metadata");
	build_text_at(b, "uid", g->uid);
	build_end(b);
	build_object_at(b, "status");
	build_i64_at(b, "observedGeneration", g->generation);
	if (verdict->counted) {
		build_i64_at(b, "matchedPods", verdict->pods);
		build_i64_at(b, "groups", verdict->groups);
	}
	build_array_at(b, "conditions");
	write_condition(b, &accepted, g, verdict->wall_ms);
	write_condition(b, &ready, g, verdict->wall_ms);
	build_end(b);
	build_end(b);
	build_end(b);
}
