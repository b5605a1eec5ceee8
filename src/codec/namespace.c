/* Namespaces. */
#include "codec/namespace.h"

#include "model/names.h"
#include "parts.h"

static const struct slice_keep notes_keep[] = {
	SLICE_KEEP_PREFIX(NAME_PREFIX),
	PARTS_BOOKMARK_KEEP,
	SLICE_END,
};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("labels"),
	SLICE_KEEP("deletionTimestamp"),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep status_keep[] = {SLICE_KEEP("phase"), SLICE_END};
static const struct slice_keep namespace_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("status", status_keep),
	SLICE_END,
};

const struct slice_keep *namespace_projection(void)
{
	return namespace_keep;
}

static const struct decode_field namespace_fields[] = {
	{"metadata.name", DECODE_TEXT, true, offsetof(struct namespace, name), NULL},
};

static int read_namespace(
	const json_t *root, struct arena *arena, struct namespace *ns, struct fault *ret_fault)
{
	static const char *const prefixes[] = {NAME_PREFIX, NULL};
	const json_t *labels = NULL;
	const json_t *notes = NULL;
	const char *phase = NULL;
	if (decode_fields(
		    root, namespace_fields, COUNT_OF(namespace_fields), arena, ns, ret_fault) < 0 ||
		decode_object(root, "metadata.labels", &labels, ret_fault) < 0 ||
		decode_object(root, "metadata.annotations", &notes, ret_fault) < 0 ||
		decode_text(root, "status.phase", &phase, ret_fault) < 0) {
		return -1;
	}
	if (parts_read_pairs(labels, NULL, arena, &ns->labels, ret_fault) < 0) {
		return fault_wrap(ret_fault, "metadata.labels");
	}
	if (parts_read_pairs(notes, prefixes, arena, &ns->notes, ret_fault) < 0) {
		return fault_wrap(ret_fault, "metadata.annotations");
	}
	ns->terminating = text_equals(phase, "Terminating") ||
			  decode_find(root, "metadata.deletionTimestamp") != NULL;
	return 0;
}

int namespace_decode(const char *json, size_t n, struct arena *arena,
	struct namespace *ret_namespace, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct namespace ns = {.name = ""};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		read_namespace(root, arena, &ns, ret_fault) < 0) {
		return fault_wrap(ret_fault, "namespace %.63s", ns.name);
	}
	*ret_namespace = ns;
	return 0;
}
