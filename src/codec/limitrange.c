/* LimitRanges. */
#include "codec/limitrange.h"

#include "model/names.h"
#include "parts.h"

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep spec_keep[] = {SLICE_KEEP("limits"), SLICE_END};
static const struct slice_keep range_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_END,
};

const struct slice_keep *limit_range_projection(void)
{
	return range_keep;
}

static const struct decode_field range_fields[] = {
	{"metadata.namespace", DECODE_TEXT, true, offsetof(struct limit_range, ns), NULL},
	{"metadata.name", DECODE_TEXT, true, offsetof(struct limit_range, name), NULL},
};

/* A maximum, too: the API server refuses a pod that it bounds and that says no limit at all. */
static bool names_gpus(const json_t *limit)
{
	static const char *const parts[] = {
		"min", "max", "default", "defaultRequest", "maxLimitRequestRatio"};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		if (json_object_get(decode_find(limit, parts[i]), NAME_GPU_RESOURCE) != NULL) {
			return true;
		}
	}
	return false;
}

static int read_range(
	const json_t *root, struct arena *arena, struct limit_range *range, struct fault *ret_fault)
{
	const json_t *limits = NULL;
	if (decode_fields(root, range_fields, COUNT_OF(range_fields), arena, range, ret_fault) <
			0 ||
		decode_array(root, "spec.limits", &limits, ret_fault) < 0) {
		return -1;
	}
	for (size_t i = 0; limits != NULL && i < json_array_size(limits); i++) {
		range->limits_gpus |= names_gpus(json_array_get(limits, i));
	}
	return 0;
}

int limit_range_decode(const char *json, size_t n, struct arena *arena,
	struct limit_range *ret_range, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct limit_range range = {.ns = "", .name = ""};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		read_range(root, arena, &range, ret_fault) < 0) {
		return fault_wrap(ret_fault, "limitrange %.63s/%.63s", range.ns, range.name);
	}
	*ret_range = range;
	return 0;
}
