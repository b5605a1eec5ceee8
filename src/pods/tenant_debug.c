/* A container that is added to a running tenant (kubectl debug) is one of the "others" of C5: it
 * sees no GPU. Nothing of it goes to `original`, since no template is made of it. */
#include "tenant_debug.h"

#include "model/names.h"
#include "tenant.h"

/* True if a person had chosen something else for one of the variables. */
static bool any_was_overridden(const json_t *had)
{
	for (size_t i = 0; i < json_array_size(had); i++) {
		const json_t *entry = json_array_get(json_array_get(had, i), 1);
		const struct env_edit *row =
			env_edit_find(others_env, OTHERS_ENV_COUNT, entry_name(entry));
		if (row != NULL && !env_entry_is(entry, row)) {
			return true;
		}
	}
	return false;
}

bool tenant_is(const json_t *object)
{
	const json_t *meta = json_object_get(object, "metadata");
	return json_object_get(json_object_get(meta, "labels"), LABEL_TENANT) != NULL;
}

json_t *tenant_debug(json_t *object, const json_t *old, const char **ret_overridden)
{
	static const char key[] = "ephemeralContainers";
	json_t *pod = json_copy(object);
	json_t *list = own_member(own_member(pod, "spec", JSON_OBJECT), key, JSON_ARRAY);
	json_t *known = entry_names(json_object_get(json_object_get(old, "spec"), key));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = entry_name(json_array_get(list, i));
		if (name != NULL && json_object_get(known, name) != NULL) {
			continue;
		}
		json_t *container = own_element(list, i);
		if (container == NULL) {
			continue;
		}
		json_t *had = container_edit_env(container, others_env, OTHERS_ENV_COUNT);
		if (any_was_overridden(had)) {
			*ret_overridden = name;
		}
		json_decref(had);
	}
	json_decref(known);
	return pod;
}
