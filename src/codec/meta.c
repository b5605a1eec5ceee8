/* The metadata of any object. */
#include "codec/meta.h"

#include "parts.h"

static const struct decode_field meta_fields[] = {
	{"namespace", DECODE_TEXT, false, offsetof(struct meta, ns), NULL},
	{"name", DECODE_TEXT, false, offsetof(struct meta, name), NULL},
	{"uid", DECODE_TEXT, false, offsetof(struct meta, uid), NULL},
	{"resourceVersion", DECODE_TEXT, false, offsetof(struct meta, resource_version), NULL},
};

static int read_root(
	const json_t *root, struct arena *arena, struct meta *ret_meta, struct fault *ret_fault)
{
	const json_t *meta = NULL;
	struct meta found = {.ns = "", .name = "", .uid = "", .resource_version = ""};
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

int meta_decode(const char *json, size_t n, struct arena *arena, struct meta *ret_meta,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	return decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0
		       ? -1
		       : read_root(root, arena, ret_meta, ret_fault);
}

/* Nothing by which an API server calls an object needs an escape. */
static const char *text_of_mark(const struct slice *slice, enum meta_mark mark, struct arena *arena)
{
	struct view json = slice_marked(slice, (uint8_t)mark);
	if (json.n < 2 || json.p[0] != '"' || memchr(json.p, '\\', json.n) != NULL) {
		return "";
	}
	return arena_strndup(arena, json.p + 1, json.n - 2);
}

bool meta_marked(const struct slice *slice, struct arena *arena, struct meta *ret_meta)
{
	*ret_meta = (struct meta){.ns = text_of_mark(slice, META_NAMESPACE, arena),
		.name = text_of_mark(slice, META_NAME, arena),
		.uid = text_of_mark(slice, META_UID, arena),
		.resource_version = text_of_mark(slice, META_VERSION, arena)};
	return !text_empty(ret_meta->name);
}
