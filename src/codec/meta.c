/* The metadata of any object. */
#include "codec/meta.h"

#include "parts.h"

static const struct decode_field meta_fields[] = {
	{"namespace", DECODE_TEXT, false, offsetof(struct meta, ns), NULL},
	{"name", DECODE_TEXT, false, offsetof(struct meta, name), NULL},
	{"uid", DECODE_TEXT, false, offsetof(struct meta, uid), NULL},
	{"resourceVersion", DECODE_TEXT, false, offsetof(struct meta, resource_version), NULL},
};

int meta_decode(const char *json, size_t n, struct arena *arena, struct meta *ret_meta,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const json_t *meta = NULL;
	struct meta found = {.ns = "", .name = "", .uid = "", .resource_version = ""};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0) {
		return -1;
	}
	if (decode_object(root, "metadata", &meta, ret_fault) < 0) {
		return -1;
	}
	if (meta == NULL) {
		return fault_set(ret_fault, FAULT_INVALID, "metadata: missing");
	}
	if (decode_fields(meta, meta_fields, COUNT_OF(meta_fields), arena, &found, ret_fault) < 0) {
		return fault_wrap(ret_fault, "metadata");
	}
	const json_t *end = json_object_get(decode_find(meta, "annotations"), PARTS_BOOKMARK);
	found.initial_events_end =
		json_is_string(end) && strcmp(json_string_value(end), "true") == 0;
	*ret_meta = found;
	return 0;
}
