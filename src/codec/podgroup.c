/* PodGroups. */
#include "codec/podgroup.h"

#include "parts.h"

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("deletionTimestamp"),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep group_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP("spec"),
	SLICE_END,
};

const struct slice_keep *pod_group_projection(void)
{
	return group_keep;
}

static const struct decode_field fields[] = {
	{"metadata.namespace", DECODE_TEXT, true, offsetof(struct pod_group, ns), NULL},
	{"metadata.name", DECODE_TEXT, true, offsetof(struct pod_group, name), NULL},
};

/* Basic has no members so far: a later one may ask for something that we do not know. */
static bool is_basic(const json_t *policy)
{
	const json_t *basic = json_object_get(policy, "basic");
	return json_object_size(policy) == 1 && json_is_object(basic) &&
	       json_object_size(basic) == 0;
}

/* Constraints of topology, claims that its pods share and being disrupted together tie the pods to
 * each other whatever the policy says, and so may what later versions add. */
static bool is_harmless(const char *key, const json_t *value)
{
	static const char *const words[] = {"podGroupTemplateRef", "priorityClassName", "priority"};
	bool harmless = json_is_null(value) || strcmp(key, "schedulingPolicy") == 0;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		harmless = harmless || strcmp(key, words[i]) == 0;
	}
	return harmless ||
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
	return is_basic(json_object_get(spec, "schedulingPolicy"));
}

int pod_group_decode(const char *json, size_t n, struct arena *arena, struct pod_group *ret_group,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct pod_group g = {.ns = "", .name = ""};
	if (decode_parse(json, n, DECODE_PLAIN, &root, ret_fault) < 0 ||
		decode_fields(root, fields, COUNT_OF(fields), arena, &g, ret_fault) < 0) {
		return fault_wrap(ret_fault, "podgroup %.63s/%.63s", g.ns, g.name);
	}
	/* Another one of that name may follow one that goes, and be a gang. */
	g.basic = decode_find(root, "metadata.deletionTimestamp") == NULL &&
		  stands_alone(json_object_get(root, "spec"));
	*ret_group = g;
	return 0;
}
