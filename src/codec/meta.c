/* The metadata of any object. */
#include "codec/meta.h"

#include "parts.h"

static const struct decode_field meta_fields[] = {
	{"namespace", DECODE_TEXT, false, offsetof(struct meta, ns), NULL},
	{"name", DECODE_TEXT, false, offsetof(struct meta, name), NULL},
	{"uid", DECODE_TEXT, false, offsetof(struct meta, uid), NULL},
	{"resourceVersion", DECODE_TEXT, false, offsetof(struct meta, resource_version), NULL},
};

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep named_keep[] = {
	PARTS_META_KEEP, SLICE_KEEP_IN("annotations", notes_keep), SLICE_END};
static const struct slice_keep meta_keep[] = {SLICE_KEEP_IN("metadata", named_keep), SLICE_END};

/* Of an object that says more than is parsed this part alone. */
static int parse(const char *json, size_t n, json_t **ret_root, struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SLICE_OBJECT_MAX);
	struct fault fault = {0};
	if (decode_parse(json, n, DECODE_MEND, ret_root, &fault) == 0) {
		return 0;
	}
	if (fault.kind == FAULT_LIMIT && parts_reduce(json, n, meta_keep, &text)) {
		return decode_parse(str_text(&text), text.len, DECODE_MEND, ret_root, ret_fault);
	}
	if (ret_fault != NULL) {
		*ret_fault = fault;
	}
	return -1;
}

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
	return parse(json, n, &root, ret_fault) < 0 ? -1
						    : read_root(root, arena, ret_meta, ret_fault);
}

int meta_decode_beginning(const char *json, size_t n, struct arena *arena, struct meta *ret_meta,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	CLEANUP(str_finish) struct str text = STR_INIT(SLICE_OBJECT_MAX);
	if (!parts_reduce_beginning(json, n, meta_keep, &text)) {
		return fault_set(ret_fault, FAULT_LIMIT, "its beginning does not name it");
	}
	return decode_parse(str_text(&text), text.len, DECODE_MEND, &root, ret_fault) < 0
		       ? -1
		       : read_root(root, arena, ret_meta, ret_fault);
}
