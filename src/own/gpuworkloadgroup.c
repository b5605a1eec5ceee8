/* GPUWorkloadGroups. */
#include "own/gpuworkloadgroup.h"

#include "codec/parts.h"

static const struct field pair_fields[] = {
	FIELD("key", text, AT(pair, key), .required = true),
	FIELD("value", text, AT(pair, value)),
};
static const struct shape pair_shape = {SHAPE(pair, pair_fields)};

/* Without a kind it would match every owner that there is. */
static int finish_rule(const struct reading *r, void *noun)
{
	const struct group_rule *rule = noun;
	return rule->owner_kind == NULL && decode_find(r->object, "topOwner") != NULL
		       ? fault_set(r->fault, FAULT_INVALID, "topOwner.kind: missing")
		       : 0;
}

static const struct field rule_fields[] = {
	FIELD("topOwner.group", text, AT(group_rule, owner_group)),
	FIELD("topOwner.kind", text, AT(group_rule, owner_kind)),
	FIELD("topOwner.nameRegex", text, AT(group_rule, owner_name_regex)),
	FIELD("imageRegex", text, AT(group_rule, image_regex)),
	FIELD("containerNameRegex", text, AT(group_rule, container_name_regex)),
	FIELD("labels", list, AT(group_rule, labels.items), COUNT_AT(group_rule, labels.count),
		.inside = &pair_shape, .max = GROUP_LABELS_MAX),
	FIELD("annotations", list, AT(group_rule, notes.items), COUNT_AT(group_rule, notes.count),
		.inside = &pair_shape, .max = GROUP_LABELS_MAX),
	FIELD("excludeLabels", list, AT(group_rule, excluded.items),
		COUNT_AT(group_rule, excluded.count), .inside = &pair_shape,
		.max = GROUP_LABELS_MAX),
};
static const struct shape rule_shape = {SHAPE(group_rule, rule_fields), .finish = finish_rule};

static const struct field condition_fields[] = {
	FIELD("type", text, AT(condition, type), .required = true),
	FIELD("reason", text, AT(condition, reason)),
	FIELD("lastTransitionTime", time, AT(condition, since_ms)),
};
static const struct shape condition_shape = {
	SHAPE(condition, condition_fields), .defaults = &(const struct condition){.reason = ""}};

static int take_group_condition(const struct reading *r, const void *item, void *noun)
{
	struct workload_group *g = noun;
	const struct condition *c = item;
	(void)r;
	if (text_equals(c->type, "Accepted")) {
		g->status_accepted_reason = c->reason;
		g->status_accepted_ms = c->since_ms;
	} else if (text_equals(c->type, "Ready")) {
		g->status_ready_ms = c->since_ms;
	}
	return 0;
}

static int finish_group(const struct reading *r, void *noun)
{
	const struct workload_group *g = noun;
	return g->rule_count > 0 ? 0
				 : fault_set(r->fault, FAULT_INVALID,
					   "spec.rules: not from 1 to %d", GROUP_RULES_MAX);
}

#define G(member) AT(workload_group, member)

static const struct field group_fields[] = {
	FIELD("metadata.name", text, G(name), .required = true),
	FIELD("metadata.uid", text, G(uid)),
	FIELD("metadata.resourceVersion", text, G(resource_version)),
	FIELD("metadata.generation", i64, G(generation)),
	FIELD("spec.state", choice, G(disabled), .words = WORDS("Enabled", "Disabled")),
	FIELD("spec.weight", i32, G(weight)),
	FIELD("spec.keyFrom", word, G(key_from),
		.words = WORDS([GROUP_KEY_OWNER_NAME] = "OwnerName",
			[GROUP_KEY_LABEL_VALUE] = "LabelValue",
			[GROUP_KEY_ANNOTATION_VALUE] = "AnnotationValue",
			[GROUP_KEY_REGEX_CAPTURE] = "RegexCapture",
			[GROUP_KEY_CONSTANT] = "Constant")),
	FIELD("spec.keyName", text, G(key_name)),
	FIELD("spec.ownerSuffixRegex", text, G(owner_suffix_regex)),
	FIELD("spec.defaultPolicyRef.name", text, G(policy)),
	FIELD("spec.retentionSeconds", i32, G(retention_s)),
	FIELD("spec.rules", list, G(rules), COUNT_AT(workload_group, rule_count),
		.inside = &rule_shape, .min = 1, .max = GROUP_RULES_MAX),
	FIELD("status.observedGeneration", i64, G(status_observed_generation)),
	FIELD("status.matchedPods", i32, G(status_pods)),
	FIELD("status.groups", i32, G(status_groups)),
	FIELD("status.conditions", each, .inside = &condition_shape, .each = take_group_condition),
};
/* The defaults of the CRD, for what it left out. */
const struct shape group_shape = {SHAPE(workload_group, group_fields),
	.defaults =
		&(const struct workload_group){
			.name = "", .uid = "", .resource_version = "", .retention_s = 691200},
	SHAPE_NAME("gpuworkloadgroup", workload_group, name), .flags = DECODE_MEND,
	.finish = finish_group};

/* --- out --- */

void group_write_status(
	struct build *b, const struct workload_group *g, const struct group_verdict *verdict)
{
	bool good = verdict->problem == NULL;
	bool same = text_equals(g->status_accepted_reason, verdict->reason);
	int64_t accepted_ms =
		same && g->status_accepted_ms > 0 ? g->status_accepted_ms : verdict->wall_ms;
	int64_t ready_ms = same && g->status_ready_ms > 0 ? g->status_ready_ms : verdict->wall_ms;
	const struct condition accepted = {"Accepted", good ? "True" : "False", verdict->reason,
		good ? "The group can be used as it is written." : verdict->problem, accepted_ms,
		g->generation};
	const struct condition ready = {"Ready", accepted.status, good ? "Ready" : verdict->reason,
		good ? "Pods are matched." : "The group matches no pod.", ready_ms, g->generation};
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
	condition_write(b, &accepted);
	condition_write(b, &ready);
	build_end(b);
	build_end(b);
	build_end(b);
}
