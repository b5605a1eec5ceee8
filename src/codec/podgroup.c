/* PodGroups. */
#include "codec/objects.h"

#include "codec/parts.h"

/* Constraints of topology, claims that its pods share and being disrupted together tie the pods to
 * each other whatever the policy says, and so may what later versions add. */
static bool is_harmless(const char *key, const json_t *value)
{
	static const char *const words[] = {"podGroupTemplateRef", "priorityClassName", "priority"};
	return json_is_null(value) || strcmp(key, "schedulingPolicy") == 0 ||
	       texts_have(words, COUNT_OF(words), key) ||
	       (strcmp(key, "disruptionMode") == 0 && text_equals(json_string_value(value), "Pod"));
}

static bool stands_alone(json_t *spec)
{
	const char *key;
	json_t *value;
	json_object_foreach(spec, key, value)
	{
		if (!is_harmless(key, value)) {
			return false;
		}
	}
	/* Basic has no members so far: a later one may ask for something that we do not know. */
	const json_t *policy = json_object_get(spec, "schedulingPolicy");
	const json_t *basic = json_object_get(policy, "basic");
	return json_object_size(policy) == 1 && json_is_object(basic) &&
	       json_object_size(basic) == 0;
}

/* Another one of that name may follow one that goes, and be a gang. */
static int finish_pod_group(const struct reading *r, void *noun)
{
	struct pod_group *group = noun;
	group->basic = decode_find(r->object, "metadata.deletionTimestamp") == NULL &&
		       stands_alone(json_object_get(r->object, "spec"));
	return 0;
}

static const struct field group_fields[] = {
	FIELD("metadata.namespace", text, AT(pod_group, ns), .required = true),
	FIELD("metadata.name", text, AT(pod_group, name), .required = true),
	FIELD_KEPT("metadata.deletionTimestamp"),
	FIELD_KEPT("spec"),
};
const struct shape pod_group_shape = {SHAPE(pod_group, group_fields),
	.defaults = &(const struct pod_group){.ns = "", .name = ""},
	SHAPE_NAMES("podgroup", pod_group, ns, name), .finish = finish_pod_group};
