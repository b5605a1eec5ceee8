/* Patches: JSON merge patch (RFC 7386), and the one list of pods/status that a strategic patch
 * merges by its key. */
#include "patch.h"

#include <string.h>

void patch_merge(json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)patch, key, value)
	{
		if (json_is_null(value)) {
			json_object_del(target, key);
			continue;
		}
		if (!json_is_object(value)) {
			json_object_set_new(target, key, json_deep_copy(value));
			continue;
		}
		json_t *member = json_object_get(target, key);
		if (!json_is_object(member)) {
			member = json_object();
			json_object_set_new(target, key, member);
		}
		patch_merge(member, value);
	}
}

static const char *type_of(const json_t *condition)
{
	return text_or(json_string_value(json_object_get(condition, "type")), "");
}

void patch_conditions(json_t *target, const json_t *patch)
{
	json_t *list = json_object_get(target, "conditions");
	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(target, "conditions", list);
	}
	size_t i, j;
	json_t *wanted, *had;
	json_array_foreach(json_object_get(patch, "conditions"), i, wanted)
	{
		json_t *found = NULL;
		json_array_foreach(list, j, had)
		{
			found = strcmp(type_of(had), type_of(wanted)) == 0 ? had : found;
		}
		if (found == NULL) {
			json_array_append_new(list, json_deep_copy(wanted));
		} else {
			patch_merge(found, wanted);
		}
	}
}

json_t *pod_condition_new(const char *type, bool is_true, const char *reason)
{
	json_t *c = json_pack("{s:s, s:s}", "type", type, "status", is_true ? "True" : "False");
	if (reason != NULL) {
		json_object_set_new(c, "reason", json_string(reason));
	}
	return c;
}

json_t *pod_ready_new(const struct sim *s, bool ready)
{
	char since[TIME_TEXT_MAX];
	json_t *c = pod_condition_new("Ready", ready, NULL);
	if (s->weather.rolled) {
		json_object_set_new(c, "lastTransitionTime",
			json_string(time_format(store_wall(&s->store), since)));
	}
	return c;
}
