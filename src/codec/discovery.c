/* Discovery documents. */
#include "codec/discovery.h"

#include "json/decode.h"
#include "codec/parts.h"

/* A group with so many kinds, or an object with so many owners, is not read to its end. */
#define RESOURCES_MAX 2048
#define OWNERS_MAX    64
#define NAME_MAX_OF   253

bool discovery_is_segment(struct view text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
			    (c == '.' && i > 0))) {
			return false;
		}
	}
	return text.n > 0 && text.n <= NAME_MAX_OF;
}

static bool is_version(const char *text)
{
	const char *slash = text != NULL ? strchr(text, '/') : NULL;
	return slash != NULL && discovery_is_segment((struct view){text, (size_t)(slash - text)}) &&
	       discovery_is_segment(view_of(slash + 1));
}

int discovery_version(
	struct view json, struct arena *arena, const char **ret_version, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const char *version = NULL;
	if (decode_parse(json.p, json.n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_text(root, "preferredVersion.groupVersion", &version, ret_fault) < 0) {
		return fault_wrap(ret_fault, "group of the API");
	}
	if (!is_version(version)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"group of the API: preferredVersion.groupVersion: not GROUP/VERSION");
	}
	*ret_version = arena_strdup(arena, version);
	return 0;
}

static bool is_it(const json_t *resource, const char *kind, const char **ret_name)
{
	const char *found = json_string_value(json_object_get(resource, "kind"));
	*ret_name = json_string_value(json_object_get(resource, "name"));
	/* pods/status is of the kind Pod, too. */
	return text_equals(found, kind) && discovery_is_segment(view_of(*ret_name)) &&
	       json_is_true(json_object_get(resource, "namespaced"));
}

int discovery_resource(struct view json, const char *kind, struct arena *arena,
	const char **ret_resource, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const json_t *all = NULL;
	if (decode_parse(json.p, json.n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_array(root, "resources", &all, ret_fault) < 0) {
		return fault_wrap(ret_fault, "resources of the API");
	}
	size_t count = all != NULL ? json_array_size(all) : 0;
	for (size_t i = 0; i < count && i < RESOURCES_MAX; i++) {
		const char *name = NULL;
		if (is_it(json_array_get(all, i), kind, &name)) {
			*ret_resource = arena_strdup(arena, name);
			return 0;
		}
	}
	return fault_set(ret_fault, FAULT_NOT_FOUND, "no kind %.63s of a namespace there", kind);
}

int discovery_controller(
	struct view json, struct arena *arena, struct owner *ret_owner, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct owner owner = {0};
	const json_t *all = NULL;
	const char *name = NULL;
	if (decode_parse(json.p, json.n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_text(root, "metadata.name", &name, ret_fault) < 0 ||
		decode_array(root, "metadata.ownerReferences", &all, ret_fault) < 0) {
		return fault_wrap(ret_fault, "metadata of an owner");
	}
	if (text_empty(name)) {
		return fault_set(ret_fault, FAULT_INVALID, "metadata of an owner: name: missing");
	}
	size_t count = all != NULL ? json_array_size(all) : 0;
	for (size_t i = 0; i < count && i < OWNERS_MAX && owner.kind == NULL; i++) {
		const json_t *one = json_array_get(all, i);
		if (json_is_true(json_object_get(one, "controller")) &&
			fields_read(one, &parts_owner_shape, arena, &owner, ret_fault) < 0) {
			return fault_wrap(ret_fault, "metadata.ownerReferences[%zu]", i);
		}
	}
	*ret_owner = owner;
	return 0;
}
